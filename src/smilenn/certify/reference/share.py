"""The reference checker of shares: docs/audit-certificate.md, section 7, in exact rationals.

settled = Σ points of the leaves whose claim, output > 0 or output ≤ 0, holds all over their box and every part
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from smilenn.certify.reference.deep import EXIT
from smilenn.certify.reference.deep_back import FINE
from smilenn.certify.reference.deep_files import (
    LIMITS,
    MOST_NODES,
    MOST_OPEN,
    Network,
    Tree,
    Vector,
    only_whole,
    read_network,
)
from smilenn.certify.reference.deep_layers import LARGE, Layer
from smilenn.certify.reference.deep_octagon import GRID, ZERO, down, up
from smilenn.certify.reference.deep_point import step, value_at
from smilenn.certify.reference.deep_slopes import alone
from smilenn.certify.reference.deep_slopes import whole as on_grid
from smilenn.certify.reference.deep_sums import over, ranges
from smilenn.certify.reference.deep_walk import TINY
from smilenn.certify.reference.deep_work import END, Budget, Prices
from smilenn.certify.reference.strict import (
    CheckError,
    Unreadable,
    as_integer,
    as_list,
    as_object,
    as_text,
    need,
    parse_json,
    read_file,
)

KEYS = ("format", "version", "source", "network", "inputs", "lo", "hi", "protected", "parts", "pair", "proofs_sha256")
MOST = 1 << 24
Range = tuple[Fraction, Fraction]
Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Share:
    """What was counted."""

    status: str
    reason: str = ""
    points: int = 0
    settled: int = 0
    leaves: int = 0

    @property
    def exit_code(self) -> int:
        """0 certified, 1 refused or violated, 2 unreadable, 3 unknown."""
        return EXIT[self.status]


@dataclass(frozen=True)
class Stated:
    """The statement of share.json."""

    net: Network
    box: Box
    protected: int
    parts: Box
    pair: Box | None
    proof: bytes


def check_share(folder: str | os.PathLike[str]) -> Share:
    """Check a folder about labels; every failure is in the report."""
    try:
        stated, budget = read_share(Path(folder)), Budget()
        changed = stated.pair is not None and shows_change(stated, budget)
        points = size(stated, stated.box)
        settled, leaves = Counting(stated, budget).count()
        need(not (changed and settled == points), "All points are settled, and a pair shows the contrary.")
    except Unreadable as error:
        return Share("unreadable", str(error))
    except CheckError as error:
        return Share("refused", str(error))
    status = "violated" if changed else "certified" if settled == points else "unknown"
    return Share(status, "", points, settled, leaves)


def read_share(folder: Path) -> Stated:
    """The folder's files, read strictly."""
    limits = {"share.json": LIMITS["audit.json"], **{name: LIMITS[name] for name in ("network.bin", "proofs.bin")}}
    files = {name: read_file(folder / name, limit) for name, limit in limits.items()}
    parsed = parse_json(files["share.json"], "share.json")
    only_whole(parsed)
    content = as_object(parsed, KEYS, "share.json")
    need(content["format"] == "smilenn-share", "This is not a share.")
    as_integer(content["version"], 1, 1, "The version")
    as_text(content["source"], "The source")
    need(content["proofs_sha256"] == sha256(files["proofs.bin"]).hexdigest(), "proofs.bin belongs to another share.")
    net = read_network(content["network"], files["network.bin"])
    inputs = len(net.weights[0][0])
    need(len(net.biases[-1]) == 1, "The network has several outputs.")
    names = [as_text(name, "A name") for name in as_list(content["inputs"], "inputs")]
    need(len(names) == inputs == len(set(names)), f"There must be {inputs} different inputs.")
    box = tuple(zip(whole(content["lo"], inputs), whole(content["hi"], inputs), strict=True))
    protected = as_integer(content["protected"], 0, inputs - 1, "The protected input")
    parts = tuple(pair_of(part) for part in as_list(content["parts"], "parts"))
    least, most = box[protected]
    need(1 <= len(parts) <= 256 and all(least <= a <= b <= most for a, b in parts), "The parts are out of bounds.")
    need(all(a <= b for a, b in box), "The bounds are in the wrong order.")
    pair = None
    if content["pair"] is not None:
        both = as_list(content["pair"], "The pair")
        need(len(both) == 2, "A pair has two inputs.")
        pair = tuple(zip(whole(both[0], inputs), whole(both[1], inputs), strict=True))
    return Stated(net, box, protected, parts, pair, files["proofs.bin"])


def whole(value: Any, count: int) -> tuple[int, ...]:
    """So many whole numbers."""
    entries = as_list(value, "A list of whole numbers")
    need(len(entries) == count, f"A list has {len(entries)} numbers instead of {count}.")
    return tuple(as_integer(entry, -MOST, MOST, "A number") for entry in entries)


def pair_of(value: Any) -> tuple[int, int]:
    """Two whole numbers."""
    first, second = whole(value, 2)
    return first, second


def size(stated: Stated, box: Box) -> int:
    """Points of a box."""
    return math.prod(b - a + 1 for i, (a, b) in enumerate(box) if i != stated.protected)


def shows_change(stated: Stated, budget: Budget) -> bool:
    """The pair is one, and its labels differ."""
    assert stated.pair is not None
    for i, (a, b) in enumerate(stated.pair):
        least, most = stated.box[i]
        need(least <= min(a, b) and max(a, b) <= most, "The pair is out of bounds.")
        if i == stated.protected:
            need(all(any(p <= v <= q for p, q in stated.parts) for v in (a, b)), "A protected value is not stated.")
        else:
            need(a == b, "The pair differs in other inputs.")
    positive = [
        value_at(stated.net, tuple(Fraction(v) for v in x), budget)[0] > 0 for x in zip(*stated.pair, strict=True)
    ]
    need(positive[0] is not positive[1], "The labels of the pair are the same.")
    return True


class Counting:
    """The walk through the tree of boxes."""

    def __init__(self, stated: Stated, budget: Budget) -> None:
        self.stated, self.net, self.budget = stated, stated.net, budget
        self.layers = [Layer((self.net, self.net), layer + 1) for layer in range(len(self.net.weights))]
        self.prices = Prices(self.net)
        self.scaling_work = self.prices.inputs([()] * len(stated.box))

    def count(self) -> tuple[int, int]:
        """Points in confirmed leaves; how many leaves those are."""
        tree = Tree(self.stated.proof, (len(self.stated.box), 1))
        ahead, seen, points, leaves = [self.stated.box], 0, 0, 0
        while ahead:
            box, seen = ahead.pop(), seen + 1
            need(seen <= MOST_NODES and len(ahead) <= MOST_OPEN, "A proof has too many nodes.")
            kind = tree.byte()
            need(kind <= 3, "A proof has an unknown node.")
            if kind == 3:
                ahead += self.halves(box, tree.natural(len(box)), tree.integer())
            elif kind > 0 and all(self.holds(box, part, above=kind == 1) for part in self.stated.parts):
                points, leaves = points + size(self.stated, box), leaves + 1
        need(tree.left == 0, "A proof has bytes left over.")
        return points, leaves

    def halves(self, box: Box, i: int, at: int) -> list[Box]:
        """x_i ≥ at + 1 and x_i ≤ at; the latter is next."""
        low, high = box[i]
        need(i != self.stated.protected and low <= at < high, "A split leaves nothing on one side.")
        return [(*box[:i], (at + 1, high), *box[i + 1 :]), (*box[:i], (low, at), *box[i + 1 :])]

    def holds(self, box: Box, part: tuple[int, int], *, above: bool) -> bool:
        """Whether the output is > 0 (`above`) or ≤ 0 wherever the protected input is in this part."""
        box = (*box[: self.stated.protected], part, *box[self.stated.protected + 1 :])
        self.budget.spend(self.scaling_work)
        inputs = tuple(self.scaled(i, Fraction(a), Fraction(b)) for i, (a, b) in enumerate(box))
        if self.bounded(inputs, above=above, tighten=False):
            return True
        return len(self.net.weights) > 2 and self.bounded(inputs, above=above, tighten=True)

    def bounded(self, inputs: tuple[Range, ...], *, above: bool, tighten: bool) -> bool:
        """The same with hidden layers bounded by intervals, or tightened by the rule."""
        known: list[tuple[Range, ...]] = [inputs]
        noise: list[Vector] = [()]
        for layer in range(1, len(self.net.weights)):
            found, eps = self.through(layer, known[-1])
            noise.append(eps)
            if tighten and layer > 1:
                found = tuple(
                    r if r[1] <= 0 else self.tightened(layer, j, r, known, noise) for j, r in enumerate(found)
                )
            if any(low > high for low, high in found):
                return False
            known.append(found)
        eps = self.through(len(self.net.weights), known[-1])[1]
        bound = self.most(len(self.net.weights), 0, -1 if above else 1, known, noise) + eps[0]
        return bound < 0 if above else bound <= 0

    def scaled(self, i: int, low: Fraction, high: Fraction) -> Range:
        """Bounds of an input behind the scaling."""
        for kind, constants in self.net.scaling:
            low, high = step(kind, low, constants[i]), step(kind, high, constants[i])
            if low > high:
                low, high = high, low
            wide = self.net.roundoff * max(abs(low), abs(high)) + TINY
            low, high = low - wide, high + wide
        need(max(abs(low), abs(high)) < LARGE, "An input is 2^60 or more.")
        return down(low), up(high)

    def through(self, layer: int, below: Sequence[Range]) -> tuple[tuple[Range, ...], Vector]:
        """Ranges and ε of a layer by intervals."""
        a = below if layer == 1 else [(max(low, ZERO), max(high, ZERO)) for low, high in below]
        sizes = [max(abs(low), abs(high)) for low, high in a]
        need(all(v < LARGE for v in sizes), "A value is 2^60 or more.")
        self.budget.spend(self.prices.layer(layer))
        parts, between, largest = self.layers[layer - 1], ranges(a), over(sizes)
        out, noise = [], []
        for j, (w, b) in enumerate(zip(parts.rows[0], parts.biases[0], strict=True)):
            eps = parts.error(j, largest)
            low, high = between.ends(w)
            out.append((down(low + b) - eps, up(high + b) + eps))
            noise.append(eps)
        return tuple(out), tuple(noise)

    def tightened(
        self, layer: int, j: int, r: Range, known: Sequence[Sequence[Range]], noise: Sequence[Vector]
    ) -> Range:
        """The range of a unit, met with what the rule says of it."""
        eps = noise[layer][j]
        least, most = (up(self.most(layer, j, sign, known, noise)) + eps for sign in (-1, 1))
        return max(r[0], -least), min(r[1], most)

    def most(
        self, layer: int, j: int, sign: int, known: Sequence[Sequence[Range]], noise: Sequence[Vector]
    ) -> Fraction:
        """sign·s_j of a layer, at most, from the layers below; without the unit's own ε."""
        kappa: Sequence[Fraction] = [up(sign * v) for v in self.net.weights[layer - 1][j]]
        total = up(sign * self.net.biases[layer - 1][j], FINE)
        for below in range(layer - 1, 0, -1):
            slopes = [slope(k, r) for k, r in zip(kappa, known[below], strict=True)]
            for k, t, (low, high), eps in zip(kappa, slopes, known[below], noise[below], strict=True):
                ends = (low, high, ZERO) if low < 0 < high else (low, high)
                total += max(k * max(s, ZERO) - t * s for s in ends) + abs(t) * eps
            self.budget.spend(self.prices.back(len(slopes), len(known[below - 1])))
            parts, t = self.layers[below - 1], over(slopes)
            total += up(t * parts.shifts[0], FINE)
            exact = [t * column for column in parts.columns[0]]
            kappa = [up(v) for v in exact] if below > 1 else exact
        self.budget.spend(END * len(known[0]))
        return total + up(sum((max(q * a, q * b) for q, (a, b) in zip(kappa, known[0], strict=True)), ZERO), FINE)


def slope(k: Fraction, r: Range) -> Fraction:
    """t of κ·relu(s) ≤ t·s + r on a range, as section 5 has it for a copy alone."""
    return Fraction(alone(on_grid(k), on_grid(r[0]), on_grid(r[1])), GRID)
