"""Tables with missing cells through fitted and saved models: what is certified holds for every pair of rows."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import smilenn
from smilenn import (
    Bounded,
    Columns,
    Config,
    Convex,
    Custom,
    Dominates,
    Fair,
    Monotone,
    Network,
    Robust,
    Safe,
    SmileClassifier,
    SmileRegressor,
    Symmetric,
)
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.estimators.learned import ColumnWarning
from smilenn.estimators.outside import clamps_of_two
from smilenn.estimators.usual import UnseenWarning
from smilenn.verdict import Proved

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = {"config": Config(pretrain_epochs=6, epochs=4), "random_state": 0, "certify_limit": 20}


def table(n=160, seed=0):
    rng = np.random.default_rng(seed)
    pay = rng.uniform(0, 9, n).round(1)
    frame = pd.DataFrame(
        {
            "pay": np.where(rng.random(n) < 0.25, np.nan, pay),
            "kids": pd.array(np.where(rng.random(n) < 0.1, None, rng.integers(0, 4, n)), dtype="Int64"),
            "grade": rng.choice(["C", "B", "A", None], n, p=[0.3, 0.3, 0.3, 0.1]),
            "sex": rng.choice(["m", "f", None], n),
        }
    )
    y = 2 * pay + np.where(frame["pay"].isna(), 5, 0) + 3 * (frame["sex"] == "m") + rng.normal(0, 0.3, n)
    return frame, pd.Series(y.round(2), name="score")


GRADES = Columns(order={"grade": ["C", "B", "A"]})
CELLS = {
    "pay": [None, 0.0, 2.5, 4.4, 4.5, 9.0],
    "kids": [None, 0, 1, 3],
    "grade": [None, "C", "B", "A"],
    "sex": [None, "m", "f"],
}
EVERY = pd.DataFrame(list(product(*CELLS.values())), columns=list(CELLS))


def widths(frame, values, free):
    """The largest spread of predictions among rows that agree in all other columns."""
    rest = [name for name in CELLS if name not in free]
    return float(frame.assign(v=values).groupby(rest, dropna=False)["v"].agg(np.ptp).max())


def falls(frame, values, rises):
    """The largest loss by raising a known number, everything else equal."""
    worst = 0.0
    for name in rises:
        ranks = {cell: i for i, cell in enumerate(CELLS[name]) if cell is not None}
        rest = [other for other in CELLS if other != name]
        known = frame.assign(v=values, r=[ranks.get(cell) for cell in frame[name]])[frame[name].notna()]
        for _, group in known.sort_values("r").groupby(rest, dropna=False):
            worst = max(worst, float(-np.diff(group["v"]).min()))
    return worst


@pytest.mark.parametrize("encoder", ["auto", "none"])
@pytest.mark.parametrize("protected", [["sex"], ["pay"], ["grade", "kids"]])
def test_rules_hold_for_every_row_that_a_table_can_have(tmp_path, protected, encoder):
    X, y = table()
    rises = [name for name in ("pay", "grade") if name not in protected] if encoder == "auto" else []
    rules = [Fair(protected, 2.0), *([Monotone(increasing=rises)] if rises else [])]
    model = SmileRegressor(properties=rules, domain=GRADES, network=Network(encoder=encoder, members=1), **QUICK)
    model.fit(X, y)
    assert isinstance(model.verdict_, Proved)
    model.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    values = loaded.predict(EVERY)
    assert (values == model.predict(EVERY)).all()
    assert widths(EVERY, values, protected) <= 2.0 + 1e-9
    assert falls(EVERY, values, rises) <= 0.0
    alone = np.concatenate([loaded.predict(EVERY.iloc[[i]]) for i in range(0, len(EVERY), 17)])
    assert np.abs(alone - values[::17]).max() <= (0.0 if encoder == "auto" else 1e-9)  # bits are a matter of encoders


def test_bounds_and_moves(tmp_path):
    X, y = table()
    rules = [Bounded(0, 30), Robust({"pay": 1.0}, 8.0)]
    model = SmileRegressor(properties=rules, domain=GRADES, **QUICK).fit(X, y)
    assert isinstance(model.verdict_, Proved)
    values = model.predict(EVERY)
    assert (values >= 0).all() and (values <= 30).all()
    near = EVERY["pay"].isin([4.4, 4.5])
    assert widths(EVERY[near], values[near], ["pay"]) <= 8.0
    assert model.claims_[1].equal == ("pay is missing",)


def test_a_counterexample_is_a_row_of_a_table():
    X, y = table()
    model = SmileRegressor(properties=Fair(["sex"], 5), domain=GRADES, **QUICK).fit(X, y)
    verdict = smilenn.prove(model.net_, model.lower([Fair(["pay"], 0.01)]), time_limit=20)
    assert verdict.exit_code == 1
    x = verdict.counterexample.x
    assert model.domain_.contains(x).all()
    frame = model.domain_.decode(x)
    assert (model.domain_.encode(frame) == x).all()
    assert abs(np.diff(model.predict(frame))[0]) > 0.01


def test_what_training_has_no_place_for_is_read_as_usual():
    X, y = table()
    X = X.assign(grade=X["grade"].fillna("B"), kids=X["kids"].fillna(1))
    model = SmileRegressor(increasing=["pay"], **QUICK).fit(X, y)
    new = X.head(3).assign(kids=[None, 1, 2], grade=["A", "Z", None])
    with pytest.warns(UnseenWarning) as said:
        values = model.predict(new)
    assert [str(w.message) for w in said] == [
        "Row 0, column 'kids' is missing, and training saw no such cell; it is read as the usual 1.",
        "Row 1, column 'grade' holds 'Z', which is new; it is read as the usual 'B'.",
        "Row 2, column 'grade' is missing, and training saw no such cell; it is read as the usual 'B'.",
    ]
    assert (values == model.predict(new.assign(kids=[1, 1, 2], grade=["A", "B", "B"]))).all()
    with pytest.warns(UnseenWarning) as said:
        model.predict(new.assign(kids=1, grade=[None, "Z", "zz"]))
    assert [str(w.message) for w in said] == [
        "Row 0, column 'grade' is missing, and training saw no such cell; it is read as the usual 'B'.",
        "Row 1, column 'grade' holds 'Z', which is new; it is read as the usual 'B' (2 such cells).",
    ]
    full = X.assign(pay=X["pay"].fillna(1), sex=X["sex"].fillna("m"))
    strict = SmileRegressor(increasing=["pay"], missing="raise", **QUICK).fit(full, y)
    with pytest.raises(SmileError, match="Row 0, column 'kids' is missing"):
        strict.predict(full.head(3).assign(kids=[None, 1, 2]))
    strict = SmileRegressor(increasing=["pay"], unknown="refuse", **QUICK).fit(full, y)
    with pytest.raises(SmileError, match="Row 1, column 'grade' holds the unknown category 'Z'"):
        strict.predict(full.head(3).assign(grade=["A", "Z", "B"]))


def test_a_column_of_zeros_and_ones_takes_other_whole_numbers(tmp_path):
    X = pd.DataFrame({"kids": [0, 1] * 30, "own": [0, 1, None] * 20, "pay": np.linspace(0, 1, 60)})
    y = X["kids"] + X["pay"]
    model = SmileRegressor(increasing=["kids"], **QUICK).fit(X, y)
    assert model.domain_.feature("kids").kind == model.domain_.feature("own").kind == "binary"
    near = X.iloc[:4].assign(kids=[0, 1, 1, 0], own=[1, 1, None, 0])
    for new in (near.assign(kids=[0, 3, 2, -1], own=[2, 1, None, 0]), near.assign(kids=["0", "3", "2", "-1"])):
        with pytest.warns(UnseenWarning) as said:
            values = model.predict(new)
        assert (
            str(said[0].message)
            == "Row 1, column 'kids' holds 3, but training saw 0 and 1 alone; it is read as 1 (3 such cells)."
        )
        assert (values == model.predict(near)).all()
    model.save(tmp_path / "model")
    with pytest.warns(UnseenWarning):
        assert (smilenn.load(tmp_path / "model").predict(new) == values).all()
    with pytest.raises(SmileError, match="Row 2, column 'kids' holds 0.5; it must be 0 or 1"):
        model.predict(near.assign(kids=[0, 1, 0.5, 0]))
    for strict in ({"unknown": "refuse"}, {"out_of_bounds": "raise"}):
        model = SmileRegressor(increasing=["kids"], **{**QUICK, **strict}).fit(X, y)
        with pytest.raises(SmileError, match="Row 1, column 'kids' holds 3; it must be 0 or 1"):
            model.predict(near.assign(kids=[0, 3, 2, 0]))


NOWHERE = [pd.NaT, None]


def test_durations_where_the_fit_filled_dates_are_refused():
    X = pd.DataFrame({"at": pd.date_range("2020-01-01", periods=60).where(np.arange(60) > 0), "x": np.arange(60) % 7})
    with pytest.warns(ColumnWarning, match="dates"):
        model = SmileRegressor(missing="fill", **QUICK).fit(X, X["x"] * 1.0 + np.arange(60) % 3)
    with pytest.raises(SmileError, match="Column 'at' holds durations, and the fit saw cells such as '2020-01"):
        model.predict(X.assign(at=pd.to_timedelta([None] + [1] * 59, unit="D")))


EMPTY = {
    "none": pd.Series([None, None], dtype=object),
    "floats": pd.Series([np.nan, np.nan]),
    "dates": pd.Series(pd.to_datetime(NOWHERE)),
    "dates of a zone": pd.Series(pd.to_datetime(NOWHERE, utc=True)),
    "durations": pd.Series(pd.to_timedelta(NOWHERE)),
    "periods": pd.Series(pd.PeriodIndex(NOWHERE, freq="D")),
    "objects": pd.Series(NOWHERE, dtype=object),
    "whole numbers": pd.Series([None, None], dtype="Int64"),
    "truth values": pd.Series([None, None], dtype="boolean"),
    "texts": pd.Series([None, "?"], dtype="string"),
}


@pytest.fixture(scope="module")
def owners():
    """A model of a column of 0 and 1 with missing cells, certified where it is missing."""
    rng = np.random.default_rng(0)
    own = np.where(np.arange(120) % 6 == 0, np.nan, rng.integers(0, 2, 120))
    X = pd.DataFrame({"own": own, "pay": rng.uniform(0, 1, 120)})
    rule = Custom(when=['a["own is missing"] >= 1'], then=["a.out <= 1"])
    model = SmileRegressor(properties=[rule], **QUICK).fit(X, 3 * np.nan_to_num(own) + X["pay"])
    assert model.verdict_.status == "proved"
    return model


@pytest.mark.parametrize("cells", EMPTY.values(), ids=EMPTY)
def test_a_missing_zero_or_one_is_missing_whatever_its_type(owners, cells):
    """Dates that are missing are large negative ticks to pandas, and were clamped to 0 as other whole numbers are."""
    rows = pd.DataFrame({"own": [np.nan, np.nan], "pay": [0.9, 0.9]})
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenWarning)
        assert (owners.predict(rows.assign(own=cells)) == owners.predict(rows)).all()


@pytest.mark.parametrize(
    "cells",
    [
        pd.to_datetime(["2020-01-31", "1960-01-31"]),
        pd.to_timedelta([1, 2], unit="D"),
        pd.PeriodIndex(["2020-01", "2021-01"], freq="M"),
        pd.Series([np.timedelta64(2, "D"), np.timedelta64(3, "D")], dtype=object),
        pd.Series([pd.Timestamp("2020-01-31"), 1], dtype=object),
    ],
)
def test_dates_and_durations_are_no_whole_numbers(owners, cells):
    with pytest.raises(SmileError, match="own"):
        owners.predict(pd.DataFrame({"own": cells, "pay": [0.9, 0.9]}))


OF_KIDS = (
    Dominates("kids", "own"),
    Convex(["kids"]),
    Symmetric(["kids", "own"]),
    Safe([], ["out >= 2*kids - 3"]),
    Safe(["kids + own >= 2"], ["out >= -5"]),
    Custom(when=["a.kids - b.kids == 1"], then=["a.out - b.out >= 0"]),
    Custom(when=["a.kids >= b.kids"], then=["a.out - b.out >= a.kids - b.kids - 2"]),
)


@pytest.mark.parametrize("rule", OF_KIDS, ids=lambda rule: type(rule).__name__)
def test_columns_of_zeros_and_ones_stay_so_where_clamping_would_break_a_rule(rule):
    X = pd.DataFrame({"kids": [0, 1] * 30, "own": [0, 1, 1] * 20, "pay": np.linspace(0, 1, 60)})
    claims = rule.lower(domain := Domain.from_data(X))
    assert not clamps_of_two("clamp", claims, domain) and clamps_of_two(
        "clamp", Monotone(["kids"]).lower(domain), domain
    )
    assert clamps_of_two("clamp", (*Fair(["kids"], 1).lower(domain), *Bounded(0, 9).lower(domain)), domain)


def test_convexity_in_a_column_of_zeros_and_ones_refuses_other_numbers():
    X = pd.DataFrame({"kids": [0, 1] * 30, "pay": np.linspace(0, 1, 60)})
    for asked in ("auto", "clamp"):
        model = SmileRegressor(properties=[Convex(["kids"])], **QUICK, out_of_bounds=asked).fit(X, X["kids"] + X["pay"])
        with pytest.raises(SmileError, match="Row 1, column 'kids' holds 2; it must be 0 or 1"):
            model.predict(X.iloc[:2].assign(kids=[0, 2]))


def test_infinite_cells_beside_other_whole_numbers_are_refused():
    X = pd.DataFrame({"kids": [0, 1] * 30, "pay": np.linspace(0, 1, 60)})
    model = SmileRegressor(increasing=["kids"], **QUICK).fit(X, X["kids"] + X["pay"])
    with pytest.raises(SmileError, match="Row 1, column .kids. is inf"):
        model.predict(X.iloc[:2].assign(kids=[2.0, np.inf]))


def test_idle_columns_are_left_out_unless_a_rule_names_them(tmp_path):
    X, y = table()
    X = X.assign(id=range(len(X)), one=3, twin=X["pay"], town=[f"town {i}" for i in range(len(X))])
    with pytest.warns(ColumnWarning) as said:
        model = SmileRegressor(increasing=["twin", "one"], domain=GRADES, **QUICK).fit(X, y)
    assert [str(w.message).split(";")[0] for w in said] == [
        "Column 'pay' repeats 'twin'",
        "Column 'id' looks like an identifier",
        "Column 'town' looks like an identifier",
        "Column 'one' holds one value only, '3', and a rule names it: nothing can be learned of it from these rows.",
    ]
    assert model.domain_.columns == ("kids", "grade", "sex", "one", "twin") and model.n_features_in_ == X.shape[1]
    model.save(tmp_path / "m")
    read = smilenn.load(tmp_path / "m")
    assert (read.predict(X) == read.predict(X[["sex", "one", "twin", "kids", "grade"]])).all()
    kept = SmileRegressor(increasing=["pay"], domain={"kinds": {"id": "integer"}, "order": GRADES.order}, **QUICK)
    with pytest.warns(ColumnWarning):
        kept.fit(X, y)
    assert "id" in kept.domain_.columns


def test_cross_validation_meets_codes_rare_names_and_lonely_cells():
    rng = np.random.default_rng(3)
    n = 300
    X = pd.DataFrame(
        {
            "hours": [str(v) for v in rng.integers(1, 60, n)],
            "work": rng.choice(["p", "q", "r"], n).astype(object),
            "day": pd.date_range("2021-01-01", periods=n).astype(str),
            "lone": rng.uniform(0, 1, n),
        }
    )
    X.loc[5, "lone"] = np.nan
    X.loc[[9, 40, 77], "hours"] = "?"
    X.loc[11, "work"] = "only here"
    y = np.where((X["work"] == "p") | (pd.to_numeric(X["hours"], errors="coerce") > 40), "rich", "poor")
    model = SmileClassifier(increasing=["hours"], positive="rich", network=Network(members=1), **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scores = cross_val_score(model, X, y, error_score="raise")
    assert scores.mean() > 0.7


def test_a_file_of_onnx_and_a_service_read_the_same_rows(tmp_path):
    pytest.importorskip("onnxruntime")
    from smilenn.export.onnx_file import export_onnx
    from smilenn.export.verify import feed, session
    from smilenn.service.rows import Reader

    X, y = table()
    X = X.assign(town=["north"] * 80 + ["south"] * 78 + ["east", "west"])
    with pytest.warns(ColumnWarning, match="2 of 4 values are rare"):
        model = SmileRegressor(increasing=["pay"], domain=GRADES, network=Network(members=1), **QUICK).fit(X, y)
    new = EVERY.assign(town=["north", "south", "moon"] * (len(EVERY) // 3))
    expected = model.predict(new)
    export_onnx(model, tmp_path / "m.onnx", rows=300)
    opened = session((tmp_path / "m.onnx").read_bytes())
    found = opened.run(None, feed(opened, new))[0]
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-12)
    rows = [{k: None if pd.isna(v) else v for k, v in row.items()} for row in new.astype(object).to_dict("records")]
    assert (Reader(model).read(rows[:40]) == model.encoded(new.head(40))).all()
