"""The page about parts of your own: its first example is short and ends certified, all parts keep their contracts."""

import contextlib
import inspect
import io
import re
import sys
from pathlib import Path

import pytest

import smilenn
from smilenn.properties import registry, spec
from smilenn.testing import EncoderContract, LayerContract, PropertyContract, ProverContract, SolverContract

pytestmark = pytest.mark.usefixtures("quick_module")

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
KIND = "acme.falls_in_sum"
CONTRACTS = (PropertyContract, LayerContract, EncoderContract, ProverContract, SolverContract)


def run(code, names):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "extending.md", "exec"), names)
    return said.getvalue()


@contextlib.contextmanager
def module(name):
    """A namespace of its own, since dataclasses look their module up; the kind of the page is free before and after."""
    made = sys.modules[name] = type(sys)(name)
    registry._registered.pop(KIND, None)
    yield vars(made)
    registry._registered.pop(KIND, None)
    del sys.modules[name]


def test_adding_a_property_takes_less_than_thirty_lines():
    lines = [line for line in BLOCKS[0].splitlines() if line.strip()]
    assert len(lines) < 30 and f"These are {len(lines)} lines of code" in PAGE


def test_it_gets_a_recipe_and_ends_certified(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with module("acme_first") as names:
        said = run(BLOCKS[0], names)
    assert said.count("certified") == 2 and float(said.split()[-1]) > 0.95, said


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Everything the page defines, without the fit of its first example."""
    first = "\n".join(line for line in BLOCKS[0].splitlines() if not line.startswith(("model", "print")))
    with module("acme_parts") as names:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path_factory.mktemp("page"))
            for code in (first, *BLOCKS[1:]):
                run(code, names)
        yield names


def checks():
    for contract in CONTRACTS:
        for name, _ in inspect.getmembers(contract, inspect.isfunction):
            if name.startswith("test_"):
                yield pytest.param(contract, name, id=f"{contract.__name__}-{name}")


@pytest.mark.parametrize(("contract", "name"), list(checks()))
def test_the_parts_of_the_page_keep_their_contracts(parts, contract, name):
    (found,) = (c for c in parts.values() if isinstance(c, type) and issubclass(c, contract) and c is not contract)
    getattr(found(), name)()


# ---- names that are no more -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("load_net", "smilenn.open_net"),
        ("save", "certify_net"),
        ("register", "register_property"),
        ("Solver", "mip.sol"),
    ],
)
def test_names_of_elsewhere_get_a_hint(name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(smilenn, name)


def test_old_names_say_what_they_are_called_now():
    with pytest.raises(ImportError, match="register_property adds a kind"):
        spec.KINDS  # noqa: B018
    with pytest.raises(smilenn.SmileError, match="Old defines _claims, which is called claims now"):
        type("Old", (smilenn.Property,), {"_claims": lambda self, domain, outputs: ()})
