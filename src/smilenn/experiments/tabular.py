"""Certified monotone defaults on three public tables, against monotone boosting and linear models.

Ten repeated splits (80/20, seeds 0–9); the domain and every choice from training rows alone. Quality is R², or accuracy
for the two classifications.

    default    SmileRegressor or SmileClassifier with `increasing` and `decreasing` and nothing else
    boosting   HistGradientBoosting with monotonic_cst; learning rate .05 or .1, 8 or 31 leaves and the number of trees
               (to 300) chosen on the same share of rows that the default keeps from its members, four times a tenth;
               then fitted to all training rows
    linear     ridge or logistic regression without signs, its strength chosen by the same rows
    constant   the mean, or the more frequent class

The aim for the default: mean paired difference to boosting ≥ −max(2 standard errors, .005).
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from smilenn.baselines.constant import fit_constant
from smilenn.datasets.base import Dataset
from smilenn.datasets.compas import fetch_compas
from smilenn.datasets.prepare import learned
from smilenn.datasets.split import split
from smilenn.errors import SmileError, listed
from smilenn.experiments.cells import Cell, Row
from smilenn.experiments.measures import chosen, classified, proved, r2
from smilenn.experiments.recipe import store
from smilenn.experiments.study import Aim, Options, Study, all_certified, outcome, paired
from smilenn.experiments.tables import markdown, mean_and_spread, number, seconds
from smilenn.train.config import Config

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETS = ("diabetes", "breast-cancer", "compas")
MODELS = ("default", "boosting", "linear", "constant")
FOLDS, SHARE, TREES = 4, 0.1, 300
AIM = 0.005


def cells(options: Options) -> list[Cell]:
    """Data sets × models × splits."""
    seeds = options.seeds or tuple(range(3 if options.quick else 10))
    return [
        {"model": model, "data": data, "seed": seed, "quick": options.quick}
        for data in SETS
        for model in MODELS
        for seed in seeds
    ]


def load(name: str, options: Options) -> Dataset[pd.DataFrame]:
    """The table of that name with its monotone columns."""
    from sklearn.datasets import load_breast_cancer, load_diabetes

    if name == "diabetes":
        bunch: Any = load_diabetes(as_frame=True, scaled=False)
        return Dataset(name, bunch.data, bunch.target, "regression", increasing=("bmi", "bp", "s5"))
    if name == "breast-cancer":
        bunch: Any = load_breast_cancer(as_frame=True)
        rising = tuple(
            f"{kind} {what}" for kind in ("mean", "worst") for what in ("radius", "texture", "concave points")
        )
        return Dataset(name, bunch.data, 1 - bunch.target, "binary", increasing=rising)  # 1: malignant
    if name == "compas":
        data = fetch_compas(options.data_dir)
        frame = data.frame.drop(columns=["race"])
        return Dataset(
            name, frame, data.target, "binary", increasing=("priors_count", "juv_fel_count"), decreasing=("age",)
        )
    raise SmileError(f"There is no table {name!r}; choose one of {listed(SETS)}.")


def compute(model: str, data: str, seed: int, quick: bool, *, options: Options) -> list[Row]:
    """One cell: quality on test rows, status and seconds."""
    table = load(data, options)
    train, test = split(table, seed=seed)
    start, status = time.perf_counter(), {"status": "none"}
    if model == "default":
        output, status = _default(table, train, test, seed, quick, options)
    elif model in MODELS:
        output = _peer(model, table, train, test, seed)
    else:
        raise SmileError(f"There is no model {model!r}; models are {listed(MODELS)}.")
    took, truth = time.perf_counter() - start, test.target.to_numpy(dtype=np.float64)
    binary = table.task == "binary"
    metrics = classified(output, truth) if binary else {"r2": r2(truth, output)}
    quality = metrics["accuracy" if binary else "r2"]
    return [{"model": model, "data": data, "seed": seed, **metrics, "quality": quality, **status, "seconds": took}]


def _default(
    table: Dataset, train: Dataset, test: Dataset, seed: int, quick: bool, options: Options
) -> tuple[np.ndarray, Row]:
    from smilenn.estimators.classifier import SmileClassifier
    from smilenn.estimators.options import Network
    from smilenn.estimators.regressor import SmileRegressor

    kind = SmileClassifier if table.task == "binary" else SmileRegressor
    estimator = kind(
        increasing=list(table.increasing),
        decreasing=list(table.decreasing),
        random_state=seed,
        network=Network(device=options.device),
        config=Config(epochs=20) if quick else None,
        out_of_bounds="clamp",
    )
    estimator.fit(train.frame, train.target)
    store(estimator, options.models, f"tabular-{table.name}-{seed}")
    return estimator.outputs(test.frame), outcome(estimator.verdict_) | {"chosen": estimator.reasons_}


# ---- peers, tuned on rows kept from training ------------------------------------------------------------------------


def _peer(model: str, table: Dataset, train: Dataset, test: Dataset, seed: int) -> np.ndarray:
    """Outputs for the test rows: values, or logits."""
    domain = learned(train.frame)
    x, xt = domain.encode(train.frame), domain.encode(test.frame, out_of_bounds="clamp")
    y = train.target.to_numpy(dtype=np.float64)
    if model == "constant":
        return fit_constant(y, table.task).predict(xt)
    order = np.random.default_rng(seed).permutation(len(y))
    size = round(SHARE * len(y))
    folds = [order[g * size : (g + 1) * size] for g in range(FOLDS)]
    if model == "linear":
        return _linear(domain.scale(x), y, domain.scale(xt), folds, table.task == "binary")
    signs = np.zeros(x.shape[1], dtype=int)
    for names, sign in ((table.increasing, 1), (table.decreasing, -1)):
        signs[[i for name in names for i in domain.indices(name)]] = sign
    return _boosting(x, y, xt, folds, signs, table.task == "binary", seed)


def _loss(output: np.ndarray, y: np.ndarray, binary: bool) -> float:
    each = np.logaddexp(0.0, output) - y * output if binary else (output - y) ** 2
    return float(each.sum())


def _boosting(
    x: np.ndarray, y: np.ndarray, xt: np.ndarray, folds: list[np.ndarray], signs: np.ndarray, binary: bool, seed: int
) -> np.ndarray:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind: Any = HistGradientBoostingClassifier if binary else HistGradientBoostingRegressor
    best = math.inf
    setting: dict[str, Any] = {}
    for rate in (0.05, 0.1):
        for leaves in (8, 31):
            options: dict[str, Any] = {"learning_rate": rate, "max_leaf_nodes": leaves}
            losses = np.zeros(TREES)
            for held in folds:
                kept = np.setdiff1d(np.arange(len(y)), held)
                model = kind(max_iter=TREES, monotonic_cst=signs, early_stopping=False, random_state=seed, **options)
                model.fit(x[kept], y[kept])
                stages = model.staged_decision_function(x[held]) if binary else model.staged_predict(x[held])
                losses += [_loss(np.ravel(output), y[held], binary) for output in stages]
            if losses.min() < best:
                best, setting = losses.min(), {**options, "max_iter": int(losses.argmin()) + 1}
    model = kind(monotonic_cst=signs, early_stopping=False, random_state=seed, **setting).fit(x, y)
    return np.asarray(model.decision_function(xt) if binary else model.predict(xt), dtype=np.float64)


def _linear(u: np.ndarray, y: np.ndarray, ut: np.ndarray, folds: list[np.ndarray], binary: bool) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression, Ridge

    def fitted(strength: float, rows: np.ndarray, at: np.ndarray) -> np.ndarray:
        if binary:
            return LogisticRegression(C=1 / strength, max_iter=5000).fit(u[rows], y[rows]).decision_function(at)
        return Ridge(alpha=strength).fit(u[rows], y[rows]).predict(at)

    every = np.arange(len(y))
    strengths = [10.0**k for k in range(-3, 4)]
    losses = [
        sum(_loss(fitted(s, np.setdiff1d(every, held), u[held]), y[held], binary) for held in folds) for s in strengths
    ]
    return fitted(strengths[int(np.argmin(losses))], every, ut)


# ---- report ---------------------------------------------------------------------------------------------------------


def report(rows: list[Row], options: Options) -> str:
    """Quality of each model, then the paired differences and whether the aim is met."""
    lines, differences = [], []
    for data in SETS:
        here = chosen(rows, data=data)
        for model in MODELS:
            group = chosen(here, model=model)
            if group:
                other = mean_and_spread(group, "auc") if "auc" in group[0] else "–"
                lines.append([data, model, mean_and_spread(group, "quality"), other, *proved(group), seconds(group)])
        for other in ("boosting", "linear"):
            gap, error, count = paired(here, "default", other)
            if count > 1:
                met = "yes" if gap >= -max(2 * error, AIM) else "no"
                differences.append([data, other, f"{gap:+.4f}", number(error), str(count), met])
    return "\n\n".join(
        [
            "# Tabular defaults, certified monotone",
            "Test R² (diabetes) or accuracy, mean ± standard deviation over splits.",
            markdown(["data", "model", "quality", "AUC", "proved", "certified", "seconds"], lines),
            "Paired difference of the default to its peers; the aim is ≥ −max(2 standard errors, .005).",
            markdown(["data", "peer", "difference", "standard error", "splits", "aim met"], differences),
        ]
    )


def draw(rows: list[Row]) -> dict[str, Figure]:
    """No figures."""
    return {}


def aims(rows: list[Row]) -> list[Aim]:
    """Certified, and not below monotone boosting."""
    out = all_certified(rows, ["default"])
    for data in SETS:
        gap, error, count = paired(chosen(rows, data=data), "default", "boosting")
        if count > 1:
            least = -max(2 * error, AIM)
            out.append(
                Aim(f"{data}: default less boosting, {count} splits", f"≥ {least:.4f}", f"{gap:+.4f}", gap >= least)
            )
    return out


STUDY = Study(
    "tabular",
    cells,
    compute,
    report,
    draw,
    aims,
    "Every choice within a fit is made on training rows kept from parts of it; the recipe's own constants were chosen "
    "on rows kept from the training part of split 0 (splits overlap: some of these are test rows of other splits).",
)
