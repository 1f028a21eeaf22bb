"""Loss terms: what they are divided by, and that they say what the provers say."""

import numpy as np
import pytest
import torch

from smilenn.errors import SmileError
from smilenn.problem import build
from smilenn.search.abstraction import abstract, resolved
from smilenn.train.config import Config
from smilenn.train.demand import flip_margin, unit
from smilenn.train.generator import RARELY, Generator
from smilenn.train.losses import Pressure, Quantiles, box_loss, property_loss, task_loss, violations


def column(values):
    return torch.tensor(values, dtype=torch.float64).reshape(-1, 1)


# ---- the task -------------------------------------------------------------------------------------------------------


def test_the_constant_predictor_loses_one():
    y = column(np.random.default_rng(0).normal(3, 7, size=50))
    mean = y.mean().expand(50, 1)
    assert float(task_loss("mse", y)(mean, y, None)) == pytest.approx(1.0)
    t = column([1.0, 0.0, 0.0, 1.0, 0.0])
    logit = torch.full((5, 1), float(np.log(0.4 / 0.6)), dtype=torch.float64)
    assert float(task_loss("bce", t)(logit, t, None)) == pytest.approx(1.0)


def test_the_constant_predictor_loses_one_with_weights_and_several_outputs():
    rng = np.random.default_rng(1)
    y = torch.tensor(rng.normal(size=(40, 2)) * [1, 100])
    w = torch.tensor(rng.uniform(0.1, 3, size=40))
    mean = (y * w[:, None]).sum(dim=0) / w.sum()
    assert float(task_loss("mse", y, w)(mean.expand(40, 2), y, w)) == pytest.approx(1.0)


def test_targets_without_variance_do_not_divide_by_zero():
    zero, two, one = (column([value] * 4) for value in (0.0, 2.0, 1.0))
    assert np.isfinite(float(task_loss("mse", two)(zero, two, None)))
    assert np.isfinite(float(task_loss("bce", one)(zero, one, None)))


def test_margin_moves_the_logit_to_the_wrong_side():
    t = column([1.0, 0.0])
    plain, strict = task_loss("bce", t), task_loss("bce", t, margin=1.5)
    f = column([2.0, -2.0])
    assert float(strict(f, t, None)) == pytest.approx(float(plain(column([0.5, -0.5]), t, None)))
    assert float(strict(f, t, None)) > float(plain(f, t, None))


def test_another_loss_is_refused():
    with pytest.raises(SmileError, match="'mse', 'bce', 'ce' or Quantiles"):
        task_loss("mae", column([0.0, 1.0]))  # type: ignore[arg-type]


def test_box_loss_is_zero_inside_and_counts_both_sides():
    def loss(z, lower, upper):
        return float(box_loss(column(z), column(lower), column(upper)))

    assert loss([0.5], [0.0], [1.0]) == 0.0
    assert loss([1.5, -1.0], [0.0, 0.0], [1.0, 1.0]) == pytest.approx(0.25 + 0.5)
    assert loss([0.5], [1.0], [0.0]) == pytest.approx(1.0)  # a flipped box presses on both


# ---- the property ---------------------------------------------------------------------------------------------------


def pressures(make, case, net, slack):
    """Random members of each row's premise as pressure, with the demanding problem and the row."""
    for claim in case.claims:
        problem = Generator.of(claim, net.snapshot(), Config(slack=slack)).problem(net.snapshot())
        u = make.members(problem, 50)
        assert len(u) > 20
        for r, row in enumerate(problem.rows):
            units, lift = np.full(len(u), unit(row)), flip_margin(problem, slack)
            yield problem, row, Pressure(abstract(problem, r, u), units, lift)


@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize("slack", [0.0, 0.05])
@pytest.mark.parametrize("name", ["wave", "unfair", "plane", "slopes", "bowl", "several"])
def test_violations_are_the_provers_values(make, name, boxes, slack):
    case = getattr(make, name)(boxes=boxes, output_scale=4.0)
    net = case.net()
    for problem, row, pressure in pressures(make, case, net, slack):
        want = problem.value(pressure.abstraction.u, row) / unit(row)
        got = violations(net, pressure).detach().numpy()
        assert np.allclose(got, want, rtol=1e-9, atol=1e-9)
        loss, worst = property_loss(net, [pressure])
        assert float(loss.detach()) == pytest.approx(np.maximum(want, 0.0).mean())
        assert worst == pytest.approx(want.max())


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_the_loss_presses_on_auxiliaries_and_head_but_not_on_the_backbone(make, boxes):
    case = make.wave(boxes=boxes)
    net = case.net()
    if boxes == "paper":
        with torch.no_grad():
            net.second.const.add_(2.0)  # boxes that are open
    (_, _, pressure), *_ = pressures(make, case, net, 0.02)
    loss, worst = property_loss(net, [pressure])
    assert worst > 0
    loss.backward()
    for name in ("lower.const", "lower.out", "second.out", "second.const", "head_weight"):
        if name == "lower.const" and boxes == "gap":
            continue  # a constant added to both bounds cancels between the copies
        grad = net.get_parameter(name).grad
        assert grad is not None and bool((grad != 0).any()), name
    assert all(p.grad is None for p in net.backbone.parameters())


def test_no_counterexample_is_no_loss(make):
    net = make.wave().net()
    loss, worst = property_loss(net, [])
    assert float(loss) == 0.0 and worst == -np.inf and not loss.requires_grad
    assert resolved(worst)


def test_the_first_counterexample_is_not_resolved_although_lambda_is_zero(make):
    """RESOLVED of the paper multiplies by λ, which starts at 0: everything would look resolved."""
    case = make.wave()
    net = case.net()
    generator = Generator.of(case.claims[0], net.snapshot(), case.config)
    pressure = generator.refresh(net.snapshot(), np.random.default_rng(0))
    assert len(pressure) > 0
    _, worst = property_loss(net, [pressure])
    assert worst > 0 and not resolved(worst)


def test_the_generator_finds_rescoring_first_and_forgets_what_no_longer_violates(make):
    case = make.unfair()
    net = case.net()
    with torch.no_grad():
        net.head_weight.mul_(10.0)
    generator = Generator.of(case.claims[0], net.snapshot(), case.config)
    pressure = generator.refresh(net.snapshot(), np.random.default_rng(0))
    base = build(case.claims[0], net.snapshot())
    assert len(pressure) and base.region.contains(pressure.abstraction.u).all()
    calls = generator.calls
    with torch.no_grad():
        net.head_weight.mul_(0.0)
    assert len(generator.refresh(net.snapshot(), np.random.default_rng(0))) == 0
    assert generator.calls > calls and generator.seconds > 0


def test_a_pool_without_violations_is_rescored_often_and_searched_rarely(make):
    case = make.unfair()
    net, rng = case.net(), np.random.default_rng(0)
    with torch.no_grad():
        net.head_weight.mul_(10.0)
    generator = Generator.of(case.claims[0], net.snapshot(), case.config)
    violated = generator.refresh(net.snapshot(), rng)
    weight = net.head_weight.detach().clone()
    with torch.no_grad():
        net.head_weight.mul_(1e-3)
    before = generator.calls
    quiet = [len(generator.refresh(net.snapshot(), rng, fresh=False)) for _ in range(RARELY - 1)]
    assert not any(quiet) and generator.calls == before and len(generator.pool)
    generator.refresh(net.snapshot(), rng, fresh=False)
    assert generator.calls == before + len(generator.base.rows)
    with torch.no_grad():
        net.head_weight.copy_(weight)
    again = generator.refresh(net.snapshot(), rng, fresh=False)  # the pool remembers what violated the claim before
    assert len(again) and generator.calls == before + 2 * len(generator.base.rows)
    assert len(violated) and again.abstraction.u.shape[1:] == violated.abstraction.u.shape[1:]


@pytest.mark.parametrize("kind", ["mse", "bce", "ce", Quantiles((0.2, 0.7))])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_the_slope_of_a_loss_is_that_of_its_backward_pass(kind, weighted, margin):
    rng = np.random.default_rng(3)
    for outputs in (2,) if kind not in ("mse", "bce") else (1, 3):
        y = torch.tensor(rng.integers(0, 2, size=(23, outputs)).astype(float))
        w = torch.tensor(rng.uniform(size=23)) if weighted else None
        f = torch.tensor(rng.normal(size=(23, outputs)), requires_grad=True)
        loss = task_loss(kind, y, w, margin)
        wanted = 4 * loss(f, y, w)
        wanted.backward()
        value, slope = loss.slope(f.detach(), y, w, 4)
        assert torch.equal(value, wanted.detach()) and torch.equal(slope, f.grad)
