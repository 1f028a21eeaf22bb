"""Maximising a linear function over the whole premise, extra rows included.

`Region.argmax` ignores rows. Rows, pins and strips tie variables (a coordinate of a copy) together into *blocks*, the
connected components of "some row names both". Over a small block (a convexity row 2·b = a + c is one coordinate in
three copies) the vertices are listed once,

    vertices = { solutions of all equalities and as many tight inequalities as are missing } ∩ block,

and a linear objective takes its best value at one of them. A block of whole-valued coordinates lists its grid points
instead. What is too large for a list (dense rows over many inputs) goes to one linear program for all objectives at
once; whole numbers and one-hot groups are relaxed there, and `Region.snap` has the last word.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy import sparse
from scipy.linalg import null_space
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse.csgraph import connected_components

from smilenn.errors import SmileError
from smilenn.problem.region import Region

_LISTS = 4096  # candidate vertices or grid points a block may have before the linear program takes over


@dataclass(frozen=True, eq=False)
class Blocks:
    """How the rows of a region couple its coordinates; variables are numbered c·m + i.

    Attributes
    ----------
    lists : pairs of variables [n, v] and points [n, P, v]: n blocks of v variables with P listed points each.
    program : variables [v] left to the linear program, with its constraints ``low ≤ matrix·u ≤ high``.
    """

    lists: tuple[tuple[np.ndarray, np.ndarray], ...]
    program: np.ndarray
    matrix: sparse.csr_matrix
    low: np.ndarray
    high: np.ndarray


class Oracle:
    """The linear oracle of a region: `oracle(g)` maximises Σ_c g_c·u_c over the premise.

    Whole numbers are relaxed where rows reach them and their grid is too large to list. Calls are batched over
    objectives g [B, k, m] and return u [B, k, m].
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        self.blocks = _blocks(region) if region.has_rows else None

    def __call__(self, g: np.ndarray) -> np.ndarray:
        """A maximiser for each objective."""
        u = self.region.argmax(g)
        if self.blocks is None:
            return u
        flat, goal = u.reshape(len(u), -1), g.reshape(len(g), -1)
        for variables, points in self.blocks.lists:
            best = np.einsum("bnv,npv->bnp", goal[:, variables], points).argmax(axis=2)  # [B, n]
            flat[:, variables] = points[np.arange(len(points)), best]
        if self.blocks.program.size:
            flat[:, self.blocks.program] = _solve(self.blocks, self.region, goal[:, self.blocks.program])
        return u

    def snap(self, u: np.ndarray) -> np.ndarray:
        """`Region.snap`, and the nearest listed points of blocks that hold whole numbers; u and result [B, k, m]."""
        u = self.region.snap(u)
        whole = np.tile(self.region.step > 0, self.region.copies)
        for variables, points in self.blocks.lists if self.blocks is not None else ():
            n = whole[variables].any(axis=1)
            if n.any():
                flat = u.reshape(len(u), -1)
                gap = np.abs(flat[:, variables[n]][:, :, None] - points[n]).sum(axis=3)  # [B, n, P]
                flat[:, variables[n]] = points[n][np.arange(int(n.sum())), gap.argmin(axis=2)]
        return u

    def member(self, g: np.ndarray) -> np.ndarray:
        """A member [k, m] good for one objective g [k, m], whole numbers kept exactly: a small mixed-integer program.

        It stops at the first solutions found; a premise without members raises.
        """
        region = self.region
        k, m = region.copies, region.size
        matrix, low, high = constraints(region, np.arange(m))
        step = np.tile(np.where(region.step > 0, region.step, 1.0), k)
        lo, hi = region.lo.ravel(), region.hi.ravel()
        offset = np.where(np.tile(region.step > 0, k), lo, 0.0)  # u = offset + step · n
        slack = 1e-9 * (1.0 + np.abs(matrix).sum(axis=1))
        result = milp(
            -(g.ravel() * step),
            integrality=np.tile(region.step > 0, k).astype(int),
            constraints=LinearConstraint(matrix * step, low - matrix @ offset - slack, high - matrix @ offset + slack),
            bounds=Bounds((lo - offset) / step, (hi - offset) / step),
            options={"time_limit": 1.0, "mip_rel_gap": 0.1},
        )
        if result.x is None:
            raise SmileError("No input tuple that satisfies the premise was found; correct its 'when' rows.")
        n = np.where(np.tile(region.step > 0, k), np.rint(result.x), result.x)
        return region.snap((offset + step * n).reshape(k, m))

    def sample(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """`count` points of the premise with whole numbers relaxed, [count, k, m].

        Uniform per coordinate where no row reaches, else random mixtures of vertices.
        """
        region = self.region
        k, m = region.copies, region.size
        u = rng.uniform(region.lo, region.hi, (count, k, m))
        if k == 2:  # the second copy inside the strip around the first
            low = np.maximum(region.lo[1], u[:, 0] - region.delta_hi)
            high = np.maximum(low, np.minimum(region.hi[1], u[:, 0] - region.delta_lo))
            u[:, 1] = rng.uniform(low, high)
        u = np.where(region.pinned, u[:, :1], u)
        for group, choices in zip(region.groups, region.allowed, strict=True):
            u[:, :, list(group)] = np.eye(len(group))[choices.drawn(rng, count)]
        if self.blocks is None:
            return u
        flat = u.reshape(count, -1)
        for variables, points in self.blocks.lists:
            chosen = points[np.arange(len(points)), rng.integers(0, points.shape[1], (3, count, len(points)))]
            share = rng.dirichlet(np.ones(3), (count, len(points)))
            flat[:, variables] = np.einsum("tbnv,bnt->bnv", chosen, share)
        if self.blocks.program.size:
            goals = rng.normal(size=(3 * count, self.blocks.program.size))
            ends = _solve(self.blocks, region, goals).reshape(3, count, -1)
            flat[:, self.blocks.program] = np.einsum("tbv,bt->bv", ends, rng.dirichlet(np.ones(3), count))
        return u


@lru_cache(maxsize=8)
def _blocks(region: Region) -> Blocks:
    """Split the variables that rows reach into blocks, and list the points of the small ones."""
    k, m = region.copies, region.size
    reached = (region.coef != 0).reshape(-1, m).any(axis=0)
    for group in region.groups:
        reached[list(group)] = reached[list(group)].any()
    coordinates = np.flatnonzero(reached)
    variables = (np.arange(k)[:, None] * m + coordinates).ravel()
    lo, hi, step = region.lo.ravel()[variables], region.hi.ravel()[variables], np.tile(region.step[coordinates], k)
    matrix, low, high = constraints(region, coordinates)
    links = sparse.csr_matrix(matrix != 0).astype(int)
    count, label = connected_components(links.T @ links, directed=False)
    of_row = label[np.abs(matrix).argmax(axis=1)]
    listed: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    known: dict[bytes, np.ndarray | None] = {}  # images and the like: many blocks with the same numbers
    left: list[int] = []
    for block in range(count):
        at, rows = np.flatnonzero(label == block), np.flatnonzero(of_row == block)
        if not rows.size:
            continue  # whatever no row, pin or strip ties to others is exact in Region.argmax
        parts = lo[at], hi[at], step[at], matrix[np.ix_(rows, at)], low[rows], high[rows]
        key = b"".join(part.tobytes() for part in parts)
        if key not in known:
            known[key] = _points(*parts)
        points = known[key]
        if points is None:
            left += at.tolist()
        else:
            listed.setdefault(len(at), []).append((variables[at], points))
    lists = [_stacked(same) for same in listed.values()]
    rest = np.array(sorted(left), dtype=int)
    rows = np.flatnonzero(np.isin(of_row, label[rest]))
    return Blocks(tuple(lists), variables[rest], sparse.csr_matrix(matrix[np.ix_(rows, rest)]), low[rows], high[rows])


def _stacked(same: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Blocks of one size together: variables [N, v] and points [N, P, v], the last of a short list repeated."""
    longest = max(len(points) for _, points in same)
    padded = [points[np.minimum(np.arange(longest), len(points) - 1)] for _, points in same]
    return np.stack([at for at, _ in same]), np.stack(padded)


Line = tuple[np.ndarray, float, float]  # coefficients [k, v], least, most


def constraints(region: Region, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pins, strips, one-hot sums and rows that live on some coordinates [v], as ``low ≤ A·u ≤ high``.

    A is [rows, k·v] over the coordinates of the first copy, then of the second, and so on; bounds are left out.
    """
    place = {int(i): p for p, i in enumerate(coordinates)}
    lines = [*_comparisons(region, place), *_sums_of_groups(region, place)]
    parts = region.coef[:, :, coordinates]
    for r in np.flatnonzero(parts.any(axis=(1, 2))):
        lines.append((parts[r], region.rhs[r] if region.equality[r] else -np.inf, region.rhs[r]))
    matrix = np.array([line.ravel() for line, _, _ in lines]).reshape(len(lines), region.copies * len(coordinates))
    return matrix, np.array([low for _, low, _ in lines]), np.array([high for _, _, high in lines])


def _comparisons(region: Region, place: dict[int, int]) -> Iterator[Line]:
    """u_1,i = u_c,i where pinned, δ_lo,i ≤ u_1,i − u_2,i ≤ δ_hi,i along the strips."""
    for i, p in place.items():
        for c in range(1, region.copies) if region.pinned[i] else (1,) if region.strips[i] else ():
            line = np.zeros((region.copies, len(place)))
            line[0, p], line[c, p] = 1.0, -1.0
            low, high = (0.0, 0.0) if region.pinned[i] else (region.delta_lo[i], region.delta_hi[i])
            yield line, low, high


def _sums_of_groups(region: Region, place: dict[int, int]) -> Iterator[Line]:
    """Σ u_c,i = 1 over the one-hot groups that live on these coordinates, in every copy."""
    for group in region.groups:
        if all(i in place for i in group):
            for c in range(region.copies):
                line = np.zeros((region.copies, len(place)))
                line[c, [place[i] for i in group]] = 1.0
                yield line, 1.0, 1.0


def _points(
    lo: np.ndarray, hi: np.ndarray, step: np.ndarray, matrix: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray | None:
    """Grid points or vertices [P, v] of a block ``lo ≤ u ≤ hi, low ≤ matrix·u ≤ high``; None if too many."""
    variables = len(lo)
    slack = 1e-9 * (1.0 + np.abs(matrix) @ np.maximum(np.abs(lo), np.abs(hi)))

    def inside(points: np.ndarray) -> np.ndarray:
        value = points @ matrix.T
        fits = (points >= lo - 1e-9 * (1.0 + np.abs(lo))) & (points <= hi + 1e-9 * (1.0 + np.abs(hi)))
        return np.asarray(np.hstack([fits, value >= low - slack, value <= high + slack]).all(axis=1))

    if (step > 0).all():
        sizes = [round(size) + 1 for size in (hi - lo) / step]
        if math.prod(sizes) <= 64 * _LISTS:
            grid = np.indices(sizes).reshape(variables, -1).T * step + lo
            grid = grid[inside(grid)]
            return grid if 0 < len(grid) <= _LISTS else None
    # u = u_0 + N y solves the equalities; in y, of size f, a vertex makes f independent inequalities tight
    tied = low == high
    origin, basis = np.zeros(variables), np.eye(variables)
    if tied.any():
        origin = np.linalg.lstsq(matrix[tied], low[tied], rcond=None)[0]
        basis = null_space(matrix[tied])
    size = basis.shape[1]
    normals = np.concatenate([matrix[~tied], matrix[~tied], np.eye(variables), np.eye(variables)])
    levels = np.concatenate([low[~tied], high[~tied], lo, hi])
    normals, levels = normals[np.isfinite(levels)], levels[np.isfinite(levels)]
    normals, levels = normals @ basis, levels - normals @ origin
    norm = np.linalg.norm(normals, axis=1)
    free = norm > 1e-9
    normals, levels = normals[free] / norm[free, None], levels[free] / norm[free]
    count = math.comb(len(levels), size)
    if count > _LISTS:
        return None
    chosen = np.array(list(itertools.combinations(range(len(levels)), size)), dtype=int).reshape(count, size)
    chosen = chosen[np.abs(np.linalg.det(normals[chosen])) > 1e-9]
    points = origin + np.linalg.solve(normals[chosen], levels[chosen][..., None])[..., 0] @ basis.T
    points = np.clip(points[inside(points)], lo, hi)
    return points[np.unique(np.round(points, 9), axis=0, return_index=True)[1]] if len(points) else None


def _solve(blocks: Blocks, region: Region, goals: np.ndarray) -> np.ndarray:
    """Maximise goals [B, v] over the blocks of the linear program: one block-diagonal program, [B, v]."""
    count, size = goals.shape
    lo, hi = region.lo.ravel()[blocks.program], region.hi.ravel()[blocks.program]
    result = milp(  # without whole numbers: HiGHS's linear programming
        -goals.ravel(),
        constraints=LinearConstraint(
            sparse.kron(sparse.identity(count), blocks.matrix, format="csc"),
            np.tile(blocks.low, count),
            np.tile(blocks.high, count),
        ),
        bounds=Bounds(np.tile(lo, count), np.tile(hi, count)),
    )
    if result.x is None:
        raise ArithmeticError(f"The linear program over the premise failed: {result.message}")
    return np.clip(result.x.reshape(count, size), lo, hi)


def fixed(region: Region, u: np.ndarray) -> Region:
    """The region with its whole-valued coordinates fixed at those of one point u [k, m]."""
    whole = region.step > 0
    return replace(region, lo=np.where(whole, u, region.lo), hi=np.where(whole, u, region.hi))
