"""Where a network with curved units starts: the best sum of functions of single directions, within the signs.

    min_β  Σ_i w_i·(z_i − c − Σ_j β_j·φ_j(x_i))²  +  λ·Σ_i w_i·Σ_j β_j²·var(φ_j),     β_j of the sign that j must have

φ are the units, with knots at quantiles of the rows, what they read of the encoder being random at first, and the ramps
of the features behind it: piecewise linear splines in all of them. A convex problem without a search, solved by
projected gradients with momentum. Every member of an ensemble is fitted to the rows it may learn from; λ has the least
error in five-fold cross-validation. Training then moves knots, weights and what the units read of e.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from smilenn.model.encoders import Branch, Linear
from smilenn.model.net import SmileNet
from smilenn.train.curved import ROOM, Units
from smilenn.train.phases import Training

RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
FOLDS, ROWS = 5, 5000  # the most rows that a spline is fitted to
ITERATIONS = 400


@dataclass(frozen=True, eq=False)
class Basis:
    """Columns φ [N, J] with the least and largest weights [J], and where the weights belong: units, then ramps."""

    values: np.ndarray
    least: np.ndarray
    most: np.ndarray
    unit: np.ndarray  # [J] unit of a member, or −1
    ramp: np.ndarray  # [J] ramp of its branch, or −1


def start_spline(net: SmileNet, units: Units, task: Training, rng: np.random.Generator) -> None:
    """Place the knots, then set the outputs of units and ramps of every member."""
    rows = torch.as_tensor(rng.permutation(len(task.x))[:ROWS], device=task.x.device)
    u = net.scale(task.x[rows])
    _place_knots(net, units, u, rng)
    _place_context(net, units, u, rng)
    z = _targets(net, task, rows)
    weight = np.ones(len(z)) if task.weight is None else task.weight[rows].cpu().numpy()
    held = np.zeros((len(z), units.members), dtype=bool)
    if task.held is not None:
        held[:] = task.held[rows].cpu().numpy()[:, np.arange(units.members) % task.held.shape[1]]
    const = np.zeros(net.embedding)
    for t in range(net.embedding):
        found = [_basis(net, units, u, k, t) for k in range(units.members)]
        ridge = _ridge(found[0], z[:, t], weight)
        for k, basis in enumerate(found):
            fitted = _fit(basis, z[:, t], weight * ~held[:, k], ridge)
            const[t] += _write(net, units, basis, *fitted, k, t) / units.members
    with torch.no_grad():
        net.lower.const.add_(torch.as_tensor(const).to(net.lower.const))
        before = net.lower(net.encode(u)).mean(dim=0)
        units.keep_(net.lower)
        net.lower.const.add_(before - net.lower(net.encode(u)).mean(dim=0))


def _ridge(basis: Basis, z: np.ndarray, weight: np.ndarray) -> float:
    """λ of the least error in cross-validation; the rows come in random order."""
    fold, errors = np.arange(len(z)) % FOLDS, np.zeros(len(RIDGES))
    for f in range(FOLDS):
        out = weight * (fold == f)
        for r, ridge in enumerate(RIDGES):
            beta, c = _fit(basis, z, weight * (fold != f), ridge)
            errors[r] += float(out @ (z - c - basis.values @ beta) ** 2)
    return RIDGES[int(errors.argmin())]


def _targets(net: SmileNet, task: Training, rows: torch.Tensor) -> np.ndarray:
    """What the coordinates z should be [N, n], less what their slopes over passed columns say already."""
    y = (task.y if not task.decides else 4.0 * task.y - 2.0)[rows].expand(-1, len(net.outputs))
    head, bias = net.effective_head()
    z = torch.linalg.solve(head, (y - bias).T).T - net.lower.const
    encoder = net.encoder
    assert encoder is not None
    slope = net.lower.slope * torch.as_tensor(~encoder.encoded).to(net.lower.slope)
    if bool(slope.any()):
        z = z - encoder(net.scale(task.x[rows])) @ slope.T
    return z.detach().cpu().numpy()


@torch.no_grad()
def _place_knots(net: SmileNet, units: Units, u: torch.Tensor, rng: np.random.Generator) -> None:
    """Always-on units begin at the end of their range; the kinks of the others lie at quantiles of the rows."""
    encoder, domain = net.encoder, net.domain
    assert encoder is not None
    passed = _passed(net)
    lo, hi = domain.scale(domain.lo)[passed], domain.scale(domain.hi)[passed]
    along = u[:, passed].cpu().numpy() @ units.direction.T  # [N, h]
    least = np.minimum(units.direction * lo, units.direction * hi).sum(axis=1)
    most = np.maximum(units.direction * lo, units.direction * hi).sum(axis=1)
    bias = np.where(units.kind == 0, -least + ROOM * (most - least), 0.0)
    groups: dict[tuple[int, int, bytes], list[int]] = {}
    for j in np.flatnonzero(units.kind == 1):
        key = int(units.coordinate[j]), int(units.side[j]), units.direction[j].tobytes()
        groups.setdefault(key, []).append(int(j))
    for own in groups.values():
        shares = (np.arange(len(own)) + 0.5) / len(own) if len(own) > 1 else rng.uniform(0.1, 0.9, 1)
        bias[own] = -np.quantile(along[:, own[0]], shares)
    net.lower.bias.copy_(torch.as_tensor(np.tile(bias, units.members)).to(net.lower.bias))


def _passed(net: SmileNet) -> list[int]:
    assert net.encoder is not None
    return [c for b in net.encoder.branches if isinstance(b, Branch) and not len(b.layers) for c in b.columns]


def _branch(net: SmileNet, units: Units, k: int, t: int) -> tuple[Branch, int] | None:
    """The branch of member k that says coordinate t, and at which of its outputs."""
    encoder, place = net.encoder, int(units.place[t])
    assert encoder is not None
    if place < 0:
        return None
    own = [b for b in encoder.branches if isinstance(b, Branch) and len(b.layers)]
    each = len(own) // units.members
    for branch in own[k * each : (k + 1) * each]:
        if place < branch.outputs:
            return branch, place
        place -= branch.outputs
    raise AssertionError("a coordinate without a branch")


@torch.no_grad()
def _basis(net: SmileNet, units: Units, u: torch.Tensor, k: int, t: int) -> Basis:
    own = np.flatnonzero(units.coordinate == t)
    rows = own + k * units.size
    values = torch.relu(net.encode(u) @ net.lower.weight[rows].T + net.lower.bias[rows]).cpu().numpy()
    side = units.side[own]
    least, most = np.where(side > 0, 0.0, -np.inf), np.where(side > 0, np.inf, 0.0)
    ramp = np.full(len(own), -1)
    found = _branch(net, units, k, t)
    if found is not None:
        branch, row = found
        last = branch.layers[len(branch.layers) - 1]
        assert isinstance(last, Linear)
        ramps = branch.layers[0](u[:, branch.columns]).cpu().numpy()
        signs = last.signs[row, -ramps.shape[1] :].cpu().numpy()
        values, ramp = np.hstack([values, ramps]), np.concatenate([ramp, np.arange(ramps.shape[1])])
        least = np.concatenate([least, np.where(signs > 0, 0.0, -np.inf)])
        most = np.concatenate([most, np.where(signs < 0, 0.0, np.inf)])
        own = np.concatenate([own, np.full(ramps.shape[1], -1)])
    return Basis(values, least, most, own, ramp)


def _fit(basis: Basis, z: np.ndarray, weight: np.ndarray, ridge: float) -> tuple[np.ndarray, float]:
    """β [J] and c."""
    share = weight / max(float(weight.sum()), 1e-300)
    mean = share @ basis.values
    centred = basis.values - mean
    std = basis.values.std(axis=0)  # of all rows: a column that is flat on those of weight must not become steep
    use = std > 1e-9
    scaled = centred[:, use] / std[use]
    gram = scaled.T @ (share[:, None] * scaled) + ridge * np.eye(int(use.sum()))
    middle = float(share @ z)
    pull = scaled.T @ (share * (z - middle))
    beta = np.zeros(len(std))
    beta[use] = bounded(gram, pull, basis.least[use], basis.most[use]) / std[use]
    return beta, middle - float(mean @ beta)


def bounded(gram: np.ndarray, pull: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """min ½ β·gram·β − pull·β with least ≤ β ≤ most, by accelerated projected gradients."""
    beta = ahead = np.clip(np.zeros(len(pull)), least, most)
    if not len(pull):
        return beta
    step, pace = 1.0 / float(np.linalg.eigvalsh(gram)[-1]), 1.0
    for _ in range(ITERATIONS):
        new = np.clip(ahead - step * (gram @ ahead - pull), least, most)
        quicker = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead = new + (pace - 1) / quicker * (new - beta)
        beta, pace = new, quicker
    return beta


@torch.no_grad()
def _write(net: SmileNet, units: Units, basis: Basis, beta: np.ndarray, c: float, k: int, t: int) -> float:
    """Into the outputs of member k's units and its ramps; what is left of c for the network's own constant."""
    own = basis.unit >= 0
    out = torch.as_tensor(beta[own] / units.members).to(net.lower.out)
    net.lower.out[t, basis.unit[own] + k * units.size] = out
    found = _branch(net, units, k, t)
    if found is None:
        return c
    branch, row = found
    last = branch.layers[len(branch.layers) - 1]
    assert isinstance(last, Linear)
    last.weight[row] = 0.0
    ramps = torch.as_tensor(beta[~own]).to(last.weight)
    if len(ramps):
        last.weight[row, -len(ramps) :] = ramps
    last.bias[row] = c
    return 0.0


@torch.no_grad()
def _place_context(net: SmileNet, units: Units, u: torch.Tensor, rng: np.random.Generator) -> None:
    """Units that read e weigh it about as much as their direction; their kinks pass through rows."""
    encoder, lower = net.encoder, net.lower
    assert encoder is not None
    unit, place = units.reads
    if not len(unit):
        return
    e = encoder(u)
    spread = e.std(dim=0).clamp(min=1e-3).cpu().numpy()
    own = unit % units.size
    size = (e[:, units.encoded :].cpu().numpy() @ units.direction.T).std(axis=0)[own]
    weight = size * rng.normal(size=len(unit)) / spread[place]
    weight = np.where(units.ordered[units.coordinate[own]], np.abs(weight) * units.side[own], weight)
    lower.weight[unit, place] = torch.as_tensor(weight).to(lower.weight)
    for j in np.unique(unit):
        lower.bias[j] = -(e[int(rng.integers(len(e)))] @ lower.weight[j])
