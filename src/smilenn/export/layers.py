"""Encoders as ONNX: the operations of model/encoders, in their order, so that every number has the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from smilenn.errors import SmileError
from smilenn.export.graph import TREES, Graph
from smilenn.model.encoders.contract import Contract
from smilenn.model.encoders.distance import Distance
from smilenn.model.encoders.encoder import Branch, Encoder
from smilenn.model.encoders.layers import Kinks, Layer, Linear, Pool, Ramps
from smilenn.model.encoders.together import groups
from smilenn.model.encoders.trees import LEAF, Trees


def array(tensor: torch.Tensor) -> np.ndarray:
    """A tensor's numbers."""
    return tensor.detach().cpu().numpy()


def encoded(graph: Graph, encoder: Encoder, u: str) -> str:
    """e = E(u): model units [n, m] → [n, p], cut to the box."""
    branches = [branch for branch in encoder.branches if isinstance(branch, Branch)]
    found: dict[int, str] = {}
    for group in groups(branches):
        if isinstance(branches[group[0]].layers[0], Trees):
            continue  # a node of their own for every branch
        found |= zip(group, _group(graph, [branches[k] for k in group], u), strict=True)
    parts = [found[k] if k in found else _branch(graph, branch, u) for k, branch in enumerate(branches)]
    e = parts[0] if len(parts) == 1 else graph.op("Concat", *parts, axis=1)
    passed = ~encoder.encoded  # features that pass unchanged are not cut
    lo = np.where(passed, -np.inf, array(encoder.lo))[None]
    hi = np.where(passed, np.inf, array(encoder.hi))[None]
    low, high = graph.constant(lo), graph.constant(hi)
    inner = graph.op("Where", graph.op("Less", e, high), e, high)
    return str(graph.op("Where", graph.op("Greater", e, low), inner, low))


def _gather(graph: Graph, value: str, places: Sequence[int]) -> str:
    return str(graph.op("Gather", value, graph.constant(list(places), np.int64), axis=-1))


def _group(graph: Graph, branches: Sequence[Branch], u: str) -> list[str]:
    """The outputs [n, outputs] of branches of one shape."""
    y = graph.op("Unsqueeze", _gather(graph, u, branches[0].columns), graph.constant([1], np.int64))  # [n, 1, i]
    base = None
    for number in range(len(branches[0].layers)):
        layers = [branch.layers[number] for branch in branches]
        if isinstance(layers[0], Ramps):
            y = _ramps(graph, [layer for layer in layers if isinstance(layer, Ramps)], y)
        elif isinstance(layers[0], Linear):
            y = _linear(graph, [layer for layer in layers if isinstance(layer, Linear)], y, base)
        else:
            assert isinstance(layers[0], Kinks)
            y = _kinks(graph, layers[0], y)
        base = y if base is None else base
    size = branches[0].outputs
    if not any(isinstance(layer, (Ramps, Linear)) for layer in branches[0].layers):  # the same for all of them
        flat = graph.op("Reshape", y, graph.constant([-1, size], np.int64))
        return [flat] * len(branches)
    flat = graph.op("Reshape", y, graph.constant([-1, size * len(branches)], np.int64))
    if len(branches) == 1:
        return [flat]
    return list(graph.op("Split", flat, outputs=len(branches), axis=1, num_outputs=len(branches)))


def _ramps(graph: Graph, layers: Sequence[Ramps], y: str) -> str:
    start, rate = (np.stack([array(getattr(layer, name)) for layer in layers])[None] for name in ("start", "rate"))
    moved = graph.op("Sub", _gather(graph, y, layers[0].source), graph.constant(start))
    r = graph.op("Mul", moved, graph.constant(rate))
    zero, one = graph.constant(0.0), graph.constant(1.0)
    r = graph.op("Where", graph.op("Greater", r, zero), r, zero)
    return str(graph.op("Where", graph.op("Less", r, one), r, one))


def _linear(graph: Graph, layers: Sequence[Linear], y: str, base: str | None) -> str:
    if layers[0].base:
        assert base is not None
        y = graph.op("Concat", y, base, axis=2)
    weight, bias = (np.stack([array(getattr(layer, name)) for layer in layers]) for name in ("weight", "bias"))
    return graph.in_order(graph.constant(bias[None]), [(y, weight)])


def _kinks(graph: Graph, layer: Kinks, y: str) -> str:
    """relu for the first units, −relu(−y) after."""
    convex = np.arange(layer.outputs) < layer.convex
    zero = graph.constant(0.0)
    above = graph.op("Where", graph.op("Greater", y, zero), y, zero)
    below = graph.op("Where", graph.op("Less", y, zero), y, zero)
    return str(graph.op("Where", graph.constant(convex, np.bool_), above, below))


def _branch(graph: Graph, branch: Branch, u: str) -> str:
    """A branch by itself, [n, outputs]."""
    y = _gather(graph, u, branch.columns)
    for layer in branch.layers:
        assert isinstance(layer, Layer)
        y = _layer(graph, layer, y, branch.name)
    return y


def _layer(graph: Graph, layer: Layer, y: str, name: str) -> str:
    if isinstance(layer, Trees):
        return _trees(graph, layer, y)
    if isinstance(layer, Distance):
        return _distance(graph, layer, y)
    if isinstance(layer, Contract):
        return _contract(graph, layer, y)
    if isinstance(layer, Pool):
        return _pool(graph, layer, y)
    if isinstance(layer, (Ramps, Linear, Kinks)):
        return _alone(graph, layer, y)
    raise SmileError(
        f"The branch {name!r} has a layer of the kind {type(layer).__name__}, which cannot be exported; serve the "
        "model with smile serve instead."
    )


def _alone(graph: Graph, layer: Ramps | Linear | Kinks, y: str) -> str:
    wide = graph.op("Unsqueeze", y, graph.constant([1], np.int64))
    if isinstance(layer, Ramps):
        out = _ramps(graph, [layer], wide)
    elif isinstance(layer, Linear):
        if layer.base:
            raise SmileError("A branch that mixes its first layer into later ones beside other layers has no export.")
        out = _linear(graph, [layer], wide, None)
    else:
        out = _kinks(graph, layer, wide)
    return str(graph.op("Squeeze", out, graph.constant([1], np.int64)))


def _distance(graph: Graph, layer: Distance, y: str) -> str:
    """max_i |y_i − w_ji| + b_j, unit by unit: [n, i] differences at a time."""
    units = []
    for weight in array(layer.weight):
        apart = graph.op("Abs", graph.op("Sub", y, graph.constant(weight[None])))
        units.append(graph.op("ReduceMax", apart, graph.constant([1], np.int64), keepdims=1))
    most = units[0] if len(units) == 1 else graph.op("Concat", *units, axis=1)
    bias = array(layer.bias if layer.mean is None else layer.bias - layer.mean)
    return str(graph.op("Add", most, graph.constant(bias[None])))


def _contract(graph: Graph, layer: Contract, y: str) -> str:
    one, weight = graph.constant([1], np.int64), array(layer.weight)
    z = graph.in_order(graph.constant(array(layer.bias)[None, None]), [(graph.op("Unsqueeze", y, one), weight.T[None])])
    zero = graph.constant(0.0)
    c = graph.op("Where", graph.op("Greater", z, zero), z, zero)
    c = graph.op("Mul", c, graph.constant(array(layer.gain)[None, None]))
    moved = graph.in_order(graph.op("Unsqueeze", y, one), [(c, -weight[None])])
    return str(graph.op("Squeeze", moved, one))


def _pool(graph: Graph, layer: Pool, y: str) -> str:
    side, block = layer.side, layer.block
    places = np.arange(side * side).reshape(side // block, block, side // block, block)
    total = graph.constant(np.zeros((1, layer.outputs)))
    for r in range(block):
        for c in range(block):
            total = graph.op("Add", total, _gather(graph, y, places[:, r, :, c].ravel().tolist()))
    return str(graph.op("Div", total, graph.constant(float(block * block))))


def _trees(graph: Graph, layer: Trees, y: str) -> str:
    """Every tree is a target of its own, so that no runtime adds two of them; then the sums, in order."""
    asked = [y]
    for places in layer.sets:
        own = _gather(graph, y, places)
        asked.append(graph.op("ReduceMax", own, graph.constant([1], np.int64), keepdims=1))
    questions = y if len(asked) == 1 else graph.op("Concat", *asked, axis=1)
    values = graph.op("TreeEnsemble", questions, domain=TREES, **_nodes(graph, layer))
    columns, at, totals = graph.columns(values, sum(layer.trees)), 0, []
    for count, bias in zip(layer.trees, layer.bias.tolist(), strict=True):
        total = graph.constant([[bias]])
        for column in columns[at : at + count]:
            total = graph.op("Add", total, column)
        totals.append(graph.op("Add", total, graph.constant([[0.0]])))
        at += count
    return totals[0] if len(totals) == 1 else str(graph.op("Concat", *totals, axis=1))


def _nodes(graph: Graph, layer: Trees) -> dict[str, Any]:
    """The attributes of ai.onnx.ml.TreeEnsemble: inner nodes and leaves apart, a node left of z ≤ θ."""
    found = _Nodes(layer.split.long().tolist(), layer.number.tolist())
    roots = [found.tree(tree) for tree in range(sum(layer.trees))]
    return {
        "n_targets": sum(layer.trees),
        "aggregate_function": 1,
        "post_transform": 0,
        "tree_roots": roots,
        "nodes_featureids": found.asks,
        "nodes_splits": graph.tensor(found.theta),
        "nodes_modes": graph.tensor([0] * len(found.asks), np.uint8),
        "nodes_truenodeids": [place for (place, _), _ in found.children],
        "nodes_falsenodeids": [place for _, (place, _) in found.children],
        "nodes_trueleafs": [leaf for (_, leaf), _ in found.children],
        "nodes_falseleafs": [leaf for _, (_, leaf) in found.children],
        "leaf_targetids": found.target,
        "leaf_weights": graph.tensor(found.weight),
    }


class _Nodes:
    """Trees in preorder taken apart: inner nodes with (place, whether it is a leaf) of both children, and leaves."""

    def __init__(self, split: list[int], number: list[float]) -> None:
        self.split, self.number, self.at = split, number, 0
        self.asks: list[int] = []
        self.theta: list[float] = []
        self.children: list[list[tuple[int, int]]] = []
        self.target: list[int] = []
        self.weight: list[float] = []

    def tree(self, tree: int) -> int:
        """Take the next tree; the place of its root."""
        if self.split[self.at] == LEAF:  # a tree of one leaf: both sides of any question
            root = self._inner(0, 0.0)
            value = self.number[self.at]
            self.children[root] = [self._leaf(value, tree), self._leaf(value, tree)]
            self.at += 1
            return root
        root = len(self.asks)
        ahead: list[int] = []  # who waits for a child, the left one first
        while True:
            asked, value = self.split[self.at], self.number[self.at]
            self.at += 1
            place = self._leaf(value, tree) if asked == LEAF else (self._inner(asked, value), 0)
            if ahead:
                self.children[ahead.pop()].append(place)
            if asked != LEAF:
                ahead += [place[0], place[0]]
            elif not ahead:
                return root

    def _leaf(self, value: float, tree: int) -> tuple[int, int]:
        self.target.append(tree)
        self.weight.append(value)
        return len(self.weight) - 1, 1

    def _inner(self, asked: int, theta: float) -> int:
        self.asks.append(asked)
        self.theta.append(theta)
        self.children.append([])
        return len(self.asks) - 1
