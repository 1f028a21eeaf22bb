"""The certified part of a network as float64 NumPy arrays: what provers and search see instead of torch.

In model units u [m], with H hidden units in all:

    lower(u)  = c_lo + A_lo·u + V_lo·relu(W u + b)                  [n]
    second(u) = c_up + A_up·u + V_up·relu(W u + b)                  [n]
    upper(u)  = lower(u) + second(u)            boxes="gap"    (second is the gap, ≥ 0 on X by construction)
              = max(lower(u), second(u))        boxes="paper"  (second is the free upper net; a flipped box gives lower)
    output    = G·z + g_0,  lower ≤ z ≤ upper                        [o]

Constant auxiliaries have A = 0 and V = 0, affine ones V = 0. Lower and second use disjoint columns of V unless a
network shares its hidden layer.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.profile import Profile
from smilenn.model.spread import Encoding

Boxes = Literal["gap", "paper"]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Float64 copy of auxiliaries and head; m coordinates, H hidden units, n embedding sizes, o outputs.

    Attributes
    ----------
    boxes : ``gap`` or ``paper``, see the module's formula.
    hidden_weight, hidden_bias : W [H, m], b [H].
    lower_const, lower_slope, lower_out : c_lo [n], A_lo [n, m], V_lo [n, H].
    second_const, second_slope, second_out : c_up, A_up, V_up likewise.
    head_weight, head_bias : G [o, n], g_0 [o], in the user's output units.
    outputs : names, ('',) for a scalar network.
    output_scale : [o] size of each output, used to state tolerances; 1 for logits.
    profile : how the network is evaluated, see `smilenn.model.profile`.
    encoding : the encoder in front, or None; then `domain` is that of e, not of the inputs.
    grid : g if the network rounds its inputs u to multiples of 2^-g (profile ``dyadic``), else 0.
    """

    domain: Domain
    boxes: Boxes
    hidden_weight: np.ndarray
    hidden_bias: np.ndarray
    lower_const: np.ndarray
    lower_slope: np.ndarray
    lower_out: np.ndarray
    second_const: np.ndarray
    second_slope: np.ndarray
    second_out: np.ndarray
    head_weight: np.ndarray
    head_bias: np.ndarray
    outputs: tuple[str, ...]
    output_scale: np.ndarray
    profile: Profile = "f64-aux"
    grid: int = 0
    encoding: Encoding | None = None

    def __post_init__(self) -> None:
        n, m, h, o = len(self.lower_const), self.domain.size, len(self.hidden_bias), len(self.outputs)
        shapes = {
            "hidden_weight": (h, m),
            "hidden_bias": (h,),
            "lower_const": (n,),
            "lower_slope": (n, m),
            "lower_out": (n, h),
            "second_const": (n,),
            "second_slope": (n, m),
            "second_out": (n, h),
            "head_weight": (o, n),
            "head_bias": (o,),
            "output_scale": (o,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.dtype != np.float64 or array.shape != shape:
                raise SmileError(f"{name} must be float64 of shape {shape}, not {array.dtype} of {array.shape}.")
            if not np.isfinite(array).all():
                raise SmileError(
                    f"The weights {name} hold a value that is not finite; train again with a smaller learning rate."
                )

    @property
    def embedding(self) -> int:
        """n, the size of the embedding."""
        return len(self.lower_const)

    @property
    def zero_gap(self) -> bool:
        """Whether every box is one point by its weights, so that f = g∘lower whatever the backbone does."""
        second = (self.second_const, self.second_slope, self.second_out)
        return self.boxes == "gap" and not any(part.any() for part in second)

    def box(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """lower and upper at u [..., m], each [..., n]; upper ≥ lower always (flips resolved as the network does)."""
        hidden = np.maximum(u @ self.hidden_weight.T + self.hidden_bias, 0.0)
        lower = self.lower_const + u @ self.lower_slope.T + hidden @ self.lower_out.T
        second = self.second_const + u @ self.second_slope.T + hidden @ self.second_out.T
        return lower, lower + second if self.boxes == "gap" else np.maximum(lower, second)

    def width(self, u: np.ndarray) -> np.ndarray:
        """Σ_i |G_oi|·(upper_i − lower_i) at u [..., m]: the freedom the backbone has in each output, [..., o]."""
        lower, upper = self.box(u)
        return (upper - lower) @ np.abs(self.head_weight).T

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything above, hexadecimal; equal weights and domain give equal digests."""
        hasher = hashlib.sha256()
        hasher.update(repr((self.domain.to_json(), self.boxes, self.outputs, self.profile, self.grid)).encode())
        hasher.update(b"" if self.encoding is None else self.encoding.digest.encode())
        for name in sorted(self.__dataclass_fields__):
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                hasher.update(f"{name}{value.shape}".encode())
                hasher.update(np.ascontiguousarray(value, dtype="<f8").tobytes())
        return hasher.hexdigest()
