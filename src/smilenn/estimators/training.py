"""From claims and arrays to a trained network: the recipe, the restarts, and what is kept of them.

Up to `restarts` networks are trained from different seeds; a proved one is preferred, then the one with the smaller
loss on the rows that were kept from training. A run whose auxiliaries die in pretraining is replaced by one from
another seed, `SPARE` times at most.
"""

from __future__ import annotations

import copy
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.estimators.checks import LEAST_ROWS, held_out, numbered
from smilenn.estimators.targets import Target
from smilenn.progress import Progress
from smilenn.properties.base import Property
from smilenn.properties.cases import Cases
from smilenn.properties.claim import Claim
from smilenn.properties.custom import Custom
from smilenn.properties.spec import as_property
from smilenn.train.config import Config

if TYPE_CHECKING:
    from torch import nn

    from smilenn.estimators.base import SmileEstimator
    from smilenn.model.net import SmileNet
    from smilenn.train.fit import Fit
    from smilenn.train.recipe import Recipe

logger = logging.getLogger(__name__)

RANK = {"proved": 0, "unknown": 1, "violated": 2, "rejected": 3}
SPARE = 2  # further seeds for runs that fail
TRAINING_SHARE = 0.8  # of a time limit; the certificate has the rest


def train(
    estimator: SmileEstimator,
    domain: Domain,
    x: np.ndarray,
    target: Target,
    claims: tuple[Claim, ...],
    columns: Sequence[str],
    weight: np.ndarray,
    callback: Callable[[Progress], None] | None,
    checkpoint: Path | str | None,
    start: SmileNet | None = None,
) -> tuple[Fit, int, str, np.ndarray]:
    """The best run, its seed, why its network looks as it does, and which rows [n] it never learned from.

    Torch's random state is left as it was.

    Every run begins with the weights of `start`, where there is one.
    """
    import torch

    from smilenn.train.cases import planned
    from smilenn.train.fit import DeadAuxiliaries, fit
    from smilenn.train.losses import LossKind, Quantiles
    from smilenn.train.recipe import kept_rows, why_plain
    from smilenn.train.warm import adopt_

    y = target.y if target.classes is None else 2.0 * target.y - 1.0  # of classes: what logits should be like
    cases = planned(claims, domain, target.outputs.names, x, y)
    losses: dict[str, LossKind] = {"regression": "mse", "multiclass": "ce", "quantiles": Quantiles(target.levels)}

    rng = check_random_state(estimator.random_state)
    seeds = [int(seed) for seed in rng.randint(0, 2**31 - 1, size=estimator.restarts + SPARE)]
    share = estimator.validation_fraction if len(x) >= LEAST_ROWS else 0.0
    held = held_out(target.strata, share, rng)
    kept = rng.randint(0, 2**31 - 1)
    best: tuple[Fit, int, str, np.ndarray] | None = None
    best_rank, done = (math.inf, math.inf), 0
    until = None if estimator.time_limit is None else perf_counter() + TRAINING_SHARE * estimator.time_limit
    failure: DeadAuxiliaries | None = None
    devices = [torch.device(estimator.device)] if str(estimator.device).startswith("cuda") else []
    with torch.random.fork_rng(devices=devices):
        for i, seed in enumerate(seeds):
            if done == estimator.restarts or (done and until is not None and perf_counter() >= until):
                break
            torch.manual_seed(seed)
            recipe = _recipe(estimator, domain, x, target, columns, cases)
            options: dict[str, Any] = {}
            if recipe is None:
                net, config, reasons = _build(estimator, domain, target), None, why_plain(estimator.all_properties())
                if held.any():
                    options["validation"] = (x[held], target.y[held])
            else:
                net, config, reasons = recipe.net.to(estimator.device), recipe.config, recipe.reasons
            if start is not None:
                adopt_(net, start)
                reasons = f"Started from the weights of a fitted model. {reasons}"
            rows = ~held if recipe is None else np.ones(len(x), dtype=bool)
            if recipe is not None:
                choice = np.random.RandomState(kept)
                options["held"] = kept_rows(
                    target.strata, net, estimator.validation_fraction, target.classes is not None, choice
                )
            config = estimator.config or config or Config()
            left = None if until is None else max(0.0, (until - perf_counter()) / (estimator.restarts - done))
            try:
                result = fit(
                    net,
                    x[rows],
                    target.y[rows],
                    claims,
                    loss=losses.get(target.task, "bce"),
                    config=config,
                    seed=seed,
                    sample_weight=weight[rows],
                    callback=callback,
                    checkpoint=None if checkpoint is None else numbered(checkpoint, i, estimator.restarts),
                    time_limit=left,
                    warm=start is not None,
                    cases=cases,
                    **options,
                )
            except DeadAuxiliaries as error:
                logger.warning("run %d of %d failed: %s", i + 1, len(seeds), error)
                failure = error
                continue
            done += 1
            rank = (0 if result.verdict is None else RANK[result.verdict.status], result.held_out)
            if best is None or rank < best_rank:
                best, best_rank = (result, seed, _told(reasons, result), ~rows), rank
            if result.interrupted:
                break
    if best is None:
        assert failure is not None  # restarts ≥ 1
        raise failure
    return best


def _recipe(
    estimator: SmileEstimator, domain: Domain, x: np.ndarray, target: Target, columns: Sequence[str],
    cases: Mapping[str, Cases],
) -> Recipe | None:  # fmt: skip
    """The network behind an encoder, fresh; None for the plain one. x [n, m] raw training rows."""
    assert target.scale is not None and target.start is not None
    from smilenn.model.encoders import Encoder
    from smilenn.train.averaged import averaged
    from smilenn.train.recipe import DISTANCES, Recipe, encoded, refuse_unpinned, steps

    plain = estimator.boxes != "gap" or estimator.auxiliaries != "relu"
    if estimator.encoder == "none" or (estimator.encoder == "auto" and plain):
        return None
    if estimator.encoder in ("auto", "image"):
        stated = estimator.complete(estimator.all_properties())
        named = [as_property(item).named(domain, columns) for item in stated]
        properties = [part for item in named for part in _by_cases(item, domain, target, cases)]
        image = estimator.encoder == "image"
        recipe = encoded(
            domain, x, properties, output_scale=target.scale, start=target.start, classify=target.classes is not None,
            sizes=estimator.backbone_sizes, device=str(estimator.device), image=image, outputs=target.outputs,
            share=estimator.backbone_share, members=estimator.members,
            y=target.y, backbone=None if estimator.backbone is None else partial(_module, estimator.backbone),
        )  # fmt: skip
        if estimator.backbone_share and (recipe is None or not recipe.reasons.startswith(DISTANCES)):
            raise SmileError(
                "backbone_share is for distance nets: classifiers whose only properties are Robust ones that move all "
                "of many columns, or of an image; leave it at 0."
            )
        if recipe is None and image:
            raise SmileError(
                "encoder='image' is for classifiers whose only properties are Robust ones that move every pixel; use "
                "encoder='auto'."
            )
        return recipe
    given = estimator.encoder
    made = given(domain, domain.scale(x)) if callable(given) and not isinstance(given, Encoder) else given
    if not isinstance(made, Encoder):
        raise SmileError(
            "encoder must be 'auto', 'image', 'none', an Encoder or a function (domain, u) that returns one."
        )
    if made.domain != domain:
        raise SmileError("The encoder was made for another domain; pass that domain as well (domain=encoder.domain).")
    refuse_unpinned(made, estimator.lower_on(estimator.all_properties(), domain, columns, target.outputs))
    if len(target.outputs.names) > 1:
        raise SmileError("An encoder of one's own is averaged to one output; the target has several.")
    net = averaged(domain, copy.deepcopy(made), target.scale, target.start, sizes=estimator.backbone_sizes)
    return Recipe(net, steps(len(x), 1e-2), "Encoder: the one that was given; its coordinates are averaged.")


def _module(backbone: Callable[[int, int], nn.Module], inputs: int, embedding: int) -> nn.Module:
    """The user's own backbone."""
    from torch import nn

    made = backbone(inputs, embedding)
    if not isinstance(made, nn.Module):
        raise SmileError("backbone must be a function (inputs, embedding) that returns a torch module.")
    return made


def _by_cases(item: Property, domain: Domain, target: Target, cases: Mapping[str, Cases]) -> list[Property]:
    """A property, or the claims that it becomes in its cases where it has alternatives."""
    from smilenn.train.cases import without_clauses

    claims = item.lower(domain, target.outputs)
    if not any(claim.either for claim in claims):
        return [item]
    return [Custom.from_claim(part) for part in without_clauses(claims, cases, domain)]


def _build(estimator: SmileEstimator, domain: Domain, target: Target) -> SmileNet:
    """A fresh network, its head starting at the target's means."""
    assert target.scale is not None and target.start is not None
    import torch

    from smilenn.model.backbones import MLP
    from smilenn.model.net import SmileNet

    embedding = max(estimator.embedding, len(target.outputs.names))  # fewer would tie outputs to each other
    if estimator.backbone is None:
        # float64: a row's prediction then does not depend visibly on the batch it comes in
        backbone: nn.Module = MLP(domain.size, tuple(estimator.backbone_sizes), embedding).double()
    else:
        backbone = _module(estimator.backbone, domain.size, embedding)
    net = SmileNet(
        domain,
        backbone,
        embedding,
        outputs=target.outputs.names,
        auxiliaries=estimator.auxiliaries,
        hidden=estimator.hidden,
        boxes=estimator.boxes,
        output_scale=target.scale.tolist(),
    )
    with torch.no_grad():
        net.head_bias.copy_(torch.as_tensor(target.start) / net.output_scale)
    return net.to(estimator.device)


def _told(reasons: str, result: Fit) -> str:
    """The reasons, with what an ensemble ended with."""
    return f"{reasons} Chosen on rows kept from training: {result.chosen}." if result.chosen else reasons
