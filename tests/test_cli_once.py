"""The bytes of a folder are checked once by every command; a search for a certificate checks what it found."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.conftest import checker_apart, small_ensembles
from typer.testing import CliRunner

from smilenn.certify import process
from smilenn.cli import app
from smilenn.model.folder import dump_json, read_folder, write_folder


@pytest.fixture(scope="module", autouse=True)
def small():
    """Small ensembles, and the checker in its own process."""
    with small_ensembles(), checker_apart():
        yield


@pytest.fixture
def checks(monkeypatch):
    """The folders that were put before the checker, one entry for each process that it was started in."""
    found = []
    real = process.subprocess.run

    def run(command, **options):
        found.append(command[-1])
        return real(command, **options)

    monkeypatch.setattr(process.subprocess, "run", run)
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("once")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 1, 240), "g": rng.choice(["u", "v"], 240)})
    frame.assign(y=3 * frame["x"] + rng.normal(0, 0.1, 240)).to_csv(folder / "rows.csv", index=False)
    smile("fit", folder / "rows.csv", "--target", "y", "--increasing", "x", "--epochs", 2, "--out", folder / "m")
    return folder


def smile(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    return done.output


def test_fit_checks_what_it_certified_and_saves_it(place, checks, tmp_path):
    smile("fit", place / "rows.csv", "--target", "y", "--increasing", "x", "--epochs", 2, "--out", tmp_path / "m")
    assert len(checks) == 1


@pytest.mark.parametrize("options", [(), ("--quiet",), ("--json",), ("--reference",)])
def test_check_checks_once(place, checks, options):
    smile("check", place / "m", *options)
    assert checks == [str(place / "m")]


def test_a_folder_that_states_more_than_it_proves_is_checked_once_too(place, checks, tmp_path):
    files = dict(read_folder(place / "m"))
    stated = json.loads(files["properties.json"])
    stated["properties"][0] |= {"increasing": [], "decreasing": ["x"]}
    write_folder(tmp_path / "n", {**files, "properties.json": dump_json(stated)})
    done = CliRunner().invoke(app, ["check", str(tmp_path / "n")])
    assert done.exit_code == 3 and "does not cover" in done.output
    assert checks == [str(tmp_path / "n")]


def test_commands_that_load_a_model_check_it_once(place, checks, tmp_path):
    rows = place / "rows.csv"
    for command in (
        ("predict", place / "m", rows, "--out", tmp_path / "p.csv"),
        ("report", place / "m", "--data", rows, "--out", tmp_path / "r.html", "--card", tmp_path / "card.md"),
        ("prove", place / "m"),
    ):
        checks.clear()
        smile(*command)
        assert checks == [str(place / "m")], command[0]


def test_the_demo_checks_its_folder_once(checks, tmp_path, monkeypatch):
    from smilenn.cli import demonstration

    monkeypatch.setattr(demonstration, "ROWS", 200)
    monkeypatch.setattr(demonstration, "write_report", lambda *_, **__: None)
    out = smile("demo", "--out", tmp_path / "m")
    assert f"The checker, on '{tmp_path / 'm'}': certified" in out.replace("\n", "")
    assert checks.count(str(tmp_path / "m")) == 1
