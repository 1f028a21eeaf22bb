"""Fuzzing of three checkers at once: whatever the files hold, the proved checker says what both others say, or less."""

import json
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from smilenn.certify import check
from smilenn.certify.reference import check as reference

CORPUS = Path(__file__).parents[1] / "certify" / "corpus2"
UNCOVERED = "not covered by the proof: "


@pytest.fixture
def alike(smilecheck, proved):
    """What is asked of every folder, and how many had which status."""
    counts = Counter()

    def answer(folder, files):
        code, found, text = smilecheck(folder)
        if found["reason"].startswith(UNCOVERED):
            assert code == 3
            assert "failed" not in found["reason"], found["reason"]
            counts["not covered"] += 1
            return
        fast, slow = check.check_folder(folder), reference.check_folder(folder)
        statuses = [(code, found["status"]), (fast.exit_code, fast.status), (slow.exit_code, slow.status)]
        assert len(set(statuses)) == 1, (statuses, fast.reason, found["reason"])
        known = fast.to_json()
        if fast.claims and text != json.dumps(known):
            assert proved.affine_gaps(folder) and proved.nearly(known, found)
        counts[found["status"]] += 1

    return answer, counts


@pytest.mark.parametrize(
    ("start", "seconds"), [(0, 1.0), pytest.param(None, 120.0, marks=pytest.mark.slow)], ids=["again", "others"]
)
def test_three_checkers_say_the_same(alike, tmp_path, start, seconds):
    """The same folders in every normal run, others in every slow one."""
    fuzzing = import_module("trust.fuzzing")
    answer, counts = alike
    assert fuzzing.fuzz(answer, fuzzing.samples(CORPUS), tmp_path / "m", seconds, start) >= fuzzing.LEAST
    assert min(counts[status] for status in ("certified", "refused", "unreadable", "not covered")) >= 3, counts
