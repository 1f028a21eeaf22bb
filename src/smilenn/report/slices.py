"""One-dimensional slices: an output along one feature, the others fixed, with the box around it.

The box at an input is what the proof covers: the output lies in it whatever the backbone does,

    Σ_i G⁺_i lower_i + G⁻_i upper_i + g_0   ≤   f   ≤   Σ_i G⁺_i upper_i + G⁻_i lower_i + g_0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smilenn.domain import Domain, Feature
from smilenn.model.net import SmileNet
from smilenn.properties.claim import Claim

POINTS = 81
MOST = 12


@dataclass(frozen=True, eq=False)
class Slice:
    """One feature: its values (numbers [p], or names), one output [p], called `name`, and its box's ends [p] there.

    `others` are the outputs [p] along the same feature from two further rows, of low and of high output. `share` [p]:
    how many rows lie nearest to each value, as a share of the most; it is empty where no data were given.
    """

    feature: Feature
    name: str
    at: np.ndarray
    names: tuple[str, ...]
    output: np.ndarray
    low: np.ndarray
    high: np.ndarray
    others: tuple[np.ndarray, ...]
    here: float
    share: np.ndarray


def output_box(net: SmileNet, x: np.ndarray, k: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the box in output units at x [n, m], of output k, each [n]."""
    import torch

    with torch.no_grad():
        e = net.encode(net.scale(torch.as_tensor(x, device=net.shift.device)))
        lower, upper = net.box(e)
        upper = torch.maximum(lower, upper)  # the paper's boxes may be flipped; the network resolves that so
        weight, bias = (part.cpu().numpy() for part in net.effective_head())
        lower, upper = lower.cpu().numpy(), upper.cpu().numpy()
    up, down = np.maximum(weight[k], 0.0), np.minimum(weight[k], 0.0)
    return lower @ up + upper @ down + bias[k], upper @ up + lower @ down + bias[k]


def slices(net: SmileNet, claims: tuple[Claim, ...], rows: np.ndarray, *, data: bool) -> tuple[Slice, ...]:
    """Slices through the row of median output, `MOST` at most, features that the rules name first; rows [n, m], drawn
    from the domain where they are no `data`.

    Of several outputs each has its slices, through rows of low, median and high values of its own.
    """
    domain, outputs = net.domain, net.predict(rows)
    named = {name for claim in claims for name in (*claim.named, *claim.free)}
    features = sorted(domain.features, key=lambda f: not ({f.name, *f.coordinates} & named))
    shown = features[: max(1, MOST // len(net.outputs))]
    found = []
    for k, name in enumerate(net.outputs[:MOST]):
        order = np.argsort(outputs[:, k], kind="stable")
        low, middle, high = (rows[order[int(share * (len(order) - 1))]] for share in (0.1, 0.5, 0.9))
        found += [
            _slice(net, domain, feature, middle, (low, high), k, name, rows if data else rows[:0]) for feature in shown
        ]
    return tuple(found)


def _slice(
    net: SmileNet,
    domain: Domain,
    feature: Feature,
    middle: np.ndarray,
    others: tuple[np.ndarray, ...],
    k: int,
    name: str,
    data: np.ndarray,
) -> Slice:
    span = domain.slices[feature.name]
    names: tuple[str, ...] = ()
    if feature.kind == "category":
        block, names = np.eye(len(feature.values)), feature.values
        at, here = np.arange(len(names), dtype=np.float64), float(middle[span].argmax())
    else:
        if feature.kind == "continuous":
            at = np.linspace(feature.lo, feature.hi, POINTS)
        else:
            at = np.unique(np.rint(np.linspace(feature.lo, feature.hi, POINTS)))
            if feature.kind == "binary":
                names = feature.categories or ("0", "1")
        block, here = at[:, None], float(middle[span][0])

    def along(row: np.ndarray) -> np.ndarray:
        x = np.repeat(row[None], len(at), axis=0)
        x[:, span] = block
        return x

    low, high = output_box(net, along(middle), k)
    output, *lines = (net.predict(along(row))[:, k] for row in (middle, *others))
    return Slice(feature, name, at, names, output, low, high, tuple(lines), here, _shares(data[:, span], at))


def _shares(cells: np.ndarray, at: np.ndarray) -> np.ndarray:
    """How many rows lie nearest to each of the values at [p], as a share of the most; of cells [n, c], one-hot or not.

    >>> _shares(np.array([[0.0], [1.2], [0.9]]), np.array([0.0, 1.0, 2.0])).tolist()
    [0.5, 1.0, 0.0]
    """
    if not len(cells):
        return np.zeros(0)
    values = cells.argmax(axis=1) if cells.shape[1] > 1 else cells[:, 0]
    nearest = np.searchsorted((at[1:] + at[:-1]) / 2, values)
    count = np.bincount(nearest, minlength=len(at))
    return count / count.max()
