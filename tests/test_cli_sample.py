"""A Parquet file too large to hold: a stated part of it, with the ends of every column and every category."""

import json
import warnings
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from smilenn.cli import app, sample
from smilenn.cli.source import Source
from smilenn.cli.table import read_table
from smilenn.errors import SmileError

pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: cluster)")
ROWS = 5000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(sample, "MOST_ROWS", 300)
    monkeypatch.setattr(sample, "BATCH_ROWS", 512)


def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=ROWS),
            "n": rng.integers(0, 10**6, ROWS),
            "g": rng.choice(["a", "b"], ROWS),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**5, ROWS), unit="h"),
            "unused": rng.normal(size=ROWS),
        }
    )
    frame.loc[4321, "g"] = "rare"
    frame["y"] = frame["x"] + (frame["g"] == "a") + rng.normal(0, 0.1, ROWS)
    return frame


@pytest.fixture
def file(tmp_path):
    table().to_parquet(tmp_path / "large.parquet", row_group_size=700, index=False)
    return tmp_path / "large.parquet"


def read(file, only=None, may_lack=()):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read_table(Source.find(file), only=only, may_lack=may_lack)
    return found, [str(one.message) for one in caught]


def test_the_part_has_the_ends_of_every_column_and_every_text(file):
    found, said = read(file)
    whole = table()
    assert 300 < len(found) <= 300 + 2 * 5 + 3
    for name in ("x", "n", "day", "unused", "y"):
        assert found[name].min() == whole[name].min() and found[name].max() == whole[name].max()
    assert set(found["g"]) == {"a", "b", "rare"}
    assert len(said) == 1 and f"has 5000 rows; {len(found)} of them are read: 300 drawn evenly" in said[0]
    both = whole.merge(found, on=["x", "n", "y"])
    assert len(both) == len(found) and (both["x"].to_numpy() == found["x"].to_numpy()).all()  # rows, in their order


def test_the_part_has_the_ends_of_decimals_and_dates(tmp_path, monkeypatch):
    """Both come as objects; beyond the first thousand they were looked at no more, and the sentence said otherwise."""
    monkeypatch.setattr(sample, "MOST_TEXTS", 20)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "cost": [Decimal(int(v)) / 100 for v in rng.permutation(ROWS)],
            "day": [date(2000, 1, 1) + timedelta(days=int(v)) for v in rng.permutation(ROWS)],
            "name": [f"n{v}" for v in rng.permutation(ROWS)],
        }
    )
    frame.to_parquet(tmp_path / "large.parquet", row_group_size=700, index=False)
    found, (said,) = read(tmp_path / "large.parquet")
    for name in ("cost", "day"):
        assert found[name].min() == frame[name].min() and found[name].max() == frame[name].max()
    assert "of a column with more than 20, the first ones" in said and found["name"].nunique() < ROWS


def test_the_same_rows_whatever_columns_are_wanted(file):
    found, _ = read(file)
    less, _ = read(file, only=["x", "y"])
    assert list(less.columns) == ["x", "y"] and less["x"].tolist() == found["x"].tolist()


def test_a_file_of_as_many_rows_is_read_whole(file, monkeypatch):
    monkeypatch.setattr(sample, "MOST_ROWS", ROWS)
    found, said = read(file)
    assert not said
    pd.testing.assert_frame_equal(found, table(), check_dtype=False)


def test_a_bad_cell_is_named_by_its_row_of_the_file(tmp_path):
    frame = table()
    frame.loc[1234, "x"] = np.inf  # the largest of its column, so it is among those that are read
    frame.to_parquet(tmp_path / "bad.parquet", index=False)
    with pytest.raises(SmileError, match=r"row 1236, column 'x' is inf"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read_table(Source.find(tmp_path / "bad.parquet"))


def test_fit_says_so_and_a_report_measures_on_the_rows_that_were_held_out(file, tmp_path):
    run = CliRunner().invoke
    out = tmp_path / "model"
    options = ["--target", "y", "--increasing", "x", "--drop", "unused", "--epochs", "2", "--out", str(out)]
    done = run(app, ["fit", str(file), *options])
    assert done.exit_code in (0, 3), done.output
    assert "has 5000 rows" in done.output
    noted = json.loads((out / "training.json").read_text())
    assert 300 < noted["rows"] < 320
    assert noted["of_rows"] == ROWS and noted["draw"] == {"rows": 300, "seed": 0}
    record = run(app, ["report", str(out), "--data", str(file), "--out", str(tmp_path / "r.html"), "--json"])
    line = next(line for line in record.output.splitlines() if line.startswith("{"))
    assert json.loads(line)["rows"] == noted["held_out"]
    wanted = f"made from {noted['rows']} of the {ROWS} rows"
    assert wanted in (tmp_path / "r.html").read_text()
    run(app, ["report", str(out), "--card", str(tmp_path / "card.md")])
    assert (tmp_path / "card.md").read_text().count(wanted) == 2  # where the model is described, and under the limits
    packed = run(app, ["pack", str(out), "--data", str(file), "--out", str(tmp_path / "pack"), "--quiet"])
    assert packed.exit_code == 0, packed.output
    assert any(wanted in line for line in json.loads((tmp_path / "pack" / "limits.json").read_text())["limits"])
    assert wanted in (tmp_path / "pack" / "index.html").read_text()
