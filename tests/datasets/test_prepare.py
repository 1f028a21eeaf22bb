import numpy as np
import pandas as pd

from smilenn.datasets import Dataset, make_credit, prepare, split


def test_bounds_and_scalers_come_from_training_rows_only():
    train, test = split(make_credit(500, seed=0), seed=0)
    test.frame.iloc[0, test.frame.columns.get_loc("income")] = 1e6
    parts = prepare(train, test)
    income = parts.domain.feature("income")
    least, most = train.frame["income"].min(), train.frame["income"].max()
    assert least - 1 < income.lo <= least and most <= income.hi < most + 1, "rounded outward to readable numbers"
    scaled = parts.domain.scale(parts.x_test)
    assert scaled.min() >= 0 and scaled.max() == 1


def test_held_rows_and_kept_rows_are_all_rows_once():
    train, test = split(make_credit(500, seed=0), seed=0)
    parts = prepare(train, test, held=0.1)
    both = np.concatenate([parts.y, parts.y_held])
    assert len(parts.y_held) == 40 and sorted(both) == sorted(train.target)
    again = prepare(train, test, held=0.1)
    assert np.array_equal(parts.x, again.x) and np.array_equal(parts.x_held, again.x_held)


def test_a_declared_category_that_no_training_row_has():
    def part(values):
        frame = pd.DataFrame({"x": np.arange(len(values), dtype=float)})
        frame["c"] = pd.Categorical(values, categories=["a", "b", "c", "d"])
        return Dataset("toy", frame, pd.Series(np.zeros(len(values))), "regression")

    parts = prepare(part(["a", "b", "c"] * 5), part(["d", "a"]), held=0.2)
    assert parts.domain.coordinates == ("x", "c=a", "c=b", "c=c", "c=d")
    assert parts.x_test[0].tolist() == [0, 0, 0, 0, 1]
