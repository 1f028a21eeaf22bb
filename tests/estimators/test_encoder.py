"""The default recipe as users meet it: which encoder is chosen, what `explain` says, saving, given encoders."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from torch import nn

import smilenn
from smilenn import (
    Columns,
    Config,
    Convex,
    Fair,
    Monotone,
    Network,
    Proved,
    SmileClassifier,
    SmileError,
    SmileRegressor,
)
from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.encoders import Branch, Encoder, Pinned
from smilenn.model.encoders.monotone import monotone_encoder

QUICK = Config(epochs=8, batch_size=64, learning_rate=1e-2, pretrain_epochs=8, posttrain_rounds=3)


def people(n=160, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(0, 9, n),
            "debt": rng.uniform(0, 5, n),
            "race": rng.choice(["u", "v", "w"], n),
        }
    )
    y = np.sqrt(frame["income"]) - 0.3 * frame["debt"] + 0.4 * (frame["race"] == "u") + rng.normal(0, 0.1, n)
    return frame, pd.Series(y, name="score")


@pytest.fixture(scope="module")
def monotone():
    return SmileRegressor(increasing=["income"], decreasing=[1], config=QUICK, random_state=0).fit(*people())


def test_monotone_claims_get_an_ensemble_and_hold_bit_for_bit(monotone):
    assert isinstance(monotone.verdict_, Proved) and monotone.violation_bound_ == 0.0
    assert monotone.net_.encoder is not None and monotone.net_.profile == "fixed-order"
    assert monotone.score(*people(seed=1)) > 0.5
    grid = pd.DataFrame({"income": np.linspace(-1, 12, 400), "debt": 2.0, "race": "v"})
    assert (np.diff(monotone.predict(grid)) >= 0).all()


def test_explain_says_what_was_chosen_and_why(monotone):
    text = monotone.explain()
    assert "monotone by construction" in text and "quantile ramps" in text
    assert "Auxiliaries: affine" in text and "fixed-order" in text and "the order of the inputs" in text
    assert "Verdict: certified" in text.splitlines()[-2] and text.splitlines()[-1].startswith("Quality: On ")
    near = Fair(["race"], 5.0, delta={"income": 0.1})
    plain = SmileRegressor(properties=[near], config=QUICK, random_state=0).fit(*people())
    assert "No encoder keeps Fair" in plain.explain() and "hidden units" in plain.explain()
    convex = SmileRegressor(properties=[Convex(["income"])], config=QUICK, random_state=0).fit(*people())
    assert "'income' is read by piecewise linear units" in convex.explain() and isinstance(convex.verdict_, Proved)
    again = SmileRegressor(properties=[Convex(["income"])], config=QUICK, random_state=1).fit(*people(), start=convex)
    assert isinstance(again.verdict_, Proved) and "Started from" in again.explain()
    nothing = SmileRegressor(config=QUICK, random_state=0).fit(*people())
    assert "There are no properties" in nothing.explain()


@pytest.mark.parametrize("properties", [[Monotone(increasing=["income"])], [Convex(["income"])]])
def test_members_are_networks_of_each_kind(properties, tmp_path):
    quick = Config(epochs=2, batch_size=64)
    for members in (1, 2):
        model = SmileRegressor(
            properties=properties, network=Network(members=members), config=quick, random_state=0
        ).fit(*people())
        assert isinstance(model.verdict_, Proved) and model.net_.encoder is not None
        names = [branch.name for branch in model.net_.encoder.branches if len(branch.layers)]
        kinds = {name.rstrip("0123456789") for name in names}
        assert len(names) == members * len(kinds)
    model.save(tmp_path / "m")
    again = smilenn.load(tmp_path / "m")
    assert again.network == Network(members=2)
    with pytest.raises(SmileError, match="members=2, not 4"):
        SmileRegressor(properties=properties, config=quick).fit(*people(), start=again)


def test_saving_keeps_the_encoder_and_its_reasons(monotone, tmp_path):
    X, _ = people(seed=2)
    monotone.save(tmp_path / "m")
    again = smilenn.load(tmp_path / "m")
    assert (again.predict(X) == monotone.predict(X)).all() and again.network is None
    assert isinstance(again.verdict_, Proved) and again.explain() == monotone.explain()


def test_a_fair_claim_with_room_lets_the_backbone_work():
    X, y = people()
    model = SmileClassifier(properties=Fair(["race"], 0.4), config=QUICK, random_state=0).fit(X, y > y.mean())
    assert isinstance(model.verdict_, Proved) and not model.net_.collapsed
    assert "It does not read 'race'" in model.explain() and "nearly ε" in model.explain()
    apart = np.ptp([model.decision_function(X.assign(race=r)) for r in "uvw"], axis=0)
    assert 0 < apart.max() <= 0.4
    labels, steady = model.predict_certified(X)
    assert steady.any() and (labels == model.predict(X)).all()


@pytest.mark.parametrize(
    "options",
    [
        {"network": Network(encoder="none")},
        {"network": Network(boxes="paper")},
        {"network": Network(auxiliaries="affine")},
    ],
)
def test_who_chooses_the_network_gets_it(options):
    model = SmileRegressor(increasing=["income"], config=QUICK, random_state=0, **options).fit(*people())
    assert model.net_.encoder is None


def test_the_order_of_few_rows_does_not_matter():
    X, y = people(80)
    order = np.random.default_rng(0).permutation(len(X))
    one, two = (
        SmileRegressor(increasing=["income"], config=QUICK, random_state=0).fit(a, b)
        for a, b in ((X, y), (X.iloc[order], y.iloc[order]))
    )
    assert (one.predict(X) == two.predict(X)).all()


def test_an_encoder_of_ones_own(tmp_path):
    X, y = people()
    domain = Domain.from_data(X)

    def make(domain, u):
        return monotone_encoder(domain, u, increasing=["income"], without=["race"], ramps=4, units=(4,))

    properties = [Monotone(increasing=["income"]), Fair(["race"], 0)]
    model = SmileRegressor(properties=properties, network=Network(encoder=make), config=QUICK, random_state=0)
    assert clone(model).network.encoder is make
    model.fit(X, y)
    assert isinstance(model.verdict_, Proved) and "The encoder that was given" in model.explain()
    model.save(tmp_path / "m")
    assert (smilenn.load(tmp_path / "m").predict(X) == model.predict(X)).all()
    given = make(domain, domain.scale(domain.encode(X)))
    before = given.branches[0].layers[1].weight.clone()
    model = SmileRegressor(
        properties=properties, network=Network(encoder=given), domain=domain, config=QUICK, random_state=0
    ).fit(X, y)
    assert isinstance(model.verdict_, Proved) and (given.branches[0].layers[1].weight == before).all()
    with pytest.raises(SmileError, match="another domain"):
        SmileRegressor(
            properties=properties, network=Network(encoder=given), domain=Columns(margin=0.2), config=QUICK
        ).fit(X, y)
    with pytest.raises(SmileError, match="encoder is 'auto', 'image', 'none'"):
        SmileRegressor(properties=properties, network=Network(encoder="fancy"), config=QUICK).fit(X, y)


def test_a_module_that_reads_what_a_claim_moves_is_refused():
    X, y = people()

    def make(domain, u):
        return Encoder(domain, [Branch("free", [0, 1], [Pinned(MLP(2, (3,), 1).double(), 1)])])

    with pytest.raises(SmileError, match="branch 'free' holds a module that reads 'debt', which .* not keep equal"):
        SmileRegressor(decreasing=["debt"], network=Network(encoder=make), config=QUICK).fit(X, y)
    fair = SmileRegressor(
        properties=Fair(["race"], 0), network=Network(encoder=make), config=QUICK, random_state=0
    ).fit(X, y)
    assert isinstance(fair.verdict_, Proved)


@pytest.mark.parametrize("layer", [nn.Dropout(0.1), nn.BatchNorm1d(3), nn.RReLU()])
def test_modules_that_depend_on_chance_or_the_batch_are_refused(layer):
    with pytest.raises(SmileError, match="depends on the batch or on chance"):
        Pinned(nn.Sequential(nn.Linear(2, 3), layer, nn.Linear(3, 1)), 1)


def test_chance_that_is_no_layer_is_noticed():
    class Noisy(nn.Module):
        def forward(self, y):
            return nn.functional.dropout(y, 0.5, training=True)

    def make(domain, u):
        return Encoder(domain, [Branch("noisy", [0], [Pinned(Noisy(), 1)])])

    with pytest.raises(SmileError, match="branch 'noisy' gives other numbers when it is asked again"):
        SmileRegressor(properties=Fair(["race"], 0), network=Network(encoder=make), config=QUICK).fit(*people())


class Own(nn.Module):
    """A module that the package cannot rebuild by itself."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, y):
        return torch.tanh(self.layer(y))


def test_a_saved_estimator_gets_its_pinned_module_back(tmp_path):
    X, y = people()

    def make(domain, u):
        return Encoder(domain, [Branch("own", [0, 1], [Pinned(Own().double(), 1)])])

    model = SmileRegressor(
        properties=Fair(["race"], 0), network=Network(encoder=make), config=QUICK, random_state=0
    ).fit(X, y)
    model.save(tmp_path / "m")
    with pytest.raises(SmileError, match=r"modules={'own': …}"):
        smilenn.load(tmp_path / "m")
    assert (smilenn.load(tmp_path / "m", modules={"own": Own().double()}).predict(X) == model.predict(X)).all()
