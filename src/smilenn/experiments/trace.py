"""Rules about single inputs: the tasks of the ancestors (trace_tasks.py), certified, with references beside them.

    ours       the default recipe with the rules, certified
    free       the same network in a box so wide that it never clips: what the rules cost, and what breaks without them
    pre        the same, trained on targets that were projected onto the rules
    post       the predictions of `free`, projected onto the rules wherever floats say that the premise holds
    oracle     the true targets, moved as little as the rules ask (R², a mean over outputs, may prefer another way)

Quality is R² or accuracy (all labels right) on rows kept from training, against the targets as they are. *Broken* is
the share of the attacked inputs at which a rule fails by more than 1e-9: test rows and random inputs, moved into the
premise, then signed gradient steps up the row. For polytopes the network is also asked at points on the premise's
edges, and at their neighbours among the floats (`edge`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from smilenn.experiments.cells import Cell, Row
from smilenn.experiments.recipe import store
from smilenn.experiments.study import Options, Study, outcome
from smilenn.experiments.tables import markdown, mean_and_spread, number, seconds
from smilenn.experiments.trace_aims import aims
from smilenn.experiments.trace_tasks import OTHERS, POLYTOPES, TraceTask, make
from smilenn.model.net import SmileNet
from smilenn.problem.region import Region
from smilenn.properties import Safe
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.premise import ground, holds_exactly
from smilenn.report.probe import probe
from smilenn.train.config import Config

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from smilenn.domain import Domain

MODELS = ("ours", "free", "pre", "post", "oracle")
TEST = 0.3
DRAWN, STEPS = 700, 20  # random inputs that are attacked, and gradient steps
BROKEN = 1e-9
FAR = 100.0  # of the targets' size: the bounds of the free network
EDGE = 120_000  # points on the edges of one polytope
SAME = 2_000  # of them whose membership is decided exactly


def cells(options: Options) -> list[Cell]:
    """Tasks × seeds."""
    seeds = options.seeds or ((0,) if options.quick else (20, 21))
    return [{"data": data, "seed": seed, "quick": options.quick} for seed in seeds for data in (*POLYTOPES, *OTHERS)]


def compute(data: str, seed: int, quick: bool, *, options: Options) -> list[Row]:
    """One task: its models, what they cost, and what attacks find."""
    task = make(data, seed, 300 if quick else 2000)
    cut = round((1 - TEST) * len(task.frame))  # rows come in random order, or in time's
    train, test = slice(0, cut), slice(cut, None)
    ours, took = _fitted(task, task.rules, task.target[train], train, seed, quick, options)
    store(ours, options.models, f"trace-{data}-{seed}")
    far = math.ceil(FAR * max(1.0, 0.0 if task.classes else float(np.abs(np.asarray(task.target)).max())))
    names = [f"out.{name}" if name else "out" for name in ours.outputs_.names]
    wide = [Safe((), [f"{-far} <= {name} <= {far}" for name in names])]
    free, plain = _fitted(task, wide, task.target[train], train, seed, quick, options, ours.domain_)
    X, y = task.frame[test], task.target[test]
    rng = np.random.default_rng(seed)
    starts = np.concatenate([ours.encoded(X)[:300], ours.domain_.sample(DRAWN, rng)])
    common = {"data": data, "seed": seed}
    rows = [
        common | {"model": name, "quality": float(model.score(X, y)), "seconds": spent, **attack(model, ours, starts)}
        for name, model, spent in (("ours", ours, took), ("free", free, plain))
    ]
    rows[0] |= outcome(ours.verdict_) | {"bound": ours.violation_bound_, "reasons": ours.reasons_}
    if task.rows is not None:
        rows[0] |= edge(ours, task, 1_000 if quick else EDGE, 200 if quick else SAME, rng)
    if not task.classes:
        rows += _projections(task, ours, free, wide, train, test, quick, options, common)
    return rows


def _fitted(
    task: TraceTask,
    rules: Sequence[Any],
    target: Any,
    rows: slice,
    seed: int,
    quick: bool,
    options: Options,
    domain: Domain | None = None,
) -> tuple[Any, float]:
    """An estimator and the seconds of `fit`, certificate included."""
    from smilenn.estimators.classifier import SmileClassifier
    from smilenn.estimators.options import Columns, Network
    from smilenn.estimators.regressor import SmileRegressor

    begun = time.perf_counter()
    model = (SmileClassifier if task.classes else SmileRegressor)(
        properties=list(rules),
        domain=Columns(bounds=task.bounds) if domain is None else domain,
        network=Network(backbone=task.backbone, backbone_sizes=(64, 64), device=options.device),
        config=Config(epochs=3, batch_size=64) if quick else None,
        random_state=seed,
        out_of_bounds="clamp",
        unknown="refuse",  # the tasks state their categories
    ).fit(task.frame[rows], target)
    return model, time.perf_counter() - begun


# ---- references -----------------------------------------------------------------------------------------------------


def sides(
    claims: Sequence[Claim], domain: Domain, names: Sequence[str], x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows A [r, o] and right sides b [n, r] of A·f ≤ b at inputs x [n, m]; infinite where a premise does not hold."""
    a, b = list[np.ndarray](), list[np.ndarray]()
    for claim in claims:
        member = ground(claim, domain).holds(x[:, None], 1e-12)
        for row in claim.rows:
            line, rhs = np.zeros(len(names)), np.full(len(x), float(row.rhs))
            for term in row.terms:
                if term.kind == "out":
                    line[list(names).index(term.name)] += float(term.coef)
                else:
                    rhs -= float(term.coef) * x[:, domain.indices(term.name)[0]]
            a.append(line)
            b.append(np.where(member, rhs, np.inf))
    return np.stack(a), np.stack(b, axis=1)


def projected(y: np.ndarray, a: np.ndarray, b: np.ndarray, sweeps: int = 400) -> np.ndarray:
    """The nearest points [n, o] with A·y ≤ b, by Hildreth's sweeps over the rows: their multipliers stay ≥ 0."""
    y, multiplier = y.astype(np.float64).copy(), np.zeros(b.shape)
    for _ in range(sweeps):
        for j, line in enumerate(a):
            step = np.maximum((y @ line - b[:, j]) / (line @ line), -multiplier[:, j])
            y -= step[:, None] * line
            multiplier[:, j] += step
    return y


def _projections(
    task: TraceTask,
    ours: Any,
    free: Any,
    wide: Sequence[Any],
    train: slice,
    test: slice,
    quick: bool,
    options: Options,
    common: Row,
) -> list[Row]:
    """Oracle, pre- and post-processing."""
    names, domain = ours.outputs_.names, ours.domain_

    def onto(y: Any, rows: slice) -> np.ndarray:
        known = np.asarray(y, dtype=np.float64).reshape(len(task.frame[rows]), -1)
        return projected(known, *sides(ours.claims_, domain, names, ours.encoded(task.frame[rows])))

    def scored(prediction: np.ndarray) -> float:
        from sklearn.metrics import r2_score

        return float(r2_score(np.asarray(task.target[test], dtype=np.float64).reshape(len(prediction), -1), prediction))

    truth = task.target[train]
    fixed = onto(truth, train)
    fixed = pd.DataFrame(fixed, columns=list(names)) if isinstance(truth, pd.DataFrame) else fixed[:, 0]
    pre, took = _fitted(task, wide, fixed, train, common["seed"], quick, options, domain)
    x = np.concatenate([ours.encoded(task.frame[test])[:300], domain.sample(DRAWN, np.random.default_rng(0))])
    post = onto(free.predict(task.frame[test]), test)
    return [
        common
        | {
            "model": "pre",
            "quality": scored(_table(pre.predict(task.frame[test]))),
            "seconds": took,
            **attack(pre, ours, x),
        },
        common | {"model": "post", "quality": scored(post)},
        common | {"model": "oracle", "quality": scored(onto(task.target[test], test))},
    ]


def _table(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values), -1)


# ---- attacks --------------------------------------------------------------------------------------------------------


def attack(model: Any, ruled: Any, x: np.ndarray) -> Row:
    """The share of starts x [n, m] from which a rule is broken, and by how much at most."""
    found = [
        _climbed(model.net_, claim, x) if claim.copies == 1 else _paired(model.net_, claim, x)
        for claim in ruled.claims_
    ]
    worst = np.max(found, axis=0)
    return {"broken": float(np.mean(worst > BROKEN)), "worst": float(worst.max())}


def _paired(net: SmileNet, claim: Claim, x: np.ndarray) -> np.ndarray:
    """The same for claims that compare inputs, of tuples through each x."""
    found, best = probe(net, claim, x), np.full(len(x), -np.inf)
    best[found.rows] = found.value
    return best


def _climbed(net: SmileNet, claim: Claim, x: np.ndarray) -> np.ndarray:
    """The largest left side less right side of a claim with one copy near each x [n, m], −inf outside its premise."""
    domain = net.domain
    region = Region.of(ground(claim, domain))
    u = region.snap(domain.scale(x)[:, None])[:, 0]
    reach = np.where(region.step > 0, 0.0, region.hi[0] - region.lo[0])
    best, size = np.full(len(x), -np.inf), 0.1
    for _ in range(STEPS):
        value, slope = _value(net, claim, u)
        value = np.where(region.contains(u[:, None], 1e-12), value, -np.inf)
        best = np.maximum(best, value)
        u = region.snap((u + size * reach * np.sign(slope))[:, None])[:, 0]
        size *= 0.8
    return best


def _value(net: SmileNet, claim: Claim, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The claim's largest row at u [n, m] (model units) and its slope, [n] and [n, m]."""
    net.eval()
    domain = net.domain
    point = torch.as_tensor(u).requires_grad_()
    x = point / torch.as_tensor(domain.mult) + torch.as_tensor(domain.shift)
    out = net(x)

    def excess(row: Inequality) -> torch.Tensor:
        total = torch.full((len(u),), -float(row.rhs), dtype=torch.float64)
        for term in row.terms:
            read = out[:, net.outputs.index(term.name)] if term.kind == "out" else x[:, domain.indices(term.name)[0]]
            total = total + float(term.coef) * read
        return total

    clauses = [(row,) for row in claim.rows] + list(claim.either)  # of each clause one row must hold
    each = [torch.stack([excess(row) for row in clause]).min(dim=0).values for clause in clauses]
    most = torch.stack(each).max(dim=0).values
    (slope,) = torch.autograd.grad(most.sum(), point)
    return most.detach().numpy(), slope.numpy()


def edge(model: Any, task: TraceTask, points: int, same: int, rng: np.random.Generator) -> Row:
    """Points on the edges of a premise, as floats have them, and their neighbours.

    A point of the polytope is moved along one coordinate to a random face, then by one float, or none, in some
    coordinates. The rule is tested at all of them, inside or out by a hair. Of `same` of them exact arithmetic says
    whether they belong to the premise, and floats say otherwise for `missed`: these would escape a network that tests
    its premise before it clips.
    """
    assert task.rows is not None
    coef, rhs = task.rows
    claim, found, n = model.claims_[0], list[np.ndarray](), coef.shape[1]
    while sum(map(len, found)) < points:
        x = rng.uniform(-1, 1, (points, n))
        x = x[(x @ coef.T <= rhs).all(axis=1)]
        row, axis = rng.integers(0, len(rhs), len(x)), rng.integers(0, n, len(x))
        every = np.arange(len(x))
        x[every, axis] += (rhs[row] - (x * coef[row]).sum(axis=1)) / coef[row, axis]
        moved = np.nextafter(x, rng.choice([-2.0, 2.0], x.shape))
        x = np.where(rng.uniform(size=x.shape) < rng.choice([0.0, 0.3, 1.0], len(x))[:, None], moved, x)
        found.append(x[(np.abs(x) <= 1).all(axis=1) & (x @ coef.T <= rhs + 1e-12).all(axis=1)])
    x = np.concatenate(found)[:points]
    a, b = sides(model.claims_, model.domain_, model.outputs_.names, x)
    finite = np.where(np.isfinite(b), b, b[np.isfinite(b).all(axis=1)][0])  # all rows at all points, member or not
    worst = float((model.net_.predict(x) @ a.T - finite).max())
    members = np.array([holds_exactly(claim, model.domain_, point[None]) for point in x[:same]])
    said = (x[:same] @ coef.T <= rhs).all(axis=1)
    return {
        "edge": len(x),
        "edge_worst": worst,
        "edge_members": int(members.sum()),
        "edge_missed": int((members & ~said).sum()),
    }


# ---- the page -------------------------------------------------------------------------------------------------------


def report(rows: list[Row], options: Options) -> str:
    """The tables."""
    _, models, words = (__doc__ or "\n\n\n\n").split("\n\n")
    parts = ["# Rules about single inputs (trace)", f"```\n{models}\n```", " ".join(words.split())]
    for title, names in (("Polytopes", POLYTOPES), ("The other tasks", OTHERS)):
        parts += _section(title, names, rows)
    at = [row for row in rows if "edge" in row]
    if at:
        parts += ["## The edge", _edge_words(at, 200 if options.quick else SAME)]
    return "\n\n".join(parts)


def _section(title: str, names: Sequence[str], rows: list[Row]) -> list[str]:
    """A table of some tasks under its title; nothing where none of them was run."""
    lines = [_line(name, [row for row in rows if row["data"] == name]) for name in names]
    header = ["task", *MODELS, "ours broken", "free broken", "free worst", "certified", "seconds", "free"]
    return [f"## {title}", markdown(header, list(filter(None, lines)))] if any(lines) else []


def _edge_words(rows: list[Row], most: int) -> str:
    total, worst = sum(row["edge"] for row in rows), max(row["edge_worst"] for row in rows)
    members, missed = (sum(row[key] for row in rows) for key in ("edge_members", "edge_missed"))
    same = sum(min(row["edge"], most) for row in rows)
    held = f"the rule holds at all of them with {-worst:.2g} to spare" if worst < 0 else f"one misses by {worst:.3g}"
    return (
        f"{total:,} points on the edges of the premises and among their neighbouring floats: {held}. Of {same:,} "
        f"of them {members:,} belong to the premise in exact arithmetic, and of these floats call {missed:,} "
        "outsiders: a network that tests its premise in floats before it clips would let them go."
    )


def _line(name: str, rows: list[Row]) -> list[str]:
    of = {model: [row for row in rows if row["model"] == model] for model in MODELS}
    if not of["ours"]:
        return []
    certified = sum(bool(row.get("certified")) for row in of["ours"])
    return [
        name,
        *(mean_and_spread(of[model], "quality", 3) for model in MODELS),
        number(max(row["broken"] for row in of["ours"]), 1, 100) + " %",
        mean_and_spread(of["free"], "broken", 1, 100),
        mean_and_spread(of["free"], "worst", 3),
        f"{certified} of {len(of['ours'])}",
        seconds(of["ours"]),
        seconds(of["free"]),
    ]


def draw(rows: list[Row]) -> dict[str, Figure]:
    """No figures."""
    return {}


STUDY = Study(
    "trace",
    cells,
    compute,
    report,
    draw,
    aims,
    "Development looked at the seeds 0, 10 and 11, test rows included: the box of premises was mended after them, the "
    "rule of the loan made tighter and two artists rarer, so that a free network breaks these rules, and digits given "
    "more rows. The seeds shown were not looked at before.",
)
