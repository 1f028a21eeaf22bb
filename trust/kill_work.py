"""Questions of the kill suite about work: the least limit with which small folders of some kinds are checked.

Long numbers in cases; a ball in cases; a category in one copy and in two; rows that leaves
subtract; long slopes; equations of the signs rule.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from benchmarks import check_work as kinds

from trust import drawn, forge2, kill_small

Files = dict[str, bytes]


def cased(claim: dict[str, Any], copies: int) -> Files:
    """Two cases of a claim with one clause of two rows."""
    leaves = [{"weights": [["1", "0"]], "witness": [[0.5]] * copies, "rows": [kinds.leaf(1, at)]} for at in range(2)]
    tree = {"copy": 0, "coordinate": 0, "at": 0.5, "below": leaves[0], "above": leaves[1]}
    return kinds.folder(claim, {"cases": tree}, bytes(2), **kinds.described(1, 0, False, 1.0))


def folders() -> dict[str, Files]:
    """By kind."""
    short = [([(1, 0, "y")], "<=", 2), ([(1, 0, "y")], "<=", 3)]
    long = forge2.small_claim(when=[([(-(10**30), 0, "x0")], "<=", 1)], either=[short])
    apart = [([(1, 0, "y"), (-1, 1, "y")], "<=", rhs) for rhs in (2, 3)]
    ball = forge2.small_claim(copies=2, either=[apart]) | {"ball": [["x0", "1/3"]]}
    return {
        "cases, a long negative number": cased(long, 1),
        "cases, a ball": cased(ball, 2),
        "a category": kinds.groups(20, 1, 1),
        "a category in two copies": kinds.groups(64, 1, 1, 2),
        "extra rows": kinds.extra_rows(3, 5, 2),
        "long slopes": kinds.trees(3, 0, 2, 0, kinds.TINY, 1000),
        "paper boxes": kinds.trees(2, 1, 1, 0, 1.0, 0, paper=True),
        "signs": kinds.signs(5, 1, 4, 390),
    }


def least(loaded: SimpleNamespace, files: Files, fast: bool) -> int:
    """The least work."""
    return drawn.least_work(loaded, files, fast)


def no_objects(loaded: SimpleNamespace, fast: bool) -> Any:
    """Claims that are something else."""
    out = []
    for claim in (5, None, [], "claim", True):
        files = forge2.as_version_2(forge2.small_files(forge2.small_claim(([(1, 0, "y")], "<=", 2))))
        content = json.loads(files[forge2.CERTIFICATE])
        content["claims"][0]["claim"] = claim
        out += kill_small.answers(loaded, [files | {forge2.CERTIFICATE: json.dumps(content).encode()}], fast)
    return out


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """One for each kind, and one for what is no claim."""
    made, fast = folders().items(), target == "fast"
    work = [(f"work of {name}", functools.partial(least, files=files, fast=fast)) for name, files in made]
    return [*work, ("claims that are no objects", functools.partial(no_objects, fast=fast))]
