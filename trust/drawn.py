"""What the kill suite's drawn folders share: the plain parts of a network, its sums, its claims at a tuple, least work.

`kill_trees.py` and `kill_balls.py` draw networks and write them out in the floats of Python; other files of the kill
suite ask for the least work with which a folder is checked.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Iterable
from fractions import Fraction as F
from types import SimpleNamespace
from typing import Any, Protocol

from trust import kill_small

Files = dict[str, bytes]


class Made(Protocol):
    """A network that was drawn, and the claim about it."""

    features: list[dict[str, Any]]
    claim: dict[str, Any]

    def value(self, x: list[float]) -> float:
        """What it returns at x."""
        ...


# ---- networks --------------------------------------------------------------------------------------------------------


def network(features: list[dict[str, Any]], encoder: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """A description with one output and affine auxiliaries."""
    net = {
        "domain": {"features": features},
        "boxes": "gap",
        "auxiliaries": "affine",
        "hidden": 0,
        "skip": True,
        "embedding": 1,
        "outputs": ["y"],
        "output_scale": [1.0],
        "profile": "fixed-order",
        "grid": 0,
        "backbone": {},
    } | changes
    return net | ({"encoder": encoder} if encoder else {})


def ends(slope: list[float], box: tuple[list[float], list[float]]) -> kill_small.Tensors:
    """Tensors behind the encoder's layers: its box [p], and y = slope·e."""
    p = len(slope)
    return {
        "encoder.lo": ([p], box[0]),
        "encoder.hi": ([p], box[1]),
        "lower.const": ([1], [0.0]),
        "lower.slope": ([1, p], slope),
        "second.const": ([1], [0.0]),
        "head_weight": ([1, 1], [1.0]),
        "head_bias": ([1], [0.0]),
    }


def pair(when: list[dict[str, Any]], then: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A claim of two copies that are equal elsewhere."""
    claim = {"copies": 2, "when": when, "then": then, "others": "equal", "equal": [], "free": [], "sentence": ""}
    return claim | more


def columns(features: list[dict[str, Any]]) -> list[str]:
    """The feature of every column: a category has one for each of its values."""
    return [f["name"] for f in features for _ in f.get("categories", [0])]


def corner(features: list[dict[str, Any]], copies: int) -> list[list[float]]:
    """Equal copies with every number at −1 and the last feature, if it is a category, at its first value."""
    one = [-1.0 if f["kind"] != "category" else 0.0 for f in features for _ in f.get("categories", [0])]
    if features[-1]["kind"] == "category":
        one[-len(features[-1]["categories"])] = 1.0
    return [list(one) for _ in range(copies)]


def scaled(features: list[dict[str, Any]], x: list[float]) -> list[float]:
    """(x − shift)·mult of every column."""
    scales = [(f.get("shift", 0.0), f.get("mult", 1.0)) for f in features for _ in f.get("categories", [0])]
    return [(v - shift) * mult for v, (shift, mult) in zip(x, scales, strict=True)]


def ordered_sum(start: float, weights: Iterable[float], y: list[float]) -> float:
    """Start + w_1·y_1 + w_2·y_2 …, each operation rounded."""
    for w, v in zip(weights, y, strict=True):
        start += w * v
    return start


def tampered(files: Files, name: str, at: int, value: float) -> Files:
    """The same with one number of the encoder's first layer changed; no digest is made to fit."""
    data = bytearray(files["weights.safetensors"])
    size = int.from_bytes(data[:8], "little")
    start = json.loads(data[8 : 8 + size])[f"encoder.branches.0.layers.0.{name}"]["data_offsets"][0]
    struct.pack_into("<d", data, 8 + size + start + 8 * at, value)
    return files | {"weights.safetensors": bytes(data)}


# ---- tuples of a premise ---------------------------------------------------------------------------------------------


def premise_holds(made: Made, x: list[list[float]]) -> bool:
    """Whether a tuple satisfies every row of `when`, exactly."""
    names = columns(made.features)

    def left(row: dict[str, Any]) -> F:
        return sum((F(a) * F(x[c][names.index(name)]) for a, c, _, name in row["terms"]), F(0))

    return all(left(row) <= F(row["rhs"]) for row in made.claim["when"])


def violations(made: Made, draw: Callable[[random.Random], list[list[float]] | None], tries: int, seed: int) -> F:
    """The largest left side − right side of a row of `then`, over the tuples of the premise that were drawn."""
    worst, rng = F(-(10**9)), random.Random(seed)
    for _ in range(tries):
        x = draw(rng)
        if x is not None:
            y = [F(made.value(copy)) for copy in x]
            for row in made.claim["then"]:
                worst = max(worst, sum(F(a) * y[c] for a, c, _, _ in row["terms"]) - F(row["rhs"]))
    return worst


# ---- work ------------------------------------------------------------------------------------------------------------


def refused(status: str, _reason: str) -> bool:
    """For `least_work`, where nothing but a limit refuses the folder."""
    return status == "refused"


def spent(_status: str, reason: str) -> bool:
    """For `least_work`, of a folder that may be refused in any case."""
    return reason.endswith(("too long to check", "those of a certificate may be."))


def least_work(
    loaded: SimpleNamespace,
    files: Files,
    fast: bool,
    too_little: Callable[[str, str], bool] = spent,
    *,
    kind: str = "WORK",
    high: int = 1 << 20,
) -> int:
    """The smallest limit of a kind, up to `high`, with which a checker does not run out."""
    module, limit = (loaded.check, kind) if fast else (loaded.check_reference, f"MOST_{kind}")
    most, low = getattr(module, limit), 0
    try:
        while low < high:
            middle = (low + high) // 2
            setattr(module, limit, middle)
            status, reason, _ = kill_small.answers(loaded, [files], fast)[0]
            low, high = (middle + 1, high) if too_little(status, reason) else (low, middle)
    finally:
        setattr(module, limit, most)
    return low
