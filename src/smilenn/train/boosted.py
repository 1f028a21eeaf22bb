"""Boosted trees beside an ensemble's networks: scikit-learn's HistGradientBoosting, under the same signs.

    e_tg  =  the booster of output t fitted to  y_t / scale_t − start_t  on the rows that group g may learn from

    classes with signs    a booster for each, all learning together (boosted_classes.py)
    quantiles             one booster for the coordinate that moves all of them (boosted_quantiles.py)

A booster reads what the networks of its output read, rises and falls with the same features, and becomes a branch of
the encoder (model/encoders/trees.py) with the booster's own thresholds and values. Both are compared, tree by tree, on
every row of a table of fewer than 20,000 rows, and on 10,000 to 15,000 evenly spaced rows of a longer one: all of
100,000 would take a fifth of a fit.

The rows kept from a booster's group say when to stop. Groups have trees of two sizes: their mean is better than either.
On a small table of yes and no such trees may learn noise, so each group is also tried with plain ones, of few leaves
with more rows, whose nodes choose from all columns where these are few; its kept rows choose. Numbers of some thousand
rows have finer trees, whose leaves have more rows and are drawn to zero.

The numbers were chosen on kept rows of training parts of the tables in docs/tables.md.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import torch

from smilenn.clusters.context import current
from smilenn.clusters.task import ClusterError
from smilenn.domain import Domain
from smilenn.model.encoders import Branch, Trees
from smilenn.model.net import SmileNet
from smilenn.model.threads import AsManyThreads
from smilenn.model.trees import Column, assert_same, convert
from smilenn.train.boosted_classes import Together
from smilenn.train.boosted_quantiles import hold_apart_, shift_of, steady
from smilenn.train.fitted import Fitted
from smilenn.train.growing import grow_within
from smilenn.train.losses import LossKind, Quantiles
from smilenn.train.phases import Training

logger = logging.getLogger(__name__)

NAME = "trees"
RATE = 0.1
RICH = ((31, 5, 0.0), (63, 5, 0.0))  # leaves of a tree, least rows of a leaf and how it is drawn to zero, by turns
PLAIN = ((8, 20, 0.0), (16, 20, 0.0))
FINE = ((63, 20, 5.0), (127, 20, 5.0))
TRIED = 10_000  # rows up to which plain trees are tried
FINER = (5_000, 50_000)  # rows from which and up to which trees of numbers are fine; they take half as long again
FEATURES = 0.5  # of the columns that a node may choose from
FEW = 12  # columns up to which a node of a plain tree may choose from all
MOST, PATIENCE = 1000, 20  # trees of a booster, and how many it adds without a gain
CATEGORIES = 255  # that a column of the booster may have
GROUPS = ((50_000, 4), (300_000, 2))  # boosters, by rows; of more rows one
COMPARED = 10_000  # rows, at least, on which a booster is compared with its branch where there are twice as many

Directions = Mapping[str, int]
"""What an output may read: features with the sign of their effect, 0 for any."""


def boosters(
    net: SmileNet,
    task: Training,
    kind: LossKind,
    signs: Sequence[Directions],
    seconds: float | None = None,
    told: Callable[[int, int], None] = lambda done, groups: None,
) -> Fitted:
    """Boosters for as many groups as the rows and `seconds` allow; none where the outputs do not fit them.

    `signs` has an entry for every output. The coordinates of the network must be its outputs, and a row must be kept
    from the groups (`Training.folds`). `told` hears how many groups of how many are done.
    """
    if not signs or task.folds is None or not fits_members(net, kind):
        return Fitted(NAME)
    groups = min(task.folds.shape[1], next((many for rows, many in GROUPS if len(task.x) <= rows), 1))
    found, partly = list[tuple[Branch, ...]](), 0
    for made in _made(net, task, kind, signs, groups, seconds):
        if made is None:
            return Fitted(NAME)
        found.append(made[0])
        partly += made[1]
        told(len(found), groups)
    if isinstance(kind, Quantiles) and found:
        hold_apart_(net, task, kind, found)
    return Fitted(NAME, tuple(found), groups, partly)


def _made(
    net: SmileNet, task: Training, kind: LossKind, signs: Sequence[Directions], groups: int, seconds: float | None
) -> Iterator[Made | None]:
    """Every group in order: a task each on a cluster, unless `seconds` say how many trees there are."""
    assert task.folds is not None
    u, held = net.scale(task.x).cpu().numpy(), task.folds.cpu().numpy()
    done, pool = 0, current()
    if pool is not None and seconds is None and groups > 1:
        common = net, replace(task, generators=(), over=bool), kind, signs, u
        try:
            for made in pool.results(_shared, range(groups), common):
                done += 1
                yield made
        except ClusterError as error:
            logger.warning("The other boosted trees are fitted here: %s", error)
    until = None if seconds is None else perf_counter() + seconds
    for g in range(done, groups):
        if task.over():
            return
        left = None if until is None else max(0.0, until - perf_counter()) / (groups - g)
        yield _group(net, task, kind, signs, u, held[:, g], left, _Place(g, task.seed))


def _shared(common: tuple[Any, ...], group: int) -> Made | None:
    net, task, kind, signs, u = common
    return _group(net, task, kind, signs, u, task.folds[:, group].cpu().numpy(), None, _Place(group, task.seed))


def fits_members(net: SmileNet, kind: LossKind) -> bool:
    """Whether every coordinate of the network is an output or, for numbers and for yes and no, its negative; of
    quantiles, whether one of them moves all outputs.
    """
    if isinstance(kind, Quantiles):
        return shift_of(net) is not None
    ways = ways_of(net)
    return ways is not None and (kind in ("mse", "bce") or min(ways) > 0)


def apart(kind: LossKind, signs: Sequence[Directions]) -> bool:
    """Whether these are classes that need a function each: they read different features, or a sign is asked for."""
    return kind == "ce" and (any(one != signs[0] for one in signs) or any(signs[0].values()))


def ways_of(net: SmileNet) -> list[int] | None:
    """For every output 1 if its coordinate rises with it, −1 if it falls; None where coordinates are other sums.

    A box on single inputs may have the negative of an output as its coordinate.
    """
    head = net.head_weight.detach().cpu()
    if head.shape[0] != head.shape[1] or not torch.equal(head.abs(), torch.eye(len(head)).to(head)):
        return None
    return [int(way) for way in head.diagonal()]


Size = tuple[int, int, float]
"""Leaves of a tree, the least rows of a leaf, and the weight of the squares of its values."""


Made = tuple[tuple[Branch, ...], bool]
"""The branches of a group, and whether the time ended the growth of their trees."""


@dataclass(frozen=True)
class _Place:
    """Which group a booster is for, and the seed of all."""

    group: int
    seed: int

    def sizes(self, kind: LossKind, rows: int, limited: bool, signed: bool = False) -> list[Size]:
        """What to try, also for classes with signs; a time limit leaves none for a second try."""
        first = FINE if kind == "mse" and FINER[0] <= rows <= FINER[1] else RICH
        plain = (kind == "bce" or signed) and rows <= TRIED and not limited
        return [family[self.group % len(family)] for family in ((first, PLAIN) if plain else (first,))]


def _group(
    net: SmileNet,
    task: Training,
    kind: LossKind,
    signs: Sequence[Directions],
    u: np.ndarray,
    held: np.ndarray,
    seconds: float | None,
    place: _Place,
) -> Made | None:
    """One group; None where its rows have one class only."""
    if isinstance(kind, Quantiles):
        return _quantile_group(net, task, kind, signs, u, held, seconds, place)
    if apart(kind, signs):
        return _class_group(net, task, signs, u, held, seconds, place)
    weight = None if task.weight is None else task.weight.cpu().numpy()
    made, late = list[Branch](), False
    fits = 1 if kind == "ce" else len(signs)
    for t in range(fits):
        table = Table.of(net.domain, u, signs[t])
        if not table.columns:
            return None
        y = target_of(net, task, kind, t)
        if kind in ("bce", "ce") and _misses_a_class(y, weight, held):
            return None
        tried = [_booster(kind, t, table, place, size) for size in place.sizes(kind, len(u), seconds is not None)]
        for model in tried:
            late |= _fit(model, table.x, y, weight, held, None if seconds is None else seconds / fits)
        model = max(tried, key=lambda one: max(one.validation_score_))
        made.append(_branch(net, model, table, kind, t, f"{NAME}{place.group}" + ("" if fits == 1 else f"_{t}")))
    return tuple(made), late


def _misses_a_class(y: np.ndarray, weight: np.ndarray | None, held: np.ndarray) -> bool:
    """Whether a class is not among the rows that are learned from."""
    learned = y[~held] if weight is None else y[~held & (weight > 0)]
    return len(np.unique(learned)) < len(np.unique(y))


def _class_group(
    net: SmileNet,
    task: Training,
    signs: Sequence[Directions],
    u: np.ndarray,
    held: np.ndarray,
    seconds: float | None,
    place: _Place,
) -> Made | None:
    """A group whose classes have boosters of their own, which learn together."""
    weight = None if task.weight is None else task.weight.cpu().numpy()
    tables, y = [Table.of(net.domain, u, own) for own in signs], target_of(net, task, "ce", 0)
    if not all(table.columns for table in tables) or _misses_a_class(y, weight, held):
        return None
    tried, late = list[Together](), False
    for size in place.sizes("ce", len(u), seconds is not None, signed=True):
        each = [_booster("mse", t, table, place, size) for t, table in enumerate(tables)]
        together = Together(each, [table.x for table in tables], y, unequal(weight), held, PATIENCE)
        late |= grow_within(together.grow, MOST, seconds, perf_counter)
        tried.append(together)
    best = min(tried, key=lambda one: min(one.losses))
    best.cut()
    each = enumerate(zip(best.boosters, tables, strict=True))
    return tuple(_branch(net, own, table, "ce", t, f"{NAME}{place.group}_{t}") for t, (own, table) in each), late


def _quantile_group(
    net: SmileNet,
    task: Training,
    kind: LossKind,
    signs: Sequence[Directions],
    u: np.ndarray,
    held: np.ndarray,
    seconds: float | None,
    place: _Place,
) -> Made | None:
    """A group of quantiles: one booster for the coordinate that moves all quantiles, and zeros."""
    shift = shift_of(net)
    assert shift is not None
    table = Table.of(net.domain, u, signs[shift])
    if not table.columns:
        return None
    weight = None if task.weight is None else task.weight.cpu().numpy()
    y = (task.y[:, 0] / net.output_scale[0]).cpu().numpy()
    model = _booster("mse", shift, table, place, place.sizes("mse", len(u), seconds is not None)[0])
    late = _fit(model, table.x, y, weight, held, seconds)
    made = [steady(f"{NAME}{place.group}_{t}", table.coordinates) for t in range(len(signs))]
    made[shift] = _branch(net, model, table, kind, shift, f"{NAME}{place.group}_{shift}")
    return tuple(made), late


def target_of(net: SmileNet, task: Training, kind: LossKind, t: int) -> np.ndarray:
    """What a member of output t learns [N]: its coordinate, whether it is to be positive, or the class."""
    y = task.y.cpu().numpy()
    if kind == "ce":
        return y.argmax(axis=1)
    own, way = y[:, t], (ways_of(net) or [1])[t]
    if kind == "bce":
        return (own > 0.5) == (way > 0)
    return way * (own / float(net.output_scale[t]) - float(net.head_bias[t]))


def start_of(net: SmileNet) -> torch.Tensor:
    """Where every coordinate is zero: what it starts from, [o], in the units of its output's scale."""
    return net.head_bias.detach().cpu() * torch.tensor(ways_of(net), dtype=torch.float64)


# ---- the table of a booster -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Table:
    """Rows [N, c] for a booster, a category as its code; the signs [c] and which columns are categories [c].

    `coordinates` are those of the domain that the branch reads, `columns` where each column lies among them.
    """

    x: np.ndarray
    signs: list[int]
    categories: list[bool]
    coordinates: list[int]
    columns: list[Column]

    @classmethod
    def of(cls, domain: Domain, u: np.ndarray, signs: Directions) -> Table:
        """The features that `signs` names; one with too many categories is left to the networks."""
        table = cls(np.zeros((len(u), 0)), [], [], [], [])
        rows = []
        for name, span in domain.slices.items():
            own, at = list(range(span.start, span.stop)), len(table.coordinates)
            category = domain.feature(name).kind == "category"
            if name not in signs or (category and len(own) > CATEGORIES):
                continue
            table.coordinates.extend(own)
            table.columns.append(list(range(at, at + len(own))) if category else at)
            table.signs.append(signs[name])
            table.categories.append(category)
            rows.append(u[:, own].argmax(axis=1).astype(np.float64) if category else u[:, own[0]])
        x = np.stack(rows, axis=1) if rows else table.x
        return cls(x, table.signs, table.categories, table.coordinates, table.columns)

    def one_hot(self, x: np.ndarray) -> np.ndarray:
        """Rows of the booster as the branch reads them."""
        out = np.zeros((len(x), len(self.coordinates)))
        for column, place in zip(x.T, self.columns, strict=True):
            if isinstance(place, int):
                out[:, place] = column
            else:
                out[np.arange(len(x)), np.array(place)[column.astype(int)]] = 1.0
        return out


# ---- fitting --------------------------------------------------------------------------------------------------------


def choice(size: Size, columns: int) -> float:
    """The share of the columns that a node may choose from. Plain trees are few splits each, so that on a narrow table
    those of one column would have to wait for their turn.
    """
    return 1.0 if size in PLAIN and columns <= FEW else FEATURES


def _booster(kind: LossKind, t: int, table: Table, place: _Place, size: Size) -> Any:
    """A booster of scikit-learn, not yet fitted."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    settings: dict[str, Any] = {
        "learning_rate": RATE,
        "max_leaf_nodes": size[0],
        "min_samples_leaf": size[1],
        "l2_regularization": size[2],
        "max_features": choice(size, len(table.columns)),
        "categorical_features": table.categories,
        "n_iter_no_change": PATIENCE,
        "early_stopping": True,
        "random_state": np.random.RandomState([place.seed % 2**32, place.group, t]).randint(2**31 - 1),
    }
    if kind != "ce":
        settings["monotonic_cst"] = table.signs
    return HistGradientBoostingRegressor(**settings) if kind == "mse" else HistGradientBoostingClassifier(**settings)


def _fit(
    model: Any, x: np.ndarray, y: np.ndarray, weight: np.ndarray | None, held: np.ndarray, seconds: float | None
) -> bool:
    """Fit on rows that are not held, and keep the trees up to where those that are held are predicted best; whether
    the time ended the growth.
    """
    weight = unequal(weight)
    own = None if weight is None else weight[~held]
    kept = {"X_val": x[held], "y_val": y[held], "sample_weight_val": None if weight is None else weight[held]}

    def grow(trees: int) -> int:
        model.set_params(max_iter=trees, warm_start=True)
        with warnings.catch_warnings(), AsManyThreads():
            warnings.simplefilter("ignore")  # a pooled standard deviation of two equal rows, and the like
            model.fit(x[~held], y[~held], sample_weight=own, **kept)
        return model.n_iter_

    late = grow_within(grow, MOST, seconds, perf_counter)
    best = int(np.argmax(model.validation_score_))  # entry 0 is the constant
    del model._predictors[max(1, best) :]
    return late


def unequal(weight: np.ndarray | None) -> np.ndarray | None:
    """The weights [N], or None where all are the same: scikit-learn bins weighted rows ten times as slowly."""
    return None if weight is None or (weight == weight[0]).all() else weight


def compared(x: np.ndarray) -> np.ndarray:
    """The rows of x on which a booster is compared with its branch: all, or of many at least `COMPARED`."""
    return x[:: max(1, len(x) // COMPARED)]


def _branch(net: SmileNet, model: Any, table: Table, kind: LossKind, t: int, name: str) -> Branch:
    """The booster of output t, or of all classes, as a branch in the network's coordinates."""
    forest = convert(model, table.columns, len(table.coordinates))
    some = compared(table.x)
    assert_same(forest, model, some, table.one_hot(some))
    layer: Trees = forest.layer
    if kind in ("bce", "ce"):  # log-odds; a division by a power of two is exact
        own, leaf = slice(t, t + layer.outputs), layer.split == -1
        scale = net.output_scale.cpu()[own]
        per_tree = torch.repeat_interleave(scale, torch.tensor(layer.trees))
        per_leaf = torch.repeat_interleave(per_tree, torch.tensor([len(ids) for ids in forest.leaves]))
        layer.number[leaf] = layer.number[leaf] / per_leaf
        layer.bias.copy_(layer.bias / scale - start_of(net)[own])
    return Branch(name, table.coordinates, [layer])
