"""Sums of regression trees, ``((b + v_1(y)) + v_2(y)) + …``, v_t(y) the value of the leaf that y reaches in tree t.

A node asks for z, a coordinate of y or the largest of a set of them, and goes left if z ≤ θ. Trees are stored node by
node in preorder, all trees one after the other; docs/certificate.md §1 has the format. What two inputs make of a tree
is found from the leaves up,

    node     Δv ∈ hull(Δ left, Δ right, [min right − max left, max right − min left] if Δz may be > 0,
                                        [min left − max right, max left − min right] if Δz may be < 0)
    pairs    leaves p, q with z'' ∈ (a_p, b_p], z' ∈ (a_q, b_q]:  possible if  low < b_q − a_p  and  high > a_q − b_p

the second where the first leaves both signs open. Comparisons are exact, so a tree that rises does so to the bit, and
so does a sum in one order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from smilenn.errors import SmileError
from smilenn.model.encoders.layers import Layer
from smilenn.model.encoders.leaf_sets import LEAF, Column, Nodes, columns, reached
from smilenn.model.profile import added_up, adds_at_once
from smilenn.model.spread import WIDER, Spread

MOST_LEAVES = 256  # of a tree whose leaves are compared pair by pair; the checkers' limit
ROWS = 1024  # that are evaluated together
TILE = 1 << 15  # (tree, row) pairs that walk down together: their numbers stay in the processor's cache
JOINT = 1 << 21  # numbers that the largest of all sets are found among together
STEP, LAST = 3, 4  # how many columns of words of leaves take as long as a step of a walk, and as finding the leaf


def _refuse_bad_set(places: list[int], inputs: int) -> None:
    if not places or places != sorted(set(places)) or places[0] < 0 or places[-1] >= inputs:
        raise SmileError(f"{places} is not a set of places below {inputs} in increasing order.")


class Trees(Layer):
    """`trees` says how many trees each output adds up, `nodes` how many nodes all of them have together.

    `sets` lists what a node may ask for beside single coordinates: sets of places in y, as increasing lists.
    """

    split: torch.Tensor
    number: torch.Tensor
    bias: torch.Tensor

    def __init__(self, inputs: int, trees: Sequence[int], nodes: int, sets: Sequence[Sequence[int]] = ()) -> None:
        super().__init__()
        self.inputs, self.trees, self.nodes = inputs, [int(n) for n in trees], nodes
        self.sets = [[int(i) for i in places] for places in sets]
        self.outputs = len(self.trees)
        if not self.trees or min(self.trees) < 1:
            raise SmileError("Every output of a layer of trees needs at least one tree.")
        for places in self.sets:
            _refuse_bad_set(places, inputs)
        for name, size in (("split", nodes), ("number", nodes), ("bias", self.outputs)):
            self.register_buffer(name, torch.zeros(size, dtype=torch.float64))
        self._plan: Plan | None = None

    @classmethod
    def of(
        cls,
        inputs: int,
        outputs: Sequence[Sequence[tuple[Sequence[int], Sequence[float]]]],
        bias: Sequence[float] | None = None,
        sets: Sequence[Sequence[int]] = (),
    ) -> Trees:
        """A layer from its trees, a list for every output; a tree is (split, number) of its nodes in preorder."""
        trees = [tree for own in outputs for tree in own]
        layer = cls(inputs, [len(own) for own in outputs], sum(len(split) for split, _ in trees), sets)
        layer.split.copy_(torch.tensor([v for split, _ in trees for v in split], dtype=torch.float64))
        layer.number.copy_(torch.tensor([v for _, number in trees for v in number], dtype=torch.float64))
        if bias is not None:
            layer.bias.copy_(torch.tensor(list(bias), dtype=torch.float64))
        layer.plan()
        return layer

    def plan(self) -> Plan:
        """How the trees are walked, for the nodes that are stored now; malformed ones raise a SmileError.

        Buffers can be changed behind a module's back, and a certificate is about what is stored: so a plan is compared
        with it at every use, which takes microseconds.
        """
        plan = self._plan  # read once: another thread may exchange it
        if plan is None or not (torch.compiler.is_compiling() or plan.fits(self)):
            plan = self._plan = Plan.of(self)
        return plan

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → [B, j]. Trees are constant between thresholds: no gradient reaches y."""
        plan = self.plan()
        leaves = self._leaves_of_many(plan, y)
        if leaves is not None:
            return self._sums_at(plan, leaves)
        values = (plan.values(part.contiguous()) for part in self._asked(y).split(ROWS, dim=1))
        return torch.cat([self._sum(part) for part in values], dim=1).T

    def leaves_and_sums(self, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """`leaves` and what the layer returns, of one search where sets find the leaves."""
        plan = self.plan()
        leaves = self._leaves_of_many(plan, y)
        return (self.leaves(y), self(y)) if leaves is None else (leaves, self._sums_at(plan, leaves))

    def _sums_at(self, plan: Plan, leaves: torch.Tensor) -> torch.Tensor:
        """The sums [B, j] of rows that reach these leaves [B, trees]."""
        return torch.cat([self._sum(part) for part in plan.values_at(leaves)], dim=1).T

    def _leaves_of_many(self, plan: Plan, y: torch.Tensor) -> torch.Tensor | None:
        """`leaves` by sets; None where walks are quicker, or needed."""
        if torch.compiler.is_compiling() or y.device.type != "cpu" or y.shape[1] != self.inputs:
            return None
        found = plan.columns(self.inputs, self.sets, len(y))
        return reached(found, y.detach().to(torch.float64)) if found else None

    def _asked(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → what nodes may ask for, [questions, B]."""
        if y.shape[1] != self.inputs:  # the sets would be counted from another place
            raise SmileError(f"The layer of trees reads {self.inputs} coordinates, not {y.shape[1]}.")
        columns, joint = y.detach().to(torch.float64).T, self.plan().joint
        if joint.numel() * len(y) <= JOINT:  # of few rows, calls are what a set costs
            return torch.cat([columns, columns[joint].amax(dim=1)]) if len(joint) else columns.contiguous()
        return torch.cat([columns, *(columns[places].amax(dim=0, keepdim=True) for places in self.sets)]).contiguous()

    def _sum(self, values: torch.Tensor) -> torch.Tensor:
        """The sums [j, B] of the values [trees, B], in the order of the trees; −0 becomes 0."""
        totals, at = [], 0
        for count, start in zip(self.trees, self.bias.unbind(), strict=True):
            own = values[at : at + count]
            if adds_at_once(own, own.numel()):
                total = added_up(start[None, None], own[:, None])[0]
            else:
                total = start.expand(values.shape[1]).clone()
                for value in own.unbind():
                    total += value
            totals.append(total + 0.0)
            at += count
        return torch.stack(totals)

    def leaves(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → the leaf that each row reaches in each tree, [B, trees]: the number of leaves to its left."""
        plan = self.plan()
        leaves = self._leaves_of_many(plan, y)
        return plan.leaf[plan.reached(self._asked(y))].T if leaves is None else leaves

    def propagate(self, spread: Spread) -> Spread:
        """Node by node, and by pairs of leaves where that leaves both signs open."""
        plan = self.plan()
        questions = _questions(spread, self.sets)
        found = plan.walk(questions)
        out = []
        for count, b, at in zip(self.trees, self.bias.tolist(), np.cumsum([0, *self.trees]), strict=False):
            lo, hi, low, high = found[:, at : at + count]
            size = np.maximum(np.abs(lo), np.abs(hi)).sum() + abs(b)
            room = max(WIDER, (count + 5) * 2.0**-52) * size
            ends = (b + lo.sum() - room, b + hi.sum() + room, low.sum() - 2 * room, high.sum() + 2 * room)
            out.append((*ends, (low >= 0).all(), (high <= 0).all()))
        lo, hi, low, high, rises, falls = (np.array(column) for column in zip(*out, strict=True))
        return Spread(lo, hi, low, high, rises, falls).settled()

    def describe(self) -> dict[str, Any]:
        """Kind, sizes and sets; the nodes are tensors."""
        return {
            "kind": "trees",
            "inputs": self.inputs,
            "trees": self.trees,
            "nodes": self.nodes,
            "sets": self.sets,
        }


def _questions(spread: Spread, sets: Sequence[Sequence[int]]) -> np.ndarray:
    """Range and difference of what nodes may ask for, [4, questions], wider than a float's rounding.

    A difference keeps its sign only where the coordinate certainly rises or falls: order must not rest on rounding.
    """
    away = WIDER * np.maximum(np.abs(spread.lo), np.abs(spread.hi)) + np.finfo(float).tiny
    low = np.where(spread.rises, 0.0, np.minimum(spread.low, 0.0) * (1 + WIDER) - away)
    high = np.where(spread.falls, 0.0, np.maximum(spread.high, 0.0) * (1 + WIDER) + away)
    own = np.stack([spread.lo - away, spread.hi + away, low, high])
    if not sets:
        return own
    lo, hi, low, high = own[:, _equally_long(sets)]  # [sets, the longest] each
    joint = np.stack([lo.max(axis=1), hi.max(axis=1), low.min(axis=1), high.max(axis=1)])
    return np.concatenate([own, joint], axis=1)


@dataclass(frozen=True, eq=False)
class Plan:
    """The nodes of a layer in preorder with their children, and in the order in which rows walk them.

    `left` is the place after a node, `right` that after its left subtree. To walk, siblings lie side by side, so that
    a step is ``child + (z > θ)``; a leaf is its own child and has θ = ∞. Trees are walked the deepest first: after
    `active[d]` of them all leaves of depth d are reached.
    """

    split: torch.Tensor
    number: torch.Tensor
    left: np.ndarray
    right: np.ndarray
    starts: np.ndarray  # of trees, and the end
    depth: np.ndarray
    roots: torch.Tensor
    active: list[int]
    place: torch.Tensor  # of a tree among the roots
    asks: torch.Tensor
    theta: torch.Tensor
    child: torch.Tensor
    value: torch.Tensor
    leaf: torch.Tensor
    joint: torch.Tensor  # the places of every set, its first repeated to the length of the longest
    ranks: int  # of all that can be asked: the rows of the tables of leaf_sets.py, at most

    def fits(self, layer: Trees) -> bool:
        """Whether the layer still holds these nodes, on the same device."""
        same = self.split.device == layer.split.device
        return same and torch.equal(self.split, layer.split) and torch.equal(self.number, layer.number)

    @classmethod
    def of(cls, layer: Trees) -> Plan:
        """Read the nodes of a layer."""
        split, number = layer.split.detach().cpu().numpy(), layer.number.detach().cpu().numpy()
        whole = np.isin(split, np.arange(LEAF, layer.inputs + len(layer.sets)))
        if not (whole.all() and np.isfinite(number).all()):
            raise SmileError("A node of a tree asks for something that is not there, or holds a number not finite.")
        right, depth, starts = _children(split)
        if len(starts) != sum(layer.trees) + 1 or starts[-1] != len(split):
            raise SmileError("The nodes of a layer of trees do not make up its trees.")
        n, inner = len(split), split != LEAF
        left = np.where(inner, np.arange(n) + 1, 0)
        deepest = np.maximum.reduceat(depth, starts[:-1])
        order = np.argsort(-deepest, kind="stable")
        # walking numbers: all roots, then the two children of every inner node side by side
        new = np.empty(n, dtype=np.int64)
        new[starts[:-1]] = np.argsort(order, kind="stable")
        parents = np.flatnonzero(inner)
        first = len(starts) - 1 + 2 * np.arange(len(parents))
        new[left[parents]], new[right[parents]] = first, first + 1
        child = np.empty(n, dtype=np.int64)
        child[new] = np.where(inner, new[left], new)
        at = np.argsort(new)
        before = np.cumsum(~inner) - ~inner  # leaves before a node, of all trees
        before -= np.repeat(before[starts[:-1]], np.diff(starts))
        device, single = layer.split.device, inner & (split < layer.inputs)

        def tensor(values: np.ndarray) -> torch.Tensor:
            return torch.as_tensor(np.ascontiguousarray(values), device=device)

        return cls(
            layer.split.detach().clone(),
            layer.number.detach().clone(),
            left,
            right,
            starts,
            depth,
            tensor(np.arange(len(order))),
            [int((deepest > d).sum()) for d in range(int(deepest.max()))],
            tensor(np.argsort(order, kind="stable")),
            tensor(np.where(inner, split, 0).astype(np.int64)[at]),
            tensor(np.where(inner, number, np.inf)[at]),
            tensor(child),
            tensor(np.where(inner, 0.0, number)[at]),
            tensor(before[at]),
            tensor(_equally_long(layer.sets)),
            len({*zip(split[single].tolist(), number[single].tolist(), strict=True)}) + 2 * layer.inputs,
        )

    def columns(self, inputs: int, sets: Sequence[Sequence[int]], rows: int) -> list[Column]:
        """The columns of a layer that find leaves by sets; none where so many rows walk more quickly."""
        if 2 * rows < self.ranks:  # the tables would take longer than the walks
            return []
        nodes = Nodes.of(self.split.numpy(), self.number.numpy(), self.right, self.starts)
        if nodes is None:
            return []
        found = columns(nodes, inputs, sets)
        return found if (len(found) + LAST) * nodes.words < STEP * sum(self.active) else []

    def reached(self, columns: torch.Tensor) -> torch.Tensor:
        """The leaves that rows reach, [trees, B] in the layer's order, from what can be asked for, [questions, B]."""
        rows = columns.shape[1]
        flat, offset = columns.reshape(-1), torch.arange(rows, device=columns.device)
        where = self.asks * rows  # the first row of what a node asks for
        nodes = self.roots[:, None].repeat(1, rows)  # a copy, also of one row: steps are written into it
        step = max(1, TILE // max(1, rows))
        place, z, theta = torch.empty_like(nodes[:step]), *(columns.new_empty((step, rows)) for _ in range(2))
        right = torch.empty_like(place, dtype=torch.bool)
        for first in range(0, len(nodes), step):
            part = nodes[first : first + step]
            for active in self.active:
                n = min(active - first, len(part))
                if n <= 0:
                    break
                now, at = part[:n].view(-1), place[:n]  # results go to the same places: new memory takes longer
                torch.index_select(where, 0, now, out=at.view(-1))
                at += offset
                torch.index_select(flat, 0, at.view(-1), out=z[:n].view(-1))
                torch.index_select(self.theta, 0, now, out=theta[:n].view(-1))
                torch.gt(z[:n], theta[:n], out=right[:n])
                torch.index_select(self.child, 0, now, out=at.view(-1))
                torch.add(at, right[:n], out=part[:n])
        return nodes.index_select(0, self.place)

    def values(self, columns: torch.Tensor) -> torch.Tensor:
        """The values of the leaves that rows reach, [trees, B]."""
        nodes = self.reached(columns)
        return self.value.index_select(0, nodes.view(-1)).view(nodes.shape)

    def values_at(self, leaves: torch.Tensor) -> Iterator[torch.Tensor]:
        """The values of the leaves [B, trees], counted in each tree, as parts [trees, b] of the rows."""
        leaf = self.split == LEAF
        values, first = self.number[leaf], (leaf.cumsum(0) - leaf.to(torch.int64))[self.starts[:-1]]
        for part in leaves.split(ROWS):
            yield values.index_select(0, (part + first).T.reshape(-1)).view(-1, len(part))

    def walk(self, questions: np.ndarray) -> np.ndarray:
        """Range and difference of every tree's value, [4, trees]."""
        split, number = self.split.cpu().numpy().astype(np.int64), self.number.cpu().numpy()
        known = np.zeros((4, len(split)))
        known[:2] = number
        for d in range(int(self.depth.max()) - 1, -1, -1):
            at = np.flatnonzero((self.depth == d) & (split != LEAF))
            known[:, at] = _parted(
                known[:, self.left[at]], known[:, self.right[at]], questions[:, split[at]], number[at]
            )
        found = known[:, self.starts[:-1]]
        for t in np.flatnonzero((found[2] < 0) & (found[3] > 0)):
            nodes = slice(self.starts[t], self.starts[t + 1])
            if (split[nodes] == LEAF).sum() <= MOST_LEAVES:
                found[2:, t] = _by_pairs(split[nodes], number[nodes], self.right[nodes] - self.starts[t], questions)
        return found


def _equally_long(sets: Sequence[Sequence[int]]) -> np.ndarray:
    """Sets as rows of one length: a largest or a least value does not mind an entry that comes twice."""
    longest = max((len(places) for places in sets), default=0)
    rows = [[*places, *[places[0]] * (longest - len(places))] for places in sets]
    return np.array(rows, dtype=np.int64).reshape(len(sets), longest)


def _children(split: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right children (0 for a leaf) and depths of nodes in preorder, and where complete trees start and end."""
    right, depth, starts = np.zeros(len(split), dtype=np.int64), np.zeros(len(split), dtype=np.int64), [0]
    ahead: list[tuple[int, int]] = []  # right children to come: their parents and depths
    level = 0
    for at, asked in enumerate((split != LEAF).tolist()):
        depth[at] = level
        if asked:
            level += 1
            ahead.append((at, level))
        elif ahead:
            parent, level = ahead.pop()
            right[parent] = at + 1
        else:
            level = 0
            starts.append(at + 1)
    return right, depth, np.array(starts)


def _parted(left: np.ndarray, right: np.ndarray, z: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Range and difference [4, n] of nodes from those of their children, their questions and thresholds."""
    lo, hi = np.minimum(left[0], right[0]), np.maximum(left[1], right[1])
    low, high = np.minimum(left[2], right[2]), np.maximum(left[3], right[3])
    on, back = z[3] > 0, z[2] < 0
    least, most = right[0] - left[1], right[1] - left[0]
    low = np.minimum(low, np.minimum(np.where(on, least, 0.0), np.where(back, -most, 0.0)))
    high = np.maximum(high, np.maximum(np.where(on, most, 0.0), np.where(back, -least, 0.0)))
    both = np.stack([lo, hi, low, high])
    return np.where(z[1] <= theta, left, np.where(z[0] > theta, right, both))


def _by_pairs(split: np.ndarray, number: np.ndarray, right: np.ndarray, questions: np.ndarray) -> tuple[float, float]:
    """The range of v_q − v_p over leaves p of the second input and q of the first that the premise lets them reach."""
    asked = np.unique(split[split != LEAF])
    column = {int(question): i for i, question in enumerate(asked)}
    ends = {0: (np.full(len(asked), -np.inf), np.full(len(asked), np.inf))}  # of nodes that can be reached
    leaves = []
    for at, (question, theta) in enumerate(zip(split.tolist(), number.tolist(), strict=True)):
        if at not in ends:
            continue
        above, upto = ends.pop(at)
        if question == LEAF:
            leaves.append((theta, above, upto))
            continue
        i, (lo, hi, _, _) = column[question], questions[:, question]
        if lo <= theta:
            ends[at + 1] = above, np.where(np.arange(len(asked)) == i, np.minimum(upto, theta), upto)
        if hi > theta:
            ends[int(right[at])] = np.where(np.arange(len(asked)) == i, np.maximum(above, theta), above), upto
    values, above, upto = (np.array(part) for part in zip(*leaves, strict=True))
    low, high = questions[2:, asked]
    near = np.ones((len(values), len(values)), dtype=bool)  # [p, q]
    for i in range(len(asked)):
        near &= low[i] < upto[None, :, i] - above[:, None, i]
        near &= high[i] > above[None, :, i] - upto[:, None, i]
    apart = np.where(near, values[None, :] - values[:, None], 0.0)
    return float(apart.min()), float(apart.max())
