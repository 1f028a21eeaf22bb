"""Distance nets on patches: their norms, what a deployed unit ignores, ten classes on a processor."""

import numpy as np
import pytest
import torch

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.encoders import Distance
from smilenn.model.encoders.patches import patch_norm, squares
from smilenn.model.encoders.powers import power_near
from smilenn.model.encoders.robust import robust_encoder
from smilenn.properties import Robust
from smilenn.properties.forms import Outputs
from smilenn.properties.spec import lower_all
from smilenn.train.distances import annealed
from smilenn.train.recipes.distances import sized_distance_net
from smilenn.train.recipes.task import Design

PIXELS = Domain.box([0.0] * 64, [1.0] * 64, [f"p{i}" for i in range(64)])


@pytest.mark.parametrize("side", [2, 5, 8, 28, 31])
def test_squares_cover_an_image(side):
    found = squares(side * side)
    rows, columns = np.divmod(found, side)
    size = (side + 1) // 2
    assert set(found.ravel()) == set(range(side * side))
    assert found.shape[1] == size * size
    assert (np.ptp(rows, axis=1) == size - 1).all() and (np.ptp(columns, axis=1) == size - 1).all()


def test_patches_need_a_square_image():
    with pytest.raises(SmileError, match="6 columns are not square"):
        squares(6)


@pytest.mark.parametrize("p", [8.0, 34.0, None])
@pytest.mark.parametrize("rows", [1, 40])
def test_norms_of_patches_and_their_slopes_are_those_of_the_formula(p, rows, monkeypatch):
    monkeypatch.setattr("smilenn.model.encoders.patches.CACHED", 500)  # several blocks
    rng = torch.Generator().manual_seed(0)
    patches = torch.as_tensor(squares(16))
    y = torch.rand(rows, 16, generator=rng, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(9, 4, 3, generator=rng, dtype=torch.float64, requires_grad=True)
    power = None if p is None else power_near(p)
    seen = torch.rand(rows, 27, generator=rng, dtype=torch.float64) * (torch.arange(rows) % 3 > 0)[:, None]

    found = patch_norm(y, weight, patches, power)
    slopes = torch.autograd.grad((found * seen).sum(), (y, weight))
    order = float("inf") if power is None else float(power.p)
    parts = [torch.linalg.vector_norm(y[:, None, own] - weight[g].T, ord=order, dim=2) for g, own in enumerate(patches)]
    wanted = torch.cat(parts, dim=1)
    expected = torch.autograd.grad((wanted * seen).sum(), (y, weight))
    assert torch.allclose(found, wanted, rtol=1e-12)
    for one, other in zip(slopes, expected, strict=True):
        assert torch.allclose(one, other, rtol=1e-9, atol=1e-12)


def test_a_deployed_unit_ignores_what_is_outside_its_patch():
    torch.manual_seed(0)
    encoder = robust_encoder(PIXELS, np.full(64, 0.1), units=(4, 6), outputs=3, nets=2, patches=True)
    (first, *others) = [layer for layer in encoder.learned[0].layers if isinstance(layer, Distance)]
    assert [layer.centred for layer in others] == [True, False] and encoder.size == 6
    u = torch.rand(200, 64, dtype=torch.float64)
    first.mean = torch.zeros_like(first.bias)
    first.centred = False
    near, all_columns = first.train()(u), first.eval()(u)
    assert torch.equal(all_columns, near.clamp(min=0.5)) or bool((all_columns >= near).all())
    assert torch.equal(all_columns[near >= 0.5], near[near >= 0.5])
    assert (near >= 0.5).double().mean() > 0.5


def test_columns_of_unequal_delta_keep_their_middle():
    """Scaling comes first, and so the middle is that of the scaled columns."""
    reach = np.linspace(0.1, 0.2, 64)
    encoder = robust_encoder(PIXELS, reach, units=(2,), outputs=3, patches=True)
    scaling, first = encoder.learned[0].layers[0], encoder.learned[0].layers[1]
    middle = scaling(torch.as_tensor((PIXELS.scale(PIXELS.lo) + PIXELS.scale(PIXELS.hi)) / 2)[None])[0]
    outside = np.setdiff1d(np.arange(64), squares(64)[0])
    assert isinstance(first, Distance) and torch.equal(first.whole()[0, outside], middle[outside])


def test_images_of_several_classes_get_patches_on_a_processor():
    names = ("a", "b", "c")
    outputs = Outputs(names, names)
    claims = lower_all([Robust(0.1, 1)], PIXELS, outputs)
    net, config = sized_distance_net(PIXELS, claims, 1_000, outputs, Design("image"))
    assert net.encoder is not None and len(net.encoder.learned) == 2
    assert config.augment == "none" and config.margin == 0.6 and config.batch_size == 64
    far = sized_distance_net(PIXELS, lower_all([Robust(0.4, 1)], PIXELS, outputs), 100, outputs, Design("image"))[1]
    assert far.margin == pytest.approx(0.8) and far.batch_size == 16
    assert annealed(0.9, several=True, patched=True)[0] <= 130 < annealed(0.9, several=True)[0]


@pytest.mark.parametrize(("compiled", "units", "epochs"), [(True, 64, 17), (False, 32, 10)])
def test_compiled_loops_have_time_for_wider_nets_and_more_epochs(compiled, units, epochs, monkeypatch):
    monkeypatch.setattr("smilenn.train.recipes.distances.has_numba", lambda: compiled)
    pixels, names = Domain.box([0.0] * 784, [1.0] * 784, [f"p{i}" for i in range(784)]), tuple("0123456789")
    outputs = Outputs(names, names)
    claims = lower_all([Robust(0.3, 1)], pixels, outputs)
    net, config = sized_distance_net(pixels, claims, 60_000, outputs, Design("image"))
    first = next(layer for layer in net.modules() if isinstance(layer, Distance))
    assert first.outputs == 9 * units and config.epochs == epochs
