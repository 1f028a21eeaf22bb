"""Arrays as tensors on the network's device, checked: shapes, finite values, targets that a loss can read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from smilenn.errors import SmileError
from smilenn.model.net import SmileNet
from smilenn.train.losses import LossKind, decides


def checked_rows(
    net: SmileNet, x: np.ndarray, y: np.ndarray, loss: LossKind, what: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs [N, m] and targets [N, o] as tensors on the network's device, checked."""
    if len(x) == 0 or len(x) != len(y):
        raise SmileError(
            f"Got {len(x)} {what} rows of inputs and {len(y)} of targets; both must match and not be empty."
        )
    inputs = _checked(x, net.domain.coordinates, f"{what} inputs", net)
    targets = _checked(y, [name or "target" for name in net.outputs], f"{what} targets", net)
    if decides(loss) and not bool(((targets >= 0) & (targets <= 1)).all()):
        raise SmileError(f"The {what} targets of a classifier must lie between 0 and 1; encode the classes first.")
    return inputs, targets


def checked_weights(weight: np.ndarray | None, rows: int, net: SmileNet) -> torch.Tensor | None:
    """Weights [N] of the rows, one each; None where there are none."""
    if weight is None:
        return None
    if len(weight) != rows:
        raise SmileError(f"Got {rows} rows and {len(weight)} weights; give one weight per row.")
    return _checked(weight, ["weight"], "weights", net)[:, 0]


def _checked(values: np.ndarray, columns: Sequence[str], what: str, net: SmileNet) -> torch.Tensor:
    array = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    if array.shape[1] != len(columns):
        raise SmileError(f"The {what} have {array.shape[1]} columns; expected {len(columns)}.")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        raise SmileError(
            f"Row {row} of the {what}, column {columns[column]!r}, is not finite; drop the row or fill the value in."
        )
    return torch.tensor(array, device=net.shift.device)
