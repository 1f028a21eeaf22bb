"""Nets of a mean on patches learn side by side, and learn what they learn one after the other."""

import threading

import numpy as np
import pytest
import torch

from smilenn import Network, Robust, SmileClassifier
from smilenn.model.encoders.patches import patch_norm
from smilenn.model.encoders.powers import power_near
from smilenn.train.apart import apart
from smilenn.train.config import Config


def test_parts_have_threads_of_their_own(two_threads):
    meeting = threading.Barrier(2, timeout=20)

    def part(value):
        meeting.wait()  # one thread for both would wait here for ever
        assert torch.get_num_threads() == 1
        return torch.tensor(value)

    with apart(2) as every:
        assert [int(v) for v in every([lambda: part(3), lambda: part(4)])] == [3, 4]
    assert torch.get_num_threads() == 2


def test_torch_gets_its_threads_back_where_a_part_fails(two_threads):
    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), apart(2) as every:
        every([lambda: torch.zeros(()), fails])
    assert torch.get_num_threads() == 2


def fitted(threads, classes=3, share=0.0):
    rng = np.random.default_rng(0)
    pixels = 16 if classes > 2 else 17**2  # two classes of fewer pixels have one net
    x, y = rng.random((120, pixels)), rng.integers(classes, size=120)
    x[y == 1, :8] *= 0.3
    x[y == 2, 8:] *= 0.3
    config = Config(patience=None, epochs=3, batch_size=32, train_learning_rate=0.02, margin=0.6)
    network = Network(encoder="image", backbone_share=share)
    model = SmileClassifier(properties=[Robust(0.1)], network=network, config=config, random_state=0, certify_limit=0)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return model.fit(x, y)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("classes", "share"), [(3, 0.0), (2, 0.0), (2, 0.5), (3, 0.5)])
def test_one_thread_and_two_learn_the_same_bits(classes, share):
    models = [fitted(threads, classes, share) for threads in (1, 2)]
    assert all(len(model.net_.encoder.learned) == 2 for model in models)
    one, two = (model.net_.state_dict() for model in models)
    assert all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("p", [8.0, 34.0, 130.0])
def test_norms_and_slopes_are_those_of_the_formula(p):
    torch.manual_seed(0)
    y, weight = torch.rand(5, 12, dtype=torch.float64), torch.randn(2, 6, 3, dtype=torch.float64, requires_grad=True)
    y.requires_grad_()
    patches, power = torch.tensor([[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]), power_near(p)
    out = patch_norm(y, weight, patches, power)
    grad = torch.randn_like(out) * (torch.rand_like(out) < 0.7)
    grad[2] = 0
    found = torch.autograd.grad(out, (y, weight), grad)
    d = (y[:, patches][:, :, None] - weight.transpose(1, 2)).abs()
    plain = (d**power.p).sum(dim=3).pow(1 / power.p).flatten(1)
    wanted = torch.autograd.grad(plain, (y, weight), grad)
    assert torch.allclose(out, plain, rtol=1e-12)
    for one, other in zip(found, wanted, strict=True):
        assert torch.allclose(one, other, rtol=1e-9, atol=1e-12)


def test_outputs_are_as_steep_as_the_claim_allows():
    """Layers that bound every change leave room for rounding alone, and repair does not shrink what they return."""
    model = fitted(1)
    assert model.verdict_.status == "proved"
    assert not any(record["phase"] == "repair" for record in model.history_)
