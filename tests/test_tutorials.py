"""The tutorials run as written, and print what they say they print.

Blocks of Python share one namespace. A block of text states what the block before it prints; `…` stands for anything.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))


def blocks(page: Path) -> list[tuple[int, str, str]]:
    """Line, language and text of every fenced block."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(2)), match[1], match[2]) for match in found]


def matches(stated: str, printed: str) -> bool:
    """Whether the printed text is the stated one, `…` being any text.

    >>> matches("certified…", "certified, checked in exact arithmetic"), matches("0.…", "1.5")
    (True, False)
    """
    pattern = ".*".join(re.escape(part) for part in stated.strip().split("…"))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_as_written(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": page.stem}
    printed = io.StringIO()
    for line, language, code in blocks(page):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * line + code, str(page), "exec"), names)
        elif language == "text":
            assert matches(code, printed.getvalue()), f"{page.name}, line {line}: {printed.getvalue()!r}"


def test_there_are_tutorials_with_stated_results():
    assert {page.stem for page in TUTORIALS} == {"credit", "medicine", "fairness", "images"}
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
