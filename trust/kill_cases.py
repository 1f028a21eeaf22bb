"""Questions of the kill suite about claims with clauses: small folders whose last row becomes one of two alternatives.

A folder of kill_small.py is given splits at coordinates of its witness, where both sides contain it, and weights for
the alternatives; the proof of its row, at another place of the file, serves in every case. Now and then a part is
malformed, a weight is none of a mean, or a witness lies in another case.
"""

from __future__ import annotations

import copy
import functools
import json
import random
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from trust import drawn, forge2, kill_small

COUNT, PARTS = 2600, 13
MEANS = (["1", "0"], ["1", "0"], ["1/2", "1/2"], ["0", "1"], ["1/3", "2/3"], ["6/8", "1/4"])
WRONG = (
    ["2", "-1"],
    ["1/2", "1/4"],
    ["1"],
    [],
    ["1", "0", "0"],
    ["1", 0],
    "1",
    ["1.0", "0"],
    ["1/0", "0"],
    ["-1", "2"],
)
FAULTS = (
    "split key",
    "case key",
    "copy",
    "coordinate",
    "at",
    "witness",
    "elsewhere",
    "weights",
    "clauses",
    "single",
    "equal",
    "no clauses",
    "rows",
    "plain",
    "hash",
    "entry",
    "proofs",
    "node",
    "empty",
    "either",
    "names",
    "text",
    "bool",
    "nan",
    "denominator",
    "denominators",
)
SPLITS = frozenset(("split key", "copy", "coordinate", "at", "elsewhere", "node", "bool", "nan"))


class Cased:
    """One folder; `files` are those that a manifest lists."""

    def __init__(self, seed: int, files: dict[str, bytes] | None = None) -> None:
        """`files`: those of a folder with one claim, in place of a small one."""
        self.seed, self.rng = seed, random.Random(seed)
        rng = self.rng
        self.fault = FAULTS[seed // 4 % len(FAULTS)] if seed % 4 == 3 else ""
        self.files = dict(kill_small.Small(seed).files if files is None else files)
        content = json.loads(self.files["certificate.json"])
        entry = content["claims"][0]
        self.claim, self.witness, self.rows = entry["claim"], entry["witness"], entry["rows"]
        self.k, self.m = self.claim["copies"], len(self.witness[0])
        self.old, self.binary = self.files["certificate.bin"], b""
        last = self.claim["then"].pop()
        if last["op"] == "==" or rng.random() < 0.2:  # a row of its own stays, and is proved beside the clause
            self.claim["then"].append(last)
        first = bool(self.claim["then"]) and rng.random() < 0.3
        self.claim["either"] = [self._clause(last, first) for _ in range(1 + (rng.random() < 0.2))]
        self._spoil_claim(last)
        # a fault in a split or a case shows where there are splits
        tree = self._tree(2 if self.fault in SPLITS else rng.choice((0, 0, 1, 1, 2, 3)))
        made = {
            "claim": self.claim,
            "claim_sha256": forge2.claim_digest(self.claim, 2),
            "room": kill_small.rooms(self.claim),
            "cases": tree,
        }
        if self.fault == "hash":
            made["claim_sha256"] = "0" * 64
        if self.fault == "entry":
            made["witness"] = self.witness
        if self.fault == "plain":
            made = {**entry, "claim": self.claim, "claim_sha256": made["claim_sha256"], "room": made["room"]}
        content["claims"] = [made]
        self.binary += b"\0" if self.fault == "proofs" and rng.random() < 0.5 else b""
        content["proofs_sha256"] = forge2.sha256(self.binary)
        self.files |= {"certificate.bin": self.binary, "certificate.json": json.dumps(content).encode()}

    def pick(self, options: Sequence[Any]) -> Any:
        """One after the other, so that every option is among the folders."""
        return options[self.seed // (4 * len(FAULTS)) % len(options)]

    def _clause(self, last: dict[str, Any], first: bool) -> list[dict[str, Any]]:
        rng = self.rng
        row = {**copy.deepcopy(last), "op": "<="}
        other = copy.deepcopy(row)
        other["rhs"] = rng.choice(("0", "1", "-1", "1/3"))
        if other["terms"] and rng.random() < 0.5:
            other["terms"][rng.randrange(len(other["terms"]))][0] = rng.choice(("1", "-1", "2", "0"))
        return [other, row] if first else [row, other]

    def _spoil_claim(self, last: dict[str, Any]) -> None:
        either = self.claim["either"]
        if self.fault == "single":
            either[0].pop()
        elif self.fault == "equal":
            either[0][self.rng.randrange(2)]["op"] = "=="
        elif self.fault == "no clauses":
            self.claim["either"] = []
        elif self.fault == "either":
            del self.claim["either"]
            self.claim["then"] = self.claim["then"] or [last]
        elif self.fault == "clauses":
            self.claim["either"] = self.pick(({}, [[]], ["row"], "row", {"row": either[0]}, None, [either[0], []]))
        elif self.fault == "denominators":  # with the weights of a case more than there may be, and without them less
            for base, power, row in ((7, 470, either[0][0]), (11, 380, either[0][1])):
                row["terms"].append([f"1/{base**power}", 0, "out", ""])
        elif self.fault == "empty":
            self.claim["either"][0][0]["terms"] = []
        elif self.fault == "names":
            self.claim["either"][0][1]["terms"] = [["1", 0, "out", "none"]]
        elif self.fault == "text":
            self.claim["more"] = 1

    def _tree(self, depth: int) -> Any:
        rng = self.rng
        if not depth:
            return self._case()
        c, i = rng.randrange(self.k), rng.randrange(self.m)
        at = self.witness[c][i]
        here = rng.random() < 0.5
        if self.fault == "elsewhere" and here:
            at += rng.choice((1.0, -1.0, 0.5))
        node = {"copy": c, "coordinate": i, "at": at}
        node |= {"below": self._tree(depth - 1), "above": self._tree(depth - 1)}
        if self.fault == "split key":
            node |= {"more": 1} if here else {}
            node.pop("above" if here else "at")
        elif self.fault == "copy":
            node["copy"] = self.pick((self.k, -1, 0.0, "0"))
        elif self.fault == "coordinate":
            node["coordinate"] = self.pick((self.m, -1, 0.0, None))
        elif self.fault == "at":
            node["at"] = self.pick((0, "0", None, True))
        elif self.fault == "bool":
            node[self.pick(("copy", "coordinate"))] = False
        elif self.fault == "nan":
            node["at"] = float("inf")
        elif self.fault == "node" and here:
            node = rng.choice((None, 1, [], {}))  # type: ignore[assignment]
        return node

    def _case(self) -> Any:
        rng, rows = self.rng, []
        for proof in self.rows:
            proof = dict(proof)
            if "start" in proof:
                piece = self.old[proof["start"] : proof["start"] + proof["length"]]
                proof["start"] = len(self.binary)
                self.binary += piece
            rows.append(proof)
        clauses = self.claim.get("either")
        count = sum(2 if row["op"] == "==" else 1 for row in self.claim["then"])
        count += len(clauses) if isinstance(clauses, list) else 1
        for _ in range(count - len(rows)):  # the last row is wanted more than once
            again = dict(rows[-1])
            if "start" in again:
                piece = self.old[self.rows[-1]["start"] : self.rows[-1]["start"] + self.rows[-1]["length"]]
                again["start"] = len(self.binary)
                self.binary += piece
            rows.append(again)
        weights: Any = [list(rng.choice(MEANS)) for _ in clauses] if isinstance(clauses, list) else []
        node = {"weights": weights, "witness": copy.deepcopy(self.witness), "rows": rows}
        if self.fault == "weights":
            count = len(self.claim["either"])
            wrong = [[*[["1", "0"]] * (count - 1), weights] for weights in WRONG]
            wrong += [[weights, *[["1", "0"]] * (count - 1)] for weights in WRONG]
            node["weights"] = self.pick((*wrong, [], {}, [["1", "0"]] * (count + 1)))
        elif self.fault == "denominators":
            node["weights"] = [[f"1/{3**830}", f"{3**830 - 1}/{3**830}"]] * len(self.claim["either"])
        elif self.fault == "denominator":
            least = self.pick((10**399, 7**450))
            node["weights"] = [[f"1/{least}", f"{least - 1}/{least}"]] * len(self.claim["either"])
        elif self.fault == "case key":
            node.pop(self.pick(("weights", "witness", "rows")))
        elif self.fault == "witness":
            node["witness"] = self.pick(([], [[0.0]], self.witness[:-1], [[9.0] * self.m] * self.k))
        elif self.fault == "rows":
            node["rows"] = self.pick(([], rows[:-1], rows * 2, None))
        return node


@functools.lru_cache(maxsize=1)
def folders() -> list[dict[str, bytes]]:
    """All of them; made once."""
    return [Cased(seed).files for seed in range(COUNT)]


def asked(loaded: SimpleNamespace, part: int, fast: bool) -> Any:
    """What a checker says of every thirteenth folder."""
    return kill_small.answers(loaded, folders()[part::PARTS], fast)


def told(loaded: SimpleNamespace, fast: bool) -> Any:
    """The formulas of claims with clauses."""
    module = loaded.check if fast else loaded.check_reference
    where, name = (module, "read_folder") if fast else (loaded.reader, "listed_files")
    out, before = [], getattr(where, name)
    try:
        for files in folders()[:60]:
            setattr(where, name, lambda _, files=files: kill_small.listed(files))
            report = module.check_folder("nowhere")
            out += [
                (claim.formula, [row.text if fast else row.formula for row in claim.rows]) for claim in report.claims
            ]
    finally:
        setattr(where, name, before)
    return out


def limits(loaded: SimpleNamespace, files: dict[str, bytes], fast: bool) -> Any:
    """The least work with which a folder is checked once its claim has cases, an encoder before them."""
    made = [Cased(seed, files).files for seed in (1, 4, 8)]
    return [(drawn.least_work(loaded, one, fast), kill_small.answers(loaded, [one], fast)) for one in made]


def reading(loaded: SimpleNamespace) -> Any:
    """The least work with which the reference reads the cases of some folders."""
    most, out = loaded.reader.MOST_WORK, []
    for files in folders()[:40]:
        low, high = 0, 1 << 14
        while low < high:
            loaded.reader.MOST_WORK = (low + high) // 2
            (found,) = kill_small.answers(loaded, [files], False)
            low, high = ((low + high) // 2 + 1, high) if found[1].startswith("The cases") else (low, (low + high) // 2)
        loaded.reader.MOST_WORK = most
        out.append(low)
    return out


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """The folders in parts, by name."""
    fast = target == "fast"
    parts = [(f"cases {part}", functools.partial(asked, part=part, fast=fast)) for part in range(PARTS)]
    more = [] if fast else [("reading cases", reading)]
    return [*parts, ("formulas of cases", functools.partial(told, fast=fast)), *more]
