"""What properties ask of a unit v·relu(d·u + …), by its side σ, the sign of v, and its direction d: a cone a side.

    Convex(P)             asks d = 0 on P if σ < 0
    Concave(P)            asks d = 0 on P if σ > 0
    Monotone              asks σ·d_i ≥ 0 where z rises with feature i, ≤ 0 where it falls
    Dominates(s, w, r)    asks σ·(d_s − r·d_w) ≥ 0, weights on raw inputs
    Symmetric             asks d_i = d_j, weights on raw inputs

which is what the signs rule looks at (docs/certificate.md §4.5), unit by unit. Some directions are written down and the
allowed ones kept, in exact arithmetic; non-negative combinations of those are allowed too. `Lipschitz` and `Robust` ask
for slopes, which are none of a single unit: curved.py keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from smilenn.domain import Domain
from smilenn.problem.region import Region
from smilenn.properties import Concave, Convex, Dominates, Lipschitz, Monotone, Robust, Symmetric, ground
from smilenn.properties.base import Property
from smilenn.properties.forms import Outputs
from smilenn.properties.library import Spoken

SLACK = 2.0**-30  # by how much a unit that rises is let rise at least: rounding must not turn it
CURVES = (Convex, Concave, Symmetric, Dominates, Lipschitz)


@dataclass
class Asked:
    """What one coordinate z has to do, by columns of the domain; `trades` are (strong, weak, rate, sign): z·sign must
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


def asked(
    domain: Domain, properties: Sequence[Property], outputs: Outputs, head: np.ndarray, *, budgets: bool = True
) -> list[Asked]:
    """What the properties ask of every coordinate, head [o, n] in output units: of a form v·f each term keeps it."""
    found = [Asked() for _ in range(head.shape[1])]
    kinds = (*CURVES, Monotone, Robust) if budgets else (*CURVES, Monotone)
    for p in properties:
        for form in p.forms(outputs) if isinstance(p, kinds) and isinstance(p, Spoken) else ():
            v = sum((float(c) * head[outputs.names.index(name)] for c, name in form), np.zeros(head.shape[1]))
            for t in np.flatnonzero(np.abs(v) > 1e-12 * np.abs(v).max()):
                _ask(found[t], domain, outputs, p, int(np.sign(v[t])), float(np.abs(v).sum()))
    return found


def _ask(one: Asked, domain: Domain, outputs: Outputs, p: Property, sign: int, size: float) -> None:
    """Of a coordinate that enters with this sign, in a form whose coefficients have this size in all."""

    def columns(name: object) -> list[int]:
        return list(domain.indices(str(name)))

    if isinstance(p, (Convex, Concave)):
        up = isinstance(p, Convex) == (sign > 0)
        (one.convex if up else one.concave).update(i for name in p.features for i in columns(name))
    elif isinstance(p, Monotone):
        for names, way in ((p.increasing, sign), (p.decreasing, -sign)):
            (one.rising if way > 0 else one.falling).update(i for name in names for i in columns(name))
    elif isinstance(p, Dominates):
        one.trades.append((columns(p.strong)[0], columns(p.weak)[0], Fraction(p.rate), sign))
    elif isinstance(p, Symmetric):
        for a, b in p.features:
            one.equal += list(zip(columns(a), columns(b), strict=True))
    elif isinstance(p, Lipschitz):
        for name, bound in p.bounds:
            i = columns(name)[0]
            one.bounds[i] = min(one.bounds.get(i, math.inf), float(bound) / (float(domain.mult[i]) * size))
    elif isinstance(p, Robust):
        for claim in p.lower(domain, outputs):
            region = Region.of(ground(claim, domain))
            far = np.maximum(np.abs(region.delta_lo), np.abs(region.delta_hi))
            moves = {int(i): float(far[i]) for i in np.flatnonzero(~region.pinned & (far > 0))}
            one.budgets.append((moves, float(p.eps) / size))
            for i, delta in moves.items():
                one.bounds[i] = min(one.bounds.get(i, math.inf), float(p.eps) / (size * delta))


# ---- directions -----------------------------------------------------------------------------------------------------


def directions(one: Asked, side: int, columns: Sequence[int], domain: Domain) -> list[np.ndarray]:
    """Directions [m] over these columns that units of this side may read; each of about the size of one range."""
    mult = domain.mult
    reach = (domain.hi - domain.lo) * mult
    found: list[np.ndarray] = []
    for sign in (1, -1):
        for parts in _candidates(one, side, sign, columns, mult):
            d = np.zeros(domain.size)
            for i, value in parts.items():
                d[i] = value
            size = float(np.abs(d) @ reach)
            if not size > 0 or not set(parts) <= set(columns):
                continue
            d *= 2.0 ** -round(math.log2(size))  # a power of two: weights that are equal stay so
            if one.allows(side, d, mult) and not any(np.array_equal(d, other) for other in found):
                found.append(d)
    return found


def _candidates(
    one: Asked, side: int, sign: int, columns: Sequence[int], mult: np.ndarray
) -> list[dict[int, float]]:  # fmt: skip
    """Single columns, columns of equal weight together, and trades that change nothing; weights on model units."""
    out = [{i: float(sign)} for i in columns]
    for group in _components(one.equal):
        if len({mult[i] for i in group}) == 1:
            out.append(dict.fromkeys(group, float(sign)))
        elif len(group) == 2:  # d_a·m_a = m_b·m_a = d_b·m_b without rounding
            out.append({group[0]: sign * float(mult[group[1]]), group[1]: sign * float(mult[group[0]])})
    edges = [(s, w) for s, w, *_ in one.trades]
    for group in [*_components(edges), *(list(edge) for edge in edges)]:
        raw = {group[0]: float(sign)}
        for _ in group:  # every column from a neighbour, a little to the side that is allowed
            for s, w, rate, way in one.trades:
                slack = side * way * SLACK
                if w in raw and s not in raw and s in group:
                    raw[s] = float(rate) * (raw[w] + slack * abs(raw[w]))
                elif s in raw and w not in raw and w in group:
                    raw[w] = (raw[s] - slack * abs(raw[s])) / float(rate)
        out.append({i: value / float(mult[i]) for i, value in raw.items()})
    return out


def _components(edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The connected parts of a graph, each sorted."""
    parts: list[set[int]] = []
    for a, b in edges:
        joined = {a, b}.union(*(part for part in parts if part & {a, b}))
        parts = [part for part in parts if not part & {a, b}] + [joined]
    return [sorted(part) for part in parts]
