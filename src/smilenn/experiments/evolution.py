"""How box and function evolve on y = x³: after pretraining, training and posttraining (a figure of the paper).

One embedding coordinate, g = identity, x ∈ [−1, 1]. Claim: |x' − x''| ≤ 0.1 ⇒ |f(x') − f(x'')| ≤ ε with ε half the
largest change of x³ over such a step, (1 − 0.9³)/2 = 0.1355.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from smilenn.datasets.synthetic import make_cubic
from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet
from smilenn.model.snapshot import Boxes
from smilenn.progress import Progress
from smilenn.properties.library import Robust
from smilenn.train.config import Config
from smilenn.train.fit import fit
from smilenn.verdict import Verdict

DELTA, EPS = 0.1, 0.1355
PANELS = {"pretrain": "after pretraining", "train": "after training", "posttrain": "after posttraining"}
GRID = 401  # 20 of its steps are 0.1


@dataclass(frozen=True, eq=False)
class Curve:
    """Function and box on a grid after one phase; x, f, lower, upper are [P]."""

    title: str
    x: np.ndarray
    f: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def change(self) -> float:
        """The largest change of f over a step of 0.1."""
        return float(np.abs(self.f[20:] - self.f[:-20]).max())


def evolve(seed: int = 0, boxes: Boxes = "paper", config: Config | None = None) -> tuple[list[Curve], Verdict]:
    """Train once and record the curves after each phase."""
    data = make_cubic(seed=seed)
    column = str(data.frame.columns[0])
    domain = Domain.from_data(data.frame, bounds={column: (-1.0, 1.0)}, scaling="none")
    torch.manual_seed(seed)
    net = SmileNet(domain, MLP(1, (16, 32, 64, 32, 16), 1), 1, hidden=32, boxes=boxes)
    with torch.no_grad():
        net.head_weight.fill_(1.0)
    net.head_weight.requires_grad_(False)
    net.head_bias.requires_grad_(False)
    grid = np.linspace(-1.0, 1.0, GRID)
    curves: dict[str, Curve] = {}

    def record(progress: Progress) -> None:
        curves[progress.phase] = _curve(net, grid, PANELS[progress.phase])

    if config is None:
        config = Config.paper(pretrain_epochs=300, pretrain_patience=10, epochs=100, batch_size=64)
    x, y = domain.encode(data.frame), data.target.to_numpy(dtype=np.float64)
    claims = Robust(DELTA, EPS).lower(domain)
    result = fit(net, x, y, claims, config=config, seed=seed, callback=record)
    assert result.verdict is not None
    curves["posttrain"] = _curve(net, grid, PANELS["posttrain"])
    return [curves[phase] for phase in PANELS if phase in curves], result.verdict


def _curve(net: SmileNet, grid: np.ndarray, title: str) -> Curve:
    lower, upper = net.snapshot().box(net.domain.scale(grid[:, None]))
    return Curve(title, grid, net.predict(grid[:, None])[:, 0], lower[:, 0], upper[:, 0])
