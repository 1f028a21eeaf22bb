"""The contract of encoder layers, as a test class that a third party subclasses.

A layer says by `propagate` what is left of the difference between two inputs; provers and users rely on it. The checker
does not: it knows the layers of this package only and refuses certificates with others. So a layer of one's own gives
float proofs by `smilenn.prove`, and a certificate only inside `Pinned`.

    class TestMyLayer(LayerContract):
        inputs = 3

        def layer(self):
            return MyLayer()

Every test draws pairs of inputs of a random box, compares the deployed function (`ordered`) at both, and asks that

    values lie in [lo, hi], differences in [low, high]       what `rises` does not fall, bit for bit, and vice versa
    a row has the same bits in any batch, equal rows too     the description is JSON and training mode changes nothing
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod

import numpy as np
import torch

from smilenn.model.encoders import Layer
from smilenn.model.spread import Spread

ROWS, DRAWS = 64, 20


class LayerContract(ABC):
    """Subclass it in a test module, set `inputs` and return a layer with weights as after training."""

    inputs: int = 1
    tolerance = 1e-9  # for ranges, which are computed in floats; order and equality are exact

    @abstractmethod
    def layer(self) -> Layer:
        """A fresh layer from [B, inputs] to [B, outputs], float64."""

    def _drawn(self, seed: int) -> tuple[Layer, Spread, torch.Tensor, torch.Tensor]:
        """The layer, a random spread of its inputs, and pairs [ROWS, inputs] that belong to it."""
        rng = np.random.default_rng(seed)
        layer = self.layer().eval()
        lo = rng.normal(size=self.inputs)
        hi = lo + rng.uniform(0.1, 2.0, size=self.inputs)
        kind = rng.integers(0, 4, size=self.inputs)  # equal, rising, falling, within a strip
        width = (hi - lo) * rng.uniform(0.05, 1.0, size=self.inputs)
        low = np.where(kind == 0, 0.0, np.where(kind == 1, 0.0, -width))
        high = np.where(kind == 0, 0.0, np.where(kind == 2, 0.0, width))
        second = rng.uniform(lo, hi, size=(ROWS, self.inputs))
        first = np.clip(second + rng.uniform(low, high, size=second.shape), lo, hi)
        first = np.where(kind == 0, second, first)
        spread = Spread(lo, hi, low, high, (kind == 0) | (kind == 1), (kind == 0) | (kind == 2))
        return layer, spread, torch.tensor(first), torch.tensor(second)

    def test_values_and_differences_lie_where_it_says(self) -> None:
        """Ranges and ranges of differences, up to float rounding."""
        for seed in range(DRAWS):
            layer, spread, first, second = self._drawn(seed)
            said = layer.propagate(spread)
            one, two = (layer.ordered(y).detach().numpy() for y in (first, second))
            room = self.tolerance * (1 + np.abs(one).max())
            assert (one >= said.lo - room).all() and (one <= said.hi + room).all()
            assert (one - two >= said.low - room).all() and (one - two <= said.high + room).all()

    def test_order_is_kept_bit_for_bit(self) -> None:
        """What rises never falls, what falls never rises, what is the same is equal."""
        for seed in range(DRAWS):
            layer, spread, first, second = self._drawn(seed)
            said = layer.propagate(spread)
            one, two = (layer.ordered(y).detach().numpy() for y in (first, second))
            assert (one >= two)[:, said.rises].all() and (one <= two)[:, said.falls].all()

    def test_a_row_has_the_same_bits_in_any_batch(self) -> None:
        """Alone, among others, and after another call."""
        layer, _, first, _ = self._drawn(0)
        together = layer.ordered(first)
        alone = torch.cat([layer.ordered(row[None]) for row in first])
        assert together.shape == (ROWS, layer.outputs) and together.dtype == torch.float64
        assert torch.equal(together, alone) and torch.equal(together, layer.ordered(first))

    def test_its_description_is_json(self) -> None:
        """A kind, and numbers or texts."""
        description = self.layer().describe()
        assert json.loads(json.dumps(description)) == description and "kind" in description
