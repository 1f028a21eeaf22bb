"""The counterfactual clamp: a model that somebody else trained, made ε-fair by construction.

    c(x) = ½·(max_v m(x with protected values v) + min_v m(…))          the mid-range over all protected values
    f(x) = m(x) cut to [c(x) − ε/2, c(x) + ε/2]

c does not depend on the protected features, so f changes by at most ε with them, and f = m wherever m itself is ε-fair.
As a `SmileNet`: c is a pinned encoder over the other columns, the box around it has width ε, and m is the backbone. The
certificate covers all of it and assumes of m only that the same call, asked again, gives the same bits: the V rows that
differ from x in the protected values alone, in one order, computed by one thread.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError, listed
from smilenn.model.encoders import Branch, Encoder, Pinned
from smilenn.model.encoders.rowwise import RowByRow
from smilenn.model.net import SmileNet
from smilenn.model.options import refuse_switched
from smilenn.model.threads import OneLibraryThread, OneThread

Predict = Callable[[pd.DataFrame], np.ndarray]
CENTRE = "centre"  # the branch that holds c
MOST_VALUES = 256  # combinations of protected values; every prediction asks the model for all of them
SHARE = 1 - 1e-6  # of ε that the box takes: the rest is for rounding
MOST_EPS = 1e100  # REACH times ε, and what the box adds up, must be far from the largest float
REACH = 2.0**26  # times ε: middles up to here are what m says; rounding takes a fifth of the rest of ε there


class Variants:
    """What m says of a row with each of the V combinations of protected values: one call [V, m] for each row.

    A call has the same layout for every row, and nothing but that row in it, so its V answers are a function of the
    unprotected part of the row. One thread computes. The centre asks first; its answers are kept until the backbone
    asks for the same rows.
    """

    def __init__(
        self, predict: Predict, domain: Domain, kept: Sequence[int], protected: Sequence[int], values: np.ndarray
    ) -> None:
        self.predict, self.domain, self.values = predict, domain, values
        self.kept, self.protected = list(kept), list(protected)
        self.latest: tuple[bytes, np.ndarray] | None = None

    def answers(self, y: np.ndarray) -> np.ndarray:
        """Unprotected parts y [B, i] → answers [B, V]; equal rows are asked for once."""
        y = np.ascontiguousarray(y, dtype=np.float64) + 0.0  # −0 becomes 0: equal numbers are the same bytes
        key, latest = y.tobytes(), self.latest
        if latest is None or latest[0] != key:
            every: dict[bytes, np.ndarray] = {}
            with OneThread(len(y)), OneLibraryThread():
                for row in y:
                    if row.tobytes() not in every:
                        every[row.tobytes()] = self.ask(self._variants(row))
                        refuse_switched()  # after every call: another thread may switch an option, and switch it back
            found = np.array([every[row.tobytes()] for row in y]).reshape(len(y), len(self.values))
            self.latest = latest = key, found
        return latest[1]

    def forget(self) -> None:
        """Drop the answers that are kept: whoever asks again asks the model."""
        self.latest = None

    def asks(self, owner: object, way: Callable[..., Any]) -> bool:
        """Whether answers come from `owner` by its method `way`, through no code that was put into this instance."""
        from smilenn.model.seal import reworked

        parts: list[tuple[object, type]] = [(self, Variants), (self.domain, Domain)]
        if any(type(part) is not kind or reworked(part) for part, kind in parts):
            return False
        predict = self.predict
        return isinstance(predict, MethodType) and predict.__self__ is owner and predict.__func__ is way

    def _variants(self, row: np.ndarray) -> np.ndarray:
        x = np.zeros((len(self.values), self.domain.size))
        x[:, self.kept], x[:, self.protected] = row, self.values
        return x

    def ask(self, x: np.ndarray) -> np.ndarray:
        """m at raw inputs x [n, m] in one call, [n]."""
        y = np.array(self.predict(self.domain.decode(x)), dtype=np.float64)
        if y.shape != (len(x),):
            raise SmileError(f"The model returned shape {y.shape} for {len(x)} rows; it must return one number a row.")
        return y


class Foreign(nn.Module):
    """m as a backbone: raw inputs [B, m] → predictions [B, 1], float64, taken from the answers about each row."""

    def __init__(self, variants: Variants) -> None:
        super().__init__()
        self.variants = variants

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[B, m] → [B, 1]; a row whose protected values are none of those listed gets a call of its own."""
        v, rows = self.variants, x.detach().cpu().numpy().astype(np.float64)
        own = (rows[:, None, v.protected] == v.values).all(axis=2)  # [B, V]
        y = v.answers(rows[:, v.kept])[np.arange(len(rows)), own.argmax(axis=1)]
        v.forget()
        for k in np.flatnonzero(~own.any(axis=1)):
            with OneLibraryThread():
                y[k] = v.ask(rows[k : k + 1])[0]
        return torch.tensor(y[:, None], device=x.device)


class MidRange(RowByRow):
    """c(x) from the unprotected columns [B, i] alone: the middle of what m says over all protected values."""

    foreign = True

    def __init__(self, variants: Variants) -> None:
        super().__init__()
        self.variants = variants

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → [B, 1]."""
        self.variants.forget()  # of a box without a backbone answers are left, and m may have learned since
        every = self.variants.answers(y.detach().cpu().numpy())
        middle = (every.min(axis=1, keepdims=True) + every.max(axis=1, keepdims=True)) / 2
        return torch.tensor(middle, device=y.device)


def clamp_fair(predict: Predict, domain: Domain, protected: Sequence[str], eps: float, data: pd.DataFrame) -> SmileNet:
    """Wrap a model so that it is ε-fair in the protected features, certified like any other network.

    Parameters
    ----------
    predict : the model, from a data frame with the columns of `domain` to one number a row (a value, a logit).
    domain : the inputs it is certified on; protected features have finitely many values.
    protected, eps : what must not matter, and by how much it may.
    data : rows that show the range of the predictions, as a data frame.

    c is kept within REACH·ε, or twice the range that it has on `data` where that is wider: rounding needs a bound.
    """
    plain = Domain(tuple(_unscaled(feature) for feature in domain.features))
    unknown = [name for name in protected if name not in plain.slices]
    if unknown or not protected:
        raise SmileError(
            f"The protected features {listed(unknown)} are not in the domain; name one or more of its own."
        )
    if not (math.isfinite(eps) and eps > 0):
        raise SmileError(f"eps must be positive, not {eps}; a clamp of no width would drop the protected features.")
    if eps > MOST_EPS:
        raise SmileError(f"eps is {eps:g}, and a clamp as wide as that limits nothing; give one below {MOST_EPS:g}.")
    foreign, centre = parts(predict, plain, protected)
    encoder = Encoder(plain, [Branch(CENTRE, centre.variants.kept, [Pinned(centre, 1)])])
    net = SmileNet(plain, foreign, 1, auxiliaries="affine", encoder=encoder, outputs=("",))
    with torch.no_grad():
        net.lower.slope.fill_(1.0)
        net.lower.const.fill_(-eps * SHARE / 2)
        net.gap.const.fill_(eps * SHARE)
        net.head_weight.fill_(1.0)
        low, high = _range(centre, torch.tensor(plain.encode(data, out_of_bounds="clamp")))
        encoder.lo.fill_(min(-REACH * eps, low - (high - low)))
        encoder.hi.fill_(max(REACH * eps, high + (high - low)))
    return net.eval()


def _range(centre: MidRange, x: torch.Tensor) -> tuple[float, float]:
    """The least and the largest middle at rows x [n, m]."""
    found = centre(x[:, centre.variants.kept]).numpy()
    found = found[np.isfinite(found)]
    if not found.size:
        raise SmileError("The model returned no finite number for any of the rows; a clamp needs some.")
    return float(found.min()), float(found.max())


def parts(predict: Predict, domain: Domain, protected: Sequence[str]) -> tuple[Foreign, MidRange]:
    """Backbone and centre of the clamp of a model, on a domain in raw units; `load_net` takes both."""
    columns = [i for name in protected for i in domain.indices(name)]
    kept = [i for i in range(domain.size) if i not in columns]
    if not kept:
        raise SmileError("Every feature is protected, so nothing is left to predict from; protect fewer.")
    variants = Variants(predict, domain, kept, columns, _values(domain, protected))
    return Foreign(variants), MidRange(variants)


def _unscaled(feature: Feature) -> Feature:
    """The feature in raw units: the model sees the user's own numbers, to the bit."""
    from dataclasses import replace

    return replace(feature, shift=0.0, mult=1.0)


def _values(domain: Domain, protected: Sequence[str]) -> np.ndarray:
    """All combinations of protected values as coordinates, [V, columns]."""
    parts = []
    for name in protected:
        feature = domain.feature(name)
        if feature.kind == "category":
            parts.append([tuple(row) for row in np.eye(len(feature.categories))])
        elif feature.kind in ("binary", "integer"):
            parts.append([(float(v),) for v in range(round(feature.lo), round(feature.hi) + 1)][: MOST_VALUES + 1])
        else:
            raise SmileError(
                f"{name!r} takes any number, so its values cannot all be asked for; a clamp needs classes."
            )
    if math.prod(len(part) for part in parts) > MOST_VALUES:
        raise SmileError(f"The protected features have more than {MOST_VALUES} combinations of values; protect fewer.")
    return np.array([sum(combination, ()) for combination in itertools.product(*parts)])
