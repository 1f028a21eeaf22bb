"""The members of an ensemble as one program: a few large products instead of many small ones.

Members of one kind have the same layers and read the same ramps r [B, R]. With the weights of G members stacked,

    z_g = W_g h_g + C_g r + b_g       C r: one product for all members;  W h: one batched product
    h_g = min(max(z_g, low), high)    low = 0, high = ∞ for convex units; low = −∞, high = 0 for concave ones

The stacked tensors are what the optimiser moves, in float32: that takes half as long, and the noise of a step is far
above its rounding. `write_` gives the branches the numbers as float64, exactly; everything else sees those.

A kind that no longer gets better rests (train/encoded.py): it is neither computed nor moved while the others learn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from smilenn.model.encoders import Branch, Encoder, Kinks, Linear, Ramps

MOST = 2**25  # numbers that are kept of ramps, 256 MiB
ROWS = 4096  # whose ramps are computed at once
LEARNED = torch.float32


class Stack:
    """G branches of one kind and part: ramps, then linear layers with kinks between them."""

    def __init__(self, branches: list[Branch], learns: bool = True) -> None:
        self.branches, first = branches, branches[0]
        self.own: list[list[Linear]] = []
        self.pace, self.decay = first.pace, first.decay
        self.weights: list[torch.Tensor] = []
        self.biases: list[torch.Tensor] = []
        self.allowed: list[tuple[torch.Tensor, torch.Tensor] | None] = []  # ends of the weights that have a sign
        self.ends: list[tuple[torch.Tensor, torch.Tensor] | None] = []
        for place, layer in enumerate(first.layers):
            if isinstance(layer, Linear):
                self._stack([one for b in branches if isinstance(one := b.layers[place], Linear)], learns)
            elif isinstance(layer, Kinks):
                convex = torch.arange(layer.outputs, device=self.biases[-1].device) < layer.convex
                zero, far = torch.zeros_like(self.biases[-1][0]), torch.full_like(self.biases[-1][0], torch.inf)
                self.ends[-1] = torch.where(convex, zero, -far), torch.where(convex, far, zero)

    def _stack(self, own: list[Linear], learns: bool) -> None:
        """Weights, biases and signs of a layer of all members."""
        kind = LEARNED if learns else torch.float64
        for name, stacked in (("weight", self.weights), ("bias", self.biases)):
            together = torch.stack([getattr(one, name).detach() for one in own])
            stacked.append(together.to(kind).requires_grad_(learns))
        signs = torch.stack([one.signs for one in own]).to(kind)
        zero, far = torch.zeros_like(signs), torch.full_like(signs, torch.inf)
        ends = torch.where(signs > 0, zero, -far), torch.where(signs < 0, zero, far)
        self.allowed.append(ends if bool(signs.any()) else None)
        self.ends.append(None)
        self.own.append(own)

    def pairs(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Every stacked tensor of a member, and the branch's own."""
        for weight, bias, own in zip(self.weights, self.biases, self.own, strict=True):
            for g, one in enumerate(own):
                yield weight[g], one.weight
                yield bias[g], one.bias

    def outputs(self, ramps: torch.Tensor) -> torch.Tensor:
        """[B, R] → [B, G, j]."""
        return self.layers(ramps)[2][-1].transpose(0, 1)

    @torch.no_grad()
    def each(self, ramps: torch.Tensor) -> torch.Tensor:
        """[G·b, R], b rows for every group → [G, b, j]: every group of its own rows alone."""
        own = y = ramps.reshape(len(self.branches), -1, ramps.shape[1])
        for weight, bias, ends in zip(self.weights, self.biases, self.ends, strict=True):
            wide = y if weight.shape[2] == y.shape[2] else torch.cat([y, own], dim=2)
            y = torch.baddbmm(bias[:, None], wide, weight.transpose(1, 2))
            if ends is not None:
                torch.clamp(y, *ends, out=y)
        return y

    def layers(self, ramps: torch.Tensor) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
        """What goes into every layer (the ramps [B, R], then [G, B, i]), its z and its h, each [G, B, j]."""
        rows, size = ramps.shape
        inputs, before, after, y = list[torch.Tensor](), list[torch.Tensor](), list[torch.Tensor](), ramps
        for weight, bias, ends in zip(self.weights, self.biases, self.ends, strict=True):
            inputs.append(y)
            width = weight.shape[2] - size
            inner, base = weight.split([width, size], dim=2)
            z = torch.addmm(bias.reshape(-1), ramps, base.reshape(-1, size).T).reshape(rows, *bias.shape)
            z = z.transpose(0, 1)  # [G, B, j]
            z = torch.baddbmm(z, y, inner.transpose(1, 2)) if width else z
            y = z if ends is None else z.clamp(*ends)
            before.append(z)
            after.append(y)
        return inputs, before, after


class Ensemble:
    """All kinds of an encoder's members; `encoder.groups` > 0. If it never `learns`, they are evaluated in float64."""

    def __init__(self, encoder: Encoder, *, learns: bool = True) -> None:
        branches, self.kind = encoder.learned, LEARNED if learns else torch.float64
        self.passed = [c for b in encoder.branches if isinstance(b, Branch) and not len(b.layers) for c in b.columns]
        self.parts, self.members, together = encoder.parts, encoder.members, encoder.groups * encoder.parts
        kinds = [branches[i : i + together] for i in range(0, len(branches), together)]
        self.stacks = [Stack(kind[part :: self.parts], learns) for kind in kinds for part in range(self.parts)]
        firsts = [stack.branches[0] for stack in self.stacks]
        # stacks of other kinds that see the same ramps share them
        self.same = [next(i for i, other in enumerate(firsts) if _same_ramps(first, other)) for first in firsts]
        self.kept: dict[int, torch.Tensor] | None = None
        self.resting: frozenset[int] = frozenset()

    @property
    def awake(self) -> list[int]:
        """The stacks that still learn: those of kinds that are not `resting`."""
        return [i for i in range(len(self.stacks)) if i // self.parts not in self.resting]

    @property
    def kinds_awake(self) -> list[int]:
        """The kinds that are not `resting`."""
        return [k for k in range(len(self.stacks) // self.parts) if k not in self.resting]

    def ramps(self, u: torch.Tensor | None, rows: torch.Tensor | None = None) -> dict[int, torch.Tensor]:
        """The ramps [B, R] at u [B, m] that stacks read, by the first that does.

        `rows` [B] says which of the rows of `keep` these are; where there are such, u is not needed.
        """
        if self.kept is not None and rows is not None:
            read = {self.same[i] for i in self.awake}
            return {i: kept.index_select(0, rows) for i, kept in self.kept.items() if i in read}
        assert u is not None
        firsts = {i: self.stacks[i].branches[0] for i in self.same}
        return {i: first.layers[0](u[:, first.columns]).to(self.kind) for i, first in firsts.items()}

    @torch.no_grad()
    def keep(self, u: torch.Tensor) -> None:
        """Compute the ramps of all training rows u [N, m] once: no weight moves them. Of too many, nothing is kept."""
        if len(u) * sum(self.stacks[i].weights[0].shape[2] for i in set(self.same)) <= MOST:
            found = [self.ramps(part) for part in u.split(ROWS)]
            self.kept = {i: torch.cat([part[i] for part in found]) for i in found[0]}

    def outputs(self, u: torch.Tensor, rows: torch.Tensor | None = None) -> torch.Tensor:
        """u [B, m] → what the branches return [B, p], one member after the other, not cut to the encoder's box; then
        the columns that are passed on; `rows` as in `ramps`. Kinds that rest are left out.
        """
        ramps = self.ramps(u, rows)
        return self.joined([self.stacks[i].outputs(ramps[self.same[i]]) for i in self.awake], u)

    def each(self, u: torch.Tensor | None, rows: torch.Tensor) -> torch.Tensor:
        """u [G·b, m], b rows for every group, one group after the other → what its own members return [K, G, b, P], of
        the K kinds that are awake, without gradients; u and `rows` as in `ramps`.
        """
        ramps = self.ramps(u, rows)
        found = [self.stacks[i].each(ramps[self.same[i]]) for i in self.awake]
        kinds = [torch.cat(found[i : i + self.parts], dim=2) for i in range(0, len(found), self.parts)]
        return torch.stack(kinds)

    def joined(self, found: list[torch.Tensor], u: torch.Tensor | None) -> torch.Tensor:
        """The outputs [B, G, j] of all stacks that are awake at u [B, m] as one [B, p]; u is not needed where none of
        its columns is passed on.
        """
        kinds = [torch.cat(found[i : i + self.parts], dim=2) for i in range(0, len(found), self.parts)]
        passed = [u[:, self.passed]] if self.passed and u is not None else []
        return torch.cat([*(kind.reshape(len(kind), -1).to(torch.float64) for kind in kinds), *passed], dim=1)

    def split(self, e: torch.Tensor) -> list[torch.Tensor]:
        """The inverse of `joined` without columns that are passed on: [B, p] as [B, G, j] of every stack awake."""
        sizes = [self.stacks[i].biases[-1].shape for i in self.awake]  # G, j
        found, at = list[torch.Tensor](), 0
        for i in range(0, len(sizes), self.parts):
            own, groups = [j for _, j in sizes[i : i + self.parts]], sizes[i][0]
            kind = e[:, at : at + groups * sum(own)].reshape(len(e), groups, -1)
            found += kind.to(self.kind).split(own, dim=2)
            at += groups * sum(own)
        return found

    def parameter_groups(self) -> list[dict[str, Any]]:
        """For an optimiser: a group for every stack, in order, with its pace."""
        return [{"params": [*stack.weights, *stack.biases], "pace": stack.pace} for stack in self.stacks]

    @torch.no_grad()
    def settle_(self, rates: list[float], decay: float) -> None:
        """After a step: weights decay by their share of `decay` times the rates of the stacks; signs are restored."""
        for i in self.awake:
            stack, rate = self.stacks[i], rates[i]
            for weight, ends in zip(stack.weights, stack.allowed, strict=True):
                if ends is not None:
                    torch.clamp(weight, *ends, out=weight)
                weight.mul_(1 - rate * stack.decay * decay)

    @torch.no_grad()
    def write_(self) -> None:
        """Give the branches what was learned."""
        for i in self.awake:
            for learned, own in self.stacks[i].pairs():
                own.copy_(learned)

    @torch.no_grad()
    def read_(self) -> None:
        """Go on from the branches' numbers."""
        for stack in self.stacks:
            for learned, own in stack.pairs():
                learned.copy_(own)


def _same_ramps(one: Branch, other: Branch) -> bool:
    a, b = one.layers[0], other.layers[0]
    assert isinstance(a, Ramps) and isinstance(b, Ramps)
    alike = one.columns == other.columns and a.source == b.source
    return alike and torch.equal(a.start, b.start) and torch.equal(a.rate, b.rate)
