"""The lemma of a unit that is tightest at a given point: the concave envelope of its relu over the box (`lemma.py`).

Two affine functions A_0, A_1 of u, D = A_1 − A_0. Above max(A_0, A_1) = A_0 + relu(D) over a product of intervals and
simplices the least concave function at u* is

    A_0(u*) + max_{0 ≤ λ ≤ 1} G(λ),   G(λ) = max { λ·D(v) : u* = λ·v + (1 − λ)·v', v and v' in the box }

G is a sum over coordinates. With D's coefficient e > 0 on an input of [lo, hi], λ·v ≤ min(λ·hi, u* − (1 − λ)·lo): a
concave function of λ with one kink, at (u* − lo)/(hi − lo), where its slope falls by e·(hi − lo). A one-hot group fills
its members in the order of their coefficients: kinks at the sums of u*, falls by the differences. So one sort of the
kinks finds the λ at which the slope of G passes through zero; h_i = e_i where the kink is behind λ, 0 where it is
ahead, and a share of e_i at λ itself. That is done for all units at once.

A_0 and A_1 are patterns of a lemma: the copy with β > 0 off and on, the others with θ_0 and θ_1, which are searched for
(the value is convex in them). Where several copies have β > 0 there are more than two patterns: the slopes are then
those of the copies one by one, of all at once, or half of each. Whatever is chosen here, r is computed afterwards over
all patterns and over the region as it is.

In a strip of two copies the box is not a product. Two of u_1, u_2 and u_1 − u_2 are taken for independent intervals:
the first two where D rises in both or falls in both, else the difference and the copy with the larger coefficient; its
largest value then lies in the strip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smilenn.problem import Problem
from smilenn.problem.region import Region
from smilenn.provers.tree.lemma import Lemmas, joined, patterns, proved, written

ROUNDS = 3  # of the search for θ, each halving its step


@dataclass(frozen=True, eq=False)
class Hull:
    """The columns over which envelopes are sums: inputs of a copy, inputs that copies share, differences of copies.

    Attributes
    ----------
    copy, index : [n] where a column's value is read.
    share : [n, k] a column that belongs to no strip has D's coefficient Σ_c share_c·d_c·w_index.
    strip : [n] 0 for those, 1 and 2 for u_1 and u_2 of a strip, 3 for their difference.
    lo, hi : [n] bounds; of a group's members in this region hi is 1 or 0.
    free : [n] columns that are not members of a group.
    groups : columns of the members of a one-hot group, of one copy or of all.
    """

    region: Region
    copy: np.ndarray
    index: np.ndarray
    share: np.ndarray
    strip: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    free: np.ndarray
    groups: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, region: Region) -> Hull:
        """The columns of a region."""
        k = region.copies
        shared = region.pinned & (k > 1)
        blocks: list[tuple[np.ndarray, np.ndarray, int, int]] = []  # inputs, share, copy, strip
        plain = ~region.grouped
        blocks.append((np.flatnonzero(plain & shared), np.ones(k), 0, 0))
        for c in range(k):
            blocks.append((np.flatnonzero(plain & ~shared & ~region.strips), np.eye(k)[c], c, 0))
            blocks.append((np.flatnonzero(plain & ~shared & region.strips), np.zeros(k), c, c + 1))
        if k == 2:
            blocks.append((np.flatnonzero(plain & ~shared & region.strips), np.zeros(k), 0, 3))
        start, groups = sum(len(block[0]) for block in blocks), []
        for members in region.groups:
            own = np.array(members)
            one = bool(shared[own].all())
            for c in range(1 if one else k):
                blocks.append((own, np.ones(k) if one else np.eye(k)[c], c, 0))
                groups.append(start + np.arange(len(own)))
                start += len(own)
        index = np.concatenate([block[0] for block in blocks])
        copy = np.concatenate([np.full(len(block[0]), block[2]) for block in blocks])
        strip = np.concatenate([np.full(len(block[0]), block[3]) for block in blocks])
        share = np.concatenate([np.broadcast_to(block[1], (len(block[0]), k)) for block in blocks])
        lo, hi = region.lo[copy, index], region.hi[copy, index]
        if k == 2:
            gaps = region.gaps
            lo, hi = np.where(strip == 3, gaps[0][index], lo), np.where(strip == 3, gaps[1][index], hi)
        return cls(region, copy, index, share, strip, lo, np.maximum(lo, hi), plain[index], tuple(groups))

    def read(self, u: np.ndarray) -> np.ndarray:
        """The columns' values at u [k, m], within their bounds; [n]."""
        value = u[self.copy, self.index] - np.where(self.strip == 3, u[-1, self.index], 0.0)
        return np.clip(value, self.lo, self.hi)

    def coefficients(self, d: np.ndarray) -> np.ndarray:
        """What the weights of a unit are multiplied by in D = Σ_c d_c·s(u_c) + const, for d [B, k]: [B, n]."""
        out = d @ self.share.T
        if (self.strip > 0).any():
            one, two = d[:, 0], d[:, 1]
            both, first = one * two >= 0, np.abs(one) >= np.abs(two)
            kinds = (
                np.where(both, one, np.where(first, one + two, 0.0)),
                np.where(both, two, np.where(first, 0.0, one + two)),
                np.where(both, 0.0, np.where(first, -two, one)),
            )
            for kind, value in enumerate(kinds, 1):
                out[:, self.strip == kind] = value[:, None]
        return out

    def envelope(self, d: np.ndarray, weight: np.ndarray, bias: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, ...]:
        """The envelope of relu(Σ_c d_c·s(u_c)) at the columns' values `at` [n]; d [B, k], weight [B, m], bias [B].

        Returns its value [B] and its slopes on the columns [B, n].
        """
        e = self.coefficients(d) * weight[:, self.index]  # [B, n]
        width = np.where(self.free, self.hi - self.lo, 0.0)
        share = (at - self.lo) / np.where(width > 0, width, 1.0)
        kink = np.where(e > 0, share, 1.0 - share)
        fall = np.abs(e) * width
        rate = d.sum(axis=1) * bias + np.maximum(e * self.lo, e * self.hi)[:, self.free].sum(axis=1)
        descending = []
        for group in self.groups:
            own = np.where(self.hi[group] > 0, e[:, group], -1e300)
            order = np.argsort(-own, axis=1)
            down = np.take_along_axis(own, order, axis=1)
            rate += down[:, 0]
            kink[:, group] = np.cumsum(at[group][order], axis=1)
            fall[:, group] = np.append(down[:, :-1] - down[:, 1:], np.zeros((len(e), 1)), axis=1)
            descending.append((order, down))
        kink = np.clip(kink, 0.0, 1.0)
        order = np.argsort(kink, axis=1)
        kinks, falls = np.take_along_axis(kink, order, axis=1), np.take_along_axis(fall, order, axis=1)
        after = rate[:, None] - np.cumsum(falls, axis=1)  # the slope of G behind every kink
        rows, over = np.arange(len(e)), after <= 0
        last = np.where(over.any(axis=1), over.argmax(axis=1), after.shape[1] - 1)
        passed = np.arange(after.shape[1]) < last[:, None]
        value = rate * kinks[:, 0] + (np.diff(kinks, axis=1) * after[:, :-1] * passed[:, :-1]).sum(axis=1)
        drop = falls[rows, last]
        sorted_part = passed.astype(np.float64)
        sorted_part[rows, last] = np.clip((after[rows, last] + drop) / np.where(drop > 0, drop, 1.0), 0.0, 1.0)
        part = np.empty_like(sorted_part)
        np.put_along_axis(part, order, sorted_part, axis=1)
        slope = part * e
        for group, (order, down) in zip(self.groups, descending, strict=True):
            # the price of a member falls from one coefficient to the next as kinks fall behind
            price = down[:, 0] - (part[:, group] * fall[:, group]).sum(axis=1)
            own = np.empty_like(down)
            np.put_along_axis(own, order, np.maximum(down - price[:, None], 0.0), axis=1)
            slope[:, group] = own
        return value, slope

    def spread(self, slope: np.ndarray) -> np.ndarray:
        """Slopes on columns [B, n] as slopes on inputs [B, k, m]."""
        k = self.region.copies
        out = np.zeros((len(slope), k, self.region.size))
        apart = self.strip == 3
        out[:, self.copy[~apart], self.index[~apart]] = slope[:, ~apart]
        if apart.any():
            out[:, 0, self.index[apart]] += slope[:, apart]
            out[:, 1, self.index[apart]] -= slope[:, apart]
        return out


def tightest(
    problem: Problem, hull: Hull, unit: np.ndarray, beta: np.ndarray, u: np.ndarray, bits: int | None = None
) -> Lemmas:
    """For units [J] with coefficients β [J, k] the lemmas that are tightest at u [k, m]; r over the hull's region.

    All numbers are multiples of 2^-bits, None for any.
    """
    several = (beta > 0).sum(axis=1) > 1
    made = [
        choose(problem, hull, unit[some], beta[some], u, bits)
        for some, choose in ((~several, _two_patterns), (several, _more_patterns))
        if some.any()
    ]
    return made[0] if len(made) == 1 else joined(made)


def _two_patterns(
    problem: Problem, hull: Hull, unit: np.ndarray, beta: np.ndarray, u: np.ndarray, bits: int | None
) -> Lemmas:
    """Units with at most one copy of β > 0; θ_0 and θ_1 as shares of β's negative part, from the middle outwards."""
    s, at, rows = problem.snapshot, hull.read(u), np.arange(len(unit))
    weight, bias = s.hidden_weight[unit], s.hidden_bias[unit]
    here, least, most = weight @ u.T + bias[:, None], np.minimum(beta, 0.0), np.maximum(beta, 0.0)  # [J, k]
    share, step = np.full((len(unit), 2), 0.5), 0.5
    ways, rounds = np.stack(np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]), axis=-1).reshape(-1, 2), ROUNDS
    if not least.any():  # no θ to search for
        ways, rounds = np.zeros((1, 2)), 1
    slope = np.zeros((len(unit), len(hull.index)))
    for _ in range(rounds):
        tried = np.clip(share + step * ways[:, None], 0.0, 1.0)  # [C, J, 2]
        off, on = (tried[..., i, None] * least for i in (0, 1))  # [C, J, k]
        d = (most + on - off).reshape(-1, beta.shape[1])
        value, slopes = hull.envelope(d, np.tile(weight, (len(ways), 1)), np.tile(bias, len(ways)), at)
        total = value.reshape(tried.shape[:2]) + (off * here).sum(axis=2)
        best = total.argmin(axis=0)
        share, slope, step = tried[best, rows], slopes.reshape(*tried.shape[:2], -1)[best, rows], step / 2
    off, on = share[:, :1] * least, share[:, 1:] * least
    up = np.asarray((patterns(beta.shape[1]) & (beta > 0)[:, None]).any(axis=2))  # [J, P]
    theta = np.where(up[..., None], on[:, None], off[:, None])
    made = written(unit, beta, theta, hull.spread(slope) + off[..., None] * weight[:, None], bits)
    return proved(problem, hull.region, made)


def _more_patterns(
    problem: Problem, hull: Hull, unit: np.ndarray, beta: np.ndarray, u: np.ndarray, bits: int | None
) -> Lemmas:
    """Units with several copies of β > 0; copies with β < 0 count as linear, θ = β where they are on at u."""
    s, at, rows = problem.snapshot, hull.read(u), np.arange(len(unit))
    weight, bias = s.hidden_weight[unit], s.hidden_bias[unit]
    most, here = np.maximum(beta, 0.0), weight @ u.T + bias[:, None]
    line = np.where(here > 0, np.minimum(beta, 0.0), 0.0)
    single = np.sum([hull.envelope(most * own, weight, bias, at)[1] for own in np.eye(beta.shape[1])], axis=0)
    once = hull.envelope(most, weight, bias, at)[1]
    theta = np.broadcast_to(line[:, None], (len(unit), 2 ** beta.shape[1], beta.shape[1]))
    tried = [hull.spread(slope) + line[..., None] * weight[:, None] for slope in (single, once, (single + once) / 2)]
    made = proved(problem, hull.region, joined([written(unit, beta, theta, slope, bits) for slope in tried]))
    value = (made.const + np.einsum("lkm,km->l", made.slope, u)).reshape(len(tried), -1)
    return made[value.argmin(axis=0) * len(unit) + rows]
