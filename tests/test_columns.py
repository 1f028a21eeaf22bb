"""Columns as they come: missing cells, rare and ordered names, dates, shares, identifiers; what claims say of them."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smilenn import Claim, Convex, Domain, Fair, Lipschitz, Monotone, Robust, Symmetric
from smilenn.domain import Feature, idle_columns
from smilenn.domain.absent import fill_of, indicator
from smilenn.domain.cells import holds_names
from smilenn.domain.rare import LEAST, MOST, OTHER, places
from smilenn.errors import SmileError
from smilenn.properties import row
from smilenn.properties.known import explicit, unsaid
from smilenn.properties.premise import ground, holds_exactly
from smilenn.properties.wording import say

HOLED = pd.DataFrame(
    {
        "pay": [3.0, None, 5.0, 4.0],
        "old": [None, 1, 0, 1],
        "city": ["u", None, "v", "w"],
        "age": [30, 40, 50, 60],
    }
)


def learned(frame=HOLED, **options):
    return Domain.from_data(frame, missing=True, margin=0.0, scaling="none", **options)


@pytest.mark.parametrize("dtype", [object, "str", "category"])
@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["u", "v", None, "u"], True),
        (["u", "1", "u"], False),
        (["nan", "u"], True),
        ([True, "u"], False),
        ([1, 1.0, "u"], False),
        (["\ud800", "u"], True),
    ],
)
def test_names_are_told_from_numbers_cell_by_cell(cells, names, dtype):
    if dtype is not object and not all(cell is None or (isinstance(cell, str) and cell.isascii()) for cell in cells):
        pytest.skip("not a column of this type")
    assert holds_names(pd.Series(cells, dtype=dtype)) == names


# ---- missing cells --------------------------------------------------------------------------------------------------


def test_missing_numbers_have_an_indicator_and_missing_names_a_category():
    domain = learned()
    assert domain.coordinates == (
        *("pay", "pay is missing", "old", "old is missing"),
        *("city=u", "city=v", "city=w", "city=missing", "age"),
    )
    assert domain.feature("pay is missing").categories == ("no", "yes, read as 4.0")
    assert domain.columns == tuple(HOLED.columns) and domain.indicators == {
        "pay": "pay is missing",
        "old": "old is missing",
    }
    x = domain.encode(HOLED)
    assert x[:, :4].tolist() == [[3, 0, 1, 1], [4, 1, 1, 0], [5, 0, 0, 0], [4, 0, 1, 0]]
    assert x[:, 4:8].argmax(axis=1).tolist() == [0, 3, 1, 2]
    assert (domain.encode(domain.decode(x)) == x).all() and domain.contains(x).all()
    assert Domain.from_json(domain.to_json()) == domain


def test_a_row_means_the_same_whatever_stands_beside_it():
    domain = learned()
    x = domain.encode(HOLED)
    for i in range(len(HOLED)):
        alone = HOLED.iloc[[i]]
        assert (domain.encode(alone) == x[i]).all()
        assert (domain.encode(alone.astype(object)) == x[i]).all()
        assert (domain.encode(pd.DataFrame(alone.to_dict("records"))) == x[i]).all()


def test_an_input_that_is_missing_has_the_fill():
    domain = learned()
    x = domain.sample(400, np.random.default_rng(0))
    missing = x[:, 1] == 1
    assert missing.any() and (x[missing, 0] == 4.0).all() and domain.contains(x).all()
    x[missing, 0] = 3.5
    assert not domain.contains(x[missing]).any()
    u = domain.scale(x)
    assert domain.contains(domain.unscale(u)).all()


def test_errors_name_the_row_of_the_table():
    domain = learned()
    with pytest.raises(SmileError, match="Row 12, column 'pay' holds the text 'much'"):
        domain.encode(HOLED.assign(pay=[None, None, "much", 4.0]), first_row=10)
    with pytest.raises(SmileError, match="Row 1, column 'age' is missing"):
        domain.encode(HOLED.assign(age=[30, None, 50, 60]))


def test_codes_are_missing_among_numbers_and_values_among_names():
    frame = pd.DataFrame({"n": ["1", "?", "3", " NA "], "t": ["?", "a", "b", "a"]})
    domain = learned(frame)
    assert domain.coordinates == ("n", "n is missing", "t=?", "t=a", "t=b")
    assert domain.encode(frame)[:, :2].tolist() == [[1, 0], [1, 1], [3, 0], [1, 1]]


def test_an_indicator_belongs_to_a_number_that_can_take_its_fill():
    pay = Feature("pay", lo=0, hi=9)
    assert fill_of(indicator("pay", 0.1)) == 0.1 and fill_of(pay) is None
    assert Domain((pay, indicator("pay", 0.1))).absent == ((0, 1, 0.1),)
    for wrong in [(indicator("pay", 1.0),), (pay, indicator("pay", 10.0)), (pay, indicator("income", 1.0))]:
        with pytest.raises(SmileError, match="missing"):
            Domain(wrong)
    with pytest.raises(SmileError, match="'pay is missing' appears twice"):
        learned(HOLED.assign(**{"pay is missing": 1.0}))


# ---- claims about numbers that may be missing -----------------------------------------------------------------------

PAIR = Domain(
    (
        Feature("pay", lo=0, hi=9),
        indicator("pay", 4.0),
        Feature("debt", lo=0, hi=9),
        Feature("age", lo=18, hi=90),
    )
)
OUT = (row([(1, 0, "out", ""), (-1, 1, "out", "")]),)
KNOWN_BOTH = {row([(1, c, "in", "pay is missing")], 0, "==") for c in (0, 1)}


def test_rules_speak_of_numbers_where_they_are_known():
    (claim,) = Monotone(increasing=["pay", "age"]).lower(PAIR)
    assert set(claim.when) >= KNOWN_BOTH
    assert claim.sentence == (
        "Raising 'pay' or 'age', alone or together, everything else equal, never lowers the output, where 'pay' is "
        "known."
    )
    (claim,) = Monotone(increasing=["age"]).lower(PAIR)
    assert "known" not in claim.sentence and not set(claim.when) & KNOWN_BOTH
    (claim,) = Lipschitz(["pay"], 2).lower(PAIR)
    assert set(claim.when) >= KNOWN_BOTH and claim.sentence.endswith(", where 'pay' is known.")
    (claim,) = Symmetric(["pay", "debt"]).lower(PAIR)
    assert set(claim.when) >= KNOWN_BOTH and claim.sentence.endswith(", where 'pay' is known.")


def test_fairness_frees_whether_a_number_is_known():
    (claim,) = Fair(["pay"], 1).lower(PAIR)
    assert claim.free == ("pay", "pay is missing") and not claim.when
    assert "changing 'pay' and 'pay is missing' alone" in claim.sentence
    (claim,) = Fair(["age"], 1, delta={"pay": 2}).lower(PAIR)
    assert claim.free == ("age",) and claim.equal == ("pay is missing",)


def test_moves_leave_what_is_known_as_it_is():
    for rule in (Robust(0.5, 1), Robust(0.5, 1, norm=2), Convex(["pay"])):
        (claim,) = rule.lower(PAIR)
        assert claim.equal == ("pay is missing",) and "known" not in claim.sentence
        assert not claim.sentence.startswith("For all")
        assert ground(claim, PAIR).pinned[1]


def test_a_fill_does_not_meet_a_premise():
    (claim,) = _custom(Claim(1, (row([(-1, 0, "in", "pay")], -3),), (row([(1, 0, "out", "")], 5),)))
    assert claim.when[-1] == row([(1, 0, "in", "pay is missing")], 0, "==")
    assert holds_exactly(claim, PAIR, np.array([[4.0, 0, 1, 30]]))
    assert not holds_exactly(claim, PAIR, np.array([[4.0, 1, 1, 30]]))
    (claim,) = _custom(Claim(1, (), (row([(1, 0, "out", ""), (-1, 0, "in", "pay")]),)))
    assert claim.when == (row([(1, 0, "in", "pay is missing")], 0, "=="),)


def test_free_others_and_single_copies():
    bound = row([(-1, 0, "in", "pay")], -3)
    (claim,) = _custom(Claim(2, (bound,), OUT, others="free"))
    assert claim.when == (bound, row([(1, 0, "in", "pay is missing")], 0, "=="))  # b may be missing
    (claim,) = _custom(Claim(2, (bound,), OUT, others="free", equal=("pay",)))
    assert set(claim.when) >= KNOWN_BOTH
    (claim,) = _custom(Claim(2, (), OUT, others="free", equal=("pay",)))
    assert claim.equal == ("pay", "pay is missing")
    then = row([(1, 0, "out", ""), (-1, 1, "out", ""), (-1, 0, "in", "pay")], 0)
    (claim,) = _custom(Claim(2, (row([(1, 0, "in", "age"), (-1, 1, "in", "age")]),), (then,)))
    assert set(claim.when) >= KNOWN_BOTH  # pay is equal in both copies, so it is known in both


def test_a_claim_that_names_an_indicator_is_left_alone():
    own = Claim(1, (row([(1, 0, "in", "pay is missing")], 1, "=="),), (row([(1, 0, "out", "")], 5),))
    assert explicit(own, PAIR) == own and unsaid(own, PAIR) == (own, ())
    assert say(own, None, PAIR) == "Whenever 'pay is missing' is 'yes, read as 4.0', the output is at most 5."
    for rule in (Monotone(increasing=["pay"]), Fair(["pay"], 1), Robust(0.5, 1), Convex(["pay"])):
        (claim,) = rule.lower(PAIR)
        (again,) = _custom(claim)
        assert again == claim


def _custom(claim):
    from smilenn.properties.spec import as_property

    return as_property(claim).lower(PAIR)


# ---- names ----------------------------------------------------------------------------------------------------------


def test_rare_and_new_names_share_one_place():
    cells = ["u"] * 50 + ["v"] * 40 + ["w"] * 2 + ["z"]
    frame = pd.DataFrame({"g": cells, "x": range(93)})
    domain = Domain.from_data(frame, pool=lambda name: True)
    assert domain.feature("g").categories == ("u", "v", "w", OTHER)
    new = pd.DataFrame({"g": ["z", "never seen", "u", OTHER], "x": [1, 1, 1, 1]})
    assert domain.encode(new)[:, :4].argmax(axis=1).tolist() == [3, 3, 0, 3]
    assert Domain.from_data(frame).feature("g").categories == ("u", "v", "w", "z")


def test_many_names_keep_the_most_frequent():
    rng = np.random.default_rng(0)
    cells = [f"t{i:04}" for i in np.minimum(rng.zipf(1.1, 20_000), 500 + rng.integers(0, 250, 20_000)) % 1500]
    domain = Domain.from_data(pd.DataFrame({"g": cells}), pool=lambda name: True)
    assert len(domain.feature("g").categories) == MOST + 1 and domain.feature("g").categories[-1] == OTHER


def test_columns_of_texts_share_the_places_of_values():
    rng = np.random.default_rng(0)
    cells = {f"g{c}": [f"t{i:04}" for i in rng.integers(0, 300, 9000)] for c in range(5)}
    domain = Domain.from_data(pd.DataFrame(cells | {"x": range(9000)}), pool=lambda name: True)
    assert [len(feature.categories) for feature in domain.features] == [places(5) + 1] * 5 + [0]
    assert places(5) == 80 and (domain.feature("g0").categories[-1], places(50)) == (OTHER, LEAST)


def test_texts_that_are_all_rare_are_no_identifier():
    cells = pd.Series([f"t{i:04}" for i in range(1500)] * 20)
    (idle,) = idle_columns(pd.DataFrame({"city": cells, "x": np.arange(30_000) % 99}))
    assert idle.sentence() == (
        "Column 'city' has 1500 values, none of them in 30 rows or more: group them to learn from it; it is left out."
    )


def test_ordered_names_are_numbers_to_rules_and_names_to_people():
    frame = pd.DataFrame({"rating": ["B", "A", None, "C"]})
    domain = learned(frame, order={"rating": ["C", "B", "A"]})
    assert domain.feature("rating") == Feature("rating", "integer", 0, 2, unit="C < B < A")
    assert domain.encode(frame).tolist() == [[1, 0], [2, 0], [1, 1], [0, 0]]
    assert domain.decode(domain.encode(frame))["rating"].tolist() == ["B", "A", None, "C"]
    assert Monotone(increasing=["rating"]).lower(domain)
    with pytest.raises(SmileError, match="Row 7, column 'rating' holds 'D', which has no place in the order"):
        domain.encode(pd.DataFrame({"rating": ["D"]}), first_row=7)


# ---- dates and shares -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells",
    [
        pd.to_datetime(["2020-02-01", "2020-01-31", "2020-02-29"]),
        ["2020-02-01", "2020-01-31", "2020-02-29"],
        [date(2020, 2, 1), date(2020, 1, 31), date(2020, 2, 29)],
        pd.to_datetime(["2020-02-01", "2020-01-31", "2020-02-29"], utc=True),
        pd.PeriodIndex(["2020-02-01", "2020-01-31", "2020-02-29"], freq="D"),
    ],
)
def test_dates_are_days_since_the_first(cells):
    frame = pd.DataFrame({"d": cells})
    domain = Domain.from_data(frame, margin=0.0, scaling="none")
    assert domain.feature("d") == Feature("d", "integer", 0, 29, unit="days since 2020-01-31")
    assert domain.encode(frame)[:, 0].tolist() == [1, 0, 29]
    assert domain.encode(frame.iloc[[0]]).tolist() == [[1]] and domain.encode(pd.DataFrame({"d": [7]})).tolist() == [
        [7]
    ]


def test_times_shares_and_durations_are_numbers():
    frame = pd.DataFrame(
        {
            "t": ["2020-01-01T06:00", "2020-01-02"],
            "p": ["12%", "7.5 %"],
            "l": pd.to_timedelta(["36h", "12h"]),
        }
    )
    domain = Domain.from_data(frame, margin=0.0, scaling="none")
    assert [f.unit for f in domain.features] == ["days since 2020-01-01", "%", "days"]
    assert domain.encode(frame).tolist() == [[0.25, 12, 1.5], [1, 7.5, 0.5]]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.datetimes(pd.Timestamp("1700-01-01"), pd.Timestamp("2200-01-01")), min_size=2, max_size=9))
def test_later_dates_never_have_smaller_numbers(times):
    frame = pd.DataFrame({"d": pd.to_datetime(sorted(times))})
    x = Domain.from_data(frame).encode(frame)[:, 0]
    assert (np.diff(x) >= 0).all() and x[0] >= 0


# ---- columns that say nothing ---------------------------------------------------------------------------------------


def test_idle_columns_are_found_and_named():
    n = 60
    frame = pd.DataFrame(
        {
            "customer_id": range(n),
            "population": np.arange(n) * 7 + 3,
            "code": [f"c{i:04}" for i in range(n)],
            "one": 1,
            "none": np.full(n, np.nan),
            "a": np.arange(n) % 7,
            "b": np.arange(n) % 7,
            "day": pd.date_range("2020-01-01", periods=n).astype(str),
            "holed": [1.0, None] * (n // 2),
        }
    )
    found = {one.column: one.why for one in idle_columns(frame)}
    assert found == {
        "customer_id": "looks like an identifier",
        "code": "looks like an identifier",
        "one": "holds one value only, '1'",
        "none": "is empty",
        "b": "repeats 'a'",
    }
    assert [one.column for one in idle_columns(frame[["a", "b", "code"]], keep=["b", "code"])] == ["a"]
    assert idle_columns(frame[["one", "none"]]) == []
