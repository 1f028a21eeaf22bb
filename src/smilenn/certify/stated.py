"""What a model folder states, held against what its certificate proves.

    properties.json   {"properties": what the user asked for, "claims": the exact claims they became}

The checkers compare the claims with the certificate's. Whether the claims are those of the properties takes the
library: `uncovered` translates the properties again. Folders of version 1 kept what rounding was granted in the right
sides of the certificate's claims; `first_version` moves it to where version 2 has it, as far as version 2 allows it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from smilenn.certify.check import Report, RowReport
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.folder import parse_json
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.forms import ROLES, Outputs, class_name
from smilenn.properties.naming import output_words
from smilenn.properties.spec import lower_all
from smilenn.properties.unregistered import stated_properties, unregistered_note

MODEL, PROPERTIES = "model.json", "properties.json"
ROUNDING = Fraction(1, 10**9)  # of a right side, or of an output's scale: what may be called rounding


def most_room(stated: Inequality, scales: Mapping[str, float]) -> Fraction:
    """What rounding may be granted to a row: 10^-9 of its right side or, where that is 0, of its outputs' scale.

    The scales are those that training gave the outputs, by name, and the largest counts. A range computed from the
    weights would excuse whatever large weights do. An output whose terms cancel, as files may have it, does not count.
    The only output of a network may also be called ''.
    """
    only = next(iter(scales)) if len(scales) == 1 else ""
    found: dict[tuple[int, str], Fraction] = {}
    for term in stated.terms:
        if term.kind == "out":
            key = term.copy, term.name or only
            found[key] = found.get(key, Fraction(0)) + term.coef
    named = {name for (_, name), coef in found.items() if coef}
    return ROUNDING * (
        abs(stated.rhs) or Fraction(max((s for name, s in scales.items() if name in named), default=0.0))
    )


def uncovered(files: Mapping[str, bytes], proved: tuple[Claim, ...]) -> str:
    """Why the certificate does not cover all that properties.json states, as part of a sentence; empty if it does.

    A folder without properties.json states its claims in the certificate alone. A property whose class is not
    registered here is what its claims say, which the checker compares with the certificate's (`unregistered`).
    """
    try:
        model = parse_json(files[MODEL], MODEL)
        domain, outputs, columns = space(model)
        if wrong := _misnamed(model, outputs):
            return wrong
    except (SmileError, LookupError, TypeError, ValueError, AttributeError):
        return "model.json does not say what its inputs and outputs are"
    if PROPERTIES not in files:
        return ""
    try:
        document = parse_json(files[PROPERTIES], PROPERTIES)
        claims = lower_all(stated_properties(document), domain, outputs, columns)
    except SmileError as error:
        return f"properties.json states what this version cannot translate ({str(error).rstrip('.')})"
    except (LookupError, TypeError, ValueError, AttributeError):
        return "properties.json states no properties that can be read"
    if not set(claims).issubset(proved):
        return "properties.json states properties that the certificate does not prove"
    return ""


def _misnamed(model: Mapping[str, Any], outputs: Outputs) -> str:
    """Why labels or words in model.json are not those of its columns and outputs, as part of a sentence, or empty.

    A checker reads neither classes nor target, and repeats the meaning of the outputs as it is stored. A table with
    neither has words of its own; so has the clamp of another model's log-odds.
    """
    if outputs.misnamed or len(set(outputs.classes)) < len(outputs.classes):
        return "the classes in model.json are not those that its outputs decide between"
    table = model.get("table")
    if table is None:  # version 1 has neither meaning nor the names of classes under a digest
        return ""
    if table.get("feature_names_in", table.get("columns")) != table.get("columns"):
        return "model.json names its columns in two orders"
    if outputs.classes and table.get("task", "") in ROLES:
        return "the classes in model.json do not go with its task"
    if "class_outputs" in table and outputs.classes and outputs.classes != tuple(map(class_name, table["classes"])):
        return "the classes in model.json are not those that its outputs are named after"
    named = "task" in table or bool(outputs.classes or outputs.target)
    if named and table.get("meaning") not in _meanings(outputs, clamped="task" not in table):
        return "the meaning of the outputs in model.json is not that of its task, target and classes"
    return ""


def _meanings(outputs: Outputs, *, clamped: bool) -> list[list[str]]:
    """What the outputs may be said to mean; of a table that is not an estimator's also their clamp."""
    meaning = [output_words(outputs, name) for name in outputs.names]
    return [meaning, [f"{words}, clamped" for words in meaning]] if clamped else [meaning]


def unregistered(files: Mapping[str, bytes]) -> str:
    """The sentence on properties whose classes are not registered here; empty where all are, or none is stated."""
    if PROPERTIES not in files:
        return ""
    try:
        return unregistered_note(parse_json(files[PROPERTIES], PROPERTIES))
    except (LookupError, TypeError, ValueError, AttributeError):  # unreadable: `uncovered` says so
        return ""


def space(model: Mapping[str, Any]) -> tuple[Domain, Outputs, list[str] | None]:
    """The domain, outputs and columns of model.json that properties are translated with."""
    net = model["net"]
    table = model.get("table", model.get("learned", {}))
    classes = tuple(map(class_name, table.get("class_outputs", table.get("classes", ()))))
    role = ROLES.get(table.get("task", ""), "output")
    outputs = Outputs(
        tuple(net["outputs"]), classes, str(table.get("target", "")), role, str(table.get("positive", ""))
    )
    return Domain.from_json(net["domain"]), outputs, table.get("columns")


def first_digest(net: Mapping[str, Any], tensors: Mapping[str, bytes]) -> str:
    """The digest by which a certificate of version 1 names a network (docs/certificate.md, §7)."""
    described = {key: value for key, value in net.items() if key != "backbone"}
    hasher = hashlib.sha256(json.dumps(described, sort_keys=True, separators=(",", ":")).encode("ascii"))
    for name in sorted(tensors):
        hasher.update(name.encode() + b"\0" + tensors[name])
    return hasher.hexdigest()


def first_version(
    report: Report, files: Mapping[str, bytes], proved: tuple[Claim, ...]
) -> tuple[Report, tuple[Claim, ...]] | None:
    """A report of version 1 as one on the claims as stated; None if the certificate proves others.

    What it adds to right sides becomes room, unless that is more than rounding may be granted.
    """
    stated = _stated(files, proved)
    if stated is None:
        return None
    net = parse_json(files[MODEL], MODEL)["net"]
    scales = dict(zip(net["outputs"], net["output_scale"], strict=True))
    claims = tuple(
        replace(
            found, rows=tuple(_moved(row, wanted, scales) for row, wanted in zip(found.rows, claim.heads, strict=True))
        )
        for found, claim in zip(report.claims, stated, strict=True)
    )
    good = all(row.holds for claim in claims for row in claim.rows)
    return replace(report, claims=claims, status="certified" if good else "unknown"), stated


def _moved(row: RowReport, stated: Inequality, scales: Mapping[str, float]) -> RowReport:
    raised = row.rhs - stated.rhs
    granted = 0 < raised <= min(most_room(stated, scales), 2 * row.margin)
    return replace(row, rhs=stated.rhs, room=raised if granted else Fraction(0))


def _stated(files: Mapping[str, bytes], proved: tuple[Claim, ...]) -> tuple[Claim, ...] | None:
    """The claims of properties.json if the certificate's differ from them in larger right sides only; else None."""
    if PROPERTIES not in files:
        return proved
    document = parse_json(files[PROPERTIES], PROPERTIES)
    listed = document.get("claims") if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(listed) != len(proved):
        return None
    stated = tuple(map(Claim.from_json, listed))
    return stated if all(map(_is_relaxed, stated, proved)) else None


def _is_relaxed(stated: Claim, proved: Claim) -> bool:
    """Whether a proved claim is the stated one but for larger right sides."""
    if replace(stated, then=proved.then) != proved or len(stated.then) != len(proved.then):
        return False
    rows = zip(stated.then, proved.then, strict=True)
    return all(replace(row, rhs=other.rhs) == other and other.rhs >= row.rhs for row, other in rows)
