"""The frozen corpus: every release accepts and refuses the same, with the same bounds, in both checkers.

What a later release had to decide otherwise stands in changes.json, name by name, and is applied on top of the index.
"""

import json
import re
import tarfile
from fractions import Fraction
from pathlib import Path

import pytest

from smilenn.certify import check, check_reference

CORPUS = Path(__file__).with_name("corpus")
INDEX = json.loads((CORPUS / "index.json").read_text(encoding="utf-8"))
CHANGES = json.loads((CORPUS / "changes.json").read_text(encoding="utf-8"))
# what a refusal must speak of, whichever checker words it
WHY = {
    "hash": r"hash|digest|differ|SHA-256|not the file of",
    "claim": r"claim|row|term|rational|copy|input|output|premise|category|name|'\w+'",
    "premise": r"premise|witness",
    "witness": r"witness",
    "tree": r"tree|node|leaf|leaves|proof|split|threshold|bytes follow|multiplier",
    "form": r"\w",
    "profile": r"profile|grid|scale|sum|overflow|dyadic|large",
    "weights": r"tensor|weight|shape|finite|negative",
    "overflow": r"overflow",
    "domain": r"domain|feature|coordinates|range|name|kind|bounds|scale|column|categor|0/1|unit|shift|lo |hi ",
    "manifest": r"manifest|altered|hash|file name|version|size",
    "encoder": r"\w",
    "rule": r"rule|mirror|move|direction",
    "slope": r"slope|leaf|empty",
    "unreadable": r"\w",
    # 0.1 evaluated pinned modules in blocks of rows, where equal rows may get unequal bits
    "pinned": r"pinned",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    out = tmp_path_factory.mktemp("corpus")
    with tarfile.open(CORPUS / "folders.tar.xz") as archive:
        archive.extractall(out, filter="data")
    return out


def test_every_entry_is_there(place):
    assert {p.name for p in place.iterdir()} == set(INDEX)
    statuses = {entry["status"] for entry in INDEX.values()}
    assert statuses == {"certified", "unknown", "refused", "unreadable"}
    rules = {row[0] for entry in INDEX.values() for claim in entry.get("claims", ()) for row in claim}
    assert rules == {"leaf", "sweep", "slope", "mirror", "order"}


def test_changes_only_refuse_what_was_accepted():
    assert set(CHANGES) <= set(INDEX)
    for name, change in CHANGES.items():
        assert INDEX[name]["status"] in ("certified", "unknown"), name
        assert change["status"] == "refused" and change["why"] in WHY, name


@pytest.mark.parametrize("checker", [check, check_reference], ids=["fast", "reference"])
def test_both_checkers_still_say_the_same(place, checker):
    wrong = []
    for name, wanted in (INDEX | CHANGES).items():
        report = checker.check_folder(place / name)
        rows = [[(r.rule, r.bound, r.margin, r.rhs) for r in claim.rows] for claim in report.claims]
        numbers = [[(r[0], *map(Fraction, r[1:])) for r in claim] for claim in wanted.get("claims", ())]
        if (report.status, report.exit_code, rows) != (wanted["status"], wanted["exit"], numbers):
            wrong.append((name, wanted["status"], report.status, report.reason))
        elif "why" in wanted and not re.search(WHY[wanted["why"]], report.reason):
            wrong.append((name, wanted["why"], report.reason))
    assert not wrong, wrong[:10]
