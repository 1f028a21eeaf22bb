import gzip
import hashlib
import io

import numpy as np
import pandas as pd
import pytest

from smilenn.datasets import DataError, fetch_compas
from smilenn.datasets import compas as module
from smilenn.datasets.compas import COLUMNS, FILE, KEPT, deidentified
from smilenn.datasets.files import DataFile
from smilenn.datasets.prepare import learned
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
    domain = learned(data.frame)
    assert domain.size == 14 and domain.feature("v_score_text").categories == ("Low", "Medium", "High")
    assert Domain.from_data(data.frame).size == 10  # ordered categories are whole numbers to the rules


def test_missing_and_damaged_file(tmp_path):
    with pytest.raises(DataError, match=FILE.path):
        fetch_compas(data_dir=tmp_path)
    (tmp_path / FILE.path).parent.mkdir()
    (tmp_path / FILE.path).write_bytes(gzip.compress(b"sex,age\nMale,3\n"))
    with pytest.raises(DataError, match=FILE.sha256):
        fetch_compas(data_dir=tmp_path)


RAW_HEADER = (
    "id,name,first,last,dob,sex,age,age_cat,race,juv_fel_count,decile_score,juv_misd_count,juv_other_count,"
    "priors_count,days_b_screening_arrest,c_jail_in,c_jail_out,c_case_number,c_charge_degree,is_recid,score_text,"
    "v_decile_score,v_score_text,in_custody,out_custody,priors_count,two_year_recid"
)
RAW_ROWS = [
    "1,ann example,ann,example,1980-01-02,Female,33,25 - 45,Caucasian,0,1,0,0,2,-1,2013-01-01 06:00:00,"
    "2013-01-02 18:00:00,13001,F,0,Low,1,Low,2013-01-01,2013-01-08,2,0",
    "2,bob example,bob,example,1970-01-02,Male,43,25 - 45,Other,0,1,0,0,0,,,,13002,O,-1,N/A,1,N/A,,,0,1",
]


def test_the_raw_file_is_stripped_in_memory():
    table = pd.read_csv(
        io.BytesIO(deidentified("\n".join([RAW_HEADER, *RAW_ROWS]).encode())), keep_default_na=False, na_values=[""]
    )
    assert list(table.columns) == [*KEPT, "custody_days", "jail_days"]
    assert table["jail_days"][0] == 1.5 and table["custody_days"][0] == 7.0
    assert table[["custody_days", "jail_days"]].iloc[1].isna().all()
    assert table["v_score_text"].tolist() == ["Low", "N/A"], "a value, not a gap"
    text = table.to_csv()
    assert "example" not in text and "1980" not in text and "13001" not in text


def test_a_raw_file_without_its_columns():
    with pytest.raises(DataError, match="no column 'sex'"):
        deidentified(b"id,name\n1,x\n")


def test_neither_raw_nor_derived_content_is_written(tmp_path, monkeypatch):
    """The raw file's content is served from memory; what lies in the cache afterwards holds no name."""
    content = "\n".join([RAW_HEADER, *RAW_ROWS]).encode()
    served = tmp_path / "served.csv"
    served.write_bytes(content)
    monkeypatch.delenv("SMILENN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    raw = DataFile(module.RAW.path, hashlib.sha256(content).hexdigest(), (served.as_uri(),))
    monkeypatch.setattr(module, "RAW", raw)
    with pytest.raises(DataError, match="gave 1 rows"):  # two made-up people are not the published 5,278
        fetch_compas()
    assert not (tmp_path / "cache").exists(), "the derived table is not the known one: nothing is kept"
    monkeypatch.setattr(module, "FILE", DataFile(FILE.path, hashlib.sha256(deidentified(content)).hexdigest()))
    with pytest.raises(DataError, match="gave 1 rows"):
        fetch_compas()
    (kept,) = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert kept.name == "compas_deidentified.csv.gz" and b"example" not in gzip.decompress(kept.read_bytes())


def test_asked_not_to_go_online(tmp_path, monkeypatch):
    monkeypatch.delenv("SMILENN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(DataError, match="compas_deidentified.csv.gz was not found; put it at"):
        fetch_compas(download_if_missing=False)


def test_bunch_names(data, need_data):
    assert data.data is data.frame and "5278 rows" in data.DESCR
    features, target = fetch_compas(data_dir=need_data(FILE.path), return_X_y=True)
    assert features.equals(data.frame) and target.equals(data.target)
