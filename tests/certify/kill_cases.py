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
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import kill_small

COUNT, PARTS = 1400, 8
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
    "split key", "case key", "copy", "coordinate", "at", "witness", "elsewhere", "weights", "clauses", "single",
    "equal", "no clauses", "rows", "plain", "hash", "entry", "proofs", "node", "empty", "either", "names", "text",
    "bool", "nan", "denominator",
)  # fmt: skip


class Cased:
    """One folder; `files` are those that a manifest lists."""

    def __init__(self, seed: int) -> None:
        self.seed, self.rng = seed, random.Random(seed)
        rng = self.rng
        self.fault = FAULTS[seed // 4 % len(FAULTS)] if seed % 4 == 3 else ""
        small = kill_small.Small(seed)
        self.files = dict(small.files)
        content = json.loads(self.files["certificate.json"])
        (entry,) = content["claims"]
        self.claim, self.witness, self.rows = entry["claim"], entry["witness"], entry["rows"]
        self.k, self.m = self.claim["copies"], len(self.witness[0])
        self.old, self.binary = self.files["certificate.bin"], b""
        last = self.claim["then"].pop()
        if last["op"] == "==" or rng.random() < 0.2:  # a row of its own stays, and is proved beside the clause
            self.claim["then"].append(last)
        self.claim["either"] = [self._clause(last, first=bool(self.claim["then"]) and rng.random() < 0.3)]
        self._spoil_claim(last)
        tree = self._tree(rng.choice((0, 0, 1, 1, 2, 3)))
        made = {"claim": self.claim, "claim_sha256": kill_small._sha(kill_small._canonical(self.claim)), "cases": tree}
        if self.fault == "hash":
            made["claim_sha256"] = "0" * 64
        if self.fault == "entry":
            made["witness"] = self.witness
        if self.fault == "plain":
            made = {**entry, "claim": self.claim, "claim_sha256": made["claim_sha256"]}
        content["claims"] = [made]
        self.binary += b"\0" if self.fault == "proofs" and rng.random() < 0.5 else b""
        content["proofs_sha256"] = kill_small._sha(self.binary)
        self.files |= {"certificate.bin": self.binary, "certificate.json": json.dumps(content).encode()}

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
            self.claim["either"] = self.rng.choice(({}, [[]], ["row"], [either[0], either[0]], None))
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
            node["copy"] = rng.choice((self.k, -1, 0.0, "0"))
        elif self.fault == "coordinate":
            node["coordinate"] = rng.choice((self.m, -1, 0.0, None))
        elif self.fault == "at":
            node["at"] = rng.choice((0, "0", None, True))
        elif self.fault == "bool":
            node[rng.choice(("copy", "coordinate"))] = False
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
        count = sum(2 if row["op"] == "==" else 1 for row in self.claim["then"])
        both = count + 1 > len(rows)  # the row stays and is an alternative as well: its proof is wanted twice
        if both and count:
            again = dict(rows[-1])
            if "start" in again:
                piece = self.old[self.rows[-1]["start"] : self.rows[-1]["start"] + self.rows[-1]["length"]]
                again["start"] = len(self.binary)
                self.binary += piece
            rows.append(again)
        clauses = self.claim.get("either")
        weights: Any = [list(rng.choice(MEANS)) for _ in clauses] if isinstance(clauses, list) else []
        node = {"weights": weights, "witness": copy.deepcopy(self.witness), "rows": rows}
        if self.fault == "weights":
            wrong = (*([weights] for weights in WRONG), [], {}, [["1", "0"]] * 2)
            node["weights"] = wrong[self.seed // (4 * len(FAULTS)) % len(wrong)]
        elif self.fault == "denominator":
            node["weights"] = [[f"1/{10**399}", f"{10**399 - 1}/{10**399}"]] if rng.random() < 0.5 else [
                [f"1/{7**450}", f"{7**450 - 1}/{7**450}"]
            ]  # fmt: skip
        elif self.fault == "case key":
            node.pop(rng.choice(("weights", "witness", "rows")))
        elif self.fault == "witness":
            node["witness"] = rng.choice(([], [[0.0]], self.witness[:-1], [[9.0] * self.m] * self.k))
        elif self.fault == "rows":
            node["rows"] = rng.choice(([], rows[:-1], rows * 2, None))
        return node


@functools.lru_cache(maxsize=1)
def folders() -> list[dict[str, bytes]]:
    """All of them; made once."""
    return [Cased(seed).files for seed in range(COUNT)]


def asked(loaded: SimpleNamespace, part: int, fast: bool) -> Any:
    """What a checker says of every eighth folder."""
    return kill_small.answers(loaded, folders()[part::PARTS], fast)


def told(loaded: SimpleNamespace, fast: bool) -> Any:
    """The formulas of claims with clauses."""
    module = loaded.check if fast else loaded.check_reference
    where, name = (module, "read_folder") if fast else (loaded.reader, "listed_files")
    out, before = [], getattr(where, name)
    try:
        for files in folders()[:60]:
            setattr(where, name, lambda _, files=files: files)
            report = module.check_folder("nowhere")
            out += [
                (claim.formula, [row.text if fast else row.formula for row in claim.rows]) for claim in report.claims
            ]
    finally:
        setattr(where, name, before)
    return out


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """The folders in parts, by name."""
    fast = target == "fast"
    parts = [(f"cases {part}", functools.partial(asked, part=part, fast=fast)) for part in range(PARTS)]
    return [*parts, ("formulas of cases", functools.partial(told, fast=fast))]
