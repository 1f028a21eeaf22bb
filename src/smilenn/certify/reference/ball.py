"""The ball rule, exact: docs/certificate.md, section 4.6.

    Σ_c ψ_c = const + q·(e_1 − e_2) ≤ const + Σ over branches of ‖q·S‖₂ + R·‖q‖₂      (Cauchy and Schwarz)

For the reference checker only.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from smilenn.certify.reference.contract import length
from smilenn.certify.reference.model import ZERO, Model, Psi
from smilenn.certify.reference.premise import Premise
from smilenn.certify.reference.strict import Refused


def ball_rule(model: Model, premise: Premise, psi: Psi) -> Fraction:
    """A bound on the row's left side."""
    net = model.net
    if premise.copies != 2 or net.boxes != "gap" or model.bias or net.profile == "dyadic":
        raise Refused("The ball rule is for two copies of a network without hidden units, its inputs not moved.")
    first, second = psi.q
    if any(a + b for a, b in zip(first, second, strict=True)):
        raise Refused("The ball rule is for differences.")
    inside = {i for part in premise.parts for i in part.places}
    rest = [i for i in range(len(first)) if i not in inside and i not in premise.ball]
    bound = psi.const + length([first[i] * delta for i, delta in premise.ball.items()]) + _strips(premise, first, rest)
    for part in premise.parts:
        coefficients, by_strips = [first[i] for i in part.places], _strips(premise, first, part.places)
        if part.reach.rest is None:
            bound += by_strips
            continue
        by_norm = length([q * axis for q, axis in zip(coefficients, part.reach.axes, strict=True)])
        bound += min(by_strips, by_norm + part.reach.rest * length(coefficients))
    return bound


# Σ max(q_i·δ_lo,i, q_i·δ_hi,i)
def _strips(premise: Premise, q: list[Fraction], places: Iterable[int]) -> Fraction:
    return sum((q[i] * (premise.strip_hi[i] if q[i] > 0 else premise.strip_lo[i]) for i in places), ZERO)
