"""Shares of the kinds of an ensemble: those that predict kept rows best, none below zero, all of them one."""

import numpy as np
import pytest
import torch

from smilenn.train.losses import task_loss
from smilenn.train.mixing import SMALL, mixture


def rows(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y = torch.as_tensor(rng.normal(size=(n, 1)))
    noise = torch.as_tensor(rng.normal(size=(3, n, 1)))
    return y, noise


def test_independent_errors_are_weighed_by_their_precision():
    """Var 1, 1/2 and 1/4: shares 1/7, 2/7 and 4/7."""
    y, noise = rows(40_000)
    each = y[None] + noise * torch.tensor([1.0, 0.5**0.5, 0.5])[:, None, None]
    found = mixture(each, y, None, task_loss("mse", y))
    assert found.shares == pytest.approx([1 / 7, 2 / 7, 4 / 7], abs=0.02)
    assert found.loss < found.alone.min() and found.shares.sum() == pytest.approx(1)


def test_a_useless_kind_is_left_out():
    y, noise = rows()
    each = torch.stack([y + 0.1 * noise[0], 5 * noise[1], y + 0.1 * noise[2]])
    found = mixture(each, y, None, task_loss("mse", y))
    assert found.shares[1] == 0 and (found.shares[[0, 2]] > SMALL).all()


def test_a_kind_that_is_not_finite_is_left_out():
    y, noise = rows()
    each = torch.stack([y + 0.1 * noise[0], torch.full_like(y, torch.nan)])
    found = mixture(each, y, None, task_loss("mse", y))
    assert found.shares.tolist() == [1.0, 0.0] and np.isfinite(found.loss)


def test_no_finite_kind_is_worse_than_the_constant():
    y, _ = rows()
    found = mixture(torch.full((2, len(y), 1), torch.nan, dtype=torch.float64), y, None, task_loss("mse", y))
    assert found.shares.sum() == 1 and found.loss > 1


def test_few_rows_choose_nearly_equal_shares():
    """Of twelve rows, a kind that is better by chance does not take everything; of many it does."""
    y, noise = rows(12)
    each = torch.stack([y + 0.50 * noise[0], y + 0.50 * noise[1]])
    few = mixture(each, y, None, task_loss("mse", y)).shares
    assert few.min() > 0.2
    y, noise = rows()
    each = torch.stack([y + 0.1 * noise[0], y + 0.1 * noise[0] + 0.5 * noise[1]])
    assert mixture(each, y, None, task_loss("mse", y)).shares[0] > 0.9


def test_weights_of_rows_count():
    y, noise = rows()
    first = torch.arange(len(y)) < len(y) // 2
    good = torch.where(first[:, None], y, y + noise[0])
    each, loss = torch.stack([good, 2 * y - good + noise[1] * first[:, None]]), task_loss("mse", y)
    assert mixture(each, y, first.to(torch.float64), loss).shares[0] > 0.95


def test_losses_far_above_one_choose_the_same_shares():
    """The first steps are then so long that all shares but one vanish."""
    y, noise = rows()
    each = torch.stack([y + 0.2 * noise[0], y + 0.5 * noise[1], y + 3 * noise[2]])
    wanted = mixture(each, y, None, task_loss("mse", y)).shares
    for times in (1e-1, 1e-2, 1e-4):
        assert mixture(each, y, None, task_loss("mse", times * y)).shares == pytest.approx(wanted, abs=0.05)


@pytest.mark.parametrize("kind", ["bce", "ce"])
def test_log_loss_and_classes(kind):
    rng = np.random.default_rng(0)
    logit = torch.as_tensor(rng.normal(size=(3000, 1 if kind == "bce" else 3))) * 2
    if kind == "bce":
        y = (torch.as_tensor(rng.random((3000, 1))) < torch.sigmoid(logit)).to(torch.float64)
    else:
        drawn = torch.multinomial(torch.softmax(logit, dim=1), 1)[:, 0]
        y = torch.nn.functional.one_hot(drawn, 3).to(torch.float64)
    each = torch.stack([logit, torch.as_tensor(rng.normal(size=logit.shape))])
    assert mixture(each, y, None, task_loss(kind, y)).shares[0] > 0.9
