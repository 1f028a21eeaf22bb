"""The reference checker of audits: exact rationals, standard library only, clarity before speed.

    python -m smilenn.certify.reference.deep audit/      0 certified, 1 refused or violated, 2 unreadable, 3 unknown

Follows docs/audit-certificate.md: deep_files.py has its sections 1 to 3, deep_octagon.py octagons and own slopes, this
file the layers (4), the rule (5) and the walk through a proof (6). `check_deep.py` is the fast checker; the two share
no code and find the same bounds.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from smilenn.certify.reference.deep_files import Cut, Leaf, Lemmas, Network, Phase, StoredRow, Vector, read_audit
from smilenn.certify.reference.deep_octagon import (
    GRID,
    ZERO,
    Octagon,
    after_relu,
    down,
    interval,
    linear,
    one_copy,
    own,
    rest,
    up,
)
from smilenn.certify.reference.strict import CheckError, Unreadable, need
from smilenn.certify.reference.words import at_most, clean, rounded

FINE = GRID * GRID
LARGE, TINY = Fraction(1 << 60), Fraction(1, 1 << 80)
MOST_WORK = 1 << 34
EXIT = {"certified": 0, "violated": 1, "refused": 1, "unreadable": 2, "unknown": 3}


@dataclass(frozen=True)
class DeepRow:
    """found ≤ max left ≤ real, and ≤ computed in the network's own arithmetic."""

    text: str
    found: Fraction
    real: Fraction
    computed: Fraction
    rhs: Fraction | None
    leaves: int

    @property
    def status(self) -> str:
        """Against the right side; ``bracket`` without one."""
        if self.rhs is None:
            return "bracket"
        if self.computed <= self.rhs:
            return "proved"
        return "violated" if self.found > self.rhs else "unknown"


@dataclass(frozen=True)
class DeepReport:
    """What the reference checker found."""

    status: str
    reason: str = ""
    rows: tuple[DeepRow, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 certified, 1 refused or violated, 2 unreadable, 3 unknown."""
        return EXIT[self.status]


def check_folder(folder: str | os.PathLike[str]) -> DeepReport:
    """Check an audit's folder; every failure is in the report."""
    try:
        nets, stored = read_audit(Path(folder))
        budget, rows = Budget(), []
        for row in stored:
            need(in_premise(row), "The witness does not satisfy the premise of its row.")
        for group in groups(stored):
            found = [left_at(nets, row, budget) for row in group]
            computed, leaves = Walk(nets, group, True, budget).bounds()
            real = Walk(nets, group, False, budget).bounds()[0] if nets[0] is nets[1] else computed
            numbers = zip(group, found, real, computed, strict=True)
            rows += [DeepRow(row.text, least, most, said, row.rhs, leaves) for row, least, most, said in numbers]
    except Unreadable as error:
        return DeepReport("unreadable", str(error))
    except CheckError as error:
        return DeepReport("refused", str(error))
    states = [row.status for row in rows]
    status = "violated" if "violated" in states else "unknown" if "unknown" in states else "certified"
    return DeepReport(status, "", tuple(rows))


def groups(rows: Sequence[StoredRow]) -> list[list[StoredRow]]:
    """Rows that share a proof."""
    out: list[list[StoredRow]] = []
    for row in rows:
        if row.proof is None:
            out[-1].append(row)
        else:
            out.append([row])
    return out


def left_at(nets: tuple[Network, Network], row: StoredRow, budget: Budget) -> Fraction:
    """The left side at the witness."""
    for net, weights in zip(nets, row.weights, strict=True):
        budget.spend(len(weights) * len(net.weights[-1][0]) * thickness(weights) ** 2)
    outputs = [value_at(net, x, budget) for net, x in zip(nets, row.witness, strict=True)]
    return sum((linear(a, f) for a, f in zip(row.weights, outputs, strict=True)), ZERO)


def in_premise(row: StoredRow) -> bool:
    """Whether the witness is within bounds and strips, and whole where asked."""
    a, b = row.witness
    for i, whole in enumerate(row.whole):
        if any(not row.lo[c][i] <= x[i] <= row.hi[c][i] for c, x in enumerate(row.witness)):
            return False
        if not row.low[i] <= a[i] - b[i] <= row.high[i] or (whole and (a[i].denominator, b[i].denominator) != (1, 1)):
            return False
    return True


def step(kind: str, value: Fraction, constant: Fraction) -> Fraction:
    """One step of the scaling."""
    match kind:
        case "add":
            return value + constant
        case "sub":
            return value - constant
        case "mul":
            return value * constant
    return value / constant


def thickness(values: Sequence[Fraction]) -> int:
    """How long the numbers get that are computed from these: their common denominator, in 1,024 bits begun."""
    return 1 + math.lcm(*(v.denominator for v in values)).bit_length() // 1024


def value_at(net: Network, x: Vector, budget: Budget) -> list[Fraction]:
    """f(x) without rounding."""
    a = list(x)
    for kind, constants in net.scaling:
        a = [step(kind, v, k) for v, k in zip(a, constants, strict=True)]
    for depth, (weights, biases) in enumerate(zip(net.weights, net.biases, strict=True), 1):
        budget.spend(len(weights) * len(a) * thickness(a) ** 2)
        s = [linear(w, a) + b for w, b in zip(weights, biases, strict=True)]
        a = s if depth == len(net.weights) else [max(v, ZERO) for v in s]
    return a


class Budget:
    """Work done so far."""

    def __init__(self) -> None:
        self.spent = 0

    def spend(self, units: int) -> None:
        """Refuse beyond the limit."""
        self.spent += units
        need(self.spent <= MOST_WORK, "The proof takes too much work to check.")


@dataclass(frozen=True)
class Cell:
    """Bounds of the inputs by copy; octagons and ε by layer, the inputs being layer 0 and the outputs the last."""

    lo: tuple[Vector, Vector]
    hi: tuple[Vector, Vector]
    octagons: tuple[tuple[Octagon, ...], ...]
    noise: tuple[tuple[Fraction, ...], ...] = field(default=())


# ---- sections 4 to 6: the walk ----


class Walk:
    """One proof of rows that share it, without rounding or (`rounds`) with that of the networks."""

    def __init__(self, nets: tuple[Network, Network], rows: Sequence[StoredRow], rounds: bool, budget: Budget) -> None:
        self.nets, self.net, self.rows, self.row = nets, nets[0], rows, rows[0]
        self.rounds, self.budget, self.two = rounds, budget, nets[0] is not nets[1]
        self.last = len(self.net.weights)
        bounds = list(zip(*self.row.lo, *self.row.hi, self.row.low, self.row.high, strict=True))
        self.scaling_work = self.net.scaling_work(bounds)
        self.columns = [[tuple(zip(*w, strict=True)) for w in net.weights] for net in nets]

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
        units = len(self.net.biases[layer - 1])
        self.budget.spend(7 * units * len(below))
        a = below if layer == 1 else [after_relu(r) for r in below]
        largest = [max(abs(v) for v in (r.lo1, r.hi1, r.lo2, r.hi2)) for r in a]
        need(all(v < LARGE for v in largest), "A value is 2^60 or more.")
        out, noise = [], []
        for j in range(units):
            (w1, b1), (w2, b2) = ((net.weights[layer - 1][j], net.biases[layer - 1][j]) for net in self.nets)
            eps = self.errors(layer, j, largest) if self.rounds else ZERO
            lo1, hi1 = interval(w1, [(r.lo1, r.hi1) for r in a], b1)
            lo2, hi2 = interval(w2, [(r.lo2, r.hi2) for r in a], b2)
            halves = tuple((p + q) / 2 for p, q in zip(w1, w2, strict=True))
            apart = tuple((p - q) / 2 for p, q in zip(w1, w2, strict=True))
            ends = [(r.low, r.high) for r in a] + [(r.lo1 + r.lo2, r.hi1 + r.hi2) for r in a]
            low, high = interval((*halves, *apart), ends, b1 - b2)
            out.append(Octagon(lo1 - eps, hi1 + eps, lo2 - eps, hi2 + eps, low - 2 * eps, high + 2 * eps))
            noise.append(eps)
        return tuple(out), tuple(noise)

    def errors(self, layer: int, j: int, largest: Sequence[Fraction]) -> Fraction:
        """ε of a unit: the larger one of both networks."""
        nets = self.nets if self.two else self.nets[:1]
        return max(self.error(net.weights[layer - 1][j], net.biases[layer - 1][j], largest) for net in nets)

    def error(self, w: Vector, b: Fraction, largest: Sequence[Fraction]) -> Fraction:
        """ε of a unit in one copy."""
        n = (len(w) + 5) * self.net.roundoff
        total = linear([abs(k) for k in w], largest) + abs(b)
        return up(n / (1 - n) * total) + Fraction(1, GRID)

    def lemma(self, cell: Cell, layer: int, j: int, known: Octagon | None) -> Octagon:
        """Ranges of unit j by the rule; its difference as it is where that is known."""
        eps = cell.noise[layer][j]

        def most(*signs: int) -> Fraction:
            """signs[0]·s_1 + signs[1]·s_2, at most."""
            own_part = [(net.weights[layer - 1][j], net.biases[layer - 1][j]) for net in self.nets]
            kappa = [tuple(up(sign * v) for v in w) for sign, (w, _) in zip(signs, own_part, strict=True)]
            start = up(sum((sign * b for sign, (_, b) in zip(signs, own_part, strict=True)), ZERO), FINE)
            wide = eps * sum(map(abs, signs))
            return up(self.back(cell, layer - 1, (kappa[0], kappa[1]), start, None)) + wide

        apart = (-most(-1, 1), most(1, -1)) if known is None else (known.low, known.high)
        return Octagon(-most(-1, 0), most(1, 0), -most(0, -1), most(0, 1), *apart)

    def leaf(self, row: StoredRow, cell: Cell, leaf: Leaf) -> Fraction:
        """The bound of a leaf for one row."""
        const, kappa = ZERO, []
        for a, net, columns in zip(row.weights, self.nets, self.columns, strict=True):
            kappa.append(tuple(up(linear(a, column)) for column in columns[-1]))
            const += linear(a, net.biases[-1])
        noise = sum((up(abs(v)) * e for a in row.weights for v, e in zip(a, cell.noise[-1], strict=True)), ZERO)
        return self.back(cell, self.last - 1, (kappa[0], kappa[1]), up(const, FINE) + noise, leaf)

    def back(self, cell: Cell, top: int, kappa: tuple[Vector, Vector], const: Fraction, leaf: Leaf | None) -> Fraction:
        """An upper bound of Σ κ_c·a_c of layer `top` + const."""
        for layer in range(top, 0, -1):
            chosen = []
            for j, (r, k) in enumerate(zip(cell.octagons[layer], zip(*kappa, strict=True), strict=True)):
                given = None if leaf is None or leaf.slopes is None else leaf.slopes[top - layer][j]
                if given is None and self.two and 0 in k:
                    t, left = one_copy(r, k)
                elif given is None:
                    t = own(r, k)
                    left = ZERO if r.settled() is not None else rest(r, k, t)  # a settled unit is linear
                else:
                    t = Fraction(given[0], 1 << leaf.digits), Fraction(given[1], 1 << leaf.digits)  # type: ignore[union-attr]
                    left = rest(r, k, t)
                const += left + (abs(t[0]) + abs(t[1])) * cell.noise[layer][j]
                chosen.append(t)
            self.budget.spend(len(chosen) * (16 + 2 * len(cell.octagons[layer - 1])))
            slopes = list(zip(*chosen, strict=True))
            biases = [linear(t, net.biases[layer - 1]) for t, net in zip(slopes, self.nets, strict=True)]
            const += up(sum(biases, ZERO), FINE)
            below = [
                tuple(linear(t, column) for column in columns[layer - 1])
                for t, columns in zip(slopes, self.columns, strict=True)
            ]
            kappa = (below[0], below[1]) if layer == 1 else (tuple(map(up, below[0])), tuple(map(up, below[1])))
        most = [max(a * p + b * q for p, q, _, _ in r.ends) for a, b, r in zip(*kappa, cell.octagons[0], strict=True)]
        return const + up(sum(most, ZERO), FINE)


def main(arguments: Sequence[str]) -> int:
    """Print what was found; the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m smilenn.certify.reference.deep FOLDER\n")
        return 2
    report = check_folder(arguments[0])
    lines = [f"{report.status}: {clean(report.reason)}" if report.reason else report.status]
    lines += [f"{clean(r.text)}: {rounded(r.found)} to {at_most(r.computed)}, {r.status}" for r in report.rows]
    sys.stdout.write("\n".join(lines) + "\n")
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
