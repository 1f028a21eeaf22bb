"""The part of the page about decisions that no allowed change can flip: a curve over δ, radii, and rejection.

certified accuracy at δ = share of rows that are right and whose certified radius is δ or more
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from smilenn.report.elements import estimate_text, figure, table
from smilenn.report.findings import Findings
from smilenn.report.quality import right_rows, wilson
from smilenn.report.svg import Axes, number

NORMS: dict[Literal["inf", 2], str] = {
    "inf": "every column by itself",
    2: "all columns together, in the Euclidean norm",
}
MULTIPLES = ", in multiples of the rule's δ"
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)


def stability(found: Findings) -> str:
    """Rejection, then a curve and a table of radii for each norm that a certified rule has."""
    rows, output, model = found.rows, found.output, found.model
    if rows is None or rows.y is None or output is None:
        return ""
    kept = model.accepted(output)
    if kept is None:
        return ""
    right = right_rows(model.task, rows.y, output)
    parts = [_rejection(right, kept)]
    for norm, words in NORMS.items():
        radius, unit = model.radius(output, norm), ""
        if radius is None:  # perhaps a rule with a δ of its own for each column
            radius, unit = model.radius(output, norm, unit="delta"), MULTIPLES
        if radius is not None:
            parts.append(_curve(right, radius, words, unit))
    return "\n".join(parts)


def _rejection(right: np.ndarray, kept: np.ndarray) -> str:
    """What `predict_or_reject` does with these rows, and what is certain of it."""
    n, many = len(kept), int(kept.sum())
    lines = [("accepted share", estimate_text(wilson(many, n)))]
    if many:
        lines.append(("accuracy among accepted rows", estimate_text(wilson(int(right[kept].sum()), many))))
    if many < n:
        lines.append(("accuracy among rejected rows", estimate_text(wilson(int(right[~kept].sum()), n - many))))
    return (
        "<h3>Rejecting rows near a decision</h3>"
        "<p><code>predict_or_reject</code> gives no answer where a class leads by half of the certified bound or less. "
        "No two inputs that the certified rules relate then get two different answers, seen before or not.</p>"
        + table(("measure", "value"), lines)
    )


def _curve(right: np.ndarray, radius: np.ndarray, words: str, unit: str) -> str:
    """Certified accuracy over δ, and quantiles of the radius; `unit` says what it counts, "" for the columns' own."""
    far = float(radius.max())
    head = f"<h3>How far a row may move: {words}{unit}</h3>"
    if far == 0:
        return head + "<p>No row of these has a certified radius.</p>"
    deltas = np.unique(np.concatenate([[0.0], radius]))
    if len(deltas) > 400:
        deltas = deltas[np.linspace(0, len(deltas) - 1, 400).astype(int)]
    share = [float((right & (radius >= delta)).mean()) for delta in deltas]
    frame = Axes((0.0, far), (0.0, 1.0), f"change δ of the inputs{unit}", "certified accuracy")
    marks = [frame.line(deltas, share, "ours-line")]
    marks += [
        frame.dot(float(d), s, "ours-dot", f"certified accuracy at {number(float(d))}: {s:.1%}", 3.0)
        for d, s in list(zip(deltas, share, strict=True))[:: max(1, len(deltas) // 20)]
    ]
    plot = figure(frame.svg(marks, "certified accuracy over the change of the inputs"), "")
    cells = [number(float(np.quantile(radius, level, method="lower")), 3) for level in LEVELS]
    names = [f"{level:.0%} of rows up to" for level in LEVELS]
    return head + plot + table(("certified radius", *names), [("", *cells)])
