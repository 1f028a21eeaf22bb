"""What claims ask for, read from their rows; rows in one order."""

import pytest

from smilenn import Bounded, Custom, Domain, Fair, Feature, LocalRobust, Monotone
from smilenn.properties import Outputs, lower_all
from smilenn.train.recipes.stated import Kind, read
from smilenn.train.row_order import in_order

DOMAIN = Domain((Feature("x"), Feature("y"), Feature("g", "category", categories=("u", "v"))))
RISE, SLOPE = "a.out >= b.out", "-2*(a.x - b.x) <= a.out - b.out <= 2*(a.x - b.x)"


def kinds(*properties, outputs=None):
    outputs = outputs or Outputs()
    return [one.kind for one in read(lower_all(properties, DOMAIN, outputs), outputs, DOMAIN)]


def test_rows_that_mean_nothing_together_are_read_one_by_one():
    assert kinds(Custom(when=["a.x >= b.x"], then=[RISE, SLOPE])) == [Kind.MONOTONE, Kind.LIPSCHITZ]
    assert kinds(Custom(when=["a.x >= b.x"], then=[RISE, "a.out <= 2*b.out"])) == [Kind.MONOTONE, Kind.OTHER]


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (Custom(when=["a.x <= b.x"], then=["a.out <= b.out + 0.1"]), Kind.OTHER),  # it may fall a little
        (Custom(copies=3, when=["2*b.x == a.x + c.x"], then=["2*b.out <= a.out + c.out + 1"]), Kind.OTHER),
        (Custom(then=["a.out <= b.out + 1"], free=["g"]), Kind.FAIR),  # the copies may be swapped
        (Custom(when=["0 <= a.x - b.x <= 1"], then=["a.out <= b.out + 1"]), Kind.OTHER),  # here they may not
        (Custom(when=["0 <= a.x - b.x <= 1"], then=["-1 <= a.out - b.out <= 1"]), Kind.ROBUST),
        (Fair(["g"], 1, delta={"x": 0.1}), Kind.FAIR_NEARBY),
        (LocalRobust([{"x": 0.5, "y": 0.5, "g": "u"}], {"x": 0.1}, 1), Kind.LOCAL),
        (Bounded(0, 1), Kind.SINGLE),
    ],
    ids=str,
)
def test_kinds(rule, kind):
    assert kinds(rule) == [kind]


def test_pairs_of_rows_come_in_one_order():
    outputs = Outputs(("p", "q"))
    (named,) = Fair(["g"], 1).lower(DOMAIN, outputs)
    chain = [f"-1 <= a.out.{o} - b.out.{o} <= 1" for o in "pq"]
    (own,) = Custom(chain, free=["g"]).lower(DOMAIN, outputs)
    assert own.then != named.then and in_order(own).then == named.then == in_order(named).then
    for claim in (*Monotone(["x"]).lower(DOMAIN, outputs), *Bounded(0, 1).lower(DOMAIN, outputs)):
        assert in_order(claim) == claim
