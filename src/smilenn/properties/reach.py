"""δ: how far the two copies of an input may lie apart, per feature.

    δ_lo,i ≤ a.x_i − b.x_i ≤ δ_hi,i

Users write one number for every numeric feature, a share of each feature's range ("5%"), or one entry per feature
(a number, a share, or a pair (δ_lo, δ_hi)); features without an entry stay equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.properties.base import Name, Rename, Sign, numeric, quoted, read_names, read_number
from smilenn.properties.claim import COPIES, Inequality, Term, row
from smilenn.properties.rational import exact, number

Size = Fraction | str  # raw units, or a share of the range such as "5%"
Entry = tuple[Name, Size, Size]  # feature, δ_lo, δ_hi
Delta = Fraction | str | tuple[Entry, ...]

PIXELS, IF_PIXELS = 16, "if they are pixels, fit with Network(encoder='image')"


def read_delta(value: Any, who: str, *, positive: bool = False, each: bool = False) -> Delta:
    """A delta in its normal form; a negative one or δ_lo > δ_hi is an error. With `positive` a single 0 is one too, and
    with `each` the 0 of one feature.
    """
    if isinstance(value, Mapping):
        value = [(name, *size) if _is_pair(size) else (name, size) for name, size in value.items()]
    if not isinstance(value, (list, tuple)):
        return _size(value, who, "delta", "positive" if positive else "not negative")
    entries = tuple(_read_entry(item, who, "positive" if each else "not negative") for item in value)
    read_names([name for name, _, _ in entries], who, "delta")
    return entries


def refuse_idle(entries: Sequence[Entry], who: str, *, ball: bool) -> None:
    """Raise where no feature may change, or a `ball` has a pair of numbers for one."""
    if entries and all(_amount(low) == _amount(high) == 0 for _, low, high in entries):
        raise SmileError(
            f"{who}: delta of {quoted([name for name, _, _ in entries])} is 0, so nothing may change; "
            "it must be more than 0."
        )
    pairs = [name for name, low, high in entries if low != negated(high)]
    if ball and pairs:
        raise SmileError(f"{who}: in the Euclidean norm {quoted(pairs[:1])} needs one number as its delta, not a pair.")


def only_zeros_and_ones(domain: Domain) -> bool:
    """Whether all columns hold 0 and 1, so many of them that they may be pixels."""
    return len(domain.features) >= PIXELS and all(f.kind == "binary" and not f.categories for f in domain.features)


def _read_entry(item: Any, who: str, sign: Sign) -> Entry:
    """(feature, size) or (feature, δ_lo, δ_hi)."""
    if not isinstance(item, (list, tuple)) or len(item) not in (2, 3):
        raise SmileError(f"{who}: delta holds {item!r}; give a number, '5%', or one entry per feature.")
    (name,) = read_names(item[:1], who, "delta")
    if len(item) == 2:
        size = _size(item[1], who, f"delta of {name!r}", sign)
        return name, negated(size), size
    low, high = (_size(size, who, f"delta of {name!r}", "any") for size in item[1:])
    if _is_share(low) == _is_share(high) and _amount(low) > _amount(high):
        raise SmileError(
            f"{who}: delta of {name!r} goes from {shown(low)} to {shown(high)}; the lower end must come first."
        )
    return name, low, high


def delta_renamed(delta: Delta, rename: Rename) -> Delta:
    """The delta with feature names replaced."""
    return tuple((rename(n), lo, hi) for n, lo, hi in delta) if isinstance(delta, tuple) else delta


def delta_divided(delta: Delta, parts: int) -> Delta:
    """One of so many equal parts of a delta."""
    if isinstance(delta, tuple):
        return tuple((name, _divided(low, parts), _divided(high, parts)) for name, low, high in delta)
    return _divided(delta, parts)


def strip_rows(delta: Delta, domain: Domain, features: Iterable[str], who: str) -> tuple[Inequality, ...]:
    """``δ_lo ≤ a.x − b.x ≤ δ_hi`` for the features with an entry, or, for a single number, for `features`."""
    if not isinstance(delta, tuple):
        delta = tuple((name, negated(delta), delta) for name in features)
    rows: list[Inequality] = []
    for name, low, high in delta:
        feature = numeric(domain, str(name), who)
        least, most = (raw_amount(size, feature) for size in (low, high))
        if least > most:
            raise SmileError(f"{who}: delta of {name!r} goes from {number(least)} to {number(most)}, which is empty.")
        rows.append(row([(1, 0, "in", feature.name), (-1, 1, "in", feature.name)], most))
        rows.append(row([(-1, 0, "in", feature.name), (1, 1, "in", feature.name)], -least))
    return tuple(rows)


def raw_amount(size: Size, feature: Feature) -> Fraction:
    """A size in raw units of a feature."""
    span = exact(feature.hi) - exact(feature.lo)
    return _amount(size) * (span / 100 if _is_share(size) else 1)


def delta_words(delta: Delta, features: Sequence[Name], other: str = "") -> str:
    """For sentences: ``each numeric input by at most 0.1``."""
    if not isinstance(delta, tuple):
        which = f"each of {quoted(features)}" if len(features) > 1 else quoted(features) if features else ""
        return f"{which or f'each {other}numeric input'} by at most {shown(delta)}"
    return ", ".join(
        f"{quoted([name])} by at most {shown(high)}"
        if low == negated(high)
        else f"{quoted([name])} by {shown(low)} to {shown(high)}"
        for name, low, high in delta
    )


def delta_formula(delta: Delta, features: Sequence[Name]) -> str:
    """For formulas: ``|a[x] - b[x]| <= 0.1 for every numeric x``."""
    if not isinstance(delta, tuple):
        if not features:
            return f"|a[x] - b[x]| <= {shown(delta)} for every numeric x"
        delta = tuple((name, negated(delta), delta) for name in features)
    parts = []
    for name, low, high in delta:
        a, b = (reference(name, copy) for copy in (0, 1))
        parts.append(
            f"|{a} - {b}| <= {shown(high)}" if low == negated(high) else f"{shown(low)} <= {a} - {b} <= {shown(high)}"
        )
    return ", ".join(parts)


def reference(name: Name, copy: int) -> str:
    """``a["income"]``; a position reads ``a[3]``."""
    return f"{COPIES[copy]}[{name}]" if isinstance(name, int) else Term(Fraction(1), copy, "in", name).reference()


def shown(size: Size) -> str:
    """``0.1`` or ``5% of its range``."""
    return f"{size} of its range" if isinstance(size, str) else number(size)


def delta_json(delta: Delta) -> Any:
    """JSON: a text, or a dictionary (a list of entries where a feature is named by position)."""
    if not isinstance(delta, tuple):
        return delta if isinstance(delta, str) else number(delta)
    text = [(n, *(s if isinstance(s, str) else number(s) for s in sizes)) for n, *sizes in delta]
    if any(isinstance(name, int) for name, _, _ in text):
        return [list(entry) for entry in text]
    return {name: [low, high] for name, low, high in text}


def _is_pair(size: Any) -> bool:
    return isinstance(size, (list, tuple)) and len(size) == 2


def _size(value: Any, who: str, what: str, sign: Sign = "not negative") -> Size:
    if not (isinstance(value, str) and value.strip().endswith("%")):
        return read_number(value, who, what, sign=sign)
    amount = read_number(value.strip()[:-1], who, what, sign=sign, unit="%")
    return f"{number(amount)}%"


def _is_share(size: Size) -> bool:
    return isinstance(size, str)


def _amount(size: Size) -> Fraction:
    return exact(size[:-1]) if isinstance(size, str) else size


def _divided(size: Size, parts: int) -> Size:
    return f"{number(_amount(size) / parts)}%" if isinstance(size, str) else size / parts


def negated(size: Size) -> Size:
    """−size."""
    return f"{number(-exact(size[:-1]))}%" if isinstance(size, str) else -size
