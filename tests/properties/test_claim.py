"""Exact numbers, rows and claims."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smilenn.errors import SmileError
from smilenn.properties.claim import Claim, Inequality, Term, row
from smilenn.properties.rational import exact, number

LESS = row([(1, 0, "out", ""), (-1, 1, "out", "")])


def test_numbers_are_read_as_written():
    assert exact(0.1) == Fraction(1, 10) == exact("0.1") == exact("1/10") == exact(np.float64(0.1))
    assert exact(np.float32(0.1)) == Fraction(1, 10)
    assert exact(np.int64(3)) == exact(3) == 3 and isinstance(exact(np.int64(3)).numerator, int)
    assert exact("-2.5e-3") == Fraction(-1, 400)


@pytest.mark.parametrize(
    "value", [True, None, [1], "abc", "", "1/0", float("nan"), float("inf"), "1e999999", "1e301", 10**301]
)
def test_what_is_not_a_number_is_refused(value):
    with pytest.raises(SmileError, match=r"number"):
        exact(value)


def test_a_very_long_number_is_refused():
    with pytest.raises(SmileError, match="400 characters"):
        exact("1" * 401)


@given(st.fractions() | st.decimals(allow_nan=False, allow_infinity=False, places=6).map(Fraction))
def test_number_prints_exactly(value):
    assert Fraction(number(value)) == value


def test_references_and_texts():
    assert Term(Fraction(1), 0, "in", "x").reference() == 'a["x"]'
    assert Term(Fraction(1), 1, "in", "annual income").reference() == 'b["annual income"]'
    assert Term(Fraction(1), 0, "in", "out").reference() == 'a["out"]'
    assert Term(Fraction(1), 0, "in", 'say "hi" \\').reference() == 'a["say \\"hi\\" \\\\"]'
    assert Term(Fraction(1), 2, "out", "").reference() == "c.out"
    assert Term(Fraction(1), 0, "out", "price").reference() == 'a.out["price"]'
    assert Term(Fraction(1), 0, "out", "net price").reference() == 'a.out["net price"]'
    assert (
        row([("1/3", 0, "in", "größe"), (-2, 1, "in", "y")], 0.5, "==").text() == '1/3 * a["größe"] - 2 * b["y"] == 0.5'
    )
    assert Inequality((), Fraction(1)).text() == "0 <= 1"


def test_like_terms_merge_and_vanish():
    merged = row([(1, 0, "in", "x"), (2, 0, "in", "x"), (1, 1, "in", "y"), (-1, 1, "in", "y")], 1)
    assert merged == Inequality((Term(Fraction(3), 0, "in", "x"),), Fraction(1))


def test_equal_conclusions_become_two_rows():
    claim = Claim(2, (), (row([(1, 0, "out", ""), (-1, 1, "out", "")], 1, "=="),))
    assert [r.text() for r in claim.rows] == ["a.out - b.out <= 1", "-a.out + b.out <= -1"]


def test_formula():
    claim = Claim(2, (row([(1, 0, "in", "x"), (-1, 1, "in", "x")]),), (LESS,), equal=("my town",), free=("race",))
    assert claim.formula() == (
        '∀ a, b ∈ X: a["x"] - b["x"] <= 0, a["my town"] == b["my town"], "race" free, other features '
        "equal ⇒ a.out - b.out <= 0"
    )
    assert Claim(1, (), (row([(1, 0, "out", "")], 3),)).formula() == "∀ a ∈ X: a.out <= 3"


def test_json_round_trip():
    claim = Claim(3, (row([("1/3", 2, "in", "x")], "0.1", "=="),), (LESS,), "free", ("y",), ("z",), "A sentence.")
    again = Claim.from_json(json.loads(json.dumps(claim.to_json())))
    assert again == claim and again.sentence == "A sentence." and hash(again) == hash(claim)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Claim(0, (), (LESS,)), "1 to 4 copies, not 0"),
        (lambda: Claim(5, (), (LESS,)), "1 to 4 copies, not 5"),
        (lambda: Claim(2, (), (LESS,), others="none"), "'equal' or 'free'"),
        (lambda: Claim(2, (), ()), "at least one row in 'then'"),
        (lambda: Claim(1, (), (LESS,)), "copy number 2 of a claim with 1"),
        (lambda: Claim(2, (LESS,), (LESS,)), "names an output"),
        (lambda: Claim(2, (), (row([(1, 0, "in", "x")]),)), "no row names an output"),
        (lambda: Claim(2, (), (LESS,), equal=("x",), free=("x",)), "'x' under 'equal' and under 'free'"),
        (lambda: Claim.from_json({"copies": 2}), "A claim is described by"),
        (lambda: Claim.from_json(Claim(2, (), (LESS,)).to_json() | {"when": "a"}), "'when' must hold a list"),
        (lambda: Claim.from_json(Claim(2, (), (LESS,)).to_json() | {"copies": "two"}), "1 to 4 copies, not two"),
        (lambda: Inequality.from_json({"terms": []}), "A row is described by"),
        (lambda: Inequality.from_json({"terms": 3, "op": "<=", "rhs": "0"}), "'terms' must hold a list"),
        (lambda: Inequality.from_json({"terms": [["1", 0, "in"]], "op": "<=", "rhs": "0"}), "A term is"),
        (lambda: Inequality.from_json({"terms": [["1", "0", "in", "x"]], "op": "<=", "rhs": "0"}), "A term is"),
        (lambda: Inequality.from_json({"terms": [], "op": "<", "rhs": "0"}), "A row is described by"),
    ],
)
def test_errors(build, words):
    with pytest.raises(SmileError) as info:
        build()
    assert words in str(info.value)
