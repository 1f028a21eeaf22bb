"""Cells that pandas or NumPy stops at: one sentence with row, column and remedy, from fit and predict alike."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from smilenn import SmileClassifier, SmileError, SmileRegressor
from smilenn.cli import app

pytestmark = pytest.mark.usefixtures("quick_module")
N = 30
BASE = np.random.default_rng(0).uniform(0, 9, N)
QUICK = {"random_state": 0, "certify_limit": 0, "time_limit": 0.05}
ODD = {
    "signalling NaN": (Decimal("sNaN"), "Row 3, column 'c' is sNaN, a signalling NaN; fill it in"),
    "infinite decimal": (Decimal("-Infinity"), "Row 3, column 'c' is -Infinity; give a finite number."),
    "large decimal": (Decimal("1e999999"), "Row 3, column 'c' is 1E[+]999999; give a finite number."),
    "400 digits": (10**400, "Row 3, column 'c' is too large; give a finite number."),
    "5,000 digits": (-(10**5000), "Row 3, column 'c' is too large; give a finite number."),
    "fraction": (Fraction(10**400, 3), "Row 3, column 'c' is a Fraction; turn the column into floats first."),
    "half a character": ("\ud800", r"Row 3, column 'c' holds the text '\\ud800', half of a character; correct"),
    "complex": (1 + 2j, "Row 3, column 'c': .* not 'complex'; give every part a column of its own."),
    "list": ([[1], [2, 3]], "Row 3, column 'c': .* not 'list'; give every part a column of its own."),
    "frozen set": (frozenset([1]), "Row 3, column 'c': .* not 'frozenset'; give every part a column of its own."),
    "long text": ("x" * 400, "Row 3, column 'c' holds the text 'x{40}…' among numbers; correct the cell."),
}


def with_cell(cell):
    return pd.Series([cell if i == 3 else float(v) for i, v in enumerate(BASE)], dtype=object)


@pytest.fixture(scope="module")
def model():
    return SmileRegressor(**QUICK).fit(pd.DataFrame({"a": BASE, "c": BASE[::-1]}), BASE)


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("learned", [False, True], ids=["fit", "predict"])
def test_an_odd_cell_is_named(model, kind, learned):
    cell, message = ODD[kind]
    table = pd.DataFrame({"a": BASE, "c": with_cell(cell)})
    with pytest.raises(SmileError, match=message) as caught:
        model.predict(table) if learned else SmileRegressor(**QUICK).fit(table, BASE)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("kind", ["signalling NaN", "400 digits", "5,000 digits", "half a character", "fraction"])
@pytest.mark.parametrize("estimator", [SmileRegressor, SmileClassifier])
def test_an_odd_cell_of_a_target_is_named(kind, estimator):
    with pytest.raises(SmileError, match="Row 3 of the target|Unknown label type|mixes numbers and strings") as caught:
        estimator(**QUICK).fit(pd.DataFrame({"a": BASE}), with_cell(ODD[kind][0]))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("y", [pd.to_timedelta(BASE, unit="h"), pd.date_range("2020", periods=N)])
def test_a_target_of_times_has_no_unit(y):
    # durations became nanoseconds, and nothing said so
    with pytest.raises(SmileError, match="The target holds dates or durations; turn it into numbers"):
        SmileRegressor(**QUICK).fit(pd.DataFrame({"a": BASE}), pd.Series(y))


def test_arrays_among_classes():
    with pytest.raises(SmileError, match="Unknown label type"):
        SmileClassifier(**QUICK).fit(pd.DataFrame({"a": BASE}), with_cell(np.array([1, 2])))


def test_rows_of_different_lengths():
    with pytest.raises(SmileError, match="Row 1 has 1 cells and row 0 has 2; give every row one cell for each column."):
        SmileRegressor(**QUICK).fit([[1, 2], [3]], [1, 2])


def test_long_floats_are_read_where_float64_holds_them(model):
    table = pd.DataFrame({"a": BASE, "c": BASE[::-1].astype(np.longdouble)})
    SmileRegressor(**QUICK).fit(table, BASE)  # pandas has no index of such numbers
    assert np.array_equal(model.predict(table), model.predict(table.astype(float)))
    longer = table.assign(c=table.c + np.longdouble(2) ** -60)
    if (longer.c.to_numpy() != longer.c.to_numpy().astype(float)).any():  # not where long floats are float64
        with pytest.raises(SmileError, match="column 'c' (has more digits than float64|holds)"):
            SmileRegressor(**QUICK).fit(longer, BASE)


def test_weights_that_are_no_numbers():
    with pytest.raises(SmileError, match="sample_weight holds something that is no number"):
        SmileRegressor(**QUICK).fit(pd.DataFrame({"a": BASE}), BASE, sample_weight=["much"] * N)


def test_a_column_without_a_name_is_no_target():
    with pytest.raises(SmileError, match="A feature needs a non-empty text as its name"):
        SmileRegressor(**QUICK).fit(pd.DataFrame({"": BASE, "b": BASE[::-1]}), BASE)


@pytest.mark.parametrize(("cell", "kind"), [([1, 2], "ndarray"), ({"u": 1}, "dict")])
def test_a_parquet_file_of_lists_or_structures(tmp_path, cell, kind):
    # "an error that should not happen (TypeError: unhashable type)"
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": BASE, "c": [cell] * N, "y": BASE}).to_parquet(path)
    found = CliRunner().invoke(
        app, ["fit", str(path), "--target", "y", "--increasing", "a", "--out", str(tmp_path / "m")]
    )
    assert found.exit_code == 2 and not (tmp_path / "m").exists()
    said = " ".join(found.output.split())
    assert f"row 2, column 'c': the argument must be a string or a number, not '{kind}'; give every part" in said


def test_a_long_number_of_a_file_is_cut(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "\n".join(f"{'9' * 300 if i == 3 else v},{v}" for i, v in enumerate(BASE)))
    found = CliRunner().invoke(
        app, ["fit", str(path), "--target", "y", "--increasing", "a", "--out", str(tmp_path / "m")]
    )
    assert found.exit_code == 2 and "row 5, column 'a' holds 99999999" in " ".join(found.output.split())
    assert len(found.output) < 300 + len(str(path))


def test_rows_of_a_part_of_a_file_have_the_numbers_of_the_file(model):
    table = pd.DataFrame({"a": BASE, "c": with_cell([1])})
    for read in (model.read_rows, model.encoded):
        with pytest.raises(SmileError, match="Row 1003, column 'c': "):
            read(table, first_row=1000)
