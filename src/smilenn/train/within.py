"""What ε leaves: an ensemble that is monotone and does not read protected columns, moved by trees that do.

    f(x, z) = m(x) + ½·clip(b_1(x, z), −w/2, w/2) + ½·clip(b_2(x, z), −w/2, w/2)        w = ε less a thousandth

m rises with the ordered features and does not read z. b_1 and b_2 are boosted trees that rise with them too, for every
z. A clip keeps order, so f is monotone. Changing z alone leaves m as it is to the bit and moves each clip by w at most,
so it moves f by w at most; the thousandth is for the rounding of sums. A clip is two layers, `ramps` and `linear`:

    w·clip((b + w/2)·(1/w), 0, 1) − w/2

Where f must stay between the ends lo and hi, the clip is to [c, d], d − c ≤ w, and every member of m is cut to
[lo − c, hi − d]: then lo ≤ m + b ≤ hi, and nothing has to be cut behind the sum. m gives up some of its range for that,
which b, reading all features, may give back. If kept rows lie beyond m's new ends, [c, d] is also tried as what trees
of z alone would add without these ends.

Beside rules on slopes or curvature (`Lipschitz`, `Convex`, `Robust`, …) m has curved units, and b reads no feature that
such a rule moves: b is equal at all inputs that the rule compares, and cancels.

With squares and quantiles m does not learn what z explains, which would be noise to it: e(z), fitted to y − h(x) of
quick trees h, both predicted out of fold and cut to ± w/2, is taken off its targets beforehand.

Both b are fitted to what m leaves of rows that were kept from its members, one on each half of them, by squares; of
classes by one Newton step on the log-odds or logits, one after the other. Quantiles are shifted together: what is left
is the mean of y less each of them. The other half stops it, and both halves together say which trees are best, those of
z alone or those of all features, and whether f predicts better than m; if not, f is m.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.errors import listed
from smilenn.model.encoders import Branch, Encoder, Linear, Ramps
from smilenn.model.net import SmileNet
from smilenn.model.threads import AsManyThreads
from smilenn.model.trees import assert_same, convert
from smilenn.train.boosted import Directions, Table, unequal
from smilenn.train.losses import LossKind, Quantiles
from smilenn.train.phases import Training

SHARE = 0.999  # of ε
LEAST = 1e-6  # of an output's scale: a narrower clip would be lost in rounding
LEAST_ROWS = 40  # that were kept
GAIN = 0.002  # share of the loss that the trees have to save
TREES, PATIENCE, LEAVES, IN_LEAF, RATE = 200, 10, 15, 10, 0.1
MOST_ROWS = 20_000  # that trees are fitted to
NARROW = 0.9  # of a clip: trees that need less are tried with what they need
NAME = "within"  # how the branches of such trees are called
STEEP = 0.02  # p·(1 − p) is at least this in a Newton step


@dataclass(frozen=True)
class Clip:
    """What trees may move a coordinate by: from `low` to `high`."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """w."""
        return self.high - self.low

    def leaves(self, ends: tuple[float, float]) -> tuple[float, float]:
        """The ends for what the trees move, so that the sum keeps these."""
        return ends[0] - self.low, ends[1] - self.high


@dataclass(frozen=True)
class Spare:
    """The signs that one output has in all features; by how much trees may move it in all (w, in its coordinate); the
    features that it must not depend on otherwise; those that trees are `barred` from, since another rule moves them;
    the `ends` that the coordinate must keep with the trees.
    """

    signs: Directions
    width: float
    protected: frozenset[str]
    barred: frozenset[str] = frozenset()
    ends: tuple[float, float] | None = None

    @property
    def choices(self) -> tuple[Directions, ...]:
        """What to read: protected features alone, which few rows suffice for, or all that trees may read."""
        every = {name: sign for name, sign in self.signs.items() if name not in self.barred}
        return {name: sign for name, sign in every.items() if name in self.protected}, every

    @property
    def clip(self) -> Clip:
        """All of the width, but at most half of what lies between the ends."""
        width = self.width if self.ends is None else min(self.width, (self.ends[1] - self.ends[0]) / 2)
        return Clip(-width / 2, width / 2)


@dataclass(frozen=True, eq=False)
class Within:
    """What is spare of every output, the kind of the loss, and what was taken off the targets [N, o]."""

    spare: tuple[Spare, ...] = ()
    kind: LossKind = "mse"
    taken: torch.Tensor | None = None

    def targets(self, task: Training, rows: torch.Tensor) -> torch.Tensor:
        """The targets of some rows as they are."""
        return task.y[rows] if self.taken is None else task.y[rows] + self.taken[rows]


NOTHING = Within()


@dataclass(frozen=True, eq=False)
class Kept:
    """Rows that were kept from all that predicts them: indices [n], what is predicted there, their targets [n, o]."""

    rows: torch.Tensor
    found: torch.Tensor
    y: torch.Tensor
    kind: LossKind

    def loss(self, task: Training) -> float:
        """The loss of what is predicted."""
        return float(task.loss(self.found, self.y, None if task.weight is None else task.weight[self.rows]))


@torch.no_grad()
def move_within(
    net: SmileNet, task: Training, within: Within, rows: torch.Tensor, found: torch.Tensor
) -> tuple[float, str]:
    """Let trees move every output that has room, where that predicts kept rows better; the loss there, and words.

    `found` [n, o] is what the network predicts of `rows` [n] that were kept from its members.
    """
    kept = Kept(rows, found, within.targets(task, rows), within.kind)
    assert net.encoder is not None
    first = loss = kept.loss(task)
    for t, own in enumerate(within.spare if len(rows) >= LEAST_ROWS else ()):
        if own.clip.width <= LEAST:
            continue
        best = min(_tried(net, task, own, kept, t), key=lambda one: one.loss)
        if loss - best.loss > GAIN * first:
            _join_(net, best, t, own)
            kept, loss = replace(kept, found=best.found), best.loss
    return loss, f"trees within ε: held-out loss {first:.3f} to {loss:.3f}" if loss < first else ""


def spare_words(net: SmileNet, spare: Sequence[Spare]) -> str:
    """Whether a trained network uses ε, behind other sentences; nothing where no trees were to try."""
    if not spare:
        return ""
    names = listed(sorted(set().union(*(own.protected - own.barred for own in spare))), 40)
    if _moves(net):
        moved = f" Boosted trees that read {names} move the output within ε, which predicts held-out rows better."
        if any(own.ends for own in spare):
            moved += " The ensemble stays as far inside the bounds as they can move it."
        barred = listed(sorted(set().union(*(own.barred for own in spare))), 40)
        return f"{moved} They do not read {barred}, which other rules move." if barred else moved
    return f" No trees that read {names} were kept, so ε is not used."


def _moves(net: SmileNet) -> bool:
    """Whether some such trees reach an output; repair may have taken them out."""
    learned = [] if net.encoder is None else net.encoder.learned  # their coordinates come first
    own = np.repeat([branch.name.startswith(NAME) for branch in learned], [branch.outputs for branch in learned])
    places = np.flatnonzero(own)
    # units read them where outputs are cut
    read = [part[:, places] for name, part in net.lower.named_parameters() if name in ("slope", "weight")]
    return any(bool(part.any()) for part in read)


@dataclass(frozen=True, eq=False)
class _Moved:
    """Branches of trees that move a coordinate, what they are cut to, what is predicted with them [n, o], its loss."""

    loss: float
    found: torch.Tensor
    branches: tuple[Branch, ...]
    clip: Clip


def _tried(net: SmileNet, task: Training, own: Spare, kept: Kept, t: int) -> list[_Moved]:
    """Trees that move coordinate t, for everything they may read and every clip that may serve."""
    clips = [own.clip]
    if own.ends is not None and not torch.equal(_cut(net, kept.found, t, own.clip.leaves(own.ends)), kept.found):
        free = replace(own, ends=None)
        needed = _needed(net, _fitted(net, task, free.choices[0], free, free.clip, kept, t), kept, t)
        clips += [needed] if LEAST < needed.width < NARROW * own.clip.width else []
    return [_fitted(net, task, signs, own, clip, kept, t) for clip in clips for signs in own.choices]


def _needed(net: SmileNet, moved: _Moved, kept: Kept, t: int) -> Clip:
    """From where to where trees move coordinate t."""
    by = _place(net, moved.found, t) - _place(net, kept.found, t)
    return Clip(float(by.min()), float(by.max()))


def _fitted(net: SmileNet, task: Training, signs: Directions, own: Spare, clip: Clip, kept: Kept, t: int) -> _Moved:
    """Trees that move coordinate t; none, at an infinite loss, where they have no column to read or no time."""
    u, way = net.scale(task.x[kept.rows]).cpu().numpy(), _way(net, t)
    table = Table.of(net.domain, u, signs)
    if not table.columns or task.over():
        return _Moved(math.inf, kept.found, (), clip)
    if own.ends is not None:
        kept = replace(kept, found=_cut(net, kept.found, t, clip.leaves(own.ends)))
    residual, weight = _left(task, kept, way)
    moved = kept.found.clone()
    half = _halves(len(u), task.seed)
    branches = []
    for k, learns in enumerate((half, ~half)):
        model = _booster(table, residual, weight, learns, task.seed + k)
        branch = _clipped(model, table, clip, f"{NAME}{t}_{k}")
        branches.append(branch)
        other = torch.as_tensor(np.flatnonzero(~learns), device=moved.device)
        moved[other] += branch(net.scale(task.x[kept.rows[other]])).to(moved) * way
    return _Moved(replace(kept, found=moved).loss(task), moved, tuple(branches), clip)


def _place(net: SmileNet, found: torch.Tensor, t: int) -> torch.Tensor:
    """Coordinate t [n] of outputs [n, o], one of which no other coordinate moves."""
    way, head = _way(net, t), net.head_weight.detach()
    o = int((way.abs() * ((head != 0).sum(dim=1) == 1)).argmax())
    return (found[:, o] - net.head_bias[o] * net.output_scale[o]) / way[o]


def _cut(net: SmileNet, found: torch.Tensor, t: int, ends: tuple[float, float]) -> torch.Tensor:
    """Outputs [n, o] with coordinate t cut to these ends."""
    z = _place(net, found, t)
    return found + (z.clamp(*ends) - z)[:, None] * _way(net, t)


def _way(net: SmileNet, t: int) -> torch.Tensor:
    """How far coordinate t moves each output, [o]."""
    return net.head_weight.detach()[:, t] * net.output_scale


@torch.no_grad()
def explained(net: SmileNet, task: Training, spare: Sequence[Spare], kind: LossKind) -> torch.Tensor | None:
    """What protected features explain of the targets beyond the others, [N, o]; None where that is not asked for."""
    numbers = kind == "mse" or isinstance(kind, Quantiles)
    if not numbers or len(task.x) < 2 * LEAST_ROWS or not any(own.width > LEAST for own in spare):
        return None
    out = torch.zeros_like(task.y)
    for t, own in enumerate(spare):
        if own.width > LEAST and not task.over():
            way = _way(net, t)
            effect = _effect(net, task, own, _along(task.y, way))
            out += torch.as_tensor(effect).to(out)[:, None] * way
    return out


def _along(y: torch.Tensor, way: torch.Tensor) -> np.ndarray:
    """How far a coordinate has to go for the outputs to move by y [N, o], [N]: the mean over those that it moves."""
    moves = way != 0
    return (y[:, moves] / way[moves]).mean(dim=1).cpu().numpy().astype(np.float64)


def _effect(net: SmileNet, task: Training, spare: Spare, y: np.ndarray) -> np.ndarray:
    """What protected features explain of y [N] beyond the others, cut to ± w/2 around 0."""
    u = net.scale(task.x).cpu().numpy()
    rest = {name: sign for name, sign in spare.signs.items() if name not in spare.protected}
    left = y - _out_of_fold(Table.of(net.domain, u, rest), y, task)
    effect = _out_of_fold(Table.of(net.domain, u, spare.choices[0]), left, task)
    return np.clip(effect - effect.mean(), spare.clip.low, spare.clip.high)


def _out_of_fold(table: Table, y: np.ndarray, task: Training) -> np.ndarray:
    """What trees predict of y [N], each half of the rows by those of the other half; nothing where they have no column
    to read.
    """
    weight = np.ones(len(y)) if task.weight is None else task.weight.cpu().numpy()
    half, out = _halves(len(y), task.seed), np.zeros(len(y))
    for k, learns in enumerate((half, ~half) if table.columns else ()):
        out[~learns] = _booster(table, y, weight, learns, task.seed + k).predict(table.x[~learns])
    return out


def _halves(rows: int, seed: int) -> np.ndarray:
    return np.random.RandomState(seed % 2**32).permutation(rows) % 2 == 0


def _left(task: Training, kept: Kept, way: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """What is left to learn of a coordinate that moves outputs this way, and the weight of each row, [n] both."""
    weight = np.ones(len(kept.y)) if task.weight is None else task.weight[kept.rows].cpu().numpy()
    if kept.kind not in ("bce", "ce"):
        return _along(kept.y - kept.found, way), weight
    o = int(way.abs().argmax())
    y, f = (v[:, o].cpu().numpy().astype(np.float64) for v in (kept.y, kept.found))
    if kept.kind == "ce":  # the log-odds of this class against all others
        f = torch.logit(kept.found.softmax(dim=1)[:, o].to(torch.float64)).cpu().numpy()
    p = 1 / (1 + np.exp(-np.clip(f, -30, 30)))
    steep = np.maximum(p * (1 - p), STEEP)
    return (y - p) / steep / float(way[o]), weight * steep


def _booster(table: Table, y: np.ndarray, weight: np.ndarray, learns: np.ndarray, seed: int) -> Any:
    """Trees fitted to the rows that `learns` [n] says, as many as predict the others best."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    settings: dict[str, Any] = {
        "max_iter": TREES,
        "learning_rate": RATE,
        "max_leaf_nodes": LEAVES,
        "min_samples_leaf": IN_LEAF,
        "monotonic_cst": table.signs,
        "categorical_features": table.categories,
        "early_stopping": True,
        "n_iter_no_change": PATIENCE,
        "random_state": seed % 2**32,
    }
    model: Any = HistGradientBoostingRegressor(**settings)
    x, other, learns = table.x, _some(~learns), _some(learns)
    own = unequal(weight)
    with warnings.catch_warnings(), AsManyThreads():
        warnings.simplefilter("ignore")
        model.fit(
            x[learns],
            y[learns],
            sample_weight=None if own is None else own[learns],
            X_val=x[other],
            y_val=y[other],
            sample_weight_val=None if own is None else own[other],
        )
    best = int(np.argmax(model.validation_score_))
    del model._predictors[max(1, best) :]
    return model


def _some(chosen: np.ndarray) -> np.ndarray:
    """The rows that are chosen [n], or as many of them, evenly, as trees need to be fitted quickly."""
    places = np.flatnonzero(chosen)
    return places[:: 1 + len(places) // MOST_ROWS]


def _clipped(model: Any, table: Table, clip: Clip, name: str) -> Branch:
    """The trees, cut to the clip, as a branch of one coordinate."""
    forest = convert(model, table.columns, len(table.coordinates))
    assert_same(forest, model, table.x, table.one_hot(table.x))
    ramp = Ramps([0], np.array([clip.low]), np.array([1 / clip.width]))
    shift = Linear(1, 1, signs=np.ones((1, 1)))
    shift.weight.fill_(clip.width)
    shift.bias.fill_(clip.low)
    return Branch(name, table.coordinates, [forest.layer, ramp, shift])


def _join_(net: SmileNet, moved: _Moved, t: int, own: Spare) -> None:
    """Add the mean of some branches, which are cut to a clip, to coordinate t of the network.

    Their coordinates come behind those of other branches with layers: columns that are passed on stay the last.
    """
    encoder, many = net.encoder, len(moved.branches)
    assert encoder is not None
    at = int(encoder.encoded.sum())
    passed = [branch for branch in encoder.branches if isinstance(branch, Branch) and not len(branch.layers)]
    joined = Encoder(encoder.domain, [*encoder.learned, *moved.branches, *passed])
    if encoder.limits is not None:
        least, most = encoder.limits if own.ends is None else _limited(net, moved.clip.leaves(own.ends), t)
        # trees are cut by their clip; provers of single inputs read these limits
        clip = Clip(-own.width, own.width) if own.ends is None else moved.clip
        joined.limit_(np.insert(least, [at] * many, clip.low), np.insert(most, [at] * many, clip.high))
    net.encoder = joined.to(net.head_weight.device).train(encoder.training)
    _widen_(net, at, many)
    net.lower.slope[t, at : at + many] = 1.0 / many


def _limited(net: SmileNet, ends: tuple[float, float], t: int) -> tuple[np.ndarray, np.ndarray]:
    """The limits [p] of the encoder, those of what reaches coordinate t inside these ends too."""
    assert net.encoder is not None and net.encoder.limits is not None
    least, most = net.encoder.limits
    own = (net.lower.slope[t] != 0).cpu().numpy()
    return np.where(own, np.maximum(least, ends[0]), least), np.where(own, np.minimum(most, ends[1]), most)


def _widen_(net: SmileNet, at: int, many: int) -> None:
    """So many further inputs of the auxiliaries in front of input `at`, which nothing reads yet."""
    for part in (net.lower, net.second):
        part.inputs += many
        for name in sorted({"slope", "weight"} & dict(part.named_parameters()).keys()):
            own = getattr(part, name)
            more = torch.cat([own[:, :at], own.new_zeros(len(own), many), own[:, at:]], dim=1)
            setattr(part, name, nn.Parameter(more, requires_grad=False))
