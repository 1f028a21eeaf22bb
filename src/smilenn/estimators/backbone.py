"""An estimator as backbone of another: what is known of it from the table that `fit` is given.

It reads the table as the domain gives it back: missing cells and rare categories in the place that training has for
them, cells in the types that they had. One that is fitted already must have been fitted to the same cells; one that is
not is fitted to what it will be asked about, whatever that looks like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from smilenn.domain import Domain
from smilenn.domain.absent import MISSING
from smilenn.domain.rare import OTHER
from smilenn.errors import SmileError, listed
from smilenn.model.fitted_backbone import Answer, Seen, refuse_other_classes
from smilenn.model.fitted_columns import typed
from smilenn.train.around import Foreign

if TYPE_CHECKING:
    from smilenn.estimators.targets import Target

ANSWERS: dict[str, Answer] = {"binary": "logit", "multiclass": "log-shares", "multilabel": "logits"}
FEW = 8  # rows that a fitted estimator is asked about at once


def foreign_of(estimator: Any, frame: pd.DataFrame, named: bool, domain: Domain, target: Target) -> Foreign:
    """What training needs to know of an estimator as backbone; one that does not fit table or target is refused.

    `frame` [n, columns] is the table as training reads it, `named` whether its columns brought their names.
    """
    from smilenn.estimators.targets import class_names

    given = is_fitted(estimator)
    seen = _seen(estimator, frame, named, domain, given=given)
    answer = ANSWERS.get(target.task, "numbers")
    foreign = Foreign(estimator, given, seen, answer, len(target.outputs.names), target.classes)
    if given and answer in ("logit", "log-shares") and target.classes is not None:
        refuse_other_classes(estimator, class_names(target.classes))
    if not given and target.task == "quantiles":
        raise SmileError(
            f"The backbone {foreign.name} would learn one number of the target, not its quantiles; give a fitted one "
            "whose predict has a column for each level."
        )
    if given:
        few = domain.encode(frame.iloc[:FEW], out_of_bounds="clamp")
        foreign.backbone(few, target.y[:FEW], np.ones(len(few)))
    return foreign


def is_fitted(estimator: Any) -> bool:
    """Whether somebody has fitted it; CatBoost says so by a method of its own."""
    told = getattr(estimator, "is_fitted", None)
    if callable(told):
        return bool(told())
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError):
        return False
    return True


# ---- its columns ----------------------------------------------------------------------------------------------------


def _seen(estimator: Any, frame: pd.DataFrame, named: bool, domain: Domain, *, given: bool) -> Seen:
    """How rows become what it reads."""
    known = list(domain.decode(domain.lo[None]).columns)
    own = _own_columns(estimator) if given and named else None
    wanted = [name for name in frame.columns if given or name in known] if own is None else own
    if own is None and given:
        _refuse_other_number(estimator, frame)
    missing = [name for name in wanted if name not in known]
    if missing:
        raise SmileError(
            f"The backbone {type(estimator).__name__} was fitted to {listed(missing)}, which the model's inputs do not "
            "have; fit it to columns of the table that are no identifiers, constants or copies, or give it unfitted."
        )
    x = domain.read(frame)
    inside = ((x >= domain.lo) & (x <= domain.hi)).all(axis=1)
    cells, decoded = frame[inside], domain.decode(x[inside])
    gaps = frozenset(name for name in wanted if _has_gaps(frame[name], domain, name))
    dtypes = {name: _type(cells[name], decoded[name], name in gaps, given=given) for name in wanted}
    return Seen(domain, dtypes, gaps, named and (own is not None or not given or _reads_frames(estimator)))


def _own_columns(estimator: Any) -> list[str] | None:
    """The names of the columns it was fitted to, where it knows them."""
    for name in ("feature_names_in_", "feature_names_"):
        found = getattr(estimator, name, None)
        if found is not None:
            return [str(column) for column in found]
    return None


def _reads_frames(estimator: Any) -> bool:
    """Whether a fitted estimator that knows no names is asked with data frames: scikit-learn's own read arrays then."""
    return not type(estimator).__module__.startswith("sklearn.")


def _refuse_other_number(estimator: Any, frame: pd.DataFrame) -> None:
    own = getattr(estimator, "n_features_in_", frame.shape[1])
    if own != frame.shape[1]:
        raise SmileError(
            f"The backbone {type(estimator).__name__} was fitted to {own} columns, and the table has {frame.shape[1]}; "
            "fit it to the same columns."
        )


def _has_gaps(cells: pd.Series, domain: Domain, name: str) -> bool:
    """Whether missing cells of this column come back as the category ``missing``, and no other cells do."""
    feature = next((feature for feature in domain.features if feature.name == name), None)
    return (
        feature is not None
        and MISSING in feature.categories
        and bool(cells.isna().any())
        and not bool((cells.astype(object) == MISSING).any())
    )


def _type(own: pd.Series, decoded: pd.Series, gaps: bool, *, given: bool) -> Any:
    """The type that gives the column its own cells back; None, the cells as they are decoded, of an estimator that is
    still to be fitted. Rare categories may come back as one.
    """
    back = decoded.where(decoded != MISSING, None) if gaps else decoded
    try:
        typed_back = typed(back, own.dtype)
    except (TypeError, ValueError, OverflowError):
        typed_back = None
    if typed_back is not None and _same(own, typed_back, back):
        return own.dtype
    if given:
        raise SmileError(
            f"Column {own.name!r} is read in another way than its cells are written, and the backbone would not get "
            "its own cells back; turn the column into numbers or plain texts first, or give the backbone unfitted."
        )
    return None


def _same(own: pd.Series, typed_back: pd.Series, back: pd.Series) -> bool:
    """Whether every cell is back, missing ones as missing, or pooled with other rare ones."""
    one, two = own.reset_index(drop=True).astype(object), typed_back.reset_index(drop=True).astype(object)
    absent = one.isna() & two.isna()
    pooled = (back.reset_index(drop=True) == OTHER) & one.notna()
    return bool(((one == two) | absent | pooled).all())
