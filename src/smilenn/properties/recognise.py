"""From the rows of a claim to its meaning (meaning.py), exactly: what is recognised says no more than the rows.

A claim is first taken apart (dissect.py); a pattern applies only if it uses all of the parts up.

Where a row names one member of a category the whole category may differ between the copies (premise.py). Reading it as
"the rest is equal" then covers fewer inputs than the claim does, never more. `equal` is another matter: it takes
inputs away. Whether it touches what the rows move is decided on a domain; without one such a claim is `Unnamed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from smilenn.domain import Domain, Feature
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.dissect import (
    Conclusion,
    Premise,
    conclusion_of,
    feature_of,
    minus,
    premise_of,
)
from smilenn.properties.forms import Outputs
from smilenn.properties.known import unsaid
from smilenn.properties.meaning import (
    Changes,
    Curved,
    Linear,
    Meaning,
    Near,
    Permuted,
    Rises,
    Slope,
    Strip,
    Traded,
    Unnamed,
)
from smilenn.properties.single import on_one_copy, with_alternatives

Key = tuple[tuple[int, int, str], ...]  # numerator, denominator, name

ONE_WAY = ((None, 0), (0, None))  # a − b is not positive, or not negative


def meaning(claim: Claim, outputs: Outputs | None = None, domain: Domain | None = None) -> Meaning:
    """What the claim says of a network with these outputs, on this domain; None where they are not known.

    Of numbers that may be missing it is what the claim says where they are known (`unsaid`).
    """
    claim, _ = unsaid(claim, domain)
    if claim.either:
        return with_alternatives(claim, outputs)
    rows = [row for half in claim.rows if (row := conclusion_of(half, claim.copies)) is not None]
    if len(rows) < len(claim.rows) or (outputs is not None and not _known(rows, outputs)):
        return Unnamed()
    return _by_copies(claim, rows, outputs, domain)


def _by_copies(claim: Claim, rows: Sequence[Conclusion], outputs: Outputs | None, domain: Domain | None) -> Meaning:
    if claim.ball:
        return _near(claim, rows)
    if claim.copies == 1:
        return on_one_copy(claim, rows, outputs)
    if claim.copies == 2:
        return _two(claim, rows, domain)
    return _three(claim, rows) if claim.copies == 3 else Unnamed()


def bounded_change(claim: Claim, outputs: Outputs, domain: Domain) -> Changes | None:
    """What the claim means if it bounds how far outputs change from any input on, as `Fair` and `Robust` do.

    One that holds only where a number is known says nothing of rows that lack it.
    """
    found = meaning(claim, outputs, domain)
    return found if isinstance(found, Changes) and found.point is None and not unsaid(claim, domain)[1] else None


def limits_change(claim: Claim, outputs: Outputs, domain: Domain) -> bool:
    """Whether the claim bounds how far outputs change from any input on, in whatever norm."""
    near = isinstance(meaning(claim, outputs, domain), Near) and not unsaid(claim, domain)[1]
    return near or bounded_change(claim, outputs, domain) is not None


def _known(rows: Iterable[Conclusion], outputs: Outputs) -> bool:
    return all(name in outputs.names for row in rows for _, name in row.form)


# ---- two copies -----------------------------------------------------------------------------------------------------


def _two(claim: Claim, rows: Sequence[Conclusion], domain: Domain | None) -> Meaning:
    premise = premise_of(claim, domain)
    if premise is None or set(premise.strips) & premise.held or not _compare(rows):
        return Unnamed()
    oriented = [_oriented(row) for row in rows]
    if any(row.inputs for row in oriented):
        return _slope(premise, oriented)
    if premise.tied:
        return _traded(premise, oriented) or _permuted(premise, oriented, domain) or Unnamed()
    found = _rises(premise, oriented) or _changes(premise, oriented, domain)
    return found or _slope(premise, oriented)


def _compare(rows: Iterable[Conclusion]) -> bool:
    """Whether every row is about g(a) − g(b) of some form g."""
    return all(row.weights[0] == -row.weights[1] for row in rows)


def _near(claim: Claim, rows: Sequence[Conclusion]) -> Meaning:
    """A ball alone, and forms that change by at most ε either way."""
    alone = not (claim.when or claim.equal or claim.free) and claim.others == "equal"
    if not alone or not _compare(rows) or any(row.inputs for row in rows):
        return Unnamed()
    both = _both_ways([_oriented(row) for row in rows], mirrored=True)
    return Unnamed() if both is None else Near(claim.ball, *both)


def _oriented(row: Conclusion) -> Conclusion:
    """The row as ``g(a) − g(b) + inputs ≤ r``: scaled to a weight of 1 for a, the sign in the form."""
    weight = row.weights[0]
    if weight == 1:  # as nearly all are: nothing to scale
        return row
    sign = 1 if weight > 0 else -1
    form = tuple((sign * coef, name) for coef, name in row.form)
    inputs = {key: coef / abs(weight) for key, coef in row.inputs.items()}
    return Conclusion(form, (Fraction(1), Fraction(-1)), inputs, row.rhs / abs(weight))


def _plain(premise: Premise) -> bool:
    """Whether strips are all there is: nothing fixed, nothing free, nothing pinned that would matter."""
    return not (premise.fixed or premise.free or premise.tied)


def _rises(premise: Premise, rows: Sequence[Conclusion]) -> Rises | None:
    """One direction for every feature, and no form that may move neither way."""
    up, down = (_moving(premise, way) for way in ONE_WAY)
    if not premise.strips or not _plain(premise) or len(up) + len(down) < len(premise.strips):
        return None
    slack, forms = _shared(rows), _unique(row.form for row in rows)
    every = set(map(frozenset, forms))
    level = any(frozenset(minus(form)) in every for form in forms)  # neither lowers nor raises: a slope of 0
    return None if slack is None or level else Rises(up, down, forms, slack)


def _moving(premise: Premise, way: tuple[int | None, int | None]) -> tuple[str, ...]:
    """Features whose difference a − b goes one way."""
    return tuple(name for name, strip in premise.strips.items() if tuple(strip) == way)


def _shared(rows: Sequence[Conclusion]) -> Fraction | None:
    """The right side of all rows, if they have one and it is not negative."""
    found = {row.rhs for row in rows}
    return found.pop() if len(found) == 1 and min(found) >= 0 else None


def _upright(form: Linear) -> Linear:
    """The form or its negation, whichever has a positive first coefficient."""
    return form if form[0][0] > 0 else minus(form)


def _unique(forms: Iterable[Linear]) -> tuple[Linear, ...]:
    return tuple(dict.fromkeys(forms))


def _both_ways(rows: Sequence[Conclusion], *, mirrored: bool) -> tuple[tuple[Linear, ...], Fraction] | None:
    """Forms with the bound on |g(a) − g(b)| that the rows give; `mirrored` premises turn one side into both."""
    sides: dict[Key, list[Fraction | None]] = {}
    forms: dict[Key, Linear] = {}
    by_terms: dict[frozenset[tuple[int, int, str]], Key] = {}  # whatever the order of their terms
    for row in rows:
        negated = by_terms.get(frozenset(_key(row.form, -1)))
        key, side = (_key(row.form), 0) if negated is None else (negated, 1)
        by_terms.setdefault(frozenset(key), key)
        forms.setdefault(key, row.form)
        known = sides.setdefault(key, [None, None])
        known[side] = row.rhs if known[side] is None else min(row.rhs, known[side])  # type: ignore[type-var]
    sizes = {_size(*pair, mirrored=mirrored) for pair in sides.values()}
    size = sizes.pop() if len(sizes) == 1 else None
    if size is None or size < 0:
        return None
    return tuple(_upright(forms[key]) for key in sides), size


def _key(form: Linear, sign: int = 1) -> Key:
    """The form, or its negation, as whole numbers: to look a fraction up takes ten times as long."""
    return tuple((sign * coef.numerator, coef.denominator, name) for coef, name in form)


def _size(upper: Fraction | None, lower: Fraction | None, *, mirrored: bool) -> Fraction | None:
    """The bound on |g(a) − g(b)| that two one-sided ones give; None where they differ."""
    if mirrored:
        return min(side for side in (upper, lower) if side is not None)
    return upper if upper == lower else None


def _changes(premise: Premise, rows: Sequence[Conclusion], domain: Domain | None) -> Changes | None:
    strips = _closed_strips(premise)
    if strips is None or not (strips or premise.free):
        return None
    if premise.fixed and (domain is None or not _is_point(premise, domain)):
        return None
    mirrored = not premise.fixed and all(low == -high for _, low, high in strips)
    found = _both_ways(rows, mirrored=mirrored)
    return None if found is None else Changes(premise.free, strips, *found, premise.fixed or None)


def _closed_strips(premise: Premise) -> tuple[Strip, ...] | None:
    """The strips, if each has both ends and is not empty."""
    strips: list[Strip] = []
    for name, (low, high) in premise.strips.items():
        if low is None or high is None or low > high:
            return None
        strips.append((name, low, high))
    return tuple(strips)


def _is_point(premise: Premise, domain: Domain) -> bool:
    """Whether the fixed rows give every feature one value: a number, or 1 for a member of a category."""
    names = [name for name, _ in premise.fixed]
    features = [feature_of(name, domain) for name in names]
    if sorted(features) != sorted(feature.name for feature in domain.features):
        return False
    return all(
        domain.feature(feature).kind != "category" or (name in domain.feature(feature).coordinates and value == 1)
        for (name, value), feature in zip(premise.fixed, features, strict=True)
    )


def _slope(premise: Premise, rows: Sequence[Conclusion]) -> Meaning:
    if len(premise.strips) != 1 or not _plain(premise):
        return Unnamed()
    (name, way), *_ = premise.strips.items()
    if tuple(way) not in ONE_WAY:
        return Unnamed()
    sign = 1 if way[0] == 0 else -1  # a − b is not negative, or not positive
    bounds, flat, slack = set(), [], _shared(rows)
    for row in rows:
        bound = -sign * row.inputs.get((0, name), Fraction(0))
        if row.inputs != ({(0, name): -sign * bound, (1, name): sign * bound} if bound else {}):
            return Unnamed()
        bounds.add(bound)
        flat.append(Conclusion(row.form, row.weights, {}, bound))
    found = _both_ways(flat, mirrored=False)
    if found is None or len(bounds) != 1 or slack is None:
        return Unnamed()
    return Slope(name, found[1], found[0], slack)


def _traded(premise: Premise, rows: Sequence[Conclusion]) -> Traded | None:
    """``a.s ≤ b.s`` and ``(a.w − b.w) + rate·(a.s − b.s) == 0``, or the same with the copies swapped."""
    slack = _shared(rows)
    if len(premise.tied) != 1 or len(premise.strips) != 1 or premise.fixed or premise.free or slack is None:
        return None
    (strong, way), *_ = premise.strips.items()
    weak, rate = _rate(premise.tied[0], strong)
    if tuple(way) not in ONE_WAY or weak in premise.held or rate <= 0:
        return None
    forms = _unique(r.form if way[0] is None else minus(r.form) for r in rows)  # g(b) − g(a), the copies swapped
    return Traded(strong, weak, rate, forms, slack)


def _rate(row: Inequality, strong: str) -> tuple[str, Fraction]:
    """(w, rate) of a row ``(a.w − b.w) + rate·(a.s − b.s) == 0`` up to a factor; a rate of 0 for any other row."""
    weak = next((term.name for term in row.terms if term.name != strong), strong)
    whole = row.op == "==" and not row.rhs and len(row.terms) == 4
    by_strong, by_weak = _rise(row, strong), _rise(row, weak)
    if not whole or weak == strong or by_strong is None or not by_weak:
        return weak, Fraction(0)
    return weak, by_strong / by_weak


def _rise(row: Inequality, name: str) -> Fraction | None:
    """c of the terms ``c·(a.x − b.x)`` that a row has of one feature; None for others."""
    coef = {term.copy: term.coef for term in row.terms if term.name == name}
    return coef[0] if set(coef) == {0, 1} and coef[0] == -coef[1] else None


def _permuted(premise: Premise, rows: Sequence[Conclusion], domain: Domain | None) -> Permuted | None:
    """``b.to == a.source`` for every feature of a permutation."""
    found = _both_ways(rows, mirrored=False)
    if premise.strips or premise.fixed or premise.free or found is None:
        return None
    source = _source(premise, domain)
    if source is None or set(source) != set(source.values()):
        return None
    moved = all(to != origin for to, origin in source.items())
    return Permuted(_cycles(source), *found) if moved else None


def _source(premise: Premise, domain: Domain | None) -> dict[str, str] | None:
    """{to: source} of rows ``b.to == a.source``, by feature where the domain is known; None for other rows."""
    source = dict(pair for row in premise.tied if (pair := _exchanged(row)) is not None)
    if len(source) < len(premise.tied):
        return None
    if domain is None:
        return source
    whole = _whole(source, domain)
    return None if whole is None or set(whole) & premise.held else whole


def _exchanged(row: Inequality) -> tuple[str, str] | None:
    """(to, source) of a row ``b.to == a.source``; None for another one."""
    terms = {term.copy: term for term in row.terms}
    if row.op != "==" or row.rhs or len(row.terms) != 2 or set(terms) != {0, 1}:
        return None
    return (terms[1].name, terms[0].name) if terms[0].coef == -terms[1].coef else None


def _whole(source: dict[str, str], domain: Domain) -> dict[str, str] | None:
    """Members of categories gathered into the features they belong to; None where one is left out."""
    out: dict[str, str] = {}
    for feature in domain.features:
        members = [name for name in feature.coordinates if name in source]
        if not members:
            continue
        origin = feature_of(source[members[0]], domain)
        if origin not in domain.slices or not _member_by_member(feature, domain.feature(origin), source):
            return None
        out[feature.name] = origin
    if sum(len(domain.feature(name).coordinates) for name in out) != len(source):
        return None  # a name that is not a coordinate
    return {name: out[name] for name in dict.fromkeys(feature_of(name, domain) for name in source)}


def _member_by_member(feature: Feature, other: Feature, source: dict[str, str]) -> bool:
    """Whether every coordinate of a feature takes the value of the other's at the same place."""
    same = feature.categories == other.categories
    return same and [source.get(name) for name in feature.coordinates] == list(other.coordinates)


def _cycles(source: dict[str, str]) -> tuple[tuple[str, ...], ...]:
    out, seen = [], set()
    for start in source:
        cycle, at = [], start
        while at not in seen:
            seen.add(at)
            cycle.append(at)
            at = source[at]
        if cycle:
            out.append(tuple(cycle))
    return tuple(out)


# ---- three copies ---------------------------------------------------------------------------------------------------


def _three(claim: Claim, rows: Sequence[Conclusion]) -> Meaning:
    """``2·b == a + c`` in every feature, one copy being the middle of all rows."""
    middle = _halfway(claim)
    if middle is None or any(row.inputs or _middle(row.weights) != middle for row in rows):
        return Unnamed()
    # weight 2·s for the middle: convex where s·g's sign is positive
    scaled = [Conclusion(row.form, row.weights, {}, 2 * row.rhs / abs(row.weights[middle])) for row in rows]
    signs = {1 if (row.weights[middle] > 0) == (row.form[0][0] > 0) else -1 for row in rows}
    slack = _shared(scaled)
    if len(signs) != 1 or slack is None:
        return Unnamed()
    forms = _unique(_upright(row.form) for row in rows)
    features = tuple(dict.fromkeys(row.terms[0].name for row in claim.when))
    return Curved(features, signs.pop(), forms, slack)


def _halfway(claim: Claim) -> int | None:
    """The copy that lies halfway between the two others in every row of the premise, the rest equal."""
    if claim.equal or claim.free or claim.others != "equal" or not claim.when:
        return None
    middles = {_middle_of(row) for row in claim.when}
    return middles.pop() if len(middles) == 1 else None


def _middle_of(row: Inequality) -> int | None:
    """The middle of a row ``2·b.x == a.x + c.x``; None for another one."""
    if row.op != "==" or row.rhs or len(row.terms) != 3 or len({term.name for term in row.terms}) != 1:
        return None
    coef = {term.copy: term.coef for term in row.terms}
    return _middle(tuple(coef.get(copy, Fraction(0)) for copy in range(3)))


def _middle(weights: tuple[Fraction, ...]) -> int | None:
    """The copy whose weight is −2 times that of both others."""
    for copy in range(3):
        others = [weight for i, weight in enumerate(weights) if i != copy]
        if weights[copy] and all(weights[copy] == -2 * weight for weight in others):
            return copy
    return None
