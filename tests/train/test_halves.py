"""Contractions learn from two halves of a batch what they learn from the whole, with one thread and with two."""

import numpy as np
import pytest
import torch

from smilenn import Network, Robust, SmileClassifier
from smilenn.model.encoders import Contract
from smilenn.model.encoders.contract import _sums
from smilenn.train import halves
from smilenn.train.config import Config
from smilenn.train.contractions import contractions


def test_sums_and_their_slopes_are_those_of_the_formula():
    torch.manual_seed(0)
    weight = torch.randn(7, 5, dtype=torch.float64, requires_grad=True)
    balance = (0.5 + torch.rand(5, dtype=torch.float64)).requires_grad_()
    plain = ((weight.T @ weight).abs() @ balance) / balance
    grad = torch.randn(5, dtype=torch.float64)
    found = torch.autograd.grad(_sums(weight, balance), (weight, balance), grad)
    wanted = torch.autograd.grad(plain, (weight, balance), grad)
    assert torch.equal(_sums(weight, balance), plain)
    for one, other in zip(found, wanted, strict=True):
        assert torch.allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_halves_set_the_gradients_of_the_whole(rows):
    torch.manual_seed(1)
    layers = [Contract(6, 4) for _ in range(3)]
    for layer in layers:
        layer.loosen_(torch.float32)
    idle = torch.zeros(3, requires_grad=True)
    parameters = [*(p for layer in layers for p in layer.parameters()), idle]
    x = torch.randn(rows, 6)

    def loss(part):
        y = x[part]
        for layer in layers:
            y = layer(y)
        return y.square().sum() / rows

    wanted_loss = loss(slice(None))
    wanted = torch.autograd.grad(wanted_loss, parameters[:-1])
    found = halves.halved_backward(parameters, layers, rows, loss, lambda parts: [part() for part in parts])
    assert torch.allclose(found, wanted_loss, rtol=1e-5)
    assert idle.grad is None and all(layer.held is None for layer in layers)
    for parameter, slope in zip(parameters, wanted, strict=False):
        assert torch.allclose(parameter.grad, slope, rtol=1e-4, atol=1e-6)


def test_gains_are_let_go_where_a_half_fails():
    layers = [Contract(3, 2)]
    layers[0].loosen_(torch.float32)

    def fails(part):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        halves.halved_backward([], layers, 4, fails, lambda parts: [part() for part in parts])
    assert layers[0].held is None


class CutOff(Exception):
    """Ends a run after its second epoch."""


def cut(progress):
    if progress.step == 2:
        raise CutOff


def fitted(threads, epochs=3, norm=2, certify=0, **given):
    rng = np.random.default_rng(0)
    x, y = rng.random((120, 9)), rng.integers(3, size=120)
    x[y == 1, :4] *= 0.3
    x[y == 2, 4:] *= 0.3
    config = Config(
        patience=None, epochs=epochs, batch_size=32, train_learning_rate=0.003, margin=0.4, augment="affine"
    )
    model = SmileClassifier(
        properties=[Robust(0.1, norm=norm)],
        network=Network(encoder="image"),
        config=config,
        random_state=0,
        certify_limit=certify,
    )
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return model.fit(x, y, **given)
    finally:
        torch.set_num_threads(before)


def test_one_thread_and_two_learn_the_same_bits(monkeypatch):
    monkeypatch.setattr(halves, "LEAST", 1)  # small products, halved all the same
    calls = []
    real = halves.halved_backward
    monkeypatch.setattr("smilenn.train.contractions.halved_backward", lambda *given: calls.append(1) or real(*given))
    models = [fitted(threads) for threads in (1, 2)]
    assert len(calls) == 2 * 3 * 4
    one, two = (model.net_.state_dict() for model in models)
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert all(layer.weight.dtype == torch.float64 for layer in contractions(models[0].net_))


def test_small_networks_are_not_halved(monkeypatch):
    monkeypatch.setattr("smilenn.train.contractions.halved_backward", lambda *given: pytest.fail("halved"))
    fitted(1, epochs=1)


@pytest.mark.parametrize("norm", [2, "inf"])
def test_training_that_is_cut_off_continues_bit_for_bit(norm, monkeypatch, tmp_path):
    """Halved contractions, and nets on patches: both learn in float32, and are float64 at the end."""
    monkeypatch.setattr(halves, "LEAST", 1)
    whole = fitted(1, norm=norm).net_.state_dict()
    with pytest.raises(CutOff):
        fitted(1, norm=norm, checkpoint=tmp_path / "run", callback=cut)
    for _ in range(2):  # from the second epoch on, and from a checkpoint of the last
        again = fitted(1, norm=norm, checkpoint=tmp_path / "run").net_.state_dict()
        assert whole.keys() == again.keys()
        assert all(torch.equal(whole[name], again[name]) for name in whole)
    assert all(value.dtype != torch.float32 for value in whole.values())


def test_what_halves_have_taught_is_certified(monkeypatch):
    monkeypatch.setattr(halves, "LEAST", 1)
    model = fitted(1, epochs=1, certify=30)
    assert model.verdict_.certificate and (model.certified_radius(np.full((1, 9), 0.5), norm=2) >= 0).all()
