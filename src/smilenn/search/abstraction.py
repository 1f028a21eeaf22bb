"""CEProp and Resolved: counterexamples that stay meaningful while the weights move.

A counterexample's embeddings lie at vertices of their boxes. Stored as numbers they would leave the box at the next
gradient step; stored as *which bound each coordinate takes* they move with it (the paper's abstraction step). With
v_c = a_c·G the worst vertex is known without looking at an embedding:

    z_ci = upper_i(u_c) if v_ci > 0 else lower_i(u_c)
    violation = Σ_c a_c·(G z_c + g_0) + b_c·x_c − rhs

At the weights of the moment this is `Problem.value`. The paper reads the vertex off the solver's incumbent and sends
whatever is not at the lower bound to the upper one; a solver that ran out of time need not have stopped at a vertex, so
only its inputs u are used here. "Upper" is the resolved upper bound: max(lower, second) for the paper's free pair.

`resolved` leaves out the multiplier λ, which starts at zero and would call every first counterexample resolved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from smilenn.problem import Problem

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class Abstraction:
    """B abstracted counterexamples of one claim; k copies, m coordinates, n embedding sizes, o outputs.

    Attributes
    ----------
    u : [B, k, m] inputs, model units.
    upper : [B, k, n] bool, which bound each coordinate of the embedding takes.
    row : [B] index into `Problem.rows`.
    outputs : a [B, k, o].
    inputs : [B] the claim's input terms Σ_c b_c·x_c at u.
    rhs : [B].
    """

    u: np.ndarray
    upper: np.ndarray
    row: np.ndarray
    outputs: np.ndarray
    inputs: np.ndarray
    rhs: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, index: slice | Sequence[int] | np.ndarray) -> Abstraction:
        return Abstraction(*(getattr(self, field.name)[index] for field in fields(self)))


def abstract(problem: Problem, row: int | np.ndarray, u: np.ndarray) -> Abstraction:
    """CEProp: the vertices of tuples u [B, k, m] from the signs of the head; `row` is one index or [B] of them."""
    which = np.broadcast_to(np.asarray(row, dtype=int), len(u)).copy()
    outputs = np.stack([r.outputs for r in problem.rows])[which]  # [B, k, o]
    inputs = np.einsum("bkm,bkm->b", u, np.stack([r.inputs for r in problem.rows])[which])
    return Abstraction(
        u,
        outputs @ problem.snapshot.head_weight > 0,
        which,
        outputs,
        inputs + np.array([r.input_const for r in problem.rows])[which],
        np.array([r.rhs for r in problem.rows])[which],
    )


def values(abstraction: Abstraction, problem: Problem) -> np.ndarray:
    """Violations [B] of the stored vertices at the weights of `problem`, which may have moved since."""
    s = problem.snapshot
    lower, upper = s.box(abstraction.u)
    y = np.where(abstraction.upper, upper, lower) @ s.head_weight.T + s.head_bias  # [B, k, o]
    return np.einsum("bko,bko->b", abstraction.outputs, y) + abstraction.inputs - abstraction.rhs


def violation(
    abstraction: Abstraction,
    lower: torch.Tensor,
    upper: torch.Tensor,
    head_weight: torch.Tensor,
    head_bias: torch.Tensor,
) -> torch.Tensor:
    """`values` as a differentiable function of the network's own tensors, [B].

    Parameters
    ----------
    lower, upper : [B, k, n] bounds at `abstraction.u`; upper resolved, as `select` does it (≥ lower).
    head_weight, head_bias : G [o, n] and g_0 [o].
    """
    import torch

    def tensor(array: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(array, dtype=lower.dtype, device=lower.device)

    z = torch.where(torch.as_tensor(abstraction.upper, device=lower.device), upper, lower)
    y = z @ head_weight.T + head_bias
    return (tensor(abstraction.outputs) * y).sum(dim=(1, 2)) + tensor(abstraction.inputs - abstraction.rhs)


def resolved(violation: float | np.ndarray | torch.Tensor | None) -> bool:
    """Whether nothing is left to repair: no counterexample (None or none in the batch), or all violations ≤ 0.

    A violation that is not a number is not resolved.

    >>> resolved(None), resolved(-0.1), resolved(0.0), resolved(0.2)
    (True, True, True, False)
    """
    if violation is None or isinstance(violation, (float, int)):
        return violation is None or violation <= 0
    return bool((violation <= 0).all())
