"""A certificate as a person reads it: what holds, for which inputs, up to what, and what is taken for granted.

Every sentence is made from the rows of a claim (properties/wording.py). Where a row holds only up to some room for
rounding, the sentence is that of the row with its room: it says what was checked, not what was asked. What a user or a
file wrote beside a claim stands below it as a comment that nobody has checked.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from smilenn.certify.about import HEADING, About, Assumption
from smilenn.certify.verdicts import claim_words
from smilenn.domain import Domain, Feature
from smilenn.domain.cells import order_of, origin_of
from smilenn.domain.written import style_in
from smilenn.properties.alike import alike, names_of, told_apart
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.properties.values import values_note
from smilenn.properties.wording import beside, comment, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smilenn.certify.verdicts import Certificate


def statement(
    certificate: Certificate,
    outputs: Outputs | None = None,
    domain: Domain | None = None,
    assumed: Sequence[Assumption] | None = None,
) -> str:
    """The domain, every claim with its bound, what is assumed, and the certificate's name; one line each.

    `outputs`, `domain` and `assumed` take the place of the certificate's own (`About`).
    """
    if not certificate.report.claims:
        return f"Nothing is certified: {certificate.shortfall}."
    about: About = certificate.about
    outputs, domain = outputs or about.outputs, domain or about.domain
    lines = ["For all inputs of the domain, whatever the backbone does:"]
    for said, *more in _judged(certificate, outputs, domain):
        lines += [f"- {said}", *(f"  {line}" for line in more)]
    lines.append(f"The domain: {'; '.join(certificate.report.domain if domain is None else ranges(domain))}.")
    lines.append(f"Checked in exact arithmetic (certificate {certificate.sha256}{certificate.version_words}).")
    lines.append(HEADING)
    lines += [f"- {item.line}" for item in (about.assumed if assumed is None else assumed)]
    return "\n".join(lines)


def sentences(certificate: Certificate) -> tuple[str, ...]:
    """Every claim in words with the checker's word on it; nothing where nothing was checked."""
    if not certificate.report.claims:
        return ()
    return tuple(said for said, *_ in _judged(certificate, certificate.about.outputs, certificate.about.domain))


def _judged(certificate: Certificate, outputs: Outputs | None, domain: Domain | None) -> list[list[str]]:
    """The lines on each claim, the checker's word behind the first."""
    out = []
    for i, claim in enumerate(certificate.claims):
        said, *more = claim_lines(claim, outputs, domain, certificate.rooms[i])
        out.append([f"{said} [{claim_words(certificate.bounds[i], certificate.holds[i])}]", *more])
    return out


def ranges(domain: Domain) -> list[str]:
    """The features with their values, names in quotes: ``'income' in [2.0, 143.0]``, ``'race' one of 'a', 'b'``."""
    names = alike(names_of(None, None, domain))
    return [told_apart(f"{feature.name!r} {_range(feature)}", names) for feature in domain.features]


def _range(feature: Feature) -> str:
    """The values of one feature: ordered names with their places, dates with the day they are counted from."""
    if feature.categories:
        return f"one of {', '.join(map(repr, feature.values))}"
    if names := order_of(feature):
        return f"one of {' < '.join(map(repr, names))} (0 to {len(names) - 1})"
    if feature.kind == "binary":
        return "0 or 1"
    whole = " (whole numbers)" if feature.kind == "integer" else ""
    counted = "" if origin_of(feature) is None else f" {feature.unit}"
    counted = f" ({feature.unit})" if style_in(feature.unit) else counted
    return f"in [{feature.lo!r}, {feature.hi!r}]{whole}{counted}"


def claim_lines(
    claim: Claim, outputs: Outputs | None, domain: Domain | None, room: Fraction = Fraction(0)
) -> list[str]:
    """The claim's sentence, then what follows for probabilities, then a comment; the last two where there are any.

    `room` is what the rows were granted for rounding.
    """
    follows = beside(claim.with_room(room), outputs, domain)
    return [claim_sentence(claim, outputs, domain, room), *filter(None, (follows, comment(claim, outputs, domain)))]


def claim_sentence(claim: Claim, outputs: Outputs | None, domain: Domain | None, room: Fraction = Fraction(0)) -> str:
    """The sentence of the rows, with the user's own values of the text columns that the claim changes or compares.

    >>> from smilenn.domain import Feature
    >>> from smilenn.properties import Fair
    >>> domain = Domain((Feature("cat", "binary", categories=("no", "yes")), Feature("x")))
    >>> claim_sentence(Fair("cat", 1).lower(domain)[0], Outputs(target="cost", role="number"), domain)
    "Attribute-flip fairness: changing 'cat' alone changes the predicted 'cost' by at most 1. ('cat': 'no' or 'yes'.)"
    """
    note = "" if domain is None else values_note(claim, domain)
    sentence = say(claim.with_room(room), outputs, domain)
    return f"{sentence} ({note}.)" if note else sentence
