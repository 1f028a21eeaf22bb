"""Provers against each other on trained networks: ours, the paper's big-M model and the reduced MIP, side by side.

    python -m smilenn bench proof

An instance is a small network trained on a random teacher and hardened against its own counterexamples for some epochs,
as the training loop leaves it before posttraining. With m* the optimum of its first row there are three jobs, and a
fourth where neither side finishes:

    opt     the maximum, within 1e-6
    prove   no violation above ε = m* + 0.1 %, with the leaves that a certificate needs where there is a tree
    find    a violation of at least half of m*
    match   no violation above ε = what the peer has proved at its limit, with the leaves (asked for by name only);
            the peer then proves the same ε as in "prove", and the faster of its two runs counts

Seconds are CPU seconds of one thread, ours from the weights (a claim's premise is grounded once, as in training) to the
certificate's leaves, the median of a few runs. Limits are CPU seconds too, as far as can be told: the clock's is
stretched by the load of the machine just before. A peer that runs into its limit counts with the CPU seconds it has
used, so such a ratio is a lower bound.

Peers, each with `-highs`, `-gurobi` or `-scip`:

    paper       the paper's model: z, t and b, an M for every row from interval bounds; the solver as it comes
    flipfree    the same without the t, which our boxes do not need: the model gets to know that they cannot flip
    reduced     our own MIP, with our settings of the solver

In "prove" a peer knows ε in the one way of three in which it was the fastest, in the geometric mean (`TOLD`): it stops
as soon as its bound is at most ε; or the model has the row "violation ≥ ε" and must be found infeasible; or that row
and no objective. Only peers are asked like this: a solver that calls a model infeasible gives no bound to check.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Literal

import numpy as np

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError, listed
from smilenn.experiments.proof_cases import EVERY_PEER, USUAL, Case, Job
from smilenn.model.snapshot import Snapshot
from smilenn.problem import Problem, Row, build
from smilenn.properties.claim import Claim
from smilenn.properties.library import Fair, Monotone, Robust
from smilenn.provers.mip.linear_model import at_least
from smilenn.provers.mip.paper import two_sided
from smilenn.provers.mip.presolve import presolve
from smilenn.provers.mip.reduced import ReducedMip, reduced_model
from smilenn.provers.mip.solvers import Solver, Status, installed, solver
from smilenn.provers.mip.solvers.gurobi import Gurobi
from smilenn.provers.mip.solvers.highs import Highs
from smilenn.provers.mip.solvers.scip import Scip
from smilenn.provers.prover import Goal, Prover
from smilenn.provers.rules.sweep import Sweep
from smilenn.provers.rules.table import decider
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.written import leaf_proof
from smilenn.reason import Reason, Why

GOALS: dict[Job, Goal] = {"opt": "optimum", "prove": "prove", "find": "find", "match": "prove"}
EMBEDDING, ROWS = 8, 2000


Told = Literal["row", "row only"]  # "violation ≥ ε" beside the objective, or instead of it
TOLD: dict[str, Told] = {"reduced-highs": "row", "reduced-scip": "row only"}  # the others stop at their bound
REPEATS, ENOUGH = 7, 1.0  # ours: so many runs, or as many as fit into so many seconds


def instance(case: Case, seed: int) -> tuple[Snapshot, Claim]:
    """A trained network and its claim."""
    import torch

    from smilenn.model.backbones import MLP
    from smilenn.model.net import SmileNet
    from smilenn.train.config import Config
    from smilenn.train.fit import fit

    rng = np.random.default_rng(seed)
    if case.kind == "fair":
        rest = tuple(Feature(f"x{i}") for i in range(case.inputs - 6))
        domain = Domain((*rest, Feature("group", "category", categories=tuple("abcdef"))))
        claim = Fair(["group"], 0.3).lower(domain)[0]
    else:
        domain = Domain.box([0.0] * case.inputs, [1.0] * case.inputs)
        claim = (Robust(0.1, 0.5) if case.kind == "robust" else Monotone(["x0"])).lower(domain)[0]
    x = domain.sample(ROWS, rng)
    centred = x - x.mean(axis=0)
    weight = 2.0 * rng.normal(size=(case.inputs, 12)) / math.sqrt(case.inputs)
    y = np.maximum(centred @ weight + 0.3 * rng.normal(size=12), 0.0) @ rng.normal(size=12)
    if case.kind == "monotone":  # a sine on a slope
        y = 4.0 * x[:, 0] + np.sin(20.0 * x[:, 0] + rng.uniform(0.0, 6.0))
    y = (y - y.mean()) / y.std()
    torch.manual_seed(seed)
    net = SmileNet(
        domain,
        MLP(domain.size, (32, 32), EMBEDDING),
        EMBEDDING,
        hidden=max(1, case.hidden),
        boxes=case.boxes,
        auxiliaries="relu" if case.hidden else "affine",
    )
    # least_quality 1 asks the backbone to explain ten times everything: it never refuses
    config = Config(
        pretrain_epochs=case.epochs,
        epochs=case.epochs,
        posttrain_rounds=0,
        feasible_start=False,
        repair=False,
        least_quality=1.0,
        learning_rate=3e-3,
        train_learning_rate=3e-3,
        generator_limit=0.1,
        generator_seconds=0.1,
    )
    fit(net, x, y, [claim], config=config, seed=seed)
    return net.snapshot(), claim


def peers(asked: Sequence[str] = ()) -> list[str]:
    """The peers whose solvers are installed, or those asked for."""
    unknown = [name for name in asked if name not in EVERY_PEER]
    if unknown:
        raise SmileError(f"There is no peer {unknown[0]!r}; the peers are {listed(EVERY_PEER)}.")
    return list(asked) or [name for name in EVERY_PEER if name.split("-")[1] in installed()]


def records(
    cases: Sequence[Case],
    *,
    seeds: int = 3,
    limit: float = 20.0,
    against: Sequence[str] = (),
    jobs: Sequence[Job] = USUAL,
) -> Iterator[dict[str, Any]]:
    """One dictionary per case, seed, job and peer: case, peer, ours_s, peer_s, ratio, and what helps to read them."""
    for case in cases:
        for seed in range(seeds):
            yield from _records(case, seed, limit, peers(against), jobs)


def _records(
    case: Case, seed: int, limit: float, against: Sequence[str], jobs: Sequence[Job]
) -> Iterator[dict[str, Any]]:
    """Those of one case and seed."""
    snapshot, claim = instance(case, seed)
    problem = build(claim, snapshot)
    row = problem.rows[0]
    ours: Prover = decider(problem, row)
    if problem.copies == 2 and case.inputs > 1 and case.hidden:
        ours = BranchAndBound(workers=1)
    low, high = problem.region.unit_ranges(snapshot.hidden_weight, snapshot.hidden_bias)
    undecided = int(((low < 0) & (high > 0) & (row.unit > 0)).sum())  # units of positive weight, all copies
    common = {"seed": seed, "method": ours.name, "undecided": undecided}
    if "match" in jobs:
        found = (_match(problem, ours, peer, limit) for peer in against)
        yield from ({"case": f"{case.name}/match", **common, **one} for one in found if one is not None)
    rest: list[Job] = [job for job in jobs if job != "match"]
    for one in _compared(problem, ours, rest, against, limit) if rest else ():
        yield common | one | {"case": f"{case.name}/{one['case']}"}


def _compared(
    problem: Problem, ours: Prover, jobs: Sequence[Job], against: Sequence[str], limit: float
) -> Iterator[dict[str, Any]]:
    """Ours and every peer on these jobs, which need the optimum first."""
    row = problem.rows[0]
    found = ours.maximise(problem, row, time_limit=120.0)
    _go_on(found.stopped)
    best = (found.upper if found.complete else found.lower) + row.rhs  # the largest Σψ, or the best one known
    for job in jobs:
        if job == "find" and best <= 1e-6 * row.scale:  # nothing to find
            continue
        seconds, nodes, done = _median(problem, ours, job, best)
        for peer in against:
            other, finished, theirs = _peer(problem, row, peer, job, best, limit)
            yield {
                "case": job,
                "peer": peer,
                "ours_s": seconds,
                "peer_s": other,
                "ratio": other / seconds,
                "ours_done": done,
                "peer_done": finished,
                "nodes": nodes,
                "optimum": best,
                "peer_optimum": theirs,
                "told": TOLD.get(peer, "bound") if job == "prove" else None,
            }


def _match(problem: Problem, prover: Prover, peer: str, limit: float) -> dict[str, Any] | None:
    """The record of the job "match": the peer first, then one run of ours for what it has proved; None for nothing.

    The peer has a second run for that ε, which it now knows, and counts with the faster one. Ours gets ten times the
    CPU seconds that the peer has used, and counts with what it used where that is not enough.
    """
    row = problem.rows[0]
    other, finished, bound = _peer(problem, row, peer, "opt", 0.0, limit, any_bound=True)
    if bound is None or not math.isfinite(bound):
        return None
    best = bound + (1e-3 * max(abs(bound), 0.1 * row.scale) if finished else 1e-6 * row.scale)  # as in "prove"
    again, known, _ = _peer(problem, row, peer, "match", best, limit)
    other = min(other, again) if known else other
    seconds, nodes, done = _ours(problem, prover, "match", best, 10.0 * stretched(other))
    return {
        "peer": peer,
        "ours_s": seconds,
        "peer_s": other,
        "ratio": other / seconds,
        "ours_done": done,
        "peer_done": finished or known,
        "nodes": nodes,
        "optimum": None,
        "peer_optimum": bound,
        "told": TOLD.get(peer, "bound"),
    }


def _median(problem: Problem, prover: Prover, job: Job, best: float) -> tuple[float, int, bool]:
    """`_ours`, the median of a few runs."""
    runs = [_ours(problem, prover, job, best)]
    while len(runs) < REPEATS and sum(run[0] for run in runs) < ENOUGH:
        runs.append(_ours(problem, prover, job, best))
    return sorted(runs)[(len(runs) - 1) // 2]


def _ours(problem: Problem, prover: Prover, job: Job, best: float, limit: float = 120.0) -> tuple[float, int, bool]:
    """CPU seconds from weights and grounded premise to the answer, nodes, and whether the job was done."""
    start = process_time()
    problem = build(problem.claim, problem.snapshot, like=problem)
    row = _shifted(problem.rows[0], job, best)
    if GOALS[job] == "prove" and not isinstance(prover, Sweep):  # the certificate of a sweep has nothing to write
        tree = BranchAndBound(workers=1).search(problem, row, time_limit=limit)
        _go_on(tree.stopped)
        leaf_proof(problem, tree)
        return process_time() - start, tree.nodes, tree.complete and tree.bound <= 0
    found = prover.maximise(problem, row, time_limit=limit, goal=GOALS[job])
    _go_on(found.stopped)
    done = {"optimum": found.complete, "prove": found.upper <= 0, "find": found.lower > 0}[GOALS[job]]
    return process_time() - start, found.nodes, done


def _go_on(stopped: Why | None) -> None:
    """A search that Ctrl-C ended returns what it has; a benchmark is over then."""
    if stopped is not None and stopped.reason is Reason.INTERRUPTED:
        raise KeyboardInterrupt


def _shifted(row: Row, job: Job, best: float) -> Row:
    """The row with the right side of the job: violations above it are searched or excluded."""
    if job == "opt":
        return row
    more = {"prove": 1e-3 * max(abs(best), 0.1 * row.scale), "match": 0.0, "find": -0.5 * best}
    return replace(row, rhs=best + more[job])


def _peer(
    problem: Problem, row: Row, peer: str, job: Job, best: float, limit: float, *, any_bound: bool = False
) -> tuple[float, bool, float | None]:
    """CPU seconds of a peer, whether it did the job within its limit, and its optimum if that was the job.

    With `any_bound` the bound that it has proved is returned also where it has not finished.

    A point that a peer holds for a violation where there is none does not count as a job done.
    """
    model, name = peer.split("-")
    wanted = _shifted(row, job, best)
    near, limit = 1e-5 * row.scale, stretched(limit)
    start = process_time()
    if GOALS[job] == "prove" and peer in TOLD:
        done, bound = _told(problem, wanted, name, TOLD[peer], limit), -np.inf
    elif model == "reduced":
        found = ReducedMip(solver(name)).maximise(problem, wanted, time_limit=limit, goal=GOALS[job])
        bound, done = found.upper, found.complete
    else:
        eps = wanted.rhs if job != "opt" else 0.0
        answer = two_sided(
            problem,
            -eps if problem.premise.symmetric else None,
            eps,
            engine=as_it_comes(name),
            time_limit=limit,
            target=None if job == "opt" else 0.0,
            flips=model == "paper",
            gap=1e-4,
        )
        bound, done = answer.bound, answer.status in (Status.OPTIMAL, Status.ABOVE, Status.BELOW)
    seconds = process_time() - start
    if job == "opt":
        told = float(bound + (row.rhs if model == "reduced" else 0.0))
        return seconds, done, told if done or any_bound else None
    return seconds, done and (job == "find" or bound <= near), None


def _told(problem: Problem, row: Row, name: str, how: Told, limit: float) -> bool:
    """Whether a solver finds that the reduced MIP has no point with a violation of zero or more."""
    model, _ = reduced_model(presolve(problem, row), row.scale)
    model = at_least(model, 0.0, objective=how == "row")
    result = solver(name).solve(model, time_limit=limit, below=0.0 if how == "row" else -np.inf)
    return result.status in (Status.INFEASIBLE, Status.BELOW)


def stretched(limit: float) -> float:
    """Seconds by the clock in which this process gets about `limit` CPU seconds, at the present load."""
    clock, start = perf_counter(), process_time()
    while perf_counter() - clock < 0.2:
        pass
    return limit * 0.2 / max(process_time() - start, 0.002)


def as_it_comes(name: str) -> Solver:
    """A solver with its own tolerances and methods."""
    if name == "highs":
        return Highs(feasibility=1e-7, integrality=1e-6, heuristics=True, symmetry=True)
    if name == "gurobi":
        return Gurobi(feasibility=1e-6, integrality=1e-5)
    return Scip(feasibility=1e-6)


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Geometric means over the seeds, one dictionary per case and peer; `least` is the worst ratio."""
    out = []
    for key in dict.fromkeys((r["case"], r["peer"]) for r in rows):
        some = [r for r in rows if (r["case"], r["peer"]) == key]
        mean = {k: math.exp(sum(math.log(max(r[k], 1e-9)) for r in some) / len(some)) for k in ("ours_s", "peer_s")}
        out.append(
            {
                "case": key[0],
                "peer": key[1],
                "seeds": len(some),
                **mean,
                "ratio": mean["peer_s"] / mean["ours_s"],
                "least": min(r["ratio"] for r in some),
                "peer_done": sum(r["peer_done"] for r in some),
                "ours_done": sum(r["ours_done"] for r in some),
                "nodes": math.exp(sum(math.log(max(r["nodes"], 1)) for r in some) / len(some)),
            }
        )
    return out


def draw(rows: Sequence[dict[str, Any]], file: Path) -> None:
    """Seconds of the proof against hidden units and against inputs, ours and the peers' where they finished."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise SmileError("The plot needs matplotlib; install it with: pip install 'smilenn[report]'") from error
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True)
    sized = [(_size(entry), entry) for entry in summary([r for r in rows if r["case"].endswith("/prove")])]
    by_hidden = [(hidden, entry) for (inputs, hidden), entry in sized if inputs == 20]
    by_inputs = [(inputs, entry) for (inputs, hidden), entry in sized if hidden == 4]
    _draw_seconds(axes[0], by_hidden, "hidden units per net, 20 inputs")
    _draw_seconds(axes[1], by_inputs, "inputs, 4 hidden units")
    axes[0].set_ylabel("CPU seconds, prove")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(file, dpi=150)
    plt.close(figure)


def _size(entry: dict[str, Any]) -> tuple[int, int]:
    """Inputs and hidden units of a case; 0 of both for an affine one."""
    inputs, x, hidden = entry["case"].split("/")[0].split("-")[1].partition("x")
    return (int(inputs), int(hidden)) if x else (0, 0)


def _draw_seconds(axis: Any, points: Sequence[tuple[int, dict[str, Any]]], label: str) -> None:
    """Seconds over a size: a line for each peer where it finished, and ours."""
    for peer in dict.fromkeys(e["peer"] for _, e in points):
        done = [(v, e["peer_s"]) for v, e in points if e["peer"] == peer and e["peer_done"] == e["seeds"]]
        axis.plot(*_columns(done), "o--", label=peer)
    axis.plot(*_columns({v: e["ours_s"] for v, e in points}.items()), "o-", label="smilenn", color="black")
    axis.set(xlabel=label, yscale="log")


def _columns(pairs: Iterable[tuple[int, float]]) -> tuple[list[int], list[float]]:
    """Sizes in increasing order, and what belongs to them."""
    ordered = sorted(pairs, key=lambda pair: pair[0])
    return [size for size, _ in ordered], [value for _, value in ordered]


def line(entry: dict[str, Any]) -> str:
    """One JSON object."""
    return json.dumps({k: round(v, 6) if isinstance(v, float) else v for k, v in entry.items()})
