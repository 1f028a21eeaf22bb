"""From the rows of a claim to its meaning (meaning.py), exactly: what is recognised says no more than the rows.

A claim is first taken apart. The premise of two copies a and b becomes

    strips     lo ≤ a.x − b.x ≤ hi             from rows over one feature of both copies
    fixed      b.x == v                        from rows over one feature of one copy
    tied       everything else

and the conclusion of k copies becomes rows ``g·(w_1, …, w_k) + inputs ≤ r`` where g is one linear form of the outputs
and w the weight of each copy. A pattern applies only if it uses all of this up.

Where a row names one member of a category the whole category may differ between the copies (premise.py). Reading it as
"the rest is equal" then speaks of fewer inputs than the claim does, never of more. `equal` is another matter: it takes
inputs away. Whether it touches what the rows move is decided on a domain; without one such a claim is `Unnamed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from smilenn.domain import Domain
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import (
    Apart,
    Chain,
    Changes,
    Curved,
    Decided,
    Limited,
    Linear,
    Meaning,
    Permuted,
    Rises,
    Slope,
    Strip,
    Total,
    Traded,
    Unnamed,
)

Bounds = list[Fraction | None]  # least and largest a − b


@dataclass(frozen=True)
class Premise:
    """A premise of two copies, taken apart; names are features of the domain, or as the rows have them without one."""

    strips: dict[str, Bounds]
    fixed: tuple[tuple[str, Fraction], ...]
    tied: tuple[Inequality, ...]
    free: tuple[str, ...]
    held: frozenset[str]  # features that `equal` pins


@dataclass(frozen=True)
class Conclusion:
    """One row ``form·weights + inputs ≤ rhs``: weights [k] of the copies, inputs by (copy, name)."""

    form: Linear
    weights: tuple[Fraction, ...]
    inputs: dict[tuple[int, str], Fraction]
    rhs: Fraction


def meaning(claim: Claim, outputs: Outputs | None = None, domain: Domain | None = None) -> Meaning:
    """What the claim says of a network with these outputs, on this domain; None where they are not known."""
    if claim.either:
        return _alternatives(claim, outputs)
    rows = [_conclusion(row, claim.copies) for row in claim.rows]
    found = [row for row in rows if row is not None]
    if len(found) < len(rows) or (outputs is not None and not _known(found, outputs)):
        return Unnamed()
    if claim.copies == 1:
        return _one(claim, found, outputs)
    if claim.copies == 2:
        return _two(claim, found, domain)
    return _three(claim, found) if claim.copies == 3 else Unnamed()


# ---- taking rows apart ----------------------------------------------------------------------------------------------


def _conclusion(row: Inequality, copies: int) -> Conclusion | None:
    """The row with its outputs as one form; None where the copies' outputs are no multiples of each other."""
    outs: list[dict[str, Fraction]] = [{} for _ in range(copies)]
    inputs: dict[tuple[int, str], Fraction] = {}
    for term in row.terms:
        if term.kind == "out":
            outs[term.copy][term.name] = outs[term.copy].get(term.name, Fraction(0)) + term.coef
        else:
            inputs[term.copy, term.name] = inputs.get((term.copy, term.name), Fraction(0)) + term.coef
    outs = [{name: coef for name, coef in out.items() if coef} for out in outs]
    inputs = {key: coef for key, coef in inputs.items() if coef}
    first = next((out for out in outs if out), None)
    if first is None:
        return None
    scale = abs(next(iter(first.values())))
    form = {name: coef / scale for name, coef in first.items()}
    weights = []
    for out in outs:
        weight = Fraction(0) if not out else out.get(next(iter(form)), Fraction(0)) / next(iter(form.values()))
        if out != {name: weight * coef for name, coef in form.items() if weight}:
            return None
        weights.append(weight)
    return Conclusion(tuple((coef, name) for name, coef in form.items()), tuple(weights), inputs, row.rhs)


def _known(rows: Iterable[Conclusion], outputs: Outputs) -> bool:
    return all(name in outputs.names for row in rows for _, name in row.form)


def _premise(claim: Claim, domain: Domain | None) -> Premise | None:
    """The premise of two copies; None where it cannot be read."""
    if domain is None and (claim.equal or claim.others == "free"):
        return None
    strips: dict[str, Bounds] = {}
    fixed: list[tuple[str, Fraction]] = []
    tied: list[Inequality] = []
    for row in claim.when:
        found = _difference(row)
        if found is not None:
            _narrow(strips.setdefault(row.terms[0].name, [None, None]), found, row)
        elif len(row.terms) == 1 and row.op == "==" and row.terms[0].copy == 1:
            fixed.append((row.terms[0].name, row.rhs / row.terms[0].coef))
        elif row.terms:
            tied.append(row)
        else:
            return None
    free = [name for name in claim.free if name not in strips]
    held: frozenset[str] = frozenset()
    if domain is not None:
        features = {feature.name for feature in domain.features}
        if not {*strips, *claim.equal, *free} <= features:
            return None  # single members of a category
        held = frozenset(claim.equal)
        named = {_feature(name, domain) for name in claim.named}
        loose = features if claim.others == "free" else {*named, *free}
        more = [f.name for f in domain.features if f.name in loose - held - {*strips, *free}]
        free += more if fixed or claim.others == "free" else []
    return Premise(strips, tuple(fixed), tuple(tied), tuple(free), held)


def _feature(name: str, domain: Domain) -> str:
    """The feature a name of a row belongs to."""
    if name in domain.slices:
        return name
    return next((f.name for f in domain.features if name in f.coordinates), name)


def _difference(row: Inequality) -> Fraction | None:
    """c of a row ``c·(a.x − b.x) ≤ r``, and None for another one."""
    if len(row.terms) != 2:
        return None
    first, second = row.terms
    if first.name != second.name or first.coef != -second.coef or {first.copy, second.copy} != {0, 1}:
        return None
    return first.coef if first.copy == 0 else second.coef


def _narrow(strip: Bounds, coef: Fraction, row: Inequality) -> None:
    """Cut a strip by ``coef·(a.x − b.x) ≤ rhs`` or ``==``."""
    bound = row.rhs / coef
    if coef < 0 or row.op == "==":
        strip[0] = bound if strip[0] is None else max(strip[0], bound)
    if coef > 0 or row.op == "==":
        strip[1] = bound if strip[1] is None else min(strip[1], bound)


# ---- two copies -----------------------------------------------------------------------------------------------------


def _two(claim: Claim, rows: Sequence[Conclusion], domain: Domain | None) -> Meaning:
    premise = _premise(claim, domain)
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
    if not ways or not _plain(premise) or any(way not in ((None, 0), (0, None)) for way in ways.values()):
        return None
    slack = _shared(rows)
    if slack is None:
        return None
    forms = _unique(row.form for row in rows)
    if any(_negated(form, forms) is not None for form in forms):
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
    for row in rows:
        negated = _negated(row.form, sides)
        key, side = (row.form, 0) if negated is None else (negated, 1)
        known = sides.setdefault(key, [None, None])
        known[side] = row.rhs if known[side] is None else min(row.rhs, known[side])  # type: ignore[type-var]
    sizes = set()
    for upper, lower in sides.values():
        if mirrored:
            given = [side for side in (upper, lower) if side is not None]
            sizes.add(min(given))
        elif upper is None or upper != lower:
            return None
        else:
            sizes.add(upper)
    if len(sizes) != 1 or min(sizes) < 0:
        return None
    return tuple(form if form[0][0] > 0 else _minus(form) for form in sides), sizes.pop()


def _minus(form: Linear) -> Linear:
    return tuple((-coef, name) for coef, name in form)


def _negated(form: Linear, known: Iterable[Linear]) -> Linear | None:
    """The known form that is −form, whatever the order of its terms."""
    wanted = frozenset(_minus(form))
    return next((other for other in known if frozenset(other) == wanted), None)


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
    features = [_feature(name, domain) for name in names]
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
    if tuple(way) not in ((None, 0), (0, None)):
        return Unnamed()
    sign = 1 if way[0] == 0 else -1  # a − b is not negative, or not positive
    bounds, flat = set(), []
    for row in rows:
        bound = -sign * row.inputs.get((0, name), Fraction(0))
        if row.rhs or row.inputs != ({(0, name): -sign * bound, (1, name): sign * bound} if bound else {}):
            return Unnamed()
        bounds.add(bound)
        flat.append(Conclusion(row.form, row.weights, {}, bound))
    found = _both_ways(flat, mirrored=False)
    return Unnamed() if found is None or len(bounds) != 1 else Slope(name, found[1], found[0])


def _traded(premise: Premise, rows: Sequence[Conclusion]) -> Traded | None:
    """``a.s ≤ b.s`` and ``(a.w − b.w) + rate·(a.s − b.s) == 0``."""
    slack = _shared(rows)
    if len(premise.tied) != 1 or len(premise.strips) != 1 or premise.fixed or premise.free or slack is None:
        return None
    (strong, way), *_ = premise.strips.items()
    (row,) = premise.tied
    if tuple(way) != (None, 0) or row.op != "==" or row.rhs or len(row.terms) != 4:
        return None
    coef = {(term.copy, term.name): term.coef for term in row.terms}
    weak = next((term.name for term in row.terms if term.name != strong), None)
    if weak is None or weak in premise.held or set(coef) != {(c, n) for c in (0, 1) for n in (strong, weak)}:
        return None
    if any(coef[0, name] != -coef[1, name] for name in (strong, weak)) or not coef[0, weak]:
        return None
    rate = coef[0, strong] / coef[0, weak]
    return Traded(strong, weak, rate, _unique(r.form for r in rows), slack) if rate > 0 else None


def _permuted(premise: Premise, rows: Sequence[Conclusion], domain: Domain | None) -> Permuted | None:
    """``b.to == a.source`` for every feature of a permutation."""
    found = _both_ways(rows, mirrored=False)
    if premise.strips or premise.fixed or premise.free or found is None:
        return None
    source: dict[str, str] = {}
    for row in premise.tied:
        terms = {term.copy: term for term in row.terms}
        if row.op != "==" or row.rhs or len(row.terms) != 2 or set(terms) != {0, 1}:
            return None
        if terms[0].coef != -terms[1].coef or terms[1].name in source:
            return None
        source[terms[1].name] = terms[0].name
    if domain is not None:
        whole = _whole(source, domain)
        if whole is None or set(whole) & premise.held:
            return None
        source = whole
    if set(source) != set(source.values()) or any(to == origin for to, origin in source.items()):
        return None
    return Permuted(_cycles(source), *found)


def _whole(source: dict[str, str], domain: Domain) -> dict[str, str] | None:
    """Members of categories gathered into the features they belong to; None where one is left out."""
    out: dict[str, str] = {}
    for feature in domain.features:
        members = [name for name in feature.coordinates if name in source]
        if not members:
            continue
        origin = _feature(source[members[0]], domain)
        other = next((f for f in domain.features if f.name == origin), None)
        if other is None or other.categories != feature.categories or len(members) != len(feature.coordinates):
            return None
        if [source[name] for name in members] != list(other.coordinates):
            return None
        out[feature.name] = origin
    if sum(len(domain.feature(name).coordinates) for name in out) != len(source):
        return None  # a name that is no coordinate
    return {name: out[name] for name in dict.fromkeys(_feature(name, domain) for name in source)}


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
    if claim.equal or claim.free or claim.others != "equal" or not claim.when or any(row.inputs for row in rows):
        return Unnamed()
    features, middles = [], set()
    for row in claim.when:
        coef = {term.copy: term.coef for term in row.terms}
        if row.op != "==" or row.rhs or len(row.terms) != 3 or len({term.name for term in row.terms}) != 1:
            return Unnamed()
        features.append(row.terms[0].name)
        middles.add(_middle(tuple(coef.get(copy, Fraction(0)) for copy in range(3))))
    middle = middles.pop()
    if middles or middle is None or any(_middle(row.weights) != middle for row in rows):
        return Unnamed()
    # weight 2·s for the middle: convex where s·g's sign is positive
    scaled = [Conclusion(row.form, row.weights, {}, 2 * row.rhs / abs(row.weights[middle])) for row in rows]
    signs = {1 if (row.weights[middle] > 0) == (row.form[0][0] > 0) else -1 for row in rows}
    slack = _shared(scaled)
    if len(signs) != 1 or slack is None:
        return Unnamed()
    forms = _unique(row.form if row.form[0][0] > 0 else _minus(row.form) for row in rows)
    return Curved(tuple(dict.fromkeys(features)), signs.pop(), forms, slack)


def _middle(weights: tuple[Fraction, ...]) -> int | None:
    """The copy whose weight is −2 times that of both others."""
    for copy in range(3):
        others = [weight for i, weight in enumerate(weights) if i != copy]
        if weights[copy] and all(weights[copy] == -2 * weight for weight in others):
            return copy
    return None


# ---- one copy -------------------------------------------------------------------------------------------------------


def _one(claim: Claim, rows: Sequence[Conclusion], outputs: Outputs | None) -> Meaning:
    """A statement on one input; `equal`, `free` and `others` compare copies and mean nothing here."""
    when = claim.when
    if any(row.inputs for row in rows):
        if len(rows) != 1:
            return Unnamed()
        return Total(*_sum(rows[0]), when)
    if outputs is not None and outputs.classes:
        found = _single_class(rows, outputs, when)
        if found is not None:
            return found
    return _apart(rows, when) or _chain(rows, outputs, when) or _limited(rows, when)


def _sum(row: Conclusion) -> tuple[Linear, Linear, Fraction]:
    """``Σ c·f ≤ constant + Σ k·x`` with the row's own scale."""
    weight = row.weights[0]
    form = tuple((weight * coef, name) for coef, name in row.form)
    return form, tuple((-coef, name) for (_, name), coef in row.inputs.items()), row.rhs


def _limited(rows: Sequence[Conclusion], when: tuple[Inequality, ...]) -> Meaning:
    bounds: dict[Linear, list[Fraction | None]] = {}
    for row in rows:
        scale = abs(row.weights[0])
        form = row.form if row.weights[0] > 0 else _minus(row.form)
        positive = form[0][0] > 0
        key = form if positive else _minus(form)
        same = next((other for other in bounds if frozenset(other) == frozenset(key)), None)
        turned = None if same is not None else _negated(key, bounds)
        if turned is not None:
            key, positive = turned, not positive
        known = bounds.setdefault(same or key, [None, None])
        side, bound = (1, row.rhs / scale) if positive else (0, -row.rhs / scale)
        worse = min if positive else max
        known[side] = bound if known[side] is None else worse(bound, known[side])  # type: ignore[type-var]
    limits = {tuple(pair) for pair in bounds.values()}
    if len(limits) != 1:
        return Unnamed()
    low, high = limits.pop()
    return Limited(tuple(bounds), low, high, when)


def _chain(rows: Sequence[Conclusion], outputs: Outputs | None, when: tuple[Inequality, ...]) -> Chain | None:
    if outputs is not None and outputs.classes:
        return None
    names: list[str] = []
    for row in rows:
        pair = _pair(row, -1)
        if pair is None or row.rhs or (names and names[-1] != pair[0]):
            return None
        names += [*([] if names else [pair[0]]), pair[1]]
    return Chain(tuple(names), when) if len(set(names)) == len(names) else None


def _pair(row: Conclusion, second: int) -> tuple[str, str] | None:
    """(i, j) of ``f_i + second·f_j`` up to a positive factor."""
    weight = row.weights[0]
    terms = [(coef if weight > 0 else -coef, name) for coef, name in row.form]
    terms.sort(key=lambda term: -term[0])
    if [coef for coef, _ in terms] != [1, second]:
        return None
    return terms[0][1], terms[1][1]


def _apart(rows: Sequence[Conclusion], when: tuple[Inequality, ...]) -> Apart | None:
    pairs = [_pair(row, 1) for row in rows]
    if any(pair is None for pair in pairs) or any(row.rhs for row in rows):
        return None
    names = tuple(dict.fromkeys(name for pair in pairs if pair is not None for name in pair))
    wanted = {frozenset(pair) for pair in combinations(names, 2)}
    return Apart(names, when) if {frozenset(pair) for pair in pairs if pair is not None} == wanted else None


def _single_class(rows: Sequence[Conclusion], outputs: Outputs, when: tuple[Inequality, ...]) -> Decided | None:
    """One class ahead of every other: the sign of the logit, or all its margins."""
    classes = outputs.classes
    if len(outputs.names) == 1:
        if len(rows) != 1 or rows[0].rhs >= 0:
            return None
        row = rows[0]
        falls = (row.weights[0] > 0) == (row.form[0][0] > 0)
        return Decided((classes[0 if falls else 1],), -row.rhs / abs(row.weights[0]), when)
    pairs = [_pair(row, -1) for row in rows]
    winners = {pair[1] for pair in pairs if pair is not None}
    losers = [pair[0] for pair in pairs if pair is not None]
    scaled = {row.rhs / abs(row.weights[0]) for row in rows}
    if len(losers) < len(pairs) or len(winners) != 1 or len(scaled) != 1 or min(scaled) > 0:
        return None
    winner = winners.pop()
    return Decided((winner,), -scaled.pop(), when) if {*losers, winner} == set(classes) else None


def _alternatives(claim: Claim, outputs: Outputs | None) -> Meaning:
    """Every class that is not allowed is behind one of the allowed ones."""
    if claim.copies != 1 or claim.then or outputs is None or len(outputs.names) != len(outputs.classes):
        return Unnamed()
    allowed: set[tuple[str, ...]] = set()
    behind, leads = [], set()
    for clause in claim.either:
        rows = [_conclusion(row, 1) for row in clause]
        pairs = [None if row is None or row.inputs else _pair(row, -1) for row in rows]
        losers = {pair[0] for pair in pairs if pair is not None}
        if None in pairs or len(losers) != 1:
            return Unnamed()
        allowed.add(tuple(pair[1] for pair in pairs if pair is not None))
        behind.append(losers.pop())
        leads |= {-row.rhs / abs(row.weights[0]) for row in rows if row is not None}
    if len(allowed) != 1 or len(leads) != 1 or min(leads) <= 0:
        return Unnamed()
    names = allowed.pop()
    complete = {*names, *behind} == set(outputs.classes) and not set(names) & set(behind)
    return Decided(names, leads.pop(), claim.when) if complete else Unnamed()
