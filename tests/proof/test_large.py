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


def category(forge2, place, values):
    """A folder with a claim on a category of so many values, certified by a proof of one leaf."""
    claim = forge2.small_claim(([(1, 0, "y"), (-1, 1, "y")], "<=", 2), copies=2) | {"others": "free"}
    slopes = {name: [[0.0] * values] for name in ("lower.slope", "second.rise", "second.fall")}
    proof = {"rule": "leaf", "bits": 0, "units": [], "start": 0, "length": 1}
    files = forge2.small_files(
        claim,
        feature={"kind": "category", "categories": [str(value) for value in range(values)]},
        tensors=slopes,
        proofs=[{"witness": [[1.0, *[0.0] * (values - 1)]] * 2, "rows": [proof]}],
    )
    return forge2.put(place, forge2.as_version_2(files | {"certificate.bin": b"\0"}))


def test_a_category_of_many_values(smilecheck, forge2, tmp_path):
    """The proved program goes through all pairs of values; beyond 400 of them the answer is a sentence, at once."""
    code, report, _ = smilecheck(category(forge2, tmp_path / "m", 200))
    assert (code, report["status"]) == (0, "certified")
    code, report, _ = smilecheck(category(forge2, tmp_path / "n", 401))
    assert (code, report["reason"]) == (3, "not covered by the proof: a category of so many values (claim 1)")


@pytest.mark.parametrize("room", [64 << 10, 96 << 10, 256 << 10])
def test_too_little_stack(smilecheck, forge2, tmp_path, room):
    """A program that the system ends, here for the size of its stack, has an answer all the same."""
    done = subprocess.run(
        [str(verified.program()), str(category(forge2, tmp_path / "m", 200))],
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (room, room)),
    )
    assert (done.returncode, done.stderr) == (3, b"")
    assert done.stdout.decode() == "unknown: not covered by the proof: a folder of this size\n"


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
