"""What a proof costs as copies, outputs, rows of the conclusion and rows of the premise grow; CPU seconds, one thread.

    python -m benchmarks costs

Networks are small and fresh (4 inputs, 3 hidden units in each auxiliary net, seeds 0 to 2). Of every row the maximum m*
is found first; then "no violation above m* + 0.1 %" is proved: by branch-and-bound with its leaves, and by the reduced
MIP on HiGHS. Figures are geometric means over the seeds, of all rows of a claim together.

    copies    k inputs in a chain, neighbours within 0.2 in two features, equal in the others:  a ≤ ·, a − b ≤ ·,
              a + b − 2c ≤ ·, a + b − c − d ≤ ·
    outputs   o outputs, one row a_i − b_i ≤ · for each
    rows      8 outputs, so many of the rows a_i − b_j ≤ ·
    premise   a − b ≤ ·, with so many further rows over the features of both copies in the premise
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from time import process_time

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet
from smilenn.problem import Problem, build
from smilenn.properties.custom import Custom
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.written import leaf_proof

INPUTS, HIDDEN, EMBEDDING, SEEDS, LIMIT = 4, 3, 8, 3, 60.0
NEAR = [f"{x}.x{i} - {y}.x{i} <= 0.2" for i in (0, 1) for x, y in ("ab", "ba")]
CHAIN = {
    k: [
        f"{x}.x{i} - {y}.x{i} <= 0.2"
        for i in (0, 1)
        for p in zip("abcd"[: k - 1], "bcd"[: k - 1], strict=True)
        for x, y in (p, p[::-1])
    ]
    for k in range(1, 5)
}
SUMS = {1: "a.out", 2: "a.out - b.out", 3: "a.out + b.out - 2 * c.out", 4: "a.out + b.out - c.out - d.out"}
FURTHER = [f"{x}.x{i} + {x}.x{j} <= 1.5" for x in "ab" for i, j in ((0, 1), (0, 2), (1, 2), (2, 3))]


def problem(claim: Custom, seed: int, outputs: int = 1) -> Problem:
    """The claim on a fresh network."""
    torch.manual_seed(seed)
    domain = Domain.box([0.0] * INPUTS, [1.0] * INPUTS)
    names = ("",) if outputs == 1 else tuple(f"y{i}" for i in range(outputs))
    net = SmileNet(domain, MLP(INPUTS, (8,), EMBEDDING), EMBEDDING, hidden=HIDDEN, outputs=names)
    net.centre_(torch.as_tensor(domain.sample(100, np.random.default_rng(seed))))
    return build(claim.lower(domain, names)[0], net.snapshot())


def cost(claim: Custom, outputs: int = 1) -> tuple[int, float, float, float]:
    """Rows, and geometric means over the seeds of nodes, seconds of branch-and-bound and of the reduced MIP."""
    found, rows = [], 0
    for seed in range(SEEDS):
        one, nodes, ours, peers = problem(claim, seed, outputs), 0, 0.0, 0.0
        rows = len(one.rows)
        for row in one.rows:
            best = ReducedMip().maximise(one, row, time_limit=LIMIT).upper
            hard = replace(row, rhs=row.rhs + best + 1e-3 * max(abs(best + row.rhs), 0.1 * row.scale))
            start = process_time()
            tree = BranchAndBound(workers=1).search(one, hard, time_limit=LIMIT)
            leaf_proof(one, tree)
            middle = process_time()
            peer = ReducedMip().maximise(one, hard, time_limit=LIMIT, goal="prove")
            peers, ours, nodes = peers + process_time() - middle, ours + middle - start, nodes + tree.nodes
            if tree.bound > 0 or peer.upper > 1e-6:
                print(f"  not proved within {LIMIT:.0f} s: {hard.text}", flush=True)
        found.append((nodes, ours, peers))
    means = [math.exp(sum(math.log(max(v, 1e-9)) for v in values) / SEEDS) for values in zip(*found, strict=True)]
    return rows, means[0], means[1], means[2]


def main() -> int:
    """Print the tables."""
    margins = [f"a.out.y{i} - b.out.y{j} <= 0" for i in range(8) for j in range(8) if i != j]
    tables = {
        "copies": {k: (Custom([f"{SUMS[k]} <= 0"], CHAIN[k], copies=k), 1) for k in SUMS},
        "outputs": {o: (Custom([f"a.out.y{i} - b.out.y{i} <= 0" for i in range(o)], NEAR), o) for o in (2, 4, 8)},
        "rows": {r: (Custom(margins[:r], NEAR), 8) for r in (1, 2, 4, 8, 16, 32)},
        "premise": {r: (Custom([f"{SUMS[2]} <= 0"], NEAR + FURTHER[:r]), 1) for r in (0, 1, 2, 4, 8)},
    }
    for name, cases in tables.items():
        print(f"{name:>8s} {'rows':>5s} {'nodes':>8s} {'ours ms':>9s} {'MIP ms':>9s}", flush=True)
        for size, (claim, outputs) in cases.items():
            rows, nodes, ours, peers = cost(claim, outputs)
            print(f"{size:8d} {rows:5d} {nodes:8.0f} {1e3 * ours:9.1f} {1e3 * peers:9.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
