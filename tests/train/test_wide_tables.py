"""Several classes of a wide table get the mean of two distance nets on a processor; narrow ones and two classes one."""

import numpy as np
import pytest

from smilenn import Network, Robust, SmileClassifier
from smilenn.model.encoders import Distance
from smilenn.train.config import Config

SHORT = Config(patience=None, epochs=1, batch_size=64, train_learning_rate=0.02)


@pytest.mark.parametrize(
    ("columns", "classes", "nets"), [(64, 3, 2), (100, 5, 2), (63, 3, 1), (64, 2, 1)], ids=lambda value: str(value)
)
def test_nets_of_a_table(columns, classes, nets):
    rng = np.random.default_rng(0)
    y = np.arange(120) % classes
    x = rng.random((120, columns)) + 0.5 * (y[:, None] == np.arange(columns) % classes)
    model = SmileClassifier(properties=Robust(0.1), config=SHORT, random_state=0).fit(x, y)
    assert not model.images and len(model.net_.encoder.learned) == nets
    assert [layer.outputs for layer in model.net_.modules() if isinstance(layer, Distance)][:2] == [128, 64]
    assert model.verdict_.status == "proved"


def test_a_backbone_beside_it_has_one_net():
    rng = np.random.default_rng(0)
    x, y = rng.random((120, 64)), np.arange(120) % 3
    network = Network(backbone_share=0.2)
    model = SmileClassifier(properties=Robust(0.1), config=SHORT, network=network, random_state=0, certify_limit=0)
    assert len(model.fit(x, y).net_.encoder.learned) == 1
