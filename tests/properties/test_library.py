"""The properties by name: meaning, words, JSON and errors."""

from __future__ import annotations

import copy
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.properties import (
    Claim,
    Concave,
    Convex,
    Custom,
    Dominates,
    Fair,
    Lipschitz,
    Monotone,
    Property,
    Robust,
    Safe,
    Symmetric,
    as_property,
    ground,
    holds_exactly,
    lower_all,
    properties_from_json,
    properties_to_json,
    property_from_json,
    row,
)

PIXELS = Domain(tuple(Feature(f"p{i}", "binary") for i in range(16)))
DOMAIN = Domain(
    (
        Feature("x", "continuous", 0, 2),
        Feature("n", "integer", 0, 10),
        Feature("annual income", "continuous", 0, 100),
        Feature("sex", "binary", categories=("f", "m")),
        Feature("race", "category", categories=("p", "q", "t")),
        Feature("old race", "category", categories=("p", "q", "t")),
        Feature("town", "category", categories=("u", "v", "w")),
    )
)

ALL: list[tuple[Property, str, str]] = [
    (
        Monotone(increasing=["x", "n"], decreasing="annual income"),
        "Raising 'x' or 'n' or lowering 'annual income', alone or together, everything else equal, never lowers the "
        "output.",
        '∀ a, b ∈ X: a["x"] <= b["x"], a["n"] <= b["n"], a["annual income"] >= b["annual income"], other features '
        "equal ⇒ a.out <= b.out",
    ),
    (
        Monotone(decreasing="x"),
        "Lowering 'x', everything else equal, never lowers the output.",
        '∀ a, b ∈ X: a["x"] >= b["x"], other features equal ⇒ a.out <= b.out',
    ),
    (
        Robust(0.1, 0.5),
        "Changing each numeric input by at most 0.1, everything else equal, changes the output by at most 0.5.",
        "∀ a, b ∈ X: |a[x] - b[x]| <= 0.1 for every numeric x, other features equal ⇒ |a.out - b.out| <= 0.5",
    ),
    (
        Robust("5 %", 0.5, features=["x"]),
        "Changing 'x' by at most 5% of its range, everything else equal, changes the output by at most 0.5.",
        '∀ a, b ∈ X: |a["x"] - b["x"]| <= 5% of its range, other features equal ⇒ |a.out - b.out| <= 0.5',
    ),
    (
        Robust({"x": (-0.1, 0.2), "n": 1}, "1/3"),
        "Changing 'x' by -0.1 to 0.2, 'n' by at most 1, everything else equal, changes the output by at most 1/3.",
        '∀ a, b ∈ X: -0.1 <= a["x"] - b["x"] <= 0.2, |a["n"] - b["n"]| <= 1, other features equal '
        "⇒ |a.out - b.out| <= 1/3",
    ),
    (
        Robust(0.1),
        "Changing each numeric input by at most 0.1, everything else equal, changes the output by at most a fixed ε.",
        "∀ a, b ∈ X: |a[x] - b[x]| <= 0.1 for every numeric x, other features equal ⇒ |a.out - b.out| <= eps",
    ),
    (
        Fair("race", 0.2),
        "Attribute-flip fairness: changing 'race' alone changes the output by at most 0.2.",
        '∀ a, b ∈ X: "race" free, other features equal ⇒ |a.out - b.out| <= 0.2',
    ),
    (
        Fair(["race", "sex"], 0.2, delta=0.1),
        "Attribute-flip fairness: changing 'race' and 'sex', and each other numeric input by at most 0.1, "
        "everything else equal, changes the output by at most 0.2.",
        '∀ a, b ∈ X: |a[x] - b[x]| <= 0.1 for every numeric x, "race" free, "sex" free, other features equal '
        "⇒ |a.out - b.out| <= 0.2",
    ),
    (
        Lipschitz(["x", "n"], {"n": 2, "x": 0.5}),
        "Everything else equal, the output changes by at most 0.5 per unit of 'x' and 2 per unit of 'n'.",
        '∀ a, b ∈ X: a["x"] >= b["x"], other features equal ⇒ |a.out - b.out| <= 0.5 * (a["x"] - b["x"]); '
        '∀ a, b ∈ X: a["n"] >= b["n"], other features equal ⇒ |a.out - b.out| <= 2 * (a["n"] - b["n"])',
    ),
    (
        Convex(["x"]),
        "Halfway between two values of 'x', everything else equal, the output is at most the mean of its two values "
        "there.",
        '∀ a, b, c ∈ X: 2 * b["x"] == a["x"] + c["x"], other features equal ⇒ 2 * b.out <= a.out + c.out',
    ),
    (
        Concave("x"),
        "Halfway between two values of 'x', everything else equal, the output is at least the mean of its two values "
        "there.",
        '∀ a, b, c ∈ X: 2 * b["x"] == a["x"] + c["x"], other features equal ⇒ 2 * b.out >= a.out + c.out',
    ),
    (
        Symmetric(["x", "n"]),
        "Swapping the values of 'x' and 'n', everything else equal, leaves the output unchanged.",
        '∀ a, b ∈ X: b["x"] == a["n"], b["n"] == a["x"], other features equal ⇒ |a.out - b.out| <= 0',
    ),
    (
        Symmetric(["x", "n", "annual income"], eps=0.1),
        "Permuting the values of 'x', 'n' and 'annual income', everything else equal, changes the output by at most "
        "0.1.",
        '∀ a, b ∈ X: b["x"] == a["n"], b["n"] == a["annual income"], b["annual income"] == a["x"], other features '
        "equal ⇒ |a.out - b.out| <= 0.1",
    ),
    (
        Dominates("x", "n", 2),
        "Raising 'x' and lowering 'n' by 2 times as much, everything else equal, never lowers the output.",
        '∀ a, b ∈ X: a["x"] <= b["x"], a["n"] - b["n"] == 2 * (b["x"] - a["x"]), other features equal ⇒ a.out <= b.out',
    ),
    (
        Dominates("x", "n"),
        "Raising 'x' and lowering 'n' by as much, everything else equal, never lowers the output.",
        '∀ a, b ∈ X: a["x"] <= b["x"], a["n"] - b["n"] == b["x"] - a["x"], other features equal ⇒ a.out <= b.out',
    ),
    (
        Safe(when=["x >= 1"], then=["0 <= out <= 5 * x"]),
        "Whenever x >= 1, 0 <= out <= 5 * x holds.",
        "∀ a ∈ X: x >= 1 ⇒ 0 <= out <= 5 * x",
    ),
    (
        Custom(["a.out <= b.out", "a.out <= 1"], ["a.x <= b.x", "a.n == b.n"], others="free", free=["town"]),
        "Whenever a.x <= b.x and a.n == b.n, other inputs free, a.out <= b.out and a.out <= 1 hold.",
        '∀ a, b ∈ X: a.x <= b.x, a.n == b.n, "town" free, other features free ⇒ a.out <= b.out, a.out <= 1',
    ),
    (Custom("a.out <= 1", copies=1, says="Never above one."), "Always, a.out <= 1 holds.", "∀ a ∈ X: a.out <= 1"),
]


@pytest.mark.parametrize(("item", "sentence", "formula"), ALL, ids=lambda v: getattr(v, "kind", ""))
def test_words(item, sentence, formula):
    assert item.sentence() == sentence
    named = sentence.replace("the output", "the predicted 'score'").replace("The output", "The predicted 'score'")
    assert item.sentence("score") == named
    assert item.formula() == formula


@pytest.mark.parametrize("item", [item for item, _, _ in ALL], ids=lambda v: v.kind)
def test_json_copy_pickle_repr(item):
    data = json.loads(json.dumps(item.to_json()))
    assert data["kind"] == item.kind
    again = property_from_json(data)
    assert again == item and hash(again) == hash(item) and again.to_json() == item.to_json()
    assert type(item).from_json(data) == item
    assert pickle.loads(pickle.dumps(item)) == item == copy.deepcopy(item)
    assert eval(repr(item)) == item  # what is printed builds the same property
    (listed,) = properties_from_json(properties_to_json([item]))
    assert listed == item


@pytest.mark.parametrize("item", [item for item, _, _ in ALL if item != Robust(0.1)], ids=lambda v: v.kind)
def test_lowering_grounds_and_carries_a_sentence(item):
    for claim in item.lower(DOMAIN):
        assert claim.sentence and claim.sentence.endswith(".")
        assert Claim.from_json(claim.to_json()) == claim
        ground(claim, DOMAIN)
        # a claim is a property too and says the same
        (again,) = as_property(claim).lower(DOMAIN)
        assert again == claim and again.sentence == claim.sentence


def rows(claims):
    return [([r.text() for r in c.when], [r.text() for r in c.then]) for c in claims]


def test_monotone_claim():
    assert rows(Monotone("x", ["n"]).lower(DOMAIN)) == [
        (['a["x"] - b["x"] <= 0', '-a["n"] + b["n"] <= 0'], ["a.out - b.out <= 0"])
    ]


def test_every_output_gets_its_rows():
    (claim,) = Monotone("x").lower(DOMAIN, ("lo", "hi"))
    assert [r.text() for r in claim.then] == ['a.out["lo"] - b.out["lo"] <= 0', 'a.out["hi"] - b.out["hi"] <= 0']
    assert claim.sentence.endswith("never lowers any output.")
    assert len(Fair("race", 1).lower(DOMAIN, ("lo", "hi"))[0].then) == 4
    assert len(Lipschitz("x", 1).lower(DOMAIN, ("lo", "hi"))[0].then) == 4
    assert len(Convex("x").lower(DOMAIN, ("lo", "hi"))[0].then) == 2
    with pytest.raises(SmileError, match="no outputs"):
        Monotone("x").lower(DOMAIN, ())


def test_robust_claims():
    two_sided = ["a.out - b.out <= 0.5", "-a.out + b.out <= 0.5"]
    assert rows(Robust(0.1, 0.5, "x").lower(DOMAIN)) == [
        (['a["x"] - b["x"] <= 0.1', '-a["x"] + b["x"] <= 0.1'], two_sided)
    ]
    (claim,) = Robust("5%", 0.5).lower(DOMAIN)
    assert claim.named == {"x", "n", "annual income"}
    assert [str(r.rhs) for r in claim.when] == ["1/10", "1/10", "1/2", "1/2", "5", "5"]
    assert rows(Robust({"x": (0.1, "50%"), "sex": 1}, 0.5).lower(DOMAIN)) == [
        (
            [
                'a["x"] - b["x"] <= 1',
                '-a["x"] + b["x"] <= -0.1',
                'a["sex"] - b["sex"] <= 1',
                '-a["sex"] + b["sex"] <= 1',
            ],
            two_sided,
        )
    ]
    assert Robust(0.1).with_eps(0.5) == Robust(0.1, 0.5)
    assert Robust(0.1).with_eps(np.float64(0.5)).eps == Fraction(1, 2)


def test_fair_leaves_the_protected_free_and_pins_the_rest():
    premise = ground(Fair(["race", "sex"], 0.2).lower(DOMAIN)[0], DOMAIN)
    moving = {DOMAIN.coordinates[i] for i in np.flatnonzero(~premise.pinned)}
    assert moving == {"sex", "race=p", "race=q", "race=t"}
    near = ground(Fair("x", 0.2, delta=1).lower(DOMAIN)[0], DOMAIN)
    assert {DOMAIN.coordinates[i] for i in np.flatnonzero(~near.pinned)} == {"x", "n", "annual income"}
    assert {DOMAIN.coordinates[i] for i in np.flatnonzero(near.strips)} == {"n", "annual income"}
    some = ground(Fair("race", 0.2, delta={"x": "10%"}).lower(DOMAIN)[0], DOMAIN)
    assert {DOMAIN.coordinates[i] for i in np.flatnonzero(some.strips)} == {"x"}


def test_lipschitz_is_one_claim_per_feature():
    claims = Lipschitz(["x", "n"], 2).lower(DOMAIN)
    assert rows(claims) == [
        ([f"-{a} + {b} <= 0"], [f"{s} - 2 * {a} + 2 * {b} <= 0" for s in ("a.out - b.out", "-a.out + b.out")])
        for a, b in (('a["x"]', 'b["x"]'), ('a["n"]', 'b["n"]'))
    ]
    assert "per unit of 'n'." in claims[1].sentence and "'x'" not in claims[1].sentence


def test_curvature_claims():
    assert rows(Convex("x").lower(DOMAIN)) == [
        (['2 * b["x"] - a["x"] - c["x"] == 0'], ["2 * b.out - a.out - c.out <= 0"])
    ]
    assert rows(Concave("x").lower(DOMAIN)) == [
        (['2 * b["x"] - a["x"] - c["x"] == 0'], ["-2 * b.out + a.out + c.out <= 0"])
    ]


def test_symmetric_claims():
    assert rows(Symmetric(["x", "n"]).lower(DOMAIN))[0][0] == ['b["x"] - a["n"] == 0', 'b["n"] - a["x"] == 0']
    assert Symmetric({"x": "n", "n": "x", "sex": "sex"}) == Symmetric(["x", "n"])
    (swap,) = Symmetric(["race", "old race"]).lower(DOMAIN)
    x = np.zeros((2, DOMAIN.size))
    names = list(DOMAIN.coordinates)
    for c, (race, old) in enumerate([("p", "q"), ("q", "p")]):
        for member in (f"race={race}", f"old race={old}", "town=u"):
            x[c, names.index(member)] = 1
    assert holds_exactly(swap, DOMAIN, x)
    assert not holds_exactly(swap, DOMAIN, x[[0, 0]])


def test_dominates_is_a_trade():
    (claim,) = Dominates("x", "n", "1/2").lower(DOMAIN)
    base = np.zeros(DOMAIN.size)
    base[[names for names, c in enumerate(DOMAIN.coordinates) if c in ("race=p", "old race=p", "town=u")]] = 1
    a, b = base.copy(), base.copy()
    a[:2], b[:2] = (0, 5), (2, 4)  # strong +2, weak −1
    assert holds_exactly(claim, DOMAIN, np.stack([a, b]))
    assert not holds_exactly(claim, DOMAIN, np.stack([b, a]))


def test_columns_by_position():
    assert Monotone(increasing=[1]).lower(DOMAIN) == Monotone("n").lower(DOMAIN)
    assert Monotone(np.int64(1)) == Monotone(1)
    assert Monotone(1).sentence() == "Raising column 1, everything else equal, never lowers the output."
    assert property_from_json(Robust({2: 1}, 1).to_json()).lower(DOMAIN) == Robust({"annual income": 1}, 1).lower(
        DOMAIN
    )
    encoded = Domain((Feature("g", "category", categories=("i", "j"), columns=("g_i", "g_j")), Feature("v")))
    assert Fair(1, 1).lower(encoded)[0].free == ("g",) and Monotone(2).lower(encoded)[0].named == {"v"}
    numbered = Domain((Feature("1"), Feature("0")))  # a frame with numbered columns: the label wins
    assert Monotone(0).lower(numbered)[0].named == {"0"}


def test_lower_all_takes_properties_claims_and_dictionaries():
    raw = Claim(2, (row([(1, 0, "in", "x"), (-1, 1, "in", "x")]),), (row([(1, 0, "out", ""), (-1, 1, "out", "")]),))
    claims = lower_all([raw, Monotone("x"), {"kind": "monotone", "increasing": "x"}], DOMAIN)
    assert claims[0] == claims[1] == claims[2] == raw
    assert claims[0].sentence == "Raising 'x', everything else equal, never lowers the output."
    with pytest.raises(SmileError, match="3 is not a property"):
        as_property(3)


def test_a_single_named_output_answers_to_out():
    (claim,) = Custom("a.out <= b.out", "a.x <= b.x").lower(DOMAIN, ("price",))
    assert claim.then[0].text() == 'a.out["price"] - b.out["price"] <= 0'


ERRORS = [
    (lambda: Monotone(), "Monotone needs a feature, as in Monotone(increasing=['income'])."),
    (lambda: Monotone("x", "x"), "Monotone: 'x' is both increasing and decreasing; keep one of the two."),
    (lambda: Monotone(["x", "x"]), "Monotone: increasing names 'x' twice; name it once."),
    (lambda: Monotone([0.5]), "Monotone: increasing holds 0.5, which is not a feature name."),
    (lambda: Monotone(increasing=None), "Monotone: increasing is None; give a list of feature names."),
    (lambda: Monotone(True), "Monotone: increasing holds True, which is not a feature name."),
    (lambda: Robust(-0.1, 1), "Robust: delta is -0.1; it must be more than 0."),
    (lambda: Robust("-5%", 1), "Robust: delta is -5%; it must be more than 0."),
    (lambda: Robust("abc", 1), "Robust: delta: 'abc' is not a finite number; give one such as 0.1 or 1/3."),
    (lambda: Robust(0.1, -1), "Robust: eps is -1; it must be 0 or more."),
    (lambda: Robust(0.1, float("nan")), "Robust: eps: nan is not a finite number; give one such as 0.1 or 1/3."),
    (lambda: Robust({"x": (0.2, 0.1)}, 1), "Robust: delta of 'x' goes from 0.2 to 0.1; the lower end must come first."),
    (lambda: Robust({"x": -1}, 1), "Robust: delta of 'x' is -1; it must be 0 or more."),
    (lambda: Robust({}, 1), "Robust: delta is empty; name at least one feature."),
    (lambda: Robust([0.1, 0.2], 1), "Robust: delta holds 0.1; give a number, '5%', or one entry per feature."),
    (lambda: Robust({"x": 1}, 1, "x"), "Robust: delta already names its features; leave 'features' out."),
    (lambda: Robust(0.1, 1, []), "Robust: features is empty; name at least one feature."),
    (
        lambda: Robust(0.1).lower(DOMAIN),
        "Robust needs eps, the largest change of the output, as in Robust(0.1, eps=0.5).",
    ),
    (
        lambda: Robust({"x": ("60%", 0.5)}, 1).lower(DOMAIN),
        "Robust: delta of 'x' goes from 1.2 to 0.5, which is empty.",
    ),
    (
        lambda: Robust(0.1, 1).lower(Domain((Feature("s", "binary"),))),
        "Robust: no feature may change; the domain has no continuous or integer one.",
    ),
    (
        lambda: Robust(0.1, 1).lower(PIXELS),
        "Robust: no feature may change; all hold 0 and 1; if they are pixels, fit with Network(encoder='image'), else "
        "leave the property out.",
    ),
    (
        lambda: Robust(0.1, 1, norm=2).lower(PIXELS),
        "Robust: the Euclidean norm needs a continuous feature that may change, and all hold 0 and 1; if they are "
        "pixels, fit with Network(encoder='image'), else leave the property out.",
    ),
    (lambda: Fair([], 1), "Fair: protected is empty; name at least one feature."),
    (lambda: Fair("race", -1), "Fair: eps is -1; it must be 0 or more."),
    (lambda: Fair("x", 1, {"x": 1}), "Fair: 'x' is protected, so it is free; leave it out of delta."),
    (lambda: Lipschitz("x", -1), "Lipschitz: bound is -1; it must be 0 or more."),
    (lambda: Lipschitz("x", {"n": 1}), "Lipschitz: bound names 'n' but the features are 'x'."),
    (lambda: Lipschitz("x", {"x": -1}), "Lipschitz: bound of 'x' is -1; it must be 0 or more."),
    (lambda: Lipschitz("x", [1]), "Lipschitz: bound is [1]; give a number, or one number per feature."),
    (lambda: Convex([]), "Convex: features is empty; name at least one feature."),
    (lambda: Concave([]), "Concave: features is empty; name at least one feature."),
    (
        lambda: Symmetric("x"),
        "Symmetric needs two or more features that trade places, such as ['left', 'right'].",
    ),
    (
        lambda: Symmetric({"x": "n", "n": "sex"}),
        "Symmetric needs two or more features that trade places, such as ['left', 'right'].",
    ),
    (lambda: Symmetric({"x": "x", "n": "n"}), "Symmetric: every feature takes its own value; nothing is permuted."),
    (lambda: Symmetric([("x", "n", "y")]), "Symmetric: a permutation is given as pairs feature → feature."),
    (lambda: Symmetric(["x", "n"], -1), "Symmetric: eps is -1; it must be 0 or more."),
    (
        lambda: Symmetric(["x", "race"]).lower(DOMAIN),
        "Symmetric: 'x' and 'race' have different values and cannot trade places.",
    ),
    (
        lambda: Symmetric(["town", "race"]).lower(DOMAIN),
        "Symmetric: 'town' and 'race' have different values and cannot trade places.",
    ),
    (lambda: Dominates("x", "x"), "Dominates: 'x' cannot dominate itself; name two features."),
    (lambda: Dominates(["x", "n"], "sex"), "Dominates: strong is one feature, not 2."),
    (lambda: Dominates("x", "n", 0), "Dominates: rate is 0; it must be more than 0."),
    (lambda: Custom([]), "A claim needs at least one row in 'then'."),
    (lambda: Safe(), "A claim needs at least one row in 'then'."),
    (lambda: Custom("a.out <= 1", copies=5), "A claim has 1 to 4 copies, not 5."),
    (lambda: Custom("a.out <= 1", others="none"), "A claim's others is 'equal' or 'free', not 'none'."),
    (lambda: Custom("a.out <= 1", says=3), "A claim's says is a text, not 3."),
    (lambda: Custom(3), "'then' is 3; give a list of rows such as 'a.income >= b.income'."),
    (lambda: Custom([3]), "A row of 'then' is a text such as 'a.income >= b.income', not 3."),
    (
        lambda: Monotone("race").lower(DOMAIN),
        "Monotone: 'race' is a category and its values have no order; say their order, as in "
        "domain=Columns(order={'race': ['p', 'q', 't']}), lowest first.",
    ),
    (
        lambda: Monotone(99).lower(DOMAIN),
        "Monotone names 99, which is not a feature; the features are 'x', 'n', 'annual income', 'sex', 'race', "
        "'old race', 'town'.",
    ),
    (lambda: property_from_json({}), "A property needs a key 'kind'; the kinds are 'monotone', 'robust', 'fair', "),
    (lambda: property_from_json({"kind": "nice"}), "There is no property of kind 'nice'; the kinds are 'monotone', "),
    (
        lambda: property_from_json({"kind": "fair", "protected": "x", "epsilon": 1}),
        "A property of kind 'fair' has no key 'epsilon'; its keys: 'protected', 'eps', 'delta', 'output'.",
    ),
    (
        lambda: property_from_json({"kind": "fair", "protected": "x"}),
        "A property of kind 'fair' needs the key 'eps'.",
    ),
    (lambda: Fair.from_json({"kind": "safe", "protected": "x", "eps": 1}), "A property of kind 'safe' was given"),
    (lambda: properties_from_json({}), "Properties are a list of descriptions, not {}."),
    (lambda: properties_from_json([Convex("x").to_json(), {"kind": "convex"}]), "property 2: A property of kind"),
]


@pytest.mark.parametrize(("build", "message"), ERRORS, ids=[message[:40] for _, message in ERRORS])
def test_errors(build, message):
    with pytest.raises(SmileError) as info:
        build()
    assert str(info.value).startswith(message) and "\n" not in str(info.value)


@pytest.mark.parametrize(
    "item",
    [
        Monotone("foo"),
        Robust({"foo": 1}, 1),
        Robust(0.1, 1, "foo"),
        Fair("foo", 1),
        Fair("race", 1, {"foo": 1}),
        Lipschitz("foo", {"foo": 1}),
        Convex("foo"),
        Concave("foo"),
        Symmetric(["x", "foo"]),
        Dominates("foo", "x"),
        Dominates("x", "foo"),
        Custom("a.out <= 1", free="foo"),
        Custom("a.out <= 1", equal="foo"),
    ],
    ids=repr,
)
def test_unknown_features_are_named_and_the_known_listed(item):
    with pytest.raises(SmileError, match=r"names 'foo', which is not a feature; the features are 'x', 'n', .*'town'\."):
        item.lower(DOMAIN)


@pytest.mark.parametrize(
    "build", [Lipschitz("race", 1), Convex("race"), Dominates("race", "x"), Robust({"race": 1}, 1)]
)
def test_categories_have_no_order(build):
    with pytest.raises(SmileError, match="'race' is a category and its values have no order"):
        build.lower(DOMAIN)


def test_names_read_as_zero_and_one_have_no_order():
    domain = Domain((Feature("sex", "binary", categories=("f", "m")), Feature("age", "continuous", 0, 90)))
    with pytest.raises(SmileError, match=r"Monotone: 'sex' holds the names 'f', 'm', which have no order"):
        Monotone(increasing=["sex"]).lower(domain)
    assert Monotone(increasing=["age"]).lower(domain)
