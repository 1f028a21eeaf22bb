"""Which runs there are: one whose auxiliaries die is replaced by one from another seed, and none begins too late."""

import logging

import numpy as np
import pandas as pd
import pytest

from smilenn import Bounded, Config, Convex, Monotone, Network, Proved, Robust, SmileRegressor
from smilenn.train import restarts
from smilenn.train.clock import Clock
from smilenn.train.health import DeadAuxiliaries

QUICK = Config(pretrain_epochs=20, epochs=2, learning_rate=1e-2, batch_size=16, posttrain_rounds=4, settle_rounds=2)
SMALL = {
    "network": Network(encoder="none", hidden=3, embedding=2, backbone_sizes=(4,)),
    "config": QUICK,
    "random_state": 0,
}


def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 80)})
    return frame, 3 * frame["x"].to_numpy() + rng.normal(0, 1, 80)


def dying(monkeypatch, dead):
    """Let the runs whose number is in `dead` fail; returns the seeds that were tried."""
    real, seeds = restarts.fit, []

    def fit(*arguments, **options):
        seeds.append(options["seed"])
        if len(seeds) - 1 in dead:
            raise DeadAuxiliaries(f"All hidden units are dead in run {len(seeds) - 1}; change the seed.")
        return real(*arguments, **options)

    monkeypatch.setattr(restarts, "fit", fit)
    return seeds


@pytest.mark.parametrize("dead", [{0}, {1}])
def test_the_others_are_tried(monkeypatch, caplog, dead):
    seeds = dying(monkeypatch, dead)
    with caplog.at_level(logging.WARNING, logger="smilenn"):
        model = SmileRegressor(increasing=["x"], **SMALL).set_params(network__restarts=2).fit(*data())
    assert isinstance(model.verdict_, Proved)
    assert len(set(seeds)) == 3 and model.seed_ in seeds and seeds.index(model.seed_) not in dead
    warned = [record.getMessage() for record in caplog.records if "dead" in record.getMessage()]
    assert len(warned) == len(dead) and f"run {min(dead) + 1} of 4" in warned[0]


def test_if_all_die_the_last_failure_is_raised(monkeypatch):
    seeds = dying(monkeypatch, {0, 1, 2})
    model = SmileRegressor(increasing=["x"], **SMALL)
    with pytest.raises(DeadAuxiliaries, match="run 2"):
        model.fit(*data())
    assert len(seeds) == 3 and not hasattr(model, "net_")


# ---- time limits ----------------------------------------------------------------------------------------------------

RULES = {
    "none": {},
    "signs": {"properties": [Monotone(["x"])]},
    "spline": {"properties": [Convex(["x"])]},
    "box": {"properties": [Bounded(-100, 100)]},
    "plain": {"properties": [Monotone(["x"])], "network": Network(encoder="none")},
    "paper": {"properties": [Robust(0.1, 50)], "network": Network(encoder="none", boxes="paper")},
}


@pytest.mark.parametrize("kind", RULES)
def test_a_limit_that_is_over_at_once_trains_nothing(kind):
    model = SmileRegressor(time_limit=1e-9, random_state=0, **RULES[kind]).fit(*data())
    assert model.quality_.steps == 0 and not [r for r in model.history_ if r["phase"] != "repair"]
    assert "no training step was completed" in model.quality_.shortfall
    assert "no training step was completed" in model.explain()


@pytest.mark.parametrize("kind", RULES)
def test_no_epoch_begins_when_the_limit_is_over(monkeypatch, kind):
    """The first is begun in time, and whatever is asked from its first step on, the limit is over."""
    asked = []
    monkeypatch.setattr(Clock, "over", lambda self: bool(asked) or asked.append(self) is not None)
    model = SmileRegressor(time_limit=1e6, random_state=0, **RULES[kind]).fit(*data())
    assert model.quality_.steps == 1 and asked


def test_no_restart_begins_when_the_limit_is_over(monkeypatch):
    seeds = dying(monkeypatch, set())
    model = SmileRegressor(increasing=["x"], time_limit=1e-9, **SMALL).set_params(network__restarts=3).fit(*data())
    assert len(seeds) == 1 and model.quality_.steps == 0


def test_an_ensemble_without_time_is_not_judged_on_all_rows(monkeypatch):
    """What is left of a limit goes to the proof: neither ramps nor predictions of all rows are computed."""
    from smilenn.train.ensemble import Ensemble
    from smilenn.train.phases import Training

    asked = []
    monkeypatch.setattr(Training, "held_out_loss", lambda self, net: asked.append("loss") or 1.0)
    monkeypatch.setattr(Ensemble, "keep", lambda self, u: asked.append("ramps"))
    model = SmileRegressor(time_limit=1e-9, random_state=0, **RULES["signs"]).fit(*data())
    assert not asked and model.quality_.steps == 0 and model.verdict_.status == "proved"
    SmileRegressor(random_state=0, config=Config(epochs=1), **RULES["signs"]).fit(*data())
    assert "ramps" in asked


def test_reading_the_table_is_part_of_the_limit(monkeypatch):
    """Every look at the clock takes four seconds: of ten, six are left when training begins."""
    import itertools

    from smilenn.estimators import base
    from smilenn.train import restarts

    class Seen(Exception):
        pass

    def best_run(task, labelled, settings, **rest):
        raise Seen(settings.time_limit)

    ticks = itertools.count(0.0, 4.0)
    monkeypatch.setattr(base, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(restarts, "best_run", best_run)
    with pytest.raises(Seen) as found:
        SmileRegressor(increasing=["x"], time_limit=10.0, **SMALL).fit(*data())
    assert found.value.args == (6.0,)
