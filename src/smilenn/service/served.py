"""A model as a service holds it: loaded and checked once, described for callers, ready to predict.

Loading checks the certificate in a process of its own. What is shown beside predictions is what that check said.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smilenn._version import __version__
from smilenn.domain import Feature
from smilenn.domain.absent import fill_of
from smilenn.domain.cells import order_of
from smilenn.errors import AlteredError, SmileError, listed
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.store import load
from smilenn.model.folder import read_manifest
from smilenn.properties.naming import output_words
from smilenn.report.card import card
from smilenn.report.drawn import drawn
from smilenn.report.findings import Findings, gather
from smilenn.report.probe import probe
from smilenn.report.slices import output_box
from smilenn.service.rows import Answers, Estimator, Reader, may_lack

POINTS = 81  # of a curve


@dataclass(frozen=True, eq=False)
class Served:
    """One loaded model."""

    folder: Path
    estimator: Estimator
    digest: str
    reader: Reader
    answers: Answers
    findings: Findings

    @classmethod
    def load(cls, folder: Path) -> Served:
        """Load and check; an altered or half-written folder is an error."""
        digest = str(read_manifest(folder)["digest"])
        estimator, part = load(folder), drawn(folder)
        if read_manifest(folder)["digest"] != digest:
            raise AlteredError(f"{str(folder)!r} was changed while it was read; load it again.")
        found = gather(estimator, name=folder.name, drawn=part)
        return cls(folder, estimator, digest, Reader(estimator), Answers(estimator), found)

    @property
    def card(self) -> str:
        """The model card, Markdown."""
        return card(self.findings)

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Outputs [n, o] of inputs x [n, m] inside the domain."""
        return self.estimator.outputs_at(x).reshape(len(x), len(self.answers.names))

    def certificate(self) -> dict[str, Any]:
        """What the checker said when the model was loaded."""
        found = self.estimator.certificate_
        if found is None:
            return {"certified": False, "statement": self.estimator.certificate_note_, "sha256": None}
        return {"certified": found.accepted, "statement": found.statement, "sha256": found.sha256}

    def described(self) -> dict[str, Any]:
        """Columns, rules with their verdicts and what is predicted, for the page and for programs."""
        model, names = self.estimator, self.estimator.outputs_.names
        rules = [
            {"rule": rule.sentence, "certified": rule.certified, "more": list(rule.more)}
            for rule in self.findings.rules
        ]
        return {
            "name": self.folder.name,
            "version": __version__,
            "digest": self.digest,
            "verdict": self.findings.headline,
            "sentence": self.findings.sentence,
            "quality": "" if model.quality_ is None else model.quality_.sentence(),
            "task": model.task,
            "outputs": [output_words(model.outputs_, name) for name in names],
            "positive": model.positive_class if isinstance(model, SmileClassifier) and model.task == "binary" else None,
            "columns": _columns(model),
            "middle": model.domain_.decode(_middle(self)[None]).to_dict("records")[0],
            "rules": rules,
        }

    def curve(self, row: Any, feature: str) -> dict[str, Any]:
        """The first output and its box along one feature, the others as in the row."""
        model, domain = self.estimator, self.estimator.domain_
        x = domain.clamp(self.reader.read([row]), out_of_bounds="clamp")[0]
        found = domain.feature(feature)
        span = domain.slices[feature]
        if found.kind == "category":
            values: list[Any] = list(found.values)
            block = np.eye(len(values))
        else:
            grid = np.linspace(found.lo, found.hi, POINTS)
            grid = grid if found.kind == "continuous" else np.unique(np.rint(grid))
            names = found.categories or order_of(found)
            values = [names[int(place)] for place in grid] if names else grid.tolist()
            block = grid[:, None]
        rows = np.repeat(x[None], len(block), axis=0)
        rows[:, span] = block
        if feature in domain.indicators:  # along known values, also where the row has none
            rows[:, domain.slices[domain.indicators[feature]]] = 0.0
        low, high = output_box(model.net_, rows)
        return {"at": values, "output": self.predict(rows)[:, 0].tolist(), "low": low.tolist(), "high": high.tolist()}

    def near(self, row: Any, number: int) -> dict[str, Any]:
        """The pair around a row that comes closest to breaking a rule."""
        model, domain = self.estimator, self.estimator.domain_
        if type(number) is not int or not 0 <= number < len(model.claims_):
            raise SmileError(f"There is no rule {number!r}; there are {len(model.claims_)}, counted from 0.")
        x = domain.clamp(self.reader.read([row]), out_of_bounds="clamp")
        found = probe(model.net_, model.claims_[number], x)
        if not len(found.value):
            return {"found": False}
        pair = domain.decode(found.tuples[0]).to_dict("records")
        return {"found": True, "rows": pair, "outputs": found.outputs[0].tolist(), "room": -float(found.value[0])}


def _middle(served: Served) -> np.ndarray:
    """Inputs to begin with: numbers in the middle of their ranges, the first category of each."""
    domain = served.estimator.domain_
    x = (domain.lo + domain.hi) / 2
    for feature in domain.features:
        span = domain.slices[feature.name]
        if feature.kind == "category":
            x[span] = np.eye(len(feature.values))[0]
        elif feature.kind != "continuous":
            x[span] = np.floor(x[span])
    return x


def _columns(estimator: Estimator) -> list[dict[str, Any]]:
    lacking = may_lack(estimator)
    return [_column(f) | {"missing": f.name in lacking} for f in estimator.domain_.features if fill_of(f) is None]


def _column(feature: Feature) -> dict[str, Any]:
    """A feature as a page shows it."""
    out: dict[str, Any] = {"name": feature.name, "kind": feature.kind, "unit": feature.unit}
    if names := feature.values or order_of(feature):
        out["values"] = list(names)
    else:
        out |= {"lo": feature.lo, "hi": feature.hi}
    if feature.columns:
        out["columns"] = list(feature.columns)
    return out


def read_body(data: Any, most: int) -> list[Any]:
    """The rows of a request's JSON."""
    if not isinstance(data, dict) or set(data) != {"rows"} or not isinstance(data["rows"], list):
        raise SmileError('A request is {"rows": [{…}, …]}, with the columns of each row by name.')
    if not data["rows"]:
        raise SmileError('The request has no row; give at least one, as in {"rows": [{…}]}.')
    if len(data["rows"]) > most:
        raise SmileError(f"A request has at most {most} rows, not {len(data['rows'])}; send them in parts.")
    return data["rows"]


def read_question(data: Any, keys: set[str]) -> dict[str, Any]:
    """A request of the page: an object with exactly these keys."""
    if not isinstance(data, dict) or set(data) != keys:
        raise SmileError(f"This request needs {listed(sorted(keys))}.")
    return data
