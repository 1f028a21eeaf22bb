"""The leaves that many rows reach in every tree, by sets of leaves instead of walks.

    S(x) = leaves less { left subtree of n :  n asks for z_n(x) > θ_n }        the leaf reached is the leftmost of S(x)

The leaf reached is never ruled out. A leaf to the left of it parts from it at a node where the row goes right, which
rules that leaf out.

The nodes that ask for one column send a row right if their thresholds are below its value, so all they rule out
depends on the rank of that value among the thresholds. A column is a table with a row for every rank and, for every
tree, the set of leaves that are left, one bit each: a word, or of a large tree several. Coordinates that sets join are
a category: of a row where one of them is 1 and the others are 0, its place is what counts. Nothing is rounded, so the
leaves are those of a walk.

The tables are made for a call and forgotten: what predicts is what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

LEAF = -1
WORD = 63  # leaves of a word: the bits of a whole number that is not negative
MOST_LEAVES = 4 * WORD  # of a tree
EVERY = 2**WORD - 1
TILE = 1 << 15  # (row, word) pairs whose sets are found together: they stay in the processor's cache
EXPONENT = 52, 1023  # of a float64: where its bits begin, and what they are for 1


@dataclass(frozen=True, eq=False)
class Column:
    """What nodes ask of the coordinates `places`; `table` [ranks, words]: the leaves that are left for a rank.

    The first words of all trees come first, then the second words of the trees that have more than one, and so on:
    `more` says which trees these are. A number has its thresholds `theta` in increasing order. A category has none: its
    rank is the place, the last where no coordinate is 1.
    """

    places: list[int]
    theta: torch.Tensor | None
    table: torch.Tensor
    more: tuple[torch.Tensor, ...]

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
    """Inner nodes of all trees, once for every word they rule leaves out of: what they ask, θ, the word, and the leaves
    that are left of it where z > θ. `words` are all there are, `more` the trees that have a second word, a third, ….
    """

    asks: np.ndarray
    theta: np.ndarray
    word: np.ndarray
    left: np.ndarray
    words: int
    more: tuple[torch.Tensor, ...]

    @classmethod
    def of(cls, split: np.ndarray, number: np.ndarray, right: np.ndarray, starts: np.ndarray) -> Nodes | None:
        """From the nodes in preorder with their right children, and where trees start; None where a tree is large."""
        before = np.cumsum(split == LEAF) - (split == LEAF)
        tree = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        leaves: np.ndarray = np.diff(np.append(before[starts[:-1]], (split == LEAF).sum()))  # of trees
        if leaves.max() > MOST_LEAVES:
            return None
        at = np.flatnonzero(split != LEAF)
        first = before[at] - before[starts[tree[at]]]
        stop = first + before[right[at]] - before[at]
        found, more, words = [], [], 0
        for skipped in range(0, int(leaves.max()), WORD):
            own = np.flatnonzero(leaves > skipped)  # trees with this word
            node = np.flatnonzero((stop > skipped) & (first < skipped + WORD))
            ruled_out = _below(stop[node] - skipped) ^ _below(first[node] - skipped)
            found.append((at[node], words + np.searchsorted(own, tree[at[node]]), EVERY ^ ruled_out))
            more += [torch.as_tensor(own)] if skipped else []
            words += len(own)
        places, word, left = (np.concatenate(one) for one in zip(*found, strict=True))
        return cls(split[places].astype(np.int64), number[places], word, left, words, tuple(more))

    def table(self, ranks: int, rank: np.ndarray, node: np.ndarray) -> np.ndarray:
        """[ranks, words]: what nodes leave, each at its rank."""
        out = np.full((ranks, self.words), EVERY)
        np.bitwise_and.at(out, (rank, self.word[node]), self.left[node])
        return out

    def number(self, coordinate: int) -> Column:
        """The column of one coordinate: a rank rules out what the ranks below it do, and more."""
        node = np.flatnonzero(self.asks == coordinate)
        theta, place = np.unique(self.theta[node], return_inverse=True)
        table = np.bitwise_and.accumulate(self.table(len(theta) + 1, place.reshape(-1) + 1, node), axis=0)
        return Column([coordinate], torch.as_tensor(theta), torch.as_tensor(table), self.more)

    def category(self, places: list[int], sets: Sequence[tuple[int, Sequence[int]]]) -> Column:
        """The column of coordinates that `sets` join, each with the number that nodes ask for it by."""
        known = {place: rank for rank, place in enumerate(places)}
        questions = [*((place, [place]) for place in places), *sets]
        one = np.zeros((len(places) + 1, 1 + max(asked for asked, _ in questions)))  # [ranks, questions]
        for asked, own in questions:
            one[[known[place] for place in own], asked] = 1.0
        node = np.flatnonzero(np.isin(self.asks, [asked for asked, _ in questions]))
        rank, at = np.nonzero(one[:, self.asks[node]] > self.theta[node])
        return Column(places, None, torch.as_tensor(self.table(len(one), rank, node[at])), self.more)


def _below(place: np.ndarray) -> np.ndarray:
    """The bits of a word below a place; none of them, or all, where it lies before or behind the word."""
    return ((np.uint64(1) << np.clip(place, 0, WORD).astype(np.uint64)) - np.uint64(1)).astype(np.int64)


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
    (words, more), rows = (found[0].table.shape[1], found[0].more), len(y)
    trees = words - sum(map(len, more))
    out = torch.empty((rows, trees), dtype=torch.int64)
    step = max(1, TILE // max(1, words))
    sets, parts = (torch.empty((step, words), dtype=torch.int64) for _ in range(2))
    for first in range(0, rows, step):
        many = min(step, rows - first)
        own, part = sets[:many], parts[:many]
        torch.index_select(found[0].table, 0, known[0][first : first + step], out=own)
        for column, rank in zip(found[1:], known[1:], strict=True):
            torch.index_select(column.table, 0, rank[first : first + step], out=part)
            own &= part
        torch.neg(own, out=part)
        own &= part  # the lowest bit alone: a power of two, whose exponent a float64 shows
        torch.bitwise_right_shift(own.to(torch.float64).view(torch.int64), EXPONENT[0], out=own)
        out[first : first + step] = _leftmost(own.sub_(EXPONENT[1]), trees, more)
    return out


def _leftmost(lowest: torch.Tensor, trees: int, more: Sequence[torch.Tensor]) -> torch.Tensor:
    """The leaves [b, trees] from the lowest bits of all words [b, words], which are far below 0 where none is left."""
    found, at = lowest[:, :trees], trees
    for level, own in enumerate(more, 1):
        before = found[:, own]
        found[:, own] = torch.where(before < 0, lowest[:, at : at + len(own)] + level * WORD, before)
        at += len(own)
    return found
