"""Public tables as they come: their rows, their gaps, and what is not there."""

import gzip
import os

import pytest

from smilenn.datasets import DataError, fetch_table
from smilenn.datasets.public import TABLES

there = pytest.mark.skipif("SMILENN_DATA" not in os.environ, reason="SMILENN_DATA names no folder of data files")


@there
@pytest.mark.parametrize(("name", "gaps"), [("adult", 6465), ("bike", 0), ("california", 207), ("concrete", 0)])
def test_a_table_is_whole_and_keeps_its_gaps(name, gaps):
    data = fetch_table(name)
    assert len(data) == TABLES[name].rows
    assert int(data.frame.isna().to_numpy().sum()) == gaps
    assert not set(data.frame.columns) & {TABLES[name].target, *TABLES[name].dropped}


@there
def test_both_parts_of_adult_have_the_same_two_classes():
    target = fetch_table("adult").target
    assert set(target) == {0, 1} and target.iloc[:32561].mean() == pytest.approx(target.iloc[32561:].mean(), abs=0.01)


def test_another_file_is_refused(tmp_path):
    place = tmp_path / "tables"
    place.mkdir()
    (place / "concrete.csv.gz").write_bytes(gzip.compress(b"Cement,Concrete_compressive_strength\n1,2\n"))
    with pytest.raises(DataError, match="another file"):
        fetch_table("concrete", tmp_path)
    with pytest.raises(DataError, match=r"no tables/bike\.csv\.gz in the data folder"):
        fetch_table("bike", tmp_path)
    with pytest.raises(DataError, match="no table 'iris'; choose one of 'adult', 'bike'"):
        fetch_table("iris")  # type: ignore[arg-type]
