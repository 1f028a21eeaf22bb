"""Wrong rules, planted in the proved checker: the proof must fail for each, and where it fails is printed.

    python -m trust.wrong_rules                 all of them
    python -m trust.wrong_rules margin          those whose names contain one of these words

The theories are copied to another place with what is compiled of them, one piece of text is replaced there, and Coq
compiles what depends on it. Needs Coq and Flocq; some seconds to a minute each once `make proof` has run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PROOF = Path(__file__).resolve().parents[1] / "proof"
STATEMENT = re.compile(r"^\s*(?:Lemma|Theorem|Corollary)\s+(\w+)", re.MULTILINE)
ERROR = re.compile(
    r'File "\./theories/(\w+\.v)", line (\d+), characters [\d-]+:\s*\n?Error:\s*(.+?)(?:\n\n|\nmake|\Z)', re.DOTALL
)


@dataclass(frozen=True)
class Wrong:
    """A fault: its name, the file, what stands there once and what replaces it."""

    name: str
    file: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Failure:
    """Where a fault was planted, and where the proof fails: file, line, the statement proved there, Coq's words."""

    fault: Wrong
    planted: int
    file: str
    line: int
    statement: str
    words: str


UNIT = "(add b (add v (mul (add s t) c))) (axpy s w q1) (axpy t w q2)"
MARGIN = "norm (add (DChecker.margin (DChecker.a1 d) (r_errors r)) (DChecker.margin (DChecker.a2 d) (r_errors r)))"
FAULTS = (
    Wrong("leaf rule: a flipped sign", "Leaf.v", UNIT, UNIT.replace("axpy s w q1", "axpy (negT s) w q1")),
    Wrong(
        "leaf rule: a forgotten unit", "Leaf.v", UNIT, UNIT.replace("(add v (mul (add s t) c))", "(mul (add s t) c)")
    ),
    Wrong("margin: halved", "Joint.v", MARGIN, MARGIN.replace("norm (add", "norm (div (add") + " (add one one))"),
)


def line_of(text: str, at: int) -> int:
    """The number of a line, counted from 1."""
    return text.count("\n", 0, at) + 1


def plant(fault: Wrong, place: Path) -> int:
    """Put a fault into the copy of its file; the line."""
    file = place / "theories" / fault.file
    text = file.read_text(encoding="utf-8")
    if text.count(fault.right) != 1:
        raise SystemExit(f"{fault.name}: what it replaces does not stand exactly once in {fault.file}")
    file.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
    return line_of(text, text.index(fault.right))


def failure(fault: Wrong) -> Failure | None:
    """What Coq says; None if it accepts the fault."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "proof"
        shutil.copytree(PROOF, place, ignore=shutil.ignore_patterns("ocaml"))  # times of files are kept
        planted = plant(fault, place)
        done = subprocess.run(["make", "-C", str(place), "compile"], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return None
        found = ERROR.search(done.stdout + done.stderr)
        if found is None:
            raise SystemExit(f"{fault.name}: make fails without an error of Coq:\n{done.stdout}{done.stderr}")
        text = (place / "theories" / found[1]).read_text(encoding="utf-8")
    upto = "\n".join(text.split("\n")[: int(found[2])])
    statement = ["no statement", *STATEMENT.findall(upto)][-1]
    words = " ".join(found[3].split())
    if words.startswith("In environment"):  # hypotheses first, the failure last
        words = re.split(r"(?=Tactic failure|The term|Unable to|Cannot)", words)[-1]
    return Failure(fault, planted, found[1], int(found[2]), statement, words)


def failures(words: Sequence[str]) -> Iterator[tuple[Wrong, Failure | None]]:
    """Every fault, or those whose names contain one of the words, and what came of it."""
    for fault in FAULTS:
        if not words or any(word in fault.name for word in words):
            yield fault, failure(fault)


def main(words: Sequence[str]) -> int:
    """A line of a table a fault; the exit code is 1 if Coq accepts one."""
    accepted = 0
    for fault, found in failures(words):
        accepted += found is None
        said = "accepted" if found is None else f"{found.file}:{found.line}, `{found.statement}`: {found.words}"
        where = fault.file if found is None else f"{fault.file}:{found.planted}"
        print(f"| {fault.name} | {where}: `{fault.right}` → `{fault.wrong}` | {said} |", flush=True)  # noqa: T201
    return int(accepted > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
