"""Provers against each other: the paper's full model, the reduced MIP, and the closed form or sweep where they apply.

Three jobs per case: ``opt`` (the maximum, gap 1e-6), ``prove`` (ε a thousandth above the maximum) and ``find`` (a
violation of at least half the maximum). The paper's model answers two-sided claims in one go, with its binary b; the
others need one side of a symmetric claim. Random networks of the paper's shapes; one thread; ratios in one run are what
to trust.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from smilenn.domain import Domain, Feature
from smilenn.model.snapshot import Snapshot
from smilenn.problem import Problem, Row, build
from smilenn.properties.claim import Claim, row
from smilenn.prove.mip import ReducedMip
from smilenn.prove.paper_mip import two_sided
from smilenn.prove.portfolio import choose
from smilenn.prove.prover import Prover
from smilenn.prove.solvers import Status

LIMIT = 60.0  # seconds per solve


def snapshot(domain: Domain, hidden: int, boxes: Any = "gap", embedding: int = 8, seed: int = 0) -> Snapshot:
    """Random auxiliaries: `hidden` units each for lower and second, 0 for affine ones."""
    rng = np.random.default_rng(seed)
    m, h = domain.size, 2 * hidden
    weight = rng.normal(size=(h, m)) / np.sqrt(m)
    bias = -weight @ (domain.scale(domain.lo) + domain.scale(domain.hi)) / 2 + 0.1 * rng.normal(size=h)
    lower, second = rng.normal(size=(embedding, h)), rng.normal(size=(embedding, h))
    lower[:, hidden:], second[:, :hidden] = 0, 0
    slope = np.zeros((2, embedding, m)) if hidden else rng.normal(size=(2, embedding, m)) / np.sqrt(m)
    const = 0.1 * rng.normal(size=(2, embedding))
    if boxes == "gap":
        second = 0.1 * np.abs(second)
        slope[1], const[1] = 0, np.abs(const[1])
    return Snapshot(
        domain, boxes, weight, bias, const[0], slope[0], lower, const[1], slope[1], second,
        rng.normal(size=(1, embedding)) / np.sqrt(embedding), np.zeros(1), ("",), np.ones(1),
    )  # fmt: skip


def fair(inputs: int, hidden: int, boxes: Any = "gap") -> Problem:
    """A six-valued protected attribute among `inputs` coordinates, the rest equal."""
    rest = tuple(Feature(f"x{i}") for i in range(inputs - 6))
    domain = Domain((*rest, Feature("race", "category", categories=tuple("abcdef"))))
    when = (row([(1, 0, "in", "race=a"), (-1, 1, "in", "race=a")], 1),)
    return build(Claim(2, when, (_difference(),)), snapshot(domain, hidden, boxes))


def robust(inputs: int, hidden: int, boxes: Any = "gap", delta: float = 0.1) -> Problem:
    """Every input may move by δ."""
    domain = Domain.box([0.0] * inputs, [1.0] * inputs)
    when = tuple(row([(s, 0, "in", n), (-s, 1, "in", n)], delta) for n in domain.coordinates for s in (1, -1))
    return build(Claim(2, when, (_difference(),)), snapshot(domain, hidden, boxes))


def monotone(hidden: int, boxes: Any = "gap") -> Problem:
    """One input, a ≤ b."""
    when = (row([(1, 0, "in", "x0"), (-1, 1, "in", "x0")], 0),)
    return build(Claim(2, when, (_difference(),)), snapshot(Domain.box([-1.0], [1.0]), hidden, boxes))


def _difference() -> Any:
    return row([(1, 0, "out", ""), (-1, 1, "out", "")], 0)


CASES = {
    "fair-20x4": lambda: fair(20, 4),
    "fair-100x4": lambda: fair(100, 4),
    "fair-20x4-flips": lambda: fair(20, 4, "paper"),
    "robust-32x4": lambda: robust(32, 4),
    "monotone-1x32": lambda: monotone(32),
    "monotone-1x32-flips": lambda: monotone(32, "paper"),
    "affine-784": lambda: robust(784, 0),
    "affine-784-flips": lambda: robust(784, 0, "paper"),
}


def timed(prover: Prover, problem: Problem, one: Row, job: str, best: float) -> float:
    """Seconds for one job; infinite if the prover did not finish it within the limit."""
    size = one.scale
    if job == "prove":
        one = replace(one, rhs=one.rhs + best * 1.001)
        options = {"goal": "prove", "target": 1e-6 * size}
    elif job == "find":
        options = {"goal": "find", "target": 0.5 * best}
    else:
        options = {"goal": "optimum"}
    start = time.perf_counter()
    found = prover.maximise(problem, one, time_limit=LIMIT, **options)
    return time.perf_counter() - start if found.complete else float("inf")


def timed_paper(problem: Problem, job: str, best: float) -> float:
    """Seconds of the paper's two-sided model (one-sided for an ordered premise) for one job."""
    eps, target = {"opt": (0.0, None), "prove": (best * 1.001, 1e-6), "find": (0.0, 0.5 * best)}[job]
    start = time.perf_counter()
    found = two_sided(problem, -eps if problem.premise.symmetric else None, eps, time_limit=LIMIT, target=target)
    done = found.status in (Status.OPTIMAL, Status.ABOVE, Status.BELOW)
    return time.perf_counter() - start if done else float("inf")


def rows(names: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """One dictionary per case, job and peer: case, peer, ours_s, peer_s, ratio; `ours` is what `auto` chooses."""
    for name, case in CASES.items():
        if names and name not in names:
            continue
        problem = case()
        one = problem.rows[0]
        ours = choose(problem, one).prover
        best = ours.maximise(problem, one, time_limit=LIMIT).upper
        for job in ("opt", "prove", "find"):
            seconds = timed(ours, problem, one, job, best)
            peers = {"paper-highs": timed_paper(problem, job, best)}
            if ours.name != "mip":
                peers["reduced-highs"] = timed(ReducedMip(), problem, one, job, best)
            for peer, other in peers.items():
                yield {
                    "case": f"{name}/{job}", "method": ours.name, "peer": peer, "ours_s": seconds, "peer_s": other,
                    "ratio": other / seconds,
                }  # fmt: skip


def main(names: list[str] | None = None) -> None:
    """Print the table."""
    print(f"{'case':28s} {'ours':12s} {'peer':14s} {'ours s':>10s} {'peer s':>10s} {'ratio':>8s}")
    for entry in rows(names):
        other = f">{LIMIT:.0f}" if entry["peer_s"] == float("inf") else f"{entry['peer_s']:.4f}"
        print(
            f"{entry['case']:28s} {entry['method']:12s} {entry['peer']:14s} {entry['ours_s']:10.4f} {other:>10s} "
            f"{entry['ratio']:8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
