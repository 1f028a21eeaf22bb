"""From a network, data and claims to a trained network with a verdict: the whole of the paper's Algorithm Train.

    pretrain → [feasible start] → train → posttrain → restore the best proved state, or repair → choose the numeric
    profile → prove again, with the real model

A run is a sequence of units (epochs, rounds). After each the state may be written to a checkpoint; a run that was cut
off, at whatever moment, continues from there bit for bit. Interrupting with Ctrl-C returns what there is.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smilenn.model.net import SmileNet
from smilenn.progress import Progress
from smilenn.properties.cases import Cases
from smilenn.properties.claim import Claim
from smilenn.provers.model import prove_claims
from smilenn.provers.tree.tree import Trees
from smilenn.train.boosted import Directions
from smilenn.train.capped import cap_
from smilenn.train.clock import Clock
from smilenn.train.config import Config
from smilenn.train.cut import Cut
from smilenn.train.deploy import deploy
from smilenn.train.generator import Generator
from smilenn.train.held import folded
from smilenn.train.losses import LossKind, decides, task_loss
from smilenn.train.phases import Training
from smilenn.train.planned_cases import planned, without_clauses
from smilenn.train.row_order import in_order
from smilenn.train.run import Run, fingerprint
from smilenn.train.tensors import checked_rows, checked_weights
from smilenn.train.within import Spare, Within, explained
from smilenn.verdict import Verdict

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fit:
    """A trained network, its verdict (None without claims) and how it came about.

    `held_out` is the task loss, as a share of the constant's, on rows that chose the network: those kept from training,
    or the training rows where none were. `chosen` says which kinds of networks an ensemble ended with. `interrupted`
    says that Ctrl-C ended training, `cut` what its time limit has cut short, where it ran on. `trees` are those of the
    proof: a certificate starts from them.
    """

    net: SmileNet
    verdict: Verdict | None
    history: list[dict[str, Any]]
    seconds: float
    interrupted: bool = False
    held_out: float = math.nan
    chosen: str = ""
    trees: Trees = field(default_factory=Trees, repr=False)
    cut: Cut = ()


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
    boosted: Sequence[Directions] = (),
    spare: Sequence[Spare] = (),
    ceiling: np.ndarray | None = None,
) -> Fit:
    """Train `net` in place so that the claims provably hold.

    Parameters
    ----------
    x : [N, m] raw units (``domain.encode``).
    y : [N] or [N, o] in output units; 0 and 1 for ``bce`` and ``ce``.
    claims : what must hold; may be empty (plain training, nothing to prove).
    validation : rows that choose the best proved state; the training rows serve where there are none.
    held : [N, G] bool, for ensembles: rows that group g of its members never learns from, and is judged by. With more
        columns than the ensemble has groups, each of these has several (`folded`), and each of the boosters one.
    callback : called after every unit of work.
    checkpoint : file to continue from and to write after every unit.
    time_limit : seconds for all of it: training stops early enough to leave time for repair and proof. No epoch or
        round begins later, so a very short limit trains nothing; the proof has a second in any case.
    warm : begin with the weights that `net` has, not pretrained again; they are among the states to choose from.
    cases : of claims with alternatives the cases to train for, by the claim's digest; chosen by the data if not given.
    boosted : for ensembles with `held` rows: what boosted trees of every output may read, and which signs; they join
        the networks by the share that kept rows give them. None are fitted without it.
    spare : what trees that read protected features may move each output by (train/within.py).
    ceiling : [o], what the outputs of an ensemble are cut at once it is trained (train/capped.py).
    """
    config = Config() if config is None else config
    if cases is None:
        cases = planned(claims, net.domain, net.outputs, x, 2.0 * y - 1.0 if decides(loss) else y)
    stated, claims = claims, [in_order(claim) for claim in without_clauses(claims, cases, net.domain)]
    net.train()
    net.set_profile("f64-aux")
    clock = Clock(time_limit, PLAIN_SHARE if net.encoder is None else ENCODED_SHARE)
    task = _task(net, (x, y, sample_weight), claims, loss, config, validation, held, seed=seed, clock=clock)
    taken = explained(net, task, spare, loss)
    if taken is not None:
        task = replace(task, y=task.y - taken)
    run = Run(
        net,
        task,
        fingerprint(net, task, claims, loss, warm),
        clock,
        callback=callback,
        checkpoint=checkpoint,
        warm=warm,
        within=Within(tuple(spare), loss, taken),
    )
    interrupted = _trained(run, boosted, loss)
    run.restore_best()
    net.eval()
    if ceiling is not None:
        cap_(net, ceiling)
    if config.repair and claims and run.state.best is None and not interrupted:
        run.repair(claims, inside=ceiling is not None)
    logger.info(deploy(net, claims, time_limit=min(config.generator_limit, max(MIN_PROOF_SECONDS, clock.left() / 2))))
    limit = min(config.generator_limit, max(MIN_PROOF_SECONDS, clock.left()))
    trees = Trees({key: tree for generator in task.generators for key, tree in generator.trees.items()})
    trees.cases |= cases
    verdict = prove_claims(net, stated, time_limit=limit, trees=trees) if claims else None
    cut = () if interrupted else run.cut
    return Fit(net, verdict, run.state.history, clock.elapsed(), interrupted, _judged(run), run.chosen, trees, cut)


def _judged(run: Run) -> float:
    """The loss on the rows that chose the network; infinite for an ensemble that no time was left to train."""
    if not math.isnan(run.held_out):
        return run.held_out
    late = run.net.encoder is not None and run.net.encoder.groups > 0 and run.clock.over()
    if late:
        return math.inf
    # an encoder takes its time, and all that is asked for is which of some restarts is best
    task = run.task if run.net.encoder is None else run.task.thinned(JUDGED)
    return task.held_out_loss(run.net)


def _task(
    net: SmileNet,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray | None],
    claims: Sequence[Claim],
    loss: LossKind,
    config: Config,
    validation: tuple[np.ndarray, np.ndarray] | None,
    held: np.ndarray | None,
    *,
    seed: int,
    clock: Clock,
) -> Training:
    """The rows checked and as tensors, with a generator for every claim; what these took says what proof will take."""
    x, y = checked_rows(net, *rows[:2], loss, "training")
    weight, begun = checked_weights(rows[2], len(x), net), clock.elapsed()
    snapshot = net.snapshot()
    folds = None if held is None or not held.any() else torch.as_tensor(held, device=x.device)
    groups = 1 if net.encoder is None else max(1, net.encoder.groups)
    generators = tuple(Generator.of(claim, snapshot, config) for claim in claims)
    clock.reserve(FOLLOW * (clock.elapsed() - begun))
    return Training(
        x,
        y,
        weight,
        task_loss(loss, y, weight, config.margin),
        None if validation is None else checked_rows(net, *validation, loss, "validation"),
        generators,
        config,
        seed,
        None if held is None or folds is None else torch.as_tensor(folded(held, groups), device=x.device),
        decides(loss),
        clock.over,
        folds,
    )


def _trained(run: Run, boosted: Sequence[Directions], loss: LossKind) -> bool:
    """Train; whether it was interrupted, and the network then as good as it is by now."""
    try:
        run.boost(boosted, loss)
        run.train()
    except KeyboardInterrupt:
        run.net.project_()
        run.finish_encoded()
        logger.warning("training interrupted in phase %s, unit %d", run.state.phase, run.state.unit)
        return True
    return False


PLAIN_SHARE, ENCODED_SHARE = 0.7, 0.9  # of a time limit for training; what an encoder keeps is proved at once
JUDGED = 8192  # training rows that judge an encoder
FOLLOW = 25.0  # times what it takes to freeze a network and ground its claims: proof, self-test, certificate and check
MIN_PROOF_SECONDS = 1.0  # the final proof gets at least this much, whatever the time limit
