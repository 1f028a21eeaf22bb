"""From a network, data and claims to a trained network with a verdict: the whole of the paper's Algorithm Train.

    pretrain → [feasible start] → train → posttrain → restore the best proved state, or repair → choose the numeric
    profile → prove again, with the real model

A run is a sequence of units (epochs, rounds). After each the state may be written to a checkpoint; a run that was cut
off, at whatever moment, continues from there bit for bit. Interrupting with Ctrl-C returns what there is.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smilenn.model.net import SmileNet
from smilenn.progress import Progress
from smilenn.properties.cases import Cases
from smilenn.properties.claim import Claim
from smilenn.provers.model import prove
from smilenn.provers.rules.rule import Cost
from smilenn.provers.rules.table import decider
from smilenn.provers.tree.tree import Trees
from smilenn.train.adam import fused
from smilenn.train.boxed import boxed_epoch
from smilenn.train.cases import planned, without_clauses
from smilenn.train.config import Config
from smilenn.train.contractions import contraction_epoch, has_contractions, settle, spread
from smilenn.train.curved import Units, merge_
from smilenn.train.deploy import deploy
from smilenn.train.distances import distance_epoch, has_distances, recentre
from smilenn.train.encoded import choose_kinds, encoded_epoch, keep_best, parameter_groups
from smilenn.train.ensemble import Ensemble
from smilenn.train.feasible import start_feasible
from smilenn.train.generator import Generator
from smilenn.train.health import box_statistics, fail_on_dead
from smilenn.train.losses import LossKind, decides, task_loss
from smilenn.train.phases import Training, check, posttrain_round, pretrain_epoch, train_epoch
from smilenn.train.repair import repair
from smilenn.train.row_order import in_order
from smilenn.train.spline import start_spline
from smilenn.train.state import State, load_state, rngs, save_state
from smilenn.train.tensors import checked_rows, checked_weights
from smilenn.verdict import Proved, Verdict

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fit:
    """A trained network, its verdict (None without claims) and how it came about.

    `held_out` is the task loss, as a share of the constant's, on rows that chose the network: those kept from training,
    or the training rows where none were. `chosen` says which kinds of networks an ensemble ended with. `interrupted`
    says that training did not run to its end. `trees` are those of the proof: a certificate starts from them.
    """

    net: SmileNet
    verdict: Verdict | None
    history: list[dict[str, Any]]
    seconds: float
    interrupted: bool = False
    held_out: float = math.nan
    chosen: str = ""
    trees: Trees = field(default_factory=Trees, repr=False)


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
    held: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    callback: Callable[[Progress], None] | None = None,
    checkpoint: Path | None = None,
    time_limit: float | None = None,
    warm: bool = False,
    cases: Mapping[str, Cases] | None = None,
) -> Fit:
    """Train `net` in place so that the claims provably hold.

    Parameters
    ----------
    x : [N, m] raw units (``domain.encode``).
    y : [N] or [N, o] in output units; 0 and 1 for ``bce`` and ``ce``.
    claims : what must hold; may be empty (plain training, nothing to prove).
    validation : rows that choose the best proved state; the training rows serve where there are none.
    held : [N, G] bool, for ensembles: rows that group g of its members never learns from, and is judged by.
    callback : called after every unit of work.
    checkpoint : file to continue from and to write after every unit.
    time_limit : seconds for all of it: training stops early enough to leave time for repair and proof. No epoch or
        round begins later, so a very short limit trains nothing; the proof has a second in any case.
    warm : begin with the weights that `net` has, not pretrained again; they are among the states to choose from.
    cases : of claims with alternatives the cases to train for, by the claim's digest; chosen by the data if not given.
    """
    config = Config() if config is None else config
    if cases is None:
        cases = planned(claims, net.domain, net.outputs, x, 2.0 * y - 1.0 if decides(loss) else y)
    stated, claims = claims, [in_order(claim) for claim in without_clauses(claims, cases, net.domain)]
    net.train()
    net.set_profile("f64-aux")
    run = _Run(
        net, x, y, claims, loss, config, seed, validation, held, sample_weight, callback, checkpoint, time_limit, warm
    )
    interrupted = False
    try:
        run.train()
    except KeyboardInterrupt:
        interrupted = True
        net.project_()
        run.finish_encoded()
        logger.warning("training interrupted in phase %s, unit %d", run.state.phase, run.state.unit)
    run.restore_best()
    net.eval()
    if config.repair and claims and run.state.best is None and not interrupted:
        run.repair(claims)
    logger.info(deploy(net, claims, time_limit=min(config.generator_limit, max(MIN_PROOF_SECONDS, run.left() / 2))))
    limit = min(config.generator_limit, max(MIN_PROOF_SECONDS, run.left()))
    trees = Trees({key: tree for generator in run.task.generators for key, tree in generator.trees.items()})
    trees.cases |= cases
    verdict = prove(net, stated, time_limit=limit, trees=trees) if claims else None
    held_out = run.task.held_out_loss(net) if math.isnan(run.held_out) else run.held_out
    return Fit(net, verdict, run.state.history, run.elapsed(), interrupted, held_out, run.chosen, trees)


class _Run:
    """One training run; holds the task and the state and moves through the phases."""

    def __init__(
        self, net: SmileNet, x: np.ndarray, y: np.ndarray, claims: Sequence[Claim], loss: LossKind, config: Config,
        seed: int, validation: tuple[np.ndarray, np.ndarray] | None, held: np.ndarray | None,
        sample_weight: np.ndarray | None, callback: Callable[[Progress], None] | None, checkpoint: Path | None,
        time_limit: float | None, warm: bool,
    ) -> None:  # fmt: skip
        snapshot = net.snapshot()
        data_x, data_y = checked_rows(net, x, y, loss, "training")
        weight = checked_weights(sample_weight, len(x), net)
        self.task = Training(
            data_x,
            data_y,
            weight,
            task_loss(loss, data_y, weight, config.margin),
            None if validation is None else checked_rows(net, *validation, loss, "validation"),
            tuple(Generator.of(claim, snapshot, config) for claim in claims),
            config,
            seed,
            None if held is None or not held.any() else torch.as_tensor(held, device=data_x.device),
            decides(loss),
            self.over_time,
        )
        self.net, self.callback, self.checkpoint, self.time_limit = net, callback, checkpoint, time_limit
        self.begun, self.begun_posttraining = time.perf_counter(), None
        self.held_out, self.chosen, self.warm = math.nan, "", warm
        members = None if net.encoder is None or not net.encoder.groups else Ensemble(net.encoder)
        if members is not None:
            members.keep(net.scale(data_x))
        groups = parameter_groups(net, members)
        optimizer = torch.optim.Adam(groups, lr=config.learning_rate, fused=fused(net))
        self.state = State(net, optimizer, self._fingerprint(claims, loss), ensemble=members)
        if checkpoint is not None and load_state(checkpoint, self.state):
            for generator, pool in zip(self.task.generators, self.state.pools, strict=True):
                generator.pool = pool
            if self.state.history and self.task.generators:  # go on counting
                last, first = self.state.history[-1], self.task.generators[0]
                first.calls, first.seconds = last["generator_calls"], last["generator_seconds"]
            logger.info("resumed at phase %s, unit %d", self.state.phase, self.state.unit)
        elif not warm:
            rngs(seed, "pretrain", _SETUP)
            net.centre_(data_x)

    def _fingerprint(self, claims: Sequence[Claim], loss: LossKind) -> str:
        """What a checkpoint must agree with: architecture, claims, constants, seed and data, all rows and weights."""
        task = self.task
        shapes = {name: list(tensor.shape) for name, tensor in self.net.state_dict().items()}
        parts = [self.net.describe(), shapes, [c.to_json() for c in claims], str(loss), asdict(task.config), task.seed]
        hasher = hashlib.sha256(json.dumps(parts, sort_keys=True, default=float).encode())  # NumPy's whole numbers
        for data in (task.x, task.y, task.weight, task.held, *(task.validation or ())):
            hasher.update(b"none" if data is None else data.cpu().numpy().tobytes())
        for tensor in self.net.state_dict().values() if self.warm else ():
            hasher.update(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
        return hasher.hexdigest()

    def elapsed(self) -> float:
        """Seconds of this run, earlier parts included."""
        return self.state.seconds + time.perf_counter() - self.begun

    def over_time(self) -> bool:
        """Whether training has used its share of the time limit; repair and proof have the rest.

        No unit of work begins after that, not even the first: a limit that is too short trains nothing.
        """
        if self.time_limit is None:
            return False
        return self.elapsed() >= self.time_limit * (PLAIN_SHARE if self.net.encoder is None else ENCODED_SHARE)

    def left(self) -> float:
        """Seconds left of the time limit, none below zero; infinite without one."""
        return math.inf if self.time_limit is None else max(0.0, self.time_limit - self.elapsed())

    def in_time(self) -> Training:
        """The task with the generator's time-out cut to each row's share of the time that is left.

        A check searches a tree and then doubles time-outs, three times the limit in all, and repair comes after it.
        """
        task, config = self.task, self.task.config
        if self.time_limit is None:
            return task
        share = self.left() / (4 * max(1, sum(len(g.base.rows) for g in task.generators)))
        limit = min(config.generator_limit, max(MIN_GENERATOR_SECONDS, share))
        first = min(config.generator_seconds, limit)
        return replace(task, config=config.replace(generator_limit=limit, generator_seconds=first))

    # ---- the phases ---------------------------------------------------------------------------------------------

    def train(self) -> None:
        """Run every phase from where the state stands."""
        if self.net.encoder is not None or not self.net.enforcement_parameters():
            self._train_encoded()
        while self.state.phase == "pretrain":
            self._pretrain()
        while self.state.phase == "train":
            self._train()
        while self.state.phase == "posttrain":
            self._posttrain()

    def _pretrain(self) -> None:
        """One epoch of pretraining, or what follows its last."""
        state, config = self.state, self.task.config
        stalled = config.pretrain_patience is not None and state.stall >= config.pretrain_patience
        if self.warm or state.unit >= config.pretrain_epochs or stalled or self.over_time():
            self._begin_training()
        else:
            self._done(pretrain_epoch(state, self.task), config.pretrain_epochs)

    def _train(self) -> None:
        """One epoch of training, and a look whether its state is proved."""
        state, task, config = self.state, self.task, self.task.config
        if state.unit >= config.epochs or self.over_time():
            state.enter("posttrain" if task.generators else "done")
            return
        record = train_epoch(state, task)
        if task.generators and (state.unit + 1) % config.check_every == 0:
            self._keep_if_proved()
        self._done(record, config.epochs)

    def _posttrain(self) -> None:
        """One round of posttraining; the last, once it is proved."""
        state, config = self.state, self.task.config
        begun = self.begun_posttraining = self.begun_posttraining or time.perf_counter()
        spent = time.perf_counter() - begun
        if state.unit >= config.posttrain_rounds or spent > config.posttrain_seconds or self.over_time():
            state.enter("done")
            return
        record, proved = posttrain_round(state, self.in_time())
        if proved:
            self._keep()
        self._done(record, config.posttrain_rounds, last=proved)

    def _train_encoded(self) -> None:
        """An encoder, or a fixed box, keeps the claims: train, keep the best state on held-out rows, fit its box."""
        state, config = self.state, self.task.config
        if state.phase == "pretrain":
            self._begin_encoded()
        while state.phase == "train":
            patient = config.patience is None or state.stall < config.patience
            if state.unit >= config.epochs or not patient or self.over_time():
                self.finish_encoded()
                state.enter("done")
            else:
                self._done(self._encoded_unit(), config.epochs)

    def _begin_encoded(self) -> None:
        """Start units as splines; remember the state that training starts from, where it may be the best."""
        self.state.enter("train")
        units = self.net.lower.keep
        if isinstance(units, Units) and not self.warm:
            start_spline(self.net, units, self.task, rngs(self.task.seed, "train", _SETUP))
        if isinstance(units, Units) or (self.warm and not has_distances(self.net)):
            keep_best(self.state, self.task)

    def _encoded_unit(self) -> dict[str, Any]:
        """One epoch of a network whose claims hold by construction."""
        if has_distances(self.net):  # annealed: the last state is the one that was aimed at
            return distance_epoch(self.state, self.task)
        if has_contractions(self.net):
            return contraction_epoch(self.state, self.task)
        record = (boxed_epoch if self.net.encoder is None else encoded_epoch)(self.state, self.task)
        record["held_out"] = keep_best(self.state, self.task)
        return record

    def finish_encoded(self) -> None:
        """The network as it will be deployed: the best of its states and kinds, an encoder's box around the training
        rows.
        """
        net, state = self.net, self.state
        if (net.encoder is not None or not net.enforcement_parameters()) and state.phase != "done":
            if state.ensemble is not None:
                state.ensemble.release()
            if state.best is not None:
                net.load_state_dict(state.best)
                self.held_out, self.chosen = choose_kinds(net, self.task)
            state.best = None  # repair looks whether ε leaves enough room, and scales the head where it does not
            if isinstance(net.lower.keep, Units):
                merge_(net)
            if net.encoder is None:
                return
            if has_distances(net):
                recentre(net, self.task.x)
            if has_contractions(net):
                settle(net, spread(net.lower.slope))
            net.encoder.fit_box_(net.scale(self.task.x), ROOM if net.encoder.groups else 1.0)

    def _begin_training(self) -> None:
        state, task, config = self.state, self.task, self.task.config
        if state.unit and not self.warm:  # nothing is said of auxiliaries that no time was left to train
            fail_on_dead(self.net, task, config)
        if self.warm and task.generators:
            self._keep_if_proved()
        elif config.feasible_start and task.generators:
            rngs(task.seed, "train", _SETUP)
            start_feasible(self.net, task.x, task.generators, self.in_time().config)
        # a new optimiser: the moments of the pretraining loss would drag the first training steps
        state.optimizer = torch.optim.Adam(self.net.parameters(), lr=config.rate, fused=fused(self.net))
        state.lam = 0.0
        state.enter("train")

    def _keep_if_proved(self) -> None:
        """Remember the state if its claims are proved and it predicts best so far; asks formulas only."""
        snapshot = self.net.snapshot()
        problems = [generator.problem(snapshot) for generator in self.task.generators]
        if all(decider(problem, row).cost is Cost.FORMULA for problem in problems for row in problem.rows):
            proved, _ = check(self.net, self.task)
            if proved:
                self._keep()

    def _keep(self) -> None:
        loss = self.task.held_out_loss(self.net)
        if loss < self.state.best_loss:
            self.state.best, self.state.best_loss = self.state.weights(), loss

    def repair(self, claims: Sequence[Claim]) -> None:
        """Make the claims hold where posttraining has not; the accuracy paid goes to the history."""
        task, net = self.task, self.net
        if net.encoder is None and not net.enforcement_parameters() and isinstance(prove(net, claims), Proved):
            return  # a fixed box that implies the claims
        before, quality = task.held_out_loss(net), task.quality(net)
        done = repair(net, claims, task.x, self.in_time().config, classify=bool(task.decides))
        if done is None or not done.text:
            return
        after, seconds = task.held_out_loss(net), round(self.elapsed(), 6)
        record = {"phase": "repair", "unit": 0, "loss": after, "loss_before": before, "repair": done.text,
                  "cost": quality - task.quality(net)}  # fmt: skip
        self.state.history.append({k: _plain(v) for k, v in (record | {"seconds": seconds}).items()})
        logger.info("repaired: %s; loss %.4g, before %.4g", done.text, after, before)
        if self.callback is not None:
            self.callback(Progress("repair", 1, 1, after, None, None, seconds))

    def restore_best(self) -> None:
        """Go back to the best proved state where there is one."""
        if self.state.best is not None:
            self.net.load_state_dict(self.state.best)

    def _done(self, record: dict[str, Any], units: int, last: bool = False) -> None:
        """Close a unit of work, the last of the run or not: history, checkpoint, callback."""
        state, task = self.state, self.task
        record = {"phase": state.phase, "unit": state.unit, **record, **box_statistics(self.net, task.x)}
        record["generator_calls"] = sum(g.calls for g in task.generators)
        record["generator_seconds"] = round(sum(g.seconds for g in task.generators), 6)
        record["seconds"] = round(self.elapsed(), 6)
        state.history.append({k: _plain(v) for k, v in record.items()})
        state.unit += 1
        if last:
            state.enter("done")
        state.pools = [generator.pool for generator in task.generators]
        if self.checkpoint is not None:
            seconds, state.seconds = state.seconds, self.elapsed()
            save_state(self.checkpoint, state)
            state.seconds = seconds
        if self.callback is not None:
            loss, violation, bound = (record.get(key) for key in ("loss", "violation", "bound"))
            told = record["phase"], record["unit"] + 1, units
            self.callback(Progress(*told, loss, violation, bound, record["seconds"]))


ROOM = 0.25  # of the range of an ensemble's outputs, left around it
PLAIN_SHARE, ENCODED_SHARE = 0.7, 0.9  # of a time limit for training; what an encoder keeps is proved at once
MIN_PROOF_SECONDS = 1.0  # the final proof gets at least this much, whatever the time limit
MIN_GENERATOR_SECONDS = 0.1  # and the generator this much a row
_SETUP = 10**6  # a unit of work for the randomness before a phase


def _plain(value: Any) -> Any:
    """JSON has no infinities: they become null."""
    return (float(value) if np.isfinite(value) else None) if isinstance(value, (float, np.floating)) else value
