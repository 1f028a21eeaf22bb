"""What the commands say and leave behind at their edges: remedies, rows outside bounds, a request to terminate."""

import signal
import sys
import time

import numpy as np
import pandas as pd
import pytest
from tests.forked import Forked
from typer.testing import CliRunner

import smilenn
from smilenn import Config, Domain, Feature, SmileRegressor
from smilenn.cli import app
from smilenn.errors import SmileError

pytestmark = pytest.mark.usefixtures("quick_module")
BASE = ["--target", "y", "--increasing", "x", "--epochs", "3", "--quiet"]


@pytest.fixture
def csv(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 60).round(3)
    path = tmp_path / "data.csv"
    pd.DataFrame({"x": x, "g": rng.choice(list("uvw"), 60), "y": (3 * x).round(3)}).to_csv(path, index=False)
    return path


def smile(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("seed", ["-1", str(2**32)])
def test_a_seed_that_is_none(csv, tmp_path, seed):
    code, _, err = smile("fit", csv, *BASE, "--seed", seed, "--out", tmp_path / "m")
    assert code == 2 and f"--seed {seed} is not a seed; write a whole number" in err
    assert not (tmp_path / "m").exists()
    with pytest.raises(SmileError, match="random_state must be a whole number"):
        SmileRegressor(increasing=["x"], random_state=int(seed)).fit(pd.DataFrame({"x": [1.0, 2.0]}), [1.0, 2.0])


def test_rows_outside_given_bounds_are_not_moved_silently(csv, tmp_path):
    count = int((pd.read_csv(csv)["x"] > 8).sum())
    _, _, err = smile("fit", csv, *BASE, "--bounds", "x:0:8", "--time-limit", "3", "--out", tmp_path / "m")
    assert f"smile: warning: {count} rows lie outside --bounds x:0:8" in err
    _, _, err = smile("fit", csv, *BASE, "--bounds", "x:0:20", "--time-limit", "3", "--out", tmp_path / "n")
    assert err == ""


def test_messages_name_the_remedy(tmp_path):
    domain = Domain((Feature("x", lo=0, hi=1), Feature("g", "category", categories=("u", "v", "w"))))
    with pytest.raises(SmileError, match=r"lacks the columns 'x', 'g'; add or rename them: the data has 'z'"):
        domain.encode(pd.DataFrame({"z": [1.0]}))
    with pytest.raises(SmileError, match=r"unknown category 'q'; correct it or drop the row \(known: 'u', 'v', 'w'\)"):
        domain.encode(pd.DataFrame({"x": [0.5], "g": ["q"]}))
    quick = Config(pretrain_epochs=5, epochs=1, posttrain_rounds=1)
    x = np.linspace(0, 1, 30)
    none = SmileRegressor(increasing=["x"], config=quick, certify_limit=0).fit(pd.DataFrame({"x": x}), x)
    none.save(tmp_path / "m")
    code, _, err = smile("check", tmp_path / "m")
    assert code == 2 and "m' has no certificate.json; `smile prove` writes one where it can." in err
    code, _, err = smile("check", tmp_path / "nothing")
    assert code == 2 and "There is no model folder" in err
    (tmp_path / "m" / "model.json").write_bytes(b"{}")
    code, _, err = smile("prove", tmp_path / "m")
    assert code == 1 and "its hash differs; restore it or fit again." in err


SMALL = """
from dataclasses import replace
from smilenn.cli import main
from smilenn.estimators.base import SmileEstimator

designed = SmileEstimator._design
SmileEstimator._design = lambda self: replace(designed(self), members=1)
main()
"""  # `smile` with ensembles of one member


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently there")
def test_a_request_to_terminate_keeps_the_best_model(csv, tmp_path):
    arguments = ["fit", csv, "--target", "y", "--increasing", "x", "--epochs", "100000", "--out", tmp_path / "m"]
    with Forked(SMALL, *arguments) as process:
        first = process.stderr.readline()  # training has begun
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
    assert first.startswith(("trees", "train")) and process.poll() == 130, first + err
    assert "Interrupted: the best model so far is saved" in out or "nothing was written" in err
    if "saved" in out:
        smilenn.load(tmp_path / "m")
    assert sorted(p.name for p in tmp_path.iterdir()) in (["data.csv"], ["data.csv", "m"])


def test_a_killed_run_continues_with_the_same_command(tmp_path):
    """SIGKILL leaves the checkpoint beside the model folder; the same command goes on from it and clears it away."""
    data, out = tmp_path / "data.csv", tmp_path / "model"
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 400)
    pd.DataFrame({"x": x, "y": x**3}).to_csv(data, index=False)
    arguments = ["fit", data, "--target", "y", "--increasing", "x", "--epochs", "150", "--out", out]
    checkpoint = tmp_path / "model.checkpoint"
    with Forked(SMALL, *arguments) as process:
        deadline = time.monotonic() + 60
        while not checkpoint.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
    assert checkpoint.exists() and not out.exists()
    (tmp_path / "model.checkpoint.part").write_bytes(b"a kill in the middle of the next checkpoint")
    code, said, err = smile(*arguments)
    assert code == 0, err
    assert "Continuing the interrupted run" in said
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "model"]


def test_a_limit_counts_from_the_beginning_of_the_command(monkeypatch):
    from smilenn.cli import fitting

    monkeypatch.setattr(fitting, "perf_counter", lambda: 115.0)
    model = SmileRegressor(increasing=["x"], time_limit=20.0)
    with fitting.limited(model, begun=100.0):
        assert model.time_limit == 5.0
    assert model.time_limit == 20.0
    with pytest.raises(KeyboardInterrupt), fitting.limited(model, begun=90.0):
        assert model.time_limit == fitting.LEAST_SECONDS  # reading has used it up
        raise KeyboardInterrupt
    assert model.time_limit == 20.0
    free = SmileRegressor(increasing=["x"])
    with fitting.limited(free, begun=0.0):
        assert free.time_limit is None
