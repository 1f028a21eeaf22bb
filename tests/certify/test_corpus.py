"""The frozen corpora: every release accepts and refuses the same, with the same bounds, in both checkers.

``corpus`` is of version 1, ``corpus2`` of version 2, ``corpus_trees`` of version 2 with layers of trees,
``corpus_balls`` of version 2 with contractions and balls. What a later
release had to decide otherwise stands in the file changes.json of a corpus, name by name, and is applied on top of its
index.
"""

import json
import re
import tarfile
from fractions import Fraction
from pathlib import Path

import pytest

from smilenn.certify import check
from smilenn.certify.reference import check as check_reference

HERE = Path(__file__).parent
RULES = {"leaf", "sweep", "slope", "mirror", "order"}


def read(name):
    """The index of a corpus, and what was decided otherwise since."""
    changes = HERE / name / "changes.json"
    index = json.loads((HERE / name / "index.json").read_text(encoding="utf-8"))
    return index, json.loads(changes.read_text(encoding="utf-8")) if changes.exists() else {}


CORPORA = {name: read(name) for name in ("corpus", "corpus2", "corpus_trees", "corpus_balls")}
# what a refusal must name, whichever checker words it
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


@pytest.fixture(scope="module", params=CORPORA)
def corpus(request, tmp_path_factory):
    """Index, changes and folders of a corpus."""
    out = tmp_path_factory.mktemp(request.param)
    with tarfile.open(HERE / request.param / "folders.tar.xz") as archive:
        archive.extractall(out, filter="data")
    return request.param, *CORPORA[request.param], out


def test_every_entry_is_there(corpus):
    name, index, _, place = corpus
    assert {p.name for p in place.iterdir()} == set(index)
    statuses = {entry["status"] for entry in index.values()}
    late = {"corpus_trees": {"leaf", "order"}, "corpus_balls": {"leaf", "ball", "mirror"}}
    assert statuses == {"certified", "unknown", "refused"} | (set() if name in late else {"unreadable"})
    rules = {row[0] for entry in index.values() for claim in entry.get("claims", ()) for row in claim}
    more = {"corpus2": {"signs", "cases"}}.get(name, set())
    assert rules == late.get(name, RULES | more)


def test_version_two_has_rooms_meanings_and_lemmas():
    index = CORPORA["corpus2"][0]
    rooms = [row[4] != "0" for entry in index.values() for claim in entry.get("claims", ()) for row in claim]
    assert rooms.count(True) > 50 and rooms.count(False) > 50
    assert sum("meaning" in entry for entry in index.values()) > 10
    assert {entry["status"] for name, entry in index.items() if name.startswith("v2-lemmas-")} >= {
        "certified",
        "refused",
    }


def test_changes_only_refuse_what_was_accepted(corpus):
    _, index, changes, _ = corpus
    assert set(changes) <= set(index)
    for name, change in changes.items():
        assert index[name]["status"] in ("certified", "unknown"), name
        assert change["status"] == "refused" and change["why"] in WHY, name


@pytest.mark.parametrize(
    ("checker", "step"),
    [
        pytest.param(check, 1, id="fast"),
        pytest.param(check_reference, 4, id="reference-some"),
        pytest.param(check_reference, 1, id="reference", marks=pytest.mark.slow),
    ],
)
def test_both_checkers_still_say_the_same(corpus, checker, step):
    corpus_name, index, changes, place = corpus
    wrong = []
    for name, wanted in list((index | changes).items())[::step]:
        report = checker.check_folder(place / name)
        rows = [[(r.rule, r.bound, r.margin, r.rhs, r.room) for r in claim.rows] for claim in report.claims]
        numbers = [[(r[0], *map(Fraction, (*r[1:], "0")[:4])) for r in claim] for claim in wanted.get("claims", ())]
        said = (report.status, report.exit_code, rows, list(report.meaning))
        if said != (wanted["status"], wanted["exit"], numbers, wanted.get("meaning", [])):
            wrong.append((name, wanted["status"], report.status, report.reason))
        elif corpus_name == "corpus" and report.claims and report.version != 1:
            wrong.append((name, "version 1", report.version))
        elif "why" in wanted and not re.search(WHY[wanted["why"]], report.reason):
            wrong.append((name, wanted["why"], report.reason))
    assert not wrong, wrong[:10]
