"""Certified radii: multiples of a certified δ, never more than what pairs of inputs allow."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from smilenn import load
from smilenn.certify.check import check_folder
from smilenn.certify.reference import check as reference
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.radius import Steps, as_written, least_radius, radii, reaching, sizes_of, steps_of
from smilenn.properties import Claim, Custom, Robust
from smilenn.properties.forms import Outputs
from smilenn.train.config import Config

pytestmark = pytest.mark.usefixtures("quick_module")


def blobs(rows=240, columns=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    centres = rng.uniform(0.2, 0.8, (classes, columns))
    return np.clip(centres[y] + rng.normal(0, 0.08, (rows, columns)), 0, 1), y


@pytest.fixture(scope="module")
def fitted():
    x, y = blobs()
    x[:, 5] = 0.25  # a column of one value
    model = SmileClassifier(properties=[Robust(0.2, norm=2), Robust(0.02, norm=2)], random_state=0)
    return model.fit(x, y), x, y


def test_several_classes_are_certified_in_the_euclidean_norm(fitted, tmp_path):
    model, x, y = fitted
    assert model.verdict_.status == "proved"
    assert "Contractions" in model.explain()
    labels, steady = model.predict_certified(x)
    assert (labels == y).mean() > 0.9 and ((labels == y) & steady).mean() > 0.3
    model.save(tmp_path / "m")
    assert reference.check_folder(tmp_path / "m").status == "certified"
    again = load(tmp_path / "m")
    assert (again.certified_radius(x, 2) == model.certified_radius(x, 2)).all()


def test_a_radius_is_a_multiple_of_a_certified_delta(fitted):
    model, x, _ = fitted
    radius = model.certified_radius(x, norm=2)
    _, steady = model.predict_certified(x)
    assert ((radius >= 0.2) == steady).all()  # one fifth is not a float, and 0.2 stands for it
    for delta, known in ((0.2, steady), ("0.2", steady), (0.1, radius >= 0.1)):
        again, certified = model.predict_certified(x, delta=delta, norm=2)
        assert (certified == known).all() and (again == model.predict(x)).all()
    with pytest.raises(SmileError, match="delta is 0; it must be more than 0"):
        model.predict_certified(x, delta=0, norm=2)
    assert len(np.unique(radius)) > 4 and radius.max() > 0.2
    steps = radius / 0.02
    assert (np.abs(steps - np.rint(steps)) < 1e-6).all()


def test_no_input_within_the_radius_gets_another_label(fitted):
    model, x, _ = fitted
    radius, labels = model.certified_radius(x, norm=2), model.predict(x)
    rng = np.random.default_rng(1)
    for _ in range(20):
        step = rng.normal(size=x.shape)
        step[:, 5] = 0
        step *= (1 - 1e-9) * radius[:, None] / np.linalg.norm(step, axis=1, keepdims=True)
        moved = np.clip(x + step, x.min(axis=0), x.max(axis=0))
        assert (model.predict(moved) == labels).all()
    towards = x[labels == 1].mean(axis=0) - x
    towards *= (1 - 1e-9) * radius[:, None] / np.linalg.norm(towards, axis=1, keepdims=True).clip(min=1e-9)
    assert (model.predict(np.clip(x + towards, x.min(axis=0), x.max(axis=0))) == labels).all()


def test_a_radius_needs_a_claim_of_its_norm(fitted):
    model, x, _ = fitted
    with pytest.raises(SmileError, match="of another norm; give norm=2"):
        model.certified_radius(x)


def test_a_delta_that_rounds_to_the_certified_one_is_not_certified():
    """0 and the float 0.1 are more than a tenth apart, and less than 0.10000000000000001: no claim covers them."""
    x = np.linspace(0, 1, 120)[:, None]
    model = SmileClassifier(properties=[Robust(0.1)], random_state=0).fit(x, x[:, 0] > 0.5)
    exact = model.certified_radius(x) == 0.1
    assert exact.any() and Fraction(1, 10) < Fraction(0.1) < Fraction("0.10000000000000001")
    for more in ("0.10000000000000001", str(Fraction(1, 10) + Fraction(1, 10**30))):
        assert not model.predict_certified(x, delta=more)[1][exact].any()
    assert model.predict_certified(x, delta="1/10")[1][exact].all()


def test_a_delta_that_no_decimal_of_a_float_is_counts_where_it_was_certified():
    third = Fraction(1, 3)
    one = replace(steps(float(third)), size=third)
    assert reaching([one], third)[0].once == least_radius(third) > third > one.once
    assert reaching([one], Fraction("0.333")) == [one] and least_radius(Fraction("0.333")) == 0.333


def steps(delta=0.25, slack=0.0):
    return Steps(Claim.__new__(Claim), delta, delta, slack, Fraction(delta))


def test_one_step_is_the_number_that_was_written():
    assert as_written(Fraction(1, 10)) == 0.1 and Fraction(0.1) > Fraction(1, 10)
    assert as_written(Fraction(3, 10)) == 0.3
    third = as_written(Fraction(1, 3))  # no decimal: the float below it
    assert Fraction(third) <= Fraction(1, 3) < Fraction(np.nextafter(third, 1))
    assert least_radius(Fraction(1, 10)) == 0.1
    assert least_radius(Fraction(1, 10) + Fraction(1, 10**20)) > 0.1  # a radius of 0.1 stands for a tenth and no more
    just = Fraction(1, 10) - Fraction(1, 10**30)  # not what 0.1 is written for
    assert Fraction(as_written(just)) <= just


def test_several_steps_are_rounded_down():
    found = radii(np.array([0.35, 0.15]), np.array([0.1]), steps(0.1, 1e-15), margins=False)
    assert Fraction(found[0]) < Fraction(3, 10) and found[0] > 0.3 - 1e-12 and found[1] == 0.1


def test_steps_are_counted_strictly():
    logits = np.array([0.0, 0.1, 0.3, 0.30000000000000004, 0.9, -0.31])
    found = radii(logits, np.array([0.1]), steps(), margins=False)
    assert found.tolist()[:2] == [0.0, 0.0]  # a lead of one bound is not a lead
    assert found[2] < 0.75 + 1e-12 and found[4] <= 9 * 0.25 and found[5] >= 0.5
    assert (found <= np.floor(np.abs(logits) / 0.1) * 0.25 + 1e-12).all()


def test_margins_take_the_worst_class():
    logits = np.array([[3.0, 2.0, 0.0]])
    change = np.array([[0.0, 0.3, 2.0], [0.3, 0.0, 1.0], [2.0, 1.0, 0.0]])
    assert radii(logits, change, steps(1.0), margins=True).tolist() == [1.0]  # 3 steps against 1, 1 against 2
    assert radii(logits, np.full((3, 3), math.inf), steps(1.0), margins=True).tolist() == [0.0]


@pytest.mark.parametrize(
    ("item", "norm", "known"),
    [
        (Robust(0.1, 1), "inf", True),
        (Robust(0.1, 1), 2, False),
        (Robust(0.1, 1, norm=2), 2, True),
        (Robust({"a": 0.1, "b": 0.2}, 1), "inf", False),
        (Robust({"a": 0.1, "b": 0.2}, 1, norm=2), 2, False),
        (Robust({"a": (-0.1, 0.2)}, 1), "inf", False),
    ],
)
def test_claims_with_one_delta_have_steps(item, norm, known):
    domain = Domain((Feature("a", "continuous", 0.0, 1.0), Feature("b", "continuous", -4.0, 1.0)))
    (claim,) = item.lower(domain, ("y",))
    found = steps_of(claim, Outputs(("y",)), domain, norm)
    assert (found is not None) == known
    if found is not None:
        assert Fraction(found.delta) <= Fraction(1, 10) and 0 < found.slack < 1e-13 and found.once == 0.1


@pytest.mark.parametrize("norm", ["inf", 2])
def test_columns_with_deltas_of_their_own_have_multiples(norm):
    domain = Domain(
        (Feature("a", "continuous", 0.0, 1.0), Feature("b", "continuous", -4.0, 1.0), Feature("c", lo=2.0, hi=2.0))
    )
    outputs = Outputs(("y",))
    (whole,), (fine,) = (Robust(share, 1, norm=norm).lower(domain, ("y",)) for share in ("5%", "0.5%"))
    (other,) = Robust({"a": 0.1, "b": 0.1}, 1, norm=norm).lower(domain, ("y",))
    unit = sizes_of(whole, outputs, domain, norm)
    assert unit == {"a": Fraction(1, 20), "b": Fraction(1, 4)}  # the column of one value has no room
    assert steps_of(whole, outputs, domain, norm) is None
    once, tenth = (steps_of(claim, outputs, domain, norm, unit) for claim in (whole, fine))
    assert once is not None and once.once == 1.0 and tenth is not None and tenth.once == 0.1
    assert steps_of(other, outputs, domain, norm, unit) is None  # of other proportions
    (partly,) = Robust({"a": 0.1}, 1, norm=norm).lower(domain, ("y",))
    assert not sizes_of(partly, outputs, domain, norm)


def test_shares_of_ranges_give_radii_in_multiples():
    x, y = blobs(columns=4)
    x *= [1, 10, 100, 1000]
    model = SmileClassifier(properties=Robust("5%", norm=2, steps=10), random_state=0).fit(x, y)
    assert model.verdict_.status == "proved" and len(model.claims_) == 2
    with pytest.raises(SmileError, match="unit='delta'"):
        model.certified_radius(x, norm=2)
    radius, (labels, steady) = model.certified_radius(x, norm=2, unit="delta"), model.predict_certified(x)
    assert ((radius >= 1) == steady).all() and steady.any() and len(np.unique(radius)) > 5
    delta = np.array([float(size) for _, size in model.claims_[0].ball])
    rng = np.random.default_rng(2)
    for _ in range(10):
        step = rng.normal(size=x.shape)
        step *= (1 - 1e-9) * radius[:, None] / np.linalg.norm(step, axis=1, keepdims=True)
        moved = np.clip(x + step * delta, model.domain_.lo, model.domain_.hi)
        assert (model.predict(moved) == labels).all()
    with pytest.raises(SmileError, match="unit is 'metre'"):
        model.certified_radius(x, norm=2, unit="metre")  # type: ignore[arg-type]


def test_whole_numbers_have_no_steps():
    domain = Domain((Feature("a", "integer", 0.0, 9.0),))
    (claim,) = Robust(1, 1).lower(domain, ("y",))
    assert steps_of(claim, Outputs(("y",)), domain, "inf") is None


def test_a_column_of_whole_numbers_that_blocks_a_radius_is_named():
    x, y = blobs(columns=3, classes=2)
    x[:, 2] = np.round(4 * x[:, 2])
    space = Domain((Feature("a"), Feature("b"), Feature("kids", "integer", 0.0, 4.0)))
    model = SmileClassifier(properties=[Robust(0.1)], domain=space, random_state=0).fit(x, y)
    wanted = (
        "The certified property moves 'kids' too, a column of whole numbers. A radius is about continuous columns "
        "alone; fit with one that names these, such as Robust({'a': 0.1, 'b': 0.1})."
    )
    with pytest.raises(SmileError) as error:
        model.certified_radius(x)
    assert str(error.value) == wanted
    other = SmileClassifier(properties=[Robust({"a": 0.1, "b": 0.1})], domain=space, random_state=0).fit(x, y)
    assert other.verdict_.status == "proved" and len(other.certified_radius(x)) == len(x)


def test_training_is_repeatable():
    x, y = blobs(columns=4)
    config = Config(patience=None, epochs=3, batch_size=32, learning_rate=3e-3, train_learning_rate=3e-3, margin=0.3)
    models = [
        SmileClassifier(properties=[Robust(0.1, norm=2)], config=config, random_state=1).fit(x, y) for _ in range(2)
    ]
    assert (models[0].outputs(x) == models[1].outputs(x)).all()


@pytest.mark.parametrize("delta", [{"a": "1/3", "b": "1/7"}, {"a": "5%", "b": 1}])
def test_deltas_that_are_no_decimals_are_kept_and_said_exactly(delta, tmp_path):
    """Formulas divide by (1/3): divided by 1/3 they would claim changes nine times as large."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.uniform(0, 1, 60), "b": rng.uniform(0, 1, 60)})
    rule = Robust(delta, norm=2, steps=3)
    model = SmileClassifier(properties=[rule], config=Config(epochs=2), random_state=0)
    model.fit(x, (x["a"] + x["b"] > 1).astype(int))
    assert model.verdict_.status == "proved" and model.verdict_.certificate
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.verdict_.status == "proved"
    balls = [claim.ball for claim in model.lower([rule])]
    assert len(balls) == 2 and len(set(balls)) == 2
    for checked in (check_folder(tmp_path / "model"), reference.check_folder(tmp_path / "model")):
        said = [re.search(r"norm2\(.*?\) <= [0-9./]+", claim.formula) for claim in checked.claims]
        meant = [Custom(when=[found[0]], then=["a.out <= 1"]).lower(model.domain_)[0].ball for found in said if found]
        assert meant == balls
