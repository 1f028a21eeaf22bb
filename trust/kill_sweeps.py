"""Questions of the kill suite about the sweep rule: two copies of one number, boxes of their own, a window between.

Where the boxes differ and the window cuts corners off them, the maximum lies at points that only one list of candidates
holds. Folders exist in memory only.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from trust import kill_small

COUNT, PARTS = 1200, 8


def folder(seed: int) -> dict[str, bytes]:
    """A network of two units a net, of halves; whole-valued or not."""
    rng = random.Random(seed)
    lo, hi, h = rng.randint(-4, 0), rng.randint(1, 6), rng.choice((1, 2, 2))
    paper, whole = rng.random() < 0.3, rng.random() < 0.5
    feature = {"name": "x", "kind": "integer" if whole else "continuous", "lo": float(lo), "hi": float(hi)}
    feature |= {"shift": rng.choice((0.0, 0.5, 1.0)), "mult": rng.choice((1.0, 2.0, 0.75))}
    net = {
        "domain": {"features": [feature]},
        "boxes": "paper" if paper else "gap",
        "auxiliaries": "relu",
        "hidden": h,
        "skip": False,
        "embedding": 1,
        "outputs": [""],
        "output_scale": [1.0],
        "profile": "f64-aux",
        "grid": 0,
        "backbone": {},
    }
    shapes = {"head_weight": [1, 1], "head_bias": [1]}
    for part in ("lower", "second"):
        shapes |= {f"{part}.const": [1], f"{part}.weight": [h, 1], f"{part}.bias": [h], f"{part}.out": [1, h]}
    tensors: kill_small.Tensors = {}
    for name, shape in shapes.items():
        values = [rng.randint(-4, 4) / rng.choice((2, 2, 3)) for _ in range(h if h in shape else 1)]
        if not paper and name in ("second.const", "second.out"):
            values = [abs(v) if rng.random() < 0.5 else 0.0 for v in values]
        tensors[name] = (shape, values)
    a, b = (sorted((rng.randint(lo, hi), rng.randint(lo, hi))) for _ in range(2))
    low, high = sorted((rng.randint(-5, 5), rng.randint(-5, 5)))
    points = [(x, y) for x in range(a[0], a[1] + 1) for y in range(b[0], b[1] + 1) if low <= x - y <= high]
    x, y = points[0] if points else (a[0], b[0])  # without any the witness is wrong, and so is the folder

    def below(terms: list[tuple[int, int]], rhs: int) -> dict[str, Any]:
        return {"terms": [[str(v), c, "in", "x"] for v, c in terms], "op": "<=", "rhs": str(rhs)}

    when = [
        below([(1, 0)], a[1]),
        below([(-1, 0)], -a[0]),
        below([(1, 1)], b[1]),
        below([(-1, 1)], -b[0]),
        below([(1, 0), (-1, 1)], high),
        below([(-1, 0), (1, 1)], -low),
    ]
    then = [[str(rng.choice((1, 2, -1, -2))), 0, "out", ""], [str(rng.randint(-2, 2)), 1, "out", ""]]
    claim = {
        "copies": 2,
        "when": when,
        "then": [{"terms": then, "op": "<=", "rhs": "1"}],
        "others": "free",
        "equal": [],
        "free": [],
        "sentence": "",
    }
    return kill_small.assembled(net, tensors, claim, [[float(x)], [float(y)]], b"", [{"rule": "sweep"}])


@functools.lru_cache(maxsize=1)
def folders() -> list[dict[str, bytes]]:
    """All of them; made once."""
    return [folder(seed) for seed in range(COUNT)]


def asked(loaded: SimpleNamespace, part: int, fast: bool) -> Any:
    """What a checker says of every eighth folder."""
    return kill_small.answers(loaded, folders()[part::PARTS], fast)


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """The folders in parts, by name."""
    fast = target == "fast"
    return [(f"sweeps {part}", functools.partial(asked, part=part, fast=fast)) for part in range(PARTS)]
