"""Reasons: an enumeration whose sentences are for people; no code matches a sentence."""

import ast
from pathlib import Path

import pytest

from smilenn.provers.record import verdict_from_json, verdict_to_json
from smilenn.reason import Reason, Why, because, has, sentence, told, whys_from_json
from smilenn.verdict import Rejected, Unknown

PACKAGE = Path(__file__).parents[1] / "src" / "smilenn"
CHECKERS = {"check.py", "reference"}  # they know nothing of the package
TEXTS = {"reason", "reasons", "reasons_", "note", "notes", "shortfall", "certificate_note_"}
MATCHES = {"startswith", "endswith", "find", "index", "count", "removeprefix", "removesuffix"}


def matched(source):
    """Lines that compare a reason's text with a string, or look for one in it."""

    def text(node):
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Attribute) and node.func.attr == "sentence"
        return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) in TEXTS

    def words(node):
        return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != ""

    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(text, sides)) and any(map(words, sides)):
                found.append(node.lineno)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MATCHES:
            if text(node.func.value):
                found.append(node.lineno)
        elif isinstance(node, ast.Match) and text(node.subject):
            found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    ("source", "bad"),
    [
        ('if verdict.reason == "interrupted": pass', True),
        ('"interrupted" in found.note', True),
        ('verdict.reason.startswith("interrupted")', True),
        ("recipe.reasons.startswith(DISTANCES)", True),
        ('verdict.sentence() == "proved"', True),
        ("verdict.because(Reason.INTERRUPTED)", False),
        ("stopped.reason is Reason.INTERRUPTED", False),
        ('f"Why: {verdict.reason}"', False),
    ],
)
def test_the_search_for_matches_itself(source, bad):
    assert bool(matched(source)) is bad


def test_no_code_matches_a_reasons_text():
    files = [file for file in PACKAGE.rglob("*.py") if not CHECKERS & set(file.relative_to(PACKAGE / ".").parts)]
    assert len(files) > 150
    bad = {str(file.relative_to(PACKAGE)): lines for file in files if (lines := matched(file.read_text("utf-8")))}
    assert bad == {}


@pytest.mark.parametrize("reason", Reason)
def test_sentences_are_filled_and_survive_a_file(reason):
    details = tuple(f"<{i}>" for i in range(reason.value.count("{}")))
    why = Why(reason, details)
    assert "{" not in str(why) and all(part in str(why) for part in details)
    assert str(why) == str(why).strip() and not str(why).endswith(".")
    for verdict in (Unknown("m", 0.5, 1.0, (why, Why(Reason.BOX, where="a.out <= 0"))), Rejected("m", why=(why,))):
        again = verdict_from_json(verdict_to_json(verdict))
        assert again.why == verdict.why and again.sentence() == verdict.sentence()


def test_a_reason_is_asked_for_by_its_member():
    verdict = Unknown("m", why=(*because(Reason.INTERRUPTED), *because(Reason.BOX_UNUSED)))
    assert verdict.because(Reason.INTERRUPTED) and verdict.because(Reason.TIME, Reason.BOX_UNUSED)
    assert not verdict.because(Reason.TIME) and not has((), *Reason)
    assert verdict.reason == "interrupted; the box allows a violation, but the model was not found to use it"
    assert sentence(verdict.why * 2) == verdict.reason and told("") == ()


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"reasons": [{"reason": "A_LATER_ONE", "details": [], "where": ""}]},
        {"reasons": [{"reason": "NODES", "details": [], "where": ""}]},
        {"reasons": [{"reason": "TIME", "details": [], "where": ""}]},  # says something else than the sentence
        {"reasons": "interrupted"},
        {"reasons": 3},
        {"reasons": [3]},
    ],
)
def test_records_of_other_versions_keep_their_sentence(extra):
    """What was stored before there was an enumeration is a note: shown, and no reason that code could act on."""
    verdict = verdict_from_json({"status": "unknown", "method": "m", "seconds": 1.0, "reason": "interrupted", **extra})
    assert isinstance(verdict, Unknown) and verdict.reason == "interrupted"
    assert verdict.because(Reason.TOLD) and not verdict.because(Reason.INTERRUPTED, Reason.TIME)


def test_stored_words_cannot_move_a_cursor():
    entry = {"reason": "SOLVER_SAYS", "details": ["\x1b[2J"], "where": ""}
    (why,) = whys_from_json({"reason": "the solver failed (\x1b[2J)", "reasons": [entry]})
    assert why.reason is Reason.SOLVER_SAYS and "\x1b" not in str(why)
    assert "\x1b" not in str(whys_from_json({"reason": "\x1b[2J"})[0])
