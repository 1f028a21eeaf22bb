"""From the rows of a claim to its meaning (meaning.py), exactly: what is recognised says no more than the rows.

A claim is first taken apart (dissect.py); a pattern applies only if it uses all of the parts up.

Where a row names one member of a category the whole category may differ between the copies (premise.py). Reading it as
"the rest is equal" then speaks of fewer inputs than the claim does, never of more. `equal` is another matter: it takes
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
    negation_among,
    premise_of,
)
from smilenn.properties.forms import Outputs
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

ONE_WAY = ((None, 0), (0, None))  # a − b is not positive, or not negative


def meaning(claim: Claim, outputs: Outputs | None = None, domain: Domain | None = None) -> Meaning:
    """What the claim says of a network with these outputs, on this domain; None where they are not known."""
    if claim.either:
        return with_alternatives(claim, outputs)
    rows = [conclusion_of(row, claim.copies) for row in claim.rows]
    found = [row for row in rows if row is not None]
    if len(found) < len(rows) or (outputs is not None and not _known(found, outputs)):
        return Unnamed()
    if claim.ball:
        return _near(claim, found)
    if claim.copies == 1:
        return on_one_copy(claim, found, outputs)
    if claim.copies == 2:
        return _two(claim, found, domain)
    return _three(claim, found) if claim.copies == 3 else Unnamed()


def bounded_change(claim: Claim, outputs: Outputs, domain: Domain) -> Changes | None:
    """What the claim means if it bounds how far outputs change from any input on, as `Fair` and `Robust` do."""
    found = meaning(claim, outputs, domain)
    return found if isinstance(found, Changes) and found.point is None else None


def limits_change(claim: Claim, outputs: Outputs, domain: Domain) -> bool:
    """Whether the claim bounds how far outputs change from any input on, in whatever norm."""
    near = isinstance(meaning(claim, outputs, domain), Near)
    return near or bounded_change(claim, outputs, domain) is not None


def _known(rows: Iterable[Conclusion], outputs: Outputs) -> bool:
    return all(name in outputs.names for row in rows for _, name in row.form)


# ---- two copies -----------------------------------------------------------------------------------------------------


def _two(claim: Claim, rows: Sequence[Conclusion], domain: Domain | None) -> Meaning:
    premise = premise_of(claim, domain)
    if premise is None or any(row.weights[0] != -row.weights[1] for row in rows):
        return Unnamed()
    if set(premise.strips) & premise.held:
        return Unnamed()
    oriented = [_oriented(row) for row in rows]
    if any(row.inputs for row in oriented):
        return _slope(premise, oriented)
    if premise.tied:
        return _traded(premise, oriented) or _permuted(premise, oriented, domain) or Unnamed()
    found = _rises(premise, oriented) or _changes(premise, oriented, domain)
    return found or _slope(premise, oriented)


def _near(claim: Claim, rows: Sequence[Conclusion]) -> Meaning:
    """A ball alone, and forms that change by at most ε either way."""
    alone = not (claim.when or claim.equal or claim.free) and claim.others == "equal"
    if not alone or any(row.weights[0] != -row.weights[1] or row.inputs for row in rows):
        return Unnamed()
    both = _both_ways([_oriented(row) for row in rows], mirrored=True)
    return Unnamed() if both is None else Near(claim.ball, *both)


def _oriented(row: Conclusion) -> Conclusion:
    """The row as ``g(a) − g(b) + inputs ≤ r``: scaled to a weight of 1 for a, the sign in the form."""
    weight = row.weights[0]
    sign = 1 if weight > 0 else -1
    form = tuple((sign * coef, name) for coef, name in row.form)
    inputs = {key: coef / abs(weight) for key, coef in row.inputs.items()}
    return Conclusion(form, (Fraction(1), Fraction(-1)), inputs, row.rhs / abs(weight))


def _plain(premise: Premise) -> bool:
    """Whether strips are all there is: nothing fixed, nothing free, nothing pinned that would matter."""
    return not (premise.fixed or premise.free or premise.tied)


def _rises(premise: Premise, rows: Sequence[Conclusion]) -> Rises | None:
    """One direction for every feature, and no form that may move neither way."""
    ways = {name: tuple(strip) for name, strip in premise.strips.items()}
    if not ways or not _plain(premise) or any(way not in ONE_WAY for way in ways.values()):
        return None
    slack = _shared(rows)
    if slack is None:
        return None
    forms = _unique(row.form for row in rows)
    if any(negation_among(form, forms) is not None for form in forms):
        return None  # neither lowers nor raises: a slope of 0
    up = tuple(name for name, way in ways.items() if way == (None, 0))
    down = tuple(name for name, way in ways.items() if way == (0, None))
    return Rises(up, down, forms, slack)


def _shared(rows: Sequence[Conclusion]) -> Fraction | None:
    """The right side of all rows, if they have one and it is not negative."""
    found = {row.rhs for row in rows}
    return found.pop() if len(found) == 1 and min(found) >= 0 else None


def _unique(forms: Iterable[Linear]) -> tuple[Linear, ...]:
    return tuple(dict.fromkeys(forms))


def _both_ways(rows: Sequence[Conclusion], *, mirrored: bool) -> tuple[tuple[Linear, ...], Fraction] | None:
    """Forms with the bound on |g(a) − g(b)| that the rows give; `mirrored` premises turn one side into both."""
    sides: dict[Linear, list[Fraction | None]] = {}
    by_terms: dict[frozenset[tuple[Fraction, str]], Linear] = {}  # whatever the order of their terms
    for row in rows:
        negated = by_terms.get(frozenset(minus(row.form)))
        key, side = (row.form, 0) if negated is None else (negated, 1)
        by_terms.setdefault(frozenset(key), key)
        known = sides.setdefault(key, [None, None])
        known[side] = row.rhs if known[side] is None else min(row.rhs, known[side])  # type: ignore[type-var]
    sizes = {_size(*pair, mirrored=mirrored) for pair in sides.values()}
    size = sizes.pop() if len(sizes) == 1 else None
    if size is None or size < 0:
        return None
    return tuple(form if form[0][0] > 0 else minus(form) for form in sides), size


def _size(upper: Fraction | None, lower: Fraction | None, *, mirrored: bool) -> Fraction | None:
    """The bound on |g(a) − g(b)| that two one-sided ones give; None where they differ."""
    if mirrored:
        return min(side for side in (upper, lower) if side is not None)
    return upper if upper == lower else None


def _changes(premise: Premise, rows: Sequence[Conclusion], domain: Domain | None) -> Changes | None:
    strips: list[Strip] = []
    for name, (low, high) in premise.strips.items():
        if low is None or high is None or low > high:
            return None
        strips.append((name, low, high))
    if premise.fixed and (domain is None or not _is_point(premise, domain)):
        return None
    mirrored = not premise.fixed and all(low == -high for _, low, high in strips)
    found = _both_ways(rows, mirrored=mirrored)
    if found is None or not (strips or premise.free):
        return None
    return Changes(premise.free, tuple(strips), found[0], found[1], premise.fixed or None)


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
    coef = {(term.copy, term.name): term.coef for term in row.terms}
    weak = next((term.name for term in row.terms if term.name != strong), strong)
    whole = row.op == "==" and not row.rhs and len(row.terms) == 4
    if not whole or weak == strong or set(coef) != {(c, n) for c in (0, 1) for n in (strong, weak)}:
        return weak, Fraction(0)
    opposed = all(coef[0, name] == -coef[1, name] for name in (strong, weak))
    return weak, coef[0, strong] / coef[0, weak] if opposed and coef[0, weak] else Fraction(0)


def _permuted(premise: Premise, rows: Sequence[Conclusion], domain: Domain | None) -> Permuted | None:
    """``b.to == a.source`` for every feature of a permutation."""
    found = _both_ways(rows, mirrored=False)
    if premise.strips or premise.fixed or premise.free or found is None:
        return None
    pairs = [_exchanged(row) for row in premise.tied]
    source = dict(pair for pair in pairs if pair is not None)
    if len(source) < len(pairs):
        return None
    if domain is not None:
        whole = _whole(source, domain)
        if whole is None or set(whole) & premise.held:
            return None
        source = whole
    if set(source) != set(source.values()) or any(to == origin for to, origin in source.items()):
        return None
    return Permuted(_cycles(source), *found)


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
        other = next((f for f in domain.features if f.name == origin), None)
        if other is None or not _member_by_member(feature, other, source):
            return None
        out[feature.name] = origin
    if sum(len(domain.feature(name).coordinates) for name in out) != len(source):
        return None  # a name that is no coordinate
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
    forms = _unique(row.form if row.form[0][0] > 0 else minus(row.form) for row in rows)
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
