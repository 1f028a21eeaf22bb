"""Somebody else's model as an estimator: fitted as it is, then clamped to be ε-fair, certified.

    f(x) = m(x) cut to the middle of what m says over all protected values, ± ε/2         (model/clamp.py)

m is any scikit-learn regressor, or a classifier with probabilities, whose logit is clamped. The certificate covers the
clamp and assumes of m that the same call gives the same bits again. `fit` and `load` look whether it does; where it
does not, nothing is certified.

A saved clamp is a model folder without m, which is the user's to keep in whatever form suits it; `load` puts m back in
and compares what it says with the folder's self-test.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from smilenn.certify.about import About, assumptions
from smilenn.certify.certify import certify
from smilenn.certify.verdicts import METHOD, Certificate, examine
from smilenn.certify.verdicts import verdict as checked_verdict
from smilenn.domain import Domain
from smilenn.domain.arrow import plain_column, without_arrow
from smilenn.errors import AlteredError, SmileError, listed
from smilenn.estimators.inside import (
    estimators_within,
    refuse_odd_columns,
    refuse_target,
    same_estimators,
    was_given,
)
from smilenn.estimators.judgement import Judgement, bound, certified_part, current, withdrawn
from smilenn.estimators.measured import Measured
from smilenn.estimators.notebook import verdict_html
from smilenn.estimators.options import Columns, domain_of
from smilenn.estimators.parameters import Parameters, stored
from smilenn.estimators.targets import TaskName, class_names, plain_labels
from smilenn.model.answers import are_probabilities, in_order, logit, numbers_of
from smilenn.model.bundle import MODEL, load_net, save_net
from smilenn.model.clamp import CENTRE, Foreign, MidRange, clamp_fair, parts
from smilenn.model.fitted_columns import dtype_of, dtype_words, typed
from smilenn.model.folder import parse_json, read_folder
from smilenn.model.net import SmileNet
from smilenn.model.selftest import NAME, batch_dependent
from smilenn.model.unfitted import unfitted_copy
from smilenn.properties.claim import Claim
from smilenn.properties.forms import ROLES, Outputs
from smilenn.properties.library import Fair
from smilenn.properties.naming import output_words
from smilenn.properties.spec import properties_to_json
from smilenn.reason import Reason, because
from smilenn.report.standing import Standing, measured, spaced
from smilenn.verdict import Unknown, Verdict

MOST_MEASURED = 200  # rows: every one is a call of the model for each protected value


class Clamped(Measured, Parameters, ABC):
    """What both share.

    Parameters
    ----------
    model : an unfitted scikit-learn estimator (or pipeline) that takes data frames.
    protected : columns that may change the output by at most `eps`, together; they have finitely many values.
    domain : the inputs the certificate covers, as in `SmileRegressor`: None or `Columns` learns them from X.
    """

    model: Any
    protected: Sequence[str]
    eps: float
    domain: Domain | Columns | Mapping[str, Any] | None
    task: ClassVar[TaskName]
    classes_: np.ndarray
    target_name_: str | None

    @stored
    def __init__(
        self,
        model: Any,
        protected: Sequence[str] = (),
        eps: float = 0.1,
        *,
        domain: Domain | Columns | Mapping[str, Any] | None = None,
    ) -> None:
        """Store the parameters."""

    @abstractmethod
    def _raw(self, frame: pd.DataFrame) -> np.ndarray:
        """The model's own values or logits [n]."""

    @abstractmethod
    def _take_classes(self, y: Any) -> None:
        """Keep the classes of the fitted model, if it has any; a model of the other kind, or a target of other classes,
        is an error: sentences would be about another output than the one that is clamped.
        """

    @abstractmethod
    def _refuse_other(self) -> None:
        """Raise where the model that was put back into a loaded clamp decides between other classes."""

    def _refuse_labels(self, y: Any) -> None:
        """Raise where the target of a classifier holds classes that no file keeps; a regressor has none."""

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        """Fit the model to a data frame and its target, clamp it and certify the clamp."""
        if not isinstance(X, pd.DataFrame):
            raise SmileError("A clamped model names its protected columns; give a data frame.")
        X, y = without_arrow(X), plain_column(y)  # its types could not be saved
        refuse_target(X, y)
        refuse_odd_columns(X)
        self._refuse_labels(y)
        given = domain_of(self.domain)
        fresh = unfitted_copy(self.model, "give it fitted, as FrozenEstimator(model)")
        self.model_ = fresh.fit(X, y)
        self.domain_ = given.learned(X) if isinstance(given, Columns) else given
        self._take_classes(y)
        self.n_features_in_, self.feature_names_in_ = X.shape[1], np.array(X.columns, dtype=object)
        self.dtypes_ = dict(X.dtypes)
        self.target_name_ = str(y.name) if isinstance(y, pd.Series) and y.name is not None else ""
        self._refuse_changed(X)
        self.quality_ = None  # what was measured of another model does not stand beside this one's certificate
        self.net_ = clamp_fair(self._predicted, self.domain_, list(self.protected), float(self.eps), X)
        claims = self.claims_
        about = About(self.outputs_, self.net_.domain, assumptions(pinned=True))
        proved = replace(certify(self.net_, claims, table=self.table()), about=about)
        certificate = _refuse_batch_dependent(proved, self.net_)
        unknown = Unknown(METHOD, why=certificate.why)
        judgement = Judgement(checked_verdict(certificate) if certificate.accepted else unknown, certificate)
        self._judgement = bound(judgement, self, self.net_, self.net_.domain, claims, self.table())
        self._tested = estimators_within(self.model_)
        self.quality_ = None if y is None else self._measured(X, y)
        return self

    def _measured(self, X: pd.DataFrame, y: Any) -> Standing:
        """The clamp's quality on the rows of `fit`; of many on some, because each is asked by itself."""
        numbers = self._as_numbers(np.asarray(y).reshape(len(X), -1)[:, :1])
        rows = spaced(len(X), MOST_MEASURED)
        output = self.outputs(X.iloc[rows]).reshape(-1, 1)
        found = measured(self.task, self.outputs_.names, numbers[rows], output, numbers)
        return Standing(len(rows), None if was_given(self.model_) else False, None, found)

    @abstractmethod
    def _as_numbers(self, y: np.ndarray) -> np.ndarray:
        """The target [n, 1] as quality is measured by: numbers, or 1 for the second class."""

    @property
    def verdict_(self) -> Verdict:
        """`Proved` (certified) or `Unknown`; of a clamp that was changed since it was judged always the latter."""
        return self._judged().verdict

    @property
    def certificate_(self) -> Certificate | None:
        """The certificate with the checker's report; None without one, or after a change."""
        return self._judged().certificate

    def _judged(self) -> Judgement:
        check_is_fitted(self, "net_")
        if self._judgement.binding and not (
            self._asks_own() and same_estimators(self._tested, estimators_within(self.model_))
        ):
            return withdrawn(Reason.CHANGED)  # that a call repeats was seen of another model
        return current(self._judgement, self, self.net_, self.net_.domain, self.claims_, self.table())

    def _asks_own(self) -> bool:
        """Whether the network asks the model of this clamp, in the way of its class, and not that of another one."""
        asked = [part.variants for part in self.net_.modules() if isinstance(part, Foreign | MidRange)]
        return bool(asked) and all(variants.asks(self, type(self)._predicted) for variants in asked)

    def __copy__(self) -> Self:
        """A clamp of its own around the same model: fitting one again leaves the other as it is."""
        out = type(self).__new__(type(self))
        vars(out).update(vars(self))
        if "net_" in vars(self):
            own = self.net_, self._judgement  # a judgement names the network that it was made on
            out.net_, out._judgement = copy.deepcopy(own, {id(self): out})
        return out

    @property
    def claims_(self) -> tuple[Claim, ...]:
        """What the clamp promises, as claims on its domain."""
        return self._property().lower(self.net_.domain)

    @property
    def outputs_(self) -> Outputs:
        """What the output is: the predicted number, or the log-odds of the second class."""
        classes = class_names(self.classes_) if hasattr(self, "classes_") else ()
        return Outputs(classes=classes, target=self.target_name_ or "", role=ROLES.get(self.task, "output"))

    def counterexample(self) -> None:
        """None: a clamp keeps its promise by construction, so that nothing is searched."""

    def _html_repr(self) -> str:
        """scikit-learn's diagram, with verdict and quality below it once there are any."""
        diagram = estimator_html_repr(self)
        return diagram + verdict_html(self) if "net_" in vars(self) else diagram

    def table(self) -> dict[str, Any]:
        """How the columns of a frame become inputs, JSON-ready; the certificate's digest covers it."""
        table: dict[str, Any] = {
            "columns": [str(name) for name in self.feature_names_in_],
            "dtypes": [dtype_words(dtype) for dtype in self.dtypes_.values()],
            **self._meaning(),
        }
        if hasattr(self, "classes_"):
            table["classes"], table["classes_dtype"] = self.classes_.tolist(), self.classes_.dtype.str
        return table

    def _meaning(self) -> dict[str, Any]:
        """What the output is, for checkers to print; older folders do not name the target."""
        said = output_words(self.outputs_, "")
        if self.target_name_ is not None:
            return {"task": self.task, "target": self.target_name_, "meaning": [said]}
        return {"meaning": [f"{said}, clamped" if hasattr(self, "classes_") else "the model's own value, clamped"]}

    def _property(self) -> Fair:
        return Fair(tuple(self.protected), self.eps)

    def _predicted(self, frame: pd.DataFrame) -> np.ndarray:
        """What the model says of a decoded frame."""
        return self._raw(self._as_fitted(frame))

    def _as_fitted(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A decoded frame with columns in the order and of the types that the model was fitted to."""
        return pd.DataFrame({name: typed(frame[name], self.dtypes_[name]) for name in self.feature_names_in_})

    def _refuse_changed(self, X: pd.DataFrame) -> None:
        """Refuse columns that the domain does not give back: the model would be asked about other rows."""
        x = self.domain_.read(X)
        inside = ((x >= self.domain_.lo) & (x <= self.domain_.hi)).all(axis=1)
        own, back = X[inside], self._as_fitted(self.domain_.decode(x[inside]))
        for name in self.feature_names_in_:
            if not (own[name].reset_index(drop=True) == back[name]).all():
                raise SmileError(
                    f"Column {name!r} is read as numbers, and the model would not get its own cells back; turn it into "
                    "numbers before the model sees it."
                )

    def save(self, folder: Path | str, *, overwrite: bool = False) -> None:
        """Save clamp and certificate as a model folder for `load` and ``smile check``; the model is not in it."""
        if self.certificate_ is None:
            raise SmileError("This clamp was saved in format version 1 and carries no certificate; fit it again.")
        params = {"protected": list(self.protected), "eps": float(self.eps)}
        claims = [claim.to_json() for claim in self.claims_]
        learned = {"quality": None if self.quality_ is None else self.quality_.to_json()}
        save_net(
            folder,
            self.net_,
            model={"estimator": type(self).__name__, "params": params, "table": self.table(), "learned": learned},
            documents={"properties.json": {"properties": properties_to_json([self._property()]), "claims": claims}},
            extra=self.certificate_.files,
            overwrite=overwrite,
        )

    @classmethod
    def load(cls, folder: Path | str, model: Any) -> Self:
        """The clamp that was saved as `folder` around `model`, the fitted model that was in it.

        The certificate is checked again, and `model` must say what it said when the clamp was saved (within 1e-9).
        """
        files = read_folder(folder)
        stored = parse_json(files[MODEL], str(Path(folder) / MODEL)) if MODEL in files else None
        if not isinstance(stored, dict) or stored.get("estimator") != cls.__name__:
            raise SmileError(f"{str(folder)!r} holds no {cls.__name__}; load what was saved as one.")
        first = "table" not in stored  # as version 1 had it
        params, learned = stored["params"], stored["learned" if first else "table"]
        out = cls(model, tuple(params["protected"]), params["eps"])
        out.model_, out.domain_ = model, Domain.from_json(stored["net"]["domain"])
        out.feature_names_in_ = np.array(learned["columns"], dtype=object)
        out.n_features_in_ = len(out.feature_names_in_)
        out.target_name_ = learned.get("target")
        out.dtypes_ = dict(zip(learned["columns"], map(dtype_of, learned["dtypes"]), strict=True))
        if "classes" in learned:
            out.classes_ = np.array(learned["classes"], dtype=np.dtype(learned["classes_dtype"]))
        out._refuse_other()
        foreign, centre = parts(out._predicted, out.domain_, out.protected)
        out.net_, _ = load_net(folder, backbone=foreign, modules={CENTRE: centre})
        quality = stored.get("learned", {}).get("quality") if NAME in files else None  # a self-test is of one model
        out.quality_ = None if quality is None else Standing.from_json(quality)
        if first:
            out._judgement = Judgement(Unknown(why=because(Reason.FIRST_PINNED)))
            return out
        found = examine(Path(folder))
        claims = out.claims_
        stated = [claim.to_json() for claim in claims]
        if not isinstance(found, Certificate) or [claim.to_json() for claim in found.claims] != stated:
            reason = "it proves other claims" if isinstance(found, Certificate) else found.reason
            raise AlteredError(f"The certificate in {str(folder)!r} does not check: {reason}; fit the clamp again.")
        if found.model != certified_part(out.net_, out.table()):
            raise AlteredError(f"{str(folder)!r} was changed while it was read; load it again.")
        judgement = Judgement(checked_verdict(found), found)
        out._judgement = bound(judgement, out, out.net_, out.net_.domain, claims, out.table())
        out._tested = estimators_within(model)
        return out

    def outputs(self, X: pd.DataFrame) -> np.ndarray:
        """Clamped values or logits [n]; rows outside the domain are moved to its edge."""
        return self.net_.predict(self.net_.domain.encode(X, out_of_bounds="clamp"))[:, 0]


def _refuse_batch_dependent(certificate: Certificate, net: SmileNet) -> Certificate:
    """The certificate, unless the model was seen to give equal rows different bits: then one that proves nothing."""
    reason = batch_dependent(net)
    if not reason:
        return certificate
    report = replace(certificate.report, status="unknown", claims=())
    return replace(certificate, files={}, report=report, notes=(reason,))


class ClampedRegressor(RegressorMixin, Clamped):
    """A regressor made ε-fair; ε in units of the target."""

    task: ClassVar[TaskName] = "regression"

    def _take_classes(self, y: Any) -> None:
        self._refuse_other()

    def _refuse_other(self) -> None:
        own = getattr(self.model_, "classes_", None)  # CatBoost's regressors have an empty list
        if (own is not None and len(own)) or hasattr(self, "classes_"):
            raise SmileError("The model is a classifier; ClampedClassifier clamps its log-odds.")

    def _as_numbers(self, y: np.ndarray) -> np.ndarray:
        return y.astype(np.float64)

    def _raw(self, frame: pd.DataFrame) -> np.ndarray:
        self._refuse_other()  # it may have become a classifier
        found = numbers_of(self.model_.predict(frame), "predictions")
        return found[:, 0] if found.shape == (len(frame), 1) else found

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """Values [n]."""
        return self.outputs(X)


class ClampedClassifier(ClassifierMixin, Clamped):
    """A classifier of two classes made ε-fair on its logit: an odds ratio of e^ε at most."""

    task: ClassVar[TaskName] = "binary"

    def _take_classes(self, y: Any) -> None:
        self.classes_ = self._own_classes()
        known = set(self.classes_.tolist())
        other = [label for label in np.ravel([] if y is None else np.asarray(y)).tolist() if label not in known]
        if other:
            raise SmileError(
                f"The target holds {other[0]!r}, which is none of the model's classes {listed(self.classes_)}; "
                "give the classes that the model was fitted to."
            )

    def _refuse_other(self) -> None:
        own, saved = class_names(self._own_classes()), class_names(self.classes_)
        if own != saved:
            raise SmileError(
                f"The model decides between {listed(own)}, and the one that was clamped between {listed(saved)}; give "
                "the model that was in the clamp."
            )

    def _own_classes(self) -> np.ndarray:
        """The two classes of the model."""
        found = getattr(self.model_, "classes_", None)
        if found is None:
            raise SmileError("The model has no classes; ClampedRegressor clamps the number that it predicts.")
        if len(found) != 2:
            raise SmileError(f"The model has {len(found)} classes; a clamped classifier has two.")
        plain_labels(np.asarray(found))
        return np.asarray(found)

    def _refuse_labels(self, y: Any) -> None:
        plain_labels(np.asarray(pd.Series(np.ravel([] if y is None else np.asarray(y))).unique()))

    def _as_numbers(self, y: np.ndarray) -> np.ndarray:
        return (y == self.classes_[1]).astype(np.float64)

    def _raw(self, frame: pd.DataFrame) -> np.ndarray:
        self._refuse_other()  # it may have been fitted again, to other classes
        both = numbers_of(in_order(self.model_.predict_proba(frame), self.classes_), "probabilities")
        if not are_probabilities(both, len(frame), 2):
            raise SmileError(
                "The model's probabilities of a row are not two that sum to one; a clamped classifier decides between "
                "two classes, so give a model of one label."
            )
        return logit(both[:, 1])

    def decision_function(self, X: pd.DataFrame) -> np.ndarray:
        """Logits of the second class [n]."""
        return self.outputs(X)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """Labels [n]."""
        return self.classes_[(self.outputs(X) > 0).astype(int)]
