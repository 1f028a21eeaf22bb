"""Lemmas: bounds on one hidden unit over a whole box of inputs, tighter than those over its pre-activation alone.

Over a box relu(s(u)) is largest where s is, at one corner; an interval of s forgets which inputs make it large. For
coefficients β_c, slopes h_c and numbers θ

    Σ_c β_c·relu(s_j(u_c)) ≤ h·u + r,      r = max_p max_u Σ_c θ_pc·s_j(u_c) − h_c·u_c

holds on the box: relu(s) is the larger of 0 and s, so where β_c > 0 a pattern p says which of them copy c takes,
θ_pc = 0 or β_c; where β_c ≤ 0, β_c·relu(s) ≤ θ·s for every θ in [β_c, 0], and each pattern may have its own θ. A
maximum over patterns of separable maxima: nothing is enumerated but the patterns. With the best h and θ this is the
least concave function above the left side on the box (minimax: linear in θ, concave in u), for all copies at once.

A leaf may use a lemma y ≥ 0 times: y·β goes from the coefficients of the unit to the affine part (`leaf.py`).
`hull.py` finds lemmas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from smilenn.problem import Problem
from smilenn.problem.region import Region

LARGEST = 2**30  # of whole numbers: a certificate holds 31 bits of them
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Lemmas:
    """L lemmas of one box; k copies, m coordinates, 2^k patterns.

    Attributes
    ----------
    unit : [L] hidden units.
    beta : [L, k].
    theta : [L, 2^k, k], a pattern's bit c says whether copy c is on; copies with β ≤ 0 have the same θ for both.
    slope : [L, k, m] in model units.
    const : [L], r in float64, rounding included.
    """

    unit: np.ndarray
    beta: np.ndarray
    theta: np.ndarray
    slope: np.ndarray
    const: np.ndarray

    def __len__(self) -> int:
        return len(self.unit)

    def __getitem__(self, which: np.ndarray | slice) -> Lemmas:
        """Some of them."""
        return Lemmas(*(getattr(self, name)[which] for name in FIELDS))


FIELDS = ("unit", "beta", "theta", "slope", "const")


def no_lemmas(copies: int, size: int) -> Lemmas:
    """None at all."""
    shapes = (copies,), (2**copies, copies), (copies, size), ()
    return Lemmas(np.zeros(0, dtype=int), *(np.zeros((0, *shape)) for shape in shapes))


def joined(parts: Sequence[Lemmas]) -> Lemmas:
    """One after the other; at least one part."""
    return Lemmas(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))


def patterns(copies: int) -> np.ndarray:
    """[2^k, k] bool: which copies a pattern takes to be on."""
    return (np.arange(2**copies)[:, None] >> np.arange(copies) & 1).astype(bool)


def written(unit: np.ndarray, beta: np.ndarray, theta: np.ndarray, slope: np.ndarray, bits: int | None) -> Lemmas:
    """Lemmas whose numbers are multiples of 2^-bits (None: any), θ within its range; r is still missing (inf).

    One that has a number too large for a certificate becomes the lemma 0 ≤ 0.
    """
    if bits is not None:
        scale = 2.0**bits
        beta, theta, slope = (np.rint(a * scale) / scale for a in (beta, theta, slope))
        fits = np.maximum(np.abs(beta).max(axis=1), np.abs(slope).max(axis=(1, 2), initial=0.0)) * scale <= LARGEST
        beta, slope = beta * fits[:, None], slope * fits[:, None, None]
    each = beta[:, None, :]
    theta = np.where(each > 0, np.where(patterns(beta.shape[1]), each, 0.0), np.clip(theta, np.minimum(each, 0), 0))
    return Lemmas(unit, beta, theta, slope, np.full(len(unit), np.inf))


def proved(problem: Problem, region: Region, lemmas: Lemmas) -> Lemmas:
    """The same with their r over a region, rounded upwards by what floats may have lost."""
    if not len(lemmas):
        return lemmas
    s = problem.snapshot
    many, k = lemmas.beta.shape
    weight, bias = s.hidden_weight[lemmas.unit], s.hidden_bias[lemmas.unit]
    gain = lemmas.theta[..., None] * weight[:, None, None, :] - lemmas.slope[:, None]  # [L, P, k, m]
    best = region.maximum(gain.reshape(-1, k, region.size)).reshape(many, -1)
    const = (best + lemmas.theta.sum(axis=2) * bias[:, None]).max(axis=1)
    largest = np.maximum(np.abs(region.lo), np.abs(region.hi))  # [k, m]
    reach = largest @ np.abs(s.hidden_weight).T + np.abs(s.hidden_bias)  # [k, H]
    size = sizes(replace(lemmas, const=np.zeros(many)), largest, reach)
    return replace(lemmas, const=const + 2.0 * EPS * (k * region.size + 16) * size)


def sizes(lemmas: Lemmas, largest: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Σ of the absolute values of all terms of a lemma, [L]: |u| ≤ largest [k, m], |s| ≤ unit [k, H]."""
    own = np.einsum("lk,kl->l", np.abs(lemmas.beta), unit[:, lemmas.unit])
    return own + np.einsum("lkm,km->l", np.abs(lemmas.slope), largest) + np.abs(lemmas.const)
