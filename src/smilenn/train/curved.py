"""Units that keep convex, concave, dominating, symmetric and slope-bounded features by construction, without a tree.

    z = e_0 + Σ_j v_j·relu(d_j·u + c_j·e + b_j)      u: columns that are passed on; e: what the encoder says of others

A unit has a *side*, the sign of v_j, and a fixed direction d_j over the passed columns that the claims allow
(recipes/shapes.py); what it reads of e is pinned, or rises as z must. Learned are v_j, within its sign, b_j and c_j. In
every direction there is one unit that is always on: lines are combinations of units as well.

`Lipschitz` asks for slopes, −K ≤ Σ_active v_j·d_ji ≤ K in every cell; the slope rule (§4.3) proves it. Units over such
a column have fixed knots t_1 < t_2 < … and do not read e:

    z = … + s_0·u + Σ_j Δ_j·relu(u − t_j),        slopes s_0, s_0 + Δ_1, s_0 + Δ_1 + Δ_2, …

which are cut to [−K, K] after a step, from or up to 0 if z is monotone. (Where the column is also traded or permuted,
units are counted at their worst instead, and scaled back.) `Robust` asks for Σ_i δ_i·K_i ≤ ε over the columns that
move, where K_i is what the root of a tree counts, the larger of s_0 + Σ max(0, Δ_j) and −s_0 − Σ min(0, Δ_j): the
steepest slopes are cut, all by the same share. (Not for classifiers, whose logits repair scales without changing a
decision.) Units that are equal in all members of an ensemble are one unit in the end (`merge_`): proofs stay small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import nn

from smilenn.model.auxiliaries import FreeNet
from smilenn.model.net import SmileNet

ROOM = 1e-6  # of a bound on slopes that stays unused, and of a range by which a unit is always on
BUDGET = 0.02  # of ε that stays unused
ALWAYS_ON, KNOTTED, BESIDE = 0, 1, 2  # kinds of units; the last also read what the encoder says


@dataclass(frozen=True)
class BoundedColumn:
    """The units of one column with bounded slopes: two that are always on, d·u and −d·u, and of every knot one for
    either side (none where that side may not bend); the slopes' ends.
    """

    coordinate: int
    size: float  # d
    up: int
    down: int
    rise: tuple[int, ...]
    fall: tuple[int, ...]
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one member, h of them, and how many members there are: unit j of member k is unit k·h + j.

    `coordinate` [h] of z to which a unit adds, `side` [h], `direction` [h, c] over the c passed columns; `kind` [h]:
    `ALWAYS_ON`, `KNOTTED` in a direction alone, `BESIDE` reading e too; `still` [h]: its knot is not moved. `place` [n]
    of each coordinate among the P of a member's e (−1: none), `context` [n, P] those that its units may read, `ordered`
    [n]: these rise where z must. `bounds` are (coordinate, passed column, limit); `features` are those that units read.
    """

    members: int
    coordinate: np.ndarray
    side: np.ndarray
    direction: np.ndarray
    kind: np.ndarray
    still: np.ndarray
    place: np.ndarray
    context: np.ndarray
    ordered: np.ndarray
    encoded: int
    bounds: tuple[tuple[int, int, float], ...]
    slopes: tuple[BoundedColumn, ...]
    budgets: tuple[tuple[dict[int, float], float], ...]  # of places in `slopes`
    features: frozenset[str]

    @property
    def size(self) -> int:
        """h, the units of one member."""
        return len(self.side)

    @cached_property
    def reads(self) -> tuple[np.ndarray, np.ndarray]:
        """Which units (of M·h) may read which encoded coordinates: pairs, as two arrays of indices."""
        own = self.context[self.coordinate] & (self.kind == BESIDE)[:, None]  # [h, P]
        unit, place = np.nonzero(np.kron(np.eye(self.members, dtype=bool), own))
        return unit, place

    @torch.no_grad()
    def begin_(self, lower: FreeNet) -> None:
        """Write the directions; outputs are zero. What is fixed stays so: its gradients are zero from now on."""
        h, tall = self.size, self.size * self.members
        free = torch.zeros_like(lower.weight)
        lower.weight.zero_()
        lower.out.zero_()
        lower.weight[:, self.encoded :] = torch.as_tensor(np.tile(self.direction, (self.members, 1)))
        free[self.reads] = 1.0
        moving = torch.as_tensor(np.tile((self.kind != ALWAYS_ON) & ~self.still, self.members), dtype=torch.float64)
        own = torch.zeros_like(lower.out)
        own[np.tile(self.coordinate, self.members), np.arange(tall)] = 1.0
        assert tall == lower.hidden and h
        for parameter, mask in ((lower.weight, free), (lower.bias, moving), (lower.out, own)):
            parameter.requires_grad_(True)
            parameter.register_hook(lambda slope, mask=mask: slope * mask.to(slope))

    @torch.no_grad()
    def keep_(self, lower: FreeNet) -> None:
        """Restore signs and bounds; called after every step."""
        side = torch.as_tensor(np.tile(self.side, self.members)).to(lower.out)
        lower.out.copy_((lower.out * side).clamp(min=0.0) * side)
        unit, place = self.reads
        bound = np.tile(self.ordered[self.coordinate], self.members)[unit]
        if bound.any():
            unit, place = unit[bound], place[bound]
            signs = side[unit]
            lower.weight[unit, place] = (lower.weight[unit, place] * signs).clamp(min=0.0) * signs
        for t, column, limit in self.bounds:
            self._scale_back_(lower, t, column, limit * (1 - ROOM))
        for one in self.slopes:
            out = lower.out[one.coordinate].reshape(self.members, self.size)  # a view
            _cut_(out, one, self.members, int(self.side[one.up]))
        for deltas, eps in self.budgets:
            self._spend_(lower, deltas, eps * (1 - BUDGET))

    def _scale_back_(self, lower: FreeNet, t: int, column: int, limit: float) -> None:
        """Scale the units over a column until their worst slope, whichever of them are active, is within the limit."""
        d = lower.weight[:, self.encoded + column]
        gain = (self.members * lower.out[t] * d).reshape(self.members, -1)  # [M, h]
        on = torch.as_tensor(self.kind == ALWAYS_ON).to(gain)
        base, rest = (gain * on).sum(dim=1), gain * (1 - on)
        up, down = (base + part.sum(dim=1) for part in (rest.clamp(min=0.0), rest.clamp(max=0.0)))
        worst = torch.maximum(up, -down)
        factor = torch.where(worst > limit, limit / worst, torch.ones_like(worst))
        lower.out[t] *= torch.where(d != 0, factor.repeat_interleave(self.size), torch.ones_like(d))

    def _spend_(self, lower: FreeNet, deltas: dict[int, float], eps: float) -> None:
        """Cut the steepest slopes of every member, all by one share, until what a tree's root counts is within ε."""
        outs = {i: lower.out[self.slopes[i].coordinate].reshape(self.members, self.size) for i in deltas}
        for last in (False, False, True):
            counted, steepest = {}, {}
            for i in deltas:
                slopes = _slopes_of(outs[i], self.slopes[i], self.members)
                steps = slopes.diff(dim=1)
                up, down = (slopes[:, 0] + part.sum(dim=1) for part in (steps.clamp(min=0), steps.clamp(max=0)))
                counted[i], steepest[i] = torch.maximum(up, -down), slopes.abs().amax(dim=1)
            total = torch.stack([deltas[i] * counted[i] for i in deltas]).sum(dim=0)  # [M]
            share = torch.where(total > eps, eps / total.clamp(min=1e-300), torch.ones_like(total))
            for i in deltas if bool((share < 1).any()) else ():
                one = self.slopes[i]
                if last:
                    own = [j for j in (one.up, one.down, *one.rise, *one.fall) if j >= 0]
                    outs[i][:, own] *= share[:, None]
                else:
                    _cut_(outs[i], one, self.members, int(self.side[one.up]), share * steepest[i])


def _slopes_of(out: torch.Tensor, one: BoundedColumn, members: int) -> torch.Tensor:
    """The slopes [M, knots + 1] of a column between its knots, of every member; out [M, h]."""
    first = out[:, one.up] - out[:, one.down]
    steps = torch.zeros(len(out), len(one.rise), dtype=out.dtype, device=out.device)
    for own in (one.rise, one.fall):
        if own and own[0] >= 0:
            steps += out[:, list(own)]
    return torch.cat([first[:, None], first[:, None] + steps.cumsum(dim=1)], dim=1) * (members * one.size)


def _cut_(out: torch.Tensor, one: BoundedColumn, members: int, side: int, most: torch.Tensor | None = None) -> None:
    """Cut the slopes of every member to their ends, and to ±most [M]; out [M, h] in place."""
    unit = members * one.size
    slopes = _slopes_of(out, one, members)
    cut = slopes.clamp(one.least, one.most)
    if most is not None:
        cut = torch.maximum(torch.minimum(cut, most[:, None]), -most[:, None])
    if torch.equal(cut, slopes):
        return
    first, steps = cut[:, 0] / unit, cut.diff(dim=1) / unit
    out[:, one.up] = (first * side).clamp(min=0.0) * side
    out[:, one.down] = (-first * side).clamp(min=0.0) * side
    if one.rise and one.rise[0] >= 0:
        out[:, list(one.rise)] = steps.clamp(min=0.0)
    if one.fall and one.fall[0] >= 0:
        out[:, list(one.fall)] = steps.clamp(max=0.0)


@torch.no_grad()
def merge_(net: SmileNet) -> None:
    """Leave units out that add nothing, and join those that are equal, bit for bit; nothing is trained afterwards."""
    lower, second = net.lower, net.second
    rows = torch.cat([lower.weight, lower.bias[:, None]], dim=1).cpu().numpy()
    out: dict[bytes, tuple[int, np.ndarray]] = {}
    for j, own in enumerate(lower.out.T.cpu().numpy()):
        if own.any():
            first, total = out.get(rows[j].tobytes(), (j, np.zeros(len(own))))
            out[rows[j].tobytes()] = first, total + own
    kept = [j for j, _ in out.values()] or [0]
    sums = np.stack([total for _, total in out.values()], axis=1) if out else np.zeros((lower.size, 1))
    for part in (lower, second):
        part.hidden = len(kept)
        for name in ("weight", "bias"):
            tensor = getattr(part, name)
            setattr(part, name, nn.Parameter(tensor[kept].clone(), requires_grad=False))
    lower.out = nn.Parameter(torch.as_tensor(sums).to(lower.out), requires_grad=False)
    second.out = nn.Parameter(torch.zeros_like(lower.out), requires_grad=False)
    net.hidden = len(kept)
