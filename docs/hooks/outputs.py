"""What the examples print, put into the pages: every ``text`` block below a ``python`` block is that block's output.

    python docs/hooks/outputs.py docs/index.md docs/tutorials/*.md      # runs the examples, rewrites the pages

`make outputs` does that for all pages, so they show the numbers of the version they describe. The tests run the same
examples and compare what they print with the pages (`alike`), so that no page can fall behind.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
DIGEST = re.compile(r"\b[0-9a-f]{12}\b")


def run(page: str, name: str = "page") -> str:
    """The page with what its examples print now. Blocks share one namespace and an empty working folder."""
    names: dict[str, Any] = {"__name__": name}
    pieces: list[str] = []
    end, printed = 0, ""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        for block in BLOCK.finditer(page):
            language, code = block.groups()
            pieces += [page[end : block.start()], f"```{language}\n"]
            if language == "python" and ">>>" not in code:
                printed = _printed("\n" * page.count("\n", 0, block.start(2)) + code, name, names)
            pieces += [printed if language == "text" else code, "```"]
            end = block.end()
    return "".join(pieces) + page[end:]


def _printed(code: str, name: str, names: dict[str, Any]) -> str:
    caught = io.StringIO()
    with contextlib.redirect_stdout(caught):
        exec(compile(code, name, "exec"), names)
    return caught.getvalue()


def alike(stated: str, printed: str) -> bool:
    """Whether two pages say the same: equal words, digests of any value, numbers that differ by at most 0.1 or 30 %.

    Another processor rounds differently, and what is learned in float32 then ends up elsewhere.

    >>> alike("R² = 0.91, certificate 0123abcd0123", "R² = 0.93, certificate ffffffffffff"), alike("0.91", "0.51")
    (True, False)
    """
    one, other = (" ".join(DIGEST.sub("#", text).split()) for text in (stated, printed))
    if NUMBER.sub("0", one) != NUMBER.sub("0", other):
        return False
    pairs = zip(map(float, NUMBER.findall(one)), map(float, NUMBER.findall(other)), strict=True)
    return all(abs(a - b) <= max(0.1, 0.3 * max(abs(a), abs(b))) for a, b in pairs)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        path = Path(given).resolve()
        path.write_text(run(path.read_text(encoding="utf-8"), path.name), encoding="utf-8")
