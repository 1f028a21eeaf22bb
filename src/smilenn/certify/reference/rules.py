"""The rules that bound a row, in `Fraction`: docs/certificate.md, sections 4.1 to 4.3.

For the reference checker only.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from smilenn.certify.reference.model import ZERO, Matrix, Model, Piece, Psi, Vector, dot, flips, zero_gap
from smilenn.certify.reference.premise import Cell, Premise, directions
from smilenn.certify.reference.reader import Lemma, Proof
from smilenn.certify.reference.strict import Refused
from smilenn.certify.reference.tree import EMPTY, LEAF, Budget, Walk, count

Y_BITS = 24  # multipliers of lemmas are integers times 2^-24

# ---- 4.1 leaf rule --------------------------------------------------------------------------------------------------


def leaf_rule(model: Model, premise: Premise, psi: Psi, proof: Proof, budget: Budget) -> tuple[Fraction, int]:
    """The largest bound of a leaf that is not closed, and the number of leaves."""
    k, n, h = premise.copies, model.net.embedding, len(model.bias)
    paper = model.net.boxes == "paper"
    inner = flips(model) if paper else None
    first, second = k * n if paper else 0, k * len(proof.units)
    third = len(premise.extra)
    numbers = first + second + third + len(proof.lemmas)
    budget.spend(count(proof.nodes, numbers, premise.domain.groups), model, premise, len(proof.lemmas), third)
    root = Cell(premise, h, n if paper else 0)
    if proof.lemmas and (root.visibly_empty or (k == 2 and _differences(root) is None)):
        raise Refused("A lemma is about a premise without a point.")
    known = [_known(model, root, lemma, proof.bits) for lemma in proof.lemmas]
    walk = Walk(proof, root, numbers, slope=False)
    best: Fraction | None = None
    for _, given in walk:
        values = [Fraction(v, 2**proof.bits) for v in given]
        tau = [values[c * n : (c + 1) * n] if paper else [] for c in range(k)]
        t = [[ZERO] * h for _ in range(k)]
        for c in range(k):
            for place, j in enumerate(proof.units):
                t[c][j] = values[first + c * len(proof.units) + place]
        nu = values[first + second : first + second + third]
        if any(v < 0 and not row.equality for v, row in zip(nu, premise.extra, strict=True)):
            raise Refused("A leaf has a negative multiplier for an inequality.")
        y = [Fraction(v, 2**Y_BITS) for v in given[first + second + third :]]
        if any(v < 0 for v in y):
            raise Refused("A leaf has a negative multiplier for a lemma.")
        bound = _leaf_bound(model, walk.cell, _added(psi, known, y), inner, t, tau, nu)
        if bound is not None and (best is None or bound > best):
            best = bound
    if best is None:
        raise Refused("All leaves of a proof are closed, though the premise is not empty.")
    return best, walk.leaves


@dataclass(frozen=True)
class Known:
    """0 ≤ const + slope_c·x_c − β_c·relu(s_j(x_c)), summed over the copies, on the premise; slope [k][m], beta [k]."""

    unit: int
    beta: Vector
    slope: Matrix
    const: Fraction


# Σ_c β_c·relu(s_j(x_c)) ≤ Σ_c h_c·u(x_c) + r,      r = max_p max_x Σ_c (θ_pc·s_j(x_c) − h_c·u(x_c))
# p: the copies with β_c > 0 that are on.  β_c > 0: θ_pc = β_c in p, else 0;  β_c < 0: θ_pc as given, cut to [β_c, 0]
def _known(model: Model, root: Cell, lemma: Lemma, bits: int) -> Known:
    """What a lemma says of the premise, extra rows left out; `root` is all of it, and not empty."""
    k, m, mult = len(root.lo), len(root.lo[0]), root.premise.domain.mult
    beta = [Fraction(v, 2**bits) for v in lemma.beta]
    h = [Fraction(v, 2**bits) for v in struct.unpack(f"<{k * m}i", lemma.slope)]
    # h_c·u(x_c) = slope_c·x_c less a constant, which r has too, with the other sign: it is left out of both
    slope = [[h[c * m + i] * mult[i] for i in range(m)] for c in range(k)]
    on, below = [c for c in range(k) if beta[c] > 0], [c for c in range(k) if beta[c] < 0]
    weight, bias, values = model.weight[lemma.unit], model.bias[lemma.unit], []
    for p, given in enumerate(lemma.theta):
        theta = [ZERO] * k
        for place, c in enumerate(on):
            theta[c] = beta[c] if p >> place & 1 else ZERO
        for c, v in zip(below, given, strict=True):
            theta[c] = min(max(Fraction(v, 2**bits), beta[c]), ZERO)
        q = [[theta[c] * w - g for w, g in zip(weight, slope[c], strict=True)] for c in range(k)]
        most = _affine_maximum(root, q)
        if most is None:
            raise Refused("A lemma is about a premise without a point.")
        values.append(most + sum(theta, ZERO) * bias)
    return Known(lemma.unit, beta, slope, max(values))


# ψ ≤ ψ + Σ_l y_l·(h·u + r − Σ_c β_c·relu(s_j)) on the premise, y ≥ 0
def _added(psi: Psi, known: Sequence[Known], y: Vector) -> Psi:
    """What is to be bounded in place of ψ."""
    const, q, kappa = psi.const, [list(v) for v in psi.q], [list(v) for v in psi.kappa]
    for lemma, factor in zip(known, y, strict=True):
        if factor:
            const += factor * lemma.const
            for c, (beta, slope) in enumerate(zip(lemma.beta, lemma.slope, strict=True)):
                kappa[c][lemma.unit] -= factor * beta
                q[c] = [x + factor * g for x, g in zip(q[c], slope, strict=True)]
    return replace(psi, const=const, q=q, kappa=kappa)


def _leaf_bound(
    model: Model, cell: Cell, psi: Psi, inner: Piece | None, t: Matrix, tau: Matrix, nu: Vector
) -> Fraction | None:
    """An upper bound of Σ_c ψ_c on the cell, or None if the leaf is closed."""
    if cell.visibly_empty:
        return None
    k, units = len(cell.lo), range(len(model.bias))
    bound, q, kappa = psi.const, [list(v) for v in psi.q], [list(v) for v in psi.kappa]
    # 1. [a_cj, b_cj]: the range of s_j over the cell, cut by phases
    spans = [[_cut(cell, c, j, model) for j in units] for c in range(k)]
    if any(a > b for copy in spans for a, b in copy):
        return None
    # 2. p·relu(d) ≤ τ·d + ρ, ρ = max over d ∈ {α, β, 0 if inside} of p·relu(d) − τ·d
    if inner is not None:
        for c in range(k):
            for i, slope in enumerate(tau[c]):
                alpha, beta = _flip_span(model, cell, c, inner, i, spans[c])
                if alpha > beta:
                    return None
                bound += _best([(psi.p[c][i], slope)], [(d,) for d in (alpha, beta, ZERO) if alpha <= d <= beta])
                bound += slope * inner.const[i]
                q[c] = [x + slope * y for x, y in zip(q[c], inner.slope[i], strict=True)]
                kappa[c] = [x + slope * y for x, y in zip(kappa[c], inner.out[i], strict=True)]
    # 3. r_j = max over S_j of Σ_c κ_cj·relu(s_c) − t_cj·s_c; then t_cj·s_j joins the affine part
    differences = _differences(cell) if k == 2 else None
    if k == 2 and differences is None:
        return None
    for j in units:
        pieces = [(kappa[c][j], t[c][j]) for c in range(k)]
        if differences is None:
            for piece, (a, b) in zip(pieces, [spans[c][j] for c in range(k)], strict=True):
                bound += _best([piece], [(s,) for s in (a, b, ZERO) if a <= s <= b])
        else:
            points = _vertices(spans[0][j], spans[1][j], _difference(cell, differences, model.weight[j]))
            if not points:
                return None
            bound += _best(pieces, points)
        for c in range(k):
            if t[c][j]:
                bound += t[c][j] * model.bias[j]
                q[c] = [x + t[c][j] * w for x, w in zip(q[c], model.weight[j], strict=True)]
    # 4. the affine remainder, minus ν_e·(row e), which holds up to its slack
    for multiplier, row in zip(nu, cell.premise.extra, strict=True):
        bound += multiplier * row.rhs + abs(multiplier) * row.slack
        for (c, i), a in row.coef.items():
            q[c][i] -= multiplier * a
    rest = _affine_maximum(cell, q)
    return None if rest is None else bound + rest


def _cut(cell: Cell, c: int, j: int, model: Model) -> tuple[Fraction, Fraction]:
    a, b = cell.span(c, model.weight[j])
    a, b = a + model.bias[j], b + model.bias[j]
    return _phased(a, b, cell.phase[c][j])


def _phased(a: Fraction, b: Fraction, phase: tuple[bool, bool]) -> tuple[Fraction, Fraction]:
    """[a, b] cut to ≤ 0 or ≥ 0, as (≤ 0, ≥ 0) says."""
    return max(a, ZERO) if phase[1] else a, min(b, ZERO) if phase[0] else b


# d_i over the cell: relu(s_j) is 0 where b_cj ≤ 0, else s_j where a_cj ≥ 0; the range of that affine function, plus for
# every other j its weight times [0, b_cj]; cut by the splits of d_i
def _flip_span(
    model: Model, cell: Cell, c: int, inner: Piece, i: int, spans: Sequence[tuple[Fraction, Fraction]]
) -> tuple[Fraction, Fraction]:
    const, slope, low, high = inner.const[i], inner.slope[i], ZERO, ZERO
    for j, (weight, (a, b)) in enumerate(zip(inner.out[i], spans, strict=True)):
        if weight and b > 0:
            if a >= 0:
                const += weight * model.bias[j]
                slope = [x + weight * w for x, w in zip(slope, model.weight[j], strict=True)]
            else:
                low, high = low + min(ZERO, weight * b), high + max(ZERO, weight * b)
    first, last = cell.span(c, slope)
    return _phased(const + low + first, const + high + last, cell.flip[c][i])


# max over points of Σ_c κ_c·relu(s_c) − t_c·s_c
def _best(pieces: Sequence[tuple[Fraction, Fraction]], points: Sequence[tuple[Fraction, ...]]) -> Fraction:
    return max(
        sum((kappa * max(s, ZERO) - t * s for (kappa, t), s in zip(pieces, point, strict=True)), ZERO)
        for point in points
    )


# intersections of two of the lines s_c = a_c, s_c = b_c, s_c = 0, s_1 − s_2 = dl, s_1 − s_2 = du that lie in S_j
def _vertices(
    first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction], strip: tuple[Fraction, Fraction]
) -> list[tuple[Fraction, ...]]:
    (a1, b1), (a2, b2), (dl, du) = first, second, strip
    across, up = {a1, b1, ZERO}, {a2, b2, ZERO}
    points = {(x, y) for x in across for y in up}
    points |= {(x, x - d) for x in across for d in (dl, du)} | {(y + d, y) for y in up for d in (dl, du)}
    return [(x, y) for x, y in points if a1 <= x <= b1 and a2 <= y <= b2 and dl <= x - y <= du]


# per coordinate [max(δ_lo, lo_1 − hi_2), min(δ_hi, hi_1 − lo_2)], per group the allowed pairs
def _differences(cell: Cell) -> tuple[dict[int, tuple[Fraction, Fraction]], list[list[tuple[int, int]]]] | None:
    """k = 2: the ranges of x_1 − x_2, or None if one is empty."""
    (lo1, lo2), (hi1, hi2), premise = cell.lo, cell.hi, cell.premise
    ranges = {
        i: (max(premise.strip_lo[i], lo1[i] - hi2[i]), min(premise.strip_hi[i], hi1[i] - lo2[i])) for i in cell.plain
    }
    pairs = [cell.pairs(g) for g in range(len(cell.groups))]
    return None if any(a > b for a, b in ranges.values()) or not all(pairs) else (ranges, pairs)


# dl ≤ s_1 − s_2 ≤ du: the range of Σ_i w_i·(x_1i − x_2i)
def _difference(
    cell: Cell, differences: tuple[dict[int, tuple[Fraction, Fraction]], list[list[tuple[int, int]]]], w: Vector
) -> tuple[Fraction, Fraction]:
    low = high = ZERO
    for i, (a, b) in differences[0].items():
        if w[i]:
            ends = w[i] * a, w[i] * b
            low, high = low + min(ends), high + max(ends)
    for group, pairs in zip(cell.groups, differences[1], strict=True):
        values = {w[group[p]] - w[group[r]] for p, r in pairs}
        low, high = low + min(values), high + max(values)
    return low, high


def _affine_maximum(cell: Cell, q: Matrix) -> Fraction | None:
    """max Σ_c q_c·x_c over the cell, extra rows left out; None if the cell is empty."""
    k, total = len(cell.lo), ZERO
    for i in cell.plain:
        if cell.premise.pinned[i]:
            together = sum((q[c][i] for c in range(k)), ZERO)
            total += max(together * cell.lo[0][i], together * cell.hi[0][i])
        elif k == 2:
            # never without corners: step 3 has closed cells whose differences are empty
            total += max(q[0][i] * x + q[1][i] * y for x, y in _corners(cell, i))
        else:
            total += sum((max(q[c][i] * cell.lo[c][i], q[c][i] * cell.hi[c][i]) for c in range(k)), ZERO)
    for g, group in enumerate(cell.groups):
        if k == 2:
            values = [q[0][group[p]] + q[1][group[r]] for p, r in cell.pairs(g)]
        else:  # all copies at one pinned member, or each at its best member that is not pinned
            stiff = {p for p, i in enumerate(group) if cell.premise.pinned[i]}
            shared = stiff.intersection(*(copy[g] for copy in cell.allowed))
            values = [sum((q[c][group[p]] for c in range(k)), ZERO) for p in shared]
            loose = [[q[c][group[p]] for p in cell.allowed[c][g] if p not in stiff] for c in range(k)]
            if all(loose):
                values.append(sum((max(v) for v in loose), ZERO))
        if not values:
            return None
        total += max(values)
    return total


# box ∩ strip: x_1 at an end with x_2 at an end of [max(lo_2, x_1 − δ_hi), min(hi_2, x_1 − δ_lo)], and exchanged
def _corners(cell: Cell, i: int) -> list[tuple[Fraction, Fraction]]:
    (lo1, lo2), (hi1, hi2) = [v[i] for v in cell.lo], [v[i] for v in cell.hi]
    dl, du = cell.premise.strip_lo[i], cell.premise.strip_hi[i]
    out = []
    for x in (lo1, hi1):
        a, b = max(lo2, x - du), min(hi2, x - dl)
        out += [(x, a), (x, b)] if a <= b else []
    for y in (lo2, hi2):
        a, b = max(lo1, y + dl), min(hi1, y + du)
        out += [(a, y), (b, y)] if a <= b else []
    return out


# ---- 4.2 sweep rule -------------------------------------------------------------------------------------------------


def sweep_rule(model: Model, premise: Premise, psi: Psi, budget: Budget) -> tuple[Fraction, int]:
    """The exact maximum for one input; 0 leaves."""
    if len(premise.pinned) != 1 or premise.copies > 2 or premise.extra:
        raise Refused("The sweep rule is for one input, at most two copies and no extra rows.")
    budget.spend(len(model.bias) + 1, model, premise)
    inner = flips(model) if model.net.boxes == "paper" else None
    k, whole = premise.copies, premise.whole[0]
    lo, hi = [copy[0] for copy in premise.lo], [copy[0] for copy in premise.hi]
    kinks = {-b / w[0] for w, b in zip(model.weight, model.bias, strict=True) if w[0]}
    if whole:
        kinks = {Fraction(f(x)) for x in kinks for f in (math.floor, math.ceil)}

    def value(c: int, x: Fraction) -> Fraction:
        active = [max(w[0] * x + b, ZERO) for w, b in zip(model.weight, model.bias, strict=True)]
        out = psi.q[c][0] * x + dot(psi.kappa[c], active)
        if inner is not None:
            for i, p in enumerate(psi.p[c]):
                out += p * max(inner.const[i] + inner.slope[i][0] * x + dot(inner.out[i], active), ZERO)
        return out

    candidates = [sorted({x for x in kinks if lo[c] < x < hi[c]} | {lo[c], hi[c]}) for c in range(k)]
    if k == 1 or premise.pinned[0]:
        points = sorted(set().union(*candidates))
        return psi.const + max(sum((value(c, x) for c in range(k)), ZERO) for x in points), 0
    dl, du = premise.strip_lo[0], premise.strip_hi[0]
    inside = [(x, value(1, x)) for x in candidates[1]]
    best: Fraction | None = None
    for x in set(candidates[0]) | {y + d for y in candidates[1] for d in (dl, du)}:
        a, b = max(lo[1], x - du), min(hi[1], x - dl)
        if not lo[0] <= x <= hi[0] or a > b:
            continue
        other = max(value(1, a), value(1, b), *(v for y, v in inside if a <= y <= b))
        total = psi.const + value(0, x) + other
        best = total if best is None else max(best, total)
    if best is None:
        raise Refused("The premise is empty.")
    return best, 0


# ---- 4.3 slope rule -------------------------------------------------------------------------------------------------


# σ_i·( q_i + Σ_j active κ_j·w_ji ) ≤ 0 in every activation cell ⇒ F(x_1) − F(x_2) ≤ 0
def slope_rule(model: Model, premise: Premise, psi: Psi, proof: Proof, budget: Budget) -> tuple[Fraction, int]:
    """The bound 0, if every leaf holds or is empty."""
    if premise.copies != 2 or premise.extra or psi.rhs < 0:
        raise Refused("The slope rule is for two copies, no extra rows and a right side that is not negative.")
    if any(x != -y for side in (psi.a, psi.b) for x, y in zip(*side, strict=True)):
        raise Refused("The slope rule needs a row in which the two copies have opposite coefficients.")
    if not zero_gap(model.net):
        raise Refused("The slope rule needs boxes of zero width.")
    moving = directions(premise, "slope")
    budget.spend(count(proof.nodes, 0, premise.domain.groups), model, premise)
    walk = Walk(proof, Cell(premise, len(model.bias), hull=True), 0, slope=True)
    for kind, multipliers in walk:
        if walk.cell.visibly_empty:
            continue
        if kind == LEAF and not _holds(model, walk.cell, psi, moving):
            raise Refused("A leaf of the slope rule does not hold: the function may rise where it must not.")
        if kind == EMPTY and not _is_empty(model, walk, multipliers):
            raise Refused("A leaf of the slope rule is not empty, though the proof says so.")
    return ZERO, walk.leaves


# σ_i·q_i + Σ_active σ_i κ_j w_ji + Σ_undecided max(0, σ_i κ_j w_ji) ≤ 0 for every moving i
def _holds(model: Model, cell: Cell, psi: Psi, moving: dict[int, int]) -> bool:
    worst = {i: sign * psi.q[0][i] for i, sign in moving.items()}
    for j, kappa in enumerate(psi.kappa[0]):
        a, b = cell.span(0, model.weight[j])
        negative, positive = cell.phase[0][j]
        if negative or b + model.bias[j] <= 0:
            continue
        active = positive or a + model.bias[j] >= 0
        for i, sign in moving.items():
            gain = sign * kappa * model.weight[j][i]
            worst[i] += gain if active else max(ZERO, gain)
    return all(value <= 0 for value in worst.values())


# Σ_e λ_e·(±s_j) < 0 everywhere on the cell's box
def _is_empty(model: Model, walk: Walk, multipliers: tuple[int, ...]) -> bool:
    weight, const = [ZERO] * len(walk.cell.lo[0]), ZERO
    for (j, side), value in zip(walk.phases(), multipliers, strict=True):
        if value:
            const += side * value * model.bias[j]
            weight = [x + side * value * w for x, w in zip(weight, model.weight[j], strict=True)]
    return walk.cell.span(0, weight)[1] + const < 0
