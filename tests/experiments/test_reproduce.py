"""`smile reproduce` from the command line: files, continuation, bad input; single real cells."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import smilenn
from smilenn.cli import app
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.experiments import evolution, fairness, monotonicity, reproduce, robustness
from smilenn.experiments.recipe import store
from smilenn.experiments.study import Options
from smilenn.train.config import Config
from smilenn.train.recipes import distances

FILES = {"monotonicity.md", "monotonicity.json", "monotonicity.jsonl"}


def smile(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


FEW = ("--quick", "--jobs", "1", "--only", "alpha=2", "--only", "omega=0.6")


def test_files_tables_and_figures(tmp_path):
    code, out, _ = smile("reproduce", "monotonicity", "--out", tmp_path, *FEW, "--only", "model=isotonic")
    assert code == 0
    assert {path.name for path in tmp_path.iterdir()} == FILES | {
        "monotonicity-estimator.png",
        "monotonicity-estimator.pdf",
    }
    (row,) = json.loads((tmp_path / "monotonicity.json").read_text())
    assert {"model", "alpha", "omega", "r2", "status", "seconds", "seed"} <= row.keys() and "curve" not in row
    assert row["status"] == "none" and row["r2"] == row["limit"] > 0.99
    assert "# Monotonicity" in out and "quick run" in out and "monotonicity-estimator.pdf" in out
    assert (tmp_path / "monotonicity.md").read_text() in out


def test_it_continues_where_it_stopped(tmp_path, monkeypatch):
    smile("reproduce", "monotonicity", "--out", tmp_path, *FEW, "--only", "model=isotonic", "--no-figures")
    before = (tmp_path / "monotonicity.jsonl").read_text()
    monkeypatch.setattr(monotonicity, "fit_isotonic", lambda *a, **k: pytest.fail("computed again"))
    monkeypatch.setattr("smilenn.experiments.monotonicity.prepare", lambda *a, **k: pytest.fail("computed again"))
    code, _, _ = smile("reproduce", "monotonicity", "--out", tmp_path, *FEW, "--only", "model=isotonic", "--no-figures")
    assert code == 0 and (tmp_path / "monotonicity.jsonl").read_text() == before
    assert {path.name for path in tmp_path.iterdir()} == FILES


def test_the_page_of_what_is_finished(tmp_path, monkeypatch):
    """--finished computes nothing, whatever is missing."""
    few = ("reproduce", "monotonicity", "--out", tmp_path, "--only", "alpha=2", "--only", "omega=0.6", "--no-figures")
    code, _, err = smile(*few, "--finished")
    assert code == 2 and "holds no finished cell of this experiment" in err
    smile(*few, "--only", "model=isotonic", "--only", "seed=0", "--jobs", "1")
    monkeypatch.setattr(monotonicity, "compute", lambda **_: pytest.fail("computed"))
    code, out, _ = smile(*few, "--finished")
    assert code == 0 and "cells have not been run" in out and "isotonic" in out


def test_interruption_keeps_finished_cells(tmp_path, monkeypatch):
    real = monotonicity._peer

    def interrupted(model, *rest):
        if model == "constant":
            raise KeyboardInterrupt
        return real(model, *rest)

    monkeypatch.setattr(monotonicity, "_peer", interrupted)
    code, _, err = smile(
        "reproduce", "monotonicity", "--out", tmp_path, *FEW, "--only", "model=isotonic", "--only", "model=constant"
    )
    assert code == 130 and "monotonicity.jsonl: the same command goes on" in err
    assert len((tmp_path / "monotonicity.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["alchemy"], "There is no experiment 'alchemy'; there are: monotonicity, robustness, fairness, "),
        (["monotonicity", "--only", "model=best"], "There is no cell with model = 'best'"),
        (["monotonicity", "--only", "colour=red"], "No cell has a key 'colour'"),
        (["monotonicity", "--device", "gpu"], "There is no device 'gpu'; there are: auto, cpu or cuda."),
        (["fairness", "--data-dir", "absent", "--quick", "--jobs", "1", "--only", "model=constant"], "not a folder"),
    ],
)
def test_bad_input(tmp_path, arguments, sentence):
    code, _, err = smile("reproduce", *arguments, "--out", tmp_path / "out", "--quiet")
    assert code == 2 and sentence in err and err.count("\n") == 1
    assert "Traceback" not in err


def test_missing_data_names_the_file(tmp_path, monkeypatch):
    monkeypatch.delenv("SMILENN_DATA", raising=False)
    folder = tmp_path / "data"
    folder.mkdir()
    code, _, err = smile(
        "reproduce",
        "fairness",
        "--out",
        tmp_path,
        "--data-dir",
        folder,
        "--quick",
        "--jobs",
        "1",
        "--quiet",
        "--only",
        "model=constant",
    )
    assert "are kept in" not in err  # there are none
    assert code == 2 and "3 of 3 cells failed" in err and "compas/compas_deidentified.csv.gz" in err


def test_no_gpu(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert Options(device="auto").resolved().device == "cpu"
    with pytest.raises(SmileError, match="no CUDA device"):
        Options(device="cuda:1").resolved()


def test_jobs(tmp_path):
    with pytest.raises(SmileError, match="at least 1"):
        reproduce.reproduce("monotonicity", tmp_path, jobs=0)


def test_saved_models_are_estimator_folders(tmp_path, monkeypatch):
    """One SMiLE cell of each experiment kind, tiny: its folder loads, proves and predicts."""
    tiny = Config(pretrain_epochs=8, epochs=2, batch_size=64, learning_rate=1e-2)
    monkeypatch.setitem(robustness.CONFIG, True, tiny)
    monkeypatch.setattr(robustness, "STEPS", 5)
    options = Options(quick=True, models=tmp_path)
    (row,) = robustness.compute("faithful", 0, True, 0.05, 1.0, options=options)
    assert row["status"] == "proved" and row["verified"] <= row["pgd"] <= row["clean"] == row["clean_all"]
    model = smilenn.load(tmp_path / "robustness-faithful-0.05-1.0-0")
    assert model.verdict_.status == "proved"
    assert model.predict(np.zeros((1, 64))).shape == (1,)
    again = replace(options, reuse=True)  # taken as it is, not trained again
    monkeypatch.setattr(SmileClassifier, "fit", None)
    (same,) = robustness.compute("faithful", 0, True, 0.05, 1.0, options=again)
    assert same["verified"] == row["verified"] and same["certified"] == row["certified"]
    store(model, tmp_path, "robustness-faithful-0.05-1.0-0")  # of a second run: replaced, not in the way
    (tmp_path / "mine").mkdir()
    with pytest.raises(SmileError):
        store(model, tmp_path, "mine")  # no model folder: left alone


def test_the_default_is_one_distance_net_for_all_deltas(tmp_path, monkeypatch):
    monkeypatch.setattr(robustness, "STEPS", 2)
    monkeypatch.setitem(distances.SIZES, "cpu", ((16,), 8, 3e7))
    rows = robustness.compute("default", 0, True, options=Options(quick=True, models=tmp_path))
    assert [row["delta"] for row in rows] == list(robustness.DELTAS)
    assert all(row["certified"] and row["verified"] <= row["pgd"] <= row["clean"] for row in rows)
    shares = [row["verified"] for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert smilenn.load(tmp_path / "robustness-default-0").verdict_.status == "proved"


def test_robustness_baselines_on_digits(monkeypatch):
    monkeypatch.setattr(robustness, "DELTAS", (0.05,))
    monkeypatch.setattr(robustness, "STEPS", 5)
    (plain,) = robustness.compute("agnostic", 0, True, options=Options())
    assert plain["clean"] > 0.95 and plain["verified"] == 0 and plain["pgd"] <= plain["clean"]
    (constant,) = robustness.compute("constant", 0, True, options=Options())
    assert constant["clean"] == constant["verified"] == pytest.approx(0.9)
    assert constant["balanced_verified"] == pytest.approx(0.5)
    with pytest.raises(SmileError, match="no model 'oracle'"):
        robustness.compute("oracle", 0, True, options=Options())


def test_monotonicity_peers():
    rows = {
        name: monotonicity.compute(name, 2, 0.6, 0, True, options=Options())[0] for name in ("boosting", "constant")
    }
    assert rows["boosting"]["fall"] == 0 and rows["boosting"]["r2"] > 0.99 and rows["constant"]["r2"] <= 0
    with pytest.raises(SmileError, match="no model 'oracle'"):
        monotonicity.compute("oracle", 2, 0.6, 0, True, options=Options())


def test_fairness_cells(need_data):
    need_data("compas/compas_deidentified.csv.gz")
    (unaware,) = fairness.compute("unaware", "compas", 0, True, options=Options())
    assert unaware["variation"] == 0 and unaware["accuracy"] > 0.6
    with pytest.raises(SmileError, match="no model 'oracle'"):
        fairness.compute("oracle", "compas", 0, True, options=Options())
    with pytest.raises(SmileError, match="no data set 'adult'"):
        fairness.compute("constant", "adult", 0, True, options=Options())


@pytest.mark.slow
def test_certifair_on_compas(need_data):
    need_data("compas/compas_deidentified.csv.gz")
    (certifair,) = fairness.compute("certifair", "compas", 0, True, weight=0.1, options=Options())
    assert certifair["variation"] > 0 and certifair["weight"] == 0.1


def test_variation_of_continuous_shares(need_data):
    need_data("crime/communities.data.gz")
    (constant,) = fairness.compute("constant", "crime-shares", 0, True, options=Options())
    (plain,) = fairness.compute("agnostic", "crime-shares", 0, True, options=Options())
    (unaware,) = fairness.compute("unaware", "crime-shares", 0, True, options=Options())
    assert constant["variation"] == unaware["variation"] == 0 < plain["variation"]


def test_evolution_records_each_phase():
    tiny = Config.paper(pretrain_epochs=15, epochs=10, batch_size=64, posttrain_rounds=30, posttrain_seconds=30.0)
    curves, verdict = evolution.evolve(0, config=tiny)
    assert curves[0].title == "after pretraining" and curves[-1].title == "after posttraining"
    if verdict.status == "proved":
        assert curves[-1].change() <= evolution.EPS + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("experiment", ["monotonicity", "robustness", "fairness"])
def test_the_quick_run(experiment, tmp_path, need_data):
    need_data("law/law_school_clean.csv.gz")
    code, out, _ = smile("reproduce", experiment, "--quick", "--out", tmp_path, "--quiet")
    assert code == 0 and "Written" in out
    rows = json.loads((tmp_path / f"{experiment}.json").read_text())
    # with so few epochs the faithful column may end unknown; the default starts feasible and is proved
    assert all(row["status"] == "proved" for row in rows if row["model"] == "default")
    assert {row["status"] for row in rows if row["model"] == "faithful"} <= {"proved", "unknown"}
