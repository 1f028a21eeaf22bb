"""Rows over few whole-valued inputs: every pair is tried, and the bracket closes."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from time import perf_counter

import numpy as np

from smilenn.auditing.audit import prove_row
from smilenn.auditing.enumeration import few_pairs
from smilenn.certify import check_deep
from smilenn.certify.reference import deep


def tied_row(cases, rng, net, wide):
    """A row in which all inputs are whole and differ by fixed numbers."""
    row, _ = cases.random_row(rng, net, whole=True)
    lo = [Fraction(int(v)) for v in rng.integers(-3, 3, net.sizes[0])]
    hi = [a + int(v) for a, v in zip(lo, rng.integers(0, wide, net.sizes[0]), strict=True)]
    gap = [Fraction(int(v)) for v in rng.integers(-1, 2, net.sizes[0])]
    second = [tuple(a - d for a, d in zip(end, gap, strict=True)) for end in (lo, hi)]
    return replace(row, lo=(tuple(lo), second[0]), hi=(tuple(hi), second[1]), low=tuple(gap), high=tuple(gap))


def test_brackets_close_around_the_largest_of_all_pairs(cases, tmp_path):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        net = cases.random_net(rng, cases.SIZES[seed % len(cases.SIZES)])
        row = tied_row(cases, rng, net, 6)
        names = [f"y{i}" for i in range(net.sizes[-1])]
        proved = prove_row(net, row, names, perf_counter())
        folder = cases.write(tmp_path, net, [(row, proved.witness, proved.proof)])
        (fast,), (slow,) = (checker.check_folder(folder).rows for checker in (check_deep, deep))
        assert (fast.real, fast.computed) == (slow.real, slow.computed)
        spans = [range(int(a), int(b) + 1) for a, b in zip(row.lo[0], row.hi[0], strict=True)]
        pairs = [(x, tuple(v - d for v, d in zip(x, row.low, strict=True))) for x in product(*spans)]
        reached = max(cases.value(net, row, tuple(tuple(map(Fraction, copy)) for copy in pair)) for pair in pairs)
        assert fast.found == reached <= fast.real
        assert fast.real - reached <= Fraction(1, 1000) * abs(reached) + Fraction(1, 10**6), seed


def test_other_rows_are_not_enumerated(cases):
    rng = np.random.default_rng(0)
    net = cases.random_net(rng, (2, 3, 1))
    row = tied_row(cases, rng, net, 4)
    assert few_pairs(row) is not None
    assert few_pairs(replace(row, whole=(True, False))) is None
    assert few_pairs(replace(row, high=tuple(v + 1 for v in row.high))) is None
    assert few_pairs(replace(row, hi=((Fraction(5000), Fraction(5000)),) * 2)) is None
    empty = replace(row, lo=((Fraction(9), Fraction(9)), row.lo[1]))
    assert few_pairs(empty) is None
