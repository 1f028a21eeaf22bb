"""The layers of an encoder as a folder describes them, every size checked: docs/certificate.md, section 1.

For the reference checker only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from smilenn.certify.reference.strict import as_integer, as_list, as_object, as_text, need

LAYER_KEYS = {
    "ramps": {"source"},
    "linear": {"inputs", "outputs", "base"},
    "kinks": {"size", "convex"},
    "pool": {"side", "block"},
    "distance": {"inputs", "outputs"},
    "contract": {"inputs", "units"},
    "trees": {"inputs", "trees", "nodes", "sets"},
    "pinned": {"outputs", "module"},
}
SIZES = ("inputs", "outputs", "base", "size", "convex", "side", "block", "nodes", "units")


@dataclass(frozen=True)
class Layer:
    """A layer of a branch, from `inputs` to `outputs` numbers; its tensors' names begin with `prefix`.

    What its kind does not have is empty or 0: `source` of ramps, `base` of linear, `convex` of kinks, `block` of pool,
    `nodes` in all of trees, `trees` of each output and the `sets` that they ask for, `units` of a contraction.
    """

    kind: str
    prefix: str
    inputs: int
    outputs: int
    source: tuple[int, ...] = ()
    base: int = 0
    convex: int = 0
    block: int = 0
    nodes: int = 0
    trees: tuple[int, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()
    units: int = 0


def read_layer(value: Any, prefix: str, width: int, first: int) -> Layer:
    """A layer for `width` numbers; `first` is how many the branch's first layer gives, 0 if it is this one."""
    given = as_object(value, None, "A layer of the encoder")
    kind = as_text(given.get("kind"), "The kind of a layer")
    need(kind in LAYER_KEYS, "A layer of the encoder is of an unknown kind.")
    what = f"A layer of the kind {kind!r}"
    as_object(given, LAYER_KEYS[kind] | {"kind"}, what)
    sizes = {key: as_integer(v, 0, 1 << 30, f"{key!r} of a layer") for key, v in given.items() if key in SIZES}
    if "outputs" in sizes:
        need(sizes["outputs"] >= 1, f"{what} has no outputs.")
    inputs = sizes["side"] ** 2 if kind == "pool" else sizes.get("size", sizes.get("inputs", width))
    need(inputs == width, f"{what} does not fit the number of its inputs.")
    if kind == "ramps":
        source = tuple(as_integer(i, 0, width - 1, "A source") for i in as_list(given["source"], "'source'"))
        need(bool(source), "A layer of ramps has none.")
        return Layer(kind, prefix, width, len(source), source=source)
    if kind == "kinks":
        need(sizes["convex"] <= width, "A layer of kinks has more convex ones than it has inputs.")
        return Layer(kind, prefix, width, width, convex=sizes["convex"])
    if kind == "pool":
        side, block = sizes["side"], sizes["block"]
        need(block >= 1 and side % block == 0, "A pool's block does not divide its side.")
        return Layer(kind, prefix, width, (side // block) ** 2, block=block)
    if kind == "trees":
        return _trees(given, prefix, width, sizes["nodes"])
    if kind == "contract":
        need(sizes["units"] >= 1, "A contraction has no units.")
        return Layer(kind, prefix, width, width, units=sizes["units"])
    base = sizes.get("base", 0)
    need(base in (0, first), "'base' of a layer is neither 0 nor the number of outputs of the branch's first layer.")
    return Layer(kind, prefix, width, sizes["outputs"], base=base)


def _trees(given: Mapping[str, Any], prefix: str, width: int, nodes: int) -> Layer:
    """A layer of trees; their nodes are tensors."""
    counts, sets = given["trees"], given["sets"]
    several = isinstance(counts, list) and all(type(n) is int and n >= 1 for n in counts)
    need(several and bool(counts), "A layer of trees has an output without trees.")
    need(isinstance(sets, list), "A set of a layer of trees is malformed.")
    for places in sets:
        good = isinstance(places, list) and all(type(i) is int and 0 <= i < width for i in places)
        rising = good and bool(places) and all(i < j for i, j in pairwise(places))
        need(rising, "A set of a layer of trees is malformed.")
    need(nodes >= 1, "The nodes of a layer of trees do not make up its trees.")
    return Layer("trees", prefix, width, len(counts), nodes=nodes, trees=tuple(counts), sets=tuple(map(tuple, sets)))


def layer_shapes(layer: Layer) -> dict[str, tuple[int, ...]]:
    """The tensors of a layer."""
    if layer.kind == "ramps":
        return {f"{layer.prefix}start": (layer.outputs,), f"{layer.prefix}rate": (layer.outputs,)}
    if layer.kind in ("linear", "distance"):
        weight = (layer.outputs, layer.inputs + layer.base)
        return {f"{layer.prefix}weight": weight, f"{layer.prefix}bias": (layer.outputs,)}
    if layer.kind == "trees":
        nodes = {layer.prefix + name: (layer.nodes,) for name in ("split", "number")}
        return nodes | {f"{layer.prefix}bias": (layer.outputs,)}
    if layer.kind == "contract":
        vectors = {layer.prefix + name: (layer.units,) for name in ("bias", "gain", "balance")}
        return vectors | {f"{layer.prefix}weight": (layer.inputs, layer.units)}
    return {}
