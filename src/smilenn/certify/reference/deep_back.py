"""The rule: docs/audit-certificate.md, section 5. For the reference checker only.

Σ_c κ_c·relu(s_c) ≤ Σ_c t_c·s_c + r        s_c = W_c·a_c + b_c + ξ_c, |ξ_c| ≤ ε        κ_c := ⌈t_c·W_c⌉ one layer down
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from smilenn.certify.reference.deep_files import Given, Leaf, Vector
from smilenn.certify.reference.deep_layers import Layer
from smilenn.certify.reference.deep_octagon import GRID, ZERO, Octagon, Slope, most, rest, up
from smilenn.certify.reference.deep_slopes import one_copy, own
from smilenn.certify.reference.deep_sums import over
from smilenn.certify.reference.deep_work import END, Budget, Prices

FINE = GRID * GRID


@dataclass(frozen=True)
class Cell:
    """Bounds of the inputs by copy; octagons and ε by layer, the inputs being layer 0 and the outputs the last."""

    lo: tuple[Vector, Vector]
    hi: tuple[Vector, Vector]
    octagons: tuple[tuple[Octagon, ...], ...]
    noise: tuple[tuple[Fraction, ...], ...] = field(default=())


class Back:
    """The rule for one network or (`two`) for two; `layers` from the first hidden layer on."""

    def __init__(self, layers: Sequence[Layer], two: bool, prices: Prices, budget: Budget) -> None:
        self.layers, self.two, self.prices, self.budget = layers, two, prices, budget

    def bound(self, cell: Cell, top: int, kappa: tuple[Vector, Vector], const: Fraction, leaf: Leaf) -> Fraction:
        """An upper bound of Σ κ_c·a_c of layer `top` + const."""
        copy = self.only_copy(kappa, leaf)
        for layer in range(top, 0, -1):
            given = leaf.layer(top - layer, len(cell.octagons[layer]))
            self.budget.spend(self.price(cell, layer, copy, given))
            chosen = []
            for r, *k, slopes, eps in zip(cell.octagons[layer], *kappa, given, cell.noise[layer], strict=True):
                t, left = self.slopes(r, (k[0], k[1]), slopes)
                const += left + (abs(t[0]) + abs(t[1])) * eps if eps else left
                chosen.append(t)
            const, kappa = self.down(layer, chosen, const)
        self.budget.spend(END * len(cell.octagons[0]))
        reached = [most(r, (a, b)) for a, b, r in zip(*kappa, cell.octagons[0], strict=True)]
        return const + up(sum(reached, ZERO), FINE)

    def slopes(self, r: Octagon, k: Slope, given: Slope | None) -> tuple[Slope, Fraction]:
        """The slopes of a unit, and what they leave."""
        if given is not None:
            return given, rest(r, k, given)
        return one_copy(r, k) if self.two and 0 in k else own(r, k)

    def down(self, layer: int, chosen: Sequence[Slope], const: Fraction) -> tuple[Fraction, tuple[Vector, Vector]]:
        """The constant and κ one layer down."""
        parts, slopes = self.layers[layer - 1], [over(t) for t in zip(*chosen, strict=True)]
        const += up(sum((t * b for t, b in zip(slopes, parts.shifts, strict=True)), ZERO), FINE)
        below = [tuple(t * w for w in part) for t, part in zip(slopes, parts.columns, strict=True)]
        return const, (below[0], below[1]) if layer == 1 else (tuple(map(up, below[0])), tuple(map(up, below[1])))

    def only_copy(self, kappa: tuple[Vector, Vector], leaf: Leaf) -> int | None:
        """Which copy, where two networks have own slopes and the coefficients of just one count."""
        if not self.two or leaf.slopes is not None or (any(kappa[0]) and any(kappa[1])):
            return None
        return 0 if any(kappa[0]) else 1

    def price(self, cell: Cell, layer: int, copy: int | None, given: Given) -> int:
        """The work of a layer; of one copy alone, units that are off are none."""
        here, below = cell.octagons[layer], cell.octagons[layer - 1]
        if copy is None:
            chosen = sum(r.settled() is None or t is not None for r, t in zip(here, given, strict=True))
            return self.prices.back(len(here), len(below), chosen)
        reads = len(below) if layer == 1 else sum(not r.off(copy) for r in below)
        return self.prices.back(sum(not r.off(copy) for r in here), reads)
