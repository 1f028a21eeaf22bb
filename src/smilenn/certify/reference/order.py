"""The order rule, exact: docs/certificate.md, section 4.4.

    y rises if it is certainly not smaller at x_1 than at x_2, falls if it is certainly not larger
    Σ w_i·y_i + b rises if every i has w_i = 0, or y_i rises and w_i > 0, or y_i falls and w_i < 0, or y_i does both

What does both is the same number in both copies. Rounding to nearest is non-decreasing, and the same in both copies,
so that this carries over from each operation to the next if sums are evaluated in one order: the floats that the
network returns are ordered, and the row needs no margin. For the reference checker only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from smilenn.certify.reference.model import ZERO, Model, Psi, zero_gap
from smilenn.certify.reference.premise import Premise, directions
from smilenn.certify.reference.strict import Refused

Way = tuple[bool, bool]
"""Whether a quantity rises, and whether it falls."""


def order_rule(model: Model, premise: Premise, psi: Psi) -> Fraction:
    """The bound 0, which is the margin too, if every output moves as the row needs it."""
    net = model.net
    if net.profile != "fixed-order":
        raise Refused("The order rule is for networks of the profile 'fixed-order'.")
    if premise.copies != 2 or psi.rhs < 0:
        raise Refused("The order rule is for two copies and a right side that is not negative.")
    if any(x != -y for x, y in zip(*psi.a, strict=True)) or any(v for copy in psi.b for v in copy):
        raise Refused("The order rule needs opposite coefficients of the two copies' outputs, and no inputs.")
    if not zero_gap(net):
        raise Refused("The order rule needs boxes of zero width.")
    signs = directions(premise, "order")
    inputs = [(signs.get(i, 1) > 0, signs.get(i, -1) < 0) for i in range(len(premise.pinned))]  # pinned ones do both
    units = [_way(weights, inputs) for weights in net.tensors.get("lower.weight", ())]
    lower = []
    for i in range(net.embedding):
        slope, out = (net.tensors[name][i] if name in net.tensors else () for name in ("lower.slope", "lower.out"))
        lower.append(_way((*slope, *out), [*(inputs if slope else ()), *units]))
    for a, weights in zip(psi.a[0], net.tensors["head_weight"], strict=True):
        rises, falls = _way(weights, lower)
        if (a > 0 and not falls) or (a < 0 and not rises):
            raise Refused("The signs of the weights do not show that the outputs move as a row needs it.")
    return ZERO


def _way(weights: Sequence[Fraction], terms: Sequence[Way]) -> Way:
    """What Σ w_i·y_i + b does, given what the y_i do."""

    def rises(side: int) -> bool:
        return all(w == 0 or (up if side * w > 0 else down) for w, (up, down) in zip(weights, terms, strict=True))

    return rises(1), rises(-1)
