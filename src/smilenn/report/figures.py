"""The report's plots: from findings to SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from smilenn.report.dots import Dot, dots_plot
from smilenn.report.probe import Probe
from smilenn.report.quality import Group
from smilenn.report.slices import Slice
from smilenn.report.svg import Axes, number, spread
from smilenn.report.tradeoff import Point, Tradeoff

BINS = 30
NARROWEST = 60  # bars across the whole width, at most
MOST_DOTS = 400
MOST_ACROSS = 5  # names beside each other; more stand below each other
CALIBRATION_BINS = 10
CLASS = {"model": "ours", "constant": "idle", "free": "free", "unaware": "unaware", "other": "ours-weak"}


def tradeoff_plot(found: Tradeoff) -> str:
    """Quality against the guaranteed ε; references without a guarantee as horizontal lines.

    Where no rule has an ε, the models stand side by side. The constant is drawn only where it lies near the others.
    """
    promised = [p for p in found.points if p.eps is not None]
    return _against_eps(found, promised) if promised else _side_by_side(found)


def _side_by_side(found: Tradeoff) -> str:
    """Every model at a place of its own."""
    values = [v for p in found.points for v in _ends(p)]
    names = tuple(p.name for p in found.points)
    frame = Axes((-0.5, len(found.points) - 0.5), spread(values), "", found.metric, names)
    marks = []
    for i, point in enumerate(found.points):
        marks += _estimate(frame, i, point.quality, CLASS[point.kind], f"{point.name}: {found.metric}")
    return frame.svg(marks, f"{found.metric} of {len(found.points)} models")


def _against_eps(found: Tradeoff, promised: Sequence[Point]) -> str:
    """Those that promise an ε along it, the others as lines."""
    promised = sorted(promised, key=lambda p: p.eps or 0.0)
    eps = [float(p.eps or 0.0) for p in promised]
    y = spread([v for p in found.points if p.kind != "constant" for v in _ends(p)], 0.15)
    frame = Axes((0.0, max(eps) * 1.15 or 1.0), y, "ε asked for, for every input", found.metric)
    marks = [
        frame.horizontal(point.quality.value, CLASS[point.kind], "")
        for point in found.points
        if point.eps is None and y[0] <= point.quality.value <= y[1]
    ]
    marks.append(frame.line(eps, [p.quality.value for p in promised], "ours-line"))
    for x, point in zip(eps, promised, strict=True):
        tip = f"{point.name} ({point.status}): {found.metric}"
        marks += _estimate(frame, x, point.quality, CLASS[point.kind], tip)
    return frame.svg(marks, f"{found.metric} against the epsilon asked for")


def change_plot(found: Tradeoff) -> str:
    """Quality against the largest change found, every model a dot."""
    points = [p for p in found.points if p.variation is not None]
    changes = [p.variation or 0.0 for p in points]
    frame = Axes(
        (0.0, max(changes) * 1.1 or 1.0),
        spread([v for p in points for v in _ends(p)]),
        "largest change found",
        found.metric,
    )
    marks = []
    for point, change in zip(points, changes, strict=True):
        tip = f"{point.name}: change up to {number(change, 3)}, {found.metric}"
        marks += _estimate(frame, change, point.quality, CLASS[point.kind], tip)
    return frame.svg(marks, f"{found.metric} against the largest change found")


def _ends(point: Point) -> list[float]:
    quality = point.quality
    return [v for v in (quality.value, quality.low, quality.high) if v is not None]


def _estimate(frame: Axes, x: float, found: Any, name: str, tip: str) -> list[str]:
    """A dot with its interval."""
    words = f"{tip} {number(found.value)}"
    marks = []
    if found.low is not None and found.high is not None:
        words += f" (95 %: {number(found.low)} to {number(found.high)})"
        marks.append(frame.interval(x, found.low, found.high, f"{name}-whisker"))
    return [*marks, frame.dot(x, found.value, f"{name}-dot", words, 5)]


def group_plot(feature: str, groups: Sequence[Group], metric: str, overall: float) -> str:
    """The metric of each group of one feature, with intervals, beside that of all rows."""
    if len(groups) > MOST_ACROSS:
        dots = [Dot(g.value, g.quality.value, g.quality.low, g.quality.high, _group_words(g, metric)) for g in groups]
        return dots_plot(dots, f"{metric} by {feature}", f"{metric} by {feature}", line=(overall, "all rows"))
    values = [v for g in groups for v in (g.quality.value, g.quality.low, g.quality.high) if v is not None]
    frame = Axes((-0.5, len(groups) - 0.5), spread([*values, overall]), feature, metric, tuple(g.value for g in groups))
    marks = [frame.horizontal(overall, "idle", "all rows")]
    for i, group in enumerate(groups):
        marks += _estimate(frame, i, group.quality, "ours", f"{group.value}, {group.rows} rows: {metric}")
    return frame.svg(marks, f"{metric} by {feature}")


def _group_words(group: Group, metric: str) -> str:
    return f"{group.value}, {group.rows} rows: {metric} {number(group.quality.value)}"


def agreement_plot(y: np.ndarray, output: np.ndarray, name: str) -> str:
    """Predicted against true values, up to `MOST_DOTS` rows."""
    kept = np.arange(len(y)) if len(y) <= MOST_DOTS else np.linspace(0, len(y) - 1, MOST_DOTS).astype(int)
    a, b = y[kept], output[kept]
    both = spread([*a.tolist(), *b.tolist()])
    frame = Axes(both, both, f"true {name}", f"predicted {name}")
    marks = [frame.line(both, both, "idle")]
    marks += [frame.dot(float(u), float(v), "point", "", 2.5) for u, v in zip(a, b, strict=True)]
    return frame.svg(marks, "predicted against true values")


def calibration_plot(y: np.ndarray, logit: np.ndarray, name: str) -> str:
    """Observed share of positives against the predicted probability, in ten groups of equal size."""
    probability = 1 / (1 + np.exp(-np.clip(logit, -700, 700)))
    order = np.argsort(probability, kind="stable")
    frame = Axes((0.0, 1.0), (0.0, 1.0), f"predicted probability of {name}", "observed share")
    marks = [frame.line((0.0, 1.0), (0.0, 1.0), "idle")]
    xs, ys = [], []
    for part in np.array_split(order, min(CALIBRATION_BINS, len(order))):
        xs.append(float(probability[part].mean()))
        ys.append(float(y[part].mean()))
        tip = f"{len(part)} rows predicted {xs[-1]:.0%} on average: {ys[-1]:.0%} were {name}"
        marks.append(frame.dot(xs[-1], ys[-1], "ours-dot", tip, 4.5))
    return frame.svg([*marks[:1], frame.line(xs, ys, "ours-line"), *marks[1:]], "calibration")


def levels_plot(levels: Sequence[float], shares: Sequence[float]) -> str:
    """The share of targets below each quantile against its level."""
    frame = Axes((0.0, 1.0), (0.0, 1.0), "level of the quantile", "share of targets below it")
    marks = [frame.line((0.0, 1.0), (0.0, 1.0), "idle"), frame.line(levels, shares, "ours-line")]
    marks += [
        frame.dot(q, s, "ours-dot", f"{s:.1%} below the quantile of level {q:g}", 4.5)
        for q, s in zip(levels, shares, strict=True)
    ]
    return frame.svg(marks, "targets below each quantile")


def history_plot(history: Sequence[Mapping[str, Any]], keys: Sequence[str], ylabel: str, *, log: bool) -> str:
    """Quantities of the training over its units, each drawn in the class of its name; empty where none was kept."""
    every = {key: [_number(record.get(key)) for record in history] for key in keys}
    lines = {key: values for key, values in every.items() if any(v > 0 for v in values)}
    if not lines:
        return ""
    positive = [v for values in lines.values() for v in values if v > 0]
    y = _decades(positive) if log else (0.0, max(positive) * 1.06)
    frame = Axes((1, max(2, len(history))), y, "epoch or round", ylabel, log_y=log)
    marks = [frame.vertical(max(1, start), "phase", phase) for start, phase in _phases(history)]
    steps = range(1, len(history) + 1)
    marks += [frame.line(steps, values, key) for key, values in lines.items()]
    return frame.svg(marks, f"{ylabel} over the training")


def _decades(positive: Sequence[float]) -> tuple[float, float]:
    """Powers of ten around the values, at most five below the top: what lies below is drawn on the bottom line."""
    top = max(positive)
    low = max(min(positive), top * 1e-5)
    ends = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(top) + 1e-9)
    return ends if ends[0] < ends[1] else (ends[0], ends[1] * 10)


def _phases(history: Sequence[Mapping[str, Any]]) -> list[tuple[int, str]]:
    """Where each phase begins, counted from 1; a phase that would be hidden behind the next one is left out."""
    out: list[tuple[int, str]] = []
    for i, record in enumerate(history, 1):
        phase = str(record.get("phase", ""))
        if not out or out[-1][1] != phase:
            out.append((i, phase))
    room = 0.16 * len(history)
    return [
        entry
        for entry, after in zip(out, [*out[1:], None], strict=True)
        if after is None or after[0] - entry[0] >= room
    ]


def _number(value: Any) -> float:
    """A number of a record, NaN where there is none."""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else math.nan


def slice_plot(found: Slice, output: str) -> str:
    """The output along one feature with the box, and from two further rows as thin lines."""
    feature = found.feature
    values = [*found.output, *chain.from_iterable(found.others)]
    wide = float((found.high - found.low).max(initial=0.0))
    if not wide > 20 * float(np.ptp(found.output) + 1e-9):  # a wider box would dwarf the function
        values += [*found.low, *found.high]
    along = f"{feature.name} ({feature.unit_words})" if feature.unit else feature.name
    return (_names_slice if found.names else _line_slice)(found, output, along, spread(values))


def _names_slice(found: Slice, output: str, along: str, y: tuple[float, float]) -> str:
    """One place for each value of a category; many have a line each."""
    if len(found.names) > MOST_ACROSS:
        words = f"{output} by {found.feature.name}"
        return dots_plot(_name_dots(found), words, f"{words}, with the box", box=True)
    frame = Axes((-0.5, len(found.at) - 0.5), y, along, output, found.names)
    marks = [
        frame.interval(i, float(lo), float(hi), "box", 26)
        for i, (lo, hi) in enumerate(zip(found.low, found.high, strict=True))
    ]
    for line in found.others:
        marks += [frame.dot(i, float(v), "other-dot", "", 2.5) for i, v in enumerate(line)]
    marks += [frame.strip(i - 0.3, i + 0.3, float(share), "data") for i, share in enumerate(found.share)]
    for i, value in enumerate(found.output):
        box = f"{number(float(found.low[i]))} to {number(float(found.high[i]))}"
        marks.append(frame.dot(i, float(value), "ours-dot", f"{found.names[i]}: {number(float(value))}, box {box}"))
    return frame.svg(marks, f"{output} by {found.feature.name}, with the box")


def _name_dots(found: Slice) -> list[Dot]:
    """The output at every value of a category, with the box and the further rows."""
    out = []
    for i, (name, value) in enumerate(zip(found.names, found.output, strict=True)):
        low, high = float(found.low[i]), float(found.high[i])
        tip = f"{name}: {number(float(value))}, box {number(low)} to {number(high)}"
        out.append(Dot(name, float(value), low, high, tip, tuple(float(line[i]) for line in found.others)))
    return out


def _line_slice(found: Slice, output: str, along: str, y: tuple[float, float]) -> str:
    """A line over the values of a number."""
    feature = found.feature
    lo, hi = float(found.at[0]), float(found.at[-1])
    frame = Axes((lo, hi if hi > lo else lo + 1.0), y, along, output)
    marks = [frame.band(found.at, found.low, found.high, "box")]
    half = 0.4 * float(np.diff(found.at).min(initial=hi - lo))
    marks += [
        frame.strip(max(lo, at - half), min(hi, at + half), float(share), "data")
        for at, share in zip(found.at, found.share, strict=False)  # without data there are no shares
    ]
    marks += [frame.line(found.at, line, "other") for line in found.others]
    marks.append(frame.line(found.at, found.output, "ours-line"))
    at = int(np.abs(found.at - found.here).argmin())
    tip = f"the row itself: {feature.name} {number(found.here)}, {output} {number(float(found.output[at]))}"
    marks.append(frame.dot(float(found.at[at]), float(found.output[at]), "ours-dot", tip))
    return frame.svg(marks, f"{output} along {feature.name}, with the box")


def variation_plot(found: Probe, proved: float | None, left: str) -> str:
    """Histogram over rows of the largest left side found, with the limit and what was proved."""
    line = found.limit or 0.0
    values = found.value + line
    marked = [line] + ([proved] if proved is not None and math.isfinite(proved) else [])
    x = spread([*values.tolist(), *marked], 0.04)
    low, high = float(values.min()), float(values.max())
    least = (x[1] - x[0]) / NARROWEST
    if high - low < least:  # many rows in a small range are still a bar to be seen
        low, high = (low + high - least) / 2, (low + high + least) / 2
    counts, edges = np.histogram(values, bins=max(1, min(BINS, int((high - low) / least))), range=(low, high))
    frame = Axes(x, (0.0, float(counts.max()) * 1.12), left, "rows")
    marks = [
        frame.bar(float(a), float(b), int(count), "bar", f"{number(float(a))} to {number(float(b))}: {int(count)} rows")
        for a, b, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    ]
    name = f"ε = {number(line)}" if line else f"limit {number(line)}"
    marks.append(frame.vertical(line, "limit", name))
    if len(marked) > 1 and abs(marked[1] - line) > 0.02 * (x[1] - x[0]):
        marks.append(frame.vertical(marked[1], "proved", "proved", 1))
    return frame.svg(marks, f"largest value of {left} found for each row; limit {number(line)}")
