"""Whatever changes after the check withdraws the verdict, whichever way it is changed; reading one computes nothing."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from smilenn import Config, Fair, Monotone, Network, Robust, SmileClassifier, SmileRegressor
from smilenn.domain import Domain
from smilenn.estimators import classifier as classifying
from smilenn.model import bundle
from smilenn.model.encoders import Branch, Encoder, Pinned
from smilenn.model.net import SmileNet
from smilenn.model.seal import is_as_described, seal
from smilenn.train.fitted import Fitted

pytestmark = pytest.mark.usefixtures("quick_module")

ROUGH = Config(pretrain_epochs=3, epochs=1, posttrain_rounds=0, least_quality=0.0)


def rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 240), "z": rng.uniform(0, 1, 240), "g": rng.choice(["u", "v"], 240)})
    frame.loc[3, "z"] = np.nan
    return frame, pd.Series(3 * frame["x"] + rng.normal(0, 1, 240), name="y")


@pytest.fixture(scope="module")
def ensemble():
    """A monotone ensemble of networks behind an encoder, a classifier whose missing cells are filled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("smilenn.train.run.boosters", lambda *given: Fitted("trees"))
        patch.setattr("smilenn.train.run.linear_members", lambda *given: Fitted("linear"))
        return encoded()


@pytest.fixture(scope="module")
def trees():
    """The same with boosted trees in place of networks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("smilenn.train.run.linear_members", lambda *given: Fitted("linear"))
        patch.setattr("smilenn.train.mixing._shares", lambda each, *given: np.eye(len(each))[-1])
        return encoded()


def encoded():
    X, y = rows()
    rules = [Monotone(["x"]), Fair(["g"], 1.0)]
    model = SmileClassifier(properties=rules, config=ROUGH, random_state=0, missing="fill", network=Network(members=1))
    model.fit(X, np.where(y > 15, "yes", "no"))
    assert model.verdict_.status == "proved" and model.net_.encoder is not None
    return model


@pytest.fixture(scope="module")
def affine():
    """The paper's network with affine auxiliaries, whose gap reads the ends of the box."""
    X, y = rows()
    options = {
        "network": Network(encoder="none", auxiliaries="affine", embedding=2),
        "config": ROUGH,
        "random_state": 0,
    }
    model = SmileRegressor(properties=Fair(["g"], 1000.0), **options).fit(X[["x", "g"]], y)
    assert model.verdict_.status == "proved"
    return model


def make(domain, u):
    module = nn.Sequential(nn.Linear(1, 3), nn.Tanh()).double()
    return Encoder(domain, [Branch("p", list(domain.indices("x")), [Pinned(module, 3)]), Branch("", [1])])


@pytest.fixture(scope="module")
def pinned():
    """A network whose encoder is a module that the checker does not read."""
    X, y = rows()

    model = SmileRegressor(properties=Fair(["g"], 1000.0), network=Network(encoder=make), config=ROUGH, random_state=0)
    model.fit(X[["x", "g"]], y)
    assert model.verdict_.status == "proved"
    return model


def withdrawn(model, change):
    """Whether a copy of the model says nothing any more once it is changed; the model itself stays as it is."""
    changed = copy.deepcopy(model)
    assert changed.verdict_.status == "proved" and changed.certificate_ is not None
    change(changed)
    found = changed.verdict_
    assert model.verdict_.status == "proved"
    return found.status == "unknown" and changed.certificate_ is None and "changed after" in found.sentence()


def first_linear(model):
    return model.net_.encoder.branches[0].layers[1]


# ---- numbers --------------------------------------------------------------------------------------------------------


def in_place(tensor):
    with torch.no_grad():
        tensor.view(-1)[0].add_(2.0**-40)


def by_data(tensor):
    tensor.data.view(-1)[0] += 2.0**-40


def by_numpy(tensor):
    tensor.detach().numpy().reshape(-1)[0] += 2.0**-40


def by_storage(tensor):
    tensor.untyped_storage()[7] ^= 0x80  # the sign bit of the first number


@pytest.mark.parametrize("edit", [in_place, by_data, by_numpy, by_storage])
def test_every_certified_tensor_is_watched_whoever_edits_it(ensemble, affine, edit):
    for model in (ensemble, affine):
        names = [name for name, _ in model.net_.certified_part() if not name.startswith("encoder.")]
        every = len(names)
        for name in names:
            tensor = dict(model.net_.certified_part())[name]
            if tensor.numel() and not (name.endswith(("u_lo", "u_hi")) and model is ensemble and "second" in name):
                assert withdrawn(model, lambda m, name=name: edit(dict(m.net_.certified_part())[name])), name
        assert every > 8
    for name in ("lo", "hi"):
        assert withdrawn(ensemble, lambda m, name=name: edit(getattr(m.net_.encoder, name)))
    for name, _ in [*first_linear(ensemble).named_parameters()]:
        assert withdrawn(ensemble, lambda m, name=name: edit(first_linear(m).get_parameter(name)))
    for name in ("start", "rate"):
        assert withdrawn(ensemble, lambda m, name=name: edit(getattr(m.net_.encoder.branches[0].layers[0], name)))


@pytest.mark.parametrize("edit", [in_place, by_data, by_numpy, by_storage])
def test_every_number_of_trees_is_watched(trees, edit):
    layer = trees.net_.encoder.branches[0].layers[0]
    assert type(layer).__name__ == "Trees" and layer.nodes > 3
    for name in ("split", "number", "bias"):
        assert withdrawn(trees, lambda m, name=name: edit(getattr(m.net_.encoder.branches[0].layers[0], name)))


def test_sets_and_counts_of_trees_are_watched(trees):
    assert withdrawn(trees, lambda m: m.net_.encoder.branches[0].layers[0].sets.append([0, 1]))
    assert withdrawn(trees, lambda m: m.net_.encoder.branches[0].layers[0].trees.append(1))


def test_zero_and_minus_zero_are_two_weights(affine):
    model = copy.deepcopy(affine)
    with torch.no_grad():
        model.net_.head_bias.zero_()
    model.certify()
    assert model.verdict_.status == "proved"
    assert withdrawn(model, lambda m: by_storage(m.net_.head_bias))  # 0.0 becomes −0.0


def test_an_exchanged_tensor_is_another_one_unless_its_bits_are_the_same(ensemble):
    def exchange(value):
        def change(model):
            model.net_.head_weight = nn.Parameter(value(model.net_.head_weight.detach().clone()))

        return change

    assert not withdrawn(ensemble, exchange(lambda w: w))
    assert withdrawn(ensemble, exchange(lambda w: w * 2))
    assert withdrawn(ensemble, exchange(lambda w: w.float()))
    assert withdrawn(ensemble, exchange(lambda w: w[None]))

    class Own(nn.Parameter):
        """A parameter with methods of its own."""

    def subclass(model):
        model.net_._parameters["head_weight"] = Own(model.net_.head_weight.detach())

    assert withdrawn(ensemble, subclass)


def test_a_weight_put_back_brings_the_verdict_back(ensemble):
    model = copy.deepcopy(ensemble)
    before = model.net_.head_bias.detach().clone()
    model.net_.head_bias.data += 1.0
    assert model.verdict_.status == "unknown"
    model.net_.head_bias.data.copy_(before)
    assert model.verdict_.status == "proved"


# ---- modules and code -----------------------------------------------------------------------------------------------


class Doubled(nn.Module):
    """Calls another module and doubles what it says."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *given):
        return 2 * self.inner(*given)


def set_(*path_and_value):
    """A change that sets an attribute of net_, by its path."""
    *path, value = path_and_value

    def change(model):
        place = model.net_
        for step in path[:-1]:
            place = place[int(step)] if step.isdecimal() else getattr(place, step)
        setattr(place, path[-1], value(getattr(place, path[-1], None)) if callable(value) else value)

    return change


CHANGES = {
    "submodule replaced": set_("encoder", Doubled),
    "layer replaced": lambda m: m.net_.encoder.branches[0].layers.__setitem__(1, Doubled(first_linear(m))),
    "forward of the network": set_("forward", lambda old: lambda x: -old(x)),
    "forward of a layer": lambda m: setattr(first_linear(m), "forward", lambda y: y),
    "deployed pass of a layer": lambda m: setattr(first_linear(m), "ordered", lambda y: -y),
    "box": set_("box", lambda old: lambda e: old(-e)),
    "head": set_("head", lambda old: lambda z: -old(z)),
    "scale": set_("scale", lambda old: lambda x: -old(x)),
    "hook": lambda m: m.net_.register_forward_hook(lambda *a: -a[2]),
    "hook before": lambda m: m.net_.encoder.register_forward_pre_hook(lambda _, given: (-given[0],)),
    "hook on a layer": lambda m: first_linear(m).register_forward_hook(lambda *a: -a[2]),
    "training mode of a layer": lambda m: first_linear(m).train(),
    "training mode of a branch": lambda m: m.net_.encoder.branches[0].train(),
    "profile": lambda m: m.net_.set_profile("dyadic", 20),
    "boxes": set_("boxes", "paper"),
    "outputs": set_("outputs", ("other",)),
    "columns of a branch": lambda m: m.net_.encoder.branches[0].columns.reverse(),
    "sources of ramps": lambda m: m.net_.encoder.branches[0].layers[0].source.reverse(),
    "convex units": set_("encoder", "branches", "0", "layers", "2", "convex", 1),
    "which coordinates are cut": lambda m: m.net_.encoder.encoded.fill(False),
    "class of a module": lambda m: setattr(m.net_, "__class__", type("Own", (SmileNet,), {})),
    "domain of the network": set_("domain", lambda old: Domain(tuple(reversed(old.features)))),
    "bounds of the domain, in place": lambda m: m.domain_.lo.__setitem__(0, -100.0),
    "an attribute from elsewhere": set_("anything", object()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_network_that_computes_otherwise_is_not_the_one_that_was_checked(ensemble, name):
    assert withdrawn(ensemble, CHANGES[name])


def test_the_ends_of_an_affine_gap_are_watched(affine):
    assert withdrawn(affine, lambda m: in_place(m.net_.second.u_lo))
    model = copy.deepcopy(affine)
    in_place(model.net_.second.u_hi)  # before the check: the files describe another network than the one in memory
    model.certify()
    assert model.verdict_.status == "unknown" and not is_as_described(model.net_)


def test_a_hook_on_all_modules_counts_while_it_is_there(ensemble):
    handle = nn.modules.module.register_module_forward_hook(lambda *a: -a[2])
    try:
        assert ensemble.verdict_.status == "unknown"
    finally:
        handle.remove()
    assert ensemble.verdict_.status == "proved"


def test_what_was_rewired_before_the_check_is_not_certified(ensemble):
    for name in ("box", "deployed pass of a layer", "hook"):
        model = copy.deepcopy(ensemble)
        CHANGES[name](model)
        assert model.certify().status != "proved" and model.certificate_ is None, name


# ---- what rows and outputs mean -------------------------------------------------------------------------------------

MEANINGS = {
    "classes, in place": lambda m: m.classes_.__setitem__(slice(None), m.classes_[::-1].copy()),
    "fill-ins, in place": lambda m: m.fill_.update(z=0.123),
    "columns": lambda m: setattr(m, "columns_", tuple(reversed(m.columns_))),
    "outside": lambda m: setattr(m, "outside_", "warn"),
    "outputs": lambda m: setattr(m, "outputs_", replace(m.outputs_, classes=tuple(reversed(m.outputs_.classes)))),
    "target": lambda m: setattr(m, "target_name_", "other"),
    "domain": lambda m: setattr(m, "domain_", Domain(tuple(reversed(m.domain_.features)))),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_a_table_read_otherwise_is_not_the_one_that_was_checked(ensemble, name):
    assert withdrawn(ensemble, MEANINGS[name])


# ---- pinned modules, the backbone -----------------------------------------------------------------------------------


def test_a_pinned_module_is_the_one_that_was_tested(pinned):
    def module(model):
        return model.net_.encoder.branches[0].layers[0].module

    assert withdrawn(pinned, lambda m: in_place(module(m)[0].weight))
    assert withdrawn(pinned, lambda m: module(m)[0].register_forward_hook(lambda *a: -a[2]))
    assert withdrawn(pinned, lambda m: module(m).__setitem__(1, nn.Dropout()))
    assert withdrawn(pinned, lambda m: module(m).train())
    assert withdrawn(pinned, set_("encoder", "branches", "0", "layers", "0", "module", Doubled))


def test_any_backbone_will_do(ensemble, affine):
    for model in (ensemble, affine):
        assert not withdrawn(model, lambda m: [p.data.fill_(float("nan")) for p in m.net_.backbone.parameters()])
        assert not withdrawn(model, lambda m: m.net_.backbone.register_forward_hook(lambda *a: -a[2]))
        assert not withdrawn(model, lambda m: setattr(m.net_, "backbone", Doubled(m.net_.backbone)))


def test_nothing_else_withdraws_a_verdict(ensemble, affine, pinned):
    for model in (ensemble, affine, pinned):
        X = rows()[0][list(model.columns_)].dropna()
        assert not withdrawn(model, lambda m, X=X: m.predict(X))
        assert not withdrawn(model, lambda m: m.net_.train())  # predictions are a copy's, in evaluation mode
        assert not withdrawn(model, lambda m: m.net_.requires_grad_(False))
        assert not withdrawn(model, lambda m: m.explain())
        assert pickle.loads(pickle.dumps(model)).verdict_.status == "proved"
        assert is_as_described(model.net_)
        assert seal(model.net_).matches(seal(copy.deepcopy(model.net_)))


# ---- what a read costs ----------------------------------------------------------------------------------------------


def test_reading_a_verdict_serialises_nothing(ensemble, affine, pinned, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("a read must not serialise the network")

    for place in ("dump_weights", "certified_tensors", "_stored"):
        monkeypatch.setattr(bundle, place, fail)
    for place in ("snapshot", "describe", "state_dict"):
        monkeypatch.setattr(SmileNet, place, fail)
    for model in (ensemble, affine, pinned):
        assert model.verdict_.status == "proved" and model.certificate_ is not None and model.violation_bound_ < 1e-9


def test_certified_labels_lower_their_properties_once(ensemble, monkeypatch):
    model, X = copy.deepcopy(ensemble), rows()[0].head(1)
    first = model.predict_certified(X)
    counted = []

    def count(*given):
        counted.append(given)
        return np.array([np.inf])

    monkeypatch.setattr(classifying, "largest_changes", count)
    assert all((a == b).all() for a, b in zip(first, model.predict_certified(X), strict=True)) and not counted
    model.largest_changes()[:] = 7.0  # the caller's own copy
    assert model.largest_change() != 7.0
    model.net_.head_bias.data += 1.0
    assert not model.predict_certified(X)[1].any() and len(counted) == 1
    again = copy.deepcopy(ensemble)
    again.properties = [Robust({"x": 0.1}, 1.0)]  # other properties than those that were checked
    again.predict_certified(X)
    assert len(counted) == 2
