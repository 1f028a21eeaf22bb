"""The counterfactual clamp: a model that somebody else trained, made ε-fair by construction.

    c(x) = ½·(max_v m(x with protected values v) + min_v m(…))          the mid-range over all protected values
    f(x) = m(x) cut to [c(x) − ε/2, c(x) + ε/2]

c does not depend on the protected features, so f changes by at most ε with them, and f = m wherever m itself is ε-fair.
As a `SmileNet`: c is a pinned encoder over the other columns, the box around it has width ε, and m is the backbone. The
certificate covers all of it and assumes of m only that equal inputs give equal bits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch
from torch import nn

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError, listed
from smilenn.model.encoders import Branch, Encoder, Pinned
from smilenn.model.net import SmileNet

Predict = Callable[[pd.DataFrame], np.ndarray]
CENTRE = "centre"  # the branch that holds c
MOST_VALUES = 256  # combinations of protected values; every prediction asks the model for all of them
SHARE = 1 - 1e-6  # of ε that the box takes: the rest is for rounding


class Foreign(nn.Module):
    """m as a module: raw inputs [B, m] → the columns of the user's data frame → predictions [B, 1], float64."""

    def __init__(self, predict: Predict, domain: Domain) -> None:
        super().__init__()
        self.predict, self.domain = predict, domain

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[B, m] → [B, 1]."""
        frame = self.domain.decode(x.detach().cpu().numpy().astype(np.float64))
        y = np.asarray(self.predict(frame), dtype=np.float64)
        if y.shape != (len(x),):
            raise SmileError(f"The model returned shape {y.shape} for {len(x)} rows; it must return one number a row.")
        return torch.tensor(y[:, None], device=x.device)


class MidRange(nn.Module):
    """c(x) from the unprotected columns [B, i] alone: the middle of what m says over all protected values."""

    def __init__(self, foreign: Foreign, kept: Sequence[int], protected: Sequence[int], values: np.ndarray) -> None:
        super().__init__()
        self.foreign, self.kept, self.protected, self.values = foreign, list(kept), list(protected), values

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → [B, 1]."""
        x = torch.zeros((len(y), self.foreign.domain.size), dtype=torch.float64)
        x[:, self.kept] = y.to(torch.float64).cpu()
        found = []
        for value in self.values:
            x[:, self.protected] = torch.tensor(value)
            found.append(self.foreign(x))
        every = torch.cat(found, dim=1)
        return ((every.amin(dim=1, keepdim=True) + every.amax(dim=1, keepdim=True)) / 2).to(y.device)


def clamp_fair(predict: Predict, domain: Domain, protected: Sequence[str], eps: float, data: pd.DataFrame) -> SmileNet:
    """Wrap a model so that it is ε-fair in the protected features, certified like any other network.

    Parameters
    ----------
    predict : the model, from a data frame with the columns of `domain` to one number a row (a value, a logit).
    domain : the inputs it is certified on; protected features have finitely many values.
    protected, eps : what must not matter, and by how much it may.
    data : rows that show the range of the predictions, as a data frame.
    """
    plain = Domain(tuple(_unscaled(feature) for feature in domain.features))
    unknown = [name for name in protected if name not in plain.slices]
    if unknown or not protected:
        raise SmileError(
            f"The protected features {listed(unknown)} are not in the domain; name one or more of its own."
        )
    if not (math.isfinite(eps) and eps > 0):
        raise SmileError(f"eps must be positive, not {eps}; a clamp of no width would drop the protected features.")
    foreign, centre = parts(predict, plain, protected)
    encoder = Encoder(plain, [Branch(CENTRE, centre.kept, [Pinned(centre, 1)])])
    net = SmileNet(plain, foreign, 1, auxiliaries="affine", encoder=encoder, outputs=("",))
    with torch.no_grad():
        net.lower.slope.fill_(1.0)
        net.lower.const.fill_(-eps * SHARE / 2)
        net.gap.const.fill_(eps * SHARE)
        net.head_weight.fill_(1.0)
        encoder.fit_box_(torch.tensor(plain.encode(data, out_of_bounds="clamp")))
    return net.eval()


def parts(predict: Predict, domain: Domain, protected: Sequence[str]) -> tuple[Foreign, MidRange]:
    """Backbone and centre of the clamp of a model, on a domain in raw units; `load_net` takes both."""
    columns = [i for name in protected for i in domain.indices(name)]
    kept = [i for i in range(domain.size) if i not in columns]
    if not kept:
        raise SmileError("Every feature is protected, so nothing is left to predict from; protect fewer.")
    foreign = Foreign(predict, domain)
    return foreign, MidRange(foreign, kept, columns, _values(domain, protected))


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
