"""The page of an audit: one HTML file without scripts that fetches nothing.

    outputs   for every row the bracket over time, and the worst pair in the user's columns
    labels    a changed label, the certified share of the domain, and where in it labels can change

Texts of networks and tables pass `svg.text`. The content policy allows the page's one style and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

from smilenn._version import __version__
from smilenn.auditing.audit import Audit, AuditedRow
from smilenn.auditing.labels import LabelAudit
from smilenn.certify.check_deep import decimal
from smilenn.report.document import document
from smilenn.report.elements import figure, plot_grid, table
from smilenn.report.svg import Axes, number, spread, text
from smilenn.report.write import replaced

HEADLINES = {"proved": ("Proved", "good"), "violated": ("Violated", "bad"), "unknown": ("Unknown", "open")}
MOST_PLOTS = 24  # inputs that are shown, those with the largest differences first


def write_audit_page(found: Audit | LabelAudit, path: Path | str, name: str) -> None:
    """Write the page; an existing file is replaced."""
    with replaced(Path(path)) as temporary:
        temporary.write_text(audit_page(found, name), encoding="utf-8")


def audit_page(found: Audit | LabelAudit, name: str) -> str:
    """The whole file; `name` is what the network is called."""
    style = files("smilenn.report").joinpath("page.css").read_text("utf-8")
    headline, tone = _headline(found)
    parts = labels(found) if isinstance(found, LabelAudit) else outputs(found)
    body = f"""<header>
<h1>Audit of {text(name)}</h1>
<p><span class="badge {tone}">{headline}</span> {_certificate(found.certificate)}</p>
</header>
<main>
{parts}
</main>
<footer>Written by smilenn {text(__version__)}. Pairs are replayed; bounds and the certified share are those that
the checker accepted.</footer>"""
    return document(f"Audit of {text(name)}: {headline.lower()}", style, body)


def _headline(found: Audit | LabelAudit) -> tuple[str, str]:
    """The verdict and its colour; brackets without a limit are closed or open."""
    asked = isinstance(found, LabelAudit) or any(row.rhs is not None for row in found.rows)
    if asked:
        return HEADLINES[found.status]
    return ("Brackets closed", "good") if found.status == "proved" else ("Brackets open", "open")


def _certificate(folder: Path | None) -> str:
    if folder is None:
        return "The certificate was checked and not kept; --out keeps it."
    return f"The certificate is in {text(folder)}; <code>smile check {text(folder)}</code> checks it again."


def outputs(found: Audit) -> str:
    """A section for every row."""
    return "\n".join(f"<section><h2>{text(row.row)}</h2>\n{_row(row)}\n</section>" for row in found.rows)


def _row(row: AuditedRow) -> str:
    limit = "" if row.rhs is None else f" At most {decimal(row.rhs, ROUND_FLOOR)} was asked: {text(row.status)}."
    sentence = (  # never better than what was checked: found rounded down, proved up
        f"The left side reaches {decimal(row.found, ROUND_FLOOR)} at the pair below, and never more than "
        f"{decimal(row.proved, ROUND_CEILING)}; {number(float(row.proved - row.real), 3)} of that is rounding.{limit}"
    )
    caption = "The bracket while the search went on, without rounding. The last bound is checked, earlier ones are not."
    replayed = ", ".join(f"{text(name)} {number(value, 6)}" for name, value in row.replayed.items())
    pair = _pair(row.pair) + f"<p>Left side at the pair: {replayed}.</p>"
    return f"<p>{sentence}</p>\n{figure(_course(row), caption)}\n<h3>The worst pair found</h3>\n{pair}"


def _course(row: AuditedRow) -> str:
    """found and proved over the seconds of the search; nothing where it never moved."""
    if len(row.course) < 2:
        return ""
    seconds, found, proved = (np.array(column) for column in zip(*row.course, strict=True))
    # a bound holds until the next one: steps, not slopes
    at = np.repeat(seconds, 2)[1:]
    low, high = np.repeat(found, 2)[:-1], np.repeat(proved, 2)[:-1]
    # the first bounds may be thousands of times the last; they leave the picture at its top
    shown = np.minimum(proved, proved[-1] + 20 * (proved[-1] - found[-1]) + abs(found[-1]))
    frame = Axes(spread(seconds, 0.02), spread([*found, *shown]), "seconds", "left side")
    marks = [frame.band(at, low, high, "box"), frame.line(at, low, "ours"), frame.line(at, high, "proved")]
    if row.rhs is not None:
        marks.append(frame.horizontal(float(row.rhs), "limit", "asked"))
    return frame.svg(marks, f"Bracket over time, {number(found[-1])} to {number(proved[-1])}")


def _pair(pair: pd.DataFrame) -> str:
    """Changed columns first; those that are equal are folded away."""
    a, b = (dict(zip(map(str, pair.columns), row, strict=True)) for row in pair.loc[["a", "b"]].to_numpy().tolist())
    changed = [column for column in a if a[column] != b[column]]
    equal = [column for column in a if column not in changed]
    shown = table(("column", "a", "b"), ((text(c), _cell(a[c]), _cell(b[c])) for c in changed))
    same = table(("column", "a and b"), ((text(c), _cell(a[c])) for c in equal))
    folded = f"<details><summary>{len(equal)} columns are equal</summary>{same}</details>" if equal else ""
    return shown + folded if changed else f"<p>Both inputs are the same.</p>{folded}"


def _cell(value: object) -> str:
    return number(float(value), 6) if isinstance(value, (int, float, np.number)) else text(value)


def labels(found: LabelAudit) -> str:
    """The changed label, the share, and where labels can change."""
    if found.changed is None:
        changed = f"<p>No pair of inputs was found whose label the protected column changes{text(found.compared)}.</p>"
    else:
        lines = ", ".join(f"{text(k)} {number(a)} and {number(b)}" for k, (a, b) in found.outputs.items())
        changed = f"{_pair(found.changed)}<p>Outputs, which decide by their sign: {lines}.</p>"
    parts = [f"<section><h2>A changed label</h2>\n{changed}\n</section>"]
    if found.points:
        whole, rest = divmod(10**6 * found.settled // found.points, 10**4)
        sentence = (
            f"In {whole}.{rest:04d} % of the domain ({found.settled} of {found.points} points) no change of the "
            f"protected column{text(found.compared)} changes the label. That is certified; of the rest nothing is "
            "known but the pair above."
        )
        parts.append(f"<section><h2>Certified share</h2>\n<p>{sentence}</p>\n</section>")
        caption = (
            "Share of the points that the search has settled, by ranges of one input; not checked. Labels may change "
            "where bars are short."
        )
        plots = plot_grid(_bars(found.where))
        parts.append(f"<section><h2>Where labels can change</h2>\n<p>{caption}</p>\n{plots}\n</section>")
    return "\n".join(parts)


def _bars(where: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Iterator[str]:
    """One plot an input, those that matter most first."""
    order = sorted(where, key=lambda name: -float(np.ptp(where[name][1])))
    for name in order[:MOST_PLOTS]:
        edges, shares = where[name]
        frame = Axes((float(edges[0]), float(edges[-1])), (0.0, 1.0), name, "settled")
        marks = [
            frame.bar(float(a), float(b), float(s), "bar", f"{number(a)} to {number(b - 1)}: {100 * s:.1f} % settled")
            for a, b, s in zip(edges, edges[1:], shares, strict=False)
        ]
        yield figure(frame.svg(marks, f"Settled share by {name}"), "")
