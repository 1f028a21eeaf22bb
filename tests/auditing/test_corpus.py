"""Frozen folders: both checkers go on saying of them what they said when they were written."""

import json
from pathlib import Path

import pytest

from smilenn.certify import check_deep
from smilenn.certify.reference import deep, share

HERE = Path(__file__).parent
CORPORA = {kind: HERE / kind for kind in ("corpus", "corpus_twins", "corpus_labels")}
SAID = {kind: json.loads((place / "said.json").read_text(encoding="utf-8")) for kind, place in CORPORA.items()}


@pytest.mark.parametrize("checker", [check_deep, deep])
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in ("corpus", "corpus_twins") for name in SAID[kind]])
def test_frozen_folders(checker, kind, name):
    report = checker.check_folder(CORPORA[kind] / name)
    assert [report.status, [list(map(str, (r.found, r.real, r.computed))) for r in report.rows]] == SAID[kind][name]


@pytest.mark.parametrize("check", [check_deep.check_share, share.check_share])
@pytest.mark.parametrize("name", SAID["corpus_labels"])
def test_frozen_folders_about_labels(check, name):
    report = check(CORPORA["corpus_labels"] / name)
    assert [report.status, report.points, report.settled, report.leaves] == SAID["corpus_labels"][name]


def test_the_frozen_folders_about_labels_have_something_to_say():
    counts = [settled for _, _, settled, _ in SAID["corpus_labels"].values()]
    assert sum(count > 0 for count in counts) >= 4 and max(counts) > 5
