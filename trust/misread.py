"""Folders that are made to be misread: one small network, and pieces of the text of its files exchanged for others.

small(*claims)                          files that say f(x) <= 2 and f(a) - f(b) <= 2 for f(x) = x, or what is given
retold(files, name, old, new, code)     the same with a piece of text exchanged, and digests that fit
put(folder, files)                      written with a manifest, also where the certificate cannot be read
header(files), with_header(files, …)    the header of the weights and the numbers behind it
rising(profile, proof, slope)           f(x) = slope·x, said to rise
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trust import forge2

UNFIT = (ValueError, LookupError, TypeError, AttributeError)


def small(*claims: Mapping[str, Any], **details: Any) -> forge2.Files:
    """Files of a folder that is certified unless other claims or details are given; all digests fit."""
    own = claims or (
        forge2.small_claim(([(1, 0, "y")], "<=", 2)),
        forge2.small_claim(([(1, 0, "y"), (-1, 1, "y")], "<=", 2), copies=2, when=[([(1, 0, "x")], "<=", 1)]),
    )
    return forge2.as_version_2(forge2.small_files(*own, **details))


def retold(files: forge2.Files, name: str, old: bytes, new: bytes, code: int = 0) -> forge2.Files:
    """A piece of text exchanged; digests are put right as far as it can be read, and not where it is unreadable (2)."""
    assert old in files[name], old
    changed = files | {name: files[name].replace(old, new, 1)}
    return changed if code == 2 else fitting(changed)


def fitting(files: forge2.Files) -> forge2.Files:
    """All digests put right, if the files can be read so far."""
    try:
        return forge2.rehashed(files)
    except UNFIT:
        return files


def put(folder: Path, files: forge2.Files) -> Path:
    """Write a folder with its manifest."""
    try:
        return forge2.put(folder, files)
    except UNFIT:
        folder.mkdir()
        for name, data in {**files, "manifest.json": forge2.manifest(files)}.items():
            (folder / name).write_bytes(data)
        return folder


def header(files: forge2.Files) -> tuple[bytes, bytes]:
    """The header of the weights, and what follows it."""
    data = files[forge2.WEIGHTS]
    size = int.from_bytes(data[:8], "little")
    return data[8 : 8 + size], data[8 + size :]


def with_header(files: forge2.Files, text: bytes, data: bytes, size: int | None = None) -> forge2.Files:
    """The files with this header, whose size may be stated wrongly, and these numbers."""
    raw = (len(text) if size is None else size).to_bytes(8, "little") + text + data
    return fitting(files | {forge2.WEIGHTS: raw})


def rising(
    profile: str,
    proofs: Sequence[Mapping[str, Any]],
    slope: float,
    when: forge2.Given = ([(1, 0, "x"), (-1, 1, "x")], "<=", 0),
    then: forge2.Given = ([(1, 0, "y"), (-1, 1, "y")], "<=", 0),
) -> forge2.Files:
    """f(x) = slope·x with a box of no width, said to rise: if a <= b then f(a) <= f(b); or other rows."""
    claim = forge2.small_claim(then, copies=2, when=[when])
    made = forge2.small_files(
        claim,
        net={"profile": profile, "auxiliaries": "constant", "skip": True},
        tensors={"lower.slope": [[slope]]},
        proofs=[{"witness": [[0.5], [0.5]], "rows": list(proofs)}],
    )
    text, data = header(made)
    body, entries = b"", {}
    for name, entry in json.loads(text).items():
        if name not in ("second.rise", "second.fall"):
            first, last = entry["data_offsets"]
            entries[name] = entry | {"data_offsets": [len(body), len(body) + last - first]}
            body += data[first:last]
    raw = json.dumps(entries).encode()
    return forge2.as_version_2(made | {forge2.WEIGHTS: len(raw).to_bytes(8, "little") + raw + body})
