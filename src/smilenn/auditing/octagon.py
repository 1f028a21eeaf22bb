"""What is known of the pre-activations of two copies of a network on a cell, in float64: a guide for the search.

Every unit j has an octagon S_j, held as six numbers (rows of an array [6, n]):

    l_1 ≤ s_1 ≤ u_1      l_2 ≤ s_2 ≤ u_2      dl ≤ s_1 − s_2 ≤ du

and relu goes through its corners: the points of S_j where two of the lines s_c = l_c, u_c, 0 and s_1 − s_2 = dl, du
meet. What is certified is computed again, in integers, by the checker (docs/audit-certificate.md).
"""

from __future__ import annotations

import numpy as np

LOWER, UPPER = (0, 2, 4), (1, 3, 5)


def close(r: np.ndarray) -> np.ndarray:
    """The octagon with its own consequences; an empty one has l > u somewhere."""
    l1, u1, l2, u2, dl, du = r
    dl, du = np.maximum(dl, l1 - u2), np.minimum(du, u1 - l2)
    l1, u1 = np.maximum(l1, l2 + dl), np.minimum(u1, u2 + du)
    l2, u2 = np.maximum(l2, l1 - du), np.minimum(u2, u1 - dl)
    return np.stack([l1, u1, l2, u2, np.maximum(dl, l1 - u2), np.minimum(du, u1 - l2)])


def empty(r: np.ndarray) -> bool:
    """Whether some unit has no point left, beyond rounding."""
    gap = 1e-9 * (1.0 + np.abs(r).max(axis=0))
    return bool(((r[0] > r[1] + gap) | (r[2] > r[3] + gap) | (r[4] > r[5] + gap)).any())


def mended(r: np.ndarray) -> np.ndarray:
    """Ends that rounding has exchanged, put in order."""
    out = r.copy()
    for low, high in ((0, 1), (2, 3), (4, 5)):
        out[low], out[high] = np.minimum(r[low], r[high]), np.maximum(r[low], r[high])
    return out


def corners(r: np.ndarray) -> np.ndarray:
    """Points of S_j that hold all corners, the axes' included: [15, n, 2]."""
    l1, u1, l2, u2, dl, du = r
    out = np.empty((15, *l1.shape, 2))
    p, q = np.stack([l1, u1, np.clip(0.0, l1, u1)]), np.stack([l2, u2, np.clip(0.0, l2, u2)])
    low, high = np.maximum(l2, p - du), np.minimum(u2, p - dl)
    out[0:9:3, ..., 0] = out[1:9:3, ..., 0] = out[2:9:3, ..., 0] = p
    out[0:9:3, ..., 1], out[1:9:3, ..., 1], out[2:9:3, ..., 1] = low, high, np.minimum(np.maximum(0.0, low), high)
    out[9::2, ..., 0], out[10::2, ..., 0] = np.maximum(l1, q + dl), np.minimum(u1, q + du)
    out[9::2, ..., 1] = out[10::2, ..., 1] = q
    return out


def ends(r: np.ndarray) -> np.ndarray:
    """Points of S_j that hold its own corners, without the axes: [8, n, 2]."""
    l1, u1, l2, u2, dl, du = r
    out = [(p, f) for p in (l1, u1) for f in (np.maximum(l2, p - du), np.minimum(u2, p - dl))]
    out += [(f, q) for q in (l2, u2) for f in (np.maximum(l1, q + dl), np.minimum(u1, q + du))]
    return np.stack([np.stack(point, axis=-1) for point in out])


def after_relu(r: np.ndarray) -> np.ndarray:
    """The six ranges of relu(s)."""
    a = np.maximum(corners(r), 0.0)
    d = a[..., 0] - a[..., 1]
    return np.stack([*np.maximum(r[:4], 0.0), d.min(axis=0), d.max(axis=0)])


def through(weight: np.ndarray, bias: np.ndarray, a: np.ndarray) -> np.ndarray:
    """The ranges of W·a + b; a [6, n]."""
    plus, minus = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    out = np.empty((6, len(bias)))
    for low, high, shift in ((0, 1, bias), (2, 3, bias), (4, 5, 0.0)):
        out[low] = plus @ a[low] + minus @ a[high] + shift
        out[high] = plus @ a[high] + minus @ a[low] + shift
    return out


def meet(r: np.ndarray, s: np.ndarray) -> np.ndarray:
    """What both say."""
    out = np.empty_like(r)
    out[LOWER, :], out[UPPER, :] = np.maximum(r[LOWER, :], s[LOWER, :]), np.minimum(r[UPPER, :], s[UPPER, :])
    return out


def settled(r: np.ndarray) -> np.ndarray:
    """[n] bool: both copies' phases are known."""
    return ((r[0] >= 0) | (r[1] <= 0)) & ((r[2] >= 0) | (r[3] <= 0))
