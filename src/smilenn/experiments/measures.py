"""Metrics of the three experiments, and how rows are averaged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

Row = dict[str, Any]


def r2(truth: np.ndarray, predicted: np.ndarray) -> float:
    """1 − Σ(y − f)² / Σ(y − ȳ)²."""
    return float(1.0 - ((truth - predicted) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


def fall(outputs: np.ndarray) -> float:
    """The largest drop f(x') − f(x''), x' ≤ x'', along a rising grid; 0 for a monotone function.

    >>> fall(np.array([0.0, 2.0, 1.0, 3.0, 2.5]))
    1.0
    """
    return float((np.maximum.accumulate(outputs) - outputs).max())


def classified(logit: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Accuracy, balanced accuracy, area under the ROC curve and log-loss of logits [n]; truth [n] of 0 and 1."""
    from sklearn.metrics import roc_auc_score

    positive = truth > 0
    right = (logit > 0) == positive
    return {
        "accuracy": float(right.mean()),
        "balanced": float((right[positive].mean() + right[~positive].mean()) / 2),
        "auc": float(roc_auc_score(positive, logit)),
        "log_loss": float(np.mean(np.logaddexp(0.0, logit) - truth * logit)),
    }


def robust(logit: np.ndarray, truth: np.ndarray, attacked: np.ndarray, verified: np.ndarray) -> dict[str, float]:
    """Shares of images: right, right under attack, right and verified, the latter averaged over the two classes.

    `attacked` [n] is the margin that the attack left, `verified` [n] which decisions cannot be changed.
    """
    positive = truth > 0
    right = (logit > 0) == positive
    shown = right & verified
    return {
        "clean": float(right.mean()),
        "pgd": float((right & (attacked > 0)).mean()),
        "verified": float(shown.mean()),
        "balanced_verified": float((shown[positive].mean() + shown[~positive].mean()) / 2),
    }


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[Any, float]:
    """The result and the shortest of several times, after one run to warm up."""
    result, best = work(), float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return result, best


def chosen(rows: Iterable[Row], **values: Any) -> list[Row]:
    """The rows with these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in values.items())]


def mean(rows: Iterable[Row], name: str) -> float:
    """Mean of a metric; NaN for no rows."""
    values = [row[name] for row in rows if row.get(name) is not None]
    return float(np.mean(values)) if values else float("nan")


def spread(rows: Iterable[Row], name: str) -> float:
    """Standard deviation with n − 1; 0 for one row, NaN for none."""
    values = [row[name] for row in rows if row.get(name) is not None]
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0 if values else float("nan")


def proved(rows: list[Row]) -> list[str]:
    """How many are proved and how many certified: `4/5` and `3/5`, or dashes where nothing is to be proved."""
    asked = [row for row in rows if row["status"] != "none"]
    if not asked:
        return ["–", "–"]
    counts = (sum(row["status"] == "proved" for row in asked), sum(bool(row.get("certified")) for row in asked))
    return [f"{count}/{len(asked)}" for count in counts]
