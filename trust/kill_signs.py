"""Questions of the kill suite about the signs rule: small whole numbers, premises and rows that nearly fit.

Convex, weighted, dominating, symmetric and ordered claims over three numbers and a category, with a coefficient, a
relation, a right side, a pin or a weight changed now and then. Folders exist in memory only; both checkers are asked
the same, and `test_signs.py` compares them on these folders.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from trust import drawn, kill_small

COUNT, PARTS = 1800, 9
NAMES = ("a", "b", "c")
SHAPES = ("convex", "convex", "weighted", "dominates", "dominates", "symmetric", "ordered", "linked", "same")
Terms = list[list[Any]]


class Signed:
    """One folder; `files` are those that a manifest lists."""

    def __init__(self, seed: int, **proof: Any) -> None:
        self.rng = rng = random.Random(seed)
        self.shape = SHAPES[seed % len(SHAPES)]
        self.k = {"convex": 3, "weighted": rng.choice((3, 4)), "same": 4}.get(self.shape, 2)
        self.o, self.h = rng.choice((1, 1, 2)), rng.choice((1, 2, 2))
        self.alpha = self._alpha()
        features = [{"name": n, "kind": "continuous", "lo": -2.0, "hi": 2.0} for n in NAMES]
        if rng.random() < 0.3:
            features[0] |= {"shift": 1.0, "mult": 2.0}
        if rng.random() < 0.2:
            features.append({"name": "g", "kind": "category", "lo": 0.0, "hi": 1.0, "categories": ["u", "v"]})
        self.m = len(features) + (len(features) > 3)
        profile = rng.choice(("f64-aux",) * 8 + ("fixed-order", "dyadic"))
        net = {
            "domain": {"features": features},
            "boxes": "gap",
            "auxiliaries": "relu",
            "hidden": self.h,
            "skip": True,
            "embedding": self.o,
            "outputs": ["y", "z"][: self.o],
            "output_scale": [1.0] * self.o,
            "profile": profile,
            "grid": 4 if profile == "dyadic" else 0,
            "backbone": {},
        }
        self.pinned = rng.random() < 0.2  # a number that takes part in rows although it is to be equal
        when, x = self._when()
        claim = {
            "copies": self.k,
            "when": when,
            "then": [{"terms": self._then(), "op": "<=", "rhs": rng.choice("0001")}],
            "others": "equal" if rng.random() < 0.9 else "free",
            "equal": ["b"] if rng.random() < 0.1 else [],
            "free": ["g"] if self.m > 3 and rng.random() < 0.5 else [],
            "sentence": "",
        }
        claim["equal"] += ["c"] if self.pinned else []
        claim["free"] += ["c"] if rng.random() < 0.1 and not self.pinned else []
        witness = [[*copy, *((1.0, 0.0) if self.m > 3 else ())] for copy in x]
        self.files = kill_small.assembled(net, self._tensors(), claim, witness, b"", [{"rule": "signs", **proof}])

    def _alpha(self) -> list[int]:
        if self.shape == "convex":
            return [-1, 2, -1]
        if self.shape == "weighted":
            return (
                [-1, -2, 3]
                if self.k == 3
                else self.rng.choice(([-3, -2, 6, -1], [4, -3, 0, -1], [0, 4, -3, -1], [1, 1, -1, -1]))
            )
        if self.shape == "same":
            return [4, -3, 0, -1]
        return [1, -1]

    def _when(self) -> tuple[list[dict[str, Any]], list[list[float]]]:
        rng, rows, x = self.rng, [], [[0.0] * 3 for _ in range(self.k)]

        def add(terms: Terms, op: str = "==", rhs: int = 0) -> None:
            by = rng.choice((1, 1, 2, -1)) if op == "==" else 1
            out = [[str(by * a), c, "in", name] for a, c, name in terms]
            if rng.random() < 0.06:
                out[0][0] = str(int(out[0][0]) + 1)
            if op == "==" and rng.random() < 0.06:
                op = "<="
            if op == "==" and rng.random() < 0.06 and int(out[0][0]):
                rhs = int(out[0][0])
                x[out[0][1]][NAMES.index(out[0][3])] = 1.0
            rows.append({"terms": out, "op": op, "rhs": str(rhs)})

        moving = rng.sample(NAMES, rng.choice((1, 2)))
        if self.shape in ("convex", "weighted"):
            for name in moving:
                beside = [[1, 0, "c"], [-1, 1, "c"]] if self.pinned and name != "c" else []
                add([*([a, c, name] for c, a in enumerate(self.alpha)), *beside])
            if rng.random() < 0.15:  # a row that has nothing to do with it comes first
                rows.insert(0, {"terms": [["1", 0, "in", "c"], ["-1", 1, "in", "a"]], "op": "==", "rhs": "0"})
        elif self.shape == "dominates":
            strong, weak = rng.sample(NAMES, 2)
            rate, way = rng.choice((1, 2)), rng.choice((1, -1))
            add([[way, 0, strong], [-way, 1, strong]], "<=")
            add([[1, 0, weak], [-1, 1, weak], [rate, 0, strong], [-rate, 1, strong]])
        elif self.shape == "symmetric":
            for to, source in rng.choice(((("a", "b"), ("b", "a")), (("a", "b"), ("b", "c"), ("c", "a")))):
                add([[1, 1, to], [-1, 0, source]])
        elif self.shape == "same":  # copies 1, 2 and 4, or most of them, have one value; copy 3 does not matter
            for name in moving:
                for c, other in ((0, 1), (1, 3), (3, 2))[: rng.choice((2, 2, 3))]:
                    if rng.random() < 0.9:
                        add([[1, c, name], [-1, other, name]])
        elif self.shape == "linked":  # a pinned number takes part, or both move one way
            for name in moving:
                add([[1, 0, name], [-1, 1, name]], "<=")
            pair = rng.choice(([[1, 0, "a"], [-1, 1, "b"]], [[1, 0, "a"], [-1, 1, "a"], [1, 0, "b"], [-1, 1, "b"]]))
            add([*pair, *rng.choice(([], [[1, 0, "c"]], [[1, 0, "c"], [-1, 1, "c"], [0, 0, "a"]]))])
        else:
            for name in moving:
                way = rng.choice((1, -1))
                add([[way, 0, name], [-way, 1, name]], "<=", 0 if rng.random() < 0.9 else 1)
        return rows, x

    def _then(self) -> Terms:
        rng, sign = self.rng, self.rng.choice((1, 1, -1))
        out = [[str(sign * a), c, "out", "y"] for c, a in enumerate(self.alpha) if a]
        if self.o > 1 and rng.random() < 0.7:
            by = rng.choice((1, -1, 2))
            more = [[str(by * a), c, "out", "z"] for c, a in enumerate(self.alpha) if a]
            out = more if rng.random() < 0.3 else out + more
        if rng.random() < 0.3:
            by, name = rng.choice((1, -1, 3)), rng.choice(NAMES)
            out += [[str(by * a), c, "in", name] for c, a in enumerate(self.alpha) if a]
        if rng.random() < 0.12:
            out[rng.randrange(len(out))][0] = str(rng.randint(-2, 2))
        return out if rng.random() > 0.02 else [["0", 0, "out", "y"], ["1", 0, "in", "a"]]  # a row about inputs alone

    def _tensors(self) -> kill_small.Tensors:
        rng, o, m, h = self.rng, self.o, self.m, self.h
        shapes = {"head_weight": [o, o], "head_bias": [o]}
        for part in ("lower", "second"):
            shapes |= {f"{part}.const": [o], f"{part}.weight": [h, m], f"{part}.bias": [h], f"{part}.out": [o, h]}
        shapes["lower.slope"] = [o, m]
        alike = rng.random() < 0.6  # one weight for all numbers, often: symmetric, or dominating with equality
        out: kill_small.Tensors = {}
        for name, shape in shapes.items():
            size = shape[0] * (shape[1] if len(shape) > 1 else 1)
            values = [float(rng.choice((-2, -1, -1, -0.5, 0, 0, 0.5, 1, 1, 2))) for _ in range(size)]
            if name in ("lower.weight", "lower.slope") and alike:
                values = [values[i - i % m] for i in range(size)]
            if name in ("second.const", "second.out"):
                values = [1.0 if rng.random() < 0.01 else 0.0 for _ in values]
            if name == "head_weight" and rng.random() < 0.7:
                values = [float(i % (o + 1) == 0) for i in range(size)]
            out[name] = (shape, values)
        return out


@functools.lru_cache(maxsize=1)
def folders() -> list[dict[str, bytes]]:
    """All of them; made once."""
    malformed = [Signed(seed, of=0).files for seed in range(0, 200, 9)]
    return [Signed(seed).files for seed in range(COUNT)] + malformed


def asked(loaded: SimpleNamespace, part: int, fast: bool) -> Any:
    """What a checker says of every ninth folder."""
    return kill_small.answers(loaded, folders()[part::PARTS], fast)


def limits(loaded: SimpleNamespace, fast: bool) -> Any:
    """The least work with which some folders are checked."""
    chosen = [files for files in folders()[:60] if kill_small.answers(loaded, [files], fast)[0][0] != "refused"][:6]
    least = functools.partial(drawn.least_work, loaded, fast=fast, too_little=drawn.refused, high=1 << 16)
    return [least(files, kind=kind) for kind in ("NODES", "WORK") for files in chosen]


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """The folders in parts, by name."""
    fast = target == "fast"
    parts = [(f"signs {part}", functools.partial(asked, part=part, fast=fast)) for part in range(PARTS)]
    return [*parts, ("limits of signs", functools.partial(limits, fast=fast))]
