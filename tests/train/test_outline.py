"""The rows that show how far outputs go: all of few, and of many those at even ranks of every target."""

import torch

from smilenn.train import phases
from smilenn.train.config import Config
from smilenn.train.losses import task_loss


def training(x, y):
    return phases.Training(x, y, None, task_loss("mse", y), None, (), Config(), 0)


def test_few_rows_are_all_taken():
    x = torch.rand(50, 2, dtype=torch.float64)
    assert training(x, x[:, :1]).outline() is x


def test_of_many_rows_every_extreme_is_among_them(monkeypatch):
    monkeypatch.setattr(phases, "OUTLINE", 100)
    torch.manual_seed(0)
    y = torch.randn(5000, 2, dtype=torch.float64) ** 3
    x = torch.arange(5000, dtype=torch.float64)[:, None]
    found = training(x, y).outline()[:, 0].long()
    assert len(found) <= 100 and len(found) == len(found.unique()) > 80
    for t in range(2):
        assert int(y[:, t].argmax()) in found and int(y[:, t].argmin()) in found
        ranks = y[:, t].argsort().argsort()[found].sort()[0]
        assert int(ranks.diff().max()) <= 5000 // 49 + 1
