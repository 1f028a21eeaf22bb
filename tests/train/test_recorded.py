"""Steps recorded on a GPU compute what the same steps compute one kernel at a time."""

from functools import partial

import numpy as np
import pytest
import torch

from smilenn.domain import Domain
from smilenn.experiments import ten_classes
from smilenn.experiments.study import Options
from smilenn.model.encoders import Distance
from smilenn.model.encoders.beside import beside
from smilenn.model.encoders.powers import power_near
from smilenn.model.encoders.robust import robust_encoder
from smilenn.train.adam import Adam, adam_step, forget_gradients, fused, set_rate
from smilenn.train.augment import GENTLE, augmented, changed, drawn_for
from smilenn.train.averaged import averaged
from smilenn.train.distances import _class_loss
from smilenn.train.recorded import Recorded

SIDE, CLASSES, ROWS = 6, 3, 32


class Unrecorded(Recorded):
    """The same steps, never recorded."""

    def __call__(self, kind, given):
        return self._step(given)


def trained(make, p, steps=6):
    """Losses and weights after a few steps of two nets for three classes on a GPU."""
    torch.manual_seed(0)
    domain = Domain.box([0.0] * SIDE**2, [1.0] * SIDE**2)
    encoder = robust_encoder(domain, np.full(SIDE**2, 0.3), units=(20, 20), outputs=CLASSES, nets=2)
    slopes = -np.tile(np.eye(CLASSES), 2) / 2
    net = averaged(domain, encoder, 1.0, 0.0, outputs=("a", "b", "c"), slopes=slopes, sizes=(), width=0.0)
    net.to("cuda").train()
    for branch in encoder.learned:
        for layer in branch.layers:
            layer.p = p
    optimizer = Adam([one for one in net.parameters() if one.requires_grad], lr=0.01, fused=fused(net))
    step, losses = make(optimizer, partial(_class_loss, net, 0.7)), []
    for number in range(steps):
        g = torch.Generator().manual_seed(number)
        u = torch.rand(ROWS, SIDE**2, generator=g).cuda()
        y = torch.nn.functional.one_hot(torch.randint(CLASSES, (ROWS,), generator=g), CLASSES).double().cuda()
        set_rate(optimizer.param_groups[0], 0.01 / (1 + number))
        losses.append(step(power_near(p), (u, y, None, *(torch.full((), c).cuda() for c in (2.0 - number / 9, 0.01)))))
    return torch.stack(losses).cpu(), [one.detach().cpu() for one in net.parameters()]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("p", [8.0, 258.0])
def test_recorded_steps_are_those_taken_one_by_one(p):
    losses, weights = trained(Recorded, p)
    wanted, known = trained(Unrecorded, p)
    assert torch.equal(losses, wanted) and all(map(torch.equal, weights, known))
    assert len(set(losses.tolist())) == len(losses)  # every step saw its own rows and rate


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_distances_learn_in_float32_and_are_deployed_in_float64(tmp_path):
    options = Options(True, device="cuda")
    (x, y), _ = ten_classes.images(True, options)
    made = []
    for _ in range(2):  # the second goes on from a finished checkpoint, whose weights must not be rounded
        fresh = ten_classes.fresh("ten-distances", 0.1, 0, True, "cuda")
        fresh.config = fresh.config.replace(epochs=2)
        made.append(fresh.fit(x[:320], y[:320], checkpoint=tmp_path / "state").net_)
    types = {one.dtype for one in made[0].parameters()} | {one.dtype for one in made[0].buffers()}
    assert torch.float32 not in types
    first, again = (one.state_dict() for one in made)
    assert first.keys() == again.keys() and all(torch.equal(first[name].cpu(), again[name].cpu()) for name in first)
    layers = [one for one in made[0].encoder.modules() if isinstance(one, Distance)]
    assert any(not torch.equal(one.bias, one.bias.float().double()) for one in layers)  # means of float64 rows


def test_changes_of_an_epoch_are_those_of_its_batches_one_by_one():
    x = torch.rand(10, SIDE**2, generator=torch.Generator().manual_seed(0))
    batches = [torch.arange(10)[:7], torch.arange(10)[7:]]
    at_once = drawn_for(batches, np.random.default_rng(3), GENTLE)
    rng = np.random.default_rng(3)
    for batch, by in zip(batches, at_once, strict=True):
        assert torch.equal(changed(x[batch], by), augmented(x[batch], rng, GENTLE))


def test_branches_beside_each_other_are_those_one_after_the_other():
    u = torch.arange(6.0).reshape(2, 3)
    assert [one.tolist() for one in beside([torch.neg, torch.exp], u)] == [(-u).tolist(), u.exp().tolist()]


def test_a_rate_in_a_tensor_stays_in_its_place_and_moves_as_far():
    moved = []
    for rate in (0.5, torch.tensor(0.5)):
        w = torch.nn.Parameter(torch.ones(3))
        optimizer = Adam([w], lr=0.1, fused=True)
        group = optimizer.param_groups[0]
        group["lr"] = rate
        for share in (1.0, 0.25):
            set_rate(group, share)
            forget_gradients(optimizer)
            (w**2).sum().backward()
            adam_step(optimizer)
        assert group["lr"] is rate or not isinstance(rate, torch.Tensor)
        moved.append(w.detach().clone())
    assert torch.equal(*moved) and not torch.equal(moved[0], torch.ones(3))
