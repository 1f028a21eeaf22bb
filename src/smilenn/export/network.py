"""The network behind the encoder as ONNX: auxiliaries, box, backbone, head.

    fixed-order   sums as chains, in the library's order: the same bits
    dyadic        matrix products; no operation rounds, so these are the same bits too
    f64-aux       matrix products in float64: the certificate's margin covers every order of their sums

The backbone computes in its own type. Whatever it returns is put into the box by comparisons: no claim depends
on it.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from smilenn.errors import SmileError
from smilenn.export.graph import Graph
from smilenn.export.layers import array, encoded
from smilenn.model.auxiliaries import FreeNet, GapNet
from smilenn.model.fitted_backbone import FittedBackbone
from smilenn.model.net import SmileNet

FLOAT, DOUBLE = 1, 11


def outputs(graph: Graph, net: SmileNet, x: str) -> str:
    """Raw inputs [n, m] inside the domain → outputs [n, o]."""
    u = _scaled(graph, net, x)
    e = u if net.encoder is None else encoded(graph, net.encoder, u)
    lower = _auxiliary(graph, net, net.lower, e)
    if net.collapsed:
        return _head(graph, net, lower)
    second = _auxiliary(graph, net, net.second, e)
    upper = graph.op("Add", lower, second) if net.boxes == "gap" else second
    return _head(graph, net, graph.select(_backbone(graph, net, u), lower, upper))


def _scaled(graph: Graph, net: SmileNet, x: str) -> str:
    moved = graph.op("Sub", x, graph.constant(array(net.shift)[None]))
    u = _on_grid(graph, net, graph.op("Mul", moved, graph.constant(array(net.mult)[None])))
    ends = []
    for end in (net.u_lo, net.u_hi):
        grid = torch.round(end * 2.0**net.grid) * 2.0**-net.grid if net.grid else end
        ends.append(graph.constant(array(grid)[None]))
    u = graph.op("Where", graph.op("Less", u, ends[0]), ends[0], u)
    return str(graph.op("Where", graph.op("Greater", u, ends[1]), ends[1], u))


def _on_grid(graph: Graph, net: SmileNet, u: str) -> str:
    if not net.grid:
        return u
    rounded = graph.op("Round", graph.op("Mul", u, graph.constant(2.0**net.grid)))
    return str(graph.op("Mul", rounded, graph.constant(2.0**-net.grid)))


def _sum(graph: Graph, net: SmileNet, start: np.ndarray, terms: list[tuple[str, np.ndarray]]) -> str:
    """start [j] + Σ y·wᵀ over terms (y [n, i], w [j, i]), as the profile has it; [n, j]."""
    one = graph.constant([1], np.int64)
    if net.profile == "fixed-order":
        wide = [(graph.op("Unsqueeze", y, one), w[None]) for y, w in terms]
        return str(graph.op("Squeeze", graph.in_order(graph.constant(start[None, None]), wide), one))
    total = graph.constant(start[None])
    for y, w in terms:
        total = graph.op("Add", graph.op("MatMul", y, graph.constant(w.T)), total)
    return total


def _auxiliary(graph: Graph, net: SmileNet, part: nn.Module, e: str) -> str:
    """One auxiliary net at e [n, p], [n, embedding]."""
    assert isinstance(part, (FreeNet, GapNet))
    terms: list[tuple[str, np.ndarray]] = []
    if isinstance(part, FreeNet) and part.skip:
        terms.append((e, array(part.slope)))
    if isinstance(part, GapNet) and part.kind == "affine":
        terms.append((graph.op("Sub", e, graph.constant(array(part.u_lo)[None])), array(part.rise)))
        terms.append((graph.op("Sub", graph.constant(array(part.u_hi)[None]), e), array(part.fall)))
    if part.hidden:
        z = _sum(graph, net, array(part.bias), [(e, array(part.weight))])
        zero = graph.constant(0.0)
        terms.append((graph.op("Where", graph.op("Greater", z, zero), z, zero), array(part.out)))
    if terms:
        return _sum(graph, net, array(part.const), terms)
    # a constant for every row: zeros of the right shape and the constant
    first = graph.op("Gather", e, graph.constant([0], np.int64), axis=1)
    return str(graph.op("Add", graph.op("Mul", first, graph.constant(0.0)), graph.constant(array(part.const)[None])))


def _head(graph: Graph, net: SmileNet, z: str) -> str:
    found = _sum(graph, net, array(net.head_bias), [(z, array(net.head_weight))])
    return str(graph.op("Mul", found, graph.constant(array(net.output_scale)[None])))


def _backbone(graph: Graph, net: SmileNet, u: str) -> str:
    """z [n, embedding], float64, from model units, by the backbone's own layers in its own type."""
    parameter = next(net.backbone.parameters(), None)
    single = parameter is not None and parameter.dtype == torch.float32
    y = graph.op("Cast", u, to=FLOAT) if single else u
    for layer in _layers(net.backbone):
        y = _step(graph, layer, y, np.float32 if single else np.float64)
    return str(graph.op("Cast", y, to=DOUBLE)) if single else y


def _layers(module: nn.Module) -> list[nn.Module]:
    """The steps of a backbone that is a chain."""
    if isinstance(module, nn.Sequential):
        return [step for part in module for step in _layers(part)]
    inner = getattr(module, "layers", None)
    if type(module).__name__ == "ConvNet" and isinstance(inner, nn.Sequential):
        return _layers(inner)
    return [module]


def _step(graph: Graph, layer: nn.Module, y: str, kind: type) -> str:
    match layer:
        case nn.Linear():
            weight = graph.constant(array(layer.weight).T, kind)
            found = graph.op("MatMul", y, weight)
            return (
                found if layer.bias is None else graph.op("Add", found, graph.constant(array(layer.bias)[None], kind))
            )
        case nn.ReLU() | nn.Tanh() | nn.Sigmoid():
            return str(graph.op({nn.ReLU: "Relu", nn.Tanh: "Tanh", nn.Sigmoid: "Sigmoid"}[type(layer)], y))
        case nn.Unflatten():
            return str(graph.op("Reshape", y, graph.constant([0, *layer.unflattened_size], np.int64)))
        case nn.Flatten():
            return str(graph.op("Flatten", y, axis=1))
        case nn.ZeroPad2d():
            left, right, top, bottom = layer.padding
            pads = graph.constant([0, 0, top, left, 0, 0, bottom, right], np.int64)
            return str(graph.op("Pad", y, pads))
        case nn.Conv2d() if layer.padding == (0, 0) and layer.groups == 1 and layer.dilation == (1, 1):
            values = [graph.constant(array(layer.weight), kind)]
            values += [] if layer.bias is None else [graph.constant(array(layer.bias), kind)]
            return str(graph.op("Conv", y, *values, strides=list(layer.stride)))
        case nn.Dropout() | nn.Identity():
            return y
    if isinstance(layer, FittedBackbone):
        raise SmileError(
            f"The backbone is a fitted {layer.name}, which is no part of the network and cannot be exported with it; "
            "predict in Python, or fit without a backbone."
        )
    raise SmileError(
        f"The backbone has a layer {type(layer).__name__}, which cannot be exported; serve the model with smile serve "
        "instead."
    )
