"""Columns that a model should not learn from: they say nothing, say it twice, or name the row.

empty        every cell is missing
constant     every cell is the same
duplicate    the cells of another column, one by one, whatever their type (twins.py)
identifier   texts that (nearly) all differ; whole numbers that name or count the rows (numbered.py)
rare         texts of which none is frequent enough to be learned
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pandas as pd

from smilenn.domain.cells import holds_names
from smilenn.domain.numbered import numbered
from smilenn.domain.rare import OTHER, least_rows, pooled
from smilenn.domain.stray import stray_cell
from smilenn.domain.table import labels
from smilenn.domain.twins import twin, twins
from smilenn.domain.written import doubt

DISTINCT, LEAST = 0.9, 30  # share of texts that differ in an identifier; rows from which one is told
MOST_WORDS = 20  # columns that a sentence names
IDENTIFIER, COUNTER = "looks like an identifier", "counts the rows"


@dataclass(frozen=True)
class Idle:
    """A column that is left out, and why."""

    column: str
    why: str
    hint: str = ""

    def sentence(self) -> str:
        """Why it is left out, and what else its cells may be."""
        return f"Column {self.column!r} {self.why}; it is left out{self.hint and ': '}{self.hint}."


def left_out_words(noted: Mapping[str, str]) -> str:
    """One sentence on columns that a fit has left out, {column: why}; empty where there are none.

    >>> left_out_words({"id": "looks like an identifier", "k": "is empty"})
    "Left out of the table by the fit: 'id' looks like an identifier; 'k' is empty."
    """
    words = [f"{name!r} {why}" for name, why in list(noted.items())[:MOST_WORDS]]
    more = [f"and {len(noted) - MOST_WORDS} more"] if len(noted) > MOST_WORDS else []
    return f"Left out of the table by the fit: {'; '.join([*words, *more])}." if words else ""


def constant(series: pd.Series) -> str:
    """The one value that all cells of a column have, '' where there are several, or a cell is missing."""
    present = series.dropna()
    whole = len(present) == len(series) > 1 and present.nunique() == 1
    return f"holds one value only, {str(present.iloc[0])!r}" if whole else ""


def idle_columns(frame: pd.DataFrame, keep: Collection[str] = ()) -> list[Idle]:
    """The columns to leave out, in the order of the frame; none of `keep`, and never all of them."""
    found: list[Idle] = []
    seen: dict[int, list[str]] = {}
    alike = twins(frame)
    for name in sorted(frame.columns, key=lambda column: column not in keep):  # of two equal ones the kept one stays
        why = _why(name, frame[name]) if len(frame) > 1 else ""
        if not why:
            same = twin(name, frame, seen.setdefault(alike[name], []))
            why = same and f"repeats {same!r}"
        if why and name not in keep:
            found.append(Idle(name, why, doubt(frame[name].dropna().unique()) if why == IDENTIFIER else ""))
        else:
            seen.setdefault(alike[name], []).append(name)
    places = {name: place for place, name in enumerate(frame.columns)}
    return [] if len(found) == frame.shape[1] else sorted(found, key=lambda one: places[one.column])


def _why(name: str, series: pd.Series) -> str:
    """Why a column says nothing, by its own cells; empty where it may say something."""
    present = series.dropna()
    if present.empty:
        return "is empty"
    if found := constant(series):
        return found
    if len(series) < LEAST:
        return ""
    told = numbered(name, present)
    if told == "counter":
        return COUNTER
    return IDENTIFIER if told == "identifier" or _identifies(present) else _rare(present)


def perhaps_identifier(name: str, series: pd.Series) -> str:
    """One sentence on a column that may name its rows, '' on any other."""
    if numbered(name, series.dropna()) != "perhaps":
        return ""
    return (
        f"Column {name!r} holds another whole number in every row, as identifiers do, and is used as a number; if it "
        "names its rows, drop it from X."
    )


def _identifies(present: pd.Series) -> bool:
    """Whether texts look like names of their rows."""
    if not _names(present):
        return False
    texts = labels(present)
    return texts.nunique() >= DISTINCT * len(texts)


def _names(present: pd.Series) -> bool:
    """Whether cells are names: neither a category by type, nor numbers or dates with a slip, an error of its own."""
    named = not isinstance(present.dtype, pd.CategoricalDtype) and holds_names(present)
    return named and stray_cell(present) is None


def _rare(present: pd.Series) -> str:
    """Why there is nothing to learn of texts that are all rare; empty where there is."""
    if not _names(present):
        return ""
    texts = labels(present)
    if texts.nunique() <= LEAST or pooled(texts) != [OTHER]:
        return ""
    rows = math.ceil(least_rows(len(texts)))
    return f"has {texts.nunique()} values, none of them in {rows} rows or more: group them to learn from it"
