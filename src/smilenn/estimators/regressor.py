"""`SmileRegressor`: numbers, predicted by a network that provably obeys its properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import RegressorMixin

from smilenn.domain import Domain, Kind, OutOfBounds, Scaling
from smilenn.errors import SmileError
from smilenn.estimators.base import EncoderMaker, SmileEstimator
from smilenn.estimators.levels import read_levels
from smilenn.estimators.missing import Missing
from smilenn.estimators.targets import Target, TaskName, numbers, started_numbers
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.properties.outputs import Ordered
from smilenn.train.config import Config

if TYPE_CHECKING:
    from torch import nn

    from smilenn.model.auxiliaries import AuxiliaryKind
    from smilenn.model.encoders import Encoder
    from smilenn.model.snapshot import Boxes


class SmileRegressor(RegressorMixin, SmileEstimator):
    """Regression with properties that hold everywhere on the domain.

    Parameters are those of `SmileEstimator`. After `fit`: ``verdict_``, ``certificate_``, ``violation_bound_``,
    ``history_``, ``net_``, ``domain_``, ``claims_``, ``outputs_``. ε of a property is in units of the target. A target
    of several columns [n, o] has one output each, called as the columns are (``y0``, ``y1``, … in an array); a property
    speaks of all of them, or of the one that its ``output`` names.

    quantiles : rising levels between 0 and 1: the outputs ``q0.1``, … are these quantiles of one target, and never
        cross (`Ordered` is added to the properties).

    >>> from smilenn.estimators.regressor import SmileRegressor
    >>> SmileRegressor(increasing=["income"]).all_properties()[0].sentence("price")
    "Raising 'income', everything else equal, never lowers the predicted 'price'."
    """

    def __init__(
        self,
        *,
        properties: Sequence[Property | Claim] = (),
        increasing: Sequence[str | int] = (),
        decreasing: Sequence[str | int] = (),
        protected: Mapping[str, float] | None = None,
        domain: Domain | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        kinds: Mapping[str, Kind] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        margin: float = 0.05,
        scaling: Scaling = "unit",
        encoder: Literal["auto", "image", "none"] | Encoder | EncoderMaker = "auto",
        boxes: Boxes = "gap",
        auxiliaries: AuxiliaryKind = "relu",
        hidden: int = 16,
        embedding: int = 8,
        backbone: Callable[[int, int], nn.Module] | None = None,
        backbone_sizes: Sequence[int] = (32, 32),
        backbone_share: float = 0.0,
        members: int = 4,
        config: Config | None = None,
        out_of_bounds: OutOfBounds | Literal["auto"] = "auto",
        time_limit: float | None = None,
        certify_time_limit: float = 60.0,
        random_state: int | np.random.RandomState | None = None,
        validation_fraction: float = 0.1,
        missing: Missing = "raise",
        verbose: int = 0,
        device: str = "cpu",
        restarts: int = 1,
        quantiles: Sequence[float] | None = None,
    ) -> None:
        super().__init__(
            properties=properties,
            increasing=increasing,
            decreasing=decreasing,
            protected=protected,
            domain=domain,
            bounds=bounds,
            kinds=kinds,
            groups=groups,
            margin=margin,
            scaling=scaling,
            encoder=encoder,
            boxes=boxes,
            auxiliaries=auxiliaries,
            hidden=hidden,
            embedding=embedding,
            backbone=backbone,
            backbone_sizes=backbone_sizes,
            backbone_share=backbone_share,
            members=members,
            config=config,
            out_of_bounds=out_of_bounds,
            time_limit=time_limit,
            certify_time_limit=certify_time_limit,
            random_state=random_state,
            validation_fraction=validation_fraction,
            missing=missing,
            verbose=verbose,
            device=device,
            restarts=restarts,
        )
        self.quantiles = quantiles

    @property
    def task(self) -> TaskName:
        """``regression`` or ``quantiles``."""
        return "regression" if self.quantiles is None else "quantiles"

    def all_properties(self) -> tuple[Property, ...]:
        """`properties` and what the short forms stand for; quantiles are ordered."""
        stated = super().all_properties()
        return stated if self.quantiles is None else (*stated, Ordered())

    def __sklearn_tags__(self) -> Any:
        """One target or several."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _default_eps(self) -> float:
        raise SmileError(
            "Robust needs eps in a regression: the largest change of the output, as in Robust(0.1, eps=2)."
        )

    def read_target(self, y: np.ndarray, names: Sequence[str]) -> Target:
        """The target y [n] or [n, o] (columns called `names`) as numbers."""
        return numbers(y, names, self.quantiles)

    def _start(self, target: Target, weight: np.ndarray) -> tuple[Target, np.ndarray]:
        return started_numbers(target, weight), weight

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for the rows of X in the target's units, float64 [n]; [n, o] of several targets or quantiles."""
        return self.outputs(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², the mean over several targets; of quantiles the mean share of a constant's pinball loss saved."""
        if self.quantiles is None:
            return super().score(X, y, sample_weight)
        from sklearn.metrics import d2_pinball_score

        found, levels = self.predict(X), read_levels(self.quantiles)
        each = [d2_pinball_score(y, found[:, k], sample_weight=sample_weight, alpha=q) for k, q in enumerate(levels)]
        return float(np.mean(each))
