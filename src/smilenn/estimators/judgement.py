"""The last step of training: the prover's verdict, put before the checker.

    found (a prover's verdict) ─▶ certify within a time limit ─▶ Judgement: verdict, certificate, or why there is none

    checker accepts               proved:   "certified"
    checker checks a larger bound unknown:  that bound
    nothing was checked           unknown:  no bound, and a sentence why
    the model breaks the claim    violated: the counterexample stands, whatever was checked beside it

A prover's word alone is never passed on as proved, unless no certificate was asked for; it is then named as what it is.

A judgement is about the network it was made on. `bound` compares the two in full, by the digests that prover and
certificate name the network by, and puts a seal on it (model/seal.py). `current`, which every read of ``verdict_``
asks, compares the seal with the network as it is, and withdraws the judgement where they differ. So a read costs a
comparison of the certified part with a copy: nothing is serialised and nothing hashed.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smilenn.certify.verdicts import METHOD, Certificate
from smilenn.certify.verdicts import verdict as checked_verdict
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.progress import Progress
from smilenn.properties.claim import Claim
from smilenn.prove.tree.tree import Trees
from smilenn.verdict import Proved, Unknown, Verdict, Violated

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet
    from smilenn.model.seal import Seal

logger = logging.getLogger(__name__)

CHANGED = "the network was changed after it was judged; call certify() to judge it as it is now"
OTHER_CLAIMS = "the claims were changed after they were judged; call certify() to judge those of now"
NOT_ASKED = "no certificate was asked for (certify_time_limit is 0)"
NO_PROPERTY = "no property was asked for"
INTERRUPTED = "the certification was interrupted"


@dataclass(frozen=True, eq=False)
class Sealed:
    """What a judgement was made on: the network, the domain by which rows reach it, the table and the claims."""

    net: Seal
    domain: tuple[Any, ...]
    table: dict[str, Any] | None


@dataclass(frozen=True, eq=False)
class Judgement:
    """A verdict, the certificate that bears it (None without one) and, without an accepted one, the reason.

    `sealed` is what it was made on; a judgement on a network without it is withdrawn.
    """

    verdict: Verdict
    certificate: Certificate | None = None
    note: str = ""
    sealed: Sealed | None = None

    @property
    def binding(self) -> bool:
        """Whether it says anything of particular weights."""
        return (
            bool(self.verdict.weights) or self.certificate is not None or isinstance(self.verdict, (Proved, Violated))
        )


def unjudged(found: Verdict | None, note: str) -> Judgement:
    """What is to be said before, or without, a check: nothing is proved and no bound was checked."""
    return Judgement(Unknown(reason=NO_PROPERTY), None, NO_PROPERTY) if found is None else _concluded(found, None, note)


def judge(
    net: SmileNet,
    claims: Sequence[Claim],
    found: Verdict | None,
    *,
    time_limit: float,
    callback: Callable[[Progress], None] | None = None,
    since: float = 0.0,
    trees: Trees | None = None,
    table: Mapping[str, Any] | None = None,
) -> Judgement:
    """Certify the claims on `net` within `time_limit` seconds and conclude; 0 asks for no certificate.

    `found` is the prover's verdict on the same weights (None: there are no claims), `trees` what it was found with.
    Ctrl-C is let through; whatever else goes wrong in the search for a certificate costs the certificate, not the
    trained network.
    """
    if found is None:
        return unjudged(None, NO_PROPERTY)
    if reason := _unsteady(net):
        return _concluded(found, None, reason)
    if time_limit <= 0:
        return Judgement(found, None, NOT_ASKED)
    from smilenn.certify.certify import certify

    try:
        certificate = certify(
            net, claims, time_limit=time_limit, callback=callback, since=since, trees=trees, table=table
        )
    except SmileError as error:
        return _concluded(found, None, str(error).rstrip("."))
    except Exception as error:  # hours of training end here: a bug in the emission must not lose the model
        logger.exception("the certification failed")
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return _concluded(found, None, f"the certification failed by an error that should not happen ({what})")
    if not certificate.report.claims:
        return _concluded(found, None, certificate.shortfall)
    return _concluded(found, certificate, certificate.shortfall)


def _unsteady(net: SmileNet) -> str:
    """Why equal rows may get different bits from the encoder, which every proof takes for impossible; else empty."""
    from smilenn.model.selftest import unsteady

    try:
        return unsteady(net)
    except SmileError as error:
        return str(error).rstrip(".")


def _concluded(found: Verdict, certificate: Certificate | None, note: str) -> Judgement:
    """The table at the top of this file."""
    seconds = found.seconds + (certificate.seconds if certificate is not None else 0.0)
    bound = math.inf if certificate is None else certificate.bound
    if isinstance(found, Violated):
        return Judgement(replace(found, bound=bound, seconds=seconds), certificate, note)
    if certificate is not None and certificate.accepted:
        verdict = checked_verdict(certificate)
        return Judgement(replace(verdict, seconds=seconds, weights=found.weights, claims=found.claims), certificate)
    reason, point = note, None
    if isinstance(found, Proved):
        reason = f"{note}; {found.method} finds no violation in floating point"
    elif isinstance(found, Unknown):
        point = found.point
        if certificate is not None and found.reason:  # both searches failed, and the prover's says it best
            reason = found.reason
        elif math.isfinite(found.bound):
            reason = f"{note}; {found.method} bounds it by {found.violation_bound:.3g} in floating point"
    method = METHOD if certificate is not None else found.method
    verdict = Unknown(method, bound, seconds, reason, point, weights=found.weights, claims=found.claims)
    return Judgement(verdict, certificate, note)


def bound(judgement: Judgement, net: SmileNet, domain: Domain, table: dict[str, Any] | None) -> Judgement:
    """The judgement with a seal on `net` and its table as they are now, if it is about these; else without one.

    The seal is taken first: whatever changes while the digests are computed, the next read notices.
    """
    from smilenn.model.seal import frame, seal

    taken = seal(net) if judgement.binding and domain == net.domain else None
    if taken is None or not _about(judgement, net, table):
        return replace(judgement, sealed=None)
    return replace(judgement, sealed=Sealed(taken, frame(domain), table))


def _about(judgement: Judgement, net: SmileNet, table: Mapping[str, Any] | None) -> bool:
    """Whether verdict and certificate name `net` and `table` by their digests, and `net` is as it is described."""
    from smilenn.model.seal import is_as_described

    verdict, certificate = judgement.verdict, judgement.certificate
    try:
        if verdict.weights and verdict.weights != net.snapshot().digest:
            return False
        return certificate is None or (certificate.model == certified_part(net, table) and is_as_described(net))
    except SmileError:  # weights that are not finite, or a gap below zero
        return False


def current(
    judgement: Judgement, net: SmileNet, domain: Domain, claims: Sequence[Claim], table: dict[str, Any] | None
) -> Judgement:
    """The judgement if `net`, domain, table and claims are those it was made on; else that they were changed."""
    if judgement.binding and not _unchanged(judgement.sealed, net, domain, table):
        return Judgement(Unknown(reason=CHANGED), None, CHANGED)
    if judgement.certificate is not None and judgement.certificate.claims != tuple(claims):
        return Judgement(Unknown(reason=OTHER_CLAIMS), None, OTHER_CLAIMS)
    return judgement


def _unchanged(sealed: Sealed | None, net: SmileNet, domain: Domain, table: dict[str, Any] | None) -> bool:
    from smilenn.model.seal import frame, seal

    if sealed is None or sealed.table != table or sealed.domain != frame(domain):
        return False
    taken = seal(net)
    return taken is not None and taken.matches(sealed.net)


def certified_part(net: SmileNet, table: Mapping[str, Any] | None) -> str:
    """The digest by which a certificate names the network's certified part and its table."""
    from smilenn.certify.certificate import model_digest
    from smilenn.model.bundle import certified_tensors

    return model_digest(net.describe(), certified_tensors(net), table)
