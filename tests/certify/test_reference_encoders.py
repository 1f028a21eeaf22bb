"""The reference checker on encoders: spreads by hand, every condition of the format, soundness by sampling."""

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
from smilenn.certify.emit import emit
from smilenn.certify.reference import encoder as exact_encoder
from smilenn.certify.reference import model as exact_model
from smilenn.certify.reference import net as exact_net
from smilenn.certify.reference import premise as exact_premise
from smilenn.certify.reference import reader, strict
from smilenn.certify.reference.check import check_folder
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.bundle import dump_weights
from smilenn.model.encoders import Branch, Distance, Encoder, Kinks, Linear, Pinned, Pool, Ramps
from smilenn.model.encoders.monotone import monotone_encoder
from smilenn.model.net import SmileNet
from smilenn.problem import build_all
from smilenn.problem.region import Region
from smilenn.properties import Fair, Lipschitz, Monotone, Robust
from smilenn.properties.claim import Claim, row
from smilenn.properties.premise import ground as prepared
from smilenn.properties.premise import holds_exactly

F = Fraction
U, ETA = F(1, 2**53), F(1, 2**126)
SWEEP, ORDER = {"rule": "sweep"}, {"rule": "order"}
LEAF = {"rule": "leaf", "bits": 0, "units": []}


# ---- folders by hand ------------------------------------------------------------------------------------------------


def number(name="x", lo=0.0, hi=1.0, **more):
    return {"name": name, "kind": "continuous", "lo": lo, "hi": hi} | more


def category(name, *values, **more):
    return {"name": name, "kind": "category", "lo": 0.0, "hi": 1.0, "categories": list(values)} | more


def branch(columns, *layers, name=None):
    return {"name": name or ("e" if layers else ""), "columns": list(columns), "layers": list(layers)}


def linear(i, j, base=0):
    return {"kind": "linear", "inputs": i, "outputs": j, "base": base}


def kinks(size, convex):
    return {"kind": "kinks", "size": size, "convex": convex}


def ramps(*source):
    return {"kind": "ramps", "source": list(source)}


def distance(i, j):
    return {"kind": "distance", "inputs": i, "outputs": j}


def pinned(j, module=None):
    return {"kind": "pinned", "outputs": j, "module": module}


def net_of(features, encoder, **changes):
    """The object `net`: affine auxiliaries on e, an embedding of one."""
    return {
        "domain": {"features": list(features)},
        "backbone": {},
        "embedding": 1,
        "outputs": [""],
        "auxiliaries": "affine",
        "hidden": 0,
        "boxes": "gap",
        "skip": False,
        "output_scale": [1.0],
        "profile": "f64-aux",
        "grid": 0,
        "encoder": encoder,
    } | changes


def tensors_of(p, slope=None, box=(-64.0, 64.0), **layers):
    """f = slope·e and the encoder's tensors; ``b0_l1_weight`` is branch 0's layer 1's weight."""
    out = {
        "lower.const": [0.0],
        "lower.slope": [[1.0] + [0.0] * (p - 1) if slope is None else list(slope)],
        "second.const": [0.0],
        "head_weight": [[1.0]],
        "head_bias": [0.0],
        "encoder.lo": [box[0]] * p,
        "encoder.hi": [box[1]] * p,
    }
    for name, values in layers.items():
        b, layer, tensor = name.split("_", 2)
        out[f"encoder.branches.{b[1:]}.layers.{layer[1:]}.{tensor.replace('_', '.')}"] = values
    return out


def packed(tensors):
    """The safetensors file."""
    header, raw = {}, {}
    at = 0
    for name, values in tensors.items():
        array = np.array(values, dtype="<f8")
        raw[name] = array.tobytes()
        header[name] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": [at, at + len(raw[name])]}
        at += len(raw[name])
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(raw.values())


def files(net, tensors, claim, witness, *proofs):
    """A folder's files, digests left out; a proof is a row's object, or one and its nodes."""
    binary, rows = b"", []
    for proof in proofs:
        place, nodes = proof if isinstance(proof, tuple) else (proof, None)
        if nodes is not None:
            data = b"".join(c._node(node) for node in nodes)
            place, binary = place | {"start": len(binary), "length": len(data)}, binary + data
        rows.append(place)
    entry = {"claim": claim.to_json(), "witness": witness, "rows": rows}
    certificate = {
        "format": "smilenn-certificate",
        "profile": net["profile"],
        "proofs": "certificate.bin",
        "claims": [entry],
    }
    return {
        "model.json": json.dumps({"net": net}).encode(),
        "weights.safetensors": packed(tensors),
        "certificate.json": json.dumps(certificate).encode(),
        "certificate.bin": binary,
    }


@pytest.fixture
def written(forge2, tmp_path):
    """Write a folder of version 2, which a pinned module needs; its path."""
    count = itertools.count()

    def write(*parts, **more):
        folder = tmp_path / str(next(count))
        return forge2.put(folder, forge2.as_version_2(files(*parts, **more)))

    return write


@pytest.fixture
def checked(written):
    """Write a folder and check it; the report."""
    return lambda *parts, **more: check_folder(written(*parts, **more))


@pytest.fixture
def premise_on_e(written):
    """The premise on e of a claim whose proofs are not looked at."""

    def read(net, tensors, claim, witness, **more):
        rows = [SWEEP] * len(claim.rows)
        folder = reader.read_folder(written(net, tensors, claim, witness, *rows, **more))
        (entry,) = folder.entries
        exact_premise.check_witness(entry, folder.net.domain)
        return exact_encoder.encoded(folder.net, exact_premise.ground(entry.claim, folder.net.domain))

    return read


def only(report):
    """The one row of a report that was not refused."""
    assert report.status in ("certified", "unknown"), report.reason
    ((found,),) = [claim.rows for claim in report.claims]
    return found


def strip(name="x", low=None, high=None):
    """low ≤ x_1 − x_2 ≤ high."""
    sides = [] if high is None else [(1, high)]
    sides += [] if low is None else [(-1, -F(low))]
    return tuple(row([(s, 0, "in", name), (-s, 1, "in", name)], rhs) for s, rhs in sides)


def pair(*when, rhs=1000, **more):
    """Two copies, f(x_1) − f(x_2) ≤ rhs."""
    return Claim(2, tuple(when), (row([(1, 0, "out", ""), (-1, 1, "out", "")], rhs),), **more)


def single(*when, rhs=1000, copies=1, **more):
    return Claim(copies, tuple(when), (row([(1, 0, "out", "")], rhs),), **more)


def lin(w, b, y):
    """The specification's LIN with exact inputs."""
    w, n = [abs(F(v)) for v in w], len(w)
    gamma = (n + 5) * U / (1 - (n + 5) * U)
    total = sum(a * v for a, v in zip(w, y, strict=True)) + abs(F(b))
    return gamma * total + (1 + gamma) * ETA * (3 * n + 3 + sum(w) + sum(y))


# ---- spreads, by hand -----------------------------------------------------------------------------------------------


def test_inputs_are_scaled_and_pass_through_kinks(premise_on_e):
    """kinks(u) shows the spread of u itself: u = 2(x − 1/4) in [−1/2, 3/2] up to its error, |x_1 − x_2| ≤ 1/4."""
    net = net_of([number(shift=0.25, mult=2.0)], [branch([0], kinks(1, 1)), branch([0], kinks(1, 0), name="f")])
    got = premise_on_e(net, tensors_of(2), pair(*strip(low=F(-1, 4), high=F(1, 8))), [[0.5], [0.5]])
    e_u = ((1 + U) ** 2 - 1) * F(3, 4) * 2 + 2 * ETA * (1 + 2 + F(3, 4))
    assert got.lo == [[0, -F(1, 2) - e_u]] * 2 and got.hi == [[F(3, 2) + e_u, 0]] * 2
    assert got.strip_lo == [-F(1, 2) - 2 * e_u, -F(1, 2) - e_u]  # the second: no more than its range is wide
    assert got.strip_hi == [F(1, 4) + 2 * e_u] * 2
    assert got.pinned == [False] * 2 and got.whole == [False] * 2 and not got.extra


def test_plain_inputs_have_no_error_and_bounds_of_the_copies_are_joined(premise_on_e):
    net = net_of([number(lo=-1.0, hi=4.0)], [branch([0], kinks(1, 0))])
    bounds = (row([(1, 0, "in", "x")], 1), row([(-1, 1, "in", "x")], -1), row([(1, 1, "in", "x")], 3))
    got = premise_on_e(net, tensors_of(1), pair(*bounds), [[0.0], [2.0]])
    # copy 1 in [−1, 1], copy 2 in [1, 3]: u in [−1, 3], never larger in copy 1, so it falls; min(u, 0) in [−1, 0]
    assert (got.lo, got.hi) == ([[-1], [-1]], [[0], [0]])
    assert (got.strip_lo, got.strip_hi, got.pinned) == ([-1], [0], [False])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, None, (0, 4, False)),  # rises
        (None, 0, (-4, 0, False)),  # falls
        (0, 0, (0, 0, True)),
        (1, 2, (0, 2, False)),  # a gap between the copies is not kept
        (-2, -1, (-2, 0, False)),
        (-1, 2, (-1, 2, False)),
        (-9, 9, (-4, 4, False)),
    ],
)
def test_rising_and_falling(premise_on_e, low, high, expected):
    net = net_of([number(lo=0.0, hi=4.0)], [branch([0], kinks(1, 1))])
    apart = max(low if low is not None else -4, min(high if high is not None else 4, 0))
    witness = [[2.0 + apart], [2.0]]
    got = premise_on_e(net, tensors_of(1), pair(*strip(low=low, high=high)), witness)
    assert (got.strip_lo[0], got.strip_hi[0], got.pinned[0]) == expected


def test_ramps(premise_on_e):
    net = net_of([number(hi=4.0), number("y")], [branch([1, 0], ramps(1, 0, 1))])
    tensors = tensors_of(3, b0_l0_start=[0.5, -1.0, 3.0], b0_l0_rate=[0.25, 2.0, 8.0])
    got = premise_on_e(net, tensors, pair(*strip(low=F(-1, 2), high=1), free=("y",)), [[1.0, 0.0], [1.0, 1.0]])

    def error(far, rate):
        return ((1 + U) ** 2 - 1) * far * rate + 2 * ETA * (1 + rate + far)

    assert got.lo == [[0, 0, 0]] * 2 and got.hi == [[1, 1, 1]] * 2
    first, second = error(F(7, 2), F(1, 4)), error(F(2), F(2))
    assert got.strip_lo == [-F(1, 8) - 2 * first, -1, -1]  # 2·[−1, 1] and 8·[−1/2, 1] are wider than [0, 1] is
    assert got.strip_hi == [F(1, 4) + 2 * first, 1, 1]
    assert second > 0
    rising = premise_on_e(net, tensors, pair(*strip(low=0)), [[1.0, 0.0], [1.0, 0.0]])
    assert rising.strip_lo == [0, 0, 0] and rising.pinned == [False, True, False]


def test_linear_and_its_base(premise_on_e):
    layers = [linear(2, 1), linear(1, 2, base=1)]
    net = net_of([number(lo=-1.0, hi=2.0), number("y")], [branch([0, 1], *layers)])
    tensors = tensors_of(
        2, b0_l0_weight=[[1.5, -0.5]], b0_l0_bias=[0.25], b0_l1_weight=[[2.0, -1.0], [0.0, 0.0]], b0_l1_bias=[0.0, 7.0]
    )
    when = (*strip(low=F(-1, 4), high=F(1, 2)), *strip("y", low=0))
    got = premise_on_e(net, tensors, pair(*when), [[0.0, 0.5], [0.0, 0.5]])
    e = lin([1.5, -0.5], 0.25, [F(2), F(1)])
    lo, hi = F(-3, 2) - F(1, 2) + F(1, 4) - e, F(3) + F(1, 4) + e
    low, high = F(-3, 8) - F(1, 2) - 2 * e, F(3, 4) + 2 * e  # 1.5·[−1/4, 1/2] − 0.5·[0, 1]
    size = max(abs(lo), hi)
    e2, e3 = lin([2, -1], 0, [size, size]), lin([0, 0], 7, [size, size])
    assert got.lo == [[2 * lo - hi - e2, 7 - e3]] * 2 and got.hi == [[2 * hi - lo + e2, 7 + e3]] * 2
    assert got.strip_lo == [2 * low - high - 2 * e2, 0]
    assert got.strip_hi == [2 * high - low + 2 * e2, 0]
    assert got.pinned == [False, True]  # a sum without terms is the same in all copies


def test_the_base_is_what_the_first_layer_returns(premise_on_e):
    """y, then 2y, then 0·2y + y: the base is y."""
    net = net_of([number()], [branch([0], linear(1, 1), linear(1, 1), linear(1, 1, base=1))])
    tensors = tensors_of(
        1,
        b0_l0_weight=[[1.0]],
        b0_l0_bias=[0.0],
        b0_l1_weight=[[2.0]],
        b0_l1_bias=[0.0],
        b0_l2_weight=[[0.0, 1.0]],
        b0_l2_bias=[0.0],
    )
    got = premise_on_e(net, tensors, single(), [[0.5]])
    assert 1 < got.hi[0][0] < 1 + F(1, 2**40)


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_a_constant_is_pinned_where_there_are_several_copies(premise_on_e, copies):
    net = net_of([number()], [branch([0], linear(1, 1))])
    tensors = tensors_of(1, b0_l0_weight=[[0.0]], b0_l0_bias=[3.0])
    got = premise_on_e(net, tensors, single(copies=copies, others="free"), [[0.5]] * copies)
    assert got.pinned == [copies > 1]


@pytest.mark.parametrize(
    ("weights", "rises", "falls"),
    [
        ([1.0, 0.0, 0.0, 0.0], True, False),  # x rises, y falls, z is free, t is pinned
        ([-1.0, 0.0, 0.0, 0.0], False, True),
        ([1.0, -1.0, 0.0, 1.0], True, False),
        ([-1.0, 1.0, 0.0, -1.0], False, True),
        ([1.0, 1.0, 0.0, 0.0], False, False),
        ([0.0, 0.0, 1.0, 0.0], False, False),
        ([0.0, 0.0, 0.0, -1.0], True, True),
        ([0.0, 0.0, -0.0, 0.0], True, True),
        ([1.0, 0.0, 5e-324, 0.0], False, False),
    ],
)
def test_signs_of_weights(premise_on_e, weights, rises, falls):
    net = net_of([number(n) for n in "xyzt"], [branch(range(4), linear(4, 1))])
    when = (*strip("x", low=0), *strip("y", high=0))
    got = premise_on_e(
        net, tensors_of(1, b0_l0_weight=[weights], b0_l0_bias=[0.0]), pair(*when, free=("z",)), [[0.5] * 4] * 2
    )
    assert (got.strip_lo[0] == 0, got.strip_hi[0] == 0, got.pinned[0]) == (rises, falls, rises and falls)


def test_kinks_bend_the_first_ones_up_and_the_others_down(premise_on_e):
    net = net_of([number(lo=-2.0, hi=3.0), number("y", lo=-2.0, hi=3.0)], [branch([0, 1], kinks(2, 1))])
    got = premise_on_e(net, tensors_of(2), pair(*strip(low=-1, high=1), *strip("y", low=-4, high=4)), [[0.0, 0.0]] * 2)
    assert got.lo == [[0, -2]] * 2 and got.hi == [[3, 0]] * 2
    assert got.strip_lo == [-1, -2] and got.strip_hi == [1, 2]  # a range of width 2 holds no difference of 4


def test_pool(premise_on_e):
    names = [f"p{i}" for i in range(16)]
    features = [number(n, hi=float(i + 1)) for i, n in enumerate(names)]
    net = net_of(features, [branch(range(16), {"kind": "pool", "side": 4, "block": 2})])
    when = [r for n in names for r in strip(n, low=F(-1, 8), high=F(1, 4))]
    got = premise_on_e(net, tensors_of(4), pair(*when), [[0.0] * 16] * 2)
    for at, places in enumerate([(0, 1, 4, 5), (2, 3, 6, 7), (8, 9, 12, 13), (10, 11, 14, 15)]):
        tops = [F(i + 1) for i in places]
        e = lin([F(1, 4)] * 4, 0, tops)
        assert (got.lo[0][at], got.hi[0][at]) == (-e, sum(tops) / 4 + e)
        assert (got.strip_lo[at], got.strip_hi[at]) == (-F(1, 8) - 2 * e, F(1, 4) + 2 * e)
    ordered = [r for n in names for r in strip(n, low=0 if n != "p5" else F(-1, 8))]
    got = premise_on_e(net, tensors_of(4), pair(*ordered), [[0.0] * 16] * 2)
    assert [v == 0 for v in got.strip_lo] == [False, True, True, True]


def test_distance(premise_on_e):
    net = net_of([number(lo=-1.0, hi=2.0), number("y", hi=0.5)], [branch([0, 1], distance(2, 2))])
    tensors = tensors_of(2, b0_l0_weight=[[0.5, -3.0], [0.0, 0.25]], b0_l0_bias=[-1.0, 0.0])
    when = (*strip(low=F(-1, 8), high=F(1, 16)), *strip("y", low=F(-1, 4), high=0))
    got = premise_on_e(net, tensors, pair(*when), [[0.0, 0.25]] * 2)
    for at, (most, b) in enumerate(((F(3) + 2, F(-1)), (F(1, 4) + 2, F(0)))):
        e = U * most + ETA + U * (most + U * most + ETA + abs(b)) + ETA
        assert (got.lo[1][at], got.hi[1][at]) == (b - e, most + b + e)
        assert (got.strip_lo[at], got.strip_hi[at]) == (-F(1, 4) - 2 * e, F(1, 4) + 2 * e)
    assert got.pinned == [False, False]
    same = premise_on_e(net, tensors, pair(*strip(low=0), equal=("x",)), [[0.0, 0.25]] * 2)
    assert same.pinned == [True, True] and same.strip_lo == same.strip_hi == [0, 0]
    one_way = premise_on_e(net, tensors, pair(*strip(low=0)), [[0.0, 0.25]] * 2)
    assert one_way.pinned == [False, False] and one_way.strip_lo[0] == -3 - 2 * (one_way.hi[0][0] - 4)


def test_pinned_modules_give_the_box(premise_on_e):
    net = net_of([number(), number("y")], [branch([0], pinned(2)), branch([0, 1], pinned(1), name="f")])
    tensors = tensors_of(3, box=(-2.0, 5.0))
    got = premise_on_e(net, tensors, pair(*strip("y", low=0)), [[0.5, 0.5]] * 2)
    assert got.pinned == [True, True, False]
    assert got.lo == [[-2] * 3] * 2 and got.hi == [[5] * 3] * 2
    assert (got.strip_lo, got.strip_hi) == ([0, 0, -7], [0, 0, 7])


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ((-9.0, 9.0), (-1, 2, -1, F(1, 2))),
        ((-0.5, 0.25), (F(-1, 2), F(1, 4), F(-3, 4), F(1, 2))),
        ((3.0, 4.0), (3, 3, 0, 0)),  # beside the range: one point
        ((-4.0, -3.0), (-3, -3, 0, 0)),
        ((0.0, 0.0), (0, 0, 0, 0)),
    ],
)
def test_the_box_cuts_ranges_and_differences(premise_on_e, box, expected):
    net = net_of([number(lo=-1.0, hi=2.0), number("y", lo=-1.0, hi=2.0)], [branch([0, 1], kinks(2, 1))])
    net["encoder"][0]["layers"] = [kinks(2, 1), linear(2, 1)]  # max(x, 0) + min(y, 0)
    tensors = tensors_of(1, box=box, b0_l1_weight=[[1.0, 1.0]], b0_l1_bias=[0.0])
    when = (*strip(low=F(-1, 2), high=F(1, 4)), *strip("y", low=F(-1, 2), high=F(1, 4)))
    got = premise_on_e(net, tensors, pair(*when), [[0.0, 0.0]] * 2)
    e = lin([1, 1], 0, [F(2), F(1)])
    lo, hi, low, high = expected
    assert got.lo[0][0] in (lo, lo - e) and got.hi[0][0] in (hi, hi + e)
    assert got.strip_lo[0] in (low, low - 2 * e) and got.strip_hi[0] in (high, high + 2 * e)
    assert not got.pinned[0]  # it may be one point: it is not pinned for that


def test_passing_coordinates_keep_bounds_pins_strips_groups_and_rows(premise_on_e):
    features = [
        number(hi=4.0, shift=1.0, mult=3.0),
        category("c", "a", "b"),
        number("y"),
        {"name": "n", "kind": "integer", "lo": 0.0, "hi": 9.0},
    ]
    net = net_of(features, [branch([4]), branch([3, 0], linear(2, 1)), branch([1, 2])])
    tensors = tensors_of(4, b1_l0_weight=[[1.0, 1.0]], b1_l0_bias=[0.0])
    rows = (
        *strip("n", low=F(1, 2), high=F(7, 2)),
        row([(1, 0, "in", "n"), (1, 1, "in", "c=a")], 9),  # over passing coordinates: stays
        row([(1, 0, "in", "n"), (1, 1, "in", "x")], 99),  # x does not pass: dropped
        row([(2, 0, "in", "c=b"), (-1, 1, "in", "n")], 5),
        row([(1, 0, "in", "x"), (-1, 1, "in", "x")], 1),
        row([(1, 1, "in", "n")], F(13, 2)),
    )
    got = premise_on_e(net, tensors, pair(*rows), [[0.0, 1.0, 0.0, 0.5, 3.0], [0.0, 1.0, 0.0, 0.5, 1.0]])
    assert got.domain.names == ("n", "e.0", "c=a", "c=b") and got.domain.groups == ((2, 3),)
    assert got.whole == [True, False, True, True]
    assert (got.lo[0][0], got.hi[0][0], got.lo[1][0], got.hi[1][0]) == (0, 9, 0, 6)
    assert (got.strip_lo[0], got.strip_hi[0]) == (1, 3)
    assert got.pinned == [False, False, False, False] and got.strip_hi[1] > 1
    assert [r.coef for r in got.extra] == [{(0, 0): 1, (1, 2): 1}, {(0, 3): 2, (1, 0): -1}]


def test_part_of_a_group_may_be_read_and_moves_freely(premise_on_e):
    """One member pinned, one ordered: the pinned one is the same, the other neither rises nor falls."""
    net = net_of([category("c", "a", "b", "d")], [branch([1, 0], linear(2, 2))])
    tensors = tensors_of(2, b0_l0_weight=[[0.0, 1.0], [1.0, 0.0]], b0_l0_bias=[0.0, 0.0])
    claim = pair(*strip("c=b", low=0), equal=("c=a",))
    got = premise_on_e(net, tensors, claim, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    e = lin([1, 0], 0, [F(1), F(1)])
    assert got.pinned == [True, False] and got.strip_lo == [0, -2 * e] and got.strip_hi == [0, 1 + 2 * e]
    # b in copy 1 and not in copy 2: the difference is 1, but zero stays in the range
    apart = pair(row([(-1, 0, "in", "c=b")], -1), row([(1, 1, "in", "c=b")], 0))
    got = premise_on_e(net, tensors, apart, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert got.strip_lo == [-1 - 2 * e, -2 * e] and got.strip_hi == [1 + 2 * e, 1 + 2 * e]
    bent = net_of([category("c", "a", "b", "d")], [branch([1], kinks(1, 1))])
    got = premise_on_e(bent, tensors_of(1), apart, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert (got.strip_lo, got.strip_hi) == ([0], [1])


@pytest.mark.parametrize("copies", [1, 3, 4])
def test_other_numbers_of_copies_have_no_differences(premise_on_e, copies):
    net = net_of(
        [number(), number("y")],
        [
            branch([0], kinks(1, 1)),
            branch([1, 0], pinned(1), name="f"),
            branch([1], linear(1, 1), name="g"),
            branch([1]),
        ],
    )
    tensors = tensors_of(4, b2_l0_weight=[[2.0]], b2_l0_bias=[0.0])
    when = (row([(1, 0, "in", "x")], F(1, 2)),) + ((row([(-1, 1, "in", "x")], 0),) if copies > 1 else ())
    got = premise_on_e(net, tensors, single(*when, copies=copies), [[0.25, 0.5]] * copies)
    several = copies > 1
    assert got.strip_lo == got.strip_hi == [] and got.pinned == [False, False, several, several]
    assert got.hi[0][0] == (1 if several else F(1, 2))
    assert got.hi[0][2] == 2 + lin([2], 0, [F(1)]) and got.hi[-1][3] == 1


# ---- the rules on e -------------------------------------------------------------------------------------------------


def test_an_encoder_that_passes_everything_changes_nothing(folders, forge2, tmp_path):
    """The same certificates, with a branch without layers per feature: the same reports."""
    tried = 0
    for seed in range(16):
        made = folders.random_folder(tmp_path / str(seed), seed, profile="any" if seed % 2 else "f64-aux")
        if made.net.profile == "dyadic" or (made.net.auxiliaries == "affine" and made.net.boxes == "gap"):
            continue
        before, domain = check_folder(made.folder), made.net.domain
        folder = tmp_path / f"{seed}e"
        files = {p.name: p.read_bytes() for p in made.folder.iterdir() if p.name != "manifest.json"}
        model = json.loads(files["model.json"])
        slices = domain.slices.values()
        model["net"]["encoder"] = [branch(range(s.start, s.stop)) for s in slices]
        size = int.from_bytes(files["weights.safetensors"][:8], "little")
        header = json.loads(files["weights.safetensors"][8 : 8 + size])
        data = files["weights.safetensors"][8 + size :]
        extra = struct.pack(f"<{2 * domain.size}d", *([0.0] * 2 * domain.size))
        for name, start in (("encoder.lo", 0), ("encoder.hi", 8 * domain.size)):
            span = [len(data) + start, len(data) + start + 8 * domain.size]
            header[name] = {"dtype": "F64", "shape": [domain.size], "data_offsets": span}
        data += extra
        text = json.dumps(header).encode()
        files["weights.safetensors"] = struct.pack("<Q", len(text)) + text + data
        files["model.json"] = json.dumps(model).encode()
        folders.put(folder, forge2.rehashed(files))
        assert check_folder(folder) == before, seed
        tried += before.status in ("certified", "unknown")
    assert tried > 8


def test_one_encoded_coordinate_is_swept(checked):
    """f = relu(4e − 2) of e = x/2 + y/2, |Δx| and |Δy| at most 1/4: 4·(1/4) and the rounding of e."""
    net = net_of([number(), number("y")], [branch([0, 1], linear(2, 1))], auxiliaries="relu", hidden=1)
    tensors = tensors_of(1, b0_l0_weight=[[0.5, 0.5]], b0_l0_bias=[0.0]) | {
        "lower.weight": [[4.0]],
        "lower.bias": [-2.0],
        "lower.out": [[1.0]],
        "second.weight": [[0.0]],
        "second.bias": [0.0],
        "second.out": [[0.0]],
    }
    del tensors["lower.slope"]
    claim = pair(*strip(low=F(-1, 4), high=F(1, 4)), *strip("y", low=F(-1, 4), high=F(1, 4)))
    found = only(checked(net, tensors, claim, [[0.5, 0.5]] * 2, SWEEP))
    e = lin([0.5, 0.5], 0, [F(1), F(1)])
    assert found.bound == 4 * (F(1, 4) + 2 * e)
    # of one copy: the largest e
    assert only(checked(net, tensors, single(), [[0.5, 0.5]], SWEEP)).bound == 4 * (1 + e) - 2
    # and of a constant
    pinned_claim = pair(equal=("x", "y"))
    assert only(checked(net, tensors, pinned_claim, [[0.5, 0.5]] * 2, SWEEP)).bound == 0


def test_order_rule_on_what_rises(checked):
    net = net_of([number(), number("y")], [branch([0, 1], linear(2, 1)), branch([1])], profile="fixed-order")
    tensors = tensors_of(2, slope=[1.0, -1.0], b0_l0_weight=[[0.3, -0.7]], b0_l0_bias=[0.1])
    falling = pair(*strip(high=0), *strip("y", low=0), rhs=0)
    found = only(checked(net, tensors, falling, [[0.5, 0.5]] * 2, ORDER))
    assert (found.bound, found.margin, found.holds) == (0, 0, True)
    for slope, weights in (([-1.0, -1.0], [[0.3, -0.7]]), ([1.0, -1.0], [[0.3, 0.7]]), ([1.0, 1.0], [[0.3, -0.7]])):
        wrong = tensors_of(2, slope=slope, b0_l0_weight=weights, b0_l0_bias=[0.1])
        assert checked(net, wrong, falling, [[0.5, 0.5]] * 2, ORDER).status == "refused"
    free = pair(*strip(high=0), free=("y",), rhs=0)
    assert "move one way" in checked(net, tensors, free, [[0.5, 0.5]] * 2, ORDER).reason


def test_order_rule_does_not_see_through_a_group(checked):
    net = net_of([category("c", "a", "b")], [branch([0, 1], linear(2, 1))], profile="fixed-order")
    tensors = tensors_of(1, b0_l0_weight=[[1.0, 0.0]], b0_l0_bias=[0.0])
    claim = pair(*strip("c=a", high=0), rhs=0)
    assert "move one way" in checked(net, tensors, claim, [[1.0, 0.0]] * 2, ORDER).reason


def test_slope_rule_on_what_rises(checked):
    """f = 3·e − x with e = 2x, both of which rise with x: F = −f falls."""
    net = net_of([number()], [branch([0], linear(1, 1)), branch([0])])
    slope = {"rule": "slope", "bits": 0}
    for slopes, status in (([3.0, 1.0], "certified"), ([3.0, -1.0], "refused"), ([-3.0, 1.0], "refused")):
        tensors = tensors_of(2, slope=slopes, b0_l0_weight=[[2.0]], b0_l0_bias=[0.0])
        report = checked(net, tensors, pair(*strip(high=0), rhs=F(1, 10**9)), [[0.5]] * 2, (slope, [c.Leaf()]))
        # e and x are taken to move independently: −x may rise although 3e − x falls
        assert report.status == status, report.reason


def test_mirror_on_a_premise_that_is_symmetric(checked):
    net = net_of([number(), number("y")], [branch([0, 1], distance(2, 1)), branch([1])])
    tensors = tensors_of(2, slope=[1.0, 0.5], b0_l0_weight=[[0.1, 0.2]], b0_l0_bias=[0.0])
    out = [(1, 0, "out", ""), (-1, 1, "out", "")]
    then = (row(out, 1), row([(-a, k, w, n) for a, k, w, n in out], 1))
    mirror, leaf = {"rule": "mirror", "of": 0}, (LEAF, [c.Leaf()])
    even = strip(low=F(-1, 4), high=F(1, 4))
    report = checked(net, tensors, Claim(2, even, then), [[0.5, 0.5]] * 2, leaf, mirror)
    assert report.status == "certified" and report.claims[0].rows[0].bound == report.claims[0].rows[1].bound
    # a row over x alone that is not a strip is dropped; what is left is symmetric
    dropped = (*even, row([(1, 0, "in", "x"), (1, 1, "in", "x")], F(3, 2)))
    report = checked(net, tensors, Claim(2, dropped, then), [[0.5, 0.5]] * 2, leaf, mirror)
    assert report.status == "certified", report.reason
    uneven = Claim(2, strip("y", low=F(-1, 4), high=F(1, 8)), then)
    assert "mirror image" in checked(net, tensors, uneven, [[0.5, 0.5]] * 2, leaf, mirror).reason
    # the maximum norm forgets which input moved further one way, and y does not move
    turned = Claim(2, strip(low=F(-1, 4), high=F(1, 8)), then)
    assert checked(net, tensors, turned, [[0.5, 0.5]] * 2, leaf, mirror).status == "certified"


def test_rows_that_stay_have_multipliers_and_others_have_none(checked):
    net = net_of([number(), number("y")], [branch([0]), branch([1], kinks(1, 1))])
    tensors = tensors_of(2, slope=[1.0, 0.0])
    stays = row([(1, 0, "in", "x"), (2, 1, "in", "x")], F(1, 2))
    gone = row([(1, 0, "in", "x"), (1, 0, "in", "y")], F(1, 4))
    claim, witness = pair(gone, stays), [[0.0, 0.0]] * 2
    assert only(checked(net, tensors, claim, witness, (LEAF, [c.Leaf(rows=(1,))]))).bound == F(1, 2)
    assert only(checked(net, tensors, claim, witness, (LEAF, [c.Leaf(rows=(0,))]))).bound == 1
    for wrong in ((), (1, 0)):
        assert checked(net, tensors, claim, witness, (LEAF, [c.Leaf(rows=wrong)])).status == "refused"


def test_conclusions_speak_of_passing_inputs_only(checked):
    net = net_of([number(), number("y", shift=1.0, mult=0.5)], [branch([0], kinks(1, 1)), branch([1])])
    tensors = tensors_of(2, slope=[0.0, 2.0])

    def claim(name, a):
        return Claim(1, (), (row([(1, 0, "out", ""), (a, 0, "in", name)], 0),))

    found = only(checked(net, tensors, claim("y", -1), [[0.5, 0.5]], (LEAF, [c.Leaf()])))
    assert found.bound == -1  # 2·(y − 1)/2 − y
    for a in (1, 0):  # also where the coefficient is zero
        said = claim("x", 1).to_json()
        said["then"][0]["terms"][1][0] = str(a)
        report = checked(net, tensors, Claim.from_json(said), [[0.5, 0.5]], (LEAF, [c.Leaf()]))
        assert report.status == "refused" and "does not pass on" in report.reason


def test_splits_speak_of_e(checked):
    """f = e_1, the encoded one, pinned; splits of it name all copies, and only coordinates of e exist."""
    net = net_of([number(), number("y"), number("z")], [branch([0], linear(1, 1)), branch([1])])
    tensors = tensors_of(2, b0_l0_weight=[[1.0]], b0_l0_bias=[0.0])
    claim, witness = pair(*strip("y", low=0)), [[0.5] * 3] * 2
    good = ((255, 0), (0, 1), (1, 1))
    for copy, at in (*good, (0, 0), (255, 1), (0, 2), (2, 1)):
        nodes = [c.Input(copy, at, 0.5), c.Leaf(), c.Leaf()]
        report = checked(net, tensors, claim, witness, (LEAF, nodes))
        assert report.status == ("certified" if (copy, at) in good else "refused")


def test_margin_counts_the_box_of_an_encoded_coordinate(checked):
    """E = LIN over lower with U = max(|lo|, |hi|) of the box, however narrow the range is."""
    net = net_of([number()], [branch([0], kinks(1, 1))])
    found = only(checked(net, tensors_of(1, box=(-64.0, 3.0)), single(), [[0.5]], SWEEP))

    def full(w, b, y, e):
        gamma = 6 * U / (1 - 6 * U)
        return abs(w) * e + gamma * (abs(w) * (y + e) + abs(b)) + (1 + gamma) * ETA * (6 + abs(w) + y + e)

    e_l, zero = full(F(1), F(0), F(64), F(0)), 5 * U / (1 - 5 * U)
    e_s = (1 + zero) * ETA * 3
    e_up = e_l + e_s + U * (64 + e_l + e_s) + ETA
    assert found.bound == 1 and found.margin == full(F(1), F(0), F(64), e_up)


# ---- what is refused ------------------------------------------------------------------------------------------------

GOOD = {"b0_l0_weight": [[1.0, 2.0]], "b0_l0_bias": [0.0]}
XYZT = tuple(number(name) for name in "xyzt")
XY = XYZT[:2]


def broken(encoder, p=1, features=XY, net=None, tensors=None, drop=(), **layers):
    """The parts of a folder whose claim holds; a single linear layer has its tensors unless others are given."""
    held = tensors_of(p, **(layers or (GOOD if "linear" in str(encoder) else {}))) | (tensors or {})
    m = sum(len(feature.get("categories", [""])) for feature in features)
    witness = [[1.0] * m if not any("categories" in f for f in features) else [0.0] * (m - 1) + [1.0]]
    return net_of(features, encoder, **(net or {})), {k: v for k, v in held.items() if k not in drop}, single(), witness


LIN2 = branch([0, 1], linear(2, 1))


@pytest.mark.parametrize(
    ("encoder", "more", "reason"),
    [
        ([], {}, "no branches"),
        ({}, {}, "not a list"),
        (None, {}, "not a list"),
        ([[]], {}, "not an object"),
        ([LIN2 | {"more": 1}], {}, "exactly the keys"),
        ([{"name": "e", "columns": [0, 1]}], {}, "exactly the keys"),
        ([LIN2 | {"name": 3}], {}, "not a text"),
        ([LIN2 | {"name": "x"}], {}, "has the name"),
        ([LIN2, branch([0], kinks(1, 1))], {"p": 2}, "has the name"),
        ([LIN2 | {"columns": []}], {}, "no columns"),
        ([LIN2 | {"columns": [1, 1]}], {}, "twice"),
        ([LIN2 | {"columns": [0, 2]}], {}, "whole number from 0 to 1"),
        ([LIN2 | {"columns": [0, -1]}], {}, "whole number"),
        ([LIN2 | {"columns": [0, 1.0]}], {}, "whole number"),
        ([LIN2 | {"columns": [False, 1]}], {}, "whole number"),
        ([LIN2 | {"columns": 0}], {}, "not a list"),
        ([LIN2 | {"layers": {}}], {}, "not a list"),
        ([LIN2 | {"layers": ["linear"]}], {}, "not an object"),
        ([LIN2 | {"layers": [linear(2, 1) | {"kind": "convolution"}]}], {}, "unknown kind"),
        ([LIN2 | {"layers": [linear(2, 1) | {"kind": []}]}], {}, "not a text"),
        ([LIN2 | {"layers": [{"inputs": 2}]}], {}, "not a text"),
        ([LIN2 | {"layers": [linear(2, 1) | {"bias": True}]}], {}, "exactly the keys"),
        ([LIN2 | {"layers": [linear(3, 1)]}], {}, "does not fit"),
        ([LIN2 | {"layers": [linear(2.0, 1)]}], {}, "whole number"),
        ([LIN2 | {"layers": [linear(2, 0)]}], {}, "no outputs"),
        ([LIN2 | {"layers": [linear(2, 1, base=2)]}], {}, "'base'"),
        ([LIN2 | {"layers": [linear(2, 1, base=1)]}], {}, "'base'"),
        ([LIN2 | {"layers": [linear(2, 1), linear(1, 1, base=2)]}], {}, "'base'"),
        ([branch([0, 1], kinks(1, 1))], {"p": 2}, "does not fit"),
        ([branch([0, 1], kinks(2, 3))], {"p": 2}, "more convex"),
        ([branch([0, 1], kinks(2, -1))], {"p": 2}, "whole number"),
        ([branch([0, 1], ramps())], {}, "none"),
        ([branch([0, 1], ramps(2))], {}, "whole number from 0 to 1"),
        ([branch([0, 1], {"kind": "pool", "side": 1, "block": 1})], {}, "does not fit"),
        ([branch([0], {"kind": "pool", "side": 1, "block": 0})], {}, "does not divide"),
        ([branch(range(4), {"kind": "pool", "side": 2, "block": 3})], {"features": XYZT}, "does not divide"),
        ([branch([0, 1], distance(1, 1))], {}, "does not fit"),
        ([branch([0, 1], distance(2, 0))], {}, "no outputs"),
        ([branch([0, 1], pinned(0))], {}, "no outputs"),
        ([branch([0, 1], {"kind": "pinned", "outputs": 1})], {}, "exactly the keys"),
        ([branch([0, 1], pinned(1), kinks(1, 1))], {}, "followed by another layer"),
        ([branch([0, 1], pinned(1), pinned(1))], {}, "followed by another layer"),
        ([branch([1, 0])], {"p": 2}, "in the order"),
        ([branch([0]), branch([0])], {"p": 2}, "passes twice"),
        ([branch([0, 1])], {"p": 2, "features": [category("c", "a", "b", "d")]}, "whole features"),
        ([branch([1, 2])], {"p": 2, "features": [number(), category("c", "a", "b", "d")]}, "whole features"),
        ([LIN2], {"drop": ["encoder.lo"]}, "exactly the tensors"),
        ([LIN2], {"drop": ["encoder.branches.0.layers.0.bias"]}, "exactly the tensors"),
        ([LIN2], {"tensors": {"encoder.branches.0.layers.1.bias": [0.0]}}, "exactly the tensors"),
        ([LIN2], {"tensors": {"encoder.branches.0.layers.0.module.w": [0.0]}}, "exactly the tensors"),
        ([LIN2], {"tensors": {"encoder.mid": [0.0]}}, "exactly the tensors"),
        ([LIN2], {"tensors": {"second.rise": [[0.0]], "second.fall": [[0.0]]}}, "exactly the tensors"),
        ([LIN2], {"tensors": {"encoder.hi": [[64.0]]}}, "shape"),
        ([LIN2], {"tensors": {"encoder.hi": [64.0, 64.0]}}, "shape"),
        ([LIN2], {"tensors": {"lower.slope": [[1.0, 1.0]]}}, "shape"),
        ([LIN2], {"tensors": {"encoder.branches.0.layers.0.weight": [[1.0]]}}, "shape"),
        ([LIN2], {"tensors": {"encoder.branches.0.layers.0.weight": [1.0, 2.0]}}, "shape"),
        ([LIN2], {"tensors": {"encoder.hi": [math.inf]}}, "not finite"),
        ([LIN2], {"tensors": {"encoder.hi": [-65.0]}}, "lower end above"),
        ([branch([0, 1])], {"p": 2, "net": {"profile": "dyadic", "grid": 4}}, "dyadic"),
    ],
)
def test_what_is_refused(checked, encoder, more, reason):
    report = checked(*broken(encoder, **more), (LEAF, [c.Leaf()]))
    assert report.status == "refused" and reason in report.reason, report.reason


def test_the_base_of_what_was_broken_is_fine(checked):
    assert checked(*broken([LIN2]), (LEAF, [c.Leaf()])).status == "certified"


@pytest.mark.parametrize("rate", [0.0, -0.0, -1.0])
def test_ramps_rise(checked, rate):
    def report(value):
        parts = broken([branch([0, 1], ramps(0, 1))], p=2, b0_l0_start=[0.0, 0.0], b0_l0_rate=[1.0, value])
        return checked(*parts, (LEAF, [c.Leaf()]))

    assert report(rate).status == "refused" and "does not rise" in report(rate).reason
    assert report(5e-324).status == "certified"


@pytest.mark.parametrize(
    ("features", "encoder"),
    [
        ([number("x"), number("e.0")], [branch([0], kinks(1, 1)), branch([1])]),
        ([number("x"), category("e.0", "a")], [branch([0], kinks(1, 1)), branch([1])]),
        ([number("x"), category("c", "a", columns=["e.0"])], [branch([0], kinks(1, 1)), branch([1])]),
        ([number("x"), number("y")], [branch([0], kinks(1, 1)), branch([1], kinks(1, 1))]),
        ([number("x"), number("y")], [branch([0], kinks(1, 1), name="y"), branch([1])]),
    ],
)
def test_names_that_clash(checked, features, encoder):
    claim, proof = single(), (LEAF, [c.Leaf()])
    report = checked(net_of(features, encoder), tensors_of(2), claim, [[1.0, 1.0]], proof)
    assert report.status == "refused" and "name" in report.reason
    apart = [b | {"name": f"f{i}"} for i, b in enumerate(encoder)]
    assert checked(net_of(features, apart), tensors_of(2), claim, [[1.0, 1.0]], proof).status == "certified"


def test_a_name_that_does_not_pass_clashes_with_nothing(checked):
    features = [number("x"), number("e.0")]
    report = checked(net_of(features, [branch([0], kinks(1, 1))]), tensors_of(1), single(), [[1.0, 1.0]], SWEEP)
    assert report.status == "certified"


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"b0_l0_weight": [[2.0**999]], "b0_l0_bias": [0.0]}, "certified"),
        ({"b0_l0_weight": [[2.0**1000]], "b0_l0_bias": [0.0]}, "refused"),
        ({"b0_l0_weight": [[2.0**999]], "b0_l0_bias": [2.0**999]}, "refused"),
        ({"b0_l0_weight": [[2.0**999]], "b0_l0_bias": [-(2.0**999)]}, "refused"),
        ({"box": (-(2.0**1000), 1.0)}, "refused"),
        ({"box": (-1.0, 2.0**999)}, "unknown"),  # nothing overflows, but the margin counts the box
        ({"box": (-1.0, 2.0**1000)}, "refused"),
    ],
)
def test_overflow(checked, changes, status):
    tensors = tensors_of(1, slope=[2.0**-900], **({"b0_l0_weight": [[1.0]], "b0_l0_bias": [0.0]} | changes))
    net = net_of([number()], [branch([0], linear(1, 1))])
    report = checked(net, tensors, single(rhs=10**40), [[1.0]], SWEEP)
    assert report.status == status, report.reason


@pytest.mark.parametrize(
    ("start", "rate", "status"),
    [
        (-(2.0**999), 1.0, "certified"),
        (-(2.0**999), 2.0, "refused"),
        (-(2.0**1000), 2.0**-10, "refused"),
        (-math.nextafter(math.inf, 0), 5e-324, "refused"),
        (0.0, 2.0**999, "certified"),
        (0.0, 2.0**1000, "refused"),
    ],
)
def test_ramps_that_could_overflow(checked, start, rate, status):
    """y − start could be infinite, and infinity times a rate that is flushed to zero is not a number."""
    net = net_of([number()], [branch([0], ramps(0))])
    report = checked(net, tensors_of(1, b0_l0_start=[start], b0_l0_rate=[rate]), single(), [[1.0]], SWEEP)
    assert report.status == status and ("overflow" in report.reason) == (status == "refused")


def test_unread_inputs_must_not_overflow_either(checked):
    net = net_of([number(), number("y", lo=-(2.0**1000))], [branch([0])])
    assert checked(net, tensors_of(1), single(), [[1.0, 0.0]], SWEEP).status == "refused"


def test_model_units_must_stay_below_the_limit_with_their_error(checked):
    net = net_of([number(hi=math.nextafter(2.0**999, 0), mult=2.0)], [branch([0], pinned(1))])
    assert "overflow" in checked(net, tensors_of(1), single(), [[1.0]], SWEEP).reason
    smaller = net_of([number(hi=2.0**998, mult=2.0)], [branch([0], pinned(1))])
    assert checked(smaller, tensors_of(1), single(), [[1.0]], SWEEP).status == "certified"


@pytest.mark.parametrize(("size", "status"), [(2.0**997, "certified"), (2.0**999, "refused")])
def test_a_pool_sums_before_it_divides(checked, size, status):
    features = [number(name, hi=size) for name in "xyzt"]
    net = net_of(features, [branch(range(4), {"kind": "pool", "side": 2, "block": 2})])
    assert checked(net, tensors_of(1), single(), [[0.0] * 4], SWEEP).status == status


def test_distances_that_could_overflow(checked):
    net = net_of([number(hi=2.0**998)], [branch([0], distance(1, 1))])
    huge = 2.0**1000
    cases = ((2.0**997, 0.0, "certified"), (huge, 0.0, "refused"), (0.0, huge, "refused"), (0.0, -huge, "refused"))
    for weight, bias, status in cases:
        tensors = tensors_of(1, b0_l0_weight=[[weight]], b0_l0_bias=[bias])
        assert checked(net, tensors, single(), [[1.0]], SWEEP).status == status


@pytest.mark.parametrize(("depth", "status"), [(64, "certified"), (65, "refused")])
def test_a_branch_has_64_layers_at_most(checked, depth, status):
    net = net_of([number()], [branch([0], *[kinks(1, 1)] * depth)])
    assert checked(net, tensors_of(1), single(), [[1.0]], SWEEP).status == status


def test_layers_that_need_ever_longer_numbers_are_refused(checked):
    depth = 64
    net = net_of([number()], [branch([0], *[linear(1, 1)] * depth)])
    layers = {f"b0_l{i}_weight": [[0.1 * 2.0**-500]] for i in range(depth)}
    layers |= {f"b0_l{i}_bias": [0.0] for i in range(depth)}
    report = checked(net, tensors_of(1, **layers), single(), [[1.0]], SWEEP)
    assert report.status == "refused" and "8192 bits" in report.reason


# ---- the hash -------------------------------------------------------------------------------------------------------


def test_a_pinned_module_may_be_exchanged_and_nothing_else(forge2, tmp_path):
    """Its tensors are not hashed: the box alone is used. What describes it is, and every other tensor."""
    net = net_of([number()], [branch([0], linear(1, 1), pinned(1, {"kind": "any"}))])
    tensors = tensors_of(1, box=(-1.0, 1.0), b0_l0_weight=[[1.0]], b0_l0_bias=[0.0])
    prefix, claim = "encoder.branches.0.layers.1.module.", pair()
    count = itertools.count()

    def report(weights, described=net, stored=tensors):
        folder = tmp_path / str(next(count))
        made = files(net, tensors | {prefix + "0.weight": [1.0]}, claim, [[0.5]] * 2, SWEEP)
        made = forge2.as_version_2(made)
        made["weights.safetensors"] = packed(stored | weights)
        made["model.json"] = json.dumps({"net": described}).encode()
        return check_folder(forge2.put(folder, made))

    for weights in ({}, {prefix + "0.weight": [1.0]}, {prefix + "other": [[2.0, 3.0]]}):
        assert report(weights).status == "certified"
    other = json.loads(json.dumps(net))
    other["encoder"][0]["layers"][1]["module"] = {}
    for changed in (
        report({}, described=other),
        report({}, stored=tensors | {"encoder.hi": [1.5]}),
        report({}, stored=tensors | {"encoder.branches.0.layers.0.bias": [0.5]}),
    ):
        assert changed.status == "refused" and "another network" in changed.reason
    assert "exactly the tensors" in report({"encoder.branches.0.layers.0.module.w": [1.0]}).reason
    assert "exactly the tensors" in report({"encoder.branches.0.layers.1.modules": [1.0]}).reason


# ---- soundness, by sampling -----------------------------------------------------------------------------------------


class Step(nn.Module):
    """A pinned module that jumps, and returns infinities."""

    def __init__(self, j):
        super().__init__()
        self.j = j

    def forward(self, y):
        wild = torch.where(y.sum(dim=1, keepdim=True) > 0.3, y.sum(dim=1, keepdim=True) * 1e300 * 1e300, -y[:, :1])
        return wild.expand(-1, self.j)


class Adversary(nn.Module):
    """A backbone that returns one row for every input."""

    def __init__(self, z):
        super().__init__()
        self.z = torch.as_tensor(z, dtype=torch.float64)

    def forward(self, u):
        return self.z.expand(len(u), -1)


def random_layers(rng, width):
    """One to four layers for `width` numbers."""
    layers, first, side = [], 0, math.isqrt(width)
    for _ in range(int(rng.integers(1, 5))):
        kinds = ["linear", "kinks", "ramps", "distance"] + (["pool"] if side * side == width else [])
        kind, j = str(rng.choice(kinds)), int(rng.choice([1, 2, 3, 4]))
        if kind == "linear":
            base = first if layers and rng.random() < 0.5 else 0
            signs = np.sign(rng.normal(size=(j, 1))) * np.ones(width + base) if rng.random() < 0.5 else None
            layer = Linear(width, j, base=base, signs=signs)
        elif kind == "kinks":
            layer = Kinks(width, int(rng.integers(0, width + 1)))
        elif kind == "ramps":
            source = [int(i) for i in rng.integers(0, width, size=j)]
            layer = Ramps(source, rng.normal(size=j), np.exp(rng.normal(size=j)))
        elif kind == "distance":
            layer = Distance(width, j)
        else:
            layer = Pool(side, int(rng.choice([b for b in (1, 2) if side % b == 0])))
        with torch.no_grad():
            for name, tensor in layer.named_parameters():
                if name == "bias" or rng.random() < 0.3:
                    tensor += torch.tensor(rng.normal(size=tuple(tensor.shape)) * 0.3)
                if rng.random() < 0.2:
                    tensor *= torch.tensor((rng.random(tuple(tensor.shape)) < 0.7) * 10.0 ** rng.uniform(-3, 3))
        layers.append(layer)
        width, side = layer.outputs, math.isqrt(layer.outputs)
        first = first or layer.outputs
    if rng.random() < 0.25:
        layers.append(Pinned(Step(2), 2))
    return layers


def random_encoder(rng, domain):
    """Branches of all kinds; the box cuts some of what they return."""
    branches = []
    for span in domain.slices.values():
        if rng.random() < 0.4:
            branches.append(Branch("", range(span.start, span.stop)))
    for b in range(int(rng.integers(0 if branches else 1, 3))):
        columns = rng.permutation(domain.size)[: int(rng.integers(1, domain.size + 1))]
        branches.append(Branch(f"e{b}", columns, random_layers(rng, len(columns))))
    encoder = Encoder(domain, [branches[i] for i in rng.permutation(len(branches))])
    encoder.eval()
    u = torch.tensor(domain.scale(domain.sample(20, rng)))
    low, high = encoder(u).amin(dim=0), encoder(u).amax(dim=0)
    room = torch.tensor(rng.normal(size=encoder.size) * 0.5) * (high - low) + 2.0**-8
    encoder.lo.copy_(torch.minimum(low - room, high).clamp(-1e6, 1e6))
    encoder.hi.copy_(torch.maximum(high + room, encoder.lo).clamp(-1e6, 1e6))
    return encoder


def random_net(rng, domain):
    encoder = random_encoder(rng, domain)
    boxes, auxiliaries = (
        str(rng.choice(["gap", "gap", "paper"])),
        str(rng.choice(["constant", "affine", "relu", "relu"])),
    )
    n = int(rng.integers(1, 3))
    net = SmileNet(
        domain,
        MLP(domain.size, (2,), n),
        n,
        auxiliaries=auxiliaries,
        hidden=3,
        boxes=boxes,
        encoder=encoder,
        skip=bool(rng.random() < 0.5),
        output_scale=float(rng.choice([1.0, 8.0])),
    )
    net.set_profile(str(rng.choice(["f64-aux", "fixed-order"])))
    with torch.no_grad():
        for tensor in (*net.lower.parameters(), *net.second.parameters(), net.head_bias):
            tensor += torch.tensor(rng.normal(size=tuple(tensor.shape)) * 0.5)
        if boxes == "gap" and rng.random() < 0.4:
            net.gap.scale_(0.0)
    net.project_()
    return net.eval()


def tuples_of(rng, claim, domain, witness, n=25):
    """Tuples [B, k, m] that satisfy the premise exactly, neighbours in the floats and signed zeros among them."""
    region = Region.of(prepared(claim, domain))
    k, m = region.lo.shape
    top = np.maximum(region.lo, region.hi)
    u = np.concatenate([rng.uniform(region.lo, top, size=(n, k, m)), region.argmax(rng.normal(size=(n, k, m)))])
    near = domain.scale(witness) + rng.normal(size=(n, k, m)) * 10.0 ** rng.uniform(-6, 0, size=(n, 1, 1))
    u = region.snap(np.concatenate([u, np.clip(near, region.lo, top)]))
    x = np.concatenate([domain.unscale(u), np.repeat(witness[None], 3, axis=0)])
    equal = prepared(claim, domain).pinned
    x = np.where(equal, x[:, :1], x)
    close = np.where(domain.integral, x, x[:, :1])  # all copies at the same point, then neighbours of each other
    moved = np.concatenate([x, close, close])
    step = np.nextafter(moved, moved + rng.choice([-1.0, 0.0, 1.0], size=moved.shape))
    moved = np.concatenate([moved, np.where(domain.integral | equal, moved, step)])
    moved = np.where((moved == 0) & (rng.random(moved.shape) < 0.5), -0.0, moved)
    moved = moved[rng.permutation(len(moved))[: 4 * n]]
    return np.array([t for t in moved if holds_exactly(claim, domain, t)])


def encoded_by(net, x, batch):
    """e as the deployed network computes it for raw inputs [B, m]."""
    with torch.no_grad():
        return np.concatenate(
            [net.encode(net.scale(torch.as_tensor(x[i : i + batch]))).numpy() for i in range(0, len(x), batch)]
        )


def in_premise(premise, e):
    """Whether computed e [k, p] satisfies the premise on e; coordinates that pass are given in raw units."""
    k = premise.copies
    for at in range(len(premise.pinned)):
        values = [F(float(e[copy][at])) for copy in range(k)]
        if not all(premise.lo[copy][at] <= values[copy] <= premise.hi[copy][at] for copy in range(k)):
            return False
        if premise.pinned[at] and len(set(values)) > 1:
            return False
        if k == 2 and not premise.strip_lo[at] <= values[0] - values[1] <= premise.strip_hi[at]:
            return False
    for extra in premise.extra:
        value = sum((a * F(float(e[copy][at])) for (copy, at), a in extra.coef.items()), F(0))
        if value > extra.rhs or (extra.equality and value != extra.rhs):
            return False
    return True


def random_case(rng, folders, *, copies=None):
    domain = folders.random_domain(rng)
    net = random_net(rng, domain)
    claim, witness = folders.random_claim(rng, net, copies=copies, rhs=10**6)
    through = {domain.coordinates[i] for b in net.encoder.branches if not len(b.layers) for i in b.columns}
    then = tuple(
        row([(t.coef, t.copy, t.kind, t.name) for t in r.terms if t.kind == "out" or t.name in through], r.rhs, r.op)
        for r in claim.then
    )
    return net, Claim(claim.copies, claim.when, then, claim.others, claim.equal, claim.free, ""), witness


def saved(forge2, folder, net, proofs):
    """Write a network and its certificate."""
    model = {"weights.safetensors": dump_weights(net), "model.json": json.dumps({"net": net.describe()}).encode()}
    return forge2.put(folder, forge2.as_version_2(model | c.dump("", proofs, net.profile)))


FEW, MANY = 12, 100
BLOCKS = [(0, FEW), pytest.param(FEW, FEW + MANY, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("first", "last"), BLOCKS)
def test_what_is_computed_satisfies_the_premise_on_e(folders, forge2, tmp_path, first, last):
    seen = moved = same = 0
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        torch.manual_seed(seed)
        net, claim, witness = random_case(rng, folders)
        proof = c.ClaimProof(claim.to_json(), witness.tolist(), [c.SweepProof()] * len(claim.rows))
        folder = reader.read_folder(saved(forge2, tmp_path / str(seed), net, [proof]))
        premise = exact_encoder.encoded(folder.net, exact_premise.ground(folder.entries[0].claim, folder.net.domain))
        x = tuples_of(rng, claim, net.domain, witness)
        k, p = claim.copies, net.encoder.size
        e = np.stack([encoded_by(net, x[:, copy], int(rng.choice([1, 7, 4096]))) for copy in range(k)], axis=1)
        for i, at in folder.net.passed.items():
            assert (e[:, :, at] == net.scale(torch.as_tensor(x))[:, :, i].numpy()).all()
            e[:, :, at] = x[:, :, i]
        assert e.shape == (len(x), k, p)
        for one in e:
            assert in_premise(premise, one), seed
            seen += 1
            moved += k == 2 and bool((one[0] != one[1]).any())
        same += sum(premise.pinned)
    assert seen > 20 * (last - first) and moved > 5 * (last - first) and same > 0


def random_leaf(rng, net, premise, inequality_count):
    """A leaf with random slopes per row of the conclusion."""
    k, n, h = premise.copies, net.embedding, net.lower.hidden + net.second.hidden
    units = tuple(range(h))
    out = []
    for _ in range(inequality_count):
        tau = tuple(int(v) for v in rng.integers(0, 4, size=k * n)) if net.boxes == "paper" else ()
        slopes = tuple(int(v) for v in rng.integers(-3, 4, size=k * h))
        nu = tuple(int(v) for v in rng.integers(0, 2, size=len(premise.extra)))
        out.append(c.LeafProof(2, units, (c.Leaf(tau, slopes, nu),)))
    return out


@pytest.mark.parametrize(("first", "last"), BLOCKS)
def test_no_deployed_left_side_exceeds_bound_and_margin(folders, forge2, tmp_path, first, last):
    tried = rules = 0
    for seed in range(1000 + first, 1000 + last):
        rng = np.random.default_rng(seed)
        torch.manual_seed(seed)
        net, claim, witness = random_case(rng, folders)
        blank = c.ClaimProof(claim.to_json(), witness.tolist(), [c.SweepProof()] * len(claim.rows))
        folder = reader.read_folder(saved(forge2, tmp_path / str(seed), net, [blank]))
        premise = exact_encoder.encoded(folder.net, exact_premise.ground(folder.entries[0].claim, folder.net.domain))
        reports = []
        leaves = random_leaf(rng, net, premise, len(claim.rows))
        orders: list[c.RowProof] = [c.OrderProof()] * len(claim.rows)
        for proofs in (leaves, [c.SweepProof()] * len(claim.rows), orders):
            proof = c.ClaimProof(claim.to_json(), witness.tolist(), proofs)
            report = check_folder(saved(forge2, tmp_path / str(seed), net, [proof]))
            assert proofs is not leaves or report.status != "refused", report.reason
            reports += [report] if report.status != "refused" else []
        rules += len(reports) - 1
        x = tuples_of(rng, claim, net.domain, witness, n=10)
        head = net.effective_head()[0].detach().numpy()
        for r, inequality in enumerate(claim.rows):
            sides = [F(0)] * len(x)
            for copy in range(claim.copies):
                a = sum((t.coef for t in inequality.terms if t.kind == "out" and t.copy == copy), F(0))
                before, net.backbone = net.backbone, Adversary(np.where(float(a) * head[0] > 0, 1e300, -np.inf))
                f = net.predict(x[:, copy], batch=int(rng.choice([1, 5, 4096])))[:, 0]
                net.backbone = before
                for i, value in enumerate(f):
                    sides[i] += a * F(float(value))
                    for t in inequality.terms:
                        if t.kind == "in" and t.copy == copy:
                            sides[i] += t.coef * F(float(x[i, copy, net.domain.indices(t.name)[0]]))
            for report in reports:
                found = report.claims[0].rows[r]
                assert max(sides) <= found.bound + found.margin, (seed, found.rule)
                tried += 1
    assert tried >= last - first and rules > 0  # the sweep rule, for one


# ---- what the provers write -----------------------------------------------------------------------------------------


def table():
    return Domain(
        (
            Feature("income", "continuous", 0.0, 9.0, shift=4.1, mult=0.47),
            Feature("age", "integer", 18.0, 60.0, shift=40.3, mult=0.11),
            Feature("race", "category", categories=("a", "b", "c")),
        )
    )


def simple(encoder, slopes, *, gap=0.0, profile="f64-aux"):
    domain = encoder.domain
    net = SmileNet(domain, MLP(domain.size, (4,), 1), 1, encoder=encoder, auxiliaries="affine", output_scale=4.0)
    net.gap.scale_(0.0)
    net.set_profile(profile)
    with torch.no_grad():
        net.lower.slope.copy_(torch.tensor([slopes]))
        net.gap.const.fill_(gap)
        net.head_weight.fill_(1.0)
    return net.eval()


def emitted(forge2, folder, net, claims):
    proofs = [emit(problem, time_limit=10).proof for problem in build_all(tuple(claims), net.snapshot())]
    return check_folder(saved(forge2, folder, net, proofs))


def test_emitted_proofs_are_accepted(forge2, tmp_path):
    domain = table()
    torch.manual_seed(0)
    u = domain.scale(domain.sample(200, np.random.default_rng(0)))
    core = monotone_encoder(domain, u, increasing=["income"], units=(4, 3), ramps=3, members=2)
    core.fit_box_(torch.tensor(u))
    rising = Monotone(increasing=["income"]).lower(domain)
    report = emitted(forge2, tmp_path / "a", simple(core, [0.5, 0.5], profile="fixed-order"), rising)
    assert report.status == "certified" and [r.rule for r in report.claims[0].rows] == ["order"]
    module = nn.Sequential(nn.Linear(2, 8), nn.GELU(), nn.Linear(8, 1))
    fixed = Encoder(domain, [Branch("core", [0, 1], [Pinned(module, 1)])])
    fixed.fit_box_(torch.tensor(u))
    net = simple(fixed, [1.0], gap=0.1)
    assert emitted(forge2, tmp_path / "b", net, Fair(["race"], 0.4001).lower(domain)).status == "certified"
    assert emitted(forge2, tmp_path / "c", net, Fair(["race"], 0.3999).lower(domain)).status == "unknown"
    box = Domain.box([0.0] * 16, [1.0] * 16)
    far = Encoder(box, [Branch("far", range(16), [Pool(4, 2), Distance(4, 3), Distance(3, 2)])])
    for epsilon, status in ((0.4001, "certified"), (0.399, "unknown")):
        net = simple(far, [1.0, -1.0])
        assert emitted(forge2, tmp_path / f"d{status}", net, Robust(0.05, epsilon).lower(box)).status == status
    rest = monotone_encoder(domain, u, without=["income"], units=(3,), ramps=3)
    both = Encoder(domain, [Branch("", [0]), *rest.branches])
    slope = 0.3 * 0.47 * 4.0
    for factor in (1.001, 0.99):  # tight on the diagonal: proved up to the margin
        claims = Lipschitz(["income"], slope * factor).lower(domain)
        report = emitted(forge2, tmp_path / f"e{factor}", simple(both, [0.3, 1.0]), claims)
        assert report.status == "unknown" and report.excess is not None
        assert (report.excess < 1e-6) == (factor > 1)


def test_a_report_describes_the_inputs(checked):
    net = net_of([number(unit="m"), number("y")], [branch([0, 1], linear(2, 1))])
    report = checked(net, tensors_of(1, **GOOD), single(), [[0.5, 0.5]], SWEEP)
    assert report.domain == ('"x": 0 to 1 "m"', '"y": 0 to 1')


def test_scaler_of_what_passes(checked):
    """e_u of a passing coordinate enters the margin as it does without an encoder."""
    features = [number(shift=0.3, mult=7.0)]
    plain = net_of(features, [branch([0])])
    slow = exact_model.scaler(
        exact_net.read_domain(strict.parse_json(json.dumps(plain["domain"]).encode(), "domain"))[0]
    )[1][0]
    assert slow > 0
    found = only(checked(plain, tensors_of(1), single(), [[0.5]], SWEEP))
    assert found.margin > slow and found.bound == 7 * (1 - F(0.3))
