"""Columns that a fit leaves out: noted with their reasons, said again later, and not asked for by the commands."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from tests.test_cli_table import smile

from smilenn import (
    Config,
    Custom,
    Fair,
    Monotone,
    Network,
    OneOf,
    Safe,
    SmileClassifier,
    SmileRegressor,
    SumAtMost,
)
from smilenn.cli.checking import stored_left_out
from smilenn.cli.noted import read_columns, table_columns
from smilenn.domain.idle import left_out_words
from smilenn.estimators.leak import LeakWarning
from smilenn.estimators.learned import ColumnWarning, named_columns
from smilenn.estimators.store import load
from smilenn.report.findings import gather

ROWS = 60
ROW = np.arange(ROWS)
WHY = {"k": "holds one value only, '5'", "id": "looks like an identifier", "e": "is empty", "x2": "repeats 'x'"}
SMALL = {
    "network": Network(hidden=2, embedding=2, backbone_sizes=(4,), members=1),
    "config": Config(pretrain_epochs=3, epochs=2),
    "random_state": 0,
    "certify_limit": 2,
}
pytestmark = pytest.mark.usefixtures("quick_module")


def table():
    x = np.where(ROW == 7, np.nan, ROW * 1.5)
    names = [("a", "b", "c")[i % 3] for i in ROW]
    return pd.DataFrame({"x": x, "k": 5, "g": names, "id": [f"u{i}" for i in ROW], "e": np.nan, "x2": x})


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        return SmileRegressor(increasing=["x"], **SMALL).fit(table(), ROW * 0.5)


@pytest.fixture
def folder(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_what_was_left_out_is_noted_and_said_again(model, folder):
    again = load(folder)
    assert model.left_out_ == again.left_out_ == stored_left_out(folder) == WHY
    words = left_out_words(WHY)
    assert words in model.explain() and words in again.explain()
    assert words in gather(again, table(), ROW * 0.5).limits
    code, out, _ = smile("check", folder)
    assert code == 0 and f"{words[:-1]} (as noted, not checked)." in out
    assert json.loads(smile("check", folder, "--json")[1])["left_out"] == WHY


def test_nothing_is_said_where_nothing_was_left_out(tmp_path):
    model = SmileRegressor(increasing=["x"], **SMALL).fit(table()[["x", "g"]], ROW * 0.5)
    model.save(tmp_path / "m")
    assert model.left_out_ == stored_left_out(tmp_path / "m") == {} and "Left out" not in model.explain()
    assert "left_out" not in json.loads((tmp_path / "m/model.json").read_text())["learned"]


def test_a_later_file_needs_the_columns_that_are_read(model, folder, tmp_path):
    assert read_columns(folder) == model.domain_.columns == ("x", "g")
    assert set(table_columns(folder)) == set(table().columns)
    data = table()[["x", "g"]]
    data.to_csv(tmp_path / "later.csv", index=False)
    code, _, err = smile("predict", folder, tmp_path / "later.csv", "--out", tmp_path / "out.csv")
    assert code == 0, err
    found = pd.read_csv(tmp_path / "out.csv")["prediction"]
    np.testing.assert_array_equal(found, model.predict(data))
    np.testing.assert_array_equal(found, model.predict(table()))
    assert smile("explain", folder, tmp_path / "later.csv", "--rows", 1)[0] == 0
    data[["x"]].to_csv(tmp_path / "later.csv", index=False)
    code, _, err = smile("predict", folder, tmp_path / "later.csv", "--out", tmp_path / "more.csv")
    assert code == 2 and "lacks the column 'g', which the model needs" in err


def test_a_constant_that_a_rule_names_beside_another_column_gets_a_word():
    frame = table()[["x", "k"]]
    with pytest.warns(ColumnWarning, match="Column 'k' holds one value only, '5', and a rule names it: nothing can be"):
        SmileRegressor(increasing=["x", "k"], **SMALL).fit(frame, ROW * 0.5)


@pytest.mark.parametrize("write", [lambda v: v, lambda v: [f"${1000 + n:,}" for n in v]])
def test_a_copy_of_the_target_under_another_name_gets_a_word(write):
    frame = table()[["x", "g"]].assign(leak=write(ROW))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SmileRegressor(increasing=["x"], **SMALL).fit(frame, write(ROW))
    said = [str(one.message) for one in caught if one.category is LeakWarning]
    assert len(said) == 1 and said[0].startswith("Column 'leak' holds the target itself in every row")


def test_copies_of_two_classes_are_found_whatever_they_are_called():
    frame = table()[["x"]].assign(leak=["paid" if i % 5 else "not" for i in ROW], near=(ROW % 5 > 0).astype(int))
    frame.loc[3, "near"] = 1 - frame.loc[3, "near"]
    with pytest.warns(LeakWarning, match="Column 'leak' holds the target itself") as caught:
        SmileClassifier(**SMALL).fit(frame, ["A" if i % 5 else "Z" for i in ROW])
    assert not any("'near'" in str(one.message) for one in caught)


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        (Safe(when=["counted <= 10"], then=["out <= 30"]), {"counted"}),
        (Custom(when=['a["x2"] <= b["x2"]'], then=["a.out <= b.out"]), {"x2"}),
        (Custom(when=['a["x is missing"] >= 1'], then=["a.out <= 9"], says="k, of course"), {"x"}),
        (OneOf(["a", "b"], when=["k + e >= 3"]), {"k", "e"}),
        (SumAtMost(None, "2*k + 1"), {"k"}),
        (Monotone(increasing=[0]), {"x"}),
        (Fair(["id"], 1), {"id"}),
    ],
)
def test_columns_of_a_written_row_are_named_too(rule, names):
    assert named_columns([rule], ("x", "x2", "k", "e", "id", "counted")) == names


def test_a_row_number_that_a_written_rule_names_stays():
    frame = table()[["x"]].assign(counted=np.arange(ROWS), x2=ROW * 1.0)
    rules = [
        Safe(when=["counted <= 10"], then=["out <= 99"]),
        Custom(when=["a.x2 <= b.x2"], then=["a.out <= b.out + 99"]),
    ]
    model = SmileRegressor(properties=rules, **SMALL).fit(frame, ROW * 0.5)
    assert {"counted", "x2"} <= {feature.name for feature in model.domain_.features}
