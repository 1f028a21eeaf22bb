"""The shape that claims ask of a coordinate, and which units v·relu(d·u + …) keep it: a cone of directions a side.

A unit has a side σ, the sign of v, and a direction d. What the signs rule looks at (docs/certificate.md §4.5):

    convex in P                    d = 0 on P if σ < 0
    concave in P                   d = 0 on P if σ > 0
    rising, falling in i           σ·d_i ≥ 0, ≤ 0
    s traded for w at rate r       σ·(d_s − r·d_w) ≥ 0, weights on raw inputs
    i and j permuted               d_i = d_j, weights on raw inputs

Some directions are written down and the allowed ones kept, in exact arithmetic; non-negative combinations of those are
allowed too. Bounds on slopes (`Lipschitz`, `Robust`) ask nothing of a single unit: train/curved.py keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from smilenn.domain import Domain
from smilenn.problem.region import Region
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import Changes, Curved, Permuted, Rises, Slope, Traded
from smilenn.properties.premise import ground
from smilenn.train.recipes.stated import Entry, Kind, Stated, entries

SLACK = 2.0**-30  # by how much a unit that rises is let rise at least: rounding must not turn it


@dataclass
class Shape:
    """What one coordinate z must be, by columns of the domain; `trades` are (strong, weak, rate, sign): z·sign must
    not fall where the strong column rises by t and the weak one falls by rate·t. `bounds` are those of |dz/du_i|,
    `budgets` pairs (column → δ in model units, ε): z may change by ε while all of them move.
    """

    convex: set[int] = field(default_factory=set)
    concave: set[int] = field(default_factory=set)
    rising: set[int] = field(default_factory=set)
    falling: set[int] = field(default_factory=set)
    trades: list[tuple[int, int, Fraction, int]] = field(default_factory=list)
    equal: list[tuple[int, int]] = field(default_factory=list)
    bounds: dict[int, float] = field(default_factory=dict)
    budgets: list[tuple[dict[int, float], float]] = field(default_factory=list)

    def limit(self, i: int, bound: float) -> None:
        """Bound |dz/du_i|, unless it is bounded more closely already."""
        self.bounds[i] = min(self.bounds.get(i, math.inf), bound)

    @property
    def tied(self) -> set[int]:
        """Columns that are traded or permuted."""
        return {i for s, w, *_ in self.trades for i in (s, w)} | {i for pair in self.equal for i in pair}

    def allows(self, side: int, direction: np.ndarray, mult: np.ndarray) -> bool:
        """Whether a unit of this side may read u in this direction [m]; exact."""
        raw = {int(i): Fraction(direction[i]) * Fraction(mult[i]) for i in np.flatnonzero(direction)}
        zero = Fraction(0)
        return (
            not raw.keys() & (self.concave if side > 0 else self.convex)
            and all(side * raw.get(i, zero) >= 0 for i in self.rising)
            and all(side * raw.get(i, zero) <= 0 for i in self.falling)
            and all(raw.get(i, zero) == raw.get(j, zero) for i, j in self.equal)
            and all(side * sign * (raw.get(s, zero) - r * raw.get(w, zero)) >= 0 for s, w, r, sign in self.trades)
        )


def shapes(
    domain: Domain, stated: Sequence[Stated], outputs: Outputs, head: np.ndarray, *, budgets: bool = True
) -> list[Shape]:
    """The shape of every coordinate, head [o, n] in output units: each term of a form v·f keeps what the form must.

    With `budgets`, robust claims are among what is asked.
    """
    found = [Shape() for _ in range(head.shape[1])]
    for one in stated:
        add = ASKED.get(one.kind)
        if add is None or (one.kind == Kind.ROBUST and not budgets):
            continue
        for entry in entries(one.forms, outputs, head):
            add(found[entry.coordinate], one, entry, domain)
    return found


def _bend(shape: Shape, one: Stated, entry: Entry, domain: Domain) -> None:
    assert isinstance(one.meaning, Curved)
    columns = shape.convex if one.meaning.sign * entry.sign > 0 else shape.concave
    columns.update(i for name in one.meaning.features for i in domain.indices(name))


def _rise(shape: Shape, one: Stated, entry: Entry, domain: Domain) -> None:
    assert isinstance(one.meaning, Rises)
    for names, sign in ((one.meaning.up, entry.sign), (one.meaning.down, -entry.sign)):
        columns = shape.rising if sign > 0 else shape.falling
        columns.update(i for name in names for i in domain.indices(name))


def _trade(shape: Shape, one: Stated, entry: Entry, domain: Domain) -> None:
    found = one.meaning
    assert isinstance(found, Traded)
    shape.trades.append((domain.indices(found.strong)[0], domain.indices(found.weak)[0], found.rate, entry.sign))


def _permute(shape: Shape, one: Stated, entry: Entry, domain: Domain) -> None:
    assert isinstance(one.meaning, Permuted)
    for cycle in one.meaning.cycles:
        for name, source in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            shape.equal += list(zip(domain.indices(name), domain.indices(source), strict=True))


def _bound(shape: Shape, one: Stated, entry: Entry, domain: Domain) -> None:
    assert isinstance(one.meaning, Slope)
    i = domain.indices(one.meaning.feature)[0]
    shape.limit(i, float(one.meaning.bound) / (float(domain.mult[i]) * entry.size))


def _spend(shape: Shape, one: Stated, entry: Entry, domain: Domain) -> None:
    assert isinstance(one.meaning, Changes)
    region = Region.of(ground(one.claim, domain))
    far = np.maximum(np.abs(region.delta_lo), np.abs(region.delta_hi))
    moves = {int(i): float(far[i]) for i in np.flatnonzero(~region.pinned & (far > 0))}
    eps = float(one.meaning.eps)
    shape.budgets.append((moves, eps / entry.size))
    for i, delta in moves.items():
        shape.limit(i, eps / (entry.size * delta))


ASKED: dict[Kind, Callable[[Shape, Stated, Entry, Domain], None]] = {
    Kind.CONVEX: _bend,
    Kind.CONCAVE: _bend,
    Kind.MONOTONE: _rise,
    Kind.DOMINATES: _trade,
    Kind.SYMMETRIC: _permute,
    Kind.LIPSCHITZ: _bound,
    Kind.ROBUST: _spend,
}


# ---- directions -----------------------------------------------------------------------------------------------------


def directions(shape: Shape, side: int, columns: Sequence[int], domain: Domain) -> list[np.ndarray]:
    """Directions [m] over these columns that units of this side may read; each of about the size of one range."""
    reach = (domain.hi - domain.lo) * domain.mult
    found: list[np.ndarray] = []
    for sign in (1, -1):
        for parts in _candidates(shape, side, sign, columns, domain.mult):
            d = _direction(parts, reach) if set(parts) <= set(columns) else None
            if d is None or not shape.allows(side, d, domain.mult):
                continue
            if not any(np.array_equal(d, other) for other in found):
                found.append(d)
    return found


def _direction(parts: dict[int, float], reach: np.ndarray) -> np.ndarray | None:
    """Weights by column as one vector [m], scaled by a power of two so that equal weights stay equal; None for 0."""
    d = np.zeros(len(reach))
    for i, value in parts.items():
        d[i] = value
    size = float(np.abs(d) @ reach)
    return d * 2.0 ** -round(math.log2(size)) if size > 0 else None


def _candidates(shape: Shape, side: int, sign: int, columns: Sequence[int], mult: np.ndarray) -> list[dict[int, float]]:
    """Single columns, columns of equal weight together, and trades that change nothing; weights on model units."""
    edges = [(s, w) for s, w, *_ in shape.trades]
    groups = [*_components(edges), *(list(edge) for edge in edges)]
    out = [{i: float(sign)} for i in columns]
    out += _equal_weights(shape, sign, mult)
    for raw in (_traded(shape, side, sign, group) for group in groups):
        out.append({i: value / float(mult[i]) for i, value in raw.items()})
    return out


def _equal_weights(shape: Shape, sign: int, mult: np.ndarray) -> list[dict[int, float]]:
    """Permuted columns together, where floats exist that give them one weight on raw inputs."""
    out = []
    for group in _components(shape.equal):
        if len({mult[i] for i in group}) == 1:
            out.append(dict.fromkeys(group, float(sign)))
        elif len(group) == 2:  # d_a·m_a = m_b·m_a = d_b·m_b without rounding
            out.append({group[0]: sign * float(mult[group[1]]), group[1]: sign * float(mult[group[0]])})
    return out


def _traded(shape: Shape, side: int, sign: int, group: Sequence[int]) -> dict[int, float]:
    """Weights on raw inputs that no trade changes: each from a neighbour, a little to the side that is allowed."""
    raw = {group[0]: float(sign)}
    for _ in group:
        for s, w, rate, way in shape.trades:
            slack = side * way * SLACK
            if w in raw and s not in raw and s in group:
                raw[s] = float(rate) * (raw[w] + slack * abs(raw[w]))
            elif s in raw and w not in raw and w in group:
                raw[w] = (raw[s] - slack * abs(raw[s])) / float(rate)
    return raw


def _components(edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The connected parts of a graph, each sorted."""
    parts: list[set[int]] = []
    for a, b in edges:
        joined = {a, b}.union(*(part for part in parts if part & {a, b}))
        parts = [part for part in parts if not part & {a, b}] + [joined]
    return [sorted(part) for part in parts]
