"""Small fitted models to report on, and a browser to look with."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smilenn import Config, Fair, Monotone, Network, Robust, SmileClassifier, SmileRegressor
from smilenn.estimators.trend import TrendWarning

QUICK = Config(pretrain_epochs=20, epochs=3, learning_rate=1e-2, batch_size=64, posttrain_rounds=5)
SMALL = {"network": Network(hidden=3, embedding=2, backbone_sizes=(4,)), "config": QUICK, "random_state": 0}
HOSTILE = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


def _chromium():
    spec = importlib.util.spec_from_file_location("smilenn_chromium", Path(__file__).with_name("chromium.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table(n=240, seed=0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "dose": rng.uniform(0, 10, n).round(3),
            "visits": rng.integers(0, 5, n),
            "site": rng.choice(["Aachen", "Bonn", "Celle"], n),
            "smoker": rng.choice(["no", "yes"], n),
        }
    )
    return frame.assign(score=(3 * frame["dose"] - 2 * (frame["smoker"] == "yes") + rng.normal(0, 1, n)).round(3))


@pytest.fixture(scope="session")
def rows():
    """Rows a model has not seen: X and y."""
    frame = table(120, seed=1)
    return frame.drop(columns="score"), frame["score"]


@pytest.fixture(scope="session")
def regressor():
    frame = table()
    rules = [Monotone(increasing=["dose"], decreasing=["visits"]), Fair(["smoker"], eps=3)]
    return SmileRegressor(properties=rules, **SMALL).fit(frame.drop(columns="score"), frame["score"])


@pytest.fixture(scope="session")
def classifier():
    """Sixteen pixels and a class; no column has a name."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (220, 25))
    y = np.where(x[:, :12].sum(axis=1) > x[:, 13:].sum(axis=1), "left", "right")
    model = SmileClassifier(properties=[Robust(0.05, eps=2)], **SMALL).fit(x, y)
    return model, x, y


@pytest.fixture(scope="session")
def hostile():
    """A model whose names, categories and classes try to break out of the page."""
    rng = np.random.default_rng(0)
    n = 80
    x = rng.uniform(0, 1, n)
    frame = pd.DataFrame(
        {HOSTILE: x, "a\nb\x1b[31m": rng.choice([HOSTILE, "</style>", "x"], n), "| *c* `d` |": rng.integers(0, 3, n)}
    )
    y = pd.Series(np.where(x > 0.5, HOSTILE, "<b>no</b>"), name="</title><script>window.hacked=1</script>")
    with pytest.warns(TrendWarning):
        model = SmileClassifier(increasing=[HOSTILE], properties=Fair(["a\nb\x1b[31m"], 5), **SMALL).fit(frame, y)
    return model, frame, y


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium, or a skipped test."""
    module = _chromium()
    binary = module.found()
    if binary is None:
        pytest.skip("Chromium is not installed: this test looks at a report in a real browser.")
    with module.Chromium(binary) as page:
        yield page
