"""How close the network itself comes to breaking a claim, looked for around real rows.

For every row x and every copy that x may stand for, partners are drawn from the premise: anywhere in it, at its
corners, and with values of other rows; then a few signed gradient steps climb the claim's left side:

    value(tuple) = max over the claim's rows of  Σ coef·(input or output) − rhs      ≤ 0 where the claim holds

What is found is a lower bound of the largest value: it shows where the rule is tight, and proves nothing. A pair of
(nearly) equal inputs is tight for rules such as f(a) ≤ f(b) and teaches nothing, so copies must differ by a quarter of
what the premise allows, in one input at least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from smilenn.domain import Domain
from smilenn.model.net import SmileNet
from smilenn.problem import InputClaim
from smilenn.problem.region import Region
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.premise import ground
from smilenn.provers.realise import onto_premise

PARTNERS = 48  # tuples drawn for each row
STEPS = 10  # gradient steps from the best of them
LEAST_MOVE = 0.25  # share of what the premise allows
LAST_BITS = 1e-6  # of the limit: what leaving a premise by its last bits may do
WITHIN = 1e-9  # model units: rounding between raw and model units


class Function(Protocol):
    """What is probed: a `SmileNet`, or any other function of the same inputs, which is then only sampled."""

    @property
    def domain(self) -> Domain:
        """The input space."""
        ...

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the o outputs."""
        ...

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Raw inputs [n, m] → outputs [n, o]."""
        ...


@dataclass(frozen=True, eq=False)
class Probe:
    """What was found: for each of n rows the largest value [n] and the tuple [n, k, m] (raw units) that has it.

    Rows that no tuple of the premise goes through are left out: `rows` [n] numbers those that are here.
    """

    claim: Claim
    rows: np.ndarray
    value: np.ndarray
    tuples: np.ndarray
    outputs: np.ndarray

    @property
    def limit(self) -> float | None:
        """The common right side ε of all rows, where there is one: then value + ε is the left side itself."""
        sides = {row.rhs for row in (*self.claim.rows, *(row for clause in self.claim.either for row in clause))}
        return float(sides.pop()) if len(sides) == 1 else None

    def tightest(self, count: int) -> np.ndarray:
        """Positions of the largest values, of different rows, best first."""
        return np.argsort(-self.value, kind="stable")[:count]


def probe(net: Function, claim: Claim, x: np.ndarray, *, seed: int = 0) -> Probe:
    """Look for tight tuples of a claim around the rows x [n, m] (raw units)."""
    domain = net.domain
    premise = ground(claim, domain)
    region = Region.of(premise)
    rng = np.random.default_rng(seed)
    k, m, n = claim.copies, domain.size, len(x)
    u = domain.scale(x)
    best_value, best = np.full(n, -np.inf), np.repeat(u[:, None], k, axis=1)
    reach = _reach(region)
    for turn in range(PARTNERS if k > 1 else 1):
        anchor = turn % k
        drawn = _settled(region, _drawn(region, u, anchor, turn // k, rng), anchor)
        value = _values(net, claim, domain.unscale(drawn))
        value[~(region.contains(drawn, WITHIN) & _apart(drawn, reach))] = -np.inf
        better = value > best_value
        best_value[better], best[better] = value[better], drawn[better]
    rows = np.flatnonzero(np.isfinite(best_value))
    best, best_value = best[rows], best_value[rows]
    if len(rows) and k > 1 and isinstance(net, SmileNet):
        _climb(net, claim, region, best, best_value)
    tuples = domain.unscale(best.reshape(-1, m)).reshape(-1, k, m) if len(best) else np.zeros((0, k, m))
    given = InputClaim(claim, domain, premise, region, net.outputs)
    real = np.ones(len(rows), dtype=bool)
    for i in np.flatnonzero((best_value > 0) & (best_value < LAST_BITS * (1 + _size(claim)))):
        exact = onto_premise(given, tuples[i])  # broken by a last bit, or because the premise is left by one?
        real[i] = exact is not None
        if exact is not None:
            tuples[i], best_value[i] = exact, _values(net, claim, exact[None])[0]
    rows, best_value, tuples = rows[real], best_value[real], tuples[real]
    outputs = net.predict(tuples.reshape(-1, m)).reshape(len(tuples), k, len(net.outputs))
    return Probe(claim, rows, best_value, tuples, outputs)


def _climb(net: SmileNet, claim: Claim, region: Region, best: np.ndarray, best_value: np.ndarray) -> None:
    """Tuples best [n, k, m], model units, and their values moved along the signs of the gradient, in place."""
    size, reach = 0.5, _reach(region)
    for _ in range(STEPS):
        slope = _gradient(net, claim, best)
        moved = best + size * np.sign(slope) * np.where(region.step > 0, 0.0, reach)
        moved = _settled(region, moved, 0)
        value = _values(net, claim, net.domain.unscale(moved))
        better = (value > best_value) & region.contains(moved, WITHIN) & _apart(moved, reach)
        best[better], best_value[better] = moved[better], value[better]
        size *= 0.7


def _reach(region: Region) -> np.ndarray:
    """How far two copies may lie apart, model units [m]; 0 where they are equal."""
    wide = (region.hi - region.lo).max(axis=0)
    if region.copies == 2:
        low, high = region.gaps
        wide = np.minimum(wide, np.maximum(-low, high))
    return np.where(region.pinned, 0.0, wide)


def _apart(u: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Which tuples u [B, k, m] differ enough between their copies; all of them for one copy. [B] bool."""
    if u.shape[1] == 1 or not (reach > 0).any():
        return np.ones(len(u), dtype=bool)
    free = reach > 0
    return (np.ptp(u[:, :, free], axis=1) >= LEAST_MOVE * reach[free]).any(axis=1)


def _drawn(region: Region, u: np.ndarray, anchor: int, turn: int, rng: np.random.Generator) -> np.ndarray:
    """Rows u [n, m] as copy `anchor`, the others drawn: uniform, at corners, or with values of other rows."""
    out = np.repeat(u[:, None], region.copies, axis=1)
    for c in range(region.copies):
        if c == anchor:
            continue
        lo, hi = region.lo[c], region.hi[c]
        if region.copies == 2:
            low, high = region.gaps  # of copy 0 − copy 1
            near, far = (u - high, u - low) if c == 1 else (u + low, u + high)
            lo, hi = np.maximum(lo, near), np.minimum(hi, far)
        match turn % 3:
            case 0:
                drawn = lo + (hi - lo) * rng.uniform(size=u.shape)
            case 1:
                drawn = np.where(rng.uniform(size=u.shape) < 0.5, lo, hi)
            case _:
                drawn = np.clip(u[rng.permutation(len(u))], lo, hi)
        for group in region.groups:
            members = list(group)
            drawn[:, members] = np.eye(len(members))[rng.integers(0, len(members), len(u))]
        out[:, c] = np.where(region.pinned, u, drawn)
    return out


def _settled(region: Region, u: np.ndarray, anchor: int) -> np.ndarray:
    """Tuples moved into the premise; with two copies and no further rows the anchor stays where it is, if it may."""
    if region.copies != 2 or region.has_rows:
        return region.snap(u)
    fixed, other = np.clip(u[:, anchor], region.lo[anchor], region.hi[anchor]), u[:, 1 - anchor]
    low, high = region.gaps
    lo, hi = (fixed - high, fixed - low) if anchor == 0 else (fixed + low, fixed + high)
    lo, hi = np.maximum(lo, region.lo[1 - anchor]), np.minimum(hi, region.hi[1 - anchor])
    other = np.clip(other, lo, np.maximum(lo, hi))
    grid = region.step > 0
    step = np.where(grid, region.step, 1.0)
    start = region.lo[1 - anchor]
    other = np.where(grid & ~region.grouped, start + step * np.rint((other - start) / step), other)
    for group in region.groups:
        members = list(group)
        other[:, members] = np.eye(len(members))[u[:, 1 - anchor][:, members].argmax(axis=1)]
    other = np.where(region.pinned, fixed, other)
    return np.stack([fixed, other] if anchor == 0 else [other, fixed], axis=1)


def _size(claim: Claim) -> float:
    """The largest right side."""
    return max(abs(float(row.rhs)) for row in (*claim.rows, *(row for clause in claim.either for row in clause)))


def _values(net: Function, claim: Claim, x: np.ndarray) -> np.ndarray:
    """The largest value of the claim's rows at tuples x [B, k, m] (raw units), by the network itself. [B]

    A clause has the value of its least violated row.
    """
    k, m = x.shape[1:]
    outputs = net.predict(x.reshape(-1, m)).reshape(len(x), k, -1)

    def value(row: Inequality) -> np.ndarray:
        total = np.zeros(len(x))  # the limit comes last: equal outputs then differ by nothing
        for term in row.terms:
            if term.kind == "out":
                total += float(term.coef) * outputs[:, term.copy, net.outputs.index(term.name)]
            else:
                total += float(term.coef) * x[:, term.copy, list(net.domain.indices(term.name))].sum(axis=1)
        return total - float(row.rhs)

    rows = [value(row) for row in claim.rows]
    return np.max(rows + [np.min([value(row) for row in clause], axis=0) for clause in claim.either], axis=0)


def _gradient(net: SmileNet, claim: Claim, u: np.ndarray) -> np.ndarray:
    """Slope of the largest row at tuples u [B, k, m], model units, [B, k, m]."""
    import torch

    net.eval()
    domain, (b, k, m) = net.domain, u.shape
    mult, shift = (torch.as_tensor(v, device=net.shift.device) for v in (domain.mult, domain.shift))
    point = torch.as_tensor(u.reshape(-1, m), device=net.shift.device).requires_grad_()
    x = point / mult + shift
    outputs = net(x).reshape(b, k, -1)

    def value(row: Inequality) -> torch.Tensor:
        total = torch.zeros(b, dtype=torch.float64, device=x.device) - float(row.rhs)
        for term in row.terms:
            if term.kind == "out":
                total = total + float(term.coef) * outputs[:, term.copy, net.outputs.index(term.name)]
            else:
                inputs = x.reshape(b, k, m)[:, term.copy, list(domain.indices(term.name))]
                total = total + float(term.coef) * inputs.sum(dim=1)
        return total

    rows = [value(row) for row in claim.rows]
    rows += [torch.stack([value(row) for row in clause]).min(dim=0).values for clause in claim.either]
    most = torch.stack(rows).max(dim=0).values.sum()
    if not most.requires_grad:
        return np.zeros_like(u)
    (slope,) = torch.autograd.grad(most, point)
    return slope.cpu().numpy().reshape(b, k, m)
