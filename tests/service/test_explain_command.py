"""``smile explain`` says in rows and options what `recourse` and `reasons` say."""

import json

import pytest
from tests.service.conftest import table
from typer.testing import CliRunner

import smilenn
from smilenn.cli import app


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    table()[0].iloc[:4].to_csv(path, index=False)
    return path


def explain(folder, rows, *options):
    return CliRunner().invoke(app, ["explain", str(folder), str(rows), *options])


def test_numbers(regressor_folder, rows):
    model = smilenn.load(regressor_folder)
    goal = float(model.predict(table()[0]).max()) - 0.5
    asked = ["--at-least", repr(goal), "--change", "income:up"]
    found = explain(regressor_folder, rows, *asked)
    assert found.exit_code == 0, found.output
    assert "Row 2: what each feature alone could add to the prediction\n" in found.output
    assert "measured, not proved" in found.output
    lines = [json.loads(line) for line in explain(regressor_folder, rows, *asked, "--json").output.splitlines()]
    assert [line["row"] for line in lines] == [2, 3, 4, 5]
    for place, line in enumerate(lines):
        wanted = model.recourse(table()[0].iloc[[place]], at_least=goal, change={"income": "up"})
        assert line["sentence"] == wanted.sentence and line["reached"] == wanted.reached
    assert len(explain(regressor_folder, rows, *asked, "--json", "--rows", "2").output.splitlines()) == 2


def test_numbers_without_a_goal_are_explained_towards_a_higher_one(regressor_folder, rows):
    found = explain(regressor_folder, rows, "--rows", "1")
    assert found.exit_code == 0 and found.output.startswith("Gains are towards a higher prediction"), found.output
    (line,) = explain(regressor_folder, rows, "--rows", "1", "--json").output.splitlines()
    wanted = smilenn.load(regressor_folder).reasons(table()[0].iloc[[0]], at_least=123.0)
    assert json.loads(line)["towards"] == "higher"
    assert [one["feature"] for one in json.loads(line)["reasons"]] == wanted["feature"].tolist()
    lower = explain(regressor_folder, rows, "--rows", "1", "--at-most", "0")
    assert "towards" not in lower.output and lower.exit_code == 0
    assert "Row 2: what each feature alone could take off the prediction\n" in lower.output


def test_classes(classifier_folder, rows):
    found = explain(classifier_folder, rows, "--to", "no", "--change", "income:down", "--rows", "1")
    assert found.exit_code == 0, found.output
    assert "'no'" in found.output or "No such change" in found.output
    assert "Row 2: what each feature alone could add to the log-odds of 'no'\n" in found.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--change", "income:up"], "Say what the change is to reach: --at-least or --at-most"),
        (["--at-least", "1", "--at-most", "2"], "one of the two"),
        (["--at-least", "1", "--change", "income"], "names no direction"),
        (["--at-least", "1", "--change", "income:sideways"], "neither up nor down nor a number"),
        (["--at-least", "1", "--change", "income:up", "--change", "income:down"], "twice"),
        (["--at-least", "1", "--change", "years:up"], "fitted: --increasing 'years'"),
        (["--at-least", "1", "--to", "yes"], "predicts numbers"),
    ],
)
def test_bad_options_get_one_sentence(regressor_folder, rows, options, words):
    found = explain(regressor_folder, rows, *options)
    assert found.exit_code == 2 and words in found.output and "Traceback" not in found.output
    assert found.output.strip().count("\n") == 0
