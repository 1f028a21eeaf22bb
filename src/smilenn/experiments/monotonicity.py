"""Nine synthetic monotonicity tasks, y = x + α sin(ωx) on [−10, 10], against the isotonic limit; and y = x³.

Per task and seed: 1,000 training and 1,000 test points; a tenth of the training points chooses among up to three
restarts (proved first, then the smaller validation loss) and among the baselines' constants. The limit is isotonic
regression on the same training draw: no monotone model can do much better.

    faithful     the paper's free pair of auxiliaries, 32 hidden units, 1,000 + 100 epochs at most
    default      what SmileRegressor chooses: a mean of monotone networks over quantile ramps, exact at ε = 0
    isotonic, boosting, weights, lipschitz       monotone models of other kinds
    agnostic, constant                           without the property, and without anything
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from smilenn.baselines.agnostic import fit_agnostic, mlp
from smilenn.baselines.boosting import fit_boosting
from smilenn.baselines.constant import fit_constant
from smilenn.baselines.descent import Descent
from smilenn.baselines.isotonic import fit_isotonic
from smilenn.baselines.lipschitz_residual import fit_lipschitz_residual
from smilenn.baselines.monotone_weights import fit_monotone_weights
from smilenn.baselines.network import Predictor
from smilenn.datasets.base import Dataset
from smilenn.datasets.prepare import Prepared, prepare
from smilenn.datasets.synthetic import make_monotone_sine
from smilenn.errors import SmileError, listed
from smilenn.experiments import figures
from smilenn.experiments.cells import Cell, Row
from smilenn.experiments.evolution import EPS, evolve
from smilenn.experiments.measures import chosen, fall, mean, proved, r2
from smilenn.experiments.recipe import Setup, store
from smilenn.experiments.study import Aim, Options, Study, all_certified, outcome
from smilenn.experiments.tables import markdown, mean_and_spread, number, seconds
from smilenn.properties.library import Monotone
from smilenn.train.config import Config

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TASKS = tuple((alpha, omega) for alpha in (2, 3, 4) for omega in (0.4, 0.6, 0.8))
AIM = 0.002  # R² below the isotonic limit, at most
SHOWN = (2, 0.6)  # the task of the paper's example figure
BACKBONE = (16, 32, 64, 32, 16)
GRID = np.linspace(-10.0, 10.0, 401)
BASE: dict[str, Any] = {"pretrain_epochs": 1000, "pretrain_patience": 10, "batch_size": 64}
QUICK = {"pretrain_epochs": 40, "epochs": 40, "posttrain_seconds": 30.0}
RECIPES = {
    "faithful": Setup("paper", hidden=32, sizes=BACKBONE, config=Config.paper(**BASE, epochs=100), restarts=3),
    "default": Setup(config=None),
}
PEERS = ("isotonic", "boosting", "weights", "lipschitz", "agnostic", "constant")
SLOPES, RATES, FASTER = (2.0, 4.0, 8.0), (3e-3, 1e-2), (5e-3, 1e-2, 2e-2)  # tried on held-out rows


def cells(options: Options) -> list[Cell]:
    """Tasks × models × seeds, and the evolution of x³ once."""
    seeds = options.seeds or ((0,) if options.quick else (0, 1, 2, 3, 4))
    tasks = [
        {"model": model, "alpha": alpha, "omega": omega, "seed": seed, "quick": options.quick}
        for model in (*RECIPES, *PEERS)
        for alpha, omega in TASKS
        for seed in seeds
    ]
    return [*tasks, {"model": "evolution", "alpha": 0, "omega": 0.0, "seed": seeds[0], "quick": options.quick}]


def compute(model: str, alpha: float, omega: float, seed: int, quick: bool, *, options: Options) -> list[Row]:
    """One cell: test R², how far below the limit, the largest fall on a grid, status and seconds."""
    if model == "evolution":
        return [_evolution(seed, quick)]
    train, test = (make_monotone_sine(alpha, omega, seed=seed, part=part) for part in ("train", "test"))
    data = prepare(train, test, seed=seed, scaling="standard", bounds={"x": (-10.0, 10.0)})
    start = time.perf_counter()
    if model in RECIPES:
        recipe = RECIPES[model]
        if quick:
            recipe = replace(recipe, config=(recipe.config or Config()).replace(**QUICK), restarts=1)
        estimator = recipe.estimator("regression", [Monotone(increasing=["x"])], data.domain, seed, options.device)
        estimator.fit(train.frame, train.target)
        took = time.perf_counter() - start
        store(estimator, options.models, f"monotonicity-{model}-{alpha}-{omega}-{seed}")
        status, net = outcome(estimator.verdict_), estimator.net_

        def answers(x: np.ndarray) -> np.ndarray:
            return net.predict(x)[:, 0]
    else:
        answers, status = _peer(model, data, train, seed, 10 if quick else 100).predict, {"status": "none"}
        took = time.perf_counter() - start
    limit = r2(data.y_test, fit_isotonic(*_all(data, train)).predict(data.x_test))
    quality = r2(data.y_test, answers(data.x_test))
    curve = answers(GRID[:, None])
    row: Row = {
        "model": model,
        "alpha": alpha,
        "omega": omega,
        "seed": seed,
        "r2": quality,
        "limit": limit,
        "below": limit - quality,
        "fall": fall(curve),
        **status,
        "seconds": took,
    }
    if (alpha, omega) == SHOWN:
        row["curve"] = curve.round(6).tolist()
    return [row]


def _all(data: Prepared, train: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """All training rows: models without choices need no held-out ones."""
    return data.domain.encode(train.frame), train.target.to_numpy(dtype=np.float64)


def _peer(model: str, data: Prepared, train: Dataset, seed: int, epochs: int) -> Predictor:
    x, y = _all(data, train)

    def descent(rate: float) -> Descent:
        return Descent(epochs=epochs, batch=64, rate=rate, seed=seed)

    match model:
        case "isotonic":
            return fit_isotonic(x, y)
        case "boosting":
            return fit_boosting(x, y, [1], task="regression", seed=seed)
        case "weights":
            tried = [fit_monotone_weights(data, [1], descent=descent(rate)) for rate in RATES]
        case "lipschitz":
            tried = [
                fit_lipschitz_residual(data, [1], slope, descent=descent(rate)) for slope in SLOPES for rate in FASTER
            ]
        case "agnostic":
            return fit_agnostic(data, mlp(BACKBONE), 8, task="regression", descent=descent(1e-3))
        case "constant":
            return fit_constant(y, "regression")
        case _:
            raise SmileError(f"There is no model {model!r}; models are {listed([*RECIPES, *PEERS], 20)}.")
    return min(tried, key=lambda net: float(((net.predict(data.x_held) - data.y_held) ** 2).mean()))


def _evolution(seed: int, quick: bool) -> Row:
    start = time.perf_counter()
    config = Config.paper(**{**BASE, "pretrain_epochs": 300}, epochs=100)
    curves, verdict = evolve(seed, config=config.replace(**QUICK) if quick else config)
    return {
        "model": "evolution",
        "seed": seed,
        "change": curves[-1].change(),
        "allowed": EPS,
        **outcome(verdict),
        "seconds": time.perf_counter() - start,
        "curves": [
            {name: value if isinstance(value, str) else value.tolist() for name, value in vars(curve).items()}
            for curve in curves
        ],
    }


def report(rows: list[Row], options: Options) -> str:
    """R² by task and model, then what was proved and how long it took."""
    names = [name for name in (*RECIPES, *PEERS) if chosen(rows, model=name)]
    lines = []
    for alpha, omega in TASKS:
        task = chosen(rows, alpha=alpha, omega=omega)
        limit = number(mean(task, "limit"))
        lines.append([f"{alpha}, {omega}", limit, *(mean_and_spread(chosen(task, model=m), "r2") for m in names)])
    means = [[mean(chosen(rows, model=m, alpha=a, omega=w), "r2") for a, w in TASKS] for m in names]
    lines.append(["mean of tasks", "", *(number(float(np.mean(of))) for of in means)])  # a dash where one is missing
    parts = [
        "# Monotonicity",
        "Test R², mean ± standard deviation over seeds. The paper shows a heat map without numbers.",
        markdown(["α, ω", "limit", *names], lines),
        "Below the limit (mean, largest task mean), largest fall on a grid, what was proved, and seconds a cell "
        "(all restarts and choices):",
    ]
    lines = []
    for name in names:
        group = chosen(rows, model=name)
        by_task = [mean(chosen(group, alpha=a, omega=w), "below") for a, w in TASKS if chosen(group, alpha=a, omega=w)]
        worst = number(max(by_task)) if by_task else "–"
        deepest = max(row["fall"] for row in group)
        lines.append([name, number(mean(group, "below")), worst, f"{deepest:.3g}", *proved(group), seconds(group)])
    parts.append(markdown(["model", "below", "largest", "fall", "proved", "certified", "seconds"], lines))
    for row in chosen(rows, model="evolution"):
        parts.append(
            f"y = x³: {row['verdict']}; largest change over a step of 0.1 is {row['change']:.4f}, {row['allowed']:.4f} "
            "allowed."
        )
    return "\n\n".join(parts)


def draw(rows: list[Row]) -> dict[str, Figure]:
    """Heat map, monotone estimator, evolution of x³."""
    out = {}
    maps = {
        name: np.array(
            [[mean(chosen(rows, model=name, alpha=a, omega=w), "r2") for w in (0.4, 0.6, 0.8)] for a in (2, 3, 4)]
        )
        for name in RECIPES
        if chosen(rows, model=name)
    }
    if maps:
        out["heatmap"] = figures.heat_maps(maps, (2, 3, 4), (0.4, 0.6, 0.8))
    curves = {
        row["model"]: np.array(row["curve"])
        for row in reversed(chosen(rows, alpha=SHOWN[0], omega=SHOWN[1]))  # the first seed last, to be kept
        if row["model"] in (*RECIPES, "isotonic")
    }
    if curves:
        out["estimator"] = figures.estimator(GRID, GRID + SHOWN[0] * np.sin(SHOWN[1] * GRID), curves)
    for row in chosen(rows, model="evolution"):
        out["evolution"] = figures.evolution(row["curves"])
    return out


def aims(rows: list[Row]) -> list[Aim]:
    """Certified in both columns, and the default near the limit in every task."""
    out = all_certified(rows, RECIPES)
    default = chosen(rows, model="default")
    gaps = {
        f"α = {a}, ω = {w}": mean(chosen(default, alpha=a, omega=w), "below")
        for a, w in TASKS
        if chosen(default, alpha=a, omega=w)
    }
    if gaps:
        worst = max(gaps, key=lambda task: gaps[task])
        got = f"{gaps[worst]:.4f} at most ({worst})"
        out.append(
            Aim(f"default below the isotonic limit, each of {len(gaps)} tasks", f"≤ {AIM}", got, gaps[worst] <= AIM)
        )
        deepest = max(row["fall"] for row in default)
        out.append(Aim("default: largest fall on a grid of 401 points", "0, bit for bit", f"{deepest:g}", deepest == 0))
    return out


STUDY = Study(
    "monotonicity",
    cells,
    compute,
    report,
    draw,
    aims,
    "The epoch, the restart, the kinds of networks in the default and the constants of the baselines are chosen on "
    "training points kept aside for that; test points are looked at once, for these tables.",
)
