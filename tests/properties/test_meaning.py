"""Sentences come from the rows of a claim and from nothing else; a change of any row changes what is said."""

import contextlib
import re
from dataclasses import replace
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smilenn import Domain, Feature, SmileError
from smilenn.properties import (
    Bounded,
    Claim,
    Concave,
    Convex,
    Custom,
    Dominates,
    Exclusive,
    Fair,
    Lipschitz,
    LocalRobust,
    Monotone,
    OneOf,
    Ordered,
    Outputs,
    Robust,
    Safe,
    SumAtMost,
    Symmetric,
    as_property,
    row,
)
from smilenn.properties.meaning import (
    Apart,
    Chain,
    Changes,
    Curved,
    Decided,
    Limited,
    Meaning,
    Permuted,
    Rises,
    Slope,
    Total,
    Traded,
    Unnamed,
)
from smilenn.properties.recognise import meaning
from smilenn.properties.wording import beside, comment, say

MIXED = Domain(
    (
        Feature("x", "continuous", 0, 2),
        Feature("n", "integer", 0, 10),
        Feature("sex", "binary", categories=("f", "m")),
        Feature("race", "category", categories=("p", "q", "t")),
        Feature("old race", "category", categories=("p", "q", "t")),
    )
)
PLAIN = Domain.box([0.0] * 3, [2.0, 10.0, 4.0], ["x", "n", "z"])
PRICE = Outputs(target="price", role="number")
TWO = Outputs(("",), ("no", "yes"), "default")
THREE = Outputs(("bad", "fair", "good"), ("bad", "fair", "good"), "rating")
LABELS = Outputs(("cat", "dog", "cow"), role="label")
LEVELS = Outputs(("q0.1", "q0.9"), target="price", role="quantile")
PAIR = Outputs(("rent", "food"), role="number")
ONE = ((Fraction(1), ""),)

SAID = [
    (
        Monotone(["x"], ["n"]),
        MIXED,
        PRICE,
        Rises(("x",), ("n",), (ONE,)),
        "Raising 'x' or lowering 'n', alone or together, everything else equal, never lowers the predicted 'price'.",
    ),
    (
        Monotone(["x"]),
        PLAIN,
        Outputs(role="number"),
        Rises(("x",), (), (ONE,)),
        "Raising 'x', everything else equal, never lowers the prediction.",
    ),
    (
        Monotone(["x"]),
        MIXED,
        TWO,
        Rises(("x",), (), (ONE,)),
        "Raising 'x', everything else equal, never lowers the log-odds of 'default' = 'yes'.",
    ),
    (
        Monotone(["x"], output="no"),
        MIXED,
        TWO,
        Rises(("x",), (), (((Fraction(-1), ""),),)),
        "Raising 'x', everything else equal, never lowers the log-odds of 'default' = 'no'.",
    ),
    (
        Monotone(decreasing=["x"], output="good"),
        MIXED,
        THREE,
        None,
        "Lowering 'x', everything else equal, never lowers the margin of 'good' over any other class.",
    ),
    (Monotone(["x"]), MIXED, LABELS, None, "Raising 'x', everything else equal, never lowers any label's log-odds."),
    (
        Monotone(["x"], output="dog"),
        MIXED,
        LABELS,
        None,
        "Raising 'x', everything else equal, never lowers the log-odds of 'dog'.",
    ),
    (
        Monotone(["x"]),
        MIXED,
        LEVELS,
        None,
        "Raising 'x', everything else equal, never lowers any predicted quantile of 'price'.",
    ),
    (Monotone(["x"]), MIXED, PAIR, None, "Raising 'x', everything else equal, never lowers any prediction."),
    (
        Monotone(["x"], output="food"),
        MIXED,
        PAIR,
        None,
        "Raising 'x', everything else equal, never lowers the predicted 'food'.",
    ),
    (
        Robust(0.1, 0.5),
        MIXED,
        PRICE,
        Changes(
            (),
            (("x", Fraction(-1, 10), Fraction(1, 10)), ("n", Fraction(-1, 10), Fraction(1, 10))),
            (ONE,),
            Fraction(1, 2),
        ),
        "Changing each numeric input by at most 0.1, everything else equal, changes the predicted 'price' by at most "
        "0.5.",
    ),
    (
        Robust({"x": (-0.1, 0.2), "n": 1}, "1/3"),
        MIXED,
        THREE,
        None,
        "Changing 'x' by -0.1 to 0.2 and 'n' by at most 1, everything else equal, changes any margin between two "
        "classes by at most 1/3.",
    ),
    (
        Robust("5%", 0.5, ["x", "z"]),
        PLAIN,
        PRICE,
        None,
        "Changing 'x' by at most 0.1 and 'z' by at most 0.2, everything else equal, changes the predicted 'price' by "
        "at most 0.5.",
    ),
    (
        Robust(0.1, 0.5, ["x", "z"]),
        PLAIN,
        PRICE,
        None,
        "Changing each of 'x' and 'z' by at most 0.1, everything else equal, changes the predicted 'price' by at most "
        "0.5.",
    ),
    (
        Fair("race", 0.2),
        MIXED,
        TWO,
        Changes(("race",), (), (ONE,), Fraction(1, 5)),
        "Attribute-flip fairness: changing 'race' alone changes the log-odds of 'default' = 'yes' by at most 0.2.",
    ),
    (
        Fair("race", 0),
        MIXED,
        PAIR,
        None,
        "Attribute-flip fairness: changing 'race' alone leaves every prediction unchanged.",
    ),
    (
        Fair(["race", "sex"], 0.2, delta={"x": 0.1}),
        MIXED,
        PRICE,
        None,
        "Changing 'race' and 'sex' freely and 'x' by at most 0.1, everything else equal, changes the predicted 'price' "
        "by at most 0.2.",
    ),
    (
        Lipschitz(["x"], 2),
        MIXED,
        PRICE,
        Slope("x", Fraction(2), (ONE,)),
        "Everything else equal, the predicted 'price' changes by at most 2 per unit of 'x'.",
    ),
    (
        Lipschitz(["x"], 0),
        MIXED,
        PRICE,
        Slope("x", Fraction(0), (ONE,)),
        "Everything else equal, the predicted 'price' changes by at most 0 per unit of 'x'.",
    ),
    (
        Convex(["x", "n"]),
        MIXED,
        PRICE,
        Curved(("x", "n"), 1, (ONE,)),
        "Halfway between two values of 'x' and 'n', everything else equal, the predicted 'price' is at most the mean "
        "of its two values there.",
    ),
    (
        Concave(["x"], output="good"),
        MIXED,
        THREE,
        None,
        "Halfway between two values of 'x', everything else equal, the margin of 'good' over every other class is at "
        "least the mean of its two values there.",
    ),
    (
        Symmetric(["x", "n"]),
        MIXED,
        PRICE,
        Permuted((("x", "n"),), (ONE,), Fraction(0)),
        "Swapping the values of 'x' and 'n', everything else equal, leaves the predicted 'price' unchanged.",
    ),
    (
        Symmetric(["race", "old race"], 0.3),
        MIXED,
        PRICE,
        Permuted((("race", "old race"),), (ONE,), Fraction(3, 10)),
        "Swapping the values of 'race' and 'old race', everything else equal, changes the predicted 'price' by at most "
        "0.3.",
    ),
    (
        Symmetric(["x", "n", "z"]),
        PLAIN,
        PRICE,
        Permuted((("x", "n", "z"),), (ONE,), Fraction(0)),
        "Giving 'x' the value of 'n', 'n' that of 'z' and 'z' that of 'x', everything else equal, leaves the predicted "
        "'price' unchanged.",
    ),
    (
        Dominates("x", "n", 2),
        MIXED,
        PRICE,
        Traded("x", "n", Fraction(2), (ONE,)),
        "Raising 'x' and lowering 'n' by 2 times as much, everything else equal, never lowers the predicted 'price'.",
    ),
    (
        Custom(["a.out >= b.out"], ["a.x >= b.x", "b.n - a.n == 2*(a.x - b.x)"]),
        MIXED,
        PRICE,
        Traded("x", "n", Fraction(2), (ONE,)),
        "Raising 'x' and lowering 'n' by 2 times as much, everything else equal, never lowers the predicted 'price'.",
    ),
    (
        Bounded(0, 3),
        MIXED,
        PRICE,
        Limited((ONE,), Fraction(0), Fraction(3)),
        "The predicted 'price' lies between 0 and 3.",
    ),
    (Bounded(lo=0), MIXED, PAIR, None, "Every prediction is at least 0."),
    (
        Bounded(-1, 1, output="good"),
        MIXED,
        THREE,
        None,
        "The margin of 'good' over every other class lies between -1 and 1.",
    ),
    (
        Ordered(),
        MIXED,
        LEVELS,
        Chain(("q0.1", "q0.9")),
        "The predicted quantile 'q0.1' of 'price' is never above the predicted quantile 'q0.9' of 'price'.",
    ),
    (
        Exclusive("cat", "dog"),
        MIXED,
        LABELS,
        Apart(("cat", "dog")),
        "'cat' and 'dog' are never predicted together: their log-odds add up to at most 0.",
    ),
    (
        Exclusive(),
        MIXED,
        LABELS,
        Apart(("cat", "dog", "cow")),
        "No two of 'cat', 'dog' and 'cow' are predicted together: every two log-odds add up to at most 0.",
    ),
    (
        SumAtMost(None, "0.9 * x - 100"),
        MIXED,
        PAIR,
        Total(((Fraction(1), "rent"), (Fraction(1), "food")), ((Fraction(9, 10), "x"),), Fraction(-100)),
        "The predicted 'rent' + the predicted 'food' is at most 0.9 × 'x' − 100.",
    ),
    (
        OneOf(["yes"], when=["x >= 1", "race == 'q'"], lead=0.5),
        MIXED,
        TWO,
        None,
        "Whenever 'x' is at least 1 and 'race' is 'q', the predicted 'default' is 'yes', with log-odds of at least "
        "0.5.",
    ),
    (
        OneOf(["good"]),
        MIXED,
        THREE,
        Decided(("good",), Fraction(1, 10**6)),
        "The predicted 'rating' is 'good', ahead of every other class by at least 0.000001.",
    ),
    (
        OneOf(["good", "fair"], when="x <= 1", lead=1),
        MIXED,
        THREE,
        None,
        "Whenever 'x' is at most 1, the predicted 'rating' is 'good' or 'fair'; one of them is ahead of every other "
        "class by at least 1.",
    ),
    (
        LocalRobust([{"x": 1, "n": 3, "z": 2}], {"x": 0.5}, eps=0.1),
        PLAIN,
        PRICE,
        None,
        "Around the point 'x' = 1, 'n' = 3 and 'z' = 2, changing 'x' by at most 0.5, everything else equal, changes "
        "the predicted 'price' by at most 0.1.",
    ),
    (
        LocalRobust([{"x": 1, "n": 3, "sex": "m", "race": "t", "old race": "p"}], {"x": 0.5}, eps=0.1),
        MIXED,
        TWO,
        None,
        "Around the point 'x' = 1, 'n' = 3, 'sex' = 'm', 'race' = 't' and 'old race' = 'p', changing 'x' by at most "
        "0.5, everything else equal, changes the log-odds of 'default' = 'yes' by at most 0.1.",
    ),
    (
        LocalRobust([{"x": 1, "n": 3, "z": 2}], {"x": 0.5}, labels=["good"]),
        PLAIN,
        THREE,
        None,
        "Whenever 'x' lies between 0.5 and 1.5, 'n' is 3 and 'z' is 2, no other class is ahead of 'good'.",
    ),
    (
        LocalRobust([{"x": 1, "n": 3, "z": 2}], {"x": 0.5}, labels=["yes"]),
        PLAIN,
        TWO,
        None,
        "Whenever 'x' lies between 0.5 and 1.5, 'n' is 3 and 'z' is 2, the log-odds of 'default' = 'yes' are at least "
        "0.",
    ),
    (
        Safe(["x >= 1"], ["0 <= out <= 5 * x"]),
        MIXED,
        PRICE,
        Unnamed(),
        'For all a in the domain: -a["x"] <= -1 ⇒ -a.out <= 0, a.out - 5 * a["x"] <= 0.',
    ),
    (
        Safe(["x >= 1"], ["0 <= out <= 5"]),
        MIXED,
        PRICE,
        None,
        "Whenever 'x' is at least 1, the predicted 'price' lies between 0 and 5.",
    ),
    (
        Custom(["a.out >= b.out"], ["a.x >= b.x"]),
        MIXED,
        PRICE,
        None,
        "Raising 'x', everything else equal, never lowers the predicted 'price'.",
    ),
    (
        Custom(["2*b.out >= a.out + c.out"], ["2*b.x == a.x + c.x"], copies=3),
        MIXED,
        PRICE,
        Curved(("x",), -1, (ONE,)),
        "Halfway between two values of 'x', everything else equal, the predicted 'price' is at least the mean of its "
        "two values there.",
    ),
    (
        Custom(["a.out - b.out <= 1"], ["a.x <= b.x"], free=["n"]),
        MIXED,
        PRICE,
        Unnamed(),
        'For all a, b in the domain: a["x"] - b["x"] <= 0, "n" free, other features equal ⇒ a.out - b.out <= 1.',
    ),
]


@pytest.mark.parametrize(("item", "domain", "outputs", "found", "sentence"), SAID, ids=lambda v: getattr(v, "kind", ""))
def test_the_rows_say_what_the_property_says(item, domain, outputs, found, sentence):
    (claim,) = item.lower(domain, outputs)
    assert say(replace(claim, sentence="It is blue."), outputs, domain) == sentence == claim.sentence
    if found is not None:
        assert meaning(claim, outputs, domain) == found
    # a claim written by hand that has the same rows is said the same way
    (again,) = as_property(replace(claim, sentence="")).lower(domain, outputs)
    assert say(again, outputs, domain) == sentence


ROOM = Fraction(74, 10**13)
WITH_ROOM = [
    (
        Monotone(["x"]),
        TWO,
        "Raising 'x', everything else equal, never lowers the log-odds of 'default' = 'yes' by more than 7.4e-12.",
    ),
    (
        Robust(0.1, 0.5),
        PRICE,
        "Changing each numeric input by at most 0.1, everything else equal, changes the predicted 'price' by at most "
        "0.5000000000074.",
    ),
    (
        Robust(0.1, 0.5, norm=2),
        PRICE,
        "Changing 'x' by at most 0.1 in the Euclidean norm, everything else equal, changes the predicted 'price' by at "
        "most 0.5000000000074.",
    ),
    (
        Fair("race", 0),
        PRICE,
        "Attribute-flip fairness: changing 'race' alone changes the predicted 'price' by at most 7.4e-12.",
    ),
    (
        Lipschitz(["x"], 2),
        PRICE,
        "Everything else equal, the predicted 'price' changes by at most 2 per unit of 'x', plus 7.4e-12.",
    ),
    (
        Convex(["x"]),
        PRICE,
        "Halfway between two values of 'x', everything else equal, the predicted 'price' is at most the mean of its "
        "two values there, up to 3.7e-12.",
    ),
    (
        Concave(["x"]),
        PRICE,
        "Halfway between two values of 'x', everything else equal, the predicted 'price' is at least the mean of its "
        "two values there, up to 3.7e-12.",
    ),
    (
        Symmetric(["x", "n"]),
        PRICE,
        "Swapping the values of 'x' and 'n', everything else equal, changes the predicted 'price' by at most 7.4e-12.",
    ),
    (
        Dominates("x", "n", 2),
        PRICE,
        "Raising 'x' and lowering 'n' by 2 times as much, everything else equal, never lowers the predicted 'price' by "
        "more than 7.4e-12.",
    ),
    (Bounded(0, 3), PRICE, "The predicted 'price' lies between -7.4e-12 and 3.0000000000074."),
    (Safe([], ["out == 3"]), PRICE, "The predicted 'price' lies between 2.9999999999926 and 3.0000000000074."),
    (
        Ordered(),
        LEVELS,
        "The predicted quantile 'q0.1' of 'price' is never above the predicted quantile 'q0.9' of 'price' by more than "
        "7.4e-12.",
    ),
    (
        Ordered(["cat", "dog", "cow"]),
        Outputs(("cat", "dog", "cow")),
        "Output 'cat' is never above output 'dog', nor output 'dog' above output 'cow', by more than 7.4e-12.",
    ),
    (Exclusive("cat", "dog"), LABELS, "The log-odds of 'cat' and the log-odds of 'dog' add up to at most 7.4e-12."),
    (
        Exclusive(),
        LABELS,
        "Every two of the log-odds of 'cat', the log-odds of 'dog' and the log-odds of 'cow' add up to at most "
        "7.4e-12.",
    ),
    (
        SumAtMost(None, "0.9 * x - 100"),
        PAIR,
        "The predicted 'rent' + the predicted 'food' is at most 0.9 × 'x' − 99.9999999999926.",
    ),
    (OneOf(["good"]), THREE, "The predicted 'rating' is 'good', ahead of every other class by at least 9.999926e-07."),
    (OneOf(["good"], lead="1e-12"), THREE, "No other class is ahead of 'good' by more than 6.4e-12."),
    (OneOf(["yes"], lead="1e-12"), TWO, "The log-odds of 'default' = 'yes' are at least -6.4e-12."),
    (
        Custom(["a.out - b.out <= 0"], ["a.x <= b.x"], free=["n"]),
        PRICE,
        'For all a, b in the domain: a["x"] - b["x"] <= 0, "n" free, other features equal ⇒ a.out - b.out <= '
        "0.0000000000074.",
    ),
]


@pytest.mark.parametrize(("item", "outputs", "sentence"), WITH_ROOM, ids=lambda v: getattr(v, "kind", ""))
def test_what_holds_up_to_some_room_is_said_with_it(item, outputs, sentence):
    (claim,) = item.lower(MIXED, outputs)
    assert say(claim.with_room(ROOM), outputs, MIXED) == sentence
    assert beside(claim.with_room(ROOM), outputs, MIXED) == ""
    assert claim.with_room(Fraction(0)) is claim


def test_a_class_that_nothing_is_ahead_of_may_be_behind_within_the_room():
    near = LocalRobust([{"x": 1, "n": 3, "z": 2}], {"x": 0.5}, labels=["good"]).lower(PLAIN, THREE)[0]
    assert say(near, THREE, PLAIN).endswith("no other class is ahead of 'good'.")
    assert say(near.with_room(ROOM), THREE, PLAIN).endswith("no other class is ahead of 'good' by more than 7.4e-12.")


def test_every_meaning_is_said_with_room():
    kinds = {type(meaning(item.lower(MIXED, outputs)[0], outputs, MIXED)) for item, outputs, _ in WITH_ROOM}
    assert kinds == set(get_args(Meaning))


def test_a_false_sentence_is_a_comment():
    same = row([(1, 0, "in", "x"), (-1, 1, "in", "x")])
    lie = Claim(2, (same,), (row([(1, 0, "out", ""), (-1, 1, "out", "")], 10**6),), sentence="It never\nfalls.")
    assert say(lie, PRICE) == (
        "Raising 'x', everything else equal, never lowers the predicted 'price' by more than 1000000."
    )
    assert comment(lie, PRICE) == 'comment (not checked): "It never\\nfalls."'
    assert comment(replace(lie, sentence=say(lie, PRICE)), PRICE) == "" == comment(replace(lie, sentence=""), PRICE)


def test_a_rule_on_log_odds_carries_to_the_probability():
    rises = Monotone(["x"], output="no").lower(MIXED, TWO)[0]
    assert beside(rises, TWO, MIXED) == "The same holds for the probability of 'default' = 'no'."
    assert "probability" not in beside(Fair("race", 1).lower(MIXED, TWO)[0], TWO, MIXED)
    assert beside(Monotone(["x"]).lower(MIXED, PRICE)[0], PRICE, MIXED) == ""
    assert beside(Monotone(["x"], output="good").lower(MIXED, THREE)[0], THREE, MIXED) == ""


def test_what_equal_takes_away_is_not_said():
    claim = Monotone(["x"]).lower(MIXED, PRICE)[0]
    assert isinstance(meaning(replace(claim, equal=("x",)), PRICE, MIXED), Unnamed)
    assert isinstance(meaning(replace(claim, equal=("x",)), PRICE), Unnamed)
    assert isinstance(meaning(replace(claim, equal=("n",)), PRICE, MIXED), Rises)  # it is equal anyhow
    swap = Symmetric(["race", "old race"]).lower(MIXED, PRICE)[0]
    assert isinstance(meaning(replace(swap, equal=("race",)), PRICE, MIXED), Unnamed)
    near = LocalRobust([{"x": 1, "n": 3, "z": 2}], {"x": 0.5}, eps=0.1).lower(PLAIN, PRICE)[0]
    assert "'n' freely" in say(replace(near, equal=("z",)), PRICE, PLAIN)


def test_outputs_that_are_not_known_are_not_called_all():
    claim = Monotone(["x"]).lower(MIXED, PAIR)[0]
    assert say(claim).endswith("never lowers output 'rent' or output 'food'.")
    assert isinstance(meaning(claim, PRICE, MIXED), Unnamed)
    few = replace(claim, then=claim.then[:1])
    assert say(few, PAIR, MIXED).endswith("never lowers the predicted 'rent'.")


@pytest.mark.parametrize(
    "name", ["out", "a.out <= 0", 'x"] <= b["x', "it's 'x'", "x, everything else", "tab\tand\nline"]
)
def test_no_name_passes_for_syntax(name):
    domain = Domain((Feature(name), Feature("y")))
    (claim,) = Monotone([name]).lower(domain, Outputs((name,)))
    sentence = f"Raising {name!r}, everything else equal, never lowers output {name!r}."
    assert claim.sentence == sentence and claim.sentence.isprintable() and claim.formula().isprintable()
    again = Custom.from_claim(claim)
    assert again.lower(domain, Outputs((name,))) == (claim,) and again.formula().isprintable()
    for item in (Monotone([name]), Fair(name, 1), Robust({name: 1}, 1), Custom("a.out <= 1", equal=[name])):
        assert item.formula().isprintable() and f" {name}" not in item.formula()


# ---- mutations ------------------------------------------------------------------------------------------------------

CLAIMS = [(claim, outputs, domain) for item, domain, outputs, _, _ in SAID for claim in item.lower(domain, outputs)]


def changed(claim, part):
    """All claims that differ in one row of `part`: its right side, operator, a coefficient, a copy or a name, or that
    the row is left out.
    """
    clauses = claim.either if part == "either" else (getattr(claim, part),)
    for c, rows in enumerate(clauses):
        for r, one in enumerate(rows):
            for new in (*single(one, claim.copies), None):
                kept = (*rows[:r], *([] if new is None else [new]), *rows[r + 1 :])
                whole = (*clauses[:c], kept, *clauses[c + 1 :]) if part == "either" else kept
                with contextlib.suppress(SmileError):  # no claim at all: nothing concluded, an equality in a clause
                    yield replace(claim, **{part: whole})


def single(one, copies):
    """The row with one thing changed."""
    for step in (Fraction(-1, 3), Fraction(1, 7), Fraction(2)):
        yield replace(one, rhs=one.rhs + step)
    yield replace(one, op="==" if one.op == "<=" else "<=")
    for t, term in enumerate(one.terms):
        name = "n" if term.kind == "in" else f"{term.name}?"
        others = [replace(term, coef=term.coef * factor) for factor in (-1, 2, Fraction(1, 3))]
        others += [replace(term, copy=copy) for copy in range(copies) if copy != term.copy]
        for other in [*others, replace(term, name=name)]:
            yield replace(one, terms=(*one.terms[:t], other, *one.terms[t + 1 :]))


def same_claim(one, other):
    """Whether two claims are the same: equal rows in any order, up to positive factors, and up to what swapping the
    copies adds where that leaves the premise as it is.
    """

    def halves(part, swap=False):
        found = {}
        for half in (half for one in part for half in one.halves()):
            size = abs(half.terms[0].coef) if half.terms else 1
            terms = {}
            for term in half.terms:
                key = (1 - term.copy if swap else term.copy, term.kind, term.name)
                terms[key] = terms.get(key, 0) + term.coef / size
            key = frozenset((k, c) for k, c in terms.items() if c)
            found[key] = min(half.rhs / size, found.get(key, half.rhs / size))
        return found

    def closed(claim):
        found, premise = halves(claim.then), halves(claim.when)
        if claim.copies == 2 and premise == halves(claim.when, swap=True):
            for key, rhs in halves(claim.then, swap=True).items():
                found[key] = min(rhs, found.get(key, rhs))
        return premise, found, [halves(clause) for clause in claim.either]

    return closed(one) == closed(other)


@pytest.mark.parametrize(("claim", "outputs", "domain"), CLAIMS, ids=range(len(CLAIMS)))
def test_room_changes_the_sentence(claim, outputs, domain):
    """Clauses are granted none; everything else says how far it may fail."""
    said = say(claim.with_room(ROOM), outputs, domain)
    assert claim.either or (said != say(claim, outputs, domain) and re.search(r"e-12|e-07|\d{10}", said)), said


@pytest.mark.parametrize(("claim", "outputs", "domain"), CLAIMS, ids=range(len(CLAIMS)))
def test_one_changed_row_changes_the_sentence(claim, outputs, domain):
    said, count = say(claim, outputs, domain), 0
    for part in ("when", "then", "either"):
        for other in changed(claim, part):
            count += 1
            assert say(other, outputs, domain) != said or same_claim(claim, other), other.formula()
    assert count > 5


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_several_changed_rows_change_the_sentence(data):
    claim, outputs, domain = data.draw(st.sampled_from(CLAIMS))
    other = claim
    for _ in range(data.draw(st.integers(2, 3))):
        parts = [list(changed(other, part)) for part in ("when", "then", "either")]
        other = data.draw(st.sampled_from([one for part in parts for one in part] or [other]))
    assert say(other, outputs, domain) != say(claim, outputs, domain) or same_claim(claim, other), other.formula()


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_premises_that_are_pinned_or_freed_change_the_sentence(data):
    claim, outputs, domain = data.draw(st.sampled_from([entry for entry in CLAIMS if entry[0].copies > 1]))
    name = data.draw(st.sampled_from([feature.name for feature in domain.features]))
    if name in claim.free or name in claim.equal:
        other = replace(claim, free=tuple(set(claim.free) - {name}), equal=tuple(set(claim.equal) - {name}))
    else:
        way = data.draw(st.sampled_from(["free", "equal"]))
        other = replace(claim, **{way: (*getattr(claim, way), name)})
    if say(claim, outputs, domain) == say(other, outputs, domain):
        moved = {name for name in claim.named if name in domain.slices}
        # pinning what is equal, or freeing what the rows bound already, changes nothing
        assert (name in other.equal and name not in moved) or (name in other.free and name in moved)
    settled = {*claim.named, *claim.free, *claim.equal}
    if any(feature.name not in settled and not settled & set(feature.coordinates) for feature in domain.features):
        assert say(replace(claim, others="free"), outputs, domain) != say(claim, outputs, domain)
