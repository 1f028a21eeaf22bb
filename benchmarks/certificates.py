"""Certificates: size of the proof, and the time of the checkers against the time of the proof, in one run.

The shapes are units × inputs. Trees come from the branch-and-bound, stopped at a number of leaves: any tree is a
certificate, with a larger bound if it is stopped early. One input is swept (the checker does all the work) and, for
comparison, split like the others. Growth: time per leaf × unit × input should stay level. The last column is the proved
checker's time over that of check.py, where `make verified` has built it and the proof covers the rule.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smilenn.certify import check, verified
from smilenn.certify.certificate import dump, model_digest
from smilenn.certify.reference import check as check_reference
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.bundle import MODEL, WEIGHTS, certified_tensors, dump_weights
from smilenn.model.folder import dump_json, write_folder
from smilenn.model.net import SmileNet
from smilenn.problem import build
from smilenn.properties.claim import Claim, row
from smilenn.provers.proof import ClaimProof, Leaf, LeafProof, RowProof, SweepProof
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.written import leaf_proof
from smilenn.provers.witness import witness

LIMIT = 60.0  # seconds per proof


def network(domain: Domain, units: int, seed: int = 0) -> SmileNet:
    """Random auxiliaries with `units` hidden units in all, 0 for affine ones."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    m, n = domain.size, 8
    net = SmileNet(
        domain,
        MLP(m, (4,), n),
        n,
        auxiliaries="relu" if units else "affine",
        hidden=max(1, units // 2),
    )
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if not name.startswith("backbone."):
                parameter.copy_(torch.as_tensor(rng.normal(size=tuple(parameter.shape)) / np.sqrt(m)))
        net.centre_(torch.as_tensor(domain.sample(64, rng)))
        for parameter in net.gap._signed():
            parameter.copy_(parameter.abs() * 0.1)
    return net


def case(units: int, inputs: int) -> tuple[SmileNet, Claim]:
    """A category of six values may change, or every input may move a little (few inputs)."""
    if inputs >= 100 and units:
        rest = tuple(Feature(f"x{i}") for i in range(inputs - 6))
        domain = Domain((*rest, Feature("group", "category", categories=tuple("abcdef"))))
        claim = Claim(2, (), (row([(1, 0, "out", ""), (-1, 1, "out", "")], 1),), free=("group",))
    else:
        domain = Domain.box([0.0] * inputs, [1.0] * inputs)
        when = tuple(row([(s, 0, "in", n), (-s, 1, "in", n)], "0.1") for n in domain.coordinates for s in (1, -1))
        claim = Claim(2, when, (row([(1, 0, "out", ""), (-1, 1, "out", "")], 1),))
    return network(domain, units), claim


def best_of(function: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The least of some timings in seconds of the processor, and the answer."""
    seconds, answer = float("inf"), None
    for _ in range(times):
        start = time.process_time()
        answer = function()
        seconds = min(seconds, time.process_time() - start)
    return seconds, answer


def proved(folder: Path) -> float:
    """Seconds of the processor that the proved checker takes; not a number where it says nothing."""
    program, seconds = verified.program(), float("nan")
    for _ in range(3 if program else 0):
        before = os.times()
        code = subprocess.run([str(program), str(folder)], capture_output=True, check=False).stdout
        after = os.times()
        if b"not covered" in code:
            return float("nan")
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        seconds = min(spent, seconds) if seconds == seconds else spent
    return seconds


def measure(units: int, inputs: int, leaves: int) -> dict[str, Any]:
    """One shape; `leaves` 0 means the sweep rule."""
    net, claim = case(units, inputs)
    start = time.process_time()
    problem = build(claim, net.snapshot())  # part of proving, as reading the claim is part of checking
    proof: RowProof = SweepProof()
    if leaves:
        tree = BranchAndBound().search(problem, problem.rows[0], time_limit=LIMIT, goal="optimum", most=2 * leaves - 1)
        proof = leaf_proof(problem, tree)
    prove_s = time.process_time() - start
    files = {WEIGHTS: dump_weights(net), MODEL: dump_json({"net": net.describe()})}
    member = witness(problem.given)
    if member is None:
        raise SystemExit("no input satisfies the premise exactly")
    entry = ClaimProof(claim.to_json(), member.tolist(), [proof])
    files |= dump(model_digest(net.describe(), certified_tensors(net)), [entry])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        write_folder(folder, files)
        fast_s, fast = best_of(lambda: check.check_folder(folder), 5)
        slow_s, slow = best_of(lambda: check_reference.check_folder(folder), 1)
        proved_s = proved(folder)
    bounds = [[row.bound for claim in report.claims for row in claim.rows] for report in (fast, slow)]
    if fast.status not in ("certified", "unknown") or bounds[0] != bounds[1]:
        raise SystemExit(f"the checkers disagree: {fast.status} {fast.reason}, {slow.status} {slow.reason}")
    count = sum(isinstance(node, Leaf) for node in proof.nodes) if isinstance(proof, LeafProof) else 0
    size = len(files["certificate.bin"])
    return {
        "shape": f"{units or 'affine'}x{inputs}",
        "leaves": count,
        "bytes": size,
        "prove_s": prove_s,
        "fast_s": fast_s,
        "slow_s": slow_s,
        "ratio": slow_s / fast_s,
        "proved": proved_s / fast_s,
        "each": size / count / units if count and units else 0.0,
        "work": fast_s / (max(count, 1) * max(units, 1) * inputs) * 1e9,
    }


SHAPES = [
    (16, 120, 20),
    (16, 120, 60),
    (16, 120, 180),
    (16, 120, 540),
    (32, 120, 180),
    (64, 120, 180),
    (16, 240, 180),
    (16, 480, 180),
    (128, 1, 0),
    (128, 1, 60),
    (0, 784, 1),
]


def rows() -> Iterator[dict[str, Any]]:
    """One dictionary per shape."""
    for shape in SHAPES:
        yield measure(*shape)


def main() -> int:
    """Print the table."""
    heads = ("bytes", "prove s", "integers", "fractions", "ratio", "bytes/l/u", "ns/l/u/i", "proved")
    print(f"{'shape':12s} {'leaves':>6s} " + " ".join(f"{head:>9s}" for head in heads))
    for r in rows():
        values = (r["bytes"], r["prove_s"], r["fast_s"], r["slow_s"], r["ratio"], r["each"], r["work"], r["proved"])
        print(f"{r['shape']:12s} {r['leaves']:6d} " + " ".join(f"{v:9.4g}" for v in values), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
