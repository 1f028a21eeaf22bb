"""The real function of a network and its rounding margin, in `Fraction`: docs/certificate.md, sections 2 and 5.

It is a function of the coordinates that the auxiliaries see: the inputs, or what an encoder makes of them. For the
reference checker only; the formula stands above each function. The conditions of the profile ``dyadic`` (5.3) are in
dyadic.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from smilenn.certify.reference.claims import Row
from smilenn.certify.reference.floats import fl
from smilenn.certify.reference.net import Domain, Matrix, Net, Vector
from smilenn.certify.reference.strict import Refused

ZERO = Fraction(0)
U = Fraction(1, 2**53)
ETA = Fraction(1, 2**126)
LARGEST = Fraction(2**1000)


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """Σ a_i·b_i; zeros are skipped, for speed only."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), ZERO)


@dataclass(frozen=True)
class Piece:
    """const + slope·x + out·relu(s), one row per embedding coordinate, x in raw units."""

    const: Vector
    slope: Matrix
    out: Matrix


@dataclass(frozen=True)
class Model:
    """s_j(x) = bias_j + weight_j·x in raw units; the boxes' pieces; the head in output units."""

    net: Net
    weight: Matrix
    bias: Vector
    lower: Piece
    second: Piece
    head: Matrix
    head_bias: Vector
    ends: tuple[Vector, Vector]


# s_j(x) = Σ_i W_ji·mult_i·(x_i − shift_i) + b_j,  lower(x) = c + A·u + V·relu(s),  u_i = mult_i·(x_i − shift_i)
# second(x) likewise, plus for affine gaps  rise·(u − û_lo) + fall·(û_hi − u)
def build_model(net: Net) -> Model:
    """Fold the scaler in; units are those of lower, then those of second."""
    m, n, h = len(net.inner.names), net.embedding, net.hidden
    shift, mult = net.inner.shift, net.inner.mult
    ends = _scaled_ends(net.inner)
    if net.encoder:
        _scaled_ends(net.domain)  # inputs must not overflow either

    def fold(slope: Sequence[Fraction], const: Fraction) -> tuple[Vector, Fraction]:
        raw = [a * s for a, s in zip(slope, mult, strict=True)]
        return raw, const - dot(raw, shift)

    weight, bias, pieces = [], [], []
    for name, first in (("lower", 0), ("second", h)):
        tensors = {key.split(".")[1]: rows for key, rows in net.tensors.items() if key.startswith(f"{name}.")}
        for row, b in zip(tensors.get("weight", []), tensors.get("bias", [[]])[0], strict=True):
            raw, const = fold(row, b)
            weight.append(raw)
            bias.append(const)
        consts, slopes, outs = [], [], []
        for i in range(n):
            slope, const = tensors["slope"][i] if "slope" in tensors else [ZERO] * m, tensors["const"][0][i]
            if "rise" in tensors:
                rise, fall = tensors["rise"][i], tensors["fall"][i]
                slope = [a + r - f for a, r, f in zip(slope, rise, fall, strict=True)]
                const += dot(fall, ends[1]) - dot(rise, ends[0])
            raw, const = fold(slope, const)
            own = tensors["out"][i] if "out" in tensors else []
            consts.append(const)
            slopes.append(raw)
            outs.append([ZERO] * first + own + [ZERO] * (2 * h - first - len(own)))
        pieces.append(Piece(consts, slopes, outs))
    head = net.tensors
    lower, second = pieces
    return Model(net, weight, bias, lower, second, head["head_weight"], head["head_bias"][0], ends)


# û_lo = fl(fl(lo − shift)·mult), û_hi likewise
def _scaled_ends(d: Domain) -> tuple[Vector, Vector]:
    ends = ([], [])
    for lo, hi, shift, mult in zip(d.lo, d.hi, d.shift, d.mult, strict=True):
        for end, side in ((lo, ends[0]), (hi, ends[1])):
            bounded(abs(end - shift))
            u = fl(fl(end - shift) * mult)
            bounded(abs(u))
            side.append(u)
    return ends


@dataclass(frozen=True)
class Psi:
    """const + q_c·x_c + κ_c·relu(s(x_c)) + p_c·relu(d(x_c)) summed over the copies; a_c on outputs, b_c on inputs."""

    const: Fraction
    q: Matrix
    kappa: Matrix
    p: Matrix
    a: Matrix
    b: Matrix
    rhs: Fraction


# v_c = a_c·G,  ψ_c(x) = v_c·lower(x) + v_c⁺·(upper(x) − lower(x)) + a_c·g_0 + b_c·x
# gap boxes: upper − lower = second;  paper boxes: upper − lower = relu(d), d = second − lower, p_c = v_c⁺
def reduce_row(model: Model, row: Row, copies: int) -> Psi:
    """ψ of one row of the conclusion."""
    net, n = model.net, model.net.embedding
    m, o, h = len(net.inner.names), len(net.outputs), len(model.bias)
    a, b = [[ZERO] * o for _ in range(copies)], [[ZERO] * m for _ in range(copies)]
    for term in row.terms:
        if term.output:
            a[term.copy][term.index] += term.coef
        elif term.index in net.passed:
            b[term.copy][net.passed[term.index]] += term.coef
        else:
            raise Refused(f"A conclusion names the input {term.name!r}, which the encoder does not pass on.")
    const, q, kappa, p = ZERO, [], [], []
    for c in range(copies):
        v = [dot(a[c], [model.head[k][i] for k in range(o)]) for i in range(n)]
        up = [max(value, ZERO) for value in v]
        parts = [(v, model.lower)]
        if net.boxes == "gap":
            parts.append((up, model.second))
        const += dot(a[c], model.head_bias) + sum((dot(w, piece.const) for w, piece in parts), ZERO)
        slope, unit = list(b[c]), [ZERO] * h
        for w, piece in parts:
            for i in range(n):
                if w[i]:
                    slope = [x + w[i] * y for x, y in zip(slope, piece.slope[i], strict=True)]
                    unit = [x + w[i] * y for x, y in zip(unit, piece.out[i], strict=True)]
        q.append(slope)
        kappa.append(unit)
        p.append([ZERO] * n if net.boxes == "gap" else up)
    return Psi(const, q, kappa, p, a, b, row.rhs)


# d_i = second_i − lower_i, the inner functions of the flip units
def flips(model: Model) -> Piece:
    """Constant, slope and weights on relu(s) of d."""

    def minus(x: Vector, y: Vector) -> Vector:
        return [a - b for a, b in zip(x, y, strict=True)]

    lower, second = model.lower, model.second
    return Piece(
        minus(second.const, lower.const),
        [minus(a, b) for a, b in zip(second.slope, lower.slope, strict=True)],
        [minus(a, b) for a, b in zip(second.out, lower.out, strict=True)],
    )


# gap boxes, and all the non-negative tensors of second are zero: f = g∘lower
def zero_gap(net: Net) -> bool:
    """Whether every box is one point, so that the backbone plays no part."""
    signed = [f"second.{name}" for name in ("const", "rise", "fall", "out")]
    return net.boxes == "gap" and not any(v for name in signed for row in net.tensors.get(name, ()) for v in row)


# ---- section 5 ------------------------------------------------------------------------------------------------------


def _overflow() -> None:
    raise Refused("The network's numbers are so large that its evaluation could overflow.")


def bounded(value: Fraction) -> Fraction:
    """The value; Refused unless it is below 2¹⁰⁰⁰."""
    if value >= LARGEST:
        _overflow()
    return value


# LIN(w, b; Y, e) = Σ|w_i|e_i + γ·(Σ|w_i|(Y_i + e_i) + |b|) + (1 + γ)·η·(3N + 3 + Σ|w_i| + Σ(Y_i + e_i)),
# γ = (N + 5)·u / (1 − (N + 5)·u);  returned with Σ|w_i|(Y_i + e_i) + |b| plus the error, which must not overflow
def lin(w: Vector, b: Fraction, size: Vector, error: Vector, eta: Fraction = ETA) -> tuple[Fraction, Fraction]:
    """The error of a sum of products, and how large its terms may be together."""
    w = [abs(x) for x in w]
    reach = [y + e for y, e in zip(size, error, strict=True)]
    k = (len(w) + 5) * U
    gamma = k / (1 - k)
    total = dot(w, reach) + abs(b)
    out = dot(w, error) + gamma * total
    out += (1 + gamma) * eta * (3 * len(w) + 3 + sum(w, ZERO) + sum(reach, ZERO))
    return out, bounded(total + out)


# e_u = 0 if shift = 0 and mult = 1, else ((1 + u)² − 1)·D·mult + 2η(1 + mult + D), U = D·mult
def scaler(d: Domain) -> tuple[Vector, Vector]:
    """U and e_u per coordinate: how large a scaled input is, and how far it errs before it is put on a grid."""
    size_u, error_u = [], []
    for lo, hi, shift, mult in zip(d.lo, d.hi, d.shift, d.mult, strict=True):
        far = bounded(max(abs(lo - shift), abs(hi - shift)))
        size_u.append(far * mult)
        plain = shift == 0 and mult == 1
        error_u.append(ZERO if plain else ((1 + U) ** 2 - 1) * far * mult + 2 * ETA * (1 + mult + far))
    return size_u, error_u


def margins(model: Model) -> Vector:
    """E_o per output, sums in any order; numbers that could overflow are refused, whatever the profile."""
    net = model.net
    get = net.tensors.get
    size_u, error_u = scaler(net.inner)
    # lower and second: hidden units e_s = LIN(W, b; U, e_u), size Σ|W|U + |b|; then LIN over slopes and outputs
    errors, sizes = {}, {}
    for name in ("lower", "second"):
        weight, bias, out = get(f"{name}.weight"), get(f"{name}.bias"), get(f"{name}.out")
        slope, rise, fall, const = get(f"{name}.slope"), get(f"{name}.rise"), get(f"{name}.fall"), get(f"{name}.const")
        size_in, error_in = ([], []) if slope is None else (list(size_u), list(error_u))
        if rise is not None:  # u − û_lo and û_hi − u: size U + |û|, error e_u + u·(U + |û| + e_u) + η
            for end in model.ends:
                wide = [s + abs(v) for s, v in zip(size_u, end, strict=True)]
                size_in += wide
                error_in += [e + U * (s + e) + ETA for s, e in zip(wide, error_u, strict=True)]
        if weight is not None and bias is not None:
            size_in += [dot([abs(x) for x in w], size_u) + abs(b) for w, b in zip(weight, bias[0], strict=True)]
            error_in += [lin(w, b, size_u, error_u)[0] for w, b in zip(weight, bias[0], strict=True)]
        assert const is not None  # always there
        errors[name], sizes[name] = [], []
        for i, b in enumerate(const[0]):
            w = [v for part in (slope, rise, fall, out) if part is not None for v in part[i]]
            errors[name].append(lin(w, b, size_in, error_in)[0])
            sizes[name].append(dot([abs(x) for x in w], size_in) + abs(b))
    # select: within e_z = max(e_L, e_U) + g of a point of the real box, at most Z in size
    size_z, error_z = [], []
    dips = _dips(model, get("second.rise"), get("second.fall"))
    for e_l, e_s, s_l, s_s, dip in zip(
        errors["lower"], errors["second"], sizes["lower"], sizes["second"], dips, strict=True
    ):
        if net.boxes == "gap":
            e_u = e_l + e_s + U * (s_l + s_s + e_l + e_s) + ETA
            size = s_l + s_s
            bounded(size + e_u)
        else:
            e_u, size = max(e_l, e_s), max(s_l, s_s)
        size_z.append(max(s_l, size))
        error_z.append(max(e_l, e_u) + dip)
    # head: E = LIN(G, g_0; Z, e_z) with η·max(1, output_scale)
    out = []
    for row, b, scale in zip(model.head, model.head_bias, net.output_scale, strict=True):
        for value in (*row, b):
            bounded(abs(value) / scale)
        error, reach = lin(row, b, size_z, error_z, ETA * max(Fraction(1), scale))
        bounded(reach / scale)
        out.append(error)
    return out


# g_i = Σ_k rise_ik·max(0, û_lo,k − u_lo,k) + fall_ik·max(0, u_hi,k − û_hi,k): how far the real gap may dip below zero
def _dips(model: Model, rise: Matrix | None, fall: Matrix | None) -> Vector:
    d = model.net.inner
    if rise is None or fall is None:
        return [ZERO] * model.net.embedding
    low, high = [], []
    for lo, hi, shift, mult, first, last in zip(d.lo, d.hi, d.shift, d.mult, *model.ends, strict=True):
        low.append(max(ZERO, first - (lo - shift) * mult))
        high.append(max(ZERO, (hi - shift) * mult - last))
    return [dot(r, low) + dot(f, high) for r, f in zip(rise, fall, strict=True)]


# the margin of a row: Σ_c Σ_o |a_co|·E_o + Σ_c Σ_i |b_ci|·ω_i, where ω = 0 (None) but for dyadic, and there E = 0
def row_margin(psi: Psi, margin: Vector, omega: Vector | None) -> Fraction:
    """How much the deployed left side may exceed the real one, the outputs' part and the inputs' part."""

    def size(coefficients: Matrix, errors: Vector) -> Fraction:
        return sum((abs(a) * e for copy in coefficients for a, e in zip(copy, errors, strict=True)), ZERO)

    return size(psi.a, margin) + (ZERO if omega is None else size(psi.b, omega))
