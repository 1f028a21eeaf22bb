"""Where training gets its counterexamples: a pool per inequality, re-scored first, refreshed by the cheapest source.

    affine ψ            the exact maximiser, closed form
    one input           the exact sweep's local maxima, one per decreasing run
    otherwise           Frank-Wolfe search seeded with the pool

These are counterexamples of the *box* to the claim made slightly more demanding (`demand.py`). Proof is not their job.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import torch

from smilenn.model.net import SmileNet
from smilenn.model.snapshot import Snapshot
from smilenn.problem import Problem, Row, build
from smilenn.properties.claim import Claim
from smilenn.properties.premise import Premise, ground
from smilenn.prove.closed_form import ClosedForm
from smilenn.prove.sweep import local_maxima
from smilenn.search.gradient import search
from smilenn.train.config import Config
from smilenn.train.demand import demanding, unit
from smilenn.train.losses import Abstracted


@dataclass
class Generator:
    """The pools of one claim; `calls` and `seconds` count the work for the history."""

    claim: Claim
    premise: Premise
    config: Config
    pools: list[np.ndarray] = field(default_factory=list)
    calls: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, claim: Claim, net: SmileNet, config: Config) -> Generator:
        """Ground the claim once."""
        return cls(claim, ground(claim, net.domain), config)

    def problem(self, snapshot: Snapshot, slack: float | None = None) -> Problem:
        """The claim on a snapshot, more demanding by `slack` (default: the configured one)."""
        return demanding(build(self.claim, snapshot, self.premise), self.config.slack if slack is None else slack)

    def refresh(self, snapshot: Snapshot, rng: np.random.Generator, fresh: bool = True) -> Problem:
        """Re-score the pools on new weights and, if `fresh`, look for new counterexamples; returns the problem used."""
        start = time.perf_counter()
        problem = self.problem(snapshot)
        if len(self.pools) != len(problem.rows):
            k, m = problem.copies, problem.domain.size
            self.pools = [np.zeros((0, k, m)) for _ in problem.rows]
        for r, row in enumerate(problem.rows):
            u = self.pools[r]
            if fresh:
                u = np.concatenate([u, self._fresh(problem, row, u, rng)])
                self.calls += 1
            self.pools[r] = _best(problem, row, u, self.config.pool)
        self.seconds += time.perf_counter() - start
        return problem

    def add(self, problem: Problem, r: int, u: np.ndarray) -> None:
        """Put counterexamples u [B, k, m] of row r into its pool."""
        self.pools[r] = _best(problem, problem.rows[r], np.concatenate([u, self.pools[r]]), self.config.pool)

    def _fresh(self, problem: Problem, row: Row, pool: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if problem.domain.size == 1 and problem.copies <= 2 and not problem.region.has_rows:
            return local_maxima(problem, row, limit=self.config.pool)
        exact = ClosedForm()
        if not row.unit.any() and exact.refuses(problem, row) is None:
            point = exact.maximise(problem, row, time_limit=self.config.generator_seconds).point
            return np.zeros((0, *pool.shape[1:])) if point is None else point[None]
        found = search(
            problem,
            row,
            starts=self.config.search_starts,
            iterations=self.config.search_iterations,
            rng=rng,
            seeds=pool,
        )
        return found.u

    def abstracted(self, problem: Problem, device: torch.device) -> Abstracted:
        """CEProp: the pool with the vertices that the head's signs choose, as tensors."""
        parts: list[tuple[np.ndarray, ...]] = []
        for row, u in zip(problem.rows, self.pools, strict=True):
            p = len(u)
            upper = np.broadcast_to(row.outputs @ problem.snapshot.head_weight > 0, (p, *row.flip.shape))
            offset = np.einsum("pkm,km->p", u, row.inputs) + row.input_const - row.rhs
            outputs = np.broadcast_to(row.outputs, (p, *row.outputs.shape))
            parts.append((u, upper, outputs, offset, np.full(p, unit(row))))
        u, upper, outputs, offset, units = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Abstracted(
            torch.as_tensor(u, device=device),
            torch.as_tensor(upper.copy(), device=device),
            torch.as_tensor(outputs.copy(), device=device),
            torch.as_tensor(offset, device=device),
            torch.as_tensor(units, device=device),
            torch.as_tensor(
                problem.flips.const - (problem.snapshot.second_const - problem.snapshot.lower_const), device=device
            ),  # fmt: skip
        )


def _best(problem: Problem, row: Row, u: np.ndarray, limit: int) -> np.ndarray:
    """The `limit` worst still violating tuples of u [B, k, m], near-duplicates dropped."""
    if not len(u):
        return u
    value = problem.value(u, row)
    order = np.argsort(-value, kind="stable")
    order = order[value[order] > 0][: 8 * limit]
    span = np.maximum(problem.region.hi - problem.region.lo, 1e-9)
    kept: list[int] = []
    for i in order:
        if len(kept) == limit:
            break
        if all(np.abs((u[i] - u[j]) / span).max() > 1e-3 for j in kept):
            kept.append(int(i))
    return u[kept]
