"""Ten tables against tuned peers: peers keep the rule, inner folds choose, and the report says what falls short."""

import importlib.util
import math

import numpy as np
import pandas as pd
import pytest

from smilenn.datasets.base import Dataset
from smilenn.errors import SmileError
from smilenn.experiments import public_tables
from smilenn.experiments.compared import best_peer, compared
from smilenn.experiments.peers import dense
from smilenn.experiments.peers import tuned as tuning
from smilenn.experiments.peers.boosted import HistGB
from smilenn.experiments.peers.clamped import Clamped
from smilenn.experiments.peers.dense import Lipschitz, Network
from smilenn.experiments.peers.task import Rows, categories
from smilenn.experiments.peers.tuned import NEEDS, PEERS, tuned
from smilenn.experiments.practice import PRACTICE
from smilenn.experiments.study import Options


def messy(n=300, binary=False):
    """Falls in x though the rule says it rises; z is protected; gaps in x and in the text."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=n), "w": rng.normal(size=n), "z": rng.integers(0, 2, n)})
    frame["text"] = rng.choice(["a", "b", "c"], n)
    y = -frame["x"] + 2 * frame["w"] + frame["z"] + (frame["text"] == "a")
    frame.loc[::17, "x"] = np.nan
    frame.loc[::19, "text"] = None
    target = (y > 0).astype(float) if binary else y
    kind = "binary" if binary else "regression"
    return Dataset("messy", frame, target, kind, protected=("z",), increasing=("x",))


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("name", PEERS)
def test_a_peer_keeps_the_rule_and_learns_without_it(name, binary, monkeypatch):
    monkeypatch.setattr(dense, "LEAST_STEPS", 120)
    monkeypatch.setattr(Network, "settings", ({"sizes": (16, 16), "rate": 2e-2},))
    monkeypatch.setattr(Lipschitz, "settings", ({"slope": 4.0, "rate": 2e-2},))
    monkeypatch.setattr(dense, "EPOCHS", 10)
    monkeypatch.setattr(tuning, "FOLDS", 1)
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    data = messy(binary=binary)
    held, free = (Rows.of(data, rule=rule, seed=0) for rule in (True, False))
    assert "z" not in held.frame and "z" in free.frame
    kept, loose = (tuned(name, rows, tried=1) for rows in (held, free))
    steps = pd.concat([held.frame.iloc[[1]]] * 21, ignore_index=True)
    steps["x"] = np.linspace(-2, 2, 21)
    assert (np.diff(kept.output(steps)) >= -1e-6).all()  # float32 learners
    below = free.frame.iloc[[1, 1]].assign(x=[-2.0, 2.0])
    first, last = loose.output(below)
    assert last < first - 0.5
    strange = held.frame.iloc[[1]].assign(text=["never seen"])
    assert np.isfinite(kept.output(strange)).all()


def test_categories_are_numbered_alike_in_every_part():
    known = pd.DataFrame({"a": ["x", "y", None], "b": pd.Categorical(["lo", "hi", "hi"], ["lo", "hi"], ordered=True)})
    part = categories(known.iloc[[1]], known)
    assert list(part["a"].cat.categories) == ["x", "y"] and part["b"].tolist() == [1]


def row(model, seed, quality, inner=None, **more):
    return {"model": model, "data": "wine", "seed": seed, "quality": quality, "inner": inner, **more}


def some(gap):
    """smilenn is `gap` better than the peer that inner folds choose, which is not the best one on test rows."""
    out = []
    for seed in range(5):
        noise = 0.002 * (seed % 2)
        out += [
            row("smilenn", seed, 0.9 + gap + noise, status="proved", certified=True, seconds=1.0, auc=0.9),
            row("lightgbm", seed, 0.9, 0.1, status="none", seconds=1.0, auc=0.9),
            row("linear", seed, 0.99, 0.2, status="none", seconds=1.0, auc=0.9),
            row("histgb-free", seed, 0.95, 0.05, status="none", seconds=1.0, auc=0.9),
            row("constant", seed, 0.5, status="none", seconds=0.0, auc=0.5),
        ]
    return out


def test_inner_folds_choose_the_peer_and_splits_that_overlap_count_less():
    one = compared(some(0.01), "wine")
    assert one is not None and set(one.peers) == {"lightgbm"} and one.best == "histgb"
    spread = np.std([0, 0.002, 0, 0.002, 0], ddof=1)
    assert one.error == pytest.approx(spread * math.sqrt(1 / 5 + 1 / 4))
    assert one.difference == pytest.approx(0.01 + 0.0008)
    assert one.scaled(0.5) == 0 and one.scaled(0.95) == 1
    assert compared(some(0.0)[:5], "wine") is None


@pytest.mark.parametrize(("gap", "level"), [(0.0, "yes"), (-0.02, "**no**")])
def test_the_report_says_whether_a_table_is_level(gap, level):
    text = public_tables.report(some(gap), Options())
    line = next(line for line in text.splitlines() if line.startswith("| wine | rises in"))
    assert f"| {level} |" in line
    met = {aim.what: aim.met for aim in public_tables.aims(some(gap))}
    assert met == {
        "smilenn: certified": True,
        "wine: smilenn less the peer under the same rule, 5 splits": gap == 0,
    }


@pytest.mark.parametrize(("metric", "theirs"), [("rmse", 4.0), ("accuracy", 0.8)])
def test_some_tables_are_held_to_the_best_peer_that_has_every_split(metric, theirs):
    worse = 1.02 if metric == "rmse" else 0.98
    rows = [
        {"data": "bike", "seed": seed, "quality": 0.9, "inner": 1.0, "model": model, metric: value}
        for seed in range(5)
        for model, value in (("smilenn", theirs * worse), ("lightgbm", theirs), ("linear", theirs * worse**2))
    ]
    rows += [{"data": "bike", "seed": 0, "quality": 1.0, "inner": 0.0, "model": "ebm", metric: theirs / worse}]
    best = best_peer(rows, "bike")
    assert best is not None and (best.model, best.metric) == ("lightgbm", metric)  # ebm has one split alone
    assert best.behind == pytest.approx(0.02)
    (aim,) = (aim for aim in public_tables.aims(rows) if "best tuned peer" in aim.what)
    assert not aim.met and "2.00% worse" in aim.got
    for row in rows:
        row[metric] = row[metric] if row["model"] != "smilenn" else theirs / worse
    (aim,) = (aim for aim in public_tables.aims(rows) if "best tuned peer" in aim.what)
    assert aim.met and "better" in aim.got


def test_every_rule_names_columns_that_are_there_and_says_itself():
    for name in ("diabetes", "breast-cancer", "wine"):
        table = PRACTICE[name].table(None)  # a Dataset refuses names that are not columns
        assert table.increasing and len(PRACTICE[name].properties()) == 1
    assert PRACTICE["adult"].words() == "rises in education_num, hours; fair in sex, race at ε = 0.5"


def test_cells_are_computed_and_wrong_names_are_sentences():
    options = Options(quick=True)
    ours, peer, constant = (
        public_tables.compute(model, "wine", 0, True, options=options)[0] for model in ("smilenn", "histgb", "constant")
    )
    assert ours["certified"] and ours["quality"] > constant["quality"] + 0.1
    assert peer["quality"] > constant["quality"] + 0.1 and peer["inner"] < 0.6
    with pytest.raises(SmileError, match="no peer 'oracle'"):
        public_tables.compute("oracle", "wine", 0, True, options=options)
    with pytest.raises(SmileError, match="no table 'iris'"):
        public_tables.compute("histgb", "iris", 0, True, options=options)


def test_a_peer_that_is_not_installed_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SmileError, match=r"needs interpret: pip install 'smilenn\[peers\]'"):
        tuned("ebm", Rows.of(messy(), rule=True, seed=0))


def test_a_clamped_peer_keeps_both_rules():
    data = messy()
    rows = Rows.of(data, rule=True, seed=0, clamp=0.25)
    assert "z" in rows.frame and (rows.protected, rows.eps) == (("z",), 0.25)
    found = Clamped(HistGB())(rows, {"leaves": 8, "rate": 0.1}, rounds=60).output
    free = HistGB()(rows, {"leaves": 8, "rate": 0.1}, rounds=60).output
    groups = [rows.frame.assign(z=value) for value in (0, 1)]
    assert np.abs(np.subtract(*map(free, groups))).max() > 0.5  # the target differs by one
    assert np.isclose(np.abs(np.subtract(*map(found, groups))).max(), 0.25)
    steps = pd.concat([rows.frame.iloc[[1]]] * 21, ignore_index=True)
    steps["x"] = np.linspace(-2, 2, 21)
    assert (np.diff(found(steps)) >= -1e-9).all()


def test_tables_without_protected_columns_have_no_clamped_peer():
    named = {(cell["data"], cell["model"]) for cell in public_tables.cells(Options())}
    assert ("adult", "lightgbm-clamped") in named and ("bike", "lightgbm-clamped") not in named
