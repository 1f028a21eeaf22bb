"""Time limits that hold where a claim has many rows: what is not written and checked by then is given up, and said."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import smilenn
from smilenn import Config, Fair, Monotone, Network, SmileClassifier, SmileRegressor, deadline
from smilenn.certify import certify as certifying
from smilenn.certify import check, emit, process
from smilenn.certify.process import check_apart
from smilenn.deadline import NEVER, Deadline, Late
from smilenn.estimators import verdict_mixin
from smilenn.problem import build
from smilenn.properties.claim import Inequality, Term
from smilenn.properties.language import parse
from smilenn.provers.rules import table
from smilenn.reason import Reason, has

NAMES = ("a", "b", "c", "d", "e")


def people(rows=150):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 9, rows).round(2), "group": rng.choice(["m", "w"], rows)})
    return frame, pd.Series(np.array(list(NAMES))[(frame["x"] // 1.8).astype(int).clip(0, 4)], name="grade")


@pytest.fixture(scope="module")
def grades():
    """Five classes, fair in every margin: twenty rows, of which ten mirror others."""
    X, y = people()
    config = Config(epochs=2, batch_size=64)
    return SmileClassifier(properties=[Fair(["group"], 0.5)], config=config, random_state=0).fit(X, y)


OVER = Deadline(-float("inf"))


def test_emission_ends_between_two_rows(grades, monkeypatch):
    """Every look at the clock takes a second: of ten rows that need a proof, three begin in time."""
    problem = build(grades.claims_[0], grades.net_.snapshot())
    assert len(problem.rows) == 10
    asked, clock = [], itertools.count()
    honest = table.certifier
    monkeypatch.setattr(emit, "certifier", lambda problem, row: asked.append(row) or honest(problem, row))
    monkeypatch.setattr(deadline, "perf_counter", lambda: float(next(clock)))
    with pytest.raises(Late):
        emit.emit(problem, until=Deadline(2.5))
    assert len(asked) == 3
    assert len(emit.emit(problem, until=NEVER).proof.rows) == 20 and len(asked) == 13


def test_nothing_is_written_or_checked_once_it_is_too_late(grades, monkeypatch):
    done = []
    monkeypatch.setattr(certifying, "dump", lambda *parts: done.append("dump"))
    monkeypatch.setattr(certifying, "check_apart", lambda *parts: done.append("check"))
    with pytest.raises(Late):
        certifying.certify(grades.net_, grades.claims_, until=OVER)
    assert not done


@pytest.mark.usefixtures("fresh_checker")
def test_a_check_that_does_not_end_is_ended(tmp_path, monkeypatch):
    """The checker has a process of its own; this one would run for an hour."""
    (tmp_path / "forever.py").write_text("import time\ntime.sleep(3600)\n")
    monkeypatch.setattr(check, "__file__", str(tmp_path / "forever.py"))
    with pytest.raises(Late):
        check_apart(tmp_path, Deadline.after(0.2))


@pytest.mark.usefixtures("fresh_checker")
def test_a_check_without_a_deadline_has_all_the_time(grades, tmp_path, monkeypatch):
    grades.save(tmp_path / "model")
    limits, honest = [], process.subprocess.run

    def run(command, **options):
        limits.append(options["timeout"])
        return honest(command, **options)

    monkeypatch.setattr(process.subprocess, "run", run)
    assert check_apart(tmp_path / "model").status == "certified" and limits == [None]


def test_a_fit_says_that_time_ran_out_and_what_to_do(monkeypatch, tmp_path, capsys):
    """The network is trained, nothing is certified, and the saved model can be certified as it is."""
    X, y = people()
    model = SmileClassifier(
        properties=[Fair(["group"], 0.5)], config=Config(epochs=2, batch_size=64), time_limit=1e6, random_state=0
    )
    with monkeypatch.context() as patch:
        patch.setattr(verdict_mixin.Deadline, "after", lambda seconds: OVER)
        model.fit(X, y)
    assert model.quality_.steps > 0 and model.verdict_.status == "unknown" and model.certificate_ is None
    assert has(model.verdict_.why, Reason.LATE) and not np.isfinite(model.violation_bound_)
    note = model.certificate_note_
    for words in ("20 inequalities", "time_limit", "smile prove FOLDER --time-limit"):
        assert words in note
    model.save(tmp_path / "model")
    loaded = smilenn.load(tmp_path / "model")
    assert loaded.verdict_.status == "unknown"
    assert loaded.certify(time_limit=60.0).status == "proved"


def test_the_limit_of_certify_holds_too(grades, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(verdict_mixin.Deadline, "after", lambda seconds: OVER)
        assert grades.certify(time_limit=5.0).status == "unknown" and has(grades.verdict_.why, Reason.LATE)
        assert grades.certify().status == "proved"  # without a limit there is no deadline


def test_a_deadline_lies_a_little_beyond_the_limit(monkeypatch):
    """So that a certificate that is nearly done is not thrown away; it has some seconds in any case."""
    from smilenn.estimators import judgement

    asked, honest = [], judgement.judge
    X, _ = people()
    monkeypatch.setattr(deadline, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(verdict_mixin, "judge", lambda *a, until, **o: asked.append(until.at) or honest(*a, **o))
    config, finish = Config(epochs=1, batch_size=64), verdict_mixin.FINISH
    model = SmileRegressor(increasing=["x"], config=config, time_limit=1e-9, random_state=0).fit(X, np.arange(150.0))
    assert asked == [verdict_mixin.LEAST_SECONDS + finish] and model.verdict_.status == "proved"
    model.set_params(time_limit=None).fit(X, np.arange(150.0))
    assert asked[1:] == [float("inf")]


# ---- what rows share is done once -----------------------------------------------------------------------------------


def test_rows_without_splits_are_checked_in_one_cell(grades, tmp_path, monkeypatch):
    """Ten leaf rules over one premise: the checker computes the ranges of its coordinates once."""
    grades.save(tmp_path / "model")
    made, honest = [], check.Cell.__init__

    def init(self, *parts, **options):
        made.append(self)
        honest(self, *parts, **options)

    monkeypatch.setattr(check.Cell, "__init__", init)
    report = check.check_folder(tmp_path / "model")
    rules = [row.rule for claim in report.claims for row in claim.rows]
    assert report.status == "certified" and sorted(set(rules)) == ["leaf", "mirror"] and rules.count("leaf") == 10
    assert len(made) == 1


def test_a_row_without_units_is_emitted_as_a_search_would(grades, monkeypatch):
    """The root of a tree without slopes, found by a formula: the same proof, and no search."""
    from smilenn.provers.tree import branch

    problem = build(grades.claims_[0], grades.net_.snapshot())
    assert all(row.affine for row in problem.rows)
    quick = emit.emit(problem)
    with monkeypatch.context() as patch:
        patch.setattr(branch, "shown_at_once", lambda *parts: False)
        searched = emit.emit(problem)
    assert quick == searched
    monkeypatch.setattr(branch.BranchAndBound, "search", None)
    assert emit.emit(problem) == quick


def test_a_fit_does_not_write_its_claims_as_texts_and_read_them_again(monkeypatch):
    from smilenn.properties import custom

    def fail(*parts):
        raise AssertionError("a claim was parsed")

    monkeypatch.setattr(custom, "parse", fail)
    X, _ = people()
    config = Config(epochs=1, batch_size=64)
    model = SmileRegressor(properties=[Fair(["group"], 1.0)], config=config, random_state=0).fit(X, np.arange(150.0))
    assert model.verdict_.status == "proved"


def test_equal_premises_are_carried_through_the_encoder_once(grades, monkeypatch):
    """Rules about other outputs and the same inputs start from the same spread."""
    outputs = grades.outputs_
    rules = [Monotone(increasing=["x"], output=name) for name in NAMES]
    claims = [claim for rule in rules for claim in rule.lower(grades.domain_, outputs)]
    snapshot = grades.net_.snapshot()
    problems = [build(claim, snapshot) for claim in claims]
    assert len(snapshot.encoding.known) == 1
    fresh = [build(claim, grades.net_.snapshot()) for claim in claims]
    for one, other in zip(problems, fresh, strict=True):
        assert (one.region.delta_lo == other.region.delta_lo).all() and one.claim == other.claim
    build(Fair(["group"], 1).lower(grades.domain_, outputs)[0], snapshot)
    assert len(snapshot.encoding.known) == 2


def test_a_row_reads_back_from_its_text():
    row = Inequality((Term(Fraction(1), 0, "out", "p"), Term(Fraction(-1, 2), 1, "out", "p")), Fraction(1, 3))
    assert row.text() == 'a.out["p"] - 0.5 * b.out["p"] <= 1/3'
    assert row.halves() == (row,) and parse(row.text(), 2, "then") is not None


def test_networks_without_an_encoder_are_cut_off_too(monkeypatch):
    """Late rows of a proof are not searched: what came first counts, and the verdict says that time was over."""
    from smilenn.provers import attempt
    from smilenn.provers.portfolio import prove_problem

    X, y = people()
    config = Config(pretrain_epochs=1, epochs=1, posttrain_rounds=0, batch_size=64)
    network = Network(encoder="none", hidden=3, backbone_share=0.0)
    model = SmileClassifier(
        properties=[Fair(["group"], 50)], config=config, network=network, certify_limit=0, random_state=0
    ).fit(X, y)
    problem = build(model.claims_[0], model.net_.snapshot())
    tried, honest = [], attempt._attempt
    clock = itertools.count(0.0, 0.3)

    def slow(problem, row, *rest):
        tried.append(row)
        return honest(problem, row, *rest)

    monkeypatch.setattr(attempt, "_screen", lambda problem: {})
    monkeypatch.setattr(attempt, "_attempt", slow)
    monkeypatch.setattr(attempt, "perf_counter", lambda: next(clock))
    found = prove_problem(problem, time_limit=0.5)
    assert 1 <= len(tried) < len(problem.rows) and found.status == "unknown" and has(found.why, Reason.TIME)
