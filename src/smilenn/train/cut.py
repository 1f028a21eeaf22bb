"""What a time limit has cut short, part by part: epochs, groups of boosted trees, restarts.

    the time limit cut training short: 1 of 12 epochs, 1 of 4 groups of trees; more time may predict better

Only the clock counts here. Patience, a number of epochs that was asked for and Ctrl-C end training too; the last has
words of its own, and the others need none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

WORDS = {
    "trees": ("group of trees", "groups of trees"),
    "pretraining": ("epoch of pretraining", "epochs of pretraining"),
    "epochs": ("epoch", "epochs"),
    "posttraining": ("round of posttraining", "rounds of posttraining"),
    "restarts": ("restart", "restarts"),
}


@dataclass(frozen=True)
class Part:
    """One kind of work (a key of `WORDS`): `done` units of those planned, `partly` of them ended in the middle."""

    what: str
    done: int
    planned: int
    partly: int = 0

    @property
    def short(self) -> bool:
        """Whether anything is missing."""
        return self.done < self.planned or self.partly > 0

    @property
    def words(self) -> str:
        """``1 of 12 epochs (1 only in part)``."""
        units = WORDS[self.what][self.planned != 1]
        return f"{self.done} of {self.planned} {units}" + (f" ({self.partly} only in part)" if self.partly else "")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Part:
        """Inverse of `asdict`. A kind of work that is none is a `LookupError`, since no words but ours are said.

        Numbers that cannot be are a `ValueError`.
        """
        found = cls(str(data["what"]), *(_count(data[name]) for name in ("done", "planned", "partly")))
        if found.what not in WORDS:
            raise LookupError(found.what)
        if not (found.partly <= found.done <= found.planned and found.short):
            raise ValueError(found)
        return found


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(value)
    return value


Cut = tuple[Part, ...]
"""The parts that the time limit has cut short, in the order of training; none where it has not."""


def cut_sentence(cut: Cut) -> str:
    """What is missing and what to do, as part of a sentence; empty where the limit has cut nothing short."""
    if not cut:
        return ""
    return f"the time limit cut training short: {', '.join(part.words for part in cut)}; more time may predict better"


def cut_to_json(cut: Cut) -> list[dict[str, Any]]:
    """A JSON-ready list."""
    return [asdict(part) for part in cut]


def cut_from_json(data: Sequence[Mapping[str, Any]]) -> Cut:
    """Inverse of `cut_to_json`; a kind of work that is there twice is a `ValueError`."""
    cut = tuple(map(Part.from_json, data))
    if len({part.what for part in cut}) < len(cut):
        raise ValueError(cut)
    return cut
