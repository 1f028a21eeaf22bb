"""The estimator that ``smile fit`` trains: its class and parameters, from the options, the rows and a start."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from smilenn.cli.fit_request import Request
from smilenn.cli.preparing import Prepared
from smilenn.cli.starting import Start
from smilenn.cli.stating import Stated
from smilenn.errors import SmileError, listed
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.options import Network
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.start import check_columns
from smilenn.estimators.targets import class_names
from smilenn.train.config import Config


def unfitted(
    request: Request, prepared: Prepared, start: Start | None, stated: Stated
) -> SmileRegressor | SmileClassifier:
    """The estimator, with its domain; what the options ask of a start or of the target is checked."""
    kind = SmileClassifier if prepared.classes else SmileRegressor
    domain = prepared.domain
    if start is not None:
        domain = check_columns(start.model, tuple(prepared.frame.columns))
        kind = start.kind(kind, request)
    # None leaves the constants to the recipe, which chooses them by the number of rows
    config = None if request.epochs is None else Config(pretrain_epochs=request.epochs, epochs=request.epochs)
    return kind(
        **_own(request, prepared, start, kind),
        properties=tuple(item for _, item in stated),
        domain=domain,
        config=config,
        random_state=request.seed,
        restarts=request.restarts,
        time_limit=request.time_limit,
        certify_limit=request.certify_limit,
        missing=request.missing,  # type: ignore[arg-type]
        unknown=request.unknown,  # type: ignore[arg-type]
    )


def _own(request: Request, prepared: Prepared, start: Start | None, kind: type) -> dict[str, Any]:
    """Parameters of one kind of estimator, or taken from the start."""
    own: dict[str, Any] = {"network": network(request)} if start is None else start.parameters()
    if request.quantiles:
        own["quantiles"] = request.quantiles
    if request.positive is not None:
        own["positive"] = positive_class(request, kind)
    if request.class_weight:
        own["class_weight"] = class_weight(request, prepared.y if kind is SmileClassifier else None)
    return own


def network(request: Request) -> Network | None:
    """What the options say of the network; None where it is the default."""
    return None if request.boxes == "gap" else Network(boxes=request.boxes)  # type: ignore[arg-type]


def positive_class(request: Request, kind: type) -> str:
    """The class of ``--positive``, which is for two classes."""
    if kind is not SmileClassifier:
        raise SmileError("--positive names one of two classes; the target is predicted as a number.")
    assert request.positive is not None
    return request.positive


def class_weight(request: Request, y: pd.Series | pd.DataFrame | None) -> dict[Any, float] | Literal["balanced"]:
    """``--class-weight``: ``balanced``, or class → weight; y holds the classes, None where there are none."""
    if not isinstance(y, pd.Series):
        raise SmileError("--class-weight is for one target of classes; leave it out here.")
    if request.class_weight == ("balanced",):
        return "balanced"
    values = np.unique(y.to_numpy())
    classes = dict(zip(class_names(values), values.tolist(), strict=True))
    out: dict[Any, float] = {}
    for text in request.class_weight:
        name, colon, number = text.rpartition(":")
        if not colon or name not in classes:
            raise SmileError(
                f"--class-weight {text} is neither balanced nor CLASS:WEIGHT with a class of {listed(classes, 12)}."
            )
        try:
            out[classes[name]] = float(number)
        except ValueError:
            raise SmileError(f"--class-weight {text}: {number!r} is not a number; write one such as 2.") from None
    return out
