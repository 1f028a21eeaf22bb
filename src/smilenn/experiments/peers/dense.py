"""Peers that take numbers alone: a linear model and three networks.

Numbers have their gaps filled by medians, with an indicator beside them, and unit spread; a category has a column for
each of its values. Only columns of numbers have signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from smilenn.baselines.agnostic import fit_agnostic, mlp
from smilenn.baselines.descent import Descent
from smilenn.baselines.lipschitz_residual import fit_lipschitz_residual
from smilenn.baselines.monotone_weights import fit_monotone_weights
from smilenn.baselines.network import ScaledModule
from smilenn.datasets.base import Dataset, TaskName
from smilenn.datasets.prepare import Prepared, prepare
from smilenn.experiments.peers.task import Fitted, Rows, Setting, categories, texts

EPOCHS, BATCH, HELD = 40, 128, 0.1
LEAST_STEPS = 1000  # small tables have more epochs


@dataclass(frozen=True, eq=False)
class Numbers:
    """From rows to numbers [n, k], learned from training rows, with the sign of each of the k columns."""

    known: pd.DataFrame
    made: Any
    signs: tuple[int, ...]

    @classmethod
    def of(cls, rows: Rows) -> Numbers:
        """Learn medians, spreads and categories."""
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        frame = categories(rows.frame, rows.frame)
        names = texts(frame)
        numbers = [str(name) for name in frame.columns if name not in names]
        filled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
        coded = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        made = ColumnTransformer([("numbers", filled, numbers), ("names", coded, names)])
        width = np.asarray(made.fit_transform(_plain(frame, names))).shape[1]
        signs = [rows.signs[name] for name in numbers]
        return cls(rows.frame, made, (*signs, *[0] * (width - len(signs))))

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        """Rows [n] as numbers [n, k]."""
        coded = categories(frame, self.known)
        return np.asarray(self.made.transform(_plain(coded, texts(coded))), dtype=np.float64)


def _plain(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Categories as texts: a gap is one more of them."""
    return frame.astype({name: str for name in names})


class Linear:
    """Ridge or logistic regression whose weights keep the signs."""

    settings: tuple[Setting, ...] = tuple({"strength": strength} for strength in (1e-4, 1e-3, 1e-2, 1e-1))

    def __call__(self, rows: Rows, setting: Setting, *, held: Rows | None = None, rounds: int | None = None) -> Fitted:
        """Fit to rows."""
        numbers = Numbers.of(rows)
        w, b = _minimised(numbers(rows.frame), rows, numbers.signs, setting["strength"])
        return Fitted(lambda frame: numbers(frame) @ w + b)


def _minimised(x: np.ndarray, rows: Rows, signs: Sequence[int], strength: float) -> tuple[np.ndarray, float]:
    """argmin of the mean loss + strength·‖w‖²/2 subject to the signs; numbers in units of their spread."""
    scale = 1.0 if rows.binary else float(rows.y.std()) or 1.0
    middle = 0.0 if rows.binary else float(rows.y.mean())
    y = (rows.y - middle) / scale

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        f = x @ theta[:-1] + theta[-1]
        pull = 1 / (1 + np.exp(-np.clip(f, -500, 500))) - y if rows.binary else f - y
        value = np.mean(np.logaddexp(0.0, f) - y * f) if rows.binary else 0.5 * np.mean((f - y) ** 2)
        gradient = np.append(x.T @ pull / len(x) + strength * theta[:-1], pull.mean())
        return float(value + 0.5 * strength * theta[:-1] @ theta[:-1]), gradient

    bounds = [{1: (0.0, None), -1: (None, 0.0), 0: (None, None)}[sign] for sign in signs]
    found = minimize(
        loss,
        np.zeros(x.shape[1] + 1),
        jac=True,
        method="L-BFGS-B",
        bounds=[*bounds, (None, None)],
        options={"maxiter": 1000},
    )
    return found.x[:-1] * scale, float(found.x[-1] * scale + middle)


class Network:
    """A plain multilayer perceptron without signs, or one that keeps them by the signs of its weights."""

    settings: tuple[Setting, ...] = tuple(
        {"sizes": sizes, "rate": rate} for sizes in ((64, 64), (128, 128)) for rate in (1e-3, 5e-3)
    )

    def __call__(self, rows: Rows, setting: Setting, *, held: Rows | None = None, rounds: int | None = None) -> Fitted:
        """Fit to rows."""
        numbers = Numbers.of(rows)
        names = [f"x{i}" for i in range(len(numbers.signs))]
        frame = pd.DataFrame(numbers(rows.frame), columns=names)
        task: TaskName = "binary" if rows.binary else "regression"
        table = Dataset("peer", frame, pd.Series(rows.y), task)
        data = prepare(table, table, seed=rows.seed, held=HELD, scaling="standard")
        epochs = max(EPOCHS, -(-LEAST_STEPS * BATCH // len(rows.y)))
        descent = Descent(epochs=epochs, batch=BATCH, rate=setting["rate"], seed=rows.seed)
        net = self.trained(data, numbers.signs, setting, task, descent)

        def output(at: pd.DataFrame) -> np.ndarray:
            table = pd.DataFrame(numbers(at), columns=names)
            return net.predict(data.domain.encode(table, out_of_bounds="clamp"))

        return Fitted(output)

    def trained(
        self, data: Prepared, signs: Sequence[int], setting: Setting, task: TaskName, descent: Descent
    ) -> ScaledModule:
        """The network with these signs of its columns."""
        if any(signs):
            return fit_monotone_weights(data, signs, sizes=setting["sizes"], task=task, descent=descent)
        first, last = setting["sizes"]
        return fit_agnostic(data, mlp((first,)), last, task=task, descent=descent)


class Lipschitz(Network):
    """A network of bounded slope, and a linear residual that makes up for it: what `monotonicnetworks` builds.

    `slope` is its bound, in spreads of the target (or log-odds) per spread of a column.
    """

    settings: tuple[Setting, ...] = tuple(
        {"slope": slope, "rate": rate} for slope in (1.0, 4.0) for rate in (1e-3, 5e-3)
    )
    sizes = (64, 64)

    def trained(
        self, data: Prepared, signs: Sequence[int], setting: Setting, task: TaskName, descent: Descent
    ) -> ScaledModule:
        """The network with these signs of its columns."""
        return fit_lipschitz_residual(data, signs, setting["slope"], sizes=self.sizes, task=task, descent=descent)
