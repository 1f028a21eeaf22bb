"""The slope rule: claims that are tight on the diagonal, proved by the signs of slopes in every activation cell.

With a box of zero width f = g∘lower is piecewise linear. A row ``F(x_1) − F(x_2) ≤ 0`` on ordered pairs (x_1,i − x_2,i
has the sign σ_i, other coordinates equal) holds if in every non-empty activation cell

    σ_i·( q_i + Σ_{j active} κ_j·w_ji ) ≤ 0      for every ordered coordinate i.

Branch-and-bound over the phases of units at *one* point. A leaf holds if the inequality holds with every undecided unit
counted at its worst, max(0, σ_i κ_j w_ji); a leaf is empty if multipliers λ ≥ 0 of its phase splits give
Σ λ_e·(±s_e) < 0 on the whole box. The rule is sufficient, not necessary: a cell without interior may fail it, so
failure refutes nothing. docs/certificate.md §4.3 has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.provers.proof import ALL_COPIES, Empty, Group, Input, Leaf, Node, Phase, SlopeProof
from smilenn.provers.prover import EPS, FOREVER, Goal, allowance, evaluated
from smilenn.provers.rules.rule import Cost, Emission, Rule
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.tree import Trees
from smilenn.provers.tree.written import BITS, leaf_proof
from smilenn.reason import Reason, Why
from smilenn.verdict import Maximum

CLEARLY = 1e-5  # of a coordinate's range: ends that cross by less are left to a linear program


@dataclass
class SlopeNode:
    """A cell: box lo, hi [m] (model units) and phases [H] with the splits on their path.

    It is split by a phase ("phase", unit, 0), a whole number ("input", coordinate, raw threshold) or a category
    ("group", group, 0); or it is a leaf that holds, or one that is `empty` by multipliers of its path.
    """

    lo: np.ndarray
    hi: np.ndarray
    phase: np.ndarray
    path: tuple[tuple[int, int], ...] = ()
    split: tuple[str, int, float] | None = None
    empty: np.ndarray | None = None
    children: list[SlopeNode] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class SlopeTree:
    """The tree, and why it stopped where not every leaf was closed.

    `pair` [2, m] (model units), where a cell with an interior failed: two of its points, ordered as the claim has them,
    between which F moves the wrong way (unless a unit that no split decided interferes).
    """

    root: SlopeNode
    nodes: int
    seconds: float
    stopped: Why | None = None
    pair: np.ndarray | None = None

    @property
    def complete(self) -> bool:
        """Whether every leaf was closed."""
        return self.stopped is None


@dataclass(frozen=True)
class SlopeRule(Rule):
    """The slope rule; where a cell fails it, nothing is refuted and the next rule is asked."""

    name: ClassVar[str] = "slopes"
    tolerance: ClassVar[float] = 1e-9
    checked: ClassVar[str] = "slope"
    shows: ClassVar[str] = "ε = 0 on ordered pairs, with boxes of zero width"
    cost: ClassVar[Cost] = Cost.SEARCH
    because: ClassVar[str] = "the claim is tight on the diagonal of ordered pairs, and the box has no width"
    decisive: ClassVar[bool] = False

    @property
    def title(self) -> str:
        """The name in verdicts."""
        return "the slopes of the network"

    def refuses(self, problem: Problem, row: Row) -> str | None:
        """A sentence why the slope rule does not apply, or None."""
        region, s = problem.region, problem.snapshot
        if problem.copies != 2 or region.has_rows:
            return "The slope rule needs two copies and no extra rows."
        if row.rhs < 0 or row.outputs.sum(axis=0).any() or row.inputs.sum(axis=0).any():
            return "The slope rule needs a difference of the two copies and a right side ≥ 0."
        if not s.zero_gap:
            return "The slope rule needs a box of zero width."
        moving = ~region.pinned
        if (moving & region.grouped).any() or not ((region.delta_hi <= 0) | (region.delta_lo >= 0))[moving].all():
            return "The slope rule needs ordered pairs of numbers, the rest equal."
        return None

    def declines(self, problem: Problem, row: Row) -> str | None:
        """Rows with room, which a network may use."""
        return "A right side above zero is room that the slopes cannot use." if row.rhs > 0 else None

    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """The bound 0 − rhs if every cell's slopes have the right sign; else none, and often a pair that fails."""
        tree = slope_tree(problem, row, time_limit=time_limit)
        stopped = tree.stopped if tree.stopped is not None or _confirmed(problem, tree.root) else Why(Reason.SLIVER)
        point, lower = evaluated(problem, row, tree.pair)
        upper, error = -row.rhs if stopped is None else np.inf, allowance(problem, row)
        return Maximum(upper, lower, point, stopped, self.title, tree.seconds, tree.nodes, error)

    def emit(self, problem: Problem, row: Row, *, time_limit: float, trees: Trees | None = None) -> Emission:
        """The tree over phases; where it stops, the root of the leaf rule, which bounds the violation.

        The leaf rule cannot prove ε = 0 on the diagonal, so a larger tree of it would gain nothing.
        """
        tree = slope_tree(problem, row, time_limit=time_limit)
        if tree.stopped is None:
            return Emission(slope_proof(tree.root))
        found = BranchAndBound().search(problem, row, time_limit=time_limit, most=1)
        return Emission(leaf_proof(problem, found), Why.of(Reason.SLOPES, tree.stopped))


def _confirmed(problem: Problem, root: SlopeNode) -> bool:
    """Whether the multipliers of every empty leaf leave it no point, rounding included: no solver's word counts."""
    stack = [root]
    while stack:
        node = stack.pop()
        stack += node.children
        if node.empty is not None and not _crosses_zero(problem, node, node.empty):
            return False
    return True


def _crosses_zero(problem: Problem, node: SlopeNode, multipliers: np.ndarray) -> bool:
    """Whether max Σ_e λ_e·(±s_e(x)) < 0 over the cell's box × one-hot groups."""
    s, region = problem.snapshot, problem.region
    units, signs = [j for j, _ in node.path], np.array([sign for _, sign in node.path], dtype=np.float64)
    lam = multipliers * signs
    slope, const = lam @ s.hidden_weight[units], float(lam @ s.hidden_bias[units])
    plain, reach = ~region.grouped, np.maximum(np.abs(node.lo), np.abs(node.hi))
    most = const + float(np.maximum(slope * node.lo, slope * node.hi)[plain].sum())
    most += sum(max(float(slope[i]) for i in group if node.hi[i] > 0.5) for group in region.groups)
    size = float(multipliers @ (np.abs(s.hidden_weight[units]) @ reach + np.abs(s.hidden_bias[units])))
    return most < -2.0 * EPS * (len(units) + region.size + 8) * size


def slope_proof(root: SlopeNode) -> SlopeProof:
    """The tree in preorder; the largest multiplier of an empty leaf has BITS bits, for only their ratios matter."""
    nodes: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        stack += reversed(node.children)
        nodes.append(_written(node))
    return SlopeProof(BITS, tuple(nodes))


def _written(node: SlopeNode) -> Node:
    if node.split is not None:
        kind, index, threshold = node.split
        if kind == "input":
            return Input(ALL_COPIES, index, threshold)
        return Phase(ALL_COPIES, index) if kind == "phase" else Group(ALL_COPIES, index)
    if node.empty is None:
        return Leaf()
    scale = 2**BITS / max(float(node.empty.max()), 1e-300)
    return Empty(tuple(round(v * scale) for v in node.empty))


def slope_tree(problem: Problem, row: Row, *, time_limit: float = 60.0, most: int = 20_000) -> SlopeTree:
    """Grow the tree depth first until every leaf holds or is empty, or a limit is reached."""
    start, growth = perf_counter(), _Growth.of(problem, row)
    stack, count = [growth.root], 1

    def tree(why: Why | None = None, pair: np.ndarray | None = None) -> SlopeTree:
        return SlopeTree(growth.root, count, perf_counter() - start, why, pair)

    while stack:
        if count > most or perf_counter() - start > time_limit:
            return tree(Why(Reason.TIME))
        node = stack.pop()
        if not growth.split(node):
            return tree(Why(Reason.SLIVER), growth.pair(node))
        stack += reversed(node.children)
        count += len(node.children)
    return tree()


@dataclass(frozen=True, eq=False)
class _Growth:
    """What every node of a slope tree asks: gains [H, moving] of the units and slopes [moving] without them."""

    problem: Problem
    root: SlopeNode
    moving: np.ndarray
    sigma: np.ndarray
    gains: np.ndarray
    fixed: np.ndarray

    @classmethod
    def of(cls, problem: Problem, row: Row) -> _Growth:
        s, region = problem.snapshot, problem.region
        moving = np.flatnonzero(~region.pinned)
        sigma = np.where(region.delta_hi[moving] <= 0, -1.0, 1.0)
        gains = (row.unit[0][:, None] * s.hidden_weight[:, moving]) * sigma
        lo, hi = region.lo.min(axis=0), region.hi.max(axis=0)
        root = SlopeNode(lo, hi, np.zeros(len(s.hidden_bias), dtype=np.int8))
        return cls(problem, root, moving, sigma, gains, row.slope[0][moving] * sigma)

    def split(self, node: SlopeNode) -> bool:
        """Give the node its children, or none where it holds or is empty; False where nothing of this can be done."""
        worst, candidates = self._slopes(node)
        if (worst <= 0).all():
            return True
        node.empty, decided = _crossed(self.problem, node)
        if node.empty is not None:
            return True
        further = candidates.max(initial=0.0) > 0
        deepest = None if not node.path or (decided and further) else _deepest(self.problem, node)
        if deepest is not None and deepest.status == 0 and deepest.fun > 1e-9:  # depth < −1e-9: clearly empty
            node.empty = np.maximum(-deepest.ineqlin.marginals, 0.0)
        elif further:
            _split_phase(node, int(candidates.argmax()))
        else:
            return _split_discrete(self.problem, node, deepest)
        return True

    def pair(self, node: SlopeNode) -> np.ndarray | None:
        """Two inputs of a node that could not be split, whose order the function may break; None if none are found."""
        i = int(self._slopes(node)[0].argmax())
        deepest = _deepest(self.problem, node) if node.path else None
        return _pair(self.problem, node, deepest, int(self.moving[i]), float(self.sigma[i]))

    def _slopes(self, node: SlopeNode) -> tuple[np.ndarray, np.ndarray]:
        """The largest slope in every moving coordinate, and by how much each open unit's phase would help, [H].

        An open unit of either sign helps: phase by phase it counts as it is, instead of at its worst.
        """
        low, high = _ranges(self.problem, node.lo, node.hi)
        off = (node.phase < 0) | (high <= 0)
        on = ~off & ((node.phase > 0) | (low >= 0))
        open_ = ~off & ~on
        worst = self.fixed + self.gains[on].sum(axis=0) + np.maximum(self.gains[open_], 0.0).sum(axis=0)
        return worst, np.where(open_[:, None], np.abs(self.gains), 0.0)[:, worst > 0].sum(axis=1)


def _split_phase(node: SlopeNode, unit: int) -> None:
    node.split = ("phase", unit, 0.0)
    for sign in (-1, 1):
        phase = node.phase.copy()
        phase[unit] = sign
        node.children.append(SlopeNode(node.lo, node.hi, phase, (*node.path, (unit, sign))))


def _crossed(problem: Problem, node: SlopeNode) -> tuple[np.ndarray | None, bool]:
    """Units of one coordinate each say u_i ≥ −b/w or u_i ≤ −b/w by their phases: no linear program is needed.

    Multipliers [path] where two of them contradict each other, (u_i − l) + (h − u_i) = h − l < 0, by enough to survive
    their rounding in a certificate; and whether all units of the path are of this kind.
    """
    s, plain = problem.snapshot, ~problem.region.grouped
    least: dict[int, tuple[float, int]] = {}
    most: dict[int, tuple[float, int]] = {}
    decided = True
    for e, (unit, sign) in enumerate(node.path):
        own = np.flatnonzero(s.hidden_weight[unit])
        if len(own) != 1 or not plain[own[0]]:
            decided = False
            continue
        i, w = int(own[0]), float(s.hidden_weight[unit, own[0]])
        end = -float(s.hidden_bias[unit]) / w
        if sign * w > 0:
            least[i] = max(least.get(i, (-np.inf, e)), (end, e))
        else:
            most[i] = min(most.get(i, (np.inf, e)), (end, e))
        if i in least and i in most and least[i][0] - most[i][0] > CLEARLY * (node.hi[i] - node.lo[i]):
            found = np.zeros(len(node.path))
            for place in (least[i][1], most[i][1]):
                found[place] = 1.0 / abs(float(s.hidden_weight[node.path[place][0], i]))
            return found, decided
    return None, decided


def _split_discrete(problem: Problem, node: SlopeNode, deepest: Any) -> bool:
    """Split a pinned whole number or category that is not at one of its values in the cell's deepest point.

    Only pinned ones: f may dip between two values of a feature that moves, and that counts.
    """
    region, domain = problem.region, problem.domain
    middle = (node.lo + node.hi) / 2 if deepest is None or deepest.x is None else deepest.x[:-1]
    for g, group in enumerate(region.groups):
        members = np.array(group)
        if region.pinned[members].all() and (node.hi[members] > 0.5).sum() > 1:
            node.split = ("group", g, 0.0)
            for chosen in members:
                hi = node.hi.copy()
                hi[np.setdiff1d(members, chosen)] = 0.0
                node.children.append(replace(node, hi=hi, split=None, children=[]))
            return True
    raw = middle / domain.mult + domain.shift
    away = np.abs(raw - np.rint(raw)) * (region.pinned & ~region.grouped & domain.integral)
    i = int(away.argmax())
    if away[i] < 1e-6:
        return False
    left = float(np.floor(raw[i]))
    node.split = ("input", i, left)
    hi, lo = node.hi.copy(), node.lo.copy()
    hi[i] = (left - domain.shift[i]) * domain.mult[i]
    lo[i] = (left + 1 - domain.shift[i]) * domain.mult[i]
    node.children = [
        replace(node, hi=hi, split=None, children=[]),
        replace(node, lo=lo, split=None, children=[]),
    ]
    return True


def _ranges(problem: Problem, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of the pre-activations at one point of the box × one-hot groups, each [H]."""
    s, region = problem.snapshot, problem.region
    plain = ~region.grouped
    w = s.hidden_weight[:, plain]
    low = s.hidden_bias + np.minimum(w * lo[plain], w * hi[plain]).sum(axis=1)
    high = s.hidden_bias + np.maximum(w * lo[plain], w * hi[plain]).sum(axis=1)
    for group in region.groups:
        members = [i for i in group if hi[i] > 0.5]
        low, high = low + s.hidden_weight[:, members].min(axis=1), high + s.hidden_weight[:, members].max(axis=1)
    return low, high


def _pair(problem: Problem, node: SlopeNode, deepest: Any, i: int, sign: float) -> np.ndarray | None:
    """Two points of a cell that differ in coordinate i only, the first ahead in the direction `sign`; or None."""
    if deepest is None or deepest.status != 0 or deepest.x[-1] <= 1e-9:
        return None
    centre, depth, lo, hi = deepest.x[:-1], float(deepest.x[-1]), node.lo[i], node.hi[i]
    steepest = float(np.abs(problem.snapshot.hidden_weight[[j for j, _ in node.path], i]).max(initial=0.0))
    reach = depth / steepest if steepest > 0 else hi - lo
    ahead, behind = centre.copy(), centre.copy()
    ahead[i], behind[i] = np.clip(centre[i] + sign * reach, lo, hi), np.clip(centre[i] - sign * reach, lo, hi)
    return np.stack([ahead, behind])


def _deepest(problem: Problem, node: SlopeNode) -> Any:
    """The LP max θ ≤ 1 with ±s_e(x) ≥ θ for the phases of the path, x in the cell's box × one-hot groups."""
    from scipy.optimize import linprog

    s, region = problem.snapshot, problem.region
    units, signs = [j for j, _ in node.path], np.array([sign for _, sign in node.path], dtype=np.float64)
    rows = np.column_stack([-signs[:, None] * s.hidden_weight[units], np.ones(len(units))])
    sums = np.zeros((len(region.groups), region.size + 1))
    for g, group in enumerate(region.groups):
        sums[g, list(group)] = 1.0
    cost = np.zeros(region.size + 1)
    cost[-1] = -1.0
    return linprog(
        cost,
        A_ub=rows,
        b_ub=signs * s.hidden_bias[units],
        bounds=[*zip(node.lo, node.hi, strict=True), (None, 1.0)],
        A_eq=sums if len(sums) else None,
        b_eq=np.ones(len(sums)) if len(sums) else None,
        method="highs",
    )
