"""The last step of training: the prover's verdict, put before the checker.

    found (a prover's verdict) ─▶ certify within a time limit ─▶ Judgement: verdict, certificate, or why there is none

    checker accepts               proved:   "certified"
    checker checks a larger bound unknown:  that bound
    nothing was checked           unknown:  no bound, and a sentence why
    the model breaks the claim    violated: the counterexample stands, whatever was checked beside it

A prover's word alone is never passed on as proved, unless no certificate was asked for; it is then named as what it is.
A judgement speaks of the network it was made on: `current` withdraws it where the certified part was changed since.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smilenn.certify.verdicts import METHOD, Certificate
from smilenn.certify.verdicts import verdict as checked_verdict
from smilenn.errors import SmileError
from smilenn.progress import Progress
from smilenn.properties.claim import Claim
from smilenn.prove.tree.tree import Trees
from smilenn.reason import Reason, Whys, because, told
from smilenn.verdict import Proved, Unknown, Verdict, Violated

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Judgement:
    """A verdict, the certificate that bears it (None without one) and, without an accepted one, the reason."""

    verdict: Verdict
    certificate: Certificate | None = None
    why: Whys = ()


def unjudged(found: Verdict | None, why: Whys) -> Judgement:
    """What is to be said before, or without, a check: nothing is proved and no bound was checked."""
    return withdrawn(Reason.NO_PROPERTY) if found is None else _concluded(found, None, why)


def withdrawn(reason: Reason) -> Judgement:
    """Nothing is known, for this reason."""
    return Judgement(Unknown(why=because(reason)), None, because(reason))


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
        return unjudged(None, ())
    if unsteady := _unsteady(net):
        return _concluded(found, None, told(unsteady))
    if time_limit <= 0:
        return Judgement(found, None, because(Reason.NOT_ASKED))
    from smilenn.certify.certify import certify

    try:
        certificate = certify(
            net, claims, time_limit=time_limit, callback=callback, since=since, trees=trees, table=table
        )
    except SmileError as error:
        return _concluded(found, None, told(str(error).rstrip(".")))
    except Exception as error:  # hours of training end here: a bug in the emission must not lose the model
        logger.exception("the certification failed")
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return _concluded(found, None, because(Reason.FAILED, what))
    return _concluded(found, certificate if certificate.report.claims else None, certificate.why)


def _unsteady(net: SmileNet) -> str:
    """Why equal rows may get different bits from the encoder, which every proof takes for impossible; else empty."""
    from smilenn.model.selftest import unsteady

    try:
        return unsteady(net)
    except SmileError as error:
        return str(error).rstrip(".")


def _concluded(found: Verdict, certificate: Certificate | None, why: Whys) -> Judgement:
    """The table at the top of this file."""
    seconds = found.seconds + (certificate.seconds if certificate is not None else 0.0)
    bound = math.inf if certificate is None else certificate.bound
    if isinstance(found, Violated):
        return Judgement(replace(found, bound=bound, seconds=seconds), certificate, why)
    if certificate is not None and certificate.accepted:
        verdict = checked_verdict(certificate)
        return Judgement(replace(verdict, seconds=seconds, weights=found.weights, claims=found.claims), certificate)
    method = METHOD if certificate is not None else found.method
    point = found.point if isinstance(found, Unknown) else None
    whole = _with_floats(found, certificate is not None, why)
    verdict = Unknown(method, bound, seconds, whole, point, weights=found.weights, claims=found.claims)
    return Judgement(verdict, certificate, why)


def _with_floats(found: Verdict, checked: bool, why: Whys) -> Whys:
    """Why there is no certificate, and what the prover has to say beside it."""
    if isinstance(found, Proved):
        return (*why, *because(Reason.FLOATS_PROVE, found.method))
    if checked and isinstance(found, Unknown) and found.why:  # both searches failed, and the prover's says it best
        return found.why
    if math.isfinite(found.bound):
        return (*why, *because(Reason.FLOATS_BOUND, found.method, f"{found.violation_bound:.3g}"))
    return why


def current(
    judgement: Judgement, net: SmileNet, claims: Sequence[Claim], table: Mapping[str, Any] | None = None
) -> Judgement:
    """The judgement if it speaks of `net`, its table and the claims as they are now; else that it does not."""
    verdict, certificate = judgement.verdict, judgement.certificate
    try:
        changed = net.hooked or (bool(verdict.weights) and verdict.weights != net.snapshot().digest)
        changed = changed or (certificate is not None and certificate.model != certified_part(net, table))
    except SmileError:  # weights that are not finite, or a gap below zero
        changed = True
    if changed:
        return withdrawn(Reason.CHANGED)
    if certificate is not None and certificate.claims != tuple(claims):
        return withdrawn(Reason.OTHER_CLAIMS)
    return judgement


def certified_part(net: SmileNet, table: Mapping[str, Any] | None) -> str:
    """The digest by which a certificate names the network's certified part and its table."""
    from smilenn.certify.certificate import model_digest
    from smilenn.model.bundle import certified_tensors

    return model_digest(net.describe(), certified_tensors(net), table)
