"""The work of a check, docs/audit-certificate.md, section 6: a unit takes about as long wherever it is counted.

    layer of ranges      1024 + n_l·(1024 + 8·d·n_{l−1})
    layer of *back*      1024 + n_l·(64 + 2·d·n_{l−1}) + 2048·(units whose slopes are chosen or stored)
    end of *back*        256·n_0
    inputs of a cell     4096·n_0·(1 + steps of the scaling)·c

d grows with the digits of the weights, c with those of bounds and constants. For the reference checker only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from smilenn.certify.reference.deep_files import Network
from smilenn.certify.reference.strict import need

MOST_WORK = 1 << 37
CHOSEN, END = 2048, 256


class Budget:
    """Work done so far."""

    def __init__(self) -> None:
        self.spent = 0

    def spend(self, units: int) -> None:
        """Refuse beyond the limit."""
        self.spent += units
        need(self.spent <= MOST_WORK, "The proof takes too much work to check.")


class Prices:
    """What the parts of a check of one network cost, or of two of the same sizes."""

    def __init__(self, *nets: Network) -> None:
        net = nets[0]
        self.sizes = (len(net.weights[0][0]), *(len(b) for b in net.biases))
        self.steps = [constants for _, constants in net.scaling]
        numbers = (
            v for one in nets for w, b in zip(one.weights, one.biases, strict=True) for row in (*w, b) for v in row
        )
        self.long = 1 + max(v.denominator.bit_length() - 1 for v in numbers) // 256

    def layer(self, layer: int) -> int:
        """Ranges of a layer."""
        return 1024 + self.sizes[layer] * (1024 + 8 * self.long * self.sizes[layer - 1])

    def back(self, units: int, below: int, chosen: int = 0) -> int:
        """A layer of *back*: its units, those that it reads, and those whose slopes are chosen or stored."""
        return 1024 + units * (64 + 2 * self.long * below) + CHOSEN * chosen

    def inputs(self, bounds: Sequence[Sequence[Fraction]]) -> int:
        """The inputs of a cell; `bounds` are those of every input."""
        numbers = [(*own, *(constants[i] for constants in self.steps)) for i, own in enumerate(bounds)]
        longest = max(sum(v.numerator.bit_length() + v.denominator.bit_length() for v in some) for some in numbers)
        return 4096 * len(bounds) * (1 + len(self.steps)) * (1 + longest // 1024)


def thickness(values: Sequence[Fraction]) -> int:
    """How long the numbers get that are computed from these: their common denominator, in 1,024 bits begun."""
    return 1 + math.lcm(*(v.denominator for v in values)).bit_length() // 1024
