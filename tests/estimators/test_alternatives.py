"""Alternatives end to end: trained, certified, attacked, saved, explained, reported."""

import numpy as np
import pandas as pd
import pytest

from smilenn import Custom, Network, OneOf, SmileClassifier, SmileError, SmileRegressor, load, prove
from smilenn.domain import Domain
from smilenn.properties.cases import Case, Split
from smilenn.properties.forms import Outputs
from smilenn.properties.spec import property_from_json
from smilenn.train.config import Config
from smilenn.train.planned_cases import planned
from smilenn.verdict import Violated

pytestmark = pytest.mark.usefixtures("quick_module")

RULE = OneOf(["rock", "pop"], when=['band == "Beatles"'])
QUICK = Config(pretrain_epochs=10, epochs=20, batch_size=32)


@pytest.fixture(scope="module")
def songs():
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame(
        {"tempo": rng.uniform(60, 180, n), "loud": rng.uniform(0, 1, n), "band": rng.choice(["Beatles", "other"], n)}
    )
    score = np.c_[2 * X.loud, X.tempo / 90, 3 - X.tempo / 60 - X.loud + 1.0 * (X.band == "other")]
    return X, np.array(["rock", "pop", "classic"])[(score + rng.normal(0, 0.3, (n, 3))).argmax(axis=1)]


@pytest.mark.parametrize("encoder", ["auto", "none"])
def test_one_of_some_classes(songs, encoder, tmp_path):
    X, y = songs
    model = SmileClassifier(properties=[RULE], random_state=0, network=Network(encoder=encoder), config=QUICK).fit(X, y)
    assert model.verdict_.exit_code == 0 and model.violation_bound_ == 0.0
    rng = np.random.default_rng(1)
    fresh = pd.DataFrame({"tempo": rng.uniform(60, 180, 4000), "loud": rng.uniform(0, 1, 4000), "band": "Beatles"})
    assert set(model.predict(fresh)) <= {"rock", "pop"}
    assert "classic" in set(model.predict(fresh.assign(band="other")))
    assert "cases" in model.explain()
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.verdict_.exit_code == 0 and again.claims_ == model.claims_
    assert again.certify().exit_code == 0  # cases are found anew


def test_the_plain_network_breaks_it(songs):
    X, y = songs
    plain = SmileClassifier(random_state=0, config=QUICK).fit(X, y)
    verdict = prove(plain.net_, RULE.lower(plain.domain_, plain.outputs_))
    assert isinstance(verdict, Violated)
    out = verdict.counterexample.outputs[0]
    names = plain.outputs_.names
    assert out[names.index("classic")] > max(out[names.index("rock")], out[names.index("pop")])


def test_alternatives_of_numbers_take_sides(tmp_path):
    """Two targets, never both above .2, which one depends on an input: the certificate splits it."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, (300, 2)), columns=["a", "b"])
    Y = pd.DataFrame({"p": np.sign(X.a) + 0.3 * X.b, "q": -np.sign(X.a) + 0.2 * X.b})
    rule = Custom(["out.p <= 0.2 or out.q <= 0.2"], copies=1)
    model = SmileRegressor(properties=[rule], random_state=0, network=Network(encoder="none"), config=QUICK).fit(X, Y)
    assert model.verdict_.exit_code == 0
    both = model.predict(pd.DataFrame(rng.uniform(-1, 1, (5000, 2)), columns=["a", "b"]))
    assert (both.min(axis=1) <= 0.2).all() and (both.max(axis=1) > 0.2).any()
    page = tmp_path / "report.html"
    model.report(page, X, Y)
    assert "0.2 or a.out[&quot;q&quot;]" in page.read_text(encoding="utf-8")


def test_the_plan_follows_the_data():
    domain = Domain.box([-1.0, -1.0], [1.0, 1.0], ["a", "b"])
    (claim,) = Custom(["out.p <= 0 or out.q <= 0"], copies=1).lower(domain, ("p", "q"))
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (500, 2))
    left = np.c_[np.where(x[:, 0] < 0.3, 3.0, -0.1), np.where(x[:, 0] < 0.3, -0.1, 3.0)]
    (tree,) = planned([claim], domain, ("p", "q"), x, left).values()
    assert isinstance(tree, Split) and tree.coordinate == 0 and tree.at == pytest.approx(0.3, abs=0.15)
    assert (tree.below, tree.above) == (Case(((0, 1),)), Case(((1, 0),)))
    (easy,) = planned([claim], domain, ("p", "q"), x, np.c_[np.ones(500), -np.ones(500)]).values()
    assert isinstance(easy, Case) and easy.weights == ((0.5, 0.5),)
    pair = Custom(["a.out.p <= b.out.p or a.out.q <= b.out.q"], when=["a.a <= b.a"])
    (several,) = planned(pair.lower(domain, ("p", "q")), domain, ("p", "q"), x, left).values()
    assert several == Case(((0.5, 0.5),))  # single rows say nothing of pairs


@pytest.mark.parametrize(
    "made, outputs, said",
    [
        (OneOf(["x"]), ("", "y"), "is about classes"),
        (OneOf(["x", "z"]), Outputs(("x", "y", "w"), ("x", "y", "w")), "names the class 'z'"),
        (OneOf(["x", "y"]), Outputs(("x", "y"), ("x", "y")), "every class"),
        (OneOf(["x"], when=["nothing >= 1"]), Outputs(("x", "y", "w"), ("x", "y", "w")), "no feature 'nothing'"),
    ],
)
def test_what_cannot_be_asked_of_classes(made, outputs, said):
    with pytest.raises(SmileError, match=said):
        made.lower(Domain.box([0.0], [1.0], ["u"]), outputs)


@pytest.mark.parametrize(
    "bad, said",
    [
        ({"classes": []}, "one class at least"),
        ({"classes": ["x", "x"]}, "each once"),
        ({"classes": 1.5}, "list of classes"),
        ({"classes": ["x"], "lead": 0}, "more than 0"),
        ({"classes": ["x"], "when": ["out >= 1"]}, "output"),
    ],
)
def test_bad_input(bad, said):
    with pytest.raises(SmileError, match=said):
        OneOf(**bad)


def test_words_json_and_two_classes():
    assert property_from_json(RULE.to_json()) == RULE
    assert RULE.formula() == '∀ a ∈ X: band == "Beatles" ⇒ argmax a.out ∈ {"rock", "pop"}'
    domain = Domain.box([0.0], [1.0], ["u"])
    two = Outputs(("",), ("no", "yes"))
    assert OneOf("yes").lower(domain, two)[0].then[0].text() == "-a.out <= -0.000001"
    assert OneOf("no").lower(domain, two)[0].then[0].text() == "a.out <= -0.000001"
    three = Outputs(("x", "y", "w"), ("x", "y", "w"))
    assert OneOf("x").lower(domain, three)[0].either == ()
    assert len(OneOf(["x", "y"]).lower(domain, three)[0].either) == 1
