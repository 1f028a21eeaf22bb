"""Numbers that nearly cancel, and coefficients that solvers drop: no bound may fall below a point that exists."""

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.snapshot import Snapshot
from smilenn.problem import build
from smilenn.properties.claim import Claim, row
from smilenn.provers.mip.linear_model import LinearModel, without_small
from smilenn.provers.mip.paper import PaperMip
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.mip.solvers import Solver, SolverResult, Status
from smilenn.provers.mip.solvers.highs import Highs
from smilenn.provers.portfolio import prove_problem
from smilenn.verdict import Proved, Unknown, Violated

DATA = Path(__file__).parent / "data"


def scalar(domain, weight, bias, out, const=0.0, slope=None, head_bias=0.0):
    """One embedding coordinate without freedom: f(u) = const + slope·u + out·relu(weight u + bias) + head_bias."""
    m, h = domain.size, len(bias)
    slope = np.zeros((1, m)) if slope is None else np.array([slope], dtype=float)
    return Snapshot(
        domain,
        "gap",
        np.array(weight, dtype=float).reshape(h, m),
        np.array(bias, dtype=float),
        np.array([float(const)]),
        slope,
        np.array([out], dtype=float).reshape(1, h),
        np.zeros(1),
        np.zeros((1, m)),
        np.zeros((1, h)),
        np.ones((1, 1)),
        np.array([float(head_bias)]),
        ("",),
        np.ones(1),
    )


def outputs(s, x):
    hidden = np.maximum(s.domain.scale(x) @ s.hidden_weight.T + s.hidden_bias, 0.0)
    z = s.lower_const + s.domain.scale(x) @ s.lower_slope.T + hidden @ s.lower_out.T
    return z @ s.head_weight.T + s.head_bias


@pytest.mark.parametrize("prover", ["mip", "paper-mip"])
@pytest.mark.parametrize("gain", [1e4, 1e5, 1e6])
def test_a_coefficient_that_the_solver_drops_is_paid_for(make, gain, prover):
    """gain·(relu(x − ½ + 5e-10 y) − relu(x − ½)) ≤ 0 is false by gain·5e-10; HiGHS reads 5e-10 as zero."""
    s = scalar(make.box(2), [[1, 5e-10], [1, 0]], [-0.5, -0.5], [gain, -gain])
    problem = build(make.safe(0), s)
    assert outputs(s, np.array([[1.0, 1.0]]))[0, 0] == pytest.approx(gain * 5e-10, rel=1e-3)
    assert not isinstance(prove_problem(problem, prover=prover), Proved)


def test_rows_without_small_coefficients_are_weaker():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(6, 5)) * 10.0 ** rng.integers(-12, 1, size=(6, 5))
    lo, hi = -rng.random(5), rng.random(5)
    x = rng.uniform(lo, hi, size=(200, 5))
    sides = (dense @ x.T).min(axis=1), (dense @ x.T).max(axis=1)
    model = LinearModel(csr_matrix(dense), *sides, lo, hi, np.zeros(5, dtype=bool), np.ones(5))
    weak = without_small(model, 1e-9)
    assert 0 < weak.matrix.nnz < model.matrix.nnz and np.abs(weak.matrix.data).min() > 1e-9
    value = weak.matrix @ x.T
    assert (value >= weak.row_lo[:, None] - 1e-15).all() and (value <= weak.row_hi[:, None] + 1e-15).all()
    assert without_small(weak, 1e-9) is weak


@pytest.mark.parametrize("size", [1e6, 1e9, 1e12])
def test_constants_that_cancel_leave_the_rounding_of_the_forward_pass(make, size):
    """The network rounds size + 0.1·x before it subtracts size: 'within 1e-09' would be untrue."""
    s = scalar(make.box(1), np.zeros((0, 1)), [], [], const=size, slope=[0.1], head_bias=-size)
    verdict = prove_problem(build(make.safe(0.1), s))
    worst = float((outputs(s, np.linspace(0, 1, 1001)[:, None]) - 0.1).max())
    assert not isinstance(verdict, Proved) or worst <= verdict.tolerance
    assert isinstance(verdict, Proved) == (size < 1e9)


def test_units_that_cancel_in_the_row_still_round(make):
    """Two embedding coordinates with opposite units of size 1e12: the row is empty, the forward pass is not."""
    domain = make.box(2)
    s = scalar(domain, [[1 / 3, -1 / 7]], [0.01], [1.0])
    s = Snapshot(
        domain,
        "gap",
        s.hidden_weight,
        s.hidden_bias,
        np.zeros(2),
        np.zeros((2, 2)),
        np.array([[1e12], [-1e12]]),
        np.zeros(2),
        np.zeros((2, 2)),
        np.zeros((2, 1)),
        np.full((1, 2), 0.1),
        np.zeros(1),
        ("",),
        np.ones(1),
    )
    for prover in ("auto", "mip"):
        verdict = prove_problem(build(make.safe(0), s), prover=prover)
        assert isinstance(verdict, Unknown)
    assert "rounding" in verdict.reason


@pytest.mark.parametrize("prover", [ReducedMip(), PaperMip()], ids=lambda p: p.name)
@pytest.mark.parametrize("seed", range(12))
def test_inputs_far_from_their_origin_are_not_cut_off(make, seed, prover):
    """Model units near −1e9: a range that is too tight by its rounding makes whole points infeasible."""
    rng = np.random.default_rng(seed)
    far = Feature("n", "integer", -2, 2, shift=1e6 + 0.1, mult=1e3)
    domain = Domain((far, Feature("b", "binary")))
    s = make.snapshot(domain, rng, hidden=2, boxes="paper" if seed % 2 else "gap", auxiliaries="relu")
    for claim in (make.safe(0), make.fair(["n"], 0)):
        problem = build(claim, s)
        points = np.array([[n, b] for n in range(-2, 3) for b in (0, 1)], dtype=float)
        pairs = points[:, None]
        if claim.copies == 2:
            pairs = np.array([(p, q) for p in points for q in points if p[1] == q[1]])
        for one in problem.rows:
            true = float(problem.value(domain.scale(pairs), one).max())
            found = prover.maximise(problem, one, time_limit=20)
            assert found.upper + found.error >= true - 1e-6 * abs(true)


def test_rows_over_shifted_inputs_lose_nothing(make):
    """a.x + b.x ≤ 2·10⁹ + 1.2 with x = 10⁹ + 0.1 + u: the right side in model units is exact up to one rounding."""
    shift = 1e9 + 0.1
    domain = Domain((Feature("x", "continuous", 1e9, 1e9 + 2, shift=shift), Feature("y", "continuous", 0.0, 1.0)))
    s = scalar(domain, np.zeros((0, 2)), [], [], slope=[100.0, 0.0])
    when = (row([(1, 0, "in", "x"), (1, 1, "in", "x"), (1, 1, "in", "y")], 2e9 + 1.2),)
    claim = Claim(2, when, (row([(1, 0, "out", ""), (1, 1, "out", "")], 0),), others="free")
    problem = build(claim, s)
    exact = Fraction(problem.premise.rhs[0]) - 2 * Fraction(problem.premise.coef[0, 0, 0]) * Fraction(shift)
    rhs = problem.region.rhs[0]
    assert np.nextafter(rhs, -np.inf) < exact <= rhs


@pytest.mark.parametrize("prover", ["mip", "paper-mip"])
@pytest.mark.parametrize("seed", [8, 48, 84, 87, 115, 134, 173, 223])
def test_badly_scaled_weights_are_never_proved_falsely(make, seed, prover):
    """Weights that span ten orders of magnitude, on which HiGHS returned bounds far below points that exist."""
    rng = np.random.default_rng(seed)
    mult = float(rng.choice([1 / 3, 1.0, 1e-3, 1e3]))
    group = Feature("c", "category", categories=("p", "q", "r"))
    domain = Domain((Feature("i", "integer", 0, 3, mult=mult), Feature("b", "binary"), group))
    s = make.snapshot(
        domain, rng, hidden=int(rng.integers(1, 4)), boxes=str(rng.choice(["gap", "paper"])), shared=rng.random() < 0.5
    )

    def spread(array, low, high):
        return array * 10.0 ** rng.integers(low, high, size=array.shape)

    span = int(rng.integers(2, 8))
    lower, second = (spread(array, -span, span + 1) for array in (s.lower_out, s.second_out))
    weight = spread(s.hidden_weight, -min(span, 5), min(span, 5) + 1)
    bias = -weight @ (domain.scale(domain.lo) + domain.scale(domain.hi)) / 2 + spread(
        rng.normal(size=len(weight)), -4, 1
    )
    s = replace(s, hidden_weight=weight, hidden_bias=bias, lower_out=lower, second_out=second)
    points = np.array([[i, b, *c] for i in range(4) for b in (0, 1) for c in np.eye(3)], dtype=float)
    pairs = np.array([(p, q) for p in points for q in points if (p[1:] == q[1:]).all()])
    for claim, members in ((make.safe(0), points[:, None]), (make.fair(["i"], 0), pairs)):
        problem = build(claim, s)
        true = max(float(problem.value(domain.scale(members), one).max()) for one in problem.rows)
        for share in (1e-3, 0.1):  # eps a little below what the network does
            eps = true - max(share * abs(true), 1e-5)
            near = build(Claim(claim.copies, claim.when, tuple(replace(t, rhs=Fraction(eps)) for t in claim.then)), s)
            assert not isinstance(prove_problem(near, prover=prover, time_limit=20), Proved)


# ---- solvers that are wrong -----------------------------------------------------------------------------------------


def false_optimum():
    data = json.loads((DATA / "false_optimum.json").read_text())
    side = {name: np.array([np.nan if v is None else v for v in data[name]]) for name in ("row_lo", "row_hi")}
    matrix = csr_matrix((data["value"], data["index"], data["start"]), shape=(len(data["row_lo"]), len(data["col_lo"])))
    return LinearModel(
        matrix,
        np.where(np.isnan(side["row_lo"]), -np.inf, side["row_lo"]),
        np.where(np.isnan(side["row_hi"]), np.inf, side["row_hi"]),
        np.array(data["col_lo"]),
        np.array(data["col_hi"]),
        np.array(data["integer"], dtype=bool),
        np.array(data["objective"]),
    )


def test_a_false_optimum_of_highs():
    """A well-scaled reduced MIP on which HiGHS, at its default tolerance, calls 5.1046 optimal; 5.3494 is feasible."""
    model = false_optimum()
    result = Highs().solve(model, time_limit=60)
    assert result.status is Status.OPTIMAL and result.dual_bound >= 5.3494
    x = result.x
    value = model.matrix @ x
    assert model.objective @ x >= 5.3494
    assert (x >= model.col_lo - 1e-8).all() and (x <= model.col_hi + 1e-8).all()
    assert (np.abs(x - np.rint(x))[model.integer] <= 1e-8).all()
    assert (value >= model.row_lo - 1e-8).all() and (value <= model.row_hi + 1e-8).all()


@dataclass(frozen=True)
class Optimist(Solver):
    """HiGHS, with every bound moved down."""

    by: float = 1.0
    name: ClassVar[str] = "optimist"
    title: ClassVar[str] = "an optimist"

    def solve(self, model, *, time_limit, above=np.inf, below=-np.inf, gap=1e-6, threads=1):
        true = Highs().solve(model, time_limit=time_limit)
        return SolverResult(Status.OPTIMAL, true.dual_bound - self.by, true.primal - self.by, None, 1)


@pytest.mark.parametrize("kind", [ReducedMip, PaperMip])
def test_a_bound_below_a_point_that_exists_is_refuted(make, kind):
    rng = np.random.default_rng(3)
    s = make.snapshot(make.box(2), rng, hidden=4)
    free = build(make.robust(["x0", "x1"], 0.5, 0), s)
    top = max(ReducedMip().maximise(free, r).upper for r in free.rows)
    eps = round(top - 0.05, 3)
    problem = build(make.robust(["x0", "x1"], 0.5, eps), s)
    verdict = prove_problem(problem, prover=kind(Optimist()))
    assert isinstance(verdict, Unknown) and verdict.bound == np.inf
    assert "an optimist" in verdict.reason and "is refuted by a point" in verdict.reason

    # the refuting point is a start for a counterexample: this backbone sits at the worst corner of its box
    v = s.head_weight[0]

    def worst(x):
        return np.stack([output(*s.box(problem.domain.scale(x[i])), i) for i in range(len(x))])

    def output(lower, upper, i):
        return np.where((v > 0) == (i % 2 == 0), upper, lower) @ s.head_weight.T + s.head_bias

    assert isinstance(prove_problem(problem, prover=kind(Optimist()), forward=worst), Violated)

    # a refuted bound proves nothing even where the claim is true
    true = build(make.robust(["x0", "x1"], 0.5, round(top + 0.5, 3)), s)
    assert isinstance(prove_problem(true, prover=kind()), Proved)
    assert isinstance(prove_problem(true, prover=kind(Optimist())), Unknown)


def test_stated_tolerance_is_rounded_up():
    assert Proved("x", -1.0, 0.0, 1e-6).sentence().endswith("within 1e-06")
    assert Proved("x", -1.0, 0.0, 1.3e-6).sentence().endswith("within 2e-06")
    assert Proved("x", -1.0, 0.0, 4.76837158203125e-07).sentence().endswith("within 5e-07")
    assert Proved("x", -1.0, 0.0, 0.0).sentence().endswith("within 0e+00")
    assert Proved("x", -1.0, 0.0, 9.9e-7).sentence().endswith("within 1e-06")


# ---- large groups ---------------------------------------------------------------------------------------------------


def test_too_many_combinations_of_categories_are_a_sentence(make):
    domain = Domain((Feature("x"), Feature("c", "category", categories=tuple(f"v{i}" for i in range(300)))))
    s = make.snapshot(domain, np.random.default_rng(0), hidden=1)
    then = (row([(1, 0, "out", ""), (-1, 1, "out", ""), (1, 2, "out", "")], 100),)
    assert prove_problem(build(Claim(3, (), then, others="free"), s)).status != "violated"  # nothing relates the copies
    assert prove_problem(build(Claim(3, (), then, equal=("c",)), s)).status != "violated"
    free = build(Claim(2, (), (row([(1, 0, "out", ""), (-1, 1, "out", "")], 100),), free=("c",)), s).region
    one_way = replace(free, delta_hi=np.where(free.grouped, 0.0, free.delta_hi))
    with pytest.raises(SmileError, match="300 values makes 90,000 combinations in 2 copies"):
        _ = one_way.empty
    assert prove_problem(build(make.fair(["x"], 100), s)).status == "proved"
