"""Linear functions beside an ensemble's networks, under the same signs: small tables are often no richer than that.

    w, b  =  argmin { mean_i (A(f_i) − y_i·f_i) + λ/2·Σ_j w_j² :  w_j ≥ 0 where the output rises with column j, … }
    f     =  Σ_j w_j·(u_j − mean_j)/spread_j + b

    squares        A = f²/2             A' = f
    yes and no     A = log(1 + e^f)     A' = 1/(1 + e^−f)
    classes        A = log Σ e^f        A' = softmax(f)

Quantiles have the pinball loss instead, round at its kink, and one function for every coordinate z of the network,
f = G·z; those of all classes or all coordinates are fitted together, each with the columns and signs of its own.
y is in the units of its spread. Every group has its own function, fitted without the rows that are kept from it. λ is
the one for which these rows, of all groups together, are predicted best. A function becomes a branch of the encoder
with one `linear` layer, which rises and falls by the signs of its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from smilenn.model.encoders import Branch, Linear
from smilenn.model.net import SmileNet
from smilenn.train.boosted import Directions, fits_members, start_of, target_of
from smilenn.train.fitted import Fitted
from smilenn.train.losses import LossKind, Quantiles
from smilenn.train.phases import Training

NAME = "linear"
STRENGTHS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # λ, the strongest first
MOST_ROWS = 10_000  # of more rows, trees and networks leave nothing to a linear function
MOST_NUMBERS = 500_000  # rows times columns: a fit takes two seconds then
STEPS = 200  # of the solver
ROUND = 0.05  # of the spread: how far around its kink a pinball loss is a parabola
UNREAD = 2  # the sign of a column that a function does not read


def linear_members(net: SmileNet, task: Training, kind: LossKind, signs: Sequence[Directions]) -> Fitted:
    """A linear function of every output for each group that rows are kept from; none where these do not fit."""
    folds = task.folds
    few = len(task.x) <= MOST_ROWS and task.x.numel() <= MOST_NUMBERS
    if not signs or folds is None or not few or not (isinstance(kind, Quantiles) or fits_members(net, kind)):
        return Fitted(NAME)
    u, held = net.scale(task.x).cpu().numpy(), folds.cpu().numpy()
    weight = np.ones(len(u)) if task.weight is None else task.weight.cpu().numpy()
    together = kind == "ce" or isinstance(kind, Quantiles)
    head = net.head_weight.detach().cpu().numpy() if isinstance(kind, Quantiles) else None
    outputs = []
    for t, own in enumerate([signs] if together else [[one] for one in signs]):
        columns = _Columns.of(net, u, own)
        if not columns.places or task.over():
            return Fitted(NAME)
        fits = _fits(columns.of_rows(u), _target(net, task, kind, t), weight, held, columns.signs, kind, head)
        outputs.append([columns.branch(net, one, kind, t, g) for g, one in enumerate(fits)])
    return Fitted(NAME, tuple(zip(*outputs, strict=True)))


def _target(net: SmileNet, task: Training, kind: LossKind, t: int) -> np.ndarray:
    """y [N, 1] of output t, one-hot classes [N, o], or what every quantile is to be the quantile of [N, o]."""
    if kind == "ce":
        return task.y.cpu().numpy().astype(np.float64)
    if isinstance(kind, Quantiles):
        return (task.y / net.output_scale - net.head_bias.detach()).cpu().numpy().astype(np.float64)
    return target_of(net, task, kind, t).astype(np.float64)[:, None]


# ---- columns --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Columns:
    """Coordinates [k] of the domain that are read, their signs [k, o] for every function, mean and spread of each, [k].

    A function that does not read a coordinate has `UNREAD` for a sign there.
    """

    places: list[int]
    signs: np.ndarray
    mean: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, net: SmileNet, u: np.ndarray, signs: Sequence[Directions]) -> _Columns:
        """The coordinates that differ between rows, of the features that `signs` names for any of the functions."""
        spans = {name: span for name, span in net.domain.slices.items() if any(name in own for own in signs)}
        found = [
            (i, [own.get(name, UNREAD) for own in signs])
            for name, span in spans.items()
            for i in range(span.start, span.stop)
            if np.ptp(u[:, i]) > 0
        ]
        places = [i for i, _ in found]
        own = u[:, places]
        return cls(places, np.array([each for _, each in found]), own.mean(axis=0), own.std(axis=0))

    def of_rows(self, u: np.ndarray) -> np.ndarray:
        """Rows [N, m] in units of the spread, [N, k]."""
        return (u[:, self.places] - self.mean) / self.spread

    def branch(self, net: SmileNet, theta: np.ndarray, kind: LossKind, t: int, group: int) -> Branch:
        """Weights and biases [k + 1, o] of the units above as a branch in the network's coordinates."""
        weight, bias = (theta[:-1] / self.spread[:, None]).T, theta[-1] - self.mean / self.spread @ theta[:-1]
        if kind in ("bce", "ce"):  # log-odds; targets of squares are in these coordinates already
            own = slice(t, t + len(bias))
            scale, start = (v.cpu().numpy()[own] for v in (net.output_scale, start_of(net)))
            weight, bias = weight / scale[:, None], bias / scale - start
        layer = Linear(len(self.places), len(bias), signs=np.where(self.signs == UNREAD, 0, self.signs).T)
        with torch.no_grad():
            layer.weight.copy_(torch.as_tensor(weight))
            layer.bias.copy_(torch.as_tensor(bias))
        layer.requires_grad_(False)
        single = len(bias) == len(net.outputs)  # one output, or all together
        return Branch(f"{NAME}{group}" + ("" if single else f"_{t}"), self.places, [layer])


# ---- fitting --------------------------------------------------------------------------------------------------------


def _fits(
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    held: np.ndarray,
    signs: np.ndarray,
    kind: LossKind,
    head: np.ndarray | None = None,
) -> list[np.ndarray]:
    """[k + 1, o] for every group: weights, and at last the bias; of the λ that predicts rows kept from them best."""
    spread = 1.0 if kind in ("bce", "ce") else y.std() or 1.0
    y = y / spread
    starts = [np.zeros((x.shape[1] + 1, y.shape[1])) for _ in held.T]
    best, least = starts, np.inf
    for strength in STRENGTHS:
        starts = [
            _minimised(x[~own], y[~own], weight[~own], signs, kind, strength, start, head)
            for own, start in zip(held.T, starts, strict=True)
        ]
        found = sum(
            _loss(_at(x[own], one, head), y[own], weight[own], kind)[0] for own, one in zip(held.T, starts, strict=True)
        )
        if found < least:
            best, least = starts, found
    return [one * spread for one in best]


def _at(x: np.ndarray, theta: np.ndarray, head: np.ndarray | None) -> np.ndarray:
    z = x @ theta[:-1] + theta[-1]
    return z if head is None else z @ head.T


def _loss(f: np.ndarray, y: np.ndarray, weight: np.ndarray, kind: LossKind) -> tuple[float, np.ndarray]:
    """The weighted sum of A(f) − y·f over rows [n, o], or of pinball losses, and its slopes in f."""
    if isinstance(kind, Quantiles):
        return _pinball(f, y, weight, np.array(kind.levels))
    if kind == "mse":
        rows, mean = 0.5 * f**2, f
    elif kind == "bce":
        rows, mean = np.logaddexp(0.0, f), 1 / (1 + np.exp(-np.clip(f, -500, 500)))
    else:
        shifted = f - f.max(axis=1, keepdims=True)
        total = np.exp(shifted).sum(axis=1, keepdims=True)
        rows, mean = np.log(total) + f.max(axis=1, keepdims=True), np.exp(shifted) / total
    value = float(weight @ (rows.sum(axis=1) - (y * f).sum(axis=1)))
    return value, weight[:, None] * (mean - y)


def _pinball(f: np.ndarray, y: np.ndarray, weight: np.ndarray, levels: np.ndarray) -> tuple[float, np.ndarray]:
    """(q − 1/2)·r + |r|/2 for r = y − f, with r²/4h + h/4 for |r|/2 up to h; its slopes in f."""
    r = y - f
    inside = np.clip(r, -ROUND, ROUND)
    each = (levels - 0.5) * r + np.where(np.abs(r) < ROUND, r**2 / (4 * ROUND) + ROUND / 4, np.abs(r) / 2)
    return float(weight @ each.sum(axis=1)), -weight[:, None] * (levels - 0.5 + inside / (2 * ROUND))


def _minimised(
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    signs: np.ndarray,
    kind: LossKind,
    strength: float,
    start: np.ndarray,
    head: np.ndarray | None = None,
) -> np.ndarray:
    """argmin of the formula above, [k + 1, o], from `start` on; `signs` are [k] for all functions, or [k, o]."""
    from scipy.optimize import minimize

    total = max(float(weight.sum()), 1e-12)

    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        theta = flat.reshape(start.shape)
        loss, slopes = _loss(_at(x, theta, head), y, weight, kind)
        slopes = slopes if head is None else slopes @ head
        gradient = np.vstack([x.T @ slopes, slopes.sum(axis=0)]) / total
        gradient[:-1] += strength * theta[:-1]
        return loss / total + 0.5 * strength * float((theta[:-1] ** 2).sum()), gradient.ravel()

    ends = {1: (0.0, None), -1: (None, 0.0), 0: (None, None), UNREAD: (0.0, 0.0)}
    each = np.broadcast_to(signs.reshape(len(signs), -1), (len(signs), start.shape[1]))
    bounds = [*(ends[int(sign)] for sign in each.ravel()), *[ends[0]] * start.shape[1]]
    found = minimize(value, start.ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS})
    return found.x.reshape(start.shape)
