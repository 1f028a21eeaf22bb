"""The direct step of Adam: the same bits as torch's own."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

from smilenn.train.adam import Moves, adam_step, forget_gradients


def networks() -> tuple[nn.ModuleList, nn.ModuleList]:
    torch.manual_seed(3)
    first = nn.ModuleList([nn.Linear(3, 5), nn.Linear(5, 1), nn.Linear(2, 2)]).double()
    return first, copy.deepcopy(first)


def optimizer(net: nn.ModuleList, **options: Any) -> torch.optim.Adam:
    groups = [{"params": net[0].parameters(), "lr": 0.1}, {"params": [*net[1].parameters(), *net[2].parameters()]}]
    return torch.optim.Adam(groups, lr=0.01, **options)


def run(net: nn.ModuleList, mine: torch.optim.Adam, direct: bool, steps: int = 6) -> None:
    for step in range(steps):
        rng = torch.Generator().manual_seed(step)
        forget_gradients(mine)
        loss = (net[1](torch.relu(net[0](torch.randn(8, 3, generator=rng, dtype=torch.float64)))) ** 2).mean()
        if step > 2:  # a part that gets gradients late, as a backbone does when a box opens
            loss = loss + net[2](torch.ones(1, 2, dtype=torch.float64)).sum()
        loss.backward()
        adam_step(mine) if direct else mine.step()


@pytest.mark.parametrize("options", [{"fused": True}, {"fused": False}, {"fused": True, "amsgrad": True}])
def test_same_bits(options: dict[str, bool]) -> None:
    first, second = networks()
    own, torchs = optimizer(first, **options), optimizer(second, **options)
    run(first, own, direct=True)
    run(second, torchs, direct=False)
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(a, b)
    for a, b in zip(own.state_dict()["state"].values(), torchs.state_dict()["state"].values(), strict=True):
        assert all(torch.equal(a[key], b[key]) for key in a)


def test_two_types_in_a_group() -> None:
    """As in a network with a backbone in float32."""
    found = []
    for direct in (True, False):
        torch.manual_seed(0)
        parts = [nn.Linear(2, 1), nn.Linear(2, 1).double()]
        mine = torch.optim.Adam([p for part in parts for p in part.parameters()], lr=0.1, fused=True)
        for _ in range(4):
            forget_gradients(mine)
            sum(part(torch.ones(3, 2, dtype=part.weight.dtype)).square().mean().double() for part in parts).backward()
            adam_step(mine) if direct else mine.step()
        found.append([p.detach().clone() for part in parts for p in part.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_goes_on_from_a_saved_state() -> None:
    first, second = networks()
    whole = optimizer(first, fused=True)
    run(first, whole, direct=True, steps=6)
    part = optimizer(second, fused=True)
    run(second, part, direct=True, steps=2)
    again = optimizer(second, fused=True)
    again.load_state_dict(part.state_dict())
    for step in range(2, 6):
        rng = torch.Generator().manual_seed(step)
        forget_gradients(again)
        loss = (second[1](torch.relu(second[0](torch.randn(8, 3, generator=rng, dtype=torch.float64)))) ** 2).mean()
        if step > 2:
            loss = loss + second[2](torch.ones(1, 2, dtype=torch.float64)).sum()
        loss.backward()
        adam_step(again)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_without_gradients_nothing_moves() -> None:
    net, before = networks()
    mine = optimizer(net, fused=True)
    forget_gradients(mine)
    adam_step(mine)
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), before.parameters(), strict=True))


def test_moves_are_the_same_steps() -> None:
    """Gradients handed over, torch's own step in between, and a copy of the state in the end."""
    first, second = networks()
    own, torchs = optimizer(first, fused=True), optimizer(second, fused=True)
    parameters = [list(group["params"]) for group in own.param_groups]
    assert Moves.of(own, parameters) is None  # no moments yet
    moves = None
    for step in range(6):
        gradients = [[torch.full_like(p, 0.1 * step - 0.2) + p.detach() ** 2 for p in group] for group in parameters]
        for p, slope in zip(second.parameters(), [s for group in gradients for s in group], strict=True):
            p.grad = slope.clone()
        torchs.step()
        if step in (0, 3):
            for p, slope in zip(first.parameters(), [s for group in gradients for s in group], strict=True):
                p.grad = slope
            adam_step(own)
        else:
            moves = moves or Moves.of(own, parameters)
            assert moves is not None
            moves.step(gradients)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    for a, b in zip(own.state_dict()["state"].values(), torchs.state_dict()["state"].values(), strict=True):
        assert all(torch.equal(a[key], b[key]) for key in a)


def test_moves_are_for_the_kernel_only() -> None:
    net, _ = networks()
    for options in ({"fused": False}, {"fused": True, "amsgrad": True}):
        other = optimizer(net, **options)
        for p in net.parameters():
            p.grad = torch.ones_like(p)
        other.step()
        assert Moves.of(other, [list(group["params"]) for group in other.param_groups]) is None


def test_a_first_fit_does_not_import_the_compiler():
    """torch's wrappers would: the import takes a second, and a time limit pays for it."""
    import subprocess
    import sys

    program = (
        "import sys, torch\n"
        "from smilenn.train.adam import Adam, adam_step\n"
        "w = torch.ones(3, dtype=torch.float64, requires_grad=True)\n"
        "own = Adam([w], lr=0.1, fused=True)\n"
        "w.grad = torch.ones_like(w)\n"
        "adam_step(own)\n"
        "own.state_dict()\n"
        "assert float(w[0].detach()) != 1.0 and 'torch._dynamo' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_first_step_is_torchs_own():
    from smilenn.train.adam import Adam, adam_step

    start = torch.randn(5, 7, dtype=torch.float64)
    one, other = (start.clone().requires_grad_() for _ in range(2))
    own, theirs = Adam([one], lr=0.01, fused=True), torch.optim.Adam([other], lr=0.01, fused=True)
    for _ in range(3):
        slope = torch.randn(5, 7, dtype=torch.float64)
        one.grad, other.grad = slope.clone(), slope.clone()
        adam_step(own)
        theirs.step()
        assert torch.equal(one, other)
    mine, torchs = own.state_dict(), theirs.state_dict()
    assert mine["param_groups"] == torchs["param_groups"]
    assert all(torch.equal(mine["state"][0][name], value) for name, value in torchs["state"][0].items())
