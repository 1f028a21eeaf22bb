"""Ten classes of 8 × 8 digits, robust in both norms, certified by both checkers."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from smilenn import Network
from smilenn.certify.reference import check as reference
from smilenn.estimators.classifier import SmileClassifier
from smilenn.properties import Robust
from smilenn.train.config import Config

# far fewer epochs than the default
SHORT = {
    "inf": Config(patience=None, epochs=8, batch_size=64, train_learning_rate=0.02, margin=0.6),
    2: Config(patience=None, epochs=6, batch_size=64, train_learning_rate=3e-3, margin=0.8),
}


@pytest.fixture(scope="module", params=["inf", 2])
def digits(request, tmp_path_factory):
    norm = request.param
    x, y = load_digits(return_X_y=True)
    x = x / 16
    rules = [Robust(0.1, norm=norm), Robust(0.01, norm=norm)]
    model = SmileClassifier(properties=rules, network=Network(encoder="image"), config=SHORT[norm], random_state=0).fit(
        x[:1400], y[:1400]
    )
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
    assert (radius[certified] > 0.1 - 1e-12).all() and (radius[~certified] < 0.1).all()


def test_no_pair_of_images_gets_two_certified_labels(digits):
    model, x, _, norm, _ = digits
    rng = np.random.default_rng(0)
    labels, certified = model.predict_certified(x)
    for _ in range(5):
        step = rng.choice([-1.0, 1.0], x.shape) if norm == "inf" else rng.normal(size=x.shape)
        step *= 0.1 * (1 - 1e-9) / (1 if norm == "inf" else np.linalg.norm(step, axis=1, keepdims=True))
        moved = np.clip(x + step, 0, 1)
        assert (model.predict(moved)[certified] == labels[certified]).all()
