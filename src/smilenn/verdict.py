"""What a proof attempt says: `Proved`, `Violated`, `Unknown` (and `Rejected`, for files that do not check).

`bound` is always the best *proved* upper bound on the violation (largest left side minus right side of the claim, in
output units); `violation_bound` is its positive part. A verdict is not a truth value: ``bool(verdict)`` raises, so that
a time-out can never pass as a proof.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ClassVar, TypeVar

import numpy as np

from smilenn.reason import Reason, Why, Whys, has, sentence
from smilenn.rounding import shown_bound, six_digits

V = TypeVar("V", bound="Verdict")
VERSION = ", version "  # ends the method of a certificate in an older format, before its number


@dataclass(frozen=True, eq=False)
class Counterexample:
    """Inputs that satisfy Q exactly and outputs that break R, from a forward pass of the model itself.

    Attributes
    ----------
    x : [k, m] raw units.
    outputs : [k, o] what the model returned.
    violation : left side minus right side of the broken row, > 0.
    row : the broken row in the claim language.
    """

    x: np.ndarray
    outputs: np.ndarray
    violation: float
    row: str


@dataclass(frozen=True, eq=False)
class Verdict(ABC):
    """Base of the four verdicts; `method` says in one line who proved what within which tolerance.

    `weights` and `claims` are digests (`Problem.weights_digest`, `Problem.claim_digest`) of what the verdict is about:
    it says nothing of a network that was changed since.
    """

    method: str = ""
    bound: float = float("inf")
    seconds: float = 0.0
    weights: str = field(default="", kw_only=True)
    claims: tuple[str, ...] = field(default=(), kw_only=True)
    status: ClassVar[str] = ""

    @property
    def violation_bound(self) -> float:
        """max(0, bound): 0.0 when proved."""
        return max(0.0, self.bound)

    @property
    def exit_code(self) -> int:
        """Exit code of the command line: 0 certified, 1 violated or rejected, 3 unknown or proved by a solver alone."""
        return {"proved": 3, "violated": 1, "rejected": 1, "unknown": 3}[self.status]

    def __bool__(self) -> bool:
        raise TypeError("A verdict has more than two values; compare verdict.status or use isinstance.")

    @abstractmethod
    def sentence(self) -> str:
        """The verdict as one sentence."""

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dictionary."""
        out: dict[str, Any] = {"status": self.status, "method": self.method, "seconds": self.seconds}
        if np.isfinite(self.bound):
            out["bound"] = self.bound
        return out | {"sentence": self.sentence()}


@dataclass(frozen=True, eq=False)
class Proved(Verdict):
    """The claim holds for every input and any backbone, within `tolerance` (output units) of the named method.

    `certificate` is the SHA-256 of a certificate that a checker accepted in exact arithmetic, empty without one; the
    tolerance is then what the certificate adds to the claim's right sides for rounding, 0 in most cases.
    """

    tolerance: float = 0.0
    certificate: str = ""
    status: ClassVar[str] = "proved"

    @property
    def exit_code(self) -> int:
        """0 with an accepted certificate; 3 without one: a solver's word alone does not count as done."""
        return 0 if self.certificate else super().exit_code

    @property
    def violation_bound(self) -> float:
        """0.0, or what a certificate adds to the claim for rounding; a solver's tolerance is stated in the sentence."""
        return self.tolerance if self.certificate else 0.0

    def sentence(self) -> str:
        """``proved by HiGHS (reduced MIP) within 1e-06``."""
        if self.certificate:
            up_to = f" up to {shown_bound(self.tolerance)}" if self.tolerance else ""
            _, _, version = self.method.partition(VERSION)
            of = f"{VERSION}{version} of the format" if version else ""
            return f"certified{up_to}, checked in exact arithmetic (certificate {self.certificate[:12]}…{of})"
        near = float(f"{self.tolerance:.0e}")  # one digit; never less than the truth by more than a hundredth
        if near < 0.99 * self.tolerance:
            near += 10.0 ** math.floor(math.log10(self.tolerance))
        return f"proved by {self.method} within {near:.0e}"


@dataclass(frozen=True, eq=False)
class Violated(Verdict):
    """The model itself breaks the claim at `counterexample`."""

    counterexample: Counterexample | None = None
    status: ClassVar[str] = "violated"

    def sentence(self) -> str:
        """Names the broken row and by how much."""
        if self.counterexample is None:
            return "violated"
        return f"violated: {self.counterexample.row!r} fails by {self.counterexample.violation:.6g}"


def _with_why(cls: type[V]) -> type[V]:
    """A verdict whose former argument ``reason`` gets a sentence with what to write."""
    made: Any = cls.__init__

    @wraps(made)
    def init(self: V, *args: Any, **given: Any) -> None:
        if "reason" in given:
            raise TypeError(f"{cls.__name__} takes why=(Why(Reason.TIME),) in place of reason=…; see smilenn.reason.")
        made(self, *args, **given)

    cls.__init__ = init
    return cls


@_with_why
@dataclass(frozen=True, eq=False)
class Unknown(Verdict):
    """Neither proved nor refuted; `bound` is what was proved, `why` says why it stopped, `reason` in words.

    `point` [k, m] (raw units), where present, is a tuple at which the *box* allows a violation; the backbone does not
    use that freedom there, so it refutes nothing.
    """

    why: Whys = ()
    point: np.ndarray | None = None
    status: ClassVar[str] = "unknown"

    @property
    def reason(self) -> str:
        """Why it stopped, for people; code asks `because`."""
        return sentence(self.why)

    def because(self, *reasons: Reason) -> bool:
        """Whether one of `reasons` is why."""
        return has(self.why, *reasons)

    def sentence(self) -> str:
        """Names the proved bound and the reason."""
        known = (
            f"the violation is at most {six_digits(self.bound)}" if np.isfinite(self.bound) else "no bound was proved"
        )
        return f"unknown: {known} ({self.reason})" if self.reason else f"unknown: {known}"


@_with_why
@dataclass(frozen=True, eq=False)
class Rejected(Verdict):
    """A file did not check: `why` says which and why, `reason` in words."""

    why: Whys = ()
    status: ClassVar[str] = "rejected"

    @property
    def reason(self) -> str:
        """What is wrong with the files, for people."""
        return sentence(self.why)

    def sentence(self) -> str:
        """The reason."""
        return f"rejected: {self.reason}"


@dataclass(frozen=True, eq=False)
class Maximum:
    """What a prover learned of ``max violation`` of one row.

    Attributes
    ----------
    upper : proved upper bound (dual side; +inf if nothing is known).
    lower : value of `point`, re-evaluated in float64 (−inf without a point).
    point : [k, m] model units, a member of the region, or None.
    stopped : why the search did not run to its end (optimality, infeasibility or the asked target); None if it did.
    note : one line on how.
    error : what the tolerances of a solver and rounding may add to `upper`; 0 where `upper` contains it already.
    """

    upper: float
    lower: float = float("-inf")
    point: np.ndarray | None = None
    stopped: Why | None = None
    note: str = ""
    seconds: float = 0.0
    nodes: int = 0
    error: float = 0.0

    def __post_init__(self) -> None:
        """A bound that is not a number is none."""
        if np.isnan(self.upper):
            object.__setattr__(self, "upper", float("inf"))

    @property
    def complete(self) -> bool:
        """Whether the search ran to its end, no limit was hit."""
        return self.stopped is None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return self.stopped is not None and self.stopped.reason is Reason.INTERRUPTED
