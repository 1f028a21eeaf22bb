"""Values that know where they are stored: a file of the pack and a place in it.

The page is made from such values alone, so every number on it names its file. Places are JSON pointers (RFC 6901).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from smilenn.report.svg import number, text

NOTHING = "–"


@dataclass(frozen=True)
class Entry:
    """A value, the file that holds it, and its place in that file (empty: the whole file)."""

    file: str
    at: str
    value: Any

    def __getitem__(self, key: str | int) -> Entry:
        """What lies below a key or a position."""
        step = str(key).replace("~", "~0").replace("/", "~1")
        return Entry(self.file, f"{self.at}/{step}", self.value[key])

    def __iter__(self) -> Iterator[Entry]:
        return (self[i] for i in range(len(self.value)))

    def __len__(self) -> int:
        return len(self.value)

    def items(self) -> list[tuple[str, Entry]]:
        """Keys with what lies below them."""
        return [(key, self[key]) for key in self.value]

    def html(self, digits: int = 4) -> str:
        """The value as the page shows it, with its file and place."""
        place = f'data-file="{text(self.file)}" data-at="{text(self.at)}" title="{text(self.file)} {text(self.at)}"'
        if self.value is None:
            return f"<span {place}>{NOTHING}</span>"
        if isinstance(self.value, bool):
            return f"<span {place}>{'yes' if self.value else 'no'}</span>"
        if isinstance(self.value, (int, float)):
            return f'<data {place} data-digits="{digits}" value="{self.value!r}">{number(self.value, digits)}</data>'
        return f"<span {place}>{text(self.value)}</span>"


def opened(files: Mapping[str, bytes]) -> dict[str, Entry]:
    """The JSON and text files of a pack as entries, by name."""
    out = {name: Entry(name, "", json.loads(data)) for name, data in files.items() if name.endswith(".json")}
    return out | {name: Entry(name, "", data.decode()) for name, data in files.items() if name.endswith(".txt")}
