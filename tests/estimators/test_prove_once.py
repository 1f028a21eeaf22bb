"""A fit searches once: verdict and certificate start from the tree of posttraining, and the checker sees the result."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from smilenn import Fair, Network, SmileRegressor, prove
from smilenn.provers.tree import relaxation
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.train.config import Config

pytestmark = pytest.mark.usefixtures("quick_module")


def table(rows=240):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.uniform(0, 1, rows) for name in "abc"} | {"g": rng.choice(["u", "v", "w"], rows)})
    return X, np.maximum(X["a"] + X["b"] - 1.0, 0.0) + 0.3 * X["c"] + 0.2 * (X["g"] == "v")


@pytest.fixture
def searches(monkeypatch):
    """(nodes, linear programs) of every search of a branch-and-bound, in order."""
    found, lps = [], []
    real, solve = BranchAndBound.search, relaxation.BoxLP.solve

    def solving(self, *args, **options):
        lps.append(1)
        return solve(self, *args, **options)

    def searching(self, *args, **options):
        before = len(lps)
        tree = real(self, *args, **options)
        found.append((tree.nodes, len(lps) - before))
        return tree

    monkeypatch.setattr(relaxation.BoxLP, "solve", solving)
    monkeypatch.setattr(BranchAndBound, "search", searching)
    return found


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_the_verdict_and_the_certificate_solve_no_linear_program(searches, boxes):
    X, y = table()
    config = Config(pretrain_epochs=15, epochs=15, batch_size=64, learning_rate=1e-2, posttrain_seconds=20.0)
    model = SmileRegressor(
        properties=Fair(["g"], 0.3),
        network=Network(encoder="none", boxes=boxes, hidden=3),
        config=config,
        random_state=0,
    ).fit(X, y)
    assert model.certificate_ is not None and model.certificate_.accepted
    *training, verdict, certificate = searches
    assert any(lps > 0 for _, lps in training)
    assert verdict[1] == certificate[1] == 0 and verdict[0] >= 1


def test_certifying_anew_searches_once(searches):
    X, y = table()
    config = Config(pretrain_epochs=15, epochs=15, batch_size=64, learning_rate=1e-2, posttrain_seconds=20.0)
    model = SmileRegressor(
        properties=Fair(["g"], 0.3), network=Network(encoder="none", hidden=3), config=config, random_state=0
    ).fit(X, y)
    searches.clear()
    assert model.certify().status == "proved"
    verdict, certificate = searches
    assert verdict[1] > 0 and certificate[1] == 0


def test_a_time_limit_covers_the_proof_and_the_certificate(monkeypatch):
    """The proof gets at most half; the certificate what is left of it, and a second in any case; 0 asks for none."""
    from smilenn.estimators import verdict_mixin

    X, y = table()
    config = Config(pretrain_epochs=2, epochs=2, posttrain_rounds=0)
    model = SmileRegressor(increasing=["a"], config=config, certify_limit=30.0, random_state=0).fit(X, y)
    clock, took, asked = [0.0], [0.0], []
    honest = verdict_mixin.judge

    def slow_proof(estimator, *, time_limit, **options):
        asked.append(time_limit)
        clock[0] += took[0]
        return prove(estimator)

    def judge(*parts, time_limit, **options):
        asked.append(time_limit)
        return honest(*parts, time_limit=min(time_limit, 5.0), **options)

    monkeypatch.setattr(verdict_mixin, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(verdict_mixin, "prove", slow_proof)
    monkeypatch.setattr(verdict_mixin, "judge", judge)
    for limit, took[0], wanted in ((20, 3, [10, 17]), (20, 10.5, [10, 9.5]), (1.5, 1, [0.75, 1]), (None, 2, [30, 58])):
        asked.clear()
        assert model.certify(time_limit=limit).certificate and asked == wanted
    took[0] = 0.0
    assert not model.certify(time_limit=0).certificate and asked[-2:] == [0, 0]
