"""The commands: what they write, what they answer to bad input, and with which exit code."""

import copy
import hashlib
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from typer.testing import CliRunner

import smilenn
from smilenn import Config, Fair, Network, SmileClassifier, SmileRegressor
from smilenn.certify.about import assumptions, in_short
from smilenn.cli import app
from smilenn.cli.guard import exit_code
from smilenn.model.folder import read_folder, write_folder
from smilenn.report.standing import Standing
from smilenn.verdict import Proved, Rejected, Unknown, Violated

QUICK = Config(pretrain_epochs=20, epochs=3, learning_rate=1e-2, batch_size=16, posttrain_rounds=5)
# Commands are the subject here, not how well a model fits.
pytestmark = pytest.mark.usefixtures("quick_module")
SMALL = {"network": Network(hidden=3, embedding=2, backbone_sizes=(4,), members=2), "config": QUICK, "random_state": 0}


def table(n=80, seed=0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": rng.uniform(0, 10, n).round(3), "n": rng.integers(0, 5, n), "g": rng.choice(list("uvw"), n)}
    )
    return frame.assign(y=(3 * frame["x"] + rng.normal(0, 1, n)).round(3))


def smile(*arguments):
    """Run a command in this process: exit code, standard output, standard error."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "data.csv"
    table().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def regressor():
    frame = table()
    return SmileRegressor(increasing=["x"], **SMALL).fit(frame.drop(columns="y"), frame["y"])


@pytest.fixture
def model(regressor, tmp_path):
    regressor.save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def uncertified(regressor, tmp_path):
    """The same model, saved with a prover's word and no certificate."""
    again = copy.copy(regressor)
    again.verdict_ = smilenn.prove(regressor)
    again.save(tmp_path / "plain" / "model")
    return tmp_path / "plain" / "model"


def one_sentence(stderr: str) -> str:
    """The single line on the standard error stream, but for progress, which a busy machine has time to show."""
    lines = [line for line in stderr.strip().splitlines() if not line.startswith("predict · ")]
    assert len(lines) == 1, stderr
    assert lines[0].startswith("smile: ") and "Traceback" not in stderr
    return lines[0]


# ---- fit ------------------------------------------------------------------------------------------------------------

FIT = ("--epochs", "15", "--quiet")


def test_fit_writes_a_model_and_says_so(csv, tmp_path):
    code, out, err = smile(
        "fit",
        csv,
        "--target",
        "y",
        "--increasing",
        "x",
        "--fair",
        "g:50",
        "--out",
        tmp_path / "m",
        "--epochs",
        "15",
        "--bounds",
        "x:-1:12",
        "--drop",
        "n",
    )
    assert code in (0, 1, 3), err
    assert "Raising 'x', everything else equal, never lowers the predicted 'y'." in out
    assert "held-out rows: R²" in out and "Saved in" in out
    loaded = smilenn.load(tmp_path / "m")
    assert code == loaded.verdict_.exit_code == smilenn.check(tmp_path / "m").exit_code
    assert code != 0 or ("Certified: " in out and "[certified" in out and f"smile check {tmp_path / 'm'}" in out)
    assert "certify 0/2" in err
    assert loaded.domain_.columns == ("x", "g") and loaded.domain_.lo[0] == -1
    assert "train 1/15" in err  # plain lines: not a terminal
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "m"]


def test_fit_as_json_and_quiet(csv, tmp_path):
    code, out, err = smile("fit", csv, "--target", "y", "--robust", "5%:100", "--out", tmp_path / "m", "--json", *FIT)
    record = json.loads(out)
    assert code == 0 and record["status"] == "proved" and record["certified"] and record["bound"] == 0
    assert record["claims"][0]["certified"] and record["certificate"] == smilenn.check(tmp_path / "m").certificate
    assert record["quality"].keys() >= {"r2"} and record["held_out_rows"] == 16
    assert err == ""


def test_fit_a_classifier_from_texts(csv, tmp_path):
    frame = table()
    frame.assign(y=np.where(frame["y"] > 15, "good", "bad")).to_csv(csv, index=False)
    code, out, err = smile(
        "fit",
        csv,
        "--target",
        "y",
        "--robust",
        "0.01",
        "--category",
        "n",
        "--out",
        tmp_path / "m",
        "--epochs",
        "8",
        "--time-limit",
        "4",
    )
    assert code in (0, 1, 3), err
    assert "accuracy" in out and "odds" in out
    loaded = smilenn.load(tmp_path / "m")
    assert isinstance(loaded, SmileClassifier) and list(loaded.classes_) == ["bad", "good"]
    assert loaded.domain_.feature("n").kind == "category"
    code, _, err = smile("predict", tmp_path / "m", csv, "--out", tmp_path / "p.csv")
    assert code == 0, err
    predicted = pd.read_csv(tmp_path / "p.csv")
    assert list(predicted.columns) == ["prediction", "probability", "certified", "accepted", "radius"]
    sure = smilenn.load(tmp_path / "m").predict_certified(frame.drop(columns="y").astype({"n": str}))[1]
    assert (predicted["certified"] == sure).all()
    assert set(predicted["prediction"]) <= {"bad", "good"}
    assert ((predicted["probability"] > 0.5) == (predicted["prediction"] == "good")).all()


def test_a_model_that_learned_nothing_is_called_so():
    from smilenn.report.standing import Standing, measured

    def said(task, names, y, output):
        return Standing(len(y), True, 1, measured(task, names, y, output, y)).sentence()

    y = np.arange(20.0)[:, None]
    assert "hardly better than a constant" in said("regression", ("",), y, y * 0 + 9.5)
    assert "worse than a constant: loosen a rule" in said("regression", ("",), y, y * 0 + 30.0)
    short = Standing(20, True, 1, measured("regression", ("",), y, y * 0 + 30.0, y), limit=5.0)
    assert short.sentence().endswith(
        "a constant: training had at most 5 s (its time limit); give it more if it took so long, or loosen a rule "
        "(a larger ε)."
    )
    assert Standing.from_json(short.to_json()) == short
    assert "hardly" not in said("regression", ("",), y, y + 1)
    assert "hardly" not in said("regression", ("a", "b"), np.hstack([y, -y]), np.hstack([y, -y]) + 1)
    classes = (y > 15).astype(float)
    assert "hardly" in said("binary", ("",), classes, y * 0 - 1.0)
    assert "hardly" not in said("binary", ("",), classes, y - 15.5)
    three = np.eye(3)[np.arange(20) % 3]
    assert "hardly" in said("multiclass", tuple("abc"), three, three * 0)
    assert "hardly" not in said("multiclass", tuple("abc"), three, 3 * three)
    assert "hardly" in said("multilabel", tuple("abc"), three, three * 0 - 1)
    assert "hardly" not in said("multilabel", tuple("abc"), three, three - 0.5)
    both = np.hstack([y, y])
    assert "worse than a constant" in said("quantiles", ("q0.1", "q0.9"), both, both * 0 + 9.5)
    found = said("quantiles", ("q0.1", "q0.9"), both, both + np.array([-1.0, 1.0]))
    assert "hardly" not in found and "0.0% below q0.1, 100.0% below q0.9" in found


def test_fit_reads_a_property_file(csv, tmp_path):
    (tmp_path / "rules.toml").write_text('[[property]]\nkind = "fair"\nprotected = ["g"]\neps = 100\n')
    code, out, _ = smile(
        "fit",
        csv,
        "--target",
        "y",
        "--spec",
        tmp_path / "rules.toml",
        "--out",
        tmp_path / "m",
        "--epochs",
        "5",
        "--test",
        "0",
    )
    assert code in (0, 3)
    assert "Attribute-flip fairness" in out and "On 80 training rows" in out


def test_interrupted_fit_keeps_the_best_model(csv, tmp_path, monkeypatch):
    from smilenn.progress import PlainLines

    def stop(self, progress):
        if progress.phase == "train":
            raise KeyboardInterrupt

    monkeypatch.setattr(PlainLines, "__call__", stop)
    code, out, _ = smile(
        "fit",
        csv,
        "--target",
        "y",
        "--increasing",
        "x",
        "--out",
        tmp_path / "m",
        "--epochs",
        "5",
        "--checkpoint",
        tmp_path / "state",
    )
    assert code == 130
    assert "Interrupted: the best model so far is saved" in out
    smilenn.load(tmp_path / "m")
    assert (tmp_path / "state").exists()  # to continue from
    monkeypatch.undo()
    code, _, err = smile(
        "fit",
        csv,
        "--target",
        "y",
        "--increasing",
        "x",
        "--out",
        tmp_path / "m2",
        "--epochs",
        "5",
        "--checkpoint",
        tmp_path / "state",
    )
    assert code in (0, 1, 3), err
    assert not (tmp_path / "state").exists()


def change(**cells):
    """Set single cells: column=(row, value)."""

    def apply(frame):
        frame = frame.astype(object)
        for column, (row, value) in cells.items():
            frame.loc[row, column] = value
        return frame

    return apply


def with_twin_column(path):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0] + ",x", *(line + ",1" for line in lines[1:])]))


TOML = {
    "delta.toml": '[[property]]\nkind = "robust"\neps = 1\n[property.delta]\nx = [0.5, -0.5]\n',
    "empty.toml": '[[property]]\nkind = "claim"\nwhen = ["a.x >= b.x + 1000"]\nthen = ["a.out <= b.out"]\n',
    "token.toml": '[[property]]\nkind = "claim"\nwhen = ["a.x >> b.x"]\nthen = ["a.out <= b.out"]\n',
    "none.toml": "",
    "second.toml": '[[property]]\nkind = "monotone"\nincreasing = ["x"]\n'
    '[[property]]\nkind = "fair"\nprotected = ["sex"]\neps = 1\n',
}

BAD_FIT = [
    # the file
    (lambda p: p.unlink(), [], r"There is no file .*data\.csv"),
    (lambda p: p.write_text(""), [], r"data\.csv' is empty"),
    (lambda p: p.write_text("x,n,g,y\n"), [], "has a header but no rows"),
    (with_twin_column, [], "has the column 'x' twice"),
    (lambda p: p.write_bytes(b"x,y\n\xff\xfe,1\n"), [], "not a text file in UTF-8"),
    (lambda p: p.write_text("x,,y\n1,2,3\n"), [], "Column 2 of .* has no name"),
    (lambda p: p.write_text("x,y\n1,2\n1,2,3,4\n"), [], "line 3"),
    (lambda p: p.write_text("x,y\n1,2,3\n1,2,3\n"), [], "more cells than the header"),
    # cells: the header is row 1
    (change(x=(3, None)), ["--missing", "raise"], "row 5, column 'x' is missing"),
    (change(x=(3, "inf")), [], "row 5, column 'x' is inf"),
    (change(x=(3, "nan")), ["--missing", "raise"], "row 5, column 'x' is missing"),
    (change(x=(3, "much")), [], "row 5, column 'x' holds the text 'much' among numbers"),
    (change(y=(3, None)), [], "row 5, column 'y' is missing"),
    # columns
    (None, ["--target", "z"], "--target: .* has no column 'z'"),
    (None, ["--drop", "z"], "--drop: .* has no column 'z'"),
    (None, ["--category", "z"], "--category: .* has no column 'z'"),
    (None, ["--increasing", "y"], "target 'y' is among the features: --increasing names it"),
    (None, ["--fair", "y:1"], "target 'y' is among the features: --fair names it"),
    (lambda frame: frame[["y"]], [], "no feature left"),
    (lambda frame: frame.assign(y=1), [], "one value only"),
    (lambda frame: frame.assign(y=frame["g"]), ["--task", "classification"], "3 classes"),
    (lambda frame: frame.assign(y=frame["g"]), ["--task", "regression"], "holds text"),
    # properties
    (None, ["--increasing", "age"], "--increasing: .* has no column 'age'; it has 'x', 'n', 'g'"),
    (None, ["--increasing", "g"], "'g' is a category and its values have no order"),
    (None, ["--decreasing", "x"], "'x' is both increasing and decreasing"),
    (None, ["--fair", "g:-0.2"], "-0.2 is negative; it must be 0 or more"),
    (None, ["--fair", "g"], "lacks its ε"),
    (None, ["--fair", "g:little"], "'little' is not a number"),
    (None, ["--robust", "0.1"], "lacks its ε, in a regression"),
    (None, ["--robust=-0.1:1"], "it must be more than 0"),
    (None, ["--robust", "nan:1"], "'nan' is not a number"),
    (None, ["--bounds", "x:9:1"], "--bounds x:9:1: the lowest value, 9, is above the highest, 1"),
    (None, ["--bounds", "x:1"], "is not COLUMN:LO:HI"),
    (None, ["--bounds", "z:1:2"], "--bounds: .* has no column 'z'"),
    (None, ["--spec", "delta.toml"], "from 0.5 to -0.5; the lower end must come first"),
    (None, ["--spec", "empty.toml"], r"empty\.toml, property 1 \(claim\): No inputs satisfy the premise"),
    (None, ["--spec", "second.toml"], r"second\.toml, property 2 \(fair\): the rule names 'sex', which is not"),
    (None, ["--fair", "sex:1"], "--fair: .* has no column 'sex'"),
    (None, ["--spec", "token.toml"], r"token\.toml"),
    (None, ["--spec", "none.toml"], "states no property"),
    (None, ["--spec", "absent.toml"], r"absent\.toml.* cannot be read"),
    # the rest
    (None, ["--test", "1.5"], "--test 1.5 is not a share"),
    (None, ["--time-limit", "0"], "--time-limit must be more than 0"),
]


@pytest.mark.parametrize(("data", "options", "message"), BAD_FIT, ids=[m for _, _, m in BAD_FIT])
def test_bad_input_to_fit(csv, tmp_path, monkeypatch, data, options, message):
    monkeypatch.chdir(tmp_path)
    for name, text in TOML.items():
        (tmp_path / name).write_text(text)
    if data is not None:
        try:
            changed = data(csv)
        except (AttributeError, TypeError):
            changed = data(table())
        if isinstance(changed, pd.DataFrame):
            changed.to_csv(csv, index=False)
    before = sorted(p.name for p in tmp_path.iterdir())
    target = [] if "--target" in options else ["--target", "y"]
    code, out, err = smile("fit", csv, *target, "--increasing", "x", *options, "--out", tmp_path / "m", *FIT)
    assert code == 2, out + err
    # an error in the claim language is followed by the text and a mark under the bad token
    said = err.splitlines()[0] if {"token.toml", "empty.toml"} & set(options) else one_sentence(err)
    assert re.search(message, said), err
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_fit_without_a_property(csv, tmp_path):
    code, _, err = smile("fit", csv, "--target", "y", "--out", tmp_path / "m")
    assert code == 2 and "No property was asked for" in one_sentence(err)


def test_fit_refuses_an_existing_folder_before_any_work(csv, tmp_path):
    (tmp_path / "m").mkdir()
    code, _, err = smile("fit", tmp_path / "absent.csv", "--target", "y", "--increasing", "x", "--out", tmp_path / "m")
    assert code == 2 and "exists; remove it or choose another name" in one_sentence(err)
    assert list((tmp_path / "m").iterdir()) == []


# ---- predict --------------------------------------------------------------------------------------------------------


def test_predict_in_chunks_is_the_same(model, csv, tmp_path, regressor):
    for chunk in (7, 1000):
        code, out, _ = smile("predict", model, csv, "--out", tmp_path / f"p{chunk}.csv", "--chunk", chunk)
        assert code == 0 and "80 predictions written" in out
    small, large = (pd.read_csv(tmp_path / f"p{chunk}.csv") for chunk in (7, 1000))
    assert list(small.columns) == ["prediction"]
    assert np.allclose(small, large, rtol=1e-12)
    assert np.allclose(large["prediction"], regressor.predict(table()), rtol=1e-12)


BAD_PREDICT = [
    (lambda frame: frame.drop(columns="g"), "lacks the column 'g'"),
    (change(g=(33, "z")), r"data\.csv': Row 35, column 'g' holds the unknown category 'z'"),
    (change(x=(33, "much")), "Row 35, column 'x' holds the text 'much'"),
    (change(x=(33, None)), "Row 35, column 'x' is missing"),
    (change(g=(33, None)), "Row 35, column 'g' is missing"),
    (change(n=(33, 1.5)), "Row 35, column 'n' holds 1.5; it must be a whole number"),
    (lambda frame: frame.iloc[:0], "has a header but no rows"),
]


@pytest.mark.parametrize(("data", "message"), BAD_PREDICT, ids=[m for _, m in BAD_PREDICT])
def test_bad_input_to_predict(model, csv, tmp_path, data, message):
    data(table()).to_csv(csv, index=False)
    code, _, err = smile("predict", model, csv, "--out", tmp_path / "p.csv", "--chunk", 10)
    assert code == 2
    assert re.search(message, one_sentence(err)), err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "model"]


def test_predict_does_not_overwrite_what_it_reads(model, csv, tmp_path):
    before = csv.read_bytes()
    code, _, err = smile("predict", model, csv, "--out", csv)
    assert code == 2 and "is the file that is read" in one_sentence(err)
    assert csv.read_bytes() == before
    code, _, err = smile("predict", model, csv, "--out", tmp_path)
    assert code == 2 and "is a folder" in one_sentence(err)


def test_rows_outside_the_domain(model, csv, tmp_path):
    table().assign(x=1000.0).to_csv(csv, index=False)
    assert smile("predict", model, csv, "--out", tmp_path / "p.csv")[0] == 0  # clamping carries monotonicity
    code, _, err = smile("predict", model, csv, "--out", tmp_path / "q.csv", "--out-of-bounds", "raise")
    assert code == 2 and "outside the domain" in one_sentence(err)
    code, _, err = smile("predict", model, csv, "--out", tmp_path / "q.csv", "--out-of-bounds", "warn")
    assert code == 0 and "smile: warning: Row 2" in err


# ---- prove ----------------------------------------------------------------------------------------------------------


def test_prove_writes_a_new_verdict_and_a_certificate(uncertified):
    before = json.loads((uncertified / "verdict.json").read_text())
    assert before["status"] == "proved" and "certificate" not in before
    code, out, err = smile("prove", uncertified)
    assert code == 0 and "Certified: " in out and "[certified" in out and "certify 0/1" in err
    after = json.loads((uncertified / "verdict.json").read_text())
    assert after["status"] == "proved" and after["certificate"] and after["weights"] == before["weights"]
    assert smilenn.load(uncertified).verdict_.certificate == after["certificate"]
    assert [p.name for p in uncertified.parent.iterdir()] == ["model"]
    code, out, _ = smile("prove", uncertified, "--json", "--again", "--time-limit", 5)
    assert code == 0 and json.loads(out)["certified"]


def test_what_is_certified_is_not_proved_twice(model, monkeypatch):
    import smilenn.estimators.verdict_mixin

    def fail(*arguments, **options):
        raise AssertionError("searched again")

    monkeypatch.setattr(smilenn.estimators.verdict_mixin, "prove", fail)
    before = (model / "manifest.json").read_bytes()
    code, out, _ = smile("prove", model)
    assert code == 0 and "The checker accepts the certificate in the folder" in out and "[certified" in out
    assert (model / "manifest.json").read_bytes() == before
    with pytest.raises(AssertionError, match="searched again"):
        smile("prove", model, "--again")


def test_a_certificate_stays_where_no_time_was_left_for_another(model, monkeypatch):
    from smilenn.deadline import Late

    def late(*arguments, **options):
        raise Late

    monkeypatch.setattr("smilenn.certify.certify.certify", late)
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    code, out, _ = smile("prove", model, "--again")
    assert code == 0 and "the folder keeps the certificate" in out and "Certified: " in out
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before


def test_a_solvers_word_alone_is_not_done_work(csv, tmp_path):
    code, out, _ = smile(
        "fit",
        csv,
        "--target",
        "y",
        "--robust",
        "5%:100",
        "--out",
        tmp_path / "m",
        "--epochs",
        "15",
        "--certify-limit",
        "0",
    )
    assert code == 3 and "Proved by" in out and "Not certified: No certificate was asked for" in out
    assert smilenn.load(tmp_path / "m").certificate_ is None
    assert not (tmp_path / "m" / "certificate.json").exists()
    assert smile("prove", tmp_path / "m")[0] == 0


def test_check_accepts_what_was_certified_and_nothing_else(model, uncertified, tmp_path):
    code, _, err = smile("check", uncertified)
    assert code == 2 and "certificate.json" in one_sentence(err)
    assert smile("prove", model)[0] == 0
    code, out, _ = smile("check", model, "--reference")
    assert code == 0 and "Certified" in out and "reference checker agrees" in out
    assert out.count(in_short(assumptions(pinned=False))) == 1
    (said,) = smilenn.load(model).certificate_.sentences  # made from the rows, unlike a comment
    assert "in words:\n  Raising 'x'" in out and said in out and said.endswith("[certified]")
    code, out, _ = smile("check", model, "--json")
    assert json.loads(out)["sentences"] == [said]
    assert code == 0 and json.loads(out)["status"] == "proved" and len(json.loads(out)["certificate"]) == 64
    assert json.loads(out)["assumed"] == [item.line for item in assumptions(pinned=False)]
    assert smilenn.check(model).violation_bound < 1e-9
    assert smilenn.load(model).verdict_.certificate == smilenn.check(model).certificate
    again = tmp_path / "again"
    smilenn.load(model).save(again)  # the certificate goes along
    assert smile("check", again)[0] == 0
    broken = tmp_path / "broken"
    shutil.copytree(model, broken)
    (broken / "certificate.json").write_bytes((broken / "certificate.json").read_bytes() + b" ")
    code, out, _ = smile("check", broken)
    assert code == 1 and "Rejected" in out


def test_the_word_certified_is_not_believed_from_a_file(uncertified):
    """verdict.json and the manifest edited consistently: loading asks the checker, which finds no certificate."""
    from smilenn.model.folder import dump_json, read_folder, write_folder

    files = read_folder(uncertified)
    forged = {**json.loads(files["verdict.json"]), "certificate": "0" * 64}
    write_folder(uncertified, {**files, "verdict.json": dump_json(forged)}, overwrite=True)
    assert smilenn.load(uncertified).verdict_.status == "unknown"
    write_folder(uncertified, files, overwrite=True)
    assert smile("prove", uncertified)[0] == 0
    write_folder(uncertified, {**read_folder(uncertified), "verdict.json": dump_json(forged)}, overwrite=True)
    checked = smilenn.load(uncertified).verdict_.certificate
    assert checked == hashlib.sha256(read_folder(uncertified)["certificate.json"]).hexdigest()


def test_check_compares_the_certificate_with_the_stated_properties(model):
    from smilenn.model.folder import dump_json, read_folder, write_folder

    files = read_folder(model)
    stated = json.loads(files["properties.json"])
    stated["claims"][0]["when"] = []
    write_folder(model, {**files, "properties.json": dump_json(stated)}, overwrite=True)
    code, out, _ = smile("check", model)
    assert code == 1 and "other claims" in out


def test_prove_shows_a_counterexample_in_the_users_columns(regressor, tmp_path):
    from smilenn.properties import Monotone
    from smilenn.reason import told
    from smilenn.verdict import Unknown

    wrong = SmileRegressor(
        **regressor.get_params(deep=False) | {"properties": [Monotone(decreasing=["x"])], "increasing": ()}
    )
    wrong.__dict__.update({k: v for k, v in vars(regressor).items() if k.endswith("_")})  # the network, not the verdict
    wrong.claims_, wrong.verdict_ = wrong.lower(wrong.all_properties()), Unknown(why=told("not proved yet"))
    wrong.save(tmp_path / "model")
    code, out, _ = smile("prove", tmp_path / "model")
    assert code == 1
    assert "Violated: a.out - b.out <= 0 fails by" in out
    assert re.search(r"^x \* +[\d.]+ +[\d.]+$", out, re.MULTILINE)
    assert re.search(r"^the predicted 'y' +[-\d.]+ +[-\d.]+$", out, re.MULTILINE)
    assert re.search(r"^g +[uvw] +[uvw]$", out, re.MULTILINE)
    loaded = smilenn.load(tmp_path / "model")
    assert loaded.verdict_.status == "violated"
    example = loaded.verdict_.counterexample
    assert np.allclose(loaded.net_.predict(example.x), example.outputs, rtol=1e-9)


def test_prove_unknown_prints_the_checked_bound(tmp_path):
    frame = table()
    rough = Config(
        pretrain_epochs=3, epochs=0, posttrain_rounds=0, feasible_start=False, repair=False, least_quality=0.0
    )
    options = SMALL | {
        "config": rough,
        "properties": Fair(["g"], 0.001),
        "network": SMALL["network"].changed(boxes="paper"),
    }
    SmileRegressor(**options).fit(frame.drop(columns="y"), frame["y"]).save(tmp_path / "m")
    code, out, _ = smile("prove", tmp_path / "m", "--time-limit", 5)
    checked = smilenn.check(tmp_path / "m")
    assert code in (1, 3) and checked.status == "unknown"
    assert re.search(r"\[not certified: may fail, by at most [\d.e-]+ in 'y'\]", out)
    bound = float(re.search(r"by at most ([\d.e-]+) in 'y'\]", out).group(1))
    assert checked.bound <= bound <= 1.1 * checked.bound  # printed with few digits, rounded up
    assert smilenn.load(tmp_path / "m").violation_bound_ == checked.bound


def test_prove_with_an_unknown_prover(model):
    code, _, err = smile("prove", model, "--prover", "magic")
    assert code == 2 and "no prover 'magic'" in one_sentence(err)


# ---- model folders --------------------------------------------------------------------------------------------------

FILES = ["weights.safetensors", "model.json", "properties.json", "verdict.json", "history.json", "manifest.json"]


@pytest.mark.parametrize("command", ["prove", "predict"])
@pytest.mark.parametrize("name", FILES)
def test_missing_and_altered_files(model, csv, tmp_path, name, command):
    arguments = [command, model] + ([csv, "--out", tmp_path / "p.csv"] if command == "predict" else [])
    original = (model / name).read_bytes()
    middle = len(original) // 2
    (model / name).write_bytes(original[:middle] + bytes([original[middle] ^ 1]) + original[middle + 1 :])
    code, _, err = smile(*arguments)
    assert code == 1 and name in one_sentence(err)
    (model / name).unlink()
    code, _, err = smile(*arguments)
    assert code == 2 and f"'{name}' is missing" in one_sentence(err)
    assert not (tmp_path / "p.csv").exists()


def test_no_model_folder(tmp_path):
    code, _, err = smile("prove", tmp_path / "nothing")
    assert code == 2 and "There is no model folder" in one_sentence(err)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_non_finite_weights(model, value):
    files = read_folder(model)
    tensors = load_tensors(files["weights.safetensors"])
    tensors["head_weight"] = torch.full_like(tensors["head_weight"], value)
    write_folder(model, {**files, "weights.safetensors": save_tensors(tensors)}, overwrite=True)
    code, _, err = smile("prove", model)
    assert code == 2 and "'head_weight'" in one_sentence(err) and "not finite" in err


# ---- the command itself ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--debug", "prove"], ["prove", "--debug"]])
def test_debug_shows_the_traceback(tmp_path, arguments):
    code, _, err = smile(*arguments, tmp_path / "nothing")
    assert code == 2 and "Traceback" in err and "There is no model folder" in err


def test_interruption_outside_of_training(model, monkeypatch):
    import smilenn.estimators.verdict_mixin

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    before = {path.name: path.read_bytes() for path in model.iterdir()}
    for name in ("prove", "judge"):
        with monkeypatch.context() as patch:
            patch.setattr(smilenn.estimators.verdict_mixin, name, interrupt)
            code, _, err = smile("prove", model, "--again", "--quiet")
        assert code == 130 and "interrupted; nothing was written" in one_sentence(err)
        assert {path.name: path.read_bytes() for path in model.iterdir()} == before
    assert [path.name for path in model.parent.iterdir()] == ["model"]


def test_ctrl_c_while_certifying_keeps_the_model(csv, tmp_path, monkeypatch):
    from smilenn.progress import PlainLines

    def stop(self, progress):
        if progress.phase == "certify":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PlainLines, "__call__", stop)
        code, out, _ = smile("fit", csv, "--target", "y", "--increasing", "x", "--out", tmp_path / "m", "--epochs", "5")
    assert code == 130
    assert "Not certified, and no bound was checked." in out and "the certification was interrupted" in out
    assert "Interrupted: the best model so far is saved" in out and f"smile prove {tmp_path / 'm'}" in out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "m"]
    loaded = smilenn.load(tmp_path / "m")
    assert loaded.verdict_.status == "unknown" and loaded.certificate_ is None
    assert smile("prove", tmp_path / "m")[0] in (0, 3)
    assert smilenn.load(tmp_path / "m").certificate_ is not None


@pytest.mark.parametrize("where", ["save", "standing", "report"])
def test_ctrl_c_at_the_very_end_does_not_lose_the_model(csv, tmp_path, monkeypatch, where):
    from smilenn.cli import fitting

    pressed = []

    def once(*arguments, **options):
        if not pressed:
            pressed.append(True)
            raise KeyboardInterrupt
        return real(*arguments, **options)

    real = getattr(fitting, where)
    monkeypatch.setattr(fitting, where, once)
    code, out, err = smile("fit", csv, "--target", "y", "--robust", "5%:1000", "--out", tmp_path / "m", "--epochs", "3")
    assert pressed and code == 130 and "nothing was written" not in err
    assert "Interrupted: the " in out and "saved in" in out
    assert smilenn.load(tmp_path / "m").interrupted_ == (where != "report")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "m"]


def test_unforeseen_errors_are_one_sentence(monkeypatch, capsys):
    import smilenn.cli

    def fail():
        raise RuntimeError("boom\nand more")

    monkeypatch.setattr(smilenn.cli, "app", fail)
    with pytest.raises(SystemExit) as caught:
        smilenn.cli.main()
    assert caught.value.code == 2
    assert "RuntimeError: boom and more" in one_sentence(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "data.csv"], "Missing option '--target'; see smile fit --help."),
        (["fit"], "Missing argument"),
        (["dance"], "No such command 'dance'; see smile --help."),
        (["fti"], "No such command 'fti' (did you mean 'fit'?); see smile --help."),
        (["predict", "--otu", "p.csv"], "No such option: --otu (did you mean --out?); see smile predict --help."),
        (
            ["serve", "m", "--port", "abc"],
            "Invalid value for '--port': it must be a whole number; see smile",
        ),
        (["--loud"], "No such option: --loud"),
        (["fit", "data.csv", "--target", "y", "--out", "m", "--task", "ranking"], "'ranking' is not one of 'auto'"),
        (["predict", "m", "data.csv", "--out", "p.csv", "--chunk", "none"], "Invalid value for '--chunk'"),
    ],
)
def test_usage_errors_are_one_sentence(arguments, message):
    code, out, err = smile(*arguments)
    assert code == 2 and out == "" and message in one_sentence(err)


def test_demo(tmp_path, monkeypatch):
    from smilenn.cli import demonstration

    monkeypatch.setattr(demonstration, "REFERENCE_SECONDS", 2.0)  # the slow tests run the demo as it is
    monkeypatch.setattr(demonstration, "ROWS", 400)
    code, out, err = smile("demo", "--out", tmp_path / "m")
    assert code == 0, out + err
    assert "Certified: " in out and "that is certified" in out and "what if" in out
    assert smilenn.load(tmp_path / "m").verdict_.certificate == smilenn.check(tmp_path / "m").certificate
    (copied,) = re.findall(r"cp (\S+check\.py) check\.py && python check\.py (\S+)", out)
    done = subprocess.run([sys.executable, "-I", *copied], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("certified"), done.stderr
    assert out.rstrip().endswith(f"The report: {tmp_path / 'm-report.html'}")
    page = (tmp_path / "m-report.html").read_text("utf-8")
    assert "On 80 held-out rows" in page and "<td>unaware</td>" in page and ">Certified<" in page
    code, _, err = smile("demo", "--out", tmp_path / "m")
    assert code == 2 and "exists" in one_sentence(err)


@pytest.fixture
def short_demo(monkeypatch):
    """A demo of 200 rows whose report is an empty file; `test_demo` writes the real one."""
    from smilenn.cli import demonstration

    monkeypatch.setattr(demonstration, "ROWS", 200)
    monkeypatch.setattr(demonstration, "write_report", lambda model, page, *_, **__: page.touch())


def test_demo_for_programs(tmp_path, short_demo):
    code, out, err = smile("demo", "--out", tmp_path / "m", "--json")
    assert code == 0, out + err
    said = json.loads(out)
    assert said["status"] == "proved" and said["certificate"] and said["model"] == str(tmp_path / "m")
    assert Path(said["report"]).exists() and said["quality"]


def test_a_demo_without_one_step_of_training_is_not_done(tmp_path, monkeypatch, short_demo):
    from smilenn.train.clock import Clock

    monkeypatch.setattr(Clock, "over", lambda self: True)
    code, out, err = smile("demo", "--out", tmp_path / "m", "--json")
    said = json.loads(out)
    assert code == 3 and said["certified"] and "no training step" in said["shortfall"], out + err


def test_a_step_of_training_excuses_no_verdict(model, tmp_path):
    """What the checker finds comes first; a note of the quality that cannot be read is none."""
    untrained = Standing(10, False, 0, {"r2": -1.0, "mean_absolute_error": 1.0, "constant_mean_absolute_error": 1.0})
    trained = replace(untrained, steps=1)
    for verdict, codes in (
        (Proved(certificate="c"), (3, 0, 0)),
        (Proved(), (3, 3, 3)),
        (Unknown(), (3, 3, 3)),
        (Violated(), (1, 1, 1)),
        (Rejected(), (1, 1, 1)),
    ):
        assert tuple(exit_code(verdict, quality) for quality in (untrained, trained, None)) == codes
    smile("prove", model)
    for note in (None, {}, {"rows": 1, "held_out": False, "steps": 0, "numbers": {"accuracy": 1.0}}):
        files = read_folder(model)
        stored = json.loads(files["model.json"])
        stored["learned"]["quality"] = note
        place = tmp_path / f"without-{len(str(note))}"
        write_folder(place, files | {"model.json": json.dumps(stored).encode()})
        code, out, _ = smile("check", place, "--json")
        assert code == 0 and json.loads(out)["quality"] is None and json.loads(out)["shortfall"] == ""


def test_reproduce_for_programs(tmp_path):
    only = ("--only", "model=constant")
    code, out, err = smile("reproduce", "robustness", "--quick", "--out", tmp_path, *only, "--json", "--no-figures")
    assert code == 0, out + err
    said = json.loads(out)
    assert said["experiment"] == "robustness" and all(Path(place).exists() for place in said["written"])


# ---- several outputs ------------------------------------------------------------------------------------------------

EXCLUSIVE = '[[property]]\nkind = "exclusive"\noutputs = ["cat", "dog"]\n'
SUM = '[[property]]\nkind = "sum_at_most"\noutputs = ["rent", "food"]\nlimit = "x + 9"\n'


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    rng = np.random.default_rng(0)
    x, g = rng.uniform(0, 10, 120).round(3), rng.choice(["u", "v"], 120)
    frame = pd.DataFrame(
        {
            "x": x,
            "g": g,
            "grade": np.array(["bad", "fair", "good"])[np.digitize(x, [3, 7])],
            "rent": x / 3,
            "food": x / 2 + rng.normal(size=120),
            "cat": (x > 6).astype(int),
            "dog": (x < 3).astype(int),
        }
    )
    path = tmp_path_factory.mktemp("many") / "data.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("targets", "spec", "options", "columns", "says"),
    [
        (
            ["grade"],
            None,
            ["--fair", "g:9"],
            ["prediction", "probability", "certified", "accepted"],
            "any margin between two",
        ),
        (
            ["rent", "food"],
            SUM,
            [],
            ["rent", "food"],
            "The predicted 'rent' + the predicted 'food' is at most 'x' + 9.",
        ),
        (
            ["cat", "dog"],
            EXCLUSIVE,
            [],
            ["cat", "cat_probability", "dog", "dog_probability"],
            "never predicted together",
        ),
        (
            ["food"],
            None,
            ["--quantile", "0.1", "--quantile", "0.9"],
            ["q0.1", "q0.9"],
            "quantile 'q0.1' of 'food' is never above the predicted quantile 'q0.9' of 'food'.",
        ),
    ],
    ids=["classes", "targets", "labels", "quantiles"],
)
def test_several_outputs_from_fit_to_report(many, tmp_path, targets, spec, options, columns, says):
    dropped = {"grade", "rent", "food", "cat", "dog"} - set(targets)
    given = [word for name in targets for word in ("--target", name)]
    given += [word for name in sorted(dropped) for word in ("--drop", name)]
    if spec is not None:
        (tmp_path / "rules.toml").write_text(spec)
        options = [*options, "--spec", tmp_path / "rules.toml"]
    code, out, err = smile("fit", many, *given, *options, "--out", tmp_path / "m", "--epochs", "3")
    assert code == 0, err
    assert says in out and "Certified" in out and "held-out rows" in out
    code, _, err = smile("predict", tmp_path / "m", many, "--out", tmp_path / "p.csv")
    assert code == 0, err
    predicted = pd.read_csv(tmp_path / "p.csv")
    assert list(predicted.columns) == columns and len(predicted) == 120
    assert smile("check", tmp_path / "m")[0] == 0
    code, _, err = smile(
        "report", tmp_path / "m", "--data", many, "--out", tmp_path / "r.html", "--card", tmp_path / "c.md"
    )
    assert code == 0, err
    assert "24 held-out rows" in (tmp_path / "c.md").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "grade", "--increasing", "x"], "--increasing: the rule must say which of the 3 classes"),
        (["--target", "grade", "--output", "good", "--fair", "g:1"], "--output says what --increasing and"),
        (["--target", "cat", "--target", "cat", "--fair", "g:1"], "--target cat was given twice"),
        (["--target", "grade", "--target", "cat", "--fair", "g:1"], "holds text; several targets are numbers"),
        (["--target", "grade", "--quantile", "0.5", "--quantile", "0.9"], "cannot be a regression"),
        (
            ["--target", "cat", "--quantile", "0.5", "--quantile", "0.9", "--task", "classification"],
            "--quantile is for",
        ),
        (["--target", "rent", "--quantile", "0.9"], "two or more rising levels"),
    ],
)
def test_bad_options_of_several_outputs(many, tmp_path, options, message):
    code, _, err = smile("fit", many, *options, "--out", tmp_path / "m")
    assert code == 2 and message in err and not (tmp_path / "m").exists()


# ---- which class, and whether anything was learned ------------------------------------------------------------------


def two_classes(csv):
    frame = table()
    frame.assign(y=np.where(frame["y"] > 15, "good", "bad")).to_csv(csv, index=False)


def test_a_rule_against_the_data_is_answered_with_a_question(csv, tmp_path):
    two_classes(csv)
    code, out, err = smile("fit", csv, "--target", "y", "--decreasing", "x", "--out", tmp_path / "m", *FIT)
    assert code == 0, err
    assert err.count("smile: warning: The data rise with 'x' where the rule says fall") == 1
    assert "did you mean --increasing x, or --positive bad?" in err
    assert "never lowers the log-odds of 'y' = 'good'." in out


def test_the_positive_class_on_the_command_line(csv, tmp_path):
    two_classes(csv)
    code, out, err = smile(
        "fit", csv, "--target", "y", "--decreasing", "x", "--positive", "bad", "--out", tmp_path / "m", *FIT
    )
    assert code == 0 and "did you mean" not in err
    assert out.count("Lowering 'x', everything else equal, never lowers the log-odds of 'y' = 'bad'.") == 1
    assert "The same holds for the probability of 'y' = 'bad'." in out
    code, out, _ = smile("predict", tmp_path / "m", csv, "--out", tmp_path / "p.csv")
    assert code == 0 and "The probability is of 'bad'." in out
    predicted = pd.read_csv(tmp_path / "p.csv")
    assert ((predicted["probability"] > 0.5) == (predicted["prediction"] == "bad")).all()
    # a model that begins with this one keeps its class
    code, out, err = smile("fit", csv, "--target", "y", "--from", tmp_path / "m", "--out", tmp_path / "again", *FIT)
    assert code == 0, err
    assert "log-odds of 'y' = 'bad'" in out and smilenn.load(tmp_path / "again").positive == "bad"


def test_the_positive_class_of_rules_in_a_file(csv, tmp_path):
    two_classes(csv)
    (tmp_path / "falls.toml").write_text('[[property]]\nkind = "monotone"\ndecreasing = ["x"]\n')
    rules = ["--spec", tmp_path / "falls.toml"]
    code, out, err = smile("fit", csv, "--target", "y", *rules, "--positive", "bad", "--out", tmp_path / "m", *FIT)
    assert code == 0 and "did you mean" not in err
    assert out.count("Lowering 'x', everything else equal, never lowers the log-odds of 'y' = 'bad'.") == 1
    # rules that are stated again for a model that begins with this one are about its class
    start = ["--from", tmp_path / "m", "--out", tmp_path / "again"]
    code, out, err = smile("fit", csv, "--target", "y", *rules, *start, *FIT)
    assert code == 0, err
    assert "log-odds of 'y' = 'bad'" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--positive", "ugly"], "positive is 'ugly', which is not a class; the classes are 'bad', 'good'."),
        (["--positive", "bad", "--output", "bad"], "--output and --positive both say which class is meant"),
        (["--positive", "bad", "--target", "n"], "--positive names one of two classes"),
    ],
)
def test_a_positive_class_that_makes_no_sense(csv, tmp_path, options, message):
    two_classes(csv)
    target = [] if "--target" in options else ["--target", "y"]
    code, _, err = smile("fit", csv, *target, "--increasing", "x", *options, "--out", tmp_path / "m", *FIT)
    assert code == 2 and message in one_sentence(err)


def test_a_fit_without_one_step_of_training_is_not_done(csv, tmp_path, monkeypatch):
    from smilenn.train.clock import Clock

    monkeypatch.setattr(Clock, "over", lambda self: True)
    code, out, _ = smile("fit", csv, "--target", "y", "--increasing", "x", "--out", tmp_path / "m", *FIT)
    assert code == 3 and "Certified, but no training step was completed (R² = " in out
    for command in ("prove", "check"):  # the folder knows
        code, out, _ = smile(command, tmp_path / "m")
        assert code == 3 and ", but no training step was completed (R² = " in out
        code, out, _ = smile(command, tmp_path / "m", "--json")
        record = json.loads(out)
        assert code == 3 and record["status"] == "proved" and record["shortfall"].startswith("no training step")
    code, out, _ = smile("fit", csv, "--target", "y", "--increasing", "x", "--out", tmp_path / "j", "--json", *FIT)
    record = json.loads(out)
    assert code == 3 and record["certified"] and record["steps"] == 0 and "no training step" in record["shortfall"]
