"""Members trained as one program are the members themselves: outputs, steps, signs and losses agree one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from smilenn.domain import Domain
from smilenn.model.encoders import Ramps
from smilenn.model.encoders.monotone import Kind, monotone_encoder
from smilenn.train import ensemble as ensemble_module
from smilenn.train.config import Config
from smilenn.train.encoded import members_loss
from smilenn.train.ensemble import Ensemble
from smilenn.train.losses import task_loss
from smilenn.train.phases import Training

KINDS = [Kind("deep", 5, (6, 4)), Kind("sharp", 5, (3,), 10.0, 0.5), Kind("fine", 8, (2,))]


def made(increasing=("x0",), groups=3):
    torch.manual_seed(0)
    domain = Domain.box([0.0] * 3, [1.0] * 3)
    u = np.random.default_rng(0).uniform(size=(50, 3))
    encoder = monotone_encoder(domain, u, increasing=list(increasing), kinds=KINDS, members=groups)
    return encoder, torch.as_tensor(u)


def test_outputs_are_those_of_the_branches():
    encoder, u = made()
    wanted = torch.cat([branch(u) for branch in encoder.branches], dim=1)
    assert torch.allclose(Ensemble(encoder, learns=False).outputs(u), wanted, rtol=1e-12, atol=1e-14)
    assert torch.allclose(Ensemble(encoder).outputs(u), wanted, rtol=1e-5, atol=1e-6)
    rows = torch.arange(48)
    each = Ensemble(encoder, learns=False).each(u[:48], rows)  # 16 rows for each of three groups
    assert each.shape == (3, 3, 16, 1)
    for k in range(3):
        for g in range(3):
            own = wanted[16 * g : 16 * (g + 1), 3 * k + g]
            assert torch.allclose(each[k, g, :, 0], own, rtol=1e-12, atol=1e-14)


def test_a_kind_that_rests_is_neither_computed_nor_moved():
    encoder, u = made()
    ensemble = Ensemble(encoder)
    wanted, before = ensemble.outputs(u), [w.detach().clone() for w in ensemble.stacks[1].weights]
    ensemble.resting = frozenset({1})
    assert ensemble.awake == [0, 2] and ensemble.kinds_awake == [0, 2]
    assert torch.equal(ensemble.outputs(u), wanted[:, [0, 1, 2, 6, 7, 8]])
    assert [part.shape[1] for part in ensemble.split(wanted[:, :6])] == [3, 3]
    with torch.no_grad():
        for stack in ensemble.stacks:
            for weight in stack.weights:
                weight.sub_(1.0)
    ensemble.settle_([0.1] * 3, 1.0)
    assert all(torch.equal(w, b - 1.0) for w, b in zip(ensemble.stacks[1].weights, before, strict=True))
    kept = [p.detach().clone() for branch in encoder.branches[3:6] for p in branch.parameters()]
    ensemble.write_()
    after = [p for branch in encoder.branches[3:6] for p in branch.parameters()]
    assert all(torch.equal(p, q) for p, q in zip(after, kept, strict=True))


def test_ramps_are_shared_by_kinds_that_have_the_same():
    encoder, _ = made()
    assert Ensemble(encoder, learns=False).same == [0, 0, 2]


def test_ramps_kept_for_the_training_rows_are_those_computed(monkeypatch):
    encoder, u = made()
    ensemble, rows = Ensemble(encoder), torch.tensor([7, 3, 3, 40])
    wanted = ensemble.outputs(u[rows])
    monkeypatch.setattr(ensemble_module, "MOST", 10)
    ensemble.keep(u)
    assert ensemble.kept is None and torch.equal(ensemble.outputs(u[rows], rows), wanted)
    monkeypatch.undo()
    ensemble.keep(u)
    assert ensemble.kept is not None and sorted(ensemble.kept) == [0, 2]
    monkeypatch.setattr(Ramps, "forward", None)  # not asked any more
    assert torch.equal(ensemble.outputs(u[rows], rows), wanted)


def test_a_step_moves_the_branches_and_their_signs_are_restored():
    encoder, u = made()
    ensemble = Ensemble(encoder)
    optimizer = torch.optim.Adam(ensemble.parameter_groups(), lr=0.5)
    before = [p.detach().clone() for p in encoder.parameters()]
    (ensemble.outputs(u) - 3.0).square().mean().backward()
    optimizer.step()
    ensemble.settle_([0.0] * 3, 1.0)
    assert all(torch.equal(p, q) for p, q in zip(encoder.parameters(), before, strict=True))
    ensemble.write_()
    assert all(not torch.equal(p, q) for p, q in zip(encoder.parameters(), before, strict=True))
    wanted = torch.cat([branch(u) for branch in encoder.branches], dim=1)
    assert torch.allclose(ensemble.outputs(u), wanted, rtol=1e-5, atol=1e-5)
    weights = [p.detach().clone() for p in encoder.parameters()]
    encoder.project_()
    assert all(torch.equal(p, q) for p, q in zip(encoder.parameters(), weights, strict=True))


def test_weights_decay_by_their_own_share_and_biases_do_not():
    encoder, _ = made(increasing=())
    ensemble = Ensemble(encoder)
    before = [
        (w.detach().clone(), b.detach().clone())
        for s in ensemble.stacks
        for w, b in zip(s.weights, s.biases, strict=True)
    ]
    ensemble.settle_([0.1, 0.2, 0.3], 0.5)
    rates = [0.1 * 1.0] * 3 + [0.2 * 0.5] * 2 + [0.3 * 1.0] * 2
    after = [(w, b) for s in ensemble.stacks for w, b in zip(s.weights, s.biases, strict=True)]
    for (w, b), (w0, b0), rate in zip(after, before, rates, strict=True):
        assert torch.allclose(w, w0 * (1 - 0.5 * rate), rtol=1e-6) and torch.equal(b, b0)


def test_what_is_written_is_read_to_the_bit():
    encoder, u = made()
    ensemble = Ensemble(encoder)
    ensemble.write_()
    again, wanted = Ensemble(encoder), ensemble.outputs(u)
    assert torch.equal(again.outputs(u), wanted)
    with torch.no_grad():
        ensemble.stacks[0].weights[0].zero_()
    assert not torch.equal(ensemble.outputs(u), wanted)  # the branches have memory of their own
    ensemble.read_()
    assert torch.equal(ensemble.outputs(u), wanted)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_the_loss_of_all_members_is_the_mean_of_their_losses(weighted, kept):
    torch.manual_seed(0)
    each, y = torch.randn(6, 20, 2, dtype=torch.float64), torch.randn(40, 2, dtype=torch.float64)
    weight = torch.rand(40, dtype=torch.float64) if weighted else None
    held = torch.rand(40, 3) < 0.3 if kept else None
    index = torch.randperm(40)[:20]
    task = Training(y, y, weight, task_loss("mse", y, weight), None, (), Config(), 0, held)
    own = None if weight is None else weight[index]
    found = members_loss(task, each, y[index], own, held, index)
    losses = []
    for k in range(6):
        rows = torch.ones(20, dtype=torch.float64) if own is None else own
        if held is not None:
            rows = rows * (~held[index, k % 3]).to(torch.float64)
        losses.append(task.loss(each[k], y[index], rows))
    assert float(found) == pytest.approx(float(torch.stack(losses).mean()), rel=1e-12)
