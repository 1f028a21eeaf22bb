"""Networks with encoders learn, keep their claims by construction, resume bit for bit, and end certified."""

import math

import numpy as np
import pytest
import torch

from smilenn.certify.certify import certify
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.encoders import Branch, Distance, Encoder
from smilenn.model.net import SmileNet
from smilenn.properties import (
    Concave,
    Convex,
    Custom,
    Dominates,
    Fair,
    Lipschitz,
    Monotone,
    Outputs,
    Robust,
    Safe,
    Symmetric,
    lower_all,
)
from smilenn.train.config import Config
from smilenn.train.encoded import centres, encoder_outputs
from smilenn.train.fit import fit
from smilenn.train.held import kept_rows
from smilenn.train.recipes import Design, Task, recipe_for
from smilenn.train.recipes.roles import Reading, roles
from smilenn.train.recipes.stated import read
from smilenn.verdict import Proved

QUICK = Config(epochs=25, batch_size=64, learning_rate=3e-3)
MEMBERS = pytest.mark.parametrize("members", [2, pytest.param(4, marks=pytest.mark.slow)])


def people(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    domain = Domain(
        (
            Feature("income", "continuous", 0.0, 8.0, shift=4.0, mult=0.5),
            Feature("debt", "continuous", 0.0, 5.0, shift=2.5, mult=0.7),
            Feature("race", "category", categories=("a", "b", "c")),
        )
    )
    x = domain.sample(rows, rng)
    y = np.sqrt(x[:, 0]) - 0.4 * x[:, 1] + 0.5 * x[:, 2] + 0.3 * np.sin(2 * x[:, 1]) * (x[:, 0] > 4)
    return domain, x, y + 0.05 * rng.normal(size=rows)


def encoded(domain, x, properties, **options):
    """The network that keeps these properties by construction; None for the plain one."""
    found = recipe_for(Task.of(domain, x, lower_all(properties, domain), **options))
    return None if found.family == "plain" else found


def r2(net, x, y):
    return 1 - ((net.predict(x)[:, 0] - y) ** 2).mean() / y.var()


def recipe(properties, seed=0, members=4):
    domain, x, y = people(seed=seed)
    torch.manual_seed(seed)
    design = Design(members=members)
    found = encoded(domain, x, properties, size=float(y.std()), start=float(y.mean()), design=design)
    assert found is not None
    claims = [claim for p in properties for claim in p.lower(domain)]
    return found, claims, x, y


@pytest.mark.parametrize(
    ("properties", "profile", "least"),
    [
        ([Monotone(increasing=["income"], decreasing=["debt"])], "fixed-order", 0.85),
        ([Fair(["race"], 0.3)], "f64-aux", 0.85),
        ([Fair(["race"], 0.0), Monotone(increasing=["income"])], "fixed-order", 0.7),
    ],
)
@MEMBERS
def test_the_default_recipe_learns_and_is_certified(properties, profile, least, members):
    found, claims, x, y = recipe(properties, members=members)
    done = fit(found.net, x, y, claims, config=QUICK, validation=people(seed=1)[1:])
    assert isinstance(done.verdict, Proved) and found.net.profile == profile
    assert {record["phase"] for record in done.history} <= {"train"}
    assert r2(found.net, *people(seed=2)[1:]) > least
    assert certify(found.net, claims, time_limit=10).report.status == "certified"


@MEMBERS
def test_a_width_lets_the_backbone_use_the_protected_column(members):
    """Race is worth 0.5; with ε = 0.3 a part of it can be predicted, with ε = 0 nothing."""
    scores = []
    for eps in (0.3, 0.0):
        found, claims, x, y = recipe([Fair(["race"], eps)], members=members)
        fit(found.net, x, y, claims, config=QUICK)
        scores.append(r2(found.net, *people(seed=2)[1:]))
    assert scores[0] > scores[1] + 0.02


def test_an_epoch_does_not_walk_all_modules_again(monkeypatch):
    from smilenn.train import encoded, run

    asked = {"kind": 0, "parts": 0}

    def counted(name, call):
        def inner(*given):
            asked[name] += 1
            return call(*given)

        return inner

    monkeypatch.setattr(run, "has_contractions", counted("kind", run.has_contractions))
    monkeypatch.setattr(encoded, "parts", counted("parts", encoded.parts))
    found, claims, x, y = recipe([Monotone(increasing=["income"])])
    fit(found.net, x, y, claims, config=QUICK.replace(epochs=6))
    assert asked["kind"] <= 2 and asked["parts"] == 1


def test_a_run_that_was_cut_off_continues_bit_for_bit(tmp_path):
    class Cut(Exception):
        pass

    def stop(progress):
        if progress.step == 3:
            raise Cut

    properties = [Monotone(increasing=["income"])]
    found, claims, x, y = recipe(properties)
    fit(found.net, x, y, claims, config=QUICK.replace(epochs=6))
    again, *_ = recipe(properties)
    with pytest.raises(Cut):
        fit(again.net, x, y, claims, config=QUICK.replace(epochs=6), checkpoint=tmp_path / "run", callback=stop)
    third, *_ = recipe(properties)
    fit(third.net, x, y, claims, config=QUICK.replace(epochs=6), checkpoint=tmp_path / "run")
    for (name, one), two in zip(found.net.state_dict().items(), third.net.state_dict().values(), strict=True):
        assert torch.equal(one, two), name


def half(rows, seed):
    rng = np.random.default_rng(seed)
    domain = Domain.box([0.0] * 4, [1.0] * 4)
    x = domain.sample(rows, rng)
    return domain, x, (x[:, 0] + 0.2 * x[:, 1] > 0.6).astype(float)


def distance_net(domain, seed):
    torch.manual_seed(seed)
    encoder = Encoder(domain, [Branch("far", range(4), [Distance(4, 16), Distance(16, 2)])])
    net = SmileNet(domain, MLP(4, (2,), 1), 1, encoder=encoder, auxiliaries="affine", output_scale=8.0)
    net.gap.scale_(0.0)
    with torch.no_grad():
        net.lower.slope.copy_(torch.tensor([[1.0, -1.0]]))
        net.head_weight.fill_(1.0)
    for parameter in (*net.lower.parameters(), *net.gap.parameters(), net.head_weight, net.head_bias):
        parameter.requires_grad_(False)
    return net


def test_a_distance_net_learns_ends_with_the_maximum_and_is_certified():
    domain, x, y = half(1500, 0)
    net = distance_net(domain, 0)
    claims = Robust(0.02, 2 * 0.02 * 8.0 * 1.001).lower(domain)
    config = QUICK.replace(epochs=40, learning_rate=0.02, train_learning_rate=0.02)
    done = fit(net, x, y, claims, loss="bce", config=config)
    assert all(layer.p == math.inf and layer.mean is None for layer in net.modules() if isinstance(layer, Distance))
    assert isinstance(done.verdict, Proved)
    _, fresh, truth = half(1000, 1)
    assert ((net.predict(fresh)[:, 0] > 0) == truth).mean() > 0.9
    assert certify(net, claims, time_limit=10).report.status == "certified"


@pytest.mark.parametrize("properties", [[Monotone(increasing=["income"])], [Fair(["race"], 0.3)]])
def test_members_side_by_side_are_what_the_encoder_computes(properties):
    found, _, x, _ = recipe(properties)
    net = found.net
    u = net.scale(torch.tensor(x))
    e = encoder_outputs(net.encoder, u)
    assert torch.allclose(e, net.encoder(u), rtol=1e-12, atol=1e-12)
    width = 0.98 * 0.3 if isinstance(properties[0], Fair) else 0.0
    for k, centre in enumerate(centres(net, e)):
        alone = net.head(net.lower(e[:, k : k + 1].expand(-1, e.shape[1])))
        assert torch.allclose(centre, alone + width / 2)


def test_every_group_is_judged_by_rows_it_has_not_seen():
    """Exchanging the targets of rows that are kept from a group changes the others, not its own members."""
    nets = []
    for step in (1, -1):
        found, claims, x, y = recipe([Monotone(increasing=["income"])])
        held = kept_rows(y, found.net, 0.1, False, np.random.RandomState(0))
        assert held.any(axis=0).all() and held.sum(axis=1).max() == 1
        y[held[:, 0]] = y[held[:, 0]][::step]
        nets.append(list(found.net.encoder.branches))
        fit(found.net, x, y, claims, config=QUICK.replace(epochs=1), held=held)
    for i, (one, two) in enumerate(zip(*nets, strict=True)):
        difference = float((one.layers[1].weight - two.layers[1].weight).detach().abs().max())
        assert difference < 1e-9 if i % 4 == 0 else difference > 1e-6, i


def test_the_kinds_that_predict_best_together_are_kept():
    found, claims, x, y = recipe([Monotone(increasing=["income"])])
    held = kept_rows(y, found.net, 0.1, False, np.random.RandomState(0))
    done = fit(found.net, x, y, claims, config=QUICK, held=held)
    names = {name.rstrip("0123456789") for name in (b.name for b in done.net.encoder.branches)}
    said = dict(part.split()[::-1] for part in done.chosen.split(" (")[0].split(" + "))
    assert set(said) == names and abs(sum(map(float, said.values())) - 1) < 0.03
    assert 0 < done.held_out < 0.2
    assert torch.allclose(done.net.lower.slope.sum(), torch.ones((), dtype=torch.float64))
    assert isinstance(done.verdict, Proved)


def test_a_backbone_that_takes_part_keeps_the_same_rows_from_everything():
    found, claims, x, y = recipe([Fair(["race"], 0.3)])
    held = kept_rows(y, found.net, 0.1, False, np.random.RandomState(0))
    assert (held == held[:, :1]).all() and held[:, 0].sum() == 40
    states = []
    for step in (1, -1):
        found, claims, x, y = recipe([Fair(["race"], 0.3)])
        y[held[:, 0]] = y[held[:, 0]][::step]
        fit(found.net, x, y, claims, config=QUICK.replace(epochs=1), held=held)
        states.append(found.net.backbone.state_dict())
    assert all(torch.allclose(one, two, atol=1e-9) for one, two in zip(*(s.values() for s in states), strict=True))


def test_few_rows_are_all_learned_from():
    found, *_ = recipe([Monotone(increasing=["income"])])
    assert not kept_rows(np.arange(19.0), found.net, 0.1, False, np.random.RandomState(0)).any()


def test_properties_without_a_recipe_get_none_and_no_properties_the_ensemble():
    domain, x, _ = people()

    def ask(*properties, classify=False):
        return encoded(domain, x, properties, classify=classify)

    free = ask()
    assert free is not None and free.family == "ensemble" and free.boosted == ({"income": 0, "debt": 0, "race": 0},)
    steps = Custom(when=["a.debt - b.debt == 1"], then=["a.out <= b.out"])
    assert ask(steps) is None
    assert ask(Monotone(increasing=["income"]), steps) is None
    assert ask(Convex(["income"]), steps) is None
    assert ask(Fair(["race"], 0.1, delta="5%")) is None
    few = ask(Robust(0.1, 1.0), classify=True)
    assert few is not None and "distance" not in few.reasons
    pixels = Domain.box([0.0] * 64, [1.0] * 64)
    many = encoded(pixels, np.zeros((2, 64)), [Robust(0.1, 1.0)], classify=False)
    assert many is None  # a number from many columns: too many units
    found = encoded(pixels, np.zeros((2, 64)), [Robust(0.1, 1.0)], classify=True)
    assert found is not None and "distance" in found.reasons


@pytest.mark.parametrize(
    "properties",
    [
        [Convex(["income"])],
        [Concave(["income"]), Monotone(increasing=["income"], decreasing=["debt"])],
        [Symmetric(["income", "debt"])],
        [Symmetric(["income", "debt"], 0.3)],
        [Dominates("income", "debt")],
        [Convex(["debt"]), Lipschitz("income", 0.1)],
        [Convex(["debt"]), Robust("5%", 0.5)],
        [Monotone(increasing=["income"]), Safe(then=["-1 <= out <= 1"])],
        [Fair(["income", "debt", "race"], 0.2)],
        [Convex(["income", "debt"]), Fair(["race"], 0.2)],
        [Convex(["income", "debt"]), Fair(["race"], 0.2), Safe(then=["-1 <= out <= 1"])],
    ],
    ids=str,
)
def test_every_combination_ends_certified(properties):
    """What no rule certifies exactly is not read; what ε leaves too little room for is cut, or drawn to a constant."""
    found, claims, x, y = recipe(properties, members=1)
    done = fit(found.net, x, y, claims, config=QUICK.replace(epochs=2, pretrain_epochs=2, posttrain_rounds=1))
    assert isinstance(done.verdict, Proved)
    assert certify(found.net, claims, time_limit=10).report.status == "certified"


def test_what_is_convex_and_concave_is_linear_from_the_least_squares_line_on():
    domain = Domain.box([0.0, -1.0], [10.0, 1.0], names=["income", "debt"])
    x = domain.sample(300, np.random.default_rng(0))
    y = 3.0 * x[:, 0] - 2.0 * x[:, 1] + 5.0
    properties = [Convex(["income", "debt"]), Concave(["income", "debt"]), Monotone(increasing=["debt"])]
    options: dict = {"size": 4.0, "start": float(y.mean())}
    found = encoded(domain, x, properties[:2], y=y, **options)
    assert found is not None and np.abs(found.net.predict(x)[:, 0] - y).max() < 0.5
    claims = [claim for p in properties[:2] for claim in p.lower(domain)]
    assert certify(found.net.eval(), claims, time_limit=10).report.status == "certified"
    signed = encoded(domain, x, properties, y=y, **options)
    assert signed is not None and signed.net.lower.slope[0, 1] == 0, "a slope of the wrong sign is not begun with"
    assert encoded(domain, x, properties, **options) is not None, "nor needed"


def test_roles_of_features():
    domain, *_ = people()

    def asked(*properties):
        return roles(domain, read(lower_all(properties, domain), Outputs(), domain))

    found = asked(Dominates("income", "debt"), Fair(["race"], 0.5))
    assert found is not None and found.curved == ("income", "debt")
    assert found.readings == (Reading(frozenset(), frozenset(), frozenset({"income", "debt", "race"})),)
    assert found.width == 0
    found = asked(Symmetric(["income", "debt"], 2.0), Fair(["race"], 0.2))
    assert found is not None and found.readings[0].without == {"income", "debt", "race"} and not found.curved
    assert found.width == pytest.approx(0.98 * 0.2)
    found = asked(Convex(["debt"]), Symmetric(["income", "debt"]))
    assert found is not None and not found.linear and found.curved == ("income", "debt")
    found = asked(Convex(["debt"]), Concave(["debt"]), Lipschitz("income", 1))
    assert found is not None and found.passed == {"income", "debt"}
    assert found.linear == {"debt"} and found.curved == ("income",)
    found = asked(Convex(["debt"]), Fair(["debt"], 0.0))
    assert found is not None and not found.curved and found.readings[0].without == {"debt"}
