"""Rows of JSON as inputs of the network, and its outputs as answers.

Clean cells are read here, one by one, since a data frame of one row costs more than its prediction: a number of a
numeric column, a known text of a category. Every other cell goes the way that `predict` goes, with the same result and
the same sentence where it is refused. Both ways give the same inputs; a test holds them side by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain import Domain, Feature
from smilenn.domain.absent import MISSING, fill_of
from smilenn.domain.cells import order_of
from smilenn.domain.table import EXACT
from smilenn.errors import SmileError, listed
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.reject import accepted
from smilenn.estimators.stability import stable

Estimator = SmileRegressor | SmileClassifier
Read = Callable[[Any], "float | None"]  # a cell as a number, or as a place among categories; None: ask the slow way


def may_lack(estimator: Estimator) -> frozenset[str]:
    """The columns whose cells may be missing: training saw such cells, or the model fills them."""
    found = {f.name for f in estimator.domain_.features if MISSING in f.categories}
    return frozenset(found | estimator.domain_.indicators.keys() | estimator.fill_.keys())


class Reader:
    """From rows, dictionaries by column, to inputs [n, m]."""

    def __init__(self, estimator: Estimator) -> None:
        self.estimator, self.domain = estimator, estimator.domain_
        self.columns = frozenset(self.domain.columns)
        features = [
            f for f in self.domain.features if fill_of(f) is None
        ]  # an indicator is 0 where its number is known
        self.numbers = frozenset(f.name for f in features if _is_number(f))
        self.quick = [(f.name, self.domain.slices[f.name].start, _reader(f), f) for f in features]

    def read(self, rows: Sequence[Any]) -> np.ndarray:
        """Inputs [n, m] as they are, perhaps outside the domain; a row that cannot be read is an error."""
        for number, row in enumerate(rows):
            self._check(number, row)
        found = [self._quick(row) for row in rows]
        slow = [number for number, x in enumerate(found) if x is None]
        if slow:
            self._slow(rows, found, slow)
        return np.stack(found) if found else np.zeros((0, self.domain.size))  # type: ignore[arg-type]

    def _check(self, number: int, row: Any) -> None:
        if not isinstance(row, Mapping):
            raise SmileError(f'Row {number} is not an object; give its columns by name, as in {{"income": 17.4}}.')
        if row.keys() != self.columns:
            unknown = sorted(row.keys() - self.columns)
            if unknown:
                raise SmileError(
                    f"Row {number} has {listed(unknown)}, which is not a column of the model; its columns are "
                    f"{listed(self.domain.columns)}."
                )
            raise SmileError(f"Row {number} lacks {listed(sorted(self.columns - row.keys()))}; give every column.")

    def _check_kinds(self, number: int, row: Mapping[str, Any]) -> None:
        """Refuse what no cell of a table is: a list, an object, and a truth value where a number is asked for."""
        for name in self.domain.columns:
            wanted = "number" if name in self.numbers else "value"
            if isinstance(row[name], (list, dict)):
                kind = "a list" if isinstance(row[name], list) else "an object"
                raise SmileError(f"Row {number}, column {name!r} holds {kind}; give one {wanted}.")
            if isinstance(row[name], bool) and name in self.numbers:
                raise SmileError(f"Row {number}, column {name!r} holds a truth value; give a number.")

    def _quick(self, row: Mapping[str, Any]) -> np.ndarray | None:
        x = np.zeros(self.domain.size)
        for name, start, read, feature in self.quick:
            value = None if read is None else read(row[name])
            if value is None:
                return None
            if feature.kind == "category":
                x[start + int(value)] = 1.0
            else:
                x[start] = value
        return x

    def _slow(self, rows: Sequence[Mapping[str, Any]], found: list[np.ndarray | None], places: Sequence[int]) -> None:
        """By a data frame of one row each: what a cell means must not depend on its neighbours."""
        for number in places:
            self._check_kinds(number, rows[number])
            cells = {name: pd.Series([rows[number][name]], dtype=object) for name in self.domain.columns}
            try:
                frame = pd.DataFrame(cells).infer_objects()
            except UnicodeEncodeError:  # half of a pair of surrogates, which JSON can write
                raise SmileError(f"Row {number} holds a text that is no Unicode; correct the cell.") from None
            found[number] = self.estimator.read_rows(frame, first_row=number)[0]


def _reader(feature: Feature) -> Read | None:
    """The quick way to read a cell of a feature, if it has one."""
    if feature.columns or order_of(feature):
        return None  # a category that comes as several columns, or names that are whole numbers to the network
    if feature.categories:
        places = {text: place for place, text in enumerate(feature.categories)}
        return lambda cell: places.get(cell) if type(cell) is str else None
    return {"continuous": _number, "integer": _whole, "binary": _bit}[feature.kind]


def _is_number(feature: Feature) -> bool:
    """Whether a feature's cells are numbers, more than 0 and 1, which truth values stand for too."""
    return feature.kind in ("continuous", "integer") and not feature.categories and not order_of(feature)


def _number(cell: Any) -> float | None:
    if type(cell) is float:
        return cell if math.isfinite(cell) else None
    return float(cell) if type(cell) is int and abs(cell) < EXACT else None


def _whole(cell: Any) -> float | None:
    value = _number(cell)
    return value if value is not None and value == round(value) else None


def _bit(cell: Any) -> float | None:
    return float(cell) if type(cell) in (int, float) and cell in (0, 1) else None


def moved(domain: Domain, x: np.ndarray) -> list[list[str]]:
    """For each row of x [n, m] the columns whose value lies outside the domain."""
    outside = (x < domain.lo) | (x > domain.hi)
    return [[domain.coordinates[int(i)] for i in np.flatnonzero(row)] for row in outside]


class Answers:
    """From outputs to what a caller is told, each row by itself."""

    def __init__(self, estimator: Estimator) -> None:
        self.estimator, self.change = estimator, None
        self.names = estimator.outputs_.names
        self.radii: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
        if isinstance(estimator, SmileClassifier) and estimator.changing_claims():
            self.change, self.radii = estimator.largest_changes(), estimator.radius_rules()

    @property
    def rejects(self) -> bool:
        """Whether an answer says if `predict_or_reject` would give it."""
        return self.change is not None and self.estimator.task != "multilabel"

    def of(self, outputs: np.ndarray, edges: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
        """The answers for outputs [n, o] of rows whose columns `edges` were moved to the edge of the domain."""
        values = outputs[:, 0] if outputs.shape[1] == 1 else outputs
        parts = self._classes(values) if isinstance(self.estimator, SmileClassifier) else self._numbers(outputs)
        return [part | {"moved": list(edge)} for part, edge in zip(parts, edges, strict=True)]

    def _numbers(self, outputs: np.ndarray) -> list[dict[str, Any]]:
        if outputs.shape[1] == 1:
            return [{"prediction": value} for value in outputs[:, 0].tolist()]
        return [{"prediction": dict(zip(self.names, row, strict=True))} for row in outputs.tolist()]

    def _classes(self, logits: np.ndarray) -> list[dict[str, Any]]:
        model = self.estimator
        assert isinstance(model, SmileClassifier)
        decided, sure = model.decided(logits).tolist(), model.probabilities(logits).tolist()
        beside = {name: values.tolist() for name, values in self._beside(logits).items()}
        classes = self.names if model.task == "multilabel" else model.outputs_.classes
        out = []
        for k in range(len(logits)):
            answer: dict[str, Any] = {"prediction": decided[k]}
            if model.task == "multilabel":
                answer["prediction"] = dict(zip(classes, decided[k], strict=True))
            answer["probability"] = dict(zip(classes, sure[k], strict=True))
            if model.task == "binary":
                answer["probability"] = answer["probability"][model.positive_class]
            out.append(answer | {name: values[k] for name, values in beside.items()})
        return out

    def _beside(self, logits: np.ndarray) -> dict[str, np.ndarray]:
        """What is certified of each row: its label, whether it is accepted, how far it may move."""
        if self.change is None:
            return {}
        margins = self.estimator.task == "multiclass"
        found = {"certified": stable(logits, self.change, margins=margins)}
        if self.rejects:
            found["accepted"] = accepted(logits, self.change, margins=margins)
        return found | {name: rule(logits) for name, rule in self.radii.items()}
