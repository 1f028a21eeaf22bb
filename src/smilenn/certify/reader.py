"""Reading a model folder strictly, with the standard library only: docs/certificate.md, sections 1 and 6.

    read_folder(path) -> Folder      the network's certified part and the certificate, every shape and type checked

`Unreadable` is raised for what is missing or cannot be parsed, `Refused` for what can be parsed and breaks a rule.
Nothing else is raised: every size is compared with the file before anything of that size is made, nesting is bounded
before JSON is parsed, and nothing here recurses on data. Numbers stay the floats that are stored, or `Fraction`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

LARGEST_FILE, LARGEST_JSON, LARGEST_HEADER = 1 << 30, 64 << 20, 16 << 20
LONGEST_NUMBER, DEEPEST, MOST_NODES, MOST_WORK = 400, 64, 1 << 24, 1 << 36
LARGEST_DENOMINATOR = 10**1000
MOST_LAYERS = 64  # of a branch: layers without tensors cost a file next to nothing and a checker a pass over all inputs
NEEDED = ("model.json", "weights.safetensors", "certificate.json", "certificate.bin")
NET_KEYS = {
    "domain", "backbone", "embedding", "outputs", "auxiliaries", "hidden", "boxes", "skip", "output_scale",
    "profile", "grid",
}  # fmt: skip
LAYER_KEYS = {
    "ramps": {"source"},
    "linear": {"inputs", "outputs", "base"},
    "kinks": {"size", "convex"},
    "pool": {"side", "block"},
    "distance": {"inputs", "outputs"},
    "pinned": {"outputs", "module"},
}
SIZES = ("inputs", "outputs", "base", "size", "convex", "side", "block")
PROFILES = ("f64-aux", "fixed-order", "dyadic")
FEATURE_KEYS = {"name", "kind", "lo", "hi", "categories", "columns", "shift", "mult", "unit"}
CLAIM_KEYS = {"copies", "when", "then", "others", "equal", "free", "sentence"}
PLACE_KEYS = {"rule", "bits", "start", "length"}
RATIONAL = re.compile(r"-?[0-9]{1,400}(/[0-9]{1,400})?")
# a string (closed, or running to the end of the text) or a bracket; never fails after starting, so it stays linear
NESTING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*\\?(?:"|\Z)|([\[{])|([\]}])', re.DOTALL)
HASH = re.compile(r"[0-9a-f]{64}")


class CheckError(Exception):
    """Why a folder was not accepted, in one sentence."""


class Unreadable(CheckError):
    """Missing, or not parseable."""


class Refused(CheckError):
    """Parseable, but a rule of the specification is broken."""


@dataclass(frozen=True)
class Domain:
    """Coordinates in order; `indices` maps names of features and of coordinates to coordinates, features first."""

    names: tuple[str, ...]
    lo: tuple[float, ...]
    hi: tuple[float, ...]
    shift: tuple[float, ...]
    mult: tuple[float, ...]
    whole: tuple[bool, ...]
    groups: tuple[tuple[int, ...], ...]
    indices: Mapping[str, tuple[int, ...]]
    units: tuple[str, ...]


@dataclass(frozen=True)
class Layer:
    """A layer of a branch, from `inputs` to `outputs` numbers; its tensors' names begin with `prefix`.

    What its kind does not have is empty or 0: `source` of ramps, `base` of linear, `convex` of kinks, `block` of pool.
    """

    kind: str
    prefix: str
    inputs: int
    outputs: int
    source: tuple[int, ...] = ()
    base: int = 0
    convex: int = 0
    block: int = 0


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
    """The certified part: `tensors` holds rows of floats, a vector as one row.

    `domain` has the inputs x, `inner` the coordinates e that the auxiliaries see, `passed` the coordinates of x that
    are coordinates of e too, with their places there. Without an encoder these are all, in the same places.
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
    output_scale: tuple[float, ...]
    profile: str
    grid: int
    tensors: Mapping[str, tuple[tuple[float, ...], ...]]


@dataclass(frozen=True)
class Term:
    """coef · x[copy, index] if `output` is False, else coef · f[copy, index]."""

    coef: Fraction
    copy: int
    output: bool
    index: int
    name: str


@dataclass(frozen=True)
class Row:
    """Σ terms ≤ rhs, or == rhs."""

    terms: tuple[Term, ...]
    rhs: Fraction
    equality: bool


@dataclass(frozen=True)
class Claim:
    """∀ copies : when ⇒ then; `equal` and `free` as the names given."""

    copies: int
    when: tuple[Row, ...]
    then: tuple[Row, ...]
    others: str
    equal: tuple[str, ...]
    free: tuple[str, ...]
    sentence: str

    def rows(self) -> list[Row]:
        """The conclusion as ≤ rows; an == row gives itself and then its negation."""
        out = []
        for row in self.then:
            out.append(Row(row.terms, row.rhs, False))
            if row.equality:
                negated = tuple(Term(-t.coef, t.copy, t.output, t.index, t.name) for t in row.terms)
                out.append(Row(negated, -row.rhs, False))
        return out


@dataclass(frozen=True)
class Proof:
    """The proof of one row: `nodes` is its piece of the binary file, `of` the row a mirror refers to."""

    rule: str
    bits: int = 0
    units: tuple[int, ...] = ()
    nodes: bytes = b""
    of: int = 0


@dataclass(frozen=True)
class Entry:
    """A claim with its witness (k rows of m floats) and the proofs of its rows."""

    claim: Claim
    witness: tuple[tuple[float, ...], ...]
    proofs: tuple[Proof, ...]


@dataclass(frozen=True)
class Folder:
    """Everything a checker needs."""

    net: Net
    entries: tuple[Entry, ...]


def read_folder(path: str | os.PathLike[str]) -> Folder:
    """Read model.json, weights.safetensors and the certificate of a model folder."""
    files = _listed_files(Path(path))
    model = _object(parse_json(files["model.json"], "model.json"), None, "model.json")
    description = _object(model.get("net"), None, "The object 'net' of model.json")
    _object(description, NET_KEYS | ({"encoder"} & set(description)), "The object 'net' of model.json")
    net, raw = _net(description, files["weights.safetensors"])
    return Folder(net, _certificate(files["certificate.json"], files["certificate.bin"], net, description, raw))


# ---- types ----------------------------------------------------------------------------------------------------------


def _need(condition: bool, reason: str) -> None:
    if not condition:
        raise Refused(reason)


def _object(value: Any, keys: Collection[str] | None, what: str) -> dict[str, Any]:
    _need(isinstance(value, dict), f"{what} is not an object.")
    if keys is not None:
        _need(set(value) == set(keys), f"{what} must have exactly the keys {', '.join(sorted(keys))}.")
    return value


def _list(value: Any, what: str) -> list[Any]:
    _need(isinstance(value, list), f"{what} is not a list.")
    return value


def _text(value: Any, what: str) -> str:
    _need(isinstance(value, str), f"{what} is not a text.")
    return value


def _integer(value: Any, low: int, high: int, what: str) -> int:
    _need(type(value) is int and low <= value <= high, f"{what} is not a whole number from {low} to {high}.")
    return value


def _float(value: Any, what: str) -> float:
    _need(type(value) is float, f"{what} is not a float.")
    return value


def _hash(value: Any, what: str) -> str:
    _need(isinstance(value, str) and HASH.fullmatch(value) is not None, f"{what} is not a SHA-256.")
    return value


# ---- files ----------------------------------------------------------------------------------------------------------


def _listed_files(folder: Path) -> dict[str, bytes]:
    """The four files, after the hashes of all files that the manifest lists have been compared."""
    if not folder.is_dir():
        raise Unreadable("There is no such model folder.")
    manifest = _object(
        parse_json(_read(folder / "manifest.json", LARGEST_JSON), "manifest.json"), None, "manifest.json"
    )
    body = {key: value for key, value in manifest.items() if key != "digest"}
    try:
        digest = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    except UnicodeEncodeError:
        raise Refused("manifest.json holds a text that is no Unicode.") from None
    _need(manifest.get("digest") == digest, "manifest.json is not the file that was saved: its digest differs.")
    _need(manifest.get("format") == "smilenn-model", "manifest.json is not the manifest of a smilenn model.")
    _need(manifest.get("version") == 1 and type(manifest["version"]) is int, "The folder has an unknown version.")
    listed = _object(manifest.get("files"), None, "The list of files in manifest.json")
    kept = {}
    for name, given in listed.items():
        plain = name.isprintable() and name not in ("", ".", "..") and not set(name) & set("/\\:")
        _need(plain, "manifest.json lists a file whose name is no plain file name.")
        entry = _object(given, {"sha256", "bytes"}, f"The entry of {name!r} in manifest.json")
        size = _integer(entry["bytes"], 0, LARGEST_FILE, f"The size of {name!r} in manifest.json")
        data = _read(folder / name, LARGEST_JSON if name.endswith(".json") else LARGEST_FILE)
        same = len(data) == size and hashlib.sha256(data).hexdigest() == entry["sha256"]
        _need(same, f"{name!r} is not the file that was saved: its hash differs from the manifest's.")
        if name in NEEDED:
            kept[name] = data
    for name in NEEDED:
        if name not in kept:
            raise Unreadable(f"The file {name!r} is missing from the manifest: there is nothing to check.")
    return kept


def _read(path: Path, limit: int) -> bytes:
    """A regular file of at most `limit` bytes; opening never blocks."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable(f"{path.name!r} is not a regular file.")
            if status.st_size > limit:
                raise Unreadable(f"{path.name!r} has more than {limit} bytes.")
            data = file.read(status.st_size + 1)
    except OSError as error:
        raise Unreadable(f"The file {path.name!r} cannot be read: {error.strerror}.") from None
    if len(data) != status.st_size:
        raise Unreadable(f"{path.name!r} changed while it was read.")
    return data


def parse_json(data: bytes, name: str) -> Any:
    """JSON without duplicate keys, NaN, infinities, long numbers or deep nesting."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(items)
        if len(out) != len(items):
            raise ValueError("a key appears twice")
        return out

    def constant(text: str) -> float:
        raise ValueError(f"{text} is no number")

    def short(text: str) -> str:
        if len(text) > LONGEST_NUMBER:
            raise ValueError(f"a number has more than {LONGEST_NUMBER} characters")
        return text

    def real(text: str) -> float:
        value = float(short(text))
        return value if math.isfinite(value) else constant("a number beyond the range of floats")

    try:
        text = data.decode("utf-8")
        depth = 0
        for match in NESTING.finditer(text):
            depth += (match[1] is not None) - (match[2] is not None)
            if depth > DEEPEST:
                raise ValueError(f"it is nested deeper than {DEEPEST}")
        return json.loads(
            text, object_pairs_hook=pairs, parse_constant=constant, parse_float=real, parse_int=lambda t: int(short(t))
        )
    except ValueError as error:
        raise Unreadable(f"{name} is not readable JSON: {error}.") from None


def _safetensors(data: bytes) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Tensors of the certified part: name → (type, shape, data); the file must be covered without gaps or overlaps."""
    what = "weights.safetensors is not a readable safetensors file"
    if len(data) < 8:
        raise Unreadable(f"{what}: it has no header.")
    size = int.from_bytes(data[:8], "little")
    if size > min(LARGEST_HEADER, len(data) - 8):
        raise Unreadable(f"{what}: its header is too long.")
    header = parse_json(data[8 : 8 + size], "The header of weights.safetensors")
    if not isinstance(header, dict):
        raise Unreadable(f"{what}: its header is not an object.")
    total, spans, out = len(data) - 8 - size, [], {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if not _is_entry(entry):
            raise Unreadable(f"{what}: the entry of a tensor is malformed.")
        start, stop = entry["data_offsets"]
        spans.append((start, stop))
        if not name.startswith("backbone."):
            out[name] = (entry["dtype"], tuple(entry["shape"]), data[8 + size + start : 8 + size + stop])
    end = 0
    for start, stop in sorted(spans):
        if start != end:
            raise Unreadable(f"{what}: its tensors leave a gap or overlap.")
        end = stop
    if end != total:
        raise Unreadable(f"{what}: it has bytes that belong to no tensor.")
    return out


def _is_entry(entry: Any) -> bool:
    """Whether a header's entry has its three keys: a type, whole dimensions, and a span."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        return False
    shape, span = entry["shape"], entry["data_offsets"]
    if not (isinstance(entry["dtype"], str) and isinstance(shape, list) and isinstance(span, list) and len(span) == 2):
        return False
    return all(type(v) is int and v >= 0 for v in (*shape, *span)) and span[0] <= span[1]


# ---- the network ----------------------------------------------------------------------------------------------------


def _net(description: dict[str, Any], data: bytes) -> tuple[Net, dict[str, bytes]]:
    """The network, and the raw data of its tensors."""
    domain, features = _domain(description["domain"])
    boxes, auxiliaries = description["boxes"], description["auxiliaries"]
    _need(boxes in ("gap", "paper"), "The boxes of the network are neither 'gap' nor 'paper'.")
    _need(auxiliaries in ("constant", "affine", "relu"), "The network has auxiliaries of an unknown kind.")
    _need(type(description["skip"]) is bool, "'skip' of the network is neither true nor false.")
    relu, skip = auxiliaries == "relu", description["skip"]
    hidden = _integer(description["hidden"], 1 if relu else 0, 1 << 30, "'hidden' of the network")
    n = _integer(description["embedding"], 1, 1 << 30, "'embedding' of the network")
    outputs = tuple(_text(name, "The name of an output") for name in _list(description["outputs"], "'outputs'"))
    _need(0 < len(outputs) == len(set(outputs)), "The names of the outputs are missing or not unique.")
    scales = tuple(_float(s, "An output scale") for s in _list(description["output_scale"], "'output_scale'"))
    # a subnormal scale might be flushed to zero, and all that the network returns with it: no margin covers that
    powers = all(s >= 2.0**-1022 and math.frexp(s)[0] == 0.5 for s in scales)
    _need(len(scales) == len(outputs) and powers, "The output scales are not one power of two per output.")
    profile = description["profile"]
    _need(profile in PROFILES, "The network has a numeric profile that this checker does not know.")
    least, most = (1, 52) if profile == "dyadic" else (0, 0)
    grid = _integer(description["grid"], least, most, f"'grid' of a network of the profile {profile!r}")
    encoded = "encoder" in description
    encoder = _encoder(description["encoder"], len(domain.names), features) if encoded else ()
    _need(not encoded or profile != "dyadic", "A network of the profile 'dyadic' has an encoder.")
    m = sum(branch.outputs for branch in encoder) if encoded else len(domain.names)
    o, h = len(outputs), hidden if relu else 0
    shapes: dict[str, tuple[int, ...]] = {"head_weight": (o, n), "head_bias": (o,)}
    if encoded:
        shapes |= {"encoder.lo": (m,), "encoder.hi": (m,)}
    for layer in (layer for branch in encoder for layer in branch.layers):
        shapes |= _layer_shapes(layer)
    for net, free in (("lower", True), ("second", boxes == "paper")):
        shapes[f"{net}.const"] = (n,)
        if free and (skip or auxiliaries == "affine"):
            shapes[f"{net}.slope"] = (n, m)
        if not free and auxiliaries == "affine" and not encoded:
            shapes |= {f"{net}.rise": (n, m), f"{net}.fall": (n, m)}
        if relu:
            shapes |= {f"{net}.weight": (h, m), f"{net}.bias": (h,), f"{net}.out": (n, h)}
    ignored = tuple(y.prefix + "module." for branch in encoder for y in branch.layers if y.kind == "pinned")
    stored = {name: entry for name, entry in _safetensors(data).items() if not name.startswith(ignored)}
    _need(set(stored) == set(shapes), "weights.safetensors does not hold exactly the tensors of the network.")
    tensors = {}
    for name, (dtype, shape, raw) in stored.items():
        fits = dtype == "F64" and shape == shapes[name] and len(raw) == 8 * math.prod(shape)
        _need(fits, f"The tensor {name!r} is not float64 of the network's shape.")
        values = struct.unpack(f"<{len(raw) // 8}d", raw)
        _need(all(map(math.isfinite, values)), f"The weights {name!r} hold a value that is not finite.")
        width = shape[-1]
        tensors[name] = tuple(values[i : i + width] for i in range(0, len(values), width))
    if boxes == "gap":
        for name in {"second.const", "second.rise", "second.fall", "second.out"} & set(tensors):
            signs = all(v >= 0 for values in tensors[name] for v in values)
            _need(signs, f"The gap has a negative weight in {name!r}, so its box could flip.")
    inner, passed = domain, {i: i for i in range(len(domain.names))}
    if encoded:
        inner, passed = _inner(domain, features, encoder, tensors)
    net = Net(domain, encoder, inner, passed, boxes, auxiliaries, h, skip, n, outputs, scales, profile, grid, tensors)
    return net, {name: raw for name, (_, _, raw) in stored.items()}


def _domain(value: Any) -> tuple[Domain, dict[str, tuple[int, ...]]]:
    """The domain, and the coordinates of every feature by its name."""
    features = _list(_object(value, {"features"}, "The domain")["features"], "The features of the domain")
    _need(bool(features), "The domain has no features.")
    names: list[str] = []
    columns: list[tuple[float, float, float, float, bool, str]] = []
    groups: list[tuple[int, ...]] = []
    spans: dict[str, tuple[int, ...]] = {}
    for item in features:
        feature = _object(item, None, "A feature")
        known = {"name", "kind", "lo", "hi"} <= set(feature) <= FEATURE_KEYS
        _need(known, "A feature has unknown keys or lacks its name, kind, lo or hi.")
        name, kind = _text(feature["name"], "The name of a feature"), feature["kind"]
        what = f"The feature {name!r}"
        _need(name != "" and name not in spans, "A feature has no name, or a name that appears twice.")
        _need(kind in ("continuous", "integer", "binary", "category"), f"{what} is of an unknown kind.")
        lo, hi = _float(feature["lo"], f"lo of {name!r}"), _float(feature["hi"], f"hi of {name!r}")
        shift, mult = _float(feature.get("shift", 0.0), "shift"), _float(feature.get("mult", 1.0), "mult")
        unit = _text(feature.get("unit", ""), "A unit")
        _need(lo <= hi and mult > 0, f"{what} has bounds or a scale that make no sense.")
        values = [_text(v, "A category") for v in _list(feature.get("categories", []), "'categories'")]
        given = [_text(v, "A column") for v in _list(feature.get("columns", []), "'columns'")]
        if kind in ("binary", "category"):
            _need((lo, hi, shift, mult) == (0, 1, 0, 1), f"{what} is {kind}: its bounds are 0 and 1, unscaled.")
            _need(len(set(values)) == len(values), f"{what} lists a category twice.")
        if kind == "integer":
            _need(lo.is_integer() and hi.is_integer(), f"{what} is integer and needs whole bounds.")
        counts = {"continuous": not values, "integer": not values, "binary": len(values) in (0, 2)}
        _need(counts.get(kind, bool(values)), f"{what} has the wrong number of categories.")
        _need(not given or (kind == "category" and len(given) == len(values)), f"{what} has the wrong columns.")
        own = given or [f"{name}={v}" for v in values] if kind == "category" else [name]
        spans[name] = tuple(range(len(names), len(names) + len(own)))
        if kind == "category":
            groups.append(spans[name])
        names += own
        columns += [(lo, hi, shift, mult, kind != "continuous", unit)] * len(own)
    _need(len(set(names)) == len(names), "Two coordinates have the same name.")
    lo, hi, shift, mult, whole, units = zip(*columns, strict=True)
    indices = {name: (i,) for i, name in enumerate(names)} | spans
    return Domain(tuple(names), lo, hi, shift, mult, whole, tuple(groups), indices, units), spans


# ---- the encoder ----------------------------------------------------------------------------------------------------


def _encoder(value: Any, m: int, features: Mapping[str, tuple[int, ...]]) -> tuple[Branch, ...]:
    """The branches; their tensors are not looked at yet."""
    branches: list[Branch] = []
    taken, used = set(features), set()  # names of features and branches with layers; coordinates that pass
    span_of = {i: span for span in features.values() for i in span}
    for b, item in enumerate(_list(value, "'encoder'")):
        given = _object(item, {"name", "columns", "layers"}, "A branch of the encoder")
        name = _text(given["name"], "The name of a branch")
        columns = tuple(
            _integer(i, 0, m - 1, "A column of a branch") for i in _list(given["columns"], "The columns of a branch")
        )
        _need(0 < len(columns) == len(set(columns)), f"The branch {name!r} has no columns, or one of them twice.")
        layers: list[Layer] = []
        described = _list(given["layers"], "The layers of a branch")
        _need(len(described) <= MOST_LAYERS, f"The branch {name!r} has more than {MOST_LAYERS} layers.")
        for one in described:
            # a pinned module may return anything, NaN included: only the box may follow it
            ended = bool(layers) and layers[-1].kind == "pinned"
            _need(not ended, f"A pinned module of the branch {name!r} is followed by another layer.")
            width, first = (layers[-1].outputs, layers[0].outputs) if layers else (len(columns), 0)
            layers.append(_layer(one, f"encoder.branches.{b}.layers.{len(layers)}.", width, first))
        if layers:
            _need(name not in taken, f"The branch {name!r} has the name of a feature or of another branch.")
            taken.add(name)
        else:
            spans = dict.fromkeys(span_of[i] for i in columns)
            complete = sum(map(len, spans)) == len(columns) and all(i < j for i, j in pairwise(columns))
            _need(complete, f"The branch {name!r} does not pass whole features in the order of the domain.")
            _need(used.isdisjoint(columns), "A coordinate passes twice.")
            used |= set(columns)
        branches.append(Branch(name, columns, tuple(layers)))
    _need(bool(branches), "The encoder has no branches.")
    return tuple(branches)


def _layer(value: Any, prefix: str, width: int, first: int) -> Layer:
    """A layer for `width` numbers; `first` is how many the branch's first layer gives, 0 if it is this one."""
    given = _object(value, None, "A layer of the encoder")
    kind = _text(given.get("kind"), "The kind of a layer")
    _need(kind in LAYER_KEYS, "A layer of the encoder is of an unknown kind.")
    what = f"A layer of the kind {kind!r}"
    _object(given, LAYER_KEYS[kind] | {"kind"}, what)
    sizes = {key: _integer(v, 0, 1 << 30, f"{key!r} of a layer") for key, v in given.items() if key in SIZES}
    if "outputs" in sizes:
        _need(sizes["outputs"] >= 1, f"{what} has no outputs.")
    inputs = sizes["side"] ** 2 if kind == "pool" else sizes.get("size", sizes.get("inputs", width))
    _need(inputs == width, f"{what} does not fit the number of its inputs.")
    if kind == "ramps":
        source = tuple(_integer(i, 0, width - 1, "A source") for i in _list(given["source"], "'source'"))
        _need(bool(source), "A layer of ramps has none.")
        return Layer(kind, prefix, width, len(source), source=source)
    if kind == "kinks":
        _need(sizes["convex"] <= width, "A layer of kinks has more convex ones than it has inputs.")
        return Layer(kind, prefix, width, width, convex=sizes["convex"])
    if kind == "pool":
        side, block = sizes["side"], sizes["block"]
        _need(block >= 1 and side % block == 0, "A pool's block does not divide its side.")
        return Layer(kind, prefix, width, (side // block) ** 2, block=block)
    base = sizes.get("base", 0)
    _need(base in (0, first), "'base' of a layer is neither 0 nor the number of outputs of the branch's first layer.")
    return Layer(kind, prefix, width, sizes["outputs"], base=base)


def _layer_shapes(layer: Layer) -> dict[str, tuple[int, ...]]:
    """The tensors of a layer."""
    if layer.kind == "ramps":
        return {f"{layer.prefix}start": (layer.outputs,), f"{layer.prefix}rate": (layer.outputs,)}
    if layer.kind in ("linear", "distance"):
        weight = (layer.outputs, layer.inputs + layer.base)
        return {f"{layer.prefix}weight": weight, f"{layer.prefix}bias": (layer.outputs,)}
    return {}


def _inner(
    domain: Domain,
    features: Mapping[str, tuple[int, ...]],
    encoder: tuple[Branch, ...],
    tensors: Mapping[str, tuple[tuple[float, ...], ...]],
) -> tuple[Domain, dict[int, int]]:
    """The coordinates of e, and the places there of those that pass; names in claims are never looked up here."""
    (lo,), (hi,) = tensors["encoder.lo"], tensors["encoder.hi"]
    _need(all(a <= b for a, b in zip(lo, hi, strict=True)), "The encoder's box has a lower end above the upper one.")
    for layer in (layer for branch in encoder for layer in branch.layers if layer.kind == "ramps"):
        _need(all(v > 0 for v in tensors[f"{layer.prefix}rate"][0]), "A ramp of the encoder does not rise.")
    columns: list[tuple[str, float, float, float, float, bool, str]] = []
    passed: dict[int, int] = {}
    names: list[str] = []  # of e's features
    first_of = {span[0]: name for name, span in features.items()}
    for branch in encoder:
        for j in range(branch.outputs):
            at = len(columns)
            if branch.layers:
                columns.append((f"{branch.name}.{j}", lo[at], hi[at], 0.0, 1.0, False, ""))
                names.append(columns[-1][0])
            else:
                i, d = branch.columns[j], domain
                passed[i] = at
                names += [first_of[i]] if i in first_of else []
                columns.append((d.names[i], d.lo[i], d.hi[i], d.shift[i], d.mult[i], d.whole[i], d.units[i]))
    unique = len({column[0] for column in columns}) == len(columns) and len(set(names)) == len(names)
    _need(unique, "Two features or coordinates of the encoder's result have the same name.")
    moved = [tuple(passed[i] for i in group) for group in domain.groups if group[0] in passed]
    called, low, high, shift, mult, whole, units = zip(*columns, strict=True)
    return Domain(called, low, high, shift, mult, whole, tuple(sorted(moved)), {}, units), passed


# ---- the certificate ------------------------------------------------------------------------------------------------


def canonical(value: Any) -> bytes:
    """Sorted keys, no white space, escaped: what digests are taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _certificate(
    data: bytes, binary: bytes, net: Net, description: dict[str, Any], raw: Mapping[str, bytes]
) -> tuple[Entry, ...]:
    content = _object(parse_json(data, "certificate.json"), None, "certificate.json")
    _need(content.get("format") == "smilenn-certificate", "certificate.json is not a certificate of smilenn.")
    version = content.get("version")
    _need(type(version) is int and version == 1, "The certificate has a version that this checker does not know.")
    keys = {"format", "version", "profile", "weights", "proofs", "proofs_sha256", "claims"}
    _object(content, keys, "certificate.json")
    _need(content["profile"] == net.profile, "The certificate has another numeric profile than the network.")
    _need(content["proofs"] == "certificate.bin", "The certificate's proofs are not in certificate.bin.")
    hasher = hashlib.sha256(canonical({key: value for key, value in description.items() if key != "backbone"}))
    for name in sorted(raw):
        hasher.update(name.encode() + b"\0" + raw[name])
    same = _hash(content["weights"], "'weights'") == hasher.hexdigest()
    _need(same, "The certificate was made for another network: the digest of the certified part differs.")
    same = _hash(content["proofs_sha256"], "'proofs_sha256'") == hashlib.sha256(binary).hexdigest()
    _need(same, "certificate.bin is not the file that certificate.json speaks of: its hash differs.")
    claims = _list(content["claims"], "'claims'")
    _need(bool(claims), "The certificate makes no claim.")
    entries, end = [], 0
    for item in claims:
        entry = _object(item, {"claim", "claim_sha256", "witness", "rows"}, "An entry of 'claims'")
        described = _object(entry["claim"], CLAIM_KEYS, "A claim")
        digest = hashlib.sha256(canonical({**described, "sentence": ""})).hexdigest()
        same = _hash(entry["claim_sha256"], "'claim_sha256'") == digest
        _need(same, "A claim is not the one the certificate was made for: its hash differs.")
        claim = _claim(described, net)
        witness = tuple(
            tuple(_float(v, "A number of the witness") for v in _list(copy, "A copy of the witness"))
            for copy in _list(entry["witness"], "'witness'")
        )
        shaped = len(witness) == claim.copies and all(len(copy) == len(net.domain.names) for copy in witness)
        _need(shaped, "The witness is not one point of the domain per copy.")
        rows = _list(entry["rows"], "'rows'")
        _need(len(rows) == len(claim.rows()), "A claim does not have one proof per row of its conclusion.")
        proofs = []
        for item in rows:
            proof = _proof(item, binary, end, net)
            end += len(proof.nodes)
            proofs.append(proof)
        entries.append(Entry(claim, witness, tuple(proofs)))
    _need(end == len(binary), "certificate.bin has bytes that belong to no proof.")
    return tuple(entries)


def _claim(data: dict[str, Any], net: Net) -> Claim:
    k = _integer(data["copies"], 1, 4, "The number of copies of a claim")
    _need(data["others"] in ("equal", "free"), "'others' of a claim is neither 'equal' nor 'free'.")
    common = [1]  # the least common multiple of all denominators so far
    when = tuple(_row(item, k, net, common) for item in _list(data["when"], "'when'"))
    then = tuple(_row(item, k, net, common) for item in _list(data["then"], "'then'"))
    _need(bool(then), "A claim has no conclusion.")
    _need(not any(t.output for row in when for t in row.terms), "A premise names an output.")
    names = {
        key: tuple(_text(name, f"A name in {key!r}") for name in _list(data[key], f"{key!r}"))
        for key in ("equal", "free")
    }
    for name in (*names["equal"], *names["free"]):
        _need(name in net.domain.indices, f"A claim names {name!r}, which is no feature.")
    return Claim(k, when, then, data["others"], names["equal"], names["free"], _text(data["sentence"], "'sentence'"))


def _row(value: Any, copies: int, net: Net, common: list[int]) -> Row:
    row = _object(value, {"terms", "op", "rhs"}, "A row of a claim")
    _need(row["op"] in ("<=", "=="), "A row of a claim is neither <= nor ==.")
    terms = []
    for item in _list(row["terms"], "'terms'"):
        _need(len(_list(item, "A term")) == 4, "A term is not [coefficient, copy, kind, name].")
        coef, copy, kind, name = item
        _need(kind in ("in", "out"), "A term is neither of an input nor of an output.")
        _text(name, "The name in a term")
        if kind == "out":
            called = net.outputs[0] if name == "" and len(net.outputs) == 1 else name
            found = tuple(o for o, output in enumerate(net.outputs) if output == called)
        else:
            found = net.domain.indices.get(name, ())
        _need(len(found) == 1, f"A claim names {name!r}, which is not one input or output of the network.")
        copy = _integer(copy, 0, copies - 1, "The copy of a term")
        terms.append(Term(_rational(coef, common), copy, kind == "out", found[0], name))
    return Row(tuple(terms), _rational(row["rhs"], common), row["op"] == "==")


def _rational(value: Any, common: list[int]) -> Fraction:
    _need(isinstance(value, str) and RATIONAL.fullmatch(value) is not None, "A number of a claim is not a rational.")
    numerator, _, denominator = value.partition("/")
    _need(denominator.strip("0") != "" or not denominator, "A number of a claim has the denominator zero.")
    out = Fraction(int(numerator), int(denominator or "1"))
    common[0] = math.lcm(common[0], int(denominator or "1"))
    _need(common[0] < LARGEST_DENOMINATOR, "The denominators of a claim have too large a common multiple.")
    return out


def _proof(value: Any, binary: bytes, end: int, net: Net) -> Proof:
    """The proof of a row; its piece of the binary file must start at `end`."""
    rule: str = _object(value, None, "The proof of a row").get("rule", "")
    if rule in ("sweep", "order"):
        _object(value, {"rule"}, f"A proof by the {rule} rule")
        return Proof(rule)
    if rule == "mirror":
        _object(value, {"rule", "of"}, "A proof by the mirror rule")
        return Proof("mirror", of=_integer(value["of"], 0, MOST_NODES, "The row of a mirror"))
    _need(rule in ("leaf", "slope"), "The proof of a row is by an unknown rule.")
    _object(value, PLACE_KEYS | ({"units"} if rule == "leaf" else set()), f"A proof by the {rule} rule")
    bits = _integer(value["bits"], 0, 1000, "'bits'")
    start = _integer(value["start"], 0, len(binary), "'start'")
    length = _integer(value["length"], 0, len(binary) - start, "'length'")
    _need(start == end, "The proofs leave a gap in certificate.bin or overlap.")
    units = [_integer(j, 0, 2 * net.hidden - 1, "A unit") for j in _list(value.get("units", []), "'units'")]
    _need(all(a < b for a, b in pairwise(units)), "The units of a proof are not increasing.")
    return Proof(rule, bits, tuple(units), binary[start : start + length])
