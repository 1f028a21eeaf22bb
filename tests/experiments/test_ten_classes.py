"""The tables of ten digits: one quick cell, and what the page says of finished ones."""

import numpy as np
import pytest

from smilenn.experiments import robustness, ten_classes
from smilenn.experiments.study import Options, select
from smilenn.train.config import Config


def test_cells_are_part_of_the_study():
    cells = robustness.cells(Options())
    assert len(select(cells, ["model=ten-distances"])) == 6 and len(select(cells, ["model=ten-crown-ibp"])) == 6
    assert len(select(robustness.cells(Options(quick=True)), ["model=ten-contractions"])) == 1


def test_a_quick_cell(monkeypatch):
    tiny = Config(patience=None, epochs=2, batch_size=64, train_learning_rate=0.02, margin=0.6)
    monkeypatch.setitem(ten_classes.QUICK, "inf", tiny)
    (row,) = robustness.compute("ten-distances", 0, True, 0.1, options=Options(quick=True))
    assert row["certified"] and row["norm"] == "inf" and row["data"] == "digits"
    assert row["clean"] >= row["certified_0.1"] >= row["certified_0.2"] >= row["certified_0.3"]
    assert row["certified_0.1"] >= row["least_0.1"] and row["accepted"] >= row["certified_0.1"]
    page = "\n\n".join(ten_classes.report([row]))
    assert "SortNet, published* | each | – | 98.14" in page and "GloRo" in page
    assert f"| SMiLE, distances | 0.1 | {100 * row['clean']:.2f} | {100 * row['certified_0.1']:.2f} |" in page
    assert f"| {100 * row['accepted']:.2f} | {100 * row['accepted_right']:.2f} |" in page


def test_shares_take_the_class_that_fares_worst():
    y = np.array([0, 0, 1, 1])
    found = ten_classes._shares(lambda at: (np.array([1, 1, 1, 0]) > 0, np.array([1, 1, at < 1, 1]) > 0), y, 2)
    assert found["clean"] == 0.75 and found["certified_0.3"] == 0.75 and found["least_0.3"] == 0.5
    assert found["certified_1.58"] == 0.5 and found["least_1.58"] == 0.0


def test_pages_without_ten_classes_have_no_such_part():
    assert ten_classes.report([{"model": "default"}]) == []


def test_unknown_models_are_named():
    with pytest.raises(Exception, match="ten-distances"):
        robustness.compute("eleven", 0, True, options=Options(quick=True))
