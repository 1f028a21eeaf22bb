"""Images of two classes on a processor: a mean of nets on patches, with and without a backbone in a box of its own."""

import numpy as np
import pytest
import torch

from smilenn import Network, load
from smilenn.certify.check import check_folder
from smilenn.certify.reference import check as reference
from smilenn.datasets.digits import load_digits_zero
from smilenn.domain import Domain
from smilenn.estimators.classifier import SmileClassifier
from smilenn.model.encoders import Distance
from smilenn.properties import Robust
from smilenn.properties.forms import Outputs
from smilenn.properties.spec import lower_all
from smilenn.train.config import Config
from smilenn.train.distances import _by_class, _net_loss
from smilenn.train.recipes import distances
from smilenn.train.recipes.distances import sized_distance_net
from smilenn.train.recipes.task import Design

SIDE = 18
PIXELS = Domain.box([0.0] * SIDE**2, [1.0] * SIDE**2, [f"p{i}" for i in range(SIDE**2)])
SHORT = Config(patience=None, epochs=4, batch_size=64, train_learning_rate=0.02, margin=0.6)
IMAGE = Design("image")


def made(outputs=None, design=IMAGE, domain=PIXELS, delta=0.1):
    claims = lower_all([Robust(delta, 1)], domain, outputs or ("",))
    return sized_distance_net(domain, claims, 1_000, outputs, design)


def patched(net):
    layers = [layer for layer in net.modules() if isinstance(layer, Distance)]
    return [layer.patches is not None for layer in layers]


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_images_of_two_classes_get_patches(share):
    net, config = made(Outputs(("",), ("no", "yes")), Design("image", backbone_share=share))
    assert net.encoder is not None and len(net.encoder.learned) == 2 and net.encoder.size == 4
    assert all(patched(net)) and config.batch_size == distances.PATCH_CONFIG.batch_size
    assert bool(net.gap.const.any()) == bool(share)


def test_several_classes_keep_their_patches_beside_a_backbone():
    names = ("a", "b", "c")
    net, _ = made(Outputs(names, names), Design("image", backbone_share=0.5))
    assert all(patched(net)) and bool(net.gap.const.all())


@pytest.mark.parametrize(
    ("outputs", "design"),
    [
        (None, Design()),  # a table
        (None, Design("image", device="cuda")),
        (Outputs(("a", "b")), IMAGE),  # labels, each decided by a sign
    ],
)
def test_others_have_none(outputs, design):
    assert not any(patched(made(outputs, design)[0]))


def test_two_classes_of_few_pixels_have_none():
    small = Domain.box([0.0] * 256, [1.0] * 256)
    net, config = made(None, IMAGE, small)
    assert not any(patched(net)) and net.encoder is not None
    assert [layer["kind"] for layer in net.encoder.describe()[0]["layers"]] == ["distance"] * 3
    assert config.augment == "affine"


def test_the_loss_of_a_net_is_the_distance_to_its_decision():
    """Of two classes m = ±(e_0 − e_1): the second class wins where its coordinate is the smaller one."""

    class Fixed(torch.nn.Module):
        def forward(self, u):
            return u

    e, y = torch.tensor([[0.9, 0.2], [0.9, 0.2], [0.1, 0.3]]), torch.tensor([[1.0], [0.0], [0.0]])
    found = _net_loss(Fixed(), e, 0.5, _by_class(y), None, (10.0, 0.0))  # type: ignore[arg-type]
    assert float(found) == pytest.approx((0.0 + (1 + 0.7 / 0.5) + (1 - 0.2 / 0.5)) / 3)
    several = torch.eye(3)
    assert _by_class(several) is several


@pytest.fixture(scope="module", params=[0.0, 0.5])
def zeros(request, tmp_path_factory):
    """Is it a zero? Digits with each pixel four times, narrow nets: a model, its share, a folder, kept rows."""
    data = load_digits_zero("train")
    small, y = data.frame.astype(np.float64).reshape(-1, 8, 8), data.target.to_numpy()
    x = np.pad(np.kron(small, np.ones((1, 2, 2))), ((0, 0), (1, 1), (1, 1))).reshape(len(small), -1)
    network = Network(encoder="image", backbone_share=request.param)
    properties = [Robust(0.05, 0.2), Robust(0.1, 0.3)]
    model = SmileClassifier(properties=properties, domain=PIXELS, network=network, config=SHORT, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("smilenn.model.encoders.patches.has_numba", lambda: False)
        patch.setattr(distances, "PATCHES_OF_TWO", dict.fromkeys((True, False), (2, (8, 16), 1e9)))
        model.fit(x[:1000], y[:1000])
    folder = tmp_path_factory.mktemp("zero") / "m"
    model.save(folder)
    return model, request.param, folder, x[1000:1300], y[1000:1300]


def test_zeros_are_learned_and_certified_by_both_checkers(zeros):
    model, share, folder, x, y = zeros
    assert model.verdict_.status == "proved"
    assert check_folder(folder).status == reference.check_folder(folder).status == "certified"
    labels, certified = model.predict_certified(x)
    assert (labels == y).mean() > 0.97
    right = (labels == y) & certified
    assert right[y == 0].mean() > 0.5
    assert share or right[y == 1].mean() > 0.5  # the room of a backbone costs zeros so few steps cannot spare


def test_no_change_moves_the_logit_by_more_than_is_promised(zeros):
    model, share, folder, x, _ = zeros
    again = load(folder)
    with torch.no_grad():
        for parameter in again.net_.backbone.parameters() if share else ():
            parameter.mul_(1e3)  # whatever the backbone says
    rng = np.random.default_rng(0)
    for net in (model.net_, again.net_):
        f = net.predict(x)
        for delta, eps in ((0.05, 0.2), (0.1, 0.3)):
            moved = net.predict(np.clip(x + rng.choice([-delta, delta], x.shape), 0, 1))
            assert np.abs(moved - f).max() <= eps
    assert np.array_equal(load(folder).net_.predict(x), model.net_.predict(x))


def test_the_deployed_mean_is_that_of_its_nets(zeros):
    """f = s·Σ_k (e_k0 − e_k1)/2, and the box of the backbone around it."""
    model, share, _, x, _ = zeros
    net = model.net_
    with torch.no_grad():
        u = net.scale(torch.as_tensor(x))
        first, second = (one(u) for one in net.encoder.learned)
        d = ((first[:, 0] - first[:, 1]) + (second[:, 0] - second[:, 1])).numpy() / 2
    room, f = share * 0.2 / 2, net.predict(x)[:, 0]  # half of a share of the smallest ε
    steep = min((0.2 - 2 * room) / 0.1, (0.3 - 2 * room) / 0.2)
    inside = np.abs(d) < 1.0  # where the encoder's box does not cut
    assert (np.abs(f - steep * d)[inside] <= room + 1e-6).all()
    assert share == 0 or np.abs(f - steep * d).max() > 0.5 * room
