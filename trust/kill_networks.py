"""Questions of the kill suite about whole networks and proofs made in memory: what no folder of the corpus asks.

One network with an encoder of every kind of layer, one without, each with one thing changed at a time; one claim with
proofs of every form. Both checkers are asked the same and answer in their own words.
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
import struct
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from types import SimpleNamespace
from typing import Any

from trust import forge2

Tensors = dict[str, tuple[list[int], list[float]]]


def packed(tensors: Tensors) -> bytes:
    """A safetensors file."""
    header, body = {}, b""
    for name, (shape, values) in tensors.items():
        data = struct.pack(f"<{len(values)}d", *values)
        header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def plain() -> tuple[dict[str, Any], Tensors]:
    """Two numbers and a category, hidden units, paper boxes, two outputs."""
    net = {
        "domain": {
            "features": [
                {"name": "x", "kind": "continuous", "lo": -1.0, "hi": 2.0, "shift": 0.5, "mult": 0.3},
                {"name": "g", "kind": "category", "lo": 0.0, "hi": 1.0, "categories": ["a", "b"]},
                {"name": "n", "kind": "integer", "lo": 0.0, "hi": 3.0, "shift": 1.0, "mult": 2.0},
            ]
        },
        "boxes": "paper",
        "auxiliaries": "relu",
        "hidden": 2,
        "skip": True,
        "embedding": 2,
        "outputs": ["p", "q"],
        "output_scale": [1.0, 4.0],
        "profile": "f64-aux",
        "grid": 0,
        "backbone": {},
    }
    tensors: Tensors = {"head_weight": ([2, 2], [1.0, -0.5, 0.25, 2.0]), "head_bias": ([2], [0.5, -1.0])}
    for at, part in enumerate(("lower", "second")):
        tensors |= {
            f"{part}.const": ([2], [0.25 + at, -0.5]),
            f"{part}.slope": ([2, 4], [0.5, 1.0, -1.0, 0.125, 0.0, 2.0, 0.75, -0.5]),
            f"{part}.weight": ([2, 4], [1.0, -1.0, 0.5, 0.25, -2.0, 1.0 + at, 0.0, 3.0]),
            f"{part}.bias": ([2], [0.1, -0.7]),
            f"{part}.out": ([2, 2], [1.0, -1.0, 0.5, 0.1]),
        }
    return net, tensors


def encoded() -> tuple[dict[str, Any], Tensors]:
    """Every kind of layer, and a branch that passes a category and a number."""
    number = {"kind": "continuous", "lo": -1.0, "hi": 3.0}
    features = [
        {"name": "x", "shift": 0.5, "mult": 0.3} | number,
        {"name": "g", "kind": "category", "lo": 0.0, "hi": 1.0, "categories": ["a", "b"]},
        *({"name": f"i{i}"} | number for i in range(4)),
        {"name": "n", "kind": "integer", "lo": 0.0, "hi": 3.0},
    ]
    branches = [
        {
            "name": "deep",
            "columns": [0, 7],
            "layers": [
                {"kind": "ramps", "source": [0, 1, 0]},
                {"kind": "linear", "inputs": 3, "outputs": 2, "base": 0},
                {"kind": "kinks", "size": 2, "convex": 1},
                {"kind": "linear", "inputs": 2, "outputs": 1, "base": 3},
            ],
        },
        {"name": "", "columns": [1, 2, 7], "layers": []},
        {
            "name": "image",
            "columns": [3, 4, 5, 6],
            "layers": [{"kind": "pool", "side": 2, "block": 2}, {"kind": "distance", "inputs": 1, "outputs": 2}],
        },
        {"name": "other", "columns": [0], "layers": [{"kind": "pinned", "outputs": 2, "module": "theirs"}]},
    ]
    net = {
        "domain": {"features": features},
        "boxes": "gap",
        "auxiliaries": "affine",
        "hidden": 0,
        "skip": False,
        "embedding": 1,
        "outputs": [""],
        "output_scale": [1.0],
        "profile": "f64-aux",
        "grid": 0,
        "backbone": {},
        "encoder": branches,
    }
    place = "encoder.branches.{}.layers.{}.{}".format
    tensors: Tensors = {
        "head_weight": ([1, 1], [2.0]),
        "head_bias": ([1], [0.5]),
        "lower.const": ([1], [0.25]),
        "second.const": ([1], [0.0]),
        "lower.slope": ([1, 8], [1.0, -1.0, 0.5, 0.25, 3.0, 2.0, -0.5, 1.0]),
        "encoder.lo": ([8], [-9.0, 0.0, 0.0, -1.0, -2.0, -3.0, -1.0, -1.0]),
        "encoder.hi": ([8], [9.0, 1.0, 1.0, 5.0, 7.0, 6.0, 1.0, 1.0]),
        place(0, 0, "start"): ([3], [-0.5, 1.0, 0.25]),
        place(0, 0, "rate"): ([3], [0.5, 2.0, 1.0]),
        place(0, 1, "weight"): ([2, 3], [1.0, -1.0, 0.5, 0.25, 2.0, -3.0]),
        place(0, 1, "bias"): ([2], [0.1, -0.2]),
        place(0, 3, "weight"): ([1, 5], [1.0, 2.0, -1.0, 0.5, 0.25]),
        place(0, 3, "bias"): ([1], [-1.0]),
        place(2, 1, "weight"): ([2, 1], [0.5, -0.5]),
        place(2, 1, "bias"): ([2], [1.0, 0.0]),
        place(3, 0, "module.anything"): ([1], [7.0]),
    }
    return net, tensors


ODD = (
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    3,
    8,
    9,
    10**9,
    0.5,
    1.0,
    "",
    "x",
    "g",
    "deep",
    "g=a",
    [],
    [0],
    [0, 0],
    [1, 2],
    {},
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from _places(inner, (*path, key))


def _changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    out = where = copy.deepcopy(value)
    for key in path[:-1]:
        where = where[key]
    if new is KeyError:
        del where[path[-1]]
    else:
        where[path[-1]] = new
    return out


CHANGES: list[dict[str, Any]] = [
    # names: of features, of other branches, of coordinates that pass or are made
    {"name": "x"},
    {"name": "g"},
    {"name": "image"},
    {"name": "other"},
    {"name": "g=a"},
    {"name": "new"},
    {"columns": [0, 0]},
    {"columns": [0, 8]},
    {"columns": [7, 0]},
    {"columns": [0, -1]},
    {"columns": [0, True]},
]
PASSED = [[1, 2], [2, 1], [1], [2], [7, 1, 2], [1, 2, 7, 7], [0, 1, 2, 7], [7], [1, 2, 3], [], [8], [1, 7, 2]]


def _networks() -> Iterator[tuple[dict[str, Any], bytes]]:
    """Both networks, with one thing changed at a time."""
    net, tensors = encoded()
    branches = net["encoder"]
    yield net, packed(tensors)
    yield from _wide()
    for changes in (
        {"hidden": -1},
        {"hidden": 1},
        {"hidden": 1 << 30},
        {"hidden": (1 << 30) + 1},
        {"hidden": True},
        {"profile": "dyadic", "grid": 4},
        {"encoder": {"a": 1}},
        {"skip": 1},
    ):
        yield net | changes, packed(tensors)
    for path in _places(branches):
        for odd in (*ODD, KeyError):
            yield net | {"encoder": _changed(branches, path, odd)}, packed(tensors)
    for change in CHANGES:
        yield net | {"encoder": [branches[0] | change, *branches[1:]]}, packed(tensors)
    named = [
        net | {"encoder": [branches[0], branches[1], branches[2] | {"name": name}, branches[3]]}
        for name in ("deep", "x", "", "deep.0")
    ]
    for columns in PASSED:  # the tensors follow, so that only the columns are judged
        p = 5 + len(columns)
        fit = tensors | {
            "encoder.lo": ([p], [-9.0] * p),
            "encoder.hi": ([p], [9.0] * p),
            "lower.slope": ([1, p], [0.5] * p),
        }
        yield net | {"encoder": [branches[0], branches[1] | {"columns": columns}, *branches[2:]]}, packed(fit)
    for order in itertools.permutations(range(4)):
        moved = {}
        for name, value in tensors.items():
            parts = name.split(".")
            if name.startswith("encoder.branches."):
                parts[2] = str(order.index(int(parts[2])))
            moved[".".join(parts)] = value
        yield net | {"encoder": [branches[i] for i in order]}, packed(moved)
    for again in (branches[1] | {"columns": [7]}, branches[1] | {"columns": [0]}, branches[1] | {"columns": [1, 2]}):
        p = 8 + len(again["columns"])
        fit = tensors | {
            "encoder.lo": ([p], [-9.0] * p),
            "encoder.hi": ([p], [9.0] * p),
            "lower.slope": ([1, p], [0.5] * p),
        }
        yield net | {"encoder": [*branches, again]}, packed(fit)
    for named_net in named:
        yield named_net, packed(tensors)
    layers = [{"kind": "kinks", "size": 1, "convex": 0}] * 65
    for count in (64, 65):
        fit = {k: v for k, v in tensors.items() if not k.startswith("encoder.branches.3")}
        fit |= {"encoder.lo": ([7], [-9.0] * 7), "encoder.hi": ([7], [9.0] * 7), "lower.slope": ([1, 7], [1.0] * 7)}
        yield net | {"encoder": [*branches[:3], branches[3] | {"layers": layers[:count]}]}, packed(fit)
    for start, (base, values) in ((net, (tensors, ODD_FLOATS)), (plain()[0], (plain()[1], (-0.5, 0.0, 1e300)))):
        for name, (shape, numbers) in base.items():
            for at, odd in itertools.product(range(len(numbers)), values):
                changed = base | {name: (shape, [*numbers[:at], odd, *numbers[at + 1 :]])}
                yield start, packed(changed)
            yield start, packed({key: value for key, value in base.items() if key != name})
            yield start, packed(base | {name: ([*shape, 1], numbers)})
            yield start, packed(base | {name: (shape, [*numbers, 0.0])})
        yield start, packed(base | {"more": ([1], [0.0])})
        yield start, packed(base | {"encoder.branches.3.layers.0.modul": ([1], [0.0])})
        yield start, packed(base | {"encoder.branches.0.layers.1.module.x": ([1], [0.0])})
    net, tensors = plain()
    for path in _places(net):
        for odd in (None, True, -1, 0, 2, 0.5, "x", [], {}, KeyError):
            yield _changed(net, path, odd), packed(tensors)
    for changes in (
        {"profile": "dyadic", "grid": 1},
        {"profile": "dyadic", "grid": 0},
        {"profile": "dyadic", "grid": 52},
        {"profile": "dyadic", "grid": 53},
        {"profile": "fixed-order"},
        {"grid": 1},
        {"encoder": []},
        {"encoder": {"a": 1}},
        {"encoder": "ab"},
        {"encoder": 5},
        {"encoder": None},
        {"embedding": (1 << 30) + 1},
        {"output_scale": [2.0**-1022, 1.0]},
        {"output_scale": [2.0**-1023, 1.0]},
        {"output_scale": [1.0, 3.0]},
        {"outputs": ["p", "p"]},
        {"skip": False},
        {"auxiliaries": "constant"},
        {"auxiliaries": "affine"},
        {"boxes": "gap"},
        {"hidden": 0},
        {"embedding": 0},
        {"more": 1},
    ):
        yield net | changes, packed(tensors)


def _wide() -> Iterator[tuple[dict[str, Any], bytes]]:
    """Gap boxes as wide as can be, where the head does not look: nothing else could overflow."""
    net, tensors = plain()
    fit = {name: value for name, value in tensors.items() if name != "second.slope"}
    fit |= {"second.out": ([2, 2], [0.0] * 4), "head_weight": ([2, 2], [0.0, -0.5, 0.0, 2.0])}
    half = 2.0**999
    for low, gap in ((half, half), (half, half - 2.0**946), (half, half - 2.0**950), (0.0, half), (-half, half)):
        changed = {"lower.const": ([2], [low, 0.0]), "second.const": ([2], [gap, 0.0])}
        yield net | {"boxes": "gap"}, packed(fit | changed)
    # heads that overflow once they are divided by their scale, over boxes so small that nothing else does
    small = 2.0**-500
    for weight, bias in ((2.0**500, 0.0), (2.0**499, 0.0), (-(2.0**500), 0.0), (0.0, 2.0**500), (0.0, -(2.0**499))):
        tiny: Tensors = {name: ([1], [small]) for name in ("lower.const", "second.const")}
        tiny |= {"head_weight": ([1, 1], [weight]), "head_bias": ([1], [bias])}
        changes = {"boxes": "gap", "auxiliaries": "constant", "skip": False, "embedding": 1, "outputs": ["p"]}
        yield net | changes | {"output_scale": [small]}, packed(tiny)


ODD_FLOATS = (-10.0, -1.0, 0.0, 0.5, 10.0, 5e-324, 1e300, 2.0**999, 2.0**1000, float("inf"), float("nan"))


def _values(thing: Any) -> Any:
    """What an object holds, in a form that can be compared."""
    if isinstance(thing, str | bytes | int | float | bool | F | None):
        return repr(thing)
    if isinstance(thing, dict):
        return sorted((repr(key), _values(value)) for key, value in thing.items())
    if isinstance(thing, list | tuple | range):
        return [_values(value) for value in thing]
    if isinstance(thing, set | frozenset):
        return sorted(map(repr, thing))
    return _values(vars(thing))


PARTS = 16


def _asked(ask: Callable[[dict[str, Any], bytes], Any], part: int) -> list[Any]:
    out = []
    for net, data in itertools.islice(_networks(), part, None, PARTS):
        try:
            out.append(_values(ask(net, data)))
        except Exception as error:
            if not type(error).__module__.startswith("smilenn.certify"):
                raise
            out.append((type(error).__name__, str(error)))
    return out


def networks(loaded: SimpleNamespace, part: int) -> Any:
    """Networks as the integer checker reads them."""
    m = loaded.check

    def ask(net: dict[str, Any], data: bytes) -> Any:
        text = json.dumps({"net": net, "table": {"text": ["\u20ac", -0.0]}}).encode()
        read = m.Net(m.parse(text, "model.json"), m.Weights(data))
        read.given.scale = read.space.scale = None  # made from what is compared anyway
        encoder = read.encoder and (read.encoder.branches, read.encoder.source)
        wanted = ("t", "e", "em", "ex", "weight", "offset", "aux", "flips", "omega", "steps", "names", "zero_gap")
        own = [getattr(read, name) for name in (*wanted, "rounding", "units", "m", "n", "o", "outputs", "scales")]
        spaces = [(s.coordinates, s.groups, s.grouped, s.index) for s in (read.given, read.space)]
        digests = read.digest(m.parse(text, "model.json")), read.first_digest(text)
        return own, digests, spaces, encoder, read.given.features, read.given.lines

    return _asked(ask, part)


def reference_networks(loaded: SimpleNamespace, part: int) -> Any:
    """Networks as the reference checker reads them."""

    def ask(net: dict[str, Any], data: bytes) -> Any:
        net = loaded.strict.parse_json(json.dumps(net).encode(), "model.json")
        known = loaded.exact_net.NET_KEYS | ({"encoder"} & set(net))
        loaded.strict.as_object(net, known, "The object 'net' of model.json")
        read, raw = loaded.exact_net.read_net(net, data)
        model = loaded.exact_model.build_model(read)
        margins = loaded.exact_model.margins(model)
        moves = loaded.exact_dyadic.moves(model) if read.profile == "dyadic" else None
        return read, sorted(raw), model.weight, model.bias, model.lower, model.second, model.ends, margins, moves

    return _asked(ask, part)


PROOFS: list[Any] = [
    {"rule": "leaf", "bits": 0, "units": [], "start": 0, "length": 1},
    {"rule": "leaf"},
    {"rule": "sweep"},
    {"rule": ""},
    {"rule": "leaf", "bits": 0, "units": [0, 3], "start": 0, "length": 1},
    {"rule": "leaf", "bits": 0, "units": [4], "start": 0, "length": 1},
    {"rule": "leaf", "bits": 0, "units": [0, 4], "start": 0, "length": 1},
    {"rule": "leaf", "bits": 0, "units": [1, 1], "start": 0, "length": 1},
    {"rule": "leaf", "bits": 0, "units": [1, 0], "start": 0, "length": 1},
    {"rule": "leaf", "bits": 0, "units": [-1, 0], "start": 0, "length": 1},
    {"rule": "leaf", "bits": 0, "units": [True], "start": 0, "length": 1},
    {"rule": "leaf", "bits": 0, "units": 0, "start": 0, "length": 1},
    {"rule": "slope", "bits": 0, "start": 0, "length": 1},
    {"rule": "slope", "bits": 0, "start": 0},
    {"rule": "order"},
    {"rule": "order", "of": 0},
    {"rule": "sweep", "of": 0},
    {"rule": "mirror"},
    {},
    [],
    None,
    "leaf",
    {"rule": "mirror", "of": 0},
    {"rule": "mirror", "of": -1},
    {"rule": "mirror", "of": 1},
    {"rule": "mirror", "of": 0.0},
    {"rule": "mirror", "of": True},
    {"rule": "mirror", "of": 1 << 24},
    {"rule": "mirror", "of": (1 << 24) + 1},
    # names that no rule has, with the keys of each
    {"rule": "hull"},
    {"rule": "hull", "of": 0},
    {"rule": "hull", "bits": 0, "start": 0, "length": 1},
    {"rule": "hull", "bits": 0, "units": [], "start": 0, "length": 1},
    {"rule": None},
    {"rule": 1},
    {"rule": True},
    *(
        {"rule": "leaf", "bits": bits, "units": [], "start": 0, "length": 1}
        for bits in (-1, 1, 1000, 1001, True, 0.0, "0")
    ),
    *(
        {"rule": "leaf", "bits": 0, "units": [], "start": start, "length": length}
        for start, length in ((1, 0), (0, 2), (-1, 1), (0, -1), (0, 0), (True, 1), (0, True), (0.0, 1), (0, 3), (1, 2))
    ),
]


def reference_proofs(loaded: SimpleNamespace) -> Any:
    """Forms of proofs, as the reference reads them."""
    out = []
    for value, (binary, end), hidden in itertools.product(PROOFS, ((b"\0", 0), (b"\0\0", 1), (b"", 0)), (0, 2)):
        try:
            out.append(_values(loaded.reader._proof(value, binary, end, SimpleNamespace(hidden=hidden))))
        except loaded.strict.Refused as error:
            out.append(str(error))
    return out


def _claim(**changes: Any) -> dict[str, Any]:
    row = {"terms": [["1", 0, "out", "p"], ["-1", 1, "out", "p"]], "op": "<=", "rhs": "9"}
    back = {"terms": [["1", 1, "out", "p"], ["-1", 0, "out", "p"]], "op": "<=", "rhs": "9"}
    claim = {"copies": 2, "when": [], "then": [row, back], "others": "free", "equal": [], "free": [], "sentence": ""}
    return claim | changes


def _plain_net(m: Any) -> Any:
    return m.Net(m.parse(json.dumps({"net": plain()[0]}).encode(), "model.json"), m.Weights(packed(plain()[1])))


def proofs(loaded: SimpleNamespace) -> Any:
    """Forms of proofs, as the integer checker reads them, in the place of the first and of the second row."""
    m, out = loaded.check, []
    net = _plain_net(m)
    leaf = {"rule": "leaf", "bits": 0, "units": [], "start": 0, "length": 17}
    body = b"\0" + struct.pack("<4i", 0, 0, 0, 0)
    witness = [[0.0, 1.0, 0.0, 1.0]] * 2
    for value, first, version in itertools.product(PROOFS, (True, False), (1, 2)):
        proof = value
        if isinstance(value, dict) and value.get("length") == 1:
            size = 17 + 8 * len(value["units"]) if isinstance(value.get("units"), list) else 17
            proof = value | {"start": value["start"] if first else 17, "length": size}
            data = (b"" if first else body) + b"\0" * size
        else:
            data = body * 3
        claim = _claim() if not first else _claim(then=_claim()["then"][:1])
        given = {
            "claim": claim,
            "witness": witness,
            "rows": [proof] if first else [leaf, proof],
            "claim_sha256": forge2.claim_digest(claim, version),
        }
        given |= {"room": ["9/1000000000"] * len(claim["then"])} if version == 2 else {}
        entry = m.parse(json.dumps(given).encode(), "certificate.json")
        reader = m.Reader(data)
        try:
            out.append((_values(m.check_claim(net, entry, reader, version)), reader.end, reader.nodes, reader.work))
        except m.CheckError as error:
            out.append((str(error), reader.end))
    return out


def copies(loaded: SimpleNamespace) -> Any:
    """Claims about none to five copies, as the integer checker reads them."""
    m, out = loaded.check, []
    net = _plain_net(m)
    for count in range(6):
        try:
            claim = m.Claim(_claim(copies=count))
            out.append(m.Premise(net, claim, claim.common).k)
        except m.CheckError as error:
            out.append(str(error))
    return out


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """Those of one checker by name; networks in several parts, so that a fault is noticed early."""
    ask, forms = (networks, proofs) if target == "fast" else (reference_networks, reference_proofs)
    parts = [(f"networks {part}", functools.partial(ask, part=part)) for part in range(PARTS)]
    return [("proofs", forms), *([("copies", copies)] if target == "fast" else []), *parts]
