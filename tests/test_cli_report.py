"""`smile report`, and what `smile fit` leaves for it: held-out rows, missing cells, values in the user's words."""

import functools
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import smilenn
from smilenn import Config, SmileRegressor
from smilenn.cli import app
from smilenn.model.folder import read_folder
from smilenn.report.svg import number

pytestmark = pytest.mark.usefixtures("quick_module")


def smile(*arguments):
    """Run a command in this process: exit code, standard output, standard error."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def table(n=160, seed=0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, n).round(3), "g": rng.choice(["no", "yes"], n)})
    return frame.assign(y=(3 * frame["x"] + rng.normal(0, 1, n)).round(3))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with data.csv and the model that `smile fit` made of it."""
    folder = tmp_path_factory.mktemp("fitted")
    table().to_csv(folder / "data.csv", index=False)
    code, out, err = smile(
        "fit",
        folder / "data.csv",
        "--target",
        "y",
        "--increasing",
        "x",
        "--fair",
        "g:40",
        "--out",
        folder / "model",
        "--epochs",
        5,
    )
    assert code in (0, 3), err
    assert f"To see a report: smile report {folder / 'model'} --data" in out
    assert "('g': 'no' or 'yes'.)" in out
    return folder


def test_fit_notes_which_rows_it_has_not_seen(fitted):
    note = json.loads(read_folder(fitted / "model")["training.json"])
    assert note["data"] == "data.csv" and note["rows"] == 160 and note["held_out"] == 32 and note["target"] == "y"
    assert smilenn.check(fitted / "model").exit_code == smilenn.load(fitted / "model").verdict_.exit_code


def test_report_measures_the_held_out_rows_of_the_fitted_file(fitted, tmp_path):
    code, out, err = smile(
        "report",
        fitted / "model",
        "--data",
        fitted / "data.csv",
        "-o",
        tmp_path / "r.html",
        "--card",
        tmp_path / "c.md",
    )
    assert code == 0, err
    assert out == f"Written: {tmp_path / 'r.html'}, {tmp_path / 'c.md'}\n"
    page, card = (tmp_path / "r.html").read_text("utf-8"), (tmp_path / "c.md").read_text("utf-8")
    assert "On 32 held-out rows" in page and "## Quality on 32 held-out rows" in card
    assert "<h1>model</h1>" in page
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.md", "r.html"]
    # the same rows as `smile fit` measured on
    model, frame = smilenn.load(fitted / "model"), table()
    from smilenn.cli.fitting import held_back_rows

    held = held_back_rows(np.zeros(len(frame)), 0.2, 0)
    score = model.score(frame.drop(columns="y")[held], frame["y"][held])
    assert f"<td>{number(score, 3)} (" in page


def test_report_of_other_rows_says_that_it_does_not_know_them(fitted, tmp_path):
    table(50, seed=3).to_csv(tmp_path / "other.csv", index=False)
    code, out, _ = smile(
        "report",
        fitted / "model",
        "--data",
        tmp_path / "other.csv",
        "--out",
        tmp_path / "r.html",
        "--name",
        "Mine",
        "--json",
    )
    record = json.loads(out)
    assert code == 0 and record["rows"] == 50 and record["report"].endswith("r.html") and record["card"] is None
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "does not know whether the model was trained on the rows measured here" in page and "<h1>Mine</h1>" in page


def test_report_without_a_target_measures_no_quality(fitted, tmp_path):
    table(50).drop(columns="y").to_csv(tmp_path / "rows.csv", index=False)
    code, _, err = smile(
        "report", fitted / "model", "--data", tmp_path / "rows.csv", "--out", tmp_path / "r.html", "-q"
    )
    assert code == 0 and "has no column 'y': the report measures no quality" in err
    code, out, err = smile("report", fitted / "model", "--out", tmp_path / "r.html", "-q")
    assert (code, out, err) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "No file to write was named; add --out report.html, --card card.md, or both."),
        (("--out", "r.html", "--references"), "--references needs the file that the model was fitted on"),
        (("--out", "r.html", "--image", "8by8"), "--image 8by8 is not ROWSxCOLUMNS; write, for example, --image 28"),
        (("--out", "r.html", "--image", "0x9"), "--image 0x9 is not ROWSxCOLUMNS"),
        (("--out", "r.html", "--image", "3x3"), "An image of 3x3 has 9 pixels, not 2."),
        (("--out", ".", "--data", "other.csv"), "'.' is a folder; name a file to write."),
        (
            ("--out", "-", "--data", "other.csv"),
            "--out: nothing is written to the standard output; name a file to write.",
        ),
        (("--out", "r.html", "--data", "nowhere.csv"), "There is no file 'nowhere.csv'; check the path."),
        (("--out", "r.html", "--data", "lacks.csv"), "The data lacks the column 'g'"),
        (("--out", "r.html", "--data", "hole.csv"), "Row 4, column 'x' is missing; drop the row or fill it in."),
        (("--out", "r.html", "--data", "other.csv", "--references"), "give the file it read, 'data.csv'."),
        (("--out", "r.html", "--data", "blind.csv", "--references"), "has no target column 'y', which --references"),
    ],
)
def test_bad_input_to_report(fitted, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    frame = table(40, seed=5)
    frame.to_csv("other.csv", index=False)
    frame.drop(columns="g").to_csv("lacks.csv", index=False)
    frame.drop(columns="y").to_csv("blind.csv", index=False)
    frame.assign(x=frame["x"].where(frame.index != 2)).to_csv("hole.csv", index=False)
    code, out, err = smile("report", fitted / "model", *arguments)
    lines = err.strip().splitlines()
    assert code == 2 and out == "" and len(lines) == 1 and message in lines[0], err
    assert not (tmp_path / "r.html").exists()


def test_report_of_an_altered_model(fitted, tmp_path):
    import shutil

    shutil.copytree(fitted / "model", tmp_path / "m")
    (tmp_path / "m" / "training.json").write_text("{}")
    code, _, err = smile("report", tmp_path / "m", "--out", tmp_path / "r.html")
    assert code == 1 and "its hash differs" in err and not (tmp_path / "r.html").exists()


def test_report_interrupted_leaves_nothing(fitted, tmp_path, monkeypatch):
    from smilenn.cli import reporting

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(reporting, "write_report", interrupted)
    code, _, err = smile("report", fitted / "model", "--out", tmp_path / "r.html")
    assert code == 130 and "interrupted; nothing was written" in err and not list(tmp_path.iterdir())


# ---- missing cells --------------------------------------------------------------------------------------------------


def holes() -> pd.DataFrame:
    frame = table(120, seed=2)
    return frame.assign(x=frame["x"].where(frame.index % 7 != 0), g=frame["g"].where(frame.index % 11 != 0))


def test_missing_cells_are_refused_or_filled(tmp_path):
    data = tmp_path / "data.csv"
    holes().to_csv(data, index=False)
    rest = ("--target", "y", "--increasing", "x", "--epochs", 2, "--certify-limit", 0, "--out", tmp_path / "m")
    code, _, err = smile("fit", data, *rest, "--missing", "raise")
    assert code == 2 and "row 2, column 'x' is missing; drop the row, fill it in, or use --missing fill." in err
    holes().assign(y=holes()["x"]).to_csv(tmp_path / "target.csv", index=False)
    code, _, err = smile("fit", tmp_path / "target.csv", *rest)
    assert code == 2 and "row 2, column 'y' is missing; drop the row or fill it in.\n" in err
    code, _, err = smile("fit", data, *rest, "--missing", "fill")
    assert code == 3, err
    model = smilenn.load(tmp_path / "m")
    assert model.missing == "fill" and set(model.fill_) == {"x", "g"}
    code, _, err = smile("predict", tmp_path / "m", data, "--out", tmp_path / "p.csv", "--chunk", 7)
    assert code == 0, err
    predicted = pd.read_csv(tmp_path / "p.csv")["prediction"]
    assert np.allclose(predicted, model.predict(holes().drop(columns="y")))
    code, _, err = smile("report", tmp_path / "m", "--data", data, "--out", tmp_path / "r.html")
    assert code == 0, err
    assert "Missing cells are filled before prediction" in (tmp_path / "r.html").read_text("utf-8")


def test_a_missing_target_is_never_filled(tmp_path):
    frame = table(30)
    frame.assign(y=frame["y"].where(frame.index != 4)).to_csv(tmp_path / "data.csv", index=False)
    code, _, err = smile(
        "fit", tmp_path / "data.csv", "--target", "y", "--increasing", "x", "--out", tmp_path / "m", "--missing", "fill"
    )
    assert code == 2 and "row 6, column 'y' is missing" in err


def test_stray_text_among_numbers_is_found_beside_missing_cells(tmp_path):
    frame = holes().astype({"x": object})
    frame.loc[5, "x"] = "much"
    frame.to_csv(tmp_path / "data.csv", index=False)
    code, _, err = smile(
        "fit", tmp_path / "data.csv", "--target", "y", "--increasing", "x", "--out", tmp_path / "m", "--missing", "fill"
    )
    assert code == 2 and "row 7, column 'x' holds the text 'much' among numbers" in err


# ---- the other commands ---------------------------------------------------------------------------------------------


def test_predict_as_json(fitted, tmp_path):
    code, out, err = smile("predict", fitted / "model", fitted / "data.csv", "--out", tmp_path / "p.csv", "--json")
    assert code == 0 and err == ""
    assert json.loads(out) == {"model": str(fitted / "model"), "rows": 160, "moved": 0, "out": str(tmp_path / "p.csv")}


def test_the_checker_names_the_values_of_a_two_valued_column(fitted):
    code, out, _ = smile("check", fitted / "model")
    assert code == smilenn.load(fitted / "model").verdict_.exit_code
    assert re.search(r'^  "g" 0 for "no", 1 for "yes" \(binary\)$', out, re.MULTILINE)


def test_help_lists_every_command():
    done = subprocess.run(
        [sys.executable, "-m", "smilenn", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "100", "NO_COLOR": "1", "PATH": ""},
    )
    for name in ("fit", "predict", "prove", "check", "report", "reproduce", "bench", "demo"):
        assert re.search(rf"\b{name}\b", done.stdout), name


def test_a_model_saved_from_python_has_no_note(tmp_path):
    frame = table(60)
    config = Config(pretrain_epochs=2, epochs=2, posttrain_rounds=0)
    model = SmileRegressor(increasing=["x"], config=config, certify_limit=0, random_state=0)
    model.fit(frame.drop(columns="y"), frame["y"]).save(tmp_path / "m")
    frame.to_csv(tmp_path / "d.csv", index=False)
    code, _, err = smile(
        "report", tmp_path / "m", "--data", tmp_path / "d.csv", "--references", "-o", tmp_path / "r.html"
    )
    assert code == 2 and err.rstrip().endswith("give the file it read.")


def test_a_demo_interrupted_at_its_report_keeps_the_model(tmp_path, monkeypatch):
    from smilenn.cli import demonstration

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    config = Config(pretrain_epochs=2, epochs=2, posttrain_rounds=0)
    quick = functools.partial(SmileRegressor, config=config, certify_limit=1, time_limit=5)
    monkeypatch.setattr(demonstration, "SmileRegressor", quick)
    monkeypatch.setattr(demonstration, "write_report", interrupted)
    code, out, _ = smile("demo", "--out", tmp_path / "m")
    assert code == 130 and "no report was written; the model is saved in" in out
    smilenn.load(tmp_path / "m")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m"]
