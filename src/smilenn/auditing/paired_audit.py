"""The audit of two networks of equal widths: pairs from the attack, one proof for all rows by halving inputs.

Rows come as those of the network h = (f, g) at one input; the certificate says the same of f at a and g at b = a. A row
that the attack shows to be violated needs no bound, and none is searched for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from smilenn.auditing.attack import Attack, Found
from smilenn.auditing.audit import Audit, audited_row, checked_rows, place_of
from smilenn.auditing.folder import ProvedRow
from smilenn.auditing.halving import Box, halve, halved_proof
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.certify.check_deep import OWN
from smilenn.domain import Domain
from smilenn.errors import SmileError

STARTS, AROUND, STEPS = 2048, 32, 24


def side_by_side(f: DeepNet, g: DeepNet) -> DeepNet:
    """h = (f, g), block by block."""
    weights = [np.vstack([f.weights[0], g.weights[0]])]
    weights += [block_diag(a, b) for a, b in zip(f.weights[1:], g.weights[1:], strict=True)]
    biases = [np.concatenate(pair) for pair in zip(f.biases, g.biases, strict=True)]
    return DeepNet(tuple(weights), tuple(biases), f.dtype, f.scaling, f"{f.source} and {g.source}")


def paired_audit(
    models: tuple[Any, Any],
    nets: Sequence[DeepNet],
    rows: Sequence[Row],
    domain: Domain,
    outputs: Sequence[str],
    time_limit: float,
    out: str | Path | None,
    seed: int,
) -> Audit:
    """Decide rows ±(f_i − g_i) ≤ ε about h, and certify what was found."""
    first, second = nets
    folder, until = place_of(first, time_limit, out), perf_counter() + time_limit
    both, start = side_by_side(first, second), perf_counter()
    found = farthest(both, rows, seed)
    paired = [_paired(row, first.sizes[-1]) for row in rows]
    proof = bytes([OWN])
    if not any(pair.value > row.rhs for pair, row in zip(found, rows, strict=True) if row.rhs is not None):
        proof = _proof(first, second, paired, until)
    seconds = (perf_counter() - start) / len(rows)
    entries = [ProvedRow(row, pair.x, b"") for row, pair in zip(paired, found, strict=True)]
    entries[0] = replace(entries[0], proof=proof)  # the others share it
    checked, check_seconds, size = checked_rows(first, outputs, entries, folder, second)
    told = [
        audited_row(both, models, ProvedRow(row, pair.x, b""), report, seconds, domain)
        for row, pair, report in zip(rows, found, checked, strict=True)
    ]
    return Audit(tuple(told), both.digest(), folder, check_seconds, size)


def farthest(both: DeepNet, rows: Sequence[Row], seed: int) -> list[Found]:
    """For every row about h an input where its left side is large: random points, then steps that grow shorter.

    Values are exact at the end only: exact sums over large networks take longer than all the rest.
    """
    rng, attack = np.random.default_rng(seed), Attack(both, rows[0], seed)
    lo, hi = attack.box[:2]
    points = _inside(attack, rng.uniform(lo, hi, (STARTS, len(lo))))
    values, weights = both(points), np.array([[float(v) for v in row.weights[0]] for row in rows])
    best = points[(values @ weights.T).argmax(axis=0)]  # [rows, m]
    for step in range(STEPS):
        size = (hi - lo) * 0.3 * 0.8**step
        near = best[:, None] + rng.normal(size=(len(rows), AROUND, len(lo))) * size
        near = np.concatenate([best[:, None], _inside(attack, near.reshape(-1, len(lo))).reshape(near.shape)], axis=1)
        choice = np.einsum("rno,ro->rn", both(near), weights).argmax(axis=1)
        best = near[np.arange(len(rows)), choice]
    found = [(row, np.stack([x, x])) for row, x in zip(rows, best, strict=True)]
    exact = [row.exact_value(both, x) for row, x in found]
    if any(value is None for value in exact):
        raise SmileError(f"No input in {both.dtype} was found that satisfies the premise of {rows[0].text!r}.")
    return [Found(value, x) for value, (_, x) in zip(exact, found, strict=True) if value is not None]


def _inside(attack: Attack, x: np.ndarray) -> np.ndarray:
    """Points of the premise near x [n, m]."""
    return attack.into_premise(x, np.zeros_like(x))[:, 0]


def _paired(row: Row, outputs: int) -> Row:
    """A row about h as one about f at the first copy and g at the second."""
    return replace(row, weights=(row.weights[0][:outputs], row.weights[0][outputs:]))


def _proof(first: DeepNet, second: DeepNet, rows: Sequence[Row], until: float) -> bytes:
    lo, hi = (np.array([float(v) for v in end[0]]) for end in (rows[0].lo, rows[0].hi))
    weights = np.array([[float(v) for v in row.weights[0]] for row in rows])
    rhs = np.array([float(row.rhs or Fraction(0)) for row in rows])
    return halved_proof(halve(first, second, weights, rhs, Box(lo, hi), until).root)
