"""From a task to a trained network: its recipe, the restarts, and which of them is kept.

Up to `restarts` networks are trained from different seeds; a proved one is preferred, then the one with the smaller
loss on the rows that were kept from training. A run whose auxiliaries die in pretraining is replaced by one from
another seed, `SPARE` times at most. In a `smilenn.cluster` block every restart is a task.
"""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_random_state

from smilenn.clusters.context import current
from smilenn.clusters.pool import Pool
from smilenn.clusters.task import ClusterError
from smilenn.model.net import SmileNet
from smilenn.progress import Progress
from smilenn.train.around import cut_words, surrounded
from smilenn.train.cut import Part
from smilenn.train.fit import MIN_PROOF_SECONDS, Fit, fit
from smilenn.train.health import DeadAuxiliaries
from smilenn.train.held import held_out, kept_rows
from smilenn.train.losses import LossKind
from smilenn.train.recipes import Recipe, Task, recipe_for
from smilenn.train.settings import LEAST_ROWS, Settings, numbered
from smilenn.train.warm import adopt_
from smilenn.train.within import spare_words

logger = logging.getLogger(__name__)
# torch draws from one generator for the whole process: fits in several threads take turns, so that seeds reproduce
_TURN = threading.RLock()

RANK = {"proved": 0, "unknown": 1, "violated": 2, "rejected": 3}
SPARE = 2  # further seeds for runs that fail
TRAINING_SHARE = 0.8  # of a time limit; the certificate has the rest


@dataclass(frozen=True, eq=False)
class Trained:
    """The best run, its seed, why its network looks as it does, and which rows [n] it never learned from."""

    fit: Fit
    seed: int
    reasons: str
    held: np.ndarray

    @property
    def rank(self) -> tuple[float, float]:
        """The smaller the better."""
        verdict = self.fit.verdict
        return (0 if verdict is None else RANK[verdict.status], self.fit.held_out)

    def with_cut(self, part: Part) -> Trained:
        """The same run, which says so where the time limit has cut this part short."""
        return replace(self, fit=replace(self.fit, cut=(*self.fit.cut, part))) if part.short else self


@dataclass(frozen=True, eq=False)
class Labelled:
    """The targets as training sees them: y [n, o], the class of every row [n] (all the same without classes), their
    weights [n], and the loss.
    """

    y: np.ndarray
    strata: np.ndarray
    weight: np.ndarray
    loss: LossKind


def best_run(
    task: Task,
    labelled: Labelled,
    settings: Settings,
    *,
    callback: Callable[[Progress], None] | None = None,
    checkpoint: Path | str | None = None,
    start: SmileNet | None = None,
) -> Trained:
    """Train as many networks as the settings ask for and keep the best; torch's random state is left as it was.

    Every run begins with the weights of `start`, where there is one.
    """
    runs = _Runs(task, labelled, settings, callback, checkpoint, start)
    best: Trained | None = None
    failure: DeadAuxiliaries | None = None
    done, whole, undone = 0, 0, 0
    runs.share()
    for i, seed in enumerate(runs.seeds):
        if done == settings.restarts:
            break
        if done and runs.over(i):
            undone = 0 if runs.interrupted else settings.restarts - done
            break
        try:
            found = runs.found(i, seed, settings.restarts - done)
        except DeadAuxiliaries as error:
            logger.warning("run %d of %d failed: %s", i + 1, len(runs.seeds), error)
            failure = error
            continue
        done, whole = done + 1, whole + (not found.fit.cut)
        if best is None or found.rank < best.rank:
            best = found
        if found.fit.interrupted:
            break
    if best is None:
        assert failure is not None  # restarts ≥ 1
        raise failure
    return best.with_cut(Part("restarts", done if best.fit.cut else whole, done + undone))


class _Runs:
    """The seeds of all restarts, and the rows that they keep from training."""

    def __init__(
        self,
        task: Task,
        labelled: Labelled,
        settings: Settings,
        callback: Callable[[Progress], None] | None,
        checkpoint: Path | str | None,
        start: SmileNet | None,
    ) -> None:
        self.task, self.labelled, self.settings = task, labelled, settings
        self.callback, self.checkpoint, self.start = callback, checkpoint, start
        rng = check_random_state(settings.random_state)
        self.seeds = [int(seed) for seed in rng.randint(0, 2**31 - 1, size=settings.restarts + SPARE)]
        share = settings.validation_fraction if len(task.x) >= LEAST_ROWS else 0.0
        self.held = held_out(labelled.strata, share, rng)
        self.kept = rng.randint(0, 2**31 - 1)
        limit = settings.time_limit
        self.until = None if limit is None else perf_counter() + TRAINING_SHARE * limit
        self.early: dict[int, Trained | DeadAuxiliaries] = {}  # what a cluster has trained
        self.interrupted = False

    def over(self, i: int) -> bool:
        """Whether run number i comes too late: the time for training is used up, or Ctrl-C has ended it."""
        late = self.interrupted or (self.until is not None and perf_counter() >= self.until)
        return late and i not in self.early

    def share(self) -> None:
        """Have all restarts trained by a cluster, where there is one and nothing ties them to this process.

        Ctrl-C keeps those that are finished; where a cluster is lost, the others are trained here.
        """
        pool = current()
        if pool is None or self.settings.restarts == 1 or self.checkpoint is not None or self.until is not None:
            return
        try:
            self._collect(pool)
        except ClusterError as error:
            logger.warning("The other restarts are trained here: %s", error)
        except KeyboardInterrupt:
            self.interrupted = True
            if not any(isinstance(found, Trained) for found in self.early.values()):
                raise

    def _collect(self, pool: Pool) -> None:
        """Fill in `early`, in the order of the seeds."""
        common, begun, restarts = copy.copy(self), perf_counter(), self.settings.restarts
        common.callback = None  # it belongs to this process
        for i, found in enumerate(pool.results(_restart, range(restarts), common)):
            self.early[i] = found
            if self.callback is not None:
                self.callback(Progress("restarts", i + 1, restarts, seconds=perf_counter() - begun))

    def found(self, i: int, seed: int, left: int) -> Trained:
        """Run number i, trained already or now."""
        early = self.early.get(i)
        if isinstance(early, DeadAuxiliaries):
            raise early
        return self.run(i, seed, left) if early is None else early

    def run(self, i: int, seed: int, left: int) -> Trained:
        """Run number i, `left` of them to go with this one; a fresh network from the seed."""
        device = self.task.design.device
        with _TURN, torch.random.fork_rng(devices=[torch.device(device)] if device.startswith("cuda") else []):
            torch.manual_seed(seed)
            return self._run(i, seed, left)

    def _run(self, i: int, seed: int, left: int) -> Trained:
        task, labelled, settings = self.task, self.labelled, self.settings
        recipe = recipe_for(task)
        net, reasons = recipe.net.to(task.design.device), recipe.reasons
        adopted = self.start is not None and adopt_(net, self.start)
        if self.start is not None:
            what = "the weights of a fitted model" if adopted else "a model of trees, fitted anew"
            reasons = f"Started from {what}. {reasons}"
        foreign = task.design.foreign
        apart = recipe.family == "plain" or (foreign is not None and not foreign.given)
        rows = ~self.held if apart else np.ones(len(task.x), dtype=bool)
        own = task.x[rows], labelled.y[rows], labelled.weight[rows]
        backbone = None if foreign is None else foreign.backbone(*own)
        result = fit(
            net,
            *own[:2],
            task.claims if recipe.claims is None else recipe.claims,
            loss=labelled.loss,
            config=settings.config or recipe.config,
            seed=seed,
            sample_weight=own[2],
            callback=self.callback,
            checkpoint=None if self.checkpoint is None else numbered(self.checkpoint, i, settings.restarts),
            time_limit=None if self.until is None else max(0.0, (self.until - perf_counter()) / left),
            warm=adopted,
            cases=task.cases,
            boosted=recipe.boosted,
            spare=recipe.spare,
            ceiling=recipe.ceiling,
            **self._judges(recipe, rows),
        )
        if backbone is not None:
            limit = (settings.config or recipe.config).generator_limit
            rest = limit if self.until is None else max(MIN_PROOF_SECONDS, self.until - perf_counter())
            result = surrounded(result, backbone, recipe.opening, task.claims, min(limit, rest))
            reasons = f"{reasons} {cut_words(result.net, own[0])}"
        return Trained(result, seed, _told(reasons, recipe, result), ~rows)

    def _judges(self, recipe: Recipe, rows: np.ndarray) -> dict[str, Any]:
        """The rows that judge the network: the same for a plain one, of every group its own for an ensemble."""
        task, labelled = self.task, self.labelled
        if recipe.family == "plain":
            return {"validation": (task.x[self.held], labelled.y[self.held])} if self.held.any() else {}
        share, rng = self.settings.validation_fraction, np.random.RandomState(self.kept)
        return {"held": kept_rows(labelled.strata[rows], recipe.net, share, task.classify, rng, recipe.folds)}


def _restart(runs: _Runs, i: int) -> Trained | DeadAuxiliaries:
    """A restart as a task; one that fails is a value, since another seed may take its place."""
    try:
        return runs.run(i, runs.seeds[i], runs.settings.restarts - i)
    except DeadAuxiliaries as error:
        return error


def _told(reasons: str, recipe: Recipe, result: Fit) -> str:
    """The reasons, with what an ensemble ended with."""
    chosen = f" Mixture chosen on held-out rows: {result.chosen}." if result.chosen else ""
    return f"{reasons}{spare_words(result.net, recipe.spare)}{chosen}"
