"""What a branch of an encoder leaves of a ball, in `Fraction`: docs/certificate.md, section 3.1.

    Δy = S·t + r,   ‖t‖₂ ≤ 1,   ‖r‖₂ ≤ R,     hence ‖Δy‖₂ ≤ N = max S + R

S has an axis for every coordinate; R, the rest, has what rounding adds and what moves outside the ball. For the
reference checker only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from smilenn.certify.reference.contract import length

ZERO = Fraction(0)


@dataclass(frozen=True)
class Reach:
    """Axes and rest; a rest of None says nothing. `size` bounds ‖y‖₂ where a contraction has just said so."""

    axes: tuple[Fraction, ...]
    rest: Fraction | None
    size: Fraction | None = None

    @property
    def norm(self) -> Fraction | None:
        """N."""
        return None if self.rest is None else max(self.axes) + self.rest


@dataclass(frozen=True)
class Part:
    """The places in e of what a branch computes, and what is known of its difference."""

    places: tuple[int, ...]
    reach: Reach


def unknown(outputs: int) -> Reach:
    """Nothing is known."""
    return Reach((ZERO,) * outputs, None)


# S = 0, R = SQRT(Σ D²)
def from_differences(apart: Sequence[Fraction]) -> Reach:
    """What the differences of single coordinates say, each at most so large."""
    return Reach((ZERO,) * len(apart), length(apart))
