"""The checker in a process of its own: whatever this process has done to its arithmetic or its modules stays here.

    check_apart(folder)  =  python -I -S check.py --json folder  ─▶  Report

The checker needs the standard library alone, so a new interpreter starts in a tenth of a second and sees neither this
process's settings nor packages that were installed beside it. Where no interpreter can be started, the same file
runs in this process: it computes with integers only. A process can be ended when a deadline is over; this one cannot.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

from smilenn.certify import check
from smilenn.certify.check import ClaimReport, Report, RowReport
from smilenn.deadline import NEVER, Deadline, Late
from smilenn.errors import SmileError, printable

FRACTIONS = ("bound", "margin", "rhs", "room")


def interpreter() -> str:
    """The program that a fresh process runs; empty where none can be started: Python is embedded or frozen."""
    return "" if getattr(sys, "frozen", False) else sys.executable or ""


def check_apart(folder: str | os.PathLike[str], until: Deadline = NEVER) -> Report:
    """The report of the checker on a model folder, from a fresh process; one that is not done in time is ended."""
    if not (python := interpreter()):
        return check.check_folder(folder)
    command = [python, "-I", "-S", check.__file__, "--json", os.path.abspath(os.fspath(folder))]
    most = None if until == NEVER else until.left()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=most)
    except subprocess.TimeoutExpired:
        raise Late from None
    try:
        report = read_report(json.loads(done.stdout))
    except (ValueError, LookupError, TypeError):
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        why = printable(last[0])
        raise SmileError(f"The checker ended without a report ({why}); check again with more memory.") from None
    if report.exit_code != done.returncode:
        raise SmileError(f"The checker reports {report.status!r} and ends with {done.returncode}; check again.")
    return report


def read_report(data: dict[str, Any]) -> Report:
    """Inverse of `Report.to_json`."""
    claims = [
        ClaimReport(claim["formula"], claim["sentence"], tuple(map(_row, claim["rows"]))) for claim in data["claims"]
    ]
    lists = {name: tuple(data[name]) for name in ("domain", "meaning")}
    return Report(**{**data, **lists, "claims": tuple(claims)})


def _row(data: dict[str, str]) -> RowReport:
    numbers = {name: Fraction(*(int(part, 16) for part in data[name].split("/"))) for name in FRACTIONS}
    return RowReport(data["text"], data["rule"], **numbers)
