"""Labels that no allowed change can flip."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smilenn import Config, Custom, Fair, Monotone, Network, Robust, SmileClassifier, SmileError
from smilenn.estimators.stability import largest_change, refuse_unbounded, stable

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = Config(pretrain_epochs=30, epochs=8, learning_rate=1e-2, batch_size=16, posttrain_rounds=8)
SMALL = {"network": Network(hidden=3, embedding=2, backbone_sizes=(4,), members=2), "config": QUICK, "random_state": 0}


def data(seed=0, n=160):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, n), "g": rng.choice(["u", "v"], n)})
    return frame, np.where(frame["x"] + rng.normal(0, 0.5, n) > 5, "yes", "no")


@pytest.fixture(scope="module")
def model():
    # the searched network: an encoder, scaled until its steepest place is allowed, would certify hardly any label here
    properties = [Robust({"x": 0.2}, 1.0), Fair(["g"], 1.0)]
    return SmileClassifier(properties=properties, **SMALL | {"network": SMALL["network"].changed(encoder="none")}).fit(
        *data()
    )


def test_no_change_turns_a_certified_label(model):
    X, _ = data(seed=1)
    labels, certified = model.predict_certified(X)
    assert (labels == model.predict(X)).all() and certified.dtype == bool
    assert certified.any() and not certified.all()
    rng = np.random.default_rng(2)
    for _ in range(50):
        moved = X.assign(x=X["x"] + rng.uniform(-0.2, 0.2, len(X)))
        assert (model.predict(moved) == labels)[certified].all()
    assert (model.predict(X.assign(g=X["g"].map({"u": "v", "v": "u"}))) == labels)[certified].all()
    far = X.assign(x=1e6)  # outside: clamping carries both properties
    assert (model.predict(far) == model.predict(far.assign(g="u")))[model.predict_certified(far)[1]].all()


def test_the_bound_is_the_checked_one(model):
    rows = [row for claim in model.certificate_.report.claims for row in claim.rows]
    assert model.largest_change() >= max(float(row.bound + row.margin) for row in rows) > 0
    assert stable(np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]), 1.0).tolist() == [True, True] + [False] * 4 + [True]
    assert stable(np.array([-1.0, 0.0, 1.0]), 0.0).all()
    assert not stable(np.array([-1e300, 0.0, 1e300]), np.inf).any()


def test_a_rule_with_premises_of_its_own_is_named_where_it_certifies_no_label():
    """It is proved, of some pairs: no label is certified by it, and the sentence says which rule that is."""
    X, y = data(n=60)
    near = Custom(["a.out - b.out <= 1"], ["norm2(a.x - b.x) <= 0.2", "a.x <= 5"])
    few = Config(patience=None, epochs=2)
    model = SmileClassifier(properties=near, config=few, random_state=0).fit(X[["x"]], y)
    assert model.verdict_.status == "proved"
    with pytest.raises(SmileError, match=r"from every row, which '.*<= 5, norm2.*' does not; fit with a Robust"):
        model.predict_certified(X[["x"]])
    with pytest.raises(SmileError, match=r"bounds changes; fit with a Robust or Fair one\.$"):
        refuse_unbounded(Monotone(["x"]).lower(model.domain_), model.outputs_, model.domain_)


def test_rows_by_hand_are_read_at_their_own_scale(model):
    """Half of a change is bounded by a half, the change itself by one."""
    halved = [
        Custom(["-0.5 <= 0.5*a.out - 0.5*b.out <= 0.5"], ["-0.2 <= a.x - b.x <= 0.2"]),
        Custom(["-0.5 <= 0.5*a.out - 0.5*b.out <= 0.5"], free=["g"]),
    ]
    own = copy.deepcopy(model)
    own.properties = halved
    own.claims_ = own.lower_on(halved, own.domain_, own.columns_, own.outputs_)
    own.certify()
    assert own.certificate_ is not None and own.certificate_.claims == own.claims_
    X, _ = data(seed=1)
    logits = [model.decision_function(X.assign(x=X["x"] + move)) for move in (-0.2, 0.0, 0.2)]
    rows = [row for claim in own.certificate_.report.claims for row in claim.rows]
    halves = max(float(row.bound + row.margin) for row in rows)
    assert own.largest_change() == pytest.approx(2 * halves) and own.largest_change() >= 2 * halves
    assert np.abs(np.diff(logits, axis=0)).max() <= own.largest_change() <= 1.0


def test_a_bound_on_another_form_bounds_no_margin():
    """What f_u + f_v may change by says nothing of f_u − f_v, though it too names two outputs."""
    frame, y = data()
    classes = np.where(frame["x"] > 7, "w", np.where(y == "yes", "v", "u"))
    together = Custom(["-1 <= a.out.u + a.out.v - b.out.u - b.out.v <= 1"], free=["g"])
    found = SmileClassifier(properties=[together], **SMALL).fit(frame, classes)
    assert found.changing_claims() and np.isinf(found.largest_changes()[~np.eye(3, dtype=bool)]).all()
    assert not found.predict_certified(frame)[1].any()


def test_without_a_certificate_no_label_is_certified(model):
    X, _ = data(seed=1)
    changed = copy.deepcopy(model)
    changed.net_.head_bias.data += 1.0
    assert not changed.predict_certified(X)[1].any()
    plain = SmileClassifier(properties=[Robust({"x": 0.2}, 1.0)], certify_limit=0, **SMALL).fit(*data())
    assert not plain.predict_certified(X)[1].any()
    none = SmileClassifier(properties=[Monotone(["x"])], **SMALL).fit(*data())
    with pytest.raises(SmileError, match="fit with a Robust or Fair one"):
        none.predict_certified(X)


def test_what_clamping_does_not_carry_certifies_nothing_outside(model):
    claims, domain = model.claims_, model.domain_
    certificate = model.certificate_
    assert largest_change(certificate, claims, domain, "clamp") < np.inf
    shifted = Robust({"x": (0.1, 0.2)}, 5.0).lower(domain)  # pairs that stay apart: an edge would join them
    one = replace(certificate, claims=shifted, report=replace(certificate.report, claims=certificate.report.claims[:1]))
    assert largest_change(one, shifted, domain, "clamp") == np.inf
    assert largest_change(one, shifted, domain, "raise") < np.inf
    assert largest_change(certificate, shifted, domain, "raise") == np.inf  # not among the certified ones
