"""The estimator that ``smile fit`` trains: its class and parameters, from the options, the rows and a start."""

from __future__ import annotations

from typing import Any

from smilenn.cli.fit_request import Request
from smilenn.cli.preparing import Prepared
from smilenn.cli.starting import Start
from smilenn.cli.stating import Stated
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.options import Network
from smilenn.estimators.regressor import SmileRegressor
from smilenn.train.config import Config


def unfitted(
    request: Request, prepared: Prepared, start: Start | None, stated: Stated
) -> SmileRegressor | SmileClassifier:
    """The estimator, with its domain; `prepared` has been judged."""
    kind = SmileClassifier if prepared.classes else SmileRegressor
    # None leaves the constants to the recipe, which chooses them by the number of rows
    config = None if request.epochs is None else Config(pretrain_epochs=request.epochs, epochs=request.epochs)
    return kind(
        **_own(request, prepared, start),
        properties=tuple(item for _, item in stated),
        domain=prepared.domain,
        config=config,
        random_state=request.seed,
        time_limit=request.time_limit,
        certify_limit=request.certify_limit,
        missing=request.missing,  # type: ignore[arg-type]
        unknown=request.unknown,  # type: ignore[arg-type]
    )


def _own(request: Request, prepared: Prepared, start: Start | None) -> dict[str, Any]:
    """Parameters of one kind of estimator, or taken from the start."""
    own: dict[str, Any] = (
        {"network": network(request, prepared)} if start is None else start.parameters(request.restarts)
    )
    if request.quantiles:
        own["quantiles"] = request.quantiles
    if request.positive is not None:
        own["positive"] = prepared.target.outputs.positive  # as the table spells it
    if prepared.class_weight is not None:
        own["class_weight"] = prepared.class_weight
    return own


def network(request: Request, prepared: Prepared) -> Network | None:
    """What the options say of the network, or the rows where they look like images; None where it is the default."""
    encoder: Any = request.encoder if prepared.likeness is None else "image"
    found = Network(boxes=request.boxes, encoder=encoder, restarts=request.restarts)  # type: ignore[arg-type]
    return None if found == Network() else found
