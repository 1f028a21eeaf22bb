"""Entries of the corpus that were found by planting faults: small things that a careless checker would not notice.

`details(m)` and `limits(m)` take the module make_corpus.py, whose networks and forgeries they use.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator
from fractions import Fraction as F
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smilenn.certify import certificate as c
from smilenn.certify.reference import check as check_reference
from smilenn.domain import Domain, Feature
from smilenn.properties.claim import Claim, Inequality, Term, row
from smilenn.properties.premise import holds_exactly

Entry = tuple[str, str, dict[str, bytes]]
LEAF = c.Leaf()
POINT = [[0.5, 0.5]] * 2


def judged(m: Any, name: str, why: str, files: dict[str, bytes]) -> Entry:
    """An entry that is refused for `why` if the reference checker refuses it."""
    with tempfile.TemporaryDirectory() as place:
        m.put(Path(place) / "m", files)
        good = check_reference.check_folder(Path(place) / "m").status != "refused"
    return name, "" if good else why, files


def inputs(*terms: tuple[Any, int, str], rhs: Any, op: Any = "<=") -> Inequality:
    """A row over inputs, its terms as they are written: not merged, not sorted, zeros kept."""
    return Inequality(tuple(Term(F(a), copy, "in", name) for a, copy, name in terms), F(rhs), op)


def details(m: Any) -> Iterator[Entry]:
    """Everything that is not about a profile."""
    for part in (_files, _claims, _witnesses, _mirrors, _outputs, _trees, _slopes, _domains):
        yield from part(m)


def _bent(m: Any, domain: Domain | None = None) -> Any:
    """Two units over x and y."""
    return m.plain(domain or m.box("x", "y"), [[1.0, 1.0], [-2.0, 1.0]], [-0.5, 0.25], [1.0, -3.0], [0.5, 0.25])


def _strip(m: Any) -> Claim:
    return Claim(2, (m.less("x", F(1, 4)), m.more("x", F(1, 3))), (m.difference(9),))


def _files(m: Any) -> Iterator[Entry]:
    files = m.made(_bent(m), _strip(m), POINT, m.root(3, (0, 1), 4, -20, -5, 21))
    header, data = m.forge.unpacked(files["weights.safetensors"])
    order = sorted((n for n in header if n != "__metadata__"), key=lambda n: header[n]["data_offsets"])
    one, two = next((a, b) for a, b in pairwise(order) if not a.startswith("backbone."))
    (start, stop), (_, end) = header[one]["data_offsets"], header[two]["data_offsets"]
    short = {
        one: header[one] | {"data_offsets": [start, stop - 8]},
        two: header[two] | {"data_offsets": [stop - 8, end]},
    }
    weights = m.forge.safetensors(header | short, data)
    yield "weights-shorter-than-its-shape", "weights", files | {"weights.safetensors": weights}
    weights = files["weights.safetensors"][:7] + b"\1" + files["weights.safetensors"][8:]
    yield "weights-length-of-eight-bytes", "unreadable", files | {"weights.safetensors": weights}


def _claims(m: Any) -> Iterator[Entry]:
    net, root = _bent(m), m.root
    near = [10**400 - 1, 10**400 - 2, 10**200 - 1]
    while math.gcd(near[2], near[0] * near[1]) > 1:
        near[2] -= 2
    for name, why, last in (("just-fit", "", near[2]), ("just-do-not-fit", "claim", 10 * near[2] + 1)):
        rows = tuple(row([(1, 0, "out", "")], F(d - 1, d)) for d in (*near[:2], last))
        yield f"denominators-{name}", why, m.made(net, Claim(1, (), rows), POINT[:1], *[root(3, (0, 1), 4, -20)] * 3)
    terms = [(F(1, d), 0, "out", "") for d in (10**399 + 1, 10**399 + 3, 10**399 + 7)]
    files = m.made(net, Claim(1, (), (row(terms, 9),)), POINT[:1], root(3, (0, 1), 4, -20))
    yield "denominators-of-terms", "claim", files
    # bounds and strips, written in every way
    looser, tighter = F(5, 4), F(3, 8)
    up = (inputs((3, 0, "x"), (-3, 1, "x"), rhs=tighter), inputs((5, 0, "x"), (-5, 1, "x"), rhs=looser))
    down = (inputs((-3, 0, "x"), (3, 1, "x"), rhs=tighter), inputs((-5, 0, "x"), (5, 1, "x"), rhs=looser))
    ways = {
        "bound-equal": (inputs((2, 0, "x"), rhs=1, op="=="),),
        "bound-equal-negative": (inputs((-2, 0, "x"), rhs=-1, op="=="),),
        "bound-negative": (inputs((-3, 1, "x"), rhs=-1),),
        "bound-twice": (inputs((3, 0, "x"), rhs=2), inputs((5, 0, "x"), rhs=4)),
        "bound-twice-looser-first": (inputs((5, 0, "x"), rhs=4), inputs((3, 0, "x"), rhs=2)),
        "lower-bound-twice": (inputs((-8, 0, "x"), rhs=-3), inputs((-8, 0, "x"), rhs=-1)),
        "strip-equal": (inputs((3, 0, "x"), (-3, 1, "x"), rhs=0, op="=="),),
        "strip-equal-negative": (inputs((-8, 0, "x"), (8, 1, "x"), rhs=-1, op="=="),),
        "strip-equal-positive": (inputs((8, 0, "x"), (-8, 1, "x"), rhs=1, op="=="),),
        "strip-turned": (
            inputs((-3, 1, "x"), (3, 0, "x"), rhs=tighter),
            inputs((3, 1, "x"), (-3, 0, "x"), rhs=F(3, 4)),
        ),
        "strip-twice": (*up, *down),
        "strip-twice-looser-first": (*up[::-1], *down[::-1]),
        "three-terms": (inputs((1, 0, "x"), (-2, 1, "x"), (1, 1, "y"), rhs=F(1, 2)),),
        "three-terms-turned": (inputs((1, 1, "y"), (-2, 1, "x"), (1, 0, "x"), rhs=F(1, 2)),),
        "four-terms": (inputs((1, 0, "x"), (-1, 1, "x"), (1, 0, "y"), (-1, 1, "y"), rhs=F(1, 2)),),
    }
    eighths = [v / 8 for v in (4, 5, 0, 3, 8, 16)]
    for (name, when), kind in product(ways.items(), ("continuous", "integer")):
        domain = Domain((Feature("x", kind, 0, 2), Feature("y", hi=2.0)))  # type: ignore[arg-type]
        claim = Claim(2, when, (m.difference(9),), "free")
        points = ([[p, q], [s, t]] for p, q, s, t in product(eighths, repeat=4))
        witness = next((x for x in points if holds_exactly(claim, domain, np.array(x))), None)
        if witness is not None:
            extra = (5,) * (len(when[0].terms) > 2)
            tree = c.LeafProof(3, (0, 1), (c.Leaf((), (4, -20, -5, 21), extra),))
            yield f"written-{name}-{kind}", "", m.made(_bent(m, domain), claim, witness, tree)
    for name, when, x in (("upper", inputs((3, 0, "x"), rhs=1), 0.25), ("lower", inputs((-3, 0, "x"), rhs=-1), 0.5)):
        claim = Claim(1, (when,), (row([(1, 0, "out", "")], 9),))
        yield f"written-third-{name}", "", m.made(net, claim, [[x, 0.5]], root(3, (0, 1), 4, -20))


def _witnesses(m: Any) -> Iterator[Entry]:
    net = _bent(m)
    equal = Claim(2, (inputs((1, 0, "x"), (1, 1, "y"), rhs=1, op="=="),), (m.difference(9),), "free")
    tree = c.LeafProof(3, (0, 1), (c.Leaf((), (4, -20, -5, 21), (-5,)),))
    for name, why, x in (("met", "", 0.25), ("below", "witness", 0.0), ("above", "witness", 0.5)):
        yield f"witness-equality-{name}", why, m.made(net, equal, [[x, 0.0], [0.0, 0.75]], tree)
    files = m.made(net, _strip(m), POINT, m.root(3, (0, 1), 4, -20, -5, 21))
    for name, witness in {
        "number": 3,
        "second-short": [[0.5, 0.5], [0.5]],
        "first-short": [[0.5], [0.5, 0.5]],
        "second-number": [[0.5, 0.5], 3],
        "second-above": [[0.875, 0.5], [1.0625, 0.5]],
        "first-above": [[1.0625, 0.5], [1.0, 0.5]],
        "first-below": [[-0.0625, 0.5], [0.0, 0.5]],
        "second-below": [[0.0, 0.5], [-0.0625, 0.5]],
        "pin": [[0.5, 0.5], [0.5, 0.25]],
    }.items():
        yield f"witness-of-two-{name}", "witness", m.forge.forged(files, entry={"witness": witness})


def _mirrors(m: Any) -> Iterator[Entry]:
    net, mirror, proof = _bent(m), c.MirrorProof(0), m.root(3, (0, 1), 4, -20, -5, 21)
    ends = tuple(row([(s, 0, "out", ""), (-s, 2, "out", "")], 9) for s in (1, -1))
    files = m.made(net, Claim(3, (), ends, "free"), [[0.5, 0.5]] * 3, m.EMPTY_TREE, mirror)
    yield "mirror-three-copies-turned", "rule", files
    turned = (m.difference(9), row([(-1, 0, "out", ""), (1, 1, "out", "")], 9))
    half = (m.less("x", F(1, 4)), m.more("x", F(1, 4)), m.less("y", F(1, 4)))
    yield "mirror-one-input-of-two", "rule", m.made(net, Claim(2, half, turned), POINT, proof, mirror)
    both = (*half, m.more("y", F(1, 4)))
    yield "mirror-two-inputs", "", m.made(net, Claim(2, both, turned), POINT, proof, mirror)


def _outputs(m: Any) -> Iterator[Entry]:
    rng = np.random.default_rng(3)
    for count, why in ((1, ""), (2, "claim")):
        net = m.folders.random_net(rng, m.box("x"), boxes="gap", auxiliaries="affine", outputs=count, embedding=2)
        files = m.made(net, Claim(1, (), (row([(1, 0, "out", "")], 99),)), [[0.5]], m.EMPTY_TREE)
        yield f"output-without-name-{count}", why, m.forge.forged(files, net={"outputs": ["y0", "y1"][:count]})
    rise = m.plain(m.box("x", "y"), [[1.0, -2.0]], [-0.5], [2.0], [1.0, 0.0])
    idle = inputs((1, 0, "x"), (-1, 0, "x"), (2, 1, "y"), (-2, 1, "y"), rhs=0).terms
    loose = Claim(2, (m.less("x"),), (Inequality((*m.difference().terms, *idle), F(0)),))
    yield "order-inputs-cancel", "", m.profiled(m.made(rise, loose, POINT, c.OrderProof()), "fixed-order")
    yield "slope-inputs-cancel", "", m.made(rise, loose, POINT, c.SlopeProof(0, (LEAF,)))
    pinned = Claim(
        2, (m.less("x"),), (row([(1, 0, "out", ""), (-1, 1, "out", ""), (1, 0, "in", "y"), (-1, 1, "in", "y")], 0),)
    )
    yield "order-inputs-pinned", "rule", m.profiled(m.made(rise, pinned, POINT, c.OrderProof()), "fixed-order")
    two = m.folders.random_net(
        rng, m.box("x"), boxes="gap", auxiliaries="relu", hidden=1, embedding=2, outputs=2, zero_gap=True
    )
    m.folders.give_signs(rng, two)
    first, second = two.outputs
    for a, b in ((1, 0), (0, 1), (1, 1), (-1, 1), (1, -1), (-1, -1), (-1, 0)):
        terms = [(s * w, k, "out", n) for n, w in ((first, a), (second, b)) for k, s in ((0, 1), (1, -1)) if w]
        for sense in (m.less, m.more):
            made = m.made(two, Claim(2, (sense("x"),), (row(terms, 0),)), [[0.5]] * 2, c.OrderProof())
            yield judged(m, f"order-of-two-{a}-{b}-{sense.__name__}", "rule", m.profiled(made, "fixed-order"))
    for sense in (m.less, m.more):
        terms = [(1, 0, "out", first), (-1, 1, "out", first), (1, 0, "out", second)]
        made = m.made(two, Claim(2, (sense("x"),), (row(terms, 0),)), [[0.5]] * 2, c.OrderProof())
        yield f"order-unequal-in-one-{sense.__name__}", "rule", m.profiled(made, "fixed-order")


def _trees(m: Any) -> Iterator[Entry]:
    net, claim, proof = _bent(m), _strip(m), m.root(3, (0, 1), 4, -20, -5, 21)
    files = m.made(net, claim, POINT, proof)
    for node, sizes in ((c.Phase(0, 0), (1, 2, 3)), (c.Input(0, 0, 0.5), (1, 3, 4, 5, 11)), (c.Group(0, 0), (2, 3))):
        for size in sizes:
            name = f"tree-cut-{type(node).__name__.lower()}-{size}"
            yield name, "tree", m.forge.forged(files, binary=m.forge.packed((node,))[:size], rows=[{"length": size}])
    cut = m.forge.forged(files, binary=m.forge.packed(proof.nodes)[:-1], rows=[{"length": 16}])
    yield "tree-leaf-cut", "tree", cut
    yield (
        "flip-without-paper",
        "tree",
        m.made(net, claim, POINT, c.LeafProof(3, (0, 1), (c.Flip(0, 0), *proof.nodes * 2))),
    )
    paper = m.folders.random_net(
        np.random.default_rng(4), m.box("x", "y"), boxes="paper", auxiliaries="relu", hidden=2, embedding=2, outputs=1
    )
    m.folders.shorten(paper, 1)
    leaf = c.Leaf((2**30, -(2**29), 2**31 - 1, 5), (2**30, 7, -(2**31), 2**29))
    fine, out = c.LeafProof(40, (0, 2), (c.Flip(0, 1), leaf, leaf)), paper.outputs[0]
    yield (
        "slopes-finer-than-weights",
        "",
        m.made(paper, Claim(2, (m.less("x"),), (m.difference(99, out),)), POINT, fine),
    )
    # units, coordinates and groups beyond 255
    one = (row([(1, 0, "out", "")], 99),)
    many = m.plain(m.box("x"), [[1 + j / 256] for j in range(300)], [-0.5] * 300, [1 - j / 200 for j in range(300)])
    leaves = [c.Leaf((), (1, 2)), c.Leaf((), (3, -1)), c.Leaf((), (0, 4))]
    tree = c.LeafProof(2, (3, 259), (c.Phase(0, 0), c.Phase(0, 259), *leaves))
    yield "units-beyond-255", "", m.made(many, Claim(1, (), one), [[0.5]], tree)
    lonely = [Feature(f"g{i}", "category", categories=("a",)) for i in range(257)]
    last = Feature("last", "category", categories=("u", "v", "w"))
    wide = Domain((*lonely, last, Feature("x"), Feature("y")))
    weight = [[(i % 7 - 3) / 4 for i in range(wide.size)]]
    net = m.plain(wide, weight, [0.5], [1.0], [(i % 5 - 2) / 8 for i in range(wide.size)])
    leaf = [c.Leaf((), (t,)) for t in (1, 2, 3, 4)]
    nodes = (c.Group(0, 257), leaf[0], c.Input(0, 260, 0.5), leaf[1], leaf[2], c.Group(0, 3), leaf[3])
    place = [1.0] * 257 + [0.0, 1.0, 0.0, 0.25, 0.75]
    yield "groups-beyond-255", "", m.made(net, Claim(1, (), one), [place], c.LeafProof(2, (0,), nodes))
    # an input that is split only after some leaves were visited
    late = (c.Input(0, 0, 0.5), c.Leaf((), (4, -20)), c.Input(0, 1, 0.25), c.Leaf((), (5, 1)), c.Leaf((), (9, -24)))
    early = (c.Input(0, 1, 0.25), c.Input(0, 0, 0.5), *late[1::2], late[4])
    for name, nodes in (("late", late), ("early", early)):
        yield f"split-{name}", "", m.made(_bent(m), Claim(1, (), one), POINT[:1], c.LeafProof(3, (0, 1), nodes))


def _slopes(m: Any) -> Iterator[Entry]:
    rng, rising = np.random.default_rng(3), Claim(2, (m.less("x"),), (m.difference(),))
    flat = m.folders.random_net(rng, m.box("x"), boxes="paper", auxiliaries="relu", hidden=1, embedding=1, outputs=1)
    with torch.no_grad():
        for parameter in flat.second.parameters():
            parameter.zero_()
    up = Claim(2, (m.less("x"),), (m.difference(0, flat.outputs[0]),))
    yield "slope-paper-of-zeros", "rule", m.made(flat, up, [[0.5]] * 2, c.SlopeProof(0, (LEAF,)))
    yield "order-paper-of-zeros", "rule", m.profiled(m.made(flat, up, [[0.5]] * 2, c.OrderProof()), "fixed-order")
    ends = [[-1.0, 0.0], [1.0, 0.0]]
    for name, when in (("upper", row([(1, 0, "in", "x")], F(-3, 4))), ("lower", row([(-1, 1, "in", "x")], F(-3, 4)))):
        for sign in (1.0, -1.0):
            bend = m.plain(m.box("x", "y", lo=-1.0), [[1.0, 0.0]], [0.0], [-2.0 * sign], [sign, 0.0])
            claim = Claim(2, (m.less("x"), when), (m.difference(),))
            yield f"hull-of-both-{name}-{sign:g}", "slope", m.made(bend, claim, ends, c.SlopeProof(0, (LEAF,)))
    steep = m.plain(m.box("x", "y", lo=-1.0), [[1.0, 1.0], [0.5, -1.0]], [2.5, 2.0], [1.0, 2.0], [-1.5, 0.0])
    one, two = c.Phase(255, 0), c.Phase(255, 1)
    for name, why, tree in (
        ("first", "", (one, c.Empty((1,)), LEAF)),
        ("second", "", (two, c.Empty((3,)), LEAF)),
        ("both", "", (one, two, c.Empty((2, 0)), c.Empty((1, 0)), two, c.Empty((0, 5)), LEAF)),
        ("not", "slope", (one, LEAF, c.Empty((1,)))),
        ("none", "slope", (one, c.Empty((0,)), LEAF)),
    ):
        yield f"empty-below-zero-{name}", why, m.made(steep, rising, [[0.0, 0.0]] * 2, c.SlopeProof(3, tree))


def _domains(m: Any) -> Iterator[Entry]:
    letters = Feature("r", "category", categories=("u", "v"))
    group = m.plain(Domain((letters, Feature("x"))), [[1.0, 2.0, 1.0]], [0.0], [1.0])
    files = m.made(group, Claim(2, (), (m.difference(9),), "free"), [[1.0, 0.0, 0.5]] * 2, m.root(0, (0,), 1, -1))
    r, x = json.loads(files["model.json"])["net"]["domain"]["features"]

    def with_features(*features: Any, **more: Any) -> dict[str, bytes]:
        return m.forge.forged(files, net={"domain": {"features": list(features)}}, **more)

    full = r | {"columns": ["a", "b"], "shift": 0.0, "mult": 1.0, "unit": "letters"}
    yield "feature-with-all-keys", "", with_features(full, x)
    yield "feature-list-of-keys", "domain", with_features(r, ["name", "kind", "lo", "hi"])
    binary = x | {"kind": "binary", "categories": ["no", "yes"]}
    yield "feature-binary-with-values", "", with_features(r, binary, entry={"witness": [[1.0, 0.0, 1.0]] * 2})
    yield "feature-binary-with-columns", "domain", with_features(r, binary | {"columns": ["c", "d"]})
    gap = m.folders.random_net(
        np.random.default_rng(6), m.box("x"), boxes="gap", auxiliaries="affine", embedding=2, outputs=1, zero_gap=False
    )
    files = m.made(gap, Claim(1, (), (row([(1, 0, "out", gap.outputs[0])], 9),)), [[0.1]], m.EMPTY_TREE)
    x = json.loads(files["model.json"])["net"]["domain"]["features"][0]
    for name, changes in (
        ("hi", {"hi": 0.1}),
        ("lo", {"lo": 0.1}),
        ("scaled", {"shift": 0.3, "mult": 0.7}),
        ("far", {"lo": -1e10 / 3, "hi": 7e9 / 3, "mult": 1e-9}),
    ):
        yield f"affine-gap-{name}", "", with_features(x | changes)


def limits(m: Any) -> Iterator[Entry]:
    """The profile without rounding: limits met, and missed by one."""
    single = m.plain(m.box("x"), [[1.0], [-2.0]], [-0.5, 0.75], [-3.0, 2.0], [1.0])
    tree = c.LeafProof(1, (0, 1), (c.Input(0, 0, 0.3), c.Leaf((), (4, 1, -2, 0)), c.Leaf((), (3, 0, -2, 1))))
    less, more, quarter, tiny = m.less, m.more, F(1, 4), F(1, 4096)
    for name, when, witness in (
        ("low-zero", (more("x"),), (0.5, 0.5)),
        ("low-zero-high", (more("x"), less("x", quarter)), (0.5, 0.5)),
        ("high-negative", (less("x", -quarter),), (0.25, 0.5)),
        ("low-positive", (more("x", -quarter),), (0.5, 0.25)),
        ("high-zero", (less("x"), more("x", quarter)), (0.5, 0.5)),
        ("tiny-negative", (less("x", -tiny),), (0.25, 0.5)),
        ("tiny-positive", (more("x", -tiny),), (0.5, 0.25)),
        ("both-signs", (less("x", F(1, 8)), more("x", F(1, 8))), (0.5, 0.5)),
    ):
        for rule, proof in (("leaf", tree), ("sweep", c.SweepProof())):
            files = m.made(single, Claim(2, when, (m.difference(9),)), [[v] for v in witness], proof)
            yield f"dyadic-{name}-{rule}", "", m.profiled(files, "dyadic", 9)
    line = m.made(single, Claim(2, (less("x", quarter),), (m.difference(9),)), [[1.0]] * 2, c.SweepProof())
    feature = json.loads(line["model.json"])["net"]["domain"]["features"][0]
    idle = {"lower.weight": [0.0, 0.0], "lower.slope": [0.0], "lower.bias": [0.0, 0.0], "lower.out": [0.0, 0.0]}
    whole = {"kind": "integer", "lo": 0.0}
    for name, why, grid, changes, tensors in (
        ("whole-shifted", "", 9, whole | {"hi": 4.0, "shift": 1.0}, {}),
        ("on-the-grid", "", 9, {"lo": 2.0**-9, "hi": 1 + 2.0**-9}, {}),
        ("negative", "", 9, {"lo": -4.0}, {}),
        ("negative-only", "profile", 40, {"lo": -(2.0**12)}, {}),
        ("positive-only", "profile", 40, {"hi": 2.0**12}, {}),
        ("at-2^500", "profile", 1, {"hi": 2.0**500}, {}),
        ("at-2^500-unused", "", 1, {"hi": 2.0**500}, idle),
        ("beyond-2^500-unused", "profile", 1, {"hi": 2.0**500 * (1 + 2.0**-50)}, idle),
        ("minus-2^500-unused", "", 1, {"lo": -(2.0**500)}, idle),
        ("beyond-minus-2^500-unused", "profile", 1, {"lo": -(2.0**501)}, idle),
        ("most-bits", "", 1, {}, idle | {"lower.const": [2.0**-500]}),
        ("minus-most-bits", "", 1, {}, idle | {"lower.const": [-(2.0**-500)]}),
        ("too-many-bits", "profile", 1, {}, idle | {"lower.const": [2.0**-501]}),
        ("exactly-2^53", "", 9, {}, idle | {"lower.bias": [2.0**53, 0.0]}),
        ("minus-2^53", "", 9, {}, idle | {"lower.bias": [-(2.0**53), 0.0]}),
        ("beyond-2^53", "profile", 9, {}, idle | {"lower.weight": [1.0, 0.0], "lower.bias": [2.0**53, 0.0]}),
        ("minus-beyond-2^53", "profile", 9, {}, idle | {"lower.weight": [1.0, 0.0], "lower.bias": [-(2.0**53), 0.0]}),
        (
            "whole-2^53",
            "",
            1,
            whole | {"hi": 2.0**51},
            idle | {"lower.weight": [1.0, 0.0], "lower.bias": [2.0**51, 0.0]},
        ),
    ):
        witness = [[0.0 if "kind" in changes else 1.0]] * 2
        domain = {"domain": {"features": [feature | changes]}}
        files = m.profiled(line, "dyadic", grid, net=domain, tensors=tensors, entry={"witness": witness})
        yield f"dyadic-limit-{name}", why, files
    for grid, wide in product(range(44, 52), (1.0, 3.0)):  # the scaler's error against half a step of the grid
        domain = {"domain": {"features": [feature | {"mult": 0.75, "shift": 0.5, "hi": wide}]}}
        files = m.profiled(line, "dyadic", grid, net=domain, tensors=idle)
        yield judged(m, f"dyadic-scaler-{grid}-{wide:g}", "profile", files)
    two = m.plain(m.box("x", "y"), [[1.0, -2.0]], [-0.5], [2.0], [1.0, 0.0])
    rows = Claim(2, (row([(1, 0, "in", "x"), (F(1, 3), 1, "in", "y")], 1),), (m.difference(9),), "free")
    files = m.made(two, rows, [[0.25, 0.25]] * 2, c.LeafProof(1, (0,), (c.Leaf((), (4, -2), (3,)),)))
    features = json.loads(files["model.json"])["net"]["domain"]["features"]
    step = [f | {"lo": 2.0**-9, "hi": 1 - 2.0**-9} for f in features]
    yield "dyadic-extra-on-the-grid", "", m.profiled(files, "dyadic", 9, net={"domain": {"features": step}})
    net = m.folders.random_net(
        np.random.default_rng(5),
        m.box("x", "y"),
        boxes="gap",
        auxiliaries="relu",
        hidden=2,
        embedding=2,
        outputs=2,
        zero_gap=True,
    )
    m.folders.shorten(net, 2)
    files = m.made(net, Claim(2, (less("x"),), (m.difference(9, net.outputs[0]),)), POINT, m.root(3, (0,), 4, -5))
    for name, why, scales in (
        ("one-small", "profile", [2.0**-401, 1.0]),
        ("one-large", "profile", [1.0, 2.0**401]),
        ("both", "", [2.0**-400, 2.0**400]),
    ):
        yield f"dyadic-scales-{name}", why, m.profiled(files, "dyadic", 5, net={"output_scale": scales})
    features = json.loads(files["model.json"])["net"]["domain"]["features"]
    for which, (name, grid, changes) in product(
        (0, 1), (("far", 5, {"hi": 2.0**501}), ("blurred", 40, {"shift": 1e9}))
    ):
        moved = {"domain": {"features": [f | changes if i == which else f for i, f in enumerate(features)]}}
        yield f"dyadic-one-{name}-{which}", "profile", m.profiled(files, "dyadic", grid, net=moved)
