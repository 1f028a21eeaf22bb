"""The examples of the README run as written."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from smilenn.cli import app
from smilenn.properties import read_toml

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


@pytest.mark.slow
def test_python_example(tmp_path, monkeypatch):
    assert float(example(tmp_path, monkeypatch)) > 0.7


def test_python_example_with_small_fits(tmp_path, monkeypatch, quick_fits):
    example(tmp_path, monkeypatch)


def example(tmp_path, monkeypatch) -> str:
    """Run the example in an empty folder; the score that it prints."""
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 16
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    verdict, bound, score, checked, refuted = printed.getvalue().splitlines()
    assert verdict.startswith("certified") and float(bound) < 1e-9 and checked == verdict
    assert refuted.startswith("violated: ")
    assert (tmp_path / "model" / "manifest.json").exists()
    return score


def test_command_line_example(tmp_path, monkeypatch, quick_fits):
    monkeypatch.chdir(tmp_path)
    lines = next(block for block in blocks("") if "smile fit" in block).splitlines()
    make, *commands = [shlex.split(line) for line in lines]
    assert make[:2] == ["python", "-c"]
    exec(make[2], {"__name__": "readme"})
    for name, *arguments in commands:
        assert name == "smile"
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 1501


def test_property_file_example():
    (text,) = blocks("toml")
    assert read_toml(text)[0].kind == "claim"
