"""Imports point one way, from high layers to low ones, and library code never prints; held on the syntax tree.

A file may import its own part of the package, parts of its own layer and of lower layers; parts form no cycle.
"""

import ast
import re
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "smilenn"
LAYER = {
    "_version": 0,
    "deadline": 0,
    "errors": 0,
    "prove": 0,
    "progress": 0,
    "reason": 0,
    "rounding": 0,
    "sigmoid": 0,
    "versions": 0,
    "calibration": 1,
    "domain": 1,
    "properties": 2,
    "model": 3,
    "verdict": 4,
    "problem": 4,
    "clusters": 4,
    "search": 5,
    "provers": 5,
    "certify": 6,
    "auditing": 7,
    "train": 7,
    "recourse": 8,
    "report": 8,
    "estimators": 8,
    "datasets": 9,
    "baselines": 9,
    "deep": 9,
    "guarding": 9,
    "experiments": 10,
    "export": 10,
    "mlflow": 10,
    "pack": 10,
    "service": 10,
    "cli": 11,
    "__main__": 12,
}
FREE = {"__init__", "testing"}  # the public surface and the contracts for third parties see everything
FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(file: Path) -> str:
    """`smilenn/model/net.py` belongs to `model`, `smilenn/domain.py` to `domain`."""
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def module_of(file: Path) -> tuple[str, ...]:
    parts = ("smilenn", *file.relative_to(PACKAGE).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


parse = cache(ast.parse)


def imported_parts(file: Path, tree: ast.AST) -> list[tuple[int, str]]:
    """Line and part of the package of every import, at any depth of the file, relative ones resolved."""
    package = module_of(file) if file.name == "__init__.py" else module_of(file)[:-1]
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            base = (*start, *(node.module.split(".") if node.module else ()))
            names = [(*base, alias.name) for alias in node.names]
        else:
            continue
        found += [(node.lineno, name[1]) for name in names if name[0] == "smilenn" and len(name) > 1]
        # `import smilenn` or `from smilenn import Domain` inside the package would go round the layers
        found += [(node.lineno, "__init__") for name in names if name == ("smilenn",)]
    return found


def faults(file: Path, source: str) -> list[str]:
    here = part_of(file)
    tree = parse(source)
    out = []
    if here not in FREE:
        for line, there in imported_parts(file, tree):
            if there == here:
                continue
            if there not in LAYER:
                out.append(f"{file.name}:{line}: import {there!r} from the module that defines it, in a known layer")
            elif LAYER[there] > LAYER[here]:
                out.append(f"{file.name}:{line}: {here} (layer {LAYER[here]}) imports {there} (layer {LAYER[there]})")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            out.append(f"{file.name}:{node.lineno}: print; use logging or the command line's console")
    return out


def test_files_keep_their_layers_and_are_silent():
    new = {part_of(file) for file in FILES} - LAYER.keys() - FREE
    assert not new, f"{sorted(new)} have no layer: add them to docs/architecture.md and here"
    assert [fault for file in FILES for fault in faults(file, file.read_text(encoding="utf-8"))] == []


def test_parts_form_no_cycle():
    needs: dict[str, set[str]] = {}
    for file in FILES:
        if (here := part_of(file)) not in FREE:
            found = imported_parts(file, parse(file.read_text(encoding="utf-8")))
            needs.setdefault(here, set()).update(there for _, there in found if there != here)
    TopologicalSorter(needs).prepare()  # raises CycleError, which names the cycle


@pytest.mark.parametrize(
    ("where", "source", "bad"),
    [
        ("model/net.py", "from smilenn.domain import Domain", False),
        ("model/net.py", "from smilenn.model.select import select", False),
        ("model/net.py", "from . import select", False),
        ("model/net.py", "from .. import train", True),
        ("model/net.py", "from ..train.fit import fit", True),
        ("model/net.py", "def f():\n    import smilenn.train.fit", True),
        ("model/net.py", "from smilenn import Domain", True),
        ("model/net.py", "import smilenn", True),
        ("model/net.py", "print('x')", True),
        ("model/net.py", "console.print('x')", False),
        ("search/pool.py", "from smilenn.provers import verdict", False),
        ("model/encoders/pinned.py", "from ..net import SmileNet", False),
        ("domain.py", "from . import properties", True),
        ("testing.py", "from smilenn.cli import main", False),
    ],
)
def test_the_rule_itself(where, source, bad):
    assert bool(faults(PACKAGE / where, source)) is bad


EXTRAS = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - {"dev", "docs"}))
def test_every_extra_has_code_that_uses_it(extra):
    """Each library of an extra is imported somewhere, or its models are recognised by the name of their module."""
    source = "\n".join(file.read_text(encoding="utf-8") for file in FILES if file.stem != "versions")
    for wanted in EXTRAS[extra]:
        name = re.split(r"[\[>=<]", wanted)[0]
        name = {"mlflow-skinny": "mlflow", "interpret-core": "interpret"}.get(name, name.replace("-", "_"))
        assert re.search(rf'(import|from) {name}\b|"{name}"', source), f"nothing uses {name} of the extra {extra!r}"
