"""A model folder: named files bound by a manifest of hashes, written atomically, read strictly.

    manifest.json   {"format", "version", "library", "files": {name: {"sha256", "bytes"}}, "digest"}

`digest` is the SHA-256 of a line for every file (docs/certificate.md, §6), so that a damaged manifest is noticed as
well; it is what a signature signs. Folders of version 1 are read, and written anew as version 2. The folder is written
beside its final place, flushed to disk and renamed: a crash leaves the old folder or the new one, never a part of one.
Standard library only; nothing is ever unpickled.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import math
import os
import re
import shutil
import stat
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from smilenn._version import __version__
from smilenn.errors import AlteredError, SmileError, listed

FORMAT = "smilenn-model"
VERSION = 2
MANIFEST, SIGNATURE = "manifest.json", "signature.json"
MOST_JSON = 64 << 20  # bytes of a JSON file, as checkers have it


# ---- strict JSON ----------------------------------------------------------------------------------------------------


def dump_json(value: Any) -> bytes:
    """JSON as UTF-8 bytes; NaN and infinities are errors, floats survive the round trip exactly."""
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def parse_json(data: bytes, name: str) -> Any:
    """Read JSON strictly: no duplicate keys, no NaN or infinite numbers, UTF-8 only; `name` is for messages."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(items)
        if len(out) != len(items):
            twice = [key for key, count in Counter(key for key, _ in items).items() if count > 1]
            raise ValueError(f"the key {listed(sorted(twice))} appears twice")
        return out

    def constant(text: str) -> float:
        raise ValueError(f"{text} is not a number of JSON")

    def finite(text: str) -> float:
        value = float(text)
        return value if math.isfinite(value) else constant(text)

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant, parse_float=finite)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise SmileError(f"{name} is not readable JSON: {reason}; save the model again.") from None


def without_infinities(value: Any) -> Any:
    """A copy of nested lists and dictionaries in which numbers that JSON lacks (NaN, ±inf) are None."""
    if isinstance(value, Mapping):
        return {str(key): without_infinities(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_infinities(entry) for entry in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


# ---- reading --------------------------------------------------------------------------------------------------------


def read_manifest(folder: Path | str) -> dict[str, Any]:
    """The manifest of a model folder, checked by itself."""
    folder = Path(folder)
    if not folder.exists():
        raise SmileError(f"There is no model folder {str(folder)!r}; check the path or fit a model first.")
    if not folder.is_dir():
        raise SmileError(f"{str(folder)!r} is a file, not a model folder; give the folder that was saved.")
    data = read_file(folder / MANIFEST)
    try:
        manifest = parse_json(data, str(folder / MANIFEST))
    except SmileError as error:
        raise AlteredError(str(error)) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise AlteredError(f"{str(folder / MANIFEST)!r} is not the manifest of a smilenn model; save the model again.")
    if manifest.get("version") not in (1, VERSION):
        raise SmileError(
            f"{str(folder)!r} has format version {manifest.get('version')}; this smilenn ({__version__}) reads "
            f"versions 1 and {VERSION}: use the version that wrote it, {manifest.get('library')}."
        )
    if not _is_list(manifest.get("files")) or manifest.get("digest") != _digest(manifest):
        raise AlteredError(f"{str(folder / MANIFEST)!r} is not the file that was saved; save the model again.")
    return manifest


def _is_list(files: Any) -> bool:
    """Whether a manifest's list of files has a hash and a size for every name."""
    return isinstance(files, dict) and all(
        isinstance(entry, dict) and isinstance(entry.get("sha256"), str) and type(entry.get("bytes")) is int
        for entry in files.values()
    )


def read_folder(folder: Path | str, manifest: Mapping[str, Any] | None = None) -> dict[str, bytes]:
    """The files that the manifest lists, each one checked against its hash; other files in the folder are not read.

    `manifest` is one that was read before: files that another one lists by now are then changed ones. A missing file
    raises `SmileError`, a changed one `AlteredError`.
    """
    folder = Path(folder)
    files = {}
    for name, entry in (read_manifest(folder) if manifest is None else manifest)["files"].items():
        if Path(name).name != name:
            raise AlteredError(f"The manifest of {str(folder)!r} lists {name!r}, which is not a plain file name.")
        limits = (entry["bytes"], MOST_JSON) if name.endswith(".json") else (entry["bytes"],)
        data = read_file(folder / name, max(0, min(limits)))
        if len(data) != entry["bytes"] or hashlib.sha256(data).hexdigest() != entry["sha256"]:
            raise AlteredError(
                f"{str(folder / name)!r} is not the file that was saved, its hash differs; restore it or fit again."
            )
        files[name] = data
    return files


def read_file(path: Path, most: int = MOST_JSON) -> bytes:
    """A regular file, no link to one, of at most `most` bytes: nothing waits for a pipe, and no device fills memory."""
    flags = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    data = b""
    try:
        regular = stat.S_ISREG(path.lstat().st_mode)  # a link may point anywhere, and elsewhere tomorrow
        if regular:
            with open(os.open(path, flags), "rb") as file:
                status = os.fstat(file.fileno())
                regular = stat.S_ISREG(status.st_mode)
                data = file.read(min(most, status.st_size) + 1) if regular else data
        if not regular:
            raise SmileError(f"{str(path)!r} is not a regular file; put the file itself into the folder.")
    except FileNotFoundError:
        raise SmileError(f"The file {path.name!r} is missing in {str(path.parent)!r}; save the model again.") from None
    except OSError as error:
        raise SmileError(f"The file {str(path)!r} cannot be read: {error.strerror}.") from None
    if len(data) > most:
        raise AlteredError(f"{str(path)!r} is larger than it may be, or than the file that was saved; restore it.")
    return data


def _digest(manifest: Mapping[str, Any]) -> str:
    """The digest of a manifest of either version."""
    if manifest["version"] == VERSION:
        return files_digest(manifest["files"])
    body = {key: value for key, value in manifest.items() if key != "digest"}
    text = json.dumps(body, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def files_digest(files: Mapping[str, Mapping[str, Any]]) -> str:
    """SHA-256 of the line ``smilenn-model 2`` and, in the order of names, of a line ``SHA256 BYTES NAME`` a file."""
    lines = [f"{files[name]['sha256']} {files[name]['bytes']} {name}" for name in sorted(files)]
    text = "".join(f"{line}\n" for line in (f"{FORMAT} {VERSION}", *lines))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def make_manifest(files: Mapping[str, bytes]) -> dict[str, Any]:
    """The manifest of the files by name."""
    for name in files:
        if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}", name) or name in (MANIFEST, SIGNATURE):
            raise SmileError(f"A model folder holds no file {name!r}; use letters, digits, '.', '_' and '-'.")
    entries = {name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in files.items()}
    own = {"format": FORMAT, "version": VERSION, "library": __version__}
    return {**own, "files": entries, "digest": files_digest(entries)}


# ---- writing --------------------------------------------------------------------------------------------------------


def refuse_existing(folder: Path | str) -> None:
    """Raise if something is already there; called before long work, so that it is not done in vain."""
    if Path(folder).exists() or Path(folder).is_symlink():
        raise SmileError(f"The output folder {str(folder)!r} exists; remove it or choose another name.")


def write_folder(folder: Path | str, files: Mapping[str, bytes], *, overwrite: bool = False) -> None:
    """Write the files and their manifest as one step.

    An existing model folder is replaced only with `overwrite`; files in it that no manifest lists are kept, but for a
    signature, which is one of the old files.
    """
    folder = Path(folder).absolute()
    others: list[Path] = []
    if overwrite and folder.exists():
        # replaces models only: a folder that is something else is not ours to delete, nor are strangers in a model's
        listed_before = read_manifest(folder)["files"]
        others = [path for path in folder.iterdir() if path.name not in {*files, *listed_before, MANIFEST, SIGNATURE}]
    else:
        refuse_existing(folder)
    place_folder(folder, {**files, MANIFEST: dump_json(make_manifest(files))}, others=others, overwrite=overwrite)


def place_folder(
    folder: Path, files: Mapping[str, bytes], *, others: Sequence[Path] = (), overwrite: bool = False
) -> None:
    """Put a folder with these files, and copies of `others`, in its place as one step; names may hold folders."""
    folder, temporary = folder.absolute(), None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
        temporary.chmod(0o777 & ~_umask())
        for name, data in files.items():
            (temporary / name).parent.mkdir(exist_ok=True)
            _write(temporary / name, data)
        for path in others:
            _copy(path, temporary / path.name)
        _sync(temporary)
        _put(temporary, folder, overwrite)
        _sync(folder.parent)
    except OSError as error:
        raise SmileError(f"The folder {str(folder)!r} cannot be written: {error.strerror or error}.") from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)  # after an exchange this is the old folder


def _write(path: Path, data: bytes) -> None:
    """A new file, on the disk when this returns."""
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _copy(path: Path, to: Path) -> None:
    """A file or a folder as it is; links stay links."""
    if path.is_dir() and not path.is_symlink():
        shutil.copytree(path, to, symlinks=True)
    else:
        shutil.copy2(path, to, follow_symlinks=False)


def _put(new: Path, folder: Path, overwrite: bool) -> None:
    """Move `new` to `folder`; what was there is gone, or stands under the name `new`."""
    if not overwrite or not folder.exists():
        os.rename(new, folder)  # fails if a non-empty folder has appeared meanwhile
        return
    if _exchange(new, folder):
        return
    aside = new.with_suffix(".old")
    os.rename(folder, aside)
    try:
        os.rename(new, folder)
    except BaseException:
        os.rename(aside, folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _exchange(a: Path, b: Path) -> bool:
    """Swap two folders in one step where the system can (Linux); False where it cannot."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if renameat2(here, os.fsencode(a), here, os.fsencode(b), exchange) == 0:
        return True
    if ctypes.get_errno() in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _sync(folder: Path) -> None:
    """Flush a folder's entries to disk, where folders can be opened."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
