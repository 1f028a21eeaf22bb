"""Two classes as decisions: how well scores rank, what the labels get wrong, and for whom.

    AUC    share of (positive, negative) pairs in the right order, ties counting half;   Gini = 2 AUC − 1
    KS     max over thresholds of |share of positives above − share of negatives above|

The labels are those of `predict`: the second class where the log-odds exceed 0, a probability of one half. The positive
class is the one that was called so, else the second.
"""

from __future__ import annotations

import numpy as np

from smilenn.domain import Domain
from smilenn.report.elements import estimate_text, table
from smilenn.report.quality import Estimate, bootstrap, members
from smilenn.report.standing import auc
from smilenn.report.svg import number, text


def decisions(
    y: np.ndarray, logit: np.ndarray, domain: Domain, x: np.ndarray, positive: str, *, turned: bool = False
) -> str:
    """The part of a page about labels y [n] in {0, 1} and log-odds [n] of rows x [n, m]; both classes occur.

    `positive` is the class called 1, or with `turned` the other one.
    """
    true, said, name = (y > 0.5) != turned, (logit > 0) != turned, text(repr(positive))
    area = bootstrap(lambda rows: _auc(y[rows], logit[rows]), len(y))
    ends = [None if v is None else 2 * v - 1 for v in (area.low, area.high)]
    gini = Estimate(2 * area.value - 1, *ends)
    apart = bootstrap(lambda rows: ks(y[rows], logit[rows]), len(y))
    ranks = [("AUC", estimate_text(area)), ("Gini", estimate_text(gini)), ("KS", estimate_text(apart))]
    counts = [
        (f"{word} {name}", str(int((said & kind).sum())), str(int((~said & kind).sum())))
        for word, kind in (("actually", true), ("actually not", ~true))
    ]
    groups = [(f"{text(feature)}: {text(value)}", rows) for feature, value, rows in members(domain, x)]
    lines = [(who, str(int(rows.sum())), *rates(true[rows], said[rows])) for who, rows in groups]
    heads = ("group", "rows", f"predicted {name}", "false positive rate", "false negative rate")
    every = ("all rows", str(len(y)), *rates(true, said))
    return "\n".join(
        (
            "<h3>Ranking and decisions</h3>",
            table(("measure", "model"), ranks),
            f"<p>Labels of <code>predict</code>, at a probability of one half; {name} is the positive class:</p>",
            table(("", f"predicted {name}", f"predicted not {name}"), counts),
            table(heads, [every, *lines]),
        )
    )


def rates(true: np.ndarray, said: np.ndarray) -> tuple[str, str, str]:
    """Share of positive labels, of negatives labelled positive and of positives labelled negative; – where none is.

    >>> rates(np.array([True, True, False, False]), np.array([True, False, False, False]))
    ('0.25', '0', '0.5')
    """
    return _share(said), _share(said[~true]), _share(~said[true])


def ks(y: np.ndarray, score: np.ndarray) -> float:
    """The largest distance between the score's distribution among the 1s of y [n] and among the 0s.

    >>> ks(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.9]))
    0.5
    """
    ones = y > 0.5
    if ones.all() or not ones.any():
        return float("nan")
    at = np.unique(score)
    below = [np.searchsorted(np.sort(part), at, side="right") / len(part) for part in (score[ones], score[~ones])]
    return float(np.abs(below[0] - below[1]).max())


def _auc(y: np.ndarray, score: np.ndarray) -> float:
    return auc(y, score) if 0 < (y > 0.5).sum() < len(y) else float("nan")


def _share(values: np.ndarray) -> str:
    return number(float(values.mean()), 3) if len(values) else "–"
