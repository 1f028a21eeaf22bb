"""Training of ensembles behind an encoder: the claims hold by construction, so nothing is searched while they learn.

    L = mean_k L_s(f_k)  [+ L_s(f) + L_s(g∘h)]

f_k is the network with every member replaced by member k: each learns by itself, as an average of networks trained
together would not. Where the box has a width the backbone h joins; the core does not feel it. Signs are restored after
each step.

An ensemble has several *kinds* of networks (deep, shallow, linear) in G groups. Group g never learns from the rows that
`held` [N, G] keeps from it, so the mean over the groups that did not see a row predicts it honestly:

    kind j at row i:   f_j(x_i) = mean { f_jg(x_i) : held_ig }

That loss decides for every kind at which epoch it was best, and at the end which kinds the mean is made of (mixing.py).
Kinds need not wait for each other: one that was best `patience` epochs ago rests, and training ends when all do. An
encoder of another make is one kind by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.model.encoders import Distance, Encoder
from smilenn.model.net import SmileNet
from smilenn.train.backward_members import MembersBackward, has_fixed_box
from smilenn.train.config import Config
from smilenn.train.ensemble import Ensemble
from smilenn.train.phases import Training, finite, finite_step, in_part
from smilenn.train.state import State, rngs

UNITS = 3.0  # times the learning rate, for curved units
SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)  # of what was learned


def encoded_epoch(state: State, task: Training) -> dict[str, Any]:
    """One epoch; the record for the history."""
    net, config, rng = state.net, task.config, rngs(task.seed, state.phase, state.unit)
    encoder = net.encoder
    assert encoder is not None
    batches, totals = task.batches(rng), np.zeros(2)
    written = _written(state, config)
    for step, index in enumerate(batches):
        done = (state.unit + step / len(batches)) / max(1, config.epochs)
        _set_rate(state.optimizer, config, done)
        if written is not None and written.ready():
            loss = _written_step(state, task, written, index)
        else:
            loss = _recorded_step(state, task, encoder, index)
        totals += [loss, 1.0]
        if task.over():
            break
    if state.ensemble is not None:
        state.ensemble.write_()
    return {"loss": totals[0] / totals[1], **in_part(int(totals[1]), len(batches))}


def _written(state: State, config: Config) -> MembersBackward | None:
    """The gradient of an ensemble, of the kinds that go on learning; None where torch records it, of all kinds."""
    net, ensemble = state.net, state.ensemble
    if ensemble is None:
        return None
    stalled = [] if config.patience is None else [k for k, n in enumerate(state.stalls) if n >= config.patience]
    ensemble.resting = frozenset(stalled) if net.collapsed and len(state.stalls) > 1 else frozenset()
    written = MembersBackward.of(net, ensemble, state.optimizer, state.written)
    if ensemble.resting and (written is None or not written.ready()):
        ensemble.resting = frozenset()
        written = MembersBackward.of(net, ensemble, state.optimizer, state.written)
    state.written = written
    return written


def _set_rate(optimizer: torch.optim.Optimizer, config: Config, done: float) -> None:
    """The learning rate after this share of the training: a cosine from the first to the last, by group."""
    falling = 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
    rate = config.rate * (config.final_rate + (1 - config.final_rate) * falling)
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("pace", 1.0)


def _written_step(state: State, task: Training, written: MembersBackward, index: torch.Tensor) -> float:
    """A step whose gradient is written out; the loss."""
    net, held = state.net, task.held
    assert net.encoder is not None
    y, w = task.labels(index)
    share = shares(w, held, index, len(written.slope))
    own = None if written.collapsed else seen(w, held, index, None)
    u = net.scale(task.x.index_select(0, index)) if written.reads else None
    loss, slopes = written(u, index, y, share, own, task.loss)
    found = float(loss)
    finite(found)
    written.step(slopes)
    _settle_(state, task.config)
    return found


def _recorded_step(state: State, task: Training, encoder: Encoder, index: torch.Tensor) -> float:
    """A step whose gradient torch records; the loss."""
    net, held, config = state.net, task.held, task.config
    x, y, w = task.rows(index)
    u = net.scale(x)
    free = encoder.uncut(u) if state.ensemble is None else state.ensemble.outputs(u, index)
    e = free if encoder.limits is None else encoder.cut(free)
    loss = members_loss(task, centres(net, e), y, w, held, index)
    if encoder.limits is not None:  # beyond a limit only what was not cut has a slope
        loss = loss + members_loss(task, centres(net, free), y, w, held, index)
    if not net.collapsed:
        lower, upper = net.box(e.detach() if encoder.groups else e)
        z = net.embed(u)
        inside = torch.minimum(torch.maximum(z, lower), upper)
        own = seen(w, held, index, None)
        loss = loss + task.loss(net.head(inside), y, own) + task.loss(net.head(z), y, own)
    if state.ensemble is None:
        finite_step(state.optimizer, loss, net)
        _decay_(state.optimizer, config.weight_decay)
    else:
        finite_step(state.optimizer, loss)
        net.lower.project_()
        _settle_(state, config)
    return float(loss.detach())


def _settle_(state: State, config: Config) -> None:
    """Decay and signs of the members, each at the rate of its stack."""
    assert state.ensemble is not None
    rates = [group["lr"] for group in state.optimizer.param_groups]
    state.ensemble.settle_(rates[len(rates) - len(state.ensemble.stacks) :], config.weight_decay)


@torch.no_grad()
def _decay_(optimizer: torch.optim.Optimizer, decay: float) -> None:
    for group in optimizer.param_groups:
        for parameter in group["params"] if "decay" in group else ():
            if parameter.ndim > 1:
                parameter.mul_(1 - group["lr"] * group["decay"] * decay)


def members_loss(
    task: Training,
    each: torch.Tensor,
    y: torch.Tensor,
    weight: torch.Tensor | None,
    held: torch.Tensor | None,
    index: torch.Tensor,
) -> torch.Tensor:
    """The mean over the members k of L_s(f_k), each [M, B, o], on the rows of the batch that k may learn from.

    One call of the loss for all: with the weights of each member divided by their sum, a weighted mean over M·B rows is
    the mean of M weighted means. (A member without a row in the batch counts as zero.)
    """
    many, rows = each.shape[:2]
    share = shares(weight, held, index, many)
    f, t = each.reshape(many * rows, -1), y.repeat(many, 1)
    if share is None:
        return task.loss(f, t, None)
    return task.loss(f, t, share.reshape(-1)) * (share.sum() / many)


def shares(
    weight: torch.Tensor | None, held: torch.Tensor | None, index: torch.Tensor, many: int
) -> torch.Tensor | None:
    """What each row of a batch counts for each of the M members, [M, B], one in all for each; None: all the same."""
    own = weight[None].expand(many, len(index)) if weight is not None else None
    if held is not None:
        kept = (~held.index_select(0, index)).T.to(torch.float64).repeat(many // held.shape[1], 1)  # [M, B]
        own = kept if own is None else kept * own
    return None if own is None else own / own.sum(dim=1, keepdim=True).clamp(min=1e-12)


def parameter_groups(net: SmileNet, ensemble: Ensemble | None = None) -> list[dict[str, Any]]:
    """The network's parameters for an optimiser, each branch of its encoder with its own pace and decay."""
    branches = [] if net.encoder is None else net.encoder.learned
    own = {id(parameter) for branch in branches for parameter in branch.parameters()}
    groups = _unit_groups(net, own)
    if any(isinstance(layer, Distance) for branch in branches for layer in branch.layers):
        groups = _backbone_apart(net, groups[0]["params"])
    if ensemble is not None:
        return groups + ensemble.parameter_groups()
    return groups + [
        {"params": list(branch.parameters()), "pace": branch.pace, "decay": branch.decay} for branch in branches
    ]


def _backbone_apart(net: SmileNet, parameters: Sequence[nn.Parameter]) -> list[dict[str, Any]]:
    inner = {id(parameter) for parameter in net.backbone.parameters()}
    rest = [parameter for parameter in parameters if id(parameter) not in inner]
    return [{"params": rest}, {"params": list(net.backbone.parameters()), "backbone": True}]


def _unit_groups(net: SmileNet, own: set[int]) -> list[dict[str, Any]]:
    """The parameters that are not among `own` (by id), those of curved units by themselves."""
    units = [] if net.lower.keep is None else [net.lower.weight, net.lower.bias, net.lower.out]
    others = own | {id(parameter) for parameter in units}
    groups: list[dict[str, Any]] = [{"params": [p for p in net.parameters() if id(p) not in others]}]
    if units:  # they start near where they end
        groups.append({"params": units, "pace": UNITS})
    return groups


def seen(
    weight: torch.Tensor | None, held: torch.Tensor | None, index: torch.Tensor, member: int | None
) -> torch.Tensor | None:
    """Weights of a batch [B], zero for rows that are kept from the member (None: kept from any of them)."""
    if held is None:
        return weight
    out = held[index].any(dim=1) if member is None else held[index, member % held.shape[1]]
    kept = (~out).to(torch.float64)
    return kept if weight is None else kept * weight


def encoder_outputs(encoder: Encoder, u: torch.Tensor) -> torch.Tensor:
    """e [B, p], not cut, of the members as they are: fast sums, as in training."""
    return encoder.uncut(u) if not encoder.groups else Ensemble(encoder, learns=False).outputs(u)


def centres(net: SmileNet, e: torch.Tensor) -> torch.Tensor:
    """Outputs [M, B, o] in the middle of the box for every member by itself; those of e [B, p] without an ensemble."""
    assert net.encoder is not None
    half = net.second(e) / 2
    if not net.encoder.groups:
        return net.head(net.lower(e) + half)[None]
    lower, members = net.lower, net.encoder.members
    own = int(net.encoder.encoded.sum())

    def each(values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:  # [B, M·P], [n, M·P] → [M, B, n]
        slope = weight.reshape(len(weight), members, -1).permute(1, 2, 0)
        return members * (values.reshape(len(e), members, -1).transpose(0, 1) @ slope)

    z = lower.const + half + e[:, own:] @ lower.slope[:, own:].T
    z = z + each(e[:, :own], lower.slope[:, :own]) if own else z.expand(members, *z.shape)
    if lower.hidden:
        z = z + each(torch.relu(torch.nn.functional.linear(e, lower.weight, lower.bias)), lower.out)
    return net.head(z.reshape(-1, z.shape[2])).reshape(members, len(e), -1)


# ---- judging on rows that were kept ---------------------------------------------------------------------------------


@torch.no_grad()
def honest(net: SmileNet, task: Training, ensemble: Ensemble | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Predictions of every kind [K, n, o] for the rows that were kept from some group, and those rows' indices [n].

    `ensemble` is the encoder's own, if it is at hand: its kinds that rest are left out.
    """
    encoder, held = net.encoder, task.held
    assert encoder is not None and held is not None
    rows = torch.nonzero(held.any(dim=1))[:, 0]
    ensemble = Ensemble(encoder, learns=False) if ensemble is None else ensemble
    plain = has_fixed_box(net) and encoder.limits is None and not ensemble.passed
    if plain and bool((held.sum(dim=1) <= 1).all()):
        return _one_group_each(net, task, ensemble, held, rows), rows
    found = []
    for index in rows.split(4096):
        e = encoder_outputs(encoder, net.scale(task.x[index]))
        each = centres(net, e if encoder.limits is None else encoder.cut(e))  # [K·G, b, o]
        out = held[index].T.to(torch.float64)[None, :, :, None]  # [1, G, b, 1]
        each = each.reshape(-1, out.shape[1], *each.shape[1:])
        found.append((each * out).sum(dim=1) / out.sum(dim=1))
    every = torch.cat(found, dim=1)  # of curved units one kind, which no stack of the ensemble holds
    return every[[k for k in range(len(every)) if k not in ensemble.resting]], rows


def _one_group_each(
    net: SmileNet, task: Training, ensemble: Ensemble, held: torch.Tensor, rows: torch.Tensor
) -> torch.Tensor:
    """`honest` where every row is kept from one group: no other is evaluated there, and all groups at once."""
    encoder = net.encoder
    assert encoder is not None
    groups, n = encoder.groups, net.embedding
    slope = net.lower.slope.reshape(n, encoder.members // groups, groups, -1)[:, ensemble.kinds_awake]  # [n, K, G, P]
    middle = net.lower.const + net.second.const.expand(1, n) / 2
    own = [torch.nonzero(held[rows, g])[:, 0] for g in range(groups)]
    out = torch.empty(slope.shape[1], len(rows), len(net.outputs), dtype=torch.float64, device=rows.device)
    for first in range(0, max(map(len, own)), 4096):
        at = nn.utils.rnn.pad_sequence([part[first : first + 4096] for part in own], True, -1)  # [G, b]
        known = rows[at.clamp(min=0).reshape(-1)]
        u = net.scale(task.x[known]) if ensemble.kept is None else None
        e = ensemble.each(u, known).to(torch.float64)  # [K, G, b, P]
        z = middle + encoder.members * torch.einsum("kgbp,nkgp->kgbn", e, slope)
        out[:, at[at >= 0]] = net.head(z[:, at >= 0].reshape(-1, n)).reshape(len(out), -1, out.shape[2])
    return out


@torch.no_grad()
def judged(net: SmileNet, task: Training, ensemble: Ensemble | None = None) -> list[float]:
    """The loss of every kind on rows kept from it, and at last that of the whole network where its box has a width.

    Without kept rows, or for an encoder that is not an ensemble, the one loss of the network.
    """
    encoder = net.encoder
    if task.held is None or encoder is None or not encoder.groups:
        return [kept_loss(net, task)]
    each, rows = honest(net, task, ensemble)
    weight = None if task.weight is None else task.weight[rows]
    out = [float(task.loss(f, task.y[rows], weight)) for f in each]
    return out if net.collapsed else [*out, kept_loss(net, task)]


@torch.no_grad()
def kept_loss(net: SmileNet, task: Training) -> float:
    """The loss of the network on rows kept from all of it, honest for its backbone; else as for any network."""
    rows = torch.zeros(0) if task.held is None else torch.nonzero(task.held.all(dim=1))[:, 0]
    if not len(rows):
        return task.held_out_loss(net)
    training = net.training
    net.eval()
    if net.encoder is not None and net.encoder.groups:
        net.encoder.train()
    f = torch.cat([net(task.x[index]) for index in rows.split(8192)])
    net.train(training)
    return float(task.loss(f, task.y[rows], None if task.weight is None else task.weight[rows]))


def parts(net: SmileNet, task: Training) -> list[list[str]]:
    """Names of the tensors whose best state each of the losses of `judged` chooses."""
    encoder, names = net.encoder, list(net.state_dict())
    if task.held is None or encoder is None or not encoder.groups or net.lower.keep is not None:  # one kind
        return [names]
    size = encoder.groups * encoder.parts
    prefixes = [
        tuple(f"encoder.branches.{first + g}." for g in range(size))
        for first in range(0, size * (len(encoder.branches) // size), size)
    ]
    prefixes += [] if net.collapsed else [("backbone.",)]
    return [[name for name in names if name.startswith(own)] for own in prefixes]


def keep_best(state: State, task: Training) -> float:
    """Remember every part that is better than ever on its kept rows; the mean of the best losses so far."""
    losses = _with_rest(judged(state.net, task, state.ensemble), state)
    if state.best is None:
        state.best, state.scores, state.stalls = state.weights(), [math.inf] * len(losses), [0] * len(losses)
    better = [j for j, loss in enumerate(losses) if loss < state.scores[j]]
    weights = state.net.state_dict() if better else {}
    state.parts = state.parts or parts(state.net, task)
    for j in better:
        state.scores[j] = losses[j]
        state.best |= {name: weights[name].detach().clone() for name in state.parts[j]}
    state.stalls = [0 if j in better else stall + 1 for j, stall in enumerate(state.stalls)]
    state.stall = min(state.stalls)
    return float(np.mean(losses))


def _with_rest(losses: list[float], state: State) -> list[float]:
    """The losses of all kinds; one that rests has the loss it rests at."""
    resting = frozenset() if state.ensemble is None else state.ensemble.resting
    found = iter(losses)
    return [state.scores[k] if k in resting else next(found) for k in range(len(losses) + len(resting))]


@torch.no_grad()
def shrink(net: SmileNet, task: Training) -> tuple[float, str]:
    """Draw the outputs to their mean by as much as lowers the loss on kept rows; that loss, and words.

    Few rows are learned by heart quickly; every claim about differences that f keeps is kept by c + θ·(f − c).
    """
    each, rows = honest(net, task)
    weight = None if task.weight is None else task.weight[rows]
    f, y = each.mean(dim=0), task.y[rows]
    start = (net.head_bias * net.output_scale).to(f)
    losses = [float(task.loss(start + share * (f - start), y, weight)) for share in SHARES]
    best = int(np.argmin(losses))
    share, one = SHARES[best], f"loss {losses[best]:.3f} of the constant's"
    net.lower.slope.mul_(share)
    net.lower.const.mul_(share)
    net.lower.out.mul_(share)
    if not share:
        return losses[best], "the constant, which predicts better there than curved units do"
    return losses[best], f"curved units ({one})" if share == 1 else f"curved units, outputs × {share:g} ({one})"
