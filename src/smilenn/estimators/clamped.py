"""Somebody else's model as an estimator: fitted as it is, then clamped to be ε-fair, certified.

    f(x) = m(x) cut to the middle of what m says over all protected values, ± ε/2         (model/clamp.py)

m is any scikit-learn regressor, or a classifier with probabilities, whose logit is clamped. The certificate covers the
clamp and assumes of m that equal inputs give equal bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone

from smilenn.certify.certify import certify
from smilenn.certify.verdicts import Certificate
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.properties.library import Fair

CUT = 1e-12  # probabilities nearer to 0 or 1 are moved there: a logit is a number


class _Clamped(BaseEstimator, ABC):
    """What both share.

    Parameters
    ----------
    model : an unfitted scikit-learn estimator (or pipeline) that takes data frames.
    protected : columns that may change the output by at most `eps`, together; they have finitely many values.
    domain : the inputs the certificate speaks of; learned from X without one.
    """

    def __init__(
        self, model: Any, protected: Sequence[str] = (), eps: float = 0.1, *, domain: Domain | None = None
    ) -> None:
        self.model = model
        self.protected = protected
        self.eps = eps
        self.domain = domain

    @abstractmethod
    def _raw(self, frame: pd.DataFrame) -> np.ndarray:
        """The model's own values or logits [n]."""

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        """Fit the model to a data frame and its target, clamp it and certify the clamp."""
        if not isinstance(X, pd.DataFrame):
            raise SmileError("A clamped model names its protected columns; give a data frame.")
        from smilenn.model.clamp import clamp_fair

        fresh: Any = clone(self.model)
        self.model_ = fresh.fit(X, y)
        self.domain_ = Domain.from_data(X) if self.domain is None else self.domain
        if hasattr(self.model_, "classes_"):
            self.classes_ = self.model_.classes_
        dtypes = X.dtypes

        def predict(frame: pd.DataFrame) -> np.ndarray:
            return self._raw(frame[list(X.columns)].astype(dtypes))

        self.net_ = clamp_fair(predict, self.domain_, list(self.protected), float(self.eps), X)
        claims = Fair(tuple(self.protected), self.eps).lower(self.net_.domain)
        self.certificate_: Certificate = certify(self.net_, claims)
        self.n_features_in_, self.feature_names_in_ = X.shape[1], np.array(X.columns, dtype=object)
        return self

    def outputs(self, X: pd.DataFrame) -> np.ndarray:
        """Clamped values or logits [n]; rows outside the domain are moved to its edge."""
        return self.net_.predict(self.net_.domain.encode(X, out_of_bounds="clamp"))[:, 0]


class ClampedRegressor(RegressorMixin, _Clamped):
    """A regressor made ε-fair; ε in units of the target."""

    def _raw(self, frame: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.model_.predict(frame), dtype=np.float64)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """Values [n]."""
        return self.outputs(X)


class ClampedClassifier(ClassifierMixin, _Clamped):
    """A classifier of two classes made ε-fair on its logit: an odds ratio of e^ε at most."""

    def _raw(self, frame: pd.DataFrame) -> np.ndarray:
        if len(self.model_.classes_) != 2:
            raise SmileError(f"The model has {len(self.model_.classes_)} classes; a clamped classifier has two.")
        p = np.clip(self.model_.predict_proba(frame)[:, 1], CUT, 1 - CUT)
        return np.log(p) - np.log1p(-p)

    def decision_function(self, X: pd.DataFrame) -> np.ndarray:
        """Logits of the second class [n]."""
        return self.outputs(X)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """Labels [n]."""
        return self.classes_[(self.outputs(X) > 0).astype(int)]
