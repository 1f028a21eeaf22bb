"""Whole numbers that name or count their rows are left out, or named in a warning; real quantities are neither."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.test_cli_table import smile

from smilenn import Config, Network, SmileRegressor
from smilenn.cli.option_words import in_options
from smilenn.domain import idle_columns
from smilenn.domain.idle import perhaps_identifier
from smilenn.domain.numbered import numbered
from smilenn.estimators.learned import ColumnWarning, learned
from smilenn.estimators.options import Columns

N = 731
RNG = np.random.default_rng(5)
ROW = np.arange(N)


def distinct(low, high, n=N):
    return low + RNG.choice(high - low, n, replace=False, shuffle=True)


LEFT_OUT = {
    "instant": (ROW + 1, "counter"),
    "zero based": (ROW, "counter"),
    "instant as floats": (ROW + 1.0, "counter"),
    "shuffled": (RNG.permutation(N), "counter"),
    "what a split kept": (np.sort(RNG.permutation(N)[: int(0.75 * N)]), "counter"),
    "nullable": (pd.array(ROW + 1, dtype="Int64"), "counter"),
    "customer_no": (distinct(10_000, 99_999), "identifier"),
    "Policy Number": (distinct(10_000, 99_999), "identifier"),
    "invoiceNr": (ROW * 3 + 20_000, "identifier"),
    "id_num": (ROW + 1, "identifier"),
    "id": (distinct(1, 10**7).astype(float), "identifier"),
    "CustomerId": (distinct(1, 10**7), "identifier"),
}
WARNED = {
    "cust": distinct(10**6, 10**7),
    "cust as floats": distinct(10**6, 10**7).astype(float),
    "from 1001 on": ROW + 1001,
    "with gaps": np.cumsum(RNG.integers(1, 9, N)) + 300,
    "step": ROW + 1,
    "trading day": ROW,
    "half of a split": np.sort(RNG.permutation(4 * N)[:N]),
    "nineteen digits": 5_234_567_890_123_456_789 + 1_003 * distinct(0, 10**6),
}
QUANTITIES = {
    "salary in whole dollars": distinct(18_000, 240_000, 60),
    "salaries of many": distinct(18_000, 240_000, 300),
    "population": np.round(np.exp(RNG.normal(9, 2, 120))),
    "measured": RNG.uniform(0, 9, N),
    "age": RNG.integers(18, 90, N),
    "year": np.arange(1890, 2021),
    "day": np.array([int(day.strftime("%Y%m%d")) for day in pd.date_range("2011-01-01", periods=N)]),
    "month": np.array([int(day.strftime("%Y%m")) for day in pd.date_range("1911-01-01", periods=150, freq="MS")]),
    "second": 1_300_000_000 + ROW * 3600,
    "millisecond": 1_300_000_000_000 + ROW * 1000,
    "logged at": np.array([int(at.strftime("%Y%m%d%H%M")) for at in pd.date_range("2011-01-01", periods=N, freq="h")]),
    "sales_num": distinct(3, 90_000, 60),
    "few rows": np.arange(99),
    "flag": ROW % 2,
    "date": pd.date_range("2011-01-01", periods=N),
    "negative": ROW - 40,
}


def told(name, cells):
    return numbered(name, pd.Series(cells))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_numbers_that_name_their_rows_are_left_out(name):
    cells, why = LEFT_OUT[name]
    assert told(name, cells) == why
    frame = pd.DataFrame({name: cells, "x": np.arange(len(cells)) % 7})
    words = {"counter": "counts the rows", "identifier": "looks like an identifier"}[why]
    assert [(one.column, one.why) for one in idle_columns(frame)] == [(name, words)]
    assert idle_columns(frame, keep=[name]) == []


@pytest.mark.parametrize("name", WARNED)
def test_numbers_that_may_name_their_rows_get_a_word_and_stay(name):
    assert told(name, WARNED[name]) == "perhaps"
    frame = pd.DataFrame({name: WARNED[name], "x": ROW % 7})
    assert idle_columns(frame) == []
    if name == "nineteen digits":  # which float64 rounds
        return
    said = f"Column '{name}' holds another whole number in every row, as identifiers do, .* drop it from X."
    with pytest.warns(ColumnWarning, match=said):
        domain = learned(frame, Columns(), (), missing="indicator", unknown="other")
    assert domain.columns == (name, "x")
    for options, rules in ((Columns(kinds={name: "integer"}), ()), (Columns(), (name,))):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ColumnWarning)
            learned(frame, options, rules, missing="indicator", unknown="other")


@pytest.mark.parametrize("name", QUANTITIES)
def test_quantities_and_times_get_no_word(name):
    cells = pd.Series(QUANTITIES[name])
    assert told(name, cells) == "" and perhaps_identifier(name, cells) == ""
    assert idle_columns(pd.DataFrame({name: cells, "x": np.arange(len(cells)) % 7})) == []


def test_a_missing_number_does_not_hide_an_identifier():
    cells = pd.Series([None if i == 3 else i * 17.0 + 5 for i in ROW])
    assert [one.column for one in idle_columns(pd.DataFrame({"customer_id": cells, "x": ROW % 7}))] == ["customer_id"]


@pytest.mark.usefixtures("quick_module")
def test_a_model_says_that_it_left_out_row_numbers():
    frame = pd.DataFrame({"instant": ROW + 1, "temp": RNG.uniform(0, 1, N)})
    small = Network(hidden=2, embedding=2, backbone_sizes=(4,), members=1)
    with pytest.warns(ColumnWarning, match="Column 'instant' counts the rows; it is left out. To keep it, declare"):
        model = SmileRegressor(
            increasing=["temp"], network=small, config=Config(pretrain_epochs=2, epochs=1), certify_limit=0
        ).fit(frame, 2 * frame["temp"])
    assert model.left_out_ == {"instant": "counts the rows"}
    assert len(model.predict(frame[["temp"]].head(3))) == 3


def test_the_command_leaves_row_numbers_out_and_names_identifiers(tmp_path):
    """It holds rows out after it has judged the whole table."""
    frame = pd.DataFrame({"instant": ROW[:200] + 1, "cust": WARNED["cust"][:200], "t": RNG.uniform(0, 1, 200)})
    frame.assign(y=frame["t"] ** 2).to_csv(tmp_path / "t.csv", index=False)
    quick = ("--time-limit", 1, "--certify-limit", 0, "--out", tmp_path / "m")
    code, out, err = smile("fit", tmp_path / "t.csv", "--target", "y", "--increasing", "t", *quick)
    assert code in (0, 3), err
    words = " ".join((out + err).split())
    assert "Column 'instant' counts the rows; it is left out. To keep it, name it in a rule" in words
    assert "Column 'cust' holds another whole number in every row" in words
    assert "if it names its rows, leave it out with --id or --drop." in words and "from X" not in words


def test_the_sentence_in_options():
    assert "drop it from X" not in in_options(perhaps_identifier("cust", pd.Series(WARNED["cust"])))
