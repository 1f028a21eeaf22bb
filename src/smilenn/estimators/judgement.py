"""The last step of training: the prover's verdict, put before the checker.

    found (a prover's verdict) ─▶ certify within a time limit ─▶ Judgement: verdict, certificate, or why there is none

    checker accepts               proved:   "certified"
    checker checks a larger bound unknown:  that bound
    nothing was checked           unknown:  no bound, and a sentence why
    the model breaks the claim    violated: the counterexample stands, whatever was checked beside it

A prover's word alone is never passed on as proved, unless no certificate was asked for; it is then named as what it is.

A judgement is about the network it was made on. `bound` compares the two in full, by the digests that prover and
certificate name network and claims by, and puts a seal on them (model/seal.py). `current`, which every read of
``verdict_`` asks, compares the seal with network and claims as they are, and withdraws the judgement where they differ.
So a read costs a comparison of the certified part and the claims with copies: nothing is serialised and nothing hashed.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smilenn.certify.verdicts import METHOD, Certificate
from smilenn.certify.verdicts import verdict as checked_verdict
from smilenn.deadline import NEVER, Deadline, Late
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.problem import digest
from smilenn.progress import Progress
from smilenn.properties.claim import Claim, plain
from smilenn.provers.tree.tree import Trees
from smilenn.reason import Reason, Whys, because, has, told
from smilenn.verdict import Proved, Unknown, Verdict, Violated

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet
    from smilenn.model.seal import Seal

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Sealed:
    """What a judgement was made on: network, domain, claims, table, and the class of the estimator that says it.

    `claims` are copies: a claim is frozen, but whoever wants to can write to it all the same.
    """

    net: Seal
    domain: tuple[Any, ...]
    claims: tuple[Claim, ...]
    table: dict[str, Any] | None
    owner: type


@dataclass(frozen=True, eq=False)
class Judgement:
    """A verdict, the certificate that bears it (None without one) and, without an accepted one, the reason.

    `sealed` is what it was made on; a judgement on a network without it is withdrawn.
    """

    verdict: Verdict
    certificate: Certificate | None = None
    why: Whys = ()
    sealed: Sealed | None = None

    @property
    def binding(self) -> bool:
        """Whether it says anything of particular weights."""
        return (
            bool(self.verdict.weights) or self.certificate is not None or isinstance(self.verdict, (Proved, Violated))
        )


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
    until: Deadline = NEVER,
    callback: Callable[[Progress], None] | None = None,
    since: float = 0.0,
    trees: Trees | None = None,
    table: Mapping[str, Any] | None = None,
) -> Judgement:
    """Certify the claims on `net` within `time_limit` seconds and conclude; 0 asks for no certificate.

    A certificate that is not written and checked by `until` is given up: that is the reason then why there is none.
    `found` is the prover's verdict on the same weights (None: there are no claims), `trees` what it was found with.
    Ctrl-C is let through; whatever else goes wrong in the search for a certificate costs the certificate, not the
    trained network.
    """
    if found is None:
        return unjudged(None, ())
    if unfit := _unfit(net):
        return _concluded(found, None, told(unfit))
    if time_limit <= 0:
        return Judgement(found, None, because(Reason.NOT_ASKED))
    from smilenn.certify.certify import certify

    try:
        certificate = certify(
            net, claims, time_limit=time_limit, until=until, callback=callback, since=since, trees=trees, table=table
        )
    except Late:
        return _concluded(found, None, because(Reason.LATE, rows_of(claims)))
    except SmileError as error:
        return _concluded(found, None, told(str(error).rstrip(".")))
    except Exception as error:  # hours of training end here: a bug in the emission must not lose the model
        logger.exception("the certification failed")
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return _concluded(found, None, because(Reason.FAILED, what))
    return _concluded(found, certificate if certificate.report.claims else None, certificate.why)


def rows_of(claims: Sequence[Claim]) -> str:
    """How many inequalities the claims are, in words."""
    count = sum(len(claim.then) for claim in claims) + sum(len(claim.either) for claim in claims)
    return "one inequality" if count == 1 else f"{count:,} inequalities"


def _unfit(net: SmileNet) -> str:
    """Why no proof can cover the network: code of the user's own, or an encoder that gives equal rows other bits."""
    from smilenn.model.seal import foreign_part
    from smilenn.model.selftest import batch_dependent

    try:
        return foreign_part(net) or batch_dependent(net)
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


def bound(
    judgement: Judgement,
    owner: object,
    net: SmileNet,
    domain: Domain,
    claims: Sequence[Claim],
    table: dict[str, Any] | None,
) -> Judgement:
    """The judgement with a seal on `net`, claims and table as they are now, if it is about these; else without one.

    `owner` is the estimator that will say it. The seal is taken first: whatever changes while the digests are computed,
    the next read notices.
    """
    from smilenn.model.seal import frame, seal

    taken = seal(net) if judgement.binding and domain == net.domain else None
    copies = tuple(map(plain, claims))
    if taken is None or not _about(judgement, net, copies, table):
        return replace(judgement, sealed=None)
    return replace(judgement, sealed=Sealed(taken, frame(domain), copies, table, type(owner)))


def _about(judgement: Judgement, net: SmileNet, claims: tuple[Claim, ...], table: Mapping[str, Any] | None) -> bool:
    """Whether verdict and certificate name `net`, `claims` and `table`, and `net` is as it is described.

    Without a certificate the verdict alone says what it is about, and may not name a certificate.
    """
    from smilenn.model.seal import is_as_described

    verdict, certificate = judgement.verdict, judgement.certificate
    try:
        if not _named(verdict, certificate is None, net, claims):
            return False
        if certificate is None:
            return not (isinstance(verdict, Proved) and verdict.certificate)
        same = certificate.claims == claims and certificate.model == certified_part(net, table)
        return same and is_as_described(net)
    except SmileError:  # weights that are not finite, or a gap below zero
        return False


def _named(verdict: Verdict, alone: bool, net: SmileNet, claims: tuple[Claim, ...]) -> bool:
    """Whether the digests of a verdict are those of `net` and `claims`; `alone` a proof or a violation has both."""
    needed = alone and isinstance(verdict, (Proved, Violated))
    if (needed or verdict.weights) and verdict.weights != net.snapshot().digest:
        return False
    return not (needed or verdict.claims) or verdict.claims == tuple(digest(claim, net.domain) for claim in claims)


def current(
    judgement: Judgement,
    owner: object,
    net: SmileNet,
    domain: Domain,
    claims: Sequence[Claim],
    table: dict[str, Any] | None,
) -> Judgement:
    """The judgement if `net`, domain, table and claims are those it was made on; else that they were changed."""
    sealed, certificate = judgement.sealed, judgement.certificate
    if not judgement.binding:
        return judgement
    if sealed is None and has(judgement.why, Reason.SET_FROM_OUTSIDE):
        return withdrawn(Reason.SET_ABOUT_OTHERS)
    if not _unchanged(sealed, owner, net, domain, table):
        return withdrawn(Reason.CHANGED)
    stated = tuple(claims)
    if sealed is None or sealed.claims != stated or (certificate is not None and certificate.claims != stated):
        return withdrawn(Reason.OTHER_CLAIMS)
    return judgement


def _unchanged(
    sealed: Sealed | None, owner: object, net: SmileNet, domain: Domain, table: dict[str, Any] | None
) -> bool:
    from smilenn.model.seal import frame, reworked, seal

    if sealed is None or sealed.table != table or sealed.domain != frame(domain):
        return False
    if sealed.owner is not type(owner) or reworked(owner):
        return False
    taken = seal(net)
    return taken is not None and taken.matches(sealed.net)


def certified_part(net: SmileNet, table: Mapping[str, Any] | None) -> str:
    """The digest by which a certificate names the network's certified part and its table."""
    from smilenn.certify.certificate import model_digest
    from smilenn.model.bundle import certified_tensors

    return model_digest(net.describe(), certified_tensors(net), table)
