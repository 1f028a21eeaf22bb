"""Claims with clauses: cases in certificates, found, checked, tampered with, and held against brute force."""

import importlib
import json
import types
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from smilenn import Domain, SmileNet
from smilenn.certify.certify import certify
from smilenn.certify.check import check_folder
from smilenn.certify.reference.check import check_folder as check_reference
from smilenn.certify.verdicts import examine
from smilenn.model.backbones import MLP
from smilenn.model.bundle import save_net
from smilenn.model.folder import read_folder, write_folder
from smilenn.problem import digest
from smilenn.properties.cases import Case, Split, case_claim, case_claims, leaves
from smilenn.properties.claim import Claim, Term, row
from smilenn.properties.custom import Custom
from smilenn.properties.premise import ground, holds_exactly
from smilenn.provers.model import prove
from smilenn.provers.tree.tree import Trees
from smilenn.verdict import Proved, Unknown, Violated

HALF = Fraction(1, 2)


def ramps(*slopes, gap=0.0):
    """Outputs y0, y1, … = slope·u, each in a box of width `gap`; two inputs in [-1, 1]."""
    domain = Domain.box([-1.0, -1.0], [1.0, 1.0], ["u", "v"])
    o = len(slopes)
    net = SmileNet(
        domain, MLP(2, (3,), o), o, outputs=[f"y{i}" for i in range(o)], auxiliaries="relu", hidden=2, skip=True
    )
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if not name.startswith("backbone"):
                parameter.zero_()
        net.lower.slope.copy_(torch.tensor(slopes))
        net.second.const.fill_(gap)
        net.head_weight.copy_(torch.eye(o))
    return net


def clause(*outputs, bound=0):
    return tuple(row([(1, 0, "out", name)], bound) for name in outputs)


def one(*outputs, bound=0, **more):
    return Claim(1, (), (), either=(clause(*outputs, bound=bound),), sentence="Not all are large.", **more)


def folder(tmp_path, net, claims, trees=None):
    found = certify(net, claims, trees=trees, time_limit=20)
    save_net(tmp_path / "m", net)
    write_folder(tmp_path / "m", {**read_folder(tmp_path / "m"), **found.files}, overwrite=True)
    return found, tmp_path / "m"


def test_a_split_proves_what_no_single_row_does(tmp_path):
    """y0 = u and y1 = −3u are never both above .1: by one mean (3:1), or by one alternative on each side of 0."""
    net = ramps([1.0, 0.0], [-3.0, 0.0])
    for claim in (one("y0", "y1", bound="0.1"), one("y1", "y0", bound="0.1")):
        assert isinstance(prove(net, [claim]), Proved)
    chosen = Split(0, 0, 0.0, Case(((1, 0),)), Case(((0, 1),)))
    trees, claim = Trees(), one("y0", "y1", bound="0.1")
    trees.cases[digest(claim, net.domain)] = chosen
    assert prove(net, [claim], trees=trees).method.startswith("2 cases by")
    found, place = folder(tmp_path, net, [claim], trees)
    assert found.accepted and found.bound == 0.0
    assert check_folder(place).status == check_reference(place).status == "certified"
    assert json.loads(found.files["certificate.json"])["claims"][0]["cases"]["at"] == 0.0
    assert 'out["y0"] <= 0.1 or a.out["y1"] <= 0.1' in check_folder(place).claims[0].formula
    assert examine(place).accepted


def test_what_is_false_is_violated_or_unknown():
    both = ramps([1.0, 0.0], [1.0, 0.0])
    claim = one("y0", "y1", bound="0.5")
    verdict = prove(both, [claim])
    assert isinstance(verdict, Violated)
    assert verdict.counterexample.violation == pytest.approx(0.5, abs=0.1)
    assert verdict.counterexample.row == 'a.out["y0"] <= 0.5 or a.out["y1"] <= 0.5'
    assert (verdict.counterexample.outputs > 0.5).all()
    found = certify(both, [claim], time_limit=5)
    assert not found.accepted and found.bound >= 0.5


def test_a_box_that_allows_it_is_unknown_if_the_backbone_does_not():
    net = ramps([1.0, 0.0], [-1.0, 0.0], gap=0.5)
    with torch.no_grad():  # the embedding stays at the lower end of its box
        for parameter in net.backbone.parameters():
            parameter.fill_(-5.0)
    verdict = prove(net, [one("y0", "y1", bound="0.1")], time_limit=1)
    assert isinstance(verdict, Unknown) and verdict.bound >= 0.4 - 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_never_less_than_what_is_reached(seed, tmp_path):
    """Random networks, clauses, premises and trees: a checked bound is at least what any backbone reaches."""
    rng = np.random.default_rng(seed)
    kinds = [{"name": "n", "kind": "integer", "lo": -2.0, "hi": 3.0}] if seed % 2 else []
    features = [{"name": n, "kind": "continuous", "lo": -1.0, "hi": 1.0} for n in "uv"] + kinds
    domain = Domain.from_json({"features": features})
    o, k = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    names = [f"y{i}" for i in range(o)]
    net = SmileNet(domain, MLP(domain.size, (4,), o), o, outputs=names, auxiliaries="relu", hidden=3, skip=True)
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            values = torch.as_tensor(rng.normal(size=parameter.shape))
            parameter.copy_(values.abs() * 0.1 if name in ("second.const", "second.out") else values)
    net.project_()

    def random_row():
        terms = [(int(rng.integers(-2, 3)), int(rng.integers(k)), "out", str(rng.choice(names))) for _ in range(2)]
        return row([*terms, (1, 0, "out", names[0])], float(np.round(rng.normal(), 1)))

    when = (row([(1, 0, "in", "u"), (-1, k - 1, "in", "u")], "0.5"),) if k == 2 else ()
    rows = [random_row() for _ in range(4)]
    rows = [r if r.terms else row([(1, 0, "out", names[0])], 0) for r in rows]
    claim = Claim(k, when, (), either=(tuple(rows[:2]), tuple(rows[1:])))
    tree = Split(0, 0, 0.25, Split(k - 1, 1, -0.5, weighted(rng), weighted(rng)), weighted(rng))
    trees = Trees()
    trees.cases[digest(claim, domain)] = tree
    place = folder(tmp_path, net, [claim], trees)[1]
    fast, slow = check_folder(place), check_reference(place)
    assert fast.status == slow.status and fast.excess == slow.excess
    region = ground(claim, domain)
    x = rng.uniform(region.lo, region.hi, size=(4000, k, domain.size))
    x = np.where(domain.integral, np.rint(x), x)
    x = np.where(region.pinned, x[:, :1], x)
    x = x[[holds_exactly(claim, domain, point) for point in x]]
    assert len(x)
    for way in (-1e6, 1e6):
        with torch.no_grad():
            for parameter in net.backbone.parameters():
                parameter.copy_(torch.as_tensor(rng.normal(size=parameter.shape) * way))
        f = net.predict(x.reshape(-1, domain.size)).reshape(len(x), k, o)
        for number, alternatives in enumerate(claim.either):
            left = [
                sum(float(t.coef) * f[:, t.copy, names.index(t.name)] for t in r.terms) - float(r.rhs)
                for r in alternatives
            ]
            reached = np.min(left, axis=0).max()
            assert reached <= float(fast.claims[0].rows[number].excess) + 1e-9


def weighted(rng):
    def mean(n):
        parts = [Fraction(int(v)) for v in rng.multinomial(8, np.ones(n) / n)]
        return tuple(part / 8 for part in parts)

    return Case((mean(2), mean(3)))


def test_cases_keep_what_copies_have_in_common():
    """A split names a coordinate, which must not set it free between the copies."""
    domain = Domain.box([0.0, 0.0], [1.0, 1.0], ["u", "v"])
    claim = Claim(2, (row([(1, 0, "in", "u"), (-1, 1, "in", "u")], 0),), (), either=(clause("", "", bound=1),))
    tree = Split(0, 1, 0.5, Case(((HALF, HALF),)), Case(((1, 0),)))
    below, above = case_claims(claim, tree, domain)
    assert ground(below, domain).pinned.tolist() == ground(above, domain).pinned.tolist() == [False, True]
    assert ground(below, domain).hi[:, 1].tolist() == [0.5, 0.5] and ground(above, domain).lo[:, 1].tolist() == [
        0.5,
        0.5,
    ]
    assert [path for path, _ in leaves(tree)] == [((0, 1, 0.5, 1),), ((0, 1, 0.5, -1),)]
    assert above.then == (row([(1, 0, "out", "")], 1),)
    plain = replace(claim, then=claim.either[0], either=())
    assert case_claims(plain, Case(()), domain) == [plain]
    assert case_claim(claim, (), Case(((1, 0),)), domain).when == claim.when


def test_rows_are_raised_for_rounding_and_clauses_are_not(tmp_path):
    """What is rounding for one row of a clause may be more than that for another: only rows are raised."""
    net = ramps([1.0, 0.0], [-1.0, 0.0])
    claim = Claim(1, (), (row([(1, 0, "out", "y0")], 1),), either=(clause("y0", "y1", bound="1e-9"),), sentence="Both.")
    found, place = folder(tmp_path, net, [claim])
    assert found.accepted and 0 < found.bound < 1e-12  # y0 ≤ 1 is met with equality
    assert [[row.room > 0 for row in entry.rows] for entry in check_folder(place).claims] == [[True, False]]
    tight = certify(net, [one("y0", "y1")])
    assert not tight.accepted and 0 < tight.bound < 1e-12
    files = read_folder(place)

    def stated(claim):
        document = json.dumps({"claims": [claim.to_json()], "properties": []}).encode()
        write_folder(place, {**files, "properties.json": document}, overwrite=True)
        return getattr(examine(place), "accepted", False)

    assert stated(claim)
    for other in (
        (clause("y0", "y1"),),
        (clause("y1", "y0", bound="1e-9"),),
        (clause("y0", "y1", bound="1e-9"),) * 2,
        (clause("y0", "y1", bound="1e-9")[:1] + clause("y1"),),
    ):
        assert not stated(replace(claim, either=other))


@pytest.mark.parametrize("order", [1, -1])
def test_a_large_right_side_is_no_room_for_a_small_one(order):
    """y1 = 1 everywhere, y0 far above a million: "y0 ≤ 1e6 or y1 ≤ .1" fails, by .9, whichever row comes first."""
    net = ramps([0.0, 0.0], [0.0, 0.0])
    with torch.no_grad():
        net.lower.const.copy_(torch.tensor([2e6, 1.0]))
    rows = (*clause("y0", bound=10**6), *clause("y1", bound="0.1"))[::order]
    claim = Claim(1, (), (), either=(rows,))
    trees = Trees()
    weights = tuple(Fraction(int(r.rhs < 1)) for r in rows)
    trees.cases[digest(claim, net.domain)] = Case((weights,))
    found = certify(net, [claim], trees=trees)
    assert not found.accepted and found.bound >= 0.9


def test_through_the_claim_language():
    domain = Domain.box([0.0], [1.0], ["u"])
    made = Custom(["out.p <= 0 or out.q <= 0", "0 <= out.p <= 1 or out.q == 2"], copies=1)
    (claim,) = made.lower(domain, ("p", "q"))
    assert claim.then == () and len(claim.either) == 1 + 4
    assert Claim.from_json(claim.to_json()) == claim
    assert Custom.from_claim(claim).lower(domain, ("p", "q"))[0] == claim
    assert claim.either[0][1].terms == (Term(Fraction(1), 0, "out", "q"),)


@pytest.mark.parametrize(
    "either, said",
    [
        ((clause("y0"),), "at least two rows"),
        (((row([(1, 0, "out", "y0")], 0, "=="), row([(1, 0, "out", "y1")], 0)),), "all of them '<='"),
        ((tuple(row([(1, 3, "out", "y0")], 0) for _ in range(2)),), "copy number 4"),
        ((tuple(row([(1, 0, "in", "u")], 0) for _ in range(2)),), "no row names an output"),
    ],
)
def test_clauses_that_say_nothing_are_refused(either, said):
    with pytest.raises(Exception, match=said):
        Claim(1, (), (), either=either)


def test_a_problem_is_without_clauses():
    from smilenn.problem import build

    with pytest.raises(Exception, match="has alternatives"):
        build(one("y0", "y1"), ramps([1.0, 0.0], [1.0, 0.0]).snapshot())


def test_the_checkers_agree_on_small_folders(cased):
    places = {"check": "check", "check_reference": "reference.check", "reader": "reference.reader"}
    modules = {name: importlib.import_module(f"smilenn.certify.{place}") for name, place in places.items()}
    loaded = types.SimpleNamespace(**modules)
    given = [cased.Cased(seed).files for seed in range(300)]
    fast, slow = (cased.kill_small.answers(loaded, given, one) for one in (True, False))
    assert [(a[0], a[2]) for a in fast] == [(b[0], b[2]) for b in slow]
    found = [status for status, *_ in fast]
    assert {"certified", "refused", "unknown", "unreadable"} <= set(found)
    for seed, (status, *_) in enumerate(fast):
        if cased.Cased(seed).fault in (
            "weights",
            "single",
            "equal",
            "no clauses",
            "either",
            "plain",
            "hash",
            "case key",
        ):
            assert status == "refused"
