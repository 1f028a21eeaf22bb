"""Times of predicting with a guarantee: what is timed is what it says."""

import json
import os

import numpy as np
import pytest
from typer.testing import CliRunner

from smilenn.cli import app
from smilenn.experiments import overhead, prediction


def test_every_subject_treats_all_images(monkeypatch):
    monkeypatch.setattr(prediction, "IMAGES", 20)
    works = prediction.subjects()
    plain, (labels, sure) = works["affine"](), works["affine, certified"]()
    assert np.array_equal(plain, labels)
    assert sure.shape == (20,) and sure.dtype == bool
    labels, verified = works["CROWN-IBP"]()
    assert labels.shape == verified.shape == (20,)
    assert works["distance"]().shape == works["backbone"]().shape == (20,)


def test_ratios_are_of_one_run(monkeypatch):
    monkeypatch.setattr(prediction, "subjects", lambda seed, device: {n: lambda: None for n in ("a", "b")})
    seconds = prediction.measure(rounds=2)
    assert set(seconds) == {"a", "b"} and all(s >= 0 for s in seconds.values())
    monkeypatch.setattr(prediction, "RATIOS", (("a / b", "a", "b"),))
    assert prediction.ratios({"a": 3.0, "b": 2.0}) == {"a / b": pytest.approx(1.5)}


def test_the_command(monkeypatch):
    seconds = {name: 2.0 for _, over, under in prediction.RATIOS for name in (over, under)}
    monkeypatch.setattr(prediction, "measure", lambda: seconds)
    result = CliRunner().invoke(app, ["bench", "predict"])
    assert result.exit_code == 0 and "affine / backbone" in result.output
    assert json.loads(CliRunner().invoke(app, ["bench", "predict", "--json"]).output)["seconds"] == seconds
    assert CliRunner().invoke(app, ["bench", "predict", "--case", "fair-20x4"]).exit_code == 2


def test_training_is_compared_with_the_same_epochs(need_data, monkeypatch):
    """One tiny pair: both have run, in this process, and the ratio is theirs."""
    need_data("compas/compas_deidentified.csv.gz")
    monkeypatch.setenv(overhead.CORES, "7")
    (row,) = overhead.records(1, recipes=["no encoder"], epochs=1)
    assert row["seconds"] > row["plain"] > 0 and row["ratio"] == pytest.approx(row["seconds"] / row["plain"])
    assert row["epochs"] >= 2 and row["verdict"] and os.environ[overhead.CORES] == "7"


def test_one_run_measures_training_and_prediction(monkeypatch):
    row = {"recipe": "default", "seed": 0, "seconds": 4.0, "plain": 1.0, "epochs": 3, "ratio": 4.0, "verdict": "proved"}
    monkeypatch.setattr(overhead, "records", lambda seeds, data_dir: iter([row, row | {"seed": 1, "ratio": 1.0}]))
    seconds = {name: 2.0 for _, over, under in prediction.RATIOS for name in (over, under)}
    monkeypatch.setattr(prediction, "measure", lambda: seconds)
    out = CliRunner().invoke(app, ["bench"]).output
    assert "default      mean 2.00, largest 4.00, wanted at most 2" in out and "CROWN-IBP / affine, certified" in out
    first, _, last = CliRunner().invoke(app, ["bench", "--json"]).output.splitlines()
    assert json.loads(first) == row and json.loads(last)["seconds"] == seconds
    assert "CROWN" not in CliRunner().invoke(app, ["bench", "train"]).output
