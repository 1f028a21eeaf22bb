"""Loss and gradient of the plain network, written out: the operations that torch would record, without the record.

    f = g(s),  s = select(z, lower, upper),  z = h(u)          h, lower and gap (or upper) made of linear maps and relu
    L = c·L_s(outputs) + λ_box·mean(relu(z − upper) + relu(lower − z)),       outputs g(s), or those of four pathways

On networks as small as these most of a step goes to recording operations and playing them back. What comes back is
known, so it is written down here; the task loss alone, which may be any, is left to torch. With G the slope of L at s,

    into z        G where lower < z < top          top = upper where upper > lower, else lower
    into top      G where z > lower and z ≥ top    which goes to upper, or to lower where the box is flipped
    into lower    G elsewhere

and a linear map y = W x + b passes Yᵀx to W, the column sums of Y to b and Y W to x. Sums of several slopes run in the
order in which torch adds them (last operation first), so every bit of a training run is the same either way: this is
what `tests/train/test_backward.py` holds.

`Backward.of` says None where anything is not as assumed (another backbone, an encoder, hooks, another type or device);
torch then records as usual.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.modules import module as modules

from smilenn.model.auxiliaries import FreeNet, GapNet
from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet, every_part
from smilenn.train.adam import Moves
from smilenn.train.losses import TaskLoss

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")

_relu_backward = torch.ops.aten.threshold_backward.default
Weights = tuple[nn.Parameter, nn.Parameter]  # of a linear map: W [j, i] and b [j]


def _known(net: SmileNet) -> bool:
    """Whether the forward pass is the one that the gradient here belongs to."""
    nets = (net.lower, net.second)
    plain_nets = all(type(one) in (FreeNet, GapNet) and one.hidden for one in nets)
    more = any(isinstance(one, FreeNet) and (one.skip or one.keep is not None) for one in nets)
    own = type(net) is SmileNet and net.encoder is None and net.profile == "f64-aux"
    return own and layered(net.backbone) and plain_nets and not more and not hooked(net)


class Backward:
    """The tensors of a network whose gradient is written out, and their optimiser; made for an epoch.

    `parameters` are all of the network's, in the order of the gradients.
    """

    def __init__(self, net: SmileNet, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer
        self.moves: Moves | None = None
        lower, second = net.lower, net.second
        self.gap = net.boxes == "gap"
        self.layers: list[Weights] = [(m.weight, m.bias) for m in net.backbone if isinstance(m, nn.Linear)]  # type: ignore[union-attr]
        self.lower: list[Weights] = [(lower.weight, lower.bias), (lower.out, lower.const)]
        self.second: list[Weights] = [(second.weight, second.bias), (second.out, second.const)]
        self.head: Weights = net.head_weight, net.head_bias
        self.scale = net.output_scale
        self.zero = torch.zeros((), dtype=torch.float64)
        maps = [*self.layers, *self.lower, *self.second, self.head]
        self.parameters: list[nn.Parameter] = [parameter for weights in maps for parameter in weights]

    @classmethod
    def of(cls, net: SmileNet, optimizer: torch.optim.Optimizer) -> Backward | None:
        """For a network whose gradient is the one written here, else None."""
        tensors = list(net.parameters())
        if not _known(net) or torch.is_autocast_enabled("cpu") or len(optimizer.param_groups) != 1:
            return None
        made = cls(net, optimizer) if all(map(plain, tensors)) else None
        return made if made is not None and len(made.parameters) == len(tensors) else None

    def ready(self) -> bool:
        """Whether the optimiser's kernel can be called; torch's own first step makes its moments."""
        self.moves = Moves.of(self.optimizer, [self.parameters]) if self.moves is None else self.moves
        return self.moves is not None

    def step(self, gradients: list[torch.Tensor]) -> None:
        """Move the parameters, once `ready`."""
        assert self.moves is not None
        self.moves.step([gradients])

    @torch.no_grad()
    def __call__(
        self,
        u: torch.Tensor,
        y: torch.Tensor,
        weight: torch.Tensor | None,
        task_loss: TaskLoss,
        lambda_box: float,
        *,
        four: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
        """Task loss, box loss, and the gradient of the one plus λ_box times the other, one tensor a parameter.

        u [B, m] model units, y [B, o], weight [B] or None. With `four` the task loss is the sum of those of the four
        pathways (`SmileNet.pathways`).
        """
        (v_lo, c_lo), (v_up, c_up) = self.lower[1], self.second[1]
        on_lo = F.linear(u, *self.lower[0]).relu_()
        on_up = F.linear(u, *self.second[0]).relu_()
        lower, upper = F.linear(on_lo, v_lo, c_lo), F.linear(on_up, v_up, c_up)
        if self.gap:
            upper = lower + upper
        inside = [u]
        for layer in self.layers[:-1]:
            inside.append(F.linear(inside[-1], *layer).relu_())
        z = F.linear(inside[-1], *self.layers[-1])

        opened, above = upper > lower, z > lower
        top = torch.where(opened, upper, lower)
        below = z < top
        s = torch.where(above, torch.where(below, z, top), lower)
        over, under = (z - upper).relu_(), (lower - z).relu_()
        box = (over + under).mean()
        head, bias = self.head
        embedded = torch.cat([s, lower, upper, z]) if four else s
        outputs = (embedded.mm(head.t()) + bias).mul_(self.scale)
        if four:  # four times the mean over four times the rows: the sum of the four losses
            y, weight = torch.cat([y] * 4), None if weight is None else torch.cat([weight] * 4)
        accuracy, slope = task_loss.slope(outputs, y, weight, 4 if four else 1)
        slope = slope * self.scale
        grads_head = [slope.t().mm(embedded), slope.sum(0)]
        slope = slope.mm(head)
        per = torch.full_like(box, lambda_box) / z.numel()
        out, within = torch.where(over > 0, per, self.zero), torch.where(under > 0, per, self.zero)
        to_z, to_upper, to_lower = out - within, -out, within
        if four:
            slope, on_lower, on_upper, on_z = slope.split(len(u))
            to_z, to_upper, to_lower = to_z.add_(on_z), to_upper.add_(on_upper), to_lower.add_(on_lower)
        rest = torch.where(above, slope, self.zero)
        to_lower.add_(torch.where(above, self.zero, slope))
        to_z.add_(torch.where(below, rest, self.zero))
        rest = torch.where(below, self.zero, rest)
        to_upper.add_(torch.where(opened, rest, self.zero))
        to_lower.add_(torch.where(opened, self.zero, rest))
        if self.gap:
            to_lower.add_(to_upper)
        return (
            accuracy,
            box,
            [
                *through(to_z, inside, self.layers),
                *through(to_lower, [u, on_lo], self.lower),
                *through(to_upper, [u, on_up], self.second),
                *grads_head,
            ],
        )


def through(slope: torch.Tensor, inputs: Sequence[torch.Tensor], maps: Sequence[Weights]) -> list[torch.Tensor]:
    """Gradients of W and b of every linear map with its input [B, i], from the slope [B, n] behind the last of them.

    The input of every map but the first is the relu of the map before.
    """
    found = [slope.t().mm(inputs[-1]), slope.sum(0)]
    for k in range(len(maps) - 1, 0, -1):
        slope = _relu_backward(slope.mm(maps[k][0]), inputs[k], 0)
        found[:0] = slope.t().mm(inputs[k - 1]), slope.sum(0)
    return found


def layered(backbone: nn.Module) -> bool:
    """Whether a backbone is linear maps with relu between them, and nothing else."""
    return (
        type(backbone) is MLP
        and all(type(layer) is (nn.ReLU if i % 2 else nn.Linear) for i, layer in enumerate(backbone))
        and all(layer.bias is not None for layer in backbone if isinstance(layer, nn.Linear))
    )


def plain(tensor: torch.Tensor, dtype: torch.dtype = torch.float64) -> bool:
    """Whether a tensor is learned, and is what the gradients here are written for."""
    kind = tensor.dtype == dtype and tensor.device.type == "cpu" and tensor.is_contiguous()
    return type(tensor) in (nn.Parameter, torch.Tensor) and kind and tensor.requires_grad and not tensor._backward_hooks


def hooked(net: SmileNet) -> bool:
    """Whether anybody watches the network's modules: hooks must be called."""
    if any(getattr(modules, f"_global{name}") for name in HOOKS):
        return True
    return any(
        one._forward_hooks or one._forward_pre_hooks or one._backward_hooks or one._backward_pre_hooks
        for one in every_part(net)
    )
