"""Lemmas of the leaf rule: they hold at every point of the premise, r is never below the exact maximum, and what is not
well-formed is refused, by both checkers alike.
"""

import dataclasses
import itertools
import json
import math
import struct
from collections import defaultdict
from fractions import Fraction as F
from types import SimpleNamespace

import numpy as np
import pytest

from smilenn.certify import certificate as c
from smilenn.certify import check
from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import encoder as exact_encoder
from smilenn.certify.reference import model as exact_model
from smilenn.certify.reference import premise as exact_premise
from smilenn.certify.reference import reader
from smilenn.certify.reference import rules as exact_rules
from smilenn.certify.reference.dyadic import moves
from smilenn.domain import Domain, Feature
from smilenn.problem import build
from smilenn.properties.claim import Claim, row
from smilenn.properties.library import Fair, Robust
from smilenn.provers.proof import MULTIPLIER_BITS, Lemma
from smilenn.provers.tree import learn
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.written import leaf_proof
from smilenn.provers.witness import witness

LOADED = SimpleNamespace(check=check, check_reference=check_reference, reader=reader)
ONE = 1 << MULTIPLIER_BITS  # a multiplier of one


def told(small, files):
    """What both checkers say of the files of a folder, if it is the same: status and the rows' bound + margin."""
    (fast,), (slow,) = small.answers(LOADED, [files], True), small.answers(LOADED, [files], False)
    assert (fast[0], fast[2]) == (slow[0], slow[2]), (fast, slow)
    return slow


# ---- lemmas for any folder ------------------------------------------------------------------------------------------


def parts(path):
    """Network, and for every claim its premise as the rules see it and its rows."""
    folder = reader.read_folder(path)
    model = exact_model.build_model(folder.net)
    omega = moves(model) if folder.net.profile == "dyadic" else None
    premises = [
        exact_encoder.encoded(folder.net, exact_premise.ground(entry.claim, folder.net.domain, omega))
        for entry in folder.entries
    ]
    return folder, model, premises


def random_lemma(rng, model, premise, bits):
    """Any β and θ; h at random, or near β·w as that of a useful lemma."""
    k, m, scale = premise.copies, len(premise.pinned), 2.0**bits
    unit = int(rng.integers(len(model.bias)))
    beta = np.rint(rng.normal(size=k) * scale * rng.choice([0, 1, 1, 1, 2], size=k))
    count = int((beta < 0).sum()) << int((beta > 0).sum())
    theta = np.rint(rng.uniform(-3.0, 1.0, size=count) * scale)
    if rng.random() < 0.5:
        weight = np.array([float(w) for w in model.weight[unit]]) / np.array([float(v) for v in premise.domain.mult])
        slope = rng.uniform(size=(k, m)) * beta[:, None] * weight
    else:
        slope = rng.normal(size=(k, m)) * scale * (rng.random(size=(k, m)) < 0.6)
    whole = (np.clip(np.rint(v), -(2**31), 2**31 - 1).astype(int).tolist() for v in (beta, theta, slope.ravel()))
    return Lemma(unit, *map(tuple, whole))


def record(lemma):
    """A lemma as certificate.bin holds it, packed here once more."""
    values = (*lemma.beta, *lemma.theta, *lemma.slope)
    return struct.pack("<H", lemma.unit) + b"".join(struct.pack("<i", v) for v in values)


def given_lemmas(path, rng):
    """The files of a folder whose proofs by the leaf rule begin with random lemmas, multipliers in every leaf."""
    folder, model, premises = parts(path)
    files = {file.name: file.read_bytes() for file in path.iterdir() if file.name != "manifest.json"}
    content, old, binary, number = json.loads(files["certificate.json"]), files["certificate.bin"], bytearray(), 0
    for entry, premise in zip(content["claims"], premises, strict=True):
        k = premise.copies
        for proof in entry["rows"]:
            if "start" not in proof:
                continue
            piece, proof["start"] = old[proof["start"] : proof["start"] + proof["length"]], len(binary)
            if proof["rule"] == "leaf" and len(model.bias):
                n = folder.net.embedding if folder.net.boxes == "paper" else 0
                numbers, count = k * (n + len(proof["units"])) + len(premise.extra), int(rng.integers(1, 4))
                for _ in range(count):
                    binary += record(random_lemma(rng, model, premise, proof["bits"]))
                piece, proof["lemmas"], number = with_multipliers(rng, piece, numbers, count), count, number + count
            binary += piece
            proof["length"] = len(binary) - proof["start"]
    content["proofs_sha256"] = check.hashlib.sha256(binary).hexdigest()
    return files | {"certificate.json": json.dumps(content).encode(), "certificate.bin": bytes(binary)}, number


def with_multipliers(rng, nodes, numbers, count):
    """The tree with so many multipliers at the end of every leaf; nodes have a length by their kind."""
    out, at = bytearray(), 0
    while at < len(nodes):
        size = {0: 1 + 4 * numbers, 2: 12}.get(nodes[at], 4)
        out += nodes[at : at + size]
        if nodes[at] == 0:
            y = np.rint(np.abs(rng.normal(size=count)) * ONE * (rng.random(size=count) < 0.7)).astype(int)
            out += struct.pack(f"<{count}i", *y.tolist())
        at += size
    return bytes(out)


# ---- points of a premise, not by the checkers' own functions --------------------------------------------------------


def sampled(rng, premise, count):
    """Points of the premise, extra rows left out: inside, on edges and at corners; [k][m] in rationals."""
    k, m = premise.copies, len(premise.pinned)
    grouped = {i for group in premise.domain.groups for i in group}
    tuples = [allowed_tuples(premise, group) for group in premise.domain.groups]
    for _ in range(count):
        x = [[F(0)] * m for _ in range(k)]
        for i in set(range(m)) - grouped:
            lo, hi = [copy[i] for copy in premise.lo], [copy[i] for copy in premise.hi]
            if premise.pinned[i]:
                values = [pick(rng, premise, i, max(lo), min(hi))] * k
            elif k == 2:
                low, high = premise.strip_lo[i], premise.strip_hi[i]
                first = pick(rng, premise, i, max(lo[0], lo[1] + low), min(hi[0], hi[1] + high))
                values = [first, pick(rng, premise, i, max(lo[1], first - high), min(hi[1], first - low))]
            else:
                values = [pick(rng, premise, i, a, b) for a, b in zip(lo, hi, strict=True)]
            for copy, value in zip(x, values, strict=True):
                copy[i] = value
        for group, options in zip(premise.domain.groups, tuples, strict=True):
            for copy, p in zip(x, options[int(rng.integers(len(options)))], strict=True):
                copy[group[p]] = F(1)
        yield x


def pick(rng, premise, i, lo, hi):
    """An end, or something between."""
    assert lo <= hi
    if premise.whole[i]:
        return F(int(rng.integers(math.ceil(lo), math.floor(hi) + 1)))
    return (lo, hi, lo + (hi - lo) * F(int(rng.integers(17)), 16))[int(rng.integers(3))]


def allowed_tuples(premise, group):
    """Every tuple of categories whose coordinates obey bounds, pins and strips."""
    out = []
    for members in itertools.product(range(len(group)), repeat=premise.copies):
        values = [[F(p == q) for q in range(len(group))] for p in members]
        good = all(
            premise.lo[copy][i] <= v[q] <= premise.hi[copy][i]
            for copy, v in enumerate(values)
            for q, i in enumerate(group)
        )
        for q, i in enumerate(group):
            good &= not premise.pinned[i] or len({v[q] for v in values}) == 1
            good &= premise.copies != 2 or premise.strip_lo[i] <= values[0][q] - values[1][q] <= premise.strip_hi[i]
        out += [members] if good else []
    return out


def units_at(model, x):
    """s_j(x_c), [k][H]."""
    return [[b + exact_model.dot(w, copy) for w, b in zip(model.weight, model.bias, strict=True)] for copy in x]


def excess(lemma, bits, domain, s, x):
    """Σ_c β_c·relu(s_j(x_c)) − h_c·u(x_c), which r must not be below."""
    m, total = len(domain.mult), F(0)
    for copy, point in enumerate(x):
        total += F(lemma.beta[copy], 2**bits) * max(s[copy][lemma.unit], F(0))
        for i, v in enumerate(point):
            u = F(domain.mult[i]) * (v - F(domain.shift[i]))
            total -= F(lemma.slope[copy * m + i], 2**bits) * u
    return total


def constant(model, premise, lemma, bits):
    """The r of a lemma, as the reference has it."""
    read = reader.Lemma(lemma.unit, lemma.beta, thetas(lemma), struct.pack(f"<{len(lemma.slope)}i", *lemma.slope))
    known = exact_rules._known(model, exact_premise.Cell(premise, len(model.bias)), read, bits)
    domain, m = premise.domain, len(premise.pinned)
    return known.const + sum(
        F(v, 2**bits) * F(domain.mult[i % m]) * F(domain.shift[i % m]) for i, v in enumerate(lemma.slope)
    )


def thetas(lemma):
    below = sum(b < 0 for b in lemma.beta)
    return tuple(lemma.theta[p * below : (p + 1) * below] for p in range(2 ** sum(b > 0 for b in lemma.beta)))


# ---- soundness ------------------------------------------------------------------------------------------------------

CHOICES = [
    {"copies": 1},
    {"copies": 2},
    {"copies": 3},
    {"copies": 2, "boxes": "paper"},
    {"copies": 3, "boxes": "paper"},
    {"copies": 2, "profile": "dyadic"},
    {"copies": 1, "profile": "dyadic"},
    {"copies": 2, "profile": "fixed-order"},
]


@pytest.mark.parametrize("seed", range(16))
def test_a_lemma_holds_at_every_point_of_the_premise(folders, tmp_path, seed):
    rng = np.random.default_rng(seed)
    choices = {"auxiliaries": "relu", "claims": 1} | CHOICES[seed % len(CHOICES)]
    folders.random_folder(tmp_path / "m", 500 + seed, **choices)
    _, model, (premise,) = parts(tmp_path / "m")
    every = [(x, units_at(model, x)) for x in sampled(rng, premise, 60)]
    for bits in (0, 3, 20):
        for _ in range(4):
            lemma = random_lemma(rng, model, premise, bits)
            r = constant(model, premise, lemma, bits)
            assert max(excess(lemma, bits, premise.domain, s, x) for x, s in every) <= r


@pytest.mark.parametrize("seed", range(8))
def test_a_lemma_holds_at_every_point_of_what_an_encoder_leaves(encoders, tmp_path, seed):
    """Coordinates that pass, and those that layers make, pinned and with strips."""
    rng = np.random.default_rng(seed)
    first = 40 * seed
    while True:  # the first that is read, and has a branch that passes
        encoders.encoded_folder(tmp_path / str(first), first, auxiliaries="relu", copies=1 + seed % 3)
        try:
            folder, model, (premise,) = parts(tmp_path / str(first))
        except check_reference.CheckError:
            folder = None
        if folder is not None and folder.net.passed:
            break
        first += 1
    every = [(x, units_at(model, x)) for x in sampled(rng, premise, 40)]
    for _ in range(5):
        lemma = random_lemma(rng, model, premise, 8)
        r = constant(model, premise, lemma, 8)
        assert max(excess(lemma, 8, premise.domain, s, x) for x, s in every) <= r


@pytest.mark.parametrize("seed", range(16))
def test_no_leaf_with_lemmas_is_below_a_point_of_its_cell(folders, small, tmp_path, monkeypatch, seed):
    rng, leaves = np.random.default_rng(seed), []
    choices = {"auxiliaries": "relu", "rule": "leaf", "claims": 1} | CHOICES[seed % len(CHOICES)]
    folders.random_folder(tmp_path / "m", 700 + seed, **choices)
    files, number = given_lemmas(tmp_path / "m", rng)
    assert number
    bound_of = exact_rules._leaf_bound

    def recorded(model, cell, psi, *others):
        found = bound_of(model, cell, psi, *others)
        values = [[list(copy) for copy in v] for v in (cell.lo, cell.hi, cell.allowed, cell.phase, cell.flip)]
        leaves[-1].append((*values, found))
        return found

    rule = exact_rules.leaf_rule

    def separately(*arguments):
        leaves.append([])
        return rule(*arguments)

    monkeypatch.setattr(exact_rules, "_leaf_bound", recorded)
    monkeypatch.setattr(check_reference, "leaf_rule", separately)
    status, _, _ = told(small, files)
    assert status in ("certified", "unknown")
    folder, model, (premise,) = parts(tmp_path / "m")
    inner = exact_model.flips(model)
    rows = folder.entries[0].claim.rows()
    assert len(leaves) == len(rows)
    members = [[list(map(F, copy)) for copy in folder.entries[0].witness]] if folder.net.profile != "dyadic" else []
    members += [x for x in sampled(rng, premise, 60) if obeys(premise, x)]
    met = 0
    for x in members:
        s = units_at(model, x)
        on = [[max(v, F(0)) for v in copy] for copy in s]
        d = [
            [
                inner.const[i] + exact_model.dot(inner.slope[i], x[copy]) + exact_model.dot(inner.out[i], on[copy])
                for i in range(len(inner.const))
            ]
            for copy in range(len(x))
        ]
        for given, cells in zip(rows, leaves, strict=True):
            psi = exact_model.reduce_row(model, given, len(x))
            value = psi.const
            for copy in range(len(x)):
                value += exact_model.dot(psi.q[copy], x[copy]) + exact_model.dot(psi.kappa[copy], on[copy])
                value += exact_model.dot(psi.p[copy], [max(v, F(0)) for v in d[copy]])
            for *cell, found in cells:
                if inside(premise, cell, x, s, d):
                    assert found is not None and found >= value
                    met += 1
    assert met >= len(members) * len(rows)


def obeys(premise, x):
    """Extra rows, up to their slack."""
    for extra in premise.extra:
        value = sum((a * x[copy][i] for (copy, i), a in extra.coef.items()), F(0)) - extra.rhs
        if value > extra.slack or (extra.equality and -value > extra.slack):
            return False
    return True


def inside(premise, cell, x, s, d):
    """Whether a point lies in the cell of a leaf."""
    lo, hi, allowed, phase, flip = cell
    for copy, point in enumerate(x):
        if not all(a <= v <= b for a, v, b in zip(lo[copy], point, hi[copy], strict=True)):
            return False
        for group, members in zip(premise.domain.groups, allowed[copy], strict=True):
            if not any(point[group[p]] == 1 for p in members):
                return False
        for values, sides in ((s[copy], phase[copy]), (d[copy], flip[copy])):
            for value, (negative, positive) in zip(values, sides, strict=False):
                if (negative and value > 0) or (positive and value < 0):
                    return False
    return True


# ---- the exact maximum, by vertices ---------------------------------------------------------------------------------


def solved(rows):
    """The solution of a square system [a | b] in rationals, or None."""
    rows, n = [list(v) for v in rows], len(rows)
    for i in range(n):
        pivot = next((r for r in range(i, n) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i and rows[r][i]:
                factor = rows[r][i]
                rows[r] = [v - factor * w for v, w in zip(rows[r], rows[i], strict=True)]
    return [v[n] for v in rows]


def vertices(model, premise, unit):
    """All vertices of the premise cut by s_j(x_c) = 0 for every c: what is linear between is largest at one."""
    k, m = premise.copies, len(premise.pinned)
    names = {}
    for copy, i in itertools.product(range(k), range(m)):
        names[copy, i] = names[0, i] if copy and premise.pinned[i] else len(set(names.values()))
    size = len(set(names.values()))

    def form(*terms):
        out = [F(0)] * size
        for a, copy, i in terms:
            out[names[copy, i]] += a
        return out

    planes = defaultdict(set)  # and on which sides the premise lies
    for copy, i in names:
        planes[*form((F(1), copy, i)), premise.lo[copy][i]].add(1)
        planes[*form((F(1), copy, i)), premise.hi[copy][i]].add(-1)
    for i in range(m):
        if k == 2 and not premise.pinned[i]:
            strip = form((F(1), 0, i), (F(-1), 1, i))
            planes[*strip, premise.strip_lo[i]].add(1)
            planes[*strip, premise.strip_hi[i]].add(-1)
    for copy in range(k):
        planes[*form(*((w, copy, i) for i, w in enumerate(model.weight[unit]))), -model.bias[unit]].add(0)
    for chosen in itertools.combinations(planes, size):
        y = solved(chosen)
        if y is None:
            continue
        values = {plane: exact_model.dot(plane[:-1], y) - plane[-1] for plane in planes}
        if all(side * values[plane] >= 0 for plane, sides in planes.items() for side in sides):
            yield [[y[names[copy, i]] for i in range(m)] for copy in range(k)]


def tiny(folders, path, seed):
    """A network of one or two numbers with a premise of strips, bounds and pins."""
    copies = 1 + seed % 3
    features = [Feature("x", "continuous", -1.0, 1.5), Feature("y", "continuous", 0.0, 2.0, shift=0.5, mult=1.5)]
    domain = Domain(tuple(features[: 1 if copies == 3 else 1 + seed // 3 % 2]))
    folders.random_folder(path, 900 + seed, domain=domain, copies=copies, auxiliaries="relu", claims=1, rule="leaf")
    _, model, (premise,) = parts(path)
    return model, premise


@pytest.mark.parametrize("seed", range(18))
def test_r_is_never_below_the_exact_maximum_and_equal_without_negative_betas(folders, tmp_path, seed):
    rng, (model, premise) = np.random.default_rng(seed), tiny(folders, tmp_path / "m", seed)
    unit = int(rng.integers(len(model.bias)))
    every = [(x, units_at(model, x)) for x in vertices(model, premise, unit)]
    assert every
    for sign in (1, 1, 1, 0, 0, 0):
        lemma = dataclasses.replace(random_lemma(rng, model, premise, 6), unit=unit)
        if sign:
            lemma = dataclasses.replace(lemma, beta=tuple(map(abs, lemma.beta)), theta=())
        r, most = constant(model, premise, lemma, 6), max(excess(lemma, 6, premise.domain, s, x) for x, s in every)
        assert r == most if sign else r >= most


@pytest.mark.parametrize("seed", [1, 4, 7, 10, 13, 16])
def test_the_best_theta_reaches_the_exact_maximum(folders, tmp_path, seed):
    """k = 2, β = (1, −1): r_p is convex in θ_p and as steep as s at most, and its least value is the maximum for p."""
    (model, premise), rng, grid = tiny(folders, tmp_path / "m", seed), np.random.default_rng(seed), 8
    every = [(x, units_at(model, x)) for x in vertices(model, premise, 0)]
    slope = random_lemma(rng, model, premise, 3).slope
    lemmas = [Lemma(0, (8, -8), theta, slope) for theta in itertools.product(range(-grid, 1), repeat=2)]
    best = min(constant(model, premise, lemma, 3) for lemma in lemmas)
    most = max(excess(lemmas[0], 3, premise.domain, s, x) for x, s in every)
    steep = max(abs(copy[0]) for _, s in every for copy in s)
    assert most <= best <= most + steep / grid


# ---- by hand --------------------------------------------------------------------------------------------------------


def corner(corpus, *nodes, lemmas, bits=0, units=(), rhs="1/4"):
    """f = relu(x + y − 1) − x on the unit square, whose maximum is 0: f ≤ 1/4."""
    net = corpus.plain(corpus.box("x", "y"), [[1.0, 1.0]], [-1.0], [1.0], [-1.0, 0.0])
    claim = Claim(1, (), (row([(1, 0, "out", "")], rhs),))
    return corpus.made(net, claim, [[0.5, 0.5]], c.LeafProof(bits, units, nodes, lemmas))


HULL = Lemma(0, (1,), (), (1, 0))
"""relu(x + y − 1) ≤ x: off, −x ≤ 0; on, y − 1 ≤ 0; so r = 0."""


def test_a_lemma_closes_what_no_slope_does(corpus, small):
    """relu(s) ≤ t·s + max(t, 1 − t) on [−1, 1] leaves 1/2 at least, for every t; the lemma leaves nothing."""
    bounds = {}
    for t in range(-8, 13):
        status, _, rows = told(small, corner(corpus, c.Leaf((), (t,)), lemmas=(), bits=2, units=(0,)))
        bounds[t] = rows[0][1]
        assert status == "unknown"
    assert min(bounds.values()) == bounds[2] == F(1, 2)
    status, _, rows = told(small, corner(corpus, c.Leaf((), (), (), (ONE,)), lemmas=(HULL,)))
    assert status == "certified" and rows[0][:2] == ("leaf", 0)
    # half of it, and half of the unit by t = 1/4: relu(s)/2 ≤ s/4 + 1/4, and x/2 + (x + y)/4 − x is largest at (0, 1)
    leaf, hull = c.Leaf((), (1,), (), (ONE // 2,)), Lemma(0, (4,), (), (4, 0))
    status, _, rows = told(small, corner(corpus, leaf, lemmas=(hull,), bits=2, units=(0,)))
    assert rows[0][1] == F(1, 4)
    # more than one: −relu(s) is left, at most 0, and x
    status, _, rows = told(small, corner(corpus, c.Leaf((), (), (), (2 * ONE,)), lemmas=(HULL,)))
    assert rows[0][1] == 1


def test_a_lemma_by_hand(corpus, folders, small, tmp_path):
    """Two copies, s = 2x − 1 on [0, 1] with u = 2·(x − 1/4), |x_1 − x_2| ≤ 1/4, β = (1, −1), h = (1, −1/2).

    h·u = 2x_1 − x_2 − 1/4. Off, θ = −1/4: −(2x_2 − 1)/4 − 2x_1 + x_2 + 1/4 = 1/2 − 2x_1 + x_2/2, at (0, 1/4) 5/8.
    On, θ = −1/2: 2x_1 − 1 − x_2 + 1/2 − 2x_1 + x_2 + 1/4 = −1/4. So r = 5/8.
    """
    domain = Domain((Feature("x", "continuous", 0.0, 1.0, shift=0.25, mult=2.0),))
    net = corpus.plain(domain, [[1.0]], [-0.5], [1.0])
    claim = Claim(2, (corpus.less("x", "1/4"), corpus.more("x", "1/4")), (corpus.difference(9),))
    lemma = Lemma(0, (4, -4), (-1, -2), (4, -2))

    def bound(lemma, *y, bits=2):
        lemmas = (lemma,) * len(y)
        proof = c.LeafProof(bits, (), (c.Leaf((), (), (), y),), lemmas)
        files = corpus.made(net, claim, [[0.5], [0.5]], proof)
        status, _, rows = told(small, files)
        assert status == "certified"
        return rows[0][1]

    folders.put(tmp_path / "m", corpus.made(net, claim, [[0.5], [0.5]], c.LeafProof(2, (), (c.Leaf(),))))
    _, model, (premise,) = parts(tmp_path / "m")
    assert constant(model, premise, lemma, 2) == F(5, 8)
    # κ = (1, −1) is taken off; 2x_1 − x_2 − 1/4 + 5/8 is largest at (1, 3/4): 1.625
    assert bound(lemma, ONE) == F(2) - F(3, 4) - F(1, 4) + F(5, 8)
    # in two parts, of lemmas that are the same
    assert bound(lemma, ONE // 4, 3 * ONE // 4) == bound(lemma, ONE)
    # θ is cut: −9/4 to β = −1, 7/4 to 0.  Off, θ = 0: −2x_1 + x_2 + 1/4 at (0, 1/4): 1/2.
    # On, θ = −1: 2x_1 − 1 − (2x_2 − 1) − 2x_1 + x_2 + 1/4 = 1/4 − x_2, at x_2 = 0: 1/4
    assert constant(model, premise, dataclasses.replace(lemma, theta=(7, -9)), 2) == F(1, 2)
    assert constant(model, premise, dataclasses.replace(lemma, theta=(0, -4)), 2) == F(1, 2)
    # the other way round.  Off, θ = −1: −(2x_2 − 1) − 2x_1 + x_2 + 1/4 = 5/4 − x_2 − 2x_1, at 0.  On, θ = 0: x_2 − 3/4
    assert constant(model, premise, dataclasses.replace(lemma, theta=(-9, 7)), 2) == F(5, 4)
    assert bound(dataclasses.replace(lemma, theta=(-9, 7)), ONE) == F(1) + F(5, 4)


def test_a_lemma_is_about_the_whole_premise_and_used_in_every_cell(corpus, small):
    """Split at x = 1/2: r stays that of the square, also where x ≥ 1/2."""
    lemma, leaf = Lemma(0, (1,), (), (0, 0)), c.Leaf((), (), (), (ONE,))  # relu(x + y − 1) ≤ 1
    nodes = (c.Input(0, 0, 0.5), leaf, leaf)
    _, _, rows = told(small, corner(corpus, *nodes, lemmas=(lemma,)))
    assert rows[0][1] == 1  # 1 − x at x = 0, though relu(x + y − 1) ≤ 1/2 there
    nodes = (c.Phase(0, 0), c.Leaf((), (), (), (0,)), leaf)
    _, _, rows = told(small, corner(corpus, *nodes, lemmas=(lemma,)))
    assert rows[0][1] == 1


def test_certificates_without_lemmas_say_nothing_of_them(corpus):
    files = corner(corpus, c.Leaf(), lemmas=())
    assert list(json.loads(files["certificate.json"])["claims"][0]["rows"][0]) == [
        "rule",
        "units",
        "bits",
        "start",
        "length",
    ]
    assert files["certificate.bin"] == b"\0"
    files = corner(corpus, c.Leaf((), (), (), (7,)), lemmas=(HULL,))
    assert json.loads(files["certificate.json"])["claims"][0]["rows"][0]["lemmas"] == 1
    assert files["certificate.bin"] == record(HULL) + b"\0" + struct.pack("<i", 7)


# ---- tampering ------------------------------------------------------------------------------------------------------


def forged(files, binary=None, **keys):
    """Another binary file, or other keys of the proof; hashes and lengths made to fit."""
    content = json.loads(files["certificate.json"])
    proof = content["claims"][0]["rows"][0]
    binary = files["certificate.bin"] if binary is None else binary
    proof |= {"length": len(binary)} | keys
    for key in [key for key, value in proof.items() if value is ...]:
        del proof[key]
    content["proofs_sha256"] = check.hashlib.sha256(binary).hexdigest()
    return files | {"certificate.bin": binary, "certificate.json": json.dumps(content).encode()}


def test_no_bit_of_a_lemma_or_its_multiplier_makes_a_bound_too_low(corpus, small):
    """The maximum of f is 0, that of the difference of two copies at most 1: no lemma proves less."""
    files = corner(corpus, c.Leaf((), (), (), (ONE,)), lemmas=(HULL,))
    net = corpus.plain(corpus.box("x"), [[2.0]], [-1.0], [1.0])
    claim = Claim(2, (corpus.less("x", "1/4"),), (corpus.difference(9),))  # reached: relu(1/2) at x = (3/4, 1/2)
    two = Lemma(0, (4, -4), (-1, -2), (4, -2))
    proof = c.LeafProof(2, (), (c.Leaf((), (), (), (ONE,)),), (two,))
    said = set()
    for made, least in ((files, F(0)), (corpus.made(net, claim, [[0.5], [0.5]], proof), F(1, 2))):
        data = made["certificate.bin"]
        for at, bit in itertools.product(range(len(data)), (0, 4, 7)):
            changed = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
            status, _, rows = told(small, forged(made, changed))
            said.add(status)
            assert status == "refused" or rows[0][1] >= least
    assert said == {"certified", "unknown", "refused"}


def test_a_piece_that_is_cut_or_too_long_is_refused(corpus, small):
    for lemmas in ((HULL,), (HULL, HULL)):
        files = corner(corpus, c.Leaf((), (), (), (ONE,) * len(lemmas)), lemmas=lemmas)
        data = files["certificate.bin"]
        assert told(small, files)[0] != "refused"
        for size in range(len(data)):
            assert told(small, forged(files, data[:size]))[0] == "refused"
        for more in (b"\0", b"\0" * 4, data):
            assert told(small, forged(files, data + more))[0] == "refused"
        whole = len(record(HULL))
        for more in (b"\0" * 4, struct.pack("<i", 1)):  # an h too many
            assert told(small, forged(files, data[:whole] + more + data[whole:]))[0] == "refused"


@pytest.mark.parametrize(
    "number",
    [0, -1, True, False, None, "1", 1.0, 1.5, [], [1], {}, 2, 3, 10**9, 2**64, 10**300, -(10**300), ...],
    ids=lambda number: str(number)[:6],
)
def test_another_number_of_lemmas_is_refused(corpus, small, number):
    files = corner(corpus, c.Leaf((), (), (), (ONE,)), lemmas=(HULL,))
    assert told(small, forged(files, lemmas=number))[0] == "refused"


@pytest.mark.parametrize("unit", [2, 3, 255, 256, 65535])
def test_a_lemma_of_no_unit_is_refused(corpus, small, unit):
    files = corner(corpus, c.Leaf((), (), (), (0,)), lemmas=(dataclasses.replace(HULL, unit=unit),))
    assert told(small, files)[0] == "refused"
    good = corner(corpus, c.Leaf((), (), (), (0,)), lemmas=(dataclasses.replace(HULL, unit=1),))
    assert told(small, good)[0] == "unknown"  # the first unit of second


def test_a_network_without_units_has_no_lemmas(folders, small, tmp_path):
    made = folders.random_folder(tmp_path / "m", 3, auxiliaries="affine", boxes="gap", copies=1, claims=1, rule="leaf")
    files = folders.files_of(made.net, made.proofs)
    assert told(small, files)[0] != "refused"
    m, leaf = made.net.domain.size, c.Leaf((), (), (), (0,))
    proof = dataclasses.replace(
        made.proofs[0],
        rows=[c.LeafProof(0, (), (leaf,), (Lemma(0, (1,), (), (0,) * m),))] * len(made.proofs[0].rows),
    )
    assert told(small, folders.files_of(made.net, [proof]))[0] == "refused"


@pytest.mark.parametrize("y", [-1, -ONE, -(2**31)])
def test_a_negative_multiplier_is_refused_also_where_the_leaf_is_closed(corpus, small, y):
    good, bad = c.Leaf((), (), (), (0,)), c.Leaf((), (), (), (y,))
    closed = c.Input(0, 0, -1.0)  # x ≤ −1 holds nowhere
    assert told(small, corner(corpus, bad, lemmas=(HULL,)))[0] == "refused"
    assert told(small, corner(corpus, closed, good, good, lemmas=(HULL,)))[0] == "unknown"
    assert told(small, corner(corpus, closed, bad, good, lemmas=(HULL,)))[0] == "refused"
    two = c.Leaf((), (), (), (0, y))
    assert told(small, corner(corpus, two, lemmas=(HULL, HULL)))[0] == "refused"


@pytest.mark.parametrize("rule", ["slope", "sweep", "order", "signs", "mirror"])
def test_other_rules_have_no_lemmas(corpus, small, rule):
    net = corpus.plain(corpus.box("x"), [[1.0]], [-0.5], [1.0])
    claim = Claim(2, (corpus.less("x"),), (corpus.difference(1),))
    proof = {
        "slope": c.SlopeProof(0, (c.Leaf(),)),
        "sweep": c.SweepProof(),
        "order": c.OrderProof(),
        "signs": c.SignsProof(),
        "mirror": c.MirrorProof(0),
    }[rule]
    files = corpus.made(net, claim, [[0.5], [0.5]], proof)
    if rule in ("slope", "sweep", "signs"):
        assert told(small, files)[0] == "certified"
    for number in (1, 0):
        added = forged(files, lemmas=number, **({} if rule == "slope" else {"length": ...}))
        assert told(small, added)[0] == "refused"


def test_lemmas_are_work_and_counted_before_they_are_computed(corpus, small, monkeypatch):
    """k·(n·(o + m + units) + 8·(m + 8)) + k·(16·nodes + (nodes·(units + 1 + ⌈lemmas/4⌉) + 2ᵏ·lemmas)·(m + 1))."""
    files = corner(corpus, c.Leaf((), (), (), (0,) * 3), lemmas=(HULL,) * 3)
    need = (1 + 2 + 2) + 8 * (2 + 8) + 16 + (1 * (2 + 1 + 1) + 2 * 3) * (2 + 1)
    monkeypatch.setattr(check, "WORK", need)
    monkeypatch.setattr(check_reference, "MOST_WORK", need)
    assert told(small, files)[0] == "unknown"
    monkeypatch.setattr(check, "WORK", need - 1)
    monkeypatch.setattr(check_reference, "MOST_WORK", need - 1)
    monkeypatch.setattr(exact_rules, "_known", None)  # not reached
    monkeypatch.setattr(exact_rules, "Walk", None)
    status, reason, _ = told(small, files)
    assert status == "refused" and "more work" in reason


def test_what_lemmas_keep_in_memory_is_limited(corpus, small, monkeypatch):
    """n·k·m: three lemmas of two inputs."""
    files = corner(corpus, c.Leaf((), (), (), (0,) * 3), lemmas=(HULL,) * 3)
    for limit, status in ((6, "unknown"), (5, "refused")):
        monkeypatch.setattr(check, "LEMMAS", limit)
        monkeypatch.setattr(reader, "MOST_SLOPES", limit)
        assert told(small, files)[0] == status


# ---- both checkers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "last"), [(0, 160), *(pytest.param(n, n + 480, marks=pytest.mark.slow) for n in range(160, 1600, 480))]
)
def test_the_checkers_agree_on_small_folders(lemmas, small, first, last):
    seen, refused = set(), 0
    for seed in range(first, last):
        made = lemmas.Lemmas(seed)
        status, _, _ = told(small, made.files)
        seen.add(status)
        refused += status == "refused"
        if made.fault not in ("", "byte"):
            assert status == "refused", (seed, made.fault)
    assert seen == {"certified", "unknown", "refused"} and refused < (last - first) // 3


def test_the_checkers_agree_on_four_copies(lemmas, small):
    assert {told(small, files)[0] for files in lemmas.four()} == {"certified", "unknown"}


@pytest.mark.parametrize("chunk", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 12))])
def test_the_checkers_agree_on_random_networks(folders, encoders, small, tmp_path, chunk):
    """All profiles, boxes and numbers of copies, with encoders and without."""
    number = 0
    for seed in range(24 * chunk, 24 * chunk + 24):
        rng, path = np.random.default_rng(seed), tmp_path / str(seed)
        if seed % 3:
            folders.random_folder(path, 2000 + seed, profile="any", copies=1 + seed % 4, rule="leaf")
        else:
            encoders.encoded_folder(path, 2000 + seed, rules=0.0)
        try:
            files, count = given_lemmas(path, rng)
        except check_reference.CheckError:
            continue
        number += count
        plain = {name: (path / name).read_bytes() for name in check.FILES}
        refused = told(small, plain)[0] == "refused"  # a conclusion about an input that does not pass
        assert (told(small, files)[0] == "refused") == refused
    assert number > 20


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14])
def test_a_lemma_in_a_case_is_about_the_premise_of_the_case(lemmas, cased, small, seed):
    """Splits at coordinates of the witness; the same lemma in every case, each with an r of its own."""
    files = cased.Cased(4 * seed, lemmas.Lemmas(seed).files).files
    told(small, files)


@pytest.mark.parametrize("kind", ["robust", "fair"])
def test_what_a_search_finds_with_lemmas_is_what_the_checkers_find(folders, small, monkeypatch, kind):
    """From the linear programs to the files: bounds by floats and by rationals, up to the rounding of slopes."""
    monkeypatch.setattr(learn, "AT_ONCE", 0)
    rng = np.random.default_rng(3)
    features = [Feature("x", "continuous", -1.0, 1.5), Feature("y", "continuous", 0.0, 2.0, shift=0.5, mult=1.5)]
    features.append(
        Feature("n", "integer", 0.0, 3.0)
        if kind == "robust"
        else Feature("r", categories=("u", "v", "w"), kind="category")
    )
    domain = Domain(tuple(features))
    net = folders.random_net(rng, domain, boxes="gap", auxiliaries="relu", hidden=4, outputs=1, embedding=1)
    claim = (Robust(0.3, 9) if kind == "robust" else Fair(["r"], 9)).lower(domain)[0]
    claim = dataclasses.replace(claim, then=(claim.rows[0],))
    problem = build(claim, net.snapshot())
    point = witness(problem.given)
    assert point is not None
    trees = [BranchAndBound(workers=1).search(problem, one, goal="optimum", time_limit=60) for one in problem.rows]
    proofs = [leaf_proof(problem, tree) for tree in trees]
    assert any(proof.lemmas for proof in proofs)
    files = folders.files_of(net, [c.ClaimProof(claim.to_json(), point.tolist(), proofs)])
    status, reason, rows = told(small, files)
    assert status in ("certified", "unknown"), reason
    for tree, one, (_, bound, _, rhs, *_) in zip(trees, problem.rows, rows, strict=True):
        assert tree.complete and float(rhs) == one.rhs
        assert float(bound - rhs) == pytest.approx(tree.bound, abs=1e-5)
