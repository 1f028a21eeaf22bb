"""Folders with one value or one byte changed, all digests put right: what a checker must refuse, or bound as before."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

from trust import forge2

NUMBERS = [0, 1, -1, 3, 64, 10**30, 2**31, 1.0, -0.0, -0.5, 1e300, 5e-324]
WORDS = [
    "",
    "\ud800",
    "é",
    "a",
    "equal",
    "free",
    "==",
    "0",
    "-1",
    "1/3",
    "1/0",
    "x0",
    "x1",
    "in",
    "out",
    "order",
    "mirror",
]
ODD = [*NUMBERS, *WORDS, None, True, [], {}, [0], [1, 1]]
KEYS = ["extra", "encoder", "unit", "shift", "either"]
PARTS = ["model.json", "model.json", "certificate.json", "certificate.json", "weights.safetensors"]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all parts of a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def changed(rng: random.Random, value: Any) -> Any:
    """The value with one part replaced, dropped, doubled or added."""
    *path, last = rng.choice([path for path in places(value) if path])
    inside = value
    for key in path:
        inside = inside[key]
    how = rng.random()
    if how < 0.65:
        inside[last] = rng.choice(ODD)
    elif how < 0.8:
        del inside[last]
    elif isinstance(inside, list):
        inside.insert(last, rng.choice([inside[last], rng.choice(ODD)]))
    else:
        inside[rng.choice(KEYS)] = rng.choice(ODD)
    return value


def mutated(rng: random.Random, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with a change in one of them."""
    name = rng.choice(PARTS)
    data = files[name]
    if name == "weights.safetensors":
        size = int.from_bytes(data[:8], "little")
        if rng.random() < 0.5:
            header = json.dumps(changed(rng, json.loads(data[8 : 8 + size]))).encode()
            data = len(header).to_bytes(8, "little") + header + data[8 + size :]
        else:
            at = rng.randrange(len(data))
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    else:
        data = json.dumps(changed(rng, json.loads(data))).encode()
    return _rehashed({**files, name: data})


def byte(rng: random.Random, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """A byte of the proofs changed, inserted or dropped."""
    data = bytearray(files["certificate.bin"])
    at = rng.randrange(len(data) + 1)
    data[at : at + rng.choice((0, 1, 1, 1))] = bytes(
        rng.choice((0, 1, 2, 3, 5, 255, rng.randrange(256))) for _ in range(rng.choice((0, 1, 1)))
    )
    return _rehashed({**files, "certificate.bin": bytes(data)})


def _rehashed(files: dict[str, bytes]) -> dict[str, bytes]:
    try:
        return forge2.rehashed(files)
    except Exception:  # the writer cannot read what was done; the digests stay as they are
        return files
