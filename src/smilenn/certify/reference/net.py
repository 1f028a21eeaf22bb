"""The network as its folder describes it, every shape and type checked: docs/certificate.md, section 1.

Numbers are the rationals that the stored floats are. For the reference checker only.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from smilenn.certify.reference.contract import Contraction, read_contractions
from smilenn.certify.reference.floats import decoded
from smilenn.certify.reference.layers import Layer, layer_shapes, read_layer
from smilenn.certify.reference.strict import (
    Refused,
    as_float,
    as_integer,
    as_list,
    as_object,
    as_text,
    need,
    tensors_of,
)
from smilenn.certify.reference.trees import Tree, read_trees

MOST_LAYERS = 64  # of a branch: layers without tensors cost a file next to nothing and a checker a pass over all inputs
NET_KEYS = {
    "domain",
    "backbone",
    "embedding",
    "outputs",
    "auxiliaries",
    "hidden",
    "boxes",
    "skip",
    "output_scale",
    "profile",
    "grid",
}
ZERO, ONE = Fraction(0), Fraction(1)
LEAST_SCALE = Fraction(1, 2**1022)  # a subnormal scale might be flushed to zero, with all that the network returns
PROFILES = ("f64-aux", "fixed-order", "dyadic")
FEATURE_KEYS = {"name", "kind", "lo", "hi", "categories", "columns", "shift", "mult", "unit"}

Vector = list[Fraction]
Matrix = list[Vector]


@dataclass(frozen=True)
class Domain:
    """Coordinates in order; `indices` maps names of features and of coordinates to coordinates, features first."""

    names: tuple[str, ...]
    lo: tuple[Fraction, ...]
    hi: tuple[Fraction, ...]
    shift: tuple[Fraction, ...]
    mult: tuple[Fraction, ...]
    whole: tuple[bool, ...]
    groups: tuple[tuple[int, ...], ...]
    indices: Mapping[str, tuple[int, ...]]
    units: tuple[str, ...]


@dataclass(frozen=True)
class Branch:
    """Reads coordinates of the domain; without layers it passes them on."""

    name: str
    columns: tuple[int, ...]
    layers: tuple[Layer, ...]

    @property
    def outputs(self) -> int:
        """How many coordinates of e it makes."""
        return self.layers[-1].outputs if self.layers else len(self.columns)


@dataclass(frozen=True)
class Net:
    """The certified part: `tensors` holds rows of numbers, a vector as one row.

    `domain` has the inputs x, `inner` the coordinates e that the auxiliaries see, `passed` the coordinates of x that
    are coordinates of e too, with their places there. Without an encoder these are all, in the same places. `forests`
    has the trees of every layer of trees, `contractions` what is known of every contraction, by the beginning of its
    tensors' names; `spent` is the work that went into these.
    """

    domain: Domain
    encoder: tuple[Branch, ...]
    inner: Domain
    passed: Mapping[int, int]
    boxes: str
    auxiliaries: str
    hidden: int
    skip: bool
    embedding: int
    outputs: tuple[str, ...]
    output_scale: tuple[Fraction, ...]
    profile: str
    grid: int
    tensors: Mapping[str, Matrix]
    forests: Mapping[str, list[Tree]]
    contractions: Mapping[str, Contraction]
    spent: int

    @property
    def pinned(self) -> bool:
        """Whether a branch of the encoder ends in a pinned module."""
        return any(layer.kind == "pinned" for branch in self.encoder for layer in branch.layers)


# ---- the network ----------------------------------------------------------------------------------------------------


def read_net(description: dict[str, Any], data: bytes) -> tuple[Net, dict[str, bytes]]:
    """The network, and the raw data of its tensors."""
    domain, features = read_domain(description["domain"])
    boxes, auxiliaries = description["boxes"], description["auxiliaries"]
    need(boxes in ("gap", "paper"), "The boxes of the network are neither 'gap' nor 'paper'.")
    need(auxiliaries in ("constant", "affine", "relu"), "The network has auxiliaries of an unknown kind.")
    need(type(description["skip"]) is bool, "'skip' of the network is neither true nor false.")
    relu, skip = auxiliaries == "relu", description["skip"]
    hidden = as_integer(description["hidden"], 1 if relu else 0, 1 << 30, "'hidden' of the network")
    n = as_integer(description["embedding"], 1, 1 << 30, "'embedding' of the network")
    outputs = tuple(as_text(name, "The name of an output") for name in as_list(description["outputs"], "'outputs'"))
    need(0 < len(outputs) == len(set(outputs)), "The names of the outputs are missing or not unique.")
    scales = tuple(as_float(s, "An output scale") for s in as_list(description["output_scale"], "'output_scale'"))
    powers = all(s >= LEAST_SCALE and (s.numerator * s.denominator).bit_count() == 1 for s in scales)
    need(len(scales) == len(outputs) and powers, "The output scales are not one power of two per output.")
    profile = description["profile"]
    need(profile in PROFILES, "The network has a numeric profile that this checker does not know.")
    least, most = (1, 52) if profile == "dyadic" else (0, 0)
    grid = as_integer(description["grid"], least, most, f"'grid' of a network of the profile {profile!r}")
    encoded = "encoder" in description
    encoder = _encoder(description["encoder"], len(domain.names), features) if encoded else ()
    need(not encoded or profile != "dyadic", "A network of the profile 'dyadic' has an encoder.")
    m = sum(branch.outputs for branch in encoder) if encoded else len(domain.names)
    o, h = len(outputs), hidden if relu else 0
    shapes: dict[str, tuple[int, ...]] = {"head_weight": (o, n), "head_bias": (o,)}
    if encoded:
        shapes |= {"encoder.lo": (m,), "encoder.hi": (m,)}
    for layer in (layer for branch in encoder for layer in branch.layers):
        shapes |= layer_shapes(layer)
    for net, free in (("lower", True), ("second", boxes == "paper")):
        shapes[f"{net}.const"] = (n,)
        if free and (skip or auxiliaries == "affine"):
            shapes[f"{net}.slope"] = (n, m)
        if not free and auxiliaries == "affine" and not encoded:
            shapes |= {f"{net}.rise": (n, m), f"{net}.fall": (n, m)}
        if relu:
            shapes |= {f"{net}.weight": (h, m), f"{net}.bias": (h,), f"{net}.out": (n, h)}
    ignored = tuple(y.prefix + "module." for branch in encoder for y in branch.layers if y.kind == "pinned")
    stored = {name: entry for name, entry in tensors_of(data).items() if not name.startswith(ignored)}
    need(set(stored) == set(shapes), "weights.safetensors does not hold exactly the tensors of the network.")
    tensors = {}
    for name, (dtype, shape, raw) in stored.items():
        fits = dtype == "F64" and shape == shapes[name] and len(raw) == 8 * math.prod(shape)
        need(fits, f"The tensor {name!r} is not float64 of the network's shape.")
        values = _numbers(raw, name)
        width = shape[-1]
        tensors[name] = [values[i : i + width] for i in range(0, len(values), width)]
    if boxes == "gap":
        for name in {"second.const", "second.rise", "second.fall", "second.out"} & set(tensors):
            signs = all(v >= 0 for values in tensors[name] for v in values)
            need(signs, f"The gap has a negative weight in {name!r}, so its box could flip.")
    inner, passed = domain, {i: i for i in range(len(domain.names))}
    if encoded:
        inner, passed = _inner(domain, features, encoder, tensors)
    forests = {y.prefix: _forest(y, tensors) for branch in encoder for y in branch.layers if y.kind == "trees"}
    tested = read_contractions([y.prefix for b in encoder for y in b.layers if y.kind == "contract"], tensors)
    net = Net(
        domain,
        encoder,
        inner,
        passed,
        boxes,
        auxiliaries,
        h,
        skip,
        n,
        outputs,
        scales,
        profile,
        grid,
        tensors,
        forests,
        *tested,
    )
    return net, {name: raw for name, (_, _, raw) in stored.items()}


def _numbers(raw: bytes, name: str) -> Vector:
    """The floats of a tensor, from their bits."""
    out = []
    for bits in struct.unpack(f"<{len(raw) // 8}Q", raw):
        value = decoded(bits)
        if value is None:
            raise Refused(f"The weights {name!r} hold a value that is not finite.")
        out.append(value)
    return out


def read_domain(value: Any) -> tuple[Domain, dict[str, tuple[int, ...]]]:
    """The domain, and the coordinates of every feature by its name."""
    features = as_list(as_object(value, {"features"}, "The domain")["features"], "The features of the domain")
    need(bool(features), "The domain has no features.")
    names: list[str] = []
    columns: list[tuple[Fraction, Fraction, Fraction, Fraction, bool, str]] = []
    groups: list[tuple[int, ...]] = []
    spans: dict[str, tuple[int, ...]] = {}
    for item in features:
        feature = as_object(item, None, "A feature")
        known = {"name", "kind", "lo", "hi"} <= set(feature) <= FEATURE_KEYS
        need(known, "A feature has unknown keys or lacks its name, kind, lo or hi.")
        name, kind = as_text(feature["name"], "The name of a feature"), feature["kind"]
        what = f"The feature {name!r}"
        need(name != "" and name not in spans, "A feature has no name, or a name that appears twice.")
        need(kind in ("continuous", "integer", "binary", "category"), f"{what} is of an unknown kind.")
        lo, hi = as_float(feature["lo"], f"lo of {name!r}"), as_float(feature["hi"], f"hi of {name!r}")
        shift = as_float(feature["shift"], "shift") if "shift" in feature else ZERO
        mult = as_float(feature["mult"], "mult") if "mult" in feature else ONE
        unit = as_text(feature.get("unit", ""), "A unit")
        need(lo <= hi and mult > 0, f"{what} has bounds or a scale that make no sense.")
        values = [as_text(v, "A category") for v in as_list(feature.get("categories", []), "'categories'")]
        given = [as_text(v, "A column") for v in as_list(feature.get("columns", []), "'columns'")]
        if kind in ("binary", "category"):
            need((lo, hi, shift, mult) == (0, 1, 0, 1), f"{what} is {kind}: its bounds are 0 and 1, unscaled.")
            need(len(set(values)) == len(values), f"{what} lists a category twice.")
        if kind == "integer":
            need(lo.denominator == hi.denominator == 1, f"{what} is integer and needs whole bounds.")
        counts = {"continuous": not values, "integer": not values, "binary": len(values) in (0, 2)}
        need(counts.get(kind, bool(values)), f"{what} has the wrong number of categories.")
        need(not given or (kind == "category" and len(given) == len(values)), f"{what} has the wrong columns.")
        own = given or [f"{name}={v}" for v in values] if kind == "category" else [name]
        spans[name] = tuple(range(len(names), len(names) + len(own)))
        if kind == "category":
            groups.append(spans[name])
        names += own
        columns += [(lo, hi, shift, mult, kind != "continuous", unit)] * len(own)
    need(len(set(names)) == len(names), "Two coordinates have the same name.")
    lo, hi, shift, mult, whole, units = zip(*columns, strict=True)
    indices = {name: (i,) for i, name in enumerate(names)} | spans
    return Domain(tuple(names), lo, hi, shift, mult, whole, tuple(groups), indices, units), spans


# ---- the encoder ----------------------------------------------------------------------------------------------------


def _encoder(value: Any, m: int, features: Mapping[str, tuple[int, ...]]) -> tuple[Branch, ...]:
    """The branches; their tensors are not looked at yet."""
    branches: list[Branch] = []
    taken, used = set(features), set()  # names of features and branches with layers; coordinates that pass
    span_of = {i: span for span in features.values() for i in span}
    for b, item in enumerate(as_list(value, "'encoder'")):
        given = as_object(item, {"name", "columns", "layers"}, "A branch of the encoder")
        name = as_text(given["name"], "The name of a branch")
        columns = tuple(
            as_integer(i, 0, m - 1, "A column of a branch")
            for i in as_list(given["columns"], "The columns of a branch")
        )
        need(0 < len(columns) == len(set(columns)), f"The branch {name!r} has no columns, or one of them twice.")
        layers: list[Layer] = []
        described = as_list(given["layers"], "The layers of a branch")
        need(len(described) <= MOST_LAYERS, f"The branch {name!r} has more than {MOST_LAYERS} layers.")
        for one in described:
            # a pinned module may return anything, NaN included: only the box may follow it
            ended = bool(layers) and layers[-1].kind == "pinned"
            need(not ended, f"A pinned module of the branch {name!r} is followed by another layer.")
            width, first = (layers[-1].outputs, layers[0].outputs) if layers else (len(columns), 0)
            layers.append(read_layer(one, f"encoder.branches.{b}.layers.{len(layers)}.", width, first))
        if layers:
            need(name not in taken, f"The branch {name!r} has the name of a feature or of another branch.")
            taken.add(name)
        else:
            spans = dict.fromkeys(span_of[i] for i in columns)
            complete = sum(map(len, spans)) == len(columns) and all(i < j for i, j in pairwise(columns))
            need(complete, f"The branch {name!r} does not pass whole features in the order of the domain.")
            need(used.isdisjoint(columns), "A coordinate passes twice.")
            used |= set(columns)
        branches.append(Branch(name, columns, tuple(layers)))
    need(bool(branches), "The encoder has no branches.")
    return tuple(branches)


def _forest(layer: Layer, tensors: Mapping[str, Matrix]) -> list[Tree]:
    """The trees of a layer, from its nodes; a tensor without numbers has no rows."""
    split, number = ([v for row in tensors[layer.prefix + name] for v in row] for name in ("split", "number"))
    return read_trees(split, number, sum(layer.trees), layer.inputs + len(layer.sets))


def _inner(
    domain: Domain,
    features: Mapping[str, tuple[int, ...]],
    encoder: tuple[Branch, ...],
    tensors: Mapping[str, Matrix],
) -> tuple[Domain, dict[int, int]]:
    """The coordinates of e, and the places there of those that pass; names in claims are never looked up here."""
    (lo,), (hi,) = tensors["encoder.lo"], tensors["encoder.hi"]
    need(all(a <= b for a, b in zip(lo, hi, strict=True)), "The encoder's box has a lower end above the upper one.")
    for layer in (layer for branch in encoder for layer in branch.layers if layer.kind == "ramps"):
        need(all(v > 0 for v in tensors[f"{layer.prefix}rate"][0]), "A ramp of the encoder does not rise.")
    columns: list[tuple[str, Fraction, Fraction, Fraction, Fraction, bool, str]] = []
    passed: dict[int, int] = {}
    names: list[str] = []  # of e's features
    first_of = {span[0]: name for name, span in features.items()}
    for branch in encoder:
        for j in range(branch.outputs):
            at = len(columns)
            if branch.layers:
                columns.append((f"{branch.name}.{j}", lo[at], hi[at], ZERO, ONE, False, ""))
                names.append(columns[-1][0])
            else:
                i, d = branch.columns[j], domain
                passed[i] = at
                names += [first_of[i]] if i in first_of else []
                columns.append((d.names[i], d.lo[i], d.hi[i], d.shift[i], d.mult[i], d.whole[i], d.units[i]))
    unique = len({column[0] for column in columns}) == len(columns) and len(set(names)) == len(names)
    need(unique, "Two features or coordinates of the encoder's result have the same name.")
    moved = [tuple(passed[i] for i in group) for group in domain.groups if group[0] in passed]
    called, low, high, shift, mult, whole, units = zip(*columns, strict=True)
    return Domain(called, low, high, shift, mult, whole, tuple(sorted(moved)), {}, units), passed
