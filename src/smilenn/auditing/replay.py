"""A pair of inputs, computed again: in exact arithmetic, in the network's type from left to right, in onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from smilenn.auditing.network import DeepNet
from smilenn.auditing.onnx_file import run_onnx
from smilenn.auditing.rows import Row


def replays(net: DeepNet, model: Any, row: Row, x: np.ndarray) -> dict[str, float]:
    """The left side at x [2, m], by what computed the outputs; outputs are added up exactly."""
    exact = row.exact_value(net, x)
    out = {} if exact is None else {"exact": float(exact)}
    return out | {name: float(row.left(outputs)) for name, outputs in computed(net, model, x).items()}


def computed(net: DeepNet, model: Any, x: np.ndarray) -> dict[str, Sequence[Sequence[Fraction]]]:
    """The outputs of both copies at x [2, m] as the network's type and its runtime have them."""
    found = {net.dtype: np.stack([net.in_order(copy) for copy in x])}
    run = _run(model, x)
    if run is not None:
        found["onnxruntime"] = run
    return {name: [[Fraction(float(v)) for v in copy] for copy in outputs] for name, outputs in found.items()}


def _run(model: Any, x: np.ndarray) -> np.ndarray | None:
    """The outputs [2, o] of an ONNX file, or of two beside each other, in onnxruntime; None without it."""
    if isinstance(model, tuple):
        parts = [_run(one, x) for one in model]
        return None if any(part is None for part in parts) else np.concatenate(parts, axis=1)  # type: ignore[arg-type]
    return run_onnx(model, x) if isinstance(model, (str, Path)) else None
