"""How well a model predicts, with 95 % confidence intervals, on all rows and group by group.

    accuracy     Wilson's interval:  (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n)
    the others   percentiles of 500 bootstrap resamples of the rows, from a fixed seed

The intervals speak of rows drawn as these were; they say nothing of another population.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from smilenn.domain import Domain

Z = 1.959963984540054  # 97.5 % quantile of the normal distribution
RESAMPLES = 500
MOST_VALUES = 12  # a feature with more values is not split into groups
LEAST_ROWS = 10  # a group with fewer rows gets no interval


@dataclass(frozen=True)
class Estimate:
    """A number and its 95 % interval; the interval is None where there are too few rows."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Metric:
    """One measure of quality: the model's, and that of the best constant on the same rows."""

    name: str
    model: Estimate
    constant: float
    higher_is_better: bool


@dataclass(frozen=True)
class Group:
    """Rows that share one value of a feature: how many, the metric there, mean output and mean target."""

    feature: str
    value: str
    rows: int
    quality: Estimate
    output: float
    target: float


@dataclass(frozen=True)
class Quality:
    """All of it; `metrics[0]` is the headline, and `group_metric` names what groups are compared by."""

    rows: int
    metrics: tuple[Metric, ...]
    group_metric: str
    groups: tuple[Group, ...]


def wilson(hits: float, n: int) -> Estimate:
    """Wilson's interval of a share.

    >>> e = wilson(90, 100)
    >>> round(e.value, 3), round(e.low, 3), round(e.high, 3)
    (0.9, 0.826, 0.945)
    """
    p = hits / n
    centre, wide = p + Z * Z / (2 * n), Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return Estimate(p, (centre - wide) / (1 + Z * Z / n), (centre + wide) / (1 + Z * Z / n))


def bootstrap(measure: Callable[[np.ndarray], float], n: int, seed: int = 0) -> Estimate:
    """The measure on all n rows, with percentiles over resamples; `measure` takes row numbers [n]."""
    value = measure(np.arange(n))
    if n < LEAST_ROWS:
        return Estimate(value)
    rng = np.random.default_rng(seed)
    drawn = [measure(rng.integers(0, n, n)) for _ in range(RESAMPLES)]
    drawn = [found for found in drawn if math.isfinite(found)]
    if not drawn:
        return Estimate(value)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def regression_measures(y: np.ndarray, output: np.ndarray) -> Mapping[str, Callable[[np.ndarray], float]]:
    """R², mean absolute error and root mean squared error as functions of row numbers."""

    def r2(rows: np.ndarray) -> float:
        spread = float(np.var(y[rows]))
        return 1.0 - float(np.mean((y[rows] - output[rows]) ** 2)) / spread if spread > 0 else math.nan

    return {
        "R²": r2,
        "mean absolute error": lambda rows: float(np.mean(np.abs(y[rows] - output[rows]))),
        "root mean squared error": lambda rows: math.sqrt(float(np.mean((y[rows] - output[rows]) ** 2))),
    }


def binary_measures(y: np.ndarray, logit: np.ndarray) -> Mapping[str, Callable[[np.ndarray], float]]:
    """Accuracy, balanced accuracy and log loss as functions of row numbers."""
    right = (logit > 0) == (y > 0.5)
    loss = np.logaddexp(0.0, logit) - y * logit

    def balanced(rows: np.ndarray) -> float:
        parts = [right[rows][y[rows] == value] for value in (0.0, 1.0)]
        return float(np.mean([part.mean() for part in parts if len(part)]))

    return {
        "accuracy": lambda rows: float(right[rows].mean()),
        "balanced accuracy": balanced,
        "log loss": lambda rows: float(loss[rows].mean()),
    }


def measure(y: np.ndarray, output: np.ndarray, domain: Domain, x: np.ndarray, *, logit: bool) -> Quality:
    """Quality of outputs [n] (logits if `logit`) against targets y [n], overall and by the features of x [n, m].

    The constant is the best one on these rows: their mean, or the logit of their share of positives.
    """
    n, every = len(y), np.arange(len(y))
    share = float(np.clip(y.mean(), 1e-9, 1 - 1e-9)) if logit else 0.0
    idle = np.full(n, math.log(share / (1 - share)) if logit else float(y.mean()))
    measures, constants = (
        (binary_measures(y, output), binary_measures(y, idle))
        if logit
        else (regression_measures(y, output), regression_measures(y, idle))
    )
    metrics = tuple(
        Metric(
            name,
            wilson(round(found(every) * n), n) if name == "accuracy" else bootstrap(found, n),
            constants[name](every),
            name in ("accuracy", "balanced accuracy", "R²"),
        )
        for name, found in measures.items()
    )
    name = "accuracy" if logit else "mean absolute error"
    mean_output = 1 / (1 + np.exp(-np.clip(output, -700, 700))) if logit else output
    return Quality(n, metrics, name, tuple(_groups(y, output, mean_output, domain, x, logit)))


def _groups(
    y: np.ndarray, output: np.ndarray, shown: np.ndarray, domain: Domain, x: np.ndarray, logit: bool
) -> list[Group]:
    out = []
    for feature in domain.features:
        block = x[:, domain.slices[feature.name]]
        if feature.kind == "category":
            codes, names = block.argmax(axis=1), feature.categories
        elif feature.kind == "binary":
            codes, names = (block[:, 0] > 0.5).astype(int), feature.categories or ("0", "1")
        else:
            continue
        if len(names) > MOST_VALUES:
            continue
        for code, value in enumerate(names):
            rows = codes == code
            count = int(rows.sum())
            if not count:
                continue
            part, found = y[rows], output[rows]
            if logit:
                quality = wilson(float(((found > 0) == (part > 0.5)).sum()), count)
            else:
                quality = bootstrap(regression_measures(part, found)["mean absolute error"], count)
            out.append(Group(feature.name, value, count, quality, float(shown[rows].mean()), float(part.mean())))
    return out
