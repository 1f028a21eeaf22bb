"""Branch-and-bound and the leaf rule: any slopes are sound, the LP's are good, and a lying solver changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smilenn.problem import build
from smilenn.properties.claim import Claim, row
from smilenn.properties.library import Convex, Fair, Monotone, Robust
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.mip.solvers import solver
from smilenn.provers.mip.solvers.base import Solver, SolverResult, Status
from smilenn.provers.tree import branch, grow, learn, parallel
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.leaf import Cell, Slopes, cut, flip_cut, rule_bound, rule_bounds, shape
from smilenn.provers.tree.relaxation import BoxLP
from smilenn.provers.tree.tree import Trees, tree_key
from smilenn.reason import Reason, Why
from smilenn.search.oracle import Oracle
from smilenn.testing.problems import cube as box
from smilenn.testing.problems import mixed, snapshot


def problems(seed, boxes="gap"):
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 0:
        domain, prop = mixed(), Fair(["r"], 0.1)
    elif kind == 1:
        domain, prop = box(3), Robust(0.2, 0.1)
    elif kind == 2:
        domain, prop = box(2), Monotone(["x0"], ["x1"])
    else:
        domain, prop = box(2), Convex(["x0"])
    net = snapshot(domain, rng, hidden=2, boxes=boxes)
    return [(p, r) for claim in prop.lower(domain) for p in [build(claim, net)] for r in p.rows]


@pytest.mark.parametrize("seed", [0, 4, 8])
def test_proves_with_flips_what_the_mip_proves(seed):
    """The paper's boxes: a bound a little above the optimum is proved, one below it never is."""
    for problem, r in problems(seed, "paper"):
        best = ReducedMip().maximise(problem, r, time_limit=30).upper
        assert BranchAndBound().search(problem, r, time_limit=30, target=best + 0.2).bound <= best + 0.2
        assert BranchAndBound().search(problem, r, time_limit=1, target=best - 0.01).bound > best - 0.01


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_the_mip(seed):
    for problem, r in problems(seed):
        tree, mip = (
            BranchAndBound().maximise(problem, r, time_limit=30),
            ReducedMip().maximise(problem, r, time_limit=30),
        )
        assert tree.complete
        assert tree.upper == pytest.approx(mip.upper, abs=2e-5)
        assert tree.lower <= tree.upper


@given(st.integers(0, 10_000), st.sampled_from(["gap", "paper"]))
def test_any_slopes_bound_every_point_of_a_cell(seed, boxes):
    rng = np.random.default_rng(seed)
    for problem, r in problems(seed, boxes):
        k, h = r.unit.shape
        points = Oracle(problem.region).sample(64, rng)
        pre = points @ problem.snapshot.hidden_weight.T + problem.snapshot.hidden_bias
        phase = np.zeros((k, h), dtype=np.int8)
        if h:
            c, j = rng.integers(k), rng.integers(h)
            phase[c, j] = rng.choice([-1, 1])
            points = points[pre[:, c, j] * phase[c, j] >= 0]
        nu = np.where(problem.region.equality, 1, 0) * rng.normal(size=len(problem.region.rhs))
        slopes = Slopes(rng.normal(size=(k, h)), rng.uniform(0, 1, size=r.flip.shape), nu)
        unflipped = np.zeros(r.flip.shape, dtype=np.int8)
        made = shape(problem, Cell(problem.region.lo, problem.region.hi, phase, unflipped))
        bound = rule_bound(problem, r, made, slopes)
        if len(points):
            assert problem.value(points, r).max() <= bound + 1e-9 * (1 + abs(bound))


def test_extra_rows_are_used():
    """x' + y' ≤ 0.5 makes the difference what a box alone would not give."""
    domain = box(2)
    rng = np.random.default_rng(5)
    when = tuple(row([(1, c, "in", "x0"), (1, c, "in", "x1")], 0.5) for c in (0, 1))
    claim = Claim(2, when, (row([(1, 0, "out", ""), (-1, 1, "out", "")], 0.1),), "free")
    problem = build(claim, snapshot(domain, rng, hidden=2))
    tree, mip = (p.maximise(problem, problem.rows[0], time_limit=30) for p in (BranchAndBound(), ReducedMip()))
    assert tree.complete and tree.upper == pytest.approx(mip.upper, abs=2e-5)


@dataclass(frozen=True)
class Liar(Solver):
    """Returns wrong multipliers, calls everything optimal."""

    seed: int = 0
    name = "liar"
    title = "a liar"

    def solve(self, model, *, time_limit, above=np.inf, below=-np.inf, gap=1e-6, threads=1):
        honest = solver("highs").solve(model, time_limit=time_limit)
        if honest.multipliers is None:
            return honest
        noise = np.random.default_rng(self.seed).normal(size=len(honest.multipliers))
        lie = replace(honest, multipliers=honest.multipliers + noise, dual_bound=-100.0)
        assert isinstance(lie, SolverResult)
        return replace(lie, status=Status.OPTIMAL)


@pytest.mark.parametrize("seed", range(4))
def test_a_lying_solver_never_lowers_the_bound(seed):
    for problem, r in problems(seed):
        truth = ReducedMip().maximise(problem, r, time_limit=30).lower
        assert (
            BranchAndBound(Liar(seed)).search(problem, r, time_limit=1.0, most=40, goal="optimum").bound >= truth - 1e-9
        )


def test_a_time_limit_keeps_the_bound():
    problem, r = problems(1)[0]
    found = BranchAndBound().maximise(problem, r, time_limit=0.0)
    assert not found.complete and np.isfinite(found.upper)
    assert found.upper >= ReducedMip().maximise(problem, r, time_limit=30).lower


def leaves(tree):
    stack, out = [tree.root], []
    while stack:
        node = stack.pop()
        stack += node.children
        out += [node] if node.split is None else []
    return out


def hard(seed=3, hidden=6, eps=0.1):
    domain = box(4)
    net = snapshot(domain, np.random.default_rng(seed), hidden=hidden)
    problem = build(Robust(0.3, eps).lower(domain)[0], net)
    return problem, problem.rows[0]


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_every_leaf_is_bounded_by_the_rule_itself(boxes):
    """The bounds of a tree are those of its leaves' slopes, whatever the LP said on the way, closed or not."""
    for seed in range(4):
        for problem, r in problems(seed, boxes):
            for most in (1, 7, 200):
                tree = BranchAndBound().search(problem, r, time_limit=20, goal="optimum", most=most)
                found = [rule_bound(problem, r, shape(problem, n.cell), n.slopes, tree.lemmas) for n in leaves(tree)]
                assert max(found) <= tree.bound <= max(found) + 1e-9


def test_slopes_are_what_a_certificate_writes():
    """Rounded to multiples of 2^-24 (few bits less for large ones), so that writing them changes no bound."""
    problem, r = hard()
    tree = BranchAndBound().search(problem, r, time_limit=20, goal="optimum", most=100)
    for node in leaves(tree):
        assert (node.slopes.unit * 2.0**24 == np.rint(node.slopes.unit * 2.0**24)).all()


def test_contradicting_phases_close_a_cell():
    """Two units w·x − ¼ and ¾ − w·x cannot both be off, nor can the tree end elsewhere than at the optimum."""
    problem, r = hard(seed=5)
    best = ReducedMip().maximise(problem, r, time_limit=30)
    tree = BranchAndBound().search(problem, r, time_limit=30, target=best.upper + 1e-4)
    assert tree.complete and tree.bound <= best.upper + 1e-4


def test_an_old_tree_is_taken_over_when_the_weights_move():
    problem, r = hard()
    first = BranchAndBound().search(problem, r, time_limit=30, goal="optimum")
    s = problem.snapshot
    moved = replace(s, hidden_weight=s.hidden_weight * 1.01, lower_out=s.lower_out * 0.99)
    again = build(problem.claim, moved)
    target = ReducedMip().maximise(again, again.rows[0], time_limit=30).upper + 0.01
    fresh = BranchAndBound().search(again, again.rows[0], time_limit=30, target=target)
    reused = BranchAndBound().search(again, again.rows[0], time_limit=30, target=target, like=first)
    assert fresh.complete and reused.complete and max(fresh.bound, reused.bound) <= target
    low = BranchAndBound().search(again, again.rows[0], time_limit=5, target=target - 0.1, like=first)
    assert low.bound > target - 0.1  # splits of another network prove nothing by themselves


def counted_lps(monkeypatch) -> list[int]:
    """One entry for every LP solved from now on."""
    calls, real = [], BoxLP.solve

    def counting(self, *args, **options):
        calls.append(1)
        return real(self, *args, **options)

    monkeypatch.setattr(BoxLP, "solve", counting)
    return calls


def test_what_was_proved_once_is_proved_again_without_lps(monkeypatch):
    problem, r = hard()
    target = ReducedMip().maximise(problem, r, time_limit=30).upper + 1e-3
    trees = Trees()
    found = BranchAndBound(trees=trees).maximise(problem, r, goal="prove", target=target)
    assert found.upper <= target + 1e-6 and list(trees) == [tree_key(problem, r)]
    calls = counted_lps(monkeypatch)
    again = BranchAndBound(trees=trees).search(problem, r, target=target)
    assert again.complete and again.bound <= target and not calls
    assert [n.split for n in leaves(again)] and trees[tree_key(problem, r)] is again
    bounds = [rule_bound(problem, r, shape(problem, n.cell), n.slopes, again.lemmas) for n in leaves(again)]
    assert max(bounds) <= again.bound
    assert BranchAndBound(trees=trees).search(problem, r, target=target) is again  # the very same question
    easier = replace(r, rhs=r.rhs + 1e-4)
    other = BranchAndBound(trees=trees).search(problem, easier, target=target)
    assert other is not again and other.bound == pytest.approx(again.bound - 1e-4, abs=1e-9) and not calls
    for changed in (replace(r, slope=r.slope + 1.0), replace(r, unit=2.0 * r.unit), replace(r, const=r.const + 1.0)):
        truth = ReducedMip().maximise(problem, changed, time_limit=30).lower
        again = BranchAndBound(trees=Trees({tree_key(problem, r): other})).search(problem, changed, target=target)
        assert again.bound >= truth - 1e-9
    calls.clear()
    lower = BranchAndBound(trees=trees).search(
        problem, r, target=target - 0.1
    )  # calls for more than the old slopes prove
    assert lower.bound > target - 0.1 and calls


def test_slopes_of_a_tree_that_is_taken_over_are_not_taken_on_trust():
    problem, r = hard()
    truth = ReducedMip().maximise(problem, r, time_limit=30).lower
    tree = BranchAndBound().search(problem, r, goal="optimum")
    for leaf in leaves(tree):
        leaf.slopes, leaf.bound = replace(leaf.slopes, unit=-3.0 * leaf.slopes.unit), -1e9
    assert BranchAndBound().search(problem, r, target=truth - 1e-3, like=tree).bound >= truth - 1e-9


def test_leaves_of_a_tree_that_is_taken_over_may_know_fewer_lemmas(monkeypatch):
    """Those that were closed before the last lemmas were found."""
    monkeypatch.setattr(learn, "AT_ONCE", 0)
    problem, r = hard()
    target = ReducedMip().maximise(problem, r, time_limit=30).upper + 1e-3
    tree = BranchAndBound(workers=1).search(problem, r, target=target, time_limit=30)
    found = leaves(tree)
    assert len(tree.lemmas) and len(found) > 1 and any(len(leaf.slopes.lemmas) for leaf in found)
    for leaf in found[::2]:
        leaf.slopes = replace(leaf.slopes, lemmas=leaf.slopes.lemmas[:1])
    again = BranchAndBound(workers=1).search(problem, r, target=target, time_limit=30, like=tree)
    assert again.complete and again.bound <= target


def test_the_tree_of_another_network_is_not_taken_over():
    problem, r = hard()
    other, row = hard(hidden=4)
    tree = BranchAndBound().search(other, row, goal="optimum")
    target = ReducedMip().maximise(problem, r, time_limit=30).upper + 1e-3
    found = BranchAndBound().search(problem, r, target=target, like=tree)
    assert found.complete and found.bound <= target


def test_the_same_search_gives_the_same_tree():
    problem, r = hard()
    one, two = (BranchAndBound().search(problem, r, time_limit=60, goal="optimum") for _ in range(2))
    assert one.nodes == two.nodes and one.bound == two.bound
    assert [n.split for n in leaves(one)] == [n.split for n in leaves(two)]


def test_processes_give_the_same_tree_however_many_they_are(monkeypatch):
    monkeypatch.setattr(branch, "SHARED_AT", 12)
    problem, r = hard()
    target = ReducedMip().maximise(problem, r, time_limit=30).upper + 1e-3
    two, three = (BranchAndBound(workers=n).search(problem, r, time_limit=60, target=target) for n in (2, 3))
    assert two.complete and two.nodes == three.nodes > 12 and two.bound == three.bound <= target
    assert [n.split for n in leaves(two)] == [n.split for n in leaves(three)]
    found = [rule_bound(problem, r, shape(problem, n.cell), n.slopes, two.lemmas) for n in leaves(two)]
    assert max(found) <= two.bound
    low = BranchAndBound(workers=2).search(problem, r, time_limit=60, target=target - 0.1)
    assert low.bound > target - 0.1 and low.value > target - 0.1


@pytest.mark.parametrize("failure", [OSError("no semaphores"), KeyboardInterrupt()])
def test_without_processes_the_proof_goes_on_in_one_and_says_so(monkeypatch, caplog, failure):
    """Ctrl-C while the work is shared out keeps what was proved."""
    monkeypatch.setattr(branch, "SHARED_AT", 12)
    problem, r = hard()
    best = ReducedMip().maximise(problem, r, time_limit=30)

    def fails(*args, **options):
        raise failure

    monkeypatch.setattr("joblib.Parallel.__call__", fails)
    found = BranchAndBound(workers=2).search(problem, r, time_limit=60, target=best.upper + 1e-3)
    if isinstance(failure, OSError):
        assert "The proof goes on in one process: no semaphores" in caplog.text
        assert found.complete and found.bound <= best.upper + 1e-3
    else:
        assert not found.complete and found.stopped == Why(Reason.INTERRUPTED) and best.lower <= found.bound < np.inf


def test_an_interruption_keeps_what_was_proved(monkeypatch):
    problem, r = hard()
    truth = ReducedMip().maximise(problem, r, time_limit=30).lower
    calls, real = [], BoxLP.solve

    def once(self, *args, **options):
        calls.append(1)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return real(self, *args, **options)

    monkeypatch.setattr(BoxLP, "solve", once)
    found = BranchAndBound().maximise(problem, r)
    assert not found.complete and found.stopped == Why(Reason.INTERRUPTED)
    assert truth - 1e-9 <= found.upper < np.inf


def test_a_tree_has_a_largest_size():
    problem, r = hard()
    tree = BranchAndBound().search(problem, r, goal="optimum", most=9)
    assert not tree.complete and tree.stopped == Why.of(Reason.NODES, 9)
    assert tree.bound >= ReducedMip().maximise(problem, r, time_limit=30).lower


@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_many_cells_are_those_of_one_at_a_time(seed, boxes):
    rng = np.random.default_rng(seed)
    for problem, r in problems(seed, boxes):
        k, h, n = problem.copies, len(problem.snapshot.hidden_bias), problem.snapshot.embedding
        base = shape(problem, Cell(problem.region.lo, problem.region.hi, np.zeros((k, h), int), np.zeros((k, n), int)))
        phase, flip = rng.integers(-1, 2, size=(20, k, h)), rng.integers(-1, 2, size=(20, k, n)) * r.flip.any()
        t, tau = rng.normal(size=(20, k, h)), rng.normal(size=(20, k, n)) * (r.flip > 0)
        nu = rng.uniform(size=(20, len(problem.region.rhs)))
        also = (flip, tau) if r.flip.any() else ()
        found = rule_bounds(problem, r, base, phase, t, nu, *also)
        for i in range(20):
            made = cut(problem, base, phase[i], flip[i])
            wanted = rule_bound(problem, r, made, Slopes(t[i], tau[i], nu[i]))
            assert found[i] == (wanted if np.isinf(wanted) else pytest.approx(wanted, rel=1e-12, abs=1e-12))
        assert np.isfinite(found).any()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_slopes_of_many_answers_are_those_of_each(seed, boxes):
    """And ranges of flip units without corners are those of the whole shape, corners those of the box."""
    for problem, r in problems(seed, boxes):
        region, (k, h) = problem.region, r.unit.shape
        whole = Cell(region.lo, region.hi, np.zeros((k, h), np.int8), np.zeros_like(r.flip, dtype=np.int8))
        base = shape(problem, whole)
        lp = BoxLP(problem, r, base, solver(), 64.0)
        answers = []
        for sign in (0, -1, 1):
            phase = whole.phase.copy()
            phase[0, :1] = sign
            light = None
            if boxes == "paper":
                light, full = (f(problem, base, phase, whole.flip) for f in (flip_cut, cut))
                assert np.array_equal(light.flip_low, full.flip_low) and np.array_equal(light.flip_high, full.flip_high)
                assert (light.inside >= full.inside).all() and light.empty <= full.empty
                for split in (("phase", k - 1, h - 1, 0.0), ("flip", 0, 0, 0.0)):  # from the parent's, the same
                    deeper, flip = phase.copy(), whole.flip.copy()
                    (deeper if split[0] == "phase" else flip)[split[1], split[2]] = 1
                    one, other = flip_cut(problem, base, deeper, flip, light, split), cut(problem, base, deeper, flip)
                    assert one.flip_low == pytest.approx(other.flip_low, abs=1e-12)
                    assert one.flip_high == pytest.approx(other.flip_high, abs=1e-12)
            answer = lp.solve(phase, light)
            answers += [answer] if answer is not None and answer.x is not None else []
        together = lp.many_slopes(answers)
        for i, answer in enumerate(answers):
            one = lp.slopes(answer)
            assert together.unit[i] == pytest.approx(one.unit, abs=1e-12)
            assert together.rows[i] == pytest.approx(one.rows, abs=1e-12)
            if r.flip.any():
                assert together.flip[i] == pytest.approx(one.flip, abs=1e-12)


def test_ctrl_c_in_the_middle_of_a_split_keeps_what_was_known_of_the_cell(monkeypatch):
    """After n linear programs, whichever child they are of: never worse than the bound of the n − 2 before."""
    problem, r = hard()
    real, bounds = BoxLP.solve, []
    for stop in range(4, 24):
        calls: list[int] = []

        def once(self, *args, calls=calls, stop=stop, **more):
            calls.append(0)
            if len(calls) == stop:
                raise KeyboardInterrupt
            return real(self, *args, **more)

        monkeypatch.setattr(BoxLP, "solve", once)
        tree = BranchAndBound(workers=1).search(problem, r, goal="optimum", time_limit=60)
        assert tree.stopped == Why(Reason.INTERRUPTED) and all(len(n.children) != 1 for n in [tree.root])
        bounds.append(tree.bound)
    assert (np.diff(bounds) <= 1e-9).all() and bounds[-1] < bounds[0]


def test_processes_whose_time_is_over_do_not_lose_what_was_known(monkeypatch):
    monkeypatch.setattr(branch, "SHARED_AT", 12)
    problem, r = hard()
    run = grow.Growth(problem, r, solver(), 60.0, "optimum", 0.0, True)
    run.grow(10_000, pause=12)
    known = max(node.bound for _, _, node in run.heap)
    run.limit = 0.0  # for the tasks
    parallel.share(run, 10_000, 2)
    tree = run.tree()
    assert not tree.complete and tree.bound <= known + 1e-4  # rounded slopes
