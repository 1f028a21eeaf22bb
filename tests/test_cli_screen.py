"""Help that fits on a screen, and ``--config``: options from a file."""

import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import smilenn
from smilenn.cli import app
from smilenn.cli.guard import INSTEAD
from smilenn.cli.screen import RARE

COMMANDS = sorted(command.callback.__name__ for command in app.registered_commands)


def smile(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "80"})
    return done.exit_code, done.output


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 1, 60), "z": rng.uniform(0, 1, 60), "g": rng.choice(["u", "v"], 60)})
    frame.assign(y=frame["x"] * 3).to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def config(tmp_path, text):
    path = tmp_path / "fit.toml"
    path.write_text(text, encoding="utf-8")
    return path


# ---- help -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=["", *COMMANDS])
def test_help_fits_on_a_screen(command):
    code, out = smile(*command, "--help")
    lines = out.rstrip("\n").splitlines()
    assert code == 0 and len(lines) <= 50 and max(map(len, lines)) <= 80


def options_of(text):
    return set(re.findall(r"--[a-z][a-z-]+", text))


def test_help_all_shows_what_help_leaves_out():
    short, whole = options_of(smile("fit", "--help")[1]), options_of(smile("fit", "--help-all")[1])
    assert whole - short == set(RARE["fit"]) and short <= whole
    assert not options_of(smile("fit", "--help")[1]) & set(RARE["fit"])  # asking for all changes nothing for good


@pytest.mark.parametrize("name", INSTEAD)
def test_an_option_that_is_gone_says_what_to_write(data, tmp_path, name):
    code, out = smile("fit", data, "--target", "y", "--out", tmp_path / "m", name, "1")
    assert code == 2 and f"No such option: {name}; write {INSTEAD[name]}; see smile fit --help." in out
    path = config(tmp_path, f"{name[2:]} = 1")
    code, out = smile("fit", data, "--target", "y", "--out", tmp_path / "m", "--config", path)
    assert code == 2 and f"there is no option '{name[2:]}'; {INSTEAD[name]} does this." in " ".join(out.split())


# ---- --config -------------------------------------------------------------------------------------------------------


def test_a_file_sets_any_option_and_the_command_line_wins(data, tmp_path):
    path = config(
        tmp_path,
        f"""
        target = "y"
        out = "{tmp_path / "m"}"
        increasing = ["x", "z"]
        fair = "g:100.5"
        epochs = 1
        seed = 5
        certify_limit = 0
        test = 0.25
        quiet = true
        json = true
        """,
    )
    code, out = smile("fit", data, "--config", path, "--seed", 7, "--increasing", "z")
    assert code == 3 and '"held_out_rows": 15' in out
    model = smilenn.load(tmp_path / "m")
    assert model.random_state == 7 and model.certify_limit == 0
    said = [item.sentence() for item in model.all_properties()]
    assert said[0].startswith("Raising 'z',") and "'x'" not in said[0] and "100.5" in said[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('incresing = ["x"]', "there is no option 'incresing'; did you mean 'increasing'?"),
        ("qqq = 1", "there is no option 'qqq'; smile fit --help-all lists the options."),
        ("help = true", "there is no option 'help'"),
        ("seed = [1, 2]", "seed takes one value, not a list."),
        ("seed = 0.5", "seed is '0.5', which --seed does not take: "),
        ("restarts = 0", "restarts is 0, which --restarts does not take: "),
        ('task = "magic"', "task is 'magic', which --task does not take: 'magic' is not one of 'auto', 'regression'"),
        ("time-limit = true", "time-limit is not true or false, unlike True."),
        ("quiet = 1", "quiet is true or false, unlike 1."),
        ("[increasing]\nx = 1", "increasing takes a text or a number, or a list of them."),
        ("increasing = [[1]]", "increasing takes a text or a number, or a list of them."),
        ("seed =", "is not a TOML file"),
    ],
)
def test_files_that_cannot_be_followed(data, tmp_path, text, message):
    path = config(tmp_path, text)
    code, out = smile("fit", data, "--target", "y", "--out", tmp_path / "m", "--increasing", "x", "--config", path)
    assert code == 2 and message in " ".join(out.split()) and "fit.toml" in "".join(out.split())


def test_a_file_that_is_not_there(data, tmp_path):
    code, out = smile("fit", data, "--target", "y", "--out", tmp_path / "m", "--config", tmp_path / "none.toml")
    assert code == 2 and "--config: there is no file" in out
