"""The walk through a proof: docs/audit-certificate.md, sections 4 and 6. For the reference checker only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from smilenn.certify.reference.deep_back import FINE, Back, Cell
from smilenn.certify.reference.deep_files import Cut, Leaf, Lemmas, Network, Phase, StoredRow, Vector
from smilenn.certify.reference.deep_layers import LARGE, Layer
from smilenn.certify.reference.deep_octagon import ZERO, Octagon, down, up
from smilenn.certify.reference.deep_point import step
from smilenn.certify.reference.deep_sums import over
from smilenn.certify.reference.deep_work import Budget, Prices
from smilenn.certify.reference.strict import need

TINY = Fraction(1, 1 << 80)
OWN = Leaf()


class Walk:
    """One proof of rows that share it, without rounding or (`rounds`) with that of the networks."""

    def __init__(self, nets: tuple[Network, Network], rows: Sequence[StoredRow], rounds: bool, budget: Budget) -> None:
        self.nets, self.net, self.rows, self.row = nets, nets[0], rows, rows[0]
        self.rounds, self.budget, self.two = rounds, budget, nets[0] is not nets[1]
        self.last = len(self.net.weights)
        self.prices = Prices(*nets)
        bounds = list(zip(*self.row.lo, *self.row.hi, self.row.low, self.row.high, strict=True))
        self.scaling_work = self.prices.inputs(bounds)
        self.layers = [Layer(nets, layer) for layer in range(1, self.last + 1)]
        self.rule = Back(self.layers, self.two, self.prices, budget)

    def bounds(self) -> tuple[list[Fraction], int]:
        """The largest bound of a leaf for every row; how many leaves were bounded."""
        ahead, values = [self.filled(self.row.lo, self.row.hi, None)], []
        for node in self.row.proof or ():
            cell = ahead.pop()
            match node:
                case Leaf():
                    if cell is not None:
                        values.append([self.leaf(row, cell, node) for row in self.rows])
                case Lemmas():
                    ahead.append(None if cell is None else self.spread(cell, 1, node))
                case Phase():
                    ahead += [self.phase(cell, node, 1), self.phase(cell, node, -1)]
                case Cut():
                    ahead += [self.cut(cell, node, 1), self.cut(cell, node, -1)]
        need(bool(values), "The proof closes every cell, but the premise has a point.")
        return [max(column) for column in zip(*values, strict=True)], len(values)

    def phase(self, cell: Cell | None, node: Phase, sign: int) -> Cell | None:
        """The child with s ≥ 0 (+1) or s ≤ 0 (−1)."""
        if cell is None:
            return None
        layer, octagons = list(cell.octagons[node.layer]), list(cell.octagons)
        name = f"{'lo' if sign > 0 else 'hi'}{node.copy + 1}"
        end = getattr(layer[node.unit], name)
        cut = replace(layer[node.unit], **{name: max(end, ZERO) if sign > 0 else min(end, ZERO)}).closed()
        if cut is None:
            return None
        layer[node.unit] = cut
        octagons[node.layer] = tuple(layer)
        return self.spread(replace(cell, octagons=tuple(octagons)), node.layer + 1)

    def cut(self, cell: Cell | None, node: Cut, sign: int) -> Cell | None:
        """The child with x ≥ θ (+1) or x ≤ θ (−1)."""
        if cell is None:
            return None
        at = node.at
        if self.row.whole[node.place]:
            at = Fraction(math.floor(at) + (1 if sign > 0 else 0))
        lo, hi = [list(x) for x in cell.lo], [list(x) for x in cell.hi]
        if sign > 0:
            lo[node.copy][node.place] = max(lo[node.copy][node.place], at)
        else:
            hi[node.copy][node.place] = min(hi[node.copy][node.place], at)
        if lo[node.copy][node.place] > hi[node.copy][node.place]:
            return None
        return self.filled((tuple(lo[0]), tuple(lo[1])), (tuple(hi[0]), tuple(hi[1])), cell)

    def filled(self, lo: tuple[Vector, Vector], hi: tuple[Vector, Vector], known: Cell | None) -> Cell | None:
        """The cell with these bounds, all layers found again within what is known."""
        inputs = []
        self.budget.spend(self.scaling_work)
        for i in range(len(lo[0])):
            r = self.scaled(i, [(lo[c][i], hi[c][i]) for c in range(2)])
            if r is None:
                return None
            inputs.append(r)
        hidden = () if known is None else known.octagons[1:]
        return self.spread(Cell(lo, hi, (tuple(inputs), *hidden), ((),)), 1)

    def scaled(self, i: int, ends: list[tuple[Fraction, Fraction]]) -> Octagon | None:
        """The octagon of input i after the scaling."""
        strip = (self.row.low[i], self.row.high[i])
        equal = strip == (0, 0)
        for kind, constants in self.net.scaling:
            k = constants[i]
            ends = [(step(kind, a, k), step(kind, b, k)) for a, b in ends]
            if kind in ("mul", "div"):
                strip = (step(kind, strip[0], k), step(kind, strip[1], k))
                if k < 0:
                    ends, strip = [(b, a) for a, b in ends], (strip[1], strip[0])
            if self.rounds:
                e = self.net.roundoff * max(abs(v) for pair in ends for v in pair) + TINY
                ends = [(a - e, b + e) for a, b in ends]
                strip = strip if equal else (strip[0] - 2 * e, strip[1] + 2 * e)
            need(all(abs(v) < LARGE for pair in ends for v in pair), "An input is 2^60 or more.")
        need(all(abs(v) < LARGE for pair in ends for v in pair), "An input is 2^60 or more.")
        (a, b), (c, d) = ends
        return Octagon(down(a), up(b), down(c), up(d), down(strip[0]), up(strip[1])).closed()

    def spread(self, cell: Cell, start: int, lemmas: Lemmas | None = None) -> Cell | None:
        """Layers from `start` on found again, within what the cell has; lemmas where asked."""
        octagons, noise = list(cell.octagons), list(cell.noise[:start])
        for layer in range(start, self.last):
            found, eps = self.through(layer, octagons[layer - 1])
            noise.append(eps)
            known = octagons[layer] if layer < len(octagons) else found
            out = []
            for j, (r, before) in enumerate(zip(found, known, strict=True)):
                r = r.within(before)
                if r is not None and lemmas is not None and layer > 1 and self.has_lemma(r):
                    below = replace(cell, octagons=tuple(octagons), noise=tuple(noise))
                    r = r.met(self.lemma(below, layer, j, None if lemmas.differences else r)).closed()
                if r is None:
                    return None
                out.append(r)
            octagons[layer : layer + 1] = [tuple(out)]
        noise.append(self.through(self.last, octagons[self.last - 1])[1])
        return replace(cell, octagons=tuple(octagons), noise=tuple(noise))

    def has_lemma(self, r: Octagon) -> bool:
        """Of one network the units that may be on; of two those that are not settled."""
        return r.settled() is None if self.two else r.hi1 > 0 or r.hi2 > 0

    def through(self, layer: int, below: tuple[Octagon, ...]) -> tuple[tuple[Octagon, ...], tuple[Fraction, ...]]:
        """Octagons and ε of a layer from those of the one below."""
        self.budget.spend(self.prices.layer(layer))
        return self.layers[layer - 1].through(below, self.rounds)

    def lemma(self, cell: Cell, layer: int, j: int, known: Octagon | None) -> Octagon:
        """Ranges of unit j by the rule; its difference as it is where that is known."""
        eps = cell.noise[layer][j]

        def most(*signs: int) -> Fraction:
            """signs[0]·s_1 + signs[1]·s_2, at most."""
            own_part = [(net.weights[layer - 1][j], net.biases[layer - 1][j]) for net in self.nets]
            kappa = [tuple(up(sign * v) for v in w) for sign, (w, _) in zip(signs, own_part, strict=True)]
            start = up(sum((sign * b for sign, (_, b) in zip(signs, own_part, strict=True)), ZERO), FINE)
            wide = eps * sum(map(abs, signs))
            return up(self.rule.bound(cell, layer - 1, (kappa[0], kappa[1]), start, OWN)) + wide

        apart = (-most(-1, 1), most(1, -1)) if known is None else (known.low, known.high)
        return Octagon(-most(-1, 0), most(1, 0), -most(0, -1), most(0, 1), *apart)

    def leaf(self, row: StoredRow, cell: Cell, leaf: Leaf) -> Fraction:
        """The bound of a leaf for one row."""
        const, kappa, last = ZERO, [], self.layers[-1]
        for weights, columns, shifts in zip(row.weights, last.columns, last.shifts, strict=True):
            a = over(weights)
            kappa.append(tuple(up(a * column) for column in columns))
            const += a * shifts
        noise = sum((up(abs(v)) * e for a in row.weights for v, e in zip(a, cell.noise[-1], strict=True)), ZERO)
        return self.rule.bound(cell, self.last - 1, (kappa[0], kappa[1]), up(const, FINE) + noise, leaf)
