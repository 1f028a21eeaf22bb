"""The contracts of encoder layers and of whole encoders.

A layer says by `propagate` what is left of the difference between two inputs; provers and users rely on it. The checker
does not: it knows the layers of this package only and refuses certificates with others. So your own layer gives
float proofs by `smilenn.prove`, and a certificate only inside `Pinned`.

    class TestMyLayer(LayerContract):
        inputs = 3

        def layer(self):
            return MyLayer()

Every test draws pairs of inputs of a random box, compares the deployed function (`ordered`) at both, and asks that

    values lie in [lo, hi], differences in [low, high]       what `rises` does not fall, bit for bit, and vice versa
    a row has the same bits in any batch, equal rows too     the description is JSON and training mode changes nothing

An encoder e = E(u) is asked the same of its whole, and that it carries the premises of the properties it is made for:
pairs of inputs that a property compares, Q(x', x''), are encoded to pairs of which the claim on e-space speaks,
Q̃(E(x'), E(x'')), equal coordinates bit for bit.

    class TestMyEncoder(EncoderContract):
        properties = (Monotone(increasing=["income"]),)

        def encoder(self):
            return Encoder(domain, [Branch("mine", [0], [MyLayer()])])
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.model.encoders import Encoder, Layer
from smilenn.model.spread import Spread
from smilenn.problem.region import Region
from smilenn.problem.transfer import transfer
from smilenn.properties.base import Property
from smilenn.properties.claim import Inequality
from smilenn.properties.premise import ground

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
        lo = rng.normal(size=self.inputs)
        return self.layer().eval(), *_pairs(rng, lo, lo + rng.uniform(0.1, 2.0, size=self.inputs))

    def test_values_and_differences_lie_where_it_says(self) -> None:
        """Ranges and ranges of differences, up to float rounding."""
        for seed in range(DRAWS):
            layer, spread, first, second = self._drawn(seed)
            one, two = (layer.ordered(y).detach().numpy() for y in (first, second))
            _assert_ranges(layer.propagate(spread), one, two, self.tolerance)

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


class EncoderContract(ABC):
    """Subclass it in a test module, name the properties the encoder is made for, and return it as after training."""

    properties: Sequence[Property] = ()
    tolerance = 1e-9

    @abstractmethod
    def encoder(self) -> Encoder:
        """A fresh encoder over a domain, float64, its box set (`fit_box_`)."""

    def _drawn(self, seed: int) -> tuple[Encoder, Spread, torch.Tensor, torch.Tensor]:
        """The encoder, a random spread of u, and pairs [ROWS, m] that belong to it."""
        encoder, rng = self.encoder().eval(), np.random.default_rng(seed)
        lo, hi = (encoder.domain.scale(end) for end in (encoder.domain.lo, encoder.domain.hi))
        return encoder, *_pairs(rng, lo, hi)

    def test_values_and_differences_lie_where_it_says(self) -> None:
        """Ranges and ranges of differences of e, up to float rounding; the box is kept."""
        for seed in range(DRAWS):
            encoder, spread, first, second = self._drawn(seed)
            one, two = (encoder(u).detach().numpy() for u in (first, second))
            _assert_ranges(encoder.propagate(spread), one, two, self.tolerance)
            lo, hi = (end.numpy()[encoder.encoded] for end in (encoder.lo, encoder.hi))
            assert (one[:, encoder.encoded] >= lo).all() and (one[:, encoder.encoded] <= hi).all()

    def test_order_is_kept_bit_for_bit(self) -> None:
        """What rises never falls, what falls never rises, what is the same is equal."""
        for seed in range(DRAWS):
            encoder, spread, first, second = self._drawn(seed)
            said = encoder.propagate(spread)
            one, two = (encoder(u).detach().numpy() for u in (first, second))
            assert (one >= two)[:, said.rises].all() and (one <= two)[:, said.falls].all()

    def test_a_row_has_the_same_bits_in_any_batch(self) -> None:
        """Alone, among others, turned round, and after another call."""
        encoder, _, first, _ = self._drawn(0)
        together = encoder(first)
        alone = torch.cat([encoder(row[None]) for row in first])
        assert together.shape == (ROWS, encoder.size) and together.dtype == torch.float64
        assert torch.equal(together, alone) and torch.equal(together, encoder(first.flip(0)).flip(0))

    def test_premises_are_carried_over(self) -> None:
        """Pairs that a property compares are pairs of which its claim on e-space speaks."""
        encoder = self.encoder().eval()
        encoding, space = encoder.freeze(), encoder.space
        for claim in (claim for p in self.properties for claim in p.lower(encoder.domain) if claim.copies == 2):
            premise = ground(claim, encoder.domain)
            carried, region = transfer(claim, premise, encoding, space), Region.of(premise)
            rng = np.random.default_rng(0)
            second = rng.uniform(region.lo[1], region.hi[1], size=(ROWS * DRAWS, encoder.domain.size))
            step = rng.uniform(region.delta_lo, region.delta_hi, size=second.shape)
            first = np.where(region.pinned, second, np.clip(second + step, region.lo[0], region.hi[0]))
            one, two = (encoder(torch.tensor(u)).detach().numpy() for u in (first, second))
            for name in carried.equal or ():
                assert (one == two)[:, space.indices(name)].all(), f"{name} differs where {claim.formula()} pins"
            room = self.tolerance * (1 + np.abs(one).max())
            for row in carried.when:
                if all(encoder.encoded[i] for term in row.terms for i in space.indices(term.name)):
                    left = _left(row, space, one, two)
                    assert (left <= float(row.rhs) + room).all(), f"{row.text()} fails under {claim.formula()}"

    def test_its_description_is_json(self) -> None:
        """Branches of kinds, and numbers or texts."""
        description = self.encoder().describe()
        assert json.loads(json.dumps(description)) == description


def _left(row: Inequality, space: Domain, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The left side [n] of a row at pairs of encoded inputs, [n, p] each."""
    amounts = [float(term.coef) * (one, two)[term.copy][:, space.indices(term.name)[0]] for term in row.terms]
    return np.asarray(sum(amounts))


def _pairs(rng: np.random.Generator, lo: np.ndarray, hi: np.ndarray) -> tuple[Spread, torch.Tensor, torch.Tensor]:
    """A random spread of coordinates in [lo, hi], each equal, rising, falling or within a strip, and pairs [ROWS, i]
    that belong to it.
    """
    size = len(lo)
    kind = rng.integers(0, 4, size=size)
    width = (hi - lo) * rng.uniform(0.05, 1.0, size=size)
    low = np.where(kind == 0, 0.0, np.where(kind == 1, 0.0, -width))
    high = np.where(kind == 0, 0.0, np.where(kind == 2, 0.0, width))
    second = rng.uniform(lo, hi, size=(ROWS, size))
    first = np.clip(second + rng.uniform(low, high, size=second.shape), lo, hi)
    first = np.where(kind == 0, second, first)
    spread = Spread(lo, hi, low, high, (kind == 0) | (kind == 1), (kind == 0) | (kind == 2))
    return spread, torch.tensor(first), torch.tensor(second)


def _assert_ranges(said: Spread, one: np.ndarray, two: np.ndarray, tolerance: float) -> None:
    room = tolerance * (1 + np.abs(one).max())
    assert (one >= said.lo - room).all() and (one <= said.hi + room).all()
    assert (one - two >= said.low - room).all() and (one - two <= said.high + room).all()
