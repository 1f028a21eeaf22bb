"""The paper's three phases, one unit of work at a time (Algorithm Train, with the errata of docs/method.md).

    pretrain    θ ← step on  L_s(f) + L_s(g∘lower) + L_s(g∘upper) + L_s(g∘h) + λ_box·L_box
    train       θ ← step on  L_s(f) + λ_box·L_box + λ·L_prop;      λ ← λ + η·L_prop
    posttrain   generator proves every row, or adds its counterexample to the pool and
                first, for `settle_rounds`, training goes on at its final rate while λ grows by half each round;
                then the projector runs: θ ← step on  ‖θ − θ_orig‖² + λ·L_prop;   λ ← λ + η·L_prop, from λ = 0

Every function does one epoch or round, changes `State` in place and returns the record for the history.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from smilenn.errors import SmileError
from smilenn.model.net import SmileNet
from smilenn.model.select import select
from smilenn.problem import Problem
from smilenn.provers.rules.slopes import SlopeRule, slope_tree
from smilenn.provers.rules.table import certifier, decider
from smilenn.train.adam import adam_step, forget_gradients
from smilenn.train.backward import Backward
from smilenn.train.config import Config
from smilenn.train.generator import Generator
from smilenn.train.losses import Decides, Pressure, TaskLoss, box_loss, property_loss
from smilenn.train.state import State, rngs

OUTLINE = 20_000  # rows that show the range of an encoder


@dataclass(frozen=True)
class Training:
    """Data and constants of one run; x [N, m] raw, y [N, o], weight [N] or None, all on the network's device.

    `held` [N, G] bool: rows that group g of an ensemble never learns from (train/encoded.py); `folds` [N, F] the same
    for its boosters, which may be more. `over` says, within an epoch, that the time limit has passed: the epoch ends
    there. `decides` says how outputs become a decision.
    """

    x: torch.Tensor
    y: torch.Tensor
    weight: torch.Tensor | None
    loss: TaskLoss
    validation: tuple[torch.Tensor, torch.Tensor] | None
    generators: tuple[Generator, ...]
    config: Config
    seed: int
    held: torch.Tensor | None = None
    decides: Decides = ""
    over: Callable[[], bool] = bool
    folds: torch.Tensor | None = None

    def batches(self, rng: np.random.Generator) -> list[torch.Tensor]:
        """A random partition of the rows into batches of indices."""
        order = torch.as_tensor(rng.permutation(len(self.x)), device=self.x.device)
        return list(order.split(self.config.batch_size))

    def rows(self, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Inputs, targets and weights of a batch."""
        return self.x.index_select(0, index), *self.labels(index)

    def labels(self, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Targets and weights of a batch."""
        weight = None if self.weight is None else self.weight.index_select(0, index)
        return self.y.index_select(0, index), weight

    def outline(self) -> torch.Tensor:
        """Rows [n, m] that show how far outputs go: all, or of very many those at even ranks of every target, its
        extremes among them.
        """
        if len(self.x) <= OUTLINE:
            return self.x
        ranks = torch.linspace(0, len(self.x) - 1, OUTLINE // self.y.shape[1], dtype=torch.float64).round().long()
        chosen = self.y.argsort(dim=0, stable=True)[ranks.to(self.y.device)]
        return self.x[chosen.reshape(-1).unique()]

    def thinned(self, most: int) -> Training:
        """The same task with every n-th training row, at most so many."""
        every = -(-len(self.x) // most)
        parts = (None if one is None else one[::every] for one in (self.x, self.y, self.weight, self.held, self.folds))
        x, y, weight, held, folds = parts
        assert x is not None and y is not None
        return replace(self, x=x, y=y, weight=weight, held=held, folds=folds)

    @torch.no_grad()
    def held_out_loss(self, net: SmileNet) -> float:
        """Task loss on the validation rows, or on the training rows where there are none."""
        f, y, weight = self._judged(net)
        return float(self.loss(f, y, weight))

    @torch.no_grad()
    def quality(self, net: SmileNet) -> float:
        """R² on the same rows (1 − the loss, for quantiles), or the accuracy of a classifier."""
        f, y, weight = self._judged(net)
        if not self.decides:
            return 1.0 - float(self.loss(f, y, weight))
        if self.decides == "largest":
            right = (f.argmax(dim=1) == y.argmax(dim=1)).to(torch.float64)
        else:
            right = ((f > 0) == (y > 0.5)).to(torch.float64).mean(dim=1)
        return float(right.mean() if weight is None else (right * weight).sum() / weight.sum())

    def _judged(self, net: SmileNet) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        x, y = self.validation if self.validation is not None else (self.x, self.y)
        training = net.training
        net.eval()  # batch norm and dropout: judge the network that will be used, and learn nothing from these rows
        f = torch.cat([net(part) for part in x.split(8192)])
        net.train(training)
        return f, y, self.weight if self.validation is None else None


def in_part(steps: int, batches: int) -> dict[str, float]:
    """For the record of an epoch: the share of its batches after which the limit ended it; nothing of a whole one."""
    return {"part": steps / batches} if steps < batches else {}


def pretrain_epoch(state: State, task: Training) -> dict[str, Any]:
    """One epoch on all four pathways."""
    net, rng, totals = state.net, rngs(task.seed, "pretrain", state.unit), np.zeros(2)
    batches, written = task.batches(rng), Backward.of(net, state.optimizer)
    for index in batches:
        x, y, w = task.rows(index)
        if written is not None and written.ready():
            accuracy, box, slopes = written(net.scale(x), y, w, task.loss, task.config.lambda_box, four=True)
            loss = accuracy + task.config.lambda_box * box
            finite(float(loss))
            written.step(slopes)
            net.project_()
            totals += [float(loss), float(box)]
            continue
        p = net.pathways(x)
        # four times the mean over four times the rows: the sum of the four losses
        accuracy = 4 * task.loss(p.outputs, y.repeat(4, 1), None if w is None else w.repeat(4))
        box = box_loss(p.z, p.z_lower, p.z_upper)
        loss = accuracy + task.config.lambda_box * box
        finite_step(state.optimizer, loss, net)
        totals += [float(loss.detach()), float(box.detach())]
    mean, box = totals / len(batches)
    if mean < state.stall_loss * 0.999:
        state.stall_loss, state.stall = mean, 0
    else:
        state.stall += 1
    return {"loss": mean, "box": box}


def train_epoch(state: State, task: Training) -> dict[str, Any]:
    """One epoch of dual ascent on the task loss and the pool of counterexamples."""
    net, config, rng = state.net, task.config, rngs(task.seed, state.phase, state.unit)
    # the rate falls to `final_rate` of itself over the training phase and stays there in posttraining
    done = state.unit / max(1, config.epochs - 1) if state.phase == "train" else 1.0
    for group in state.optimizer.param_groups:
        group["lr"] = config.rate * (1.0 - (1.0 - config.final_rate) * min(1.0, done))
    batches, written = task.batches(rng), Backward.of(net, state.optimizer)
    totals, zero = np.zeros(3), torch.zeros((), dtype=torch.float64, device=task.x.device)
    worst = -math.inf
    pools: list[Pressure] = []
    for step, index in enumerate(batches):
        if step % config.search_every == 0 or -math.inf < worst <= 0:  # RESOLVED: the pool no longer violates
            pools = _refresh(net, task.generators, rng, fresh=step == 0)
        x, y, w = task.rows(index)
        pressed, collapsed = any(map(len, pools)), net.collapsed
        if written is not None and not pressed and not collapsed and written.ready():
            accuracy, box, slopes = written(net.scale(x), y, w, task.loss, config.lambda_box)
            finite(float(accuracy + config.lambda_box * box))
            written.step(slopes)
            net.project_()
            worst = -math.inf
            state.dual_step(0.0, config.dual_step)
            totals += [float(accuracy), float(box), 0.0]
            continue
        if collapsed:  # the box has no width, f is g∘lower: the backbone takes no part
            accuracy, box = task.loss(net.head(net.lower(net.encode(net.scale(x)))), y, w), zero
        else:
            u = net.scale(x)
            (lower, upper), z = net.box(net.encode(u)), net.embed(u)
            accuracy, box = task.loss(net.head(select(z, lower, upper)), y, w), box_loss(z, lower, upper)
        prop, worst = property_loss(net, pools)
        finite(float(prop.detach()))
        finite_step(state.optimizer, accuracy + config.lambda_box * box + state.lam * prop, net)
        state.dual_step(float(prop.detach()), config.dual_step)
        totals += [float(accuracy.detach()), float(box.detach()), float(prop.detach())]
    accuracy, box, prop = totals / len(batches)
    return {"loss": accuracy, "box": box, "property": prop, "lambda": state.lam, "violation": worst}


def posttrain_round(state: State, task: Training) -> tuple[dict[str, Any], bool]:
    """Prove every row, or settle or project once; the second value says whether everything was proved.

    The data-free projector alone, as in the paper, was measured to ruin models of tight claims (R² .95 → .52 on a
    sine): a steep descent between two close kinks can be undone in weight space only by large moves. Settling first
    costs an epoch and leaves it little or nothing to do; ``settle_rounds=0`` gives the paper's order.
    """
    net, config, rng = state.net, task.config, rngs(task.seed, "posttrain", state.unit)
    proved, bound = check(net, task)
    record: dict[str, Any] = {"bound": bound}
    if proved:
        return record, True
    if state.unit < config.settle_rounds:
        state.lam = 1.5 * max(state.lam, config.dual_step)
        return record | train_epoch(state, task), False
    pools = _refresh(net, task.generators, rng)
    record["violation"], record["lambda"] = project(net, pools, config)
    return record, False


def check(net: SmileNet, task: Training) -> tuple[bool, float]:
    """Prove every row of every claim (half the slack kept) with the exact generator; counterexamples go to the pools.

    Returns whether all were proved and the largest proved bound on a violation, in output units.
    """
    snapshot, proved, bound = net.snapshot(), True, -math.inf
    for generator in task.generators:
        problem = generator.problem(snapshot, task.config.slack / 2)
        for r in range(len(problem.rows)):
            held, most = _check_row(generator, problem, r, task.config)
            proved, bound = proved and held, max(bound, most)
    return proved, bound


def _check_row(generator: Generator, problem: Problem, r: int, config: Config) -> tuple[bool, float]:
    """`check` for one row."""
    row, held, bound = problem.rows[r], True, -math.inf
    if problem.tight and isinstance(certifier(problem, row), SlopeRule):
        # pairs within a solver's tolerance hide slivers with a wrong slope; a certificate needs the slopes
        tree = slope_tree(problem, row, time_limit=config.generator_limit)
        generator.calls += 1
        generator.seconds += tree.seconds
        if tree.complete:
            return True, 0.0
        value = -math.inf if tree.pair is None else float(problem.value(tree.pair[None], row)[0])
        if tree.pair is not None and value > 0:
            generator.add(problem, r, tree.pair[None])
            held, bound = False, value
    found = generator.bound(problem, r, config)
    if found.upper > decider(problem, row).tolerance * row.scale:
        held = False
        if found.point is not None:
            generator.add(problem, r, found.point[None])
    return held, max(bound, found.upper)


def project(net: SmileNet, pools: list[Pressure], config: Config) -> tuple[float, float]:
    """PROJECTOR: move auxiliaries and head as little as possible until the pooled counterexamples are resolved.

    Dual ascent on ‖θ − θ_orig‖² + λ·L_prop with exact steps: for a linearised L_prop the minimiser is
    θ_orig − (λ/2)·∇L_prop, and the multiplier that just resolves it is λ = 2·L_prop / ‖∇L_prop‖². Repeating this is a
    sequence of least-norm corrections. Each moves at most `projector_radius`, and little for little violations: where
    two copies nearly coincide the slope vanishes with their distance and the linearised step would leave its range.
    (Fixed step sizes were seen to overrun small violations and ruin the model.)

    Returns the worst remaining violation / unit and the sum of the multipliers.
    """
    parameters = net.enforcement_parameters()
    total, worst = 0.0, math.inf
    for _ in range(config.projector_steps):
        prop, worst = property_loss(net, pools)
        if worst <= 0:
            break
        slopes = torch.autograd.grad(prop, parameters, allow_unused=True)
        norm = sum(float((slope**2).sum()) for slope in slopes if slope is not None)
        if norm == 0.0:
            break
        radius = min(config.projector_radius, 10.0 * worst)
        lam = min(2.0 * float(prop.detach()) / norm, 2.0 * radius / math.sqrt(norm))
        total += lam
        with torch.no_grad():
            for parameter, slope in zip(parameters, slopes, strict=True):
                if slope is not None:
                    parameter -= 0.5 * lam * slope
        net.project_()
    return worst, total


def _refresh(
    net: SmileNet, generators: tuple[Generator, ...], rng: np.random.Generator, *, fresh: bool = True
) -> list[Pressure]:
    snapshot = net.snapshot()
    return [generator.refresh(snapshot, rng, fresh=fresh) for generator in generators]


def finite_step(optimizer: torch.optim.Optimizer, loss: torch.Tensor, net: SmileNet | None = None) -> None:
    """One optimiser step, the signs of `net` restored after it; a loss that is not finite is an error."""
    finite(float(loss.detach()))
    forget_gradients(optimizer)
    if loss.requires_grad:
        loss.backward()
        adam_step(optimizer)
    if net is not None:
        net.project_()


def finite(loss: float) -> None:
    """Raise where a loss is not finite."""
    if not abs(loss) < 1e100:  # NaN too; beyond this, squares overflow
        raise SmileError("The loss is no longer finite; use a smaller learning rate or check the data for outliers.")
