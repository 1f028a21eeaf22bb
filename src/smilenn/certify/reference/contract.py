"""Layers that move no two inputs apart, and their rounding, in `Fraction`: docs/certificate.md, sections 1 and 3.1.

    y − W·(g ∘ max(Wᵀy + b, 0)),     g_j·Σ_l |(WᵀW)_jl|·q_l ≤ 2·q_j  for every unit j

Then xᵀWᵀWx ≤ Σ_j (2/g_j)·x_j², and the layer is 1-Lipschitz in the Euclidean norm. For the reference checker only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from smilenn.certify.reference.strict import Refused, need

ZERO, ONE = Fraction(0), Fraction(1)
U, ETA, LARGEST = Fraction(1, 2**53), Fraction(1, 2**126), Fraction(2**1000)
STEP = Fraction(1, 2**100)
FINEST, MOST_WEIGHT, MOST_BALANCE = 2**40, 2**20, 2**40
AT_ONCE = 128  # units of which products are formed with the same columns
MOST_WORK = 1 << 31  # of all proofs together, of which these tests are a part


# the least whole n with n·2^-100 ≥ value
def upward(value: Fraction) -> Fraction:
    """UP: the value or the next multiple of 2^-100 above it."""
    return math.ceil(value / STEP) * STEP


# the least whole n ≥ 0 with (n·2^-100)² ≥ value
def root(value: Fraction) -> Fraction:
    """SQRT: the square root of a number ≥ 0, rounded up to a multiple of 2^-100."""
    square = math.ceil(value / STEP**2)
    return (1 + math.isqrt(square - 1)) * STEP if square else ZERO


def length(values: Sequence[Fraction]) -> Fraction:
    """SQRT of the sum of squares."""
    return root(sum((v * v for v in values), ZERO))


@dataclass(frozen=True)
class Contraction:
    """What the rules need of a layer: norms w_l of the columns of W, b, g, and the norm of what it makes of zero."""

    norms: tuple[Fraction, ...]
    bias: tuple[Fraction, ...]
    gain: tuple[Fraction, ...]
    still: Fraction


# ⌊(i + 64)·j²/64⌋ for every layer, once
def read_contractions(
    prefixes: Sequence[str], tensors: Mapping[str, list[list[Fraction]]]
) -> tuple[dict[str, Contraction], int]:
    """The layers whose tensors' names begin so, tested, and what that cost; too much is refused before it is done."""
    weights = [tensors[prefix + "weight"] for prefix in prefixes]
    spent = sum((len(weight) + 64) * len(weight[0]) ** 2 // 64 for weight in weights)
    need(spent <= MOST_WORK, "The contractions are more work to check than those of a certificate may be.")
    out = {}
    for prefix, weight in zip(prefixes, weights, strict=True):
        (bias,), (gain,), (balance,) = (tensors[prefix + name] for name in ("bias", "gain", "balance"))
        out[prefix] = _tested(weight, bias, gain, balance)
    return out, spent


def _tested(
    weight: list[list[Fraction]], bias: list[Fraction], gain: list[Fraction], balance: list[Fraction]
) -> Contraction:
    """The layer, if it is one; weight [i][j], the others [j]. Refused if the test fails."""
    need(min(gain) >= 0 and min(balance) > 0, "The gain of a contraction is negative, or its balance not positive.")
    rows, unit = _whole(weight, MOST_WEIGHT)
    (shares,), share = _whole([balance], MOST_BALANCE)
    products = _products(rows)
    for j, line in enumerate(products):
        total = Fraction(sum(abs(v) * q for v, q in zip(line, shares, strict=True)), unit**2 * share)
        need(gain[j] * total <= 2 * balance[j], "A layer of the kind 'contract' may move inputs apart.")
    norms = tuple(root(Fraction(line[j], unit**2)) for j, line in enumerate(products))
    away = [g * max(b, ZERO) for g, b in zip(gain, bias, strict=True)]
    common = math.lcm(*(v.denominator for v in away))
    whole = [int(v * common) for v in away]
    still = length([Fraction(sum(a * b for a, b in zip(row, whole, strict=True)), unit * common) for row in rows])
    return Contraction(norms, tuple(bias), tuple(gain), still)


# a float is n/d with d a power of two: it is on the grid if d ≤ 2^40, and n·(unit/d) is whole if d ≤ unit
def _whole(rows: list[list[Fraction]], most: int) -> tuple[list[list[int]], int]:
    """The numbers times `unit`, the least that makes all of them whole; refused off the grid and from `most` on."""
    ratios = [[v.as_integer_ratio() for v in row] for row in rows]
    unit = max(d for row in ratios for _, d in row)
    fits = unit <= FINEST and all(abs(n) < most * d for row in ratios for n, d in row)
    need(fits, "A contraction has weights or a balance that are not on the grid, or too large.")
    return [[n * (unit // d) for n, d in row] for row in ratios], unit


# with a' = a + c ≥ 0: Σ_k a_kj·a_kl = Σ_k a'_kj·a'_kl − c·(s_j + s_l) − n·c²,  s_j = Σ_k a_kj, n rows
def _products(rows: list[list[int]]) -> list[list[int]]:
    """AᵀA for A [n][j] of whole numbers; one product of a number and a packed row gives j of them at once."""
    c, n, units = max(abs(v) for row in rows for v in row), len(rows), len(rows[0])
    totals = [sum(column) for column in zip(*rows, strict=True)]
    size = ((n * (2 * c) ** 2).bit_length() + 7) // 8 or 1  # bytes that no sum of non-negative products outgrows
    packed = [int.from_bytes(b"".join((v + c).to_bytes(size, "little") for v in row), "little") for row in rows]
    out: list[list[int]] = []
    for start in range(0, units, AT_ONCE):
        rest = [number >> 8 * size * start for number in packed]  # columns from `start` on: the matrix is symmetric
        for j in range(start, min(start + AT_ONCE, units)):
            total = sum((row[j] + c) * number for row, number in zip(rows, rest, strict=True))
            data, shift = total.to_bytes(size * (units - start), "little"), c * totals[j] + n * c * c
            sums = [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
            own = [v - shift - c * s for v, s in zip(sums, totals[start:], strict=True)]
            out.append([line[j] for line in out[:start]] + own)
    return out


# Z = w·M + |b|,  e = γ_1·Z + (1 + γ_1)·η·(3i + 3 + i·w + i·M),  f = g·e + (u·g + η)·(Z + e) + η·(1 + g),  C = g·Z + f
# E = UP(Σ w·f + γ_2·(Σ w·C + M) + i·(1 + γ_2)·η·(3j + 3 + Σ w + Σ C)),  M' = M + still + E
def rounding(layer: Contraction, inputs: int, size: Fraction) -> tuple[Fraction, Fraction]:
    """E and M': the norm of all rounding errors at inputs of norm M = `size`, and that of what comes out."""
    units = len(layer.norms)

    def gamma(terms: int) -> Fraction:
        return (terms + 5) * U / (ONE - (terms + 5) * U)

    errors, sizes = [], []
    for w, b, g in zip(layer.norms, layer.bias, layer.gain, strict=True):
        z = w * size + abs(b)
        e = gamma(inputs) * z + (1 + gamma(inputs)) * ETA * (3 * inputs + 3 + inputs * w + inputs * size)
        errors.append(g * e + (U * g + ETA) * (z + e) + ETA * (1 + g))
        sizes.append(g * z + errors[-1])
        _refuse_overflow(z + e, sizes[-1])
    carried = sum((w * f for w, f in zip(layer.norms, errors, strict=True)), ZERO)
    summed = sum((w * c for w, c in zip(layer.norms, sizes, strict=True)), ZERO) + size
    lost = 3 * units + 3 + sum(layer.norms, ZERO) + sum(sizes, ZERO)
    error = upward(carried + gamma(units) * summed + inputs * (1 + gamma(units)) * ETA * lost)
    _refuse_overflow(summed + error)
    return error, size + layer.still + error


def _refuse_overflow(*values: Fraction) -> None:
    if any(v >= LARGEST for v in values):
        raise Refused("The numbers of a contraction are so large that its evaluation could overflow.")
