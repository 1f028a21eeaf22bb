"""Bounds of a network of one output over many boxes at once, one evaluation, float64: what decides a label there.

    s_l ∈ [W·a + b by intervals] ∩ [the rule backward to the inputs]        f ≤ Σ_i max(q_i·u_i) + const, f ≥ …

The slopes are the checkers' own (docs/audit-certificate.md §7), so a box that is settled here by more than rounding is
settled there.
"""

from __future__ import annotations

import numpy as np

from smilenn.auditing.network import DeepNet

ROUNDOFF = {"float32": 2.0**-24, "float64": 2.0**-53}


class Boxes:
    """Ranges of every layer over boxes lo, hi [B, m] of raw inputs."""

    def __init__(self, net: DeepNet, lo: np.ndarray, hi: np.ndarray) -> None:
        self.net, self.u = net, ROUNDOFF[net.dtype]
        self.inputs = self._scaled(lo, hi)
        self.layers: list[tuple[np.ndarray, np.ndarray]] = []
        self.noise: list[np.ndarray] = []
        self.slopes: list[tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]] = []
        for layer in range(len(net.weights) - 1):
            self._grow(layer)
        self.noise.append(self._interval(len(net.weights) - 1)[2])

    def _scaled(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        for step, k in self.net.scaling:
            apply = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[step]
            one, two = apply(lo, k), apply(hi, k)
            lo, hi = np.minimum(one, two), np.maximum(one, two)
            wide = self.u * np.maximum(np.abs(lo), np.abs(hi)) + 2.0**-80
            lo, hi = lo - wide, hi + wide
        return lo, hi

    def _interval(self, layer: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ends [B, n] of W·a + b by intervals, and ε [B, n]."""
        lo, hi = self.inputs if layer == 0 else [np.maximum(end, 0.0) for end in self.layers[layer - 1]]
        w, b = self.net.weights[layer], self.net.biases[layer]
        plus, minus = np.maximum(w, 0.0).T, np.minimum(w, 0.0).T
        n = (w.shape[1] + 5) * self.u
        size = np.maximum(np.abs(lo), np.abs(hi)) @ np.abs(w).T + np.abs(b)
        eps = n / (1 - n) * size * (1 + 1e-9) + 2.0**-39
        return lo @ plus + hi @ minus + b - eps, hi @ plus + lo @ minus + b + eps, eps

    def _grow(self, layer: int) -> None:
        lo, hi, eps = self._interval(layer)
        self.noise.append(eps)
        if layer > 0:
            w, b = self.net.weights[layer], self.net.biases[layer]
            most, least = (
                self.most(np.broadcast_to(sign * w, (len(lo), *w.shape)), sign * b, layer - 1)[0] for sign in (1, -1)
            )
            lo, hi = np.maximum(lo, -(least + eps)), np.minimum(hi, most + eps)
            hi = np.maximum(lo, hi)
        self.layers.append((lo, hi))
        self.slopes.append(_slopes(lo, hi, eps))

    def most(self, kappa: np.ndarray, const: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
        """An upper bound [B, r] of κ·a + const of layer `top`, κ [B, r, n]; and its coefficients at the inputs."""
        total = np.broadcast_to(const, kappa.shape[:2]).copy()
        for layer in range(top, -1, -1):
            above, below, costs = self.slopes[layer]
            plus = np.maximum(kappa, 0.0)
            minus = kappa - plus
            t = plus * above + minus * below
            total += (plus @ costs[0] - minus @ costs[1])[..., 0] + t @ self.net.biases[layer]
            kappa = t @ self.net.weights[layer]
        lo, hi = (end[:, None, :] for end in self.inputs)
        return total + np.where(kappa > 0, kappa * hi, kappa * lo).sum(axis=2), kappa

    def output(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ends [B] of the output, rounding included, and how much input i spans [B, m]."""
        top = len(self.net.weights) - 2
        w, b = self.net.weights[-1], self.net.biases[-1]
        shape = (len(self.inputs[0]), *w.shape)
        high, up = self.most(np.broadcast_to(w, shape), b, top)
        low, down = self.most(np.broadcast_to(-w, shape), -b, top)
        spans = (np.abs(up) + np.abs(down))[:, 0] * (self.inputs[1] - self.inputs[0])
        return -low[:, 0] - self.noise[-1][:, 0], high[:, 0] + self.noise[-1][:, 0], spans


def _slopes(
    lo: np.ndarray, hi: np.ndarray, eps: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Slopes [B, 1, n] for κ = 1 and κ = −1, and what one unit of either κ costs [B, n, 1].

    For κ > 0 the chord leaves −lo·hi/(hi − lo) of it; for κ ≤ 0 the nearer side leaves nothing. ε counts as often as
    the slope is steep.
    """
    free = (lo < 0) & (hi > 0)
    width = np.where(free, hi - lo, 1.0)
    on = (lo >= 0) * 1.0
    above, below = np.where(free, hi / width, on), np.where(free, (hi > -lo) * 1.0, on)
    left = np.where(free, -lo * hi / width, 0.0)
    return above[:, None], below[:, None], ((left + above * eps)[..., None], (below * eps)[..., None])
