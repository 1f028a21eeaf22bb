"""The leaves that many rows reach in every tree, by sets of leaves instead of walks.

    S(x) = leaves less { left subtree of n :  n asks for z_n(x) > θ_n }        the leaf reached is the leftmost of S(x)

The leaf reached is never ruled out. A leaf to the left of it parts from it at a node where the row goes right, which
rules that leaf out.

The nodes that ask for one column send a row right if their thresholds are below its value, so all they rule out
depends on the rank of that value among the thresholds. A column is a table with a row for every rank and, for every
tree, the set of leaves that are left, one bit each. Coordinates that sets join are a category: of a row where one of
them is 1 and the others are 0, its place is what counts. Nothing is rounded, so the leaves are those of a walk.

The tables are made for a call and forgotten: what predicts is what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

LEAF = -1
MOST_LEAVES = 63  # of a tree: the bits of a whole number that is not negative
EVERY = 2**MOST_LEAVES - 1
TILE = 1 << 15  # (row, tree) pairs whose sets are found together: they stay in the processor's cache
EXPONENT = 52, 1023  # of a float64: where its bits begin, and what they are for 1


@dataclass(frozen=True, eq=False)
class Column:
    """What nodes ask of the coordinates `places`; `table` [ranks, trees]: the leaves that are left for a rank.

    A number has its thresholds `theta` in increasing order. A category has none: its rank is the place, the last
    where no coordinate is 1.
    """

    places: list[int]
    theta: torch.Tensor | None
    table: torch.Tensor

    def ranks(self, y: torch.Tensor) -> torch.Tensor | None:
        """The ranks [B] of rows y [B, i]; None where a row is not a number or a category."""
        if self.theta is not None:
            own = y[:, self.places[0]].contiguous()
            return None if bool(own.isnan().any()) else torch.searchsorted(self.theta, own)
        own = y[:, self.places]
        ones = own.sum(dim=1)
        if not bool((own * own == own).all()) or not bool((ones <= 1).all()):
            return None
        place = own @ torch.arange(len(self.places), dtype=own.dtype)  # of at most one 1: exact
        return torch.where(ones == 1, place, float(len(self.places))).to(torch.int64)


@dataclass(frozen=True, eq=False)
class Nodes:
    """Inner nodes of all trees: what they ask, θ, their tree, and the leaves that are left where z > θ."""

    asks: np.ndarray
    theta: np.ndarray
    tree: np.ndarray
    left: np.ndarray
    trees: int

    @classmethod
    def of(cls, split: np.ndarray, number: np.ndarray, right: np.ndarray, starts: np.ndarray) -> Nodes | None:
        """From the nodes in preorder with their right children, and where trees start; None where a tree is large."""
        before = np.cumsum(split == LEAF) - (split == LEAF)
        tree = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        if np.diff(np.append(before[starts[:-1]], (split == LEAF).sum())).max() > MOST_LEAVES:
            return None
        at = np.flatnonzero(split != LEAF)
        first = before[at] - before[starts[tree[at]]]
        ruled_out = ((1 << (before[right[at]] - before[at])) - 1) << first
        return cls(split[at].astype(np.int64), number[at], tree[at], EVERY ^ ruled_out, len(starts) - 1)

    def table(self, ranks: int, rank: np.ndarray, node: np.ndarray) -> np.ndarray:
        """[ranks, trees]: what nodes leave, each at its rank."""
        out = np.full((ranks, self.trees), EVERY)
        np.bitwise_and.at(out, (rank, self.tree[node]), self.left[node])
        return out

    def number(self, coordinate: int) -> Column:
        """The column of one coordinate: a rank rules out what the ranks below it do, and more."""
        node = np.flatnonzero(self.asks == coordinate)
        theta, place = np.unique(self.theta[node], return_inverse=True)
        table = np.bitwise_and.accumulate(self.table(len(theta) + 1, place.reshape(-1) + 1, node), axis=0)
        return Column([coordinate], torch.as_tensor(theta), torch.as_tensor(table))

    def category(self, places: list[int], sets: Sequence[tuple[int, Sequence[int]]]) -> Column:
        """The column of coordinates that `sets` join, each with the number that nodes ask for it by."""
        known = {place: rank for rank, place in enumerate(places)}
        questions = [*((place, [place]) for place in places), *sets]
        one = np.zeros((len(places) + 1, 1 + max(asked for asked, _ in questions)))  # [ranks, questions]
        for asked, own in questions:
            one[[known[place] for place in own], asked] = 1.0
        node = np.flatnonzero(np.isin(self.asks, [asked for asked, _ in questions]))
        rank, at = np.nonzero(one[:, self.asks[node]] > self.theta[node])
        return Column(places, None, torch.as_tensor(self.table(len(one), rank, node[at])))


def columns(nodes: Nodes, inputs: int, sets: Sequence[Sequence[int]]) -> list[Column]:
    """A column for every coordinate that is asked for, and for those that sets join."""
    asked = set(nodes.asks.tolist())
    used = [(inputs + j, own) for j, own in enumerate(sets) if inputs + j in asked]
    joined = _joined([own for _, own in used])
    within = {place for places in joined for place in places}
    found = [nodes.number(c) for c in sorted(asked) if c < inputs and c not in within]
    for places in joined:
        found.append(nodes.category(sorted(places), [(j, own) for j, own in used if own[0] in places]))
    return found


def _joined(sets: Sequence[Sequence[int]]) -> list[set[int]]:
    """The coordinates that sets join, directly or by others, together."""
    found: list[int] = []  # sets as the bits of whole numbers: there are thousands of them, and few in the end
    for own in dict.fromkeys(map(tuple, sets)):
        bits = sum(1 << place for place in own)
        apart, together = list[int](), bits
        for known in found:
            if known & bits:
                together |= known
            else:
                apart.append(known)
        found = [*apart, together]
    return [{place for place in range(bits.bit_length()) if bits >> place & 1} for bits in found]


def reached(found: Sequence[Column], y: torch.Tensor) -> torch.Tensor | None:
    """Rows y [B, i] → the leaf that each reaches in each tree, [B, trees]; None where a column cannot say."""
    ranks = [column.ranks(y) for column in found]
    known = [rank for rank in ranks if rank is not None]
    if len(known) < len(ranks):
        return None
    rows, trees = len(y), found[0].table.shape[1]
    out = torch.empty((rows, trees), dtype=torch.int64)
    step = max(1, TILE // max(1, trees))
    more = torch.empty((step, trees), dtype=torch.int64)
    for first in range(0, rows, step):
        own, part = out[first : first + step], more[: min(step, rows - first)]
        torch.index_select(found[0].table, 0, known[0][first : first + step], out=own)
        for column, rank in zip(found[1:], known[1:], strict=True):
            torch.index_select(column.table, 0, rank[first : first + step], out=part)
            own &= part
        torch.neg(own, out=part)
        own &= part  # the lowest bit alone: a power of two, whose exponent a float64 shows
        torch.bitwise_right_shift(own.to(torch.float64).view(torch.int64), EXPONENT[0], out=own)
    return out.sub_(EXPONENT[1])
