"""Names that options give, as the table spells them: ``>50K`` is `` >50K`` where no other name differs by blanks alone.

Cells of a CSV file keep the blanks around them, as pandas keeps them, so that models read files and data frames alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from smilenn.cli.fit_request import Request
from smilenn.domain.table import labels
from smilenn.estimators.targets import class_names


def spelled(name: str, known: Iterable[str]) -> str:
    """The known name that is meant; the name as it is where none is, or several are.

    >>> spelled(">50K", [" <=50K", " >50K"]), spelled("a", ["a", " a"]), spelled("a", [" a", "a "])
    (' >50K', 'a', 'a')
    """
    names = set(known)
    alike = [] if name in names else [other for other in names if other.strip() == name.strip()]
    return alike[0] if len(alike) == 1 else name


def with_classes(request: Request, y: pd.Series | pd.DataFrame) -> Request:
    """The request with classes in ``--positive``, ``--output`` and ``--class-weight`` as the target y spells them."""
    if not isinstance(y, pd.Series) or not (request.positive or request.output or request.class_weight):
        return request
    if pd.api.types.is_numeric_dtype(y):
        return request
    known = class_names(np.array(sorted(set(labels(y)))))
    weights = (text.rpartition(":") for text in request.class_weight)
    return replace(
        request,
        positive=request.positive and spelled(request.positive, known),
        output=request.output and spelled(request.output, known),
        class_weight=tuple(f"{spelled(name, known)}{colon}{number}" for name, colon, number in weights),
    )


def with_values(order: Mapping[str, Sequence[str]], frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """The names of ordered columns as the columns of the frame spell them."""
    out = {}
    for column, names in order.items():
        known = set(labels(frame[column].dropna())) if column in frame.columns else set()
        out[column] = tuple(spelled(name, known) for name in names)
    return out
