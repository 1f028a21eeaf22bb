"""Questions of the kill suite about lemmas: small folders whose proof by the leaf rule is given some.

The tree of a folder of kill_small.py gets multipliers in its leaves and lemmas before it: β, θ and h are small whole
numbers or halves, θ also outside of [β, 0], so that candidates of r tie and cuts lie on ends. Every fourth folder is
malformed. Any lemma is sound, so that the others are accepted or have a poor bound.
"""

from __future__ import annotations

import functools
import random
import struct
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction as F
from types import SimpleNamespace
from typing import Any

from trust import drawn, kill_small

COUNT, PARTS = 1600, 16
FIRST = 1000  # the seeds of kill_small.py are other ones
WHOLE = 1 << 24  # a multiplier of one
FAULTS = (
    "number",
    "more",
    "fewer",
    "unit",
    "cut",
    "byte",
    "long",
    "short",
    "negative",
    "negative",
    "closed",
    "slope",
    "sweep",
    "y missing",
    "y more",
    "length",
    "units",
    "none",
)
NUMBERS = (0, -1, True, False, None, "1", 1.0, [], 10**9, 10**300, -(10**300))


class Lemmas(kill_small.Small):
    """One folder; `files` are those that a manifest lists."""

    def __init__(self, seed: int) -> None:
        self.number = seed
        self.fault = FAULTS[seed // 4 % len(FAULTS)] if seed % 4 == 3 else ""
        self.own = random.Random(-1 - seed)
        place = {"slope": 4, "sweep": 3}.get(self.fault, seed % 3)  # of the rule in kill_small.RULES
        super().__init__(len(kill_small.RULES) * (FIRST + seed) + place)

    def pick(self, options: Sequence[Any]) -> Any:
        """One after the other, so that every option is among the folders."""
        return options[self.number // (4 * len(FAULTS)) % len(options)]

    def _lemma(self) -> bytes:
        rng, k = self.own, self.k
        beta = [rng.choice((-3, -2, -1, 0, 1, 2, 3)) for _ in range(k)]
        if rng.random() < 0.5:  # one for the difference of two copies, or one that says something of every copy
            beta = [rng.choice((1, 2)) * (-1) ** c for c in range(k)]
        count = sum(b < 0 for b in beta) << sum(b > 0 for b in beta)
        theta = [rng.randint(-4, 2) for _ in range(count)]
        slope = [rng.choice((-2, -1, 0, 0, 1, 2)) for _ in range(k * self.m)]
        values = (*beta, *theta, *slope, *([0] if self.fault == "long" else []))
        unit = rng.randrange(2 * self.h)
        if self.fault == "unit":
            unit = self.pick((2 * self.h, 2 * self.h + 1, 65535))
        data = struct.pack(f"<H{len(values)}i", unit, *values)
        return data[:-4] if self.fault == "short" else data

    # nodes have a length by their kind, so that no tree is needed to find the leaves
    def _tree(self, data: bytes, numbers: int, count: int) -> bytes:
        rng, out, at, leaves = self.own, bytearray(), 0, 0
        while at < len(data):
            size = {0: 1 + 4 * numbers, 2: 12}.get(data[at], 4)
            out += data[at : at + size]
            if data[at] == 0:
                y = [rng.choice((0, 0, WHOLE, WHOLE // 2, 2 * WHOLE, 3 * WHOLE)) for _ in range(count)]
                if y and (self.fault == "negative" and (not leaves or rng.random() < 0.3)):
                    y[rng.randrange(count)] = self.pick((-1, -WHOLE, -(2**31)))
                y = y[1:] if self.fault == "y missing" else [*y, 0] if self.fault == "y more" else y
                out += struct.pack(f"<{len(y)}i", *y)
                leaves += 1
            at += size
        return bytes(out)

    def _proof(self) -> tuple[bytes, dict[str, Any]]:
        rng = self.own
        binary, proof = super()._proof()
        if self.fault in ("slope", "sweep"):
            return binary, proof | {"lemmas": self.pick((1, 0, 2))}
        count = rng.choice((1, 1, 2, 3))
        numbers = self.k * ((self.n if self.paper else 0) + len(proof["units"])) + self.extra
        nodes = self._tree(binary, numbers, count)
        if self.fault == "closed":  # x ≤ −99 holds nowhere, and the leaf there has a multiplier that it may not have
            i = next(at for at, f in enumerate(self.features) if f["kind"] != "category")
            pinned = self.equal and self.features[i]["name"] not in self.free
            split = struct.pack("<BBHd", 2, 255 if pinned else 0, i, -99.0)
            zeros = struct.pack(f"<B{numbers + count}i", 0, *[0] * (numbers + count - 1), -1)
            nodes = split + zeros + nodes
        records = [self._lemma() for _ in range(count)]
        data = b"".join(records)
        if self.fault == "byte":
            at = rng.randrange(len(data))
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        said: Any = count
        if self.fault in ("number", "more", "fewer", "none"):
            said = {"number": self.pick(NUMBERS), "more": count + 1, "fewer": count - 1, "none": 0}[self.fault]
        out = data + nodes
        if self.fault == "cut":
            out = out[: self.pick((0, 1, 2, len(data), len(data) - 1, rng.randrange(len(data))))]
        proof |= {"bits": rng.choice((0, 0, 1, 2)), "length": len(out) - (self.fault == "length"), "lemmas": said}
        if self.fault == "none":
            del proof["lemmas"]
        elif self.fault == "units":
            proof["lemma"] = proof.pop("lemmas")
        return out, proof


def four() -> Iterator[dict[str, bytes]]:
    """Four copies of one input, two or three of them with β > 0: four subsets with two θ each, or eight with one."""
    net = {
        "domain": {"features": [{"name": "x", "kind": "continuous", "lo": -1.0, "hi": 2.0}]},
        "boxes": "gap",
        "auxiliaries": "relu",
        "hidden": 1,
        "skip": False,
        "embedding": 1,
        "outputs": [""],
        "output_scale": [1.0],
        "profile": "f64-aux",
        "grid": 0,
        "backbone": {},
    }
    tensors: kill_small.Tensors = {
        "lower.const": ([1], [0.0]),
        "second.const": ([1], [0.0]),
        "lower.weight": ([1, 1], [1.0]),
        "lower.bias": ([1], [-0.5]),
        "lower.out": ([1, 1], [1.0]),
        "second.weight": ([1, 1], [0.0]),
        "second.bias": ([1], [0.0]),
        "second.out": ([1, 1], [0.0]),
        "head_weight": ([1, 1], [1.0]),
        "head_bias": ([1], [0.0]),
    }
    for seed in range(24):
        rng = random.Random(seed)
        beta = rng.sample((1, 2, -1, -2) if seed % 3 else (1, 2, 3, -2), 4)
        theta = [rng.randint(-3, 1) for _ in range(sum(b < 0 for b in beta) << sum(b > 0 for b in beta))]
        values = (*beta, *theta, *(rng.randint(-1, 1) for _ in range(4)))
        binary = struct.pack(f"<H{len(values)}iBi", 0, *values, 0, WHOLE)
        then = [
            {
                "terms": [[str(rng.randint(-2, 2)), c, "out", ""] for c in range(4)],
                "op": "<=",
                "rhs": str(99 * (seed % 2)),
            }
        ]
        claim = {
            "copies": 4,
            "when": [],
            "then": then,
            "others": "free",
            "equal": [],
            "free": [],
            "sentence": "",
        }
        proof = {"rule": "leaf", "bits": 0, "units": [], "lemmas": 1, "start": 0, "length": len(binary)}
        yield kill_small.assembled(net, tensors, claim, [[0.0]] * 4, binary, [proof])


@functools.lru_cache(maxsize=1)
def folders() -> list[dict[str, bytes]]:
    """All of them; made once."""
    return [*four(), *(Lemmas(seed).files for seed in range(COUNT))]


def asked(loaded: SimpleNamespace, part: int, fast: bool) -> Any:
    """What a checker says of every sixteenth folder."""
    return kill_small.answers(loaded, folders()[part::PARTS], fast)


def limits(loaded: SimpleNamespace, fast: bool) -> Any:
    """The least work with which folders of every kind are checked."""
    chosen = [made for made in map(Lemmas, range(400)) if not made.fault]
    picked = [next(s for s in chosen if s.k == k and s.paper == paper) for k in (1, 2, 3) for paper in (False, True)]
    picked += [next(s for s in chosen if s.k == k and s.features[-1]["name"] == "g") for k in (1, 2, 3)]
    return [drawn.least_work(loaded, made.files, fast, drawn.refused) for made in picked]


def empty_premises(loaded: SimpleNamespace) -> Any:
    """Lemmas on premises without a point, which a witness rules out: the reference refuses them, and does not fail."""
    e, r = loaded.exact_premise, loaded.reader
    out = []
    boxes = ((0, 1), (1, 0), (2, 3))
    cases = [(k, box, strip, ()) for k in (1, 2, 3) for box in boxes for strip in ((-1, 1), (2, 3), (1, 0))]
    cases += [(k, (0, 1), (0, 0), tuple(range(k))) for k in (1, 2, 3)]  # every copy a category of its own
    for k, (lo, hi), (low, high), fixed in cases:
        m = 3 if fixed else 1
        groups, names = ((tuple(range(m)),) if fixed else ()), tuple(f"x{i}" for i in range(m))
        floats = [(v,) * m for v in (F(0), F(1), F(1, 2), F(2))]
        where = {name: (i,) for i, name in enumerate(names)}
        domain = loaded.exact_net.Domain(names, *floats, (False,) * m, groups, where, ("",) * m)
        net = SimpleNamespace(embedding=1, boxes="gap", domain=domain, inner=domain, hidden=1)
        piece = loaded.exact_model.Piece([F(0)], [[F(1)] * m], [[F(0)]])
        model = loaded.exact_model.Model(net, [[F(1)] * m], [F(0)], piece, piece, [[F(1)]], [F(0)], ([F(0)], [F(1)]))
        tops = [[F(c == i) for i in range(m)] if fixed else [F(hi)] for c in range(k)]
        strip = ([F(low)] * m, [F(high)] * m) if k == 2 else ([], [])
        premise = e.Premise(domain, k, [bool(fixed)] * m, [[F(lo)] * m] * k, tops, [bool(fixed)] * m, *strip, [])
        vector, zero = [[F(1)] * m] * k, [[F(0)]] * k
        psi = loaded.exact_model.Psi(F(0), vector, [[F(2)]] * k, zero, zero, zero, F(9))
        beta = (1, -1, 2)[:k]
        lemma = r.Lemma(0, beta, ((-1,) * (k > 1),) * 2 ** (2 if k == 3 else 1), bytes(4 * k * m))
        proof = r.Proof("leaf", 0, (), b"\0" + struct.pack("<i", WHOLE), 0, (lemma,))
        budget = loaded.exact_tree.Budget(9, 999)
        try:
            out.append(loaded.exact_rules.leaf_rule(model, premise, psi, proof, budget))
        except loaded.strict.Refused as error:
            out.append(str(error))
    return out


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """The folders in parts, by name."""
    fast = target == "fast"
    parts = [(f"lemmas {part}", functools.partial(asked, part=part, fast=fast)) for part in range(PARTS)]
    more = [] if fast else [("lemmas on empty premises", empty_premises)]
    return [*parts, ("limits of lemmas", functools.partial(limits, fast=fast)), *more]
