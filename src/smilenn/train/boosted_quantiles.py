"""Boosted trees for quantiles that do not cross: one booster moves all of them alike.

    f_k(x) = m_g(x) + c_k,      c_k the quantile of level q_k of  y − m_g(x)  over the rows kept from each group g

m_g is fitted by squares: scikit-learn sets the leaves of a booster of quantiles anew after a tree is grown, and then
they no longer keep signs. The rows that m_g learned from lie too near to it to say how far apart quantiles are, so c is
taken from kept rows, of all groups together: those of one are few, and they judge it. The steps between quantiles must
rise or fall with a feature where the quantiles have to, which a difference of two boosters does not do: how they depend
on the inputs is left to networks and linear functions.

The coordinates z of a network of ordered quantiles are the steps from one to the next and one output, f = G·z. One of
them, the shift s, moves all outputs alike: G_ks = 1 for every k. With T = G⁻¹ and all of it in units of the outputs'
scale, less their start b,

    z_s = m_g(x) + Σ_k T_sk·(c_k − b_k),      z_t = Σ_k T_tk·(c_k − b_k)  for the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from smilenn.model.encoders import Branch, Trees
from smilenn.model.net import SmileNet
from smilenn.train.losses import Quantiles
from smilenn.train.phases import Training


def shift_of(net: SmileNet) -> int | None:
    """The coordinate that moves all outputs alike; None where there is none, or the outputs have different scales."""
    head, scale = net.head_weight.detach().cpu().numpy(), net.output_scale.cpu().numpy()
    alike = np.flatnonzero((head == 1.0).all(axis=0))
    square = head.shape[0] == head.shape[1]
    return int(alike[0]) if square and len(alike) == 1 and (scale == scale[0]).all() else None


def placed(net: SmileNet, c: np.ndarray) -> np.ndarray:
    """z [o] at m = 0, for c [o] in units of the outputs' scale."""
    head, start = net.head_weight.detach().cpu().numpy(), net.head_bias.detach().cpu().numpy()
    return np.linalg.solve(head, c - start)


def quantiles(values: np.ndarray, weight: np.ndarray, levels: tuple[float, ...]) -> np.ndarray:
    """Quantiles of values [n], rows counting by their weights, [o]."""
    order = np.argsort(values, kind="stable")
    share = weight[order] if weight.any() else np.ones(len(values))
    before = np.cumsum(share) - share / 2
    return np.interp(np.array(levels) * share.sum(), before, values[order])


def steady(name: str, columns: list[int]) -> Branch:
    """A branch of one coordinate that is zero everywhere: a tree that is a leaf."""
    return Branch(name, columns, [Trees.of(len(columns), [[([-1], [0.0])]], bias=[0.0])])


def hold_apart_(net: SmileNet, task: Training, kind: Quantiles, groups: Sequence[Sequence[Branch]]) -> None:
    """Add to the coordinates of every group, a booster and zeros, what holds the quantiles apart."""
    shift, folds = shift_of(net), task.folds
    assert shift is not None and folds is not None
    left, weights = list[np.ndarray](), list[np.ndarray]()
    for own, branches in zip(folds.T, groups, strict=False):
        m = branches[shift](net.scale(task.x[own]))[:, 0]
        left.append((task.y[own, 0] / net.output_scale[0] - m).cpu().numpy())
        weights.append((torch.ones_like(m) if task.weight is None else task.weight[own]).cpu().numpy())
    z = placed(net, quantiles(np.concatenate(left), np.concatenate(weights), kind.levels))
    for branches in groups:
        for branch, value in zip(branches, z, strict=True):
            layer = branch.layers[0]
            assert isinstance(layer, Trees)
            layer.bias.add_(float(value))
