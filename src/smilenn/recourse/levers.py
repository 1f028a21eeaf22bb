"""Which moves of which features are certified to help.

A certified claim of the meaning `Rises` bounds, for all a, b of the domain with `up` raised or lowered features `down`
lowered from a to b and the rest equal,

    g(a) − g(b) ≤ B

B as the checker has it: 0 where the floats themselves are in order, else what rounding may take. A claim may hold only
where some numbers are known (`where`). Read backwards it says the same of −g and the opposite moves. Moves of several
claims follow each other, a → a' → b, and lose ΣB at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from smilenn.certify.verdicts import Certificate
from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.claim import Inequality
from smilenn.properties.forms import Outputs
from smilenn.properties.known import unsaid
from smilenn.properties.meaning import Linear, Rises
from smilenn.properties.recognise import meaning

Moves = Mapping[str, int]  # feature → 1 (raised) or −1 (lowered)
WAYS = {1: "up", -1: "down"}


@dataclass(frozen=True)
class Lever:
    """Moving these features their way, one or several of them, lowers `form` by at most `loss`, if `where` is known."""

    moves: frozenset[tuple[str, int]]
    form: Linear
    loss: Fraction
    strict: bool = True  # nothing but rounding is lost: the claim itself allows for no loss
    where: tuple[str, ...] = ()  # numbers that may be missing


def levers(certificate: Certificate | None, outputs: Outputs, domain: Domain) -> tuple[Lever, ...]:
    """All of them that the checker certified, both ways round."""
    if certificate is None or not certificate.report.claims:
        return ()
    found: list[Lever] = []
    for claim, report, holds in zip(certificate.claims, certificate.report.claims, certificate.holds, strict=True):
        means = meaning(claim, outputs, domain)
        if not holds or not isinstance(means, Rises):
            continue
        moves = {(name, 1) for name in means.up} | {(name, -1) for name in means.down}
        _, known = unsaid(claim, domain)
        back = frozenset((name, -way) for name, way in moves)
        for row, checked in zip(claim.rows, report.rows, strict=True):
            form, size = _form(row)
            loss, strict = max(Fraction(0), checked.bound + checked.margin) / size, not means.slack
            found.append(Lever(frozenset(moves), form, loss, strict, known))
            found.append(Lever(back, _minus(form), loss, strict, known))
    return tuple(found)


def _form(row: Inequality) -> tuple[Linear, Fraction]:
    """g of a row ``c·g(a) − c·g(b) ≤ r``, its first coefficient ±1, and c > 0."""
    terms = [term for term in row.terms if term.kind == "out" and term.copy == 0]
    size = abs(terms[0].coef)
    return tuple(sorted((term.coef / size, term.name) for term in terms)), size


def _minus(form: Linear) -> Linear:
    return tuple(sorted((-coef, name) for coef, name in form))


def loss_of(known: Sequence[Lever], form: Linear, moves: Moves) -> Fraction:
    """By how much these moves together may lower a form; a move that no claim covers is an error."""
    wanted, own = set(moves.items()), tuple(sorted(form))
    able = sorted((lever for lever in known if lever.form == own), key=lambda lever: lever.loss)
    total = Fraction(0)
    for lever in able:
        if wanted & lever.moves:
            total, wanted = total + lever.loss, wanted - lever.moves
    if wanted:
        _refuse(sorted(wanted), able)
    return total


def _refuse(wanted: Sequence[tuple[str, int]], able: Sequence[Lever]) -> None:
    name, way = wanted[0]
    proved = sorted({f"{feature} {WAYS[sign]}" for lever in able for feature, sign in lever.moves})
    known = f"certified are {listed(proved)}" if proved else "no direction is certified"
    raise SmileError(
        f"It is not certified that moving {name!r} {WAYS[way]} helps; {known}: state it when the model is fitted, as "
        f"in Monotone({'increasing' if way > 0 else 'decreasing'}=[{name!r}])."
    )
