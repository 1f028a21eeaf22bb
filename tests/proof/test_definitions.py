"""proof/README.md lists every definition that the statements of the theorems use, as Coq's own notes have them."""

import os
from importlib import import_module

import pytest


@pytest.fixture(scope="module")
def definitions():
    """trust/definitions.py: what must be read before the theorems are believed."""
    found = import_module("trust.definitions")
    if not (found.THEORIES / "Cases.glob").exists():
        reason = "the proof is not compiled: run `make proof`, which needs Coq and Flocq"
        pytest.fail(reason) if os.environ.get("REQUIRE_PROOF") else pytest.skip(reason)
    return found


def test_the_list_is_complete(definitions, capsys):
    assert definitions.main() == 0
    *files, total = capsys.readouterr().out.splitlines()
    readme = (definitions.THEORIES.parent / "README.md").read_text(encoding="utf-8")
    listed = " ".join(readme.replace("`", "").split())
    for line in files:
        file, names = line.split(", ", 1)[0], line.split(": ", 1)[1]
        assert f"| {file} | {names} |" in listed
    assert f"{total}: what the statements use" in listed
    trust = (definitions.THEORIES.parents[1] / "docs/trust.md").read_text(encoding="utf-8")
    assert f"| trusted, {total} |" in trust


def test_what_leads_to_the_list(definitions):
    """The network, the premise and the rows are followed to the model of floats; the checker's functions are not."""
    names = {(file, name) for (file, _), (name, _) in definitions.closure().items()}
    assert {("Network", "network"), ("Premise", "satisfied"), ("Binary64", "fl"), ("AnyOrder", "any_network")} <= names
    assert not {name for _, name in names} & definitions.CHECKER
