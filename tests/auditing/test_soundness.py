"""No bound is ever false: random tiny networks, rows and proofs against what the networks really reach."""

from fractions import Fraction
from time import perf_counter

import numpy as np
import pytest

from smilenn.auditing.attack import Attack
from smilenn.auditing.audit import prove_row
from smilenn.certify import check_deep
from smilenn.certify.reference import deep

MANY, MANY_SLOW = 80, 10_000


def both(folder):
    """The fast checker's report, after the reference has said the same."""
    fast, slow = check_deep.check_folder(folder), deep.check_folder(folder)
    assert (fast.status, fast.exit_code) == (slow.status, slow.exit_code), (fast.reason, slow.reason)
    for a, b in zip(fast.rows, slow.rows, strict=True):
        assert (a.found, a.real, a.computed, a.leaves) == (b.found, b.real, b.computed, b.leaves)
    return fast


def one_random_proof(cases, folder, seed):
    rng = np.random.default_rng(seed)
    net = cases.random_net(rng, cases.SIZES[seed % len(cases.SIZES)], spread=float(rng.choice([0.5, 1.0, 30.0])))
    row, x = cases.random_row(rng, net, whole=bool(rng.random() < 0.2))
    report = both(cases.write(folder, net, [(row, x, cases.random_proof(rng, net))]))
    assert report.rows, report.reason
    (checked,) = report.rows
    if net.sizes[0] == 1:
        reached = cases.largest(net, row)
    else:
        reached = max(cases.value(net, row, point) for point in cases.some_points(rng, row, x))
    assert checked.found <= reached <= min(checked.real, checked.computed), seed


def test_random_proofs_bound_what_networks_reach(cases, tmp_path):
    for seed in range(MANY):
        one_random_proof(cases, tmp_path, seed)


@pytest.mark.slow
def test_ten_thousand_random_proofs(cases, tmp_path):
    for seed in range(MANY, MANY + MANY_SLOW):
        one_random_proof(cases, tmp_path, seed)


def test_computed_bounds_cover_sums_in_any_order(cases, tmp_path):
    """On one pair the real bound is the exact value. Rounding exceeds it; the computed bound covers that."""
    beyond = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        net = cases.random_net(rng, cases.SIZES[seed % len(cases.SIZES)], spread=float(rng.choice([1.0, 1e3])))
        row, x = cases.random_row(rng, net)
        point = tuple(tuple(Fraction(float(v)) for v in copy) for copy in x)
        gap = tuple(a - b for a, b in zip(*point, strict=True))
        row = type(row)(row.text, row.names, point, point, gap, gap, row.whole, row.weights)
        (checked,) = both(cases.write(tmp_path, net, [(row, x, bytes([4, 0]))])).rows
        assert checked.real - checked.found < Fraction(1, 10**4) * (1 + abs(checked.found))
        for _ in range(12):
            outputs = [cases.computed(net, copy, rng.permutation) for copy in x]
            reached = row.left(outputs)
            beyond += reached > checked.real
            assert reached <= checked.computed, seed
    assert beyond > 50  # otherwise this would show nothing


def test_searches_close_the_bracket_around_the_exact_maximum(cases, tmp_path):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        net = cases.random_net(rng, cases.SIZES[seed % 3])
        row, _ = cases.random_row(rng, net)
        names = [f"y{i}" for i in range(net.sizes[-1])]
        proved = prove_row(net, row, names, perf_counter() + 1e6)
        report = both(cases.write(tmp_path, net, [(row, proved.witness, proved.proof)]))
        (checked,) = report.rows
        reached = cases.largest(net, row)
        assert checked.found <= reached <= checked.real
        room = Fraction(1, 1000) * abs(checked.found) + Fraction(1, 10**6)
        assert checked.real - checked.found <= room, seed


def test_whatever_the_time_the_bracket_holds(cases, tmp_path):
    rng = np.random.default_rng(5)
    net = cases.random_net(rng, (2, 6, 5, 1))
    row, x = cases.random_row(rng, net)
    proved = prove_row(net, row, ["y0"], perf_counter())  # no time at all
    (checked,) = both(cases.write(tmp_path, net, [(row, proved.witness, proved.proof)])).rows
    for point in cases.some_points(rng, row, x, 200):
        assert cases.value(net, row, point) <= checked.real


def test_pairs_that_are_found_satisfy_the_premise_exactly(cases):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        net = cases.random_net(rng, cases.SIZES[seed % len(cases.SIZES)])
        row, _ = cases.random_row(rng, net, whole=bool(seed % 2))
        found = Attack(net, row).run()
        if found is None:
            continue
        assert row.exact_value(net, found.x) == found.value
        assert (found.x.astype(net.dtype) == found.x).all()
