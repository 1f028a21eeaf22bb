"""The table that `fit` is given: rows that count, missing cells filled, its domain and the claims on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from smilenn.domain import Domain, idle_columns
from smilenn.errors import SmileError
from smilenn.estimators.checks import check_inputs, check_target, check_weights
from smilenn.estimators.learned import as_pixels, learned, named_columns
from smilenn.estimators.missing import Fill, filled, learn_fill
from smilenn.estimators.options import domain_of, known_domain, network_of
from smilenn.estimators.pixels import Likeness, check_pixels, recognised
from smilenn.estimators.rules import check_directions
from smilenn.estimators.usual import Usual, learn_usual
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs

if TYPE_CHECKING:
    from smilenn.estimators.base import SmileEstimator
    from smilenn.estimators.targets import Target
    from smilenn.train.recipes import Design

HINT = "X is an array, whose columns have no names; give a data frame, and to a transformer in front"


@dataclass(frozen=True, eq=False)
class Read:
    """The rows of positive weight.

    frame : features [n, columns], complete where `fill` says by what.
    values, names, target_name : the target [n] or [n, o], what its columns are called, and its own name.
    weight : [n].
    named : whether X brought the names of its columns.
    image : whether the columns are pixels, as the user says or by their `likeness`.
    """

    frame: pd.DataFrame
    values: np.ndarray
    names: tuple[str, ...]
    target_name: str
    weight: np.ndarray
    fill: Fill
    named: bool
    image: bool = False
    likeness: Likeness | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The features' columns in the order of the data."""
        return tuple(self.frame.columns)

    def domain(self, estimator: SmileEstimator) -> Domain:
        """The estimator's domain, or one that is learned from the rows."""
        domain = self._domain(estimator)
        if self.image:
            check_pixels(domain)
        return domain

    def _domain(self, estimator: SmileEstimator) -> Domain:
        given = domain_of(estimator.domain)
        if isinstance(given, Domain):
            return given
        if not self.named:
            options = as_pixels(self.frame, given) if self.image else given
            return options.learned(self.frame.to_numpy(), missing=estimator.missing == "indicator")
        named = named_columns(estimator.all_properties(), self.columns)
        return learned(self.frame, given, named, missing=estimator.missing, unknown=estimator.unknown, image=self.image)

    def left_out(self, domain: Domain) -> dict[str, str]:
        """The columns of the rows that the domain does not read, each with the reason why."""
        gone = [str(name) for name in self.columns if name not in domain.columns]
        why = {one.column: one.why for one in idle_columns(self.frame, domain.columns)} if gone else {}
        return {name: why.get(name, "is not part of the domain") for name in gone}

    def design(self, estimator: SmileEstimator, wanted: Design, domain: Domain, target: Target) -> Design:
        """What the parameters say of the network, and what the table says of an estimator that is its backbone."""
        image = replace(wanted, encoder="image") if self.image else wanted
        network = network_of(estimator.network)
        if not network.estimator:
            return image
        from smilenn.estimators.backbone import foreign_of

        return replace(image, foreign=foreign_of(network.backbone, self.frame, self.named, domain, target))

    def usual(self, estimator: SmileEstimator, domain: Domain, x: np.ndarray) -> Usual:
        """What `predict` reads cells as that these rows x [n, m] have no place for."""
        strict = estimator.missing != "indicator" and estimator.unknown == "refuse"
        return {} if strict else learn_usual(domain, x)

    def claims(self, estimator: SmileEstimator, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        """All properties of the estimator as claims; an error about columns of an array says what they are called."""
        check_directions(estimator.monotonic_cst, self.columns)
        try:
            return estimator.lower_on(estimator.all_properties(), domain, self.columns, outputs, image=self.image)
        except SmileError as error:
            if self.named:
                raise self._explained(error, domain) from None
            raise SmileError(f"{error} ({HINT} set_output(transform='pandas').)") from None

    def _explained(self, error: SmileError, domain: Domain) -> SmileError:
        """An error about a column that was left out, with why it was; another error as it is."""
        known = {name for feature in domain.features for name in feature.raw_columns}
        gone = [one for one in idle_columns(self.frame) if one.column not in known and repr(one.column) in str(error)]
        return SmileError(f"{gone[0].sentence()} {error}") if gone else error


def read_table(
    estimator: SmileEstimator, X: Any, y: Any, sample_weight: Any, start: SmileEstimator | None = None
) -> Read:
    """X [n, columns], y [n] or [n, o] and weights [n] or None, checked; at least two rows count.

    Of a `start` it is known whether its columns are pixels.
    """
    kind = type(estimator).__name__
    named = isinstance(X, pd.DataFrame) or hasattr(X, "to_pandas")
    known = None if named else known_domain(estimator.domain)
    frame = check_inputs(X, kind, None if known is None else known.columns)
    values, target_name, names = check_target(frame, y, kind)
    weight = check_weights(sample_weight, len(frame))
    frame, values, weight = frame[weight > 0], values[weight > 0], weight[weight > 0]
    if len(frame) == 1:
        raise SmileError("The data has one sample only (n_samples = 1) that counts; give at least two rows.")
    fill = learn_fill(frame) if estimator.missing == "fill" else {}
    frame = filled(frame, fill)
    found = _likeness(estimator, frame) if start is None else None
    image = (found is not None or network_of(estimator.network).image) if start is None else start.images
    return Read(frame, values, names, target_name, weight, fill, named, image, found)


def _likeness(estimator: SmileEstimator, frame: pd.DataFrame) -> Likeness | None:
    """The images that the rows of a classifier look like."""
    if estimator.task in ("regression", "quantiles"):
        return None
    network, domain = network_of(estimator.network), domain_of(estimator.domain)
    return recognised(frame, estimator.all_properties(), network, domain)
