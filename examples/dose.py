"""A dose that harms more and more: convex in the dose for every patient, certified, and curved where the data are.

    f(dose, age, weight) = e(age, weight) + Σ_j v_j·relu(d_j·dose + c_j·e(age, weight) + b_j)        v_j ≥ 0

Every unit is convex in the dose, whatever was learned, and so is their sum; age and weight enter freely. The checker
reads this off the weights, unit by unit, without a search (docs/certificate.md §4.5), and counts what the rounding of
floats may add: the margin. Beside it stands an ordinary network, which is free to bend either way, and does.

    python examples/dose.py [FIGURE.png]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smilenn import Columns, Config, Convex, Monotone, SmileRegressor

BOUNDS = {"dose": (0.0, 10.0), "age": (20.0, 80.0), "weight": (50.0, 110.0)}


def harm(frame: pd.DataFrame) -> np.ndarray:
    """What is measured, without noise: flat up to a dose that falls with age, then ever steeper."""
    over = np.maximum(0.0, frame["dose"] - 6.0 + 0.05 * (frame["age"] - 20.0))
    return (0.25 * over**2 + 0.5 * np.sin(frame["age"] / 12.0) - 0.02 * (frame["weight"] - 80.0)).to_numpy()


def patients(rows: int, seed: int, noise: float = 0.8) -> tuple[pd.DataFrame, np.ndarray]:
    """Random patients and doses, and their measurements."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.uniform(lo, hi, rows) for name, (lo, hi) in BOUNDS.items()})
    return frame, harm(frame) + rng.normal(0.0, noise, rows)


def above_the_mean(predict: Any, rows: int = 20_000) -> float:
    """The most by which a prediction halfway between two doses exceeds the mean of the two, over random patients."""
    frame, _ = patients(rows, 7)
    other = frame.assign(dose=np.random.default_rng(8).uniform(*BOUNDS["dose"], rows))
    middle = frame.assign(dose=(frame["dose"] + other["dose"]) / 2)
    return float((predict(middle) - (predict(frame) + predict(other)) / 2).max())


def main(rows: int = 250, config: Config | None = None, figure: Path | None = None) -> dict[str, Any]:
    """Fit both, compare them on fresh patients, and draw three of these."""
    frame, y = patients(rows, 0)
    fresh, truth = patients(4000, 1, noise=0.0)
    model = SmileRegressor(
        properties=[Convex("dose"), Monotone(increasing="dose")],
        domain=Columns(bounds=BOUNDS),
        config=config,
        random_state=0,
    ).fit(frame, y)
    free = MLPRegressor(
        hidden_layer_sizes=(64, 64), max_iter=2000, early_stopping=True, n_iter_no_change=50, random_state=0
    )
    ordinary = make_pipeline(StandardScaler(), free).fit(frame, y)
    found = {
        "r2": float(model.score(fresh, truth)),
        "ordinary": float(ordinary.score(fresh, truth)),
        "bend": above_the_mean(model.predict),
        "ordinary_bend": above_the_mean(ordinary.predict),
        "verdict": model.verdict_,
        "model": model,
    }
    print(model.explain())
    print(f"R² on fresh patients: certified convex {found['r2']:.3f}, ordinary network {found['ordinary']:.3f}")
    print(f"most above the mean of two doses: {found['bend']:.1e} and {found['ordinary_bend']:.2f}")
    if figure is not None:
        draw(model, ordinary, frame, y, figure)
    return found


def draw(model: Any, ordinary: Any, frame: pd.DataFrame, y: np.ndarray, path: Path) -> None:
    """Both networks along the dose, for patients of three ages."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(9.0, 3.2), layout="constrained")
    for axes, (name, one) in zip(
        np.ravel(sheet.subplots(1, 2, sharey=True)), (("certified convex", model), ("ordinary", ordinary)), strict=True
    ):
        axes.plot(frame["dose"], y, ".", color="#bdbdbd", markersize=3)
        for age, colour in ((25.0, "#3182bd"), (50.0, "#d94801"), (75.0, "#756bb1")):
            patient = pd.DataFrame({"dose": np.linspace(*BOUNDS["dose"], 201), "age": age, "weight": 80.0})
            axes.plot(patient["dose"], one.predict(patient), color=colour, label=f"age {age:.0f}")
            axes.plot(patient["dose"], harm(patient), ":", color=colour, linewidth=1)
        axes.set(title=name, xlabel="dose")
    sheet.axes[0].set_ylabel("harm")
    sheet.axes[0].legend(frameon=False)
    sheet.savefig(path, dpi=110)


if __name__ == "__main__":
    main(figure=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
