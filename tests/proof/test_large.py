"""Files at the limits of section 6: the proved checker ends with a sentence, and beyond a limit at once."""

import hashlib
import json
import os
import resource
import subprocess

import pytest

from smilenn.certify import verified

MIB, GIB = 1 << 20, 1 << 30


def zeros(path, size):
    """A file of zeros that takes no room on the disk."""
    with open(path, "wb") as file:
        file.truncate(size)


def entry(size):
    """What a manifest says of so many zeros."""
    digest, piece = hashlib.sha256(), bytes(MIB)
    for _ in range(size // MIB):
        digest.update(piece)
    digest.update(bytes(size % MIB))
    return {"sha256": digest.hexdigest(), "bytes": size}


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("certificate.bin", GIB),
        ("weights.safetensors", GIB),
        ("model.json", 64 * MIB),
        ("certificate.json", 64 * MIB),
        ("manifest.json", 64 * MIB),
    ],
)
def test_a_byte_too_many(smilecheck, forge2, tmp_path, name, limit):
    """Refused by its size: with a tenth of the memory that the file would take, nothing of it is read."""
    folder = forge2.put(tmp_path / "m", forge2.as_version_2(forge2.small_files()))
    assert smilecheck(folder)[0] == 0
    zeros(folder / name, limit + 1)
    program, room = str(verified.program()), limit // 10 + 64 * MIB
    done = subprocess.run(
        [program, str(folder)],
        capture_output=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room)),
    )
    assert (done.returncode, done.stderr) == (2, b"")
    assert done.stdout.decode() == f"unreadable: {name} is too large\n"


def test_too_little_memory(smilecheck, forge2, tmp_path):
    """A file within the limits that does not fit into the memory ends with a sentence too, and is not accepted."""
    folder = forge2.put(tmp_path / "m", forge2.as_version_2(forge2.small_files()))
    zeros(folder / "certificate.bin", GIB)
    done = subprocess.run(
        [str(verified.program()), str(folder)],
        capture_output=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (256 * MIB, 256 * MIB)),
    )
    assert (done.returncode, done.stderr) == (3, b"")
    assert done.stdout.decode() == "unknown: not covered by the proof: a folder of this size\n"


def test_a_deep_tree_of_an_encoder(smilecheck, forge2, trees, tmp_path):
    """A million levels, every one to the left of the last, and a smaller one of this shape that is read."""
    code, found, _ = smilecheck(forge2.put(tmp_path / "small", trees.handmade([trees.chain(200)])))
    assert not found["reason"].startswith("not covered")
    code, found, _ = smilecheck(forge2.put(tmp_path / "m", trees.handmade([trees.chain(10**6 + 1)])))
    assert (code, found["reason"]) == (3, "not covered by the proof: a tree of so many levels")


@pytest.mark.slow
def test_a_gibibyte(smilecheck, forge2, tmp_path):
    """As large as allowed, all digests right: read whole, hashed, and refused by the rule. It takes 2 GiB of memory."""
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 3 * GIB:
        pytest.skip("three gigabytes of free memory are needed")
    row = {"rule": "leaf", "bits": 0, "units": [], "start": 0, "length": GIB}
    files = forge2.as_version_2(forge2.small_files(proofs=[{"witness": [[0.5]], "rows": [row]}]))
    said = entry(GIB)
    certificate = json.loads(files["certificate.json"]) | {"proofs_sha256": said["sha256"]}
    files["certificate.json"] = json.dumps(certificate).encode()
    folder = forge2.put(tmp_path / "m", files, {"files": forge2.listed(files) | {"certificate.bin": said}})
    zeros(folder / "certificate.bin", GIB)
    code, report, _ = smilecheck(folder)
    assert (code, report["reason"]) == (1, "bytes follow the last node of a tree")
