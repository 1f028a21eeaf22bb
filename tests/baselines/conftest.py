"""Small tasks for the baselines."""

import numpy as np
import pytest

from smilenn.datasets import Prepared, make_credit, make_monotone_sine, prepare, split
from smilenn.domain import Domain


@pytest.fixture
def credit() -> Prepared:
    """Nine coordinates, regression, protected race."""
    return prepare(*split(make_credit(600, seed=0), seed=0))


@pytest.fixture
def repaid() -> Prepared:
    """The same with two classes."""
    return prepare(*split(make_credit(600, seed=0, task="binary"), seed=0))


@pytest.fixture
def sine() -> Prepared:
    """One input, not monotone itself."""
    train, test = (make_monotone_sine(3, 0.6, n=300, seed=0, part=part) for part in ("train", "test"))
    return prepare(train, test, scaling="standard", bounds={"x": (-10.0, 10.0)})


@pytest.fixture(scope="session")
def squares() -> Prepared:
    """Images of 4×4 pixels, bright in one half or the other."""
    rng = np.random.default_rng(0)

    def draw(n):
        y = rng.integers(0, 2, n).astype(np.float64)
        left = np.clip(rng.normal(0.25 + 0.5 * y[:, None], 0.15, (n, 8)), 0, 1)
        right = np.clip(rng.normal(0.75 - 0.5 * y[:, None], 0.15, (n, 8)), 0, 1)
        return np.concatenate([left, right], axis=1), y

    domain = Domain.box([0.0] * 16, [1.0] * 16)
    return Prepared(domain, *draw(400), *draw(80), *draw(200))
