"""Properties of several outputs: what they say of classes, labels and targets, in words, formulas, JSON and TOML."""

import re
from itertools import combinations

import numpy as np
import pytest

from smilenn import (
    Bounded,
    Concave,
    Convex,
    Domain,
    Dominates,
    Exclusive,
    Fair,
    Feature,
    Lipschitz,
    Monotone,
    Ordered,
    Robust,
    SmileError,
    SumAtMost,
    Symmetric,
)
from smilenn.properties import Outputs, property_from_json, read_toml

DOMAIN = Domain(
    (
        Feature("income", lo=1, hi=9),
        Feature("annual debt", lo=0, hi=9),
        Feature("race", "category", categories=("a", "b")),
    )
)
CLASSES = Outputs(("low", "middle", "high"), ("low", "middle", "high"))
TWO = Outputs(("",), ("no", "yes"))
NUMBERS = ("rent", "food", "fun stuff")

DIRECTED = [
    Monotone(["income"]),
    Convex(["income"]),
    Concave(["income"]),
    Dominates("income", "annual debt"),
    Bounded(-1, 1),
]
BOTH_WAYS = [Robust(0.1, 1), Fair(["race"], 1), Lipschitz(["income"], 2), Symmetric(["income", "annual debt"], 1)]


def named(prop, output):
    return property_from_json(prop.to_json() | {"output": output})


def forms(claims):
    """The signed outputs of the first copy, row by row."""
    first = {min(t.copy for t in row.terms if t.kind == "out") for claim in claims for row in claim.rows}
    assert first == {0}
    return {
        tuple(sorted((t.name, t.coef > 0) for t in row.terms if t.kind == "out" and t.copy == 0))
        for claim in claims
        for row in claim.rows
    }


@pytest.mark.parametrize("prop", BOTH_WAYS, ids=lambda p: p.kind)
def test_changes_are_bounded_for_every_margin_both_ways(prop):
    pairs = {tuple(sorted(((i, s), (j, not s)))) for i, j in combinations(CLASSES.names, 2) for s in (True, False)}
    assert forms(prop.lower(DOMAIN, CLASSES)) == pairs
    assert forms(named(prop, "low").lower(DOMAIN, CLASSES)) == {pair for pair in pairs if "low" in dict(pair)}
    assert re.search("(any|every) margin between two classes", prop.lower(DOMAIN, CLASSES)[0].sentence)


@pytest.mark.parametrize("prop", DIRECTED, ids=lambda p: p.kind)
def test_directions_must_name_a_class(prop):
    with pytest.raises(SmileError, match=r"must say which of the 3 classes .* add output='high'"):
        prop.lower(DOMAIN, CLASSES)
    claims = named(prop, "middle").lower(DOMAIN, CLASSES)
    assert all(("middle" in dict(form)) and len(form) == 2 for form in forms(claims))
    assert re.search("he margin of 'middle' over (any|every) other class", claims[0].sentence)
    assert {name for form in forms(prop.lower(DOMAIN, NUMBERS)) for name, _ in form} == set(NUMBERS)


def test_monotone_of_a_class_raises_it_over_each_other_one():
    (claim,) = Monotone(["income"], output="high").lower(DOMAIN, CLASSES)
    assert [row.text() for row in claim.then] == [
        'a.out["high"] - a.out["low"] - b.out["high"] + b.out["low"] <= 0',
        'a.out["high"] - a.out["middle"] - b.out["high"] + b.out["middle"] <= 0',
    ]


def test_of_two_classes_the_first_has_the_other_sign():
    yes, no = (Monotone(["income"], output=name).lower(DOMAIN, TWO)[0].then[0].text() for name in ("yes", "no"))
    assert yes == "a.out - b.out <= 0" and no == "-a.out + b.out <= 0"
    assert Monotone(["income"]).lower(DOMAIN, TWO) == Monotone(["income"], output="yes").lower(DOMAIN, TWO)


def test_a_class_may_be_a_whole_number():
    digits = Outputs(("0", "1", "2"), ("0", "1", "2"))
    assert Monotone(["income"], output=2) == Monotone(["income"], output="2")
    assert len(Monotone(["income"], output=2).lower(DOMAIN, digits)[0].then) == 2


def test_of_numbers_every_output_or_the_one_that_is_named():
    assert len(Monotone(["income"]).lower(DOMAIN, NUMBERS)[0].then) == 3
    (claim,) = Monotone(["income"], output="fun stuff").lower(DOMAIN, NUMBERS)
    assert [row.text() for row in claim.then] == ['a.out["fun stuff"] - b.out["fun stuff"] <= 0']
    assert claim.sentence == "Raising 'income', everything else equal, never lowers output 'fun stuff'."


ROWS = {
    Bounded(0, 3): [
        '-a.out["rent"] <= 0',
        'a.out["rent"] <= 3',
        '-a.out["food"] <= 0',
        'a.out["food"] <= 3',
        '-a.out["fun stuff"] <= 0',
        'a.out["fun stuff"] <= 3',
    ],
    Bounded(hi=2, output="food"): ['a.out["food"] <= 2'],
    Ordered(): ['a.out["rent"] - a.out["food"] <= 0', 'a.out["food"] - a.out["fun stuff"] <= 0'],
    Ordered(["food", "rent"]): ['a.out["food"] - a.out["rent"] <= 0'],
    Exclusive("rent", "food"): ['a.out["rent"] + a.out["food"] <= 0'],
    Exclusive(["rent", "food", "fun stuff"]): [
        'a.out["rent"] + a.out["food"] <= 0',
        'a.out["rent"] + a.out["fun stuff"] <= 0',
        'a.out["food"] + a.out["fun stuff"] <= 0',
    ],
    SumAtMost(None, "income"): ['a.out["rent"] + a.out["food"] + a.out["fun stuff"] - a["income"] <= 0'],
    SumAtMost(["rent"], "annual debt"): ['a.out["rent"] - a["annual debt"] <= 0'],
    SumAtMost(["rent", "food"], "0.5 * income + 2"): ['a.out["rent"] + a.out["food"] - 0.5 * a["income"] <= 2'],
    SumAtMost(["rent", "food"], 7): ['a.out["rent"] + a.out["food"] <= 7'],
}


@pytest.mark.parametrize(("prop", "rows"), ROWS.items(), ids=lambda v: repr(v)[:40])
def test_rows_of_output_properties(prop, rows):
    (claim,) = prop.lower(DOMAIN, NUMBERS)
    assert [row.text() for row in claim.then] == rows
    assert claim.copies == 1 and not claim.when and claim.sentence.endswith(".")
    again = property_from_json(prop.to_json())
    assert again == prop and again.lower(DOMAIN, NUMBERS) == (claim,) and repr(again) == repr(prop)


def test_all_kinds_are_read_from_toml():
    text = """
        [[property]]
        kind = "monotone"
        increasing = ["income"]
        output = "rent"
        [[property]]
        kind = "bounded"
        lo = 0
        [[property]]
        kind = "ordered"
        outputs = ["rent", "food"]
        [[property]]
        kind = "exclusive"
        outputs = ["rent", "food"]
        [[property]]
        kind = "sum_at_most"
        outputs = ["rent", "food"]
        limit = "0.1 * income"
    """
    assert read_toml(text) == (
        Monotone(["income"], output="rent"),
        Bounded(0),
        Ordered(["rent", "food"]),
        Exclusive("rent", "food"),
        SumAtMost(["rent", "food"], "0.1 * income"),
    )


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: Monotone(["income"], output="rent").lower(DOMAIN), "there is one only; leave 'output' out"),
        (lambda: Monotone(["income"], output="rant").lower(DOMAIN, NUMBERS), "'rant'; there are 'rent', 'food'"),
        (lambda: Monotone(["income"], output=1.5), "output is 1.5; give the name"),
        (lambda: Ordered().lower(DOMAIN), "Ordered needs two or more outputs; the network has 1"),
        (lambda: Ordered(["rent"]), "two or more outputs, as in"),
        (lambda: Ordered(["rent", "rent"]), "names 'rent' twice"),
        (lambda: Ordered("rent"), "give a list of output names"),
        (lambda: Ordered(["rent", "bread"]).lower(DOMAIN, NUMBERS), "names the output 'bread'"),
        (lambda: Exclusive("low", "high").lower(DOMAIN, CLASSES), "only compete"),
        (lambda: Exclusive("cat"), "two or more labels"),
        (lambda: Exclusive("cat", "dog", outputs=["cat", "dog"]), "not both"),
        (lambda: Bounded(), "needs a bound"),
        (lambda: Bounded(2, 1), "lo must be less than hi"),
        (lambda: SumAtMost([], 3), "needs an output to sum"),
        (lambda: SumAtMost(None, None), "give a number, a feature or an expression"),
        (lambda: SumAtMost(None, "incme").lower(DOMAIN, NUMBERS), "There is no feature 'incme'"),
        (lambda: SumAtMost(None, "income * income").lower(DOMAIN, NUMBERS), "not linear"),
        (lambda: SumAtMost(None, "race").lower(DOMAIN, NUMBERS), "race"),
    ],
)
def test_errors(act, message):
    with pytest.raises(SmileError, match=message):
        act()


def test_exclusive_rows_cost_no_decision():
    """Logits that are never both positive become ones that satisfy the row, and no sign changes."""
    f = np.random.default_rng(0).normal(size=(1000, 3))
    f = f[(f > 0).sum(axis=1) <= 1]
    most = np.maximum(f.max(axis=1), 0.0)
    moved = np.where(f > 0, f, np.minimum(f, -most[:, None]))
    assert ((moved > 0) == (f > 0)).all()
    for i, j in combinations(range(3), 2):
        assert (moved[:, i] + moved[:, j] <= 0).all()
        p, q = (1 / (1 + np.exp(-moved[:, k])) for k in (i, j))
        assert (p + q <= 1 + 1e-12).all()
