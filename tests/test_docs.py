"""The pages of docs/ agree with the code: examples run, property files parse, tables name what exists."""

import doctest
import importlib.util
import re
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

import smilenn
import smilenn.baselines
import smilenn.datasets
from smilenn.cli import app
from smilenn.properties import read_toml
from smilenn.train.config import Config

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
STATED = {"index", "estimators", "coming-from", "unknown", "messy"}  # what their examples print is on the page
LONG = {"unknown", "coming-from"}  # a search for a proof, and other libraries' models: for the slow tests alone
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """Line number and text of the page's fenced blocks in a language."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(2)), match[2]) for match in found if match[1] == language]


def outputs():
    """docs/hooks/outputs.py, which is not part of a package."""
    spec = importlib.util.spec_from_file_location("outputs", ROOT / "docs" / "hooks" / "outputs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compare(page: Path, *, numbers: bool = True) -> None:
    """Every text block is what the block before it prints, up to digests and the last digits of `numbers`, or all."""
    hook, text = outputs(), page.read_text(encoding="utf-8")
    now = hook.run(text, page.name)
    pairs = zip(hook.BLOCK.finditer(text), hook.BLOCK.finditer(now), strict=True)
    for stated, printed in pairs:
        assert (hook.alike if numbers else alike_words)(stated[2], printed[2]), (
            f"{page.name} states {stated[2]!r}, but prints {printed[2]!r}"
        )


def alike_words(stated: str, printed: str) -> bool:
    """Whether two texts say the same up to numbers, tables of them and digests."""
    one, other = (" ".join(re.sub(r"\b[0-9a-f]{12}\b|-?\d[\d.e-]*", "0", text).split()) for text in (stated, printed))
    return one == other


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem in STATED - LONG], ids=lambda page: page.stem)
def test_examples_print_the_words_that_the_page_states(page, quick_fits):
    assert blocks(page, "text")
    compare(page, numbers=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page.stem in STATED], ids=lambda page: page.stem)
def test_examples_print_what_the_page_states(page):
    compare(page)


def test_pages_are_compared_by_words_and_numbers():
    same = outputs().alike
    assert same("R² 0.91 (certificate 0123456789ab…)", "R² 0.93 (certificate ba9876543210…)")
    assert not same("R² 0.91", "R² 0.51") and not same("certified", "unknown") and not same("1 row", "1 row 2")


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem not in STATED], ids=lambda page: page.stem)
def test_python_examples_run(page, tmp_path, monkeypatch, quick_fits):
    """Blocks of a page share one namespace; those with prompts are compared with what they print."""
    assert not blocks(page, "text"), "add the page to STATED"
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": page.stem}
    for line, code in blocks(page, "python"):
        if ">>>" not in code:
            exec(compile("\n" * line + code, str(page), "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
        said: list[str] = []
        result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=said.append, clear_globs=False)
        names.update(test.globs)
        assert result.failed == 0, "".join(said)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_property_files_parse(page):
    for line, text in blocks(page, "toml"):
        assert "[[property]]" not in text or read_toml(text, f"{page.name}:{line}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_of_options_are_read(page, tmp_path):
    for _, text in blocks(page, "toml"):
        if "[[property]]" not in text:
            (tmp_path / "fit.toml").write_text(text, encoding="utf-8")
            asked = ["fit", str(tmp_path / "nowhere.csv"), "--config", str(tmp_path / "fit.toml")]
            done = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "m")])
            assert done.exit_code == 2 and "nowhere.csv" in done.output and "fit.toml" not in done.output


def test_the_properties_page_has_examples():
    page = ROOT / "docs" / "properties.md"
    assert len(blocks(page, "python")) > 5
    kinds = [item.kind for _, text in blocks(page, "toml") for item in read_toml(text)]
    assert {"monotone", "robust", "fair", "claim", "safe"} <= set(kinds)


def test_every_constant_is_documented_with_its_default():
    text = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", text.split("## Constants")[1], re.MULTILINE))
    assert table == {field.name: str(field.default) for field in fields(Config)}


def test_the_tree_names_every_part_and_nothing_else():
    """The tree of docs/architecture.md lists every file of the package, and no other."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = text.split("## The tree")[1].split("```")[1]
    package, folders, listed = ROOT / "src" / "smilenn", [], set()
    for line in tree.splitlines()[2:]:
        name, depth = line.split()[0], (len(line) - len(line.lstrip())) // 2
        folders = folders[: depth - 1]
        if name.endswith("/"):
            folders.append(name)
        else:
            listed.add("".join(folders) + name)
    there = {str(path.relative_to(package)) for path in package.rglob("*.py")}
    assert {name for name in listed if name.endswith(".py")} == there
    assert all((package / name).exists() for name in listed)


def test_the_api_page_has_every_public_name():
    """Names that users import, and no others; `prove` is a package that can be called."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^::: smilenn\.[\w.]*?(\w+)$", page, re.MULTILINE))
    own = (ROOT / "src" / "smilenn" / "mlflow.py").read_text(encoding="utf-8")  # read, since MLflow may be missing
    mlflow = set(re.findall(r"^def ([a-z]\w*)", own, re.MULTILINE))
    wanted = {*smilenn.__all__, *smilenn.datasets.__all__, *smilenn.baselines.__all__, *mlflow} - {"__version__"}
    assert wanted <= listed
    assert listed - wanted <= {"SmileEstimator", "Clamped", "Outputs"}  # bases, and what properties are about


def test_contributing_names_files_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+/[\w./-]*)`", text)) - {"site/", "src/smilenn/provers/rules/NAME.py"}
    assert len(named) > 40
    assert not [name for name in named if not ((ROOT / name).exists() or (ROOT / "src" / "smilenn" / name).exists())]
    targets = set(re.findall(r"`make ([\w-]+)", text))
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert targets <= known and len(targets) > 8


def test_the_note_on_digests_names_every_run():
    from benchmarks.digests import RUNS

    text = (ROOT / "docs" / "notes" / "digests.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| .* \| (.*) \|$", text, re.MULTILINE)[1:]
    assert sorted(name for cell in cells for name in cell.split(" · ")) == sorted(RUNS)
    assert len(RUNS) == 25 and "Twenty-five" in text
