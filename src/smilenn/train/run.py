"""One training run: it holds the task and the state and moves through the phases.

pretrain → [feasible start] → train → posttrain → [repair]        an encoder or a fixed box: train alone
"""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smilenn.model.net import SmileNet
from smilenn.progress import Progress
from smilenn.properties.claim import Claim
from smilenn.provers.model import prove_claims
from smilenn.provers.rules.rule import Cost
from smilenn.provers.rules.table import decider
from smilenn.train.adam import Adam, fused
from smilenn.train.boosted import Directions, boosters
from smilenn.train.boxed import boxed_epoch
from smilenn.train.clock import Clock
from smilenn.train.contractions import contraction_epoch, has_contractions, settle, spread
from smilenn.train.curved import Units, merge_
from smilenn.train.cut import Cut, Part
from smilenn.train.distances import SETTLE_ROWS, distance_epoch, has_distances, learn_in_float32, recentre
from smilenn.train.encoded import encoded_epoch, keep_best, parameter_groups
from smilenn.train.ensemble import Ensemble
from smilenn.train.feasible import start_feasible
from smilenn.train.fitted import Fitted
from smilenn.train.health import box_statistics, fail_on_dead
from smilenn.train.linear import linear_members
from smilenn.train.losses import LossKind
from smilenn.train.mixing import make_constant_, mix, move_whole, shrink_and_move
from smilenn.train.phases import Training, check, posttrain_round, pretrain_epoch, train_epoch
from smilenn.train.repair import repair
from smilenn.train.spline import start_spline
from smilenn.train.state import State, load_state, rngs, save_state
from smilenn.train.within import NOTHING, Within
from smilenn.verdict import Proved

logger = logging.getLogger(__name__)

ROOM = 0.25  # of the range of an ensemble's outputs, left around it
TREES_SHARE = 0.35  # of a time limit, for boosted trees
MIN_GENERATOR_SECONDS = 0.1  # the generator gets this much a row, whatever the time limit
_SETUP = 10**6  # a unit of work for the randomness before a phase


class Run:
    """A network, its task and how far its training is."""

    def __init__(
        self,
        net: SmileNet,
        task: Training,
        fingerprint: str,
        clock: Clock,
        *,
        callback: Callable[[Progress], None] | None,
        checkpoint: Path | None,
        warm: bool,
        within: Within = NOTHING,
    ) -> None:
        self.within = within
        self.net, self.task, self.clock = net, task, clock
        self.callback, self.checkpoint, self.warm = callback, checkpoint, warm
        self.posttraining: Clock | None = None
        self.held_out, self.chosen = math.nan, ""
        self.fitted: tuple[Fitted, ...] = ()
        self.cut: Cut = ()
        members = None if net.encoder is None or not net.encoder.groups else Ensemble(net.encoder)
        if members is not None and clock.left() > 0:
            members.keep(net.scale(task.x))
        groups = parameter_groups(net, members)
        optimizer = Adam(groups, lr=task.config.learning_rate, fused=fused(net))
        self.state = State(net, optimizer, fingerprint, ensemble=members)
        if checkpoint is not None and load_state(checkpoint, self.state):
            if members is not None:
                members.read_()
            self._resume()
        elif not warm:
            rngs(task.seed, "pretrain", _SETUP)
            net.centre_(task.x)
        if self.state.phase != "done":
            learn_in_float32(net, optimizer)

    def _resume(self) -> None:
        """Go on from a checkpoint: its counterexamples, its counts, its time."""
        state, generators = self.state, self.task.generators
        self.clock.before = state.seconds
        for generator, pool in zip(generators, state.pools, strict=True):
            generator.pool = pool
        if state.history and generators:
            last, first = state.history[-1], generators[0]
            first.calls, first.seconds = last["generator_calls"], last["generator_seconds"]
        logger.info("resumed at phase %s, unit %d", state.phase, state.unit)

    def in_time(self) -> Training:
        """The task with the generator's time-out cut to each row's share of the time that is left.

        A check searches a tree and then doubles time-outs, three times the limit in all, and repair comes after it.
        """
        task, config = self.task, self.task.config
        if self.clock.limit is None:
            return task
        share = self.clock.left() / (4 * max(1, sum(len(g.base.rows) for g in task.generators)))
        limit = min(config.generator_limit, max(MIN_GENERATOR_SECONDS, share))
        first = min(config.generator_seconds, limit)
        return replace(task, config=config.replace(generator_limit=limit, generator_seconds=first))

    # ---- the phases ---------------------------------------------------------------------------------------------

    def boost(self, signs: Sequence[Directions], loss: LossKind) -> None:
        """Trees and linear functions for an ensemble, fitted again where a checkpoint or a model is gone on from."""
        if not (self.warm or self.task.config.epochs):
            return  # no training was asked for
        known = any(record["phase"] == "trees" for record in self.state.history)

        def told(done: int, groups: int) -> None:
            seconds = round(self.clock.elapsed(), 6)
            if not known:
                self.state.history.append({"phase": "trees", "unit": done - 1, "seconds": seconds})
            if self.callback is not None:
                self.callback(Progress("trees", done, groups, None, None, None, seconds))

        limit = None if self.clock.limit is None else TREES_SHARE * self.clock.limit
        trees = boosters(self.net, self.task, loss, signs, limit, told)
        self._note(Part("trees", len(trees.groups), trees.planned, trees.partly))
        self.fitted = trees, linear_members(self.net, self.task, loss, signs)

    def train(self) -> None:
        """Run every phase from where the state stands."""
        if self._keeps_claims():
            self._train_encoded()
        while self.state.phase == "pretrain":
            self._pretrain()
        while self.state.phase == "train":
            self._train()
        while self.state.phase == "posttrain":
            self._posttrain()

    def _ends(self, done: bool, what: str, planned: int) -> bool:
        """Whether a phase ends here: its work is done, or the time limit is over, which is noted.

        An epoch that the limit has ended in the middle is noted even if it was the last, or the last that patience
        waited for. Posttraining is not where a proved state is kept, or where training itself was cut short.
        """
        late, state = self.clock.over(), self.state
        broken = late and state.unit > 0 and "part" in state.history[-1]
        spared = what == "posttraining" and (state.best is not None or self.cut != ())
        if late and (broken or not done) and not spared:
            self._note(Part(what, state.unit, planned, int(broken)))
        return done or late

    def _note(self, part: Part) -> None:
        self.cut += (part,) if part.short else ()

    def _pretrain(self) -> None:
        """One epoch of pretraining, or what follows its last."""
        state, config = self.state, self.task.config
        stalled = config.pretrain_patience is not None and state.stall >= config.pretrain_patience
        done = self.warm or state.unit >= config.pretrain_epochs or stalled
        if self._ends(done, "pretraining", config.pretrain_epochs):
            self._begin_training()
        else:
            self._done(pretrain_epoch(state, self.task), config.pretrain_epochs)

    def _train(self) -> None:
        """One epoch of training, and a look whether its state is proved."""
        state, task, config = self.state, self.task, self.task.config
        if self._ends(state.unit >= config.epochs, "epochs", config.epochs):
            state.enter("posttrain" if task.generators else "done")
            return
        record = train_epoch(state, task)
        if task.generators and (state.unit + 1) % config.check_every == 0:
            self._keep_if_proved()
        self._done(record, config.epochs)

    def _posttrain(self) -> None:
        """One round of posttraining; the last, once it is proved."""
        state, config = self.state, self.task.config
        self.posttraining = self.posttraining or Clock(config.posttrain_seconds)
        done = state.unit >= config.posttrain_rounds or not self.posttraining.left()
        if self._ends(done, "posttraining", config.posttrain_rounds):
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
            if self._ends(state.unit >= config.epochs or not patient, "epochs", config.epochs):
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
            if self.state.ensemble is not None:  # steps go on from its copy of the weights
                self.state.ensemble.read_()
        if isinstance(units, Units) or (self.warm and not has_distances(self.net)):
            keep_best(self.state, self.task)

    def _encoded_unit(self) -> dict[str, Any]:
        """One epoch of a network whose claims hold by construction."""
        learn, judges = self._learning
        record = learn(self.state, self.task)
        if judges:
            record["held_out"] = keep_best(self.state, self.task)
        return record

    @functools.cached_property
    def _learning(self) -> tuple[Callable[[State, Training], dict[str, Any]], bool]:
        """What one epoch is, and whether kept rows judge its state; looked up once, since all modules are walked."""
        if has_distances(self.net):  # annealed: the last state is the one that was aimed at
            return distance_epoch, False
        if has_contractions(self.net):
            return contraction_epoch, False
        return (boxed_epoch if self.net.encoder is None else encoded_epoch), True

    def finish_encoded(self) -> None:
        """The network as it will be deployed: the best of its states and kinds, an encoder's box around the training
        rows.
        """
        net, state = self.net, self.state
        if not self._keeps_claims() or state.phase == "done":
            return
        if state.ensemble is not None and net.encoder is not None:
            state.ensemble.write_()
            net.encoder.project_()  # an interrupted step has not come to its signs
        if state.best is not None:
            net.load_state_dict(state.best)
        room = ROOM if net.encoder is not None and net.encoder.groups else 1.0
        if state.best is not None or any(kind.groups for kind in self.fitted):
            self.held_out, self.chosen = self._choose_kinds()
        elif self._has_learned_nothing():
            self.chosen = make_constant_(net)
        state.best = None  # repair looks whether ε leaves enough room, and scales the head where it does not
        if isinstance(net.lower.keep, Units):
            merge_(net)
        if net.encoder is not None:
            task = self.task
            if has_distances(net):
                recentre(net, task.x)
                task = task.thinned(SETTLE_ROWS)  # a distance takes longer than a product
            if has_contractions(net):
                settle(net, spread(net.lower.slope, task.decides), task.decides)
            net.encoder.fit_box_(net.scale(task.outline()), room)

    def _has_learned_nothing(self) -> bool:
        """Whether the time was over before the first step of an ensemble, whose random weights predict nothing."""
        encoder = self.net.encoder
        asked = self.task.config.epochs > 0 and not self.warm
        return asked and self.state.unit == 0 and encoder is not None and encoder.groups > 0

    def _choose_kinds(self) -> tuple[float, str]:
        """What the mean is made of, by kept rows: networks, and trees beside them; its loss, and words."""
        net, task = self.net, self.task
        if task.held is None or net.encoder is None or not net.encoder.groups:
            return move_whole(net, task, self.within)
        if net.lower.keep is not None:
            return shrink_and_move(net, task, self.within)
        return mix(net, task, self.fitted, self.within)

    def _keeps_claims(self) -> bool:
        """Whether the network keeps the claims as it is built: by an encoder, or by a box that nothing moves."""
        return self.net.encoder is not None or not self.net.enforcement_parameters()

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
        state.optimizer = Adam(self.net.parameters(), lr=config.rate, fused=fused(self.net))
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

    def repair(self, claims: Sequence[Claim], *, inside: bool = False) -> None:
        """Make the claims hold where posttraining has not; the accuracy paid goes to the history. `inside` is said of
        outputs that end far enough inside their bounds.
        """
        task, net = self.task, self.net
        if net.encoder is None and not net.enforcement_parameters() and isinstance(prove_claims(net, claims), Proved):
            return  # a fixed box that implies the claims
        trained = copy.deepcopy(
            net
        )  # judged only where something is repaired: that takes as long as predicting all rows
        done = repair(net, claims, task.x, self.in_time().config, classify=bool(task.decides), inside=inside)
        if done is None or not done.text:
            return
        before, after = (task.held_out_loss(one) for one in (trained, net))
        seconds = round(self.clock.elapsed(), 6)
        record = {
            "phase": "repair",
            "unit": 0,
            "loss": after,
            "loss_before": before,
            "repair": done.text,
            "cost": task.quality(trained) - task.quality(net),
        }
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
        record["seconds"] = round(self.clock.elapsed(), 6)
        state.history.append({k: _plain(v) for k, v in record.items()})
        state.unit += 1
        if last:
            state.enter("done")
        state.pools = [generator.pool for generator in task.generators]
        if self.checkpoint is not None:
            state.seconds = self.clock.elapsed()
            save_state(self.checkpoint, state)
        if self.callback is not None:
            loss, violation, bound = (record.get(key) for key in ("loss", "violation", "bound"))
            told = record["phase"], record["unit"] + 1, units
            self.callback(Progress(*told, loss, violation, bound, record["seconds"]))


def fingerprint(net: SmileNet, task: Training, claims: Sequence[Claim], loss: LossKind, warm: bool) -> str:
    """What a checkpoint must agree with: architecture, claims, constants, seed and data, all rows and weights."""
    shapes = {name: list(tensor.shape) for name, tensor in net.state_dict().items()}
    parts = [net.describe(), shapes, [c.to_json() for c in claims], str(loss), asdict(task.config), task.seed]
    hasher = hashlib.sha256(json.dumps(parts, sort_keys=True, default=float).encode())  # NumPy's whole numbers
    for data in (task.x, task.y, task.weight, task.folds, *(task.validation or ())):
        hasher.update(b"none" if data is None else data.cpu().numpy().tobytes())
    for tensor in net.state_dict().values() if warm else ():
        hasher.update(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
    return hasher.hexdigest()


def _plain(value: Any) -> Any:
    """JSON has no infinities: they become null."""
    return (float(value) if np.isfinite(value) else None) if isinstance(value, (float, np.floating)) else value
