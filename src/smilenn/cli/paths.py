"""Paths that a command reads and writes, checked before anything slow is imported, read or trained."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from smilenn.errors import SmileError
from smilenn.model.folder import MANIFEST, read_manifest

CERTIFICATE = "certificate.json"


def check_model(folder: Path) -> None:
    """A model folder to read is there and has a manifest; what is in it is checked by reading it."""
    read_manifest(folder)


def check_table(path: Path) -> None:
    """A table to read is a file that is there, or the standard input (``-``)."""
    if str(path) == "-":
        return
    if path.is_dir():
        raise SmileError(f"{str(path)!r} is a folder; give a CSV file.")
    if not path.exists():
        raise SmileError(f"There is no file {str(path)!r}; check the path.")
    if not os.access(path, os.R_OK):
        raise SmileError(f"{str(path)!r} cannot be read; ask its owner for permission.")


def check_rules(path: Path) -> None:
    """A file of properties is there."""
    if not path.is_file():
        raise SmileError(f"--spec: {str(path)!r} cannot be read: there is no such file; check the path.")


def check_folder(folder: Path, option: str) -> None:
    """A folder to write into is none yet or a folder."""
    if folder.exists() and not folder.is_dir():
        raise SmileError(f"{option}: {str(folder)!r} is a file; name a folder.")
    _check_parent(folder)


def check_certificate(folder: Path) -> None:
    """A model folder to check has a certificate; whether files belong together is for the checker to say."""
    if not (folder / MANIFEST).exists():
        read_manifest(folder)  # a missing folder, or one that is none, is said as elsewhere
    if not (folder / CERTIFICATE).exists():
        raise SmileError(f"{str(folder)!r} has no certificate.json; `smile prove` writes one where it can.")


def check_new_folder(folder: Path) -> None:
    """A folder to write is not there yet, and can be made."""
    if folder.is_file():
        raise SmileError(f"--out: {str(folder)!r} is a file; name a folder that does not exist yet.")
    if folder.exists() or folder.is_symlink():
        raise SmileError(f"The output folder {str(folder)!r} exists; remove it or choose another name.")
    _check_parent(folder)


def check_new_file(path: Path, option: str, *, read: Iterable[Path | None] = ()) -> None:
    """A file to write can be written, and is none of those that are `read`."""
    if str(path) == "-":
        raise SmileError(f"{option}: nothing is written to the standard output; name a file to write.")
    if path.is_dir():
        raise SmileError(f"{option}: {str(path)!r} is a folder; name a file to write.")
    for other in read:
        if other is not None and path.exists() and other.exists() and path.samefile(other):
            raise SmileError(f"{option} {str(path)!r} is the file that is read; name another one.")
    _check_parent(path)


def _check_parent(path: Path) -> None:
    """Folders on the way are made when the time comes; the first one that is there must allow it."""
    parent = path.absolute().parent
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if not parent.is_dir():
        raise SmileError(f"{str(parent)!r} is a file, so {str(path)!r} cannot be written; choose another place.")
    try:  # by making and removing a file: permissions do not tell of read-only disks, nor of /proc
        handle, probe = tempfile.mkstemp(prefix=".smile-", dir=parent)
    except OSError:
        raise SmileError(
            f"The folder {str(parent)!r} cannot be written to; choose another one for {path.name!r}."
        ) from None
    os.close(handle)
    os.unlink(probe)
