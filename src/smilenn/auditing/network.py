"""A deep feed-forward ReLU network as one value, whatever library it came from.

    u = scaling(x)        a_0 = u        a_l = relu(W_l·a_{l−1} + b_l)        f(x) = W_L·a_{L−1} + b_L

The weights are those that the network computes with, float32 or float64, held as float64 arrays: every float32 number
is a float64 number, so nothing is rounded. Each step of the scaling adds to, subtracts from, multiplies or divides
every input by a number of the same type.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Literal, get_args

import numpy as np

from smilenn.errors import SmileError

Dtype = Literal["float32", "float64"]
Step = Literal["add", "sub", "mul", "div"]
STEPS: tuple[Step, ...] = get_args(Step)
LARGEST, SMALLEST = 2.0**40, 2.0**-40  # of weights and of the scaling's factors; the checkers refuse others


@dataclass(frozen=True, eq=False)
class DeepNet:
    """A ReLU network.

    Parameters
    ----------
    weights, biases : W_l [n_l, n_{l−1}] and b_l [n_l] of every layer, the last one linear.
    dtype : what the network computes in.
    scaling : steps (kind, constants [m]) on the inputs, in their order.
    source : where it came from, for people.
    """

    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]
    dtype: Dtype = "float32"
    scaling: tuple[tuple[Step, np.ndarray], ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        kind = np.dtype(self.dtype)
        for name, arrays in (("weights", self.weights), ("biases", self.biases)):
            object.__setattr__(
                self, name, tuple(_numbers(a, kind, f"{name} of layer {i}") for i, a in _counted(arrays))
            )
        steps = tuple((step, _numbers(k, kind, f"the scaling's step {i}")) for i, (step, k) in _counted(self.scaling))
        object.__setattr__(self, "scaling", steps)
        self._check_shapes()
        self._check_scaling()

    def _check_shapes(self) -> None:
        if not self.weights or len(self.weights) != len(self.biases):
            raise SmileError("A network needs at least one layer, with weights and biases for each.")
        for i, (w, b) in enumerate(zip(self.weights, self.biases, strict=True), 1):
            if w.ndim != 2 or b.shape != w.shape[:1] or 0 in w.shape:
                raise SmileError(f"Layer {i} has weights of shape {w.shape} and biases of shape {b.shape}.")
            if i > 1 and w.shape[1] != self.sizes[i - 1]:
                raise SmileError(f"Layer {i} reads {w.shape[1]} numbers, but layer {i - 1} gives {self.sizes[i - 1]}.")

    def _check_scaling(self) -> None:
        for step, constants in self.scaling:
            if step not in STEPS or constants.shape != (self.sizes[0],):
                raise SmileError(f"The scaling has a step {step!r} with constants of shape {constants.shape}.")
            if step in ("mul", "div") and (np.abs(constants) < SMALLEST).any():
                raise SmileError("The scaling multiplies or divides an input by zero or by almost nothing.")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Inputs, hidden units of every layer, outputs."""
        return (self.weights[0].shape[1], *(len(b) for b in self.biases))

    def scaled(self, x: np.ndarray) -> np.ndarray:
        """The scaling in float64; x [..., m]."""
        for step in self.scaling:
            x = scaled(step, x)
        return x

    def unscaled(self, u: np.ndarray) -> np.ndarray:
        """Inputs x [..., m] near those that the scaling takes to u, in float64."""
        for step, k in reversed(self.scaling):
            u = {"add": np.subtract, "sub": np.add, "mul": np.divide, "div": np.multiply}[step](u, k)
        return u

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The outputs [..., o] in float64; x [..., m]."""
        a = self.scaled(np.asarray(x, dtype=np.float64))
        for w, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            a = np.maximum(a @ w.T + b, 0.0)
        return a @ self.weights[-1].T + self.biases[-1]

    def exactly(self, x: Sequence[Fraction]) -> list[Fraction]:
        """The outputs at one input in exact arithmetic, without any rounding."""
        a = list(x)
        for step, constants in self.scaling:
            a = [_step(step, v, Fraction(float(k))) for v, k in zip(a, constants, strict=True)]
        last = len(self.weights) - 1
        for layer, (w, b, bits) in enumerate(self._whole):
            scale = math.lcm(*(v.denominator for v in a))
            below = [v.numerator * (scale // v.denominator) for v in a]
            sums = [sum(map(mul, row, below)) + shift * scale for row, shift in zip(w, b, strict=True)]
            a = [Fraction(v if layer == last else max(v, 0), scale << bits) for v in sums]
        return a

    @cached_property
    def _whole(self) -> list[tuple[list[list[int]], list[int], int]]:
        """W, b of every layer in multiples of 2^-bits, and bits: sums of whole numbers are ten times as fast."""
        out = []
        for w, b in zip(self.weights, self.biases, strict=True):
            ratios = [[float(v).as_integer_ratio() for v in row] for row in (*w, b)]
            bits = max(under.bit_length() - 1 for row in ratios for _, under in row)
            *rows, shift = [[(over << bits) // under for over, under in row] for row in ratios]
            out.append((rows, shift, bits))
        return out

    def in_order(self, x: np.ndarray) -> np.ndarray:
        """The outputs [o] at x [m] in the network's own type, every sum from left to right, the bias last."""
        kind = np.dtype(self.dtype).type
        a = np.asarray(x).astype(kind)
        for step, k in self.scaling:
            a = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[step](a, k.astype(kind))
        last = len(self.weights) - 1
        for layer, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            s = np.zeros(len(b), dtype=kind)
            for column, v in zip(w.T.astype(kind), a, strict=True):
                s = s + column * v
            s = s + b.astype(kind)
            a = s if layer == last else np.maximum(s, kind(0))
        return a

    def data(self) -> bytes:
        """The weights as little-endian numbers of the network's type: W row by row, then b, layer by layer."""
        kind = np.dtype(self.dtype).newbyteorder("<")
        parts = [a.astype(kind).tobytes() for pair in zip(self.weights, self.biases, strict=True) for a in pair]
        return b"".join(parts)

    def digest(self) -> str:
        """SHA-256 of the weights, in hexadecimal."""
        return hashlib.sha256(self.data()).hexdigest()


def scaled(step: tuple[Step, np.ndarray], x: np.ndarray) -> np.ndarray:
    """One step of the scaling in float64; x [..., m]."""
    kind, constants = step
    return {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[kind](x, constants)


def _counted(items: Sequence) -> enumerate:
    return enumerate(items, 1)


def _numbers(values: np.ndarray, kind: np.dtype, what: str) -> np.ndarray:
    """Finite numbers of the network's type as float64; anything else is an error."""
    array = np.array(values, dtype=np.float64)  # a copy: nobody else can change it
    if not np.isfinite(array).all():
        raise SmileError(f"The network holds a number that is NaN or infinite ({what}); train it again.")
    if (np.abs(array) >= LARGEST).any():
        raise SmileError(f"The network holds a number of 2^40 or more ({what}), which no certificate covers.")
    if (array.astype(kind).astype(np.float64) != array).any():
        raise SmileError(f"The {what} are not {kind.name} numbers; give the network's own weights.")
    array.setflags(write=False)
    return array


def _step(step: Step, value: Fraction, constant: Fraction) -> Fraction:
    match step:
        case "add":
            return value + constant
        case "sub":
            return value - constant
        case "mul":
            return value * constant
        case _:
            return value / constant
