"""Version 2 of the files: the manifest and all digests; docs/certificate.md, section 6.

    manifest   SHA-256 of the lines "smilenn-model 2" and, by name, "SHA256 BYTES NAME"
    model      SHA-256 of E({"net": …, "table": …}) and of every tensor, by name: E(name) b LENGTH : data
    claim      SHA-256 of E(claim without its sentence)

For the reference checker only.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from smilenn.certify.reference.encoding import encoding
from smilenn.certify.reference.strict import LARGEST_FILE, as_hash, as_integer, as_object, as_text, need

MANIFEST_KEYS = {"format", "version", "library", "files", "digest"}
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
NOT_LISTED = ("manifest.json", "signature.json")

Tensors = Mapping[str, bytes]
"""The data of the certified part's tensors, by name."""


@dataclass(frozen=True)
class Listed:
    """What the manifest says of a file."""

    sha256: str
    size: int


@dataclass(frozen=True)
class Version:
    """What differs between versions of the format.

    `files` reads a manifest's list after comparing its digest; `model` gives the digest of net, table and tensors,
    which stands in the certificate under `model_key`; `claim` gives that of a claim.
    """

    number: int
    model_key: str
    files: Callable[[dict[str, Any]], dict[str, Listed]]
    model: Callable[[dict[str, Any], Any, Tensors], str]
    claim: Callable[[dict[str, Any]], str]

    @property
    def current(self) -> bool:
        """Whether there are rooms, meanings and properties to compare, and pinned modules are evaluated row by row."""
        return self.number == 2


def entry_of(value: Any, name: str) -> Listed:
    """The entry of a file in the manifest."""
    entry = as_object(value, {"sha256", "bytes"}, f"The entry of {name!r} in manifest.json")
    size = as_integer(entry["bytes"], 0, LARGEST_FILE, f"The size of {name!r} in manifest.json")
    return Listed(as_hash(entry["sha256"], f"The hash of {name!r} in manifest.json"), size)


def same_digest(given: Any, digest: str) -> None:
    """Refuse a manifest whose digest is another one."""
    need(given == digest, "manifest.json is not the file that was saved: its digest differs.")


def _files(manifest: dict[str, Any]) -> dict[str, Listed]:
    as_object(manifest, MANIFEST_KEYS, "manifest.json")
    as_text(manifest["library"], "'library' of manifest.json")
    listed = as_object(manifest["files"], None, "The list of files in manifest.json")
    for name in listed:
        plain = NAME.fullmatch(name) is not None and name not in NOT_LISTED
        need(plain, "manifest.json lists a file whose name is not a plain file name.")
    out = {name: entry_of(listed[name], name) for name in sorted(listed)}
    lines = ["smilenn-model 2", *(f"{entry.sha256} {entry.size} {name}" for name, entry in out.items())]
    text = "".join(f"{line}\n" for line in lines)
    same_digest(manifest["digest"], hashlib.sha256(text.encode("ascii")).hexdigest())
    return out


def _model(net: dict[str, Any], table: Any, tensors: Tensors) -> str:
    hasher = hashlib.sha256(encoding({"net": net, "table": table}))
    for name in sorted(tensors, key=str.encode):
        hasher.update(encoding(name) + b"b%d:" % len(tensors[name]) + tensors[name])
    return hasher.hexdigest()


def without_sentence(claim: dict[str, Any]) -> bytes:
    """E of a claim without the comment that nobody checks."""
    return encoding({key: value for key, value in claim.items() if key != "sentence"})


def _claim(claim: dict[str, Any]) -> str:
    return hashlib.sha256(without_sentence(claim)).hexdigest()


def version_2() -> Version:
    """The current version."""
    return Version(2, "model", _files, _model, _claim)
