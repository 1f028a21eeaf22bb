"""Questions about floats, encodings, manifests and the size of numbers for the fast checker; see kill_suite.py."""

from __future__ import annotations

import json
import struct
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction as F
from types import SimpleNamespace
from typing import Any

from trust import forge2, kill_version2


def floats(loaded: SimpleNamespace) -> Any:
    """Bits, rounding and decimals in the fast checker."""
    m, out = loaded.check, []
    numbers = kill_version2.float_bits()
    for text in (
        *kill_version2.TEXTS,
        *(f"-{text}" for text in kill_version2.TEXTS),
        *(repr(float(i) / 3) for i in range(1, 60)),
        "1" * 399 + "e-390",
    ):
        try:
            value = m.real(text)
            out.append((F(value), value.bits, value.text))
        except ValueError as error:
            out.append(str(error))
    for bits in numbers:
        found = m.decoded(struct.pack("<Q", bits))
        out.append(found)
        if found is not None:
            value = F(found[0][0], 1 << found[1])
            out += [m.fl(value * F(n, d)) for n, d in kill_version2.FACTORS]
    before, m.sys = m.sys, SimpleNamespace(byteorder="big")  # words are read as if they had been stored there
    try:
        out.append([m.decoded(struct.pack(">Q", bits)) for bits in numbers])
    finally:
        m.sys = before
    for size in (0, 2, 3, 7):
        for at in range(0, len(numbers) - size, 5):
            out.append(m.decoded(struct.pack(f"<{size}Q", *numbers[at : at + size])))
    ties = [
        (n, d)
        for n in (1, 3, 2**53 - 1, 2**53 + 1, 2**54 - 1, 2**54 + 2, 2**54 + 6)
        for d in (1, 2, 2**1074, 2**1075, 2**1076)
    ]
    return (
        out,
        [m.nearest(n * k, d * 7) for n, d in ties for k in (6, 7, 8)],
        [m.nearest(n << 1000, d) for n, d in ties],
    )


def encodings(loaded: SimpleNamespace) -> Any:
    """E and Python's JSON in the fast checker; names and digests of manifests."""
    m, out = loaded.check, []
    for text in kill_version2.ENCODED:
        for ask in (lambda t: m.encoded(m.parse(t, "it")), lambda t: m.canonical(json.loads(t))):
            try:
                out.append(ask(text))
            except m.CheckError as error:
                out.append(str(error))
    names = [*kill_version2.NAMES, *(c for c in map(chr, range(33, 127))), *("a" + c for c in map(chr, range(33, 127)))]
    manifests = [{"b": {"sha256": "1", "bytes": 2}, "a": {"sha256": "3", "bytes": 4}}, {}]
    firsts = [b'{"b": 1, "digest": 5, "a": [0.5, "\\u00e9"]}', b'{"digest": 1}']
    said = [m.manifest_digest(listed) for listed in manifests], [m.first_manifest_digest(text) for text in firsts]
    return out, [(name, m.plain(name), m.printable(name)) for name in names], said


def lengths(loaded: SimpleNamespace) -> Any:
    """β of a premise: of bounds, strips, the scaler, ω, weights and claims; and what a row costs then."""
    m, out = loaded.check, []
    plain = {"boxes": "gap", "skip": False, "auxiliaries": "affine"}
    for feature, tensors, net in (
        ({}, {}, {}),
        ({"mult": 2.0**-9}, {}, {}),
        ({"shift": 2.0**-7}, {}, {}),
        ({"hi": 1.0 + 2.0**-30}, {}, {}),
        ({}, {"lower.slope": [[2.0**-40]]}, {}),
        ({}, {"head_bias": [2.0**-1074]}, {}),
        ({"mult": 0.75}, {}, {"profile": "dyadic", "grid": 5}),
    ):
        files = forge2.small_files(feature=feature, tensors=tensors, net=plain | net)
        read = m.Net(m.parse(files["model.json"], ""), m.Weights(files["weights.safetensors"]))
        for when in ([], [([(1, 0, "x")], "<=", "1/3")], [([(1, 0, "x"), (-1, 1, "x")], "<=", "1/7")]):
            claim = m.Claim(forge2.small_claim(([(1, 0, "y")], "<=", 2), copies=2, when=when))
            steps = [
                bisect_left(range(9000), most, key=lambda digits, c=claim: m.Premise(read, c, 1 << digits).weight)
                for most in (2, 3)
            ]
            premise = m.Premise(read, claim, 1 << 20000)
            reader = m.Reader(b"")
            reader.spend(0, premise)
            reader.spend(3, premise, 2)
            out.append((steps, premise.scale, premise.weight, reader.nodes, reader.work))
    return out


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """For the fast checker; kill_version2.py asks the reference the same."""
    single = (floats, encodings, lengths) if target == "fast" else ()
    return [(f"{check.__name__} of the fast checker", check) for check in single]
