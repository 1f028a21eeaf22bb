"""Whether the rules, the rows and the domain of ``smile fit`` agree; judged before torch is imported."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from smilenn.cli.fit_request import read_bounds
from smilenn.cli.preparing import Prepared
from smilenn.cli.table import FIRST_ROW, refused
from smilenn.domain import OutOfBounds
from smilenn.domain.few import few_whole
from smilenn.errors import SmileError
from smilenn.estimators.outside import all_carried
from smilenn.estimators.rules import LOGIT_EPS, completed
from smilenn.estimators.start import check_task
from smilenn.properties.base import Property
from smilenn.properties.change import Robust
from smilenn.properties.claim import Claim
from smilenn.properties.outputs import Ordered
from smilenn.properties.premise import ground
from smilenn.properties.spec import lower_all


def check_agreement(prepared: Prepared, *, task: str = "auto") -> None:
    """Each rule by itself, all of them together, and every row; errors name the option, the file or the row. `task` is
    what ``--task`` says.
    """
    for where, item in prepared.stated:
        try:
            for claim in claims_of(prepared, [item]):
                ground(claim, prepared.domain)
        except SmileError as error:
            raise SmileError(f"{where}: {_or_classes(str(error), prepared, item, task)}") from None
    claims = _all_claims(prepared)
    from smilenn.properties.conflicts import refuse_conflicts  # which needs SciPy's linear programs

    refuse_conflicts(claims, prepared.domain, prepared.target.outputs.names)
    if prepared.start is not None:
        check_task(prepared.start, prepared.target, claims)
    _check_rows(prepared, claims)


def _or_classes(error: str, prepared: Prepared, item: Property, task: str) -> str:
    """The error, with what else a rule without an ε may mean: few whole numbers may name classes, whose ε is chosen."""
    y = prepared.y
    if prepared.classes or task != "auto" or not (isinstance(item, Robust) and item.eps is None):
        return error
    if not isinstance(y, pd.Series) or prepared.target.task != "regression" or not few_whole(y):
        return error
    return f"{error.removesuffix('.')}; if {y.name!r} names classes, add --task classification."


def _all_claims(prepared: Prepared) -> tuple[Claim, ...]:
    """Those of the fit: what was stated, or what the start keeps, and that quantiles are ordered."""
    if prepared.start is not None and not prepared.stated:
        return prepared.start.claims
    ordered = [Ordered()] if prepared.target.task == "quantiles" else []
    return claims_of(prepared, [*(item for _, item in prepared.stated), *ordered])


def claims_of(prepared: Prepared, properties: Sequence[Property]) -> tuple[Claim, ...]:
    """Properties as the estimator will lower them."""
    complete = completed(properties, LOGIT_EPS if prepared.classes else None)
    columns = tuple(map(str, prepared.frame.columns))
    return lower_all(complete, prepared.domain, prepared.target.outputs, columns=columns)


def _check_rows(prepared: Prepared, claims: Sequence[Claim]) -> None:
    """Every row on the domain: an error names the row of the file, not one of the chosen rows."""
    outside: OutOfBounds = "clamp" if all_carried(claims, prepared.domain) else "raise"
    try:
        prepared.domain.encode(prepared.complete, out_of_bounds=outside, first_row=FIRST_ROW)
    except SmileError as error:
        raise refused(prepared.source, error) from None


def rows_outside(frame: pd.DataFrame, texts: tuple[str, ...]) -> list[str]:
    """One sentence for every ``--bounds`` that leaves rows of the data outside."""
    out = []
    for name, (lo, hi) in read_bounds(texts).items():
        column = frame[name].to_numpy(dtype=np.float64)
        count = int(((column < lo) | (column > hi)).sum())
        if count:
            rows = "1 row lies" if count == 1 else f"{count} rows lie"
            out.append(
                f"{rows} outside --bounds {name}:{lo:g}:{hi:g} and will be moved to the edge; or widen the bounds."
            )
    return out
