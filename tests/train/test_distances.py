"""Distance nets: training, scaling by δ, augmentation; certified by construction."""

import math

import numpy as np
import pytest
import torch

from smilenn import Network
from smilenn.certify.certify import certify
from smilenn.datasets.digits import load_digits_zero
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.model.backbones import ConvNet
from smilenn.model.encoders import Distance
from smilenn.model.encoders.robust import robust_encoder
from smilenn.properties import Monotone, Robust
from smilenn.properties.forms import Outputs
from smilenn.properties.spec import lower_all
from smilenn.train.augment import GENTLE, augmented
from smilenn.train.config import Config
from smilenn.train.distances import recentre
from smilenn.train.fit import fit
from smilenn.train.recipes.distances import distance_net, sized_distance_net
from smilenn.train.recipes.task import Design

PIXELS = Domain.box([0.0] * 64, [1.0] * 64, [f"p{i}" for i in range(64)])
DELTAS = (0.01, 0.05, 0.1)
CONFIG = Config(epochs=6, batch_size=128, train_learning_rate=0.03)


def small(units):
    return robust_encoder(PIXELS, np.full(64, 0.1), units=units)


def trained(config=CONFIG, units=(32,)):
    data = load_digits_zero("train")
    torch.manual_seed(0)
    properties = [Robust(delta, 2 * delta) for delta in DELTAS]
    claims = lower_all(properties, PIXELS)
    net = distance_net(PIXELS, claims, small(units))
    x, y = data.frame.astype(np.float64), data.target.to_numpy(dtype=np.float64)
    return fit(net, x, y, claims, loss="bce", config=config), claims, x, y


def test_one_net_for_several_deltas_is_proved_and_better_than_the_constant():
    result, claims, x, y = trained(CONFIG.replace(epochs=10))
    assert result.verdict is not None and result.verdict.status == "proved"
    f = result.net.predict(x)[:, 0]
    verified = ((2 * y - 1) * f > 2 * DELTAS[-1]).mean()
    assert verified > max(y.mean(), 1 - y.mean()) + 0.03
    certificate = certify(result.net, claims)
    assert certificate.accepted


def test_the_deployed_layers_are_what_their_formula_says():
    result, _, x, _ = trained(CONFIG.replace(epochs=1))
    encoder = result.net.encoder
    assert encoder is not None
    layers = [layer for layer in encoder.modules() if isinstance(layer, Distance)]
    assert all(layer.mean is None and math.isinf(layer.p) for layer in layers)
    y = x[:50]
    for layer in layers:
        w, b = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        y = np.abs(y[:, None, :] - w[None]).max(axis=2) + b
    e = encoder(torch.tensor(x[:50])).detach().numpy()
    assert np.array_equal(e, y)


def test_training_is_reproducible():
    one, two = (trained(CONFIG.replace(epochs=2, augment="affine"))[0].net.predict(np.full((1, 64), 0.3)) for _ in "ab")
    assert np.array_equal(one, two)


def test_columns_with_unequal_delta_are_scaled_so_that_each_may_move_by_its_own():
    domain = Domain.box([0.0, 0.0, -1.0], [1.0, 4.0, 1.0], ["a", "b", "c"])
    properties = [Robust({"a": 0.1, "b": 1.0, "c": 0.05}, 0.5)]
    net = distance_net(domain, lower_all(properties, domain)).eval()
    rng = np.random.default_rng(0)
    reach = np.array([0.1, 1.0, 0.05])
    x = rng.uniform([0, 0, -1], [1, 4, 1], (4000, 3))
    near = np.clip(x + rng.uniform(-1, 1, x.shape) * reach, [0, 0, -1], [1, 4, 1])
    assert net.encoder is not None
    with torch.no_grad():
        moved = net.encoder(net.scale(torch.tensor(x))) - net.encoder(net.scale(torch.tensor(near)))
    most = 2 * float(net.lower.slope.detach().abs().max()) * float(moved.abs().max())
    assert 0.1 < most <= 0.5
    assert np.abs(net.predict(x) - net.predict(near)).max() <= 0.5


def test_blocks_need_a_square_image():
    domain = Domain.box([0.0] * 6, [1.0] * 6)
    with pytest.raises(SmileError, match="6 columns are not square"):
        robust_encoder(domain, np.full(6, 0.1), block=2)
    with pytest.raises(SmileError, match="6 columns are not square"):
        augmented(torch.zeros(2, 6), np.random.default_rng(0))
    assert robust_encoder(PIXELS, np.full(64, 0.1), block=2, units=(8,)).size == 2


def test_augmentation_moves_images_a_little_and_keeps_their_mass():
    images = np.zeros((200, 28, 28))
    images[:, 10:18, 10:18] = 1.0
    out = augmented(torch.tensor(images.reshape(200, -1)), np.random.default_rng(0)).numpy().reshape(200, 28, 28)
    assert out.dtype == np.float64
    assert out.min() >= 0.0 and out.max() <= 1.0 + 1e-6
    assert np.abs(out.sum(axis=(1, 2)) / 64 - 1).max() < 0.35
    rows = (out * np.arange(28)[:, None]).sum(axis=(1, 2)) / out.sum(axis=(1, 2))
    assert 0.2 < rows.std() < 1.0


def test_gentle_augmentation_stretches_each_side_by_itself():
    rng = np.random.default_rng(1)
    square = torch.zeros(400, 28, 28)
    square[:, 8:20, 8:20] = 1.0

    def sides(most):
        images = augmented(square.reshape(400, -1), rng, most).reshape(400, 28, 28)
        return images.sum(dim=1).amax(dim=1), images.sum(dim=2).amax(dim=1)  # the longest column and row

    tall, wide = sides(GENTLE._replace(turn=0.0, shift=0.0))
    alike = sides(GENTLE._replace(turn=0.0, shift=0.0, apart=False))
    assert float((tall - wide).abs().max()) > 1.0
    assert torch.allclose(*alike, atol=1e-4)


def test_an_interrupted_run_is_settled():
    def stop(progress):
        raise KeyboardInterrupt

    data = load_digits_zero("train")
    properties = [Robust(0.05, 0.1)]
    net = distance_net(PIXELS, lower_all(properties, PIXELS), small((8,)))
    x, y = data.frame.astype(np.float64), data.target.to_numpy(dtype=np.float64)
    result = fit(net, x, y, lower_all(properties, PIXELS), loss="bce", config=CONFIG, callback=stop)
    assert result.interrupted
    assert result.verdict is not None and result.verdict.status == "proved"
    assert all(layer.mean is None for layer in net.modules() if isinstance(layer, Distance))


def test_a_distance_net_needs_two_coordinates():
    with pytest.raises(SmileError, match="two coordinates, not by 3"):
        distance_net(
            PIXELS, Robust(0.1, 0.2).lower(PIXELS), robust_encoder(PIXELS, np.full(64, 0.1), units=(4,), outputs=3)
        )


def test_sizes_go_by_the_machine_and_the_data():
    pixels = Domain.box([0.0] * 784, [1.0] * 784)
    rule, image = Robust(0.1, 1).lower(pixels), Design("image")
    big, long = sized_distance_net(pixels, rule, 60_000, design=Design("image", device="cuda"))
    small, short = sized_distance_net(pixels, rule, 60_000, design=image)
    assert big.encoder is not None and small.encoder is not None
    kinds = [[layer["kind"] for layer in made.describe()[0]["layers"]] for made in (big.encoder, small.encoder)]
    assert kinds == [["distance"] * 3] * 2 and [len(made.learned) for made in (big.encoder, small.encoder)] == [1, 2]
    assert (long.epochs, long.augment) == (80, "affine")
    assert short.augment == "none" and short.epochs < long.epochs
    rule = Robust(0.1, 1).lower(PIXELS)
    assert sized_distance_net(PIXELS, rule, 1_000, design=image)[1].augment == "affine"
    assert sized_distance_net(PIXELS, rule, 1_000)[1].augment == "none"


def test_config_knows_its_augmentations():
    with pytest.raises(SmileError, match="augment is 'none' or 'affine'"):
        Config(augment="mirror")  # type: ignore[arg-type]


# ---- room for a backbone ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [None, Outputs(("x", "y", "z"), ("x", "y", "z"))])
def test_a_share_of_epsilon_is_the_backbones(outputs):
    """Whatever the backbone does, the claims hold and are certified; and it has all of its share."""
    properties = [Robust(0.05, 0.3), Robust(0.1, 0.5)]
    o = 1 if outputs is None else 3
    torch.manual_seed(0)
    encoder = robust_encoder(PIXELS, np.full(64, 0.1), units=(8,), outputs=max(2, o))
    claims = lower_all(properties, PIXELS, outputs or ("",))
    net = distance_net(PIXELS, claims, encoder, outputs, 0.5, ConvNet(8, (4, 8), 8, o)).eval()
    x = np.random.default_rng(0).uniform(size=(500, 64))
    recentre(net, torch.as_tensor(x))
    net.encoder.fit_box_(net.scale(torch.as_tensor(x)), 1.0)
    found = certify(net, claims)
    assert found.accepted
    width = float(net.gap.const.detach().sum())
    assert width == pytest.approx(0.5 * 0.3 * (1 if o == 1 else 1.5), rel=1e-6)
    with torch.no_grad():
        for parameter in net.backbone.parameters():
            parameter.mul_(1e4)
    moved = np.clip(x + np.random.default_rng(1).choice([-0.05, 0.05], x.shape), 0, 1)
    f, g = net.predict(x), net.predict(moved)
    margins = (
        [f[:, 0] - g[:, 0]] if o == 1 else [(f[:, i] - f[:, j]) - (g[:, i] - g[:, j]) for i, j in ((0, 1), (1, 2))]
    )
    assert max(np.abs(m).max() for m in margins) <= 0.3


def test_a_backbone_learns_beside_the_distances():
    data = load_digits_zero("train")
    x, y = data.frame.astype(np.float64), data.target.to_numpy(dtype=np.float64)
    torch.manual_seed(0)
    properties = [Robust(0.05, 0.5)]
    net = distance_net(PIXELS, lower_all(properties, PIXELS), small((8,)), None, 0.6, ConvNet(8, (8, 16), 16, 1))
    before = [p.detach().clone() for p in net.backbone.parameters()]
    result = fit(net, x, y, lower_all(properties, PIXELS), loss="bce", config=CONFIG.replace(epochs=8, batch_size=16))
    assert result.verdict is not None and result.verdict.status == "proved"
    assert all((a != b).any() for a, b in zip(before, net.backbone.parameters(), strict=True))
    with torch.no_grad():
        alone = net.backbone(torch.as_tensor(x, dtype=torch.float32))[:, 0].numpy() > 0
    assert (alone == (y > 0)).mean() > 0.97
    assert ((net.predict(x)[:, 0] > 0) == (y > 0)).mean() > 0.95


@pytest.mark.parametrize("share", [-0.1, 1.0, 2])
def test_shares_beyond_epsilon_are_refused(share):
    with pytest.raises(SmileError, match="share of ε"):
        distance_net(PIXELS, Robust(0.1, 0.2).lower(PIXELS), small((4,)), None, share)


def test_a_share_needs_distances():
    x, y = np.random.default_rng(0).uniform(size=(60, 2)), np.arange(60) % 2
    with pytest.raises(SmileError, match=r"Network\(backbone_share=…\) is for distance nets"):
        SmileClassifier(properties=[Monotone(increasing=[0])], network=Network(backbone_share=0.2)).fit(x, y)


def test_pixels_of_one_value_are_no_hindrance():
    """Plain arrays of pixels: the corners of every digit are black."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    x, y = x[:300] / 16, y[:300]
    assert (np.ptp(x, axis=0) == 0).sum() > 3
    config = Config(patience=None, epochs=2, batch_size=64, train_learning_rate=0.02, margin=0.3)
    model = SmileClassifier(
        properties=[Robust(0.05)], network=Network(encoder="image"), config=config, random_state=0
    ).fit(x, y)
    assert model.verdict_.status == "proved"
    radius = model.certified_radius(x)
    assert ((radius > 0.05 - 1e-12) == model.predict_certified(x)[1]).all()


def test_a_mean_of_nets_moves_by_no_more_than_one(tmp_path):
    """Three classes, two nets: the network that a GPU is given, made small."""
    from smilenn.certify.network import certify_net
    from smilenn.certify.reference import check as reference
    from smilenn.train.recipes import distances

    torch.manual_seed(0)
    domain = Domain.box([0.0] * 5, [1.0] * 5, [f"x{i}" for i in range(5)])
    outputs = Outputs(("a", "b", "c"), ("a", "b", "c"))
    claims = lower_all([Robust(0.1, 1)], domain, outputs)
    encoder = robust_encoder(domain, np.full(5, 0.1), units=(8, 8), outputs=3, nets=2)
    distances.start_(encoder)
    layers = [layer for layer in encoder.modules() if isinstance(layer, Distance)]
    assert layers[1].weight[2, 2] == distances.SELF and [layer.centred for layer in layers] == [True, True, False] * 2
    net = distance_net(domain, claims, encoder, outputs).eval()
    encoder.fit_box_(torch.rand(50, 5, dtype=torch.float64))
    saved = certify_net(net, claims, tmp_path / "m")
    assert saved.verdict.status == "proved" and reference.check_folder(tmp_path / "m").status == "certified"
    bounds = [row.bound for row in saved.certificate.report.claims[0].rows]
    assert all(0.999 < bound <= 1 for bound in bounds)  # a margin takes all of ε, and no more


def test_a_mean_of_nets_learns_each_by_itself():
    from smilenn.train.distances import annealed, lead

    assert annealed(0.0, several=True) == (8.0, 0.0) and annealed(0.03, several=True)[0] == 8.0
    assert annealed(0.95, several=True) == (math.inf, 1.0) and annealed(0.9, several=False)[0] == math.inf
    assert 8 < annealed(0.5, several=True)[0] < 258
    f, y = torch.tensor([[1.0, 3.0, 2.5]]), torch.tensor([[0.0, 1.0, 0.0]])
    assert lead(f, y, "largest").item() == 0.5
