"""From a network, data and claims to a trained network with a verdict: the whole of the paper's Algorithm Train.

    pretrain → [feasible start] → train → posttrain → restore the best proved state → prove again, with the real model

A run is a sequence of units (epochs, rounds). After each the state may be written to a checkpoint; a run that was cut
off, at whatever moment, continues from there bit for bit. Interrupting with Ctrl-C returns what there is.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smilenn.errors import SmileError
from smilenn.model.net import SmileNet
from smilenn.progress import Progress
from smilenn.properties.claim import Claim
from smilenn.prove.model import prove
from smilenn.prove.portfolio import choose
from smilenn.prove.verdict import Verdict
from smilenn.train.config import Config
from smilenn.train.feasible import start_feasible
from smilenn.train.generator import Generator
from smilenn.train.losses import LossKind, task_loss
from smilenn.train.phases import Task, check, posttrain_round, pretrain_epoch, train_epoch
from smilenn.train.state import State, load_state, rngs, save_state

logger = logging.getLogger(__name__)


class DeadAuxiliaries(SmileError):
    """Pretraining left the auxiliaries without information; another seed may do better."""


@dataclass(frozen=True)
class Fit:
    """A trained network, its verdict (None without claims) and how it came about.

    `interrupted` says that training did not run to its end.
    """

    net: SmileNet
    verdict: Verdict | None
    history: list[dict[str, Any]]
    seconds: float
    interrupted: bool = False


def fit(
    net: SmileNet,
    x: np.ndarray,
    y: np.ndarray,
    claims: Sequence[Claim],
    *,
    loss: LossKind = "mse",
    config: Config | None = None,
    seed: int = 0,
    validation: tuple[np.ndarray, np.ndarray] | None = None,
    sample_weight: np.ndarray | None = None,
    callback: Callable[[Progress], None] | None = None,
    checkpoint: Path | None = None,
    time_limit: float | None = None,
) -> Fit:
    """Train `net` in place so that the claims provably hold.

    Parameters
    ----------
    x : [N, m] raw units (``domain.encode``).
    y : [N] or [N, o] in output units; 0 and 1 for ``bce``.
    claims : what must hold; may be empty (plain training, nothing to prove).
    validation : rows that choose the best proved state; the training rows serve where there are none.
    callback : called after every unit of work.
    checkpoint : file to continue from and to write after every unit.
    time_limit : seconds after which training goes to posttraining and stops there.
    """
    config = Config() if config is None else config
    net.train()
    run = _Run(net, x, y, claims, loss, config, seed, validation, sample_weight, callback, checkpoint, time_limit)
    interrupted = False
    try:
        run.train()
    except KeyboardInterrupt:
        interrupted = True
        net.project_()
        logger.warning("training interrupted in phase %s, unit %d", run.state.phase, run.state.unit)
    run.restore_best()
    net.eval()
    limit = config.generator_limit if time_limit is None else max(MIN_PROOF_SECONDS, time_limit - run.elapsed())
    verdict = prove(net, claims, time_limit=limit) if claims else None
    return Fit(net, verdict, run.state.history, run.elapsed(), interrupted)


class _Run:
    """One training run; holds the task and the state and moves through the phases."""

    def __init__(
        self, net: SmileNet, x: np.ndarray, y: np.ndarray, claims: Sequence[Claim], loss: LossKind, config: Config,
        seed: int, validation: tuple[np.ndarray, np.ndarray] | None, sample_weight: np.ndarray | None,
        callback: Callable[[Progress], None] | None, checkpoint: Path | None, time_limit: float | None,
    ) -> None:  # fmt: skip
        device = net.shift.device

        def tensor(values: np.ndarray, columns: int) -> torch.Tensor:
            out = torch.tensor(np.asarray(values, dtype=np.float64), device=device).reshape(len(values), -1)
            if out.shape[1] != columns:
                raise SmileError(f"Expected {columns} columns, got {out.shape[1]}.")
            if not bool(torch.isfinite(out).all()):
                raise SmileError("The training data holds a value that is not finite; drop or fill it in.")
            return out

        m, o, snapshot = net.domain.size, len(net.outputs), net.snapshot()
        if len(x) == 0 or len(x) != len(y):
            raise SmileError(f"Got {len(x)} rows of inputs and {len(y)} of targets; both must match and not be empty.")
        data_x, data_y = tensor(x, m), tensor(y, o)
        weight = None if sample_weight is None else tensor(sample_weight, 1)[:, 0]
        self.task = Task(
            data_x,
            data_y,
            weight,
            task_loss(loss, data_y, weight, config.margin),
            None if validation is None else (tensor(validation[0], m), tensor(validation[1], o)),
            tuple(Generator.of(claim, snapshot, config) for claim in claims),
            config,
            seed,
        )
        self.net, self.callback, self.checkpoint, self.time_limit = net, callback, checkpoint, time_limit
        self.begun = time.perf_counter()
        self.state = State(
            net, torch.optim.Adam(net.parameters(), lr=config.learning_rate), self._fingerprint(claims, loss)
        )
        if checkpoint is not None and load_state(checkpoint, self.state):
            for generator, pool in zip(self.task.generators, self.state.pools, strict=False):
                generator.pool = pool
            logger.info("resumed at phase %s, unit %d", self.state.phase, self.state.unit)
        else:
            rngs(seed, "pretrain", _SETUP)
            net.centre_(data_x)

    def _fingerprint(self, claims: Sequence[Claim], loss: LossKind) -> str:
        """What a checkpoint must agree with: architecture, claims, constants, seed and data."""
        task = self.task
        parts = [self.net.describe(), [c.to_json() for c in claims], loss, asdict(task.config), task.seed]
        hasher = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
        for data in (task.x, task.y):
            hasher.update(data.cpu().numpy().tobytes())
        return hasher.hexdigest()

    def elapsed(self) -> float:
        """Seconds of this run, earlier parts included."""
        return self.state.seconds + time.perf_counter() - self.begun

    def over_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.time_limit is not None and self.elapsed() > self.time_limit

    # ---- the phases ---------------------------------------------------------------------------------------------

    def train(self) -> None:
        """Run every phase from where the state stands."""
        state, config = self.state, self.task.config
        while state.phase == "pretrain":
            patience = config.pretrain_patience
            stalled = patience is not None and state.stall >= patience
            if state.unit >= config.pretrain_epochs or stalled or self.over_time():
                self._begin_training()
            else:
                self._done(pretrain_epoch(state, self.task), config.pretrain_epochs)
        while state.phase == "train":
            if state.unit >= config.epochs or self.over_time():
                state.enter("posttrain" if self.task.generators else "done")
                continue
            record = train_epoch(state, self.task)
            if self.task.generators and (state.unit + 1) % config.check_every == 0:
                self._keep_if_proved()
            self._done(record, config.epochs)
        while state.phase == "posttrain":
            if state.unit >= config.posttrain_rounds or self.over_time():
                state.enter("done")
                continue
            record, proved = posttrain_round(state, self.task)
            if proved:
                self._keep()
            self._done(record, config.posttrain_rounds)
            if proved:
                state.enter("done")

    def _begin_training(self) -> None:
        state, task, config = self.state, self.task, self.task.config
        if config.pretrain_epochs:
            fail_on_dead(self.net, task, config)
        if config.feasible_start and task.generators:
            rngs(task.seed, "train", _SETUP)
            start_feasible(self.net, task.x, task.generators, config)
        # a new optimiser: the moments of the pretraining loss would drag the first training steps
        state.optimizer = torch.optim.Adam(self.net.parameters(), lr=config.rate)
        state.lam = 0.0
        state.enter("train")

    def _keep_if_proved(self) -> None:
        """Remember the state if its claims are proved and it predicts best so far; asks cheap provers only."""
        snapshot = self.net.snapshot()
        problems = [generator.problem(snapshot) for generator in self.task.generators]
        if all(choose(problem, row).prover.name in CHEAP for problem in problems for row in problem.rows):
            proved, _ = check(self.net, self.task)
            if proved:
                self._keep()

    def _keep(self) -> None:
        loss = self.task.held_out_loss(self.net)
        if loss < self.state.best_loss:
            self.state.best, self.state.best_loss = self.state.weights(), loss

    def restore_best(self) -> None:
        """Go back to the best proved state where there is one."""
        if self.state.best is not None:
            self.net.load_state_dict(self.state.best)

    def _done(self, record: dict[str, Any], units: int) -> None:
        """Close a unit of work: history, checkpoint, callback."""
        state, task = self.state, self.task
        record = {"phase": state.phase, "unit": state.unit, **record, **box_statistics(self.net, task.x)}
        record["generator_calls"] = sum(g.calls for g in task.generators)
        record["generator_seconds"] = round(sum(g.seconds for g in task.generators), 6)
        record["seconds"] = round(self.elapsed(), 6)
        state.history.append({k: _plain(v) for k, v in record.items()})
        state.unit += 1
        state.pools = [generator.pool for generator in task.generators]
        if self.checkpoint is not None:
            seconds, state.seconds = state.seconds, self.elapsed()
            save_state(self.checkpoint, state)
            state.seconds = seconds
        if self.callback is not None:
            self.callback(
                Progress(
                    state.phase,
                    state.unit,
                    units,
                    record.get("loss"),
                    record.get("violation"),
                    record.get("bound"),
                    record["seconds"],
                )
            )


CHEAP = ("closed-form", "sweep")  # exact provers of microseconds to milliseconds
MIN_PROOF_SECONDS = 10.0  # the final proof gets at least this much, whatever the time limit
_SETUP = 10**6  # a unit of work for the randomness before a phase


def _plain(value: Any) -> Any:
    """JSON has no infinities: they become null."""
    return (float(value) if np.isfinite(value) else None) if isinstance(value, (float, np.floating)) else value


@torch.no_grad()
def box_statistics(net: SmileNet, x: torch.Tensor, rows: int = 1024) -> dict[str, float]:
    """Mean width Σ|G|(upper − lower) over up to `rows` data rows, and the share of flipped coordinates."""
    lower, upper = net.box(net.scale(x[:rows]))
    width = torch.relu(upper - lower) @ (net.head_weight * net.output_scale[:, None]).abs().T
    return {"width": float(width.mean()), "flipped": float((upper < lower).double().mean())}


@torch.no_grad()
def fail_on_dead(net: SmileNet, task: Task, config: Config) -> None:
    """A loud failure where the auxiliaries learned nothing: such a model would be proved happily and predict nothing.

    Judged against the free backbone: on a target that nothing predicts, both are equally poor and nothing is wrong.
    """
    if net.auxiliaries == "constant":
        return
    p = net.pathways(task.x[:8192])
    weight = None if task.weight is None else task.weight[:8192]
    lower, free = (float(task.loss(f, task.y[:8192], weight)) for f in (p.lower, p.free))
    dead = net.lower.dead(net.scale(task.x))
    if dead.numel() and bool(dead.all()):
        raise DeadAuxiliaries(
            "All hidden units of the lower auxiliary net are dead after pretraining; change the seed."
        )
    if 1 - lower < config.least_quality and 1 - free > max(0.1, 10 * config.least_quality):
        raise DeadAuxiliaries(
            f"The auxiliaries learned nothing in pretraining (they explain {max(0.0, 1 - lower):.1%} where the "
            f"backbone explains {1 - free:.1%}; {int(dead.sum())} of {dead.numel()} units dead); pretrain longer or "
            "with more units."
        )
