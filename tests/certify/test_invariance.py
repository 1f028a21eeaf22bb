"""What does not change a network or a claim does not change a bound, and what makes a claim weaker makes it no larger.

Bounds of random certificates, compared exactly: hidden units and features in another order, factors of two moved from
one weight to the next, wider boxes and strips, larger right sides. The trees and slopes move along.
"""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from safetensors.numpy import load, save

from smilenn.certify import certificate as c
from smilenn.certify.check import check_folder
from smilenn.domain import Domain, Feature
from smilenn.model.bundle import MODEL, WEIGHTS
from smilenn.model.folder import dump_json
from smilenn.properties.claim import Claim, Inequality, row
from smilenn.properties.premise import holds_exactly

SEEDS = range(25)


def parts_of(folders, made):
    """Description, tensors, and proofs of a folder, free to be changed."""
    files = folders.files_of(made.net, made.proofs)
    return json.loads(files[MODEL])["net"], dict(load(files[WEIGHTS])), list(made.proofs)


def bounds(folders, folder, net, tensors, proofs):
    """(bound, margin) of every row, of the folder made of these parts."""
    raw = {name: np.ascontiguousarray(value).tobytes() for name, value in tensors.items() if "backbone." not in name}
    files = {WEIGHTS: save({n: np.ascontiguousarray(v) for n, v in tensors.items()}), MODEL: dump_json({"net": net})}
    folders.put(folder, files | c.dump(c.model_digest(net, raw), proofs, net["profile"]))
    report = check_folder(folder)
    assert report.status in ("certified", "unknown"), report.reason
    return [(r.bound, r.margin) for claim in report.claims for r in claim.rows]


def mapped(proofs, node, units=lambda proof: proof.units, slopes=lambda proof, leaf: leaf):
    """Every tree with its nodes changed by `node`, its leaves by `slopes` and the list of its units by `units`."""
    out = []
    for proof in proofs:
        rows = []
        for given in proof.rows:
            if isinstance(given, c.LeafProof | c.SlopeProof):
                nodes = tuple(slopes(given, n) if isinstance(n, c.Leaf) else node(n) for n in given.nodes)
                more = {"units": units(given)} if isinstance(given, c.LeafProof) else {}
                given = replace(given, nodes=nodes, **more)
            rows.append(given)
        out.append(replace(proof, rows=tuple(rows)))
    return out


@pytest.mark.parametrize("profile", ["f64-aux", "dyadic"])
def test_the_order_of_hidden_units_does_not_matter(folders, tmp_path, profile):
    seen = 0
    for seed in SEEDS:
        made = folders.random_folder(tmp_path / "m", seed, auxiliaries="relu", hidden=3, profile=profile)
        net, tensors, proofs = parts_of(folders, made)
        before = bounds(folders, tmp_path / "m", net, tensors, proofs)
        rng = np.random.default_rng(seed)
        orders = {part: rng.permutation(3) for part in ("lower", "second")}
        for part, order in orders.items():
            tensors[f"{part}.weight"] = tensors[f"{part}.weight"][order]
            tensors[f"{part}.bias"] = tensors[f"{part}.bias"][order]
            tensors[f"{part}.out"] = tensors[f"{part}.out"][:, order]
        place = {int(old): new for new, old in enumerate([*orders["lower"], *(orders["second"] + 3)])}

        def node(n, place=place):
            return replace(n, unit=place[n.unit]) if isinstance(n, c.Phase) else n

        def slopes(proof, leaf, place=place):
            if not leaf.units:
                return leaf
            order = np.argsort([place[j] for j in proof.units])
            return replace(
                leaf, units=tuple(int(v) for v in np.reshape(leaf.units, (-1, len(order)))[:, order].ravel())
            )

        moved = mapped(proofs, node, lambda p, place=place: tuple(sorted(place[j] for j in p.units)), slopes)
        assert bounds(folders, tmp_path / "m", net, tensors, moved) == before
        seen += any((order != np.arange(3)).any() for order in orders.values())
    assert seen > 15


def test_the_order_of_features_does_not_matter(folders, tmp_path):
    seen = 0
    for seed in SEEDS:
        made = folders.random_folder(tmp_path / "m", seed, size=3)
        net, tensors, proofs = parts_of(folders, made)
        before = bounds(folders, tmp_path / "m", net, tensors, proofs)
        domain, order = made.net.domain, np.random.default_rng(seed).permutation(3)
        spans = [list(domain.indices(f.name)) for f in domain.features]
        columns = [i for f in order for i in spans[f]]
        net["domain"]["features"] = [net["domain"]["features"][f] for f in order]
        for name, value in tensors.items():
            if name.split(".")[-1] in ("slope", "rise", "fall", "weight") and name.split(".")[0] in ("lower", "second"):
                tensors[name] = value[:, columns]
        place = {old: new for new, old in enumerate(columns)}
        groups = [tuple(group) for group in domain.groups]
        sorted_groups = sorted(groups, key=lambda g, place=place: place[g[0]])

        def node(n, place=place, groups=groups, moved=sorted_groups):
            if isinstance(n, c.Input):
                return replace(n, coordinate=place[n.coordinate])
            return replace(n, group=moved.index(groups[n.group])) if isinstance(n, c.Group) else n

        moved = [replace(p, witness=np.asarray(p.witness)[:, columns].tolist()) for p in mapped(proofs, node)]
        assert bounds(folders, tmp_path / "m", net, tensors, moved) == before
        seen += columns != sorted(columns)
    assert seen > 15


def test_a_factor_of_two_in_a_hidden_unit_does_not_matter(folders, tmp_path):
    """s_j halved, its weight on the output and its slope doubled: the same function and the same inequality."""
    for seed in SEEDS:
        made = folders.random_folder(tmp_path / "m", seed, auxiliaries="relu", hidden=2)
        net, tensors, proofs = parts_of(folders, made)
        before = bounds(folders, tmp_path / "m", net, tensors, proofs)
        for part in ("lower", "second"):
            tensors[f"{part}.weight"], tensors[f"{part}.bias"] = (
                tensors[f"{part}.{t}"] / 2 for t in ("weight", "bias")
            )
            tensors[f"{part}.out"] = tensors[f"{part}.out"] * 2

        def slopes(proof, leaf):
            return replace(leaf, units=tuple(2 * v for v in leaf.units))

        after = bounds(folders, tmp_path / "m", net, tensors, mapped(proofs, lambda n: n, slopes=slopes))
        assert [b for b, _ in after] == [b for b, _ in before]
        for (_, one), (_, two) in zip(before, after, strict=True):
            assert abs(one - two) <= one / 1000  # only what covers underflow changes


def test_doubling_the_outputs_doubles_the_bounds(folders, tmp_path):
    for seed in SEEDS:
        made = folders.random_folder(tmp_path / "m", seed)
        net, tensors, proofs = parts_of(folders, made)
        before = bounds(folders, tmp_path / "m", net, tensors, proofs)
        for name in ("head_weight", "head_bias"):
            tensors[name] = tensors[name] * 2

        def slopes(proof, leaf):
            if not isinstance(proof, c.LeafProof):
                return leaf
            return c.Leaf(*(tuple(2 * v for v in part) for part in (leaf.flips, leaf.units, leaf.rows)))

        doubled = []
        for proof in mapped(proofs, lambda n: n, slopes=slopes):
            claim = Claim.from_json(proof.claim)
            then = []
            for r in claim.then:
                terms = tuple(replace(t, coef=t.coef * (2 if t.kind == "in" else 1)) for t in r.terms)
                then.append(Inequality(terms, 2 * r.rhs, r.op))
            doubled.append(replace(proof, claim=replace(claim, then=tuple(then)).to_json()))
        after = bounds(folders, tmp_path / "m", net, tensors, doubled)
        assert [b for b, _ in after] == [2 * b for b, _ in before]


def random_boxes(folders, folder, seed):
    """A network on three numbers, a claim on two copies with bounds and strips of every one, and a random tree."""
    rng = np.random.default_rng(seed)
    domain = Domain(tuple(Feature(f"x{i}", "continuous", -1.0, 1.0) for i in range(3)))
    net = folders.random_net(rng, domain, auxiliaries="relu", hidden=3)
    x = domain.sample(2, rng) / 4

    def claim(delta, reach, rhs):
        when = [row([(s, 0, "in", n), (-s, 1, "in", n)], delta) for n in domain.coordinates for s in (1, -1)]
        when += [row([(s, k, "in", n)], reach) for n in domain.coordinates for s in (1, -1) for k in (0, 1)]
        out = net.outputs[0]
        return Claim(2, tuple(when), (row([(1, 0, "out", out), (-1, 1, "out", out)], rhs),))

    tree = folders.random_leaves(rng, net, claim(1, 1, 1), splits=5)

    def check(delta, reach, rhs=1):
        made = claim(Fraction(delta), Fraction(reach), Fraction(rhs))
        assert holds_exactly(made, domain, x)
        folders.write(folder, net, [c.ClaimProof(made.to_json(), x.tolist(), (tree,))])
        report = check_folder(folder)
        assert report.status in ("certified", "unknown"), report.reason
        return report.claims[0].rows[0]

    return check


def test_bounds_grow_with_the_strip_and_the_box_and_not_with_the_right_side(folders, tmp_path):
    grown = 0
    for seed in SEEDS:
        check = random_boxes(folders, tmp_path / "m", seed)
        reference = check(Fraction(3, 5), Fraction(3, 5))
        for widths in (
            [("1/2", "3/5"), ("3/5", "3/5"), ("7/10", "3/5"), ("2", "3/5")],
            [("3/5", "1/2"), ("3/5", "3/5"), ("3/5", "4/5"), ("3/5", "1")],
        ):
            found = [check(delta, reach).bound for delta, reach in widths]
            assert found == sorted(found)
            grown += found[0] < found[-1]
        rows = [check(Fraction(3, 5), Fraction(3, 5), rhs) for rhs in (-1000, 0, 1, 1000, 10**6)]
        assert {r.bound for r in rows} == {reference.bound}
        holds = [r.excess <= 0 for r in rows]
        assert holds == sorted(holds) and holds[-1]
    assert grown > 30
