"""Why a search stopped, or why a verdict is no better: an enumeration, and the sentence that a person reads.

Code compares members of `Reason` and never the sentence. ``{}`` in a sentence is filled by the details of a `Why`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from smilenn.errors import printable


class Reason(Enum):
    """What happened; the value is the sentence, or the part of one that a verdict puts in brackets."""

    # a search stopped before its end
    INTERRUPTED = "interrupted"
    TIME = "the time limit was reached"
    PATTERNS = "the time limit was reached after {} of {} patterns"
    NODES = "the tree reached its limit of {} nodes (memory is capped)"
    NO_SPLIT = "a cell cannot be split further"
    SLIVER = "a sliver of the domain may break the claim by less than the tolerance"
    BOUND_LEFT = "the bound stays above zero"
    INFEASIBLE = "the solver found no feasible point in a set that is not empty"
    UNBOUNDED_MODEL = "the solver reported an unbounded model, which it is not"
    SOLVER = "the solver failed"
    SOLVER_SAYS = "the solver failed ({})"
    REFUTED = "the bound {} of {} is refuted by a point with the value {}"
    REFUSED = "the rule does not apply: {}"

    # a search ended without a proof
    BOX = "the box allows a violation"
    BOX_UNUSED = "the box allows a violation, but the model was not found to use it"
    BOX_UNTRIED = "the box allows a violation; no model was given to evaluate it"
    BOX_OF_A_CASE = "the boxes allow a violation in one of the cases"
    SLOPES = "the proof by slopes stopped, {}"
    TOLERANCE = "the bound is above the tolerance"
    ROUNDING = "rounding and the solver's tolerances may hide {}; scale inputs and weights nearer to one"
    NEGATIVE_GAP = (
        "the gap of a flip-free box may be negative; its output weights must be ≥ 0 and its affine part ≥ 0 on X"
    )
    UNBOUNDED = (
        "{} is unbounded for all that floats can tell: {} goes up to {} in model units; give tighter bounds or smaller "
        "weights"
    )

    # a certificate was not accepted, or there is none
    PROOF_REFUSED = "the checker refused the proof ({})"
    PROOF_OPEN = "the proof leaves a violation open"
    LARGER_BOUND = "the certificate proves this bound and no less"
    FLOATS_PROVE = "{} finds no violation in floating point"
    FLOATS_BOUND = "{} bounds it by {} in floating point"
    LATE = (
        "the time limit was over before the certificate of {} was written and checked; allow more seconds (time_limit) "
        "or certify the saved model as it is: smile prove FOLDER --time-limit SECONDS"
    )
    FAILED = "the certification failed by an error that should not happen ({})"
    CERTIFICATION_INTERRUPTED = "the certification was interrupted"
    NOT_ASKED = "no certificate was asked for (certify_limit is 0)"
    NO_PROPERTY = "no property was asked for"
    NO_CERTIFICATE = "the folder holds no certificate, so nothing was checked; call certify()"
    NOT_CHECKED = "the folder holds no certificate, so nothing was checked"
    SET_FROM_OUTSIDE = "the verdict was set from outside, without a certificate"
    SET_ABOUT_OTHERS = "the verdict that was set from outside is about another network, other claims or a certificate"
    CHANGED = "the network was changed after it was judged; call certify() to judge it as it is now"
    CHANGED_NET = "the network was changed after it was checked; call certify_net to check it as it is now"
    OTHER_CLAIMS = "the claims were changed after they were judged; call certify() to judge those of now"
    FIRST_PINNED = (
        "the model was saved in format version 1, which gave equal rows of a pinned module unequal bits; certify or "
        "fit it again"
    )

    # a folder was rejected
    CHANGED_MEANWHILE = "the folder was changed while it was checked"
    CHECKERS_DISAGREE = "the two checkers disagree; please report this certificate as a bug"
    OTHER_PROPERTIES = "the certificate holds other claims than properties.json"

    # words of somebody else: a checker, an error, a file written by another version
    TOLD = "{}"


@dataclass(frozen=True)
class Why:
    """A reason with what its sentence names; `where`, if given, is the row it is about."""

    reason: Reason
    details: tuple[str, ...] = ()
    where: str = ""

    @classmethod
    def of(cls, reason: Reason, *details: object) -> Why:
        """A reason with its details, whatever they are, as texts."""
        return cls(reason, tuple(map(str, details)))

    def __str__(self) -> str:
        sentence = self.reason.value.format(*self.details)
        return f"{self.where}: {sentence}" if self.where else sentence


Whys = tuple[Why, ...]


def because(reason: Reason, *details: object) -> Whys:
    """One reason."""
    return (Why.of(reason, *details),)


def told(text: str) -> Whys:
    """Words of somebody else; none for an empty text."""
    return because(Reason.TOLD, text) if text else ()


def sentence(whys: Iterable[Why]) -> str:
    """All reasons as one sentence, each of them once."""
    return "; ".join(dict.fromkeys(map(str, whys)))


def has(whys: Iterable[Why], *reasons: Reason) -> bool:
    """Whether one of these is among the reasons."""
    return any(why.reason in reasons for why in whys)


def whys_to_json(whys: Iterable[Why]) -> list[dict[str, Any]]:
    """By the names of the members."""
    return [{"reason": why.reason.name, "details": list(why.details), "where": why.where} for why in whys]


def whys_from_json(data: Mapping[str, Any]) -> Whys:
    """The reasons of a stored verdict; one of an older version, or with a reason unknown here, keeps its sentence.

    Whoever writes to the folder can write it: what cannot be printed is escaped.
    """
    text = printable(str(data["reason"]))
    try:
        whys = tuple(
            Why(
                Reason[entry["reason"]],
                tuple(printable(str(part)) for part in entry["details"]),
                printable(str(entry["where"])),
            )
            for entry in data["reasons"]
        )
        return whys if sentence(whys) == text else told(text)
    except (LookupError, TypeError):  # a sentence alone, or names and details that do not fit
        return told(text)
