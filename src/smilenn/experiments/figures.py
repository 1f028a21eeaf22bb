"""The figures of the experiments; the one place that imports matplotlib.

Figures are made without pyplot, so nothing global is touched and no window can open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smilenn.errors import SmileError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = Sequence[tuple[float, float]]
COLOURS = {
    "faithful": "#3182bd",
    "default": "#d94801",
    "certifair": "#756bb1",
    "crown-ibp": "#756bb1",
    "agnostic": "#636363",
    "unaware": "#31a354",
    "isotonic": "#31a354",
    "constant": "#969696",
    "crown-ibp, paper": "#bcbddc",
    "smile, paper": "#9ecae1",
}
MARKERS = {"faithful": "s", "default": "o", "certifair": "^", "agnostic": "D", "unaware": "v", "crown-ibp": "^"}


def require() -> None:
    """An error that names the remedy where matplotlib is missing; asked before anything is computed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise SmileError(
            "The figures need matplotlib; install it with: pip install 'smilenn[report]', or ask for --no-figures."
        ) from None


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem`.png and `stem`.pdf; the same figure gives the same bytes."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    places = [stem.with_name(stem.name + suffix) for suffix in (".png", ".pdf")]
    figure.savefig(places[0], dpi=150)
    figure.savefig(places[1], metadata={"CreationDate": None})
    return places


def _axes(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Figure, np.ndarray]:
    require()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] * columns + 1.0, size[1] * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, np.asarray(axes)


def _colours(figure: Figure, axes: np.ndarray, low: float, high: float, label: str) -> None:
    """One colour bar beside all axes."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    figure.colorbar(ScalarMappable(Normalize(low, high), "viridis"), ax=list(axes.flat), label=label, shrink=0.85)


def _clean(axis: Any) -> None:
    axis.grid(alpha=0.25, linewidth=0.6)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def heat_maps(maps: Mapping[str, np.ndarray], alphas: Sequence[float], omegas: Sequence[float]) -> Figure:
    """R² by α and ω, one map a model; maps are [α, ω]."""
    figure, axes = _axes(1, len(maps), (3.6, 3.1))
    low = min(0.95, float(np.nanmin(list(maps.values()))))
    dark = low + 0.6 * (1.0 - low)  # below this the map is dark and the number white
    for axis, (name, values) in zip(axes[0], maps.items(), strict=True):
        axis.imshow(values, cmap="viridis", vmin=low, vmax=1.0, origin="lower")
        for (i, j), value in np.ndenumerate(values):
            if np.isfinite(value):
                axis.text(j, i, f"{value:.3f}", ha="center", va="center", color="white" if value < dark else "black")
        axis.set_xticks(range(len(omegas)), [f"{omega:g}" for omega in omegas])
        axis.set_yticks(range(len(alphas)), [f"{alpha:g}" for alpha in alphas])
        axis.set(title=name, xlabel="ω", ylabel="α")
    _colours(figure, axes, low, 1.0, "R²")
    return figure


def estimator(x: np.ndarray, truth: np.ndarray, curves: Mapping[str, np.ndarray]) -> Figure:
    """Monotone models over the function they approximate; all arrays [P]."""
    figure, axes = _axes(1, 1, (5.2, 3.8))
    axis = axes[0, 0]
    axis.plot(x, truth, color="#969696", linewidth=3, alpha=0.6, label="y = x + α sin(ωx)")
    for name, values in curves.items():
        style = "--" if name == "isotonic" else "-"
        axis.plot(x, values, style, color=COLOURS.get(name), linewidth=1.6, label=name)
    axis.set(xlabel="x", ylabel="y")
    axis.legend(frameon=False)
    _clean(axis)
    return figure


def evolution(curves: Sequence[Mapping[str, Any]]) -> Figure:
    """One panel a phase: the task x³, the box and the function; each curve has title, x, f, lower, upper."""
    figure, axes = _axes(1, len(curves), (3.8, 3.4), sharey=True)
    for axis, curve in zip(axes[0], curves, strict=True):
        x = np.asarray(curve["x"])
        axis.fill_between(x, curve["lower"], curve["upper"], color="#9ecae1", alpha=0.7, label="box")
        axis.plot(x, x**3, color="#636363", linestyle=":", label="y = x³")
        axis.plot(x, curve["f"], color="#d94801", linewidth=1.8, label="f")
        axis.set(title=curve["title"], xlabel="x")
        _clean(axis)
    axes[0, 0].legend(loc="upper left", frameon=False)
    return figure


def curves(lines: Mapping[str, Points], xlabel: str, ylabel: str) -> Figure:
    """One line a model through its points (x, y)."""
    figure, axes = _axes(1, 1, (5.2, 3.8))
    axis = axes[0, 0]
    for name, points in lines.items():
        style = "--" if name.endswith("paper") or name == "constant" else "-"
        axis.plot(*np.array(points).T, style, marker=MARKERS.get(name, "."), color=COLOURS.get(name), label=name)
    axis.set(xlabel=xlabel, ylabel=ylabel)
    axis.legend(frameon=False, fontsize=8)
    _clean(axis)
    return figure


def scatter(panels: Mapping[str, Mapping[str, Points]], xlabel: str, ylabel: str) -> Figure:
    """One panel a data set, one marker a trained model; points are (variation, quality)."""
    figure, axes = _axes(1, len(panels), (3.6, 3.3))
    for axis, (title, models) in zip(axes[0], panels.items(), strict=True):
        for name, points in models.items():
            axis.scatter(
                *np.array(points).T,
                s=22,
                alpha=0.75,
                color=COLOURS.get(name),
                marker=MARKERS.get(name, "."),
                label=name,
                linewidths=0,
            )
        axis.set(title=title, xlabel=xlabel)
        _clean(axis)
    axes[0, 0].set_ylabel(ylabel)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=8)
    return figure


def by_name(names: Sequence[str], points: Mapping[str, Sequence[float]], xlabel: str) -> Figure:
    """A line for each name, with a point for each model."""
    figure, axes = _axes(1, 1, (5.2, 0.3 * len(names) + 1.2))
    axis, places = axes[0, 0], range(len(names))
    for marker, (model, values) in zip("osD^v", points.items(), strict=False):
        axis.plot(values, places, marker, label=model, alpha=0.8, markersize=6)
    axis.set(xlabel=xlabel, yticks=list(places), yticklabels=list(names))
    axis.invert_yaxis()
    figure.legend(loc="outside lower center", ncols=len(points), frameon=False, fontsize=8)
    _clean(axis)
    return figure


def panels(
    grid: Mapping[str, Sequence[tuple[str, Sequence[float], Sequence[float], Sequence[float]]]],
    xlabel: str,
    ylabel: str,
    *,
    colour: str,
) -> Figure:
    """A row of panels a model, each (title, x, y, value); one colour scale for all."""
    most = max(max(value) for row in grid.values() for _, _, _, value in row)
    figure, axes = _axes(len(grid), max(len(row) for row in grid.values()), (2.5, 2.5), sharex=True, sharey=True)
    for line, (name, row) in zip(axes, grid.items(), strict=True):
        for axis, (title, x, y, value) in zip(line, row, strict=False):
            axis.scatter(x, y, c=value, s=7, cmap="viridis", vmin=0.0, vmax=most, linewidths=0)
            axis.set_title(title, fontsize=9)
            _clean(axis)
        for axis in line[len(row) :]:
            axis.set_visible(False)
        line[0].set_ylabel(f"{name}\n{ylabel}")
    for axis in axes[-1]:
        axis.set_xlabel(xlabel)
    _colours(figure, axes, 0.0, most, colour)
    return figure
