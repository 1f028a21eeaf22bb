"""A feasible start: make every claim hold before the training phase, so that λ stays small and accuracy survives.

After pretraining the proved maximum M is many times ε; dual ascent then overshoots and flattens the model. Instead:

1. the auxiliaries forget the features a claim with ε > 0 leaves free (protected columns to 0, their mean kept);
2. a claim tight on the diagonal (ε = 0) forces the gap to zero: set it to zero;
3. lower alone may need at most 60 % of ε: scale the head about the mean output where it needs more;
4. scale the gap. ψ is linear in the gap's factor s at every point, so M(s) is convex: M(s) ≤ (1 − s)·M(0) + s·M(1),
   and s = (0.9 ε − M(0)) / (M(1) − M(0)) makes M(s) ≤ 0.9 ε for certain.
"""

from __future__ import annotations

import logging
import math

import numpy as np
import torch

from smilenn.model.net import SmileNet
from smilenn.problem import Problem, Row
from smilenn.provers.portfolio import generate
from smilenn.train.config import Config
from smilenn.train.demand import unit
from smilenn.train.generator import Generator

logger = logging.getLogger(__name__)

LOWER_SHARE, SHARE = 0.6, 0.9


@torch.no_grad()
def start_feasible(net: SmileNet, x: torch.Tensor, generators: tuple[Generator, ...], config: Config) -> None:
    """Change auxiliaries and head in place; x [N, m] raw training rows."""
    u = net.encode(net.scale(x)).mean(dim=0)
    problems = [generator.problem(net.snapshot(), 0.0) for generator in generators]
    for problem in problems:
        if _difference(problem) and all(row.rhs > 0 for row in problem.rows):
            region = problem.region
            free = ~region.pinned & ~region.strips
            if free.any() and not free.all():
                forget(net, torch.as_tensor(np.flatnonzero(free), device=u.device), u)
    if net.boxes == "gap" and any(problem.tight for problem in problems):
        net.gap.scale_(0.0)
    _scale_head(net, x, generators, config)
    if net.boxes == "gap":
        _scale_gap(net, generators, config)


def _difference(problem: Problem) -> bool:
    """Whether every row compares outputs only, so that scaling the head scales its left side."""
    return all(_homogeneous(row) for row in problem.rows)


def _homogeneous(row: Row) -> bool:
    return not row.outputs.sum(axis=0).any() and not row.inputs.any()


def forget(net: SmileNet, columns: torch.Tensor, mean: torch.Tensor) -> None:
    """Make lower and gap ignore some columns (indices), their mean [m] (model units) folded into the constants."""
    for part in (net.lower, net.second):
        if part.hidden:
            part.bias.add_(part.weight[:, columns] @ mean[columns])
            part.weight[:, columns] = 0.0
        if part is net.lower and net.lower.skip:
            part.const.add_(net.lower.slope[:, columns] @ mean[columns])
            net.lower.slope[:, columns] = 0.0
    if net.boxes == "gap" and net.gap.kind == "affine":
        gap = net.gap
        kept = gap.rise[:, columns] @ (mean - net.u_lo)[columns] + gap.fall[:, columns] @ (net.u_hi - mean)[columns]
        gap.const.add_(kept)
        gap.rise[:, columns] = 0.0
        gap.fall[:, columns] = 0.0


def _maxima(net: SmileNet, generators: tuple[Generator, ...], config: Config) -> list[tuple[float, float]]:
    """(proved maximum of the left side, ε) of every homogeneous row with ε > 0."""
    snapshot = net.snapshot()
    out = []
    for generator in generators:
        problem = generator.problem(snapshot, 0.0)
        for row in problem.rows:
            if _homogeneous(row) and row.rhs > 0:
                found = generate(problem, row, start=config.generator_seconds, limit=config.generator_limit)
                out.append((found.upper + row.rhs, unit(row)))
    return out


def _without_gap(net: SmileNet, generators: tuple[Generator, ...], config: Config) -> list[tuple[float, float]]:
    if net.boxes != "gap":
        return _maxima(net, generators, config)
    kept = {name: tensor.clone() for name, tensor in net.gap.state_dict().items()}
    net.gap.scale_(0.0)
    try:
        return _maxima(net, generators, config)
    finally:
        net.gap.load_state_dict(kept)


def _scale_head(net: SmileNet, x: torch.Tensor, generators: tuple[Generator, ...], config: Config) -> None:
    share = LOWER_SHARE if net.boxes == "gap" else SHARE
    maxima = [(m, eps) for m, eps in _without_gap(net, generators, config) if share * eps < m < math.inf]
    factor = min((share * eps / m for m, eps in maxima), default=1.0)
    if factor < 1.0:
        mean = net.lower(net.encode(net.scale(x))).mean(dim=0)
        net.head_bias.add_((1 - factor) * (net.head_weight @ mean))
        net.head_weight.mul_(factor)
        logger.info("feasible start: head scaled by %.3g", factor)


def _scale_gap(net: SmileNet, generators: tuple[Generator, ...], config: Config) -> None:
    narrow, wide = _without_gap(net, generators, config), _maxima(net, generators, config)
    factor = 1.0
    for (m0, eps), (m1, _) in zip(narrow, wide, strict=True):
        if SHARE * eps < m1 < math.inf:  # a prover without any bound in its time says nothing about the gap
            factor = min(factor, max(0.0, (SHARE * eps - m0) / (m1 - m0)))
    if factor < 1.0:
        net.gap.scale_(factor)
        logger.info("feasible start: gap scaled by %.3g", factor)
