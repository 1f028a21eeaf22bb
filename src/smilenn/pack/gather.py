"""Everything a pack holds, as files by name; nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from smilenn._version import __version__
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.model.folder import (
    MANIFEST,
    SIGNATURE,
    dump_json,
    parse_json,
    read_file,
    read_folder,
    read_manifest,
    without_infinities,
)
from smilenn.pack.checkers import NOT_BUILT, NOT_COVERED, OUT_OF_TIME, Running
from smilenn.pack.clauses import clauses
from smilenn.pack.entry import opened
from smilenn.pack.monitoring import monitoring
from smilenn.pack.page import page
from smilenn.pack.profile import profile
from smilenn.pack.quality import quality, tradeoff
from smilenn.pack.sensitivity import sensitivity
from smilenn.recourse.levers import levers
from smilenn.report.drawn import drawn
from smilenn.report.elements import capital
from smilenn.report.findings import Findings, gather
from smilenn.versions import versions

HELD_OUT = {
    True: "held out of training",
    False: "used in training: expect lower quality on new rows",
    None: "not known to be used in training or held out",
}


@dataclass(frozen=True, eq=False)
class Data:
    """The rows a pack measures on: the file's name and SHA-256, the table, its target, what they are to the model."""

    name: str
    sha256: str
    X: pd.DataFrame
    y: Any
    held_out: bool | None = None
    train: tuple[Any, Any] | None = None


def gathered(
    model: Path,
    estimator: SmileRegressor | SmileClassifier,
    data: Data,
    *,
    name: str,
    seconds: float,
    limit: float,
    tell: Callable[[str], None],
) -> dict[str, bytes]:
    """The files of a pack; `seconds` for references, `limit` seconds for each checker."""
    copied = copy_of(model)
    manifest = parse_json(copied[f"model/{MANIFEST}"], MANIFEST)
    with Running(model, limit) as running:
        tell("quality and tight pairs, beside the checkers")
        found = gather(
            estimator,
            data.X,
            data.y,
            name=name,
            held_out=data.held_out,
            train=data.train,
            seconds=seconds,
            drawn=drawn(model),
        )
        tell("sensitivity and the monitoring plan")
        values, texts = _measured(found, estimator, data, str(manifest["digest"]))
        tell("waiting for the checkers")
        checked, printed = running.result()
    values |= {
        "pack.json": _summary(found, manifest, data),
        "checkers.json": checked,
        "limits.json": _limits(found, checked),
        "clauses.json": clauses(),
        "versions.json": versions(),
    }
    files = {name: dump_json(without_infinities(value)) for name, value in values.items()}
    files |= {name: f"{said.rstrip()}\n".encode("utf-8", "replace") for name, said in (texts | printed).items()}
    if str(read_manifest(model)["digest"]) != manifest["digest"]:
        raise SmileError(f"{str(model)!r} was changed while it was read; write the pack again.")
    return {"index.html": page(opened(files)).encode("utf-8", "replace"), **files, **copied}


def _measured(
    found: Findings, estimator: SmileRegressor | SmileClassifier, data: Data, digest: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """What is measured on the rows, and what the model says of itself."""
    x, certificate = estimator.read_rows(data.X), estimator.certificate_
    known = levers(certificate, estimator.outputs_, estimator.domain_)
    values = {
        "profile.json": profile(estimator.domain_, data.X, x, np.asarray(data.y)),
        "quality.json": quality(found),
        "sensitivity.json": sensitivity(found, known),
        "tradeoff.json": tradeoff(found),
        "monitoring.json": monitoring(found, x, digest),
    }
    statement = estimator.certificate_note_ if certificate is None else certificate.statement
    return values, {"statement.txt": statement, "design.txt": estimator.explain()}


def copy_of(model: Path) -> dict[str, bytes]:
    """The files of the model folder, hashes compared, with manifest and signature, under ``model/``."""
    manifest = read_manifest(model)
    files = {**read_folder(model, manifest), MANIFEST: read_file(model / MANIFEST)}
    if (model / SIGNATURE).exists():
        files[SIGNATURE] = read_file(model / SIGNATURE)
    return {f"model/{name}": content for name, content in files.items()}


def _summary(found: Findings, manifest: Mapping[str, Any], data: Data) -> dict[str, Any]:
    """What was packed, of which model, on which rows."""
    return {
        "name": found.name,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": f"smilenn {__version__}",
        "headline": found.headline,
        "sentence": f"{capital(found.sentence.removeprefix('certified, '))}{found.but}.",
        "outputs": list(found.output_names),
        "model": {"digest": manifest["digest"], "library": manifest["library"], "seconds": found.model.seconds_},
        "certificate": found.certificate or None,
        "rules": [
            {
                "rule": rule.sentence,
                "formula": rule.formula,
                "certified": rule.certified,
                "bound": rule.bound,
                "more": list(rule.more),
            }
            for rule in found.rules
        ],
        "data": {
            "file": data.name,
            "sha256": data.sha256,
            "rows": found.given,
            "measured": 0 if found.rows is None else len(found.rows),
            "held_out": HELD_OUT[found.held_out],
        },
    }


def _limits(found: Findings, checked: list[dict[str, Any]]) -> dict[str, Any]:
    """What is not guaranteed, what every checked bound assumes, and which checkers did not run."""
    said = {
        NOT_BUILT: "is not built here",
        OUT_OF_TIME: "did not end in time",
        NOT_COVERED: "says nothing of this model: its proof does not cover all that the model consists of",
    }
    missing = [f"The {one['name']} checker {said[one['status']]}." for one in checked if one["status"] in said]
    return {"limits": [*found.limits, *missing], "assumed": [item.line for item in found.assumed]}
