"""Questions of the kill suite with small whole numbers: random networks, claims and trees where numbers often tie.

Weights, bounds, thresholds and slopes are small whole numbers or halves, so that intervals end at zero, kinks lie on
ends, and two candidates of a maximum are equal: where a relation or a sign is wrong, the bound changes. Folders exist
in memory only. Both checkers are asked the same; `test_check.py` compares them on the same folders.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from trust import forge2

COUNT, PARTS = 640, 16
Tensors = dict[str, tuple[list[int], list[float]]]
RULES = ("leaf", "leaf", "leaf", "sweep", "slope", "slope", "order", "mirror")


ROOMS = ("0", "0", "1/1000000000", "1/1000000001")  # all of them small enough, whatever the right side


def rooms(claim: dict[str, Any]) -> list[str]:
    """The room of every row of `then`: one of a few that depends on the claim alone."""
    kind = zlib.crc32(json.dumps(claim).encode()) % len(ROOMS)
    return [ROOMS[kind]] * forge2.row_count(claim)


def assembled(
    net: dict[str, Any], tensors: Tensors, claim: dict[str, Any], witness: Any, binary: bytes, proofs: list[Any]
) -> dict[str, bytes]:
    """The files that a manifest lists, every hash right."""
    header, body = {}, b""
    for name, (shape, values) in sorted(tensors.items()):
        data = struct.pack(f"<{len(values)}d", *values)
        header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    certificate = {
        "format": "smilenn-certificate",
        "version": 2,
        "profile": net["profile"],
        "proofs": "certificate.bin",
        "claims": [{"claim": claim, "room": rooms(claim), "witness": witness, "rows": proofs}],
    }
    files = {
        "model.json": json.dumps({"net": net}).encode(),
        "certificate.bin": binary,
        "weights.safetensors": struct.pack("<Q", len(text)) + text + body,
        "certificate.json": json.dumps(certificate).encode(),
    }
    return forge2.rehashed(files)


class Small:
    """One folder: `files` are those that a manifest lists."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.rule = RULES[seed % len(RULES)]
        several = {"leaf": (1, 2, 2, 2, 3), "sweep": (1, 1, 2, 2, 2, 3)}.get(self.rule, (2,))
        self.k = rng.choice(several)
        self.paper = self.rule in ("leaf", "sweep", "mirror") and rng.random() < 0.3
        self.features = self._features()
        self.m = sum(len(f.get("categories", ())) or 1 for f in self.features)
        self.h = rng.choice((1, 2, 3))
        self.n, self.skip = rng.choice((1, 2)), rng.random() < 0.5
        net = {
            "domain": {"features": self.features},
            "boxes": "paper" if self.paper else "gap",
            "auxiliaries": "relu",
            "hidden": self.h,
            "skip": self.skip,
            "embedding": self.n,
            "outputs": [""],
            "output_scale": [1.0],
            "profile": {"order": "fixed-order"}.get(self.rule, "f64-aux"),
            "grid": 0,
            "backbone": {},
        }
        tensors = self._tensors()
        claim, witness = self._claim()
        binary, proof = self._proof()
        proofs = [proof]
        if self.rule == "mirror":
            claim["then"].append(self._mirrored(claim["then"][0]))
            proofs.append({"rule": "mirror", "of": 0})
        self.files = assembled(net, tensors, claim, witness, binary, proofs)

    def _features(self) -> list[dict[str, Any]]:
        rng, out = self.rng, []
        sizes = (1,) * 9 + (2,) if self.rule == "sweep" else (1, 2, 2)  # a sweep of two inputs is to be refused
        for i in range(rng.choice(sizes)):
            lo = float(rng.randint(-2, 1))
            kind = rng.choice(("continuous", "continuous", "integer"))
            wide = 9 if self.rule == "sweep" else 3
            out.append({"name": f"x{i}", "kind": kind, "lo": lo, "hi": lo + rng.randint(0, wide)})
            if kind == "continuous" and rng.random() < 0.3:
                out[-1] |= {"shift": float(rng.randint(-1, 1)), "mult": rng.choice((0.5, 1.0, 2.0))}
        if self.rule == "leaf" and rng.random() < 0.4:
            out.append({"name": "g", "kind": "category", "lo": 0.0, "hi": 1.0, "categories": list("abc")})
        return out

    def _tensors(self) -> Tensors:
        rng, n, m, h = self.rng, self.n, self.m, self.h
        shapes = {"head_weight": [1, n], "head_bias": [1]}
        for part in ("lower", "second"):
            shapes |= {f"{part}.const": [n], f"{part}.weight": [h, m], f"{part}.bias": [h], f"{part}.out": [n, h]}
            if self.skip and (self.paper or part == "lower"):
                shapes[f"{part}.slope"] = [n, m]
        positive = self.rule == "order" and rng.random() < 0.7
        out = {}
        for name, shape in shapes.items():
            size = shape[0] * (shape[1] if len(shape) > 1 else 1)
            values = [rng.choice((-2.0, -1.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.0, 2.0)) for _ in range(size)]
            if not self.paper and name in ("second.const", "second.out"):
                width = 0.0 if self.rule in ("slope", "order") else 1.0
                values = [abs(v) * width for v in values]
            elif positive and name != "head_bias":
                values = [abs(v) for v in values]
            out[name] = (shape, values)
        return out

    def _claim(self) -> tuple[dict[str, Any], list[list[float]]]:
        rng, k, when = self.rng, self.k, []
        point: list[float] = []
        for f in self.features:
            if f["kind"] == "category":
                point += [1.0, 0.0, 0.0]
                continue
            x = float(rng.randint(int(f["lo"]), int(f["hi"])))
            point.append(x)
            shape = (
                "ordered" if self.rule in ("slope", "order") else rng.choice(("strip", "strip", "side", "box", "none"))
            )
            if shape == "ordered" and rng.random() < 0.4 and f is not self.features[0]:
                shape = "none"  # pinned
            terms = [["1", 0, "in", f["name"]], ["-1", 1, "in", f["name"]]]
            sign = rng.choice((1, -1))
            if shape in ("ordered", "side") and k == 2:
                flipped = [[str(sign * int(a)), c, kind, name] for a, c, kind, name in terms]
                when.append(
                    {"terms": flipped, "op": "<=", "rhs": "0" if shape == "ordered" else rng.choice(("0", "1"))}
                )
            if shape == "strip" and k == 2:
                width = rng.choice(("1/2", "1", "2"))
                for side in (1, -1):
                    moved = [[str(side * int(a)), c, kind, name] for a, c, kind, name in terms]
                    other = rng.choice(("1/2", "1", "2"))
                    when.append({"terms": moved, "op": "<=", "rhs": width if self.rule == "mirror" else other})
            if shape == "box" or (k != 2 and rng.random() < 0.5):
                when.append(
                    {
                        "terms": [[str(sign), rng.randrange(k), "in", f["name"]]],
                        "op": "<=",
                        "rhs": str(int(sign * x) + rng.randint(0, 1)),
                    }
                )
        if self.rule == "leaf" and rng.random() < 0.3:  # a row over several coordinates
            names = [f["name"] for f in self.features if f["kind"] != "category"]
            terms = [["1", rng.randrange(k), "in", rng.choice(names)], ["2", rng.randrange(k), "in", rng.choice(names)]]
            places = {name: at for at, name in enumerate(names)}
            total = sum(int(a) * int(point[places[name]]) for a, _, _, name in terms)
            when.append({"terms": terms, "op": rng.choice(("<=", "==")), "rhs": str(total)})
        then = [["1", 0, "out", ""], *([["-1", 1, "out", ""]] if k > 1 else [])]
        if self.rule == "mirror" and rng.random() < 0.3:
            then += [["1", 0, "in", "x0"], ["-1", 1, "in", "x0"]]
        rhs = "0" if self.rule in ("slope", "order") else str(rng.randint(0, 9))
        claim = {
            "copies": k,
            "when": when,
            "then": [{"terms": then, "op": "<=", "rhs": rhs}],
            "others": "equal" if self.rule in ("slope", "order") else rng.choice(("equal", "free")),
            "equal": [],
            "free": ["g"] if self.features[-1]["name"] == "g" and rng.random() < 0.5 else [],
            "sentence": "",
        }
        self.when, self.free = when, {*claim["free"], *(t[3] for r in when for t in r["terms"])}
        self.equal = claim["others"] == "equal" and k > 1
        self.extra = len([r for r in when if len(self._merged(r)) > 1 and not self._is_strip(r)])
        return claim, [point] * k

    def _mirrored(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with its copies exchanged, or not quite."""
        terms = [[a, 1 - c, kind, name] for a, c, kind, name in row["terms"]]
        match self.rng.randrange(8):
            case 0:
                return row | {"terms": terms, "rhs": str(int(row["rhs"]) + 1)}
            case 1:
                return row
            case 2:
                return row | {"terms": [[a.replace("1", "2"), c, kind, name] for a, c, kind, name in terms]}
            case 3:
                return row | {"terms": [*terms, ["1", 0, "in", "x0"]]}
            case _:
                return row | {"terms": terms}

    def _merged(self, row: dict[str, Any]) -> dict[tuple[int, str], int]:
        out: dict[tuple[int, str], int] = {}
        for a, c, _, name in row["terms"]:
            out[c, name] = out.get((c, name), 0) + int(a)
        return {key: a for key, a in out.items() if a}

    def _is_strip(self, row: dict[str, Any]) -> bool:
        merged = self._merged(row)
        return self.k == 2 and len({name for _, name in merged}) == 1 and sum(merged.values()) == 0

    def _proof(self) -> tuple[bytes, dict[str, Any]]:
        rng, k = self.rng, self.k
        if self.rule in ("sweep", "order"):
            return b"", {"rule": self.rule}
        slope, units, out = self.rule == "slope", 2 * self.h, bytearray()
        chosen = [] if slope else sorted(rng.sample(range(units), rng.randint(0, units)))
        numbers = 0 if slope else k * (self.n if self.paper else 0) + k * len(chosen)
        due, left = [0], rng.randint(0, 4)  # phases on the path to each node that is due
        names = [f["name"] for f in self.features if f["kind"] != "category"]
        while due:
            depth = due.pop()
            kind = rng.choice((1, 1, 1, 2, 3, 5)) if left > 0 and rng.random() < 0.8 else 0
            index = rng.randrange(len(names))
            pinned = self.equal and names[index] not in self.free
            grouped = self.features[-1]["name"] == "g"
            if (
                kind == 0
                or (kind == 3 and not grouped)
                or (kind == 5 and not self.paper)
                or (slope and kind == 2 and not pinned)
            ):
                if slope and depth and rng.random() < 0.3:
                    out += b"\4" + struct.pack(f"<{depth}I", *(rng.randint(0, 2) for _ in range(depth)))
                else:
                    values = [rng.randint(-2, 2) for _ in range(numbers)] + [rng.randint(0, 2)] * (
                        not slope
                    ) * self.extra
                    out += b"\0" + struct.pack(f"<{len(values)}i", *values)
                continue
            left -= 1
            copy = 255 if slope else rng.randrange(k)
            if kind == 1:
                out += struct.pack("<BBH", 1, copy, rng.randrange(units))
                due += [depth + 1] * 2
            elif kind == 2:
                theta = rng.choice((-1.0, -0.5, 0.0, 0.5, 1.0, 1.5))
                out += struct.pack("<BBHd", 2, 255 if pinned else copy, index, theta)
                due += [depth] * 2
            elif kind == 3:
                out += struct.pack("<BBH", 3, 255 if self.equal and "g" not in self.free else copy, 0)
                due += [depth] * 3
            else:
                out += struct.pack("<BBH", 5, copy, rng.randrange(self.n))
                due += [depth] * 2
        place = {"rule": self.rule, "bits": 0, "start": 0, "length": len(out)}
        return bytes(out), place if slope else place | {"rule": "leaf", "units": chosen}


def bent() -> Iterator[dict[str, bytes]]:
    """f = −x + 2·relu(x − y) − 2·relu(y − x + c) rises in x only where one of the units is active: a proof by slopes
    has to split both, and to show that they are not both inactive (c > 0).
    """
    for c, lambdas, slope, first in itertools.product((0.5, 0.25, 0.0), ((1, 1), (2, 1), (0, 1)), (-1.0, -2.0), (0, 1)):
        number = {"kind": "continuous", "lo": 0.0, "hi": 2.0}
        net = {
            "domain": {"features": [{"name": "x"} | number, {"name": "y"} | number]},
            "boxes": "gap",
            "auxiliaries": "relu",
            "hidden": 2,
            "skip": True,
            "embedding": 1,
            "outputs": [""],
            "output_scale": [1.0],
            "profile": "f64-aux",
            "grid": 0,
            "backbone": {},
        }
        tensors: Tensors = {
            "lower.const": ([1], [0.0]),
            "lower.slope": ([1, 2], [slope, 0.0]),
            "second.const": ([1], [0.0]),
            "lower.weight": ([2, 2], [1.0, -1.0, -1.0, 1.0]),
            "lower.bias": ([2], [0.0, c]),
            "lower.out": ([1, 2], [2.0, -2.0]),
            "second.weight": ([2, 2], [0.0] * 4),
            "second.bias": ([2], [0.0] * 2),
            "second.out": ([1, 2], [0.0] * 2),
            "head_weight": ([1, 1], [1.0]),
            "head_bias": ([1], [0.0]),
        }
        claim = {
            "copies": 2,
            "when": [{"terms": [["1", 0, "in", "x"], ["-1", 1, "in", "x"]], "op": "<=", "rhs": "0"}],
            "then": [{"terms": [["1", 0, "out", ""], ["-1", 1, "out", ""]], "op": "<=", "rhs": "0"}],
            "others": "equal",
            "equal": [],
            "free": [],
            "sentence": "",
        }
        empty = b"\4" + struct.pack("<2I", *lambdas)
        for kind in (1, 6):  # there is no kind 6
            nodes = [struct.pack("<BBH", kind, 255, first), struct.pack("<BBH", 1, 255, 1 - first), empty, b"\0", b"\0"]
            binary = b"".join(nodes)
            proof = {"rule": "slope", "bits": 0, "start": 0, "length": len(binary)}
            yield assembled(net, tensors, claim, [[1.0, 1.0]] * 2, binary, [proof])


def swept() -> Iterator[dict[str, bytes]]:
    """f = a·x − (a + b)·relu(x − c), or its mirror image, on whole numbers: largest beside its kink, on either side."""
    for c, (a, b), sign, k in itertools.product(
        (-5.0, -0.5, 0.25, 1.0, 1.75, 5.0), ((1, 3), (3, 1), (2, 2)), (1, -1), (1, 2)
    ):
        net = {
            "domain": {"features": [{"name": "x", "kind": "integer", "lo": -5.0, "hi": 5.0}]},
            "boxes": "gap",
            "auxiliaries": "relu",
            "hidden": 1,
            "skip": True,
            "embedding": 1,
            "outputs": [""],
            "output_scale": [1.0],
            "profile": "f64-aux",
            "grid": 0,
            "backbone": {},
        }
        tensors: Tensors = {
            "lower.const": ([1], [0.0]),
            "lower.slope": ([1, 1], [float(sign * a)]),
            "second.const": ([1], [0.0]),
            "lower.weight": ([1, 1], [float(sign)]),
            "lower.bias": ([1], [-c]),
            "lower.out": ([1, 1], [-float(a + b)]),
            "second.weight": ([1, 1], [0.0]),
            "second.bias": ([1], [0.0]),
            "second.out": ([1, 1], [0.0]),
            "head_weight": ([1, 1], [1.0]),
            "head_bias": ([1], [0.0]),
        }
        back = [["-1", 1, "out", ""]] if k == 2 else []
        near = {"terms": [["1", 0, "in", "x"], ["-1", 1, "in", "x"]], "op": "<=", "rhs": "2"}
        below = {"terms": [["1", 0, "in", "x"]], "op": "<=", "rhs": "3"}
        when = [near, *([below] if sign < 0 else [])] if k == 2 else []
        claim = {
            "copies": k,
            "when": when,
            "others": "free",
            "equal": [],
            "free": [],
            "sentence": "",
            "then": [{"terms": [["1", 0, "out", ""], *back], "op": "<=", "rhs": "9"}],
        }
        yield assembled(net, tensors, claim, [[0.0]] * k, b"", [{"rule": "sweep"}])


def ordered() -> Iterator[dict[str, bytes]]:
    """f = ±relu(±x + v·y) in one order, y pinned: its weight may have any sign."""
    for first, second, out, head in itertools.product((1.0, -1.0), (2.0, -2.0), (1.0, -1.0), (1.0, -1.0)):
        number = {"kind": "continuous", "lo": -1.0, "hi": 1.0}
        net = {
            "domain": {"features": [{"name": "x"} | number, {"name": "y"} | number]},
            "boxes": "gap",
            "auxiliaries": "relu",
            "hidden": 1,
            "skip": False,
            "embedding": 1,
            "outputs": [""],
            "output_scale": [1.0],
            "profile": "fixed-order",
            "grid": 0,
            "backbone": {},
        }
        tensors: Tensors = {
            "lower.const": ([1], [0.0]),
            "second.const": ([1], [0.0]),
            "lower.weight": ([1, 2], [first, second]),
            "lower.bias": ([1], [0.0]),
            "lower.out": ([1, 1], [out]),
            "second.weight": ([1, 2], [0.0, 0.0]),
            "second.bias": ([1], [0.0]),
            "second.out": ([1, 1], [0.0]),
            "head_weight": ([1, 1], [head]),
            "head_bias": ([1], [0.0]),
        }
        claim = {
            "copies": 2,
            "when": [{"terms": [["1", 0, "in", "x"], ["-1", 1, "in", "x"]], "op": "<=", "rhs": "0"}],
            "then": [{"terms": [["1", 0, "out", ""], ["-1", 1, "out", ""]], "op": "<=", "rhs": "0"}],
            "others": "equal",
            "equal": [],
            "free": [],
            "sentence": "",
        }
        for x in (0.0, 1.0):  # the second is not a witness, by one
            yield assembled(net, tensors, claim, [[x, 0.0], [0.0, 0.0]], b"", [{"rule": "order"}])


def mirrored_later() -> Iterator[dict[str, bytes]]:
    """Mirrors of rows that others follow before them: their bounds are not those of the row above."""
    for seed in range(RULES.index("mirror"), 24 * len(RULES), len(RULES)):
        files = Small(seed).files
        content, tree = json.loads(files["certificate.json"]), files["certificate.bin"]
        (entry,) = content["claims"]
        (row, mirror), (proof, shown) = entry["claim"]["then"], entry["rows"]
        three = [one | {"terms": [[str(3 * int(a)), *rest] for a, *rest in one["terms"]]} for one in (row, mirror)]
        entry["claim"]["then"] = [row, three[0], mirror, three[1]]
        entry["rows"] = [proof, proof | {"start": len(tree)}, shown, shown | {"of": 1}]
        entry["room"] = rooms(entry["claim"])
        certificate = json.dumps(content).encode()
        yield forge2.rehashed({**files, "certificate.bin": 2 * tree, "certificate.json": certificate})


@functools.lru_cache(maxsize=1)
def folders() -> list[dict[str, bytes]]:
    """All of them; made once."""
    return [*bent(), *swept(), *ordered(), *(Small(seed).files for seed in range(COUNT)), *mirrored_later()]


def _asked(loaded: SimpleNamespace, part: int, fast: bool) -> Any:
    """What a checker says of every sixteenth folder."""
    return answers(loaded, folders()[part::PARTS], fast)


def listed(files: dict[str, bytes]) -> tuple[int, dict[str, bytes]]:
    """What a checker takes for the version and the files of a folder."""
    return json.loads(files["certificate.json"])["version"], files


def answers(loaded: SimpleNamespace, given: list[dict[str, bytes]], fast: bool) -> list[tuple[str, str, Any]]:
    """Status, reason, and the numbers of every row."""
    module = loaded.check if fast else loaded.check_reference
    where, name = (module, "read_folder") if fast else (loaded.reader, "listed_files")
    out, before = [], getattr(where, name)
    try:
        for files in given:
            setattr(where, name, lambda _, files=files: listed(files))
            report = module.check_folder("nowhere")
            rows = [(r.rule, r.bound, r.margin, r.rhs, r.room, r.holds) for claim in report.claims for r in claim.rows]
            out.append((report.status, report.reason, rows))
    finally:
        setattr(where, name, before)
    return out


def limits(loaded: SimpleNamespace, fast: bool) -> Any:
    """The least work and the least number of nodes with which folders of every kind are checked."""
    module = loaded.check if fast else loaded.check_reference
    where, name = (module, "read_folder") if fast else (loaded.reader, "listed_files")
    out, before = [], getattr(where, name)
    kinds = ("NODES", "WORK") if fast else ("MOST_NODES", "MOST_WORK")
    chosen = [Small(seed) for seed in range(COUNT)]
    grouped = [s for s in chosen if s.rule == "leaf" and s.features[-1]["name"] == "g"]
    picked = [next(s for s in grouped if s.k == k) for k in (1, 2, 3)]
    single = [s for s in chosen if s.rule != "sweep" or (s.m == 1 and s.k <= 2)]
    for rule, paper in (("sweep", True), ("sweep", False), ("leaf", True), ("slope", False), ("order", False)):
        picked.append(next(s for s in single if s.rule == rule and s.paper == paper))
    try:
        for files in (s.files for s in picked):
            setattr(where, name, lambda _, files=files: listed(files))
            for kind in kinds:
                most, low, high = getattr(module, kind), 0, 1 << 16
                while low < high:
                    middle = (low + high) // 2
                    setattr(module, kind, middle)
                    low, high = (middle + 1, high) if module.check_folder("").status == "refused" else (low, middle)
                setattr(module, kind, most)
                out.append(low)
            for bits in (1, 4, 16) if fast else ():  # of the common denominator of a claim's bounds
                most, module.BITS = module.BITS, bits
                out.append(module.check_folder("").reason)
                module.BITS = most
    finally:
        setattr(where, name, before)
    return out


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """The folders in parts, by name."""
    fast = target == "fast"
    parts = [(f"small {part}", functools.partial(_asked, part=part, fast=fast)) for part in range(PARTS)]
    return [*parts, ("limits of small ones", functools.partial(limits, fast=fast))]
