"""A pair of inputs, computed again: in exact arithmetic, in the network's type from left to right, in onnxruntime."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from smilenn.auditing.network import DeepNet
from smilenn.auditing.onnx_file import run_onnx
from smilenn.auditing.rows import Row


def replays(net: DeepNet, model: Any, row: Row, x: np.ndarray) -> dict[str, float]:
    """The left side at x [2, m], by what computed the outputs; outputs are added up exactly."""

    def left(outputs: np.ndarray) -> float:
        return float(row.left([[Fraction(float(v)) for v in copy] for copy in outputs]))

    exact = row.exact_value(net, x)
    out = {} if exact is None else {"exact": float(exact)}
    out[net.dtype] = left(np.stack([net.in_order(copy) for copy in x]))
    if isinstance(model, (str, Path)):
        computed = run_onnx(model, x)
        if computed is not None:
            out["onnxruntime"] = left(computed)
    return out
