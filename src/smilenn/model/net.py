"""SmileNet, the paper's architecture: ``f(x) = g( select( h(u), lower(e), upper(e) ) )``, e = E(u).

`h` is any module (the backbone), `lower ≤ upper` small auxiliary nets, `g` linear. Inputs are raw units x [B, m]; the
scaler ``u = (x − shift)·mult`` and the clamp to the domain are part of the network. Auxiliaries and head are float64,
the backbone anything; outputs are float64 in the user's units. Without an encoder E, as in the paper, e = u.

    boxes="gap"     upper = lower + gap, gap ≥ 0 by construction: the box cannot flip (default)
    boxes="paper"   upper is a free net; where it falls below lower the box flips and gives lower

How the certified part is evaluated is its numeric profile (docs/certificate.md §5): sums in any order (`f64-aux`), in
one order for every row (`fixed-order`), or without any rounding on inputs of a grid (`dyadic`).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.model.auxiliaries import AuxiliaryKind, FreeNet, GapNet
from smilenn.model.backbones import describe
from smilenn.model.encoders import Encoder
from smilenn.model.fitted_backbone import FittedBackbone
from smilenn.model.profile import PROFILES, Profile, in_order, plain
from smilenn.model.select import select
from smilenn.model.snapshot import Boxes, Snapshot
from smilenn.model.threads import OneThread

OWN = ("head_weight", "head_bias", "shift", "mult", "u_lo", "u_hi", "output_scale")  # tensors of the network itself


def every_part(*modules: nn.Module | None) -> Iterator[nn.Module]:
    """Modules with all modules in them; as `nn.Module.modules`, without names and without leaving out repetitions."""
    waiting = list(modules)
    while waiting:
        part = waiting.pop()
        if part is not None:
            yield part
            waiting += part._modules.values()


def _array(tensor: torch.Tensor) -> np.ndarray:
    """A tensor as float64."""
    return tensor.detach().cpu().numpy().astype(np.float64)


@dataclass(frozen=True)
class Pathways:
    """The four outputs of the paper's pretraining, one below the other [4·B, o], and the embeddings [B, n] below them.

    The rows are those of the clipped f, of g∘lower, g∘upper and g∘h, in that order.
    """

    outputs: torch.Tensor
    z: torch.Tensor
    z_lower: torch.Tensor
    z_upper: torch.Tensor

    def each(self) -> tuple[torch.Tensor, ...]:
        """clipped, lower, upper, free, each [B, o]."""
        return self.outputs.split(len(self.z))


class SmileNet(nn.Module):
    """A network with an embedded over-approximation.

    Parameters
    ----------
    domain : the input space; fixes the m inputs, their scaling and bounds.
    backbone : module from [B, m] (its own dtype) to [B, n].
    embedding : n.
    outputs : names of the o outputs; ('',) for a scalar network.
    auxiliaries, hidden : kind of lower and upper, and their hidden units if ``relu``.
    boxes : ``gap`` or ``paper``.
    output_scale : size of the outputs in the user's units. Rounded to a power of two and folded into the head, so that
        training sees numbers near one while f returns the user's units.
    skip : give ReLU auxiliaries an affine term too.
    encoder : what the auxiliaries see instead of u; see `smilenn.model.encoders`.
    """

    shift: torch.Tensor
    mult: torch.Tensor
    u_lo: torch.Tensor
    u_hi: torch.Tensor
    output_scale: torch.Tensor

    def __init__(
        self,
        domain: Domain,
        backbone: nn.Module,
        embedding: int,
        *,
        outputs: Sequence[str] = ("",),
        auxiliaries: AuxiliaryKind = "relu",
        hidden: int = 32,
        boxes: Boxes = "gap",
        output_scale: Sequence[float] | float = 1.0,
        skip: bool = False,
        encoder: Encoder | None = None,
    ) -> None:
        super().__init__()
        if boxes not in ("gap", "paper"):
            raise SmileError(f"boxes is 'gap' or 'paper', not {boxes!r}.")
        self.domain, self.backbone, self.embedding = domain, backbone, embedding
        self.outputs = tuple(outputs)
        self.boxes: Boxes = boxes
        self.auxiliaries, self.hidden, self.skip = auxiliaries, hidden, skip
        self.profile: Profile = "f64-aux"
        self.grid = 0
        self.encoder = encoder
        m, o = domain.size if encoder is None else encoder.size, len(self.outputs)
        for name, value in (
            ("shift", domain.shift),
            ("mult", domain.mult),
            ("u_lo", domain.scale(domain.lo)),
            ("u_hi", domain.scale(domain.hi)),
        ):
            self.register_buffer(name, torch.tensor(value, dtype=torch.float64), persistent=False)
        scales = np.broadcast_to(np.asarray(output_scale, dtype=np.float64), (o,))
        if not (np.isfinite(scales).all() and (scales > 0).all()):
            raise SmileError(f"output_scale must be positive, not {output_scale}.")
        rounded = [2.0 ** round(math.log2(s)) for s in scales]
        self.register_buffer("output_scale", torch.tensor(rounded, dtype=torch.float64), persistent=False)
        self.lower = FreeNet(auxiliaries, m, embedding, hidden, skip=skip)
        # the ends of an encoder's box move, so a gap over encoded inputs has no affine part
        kind, ends = (
            (auxiliaries, (self.u_lo, self.u_hi))
            if encoder is None
            else ("constant" if auxiliaries == "affine" else auxiliaries, (encoder.lo, encoder.hi))
        )
        self.second = (
            GapNet(kind, *ends, embedding, hidden)
            if boxes == "gap"
            else FreeNet(auxiliaries, m, embedding, hidden, skip=skip)
        )
        self.head_weight = nn.Parameter(torch.empty(o, embedding, dtype=torch.float64))
        self.head_bias = nn.Parameter(torch.zeros(o, dtype=torch.float64))
        nn.init.uniform_(self.head_weight, -1 / math.sqrt(embedding), 1 / math.sqrt(embedding))

    # ---- evaluation ---------------------------------------------------------------------------------------------

    def set_profile(self, profile: Profile, grid: int = 0) -> None:
        """Choose the numeric profile; `grid` is g of ``dyadic``, whose inputs are rounded to multiples of 2^-g."""
        if profile not in PROFILES:
            raise SmileError(f"There is no numeric profile {profile!r}; choose one of {listed(PROFILES)}.")
        if not (1 <= grid <= 52 if profile == "dyadic" else grid == 0):
            raise SmileError(f"Profile {profile!r} does not go with the grid 2^-{grid}.")
        self.profile, self.grid = profile, grid

    def scale(self, x: torch.Tensor) -> torch.Tensor:
        """Raw inputs x [B, m] → model units clamped to the domain, float64; on the grid under ``dyadic``.

        Coordinate by coordinate, and non-decreasing in each: the order of two inputs survives whatever the rounding.
        """
        u = self._on_grid((x.to(torch.float64) - self.shift) * self.mult)
        return torch.minimum(torch.maximum(u, self._on_grid(self.u_lo)), self._on_grid(self.u_hi))

    def _on_grid(self, u: torch.Tensor) -> torch.Tensor:
        return torch.round(u * 2.0**self.grid) * 2.0**-self.grid if self.grid else u

    @property
    def space(self) -> Domain:
        """The domain of e, where the auxiliaries and the proofs live: the inputs' own without an encoder."""
        return self.domain if self.encoder is None else self.encoder.space

    def encode(self, u: torch.Tensor) -> torch.Tensor:
        """e = E(u): model units u [B, m] → what the auxiliaries see, [B, p]."""
        return u if self.encoder is None else self.encoder(u)

    def box(self, e: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """lower and upper at e [B, p], each [B, n]; the paper's upper is returned raw, before flips are resolved."""
        ordered = self.profile == "fixed-order"
        lower = self.lower.ordered(e) if ordered else self.lower(e)
        second = self.second.ordered(e) if ordered else self.second(e)
        return lower, lower + second if self.boxes == "gap" else second

    def embed(self, u: torch.Tensor) -> torch.Tensor:
        """The backbone's embedding at u [B, m], float64 [B, n]."""
        parameter = next(self.backbone.parameters(), None)
        # a copy: a backbone that works in place must not move the point at which the box is evaluated
        z = self.backbone(u.to(u.dtype if parameter is None else parameter.dtype, copy=True))
        if z.shape != (len(u), self.embedding):
            raise SmileError(f"The backbone returned shape {tuple(z.shape)}; expected {(len(u), self.embedding)}.")
        return plain(z).to(torch.float64)

    def inner(self, x: torch.Tensor, u: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor) -> torch.Tensor:
        """What the backbone would put into the box [B, n] at raw x and model units u, both [B, m]; not cut to it."""
        if isinstance(self.backbone, FittedBackbone):
            return self.backbone.within(x, lower, upper, self.effective_head())
        return self.embed(u)

    def head(self, z: torch.Tensor) -> torch.Tensor:
        """g: embeddings [B, n] → outputs [B, o] in the user's units."""
        if self.profile == "fixed-order":
            return in_order(self.head_bias, [(z, self.head_weight)]) * self.output_scale
        return (z @ self.head_weight.T + self.head_bias) * self.output_scale

    def effective_head(self) -> tuple[torch.Tensor, torch.Tensor]:
        """G [o, n] and g_0 [o] with the output scale folded in; exact, since the scale is a power of two."""
        return self.head_weight * self.output_scale[:, None], self.head_bias * self.output_scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Raw inputs x [B, m] → outputs [B, o], float64."""
        self.assert_float64()
        with self._certified(x), torch.autocast(x.device.type, enabled=False):
            u = self.scale(x)
            lower, upper = self.box(self.encode(u))
        z = self.inner(x, u, lower, upper)  # after the box: a backbone may change global settings, and have any type
        with self._certified(x), torch.autocast(x.device.type, enabled=False):
            return self.head(select(z, lower, upper))

    def _certified(self, x: torch.Tensor) -> OneThread | nullcontext[None]:
        """Where the certified part is computed: deployed, in the calling thread alone, which is asserted to round."""
        return nullcontext() if self.training else OneThread(len(x), subnormals=self.bitwise)

    @property
    def bitwise(self) -> bool:
        """Whether the order or the equality of two evaluations is promised bit for bit."""
        return self.profile == "fixed-order" or self.encoder is not None

    def assert_float64(self) -> None:
        """Raise if somebody has cast the certified part to another type: no certificate covers that network."""
        if all(tensor is None or tensor.dtype == torch.float64 for tensor in self._tensors()):
            return
        for name, tensor in self.certified_part():
            if tensor.dtype != torch.float64:
                raise SmileError(
                    f"{name} was cast to {tensor.dtype}, but auxiliaries and head run in float64; "
                    "cast the backbone alone."
                )

    def _tensors(self) -> Iterator[torch.Tensor | None]:
        """The tensors of `certified_part`, and those of pinned modules: names take longer than what they name."""
        for part in every_part(self.lower, self.second, self.encoder):
            yield from part._parameters.values()
            yield from part._buffers.values()
        yield from (getattr(self, name) for name in OWN)

    def certified_part(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Names and tensors of the scaler, the auxiliaries and the head."""
        for part, module in (("lower.", self.lower), ("second.", self.second)):
            for name, tensor in (*module.named_parameters(), *module.named_buffers()):
                yield part + name, tensor
        for name, tensor in () if self.encoder is None else self.encoder.state_dict().items():
            if ".module." not in name:  # a pinned module has a type of its own
                yield "encoder." + name, tensor
        for name in OWN:
            yield name, getattr(self, name)

    def pathways(self, x: torch.Tensor) -> Pathways:
        """All four output pathways at x [B, m]: clipped f, g∘lower, g∘upper and g∘h, by one product with the head."""
        u = self.scale(x)
        lower, upper = self.box(self.encode(u))
        z = self.inner(x, u, lower, upper)
        return Pathways(self.head(torch.cat([select(z, lower, upper), lower, upper, z])), z, lower, upper)

    @torch.no_grad()
    def predict(self, x: np.ndarray, batch: int = 4096) -> np.ndarray:
        """Raw inputs x [B, m] → outputs [B, o], in batches, in evaluation mode."""
        if self._learning():  # a copy: another thread may be predicting with this one
            return copy.deepcopy(self).eval().predict(x, batch)
        parts = [
            self(torch.as_tensor(x[i : i + batch], device=self.shift.device)).cpu().numpy()
            for i in range(0, len(x), batch)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.outputs)))

    def _learning(self) -> bool:
        """Whether the network, or a layer of its encoder, is in training mode: there sums run in another order."""
        return self.training or (self.encoder is not None and any(part.training for part in every_part(self.encoder)))

    # ---- weights ------------------------------------------------------------------------------------------------

    @property
    def gap(self) -> GapNet:
        """The gap of flip-free boxes."""
        if not isinstance(self.second, GapNet):
            raise SmileError("boxes='paper' has a free upper net and no gap; use boxes='gap'.")
        return self.second

    @property
    def collapsed(self) -> bool:
        """Whether the gap is identically zero: then f = g∘lower and the backbone plays no part."""
        return self.boxes == "gap" and self.gap.is_zero()

    def enforcement_parameters(self) -> list[nn.Parameter]:
        """Auxiliaries and head, less what is frozen: what the projector may move."""
        every = [*self.lower.parameters(), *self.second.parameters(), self.head_weight, self.head_bias]
        return [parameter for parameter in every if parameter.requires_grad]

    @torch.no_grad()
    def project_(self) -> None:
        """Restore the sign constraints after an optimiser step."""
        self.lower.project_()
        if self.boxes == "gap":
            self.gap.project_()
        if self.encoder is not None:
            self.encoder.project_()

    @torch.no_grad()
    def centre_(self, x: torch.Tensor) -> None:
        """Centre the auxiliaries' initialisation on data rows x [B, m] (raw units), picked with torch's generator.

        Units that are frozen have their place.
        """
        free = [net for net in (self.lower, self.second) if net.hidden and net.weight.requires_grad]
        if not free:
            return  # there may be many rows, and an encoder takes its time
        e = self.encode(self.scale(x))
        for net in free:
            net.centre(e[torch.randint(len(e), (net.hidden,), device=e.device)])

    def _refuse_edited_scaler(self) -> None:
        domain = self.domain
        for buffer, wanted in (
            (self.shift, domain.shift),
            (self.mult, domain.mult),
            (self.u_lo, domain.scale(domain.lo)),
            (self.u_hi, domain.scale(domain.hi)),
        ):
            if not np.array_equal(_array(buffer), wanted):
                raise SmileError(
                    "The network's scaler was edited, so it no longer is that of its domain; load it again."
                )

    def snapshot(self) -> Snapshot:
        """The certified part as float64 arrays; non-finite weights are an error."""
        self._refuse_edited_scaler()
        space = self.space
        n, m = self.embedding, space.size
        hidden_lo, hidden_up = self.lower.hidden, self.second.hidden
        h = hidden_lo + hidden_up
        weight, bias = np.zeros((h, m)), np.zeros(h)
        lower_out, second_out = np.zeros((n, h)), np.zeros((n, h))
        for net, start, out in ((self.lower, 0, lower_out), (self.second, hidden_lo, second_out)):
            if net.hidden:
                span = slice(start, start + net.hidden)
                weight[span], bias[span], out[:, span] = _array(net.weight), _array(net.bias), _array(net.out)
        second_const = _array(self.second.const)
        second_slope = np.zeros((n, m))
        if isinstance(self.second, GapNet):
            if not self.second.is_non_negative():
                raise SmileError("The gap has negative weights; call project_() after every optimiser step.")
            if self.second.kind == "affine":
                rise, fall = _array(self.second.rise), _array(self.second.fall)
                second_slope = rise - fall
                second_const = second_const - rise @ _array(self.u_lo) + fall @ _array(self.u_hi)
        elif self.second.skip:
            second_slope = _array(self.second.slope)
        head_weight, head_bias = self.effective_head()
        return Snapshot(
            space,
            self.boxes,
            weight,
            bias,
            _array(self.lower.const),
            _array(self.lower.slope) if self.lower.skip else np.zeros((n, m)),
            lower_out,
            second_const,
            second_slope,
            second_out,
            _array(head_weight),
            _array(head_bias),
            self.outputs,
            _array(self.output_scale),
            self.profile,
            self.grid,
            None if self.encoder is None else self.encoder.freeze(),
        )

    def describe(self) -> dict[str, Any]:
        """The architecture as JSON-ready data, enough to rebuild it with fresh weights."""
        encoder = {} if self.encoder is None else {"encoder": self.encoder.describe()}
        return encoder | {
            "domain": self.domain.to_json(),
            "backbone": describe(self.backbone),
            "embedding": self.embedding,
            "outputs": list(self.outputs),
            "auxiliaries": self.auxiliaries,
            "hidden": self.hidden,
            "boxes": self.boxes,
            "skip": self.skip,
            "output_scale": self.output_scale.tolist(),
            "profile": self.profile,
            "grid": self.grid,
        }
