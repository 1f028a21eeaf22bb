r"""1 / (1 + e^−x), rising in x bit for bit: x ≤ y gives σ(x) ≤ σ(y) as float64, whatever the library's exp does.

    z = n/64 + r,  0 ≤ r ≤ 1/64        e^z = T_n · p(r),  cut at T_{n+1}        T_n = e^{n/64},  p(r) = Σ_{k≤7} r^k/k!
    σ(x) = 1 / (1 + e^−x)

Proof that the computed E(z) never falls. Float64 operations are rounded correctly, and rounding is monotone: from
u ≤ v follow fl(u + c) ≤ fl(v + c), fl(u·c) ≤ fl(v·c) for c ≥ 0, and fl(1/v) ≤ fl(1/u) for u > 0.

1. n = ⌊64·z⌋ is exact (64 is a power of two) and never falls in z. Where n stays the same r = fl(z − n/64) ≥ 0 never
   falls.
2. Horner's rule for p uses sums and products of non-negative numbers only, so p(r) never falls in r, and p(r) ≥ 1.
   T_n·p(r), cut at T_{n+1}, never falls either and lies between T_n and T_{n+1}.
3. Where n grows to m > n the value so far is at most T_{n+1} ≤ T_m, which is at most the next one. The table rises: its
   entries are a factor of e^{1/64} apart, far more than the error of any exp.

Then 1 + E(−x) never rises in x, and its reciprocal never falls. For finite x; beyond ±709 the ends 0 and 1 are reached.
1 − σ(x), the probability of the other class, never rises for the same reason. The relative error is below 1e-15.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

STEPS = 64  # cells a unit; a power of two
LARGEST = 710  # e^710 is infinite: beyond, σ is 0 or 1
FACTORIALS = tuple(1.0 / math.factorial(k) for k in range(8))


@cache
def _table() -> np.ndarray:
    """T_n for n from −64·LARGEST to 64·LARGEST + 1."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(np.arange(-LARGEST * STEPS, LARGEST * STEPS + 2) / STEPS)


def rising_exp(z: np.ndarray) -> np.ndarray:
    """e^z, shape kept, never falling in z; z is taken at ±LARGEST where it is beyond."""
    z = np.clip(z, -LARGEST, LARGEST)
    cell = np.floor(z * STEPS)
    rest = z - cell / STEPS
    total = np.full_like(rest, FACTORIALS[-1])
    for factor in FACTORIALS[-2::-1]:
        total = total * rest + factor
    place, table = cell.astype(np.int64) + LARGEST * STEPS, _table()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return np.minimum(table[place] * total, table[place + 1])


def probability(logit: np.ndarray) -> np.ndarray:
    """σ(logit), shape kept."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + rising_exp(-np.asarray(logit, dtype=np.float64)))
