"""A fitted model as one ONNX file: columns in, predictions out, and what the certificate still promises.

    inputs      one for every column, named as it is, [n, 1]: double, int64 or string
    outputs     prediction [n, 1 or o], then for classes probability [n, classes or labels] and logit [n, o]
    metadata    smilenn's version, the certificate's digest, the verdict, the promise, the margin of rounding for every
                output, how closely both agree

Missing numbers are NaN and missing texts are empty. A row that `predict` would refuse gets NaN, as a class the empty
text or the least int64. The file is compared with the model in onnxruntime before it appears.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from smilenn._version import __version__
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.export import cells, margin, network
from smilenn.export.graph import Graph
from smilenn.export.verify import Agreement, compare
from smilenn.properties.naming import joined, output_words
from smilenn.report.write import replaced

Estimator = SmileRegressor | SmileClassifier
REFUSED = -(2**63)
ROWS = 100_000  # that both are compared on


@dataclass(frozen=True)
class Exported:
    """What was written, what is promised of it with which margin, and how closely it agrees with the model."""

    path: Path
    promise: str
    margin: str
    agreement: Agreement


def export_onnx(model: Estimator, path: Path | str, *, rows: int = ROWS, seed: int = 0) -> Exported:
    """Write a fitted model as an ONNX file and compare both on so many rows; differences beyond the promise raise."""
    _refuse_names(model)
    graph = Graph(taken=model.domain_.columns)
    x, good = cells.inputs(graph, model.domain_, model.fill_, model.outside_)
    found = graph.op("Where", good, network.outputs(graph, model.net_, x), graph.constant(np.nan))
    results = _results(graph, model, found, good)
    margins = margin.margins(model.net_)
    noted = facts(model) | {"margin": margin.noted(margins)}
    data = graph.model(results, noted).SerializeToString()
    agreement = compare(model, data, rows, seed)
    allowed = margin.largest_difference(margins)
    if agreement.outputs > allowed or agreement.refused:
        what = f"differs from the model by {agreement.outputs:.2g}, where {allowed:.2g} is the most"
        what = f"and the model refuse different rows, {agreement.refused} of them" if agreement.refused else what
        raise SmileError(f"onnxruntime {what}; nothing was written. Please report it with the model.")
    noted["agreement"] = agreement.sentence()
    data = graph.model(results, noted).SerializeToString()
    with replaced(Path(path)) as temporary:
        temporary.write_bytes(data)
        os.sync()
    return Exported(Path(path), noted["promise"], noted["margin"], agreement)


def _refuse_names(model: Estimator) -> None:
    """Raise where a name of the model's means something else in a graph."""
    results = ("prediction", "probability", "logit") if isinstance(model, SmileClassifier) else ("prediction",)
    both = [name for name in model.domain_.columns if name in results]
    if both:
        raise SmileError(f"The graph's output is called {both[0]!r}, as a column of the model is; rename the column.")
    for feature in model.domain_.features:
        if "" in feature.categories and not feature.columns:
            raise SmileError(
                f"{feature.name!r} has the empty text as a category, which is a missing cell to a graph; name it."
            )
    classes = getattr(model, "classes_", None)
    if classes is not None and any(value in ("", REFUSED) for value in classes.tolist()):
        raise SmileError("A class is called as a graph calls rows that it refuses; give it another name.")


def facts(model: Estimator) -> dict[str, str]:
    """What a file notes of the model: version, verdict, certificate, and what that still promises."""
    certificate = model.certificate_
    certified = certificate is not None and certificate.accepted
    if not certified:
        promise = "nothing is certified of this model"
    elif model.net_.profile == "fixed-order":
        promise = (
            "as certified, in a runtime that rounds every float64 operation by itself: sums are chains in one order"
        )
    elif model.net_.profile == "dyadic":
        promise = "as certified: no operation of the certified part rounds, in whatever order"
    else:
        promise = "as certified: the margin of the certificate covers sums in any order"
    return {
        "smilenn": __version__,
        "verdict": model.verdict_.sentence(),
        "certificate": certificate.sha256 if certificate is not None and certified else "",
        "promise": promise,
        "rules": " ".join(certificate.sentences) if certificate is not None and certified else "",
        "outputs": _meant(model),
    }


def _meant(model: Estimator) -> str:
    """What the graph's outputs are. The promise is about logits; a runtime's sigmoid need not follow to the bit."""
    words = joined([output_words(model.outputs_, name) for name in model.outputs_.names])
    if not isinstance(model, SmileClassifier):
        return f"prediction: {words}"
    of = joined([repr(name) for name in model.outputs_.classes or model.outputs_.names])
    return f"logit: {words}; probability: of {of}, by the runtime and not part of the promise"


def _results(graph: Graph, model: Estimator, found: str, good: str) -> list[tuple[str, str, int]]:
    """The outputs of the interface."""
    o = len(model.outputs_.names)
    if not isinstance(model, SmileClassifier):
        return [(graph.named(found, "prediction"), "double", o)]
    if model.task == "multilabel":
        decided = graph.op("Cast", graph.op("Greater", found, graph.constant(0.0)), to=7)
        decided = graph.op("Where", good, decided, graph.constant(REFUSED, np.int64))
        sure = graph.op("Sigmoid", found)
        return [
            (graph.named(decided, "prediction"), "int64", o),
            (graph.named(sure, "probability"), "double", o),
            (graph.named(found, "logit"), "double", o),
        ]
    place, sure = _classes(graph, model, found)
    whole = np.issubdtype(model.classes_.dtype, np.integer)
    labels = model.classes_.astype(np.int64) if whole else np.array(model.outputs_.classes, dtype=object)
    kind = np.int64 if whole else object
    decided = graph.op("Gather", graph.constant(labels, kind), place, axis=0)
    refused = graph.constant([[REFUSED]], np.int64) if whole else graph.constant([[""]], object)
    decided = graph.op("Where", good, decided, refused)
    return [
        (graph.named(decided, "prediction"), "int64" if whole else "string", 1),
        (graph.named(sure, "probability"), "double", len(model.outputs_.classes)),
        (graph.named(found, "logit"), "double", o),
    ]


def _classes(graph: Graph, model: SmileClassifier, found: str) -> tuple[str, str]:
    """The place of the class that wins [n, 1], and the probabilities of all."""
    if model.task == "multiclass":
        return graph.op("ArgMax", found, axis=1, keepdims=1), graph.op("Softmax", found, axis=1)
    place = graph.op("Cast", graph.op("Greater", found, graph.constant(0.0)), to=7)
    second = graph.op("Sigmoid", found)
    return place, graph.op("Concat", graph.op("Sub", graph.constant(1.0), second), second, axis=1)
