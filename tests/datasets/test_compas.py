import gzip

import numpy as np
import pandas as pd
import pytest

from smilenn.datasets import DataError, fetch_compas
from smilenn.datasets.compas import COLUMNS, FILE
from smilenn.domain import Domain


@pytest.fixture
def data(need_data):
    return fetch_compas(data_dir=need_data(FILE.path))


def test_counts_of_the_published_analysis(data):
    assert data.frame.shape == (5278, 10)
    assert data.feature_names == COLUMNS
    assert data.target.mean() == pytest.approx(0.4704, abs=1e-4)
    assert data.frame["race"].value_counts().to_dict() == {"African-American": 3175, "Caucasian": 2103}
    by_race = data.target.groupby(data.frame["race"], observed=True).mean()
    assert by_race.round(3).to_dict() == {"African-American": 0.523, "Caucasian": 0.391}
    assert not data.frame.isna().any(axis=None)


def test_raw_units(data):
    assert data.frame["age"].between(18, 80).all()
    for column in ("age", "juv_fel_count", "priors_count", "custody_days"):
        assert data.frame[column].dtype == np.int64
    for column in ("sex", "race", "c_charge_degree", "age_cat", "v_score_text"):
        assert isinstance(data.frame[column].dtype, pd.CategoricalDtype)
    assert data.protected == ("race",)


def test_it_is_fourteen_coordinates(data):
    domain = Domain.from_data(data.frame)
    assert domain.size == 14


def test_missing_and_damaged_file(tmp_path):
    with pytest.raises(DataError, match=FILE.path):
        fetch_compas(data_dir=tmp_path)
    (tmp_path / FILE.path).parent.mkdir()
    (tmp_path / FILE.path).write_bytes(gzip.compress(b"sex,age\nMale,3\n"))
    with pytest.raises(DataError, match=FILE.sha256):
        fetch_compas(data_dir=tmp_path)
