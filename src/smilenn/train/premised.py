"""A box around a free backbone for claims about single inputs with premises, or with more rows than outputs.

Claims with one copy (`Safe`, `Bounded`, …) are rows  a·f(x) ≤ b_0 + b·x  wherever P·x ≤ p. As in coordinates.py the
network is f = G·z with z in a box, G = T⁻¹, but its ends open outside the premises:

    hi_i(u) = h_i + H_i·u + Σ_j κ⁺_ij·s_j(u)          s_j(u) = relu(P_j·u − p_j),     κ ≥ 0
    lo_i(u) = l_i + L_i·u − Σ_j κ⁻_ij·s_j(u)

one unit for every row of a premise. On a premise its own units are zero: there the box is what the claim asks for. It
is *always* clipped to: no input is tested for membership, so none on the edge of a premise can be taken for one
outside. The ends lie a little inside the claim (`SPARE`), so that the rule also holds beyond the edge, as far as the
box opens by that much: some millionths of the input's range, a billion times the rounding of an input.

Which box is a linear program. With c = a·G a row asks, for all u of its premise,

    Σ_i c⁺_i·hi_i(u) + c⁻_i·lo_i(u) ≤ b_0 + b·u − room.

Units of other premises are bounded there by their chords, so the left side less the right is affine in u, and by
Farkas' lemma it is ≤ 0 on the polytope exactly if it is a combination, multipliers ≥ 0, of the polytope's rows. The
unknowns h, H, l, L, κ and the multipliers are chosen so that the box holds the training targets as far as possible,
and beyond that is wide. T is the best of some choices of independent directions a. Nothing here is trusted: the
certificate is about the network that comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import TypeVar

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.model.net import SmileNet
from smilenn.problem.region import Region
from smilenn.properties.claim import Claim
from smilenn.properties.premise import ground
from smilenn.train.block_program import Program
from smilenn.train.coordinates import FAR, ROOM, WORST, Side, read_sides, room

_T = TypeVar("_T")

STEEP = 128.0  # largest κ, outputs (divided by their scale) per step of a premise's row across the unit box
SPARE = 2.0**11  # times the room that coordinates.py leaves: slopes of a certificate are rounded to 2^-14 or so
WIDE = 1e-3  # worth of width, per unit of a target that the box misses
FLAT = 1e-5  # cost of a slope, likewise
ROWS, FEW = 300, 100  # training rows that the program looks at, and those that choose T
CHOICES = 24  # bases T that are tried
MOST_UNITS = 256  # rows of premises beyond which search is left to do it


@dataclass(frozen=True, eq=False)
class Premised:
    """Coordinates G [o, o] and ends: constants [o], slopes [o, m] and weights [o, J] on units W [J, m], b [J]; where
    the aims lie on their way from low (0) to high (1), [o].
    """

    head: np.ndarray
    low: np.ndarray
    low_slope: np.ndarray
    low_unit: np.ndarray
    high: np.ndarray
    high_slope: np.ndarray
    high_unit: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    share: np.ndarray


@dataclass(frozen=True, eq=False)
class _Row:
    """a·f ≤ const + slope·u on a polytope: a box lo ≤ u ≤ hi and rows coef·u ≤ rhs."""

    side: Side
    lo: np.ndarray
    hi: np.ndarray
    coef: np.ndarray
    rhs: np.ndarray


def premised(
    claims: Sequence[Claim],
    domain: Domain,
    names: Sequence[str],
    scale: np.ndarray,
    start: np.ndarray,
    x: np.ndarray,
    aim: np.ndarray,
) -> Premised | None:
    """A box that implies claims about single inputs; None where some claim compares inputs or no such box is found.

    x [N, m] are training rows in raw units, aim [N, o] what the outputs are to be there, less `start` and divided by
    `scale`.
    """
    if any(claim.copies > 1 for claim in claims):
        return None
    regions = [Region.of(ground(claim, domain)) for claim in claims]
    weight, bias = _units(regions, domain)
    if len(bias) > MOST_UNITS:
        return None
    rows = [
        _Row(side, region.lo[0], region.hi[0], *_inequalities(region))
        for claim, region in zip(claims, regions, strict=True)
        for side in read_sides(claim, domain, names, scale, start)
    ]
    u = domain.scale(x)
    bases = list(islice(_bases([row.side.direction for row in rows], aim), CHOICES))
    tried = [_fitted(t, rows, weight, bias, domain, u[:FEW], aim[:FEW]) for t in bases]
    found = [(cost, i) for i, (cost, box) in enumerate(tried) if box is not None]
    if not found:
        return None
    first = min(found)[1]
    return _fitted(bases[first], rows, weight, bias, domain, u[:ROWS], aim[:ROWS])[1] or tried[first][1]


def premised_net(net: SmileNet, box: Premised) -> None:
    """Set the auxiliaries of a network of `units(box)` ReLU units, an affine lower net and 2·o coordinates.

    A coordinate is a difference z − z' of two, each of which begins at an affine function inside the box, near the
    aims, and reaches one of its ends: then all units belong to the gaps, and none has to be split twice in a proof. A
    gap has no affine part beside its units: 2m of them, always on over the domain, stand for it where it is asked
    for.
    """
    u_lo, u_hi = net.u_lo.numpy(), net.u_hi.numpy()
    slope, share = box.high_slope - box.low_slope, box.share[:, None]
    rise, fall = np.maximum(slope, 0.0), np.maximum(-slope, 0.0)
    whole = np.maximum(box.high - box.low + rise @ u_lo - fall @ u_hi, 0.0)
    wide = np.hstack([rise, fall])[:, : units(box) - len(box.bias)]
    eye = np.eye(len(u_lo))
    weight = np.vstack([box.weight, eye, -eye])[: units(box)]
    bias = np.concatenate([box.bias, -u_lo, u_hi])[: units(box)]
    middle, lean = box.low + box.share * (box.high - box.low), box.low_slope + share * slope
    with torch.no_grad():
        for tensor, values in (
            (net.lower.const, np.concatenate([middle, 0 * middle])),
            (net.lower.slope, np.vstack([lean, 0 * lean])),
            (net.lower.weight, weight),
            (net.lower.bias, bias),
            (net.gap.weight, weight),
            (net.gap.bias, bias),
            (net.gap.const, np.concatenate([(1 - box.share) * whole, box.share * whole])),
            (
                net.gap.out,
                np.vstack([np.hstack([box.high_unit, (1 - share) * wide]), np.hstack([box.low_unit, share * wide])]),
            ),
        ):
            tensor.copy_(torch.as_tensor(values))
        net.lower.out.zero_()


def units(box: Premised) -> int:
    """Hidden units of the network that `premised_net` fills; at least one."""
    affine = bool((box.high_slope != box.low_slope).any())
    return len(box.bias) + (2 * box.weight.shape[1] if affine or not len(box.bias) else 0)


def _inequalities(region: Region) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a one-copy region as coef·u ≤ rhs; an equality is two of them, a group's sum is one."""
    coef, rhs, same = region.coef[:, 0], region.rhs, region.equality
    sums = np.zeros((len(region.groups), region.size))
    for g, group in enumerate(region.groups):
        sums[g, list(group)] = 1.0
    one = np.ones(len(sums))
    return np.vstack([coef, -coef[same], sums, -sums]), np.concatenate([rhs, -rhs[same], one, -one])


def _units(regions: Sequence[Region], domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Weights [J, m] and biases [J] of s_j = relu(P_j·u − p_j), one for every row of a premise.

    A premise's bounds are rows too, where they are tighter than the domain's.
    """
    u_lo, u_hi = domain.scale(domain.lo), domain.scale(domain.hi)
    eye, found = np.eye(domain.size), list[tuple[np.ndarray, float]]()
    for region in regions:
        found += [(eye[i], region.hi[0, i]) for i in np.flatnonzero(region.hi[0] < u_hi)]
        found += [(-eye[i], -region.lo[0, i]) for i in np.flatnonzero(region.lo[0] > u_lo)]
        for coef, rhs, same in zip(region.coef[:, 0], region.rhs, region.equality, strict=True):
            size = float(np.abs(coef).max())
            found += [(sign * coef / size, sign * rhs / size) for sign in ((1, -1) if same else (1,))]
    kept = _each_once(found, lambda one, other: one[1] == other[1] and np.array_equal(one[0], other[0]))
    weight = np.array([a for a, _ in kept]).reshape(-1, domain.size)
    return weight, -np.array([b for _, b in kept])


def _each_once(found: Iterable[_T], same: Callable[[_T, _T], bool]) -> list[_T]:
    """The items without those that are the same as an earlier one."""
    kept: list[_T] = []
    for one in found:
        if not any(same(one, other) for other in kept):
            kept.append(one)
    return kept


def _bases(directions: Sequence[np.ndarray], aim: np.ndarray) -> Iterator[np.ndarray]:
    """Choices of T [o, o]: the outputs, the main directions of the aims [N, o], independent directions of the rows, as
    many as there are, completed by single outputs.
    """
    o = aim.shape[1]
    different = _each_once(directions, lambda a, b: np.allclose(a, b) or np.allclose(a, -b))
    rank = _rank(different)
    if len(different) > rank:  # else the rows are ends of one box
        yield np.eye(o)
        _, size, main = np.linalg.svd(aim - aim.mean(axis=0), full_matrices=False)
        if o > 1 and size.any():
            yield main
    for chosen in combinations(different, rank):
        if _rank(chosen) == rank:
            basis = _completed(list(chosen), o)
            if np.linalg.cond(basis) <= WORST:
                yield basis


def _rank(rows: Sequence[np.ndarray]) -> int:
    return int(np.linalg.matrix_rank(np.stack(rows), tol=1e-9))


def _completed(basis: list[np.ndarray], o: int) -> np.ndarray:
    """The directions with single outputs beside them, a basis [o, o]."""
    for e in np.eye(o):
        if _rank([*basis, e]) > len(basis):
            basis.append(e)
    return np.stack(basis)


def _fitted(
    t: np.ndarray,
    rows: Sequence[_Row],
    weight: np.ndarray,
    bias: np.ndarray,
    domain: Domain,
    u: np.ndarray,
    aim: np.ndarray,
) -> tuple[float, Premised | None]:
    """The best box in the coordinates T·f for rows u [N, m] and aims [N, o], and the mean square that it costs them."""
    o, m, j, n = len(t), domain.size, len(bias), len(u)
    head = np.linalg.inv(t)
    head[np.abs(head) < 1e-12 * np.abs(head).max()] = 0.0
    z = aim @ t.T
    span = max(1.0, float(np.ptp(z, axis=0).max(initial=0.0)))
    far = FAR * span
    u_lo, u_hi = domain.scale(domain.lo), domain.scale(domain.hi)
    on = np.maximum(u @ weight.T + bias, 0.0)  # [N, J]
    price = np.abs(head).sum(axis=0) / max(1, n)  # of a unit by which coordinate i is missed
    most = 2 * far + float(np.abs(z).max(initial=0.0))
    program = Program()
    for end in ("high", "low"):
        program.block(f"{end}", (o,), -most, most)
        program.block(f"{end}_up", (o, m), 0.0, most, FLAT)  # a slope is the difference of two
        program.block(f"{end}_down", (o, m), 0.0, most, FLAT)
        program.block(f"{end}_unit", (o, j), 0.0, STEEP / np.abs(weight).sum(axis=1))
        program.block(f"{end}_miss", (n, o), 0.0, np.inf, price)
        program.block(f"{end}_spare", (n, o), 0.0, far, -WIDE * price.min())
    program.block("rise", (o, m), 0.0, most, 20 * FLAT)
    program.block("fall", (o, m), 0.0, most, 20 * FLAT)
    eye = np.eye(o)

    def value(sign: float, i: int, const: np.ndarray, slope: np.ndarray, unit: np.ndarray) -> dict[str, np.ndarray]:
        """sign·end_i as rows: its constant times const [r], slope·[r, m], units·[r, J]; +1 is high, −1 minus low."""
        end, pick = ("high", 1.0) if sign > 0 else ("low", -1.0)
        wide = {f"{end}": np.outer(pick * const, eye[i]), f"{end}_unit": np.kron(eye[i], unit)}
        spread = np.kron(eye[i], pick * slope)
        return wide | {f"{end}_up": spread, f"{end}_down": -spread}

    ones = np.ones(n)
    for i in range(o):  # sign·end ≥ sign·z − miss + spare at every row
        for sign, end in ((1.0, "high"), (-1.0, "low")):
            terms = {key: -matrix for key, matrix in value(sign, i, ones, u, on).items()}
            pick = np.kron(np.eye(n), eye[i])
            program.at_most(terms | {f"{end}_miss": -pick, f"{end}_spare": pick}, -sign * z[:, i])
        # the gap: constant − … ≥ room, slopes of high − low = rise − fall
        zero, each = np.zeros(1), np.eye(m)
        pick = np.kron(eye[i], each)
        for sign in (1.0, -1.0):
            program.at_most(
                {
                    "high_up": sign * pick,
                    "high_down": -sign * pick,
                    "low_up": -sign * pick,
                    "low_down": sign * pick,
                    "rise": -sign * pick,
                    "fall": sign * pick,
                },
                np.zeros(m),
            )
        wide, flat = np.kron(eye[i], u_lo)[None], np.kron(eye[i], u_hi)[None]
        program.at_most({"high": -eye[i][None], "low": eye[i][None], "rise": -wide, "fall": flat}, zero - ROOM)
    for k, row in enumerate(rows):
        _implied(program, k, row, row.side.direction @ head, value, weight, bias)
    solved = program.solve()
    if solved is None:
        return np.inf, None
    b = solved
    ends = {
        end: b[end] + u @ (b[f"{end}_up"] - b[f"{end}_down"]).T + sign * on @ b[f"{end}_unit"].T
        for end, sign in (("low", -1.0), ("high", 1.0))
    }
    lost = (np.clip(z, ends["low"], ends["high"]) - z) @ head.T
    width = np.maximum(np.mean(ends["high"] - ends["low"], axis=0), 1e-300)
    share = np.clip(np.mean(z - ends["low"], axis=0) / width, 0.0, 1.0)
    return float((lost**2).mean()), Premised(
        head,
        b["low"],
        b["low_up"] - b["low_down"],
        b["low_unit"],
        b["high"],
        b["high_up"] - b["high_down"],
        b["high_unit"],
        weight,
        bias,
        share,
    )


def _implied(
    program: Program,
    k: int,
    row: _Row,
    c: np.ndarray,
    value: Callable[..., dict[str, np.ndarray]],
    weight: np.ndarray,
    bias: np.ndarray,
) -> None:
    """Add what makes row k hold on its polytope: the affine function A(u) = Σ c⁺·hi + c⁻·lo − b_0 − b·u + room is a
    combination of the polytope's rows.

        slope of A = coefᵀ·μ + ν⁺ − ν⁻,     constant of A + rhs·μ + hi·ν⁺ − lo·ν⁻ ≤ 0,     μ, ν ≥ 0
    """
    side, m, r = row.side, len(row.lo), len(row.rhs)
    up, down = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    least, most = bias + up @ row.lo + down @ row.hi, bias + up @ row.hi + down @ row.lo
    for j in range(len(bias)):  # tighter by the polytope's own rows, where one of them is the unit's
        for coef, rhs in zip(row.coef, row.rhs, strict=True):
            size = float(np.abs(coef).max())
            if size and np.allclose(coef / size, weight[j], rtol=1e-12, atol=0):
                most[j] = min(most[j], bias[j] + rhs / size)
    chord = np.where(most <= 0, 0.0, np.where(least >= 0, 1.0, most / np.where(most > least, most - least, 1.0)))
    const = chord * (bias - np.where(least < 0, least, 0.0))  # s_j ≤ chord_j·(W_j·u) + const_j
    program.block(f"mu{k}", (r,), 0.0, np.inf)
    program.block(f"up{k}", (m,), 0.0, np.inf)
    program.block(f"down{k}", (m,), 0.0, np.inf)
    slopes: dict[str, np.ndarray] = {}
    whole: dict[str, np.ndarray] = {}
    for i in np.flatnonzero(np.abs(c) > 1e-12 * np.abs(c).max()):
        size = abs(c[i])
        for target, at in (
            (slopes, value(np.sign(c[i]), i, np.zeros(m), np.eye(m), (chord[:, None] * weight).T)),
            (whole, value(np.sign(c[i]), i, np.ones(1), np.zeros((1, m)), const[None])),
        ):
            for key, matrix in at.items():
                target[key] = target.get(key, 0.0) + size * matrix
    for sign in (1.0, -1.0):
        terms = {key: sign * matrix for key, matrix in slopes.items()}
        own = {f"mu{k}": -sign * row.coef.T, f"up{k}": -sign * np.eye(m), f"down{k}": sign * np.eye(m)}
        program.at_most(terms | own, sign * side.slope)
    own = {f"mu{k}": row.rhs[None], f"up{k}": row.hi[None], f"down{k}": -row.lo[None]}
    program.at_most(whole | own, side.const - SPARE * room(side))
