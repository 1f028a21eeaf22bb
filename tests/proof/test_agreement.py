"""The proved checker against both others: the same verdicts and reports on what the proof covers, never more."""

import json
import subprocess

import pytest

from smilenn.certify import check, verified
from smilenn.certify.reference import check as reference

UNCOVERED = "not covered by the proof: "


@pytest.mark.parametrize("seed", range(60))
def test_random_order_folders(smilecheck, order, tmp_path, seed):
    """Rows by the order rule, with encoders and without: one verdict of three checkers, and one report if certified."""
    order.order_folder(tmp_path / "m", seed)
    fast = check.check_folder(tmp_path / "m")
    slow = reference.check_folder(tmp_path / "m")
    code, report, text = smilecheck(tmp_path / "m")
    assert (report["status"], code) == (fast.status, fast.exit_code) == (slow.status, slow.exit_code)
    if code == 0:
        assert text == json.dumps(fast.to_json())


def test_random_order_folders_are_of_both_kinds(order, tmp_path):
    """Some of the folders above are certified and some are refused, with encoders and without."""
    seen = set()
    for seed in range(60):
        order.order_folder(tmp_path / f"{seed}", seed)
        net = json.loads((tmp_path / f"{seed}" / "model.json").read_text(encoding="utf-8"))["net"]
        seen.add((check.check_folder(tmp_path / f"{seed}").status, "encoder" in net))
    assert seen == {(status, encoded) for status in ("certified", "refused") for encoded in (True, False)}


@pytest.mark.parametrize("part", range(6))
def test_trees(smilecheck, trees, forge2, tmp_path, part):
    """Ensembles of trees with ties, sets and other layers around them: one verdict, and one report if certified."""
    codes = []
    for seed in range(part, 240, 6):
        folder = forge2.put(tmp_path / f"{seed}", trees.Grown(seed).files)
        report = check.check_folder(folder)
        code, found, text = smilecheck(folder)
        if found["reason"].startswith(UNCOVERED):
            assert code == 3
            continue
        assert (code, found["status"]) == (report.exit_code, report.status), (seed, report.reason, found["reason"])
        assert code != 0 or text == json.dumps(report.to_json())
        codes.append(code)
    assert codes.count(0) >= 4
    assert codes.count(1) >= 3


def test_text_report(smilecheck, order, tmp_path):
    """The report as text is that of check.py, line by line."""
    order.order_folder(tmp_path / "m", certified_seed(order, tmp_path))
    done = subprocess.run([str(verified.program()), str(tmp_path / "m")], capture_output=True, check=False)
    assert done.stdout.decode() == "\n".join(check.check_folder(tmp_path / "m").lines()) + "\n"


def certified_seed(order, place):
    """The first seed whose folder is certified and has an encoder."""
    for seed in range(100):
        order.order_folder(place / f"seed-{seed}", seed)
        net = json.loads((place / f"seed-{seed}" / "model.json").read_text(encoding="utf-8"))["net"]
        if "encoder" in net and check.check_folder(place / f"seed-{seed}").status == "certified":
            return seed
    raise AssertionError("no such seed")


@pytest.fixture(scope="module")
def files(order, forge2, tmp_path_factory):
    """A certified folder with an encoder."""
    place = tmp_path_factory.mktemp("tampered")
    return forge2.read(place / f"seed-{certified_seed(order, place)}")


class TestTampered:
    """A certified folder, changed: refused or unreadable as by check.py."""

    def same(self, smilecheck, folder, status):
        report = check.check_folder(folder)
        code, found, _ = smilecheck(folder)
        assert report.status == status
        assert (found["status"], code) == (status, report.exit_code), found["reason"]

    def test_unchanged(self, smilecheck, forge2, files, tmp_path):
        self.same(smilecheck, forge2.put(tmp_path / "m", files), "certified")

    @pytest.mark.parametrize("name", ["model.json", "weights.safetensors", "certificate.json", "certificate.bin"])
    def test_a_byte_more(self, smilecheck, forge2, files, tmp_path, name):
        folder = forge2.put(tmp_path / "m", files)
        (folder / name).write_bytes(files[name] + b" ")
        self.same(smilecheck, folder, "refused")
        (folder / name).unlink()
        self.same(smilecheck, folder, "unreadable")

    @pytest.mark.parametrize("name", ["model.json", "certificate.json"])
    def test_a_link(self, smilecheck, forge2, files, tmp_path, name):
        folder = forge2.put(tmp_path / "m", files)
        (tmp_path / "elsewhere").write_bytes(files[name])
        (folder / name).unlink()
        (folder / name).symlink_to(tmp_path / "elsewhere")
        self.same(smilecheck, folder, "unreadable")

    @pytest.mark.parametrize(
        "text",
        [
            b'{"a": 1, "a": 1}',
            b'{"a": NaN}',
            b'{"a": -Infinity}',
            b"[" * 65 + b"]" * 65,
            b"\xff",
            b'{"a": 1} x',
            b'{"a": 1e999}',
            b'{"a": ' + b"1" * 401 + b"}",
            b'{"a": 01}',
            b'{"a": 1.}',
            b'"\n"',
            b"",
            b"\xef\xbb\xbf{}",
            b"nul",
            b'{"a" 1}',
            b"[1,]",
            b'"\xed\xa0\x80"',
        ],
    )
    def test_unreadable_json(self, smilecheck, forge2, files, tmp_path, text):
        self.same(smilecheck, forge2.put(tmp_path / "m", files | {"model.json": text}), "unreadable")

    @pytest.mark.parametrize("text", [b"[" * 64 + b"]" * 64, b"{}", b"3", b'{"net": {}}', b'"\\ud800"'])
    def test_readable_json(self, smilecheck, forge2, files, tmp_path, text):
        self.same(smilecheck, forge2.put(tmp_path / "m", files | {"model.json": text}), "refused")

    def test_other_claims(self, smilecheck, forge2, files, tmp_path):
        """A claim that says more, its digests put right, is refused by the rule."""
        certificate = json.loads(files["certificate.json"])
        for row in certificate["claims"][0]["claim"]["then"]:
            row["rhs"] = "-1/1000"
        changed = forge2.rehashed(files | {"certificate.json": json.dumps(certificate).encode()})
        self.same(smilecheck, forge2.put(tmp_path / "m", changed), "refused")

    def test_a_witness_outside(self, smilecheck, forge2, files, tmp_path):
        certificate = json.loads(files["certificate.json"])
        certificate["claims"][0]["witness"][0][0] = 1e9
        changed = forge2.rehashed(files | {"certificate.json": json.dumps(certificate).encode()})
        self.same(smilecheck, forge2.put(tmp_path / "m", changed), "refused")

    def test_another_rule(self, smilecheck, forge2, files, tmp_path):
        """What the proof does not cover ends with exit code 3, whether it would hold or not."""
        certificate = json.loads(files["certificate.json"])
        certificate["claims"][0]["rows"] = [{"rule": "ball"} for _ in certificate["claims"][0]["rows"]]
        changed = forge2.rehashed(files | {"certificate.json": json.dumps(certificate).encode()})
        code, report, _ = smilecheck(forge2.put(tmp_path / "m", changed))
        assert code == 3
        assert report["reason"] == UNCOVERED + "the ball rule (claim 1)"
