"""The first part of the page: verdict, rules, certificate and what it assumes, what is not guaranteed, the domain."""

from __future__ import annotations

import math

import numpy as np

from smilenn.certify.about import HEADING
from smilenn.certify.verdicts import claim_words
from smilenn.domain import Domain
from smilenn.report.elements import bullets, table
from smilenn.report.findings import Findings, Rule
from smilenn.report.quality import CERTIFIED, Metric, Quality
from smilenn.report.sections import proved_left, rows_words
from smilenn.report.standing import auc
from smilenn.report.svg import number, text
from smilenn.report.tuples import tuple_table
from smilenn.rounding import shown_bound


def summary(found: Findings) -> str:
    """Verdict, rules, certificate, what is not guaranteed, the domain."""
    shown = "".join(f'<div class="tile"><b>{value}</b><span>{words}</span></div>' for value, words in _tiles(found))
    parts = [
        f'<div class="tiles">{shown}</div>',
        "<h3>The rules, for every input in the domain</h3>",
        *(_rule(rule, found.unit) for rule in found.rules),
    ]
    if not found.rules:
        parts.append("<p>No rules were stated.</p>")
    if found.example is not None:
        parts.append(
            f"<h3>Counterexample</h3><p>{text(found.example.row)} fails by {number(found.example.violation)}"
            f"{found.unit}, evaluated by the network itself.</p>"
        )
        parts.append(tuple_table(found, found.example.x, np.asarray(found.example.outputs)))
    if found.certificate:
        command = text(found.command("smile check MODEL"))
        parts.append(
            "<h3>Certificate</h3><p>An independent program checked it in exact arithmetic from the model folder alone. "
            f"Anyone can repeat that: <code>{command}</code>, or the checker's one file with plain Python.</p>"
            f'<p class="hash">SHA-256 {text(found.certificate)}</p>'
        )
    else:
        parts.append(f"<h3>No accepted certificate</h3><p>{text(found.model.certificate_note_)}</p>")
    parts.append(_assumed(found))
    parts.append("<h3>What is not guaranteed</h3>" + bullets(map(text, found.limits)))
    parts.append("<h3>The domain</h3>" + _domain_table(found.model.domain_))
    return "\n".join(parts)


def _tiles(found: Findings) -> list[tuple[str, str]]:
    """Figures that matter most, each with its words."""
    tiles = [(f"{sum(rule.certified for rule in found.rules)} of {len(found.rules)}", "rules certified")]
    if found.quality is not None:
        tiles += _quality_tiles(found, found.quality)
    tiles += [
        (
            "< 1e−9" if 0 < proved < 1e-9 else shown_bound(proved),
            f"largest change, proved for every input; {number(probe.limit or 0.0)} allowed",
        )
        for probe in found.probes
        if probe.limit and (proved := proved_left(found, probe)) is not None and math.isfinite(proved)
    ][:1]
    if found.quality is not None:
        tiles.append((f"{found.quality.rows:,}".replace(",", " "), rows_words(found)))
    return tiles


def _quality_tiles(found: Findings, quality: Quality) -> list[tuple[str, str]]:
    """AUC of two classes, or the first measure and the second; what is certified stable."""
    area = _area(found)
    tiles = [] if area is None else [(number(area, 3), "AUC; a constant: 0.5")]
    tiles += [_measure_tile(one) for one in quality.metrics[: 1 if tiles else 2]]
    return tiles + [
        (number(one.model.value, 3), "correct and certified stable") for one in quality.metrics if one.name == CERTIFIED
    ]


def _area(found: Findings) -> float | None:
    """The AUC of two classes that both occur."""
    rows, output = found.rows, found.output
    if found.model.task != "binary" or rows is None or rows.y is None or output is None or not 0 < rows.y.mean() < 1:
        return None
    return auc(rows.y[:, 0], output[:, 0])


def _measure_tile(one: Metric) -> tuple[str, str]:
    """A measure with its interval, beside a constant's."""
    low, high = one.model.low, one.model.high
    span = "" if low is None or high is None else f", 95 %: {number(low, 3)} to {number(high, 3)}"
    constant = f"; a constant: {number(one.constant, 3)}" if math.isfinite(one.constant) else ""
    return number(one.model.value, 3), f"{text(one.name)}{span}{constant}"


def _rule(rule: Rule, unit: str) -> str:
    tone, word = "good" if rule.certified else "open", claim_words(rule.bound, rule.certified, unit)
    more = "".join(f'<p class="soft">{text(line)}</p>' for line in rule.more)
    return (
        f'<div class="rule"><p><b>{text(rule.sentence)}</b></p>{more}<span class="badge {tone}">{text(word)}</span>'
        f'<details><summary>Formula</summary><span class="formula">{text(rule.formula)}</span></details></div>'
    )


def _assumed(found: Findings) -> str:
    """What every checked bound takes for granted, behind a disclosure."""
    if not found.assumed:
        return ""
    lines = bullets(text(item.line) for item in found.assumed)
    return f"<details><summary>{text(HEADING)} {len(found.assumed)} things</summary>{lines}</details>"


def _domain_table(domain: Domain) -> str:
    rows = []
    for feature in domain.features[:200]:
        if feature.categories:
            values = ", ".join(map(repr, feature.values[:12])) + ("…" if len(feature.categories) > 12 else "")
        else:
            values = feature.range_words + (f" {feature.unit_words}" if feature.unit else "")
        rows.append((text(feature.name), text(feature.kind), text(values)))
    more = len(domain.features) - len(rows)
    note = f'<p class="soft">{more} more inputs are not shown.</p>' if more > 0 else ""
    listed = table(("input", "kind", "values"), rows)
    return f"<details><summary>{len(domain.features)} inputs</summary>{listed}{note}</details>"
