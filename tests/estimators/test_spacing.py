"""A delta below the step between the values of a column gets a word."""

import warnings

import numpy as np
import pytest

from smilenn.domain import Domain
from smilenn.estimators.spacing import DeltaWarning, warn_of_small_deltas
from smilenn.properties import Robust

ROWS = np.array([[0.0, 0.5], [255.0, 0.25], [51.0, 1.0]])
DOMAIN = Domain.box([0, 0], [268, 1], ["p", "q"])


def said(rule, rows=ROWS):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_small_deltas([rule], DOMAIN, rows)
    assert all(one.category is DeltaWarning for one in found)
    return [str(one.message) for one in found]


def test_a_tenth_of_a_grey_level_is_a_tenth_of_the_range():
    (text,) = said(Robust(0.5, features=["p"]))
    assert text == (
        "Robust lets 'p' change by 0.5, less than the step between its values, which are whole numbers at least 51 "
        "apart; did you mean 127.5 of 255?"
    )


@pytest.mark.parametrize("rule", [Robust({"p": 3}), Robust("1%", features=["p"], norm=2), Robust(3, features=["p"])])
def test_other_deltas_are_to_be_larger(rule):
    (text,) = said(rule)
    assert text.endswith("; give a larger delta.")


@pytest.mark.parametrize("rule", [Robust(51), Robust("50%"), Robust({"q": 0.1}), Robust(60, norm=2), Robust(3)])
def test_larger_ones_and_other_columns_get_none(rule):
    assert said(rule) == []


def test_constant_columns_get_none():
    assert said(Robust(0.1), np.array([[3.0, 0.5], [3.0, 0.25]])) == []


def test_a_pixel_of_few_values_is_no_reason():
    rows = np.array([[0.0, 0.0], [1.0, 9.0], [2.0, 9.0]])
    assert said(Robust(1), rows) == [] and len(said(Robust(0.5), rows)) == 1
    assert said(Robust(0.5), np.array([[0.0, 0.0], [1.0, 0.3], [1.0, 0.9]])) == []  # shares, one column black and white
