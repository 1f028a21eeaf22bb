"""Fuzzing of whatever reads model folders: files of real folders changed by hypothesis, for a given time; see
test_fuzz_*.py.

Whatever the files hold, a checker answers with one of its four statuses: it raises nothing, does not hang, and reading
takes no more memory than a few times the files' size. (JSON is the exception: ``[],[],…`` becomes lists of 64 bytes,
some 25 times its text, in any reader that builds values.) The loader raises its own error or returns a network.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import secrets
import signal
import tarfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from trust import forge2, kill_balls, kill_cases, kill_lemmas, kill_trees

FOLDERS = (
    "forged-nothing",
    "random-slope-5",
    "encoded-78",
    "dyadic-extra-8",
    "order-pinned-group",
    "random-paper-2",
    "two-claims",
    "room-all",
    "properties-same",
    "random-any-12",
)
TREES = (34, 2)  # one below a linear layer, one with sets
BALLS = (6, 7)
STATUSES = {"certified", "unknown", "refused", "unreadable"}
SECONDS = 60.0
LEAST = 125  # folders, however busy the machine is
HANG = 120  # seconds: folders of a few kB take milliseconds
FLOATS, TEXT = 16, 40  # bytes of memory per byte of binary and of JSON files, when they are read

INTERESTING = [0, 1, 2, 127, 128, 254, 255]
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**63,
    10**399,
    0.5,
    -0.0,
    5e-324,
    1e308,
    "",
    "1/3",
    "1/0",
    "x0",
    "\ud800",
    "\0",
    [],
    {},
    [[]],
    {"": 0},
]


def samples(corpus: Path) -> list[dict[str, bytes]]:
    """Files of folders of the corpus of version 2, one with cases, one with lemmas, two with trees, two of balls."""
    with tarfile.open(corpus / "folders.tar.xz") as archive:
        members = {member.name: member for member in archive.getmembers()}
        out = []
        for folder in FOLDERS:
            files = {}
            for path, member in members.items():
                if path.startswith(f"v2-{folder}/") and not path.endswith("/manifest.json"):
                    file = archive.extractfile(member)
                    assert file is not None
                    files[path.split("/")[1]] = file.read()
            assert set(files) >= {"model.json", "weights.safetensors", "certificate.json", "certificate.bin"}
            out.append(files)
    trees = [kill_trees.Grown(seed).files for seed in TREES]
    balls = [kill_balls.Balled(seed).files for seed in BALLS]
    return [*out, kill_cases.Cased(102).files, kill_lemmas.Lemmas(380).files, *trees, *balls]


def _bytes(draw: Callable[..., Any], data: bytes) -> bytes:
    """Some bytes changed, cut out, repeated or put in."""
    out = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        at, size = draw(st.integers(0, max(0, len(out) - 1))), draw(st.integers(1, 64))
        match draw(st.integers(0, 5)):
            case 0:
                out[at : at + 1] = bytes([draw(st.sampled_from(INTERESTING))])
            case 1:
                out[at : at + 1] = bytes([(out[at] if out else 0) ^ 1 << draw(st.integers(0, 7))])
            case 2:
                del out[at:]
            case 3:
                del out[at : at + size]
            case 4:
                out[at:at] = out[at : at + size] * draw(st.integers(1, 50))
            case _:
                out[at : at + size] = draw(st.binary(max_size=64))
    return bytes(out)


def _value(draw: Callable[..., Any], value: Any) -> Any:
    """JSON with one value replaced, dropped or doubled."""
    where = value
    for _ in range(draw(st.integers(1, 8))):
        keys = list(where) if isinstance(where, dict) else list(range(len(where))) if isinstance(where, list) else []
        if not keys:
            break
        key = draw(st.sampled_from(keys))
        if isinstance(where[key], dict | list) and where[key] and draw(st.booleans()):
            where = where[key]
            continue
        match draw(st.integers(0, 2)):
            case 0:
                where[key] = draw(st.sampled_from(VALUES))
            case 1:
                del where[key]
            case _:
                if isinstance(where, list):
                    where += where[-1:] * draw(st.integers(1, 30))
        break
    return value


def _refreshed(certificate: bytes, binary: bytes, version: int) -> bytes:
    """The hashes of claims and proofs as they are now, for models whose digest cannot be taken."""
    content = json.loads(certificate)
    content["proofs_sha256"] = forge2.sha256(binary)
    for entry in content["claims"]:
        entry["claim_sha256"] = forge2.claim_digest(entry["claim"], version)
    return json.dumps(content).encode()


def changed(draw: Callable[..., Any], files: Mapping[str, bytes]) -> dict[str, bytes]:
    """One file changed; usually the hashes fit again, so that more than the manifest is looked at."""
    out = {name: content for name, content in files.items() if name != "manifest.json"}
    name = draw(st.sampled_from(sorted(out)))
    if name.endswith(".json") and draw(st.booleans()):
        out[name] = json.dumps(_value(draw, json.loads(out[name]))).encode("utf-8", "surrogatepass")
    elif name == "weights.safetensors" and draw(st.booleans()):
        size = int.from_bytes(out[name][:8], "little")
        header = json.dumps(_value(draw, json.loads(out[name][8 : 8 + size]))).encode("utf-8", "surrogatepass")
        out[name] = len(header).to_bytes(8, "little") + header + out[name][8 + size :]
    else:
        out[name] = _bytes(draw, out[name])
    old = json.loads(files["certificate.json"])["version"]
    with contextlib.suppress(Exception):  # what cannot be parsed any more keeps its old hash
        out["certificate.json"] = _refreshed(out["certificate.json"], out["certificate.bin"], old)
    with contextlib.suppress(Exception):
        out = forge2.rehashed(out)
    out["manifest.json"] = forge2.manifest(out, old)
    if draw(st.integers(0, 19)) == 0:
        out["manifest.json"] = _bytes(draw, out["manifest.json"])
    return out


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Fail what takes longer than any folder of this size may, instead of waiting for it."""

    def stop(*_: object) -> None:
        raise AssertionError(f"a folder kept its reader busy for {HANG} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANG)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fuzz(
    answer: Callable[[Path, Mapping[str, bytes]], None],
    given_files: list[dict[str, bytes]],
    place: Path,
    seconds: float,
    start: int | None = None,
) -> int:
    """How many folders `answer` was given, with their files; it fails where they are not treated as they should be.

    Without a `start` every run tries other folders; the seed is printed, and `SMILENN_FUZZ_SEED` repeats a run.
    """
    start = int(os.environ.get("SMILENN_FUZZ_SEED") or secrets.randbits(32)) if start is None else start
    print(f"SMILENN_FUZZ_SEED={start}")  # noqa: T201
    place.mkdir()
    count = rounds = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until or count < LEAST:

        @seed(start + rounds)
        @settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(st.data())
        def attack(data: st.DataObject) -> None:
            nonlocal count
            files = changed(data.draw, data.draw(st.sampled_from(given_files)))
            for name, content in files.items():
                (place / name).write_bytes(content)
            with watched():
                answer(place, files)
            count += 1

        attack()
        rounds += 1
    return count


def fuzz_checker(
    module: ModuleType, read: Callable[[Path], Any], corpus: Path, place: Path, seconds: float = SECONDS
) -> int:
    """How many folders `module.check_folder` has answered; `read` is its reading alone, whose memory is measured."""
    asked = itertools.count(1)

    def answer(folder: Path, files: Mapping[str, bytes]) -> None:
        assert module.check_folder(folder).status in STATUSES
        if next(asked) % 10 == 0:
            text = sum(len(content) for name, content in files.items() if name.endswith(".json"))
            header = min(1 << 16, len(files["weights.safetensors"]))
            rest = sum(map(len, files.values())) - text
            tracemalloc.start()
            with contextlib.suppress(module.CheckError):
                read(folder)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < FLOATS * rest + TEXT * (text + header) + (1 << 18), (peak, text, rest)

    return fuzz(answer, samples(corpus), place, seconds)
