"""The contracts of layers and encoders: those of the package keep them, and broken ones are caught."""

import numpy as np
import pytest
import torch

from smilenn import Domain, Fair, Monotone, Robust
from smilenn.model.backbones import MLP
from smilenn.model.encoders import Branch, Distance, Encoder, Kinks, Linear, Pinned, Pool, Ramps
from smilenn.model.encoders.layers import Layer
from smilenn.model.encoders.monotone import monotone_encoder
from smilenn.model.spread import Spread
from smilenn.testing import EncoderContract, LayerContract


class TestRamps(LayerContract):
    inputs = 2

    def layer(self):
        return Ramps([0, 0, 1], np.array([-1.0, 0.0, 0.5]), np.array([1.0, 3.0, 0.7]))


class TestLinear(LayerContract):
    inputs = 3

    def layer(self):
        torch.manual_seed(0)
        return Linear(3, 5, signs=np.array([[1, 0, 1]] * 5))


class TestKinks(LayerContract):
    inputs = 4

    def layer(self):
        return Kinks(4, 2)


class TestPool(LayerContract):
    inputs = 16

    def layer(self):
        return Pool(4, 2)


class TestDistance(LayerContract):
    inputs = 3

    def layer(self):
        torch.manual_seed(0)
        return Distance(3, 4)


class TestPinned(LayerContract):
    inputs = 2

    def layer(self):
        torch.manual_seed(0)
        return Pinned(MLP(2, (3,), 2).double(), 2)


DOMAIN = Domain.box([0, 0, -1], [10, 5, 1], names=["income", "debt", "age"])


class TestMonotoneEncoder(EncoderContract):
    properties = (Monotone(increasing=["income"], decreasing=["debt"]), Fair(["age"], 0.5), Robust("10%", 1.0))

    def encoder(self):
        torch.manual_seed(0)
        u = DOMAIN.scale(DOMAIN.sample(200, np.random.default_rng(0)))
        made = monotone_encoder(
            DOMAIN, u, increasing=["income"], decreasing=["debt"], without=["age"], ramps=4, units=(6, 4)
        )
        made.fit_box_(torch.tensor(u))
        return made


class TestMixedEncoder(EncoderContract):
    """A pinned module, distances, and a feature that is passed on."""

    properties = (Robust({"debt": 0.5}, 1.0), Fair(["age"], 0.5))

    def encoder(self):
        torch.manual_seed(0)
        pinned = Branch("free", [0], [Pinned(MLP(1, (3,), 2).double(), 2)])
        made = Encoder(DOMAIN, [pinned, Branch("near", [1, 2], [Distance(2, 3)]), Branch("", [2])])
        made.fit_box_(torch.tensor(DOMAIN.scale(DOMAIN.sample(200, np.random.default_rng(0)))), 0.1)
        return made


class Steeper(Layer):
    """Says that differences double; they triple."""

    outputs = 2

    def forward(self, y):
        return 3 * y

    def propagate(self, spread):
        return Spread(3 * spread.lo, 3 * spread.hi, 2 * spread.low, 2 * spread.high, spread.rises, spread.falls)

    def describe(self):
        return {"kind": "steeper"}


class Falling(Steeper):
    """Says that it keeps order; it turns it."""

    def forward(self, y):
        return -y

    def propagate(self, spread):
        return Spread(-spread.hi, -spread.lo, -spread.high, -spread.low, spread.rises, spread.falls)


class Centred(Steeper):
    """Depends on the batch."""

    def forward(self, y):
        return y - y.mean(dim=0)


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Steeper, "test_values_and_differences_lie_where_it_says"),
        (Falling, "test_order_is_kept_bit_for_bit"),
        (Centred, "test_a_row_has_the_same_bits_in_any_batch"),
    ],
)
def test_a_broken_layer_is_caught(broken, check):
    class Contract(LayerContract):
        inputs = 2

        def layer(self):
            return broken()

    with pytest.raises(AssertionError):
        getattr(Contract(), check)()


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Steeper, "test_values_and_differences_lie_where_it_says"),
        (Steeper, "test_premises_are_carried_over"),
        (Falling, "test_order_is_kept_bit_for_bit"),
        (Centred, "test_a_row_has_the_same_bits_in_any_batch"),
    ],
)
def test_a_broken_encoder_is_caught(broken, check):
    class Contract(EncoderContract):
        properties = (Monotone(increasing=["income"]), Robust("10%", 1.0))

        def encoder(self):
            return Encoder(DOMAIN, [Branch("odd", [0, 1], [broken()])])

    with pytest.raises(AssertionError):
        getattr(Contract(), check)()
