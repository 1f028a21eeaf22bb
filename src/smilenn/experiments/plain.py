"""The same backbone and linear head without auxiliaries or property: what the paper calls Agnostic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.train.losses import LossKind, task_loss

Data = tuple[np.ndarray, np.ndarray]


def plain(
    domain: Domain, sizes: Sequence[int], embedding: int, train: Data, held: Data, *,
    loss: LossKind = "bce", epochs: int, batch: int, seed: int,
) -> Callable[[np.ndarray], np.ndarray]:  # fmt: skip
    """Train with Adam 1e-3, keep the epoch with the smallest loss on the held-out rows; returns x [B, m] → f [B, 1]."""
    torch.manual_seed(seed)
    net = nn.Sequential(MLP(domain.size, sizes, embedding), nn.Linear(embedding, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

    def scaled(x: np.ndarray) -> torch.Tensor:
        return torch.tensor(domain.scale(x), dtype=torch.float32)

    u, y = scaled(train[0]), torch.tensor(train[1], dtype=torch.float32)[:, None]
    u_held, y_held = scaled(held[0]), torch.tensor(held[1], dtype=torch.float32)[:, None]
    measure = task_loss(loss, y.double())
    best, kept = float("inf"), {k: v.clone() for k, v in net.state_dict().items()}
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        for index in torch.as_tensor(rng.permutation(len(u))).split(batch):
            optimizer.zero_grad()
            measure(net(u[index]).double(), y[index].double(), None).backward()
            optimizer.step()
        with torch.no_grad():
            value = float(measure(net(u_held).double(), y_held.double(), None))
        if value < best:
            best, kept = value, {k: v.clone() for k, v in net.state_dict().items()}
    net.load_state_dict(kept)
    net.eval()

    @torch.no_grad()
    def predict(x: np.ndarray) -> np.ndarray:
        return net(scaled(x)).double().numpy()

    return predict
