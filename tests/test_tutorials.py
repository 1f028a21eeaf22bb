"""The tutorials run as written, and print what they say they print.

Blocks of Python share one namespace. A block of text states what the block before it prints (docs/hooks/outputs.py).
"""

import re
from pathlib import Path

import pytest
from tests.test_docs import compare

DOCS = Path(__file__).parents[1] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
SHORT = {"credit", "medicine"}  # the others take ten seconds and more: for the slow tests alone


def blocks(page: Path) -> list[tuple[int, str, str]]:
    """Line, language and text of every fenced block."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(2)), match[1], match[2]) for match in found]


@pytest.mark.parametrize("page", [page for page in TUTORIALS if page.stem in SHORT], ids=lambda page: page.stem)
def test_a_tutorial_prints_the_words_that_it_states(page, quick_fits):
    compare(page, numbers=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_prints_what_it_states(page):
    compare(page)


def test_there_are_tutorials_with_stated_results():
    assert {page.stem for page in TUTORIALS} == {"credit", "medicine", "fairness", "images", "service"}
    for page in TUTORIALS:
        kinds = [language for _, language, _ in blocks(page)]
        assert kinds.count("python") >= 4 and "text" in kinds


def test_every_public_name_is_on_the_api_page_and_has_a_docstring():
    import smilenn

    listed = re.findall(r"^::: ([\w.]+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    names = {name.rpartition(".")[2] for name in listed}
    assert set(smilenn.__all__) - {"__version__"} <= names
    for name in smilenn.__all__:
        if name != "__version__":
            assert (getattr(smilenn, name).__doc__ or "").strip(), name


def test_public_methods_have_docstrings():
    import inspect

    import smilenn

    for name in smilenn.__all__:
        thing = getattr(smilenn, name)
        if not inspect.isclass(thing):
            continue
        for key, member in vars(thing).items():
            if key.startswith("_") or not (callable(member) or isinstance(member, property)):
                continue
            inherited = (getattr(base, key, None) for base in thing.__mro__)
            assert any((getattr(method, "__doc__", "") or "").strip() for method in inherited), f"{name}.{key}"
