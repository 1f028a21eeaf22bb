import numpy as np
import pytest

from smilenn.datasets import DataError, make_credit, make_cubic, make_monotone_sine


@pytest.mark.parametrize("alpha", [2.0, 3.0, 4.0])
@pytest.mark.parametrize("omega", [0.4, 0.6, 0.8])
def test_sine_is_its_formula(alpha, omega):
    data = make_monotone_sine(alpha, omega)
    x, y = data.frame["x"].to_numpy(), data.target.to_numpy()
    assert x.shape == (1000,) and x.min() >= -10 and x.max() <= 10
    assert np.allclose(y, x + alpha * np.sin(omega * x), rtol=0, atol=1e-12)


def test_cubic_is_its_formula():
    data = make_cubic(n=100)
    assert np.array_equal(data.target, data.frame["x"] ** 3)
    assert data.frame["x"].abs().max() <= 1


@pytest.mark.parametrize("make", [lambda **k: make_monotone_sine(2.0, 0.6, **k), make_cubic])
def test_draws_repeat_and_parts_differ(make):
    same, again, other, test = make(seed=0), make(seed=0), make(seed=1), make(seed=0, part="test")
    assert same.frame.equals(again.frame)
    assert not np.isin(other.frame["x"], same.frame["x"]).any()
    assert not np.isin(test.frame["x"], same.frame["x"]).any()


def test_bad_arguments():
    with pytest.raises(DataError, match="at least one row"):
        make_cubic(n=0)
    with pytest.raises(DataError, match="no part 'validation'"):
        make_cubic(part="validation")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="at least one row"):
        make_credit(0)
    with pytest.raises(DataError, match="no task 'ranking'"):
        make_credit(5, task="ranking")  # type: ignore[arg-type]


def test_credit_table():
    data = make_credit(2000, seed=0)
    assert data.frame.shape == (2000, 6)
    assert not data.frame.isna().any(axis=None)
    assert data.frame["employment_years"].dtype == np.int64
    assert (data.frame["employment_years"] <= data.frame["age"] - 17).all()
    assert list(data.frame["race"].cat.categories) == ["A", "B"]
    assert data.target.between(0, 100).all()
    assert data.frame.equals(make_credit(2000, seed=0).frame)
    by_race = data.target.groupby(data.frame["race"], observed=True).mean()
    assert 2 < by_race["B"] - by_race["A"] < 8, "a mild dependence on the group"


def test_credit_directions_show_in_the_data():
    data = make_credit(5000, seed=1)
    for column in data.increasing:
        assert data.frame[column].corr(data.target, method="pearson") > 0.2
    for column in data.decreasing:
        assert data.frame[column].corr(data.target, method="pearson") < -0.2


def test_credit_as_a_binary_task():
    data = make_credit(2000, seed=0, task="binary")
    assert set(data.target) == {0, 1}
    assert 0.3 < data.target.mean() < 0.75
    assert data.frame.equals(make_credit(2000, seed=0).frame)
