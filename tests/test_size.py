"""How large and how branched the source may be; radon counts the branches.

The two checkers are left out of some limits: check.py is one file because it has to be read and carried as one, and
what both may be taken apart into is decided by how they are audited, not here.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from radon.complexity import cc_rank, cc_visit

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "smilenn"
FILES = sorted(PACKAGE.rglob("*.py"))
AVERAGE, WITH_CHECKERS = 4.0, 4.3  # of all functions, methods and classes
MOST_E = 4
LINES = 400
LONGER = {"certify/check.py": 2810, "certify/check_deep.py": 1_410}  # and no longer than that
SKIPPED = "fmt: " + "skip"  # in two parts, or this line would be found


def is_checker(file: Path) -> bool:
    own = PACKAGE / "certify"
    return file in (own / "check.py", own / "check_deep.py") or file.is_relative_to(own / "reference")


@cache
def blocks(file: Path) -> tuple[tuple[str, int], ...]:
    """Every function, method and class of a file with its complexity, as ``radon cc`` counts them."""
    where = file.relative_to(PACKAGE)
    found = cc_visit(file.read_text(encoding="utf-8"))
    return tuple((f"{where}:{block.lineno} {block.name}", block.complexity) for block in found)


def average(files) -> float:
    every = [complexity for file in files for _, complexity in blocks(file)]
    return sum(every) / len(every)


def test_functions_are_simple_on_average():
    assert average(file for file in FILES if not is_checker(file)) <= AVERAGE
    assert average(FILES) <= WITH_CHECKERS


def test_no_function_is_a_maze():
    found = [block for file in FILES if not is_checker(file) for block in blocks(file)]
    ranks = {name: cc_rank(complexity) for name, complexity in found}
    assert [name for name, rank in ranks.items() if rank == "F"] == []
    assert len(worst := [name for name, rank in ranks.items() if rank == "E"]) <= MOST_E, worst


def test_files_are_short():
    lines = {file.relative_to(PACKAGE).as_posix(): len(file.read_text("utf-8").splitlines()) for file in FILES}
    assert {name: count for name, count in lines.items() if count > LONGER.get(name, LINES)} == {}
    assert [file for file in FILES if file.stem in ("utils", "util", "helpers", "misc")] == []


def test_the_formatter_decides():
    """No line is exempt from the formatter."""
    every = [
        file for folder in ("src", "tests", "trust", "benchmarks", "examples") for file in (ROOT / folder).rglob("*.py")
    ]
    found = [file.relative_to(ROOT).as_posix() for file in every if SKIPPED in file.read_text(encoding="utf-8")]
    assert found == []


def test_complexity_is_counted():
    """The limits would notice a maze: radon sees the branches of a function."""
    maze = "def f(x):\n" + "".join(f"    if x == {i}:\n        return {i}\n" for i in range(45))
    (block,) = cc_visit(maze)
    assert cc_rank(block.complexity) == "F"
