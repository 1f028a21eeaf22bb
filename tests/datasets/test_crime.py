import numpy as np
import pytest

from smilenn.datasets import DataError, fetch_crime, prepare, split
from smilenn.datasets.crime import FILE, SHARES


@pytest.fixture
def folder(need_data):
    return need_data(FILE.path)


def test_binary_race(folder):
    data = fetch_crime(data_dir=folder)
    assert data.frame.shape == (1994, 96)
    assert not set(SHARES) & set(data.feature_names)
    assert data.target.mean() == pytest.approx(0.238, abs=1e-3)
    assert set(data.frame["race"]) == {0, 1} and 0.4 < data.frame["race"].mean() < 0.6
    assert data.protected == ("race",)
    parts = prepare(*split(data))
    assert parts.domain.feature("race").kind == "binary"
    scaled = parts.domain.scale(parts.x_test)
    assert scaled.min() >= 0 and scaled.max() <= 1


def test_the_four_shares(folder):
    data = fetch_crime("shares", data_dir=folder)
    assert data.frame.shape == (1994, 99) and data.protected == SHARES
    binary = fetch_crime(data_dir=folder)
    assert np.array_equal(binary.frame["race"], data.frame["racepctblack"] > 0.06)


def test_pair_and_unknown_race(folder):
    features, target = fetch_crime(data_dir=folder, return_X_y=True)
    assert len(features) == len(target) == 1994
    with pytest.raises(DataError, match="'binary' or 'shares'"):
        fetch_crime("both")  # type: ignore[arg-type]
