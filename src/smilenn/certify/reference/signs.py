"""The signs rule, exact: docs/certificate.md, section 4.5.

    Σ_c α_c·F(x_c) ≤ 0,   F = q·x + Σ_j κ_j·relu(s_j(x)),   α_p > 0 ≥ α_c for c ≠ p,   Σ_c α_c = 0

holds if it does for the affine part and for every unit by itself: relu is convex and non-decreasing, so where κ_j > 0
it is enough that s_j(x_p) is at most the mean of the other copies' s_j, and where κ_j < 0 that it is at least each of
them. Such linear inequalities are read off the premise: pins, one-way strips, and rows ``Σ coef·x == 0``. For the
reference checker only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from smilenn.certify.reference.model import ZERO, Matrix, Model, Psi, Vector, zero_gap
from smilenn.certify.reference.premise import Premise
from smilenn.certify.reference.strict import Refused
from smilenn.certify.reference.tree import Budget

ONE = Fraction(1)


def signs_rule(model: Model, premise: Premise, psi: Psi, budget: Budget) -> Fraction:
    """The bound 0, if the affine part and every unit show it."""
    if not zero_gap(model.net):
        raise Refused("The signs rule needs boxes of zero width.")
    if model.net.profile == "dyadic":
        raise Refused("The signs rule is not for inputs that are moved to a grid.")
    k = premise.copies
    # an equation that takes its pivot out of a form may make the numbers of the form longer by its own
    grown = sum(max(_digits(v) for v in row.coef.values()) for row in premise.extra)
    budget.spend(k * (1 + len(premise.extra)), model, premise, times=4 * (1 + grown // 2048) ** 2)
    alpha = _shares(psi)
    p = next(c for c in range(k) if alpha[c] > 0)
    for matrix in (psi.a, psi.b):
        for by, line in zip(alpha, matrix, strict=True):
            if any(v * alpha[p] != w * by for v, w in zip(line, matrix[p], strict=True)):
                raise Refused("The signs rule needs copies whose coefficients are multiples of each other.")
    if not _falls(premise, alpha, psi.q[p]):
        raise Refused("The affine part of a row may rise.")
    for kappa, weight in zip(psi.kappa[p], model.weight, strict=True):
        if kappa > 0:
            good = _falls(premise, alpha, weight)
        else:
            others = [c for c in range(k) if alpha[c] < 0 and kappa < 0]
            good = all(_falls(premise, [(c == other) * ONE - (c == p) for c in range(k)], weight) for other in others)
        if not good:
            raise Refused("A hidden unit may make a row rise.")
    return ZERO


def _digits(value: Fraction) -> int:
    """Binary digits of numerator and denominator."""
    return value.numerator.bit_length() + value.denominator.bit_length()


def _shares(psi: Psi) -> Vector:
    """α: the coefficients of the first output of the row, turned so that one of them is positive."""
    for o in range(len(psi.a[0])):
        column = [line[o] for line in psi.a]
        if any(column):
            for alpha in (column, [-v for v in column]):
                if len([v for v in alpha if v > 0]) == 1 and sum(alpha) == 0:
                    return alpha
            break
    raise Refused("The signs rule is for one copy against a mean of others.")


# Σ_c factor_c·(w·x_c), rows that are equal to zero subtracted so that their pivots vanish
def _falls(premise: Premise, factors: Sequence[Fraction], weight: Vector) -> bool:
    """Whether Σ_c factor_c·(weight·x_c) ≤ 0 on the premise."""
    k, m = premise.copies, len(premise.pinned)
    form: Matrix = [[ZERO if premise.pinned[i] else factor * weight[i] for i in range(m)] for factor in factors]
    for row in premise.extra:
        if not row.equality or row.rhs != 0:
            continue
        c, i = _pivot(premise, list(row.coef))
        ratio = form[c][i] / row.coef[c, i]
        for (d, j), coef in row.coef.items():
            form[d][j] -= ratio * coef
    for i in range(m):
        column = [line[i] for line in form]
        if not any(column):
            continue
        if sum(column) != 0:
            return False
        if not premise.pinned[i]:
            if k != 2:
                return False
            if (column[0] > 0 and premise.strip_hi[i] > 0) or (column[0] < 0 and premise.strip_lo[i] < 0):
                return False
    return True


def _pivot(premise: Premise, keys: list[tuple[int, int]]) -> tuple[int, int]:
    """The first (copy, coordinate) that may move both ways, else the first."""
    keys.sort()
    if premise.copies == 2:
        free = [(c, i) for c, i in keys if premise.strip_lo[i] < 0 < premise.strip_hi[i]]
        return (free or keys)[0]
    return keys[0]
