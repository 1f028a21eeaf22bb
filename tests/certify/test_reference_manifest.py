"""The manifest of version 2, links, and properties.json in the reference checker."""

import json
import os

import pytest

from smilenn.certify.reference import strict
from smilenn.certify.reference.check import check_folder


@pytest.fixture
def checked(put2):
    """Write files as a folder, with changes of its manifest, and check it."""
    return lambda files, changes=None: check_folder(put2(files, changes))


def small(forge2, **more):
    """A certified folder of version 2."""
    return forge2.as_version_2(forge2.small_files(), **more)


# ---- the manifest ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a", "A-b_c.9", "x" * 100, "-", "notes.txt", "MANIFEST.json"])
def test_good_names(forge2, checked, name):
    assert checked(small(forge2) | {name: b"1"}).status == "certified"


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        ".hidden",
        "x" * 101,
        "a b",
        "a/b",
        "../a",
        "a\\b",
        "a:b",
        "é",
        "a\n",
        "a\0",
        "manifest.json",
        "signature.json",
        "a+b",
        "\ud800",
    ],
)
def test_bad_names(forge2, checked, name):
    files = small(forge2)
    report = checked(files, {"files": forge2.listed(files) | {name: {"sha256": "0" * 64, "bytes": 0}}})
    assert report.status == "refused" and "file name" in report.reason


def test_a_signature_is_not_looked_at(forge2, tmp_path):
    folder = forge2.put(tmp_path / "m", small(forge2))
    (folder / "signature.json").write_text("nonsense")
    (folder / "left.over").write_text("not listed")
    assert check_folder(folder).status == "certified"


def test_keys_of_the_manifest(forge2, checked):
    files = small(forge2)
    good = json.loads(forge2.manifest(files))
    for changes in (
        {"more": 1},
        {"library": 1},
        {"library": None},
        {"format": "other"},
        {"files": []},
        {"files": None},
        {"digest": "0" * 64},
        {"digest": good["digest"].upper()},
        {"digest": None},
        {"digest": 1},
    ):
        assert checked(files, good | changes).status == "refused", changes
    assert checked(files, {"library": "é \ud83d\ude00"}).status == "certified"


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e.update(bytes=e["bytes"] + 1),
        lambda e: e.update(bytes=float(e["bytes"])),
        lambda e: e.update(bytes=str(e["bytes"])),
        lambda e: e.update(bytes=True),
        lambda e: e.pop("bytes"),
        lambda e: e.update(sha256="0" * 64),
        lambda e: e.update(sha256=e["sha256"].upper()),
        lambda e: e.update(sha256=e["sha256"][1:]),
        lambda e: e.update(sha256=None),
        lambda e: e.update(more=1),
        lambda e: e.update(bytes=-1),
        lambda e: e.update(bytes=1 << 31),
    ],
)
def test_entries_of_the_manifest(forge2, checked, change):
    files = small(forge2)
    entries = forge2.listed(files)
    change(entries["model.json"])
    digest = forge2.manifest_digest(entries) if {"sha256", "bytes"} <= set(entries["model.json"]) else "0" * 64
    assert checked(files, {"files": entries, "digest": digest}).status == "refused"


def test_files_must_be_there_and_listed(forge2, tmp_path):
    files = small(forge2)
    for name in files:
        left = {key: value for key, value in files.items() if key != name}
        folder = forge2.put(tmp_path / f"a{name}", files, {"files": forge2.listed(left)})
        assert check_folder(folder).status == "unreadable"
        folder = forge2.put(tmp_path / f"b{name}", files)
        (folder / name).unlink()
        assert check_folder(folder).status == "unreadable"


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", ["model.json", "certificate.bin", "manifest.json", "notes"])
def test_a_symbolic_link_is_no_file(forge2, tmp_path, monkeypatch, version, name):
    files = small(forge2) | {"notes": b"1"}
    folder = forge2.put(tmp_path / "m", files if version == 2 else forge2.as_version_1(files))
    assert check_folder(folder).status == "certified"
    (tmp_path / "elsewhere").write_bytes((folder / name).read_bytes())
    (folder / name).unlink()
    (folder / name).symlink_to(tmp_path / "elsewhere")
    report = check_folder(folder)
    assert report.status == "unreadable" and "symbolic link" in report.reason
    # a file that becomes a link between the look and the opening
    real = os.lstat
    monkeypatch.setattr(strict.os, "lstat", lambda path: real(tmp_path / "elsewhere"))
    assert check_folder(folder).status == "unreadable"
    monkeypatch.undo()
    (tmp_path / "link").symlink_to(forge2.put(tmp_path / "n", files))
    assert check_folder(tmp_path / "link").status == "certified"  # where the folder lies is its owner's affair


# ---- properties.json ------------------------------------------------------------------------------------------------


def test_properties_hold_the_same_claims(forge2, checked):
    claims = [forge2.small_claim(([(1, 0, "y")], "<=", rhs)) for rhs in (2, 3)]
    files = forge2.as_version_2(forge2.small_files(*claims), properties=True)
    assert checked(files).status == "certified"
    for change in (
        lambda p: p["claims"].reverse(),
        lambda p: p["claims"].pop(),
        lambda p: p["claims"].append(p["claims"][0]),
        lambda p: p["claims"][0]["then"][0].update(rhs="1"),
        lambda p: p["claims"][0]["then"][0].update(rhs="4/2"),
        lambda p: p["claims"][0].update(copies=True),
        lambda p: p["claims"][0].update(copies=1.0),
        lambda p: p["claims"][0].update(more=[]),
        lambda p: p["claims"][0].pop("free"),
        lambda p: p.pop("claims"),
        lambda p: p.update(claims={}),
        lambda p: p.update(claims=[1, 2]),
        lambda p: p["claims"][0].update(others="\ud800"),
    ):
        report = checked(forge2.edited(files, "properties.json", change))
        assert report.status == "refused", report
    for change in (
        lambda p: p["claims"][0].pop("sentence"),
        lambda p: p["claims"][0].update(sentence=[1]),
        lambda p: p.update(more=1),
    ):
        assert checked(forge2.edited(files, "properties.json", change)).status == "certified"
    assert checked(files | {"properties.json": b"[]"}).status == "refused"
    assert checked(files | {"properties.json": b"{"}).status == "unreadable"
    old = forge2.as_version_1(files) | {"properties.json": b"{"}
    assert checked(old).status == "certified"  # version 1 does not read it
