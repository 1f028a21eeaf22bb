"""What an estimator says of its properties: ``verdict_``, ``certificate_``, ``violation_bound_``, and `certify`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import NotFittedError

from smilenn.certify.about import About, assumptions
from smilenn.certify.verdicts import Certificate
from smilenn.deadline import NEVER, Deadline
from smilenn.estimators.example import example_frame
from smilenn.estimators.judgement import Judgement, bound, current, judge, unjudged
from smilenn.model.bundle import has_pinned
from smilenn.model.whole import whole_digest
from smilenn.progress import Progress
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.provers.model import prove
from smilenn.provers.tree.tree import Trees
from smilenn.reason import Reason, because, has, sentence
from smilenn.verdict import Unknown, Verdict, Violated

if TYPE_CHECKING:
    import pandas as pd

    from smilenn.domain import Domain
    from smilenn.model.fitted_backbone import FittedBackbone
    from smilenn.model.net import SmileNet
    from smilenn.report.standing import Standing

LEAST_SECONDS = 1.0  # for the certificate, however little training has left
FINISH = 3.0  # seconds beyond a time limit in which a certificate may still be written and checked
AFTER_CTRL_C = 10.0  # seconds for the certificate of a training that was interrupted


class VerdictMixin(ABC):
    """Base of the estimators: the judgement on a fitted network, and how it is made.

    The judgement is compared with the network whenever it is asked for: after an edit of the certified weights nothing
    that was proved of the old ones is repeated.
    """

    certify_limit: float
    net_: SmileNet
    domain_: Domain
    claims_: tuple[Claim, ...]
    outputs_: Outputs
    seconds_: float
    interrupted_: bool
    _judgement: Judgement
    _said: Any

    @property
    def verdict_(self) -> Verdict:
        """What is known of the properties: `Proved` (certified), `Violated` or `Unknown` with the checked bound.

        It is about the network as it was judged; a network that was changed since is `Unknown`. Assigning a verdict
        of `smilenn.prove` drops the certificate.
        """
        return self._judged().verdict

    @verdict_.setter
    def verdict_(self, verdict: Verdict) -> None:
        self._conclude_with(Judgement(verdict, None, because(Reason.SET_FROM_OUTSIDE)))

    @property
    def certificate_(self) -> Certificate | None:
        """The certificate with its files, the checker's report and `statement`; None without one.

        A certificate that the checker did not accept is here too, if it proves a bound: read `certificate_.accepted`.
        """
        return self._judged().certificate

    @property
    def certificate_note_(self) -> str:
        """Why there is no accepted certificate, one sentence; empty where there is one."""
        note = sentence(self._judged().why)
        return f"{note[0].upper()}{note[1:]}." if note else ""

    @property
    def quality_(self) -> Standing | None:
        """How well the network predicts, as measured at the end of training; None where that was not kept.

        It is about all weights, the backbone's too, which no certificate covers: of a network that was changed since,
        or an estimator in it that has learned since, it is None.
        """
        self._check_fitted()
        found: Standing | None = vars(self).get("_quality")  # pickles of older versions have none
        if found is None or found.weights != whole_digest(self.net_):
            return None
        backbone = self._estimator()
        return found if backbone is None or backbone.still_says(self._said) else None

    @quality_.setter
    def quality_(self, found: Standing | None) -> None:
        if found is not None and not found.weights:
            found = replace(found, weights=whole_digest(self.net_))
        backbone = self._estimator()
        self._quality, self._said = found, None if backbone is None or found is None else backbone.sample()

    @property
    def backbone_(self) -> Any:
        """The fitted estimator inside the box, where an estimator is the backbone; None otherwise.

        No model folder has it: keep it, and hand it to `smilenn.load`.
        """
        self._check_fitted()
        backbone = self._estimator()
        return None if backbone is None else backbone.model

    def _estimator(self) -> FittedBackbone | None:
        """The backbone, where it is an estimator."""
        from smilenn.model.fitted_backbone import FittedBackbone

        return self.net_.backbone if isinstance(self.net_.backbone, FittedBackbone) else None

    @property
    def violation_bound_(self) -> float:
        """Checked bound on the violation, in output units: 0.0 or the stated rounding when certified; ∞ without one.

        If no certificate was asked for it is the prover's, as good as its floating-point arithmetic.
        """
        return self.verdict_.violation_bound

    def counterexample(self, verdict: Verdict | None = None) -> pd.DataFrame | None:
        """Inputs that break a property, as a data frame with the columns of the training data and the outputs.

        One row a copy of the network, ``a``, ``b``, …; None unless the verdict is `Violated`. `verdict` is one of
        `smilenn.prove` on this model; None takes ``verdict_``.
        """
        found = self.verdict_ if verdict is None else verdict
        if not isinstance(found, Violated) or found.counterexample is None:
            return None
        return example_frame(found.counterexample, self.domain_, self.outputs_)

    @abstractmethod
    def lower(self, properties: Sequence[Any]) -> tuple[Claim, ...]:
        """Properties as claims on the fitted domain and outputs."""

    @abstractmethod
    def table(self) -> dict[str, Any]:
        """How columns become inputs and what the outputs mean, JSON-ready; a certificate's digest covers it."""

    def _judged(self) -> Judgement:
        self._check_fitted()
        return current(self._judgement, self, self.net_, self.domain_, self.claims_, self.table())

    def _conclude(
        self,
        found: Verdict | None,
        show: Callable[[Progress], None] | None,
        left: float | None = None,
        trees: Trees | None = None,
    ) -> None:
        """Certify what training ended with, from its `trees` on, in the seconds `left`.

        After Ctrl-C what was found by then counts, as far as it was checked.
        """
        self._conclude_with(unjudged(found, because(Reason.CERTIFICATION_INTERRUPTED)))
        if _interrupted(found):
            self.interrupted_ = True
            return
        limit = min(self.certify_limit, AFTER_CTRL_C) if self.interrupted_ else self.certify_limit
        until = NEVER
        if left is not None:
            left = max(LEAST_SECONDS, left)
            limit, until = min(limit, left), Deadline.after(left + FINISH)
        try:
            judgement = judge(
                self.net_,
                self.claims_,
                found,
                time_limit=limit,
                until=until,
                callback=show,
                since=self.seconds_,
                trees=trees,
                table=self.table(),
            )
            self._conclude_with(judgement)
        except KeyboardInterrupt:
            self.interrupted_ = True
        certificate = self._judgement.certificate
        self.interrupted_ = self.interrupted_ or (certificate is not None and certificate.interrupted)

    def certify(
        self,
        *,
        prover: str = "auto",
        time_limit: float | None = None,
        callback: Callable[[Progress], None] | None = None,
    ) -> Verdict:
        """Search for a counterexample, prove and certify the network as it is now; sets and returns ``verdict_``.

        `time_limit` is seconds for both, the prover's at most half of them; the certificate has a second in any case.
        None takes twice ``certify_limit``. A network that was changed is evaluated in plain float64 from now on: a
        profile without rounding was made for the old weights. Its ``quality_``, measured on them, is None from now on.
        Ctrl-C is raised and leaves the judgement as it was.
        """
        if has(self._judged().why, Reason.CHANGED):
            self.net_.set_profile("f64-aux")
            self.quality_ = None  # it was measured on other weights
        limit = 2 * self.certify_limit if time_limit is None else time_limit
        begun, trees = perf_counter(), Trees()
        found = prove(self, prover=prover, time_limit=limit / 2, trees=trees) if self.claims_ else None
        if _interrupted(found):
            raise KeyboardInterrupt
        since = 0.0 if found is None else found.seconds
        left = max(LEAST_SECONDS, limit - (perf_counter() - begun)) if limit > 0 else 0.0
        judgement = judge(
            self.net_,
            self.claims_,
            found,
            time_limit=left,
            until=NEVER if time_limit is None else Deadline.after(left + FINISH),
            callback=callback,
            since=since,
            trees=trees,
            table=self.table(),
        )
        if judgement.certificate is not None and judgement.certificate.interrupted:
            raise KeyboardInterrupt
        self._conclude_with(judgement)
        return self.verdict_

    def _conclude_with(self, judgement: Judgement) -> None:
        """Take a judgement on the network as it is now; its statement names classes, target and values."""
        certificate = judgement.certificate
        if certificate is not None:
            about = About(self.outputs_, self.net_.domain, assumptions(pinned=has_pinned(self.net_)))
            judgement = replace(judgement, certificate=replace(certificate, about=about))
        self._judgement = bound(judgement, self, self.net_, self.domain_, self.claims_, self.table())

    def _check_fitted(self) -> None:
        if "net_" not in vars(self):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit first.")


def _interrupted(found: Verdict | None) -> bool:
    """Whether the prover was stopped by Ctrl-C, which it reports instead of raising."""
    return isinstance(found, Unknown) and found.because(Reason.INTERRUPTED)
