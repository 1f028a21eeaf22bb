"""`SmileClassifier`: one of two classes, decided by the sign of one logit with proved properties."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from smilenn.domain import Domain, Kind, OutOfBounds, Scaling
from smilenn.errors import SmileError, listed
from smilenn.estimators.base import EncoderMaker, SmileEstimator
from smilenn.estimators.checks import class_weights
from smilenn.estimators.missing import Missing
from smilenn.estimators.steady import largest_change, steady
from smilenn.estimators.training import Target
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.properties.library import Fair, Robust
from smilenn.train.config import Config

if TYPE_CHECKING:
    from torch import nn

    from smilenn.model.auxiliaries import AuxiliaryKind
    from smilenn.model.encoders import Encoder
    from smilenn.model.snapshot import Boxes

DEFAULT_EPS = 1.0  # ε is a gauge on a logit: scaling the logit scales it


class SmileClassifier(ClassifierMixin, SmileEstimator):
    """Binary classification with properties that hold everywhere on the domain.

    Parameters are those of `SmileEstimator`. The output that properties speak of is the logit of ``classes_[1]``: ε on
    it is an odds ratio of e^ε and a change of the probability by at most tanh(ε/4). A `Robust` without eps gets ε = 1.
    Scaling the logit, as calibration does, scales ε along: after multiplying it by c the same rules hold with c·ε.

    class_weight : class → weight of its rows, ``balanced`` for equal totals; multiplied with ``sample_weight``.
    """

    loss = "bce"
    task: ClassVar[str] = "binary"

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
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
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
        self.class_weight = class_weight

    def _default_eps(self) -> float:
        return DEFAULT_EPS

    def __sklearn_tags__(self) -> Any:
        """Two classes, no more."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if y.dtype.kind == "f" and (y != np.rint(y)).any():
            raise SmileError(
                "Unknown label type: continuous. The target holds fractions; classify whole numbers or texts, or use "
                "SmileRegressor."
            )
        try:
            classes, codes = np.unique(y, return_inverse=True)
        except TypeError:
            raise SmileError(
                "Unknown label type: the target mixes numbers and texts; give every class one kind of name."
            ) from None
        if len(classes) == 1:
            raise SmileError(f"The target has one class only, {classes[0]!r}; a classifier needs two.")
        if len(classes) > 2:
            raise SmileError(
                f"Only binary classification is supported, and the target has {len(classes)} classes "
                f"({listed(classes, 4)}); predict one against the rest."
            )
        return codes.astype(np.float64), classes

    def _start(self, y: np.ndarray, classes: np.ndarray | None, weight: np.ndarray) -> tuple[Target, np.ndarray]:
        assert classes is not None
        weight = class_weights(y.astype(int), classes, self.class_weight, weight)
        share = float(np.average(y, weights=weight))
        if not 0.0 < share < 1.0:
            raise SmileError("The weights leave rows of one class only; a classifier needs two.")
        return Target(y, 1.0, math.log(share / (1.0 - share)), classes), weight

    def decision_function(self, X: Any) -> np.ndarray:
        """Logits of ``classes_[1]``, float64 [n]."""
        return self.outputs(X)

    def predict(self, X: Any) -> np.ndarray:
        """Class labels [n]: ``classes_[1]`` where the logit is positive."""
        positive = self.outputs(X) > 0
        return self.classes_[positive.astype(int)]

    def predict_certified(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Class labels [n], and [n] bool: which of them no change that the properties speak of can turn.

        Of all `Robust` and `Fair` properties together: True means that every input within δ of the row, and every one
        that differs in the protected features alone, gets the same label. It rests on the checked bound of
        ``certificate_``; without one every entry is False.
        """
        logit = self.outputs(X)
        return self.classes_[(logit > 0).astype(int)], steady(logit, self.largest_change())

    def largest_change(self) -> float:
        """Checked bound on how far the logit moves by any change that a `Robust` or `Fair` property speaks of; or ∞."""
        self._check_fitted()
        named = [item for item in self.all_properties() if isinstance(item, (Robust, Fair))]
        if not named:
            raise SmileError("Certified labels need a property that bounds changes; fit with a Robust or Fair one.")
        return largest_change(self.certificate_, self.lower(named), self.domain_, self.outside_)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes, [n, 2]."""
        positive = probability(self.outputs(X))
        return np.stack([1.0 - positive, positive], axis=1)


def probability(logit: np.ndarray) -> np.ndarray:
    """1 / (1 + e^−logit) without overflow, shape kept."""
    return np.exp(-np.logaddexp(0.0, -logit))
