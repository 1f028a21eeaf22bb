"""Rows over one premise share what is computed of it, and none changes what the checker says of another.

Rows whose tree is one leaf share a cell. Small folders get rows with trees of one leaf, with splits, with lemmas: every
row has the bound and the margin that it has in a folder of its own, whatever rows come before it, and those that the
reference finds.
"""

import json
import random
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from smilenn.certify import check
from smilenn.certify.reference import check as reference

SEEDS = [seed for seed in range(48) if seed % 4 < 3]  # the others are malformed
ROWS = 6


def conclusions(one: Any, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Rows about all copies, about one alone (the coefficients of the others are zero), about none, and of sums."""
    names = [f["name"] for f in one.features if f["kind"] != "category"]
    while True:
        first, last = ["1", 0, "out", ""], [rng.choice(("-1", "1/3", "-5/2")), one.k - 1, "out", ""]
        given = ["2/7", rng.randrange(one.k), "in", rng.choice(names)]
        for terms in ([first, last], [last], [first, first, given], [given], [first, ["-1", *first[1:]]]):
            yield {"terms": terms, "op": "<=", "rhs": "9"}


def with_rows(forge2: Any, files: Any, rows: list[tuple[dict[str, Any], bytes, dict[str, Any]]]) -> dict[str, bytes]:
    """The folder with these rows, their proofs one after the other."""
    content, data, proofs = json.loads(files["certificate.json"]), b"", []
    for _, tree, proof in rows:
        proofs.append({**proof, "start": len(data), "length": len(tree)})
        data += tree
    content["claims"][0]["claim"]["then"] = [row for row, _, _ in rows]
    content["claims"][0] |= {"rows": proofs, "room": ["0"] * len(rows)}
    return forge2.rehashed({**files, "certificate.bin": data, "certificate.json": json.dumps(content).encode()})


def said(folder: Any, checker: Any = check) -> list[Any] | None:
    """Bounds and margins; None if the folder is refused."""
    report = checker.check_folder(folder)
    if report.status == "refused":
        return None
    assert report.status in ("certified", "unknown"), report.reason
    return [(row.bound, row.margin) for claim in report.claims for row in claim.rows]


def split(one: Any, tree: bytes, proof: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """The tree twice, below a split at a finer threshold than all others: its cell counts in smaller steps."""
    i = next(at for at, f in enumerate(one.features) if f["kind"] != "category")
    pinned = one.equal and one.features[i]["name"] not in one.free
    return struct.pack("<BBHd", 2, 255 if pinned else 0, i, 1 / 1024) + tree + tree, proof


def drawn(small: Any, lemmas: Any, seed: int) -> tuple[Any, list[tuple[dict[str, Any], bytes, dict[str, Any]]]]:
    """A folder of small whole numbers, and rows for it: every third with lemmas, every third with a finer split."""
    one, rng = lemmas.Lemmas(seed), random.Random(seed)
    trees = [(lemmas.Lemmas if r % 3 == 1 else small.Small)._proof(one) for r in range(ROWS)]
    trees = [split(one, *tree) if r % 3 == 2 else tree for r, tree in enumerate(trees)]
    return one, [(row, tree, proof) for row, (tree, proof) in zip(conclusions(one, rng), trees, strict=False)]


@pytest.mark.parametrize("part", range(4))
def test_what_is_said_of_a_row_depends_on_no_other(small, lemmas, forge2, put2, monkeypatch, part):
    shared, first = [], check.Premise.cell.func
    monkeypatch.setattr(check.Premise.cell, "func", lambda premise: shared.append(premise) or first(premise))
    checked = 0
    for seed in SEEDS[part::4]:
        one, rows = drawn(small, lemmas, seed)
        alone = [said(put2(with_rows(forge2, one.files, [row]))) for row in rows]
        rows, alone = [r for r, a in zip(rows, alone, strict=True) if a], [a[0] for a in alone if a]
        if rows:
            shared.clear()
            folder = put2(with_rows(forge2, one.files, rows))
            assert said(folder) == said(folder, reference) == alone
            assert said(put2(with_rows(forge2, one.files, rows[::-1]))) == alone[::-1]
            checked += len(rows) * bool(shared)
            assert len(shared) <= 2  # one for the rows of a folder
    assert checked > 3 * ROWS
