"""How far an exported model may lie from the model itself, by the checker's bound on rounding.

    |computed − real| ≤ E_o                 for output o, float64, sums in whatever order (certify/check.py, section 5)
    |graph − predict| ≤ |graph − real| + |real − predict| ≤ 2·E_o

Where the graph does the library's operations in the library's order, or none of them rounds, both have the same bits
and E_o plays no part. A backbone inside a box computes in its own type; the certificate bounds its box, not its values,
so that no margin can be stated.
"""

from __future__ import annotations

import json
import math

from smilenn.certify import check
from smilenn.model.bundle import dump_weights
from smilenn.model.folder import dump_json
from smilenn.model.net import SmileNet
from smilenn.rounding import round_up

NONE = "none is stated: a backbone inside its box computes in its own type"


def is_exact(net: SmileNet) -> bool:
    """Whether every operation on the way to the outputs is emitted so that its bits are the library's."""
    return net.collapsed and net.profile in ("fixed-order", "dyadic")


def margins(net: SmileNet) -> tuple[float, ...] | None:
    """For every output how far a float64 evaluation may lie from the real function; None where a backbone takes part.

    All zero where the exported bits are the library's.
    """
    if is_exact(net):
        return (0.0,) * len(net.outputs)
    if not net.collapsed:
        return None
    described = check.parse(dump_json({"net": net.describe()}), "model.json")
    found = check.Net(described, check.Weights(dump_weights(net)))
    return tuple(round_up(error) for error in found.rounding)


def largest_difference(found: tuple[float, ...] | None) -> float:
    """How far the outputs of both may lie apart."""
    return math.inf if found is None else 2 * max(found)


def noted(found: tuple[float, ...] | None) -> str:
    """The margins as the file's metadata keep them: a list of numbers, one an output, or why there is none."""
    return NONE if found is None else json.dumps(list(found))
