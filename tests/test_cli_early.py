"""Errors about options, paths and headers need no library but typer; errors about rows need no torch.

Time is never measured: modules that take long to import are blocked, and a command that reaches for one would say so.
"""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from smilenn import Config, Network, SmileRegressor
from smilenn.cli import app
from smilenn.model.folder import read_folder, write_folder

SLOW = ("torch", "sklearn", "scipy", "pandas", "numpy", "safetensors", "highspy", "joblib", "matplotlib")
BLOCKED = """
import json, sys
for name in {names!r}:
    sys.modules[name] = None  # every import of it fails
from typer.testing import CliRunner
from smilenn.cli import app
for command in json.load(sys.stdin):
    done = CliRunner().invoke(app, command)
    print(json.dumps([done.exit_code, done.output]))
"""


def without(names, commands):
    """Exit codes and outputs of commands in one process that cannot import these modules."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED.format(names=names)],
        input=json.dumps([[str(a) for a in command] for command in commands]),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env=os.environ | {"COLUMNS": "300", "NO_COLOR": "1"},
    )
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("early")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 1, 60), "z": rng.uniform(0, 1, 60)})
    config = Config(pretrain_epochs=2, epochs=1)
    model = SmileRegressor(increasing=["x"], config=config, network=Network(encoder="none"), random_state=0).fit(
        frame, 2 * frame["x"].to_numpy()
    )
    model.save(folder / "model")
    bare = {name: data for name, data in read_folder(folder / "model").items() if not name.startswith("certificate")}
    write_folder(folder / "uncertified", bare)
    frame.assign(y=frame["x"], g="u").to_csv(folder / "rows.csv", index=False)
    (folder / "file").write_text("")
    (folder / "empty").mkdir()
    return folder


def early(place):
    """Commands and what they say, before anything slow is imported."""
    rows, model, absent, new = place / "rows.csv", place / "model", place / "absent", place / "new"
    fit = ["fit", rows, "--target", "y", "--out", new]
    rise = [*fit, "--increasing", "x"]
    return [
        (["fit", rows, "--target", "y", "--increasing", "x", "--out", place / "empty"], "exists; remove it"),
        (["fit", rows, "--target", "y", "--increasing", "x", "--out", rows], "is a file; name a folder that does not"),
        (["fit", rows, "--target", "y", "--increasing", "x", "--out", "/proc/m"], "'/proc' cannot be written to"),
        (["fit", absent, "--target", "y", "--increasing", "x", "--out", new], "There is no file"),
        ([*rise, "--nonsense"], "No such option"),
        ([*rise, "--seed", "-1"], "--seed -1 is not a seed"),
        ([*rise, "--test", "1.5"], "--test 1.5 is not a share"),
        ([*rise, "--epochs", "-1"], "--epochs must be at least 0"),
        ([*rise, "--time-limit", "0"], "--time-limit must be more than 0"),
        ([*rise, "--spec", absent], "there is no such file"),
        ([*rise, "--from", absent], "There is no model folder"),
        ([*rise, "--from", place / "empty"], "'manifest.json' is missing"),
        ([*rise, "--from", model, "--bounds", "x:0:1"], "--from brings the domain"),
        ([*rise, "--bounds", "x:1"], "is not COLUMN:LO:HI"),
        ([*rise, "--keep-na", "red"], "that text is a value anyway"),
        ([*rise, "--checkpoint", place], "is a folder"),
        ([*rise, "--output", "a", "--positive", "b"], "both say which class"),
        ([*rise, "--drop", "nope"], "--drop: "),
        ([*rise, "--bounds", "nope:0:1"], "--bounds: "),
        ([*rise, "--increasing", "y"], "is among the features: --increasing names it"),
        ([*fit, "--increasing", "nope"], "has no column 'nope'; it has 'x', 'z', 'g'"),
        ([*fit, "--fair", "g"], "lacks its ε"),
        ([*fit, "--fair", "g:much"], "'much' is not a number"),
        ([*fit, "--fair", "g:-1"], "-1 is negative; it must be 0 or more"),
        ([*fit, "--increasing", "z", "--decreasing", "z"], "'z' is both increasing and decreasing"),
        ([*fit, "--robust", "q"], "'q' is not a number"),
        ([*fit, "--quantile", "2"], "--quantile is [2.0]"),
        ([*fit, "--quantile", "0.1", "--quantile", "0.9", "--task", "classification"], "--quantile is for numbers"),
        (fit, "No property was asked for"),
        (["fit", rows, "--target", "nope", "--increasing", "x", "--out", new], "--target: "),
        (["predict", absent, rows, "--out", new], "There is no model folder"),
        (["predict", model, absent, "--out", new], "There is no file"),
        (["predict", model, rows, "--out", rows], "is the file that is read"),
        (["predict", model, rows, "--out", new, "--id", "nope"], "lacks the column 'nope', which --id names"),
        (["predict", model, place / "other.csv", "--out", new], "lacks the column 'z', which the model needs"),
        (["check", absent], "There is no model folder"),
        (["check", place / "empty"], "'manifest.json' is missing"),
        (["check", place / "uncertified"], "has no certificate.json"),
        (["check", model, "--key", absent], "absent"),
        (["prove", absent], "There is no model folder"),
        (["prove", model, "--prover", "luck"], "There is no prover 'luck'"),
        (["report", model], "No file to write was named"),
        (["report", model, "--out", new, "--references"], "--references needs the file"),
        (["report", model, "--out", new, "--image", "3"], "is not ROWSxCOLUMNS"),
        (["report", model, "--out", place / "file" / "r.html"], "is a file, so"),
        (["report", absent, "--out", new], "There is no model folder"),
        (["report", model, "--data", absent, "--out", new], "There is no file"),
        (["pack", absent, "--data", rows, "--out", new], "There is no model folder"),
        (["pack", model, "--data", absent, "--out", new], "There is no file"),
        (["pack", model, "--data", rows, "--out", place / "empty"], "is not a validation pack"),
        (["sign"], "Give a model folder and --key"),
        (["explain", absent, rows], "There is no model folder"),
        (["explain", model, absent], "There is no file"),
        (["explain", model, rows, "--at-least", "1", "--change", "x"], "names no direction"),
        (["explain", model, rows, "--at-least", "1", "--change", "x:far"], "neither up nor down nor a number"),
        (["explain", model, rows, "--at-least", "1", "--change", "q:up"], "no feature 'q'; it has 'x', 'z'"),
        (["explain", model, rows, "--to", "u"], "--to chooses a class, and this model predicts numbers"),
        (["explain", model, rows, "--change", "x:up"], "Say what the change is to reach: --at-least or"),
        (["explain", model, rows, "--at-least", "1", "--output", "q"], "There is no output 'q'"),
        (["export", absent, "--onnx", new], "There is no model folder"),
        (["export", model, "--onnx", place / "empty"], "is a folder"),
        (["export", model, "--onnx", new, "--rows", "0"], "--rows"),
        (["serve", absent], "There is no model folder"),
        (["serve", model, "--port", "70000"], "--port"),
        (["audit", absent, "--data", rows, "--fair", "g"], "There is no file"),
        (["guard", absent, "--data", rows, "--fair", "g:1", "--out", place / "new"], "There is no file"),
        (["guard", rows, "--fair", "g:1", "--out", place / "new"], "Give --data or --domain"),
        (["guard", rows, "--data", rows, "--fair", "g", "--out", place / "new"], "lacks its ε"),
        (["guard", rows, "--data", rows, "--fair", "q:1", "--out", place / "new"], "has no column 'q'"),
        (["guard", rows, "--data", rows, "--fair", "g:1", "--fair", "x:2", "--out", place / "new"], "one ε for all"),
        (["guard", rows, "--data", rows, "--fair", "g:1", "--classes", "a", "--out", place / "new"], "two classes"),
        (["guard", rows, "--data", rows, "--fair", "g:1", "--out", place / "empty"], "exists; remove it"),
        (["audit", rows, "--fair", "g"], "Give either --data or --domain"),
        (["audit", rows, "--data", rows], "Nothing is claimed"),
        (["audit", rows, "--data", rows, "--fair", "g:1", "--labels"], "--labels audits one column"),
        (["audit", rows, "--data", rows, "--fair", "g:much"], "'much' is not a number"),
        (["audit", rows, "--data", rows, "--increasing", "q"], "has no column 'q'"),
        (["audit", rows, "--data", rows, "--fair", "g", "--out", place / "empty"], "exists; remove it"),
        (["audit", rows, "--data", rows, "--fair", "g", "--time-limit", "-1"], "--time-limit -1.0 is not a number of"),
        (["demo", "--out", place / "empty"], "exists; remove it"),
        (["bench", "nothing"], "There is no benchmark 'nothing'"),
        (["bench", "--case", "fair-20x4"], "belong to smile bench proof"),
        (["bench", "proof", "--case", "nothing"], "There is no case 'nothing'"),
        (["bench", "proof", "--job", "nothing"], "There is no job 'nothing'"),
        (["bench", "proof", "--plot", absent / "p.png"], "There is no folder"),
        (["bench", "proof", "--plot", place / "p.png", "--job", "opt"], "The plot shows the job prove"),
        (["reproduce", "nothing", "--out", new], "There is no experiment 'nothing'"),
        (["reproduce", "tabular", "--out", place / "file"], "is a file; name a folder"),
        (["reproduce", "tabular", "--out", new, "--device", "abacus"], "There is no device 'abacus'"),
    ]


def test_options_paths_and_headers_are_judged_before_anything_slow_is_imported(place):
    (place / "other.csv").write_text("x,g\n1,u\n")
    cases = early(place)
    for (command, said), (code, out) in zip(cases, without(SLOW, [command for command, _ in cases]), strict=True):
        assert code == 2 and said in out and "should not happen" not in out, (command, out)
        assert len(out.strip().splitlines()) == 1, out
    assert not (place / "new").exists()


def test_help_and_version_need_typer_alone(place):
    commands = [command.callback.__name__ for command in app.registered_commands]
    asked = [["--help"], ["--version"], *([name, "--help"] for name in commands)]
    assert all(code == 0 for code, _ in without(SLOW, asked))
    done = subprocess.run(
        [sys.executable, "-c", "import sys; import smilenn.cli; print(sorted(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not any(f"'{name}'" in done.stdout for name in (*SLOW, "rich.console", "asyncio"))


def test_rows_are_judged_before_torch_is_imported(place):
    def written(name, text):
        (place / name).write_text("x,y,g\n" + text)
        return ["fit", place / name, "--out", place / "new", "--increasing", "x"]

    rules = place / "rules.toml"
    rules.write_text('[[property]]\nkind = "nothing"\n')
    good = "".join(f"{i},{i / 2},u\n" for i in range(20))
    cases = [
        (
            [*written("missing.csv", good + ",1,u\n"), "--target", "y", "--missing", "raise"],
            "row 22, column 'x' is missing",
        ),
        ([*written("text.csv", good + "some,1,u\n"), "--target", "y"], "holds the text 'some' among numbers"),
        ([*written("infinite.csv", good + "inf,1,u\n"), "--target", "y"], "give a finite number"),
        (
            [*written("long.csv", good + "1,1,u,9,9\n"), "--target", "y"],
            "line 22 has 5 cells, and the header 3",
        ),
        ([*written("none.csv", ""), "--target", "y"], "has a header but no rows"),
        ([*written("same.csv", "1,3,u\n2,3,u\n"), "--target", "y"], "has one value only, '3'"),
        ([*written("good.csv", good), "--target", "g"], "has one value only, 'u'"),
        (
            [*written("words.csv", "1,a,u\n2,b,u\n"), "--target", "y", "--task", "regression"],
            "it cannot be a regression",
        ),
        ([*written("rules.csv", good), "--target", "y", "--spec", rules], "rules.toml"),
    ]
    judged_without_torch(cases)


CELLS = {
    "oops": "holds the text 'oops' among numbers; correct the cell, or use --na.",
    "": "is missing",
    "inf": "is inf; give a finite number.",
}


def test_rows_for_a_model_are_judged_before_torch_is_imported(place):
    cases, model = [], place / "model"
    for cell, said in CELLS.items():
        table = place / f"cell-{cell}.csv"
        table.write_text(f"x,z,y\n0.5,0.5,1\n\n0.5,{cell},1\n0.25,0.5,1\n")
        cases += [
            (["predict", model, table, "--out", place / "new"], said),
            (["report", model, "--data", table, "--out", place / "new"], said),
            (["pack", model, "--data", table, "--out", place / "new"], said),
            (["explain", model, table, "--at-least", "1"], said),
        ]
    for out in judged_without_torch(cases):
        assert re.search(r"[Rr]ow 4\b", out) and "Row 0" not in out and "--category" not in out, out


def test_rows_of_a_good_table_are_left_to_the_model(place):
    """What is judged beforehand refuses nothing that a model would read: only then is torch asked for."""
    commands = [
        ["predict", place / "model", place / "rows.csv", "--out", place / "new"],
        ["report", place / "model", "--data", place / "rows.csv", "--out", place / "new"],
        ["explain", place / "model", place / "rows.csv", "--at-least", "1"],
    ]
    for code, out in without(("torch", "sklearn"), commands):
        assert code == 1 and "smile: " not in out.replace("smile: warning", ""), out


def judged_without_torch(cases):
    """Each command says this and ends with 2, in a process that can import neither torch nor scikit-learn; outputs."""
    found = without(("torch", "sklearn"), [command for command, _ in cases])
    for (command, said), (code, out) in zip(cases, found, strict=True):
        assert code == 2 and said in out and "should not happen" not in out, (command, out)
        assert out.startswith("smile: ") and out.count("smile: ") == 1, out
    return [out for _, out in found]


def test_options_that_depend_on_the_types_of_columns_are_judged_before_torch_is_imported(place):
    def rules(name, text):
        (place / name).write_text(f"[[property]]\n{text}\n")
        return ["--spec", place / name]

    data = place / "types.csv"
    lines = [f"{i},{i % 7},{i / 2},{'uv'[i % 2]},{'abc'[i % 3]},{i // 2 % 2}\n" for i in range(30)]
    data.write_text("x,z,y,g,three,two\n" + "".join(lines))
    digits, near = place / "digits.csv", 'kind = "robust"\ndelta = 1'
    lines = [f"{i},{digit},{half}\n" for i, (digit, half) in enumerate([(0, 0), (1, 0.5), (2, 1)] * 12)]
    digits.write_text("x,digit,half\n" + "".join(lines))
    number = ["fit", data, "--out", place / "new", "--target", "y"]
    two = ["fit", data, "--out", place / "new", "--target", "g", "--increasing", "x"]
    several = ["fit", data, "--out", place / "new", "--target", "three"]
    again = [
        "fit",
        place / "rows.csv",
        "--out",
        place / "new",
        "--target",
        "y",
        "--drop",
        "g",
        "--from",
        place / "model",
    ]
    cases = [
        ([*number, "--robust", "0.1"], "--robust 0.1 lacks its ε, in a regression the largest"),
        (
            ["fit", digits, "--out", place / "new", "--target", "digit", "--robust", "1"],
            "as in --robust 0.1:2; if 'digit' names classes, add --task classification.",
        ),
        (
            ["fit", digits, "--out", place / "new", "--target", "digit", *rules("r.toml", near)],
            "as in eps = 2; if 'digit' names classes, add --task classification.",
        ),
        (
            ["fit", digits, "--out", place / "new", "--target", "digit", "--robust", "1", "--task", "regression"],
            "as in --robust 0.1:2.",
        ),
        (["fit", digits, "--out", place / "new", "--target", "half", "--robust", "1"], "as in --robust 0.1:2."),
        ([*number, *rules("a.toml", 'kind = "monotone"\nincreasing = ["q"]')], "a.toml, property 1 (monotone): "),
        ([*number, *rules("b.toml", 'kind = "bounded"\nlo = 0\noutput = ["q"]')], "b.toml, property 1"),
        ([*number, *rules("c.toml", 'kind = "claim"\nthen = ["a.out >= a.q"]')], "c.toml"),
        ([*number, "--increasing", "x", "--positive", "u"], "--positive names one of two classes"),
        ([*number, "--increasing", "x", "--class-weight", "balanced"], "--class-weight is for one target of classes"),
        ([*number, "--increasing", "g"], "--increasing: 'g' holds the names 'u', 'v', which have no order"),
        ([*number, "--increasing", "x", "--output", "z"], "--output names 'z', but there is one only"),
        ([*number, "--increasing", "x", "--category", "x"], "its values have no order"),
        (
            [*number, "--increasing", "x", "--bounds", "x:9:1"],
            "--bounds x:9:1: the lowest value, 9, is above the highest",
        ),
        ([*two, "--output", "z"], "--output names 'z'; there are 'u', 'v'"),
        ([*two, "--positive", "z"], "--positive is 'z', which is not a class; the classes are 'u', 'v'"),
        ([*two, "--class-weight", "z:2"], "with a class of 'u', 'v'"),
        ([*two, "--class-weight", "u:much"], "'much' is not a number"),
        ([*two, "--class-weight", "u:-2"], "weights are finite and not negative"),
        ([*two, "--class-weight", "u:0"], "The weights leave"),
        ([*several, "--increasing", "x", "--positive", "a"], "--positive chooses one of two classes"),
        ([*several, "--increasing", "x"], "--output"),
        ([*again, "--decreasing", "x"], "keeps other properties"),
        ([*again, "--task", "classification"], "is a regression, but the options or the target ask for"),
        ([*again[:-4], "--from", place / "model"], "was fitted on the columns 'x', 'z'; the data has 'x', 'z', 'g'"),
    ]
    judged_without_torch(cases)
