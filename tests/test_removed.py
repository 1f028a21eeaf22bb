"""Names that are gone, as the changelog lists them: each answers with what to use instead."""

import importlib
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from smilenn import Property, Rejected, SmileClassifier, SmileError, SmileRegressor, Unknown, properties

CHANGELOG = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")


def table():
    """The rows of the changelog's table: (the names that are gone, what to write)."""
    own = CHANGELOG.split("| gone | instead |")[1].split("\n\n")[0]
    rows = re.findall(r"^  \| (`.*?) \| (.*?) \|$", own, re.MULTILINE)
    for gone, instead in rows:
        for name in re.findall(r"`(\w+)", gone):
            yield name, re.search(r"`(\w+)", instead)[1]


def test_the_table_was_found():
    assert {"encoder", "bounds", "protected", "certify_time_limit"} <= {name for name, _ in table()}


@pytest.mark.parametrize(("name", "instead"), list(table()))
@pytest.mark.parametrize("kind", [SmileRegressor, SmileClassifier])
def test_parameters(kind, name, instead):
    said = rf"{kind.__name__} has no parameter '{name}'; write {instead}="
    with pytest.raises(SmileError, match=said):
        kind(**{name: None})
    with pytest.raises(SmileError, match=said):
        kind().set_params(**{name: None})


@pytest.mark.parametrize("module", ["smilenn.prove.verdict", "smilenn.prove.portfolio", "smilenn.prove"])
def test_the_package_of_provers(module):
    with pytest.raises(ImportError, match=r"from smilenn import prove\. Provers are in smilenn\.provers, verdicts in"):
        importlib.import_module(module)
    import smilenn

    assert smilenn.prove.__module__ == "smilenn.provers.model"  # the function is in nobody's way


def test_names_of_modules():
    with pytest.raises(ImportError, match="is called ScaledModule now"):
        from smilenn.baselines import Network  # noqa: F401
    with pytest.raises(ImportError, match=r"smilenn\.register_property adds a kind"):
        from smilenn.properties.spec import KINDS  # noqa: F401
    assert not hasattr(properties.spec, "NOTHING")


@pytest.mark.parametrize("kind", [Unknown, Rejected])
def test_the_reason_of_a_verdict(kind):
    with pytest.raises(TypeError, match=rf"{kind.__name__} takes why=\(Why\(Reason\.TIME\),\) in place of reason="):
        kind("searched", reason="interrupted")
    assert kind("searched").why == ()


@pytest.mark.parametrize(
    ("old", "new"), [("_claims", "claims"), ("_renamed", "renamed"), ("_sentence", "sentence_about")]
)
def test_hooks_of_properties(old, new):
    with pytest.raises(SmileError, match=f"defines {old}, which is called {new} now"):
        dataclass(frozen=True)(type("Own", (Property,), {old: lambda self: ()}))
