"""Two networks against each other: how far f(x) and g(x) lie apart, x ranging over the domain.

Networks of equal widths with few inputs, where a limit is to be decided, are bounded unit by unit
(docs/audit-certificate.md §8): one proof by halving inputs for all rows. Otherwise

    h = (f, g)   one network with the weights of both, block by block        row:  ±(f_i(x) − g_i(x)) ≤ ε

A certificate is about h, one evaluation at x. It covers f and g computed each by itself: a weight 0 between them adds
nothing to any sum, and ε of a unit of h (docs/audit-certificate.md §4) is at least that of the unit in f or g.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from smilenn.auditing.audit import Audit, audit_rows, output_names
from smilenn.auditing.cells import domain_as_read
from smilenn.auditing.importing import check_names, read_network
from smilenn.auditing.lowering import rows_of
from smilenn.auditing.network import DeepNet
from smilenn.auditing.paired_audit import paired_audit, side_by_side
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.properties.claim import Claim, row
from smilenn.properties.rational import exact

FEW = 6  # inputs that are halved


def compare(
    first: Any,
    second: Any,
    domain: Domain,
    eps: Any,
    *,
    time_limit: float = 60.0,
    decide: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
) -> Audit:
    """Bracket how far two networks lie apart on a domain, output by output, and certify the brackets.

    `first` and `second` are given as in `audit`; they have the same number of layers, inputs and outputs, the same type
    and the same scaling. `eps` is what their outputs may differ by. With `decide`, networks of equal widths and up to
    six inputs are bounded jointly, which proves retrained networks equal that are too large otherwise.
    """
    limit = exact(eps)
    if limit < 0:
        raise SmileError(f"eps is {eps}; two networks differ by 0 or more.")
    nets = [read_network(model) for model in (first, second)]
    for model in (first, second):
        check_names(model, domain)
    both = joined(*nets)
    domain = domain_as_read(domain, both.dtype)
    own = output_names(nets[0], None)
    names = [f"{which} {name}".strip() for which in ("first", "second") for name in own]
    claims = [_apart(a, b, limit) for a, b in zip(names[: len(own)], names[len(own) :], strict=True)]
    rows = rows_of(claims, domain, both, names)
    if decide and nets[0].sizes == nets[1].sizes and domain.size <= FEW:
        return paired_audit((first, second), nets, rows, domain, own, time_limit, out, seed)
    return audit_rows((first, second), both, rows, domain, names, time_limit, decide=decide, out=out, seed=seed)


def joined(f: DeepNet, g: DeepNet) -> DeepNet:
    """h = (f, g); what keeps two networks from being one is an error."""
    for what, one, two in (
        ("inputs", f.sizes[0], g.sizes[0]),
        ("outputs", f.sizes[-1], g.sizes[-1]),
        ("layers", len(f.weights), len(g.weights)),
        ("type", f.dtype, g.dtype),
    ):
        if one != two:
            raise SmileError(f"The two networks do not match: their {what} are {one} and {two}.")
    same = len(f.scaling) == len(g.scaling) and all(
        a == b and np.array_equal(x, y) for (a, x), (b, y) in zip(f.scaling, g.scaling, strict=True)
    )
    if not same:
        raise SmileError("The two networks do not match: they scale their inputs differently.")
    return side_by_side(f, g)


def _apart(first: str, second: str, eps: Any) -> Claim:
    """|first − second| ≤ ε at one input."""
    return Claim(1, (), tuple(row([(s, 0, "out", first), (-s, 0, "out", second)], eps) for s in (1, -1)))
