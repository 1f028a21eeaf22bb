"""A claim on a network's snapshot, reduced to one maximisation per inequality.

For a row ``Σ_c a_c·f(x_c) + b_c·x_c ≤ ε`` let v_c = a_c·G. The head is linear and the embedding of each copy may be
anything in its box, so the inner maximum over the box is closed form:

    ψ_c(u) = Σ_i v⁺_ci upper_i(u) + v⁻_ci lower_i(u) + b_c·x + a_c·g_0
    max_Q Σ_c ψ_c(u_c) ≤ ε   ⇒   the row holds, whatever the backbone is

(and "⇐" where the copies' inputs differ: then a backbone can reach the worst vertices of all boxes at once).

With ``upper = lower + gap`` each ψ_c is a one-hidden-layer ReLU net; with the paper's free pair
``upper = lower + relu(second − lower)`` adds one *flip unit* per embedding coordinate with v_ci > 0:

    ψ_c(u) = const + q_c·u + κ_c·relu(W u + b) + p_c·relu(d + D u + E·relu(W u + b)),   p_c ≥ 0
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.model.snapshot import Snapshot
from smilenn.problem.region import Region
from smilenn.problem.transfer import transfer
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.premise import Premise, ground


@dataclass(frozen=True, eq=False)
class Flips:
    """Inner functions of the paper's flip units: d + D u + E·relu(W u + b), each [n]-shaped."""

    const: np.ndarray
    slope: np.ndarray
    unit: np.ndarray


@dataclass(frozen=True, eq=False)
class Row:
    """One inequality ``Σ_c ψ_c(u_c) − rhs ≤ 0``; k copies, m coordinates, H units, n flip units.

    Attributes
    ----------
    slope : q [k, m].
    unit : κ [k, H].
    flip : p [k, n], ≥ 0, all zero for flip-free boxes.
    const, rhs : numbers; violation = const + … − rhs.
    outputs : a [k, o], the coefficients on the network's outputs.
    inputs, input_const : the claim's own input terms Σ_c b_c·x_c in model units, [k, m] and a number; already contained
        in `slope` and `const`.
    scale : size of the row's outputs; tolerances are relative to it.
    text : the row in the claim language.
    """

    slope: np.ndarray
    unit: np.ndarray
    flip: np.ndarray
    const: float
    rhs: float
    outputs: np.ndarray
    inputs: np.ndarray
    input_const: float
    scale: float
    text: str

    @cached_property
    def affine(self) -> bool:
        """Whether no unit takes part."""
        return not self.unit.any() and not self.flip.any()

    @property
    def difference(self) -> bool:
        """Whether the row compares copies: its terms cancel where these are equal."""
        return not self.outputs.sum(axis=0).any() and not self.inputs.sum(axis=0).any()

    @property
    def room(self) -> float:
        """ε: the right side without the constant of the claim's inputs."""
        return self.rhs - self.input_const


@dataclass(frozen=True, eq=False)
class Frame:
    """What a row has from its claim and domain alone, whatever the weights; fields as in `Row`."""

    outputs: np.ndarray
    inputs: np.ndarray
    input_const: float
    rhs: float
    text: str


@dataclass(frozen=True, eq=False)
class InputClaim:
    """A claim in the space of the inputs, whatever an encoder makes of it: what witnesses and counterexamples need."""

    claim: Claim
    domain: Domain
    premise: Premise
    region: Region
    outputs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything a prover needs for one claim: the region, the units and the rows.

    `rows` holds one row per inequality, except that of two rows which a symmetric premise maps onto each other only
    the first is kept; whether it does depends on the claim alone. `frames` is what they have from the claim.
    """

    claim: Claim
    snapshot: Snapshot
    premise: Premise
    region: Region
    flips: Flips
    rows: tuple[Row, ...]
    given: InputClaim
    frames: tuple[Frame, ...]

    @property
    def domain(self) -> Domain:
        """The domain that the proof is about: the inputs, or what an encoder makes of them."""
        return self.snapshot.domain

    @property
    def copies(self) -> int:
        """k."""
        return self.claim.copies

    @cached_property
    def claim_digest(self) -> str:
        """`digest` of the claim."""
        return digest(self.given.claim, self.given.domain)

    @property
    def weights_digest(self) -> str:
        """SHA-256 of the snapshot."""
        return self.snapshot.digest

    @cached_property
    def tight(self) -> bool:
        """Whether a proof forces the box to zero width.

        It does where the diagonal is in Q and a difference row (Σ_c a_c = 0, inputs cancelling) has ε ≤ 0: on the
        diagonal only the width is left, against ε. And it does where two rows are each other's negative and leave no
        room between them, since the sum of their left sides is at least the width.
        """
        if self.premise.diagonal and any(row.difference and row.room <= 0 for row in self.rows):
            return True
        least = min((row.room for row in self.rows), default=0.0)
        some = [row for row in self.rows if row.room + least <= 0]  # no others have a partner: classes have many rows
        return any(row.room + other.room <= 0 and _opposed(row, other) for row in some for other in some)

    @cached_property
    def largest_box(self) -> np.ndarray:
        """[k, n], the sizes |lower| + |second| at most, term by term, over the region."""
        s, size = self.snapshot, self.region.largest  # [k, m]
        hidden = size @ np.abs(s.hidden_weight).T + np.abs(s.hidden_bias)  # [k, H]
        box = np.abs(s.lower_const) + np.abs(s.second_const) + size @ (np.abs(s.lower_slope) + np.abs(s.second_slope)).T
        return box + hidden @ (np.abs(s.lower_out) + np.abs(s.second_out)).T

    def value(self, u: np.ndarray, row: Row) -> np.ndarray:
        """Violation Σ_c ψ_c(u_c) − rhs of the box at u [B, k, m] (model units), [B]; ≤ 0 means satisfied."""
        s = self.snapshot
        hidden = np.maximum(u @ s.hidden_weight.T + s.hidden_bias, 0.0)  # [B, k, H]
        value = row.const - row.rhs + np.einsum("bkm,km->b", u, row.slope) + np.einsum("bkh,kh->b", hidden, row.unit)
        if row.flip.any():
            inner = self.flips.const + u @ self.flips.slope.T + hidden @ self.flips.unit.T
            value = value + np.einsum("bkn,kn->b", np.maximum(inner, 0.0), row.flip)
        return value

    def gradient(self, u: np.ndarray, row: Row) -> np.ndarray:
        """A subgradient of `value` with respect to u [B, k, m], same shape."""
        s = self.snapshot
        pre = u @ s.hidden_weight.T + s.hidden_bias
        on = (pre > 0).astype(np.float64)
        unit = np.broadcast_to(row.unit, on.shape)
        grad = np.broadcast_to(row.slope, u.shape).copy()
        if row.flip.any():
            inner = self.flips.const + u @ self.flips.slope.T + np.maximum(pre, 0.0) @ self.flips.unit.T
            open_ = (inner > 0) * row.flip  # [B, k, n]
            grad += open_ @ self.flips.slope
            unit = unit + open_ @ self.flips.unit
        return grad + (on * unit) @ s.hidden_weight


def digest(claim: Claim, domain: Domain) -> str:
    """SHA-256 of a claim and its domain, hexadecimal; the sentence does not count."""
    body = {"claim": {**claim.to_json(), "sentence": ""}, "domain": domain.to_json()}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def build(claim: Claim, snapshot: Snapshot, *, like: Problem | None = None) -> Problem:
    """Reduce a claim on a snapshot; `like`, an earlier problem of the same claim and domain, lends its region."""
    if claim.either:
        raise SmileError(f"{claim.formula()!r} has alternatives; it is proved by cases (smilenn.prove), one by one.")
    encoding = snapshot.encoding
    if encoding is None:
        return _reduced(claim, snapshot, like, None)
    premise = ground(claim, encoding.domain) if like is None else like.given.premise
    region = Region.of(premise) if like is None else like.given.region
    given = InputClaim(claim, encoding.domain, premise, region, snapshot.outputs)
    encoded = transfer(claim, premise, encoding, snapshot.domain)  # the proof lives in the space of e
    return _reduced(encoded, snapshot, None, given)


def _reduced(claim: Claim, s: Snapshot, like: Problem | None, given: InputClaim | None) -> Problem:
    """A claim on the snapshot's own domain; `given` is what it was before an encoder."""
    if like is None:
        premise = ground(claim, s.domain)
        frames, rows = _distinct(claim, premise, s)
    else:
        premise, frames = like.premise, like.frames
        rows = tuple(_reduce(frame, s) for frame in frames)
    flips = Flips(s.second_const - s.lower_const, s.second_slope - s.lower_slope, s.second_out - s.lower_out)
    region = _region(premise, s) if like is None or like.snapshot.grid != s.grid else like.region
    given = InputClaim(claim, s.domain, premise, region, s.outputs) if given is None else given
    return Problem(claim, s, premise, region, flips, rows, given, frames)


def _distinct(claim: Claim, premise: Premise, s: Snapshot) -> tuple[tuple[Frame, ...], tuple[Row, ...]]:
    """The rows; of two that a symmetric premise maps onto each other only the first."""
    frames = [_frame(inequality, claim.copies, s) for inequality in claim.rows]
    rows = [_reduce(frame, s) for frame in frames]
    kept = _unswapped(rows) if premise.symmetric else range(len(rows))
    return tuple(frames[i] for i in kept), tuple(rows[i] for i in kept)


def _unswapped(rows: Sequence[Row]) -> list[int]:
    """Indices of rows that are no earlier row with its copies exchanged; only rows with its weights are compared."""
    earlier: dict[bytes, list[Row]] = {}
    kept = []
    for i, row in enumerate(rows):
        weights = row.outputs + 0.0  # -0 becomes 0: equal numbers are the same bytes
        if not any(_swapped(row, other) for other in earlier.get(weights[::-1].tobytes(), ())):
            kept.append(i)
        earlier.setdefault(weights.tobytes(), []).append(row)
    return kept


def _region(premise: Premise, s: Snapshot) -> Region:
    region = Region.of(premise)
    return region.on_grid(s.grid, s.domain.shift, s.domain.mult) if s.grid else region


def build_all(claims: Sequence[Claim], snapshot: Snapshot) -> tuple[Problem, ...]:
    """One problem per claim."""
    return tuple(build(claim, snapshot) for claim in claims)


def _frame(inequality: Inequality, copies: int, s: Snapshot) -> Frame:
    domain, m = s.domain, s.domain.size
    outputs: np.ndarray = np.zeros((copies, len(s.outputs)))
    inputs: np.ndarray = np.zeros((copies, m))
    for term in inequality.terms:
        if term.kind == "out":
            outputs[term.copy, _output(term.name, s.outputs)] += float(term.coef)
        else:
            index, *more = domain.indices(term.name)
            if more:
                raise SmileError(
                    f"{inequality.text()!r} uses the category {term.name!r} as a number; name one of its members, "
                    f"such as {domain.coordinates[index]!r}."
                )
            inputs[term.copy, index] += float(term.coef)
    input_const = float((inputs @ domain.shift).sum())
    return Frame(outputs, inputs / domain.mult, input_const, float(inequality.rhs), inequality.text())


def _reduce(frame: Frame, s: Snapshot) -> Row:
    outputs = frame.outputs
    v: np.ndarray = outputs @ s.head_weight  # [k, n]
    up = np.maximum(v, 0.0)
    slope, unit, flip = v @ s.lower_slope + frame.inputs, v @ s.lower_out, np.zeros(v.shape)
    const = float((v @ s.lower_const).sum() + (outputs @ s.head_bias).sum()) + frame.input_const
    if s.boxes == "gap":
        slope += up @ s.second_slope
        unit += up @ s.second_out
        const += float((up @ s.second_const).sum())
    else:
        flip = up
    used = [scale for scale, some in zip(s.output_scale.tolist(), outputs.T.tolist(), strict=True) if any(some)]
    scale = max(used, default=1.0)
    return Row(slope, unit, flip, const, frame.rhs, outputs, frame.inputs, frame.input_const, scale, frame.text)


def _output(name: str, outputs: tuple[str, ...]) -> int:
    if name in outputs:
        return outputs.index(name)
    if name == "" and len(outputs) == 1:
        return 0
    raise SmileError(f"There is no output {name!r}; the outputs are {listed(outputs)}.")


def _opposed(row: Row, other: Row) -> bool:
    """Whether the left sides are each other's negative."""
    return bool((row.outputs == -other.outputs).all() and (row.inputs == -other.inputs).all())


def _swapped(row: Row, other: Row) -> bool:
    """Whether `row` is `other` with its two copies exchanged."""
    return (
        row.rhs == other.rhs
        and bool(np.isclose(row.const, other.const, rtol=1e-12, atol=1e-12 * row.scale))
        and bool((row.outputs == other.outputs[::-1]).all())
        and bool((row.inputs == other.inputs[::-1]).all())
        and bool((row.slope == other.slope[::-1]).all())
        and bool((row.unit == other.unit[::-1]).all())
        and bool((row.flip == other.flip[::-1]).all())
    )
