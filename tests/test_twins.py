"""Copies of a column in another type are left out; the same category in other words gets a warning and stays."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from smilenn.domain import idle_columns
from smilenn.domain.twins import canonical, in_other_words
from smilenn.estimators.learned import ColumnWarning, learned
from smilenn.estimators.options import Columns

N = 90
ROW = np.arange(N)
AGE = 20 + ROW * 7 % 43
SEX = np.where(ROW % 5 < 2, "female", "male")
AREA = np.array(["north", "south", "east"])[ROW * 5 % 7 % 3]
BIG = 2**53


def base_pay():
    return ROW * 37 % 53 + 0.5


def base():
    return pd.DataFrame({"age": AGE, "sex": SEX, "area": AREA, "pay": base_pay()})


COPIES = {
    "float64": ("age", AGE.astype(float)),
    "Int64": ("age", pd.array(AGE, dtype="Int64")),
    "Float64": ("age", pd.array(AGE, dtype="Float64")),
    "int8": ("age", AGE.astype("int8")),
    "objects": ("age", AGE.astype(float).astype(object)),
    "decimals": ("age", [Decimal(int(age)) for age in AGE]),
    "texts of numbers": ("pay", [str(pay) for pay in base_pay()]),
    "category": ("sex", pd.Categorical(SEX)),
    "object": ("sex", SEX.astype(object)),
    "string": ("sex", pd.array(SEX, dtype="string")),
    "categories in another order": ("area", pd.Categorical(AREA, categories=["south", "north", "east"])),
}
OTHERS = {
    "negative": -AGE,
    "twice": 2 * AGE,
    "ordered": pd.Categorical(AREA, categories=["south", "north", "east"], ordered=True),
    "almost": np.where(ROW == 3, "other", SEX),
    "a text beside numbers": [str(age) if age < 60 else "old" for age in AGE],
    "texts of other numbers": [f"{age}.01" for age in AGE],
    "one cell missing": pd.Series(np.where(ROW == 3, None, AGE.astype(object))),
}


def said(frame, rules=()):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        domain = learned(frame, Columns(), rules, missing="indicator", unknown="other")
    return domain, [str(one.message) for one in caught if one.category is ColumnWarning]


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_of_another_type_is_left_out(kind):
    of, cells = COPIES[kind]
    frame = base().assign(copy=cells)
    assert [(one.column, one.why) for one in idle_columns(frame)] == [("copy", f"repeats '{of}'")]
    assert [(one.column, one.why) for one in idle_columns(frame, keep=["copy"])] == [(of, "repeats 'copy'")]
    assert idle_columns(frame, keep=["copy", of]) == []


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_copy_stays(kind):
    assert idle_columns(base().assign(other=OTHERS[kind])) == []


def test_missing_cells_are_part_of_a_copy():
    holed = pd.Series(np.where(ROW % 9 == 3, np.nan, AGE))
    frame = base().assign(age=holed, copy=holed.astype("Int64"), sex=pd.Series(SEX).where(ROW % 4 > 0))
    frame = frame.assign(also=frame["sex"].astype("category"))
    assert {one.column: one.why for one in idle_columns(frame)} == {"copy": "repeats 'age'", "also": "repeats 'sex'"}


def test_numbers_that_float64_rounds_are_no_copies():
    frame = pd.DataFrame({"a": BIG + 2 * ROW, "b": BIG + 2 * ROW + (ROW == 5)})
    assert idle_columns(frame) == [] and canonical(frame["b"]).dtype == "int64"


@pytest.mark.parametrize(
    "cells",
    [
        np.where(SEX == "male", "M", "F"),
        (SEX == "male").astype(int),
        SEX == "male",
        pd.Categorical(np.where(SEX == "male", "M", "F")),
        np.where(SEX == "male", 2.0, 1.0),
    ],
)
def test_a_category_in_other_words_gets_a_word_and_stays(cells):
    frame = base().assign(gender=cells)
    domain, words = said(frame)
    assert domain.columns == tuple(frame.columns)
    assert words == [
        "Column 'gender' repeats 'sex' in other words: every value of one stands beside one value of the other. A rule "
        "about one of them leaves the other as it is; leave one out."
    ]
    assert len(said(frame, rules=["sex"])[1]) == 1  # fairness in 'sex' alone says nothing of 'gender'
    assert said(frame, rules=["sex", "gender"])[1] == []


def test_what_tells_other_rows_apart_gets_no_word():
    for kind in ("negative", "twice"):
        assert said(base().assign(other=OTHERS[kind]))[1] == []
    gender = np.where(SEX == "male", "M", "F")
    assert list(in_other_words(base().assign(gender=gender), {"sex", "gender"})) == [("sex", "gender")]
    assert list(in_other_words(base().assign(gender=gender).head(20), {"sex", "gender"})) == []
    gender[3] = "F" if gender[3] == "M" else "M"
    assert list(in_other_words(base().assign(gender=gender), {"sex", "gender"})) == []
    holed = base().assign(sex=pd.Series(SEX).where(ROW % 4 > 0), gender=np.where(SEX == "male", "M", "F"))
    assert said(holed)[1] == []  # which says more


def test_numbers_that_float64_would_round_are_no_copies():
    frame = pd.DataFrame({"n": ROW % 7 + BIG, "x": ROW % 5})
    later = frame.assign(t=[str(n + (n == BIG + 1)) for n in frame["n"]])  # 2⁵³ + 1 is 2⁵³ to float64
    assert idle_columns(later) == []
