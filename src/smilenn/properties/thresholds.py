"""Thresholds of single inputs, read as the cells of a table are.

    x ≥ 3/10   becomes   x ≥ fl(3/10),   since fl(3/10) < 3/10
    x ≤ 1/10   becomes   x ≤ fl(1/10),   since fl(1/10) > 1/10

fl is the nearest float64. A cell that reads 0.3 is the float fl(3/10), which lies below three tenths: "whenever 'rate'
is at least 0.3" would leave out the very cell 0.3. Moving a threshold outward only adds inputs, so what is then
certified is no less than what was written. No float equals 3/10, so ``x == 3/10`` means the cell too.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from smilenn.domain import Domain
from smilenn.properties.claim import LARGEST, Claim, Inequality, row


def on_cells(claim: Claim, domain: Domain) -> Claim:
    """The claim with every threshold of its premise such that the cell of that number satisfies it."""
    when = tuple(_reaching(inequality, domain) for inequality in claim.when)
    return claim if when == claim.when else replace(claim, when=when)


def _reaching(inequality: Inequality, domain: Domain) -> Inequality:
    merged = row([(t.coef, t.copy, t.kind, t.name) for t in inequality.terms], inequality.rhs, inequality.op)
    if len(merged.terms) != 1:
        return inequality
    (term,) = merged.terms
    (place, *more) = domain.indices(term.name)
    if more or domain.integral[place]:
        return inequality
    bound = merged.rhs / term.coef
    if reached(bound, term.coef < 0, merged.op == "=="):
        return inequality
    return replace(merged, rhs=term.coef * cell(bound))


def cell(bound: Fraction) -> Fraction:
    """The float64 nearest to a number: what a cell that reads so holds. Numbers beyond all cells are themselves."""
    return Fraction(float(bound)) if abs(bound) <= LARGEST else bound


def reached(bound: Fraction, lower: bool, equal: bool = False) -> bool:
    """Whether the cell of that number satisfies ``x ≥ bound`` (`lower`), ``x ≤ bound`` or ``x == bound``."""
    near = cell(bound)
    return near == bound if equal else near >= bound if lower else near <= bound
