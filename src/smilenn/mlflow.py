"""Models in MLflow: saved, logged and loaded as folders of weights and JSON, never as pickles (extra `mlflow`).

    smilenn.mlflow.log_model(model, name="credit")      in a run, with signature, input example, certificate and card
    mlflow.pyfunc.load_model("models:/…")               anywhere: the folder's hashes and certificate are checked anew

The model folder is the data of a `pyfunc` model whose loader is this module: MLflow treats it as any other of its kind.
An altered folder is refused when it is loaded, and so are a card and a statement that are not those that were logged.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mlflow.pyfunc
import numpy as np
import pandas as pd
from mlflow.artifacts import download_artifacts
from mlflow.models import Model, ModelSignature
from mlflow.types import ColSpec, DataType, Schema, TensorSpec

from smilenn._version import __version__
from smilenn.domain import Domain, Feature
from smilenn.domain.absent import fill_of
from smilenn.domain.cells import PERCENT, order_of, origin_of
from smilenn.domain.written import style_in
from smilenn.errors import AlteredError, SmileError
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.store import load

Estimator = SmileRegressor | SmileClassifier
FOLDER, CARD, STATEMENT = "model", "card.md", "statement.txt"
PAPERS = "papers"  # in MLmodel: hashes of card and statement
COMPARED = ("certified", "certificate")  # facts of MLmodel that a loaded model is held against
REQUIREMENTS = (f"smilenn=={__version__}",)
KINDS = {"continuous": DataType.double, "integer": DataType.long, "binary": DataType.long}


def save_model(model: Estimator, path: Path | str, **options: Any) -> None:
    """Save a fitted model as an MLflow model in a new folder; options are those of `mlflow.pyfunc.save_model`."""
    with _staged(model) as data:
        given = _completed(model, options, data)
        mlflow.pyfunc.save_model(path, loader_module=__name__, data_path=str(data), **given)


def log_model(model: Estimator, name: str = "model", **options: Any) -> Any:
    """Log a fitted model in the active run; options are those of `mlflow.pyfunc.log_model`."""
    with _staged(model) as data:
        given = _completed(model, options, data)
        return mlflow.pyfunc.log_model(name=name, loader_module=__name__, data_path=str(data), **given)


def load_model(uri: str) -> Estimator:
    """The estimator itself, loaded from an MLflow model and checked."""
    folder = Path(download_artifacts(uri))
    described = Model.load(str(folder)).flavors.get("python_function", {})
    if described.get("loader_module") != __name__:
        raise SmileError(f"{uri!r} was not saved by smilenn.mlflow; load it with mlflow.pyfunc.load_model.")
    return _as_logged(folder / described["data"])


def signature(model: Estimator) -> ModelSignature:
    """Columns of the model with their types, and what `predict` returns."""
    read = [feature for feature in model.domain_.features if fill_of(feature) is None]
    columns: list[ColSpec | TensorSpec] = [spec for f in read for spec in _specs(f, f.name in model.domain_.indicators)]
    if isinstance(model, SmileClassifier) and model.task != "multilabel":
        kind = DataType.long if np.issubdtype(model.classes_.dtype, np.integer) else DataType.string
        out: list[ColSpec | TensorSpec] = [ColSpec(kind, "prediction")]
    else:
        names = model.outputs_.names if len(model.outputs_.names) > 1 else ("prediction",)
        kind = DataType.long if isinstance(model, SmileClassifier) else DataType.double
        out = [ColSpec(kind, name) for name in names]
    return ModelSignature(inputs=Schema(columns), outputs=Schema(out))


def _specs(feature: Feature, lacks: bool) -> list[ColSpec]:
    """The columns of a feature with their types; whole numbers of MLflow's cannot be missing (`lacks`)."""
    if feature.columns:
        return [ColSpec(DataType.long, name) for name in feature.columns]
    if feature.categories or order_of(feature) or feature.unit == PERCENT or style_in(feature.unit):
        return [ColSpec(DataType.string, feature.name)]
    if origin_of(feature) is not None:
        return [ColSpec(DataType.datetime, feature.name)]
    return [ColSpec(DataType.double if lacks else KINDS[feature.kind], feature.name)]


def _example(domain: Domain) -> pd.DataFrame:
    """A row of the domain that lacks nothing, its cells as the signature types them."""
    x = domain.sample(1, np.random.default_rng(0))
    x[:, [place for _, place, _ in domain.absent]] = 0.0
    row = domain.decode(x)
    for feature in domain.features:
        if (origin := origin_of(feature)) is not None:
            row[feature.name] = (origin + pd.to_timedelta(row[feature.name], unit="D")).dt.round("us")
        elif feature.unit == PERCENT:
            row[feature.name] = [f"{cell!r}{PERCENT}" for cell in row[feature.name].tolist()]
        elif style_in(feature.unit):
            row[feature.name] = [f"{cell:.0f}" for cell in row[feature.name].tolist()]
        elif feature.name in domain.indicators and feature.kind == "integer" and not order_of(feature):
            row[feature.name] = row[feature.name].astype(float)
    return row


def _completed(model: Estimator, options: Mapping[str, Any], data: Path) -> dict[str, Any]:
    """What the caller does not say: signature, an example row, requirements, facts of the certificate, hashes of the
    papers in `data`.
    """
    defaults = {
        "signature": signature(model),
        "input_example": _example(model.domain_),
        "pip_requirements": list(REQUIREMENTS),
    }
    metadata = dict(options.get("metadata") or {}) | _facts(model) | {PAPERS: _hashes(data)}
    return defaults | dict(options) | {"metadata": metadata}


def _hashes(data: Path) -> dict[str, str]:
    """SHA-256 of card and statement, which lie beside the folder that has hashes of its own."""
    found = [data / name for name in (CARD, STATEMENT) if (data / name).is_file()]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def _facts(model: Estimator) -> dict[str, Any]:
    """What MLflow notes of the model; nobody else's word on it counts."""
    found = model.certificate_
    return {
        "smilenn": __version__,
        "verdict": model.verdict_.sentence(),
        "certified": found is not None and found.accepted,
        "certificate": None if found is None else found.sha256,
    }


@contextmanager
def _staged(model: Estimator) -> Iterator[Path]:
    """A folder with the model, its card and its statement, gone afterwards."""
    if not isinstance(model, SmileEstimator):
        raise SmileError(f"smilenn.mlflow saves smilenn's estimators, not a {type(model).__name__}.")
    place = Path(tempfile.mkdtemp())
    try:
        data = place / "smilenn"
        data.mkdir()
        model.save(data / FOLDER)
        model.report(None, card=data / CARD)
        if model.certificate_ is not None:
            (data / STATEMENT).write_text(model.certificate_.statement, encoding="utf-8")
        yield data
    finally:
        shutil.rmtree(place, ignore_errors=True)


class _Predicts:
    """What MLflow calls."""

    def __init__(self, model: Estimator) -> None:
        self.model = model

    def predict(self, data: Any, params: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """A data frame of predictions, named as in the signature."""
        model, outputs = self.model, self.model.outputs(data)
        if isinstance(model, SmileRegressor):
            values: np.ndarray = outputs
        else:
            values = model.decided(outputs)
        names = model.outputs_.names if values.ndim == 2 else ("prediction",)
        return pd.DataFrame(values.reshape(len(values), -1), columns=list(names))


def _load_pyfunc(path: str) -> _Predicts:
    """Called by MLflow with the data of a model: the folder is checked, and refused if it was altered."""
    return _Predicts(_as_logged(Path(path)))


def _as_logged(data: Path) -> Estimator:
    """The model in a folder of MLflow's, if what stands beside it is what was checked just now.

    Otherwise a folder with another model, or without its certificate, would be served under the words of the first.
    """
    model, beside = load(data / FOLDER), data / STATEMENT
    found = model.certificate_
    said = beside.read_text(encoding="utf-8") if beside.is_file() else None
    if said != (None if found is None else found.statement):
        raise AlteredError(f"{str(beside)!r} is not the statement of the model beside it; log the model again.")
    root = data.parent.parent  # of MLflow's data/smilenn
    noted = (Model.load(str(root)).metadata or {}) if (root / "MLmodel").is_file() else {}
    if any(noted.get(key, fact) != fact for key, fact in _facts(model).items() if key in COMPARED):
        raise AlteredError(f"{str(root / 'MLmodel')!r} notes another certificate than the model has; log it again.")
    if noted.get(PAPERS, _hashes(data)) != _hashes(data):
        raise AlteredError(
            f"{CARD} or {STATEMENT} in {str(data)!r} is not the one that was logged; log the model again."
        )
    return model
