"""Sums of trees: how long both checkers take, and how the layer's time compares with the library's own prediction.

    python -m benchmarks trees [TREES]

1,000 trees of 31 leaves by scikit-learn's HistGradientBoosting over ten columns, one of them rising. Times are
processor time of one thread, the best of several runs, so that other programs on the machine count less.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingRegressor

from smilenn.certify.certify import certify
from smilenn.certify.check import check_folder
from smilenn.certify.reference.check import check_folder as check_reference
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.bundle import save_net
from smilenn.model.encoders import Branch, Encoder
from smilenn.model.net import SmileNet
from smilenn.model.trees import assert_same, convert
from smilenn.properties import Monotone
from smilenn.train.deploy import deploy

COLUMNS = 10


def best(ask: Callable[[], object], runs: int) -> float:
    """Seconds of processor time."""
    out = float("inf")
    for _ in range(runs):
        start = time.process_time()
        ask()
        out = min(out, time.process_time() - start)
    return out


def fitted(trees: int) -> tuple[HistGradientBoostingRegressor, np.ndarray]:
    """A monotone model on invented data, and the data."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, COLUMNS)).clip(-5, 5)
    y = x[:, 0] + np.sin(3 * x[:, 1]) * x[:, 2] + 0.3 * rng.normal(size=len(x))
    model = HistGradientBoostingRegressor(max_iter=trees, early_stopping=False, monotonic_cst=[1] + [0] * (COLUMNS - 1))  # type: ignore[arg-type]
    return model.fit(x, y), x


def network(layer: torch.nn.Module, x: np.ndarray) -> SmileNet:
    """f = the sum of the trees."""
    domain = Domain(tuple(Feature(f"x{i}", lo=-5.0, hi=5.0) for i in range(COLUMNS)))
    encoder = Encoder(domain, [Branch("sum", range(COLUMNS), [layer])])  # type: ignore[list-item]
    encoder.fit_box_(torch.tensor(x[:1000]))
    net = SmileNet(domain, MLP(COLUMNS, (2,), 1), 1, encoder=encoder, auxiliaries="affine")
    net.gap.scale_(0.0)
    with torch.no_grad():
        net.lower.slope.fill_(1.0)
        net.head_weight.fill_(1.0)
    return net.eval()


def main() -> None:
    """Print a table."""
    torch.set_num_threads(1)
    trees = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    model, x = fitted(trees)
    forest = convert(model)
    assert_same(forest, model, x[:2000], x[:2000])
    net = network(forest.layer, x)
    claims = Monotone(increasing=["x0"]).lower(net.domain)
    deploy(net, claims)
    found = certify(net, claims, time_limit=60)
    with tempfile.TemporaryDirectory() as place:
        save_net(Path(place) / "m", net, extra=found.files)
        print(f"{trees} trees, {forest.layer.nodes} nodes: {found.report.status}")
        print(f"check.py {best(lambda: check_folder(Path(place) / 'm'), 3):.2f} s", end=", ")
        print(f"reference {best(lambda: check_reference(Path(place) / 'm'), 1):.2f} s")
    print("rows  layer (ms)  predict of the library (ms)")
    for rows, runs in ((1, 20), (64, 10), (4096, 3)):
        y = torch.tensor(x[:rows])
        own, theirs = best(lambda y=y: forest.layer(y), runs), best(lambda n=rows: model.predict(x[:n]), runs)
        print(f"{rows:5d} {1000 * own:9.2f} {1000 * theirs:12.2f}   {own / theirs:.1f}×")


if __name__ == "__main__":
    main()
