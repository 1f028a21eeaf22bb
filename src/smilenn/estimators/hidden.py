"""Rules that a fitted model's encoder puts out of reach of every prover, said before any search.

Provers see an encoder as a map of spreads: how far two inputs may be apart on its far side. A conclusion that holds the
output against an input itself (``a.out - b.out <= 2 * (a.x - b.x)``, ``a.out >= a.x``) needs that input on the far side
too, unchanged; only branches without layers bring it there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from smilenn.errors import SmileError, listed
from smilenn.properties.claim import Claim, Inequality

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet


def refuse_hidden(claims: Iterable[Claim], net: SmileNet) -> None:
    """Raise where a conclusion names an input that the network's encoder hides; say what can be proved instead."""
    named = {term.name for claim in claims for row in _conclusion(claim) for term in row.terms if term.kind == "in"}
    if not named or net.encoder is None:  # a snapshot takes its time
        return
    snapshot = net.snapshot()
    space, encoding = snapshot.domain, snapshot.encoding
    assert encoding is not None
    passed = {space.coordinates[i] for i in np.flatnonzero(~encoding.encoded)}
    passed |= {name for name in space.slices if not encoding.encoded[list(space.indices(name))].any()}
    hidden = sorted(named - passed)
    if hidden:
        raise SmileError(
            f"This model's encoder hides {listed(hidden)}, so a rule that holds the output against that column itself "
            "(Lipschitz, or a claim such as a.out >= a.x) cannot be proved of it. Rules that compare outputs alone can "
            "be: Monotone, Fair, Robust, Convex, Bounded. For this rule fit anew, with the rule among the properties "
            "or with network=Network(encoder='none')."
        )


def _conclusion(claim: Claim) -> list[Inequality]:
    return [*claim.then, *(row for clause in claim.either for row in clause)]
