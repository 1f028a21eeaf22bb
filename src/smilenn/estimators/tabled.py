"""How a table becomes inputs and what the outputs mean: the object `table` of model.json, under a certificate's digest.

columns, fill, outside         columns in their order, what fills their missing cells, what happens outside the domain
usual                          what `predict` reads cells as that training has no place for
target, classes, class_outputs the target's name, its classes with their type, and the outputs they decide between
meaning                        a text for every output, which checkers print
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from smilenn.errors import AlteredError
from smilenn.estimators.targets import class_names
from smilenn.properties.forms import ROLES, Outputs
from smilenn.properties.naming import output_words

if TYPE_CHECKING:
    from smilenn.estimators.base import SmileEstimator


def table_of(estimator: SmileEstimator) -> dict[str, Any]:
    """The table of a fitted estimator, JSON-ready."""
    table: dict[str, Any] = {
        "task": estimator.task,
        "columns": list(estimator.columns_),
        "n_features_in": estimator.n_features_in_,
        "fill": dict(estimator.fill_),
        **({"usual": dict(estimator.usual_)} if estimator.usual_ else {}),  # older folders have none
        "outside": estimator.outside_,
        "target": estimator.target_name_,
        "meaning": _meaning(estimator),
    }
    if "feature_names_in_" in vars(estimator):
        table["feature_names_in"] = [str(name) for name in estimator.feature_names_in_]
    if "classes_" in vars(estimator):
        table["classes"] = estimator.classes_.tolist()
        table["class_outputs"] = list(estimator.outputs_.classes)
        table["classes_dtype"] = estimator.classes_.dtype.str if estimator.classes_.dtype.kind != "O" else "object"
    return table


def take_table(estimator: SmileEstimator, table: Mapping[str, Any], outputs: tuple[str, ...]) -> None:
    """Set what `table_of` has stored on an estimator with these outputs."""
    estimator.n_features_in_, estimator.outside_ = table["n_features_in"], table["outside"]
    estimator.columns_, estimator.target_name_ = tuple(table["columns"]), table["target"]
    estimator.fill_, estimator.usual_ = table.get("fill", {}), table.get("usual", {})
    if "feature_names_in" in table:
        estimator.feature_names_in_ = np.array(table["feature_names_in"], dtype=object)
    # folders of two classes did not name them once
    classes = table.get("class_outputs", table.get("classes", ()))
    role = ROLES.get(table.get("task", ""), "output")
    estimator.outputs_ = Outputs(outputs, tuple(str(name) for name in classes), estimator.target_name_, role)
    if estimator.outputs_.misnamed:
        raise AlteredError("The classes of model.json are not those that its outputs decide between; save it again.")
    if "classes" in table:
        estimator.classes_ = np.array(table["classes"], dtype=np.dtype(table["classes_dtype"]))
        named = class_names(estimator.classes_) if estimator.classes_.ndim == 1 else ()
        if "class_outputs" in table and classes and named != tuple(classes):
            raise AlteredError(
                "The classes of model.json are not those that its outputs are named after; save it again."
            )


def _meaning(estimator: SmileEstimator) -> list[str]:
    """What each output is, in words."""
    return [output_words(estimator.outputs_, name) for name in estimator.outputs_.names]
