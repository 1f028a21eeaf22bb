"""Ten classes of 8 × 8 digits, robust in both norms, certified by both checkers."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import smilenn
from smilenn import Network
from smilenn.certify.reference import check as reference
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.radius import radii, steps_of
from smilenn.estimators.stability import largest_changes
from smilenn.properties import Robust
from smilenn.train.config import Config

# far fewer epochs than the default
SHORT = {
    "inf": Config(patience=None, epochs=8, batch_size=64, train_learning_rate=0.02, margin=0.6),
    2: Config(patience=None, epochs=6, batch_size=64, train_learning_rate=3e-3, margin=0.8),
}


def radii_of(model, x, norm):
    """Radii by the stated δ alone."""
    steps = steps_of(model.claims_[0], model.outputs_, model.domain_, norm)
    change = largest_changes(model.certificate_, model.claims_[:1], model.outputs_, model.domain_, "raise")
    return radii(model.outputs(x), change, steps, margins=True) if steps is not None else None


@pytest.fixture(scope="module", params=["inf", 2])
def digits(request, tmp_path_factory):
    norm = request.param
    x, y = load_digits(return_X_y=True)
    x = x / 16
    model = SmileClassifier(
        properties=Robust(0.1, norm=norm), network=Network(encoder="image"), config=SHORT[norm], random_state=0
    ).fit(x[:1400], y[:1400])
    folder = tmp_path_factory.mktemp("ten") / "m"
    model.save(folder)
    return model, x[1400:], y[1400:], norm, folder


def test_ten_classes_are_learned_and_certified(digits):
    model, x, y, norm, folder = digits
    assert model.verdict_.status == "proved"
    assert reference.check_folder(folder).status == "certified"
    labels, certified = model.predict_certified(x)
    assert (labels == y).mean() > 0.8
    assert ((labels == y) & certified).mean() > 0.65
    radius = model.certified_radius(x, norm)
    assert ((radius >= 0.1) == certified).all()


def test_pixels_beyond_their_range_and_constant_ones_keep_labels_and_radii(digits):
    """What lies outside is moved to the edge, which takes no two rows further apart: labels hold for such rows too."""
    model, x, _, norm, _ = digits
    domain, rng = model.domain_, np.random.default_rng(0)
    still = domain.lo == domain.hi
    assert still.sum() > 2
    labels, certified = model.predict_certified(x)
    step = rng.choice([-1.0, 1.0], x.shape)
    step[:, ~still] *= rng.random((len(x), 1)) < 0.5  # of some rows constant pixels alone
    reach = 0.1 if norm == "inf" else 0.1 / np.linalg.norm(step, axis=1, keepdims=True)
    moved = x + step * reach * (1 - 1e-9)
    assert (~domain.contains(moved)).all()
    assert (model.predict(moved) == labels)[certified].all()
    inside = np.clip(moved, domain.lo, domain.hi)
    assert (model.outputs(moved) == model.outputs(inside)).all()
    assert (model.certified_radius(moved, norm) == model.certified_radius(inside, norm)).all()
    far = np.where(still, 7.0, x)  # a constant pixel decides nothing
    assert (model.predict(far) == labels).all()
    assert (model.certified_radius(far, norm) == model.certified_radius(x, norm)).all()


def test_radii_of_images_are_fine(digits):
    model, x, _, norm, folder = digits
    assert len(model.claims_) == 2 and smilenn.load(folder).claims_ == model.claims_
    assert "by at most 0.001" in model.certificate_.statement
    radius = model.certified_radius(x, norm)
    coarse = radii_of(model, x, norm)
    assert len(np.unique(radius)) > 100 and (radius >= coarse).all()
    # hundred steps of 1/100 cost no more than one step and a little rounding, also where pixels have narrow ranges
    change = [largest_changes(model.certificate_, [c], model.outputs_, model.domain_, "raise") for c in model.claims_]
    assert (100 * change[1] <= change[0] * (1 + 1e-4) + 1e-5).all()


def test_no_pair_of_images_gets_two_certified_labels(digits):
    model, x, _, norm, _ = digits
    rng = np.random.default_rng(0)
    labels, certified = model.predict_certified(x)
    for _ in range(5):
        step = rng.choice([-1.0, 1.0], x.shape) if norm == "inf" else rng.normal(size=x.shape)
        step *= 0.1 * (1 - 1e-9) / (1 if norm == "inf" else np.linalg.norm(step, axis=1, keepdims=True))
        moved = np.clip(x + step, 0, 1)
        assert (model.predict(moved)[certified] == labels[certified]).all()
