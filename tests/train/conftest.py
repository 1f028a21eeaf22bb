"""Tiny training runs: data, networks and claims that take a fraction of a second, all from fixed seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet
from smilenn.problem import Problem
from smilenn.properties import Convex, Fair, Lipschitz, Monotone, Property, Robust, lower_all
from smilenn.search.oracle import Oracle
from smilenn.train.config import Config
from smilenn.train.fit import Fit, fit
from smilenn.train.losses import LossKind

torch.set_num_threads(1)

QUICK = Config(pretrain_epochs=15, epochs=10, batch_size=20, learning_rate=1e-2, posttrain_rounds=30, check_every=3)


@dataclass(frozen=True)
class Case:
    """A whole training run but for its seed; `network` are options of `SmileNet`."""

    domain: Domain
    x: np.ndarray
    y: np.ndarray
    properties: tuple[Property, ...]
    config: Config = QUICK
    network: tuple[tuple[str, Any], ...] = ()
    loss: LossKind = "mse"

    @property
    def claims(self):
        return lower_all(self.properties, self.domain)

    def net(self, seed: int = 0) -> SmileNet:
        torch.manual_seed(seed)
        options: dict[str, Any] = {"hidden": 4, **dict(self.network)}
        return SmileNet(self.domain, MLP(self.domain.size, (4,), 2).double(), 2, **options)

    def fit(self, seed: int = 0, **options) -> Fit:
        return fit(
            self.net(seed), self.x, self.y, self.claims, loss=self.loss, config=self.config, seed=seed, **options
        )

    def but(self, **changes) -> Case:
        """The case with some constants of its configuration changed."""
        return replace(self, config=self.config.replace(**changes))


def box(m: int) -> Domain:
    return Domain.box([-1.0] * m, [1.0] * m)


def people() -> Domain:
    """A score and a protected category."""
    return Domain((Feature("score", "continuous", 0.0, 1.0), Feature("group", "category", categories=("a", "b", "c"))))


def _noise(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=n)


def wave(n: int = 60, **network) -> Case:
    """One input, a target that falls and rises, monotone."""
    x = np.linspace(-1, 1, n)[:, None]
    y = x[:, 0] + 0.5 * np.sin(5 * x[:, 0]) + 0.05 * _noise(0, n)
    return Case(box(1), x, y, (Monotone(increasing=["x0"]),), network=tuple(network.items()))


def unfair(n: int = 80, eps: float = 0.4, **network) -> Case:
    """A target that depends on the protected group much more than ε."""
    rng = np.random.default_rng(1)
    score, group = rng.uniform(size=n), rng.integers(0, 3, size=n)
    x = np.column_stack([score, np.eye(3)[group]])
    y = 2 * score + 1.5 * (group == 1) + 0.1 * _noise(2, n)
    return Case(people(), x, y, (Fair(["group"], eps),), network=tuple(network.items()))


def plane(n: int = 80, **network) -> Case:
    """Three inputs, a yes/no target, robust, affine auxiliaries."""
    x = np.random.default_rng(3).uniform(-1, 1, size=(n, 3))
    y = (x @ [2.0, -1.0, 0.5] + 0.3 * _noise(4, n) > 0).astype(float)
    options = {"auxiliaries": "affine", **network}
    return Case(box(3), x, y, (Robust(0.2, 0.5),), network=tuple(options.items()), loss="bce")


def slopes(n: int = 60, **network) -> Case:
    """One input, a slope of at most 1 although the target is steeper."""
    case = wave(n, **network)
    return replace(case, properties=(Lipschitz("x0", 1),))


def bowl(n: int = 60, **network) -> Case:
    """One input, a target that is not convex, convex."""
    x = np.linspace(-1, 1, n)[:, None]
    y = x[:, 0] ** 2 + 0.2 * np.cos(8 * x[:, 0])
    return Case(box(1), x, y, (Convex(["x0"]),), network=tuple(network.items()))


def several(n: int = 80, **network) -> Case:
    """Monotone in one input, robust in both, safe from above: claims at the same time."""
    x = np.random.default_rng(5).uniform(-1, 1, size=(n, 2))
    y = x[:, 0] + np.sin(4 * x[:, 1]) + 0.1 * _noise(6, n)
    properties = (Monotone(increasing=["x0"]), Robust(0.1, 0.3))
    return Case(box(2), x, y, properties, network=tuple({"hidden": 3, **network}.items()))


def same(one: SmileNet, other: SmileNet) -> bool:
    """Whether all weights agree bit for bit."""
    a, b = one.state_dict(), other.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def members(problem: Problem, count: int, seed: int = 0) -> np.ndarray:
    """Random tuples of the premise, model units [≤ count, k, m]; a third of them on or near the diagonal."""
    rng = np.random.default_rng(seed)
    oracle = Oracle(problem.region)
    u = oracle.sample(count, rng)
    near = u[: count // 3]
    near[:] = near[:, :1] + 1e-3 * (near - near[:, :1])
    u = oracle.snap(u)
    return u[problem.region.contains(u)]


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """The builders above."""
    return SimpleNamespace(
        QUICK=QUICK,
        Case=Case,
        box=box,
        people=people,
        wave=wave,
        unfair=unfair,
        plane=plane,
        slopes=slopes,
        bowl=bowl,
        several=several,
        same=same,
        members=members,
    )
