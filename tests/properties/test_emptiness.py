"""Premises that are empty by less than a solver's tolerance, and solvers that call a premise empty when it is not."""

from types import SimpleNamespace

import pytest
import scipy.optimize

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.properties.claim import Claim, row
from smilenn.properties.premise import ground

DOMAIN = Domain((Feature("x"), Feature("y"), Feature("n", "integer", 0, 3)))
THEN = (row([(1, 0, "out", "")], 1),)


def claim(*when):
    return Claim(2, tuple(when), THEN)


@pytest.mark.parametrize(
    "when",
    [
        row([(-1, 0, "in", "x"), (-1, 1, "in", "y")], "-2.00000000001"),
        row([(1, 0, "in", "x"), (1, 1, "in", "y")], "-0.00000000001"),
        row([(1, 0, "in", "x"), (1, 1, "in", "y")], "2.00000000001", "=="),
        row([(1, 0, "in", "n"), (-1, 1, "in", "x"), (1, 1, "in", "y")], "-1.0000000001", "=="),
    ],
)
def test_a_row_that_misses_the_box_by_a_hair_is_empty(when):
    with pytest.raises(SmileError, match="No inputs satisfy the premise"):
        ground(claim(when), DOMAIN)


def test_a_row_that_touches_the_box_is_not():
    for when in (
        row([(-1, 0, "in", "x"), (-1, 1, "in", "y")], -2),
        row([(1, 0, "in", "x"), (1, 1, "in", "y")], 2, "=="),
    ):
        assert ground(claim(when), DOMAIN).has_rows


def test_one_opinion_that_a_premise_is_empty_is_not_enough(monkeypatch):
    calls = []
    real = scipy.optimize.milp

    def wrong_at_first(*args, **options):
        calls.append(options["options"]["presolve"])
        return SimpleNamespace(status=2) if len(calls) == 1 else real(*args, **options)

    monkeypatch.setattr(scipy.optimize, "milp", wrong_at_first)
    whole = row([(2, 0, "in", "n"), (-2, 1, "in", "n"), (1, 0, "in", "x")], 1, "==")
    assert ground(claim(whole), DOMAIN).has_rows
    assert calls == [True, False]
    odd = claim(row([(2, 0, "in", "n"), (4, 1, "in", "n")], 3, "=="))  # even == odd: both runs see it
    calls.clear()
    with pytest.raises(SmileError, match="No inputs satisfy the premise"):
        ground(odd, DOMAIN)
    assert len(calls) == 2


def test_the_rows_that_contradict_each_other_are_named():
    domain = Domain.box([0.0, 0.0], [1.0, 1.0])
    harmless = row([(1, 0, "in", "x0")], 0.9)
    least = row([(-1, 0, "in", "x0"), (-1, 0, "in", "x1")], -1.5)
    most = row([(1, 0, "in", "x0"), (1, 0, "in", "x1")], 0.5)
    with pytest.raises(SmileError) as error:
        ground(Claim(1, (harmless, least, most), (row([(1, 0, "out", "")], 0),)), domain)
    assert str(error.value).endswith(
        ': \'-a["x0"] - a["x1"] <= -1.5\', \'a["x0"] + a["x1"] <= 0.5\' contradict each other; '
        "correct its 'when' rows or the bounds."
    )
    with pytest.raises(SmileError, match=r""": '-a\["x0"\] <= -2' contradicts the domain;"""):
        ground(Claim(1, (harmless, row([(-1, 0, "in", "x0")], -2)), (row([(1, 0, "out", "")], 0),)), domain)
