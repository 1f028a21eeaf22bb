"""Errors by their words: what was wrong, where, and what to do, for paths that no other test goes."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import smilenn
from smilenn import AlteredError, Config, Network, SmileError, SmileRegressor
from smilenn.cli import app
from smilenn.model.folder import dump_json, read_folder, write_folder

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = Config(pretrain_epochs=2, epochs=2, posttrain_rounds=0)


def smile(*arguments) -> tuple[int, str]:
    """Exit code and the one line on the standard error stream."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert isinstance(done.exception, SystemExit) and "Traceback" not in done.output
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    return done.exit_code, lines[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "data.csv' is empty; give a CSV file with a header and rows."),
        ("\n\n", "data.csv' is empty; give a CSV file with a header and rows."),
        ("x,,y\n1,2,3\n", "Column 2 of "),
        ("x,,y\n1,2,3\n", " has no name; name it in the header."),
        ("x,y\n", "has a header but no rows; add at least one."),
        ("x,x,y\n1,2,3\n", "has the column 'x' twice; rename or remove one of them."),
        ("x,y\n1,2,3\n4,5,6\n", "has a row with more cells than the header; check its separators."),
        ("x,y\n1,inf\n2,3\n", "row 2, column 'y' is inf; give a finite number."),
    ],
)
def test_tables_that_cannot_be_read(tmp_path, content, message):
    (tmp_path / "data.csv").write_text(content)
    code, said = smile("fit", tmp_path / "data.csv", "--target", "y", "--increasing", "x", "--out", tmp_path / "m")
    assert code == 2 and message in said
    assert not (tmp_path / "m").exists()


def test_a_folder_is_no_table(tmp_path):
    code, said = smile("fit", tmp_path, "--target", "y", "--increasing", "x", "--out", tmp_path / "m")
    assert code == 2 and said.endswith("is a folder; give a CSV file.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--fair", "g"), "--fair g lacks its ε; write COLUMN:EPS, such as --fair race:0.2."),
        (("--fair", "g:much"), "--fair g:much: 'much' is not a number; write one such as 0.2."),
        (("--robust", "x"), "--robust x: 'x' is not a number; write one such as 0.2."),
        (("--increasing", "x", "--bounds", "x:1"), "--bounds x:1 is not COLUMN:LO:HI"),
        (("--increasing", "x", "--test", "1"), "--test 1.0 is not a share; write one such as 0.2, or 0 for none."),
        (("--increasing", "x", "--seed", "-1"), "--seed -1 is not a seed"),
    ],
)
def test_options_that_say_nothing(tmp_path, arguments, message):
    pd.DataFrame({"x": [1.0, 2, 3], "g": list("aba"), "y": [1.0, 2, 3]}).to_csv(tmp_path / "d.csv", index=False)
    code, said = smile("fit", tmp_path / "d.csv", "--target", "y", "--out", tmp_path / "m", *arguments)
    assert code == 2 and message in said


def test_benchmarks_that_do_not_exist():
    assert smile("bench", "nothing")[1].startswith("smile: There is no benchmark 'nothing'; there are: ")
    assert "There is no case 'nothing'; there are: " in smile("bench", "proof", "--case", "nothing")[1]
    assert "belong to smile bench proof; leave them out." in smile("bench", "predict", "--job", "prove")[1]
    assert "belong to smile bench proof; leave them out." in smile("bench", "train", "--job", "prove")[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"out_of_bounds": "ignore"}, "out_of_bounds is 'auto', 'clamp', 'raise' or 'warn', not 'ignore'."),
        ({"missing": "guess"}, "missing is 'indicator', 'fill' or 'raise', not 'guess'."),
        ({"validation_fraction": 1.0}, "validation_fraction must lie in [0, 1), not 1.0."),
        ({"time_limit": 0}, "time_limit must be more than 0 seconds, not 0."),
        ({"certify_limit": -1}, "certify_limit must be 0 seconds or more, not -1."),
        ({"random_state": -1}, "random_state must be a whole number from 0 to 2³² − 1, not -1."),
        ({"network": Network(device="cuda:99")}, "device 'cuda:99' is not there"),
    ],
)
def test_parameters_out_of_range(options, message):
    with pytest.raises(SmileError) as caught:
        SmileRegressor(increasing=["x"], **options).fit(pd.DataFrame({"x": [0.0, 1.0]}), [0.0, 1.0])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((3, 0)), [1.0, 2, 3], "Found array with 0 feature(s) (shape=(3, 0)) while a minimum of 1 is"),
        (np.zeros((0, 1)), [], "The data has no rows; give at least two."),
        (np.ones((3, 1)), np.ones((3, 2, 1)), "y has 3 dimensions; give one column of values, or a table of several."),
        (np.ones((3, 1)), np.array([1j, 2, 3]), "Complex data not supported; give real numbers as targets."),
        (np.ones((3, 1)) * 1j, [1.0, 2, 3], "Complex data not supported; give real numbers."),
        (np.ones((3, 1)), [1.0, 2], "X has 3 rows but y has 2 values; give one value per row."),
        (np.ones((1, 1)), [1.0], "give at least two rows."),
    ],
)
def test_data_that_cannot_be_learned_from(X, y, message):
    with pytest.raises(SmileError) as caught:
        SmileRegressor().fit(X, y)
    assert message in str(caught.value)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "m"
    frame = pd.DataFrame({"x": np.linspace(0, 1, 30), "z": np.linspace(1, 0, 30)})
    model = SmileRegressor(increasing=["x"], config=QUICK, certify_limit=0, random_state=0)
    model.fit(frame, frame["x"].to_numpy()).save(folder)
    return folder


def altered(saved, tmp_path, **documents):
    """A copy of the folder in which documents were changed and bound again."""
    files = read_folder(saved)
    for name, change in documents.items():
        document = json.loads(files[f"{name}.json"])
        change(document)
        files[f"{name}.json"] = dump_json(document)
    write_folder(tmp_path / "m", files)
    return tmp_path / "m"


def test_folders_that_contradict_themselves(saved, tmp_path):
    def forgotten(document):
        document["params"]["increasing"] = ["z"]

    with pytest.raises(AlteredError, match=r"states properties that are not its claims; save the model again"):
        smilenn.load(altered(saved, tmp_path, model=forgotten))
    shutil.rmtree(tmp_path / "m")

    def unknown(document):
        document["estimator"] = "SmileGuesser"

    with pytest.raises(SmileError, match="holds a SmileGuesser; this version knows 'SmileRegressor', 'Sm"):
        smilenn.load(altered(saved, tmp_path, model=unknown))


def test_a_folder_that_lacks_a_document(saved, tmp_path):
    files = {name: data for name, data in read_folder(saved).items() if name != "history.json"}
    write_folder(tmp_path / "m", files)
    with pytest.raises(SmileError, match="The file 'history.json' is missing in .*; save the model again"):
        smilenn.load(tmp_path / "m")
