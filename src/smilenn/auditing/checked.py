"""The checker of audits in a process of its own, and what it says as values."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from smilenn.certify import check_deep, process
from smilenn.certify.check_deep import Report, RowReport, ShareReport
from smilenn.errors import SmileError, printable

NUMBERS = ("found", "real", "computed", "rhs")
T = TypeVar("T", Report, ShareReport)


def check_audit(folder: str | os.PathLike[str]) -> Report:
    """The checker's report on an audit's folder, from a fresh process where one can be started."""
    return _checked(folder, check_deep.check_folder, read_report)


def check_labels(folder: str | os.PathLike[str]) -> ShareReport:
    """The same for a folder about labels."""
    return _checked(folder, check_deep.check_share, read_share)


def _checked(folder: str | os.PathLike[str], here: Callable[[Any], T], read: Callable[[dict[str, Any]], T]) -> T:
    if not (python := process.interpreter()):
        return here(folder)
    command = [python, "-I", "-S", check_deep.__file__, "--json", os.path.abspath(os.fspath(folder))]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        report = read(json.loads(done.stdout))
    except (ValueError, LookupError, TypeError):
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise SmileError(f"The checker ended without a report ({printable(last[0])}); check again.") from None
    if report.exit_code != done.returncode:
        raise SmileError(f"The checker reports {report.status!r} and ends with {done.returncode}; check again.")
    return report


def read_report(data: dict[str, Any]) -> Report:
    """Inverse of `Report.to_json`."""
    return Report(**{**data, "rows": tuple(_row(row) for row in data["rows"])})


def read_share(data: dict[str, Any]) -> ShareReport:
    """Inverse of `ShareReport.to_json`."""
    pair = tuple(tuple(x) for x in data["pair"])
    return ShareReport(**{**data, "statement": tuple(data["statement"]), "pair": pair})


def _row(data: dict[str, Any]) -> RowReport:
    numbers = {key: None if data[key] is None else Fraction(data[key]) for key in NUMBERS}
    rest = {key: data[key] for key in ("text", "leaves")}
    return RowReport(**numbers, **rest, statement=tuple(data["statement"]))  # type: ignore[arg-type]
