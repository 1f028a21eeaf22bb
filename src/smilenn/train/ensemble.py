"""The members of an ensemble as one program: a few large products instead of many small ones.

Members of one kind have the same layers and read the same ramps r [B, R]. With the weights of G members stacked,

    z_g = W_g h_g + C_g r + b_g       C r: one product for all members;  W h: one batched product
    h_g = min(max(z_g, low), high)    low = 0, high = ∞ for convex units; low = −∞, high = 0 for concave ones

The stacked tensors are what the optimiser moves; the parameters of the branches are views of them while they are
trained (`release` gives them memory of their own again), so that everything else sees the members as they are.
"""

from __future__ import annotations

from typing import Any

import torch

from smilenn.model.encoders import Branch, Encoder, Kinks, Linear, Ramps

MOST = 2**23  # numbers that are kept of ramps, 64 MiB


class Stack:
    """G branches of one kind and part: ramps, then linear layers with kinks between them."""

    def __init__(self, branches: list[Branch], views: bool = True) -> None:
        self.branches, first = branches, branches[0]
        self.pace, self.decay = first.pace, first.decay
        self.weights: list[torch.Tensor] = []
        self.biases: list[torch.Tensor] = []
        self.signs: list[torch.Tensor | None] = []
        self.ends: list[tuple[torch.Tensor, torch.Tensor] | None] = []
        for place, layer in enumerate(first.layers):
            if isinstance(layer, Linear):
                self._stack([one for b in branches if isinstance(one := b.layers[place], Linear)], views)
            elif isinstance(layer, Kinks):
                convex = torch.arange(layer.outputs, device=self.biases[-1].device) < layer.convex
                zero, far = torch.zeros_like(self.biases[-1][0]), torch.full_like(self.biases[-1][0], torch.inf)
                self.ends[-1] = torch.where(convex, zero, -far), torch.where(convex, far, zero)

    def _stack(self, own: list[Linear], views: bool) -> None:
        """Weights, biases and signs of a layer of all members; the layers' own become views of them if `views`."""
        for name, stacked in (("weight", self.weights), ("bias", self.biases)):
            together = torch.stack([getattr(one, name).detach() for one in own])
            for g, one in enumerate(own if views else ()):
                getattr(one, name).data = together[g]
            stacked.append(together.requires_grad_(views))
        signs = torch.stack([one.signs for one in own])
        self.signs.append(signs if bool(signs.any()) else None)
        self.ends.append(None)

    def outputs(self, ramps: torch.Tensor) -> torch.Tensor:
        """[B, R] → [B, G, j]."""
        return self.layers(ramps)[2][-1].transpose(0, 1)

    def layers(self, ramps: torch.Tensor) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
        """What goes into every layer (the ramps [B, R], then [G, B, i]), its z and its h, each [G, B, j]."""
        rows, size = ramps.shape
        inputs, before, after, y = list[torch.Tensor](), list[torch.Tensor](), list[torch.Tensor](), ramps
        for weight, bias, ends in zip(self.weights, self.biases, self.ends, strict=True):
            inputs.append(y)
            width = weight.shape[2] - size
            own, base = weight.split([width, size], dim=2)
            z = torch.addmm(bias.reshape(-1), ramps, base.reshape(-1, size).T).reshape(rows, *bias.shape)
            z = z.transpose(0, 1)  # [G, B, j]
            z = torch.baddbmm(z, y, own.transpose(1, 2)) if width else z
            y = z if ends is None else z.clamp(*ends)
            before.append(z)
            after.append(y)
        return inputs, before, after


class Ensemble:
    """All kinds of an encoder's members; `encoder.groups` > 0. Without `views` a copy of them, to be evaluated."""

    def __init__(self, encoder: Encoder, *, views: bool = True) -> None:
        branches = encoder.learned
        self.passed = [c for b in encoder.branches if isinstance(b, Branch) and not len(b.layers) for c in b.columns]
        self.parts, self.members, together = encoder.parts, encoder.members, encoder.groups * encoder.parts
        kinds = [branches[i : i + together] for i in range(0, len(branches), together)]
        self.stacks = [Stack(kind[part :: self.parts], views) for kind in kinds for part in range(self.parts)]
        firsts = [stack.branches[0] for stack in self.stacks]
        # stacks of other kinds that see the same ramps share them
        self.same = [next(i for i, other in enumerate(firsts) if _same_ramps(first, other)) for first in firsts]
        self.kept: dict[int, torch.Tensor] | None = None

    def ramps(self, u: torch.Tensor, rows: torch.Tensor | None = None) -> dict[int, torch.Tensor]:
        """The ramps [B, R] at u [B, m] that stacks read, by the first that does.

        `rows` [B] says which of the rows of `keep` these are.
        """
        if self.kept is not None and rows is not None:
            return {i: kept.index_select(0, rows) for i, kept in self.kept.items()}
        firsts = {i: self.stacks[i].branches[0] for i in self.same}
        return {i: first.layers[0](u[:, first.columns]) for i, first in firsts.items()}

    @torch.no_grad()
    def keep(self, u: torch.Tensor) -> None:
        """Compute the ramps of all training rows u [N, m] once: no weight moves them. Of too many, nothing is kept."""
        if len(u) * sum(self.stacks[i].weights[0].shape[2] for i in set(self.same)) <= MOST:
            self.kept = self.ramps(u)

    def outputs(self, u: torch.Tensor, rows: torch.Tensor | None = None) -> torch.Tensor:
        """u [B, m] → what the branches return [B, p], one member after the other, not cut to the encoder's box; then
        the columns that are passed on; `rows` as in `ramps`.
        """
        ramps = self.ramps(u, rows)
        return self.joined([stack.outputs(ramps[i]) for stack, i in zip(self.stacks, self.same, strict=True)], u)

    def joined(self, found: list[torch.Tensor], u: torch.Tensor) -> torch.Tensor:
        """The outputs [B, G, j] of all stacks at u [B, m] as one [B, p]."""
        kinds = [torch.cat(found[i : i + self.parts], dim=2) for i in range(0, len(found), self.parts)]
        return torch.cat([*(kind.reshape(len(u), -1) for kind in kinds), u[:, self.passed]], dim=1)

    def split(self, e: torch.Tensor) -> list[torch.Tensor]:
        """The inverse of `joined` without columns that are passed on: [B, p] as [B, G, j] of every stack."""
        sizes = [stack.biases[-1].shape for stack in self.stacks]  # G, j
        found, at = list[torch.Tensor](), 0
        for i in range(0, len(sizes), self.parts):
            own, groups = [j for _, j in sizes[i : i + self.parts]], sizes[i][0]
            kind = e[:, at : at + groups * sum(own)].reshape(len(e), groups, -1)
            found += kind.split(own, dim=2)
            at += groups * sum(own)
        return found

    def parameter_groups(self) -> list[dict[str, Any]]:
        """For an optimiser: a group for every stack, in order, with its pace."""
        return [{"params": [*stack.weights, *stack.biases], "pace": stack.pace} for stack in self.stacks]

    @torch.no_grad()
    def settle_(self, rates: list[float], decay: float) -> None:
        """After a step: weights decay by their share of `decay` times the rates of the stacks; signs are restored."""
        for stack, rate in zip(self.stacks, rates, strict=True):
            for weight, signs in zip(stack.weights, stack.signs, strict=True):
                if signs is not None:
                    weight.copy_(torch.where(weight * signs < 0, torch.zeros_like(weight), weight))
                weight.mul_(1 - rate * stack.decay * decay)

    @torch.no_grad()
    def release(self) -> None:
        """The branches' parameters get memory of their own."""
        for stack in self.stacks:
            for branch in stack.branches:
                for parameter in branch.parameters():
                    parameter.data = parameter.data.clone()


def _same_ramps(one: Branch, other: Branch) -> bool:
    a, b = one.layers[0], other.layers[0]
    assert isinstance(a, Ramps) and isinstance(b, Ramps)
    alike = one.columns == other.columns and a.source == b.source
    return alike and torch.equal(a.start, b.start) and torch.equal(a.rate, b.rate)
