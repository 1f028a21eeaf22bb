"""The leaf rule of the proved checker: verdicts, bounds and margins are those of check.py."""

import json
import random
import subprocess
from importlib import import_module

import pytest

from smilenn.certify import check, verified

UNCOVERED = "not covered by the proof: "


@pytest.fixture(scope="module")
def folders():
    """trust/random_folder.py: random networks, claims and trees."""
    return import_module("trust.random_folder")


@pytest.fixture(scope="module")
def encoders():
    """trust/encoded_folder.py: the same with encoders."""
    return import_module("trust.encoded_folder")


def agreed(smilecheck, folder):
    """The status that both find, bounds and margins compared; empty where the proof does not cover the folder."""
    report = check.check_folder(folder)
    code, found, text = smilecheck(folder)
    if found["reason"].startswith(UNCOVERED):
        assert code == 3
        assert "failed" not in found["reason"]
        return ""
    assert (code, found["status"]) == (report.exit_code, report.status), (report.reason, found["reason"])
    if report.claims:
        assert text == json.dumps(report.to_json())
    return report.status


@pytest.mark.parametrize("profile", ["f64-aux", "fixed-order"])
def test_random_trees(smilecheck, folders, tmp_path, profile):
    """Gap boxes without an encoder, categories and extra rows included."""
    found = []
    for seed in range(40):
        kind = ("relu", "relu", "constant")[seed % 3]
        copies = 1 if seed % 4 == 0 else 2
        options = {"copies": copies, "boxes": "gap", "rule": "leaf", "profile": profile, "auxiliaries": kind}
        folders.random_folder(tmp_path / f"{seed}", seed, **options)
        found.append(agreed(smilecheck, tmp_path / f"{seed}"))
    assert found.count("certified") >= 15
    assert found.count("unknown") >= 4


def test_random_trees_over_encoders(smilecheck, encoders, forge2, tmp_path):
    """Trees over what an encoder leaves of a premise."""
    found = []
    for seed in range(40):
        encoders.encoded_folder(tmp_path / f"{seed}", seed, copies=1 if seed % 4 == 0 else 2, boxes="gap", rules=0.1)
        files = forge2.as_version_2(forge2.read(tmp_path / f"{seed}"))
        found.append(agreed(smilecheck, forge2.put(tmp_path / f"{seed}-2", files)))
    assert found.count("certified") >= 15


def test_lemmas(smilecheck, forge2, tmp_path):
    """Lemmas, good and malformed, in small folders."""
    lemmas = import_module("trust.kill_lemmas")
    found = []
    for seed in range(240):
        found.append(agreed(smilecheck, forge2.put(tmp_path / f"{seed}", lemmas.Lemmas(seed).files)))
    assert min(found.count(status) for status in ("certified", "unknown", "refused")) >= 6


@pytest.fixture(scope="module")
def files(folders, forge2, tmp_path_factory):
    """Folders with hidden units and a tree that the checkers accept or find too weak."""
    place, out, seed = tmp_path_factory.mktemp("trees"), [], 0
    while len(out) < 8:
        options = {"copies": 2, "boxes": "gap", "rule": "leaf", "auxiliaries": "relu", "claims": 1}
        folders.random_folder(place / f"{seed}", seed, **options)
        own = forge2.read(place / f"{seed}")
        if len(own["certificate.bin"]) > 60 and check.check_folder(place / f"{seed}").claims:
            out.append(own)
        seed += 1
    return out


@pytest.mark.parametrize("seed", range(6))
def test_a_changed_byte(smilecheck, forge2, files, tmp_path, seed):
    """Proofs with a byte changed, inserted or dropped, digests put right: refused alike, or the same bounds."""
    rng, found = random.Random(seed), []
    for number in range(12):
        own = dict(rng.choice(files))
        data = bytearray(own["certificate.bin"])
        at = rng.randrange(len(data))
        data[at : at + rng.choice((0, 1, 1, 1))] = bytes(
            rng.choice((0, 1, 2, 3, 5, 255, rng.randrange(256))) for _ in range(rng.choice((0, 1, 1)))
        )
        own["certificate.bin"] = bytes(data)
        found.append(agreed(smilecheck, forge2.put(tmp_path / f"{number}", forge2.rehashed(own))))
    assert found.count("") <= 2
    assert "refused" in found


def test_a_deep_tree(smilecheck, forge2, files, tmp_path):
    """A tree of a million levels ends with a sentence."""
    own = dict(files[0])
    certificate = json.loads(own["certificate.json"])
    own["certificate.bin"] = bytes([1, 0, 0, 0]) * 10**6
    certificate["claims"][0]["rows"][0] |= {"start": 0, "length": len(own["certificate.bin"])}
    own["certificate.json"] = json.dumps(certificate).encode()
    code, found, _ = smilecheck(forge2.put(tmp_path / "m", forge2.rehashed(own)))
    assert (code, found["reason"]) == (3, UNCOVERED + "a tree of so many levels")


def test_text_report(smilecheck, files, forge2, tmp_path):
    """The reports as text are those of check.py, line by line, also where a row is not shown."""
    seen = set()
    for number, own in enumerate(files):
        folder = forge2.put(tmp_path / f"{number}", own)
        report = check.check_folder(folder)
        done = subprocess.run([str(verified.program()), str(folder)], capture_output=True, check=False)
        assert done.stdout.decode() == "\n".join(report.lines()) + "\n"
        seen.add(report.status)
    assert seen == {"certified", "unknown"}
