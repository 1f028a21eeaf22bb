"""Trees as libraries store them, turned into the preorder of a layer (`smilenn.model.encoders.trees`).

number     left if x ≤ θ; learners of float32 compare the nearest float32, so θ' is the largest float64 with
           f32(θ') ≤ θ, or f32(θ') < θ where "left" means smaller
category   right if it is one of a set: the largest of the set's 0/1 coordinates exceeds 1/2
θ = ±∞     always left, always right: the node is folded away
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.encoders.trees import LEAF, Trees

MISSING = -1  # the code of a missing category


@dataclass(frozen=True)
class Gaps:
    """A number in [lo, hi] that may be missing: `low` is a place of y that then lies below lo, `high` one above hi.

    Where the number is known both are the number, so a split asks the place on whose side missing cells go.
    """

    low: int
    high: int
    lo: float
    hi: float

    @property
    def ends(self) -> tuple[float, float]:
        """What missing cells are in the two places: beyond all thresholds, once these are cut to [below lo, hi]."""
        away = 4 * (1 + 2.0**-20 * max(abs(self.lo), abs(self.hi)))
        return self.lo - away, self.hi + away

    def cut(self, theta: float) -> float:
        """A threshold that decides alike for every number in [lo, hi]."""
        return min(max(theta, (self.lo + self.ends[0]) / 2), self.hi)


Column = int | Sequence[int] | Mapping[int, int] | Gaps
"""Where a column of the learner is found in y: a place, two of a number that may be missing, or of a category the
places of its codes 0, 1, …, or of those that occur."""


NAMELESS = -1  # a leaf whose number in the library is not known


@dataclass(frozen=True)
class Leaf:
    """A value, and the number that the library calls the leaf by."""

    value: float
    number: int


@dataclass(frozen=True)
class Split:
    """A node with children: `places` is one place in y, or the set of categories that go right."""

    places: tuple[int, ...]
    threshold: float
    left: object
    right: object


Expand = Callable[[object], Leaf | Split]
"""A node of a library, whatever it is there, as a leaf or a split; called once for each."""


@dataclass(eq=False)
class Builder:
    """Collects trees: `inputs` coordinates of y, and where the learner's columns lie among them."""

    inputs: int
    columns: Sequence[Column]
    sets: dict[tuple[int, ...], int] = field(default_factory=dict)

    def place(self, column: int) -> int:
        """Of a number."""
        place = self.columns[column]
        if not isinstance(place, int):
            raise SmileError(f"Column {column} is a category for the layer, but the trees compare it with a number.")
        return place

    def split(self, column: int, threshold: float, left: object, right: object, *, missing_left: bool) -> Split:
        """Left if a number is ≤ the threshold, or if it is missing and such cells go left."""
        own = self.columns[column]
        if not isinstance(own, Gaps):
            return Split((self.place(column),), threshold, left, right)
        return Split((own.low if missing_left else own.high,), own.cut(threshold), left, right)

    def places(self, column: int, codes: Sequence[int]) -> tuple[int, ...]:
        """Of some categories; codes that have no coordinate cannot occur."""
        known = self.columns[column]
        if isinstance(known, int | Gaps):
            raise SmileError(
                f"The trees ask for categories of column {column}; pass the list of the places of its codes for it."
            )
        found = known if isinstance(known, Mapping) else dict(enumerate(known))
        return tuple(sorted(found[code] for code in codes if code in found))

    def tree(self, root: object, expand: Expand) -> tuple[list[int], list[float], list[int]]:
        """A tree in preorder: what nodes ask, their numbers, and the library's numbers of the leaves."""
        split, number, leaves, ahead = [], [], [], [root]
        while ahead:
            node = expand(ahead.pop())
            while isinstance(node, Split) and (not node.places or math.isinf(node.threshold)):
                # no category of the set can occur, or everything is below ∞: left; above −∞: right
                node = expand(node.left if not node.places or node.threshold > 0 else node.right)
            if isinstance(node, Leaf):
                split.append(LEAF)
                number.append(node.value)
                leaves.append(node.number)
                continue
            split.append(self._question(node.places))
            number.append(node.threshold)
            ahead += [node.right, node.left]
        return split, number, leaves

    def _question(self, places: tuple[int, ...]) -> int:
        if len(places) == 1:
            return places[0]
        return self.inputs + self.sets.setdefault(places, len(self.sets))

    def forest(
        self,
        outputs: Sequence[Sequence[tuple[list[int], list[float], list[int]]]],
        bias: Sequence[float],
        tolerance: float,
    ) -> Forest:
        """The layer; `tolerance` is what the library's sums may differ by, times Σ|v|."""
        trees = [[(split, number) for split, number, _ in own] for own in outputs]
        layer = Trees.of(self.inputs, trees, bias, [list(places) for places in self.sets])
        return Forest(layer, [np.array(leaves) for own in outputs for _, _, leaves in own], tolerance)


@dataclass(frozen=True, eq=False)
class Forest:
    """A layer made from a fitted model, with the library's numbers of each tree's leaves, from left to right."""

    layer: Trees
    leaves: list[np.ndarray]
    tolerance: float

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds [o] that no sum leaves, rounded outward to short numbers."""
        layer = self.layer
        values = np.split(layer.number[layer.split == LEAF].numpy(), np.cumsum([len(ids) for ids in self.leaves])[:-1])
        owner = np.repeat(np.arange(layer.outputs), layer.trees)
        least, most = (
            np.bincount(owner, weights=[f(own) for own in values], minlength=layer.outputs) + layer.bias.numpy()
            for f in (np.min, np.max)
        )
        size = np.bincount(owner, weights=[np.abs(own).max() for own in values]) + np.abs(layer.bias.numpy())
        unit = 2.0 ** (np.frexp(np.maximum(size, 2.0**-100))[1] - 10)  # far more than sums of so many terms round by
        return (np.floor(least / unit) - 1) * unit, (np.ceil(most / unit) + 1) * unit

    def in_model_units(self, domain: Domain, columns: Sequence[int]) -> Forest:
        """The same trees for inputs in model units u, where these compare raw inputs x.

        `columns` are the coordinates of the domain that the layer reads. x ≤ θ becomes u ≤ scale(θ), which says the
        same if the next float above θ is scaled to a larger number; if not, a SmileError says so.
        """
        layer, scaled = self.layer, self.layer.number.clone()
        for place, coordinate in enumerate(columns):
            lo, hi = float(domain.lo[coordinate]), float(domain.hi[coordinate])
            ends = _scaled(domain, coordinate, np.array([lo, hi]))
            at = np.flatnonzero(layer.split.numpy() == place)
            theta = layer.number.numpy()[at]
            inside = np.clip(theta, lo, hi)
            u, above = (_scaled(domain, coordinate, x) for x in (inside, np.minimum(np.nextafter(inside, np.inf), hi)))
            merged = (u == above) & (lo <= theta) & (theta < hi)
            if merged.any():
                raise SmileError(
                    f"The threshold {float(theta[merged][0])!r} of {domain.coordinates[coordinate]!r} and the number "
                    "above it are one number in model units; fit the trees on model units instead."
                )
            u = np.where(theta < lo, np.nextafter(ends[0], -np.inf), u)
            scaled.numpy()[at] = u
        made = Trees(layer.inputs, layer.trees, layer.nodes, layer.sets)
        for name, tensor in (("split", layer.split), ("number", scaled), ("bias", layer.bias)):
            getattr(made, name).copy_(tensor)
        return Forest(made, self.leaves, self.tolerance)


def _scaled(domain: Domain, coordinate: int, x: np.ndarray) -> np.ndarray:
    """Raw numbers of one coordinate in model units, as the network computes them."""
    rows = np.repeat(domain.lo[None], len(x), axis=0)
    rows[:, coordinate] = x
    return domain.scale(rows)[:, coordinate]


def at_most(theta: float) -> float:
    """The largest float64 whose nearest float32 is ≤ θ, a float32."""
    return _end(theta, np.float32(np.inf), strict=False)


def below(theta: float) -> float:
    """The largest float64 whose nearest float32 is < θ, a float32."""
    return _end(theta, np.float32(-np.inf), strict=True)


def _end(theta: float, towards: np.float32, *, strict: bool) -> float:
    """Half-way from θ to its neighbour, or the float before that where the half rounds to the wrong side."""
    if math.isinf(theta):
        return theta
    with np.errstate(over="ignore"):
        neighbour = np.nextafter(np.float32(theta), towards)
    # beyond the largest float32 the half-way point is that of a neighbour one unit further
    other = 2.0**128 * math.copysign(1.0, float(neighbour)) if np.isinf(neighbour) else float(neighbour)
    middle = theta + (other - theta) / 2
    with np.errstate(over="ignore"):
        cast = float(np.float32(middle))
    good = cast < theta if strict else cast <= theta
    return middle if good else math.nextafter(middle, -math.inf)
