"""Frozen folders: both checkers go on saying of them what they said when they were written."""

import json
from pathlib import Path

import pytest

from smilenn.certify import check_deep
from smilenn.certify.reference import deep

CORPUS = Path(__file__).with_name("corpus")
SAID = json.loads((CORPUS / "said.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("checker", [check_deep, deep])
@pytest.mark.parametrize("name", SAID)
def test_frozen_folders(checker, name):
    report = checker.check_folder(CORPUS / name)
    assert [report.status, [list(map(str, (r.found, r.real, r.computed))) for r in report.rows]] == SAID[name]
