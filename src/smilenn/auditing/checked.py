"""The checker of audits in a process of its own, and what it says as values."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

from smilenn.certify import check_deep
from smilenn.certify.check_deep import Report, RowReport
from smilenn.errors import SmileError, printable

NUMBERS = ("found", "real", "computed", "rhs")


def check_audit(folder: str | os.PathLike[str]) -> Report:
    """The checker's report on an audit's folder, from a fresh process where one can be started."""
    if not sys.executable or getattr(sys, "frozen", False):
        return check_deep.check_folder(folder)
    command = [sys.executable, "-I", "-S", check_deep.__file__, "--json", os.path.abspath(os.fspath(folder))]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        report = read_report(json.loads(done.stdout))
    except (ValueError, LookupError, TypeError):
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise SmileError(f"The checker ended without a report ({printable(last[0])}); check again.") from None
    if report.exit_code != done.returncode:
        raise SmileError(f"The checker reports {report.status!r} and ends with {done.returncode}; check again.")
    return report


def read_report(data: dict[str, Any]) -> Report:
    """Inverse of `Report.to_json`."""
    return Report(**{**data, "rows": tuple(_row(row) for row in data["rows"])})


def _row(data: dict[str, Any]) -> RowReport:
    numbers = {key: None if data[key] is None else Fraction(data[key]) for key in NUMBERS}
    rest = {key: data[key] for key in ("text", "leaves")}
    return RowReport(**numbers, **rest, statement=tuple(data["statement"]))  # type: ignore[arg-type]
