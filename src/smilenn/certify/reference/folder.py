"""The files of a model folder, held against its manifest: docs/certificate.md, sections 6 and 7.

    listed_files(folder) -> (version, {name: data})      after the hash and the size of every listed file were compared

For the reference checker only.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from smilenn.certify.reference.strict import (
    LARGEST_FILE,
    LARGEST_JSON,
    Unreadable,
    as_object,
    need,
    parse_json,
    read_file,
)
from smilenn.certify.reference.version1 import version_1
from smilenn.certify.reference.version2 import Version, version_2

NEEDED = ("model.json", "weights.safetensors", "certificate.json", "certificate.bin")
PROPERTIES = "properties.json"


def version_of(number: int) -> Version:
    """Version 1 or 2."""
    return version_1() if number == 1 else version_2()


def listed_files(folder: Path) -> tuple[int, dict[str, bytes]]:
    """The folder's version, the four files that are needed, and properties.json if it is listed."""
    if not folder.is_dir():
        raise Unreadable("There is no such model folder.")
    content = parse_json(read_file(folder / "manifest.json", LARGEST_JSON), "manifest.json")
    manifest = as_object(content, None, "manifest.json")
    need(manifest.get("format") == "smilenn-model", "manifest.json is not the manifest of a smilenn model.")
    number = manifest.get("version")
    need(type(number) is int and number in (1, 2), "The folder has an unknown version.")
    kept = {}
    for name, listed in version_of(manifest["version"]).files(manifest).items():
        data = read_file(folder / name, LARGEST_JSON if name.endswith(".json") else LARGEST_FILE)
        same = len(data) == listed.size and hashlib.sha256(data).hexdigest() == listed.sha256
        need(same, f"{name!r} is not the file that was saved: its hash differs from the manifest's.")
        if name in NEEDED or name == PROPERTIES:
            kept[name] = data
    for name in NEEDED:
        if name not in kept:
            raise Unreadable(f"The file {name!r} is missing from the manifest: there is nothing to check.")
    return manifest["version"], kept
