"""A row's value depends on that row alone: not on its neighbours, its place, the batch, the threads or gradients."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.backbones import MLP, ConvNet
from smilenn.model.encoders import Branch, Encoder, Pinned, elementary
from smilenn.model.encoders.rowwise import evaluate, layers, one_by_one
from smilenn.model.net import SmileNet
from smilenn.model.profile import in_order

pytestmark = pytest.mark.usefixtures("long_selftests")

TYPES = {"float32": (torch.float32, 1e-6), "float64": (torch.float64, 1e-12)}
ACTIVATIONS = [nn.ReLU(), nn.LeakyReLU(0.1), nn.Tanh(), nn.Sigmoid(), nn.SiLU(), nn.LayerNorm(33), nn.Identity()]


def perceptron(activation, inputs=7, width=33, outputs=9):
    torch.manual_seed(0)
    inner = nn.Sequential(nn.Linear(width, width, bias=False), nn.Tanh())
    return nn.Sequential(nn.Flatten(), nn.Linear(inputs, width), activation, inner, nn.Linear(width, outputs))


@pytest.fixture
def threads():
    """Gives torch's switch; the number of threads is restored."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


class Attention(nn.Module):
    """Attention, which takes another way where gradients are computed."""

    def __init__(self):
        super().__init__()
        self.layer = nn.MultiheadAttention(8, 2, batch_first=True).eval()

    def forward(self, y):
        tokens = y.reshape(len(y), 2, 8)
        return self.layer(tokens, tokens, tokens, need_weights=False)[0].reshape(len(y), -1)[:, :9]


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 9, batch_first=True)

    def forward(self, y):
        return self.gru(y.reshape(len(y), 4, 4))[0][:, -1]


OTHERS = [
    ConvNet(4, (3, 5), 17, 9),
    Attention(),
    Recurrent(),
    nn.Sequential(nn.Linear(16, 9), nn.GELU(), nn.Softmax(1)),
]


# ---- known layers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda a: type(a).__name__)
def test_the_formulas_are_those_of_the_modules(activation, kind):
    dtype, room = TYPES[kind]
    module = perceptron(activation).to(dtype)
    y = torch.randn(300, 7, dtype=torch.float64) * 3
    found = layers(module)
    assert found is not None and len(found) == 6
    with torch.no_grad():
        got, wanted = evaluate(found, y), module(y.to(dtype)).double()
    assert got.dtype == torch.float64 and (got - wanted).abs().max() <= room * wanted.abs().max()


@pytest.mark.parametrize("name", ["exp", "tanh", "sigmoid"])
def test_elementary_functions_are_precise_also_near_zero_and_far_away(name):
    grid = torch.linspace(-40, 40, 4001, dtype=torch.float64)
    tiny = torch.tensor([s * 10.0**-k for k in range(20) for s in (-1, 1)], dtype=torch.float64)
    x = torch.cat([grid, tiny, torch.tensor([0.0, 600.0, -600.0], dtype=torch.float64)])
    got, wanted = getattr(elementary, name)(x), getattr(torch, name)(x)
    assert ((got - wanted).abs() <= 1e-13 * wanted.abs()).all()
    far = getattr(elementary, name)(torch.tensor([torch.inf, -torch.inf, torch.nan], dtype=torch.float64))
    assert far[2].isnan() and far[:2].isfinite().all()
    point = torch.randn(20, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(getattr(elementary, name), (point,))


def test_in_order_has_the_same_bits_with_gradients_and_without():
    torch.manual_seed(1)
    y, w, b = (torch.randn(s, dtype=torch.float64) for s in ((5000, 9), (40, 9), (40,)))
    wanted = b + y[:, :1] * w[:, 0]
    for k in range(1, 9):
        wanted = wanted + y[:, k : k + 1] * w[:, k]
    with torch.no_grad():
        assert torch.equal(in_order(b, [(y, w)]), wanted)  # several tiles
    assert torch.equal(in_order(b, [(y, w.requires_grad_())]), wanted)
    assert in_order(b, [(y[:0], w)]).shape == (0, 40)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("inputs, width, outputs", [(7, 5, 2), (3, 33, 9), (17, 33, 1), (1, 5, 9)])
def test_a_row_has_the_same_bits_at_every_place(threads, inputs, width, outputs, kind):
    """A block of 64 rows showed other bits at its end: the tails of matrix products and of tanh."""
    module = nn.Sequential(
        nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, outputs)
    ).to(TYPES[kind][0])
    pinned, row = Pinned(module, outputs), torch.randn(1, inputs, dtype=torch.float64)
    with torch.no_grad():
        alone = pinned.ordered(row)
        for count in (1, 2):
            threads(count)
            assert torch.equal(pinned.ordered(row.expand(64, -1)), alone.expand(64, -1))
            for size in (3, 64, 129):
                for place in range(0, size, 1 + size // 64):
                    batch = torch.randn(size, inputs, dtype=torch.float64) * 10
                    batch[place] = row
                    assert torch.equal(pinned.ordered(batch)[place], alone[0])
        many = pinned.ordered(row.expand(70_001, -1))
    assert torch.equal(many, alone.expand(70_001, -1))


def test_what_is_not_exactly_a_known_layer_is_asked_row_by_row():
    class Mine(nn.Linear):
        def forward(self, y):
            return super().forward(y) + y.mean()

    known = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    assert layers(known) is not None and layers(MLP(2, (3,), 1)) is not None
    hooked, shadowed, mixed = (copy.deepcopy(known) for _ in range(3))
    hooked[0].register_forward_hook(lambda *_: None)
    shadowed[1].forward = lambda y: y
    mixed[0].bias.data = mixed[0].bias.data.double()
    for module in (
        hooked,
        shadowed,
        mixed,
        Mine(2, 2),
        nn.Sequential(nn.Linear(2, 2), nn.GELU()),
        nn.Linear(2, 2).bfloat16(),
        parametrizations.weight_norm(nn.Linear(2, 2)),
        nn.Flatten(0),
        nn.LayerNorm((2, 2)),
        nn.BatchNorm1d(2),
    ):
        assert layers(module) is None


def test_a_layer_of_another_width_is_refused():
    for module in (nn.Linear(1, 1), nn.LayerNorm(1)):
        with pytest.raises(SmileError, match="takes 1 inputs, not 3"):
            Pinned(module, 1).ordered(torch.zeros(2, 3, dtype=torch.float64))


# ---- any other module -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", OTHERS, ids=lambda m: type(m).__name__)
def test_other_modules_see_one_row_a_call(threads, module):
    pinned, row = Pinned(module, 9).eval(), torch.randn(1, 16, dtype=torch.float64)
    assert not pinned.known
    with torch.no_grad():
        alone = pinned.ordered(row)
        for count in (1, 2):
            threads(count)
            for place in (0, 5, 13):
                batch = torch.randn(14, 16, dtype=torch.float64) * 10
                batch[place] = row
                assert torch.equal(pinned.ordered(batch)[place], alone[0])
    assert torch.equal(pinned.ordered(row), alone)  # gradients allowed
    assert torch.equal(pinned.ordered(row.clone().requires_grad_()), alone)
    assert not pinned.differs(torch.randn(8, 16, dtype=torch.float64))


def test_equal_rows_are_asked_for_once_and_minus_zero_is_zero():
    calls = []

    class Counting(nn.Module):
        def forward(self, y):
            calls.append(y.clone())
            return y.sum(dim=1, keepdim=True)

    y = torch.tensor([[0.0, 1.0], [2.0, 3.0], [-0.0, 1.0], [2.0, 3.0]], dtype=torch.float64)
    assert one_by_one(Counting(), y).tolist() == [[1.0], [5.0], [1.0], [5.0]]
    assert [tuple(call.shape) for call in calls] == [(1, 2), (1, 2)] and not calls[0].signbit().any()


def test_a_module_that_returns_one_place_every_time_is_read_in_time():
    class Buffer(nn.Module):
        def __init__(self):
            super().__init__()
            self.place = torch.zeros(1, 1, dtype=torch.float64)

        def forward(self, y):
            return self.place.copy_(y[:1, :1])

    y = torch.tensor([[1.0], [2.0], [3.0]], dtype=torch.float64)
    assert torch.equal(one_by_one(Buffer(), y), y)


def test_a_module_that_makes_rows_is_refused():
    class Twice(nn.Module):
        def forward(self, y):
            return torch.cat([y, y + 1])

    with pytest.raises(SmileError, match=r"shape \(2, 1\) for one row"):
        Pinned(Twice(), 1).ordered(torch.zeros(3, 1, dtype=torch.float64))


def test_gradients_without_a_value_do_not_change_one():
    class Batch(nn.Module):
        def forward(self, y):
            return y / (1.0 if len(y) == 1 else 0.0)

    y = torch.ones(2, 1, dtype=torch.float64)
    y[1] = 2.0
    assert torch.equal(one_by_one(Batch(), y.clone().requires_grad_()), y)


def test_gradients_pass_through_both_ways():
    y = torch.randn(5, 16, dtype=torch.float64)
    for module in (MLP(16, (4,), 9).double(), nn.Sequential(nn.Linear(16, 9), nn.GELU()).double()):
        ends = [y.clone().requires_grad_() for _ in range(2)]
        for function, end in zip((Pinned(module, 9).ordered, module), ends, strict=True):
            function(end).square().sum().backward()
        assert torch.allclose(ends[0].grad, ends[1].grad)


@pytest.mark.parametrize("module", [MLP(3, (4,), 2), nn.Sequential(nn.Linear(3, 2), nn.GELU())])
def test_a_network_with_a_pinned_module_can_be_exported(module):
    domain = Domain.box([0.0] * 3, [1.0] * 3)
    encoder = Encoder(domain, [Branch("core", range(3), [Pinned(module, 2)])])
    net = SmileNet(domain, MLP(3, (4,), 2), 2, encoder=encoder, hidden=3).eval()
    x = torch.rand(5, 3, dtype=torch.float64)
    with torch.no_grad():
        assert torch.allclose(torch.export.export(net, (x,)).module()(x), net(x), rtol=1e-5, atol=1e-6)


def test_no_rows_give_no_values():
    for module in (MLP(2, (3,), 1), nn.GELU()):
        assert Pinned(module, 1).ordered(torch.zeros(0, 2, dtype=torch.float64)).shape == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("activation", [nn.ReLU(), nn.Tanh(), nn.LayerNorm(33)], ids=lambda a: type(a).__name__)
def test_a_million_rows_at_other_places_have_the_same_bits(threads, activation, kind):
    pinned, rng = Pinned(perceptron(activation).to(TYPES[kind][0]), 9), np.random.default_rng(0)
    with torch.no_grad():
        for start in range(16):
            y = torch.as_tensor(rng.normal(size=(62_500, 7)))
            turned = torch.as_tensor(rng.permutation(len(y)))
            threads(1)
            wanted = pinned.ordered(y)
            threads(2)
            got = torch.cat([pinned.ordered(part) for part in y[turned].split(61 + start)])
            assert torch.equal(got, wanted[turned])
