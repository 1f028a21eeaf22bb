"""Properties that no function satisfies together, or that together take away more than each of them says.

A function is asked for at finitely many points of the domain: some rows x, and each with one feature, or two that a row
names together, at its ends and middle. Every claim at every tuple of these points that satisfies its premise exactly is
a linear row over the unknown values f(x). This is a linear program over a few dozen numbers:

    minimise t   subject to   Σ coef·f(x_c) ≤ rhs − Σ coef·x_c + t·max|coef|,   t ≥ 0

t > 0 shows that no function satisfies all claims: they contradict each other. With t = 0, the largest and the smallest
value of f(x') − f(x'') for two points that differ in one feature say whether the claims leave f any dependence on it
between them, and of a second difference whether they leave it a bend. What one claim alone implies is its own business;
what none does alone but all do together is reported.

What is found is true of all functions. What is not found may still be: the points are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.premise import ground, holds_exactly

BASES = 3  # rows around which points are placed
MOST_FEATURES, MOST_PAIRS, MOST_TUPLES = 10, 6, 300
MOST_CLAIMS, MOST_COORDINATES, MOST_ROWS = 40, 64, 300  # beyond, nothing is looked for
SLACK = 1e-7  # of the size of the right sides: solvers err by as much


@dataclass(frozen=True, eq=False)
class _System:
    """Rows over f at the points z [n, m]: outputs numbered o·n + point; `owner` the claim of each row."""

    z: np.ndarray
    coef: np.ndarray
    rhs: np.ndarray
    owner: np.ndarray

    def of(self, claims: Sequence[int]) -> _System:
        """The rows of some claims."""
        kept = np.isin(self.owner, list(claims))
        return _System(self.z, self.coef[kept], self.rhs[kept], self.owner[kept])

    @property
    def size(self) -> float:
        return 1.0 + float(np.abs(self.rhs).max(initial=0.0))

    def missed(self) -> float:
        """t: by how much the rows miss each other at least; 0 where they do not."""
        if not len(self.rhs):
            return 0.0
        weight = np.abs(self.coef).max(axis=1, keepdims=True)
        n = self.coef.shape[1]
        found = linprog(
            np.eye(n + 1)[n],
            A_ub=np.hstack([self.coef, -weight]),
            b_ub=self.rhs,
            bounds=[(None, None)] * n + [(0.0, None)],
            method="highs",
        )
        least = 0.0 if found.x is None else float(found.x[-1])
        return least if found.status == 0 and least > SLACK * self.size else 0.0

    def fixes(self, form: np.ndarray) -> bool:
        """Whether the rows leave form·f no value but zero."""
        for sign in (1.0, -1.0):
            found = linprog(-sign * form, A_ub=self.coef, b_ub=self.rhs, bounds=(None, None), method="highs")
            if found.status != 0 or abs(float(form @ found.x)) > SLACK * self.size:
                return False
        return True


_At = tuple[dict[str, list[np.ndarray]], _System]  # the places of every feature, and the rows over f at them


def refuse_conflicts(claims: Sequence[Claim], domain: Domain, outputs: Sequence[str]) -> tuple[str, ...]:
    """Raise if claims contradict each other; else what they imply together and none does alone, one sentence each."""
    for claim in claims:
        _refuse_vacuous(claim, domain)
    few = domain.size <= MOST_COORDINATES and len(claims) <= MOST_CLAIMS
    if not few or not 2 <= sum(len(c.rows) for c in claims) <= MOST_ROWS or all(_roomy(claim) for claim in claims):
        return ()
    features = _features(claims, domain)
    systems = _systems(claims, domain, outputs, features)
    found = [_implied(claims, domain, outputs, systems, name) for name in features if _shared(claims, domain, name)]
    return tuple(sentence for sentence in found if sentence)


def _systems(claims: Sequence[Claim], domain: Domain, outputs: Sequence[str], features: Sequence[str]) -> list[_At]:
    """The places of the features around each base with the rows over f there; raise if rows contradict each other."""
    systems = []
    for base in (_middle(domain), *domain.sample(BASES - 1, np.random.default_rng(0))):
        places = {name: _places(domain, name, base) for name in features}
        system = _system(claims, domain, outputs, base, places, _pairs(claims, features))
        if system.missed():
            raise SmileError(_contradiction(claims, domain, system))
        systems.append((places, system))
    return systems


def _roomy(claim: Claim) -> bool:
    """Whether every small enough function satisfies the claim, as it does a `Robust` one: outputs below a limit > 0."""
    outputs_alone = all(term.kind == "out" for row in claim.rows for term in row.terms)
    return not claim.either and outputs_alone and all(row.rhs > 0 for row in claim.rows)


def _refuse_vacuous(claim: Claim, domain: Domain) -> None:
    """Raise if a claim compares an input with itself only: its copies are equal, and its rows then say nothing."""
    if claim.copies == 1 or claim.either:
        return
    pinned = ground(claim, domain).pinned.copy()
    pinned[[group[0] for group in domain.groups if len(group) == 1]] = True  # a category of one value
    if pinned.all() and all(_holds_of_equals(row) for row in claim.rows):
        raise SmileError(
            f"{_said(claim)!r} claims nothing: no feature may differ, so an input is compared with itself; widen its "
            "premise or drop it."
        )


def _holds_of_equals(row: Inequality) -> bool:
    """Whether a row holds of copies that are all equal, whatever f is: its terms cancel."""
    total: dict[tuple[str, str], Fraction] = {}
    for term in row.terms:
        total[term.kind, term.name] = total.get((term.kind, term.name), Fraction(0)) + term.coef
    return not any(total.values()) and row.rhs >= 0


def _said(claim: Claim) -> str:
    return claim.sentence or claim.formula()


def _contradiction(claims: Sequence[Claim], domain: Domain, system: _System) -> str:
    """The sentence: claims of which none can be left out, and the point."""
    kept = _contradicting(system)
    said = " and ".join(f"{_said(claims[i])!r}" for i in kept)
    at = ", ".join(f"{name} = {value:g}" for name, value in zip(domain.coordinates, system.z[0], strict=True) if value)
    verb = "cannot hold" if len(kept) == 1 else "contradict each other"
    return (
        f"No function satisfies these properties: {said} {verb} near {at or 'zero'}, by {system.of(kept).missed():.3g} "
        "at least; drop or weaken one of them."
    )


def _contradicting(system: _System) -> list[int]:
    """Claims that contradict each other and of which none can be left out."""
    kept = sorted(set(system.owner.tolist()))
    for claim in list(kept):
        fewer = [other for other in kept if other != claim]
        if system.of(fewer).missed():
            kept = fewer
    return kept


def _implied(claims: Sequence[Claim], domain: Domain, outputs: Sequence[str], systems: Sequence[_At], name: str) -> str:
    """What all claims together say of one feature, of some output, and no claim alone; '' for nothing."""
    bends = len(systems[0][0][name]) >= 3 and domain.feature(name).kind != "category"
    kinds = {"no dependence on": (1, 0, -1)} | ({"no bend along": (1, -2, 1)} if bends else {})
    for o, output in enumerate(outputs):
        what = next((what for what, signs in kinds.items() if _fixed_at_all(systems, name, signs, o, None)), None)
        if what is None or any(_fixed_at_all(systems, name, kinds[what], o, i) for i in range(len(claims))):
            continue
        which = f"'{output}'" if output else "the prediction"
        said = " and ".join(_said(claim) for claim in claims if name in _members(claim, domain))
        return f"Together these properties leave {which} {what} '{name}': {said}"
    return ""


def _fixed_at_all(systems: Sequence[_At], name: str, signs: Sequence[int], output: int, claim: int | None) -> bool:
    """Whether the rows of one claim, or of all, fix a difference along a feature around every base."""
    return all(_fixed(system, places[name], signs, output, claim) for places, system in systems)


def _fixed(system: _System, spots: list[np.ndarray], signs: Sequence[int], output: int, claim: int | None) -> bool:
    form = np.zeros((system.coef.shape[1] // len(system.z), len(system.z)))
    ends = spots if len(spots) == 3 else [spots[0], spots[0], spots[-1]]
    for sign, spot in zip(signs, ends, strict=True):
        form[output, int(np.flatnonzero((system.z == spot).all(axis=1))[0])] += sign
    return (system if claim is None else system.of([claim])).fixes(form.ravel())


# ---- the points and the rows ----------------------------------------------------------------------------------------


def _members(claim: Claim, domain: Domain) -> set[str]:
    """Features that a claim moves: named by a row, or free."""
    out = set(claim.free)
    for name in claim.named | {term.name for row in claim.rows for term in row.terms if term.kind == "in"}:
        out |= {f.name for f in domain.features if name == f.name or name in f.coordinates}
    return out


def _features(claims: Sequence[Claim], domain: Domain) -> list[str]:
    moved = set[str]().union(*(_members(claim, domain) for claim in claims))
    return [feature.name for feature in domain.features if feature.name in moved][:MOST_FEATURES]


def _shared(claims: Sequence[Claim], domain: Domain, name: str) -> bool:
    return sum(claim.copies > 1 and name in _members(claim, domain) for claim in claims) > 1


def _pairs(claims: Sequence[Claim], features: Sequence[str]) -> list[tuple[str, str]]:
    """Features that some row names together."""
    found = {
        pair
        for claim in claims
        for row in (*claim.when, *claim.rows)
        for pair in combinations(sorted({t.name for t in row.terms if t.name in features}), 2)
    }
    return sorted(found)[:MOST_PAIRS]


def _middle(domain: Domain) -> np.ndarray:
    x = (domain.lo + domain.hi) / 2
    x = np.where(domain.integral, np.floor(x), x)
    for group in domain.groups:
        x[list(group)] = np.eye(len(group))[0]
    return x


def _places(domain: Domain, name: str, base: np.ndarray) -> list[np.ndarray]:
    """The base row with a feature at its least, middle and largest value, or at three categories; each [m]."""
    own = list(domain.indices(name))
    if domain.feature(name).kind == "category":
        values = [np.eye(len(own))[i] for i in range(min(3, len(own)))]
    else:
        lo, hi = domain.lo[own[0]], domain.hi[own[0]]
        middle = np.floor((lo + hi) / 2) if domain.integral[own[0]] else (lo + hi) / 2
        values = [np.array([v]) for v in ((lo, middle, hi) if lo < middle < hi else (lo, hi))]
    out = []
    for value in values:
        x = base.copy()
        x[own] = value
        out.append(x)
    return out


def _system(
    claims: Sequence[Claim],
    domain: Domain,
    outputs: Sequence[str],
    base: np.ndarray,
    places: dict[str, list[np.ndarray]],
    pairs: Sequence[tuple[str, str]],
) -> _System:
    z = _points(domain, base, places, pairs)
    index = {tuple(x): i for i, x in enumerate(z)}
    along = [np.array([index[tuple(x)] for x in spots]) for spots in places.values()]
    coef, rhs, owner = list[np.ndarray](), list[float](), list[int]()
    for number, claim in enumerate(claims):
        for chosen in _tuples(claim, domain, z, along):
            for row in claim.rows:
                line, right = _line(row, domain, outputs, z, chosen)
                if line.any() or right < 0:
                    coef.append(line.ravel())
                    rhs.append(right)
                    owner.append(number)
    shape = (len(coef), len(outputs) * len(z))
    return _System(z, np.array(coef).reshape(shape), np.array(rhs), np.array(owner, dtype=int))


def _points(
    domain: Domain, base: np.ndarray, places: dict[str, list[np.ndarray]], pairs: Sequence[tuple[str, str]]
) -> np.ndarray:
    """The base row, the places of every feature, and those of two features together; [n, m], each once."""
    z = [base, *(x for spots in places.values() for x in spots)]
    for one, other in pairs:
        own = list(domain.indices(other))
        for a, b in product(places[one], places[other]):
            both = a.copy()
            both[own] = b[own]
            z.append(both)
    return np.unique(np.array(z), axis=0)


def _tuples(claim: Claim, domain: Domain, z: np.ndarray, along: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Tuples [k] of points that satisfy the premise, at most `MOST_TUPLES`; triples and more along one feature."""
    lines = [np.arange(len(z))] if claim.copies < 3 else along
    every = [spots[np.array(list(product(range(len(spots)), repeat=claim.copies)))] for spots in lines]
    tuples = np.concatenate(every)
    tuples = tuples[ground(claim, domain).holds(z[tuples])]
    step = max(1, -(-len(tuples) // MOST_TUPLES))
    return [chosen for chosen in tuples[::step] if holds_exactly(claim, domain, z[chosen])]


def _line(
    row: Inequality, domain: Domain, outputs: Sequence[str], z: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, float]:
    """The row at a tuple of points: coefficients [o, n] of the outputs there, and the right side without the inputs."""
    line, right = np.zeros((len(outputs), len(z))), float(row.rhs)
    for term in row.terms:
        at = chosen[term.copy]
        if term.kind == "out":
            line[list(outputs).index(term.name), at] += float(term.coef)
        else:
            right -= float(term.coef) * float(z[at, domain.indices(term.name)[0]])
    return line, right
