"""The input space: learned bounds, encoding, sampling, and every error a person can meet."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smilenn.domain import Domain, Feature, as_frame
from smilenn.errors import SmileError

AGE = Feature("age", "integer", 18, 90)
PAY = Feature("pay", "continuous", -1.5, 2.5, shift=-1.5, mult=0.25, unit="k€")
SEX = Feature("sex", "binary", categories=("f", "m"))
RACE = Feature("race", "category", categories=("a", "b", "c"))
MIXED = Domain((AGE, PAY, SEX, RACE))


def fails(*words: str):
    """A SmileError of one sentence holding all the words."""

    class Check:
        def __enter__(self):
            self.raises = pytest.raises(SmileError)
            self.info = self.raises.__enter__()

        def __exit__(self, *exc):
            done = self.raises.__exit__(*exc)
            message = str(self.info.value)
            for word in words:
                assert word in message, message
            assert "\n" not in message and message.endswith("."), message
            return done

    return Check()


# ---- features and domains -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": ""}, ["non-empty text"]),
        ({"name": 3}, ["non-empty text", "3"]),
        ({"kind": "float"}, ["'x'", "'float'", "'continuous'"]),
        ({"lo": 2, "hi": 1}, ["'x'", "lo = 2 above hi = 1"]),
        ({"lo": float("nan")}, ["lo = nan", "finite"]),
        ({"hi": float("inf")}, ["hi = inf", "finite"]),
        ({"hi": "7"}, ["hi = '7'", "finite"]),
        ({"mult": 0}, ["mult = 0", "positive"]),
        ({"kind": "integer", "lo": 0.5, "hi": 3}, ["whole bounds", "0.5"]),
        ({"kind": "binary", "hi": 2}, ["bounds are 0 and 1"]),
        ({"kind": "binary", "categories": ("a",)}, ["two strings or none, not 1"]),
        ({"kind": "category"}, ["no categories"]),
        ({"kind": "category", "categories": "abc"}, ["categories = 'abc'", "list"]),
        ({"kind": "category", "categories": ("a", "a")}, ["twice", "'a'"]),
        ({"kind": "category", "categories": ("a", "b"), "columns": ("a",)}, ["one encoded column per category"]),
        ({"categories": ("a", "b")}, ["continuous", "lists categories"]),
    ],
)
def test_feature_errors(arguments, words):
    with fails(*words):
        Feature(**({"name": "x"} | arguments))


def test_feature_numbers_are_floats_whatever_was_given():
    assert json.dumps(Feature("x", lo=0, hi=1).to_json()) == json.dumps(
        Feature("x", lo=-0.0, hi=np.float32(1)).to_json()
    )


def test_domain_errors():
    with fails("at least one feature"):
        Domain(())
    with fails("feature 'x' appears twice"):
        Domain((Feature("x"), Feature("x")))
    with fails("coordinate 'r=a' appears twice"):
        Domain((Feature("r=a"), Feature("r", "category", categories=("a", "b"))))
    with fails("2 lower bounds, 1 upper bounds"):
        Domain.box([0, 0], [1])
    with fails("no feature 'pey'", "'age', 'pay', 'sex', 'race'"):
        MIXED.feature("pey")
    with fails("no feature 'race=z'"):
        MIXED.indices("race=z")


def test_coordinates_groups_and_indices():
    assert MIXED.coordinates == ("age", "pay", "sex", "race=a", "race=b", "race=c")
    assert MIXED.size == 6 and MIXED.columns == ("age", "pay", "sex", "race")
    assert MIXED.groups == ((3, 4, 5),)
    assert MIXED.indices("race") == (3, 4, 5) and MIXED.indices("race=b") == (4,)
    assert MIXED.integral.tolist() == [True, False, True, True, True, True]
    assert MIXED.lo.tolist() == [18, -1.5, 0, 0, 0, 0] and MIXED.hi.tolist() == [90, 2.5, 1, 1, 1, 1]
    assert Domain.box([0], [1]).coordinates == ("x0",)


def test_json_round_trip_and_errors():
    for domain in (MIXED, Domain((Feature("r", "category", categories=("a", "b"), columns=("r_a", "r_b")),))):
        again = Domain.from_json(json.loads(json.dumps(domain.to_json())))
        assert again == domain and hash(again) == hash(domain)
    with fails("one key, 'features'"):
        Domain.from_json({"features": [], "extra": 1})
    with fails("described by", "'name'"):
        Feature.from_json({"name": "x", "colour": "red"})
    with fails("categories = 'abc'", "list"):
        Feature.from_json({"name": "x", "kind": "category", "categories": "abc"})
    with fails("lo = 'abc'"):
        Feature.from_json({"name": "x", "lo": "abc"})


# ---- learning from data ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [["race", "b", "w"], ["b", "w", "race"], ["b", "race", "w"]])
def test_a_group_with_the_name_of_another_column_is_refused(order):
    """One of the two would be lost, and a rule on the name would mean the other alone."""
    frame = pd.DataFrame({"race": [1.5, 2.5, 3.5], "b": [1, 0, 1], "w": [0, 1, 0]})
    with fails("feature 'race' appears twice"):
        Domain.from_data(frame[order], groups={"race": ["b", "w"]})


def test_an_empty_kind_is_refused():
    with fails("the kind ''"):
        Domain.from_data(pd.DataFrame({"x": [1.5, 2.5]}), kinds={"x": ""})


def test_kinds_are_learned():
    frame = pd.DataFrame(
        {
            "whole": [1, 5, 9],
            "real": [0.5, 1.5, 2.0],
            "flag": [0, 1, 1],
            "yes": [True, False, True],
            "town": ["x", "y", "z"],
            "sex": ["m", "f", "m"],
            "one": ["k", "k", "k"],
            "coded": pd.Categorical([1, 2, 3]),
        }
    )
    domain = Domain.from_data(frame)
    kinds = {f.name: f.kind for f in domain.features}
    assert kinds == {
        "whole": "integer",
        "real": "continuous",
        "flag": "binary",
        "yes": "binary",
        "town": "category",
        "sex": "binary",
        "one": "category",
        "coded": "category",
    }
    assert domain.feature("sex").categories == ("f", "m")
    assert domain.feature("coded").categories == ("1", "2", "3")
    assert domain.contains(domain.encode(frame)).all()


def test_arrays_are_continuous():
    domain = Domain.from_data(np.array([[0.0, 1.0], [1.0, 2.0]]))
    assert [f.kind for f in domain.features] == ["continuous"] * 2
    assert domain.columns == ("x0", "x1")
    with fails("3 columns", "domain has 2"):
        domain.encode(np.zeros((4, 3)))
    with fails("1 dimensions"):
        domain.encode(np.zeros(3))


def test_kinds_bounds_units_and_scaling_given():
    frame = pd.DataFrame({"n": [1, 2, 3], "z": [7, 8, 7], "sex": ["f", "m", "f"]})
    domain = Domain.from_data(
        frame,
        kinds={"n": "continuous", "z": "category", "sex": "category"},
        bounds={"n": (0, 10)},
        units={"n": "years"},
        scaling="none",
    )
    assert domain.feature("n") == Feature("n", "continuous", 0, 10, unit="years")
    assert domain.feature("z") == Feature("z", "category", categories=("7", "8"))
    assert domain.feature("sex") == Feature("sex", "category", categories=("f", "m"))
    # the same category whatever number type the column has later
    assert domain.encode(frame.astype({"z": float})).tolist() == domain.encode(frame).tolist()
    standard = Domain.from_data(frame[["n"]], scaling="standard")
    u = standard.scale(standard.encode(frame[["n"]]))
    assert u.mean() == pytest.approx(0) and u.std() == pytest.approx(1)
    unit = Domain.from_data(frame[["n"]], margin=0)
    assert unit.scale(unit.encode(frame[["n"]])).ravel().tolist() == [0, 0.5, 1]


def test_groups_of_encoded_columns():
    frame = pd.DataFrame({"r_a": [1, 0], "v": [0.1, 0.7], "r_b": [0, 1]})
    domain = Domain.from_data(frame, groups={"r": ["r_a", "r_b"]})
    assert domain.coordinates == ("r_a", "r_b", "v") and domain.indices("r") == (0, 1)
    x = domain.encode(frame)
    assert domain.decode(x)[["r_a", "v", "r_b"]].to_numpy().tolist() == frame.to_numpy().tolist()
    with fails("Row 5: exactly one", "'r_a', 'r_b'"):
        domain.encode(pd.DataFrame({"r_a": [1], "r_b": [1], "v": [0.5]}), first_row=5)


def test_ordered_categoricals_are_whole_numbers_others_are_sorted():
    levels = pd.CategoricalDtype(["low", "middle", "high", "unseen"], ordered=True)
    frame = pd.DataFrame({"o": pd.Series(["high", "low", "middle"], dtype=levels), "u": ["z", "y", "x"]})
    domain = Domain.from_data(frame)
    assert domain.feature("o") == Feature("o", "integer", 0, 3, mult=1 / 3, unit="low < middle < high < unseen")
    assert domain.feature("u").categories == ("x", "y", "z")
    assert domain.decode(domain.encode(frame))["o"].tolist() == ["high", "low", "middle"]
    numbers = pd.DataFrame({"o": pd.Categorical([10.0, 2.0, 3.0], categories=[2.0, 3.0, 10.0], ordered=True)})
    assert domain.encode(frame)[:, 0].tolist() == [2, 0, 1]
    assert Domain.from_data(numbers).feature("o").unit == "2 < 3 < 10"


def test_polars_frames_and_numbered_columns():
    frame = pl.DataFrame({"n": [1, 2, 3], "t": ["x", "y", "z"]})
    domain = Domain.from_data(frame)
    assert [f.kind for f in domain.features] == ["integer", "category"]
    assert domain.encode(frame).shape == (3, 4)
    assert list(as_frame(pd.DataFrame(np.zeros((1, 2)))).columns) == ["0", "1"]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=6)
    | st.lists(
        st.floats(allow_nan=False, allow_infinity=False, min_value=-1e150, max_value=1e150), min_size=1, max_size=4
    )
    | st.lists(st.sampled_from([0.1, 0.1 + 1e-17, 1e16, 1e16 + 2, 5e-324, -5e-324, 0.3]), min_size=1, max_size=4),
    st.sampled_from([0.0, 0.05, 0.3]),
)
def test_learned_bounds_never_exclude_the_data(values, margin):
    array = np.array(values)[:, None]
    domain = Domain.from_data(array, margin=margin, scaling="none")
    assert domain.contains(domain.encode(array)).all()
    if min(values) >= 0:
        assert domain.lo[0] >= 0
    if len(set(values)) > 1 and margin:
        assert domain.lo[0] <= min(values) and domain.hi[0] >= max(values)


def test_extreme_spans_are_kept():
    domain = Domain.from_data(np.array([[-1e308], [1.7e308]]), scaling="none")
    assert (domain.lo[0], domain.hi[0]) == (-1e308, 1.7e308)


def test_readable_bounds():
    domain = Domain.from_data(pd.DataFrame({"age": [18, 90], "r": [0.0, 0.9731], "c": [4.5, 4.5]}))
    assert (domain.feature("age").lo, domain.feature("age").hi) == (14, 94)
    assert (domain.feature("r").lo, domain.feature("r").hi) == (0.0, 1.022)
    assert (domain.feature("c").lo, domain.feature("c").hi) == (4.5, 4.5)


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"x": []}, {}, ["no rows"]),
        ({"x": [1.0, None]}, {}, ["Row 1", "'x'", "missing"]),
        ({"x": [1.0, float("inf")]}, {}, ["Row 1", "'x'", "inf", "finite"]),
        ({"x": ["1", "2", "oops"]}, {}, ["Row 2", "'x'", "'oops'", "among numbers"]),
        ({"x": [1, 2]}, {"kinds": {"y": "binary"}}, ["kinds", "'y'", "'x'"]),
        ({"x": [1, 2]}, {"bounds": {"y": (0, 1)}}, ["bounds", "'y'"]),
        ({"x": [1, 2]}, {"units": {"y": "m"}}, ["units", "'y'"]),
        ({"x": [1, 2]}, {"groups": {"g": ["q"]}}, ["groups", "'q'"]),
        ({"x": [1, 2]}, {"bounds": {"x": (3, 1)}}, ["lo = 3 above hi = 1"]),
        ({"x": [1, 2]}, {"bounds": {"x": 3}}, ["bounds", "'x'", "pair"]),
        ({"x": ["a", "b"]}, {"bounds": {"x": (0, 1)}}, ["bounds", "'x'", "categories"]),
        ({"x": [1.5, 2]}, {"kinds": {"x": "integer"}}, ["Row 0", "1.5", "integer"]),
        ({"x": [1, 2]}, {"kinds": {"x": "binary"}}, ["binary", "other than 0 and 1"]),
        ({"x": ["a", "b", "c"]}, {"kinds": {"x": "binary"}}, ["binary", "3 values"]),
        ({"x": [1, 2]}, {"kinds": {"x": "number"}}, ["'number'"]),
        ({"x": [1, 2]}, {"margin": -1}, ["margin"]),
        ({"x": [1, 2]}, {"scaling": "log"}, ["scaling", "'log'"]),
        ({"x": ["b", "a"]}, {"order": {"x": ["a", "c"]}}, ["Row 0", "'b'", "no place in the order 'a', 'c'"]),
        ({"x": ["b", "a"]}, {"order": {"x": ["a", "a"]}}, ["'x'", "two or more different names"]),
        ({"x": ["b", "a"]}, {"order": {"x": ["a", "b"]}, "bounds": {"x": (0, 1)}}, ["order of 'x'"]),
    ],
)
def test_learning_errors(columns, options, words):
    with fails(*words):
        Domain.from_data(pd.DataFrame(columns), **options)


def test_duplicate_columns():
    frame = pd.DataFrame([[1, 2]], columns=["x", "x"])
    with fails("'x' twice"):
        Domain.from_data(frame)
    with fails("'x' twice"):
        Domain.box([0], [9], ["x"]).encode(frame)


# ---- encoding, clamping, sampling -----------------------------------------------------------------------------------

GOOD = {"age": [30, 60], "pay": [0.25, -1.5], "sex": ["m", "f"], "race": ["b", "c"]}


def test_encode_decode_scale_round_trips():
    frame = pd.DataFrame(GOOD)
    x = MIXED.encode(frame)
    assert x.tolist() == [[30, 0.25, 1, 0, 1, 0], [60, -1.5, 0, 0, 0, 1]]
    assert MIXED.decode(x).to_dict("list") == GOOD
    assert MIXED.unscale(MIXED.scale(x)).tolist() == x.tolist()
    assert MIXED.scale(x)[:, 1].tolist() == [0.4375, 0.0]
    # extra columns and another order change nothing
    assert MIXED.encode(frame[["race", "sex", "pay", "age"]].assign(extra=1)).tolist() == x.tolist()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_samples_lie_in_the_domain_and_survive_the_round_trip(seed):
    x = MIXED.sample(20, np.random.default_rng(seed))
    assert MIXED.contains(x).all()
    assert (MIXED.encode(MIXED.decode(x)) == x).all()
    assert MIXED.contains(MIXED.unscale(MIXED.scale(x))).all()
    assert MIXED.contains(
        MIXED.unscale(MIXED.scale(x) + 7.0)[:, :3].repeat(1, axis=0) @ np.eye(3, 6) + [0, 0, 0, 1, 0, 0]
    ).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"age": [30, 12]}, ["Row 1", "'age'", "12", "[18, 90]", "1 such rows"]),
        ({"age": [30.5, 31]}, ["Row 0", "'age'", "30.5", "whole number"]),
        ({"age": ["30", "thirty"]}, ["Row 1", "'age'", "'thirty'"]),
        ({"pay": [0.0, float("nan")]}, ["Row 1", "'pay'", "missing"]),
        ({"pay": [0.0, -float("inf")]}, ["Row 1", "'pay'", "finite"]),
        ({"sex": ["m", "x"]}, ["Row 1", "'sex'", "unknown category 'x'", "'f', 'm'"]),
        ({"race": ["a", None]}, ["Row 1", "'race'", "missing"]),
        ({"race": ["d", "a"]}, ["Row 0", "unknown category 'd'", "'a', 'b', 'c'"]),
    ],
)
def test_encoding_errors(change, words):
    with fails(*words):
        MIXED.encode(pd.DataFrame(GOOD | change))


def test_missing_column_and_row_numbers_of_chunks():
    with fails("lacks the column 'race'", "'age', 'pay', 'sex'"):
        MIXED.encode(pd.DataFrame(GOOD).drop(columns="race"))
    with fails("Row 1001", "'age'"):
        MIXED.encode(pd.DataFrame(GOOD | {"age": [30, 12]}), first_row=1000)
    plain = Domain((Feature("flag", "binary"),))
    with fails("Row 0", "'flag'", "0 or 1"):
        plain.encode(pd.DataFrame({"flag": [2]}))


def test_out_of_bounds_modes():
    frame = pd.DataFrame(GOOD | {"age": [30, 99], "pay": [-7.0, 0.0]})
    assert MIXED.encode(frame, out_of_bounds="clamp")[:, :2].tolist() == [[30, -1.5], [90, 0]]
    with pytest.warns(UserWarning, match="2 such rows"):
        assert MIXED.encode(frame, out_of_bounds="warn")[1, 0] == 90
    with fails("out_of_bounds", "'ignore'"):
        MIXED.encode(frame, out_of_bounds="ignore")


def test_contains_is_exact():
    good = MIXED.encode(pd.DataFrame(GOOD))[0]
    for i, value in [(0, 30.5), (0, 91), (1, 2.5000001), (2, 0.5), (3, 1.0), (4, 0.0), (1, np.nan)]:
        bad = good.copy()
        bad[i] = value
        assert MIXED.contains(np.stack([good, bad])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("learned", "cells", "categories"),
    [
        ([1.0, 1.5, 2.0], [1.0, 2.0], ("1", "1.5", "2")),  # only whole ones in this batch
        ([1.0, 1.5, 2.0], [1, 2], ("1", "1.5", "2")),
        ([1, 2, 3], [1.0, 3.0], ("1", "2", "3")),  # floats because another row lacked a cell
        ([True, False], [True], ("False", "True")),
        (pd.Series([True, False], dtype="boolean"), pd.Series([False], dtype=object), ("False", "True")),
        (pd.Series([1, "a", 2.5], dtype=object), pd.Series([1.0, 2.5], dtype=float), ("1", "2.5", "a")),
        (pd.Series([1, True, "a"], dtype=object), pd.Series([True, 1], dtype=object), ("1", "True", "a")),
        (["1.0", "1.5", "2.0"], [1.0, 2.0], ("1.0", "1.5", "2.0")),  # texts of a file, numbers of a program
        ([1.0, 1.5, 2.0], ["1.0", "2"], ("1", "1.5", "2")),
        (pd.to_datetime(["2020-01-01 00:00", "2020-01-01 12:00"]), pd.to_datetime(["2020-01-01"]), None),
    ],
)
def test_a_cell_is_encoded_without_regard_to_its_neighbours(learned, cells, categories):
    frame, few = (pd.DataFrame({"c": pd.Series(values)}) for values in (learned, cells))
    domain = Domain.from_data(frame, kinds={"c": "category"})
    assert categories is None or domain.feature("c").categories == categories
    together = domain.encode(few)
    for i in range(len(few)):
        alone = domain.encode(few.iloc[[i]])
        assert alone.tolist() == [together[i].tolist()] and alone.sum() == 1
    for i in range(len(frame)):
        assert domain.encode(frame.iloc[[i]].infer_objects()).tolist() == [domain.encode(frame)[i].tolist()]


def test_texts_that_differ_in_a_point_stay_two_categories():
    domain = Domain.from_data(pd.DataFrame({"c": ["1", "1.0", "a"]}), kinds={"c": "category"})
    assert domain.feature("c").categories == ("1", "1.0", "a")
    assert domain.encode(pd.DataFrame({"c": ["1.0", "1"]})).argmax(axis=1).tolist() == [1, 0]
    with fails("unknown category '1.00'"):
        domain.encode(pd.DataFrame({"c": ["1.00"]}))
