"""The proved checker against both others on many random folders: one verdict, one report.

Folders are made once, with the findings of both Python checkers beside them, and kept. The proved checker is asked
about those that are there, so a changed program is compared again in a minute.

    python -m trust.proved make PLACE order,leaf,trees 0 1000     seeds 0 to 999 of each kind
    python -m trust.proved compare PLACE                          counts per kind, and every difference
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smilenn.certify import certificate, check, verified
from smilenn.certify.reference import check as reference
from trust import (
    encoded_folder,
    forge2,
    kill_cases,
    kill_lemmas,
    kill_signs,
    kill_sweeps,
    kill_trees,
    order_folder,
    proved_changes,
    random_folder,
)

UNCOVERED = "not covered by the proof: "
FINDINGS = "findings.json"
Files = dict[str, bytes]


def by_order(folder: Path, seed: int) -> None:
    """Rows by the order rule."""
    order_folder.order_folder(folder, seed)


def by_rule(**choices: Any) -> Callable[[Path, int], None]:
    """Random networks without an encoder; every fourth claim is over one copy."""

    def make(folder: Path, seed: int) -> None:
        own = {"auxiliaries": ("relu", "relu", "constant")[seed % 3], "copies": 1 if seed % 4 == 0 else 2} | choices
        random_folder.random_folder(folder, seed, **own)

    return make


def by_slope(folder: Path, seed: int) -> None:
    """Ordered inputs and rows by the slope rule: splits of all units, or one leaf that holds now and then."""
    rng = np.random.default_rng([seed, 30])
    torch.manual_seed(seed)
    domain = random_folder.random_domain(rng)
    net = random_folder.random_net(rng, domain, boxes="gap", auxiliaries="relu", zero_gap=True)
    if rng.random() < 0.6:
        random_folder.give_signs(rng, net)
    claim, witness = order_folder.ordered_claim(rng, net)
    leaf = certificate.SlopeProof(0, (certificate.Leaf(),))
    proofs = [random_folder.slope_proof(net, claim, row) or leaf for row in claim.rows]
    room = random_folder.random_room(rng, net, claim)
    entry = certificate.ClaimProof(claim.to_json(), witness.tolist(), proofs, room=room)
    random_folder.put(folder, random_folder.files_of(net, [entry]))


def encoded(boxes: str) -> Callable[[Path, int], None]:
    """Trees over what an encoder leaves of a premise."""

    def make(folder: Path, seed: int) -> None:
        copies = 1 if seed % 4 == 0 else 2
        encoded_folder.encoded_folder(folder, seed, copies=copies, boxes=boxes, rules=0.1)
        forge2.put(folder, forge2.as_version_2(forge2.read(folder)))

    return make


def drawn(files: Callable[[int], Files]) -> Callable[[Path, int], None]:
    """Folders of the kill suite."""

    def make(folder: Path, seed: int) -> None:
        forge2.put(folder, files(seed))

    return make


def changed(kinds: tuple[str, ...]) -> Callable[[Path, int], None]:
    """A value or a byte of a folder of these kinds is another one, and all digests fit again."""

    def make(folder: Path, seed: int) -> None:
        rng = random.Random(seed)
        KINDS[rng.choice(kinds)](folder, rng.randrange(10**6))
        files = forge2.read(folder)
        change = proved_changes.byte if rng.random() < 0.3 else proved_changes.mutated
        files = change(rng, files)
        for name, data in {**files, "manifest.json": forge2.manifest(files)}.items():
            (folder / name).write_bytes(data)

    return make


KINDS: dict[str, Callable[[Path, int], None]] = {
    "order": by_order,
    "leaf": by_rule(boxes="gap", rule="leaf", profile="f64-aux"),
    "fixed": by_rule(boxes="gap", rule="leaf", profile="fixed-order"),
    "encoded": encoded("gap"),
    "trees": drawn(lambda seed: kill_trees.Grown(seed).files),
    "lemmas": drawn(lambda seed: kill_lemmas.Lemmas(seed).files),
    "changed": changed(("order", "leaf", "fixed", "encoded", "trees", "lemmas")),
    "paper": by_rule(boxes="paper", rule="leaf", profile="f64-aux"),
    "paper-fixed": by_rule(boxes="paper", rule="leaf", profile="fixed-order"),
    "paper-encoded": encoded("paper"),
    "affine": by_rule(boxes="gap", rule=None, profile="f64-aux", auxiliaries="affine"),
    "affine-one": by_rule(boxes="gap", rule=None, profile="f64-aux", auxiliaries="affine", size=1),
    "sweep": by_rule(boxes=None, rule="sweep", profile="f64-aux", size=1),
    "sweeps": drawn(kill_sweeps.folder),
    "slope": by_slope,
    "signs": drawn(lambda seed: kill_signs.Signed(seed).files),
    "cases": drawn(lambda seed: kill_cases.Cased(seed).files),
    "changed-more": changed(("affine", "paper", "paper-encoded", "sweep", "sweeps", "slope", "signs")),
}


def finding(folder: Path) -> dict[str, Any]:
    """What both Python checkers say, which must be the same."""
    fast, slow = check.check_folder(folder), reference.check_folder(folder)
    bounds = [[row.bound for claim in report.claims for row in claim.rows] for report in (fast, slow)]
    if (fast.status, bounds[0]) != (slow.status, bounds[1]):
        raise SystemExit(f"{folder}: the Python checkers disagree: {fast.status}, {slow.status}")
    return {"code": fast.exit_code, "status": fast.status, "report": json.dumps(fast.to_json()) if fast.claims else ""}


def make(place: Path, kinds: list[str], seeds: range) -> None:
    """Write folders and findings that are not there yet."""
    for seed in seeds:
        for kind in kinds:
            folder = place / f"{kind}-{seed}"
            if (folder / FINDINGS).exists():
                continue
            KINDS[kind](folder, seed)
            (folder / FINDINGS).write_text(json.dumps(finding(folder)), encoding="utf-8")


def difference(folder: Path, program: str) -> tuple[str, str]:
    """What the proved checker finds, and how it differs from the others; the last is empty if it does not."""
    said = json.loads((folder / FINDINGS).read_text(encoding="utf-8"))
    done = subprocess.run([program, "--json", str(folder)], capture_output=True, check=False)
    own = json.loads(done.stdout)
    if own["reason"].startswith(UNCOVERED):
        failed = done.returncode != 3 or "failed" in own["reason"]
        return "not covered", own["reason"] if failed else ""
    if (done.returncode, own["status"]) != (said["code"], said["status"]):
        return own["status"], f"{said['status']} by check.py, {own['status']} by the proved checker: {own['reason']}"
    same = not said["report"] or done.stdout.decode() == said["report"]
    if not same and affine_gaps(folder):
        same = nearly(json.loads(said["report"]), own)
    return own["status"], "" if same else "other bounds or words"


def affine_gaps(folder: Path) -> bool:
    """Whether the gap is measured from the scaled ends, which the proof takes as they are before rounding."""
    net = json.loads((folder / "model.json").read_text(encoding="utf-8"))["net"]
    return net["auxiliaries"] == "affine" and net["boxes"] == "gap" and "encoder" not in net


def nearly(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two reports say the same but for bounds, margins and rooms, and these are `close`."""
    rows = [[row for claim in report["claims"] for row in claim["rows"]] for report in (one, other)]
    for a, b in zip(*rows, strict=True):
        if not close(*((number(row.pop("bound")), number(row.pop("margin"))) for row in (a, b))):
            return False
        a.pop("room"), b.pop("room")
    return one == other


def close(known: tuple[Fraction, Fraction], own: tuple[Fraction, Fraction]) -> bool:
    """Affine gaps: the proved checker's bound + margin is check.py's, or larger by up to a tenth of a margin."""
    margin = known[1]
    more = sum(own) - sum(known)
    return abs(own[0] - known[0]) <= margin / 10 and abs(own[1] - margin) <= margin / 10 and 0 <= more <= margin / 10


def number(text: str) -> Fraction:
    """A number of a report, exact."""
    top, _, bottom = text.partition("/")
    return Fraction(int(top, 16), int(bottom, 16))


def compare(place: Path) -> Iterator[str]:
    """Lines of a report: differences, then counts per kind."""
    program = verified.program()
    if program is None:
        raise SystemExit("the proved checker is not built: run `make verified`")
    counts: dict[str, Counter[str]] = {}
    wrong = 0
    for file in sorted(place.glob(f"*/{FINDINGS}")):
        status, how = difference(file.parent, program)
        counts.setdefault(file.parent.name.rsplit("-", 1)[0], Counter())[status] += 1
        wrong += bool(how)
        if how:
            yield f"{file.parent.name}: {how}"
    total: Counter[str] = sum(counts.values(), Counter())
    for kind, found in [*sorted(counts.items()), ("all", total)]:
        said = ", ".join(f"{count} {status}" for status, count in sorted(found.items()))
        yield f"{kind}: {found.total() - found['not covered']} compared ({said})"
    yield f"{wrong} differences"


def main(arguments: list[str]) -> int:
    """Make or compare."""
    match arguments:
        case ["make", place, kinds, first, stop]:
            make(Path(place), kinds.split(","), range(int(first), int(stop)))
        case ["compare", place]:
            for line in compare(Path(place)):
                print(line)  # noqa: T201
        case _:
            print(__doc__)  # noqa: T201
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
