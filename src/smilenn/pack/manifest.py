"""A pack on disk: files bound by hashes, signed where a key is given, whole or absent.

    manifest.json   {"format": "smilenn-pack", "version": 1, "library", "files": {name: {"sha256", "bytes"}}, "digest"}

The digest is the SHA-256 of the line ``smilenn-pack 1`` and, in the order of names, of a line ``SHA256 BYTES NAME`` a
file. A signature signs ``smilenn-pack 1`` and the digest: it passes for none of a model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smilenn._version import __version__
from smilenn.errors import AlteredError, SmileError
from smilenn.model.folder import MANIFEST, SIGNATURE, dump_json, parse_json, place_folder, read_file

FORMAT, VERSION = "smilenn-pack", 1
HEAD = f"{FORMAT} {VERSION}\n"


def is_pack(folder: Path) -> bool:
    """Whether a folder's manifest says that it is a pack."""
    try:
        found = parse_json(read_file(folder / MANIFEST), MANIFEST)
    except SmileError:
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


def refuse_other(folder: Path) -> None:
    """A folder to write is not there yet, or it is a pack with nothing of anybody else's in it."""
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or not folder.is_dir() or not is_pack(folder):
        raise SmileError(f"{str(folder)!r} exists and is not a validation pack; remove it or choose another --out.")
    strangers = sorted(_names(folder) - {*_listed(folder), MANIFEST, SIGNATURE})
    if strangers:
        raise SmileError(
            f"{str(folder)!r} holds {strangers[0]!r}, which is not part of the pack; move it or choose another --out."
        )


def write_pack(folder: Path, files: Mapping[str, bytes], key: Path | None) -> str:
    """Write the files, the manifest and, with a private key, a signature as one step; returns the digest."""
    refuse_other(folder)
    entries = {name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in files.items()}
    digest = _digest(entries)
    own = {"format": FORMAT, "version": VERSION, "library": __version__, "files": entries, "digest": digest}
    everything = {**files, MANIFEST: dump_json(own)}
    if key is not None:
        from smilenn.certify.signing import signature

        everything[SIGNATURE] = signature(_message(digest), key)
    place_folder(folder, everything, overwrite=folder.exists())
    return digest


def read_pack(folder: Path, key: Path | str | None = None) -> dict[str, bytes]:
    """The files of a pack, each compared with its hash; with a public key the signature too."""
    manifest = parse_json(read_file(folder / MANIFEST), str(folder / MANIFEST))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
        raise SmileError(f"{str(folder)!r} is not a validation pack that this smilenn ({__version__}) reads.")
    entries = _entries(manifest, folder)
    strangers = sorted(_names(folder) - {*entries, MANIFEST, SIGNATURE})
    if strangers:
        raise AlteredError(f"{str(folder)!r} holds {strangers[0]!r}, which its manifest does not list.")
    if key is not None:
        from smilenn.certify.signing import verify_message

        verify_message(folder, _message(str(manifest["digest"])), key)
    return {name: _read(folder, name, entry) for name, entry in entries.items()}


def _entries(manifest: dict[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    """The list of files, which fits its digest."""
    entries: Any = manifest.get("files")
    good = isinstance(entries, dict) and all(
        isinstance(entry, dict) and isinstance(entry.get("sha256"), str) and type(entry.get("bytes")) is int
        for entry in entries.values()
    )
    if not good or _digest(entries) != manifest.get("digest") or any(_leaves(name) for name in entries):
        raise AlteredError(f"{str(folder / MANIFEST)!r} is not the file that was written; write the pack again.")
    return entries


def _leaves(name: str) -> bool:
    """Whether a name leads out of its folder."""
    return Path(name).is_absolute() or ".." in Path(name).parts


def _read(folder: Path, name: str, entry: dict[str, Any]) -> bytes:
    data = read_file(folder / name, max(0, entry["bytes"]))
    if len(data) != entry["bytes"] or hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise AlteredError(f"{str(folder / name)!r} is not the file that was written, its hash differs.")
    return data


def _listed(folder: Path) -> set[str]:
    found = parse_json(read_file(folder / MANIFEST), MANIFEST).get("files")
    return set(found) if isinstance(found, dict) else set()


def _names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


def _digest(entries: Mapping[str, Mapping[str, Any]]) -> str:
    lines = "".join(f"{entries[name]['sha256']} {entries[name]['bytes']} {name}\n" for name in sorted(entries))
    return hashlib.sha256(f"{HEAD}{lines}".encode("utf-8", "surrogatepass")).hexdigest()


def _message(digest: str) -> bytes:
    return f"{HEAD}{digest}".encode()
