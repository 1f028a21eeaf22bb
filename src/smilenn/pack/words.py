"""Whether the words of a pack are those of the model in it, as it was checked just now.

    statement.txt    the statement of the checked certificate, but for comments
    pack.json        its rules and the digest of its model
    index.html       the page that the other files make, where this version wrote it

Hashes show that a pack is whole. Whoever writes a page can write its hash too, so a page that calls something certified
is held against the certificate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from smilenn._version import __version__
from smilenn.errors import SmileError
from smilenn.model.folder import MANIFEST, parse_json
from smilenn.pack.entry import opened
from smilenn.pack.page import page
from smilenn.properties.wording import COMMENT

MODEL = f"model/{MANIFEST}"


def model_digest(files: Mapping[str, bytes]) -> str:
    """The digest of the model folder in a pack, as its manifest has it."""
    return str(parse_json(files[MODEL], MODEL)["digest"])


def other_words(files: Mapping[str, bytes], statement: str, sentences: Sequence[str]) -> str:
    """What in a pack says something else than the checked certificate, as part of a sentence; empty if nothing does.

    `statement` and `sentences` (each with the checker's word in brackets) are those of the certificate.
    """
    try:
        if _without_comments(files["statement.txt"].decode()) != _without_comments(statement):
            return "statement.txt is not the statement of the certificate in the pack"
        if not _same_rules(parse_json(files["pack.json"], "pack.json"), sentences, model_digest(files)):
            return "pack.json has other rules, or another model, than the certificate in the pack"
        if not _same_page(files):
            return "index.html is not the page of the pack's files"
    except (LookupError, TypeError, ValueError, AttributeError):
        return "a file of the pack cannot be read"
    return ""


def _without_comments(text: str) -> list[str]:
    lines = text.rstrip().split("\n")
    return [line.rstrip() for line in lines if not line.startswith(f"  {COMMENT}")]


def _same_rules(pack: Any, sentences: Sequence[str], digest: str) -> bool:
    """Whether the rules of pack.json are the claims that were checked, with the checker's word on them."""
    rules = [(rule["rule"], rule["certified"]) for rule in pack["rules"]]
    checked = [said.rpartition(" [") for said in sentences]
    return pack["model"]["digest"] == digest and rules == [
        (rule, word.startswith("certified")) for rule, _, word in checked
    ]


def unchecked(files: Mapping[str, bytes]) -> str:
    """What a check leaves to whoever wrote the pack, as a sentence: hashes alone vouch for it."""
    page = "" if _is_ours(files) else ", and index.html, which another version wrote"
    return f"Not checked: measurements of quality, data and sensitivity, what other checkers found{page}."


def _is_ours(files: Mapping[str, bytes]) -> bool:
    """Whether this version wrote the pack; it says so itself."""
    try:
        return parse_json(files["pack.json"], "pack.json")["by"] == f"smilenn {__version__}"
    except (SmileError, LookupError, TypeError):
        return False


def _same_page(files: Mapping[str, bytes]) -> bool:
    """Whether the page is made of the other files; that of another version is not known here."""
    if not _is_ours(files):
        return True
    own = {name: data for name, data in files.items() if not name.startswith("model/")}
    return page(opened(own)).encode("utf-8", "replace") == files["index.html"]
