"""The reference checker: sound against everything that was tried, exact where it should be, deaf to tampering."""

import ast
import contextlib
import hashlib
import itertools
import json
import math
import os
import random
import struct
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from smilenn.certify import certificate as c
from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import folder as exact_folder
from smilenn.certify.reference import model as exact_model
from smilenn.certify.reference import reader
from smilenn.certify.reference import rules as exact_rules
from smilenn.certify.reference import words as exact_words
from smilenn.certify.reference.check import check_folder
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.bundle import load_net
from smilenn.model.net import SmileNet
from smilenn.problem import build
from smilenn.properties.claim import Claim, row
from smilenn.properties.premise import ground, holds_exactly
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.proof import ALL_COPIES
from smilenn.provers.realise import raw
from smilenn.provers.rules.closed_form import ClosedForm
from smilenn.provers.rules.sweep import Sweep

F = Fraction
HERE = Path(check_reference.__file__).parent
OWN = sorted(path.stem for path in HERE.glob("*.py"))


class Adversary(nn.Module):
    """A backbone that returns one row of its choice for every input."""

    def __init__(self, z):
        super().__init__()
        self.z = torch.as_tensor(z, dtype=torch.float64)

    def forward(self, u):
        return self.z.expand(len(u), -1)


def outputs(net, x, z, batch=4096):
    """What the deployed network returns for raw inputs x [B, m] if its backbone returns z."""
    before, net.backbone = net.backbone, Adversary(z)
    try:
        return net.predict(x, batch=batch)
    finally:
        net.backbone = before


def coefficients(net, inequality, k):
    """a [k, o] and b [k, m] of a row, exact."""
    a = [[F(0)] * len(net.outputs) for _ in range(k)]
    b = [[F(0)] * net.domain.size for _ in range(k)]
    for t in inequality.terms:
        if t.kind == "out":
            a[t.copy][net.outputs.index(t.name) if t.name in net.outputs else 0] += t.coef
        else:
            b[t.copy][net.domain.indices(t.name)[0]] += t.coef
    return a, b


def left_sides(net, inequality, x, rng):
    """The worst deployed left side of a row at tuples x [B, k, m], floats [B], and the vertices that give it."""
    k = x.shape[1]
    a, b = coefficients(net, inequality, k)
    a_f, b_f = np.array(a, dtype=float), np.array(b, dtype=float)
    head = net.effective_head()[0].detach().numpy()
    total = np.einsum("bkm,km->b", x, b_f)
    vertices = []
    for copy in range(k):
        worst = np.where(a_f[copy] @ head > 0, 1e300, -1e300)
        if rng.random() < 0.2:
            worst = np.where(worst > 0, np.inf, rng.choice([-np.inf, np.nan], size=worst.shape))
        vertices.append(worst)
        total = total + outputs(net, x[:, copy], worst) @ a_f[copy]
    return total, vertices


def exact_left_side(net, inequality, x, vertices, batch=1):
    """The same at one tuple x [k, m], the returned floats summed in rationals."""
    a, b = coefficients(net, inequality, len(x))
    total = F(0)
    for copy, z in enumerate(vertices):
        y = outputs(net, np.repeat(x[copy][None], batch, axis=0), z)[-1]
        total += sum(p * F(float(q)) for p, q in zip(a[copy], y, strict=True))
        total += sum(p * F(float(q)) for p, q in zip(b[copy], x[copy], strict=True))
    return total


def tuples_of(problem, witness, rng, n):
    """Tuples of the premise (floats, not yet exactly): random ones, corners, neighbours of the witness; [B, k, m]."""
    region, domain = problem.region, problem.domain
    k, m = region.lo.shape
    free = rng.uniform(region.lo, np.maximum(region.lo, region.hi), size=(n // 2, k, m))
    corners = region.argmax(rng.normal(size=(n // 4, k, m)))
    near = domain.scale(witness) + rng.normal(size=(n // 4, k, m)) * 10.0 ** rng.uniform(-6, 0, size=(n // 4, 1, 1))
    u = region.snap(np.concatenate([free, corners, np.clip(near, region.lo, np.maximum(region.lo, region.hi))]))
    return np.concatenate([raw(problem, u), witness[None]])


def climbed(problem, inequality, x, rng):
    """The best tuples moved uphill a little, and by single floats."""
    rows = {r.text: r for r in problem.rows}
    out = [x]
    if inequality.text() in rows:
        u = problem.domain.scale(x)
        for step in (0.3, 0.1, 0.03):
            u = problem.region.snap(u + step * np.sign(problem.gradient(u, rows[inequality.text()])))
            out.append(raw(problem, u))
    moved = np.concatenate(out)
    jitter = np.nextafter(moved, moved + rng.choice([-1.0, 1.0], size=moved.shape))
    keep = problem.domain.integral | problem.premise.pinned
    return np.concatenate([moved, np.where(keep, moved, jitter)])


def parts(made):
    """(problem, claim, proof, report of each row) of every claim."""
    report = check_folder(made.folder)
    assert report.status in ("certified", "unknown"), report.reason
    for claim, proof, found in zip(made.claims, made.proofs, report.claims, strict=True):
        yield build(claim, made.net.snapshot()), claim, proof, found


# ---- soundness ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 12))])
def test_no_deployed_left_side_exceeds_bound_and_margin(folders, tmp_path, block):
    tried = 0
    for seed in range(17 * block, 17 * block + 17):
        rng = np.random.default_rng(seed)
        made = folders.random_folder(tmp_path / str(seed), seed, rhs=50 if seed % 2 else None)
        for problem, claim, proof, report in parts(made):
            witness = np.array(proof.witness)
            x = tuples_of(problem, witness, rng, 1500)
            x = x[problem.premise.holds(x)]
            assert report.formula.startswith("∀") and report.sentence == "A random claim."
            for inequality, found in zip(claim.rows, report.rows, strict=True):
                value, _ = left_sides(made.net, inequality, x, rng)
                best = climbed(problem, inequality, x[np.argsort(-value)[:8]], rng)
                value, vertices = left_sides(made.net, inequality, best, rng)
                assert found.rhs == inequality.rhs
                assert (found.margin > 0) == any(t.kind == "out" for t in inequality.terms)
                exact = 0
                for i in np.argsort(-value):
                    if holds_exactly(claim, problem.domain, best[i]):
                        left = exact_left_side(made.net, inequality, best[i], vertices, batch=int(rng.choice([1, 3])))
                        assert left <= found.bound + found.margin, (seed, found.formula)
                        exact += 1
                        if exact == 3:
                            break
                tried += exact
    assert tried > 40


@pytest.mark.parametrize("block", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 4))])
def test_bounds_are_not_below_what_provers_reach(folders, tmp_path, block):
    """Values that exist, and optima by closed form, sweep and MIP."""
    exactly = 0
    for seed in range(1000 + 12 * block, 1012 + 12 * block):
        made = folders.random_folder(tmp_path / str(seed), seed, claims=1)
        for problem, claim, proof, report in parts(made):
            rows = {r.text: r for r in problem.rows}
            for inequality, found, how in zip(claim.rows, report.rows, proof.rows, strict=True):
                reduced = rows.get(inequality.text())
                if reduced is None:
                    continue
                for prover in (ClosedForm(), Sweep(), ReducedMip()):
                    if prover.refuses(problem, reduced):
                        continue
                    best = prover.maximise(problem, reduced, time_limit=5.0)
                    room = 1e-6 * (1 + abs(float(found.bound)))
                    assert float(found.bound) >= best.lower + reduced.rhs - room, (seed, found.formula, prover)
                    if prover.name != "mip":
                        assert float(found.bound) >= best.upper + reduced.rhs - room
                    if isinstance(how, c.SweepProof):
                        assert float(found.bound) == pytest.approx(best.upper + reduced.rhs, abs=room)
                        exactly += 1
    assert exactly or block


def grid(domain):
    """Every point of a domain of whole numbers."""
    choices = []
    for feature in domain.features:
        if feature.kind == "category":
            choices.append([tuple(v) for v in np.eye(len(feature.categories))])
        else:
            choices.append([(float(v),) for v in range(int(feature.lo), int(feature.hi) + 1)])
    return [sum(point, ()) for point in itertools.product(*choices)]


def real_psi(model, psi, x):
    """Σ_c ψ_c at x [k][m], written from section 2 once more."""
    total = psi.const
    for copy, point in enumerate(x):
        point = [F(v) for v in point]
        on = [
            max(F(0), b + sum(p * q for p, q in zip(w, point, strict=True)))
            for w, b in zip(model.weight, model.bias, strict=True)
        ]
        total += sum(p * q for p, q in zip(psi.q[copy], point, strict=True))
        total += sum(p * q for p, q in zip(psi.kappa[copy], on, strict=True))
        inner = exact_model.flips(model)
        for i, p in enumerate(psi.p[copy]):
            d = inner.const[i] + sum(s * v for s, v in zip(inner.slope[i], point, strict=True))
            total += p * max(F(0), d + sum(s * v for s, v in zip(inner.out[i], on, strict=True)))
    return total


@pytest.mark.parametrize("seed", range(40))
def test_every_tuple_of_a_domain_of_whole_numbers(folders, tmp_path, seed):
    rng = np.random.default_rng(seed)
    kinds = [
        Feature("n", "integer", -1.0, 2.0, shift=0.4, mult=0.7),
        Feature("b", "binary"),
        Feature("r", "category", categories=("u", "v", "w")),
    ]
    domain = Domain(tuple(kinds[i] for i in rng.permutation(3)[: 1 + (seed % 2 and seed % 3 < 2)]))
    made = folders.random_folder(tmp_path / "m", seed, domain=domain, copies=1 + seed % 3, claims=1)
    (_, claim, proof, report), folder = next(parts(made)), reader.read_folder(made.folder)
    model = exact_model.build_model(folder.net)
    members = [
        x for x in itertools.product(grid(domain), repeat=claim.copies) if holds_exactly(claim, domain, np.array(x))
    ]
    assert tuple(map(tuple, proof.witness)) in members
    for given, found, how in zip(folder.entries[0].claim.rows(), report.rows, proof.rows, strict=True):
        psi = exact_model.reduce_row(model, given, claim.copies)
        best = max(real_psi(model, psi, x) for x in members)
        assert found.bound >= best
        if isinstance(how, c.SweepProof) and not domain.groups:
            assert found.bound == best


def test_whole_numbers_without_end_take_no_time(tmp_path, folders):
    """A sweep over 10^15 whole numbers looks at the neighbours of kinks only, and is exact."""
    domain = Domain((Feature("n", "integer", 0.0, 1e15, mult=1e-15),))
    rng = np.random.default_rng(0)
    net = folders.random_net(rng, domain, boxes="paper", auxiliaries="relu", hidden=3)
    claim = Claim(
        2,
        (row([(1, 0, "in", "n"), (-1, 1, "in", "n")], 7),),
        (row([(1, 0, "out", net.outputs[0]), (-1, 1, "out", net.outputs[0])], 9),),
    )
    folders.write(tmp_path / "m", net, [c.ClaimProof(claim.to_json(), [[0.0], [0.0]], (c.SweepProof(),))])
    report = check_folder(tmp_path / "m")
    problem = build(claim, net.snapshot())
    assert float(report.claims[0].rows[0].bound) == pytest.approx(
        Sweep().maximise(problem, problem.rows[0]).upper + 9, abs=1e-6
    )


def test_affine_networks_need_no_slopes(folders, tmp_path):
    for seed in range(40):
        made = folders.random_folder(
            tmp_path / str(seed), seed, auxiliaries="affine", boxes="gap", rule="leaf", claims=1
        )
        for problem, claim, _, report in parts(made):
            rows = {r.text: r for r in problem.rows}
            for inequality, found in zip(claim.rows, report.rows, strict=True):
                reduced = rows.get(inequality.text())
                if reduced is not None and not problem.region.has_rows:
                    best = ClosedForm().maximise(problem, reduced).upper + reduced.rhs
                    assert float(found.bound) == pytest.approx(best, abs=1e-7 * (1 + abs(best)))


# ---- rules ----------------------------------------------------------------------------------------------------------


def plain_net(domain, weight, bias, out, slope=None, const=0.0):
    """f = const + slope·u + out·relu(weight·u + bias), one output, no gap."""
    net = SmileNet(domain, MLP(domain.size, (1,), 1), 1, auxiliaries="relu", hidden=len(bias), skip=True)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.lower.weight.copy_(torch.tensor(weight, dtype=torch.float64))
        net.lower.bias.copy_(torch.tensor(bias, dtype=torch.float64))
        net.lower.out.copy_(torch.tensor([out], dtype=torch.float64))
        net.lower.slope.copy_(torch.tensor([slope or [0.0] * domain.size], dtype=torch.float64))
        net.lower.const.fill_(const)
        net.head_weight.fill_(1.0)
    return net


def checked(folders, folder, net, claim, witness, *proofs):
    folders.write(folder, net, [c.ClaimProof(claim.to_json(), witness, proofs)])
    return check_folder(folder)


def monotone(*names, eps=0, lipschitz=0):
    """a ≤ b on names ⇒ f(a) − f(b) ≤ eps, or f(b) − f(a) ≤ lipschitz·(b − a) for the first name."""
    when = tuple(row([(1, 0, "in", n), (-1, 1, "in", n)], 0) for n in names)
    if lipschitz:
        terms = [(-1, 0, "out", ""), (1, 1, "out", ""), (lipschitz, 0, "in", names[0]), (-lipschitz, 1, "in", names[0])]
        return Claim(2, when, (row(terms, eps),))
    return Claim(2, when, (row([(1, 0, "out", ""), (-1, 1, "out", "")], eps),))


def test_right_signs_are_monotone_at_the_root(folders, tmp_path):
    """64 units, 20 inputs, t = 0: bound exactly zero by both rules, certified up to the margin."""
    rng = np.random.default_rng(3)
    names = [f"x{i}" for i in range(20)]
    net = plain_net(
        Domain.box([0.0] * 20, [1.0] * 20),
        rng.normal(size=(64, 20)) * np.where(np.arange(64) % 2, 1, -1)[:, None],
        rng.normal(size=64),
        np.ones(64).tolist(),
    )
    with torch.no_grad():
        net.lower.weight.abs_()
        net.lower.weight[::2] *= -1
        net.lower.out[:, ::2] *= -1
    x = [[0.0] * 20] * 2
    for proof in (c.LeafProof(0, (), (c.Leaf(),)), c.SlopeProof(0, (c.Leaf(),))):
        report = checked(folders, tmp_path / type(proof).__name__, net, monotone(*names), x, proof)
        (found,) = report.claims[0].rows
        assert report.status == "unknown" and found.bound == 0 and 0 < report.excess == found.margin < 1e-10
        report = checked(folders, tmp_path / f"{type(proof).__name__}!", net, monotone(*names, eps=1e-10), x, proof)
        assert report.status == "certified"


def test_a_dip_between_whole_numbers_is_not_hidden_by_splits(folders, tmp_path):
    """f = x − 10 relu(x − .25) + 10 relu(x − .75) on {0, 1}: slope 1 at both grid points, yet f(1) < f(0)."""
    for feature in (Feature("x", "binary"), Feature("x", "integer", 0.0, 1.0)):
        net = plain_net(Domain((feature,)), [[1.0], [1.0]], [-0.25, -0.75], [-10.0, 10.0], [1.0])
        split = (c.Input(ALL_COPIES, 0, 0.5), c.Leaf(), c.Leaf())
        for place, nodes in enumerate(
            (split, (c.Leaf(),), (c.Phase(255, 0), c.Leaf(), c.Phase(255, 1), c.Leaf(), c.Leaf()))
        ):
            report = checked(
                folders, tmp_path / f"{feature.kind}{place}", net, monotone("x"), [[0.0], [0.0]], c.SlopeProof(0, nodes)
            )
            assert report.status == "refused", report
        report = checked(folders, tmp_path / feature.kind, net, monotone("x"), [[0.0], [0.0]], c.SweepProof())
        assert report.claims[0].rows[0].bound == 4 and report.status == "unknown"


def test_a_degenerate_cell_does_not_hold(folders, tmp_path):
    """relu(x) − relu(−x) = x has a cell of slope 2, the point 0: 2-Lipschitz by the rule, not 1-Lipschitz."""
    net = plain_net(Domain.box([-1.0], [1.0], ["x"]), [[1.0], [-1.0]], [0.0, 0.0], [1.0, -1.0])
    full = (c.Phase(255, 0), c.Leaf(), c.Phase(255, 1), c.Leaf(), c.Leaf())
    for lipschitz, status in ((1, "refused"), (2, "unknown")):
        for nodes in ((c.Leaf(),), full):
            report = checked(
                folders,
                tmp_path / f"{lipschitz}{len(nodes)}",
                net,
                monotone("x", lipschitz=lipschitz),
                [[0.0], [0.0]],
                c.SlopeProof(0, nodes),
            )
            assert report.status == status
    nodes = (*full[:-1], c.Empty((1, 1)))
    report = checked(
        folders, tmp_path / "empty", net, monotone("x", lipschitz=1), [[0.0], [0.0]], c.SlopeProof(0, nodes)
    )
    assert report.status == "refused" and "not empty" in report.reason


def test_empty_cells_need_multipliers_that_show_it(folders, tmp_path):
    """Units x − 2 and x + 2 on [−1, 1], and f = relu(x) · 1 − … where only an empty cell would break the claim."""
    net = plain_net(
        Domain.box([-1.0, -1.0], [1.0, 1.0], ["x", "y"]),
        [[1.0, 1.0], [-1.0, -1.0]],
        [-0.5, -0.5],
        [1.0, -3.0],
        [0.0, 0.0],
    )
    # units x + y ≥ .5 (slope +1) and −x − y ≥ .5 (slope +3): never both; claim: f rises by at most 3 per unit of x
    claim = monotone("x", lipschitz=3)

    def tree(leaf):
        return (c.Phase(255, 0), c.Leaf(), c.Phase(255, 1), c.Leaf(), leaf)

    witness = [[0.0, 0.0], [0.0, 0.0]]
    assert (
        checked(folders, tmp_path / "a", net, claim, witness, c.SlopeProof(3, tree(c.Empty((1, 1))))).status
        == "unknown"
    )
    for bad in ((0, 0), (1, 0), (0, 1), (1, 4)):
        assert (
            checked(folders, tmp_path / f"{bad}", net, claim, witness, c.SlopeProof(3, tree(c.Empty(bad)))).status
            == "refused"
        )
    assert checked(folders, tmp_path / "b", net, claim, witness, c.SlopeProof(3, tree(c.Leaf()))).status == "refused"
    assert (
        checked(folders, tmp_path / "c", net, claim, witness, c.LeafProof(3, (), tree(c.Empty((1, 1))))).status
        == "refused"
    )


def test_a_decided_unit_pays_for_its_slope(folders, tmp_path):
    """s ∈ [1, 2], κ = 1, t = 3: r is −2 (at s = 1), so the bound is 4, above the true maximum 2."""
    net = plain_net(Domain.box([1.0], [2.0], ["x"]), [[1.0]], [0.0], [1.0])
    claim = Claim(1, (), (row([(1, 0, "out", "")], 10),))
    for t, bound in ((3, 4), (1, 2), (0, 2), (-1, 2)):
        report = checked(folders, tmp_path / str(t), net, claim, [[1.5]], c.LeafProof(0, (0,), (c.Leaf((), (t,)),)))
        assert report.claims[0].rows[0].bound == (bound if t >= 0 else 3)


@pytest.mark.parametrize(
    ("low", "high"), [(F(1, 4), F(1, 2)), (F(-1, 2), F(-1, 4)), (F(0), F(1, 3)), (F(-1, 5), F(0)), (F(1, 8), F(1, 8))]
)
def test_strips_on_one_side(folders, tmp_path, low, high):
    """Sweep and brute force over kinks, ends and a grid agree on a strip off the diagonal; the leaf rule is above."""
    rng = np.random.default_rng(5)
    net = folders.random_net(rng, Domain.box([0.0], [1.0], ["x"]), auxiliaries="relu", hidden=3, outputs=1, boxes="gap")
    out = net.outputs[0]
    when = (row([(1, 0, "in", "x"), (-1, 1, "in", "x")], high), row([(-1, 0, "in", "x"), (1, 1, "in", "x")], -low))
    claim = Claim(2, when, (row([(1, 0, "out", out), (-1, 1, "out", out)], 1),))
    x2 = 0.5
    x1 = next(
        (v for v in (x2 + float(low), x2 + float(high), x2 + float(low + high) / 2) if low <= F(v) - F(x2) <= high),
        None,
    )
    assert x1 is not None
    witness = [[x1], [x2]]
    sweep = checked(folders, tmp_path / "s", net, claim, witness, c.SweepProof()).claims[0].rows[0].bound
    leaf = (
        checked(folders, tmp_path / "l", net, claim, witness, folders.random_leaves(rng, net, claim))
        .claims[0]
        .rows[0]
        .bound
    )
    model = exact_model.build_model(reader.read_folder(tmp_path / "s").net)
    psi = exact_model.reduce_row(model, reader.read_folder(tmp_path / "s").entries[0].claim.rows()[0], 2)
    kinks = {-b / w[0] for w, b in zip(model.weight, model.bias, strict=True) if w[0]}
    points = [x for x in {F(i, 64) for i in range(65)} | kinks if 0 <= x <= 1]
    pairs = {(x, y) for x in kinks | {F(0), F(1)} for y in kinks | {F(0), F(1)}}
    for d in (low, high, (low + high) / 2):
        pairs |= {(y + d, y) for y in points} | {(x, x - d) for x in points}
    inside = [(x, y) for x, y in pairs if 0 <= x <= 1 and 0 <= y <= 1 and low <= x - y <= high]
    assert max(real_psi(model, psi, [[x], [y]]) for x, y in inside) == sweep <= leaf


def test_convexity_across_a_corner(folders, tmp_path):
    """2 f(b) ≤ f(a) + f(c), b half-way: true of relu, false of −relu; the equality's multiplier has any sign."""
    domain = Domain.box([-1.0], [1.0], ["x"])
    when = (row([(1, 0, "in", "x"), (-2, 1, "in", "x"), (1, 2, "in", "x")], 0, "=="),)
    then = (row([(-1, 0, "out", ""), (2, 1, "out", ""), (-1, 2, "out", "")], 0),)
    for sign in (1.0, -1.0):
        net = plain_net(domain, [[1.0]], [0.0], [sign])
        claim = Claim(3, when, then)
        best = None
        for place, numbers in enumerate(itertools.product((-1, 0), (0, 2), (-1, 0), (-1, 0, 1))):
            leaf = c.Leaf((), numbers[:3], numbers[3:])
            report = checked(
                folders, tmp_path / f"{sign}{place}", net, claim, [[0.0]] * 3, c.LeafProof(0, (0,), (leaf,))
            )
            bound = report.claims[0].rows[0].bound
            assert bound >= (0 if sign > 0 else 1)
            best = bound if best is None else min(best, bound)
        assert best <= 2


# ---- the margin -----------------------------------------------------------------------------------------------------


def sums(w, y, b, rng):
    """Σ w·y + b in float64: sequential, permuted, pairwise, with fused multiply-add, by torch."""
    terms = [float(p) * float(q) for p, q in zip(w, y, strict=True)] + [float(b)]
    yield sum(terms)
    for _ in range(4):
        yield float(sum(rng.permutation(terms).tolist()))
    level = list(terms)
    while len(level) > 1:
        level = [sum(level[i : i + 2]) for i in range(0, len(level), 2)]
    yield level[0]
    total = float(b)
    for p, q in zip(w, y, strict=True):
        total = float(F(float(p)) * F(float(q)) + F(total))
    yield total
    yield float(torch.as_tensor(w) @ torch.as_tensor(y) + b)


def test_the_error_of_a_sum(folders):
    rng = np.random.default_rng(0)
    worst = 0.0
    for trial in range(300):
        n = int(rng.integers(1, 40))
        spread = [1.0, 10.0 ** rng.uniform(-8, 8, size=n), 10.0 ** rng.uniform(-160, 10, size=n), 2.0**-1060][trial % 4]
        w, y = rng.normal(size=n) * spread, rng.normal(size=n)
        b = float(-(w @ y)) if trial % 3 else float(rng.normal())  # cancellation
        error = rng.uniform(0, 1e-12, size=n) * (trial % 2)
        near = y + rng.uniform(-1, 1, size=n) * error
        error = [abs(F(float(p)) - F(float(q))) for p, q in zip(near, y, strict=True)]
        exact = sum(F(float(p)) * F(float(q)) for p, q in zip(w, y, strict=True)) + F(b)
        bound, reach = exact_model.lin([F(v) for v in w], F(b), [abs(F(v)) for v in y], error)
        assert bound < reach
        for value in sums(w, near, b, rng):
            gap = abs(F(value) - exact)
            assert gap <= bound
            worst = max(worst, float(gap / bound))
    assert worst > 0.05  # the bound is not a joke either


def test_outputs_stay_within_the_margin(folders, tmp_path):
    """Deployed outputs at the vertices of the box against the real function, batch 1 and N, torch and reordered."""
    worst = 0.0
    for seed in range(16):
        made = folders.random_folder(tmp_path / str(seed), seed, claims=1)
        rng = np.random.default_rng(seed)
        model = exact_model.build_model(reader.read_folder(made.folder).net)
        bound = exact_model.margins(model)
        net = load_net(made.folder)[0]
        x = np.clip(net.domain.sample(12, rng), net.domain.lo, net.domain.hi)
        for o, side in itertools.product(range(len(net.outputs)), (1, -1)):
            a = [[F(side) if i == o else F(0) for i in range(len(net.outputs))]]
            terms = tuple(reader.Term(v, 0, True, i, "") for i, v in enumerate(a[0]))
            psi = exact_model.reduce_row(model, reader.Row(terms, F(0), False), 1)
            head = net.effective_head()[0].detach().numpy()[o]
            z = np.where(side * head > 0, np.inf, -np.inf)
            many, one = outputs(net, x, z), outputs(net, x, z, batch=1)
            for i, point in enumerate(x):
                real = real_psi(model, psi, [point.tolist()])
                for got in (many[i, o], one[i, o]):
                    gap = abs(side * F(float(got)) - real)
                    assert gap <= bound[o]
                    worst = max(worst, float(gap / bound[o]))
    assert worst > 1e-3


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda n: n.head_weight.fill_(1e300), "certified"),
        (lambda n: (n.head_weight.fill_(1e300), n.lower.const.fill_(1e10)), "refused"),
        (lambda n: n.lower.const.fill_(1e307), "refused"),
        (lambda n: (n.lower.out.fill_(1e200), n.lower.weight.fill_(1e200)), "refused"),
        (lambda n: n.lower.weight.fill_(5e-324), "certified"),
        (lambda n: (n.lower.const.fill_(-0.0), n.gap.const.fill_(-0.0)), "certified"),
        (lambda n: n.head_weight.zero_(), "certified"),
        (lambda n: n.head_bias.fill_(2.0**24), "certified"),
    ],
)
def test_weights_of_all_sizes(folders, tmp_path, change, status):
    net = plain_net(Domain.box([0.0], [1.0], ["x"]), [[1.0], [-1.0]], [0.5, 0.25], [0.0, 0.0])
    with torch.no_grad():
        change(net)
    claim = Claim(1, (), (row([(1, 0, "out", "")], 10**300),))
    report = checked(folders, tmp_path / "m", net, claim, [[0.5]], c.LeafProof(0, (), (c.Leaf(),)))
    assert report.status == status, report.reason


def test_a_head_that_overflows_only_when_it_is_loaded_is_refused(folders, tmp_path):
    """The stored head is harmless, the same divided by a small output scale is not."""
    for scale, head, status in (
        (2.0**-200, 1e250, "refused"),
        (2.0**-200, 1e3, "certified"),
        (2.0**200, 1e-3, "certified"),
    ):
        net = plain_net(Domain.box([0.0], [1.0], ["x"]), [[1.0]], [0.0], [0.0])
        claim = Claim(1, (), (row([(1, 0, "out", "")], 10**300),))
        files = folders.files_of(net, [c.ClaimProof(claim.to_json(), [[0.5]], (c.LeafProof(0, (), (c.Leaf(),)),))])
        files = restored(files, net={"output_scale": [scale]}, tensors={"head_weight": [head]})
        folders.put(tmp_path / f"{scale}{head}", files)
        assert check_folder(tmp_path / f"{scale}{head}").status == status


# ---- tampering ------------------------------------------------------------------------------------------------------


def unpacked(files):
    data = files["weights.safetensors"]
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def restored(files, *, net=None, tensors=None, certificate=None, claim=None, rows=None, binary=None, rehash=True):
    """The files with parts replaced and every hash made to fit again: what a careful forger would write."""
    out = dict(files)
    model, cert = json.loads(files["model.json"]), json.loads(files["certificate.json"])
    header, data = unpacked(files)
    model["net"] |= net or {}
    data = bytearray(data)
    for name, values in (tensors or {}).items():
        start, stop = header[name]["data_offsets"]
        data[start:stop] = struct.pack(f"<{(stop - start) // 8}d", *values)
    text = json.dumps(header).encode()
    out["weights.safetensors"] = len(text).to_bytes(8, "little") + text + bytes(data)
    out["model.json"] = json.dumps(model).encode()
    if binary is not None:
        out["certificate.bin"] = binary
    if claim is not None:
        cert["claims"][0]["claim"] |= claim
    if rows is not None:
        cert["claims"][0]["rows"] = [old | new for old, new in zip(cert["claims"][0]["rows"], rows, strict=True)]
    if rehash:
        raw_data = {
            n: bytes(data[slice(*e["data_offsets"])])
            for n, e in header.items()
            if n != "__metadata__" and not n.startswith("backbone.")
        }
        cert["model"] = c.model_digest(model["net"], raw_data, model.get("table"))
        cert["proofs_sha256"] = hashlib.sha256(out["certificate.bin"]).hexdigest()
        for entry in cert["claims"]:
            entry["claim_sha256"] = c.claim_digest(entry["claim"])
    out["certificate.json"] = json.dumps(cert | (certificate or {})).encode()
    return out


@pytest.fixture
def small(folders, tmp_path):
    """A certified folder with a phase, an input and a group split, an extra row, and its files."""
    domain = Domain(
        (
            Feature("x", lo=0.0, hi=1.0, unit="€"),
            Feature("n", "integer", 0, 4),
            Feature("r", "category", categories=("u", "v")),
        )
    )
    rng = np.random.default_rng(1)
    net = folders.random_net(rng, domain, boxes="paper", auxiliaries="relu", hidden=2, outputs=1, embedding=2)
    when = (
        row([(1, 0, "in", "x"), (1, 1, "in", "x"), (1, 0, "in", "n")], 3),
        row([(1, 0, "in", "x"), (-1, 1, "in", "x")], F(1, 10)),
    )
    out = net.outputs[0]
    claim = Claim(
        2,
        when,
        (row([(1, 0, "out", out), (-1, 1, "out", out)], 5000), row([(1, 0, "out", out)], 5000)),
        sentence="It\x1bholds.",
    )
    leaf = c.Leaf((1, 0, -1, 2), (3, 0, 1, -2, 5, 6, 7, 8), (1,))
    nodes = (c.Phase(0, 1), c.Input(1, 1, 1.5), leaf, leaf, c.Group(255, 0), leaf, c.Flip(0, 1), leaf, leaf)
    proof = c.LeafProof(2, (0, 1, 2, 3), nodes)
    claims = [c.ClaimProof(claim.to_json(), [[0.25, 1.0, 1.0, 0.0], [0.25, 2.0, 1.0, 0.0]], (proof, proof))]
    folders.write(tmp_path / "small", net, claims)
    assert check_folder(tmp_path / "small").status == "certified"
    files = {p.name: p.read_bytes() for p in (tmp_path / "small").iterdir() if p.name != "manifest.json"}
    return tmp_path / "small", files, nodes, leaf


def test_forging_helper_changes_nothing_by_itself(folders, small, tmp_path):
    folders.put(tmp_path / "m", restored(small[1]))
    assert check_folder(tmp_path / "m") == check_folder(small[0])


def test_any_flipped_bit_is_noticed(small):
    folder, _, _, _ = small
    rng = random.Random(0)
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        own = data.find(b'"library"') + 1 if path.name == "manifest.json" else len(data)  # a comment, if a text
        for _ in range(60):
            at, bit = rng.randrange(len(data)), rng.randrange(8)
            if own + len('library": "') - 1 <= at < data.find(b'"', own + len('library": "')):
                continue
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
            assert check_folder(folder).exit_code in (1, 2)
        for cut in (data[:-2], data + b"\0", b""):
            path.write_bytes(cut)
            assert check_folder(folder).exit_code in (1, 2)
        path.unlink()
        assert check_folder(folder).exit_code == 2
        path.write_bytes(data)
    assert check_folder(folder).status == "certified"


def test_fuzzed_files_with_fitting_hashes_never_crash_the_checker(folders, small, tmp_path):
    """Bytes flipped, cut, doubled and spliced behind the hashes: any verdict is allowed, no other exception."""
    rng = random.Random(1)
    _, files, _, _ = small
    seen = set()
    for _ in range(200):
        name = rng.choice(list(files))
        data = bytearray(files[name])
        for _ in range(rng.choice([1, 1, 2, 5])):
            at = rng.randrange(len(data))
            match rng.randrange(5):
                case 0:
                    data[at] ^= 1 << rng.randrange(8)
                case 1:
                    del data[at : at + rng.choice([1, 2, 9, 100])]
                case 2:
                    data[at:at] = data[rng.randrange(len(data)) :][:8]
                case 3:
                    data[at : at + 1] = rng.choice([b"1e999", b"[[", b'"', b"-", b"null", b"true", b"9" * 500, b"\xff"])
                case _:
                    data[at : at + 8] = rng.randbytes(8)
            if not data:
                data = bytearray(b"\0")
        changed = files | {name: bytes(data)}
        if name == "certificate.bin" or (rng.random() < 0.5 and name == "weights.safetensors"):
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, struct.error):
                changed = restored(changed)
        folders.put(tmp_path / "fuzz", changed)
        report = check_folder(tmp_path / "fuzz")
        seen.add(report.status)
        assert report.reason.endswith(".") or not report.reason
        check_reference._lines(report)
    assert {"refused", "unreadable"} <= seen


def packed(nodes):
    return b"".join(c._node(node) for node in nodes)


TREES = {
    "trailing node": lambda n, leaf: (*n, leaf),
    "missing node": lambda n, leaf: n[:-1],
    "nothing": lambda n, leaf: (),
    "only splits": lambda n, leaf: (n[0],) * 1000,
    "unit that does not exist": lambda n, leaf: (c.Phase(0, 4), leaf, leaf),
    "copy that does not exist": lambda n, leaf: (c.Phase(2, 0), leaf, leaf),
    "phase of all copies": lambda n, leaf: (c.Phase(255, 0), leaf, leaf),
    "flip unit that does not exist": lambda n, leaf: (c.Flip(0, 2), leaf, leaf),
    "flip of all copies": lambda n, leaf: (c.Flip(255, 0), leaf, leaf),
    "coordinate that does not exist": lambda n, leaf: (c.Input(0, 4, 0.5), leaf, leaf),
    "member of a category": lambda n, leaf: (c.Input(255, 2, 0.5), leaf, leaf),
    "group that does not exist": lambda n, leaf: (c.Group(255, 1), leaf, leaf),
    "pinned group in one copy": lambda n, leaf: (c.Group(0, 0), leaf, leaf),
    "moving input in all copies": lambda n, leaf: (c.Input(255, 0, 0.5), leaf, leaf),
    "threshold NaN": lambda n, leaf: (c.Input(0, 0, math.nan), leaf, leaf),
    "threshold infinite": lambda n, leaf: (c.Input(0, 0, math.inf), leaf, leaf),
    "negative multiplier": lambda n, leaf: (c.Leaf(leaf.flips, leaf.units, (-1,)),),
    "negative multiplier in a closed leaf": lambda n, leaf: (c.Input(0, 0, -1.0), replace(leaf, rows=(-1,)), leaf),
    "leaf of the slope rule": lambda n, leaf: (c.Leaf(),),
    "empty leaf": lambda n, leaf: (c.Phase(0, 0), c.Empty((1,)), leaf),
    "too few slopes": lambda n, leaf: (c.Leaf(leaf.flips, leaf.units[:-1], leaf.rows),),
}


@pytest.mark.parametrize("name", TREES)
def test_malformed_trees_are_refused(folders, small, tmp_path, name):
    _, files, nodes, leaf = small
    good, bad = packed(nodes), packed(TREES[name](nodes, leaf))
    rows = [{"length": len(bad)}, {"start": len(bad)}]
    folders.put(tmp_path / "m", restored(files, binary=bad + good, rows=rows))
    report = check_folder(tmp_path / "m")
    assert report.status == "refused", report


def test_unknown_kinds_of_nodes_are_refused(folders, small, tmp_path):
    _, files, _, _ = small
    for kind in (6, 77, 255):
        binary = bytes([kind]) + files["certificate.bin"][1:]
        folders.put(tmp_path / "m", restored(files, binary=binary))
        assert check_folder(tmp_path / "m").status == "refused"


def test_swapped_children_prove_their_own_cells_only(folders, tmp_path):
    """Leaves are judged by where they stand: exchanged slopes give a worse bound, never a false one."""
    net = plain_net(Domain.box([-1.0], [1.0], ["x"]), [[1.0]], [0.0], [-3.0], [1.0])  # x, then −2x
    claim = Claim(1, (), (row([(1, 0, "out", "")], F(1, 100)),))
    split, left, right = c.Input(0, 0, 0.0), c.Leaf((), (0,)), c.Leaf((), (-3,))
    good = checked(folders, tmp_path / "g", net, claim, [[0.0]], c.LeafProof(0, (0,), (split, left, right)))
    bad = checked(folders, tmp_path / "b", net, claim, [[0.0]], c.LeafProof(0, (0,), (split, right, left)))
    assert good.status == "certified" and good.claims[0].rows[0].bound == 0
    assert bad.status == "unknown" and bad.claims[0].rows[0].bound == 2


def test_cells_cover_the_threshold(folders, tmp_path):
    """A peak exactly at the threshold belongs to both children; whole numbers belong to one."""
    net = plain_net(Domain.box([0.0], [1.0], ["x"]), [[1.0]], [-0.5], [-2.0], [1.0])  # peak 1/2 at x = 1/2
    claim = Claim(1, (), (row([(1, 0, "out", "")], 1),))
    tree = (c.Input(0, 0, 0.5), c.Leaf((), (0,)), c.Leaf((), (-2,)))
    assert checked(folders, tmp_path / "x", net, claim, [[0.0]], c.LeafProof(0, (0,), tree)).claims[0].rows[
        0
    ].bound == F(1, 2)
    whole = plain_net(Domain((Feature("x", "integer", 0, 4),)), [[1.0]], [-2.0], [-2.0], [1.0])  # peak 2 at x = 2
    for theta, bound in ((2.0, 2), (1.5, 2), (2.5, 2), (1.9999999, 2)):
        tree = (c.Input(0, 0, theta), c.Leaf((), (0,)), c.Leaf((), (-2,)))
        assert (
            checked(folders, tmp_path / f"n{theta}", whole, claim, [[0.0]], c.LeafProof(0, (0,), tree))
            .claims[0]
            .rows[0]
            .bound
            == bound
        )


def test_deep_trees(folders, tmp_path):
    """Depth is a matter of memory only."""
    net = SmileNet(Domain.box([0.0], [1.0], ["x"]), MLP(1, (1,), 1), 1, auxiliaries="constant")
    claim = Claim(1, (), (row([(1, 0, "out", "")], 100),))
    depth = 20_000
    nodes = [node for i in range(depth) for node in (c.Input(0, 0, i / depth), c.Leaf())]
    report = checked(folders, tmp_path / "good", net, claim, [[0.5]], c.LeafProof(0, (), (*nodes, c.Leaf())))
    assert report.claims[0].rows[0].leaves == depth + 1


@pytest.mark.parametrize("depth", [10**5, pytest.param(10**6, marks=pytest.mark.slow)])
def test_trees_that_never_end(folders, tmp_path, depth):
    net = SmileNet(Domain.box([0.0], [1.0], ["x"]), MLP(1, (1,), 1), 1, auxiliaries="constant")
    claim = Claim(1, (), (row([(1, 0, "out", "")], 100),))
    binary = struct.pack("<BBHd", 2, 0, 0, 0.5) * depth
    files = folders.files_of(net, [c.ClaimProof(claim.to_json(), [[0.5]], (c.LeafProof(0, (), (c.Leaf(),)),))])
    folders.put(tmp_path / "m", restored(files, binary=binary, rows=[{"length": len(binary)}]))
    assert "in the middle" in check_folder(tmp_path / "m").reason


def test_too_many_nodes(folders, small, monkeypatch):
    monkeypatch.setattr(check_reference, "MOST_NODES", 17)
    assert "more nodes" in check_folder(small[0]).reason
    monkeypatch.setattr(check_reference, "MOST_NODES", 18)
    assert check_folder(small[0]).status == "certified"


BAD_ROW = {"terms": [["1", 0, "out", ""]], "op": "<=", "rhs": "1"}
FORGERIES = {
    "edited claim": dict(claim={"others": "free"}, rehash=False),
    "another sentence is fine": dict(claim={"sentence": "Trust me."}),
    "copies as bool": dict(claim={"copies": True}),
    "copies as float": dict(claim={"copies": 2.0}),
    "five copies": dict(claim={"copies": 5}),
    "no conclusion": dict(claim={"then": []}),
    "no claims": dict(certificate={"claims": []}),
    "others": dict(claim={"others": "Equal"}),
    "equal as text": dict(claim={"equal": "x"}),
    "unknown feature": dict(claim={"equal": ["z"]}),
    "exponent": dict(claim={"then": [BAD_ROW | {"rhs": "1e5"}] * 2}),
    "number instead of text": dict(claim={"then": [BAD_ROW | {"rhs": 1}] * 2}),
    "decimal": dict(claim={"then": [BAD_ROW | {"rhs": "1.5"}] * 2}),
    "plus": dict(claim={"then": [BAD_ROW | {"rhs": "+1"}] * 2}),
    "new line": dict(claim={"then": [BAD_ROW | {"rhs": "1\n"}] * 2}),
    "other digits": dict(claim={"then": [BAD_ROW | {"rhs": "١"}] * 2}),
    "zero denominator": dict(claim={"then": [BAD_ROW | {"rhs": "1/00"}] * 2}),
    "giant": dict(claim={"then": [BAD_ROW | {"rhs": "9" * 401}] * 2}),
    "common denominator": dict(claim={"then": [BAD_ROW | {"rhs": f"1/{10**399 + i}"} for i in (1, 3, 7)]}),
    "op": dict(claim={"then": [BAD_ROW | {"op": "<"}] * 2}),
    "copy out of range": dict(claim={"then": [BAD_ROW | {"terms": [["1", 2, "out", ""]]}] * 2}),
    "copy as bool": dict(claim={"then": [BAD_ROW | {"terms": [["1", True, "out", ""]]}] * 2}),
    "category as number": dict(claim={"then": [BAD_ROW | {"terms": [["1", 0, "in", "r"]]}] * 2}),
    "premise over outputs": dict(claim={"when": [BAD_ROW]}),
    "unknown output": dict(claim={"then": [BAD_ROW | {"terms": [["1", 0, "out", "q"]]}] * 2}),
    "more rows than proofs": dict(claim={"then": [BAD_ROW] * 3}),
    "extra key": dict(claim={"more": 1}),
    "false row": dict(claim={"when": [{"terms": [], "op": "<=", "rhs": "-1"}]}),
    "other premise": dict(claim={"when": [BAD_ROW | {"terms": [["1", 0, "in", "x"]], "rhs": "1/5"}]}),
    "bits as bool": dict(rows=[{"bits": True}, {}]),
    "bits as float": dict(rows=[{"bits": 2.0}, {}]),
    "negative bits": dict(rows=[{"bits": -1}, {}]),
    "huge shift": dict(rows=[{"bits": 10**9}, {}]),
    "units not increasing": dict(rows=[{"units": [0, 2, 1, 3]}, {}]),
    "units twice": dict(rows=[{"units": [0, 0, 1, 2]}, {}]),
    "unit out of range": dict(rows=[{"units": [0, 1, 2, 4]}, {}]),
    "unit as float": dict(rows=[{"units": [0, 1, 2, 3.0]}, {}]),
    "start": dict(rows=[{"start": 1}, {}]),
    "length": dict(rows=[{"length": 10**30}, {}]),
    "overlap": dict(rows=[{}, {"start": 0}]),
    "another rule": dict(rows=[{"rule": "trust"}, {}]),
    "leaf as slope": dict(rows=[{"rule": "slope"}, {}]),
    "version": dict(certificate={"version": 3}),
    "version of another manifest": dict(certificate={"version": 1}),
    "version as float": dict(certificate={"version": 2.0}),
    "version as bool": dict(certificate={"version": True}),
    "format": dict(certificate={"format": "else"}),
    "profile": dict(certificate={"profile": "f32-any-order"}),
    "other file": dict(certificate={"proofs": "../certificate.bin"}),
    "upper-case hash": dict(certificate={"model": "A" * 64}),
    "another model": dict(certificate={"model": "0" * 64}),
    "another proof file": dict(certificate={"proofs_sha256": "0" * 64}),
    "key too many": dict(certificate={"more": 1}),
    "encoder": dict(net={"encoder": {}}),
    "NaN weight": dict(tensors={"head_bias": [math.nan]}),
    "infinite weight": dict(tensors={"head_bias": [math.inf]}),
    "embedding as bool": dict(net={"embedding": True}),
    "embedding": dict(net={"embedding": 3}),
    "hidden": dict(net={"hidden": 10**9}),
    "scale": dict(net={"output_scale": [3.0]}),
    "scale as integer": dict(net={"output_scale": [1]}),
    "gap instead of paper": dict(net={"boxes": "gap"}),
    "boxes as list": dict(net={"boxes": ["gap"]}),
    "skip": dict(net={"skip": 1}),
    "outputs twice": dict(net={"outputs": ["a", "a"], "output_scale": [1.0, 1.0]}),
    "weights changed": dict(tensors={"head_bias": [1.0]}, rehash=False),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(folders, small, tmp_path, name):
    folders.put(tmp_path / "m", restored(small[1], **FORGERIES[name]))
    report = check_folder(tmp_path / "m")
    assert report.status == ("certified" if name.endswith("is fine") else "refused"), report.status
    assert bool(report.reason) == (report.status == "refused")


def feature(**changes):
    return {"name": "x", "kind": "continuous", "lo": 0.0, "hi": 1.0} | changes


@pytest.mark.parametrize(
    "changed",
    [
        feature(lo=0),
        feature(lo=2.0),
        feature(mult=0.0),
        feature(mult=-1.0),
        feature(shift=True),
        feature(kind="real"),
        feature(name=""),
        feature(name=1),
        feature(kind="integer", lo=0.5),
        feature(kind="binary", hi=2.0),
        feature(more=1),
        feature(kind="category"),
        feature(kind="category", categories=["a", "a"]),
        feature(categories=["a", "b"]),
        feature(kind="binary", categories=["a"]),
        feature(kind="category", categories="ab"),
        feature(unit=3),
        feature(kind="category", categories=["a"], columns=["a", "b"]),
        {"name": "x"},
        [],
        feature(name="n"),
        feature(kind="category", categories=["a"], columns=["n"]),
    ],
)
def test_features_that_make_no_sense_are_refused(folders, small, tmp_path, changed):
    described = json.loads(small[1]["model.json"])["net"]["domain"]["features"]
    folders.put(tmp_path / "m", restored(small[1], net={"domain": {"features": [changed, *described[1:]]}}))
    assert check_folder(tmp_path / "m").status == "refused"


WITNESSES = {
    "none": [],
    "one copy": [[0.25, 1.0, 1.0, 0.0]],
    "short": [[0.25, 1.0, 1.0], [0.25, 2.0, 1.0]],
    "outside the box": [[1.25, 1.0, 1.0, 0.0], [1.25, 1.0, 1.0, 0.0]],
    "half a number": [[0.25, 1.5, 1.0, 0.0], [0.25, 1.0, 1.0, 0.0]],
    "two categories": [[0.25, 1.0, 1.0, 1.0], [0.25, 1.0, 1.0, 1.0]],
    "no category": [[0.25, 1.0, 0.0, 0.0], [0.25, 1.0, 0.0, 0.0]],
    "pin broken": [[0.25, 1.0, 1.0, 0.0], [0.25, 1.0, 0.0, 1.0]],
    "strip broken": [[0.5, 1.0, 1.0, 0.0], [0.375, 1.0, 1.0, 0.0]],
    "strip broken by one float": [[math.nextafter(0.1, 1), 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]],
    "extra row broken": [[1.0, 3.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0]],
    "integers": [[0, 1, 1, 0], [0, 2, 1, 0]],
    "texts": [["0", "1", "1", "0"], ["0", "2", "1", "0"]],
    "bools": [[0.25, True, True, False], [0.25, True, True, False]],
}


@pytest.mark.parametrize("name", WITNESSES)
def test_witnesses_are_checked(folders, small, tmp_path, name):
    content = json.loads(small[1]["certificate.json"])
    content["claims"][0]["witness"] = WITNESSES[name]
    folders.put(tmp_path / "m", small[1] | {"certificate.json": json.dumps(content).encode()})
    assert check_folder(tmp_path / "m").status == "refused"


def test_minus_zero_is_zero(folders, small, tmp_path):
    content = json.loads(small[1]["certificate.json"])
    content["claims"][0]["witness"] = [[-0.0, 1.0, 1.0, -0.0], [0.0, 2.0, 1.0, 0.0]]
    folders.put(tmp_path / "m", small[1] | {"certificate.json": json.dumps(content).encode()})
    assert check_folder(tmp_path / "m").status == "certified"


TEXTS = {
    "duplicate key": b'{"a": 1, "a": 1}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": -Infinity}',
    "beyond floats": b'{"a": 1e400}',
    "long number": b'{"a": ' + b"1" * 401 + b"}",
    "long float": b'{"a": 0.' + b"1" * 400 + b"}",
    "deep": b"[" * 65 + b"]" * 65,
    "very deep": b"[" * 1_000_000,
    "deep behind a quote": b'["\\"", ' + b"[" * 64 + b"]" * 64 + b"]",
    "not closed": b'{"a": "' + b'\\"' * 100_000,
    "empty": b"",
    "not UTF-8": b'{"a": "\xff"}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "two values": b"{} {}",
    "comment": b"{} // fine",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("file", ["certificate.json", "model.json", "manifest.json"])
def test_strict_json(folders, small, tmp_path, name, file):
    if file == "manifest.json":
        folders.put(tmp_path / "m", small[1])
        (tmp_path / "m" / file).write_bytes(TEXTS[name])
    else:
        folders.put(tmp_path / "m", small[1] | {file: TEXTS[name]})
    assert check_folder(tmp_path / "m").status == "unreadable"


@pytest.mark.parametrize(
    "text", [b"[]", b"3", b"null", b'"x"', b"{}", b'{"net": []}', b'{"net": {}, "files": 1}', b'{"a": "\\ud800"}']
)
@pytest.mark.parametrize("file", ["certificate.json", "model.json", "manifest.json"])
def test_json_of_another_shape(folders, small, tmp_path, text, file):
    folders.put(tmp_path / "m", small[1] | ({} if file == "manifest.json" else {file: text}))
    if file == "manifest.json":
        (tmp_path / "m" / file).write_bytes(text)
    assert check_folder(tmp_path / "m").status == "refused"


def safetensors(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_safetensors_files_that_are_not(folders, small, tmp_path):
    header, data = unpacked(small[1])
    first = min((e["data_offsets"][0], n) for n, e in header.items() if n != "__metadata__")[1]
    entry = header[first]
    bad = [
        b"",
        b"\0" * 7,
        b"\xff" * 8,
        (1 << 40).to_bytes(8, "little") + b"{}",
        safetensors(b"[]", b""),
        safetensors(b"{", b""),
        safetensors(header, data[:-1]),
        safetensors(header, data + b"\0"),
        safetensors({}, b"x"),
        safetensors(
            header | {first: entry | {"data_offsets": [entry["data_offsets"][0] + 8, entry["data_offsets"][1]]}}, data
        ),
        safetensors(header | {first: entry | {"data_offsets": [-8, 0]}}, data),
        safetensors(header | {first: entry | {"data_offsets": [0]}}, data),
        safetensors(header | {first: entry | {"data_offsets": [0.0, 8.0]}}, data),
        safetensors(header | {first: entry | {"shape": "2"}}, data),
        safetensors(header | {first: 3}, data),
        safetensors(header | {first: entry | {"more": 1}}, data),
    ]
    for i, content in enumerate(bad):
        folders.put(tmp_path / f"{i}", small[1] | {"weights.safetensors": content})
        assert check_folder(tmp_path / f"{i}").status == "unreadable", i
    wrong = [
        {**header, first: entry | {"dtype": "F32"}},
        {**header, first: entry | {"shape": [10**300]}},
        {**header, first: entry | {"shape": [*entry["shape"], 1]}},
        {n: e for n, e in header.items() if n != first} | {f"{first}.": entry},
        header | {"more": entry | {"shape": [0], "data_offsets": [0, 0]}},
    ]
    for i, changed in enumerate(wrong):
        folders.put(tmp_path / f"w{i}", small[1] | {"weights.safetensors": safetensors(changed, data)})
        assert check_folder(tmp_path / f"w{i}").status == "refused", i


def test_a_gap_must_not_be_negative(folders, tmp_path):
    net = plain_net(Domain.box([0.0], [1.0], ["x"]), [[1.0]], [0.0], [1.0])
    claim = Claim(1, (), (row([(1, 0, "out", "")], 10),))
    files = folders.files_of(net, [c.ClaimProof(claim.to_json(), [[0.5]], (c.LeafProof(0, (), (c.Leaf(),)),))])
    for name in ("second.const", "second.out"):
        folders.put(tmp_path / name, restored(files, tensors={name: [-1e-300]}))
        assert "negative" in check_folder(tmp_path / name).reason


def test_files_that_are_no_files(folders, small, tmp_path):
    folder, files, _, _ = small
    assert check_folder(tmp_path / "nowhere").status == "unreadable"
    assert check_folder(folder / "model.json").status == "unreadable"
    (folder / "certificate.bin").unlink()
    os.mkfifo(folder / "certificate.bin")  # opening it for reading would wait for ever
    assert check_folder(folder).status == "unreadable"
    (folder / "certificate.bin").unlink()
    (folder / "certificate.bin").mkdir()
    assert check_folder(folder).status == "unreadable"
    for name in ("../evil", "a/b", "..", "", "a\0b", "a\nb"):
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["files"][name] = {"sha256": "0" * 64, "bytes": 0}
        body = {key: value for key, value in manifest.items() if key != "digest"}
        digest = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(body | {"digest": digest}))
        assert check_folder(folder).exit_code in (1, 2)
        folders.put(tmp_path / "again", files)
    for missing in files:
        folders.put(tmp_path / missing, {name: data for name, data in files.items() if name != missing})
        assert check_folder(tmp_path / missing).status == "unreadable"


def test_large_files_are_not_read(small, monkeypatch):
    monkeypatch.setattr(exact_folder, "LARGEST_JSON", 100)
    assert check_folder(small[0]).status == "unreadable"


def test_another_models_certificate(folders, tmp_path):
    one = folders.random_folder(
        tmp_path / "1", 11, domain=Domain.box([0.0], [1.0]), auxiliaries="relu", boxes="gap", claims=1
    )
    two = folders.random_net(np.random.default_rng(12), one.net.domain, auxiliaries="relu", boxes="gap")
    files = folders.files_of(two, one.proofs)
    stolen = {name: (one.folder / name).read_bytes() for name in ("certificate.json", "certificate.bin")}
    folders.put(tmp_path / "2", files | stolen)
    assert "another network" in check_folder(tmp_path / "2").reason


def test_mirrors(folders, tmp_path):
    net = folders.random_net(
        np.random.default_rng(2), Domain.box([0.0], [1.0], ["x"]), auxiliaries="affine", boxes="gap", outputs=1
    )
    out = net.outputs[0]
    there = row([(1, 0, "out", out), (-1, 1, "out", out), (F(1, 3), 0, "in", "x")], 50)
    back = row([(1, 1, "out", out), (-1, 0, "out", out), (F(1, 3), 1, "in", "x")], 50)
    both = tuple(row([(s, 0, "in", "x"), (-s, 1, "in", "x")], F(1, 4)) for s in (1, -1))
    leaf, witness = c.LeafProof(0, (), (c.Leaf(),)), [[0.5], [0.5]]

    def status(when, then, *proofs):
        report = checked(
            folders, tmp_path / str(len(list(tmp_path.iterdir()))), net, Claim(2, when, then), witness, *proofs
        )
        assert report.status != "certified" or len({r.bound for r in report.claims[0].rows}) == 1
        return report.status

    assert status(both, (there, back), leaf, c.MirrorProof(0)) == "certified"
    assert status(both, (there, back, there), leaf, c.MirrorProof(0), c.MirrorProof(1)) == "refused"  # of a mirror
    assert status(both, (there, back), c.MirrorProof(1), leaf) == "refused"  # of a later row
    assert status(both, (there, there), leaf, c.MirrorProof(0)) == "refused"  # not exchanged
    assert status(both, (there, back), leaf, c.MirrorProof(1)) == "refused"  # of itself
    assert status(both[:1], (there, back), leaf, c.MirrorProof(0)) == "refused"  # one-sided strip
    assert (
        status((*both, row([(1, 0, "in", "x")], F(3, 4))), (there, back), leaf, c.MirrorProof(0)) == "refused"
    )  # boxes
    extra = row([(1, 0, "in", "x"), (1, 1, "in", "x")], 2)
    assert (
        status((*both, extra), (there, back), c.LeafProof(0, (), (c.Leaf((), (), (0,)),)), c.MirrorProof(0))
        == "refused"
    )


def test_rules_refuse_what_they_do_not_cover(folders, tmp_path):
    rng = np.random.default_rng(4)
    plane = folders.random_net(
        rng, Domain.box([0.0, 0.0], [1.0, 1.0], ["x", "y"]), auxiliaries="affine", outputs=1, boxes="gap", zero_gap=True
    )
    wide = folders.random_net(
        rng, Domain.box([0.0], [1.0], ["x"]), auxiliaries="affine", outputs=1, boxes="gap", zero_gap=False
    )
    flat = plain_net(Domain.box([0.0], [1.0], ["x"]), [[1.0]], [0.0], [1.0])
    group = plain_net(Domain((Feature("r", "category", categories=("a", "b")),)), [[1.0, 0.0]], [0.0], [1.0])
    pair = row([(1, 0, "out", ""), (-1, 1, "out", "")], 0)
    slope, sweep = c.SlopeProof(0, (c.Leaf(),)), c.SweepProof()
    extra = row([(1, 0, "in", "x"), (1, 1, "in", "x")], 2)
    cases = [
        (plane, Claim(2, monotone("x").when, (row([(1, 0, "out", plane.outputs[0])], 9),)), sweep),
        (flat, Claim(3, (), (row([(1, 0, "out", "")], 9),), "free"), sweep),
        (flat, Claim(2, (extra,), (pair,)), sweep),
        (
            wide,
            Claim(2, monotone("x").when, (row([(1, 0, "out", wide.outputs[0]), (-1, 1, "out", wide.outputs[0])], 0),)),
            slope,
        ),
        (flat, Claim(2, (*monotone("x").when, extra), (pair,)), slope),
        (flat, Claim(2, (), (pair,), "free"), slope),
        (flat, Claim(2, monotone("x").when, (row([(1, 0, "out", ""), (-1, 1, "out", "")], -1),)), slope),
        (flat, Claim(2, monotone("x").when, (row([(1, 0, "out", ""), (-2, 1, "out", "")], 0),)), slope),
        (
            flat,
            Claim(2, monotone("x").when, (row([(1, 0, "out", ""), (-1, 1, "out", ""), (1, 0, "in", "x")], 0),)),
            slope,
        ),
        (flat, Claim(1, (), (row([(1, 0, "out", "")], 9),)), slope),
        (group, Claim(2, tuple(row([(1, 0, "in", n), (-1, 1, "in", n)], 0) for n in ("r=a",)), (pair,)), slope),
    ]
    for i, (net, claim, proof) in enumerate(cases):
        x = [[1.0, 0.0] if net is group else [0.0] * net.domain.size] * claim.copies
        assert checked(folders, tmp_path / str(i), net, claim, x, proof).status == "refused", i


# ---- the words, and what is imported --------------------------------------------------------------------------------


def test_report_and_exit_codes(folders, small, tmp_path, capsys):
    folder, files, _, _ = small
    assert check_reference.main([str(folder)]) == 0
    text = capsys.readouterr().out
    assert '"x": 0 to 1 "€"' in text and '"n": whole numbers 0 to 4' in text
    assert '"r": exactly one of "r=u", "r=v"' in text
    assert 'a["x"] + b["x"] + a["n"] <= 3, a["x"] - b["x"] <= 0.1, other features equal ⇒' in text
    assert (
        'comment, as stored, not checked: "It\\u001bholds."' in text
        and "\x1b" not in text
        and "CERTIFIED" in text
        and "9 leaves" not in text
        and "5 leaves" in text
    )
    claim = json.loads(files["certificate.json"])["claims"][0]["claim"]
    then = [claim["then"][0] | {"rhs": "-1"}, claim["then"][1]]
    folders.put(tmp_path / "u", restored(files, claim={"then": then}))
    assert check_reference.main([str(tmp_path / "u")]) == 3
    text = capsys.readouterr().out
    assert "UNKNOWN" in text and "too much" in text and "CERTIFIED" not in text
    report = check_folder(tmp_path / "u")
    assert report.excess == max(r.bound + r.margin - r.rhs for r in report.claims[0].rows) > 0
    (folder / "certificate.bin").write_bytes(b"")
    assert check_reference.main([str(folder)]) == 1 and "REFUSED" in capsys.readouterr().out
    (folder / "manifest.json").unlink()
    assert check_reference.main([str(folder)]) == 2 and "UNREADABLE" in capsys.readouterr().out
    assert check_reference.main([]) == 2 and "Usage" in capsys.readouterr().err
    assert check_folder(folder).excess is None


def test_numbers_in_words():
    shown = [exact_words.number(F(v)) for v in ("1/10", "-1/3", "7", "-5/4", "0")]
    assert shown == ["0.1", "-1/3", "7", "-1.25", "0"]
    shown = [exact_words.rounded(v) for v in (F(10) ** 400, -F(1, 3), F(1, 2), F(3, 10**400), F(0))]
    assert shown == ["1.00000e+400", "-0.333333", "0.5", "3e-400", "0"]
    assert exact_words.at_most(F(1, 3)) == "0.333334" and exact_words.at_most(-F(1, 3)) == "-0.333333"


@pytest.mark.parametrize("name", OWN)
def test_standard_library_only(name):
    """On the syntax tree: the standard library, and the modules of the reference checker."""
    for node in ast.walk(ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module is not None
            own = node.module.startswith("smilenn.certify.reference.") and node.module.split(".")[3] in OWN
            assert own or node.module.split(".")[0] in sys.stdlib_module_names


def test_runs_without_any_installed_package(small):
    source = Path(check_reference.__file__).parents[3]
    code = (
        f"import sys; sys.path.insert(0, {str(source)!r})\n"
        "from smilenn.certify.reference.check import main\n"
        f"code = main([{str(small[0])!r}])\n"
        "assert not {'numpy', 'torch', 'pandas', 'scipy', 'safetensors'} & set(sys.modules)\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "CERTIFIED" in done.stdout


def test_joint_vertices_cover_the_polygon():
    """The maximum over S_j by vertices is the maximum over a grid of points of S_j, or above it."""
    rng = np.random.default_rng(8)
    for _ in range(150):
        a1, b1, a2, b2 = (F(int(v), 4) for v in rng.integers(-8, 9, size=4))
        dl, du = sorted(F(int(v), 4) for v in rng.integers(-8, 9, size=2))
        (a1, b1), (a2, b2) = sorted((a1, b1)), sorted((a2, b2))
        pieces = [(F(int(k)), F(int(t))) for k, t in rng.integers(-3, 4, size=(2, 2))]
        steps = [F(i, 4) for i in range(-8, 9)]
        inside = [(x, y) for x in steps for y in steps if a1 <= x <= b1 and a2 <= y <= b2 and dl <= x - y <= du]
        points = exact_rules._vertices((a1, b1), (a2, b2), (dl, du))
        assert bool(points) == bool(inside)
        if inside:
            assert exact_rules._best(pieces, points) == exact_rules._best(pieces, inside)


def test_the_premise_agrees_with_the_one_of_provers(folders, tmp_path):
    for seed in range(80):
        made = folders.random_folder(tmp_path / str(seed), seed)
        folder = reader.read_folder(made.folder)
        for entry, claim in zip(folder.entries, made.claims, strict=True):
            exact, floats = check_reference.ground(entry.claim, folder.net.domain), ground(claim, made.net.domain)
            assert np.allclose(np.array(exact.lo, dtype=float), floats.lo, rtol=1e-12, atol=1e-12)
            assert np.allclose(np.array(exact.hi, dtype=float), floats.hi, rtol=1e-12, atol=1e-12)
            assert (floats.pinned | ~np.array(exact.pinned)).all()
            assert exact.symmetric == floats.symmetric
            if claim.copies == 2:
                assert np.allclose(np.array(exact.strip_lo, dtype=float), floats.delta_lo, atol=1e-12)
                assert np.allclose(np.array(exact.strip_hi, dtype=float), floats.delta_hi, atol=1e-12)
