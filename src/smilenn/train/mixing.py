"""How much every kind of an ensemble counts, by rows that were kept from it.

    w = argmin { L(Σ_k w_k·f_k) + PRIOR/n · L_1 · KL(w ‖ equal shares) :  w ≥ 0, Σ w = 1 }

n are the kept rows, L_1 is the loss of the best kind.

L is convex in w. Exponentiated gradients keep w a share of one: w_k ← w_k·exp(−η·∂/∂w_k), divided by their sum. The
prior is worth a few rows, so that a small table does not choose one kind for its luck. Kinds with a small share are
left out.

A mean with weights ≥ 0 keeps what all its members keep: order, and the ends of a box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from smilenn.model.encoders import Branch, Encoder
from smilenn.model.net import SmileNet
from smilenn.train.encoded import honest
from smilenn.train.fitted import Fitted
from smilenn.train.losses import TaskLoss
from smilenn.train.phases import Training
from smilenn.train.within import NOTHING, Within, move_within

PRIOR = 10.0
STEPS, FIRST = 400, 1.0  # of the gradient, and the first η
SMALL = 0.03  # a share below which a kind is left out
MOST_ROWS = 50_000  # that decide


@dataclass(frozen=True, eq=False)
class Mixture:
    """Shares [K] of the kinds, their loss together and that of every kind alone [K]."""

    shares: np.ndarray
    loss: float
    alone: np.ndarray


def mixture(each: torch.Tensor, y: torch.Tensor, weight: torch.Tensor | None, loss: TaskLoss) -> Mixture:
    """The shares for predictions `each` [K, n, o] of targets y [n, o]."""
    step = max(1, each.shape[1] // MOST_ROWS)
    each, y, weight = each[:, ::step], y[::step], None if weight is None else weight[::step]
    alone = np.array([float(loss(f, y, weight)) for f in each])
    kept = np.flatnonzero(np.isfinite(alone))
    shares = np.zeros(len(each))
    if not len(kept):  # nothing is known of any kind: `mix` makes this a constant
        shares[0] = 1.0
        return Mixture(shares, float("inf"), alone)
    while True:
        own = _shares(each[kept], y, weight, loss)
        large = own >= min(SMALL, own.max())
        if large.all():
            break
        kept = kept[large]
    shares[kept] = own
    mean = torch.tensordot(torch.as_tensor(shares[kept]).to(each), each[kept], dims=1)
    return Mixture(shares, float(loss(mean, y, weight)), alone)


def _shares(each: torch.Tensor, y: torch.Tensor, weight: torch.Tensor | None, loss: TaskLoss) -> np.ndarray:
    """w [K] by exponentiated gradients from equal shares on; a step that makes things worse is halved."""
    kinds, rows = each.shape[:2]
    alone = [float(loss(f, y, weight)) for f in each]
    prior = PRIOR / rows * min(alone)

    def value(w: torch.Tensor) -> torch.Tensor:
        far = (w * (w.clamp(min=1e-30) * kinds).log()).sum()
        return loss(torch.tensordot(w, each, dims=1), y, weight) + prior * far

    w, eta = each.new_full((kinds,), 1.0 / kinds), FIRST / max(1.0, *alone)  # a longer step ends at one kind
    now = float(value(w))
    for _ in range(STEPS if kinds > 1 else 0):
        with torch.enable_grad():
            leaf = w.clone().requires_grad_()
            (slope,) = torch.autograd.grad(value(leaf), leaf)
        moved = w * torch.exp(-eta * (slope - slope.min()))
        moved = moved / moved.sum()
        then = float(value(moved))
        if not then <= now:  # also where a step was so long that no share is a number
            eta /= 2
            if eta < 1e-6:
                break
            continue
        if now - then < 1e-9 * max(1.0, abs(now)):
            w = moved
            break
        w, now, eta = moved, then, eta * 1.5
    return w.cpu().numpy()


# ---- the network of a mixture ---------------------------------------------------------------------------------------


@torch.no_grad()
def mix(net: SmileNet, task: Training, fitted: Sequence[Fitted], within: Within = NOTHING) -> tuple[float, str]:
    """Let the network be the mean, by shares, of its kinds of networks and of what was `fitted` beside them; the loss
    on kept rows, and words.

    Kinds that are left out are taken out of the encoder. Trees move the mean `within` what fairness leaves.
    """
    fitted = [kind for kind in fitted if kind.groups]
    each, rows = _honest(net, task, fitted)
    names = [*_kinds(net), *(kind.name for kind in fitted)]
    weight = None if task.weight is None else task.weight[rows]
    found = mixture(each, task.y[rows], weight, task.loss)
    _build(net, found.shares, fitted)
    start = (net.head_bias * net.output_scale).to(each).expand(each.shape[1:])
    constant = float(task.loss(start, task.y[rows], weight))
    if found.loss > constant:  # on rows kept from training, which may be easier or harder than all rows together
        net.lower.slope.zero_()
        return constant, "the constant, which predicts better than any of them on these rows"
    mean = torch.tensordot(torch.as_tensor(found.shares).to(each), torch.nan_to_num(each), dims=1)
    loss, chosen = _told(names, found)
    if not within.spare:
        return loss, chosen
    loss, moved = move_within(net, task, within, rows, mean)
    return loss, f"{chosen}; {moved}" if moved else chosen


@torch.no_grad()
def make_constant_(net: SmileNet) -> str:
    """Let the network be its start, as where no mixture predicts better; words."""
    net.lower.slope.zero_()
    if net.lower.hidden:
        net.lower.out.zero_()
    return "the constant, since the time was over before the first step"


def _honest(net: SmileNet, task: Training, fitted: Sequence[Fitted]) -> tuple[torch.Tensor, torch.Tensor]:
    """Predictions of all kinds [K, n, o] for the rows that were kept from some group of each, and these rows [n]."""
    each, rows = honest(net, task)
    for kind in fitted:
        index, own = _of_fitted(net, task, kind)
        each = torch.cat([each[:, torch.isin(rows, index)], own[None, torch.isin(index, rows)]])
        rows = rows[torch.isin(rows, index)]
    return each, rows


def _told(names: Sequence[str], found: Mixture) -> tuple[float, str]:
    """The loss of a mixture, and its kinds in words."""
    mixed = [(share, name) for share, name in zip(found.shares, names, strict=True) if share > 0]
    words = " + ".join(f"{share:.2f} {name}" for share, name in sorted(mixed, reverse=True))
    if len(names) == 1:
        return found.loss, f"{names[0]} (held-out loss {found.loss:.3f} of the constant's)"
    alone = ", ".join(f"{name} {loss:.3f}" for name, loss in zip(names, found.alone, strict=True))
    return found.loss, f"{words} (held-out loss {found.loss:.3f} of the constant's; alone: {alone})"


def _kinds(net: SmileNet) -> list[str]:
    """The names of the kinds of networks."""
    assert net.encoder is not None
    size = net.encoder.groups * net.encoder.parts
    branches = net.encoder.learned
    return [branches[j].name.split("0")[0] for j in range(0, len(branches), size)]


def _of_fitted(net: SmileNet, task: Training, kind: Fitted) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows [n] that are kept from a group of the kind, and what its members in such groups predict there [n, o]."""
    assert task.folds is not None and net.encoder is not None
    held = task.folds[:, : len(kind.groups)]
    rows = torch.nonzero(held.any(dim=1))[:, 0]
    u, out = net.scale(task.x[rows]), held[rows].to(torch.float64)
    total = torch.zeros(len(rows), len(net.outputs), dtype=torch.float64, device=u.device)
    for g in range(len(kind.groups)):
        own = torch.nonzero(held[rows, g])[:, 0]
        total[own] += kind.outputs(g, u[own])
    mean = total / out.sum(dim=1, keepdim=True)
    if net.encoder.limits is not None:
        least, most = _limits(net)
        mean = torch.minimum(torch.maximum(mean, least), most)
    return rows, net.head(mean)


def _limits(net: SmileNet) -> tuple[torch.Tensor, torch.Tensor]:
    """The ends [o] that every member's coordinates are cut to."""
    encoder = net.encoder
    assert encoder is not None and encoder.limits is not None
    first = (net.lower.slope > 0).to(torch.int64).argmax(dim=1)  # [o], a coordinate of each output
    least, most = (torch.as_tensor(end)[first.cpu()].to(net.lower.slope) for end in encoder.limits)
    return least, most


def _build(net: SmileNet, shares: np.ndarray, fitted: Sequence[Fitted]) -> None:
    """The network over the branches of all kinds that have a share; columns that are passed on stay."""
    encoder = net.encoder
    assert encoder is not None
    size, own = encoder.groups * encoder.parts, int(encoder.encoded.sum())
    kinds = len(encoder.learned) // size
    member, passed = net.lower.slope[:, :own].chunk(encoder.members, dim=1)[0], net.lower.slope[:, own:]
    ends = None if encoder.limits is None else np.stack(encoder.limits)
    branches, slopes, limits = list[Branch](), list[torch.Tensor](), list[np.ndarray]()
    for j in np.flatnonzero(shares[:kinds]):
        branches += encoder.learned[j * size : (j + 1) * size]
        slopes += [member * encoder.members * (shares[j] / encoder.groups)] * encoder.groups
        limits += [] if ends is None else [ends[:, : member.shape[1]]] * encoder.groups
    one = torch.eye(len(net.outputs)).to(member)
    for share, kind in zip(shares[kinds:], fitted, strict=True):
        for group in kind.groups if share else ():
            branches += group
            slopes.append(one * (share / len(kind.groups)))
            limits += [] if ends is None else [torch.stack(_limits(net)).cpu().numpy()]
    # with others beside them it is no ensemble of networks alone any more
    alone = {} if shares[kinds:].any() else {"groups": encoder.groups, "parts": encoder.parts}
    branches += [branch for branch in encoder.branches if isinstance(branch, Branch) and not len(branch.layers)]
    kept = Encoder(encoder.domain, branches, **alone).to(net.head_weight.device).train(encoder.training)
    if ends is not None:
        kept.limit_(*np.concatenate([*limits, ends[:, own:]], axis=1))
    net.encoder = kept
    net.lower.inputs = net.second.inputs = kept.size
    slope = torch.cat([*slopes, passed], dim=1)
    net.lower.slope = nn.Parameter(slope, requires_grad=net.lower.slope.requires_grad)
