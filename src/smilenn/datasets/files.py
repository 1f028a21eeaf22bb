"""Where data files are found, and the check that they are the right ones.

A file is looked for in `data_dir` if that is given, and nowhere else; otherwise in the folder that the environment
variable SMILENN_DATA names, then in the cache (``$XDG_CACHE_HOME/smilenn``, by default ``~/.cache/smilenn``), and then
downloaded into the cache if an address is known. Whatever the place, the *uncompressed* content must have the expected
digest: compressed copies of the same data differ from one another, their content does not. The digest is a sha256, or,
where only a version-control system published one, the git blob id  sha1("blob " + length + NUL + content).
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import logging
import os
import tempfile
import urllib.request
import zlib
from dataclasses import dataclass
from pathlib import Path

from smilenn.datasets.base import DataError

log = logging.getLogger(__name__)

TIMEOUT_S = 30.0
LARGEST_DOWNLOAD = 64 * 2**20  # bytes; every file here is below 48 MiB, so more is not the file
GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes
    ----------
    path : place below the data folder, with forward slashes; with ``.gz`` the unpacked file is accepted too.
    sha256 : of the uncompressed content, hexadecimal; empty where a git blob id stands in.
    urls : addresses of the file, packed or not, tried in order; none if it has to be put in place by hand.
    git_blob : git's id of the content, hexadecimal.
    """

    path: str
    sha256: str = ""
    urls: tuple[str, ...] = ()
    git_blob: str = ""

    def digest(self, content: bytes) -> str:
        """The digest of a content, of the kind this file is known by."""
        if self.sha256:
            return hashlib.sha256(content).hexdigest()
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()

    @property
    def expected(self) -> str:
        """What `digest` must give."""
        return self.sha256 or self.git_blob

    @property
    def kind(self) -> str:
        """The digest's name in messages."""
        return "sha256" if self.sha256 else "git blob id"


def read(
    file: DataFile, data_dir: str | os.PathLike[str] | None = None, *, download: bool = True, keep: bool = True
) -> bytes:
    """The verified, uncompressed content of a data file; downloads it when the location rule says so.

    `download` False never goes online. `keep` False leaves a downloaded file in memory: nothing is written.
    """
    found = locate(file, data_dir)
    if found is None:
        if data_dir is not None:
            raise DataError(f"There is no {file.path} in the data folder {Path(data_dir)}; put it there.")
        if not file.urls or not download:
            raise DataError(f"{file.path} was not found; {_by_hand(file)}")
        return _download(file, keep)
    try:
        raw = found.read_bytes()
    except OSError as error:
        raise DataError(f"{found} cannot be read ({error.strerror}); check its permissions.") from error
    return _verified(raw, file, found)


def locate(file: DataFile, data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """The first copy of the file by the location rule, unchecked; None if there is none."""
    if data_dir is not None:
        return _inside(_folder(data_dir, "data_dir"), file)
    named = os.environ.get("SMILENN_DATA")
    found = _inside(_folder(named, "SMILENN_DATA"), file) if named else None
    return found or _inside(cache_dir(), file)


def keep(file: DataFile, content: bytes) -> bool:
    """Write a content made here into the cache, packed; False, and nothing written, if its digest is not the file's.

    Packed without a time stamp, so the same content gives the same file.
    """
    if file.digest(content) != file.expected:
        return False
    packed = file.path.endswith(".gz")
    _write_whole(cache_dir() / file.path, gzip.compress(content, mtime=0) if packed else content)
    return True


def cache_dir() -> Path:
    """The folder of downloaded files; it need not exist."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "smilenn"


def _folder(path: str | os.PathLike[str], what: str) -> Path:
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise DataError(f"{what} names {folder}, which is not a folder; correct the path or create it.")
    return folder


def _inside(folder: Path, file: DataFile) -> Path | None:
    packed = folder / file.path
    for candidate in (packed, packed.with_suffix("")) if packed.suffix == ".gz" else (packed,):
        if candidate.is_file():
            return candidate
    return None


def _by_hand(file: DataFile) -> str:
    return (
        f"put it at {cache_dir() / file.path}, or set SMILENN_DATA to a folder that has {file.path} "
        f"({file.kind} of its uncompressed content: {file.expected})."
    )


def _verified(raw: bytes, file: DataFile, place: Path) -> bytes:
    """The uncompressed content of `raw`, or a sentence on what is wrong with the file at `place`."""
    remedy = "delete it and fetch it again" if file.urls else "replace it by an undamaged copy"
    try:
        content = gzip.decompress(raw) if place.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{place} is not a complete gzip file ({error}); its uncompressed content should have {file.kind} "
            f"{file.expected}: {remedy}."
        ) from error
    digest = file.digest(content)
    if digest != file.expected:
        raise DataError(
            f"{place} is damaged or another file: its uncompressed content has {file.kind} {digest}, expected "
            f"{file.expected}; {remedy}."
        )
    return content


def _download(file: DataFile, keep: bool) -> bytes:
    """The content from the first address that gives the right one, also written to the cache if `keep`."""
    target = cache_dir() / file.path
    failures = []
    for url in file.urls:
        log.info("downloading %s from %s", file.path, url)
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
                raw = response.read(LARGEST_DOWNLOAD)
            # a mirror may serve the file unpacked
            place = target if target.suffix != ".gz" or raw[:2] == GZIP_MAGIC else target.with_suffix("")
            content = _verified(raw, file, place)
        except DataError:
            failures.append(f"{url}: not the expected content")
        except (OSError, http.client.HTTPException) as error:
            failures.append(f"{url}: {error}")
        else:
            if keep:
                _write_whole(place, raw)
            return content
    raise DataError(f"{file.path} could not be downloaded ({'; '.join(failures)}); {_by_hand(file)}")


def _write_whole(target: Path, raw: bytes) -> None:
    """Write the file or nothing: readers never see half of it, and two downloads at once do no harm."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise DataError(
            f"The cache {target.parent} cannot be written ({error.strerror}); set XDG_CACHE_HOME to a folder that can."
        ) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(raw)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
