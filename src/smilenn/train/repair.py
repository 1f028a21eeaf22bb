"""Exact repair: what posttraining left unproved is made to hold, at the least cost in accuracy that bisection finds.

The constant network satisfies every claim that can be satisfied at all, so the way from the trained network to a
simpler one always reaches a proof. Claims tight on the diagonal (ε = 0) come first:

1. the gap is set to zero;
2. a feature that moves both ways is forgotten, its mean kept: f may not depend on it at all;
3. a feature that moves one way: where V_j·w_ji has the wrong sign, w_ji ← θ·w_ji. At θ = 0 every slope has the right
   sign in every activation cell; the largest θ of a bisection whose slopes are proved is kept.

Then claims with room (ε > 0, output limits, Lipschitz bounds): f ← c + θ·(f − c) with a constant c that satisfies them.
Every left side is linear in f, so if M is the proved maximum of a row and M_c < rhs its maximum for the constant,
θ·M + (1 − θ)·M_c ≤ rhs holds for θ = (rhs − M_c) / (M − M_c), and no new proof is needed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch

from smilenn.model.encoders import Contract, Distance
from smilenn.model.net import SmileNet
from smilenn.problem import Problem, Row, build_all
from smilenn.properties.claim import Claim
from smilenn.provers.portfolio import generate
from smilenn.provers.rules.closed_form import ClosedForm
from smilenn.provers.rules.signs import Signs
from smilenn.provers.rules.slopes import SlopeRule, slope_tree
from smilenn.train.config import Config
from smilenn.train.deploy import is_tight
from smilenn.train.feasible import forget

logger = logging.getLogger(__name__)

STEPS = 6  # of the bisection for θ
ROOM = 0.01  # of rhs − M_c that stays unused, for rounding and for proofs that are not quite tight


@dataclass(frozen=True)
class Repair:
    """What was done, in words ('' for nothing), and how much of the trained network is left (1: all, 0: a constant)."""

    text: str
    left: float


def repair(
    net: SmileNet,
    claims: Sequence[Claim],
    x: torch.Tensor,
    config: Config,
    *,
    classify: bool = False,
    inside: bool = False,
) -> Repair | None:
    """Change auxiliaries and head in place until the claims can be proved; x [N, m] raw training rows.

    Outputs are drawn to their mean, those of a classifier (`classify`) to 0, where decisions do not change. `inside` is
    said of outputs that end inside their bounds by more than rounding: then no further room is asked for.
    None where this file knows no way: the paper's boxes, and claims tight on the diagonal without an order (convex,
    symmetric) or with extra rows.
    """
    tight = _to_repair(net, build_all(claims, net.snapshot()))
    if net.boxes != "gap" or tight is None:
        return None
    with torch.no_grad():
        words, left = _repair_tight(net, claims, tight, x, config) if tight else ([], 1.0)
        factor = _shrink(net, claims, x, config, classify, inside or _as_steep_as_allowed(net))
        if factor is None:
            return None
        if factor < 1.0:
            words.append(f"outputs drawn to a constant by {1 - factor:.0%}")
    return Repair(", ".join(words), left * factor)


def _to_repair(net: SmileNet, problems: Sequence[Problem]) -> list[tuple[Problem, Row]] | None:
    """The rows with ε = 0 that do not hold by construction; None where one of them is beyond this file."""
    tight: list[tuple[Problem, Row]] = []
    for problem in problems:
        if problem.tight and net.collapsed and _by_signs(problem):
            continue  # kept as it is
        rows = [(problem, row) for row in problem.rows if is_tight(problem, row)]
        without_order = problem.tight and not rows and not (net.collapsed and _independent(problem))
        if without_order or (rows and problem.region.has_rows):
            return None
        tight += rows
    return tight


def _repair_tight(
    net: SmileNet, claims: Sequence[Claim], tight: Sequence[tuple[Problem, Row]], x: torch.Tensor, config: Config
) -> tuple[list[str], float]:
    """Steps 1 to 3 at the top of this file: what was done, and the θ that is left."""
    words = []
    if not net.gap.is_zero():
        net.gap.scale_(0.0)
        words.append("gap set to zero")
    both = np.any([_both_ways(problem) & _matters(problem, row) for problem, row in tight], axis=0)
    if both.any():
        words.append("features that may not matter forgotten")
        forget(net, torch.as_tensor(np.flatnonzero(both), device=x.device), net.encode(net.scale(x)).mean(dim=0))
    left = _shrink_signs(net, claims, config, net.encode(net.scale(x)))
    if left < 1.0:
        words.append(f"weights of the wrong sign × {left:.2f}")
    return words, left


def _independent(problem: Problem) -> bool:
    """Whether the network does not depend on any coordinate that may differ between the copies."""
    moving, s = ~problem.region.pinned, problem.snapshot
    return not (s.lower_slope[:, moving].any() or s.hidden_weight[:, moving].any())


def _by_signs(problem: Problem) -> bool:
    """Whether every unit of the network by itself keeps the claim; fewer or smaller outputs then do too."""
    return all(Signs().refuses(problem, row) is None for row in problem.rows)


def _both_ways(problem: Problem) -> np.ndarray:
    """[m] bool, coordinates that may differ between the copies in either direction."""
    region = problem.region
    ordered = (region.delta_hi <= 0) | (region.delta_lo >= 0)
    return ~region.pinned & (region.grouped | ~ordered)


def _matters(problem: Problem, row: Row) -> np.ndarray:
    """[m] bool, coordinates on which the outputs of a row depend."""
    s = problem.snapshot
    v = np.abs(row.outputs).sum(axis=0) @ np.abs(s.head_weight)  # [n]
    return ((v @ np.abs(s.lower_slope)) > 0) | ((v @ np.abs(s.lower_out)) @ np.abs(s.hidden_weight) > 0)


# ---- ε = 0 ----------------------------------------------------------------------------------------------------------


def _shrink_signs(net: SmileNet, claims: Sequence[Claim], config: Config, e: torch.Tensor) -> float:
    """The largest θ of a bisection at which every tight row is proved by slopes; the network is left there.

    Its mean over the encoded rows e [N, p] stays what it was: a constant plays no part in differences.
    """
    until = perf_counter() + config.generator_limit
    before = {name: tensor.clone() for name, tensor in net.lower.state_dict().items()}
    mean = net.lower(e).mean(dim=0)
    wrong = _wrong(net, claims)
    if not (bool(wrong[0].any()) or bool(wrong[1].any())):
        return 1.0  # monotone by its signs

    def at(theta: float) -> bool:
        net.lower.load_state_dict(before)
        if net.lower.hidden:
            net.lower.weight[wrong[0]] *= theta
        if net.lower.skip:
            net.lower.slope[wrong[1]] *= theta
        net.lower.const += mean - net.lower(e).mean(dim=0)
        return _by_slopes(build_all(claims, net.snapshot()), config.generator_seconds, until)

    if at(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) else (low, middle)
    at(low)
    return low


def _by_slopes(problems: Sequence[Problem], seconds: float, until: float) -> bool:
    """Whether the slope rule shows every tight row that it applies to, within `seconds` a row and by `until`."""
    rows = [(p, row) for p in problems for row in p.rows if is_tight(p, row) and SlopeRule().refuses(p, row) is None]
    return all(
        slope_tree(problem, row, time_limit=max(0.0, min(seconds, until - perf_counter()))).complete
        for problem, row in rows
    )


def _wrong(net: SmileNet, claims: Sequence[Claim]) -> tuple[torch.Tensor, torch.Tensor]:
    """Which weights [h, m] and slopes [n, m] of lower push some output the wrong way in an ordered feature."""
    s, h = net.snapshot(), net.lower.hidden
    weight, slope = np.zeros((h, s.domain.size), dtype=bool), np.zeros(s.lower_slope.shape, dtype=bool)
    for problem in build_all(claims, s):
        region = problem.region
        sigma = np.where(region.delta_hi <= 0, -1.0, 1.0) * (~region.pinned & ~_both_ways(problem))
        for row in problem.rows:
            if is_tight(problem, row):
                v = row.outputs[0] @ s.head_weight  # F = v·lower must not grow in the direction σ
                weight |= ((v @ s.lower_out)[:h, None] * s.hidden_weight[:h] * sigma) > 0
                slope |= (v[:, None] * s.lower_slope * sigma) > 0
    device = net.head_weight.device
    return torch.as_tensor(weight, device=device), torch.as_tensor(slope, device=device)


# ---- claims with room -----------------------------------------------------------------------------------------------


def _shrink(
    net: SmileNet, claims: Sequence[Claim], x: torch.Tensor, config: Config, classify: bool, inside: bool
) -> float | None:
    """f ← c + θ·(f − c); θ, or None where no constant satisfies the claims with room to spare."""
    snapshot = net.snapshot()
    rows = [(p, row) for p in build_all(claims, snapshot) if not p.tight for row in p.rows if not is_tight(p, row)]
    spare = 0.0 if inside else ROOM * config.slack
    enough = [-spare * abs(row.rhs) for _, row in rows]
    uppers = np.array([_upper(p, row, most, config) for (p, row), most in zip(rows, enough, strict=True)])
    wrong = uppers > np.array(enough)
    if not wrong.any():
        return 1.0
    wanted = np.zeros(len(net.head_bias)) if classify else _mean(net, x)
    constant, rooms = _constant(rows, wanted)
    factor = _factor(uppers[wrong].tolist(), rooms[wrong].tolist())
    if factor is None:
        return None
    scaled = torch.as_tensor(constant / snapshot.output_scale, device=net.head_bias.device)
    net.head_bias.copy_(factor * net.head_bias + (1 - factor) * scaled)
    net.head_weight.mul_(factor)
    return factor


def _upper(problem: Problem, row: Row, enough: float, config: Config) -> float:
    """A bound on the row; of one without units that is at most `enough`, one that is found at once."""
    formula = ClosedForm()
    if row.affine and formula.refuses(problem, row) is None:
        found = formula.maximise(problem, row, goal="prove", target=enough)
        if found.upper <= enough:
            return found.upper
    return generate(problem, row, start=config.generator_seconds, limit=config.generator_limit).upper


def _as_steep_as_allowed(net: SmileNet) -> bool:
    """Whether its layers bound every change and its outputs were scaled to that, the room for rounding left."""
    return net.encoder is not None and any(isinstance(layer, (Contract, Distance)) for layer in net.encoder.modules())


def _mean(net: SmileNet, x: torch.Tensor) -> np.ndarray:
    """The mean outputs [o] of rows x."""
    return torch.cat([net(part) for part in x.split(8192)]).mean(dim=0).cpu().numpy()


def _factor(uppers: Sequence[float], rooms: Sequence[float]) -> float | None:
    """The largest θ that proves rows with these maxima, a little less for rounding; None where there is no room."""
    factor = 1.0
    for upper, room in zip(uppers, rooms, strict=True):
        if room <= 0 or not np.isfinite(upper):
            return None
        if upper > -room * ROOM:
            factor = min(factor, (1 - ROOM) * room / (upper + room))
    return factor


def _constant(rows: Sequence[tuple[Problem, Row]], mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Constant outputs c [o] with room in every row, and the rooms rhs − M_c, one a row.

    On the way from the wanted one (`mean`) to the constant with the most room, the first that has a quarter of it.
    """
    from scipy.optimize import linprog

    total = np.stack([row.outputs.sum(axis=0) for _, row in rows])  # [R, o]
    most = np.array([float(p.region.maximum(row.inputs[None])[0]) for p, row in rows])
    rhs = np.array([row.rhs - row.input_const for _, row in rows]) - most
    best = linprog(
        [*np.zeros(len(mean)), -1.0],
        A_ub=np.column_stack([total, np.ones(len(rows))]),
        b_ub=rhs,
        bounds=[*[(None, None)] * len(mean), (None, float(np.abs(rhs).max()) + 1.0)],
        method="highs",
    )
    centre = mean if best.x is None else best.x[:-1]
    enough = 0.25 * (rhs - total @ centre)
    way = ((1 - step) * mean + step * centre for step in np.linspace(0.0, 1.0, 33))
    constant = next((c for c in way if (rhs - total @ c >= enough).all()), centre)
    return constant, rhs - total @ constant
