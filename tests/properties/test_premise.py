"""Premises on a domain, against exact membership by brute force."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.properties import Convex, Custom, Dominates, Fair, Monotone, Robust, Symmetric
from smilenn.properties.claim import Claim, row
from smilenn.properties.premise import Premise, ground, holds_exactly

THEN = (row([(1, 0, "out", "")], 1),)
DOMAIN = Domain(
    (
        Feature("x", "continuous", -1, 2),
        Feature("n", "integer", -2, 3),
        Feature("s", "binary"),
        Feature("r", "category", categories=("p", "q", "t")),
    )
)
NUMERIC = ("x", "n", "s", "r=p", "r=q", "r=t")


def grounded(text_rows, copies=2, domain=DOMAIN, **options) -> Premise:
    return ground(Custom(["a.out <= 1"], text_rows, copies, **options).lower(domain)[0], domain)


def inside(premise: Premise, x: np.ndarray) -> bool:
    """Membership in the floating-point set, in exact arithmetic."""
    if not premise.domain.contains(x).all():
        return False
    if ((x < premise.lo) | (x > premise.hi)).any() or (np.ptp(x, axis=0)[premise.pinned] != 0).any():
        return False
    v = [[Fraction(float(e)) for e in copy] for copy in x]
    if premise.copies == 2:
        for i, (low, high) in enumerate(zip(premise.delta_lo, premise.delta_hi, strict=True)):
            if not Fraction(float(low)) <= v[0][i] - v[1][i] <= Fraction(float(high)):
                return False
    for coef, rhs, equality in zip(premise.coef, premise.rhs, premise.equality, strict=True):
        total = sum(Fraction(float(coef[c, i])) * v[c][i] for c, i in np.argwhere(coef))
        if total > Fraction(float(rhs)) or (equality and total != Fraction(float(rhs))):
            return False
    return True


@st.composite
def claims(draw, coefficients):
    copies = draw(st.integers(1, 3))
    rows = []
    for _ in range(draw(st.integers(0, 4))):
        name = draw(st.sampled_from(NUMERIC))
        shape = draw(st.sampled_from(["bound", "strip", "any", "any"]))
        a = draw(coefficients.filter(bool))
        terms = [(a, draw(st.integers(0, copies - 1)), "in", name)]
        if shape == "strip" and copies > 1:
            terms = [(a, 0, "in", name), (-a, 1, "in", name)]
        elif shape == "any":
            more = st.tuples(coefficients, st.integers(0, copies - 1), st.just("in"), st.sampled_from(NUMERIC))
            terms += draw(st.lists(more, min_size=1, max_size=3))
        rows.append(row(terms, draw(coefficients), draw(st.sampled_from(["<=", "<=", "=="]))))
    free = draw(st.sets(st.sampled_from(["x", "n", "s", "r"]), max_size=2))
    equal = draw(st.sets(st.sampled_from(["x", "n", "s", "r"]), max_size=1)) - free
    others = draw(st.sampled_from(["equal", "free"]))
    return Claim(copies, tuple(rows), THEN, others, tuple(sorted(equal)), tuple(sorted(free)))


def points(claim: Claim, seed: int, n: int = 60) -> np.ndarray:
    """Tuples on a coarse grid (so that equalities happen), half of them nearly equal copies."""
    rng = np.random.default_rng(seed)
    x = DOMAIN.sample(n * claim.copies, rng).reshape(n, claim.copies, DOMAIN.size)
    x[:, :, 0] = np.rint(x[:, :, 0] * 2) / 2
    same = rng.random((n, 1, 4)) < 0.6
    spread = np.repeat(same, [1, 1, 1, 3], axis=2)
    return np.where(spread, x[:, :1], x)


DYADIC = st.sampled_from([Fraction(p, q) for p in range(-4, 5) for q in (1, 2, 4)])
AWKWARD = st.sampled_from([Fraction(p, q) for p in (-3, -1, 0, 1, 2) for q in (1, 3, 7, 10, 10**20 + 1)])


def check(claim: Claim, seed: int, *, both_ways: bool) -> None:
    tuples = points(claim, seed)
    exactly = [holds_exactly(claim, DOMAIN, x) for x in tuples]
    try:
        premise = ground(claim, DOMAIN)
    except SmileError as error:
        assert "No inputs satisfy" in str(error)
        assert not any(exactly)
        return
    for x, truth in zip(tuples, exactly, strict=True):
        found = inside(premise, x)
        assert found or not truth
        if both_ways:
            assert found == truth
        if truth:
            assert premise.holds(x[None], tolerance=1e-9).all()
    # pinned coordinates share their bounds; the strips lie within the boxes
    assert (np.ptp(premise.lo, axis=0)[premise.pinned] == 0).all()
    assert (np.ptp(premise.hi, axis=0)[premise.pinned] == 0).all()
    assert (premise.lo <= premise.hi).all() and (premise.delta_lo <= premise.delta_hi).all()
    assert not (premise.strips & premise.pinned).any()
    if premise.diagonal:
        for x in points(claim, seed + 1, 20)[:, :1]:
            everywhere = np.repeat(x, claim.copies, axis=0)
            in_box = ((everywhere >= premise.lo) & (everywhere <= premise.hi)).all()
            assert inside(premise, everywhere) or not in_box


@settings(max_examples=150, deadline=None)
@given(claims(DYADIC), st.integers(0, 2**31))
def test_grounding_is_exact_where_floats_are(claim, seed):
    check(claim, seed, both_ways=True)


@settings(max_examples=150, deadline=None)
@given(claims(AWKWARD), st.integers(0, 2**31))
def test_grounding_never_loses_a_tuple(claim, seed):
    check(claim, seed, both_ways=False)


def test_a_difference_box_is_read_as_strips():
    premise = ground(Robust(0.1, 1).lower(DOMAIN)[0], DOMAIN)
    assert premise.strips.tolist() == [True, False, False, False, False, False]
    assert premise.pinned.tolist() == [False, True, True, True, True, True]  # |n' − n''| ≤ 0.1 pins a whole number
    assert Fraction(float(premise.delta_hi[0])) >= Fraction(1, 10) > Fraction(math.nextafter(premise.delta_hi[0], 0))
    assert premise.delta_lo[0] == -premise.delta_hi[0]
    assert premise.diagonal and premise.symmetric and not premise.has_rows


def test_whole_numbers_round_inward():
    premise = grounded(["-1.5 <= a.n - b.n <= 2.7", "a.n <= 1.5"])
    assert (premise.delta_lo[1], premise.delta_hi[1]) == (-1, 2)
    assert premise.hi[0, 1] == 1 and premise.hi[1, 1] == 3
    assert not premise.diagonal and not premise.symmetric


def test_outward_rounding_of_bounds():
    premise = grounded(["0.1 <= a.x <= 0.3"], copies=1)
    assert Fraction(float(premise.lo[0, 0])) <= Fraction(1, 10) and Fraction(float(premise.hi[0, 0])) >= Fraction(3, 10)
    assert premise.hi[0, 0] - premise.lo[0, 0] < 0.2 + 1e-15
    assert not premise.strips.any() and not premise.pinned.any()


def test_a_zero_difference_is_a_pin_with_shared_bounds():
    for rows in (["a.x == b.x", "a.x >= 1", "b.x <= 1.5"], ["a.n == b.n", "a.n >= 1", "b.n <= 2"]):
        premise = grounded(rows)
        i = 0 if "x" in rows[0] else 1
        assert premise.pinned[i] and premise.lo[:, i].tolist() == [1, 1]
        assert premise.hi[0, i] == premise.hi[1, i] < 3
    # a.x ≤ 0.5 ≤ b.x ≤ a.x leaves one value
    met = grounded(["a.x <= 0.5", "b.x >= 0.5", "a.x >= b.x"])
    assert met.pinned[0] and met.lo[:, 0].tolist() == met.hi[:, 0].tolist() == [0.5, 0.5]
    assert grounded(["-0.5 <= a.n - b.n <= 0.5", "a.n >= 0"]).lo[:, 1].tolist() == [0, 0]


def test_one_hot_groups_move_together():
    free = ground(Fair("r", 1).lower(DOMAIN)[0], DOMAIN)
    assert free.pinned.tolist() == [True] * 3 + [False] * 3 and free.diagonal and free.symmetric
    named = grounded(['a.r == "p"', 'b.r == "q"'])
    assert not named.pinned[3:].any() and named.lo[:, 3:].tolist() == [[1, 0, 0], [0, 1, 0]]
    assert grounded(["a.r == b.r"], others="free").pinned.tolist() == [False] * 3 + [True] * 3
    assert grounded([], equal=("r",), others="free").pinned.tolist() == [False] * 3 + [True] * 3
    assert not grounded([], others="free").pinned.any()


def test_three_copies_and_rows():
    premise = ground(Convex("x").lower(DOMAIN)[0], DOMAIN)
    assert premise.coef[:, :, 0].tolist() == [[-1, 2, -1]] and premise.equality.all() and premise.diagonal
    assert premise.pinned.tolist() == [False] + [True] * 5
    assert not premise.strips.any() and not premise.symmetric
    trade = ground(Dominates("x", "n", 0.1).lower(DOMAIN)[0], DOMAIN)
    assert trade.equality.tolist() == [True] and trade.diagonal
    assert np.allclose(trade.coef[0, 0, :2] / trade.coef[0, 0, 1], [0.1, 1])  # scaled by a whole number, hence exact
    assert not ground(Symmetric(["x", "n"]).lower(DOMAIN)[0], DOMAIN).diagonal


def test_rows_without_an_exact_float_form_are_widened():
    odd = Fraction(1, 10**20 + 1)
    claim = Claim(1, (row([(1 + odd, 0, "in", "x"), (1, 0, "in", "n")], 0.5, "=="),), THEN)
    premise = ground(claim, DOMAIN)
    assert premise.equality.tolist() == [False, False]
    assert premise.rhs[0] + premise.rhs[1] < 1e-14


@pytest.mark.parametrize(
    ("rows", "copies"),
    [
        (["a.x >= 3"], 1),
        (["a.n >= 0.2", "a.n <= 0.8"], 1),
        (["a.x - b.x >= 4"], 2),
        (["a.n - b.n >= 0.2", "a.n - b.n <= 0.8"], 2),
        (["a.x == b.x", "a.x - b.x >= 0.1"], 2),
        (["a.x == b.x", "a.x <= 0", "b.x >= 1"], 2),
        (["a.x + a.n >= 6"], 1),
        (['a.r == "p"', 'a["r=q"] == 1'], 1),
        (['a["r=p"] == 0', 'a["r=q"] == 0', 'a["r=t"] == 0'], 1),
        (['a["r=p"] - b["r=p"] == 1', 'a["r=q"] - b["r=q"] == 1'], 2),
        (["2 * a.n + 2 * b.n == 1"], 2),
    ],
)
def test_empty_premises_are_errors(rows, copies):
    with pytest.raises(SmileError, match="No inputs satisfy the premise of '∀ a"):
        grounded(rows, copies)


def test_an_empty_premise_without_names():
    with pytest.raises(SmileError, match="No inputs"):
        ground(Claim(1, (row([], -1),), THEN), DOMAIN)
    assert not ground(Claim(1, (row([], 0),), THEN), DOMAIN).has_rows


def test_a_pinned_feature_whose_strip_leaves_zero_out():
    with pytest.raises(SmileError, match="No inputs"):
        grounded(["a.x - b.x >= 1"], equal=("x",))


def test_names_are_checked():
    with pytest.raises(SmileError, match="no feature 'q'"):
        ground(Claim(1, (row([(1, 0, "in", "q")]),), THEN), DOMAIN)
    with pytest.raises(SmileError, match="category 'r' as a number.*'r=p'"):
        ground(Claim(1, (row([(1, 0, "in", "r")]),), THEN), DOMAIN)
    with pytest.raises(SmileError, match="no feature 'q'"):
        ground(Claim(2, (), THEN, free=("q",)), DOMAIN)


def test_huge_numbers_do_not_overflow():
    wide = Domain.box([-1.7e308], [1.7e308], ["x"])
    premise = ground(Claim(2, (row([(1, 0, "in", "x"), (-1, 1, "in", "x")], 1),), THEN), wide)
    assert premise.delta_lo[0] == -math.inf and premise.delta_hi[0] == 1
    assert ground(Claim(1, (row([("1e-300", 0, "in", "x")], "1e300"),), THEN), wide).hi[0, 0] == 1.7e308
    with pytest.raises(SmileError, match="No inputs"):
        ground(Claim(1, (row([("1e-300", 0, "in", "x")], "-1e300"),), THEN), wide)


def test_exact_membership_decides_what_floats_cannot():
    claim = Robust(0.1, 1, ["x"]).lower(DOMAIN)[0]
    base = np.array([[0.0, 0, 0, 1, 0, 0], [0.0, 0, 0, 1, 0, 0]])
    for first, second, truth in [
        (0.1, 0.0, False),
        (math.nextafter(0.1, 0), 0.0, True),
        (0.5, 0.4, True),
        (0.3, 0.2, True),
    ]:
        x = base.copy()
        x[:, 0] = first, second
        assert holds_exactly(claim, DOMAIN, x) == truth == (Fraction(first) - Fraction(second) <= Fraction(1, 10))
    off_grid = base.copy()
    off_grid[0, 1] = 0.5
    assert not holds_exactly(claim, DOMAIN, off_grid)


def test_monotone_order_by_enumeration():
    domain = Domain((Feature("n", "integer", 0, 3), Feature("s", "binary"), Feature("t", "binary")))
    claim = Monotone("n", "s").lower(domain)[0]
    premise = ground(claim, domain)
    values = np.array(list(itertools.product(range(4), (0, 1), (0, 1))), dtype=float)
    for a, b in itertools.product(values, values):
        truth = a[0] <= b[0] and a[1] >= b[1] and a[2] == b[2]
        x = np.stack([a, b])
        assert holds_exactly(claim, domain, x) == truth == inside(premise, x) == bool(premise.holds(x[None])[0])
