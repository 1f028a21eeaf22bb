"""An eighth attack by a stranger: what rules say of ordered names, dates and texts, and how tables are read."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from smilenn import Config, Custom, Domain, Feature, Lipschitz, Monotone, Network, Robust, Safe, SmileRegressor
from smilenn.certify.statement import claim_sentence, ranges
from smilenn.domain.absent import indicator
from smilenn.domain.cells import order_of
from smilenn.errors import SmileError
from smilenn.estimators.clamped import ClampedRegressor
from smilenn.estimators.learned import ColumnWarning, notes
from smilenn.estimators.missing import filled, learn_fill
from smilenn.pack.sensitivity import _proved
from smilenn.properties.forms import Outputs
from smilenn.properties.recognise import limits_change
from smilenn.recourse.levers import Lever, levers
from smilenn.service.interface import row_schema
from smilenn.service.served import Served

PRICE = Outputs(target="price", role="number")


# ---- names that are not their places --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rated():
    """Ratings 1, 2, 3 with an order, a date, and a text column whose two texts are numbers."""
    return pd.DataFrame(
        {
            "rating": pd.Categorical([1, 2, 3, 2], categories=[1, 2, 3], ordered=True),
            "start": pd.to_datetime(["2020-01-10", "2020-02-01", "2021-01-01", "2020-01-11"]),
            "sex": pd.Categorical(["1", "2", "2", "1"]),
        }
    )


def said(rule, domain):
    return next(claim_sentence(claim, PRICE, domain) for claim in rule.lower(domain, PRICE))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("rating >= 2", "'rating' is '3'"),  # "at least 2" would take in the cells that read 2
        ("rating >= 1", "'rating' is at least '2'"),
        ("rating >= 0.5", "'rating' is at least '2'"),
        ("rating <= 1", "'rating' is at most '2'"),
        ("rating == 0", "'rating' is '1'"),
        ('rating == "2"', "'rating' is '2'"),
        ("0.5 <= rating <= 2", "'rating' lies between '2' and '3'"),
        ("sex >= 1", "'sex' is '2'"),
        ("sex <= 0.5", "'sex' is '1'"),
    ],
)
def test_a_sentence_says_names_and_not_their_places(rated, row, words):
    domain = Domain.from_data(rated)
    assert said(Safe([row], ["out <= 5"]), domain).startswith(f"Whenever {words}, the predicted 'price'")


def test_what_numbers_of_a_rule_stand_for_is_told_beside_it(rated):
    domain = Domain.from_data(rated)
    legend = "('rating': 0 is '1', 1 is '2', 2 is '3'.)"
    for rule in (
        Monotone("rating"),
        Lipschitz("rating", 1),
        Custom(when=["a.rating >= 2 * b.rating"], then=["a.out <= b.out"]),
        Custom(copies=1, when=[], then=["out <= 3 * rating"]),
    ):
        assert said(rule, domain).endswith(legend)
    assert said(Safe(["start >= 30"], ["out <= 5"]), domain).endswith("('start' counts days since 2020-01-10.)")
    assert ranges(domain)[0] == "'rating' one of '1' < '2' < '3' (0 to 2)"
    assert ranges(domain)[1].endswith("days since 2020-01-10")


def test_ordered_names_that_are_numbers_are_worth_a_word(rated):
    assert any("0 is '1'" in sentence for sentence in notes(rated, Domain.from_data(rated)))
    places = rated.assign(rating=pd.Categorical([0, 1, 2, 1], categories=[0, 1, 2], ordered=True))
    assert not any("'rating'" in sentence for sentence in notes(places, Domain.from_data(places)))


# ---- tables ---------------------------------------------------------------------------------------------------------


def test_a_table_that_has_a_column_twice_is_one_sentence():
    rows = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "z": [0.0, 1.0, 1.0, 0.0]})
    model = SmileRegressor(network=Network(encoder="none", auxiliaries="constant"), time_limit=1).fit(
        rows, [1, 2, 3, 4]
    )
    with pytest.raises(SmileError, match="column 'x' twice"):
        model.predict(pd.concat([rows, rows[["x"]]], axis=1))
    twice = rows.assign(w=1.0, v=2.0).set_axis(["x", "z", "w", "w"], axis=1)  # nobody reads these
    assert (model.predict(twice) == model.predict(rows)).all()


def test_missing_cells_of_short_floats_are_read():
    cells = pd.DataFrame({"x": np.array([1.0, 0.0, np.nan, 3.0], dtype=np.float16)})
    domain = Domain((Feature("x", "integer", 0, 9), indicator("x", 2.0)))
    assert domain.read(cells).tolist() == [[1, 0], [0, 0], [2, 1], [3, 0]]


# ---- rows that lack a number ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gaps():
    """A score that is high where 'income' is missing; a rating with numbers for names."""
    rng = np.random.default_rng(0)
    income, lacks = rng.uniform(0, 100, 240), rng.random(240) < 0.4
    frame = pd.DataFrame(
        {
            "income": np.where(lacks, np.nan, income),
            "debt": rng.uniform(0, 1, 240),
            "rating": pd.Categorical(rng.choice(["1", "2", "3"], 240), ordered=True),
        }
    )
    steps = frame["rating"].cat.codes
    return frame, pd.Series(income / 50 - 2 * frame["debt"] + np.where(lacks, 5, 0) + steps, name="score")


@pytest.fixture(scope="module")
def rising(gaps):
    quick = {"network": Network(members=1), "config": Config(epochs=5), "random_state": 0}
    with pytest.warns(ColumnWarning, match="0 is '1', 1 is '2', 2 is '3'"):
        return SmileRegressor(increasing=["income", "rating"], decreasing=["debt"], **quick).fit(*gaps)


def test_nothing_is_promised_for_a_row_that_lacks_what_the_rule_needs(rising):
    assert "where 'income' is known" in rising.certificate_.statement
    row = pd.DataFrame({"income": ["?"], "debt": [0.9], "rating": ["2"]})  # missing, though no cell is NaN
    goal = float(rising.predict(row)[0]) + 0.01
    for ask in (
        lambda: rising.recourse(row, at_least=goal, change={"debt": "down"}),
        lambda: rising.reasons(row, at_least=goal),
    ):
        with pytest.raises(SmileError, match="'income' is missing in this row"):
            ask()


def test_recourse_says_ordered_names(rising):
    row = pd.DataFrame({"income": [50.0], "debt": [0.5], "rating": ["1"]})
    best = float(rising.predict(row.assign(rating=["3"]))[0])
    found = rising.recourse(row, at_least=best, change={"rating": "3"})
    assert found.change == {"rating": ("1", "3")} and "'rating' from '1' to '3'" in found.sentence
    beyond = rising.recourse(row, at_least=best + 100, change={"rating": "up"})
    assert "with 'rating' at '3'" in beyond.sentence
    with pytest.raises(SmileError, match="one of '1', '2', '3'"):
        rising.recourse(row, at_least=best, change={"rating": 2})


def test_a_direction_is_shown_with_its_limits(rising):
    known = levers(rising.certificate_, rising.outputs_, rising.domain_)
    assert _proved(known, "rating", rising.outputs_).endswith("where 'income' is known")
    lossy = Lever(frozenset({("debt", 1)}), ((Fraction(1), ""),), Fraction(100), strict=False)
    assert (
        _proved([lossy], "debt", rising.outputs_)
        == "moving it up never lowers the predicted 'score' by more than 100.0"
    )


@pytest.mark.parametrize(
    "premise",
    [
        ["-10 <= a.income - b.income <= 10", "-0.5 <= a.debt - b.debt <= 0.5"],
        ["norm2(a.income - b.income, a.debt - b.debt) <= 10"],
    ],
)
def test_a_rule_on_known_numbers_certifies_no_label_of_a_row_that_lacks_one(gaps, premise):
    domain = Domain.from_data(gaps[0], missing=True)
    outputs = Outputs(("",), ("no", "yes"), target="ok")
    rule = Custom(when=premise, then=["-0.3 <= a.out - b.out <= 0.3"])
    (claim,) = rule.lower(domain, outputs)
    assert "where 'income' is known" in claim_sentence(claim, outputs, domain)
    assert "0 is 'no'" not in claim_sentence(claim, outputs, domain)  # what the rule fixes needs no legend
    assert not limits_change(claim, outputs, domain)
    (other,) = Robust({"income": 10, "debt": 0.5}, eps=0.3).lower(domain, outputs)
    assert limits_change(other, outputs, domain)  # holds for rows that lack the number too


def test_a_service_shows_ordered_names_and_no_indicators(rising, tmp_path):
    rising.save(tmp_path / "model")
    served = Served.load(tmp_path / "model")
    schema = row_schema(served)
    assert schema["required"] == ["income", "debt", "rating"]
    assert schema["properties"]["rating"] == {"type": "string", "enum": ["1", "2", "3"]}
    assert [column.get("values") for column in served.described()["columns"]] == [None, None, ["1", "2", "3"]]
    row = {"income": 50.0, "debt": 0.5, "rating": "2"}
    curve = served.curve(row, "rating")
    assert curve["at"] == ["1", "2", "3"]
    assert curve["output"][1] == rising.predict(pd.DataFrame([row]))[0]


# ---- cells that are filled ------------------------------------------------------------------------------------------


def test_an_order_survives_the_filling_of_its_missing_cells():
    """Filled as texts, 'low' < 'high' became 'high' = 0, 'low' = 1: a rule said the opposite of what was meant."""
    ratings = pd.Categorical(["low", "high", None, "high"], categories=["low", "high"], ordered=True)
    frame = pd.DataFrame({"rating": ratings, "code": pd.Categorical([1.0, 2.0, 2.0, None])})
    fill = learn_fill(frame)
    assert fill == {"rating": "high", "code": "2"}
    whole = filled(frame, fill)
    domain = Domain.from_data(whole)
    assert order_of(domain.feature("rating")) == ("low", "high")
    assert domain.feature("code").categories == ("1", "2")
    assert domain.read(whole).tolist() == [[0, 0], [1, 1], [1, 1], [1, 1]]


@pytest.mark.parametrize("kind", ["dates", "periods", "durations"])
def test_a_filled_date_is_one_of_the_dates(kind):
    days = pd.Series(pd.to_datetime(["2020-01-10", "2020-01-12", None, "2020-01-20"]))
    cells = {"dates": days, "periods": days.dt.to_period("D"), "durations": days - pd.Timestamp("2020-01-10")}[kind]
    frame = pd.DataFrame({"x": cells})
    fill = learn_fill(frame)
    domain = Domain.from_data(filled(frame, fill))
    assert domain.read(filled(frame, fill))[:, 0].tolist() == [0, 2, 2, 10]
    assert domain.read(filled(frame.iloc[[2]], fill))[:, 0].tolist() == [2]  # alone as among others


def test_a_missing_name_among_ordered_numbers_is_one_sentence():
    domain = Domain((Feature("x", "integer", 0, 2, unit="1 < 2 < 3"),))
    with pytest.raises(SmileError, match="Row 1, column 'x' is missing"):
        domain.read(pd.DataFrame({"x": pd.Categorical([1, None, 3], categories=[1, 2, 3], ordered=True)}))


# ---- clamps ---------------------------------------------------------------------------------------------------------


class Reads(RegressorMixin, BaseEstimator):
    """A model that adds up a number and the days or codes of another column."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        other = X["other"]
        days = (other - pd.Timestamp("2020-01-01")).dt.days if other.dtype.kind == "M" else other.astype(float)
        return X["x"].to_numpy() + days.to_numpy(dtype=float)


@pytest.mark.parametrize("ordered", [False, True])
def test_a_clamped_model_gets_its_own_categories(ordered):
    codes = pd.Categorical([1, 3, 2, 1, 3, 2], ordered=ordered)
    frame = pd.DataFrame({"x": np.linspace(0, 1, 6), "sex": list("fmfmfm"), "other": codes})
    clamp = ClampedRegressor(Reads(), ["sex"], eps=1.0).fit(frame, frame["x"])
    assert clamp.certificate_.accepted
    assert np.abs(clamp.predict(frame) - clamp.model_.predict(frame)).max() <= 1e-9  # fair as it is, so nothing is cut


def test_a_clamp_refuses_dates_that_it_cannot_give_back():
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(range(6), unit="D")
    frame = pd.DataFrame({"x": np.linspace(0, 1, 6), "sex": list("fmfmfm"), "other": dates})
    with pytest.raises(SmileError, match="'other' is read as numbers"):
        ClampedRegressor(Reads(), ["sex"], eps=1.0).fit(frame, frame["x"])
