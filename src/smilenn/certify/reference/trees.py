"""Regression trees: how they are stored, and what two inputs of a premise make of one; docs/certificate.md, 1 and 3.1.

    z = y_c, or the largest y_c of a set:  left if z ≤ θ, right if z > θ;   the value v is that of the leaf
    l ≤ v ≤ h in all copies,  d ≤ v_1 − v_2 ≤ D

Two copies part at a node with z_2 ≤ θ < z_1 only if z_1 − z_2 can be positive, and the other way round only if it can
be negative. Copy 2 in a leaf with a_p < z ≤ b_p and copy 1 in one with a_q < z ≤ b_q differ in z by less than b_q − a_p
and by more than a_q − b_p. For the reference checker only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from smilenn.certify.reference.strict import Refused, need

MOST_LEAVES = 256
"""Of a tree whose leaves are compared pair by pair."""
LEAF = -1
ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Node:
    """`asks` for a place or a set, or is a leaf; `number` is a threshold or a value. Children by their places."""

    asks: int
    number: Fraction
    depth: int
    left: int
    right: int


Tree = Sequence[Node]
"""Every node stands before its children; the first one is the root."""


@dataclass(frozen=True)
class Question:
    """The range of z and that of z_1 − z_2."""

    lo: Fraction
    hi: Fraction
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Value:
    """The range [lo, hi] of v and the range [low, high] of v_1 − v_2."""

    lo: Fraction
    hi: Fraction
    low: Fraction
    high: Fraction


# ---- reading ---------------------------------------------------------------------------------------------------------


# a node, its left subtree, its right subtree
def read_trees(split: Sequence[Fraction], number: Sequence[Fraction], count: int, questions: int) -> list[Tree]:
    """Exactly `count` trees from all nodes, or Refused."""
    for asked in split:
        known = asked.denominator == 1 and LEAF <= asked < questions
        need(known, "A node of a tree asks for something that is not there.")
    trees: list[Tree] = []
    start = 0
    for _ in range(count):
        trees.append(_one(split, number, start))
        start += len(trees[-1])
    if start < len(split):
        _incomplete()
    return trees


def _incomplete() -> None:
    raise Refused("The nodes of a layer of trees do not make up its trees.")


def _one(split: Sequence[Fraction], number: Sequence[Fraction], start: int) -> Tree:
    """The tree whose root is the node `start`."""
    depths: list[int] = []  # by place in the tree
    right_of: dict[int, int] = {}
    waiting: list[tuple[int | None, int]] = [(None, 0)]  # of nodes to come: whose right child it is, if any; its depth
    while waiting:
        at = len(depths)
        if start + at >= len(split):
            _incomplete()
        parent, depth = waiting.pop()
        if parent is not None:
            right_of[parent] = at
        depths.append(depth)
        if split[start + at] != LEAF:
            waiting += [(at, depth + 1), (None, depth + 1)]
    return [
        Node(int(split[start + at]), number[start + at], depth, at + 1, right_of.get(at, at))
        for at, depth in enumerate(depths)
    ]


# (leaves)·(sum of their depths), for trees of at most 256 leaves
def work(tree: Tree) -> int:
    """What comparing all pairs of leaves may cost."""
    depths = [node.depth for node in tree if node.asks == LEAF]
    return len(depths) * sum(depths) if len(depths) <= MOST_LEAVES else 0


# ---- values ----------------------------------------------------------------------------------------------------------


def value(tree: Tree, questions: Sequence[Question]) -> Value:
    """What is known of the value of a tree: by its nodes, and by pairs of leaves where these leave both signs open."""
    found = _by_nodes(tree, questions)
    leaves = sum(node.asks == LEAF for node in tree)
    if found.low < 0 < found.high and leaves <= MOST_LEAVES:
        low, high = _by_pairs(_leaves(tree, questions), questions)
        return Value(found.lo, found.hi, low, high)
    return found


def _by_nodes(tree: Tree, questions: Sequence[Question]) -> Value:
    known: dict[int, Value] = {}
    for at in reversed(range(len(tree))):
        node = tree[at]
        if node.asks == LEAF:
            known[at] = Value(node.number, node.number, ZERO, ZERO)
            continue
        left, right, z = known.pop(node.left), known.pop(node.right), questions[node.asks]
        if z.hi <= node.number:
            known[at] = left
        elif z.lo > node.number:
            known[at] = right
        else:
            known[at] = _parting(left, right, z)
    return known[0]


# copy 1 right, copy 2 left: v_1 − v_2 from right.lo − left.hi to right.hi − left.lo; the other way round its negative
def _parting(left: Value, right: Value, z: Question) -> Value:
    least, most = right.lo - left.hi, right.hi - left.lo
    lows, highs = [left.low, right.low], [left.high, right.high]
    if z.high > 0:
        lows.append(least)
        highs.append(most)
    if z.low < 0:
        lows.append(-most)
        highs.append(-least)
    return Value(min(left.lo, right.lo), max(left.hi, right.hi), min(lows), max(highs))


@dataclass(frozen=True)
class Leaf:
    """A leaf that can be reached: z > above and z ≤ upto of every question on its path, where these are given."""

    number: Fraction
    above: Mapping[int, Fraction]
    upto: Mapping[int, Fraction]


def _leaves(tree: Tree, questions: Sequence[Question]) -> list[Leaf]:
    out = []
    paths: dict[int, Leaf] = {0: Leaf(ZERO, {}, {})}  # of nodes that can be reached
    for at, node in enumerate(tree):
        path = paths.pop(at, None)
        if path is None:
            continue
        if node.asks == LEAF:
            out.append(Leaf(node.number, path.above, path.upto))
            continue
        asks, theta, z = node.asks, node.number, questions[node.asks]
        if z.lo <= theta:
            least = min(path.upto.get(asks, theta), theta)
            paths[node.left] = Leaf(ZERO, path.above, {**path.upto, asks: least})
        if z.hi > theta:
            most = max(path.above.get(asks, theta), theta)
            paths[node.right] = Leaf(ZERO, {**path.above, asks: most}, path.upto)
    return out


def _by_pairs(leaves: Sequence[Leaf], questions: Sequence[Question]) -> tuple[Fraction, Fraction]:
    low = high = ZERO
    for p in leaves:
        for q in leaves:
            apart = q.number - p.number
            if not low <= apart <= high and _together(p, q, questions):
                low, high = min(low, apart), max(high, apart)
    return low, high


# a question with an end a_p and an end b_q needs low < b_q − a_p, one with a_q and b_p needs high > a_q − b_p
def _together(p: Leaf, q: Leaf, questions: Sequence[Question]) -> bool:
    """Whether two inputs of the premise may fall into p (copy 2) and q (copy 1)."""
    near = all(questions[i].low < q.upto[i] - p.above[i] for i in p.above.keys() & q.upto.keys())
    return near and all(questions[i].high > q.above[i] - p.upto[i] for i in p.upto.keys() & q.above.keys())
