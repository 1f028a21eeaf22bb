"""The shared command line, and the tables of the three experiments on made-up rows."""

import json
import logging

import numpy as np
import pytest

from smilenn.experiments import fairness, monotonicity, robustness
from smilenn.experiments.command import command

saved: list[object] = []


def one(mode, seed):
    return {"model": mode, "seed": seed}


def one_that_saves(mode, seed, save=None):
    saved.append(save)
    return {"model": mode, "seed": seed}


def cells(seeds, modes):
    return [{"mode": mode, "seed": seed} for mode in modes for seed in seeds]


def table(rows):
    return "\n".join(f"{row['model']} {row['seed']}" for row in rows)


@pytest.fixture(autouse=True)
def quiet():
    """The command configures the root logger: put its handlers back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


def run(monkeypatch, capsys, *arguments, compute=one):
    monkeypatch.setattr("sys.argv", ["experiment", "--jobs", "1", *arguments])
    command("An experiment.", compute, cells, table, ["x", "y"])
    return capsys.readouterr().out


def test_table_and_machine_go_to_the_output(monkeypatch, capsys, tmp_path):
    out = tmp_path / "rows.jsonl"
    text = run(monkeypatch, capsys, "--seeds", "3", "4", "--models", "y", "--out", str(out))
    assert text.startswith("y 3\ny 4\n\n")
    assert "torch" in json.loads(text.strip().splitlines()[-1])
    assert len(out.read_text().splitlines()) == 2
    assert run(monkeypatch, capsys, "--seeds", "4", "3", "--models", "y", "--out", str(out)).startswith("y 4\ny 3\n")
    assert len(out.read_text().splitlines()) == 2


def test_save_is_offered_where_the_experiment_can(monkeypatch, capsys, tmp_path):
    run(monkeypatch, capsys, "--seeds", "0", "--models", "x", "--save", str(tmp_path), compute=one_that_saves)
    assert saved == [tmp_path]
    with pytest.raises(SystemExit):
        run(monkeypatch, capsys, "--save", str(tmp_path))


def test_unknown_models_are_refused(monkeypatch, capsys):
    with pytest.raises(SystemExit) as stop:
        run(monkeypatch, capsys, "--models", "z")
    assert stop.value.code == 2


@pytest.mark.parametrize("module", [monotonicity, fairness, robustness])
def test_every_cell_is_one_call(module):
    made = module.cells([0, 1], list(module.MODES))
    assert len({json.dumps(cell, sort_keys=True) for cell in made}) == len(made)
    names = set(module.one.__code__.co_varnames[: module.one.__code__.co_argcount]) - {"save"}
    assert all(set(cell) == names for cell in made)


def test_tables_of_made_up_rows():
    rows = [
        {"model": mode, "alpha": alpha, "omega": omega, "seed": 0, "r2": 0.9, "limit": 0.95, "below": 0.05,
         "status": "proved", "fit_seconds": 1.0}
        for mode in monotonicity.MODES for alpha, omega in monotonicity.TASKS
    ]  # fmt: skip
    text = monotonicity.table(rows)
    assert text.count("0.9500") == 9 and "paper: 9 of 9 proved; mean below the limit 0.0500" in text
    fair = [
        {"model": mode, "eps": 0.0 if mode in ("unconstrained", "unaware") else 0.4, "accuracy": 0.7, "log_loss": 0.6,
         "variation": 0.1, "status": "none" if mode.startswith("un") else "unknown", "fit_seconds": 1.0,
         "constant": 0.55}
        for mode in fairness.MODES
    ]  # fmt: skip
    text = fairness.table(fair)
    assert "| unconstrained | – | 0.7000" in text and "0/1" in text and "| constant | – | 0.5500 |" in text
    robust = {**robustness.measures(np.array([2.0, -2.0, 0.5, -0.5]), np.array([True, False, True, True]))}
    assert robust == {"clean": 0.75, "verified": 0.5, "balanced_verified": pytest.approx(2 / 3), "constant": 0.75}
    row = {"model": "digits", "status": "proved", "fit_seconds": 1.0, **robust, "verified_first_1000": 0.5}
    assert "| digits | 0.05 | 75.00 | 50.00 | 66.67 | 75.00 | 50.00 | 1.0 | 1/1 |" in robustness.table([row])
