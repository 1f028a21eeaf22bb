"""The reference checker on the profiles fixed-order and dyadic: folders made by hand, bounds and margins by hand."""

import hashlib
import itertools
import json
import math
import struct
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

from smilenn.certify import certificate as c
from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import dyadic as exact_dyadic
from smilenn.certify.reference import model as exact_model
from smilenn.certify.reference import reader
from smilenn.certify.reference.check import check_folder
from smilenn.domain import Domain, Feature
from smilenn.model.bundle import load_net
from smilenn.properties.claim import Claim, row
from smilenn.properties.premise import holds_exactly

F = Fraction
LEAF = {"rule": "leaf", "bits": 0, "units": []}
SWEEP, ORDER = {"rule": "sweep"}, {"rule": "order"}


# ---- folders by hand ------------------------------------------------------------------------------------------------


def number(name="x", lo=0.0, hi=1.0, **more):
    return {"name": name, "kind": "continuous", "lo": lo, "hi": hi} | more


def described(features, profile, grid=0, **changes):
    """The object `net` of model.json: ReLU auxiliaries with two units and slopes, an embedding of one."""
    return {
        "domain": {"features": list(features)},
        "backbone": {},
        "embedding": 1,
        "outputs": [""],
        "auxiliaries": "relu",
        "hidden": 2,
        "boxes": "gap",
        "skip": True,
        "output_scale": [1.0],
        "profile": profile,
        "grid": grid,
    } | changes


def weights(m=1, **changes):
    """f = x_1 + … of the network above, changed tensor by tensor; `_` stands for the point in a name."""
    plain = {
        "lower.const": [0.0],
        "lower.slope": [[1.0] + [0.0] * (m - 1)],
        "lower.weight": [[0.0] * m] * 2,
        "lower.bias": [0.0, 0.0],
        "lower.out": [[0.0, 0.0]],
        "second.const": [0.0],
        "second.weight": [[0.0] * m] * 2,
        "second.bias": [0.0, 0.0],
        "second.out": [[0.0, 0.0]],
        "head_weight": [[1.0]],
        "head_bias": [0.0],
    }
    named = {name.replace("_", ".", 1) if not name.startswith("head") else name: v for name, v in changes.items()}
    return {name: v for name, v in (plain | named).items() if v is not None}


def packed(tensors):
    """(data of every tensor, safetensors file)."""
    header, raw = {}, {}
    at = 0
    for name, values in tensors.items():
        array = np.array(values, dtype="<f8")
        raw[name] = array.tobytes()
        span = [at, at + len(raw[name])]
        header[name] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": span}
        at = span[1]
    text = json.dumps(header).encode()
    return raw, struct.pack("<Q", len(text)) + text + b"".join(raw.values())


def made(net, tensors, claim, witness, *proofs, profile=None):
    """Files of a folder; a proof is a row's object, or one and its nodes."""
    raw, stored = packed(tensors)
    binary, rows = b"", []
    for proof in proofs:
        place, nodes = proof if isinstance(proof, tuple) else (proof, None)
        if nodes is not None:
            data = b"".join(c._node(node) for node in nodes)
            place = place | {"start": len(binary), "length": len(data)}
            binary += data
        rows.append(place)
    described_claim = claim.to_json()
    room = ["0"] * sum(2 if r["op"] == "==" else 1 for r in described_claim["then"])
    certificate = {
        "format": "smilenn-certificate",
        "version": 2,
        "profile": profile or net["profile"],
        "model": c.model_digest(net, raw),
        "proofs": "certificate.bin",
        "proofs_sha256": hashlib.sha256(binary).hexdigest(),
        "claims": [
            {
                "claim": described_claim,
                "claim_sha256": c.claim_digest(described_claim),
                "room": room,
                "witness": witness,
                "rows": rows,
            }
        ],
    }
    return {
        "model.json": json.dumps({"net": net}).encode(),
        "weights.safetensors": stored,
        "certificate.json": json.dumps(certificate).encode(),
        "certificate.bin": binary,
    }


@pytest.fixture
def checked(folders, tmp_path):
    """Write a folder and check it; the report."""
    count = itertools.count()

    def check(*parts, **more):
        folder = tmp_path / str(next(count))
        folders.put(folder, made(*parts, **more))
        return check_folder(folder)

    return check


def only(report):
    """The one row of a report that was not refused."""
    assert report.status in ("certified", "unknown"), report.reason
    ((found,),) = [claim.rows for claim in report.claims]
    return found


def strip(side, name="x", rhs=0):
    """side·(x_1 − x_2) ≤ rhs."""
    return row([(side, 0, "in", name), (-side, 1, "in", name)], rhs)


def difference(side=1, rhs=0, name=""):
    """side·(f(x_1) − f(x_2)) ≤ rhs."""
    return row([(side, 0, "out", name), (-side, 1, "out", name)], rhs)


def at_most(rhs, *inputs, sign=1):
    """sign·f + Σ inputs ≤ rhs, one copy."""
    return Claim(1, (), (row([(sign, 0, "out", ""), *((a, 0, "in", name) for a, name in inputs)], rhs),))


# ---- profile and grid -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "grid", "status"),
    [
        ("f64-aux", 0, "certified"),
        ("fixed-order", 0, "certified"),
        ("dyadic", 1, "certified"),
        ("dyadic", 52, "certified"),
        ("dyadic", 0, "refused"),
        ("dyadic", 53, "refused"),
        ("dyadic", -1, "refused"),
        ("dyadic", 3.0, "refused"),
        ("dyadic", True, "refused"),
        ("f64-aux", 3, "refused"),
        ("fixed-order", 1, "refused"),
        ("f64-aux", False, "refused"),
        ("f32", 0, "refused"),
        (None, 0, "refused"),
        (["dyadic"], 3, "refused"),
    ],
)
def test_profile_and_grid(checked, profile, grid, status):
    net = described([number()], profile, grid)
    report = checked(net, weights(), at_most(2), [[0.5]], SWEEP)
    assert report.status == status, report.reason
    assert report.profile == (profile if status == "certified" else "")


@pytest.mark.parametrize("missing", ["profile", "grid"])
def test_both_keys_are_needed(checked, missing):
    net = {key: value for key, value in described([number()], "f64-aux").items() if key != missing}
    report = checked(net, weights(), at_most(2), [[0.5]], SWEEP, profile="f64-aux")
    assert report.status == "refused" and "exactly the keys" in report.reason


def test_the_certificate_names_the_networks_profile(checked):
    names = ("f64-aux", "fixed-order", "dyadic")
    for own, other in itertools.product(names, names):
        net = described([number()], own, 3 if own == "dyadic" else 0)
        report = checked(net, weights(), at_most(2), [[0.5]], SWEEP, profile=other)
        assert (report.status == "certified") == (own == other), report
        assert own == other or "another numeric profile" in report.reason


def test_words_name_the_profile(folders, tmp_path, capsys):
    for profile, grid, words in (
        ("f64-aux", 0, "sums in any order"),
        ("fixed-order", 0, "in one order"),
        ("dyadic", 3, "without any rounding"),
    ):
        net = described([number()], profile, grid)
        folders.put(tmp_path / profile, made(net, weights(), at_most(2), [[0.5]], SWEEP))
        assert check_reference.main([str(tmp_path / profile)]) == 0
        text = capsys.readouterr().out
        assert f"Numeric profile: {profile}, " in text and words in text


def test_a_subnormal_output_scale_is_refused(checked):
    """Flushed to zero, it would take every output with it."""
    for scale, status in ((2.0**-1022, "certified"), (2.0**-1023, "refused")):
        net = described([number()], "f64-aux", output_scale=[scale])
        report = checked(net, weights(head_weight=[[0.0]]), at_most(1), [[0.5]], SWEEP)
        assert report.status == status, report.reason


# ---- the order rule -------------------------------------------------------------------------------------------------

PLANE = [number("x"), number("y", mult=0.3, shift=0.1)]
# lower rises with x whatever y does: unit 0 rises and has a positive weight, unit 1 falls and has a negative one
RISING = {
    "m": 2,
    "lower_weight": [[2.0, -3.0], [-0.7, 5.0]],
    "lower_out": [[1.5, -0.1]],
    "lower_slope": [[0.3, -4.0]],
    "lower_const": [0.2],
    "lower_bias": [0.1, -0.3],
}
UP = Claim(2, (strip(1),), (difference(),))  # x_1 ≤ x_2 ⇒ f(x_1) ≤ f(x_2)
TUPLE = [[0.25, 0.5], [0.5, 0.5]]


def order(**changes):
    return described(PLANE, "fixed-order", **changes)


def test_right_signs_give_bound_and_margin_zero(checked):
    found = only(checked(order(), weights(**RISING), UP, TUPLE, ORDER))
    assert (found.rule, found.bound, found.margin, found.rhs, found.leaves) == ("order", 0, 0, 0, 0) and found.holds


def test_other_rules_keep_the_margin_of_any_order(checked):
    slope = ({"rule": "slope", "bits": 0}, [c.Leaf()])
    first = only(checked(order(), weights(**RISING), UP, TUPLE, slope))
    second = only(checked(described(PLANE, "f64-aux"), weights(**RISING), UP, TUPLE, slope))
    assert first.bound == second.bound == 0 and first.margin == second.margin > 0 and not first.holds


GOOD = {
    "signs of pinned inputs": dict(lower_weight=[[2.0, 3.0], [-0.7, -5.0]], lower_slope=[[0.3, 4.0]]),
    "a unit that nothing uses": dict(lower_weight=[[2.0, 0.0], [0.7, 0.0]], lower_out=[[1.5, 0.0]]),
    "a unit that does not move": dict(lower_weight=[[2.0, 0.0], [0.0, 9.0]], lower_out=[[1.5, -7.0]]),
    "a unit that does not move, other sign": dict(lower_weight=[[2.0, 0.0], [-0.0, 9.0]], lower_out=[[1.5, 7.0]]),
    "the hidden layer of the gap": dict(second_weight=[[-1.0, 2.0], [3.0, -4.0]], second_bias=[1.0, 2.0]),
    "a gap of minus zero": dict(second_const=[-0.0], second_out=[[-0.0, -0.0]]),
    "a head of zero": dict(head_weight=[[0.0]], lower_slope=[[-0.3, 0.0]]),
    "subnormal weights": dict(lower_slope=[[5e-324, 0.0]], head_weight=[[5e-324]]),
}


@pytest.mark.parametrize("name", GOOD)
def test_orders_that_signs_show(checked, name):
    found = only(checked(order(), weights(**RISING | GOOD[name]), UP, TUPLE, ORDER))
    assert found.bound == found.margin == 0 and found.holds


BAD = {
    "a unit": dict(lower_weight=[[2.0, -3.0], [0.7, 5.0]]),
    "the other unit": dict(lower_weight=[[-2.0, -3.0], [-0.7, 5.0]]),
    "a unit's weight": dict(lower_out=[[1.5, 0.1]]),
    "the other unit's weight": dict(lower_out=[[-1.5, -0.1]]),
    "a slope": dict(lower_slope=[[-0.3, -4.0]]),
    "a slope by the least float": dict(lower_slope=[[-5e-324, -4.0]]),
    "a unit by the least float": dict(lower_weight=[[-5e-324, -3.0], [-0.7, 5.0]]),
    "the head": dict(head_weight=[[-1.0]]),
    "the gap's constant": dict(second_const=[5e-324]),
    "the gap's weights": dict(second_out=[[0.0, 1.0]]),
}


@pytest.mark.parametrize("name", BAD)
def test_one_wrong_sign_is_refused(checked, name):
    assert checked(order(), weights(**RISING | BAD[name]), UP, TUPLE, ORDER).status == "refused"


def test_directions_of_claim_and_head(checked):
    """All eight combinations of the input's order, the row's sign and the head's sign; four of them hold."""
    for down, side, head in itertools.product((1, -1), (1, -1), (1.0, -1.0)):
        witness = TUPLE if down == 1 else TUPLE[::-1]
        claim = Claim(2, (strip(down),), (difference(side),))
        report = checked(order(), weights(**RISING, head_weight=[[head]]), claim, witness, ORDER)
        assert report.status == ("certified" if down * side * head > 0 else "refused")


def test_each_output_by_itself(checked):
    """One rises, one falls, one may do anything and is not named; coefficients of any size."""
    net = order(
        embedding=2, outputs=["p", "q", "r"], output_scale=[1.0, 0.5, 4.0], auxiliaries="affine", skip=False, hidden=0
    )
    tensors = {
        "lower.const": [0.1, 0.2],
        "lower.slope": [[1.0, 2.0], [-1.0, 3.0]],
        "second.const": [0.0, 0.0],
        "second.rise": [[0.0, 0.0]] * 2,
        "second.fall": [[0.0, 0.0]] * 2,
        "head_weight": [[1.0, -1.0], [-2.0, 0.0], [1.0, 1.0]],
        "head_bias": [0.0, 1.0, 2.0],
    }

    def claim(*sides):
        parts = [
            (s * v, i, "out", name)
            for s, name in zip(sides, "pqr", strict=False)
            for i, v in ((0, F(1, 3)), (1, F(-1, 3)))
        ]
        return Claim(2, (strip(1),), (row(parts, 0),))

    assert checked(net, tensors, claim(5, -7), TUPLE, ORDER).status == "certified"
    assert checked(net, tensors, claim(5, -7, 0), TUPLE, ORDER).status == "certified"
    for wrong in ((5, 7), (-5, -7), (5, -7, 1), (5, -7, -1)):
        assert checked(net, tensors, claim(*wrong), TUPLE, ORDER).status == "refused"
    moved = tensors | {"second.rise": [[0.0, 0.0], [0.0, 5e-324]]}
    assert checked(net, moved, claim(5, -7), TUPLE, ORDER).status == "refused"


def test_constant_networks_are_ordered(checked):
    net = order(auxiliaries="constant", skip=False, hidden=0)
    tensors = {"lower.const": [0.1], "second.const": [0.0], "head_weight": [[-3.0]], "head_bias": [1.0]}
    free = Claim(2, (strip(1),), (difference(),), "equal")
    assert checked(net, tensors, free, TUPLE, ORDER).status == "certified"


def test_boxes_of_the_paper_are_refused(checked):
    net = order(boxes="paper")
    assert checked(net, weights(**RISING, second_slope=[[0.0, 0.0]]), UP, TUPLE, ORDER).status == "refused"


def test_shapes_of_claims(checked):
    tensors = weights(**RISING)
    extra = row([(1, 0, "in", "x"), (1, 1, "in", "x")], 2)
    apart = (row([(1, 0, "in", "x")], F(3, 8)), row([(-1, 1, "in", "x")], F(-3, 8)))
    fine = [
        Claim(2, (strip(1), extra), (difference(),)),
        Claim(2, (strip(1),), (difference(rhs=F(1, 9)),)),
        Claim(2, (strip(1, rhs=F(-1, 8)),), (difference(),)),
        Claim(2, apart, (difference(),)),  # ordered by its bounds alone
        Claim(2, (strip(1),), (difference(),), "free", ("y",)),
    ]
    for claim in fine:
        found = only(checked(order(), tensors, claim, TUPLE, ORDER))
        assert found.bound == found.margin == 0 and found.holds
    bad = [
        Claim(2, (strip(1),), (difference(rhs=-1),)),
        Claim(2, (strip(1, rhs=1),), (difference(),)),
        Claim(2, (strip(1),), (difference(),), "free"),
        Claim(2, (strip(1),), (difference(),), "equal", (), ("y",)),
        Claim(2, (strip(1),), (row([(1, 0, "out", ""), (-2, 1, "out", "")], 0),)),
        Claim(2, (strip(1),), (row([(1, 0, "out", "")], 9),)),
        Claim(2, (strip(1),), (row([(1, 0, "out", ""), (-1, 1, "out", ""), (1, 0, "in", "x")], 0),)),
        Claim(
            2,
            (strip(1),),
            (row([(1, 0, "out", ""), (-1, 1, "out", ""), (1, 0, "in", "x"), (-1, 1, "in", "x")], 0),),
        ),
        Claim(2, (strip(1),), (row([(1, 0, "out", ""), (-1, 1, "out", ""), (1, 1, "in", "y")], 0),)),
        Claim(1, (), (row([(1, 0, "out", "")], 9),)),
        Claim(3, (strip(1),), (difference(),)),
    ]
    for i, claim in enumerate(bad):
        witness = (TUPLE * 2)[: claim.copies]
        assert checked(order(), tensors, claim, witness, ORDER).status == "refused", i


def test_a_category_that_moves_is_refused(checked):
    group = {"name": "r", "kind": "category", "lo": 0.0, "hi": 1.0, "categories": ["a", "b"]}
    net = described([number(), group], "fixed-order")
    tensors, x = weights(3), [[0.25, 1.0, 0.0], [0.5, 1.0, 0.0]]
    assert checked(net, tensors, UP, x, ORDER).status == "certified"
    for claim in (
        Claim(2, (strip(1),), (difference(),), "equal", (), ("r",)),
        Claim(2, (strip(1), strip(1, "r=a")), (difference(),)),
        Claim(2, (strip(1), strip(1, "r=a"), strip(-1, "r=b")), (difference(),)),  # ordered, and yet no number
        Claim(2, (strip(1),), (difference(),), "free", ("r=a",)),  # one member pinned, the other not
    ):
        assert checked(net, tensors, claim, x, ORDER).status == "refused"


def test_only_the_profile_of_one_order_has_the_rule(checked):
    for profile, grid in (("f64-aux", 0), ("dyadic", 3)):
        net = described([number()], profile, grid)
        report = checked(net, weights(), UP, [[0.25], [0.5]], ORDER)
        assert report.status == "refused" and "order rule" in report.reason


def test_the_rule_has_no_further_keys(checked):
    for more in ({"bits": 0}, {"start": 0, "length": 0}, {"of": 0}):
        assert checked(order(), weights(**RISING), UP, TUPLE, ORDER | more).status == "refused"


def test_a_mirror_has_the_margin_of_its_row(checked):
    """A feature with one value: both copies have it without being pinned, and the premise is symmetric."""
    net = described([number(lo=0.5, hi=0.5)], "fixed-order")
    claim = Claim(2, (), (difference(), difference(-1)), "free")
    rows = checked(net, weights(), claim, [[0.5], [0.5]], ORDER, {"rule": "mirror", "of": 0}).claims[0].rows
    assert [(r.rule, r.bound, r.margin) for r in rows] == [("order", 0, 0), ("mirror", 0, 0)]
    sweep, mirror = checked(net, weights(), claim, [[0.5], [0.5]], SWEEP, {"rule": "mirror", "of": 0}).claims[0].rows
    assert sweep.bound == mirror.bound == 0 and sweep.margin == mirror.margin > 0


def test_overflow_is_refused_here_too(checked):
    for changes in (dict(lower_slope=[[1e305, 0.0]]), dict(second_weight=[[1e305, 0.0]] * 2)):
        report = checked(order(), weights(**RISING | changes), UP, TUPLE, ORDER)
        assert report.status == "refused" and "overflow" in report.reason


class Noise(nn.Module):
    """A backbone that returns something else at every call, NaN and infinities too."""

    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, u):
        z = torch.randn(len(u), self.size, dtype=torch.float64) * 1e3
        return torch.where(torch.rand_like(z) < 0.1, torch.tensor([math.nan, math.inf])[torch.randint(2, z.shape)], z)


def test_floats_that_the_network_returns_are_ordered(folders, tmp_path):
    """Neighbouring floats, batches of one and of many: not one output in the wrong order, where any order of sums
    would do so."""
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    domain = Domain((Feature("x", lo=-1.0, hi=2.0, shift=0.3, mult=0.7), Feature("y", lo=0.0, hi=1.0)))
    net = folders.random_net(
        rng, domain, boxes="gap", auxiliaries="relu", outputs=1, hidden=9, embedding=3, zero_gap=True
    )
    with torch.no_grad():
        side = torch.sign(net.lower.weight[:, 0])
        net.lower.out.copy_(net.lower.out.abs() * side)
        net.lower.out *= torch.sign(net.head_weight[0])[:, None]
        if net.lower.skip:
            net.lower.slope[:, 0] = net.lower.slope[:, 0].abs() * torch.sign(net.head_weight[0])
    net.set_profile("fixed-order")
    claim = Claim(2, (strip(1),), (difference(name=net.outputs[0]),))
    files = folders.files_of(net, [c.ClaimProof(claim.to_json(), [[0.0, 0.5]] * 2, (c.SweepProof(),))])
    content = json.loads(files["certificate.json"]) | {"profile": "fixed-order"}
    content["claims"][0]["rows"] = [ORDER]
    folders.put(tmp_path / "m", files | {"certificate.json": json.dumps(content).encode()})
    report = check_folder(tmp_path / "m")
    assert report.status == "certified" and only(report).margin == 0, report.reason
    loaded = load_net(tmp_path / "m")[0]
    loaded.backbone = Noise(3)
    x = rng.uniform(domain.lo, domain.hi, size=(4000, 2))
    near = x.copy()
    near[:, 0] = np.where(rng.random(4000) < 0.7, np.nextafter(x[:, 0], 3.0), rng.uniform(x[:, 0], 2.0))
    first, second = loaded.predict(x), loaded.predict(near)
    assert (first <= second).all() and (first < second).any()
    assert (loaded.predict(x[:50], batch=1) == first[:50]).all()


# ---- dyadic: what must not round ------------------------------------------------------------------------------------


def dyadic(grid=3, *features, **changes):
    return described(features or [number()], "dyadic", grid, **changes)


WIDE = at_most(10**300)


def status(checked, net, tensors, x=0.0):
    """The verdict on a claim that any network fulfils, by a leaf without slopes."""
    m = len(net["domain"]["features"])
    report = checked(net, tensors, WIDE, [[x] * m], (LEAF, [c.Leaf()]))
    assert report.status != "unknown" and bool(report.reason) == (report.status == "refused")
    return report.status


ONE = dict(lower_slope=[[0.0]])
SUMS = [
    # hidden units: 2^52·Y, p = 1: 2^53 exactly; half a unit more is too much
    (1, dict(lower_weight=[[2.0**52], [0.0]]), "certified"),
    (1, dict(lower_weight=[[2.0**52], [0.0]], lower_bias=[0.5, 0.0]), "refused"),
    (1, dict(lower_weight=[[-(2.0**52)], [0.0]], lower_bias=[-0.5, 0.0]), "refused"),
    (1, dict(lower_weight=[[2.0**52], [0.0]], lower_bias=[0.0, 2.0**53]), "certified"),
    (1, dict(lower_weight=[[0.0], [0.0]], lower_bias=[0.0, 2.0**53 + 2]), "refused"),
    (1, dict(lower_weight=[[2.0**51], [0.0]], lower_bias=[0.25, 0.0]), "refused"),  # p = 2 now
    (1, dict(lower_weight=[[2.0**51 - 0.5], [0.0]]), "certified"),  # a finer weight: p = 2, below 2^53
    (1, dict(lower_weight=[[2.0**51 + 0.5], [0.0]]), "refused"),
    (2, dict(lower_weight=[[2.0**51], [0.0]]), "certified"),
    (2, dict(lower_weight=[[2.0**52], [0.0]]), "refused"),  # the grid counts
    # lower: a unit of size 2^51 that is a multiple of 1/2
    (1, dict(lower_weight=[[2.0**51], [0.0]], lower_out=[[2.0, 0.0]]), "certified"),
    (1, dict(lower_weight=[[2.0**51], [0.0]], lower_out=[[-2.0, 0.0]], lower_const=[0.5]), "refused"),
    (1, dict(lower_weight=[[2.0**51], [2.0**51]], lower_out=[[1.0, -1.0]]), "certified"),  # sizes add up
    (1, dict(lower_weight=[[2.0**51], [2.0**51]], lower_out=[[2.0, -1.0]]), "refused"),
    (1, dict(lower_weight=[[2.0**51], [0.0]], lower_out=[[0.5, 0.0]]), "certified"),
    (1, dict(lower_weight=[[2.0**51], [0.0]], lower_out=[[1.5, 0.0]]), "refused"),
    (1, dict(lower_slope=[[2.0**52]]), "certified"),
    (1, dict(lower_slope=[[2.0**52]], lower_const=[-0.5]), "refused"),
    (1, dict(lower_slope=[[1.0]], lower_bias=[2.0**52, 0.0], lower_out=[[1.0, 0.0]]), "refused"),  # 2^52 + 1, p = 1
    (1, dict(lower_slope=[[1.0]], lower_bias=[2.0**52 - 1, 0.0], lower_out=[[1.0, 0.0]]), "certified"),
    # the head: lower is of size 1 and a multiple of 1/2
    (1, dict(lower_slope=[[1.0]], head_weight=[[2.0**52]]), "certified"),
    (1, dict(lower_slope=[[1.0]], head_weight=[[2.0**52]], head_bias=[0.5]), "refused"),
    # 0.1 is a multiple of 2^-55 and 0.1·2^56 below 2^53: times 0, 1/2 and 1 it is a float, plus 1/2 it need not be
    (1, dict(lower_weight=[[0.1], [0.0]]), "certified"),
    (1, dict(lower_weight=[[0.1], [0.0]], lower_bias=[0.5, 0.0]), "refused"),
    (1, dict(lower_slope=[[0.1]]), "certified"),
    (1, dict(lower_slope=[[0.1]], lower_const=[0.5]), "refused"),
    (1, dict(lower_slope=[[1.0]], head_weight=[[0.1]]), "certified"),
    (1, dict(lower_slope=[[1.0]], head_weight=[[0.1]], head_bias=[0.5]), "refused"),
    (2, dict(lower_slope=[[0.1]]), "refused"),
    (1, dict(head_bias=[0.1]), "certified"),
    (1, dict(lower_const=[2.0**53]), "certified"),
    (1, dict(lower_const=[2.0**53 + 2]), "refused"),
    # p up to 500
    (1, dict(lower_weight=[[2.0**-499], [0.0]], lower_out=[[1.0, 0.0]]), "certified"),
    (1, dict(lower_weight=[[2.0**-500], [0.0]], lower_out=[[1.0, 0.0]]), "refused"),
    (1, dict(lower_weight=[[2.0**-500], [0.0]]), "refused"),  # also where nothing uses the unit
    (1, dict(lower_weight=[[2.0**-300], [0.0]], lower_out=[[2.0**-199, 0.0]]), "certified"),
    (1, dict(lower_weight=[[2.0**-300], [0.0]], lower_out=[[2.0**-200, 0.0]]), "refused"),
    (1, dict(lower_slope=[[2.0**-300]], head_weight=[[2.0**-199]]), "certified"),
    (1, dict(lower_slope=[[2.0**-300]], head_weight=[[2.0**-200]]), "refused"),
    (1, dict(head_bias=[2.0**-500]), "certified"),
    (1, dict(head_bias=[2.0**-501]), "refused"),
    (1, dict(lower_bias=[5e-324, 0.0]), "refused"),
]


@pytest.mark.parametrize(("grid", "changes", "expected"), SUMS)
def test_sums_that_might_round_are_refused(checked, grid, changes, expected):
    assert status(checked, dyadic(grid), weights(**ONE | changes)) == expected


def test_a_dyadic_network_has_a_moderate_scale(checked):
    for power, expected in ((400, "certified"), (401, "refused"), (-400, "certified"), (-401, "refused")):
        net = dyadic(1, output_scale=[2.0**power])
        report = checked(net, weights(**ONE), WIDE, [[0.0]], (LEAF, [c.Leaf()]))
        assert report.status == expected, (power, report.reason)
        assert expected == "certified" or "needs output scales from 2^-400 to 2^400" in report.reason


def test_ends_are_rounded_halves_to_even(checked):
    """On the grid of halves: 0.25 → 0, 0.3 → 1/2, 0.75 → 1; the size of û is that of the rounded end."""
    big = {0.25: 2.0**900, 0.3: 2.0**53, 0.75: 2.0**52, 1.2: 2.0**52, 1.25: 2.0**52}
    for hi, most in big.items():
        for w, expected in ((most, "certified"), (2 * most, "refused" if hi > 0.25 else "certified")):
            net = dyadic(1, number(hi=hi))
            assert status(checked, net, weights(**ONE, lower_weight=[[w], [0.0]])) == expected, (hi, w)
            net = dyadic(1, number(lo=-hi, hi=0.0))
            assert status(checked, net, weights(**ONE, lower_weight=[[w], [0.0]])) == expected, (hi, w)


def test_inputs_may_have_the_size_two_to_the_500(checked):
    for hi, expected in ((2.0**500, "certified"), (math.nextafter(2.0**500, math.inf), "refused")):
        assert status(checked, dyadic(3, number(hi=hi)), weights(**ONE)) == expected


def test_output_scales(checked):
    """log2 from −400 to 400; the head's numbers are in output units."""
    for power, expected in ((400, "certified"), (401, "refused"), (-400, "certified"), (-401, "refused")):
        net = dyadic(output_scale=[2.0**power])
        assert status(checked, net, weights(**ONE, head_weight=[[0.0]])) == expected


def test_the_scalers_error_is_at_most_half_a_step(checked):
    """D = 2^20, mult = 3/2: e_u is just above 3·2^-33, between 2^-32 and 2^-31."""
    plain = number(hi=2.0**20, mult=1.5)
    u = 2.0**-53
    error = F((1 + F(u)) ** 2 - 1) * 2**20 * F(3, 2) + 2 * F(2) ** -126 * (1 + F(3, 2) + 2**20)
    assert F(2) ** -32 < error < F(2) ** -31
    assert status(checked, dyadic(30, plain), weights()) == "certified"
    assert status(checked, dyadic(31, plain), weights(**ONE)) == "refused"
    assert status(checked, dyadic(31, number(hi=2.0**20)), weights(**ONE)) == "certified"  # unscaled: no error
    # shift = 1: D = 2^20 − 1 errs by less than 2^-32, D = 2^20 + 1 by more
    assert status(checked, dyadic(31, number(hi=2.0**20, shift=1.0)), weights(**ONE)) == "certified"
    assert status(checked, dyadic(31, number(hi=2.0**20 + 2, shift=1.0)), weights(**ONE)) == "refused"


def test_boxes_have_zero_width(checked):
    assert status(checked, dyadic(), weights()) == "certified"
    assert status(checked, dyadic(), weights(second_weight=[[0.1], [-7.0]], second_bias=[0.3, 0.1])) == "certified"
    assert status(checked, dyadic(), weights(second_const=[1.0])) == "refused"
    assert status(checked, dyadic(), weights(second_out=[[0.0, 1.0]])) == "refused"
    assert checked(dyadic(boxes="paper"), weights(second_slope=[[0.0]]), WIDE, [[0.0]], SWEEP).status == "refused"


def test_overflow_is_a_condition_of_every_profile(checked):
    assert status(checked, dyadic(), weights(second_weight=[[2.0**999], [0.0]])) == "certified"
    assert status(checked, dyadic(), weights(second_weight=[[2.0**1000], [0.0]])) == "refused"


# ---- dyadic: the widened premise ------------------------------------------------------------------------------------


def test_bounds_are_widened_by_one_step(checked):
    """f = 1/4 + x + 2 relu(x − 1/2) on [0, 1], g = 3: at 9/8 it is 21/8; by sweep and by the leaf rule."""
    tensors = weights(lower_const=[0.25], lower_weight=[[1.0], [0.0]], lower_bias=[-0.5, 0.0], lower_out=[[2.0, 0.0]])
    for proof in (SWEEP, ({**LEAF, "units": [0]}, [c.Leaf((), (1,), ())])):
        found = only(checked(dyadic(), tensors, at_most(F(21, 8)), [[1.0]], proof))
        assert found.holds and found.margin == 0 and found.bound == F(21, 8)
    found = only(checked(dyadic(), tensors, at_most(5, sign=-1), [[1.0]], SWEEP))
    assert found.bound == -F(1, 4) + F(1, 8)  # at −1/8
    bounded = Claim(1, (row([(2, 0, "in", "x")], 1),), at_most(5).then)
    assert only(checked(dyadic(), tensors, bounded, [[0.5]], SWEEP)).bound == F(1, 4) + F(5, 8) + 2 * F(1, 8)


def test_input_terms_cost_their_share_of_a_step(checked):
    """f − x/3 ≤ 3 with f = x: 2/3·9/8 = 3/4, and a margin of 1/3·1/8; two copies pay twice, pinned or not."""
    found = only(checked(dyadic(), weights(), at_most(3, (F(-1, 3), "x")), [[1.0]], SWEEP))
    assert (found.bound, found.margin) == (F(3, 4), F(1, 24))
    lipschitz = row([(1, 0, "out", ""), (-1, 1, "out", ""), (-1, 0, "in", "x"), (1, 1, "in", "x")], 0)
    for claim in (Claim(2, (strip(-1),), (lipschitz,)), Claim(2, (), (lipschitz,))):
        found = only(checked(dyadic(), weights(), claim, [[0.5], [0.5]], ({"rule": "slope", "bits": 0}, [c.Leaf()])))
        assert (found.bound, found.margin, found.holds) == (0, F(1, 4), False)


def test_steps_in_the_units_of_the_data(checked):
    """mult = 0.3 lies above 2^-2: ω = 4·2^-g, also if the shift is zero; mult = 4: ω = 2^-g/4."""
    for mult, shift, omega in ((0.3, 0.0, F(1, 2)), (0.3, 5.0, F(1, 2)), (4.0, 0.0, F(1, 32)), (1.0, 2.0, F(1, 8))):
        net = dyadic(3, number(lo=1.0, hi=3.0, mult=mult, shift=shift))
        m, s = F(mult), F(shift)
        found = only(checked(net, weights(), at_most(100, (1, "x")), [[2.0]], SWEEP))
        assert found.bound == m * (3 + omega - s) + 3 + omega and found.margin == omega


def test_scaled_whole_numbers_are_continuous(checked):
    """u − 2 relu(u − c) with its peak between two whole numbers: seen if the number has a scale, not without one."""

    def net(**scale):
        return dyadic(4, {"name": "x", "kind": "integer", "lo": 0.0, "hi": 3.0, **scale})

    def tensors(peak):
        return weights(lower_weight=[[1.0], [0.0]], lower_bias=[-peak, 0.0], lower_out=[[-2.0, 0.0]])

    tree = [c.Input(0, 0, 1.5), c.Leaf((), (0,), ()), c.Leaf((), (-2,), ())]
    leaves = ({**LEAF, "units": [0]}, tree)
    for proof in (SWEEP, leaves):
        plain = only(checked(net(), tensors(1.5), at_most(5), [[1.0]], proof))
        assert (plain.bound, plain.margin) == (1, 0)  # at 1 and at 2
        half = only(checked(net(mult=0.5), tensors(0.75), at_most(5), [[1.0]], proof))
        assert (half.bound, half.margin) == (F(3, 4), 0)  # at 3/2
        moved = only(checked(net(shift=1.0), tensors(0.5), at_most(5), [[1.0]], proof))
        assert (moved.bound, moved.margin) == (F(1, 2), 0)
    # bounds of whole numbers are rounded before they are widened: x ≤ 2.9 is x ≤ 2, then 2 + 1/8
    claim = Claim(1, (row([(1, 0, "in", "x")], F(29, 10)),), at_most(5).then)
    assert only(checked(net(mult=0.5), weights(), claim, [[1.0]], SWEEP)).bound == F(1, 2) * (2 + F(1, 8))
    assert only(checked(net(), weights(), claim, [[1.0]], SWEEP)).bound == 2
    # an input term on a whole number that is not moved costs nothing
    assert only(checked(net(), weights(), at_most(9, (1, "x")), [[1.0]], SWEEP)).margin == 0
    assert only(checked(net(mult=0.5), weights(), at_most(9, (1, "x")), [[1.0]], SWEEP)).margin == F(1, 8)


@pytest.mark.parametrize(
    ("grid", "low", "high", "up", "down"),
    [
        (3, None, F(1, 4), F(1, 2), F(5, 4)),  # δ_hi + 2ω; down by the boxes: 1 + 2ω
        (3, F(1, 4), None, F(5, 4), F(0)),  # δ_lo − 2ω = 0
        (4, F(1, 4), None, F(9, 8), F(-1, 8)),  # δ_lo − 2ω = 1/8
        (3, F(1, 16), None, F(5, 4), F(0)),  # not below zero
        (3, F(-1, 4), F(1, 8), F(3, 8), F(1, 2)),
        (3, None, F(-1, 16), F(0), F(5, 4)),
        (3, F(0), None, F(5, 4), F(0)),
        (3, None, F(0), F(0), F(5, 4)),
        (3, F(-3), F(3), F(5, 4), F(5, 4)),
    ],
)
def test_strips_are_widened_and_keep_their_sign(checked, grid, low, high, up, down):
    """f = x on [0, 1]: the largest f(x_1) − f(x_2) is δ_hi, that of f(x_2) − f(x_1) is −δ_lo."""
    when = [] if high is None else [strip(1, rhs=high)]
    when += [] if low is None else [strip(-1, rhs=-low)]
    middle = float((low or F(0)) if high is None else high if low is None else (low + high) / 2)
    x = [[0.5 + middle / 2], [0.5 - middle / 2]]
    for side, expected in ((1, up), (-1, down)):
        for proof in (SWEEP, (LEAF, [c.Leaf()])):
            claim = Claim(2, tuple(when), (difference(side, 9),), "free")
            found = only(checked(dyadic(grid), weights(), claim, x, proof))
            assert (found.bound, found.margin) == (expected, 0)


def test_order_by_bounds_alone_is_not_kept(checked):
    """x_1 ≤ 1/4 ≤ x_2 gives no strip row: after widening the two may cross by 2ω."""
    when = (row([(1, 0, "in", "x")], F(1, 4)), row([(-1, 1, "in", "x")], F(-1, 4)))
    claim = Claim(2, when, (difference(rhs=1),))
    assert only(checked(dyadic(), weights(), claim, [[0.25], [0.25]], SWEEP)).bound == F(1, 4)
    slope = ({"rule": "slope", "bits": 0}, [c.Leaf()])
    assert checked(dyadic(), weights(), claim, [[0.25], [0.25]], slope).status == "refused"


def test_pins_stay_and_their_bounds_widen(checked):
    """Pinned by name, by `equal`, or by a strip of whole numbers that leaves zero: f(x_1) − f(x_2) = 0."""
    scaled = {"name": "x", "kind": "integer", "lo": 0.0, "hi": 3.0, "mult": 0.5}
    two = (difference(),)
    for features, claim, x in (
        ([number()], Claim(2, (), two), 0.5),
        ([number()], Claim(2, (), two, "free", ("x",)), 0.5),
        ([number()], Claim(2, (strip(1), strip(-1)), two), 0.5),
        ([scaled], Claim(2, (strip(1, rhs=F(1, 2)), strip(-1, rhs=F(3, 4))), two), 2.0),
    ):
        found = only(checked(dyadic(3, *features), weights(), claim, [[x], [x]], SWEEP))
        assert found.bound == found.margin == 0 and found.holds
    both = Claim(2, (row([(1, 1, "in", "x")], F(1, 2)),), (row([(1, 0, "out", "")], 1),), "free", ("x",))
    assert only(checked(dyadic(), weights(), both, [[0.5], [0.5]], SWEEP)).bound == F(1, 2) + F(1, 8)


def test_tight_claims_hold_without_any_margin(checked):
    """x_1 ≤ x_2 ⇒ f(x_1) ≤ f(x_2), rhs = 0, by the slope rule; its tree sees the widened box."""
    slope = ({"rule": "slope", "bits": 0}, [c.Leaf()])
    found = only(checked(dyadic(), weights(), UP, [[0.25], [0.5]], slope))
    assert (found.bound, found.margin, found.holds) == (0, 0, True)
    # the slope turns at 17/16: outside [0, 1], inside [−1/8, 9/8], where f falls; on a finer grid it does not matter
    turning = weights(lower_weight=[[1.0], [0.0]], lower_bias=[-17 / 16, 0.0], lower_out=[[-2.0, 0.0]])
    assert checked(dyadic(), turning, UP, [[0.25], [0.5]], slope).status == "refused"
    assert checked(dyadic(4), turning, UP, [[0.25], [0.5]], slope).status == "certified"


def test_extra_rows_hold_up_to_a_step(checked):
    """f = x + y on [0, 1]², x + 2 y ≤ 1: ν = 1 leaves −y and gives 1 + 3ω + ω; equalities of any sign pay |ν|."""
    net, tensors = dyadic(3, number("x"), number("y")), weights(2, lower_slope=[[1.0, 1.0]])

    def bound(op, sign, nu, net=net):
        when = (row([(1, 0, "in", "x"), (2, 0, "in", "y")], 1, op),)
        claim = Claim(1, when, (row([(sign, 0, "out", "")], 9),))
        return only(checked(net, tensors, claim, [[1.0, 0.0]], (LEAF, [c.Leaf((), (), (nu,))]))).bound

    omega = F(1, 8)
    assert bound("<=", 1, 0) == 2 + 2 * omega
    assert bound("<=", 1, 1) == 1 + 3 * omega + omega
    assert bound("==", 1, 1) == 1 + 3 * omega + omega
    assert bound("==", -1, -1) == -1 + 3 * omega + (1 + omega)  # −x − y + (x + 2y) = y
    # only what is moved is paid for: y whole and unscaled
    mixed = dyadic(3, number("x"), {"name": "y", "kind": "integer", "lo": 0.0, "hi": 1.0})
    assert bound("<=", 1, 1, mixed) == 1 + omega


def test_extra_rows_over_three_copies(checked):
    """2 f(b) − f(a) − f(c) with b half-way and f = x: ν = −1 cancels everything but (1 + 2 + 1)ω."""
    when = (row([(1, 0, "in", "x"), (-2, 1, "in", "x"), (1, 2, "in", "x")], 0, "=="),)
    claim = Claim(3, when, (row([(-1, 0, "out", ""), (2, 1, "out", ""), (-1, 2, "out", "")], 1),))
    found = only(checked(dyadic(), weights(), claim, [[0.0], [0.5], [1.0]], (LEAF, [c.Leaf((), (), (-1,))])))
    assert (found.bound, found.margin, found.holds) == (F(1, 2), 0, True)


def test_mirrors_on_a_widened_premise(checked):
    both = (strip(1, rhs=F(1, 4)), strip(-1, rhs=F(1, 4)))
    terms = [(1, 0, "out", ""), (-1, 1, "out", ""), (F(1, 3), 0, "in", "x")]
    back = [(a, 1 - copy, kind, name) for a, copy, kind, name in terms]
    claim = Claim(2, both, (row(terms, 5), row(back, 5)))
    rows = checked(dyadic(), weights(), claim, [[0.5], [0.5]], SWEEP, {"rule": "mirror", "of": 0}).claims[0].rows
    assert [(r.bound, r.margin) for r in rows] == [(F(1, 2) + F(3, 8), F(1, 24))] * 2
    # x_1 ≤ x_2 between ends that are one number: symmetric as it stands, not when widened
    point = dyadic(3, number(lo=0.5, hi=0.5))
    claim = Claim(2, (strip(1),), (difference(rhs=5), difference(-1, 5)))
    assert checked(point, weights(), claim, [[0.5], [0.5]], SWEEP, {"rule": "mirror", "of": 0}).status == "refused"


def test_the_witness_satisfies_the_premise_that_is_stated(checked):
    for x, expected in ((1.0, "certified"), (1.0625, "refused"), (-0.0625, "refused")):
        assert checked(dyadic(), weights(), at_most(2), [[x]], SWEEP).status == expected
    whole = dyadic(3, {"name": "x", "kind": "integer", "lo": 0.0, "hi": 3.0, "mult": 0.5})
    for x, expected in ((1.0, "certified"), (1.5, "refused")):
        assert checked(whole, weights(), at_most(2), [[x]], SWEEP).status == expected
    close = Claim(2, (strip(1, rhs=F(1, 4)),), (difference(rhs=1),))
    for x, expected in ((0.25, "certified"), (0.3125, "refused")):
        assert checked(dyadic(), weights(), close, [[x], [0.0]], SWEEP).status == expected


def test_categories_and_yes_no_are_not_moved(checked):
    group = {"name": "r", "kind": "category", "lo": 0.0, "hi": 1.0, "categories": ["a", "b"]}
    flag = {"name": "b", "kind": "binary", "lo": 0.0, "hi": 1.0}
    net, tensors = dyadic(3, group, flag), weights(3, lower_slope=[[1.0, 2.0, 4.0]])
    claim = Claim(1, (), (row([(1, 0, "out", ""), (1, 0, "in", "b"), (1, 0, "in", "r=a")], 9),))
    found = only(checked(net, tensors, claim, [[1.0, 0.0, 0.0]], (LEAF, [c.Leaf()])))
    assert (found.bound, found.margin) == (2 + 4 + 1, 0)


# ---- the work budget ------------------------------------------------------------------------------------------------


def test_the_work_budget(folders, tmp_path, monkeypatch):
    """Two rows of 3 and 1 nodes, k = 2, 2 + 2 hidden units, one input: 2·2·(1·6 + 8·9) + 4·2·(16 + 5·2) = 520."""
    claim = Claim(2, (strip(1, rhs=1),), (difference(rhs=9), difference(-1, 9)), "free")
    tree = [c.Input(0, 0, 0.5), c.Leaf(), c.Leaf()]
    parts = dyadic(), weights(), claim, [[0.5], [0.5]], (LEAF, tree), (LEAF, [c.Leaf()])
    folders.put(tmp_path / "m", made(*parts))
    assert reader.MOST_WORK == check_reference.MOST_WORK == 2**31
    for most, expected in ((520, "certified"), (519, "refused"), (311, "refused"), (155, "refused")):
        monkeypatch.setattr(check_reference, "MOST_WORK", most)
        report = check_folder(tmp_path / "m")
        assert report.status == expected and ("work" in report.reason) == (expected == "refused")
    # the slope rule's tree counts both copies too; the order rule counts as one node
    slope = ({"rule": "slope", "bits": 0}, [c.Phase(255, 3), c.Leaf(), c.Leaf()])
    folders.put(tmp_path / "s", made(order(), weights(**RISING), UP, TUPLE, slope))
    folders.put(tmp_path / "o", made(order(), weights(**RISING), UP, TUPLE, ORDER))
    for most, expected in ((174 + 3 * 2 * (16 + 5 * 3), "unknown"), (173 + 3 * 2 * (16 + 5 * 3), "refused")):
        monkeypatch.setattr(check_reference, "MOST_WORK", most)
        assert check_folder(tmp_path / "s").status == expected
    for most, expected in ((174 + 2 * (16 + 5 * 3), "certified"), (173 + 2 * (16 + 5 * 3), "refused")):
        monkeypatch.setattr(check_reference, "MOST_WORK", most)
        assert check_folder(tmp_path / "o").status == expected


# ---- dyadic: soundness ----------------------------------------------------------------------------------------------


def neighbours(domain, pinned, witness, rng, n):
    """Tuples [n, k, m] of the domain near the witness and far from it, pinned coordinates equal in all copies."""
    k = len(witness)
    out = []
    for _ in range(n):
        x = domain.sample(k, rng) if rng.random() < 0.5 else np.array(witness)
        step = rng.normal(size=x.shape) * 10.0 ** rng.uniform(-5, 0)
        x = np.clip(np.where(domain.integral, x, x + step), domain.lo, domain.hi)
        if rng.random() < 0.3:
            x = np.where(domain.integral, x, np.clip(np.nextafter(np.array(witness), x), domain.lo, domain.hi))
        x[:, pinned] = x[0, pinned]
        out.append(x)
    return np.stack([*out, np.array(witness)])


@pytest.mark.parametrize("block", range(4))
def test_the_network_is_the_real_function_on_its_grid(folders, tmp_path, block):
    """Outputs bit for bit, how far inputs are moved, and left sides against bound + margin, on random networks."""
    rows = tight = 0
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng(seed)
        torch.manual_seed(seed)
        domain = folders.random_domain(rng, size=1 if seed % 3 == 0 else None)
        net = folders.random_net(rng, domain, boxes="gap", zero_gap=True)
        with torch.no_grad():
            for name, parameter in net.named_parameters():
                if not name.startswith(("backbone.", "second.")):
                    parameter.mul_(16).round_().div_(16)
        net.set_profile("dyadic", int(rng.integers(3, 12)))
        claim, witness = folders.random_claim(rng, net, rhs=50)
        rule = "sweep" if domain.size == 1 and seed % 2 else "leaf"
        proof = folders.random_proof(rng, net, claim, witness, rule=rule)
        files = folders.files_of(net, [proof])
        content = json.loads(files["certificate.json"]) | {"profile": "dyadic"}
        folders.put(tmp_path / str(seed), files | {"certificate.json": json.dumps(content).encode()})
        report = check_folder(tmp_path / str(seed))
        assert report.status in ("certified", "unknown"), (seed, report.reason)
        loaded = load_net(tmp_path / str(seed))[0]
        loaded.backbone = Noise(loaded.embedding)
        model = exact_model.build_model(reader.read_folder(tmp_path / str(seed)).net)
        omega = exact_dyadic.moves(model)
        x = neighbours(domain, folders.pinned_by_claim(claim, domain), witness, rng, 60)
        flat = x.reshape(-1, domain.size)
        values, one = loaded.predict(flat), loaded.predict(flat[:3], batch=1)
        assert (one == values[:3]).all()
        u = loaded.scale(torch.as_tensor(flat)).numpy()
        for point, scaled, output in zip(flat[::7], u[::7], values[::7], strict=True):
            hat = [F(s) + F(v) / F(mu) for s, mu, v in zip(domain.shift, domain.mult, scaled, strict=True)]
            assert all(abs(a - F(b)) <= w for a, b, w in zip(hat, point, omega, strict=True))
            units = [max(F(0), b + exact_model.dot(w, hat)) for w, b in zip(model.weight, model.bias, strict=True)]
            lower = [
                model.lower.const[i]
                + exact_model.dot(model.lower.slope[i], hat)
                + exact_model.dot(model.lower.out[i], units)
                for i in range(loaded.embedding)
            ]
            real = [b + exact_model.dot(g, lower) for g, b in zip(model.head, model.head_bias, strict=True)]
            assert [F(float(v)) for v in output] == real
        values = values.reshape(len(x), claim.copies, -1)
        inside = [i for i in range(len(x)) if holds_exactly(claim, domain, x[i])]
        assert inside
        for inequality, found in zip(claim.rows, report.claims[0].rows, strict=True):
            inputs = any(t.kind == "in" for t in inequality.terms)
            assert found.margin == 0 or inputs
            for i in inside:
                total = F(0)
                for t in inequality.terms:
                    if t.kind == "out":
                        o = net.outputs.index(t.name) if t.name in net.outputs else 0
                        total += t.coef * F(float(values[i, t.copy, o]))
                    else:
                        total += t.coef * F(float(x[i, t.copy, domain.indices(t.name)[0]]))
                assert total <= found.bound + found.margin, (seed, found.formula)
                tight += found.bound + found.margin - total < F(1, 4)
                rows += 1
    assert rows > 100 and tight
