"""The references of a report: the model's own recipe without its rules, and what is said of it."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from smilenn import Columns, Fair, Monotone, Network, SmileRegressor
from smilenn.model.encoders.monotone import monotone_encoder
from smilenn.report.model import rows_of
from smilenn.report.references import (
    BROUGHT_ENCODER,
    BROUGHT_NETWORK,
    IMAGE,
    NO_RULE,
    SAME,
    Blind,
    references,
    without_rules,
)
from smilenn.report.tradeoff import with_references
from smilenn.train.config import Config

pytestmark = pytest.mark.usefixtures("quick_module")

FEW = {"network": Network(members=1), "config": Config(epochs=3, batch_size=64), "random_state": 3}


def people(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"pay": rng.uniform(1, 9, n), "age": rng.integers(18, 80, n), "group": rng.choice(["u", "v"], n)})
    X.loc[:9, "pay"] = np.nan
    return X, X["pay"].fillna(3.0) + 2.0 * (X["group"] == "u") + rng.normal(0, 0.3, n)


@pytest.fixture(scope="module")
def fair():
    rules = [Monotone(["age"]), Fair(["group", "pay"], Fraction(1, 2))]
    return SmileRegressor(properties=rules, certify_limit=0, **FEW).fit(*people())


def test_the_first_reference_is_the_same_recipe_without_rules(fair):
    first, _, *others = references(fair)
    assert (first.name, first.what) == ("without rules", SAME) and [one.eps for one in others] == [0.25, 1.0]
    assert first.estimator.properties == () and first.estimator.config == fair.config
    assert first.estimator.network == fair.network and first.estimator.domain == fair.domain_
    one, two = (references(fair)[0].fit(fair, people(), 1000.0) for _ in range(2))
    assert one.status == NO_RULE
    assert any(branch.name.startswith("trees") for branch in one.net.encoder.branches)
    x = fair.encoded(people(seed=1)[0])
    assert (one.net.predict(x) == two.net.predict(x)).all()
    alone = SmileRegressor(domain=fair.domain_, **FEW | {"random_state": 0}).fit(*people())
    assert (alone.net_.predict(x) == one.net.predict(x)).all()  # what a user would get with properties=[]


def test_the_unaware_one_sees_no_protected_column(fair):
    unaware = references(fair)[1]
    fitted = unaware.fit(fair, people(), 1000.0)
    assert isinstance(fitted.net, Blind) and [f.name for f in unaware.estimator.domain.features] == ["age"]
    X, _ = people(seed=1)
    other = X.assign(group="u", pay=np.nan)
    assert (fitted.net.predict(fair.encoded(X)) == fitted.net.predict(fair.encoded(other))).all()


def test_settings_that_would_flatter_the_rules_are_left_out(fair):
    def asked(network):
        fair.network, before = network, fair.network
        try:
            other, what = without_rules(fair)
            return other.network, what
        finally:
            fair.network = before

    assert asked(None) == (None, SAME)
    # an ensemble has no use for these sizes; without rules they would ask for the paper's network
    assert asked(Network(hidden=4, backbone_sizes=(2,), members=2)) == (Network(members=2), SAME)
    for own in (Network(encoder="none", hidden=4), Network(boxes="paper", hidden=4)):
        assert asked(own) == (own, SAME)
    assert asked(Network(encoder="image", backbone_share=0.5)) == (Network(encoder="none"), IMAGE)
    encoder = monotone_encoder(fair.domain_, fair.domain_.scale(fair.encoded(people()[0])), increasing=["age"])
    assert asked(Network(encoder=encoder)) == (Network(), BROUGHT_ENCODER)


def test_a_network_from_elsewhere_has_a_default_model_beside_it():
    from sklearn.neural_network import MLPRegressor

    from smilenn import guard

    X, y = people()
    X = X.fillna(3.0)[["pay", "age"]]
    net = MLPRegressor(hidden_layer_sizes=(4,), tol=1e9, n_iter_no_change=1, random_state=0).fit(X.to_numpy(), y)
    given = guard(net, Fair(["age"], 1), Columns().learned(X)).model
    assert without_rules(given)[1] == BROUGHT_NETWORK


def test_ctrl_c_ends_a_report_instead_of_a_reference(fair, monkeypatch):
    def pressed(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("smilenn.train.run.Run.train", pressed)
    with pytest.raises(KeyboardInterrupt):
        references(fair)[0].fit(fair, people(), 1000.0)


def test_a_model_without_rules_needs_no_reference():
    X, y = people()
    model = SmileRegressor(**FEW).fit(X, y)
    found = with_references(model, rows_of(model, X, y), (X, y), seconds=5)
    assert [point.kind for point in found.points] == ["model", "constant"]
    assert found.notes == ("No rules were stated, so there is no model without them to compare with.",)


def test_rows_that_references_have_seen_are_counted_and_a_limit_is_a_limit(fair):
    X, y = people()
    fresh, known = people(seed=1)
    rows = rows_of(fair, pd.concat([fresh, X[:7]]), pd.concat([known, y[:7]]))
    found = with_references(fair, rows, (X, y), seconds=1e-3)
    words = " ".join(found.notes)
    assert "7 of the 207 rows measured here equal rows that the references were trained on" in words
    assert [point.kind for point in found.points] == ["model", "constant", "free"]
    assert "There was no time left for: unaware, ε = 0.25, ε = 1." in words
    away = with_references(fair, rows_of(fair, fresh, known), (X, y), seconds=1e-3)
    assert "equal rows" not in " ".join(away.notes)
