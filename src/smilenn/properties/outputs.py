"""How the outputs of one input stand to each other, and to the input itself: claims with one copy and no premise.

    Bounded      lo ≤ f ≤ hi
    Ordered      f_1 ≤ f_2 ≤ … ≤ f_k              quantiles that never cross, thresholds of ordinal classes
    Exclusive    f_i + f_j ≤ 0 for all pairs      labels of which at most one is predicted
    SumAtMost    f_1 + … + f_k ≤ limit            a number, a feature, or a linear expression of features

`Exclusive` is a linear row that implies "not both positive" and costs nothing. A label is predicted where its logit is
positive, with probability σ(f). Then

    f_i + f_j ≤ 0   ⟺   f_i ≤ −f_j   ⟺   σ(f_i) ≤ 1 − σ(f_j)   ⟺   the two probabilities add up to at most one,

which holds of the true probabilities of labels that never occur together. Decisions lose nothing either: of logits that
are never both positive put f_j' = min(f_j, −f_i) where f_i > 0 (there f_j ≤ 0). No sign changes and every row holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from numbers import Integral
from typing import Any, ClassVar, final

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.base import Property, quoted, read_number, set_fields
from smilenn.properties.claim import Claim, Inequality, Term, in_quotes, row
from smilenn.properties.forms import Outputs
from smilenn.properties.language import parse
from smilenn.properties.output_property import OutputProperty
from smilenn.properties.rational import number
from smilenn.properties.tokens import tidy


def _read_outputs(value: Any, who: str) -> tuple[str, ...] | None:
    """Names of two or more outputs; None stands for all of them."""
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise SmileError(f"{who}: outputs is {value!r}; give a list of output names, or None for all.")
    texts = tuple(_output_name(name, who) for name in value)
    twice = sorted({name for name in texts if texts.count(name) > 1})
    if twice:
        raise SmileError(f"{who}: outputs names {listed(twice)} twice; name it once.")
    return texts


def _output_name(name: Any, who: str) -> str:
    if isinstance(name, bool) or not isinstance(name, (str, Integral)):
        raise SmileError(f"{who}: outputs holds {name!r}, which is not the name of an output.")
    return str(name)


def _several(names: Sequence[str] | None, outputs: Outputs, who: str, least: int = 2) -> tuple[str, ...]:
    """The outputs that are named, which the network must have."""
    if outputs.classes:
        raise SmileError(
            f"{who} is about outputs that are numbers or labels; a classifier's classes only compete, so "
            "that nothing but their margins means something."
        )
    chosen = outputs.names if names is None else tuple(names)
    unknown = [name for name in chosen if name not in outputs.names]
    if unknown:
        raise SmileError(f"{who} names the output {listed(unknown)}; there are {listed(outputs.names, 20)}.")
    if len(chosen) < least:
        raise SmileError(f"{who} needs two or more outputs; the network has {len(outputs.names)}.")
    return chosen


def _out(name: str) -> str:
    return Term(Fraction(1), 0, "out", name).reference()


@final
@dataclass(frozen=True, repr=False)
class Bounded(OutputProperty):
    """The output lies between `lo` and `hi`, either of which may be left out; units of the output.

    >>> Bounded(0, 100).sentence("share")
    "The predicted 'share' lies between 0 and 100."
    """

    lo: Any = None
    hi: Any = None
    kind: ClassVar[str] = "bounded"
    directed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("lo", "hi"):
            if getattr(self, what) is not None:
                set_fields(self, **{what: read_number(getattr(self, what), "Bounded", what, sign="any")})
        if self.lo is None and self.hi is None:
            raise SmileError("Bounded needs a bound, as in Bounded(0, 100) or Bounded(lo=0).")
        if self.lo is not None and self.hi is not None and self.lo >= self.hi:
            raise SmileError(f"Bounded: lo is {number(self.lo)} and hi {number(self.hi)}; lo must be less than hi.")

    def formula(self) -> str:
        parts = [*([number(self.lo)] if self.lo is not None else []), self._out(0)]
        return f"∀ a ∈ X: {' <= '.join([*parts, *([number(self.hi)] if self.hi is not None else [])])}"

    def sentence_about(self, output: str) -> str:
        if self.hi is None:
            where = f"is at least {number(self.lo)}"
        elif self.lo is None:
            where = f"is at most {number(self.hi)}"
        else:
            where = f"lies between {number(self.lo)} and {number(self.hi)}"
        return f"{output[0].upper()}{output[1:]} {where}."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        then = []
        for form in self.forms(outputs):
            for sign, bound in ((-1, self.lo), (1, self.hi)):
                if bound is not None:
                    then.append(row([(sign * c, 0, "out", name) for c, name in form], sign * bound))
        return (Claim(1, (), tuple(then)),)


@final
@dataclass(frozen=True, repr=False)
class Ordered(Property):
    """Each of `outputs` (None: all) is at most the next one.

    >>> Ordered(["low", "middle", "high"]).sentence()
    "'low' is never above 'middle', nor 'middle' above 'high'."
    """

    outputs: Sequence[str] | None = None
    kind: ClassVar[str] = "ordered"

    def __post_init__(self) -> None:
        names = _read_outputs(self.outputs, "Ordered")
        if names is not None and len(names) < 2:
            raise SmileError("Ordered needs two or more outputs, as in Ordered(['low', 'high']).")
        set_fields(self, outputs=names)

    def formula(self) -> str:
        names = self.outputs or ("1", "2", "…")
        return f"∀ a ∈ X: {' <= '.join(_out(name) if self.outputs else f'out {name}' for name in names)}"

    def sentence_about(self, output: str) -> str:
        if self.outputs is None:
            return "No output is above the next one."
        first, *rest = [
            f"{one!r} {'is never ' if not i else ''}above {other!r}"
            for i, (one, other) in enumerate(pairwise(self.outputs))
        ]
        return f"{', nor '.join([first, *rest])}."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        names = _several(self.outputs, outputs, "Ordered")
        then = tuple(row([(1, 0, "out", one), (-1, 0, "out", other)]) for one, other in pairwise(names))
        return (Claim(1, (), then),)


@final
@dataclass(frozen=True, repr=False, init=False)
class Exclusive(Property):
    """Of these labels (none named: of all) at most one has a positive logit: every two add up to at most 0.

    >>> Exclusive("cat", "dog").sentence()
    "'cat' and 'dog' are never predicted together: their log-odds add up to at most 0."
    """

    outputs: Sequence[str] | None = None
    kind: ClassVar[str] = "exclusive"

    def __init__(self, *labels: Any, outputs: Any = None) -> None:
        if labels and outputs is not None:
            raise SmileError("Exclusive: give the labels themselves or outputs=[…], not both.")
        single = len(labels) == 1 and not isinstance(labels[0], str)
        names = _read_outputs((labels[0] if single else labels) if labels else outputs, "Exclusive")
        if names is not None and len(names) < 2:
            raise SmileError("Exclusive needs two or more labels, as in Exclusive('cat', 'dog').")
        set_fields(self, outputs=names)

    def formula(self) -> str:
        if self.outputs is None:
            return "∀ a ∈ X: out i + out j <= 0 for all i ≠ j"
        return f"∀ a ∈ X: {', '.join(f'{_out(a)} + {_out(b)} <= 0' for a, b in combinations(self.outputs, 2))}"

    def sentence_about(self, output: str) -> str:
        if self.outputs is None:
            return "No two labels are predicted together: their log-odds add up to at most 0."
        if len(self.outputs) == 2:
            return f"{quoted(self.outputs)} are never predicted together: their log-odds add up to at most 0."
        return f"No two of {quoted(self.outputs)} are predicted together: their log-odds add up to at most 0."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        names = _several(self.outputs, outputs, "Exclusive")
        then = tuple(row([(1, 0, "out", one), (1, 0, "out", other)]) for one, other in combinations(names, 2))
        return (Claim(1, (), then),)


@final
@dataclass(frozen=True, repr=False)
class SumAtMost(Property):
    """The `outputs` (None: all) add up to at most `limit`: a number, a feature, or an expression of features.

    >>> SumAtMost(["rent", "food"], "0.9 * income - 100").sentence()
    "'rent' and 'food' add up to at most 0.9 * income - 100."
    """

    outputs: Sequence[str] | None
    limit: Any
    kind: ClassVar[str] = "sum_at_most"

    def __post_init__(self) -> None:
        names = _read_outputs(self.outputs, "SumAtMost")
        if names == ():
            raise SmileError("SumAtMost needs an output to sum, as in SumAtMost(['rent', 'food'], 'income').")
        limit = self.limit
        if isinstance(limit, bool) or limit is None:
            raise SmileError(f"SumAtMost: limit is {limit!r}; give a number, a feature or an expression of features.")
        if not isinstance(limit, str):
            limit = number(read_number(limit, "SumAtMost", "limit", sign="any"))
        set_fields(self, outputs=names, limit=limit)

    def formula(self) -> str:
        total = " + ".join(_out(name) for name in self.outputs) if self.outputs else "sum of all outputs"
        return f"∀ a ∈ X: {total} <= {self._limit_text()}"

    def sentence_about(self, output: str) -> str:
        limit = self._limit_text()
        if self.outputs is None:
            return f"All outputs together add up to at most {limit}."
        verb = "adds" if len(self.outputs) == 1 else "add"
        return f"{quoted(self.outputs)} {verb} up to at most {limit}."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        names = _several(self.outputs, outputs, "SumAtMost", least=1)
        inputs, constant = self._inputs(domain)
        terms = [(Fraction(1), 0, "out", name) for name in names] + [(-c, 0, "in", name) for c, name in inputs]
        return (Claim(1, (), (row(terms, constant),)),)

    def _limit_text(self) -> str:
        """The limit as it was written where it is an expression; else it can only be the name of a feature."""
        try:
            parse(f"out <= {self.limit}", 1, "then")
        except SmileError:
            return f"a[{in_quotes(self.limit)}]"
        return tidy(self.limit)

    def _inputs(self, domain: Domain) -> tuple[list[tuple[Fraction, str]], Fraction]:
        """The limit as Σ coefficient·feature + constant."""
        if self.limit in domain.slices and domain.feature(self.limit).kind != "category":
            return [(Fraction(1), self.limit)], Fraction(0)
        (found,) = parse(f"out <= {self.limit}", 1, "then").on(domain)
        assert isinstance(found, Inequality)
        return [(-t.coef, t.name) for t in found.terms if t.kind == "in"], found.rhs
