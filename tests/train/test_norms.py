"""Networks for claims in the Euclidean norm: alone, beside others, of labels and of numbers."""

import numpy as np
import pandas as pd
import pytest

from smilenn import (
    Bounded,
    Concave,
    Convex,
    Custom,
    Dominates,
    Fair,
    Lipschitz,
    LocalRobust,
    Monotone,
    Robust,
    SmileClassifier,
    SmileRegressor,
    Symmetric,
    load,
)
from smilenn.certify.reference import check as reference
from smilenn.domain import Domain, Feature
from smilenn.properties import ground, holds_exactly
from smilenn.properties.forms import Outputs
from smilenn.properties.spec import lower_all
from smilenn.train.config import Config
from smilenn.train.contractions import _resize_, settle, spread
from smilenn.train.recipes import Design, Task, recipe_for
from smilenn.train.recipes.columns import in_strips
from smilenn.train.recipes.distances import sized_distance_net

pytestmark = pytest.mark.usefixtures("quick_module")

NAMES = list("xyzw")
BOX = Domain.box([0.0] * 4, [1.0, 1.0, 2.0, 1.0], NAMES)
PIXELS = Domain.box([0.0] * 64, [1.0] * 64, [f"p{i}" for i in range(64)])
LOGIT, CLASSES, LABELS = Outputs(("",), ("n", "p")), Outputs(tuple("pqr"), tuple("pqr")), Outputs(("s", "t"))
BOTH = [Robust(0.02, 1), Robust({"x": 0.05, "y": 0.05, "z": 0.2, "w": 0.05}, 1, norm=2)]
EVERY = [Robust(0.1, 1), Robust(0.3, 1, norm=2)]
TWO_WAYS = ["a.out - b.out <= 1", "b.out - a.out <= 1"]


def beside(*when, then=TWO_WAYS, **more):
    return [Custom(when=["norm2(a - b) <= 0.05", *when], then=then, **more)]


def task(rules, outputs=LOGIT, domain=BOX, *, classify=True, **design):
    rng = np.random.default_rng(0)
    x = rng.uniform(domain.lo, domain.hi, (40, domain.size))
    y = rng.integers(0, 2, (40, len(outputs.names))).astype(float)
    claims = lower_all(rules, domain, outputs)
    return Task.of(domain, x, claims, classify=classify, outputs=outputs, y=y, design=Design(**design))


@pytest.mark.parametrize(
    ("asked", "family"),
    [
        (task(BOTH, CLASSES), "distances"),
        (task(BOTH, LABELS), "distances"),
        (task(BOTH), "curved"),
        (task(EVERY, CLASSES, PIXELS, encoder="image"), "distances"),
        (task(EVERY, LOGIT, PIXELS, encoder="image"), "distances"),
        (task(BOTH[1:], CLASSES), "contractions"),
        (task(BOTH[1:], LABELS), "contractions"),
        (task([Monotone(increasing=["x"]), BOTH[1]]), "curved"),
        (task([Convex("x"), BOTH[1]]), "curved"),
        (task([Concave("x"), BOTH[1]], Outputs(), classify=False), "curved"),
        (task([Symmetric(["x", "y"]), BOTH[1]], CLASSES), "curved"),
        (task([Dominates("x", "y"), BOTH[1]], Outputs(), classify=False), "curved"),
        (task(BOTH[1:], Outputs(), classify=False), "curved"),
        (task(beside("a.x <= 0.5")), "contractions"),
        (task(beside("a.x >= b.x")), "contractions"),
        (task(beside("a.x >= b.x", then=["a.out >= b.out - 0.1"])), "contractions"),
        (task([*beside("a.x <= 0.5"), Monotone(increasing=["y"])]), "plain"),
        (task(beside("a.x >= b.x", then=["a.out >= b.out"])), "plain"),
        (task(beside("a.x <= 0.5"), encoder="none"), "plain"),
    ],
)
def test_which_network_keeps_a_norm(asked, family):
    found = recipe_for(asked)
    assert found.family == family
    counted = asked.kinds != {"Robust in the Euclidean norm"} or not asked.classify
    assert ("each column alone" in found.reasons) == (family == "plain")
    assert ("one of every column by as much" in found.reasons) == (counted and family != "plain")


OTHERS = {
    "Monotone": lambda **o: Monotone(increasing=["x"], **o),
    "Convex": lambda **o: Convex("x", **o),
    "Concave": lambda **o: Concave("x", **o),
    "Symmetric": lambda **o: Symmetric(["x", "y"], **o),
    "Symmetric, wide": lambda **o: Symmetric(["x", "y"], eps=5, **o),
    "Dominates": lambda **o: Dominates("x", "y", **o),
    "Lipschitz": lambda **o: Lipschitz("x", 2, **o),
    "Bounded": lambda **o: Bounded(-5, 5, **o),
    "Fair": lambda **o: Fair("kind", eps=0.3, **o),
    "Fair, ε = 0": lambda **o: Fair("kind", eps=0, **o),
    "Fair nearby": lambda **o: Fair("kind", eps=0.3, delta=0.1, **o),
    "Robust": lambda **o: Robust(0.02, 0.5, **o),
    "LocalRobust": lambda **o: LocalRobust([{"x": 0.5, "y": 0.5, "z": 1, "w": 0, "kind": "a"}], 0.1, eps=0.5, **o),
}
OUTPUTS = {  # outputs, the one that a property is about, whether they are classes
    "numbers": (Outputs(), {}, False),
    "several numbers": (Outputs(("s", "t")), {"output": "s"}, False),
    "quantiles": (Outputs(("q0.1", "q0.5", "q0.9")), {"output": "q0.5"}, False),
    "two classes": (LOGIT, {}, True),
    "classes": (CLASSES, {"output": "p"}, True),
    "labels": (LABELS, {"output": "s"}, True),
}
KINDED = Domain((*BOX.features, Feature("kind", "category", categories=("a", "b", "c"))))


@pytest.mark.parametrize("outputs", OUTPUTS)
@pytest.mark.parametrize("other", OTHERS)
def test_a_norm_stands_beside_every_other_property(other, outputs):
    names, about, classify = OUTPUTS[outputs]
    claims, rng = lower_all([OTHERS[other](**about), BOTH[1]], KINDED, names), np.random.default_rng(0)
    x = KINDED.sample(40, rng)
    y = rng.integers(0, 2, (40, len(names.names))).astype(float)
    found = recipe_for(Task.of(KINDED, x, claims, classify=classify, outputs=names, y=y))
    distances = other == "Robust" and outputs in ("classes", "labels")
    assert found.family == (
        "distances" if distances else "plain" if other in ("LocalRobust", "Fair nearby") else "curved"
    )


def test_a_premise_that_no_network_keeps_is_told_what_to_state():
    free = Custom(when=["norm2(a.x - b.x) <= 0.05", "a.y <= 0.5"], then=TWO_WAYS)  # y is named, so it may change too
    for rules in ([free], [*beside("a.x <= 0.5", others="free"), free]):
        asked = task(rules)
        assert "claims of another form" in asked.kinds
        assert "State norm2 without other premises, or a bound for each column." in recipe_for(asked).reasons
    assert "State norm2" not in recipe_for(task(BOTH[1:], encoder="none")).reasons


def test_strips_hold_all_of_a_ball():
    (claim,) = beside("a.x >= b.x")[0].lower(BOX)
    wider, rng = in_strips(claim), np.random.default_rng(0)
    assert not wider.ball and (ground(wider, BOX).pinned == ground(claim, BOX).pinned).all()
    a = rng.uniform(BOX.lo, BOX.hi, (300, 4))
    z = rng.normal(size=(300, 4))
    b = np.clip(a - 0.05 * (1 - 1e-12) * z / np.linalg.norm(z, axis=1, keepdims=True), BOX.lo, BOX.hi)
    inside = [pair for pair in np.stack([a, b], axis=1) if holds_exactly(claim, BOX, pair)]
    assert len(inside) > 100 and all(holds_exactly(wider, BOX, pair) for pair in inside)
    corner = np.array([[0.5, 0.5, 0.5, 0.5], [0.45, 0.45, 0.45, 0.45]])
    assert holds_exactly(wider, BOX, corner) and not holds_exactly(claim, BOX, corner)


@pytest.mark.parametrize("image", [False, True])
def test_training_aims_at_no_delta_that_is_half_of_the_range(image):
    def theta(*rules):
        claims, design = lower_all(rules, PIXELS, CLASSES), Design("image") if image else Design()
        return sized_distance_net(PIXELS, [in_strips(c) for c in claims], 100, CLASSES, design)[1].margin

    small, large = Robust(0.4, 1), Robust(1.58, 1, norm=2)
    assert theta(small, large) == theta(small) and theta(Robust(0.01, 1), Robust(0.4, 1, norm=2)) == theta(small)


def test_training_aims_at_delta_as_the_layers_see_it():
    """Columns whose δ are different shares of their ranges are scaled, and what a net is asked for with them."""
    domain = Domain((Feature("x", "continuous", 0.0, 1.0), Feature("y", "continuous", 0.0, 10.0, mult=0.1)))

    def theta(rule):
        return sized_distance_net(domain, lower_all([rule], domain, CLASSES), 100, CLASSES)[1].margin

    assert theta(Robust(0.05, 1)) == theta(Robust("0.5%", 1)) == 0.1  # y has the least share
    assert theta(Robust(0.5, 1)) == pytest.approx(theta(Robust("5%", 1)), rel=1e-9)
    assert theta(Robust(0.5, 1)) == pytest.approx(0.3, rel=1e-9)


def test_rows_of_labels_have_the_length_that_epsilon_allows():
    net = recipe_for(task(BOTH[1:], LABELS)).net
    size = spread(net.lower.slope, "sign")
    net.lower.slope.data[0] *= 3
    _resize_(net, size, "sign")
    assert np.allclose(net.lower.slope.detach().norm(dim=1).numpy(), size, rtol=1e-12)
    net.lower.slope.data[1] *= 2
    settle(net, size, "sign")
    assert np.isclose(float(net.lower.slope.norm(dim=1).max()), size, rtol=1e-12)


def blobs(columns=4):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=120)
    x = np.clip(rng.uniform(0.2, 0.8, (3, columns))[y] + rng.normal(0, 0.07, (120, columns)), 0, 1)
    return pd.DataFrame(x, columns=NAMES), y


X, Y = blobs()
FITS = {
    "both norms": (SmileClassifier, [Robust(0.02), Robust(0.05, norm=2)], Y),
    "both norms, two classes": (SmileClassifier, [Robust(0.02), Robust(0.05, norm=2)], Y > 0),
    "labels": (SmileClassifier, [Robust(0.05, norm=2)], np.stack([Y > 0, Y == 1], axis=1).astype(int)),
    "beside a bound": (SmileClassifier, beside("a.x <= 0.5"), Y > 0),
    "beside an order": (SmileClassifier, beside("a.x >= b.x", then=["a.out >= b.out - 0.2"]), Y > 0),
    "beside monotone": (SmileClassifier, [Monotone(decreasing=["x"]), Robust(0.05, norm=2)], Y > 0),
    "beside convex": (SmileRegressor, [Convex("x"), Robust(0.05, eps=0.1, norm=2)], X["x"] ** 2 + X["y"]),
    "beside symmetric": (SmileClassifier, [Symmetric(["x", "y"]), Robust(0.05, norm=2)], Y),
    "numbers": (SmileRegressor, [Robust(0.05, eps=0.1, norm=2)], np.sin(6 * X["x"]) + X["y"]),
}
SHAPED = {"beside convex", "beside symmetric"}  # whose other claim is not about pairs near each other


def pairs_of(claim, domain, rng):
    """Pairs of the premise: at random, along single columns and at corners, as long as it allows, in exact numbers."""
    given = ground(claim, domain)
    a = rng.uniform(given.lo[0], given.hi[0], (400, domain.size))
    a[::4] = np.where(rng.random(a[::4].shape) < 0.5, given.lo[0], given.hi[0])
    z = rng.normal(size=a.shape)
    z[::3] *= np.eye(domain.size)[rng.integers(domain.size, size=len(z[::3]))]
    if claim.ball:
        z *= given.axes / np.linalg.norm(z, axis=1, keepdims=True)
    else:
        z = np.sign(z) * np.minimum(1.0, np.maximum(-given.delta_lo, given.delta_hi))
    b = np.clip(a + z * (1 - 1e-12), given.lo[1], given.hi[1])
    pairs = np.stack([a, b], axis=1)
    pairs[1::7, 1] = np.nextafter(pairs[1::7, 0], 1.0)
    return np.array([pair for pair in pairs if holds_exactly(claim, domain, pair)])


@pytest.mark.parametrize("name", FITS)
def test_no_pair_moves_by_more_than_was_checked(name, tmp_path):
    kind, rules, y = FITS[name]
    few = Config(patience=None, epochs=20, batch_size=32, train_learning_rate=0.01)
    made = kind(properties=rules, random_state=0, config=few if kind is SmileClassifier else None).fit(X, y)
    assert made.verdict_.status == "proved", made.explain()
    made.save(tmp_path / "m")
    assert reference.check_folder(tmp_path / "m").status == "certified"
    model, rng = load(tmp_path / "m"), np.random.default_rng(0)
    outputs, shares = list(model.outputs_.names), []
    for claim, checked in zip(model.certificate_.claims, model.certificate_.report.claims, strict=True):
        if name in SHAPED and not claim.ball:
            continue
        pairs = pairs_of(claim, model.domain_, rng)
        assert len(pairs) > 50
        f = model.net_.predict(pairs.reshape(-1, model.domain_.size)).reshape(len(pairs), 2, -1)
        alone = np.stack([model.net_.predict(one) for one in pairs[:5]])
        assert (alone == f[:5]).all() or np.abs(alone - f[:5]).max() < 1e-12
        for row, found in zip(claim.rows, checked.rows, strict=True):
            left = sum(float(t.coef) * f[:, t.copy, outputs.index(t.name)] for t in row.terms)
            most = float(found.bound + found.margin)
            assert (left <= most * (1 + 1e-13)).all()
            assert most <= float(row.rhs) * (1 + 1e-9)
            shares.append(left.max() / most if most else 0.0)
    assert max(shares) > 0.25  # the bounds are not idle


def test_radii_of_both_norms_are_those_of_their_own_claims():
    few = Config(patience=None, epochs=100, batch_size=32, train_learning_rate=0.02)
    model = SmileClassifier(properties=[Robust(0.02), Robust(0.05, norm=2)], config=few, random_state=0).fit(X, Y)
    labels, both = model.predict_certified(X)
    assert (labels == Y).mean() > 0.8 and (both & (labels == Y)).mean() > 0.4
    wide = model.certified_radius(X), model.certified_radius(X, norm=2)
    assert (both == (wide[0] >= 0.02) & (wide[1] >= 0.05)).all() and (wide[0] > 0).any()
    rng, x = np.random.default_rng(0), X.to_numpy()
    for norm, radius in zip(("inf", 2), wide, strict=True):
        for _ in range(20):
            z = rng.normal(size=x.shape)
            z = np.sign(z) if norm == "inf" else z / np.linalg.norm(z, axis=1, keepdims=True)
            moved = np.clip(x + z * radius[:, None] * (1 - 1e-9), model.domain_.lo, model.domain_.hi)
            assert (model.predict(pd.DataFrame(moved, columns=NAMES)) == labels)[radius > 0].all()
