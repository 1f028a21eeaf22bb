"""Questions about version 2, versions, floats and the size of numbers; see kill_suite.py."""

from __future__ import annotations

import atexit
import functools
import itertools
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from trust import forge2

PARTS = 8
TEXTS = (
    "0.0",
    "-0.0",
    "1e-400",
    "0.1e-5000",
    "1e400",
    "1e309",
    "1e308",
    "17.9e307",
    "1.7976931348623159e308",
    "4.9e-324",
    "2.4703282292062327e-324",
    "2.4703282292062328e-324",
    "2.2250738585072011e-308",
    "9007199254740993.0",
    "1E+5",
    "123.456e-7",
    "1e999999999",
    "1e-999999999",
    "0e99999999999",
    "x",
    "1.",
    "0." + "0" * 323 + "5",
    "0.5e-324",
    "9" * 308 + ".0",
    "9" * 309 + ".0",
    "9" * 310 + "e-2",
    "0." + "0" * 324 + "9e1",
    "3e-324",
    "2e-324",
    "1e-325",
    "0.1e310",
    "0.1e309",
    "25e-325",
    "0.24e-323",
    "1e310",
    "1e311",
    "100e309",
    "1e-329",
    "1e-330",
    "1e-331",
)


FACTORS = ((1, 3), (-2, 7), (3, 4), (5, 8), (2**53 + 1, 2**53), (2**54 + 1, 2**54), (2**53 - 1, 2**53), (1, 2**60))


def float_bits() -> list[int]:
    """Bits of floats of all kinds."""
    rng = random.Random(0)
    numbers = [rng.getrandbits(64) & ~((1 << rng.randrange(56)) - 1) for _ in range(150)]
    numbers += [rng.getrandbits(52) >> rng.randrange(52) for _ in range(50)] + [i << 52 for i in range(0, 2047, 37)]
    numbers += [0, 1 << 63, 1, 2, 3, (1 << 52) - 1, 1 << 52, 0x7FF << 52, (0x7FF << 52) - 1, 0x7FF << 52 | 1]
    return (
        numbers
        + [(0x3FF + 50) << 52 | i for i in range(1, 16)]
        + [(0x3FF + 53) << 52, (0x3FF + 13) << 52, 0x3F1 << 52, (0x3FF - 681) << 52]
    )


def floats(loaded: SimpleNamespace) -> Any:
    """Bits, rounding, decimals and Python's print."""
    m, out = loaded.exact_floats, []
    for text in TEXTS:
        try:
            out.append(m.parsed(text).bits)
        except ValueError as error:
            out.append(str(error))
    for bits in float_bits():
        value = m.decoded(bits)
        if value is None:
            out.append(None)
            continue
        out.append((value, m.shortest(m.Double(bits)), m.double(abs(value), bool(bits >> 63)).bits))
        out += [m.fl(value * F(n, d)) for n, d in FACTORS]
    before, m.fl = m.fl, lambda _: F(-1)  # no digits would do
    try:
        out.append(m.shortest(m.Double(0x3FF << 52)))
    except AssertionError as error:
        out.append(str(error))
    finally:
        m.fl = before
    return (
        out,
        [m.floor_log2(F(n, d)) for n in range(1, 20) for d in range(1, 20)],
        [m._floor_log10(F(10) ** e) for e in range(-30, 30)],
    )


ENCODED = [
    b'{"b": [null, true, false, 0, -12, 1.0, -0.0, 1e2], "a\xc3\xa9": "\xe2\x82\xac\\n", "a": {}, "": []}',
    b'{"\xf0\x9f\x98\x80": 1, "\xef\xbf\xbf": 2}',
    b'"\\ud800"',
    b'{"\\udc00": 1}',
    b"12",
    b"[[[]], {}]",
]
NAMES = (
    "",
    ".",
    "..",
    "a",
    ".a",
    "a.",
    "x" * 100,
    "x" * 101,
    "a b",
    "a/b",
    "\u00e9",
    "manifest.json",
    "signature.json",
    "a\n",
    "model.json",
    "a:b",
    "a\\b",
)


def encodings(loaded: SimpleNamespace) -> Any:
    """E and Python's JSON of values of all types."""
    out = []
    for text in ENCODED:
        value = loaded.strict.parse_json(text, "it")
        out += [
            loaded.exact_version1.canonical(value),
            loaded.exact_version1.python_json(value, ", ", ": ", escaped=False),
        ]
        try:
            out.append(loaded.exact_encoding.encoding(value))
        except loaded.strict.Refused as error:
            out.append(str(error))
    return out


def _rooms() -> Iterator[forge2.Files]:
    for rhs, scale, room in (
        ("3", 1.0, "3/1000000000"),
        ("3", 1.0, "31/10000000000"),
        ("-3", 1.0, "3/1000000000"),
        ("0", 0.5, "1/2000000000"),
        ("0", 0.5, "11/20000000000"),
        ("1/1000000000", 1.0, "1/2000000000"),
        ("1/1000000000", 1.0, "1/1900000000"),
        ("1", 1.0, "1/1000000000"),
        ("1", 1.0, "0"),
        ("1", 1.0, "-1/1000000000"),
        ("1", 8.0, "8/1000000000"),
    ):
        claim = forge2.small_claim(([(1, 0, "y")], "<=", rhs))
        yield forge2.as_version_2(forge2.small_files(claim, net={"output_scale": [scale]}), rooms=[[room]])
    tensors = {"head_weight": [[1.0], [1.0]], "head_bias": [0.0, 0.0]}
    net = {"outputs": ["y", "large"], "output_scale": [1.0, 1024.0]}
    for terms in (
        [(1, 0, "y")],
        [(1, 0, "y"), (1, 0, "large")],
        [(1, 0, "large"), (-1, 0, "large")],
        [(1, 0, "x")],
        [(1, 0, "large"), (-1, 1, "large")],
        [(1, 0, "large"), (1, 0, "x")],
    ):
        claim = forge2.small_claim((terms, "<=", 0), copies=2)
        for room in ("1024/1000000000", "1/1000000000", "0"):
            yield forge2.as_version_2(forge2.small_files(claim, net=net, tensors=tensors), rooms=[[room]])
    names = {"outputs": ["large", ""], "output_scale": [1024.0, 1.0]}
    for terms, room in itertools.product(
        ([(1, 0, "")], [(1, 0, ""), (1, 0, "y")], [(1, 0, ""), (-1, 0, "y")], [(1, 0, "y")]), ("0", "1/1000000000")
    ):  # the single output by no name, by its own, by both
        yield forge2.as_version_2(forge2.small_files(forge2.small_claim((terms, "<=", 0))), rooms=[[room]])
    for room in ("1024/1000000000", "1/1000000000"):  # an output whose name is empty is one of several
        claim = forge2.small_claim(([(1, 0, "")], "<=", 0))
        yield forge2.as_version_2(forge2.small_files(claim, net=names, tensors=tensors), rooms=[[room]])
    for rooms in ([0], [None], ["1e-9"], [["0"]]):
        yield forge2.as_version_2(forge2.small_files(), rooms=[rooms])
    equal = forge2.small_files(forge2.small_claim(([(1, 0, "y"), (-1, 0, "x")], "==", 0)))
    for rooms in (["1/1000000000"] * 2, ["0", "1/1000000000"], ["1/1000000000", "0"], ["0"], ["0"] * 3):
        yield forge2.as_version_2(equal, rooms=[rooms])
    claim = forge2.small_claim(
        ([(1, 0, "y")], "<=", 1), either=[[([("1/3", 0, "y")], "<=", 2), ([(-1, 0, "y")], "<=", 2)]]
    )
    case = {"weights": [["1/5", "4/5"]], "rows": [forge2.SWEEP] * 2}
    cases = {
        "copy": 0,
        "coordinate": 0,
        "at": 0.5,
        "below": case | {"witness": [[0.25]]},
        "above": case | {"witness": [[0.75]]},
    }
    for room in ("1/1000000000", "0"):
        yield forge2.as_version_2(forge2.small_files(claim, proofs=[{"cases": cases}]), rooms=[[room]])


def _tables() -> Iterator[forge2.Files]:
    files = forge2.small_files()
    for table in (
        {"meaning": ["price"]},
        {"meaning": []},
        {"meaning": ["a", "b"]},
        {"meaning": [1]},
        {"meaning": "y"},
        {},
        [],
        0,
        {"a": [None, True, -1, 2.5, "\u20ac"]},
    ):
        yield forge2.as_version_2(files, table=table)
    yield forge2.edited(forge2.as_version_2(files), "model.json", lambda m: m.update(table=None))
    yield forge2.edited(forge2.as_version_1(forge2.as_version_2(files)), "model.json", lambda m: m.update(table=1))
    good = forge2.as_version_2(files, table={"meaning": ["price"]}, properties=True)
    yield good
    for name, change in (
        ("model.json", lambda m: m["table"].update(meaning=["cost"])),
        ("model.json", lambda m: m.pop("table")),
        ("model.json", lambda m: m["net"].update(backbone=[1])),
        ("model.json", lambda m: m["net"].update(hidden=1)),
        ("properties.json", lambda p: p["claims"][0].update(copies=True)),
        ("properties.json", lambda p: p.clear()),
        ("properties.json", lambda p: p["claims"][0].update(sentence=1)),
        ("properties.json", lambda p: p["claims"].clear()),
        ("properties.json", lambda p: p.update(claims=[1])),
        ("properties.json", lambda p: p["claims"][0]["then"][0].update(rhs="1")),
        ("certificate.json", lambda c: c["claims"][0]["claim"].update(sentence="Other.")),
        ("certificate.json", lambda c: c["claims"][0]["claim"]["then"][0].update(rhs="3")),
        ("certificate.json", lambda c: c.update(weights=c["model"])),
        ("certificate.json", lambda c: c.update(version=1)),
        ("certificate.json", lambda c: c.update(version=True)),
        ("certificate.json", lambda c: c["claims"][0].pop("room")),
        ("certificate.json", lambda c: c.update(claims=[1])),
        ("certificate.json", lambda c: c.update(claims=[{}])),
    ):
        yield forge2.edited(good, name, change)
    old = forge2.as_version_1(good)
    yield from (
        old,
        old | {"properties.json": b"{"},
        good | {"properties.json": b"{"},
        good | {"properties.json": b"[]"},
    )
    yield forge2.edited(old, "certificate.json", lambda c: c["claims"][0].update(room=["0"]))
    pinned = {"encoder": [{"name": "e", "columns": [0], "layers": [{"kind": "pinned", "outputs": 1, "module": None}]}]}
    tensors = {"encoder.lo": [0.0], "encoder.hi": [1.0]}
    encoded = forge2.small_files(net=pinned | {"skip": True, "auxiliaries": "constant"}, tensors=tensors)
    header = forge2.small_weights(tensors)
    yield from (
        forge2.as_version_2(encoded | {"weights.safetensors": _without(header, ("second.rise", "second.fall"))}),
    )
    yield forge2.as_version_1(
        forge2.as_version_2(encoded | {"weights.safetensors": _without(header, ("second.rise", "second.fall"))})
    )


def _without(data: bytes, names: tuple[str, ...]) -> bytes:
    """A safetensors file without some of its tensors."""
    size = int.from_bytes(data[:8], "little")
    header, body, out, at = json.loads(data[8 : 8 + size]), data[8 + size :], {}, b""
    for name, entry in header.items():
        if name not in names:
            raw = body[slice(*entry["data_offsets"])]
            out[name] = entry | {"data_offsets": [len(at), len(at) + len(raw)]}
            at += raw
    text = json.dumps(out).encode()
    return len(text).to_bytes(8, "little") + text + at


def _manifests() -> Iterator[tuple[forge2.Files, dict[str, Any]]]:
    files = forge2.as_version_2(forge2.small_files())
    good = json.loads(forge2.manifest(files))
    for changes in (
        {},
        {"more": 1},
        {"library": 1},
        {"format": "x"},
        {"files": []},
        {"digest": "0" * 64},
        {"digest": 1},
        {"version": 3},
        {"version": True},
        {"version": "2"},
        {"version": 1},
    ):
        yield files, good | changes
    for name in (
        "a",
        "x" * 100,
        "x" * 101,
        "",
        ".",
        ".a",
        "a b",
        "a/b",
        "a+b",
        "\u00e9",
        "manifest.json",
        "signature.json",
    ):
        yield files, {"files": good["files"] | {name: {"sha256": forge2.sha256(b""), "bytes": 0}}}
    for entry in (
        {"bytes": 1},
        {"sha256": "0" * 64},
        {"bytes": 1.0},
        {"bytes": -1},
        {"more": 1},
        {"sha256": "A" * 64},
        {"sha256": 1},
        {"sha256": None},
        {"bytes": True},
    ):
        yield files, {"files": good["files"] | {"model.json": good["files"]["model.json"] | entry}}
    for name in files:
        yield files, {"files": {key: value for key, value in good["files"].items() if key != name}}
    old = forge2.as_version_1(files)
    body = json.loads(forge2.manifest(old, 1))
    for changes in (
        {},
        {"more": [0.5, "\u00e9"]},
        {"more": "\ud800", "digest": "0"},
        {"digest": "0" * 64},
        {"files": []},
        {"version": 2},
    ):
        yield old, {key: value for key, value in body.items() if key != "digest"} | changes
    for name in ("a b", "\u00e9", "a/b", "..", "", "a:b", "a\nb"):
        yield old, {"files": body["files"] | {name: {"sha256": forge2.sha256(b""), "bytes": 0}}}


@functools.cache
def folders() -> list[Path]:
    """All folders, written once, some with an empty file beside the listed ones."""
    place = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, place, True)
    given = [(files, {}) for files in (*_rooms(), *_tables())] + list(_manifests())
    out = []
    for at, (files, changes) in enumerate(given):
        out.append(forge2.put(place / str(at), files, changes))
        for name in ("a", "x" * 100, "x" * 101, "a b", "a+b", "\u00e9", ".a", "a:b", "signature.json"):
            if name in changes.get("files", ()):
                (out[-1] / name).write_bytes(b"")
    return out


@functools.cache
def converted(folder: Path) -> Path:
    """A folder of version 1 as one of version 2, which pinned modules need."""
    place = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, place, True)
    files = {name: data for name, data in forge2.read(folder).items() if name != "properties.json"}
    return forge2.put(place / folder.name, forge2.as_version_2(files))


def _asked(loaded: SimpleNamespace, part: int, fast: bool) -> Any:
    """Every part of the report, and what is printed of it."""
    module, out = loaded.check if fast else loaded.check_reference, []
    for folder in folders()[part::PARTS]:
        report = module.check_folder(folder)
        rows = [
            (r.text if fast else r.formula, r.bound, r.margin, r.rhs, r.room, r.excess, r.holds)
            for c in report.claims
            for r in c.rows
        ]
        lines = report.lines() if fast else module._lines(report)
        out.append((report.status, report.reason, report.version, report.meaning, report.certificate, rows, lines))
    return out


def lengths(loaded: SimpleNamespace) -> Any:
    """β of numbers of all kinds, at the limits of its steps and of what is refused."""
    m, out = loaded.exact_work, []
    inner = SimpleNamespace(shift=(F(1, 4), F(0)), mult=(F(1, 8), F(3)))
    tensors = {"encoder.lo": [[F(1, 2**90)]], "head_bias": [[F(1, 32)]], "lower.const": [[F(7), F(1, 2)]]}
    model = SimpleNamespace(net=SimpleNamespace(inner=inner, tensors=tensors), ends=([F(1, 16)], [F(1, 2)]))
    shared = [m.lengths(model, omega) for omega in (None, [F(1, 64), F(0)])]
    whole = SimpleNamespace(shift=(F(0), F(0)), mult=(F(1), F(3)))
    plain = SimpleNamespace(net=SimpleNamespace(inner=whole, tensors=tensors), ends=([F(1)], [F(1, 3)]))
    shared.append(m.lengths(plain, None))
    out += [(one.coordinates, one.weights) for one in shared]
    steps = [1, 4000, *range(4055, 4075), *range(8145, 8180), (1 << 17) - 1, 1 << 17]
    for digits in steps:
        for where in ("lo", "hi", "strip_lo", "strip_hi"):
            sides = {"lo": [[F(0)]], "hi": [[F(1)]], "strip_lo": [F(0)], "strip_hi": [F(1)]}
            value = F(1, 1 << digits)
            sides[where] = [[value]] if where in ("lo", "hi") else [value]
            for claim in (1, 2, 3, 1 << 100):
                try:
                    out.append(m.factor(shared[0], SimpleNamespace(**sides), claim))
                except loaded.strict.Refused as error:
                    out.append(str(error))
    return out


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """The folders in parts."""
    fast = target == "fast"
    parts = [(f"version 2, part {part}", functools.partial(_asked, part=part, fast=fast)) for part in range(PARTS)]
    if fast:
        return parts
    return [("floats in integers", floats), ("encodings", encodings), ("lengths of numbers", lengths), *parts]
