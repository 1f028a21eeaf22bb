"""How well a network predicts at the end of its training, on rows that chose its state but taught it nothing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from smilenn.report.standing import MOST_ROWS, Standing, measured, spaced, steps_of

if TYPE_CHECKING:
    from smilenn.estimators.base import SmileEstimator
    from smilenn.train.around import Foreign


IN_TIME = 2_000  # rows that are measured where a time limit has to be kept


class QualityWarning(UserWarning):
    """The fitted model is worth no more than a constant, whatever is certified of it, or a time limit cut it short."""


def warn_of_shortfall(quality: Standing) -> None:
    """Warn whoever called `fit` where the quality falls short, in the words that stand beside the verdict."""
    if quality.shortfall:
        said = f"{quality.shortfall[0].upper()}{quality.shortfall[1:]}."
        warnings.warn(said, QualityWarning, stacklevel=3)


def quality_of(
    estimator: SmileEstimator, x: np.ndarray, y: np.ndarray, held: np.ndarray, foreign: Foreign | None = None
) -> Standing:
    """The quality on the rows of x [n, m], y [n, o] that were held out ([n] bool), or on all where none were.

    A `foreign` estimator as backbone may have been fitted to any of them, and learns in no steps.
    """
    chosen = np.flatnonzero(held) if held.any() else np.arange(len(x))
    chosen = chosen[spaced(len(chosen), MOST_ROWS if estimator.time_limit is None else IN_TIME)]
    seen = y[~held] if held.any() else y
    output = estimator.net_.predict(x[chosen])
    numbers = measured(estimator.task, estimator.outputs_.names, y[chosen], output, seen)
    apart = None if foreign is not None and foreign.given else bool(held.any())
    steps = steps_of(estimator.history_)
    steps_known = None if foreign and not steps else steps
    return Standing(len(chosen), apart, steps_known, numbers, estimator.time_limit, cut=estimator.cut_short_)
