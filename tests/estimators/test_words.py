"""What stands beside a verdict: the class it is about, comments that nobody checked, the data's trend, the quality."""

import copy
import html
import re
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from trust import forge2
from typer.testing import CliRunner

import smilenn
from smilenn import Bounded, Config, Fair, Monotone, Network, SmileClassifier, SmileError, SmileRegressor
from smilenn.certify.about import assumptions, by_workers, in_short, once_signed
from smilenn.certify.statement import statement
from smilenn.certify.verdicts import verdict
from smilenn.cli import app
from smilenn.cli.words import judgement_record, judgement_text
from smilenn.estimators.quality import QualityWarning
from smilenn.estimators.trend import TrendWarning
from smilenn.properties.claim import Claim, row
from smilenn.report.card import card, plain
from smilenn.report.findings import gather
from smilenn.report.html import page
from smilenn.report.quality import wilson
from smilenn.report.standing import Standing, auc, measured
from smilenn.report.tuples import tuple_table
from smilenn.train.clock import Clock

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = {
    "config": Config(epochs=3, batch_size=64),
    "random_state": 0,
    "network": Network(members=1),
    "certify_limit": 10.0,
}
RNG = np.random.default_rng(0)
X = pd.DataFrame({"income": RNG.uniform(1, 9, 240), "debt": RNG.uniform(0, 1, 240)})
BAD = pd.Series(np.where(X.debt + 0.1 * RNG.normal(size=240) > 0.5, "bad", "good"), name="loan")


@pytest.fixture(scope="module")
def careful():
    """Debt raises the log-odds of 'bad', which is not the last class."""
    return SmileClassifier(increasing=["debt"], positive="bad", **QUICK).fit(X, BAD)


@pytest.fixture(scope="module")
def lie():
    premise = row([(1, 0, "in", "debt"), (-1, 1, "in", "debt")])
    claim = Claim(
        2,
        (premise,),
        (row([(1, 0, "out", ""), (-1, 1, "out", "")], 10**6),),
        sentence="Raising 'income', everything else equal, never lowers the output.",
    )
    return SmileRegressor(properties=[claim], **QUICK).fit(X, (X.debt - X.income).rename("y"))


# ---- comments -------------------------------------------------------------------------------------------------------


def test_a_false_sentence_is_never_said_as_certified(lie, tmp_path):
    lie.save(tmp_path / "lie")
    loaded = smilenn.load(tmp_path / "lie")
    said = "Raising 'debt', everything else equal, never lowers the predicted 'y' by more than 1000000."
    comment = "comment (not checked): \"Raising 'income', everything else equal, never lowers the output.\""
    found = gather(loaded)
    for text in (loaded.certificate_.statement, judgement_text(loaded)):
        lines = [line.strip().removeprefix("- ") for line in text.splitlines()]
        assert f"{said} [certified]" in lines or f"{said} [certified" in text
        assert comment in lines and not any("income" in line and "certified]" in line for line in lines)
    assert found.rules[0].sentence == said and found.rules[0].more == (comment,)
    for text in (
        page(found),
        card(found),
        loaded._repr_html_().rsplit("<div style", 1)[1],
    ):  # scikit-learn shows parameters
        assert text.count("never lowers the output") == 1 and "comment" in text


def test_the_statement_says_what_is_assumed(lie):
    certificate = lie.certificate_
    lines = certificate.statement.splitlines()
    at = lines.index("Assumed, not checked:")
    assert lines[at + 1 :] == [f"- {item.line}" for item in assumptions(pinned=False)]
    assert any("no signature was checked" in line for line in lines) and not any("pinned" in line for line in lines)
    assert "pinned modules give equal rows" in statement(certificate, assumed=assumptions(pinned=True))
    assert any("pinned modules give equal rows equal bits" in item.line for item in assumptions(pinned=True))
    assert any(item.line.endswith("where the model has any") for item in assumptions())


def test_what_is_assumed_stands_wherever_certified_is_said(careful, tmp_path):
    careful.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    lines = [item.line for item in assumptions(pinned=False)]
    for model in (careful, loaded):
        found = gather(model)
        block = re.search(r"<details><summary>Assumed, not checked: 4 things</summary>(.*?)</details>", page(found))
        assert [html.unescape(item) for item in re.findall("<li>(.*?)</li>", block[1])] == lines
        assert "Assumed, not checked:\n\n" + "\n".join(f"- {plain(line)}" for line in lines) in card(found)
        shown = model._repr_html_().rsplit("<details><summary>Assumed, not checked:", 1)[1]
        assert [html.unescape(item) for item in re.findall("<li>(.*?)</li>", shown)] == lines
        assert judgement_text(model).count(in_short(assumptions(pinned=False))) == 1
        assert judgement_record(model)["assumed"] == lines
    unjudged = SmileRegressor(increasing=["debt"], **{**QUICK, "certify_limit": 0}).fit(X, X.debt.rename("y"))
    assert "Assumed" not in judgement_text(unjudged) + page(gather(unjudged)) + card(gather(unjudged))
    assert judgement_record(unjudged)["assumed"] == []


def test_every_assumption_has_its_row_on_the_trust_page():
    table = (Path(__file__).parents[2] / "docs" / "trust.md").read_text()
    table = table.split("## What is left to trust")[1].split("\n\n")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    for item in by_workers((*assumptions(pinned=True), *once_signed(assumptions()))):
        name = item.name.removesuffix(", if any")
        assert any(name in row for row in rows), item
    assert len(rows) == 1 + 20 and assumptions(pinned=True)[-1] not in once_signed(assumptions(pinned=True))


def test_room_for_rounding_stands_in_the_sentence_wherever_it_is_shown(careful):
    """The rows as checked, but for a bound that is above 0 by 7.4e-12, which room covers."""
    model, room = copy.copy(careful), Fraction(74, 10**13)
    certificate = careful.certificate_
    claims = tuple(
        replace(
            claim, rows=tuple(replace(row, bound=row.rhs + room, margin=Fraction(0), room=room) for row in claim.rows)
        )
        for claim in certificate.report.claims
    )
    wider = replace(certificate, report=replace(certificate.report, claims=claims))
    model._judgement = replace(careful._judgement, certificate=wider, verdict=verdict(wider))
    assert wider.accepted and wider.rooms == (room,)
    said = "Raising 'debt', everything else equal, never lowers the log-odds of 'loan' = 'bad' by more than 7.4e-12."
    found = gather(model)
    texts = [wider.statement, judgement_text(model), page(found), card(found), model._repr_html_()]
    texts = [html.unescape(text.replace("\\", "")) for text in texts]
    for text in texts:
        assert said in text and "The same holds for the probability" not in text
    for text in texts[:4]:
        assert re.search("certified with 7.4e-12( in log-odds)? of room for rounding", text)
    assert found.rules[0].formula.endswith("<= 0.0000000000074") and found.rules[0].formula in texts[2]
    assert judgement_record(model)["claims"][0]["sentence"] == said
    assert "none breaks a certified rule by more than its room for rounding." in texts[2]
    assert "none breaks a certified rule." in page(gather(careful))


# ---- which class ----------------------------------------------------------------------------------------------------


def test_the_positive_class_is_what_the_short_forms_speak_of(careful, tmp_path):
    assert list(careful.classes_) == ["bad", "good"]  # sorted, as scikit-learn wants them
    said = "Raising 'debt', everything else equal, never lowers the log-odds of 'loan' = 'bad'."
    probable = "The same holds for the probability of 'loan' = 'bad'."
    careful.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    assert loaded.positive == "bad" and loaded.positive_class == "bad"
    for model in (careful, loaded):
        assert said in model.certificate_.statement and probable in model.certificate_.statement
        assert said in judgement_text(model) and "comment" not in judgement_text(model)
    rows = pd.DataFrame({"income": 5.0, "debt": np.linspace(0, 1, 200)})
    assert (np.diff(careful.predict_proba(rows)[:, 0]) >= 0).all()
    assert (np.diff(careful.decision_function(rows)) <= 0).all()
    assert clone(careful).positive == "bad"


def test_the_positive_class_is_what_every_directed_rule_speaks_of(tmp_path):
    rules = [Monotone(["debt"]), Bounded(lo=-50), {"kind": "concave", "features": ["debt"]}, Fair(["income"], 9)]
    own = Claim(1, (), (row([(-1, 0, "out", "")], 60),))
    model = SmileClassifier(properties=[*rules, own], positive="bad", **QUICK)
    assert [item.speaks_of for item in model.all_properties()] == ["bad", "bad", "bad", None, None]
    named = SmileClassifier(properties=[Monotone(["debt"], output="good")], positive="bad")
    assert named.all_properties() == (Monotone(["debt"], output="good"),)
    assert SmileClassifier(properties=rules[:1]).all_properties() == (Monotone(["debt"]),)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrendWarning)
        fitted = SmileClassifier(properties=[Monotone(["debt"])], positive="bad", **QUICK).fit(X, BAD)
    said = "Raising 'debt', everything else equal, never lowers the log-odds of 'loan' = 'bad'."
    fitted.save(tmp_path / "m")
    for one in (fitted, smilenn.load(tmp_path / "m")):
        assert said in one.certificate_.statement
    rows = pd.DataFrame({"income": 5.0, "debt": np.linspace(0, 1, 200)})
    assert (np.diff(fitted.decision_function(rows)) <= 0).all()


def test_classes_are_named_whatever_they_are_called():
    model = SmileClassifier(decreasing=["debt"], **QUICK)
    good = model.fit(X, BAD)
    assert "never lowers the log-odds of 'loan' = 'good'." in good.claims_[0].sentence
    numbers = SmileClassifier(increasing=["debt"], positive=1, **QUICK).fit(X, (BAD == "bad").astype(int).to_numpy())
    assert numbers.claims_[0].sentence.endswith("never lowers the log-odds of '1'.")


@pytest.mark.parametrize(
    ("positive", "y", "message"),
    [
        ("ugly", BAD, "positive is 'ugly', which is not a class; the classes are 'bad', 'good'"),
        ("a", pd.Series(list("abc") * 80), "positive chooses one of two classes"),
    ],
)
def test_a_positive_class_that_is_none(positive, y, message):
    with pytest.raises(SmileError, match=message):
        SmileClassifier(increasing=["debt"], positive=positive, **QUICK).fit(X, y)


def test_a_trend_against_the_rule_is_said():
    with pytest.warns(TrendWarning) as caught:
        SmileClassifier(increasing=["debt"], **QUICK).fit(X, BAD)
    (text,) = [str(warning.message) for warning in caught if warning.category is TrendWarning]
    assert text.startswith("The data fall with 'debt' where the rule says rise (rank correlation -0.8")
    assert text.endswith("with 'loan' = 'good'): did you mean decreasing=['debt'], or positive='bad'?")
    with pytest.warns(TrendWarning, match=r"The data rise with 'debt' where the rule says fall .* with 'y'\): did you"):
        SmileRegressor(decreasing=["debt"], **QUICK).fit(X, X.debt.rename("y"))
    three = pd.Series(np.select([X.debt < 0.3, X.debt < 0.6], ["low", "middle"], "high"))
    with pytest.warns(TrendWarning, match="where the rule says rise .* with the class 'low'"):
        SmileClassifier(properties=[Monotone(["debt"], output="low")], **QUICK).fit(X, three)


def test_no_trend_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrendWarning)
        SmileRegressor(increasing=["debt"], **QUICK).fit(X, X.debt.rename("y"))
        SmileRegressor(increasing=["income"], **QUICK).fit(X, X.debt.rename("y"))  # says nothing either way


# ---- quality --------------------------------------------------------------------------------------------------------


def test_quality_is_kept_with_the_model(careful, tmp_path):
    trees = sum(record["phase"] == "trees" for record in careful.history_)
    assert careful.quality_.steps == 3 + trees and careful.quality_.numbers["accuracy"] > 0.8
    assert careful.quality_.shortfall == ""
    careful.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    assert loaded.quality_ == careful.quality_
    said = careful.quality_.sentence()
    assert said.startswith("On 240 training rows: accuracy 0.") and "AUC 0.9" in said
    assert said in judgement_text(loaded) and said in loaded._repr_html_()
    assert loaded.explain().splitlines()[-1] == f"Quality: {said}"
    found = gather(loaded)
    assert found.standing == careful.quality_ and said in page(found)
    assert found.but == "" and "Certified." in card(found)


def test_rows_that_were_held_out_are_measured():
    plain = {**QUICK, "network": Network(encoder="none", hidden=3, embedding=2, backbone_sizes=(4,))}
    model = SmileRegressor(validation_fraction=0.25, **plain).fit(X, X.debt.rename("y"))
    assert model.quality_.held_out and model.quality_.rows == 60


def test_a_model_no_better_than_the_mean_says_so_in_the_same_breath():
    noise = pd.Series(np.random.default_rng(3).normal(size=240), name="y")
    model = SmileRegressor(increasing=["debt"], **QUICK).fit(X, noise)
    model.quality_ = Standing(
        240, True, 5, {"r2": -0.012, "mean_absolute_error": 1.0, "constant_mean_absolute_error": 1.0}
    )
    but = "but the model is no better than predicting the mean: R² = -0.01"
    assert judgement_text(model).splitlines()[0].startswith(f"Certified, {but}. This holds")
    found = gather(model)
    assert but in page(found) and "**Certified, but" in card(found) and but in model._repr_html_()
    verdict, quality = model.explain().splitlines()[-3:-1]  # the last line advises
    assert verdict.startswith("Verdict: certified") and verdict.endswith(f", {but}.")
    assert quality.startswith("Quality: On 240 held-out rows: R² -0.012")


def test_a_model_that_was_never_trained_says_so(monkeypatch):
    monkeypatch.setattr(Clock, "over", lambda self: True)
    model = SmileRegressor(increasing=["debt"], time_limit=60.0, **QUICK)
    with pytest.warns(QualityWarning, match=r"^No training step was completed \(R² = -?\d\.\d\d\)\.$") as caught:
        model.fit(X, X.debt.rename("y"))
    assert [Path(one.filename).name for one in caught if one.category is QualityWarning] == [Path(__file__).name]
    assert model.quality_.steps == 0
    assert "no training step was completed (R² = " in judgement_text(model).splitlines()[0]


def test_fit_warns_of_a_model_no_better_than_a_constant_and_of_no_other():
    noise = pd.Series(np.random.default_rng(3).normal(size=240), name="y")
    with pytest.warns(QualityWarning, match=r"^The model is no better than predicting the mean: R² = (-\d|0\.00)"):
        SmileRegressor(increasing=["debt"], **QUICK).fit(X, noise)
    with warnings.catch_warnings():
        warnings.simplefilter("error", QualityWarning)
        SmileRegressor(increasing=["debt"], **QUICK).fit(X, X.debt.rename("y"))


@pytest.mark.parametrize(
    ("task", "good", "poor"),
    [
        ("regression", lambda y: y + 0.1, lambda y: y * 0 + 30.0),
        ("binary", lambda y: y - 0.5, lambda y: y * 0 + 5.0),
        ("multiclass", lambda y: 4 * y, lambda y: np.roll(y, 1, axis=1)),
        ("multilabel", lambda y: 4 * y - 2, lambda y: 2 - 4 * y),
        ("quantiles", lambda y: y + np.array([-0.1, 0.1]), lambda y: y * 0 + 30.0),
    ],
)
def test_what_is_no_better_than_a_constant(task, good, poor):
    codes = np.arange(30) % 3
    y = {
        "regression": codes[:, None].astype(float),
        "binary": (codes == 1)[:, None].astype(float),
        "quantiles": np.repeat(codes[:, None], 2, axis=1).astype(float),
    }.get(task, np.eye(3)[codes])
    names = {"regression": ("",), "binary": ("",), "quantiles": ("q0.1", "q0.9")}.get(task, ("a", "b", "c"))
    better, worse = (Standing(30, False, 2, measured(task, names, y, f(y), y)) for f in (good, poor))
    assert better.shortfall == "" and worse.shortfall.startswith("the model is no better than ")
    assert Standing.from_json(worse.to_json()) == worse
    assert "30 training rows" in worse.sentence()


def test_auc_counts_pairs_in_order():
    rng = np.random.default_rng(0)
    y, score = (rng.random(60) < 0.4).astype(float), rng.normal(size=60).round(1)
    pairs = [(a > b) + 0.5 * (a == b) for a in score[y == 1] for b in score[y == 0]]
    assert auc(y, score) == pytest.approx(np.mean(pairs))


# ---- every place names the same class, and cells as people read them ------------------------------------------------


@pytest.fixture(scope="module")
def fair():
    """Both rules about 'bad'; some incomes are missing."""
    known = X.assign(sex=np.where(np.arange(240) % 2, "f", "m"), income=X.income.mask(np.arange(240) % 9 == 0))
    return SmileClassifier(increasing=["debt"], positive="bad", properties=[Fair(["sex"], eps=0.5)], **QUICK).fit(
        known, BAD
    )


def test_a_rule_without_a_direction_names_the_positive_class_too(fair, tmp_path):
    fair.save(tmp_path / "m")
    loaded, found = smilenn.load(tmp_path / "m"), gather(smilenn.load(tmp_path / "m"))
    said = "changing 'sex' alone changes the log-odds of 'loan' = 'bad' by at most 0.5."
    for text in (
        loaded.certificate_.statement,
        judgement_text(loaded),
        card(found).replace("\\", ""),
        html.unescape(page(found)),
        html.unescape(loaded._repr_html_()),
        str(judgement_record(loaded)["claims"]).replace("\\", ""),
        CliRunner().invoke(app, ["check", str(tmp_path / "m")]).output,
    ):
        assert said in text
        assert "changes the log-odds of 'loan' = 'good'" not in text


def test_a_positive_class_that_is_not_of_the_model_is_no_word(fair, tmp_path):
    fair.save(tmp_path / "m")
    files = {file.name: file.read_bytes() for file in (tmp_path / "m").iterdir() if file.name != "manifest.json"}
    changed = forge2.edited(files, "model.json", lambda m: m["table"].update(positive="certified"))
    folder = forge2.put(tmp_path / "x", forge2.rehashed(changed))
    assert smilenn.check(folder).status == "unknown"
    with pytest.raises(SmileError, match="classes of model.json"):
        smilenn.load(folder)


def test_a_cell_without_a_value_is_missing_in_a_report(fair):
    x = fair.domain_.encode(X.assign(sex="f", income=np.nan).head(2))
    shown = tuple_table(gather(fair), x, np.zeros((2, 1)))
    assert "missing" in shown and "None" not in shown and "nan" not in shown.lower()


@pytest.mark.parametrize("hits", [0, 5])
def test_a_share_of_none_or_all_has_an_exact_end(hits):
    found = wilson(hits, 5)
    assert (found.low, found.high)[hits > 0] == float(hits > 0)


def test_a_model_of_labels_shows_itself_in_a_notebook():
    # scikit-learn asks for every attribute; the positive class of labels was an IndexError
    labels = pd.DataFrame({"late": X.debt > 0.5, "poor": X.income < 5}).astype(int)
    model = SmileClassifier(properties=[Bounded(-3, 3)], **QUICK).fit(X, labels)
    assert model.positive_class == "" and "positive_class" in dir(model)
    assert "Every label's log-odds lie between -3 and 3." in html.unescape(model._repr_html_())


def test_a_stored_sentence_that_the_rows_give_too_is_said_once(fair, lie, tmp_path):
    for name, model, comments in (("fair", fair, 0), ("lie", lie, 1)):
        model.save(tmp_path / name)
        said = CliRunner().invoke(app, ["check", str(tmp_path / name)]).output
        assert said.count("comment, not checked") == comments and "in words:" in said
    assert "comment, not checked: \"Raising 'income', everything else equal, never lowers the output.\"" in said


@pytest.mark.parametrize("more", [[], [Bounded(150, 260)], [Fair("z", 1)]])
def test_a_fit_whose_time_is_over_before_its_first_step_is_the_constant(more):
    """Random weights would predict far worse than the mean of the target."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(50, 3, 299), "z": rng.choice(["p", "q"], 299)})
    y = 100 + 2 * x["a"]
    model = SmileRegressor(properties=[Monotone("a"), *more], time_limit=1e-9, random_state=0)
    with pytest.warns(QualityWarning, match=r"No training step was completed \(R² = -?0\.00\)"):
        model.fit(x, y)
    assert np.ptp(model.predict(x)) == 0 and np.isclose(model.predict(x)[0], y.mean())
    assert "the constant, since the time was over before the first step" in model.explain()
