"""What every checker says of the model folder, each in a process of its own, with its version and what it printed.

    fast        certify/check.py, one file of the standard library
    reference   certify/reference, written independently of it
    proved      the program extracted from the proof, where it is built

Checkers that find different things end the pack: one of them is wrong. The proved checker says nothing of what its
proof does not cover.
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from smilenn._version import __version__
from smilenn.certify import check as fast
from smilenn.certify.verified import CODES, program
from smilenn.errors import AlteredError, SmileError

STATUS = {code: status for status, code in CODES.items()}
NOT_BUILT, OUT_OF_TIME, NOT_COVERED = "not built", "out of time", "not covered"
UNCOVERED = b"unknown: not covered by the proof"  # how the proved checker begins where it says nothing of a folder


@dataclass(frozen=True)
class Checker:
    """A program to run: what it is called, how it is started (None where it is not built), the files it consists of."""

    name: str
    command: tuple[str, ...] | None
    source: tuple[Path, ...]
    what: str


def checkers() -> tuple[Checker, ...]:
    """All of them."""
    own = Path(fast.__file__)
    other, proved = sorted((own.parent / "reference").glob("*.py")), program()
    return (
        Checker("fast", (sys.executable, "-I", "-S", str(own)), (own,), "scaled integers, one file"),
        Checker(
            "reference",
            (sys.executable, "-m", "smilenn.certify.reference.check"),
            tuple(other),
            "rationals, written independently of the fast one",
        ),
        Checker(
            "proved",
            None if proved is None else (proved,),
            () if proved is None else (Path(proved),),
            "extracted from a proof of its soundness",
        ),
    )


class Running:
    """All checkers on a folder, one after the other beside other work; leaving the block ends what still runs."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._pool = ThreadPoolExecutor(1)
        self._found = [self._pool.submit(self._run, checker) for checker in checkers()]

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        for found in self._found:
            found.cancel()
        if self._process is not None:
            self._process.kill()
        self._pool.shutdown()

    def result(self) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """A record of each checker, and what each printed, by the name of its file."""
        found = [one.result() for one in self._found]
        records = [record for record, _ in found]
        _refuse_disagreement(self.folder, records)
        return records, {record["output"]: said for record, said in found if record["output"] is not None}

    def _run(self, checker: Checker) -> tuple[dict[str, Any], str]:
        """What one checker found and printed."""
        record = _described(checker)
        if checker.command is None:
            return record | {"status": NOT_BUILT, "seconds": None}, ""
        begun = perf_counter()
        command = [*checker.command, str(self.folder.absolute())]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            said, _ = self._process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            return record | {"status": OUT_OF_TIME, "seconds": self.seconds}, ""
        code, took = self._process.returncode, round(perf_counter() - begun, 3)
        if code not in STATUS:
            raise SmileError(f"The {checker.name} checker ended with code {code} and no finding; check again.")
        name = f"checker-{checker.name}.txt"
        status = NOT_COVERED if checker.name == "proved" and said.startswith(UNCOVERED) else STATUS[code]
        return record | {"status": status, "seconds": took, "output": name}, said.decode("utf-8", "replace")


def _described(checker: Checker) -> dict[str, Any]:
    """Name, versions and the digest of its program."""
    return {
        "name": checker.name,
        "what": checker.what,
        "version": __version__,
        "sha256": _digest(checker.source) if checker.source else None,
        "python": platform.python_version() if checker.name != "proved" else None,
        "output": None,
    }


def _digest(files: Sequence[Path]) -> str:
    """SHA-256 of the files one after the other, in the order of their names."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()


def _refuse_disagreement(folder: Path, records: Sequence[dict[str, Any]]) -> None:
    ended = {record["name"]: record["status"] for record in records if record["status"] in CODES}
    if len(set(ended.values())) > 1:
        said = ", ".join(f"{name}: {status}" for name, status in ended.items())
        raise AlteredError(f"The checkers disagree on {str(folder)!r} ({said}); do not use the model, and report it.")
