"""What is asked of a network: one inequality over two evaluations, in the network's own inputs.

    max  Σ_c a_c·f(x_c)      lo_c ≤ x_c ≤ hi_c,      low ≤ x_1 − x_2 ≤ high,      whole-valued where `whole`

`rhs` is what the left side may be at most; None asks for the bracket alone. A row over one evaluation has a_2 = 0 and
x_2 = x_1. All numbers are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from smilenn.auditing import octagon
from smilenn.auditing.network import DeepNet

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class Row:
    """One inequality; vectors over the m inputs or the o outputs, pairs over the two copies."""

    text: str
    names: tuple[str, ...]
    lo: tuple[Vector, Vector]
    hi: tuple[Vector, Vector]
    low: Vector
    high: Vector
    whole: tuple[bool, ...]
    weights: tuple[Vector, Vector]
    rhs: Fraction | None = None
    groups: tuple[tuple[int, ...], ...] = ()  # one-hot categories; proofs do not use them, pairs must keep to them

    def holds_at(self, x: Sequence[Sequence[Fraction]]) -> bool:
        """Whether the pair x [2][m] satisfies the premise, exactly, and has one value of every category."""
        if any(sum(copy[i] for i in group) != 1 for copy in x for group in self.groups):
            return False
        boxed = all(a <= v <= b for c in range(2) for a, v, b in zip(self.lo[c], x[c], self.hi[c], strict=True))
        strips = all(a <= v - w <= b for a, v, w, b in zip(self.low, x[0], x[1], self.high, strict=True))
        whole = all(v.denominator == 1 for copy in x for v, is_whole in zip(copy, self.whole, strict=True) if is_whole)
        return boxed and strips and whole

    def left(self, outputs: Sequence[Sequence[Fraction]]) -> Fraction:
        """Σ_c a_c·f(x_c) from the outputs of both copies."""
        return sum(
            (a * f for w, o in zip(self.weights, outputs, strict=True) for a, f in zip(w, o, strict=True)), Fraction(0)
        )

    def exact_value(self, net: DeepNet, x: np.ndarray) -> Fraction | None:
        """The left side at x [2, m] in exact arithmetic; None outside the premise."""
        points = [[Fraction(float(v)) for v in copy] for copy in x]
        if not self.holds_at(points):
            return None
        nothing = [Fraction(0)] * net.sizes[-1]  # a copy without weights need not be computed
        return self.left([net.exactly(p) if any(w) else nothing for p, w in zip(points, self.weights, strict=True)])

    @property
    def one_copy(self) -> bool:
        """Whether the row is about one evaluation."""
        return not any(self.weights[1])

    def coefficients(self) -> np.ndarray:
        """a [2, o] in float64."""
        return np.array([[float(v) for v in copy] for copy in self.weights])

    def box(self) -> np.ndarray:
        """Boxes and strips in float64, [6, m]."""
        parts = (self.lo[0], self.hi[0], self.lo[1], self.hi[1], self.low, self.high)
        return np.array([[float(v) for v in part] for part in parts])

    def scaled_box(self, net: DeepNet) -> np.ndarray:
        """The same of the scaled inputs."""
        return self.scaled(net, self.box())

    def scaled(self, net: DeepNet, box: np.ndarray) -> np.ndarray:
        """Boxes and strips [6, m] of raw inputs as those of the scaled ones."""
        at, wide = net.scaled(box[:4]), box[4:]
        for step, k in net.scaling:
            wide = wide * k if step == "mul" else wide / k if step == "div" else wide
        pairs = ((at[0], at[1]), (at[2], at[3]), (wide[0], wide[1]))
        return octagon.close(np.stack([end(*pair) for pair in pairs for end in (np.minimum, np.maximum)]))
