"""Training from the weights of another network instead of random ones.

A fresh network of the same make brings what files do not store: which parameters are frozen, which signs weights must
keep, pace and decay of every branch. The other network brings weights, scale of the outputs, and those of the members
of an ensemble that its own training kept.

The ramps of an encoder lie at quantiles of the data that made it. The other network's are kept, however many they are;
a ramp of a feature takes the sign that fresh ramps of that feature have.

Curved units (train/curved.py) lie where the data that made them wanted them, those of all members in one list. What
they read stays; their outputs may change within their sign, and their kinks move, which keeps every claim that the
signs rule proves. Units over a column whose slopes are bounded together stay as they are. The members then learn as one
network.

Boosted trees and linear functions are fitted anew, and every member of an ensemble learns by itself again, so these and
the shares of a mixture are left behind.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from smilenn.errors import SmileError
from smilenn.model.auxiliaries import FreeNet
from smilenn.model.encoders import Branch, Encoder, Linear, Ramps, Trees
from smilenn.model.net import SmileNet
from smilenn.train.curved import Units
from smilenn.train.linear import NAME as LINEAR
from smilenn.train.within import NAME as WITHIN

OTHER = "The model to start from has another network, in {}; fit anew, or with the parameters it was fitted with."


@torch.no_grad()
def adopt_(net: SmileNet, start: SmileNet) -> bool:
    """Give the fresh `net` the weights of `start`, which is left alone; other shapes are an error.

    Returns whether there were any: a start of members alone that are always fitted anew has none.

    A start that no step could move, since nothing of its inputs reaches the outputs, is one too.
    """
    units = net.lower.keep if isinstance(net.lower.keep, Units) else None
    if _fitted_alone(net, start):
        return False
    start = _members(net, start)
    if (net.encoder is None) != (start.encoder is None) or net.lower.kind != start.lower.kind:
        raise SmileError(OTHER.format("what stands before its auxiliaries"))
    if net.encoder is not None and start.encoder is not None:
        _take_encoder_(net, _encoder(net.encoder, start.encoder, units is None))
        if units is not None:
            _resize_(net, start.lower.hidden)
    elif net.lower.kind == "relu" and net.lower.skip != start.lower.skip:  # an affine term that rounding has added
        net.lower.set_skip(start.lower.skip)
        net.skip = start.skip
    _refuse_other_shapes(net, start)
    net.load_state_dict(start.state_dict())
    net.output_scale.copy_(start.output_scale)
    if units is not None:
        _keep_signs_(net.lower, units)
    if not (bool(net.head_weight.any()) and _reached(net)):
        raise SmileError("The model to start from is a constant, from which no step leads away; fit anew.")
    return True


def _fitted_alone(fresh: SmileNet, start: SmileNet) -> bool:
    learned = [] if start.encoder is None else start.encoder.learned
    ensemble = fresh.encoder is not None and fresh.encoder.groups > 0  # an encoder of the user's may be linear too
    return bool(learned) and all(_is_fitted(branch) if ensemble else _is_trees(branch) for branch in learned)


def _is_trees(branch: Branch) -> bool:
    return any(isinstance(layer, Trees) for layer in branch.layers)


def _is_fitted(branch: Branch) -> bool:
    """Whether a member of an ensemble is one of those that are fitted by themselves (train/fitted.py)."""
    alone = len(branch.layers) == 1 and isinstance(branch.layers[0], Linear)
    return _is_trees(branch) or (alone and branch.name.startswith(LINEAR))


def _members(fresh: SmileNet, start: SmileNet) -> SmileNet:
    """`start` without trees and linear functions, each of its members with an equal share, where `fresh` is an
    ensemble of networks.
    """
    own, encoder = fresh.encoder, start.encoder
    if own is None or encoder is None or not own.groups:
        return start
    if len(own.learned) < len(own.branches):  # beside curved units there are no trees but those within ε
        return _without(start, encoder, [b.name for b in encoder.learned if b.name.startswith(WITHIN) and _is_trees(b)])
    out = _without(start, encoder, [branch.name for branch in encoder.learned if _is_fitted(branch)])
    assert out.encoder is not None
    block = fresh.lower.slope.chunk(own.members, dim=1)[0] * own.members
    many = len(out.encoder.learned) // own.parts
    if start.lower.hidden:
        _uncap_(out, fresh)
    out.lower.slope = nn.Parameter(block.tile(1, many) / many, requires_grad=False)
    return out


def _uncap_(net: SmileNet, fresh: SmileNet) -> None:
    """Give a network whose outputs were cut (train/capped.py) what `fresh` has behind its encoder: it is cut anew once
    it has learned.
    """
    inputs = net.lower.inputs
    net.lower, net.second = copy.deepcopy(fresh.lower), copy.deepcopy(fresh.second)
    net.lower.inputs = net.second.inputs = inputs
    net.head_weight.copy_(fresh.head_weight)
    net.head_bias.copy_(fresh.head_bias * fresh.output_scale / net.output_scale)


def _without(start: SmileNet, encoder: Encoder, names: Sequence[str]) -> SmileNet:
    """A copy of `start` less the branches of its encoder with these names, and all that reads them."""
    branches = [branch for branch in encoder.branches if isinstance(branch, Branch)]
    kept = np.array([not len(branch.layers) or branch.name not in names for branch in branches])
    inside = torch.as_tensor(np.repeat(kept, [branch.outputs for branch in branches]))
    out = copy.deepcopy(start)
    out.encoder = Encoder(encoder.domain, copy.deepcopy([b for b, stays in zip(branches, kept, strict=True) if stays]))
    out.encoder.lo.copy_(encoder.lo[inside])
    out.encoder.hi.copy_(encoder.hi[inside])
    for part in (out.lower, out.second):
        part.inputs = out.encoder.size
        for name in sorted({"slope", "weight"} & dict(part.named_parameters()).keys()):
            setattr(part, name, nn.Parameter(getattr(part, name)[:, inside], requires_grad=False))
    return out


def _take_encoder_(net: SmileNet, encoder: Encoder) -> None:
    """Put the encoder before the auxiliaries; an ensemble may have kept some of its kinds only."""
    net.encoder = encoder.to(net.head_weight.device)
    net.lower.inputs = net.second.inputs = encoder.size
    if net.lower.skip and net.lower.slope.shape[1] != encoder.size:
        slope = net.lower.slope.new_zeros(net.lower.slope.shape[0], encoder.size)
        net.lower.slope = nn.Parameter(slope, requires_grad=net.lower.slope.requires_grad)


def _refuse_other_shapes(net: SmileNet, start: SmileNet) -> None:
    shapes = [{name: tuple(tensor.shape) for name, tensor in one.state_dict().items()} for one in (net, start)]
    if shapes[0] != shapes[1] or net.boxes != start.boxes or net.outputs != start.outputs:
        odd = sorted(name for name in {*shapes[0], *shapes[1]} if shapes[0].get(name) != shapes[1].get(name))
        raise SmileError(OTHER.format(f"the shape of {odd[0]!r}" if odd else "its boxes or outputs"))


def _reached(net: SmileNet) -> bool:
    """Whether something of the inputs reaches the embedding."""
    if net.encoder is None or not net.collapsed:
        return True
    names = [name for name in ("slope", "out") if name in dict(net.lower.named_parameters())]
    return any(bool(getattr(net.lower, name).any()) for name in names)


@dataclass(frozen=True, eq=False)
class KeptSigns:
    """The outputs of hidden units keep their signs `side` [n, h]; where it is 0 they stay 0."""

    side: torch.Tensor

    def keep_(self, lower: FreeNet) -> None:
        """Outputs of another sign become zero."""
        with torch.no_grad():
            lower.out.copy_((lower.out * self.side).clamp(min=0.0) * self.side)


def _resize_(net: SmileNet, hidden: int) -> None:
    """So many hidden units, frozen, without weights yet."""
    net.hidden = hidden
    for part in (net.lower, net.second):
        part.hidden = hidden
        for name, shape in (("weight", (hidden, part.inputs)), ("bias", (hidden,)), ("out", (part.size, hidden))):
            setattr(part, name, nn.Parameter(part.const.new_zeros(shape), requires_grad=False))


def _keep_signs_(lower: FreeNet, units: Units) -> None:
    """Let the outputs and kinks of units learn that read no column with bounded slopes; `units` are fresh ones."""
    bounded = {column for _, column, _ in units.bounds}
    bounded |= {int(i) for one in units.slopes for i in np.flatnonzero(units.direction[one.up])}
    passed = lower.inputs - units.direction.shape[1]  # the columns that are passed on come last
    columns = [passed + column for column in sorted(bounded)]
    free = ~lower.weight[:, columns].any(dim=1)  # [h]
    lower.keep = KeptSigns(lower.out.sign())
    for parameter, mask in ((lower.out, free & (lower.out != 0)), (lower.bias, free)):
        parameter.requires_grad_(True)
        parameter.register_hook(lambda slope, mask=mask: slope * mask.to(slope))


def _encoder(fresh: Encoder, start: Encoder, ensemble: bool = True) -> Encoder:
    """The branches of `start` with what only `fresh` knows of them; members of an `ensemble` learn each by itself."""
    own = {branch.name: branch for branch in fresh.branches if isinstance(branch, Branch)}
    branches = []
    for branch in copy.deepcopy(start).branches:
        assert isinstance(branch, Branch)
        like = own.get(branch.name) or own.get(re.sub(r"\d+", "0", branch.name))  # members are alike, if there are more
        if like is None or like.columns != branch.columns or not _alike(like, branch):
            raise SmileError(OTHER.format(f"the branch {branch.name!r} of its encoder"))
        _sign_(branch, like)
        branch.pace, branch.decay = like.pace, like.decay
        branches.append(branch)
    if len(branches) < len(own) and not fresh.groups:
        raise SmileError(OTHER.format("the number of branches of its encoder"))
    kind = {"groups": fresh.groups, "parts": fresh.parts} if ensemble else {}
    out = Encoder(fresh.domain, branches, **kind)
    if fresh.limits is not None:  # the same for every member
        out.limit_(fresh.limits[0][: out.size], fresh.limits[1][: out.size])
    return out.train(fresh.training)


def _alike(one: Branch, other: Branch) -> bool:
    """Whether two branches have the same layers, but for the ramps."""
    shapes = [
        [(type(layer).__name__, 0 if isinstance(layer, Ramps) else layer.outputs) for layer in branch.layers]
        for branch in (one, other)
    ]
    return shapes[0] == shapes[1]


def _sign_(branch: Branch, like: Branch) -> None:
    """The signs that weights must keep, from a branch with the same layers and maybe other ramps."""
    first, second = (b.layers[0] if len(b.layers) else None for b in (like, branch))
    for theirs, own in zip(like.layers, branch.layers, strict=True):
        if not isinstance(theirs, Linear) or not isinstance(own, Linear):
            continue
        signs = theirs.signs.cpu().numpy()
        if isinstance(first, Ramps) and isinstance(second, Ramps):
            width = signs.shape[1] - first.outputs
            of_feature = {source: signs[:, width + k] for k, source in enumerate(first.source)}
            ramps = np.stack([of_feature[source] for source in second.source], axis=1)
            signs = np.hstack([signs[:, :width], ramps])
        if signs.shape != tuple(own.weight.shape):
            raise SmileError(OTHER.format(f"the branch {branch.name!r} of its encoder"))
        own.signs = torch.as_tensor(signs).to(own.signs)
