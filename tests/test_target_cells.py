"""Targets as people write them: $1,000, 12% and 0,5 are numbers, dates are refused, lookalikes get a word."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from tests.test_cli_table import FIT, smile

from smilenn import Config, Network, SmileClassifier, SmileError, SmileRegressor
from smilenn.cli.fit_request import Request, checked
from smilenn.cli.preparing import prepare
from smilenn.cli.report_request import Request as ReportRequest
from smilenn.cli.report_table import report_table
from smilenn.domain.target_cells import TargetWarning, in_numbers
from smilenn.estimators.store import load
from smilenn.report.model import rows_of

ROWS = 60
SMALL = {
    "network": Network(hidden=2, embedding=2, backbone_sizes=(4,), members=1),
    "config": Config(pretrain_epochs=3, epochs=2),
    "random_state": 0,
    "certify_limit": 2,
}
WRITTEN = {
    "$1,013": (lambda i: f"${1000 + 13 * i:,}", "$, written 1,000", lambda i: 1000 + 13 * i),
    "7%": (lambda i: f"{i % 9}%", "%", lambda i: i % 9),
    "7,25": (lambda i: f"{i},25", "written 0,5", lambda i: i + 0.25),
}
pytestmark = pytest.mark.usefixtures("quick_module")


def frame():
    return pd.DataFrame({"x": np.arange(ROWS) * 1.5, "g": [("a", "b", "c")[i % 3] for i in range(ROWS)]})


def prepared(tmp_path, cells, **options):
    frame().assign(y=cells).to_csv(tmp_path / "data.csv", index=False)
    request = Request(tmp_path / "data.csv", ("y",), tmp_path / "model", increasing=("x",), **options)
    return prepare(request, checked(request))


@pytest.mark.parametrize("name", WRITTEN)
def test_written_numbers_are_a_regression_in_files(tmp_path, name):
    write, unit, number = WRITTEN[name]
    with pytest.warns(TargetWarning, match="The target 'y' holds .*, which is read as the number"):
        found = prepared(tmp_path, [write(i) for i in range(ROWS)])
    assert not found.classes and found.units == (unit,)
    assert found.target.y[:, 0].tolist() == found.y.tolist() == [number(i) for i in range(ROWS)]


@pytest.mark.parametrize("name", WRITTEN)
def test_written_numbers_are_a_regression_in_frames(name, tmp_path):
    """Read with the unit of the fit ever after, also once loaded, whatever later cells suggest by themselves."""
    write, unit, number = WRITTEN[name]
    y = pd.Series([write(i) for i in range(ROWS)])
    with pytest.warns(TargetWarning, match="which is read as the number"):
        model = SmileRegressor(increasing=["x"], **SMALL).fit(frame(), y)
    assert model.target_units_ == (unit,)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert type(again.verdict_) is type(model.verdict_)
    numbers = [float(number(i)) for i in range(ROWS)]
    assert again.score(frame(), y) == model.score(frame(), numbers)
    assert rows_of(again, frame()[:1], y[:1]).y.tolist() == [[numbers[0]]]
    assert json.loads((tmp_path / "m/model.json").read_text())["table"]["target_units"] == [unit]


def test_a_later_cell_is_read_as_those_of_the_fit_were():
    """1,200 alone would be twelve hundred."""
    values, units = in_numbers(np.array(["1,200", "0,5"], dtype=object), units=["written 0,5"])
    assert values.tolist() == [1.2, 0.5] and units == ("written 0,5",)
    values, _ = in_numbers(np.array(["1,200"], dtype=object), units=["written 0,5"])
    assert values.tolist() == [1.2]
    with pytest.raises(SmileError, match=r"Row 1, column 'the target' holds the text '1\.5'"):
        in_numbers(np.array(["0,5", "1.5"], dtype=object), units=["written 0,5"])


def test_several_targets_have_a_unit_each(tmp_path):
    y = pd.DataFrame({"u": [f"${1000 + i:,}" for i in range(ROWS)], "v": np.arange(ROWS)})
    with pytest.warns(TargetWarning, match="The target 'u' holds"):
        model = SmileRegressor(increasing=["x"], **SMALL).fit(frame(), y)
    assert model.target_units_ == ("$, written 1,000", "")
    assert rows_of(model, frame()[:2], y[["v", "u"]][:2]).y.tolist() == [[1000, 0], [1001, 1]]


@pytest.mark.parametrize("write", [lambda i: f"2024-01-{i % 28 + 1:02}", lambda i: f"{i % 28 + 1:02}.01.2024"])
def test_dates_are_refused_in_one_sentence(tmp_path, write):
    cells = [write(i) for i in range(ROWS)]
    with pytest.raises(SmileError, match=r"The target 'y' holds dates such as '.*'; predict a number instead"):
        prepared(tmp_path, cells)
    with pytest.raises(SmileError, match="The target holds dates such as"):
        SmileRegressor(increasing=["x"], **SMALL).fit(frame(), cells)


def test_one_bad_cell_is_named_in_python():
    cells = ["abc" if i == 7 else f"{i},5" for i in range(ROWS)]
    with pytest.raises(SmileError, match="Row 7 of the target holds 'abc' among cells such as '0,5'; correct"):
        SmileRegressor(increasing=["x"], **SMALL).fit(frame(), cells)


@pytest.mark.parametrize(
    ("cells", "options", "said"),
    [
        (lambda i: f"{i % 3} kg", {}, "taken for names of classes; its cells are numbers with 'kg' behind them"),
        (lambda i: f"{i % 3}%", {"task": "classification"}, "holds numbers such as '0%', which are names of classes"),
        (lambda i: f"{i % 3}%", {"category": ("y",)}, ""),
        (lambda i: f"{i % 2}0%", {}, ""),
        (lambda i: "uvw"[i % 3], {}, ""),
    ],
)
def test_classes_that_look_like_numbers_get_a_word(tmp_path, cells, options, said):
    cells = [cells(i) for i in range(ROWS)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = prepared(tmp_path, cells, **options)
    assert found.classes and set(map(str, found.target.classes)) == set(cells)
    told = [str(one.message) for one in caught if one.category is TargetWarning]
    assert len(told) == bool(said) and all(said in one for one in told)


def test_a_classifier_in_python_keeps_its_classes():
    with pytest.warns(TargetWarning, match="The target holds numbers such as '0%', which are names of classes here"):
        model = SmileClassifier(**SMALL).fit(frame(), [f"{i % 3}%" for i in range(ROWS)])
    assert model.classes_.tolist() == ["0%", "1%", "2%"]


def test_a_report_reads_the_target_as_the_fit_did(tmp_path):
    write, _, number = WRITTEN["$1,013"]
    data = frame().assign(y=[write(i) for i in range(ROWS)])
    data.to_csv(tmp_path / "data.csv", index=False)
    given = ("fit", tmp_path / "data.csv", "--target", "y", "--increasing", "x", "--out", tmp_path / "m", *FIT)
    code, _, err = smile(*given)
    assert code in (0, 3) and err.count("which is read as the number") == 1, err
    assert json.loads((tmp_path / "m/training.json").read_text())["target_units"] == ["$, written 1,000"]
    request = ReportRequest(tmp_path / "m", data=tmp_path / "data.csv", out=tmp_path / "r.html")
    assert report_table(request).frame["y"].tolist() == [number(i) for i in range(ROWS)]
    data["y"] = data["y"].mask(data.index == 4, "n/k")
    data.to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(SmileError, match="Row 6, column 'y' holds the text 'n/k' among numbers"):
        report_table(request)
