"""What a claim means, read from its rows alone: one value for each pattern that has a name.

    Rises      a_P ≤ b_P, rest equal                 ⇒  g(a) ≤ g(b) + slack
    Changes    lo ≤ a − b ≤ hi, some free            ⇒  |g(a) − g(b)| ≤ eps        (perhaps with b a given point)
    Near       Σ ((a_i − b_i)/δ_i)² ≤ 1, rest equal  ⇒  |g(a) − g(b)| ≤ eps
    Slope      a_i ≥ b_i, rest equal                 ⇒  |g(a) − g(b)| ≤ bound·(a_i − b_i) + slack
    Curved     2·b_P = a_P + c_P, rest equal         ⇒  ±(2·g(b) − g(a) − g(c)) ≤ slack
    Permuted   b is a permutation of a               ⇒  |g(a) − g(b)| ≤ eps
    Traded     b trades weak for strong              ⇒  g(a) ≤ g(b) + slack
    Limited    conditions on one input               ⇒  lo ≤ g ≤ hi
    Chain      conditions                            ⇒  f_1 ≤ f_2 + slack, f_2 ≤ f_3 + slack, …
    Apart      conditions                            ⇒  f_i + f_j ≤ slack for every two
    Total      conditions                            ⇒  Σ c·f ≤ constant + Σ k·x
    Decided    conditions                            ⇒  one of these classes leads every other by `lead`
    Unnamed    none of these

g is a linear form of the outputs, the same statement for every form of `forms`. Forms are scaled so that their first
coefficient is 1 or −1. The stored `sentence` of a claim is never read. Every row, right side, operator, `equal`,
`free` and `others` is accounted for; a claim with anything left over is `Unnamed` (recognise.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from smilenn.properties.claim import Inequality

Linear = tuple[tuple[Fraction, str], ...]  # Σ coefficient · name
Strip = tuple[str, Fraction, Fraction]  # feature, and the least and largest a − b
Point = tuple[tuple[str, Fraction], ...]  # feature or member of a category, and its value


@dataclass(frozen=True)
class Rises:
    """Raising `up` and lowering `down`, one or several of them, never lowers a form by more than `slack`."""

    up: tuple[str, ...]
    down: tuple[str, ...]
    forms: tuple[Linear, ...]
    slack: Fraction = Fraction(0)


@dataclass(frozen=True)
class Changes:
    """Changing `free` features freely and others `within` their strips changes a form by at most `eps`.

    `point` is where the change starts; None for everywhere.
    """

    free: tuple[str, ...]
    within: tuple[Strip, ...]
    forms: tuple[Linear, ...]
    eps: Fraction
    point: Point | None = None


@dataclass(frozen=True)
class Near:
    """Changing features within the ellipsoid of these axes, (feature, δ) each, changes a form by at most `eps`."""

    axes: tuple[tuple[str, Fraction], ...]
    forms: tuple[Linear, ...]
    eps: Fraction


@dataclass(frozen=True)
class Slope:
    """Along `feature` alone a form changes by at most `bound` for each unit of it, and `slack`."""

    feature: str
    bound: Fraction
    forms: tuple[Linear, ...]
    slack: Fraction = Fraction(0)


@dataclass(frozen=True)
class Curved:
    """Halfway between two values of `features` a form is at most (`sign` 1) or at least (−1) its mean there.

    In units of ``2·g(b) − g(a) − g(c)`` that may fail by `slack`.
    """

    features: tuple[str, ...]
    sign: int
    forms: tuple[Linear, ...]
    slack: Fraction = Fraction(0)


@dataclass(frozen=True)
class Permuted:
    """Each feature of a cycle takes the value of the next, the last that of the first: changes by at most `eps`."""

    cycles: tuple[tuple[str, ...], ...]
    forms: tuple[Linear, ...]
    eps: Fraction


@dataclass(frozen=True)
class Traded:
    """Raising `strong` by t and lowering `weak` by `rate`·t never lowers a form by more than `slack`."""

    strong: str
    weak: str
    rate: Fraction
    forms: tuple[Linear, ...]
    slack: Fraction = Fraction(0)


@dataclass(frozen=True)
class Limited:
    """Where the `conditions` hold, every form is at least `lo` and at most `hi` (None: no such bound)."""

    forms: tuple[Linear, ...]
    lo: Fraction | None
    hi: Fraction | None
    conditions: tuple[Inequality, ...] = ()


@dataclass(frozen=True)
class Chain:
    """Where the `conditions` hold, each output is at most the next one, and `slack`."""

    outputs: tuple[str, ...]
    conditions: tuple[Inequality, ...] = ()
    slack: Fraction = Fraction(0)


@dataclass(frozen=True)
class Apart:
    """Where the `conditions` hold, every two of these outputs add up to at most `slack`."""

    outputs: tuple[str, ...]
    conditions: tuple[Inequality, ...] = ()
    slack: Fraction = Fraction(0)


@dataclass(frozen=True)
class Total:
    """Where the `conditions` hold, the form is at most ``constant + Σ inputs``."""

    form: Linear
    inputs: Linear
    constant: Fraction
    conditions: tuple[Inequality, ...] = ()


@dataclass(frozen=True)
class Decided:
    """Where the `conditions` hold, one of `classes` leads every other class by at least `lead`.

    With a lead of 0 or less (a single class only) no other class is ahead of it by more than −`lead`.
    """

    classes: tuple[str, ...]
    lead: Fraction
    conditions: tuple[Inequality, ...] = ()


@dataclass(frozen=True)
class Unnamed:
    """No pattern: the claim is its formula."""


Meaning = (
    Rises | Changes | Near | Slope | Curved | Permuted | Traded | Limited | Chain | Apart | Total | Decided | Unnamed
)
