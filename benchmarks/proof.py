"""A proof of more than 1,000 nodes, alone and with its open cells shared over a local Dask cluster.

    python -m benchmarks.proof [--inputs 6] [--hidden 28] [--eps 1.3291] [--workers 2] [--time-limit 600]

A network with random ReLU auxiliaries must be `Robust`, with an ε just above the largest change that there is:
the tree has to be grown. Both certificates are checked from their folders, the second one also on the cluster.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import smilenn
from smilenn import Robust, SmileNet
from smilenn.certify.network import certify_net
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.provers.tree import parallel


def network(inputs: int, hidden: int) -> SmileNet:
    """Random auxiliaries over the unit cube."""
    domain = Domain(tuple(Feature(f"x{i}", "continuous", 0.0, 1.0) for i in range(inputs)))
    torch.manual_seed(0)
    net = SmileNet(domain, MLP(inputs, (4,), 1), 1, hidden=hidden).eval()
    with torch.no_grad():
        for tensor in (net.lower.weight, net.lower.bias, net.lower.out):
            tensor.copy_(torch.from_numpy(np.random.default_rng(tensor.numel()).normal(size=tuple(tensor.shape))))
    return net


def proof_bytes(folder: Path) -> int:
    """What the trees take in the certificate."""
    return (folder / "certificate.bin").stat().st_size


def certified(net: SmileNet, rule: Robust, folder: Path, limit: float) -> dict[str, object]:
    """Prove and write; what it took and what the checker says."""
    begun = time.perf_counter()
    saved = certify_net(net, [rule], folder, time_limit=limit)
    seconds = time.perf_counter() - begun
    return {
        "seconds": round(seconds, 1),
        "status": saved.verdict.status,
        "bound": float(saved.verdict.violation_bound),
        "checked": smilenn.check(folder).status,
        "proof_bytes": proof_bytes(folder),
    }


def main() -> None:
    """Prove both ways, print a line of JSON each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=6)
    parser.add_argument("--hidden", type=int, default=28)
    parser.add_argument("--delta", type=float, default=0.1)
    parser.add_argument("--eps", type=float, default=1.3291)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--time-limit", type=float, default=600.0)
    options = parser.parse_args()
    net, rule = network(options.inputs, options.hidden), Robust(options.delta, options.eps)
    shared: list[int] = []
    real = parallel.share

    def counted(run, most, workers):
        real(run, most, workers)
        shared.append(run.count)

    from smilenn.provers.tree import branch

    branch.share = counted
    with tempfile.TemporaryDirectory() as place:
        print(
            json.dumps(
                {"where": "alone"} | certified(net, rule, Path(place) / "alone", options.time_limit) | {"nodes": shared}
            )
        )
        shared.clear()
        with smilenn.cluster(f"local:{options.workers}"):
            found = certified(net, rule, Path(place) / "cluster", options.time_limit)
        print(json.dumps({"where": f"{options.workers} workers"} | found | {"nodes": shared}))


if __name__ == "__main__":
    main()
