"""The proved checker: a program in OCaml, found and run. Its theorem and what it covers stand in proof/README.md.

`make verified` builds proof/ocaml/smilecheck in a checkout. Elsewhere the program is looked for on the PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from smilenn.errors import SmileError

PROGRAM = "smilecheck"
BUILT = Path(__file__).resolve().parents[3] / "proof" / "ocaml" / PROGRAM
CODES = {"certified": 0, "refused": 1, "unreadable": 2, "unknown": 3}


@dataclass(frozen=True)
class Finding:
    """What the program found: a status of the checkers, and the reason where it is not ``certified``."""

    status: str
    reason: str


def program() -> str | None:
    """Where the program is: in this checkout, or on the PATH; None if nowhere."""
    return str(BUILT) if BUILT.is_file() else shutil.which(PROGRAM)


def run(folder: str | os.PathLike[str]) -> Finding:
    """Check a model folder by the program; raise where there is none, or where it ends without a finding."""
    found = program()
    if found is None:
        raise SmileError("The proved checker is not built; run `make verified`, which needs OCaml and Zarith.")
    done = subprocess.run([found, "--json", os.fspath(folder)], capture_output=True, check=False)
    try:
        report = json.loads(done.stdout)
        finding = Finding(report["status"], report["reason"])
    except (ValueError, LookupError, TypeError):
        finding = Finding("", "")
    if CODES.get(finding.status) != done.returncode:  # a crash is no answer, whatever was printed before
        raise SmileError(f"The proved checker ended with code {done.returncode} and no finding.")
    return finding
