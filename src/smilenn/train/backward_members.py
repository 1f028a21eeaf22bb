"""Loss and gradient of an ensemble behind an encoder, written out as in backward.py, to the last bit torch's.

    L = mean_k L_s(f_k)  [+ L_s(g(min(max(z, lower), upper))) + L_s(g(z)),  z = h(u), where the box has a width]

    f_k = g(centre + M·S_k·e_k)      member k of M by itself; auxiliaries and head are fixed (`averaged`)

A member is a stack's layers over ramps r (ensemble.py), z_l = W h_{l−1} + C r + b, h_l = z_l cut to its kinks. With Z
the slope of L at z_l, the layer passes

    Zᵀh_{l−1} to W,  Zᵀr to C,  the sums of Z over rows to b,  Z W to h_{l−1}

and a slope passes a kink where h = z, which is where z was not cut. The box does not feel e, and at a tie the minimum
and the maximum pass half of a slope, as torch has it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from smilenn.model.auxiliaries import FreeNet, GapNet
from smilenn.model.net import SmileNet
from smilenn.train.adam import Moves
from smilenn.train.backward import Weights, hooked, layered, plain, through
from smilenn.train.ensemble import LEARNED, Ensemble, Stack
from smilenn.train.losses import TaskLoss


class MembersBackward:
    """An ensemble whose gradient is written out, and its optimiser; made for an epoch."""

    def __init__(self, net: SmileNet, ensemble: Ensemble, optimizer: torch.optim.Optimizer) -> None:
        self.net, self.ensemble, self.optimizer = net, ensemble, optimizer
        self.runs: dict[tuple[int, int], StackRun] = {}  # by stack and rows
        self.moves: Moves | None = None
        self.collapsed = net.collapsed
        self.layers: list[Weights] = [(m.weight, m.bias) for m in net.backbone if isinstance(m, nn.Linear)]  # type: ignore[union-attr]
        own = [] if self.collapsed else [parameter for layer in self.layers for parameter in layer]
        self.parameters = [own, *([] for _ in ensemble.stacks)]
        for i in ensemble.awake:
            self.parameters[1 + i] = [*ensemble.stacks[i].weights, *ensemble.stacks[i].biases]
        n, many = net.embedding, ensemble.members
        groups = len(ensemble.stacks[0].branches)
        awake = [k * groups + g for k in ensemble.kinds_awake for g in range(groups)]
        self.slope = net.lower.slope.reshape(n, many, -1).permute(1, 2, 0)[awake]  # S, [awake, P, n]
        self.middle = net.lower.const + net.second.const.expand(1, n) / 2  # [1, n]

    @classmethod
    def of(
        cls,
        net: SmileNet,
        ensemble: Ensemble | None,
        optimizer: torch.optim.Optimizer,
        before: MembersBackward | None = None,
    ) -> MembersBackward | None:
        """For an ensemble whose gradient is the one written here, else None; in the memory of the one `before`."""
        if ensemble is None or not _plain_encoder(net, ensemble) or not has_fixed_box(net) or not _watched_by_none(net):
            return None
        made = cls(net, ensemble, optimizer)
        made.runs = before.runs if before is not None and before.ensemble is ensemble else {}
        backbone, *stacks = made.parameters
        fits = all(map(plain, backbone)) and all(plain(parameter, LEARNED) for own in stacks for parameter in own)
        return made if fits and len(made.parameters) == len(optimizer.param_groups) else None

    def ready(self) -> bool:
        """Whether the optimiser's kernel can be called; torch's own first step makes its moments."""
        self.moves = Moves.of(self.optimizer, self.parameters) if self.moves is None else self.moves
        return self.moves is not None

    def _run(self, stack: int, rows: int) -> StackRun:
        """The layers of a stack for so many rows: those of a whole batch, or of the last."""
        if (stack, rows) not in self.runs:
            self.runs[stack, rows] = StackRun(self.ensemble.stacks[stack], rows)
        return self.runs[stack, rows]

    def step(self, gradients: list[list[torch.Tensor]]) -> None:
        """Move the parameters, once `ready`."""
        assert self.moves is not None
        self.moves.step(gradients)

    @property
    def reads(self) -> bool:
        """Whether a step needs inputs: not where ramps are kept and no backbone learns."""
        return self.ensemble.kept is None or not self.collapsed

    @torch.no_grad()
    def __call__(
        self,
        u: torch.Tensor | None,
        rows: torch.Tensor,
        y: torch.Tensor,
        share: torch.Tensor | None,
        own: torch.Tensor | None,
        task_loss: TaskLoss,
    ) -> tuple[torch.Tensor, list[list[torch.Tensor]]]:
        """L and its gradient, one list for every group of parameters.

        u [B, m] model units of the training rows `rows` [B], None unless it `reads` them; y [B, o]; share [A, B] what
        each row counts for each of the A members awake, adding up to one (None: equally); own [B] what it counts for
        the backbone. Slopes are those of the sum over them divided by M, as if none rested; L is their mean.
        """
        net, ensemble, many, batch = self.net, self.ensemble, self.ensemble.members, len(rows)
        awake = len(self.slope)
        head, scale = net.head_weight, net.output_scale
        ramps = ensemble.ramps(u, rows)
        runs = {i: self._run(i, batch) for i in ensemble.awake}
        e = ensemble.joined([run(ramps[ensemble.same[i]]).transpose(0, 1) for i, run in runs.items()], u)  # [B, p]
        each = e.reshape(batch, awake, -1).transpose(0, 1) @ self.slope  # [A, B, n]
        z = (self.middle + many * each).reshape(awake * batch, -1)
        f, t = (z @ head.T + net.head_bias) * scale, y.repeat(awake, 1)
        if share is None:
            loss, slope = task_loss.slope(f, t, None, 1 if awake == many else awake / many)
        else:
            loss, slope = task_loss.slope(f, t, share.reshape(-1), share.sum() / many)
        slope = (slope * scale).mm(head).reshape(awake, batch, -1) * many
        slope = slope.bmm(self.slope.transpose(1, 2)).transpose(0, 1).reshape(batch, -1)  # [B, p]
        parts = [part.transpose(0, 1) for part in ensemble.split(slope)]  # [G, B, j] each
        found = {i: run.backward(part) for (i, run), part in zip(runs.items(), parts, strict=True)}
        of_members = [found.get(i, []) for i in range(len(ensemble.stacks))]
        if self.collapsed:
            return loss if awake == many else loss * (many / awake), [[], *of_members]

        assert u is not None  # `reads`
        lower = F.linear(e, net.lower.slope, net.lower.const)
        upper = lower + net.second.const.expand(lower.shape)
        inside = [u]
        for layer in self.layers[:-1]:
            inside.append(F.linear(inside[-1], *layer).relu_())
        z = F.linear(inside[-1], *self.layers[-1])
        above = torch.maximum(z, lower)
        cut, cut_slope = task_loss.slope((torch.minimum(above, upper) @ head.T + net.head_bias) * scale, y, own, 1)
        free, free_slope = task_loss.slope((z @ head.T + net.head_bias) * scale, y, own, 1)
        slope = (cut_slope * scale).mm(head)
        slope = torch.where(above == upper, slope / 2, slope).masked_fill_(above > upper, 0)
        slope = torch.where(z == lower, slope / 2, slope).masked_fill_(z < lower, 0)
        slope = (free_slope * scale).mm(head).add_(slope)
        return loss + cut + free, [through(slope, inside, self.layers), *of_members]


class StackRun:
    """The layers of one stack for batches of B rows, with what its gradient needs.

    Every result has a place in memory, the same in every step: new memory takes a tenth of the time of a step.
    """

    def __init__(self, stack: Stack, rows: int) -> None:
        size = stack.weights[0].shape[2]
        layers = zip(stack.weights, stack.biases, stack.ends, strict=True)
        self.layers = [LayerRun(weight, bias, ends, size, rows) for weight, bias, ends in layers]

    def __call__(self, ramps: torch.Tensor) -> torch.Tensor:
        """Ramps [B, R] → outputs [G, B, j]."""
        y = ramps
        for layer in self.layers:
            y = layer(y, ramps)
        return y

    def backward(self, slope: torch.Tensor) -> list[torch.Tensor]:
        """Gradients of the weights and then the biases from the slope [G, B, j] at the outputs of the last call."""
        for layer in reversed(self.layers):
            slope = layer.backward(slope)
        return [layer.of_weight for layer in self.layers] + [layer.of_bias for layer in self.layers]


class LayerRun:
    """One layer of G members with j units each, for B rows: z = W h + C r + b, of which h is [G, B, i].

    `of_weight` [G, j, i + R] and `of_bias` [G, j] are its gradients. The first layer has no h.
    """

    def __init__(
        self,
        weight: torch.Tensor,
        bias: torch.Tensor,
        ends: tuple[torch.Tensor, torch.Tensor] | None,
        size: int,
        rows: int,
    ) -> None:
        weight, bias, self.ends = weight.detach(), bias.detach(), ends  # views: they move as the weights do
        groups, units, wide = weight.shape
        self.inner, base = weight.split([wide - size, size], dim=2)
        self.inner_t, self.base_t, self.bias = self.inner.transpose(1, 2), base.view(-1, size).t(), bias.view(-1)
        self.of_weight, self.of_bias = torch.empty_like(weight), torch.empty_like(bias)
        self.of_inner, self.of_base = self.of_weight.split([wide - size, size], dim=2)
        # row by row, as the product with all members has it; and member by member, as their own products do
        self.start, self.flat = weight.new_empty(rows, groups * units), weight.new_empty(rows, groups * units)
        self.starts, self.slopes = (v.view(rows, groups, units).transpose(0, 1) for v in (self.start, self.flat))
        self.first = wide == size
        self.z = self.starts if self.first else weight.new_empty(groups, rows, units)
        self.h = self.z if ends is None else torch.empty_like(self.z)
        self.passes = self.slopes if self.first else torch.empty_like(self.z)
        self.to_inner = weight.new_empty(groups, wide - size, units)
        self.to_base = weight.new_empty(size, groups * units)
        self.to_h = weight.new_empty(groups, rows, wide - size)
        self.inputs = self.ramps = self.start

    def __call__(self, y: torch.Tensor, ramps: torch.Tensor) -> torch.Tensor:
        """y [G, B, i] and ramps [B, R] → [G, B, j]."""
        self.inputs, self.ramps = y, ramps
        torch.addmm(self.bias, ramps, self.base_t, out=self.start)
        if not self.first:
            torch.baddbmm(self.starts, y, self.inner_t, out=self.z)
        return self.z if self.ends is None else torch.clamp(self.z, *self.ends, out=self.h)

    def backward(self, slope: torch.Tensor) -> torch.Tensor:
        """The slope at y from that at what was returned; the gradients are set."""
        slope, flat = self._before_kinks(slope)
        torch.sum(flat, 0, out=self.of_bias.view(-1))
        if self.first:
            torch.mm(flat.t(), self.ramps, out=self.of_weight.view(len(self.bias), -1))
            return slope
        torch.bmm(self.inputs.transpose(1, 2), slope, out=self.to_inner)
        torch.mm(self.ramps.t(), flat, out=self.to_base)
        self.of_inner.copy_(self.to_inner.transpose(1, 2))
        self.of_base.copy_(self.to_base.t().view(self.of_base.shape))
        return torch.bmm(slope, self.inner, out=self.to_h)

    def _before_kinks(self, slope: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The slope at z, member by member [G, B, j] and row by row [B, G·j]."""
        if self.ends is None:
            return slope, slope.transpose(0, 1).reshape(self.flat.shape)
        # a product with 0 and 1 of the slopes' own type takes a tenth of the time of a choice by truth values
        slope = torch.eq(self.h, self.z, out=self.passes).mul_(slope)
        if not self.first:
            self.slopes.copy_(slope)
        return slope, self.flat


def _plain_encoder(net: SmileNet, ensemble: Ensemble) -> bool:
    """Whether nothing but ramps and layers stands before the box, and layers alone beside it."""
    if type(net) is not SmileNet or net.encoder is None or net.encoder.limits is not None:
        return False
    return not ensemble.passed and layered(net.backbone)


def has_fixed_box(net: SmileNet) -> bool:
    """Whether auxiliaries and head are those of `averaged`, and none of them learns."""
    lower, second = net.lower, net.second
    affine = type(lower) is FreeNet and lower.kind == "affine" and lower.keep is None
    constant = type(second) is GapNet and second.kind == "constant"
    fixed = (*lower.parameters(), *second.parameters(), *_head(net))
    return affine and constant and not any(p.requires_grad for p in fixed)


def _watched_by_none(net: SmileNet) -> bool:
    """Whether nobody else looks at the steps: no hooks, no other arithmetic."""
    return net.profile == "f64-aux" and not hooked(net) and not torch.is_autocast_enabled("cpu")


def _head(net: SmileNet) -> tuple[nn.Parameter, nn.Parameter]:
    return net.head_weight, net.head_bias
