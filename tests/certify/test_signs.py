"""The signs rule: what it proves, what it refuses, and that both checkers, the prover and sampled inputs agree."""

from fractions import Fraction as F
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from smilenn import Concave, Convex, Domain, Dominates, Feature, Monotone, Symmetric
from smilenn.certify import check
from smilenn.certify.certificate import dump, model_digest
from smilenn.certify.emit import emit
from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import reader
from smilenn.model.backbones import MLP
from smilenn.model.bundle import MODEL, WEIGHTS, certified_tensors, dump_weights
from smilenn.model.folder import dump_json, write_folder
from smilenn.model.net import SmileNet
from smilenn.problem import build
from smilenn.properties.claim import Claim, row
from smilenn.provers.portfolio import prove_problem
from smilenn.provers.proof import ClaimProof, SignsProof
from smilenn.provers.realise import violations
from smilenn.provers.rules.signs import Signs
from smilenn.provers.rules.table import choose
from smilenn.provers.witness import witness
from smilenn.search.oracle import Oracle

DOMAIN = Domain(
    (
        Feature("a", lo=-1, hi=3, shift=1.0, mult=0.5),
        Feature("b", lo=0, hi=1, shift=0.25, mult=4.0),
        Feature("c", lo=-2, hi=2),
        Feature("n", "integer", 0, 9),
    )
)


def network(weight, out, slope=(0.0,) * 4, *, domain=DOMAIN, outputs=("",), head=None, gap=0.0):
    """f = slope·u + Σ out_j·relu(weight_j·u + …), boxes of width `gap`."""
    h, o = len(out), len(outputs)
    net = SmileNet(domain, MLP(domain.size, (2,), o), o, hidden=h, skip=True, outputs=outputs)
    with torch.no_grad():
        net.gap.scale_(0.0)
        net.gap.const.fill_(gap)
        net.lower.weight.copy_(torch.tensor(np.array(weight), dtype=torch.float64))
        net.lower.bias.copy_(torch.linspace(-1, 1, h))
        net.lower.out.copy_(torch.tensor(np.broadcast_to(out, (o, h)).copy(), dtype=torch.float64))
        net.lower.slope.copy_(torch.tensor(np.broadcast_to(slope, (o, domain.size)).copy(), dtype=torch.float64))
        net.lower.const.zero_()
        net.head_weight.copy_(torch.eye(o, dtype=torch.float64) if head is None else torch.tensor(head))
        net.head_bias.zero_()
    return net


def folder(tmp_path, net, claim, rows=1):
    """A folder whose certificate says that the signs prove every row."""
    problem = build(claim, net.snapshot())
    files = {WEIGHTS: dump_weights(net), MODEL: dump_json({"net": net.describe()})}
    entry = ClaimProof(claim.to_json(), witness(problem).tolist(), [SignsProof()] * rows)
    write_folder(tmp_path, files | dump(model_digest(net.describe(), certified_tensors(net)), [entry], net.profile))
    return tmp_path


def judged(tmp_path, net, claim, rows=1):
    """Whether both checkers accept a proof by signs; they must agree, with each other and with the prover."""
    place = folder(tmp_path, net, claim, rows)
    reports = [module.check_folder(place) for module in (check, check_reference)]
    assert reports[0].status == reports[1].status, (reports[0].reason, reports[1].reason)
    problem = build(claim, net.snapshot())
    accepted = reports[0].status in ("certified", "unknown")
    assert accepted == all(Signs().refuses(problem, r) is None for r in problem.rows)
    if accepted:
        for report in reports:
            assert all(r.bound == 0 and r.rule == "signs" and r.margin > 0 for c in report.claims for r in c.rows)
    return accepted


def largest(net, claim):
    """The largest left side over tuples of the premise, sampled."""
    problem = build(claim, net.snapshot())
    x = problem.given.domain.unscale(
        problem.given.region.snap(Oracle(problem.given.region).sample(2000, np.random.default_rng(0)))
    )
    return max(float((violations(problem.given, [r], x, net.predict) + float(r.rhs)).max()) for r in claim.rows)


CURVED = [[1.0, 0.0, 2.0, 0.5], [-1.5, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]


def test_convex_in_what_units_with_positive_weights_read(tmp_path):
    net = network(CURVED, [1.0, 2.0, -3.0], [5.0, -1.0, 2.0, 0.0])
    (claim,) = Convex(["a"]).lower(DOMAIN)
    assert judged(tmp_path / "m", net, claim)
    assert largest(net, claim) <= 1e-9
    assert emit(build(claim, net.snapshot())).proof.rows == [SignsProof()]
    assert prove_problem(build(claim, net.snapshot()), forward=net.predict).status == "proved"
    # the third unit bends downwards in c and n
    for name in ("c", "n"):
        (other,) = Convex([name]).lower(DOMAIN)
        assert not judged(tmp_path / name, net, other)
        assert largest(net, other) > 1e-3
    (jointly,) = Convex(["a", "b"]).lower(DOMAIN)
    assert judged(tmp_path / "jointly", net, jointly)
    (concave,) = Concave(["b"]).lower(DOMAIN)  # nothing bends in b: affine
    assert judged(tmp_path / "affine", net, concave)
    (concave,) = Concave(["a"]).lower(DOMAIN)
    assert not judged(tmp_path / "concave", net, concave)
    negated = network(CURVED, [-1.0, -2.0, 3.0], [5.0, -1.0, 2.0, 0.0])
    assert judged(tmp_path / "negated", negated, concave)


def test_jensen_with_other_weights_and_four_copies(tmp_path):
    """f(x_3) ≤ ½ f(x_1) + ⅓ f(x_2) + ⅙ f(x_4) at the same mean of x; with another mean nothing is shown."""
    net = network(CURVED, [1.0, 2.0, -3.0])
    then = (row([(6, 2, "out", ""), (-3, 0, "out", ""), (-2, 1, "out", ""), (-1, 3, "out", "")], 0),)
    for shares, good in (((-3, -2, 6, -1), True), ((-3, -1, 6, -2), False), ((6, 4, -12, 2), True)):
        terms = [(v, c, "in", "a") for c, v in enumerate(shares)]
        claim = Claim(4, (row(terms, 0, "=="),), then)
        assert judged(tmp_path / str(shares), net, claim) is good
    shifted = Claim(
        4, (row([(-3, 0, "in", "a"), (-2, 1, "in", "a"), (6, 2, "in", "a"), (-1, 3, "in", "a")], 1, "=="),), then
    )
    assert not judged(tmp_path / "shifted", net, shifted)
    loose = Claim(4, (row([(-3, 0, "in", "a"), (-2, 1, "in", "a"), (6, 2, "in", "a"), (-1, 3, "in", "a")], 0),), then)
    assert not judged(tmp_path / "loose", net, loose)


def test_input_terms_are_part_of_the_function(tmp_path):
    """f(x) + 4·a is convex in a if f is; terms that are weighed otherwise are refused."""
    net = network(CURVED, [1.0, 2.0, -3.0])
    when = (row([(2, 1, "in", "a"), (-1, 0, "in", "a"), (-1, 2, "in", "a")], 0, "=="),)
    outs = [(2, 1, "out", ""), (-1, 0, "out", ""), (-1, 2, "out", "")]
    for ins, good in (
        ([(8, 1, "in", "a"), (-4, 0, "in", "a"), (-4, 2, "in", "a")], True),
        ([(8, 1, "in", "a"), (-4, 0, "in", "a"), (-3, 2, "in", "a")], False),
        ([(1, 1, "in", "b"), (-1, 0, "in", "b")], False),
    ):
        assert judged(tmp_path / str(ins), net, Claim(3, when, (row(outs + ins, 0),))) is good


@pytest.mark.parametrize(
    ("weights", "good"), [((1.0, 0.5), True), ((0.25, 0.5), True), ((0.25, 0.51), False), ((-1.0, 0.0), False)]
)
def test_dominates_unit_by_unit(tmp_path, weights, good):
    """Raising a by t and lowering b by t/2: a unit with weights (w_a, w_b) on raw inputs rises by (w_a − w_b/2)·t."""
    raw = np.array([weights[0], weights[1], 0.7, 0.0]) / DOMAIN.mult
    net = network([raw, [0.0, 0.0, 1.0, 1.0]], [2.0, -1.0])
    (claim,) = Dominates("a", "b", F(1, 2)).lower(DOMAIN)
    assert judged(tmp_path / "m", net, claim) is good
    assert (largest(net, claim) <= 1e-9) is good


def test_symmetric_in_a_sum(tmp_path):
    domain = Domain((Feature("a"), Feature("b"), Feature("c")))
    (up, down) = Symmetric(["a", "b"]).lower(domain)[0].rows
    claim = Symmetric(["a", "b"]).lower(domain)[0]
    assert up.rhs == down.rhs == 0
    same = network([[1.0, 1.0, 0.3], [-2.0, -2.0, 1.0]], [1.0, -2.0], [3.0, 3.0, 0.0], domain=domain)
    assert judged(tmp_path / "same", same, claim, 2) and largest(same, claim) <= 1e-12
    other = network([[1.0, 1.01, 0.3], [-2.0, -2.0, 1.0]], [1.0, -2.0], [3.0, 3.0, 0.0], domain=domain)
    assert not judged(tmp_path / "other", other, claim, 2)
    slope = network([[1.0, 1.0, 0.3], [-2.0, -2.0, 1.0]], [1.0, -2.0], [3.0, 3.5, 0.0], domain=domain)
    assert not judged(tmp_path / "slope", slope, claim, 2)


def test_monotone_by_signs_in_any_order_of_sums(tmp_path):
    (claim,) = Monotone(increasing=["a"], decreasing=["c"]).lower(DOMAIN)
    good = network([[1.0, -3.0, -1.0, 2.0], [-1.0, 1.0, 0.5, 0.0]], [1.0, -2.0], [1.0, 0.0, -1.0, 0.0])
    assert judged(tmp_path / "m", good, claim)
    bad = network([[1.0, -3.0, 1.0, 2.0], [-1.0, 1.0, 0.5, 0.0]], [1.0, -2.0])
    assert not judged(tmp_path / "n", bad, claim)


def test_what_the_rule_is_not_for(tmp_path):
    (claim,) = Convex(["a"]).lower(DOMAIN)
    assert not judged(tmp_path / "wide", network(CURVED, [1.0, 2.0, -3.0], gap=0.5), claim)
    trace = Claim(1, (), (row([(1, 0, "out", "")], 100),))
    assert not judged(tmp_path / "trace", network(CURVED, [1.0, 2.0, -3.0]), trace)
    net = network(CURVED, [1.0, 2.0, -3.0])
    when = (row([(2, 1, "in", "a"), (-1, 0, "in", "a"), (-1, 2, "in", "a")], 0, "=="),)
    for n, outs in enumerate(
        ([(1, 1, "out", ""), (1, 0, "out", ""), (-2, 2, "out", "")], [(2, 1, "out", ""), (-1, 0, "out", "")])
    ):
        assert not judged(tmp_path / str(n), net, Claim(3, when, (row(outs, 100),)))
    (convex,) = Convex(["a"]).lower(DOMAIN)
    about_inputs = Claim(3, when, (*convex.then, row([(1, 0, "in", "a")], 100)))
    assert not judged(tmp_path / "inputs", net, about_inputs, 2)
    two = network(CURVED, [1.0, 2.0, -3.0], outputs=("y", "z"))
    both = [(2, 1, "out", "y"), (-1, 0, "out", "y"), (-1, 2, "out", "y")]
    mixed = [*both, (2, 1, "out", "z"), (-1, 0, "out", "z"), (-1, 2, "out", "z")]
    assert judged(tmp_path / "both", two, Claim(3, when, (row(mixed, 0),)))
    assert not judged(
        tmp_path / "skewed", two, Claim(3, when, (row([*both, (1, 1, "out", "z"), (-1, 0, "out", "z")], 0),))
    )
    assert not judged(
        tmp_path / "opposed", two, Claim(3, when, (row([*both, *((-2 * c, k, t, "z") for c, k, t, _ in both)], 0),))
    )


def test_the_portfolio_takes_it_for_three_copies_and_rows_over_several_features():
    net = network(CURVED, [1.0, 2.0, -3.0])
    problem = build(Convex(["a"]).lower(DOMAIN)[0], net.snapshot())
    assert choose(problem, problem.rows[0]).prover.name == "signs"
    problem = build(Convex(["c"]).lower(DOMAIN)[0], net.snapshot())
    assert choose(problem, problem.rows[0]).prover.name != "signs"


@pytest.mark.parametrize("large", [1e6, 1e12, 1e15])
def test_large_weights_that_nearly_cancel_are_not_proved(large):
    """A unit rises by (w_b/2 − w_a)·t = t: next to nothing beside its weights, and yet a violation of a whole unit."""
    raw = np.array([large, 2 * large + 2, 0.0, 0.0]) / DOMAIN.mult
    net = network([raw], [1.0])
    problem = build(Dominates("a", "b", F(1, 2)).lower(DOMAIN)[0], net.snapshot())
    assert Signs().refuses(problem, problem.rows[0]) is not None
    thirds = np.array([large / 3, large, 0.0, 0.0]) / DOMAIN.mult  # up to a rounding of ⅓ that is no longer small
    problem = build(Dominates("a", "b", F(1, 3)).lower(DOMAIN)[0], network([thirds], [1.0]).snapshot())
    assert large < 1e9 or Signs().refuses(problem, problem.rows[0]) is not None


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 40))])
def test_random_networks_of_small_whole_numbers(tmp_path, seed):
    """Ties, zeros, pins and rows that share coordinates: the checkers agree with each other and with sampled inputs."""
    rng = np.random.default_rng(seed)
    domain = Domain(tuple(Feature(name, lo=-2, hi=2) for name in "abc"))
    h = int(rng.integers(1, 4))
    net = network(
        rng.integers(-1, 2, size=(h, 3)).astype(float),
        rng.integers(-1, 2, size=h).astype(float),
        rng.integers(-1, 2, size=3).astype(float),
        domain=domain,
    )
    kinds = [
        Convex(["a"]),
        Convex(["a", "b"]),
        Concave(["b"]),
        Dominates("a", "b"),
        Dominates("b", "c", 2),
        Symmetric(["a", "b"]),
        Symmetric(["a", "b", "c"]),
        Monotone(increasing=["a"]),
    ]
    for n, rule in enumerate(kinds):
        (claim,) = rule.lower(domain)
        if judged(tmp_path / str(n), net, claim, len(claim.rows)):
            assert largest(net, claim) <= 1e-12, rule


def test_the_checkers_agree_on_folders_that_nearly_fit(signed):
    loaded = SimpleNamespace(check=check, check_reference=check_reference, reader=reader)
    given = [signed.Signed(seed).files for seed in range(360)]
    fast, slow = (signed.kill_small.answers(loaded, given, one) for one in (True, False))
    assert [(status, rows) for status, _, rows in fast] == [(status, rows) for status, _, rows in slow]
    found = {status for status, *_ in fast}
    assert found == {"certified", "unknown", "refused"}
