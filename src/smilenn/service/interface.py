"""OpenAPI of the service, typed from the domain and the task of the model that answers.

A schema says what a cell should be. The service also takes what `smile predict` takes in a CSV: a text that is a
number, and a number outside its range, which it moves to the edge of the domain; the descriptions say so.
"""

from __future__ import annotations

from typing import Any

from smilenn.domain import Feature
from smilenn.domain.absent import fill_of
from smilenn.domain.cells import order_of, origin_of
from smilenn.domain.rare import OTHER
from smilenn.estimators.classifier import SmileClassifier
from smilenn.service.guard import OPEN, Limits
from smilenn.service.rows import may_lack
from smilenn.service.served import Served

Schema = dict[str, Any]

REFUSALS = {
    400: "The body is not JSON.",
    401: "The token is wrong, or there is none.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    422: "A row cannot be read, or there are too many.",
    500: "The service failed; its log has the reason.",
    503: "Too many rows are waiting.",
    504: "The prediction took too long.",
}
TEXT = 'A text that is a number, such as "41.5", is read as in a CSV.'


def described(made: Schema, served: Served, limits: Limits, token: bool) -> Schema:
    """FastAPI's OpenAPI with the schemas of this model."""
    one = row_schema(served)
    rows = {"type": "array", "items": one, "minItems": 1, "maxItems": limits.rows}
    bodies = {
        "/predict": _object(rows=rows),
        "/curve": _object(row=one, feature={"type": "string", "enum": _features(served)}),
        "/near": _object(row=one, number={"type": "integer", "minimum": 0}),
    }
    for path, schema in bodies.items():
        made["paths"][path]["post"]["requestBody"] = {"content": _content(schema), "required": True}
    predicted = _object(predictions={"type": "array", "items": answer_schema(served)})
    made["paths"]["/predict"]["post"]["responses"]["200"]["content"] = _content(predicted)
    for path, methods in made["paths"].items():
        for method, operation in methods.items():
            _refusals(operation, method == "post", token and path not in OPEN)
    if token:
        made.setdefault("components", {})["securitySchemes"] = {"bearerAuth": {"type": "http", "scheme": "bearer"}}
    return made


def _refusals(operation: Schema, takes_body: bool, token: bool) -> None:
    """What an operation may be refused by, and whether it asks for the token."""
    told = {status for status in REFUSALS if takes_body and status != 401} | ({401} if token else set())
    operation["responses"] = {"200": operation["responses"]["200"]} | {
        str(status): {"description": REFUSALS[status], "content": _content(_object(detail={"type": "string"}))}
        for status in sorted(told)
    }
    if token:
        operation["security"] = [{"bearerAuth": []}]


def _content(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _features(served: Served) -> list[str]:
    return [f.name for f in served.estimator.domain_.features if fill_of(f) is None]


# ---- rows -----------------------------------------------------------------------------------------------------------


def row_schema(served: Served) -> Schema:
    """A row as JSON Schema: every column with its type, its values or range, and null where a cell may be missing."""
    lacking, properties = may_lack(served.estimator), {}
    for feature in (f for f in served.estimator.domain_.features if fill_of(f) is None):
        cells = dict.fromkeys(feature.columns, _bit()) if feature.columns else {feature.name: _cell(feature)}
        properties |= {name: _or_null(cell) if name in lacking else cell for name, cell in cells.items()}
    return _object(**properties)


def _or_null(cell: Schema) -> Schema:
    enum = {"enum": [*cell["enum"], None]} if "enum" in cell else {}
    kinds = [cell["type"]] if isinstance(cell["type"], str) else cell["type"]
    return cell | {"type": [*kinds, "null"]} | enum


def _cell(feature: Feature) -> Schema:
    if names := feature.categories or order_of(feature):
        return _named(names)
    return _bit() if feature.kind == "binary" else _number(feature)


def _named(names: tuple[str, ...]) -> Schema:
    """A category; where rare ones have a place of their own, every other text is one of those."""
    if OTHER in names:
        return {"type": "string", "examples": list(names), "description": f"Any other text is read as {OTHER!r}."}
    return {"type": "string", "enum": list(names)}


def _bit() -> Schema:
    return {"type": ["integer", "boolean"], "enum": [0, 1, False, True]}


def _number(feature: Feature) -> Schema:
    kind = "number" if feature.kind == "continuous" else "integer"
    text = TEXT if origin_of(feature) is None else f"{feature.unit}, or a date such as 2020-01-31."
    return {"type": [kind, "string"], "minimum": feature.lo, "maximum": feature.hi, "description": text}


# ---- answers --------------------------------------------------------------------------------------------------------


def _certified(served: Served) -> Schema:
    """What is certified of a row of a classifier, where a rule bounds changes."""
    answers = served.answers
    if answers.change is None:
        return {}
    accepted = {"type": "boolean", "description": "No two similar rows are accepted with two different predictions."}
    radius = {"type": "number", "minimum": 0, "description": "How far the row may move before its label can change."}
    found: Schema = {"certified": {"type": "boolean"}} | ({"accepted": accepted} if answers.rejects else {})
    return found | dict.fromkeys(answers.radii, radius)


def answer_schema(served: Served) -> Schema:
    """The answer for one row."""
    model, names = served.estimator, served.answers.names
    parts: Schema = {}
    if isinstance(model, SmileClassifier):
        several = model.task == "multilabel"
        classes = [str(c) for c in (names if several else model.outputs_.classes)]
        label: Schema = {"type": ["string", "number", "boolean"]}
        share: Schema = {"type": "number", "minimum": 0, "maximum": 1}
        parts["prediction"] = _object(**dict.fromkeys(classes, label)) if several else label
        of = {"description": f"Of the class {str(model.positive_class)!r}."}
        parts["probability"] = share | of if model.task == "binary" else _object(**dict.fromkeys(classes, share))
        parts |= _certified(served)
    else:
        one: Schema = {"type": "number"}
        parts["prediction"] = one if len(names) == 1 else _object(**dict.fromkeys(names, one))
    parts["moved"] = {"type": "array", "items": {"type": "string"}}
    return _object(**parts)
