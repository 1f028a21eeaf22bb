"""The premise in model units, and exact maximisation of a linear function over it.

Without extra rows the region is a product of small sets, so a linear objective Σ_c g_c·u_c separates:

- a pinned coordinate: one value, the end of [lo, hi] that the sign of Σ_c g_c asks for;
- an unpinned coordinate, two copies: a polygon, box ∩ strip. The strip's lines are parallel, so every vertex lies on an
  edge of the box: eight candidates cover all of them;
- an unpinned coordinate otherwise: each copy by itself;
- a one-hot group: the best allowed tuple of categories.

With extra rows this is an upper bound (the rows are ignored), used for ranges; provers add the rows themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from smilenn.errors import SmileError
from smilenn.problem.choices import Listed, Product
from smilenn.properties.premise import Premise
from smilenn.rounding import round_up

LARGEST_GROUP = 20_000_000  # combinations of categories times categories: about half a gigabyte while they are listed


@dataclass(frozen=True, eq=False)
class Region:
    """Input tuples u [k, m] in model units; fields as in `Premise`, scaled.

    `step` [m] is the grid spacing of whole-valued coordinates (0 for continuous ones): u = lo + step · n.
    """

    copies: int
    lo: np.ndarray
    hi: np.ndarray
    pinned: np.ndarray
    delta_lo: np.ndarray
    delta_hi: np.ndarray
    coef: np.ndarray
    rhs: np.ndarray
    equality: np.ndarray
    step: np.ndarray
    groups: tuple[tuple[int, ...], ...]
    origin: np.ndarray
    factor: np.ndarray

    @classmethod
    def of(cls, premise: Premise) -> Region:
        """Scale a premise to model units, propagating strips into the bounds."""
        domain, mult = premise.domain, premise.domain.mult
        lo, hi = domain.scale(premise.lo), domain.scale(premise.hi)
        delta_lo, delta_hi = premise.delta_lo * mult, premise.delta_hi * mult
        if premise.copies == 2:
            lo = np.stack([np.maximum(lo[0], lo[1] + delta_lo), np.maximum(lo[1], lo[0] - delta_hi)])
            hi = np.stack([np.minimum(hi[0], hi[1] + delta_hi), np.minimum(hi[1], hi[0] - delta_lo)])
            hi = np.maximum(lo, hi)  # a set of one value may be crossed by rounding
        coef = premise.coef / mult
        rhs = np.array(
            [
                _shifted(a, b, same, domain.shift)
                for a, b, same in zip(premise.coef, premise.rhs, premise.equality, strict=True)
            ]
        )
        step = np.where(domain.integral, mult, 0.0)
        return cls(
            premise.copies,
            lo,
            hi,
            premise.pinned,
            delta_lo,
            delta_hi,
            coef,
            rhs,
            premise.equality,
            step,
            domain.groups,
            premise.origin,
            premise.factor,
        )

    def on_grid(self, g: int, shift: np.ndarray, mult: np.ndarray) -> Region:
        """Where û may be when a network rounds its inputs to multiples of 2^-g (docs/certificate.md §5.3).

        û_i lies within 2^-g·mult_i/2^⌊log2 mult_i⌋ of u_i, keeps the order and equality of two copies, and is not
        whole-valued any more, unless raw and model units are the same. An equality row over such coordinates holds
        only nearly: one side of it is kept, widened, so that rows keep their number.
        """
        by = np.where((self.step > 0) & (shift == 0) & (mult == 1), 0.0, 2.0**-g * 2 * np.frexp(mult)[0])
        kept = (self.delta_lo >= 0, self.delta_hi <= 0)
        delta_lo, delta_hi = self.delta_lo - 2 * by, self.delta_hi + 2 * by
        delta_lo = np.where(kept[0], np.maximum(delta_lo, 0.0), delta_lo)
        delta_hi = np.where(kept[1], np.minimum(delta_hi, 0.0), delta_hi)
        wider = np.einsum("rkm,m->r", np.abs(self.coef), by)
        return replace(
            self,
            lo=self.lo - by,
            hi=self.hi + by,
            delta_lo=delta_lo,
            delta_hi=delta_hi,
            rhs=self.rhs + wider,
            equality=self.equality & (wider == 0),
            step=np.where(by > 0, 0.0, self.step),
        )

    @property
    def size(self) -> int:
        """m, the number of coordinates."""
        return self.lo.shape[1]

    @property
    def has_rows(self) -> bool:
        """Whether rows beyond boxes, pins and strips exist."""
        return len(self.rhs) > 0

    @cached_property
    def largest(self) -> np.ndarray:
        """[k, m], the largest |u| of every coordinate."""
        return np.maximum(np.abs(self.lo), np.abs(self.hi))

    @cached_property
    def grouped(self) -> np.ndarray:
        """[m] bool, coordinates that are members of a one-hot group."""
        out = np.zeros(self.size, dtype=bool)
        for group in self.groups:
            out[list(group)] = True
        return out

    @cached_property
    def strips(self) -> np.ndarray:
        """[m] bool, unpinned coordinates of a two-copy region whose strip cuts the square of the boxes."""
        if self.copies != 2:
            return np.zeros(self.size, dtype=bool)
        slack = 1e-12 * (1.0 + np.abs(self.hi - self.lo).max(axis=0))
        inside = (self.delta_lo > self.lo[0] - self.hi[1] + slack) | (self.delta_hi < self.hi[0] - self.lo[1] - slack)
        return inside & ~self.pinned

    @cached_property
    def allowed(self) -> tuple[Listed | Product, ...]:
        """For each group the category tuples its bounds, pins and strips allow, as member positions."""
        pairs = zip(self.groups, self.categories, strict=True)
        return tuple(self._allowed(list(group), single) for group, single in pairs)

    def _allowed(self, members: list[int], single: list[list[int]]) -> Listed | Product:
        """The tuples of one group, whose copies may have the positions `single` each."""
        if self.copies > 1 and self.pinned[members].all():
            shared = [p for p in single[0] if all(p in s for s in single)]
            return Listed(np.array([[p] * self.copies for p in shared], dtype=int).reshape(-1, self.copies))
        size, count = len(members), math.prod(len(s) for s in single)
        if count * size > LARGEST_GROUP:
            if not (self.pinned[members].any() or self._stripped(members)):
                return Product(single)
            raise SmileError(
                f"A category with {size} values makes {count:,} combinations in {self.copies} copies, too many to "
                "list; merge rare categories, or pin the category equal in all copies."
            )
        tuples = np.stack(np.meshgrid(*single, indexing="ij"), axis=-1).reshape(-1, self.copies).astype(int)
        return Listed(tuples[self._comparable(members, np.eye(size)[tuples])] if self.copies > 1 else tuples)

    def _stripped(self, members: list[int]) -> bool:
        """Whether a strip forbids two copies some pair of categories: differences of members are −1, 0 or 1."""
        return self.copies == 2 and bool((self.delta_lo[members] > -0.5).any() or (self.delta_hi[members] < 0.5).any())

    def _comparable(self, members: list[int], hot: np.ndarray) -> np.ndarray:
        """[T] bool: which tuples hot [T, k, size] of a group agree with its pins and strips."""
        keep = (np.ptp(hot, axis=1)[:, self.pinned[members]] == 0).all(axis=1)
        if self.copies == 2:
            gap = hot[:, 0] - hot[:, 1]
            keep &= ((gap >= self.delta_lo[members] - 0.5) & (gap <= self.delta_hi[members] + 0.5)).all(axis=1)
        return keep

    def argmax(self, g: np.ndarray) -> np.ndarray:
        """A maximiser u [B, k, m] of Σ_c g_c·u_c for each objective g [B, k, m], extra rows ignored."""
        # independent copies
        u = np.where(g > 0, self.hi, self.lo)
        # pinned: one shared end
        shared = np.where(g.sum(axis=1) > 0, self.hi[0], self.lo[0])
        u = np.where(self.pinned, shared[:, None, :], u)
        strips = self._kinds[2]
        if strips.size:
            u[:, :, strips] = self._polygon(g[:, :, strips])
        for group, choices in zip(self.groups, self.allowed, strict=True):
            members = list(group)
            u[:, :, members] = np.eye(len(members))[choices.best(g[:, :, members])]
        return u

    def maximum(self, g: np.ndarray) -> np.ndarray:
        """max Σ_c g_c·u_c for each objective g [B, k, m], extra rows ignored; [B]."""
        pinned, free, strips = self._kinds
        shared = g[:, :, pinned].sum(axis=1)
        total = np.maximum(shared * self.lo[0, pinned], shared * self.hi[0, pinned]).sum(axis=1)
        own = g[:, :, free]
        total += np.maximum(own * self.lo[:, free], own * self.hi[:, free]).sum(axis=(1, 2))
        if strips.size:
            (a, b), ours = self._vertices, g[:, :, strips]
            total += (ours[:, 0, None, :] * a + ours[:, 1, None, :] * b).max(axis=1).sum(axis=1)
        for group, choices in zip(self.groups, self.allowed, strict=True):
            total += choices.largest(g[:, :, list(group)])
        return total

    def unit_ranges(self, weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ranges of W u_c + b for each copy: low and high, each [k, H]; exact on that copy's box × simplex."""
        each = [self.copy_ranges(c, weight, bias) for c in range(self.copies)]
        return np.stack([low for low, _ in each]), np.stack([high for _, high in each])

    def copy_ranges(self, c: int, weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ranges of W u_c + b for one copy: low and high, each [H]."""
        plain = self._plain
        w = weight[:, plain]
        up, down = np.maximum(w, 0.0), np.minimum(w, 0.0)
        lo, hi = self.lo[c, plain], self.hi[c, plain]
        low, high = bias + up @ lo + down @ hi, bias + up @ hi + down @ lo
        for group, categories in zip(self.groups, self.categories, strict=True):
            some = weight[:, np.array(group)[categories[c]]]
            low, high = low + some.min(axis=1), high + some.max(axis=1)
        return low, high

    def difference_ranges(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ranges of W (u_1 − u_2) over a two-copy region: low and high, each [H]."""
        plain = self._plain
        w = weight[:, plain]
        up, down = np.maximum(w, 0.0), np.minimum(w, 0.0)
        gap_lo, gap_hi = (gap[plain] for gap in self.gaps)
        low, high = up @ gap_lo + down @ gap_hi, up @ gap_hi + down @ gap_lo
        for group, choices in zip(self.groups, self.allowed, strict=True):
            least, most = choices.differences(weight[:, list(group)])
            low, high = low + least, high + most
        return low, high

    @cached_property
    def empty(self) -> bool:
        """Whether bounds, strips or categories clearly leave no point; extra rows are not looked at."""
        empty = bool((self.lo > self.hi).any()) or any(choices.empty for choices in self.allowed)
        if self.copies == 2 and not empty:
            apart = (self.gaps[0] - self.gaps[1])[~self.grouped]
            empty = bool((apart > 1e-9 * (1.0 + np.abs(self.lo).max() + np.abs(self.hi).max())).any())
        return empty

    @cached_property
    def gaps(self) -> tuple[np.ndarray, np.ndarray]:
        """Ranges of u_1 − u_2 of a two-copy region, coordinate by coordinate, each [m]; 0 where pinned."""
        low = np.where(self.pinned, 0.0, np.maximum(self.delta_lo, self.lo[0] - self.hi[1]))
        return low, np.where(self.pinned, 0.0, np.minimum(self.delta_hi, self.hi[0] - self.lo[1]))

    @cached_property
    def categories(self) -> tuple[list[list[int]], ...]:
        """For each group and copy the member positions that the copy's own bounds allow."""
        out = []
        for group in self.groups:
            members = list(group)
            out.append(
                [
                    [p for p in np.flatnonzero(hi > 0.5).tolist() if not (np.delete(lo, p) >= 0.5).any()]
                    for lo, hi in zip(self.lo[:, members], self.hi[:, members], strict=True)
                ]
            )
        return tuple(out)

    @cached_property
    def _plain(self) -> np.ndarray:
        """Coordinates outside groups."""
        return np.flatnonzero(~self.grouped)

    @cached_property
    def _kinds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates outside groups by how they move: pinned, each copy by itself, in strips."""
        strips = self.strips & ~self.grouped
        free = ~self.pinned & ~strips & ~self.grouped
        return np.flatnonzero(self.pinned & ~self.grouped), np.flatnonzero(free), np.flatnonzero(strips)

    @cached_property
    def _vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """The eight candidates of box ∩ strip for every coordinate in a strip: first and second copy, each [8, S]."""
        i = self._kinds[2]
        (l0, l1), (h0, h1), dl, du = self.lo[:, i], self.hi[:, i], self.delta_lo[i], self.delta_hi[i]
        first, second = [], []
        for x0 in (l0, h0):
            for x1 in (np.maximum(l1, x0 - du), np.minimum(h1, x0 - dl)):
                first.append(x0)
                second.append(np.clip(x1, l1, h1))
        for x1 in (l1, h1):
            for x0 in (np.maximum(l0, x1 + dl), np.minimum(h0, x1 + du)):
                first.append(np.clip(x0, l0, h0))
                second.append(x1)
        return np.stack(first), np.stack(second)

    def _polygon(self, g: np.ndarray) -> np.ndarray:
        """Best vertex of box ∩ strip for the coordinates in strips, two copies: g [B, 2, S] → u [B, 2, S]."""
        a, b = self._vertices
        value = g[:, 0, None, :] * a + g[:, 1, None, :] * b  # [B, 8, S]
        best = value.argmax(axis=1)  # [B, S]
        columns = np.arange(g.shape[2])
        return np.stack([a[best, columns], b[best, columns]], axis=1)

    # ---- membership ---------------------------------------------------------------------------------------------

    def contains(self, u: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
        """Which tuples u [B, k, m] (or [k, m]) are members, every comparison within `tolerance` model units; [B] bool.

        Extra rows are compared after division by their largest coefficient, so that they too are in model units.
        """
        u = u.reshape(-1, self.copies, self.size)
        ok = ((u >= self.lo - tolerance) & (u <= self.hi + tolerance)).all(axis=(1, 2))
        grid = np.flatnonzero(self.step)
        if grid.size:
            at = (u[:, :, grid] - self.lo[:, grid]) / self.step[grid]
            ok &= (np.abs(at - np.rint(at)) * self.step[grid] <= tolerance).all(axis=(1, 2))
        for group in self.groups:
            ok &= (np.abs(u[:, :, list(group)].sum(axis=2) - 1.0) <= tolerance).all(axis=1)
        if self.pinned.any():
            ok &= (np.ptp(u[:, :, self.pinned], axis=1) <= tolerance).all(axis=1)
        if self.copies == 2:
            gap = u[:, 0] - u[:, 1]
            ok &= ((gap >= self.delta_lo - tolerance) & (gap <= self.delta_hi + tolerance)).all(axis=1)
        if self.has_rows:
            size = np.maximum(np.abs(self.coef).max(axis=(1, 2)), 1e-300)
            excess = (np.einsum("rkm,bkm->br", self.coef, u) - self.rhs) / size
            ok &= (np.where(self.equality, np.abs(excess), excess) <= tolerance).all(axis=1)
        return np.asarray(ok)

    def snap(self, u: np.ndarray, sweeps: int = 50) -> np.ndarray:
        """Tuples u [B, k, m] (or [k, m]) moved to members nearby, shape kept.

        Boxes, pins, strips, grids and one-hot groups hold afterwards up to rounding. Extra rows are approached by up to
        `sweeps` alternating projections over the continuous coordinates; `contains` says whether that was enough.
        """
        out = self._snap(np.array(u, dtype=np.float64).reshape(-1, self.copies, self.size))
        if self.has_rows:
            out = self._project(out, sweeps)
        return out.reshape(np.shape(u))

    def _project(self, u: np.ndarray, sweeps: int) -> np.ndarray:
        """Alternating projections of u [B, k, m] onto the extra rows and the rest, until all hold."""
        free = (self.step == 0) & (self.hi > self.lo).any(axis=0)
        coef = np.where(free, self.coef, 0.0)
        coef = np.where(self.pinned, coef.mean(axis=1, keepdims=True), coef)  # a pinned coordinate moves as one
        square = np.einsum("rkm,rkm->r", coef, coef)
        for _ in range(sweeps):
            if self.contains(u, 1e-12).all():
                break
            for r in np.flatnonzero(square > 0):
                excess = np.einsum("km,bkm->b", self.coef[r], u) - self.rhs[r]
                excess = excess if self.equality[r] else np.maximum(excess, 0.0)
                u = u - (excess / square[r])[:, None, None] * coef[r]
            u = self._snap(u)
        return u

    def _snap(self, u: np.ndarray) -> np.ndarray:
        """`snap` without extra rows, u [B, k, m]."""
        lo, hi = self.lo, np.maximum(self.lo, self.hi)
        if self.pinned.any():
            u = np.where(self.pinned, u.mean(axis=1, keepdims=True), u)
        u = np.clip(u, lo, hi)
        grid = self.step > 0
        if grid.any():
            step = np.where(grid, self.step, 1.0)
            u = np.where(grid, np.clip(lo + step * np.rint((u - lo) / step), lo, hi), u)
        if self.pinned.any():
            u = np.where(self.pinned, u[:, :1], u)
        if self.strips.any():
            gap = u[:, 0] - u[:, 1]
            excess = np.where(self.strips, gap - np.clip(gap, self.delta_lo, self.delta_hi), 0.0)
            first = u[:, 0] - np.where(grid, 0.0, excess / 2)  # both move half-way; grid points: the second alone
            first = np.clip(first, lo[0], hi[0])
            second = np.clip(u[:, 1], first - self.delta_hi, first - self.delta_lo)
            u = np.where(self.strips, np.stack([first, np.clip(second, lo[1], hi[1])], axis=1), u)
        for group, choices in zip(self.groups, self.allowed, strict=True):
            members = list(group)
            u[:, :, members] = np.eye(len(members))[choices.best(u[:, :, members])]
        return u


def _shifted(coef: np.ndarray, rhs: float, equality: bool, shift: np.ndarray) -> float:
    """rhs − Σ coef·shift, exact but for one rounding; a bound is rounded outward."""
    moved = coef * (shift != 0)
    pairs = zip(moved[moved != 0], np.broadcast_to(shift, coef.shape)[moved != 0], strict=True)
    value = Fraction(float(rhs)) - sum((Fraction(float(a)) * Fraction(float(s)) for a, s in pairs), Fraction(0))
    return float(value) if equality else round_up(value)
