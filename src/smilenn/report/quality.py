"""How well a model predicts, with 95 % confidence intervals, on all rows and group by group.

    accuracy     Wilson's interval:  (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n)
    the others   percentiles of 500 bootstrap resamples of the rows, from a fixed seed

The intervals hold for rows drawn as these were; they say nothing about another population.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from smilenn.domain import Domain, Feature

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
    """Rows that share one value of a feature: how many, the metric there, mean output and target (NaN of several)."""

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
    low, high = (centre - wide) / (1 + Z * Z / n), (centre + wide) / (1 + Z * Z / n)
    return Estimate(p, low if hits > 0 else 0.0, high if hits < n else 1.0)  # exactly: rounding would leave 2e-17


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


CERTIFIED = "certified accuracy"  # right, and no allowed change can flip it
Measures = dict[str, Callable[[np.ndarray], float]]  # functions of row numbers, the headline first


def measures(task: str, y: np.ndarray, output: np.ndarray, names: Sequence[str]) -> Measures:
    """What outputs [n, o] are judged by against targets y [n, o], by the task; `names` [o] call several outputs."""
    if task == "binary":
        return _signs(y[:, 0], output[:, 0])
    if task == "multiclass":
        return _classes(y, output)
    if task == "multilabel":
        right = (output > 0) == (y > 0.5)
        loss = np.logaddexp(0.0, output) - y * output
        each: Measures = {f"accuracy of {name}": _mean(right[:, k]) for k, name in enumerate(names)}
        return {"accuracy": _mean(right.all(axis=1)), **each, "log loss": _mean(loss.mean(axis=1))}
    if task == "quantiles":
        return _levels(y, output, names)
    parts = [_numbers(y[:, k], output[:, k]) for k in range(y.shape[1])]
    if len(parts) == 1:
        return parts[0]
    both: Measures = {"R²": lambda rows: float(np.mean([part["R²"](rows) for part in parts]))}
    for name, part in zip(names, parts, strict=True):
        both |= {f"R² of {name}": part["R²"], f"mean absolute error of {name}": part["mean absolute error"]}
    return both


def _mean(values: np.ndarray) -> Callable[[np.ndarray], float]:
    return lambda rows: float(values[rows].mean())


def _numbers(y: np.ndarray, output: np.ndarray) -> Measures:
    """R², mean absolute error and root mean squared error."""

    def r2(rows: np.ndarray) -> float:
        spread = float(np.var(y[rows]))
        return 1.0 - float(np.mean((y[rows] - output[rows]) ** 2)) / spread if spread > 0 else math.nan

    return {
        "R²": r2,
        "mean absolute error": lambda rows: float(np.mean(np.abs(y[rows] - output[rows]))),
        "root mean squared error": lambda rows: math.sqrt(float(np.mean((y[rows] - output[rows]) ** 2))),
    }


def _levels(y: np.ndarray, output: np.ndarray, names: Sequence[str]) -> Measures:
    """Pinball loss, and how many targets lie below each quantile (as many as it says, best)."""
    levels = np.array([float(name[1:]) for name in names])
    loss = np.maximum(levels * (y - output), (levels - 1) * (y - output)).mean(axis=1)
    return {"pinball loss": _mean(loss)} | {
        f"share below {n}": _mean(y[:, k] <= output[:, k]) for k, n in enumerate(names)
    }


def _signs(y: np.ndarray, logit: np.ndarray) -> Measures:
    """Accuracy, balanced accuracy and log loss of two classes."""
    return _decided((logit > 0) == (y > 0.5), y, np.logaddexp(0.0, logit) - y * logit)


def _classes(y: np.ndarray, output: np.ndarray) -> Measures:
    """The same of several classes, y one-hot."""
    true = y.argmax(axis=1)
    loss = np.logaddexp.reduce(output, axis=1) - (y * output).sum(axis=1)
    return _decided(output.argmax(axis=1) == true, true, loss)


def right_rows(task: str, y: np.ndarray, output: np.ndarray) -> np.ndarray:
    """Which rows are decided as y [n, o] says, [n]; of labels all."""
    if task == "multiclass":
        return output.argmax(axis=1) == y.argmax(axis=1)
    return ((output > 0) == (y > 0.5)).all(axis=1)


def _decided(right: np.ndarray, codes: np.ndarray, loss: np.ndarray) -> Measures:
    def balanced(rows: np.ndarray) -> float:
        return float(np.mean([right[rows][codes[rows] == value].mean() for value in np.unique(codes[rows])]))

    return {"accuracy": _mean(right), "balanced accuracy": balanced, "log loss": _mean(loss)}


def idle(task: str, y: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """The best constant outputs [o] on targets y [n, o]: means, quantiles, log odds or log shares."""
    if task == "quantiles":
        return np.array([float(np.quantile(y[:, k], float(name[1:]))) for k, name in enumerate(names)])
    mean = y.mean(axis=0)
    if task == "regression":
        return mean
    share = np.clip(mean, 1e-9, 1 - 1e-9)
    return np.log(share) if task == "multiclass" else np.log(share) - np.log(1 - share)


def measure(
    y: np.ndarray,
    output: np.ndarray,
    domain: Domain,
    x: np.ndarray,
    *,
    task: str = "regression",
    names: Sequence[str] = ("",),
    stable_rows: np.ndarray | None = None,
) -> Quality:
    """Quality of outputs [n, o] against targets y [n, o], overall and by the features of x [n, m].

    Classes are one-hot and outputs their logits; both may be [n] for one output. The constant is the best one on these
    rows. `stable_rows` [n] are rows whose decision no allowed change can flip: how many are right as well is
    measured too (nothing flips the constant).
    """
    n, every = len(y), np.arange(len(y))
    y, output = y.reshape(n, -1), output.reshape(n, -1)
    constant = np.tile(idle(task, y, names), (n, 1))
    found, constants = measures(task, y, output, names), measures(task, y, constant, names)
    metrics = tuple(
        Metric(
            name,
            wilson(round(one(every) * n), n) if _is_share(name) else bootstrap(one, n),
            constants[name](every),
            name.startswith(("accuracy", "balanced", "R²")),
        )
        for name, one in found.items()
    )
    if stable_rows is not None:
        both = right_rows(task, y, output) & stable_rows
        metrics = (*metrics, Metric(CERTIFIED, wilson(int(both.sum()), n), constants["accuracy"](every), True))
    # groups are compared by what is a mean over rows: R² of a group would count against the group's own mean
    name = next(iter(found)) if task != "regression" else "mean absolute error"
    return Quality(n, metrics, name, tuple(_groups(y, output, domain, x, task, names, name)))


def _is_share(name: str) -> bool:
    return name.startswith(("accuracy", "share below"))


def _groups(
    y: np.ndarray, output: np.ndarray, domain: Domain, x: np.ndarray, task: str, names: Sequence[str], metric: str
) -> list[Group]:
    shown = 1 / (1 + np.exp(-np.clip(output, -700, 700))) if task == "binary" else output
    out = []
    for name, value, rows in members(domain, x):
        count = int(rows.sum())
        quality = _group_quality(y[rows], output[rows], task, names, metric)
        single = y.shape[1] == 1
        means = (float(shown[rows].mean()), float(y[rows].mean())) if single else (math.nan, math.nan)
        out.append(Group(name, value, count, quality, *means))
    return out


def members(domain: Domain, x: np.ndarray) -> Iterator[tuple[str, str, np.ndarray]]:
    """Feature, value and rows [n] of every group in x [n, m]: the values of categories that are not too many."""
    for feature in domain.features:
        codes, values = _coded(feature, x[:, domain.slices[feature.name]])
        if len(values) > MOST_VALUES:
            continue
        for code, value in enumerate(values):
            if (codes == code).any():
                yield feature.name, value, codes == code


def _coded(feature: Feature, block: np.ndarray) -> tuple[np.ndarray, Sequence[str]]:
    """The values of a feature, and which of them each row of its block [n, c] has; no values of a number."""
    if feature.kind == "category":
        return block.argmax(axis=1), feature.values
    if feature.kind == "binary":
        return (block[:, 0] > 0.5).astype(int), feature.categories or ("0", "1")
    return np.zeros(len(block), dtype=int), ()


def _group_quality(y: np.ndarray, output: np.ndarray, task: str, names: Sequence[str], metric: str) -> Estimate:
    """The metric of a group's rows; of numbers their mean absolute error."""
    count = len(y)
    if task == "regression":
        return bootstrap(_mean(np.abs(y - output).mean(axis=1)), count)
    one = measures(task, y, output, names)[metric]
    return wilson(round(one(np.arange(count)) * count), count) if _is_share(metric) else bootstrap(one, count)
