import hashlib

import numpy as np
import pandas as pd
import pytest

from smilenn.datasets import DataError, fetch_law, prepare, split
from smilenn.datasets import law as module
from smilenn.datasets.files import DataFile


@pytest.fixture
def data(need_data):
    return fetch_law(data_dir=need_data(module.BAR.path))


def test_counts(data):
    assert data.frame.shape == (20798, 11)
    assert data.target.mean() == pytest.approx(0.8897, abs=1e-4)
    assert data.frame["race"].value_counts().to_dict() == {"White": 17491, "Non-White": 3307}
    by_race = data.target.groupby(data.frame["race"], observed=True).mean()
    assert by_race.round(3).to_dict() == {"Non-White": 0.723, "White": 0.921}


def test_twenty_coordinates_with_their_groups(data):
    parts = prepare(*split(data))
    assert parts.domain.size == 20
    assert sorted(len(group) for group in parts.domain.groups) == [5, 6]
    race = parts.domain.indices("race")[0]
    assert parts.x[:, race].mean() == pytest.approx(17491 / 20798, abs=0.01), "White is 1"


def test_pair(data, need_data):
    features, target = fetch_law(data_dir=need_data(module.BAR.path), return_X_y=True)
    assert features.equals(data.frame) and target.equals(data.target)


def test_unknown_version():
    with pytest.raises(DataError, match="no version 'lsat'"):
        fetch_law("lsat")  # type: ignore[arg-type]


@pytest.fixture
def admissions(tmp_path, monkeypatch):
    """A made-up file with the published one's layout, known by its own git blob id."""
    rng = np.random.default_rng(0)
    n = 60
    table = pd.DataFrame(
        {
            "lsat": rng.normal(155, 8, n).round(),
            "gpa": rng.uniform(2, 4, n).round(2),
            "gender": rng.integers(0, 2, n).astype(np.float64),
            "resident": rng.integers(0, 2, n).astype(np.float64),
            "race": rng.choice(["White", "Black", "Asian", "Hispanic", ""], n),
            "college": rng.choice(["A", "B", "C"], n),
            "enroll": rng.integers(0, 2, n).astype(np.float64),
            "white": 1.0,
            "urm": 0.0,
            "admit": rng.integers(0, 2, n).astype(np.float64),
        }
    )
    table.loc[3, "gpa"] = np.nan
    table.loc[4, "admit"] = np.nan
    path = tmp_path / "law" / "lawschs1_1.dta"
    path.parent.mkdir()
    table.to_stata(path, write_index=False)
    content = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    monkeypatch.setattr(module, "ADMISSIONS", DataFile("law/lawschs1_1.dta", git_blob=blob))
    return tmp_path, table


def test_admissions_from_a_local_file(admissions):
    folder, table = admissions
    data = fetch_law("admissions", data_dir=folder)
    whole = table[(table["race"] != "") & table["gpa"].notna() & table["admit"].notna()]
    assert len(data) == len(whole)
    assert data.feature_names == ("lsat", "gpa", "gender", "resident", "race", "college")
    assert (data.frame["race"] == "White").to_numpy().tolist() == (whole["race"] == "White").to_numpy().tolist()
    assert data.target.to_numpy().tolist() == whole["admit"].to_numpy().tolist()
    assert prepare(*split(data)).domain.groups, "colleges are a one-hot group"


def test_admissions_are_never_downloaded(tmp_path, monkeypatch):
    monkeypatch.delenv("SMILENN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(DataError, match="lawschs1_1.dta was not found; put it at .*git blob id"):
        fetch_law("admissions")


def test_another_file_is_refused(admissions):
    folder, _ = admissions
    (folder / "law" / "lawschs1_1.dta").write_bytes(b"not it")
    with pytest.raises(DataError, match="git blob id"):
        fetch_law("admissions", data_dir=folder)
