"""What follows from a claim for decisions: said where every margin is bounded, and true of random tables of outputs."""

import numpy as np
import pytest

from smilenn import Fair, Robust
from smilenn.domain import Domain, Feature
from smilenn.properties.forms import Outputs
from smilenn.properties.wording import beside

DOMAIN = Domain((Feature("x", lo=0.0, hi=1.0), Feature("z", "binary")))
TWO = Outputs(("f",), ("no", "yes"), target="default")
THREE = Outputs(("a", "b", "c"), ("a", "b", "c"))


@pytest.mark.parametrize("rule", [Fair("z", 0.5), Robust(0.1, 0.5), Robust(0.1, 0.5, norm=2)], ids=str)
def test_clear_decisions_of_two_related_inputs_agree(rule):
    (claim,) = rule.lower(DOMAIN, TWO)
    said = beside(claim, TWO, DOMAIN)
    assert said == "Two such inputs whose log-odds are both more than 0.25 away from 0 have the same class."
    (claim,) = rule.lower(DOMAIN, THREE)
    said = beside(claim, THREE, DOMAIN)
    assert said == "Two such inputs whose classes both lead every other class by more than 0.25 have the same class."


def test_nothing_follows_for_numbers_for_some_margins_or_where_nothing_changes():
    number = Outputs(target="cost", role="number")
    for rule in (Fair("z", 0.5), Robust(0.1, 0.5)):
        assert beside(rule.lower(DOMAIN, number)[0], number, DOMAIN) == ""
    assert beside(Fair("z", 0).lower(DOMAIN, TWO)[0], TWO, DOMAIN) == ""  # said by the sentence itself
    margins = Fair("z", 0.5).lower(DOMAIN, THREE)[0]
    four = Outputs(("a", "b", "c", "d"), ("a", "b", "c", "d"))
    assert beside(margins, four, DOMAIN) == ""


def test_it_is_true_of_random_margins():
    """Where margins move by at most ε clear decisions agree, and those by less than half of it need not."""
    rng, eps = np.random.default_rng(0), 0.5
    first = rng.normal(scale=0.6, size=(20_000, 3))
    second = first + rng.uniform(-eps / 2, eps / 2, first.shape)  # so a margin moves by at most ε
    lead = [np.sort(f, axis=1)[:, 2] - np.sort(f, axis=1)[:, 1] for f in (first, second)]
    differ = first.argmax(axis=1) != second.argmax(axis=1)
    assert not (differ & (lead[0] > eps / 2) & (lead[1] > eps / 2)).any()
    assert (differ & (lead[0] > eps / 8) & (lead[1] > eps / 8)).any()
