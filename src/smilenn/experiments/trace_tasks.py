"""The tasks of `trace.py`: data that ship or are generated here, rules about single inputs, and backbones.

polytope-N-LEVEL   x uniform in [−1, 1]^N, s = Σ x; targets s, s² (easy), s³, s⁴ (medium) or all four (hard), each
divided by its largest size. Rule: P x ≤ p ⇒ R y ≤ r, with N + 2 and outputs + 1 random rows; p at
the .8 quantiles of the rows, r at the .6 quantiles of the targets inside.
forecast           a noisy cycle with jumps, eight values → the next four. Rule: no step, nor the first from what
was seen, is larger than the .8 quantile of the steps in the data. Backbone: an LSTM.
labels             six labels of which neighbours never occur together
expenses           invented households: five expenses within the income, going out within 5 % of it
loan               invented applicants (`make_credit`): income at most 30 and at most 4 years of work ⇒ not granted
category           invented songs of four genres: two artists only play two of them
digits             the sum of four 8×8 digits, which is more than 10
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from smilenn.datasets.credit import make_credit
from smilenn.errors import SmileError, listed
from smilenn.properties import Bounded, Exclusive, Safe, SumAtMost

SIZES, LEVELS = (2, 4, 8), {"easy": (1, 2), "medium": (3, 4), "hard": (1, 2, 3, 4)}
POLYTOPES = tuple(f"polytope-{n}-{level}" for n in SIZES for level in LEVELS)
OTHERS = ("forecast", "labels", "expenses", "loan", "category", "digits")
WINDOW, AHEAD = 8, 4


@dataclass(frozen=True, eq=False)
class TraceTask:
    """Rows with their target, the rules, and what the estimator is told; `classes` for decisions, not numbers."""

    frame: pd.DataFrame
    target: Any
    rules: Sequence[Any]
    classes: bool = False
    bounds: dict[str, tuple[float, float]] | None = None
    backbone: Callable[[int, int], nn.Module] | None = None
    rows: tuple[np.ndarray, np.ndarray] | None = None  # P and p of a polytope


def make(name: str, seed: int, rows: int) -> TraceTask:
    """The task of that name."""
    if name in POLYTOPES:
        _, n, level = name.split("-")
        return polytope(int(n), LEVELS[level], seed, rows)
    makers = {
        "forecast": forecast,
        "labels": labels,
        "expenses": expenses,
        "loan": loan,
        "category": category,
        "digits": digits,
    }
    if name not in makers:
        raise SmileError(f"There is no task {name!r}; choose one of {listed([*POLYTOPES, *OTHERS], 20)}.")
    return makers[name](seed, rows)


def linear(coef: np.ndarray, names: Sequence[str], rhs: float) -> str:
    """A row of the claim language, numbers with four decimals."""
    return " + ".join(f"({value:.4f}) * {name}" for value, name in zip(coef, names, strict=True)) + f" <= {rhs:.4f}"


def polytope(n: int, powers: tuple[int, ...], seed: int, rows: int) -> TraceTask:
    """Random polytopes over inputs and outputs; drawn again until one row in ten inside satisfies the rule."""
    rng = np.random.default_rng([seed, n, *powers])
    x = rng.uniform(-1, 1, (rows, n))
    s = x.sum(axis=1)
    y = np.stack([s**k for k in powers], axis=1)
    y /= np.abs(y).max(axis=0)
    inputs, outputs = [f"x{i}" for i in range(n)], [f"y{i}" for i in range(len(powers))]
    while True:
        coef, p = _directions(rng, n + 2, n), np.zeros(0)
        p = np.quantile(x @ coef.T, 0.8, axis=0).round(4)
        inside = (x @ coef.T <= p).all(axis=1)
        out = _directions(rng, len(powers) + 1, len(powers))
        if inside.mean() < 0.1:
            continue
        r = np.quantile(y[inside] @ out.T, 0.6, axis=0).round(4)
        if (y[inside] @ out.T <= r).all(axis=1).mean() >= 0.1:
            break
    rule = Safe(
        [linear(a, inputs, b) for a, b in zip(coef, p, strict=True)],
        [linear(a, [f"out.{name}" for name in outputs], b) for a, b in zip(out, r, strict=True)],
    )
    bounds = {name: (-1.0, 1.0) for name in inputs}
    return TraceTask(
        pd.DataFrame(x, columns=inputs), pd.DataFrame(y, columns=outputs), [rule], bounds=bounds, rows=(coef, p)
    )


def _directions(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    """Random unit vectors [count, size], four decimals."""
    found = rng.normal(size=(count, size))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).round(4)


class Recurrent(nn.Module):
    """An LSTM over the columns in their order, one value a step."""

    def __init__(self, outputs: int, units: int = 16) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, units, batch_first=True)
        self.out = nn.Linear(units, outputs)

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        """[B, m] → [B, o]."""
        return self.out(self.lstm(u[:, :, None])[0][:, -1])


def recurrent(inputs: int, outputs: int) -> nn.Module:
    """The backbone of the forecasts."""
    return Recurrent(outputs).double()


def forecast(seed: int, rows: int) -> TraceTask:
    """A noisy cycle with jumps; no step is larger than four in five of the data are."""
    rng = np.random.default_rng([seed, 1])
    t = np.arange(rows + WINDOW + AHEAD)
    jumps = np.cumsum(rng.choice([-1.0, 0.0, 1.0], len(t), p=[0.04, 0.92, 0.04]))
    series = np.sin(t / 5) + 0.3 * np.sin(t / 1.7) + 0.5 * (jumps - np.linspace(0, jumps[-1], len(t)))
    series = series + 0.1 * rng.normal(size=len(t))
    windows = np.lib.stride_tricks.sliding_window_view(series, WINDOW + AHEAD)[:rows]
    frame = pd.DataFrame(windows[:, :WINDOW], columns=[f"x{i}" for i in range(WINDOW)])
    target = pd.DataFrame(windows[:, WINDOW:], columns=[f"y{i}" for i in range(AHEAD)])
    most = round(float(np.quantile(np.abs(np.diff(series)), 0.8)), 4)
    before = [f"x{WINDOW - 1}", *(f"out.y{i}" for i in range(AHEAD))]
    steps = [f"{-most} <= {b} - {a} <= {most}" for a, b in pairwise(before)]
    return TraceTask(frame, target, [Safe((), steps)], backbone=recurrent)


def labels(seed: int, rows: int) -> TraceTask:
    """Six labels in a row; no two neighbours at once."""
    rng = np.random.default_rng([seed, 2])
    x = rng.uniform(-1, 1, (rows, 8))
    score = np.tanh(x @ rng.normal(size=(8, 12))) @ rng.normal(size=(12, 6)) + 0.5 * rng.normal(size=(rows, 6))
    found = score > 0.3
    for i in range(5):
        lost = found[:, i] & found[:, i + 1] & (score[:, i] < score[:, i + 1])
        found[:, i] &= ~lost
        found[:, i + 1] &= ~found[:, i]
    names = [f"l{i}" for i in range(6)]
    rules = [Exclusive(a, b) for a, b in pairwise(names)]
    frame = pd.DataFrame(x, columns=list("abcdefgh"))
    return TraceTask(frame, pd.DataFrame(found.astype(int), columns=names), rules, classes=True)


def expenses(seed: int, rows: int) -> TraceTask:
    """Five expenses that never add up to more than the income, going out to 5 % of it at most."""
    frame, table = households(np.random.default_rng([seed, 3]), rows)
    return TraceTask(frame, table, [SumAtMost(None, "income"), SumAtMost(["going_out"], "0.05 * income")])


def households(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Invented households and what they spend on five things, now and then more than their income."""
    income, size = rng.uniform(800, 6000, rows), rng.integers(1, 7, rows)
    frame = pd.DataFrame({"income": income, "household": size, "age": rng.uniform(20, 80, rows)})
    frame["city"] = rng.choice(["small", "large"], rows)
    weights = np.column_stack(
        [
            9 + 3 * (frame["city"] == "large"),
            4 + size,
            3 + (frame["city"] == "small"),
            2 + frame["age"] / 30,
            np.full(rows, 0.8),
        ]
    )
    shares = rng.gamma(2 * weights)
    spent = shares / shares.sum(axis=1, keepdims=True) * (income * rng.uniform(0.75, 1.05, rows))[:, None]
    table = pd.DataFrame(spent, columns=["housing", "food", "transport", "health", "going_out"])
    return frame, table


def loan(seed: int, rows: int) -> TraceTask:
    """Credit that nobody gets whose income is at most 30 and who worked for four years at most."""
    data = make_credit(rows, seed=seed, task="binary")
    rule = Safe(["income <= 30", "employment_years <= 4"], ["out <= 0"])
    return TraceTask(data.frame, data.target, [rule], classes=True)


def category(seed: int, rows: int) -> TraceTask:
    """Songs: ada and ben, of whom there are few, play pop or rock: alternatives in a conclusion."""
    rng = np.random.default_rng([seed, 4])
    genres, artists = np.array(["pop", "rock", "jazz", "folk"]), np.array(["ada", "ben", "cat", "dan", "eve"])
    artist = rng.choice(5, rows, p=[0.02, 0.02, 0.32, 0.32, 0.32])
    x = rng.uniform(0, 1, (rows, 4))
    score = 3 * (x - 0.5) @ rng.normal(size=(4, 4)) + rng.gumbel(size=(rows, 4)) + rng.normal(size=(5, 4))[artist]
    score[artist < 2, 2:] = -np.inf
    frame = pd.DataFrame(x, columns=["speed", "volume", "words", "strings"]).assign(artist=artists[artist])
    then = [f"out.pop >= out.{other} or out.rock >= out.{other}" for other in ("jazz", "folk")]
    rules = [Safe([f'artist == "{name}"'], then) for name in ("ada", "ben")]
    return TraceTask(frame, genres[score.argmax(axis=1)], rules, classes=True)


def digits(seed: int, rows: int) -> TraceTask:
    """Four digits of 8×8 pixels, averaged to 4×4, whose sum is more than 10; four times as many rows."""
    from sklearn.datasets import load_digits

    data: Any = load_digits()
    rng = np.random.default_rng([seed, 5])
    small = data.images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16) / 16
    rows *= 4
    four = rng.integers(0, len(small), (2 * rows, 4))
    total = data.target[four].sum(axis=1)
    four, total = four[total > 10][:rows], total[total > 10][:rows]
    frame = pd.DataFrame(small[four].reshape(len(four), -1), columns=[f"p{i}" for i in range(64)])
    bounds = {name: (0.0, 1.0) for name in frame.columns}
    return TraceTask(frame, pd.Series(total.astype(float), name="sum"), [Bounded(lo=11)], bounds=bounds)
