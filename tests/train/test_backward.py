"""The written gradient of a training step is torch's, bit for bit; where it does not apply, torch records as usual."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet
from smilenn.model.select import select
from smilenn.train.adam import adam_step
from smilenn.train.backward import Backward, hooked
from smilenn.train.losses import Quantiles, box_loss, task_loss

KINDS = {"mse": 1, "bce": 1, "ce": 3, "several": 2, "quantiles": 2}  # losses and outputs


def network(boxes: str = "gap", outputs: int = 1, sizes: tuple[int, ...] = (5, 4), inputs: int = 3) -> SmileNet:
    torch.manual_seed(7)
    domain = Domain.box([-1.0] * inputs, [2.0] * inputs)
    net = SmileNet(
        domain,
        MLP(inputs, sizes, 3).double(),
        3,
        outputs=[f"y{k}" for k in range(outputs)],
        hidden=4,
        boxes=boxes,
        output_scale=4.0,  # type: ignore[arg-type]
    )
    with torch.no_grad():  # embeddings inside, above and below their boxes; some without any width, or flipped
        net.backbone[-1].weight.mul_(4.0)  # type: ignore[index, operator, union-attr]
        net.backbone[-1].bias.copy_(torch.tensor([-1.0, -0.5, 0.0]))  # type: ignore[index, operator, union-attr]
        if boxes == "gap":
            net.second.out[1] = 0.0
            net.second.const[1] = 0.0
    return net


def optimizer(net: SmileNet) -> torch.optim.Adam:
    return torch.optim.Adam(net.parameters(), lr=0.01, fused=True)


def data(kind: str, rows: int, inputs: int = 3):
    rng = np.random.default_rng(5)
    x = torch.tensor(rng.uniform(-1.5, 2.5, size=(rows, inputs)))
    noise = rng.normal(size=(rows, KINDS[kind]))
    y = {"mse": noise, "bce": noise > 0, "several": noise > 0, "quantiles": np.repeat(noise[:, :1], 2, axis=1)}.get(
        kind, np.eye(3)[rng.integers(0, 3, size=rows)]
    )
    y = torch.tensor(np.asarray(y, dtype=np.float64))
    weight = torch.tensor(rng.uniform(0.1, 3.0, size=rows))
    names = {"several": "bce", "quantiles": Quantiles((0.1, 0.8))}
    return x, y, weight, task_loss(names.get(kind, kind), y, weight, 0.3 if kind == "several" else 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize("four", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_same_bits_as_torch(kind: str, boxes: str, four: bool, weighted: bool) -> None:
    net = network(boxes, KINDS[kind])
    x, y, weight, loss = data(kind, 37)
    w = weight if weighted else None
    p = net.pathways(x)
    inside = (p.z > p.z_lower) & (p.z < p.z_upper)
    assert inside.any() and (p.z < p.z_lower).any() and (p.z > p.z_upper).any()
    if boxes == "paper":
        flipped = (p.z > p.z_upper) & (p.z < p.z_lower)
        assert flipped.any()
    outputs, times = (p.outputs, 4) if four else (net.head(select(p.z, p.z_lower, p.z_upper)), 1)
    accuracy = times * loss(outputs, y.repeat(times, 1), None if w is None else w.repeat(times))
    box = box_loss(p.z, p.z_lower, p.z_upper)
    (accuracy + 0.7 * box).backward()
    written = Backward.of(net, optimizer(net))
    assert written is not None
    value, other, slopes = written(net.scale(x), y, w, loss, 0.7, four=four)
    assert torch.equal(value, accuracy.detach()) and torch.equal(other, box.detach())
    assert {id(p) for p in written.parameters} == {id(p) for p in net.parameters()}
    for parameter, slope in zip(written.parameters, slopes, strict=True):
        assert parameter.grad is not None and torch.equal(parameter.grad, slope)


@pytest.mark.parametrize("sizes", [(), (6,), (3, 3, 3)])
@pytest.mark.parametrize("inputs", [1, 2])
def test_any_depth(sizes: tuple[int, ...], inputs: int) -> None:
    net = network(sizes=sizes, inputs=inputs)
    x, y, weight, loss = data("bce", 1 if sizes else 20, inputs)
    p = net.pathways(x)
    (4 * loss(p.outputs, y.repeat(4, 1), weight.repeat(4)) + box_loss(p.z, p.z_lower, p.z_upper)).backward()
    written = Backward.of(net, optimizer(net))
    assert written is not None
    slopes = written(net.scale(x), y, weight, loss, 1.0, four=True)[2]
    assert all(torch.equal(p.grad, s) for p, s in zip(written.parameters, slopes, strict=True) if p.grad is not None)


def test_steps_begin_once_torch_has_made_the_moments() -> None:
    net = network()
    mine = optimizer(net)
    written = Backward.of(net, mine)
    assert written is not None and not written.ready()
    x, y, weight, loss = data("mse", 8)
    loss(net(x), y, weight).backward()
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    adam_step(mine)
    assert written.ready()
    before = [p.detach().clone() for p in written.parameters]
    written.step(written(net.scale(x), y, weight, loss, 1.0)[2])
    assert any(not torch.equal(p, q) for p, q in zip(written.parameters, before, strict=True))


def test_whole_runs_are_the_same(make, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [make.wave(), make.unfair(), make.unfair(boxes="paper"), make.several()]
    short = {"pretrain_epochs": 5, "epochs": 4, "posttrain_rounds": 2}
    used = []
    call = Backward.__call__
    monkeypatch.setattr(Backward, "__call__", lambda *args, **options: used.append(1) or call(*args, **options))
    written = [case.but(**short).fit() for case in cases]
    assert len(used) > 50
    monkeypatch.setattr(Backward, "of", lambda *_: None)
    for case, one in zip(cases, written, strict=True):
        other = case.but(**short).fit()
        assert make.same(one.net, other.net)
        for a, b in zip(one.history, other.history, strict=True):
            assert {k: v for k, v in a.items() if "seconds" not in k} == {
                k: v for k, v in b.items() if "seconds" not in k
            }


class Own(nn.Module):
    """A backbone of somebody else's."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 3).double()

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.inner(u))


def test_otherwise_torch_records() -> None:
    domain = Domain.box([-1.0] * 3, [1.0] * 3)
    mlp = MLP(3, (4,), 3)
    others = [
        SmileNet(domain, Own(), 3, hidden=2),
        SmileNet(domain, mlp, 3, hidden=2),  # float32
        SmileNet(domain, MLP(3, (4,), 3).double(), 3, auxiliaries="affine"),
        SmileNet(domain, MLP(3, (4,), 3).double(), 3, hidden=2, skip=True),
    ]
    with_hook = network()
    with_hook.backbone[0].register_forward_hook(lambda *_: None)  # type: ignore[index]
    watched = network()
    watched.head_weight.register_hook(lambda slope: 2 * slope)
    frozen = network()
    frozen.lower.const.requires_grad_(False)
    for net in [*others, with_hook, watched, frozen]:
        assert Backward.of(net, optimizer(net)) is None
    net = network()
    with torch.autocast("cpu"):
        assert Backward.of(net, optimizer(net)) is None
    two = torch.optim.Adam([{"params": [p]} for p in net.parameters()], fused=True)
    assert Backward.of(net, two) is None
    assert Backward.of(net, optimizer(net)) is not None


@pytest.mark.parametrize("kind", ["forward", "forward_pre", "full_backward", "full_backward_pre"])
def test_every_kind_of_hook_is_seen(kind) -> None:
    net = network()
    assert not hooked(net)
    handle = getattr(net.backbone[0], f"register_{kind}_hook")(lambda *_: None)  # type: ignore[index]
    assert hooked(net)
    handle.remove()
    assert not hooked(net)
    handle = getattr(torch.nn.modules.module, f"register_module_{kind}_hook")(lambda *_: None)
    try:
        assert hooked(net)
    finally:
        handle.remove()
