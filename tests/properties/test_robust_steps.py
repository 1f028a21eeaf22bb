"""`Robust` with steps: a second rule on smaller changes, as a claim of its own."""

from fractions import Fraction

import pytest

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.properties import Robust
from smilenn.properties.spec import property_from_json

DOMAIN = Domain((Feature("a", "continuous", 0.0, 1.0), Feature("b", "continuous", 0.0, 4.0)))


@pytest.mark.parametrize("norm", ["inf", 2])
@pytest.mark.parametrize("delta", [0.3, "5%", {"a": 0.1, "b": "10%"}])
def test_steps_add_the_claim_of_a_smaller_delta(norm, delta):
    item = Robust(delta, 2, norm=norm, steps=10)
    whole, fine = item.lower(DOMAIN, ("y",))
    assert (whole,) == Robust(delta, 2, norm=norm).lower(DOMAIN, ("y",))
    assert {row.rhs for row in fine.then} == {Fraction(22, 100)}  # 11/100 of 2
    assert [row.rhs * 10 for row in fine.when] == [row.rhs for row in whole.when]
    assert [(name, size * 10) for name, size in fine.ball] == list(whole.ball)


def test_steps_are_said_and_kept():
    item = Robust(0.3, 1, steps=10)
    assert item.sentence_about("y").count("Changing") == 2 and "0.03" in item.sentence_about("y")
    assert item.formula().count("∀") == 2
    assert property_from_json(item.to_json()) == item and "steps" not in Robust(0.3, 1).to_json()


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, "10", 10**6])
def test_steps_are_whole_numbers(steps):
    with pytest.raises(SmileError, match="steps is"):
        Robust(0.1, 1, steps=steps)


def test_one_step_is_the_rule_itself():
    assert Robust(0.1, 1, steps=1).lower(DOMAIN, ("y",)) == Robust(0.1, 1).lower(DOMAIN, ("y",))
