"""Where training gets its counterexamples: a pool per inequality, re-scored first, refreshed by the cheapest source.

    affine ψ            the exact maximiser, closed form
    one input           the exact sweep's local maxima, one per decreasing run
    otherwise           Frank-Wolfe search seeded with the pool: when an epoch begins, when the pool violates the claim
                        again, and after `RARELY` times that it did not

The pool keeps its best points whether they violate the claim or not: re-scoring them, a few hundredths of a search,
notices most violations that come back. Only those that do press on the weights.

These are counterexamples of the *box* to the claim made slightly more demanding (`demand.py`). Proof is not their job:
`bound` proves a row or finds a violation, and is called once a round of posttraining. It keeps the tree of the last
proof and takes over its splits, for weights move little from one round to the next.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from smilenn.model.snapshot import Snapshot
from smilenn.problem import Problem, Row, build
from smilenn.properties.claim import Claim
from smilenn.provers.portfolio import generate
from smilenn.provers.prover import allowance
from smilenn.provers.rules.closed_form import ClosedForm
from smilenn.provers.rules.sweep import local_maxima
from smilenn.provers.rules.table import decider
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.tree import Trees, tree_key
from smilenn.search.gradient import search
from smilenn.search.pool import Pool
from smilenn.train.config import Config
from smilenn.train.demand import demanding, flip_margin, unit
from smilenn.train.losses import Pressure
from smilenn.verdict import Maximum

RARELY = 8  # refreshes of a pool without violations between two searches


@dataclass
class Generator:
    """The pool of one claim; `calls` and `seconds` count the work for the history, `waited` refreshes without any."""

    claim: Claim
    config: Config
    base: Problem
    pool: Pool = field(default_factory=Pool)
    calls: int = 0
    seconds: float = 0.0
    waited: int = 0
    trees: Trees = field(default_factory=Trees)

    @classmethod
    def of(cls, claim: Claim, snapshot: Snapshot, config: Config) -> Generator:
        """Ground the claim once.

        Whole-number features that move in a claim tight on the diagonal count as real: such claims are certified by the
        slopes of f, and a dip between two whole numbers has a slope too.
        """
        base = build(claim, snapshot)
        if base.tight and base.copies == 2:
            moving = ~base.region.pinned & ~base.region.grouped
            base = replace(base, region=replace(base.region, step=np.where(moving, 0.0, base.region.step)))
        return cls(claim, config, base, Pool(config.pool * len(base.rows)))

    def problem(self, snapshot: Snapshot, slack: float | None = None) -> Problem:
        """The claim on a snapshot, more demanding by `slack` (default: the configured one)."""
        slack = self.config.slack if slack is None else slack
        return demanding(build(self.claim, snapshot, like=self.base), slack)

    def refresh(self, snapshot: Snapshot, rng: np.random.Generator, *, fresh: bool = True) -> Pressure:
        """Re-score the pool on new weights, look for new counterexamples, and abstract what violates (CEProp).

        Without `fresh` nothing is searched for a while if the pool does not violate the claim.
        """
        start = time.perf_counter()
        problem = self.problem(snapshot)
        pool = self.pool.rescore(problem)
        self.waited = 0 if fresh or pool.best > 0 else self.waited + 1
        for r, row in enumerate(problem.rows):
            exact = self._exact(problem, row)
            if exact is None and self.waited % RARELY == 0:
                exact = self._searched(problem, row, pool.seeds(r), rng)
            if exact is not None:
                pool = pool.add(problem, r, exact)
                self.calls += 1
        self.pool = pool
        self.seconds += time.perf_counter() - start
        units = np.array([unit(row) for row in problem.rows])
        abstraction = pool.violated().abstraction(problem)
        return Pressure(abstraction, units[abstraction.row], flip_margin(problem, self.config.slack))

    def bound(self, problem: Problem, r: int, config: Config) -> Maximum:
        """Prove row r or find a violation; where neither comes in the time of `config`, the bound so far."""
        row = problem.rows[r]
        one = decider(problem, row)
        self.calls += 1
        if isinstance(one, BranchAndBound):
            like = self.trees.get(tree_key(problem, row))
            tree = one.search(problem, row, time_limit=config.generator_limit, written=False, like=like)
            self.trees[tree_key(problem, row)] = tree
            upper = tree.bound + allowance(problem, row)
            found = Maximum(upper, tree.value, tree.point, tree.stopped, seconds=tree.seconds, nodes=tree.nodes)
        else:
            found = generate(problem, row, start=config.generator_seconds, limit=config.generator_limit)
        self.seconds += found.seconds
        return found

    def add(self, problem: Problem, r: int, u: np.ndarray) -> None:
        """Put counterexamples u [B, k, m] of row r into the pool."""
        self.pool = self.pool.add(problem, r, u)

    def _exact(self, problem: Problem, row: Row) -> np.ndarray | None:
        """The maximisers [B, k, m] where they are known without a search, else None."""
        if problem.domain.size == 1 and problem.copies <= 2 and not problem.region.has_rows:
            return local_maxima(problem, row, limit=self.config.pool)
        exact = ClosedForm()
        if not row.unit.any() and exact.refuses(problem, row) is None:
            point = exact.maximise(problem, row, time_limit=self.config.generator_seconds).point
            return np.zeros((0, problem.copies, problem.domain.size)) if point is None else point[None]
        return None

    def _searched(self, problem: Problem, row: Row, seeds: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
        starts, iterations = self.config.search_starts, self.config.search_iterations
        return search(problem, row, starts=starts, iterations=iterations, rng=rng, seeds=seeds).u
