"""The written gradient of an ensemble's training step is torch's, bit for bit; elsewhere torch records as usual."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from smilenn.domain import Domain, Feature
from smilenn.model.net import SmileNet
from smilenn.properties import Convex, Fair, Monotone, lower_all
from smilenn.properties.forms import Outputs
from smilenn.train import encoded as module
from smilenn.train.backward_members import MembersBackward
from smilenn.train.config import Config
from smilenn.train.encoded import centres, members_loss, parameter_groups, seen, shares
from smilenn.train.ensemble import Ensemble
from smilenn.train.fit import fit
from smilenn.train.held import kept_rows
from smilenn.train.losses import task_loss
from smilenn.train.phases import Training
from smilenn.train.recipes import Design, Task, recipe_for

TWO = Outputs(("low", "high"), ())
PROPERTIES = {
    "no width": [Monotone(increasing=["income"])],
    "a width": [Fair(["race"], 0.6)],
    "two parts": [Monotone(increasing=["income"], output="low"), Monotone(decreasing=["income"], output="high")],
    "two parts and a width": [Fair(["race"], 0.6, output="low"), Fair(["debt"], 0.4, output="high")],
}


def data(several: bool, rows: int = 90):
    rng = np.random.default_rng(4)
    domain = Domain(
        (
            Feature("income", "continuous", 0.0, 9.0),
            Feature("debt", "continuous", 0.0, 5.0),
            Feature("race", "category", categories=("u", "v")),
        )
    )
    race = rng.integers(0, 2, rows)
    x = np.column_stack([rng.uniform(0, 9, rows), rng.uniform(0, 5, rows), np.eye(2)[race]])
    y = np.sqrt(x[:, 0]) - 0.3 * x[:, 1] + 0.8 * race + rng.normal(0, 0.1, rows)
    return domain, x, np.column_stack([y, 2 - y]) if several else y[:, None]


def network(case: str, members: int = 2, properties: Any = None) -> tuple[SmileNet, np.ndarray, np.ndarray, Any]:
    torch.manual_seed(5)
    several = case.startswith("two")
    domain, x, y = data(several)
    outputs, stated = TWO if several else Outputs(), properties or PROPERTIES[case]
    claims, design = lower_all(stated, domain, outputs), Design(backbone_sizes=(5,), members=members)
    wanted = Task.of(domain, x, claims, size=y.std(axis=0), start=y.mean(axis=0), outputs=outputs, y=y, design=design)
    found = recipe_for(wanted)
    assert found.family != "plain"
    return found.net.train(), x, y, claims


def optimizer(net: SmileNet, ensemble: Ensemble) -> torch.optim.Adam:
    return torch.optim.Adam(parameter_groups(net, ensemble), lr=0.01, fused=True)


@pytest.mark.parametrize("case", PROPERTIES)
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("weighted", ["all", "kept", "none"])
@pytest.mark.parametrize("kind", ["mse", "bce"])
def test_same_bits_as_torch(case: str, members: int, weighted: str, kind: str) -> None:
    net, x, values, _ = network(case, members)
    encoder = net.encoder
    assert encoder is not None and net.collapsed == ("width" not in case or case == "no width")
    ensemble, y = Ensemble(encoder), torch.tensor((values > 1).astype(float) if kind == "bce" else values)
    assert ensemble.parts == (2 if case.startswith("two") else 1)
    raw, index = torch.tensor(x), torch.randperm(len(x))[:37]
    ensemble.keep(net.scale(raw))
    weight = torch.rand(len(x), dtype=torch.float64) if weighted == "all" else None
    held = (
        None if weighted == "none" else torch.tensor(kept_rows(values[:, 0], net, 0.2, False, np.random.RandomState(0)))
    )
    task = Training(raw, y, weight, task_loss(kind, y), None, (), Config(), 0, held)  # type: ignore[arg-type]
    batch_x, batch_y, w = task.rows(index)
    u = net.scale(batch_x)
    e = ensemble.outputs(u, index)
    loss = members_loss(task, centres(net, e), batch_y, w, held, index)
    own = seen(w, held, index, None)
    if not net.collapsed:
        (lower, upper), z = net.box(e.detach()), net.embed(u)
        with torch.no_grad():  # ties too
            net.backbone[-1].bias += (upper - z)[0]  # type: ignore[index, operator, union-attr]
        z = net.embed(u)
        assert bool((z < upper).any()) and bool((z >= upper).any())
        inside = torch.minimum(torch.maximum(z, lower), upper)
        loss = loss + task.loss(net.head(inside), batch_y, own) + task.loss(net.head(z), batch_y, own)
    loss.backward()
    written = MembersBackward.of(net, ensemble, optimizer(net, ensemble))
    assert written is not None and not written.ready()
    value, slopes = written(u, index, batch_y, shares(w, held, index, encoder.members), own, task.loss)
    assert torch.equal(value, loss.detach())
    for parameters, gradients in zip(written.parameters, slopes, strict=True):
        for parameter, slope in zip(parameters, gradients, strict=True):
            assert parameter.grad is not None and torch.equal(parameter.grad, slope)


@pytest.mark.parametrize("kept", [False, True])
def test_slopes_are_the_same_while_another_kind_rests(kept: bool) -> None:
    net, x, values, _ = network("no width", 2)
    assert net.encoder is not None and net.collapsed
    ensemble, raw, y = Ensemble(net.encoder), torch.tensor(x), torch.tensor(values)
    index = torch.arange(37)
    held = torch.tensor(kept_rows(values[:, 0], net, 0.2, False, np.random.RandomState(0))) if kept else None
    loss = task_loss("mse", y)
    found = []
    for resting in (frozenset(), frozenset({0})):
        ensemble.resting = resting
        written = MembersBackward.of(net, ensemble, optimizer(net, ensemble))
        assert written is not None
        share = shares(None, held, index, len(written.slope))
        found.append(written(net.scale(raw[index]), index, y[index], share, None, loss)[1])
    every, some = found
    assert some[1] == [] and len(every[1]) > 0 and len(some) == len(every) == 1 + len(ensemble.stacks)
    for wanted, slopes in zip(every[2:], some[2:], strict=True):
        assert all(torch.allclose(a, b, rtol=1e-5, atol=1e-9) for a, b in zip(wanted, slopes, strict=True))


def test_a_kind_rests_after_its_patience_and_is_best_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    net, x, y, claims = network("no width", 2)
    losses: list[list[float]] = []
    awake: list[int] = []
    judged = module.judged

    def recorded(net: SmileNet, task: Training, ensemble: Ensemble) -> list[float]:
        found = judged(net, task, ensemble)
        losses.append(found)
        awake.append(len(ensemble.kinds_awake))
        return found

    monkeypatch.setattr(module, "judged", recorded)
    held = kept_rows(y[:, 0], net, 0.1, False, np.random.RandomState(0))
    config = Config(epochs=300, batch_size=32, learning_rate=3e-2, patience=2)
    kinds = len(net.encoder.learned) // net.encoder.groups if net.encoder is not None else 0
    done = fit(net, x, y, claims, config=config, held=held)
    assert awake[0] == kinds and awake[-1] < kinds and awake == sorted(awake, reverse=True)
    assert all(len(found) == many for found, many in zip(losses, awake, strict=True))
    epochs = [record for record in done.history if record["phase"] == "train"]
    assert all(np.isfinite(record["held_out"]) for record in epochs) and len(epochs) == len(losses) < 300


@pytest.mark.parametrize("case", PROPERTIES)
def test_whole_runs_are_the_same(case: str, make, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, used, call = [], [], MembersBackward.__call__
    monkeypatch.setattr(MembersBackward, "__call__", lambda *args: used.append(1) or call(*args))
    for _ in range(2):
        net, x, y, claims = network(case)
        held = kept_rows(y[:, 0], net, 0.1, False, np.random.RandomState(0))
        config = Config(epochs=3, batch_size=32, learning_rate=1e-2)
        runs.append(fit(net, x, y, claims, config=config, held=held))
        assert len(used) == 8  # the first step makes the optimiser's moments
        monkeypatch.setattr(module.MembersBackward, "of", lambda *_: None)
    assert make.same(runs[0].net, runs[1].net) and runs[0].chosen == runs[1].chosen


def test_otherwise_torch_records() -> None:
    net, *_ = network("a width")
    assert net.encoder is not None
    ensemble = Ensemble(net.encoder)
    assert MembersBackward.of(net, None, optimizer(net, ensemble)) is None
    assert MembersBackward.of(net, ensemble, torch.optim.Adam(net.parameters())) is None
    net.lower.const.requires_grad_(True)
    assert MembersBackward.of(net, ensemble, optimizer(net, ensemble)) is None
    net.lower.const.requires_grad_(False)
    net.encoder.limit_(np.full(net.encoder.size, -1.0), np.full(net.encoder.size, 1.0))
    assert MembersBackward.of(net, ensemble, optimizer(net, ensemble)) is None
    curved, *_ = network("curved", properties=[Convex(["income"])])
    assert curved.encoder is not None
    members = Ensemble(curved.encoder)
    assert MembersBackward.of(curved, members, optimizer(curved, members)) is None
