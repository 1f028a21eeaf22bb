"""Numbers of a table as the network reads them: a cell that says 0.1 becomes the float32 0.10000000149….

    lo ↦ min(lo, fl(lo))        hi ↦ max(hi, fl(hi))        x ≤ t ↦ x ≤ max(t, fl(t))        fl: the network's type

Without this the row at the end of a domain that was learned from a table would not be in the domain that is audited,
and "whenever x is at most 0.3" would leave out the very cell 0.3. Moving ends outward only adds inputs. Whole numbers
beyond 2²⁴ are rounded by float32 too: 16777219 is read as 16777220.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from smilenn.auditing.network import Dtype
from smilenn.domain import Domain
from smilenn.properties.claim import Claim, Inequality, row

NUMBERS = ("continuous", "integer")
ROUNDED = 2**24  # whole numbers from which on float32 rounds


def as_read(value: Fraction, dtype: Dtype) -> Fraction:
    """The number that the network gets for a cell that says `value`; a number beyond all cells is itself."""
    with np.errstate(over="ignore"):
        near = float(np.dtype(dtype).type(float(value)))
    return Fraction(near) if np.isfinite(near) else value


def domain_as_read(domain: Domain, dtype: Dtype) -> Domain:
    """The domain with both ends of every number as cells."""
    return Domain(
        tuple(
            replace(
                feature,
                lo=float(min(Fraction(feature.lo), as_read(Fraction(feature.lo), dtype))),
                hi=float(max(Fraction(feature.hi), as_read(Fraction(feature.hi), dtype))),
            )
            if feature.kind in NUMBERS
            else feature
            for feature in domain.features
        )
    )


def claim_as_read(claim: Claim, domain: Domain, dtype: Dtype) -> Claim:
    """The claim with every threshold of a number such that its cell satisfies it."""
    return replace(claim, when=tuple(_row_as_read(inequality, domain, dtype) for inequality in claim.when))


def _row_as_read(inequality: Inequality, domain: Domain, dtype: Dtype) -> Inequality:
    merged = row([(t.coef, t.copy, t.kind, t.name) for t in inequality.terms], inequality.rhs, inequality.op)
    if len(merged.terms) != 1:
        return inequality
    (term,) = merged.terms
    (place, *more) = domain.indices(term.name)
    end = merged.rhs / term.coef
    if more or (domain.integral[place] and abs(end) < ROUNDED):  # a small whole number is read as it is
        return inequality
    near = as_read(end, dtype)
    if merged.op == "<=":
        near = min(end, near) if term.coef < 0 else max(end, near)
    return inequality if near == end else replace(merged, rhs=term.coef * near)
