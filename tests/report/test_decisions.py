"""Ranking and decisions of two classes, against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from smilenn import Domain, Feature
from smilenn.report.decisions import decisions, ks, rates

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 200).astype(float)
LOGIT = (RNG.normal(0, 2, 200) + 2 * Y).round(1)  # rounded, so that some are tied


def test_ks_is_the_largest_distance_of_the_roc_curve():
    wrong, right, _ = roc_curve(Y, LOGIT)
    assert ks(Y, LOGIT) == pytest.approx((right - wrong).max())
    assert np.isnan(ks(np.ones(3), np.arange(3.0)))


def test_rates_of_nobody_are_a_dash():
    assert rates(np.array([True, True]), np.array([True, False])) == ("0.5", "–", "0.5")


def test_groups_and_counts_add_up():
    domain = Domain((Feature("g", "category", categories=("a<", "b", "none")),))
    codes = (np.arange(200) % 2).astype(int)
    shown = decisions(Y, LOGIT, domain, np.eye(3)[codes], "bad<")
    said, true = LOGIT > 0, Y > 0.5
    for count in (said & true, ~said & true, said & ~true, ~said & ~true):
        assert f"<td>{count.sum()}</td>" in shown
    assert "bad&lt;" in shown and "bad<" not in shown and "g: a&lt;" in shown and "g: none" not in shown
    a = codes == 0
    assert f"<td>g: a&lt;</td><td>100</td><td>{said[a].mean():.3g}</td><td>{said[a & ~true].mean():.3g}</td>" in shown


def test_the_class_that_was_called_positive_is_the_one_that_is_counted():
    domain = Domain((Feature("g", "category", categories=("a", "b")),))
    x = np.eye(2)[(np.arange(200) % 2).astype(int)]
    shown = decisions(Y, LOGIT, domain, x, "bad", turned=True)
    said, true = LOGIT <= 0, Y < 0.5  # a row on the boundary is predicted as the first class
    assert "&#x27;bad&#x27; is the positive class" in shown or "'bad' is the positive class" in shown
    rates_of_all = f"<td>{said.mean():.3g}</td><td>{said[~true].mean():.3g}</td><td>{(~said)[true].mean():.3g}</td>"
    assert f"<td>all rows</td><td>200</td>{rates_of_all}" in shown
