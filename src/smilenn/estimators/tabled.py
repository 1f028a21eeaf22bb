"""How a table becomes inputs and what the outputs mean: the object `table` of model.json, under a certificate's digest.

columns, fill, outside         columns in their order, what fills their missing cells, what happens outside the domain
usual                          what `predict` reads cells as that training has no place for
target, classes, class_outputs the target's name, its classes with their type, and the outputs they decide between
target_units                   how its numbers are written, where they are texts (domain/target_cells.py)
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
        "task": _task(estimator),
        "columns": list(estimator.columns_),
        "n_features_in": estimator.n_features_in_,
        "fill": dict(estimator.fill_),
        **({"usual": dict(estimator.usual_)} if estimator.usual_ else {}),  # older folders have none
        "outside": estimator.outside_,
        "target": estimator.target_name_,
        **({"target_units": list(units)} if (units := vars(estimator).get("target_units_", ())) else {}),
        "meaning": _meaning(estimator),
    }
    if "feature_names_in_" in vars(estimator):
        table["feature_names_in"] = [str(name) for name in estimator.feature_names_in_]
    if "classes_" in vars(estimator):
        table["classes"] = estimator.classes_.tolist()
        table["class_outputs"] = list(estimator.outputs_.classes)
        table["classes_dtype"] = estimator.classes_.dtype.str if estimator.classes_.dtype.kind != "O" else "object"
    if estimator.outputs_.positive:
        table["positive"] = estimator.outputs_.positive
    return table


def take_table(estimator: SmileEstimator, table: Mapping[str, Any], outputs: tuple[str, ...]) -> None:
    """Set what `table_of` has stored on an estimator with these outputs."""
    if table.get("feature_names_in", table["columns"]) != table["columns"]:
        raise AlteredError("model.json names its columns in two orders; save the model again.")
    estimator.n_features_in_, estimator.outside_ = table["n_features_in"], table["outside"]
    estimator.columns_, estimator.target_name_ = tuple(table["columns"]), table["target"]
    estimator.target_units_ = tuple(table.get("target_units", ()))
    estimator.fill_, estimator.usual_ = table.get("fill", {}), table.get("usual", {})
    if "feature_names_in" in table:
        estimator.feature_names_in_ = np.array(table["feature_names_in"], dtype=object)
    estimator.outputs_ = outputs_of(table, outputs)
    classes = classes_of(table)
    if classes is not None:
        estimator.classes_ = classes


def outputs_of(table: Mapping[str, Any], outputs: tuple[str, ...]) -> Outputs:
    """What a network's outputs are, by their names and what the table says of them."""
    # folders of two classes did not name them once
    classes = table.get("class_outputs", table.get("classes", ()))
    role = ROLES.get(table.get("task", ""), "output")
    found = Outputs(outputs, tuple(str(name) for name in classes), table["target"], role, table.get("positive", ""))
    if found.misnamed:
        raise AlteredError("The classes of model.json are not those that its outputs decide between; save it again.")
    return found


def classes_of(table: Mapping[str, Any]) -> np.ndarray | None:
    """The classes with their type; None of a regression."""
    if "classes" not in table:
        return None
    classes = np.array(table["classes"], dtype=np.dtype(table["classes_dtype"]))
    named = class_names(classes) if classes.ndim == 1 else ()
    written = table.get("class_outputs")
    if written and named != tuple(written):
        raise AlteredError("The classes of model.json are not those that its outputs are named after; save it again.")
    return classes


def _task(estimator: SmileEstimator) -> str:
    """The task by which a folder says what the outputs are: of a guard not always that of its estimator."""
    role = estimator.outputs_.role
    if ROLES.get(estimator.task, "output") == role:
        return estimator.task
    return next((task for task, known in ROLES.items() if known == role), "")


def _meaning(estimator: SmileEstimator) -> list[str]:
    """What each output is, in words."""
    return [output_words(estimator.outputs_, name) for name in estimator.outputs_.names]
