"""Exact repair: whatever the network, the claims hold afterwards, and no more is given up than bisection needs."""

import numpy as np
import pytest
import torch

from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet
from smilenn.properties import Convex, Fair, Lipschitz, Monotone, Robust, Safe
from smilenn.provers.model import prove
from smilenn.train.config import Config
from smilenn.train.fit import fit
from smilenn.train.repair import repair
from smilenn.verdict import Proved

QUICK = Config(generator_limit=5.0)


def space():
    return Domain(
        [
            Feature("income", "continuous", 0.0, 9.0, shift=4.0, mult=0.5),
            Feature("age", "integer", 18.0, 60.0, shift=40.0, mult=0.1),
            Feature("owner", "binary", 0.0, 1.0),
            Feature("race", "category", categories=("a", "b", "c")),
        ]
    )


def wild(seed, *, boxes="gap", auxiliaries="relu", skip=False):
    torch.manual_seed(seed)
    domain = space()
    net = SmileNet(
        domain,
        MLP(domain.size, (4,), 3),
        3,
        hidden=6,
        boxes=boxes,
        auxiliaries=auxiliaries,
        output_scale=7.0,
        skip=skip,
    )
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    net.project_()
    return net, torch.tensor(domain.sample(200, np.random.default_rng(seed)))


CLAIMS = {
    "monotone": lambda d: Monotone(increasing=["income"], decreasing=["age"]).lower(d),
    "fair": lambda d: Fair(["race"], 0.5).lower(d),
    "equal": lambda d: Fair(["race", "owner"], 0.0).lower(d),
    "robust": lambda d: Robust(0.1, 0.3).lower(d),
    "lipschitz": lambda d: Lipschitz(["income"], 0.05).lower(d),
    "safe": lambda d: Safe(then=["-0.5 <= out <= 1.5"]).lower(d),
    "many": lambda d: [
        *Monotone(increasing=["income"]).lower(d),
        *Fair(["race"], 0.2).lower(d),
        *Safe(when=["age >= 30"], then=["-3 <= out <= 3"]).lower(d),
    ],
}


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("seed", range(3))
def test_what_was_not_proved_is_afterwards(name, seed):
    net, x = wild(seed, skip=seed == 2, auxiliaries="affine" if seed == 1 else "relu")
    claims = CLAIMS[name](net.domain)
    done = repair(net, claims, x, QUICK)
    assert done is not None and 0 <= done.left <= 1
    net.eval()
    assert isinstance(prove(net, claims, time_limit=10), Proved)


def test_a_network_that_holds_is_left_alone():
    net, x = wild(0)
    claims = Safe(then=["-1000000 <= out <= 1000000"]).lower(net.domain)
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    done = repair(net, claims, x, QUICK)
    assert done is not None and done.left == 1.0
    assert all((before[name] == tensor).all() for name, tensor in net.state_dict().items())


def test_shrinking_keeps_as_much_as_the_bound_allows():
    """The proved maximum ends just below ε, not far below."""
    from smilenn.problem import build
    from smilenn.provers.portfolio import generate

    net, x = wild(1)
    (claim,) = Robust(0.1, 0.3).lower(net.domain)
    repair(net, [claim], x, QUICK)
    problem = build(claim, net.snapshot())
    worst = max(generate(problem, row, start=1, limit=5).upper for row in problem.rows)
    assert -0.02 * 0.3 <= worst <= 0


def test_signs_are_shrunk_no_further_than_needed():
    """A unit of the wrong sign that another outweighs everywhere may stay as it is."""
    domain = Domain.box([0.0], [1.0])
    net = SmileNet(domain, MLP(1, (2,), 1), 1, hidden=2, output_scale=1.0)
    net.gap.scale_(0.0)
    with torch.no_grad():
        net.lower.weight.copy_(torch.tensor([[1.0], [1.0]]))
        net.lower.bias.copy_(torch.tensor([0.5, 0.5]))
        net.lower.out.copy_(torch.tensor([[1.0, -2.0]]))  # slope −1: the second must lose half
        net.head_weight.fill_(1.0)
    done = repair(net, Monotone(increasing=["x0"]).lower(domain), torch.zeros(4, 1), QUICK)
    assert done is not None and 0.45 < done.left <= 0.5


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_what_it_cannot_repair_it_does_not_touch(boxes):
    net, x = wild(2, boxes=boxes)
    properties = Convex(["income"]) if boxes == "gap" else Monotone(increasing=["income"])
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    assert repair(net, properties.lower(net.domain), x, QUICK) is None
    assert all((before[name] == tensor).all() for name, tensor in net.state_dict().items())


def test_limits_that_no_constant_meets_are_left_to_the_verdict():
    net, x = wild(0)
    claims = [*Safe(then=["out <= 1"]).lower(net.domain), *Safe(then=["out >= 1"]).lower(net.domain)]
    assert repair(net, claims, x, QUICK) is None


def test_fit_repairs_and_says_what_it_cost():
    """No training at all, a claim that the start does not satisfy: repair alone has to do it."""
    domain = Domain.box([-1.0, -1.0], [1.0, 1.0])
    rng = np.random.default_rng(0)
    x = domain.sample(300, rng)
    y = np.sin(4 * x[:, 0]) - x[:, 1]
    claims = Monotone(increasing=["x0"], decreasing=["x1"]).lower(domain)
    config = Config(pretrain_epochs=20, epochs=2, posttrain_rounds=0, feasible_start=False)
    torch.manual_seed(0)
    net = SmileNet(domain, MLP(2, (8,), 2), 2, hidden=6)
    done = fit(net, x, y, claims, config=config)
    assert isinstance(done.verdict, Proved)
    last = done.history[-1]
    assert last["phase"] == "repair" and last["loss_before"] > 0 and last["loss"] > 0
    without = fit(SmileNet(domain, MLP(2, (8,), 2), 2, hidden=6), x, y, claims, config=config.replace(repair=False))
    assert not isinstance(without.verdict, Proved)
    assert "repair" not in {record["phase"] for record in without.history}


def test_a_classifier_s_decisions_survive_drawing_its_logits_together():
    """Drawn to 0 the logits keep their signs; drawn to their mean, far from 0 here, they would not."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (200, 1))
    y = (X[:, 0] > 2).astype(float)
    domain = Domain.box([0.0], [10.0], ["x"])
    net = SmileNet(domain, MLP(1, (4,), 1), 1, auxiliaries="affine")
    net.gap.scale_(0.0)
    with torch.no_grad():
        net.lower.slope.fill_(10.0)
        net.lower.const.fill_(0.0)
        net.head_weight.fill_(1.0)
        net.head_bias.copy_(-net(torch.tensor([[2.0]]))[0])
    before = net.predict(X)[:, 0] > 0
    claims = Robust({"x": 0.5}, 0.01).lower(domain)
    done = repair(net, claims, torch.tensor(X), QUICK, classify=True)
    assert done is not None and done.left < 0.1
    assert ((net.predict(X)[:, 0] > 0) == before).all() and (before == (y > 0)).mean() > 0.99
    assert np.ptp(net.predict(np.array([[5.0], [5.5]]))) <= 0.01


def test_weights_that_shrink_leave_the_mean_where_it_was():
    """A line that rises too fast becomes flatter about the middle of the data, not about the corner of its box."""
    domain = Domain.box([0.0], [10.0], names=["x"])
    x = np.linspace(0.0, 10.0, 51)[:, None]
    net = SmileNet(domain, MLP(1, (4,), 1).double(), 1, auxiliaries="affine")
    with torch.no_grad():
        net.gap.scale_(0.0)
        net.lower.slope.fill_(-3.0)
        net.lower.const.fill_(1.0)
        net.head_weight.fill_(1.0)
    before = float(net.predict(x).mean())
    done = repair(net.eval(), Monotone(increasing=["x"]).lower(domain), torch.tensor(x), Config())
    assert done is not None and "wrong sign × 0.00" in done.text
    assert float(net.predict(x).mean()) == pytest.approx(before) and np.ptp(net.predict(x)) < 1e-12
