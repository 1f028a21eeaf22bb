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
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.seal import altered, reworked

Scaling = list[tuple[Step, np.ndarray]]


def read_network(model: Any) -> DeepNet:
    """A network from an ONNX file's path, a torch Sequential, a scikit-learn MLP or a pipeline that ends in one.

    Types must be exactly these: a subclass, a hook or a method replaced may compute something else.
    """
    for kinds, reader in READERS.items():
        if isinstance(model, Path) or type(model) in kinds:
            return reader(model)
    known = "an ONNX file, torch.nn.Sequential, MLPClassifier, MLPRegressor or a Pipeline that ends in one"
    raise SmileError(f"A {type(model).__name__} cannot be audited; give {known}.")


def _path(model: str | Path) -> DeepNet:
    if not Path(model).is_file():
        raise SmileError(f"There is no file {str(model)!r}; give the path of an ONNX file.")
    return read_onnx(model)


def _sequential(model: nn.Sequential) -> DeepNet:
    weights, biases, linear = [], [], False
    _refuse_altered(model, "The Sequential")
    for place, part in enumerate(model):
        what = f"Part {place} of the Sequential, {type(part).__name__},"
        if type(part) not in PARTS:
            raise SmileError(f"{what} is not supported; chains of Linear and ReLU are read.")
        _refuse_altered(part, what)
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
            case _:
                _check_passed(part, what)
    if not linear:
        raise SmileError("The Sequential does not end in a Linear; leave out its last activation.")
    return DeepNet(tuple(weights), tuple(biases), _dtype(weights + biases), (), "torch.nn.Sequential")


def _refuse_altered(part: nn.Module, what: str) -> None:
    if altered(part):
        raise SmileError(f"{what} has a hook or a method of its own, which no audit reads; remove it.")


def _check_passed(part: nn.Module, what: str) -> None:
    """Refuse a part that is passed over but changes a row."""
    if isinstance(part, nn.Flatten) and (part.start_dim, part.end_dim) != (1, -1):
        raise SmileError(f"{what} does not flatten rows as they are; flatten from axis 1 to the last.")
    if isinstance(part, nn.Dropout) and part.training and part.p > 0:
        raise SmileError(f"{what} drops units at random; switch the network to evaluation first.")


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
    _as_made(model)
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
    *scalers, last = [part for _, part in model.steps]
    for part in (model, *scalers):
        _as_made(part)
    if type(last) not in (MLPClassifier, MLPRegressor):
        raise SmileError(f"The pipeline ends in a {type(last).__name__}; an MLPClassifier or MLPRegressor is audited.")
    return _mlp(last, [step for scaler in scalers for step in _scaling(scaler)])


def _scaling(scaler: Any) -> Scaling:
    """The steps of a scaler."""
    if type(scaler) not in (StandardScaler, MinMaxScaler, str):
        raise SmileError(f"The pipeline holds a {type(scaler).__name__}; StandardScaler and MinMaxScaler are read.")
    match scaler:
        case StandardScaler():
            shift: Scaling = [("sub", np.asarray(scaler.mean_))] if scaler.with_mean else []
            return [*shift, ("div", np.asarray(scaler.scale_))] if scaler.with_std else shift
        case MinMaxScaler(clip=False):
            return [("mul", np.asarray(scaler.scale_)), ("add", np.asarray(scaler.min_))]
        case "passthrough":
            return []
    raise SmileError(f"The pipeline holds the step {scaler!r}; StandardScaler and MinMaxScaler are read.")


def _as_made(part: Any) -> None:
    """Refuse a part of scikit-learn with a method of its own."""
    if not isinstance(part, str) and reworked(part):  # a text: 'passthrough'
        raise SmileError(f"This {type(part).__name__} has a method of its own, which no audit reads; remove it.")


def check_names(model: Any, domain: Domain) -> None:
    """Refuse a domain whose inputs stand in another order than the columns that the model was fitted on.

    The model reads by place, sentences are about names: 'age' would be what the model knows as 'income'.
    """
    parts = [part for _, part in model.steps] if isinstance(model, Pipeline) else [model]
    fitted = (getattr(part, "feature_names_in_", None) for part in parts)  # a first step 'passthrough' has none
    known = next(([str(name) for name in names] for names in fitted if names is not None), [])
    for place, name in enumerate(domain.coordinates):
        if name in known and known.index(name) != place:
            raise SmileError(
                f"The model was fitted with {name!r} as column {known.index(name) + 1}, but it is input {place + 1} of "
                "the domain; give the domain in the order of the model's columns."
            )


PARTS = (nn.Linear, nn.ReLU, nn.Identity, nn.Flatten, nn.Dropout)
READERS: dict[tuple[type, ...], Callable[[Any], DeepNet]] = {
    (str,): _path,
    (nn.Sequential,): _sequential,
    (MLPClassifier, MLPRegressor): _mlp,
    (Pipeline,): _pipeline,
}
