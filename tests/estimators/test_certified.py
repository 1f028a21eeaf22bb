"""Training ends with a certificate: what the estimators say of it, and what takes it away again."""

import copy
import json
import pickle
import re
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

import smilenn
from smilenn import (
    Config,
    Fair,
    Monotone,
    Network,
    Proved,
    Robust,
    SmileClassifier,
    SmileError,
    SmileRegressor,
    Unknown,
)
from smilenn.certify import certify as certifying
from smilenn.certify.check import Report
from smilenn.errors import AlteredError
from smilenn.estimators.trend import TrendWarning
from smilenn.model.folder import read_folder, write_folder
from smilenn.provers.attempt import Attempt
from smilenn.provers.mip.solvers.base import Status
from smilenn.provers.mip.solvers.highs import Highs
from smilenn.provers.tree import grow, learn
from smilenn.reason import Reason, because

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = Config(pretrain_epochs=20, epochs=4, learning_rate=1e-2, batch_size=16, posttrain_rounds=5)
ROUGH = Config(pretrain_epochs=3, epochs=0, posttrain_rounds=0, feasible_start=False, repair=False, least_quality=0.0)
SMALL = {
    "network": Network(encoder="none", hidden=3, embedding=2, backbone_sizes=(4,)),
    "config": QUICK,
    "random_state": 0,
}


def line(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 120), "g": rng.choice(["u", "v", "w"], 120)})
    return frame, pd.Series(3 * frame["x"] + rng.normal(0, 1, 120), name="y")


def fitted(**options):
    return SmileRegressor(**SMALL | {"properties": Fair(["g"], 2.0)} | options).fit(*line())


def easy(**options):
    """A model that is hardly trained, with a rule that holds all the same."""
    return fitted(**{"config": ROUGH, "properties": Fair(["g"], 1000.0)} | options)


@pytest.fixture(scope="module")
def certified():
    """A certified model; tests that change it work on a copy."""
    model = fitted(increasing=["x"])
    assert model.certificate_ is not None and model.certificate_.accepted
    return model


@pytest.fixture(scope="module")
def open_():
    """A model whose rule does not hold: never trained for it."""
    return fitted(properties=Fair(["g"], 0.001), config=ROUGH)


# ---- what fit says --------------------------------------------------------------------------------------------------


def test_a_certified_model_carries_its_certificate(certified, tmp_path):
    certificate, verdict = certified.certificate_, certified.verdict_
    assert verdict.status == "proved" and verdict.certificate == certificate.sha256
    assert certified.violation_bound_ == certificate.bound == verdict.tolerance < 1e-9
    assert certified.certificate_note_ == ""
    statement = certificate.statement
    assert "Raising 'x', everything else equal, never lowers the predicted 'y'." in statement
    assert "changing 'g' alone changes the predicted 'y' by at most 2. (" in statement
    assert "'x' in [" in statement and certificate.sha256 in statement and "not certified" not in statement
    certified.save(tmp_path / "m")
    assert {"certificate.json", "certificate.bin"} <= {path.name for path in (tmp_path / "m").iterdir()}
    checked = smilenn.check(tmp_path / "m", reference=True)
    assert checked.status == "proved" and checked.certificate == certificate.sha256
    loaded = smilenn.load(tmp_path / "m")
    assert loaded.certificate_.files == certificate.files and loaded.certificate_.statement == statement
    assert loaded.verdict_.to_json() == verdict.to_json() and loaded.violation_bound_ == certified.violation_bound_


def test_without_a_proof_the_checked_bound_is_reported(open_, tmp_path):
    certificate, verdict = open_.certificate_, open_.verdict_
    assert verdict.status in ("unknown", "violated") and verdict.exit_code != 0
    assert not certificate.accepted and certificate.report.status == "unknown"
    assert 0 < open_.violation_bound_ == certificate.bound < np.inf
    assert "may fail, by at most" in certificate.statement and "[certified" not in certificate.statement
    assert open_.certificate_note_
    open_.save(tmp_path / "m")
    checked = smilenn.check(tmp_path / "m")
    assert checked.status == "unknown" and checked.bound == open_.violation_bound_
    assert smilenn.load(tmp_path / "m").violation_bound_ == open_.violation_bound_
    # the bound is true: no pair of rows that differ in g alone lies further apart
    X, _ = line(seed=1)
    apart = np.ptp([open_.predict(X.assign(g=g)) for g in "uvw"], axis=0)
    assert apart.max() <= 0.001 + open_.violation_bound_


def test_without_properties_and_without_asking_there_is_none(certified):
    none = easy(properties=())
    assert none.certificate_ is None and none.certificate_note_ == "No property was asked for."
    assert none.verdict_.status == "unknown"
    named = easy(certify_limit=0)
    assert named.certificate_ is None and "No certificate was asked for" in named.certificate_note_
    assert named.verdict_.sentence().startswith("proved by ") and named.verdict_.exit_code == 3
    with pytest.raises(SmileError, match="certify_limit must be 0 seconds or more"):
        easy(certify_limit=-1)


def test_a_time_out_or_ctrl_c_gives_the_best_checked_bound(monkeypatch):
    """A claim that needs splits: certified in time; otherwise the root's bound, checked and larger."""
    monkeypatch.setattr(learn, "AT_ONCE", 10**9)  # with lemmas the root alone proves it
    X = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (60, 3)), columns=list("abc"))
    options = SMALL | {"network": SMALL["network"].changed(hidden=8), "config": ROUGH}
    model = SmileRegressor(properties=[Robust(0.2, 1000.0)], **options).fit(X, X.sum(axis=1))
    ((first, _),) = (claim.rows for claim in model.certificate_.report.claims)
    model.properties = [Robust(0.2, round(0.95 * float(first.bound), 6))]  # below what the root proves
    model.claims_ = model.lower(model.properties)
    short = certifying.certify(model.net_, model.claims_, time_limit=0.0)
    assert not short.accepted
    assert model.certificate_ is None and "claims were changed" in model.certificate_note_
    model.certify_limit = 1e-9
    found = smilenn.prove(model)
    model._conclude(found, None)
    assert found.status == "proved"
    assert isinstance(model.verdict_, Unknown) and "the time limit was reached" in model.verdict_.reason
    assert "finds no violation in floating point" in model.verdict_.reason
    assert 0 < model.violation_bound_ == short.bound and not model.interrupted_

    def stop(self, node):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(grow.Growth, "split", stop)
        model.certify_limit = 20.0
        model._conclude(found, None)
        assert model.interrupted_ and model.verdict_.status == "unknown" and "interrupted" in model.verdict_.reason
        assert 0 < model.violation_bound_ == model.certificate_.bound < np.inf
        with pytest.raises(KeyboardInterrupt):
            model.certify()
    assert model.certify(time_limit=20.0).certificate and model.violation_bound_ == 0.0


def test_a_classifier_is_certified_too(tmp_path):
    X, y = line()
    model = SmileClassifier(properties=[Robust(0.05), Monotone(["x"])], **SMALL).fit(X, y > 15)
    assert model.verdict_.status == "proved" and model.verdict_.certificate
    model.save(tmp_path / "m")
    assert smilenn.load(tmp_path / "m").verdict_.certificate == model.verdict_.certificate


# ---- what takes a certificate away ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tensor", ["head_weight", "head_bias", "lower.const", "second.out"])
def test_a_changed_network_is_not_certified(certified, tensor, tmp_path):
    model = copy.deepcopy(certified)
    with torch.no_grad():
        model.net_.get_parameter(tensor).mul_(1.5).add_(2.0**-20)
    assert model.verdict_.status == "unknown" and "changed after it was judged" in model.verdict_.sentence()
    assert model.certificate_ is None and "call certify()" in model.certificate_note_
    assert model.violation_bound_ == np.inf
    with pytest.raises(SmileError, match="changed after its verdict; call certify"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
    again = model.certify()
    assert again.weights == model.net_.snapshot().digest
    model.save(tmp_path / "m")
    assert smilenn.check(tmp_path / "m").status == again.status or again.status == "violated"
    assert certified.verdict_.certificate  # the copy's business alone


def test_weights_that_are_none_are_not_certified(certified):
    model = copy.deepcopy(certified)
    with torch.no_grad():
        model.net_.lower.const.fill_(float("nan"))
    assert model.verdict_.status == "unknown" and model.certificate_ is None


def test_the_backbone_may_change(certified):
    model = copy.deepcopy(certified)
    with torch.no_grad():
        for parameter in model.net_.backbone.parameters():
            parameter.mul_(-3.0)
    assert model.verdict_.certificate == certified.verdict_.certificate


def test_refitting_replaces_the_certificate(certified):
    model, (X, y) = copy.deepcopy(certified), line(seed=5)
    with pytest.warns(TrendWarning, match="The data fall with 'x' where the rule says rise"):
        model.fit(X, -y)
    assert model.verdict_.weights == model.net_.snapshot().digest != certified.verdict_.weights
    assert model.certificate_.model != certified.certificate_.model
    model.set_params(increasing=(), properties=(), config=ROUGH).fit(X, y)
    assert model.certificate_ is None and model.verdict_.status == "unknown"
    with pytest.raises(SmileError):
        copy.deepcopy(certified).fit(X, y[:-1])  # a fit that fails changes nothing
    assert certified.verdict_.certificate


def test_a_verdict_set_from_outside_has_no_certificate(certified):
    model = copy.deepcopy(certified)
    model.verdict_ = smilenn.prove(model)
    assert model.verdict_.status == "proved" and not model.verdict_.certificate
    assert model.certificate_ is None and "set from outside" in model.certificate_note_


def test_clones_have_none_and_copies_keep_it(certified):
    assert not hasattr(clone(certified), "verdict_")
    for twin in (copy.deepcopy(certified), pickle.loads(pickle.dumps(certified))):
        assert twin.verdict_.certificate == certified.verdict_.certificate == twin.certificate_.sha256


# ---- folders --------------------------------------------------------------------------------------------------------


def test_a_foreign_certificate_is_refused(certified, tmp_path):
    """Files of another model with the same claims, and the manifest made to agree with them."""
    other = fitted(increasing=["x"], random_state=1)
    certified.save(tmp_path / "mine")
    other.save(tmp_path / "theirs")
    stolen = {name: data for name, data in read_folder(tmp_path / "theirs").items() if name.startswith("certificate")}
    assert stolen.keys() == {"certificate.json", "certificate.bin"}
    write_folder(tmp_path / "mine", {**read_folder(tmp_path / "mine"), **stolen}, overwrite=True)
    with pytest.raises(AlteredError, match="does not check"):
        smilenn.load(tmp_path / "mine")
    assert smilenn.check(tmp_path / "mine").status == "rejected"


def test_the_certificate_of_a_bound_does_not_make_a_proof(open_, tmp_path):
    """A verdict.json that says proved, beside files that prove a bound only."""
    open_.save(tmp_path / "m")
    files = read_folder(tmp_path / "m")
    verdict = json.loads(files["verdict.json"])
    forged = verdict | {"status": "proved", "tolerance": 0.0, "certificate": open_.certificate_.sha256}
    changed = {**files, "verdict.json": json.dumps(forged).encode()}
    write_folder(tmp_path / "m", changed, overwrite=True)
    loaded = smilenn.load(tmp_path / "m")
    assert loaded.verdict_.status == "unknown" and loaded.violation_bound_ == open_.certificate_.bound > 0


def test_a_folder_without_its_certificate_is_not_certified(certified, tmp_path):
    certified.save(tmp_path / "m")
    files = {n: data for n, data in read_folder(tmp_path / "m").items() if not n.startswith("certificate")}
    shutil.rmtree(tmp_path / "m")
    write_folder(tmp_path / "m", files)
    loaded = smilenn.load(tmp_path / "m")
    assert loaded.verdict_.status == "unknown" and loaded.violation_bound_ == np.inf and loaded.certificate_ is None
    assert "holds no certificate" in loaded.certificate_note_


# ---- what may go wrong on the way -----------------------------------------------------------------------------------


def test_a_lying_solver_certifies_nothing_false(open_, monkeypatch):
    """Every bound is called optimal and far below zero, the multipliers are noise, and nobody looks for a point."""
    honest = Highs.solve

    def lie(self, model, **options):
        from dataclasses import replace

        found = honest(self, model, **options)
        noise = np.random.default_rng(0).normal(size=len(model.row_lo))
        point = None if model.integer.any() else found.x
        return replace(found, status=Status.OPTIMAL, dual_bound=-1e6, x=point, multipliers=noise)

    monkeypatch.setattr(Highs, "solve", lie)
    monkeypatch.setattr(Attempt, "challenged", lambda self, problem, until: self)
    model = copy.deepcopy(open_)
    assert smilenn.prove(model, prover="mip").status == "proved"  # the lie
    verdict = model.certify(prover="mip", time_limit=2.0)
    assert verdict.status == "unknown" and verdict.exit_code == 3
    assert not model.certificate_.accepted and model.violation_bound_ > 0
    fresh = fitted(properties=Fair(["g"], 0.001), config=ROUGH, certify_limit=2.0)
    assert fresh.verdict_.status != "proved"


def test_ctrl_c_while_certifying_keeps_the_network(tmp_path):
    def stop(progress):
        if progress.phase == "certify":
            raise KeyboardInterrupt

    X, y = line()
    model = SmileRegressor(**SMALL | {"config": ROUGH, "properties": Fair(["g"], 1000.0)}).fit(X, y, callback=stop)
    assert model.interrupted_ and model.certificate_ is None
    assert model.verdict_.status == "unknown" and "interrupted" in model.verdict_.reason
    assert model.violation_bound_ == np.inf and model.predict(X).shape == (120,)
    model.save(tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    again = smilenn.load(tmp_path / "m")
    assert again.interrupted_ and again.verdict_.status == "unknown"
    assert again.certify().certificate


def test_ctrl_c_in_a_linear_program_is_not_lost(monkeypatch):
    """A search is made of many of them: one that reported the interruption as a result would let the search go on."""
    from smilenn.provers.mip.linear_model import Builder
    from smilenn.provers.mip.solvers import highs

    build = Builder()
    build.column(0.0, 1.0, gain=1.0)
    assert Highs().solve(build.model(), time_limit=1.0).status is Status.OPTIMAL
    monkeypatch.setattr(highs, "_run", lambda h, stop: h.run() is not None)  # run, and Ctrl-C was pressed meanwhile
    with pytest.raises(KeyboardInterrupt):
        Highs().solve(build.model(), time_limit=1.0)


def test_ctrl_c_in_the_proof_ends_the_fit(monkeypatch):
    from smilenn.train import fit as training

    monkeypatch.setattr(training, "prove_claims", lambda *a, **o: Unknown("HiGHS", why=because(Reason.INTERRUPTED)))
    model = easy()
    assert model.interrupted_ and model.certificate_ is None and model.verdict_.status == "unknown"


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (RuntimeError("boom"), r"an error that should not happen \(RuntimeError: boom\)"),
        (SmileError("No inputs were found."), "No inputs were found"),
    ],
)
def test_a_failing_certification_does_not_lose_the_network(monkeypatch, failure, message):
    def fail(*arguments, **options):
        raise failure

    monkeypatch.setattr(certifying, "certify", fail)
    model = easy()
    assert model.verdict_.status == "unknown" and model.violation_bound_ == np.inf
    assert model.certificate_ is None and re.search(message, model.certificate_note_)


def test_what_the_checker_refuses_is_no_certificate(monkeypatch):
    monkeypatch.setattr(certifying, "check_apart", lambda folder, until: Report("refused", "a leaf is missing"))
    model = easy()
    assert model.certificate_ is None and model.verdict_.status == "unknown"
    assert "the checker refused the proof (a leaf is missing)" in model.verdict_.sentence()
    assert str(Reason.CHANGED.value) not in model.certificate_note_


def test_progress_tells_of_the_certification():
    seen = []
    rules = {"properties": [Robust({"x": 1}, 1e6), Fair(["g"], 1000.0)]}
    SmileRegressor(**SMALL | {"config": ROUGH} | rules).fit(*line(), callback=seen.append)
    steps = [(p.step, p.steps, p.message) for p in seen if p.phase == "certify"]
    assert steps == [(0, 2, ""), (1, 2, ""), (2, 2, "the checker accepts")]
    seconds = [p.seconds for p in seen]
    assert seconds == sorted(seconds)


def test_a_prover_that_says_proved_to_everything_certifies_nothing(monkeypatch):
    """Training, posttraining and the last proof are told that the claim holds; the checker is not."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.uniform(0, 1, 120), "g": rng.choice(["u", "v"], 120)})
    y = X["x"] + 10.0 * (X["g"] == "v")

    def lie(net, claims, **_):
        return Proved("a lie", -1.0)

    monkeypatch.setattr("smilenn.train.fit.prove_claims", lie)
    for place in ("smilenn.train.run.check", "smilenn.train.phases.check"):
        monkeypatch.setattr(place, lambda net, task: (True, -1.0))
    config = Config(pretrain_epochs=60, epochs=1, learning_rate=1e-2, batch_size=16, feasible_start=False, repair=False)
    model = SmileRegressor(properties=Fair(["g"], 0.01), **SMALL | {"config": config}).fit(X, y)
    change = np.abs(model.predict(X.assign(g="u")) - model.predict(X.assign(g="v"))).max()
    assert change > 1.0
    assert isinstance(model.verdict_, Unknown) and model.violation_bound_ >= change - 0.01
