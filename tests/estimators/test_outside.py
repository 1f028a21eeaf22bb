"""When clamping carries a claim outside the domain: the table of the method, and a check by sampling."""

import numpy as np
import pytest

from smilenn.domain import Domain, Feature
from smilenn.estimators.outside import all_carried, clamping_carries
from smilenn.properties import Concave, Convex, Custom, Dominates, Fair, Lipschitz, Monotone, Robust, Safe, Symmetric

DOMAIN = Domain(
    (
        Feature("x", "continuous", 0.0, 1.0),
        Feature("y", "continuous", -2.0, 2.0),
        Feature("n", "integer", 0, 9),
        Feature("b", "binary"),
        Feature("c", "category", categories=("p", "q", "r")),
    )
)


@pytest.mark.parametrize(
    ("item", "carried"),
    [
        (Monotone(increasing=["x"], decreasing=["n"]), True),
        (Robust(0.1, 0.5), True),
        (Robust({"x": (-0.1, 0.3)}, 0.5), True),
        (Robust({"x": (0.1, 0.3)}, 0.5), False),  # 0 is not in the range
        (Fair(["c"], 0.2), True),
        (Fair(["x"], 0.2, delta={"y": 0.1}), True),
        (Lipschitz(["x"], 2), True),
        (Convex(["x"]), False),
        (Concave(["x", "y"]), False),
        (Symmetric(["x", "y"]), False),  # two features coupled
        (Dominates("x", "y"), False),
        (Custom(when=["a.x >= b.x"], then=["a.out - b.out >= 0.1 * a.x - 0.1 * b.x"]), False),  # lower slope bound
        (Custom(then=["a.out <= 2 * a.x"], copies=1), False),  # functional row
        (Custom(then=["a.out <= 2 * a.b"], copies=1), True),  # b is never clamped
        (Custom(then=["a.out <= 3"], copies=1), True),
        (Custom(when=["a.x >= 0.5"], then=["a.out <= 3"], copies=1), True),
        (Custom(when=["a.x + a.y >= 0.5"], then=["a.out <= 3"], copies=1), False),
        (Custom(when=["a.x + a.b >= 0.5"], then=["a.out <= 3"], copies=1), False),
        (Custom(when=['a.c == "p"', 'b.c == "q"'], then=["a.out <= b.out"]), True),
        # supermodular: four copies, order and equality rows of one feature each
        (
            Custom(
                when=["a.x <= b.x", "a.x == c.x", "b.x == d.x", "a.y <= c.y", "a.y == b.y", "c.y == d.y"],
                then=["b.out + c.out <= a.out + d.out"],
                copies=4,
            ),
            True,
        ),
    ],
)
def test_table(item, carried):
    claims = item.lower(DOMAIN)
    assert all(clamping_carries(claim, DOMAIN) for claim in claims) is carried
    assert all_carried(claims, DOMAIN) is carried


def test_no_claims_are_carried():
    assert all_carried((), DOMAIN)


def test_safe_is_judged_by_its_rows():
    (claim,) = Safe(then=["a.out <= 3"]).lower(DOMAIN)
    assert clamping_carries(claim, DOMAIN)


@pytest.mark.parametrize("item", [Monotone(increasing=["x"]), Lipschitz(["x"], 2), Robust({"x": 0.25}, 0.5)])
def test_carried_claims_hold_outside(item):
    """f∘clamp with slope 2 in x satisfies all three inside, hence everywhere."""
    (claim,) = item.lower(Domain.box([0.0], [1.0], ["x"]))
    rng = np.random.default_rng(0)
    pairs = rng.uniform(-3, 4, size=(5000, 2))
    outputs = 2.0 * np.clip(pairs, 0.0, 1.0)

    def left(row, inputs, outs):
        return sum(float(t.coef) * (outs if t.kind == "out" else inputs)[:, t.copy] for t in row.terms)

    keep = np.ones(len(pairs), dtype=bool)
    for row in claim.when:
        keep &= left(row, pairs, outputs) <= float(row.rhs)
    assert keep.sum() > 100
    for row in claim.rows:
        assert (left(row, pairs, outputs)[keep] <= float(row.rhs) + 1e-12).all()
