import dataclasses

import numpy as np
import pandas as pd
import pytest

from smilenn.datasets import DataError, Dataset, make_credit, make_monotone_sine, split


def toy(n=10, **fields):
    frame = pd.DataFrame({"a": np.arange(n), "b": np.arange(n) * 2.0})
    return Dataset("toy", frame, pd.Series(np.arange(n) % 2, name="y"), "binary", **fields)


def test_dataset_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        toy().name = "other"  # type: ignore[misc]


def test_lengths_and_names_are_checked():
    with pytest.raises(DataError, match="3 rows of features but 2 targets"):
        Dataset("bad", pd.DataFrame({"a": [1, 2, 3]}), pd.Series([0, 1]), "binary")
    with pytest.raises(DataError, match="no column 'race'"):
        toy(protected=("race",))


def test_data_error_is_a_value_error():
    assert issubclass(DataError, ValueError)


def test_array_features_have_names():
    data = Dataset("array", np.zeros((2, 3)), pd.Series([0, 1]), "binary")
    assert data.feature_names == ("x0", "x1", "x2")


def test_split_is_a_partition_and_keeps_the_index():
    data = make_credit(503, seed=1, task="binary")
    train, test = split(data, seed=3, test=0.2)
    index = np.concatenate([train.frame.index, test.frame.index])
    assert sorted(index) == list(range(503))
    assert (test.target == data.target.loc[test.frame.index]).all()
    assert test.protected == data.protected
    assert abs(train.target.mean() - test.target.mean()) < 0.01, "stratified"


def test_split_depends_on_the_seed_only():
    data = make_monotone_sine(2.0, 0.4, n=50)
    first, again, other = (split(data, seed=seed)[1].frame.index for seed in (0, 0, 1))
    assert first.equals(again)
    assert not first.equals(other)


def test_split_of_arrays():
    data = Dataset("array", np.arange(20.0).reshape(10, 2), pd.Series([0, 1] * 5), "binary")
    train, test = split(data, test=0.4)
    assert train.frame.shape == (6, 2) and test.frame.shape == (4, 2)
    assert np.array_equal(test.frame, data.frame[test.target.index])


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 7.0, float("nan")])
def test_split_refuses_a_bad_share(share):
    with pytest.raises(DataError, match="between 0 and 1"):
        split(toy(), test=share)


def test_split_refuses_too_few_rows():
    with pytest.raises(DataError, match="too few"):
        split(toy(2), test=0.2)
