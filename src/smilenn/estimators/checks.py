"""Checks of what `fit` and `predict` are given, in scikit-learn's words where its users look for them."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain import as_array, as_frame
from smilenn.domain.arrow import plain_column
from smilenn.domain.odd import odd_cell
from smilenn.domain.table import refuse_twice, with_columns
from smilenn.errors import SmileError, listed

SCALED = 1e-9  # what rounding leaves of a mean of 0 and a deviation of 1


class CellTypeError(SmileError, TypeError):
    """A cell that is neither a number nor a text."""


def check_inputs(X: Any, estimator: str, columns: Sequence[str] | None = None, *, first_row: int = 0) -> pd.DataFrame:
    """X as a frame; `columns` are those of the training data, whose order and number an array must have."""
    if _is_sparse(X):
        raise CellTypeError("Sparse data is not supported; pass a data frame or X.toarray().")
    if not isinstance(X, pd.DataFrame) and not hasattr(X, "to_pandas"):
        array = as_array(X)
        if np.iscomplexobj(array):
            raise SmileError("Complex data not supported; give real numbers.")
        if array.ndim == 1:
            raise SmileError(
                "Expected 2D array, got 1D array instead. Reshape your data: X.reshape(1, -1) is one row, "
                "X.reshape(-1, 1) one column."
            )
        if array.ndim > 2:
            raise SmileError(
                f"Expected 2D array, got {array.ndim}D array instead. Give each image or record one row: "
                "X.reshape(len(X), -1)."
            )
        if columns is not None and array.ndim == 2 and array.shape[1] != len(columns):
            raise SmileError(
                f"X has {array.shape[1]} features, but {estimator} is expecting {len(columns)} features as input."
            )
        X = array
    frame = as_frame(X, columns=columns)
    if frame.shape[1] == 0:
        raise SmileError(f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required.")
    refuse_twice(frame, columns or ())
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        if column.dtype == object:
            _check_cells(column, str(name), first_row)
    return _without_long_floats(frame, first_row)


def _is_sparse(values: Any) -> bool:
    from scipy import (
        sparse,
    )  # the commands judge targets without SciPy, which takes longer to import than a table to read

    return sparse.issparse(values)


def _check_cells(column: pd.Series, name: str, first_row: int) -> None:
    found = odd_cell(column)
    if found is not None:
        row, wrong = found
        raise CellTypeError(f"Row {first_row + row}, column {name!r}{wrong}")


def _without_long_floats(frame: pd.DataFrame, first_row: int) -> pd.DataFrame:
    """Long floats as float64, which pandas has an index for; one that float64 would round is refused."""
    short = {}
    for name, column in frame.items():
        if column.dtype == np.longdouble:
            values = column.to_numpy()
            short[name] = values.astype(np.float64)
            odd = np.flatnonzero((values != short[name]) & ~np.isnan(values))
            if odd.size:
                where = f"Row {first_row + int(odd[0])}, column {str(name)!r}"
                raise SmileError(f"{where} has more digits than float64 holds; round the column first.")
    return with_columns(frame, short) if short else frame


def check_target(frame: pd.DataFrame, y: Any, estimator: str) -> tuple[np.ndarray, str, tuple[str, ...]]:
    """y as an array [n] or [n, o], its name and those of its columns; none of the features is the target itself."""
    if y is None:
        raise SmileError(f"{estimator} requires y to be passed, but the target y is None.")
    if _is_sparse(y):
        raise CellTypeError("Sparse targets are not supported; pass y.toarray().")
    values, name, names = _read_target(y)
    _refuse_cells(values)
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # the commands judge targets without scikit-learn

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; its one column is used.",
            DataConversionWarning,
            stacklevel=3,
        )
        values, names = values[:, 0], ()
    _refuse_shape(values, len(frame))
    _refuse_target_among(frame, values, names or (name,))
    missing = np.argwhere(pd.isna(values))
    if missing.size:
        raise SmileError(f"Row {int(missing[0][0])} of the target is missing (NaN); drop the row or fill it in.")
    if "" in names:
        raise SmileError(f"Column {names.index('')} of the target has no name; rules refer to outputs by name.")
    if values.ndim == 2 and not names:
        names = tuple(f"y{i}" for i in range(values.shape[1]))
    return values, "" if name in frame.columns else name, names


def _read_target(y: Any) -> tuple[np.ndarray, str, tuple[str, ...]]:
    """The values of y as they are, its name and those of its columns; empty where it has none."""
    if isinstance(y, pd.DataFrame) or (hasattr(y, "to_pandas") and hasattr(y, "columns")):
        table = as_frame(y)
        names = tuple(str(name) for name in table.columns)
        return as_array(table.to_numpy()), names[0] if len(names) == 1 else "", names
    given, y = getattr(y, "name", None), plain_column(y)
    values = y.to_numpy() if isinstance(y, pd.Series) else as_array(y)
    return values, given if isinstance(given, str) else "", ()


def _refuse_cells(values: np.ndarray) -> None:
    """No cell of a target stops NumPy or pandas; those that are no number or class are refused by what reads them."""
    if values.dtype.kind in "mM":
        raise SmileError("The target holds dates or durations; turn it into numbers, such as days, first.")
    cells = values.reshape(len(values), -1) if values.dtype == object and values.ndim else ()
    for row, line in enumerate(cells):
        found = odd_cell(cell for cell in line if isinstance(cell, (int, str, Decimal)))
        if found is not None:
            raise SmileError(f"Row {row} of the target{found[1]}")


def _refuse_shape(values: np.ndarray, rows: int) -> None:
    """A target has one value, or several, for each of the rows, and they are real."""
    if rows == 0:
        raise SmileError("The data has no rows; give at least two.")
    if values.ndim not in (1, 2):
        raise SmileError(f"y has {values.ndim} dimensions; give one column of values, or a table of several.")
    if len(values) != rows:
        raise SmileError(f"X has {rows} rows but y has {len(values)} values; give one value per row.")
    if np.iscomplexobj(values):
        raise SmileError("Complex data not supported; give real numbers as targets.")


def _refuse_target_among(frame: pd.DataFrame, values: np.ndarray, names: Sequence[str]) -> None:
    """A target y [n] or [n, o] is among the features where a column of its name holds the same values.

    One that only shares a feature's name, as ``X["income"] * 2`` does, is a target like any other; several targets are
    outputs of their own names, which must be none of a feature.
    """
    for i, name in enumerate(names):
        if name and name in frame.columns:
            column = values[:, i] if values.ndim == 2 else values
            if values.ndim == 2 or pd.Series(column).equals(frame[name].reset_index(drop=True)):
                raise SmileError(f"The target {name!r} is among the features; drop that column from X.")


def check_weights(sample_weight: Any, rows: int) -> np.ndarray:
    """Weights as float64 [n]; ones where there are none. A row of weight zero counts as absent."""
    if sample_weight is None:
        return np.ones(rows)
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SmileError("sample_weight holds something that is no number; give one number for every row.") from None
    if weight.ndim == 0 and np.isfinite(weight) and weight > 0:
        weight = np.full(rows, float(weight))
    if weight.shape != (rows,):
        raise SmileError(f"sample_weight has shape {weight.shape}; give one weight per row, {rows} in all.")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise SmileError(
            f"sample_weight of row {int(bad[0])} is {weight[bad[0]]}; weights are finite and not negative."
        )
    if not weight.any():
        raise SmileError("sample_weight is zero everywhere; give at least one row some weight.")
    return weight


def class_weights(codes: np.ndarray, classes: np.ndarray, wanted: Any, weight: np.ndarray) -> np.ndarray:
    """Row weights [n] times those of their classes: ``balanced`` gives every class the same total."""
    if wanted is None:
        return weight
    if isinstance(wanted, str):
        if wanted != "balanced":
            raise SmileError(f"class_weight is 'balanced' or a dictionary class → weight, not {wanted!r}.")
        totals = np.array([weight[codes == i].sum() for i in range(len(classes))])
        return weight * (weight.sum() / (len(classes) * totals))[codes]
    if not isinstance(wanted, Mapping):
        raise SmileError(f"class_weight is 'balanced' or a dictionary class → weight, not {wanted!r}.")
    unknown = [key for key in wanted if key not in set(classes.tolist())]
    if unknown:
        raise SmileError(f"class_weight names {listed(unknown)}; the classes are {listed(classes)}.")
    factors = [wanted.get(label, 1.0) for label in classes.tolist()]
    for label, factor in zip(classes, factors, strict=True):
        if not isinstance(factor, numbers.Real) or not 0 <= float(factor) < math.inf:
            raise SmileError(f"class_weight of {str(label)!r} is {factor}; weights are finite and not negative.")
    return weight * np.array(factors, dtype=np.float64)[codes]


def merged(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Equal rows of x [n, m] and y [n] or [n, o] as one with the sum of their weights, in the order of their values.

    Training on few rows then depends neither on their order nor on whether a row is repeated or weighted.
    """
    table = np.column_stack([x, y])
    rows, places = np.unique(table, axis=0, return_inverse=True)
    counts = np.bincount(places.ravel(), weights=weight, minlength=len(rows))
    return rows[:, : x.shape[1]], rows[:, x.shape[1] :].reshape(len(rows), *y.shape[1:]), counts


def scaled_note(frame: pd.DataFrame) -> str:
    """What to know where columns have mean 0 and deviation 1 to the last digits, as a scaler leaves them; else ''."""
    names = []
    for name in frame.columns if len(frame) > 2 else ():
        if pd.api.types.is_float_dtype(frame[name]):
            values = frame[name].to_numpy(dtype=np.float64)
            if abs(values.mean()) < SCALED and abs(values.std() - 1) < SCALED:
                names.append(str(name))
    if not names:
        return ""
    return (
        f" Units: {listed(names)} have mean 0 and deviation 1, as behind a scaler; bounds, δ and "
        "counterexamples are in such deviations, not in raw units. Without the scaler they are raw: the network scales "
        "by itself."
    )


def check_device(device: str) -> None:
    """A device that torch knows and that is there."""
    import torch

    try:
        known = torch.device(device)
    except RuntimeError:
        raise SmileError(f"device {device!r} is none that torch knows; use 'cpu' or 'cuda'.") from None
    if known.type == "cuda" and (known.index or 0) >= torch.cuda.device_count():
        raise SmileError(f"device {device!r} is not there: torch sees {torch.cuda.device_count()} GPUs; use 'cpu'.")
