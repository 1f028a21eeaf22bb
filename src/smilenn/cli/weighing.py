"""``--class-weight`` of ``smile fit``: ``balanced``, or a weight for each class that is named."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from smilenn.cli.fit_request import Request
from smilenn.errors import SmileError, listed
from smilenn.estimators.targets import Target, class_names, started_decisions

ClassWeight = dict[Any, float] | Literal["balanced"]


def class_weight(request: Request, y: pd.Series | pd.DataFrame, target: Target) -> ClassWeight | None:
    """What the option says of the classes in y; None without it."""
    if not request.class_weight:
        return None
    if not isinstance(y, pd.Series) or target.classes is None:
        raise SmileError("--class-weight is for one target of classes; leave it out here.")
    found = _read(request.class_weight, np.unique(y.to_numpy()))
    started_decisions(target, found, np.ones(len(y)))  # raises where a weight is negative or none is left
    return found


def _read(texts: tuple[str, ...], values: np.ndarray) -> ClassWeight:
    """The option's texts as `balanced` or class → weight, for classes with these values."""
    if texts == ("balanced",):
        return "balanced"
    classes = dict(zip(class_names(values), values.tolist(), strict=True))
    out: dict[Any, float] = {}
    for text in texts:
        name, colon, number = text.rpartition(":")
        if not colon or name not in classes:
            raise SmileError(
                f"--class-weight {text} is neither balanced nor CLASS:WEIGHT with a class of {listed(classes, 12)}."
            )
        if classes[name] in out:
            raise SmileError(f"--class-weight has two weights for the class {name!r}; give one.")
        try:
            out[classes[name]] = float(number)
        except ValueError:
            raise SmileError(f"--class-weight {text}: {number!r} is not a number; write one such as 2.") from None
    return out
