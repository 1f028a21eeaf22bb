"""What must be read to know what the theorems of proof/ say: definitions that their statements use, and what those use.

    python -m trust.definitions                 names by file, and how many lines they are

`make proof` leaves beside every theory a .glob file, in which Coq notes where a name is defined and used. A statement
is followed from there to definitions, and from definition to definition. The checker's own functions are left out: a
statement is about whatever they accept, and what they do is what is proved.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

THEORIES = Path(__file__).resolve().parents[1] / "proof" / "theories"
STATEMENTS = (
    ("Deployed", "order_sound"),
    ("LeafDeployed", "leaf_sound"),
    ("AnyDeployed", "leaf_sound_any"),
    ("AnyDeployed", "leaf_sound_one"),
    ("Cases", "cases_sound"),
    ("Cases", "cases_sound_any"),
    ("AnyFixed", "fixed_is_any"),
    ("AnyFixed", "any_network_is_there"),
    ("AnyFixed", "cut_selects"),
    ("AnyFixed", "cut_between"),
    ("Witness", "witness_sound"),
    ("JointPremise", "one_hot_sound"),
)
CHECKER = {"check_order", "prepare", "bound_of", "accepts", "check_cases", "witness_ok", "one_hot_ok"}
SENTENCE = re.compile(rb"\(\*.*?\*\)|\.(?=\s)", re.DOTALL)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a theory: its place in bytes, and its text."""

    start: int
    stop: int
    text: str

    @property
    def lines(self) -> int:
        """How many lines it takes, comments before it left out."""
        return self.text.strip().count("\n") + 1


@dataclass(frozen=True)
class Theory:
    """A file: its sentences, where names are defined, and what is used where."""

    sentences: tuple[Sentence, ...]
    defined: dict[str, int]
    used: tuple[tuple[int, str, str], ...]

    def sentence(self, name: str) -> Sentence | None:
        """The sentence that defines a name."""
        at = self.defined.get(name)
        return None if at is None else next(s for s in self.sentences if s.start <= at < s.stop)

    def uses(self, sentence: Sentence) -> Iterator[tuple[str, str]]:
        """Files and names that a sentence uses."""
        return ((file, name) for at, file, name in self.used if sentence.start <= at < sentence.stop)


def sentences(data: bytes) -> Iterator[Sentence]:
    """Sentences end with a point and white space; comments are left out of their texts."""
    start, text = 0, b""
    last = 0
    for found in SENTENCE.finditer(data):
        text += data[last : found.start()]
        last = found.end()
        if found[0] == b".":
            yield Sentence(start, found.end(), text.decode())
            start, text = found.end(), b""


def read(name: str) -> Theory:
    """A theory with what Coq has noted of it."""
    notes = (THEORIES / f"{name}.glob").read_text(encoding="utf-8")
    defined = {n: int(at) for at, n in re.findall(r"^(?!R|binder)\w+ (\d+):\d+ \S+ (\S+)$", notes, re.MULTILINE)}
    text = (THEORIES / f"{name}.v").read_bytes()
    found = re.findall(r"^R(\d+):(\d+) Smile\.(\w+) \S+ ([\w']+) (?!var|lib|mod|sec|constr)\w+$", notes, re.MULTILINE)
    # Coq notes a variable of a pattern, `w :: ws`, as the projection of that name where there is one
    used = [(int(at), file, n) for at, end, file, n in found if text[int(end) + 1 : int(end) + 4] != b" ::"]
    return Theory(tuple(sentences(text)), defined, tuple(used))


def closure() -> dict[tuple[str, int], tuple[str, Sentence]]:
    """Sentences that the statements use, by file and place, with the first name that led to each."""
    theories = {file.stem: read(file.stem) for file in THEORIES.glob("*.glob")}
    out: dict[tuple[str, int], tuple[str, Sentence]] = {}
    waiting = []
    for file, name in STATEMENTS:
        statement = theories[file].sentence(name)
        assert statement is not None, name
        waiting += theories[file].uses(statement)
    while waiting:
        file, name = waiting.pop()
        found = theories[file].sentence(name)
        if found is None:
            raise SystemExit(f"{file}.v does not define {name}")
        if name in CHECKER or (file, found.start) in out:
            continue
        out[file, found.start] = (name, found)
        waiting += theories[file].uses(found)
    return out


def main() -> int:
    """Names by file, and lines in all."""
    found = closure()
    for file in sorted({file for file, _ in found}):
        own = [sentence for (at, _), (_, sentence) in sorted(found.items()) if at == file]
        names = [re.sub(r"^\s*(?:#\[\w+\]\s*)?\w+\s+([\w']+).*", r"\1", s.text.strip(), flags=re.DOTALL) for s in own]
        print(f"{file}.v, {sum(s.lines for s in own)} lines: {', '.join(names)}")  # noqa: T201
    print(f"{sum(s.lines for _, s in found.values())} lines")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
