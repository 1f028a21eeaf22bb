"""The contract of layers: every layer of the package keeps it, and broken ones are caught."""

import numpy as np
import pytest
import torch

from smilenn.model.backbones import MLP
from smilenn.model.encoders import Distance, Kinks, Linear, Pinned, Pool, Ramps
from smilenn.model.encoders.layers import Layer
from smilenn.model.spread import Spread
from smilenn.testing import LayerContract


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
