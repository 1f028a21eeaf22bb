"""The tables of ten digits: one quick cell, and what the page says of finished ones."""

import json
import threading
import time

import numpy as np
import pytest
from benchmarks import two_cores
from benchmarks.ten_classes import Shared, Turn, by_margin, cell_of, checked

from smilenn import Robust, SmileClassifier
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
    assert "SortNet, published* | 0.1 | 99.01 | 98.14" in page and "GloRo" in page
    assert f"| SMiLE, distances | 0.1 | {100 * row['clean']:.2f} | {100 * row['certified_0.1']:.2f} |" in page
    assert f"| {100 * row['accepted']:.2f} | {100 * row['accepted_right']:.2f} |" in page


def test_a_quick_cell_of_the_local_peer(monkeypatch):
    monkeypatch.setitem(ten_classes.LOCAL_EPOCHS, True, 15)
    (row,) = robustness.compute("ten-crown-ibp", 0, True, 0.1, options=Options(quick=True))
    assert row["status"] == "none" and row["norm"] == "inf" and "certified" not in row
    assert row["clean"] > 0.4 and row["certified_0.1"] > 0.25 and row["certified_0.1"] > row["certified_0.3"]
    assert row["clean"] >= row["certified_0.1"] >= row["least_0.1"]
    page = "\n\n".join(ten_classes.report([row]))
    assert f"| CROWN-IBP, ours | 0.1 | {100 * row['clean']:.2f} | {100 * row['certified_0.1']:.2f} |" in page


def test_shares_take_the_class_that_fares_worst():
    y = np.array([0, 0, 1, 1])
    found = ten_classes._shares(lambda at: (np.array([1, 1, 1, 0]) > 0, np.array([1, 1, at < 1, 1]) > 0), y, 2)
    assert found["clean"] == 0.75 and found["certified_0.3"] == 0.75 and found["least_0.3"] == 0.5
    assert found["certified_1.58"] == 0.5 and found["least_1.58"] == 0.0


def test_pages_without_ten_classes_have_no_such_part():
    assert ten_classes.report([{"model": "default"}]) == []


def test_aims_are_about_mnist_and_each_device_has_its_own():
    row = {"model": "ten-distances", "delta": 0.1, "data": "mnist", "device": "cuda", "certified": True}
    row |= {"clean": 0.99, "certified_0.1": 0.978, "seed": 0}
    found = {aim.what: aim for aim in robustness.aims([row, row | {"seed": 1, "certified_0.1": 0.979}])}
    clean, certified = (aim for what, aim in found.items() if "trained for 0.1" in what)
    assert clean.met and clean.got == "99.00"
    assert not certified.met and certified.got == "97.85" and certified.wanted == "≥ 97.90"
    assert found["ten-distances: certified"].got == "2 of 2" and len(found) == 3
    assert not robustness.aims([row | {"data": "digits"}])
    both = [row, row | {"device": "cpu", "certified_0.1": 0.939}]
    found = {aim.what: aim for aim in robustness.aims(both)}
    of_gpu, of_processor = (aim for what, aim in found.items() if "certified at 0.1" in what)
    assert (of_gpu.got, of_processor.got, of_processor.wanted) == ("97.80", "93.90", "≥ 94.00") and not of_processor.met
    page = "\n".join(
        ten_classes.report([one | {"norm": "inf", "status": "proved", "seconds": 1.0, "accepted": 0.5} for one in both])
    )
    assert sum("SMiLE, distances" in line for line in page.splitlines()) == 4, "two devices, two tables"


def test_unknown_models_are_named():
    with pytest.raises(Exception, match="ten-distances"):
        robustness.compute("eleven", 0, True, options=Options(quick=True))


def test_a_cell_gives_its_turn_on_once():
    shared = Shared(threading.Semaphore(1), threading.Semaphore(0), threading.Lock(), time.time() + 60)
    first, second, late = Turn(shared), Turn(shared), Turn(shared)
    assert first.take(10.0) and shared.loading.acquire(blocking=False)  # the next cell may load its images
    assert not shared.gpu.acquire(blocking=False)
    first.give()
    first.give()
    first.ready()
    assert second.take(10.0) and not shared.gpu.acquire(blocking=False)
    second.give()
    assert not late.take(100.0)  # no time left
    late.give()
    assert shared.gpu.acquire(blocking=False)


def test_margins_are_counted_in_multiples_of_delta():
    logits = np.array([[0.0, 0.5, 0.0], [2.5, 0.0, 0.0], [0.0, 0.0, 1.1], [0.0, 4.0, 0.0]])
    found = by_margin(logits, np.array([1, 0, 2, 2]), 0.3)
    assert found["clean"] == 0.75
    assert found["certified_by_margin"] == {"0.1": 0.75, "0.2": 0.5, "0.3": 0.5, "0.6": 0.25, "0.9": 0.0}


def test_cells_of_the_command_are_those_of_the_study():
    assert cell_of("ten-distances:0.1:2", quick=False) in robustness.cells(Options())


def test_what_both_checkers_say_is_written(blobs_folder, tmp_path):
    shared = Shared(threading.Semaphore(1), threading.Semaphore(1), threading.Lock(), 0.0)
    checked(blobs_folder, shared, tmp_path)
    fast, reference = (json.loads(line) for line in (tmp_path / "checks.jsonl").read_text().splitlines())
    assert fast["checker"] == "fast" and reference["checker"] == "reference"
    assert fast["status"] == reference["status"] == "certified" and fast["holds"] and reference["holds"]
    assert fast["bounds"] == reference["bounds"]


@pytest.fixture
def blobs_folder(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    config = Config(patience=None, epochs=1, batch_size=32, train_learning_rate=0.02)
    model = SmileClassifier(properties=[Robust(0.1, norm=2)], config=config, random_state=0)
    model.fit(rng.random((60, 3)) + y[:, None], y).save(tmp_path / "model")
    return tmp_path / "model"


def test_two_cores_print_a_line_for_each_network(two_threads, monkeypatch, tmp_path, capsys):
    tiny = Config(patience=None, epochs=2, batch_size=64, train_learning_rate=0.02, margin=0.6)
    monkeypatch.setitem(ten_classes.QUICK, "inf", tiny)
    out = tmp_path / "lines.jsonl"
    two_cores.fitted("ten-distances:0.3", 0, Options(quick=True), time.time(), out, tmp_path / "models")
    row = json.loads(capsys.readouterr().out)
    assert row == json.loads(out.read_text()) and row["certified"] and row["epochs"] == 2
    assert row["clock"] >= row["trained"] > 0 and row["cpu"] > 0 and row["clean"] >= row["certified_0.3"]
    assert row["reference"] == "certified" and row["reference_seconds"] >= 0
    assert (tmp_path / "models" / "robustness-ten-distances-0.3-0" / "manifest.json").exists()
