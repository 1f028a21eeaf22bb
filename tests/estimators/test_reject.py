"""Rejection: no two rows within δ get two different accepted labels, whatever they are."""

import math

import numpy as np
import pytest

from smilenn import load
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.reject import accepted, with_rejections
from smilenn.properties import Monotone, Robust

pytestmark = pytest.mark.usefixtures("quick_module")

DELTA, PAIRS = 0.2, 100_000


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=240)
    centres = rng.uniform(0.2, 0.8, (3, 5))
    x = np.clip(centres[y] + rng.normal(0, 0.08, (240, 5)), 0, 1)
    names = np.array(["low", "middle", "high"])
    model = SmileClassifier(properties=[Robust(DELTA, norm=2)], random_state=0).fit(x, names[y])
    model.save(tmp_path_factory.mktemp("reject") / "m")
    return load(tmp_path_factory.getbasetemp() / "reject0" / "m"), x, names[y]


def test_no_pair_within_delta_gets_two_accepted_labels(fitted):
    """Pairs on both sides of a decision, δ apart along the line between two rows of different classes."""
    model, x, _ = fitted
    rng = np.random.default_rng(1)
    lo, hi = model.domain_.lo, model.domain_.hi
    one, other = x[rng.integers(len(x), size=PAIRS)], x[rng.integers(len(x), size=PAIRS)]
    way = other - one
    length = np.linalg.norm(way, axis=1, keepdims=True)
    one, way, length = (v[length[:, 0] > DELTA] for v in (one, way, length))
    a = one + rng.uniform(size=length.shape) * (1 - DELTA / length) * way
    b = np.clip(a + (1 - 1e-9) * DELTA * way / length, lo, hi)
    first, second = model.predict_or_reject(a), model.predict_or_reject(b)
    both = (first != "rejected") & (second != "rejected")
    assert len(a) > PAIRS / 2 and both.mean() > 0.1
    assert not (first != second)[both].any()
    plain = model.predict(a) != model.predict(b)
    assert plain.sum() > 1000  # the pairs do cross decisions
    # a quarter of the bound in place of half of it would not do
    loose = [accepted(model.outputs(v), model.largest_changes() / 2, margins=True) for v in (a, b)]
    assert (plain & loose[0] & loose[1]).any()


def test_labels_that_are_certified_are_accepted_and_more(fitted):
    model, x, y = fitted
    labels, certified = model.predict_certified(x)
    found = model.predict_or_reject(x)
    kept = found != "rejected"
    assert (kept | ~certified).all() and kept.sum() > certified.sum()
    assert (found[kept] == labels[kept]).all() and (found[kept] == y[kept]).mean() > 0.95
    assert (model.accepted(model.outputs(x)) == kept).all()
    assert set(model.predict_or_reject(x, rejected="?")) <= {"low", "middle", "high", "?"}


def test_half_of_a_bound_is_strict():
    change = np.array([1.0])
    found = accepted(np.array([0.5, math.nextafter(0.5, 1), -0.5, math.nextafter(-0.5, 0), 0.0]), change, margins=False)
    assert found.tolist() == [False, True, True, False, False]
    least = np.array([5e-324])
    assert accepted(np.array([5e-324]), least, margins=False).tolist() == [False]
    nothing = accepted(np.array([[9.0, 1.0]]), np.full((2, 2), math.inf), margins=True)
    assert not nothing.any()


@pytest.mark.parametrize(
    ("classes", "rejected", "wanted"),
    [
        (np.array([0, 1]), None, [0, -1]),
        (np.array([0.5, 1.5]), None, [0.5, -1.0]),
        (np.array(["a", "b"]), None, ["a", "rejected"]),
        (np.array([False, True]), None, [False, "rejected"]),
        (np.array([0, 1]), "no answer", [0, "no answer"]),
    ],
)
def test_the_class_of_rejected_rows(classes, rejected, wanted):
    found = with_rejections(classes[[0, 1]], np.array([True, False]), classes, rejected)
    assert found.tolist() == wanted


def test_the_class_of_rejected_rows_is_no_other(fitted):
    with pytest.raises(SmileError, match="cannot be called -1, which is a class"):
        with_rejections(np.array([1]), np.array([True]), np.array([-1, 1]))
    with pytest.raises(SmileError, match="cannot be called 'low'"):
        fitted[0].predict_or_reject(fitted[1][:2], rejected="low")


def test_rejection_needs_a_rule_about_changes():
    x = np.random.default_rng(0).uniform(size=(60, 2))
    model = SmileClassifier(properties=[Monotone(increasing=[0])], random_state=0, time_limit=5)
    model.fit(x, (x[:, 0] > 0.5).astype(int))
    assert model.accepted(model.outputs(x)[:, None]) is None
    with pytest.raises(SmileError, match="fit with a Robust or Fair one"):
        model.predict_or_reject(x)


def test_the_report_has_rejection_and_a_curve(fitted, tmp_path):
    from smilenn.report.findings import gather
    from smilenn.report.stability import stability

    model, x, y = fitted
    page = stability(gather(model, x, y))
    kept = model.predict_or_reject(x) != "rejected"
    assert "predict_or_reject" in page and "Euclidean norm" in page and "every column by itself" not in page
    assert f"{kept.mean():.3g}" in page and "certified accuracy at 0:" in page
    assert stability(gather(model, x)) == ""
