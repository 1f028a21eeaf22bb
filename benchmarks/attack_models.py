"""Attack on saved models: pairs that are sampled, climbed and moved by single floats, through the reloaded network.

    python -m benchmarks.attack_models                 trains small models of the acceptance list and attacks them
    python -m benchmarks.attack_models FOLDER …        attacks model folders

The network is loaded from its folder. For every row ``left ≤ rhs`` of every claim, 100,000 tuples of its premise go
through it in batches of 4,096, the 10,000 with the largest left sides once more one by one: a quarter sampled, a
quarter at corners of the premise, a quarter round the points at which Frank-Wolfe drives the box to its worst, and a
quarter climbing from the best so far by the network's own outputs. Around the worst, every coordinate is moved to the
neighbouring floats. All tuples are moved into the premise by a few units in the last place where rounding put them
beside it; how many lie in it exactly is sampled and printed. Where a left side comes near what the folder's certificate
promises, premise and left side are computed again in rationals, the outputs being the floats that were returned in that
batch: above the promise is a violation.

The promise is the row's right side if the checker certifies it, else the bound + margin that it has checked; without a
certificate, the bound of the saved verdict.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from smilenn.certify import check
from smilenn.datasets.mnist import fetch_mnist
from smilenn.datasets.synthetic import make_cubic
from smilenn.domain import Domain
from smilenn.estimators.store import load
from smilenn.experiments import evolution, fairness, monotonicity, robustness
from smilenn.experiments.recipe import Setup, store
from smilenn.experiments.study import Options
from smilenn.model.net import SmileNet
from smilenn.problem import InputClaim, Problem, build
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.library import Robust
from smilenn.properties.premise import holds_exactly
from smilenn.provers.realise import exact_violation, raw, violations
from smilenn.search.gradient import search
from smilenn.search.oracle import Oracle
from smilenn.train.config import Config

COUNT, SINGLE, WORST, SAMPLE = 100_000, 10_000, 64, 50
Forward = Callable[[np.ndarray], np.ndarray]
LeftSides = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Attacked:
    """What came of one row: the largest left side that was found and what was promised, and true violations of it."""

    row: str
    tuples: int
    inside: float  # share of the tuples that satisfy the premise in exact arithmetic, of a sample
    largest: float
    promise: float
    violations: int


def attack(
    net: SmileNet,
    claim: Claim,
    promises: Sequence[Fraction],
    *,
    count: int = COUNT,
    single: int = SINGLE,
    forward: Forward | None = None,
    seed: int = 0,
) -> Iterator[Attacked]:
    """Attack all rows of a claim; `promises` holds what their left sides may reach, `forward` (raw x [B, m] → [B, o])
    stands in for the network's own prediction.
    """
    problem = build(claim, net.snapshot())
    given = problem.given
    for r, (inequality, promise) in enumerate(zip(claim.rows, promises, strict=True)):
        rng = np.random.default_rng((seed, r))
        batched = _left_sides(given, inequality, forward or net.predict)
        x, value, outputs = _tuples(problem, inequality, batched, count, rng)
        order = np.argsort(-value)
        near = _neighbours(given, x[order[:WORST]], max(2, min(WORST, count // 1000)), rng)
        more = batched(near)
        x, value, outputs = (np.concatenate(pair) for pair in ((x, near), (value, more[0]), (outputs, more[1])))
        found = _broken(given, inequality, x, value, outputs, promise)
        total, largest = len(value), float(value.max())
        if single:
            worst = x[np.argsort(-value)[:single]]
            alone = _left_sides(given, inequality, lambda rows: net.predict(rows, batch=1))(worst)
            found += _broken(given, inequality, worst, *alone, promise)
            total, largest = total + len(worst), max(largest, float(alone[0].max()))
        pick = np.concatenate([np.argsort(-value)[:SAMPLE], rng.integers(0, len(x), size=SAMPLE)])
        inside = float(np.mean([holds_exactly(claim, given.domain, tuple_) for tuple_ in x[pick]]))
        yield Attacked(inequality.text(), total, inside, largest, float(promise), found)


def _left_sides(given: InputClaim, inequality: Inequality, forward: Forward) -> LeftSides:
    """Tuples x [N, k, m] → left sides [N] and the outputs [N, k, o] that they come from."""

    def evaluate(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kept: list[np.ndarray] = []

        def keep(rows: np.ndarray) -> np.ndarray:
            kept.append(np.asarray(forward(rows), dtype=np.float64))
            return kept[-1]

        value = violations(given, [inequality], x, keep)[:, 0] + float(inequality.rhs)
        (outputs,) = kept
        return value, outputs.reshape(len(x), x.shape[1], -1)

    return evaluate


def _inside(given: InputClaim, x: np.ndarray) -> np.ndarray:
    """Tuples [N, k, m] with differences cut to the strips of the premise, less two units in the last place."""
    if x.shape[1] != 2:
        return x
    lo, hi = given.domain.lo, given.domain.hi
    x = np.clip(x, lo, hi)
    room = 4 * np.spacing(np.maximum(np.abs(lo), np.abs(hi)))
    low, high = given.region.delta_lo / given.domain.mult, given.region.delta_hi / given.domain.mult
    low, high = np.where(low == 0, 0.0, low + room), np.where(high == 0, 0.0, high - room)
    narrow = (low > high) | given.domain.integral
    cut = x[:, 1] + np.clip(x[:, 0] - x[:, 1], np.minimum(low, high), np.maximum(low, high))
    first = np.clip(np.where(narrow, x[:, 0], cut), lo, hi)
    return np.stack([np.where(given.premise.pinned, x[:, 1], first), x[:, 1]], axis=1)


def _tuples(
    problem: Problem, inequality: Inequality, left: LeftSides, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`count` tuples [count, k, m] in raw units, their left sides and outputs."""
    given, part = problem.given, count // 4
    region, (k, m) = given.region, given.region.lo.shape
    oracle = Oracle(region)
    width = np.maximum(region.hi - region.lo, 0.0)

    def snapped(u: np.ndarray) -> np.ndarray:
        return _inside(given, raw(given, region.snap(u)))

    def round_about(centres: np.ndarray, size: int, reach: float) -> np.ndarray:
        near = centres[rng.integers(0, len(centres), size=size)]
        return snapped(near + reach * rng.uniform(-1, 1, size=near.shape) ** 3 * width)

    corners = _inside(given, raw(given, region.argmax(rng.normal(size=(part, k, m)))))
    out = [snapped(oracle.sample(part, rng)), corners]
    rows = [row for row in problem.rows if row.text == inequality.text()] or problem.rows[:1]
    if problem.snapshot.encoding is None:
        best = search(problem, rows[0], starts=64, iterations=30, rng=rng).u
    else:
        best = given.domain.scale(out[0][:64])
    out.append(round_about(best, part, 0.05))
    values = [left(x) for x in out]
    for reach in (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-6, 1e-9):
        x, value = np.concatenate(out), np.concatenate([v for v, _ in values])
        best = given.domain.scale(x[np.argsort(-value)[:WORST]])
        out.append(round_about(best, part // 8, reach))
        values.append(left(out[-1]))
    return np.concatenate(out), np.concatenate([v for v, _ in values]), np.concatenate([f for _, f in values])


def _neighbours(given: InputClaim, x: np.ndarray, times: int, rng: np.random.Generator) -> np.ndarray:
    """Tuples [W, k, m], `times` each, every coordinate moved by one float up, down or not; pinned ones alike."""
    fixed = given.domain.integral
    out = []
    for _ in range(times):
        way = rng.integers(-1, 2, size=x.shape)
        way = np.where(given.premise.pinned, way[:, :1], way)
        moved = np.where(way == 0, x, np.nextafter(x, np.where(way > 0, np.inf, -np.inf)))
        out.append(_inside(given, np.clip(np.where(fixed, x, moved), given.domain.lo, given.domain.hi)))
    return np.concatenate(out)


def _broken(
    given: InputClaim, inequality: Inequality, x: np.ndarray, value: np.ndarray, outputs: np.ndarray, promise: Fraction
) -> int:
    """How many of these tuples break the promise in exact arithmetic with the outputs they got; at most 1,000 are
    looked at, largest left sides first, and only those near it: floats that lie clearly below it need no second look.
    """
    allowance = 1e-9 * (1.0 + abs(float(promise)))
    count = 0
    for i in np.argsort(-value)[:1000]:
        if value[i] > float(promise) - allowance:
            left = exact_violation(given, inequality, x[i], outputs[i])
            if left is not None and left + inequality.rhs > promise and holds_exactly(given.claim, given.domain, x[i]):
                count += 1
    return count


def promised(folder: Path) -> tuple[str, list[tuple[Claim, list[Fraction]]]]:
    """The status of a model folder, and its claims with what the left sides of their rows may reach."""
    estimator = load(folder)
    report = check.check_folder(folder)
    if report.claims:
        lists = [[row.rhs if row.excess <= 0 else row.bound + row.margin for row in c.rows] for c in report.claims]
    else:
        bound = Fraction(max(0.0, float(estimator.verdict_.bound)))
        lists = [[row.rhs + bound for row in claim.rows] for claim in estimator.claims_]
    return report.status if report.claims else str(estimator.verdict_).split()[0], list(
        zip(estimator.claims_, lists, strict=True)
    )


# ---- the models of the acceptance list ------------------------------------------------------------------------------


def train(models: Path, only: Sequence[str] = ()) -> None:
    """Nine sines with both recipes, Compas, digits, x³, MNIST; fewer epochs and rows than the experiments have."""
    options = Options(quick=True, models=models)
    chosen: list[tuple[str, Callable[[], object]]] = [
        (f"sine-{model}-{a}-{w}", lambda m=model, a=a, w=w: monotonicity.compute(m, a, w, 0, True, options=options))
        for model in ("default", "faithful")
        for a, w in monotonicity.TASKS
    ]
    for model in ("default", "faithful"):
        chosen += [
            (f"compas-{model}", lambda m=model: fairness.compute(m, "compas", 0, True, 0.4, options=options)),
            (
                f"digits-{model}",
                lambda m=model: robustness.compute(
                    m, 0, True, *((0.05, 1.0) if m == "faithful" else ()), options=options
                ),
            ),
        ]
    chosen += [("cubic-paper", lambda: _cubic(models)), ("mnist-default", lambda: _mnist(models))]
    for name, compute in chosen:
        if not only or any(text in name for text in only):
            start = time.perf_counter()
            compute()
            print(f"trained {name} in {time.perf_counter() - start:.0f} s", flush=True)


def _cubic(models: Path) -> None:
    """y = x³ with the paper's boxes, robust by half of what x³ itself changes over a step."""
    data = make_cubic(seed=0)
    domain = Domain.from_data(data.frame, bounds={str(data.frame.columns[0]): (-1.0, 1.0)}, scaling="none")
    config = Config.paper(pretrain_epochs=100, epochs=50, batch_size=64)
    recipe = Setup("paper", "relu", hidden=32, embedding=1, config=config)
    rule = Robust(evolution.DELTA, evolution.EPS)
    store(recipe.estimator("regression", [rule], domain, 0).fit(data.frame, data.target), models, "cubic-paper")


def _mnist(models: Path, rows: int = 5_000) -> None:
    """Zero or not, on a part of MNIST: the proof and the attack are those of all of it, the accuracy is not."""
    data = fetch_mnist("train").zero_or_not()
    frame, target = data.frame[:rows], data.target[:rows]
    size = frame.shape[1]
    domain = Domain.box([0.0] * size, [1.0] * size, [f"p{i}" for i in range(size)])
    config = Config(pretrain_epochs=3, epochs=5, batch_size=128, margin=1.5)
    recipe = Setup("gap", "affine", embedding=8, backbone=robustness.backbone, config=config)
    store(recipe.estimator("binary", [Robust(0.05, 1.0)], domain, 0).fit(frame, target), models, "mnist-default")


def main(arguments: Sequence[str]) -> int:
    """Print one line per row; the exit code is 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description="attack saved models")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--single", type=int, default=SINGLE)
    parser.add_argument("--only", nargs="*", default=(), help="train only models whose name contains one of these")
    parser.add_argument("--models", type=Path, help="keep the trained models here")
    parser.add_argument("--device", default="cpu", help="where the loaded network predicts: cpu or cuda")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        folders = chosen.folders
        if not folders:
            models = chosen.models or Path(place)
            train(models, chosen.only)
            folders = sorted(p for p in models.iterdir() if p.is_dir())
        heads = {"status": 10, "tuples": 8, "inside": 6, "largest left": 14, "promise": 14, "broken": 6, "s": 6}
        print(f"{'model':34s} " + " ".join(f"{head:>{width}s}" for head, width in heads.items()), flush=True)
        broken = 0
        for folder in folders:
            status, claims = promised(folder)
            net = load(folder).net_.to(chosen.device)
            for claim, promises in claims:
                start = time.perf_counter()
                for found in attack(net, claim, promises, count=chosen.count, single=chosen.single):
                    took, start = time.perf_counter() - start, time.perf_counter()
                    numbers = f"{found.tuples:8d} {found.inside:6.2f} {found.largest:14.8g} {found.promise:14.8g}"
                    print(f"{folder.name:34s} {status:>10s} {numbers} {found.violations:6d} {took:6.1f}", flush=True)
                    broken += found.violations
    return int(broken > 0)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main(sys.argv[1:]))
