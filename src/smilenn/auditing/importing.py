"""Networks of other libraries: one table from a model's type to its reader.

A classifier is audited at its last linear layer: the logit of two classes, one logit a class of more.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from torch import nn

from smilenn.auditing.network import DeepNet, Dtype, Step
from smilenn.auditing.onnx_file import read_onnx
from smilenn.errors import SmileError

Scaling = list[tuple[Step, np.ndarray]]


def read_network(model: Any) -> DeepNet:
    """A network from an ONNX file's path, a torch Sequential, a scikit-learn MLP or a pipeline that ends in one."""
    for kind, reader in READERS.items():
        if isinstance(model, kind):
            return reader(model)
    known = "an ONNX file, torch.nn.Sequential, MLPClassifier, MLPRegressor or a Pipeline that ends in one"
    raise SmileError(f"A {type(model).__name__} cannot be audited; give {known}.")


def _path(model: str | Path) -> DeepNet:
    if not Path(model).is_file():
        raise SmileError(f"There is no file {str(model)!r}; give the path of an ONNX file.")
    return read_onnx(model)


def _sequential(model: nn.Sequential) -> DeepNet:
    weights, biases, linear = [], [], False
    for place, part in enumerate(model):
        what = f"Part {place} of the Sequential, {type(part).__name__},"
        match part:
            case nn.Linear() if linear:
                raise SmileError(f"{what} follows another Linear; put a ReLU between them.")
            case nn.Linear():
                weights.append(_array(part.weight))
                biases.append(np.zeros(len(weights[-1]), weights[-1].dtype) if part.bias is None else _array(part.bias))
                linear = True
            case nn.ReLU() if linear:
                linear = False
            case nn.ReLU():
                raise SmileError(f"{what} does not follow a Linear.")
            case nn.Identity() | nn.Flatten() | nn.Dropout():
                pass
            case _:
                raise SmileError(f"{what} is not supported; chains of Linear and ReLU are read.")
    if not linear:
        raise SmileError("The Sequential does not end in a Linear; leave out its last activation.")
    return DeepNet(tuple(weights), tuple(biases), _dtype(weights + biases), (), "torch.nn.Sequential")


def _array(parameter: Any) -> np.ndarray:
    return parameter.detach().cpu().numpy()


def _dtype(arrays: list[np.ndarray]) -> Dtype:
    kinds = {array.dtype.name for array in arrays}
    if kinds == {"float32"}:
        return "float32"
    if kinds == {"float64"}:
        return "float64"
    raise SmileError(f"The network holds numbers of the types {sorted(kinds)}; use float32 or float64 alone.")


def _mlp(model: MLPClassifier | MLPRegressor, scaling: Scaling | None = None) -> DeepNet:
    layers = getattr(model, "coefs_", None)
    if layers is None:
        raise SmileError(f"This {type(model).__name__} is not fitted; call fit first.")
    if model.activation != "relu":
        raise SmileError(f"This {type(model).__name__} has the activation {model.activation!r}; 'relu' is audited.")
    if model.out_activation_ not in ("identity", "logistic", "softmax"):
        raise SmileError(f"This {type(model).__name__} ends in {model.out_activation_!r}; that is not audited.")
    weights, biases = [np.asarray(w).T for w in layers], [np.asarray(b) for b in model.intercepts_]
    steps = [] if scaling is None else scaling
    kind = _dtype([*weights, *biases, *(k for _, k in steps)])
    return DeepNet(tuple(weights), tuple(biases), kind, tuple(steps), f"sklearn {type(model).__name__}")


def _pipeline(model: Pipeline) -> DeepNet:
    steps: Scaling = []
    *scalers, last = [part for _, part in model.steps]
    if not isinstance(last, (MLPClassifier, MLPRegressor)):
        raise SmileError(f"The pipeline ends in a {type(last).__name__}; an MLPClassifier or MLPRegressor is audited.")
    for scaler in scalers:
        match scaler:
            case StandardScaler():
                if scaler.with_mean:
                    steps.append(("sub", np.asarray(scaler.mean_)))
                if scaler.with_std:
                    steps.append(("div", np.asarray(scaler.scale_)))
            case MinMaxScaler(clip=False):
                steps.append(("mul", np.asarray(scaler.scale_)))
                steps.append(("add", np.asarray(scaler.min_)))
            case "passthrough":
                pass
            case _:
                raise SmileError(
                    f"The pipeline holds a {type(scaler).__name__}; StandardScaler and MinMaxScaler are read."
                )
    return _mlp(last, steps)


READERS: dict[Any, Callable[[Any], DeepNet]] = {
    (str, Path): _path,
    nn.Sequential: _sequential,
    (MLPClassifier, MLPRegressor): _mlp,
    Pipeline: _pipeline,
}
