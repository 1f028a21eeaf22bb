"""What a fourteenth stranger found: whole numbers beside missing cells, options switched while a model predicts."""

import threading
from types import MethodType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LinearRegression
from torch import nn

import smilenn
from smilenn import Domain, Robust, SmileRegressor
from smilenn.cli.source import Source
from smilenn.cli.table import read_table
from smilenn.errors import SmileError
from smilenn.estimators.clamped import ClampedRegressor
from smilenn.model.encoders import Pinned

BASE = 1_700_000_000_000_000_000  # nanoseconds
BIG = 2**53 + 1
ROUNDS = "float64 rounds to"


@pytest.fixture(autouse=True)
def quick(quick_fits):
    """Short self-tests."""


# ---- whole numbers that float64 does not hold, beside a cell that makes floats of them -------------------------------


def times(kind, *, whole):
    """300 times in nanoseconds as cells of a type; `whole`, all of them floats."""
    found = BASE + np.random.default_rng(0).integers(0, 20_000, 300)
    return pd.DataFrame({"time": pd.Series(found // 256 * 256 if whole else found).astype(kind)})


@pytest.mark.parametrize("kind", ["Int64", object, "int64[pyarrow]"])
def test_filling_a_cell_does_not_round_the_others(kind):
    # 100 apart, two cells became floats 256 apart: "at most 0.03" was certified, and 0.075 found in 764 of 2,000 pairs
    X = times(kind, whole=False)
    X.loc[0, "time"] = None
    model = SmileRegressor(properties=[Robust({"time": 100}, eps=0.03)], missing="fill", random_state=0, time_limit=5)
    with pytest.raises(SmileError, match=rf"Row 1, column 'time' .* {ROUNDS}"):
        model.fit(X, np.arange(300.0))


@pytest.mark.parametrize("kind", ["Int64", object, "int64[pyarrow]"])
@pytest.mark.parametrize("missing", ["fill", "indicator"])
@pytest.mark.filterwarnings("ignore::smilenn.estimators.usual.UnseenWarning")
@pytest.mark.filterwarnings("ignore::smilenn.estimators.spacing.DeltaWarning")  # floats that are 256 apart
def test_a_missing_cell_does_not_round_its_neighbours_at_prediction(kind, missing, tmp_path):
    X = times(kind, whole=True)
    rule = Robust({"time": 100}, eps=0.03)
    model = SmileRegressor(properties=[rule], missing=missing, random_state=0, time_limit=5).fit(X, np.arange(300.0))
    assert model.verdict_.status == "proved"
    model.save(tmp_path / "model")
    loaded = smilenn.load(tmp_path / "model")
    cells = pd.Series([None, BASE, BASE + 100], dtype=object).astype(kind)
    with pytest.raises(SmileError, match=rf"Row 2, column 'time' holds {BASE + 100}, which {ROUNDS}"):
        loaded.predict(pd.DataFrame({"time": cells}))
    assert len(loaded.predict(pd.DataFrame({"time": cells[:2]}))) == 2


def pyarrow_table(cells):
    return pytest.importorskip("pyarrow").table({"x": cells})


def polars_table(cells):
    return pytest.importorskip("polars").DataFrame({"x": cells})


@pytest.mark.parametrize("table", [pyarrow_table, polars_table])
def test_tables_of_other_libraries_keep_whole_numbers_beside_missing_cells(table):
    X = table([1, 2, None, 5] * 20)
    model = SmileRegressor(random_state=0, time_limit=2).fit(X, np.arange(80.0))
    with pytest.raises(SmileError, match=rf"Row 0, column 'x' holds {BIG}, which {ROUNDS}"):
        model.predict(table([BIG, None]))
    assert len(model.predict(table([2**54, None, 1]))) == 3
    assert len(model.predict(table([1e300, None, 1.5]))) == 3


def test_a_parquet_file_keeps_whole_numbers_beside_missing_cells(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": pd.array([BIG, None], dtype="Int64"), "y": [1.0, 2.0]}).to_parquet(path)
    frame = read_table(Source.find(path), may_lack=["x"])
    assert frame["x"].tolist()[0] == BIG and isinstance(frame["x"].tolist()[0], int)


@pytest.mark.parametrize("rows", [[[BIG, 0.5]], ((BIG, 0.5), (1, 0.5)), [np.array([BIG, 0.5], dtype=object)]])
def test_lists_keep_whole_numbers_beside_decimals(rows):
    domain = Domain.box([-1e30, 0], [1e30, 1], ["x", "z"])
    with pytest.raises(SmileError, match=rf"Row 0, column 'x' holds {BIG}, which {ROUNDS}"):
        domain.encode(rows)
    assert domain.encode([[2**53, 0.5], [1e22, 1]]).tolist() == [[2.0**53, 0.5], [1e22, 1.0]]


# ---- options that another thread switches ----------------------------------------------------------------------------


class Switching(nn.Module):
    """Meets a thread that switches an option between two rows, and back between the next two."""

    def __init__(self):
        super().__init__()
        self.inner, self.calls = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 1)), []

    def forward(self, x):
        self.calls.append(len(x))
        if len(self.calls) in (4, 6):
            other = threading.Thread(target=switch)
            other.start()
            other.join()
        return self.inner(x)


def switch():
    torch.backends.mkldnn.enabled = not torch.backends.mkldnn.enabled


@pytest.fixture
def own_options(monkeypatch):
    before = torch.backends.mkldnn.enabled
    monkeypatch.setattr("smilenn.model.options._noted", {})
    yield
    torch.backends.mkldnn.enabled = before


def test_an_option_that_is_switched_and_switched_back_during_a_prediction_is_noticed(own_options):
    # looked at before and after all rows only, 13 of 13 predictions had other bits beside such a thread
    layer = Pinned(Switching(), 1)
    with pytest.raises(SmileError, match="switch it back"):
        layer.ordered(torch.rand(9, 3, dtype=torch.float64))


class SwitchingModel:
    """A regressor that meets the same thread."""

    def __init__(self):
        self.calls = 0

    def fit(self, X, y):
        return self

    def get_params(self, deep=True):
        return {}

    def predict(self, X):
        self.calls += 1
        if self.calls in (1004, 1006):
            switch()
        return X["income"].to_numpy() * 2.0


def test_an_option_that_is_switched_while_a_clamp_predicts_is_noticed(own_options):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(0, 9, 40), "group": rng.integers(0, 2, 40)})
    clamp = ClampedRegressor(SwitchingModel(), ["group"], 0.5).fit(frame, frame["income"])
    clamp.model_.calls = 1000
    with pytest.raises(SmileError, match="switch it back"):
        clamp.predict(frame)


# ---- a remedy that did not help --------------------------------------------------------------------------------------


def test_a_column_of_names_may_hold_numbers_beside_texts(tmp_path):
    # the error said "use --category", also to who had used it
    path = tmp_path / "t.csv"
    path.write_text("code,y\n01,1\nx1,2\n1.0,3\n", encoding="utf-8")
    with pytest.raises(SmileError, match="holds the text 'x1' among numbers"):
        read_table(Source.find(path))
    assert read_table(Source.find(path), {"code": ()})["code"].tolist() == ["01", "x1", "1.0"]


@pytest.mark.parametrize("missing", ["fill", "indicator"])
@pytest.mark.filterwarnings("ignore::smilenn.estimators.usual.UnseenWarning")
def test_a_column_may_have_any_name_where_cells_are_missing(missing):
    X = pd.DataFrame({"self": np.arange(40.0), "cls": np.arange(40.0) % 3})
    model = SmileRegressor(missing=missing, random_state=0, time_limit=2).fit(X, np.arange(40.0))
    lacking = pd.DataFrame({"self": [1.0, None], "cls": [None, 2.0]})
    assert len(model.predict(lacking)) == 2 and lacking["self"].isna().tolist() == [False, True]


# ---- code that is put between a clamp and its model ------------------------------------------------------------------


def restless(self, X):
    """Another answer at every call."""
    self.count = getattr(self, "count", 0) + 1
    return 100.0 * self.count + np.zeros(len(X))


class Decoder:
    """What stands for a domain, and gives the model other rows at every call."""

    def __init__(self, domain):
        self.size, self.domain, self.calls = domain.size, domain, 0

    def decode(self, x):
        self.calls += 1
        return self.domain.decode(x).assign(income=9.0 * (self.calls % 2))


@pytest.mark.parametrize("place", ["ask", "predict", "domain", "domain's decode", "nothing"])
def test_code_between_a_clamp_and_its_model_is_noticed(place):
    # with another `ask` the clamp stayed certified at 0.5, and 6,000 was found
    frame = pd.DataFrame({"income": np.linspace(0, 9, 40), "group": np.arange(40) % 2})
    clamp = ClampedRegressor(LinearRegression(), ["group"], 0.5).fit(frame, frame["income"] + 3 * frame["group"])
    variants: Any = clamp.net_.backbone.variants  # the centre's too
    if place == "ask":
        variants.ask = MethodType(restless, variants)
    elif place == "predict":
        variants.predict = MethodType(restless, clamp)
    elif place == "domain":
        variants.domain = Decoder(variants.domain)
    elif place == "domain's decode":
        variants.domain = Domain(variants.domain.features)
        vars(variants.domain)["decode"] = Decoder(variants.domain).decode
    assert clamp.verdict_.status == ("proved" if place == "nothing" else "unknown")
