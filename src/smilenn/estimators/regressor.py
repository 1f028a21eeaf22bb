"""`SmileRegressor`: numbers, predicted by a network that provably obeys its properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin

from smilenn.domain import Domain
from smilenn.domain.target_cells import as_fitted
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.levels import read_levels
from smilenn.estimators.missing import Missing, Unknown
from smilenn.estimators.options import Columns, Network
from smilenn.estimators.outside import Outside
from smilenn.estimators.parameters import stored
from smilenn.estimators.rules import Directions, Names, Stated
from smilenn.estimators.targets import Target, TaskName, numbers, started_numbers
from smilenn.properties.base import Property
from smilenn.properties.outputs import Ordered
from smilenn.recourse.goal import number_goal
from smilenn.recourse.reasons import reasons
from smilenn.recourse.recourse import Change, Recourse, recourse
from smilenn.train.config import Config

if TYPE_CHECKING:
    import pandas as pd


class SmileRegressor(RegressorMixin, SmileEstimator):
    """Regression with properties that hold everywhere on the domain.

    Parameters are those of `SmileEstimator`. After `fit`: ``verdict_``, ``certificate_``, ``violation_bound_``,
    ``history_``, ``net_``, ``domain_``, ``claims_``, ``outputs_``. ε of a property is in units of the target. A target
    of several columns [n, o] has one output each, called as the columns are (``y0``, ``y1``, … in an array); a property
    is about all of them, or about the one that its ``output`` names.

    quantiles : rising levels between 0 and 1: the outputs ``q0.1``, … are these quantiles of one target, and never
        cross (`Ordered` is added to the properties).

    >>> from smilenn.estimators.regressor import SmileRegressor
    >>> SmileRegressor(increasing=["income"]).all_properties()[0].sentence("price")
    "Raising 'income', everything else equal, never lowers the predicted 'price'."
    """

    quantiles: Sequence[float] | None

    @stored
    def __init__(
        self,
        *,
        properties: Stated = (),
        increasing: Names = (),
        decreasing: Names = (),
        monotonic_cst: Directions = None,
        domain: Domain | Columns | Mapping[str, Any] | None = None,
        network: Network | None = None,
        config: Config | None = None,
        missing: Missing = "indicator",
        unknown: Unknown = "other",
        out_of_bounds: Outside = "auto",
        time_limit: float | None = None,
        certify_limit: float = 60.0,
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        quantiles: Sequence[float] | None = None,
    ) -> None:
        """Store the parameters."""

    @property
    def task(self) -> TaskName:
        """``regression`` or ``quantiles``."""
        return "regression" if self.quantiles is None else "quantiles"

    def all_properties(self) -> tuple[Property, ...]:
        """`properties` and what the short forms stand for; quantiles are ordered."""
        stated = self.stated_properties()
        return stated if self.quantiles is None else (*stated, Ordered())

    def __sklearn_tags__(self) -> Any:
        """One target or several."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _default_eps(self) -> None:
        return None

    def read_target(self, y: np.ndarray, names: Sequence[str]) -> Target:
        """The target y [n] or [n, o] (columns called `names`) as numbers."""
        return numbers(y, names, self.quantiles)

    def _start(self, target: Target, weight: np.ndarray) -> tuple[Target, np.ndarray]:
        return started_numbers(target, weight), weight

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for the rows of X in the target's units, float64 [n]; [n, o] of several targets or quantiles."""
        return self.outputs(X)

    def recourse(
        self,
        row: Any,
        *,
        change: Change,
        at_least: float | None = None,
        at_most: float | None = None,
        output: str | None = None,
    ) -> Recourse:
        """The smallest change of one row that takes its prediction to a value, along certified directions.

        `change` says what may move: feature → ``up``, ``down`` or the furthest value. `output` names one of several.
        Any larger change of the same kind goes at least as far: that is certified.
        """
        self._check_fitted()
        return recourse(self, row, number_goal(self.outputs_, output, at_least, at_most), change)

    def reasons(
        self, row: Any, *, at_least: float | None = None, at_most: float | None = None, output: str | None = None
    ) -> pd.DataFrame:
        """What each feature alone could gain for one row, the most first, in the target's units; what is proved."""
        self._check_fitted()
        return reasons(self, row, number_goal(self.outputs_, output, at_least, at_most))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², the mean over several targets; of quantiles the mean share of a constant's pinball loss saved."""
        self._check_fitted()
        y = as_fitted(y, self.outputs_.names, vars(self).get("target_units_", ()))
        if self.quantiles is None:
            return super().score(X, y, sample_weight)
        from sklearn.metrics import d2_pinball_score

        found, levels = self.predict(X), read_levels(self.quantiles)
        each = [d2_pinball_score(y, found[:, k], sample_weight=sample_weight, alpha=q) for k, q in enumerate(levels)]
        return float(np.mean(each))
