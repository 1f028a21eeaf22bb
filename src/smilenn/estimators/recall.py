"""What a saved model may say of itself when it is loaded: what the checker accepts now, and nothing else.

    certificate accepted        proved, by this check
    certificate, larger bound   unknown: that bound
    a counterexample was noted  violated, if the model still breaks the claim there
    anything else               unknown, with the reason

verdict.json is a note: whoever writes to the folder can write it too.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smilenn.certify.network import found_certificate
from smilenn.certify.stated import first_digest
from smilenn.certify.verdicts import Certificate
from smilenn.certify.verdicts import verdict as checked_verdict
from smilenn.errors import AlteredError
from smilenn.estimators.judgement import Judgement, certified_part, unjudged
from smilenn.model.bundle import certified_tensors
from smilenn.problem import digest
from smilenn.provers.realise import replay
from smilenn.reason import Reason, because
from smilenn.verdict import Unknown, Verdict, Violated

if TYPE_CHECKING:
    from smilenn.estimators.base import SmileEstimator


def recall(folder: Path, estimator: SmileEstimator, noted: Verdict, certificate: bool) -> Judgement:
    """The judgement on a model just loaded from `folder`; `noted` is what verdict.json says."""
    net, claims = estimator.net_, estimator.claims_
    about = {"weights": net.snapshot().digest, "claims": tuple(digest(claim, net.domain) for claim in claims)}
    if not claims:
        return unjudged(None, ())
    found = found_certificate(folder, net) if certificate else because(Reason.NO_CERTIFICATE)
    known = found if isinstance(found, Certificate) else None
    if known is not None and known.claims == claims:
        known = replace(known, claims=claims)  # the same rows, with the comments that properties.json has
    if known is not None and known.report.version == 1:  # checked under its own digest; named by the present one
        if known.model != first_digest(net.describe(), certified_tensors(net)):
            raise AlteredError(f"{str(folder)!r} was changed while it was read; load it again.")
        known = replace(known, model=certified_part(net, estimator.table()))
    stored = noted.counterexample if isinstance(noted, Violated) else None
    example = None if stored is None else replay(stored, claims, net.domain, net.outputs, net.predict)
    if example is not None:
        bound = float("inf") if known is None else known.bound
        verdict: Verdict = Violated(noted.method, bound, noted.seconds, counterexample=example, **about)
        return Judgement(verdict, known, () if known is None else known.why)
    if not isinstance(found, Certificate) or known is None:
        why = () if isinstance(found, Certificate) else found
        return Judgement(Unknown(why=why, **about), None, why)
    if known.accepted:
        return Judgement(replace(checked_verdict(known), seconds=noted.seconds, **about), known)
    why = noted.why if isinstance(noted, Unknown) and noted.why else known.why
    return Judgement(Unknown(checked_verdict(known).method, known.bound, noted.seconds, why, **about), known, why)
