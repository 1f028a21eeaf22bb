"""Other solvers against checked bounds, and solvers that lie: a checked bound is never below what a point reaches."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from smilenn.certify.certify import certify
from smilenn.certify.check import check_folder
from smilenn.certify.reference.check import check_folder as check_reference
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.bundle import load_net, save_net
from smilenn.model.net import SmileNet
from smilenn.problem import build
from smilenn.properties.library import Fair, Monotone, Robust
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.mip.solvers import solver
from smilenn.provers.mip.solvers.base import Solver, Status
from smilenn.provers.rules import slopes, table
from smilenn.provers.tree.branch import BranchAndBound

PEOPLE = Domain(
    (
        Feature("age", "integer", 18, 90, shift=18.0, mult=1 / 72),
        Feature("income", "continuous", 0.0, 100.0, mult=0.01),
        Feature("race", "category", categories=("a", "b", "c")),
    )
)


def network(domain=PEOPLE, *, seed=0, hidden=4, gap=0.3, boxes="gap"):
    torch.manual_seed(seed)
    net = SmileNet(domain, MLP(domain.size, (4,), 2), 2, hidden=hidden, boxes=boxes)
    net.centre_(torch.tensor(domain.sample(64, np.random.default_rng(seed))))
    if boxes == "gap":
        net.gap.scale_(gap)
    return net


# ---- oracles --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["highs", "scip", "gurobi"])
@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_no_solver_finds_more_than_the_checked_bound(name, boxes):
    """The MIP's optimum, as each solver sees it, against the bound that a checker computed from a certificate."""
    if name != "highs":
        pytest.importorskip({"scip": "pyscipopt", "gurobi": "gurobipy"}[name])
    for seed in range(3):
        net = network(seed=seed, hidden=3, boxes=boxes)
        for claim in (*Fair(["race"], 0.5).lower(net.domain), *Robust(0.1, 0.5).lower(net.domain)):
            report = certify(net, [claim], time_limit=5).report
            checked = {r.text: r for c in report.claims for r in c.rows}
            problem = build(claim, net.snapshot())
            for row in problem.rows:
                found = ReducedMip(solver(name)).maximise(problem, row, time_limit=20)
                assert found.complete, found.note
                exact = float(checked[row.text].bound) - row.rhs
                assert found.lower <= exact + 1e-9 * row.scale  # no point lies above what was proved
                assert found.upper <= exact + 1e-4 * row.scale + found.error or report.status == "certified"


# ---- liars ----------------------------------------------------------------------------------------------------------


class Liar(Solver):
    """Changes what an honest solver says."""

    name, title = "liar", "a liar"

    def __init__(self, lie):
        self.lie = lie

    def solve(self, model, *, time_limit, above=np.inf, below=-np.inf, gap=1e-6, threads=1):
        honest = solver("highs").solve(model, time_limit=time_limit)
        return self.lie(honest, len(model.row_lo), np.random.default_rng(0))


LIES = {
    "noise for duals": lambda r, n, rng: replace(r, status=Status.OPTIMAL, multipliers=rng.normal(size=n)),
    "duals of the wrong sign": lambda r, n, rng: replace(
        r, multipliers=None if r.multipliers is None else -r.multipliers
    ),
    "huge duals": lambda r, n, rng: replace(r, status=Status.OPTIMAL, multipliers=1e4 * rng.normal(size=n)),
    "no duals": lambda r, n, rng: replace(r, status=Status.OPTIMAL, multipliers=np.zeros(n)),
    "a bound far too low": lambda r, n, rng: replace(r, status=Status.OPTIMAL, dual_bound=-1e6, primal=-1e6),
    "optimal too early": lambda r, n, rng: replace(
        r, status=Status.OPTIMAL, dual_bound=-10.0, x=None, primal=-np.inf, multipliers=rng.normal(size=n) / 1e3
    ),
    "empty": lambda r, n, rng: replace(
        r, status=Status.INFEASIBLE, dual_bound=-np.inf, x=None, primal=-np.inf, multipliers=rng.normal(size=n)
    ),
    "below the target": lambda r, n, rng: replace(r, status=Status.BELOW, dual_bound=-5.0),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_solver_never_certifies_a_false_claim(lie, monkeypatch):
    net = network(gap=1.0)
    monkeypatch.setattr(table, "RULES", (*table.RULES[:-1], BranchAndBound(Liar(LIES[lie]))))
    false, true = Fair(["race"], 0.01).lower(net.domain), Fair(["race"], 200.0).lower(net.domain)
    report = certify(net, false, time_limit=2).report
    assert report.status != "certified"
    # whatever it says, the bound that was checked holds for points that were evaluated
    if report.excess is not None:
        problem = build(false[0], net.snapshot())
        honest = ReducedMip().maximise(problem, problem.rows[0], time_limit=20)
        assert float(report.excess) >= honest.lower - 1e-9
    assert certify(net, true, time_limit=2).report.status != "refused"


def falling(seed=0):
    """A network of boxes without width that falls somewhere in x0: no rise can be certified."""
    domain = Domain.box([0.0] * 3, [1.0] * 3)
    net = network(domain, seed=seed, hidden=5, gap=0.0)
    with torch.no_grad():
        net.lower.weight[:, 0].abs_()
        net.lower.out.abs_()
        net.lower.out[:, 0] *= -3.0
        net.head_weight.abs_()
    return net


EMPTY = {
    "always empty": lambda r, n: (0, 1.0, np.full(n, -1.0)),
    "empty, noise for duals": lambda r, n: (0, 1.0, -np.abs(np.random.default_rng(0).normal(size=n))),
    "empty, no duals": lambda r, n: (0, 1.0, np.zeros(n)),
    "empty by a hair": lambda r, n: (0, 2e-9, np.full(n, -1e-9)),
}


@pytest.mark.parametrize("lie", EMPTY)
def test_a_false_empty_in_the_slope_tree_is_refused(lie, monkeypatch):
    """The LP behind the slope rule calls cells empty that are not: nothing that falls is certified to rise."""
    deepest = slopes._deepest

    def lying(problem, node):
        honest = deepest(problem, node)
        status, depth, marginals = EMPTY[lie](honest, len(node.path))
        honest.status, honest.fun, honest.ineqlin.marginals = status, depth, marginals
        return honest

    for seed in range(3):
        net = falling(seed)
        claims = Monotone(["x0"]).lower(net.domain)
        with monkeypatch.context() as patch:
            patch.setattr(slopes, "_deepest", lying)
            problem = build(claims[0], net.snapshot())
            tree = slopes.slope_tree(problem, problem.rows[0], time_limit=5)
            assert tree.complete  # the prover believes it
            report = certify(net, claims, time_limit=2).report
        assert report.status == "refused" and "empty" in report.reason


# ---- compilers ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
def test_torch_compile_under_fixed_order(tmp_path):
    """A compiler may fuse a product and a sum, which is another order: what `fixed-order` promises must survive that.

    Outputs of ordered pairs stay ordered bit for bit, whichever way rows are batched; if the compiled network gives
    other bits than the plain one, it does so in the same way for every row.
    """
    domain = Domain.box([0.0] * 6, [1.0] * 6)
    net = network(domain, hidden=8, gap=0.0)
    with torch.no_grad():
        net.lower.weight.abs_()
        net.lower.out.abs_()
        net.head_weight.abs_()
    net.set_profile("fixed-order")
    found = certify(net, Monotone([f"x{i}" for i in range(6)]).lower(domain))
    save_net(tmp_path / "m", net, extra=found.files)
    assert check_folder(tmp_path / "m").status == check_reference(tmp_path / "m").status == "certified"
    net, _ = load_net(tmp_path / "m")
    fast = torch.compile(net)
    rng = np.random.default_rng(0)
    low = domain.sample(4096, rng)
    high = np.minimum(low + rng.choice([0.0, 1e-16, 1e-9, 0.1], size=low.shape), 1.0)
    try:
        with torch.no_grad():
            ys = [fast(torch.as_tensor(x)).numpy() for x in (low, high)]
    except Exception as error:  # no compiler on this machine, or one that torch cannot use
        pytest.skip(f"torch.compile does not work here: {type(error).__name__}")
    assert (ys[0] <= ys[1]).all()
    order = rng.permutation(4096)
    with torch.no_grad():
        assert (fast(torch.as_tensor(low[order])).numpy() == ys[0][order]).all()
        assert (np.concatenate([fast(torch.as_tensor(part)).numpy() for part in np.split(low, 64)]) == ys[0]).all()
