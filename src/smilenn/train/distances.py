"""Training of l∞-distance nets for images: ``f = s·(e_0 − e_1)``, robust by construction whatever the weights.

    L = mean relu(θ − t·f/s) / θ,      t = ±1 the class, θ in units of the inputs

A backbone that has room in a box around f (robust.py) learns beside it, by the task's own loss of its outputs alone.
Of several classes, f_i = −s·e_i, the lead of the true class over the best other one takes the place of t·f; f may be
the mean of several nets, and then each learns by itself. On patches two classes are learned like several, each having a
coordinate of its own.

Every change of the inputs by δ moves f/s by at most 2δ, so an image that passes its decision by 2δ is verified: the
hinge asks for θ, beyond the largest δ of interest, and then leaves an image alone. The gradient of a maximum is a
single coordinate: each layer learns with ‖·‖_p, p = p_0·(p_1/p_0)^q, q growing with the steps, and with the maximum
itself for the last `TAIL` of them, while the rate falls along a half cosine. Steps are Adam's with a short memory of
squares (distances have sparse gradients) and decoupled decay of the weights, in float32: the deployed network is
float64 and its claims do not depend on how it was trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from smilenn.model.encoders import Branch, Distance
from smilenn.model.encoders.powers import power_near
from smilenn.model.net import SmileNet
from smilenn.train.adam import adam_step, forget_gradients, set_rate
from smilenn.train.apart import Every, apart
from smilenn.train.augment import GENTLE, USUAL, changed, drawn_for
from smilenn.train.encoded import seen
from smilenn.train.losses import Decides
from smilenn.train.phases import Training, finite, finite_step, in_part
from smilenn.train.recorded import Recorded
from smilenn.train.state import State, rngs

P_START, P_END, TAIL = 8.0, 100.0, 0.15
CLASS_P_END, CLASS_HOLD, CLASS_TAIL = 258.0, 0.05, 0.08  # of several classes: p stays P_START for the first steps
PATCH_P_END = 130.0  # of nets on patches, which have few epochs
CAPPED, CAP, ENTROPY, SHARE = 0.65, 10.0, (0.05, 2e-4), 1 / 0.3  # from this θ on: the cap, the task loss's weights
THETA = 0.5  # of the inputs' range, unless the config's margin says another
BETAS, EPS, DECAY = (0.9, 0.99), 1e-10, 5e-3
BACKBONE_RATE = 1e-3
SETTLE_ROWS, BLOCK = 8192, 1024


Step = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None, float], torch.Tensor]


def moves(net: SmileNet) -> bool:
    """Whether the box leaves the backbone any room."""
    return bool(net.gap.const.any())


def has_distances(net: SmileNet) -> bool:
    """Whether the encoder has distance layers, which are trained here."""
    return bool(_distances(net))


def _distances(net: SmileNet) -> list[Distance]:
    return [] if net.encoder is None else [layer for layer in net.encoder.modules() if isinstance(layer, Distance)]


def learn_in_float32(net: SmileNet, optimizer: torch.optim.Optimizer) -> None:
    """Weights of distance layers on a GPU are float32 while they learn: reading and moving them takes half as long.

    Moments that a checkpoint has brought follow. `recentre` makes the weights float64 again.
    """
    for layer in _distances(net):
        if layer.weight.is_cuda:
            layer.float()
            for parameter in layer.parameters():
                known = optimizer.state.get(parameter, {})
                known.update({name: known[name].float() for name in ("exp_avg", "exp_avg_sq") if name in known})


def distance_epoch(state: State, task: Training) -> dict[str, Any]:
    """One epoch; the record for the history."""
    nets = _nets_apart(state, task)
    if not nets:
        return _epoch(state, task, _class_step(state, task) if task.decides == "largest" else _sign_step(state, task))
    with apart(len(nets) + moves(state.net)) as every:
        return _epoch(state, task, _apart_step(state, task, nets, every))


def _epoch(state: State, task: Training, step: Step) -> dict[str, Any]:
    """One epoch of these steps."""
    config, rng = task.config, rngs(task.seed, state.phase, state.unit)
    layers, batches = _distances(state.net), task.batches(rng)
    patched = layers[0].patches is not None
    several = patched or task.decides == "largest"
    changes = drawn_for(batches, rng, GENTLE if several else USUAL) if config.augment == "affine" else None
    losses: list[torch.Tensor] = []
    for number, index in enumerate(batches):
        done = (state.unit + number / len(batches)) / max(1, config.epochs)
        rate = config.rate * (0.5 * (1 + math.cos(math.pi * min(1.0, done))) + (0.0 if several else 1e-3))
        p, grown = annealed(done, several=several, patched=patched)
        for layer in layers:
            layer.p = p
        _set_rates(state.optimizer, rate, config.rate)
        x, y, w = task.rows(index)
        w = seen(w, task.held, index, None)
        losses.append(step(x if changes is None else changed(x, changes[number]), y, w, grown))
        if not several:
            _decay_(layers, 1 - rate * DECAY)
        if task.over():
            break
    found = [float(loss) for loss in losses]
    finite(max(found, key=abs))
    return {"loss": float(np.mean(found)), **in_part(len(found), len(batches))}


def _class_step(state: State, task: Training) -> Step:
    """A step of a net for several classes: rows x, y, w and how far p has grown → the loss."""
    net, theta, boxed, recorded = state.net, task.config.margin or THETA, moves(state.net), _recorded(state, task)

    def step(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor | None, grown: float) -> torch.Tensor:
        u = net.scale(x).float()
        if recorded is not None:
            p = _distances(net)[0].p
            given = u, y, w, *(torch.full((), c, device=u.device) for c in _weights(grown))
            return recorded(None if math.isinf(p) else power_near(p), given)
        loss = _class_loss(net, theta, u, y, w, *_weights(grown))
        return _moved(state, loss + _beside(net, task, x, y, w) if boxed else loss)

    return step


def _nets_apart(state: State, task: Training) -> list[Branch]:
    """The nets of a mean on patches, which learn each by itself on a processor; none of other nets."""
    net = state.net
    one_answer = task.decides == "largest" or task.y.shape[1] == 1
    if net.encoder is None or task.x.is_cuda or not one_answer or not net.encoder.encoded.all():
        return []
    return net.encoder.learned if all(layer.patches is not None for layer in _distances(net)) else []


def _apart_step(state: State, task: Training, nets: Sequence[Branch], every: Every) -> Step:
    """A step of a mean on patches, each of whose nets has a loss of its own, and so has a backbone."""
    net, theta, boxed = state.net, task.config.margin or THETA, moves(state.net)

    def step(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor | None, grown: float) -> torch.Tensor:
        u, weights, classes = net.scale(x).float(), _weights(grown), _by_class(y)
        forget_gradients(state.optimizer)

        def learn(loss: Callable[[], torch.Tensor]) -> torch.Tensor:
            found = loss()
            found.backward()
            return found.detach()

        losses = [partial(_net_loss, one, u, theta, classes, w, weights) for one in nets]
        if boxed:
            losses.append(partial(_beside, net, task, x, y, w))
        loss = sum(every([partial(learn, one) for one in losses]), torch.zeros(()))
        finite(float(loss))
        adam_step(state.optimizer)
        net.project_()
        return loss

    return step


def _net_loss(
    one: Branch,
    u: torch.Tensor,
    theta: float,
    classes: torch.Tensor,
    w: torch.Tensor | None,
    weights: tuple[float, float],
) -> torch.Tensor:
    """The loss of one net, a coordinate of which is small for its class [B, o]."""
    return _loss(-one(u)[:, None], theta, classes, w, *weights)


def _by_class(y: torch.Tensor) -> torch.Tensor:
    """Labels [B, o] with a column for each class; the one column of two classes says whether it is the second."""
    return torch.cat([1 - y, y], dim=1) if y.shape[1] == 1 else y


def _sign_step(state: State, task: Training) -> Step:
    """A step of a net that decides by signs."""
    net, boxed = state.net, moves(state.net)

    def step(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor | None, grown: float) -> torch.Tensor:
        loss = _mean(_sign_loss(net, net.scale(x).float(), y, task), w)
        return _moved(state, loss + _beside(net, task, x, y, w) if boxed else loss)

    return step


def _beside(net: SmileNet, task: Training, x: torch.Tensor, y: torch.Tensor, w: torch.Tensor | None) -> torch.Tensor:
    """The loss of the backbone, which learns beside the distances."""
    return task.loss(net.head(net.embed(net.scale(x))), y, w)


def _moved(state: State, loss: torch.Tensor) -> torch.Tensor:
    finite_step(state.optimizer, loss, state.net)
    return loss.detach()


def _recorded(state: State, task: Training) -> Recorded | None:
    """Recorded steps for several classes on a GPU, the same ones for all epochs; None elsewhere."""
    if task.x.is_cuda and not moves(state.net) and state.recorded is None:
        loss = partial(_class_loss, state.net, task.config.margin or THETA)
        state.recorded = Recorded(state.optimizer, loss)
    return state.recorded


def annealed(done: float, *, several: bool, patched: bool = False) -> tuple[float, float]:
    """The p of a step after this share of all steps, and how far it has grown, 0 to 1."""
    hold, tail, end = (CLASS_HOLD, CLASS_TAIL, CLASS_P_END) if several else (0.0, TAIL, P_END)
    end = PATCH_P_END if patched else end
    grown = min(1.0, max(0.0, (done - hold) / (1 - tail - hold)))
    return (math.inf if done >= 1 - tail else P_START * (end / P_START) ** grown), grown


def _sign_loss(net: SmileNet, u: torch.Tensor, y: torch.Tensor, task: Training) -> torch.Tensor:
    """relu(θ − t·f/s)/θ of each row [B]."""
    size = float((net.effective_head()[0].abs() @ net.lower.slope.abs()).max().detach())  # s
    theta = task.config.margin or THETA
    f = net.head(net.lower(net.encode(u)))
    return torch.relu(theta - lead(f, y, task.decides) / size).mean(dim=1) / theta


def _weights(grown: float) -> tuple[float, float]:
    """The cap on a row's loss, falling from `CAP` to 1, and the weight of the task loss."""
    return CAP ** (1 - grown), ENTROPY[0] * (ENTROPY[1] / ENTROPY[0]) ** grown


def _class_loss(
    net: SmileNet,
    theta: float,
    u: torch.Tensor,
    y: torch.Tensor,
    w: torch.Tensor | None,
    cap: torch.Tensor | float,
    entropy: torch.Tensor | float,
) -> torch.Tensor:
    """Mean over rows of min(relu(1 − m/θ), cap), summed over the nets of a mean, each by itself.

    The cap counts from a θ of `CAPPED` on, so that rows out of reach are given up, and a little of the task loss keeps
    their labels.
    """
    assert net.encoder is not None
    return _loss(-net.encoder.uncut(u).reshape(len(u), -1, y.shape[1]), theta, y, w, cap, entropy)


def _loss(
    f: torch.Tensor,
    theta: float,
    y: torch.Tensor,
    w: torch.Tensor | None,
    cap: torch.Tensor | float,
    entropy: torch.Tensor | float,
) -> torch.Tensor:
    """The same from the logits f [B, nets, o] of the nets."""
    true = y.argmax(dim=1)[:, None, None].expand(-1, f.shape[1], 1)
    m = f.gather(2, true) - f.scatter(2, true, -torch.inf).amax(dim=2, keepdim=True)
    short = torch.relu(1 - m / theta)
    if theta >= CAPPED:
        short = short.clamp(max=cap) - entropy * torch.log_softmax(SHARE * f, dim=2).gather(2, true)
    return _mean(short.sum(dim=(1, 2)), w)


def _mean(short: torch.Tensor, w: torch.Tensor | None) -> torch.Tensor:
    """The mean of the rows' losses [B], weighted where there are weights."""
    return short.mean() if w is None else (short * w).sum() / w.sum().clamp(min=1e-12)


def _set_rates(optimizer: torch.optim.Optimizer, rate: float, first: float) -> None:
    """The learning rate of the distance layers, and that of the backbone, which falls alike."""
    for group in optimizer.param_groups:
        if group.get("backbone"):
            set_rate(group, BACKBONE_RATE * rate / first)
        else:
            group.update(betas=BETAS, eps=EPS)
            set_rate(group, rate)


@torch.no_grad()
def _decay_(layers: Sequence[Distance], share: float) -> None:
    for layer in layers:
        layer.weight.mul_(share)
        layer.bias.mul_(share)


def lead(f: torch.Tensor, y: torch.Tensor, decides: Decides) -> torch.Tensor:
    """By how much outputs f [B, o] decide for what y [B, o] says: each by its sign [B, o], or the largest [B, 1]."""
    if decides != "largest":
        return (2 * y - 1) * f
    true = y.argmax(dim=1, keepdim=True)
    others = f.scatter(1, true, -torch.inf)
    return f.gather(1, true) - others.amax(dim=1, keepdim=True)


@torch.no_grad()
def recentre(net: SmileNet, x: torch.Tensor) -> None:
    """Replace the running means, noisy at the end of training, by those of the maximum over training rows x [N, m].

    Layer by layer: each sees what the settled layers before it return. Patches were for training, and are forgotten.
    """
    assert net.encoder is not None
    pick = np.random.default_rng(0).permutation(len(x))[:SETTLE_ROWS]
    rows = net.scale(x[torch.as_tensor(np.sort(pick), device=x.device)])
    net.encoder.eval()
    for branch in net.encoder.branches:
        assert isinstance(branch, Branch)
        y = rows[:, branch.columns]
        for layer in branch.layers:
            if isinstance(layer, Distance):
                y = _settled(layer, y)
            else:
                y = torch.cat([layer(part) for part in y.split(BLOCK)])


def _settled(layer: Distance, y: torch.Tensor) -> torch.Tensor:
    """A layer as it is deployed, its mean that of the maximum over y [n, i]; what it returns for them."""
    layer.read_all_()
    layer.double()
    layer.p, layer.mean = math.inf, None
    value = torch.cat([layer.distances(part) for part in y.split(BLOCK)])
    if layer.centred:
        layer.mean = (value + layer.bias - layer.bias).mean(dim=0)  # as the layer rounds its outputs
        layer.settle_()
    return value + layer.bias
