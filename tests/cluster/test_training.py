"""A fit on a cluster: restarts, boosted trees and folds are tasks, and every weight has the bits that it has alone."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.model_selection import cross_val_score

import smilenn
from smilenn import Config, Network, SmileRegressor
from smilenn.clusters.dask_pool import DaskPool
from smilenn.clusters.task import ClusterError

pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own start and end


def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(0, 1, 240), "b": rng.uniform(0, 1, 240)})
    return frame, 2 * frame["a"] + np.sin(5 * frame["b"]) + rng.normal(0, 0.1, 240)


def fitted(restarts=1):
    model = SmileRegressor(
        increasing=["a"], config=Config(epochs=3), network=Network(restarts=restarts), random_state=0
    )
    return model.fit(*data())


def same_weights(one, other):
    a, b = one.net_.state_dict(), other.net_.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a) and one.seed_ == other.seed_


@pytest.fixture(scope="module")
def alone():
    return {restarts: fitted(restarts) for restarts in (1, 2)}


@pytest.fixture
def performed(monkeypatch):
    """The names of the functions that the cluster was asked to perform, one for each task."""
    names, real = [], DaskPool.results

    def results(self, function, tasks, shared=None):
        names.extend(function.__name__ for _ in tasks)
        return real(self, function, tasks, shared)

    monkeypatch.setattr(DaskPool, "results", results)
    return names


def test_the_default_ensemble_has_the_same_weights(workers, alone, performed):
    with smilenn.cluster(workers):
        found = fitted()
    assert performed == ["_shared"] * 4, "the boosted trees of every group"
    assert same_weights(found, alone[1]) and found.verdict_.status == alone[1].verdict_.status == "proved"


def test_restarts_have_the_same_weights(workers, alone, performed):
    with smilenn.cluster(workers):
        found = fitted(2)
    assert performed == ["_restart"] * 2
    assert same_weights(found, alone[2]) and not same_weights(found, alone[1])


def test_where_the_cluster_is_lost_the_other_restarts_are_trained_here(workers, alone, monkeypatch, caplog):
    real = DaskPool.results

    def lost(self, function, tasks, shared=None):
        yield from real(self, function, tasks[:1], shared)
        raise ClusterError("The scheduler was lost.")

    monkeypatch.setattr(DaskPool, "results", lambda *call: lost(*call) if len(call[2]) == 2 else real(*call))
    with smilenn.cluster(workers):
        found = fitted(2)
    assert "The other restarts are trained here: The scheduler was lost." in caplog.text
    assert same_weights(found, alone[2])


def test_folds_of_a_cross_validation_run_there(workers):
    frame, y = data()
    model = SmileRegressor(increasing=["a"], config=Config(epochs=2), random_state=0)
    wanted = cross_val_score(model, frame, y, cv=2)
    log = workers.cluster.scheduler.transition_log
    before = len(log)
    with smilenn.cluster(workers):
        found = cross_val_score(model, frame, y, cv=2, n_jobs=-1)
    assert len(log) > before, "the cluster has done it"
    assert found.tolist() == wanted.tolist()
