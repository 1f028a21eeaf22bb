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
        self.moves: Moves | None = None
        self.collapsed = net.collapsed
        self.layers: list[Weights] = [(m.weight, m.bias) for m in net.backbone if isinstance(m, nn.Linear)]  # type: ignore[union-attr]
        own = [] if self.collapsed else [parameter for layer in self.layers for parameter in layer]
        self.parameters = [own, *([] for _ in ensemble.stacks)]
        for i in ensemble.awake:
            self.parameters[1 + i] = ensemble.stacks[i].parameters
        n, many = net.embedding, ensemble.members
        groups = len(ensemble.stacks[0].branches)
        awake = [k * groups + g for k in ensemble.kinds_awake for g in range(groups)]
        self.slope = net.lower.slope.reshape(n, many, -1).permute(1, 2, 0)[awake]  # S, [awake, P, n]
        self.middle = net.lower.const + net.second.const.expand(1, n) / 2  # [1, n]

    @classmethod
    def of(cls, net: SmileNet, ensemble: Ensemble | None, optimizer: torch.optim.Optimizer) -> MembersBackward | None:
        """For an ensemble whose gradient is the one written here, else None."""
        if ensemble is None or not _plain_encoder(net, ensemble) or not has_fixed_box(net) or not _watched_by_none(net):
            return None
        made = cls(net, ensemble, optimizer)
        backbone, *stacks = made.parameters
        fits = all(map(plain, backbone)) and all(plain(parameter, LEARNED) for own in stacks for parameter in own)
        return made if fits and len(made.parameters) == len(optimizer.param_groups) else None

    def ready(self) -> bool:
        """Whether the optimiser's kernel can be called; torch's own first step makes its moments."""
        self.moves = Moves.of(self.optimizer, self.parameters) if self.moves is None else self.moves
        return self.moves is not None

    def step(self, gradients: list[list[torch.Tensor]]) -> None:
        """Move the parameters, once `ready`."""
        assert self.moves is not None
        self.moves.step(gradients)

    @torch.no_grad()
    def __call__(
        self,
        u: torch.Tensor,
        rows: torch.Tensor,
        y: torch.Tensor,
        share: torch.Tensor | None,
        own: torch.Tensor | None,
        task_loss: TaskLoss,
    ) -> tuple[torch.Tensor, list[list[torch.Tensor]]]:
        """L and its gradient, one list for every group of parameters.

        u [B, m] model units of the training rows `rows` [B]; y [B, o]; share [A, B] what each row counts for each of
        the A members awake, adding up to one (None: equally); own [B] what it counts for the backbone. Slopes are those
        of the sum over them divided by M, as if none rested; L is their mean.
        """
        net, ensemble, many, batch = self.net, self.ensemble, self.ensemble.members, len(u)
        awake = len(self.slope)
        head, scale = net.head_weight, net.output_scale
        ramps = ensemble.ramps(u, rows)
        runs = {i: StackRun(ensemble.stacks[i], ramps[ensemble.same[i]]) for i in ensemble.awake}
        e = ensemble.joined([run.outputs for run in runs.values()], u)  # [B, p]
        each = e.reshape(batch, awake, -1).transpose(0, 1) @ self.slope  # [A, B, n]
        z = (self.middle + many * each).reshape(awake * batch, -1)
        f, t = (z @ head.T + net.head_bias) * scale, y.repeat(awake, 1)
        if share is None:
            loss, slope = task_loss.slope(f, t, None, 1 if awake == many else awake / many)
        else:
            loss, slope = task_loss.slope(f, t, share.reshape(-1), share.sum() / many)
        slope = (slope * scale).mm(head).reshape(awake, batch, -1) * many
        slope = slope.bmm(self.slope.transpose(1, 2)).transpose(0, 1).reshape(batch, -1)  # [B, p]
        found = {i: run.backward(part) for (i, run), part in zip(runs.items(), ensemble.split(slope), strict=True)}
        of_members = [found.get(i, []) for i in range(len(ensemble.stacks))]
        if self.collapsed:
            return loss if awake == many else loss * (many / awake), [[], *of_members]

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
    """The layers of one stack at ramps [B, R], with what its gradient needs; `outputs` [B, G, j]."""

    def __init__(self, stack: Stack, ramps: torch.Tensor) -> None:
        self.stack, self.ramps = stack, ramps
        self.inputs, self.before, self.after = stack.layers(ramps)
        self.outputs = self.after[-1].transpose(0, 1)

    def backward(self, slope: torch.Tensor) -> list[torch.Tensor]:
        """Gradients of the stack's parameters from the slope at `outputs`."""
        stack, ramps = self.stack, self.ramps
        rows, size = ramps.shape
        slope = slope.transpose(0, 1)  # [G, B, j]
        of_weights, of_biases = list[torch.Tensor](), list[torch.Tensor]()
        for k in range(len(stack.weights) - 1, -1, -1):
            weight = stack.weights[k]
            if stack.ends[k] is not None:
                # a product with 0 and 1 of the slopes' own type takes a tenth of the time of a choice by truth values
                passes = torch.eq(self.after[k], self.before[k], out=torch.empty_like(self.after[k]))
                slope = passes.mul_(slope)
            groups, units, width = len(weight), weight.shape[1], weight.shape[2] - size
            flat = slope.transpose(0, 1).reshape(rows, -1)  # [B, G·j]
            of_biases.insert(0, flat.sum(0).reshape(groups, units))
            if width:
                own = self.inputs[k].transpose(1, 2).bmm(slope).transpose(1, 2)
                base = ramps.t().mm(flat).t().reshape(groups, units, size)
                of_weights.insert(0, torch.cat([own, base], dim=2))
                slope = slope.bmm(weight[:, :, :width])
            else:
                of_weights.insert(0, flat.t().mm(ramps).reshape(groups, units, size))
        return stack.slopes(of_weights + of_biases)


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
