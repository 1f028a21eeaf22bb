"""An exported model held against the model itself, in onnxruntime: on rows of the domain and around its thresholds.

A third of the rows is uniform in the domain, a third lies at values where something changes (ends of the domain, knots
of ramps, thresholds of trees, in raw units) or one float beside them, a third mixes both, a column each. Some more rows
are not of the domain (`odd`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.export.odd import odd_rows, wanted
from smilenn.model.encoders.encoder import Branch
from smilenn.model.encoders.layers import Ramps
from smilenn.model.encoders.trees import Trees

BATCH = 8192
ODD = 200  # rows that are not of the domain, each read by itself
MOST_KNOTS = 512


@dataclass(frozen=True)
class Agreement:
    """The largest differences found on so many rows: of outputs, of probabilities; how many decisions differ, and for
    how many rows one of the two gives a number and the other none. `odd` rows are not of the domain.
    """

    rows: int
    outputs: float
    probability: float
    decisions: int
    refused: int = 0
    odd: int = 0

    def sentence(self) -> str:
        """What was compared."""
        bits = "the same bits" if self.outputs == 0 else f"outputs differ by at most {self.outputs:.2g}"
        more = f", probabilities by at most {self.probability:.2g}" if self.probability else ""
        turned = f", {self.decisions} decisions differ" if self.decisions else ""
        odd = f", and {self.odd} outside the domain or with unknown or missing cells" if self.odd else ""
        return f"measured on {self.rows} rows in onnxruntime{odd}: {bits}{more}{turned}"


def session(data: bytes) -> Any:
    """The model in onnxruntime, in one thread."""
    try:
        import onnxruntime
    except ImportError as error:
        raise SmileError("Comparing needs onnxruntime; install it with: pip install 'smilenn[onnx]'.") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def feed(opened: Any, frame: pd.DataFrame) -> dict[str, np.ndarray]:
    """The columns of a table as an exported model wants them: missing numbers NaN, missing texts empty."""
    kinds = {"tensor(double)": np.float64, "tensor(int64)": np.int64}
    out = {}
    for column in opened.get_inputs():
        cell = frame[column.name]
        if column.type == "tensor(string)":
            texts = ["" if missing else str(value) for value, missing in zip(cell, cell.isna(), strict=True)]
            out[column.name] = np.array(texts, dtype=object)[:, None]
        else:
            out[column.name] = cell.to_numpy(dtype=kinds[column.type])[:, None]
    return out


def compare(model: SmileRegressor | SmileClassifier, data: bytes, rows: int, seed: int) -> Agreement:
    """Run both on so many rows."""
    opened, rng = session(data), np.random.default_rng(seed)
    x = sampled(model, rows, rng)
    worst, unsure, turned, refused = 0.0, 0.0, 0, 0
    for at in range(0, len(x), BATCH):
        part = x[at : at + BATCH]
        found = opened.run(None, feed(opened, model.domain_.decode(part)))
        own = model.outputs_at(part).reshape(len(part), -1)
        outputs = found[-1] if isinstance(model, SmileClassifier) else found[0]
        refused += _one_alone(own, outputs)  # a difference to NaN exceeds nothing
        worst = max(worst, _apart(own, outputs))
        if isinstance(model, SmileClassifier):
            logits = own[:, 0] if own.shape[1] == 1 else own
            unsure = max(unsure, float(np.abs(model.probabilities(logits) - found[1]).max(initial=0.0)))
            decided = _called(model, model.decided(logits)).reshape(len(part), -1)
            turned += int((decided.astype(str) != found[0].astype(str)).any(axis=1).sum())
    odd = odd_rows(model, min(ODD, rows), rng)
    own, outputs = (
        wanted(model, odd),
        opened.run(None, feed(opened, odd))[-1 if isinstance(model, SmileClassifier) else 0],
    )
    return Agreement(
        len(x), max(worst, _apart(own, outputs)), unsure, turned, refused + _one_alone(own, outputs), len(odd)
    )


def _apart(own: np.ndarray, outputs: np.ndarray) -> float:
    return float(np.fmax.reduce(np.abs(own - outputs), axis=None, initial=0.0))


def _one_alone(own: np.ndarray, outputs: np.ndarray) -> int:
    """For how many rows one of the two has no number where the other has one."""
    return int((np.isnan(own) != np.isnan(outputs)).any(axis=1).sum())


def _called(model: SmileClassifier, decided: np.ndarray) -> np.ndarray:
    """Decisions as a graph calls them: whole numbers as they are, other classes by their names."""
    if model.task == "multilabel" or np.issubdtype(model.classes_.dtype, np.integer):
        return decided
    return np.array(model.outputs_.classes)[np.searchsorted(model.classes_, decided)]


def sampled(model: SmileRegressor | SmileClassifier, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Inputs [rows, m] of the domain: uniform, at places where something changes, and mixed."""
    domain = model.domain_
    x = domain.sample(rows, rng)
    edges = _edges(model)
    for feature in domain.features:
        values = edges.get(feature.name)
        if feature.kind == "category" or values is None:
            continue
        place = domain.slices[feature.name].start
        third = rows // 3
        at = np.concatenate(
            [np.arange(third, 2 * third), 2 * third + np.flatnonzero(rng.random(rows - 2 * third) < 0.5)]
        )
        x[at, place] = rng.choice(values, len(at))
    return domain.settled(x)


def _edges(model: SmileRegressor | SmileClassifier) -> dict[str, np.ndarray]:
    """Values of every numeric feature where something changes, and the floats beside them, inside the domain."""
    domain = model.domain_
    found: dict[int, list[float]] = {i: [] for i in range(domain.size)}
    encoder = model.net_.encoder
    for branch in () if encoder is None else encoder.branches:
        if isinstance(branch, Branch) and len(branch.layers):
            for column, value in _thresholds(branch):
                found[branch.columns[column]].append(value)
    return {f.name: _around(domain, f, found[domain.slices[f.name].start]) for f in domain.features}


def _thresholds(branch: Branch) -> list[tuple[int, float]]:
    """Columns of a branch with values in model units where its first layer changes."""
    layer = branch.layers[0]
    if isinstance(layer, Ramps):
        ends = layer.start + 1 / layer.rate
        both = [*zip(layer.source, layer.start.tolist(), strict=True), *zip(layer.source, ends.tolist(), strict=True)]
        return both[:MOST_KNOTS]
    if isinstance(layer, Trees):
        pairs = zip(layer.split.long().tolist(), layer.number.tolist(), strict=True)
        return [(asked, value) for asked, value in pairs if 0 <= asked < layer.inputs][:MOST_KNOTS]
    return []


def _around(domain: Domain, feature: Feature, units: list[float]) -> np.ndarray:
    """The values in raw units with their neighbours, and the ends of the range."""
    if feature.kind == "category":
        return np.zeros(0)
    raw = np.array([v / feature.mult + feature.shift for v in units] + [feature.lo, feature.hi])
    if feature.kind != "continuous":
        raw = np.concatenate([np.floor(raw), np.ceil(raw)])
    else:
        raw = np.concatenate([raw, np.nextafter(raw, np.inf), np.nextafter(raw, -np.inf)])
    return np.unique(np.clip(raw, feature.lo, feature.hi))
