"""The rows of ``smile fit``: which columns are features and targets, what the targets are, which rows are held out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from smilenn.cli.fit_request import Request, kept_columns, read_order
from smilenn.cli.source import Source
from smilenn.cli.table import OF_FIT, read_table, rows_of_file
from smilenn.datasets.base import Dataset
from smilenn.datasets.split import held_back
from smilenn.domain import Domain
from smilenn.domain.cells import PERCENT, order_of, origin_of
from smilenn.domain.table import with_columns
from smilenn.domain.target_cells import target_unit, warn_of_unit, with_unit
from smilenn.domain.written import style_in
from smilenn.errors import SmileError

LEAST_TEST = 10  # with fewer rows to test on, none are held out


def read_data(
    request: Request, source: Source, domain: Domain | None = None
) -> tuple[pd.DataFrame, pd.Series | pd.DataFrame]:
    """Features and target(s) of a table whose header `check_columns` has seen.

    Columns of ``--drop`` and ``--id`` and those that number the rows are not read. Columns that are categories of a
    `domain`, if there is one, are read as names.
    """
    kept = kept_columns(request, source)
    may_lack = [name for name in kept if name not in request.target] if request.missing != "raise" else []
    text: dict[str, tuple[str, ...]] = {name: () for name in request.category} | read_order(request.order)
    text |= {} if domain is None else category_names(domain)
    frame = read_table(source, text, only=kept, may_lack=may_lack, options=OF_FIT)
    y = frame[request.target[0]] if len(request.target) == 1 else frame[list(request.target)]
    return frame.drop(columns=list(request.target)), y


def category_names(domain: Domain) -> dict[str, tuple[str, ...]]:
    """The columns of a domain whose cells are texts: those that hold names, with the names it knows, and numbers that
    are written in a way of their own, for which ``1.200`` must not be a number of pandas in some files only.
    """
    names = {f.name: f.categories or order_of(f) for f in domain.features if not f.columns}
    written = {f.name: () for f in domain.features if style_in(f.unit)}
    return {name: known for name, known in names.items() if known} | written


def plain_numbers(domain: Domain) -> set[str]:
    """The columns of a domain whose cells are numbers as Python writes them, or flags."""
    told = category_names(domain)
    whole = {f.name for f in domain.features if f.name not in told and origin_of(f) is None and f.unit != PERCENT}
    return whole & set(domain.columns)


def written_target(
    request: Request, y: pd.Series | pd.DataFrame, source: Source
) -> tuple[pd.Series | pd.DataFrame, tuple[str, ...]]:
    """The target(s), numbers that are written as texts read; and the unit of each column, () where none has one.

    One of two values, of ``--category`` or ``--task classification`` is classes, whatever they are called.
    """
    columns = [y[name] for name in y.columns] if isinstance(y, pd.DataFrame) else [y]
    units = []
    for name, column in zip(request.target, columns, strict=True):
        two = request.task == "auto" and not request.quantiles and column.nunique() <= 2
        named = two or request.task == "classification" or name in request.category
        with rows_of_file(source):
            units.append("" if named else target_unit(column, repr(name)))
        warn_of_unit(column, repr(name), units[-1])
    return noted_target(y, request.target, units), tuple(units) if any(units) else ()


def noted_target(
    y: pd.Series | pd.DataFrame, names: Sequence[str], units: Sequence[str], first_row: int = 0
) -> pd.Series | pd.DataFrame:
    """Targets called `names`, read with the units that the fit has noted."""
    for name, unit in zip(names, units, strict=False):
        if unit:
            column = y[name] if isinstance(y, pd.DataFrame) else y
            found = pd.Series(with_unit(column, unit, name, first_row), index=y.index, name=name)
            y = with_columns(y, {name: found}) if isinstance(y, pd.DataFrame) else found
    return y


def is_classification(request: Request, y: pd.Series | pd.DataFrame, source: Source) -> bool:
    """Whether the target is classes, or several are labels; asked for, or judged by the values."""
    columns = [y[name] for name in y.columns] if isinstance(y, pd.DataFrame) else [y]
    for name, column in zip(request.target, columns, strict=True):
        values = column.unique()
        if len(values) < 2:
            raise SmileError(f"The target {name!r} has one value only, {str(values[0])!r}; there is nothing to learn.")
        if _holds_texts(column):
            _refuse_texts(request, name)
            return True
    if request.task == "classification" and len(columns) > 1:
        _check_labels(request.target, columns, source)
    if request.quantiles or request.task != "auto":
        return request.task == "classification"
    return columns[0].nunique() == 2 if len(columns) == 1 else all(map(_is_label, columns))


def _is_label(column: pd.Series) -> bool:
    """Whether a column holds 0 and 1, both of them."""
    return column.nunique() == 2 and set(column.unique()) <= {0, 1}


def _holds_texts(column: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _refuse_texts(request: Request, name: str) -> None:
    """Texts are classes of one target, and nothing else."""
    if request.task == "regression" or request.quantiles:
        raise SmileError(f"The target {name!r} holds text, so it cannot be a regression.")
    if len(request.target) > 1:
        raise SmileError(f"The target {name!r} holds text; several targets are numbers, or labels that are 0 or 1.")


def _check_labels(names: tuple[str, ...], columns: list[pd.Series], source: Source) -> None:
    for name, column in zip(names, columns, strict=True):
        odd = np.flatnonzero(~column.isin([0, 1]).to_numpy())
        if odd.size:
            row = int(odd[0])
            raise SmileError(
                f"Row {source.row_number(row)}, column {name!r} is {column.iloc[row]}; several targets of --task "
                "classification are labels, each 0 or 1."
            )


def held_back_rows(strata: np.ndarray, share: float, seed: int) -> np.ndarray:
    """[n] bool: rows that training never sees, of each class in `strata` [n]; none where they would say too little."""
    if share * len(strata) < LEAST_TEST:
        return np.zeros(len(strata), dtype=bool)
    codes = pd.Series(pd.factorize(strata)[0])
    kind = "binary" if codes.nunique() > 1 else "regression"  # stratified, or not
    return held_back(Dataset("data", pd.DataFrame(index=range(len(strata))), codes, kind), seed, share)
