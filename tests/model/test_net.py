"""SmileNet: nothing leaves the box, whatever the backbone, the weights or the arithmetic do."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.backbones import MLP, ConvNet, describe, rebuild
from smilenn.model.net import SmileNet
from smilenn.model.select import select

NAN, INF = float("nan"), float("inf")
DOMAIN = Domain(
    (
        Feature("x", "continuous", -3.0, 5.0, shift=-3.0, mult=0.125),
        Feature("n", "integer", 0, 9),
        Feature("c", "category", categories=("p", "q", "r")),
    )
)


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


def rows(n=200, seed=0):
    return DOMAIN.sample(n, np.random.default_rng(seed))


class Oracle(nn.Module):
    """A backbone that returns what it is told."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def forward(self, u):
        return self.answer(u)


# ---- select ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("z", "lower", "upper", "expected"),
    [
        (0.5, 0.0, 1.0, 0.5),
        (-1.0, 0.0, 1.0, 0.0),
        (2.0, 0.0, 1.0, 1.0),
        (NAN, 0.0, 1.0, 0.0),
        (INF, 0.0, 1.0, 1.0),
        (-INF, 0.0, 1.0, 0.0),
        (0.5, 0.5, 0.5, 0.5),
        (0.2, 1.0, 0.0, 1.0),  # flipped: the lower bound, whatever z is
        (5.0, 1.0, 0.0, 1.0),
        (-5.0, 1.0, 0.0, 1.0),
        (NAN, 1.0, 0.0, 1.0),
        (0.5, 0.0, NAN, 0.0),  # a box without an upper end is its lower end
        (1e308, -1e308, 1e308, 1e308),
        (5e-324, 0.0, 1e-323, 5e-324),
    ],
)
def test_select(z, lower, upper, expected):
    assert select(tensor(z), tensor(lower), tensor(upper)).item() == expected


def test_select_passes_gradients_to_what_it_returns():
    z, lower, upper = (
        t.requires_grad_()
        for t in (tensor(0.5, -1.0, 2.0, 0.0), tensor(0.0, 0.0, 0.0, 1.0), tensor(1.0, 1.0, 1.0, 0.0))
    )
    select(z, lower, upper).sum().backward()
    assert z.grad.tolist() == [1, 0, 0, 0]
    assert lower.grad.tolist() == [0, 1, 0, 1]
    assert upper.grad.tolist() == [0, 0, 1, 0]


# ---- the box --------------------------------------------------------------------------------------------------------


def random_weights(net: SmileNet, seed: int, low: float, high: float) -> None:
    """Weights of random sign with magnitudes 10^low … 10^high; gaps are projected as after an optimiser step."""
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for parameter in net.parameters():
            size = 10.0 ** rng.uniform(low, high, size=tuple(parameter.shape))
            value = torch.as_tensor(size * rng.choice([-1.0, 1.0], size=size.shape))
            parameter.copy_(value.to(parameter.dtype))
    net.project_()


@given(
    seed=st.integers(0, 10**6),
    powers=st.sampled_from([(-1, 1), (-300, -290), (-12, 12), (60, 70), (-320, -300)]),
    auxiliaries=st.sampled_from(["constant", "affine", "relu"]),
)
def test_a_gap_box_never_flips_not_even_in_floats(seed, powers, auxiliaries):
    net = SmileNet(DOMAIN, MLP(5, (3,), 4), 4, auxiliaries=auxiliaries, hidden=6)
    random_weights(net, seed, *powers)
    with torch.no_grad():
        u = net.scale(torch.as_tensor(np.concatenate([rows(50, seed), DOMAIN.lo[None], DOMAIN.hi[None]])))
        lower, upper = net.box(u)
    assert bool((upper >= lower).all())


@given(
    seed=st.integers(0, 10**6),
    boxes=st.sampled_from(["gap", "paper"]),
    auxiliaries=st.sampled_from(["constant", "affine", "relu"]),
    skip=st.booleans(),
)
def test_snapshot_is_the_forward_box(seed, boxes, auxiliaries, skip):
    net = SmileNet(
        DOMAIN,
        MLP(5, (3,), 4),
        4,
        auxiliaries=auxiliaries,
        hidden=6,
        boxes=boxes,
        skip=skip,
        outputs=("p", "q"),
        output_scale=[0.3, 50.0],
    )
    random_weights(net, seed, -1, 1)
    x = rows(50, seed)
    snapshot = net.snapshot()
    with torch.no_grad():
        lower, upper = net.box(net.scale(torch.as_tensor(x)))
        lower, upper = lower.numpy(), torch.maximum(lower, upper).numpy()
        head = net.head(torch.as_tensor(lower)).numpy()
    ours = snapshot.box(DOMAIN.scale(x))
    assert np.allclose(ours[0], lower, rtol=1e-10, atol=1e-9)
    assert np.allclose(ours[1], upper, rtol=1e-10, atol=1e-9)
    assert (ours[1] >= ours[0] - 1e-12).all()
    assert np.allclose(lower @ snapshot.head_weight.T + snapshot.head_bias, head, rtol=1e-10, atol=1e-9)


def within_box(net: SmileNet, x: np.ndarray) -> bool:
    """Whether the outputs lie in the interval that box and head leave open."""
    snapshot = net.snapshot()
    lower, upper = snapshot.box(net.domain.scale(x))
    g = snapshot.head_weight
    low = lower @ np.maximum(g, 0).T + upper @ np.minimum(g, 0).T + snapshot.head_bias
    high = upper @ np.maximum(g, 0).T + lower @ np.minimum(g, 0).T + snapshot.head_bias
    out = net.predict(x)
    slack = 1e-9 * (1 + np.abs(low) + np.abs(high))
    return bool(((out >= low - slack) & (out <= high + slack)).all())


@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize(
    "answer",
    [
        lambda u: torch.full((len(u), 4), NAN, dtype=torch.float64),
        lambda u: torch.full((len(u), 4), INF),
        lambda u: torch.full((len(u), 4), -INF, dtype=torch.float64),
        lambda u: torch.randn(len(u), 4) * 1e30,
        lambda u: torch.where(torch.rand(len(u), 4) > 0.5, NAN, 1e30),
        lambda u: torch.randn(len(u), 4, dtype=torch.bfloat16),
    ],
)
def test_hostile_backbones_stay_within_the_box(boxes, answer):
    torch.manual_seed(0)
    net = SmileNet(DOMAIN, Oracle(answer), 4, boxes=boxes, hidden=6)
    random_weights(net, 1, -1, 1)
    assert np.isfinite(net.predict(rows())).all()
    assert within_box(net, rows())


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_the_worst_vertex_oracle_reaches_the_bound_and_no_more(boxes):
    torch.manual_seed(0)
    net = SmileNet(DOMAIN, Oracle(lambda u: u), 4, boxes=boxes, hidden=6)
    random_weights(net, 2, -1, 1)
    up = (net.head_weight[0] > 0)[None]
    net.backbone.answer = lambda u: torch.where(up, 1e9, -1e9).expand(len(u), 4).to(torch.float64)
    snapshot = net.snapshot()
    lower, upper = snapshot.box(DOMAIN.scale(rows()))
    g = snapshot.head_weight[0]
    best = (np.maximum(g, 0) * upper + np.minimum(g, 0) * lower).sum(axis=1) + snapshot.head_bias[0]
    assert np.allclose(net.predict(rows())[:, 0], best, rtol=1e-9)
    assert within_box(net, rows())


def test_backbone_may_change_global_state_but_not_the_box():
    calls = []

    def stateful(u):
        calls.append(len(u))
        return torch.full((len(u), 4), float(len(calls)) * 1e6, dtype=torch.float64)

    net = SmileNet(DOMAIN, Oracle(stateful), 4, hidden=6)
    first, second = net.predict(rows()), net.predict(rows())
    assert within_box(net, rows()) and (first == second).all()  # both are cut at the upper end


# ---- inputs and outputs ---------------------------------------------------------------------------------------------


def test_inputs_outside_the_domain_are_clamped():
    net = SmileNet(DOMAIN, MLP(5, (3,), 4), 4)
    inside = np.array([[5.0, 9.0, 1.0, 0.0, 0.0]])
    outside = np.array([[50.0, 99.0, 1.0, 0.0, 0.0]])
    assert (net.predict(inside) == net.predict(outside)).all()


def test_output_scale_is_a_power_of_two_folded_into_the_head():
    net = SmileNet(DOMAIN, MLP(5, (3,), 4), 4, output_scale=1000.0)
    assert net.output_scale.item() == 1024.0
    assert (net.snapshot().head_weight == net.head_weight.detach().numpy() * 1024.0).all()
    assert net.predict(rows(0)).shape == (0, 1)


def test_pathways_agree_with_forward():
    torch.manual_seed(0)
    net = SmileNet(DOMAIN, MLP(5, (3,), 4), 4)
    x = torch.as_tensor(rows())
    p = net.pathways(x)
    clipped, lower, upper, free = p.each()
    for own, wanted in (
        (clipped, net(x)),
        (free, net.head(p.z)),
        (lower, net.head(p.z_lower)),
        (upper, net.head(p.z_upper)),
    ):
        assert torch.allclose(own, wanted, rtol=1e-14, atol=1e-14)


def test_centring_leaves_no_unit_dead():
    torch.manual_seed(0)
    net = SmileNet(DOMAIN, MLP(5, (3,), 4), 4, hidden=32)
    x = torch.as_tensor(rows(500))
    net.centre_(x)
    assert not bool(net.lower.dead(net.scale(x)).any())


@pytest.mark.parametrize("value", [NAN, INF])
@pytest.mark.parametrize("name", ["head_weight", "head_bias", "lower.const", "second.weight"])
def test_snapshots_refuse_non_finite_weights(name, value):
    net = SmileNet(DOMAIN, MLP(5, (3,), 4), 4)
    with torch.no_grad():
        net.get_parameter(name).view(-1)[0] = value
    with pytest.raises(SmileError, match="not finite|negative weights"):
        net.snapshot()


def test_snapshot_refuses_negative_gaps():
    net = SmileNet(DOMAIN, MLP(5, (3,), 4), 4)
    with torch.no_grad():
        net.gap.const[0] = -1.0
    with pytest.raises(SmileError, match="negative weights"):
        net.snapshot()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"boxes": "round"}, "boxes is 'gap' or 'paper'"),
        ({"auxiliaries": "cubic"}, "no auxiliaries of kind 'cubic'"),
        ({"hidden": 0}, "at least one hidden unit"),
        ({"output_scale": 0.0}, "must be positive"),
        ({"output_scale": NAN}, "must be positive"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(SmileError, match=message):
        SmileNet(DOMAIN, MLP(5, (3,), 4), 4, **options)


def test_a_backbone_of_the_wrong_size_is_named():
    net = SmileNet(DOMAIN, nn.Linear(5, 3), 4)
    with pytest.raises(SmileError, match=r"returned shape \(200, 3\); expected \(200, 4\)"):
        net.predict(rows())


@pytest.mark.parametrize("backbone", [MLP(5, (3, 2), 4), ConvNet(28, (2, 2, 2, 2, 2, 2), 8, 3)])
def test_backbones_are_rebuilt_from_their_description(backbone):
    again = rebuild(describe(backbone))
    shapes = {k: v.shape for k, v in backbone.state_dict().items()}
    assert {k: v.shape for k, v in again.state_dict().items()} == shapes


def test_an_unknown_backbone_cannot_be_rebuilt():
    with pytest.raises(SmileError, match="no backbone of kind 'tree'"):
        rebuild({"kind": "tree"})
