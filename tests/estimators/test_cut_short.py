"""Training that a time limit cut short is said wherever the verdict is: by `fit`, commands and reports.

No test waits: the limit is over after so many looks at the clock, and never where none is given.
"""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import smilenn
from smilenn import Bounded, Config, Convex, Monotone, Network, Robust, SmileError, SmileRegressor
from smilenn.cli import app
from smilenn.cli.words import judgement_text
from smilenn.estimators.quality import QualityWarning
from smilenn.model.bundle import MODEL
from smilenn.model.folder import read_folder, write_folder
from smilenn.report.card import card
from smilenn.report.findings import gather
from smilenn.report.html import page
from smilenn.report.standing import Standing
from smilenn.train import restarts
from smilenn.train.clock import Clock
from smilenn.train.cut import Part, cut_from_json, cut_sentence
from smilenn.train.run import Run

RNG = np.random.default_rng(0)
X = pd.DataFrame({"x": RNG.uniform(0, 10, 80)})
Y = pd.Series(3 * X["x"] + RNG.normal(0, 1, 80), name="y")
WHEN_LATE = "1 of 4 groups of trees, 0 of 300 epochs"
RULES = {
    "none": ({}, WHEN_LATE),
    "signs": ({"properties": [Monotone(["x"])]}, WHEN_LATE),
    "spline": ({"properties": [Convex(["x"])]}, "1 of 300 epochs"),
    "box": ({"properties": [Bounded(-100, 100)]}, "1 of 300 epochs"),
    "plain": (
        {"properties": [Monotone(["x"])], "network": Network(encoder="none")},
        "1 of 100 epochs of pretraining, 0 of 100 epochs",
    ),
    "paper": (
        {"properties": [Robust(0.1, 50)], "network": Network(encoder="none", boxes="paper")},
        "1 of 100 epochs of pretraining, 0 of 100 epochs",
    ),
}
LIMITED = {"time_limit": 1e6, "random_state": 0}


@pytest.fixture
def over_after(monkeypatch):
    """Let the time limit be over from look number n + 1 at the clock on."""

    def set_to(n):
        looks = []
        monkeypatch.setattr(Clock, "over", lambda self: len(looks) >= n or looks.append(self) is not None)

    return set_to


def fitted(**options):
    return SmileRegressor(**LIMITED | options).fit(X, Y)


# ---- what is cut short ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RULES)
def test_fit_warns_of_what_the_limit_has_cut_short(over_after, kind):
    options, words = RULES[kind]
    over_after(1)
    with pytest.warns(QualityWarning, match="he time limit cut training short") as caught:
        model = fitted(**options)
    said = [str(one.message) for one in caught if one.category is QualityWarning]
    assert len(said) == 1 and said[0].endswith(f"cut training short: {words}; more time may predict better.")
    assert model.cut_short_ == model.quality_.cut and model.cut_short_


@pytest.mark.parametrize(
    ("looks", "part"),
    [
        (4, Part("epochs", 1, 3, 1)),  # one look before an epoch, and one after each of its five batches
        (8, Part("epochs", 2, 3, 1)),
        (14, Part("epochs", 3, 3, 1)),
        (18, None),  # over once all is done
    ],
)
def test_an_epoch_that_ends_in_the_middle_is_no_whole_one(over_after, looks, part):
    over_after(looks)
    model = fitted(properties=[Bounded(-100, 100)], config=Config(epochs=3, batch_size=16))
    assert model.cut_short_ == (() if part is None else (part,))
    shares = [record.get("part") for record in model.history_ if record["phase"] == "train"]
    assert shares == [*[None] * (len(shares) - 1), {4: 0.8, 8: 0.4, 14: 0.4, 18: None}[looks]]


def test_patience_cuts_nothing_short(over_after):
    over_after(10**9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(properties=[Bounded(-100, 100)], config=Config(epochs=300, patience=3))
    epochs = sum(record["phase"] == "train" for record in model.history_)
    assert 0 < epochs < 300 and model.cut_short_ == () and model.quality_.shortfall == ""
    assert "cut_short" not in model.quality_.to_json()


def test_a_limit_that_ends_when_patience_does_cuts_nothing_short(monkeypatch):
    """The clock is over at the very look that follows the last epoch patience waited for."""
    ended, ends = [], Run._ends

    def late(self, done, what, planned):
        if done and what == "epochs":
            ended.append(self.state.unit)
            monkeypatch.setattr(Clock, "over", lambda self: True)
        return ends(self, done, what, planned)

    monkeypatch.setattr(Run, "_ends", late)
    model = fitted(properties=[Bounded(-100, 100)], config=Config(epochs=300, patience=3))
    assert ended and ended[0] < 300 and model.cut_short_ == ()


@pytest.mark.parametrize("kind", ["signs", "box", "plain"])
def test_a_number_of_epochs_and_a_model_to_start_from_cut_nothing_short(over_after, kind):
    over_after(10**9)
    options = RULES[kind][0] | {"config": Config(epochs=2, pretrain_epochs=2, posttrain_rounds=2)}
    first = fitted(**options)
    assert first.cut_short_ == ()
    again = SmileRegressor(**LIMITED | options).fit(X, Y, start=first)
    assert again.cut_short_ == ()


@pytest.fixture
def slow_trees(monkeypatch, over_after):
    """Every look of trees at the clock takes a second, and of their share each group has few."""
    over_after(10**9)
    ticks = iter(range(10**9))
    monkeypatch.setattr("smilenn.train.boosted.perf_counter", lambda: float(next(ticks)))


def test_trees_that_were_still_growing_are_groups_in_part(slow_trees):
    model = fitted(increasing=["x"], config=Config(epochs=1), time_limit=60)
    assert model.cut_short_ == (Part("trees", 4, 4, 4),)
    assert "4 of 4 groups of trees (4 only in part); more time" in model.quality_.shortfall


def test_ctrl_c_has_its_own_words(slow_trees):
    """Also where the limit has cut something short before."""

    def stop(progress):
        if progress.phase == "train":
            raise KeyboardInterrupt

    model = SmileRegressor(increasing=["x"], time_limit=60, random_state=0).fit(X, Y, callback=stop)
    assert model.interrupted_ and model.cut_short_ == () and model.quality_.shortfall == ""


@pytest.mark.parametrize("task", ["classes", "signed classes", "quantiles"])
def test_trees_of_classes_and_quantiles_say_it_too(slow_trees, task):
    options = LIMITED | {"config": Config(epochs=1), "time_limit": 60}
    if task == "quantiles":
        model = SmileRegressor(quantiles=[0.1, 0.9], increasing=["x"], **options).fit(X, Y)
    else:
        rules = [Monotone(["x"], output="c")] if task == "signed classes" else []
        model = smilenn.SmileClassifier(properties=rules, **options).fit(X, pd.cut(Y, 3, labels=list("abc")))
    (trees,) = model.cut_short_
    assert trees.what == "trees" and 0 < trees.partly <= trees.done == trees.planned


@pytest.mark.parametrize(("kept", "parts"), [(False, (Part("posttraining", 0, 5),)), (True, ())])
def test_posttraining_is_cut_short_where_no_proved_state_is_kept(over_after, monkeypatch, kept, parts):
    """One look before and one after the only epoch of each phase."""
    over_after(4)
    config = Config(pretrain_epochs=1, epochs=1, posttrain_rounds=5, check_every=1)
    monkeypatch.setattr(Run, "_keep_if_proved", Run._keep if kept else lambda self: None)
    model = fitted(properties=[Convex(["x"])], network=Network(encoder="none", hidden=3), config=config)
    assert model.cut_short_ == parts


# ---- restarts -------------------------------------------------------------------------------------------------------

SMALL = {
    "increasing": ["x"],
    "network": Network(encoder="none", hidden=3, embedding=2, backbone_sizes=(4,), restarts=3),
    "config": Config(pretrain_epochs=20, epochs=2, learning_rate=1e-2, batch_size=16, posttrain_rounds=4),
}


@pytest.mark.parametrize(("begun", "words"), [(1, "1 of 3 restarts"), (2, "2 of 3 restarts"), (3, "")])
def test_restarts_that_never_began(monkeypatch, over_after, begun, words):
    over_after(10**9)
    monkeypatch.setattr(restarts._Runs, "over", lambda self, i: i >= begun)
    found = fitted(**SMALL).quality_.shortfall
    assert found == (f"the time limit cut training short: {words}; more time may predict better" if words else "")


def test_restarts_that_ctrl_c_ended_are_not_the_limits(monkeypatch, over_after):
    over_after(10**9)

    def over(self, i):
        self.interrupted = True
        return True

    monkeypatch.setattr(restarts._Runs, "over", over)
    assert fitted(**SMALL).cut_short_ == ()


@pytest.mark.parametrize(
    ("cut", "best", "parts"),
    [
        ({1}, 0, (Part("restarts", 2, 3),)),  # the best one is whole, another is not
        ({0}, 0, (Part("epochs", 1, 2),)),
        ({0, 1, 2}, 1, (Part("epochs", 1, 2),)),
        (set(), 0, ()),
    ],
)
def test_a_restart_that_was_cut_short(monkeypatch, over_after, cut, best, parts):
    over_after(10**9)
    real, runs = restarts.fit, []

    def fit(*arguments, **options):
        i = len(runs)
        runs.append(i)
        return replace(
            real(*arguments, **options),
            held_out=float(i != best),
            cut=(Part("epochs", 1, 2),) if i in cut else (),
        )

    monkeypatch.setattr(restarts, "fit", fit)
    assert fitted(**SMALL).cut_short_ == parts and len(runs) == 3


# ---- where it is said -----------------------------------------------------------------------------------------------


def test_a_folder_keeps_it_and_every_reader_says_it(over_after, tmp_path):
    over_after(1)
    model = fitted(increasing=["x"])
    but = f", but the time limit cut training short: {WHEN_LATE}; more time may predict better"
    assert model.verdict_.certificate and model.quality_.shortfall == but.removeprefix(", but ")
    model.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    assert loaded.quality_ == model.quality_ and loaded.cut_short_ == model.cut_short_
    for one in (model, loaded):
        assert judgement_text(one).startswith(f"Certified{but}. This holds")
        assert f"{but}." in one.explain() and but in one._repr_html_()
    for found in (gather(loaded), gather(loaded, X, Y, held_out=True)):
        assert found.but == but and but in page(found) and f"**Certified{but}.**" in card(found)


def test_words_of_a_folder_are_never_repeated(over_after, tmp_path):
    """Kinds of work are known ones, and their numbers are numbers."""
    over_after(1)
    fitted(increasing=["x"]).save(tmp_path / "m")
    for i, change in enumerate(({"what": "<b>nothing</b>"}, {"done": "none"}, {"planned": None})):
        files = read_folder(tmp_path / "m")
        stored = json.loads(files[MODEL])
        stored["learned"]["quality"]["cut_short"][0] |= change
        place = tmp_path / str(i)
        write_folder(place, files | {MODEL: json.dumps(stored).encode()})
        with pytest.raises(SmileError):
            smilenn.load(place)
        done = CliRunner().invoke(app, ["check", str(place), "--json"])
        assert json.loads(done.stdout)["shortfall"] == "" and "nothing" not in done.stdout


@pytest.mark.parametrize(
    "change",
    [
        {"done": -5},
        {"done": 99},
        {"done": 1.9},
        {"done": True},
        {"done": "1"},
        {"partly": 4},
        {"done": 12, "partly": 0},
    ],
)
def test_numbers_that_cannot_be_are_not_read(change):
    good = {"what": "epochs", "done": 3, "planned": 12, "partly": 1}
    assert cut_from_json([good]) == (Part("epochs", 3, 12, 1),)
    with pytest.raises(ValueError, match=".*"):
        cut_from_json([good | change])
    with pytest.raises(ValueError, match="epochs"):
        cut_from_json([good, good])


NUMBERS = {"r2": 0.9, "mean_absolute_error": 1.0, "constant_mean_absolute_error": 3.0}


def test_what_else_is_short_comes_first():
    cut = Part("epochs", 1, 12, 1), Part("trees", 0, 1)
    words = "the time limit cut training short: 1 of 12 epochs (1 only in part), 0 of 1 group of trees; more time may "
    assert cut_sentence(cut) == f"{words}predict better" and cut_sentence(()) == ""
    good = Standing(9, True, 2, NUMBERS, 5.0, cut=cut)
    assert good.shortfall == cut_sentence(cut) and good.hint == "" and Standing.from_json(good.to_json()) == good
    assert Standing.from_json(replace(good, cut=()).to_json()) == replace(good, cut=())
    bad = replace(good, numbers=NUMBERS | {"r2": -0.2})
    assert bad.shortfall == f"the model is no better than predicting the mean: R² = -0.20, and {cut_sentence(cut)}"
    assert bad.hint.endswith("a constant: give training more time, or loosen a rule (a larger ε).")
    assert replace(bad, steps=0).shortfall == "no training step was completed (R² = -0.20)"


def test_a_verdict_that_is_not_good_has_no_but(over_after):
    over_after(3)
    config = Config(pretrain_epochs=1, epochs=3, posttrain_rounds=0, repair=False, feasible_start=False)
    model = fitted(properties=[Robust(5, 1e-3)], network=Network(encoder="none", hidden=3), config=config)
    assert model.verdict_.status in ("unknown", "violated")
    lines = judgement_text(model).splitlines()
    assert "cut training short" not in lines[0] and any(
        line.endswith("he time limit cut training short: 1 of 3 epochs; more time may predict better.")
        for line in lines[1:]
    )


def smile(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    return done.exit_code, done.stdout, done.stderr


def test_the_commands_say_it(over_after, tmp_path):
    X.assign(y=Y).to_csv(tmp_path / "data.csv", index=False)
    fit = ["fit", tmp_path / "data.csv", "--target", "y", "--increasing", "x", "--time-limit", "1000000"]
    over_after(1)
    code, out, err = smile(*fit, "--out", tmp_path / "m")
    but = f"but the time limit cut training short: {WHEN_LATE}; more time may predict better."
    assert code == 0 and f"Certified, {but} This holds" in out and "cut training short" not in err
    for command in ("check", "prove"):
        code, out, _ = smile(command, tmp_path / "m")
        assert code == 0 and but in out
    record = json.loads(smile("check", tmp_path / "m", "--json")[1])
    assert record["shortfall"] + "." == but.removeprefix("but ")
    over_after(1)
    record = json.loads(smile(*fit, "--out", tmp_path / "j", "--json")[1])
    parts = [
        {"what": "trees", "done": 1, "planned": 4, "partly": 0},
        {"what": "epochs", "done": 0, "planned": 300, "partly": 0},
    ]
    assert record["cut_short"] == parts and record["shortfall"] + "." == but.removeprefix("but ")
    over_after(10**9)
    code, out, _ = smile(*fit, "--epochs", "2", "--out", tmp_path / "whole")
    assert code == 0 and "cut training short" not in out and "cut training short" not in err
