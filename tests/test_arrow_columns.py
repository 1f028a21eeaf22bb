"""Frames of pandas on Arrow's types mean what the same frames on pandas's own types mean."""

import datetime as dt
import io
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

import smilenn
from smilenn import Config, Domain, Network, SmileClassifier, SmileError, SmileRegressor, certified_trees
from smilenn.cli.fit_request import Request, checked
from smilenn.cli.preparing import prepare
from smilenn.domain import as_frame
from smilenn.domain.arrow import plain_column, without_arrow
from smilenn.estimators.clamped import ClampedRegressor
from smilenn.estimators.learned import ColumnWarning
from smilenn.estimators.options import Columns

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: cluster)")
pytestmark = pytest.mark.usefixtures("quick_module")

ROWS, BIG, NANOSECONDS = 60, 2**53 + 1, 1_700_000_000_000_000_000
ROW = np.arange(ROWS)
SMALL = {
    "network": Network(hidden=2, embedding=2, backbone_sizes=(4,), members=1),
    "config": Config(pretrain_epochs=3, epochs=2),
    "random_state": 0,
    "certify_limit": 2,
}
DAY, AT = dt.date(2024, 1, 5), dt.datetime(2024, 1, 5, 12, 30)
CELLS = {  # Arrow's type: two cells, and the type of pandas that has the same
    "string": (pa.string(), ["State-gov", "Private"], "object"),
    "large string": (pa.large_string(), ["a", "b"], "object"),
    "written numbers": (pa.string(), ["$1,200", "$88,049"], "object"),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ["a", "b"], "category"),
    "dictionary of numbers": (pa.dictionary(pa.int8(), pa.int64()), [7, 9], "category"),
    "double": (pa.float64(), [1.5, -2.25], "float64"),
    "float": (pa.float32(), [0.1, 2.5], "float32"),
    "half float": (pa.float16(), [np.float16(0.5), np.float16(2.5)], "float16"),
    "int64": (pa.int64(), [3, 8], "Int64"),
    "uint8": (pa.uint8(), [3, 255], "UInt8"),
    "int16": (pa.int16(), [-3, 8], "Int16"),
    "bool": (pa.bool_(), [True, False], "boolean"),
    "date32": (pa.date32(), [DAY, dt.date(2024, 3, 1)], "object"),
    "timestamp": (pa.timestamp("ns"), [AT, dt.datetime(2024, 3, 1)], "datetime64[ns]"),
    "zoned": (
        pa.timestamp("us", "Europe/Berlin"),
        [pd.Timestamp(AT, tz="Europe/Berlin"), pd.Timestamp("2024-03-01", tz="Europe/Berlin")],
        "datetime64[us, Europe/Berlin]",
    ),
    "duration": (pa.duration("s"), [dt.timedelta(1), dt.timedelta(2, 30)], "timedelta64[s]"),
    "decimal": (pa.decimal128(38, 2), [Decimal("1.50"), Decimal("2.25")], "object"),
}


def on(kind: Any) -> Any:
    """The type of pandas around one of Arrow."""
    return pd.ArrowDtype(kind)


def pair(kind, *, gaps):
    """The same cells on a type of Arrow and on one of pandas, beside a column of numbers."""
    arrow, (a, b), own = CELLS[kind]
    cells = [None if gaps and i % 7 == 2 else (a, b)[int(i % 3 > 0)] for i in ROW]
    first = pd.DataFrame({"x": ROW * 1.5, "z": pd.array(cells, dtype=on(arrow))})
    if own == "category" and isinstance(a, int):
        return first, first.assign(z=pd.Categorical(cells, categories=[a, b]))
    return first, first.assign(z=pd.Series(cells, dtype=own))


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "with gaps"])
@pytest.mark.parametrize("kind", CELLS)
def test_a_column_is_read_as_its_counterpart(kind, gaps):
    arrow, own = pair(kind, gaps=gaps)
    domain = Domain.from_data(own, missing=True)
    assert Domain.from_data(arrow, missing=True).to_json() == domain.to_json()
    np.testing.assert_array_equal(domain.encode(arrow), domain.encode(own))
    for table in (arrow.iloc[3:4], arrow.set_axis(ROW + 100)):  # whatever stands beside a row, whatever it is called
        np.testing.assert_array_equal(domain.encode(table), domain.encode(own.iloc[table.index % 100]))


def test_an_ordered_dictionary_has_an_order():
    kind = on(pa.dictionary(pa.int8(), pa.string(), ordered=True))
    chunks = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2], pa.int8()), ["low", "mid", "high"], ordered=True)
    (feature, _) = Domain.from_data(pd.DataFrame({"z": pd.array(chunks, dtype=kind)}), missing=True).features
    assert feature.unit == "low < mid < high"


def test_nan_beside_null_is_missing():
    column = pd.Series(pd.array(pa.array([1.5, float("nan"), None, 4.0]), dtype=on(pa.float64())))
    assert plain_column(column).isna().tolist() == [False, True, True, False]
    domain = Domain.from_data(column.to_frame("z"), missing=True)
    assert domain.encode(column.to_frame("z"))[:, 1].tolist() == [0, 1, 1, 0]


def test_categories_of_texts_of_arrow_are_texts():
    cells = pd.Series(["a", "b", None, "a"] * 9, dtype=on(pa.string())).astype("category")
    assert isinstance(cells.cat.categories.dtype, pd.ArrowDtype)
    assert Domain.from_data(cells.to_frame("z"), missing=True).feature("z").categories == ("a", "b", "missing")


def test_other_frames_are_left_as_they_are():
    frame = pd.DataFrame({"x": [1.0, 2.0], "z": ["a", "b"]})
    column = frame["x"]
    assert without_arrow(frame) is frame and plain_column(column) is column and plain_column([1]) == [1]
    twice = pd.concat([frame[["z"]].astype(on(pa.string())), frame[["z"]]], axis=1)
    assert without_arrow(twice).shape == (2, 2)
    with pytest.raises(SmileError, match="has the column 'z' twice"):
        as_frame(twice)


@pytest.mark.parametrize("cells", [[BIG, None, 1], [BIG, 2, 1], [None, NANOSECONDS + 100, NANOSECONDS]])
@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.decimal128(38, 0)])
def test_whole_numbers_that_float64_rounds_are_refused(cells, kind):
    if pa.types.is_decimal(kind):
        cells = [cell and Decimal(cell) for cell in cells]
    frame = pd.DataFrame({"z": pd.array(cells, dtype=on(kind))})
    assert as_frame(frame)["z"].dropna().tolist() == [cell for cell in cells if cell]
    said = (
        rf"Row \d, column 'z' holds {next(cell for cell in cells if cell and int(float(cell)) != cell)}, which float64"
    )
    with pytest.raises(SmileError, match=said):
        Domain.from_data(frame, missing=True)
    domain = Domain.from_data(pd.DataFrame({"z": [0.0, None, 1e300]}), missing=True)
    with pytest.raises(SmileError, match=said):
        domain.encode(frame)


# ---- a table as pandas reads it --------------------------------------------------------------------------------------


def text():
    """A file with numbers, gaps, names, dates and flags."""
    lines = ["age,pay,workclass,since,member,y,label"]
    for i in ROW:
        pay = "" if i % 11 == 4 else f"{(i * 7) % 31 + 0.5}"
        name = ("State-gov", "Private", "Local-gov")[i % 3]
        since = "" if i % 13 == 5 else f"2024-0{i % 9 + 1}-1{i % 8}"
        lines.append(
            f"{20 + i % 17},{pay},{name},{since},{i % 2 == 0},{(i % 17) * 0.5},{'yes' if i % 17 > 8 else 'no'}"
        )
    return "\n".join(lines)


@pytest.fixture(scope="module")
def tables():
    """Read with pandas's own types, with Arrow's, and turned into Arrow's."""
    own = pd.read_csv(io.StringIO(text()))
    arrow = pd.read_csv(io.StringIO(text()), dtype_backend="pyarrow")
    return {"own": own, "read_csv": arrow, "convert_dtypes": own.convert_dtypes(dtype_backend="pyarrow")}


def features(table):
    return table.drop(columns=["y", "label"])


@pytest.mark.parametrize("missing", ["indicator", "fill"])
@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("way", ["read_csv", "convert_dtypes"])
def test_a_model_is_the_same_on_arrow(tables, way, task, missing, tmp_path):
    kind, target = (SmileRegressor, "y") if task == "regression" else (SmileClassifier, "label")
    own, arrow = tables["own"], tables[way]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = (
            kind(increasing=["age"], missing=missing, **SMALL).fit(features(table), table[target])
            for table in (own, arrow)
        )
    assert first.verdict_.status == second.verdict_.status == "proved"
    np.testing.assert_array_equal(second.predict(features(own)), first.predict(features(own)))
    np.testing.assert_array_equal(second.predict(features(arrow)), first.predict(features(own)))
    assert second.score(features(arrow), arrow[target]) == first.score(features(own), own[target])
    if task == "classification":
        assert list(second.classes_) == ["no", "yes"] and second.classes_.dtype == first.classes_.dtype
    second.save(tmp_path / "model")
    np.testing.assert_array_equal(
        smilenn.load(tmp_path / "model").predict(features(arrow)), first.predict(features(own))
    )


def test_written_targets_and_several_are_read(tables):
    own = features(tables["own"])[["age"]]
    for cells in ([f"${1000 + i:,}" for i in ROW], [f"{i}%" for i in ROW]):
        y = pd.Series(cells, dtype=on(pa.string()), name="y")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SmileRegressor(increasing=["age"], **SMALL).fit(own, y)
        assert model.target_units_ and np.isfinite(model.score(own, y))
    both = pd.DataFrame({"u": ROW * 0.5, "v": -ROW}).convert_dtypes(dtype_backend="pyarrow")
    model = SmileRegressor(**SMALL).fit(own, both)
    assert model.predict(own).shape == (ROWS, 2) and np.isfinite(model.score(own, both))
    with pytest.raises(SmileError, match=r"Row 3 of the target is missing \(NaN\)"):
        SmileRegressor(**SMALL).fit(own, pd.Series([None if i == 3 else i for i in ROW], dtype="int64[pyarrow]"))


def test_trees_are_certified_on_arrow(tables):
    own, arrow = (tables[way][["age", "pay"]] for way in ("own", "read_csv"))
    model = HistGradientBoostingRegressor(max_iter=3, monotonic_cst=[1, 0], min_samples_leaf=5)
    model.fit(own, tables["own"]["y"])
    found = certified_trees(model, arrow, y=tables["read_csv"]["y"], increasing=["age"])
    assert found.verdict_.status == "proved"
    np.testing.assert_array_equal(found.predict(arrow), found.predict(own))


def test_a_clamp_on_arrow_is_saved_and_loaded(tables, tmp_path):
    arrow = tables["read_csv"][["age", "member"]].assign(y=tables["read_csv"]["y"])
    group = pd.array(["a" if i % 2 else "b" for i in ROW], dtype=on(pa.dictionary(pa.int8(), pa.string())))
    X = arrow[["age"]].assign(group=group)
    model = LinearByGroup()
    clamp = ClampedRegressor(model, ["group"], 0.5).fit(X, arrow["y"])
    assert clamp.verdict_.status == "proved"
    clamp.save(tmp_path / "clamp")
    again = ClampedRegressor.load(tmp_path / "clamp", clamp.model_)
    assert again.verdict_.status == "proved"
    own = X.assign(age=X["age"].astype("int64"), group=["a" if i % 2 else "b" for i in ROW])
    np.testing.assert_array_equal(again.predict(X), clamp.predict(own))


class LinearByGroup(BaseEstimator, RegressorMixin):
    """A line that knows one of two groups."""

    def _numbers(self, X):
        return np.column_stack([X["age"].to_numpy(dtype=float), (X["group"] == "a").to_numpy(dtype=float)])

    def fit(self, X, y):
        self.line_ = LinearRegression().fit(self._numbers(X), y)
        return self

    def predict(self, X):
        return self.line_.predict(self._numbers(X))


def test_a_file_that_asks_for_types_of_arrow_is_read(tables, tmp_path):
    from smilenn.cli.source import Source
    from smilenn.cli.table import read_table

    tables["read_csv"].to_parquet(tmp_path / "arrow.parquet")
    tables["own"].to_parquet(tmp_path / "own.parquet")
    gaps = ["pay", "since"]
    own, arrow = (read_table(Source.find(tmp_path / f"{way}.parquet"), may_lack=gaps) for way in ("own", "arrow"))
    names = ["age", "pay", "workclass", "member", "y"]
    assert_frame_equal(own[names].astype({"workclass": object}), arrow[names].astype({"workclass": object}))


# ---- Enums of polars -------------------------------------------------------------------------------------------------


def graded():
    pl = pytest.importorskip("polars")
    cells = pl.Series([("low", "high", "mid")[i % 3] for i in ROW], dtype=pl.Enum(["low", "mid", "high", "top"]))
    return pl.DataFrame({"grade": cells, "x": ROW % 7, "y": (ROW * 5 % 11).astype(float)})


@pytest.mark.parametrize("form", ["polars", "arrow", "fetched"])
def test_an_enum_is_a_category_with_a_word_unless_an_order_is_said(form):
    table = graded().select("grade", "x")
    X = table if form == "polars" else table.to_arrow()
    y, later = graded()["y"].to_numpy(), pd.DataFrame({"grade": ["high", "low"], "x": [3, 4]})
    if form == "fetched":
        X = as_frame(X)
    said = (
        r"Column 'grade' is an Enum of polars and is read as a category without order; .* \['low', 'mid', 'high', 'top'"
    )
    with pytest.warns(ColumnWarning, match=said):
        model = SmileRegressor(increasing=["x"], **SMALL).fit(X, y)
    assert model.domain_.feature("grade").categories == ("high", "low", "mid")
    np.testing.assert_array_equal(model.predict(table), model.predict(table.to_pandas()))
    assert len(model.predict(later)) == 2
    order = Columns(order={"grade": ["low", "mid", "high"]})
    for options in (order, Columns(kinds={"grade": "category"})):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ColumnWarning)
            model = SmileRegressor(increasing=["x"], domain=options, **SMALL).fit(X, y)
        assert model.domain_.feature("grade").kind == ("integer" if options is order else "category")
        np.testing.assert_array_equal(model.predict(table), model.predict(table.to_pandas().astype({"grade": str})))


def test_an_enum_of_a_parquet_file_is_a_category_with_a_word(tmp_path):
    graded().write_parquet(tmp_path / "t.parquet")
    request = Request(tmp_path / "t.parquet", ("y",), tmp_path / "m", increasing=("x",))
    with pytest.warns(ColumnWarning, match="Column 'grade' is an Enum of polars"):
        domain = prepare(request, checked(request)).domain
    assert domain.feature("grade").kind == "category"


def test_a_category_of_polars_and_an_order_of_pandas_stay():
    pl = pytest.importorskip("polars")
    plain = as_frame(graded().select(pl.col("grade").cast(pl.String).cast(pl.Categorical)))
    assert not plain["grade"].dtype.ordered and not plain.attrs
    ordered = pd.DataFrame({"grade": pd.Categorical(["a", "b"], ordered=True)})
    assert Domain.from_data(ordered).feature("grade").unit == "a < b"


def test_a_dictionary_with_null_or_a_value_twice_is_a_category():
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3] * 15, pa.int8()), pa.array(["u", "v", None, "u"]))
    table = pa.table({"x": ROW, "g": cells})
    plain = pd.DataFrame({"x": ROW, "g": pd.Categorical(["u", "v", None, "u"] * 15)})
    for form in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
        assert_frame_equal(as_frame(form), plain)
    ordered = pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["low", None, "high"]), ordered=True)
    found = plain_column(pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([ordered]))))
    assert found.cat.ordered and list(found.cat.categories) == ["low", "high"] and found.isna().tolist() == [0, 1, 0]
