"""Verdicts as JSON and back, for model folders.

Everything a verdict says survives the round trip; numbers that JSON lacks (an infinite bound) are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from smilenn.errors import SmileError
from smilenn.reason import whys_from_json, whys_to_json
from smilenn.verdict import Counterexample, Proved, Rejected, Unknown, Verdict, Violated

KINDS = {kind.status: kind for kind in (Proved, Violated, Unknown, Rejected)}


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """The verdict with its tolerance, reason, point and counterexample."""
    out = verdict.to_json()
    match verdict:
        case Proved():
            out["tolerance"] = verdict.tolerance
            if verdict.certificate:
                out["certificate"] = verdict.certificate
        case Violated(counterexample=Counterexample() as c):
            out["counterexample"] = {
                "x": c.x.tolist(),
                "outputs": c.outputs.tolist(),
                "violation": c.violation,
                "row": c.row,
            }
        case Unknown():
            out |= {"reason": verdict.reason, "reasons": whys_to_json(verdict.why)}
            if verdict.point is not None:
                out["point"] = verdict.point.tolist()
        case Rejected():
            out |= {"reason": verdict.reason, "reasons": whys_to_json(verdict.why)}
    return out


def verdict_from_json(data: Mapping[str, Any], where: str = "verdict.json") -> Verdict:
    """Inverse of `verdict_to_json`."""
    try:
        kind = KINDS[data["status"]]
        common = (str(data["method"]), float(data.get("bound", math.inf)), float(data["seconds"]))
        if kind is Proved:
            return Proved(*common, tolerance=float(data["tolerance"]), certificate=str(data.get("certificate", "")))
        if kind is Violated:
            return Violated(*common, counterexample=_counterexample(data.get("counterexample")))
        if kind is Unknown:
            point = data.get("point")
            array = None if point is None else np.array(point, dtype=np.float64)
            return Unknown(*common, why=whys_from_json(data), point=array)
        return Rejected(*common, why=whys_from_json(data))
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        why = str(error).split("\n")[0]
        raise SmileError(f"{where} does not hold a verdict ({why}); prove the model again.") from None


def _counterexample(data: Mapping[str, Any] | None) -> Counterexample | None:
    if data is None:
        return None
    x, outputs = (np.array(data[key], dtype=np.float64) for key in ("x", "outputs"))
    return Counterexample(x, outputs, float(data["violation"]), str(data["row"]))
