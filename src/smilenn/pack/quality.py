"""How well the model predicts, with 95 % intervals, on all rows and by group; what it is compared with.

Two classes add ranking (AUC, Gini, KS) and, for every group, how often the positive class is predicted and how often
that is wrong, each with Wilson's interval (report/quality.py).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from smilenn.report.decisions import ks
from smilenn.report.findings import Findings
from smilenn.report.quality import Estimate, bootstrap, members, wilson
from smilenn.report.standing import auc

LEVEL = 0.95


def quality(found: Findings) -> dict[str, Any]:
    """All of it, JSON-ready; NaN becomes None when it is written."""
    measured = found.quality
    assert measured is not None
    out: dict[str, Any] = {"level": LEVEL, **asdict(measured)}
    return out | {"decisions": decisions(found) if found.model.task == "binary" else None}


def decisions(found: Findings) -> dict[str, Any] | None:
    """Ranking and rates of two classes; None where the rows hold one class only."""
    rows, output = found.rows, found.output
    assert rows is not None and rows.y is not None and output is not None
    true, logit = rows.y[:, 0] > 0.5, output[:, 0]
    if true.all() or not true.any():
        return None
    area = bootstrap(lambda at: _auc(true[at], logit[at]), len(true))
    apart = bootstrap(lambda at: ks(true[at].astype(float), logit[at]), len(true))
    every = np.ones(len(true), dtype=bool)
    groups = [("all rows", "", every), *members(found.model.domain_, rows.x)]
    true, said = true != found.turned, (logit > 0) != found.turned
    return {
        "positive": found.positive_class,
        "AUC": asdict(area),
        "KS": asdict(apart),
        "groups": [
            {"feature": name, "value": value, "rows": int(at.sum()), **_rates(true[at], said[at])}
            for name, value, at in groups
        ],
    }


def _rates(true: np.ndarray, said: np.ndarray) -> dict[str, Any]:
    return {
        "predicted": _rate(said),
        "false_positive": _rate(said[~true]),
        "false_negative": _rate(~said[true]),
    }


def _rate(hits: np.ndarray) -> dict[str, Any] | None:
    return asdict(wilson(int(hits.sum()), len(hits))) if len(hits) else None


def _auc(true: np.ndarray, score: np.ndarray) -> float:
    return auc(true.astype(float), score) if 0 < true.sum() < len(true) else float("nan")


def tradeoff(found: Findings) -> dict[str, Any]:
    """The model beside a constant and whatever references were trained."""
    compared = found.tradeoff
    assert compared is not None
    points = [asdict(point) for point in compared.points]
    return {"metric": compared.metric, "rule": compared.rule, "points": points, "notes": list(compared.notes)}


def worst_end(estimate: Estimate, higher_is_better: bool) -> float | None:
    """The end of an interval on the side of worse quality."""
    return estimate.low if higher_is_better else estimate.high
