"""The committed results: every page of docs/results is what its cells give, and its aims are those of the code."""

import json
import shutil
from pathlib import Path

import pytest

from smilenn.experiments.reproduce import STUDIES, reproduce
from smilenn.experiments.study import Options

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def without_figures(text: str) -> str:
    return "\n\n".join(part for part in text.split("\n\n") if not part.startswith("!["))


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_is_made_of_its_cells(name, tmp_path, monkeypatch):
    """Written again from the finished cells alone, page and rows are the committed ones, whatever data is at hand."""
    cells = RESULTS / f"{name}.jsonl"
    monkeypatch.delenv("SMILENN_DATA", raising=False)
    shutil.copy(cells, tmp_path)
    page, rows = reproduce(name, tmp_path, Options(), finished=True, with_figures=False)
    committed = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert without_figures(page.read_text(encoding="utf-8")).strip() == without_figures(committed).strip()
    assert json.loads(rows.read_text()) == json.loads((RESULTS / f"{name}.json").read_text())
    for part in committed.split("\n\n"):
        if part.startswith("!["):
            assert (RESULTS / part.split("](")[1].rstrip(")")).exists(), "a figure that the page shows"
