"""The parts of the page, each from the findings; an empty text leaves the part out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from smilenn.calibration import MOST, Calibration, temperature
from smilenn.certify.statement import claim_sentence
from smilenn.progress import duration
from smilenn.properties.claim import COPIES, Inequality
from smilenn.properties.naming import amount
from smilenn.report import figures
from smilenn.report.decisions import decisions
from smilenn.report.elements import bullets, capital, change_text, estimate_text, figure, key, plot_grid, table
from smilenn.report.findings import Findings
from smilenn.report.probe import Probe
from smilenn.report.quality import Quality
from smilenn.report.svg import number, picture, text
from smilenn.report.tradeoff import epsilon_rule
from smilenn.report.tuples import tuple_table
from smilenn.rounding import round_up, shown_bound

TIGHTEST = 3
MOST_OUTPUTS = 6  # of which plots are shown
MOST_PLOTTED = 11  # features whose groups are drawn


def rows_words(found: Findings) -> str:
    """Which rows were measured: ``held-out rows measured``."""
    what = {True: "held-out rows", False: "training rows", None: "rows"}[found.held_out]
    assert found.quality is not None
    more = f", thinned from {found.given}" if found.given > found.quality.rows else ""
    return f"{what} measured{more}"


# ---- quality --------------------------------------------------------------------------------------------------------


def quality(found: Findings) -> str:
    """Measures with intervals, calibration or agreement, groups."""
    quality, rows, output = found.quality, found.rows, found.output
    if quality is None or rows is None or rows.y is None or output is None:
        command = text(found.command("smile report MODEL --data FILE.csv --out report.html"))
        return f"<p>No rows with a known target were given: <code>{command}</code>.</p>"
    lines = [
        (text(m.name), estimate_text(m.model), number(m.constant, 3), "higher" if m.higher_is_better else "lower")
        for m in quality.metrics
    ]
    parts = [
        f"<p>On {quality.rows} {rows_words(found).split(' measured')[0]}; brackets are 95 % confidence intervals.</p>",
        table(("measure", "model", "best constant", "better is"), lines),
    ]
    if found.model.task == "binary" and 0 < rows.y.mean() < 1:
        parts.append(f"<p>{_temperature(found, rows.y[:, 0], output[:, 0])}</p>")
    overall = next((m.model.value for m in quality.metrics if m.name == quality.group_metric), None)
    if overall is None:  # a mean over several outputs
        overall = float(np.abs(rows.y - output).mean())
    parts.append(plot_grid(_agreement(found, rows.y, output) + _group_plots(quality, overall)))
    if quality.groups:
        parts.append("<h3>By group</h3>" + _group_table(found, quality))
    if found.model.task == "binary" and 0 < rows.y.mean() < 1:
        about = {"positive": found.positive_class, "turned": found.turned}
        parts.append(decisions(rows.y[:, 0], output[:, 0], found.model.domain_, rows.x, **about))
    return "\n".join(parts)


def _group_plots(quality: Quality, overall: float) -> list[str]:
    """The quality of every group, a plot for each of the first features that have some."""
    metric, features = quality.group_metric, list(dict.fromkeys(group.feature for group in quality.groups))
    return [
        figure(
            figures.group_plot(feature, [g for g in quality.groups if g.feature == feature], metric, overall),
            f"{capital(metric)} by {text(feature)}, with 95 % intervals.",
        )
        for feature in features[:MOST_PLOTTED]
    ]


def _group_table(found: Findings, quality: Quality) -> str:
    """Rows and quality by group; of a single output also its mean and the target's."""
    heads = ["group", "rows", text(quality.group_metric)]
    lines = [[f"{text(g.feature)}: {text(g.value)}", str(g.rows), estimate_text(g.quality)] for g in quality.groups]
    if not math.isnan(quality.groups[0].output):
        binary, name = found.model.task == "binary", found.model.target_name_ or "target"
        heads += ["mean probability", f"share of {text(found.positive)}"] if binary else []
        heads += [] if binary else ["mean prediction", f"mean {text(name)}"]
        for line, group in zip(lines, quality.groups, strict=True):
            line += [number(group.output, 3), number(group.target, 3)]
    return table(heads, lines)


def _agreement(found: Findings, y: np.ndarray, output: np.ndarray) -> list[str]:
    """Predictions [n, o] against what was observed: calibration of classes, labels and quantiles, or values."""
    names, task = found.model.outputs_.names, found.model.task
    words = "Calibration in groups of equal size; on the dashed line predictions mean what they say."
    if task == "binary":
        return [figure(figures.calibration_plot(y[:, 0], output[:, 0], found.positive), words)]
    if task == "multilabel":
        return [
            figure(figures.calibration_plot(y[:, k], output[:, k], name), words)
            for k, name in enumerate(names[:MOST_OUTPUTS])
        ]
    if task == "multiclass":
        others = np.array(output)
        winner = output.argmax(axis=1)
        others[np.arange(len(others)), winner] = -np.inf
        sure = output.max(axis=1) - np.logaddexp.reduce(others, axis=1)  # the logit of the winner's probability
        right = (winner == y.argmax(axis=1)).astype(np.float64)
        return [figure(figures.calibration_plot(right, sure, "the predicted class"), words)]
    if task == "quantiles":
        levels = [float(name[1:]) for name in names]
        words = "How many targets lie below each predicted quantile; on the dashed line as many as it says."
        return [figure(figures.levels_plot(levels, (y <= output).mean(axis=0).tolist()), words)]
    exact = "Every dot is a row; on the dashed line the prediction is exact."
    called = names if len(names) > 1 else (found.model.target_name_ or "target",)
    return [
        figure(figures.agreement_plot(y[:, k], output[:, k], name), exact)
        for k, name in enumerate(called[:MOST_OUTPUTS])
    ]


def _temperature(found: Findings, y: np.ndarray, logit: np.ndarray) -> str:
    """What calibration would make of the logits, and of ε."""
    best = Calibration(temperature(logit, y))
    if best.temperature <= 1 / MOST:
        return "The model separates these rows perfectly, so they cannot determine a temperature."
    words = f"Dividing the logits by {number(best.temperature, 3)} would calibrate them best on these rows."
    rule = epsilon_rule(found.model)
    if rule is None:
        return words
    eps = round_up(rule.change.eps)
    points = math.ceil(1000 * best.change(eps)) / 10  # bounds are rounded up
    return (
        f"{words} Labels would stay; ε = {amount(rule.change.eps)} on the log-odds would become "
        f"{shown_bound(best.eps(eps))}, a change of the probability by at most {points:.1f}%."
    )


# ---- guarantee ------------------------------------------------------------------------------------------------------


def guarantee(found: Findings) -> str:
    """Accuracy against guarantee, with references."""
    trade = found.tradeoff
    if trade is None:
        return ""
    parts = []
    if trade.rule:
        parts.append(f"<p>The rule that ε belongs to: {text(trade.rule)}</p>")
    idle = next(point for point in trade.points if point.kind == "constant")
    legend = key("ours", "with a guarantee, 95 % intervals") + "".join(
        key(point.kind, point.name) for point in trade.points if point.kind in ("free", "unaware")
    )
    words = f"{legend}. The best constant reaches {number(idle.quality.value, 3)}."
    plots = [figure(figures.tradeoff_plot(trade), words)]
    if any(point.variation is not None for point in trade.points[2:]):
        caption = f"{legend}{key('idle', 'constant')}. The change found by sampling, on the same rows."
        plots.append(figure(figures.change_plot(trade), caption))
    parts.append(plot_grid(plots))
    lines = [
        (
            text(p.name),
            estimate_text(p.quality),
            "–" if p.eps is None else number(p.eps),
            "–" if p.variation is None else change_text(p.variation),
            text(p.status),
        )
        for p in trade.points
    ]
    parts.append(table(("model", text(trade.metric), "ε asked for", "largest change found", "status"), lines))
    if trade.notes:
        sampled = "Changes are found by sampling: larger ones may exist."
        parts.append(f'<p class="soft">{text(" ".join([*trade.notes, sampled]))}</p>')
    else:
        command = text(found.command("smile report MODEL --data FILE.csv --references --out report.html"))
        parts.append(
            '<p class="soft">References without rules, without protected columns and with other ε are trained '
            f"on request: <code>{command}</code>.</p>"
        )
    return "\n".join(parts)


# ---- pairs and variation --------------------------------------------------------------------------------------------


def _left(probe: Probe, found: Findings) -> str:
    """What a histogram counts: the left side where all rows share a limit."""
    if probe.limit is None:
        return "left side − right side"
    if probe.claim.either:
        return "least violated alternative, its left side"
    rows = list(probe.claim.rows)
    inputs = any(t.kind == "in" for row in rows for t in row.terms)
    if probe.claim.copies == 2 and not inputs and _is_mirrored(rows):
        return f"largest |change| of {found.output_name}"
    if len(rows) > 1:
        return f"largest left side of {len(rows)} rows"
    return "left side of the rule: " + rows[0].text().rsplit(" <= ", 1)[0]


def _is_mirrored(rows: Iterable[Inequality]) -> bool:
    """Whether of every row the negation is there too."""
    every = {frozenset((t.coef, t.copy, t.name) for t in row.terms) for row in rows}
    return all(frozenset((-c, copy, name) for c, copy, name in row) in every for row in every)


def pairs(found: Findings) -> str:
    """The tuples that come closest to breaking each rule, side by side."""
    parts = []
    around = "the measured rows" if found.rows is not None else "inputs drawn from the domain"
    for probe in found.probes:
        parts.append(f"<h3>{text(claim_sentence(probe.claim, found.model.outputs_, found.model.domain_))}</h3>")
        cards = [_pair_card(found, probe, place, i) for place, i in enumerate(probe.tightest(TIGHTEST), 1)]
        parts.append(f'<div class="pairs">{"".join(cards)}</div>')
    if not parts:
        return ""
    beyond = " by more than its room for rounding" if any(r.certified and r.bound > 0 for r in found.rules) else ""
    start = (
        f"<p>The inputs that come closest to breaking each rule, found by searching around {around}. Highlighted "
        "inputs differ between the copies. Closer ones may exist; none breaks a certified rule"
        f"{beyond}.</p>"
    )
    return start + "\n".join(parts)


def _pair_card(found: Findings, probe: Probe, place: int, i: int) -> str:
    """One tuple, with how close it comes."""
    value, limit = float(probe.value[i]), probe.limit
    slack = f"{number(-value)} to spare" if value < 0 else f"over by {number(value)}" if value > 0 else "at the limit"
    left = "" if not limit else f'<p class="soft">{number(value + limit)}, where the limit is {number(limit)}</p>'
    title = f"<h4>{place}. {slack}{found.unit}</h4>{left}"
    return f'<div class="pair">{title}{_shown(found, probe.tuples[i], probe.outputs[i])}</div>'


def _shown(found: Findings, x: np.ndarray, outputs: np.ndarray) -> str:
    """A tuple [k, m] as pictures where it is images, else as a table."""
    if found.image is None:
        return tuple_table(found, x, outputs)
    lo, hi = float(found.model.domain_.lo.min()), float(found.model.domain_.hi.max())
    shades = (x - lo) / (hi - lo if hi > lo else 1.0)
    shown = [(COPIES[c], shades[c], found.said(outputs[c])) for c in range(len(x))]
    if len(x) == 2:
        change = shades[1] - shades[0]
        most = float(np.abs(change).max())
        words = f"grey: none; white and black: {number(most, 3)} of the range"
        shown.append(("b − a", 0.5 + change / (2 * most) if most > 0 else 0.5 + change, words))
    cells = []
    for name, values, words in shown:
        image = picture(values.reshape(found.image), f"{name}: {words}")
        cells.append(f"<figure>{image}<figcaption><b>{name}</b><br>{text(words)}</figcaption></figure>")
    return f'<div class="strip">{"".join(cells)}</div>'


def variation(found: Findings) -> str:
    """Histograms of the largest change found around each row."""
    plots = [_variation_figure(found, probe) for probe in found.probes if len(probe.value) >= 2]
    if not plots:
        return ""
    return (
        "<p>Each row was changed as far as the rule allows. The histograms show the largest value of the rule's left "
        "side found for each row; beyond the dashed line the rule would be broken.</p>" + plot_grid(plots)
    )


def _variation_figure(found: Findings, probe: Probe) -> str:
    proved = proved_left(found, probe)
    plot = figures.variation_plot(probe, proved, _left(probe, found))
    sentence = claim_sentence(probe.claim, found.model.outputs_, found.model.domain_)
    largest = float(probe.value.max()) + (probe.limit or 0.0)
    shown = ""
    if proved is not None and math.isfinite(proved):
        shown = f" Proved for every input: at most {shown_bound(proved)}."
    return figure(plot, f"{text(sentence)} Largest found around {len(probe.value)} rows: {number(largest)}.{shown}")


def proved_left(found: Findings, probe: Probe) -> float | None:
    """What the certificate proves of the left side, for all inputs; None without one."""
    certificate = found.model.certificate_
    if certificate is None or probe.claim not in certificate.claims or not certificate.report.claims:
        return None
    rows = certificate.report.claims[certificate.claims.index(probe.claim)].rows
    return round_up(max(row.bound + row.margin - row.rhs for row in rows) + Fraction(probe.limit or 0.0))


# ---- slices and training --------------------------------------------------------------------------------------------


def slices(found: Findings) -> str:
    """The output along each input, with the box."""
    if not found.slices:
        return ""
    origin = "the row of median output" if found.rows is not None else "a point drawn from the domain"
    legend = (
        key("ours", f"through {origin}")
        + key("idle", "through rows of low and of high output")
        + key("k-box", "the box: the output lies in it whatever the backbone does")
        + (key("k-data", "where the rows lie") if found.rows is not None else "")
    )
    called = dict(zip(found.model.outputs_.names, found.output_names, strict=True))
    plots = [figure(figures.slice_plot(part, called[part.name]), "") for part in found.slices]
    more = len(found.model.domain_.features) - len({part.feature.name for part in found.slices})
    note = f'<p class="soft">{more} more inputs are not shown; those the rules name come first.</p>' if more else ""
    wide = max(float((part.high - part.low).max()) for part in found.slices)
    words = "The box has closed: both ends are equal, so the certified part alone makes the prediction."
    closed = "" if wide > 0 else f"<p>{words}</p>"
    return f"<p>One input changes, the others stay. {legend}</p>{closed}{plot_grid(plots)}{note}"


def training(found: Findings) -> str:
    """Violation, bound, box width and loss over the training."""
    history = list(found.model.history_)
    if not history:
        return ""
    moves = f"how far the backbone may move {text(found.output_name)} within the box, mean over rows"
    drawn = (
        (
            ("violation", "bound"),
            "violation",
            True,
            key("k-violation", "largest violation found by search")
            + key("k-bound", "proved bound on it")
            + "; the bottom line means none",
        ),
        (("width",), "mean box width", False, key("k-width", moves)),
        (
            ("loss", "held_out"),
            "loss",
            True,
            key("k-loss", "on training rows")
            + (key("k-held_out", "on held-out rows") if any("held_out" in record for record in history) else "")
            + "; 1 is the best constant's",
        ),
    )
    plots = [figure(figures.history_plot(history, keys, label, log=log), words) for keys, label, log, words in drawn]
    lines = [(text(name), str(count), text(duration(spent))) for name, count, spent in _phases(history)]
    made = bullets(text(line) for line in found.model.explain().splitlines() if line)
    room = (
        "leaves the backbone no room"
        if not any(record.get("width") for record in history)
        else ("is as wide as they allow")
    )
    searched = any(record.get("violation") is not None for record in history)  # as the folder notes it
    closed = (
        "<p>Training did not search for counterexamples: the network keeps the rules by construction, and the box "
        f"{room}.</p>"
        if not searched and all(rule.certified for rule in found.rules)
        else ""
    )
    return (
        closed
        + plot_grid(plots)
        + table(("phase", "epochs or rounds", "time"), lines)
        + f"<h3>How it was made</h3>{made}"
    )


def _phases(history: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, float]]:
    """Every phase with its units and seconds."""
    phases: dict[str, tuple[int, float]] = {}
    before = 0.0
    for record in history:
        name = str(record.get("phase", ""))
        count, spent = phases.get(name, (0, 0.0))
        now = float(record.get("seconds") or before)
        phases[name], before = (count + 1, spent + max(0.0, now - before)), now
    return [(name, *entry) for name, entry in phases.items()]
