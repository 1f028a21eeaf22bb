"""Training the centre of a box and the backbone inside it, on model units u and a target of size one.

    loss = L(f, z) + L(centre, z) + PRICE·mean over pairs of relu(Σ_c a_c·centre(x_c) − aim)

The pairs are the worst ones known for every row: data rows and random points moved by signed gradient steps. `aim` is
what a row leaves to the centre; the rest of its room is for the width of the box.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from smilenn.auditing.attack import Attack
from smilenn.auditing.rows import Row
from smilenn.deep.ends import ends_of
from smilenn.domain import Domain
from smilenn.model.backbones import MLP

PRICE, RATE, DECAY = 10.0, 1e-2, 1e-4
BATCHES, SMALLEST, LARGEST = 16, 16, 256  # in an epoch at least; rows of a batch
PAIRS, STEPS, EVERY = 256, 4, 2  # pairs drawn for a row, steps they are moved, epochs between two draws
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows x [n, m] in raw units, and the target z [n] as it is trained on."""

    x: np.ndarray
    z: np.ndarray
    loss: Loss


@dataclass(frozen=True, eq=False)
class Limit:
    """A row about the ends, and what it asks of the centre in trained units: Σ_c a_c·centre(x_c) ≤ room."""

    row: Row
    weights: tuple[float, float]
    room: float

    @property
    def reach(self) -> float:
        """What a box of width 1 adds to the row."""
        return sum(map(abs, self.weights)) / 2


class Boxed(nn.Module):
    """Centre and backbone; the box has the width that `forward` is given."""

    def __init__(self, inputs: int, hidden: Sequence[int], backbone: Sequence[int]) -> None:
        super().__init__()
        self.centre = MLP(inputs, hidden, 1).double()
        self.backbone = MLP(inputs, backbone, 1).double()

    def forward(self, u: torch.Tensor, width: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """f, centre and backbone at u [B, m], each [B]."""
        c, h = self.centre(u)[:, 0], self.backbone(u)[:, 0]
        return torch.minimum(torch.maximum(h, c - width / 2), c + width / 2), c, h

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The centre's weights and biases as arrays."""
        linear = [part for part in self.centre.modules() if isinstance(part, nn.Linear)]
        return [(part.weight.detach().numpy().copy(), part.bias.detach().numpy().copy()) for part in linear]


def train(
    net: Boxed, domain: Domain, data: Examples, limits: Sequence[Limit], share: float, epochs: int, seed: int
) -> float:
    """Train centre and backbone together; the width they were trained for, `share` of the least room."""
    width = min(share * limit.room / limit.reach for limit in limits)
    pools = [Pool(limit, net, domain, seed) for limit in limits]

    def penalty(epoch: int) -> torch.Tensor:
        if epoch % EVERY == 0:
            for pool in pools:
                pool.refill(data.x)
        return torch.stack([pool.excess((1 - share) * pool.limit.room) for pool in pools]).sum()

    _descend(net, list(net.parameters()), domain, data, width, epochs, seed, penalty)
    return width


def train_backbone(net: Boxed, domain: Domain, data: Examples, width: float, epochs: int, seed: int) -> None:
    """Train the backbone in a box that no longer changes."""
    _descend(net, list(net.backbone.parameters()), domain, data, width, epochs, seed, None)


def _descend(
    net: Boxed,
    parameters: list[nn.Parameter],
    domain: Domain,
    data: Examples,
    width: float,
    epochs: int,
    seed: int,
    penalty: Callable[[int], torch.Tensor] | None,
) -> None:
    rng = np.random.default_rng(seed)
    u, z = torch.tensor(domain.scale(data.x)), torch.tensor(data.z)
    batch = min(max(len(u) // BATCHES, SMALLEST), LARGEST)
    optimiser = torch.optim.Adam(parameters, lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, max(epochs, 1))
    for epoch in range(epochs):
        order = torch.tensor(rng.permutation(len(u)))
        for start in range(0, len(u), batch):
            some = order[start : start + batch]
            f, c, h = net(u[some], width)
            loss = data.loss(f, z[some]) + 0.1 * data.loss(h, z[some])
            if penalty is not None:
                loss = loss + data.loss(c, z[some]) + PRICE * penalty(epoch if start == 0 else 1)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()


class Pool:
    """The worst pairs known for one row, as model units [n, 2, m]."""

    def __init__(self, limit: Limit, net: Boxed, domain: Domain, seed: int) -> None:
        self.limit, self.net, self.domain = limit, net, domain
        self.rng = np.random.default_rng(seed)
        self.weights = torch.tensor(limit.weights, dtype=torch.float64)
        self.pairs = torch.zeros((0, 2, domain.size), dtype=torch.float64)

    def refill(self, x: np.ndarray) -> None:
        """Draw pairs around rows x and anywhere, move them, and keep the worst of these and of the old ones."""
        attack = Attack(ends_of(self.net.layers(), 0.0, self.domain), self.limit.row)
        l1, u1, _, _, dl, du = attack.box
        first = np.concatenate([x[self.rng.integers(len(x), size=PAIRS)], self.rng.uniform(l1, u1, (PAIRS, len(l1)))])
        gap = self.rng.uniform(dl, du, first.shape)
        for step in range(STEPS):
            pairs = attack.into_premise(first, gap)
            g = attack.gradient(pairs)
            gap = np.clip(gap - (du - dl) * np.sign(g[:, 1]), dl, du)
            first = np.clip(first + (u1 - l1) * np.sign(g.sum(axis=1)) * 0.3 / 2**step, l1, u1)
        fresh = torch.tensor(self.domain.scale(attack.into_premise(first, gap)))
        every = torch.cat([self.pairs, fresh])
        with torch.no_grad():
            self.pairs = every[self.values(every).argsort(descending=True)[:PAIRS]]

    def values(self, pairs: torch.Tensor) -> torch.Tensor:
        """Σ_c a_c·centre at pairs [n, 2, m]."""
        return self.net.centre(pairs)[..., 0] @ self.weights

    def excess(self, aim: float) -> torch.Tensor:
        """How far the pairs exceed the aim, on average, in units of the room."""
        over = torch.relu(self.values(self.pairs) - 0.95 * aim)
        return over.mean() / self.limit.room + over.max() / self.limit.room
