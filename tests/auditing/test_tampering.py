"""What a folder may not be: altered, incomplete, about nothing; and what altered proofs can at most do."""

import hashlib
import json
import os

import numpy as np
import pytest

from smilenn.auditing.checked import check_audit
from smilenn.certify import check_deep
from smilenn.certify.reference import deep, deep_work

PROOF = bytes([4, 2, 0, 1, 0, 0, 2, 1, 1, 1, 0, 0])  # lemmas, two phases, three leaves with own slopes


@pytest.fixture
def folder(cases, tmp_path):
    rng = np.random.default_rng(7)
    net = cases.random_net(rng, (1, 3, 2, 1), scaled=False)
    row, x = cases.random_row(rng, net)
    return cases.write(tmp_path / "audit", net, [(row, x, PROOF)])


def change(folder, edit):
    """Edit audit.json as an object."""
    content = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    edit(content)
    (folder / "audit.json").write_text(json.dumps(content), encoding="utf-8")


def statuses(folder):
    fast, slow = check_deep.check_folder(folder), deep.check_folder(folder)
    assert fast.status == slow.status, (fast.reason, slow.reason)
    return fast


@pytest.mark.usefixtures("fresh_checker")
def test_the_folder_itself_is_accepted_also_in_a_process_of_its_own(folder):
    here, apart = statuses(folder), check_audit(folder)
    assert here.status == "certified" and apart == here


@pytest.mark.parametrize("name", ["audit.json", "network.bin", "proofs.bin"])
def test_a_missing_or_linked_file_is_unreadable(folder, name):
    data = (folder / name).read_bytes()
    (folder / name).unlink()
    assert statuses(folder).status == "unreadable"
    (folder / "other").write_bytes(data)
    os.symlink(folder / "other", folder / name)
    assert statuses(folder).status == "unreadable"


@pytest.mark.parametrize("name", ["network.bin", "proofs.bin"])
def test_altered_bytes_are_refused(folder, name):
    data = bytearray((folder / name).read_bytes())
    data[0] ^= 1
    (folder / name).write_bytes(data)
    assert statuses(folder).status == "refused"


def put(*path):
    """An edit: path and last of all the new value."""

    def edit(content):
        for key in path[:-2]:
            content = content[key]
        content[path[-2]] = path[-1]

    return edit


FAR = [["1000000"], ["1000000"]]
EDITS = {
    "version": put("version", 2),
    "true as version": put("version", True),
    "format": put("format", "other"),
    "unknown key": put("more", 1),
    "no rows": put("rows", []),
    "source": put("source", 3),
    "names": put("inputs", ["a", "b"]),
    "equal names": put("outputs", ["a", "a"]),
    "dtype": put("network", "dtype", "float16"),
    "no hidden layer": put("network", "sizes", [1, 1]),
    "sizes": put("network", "sizes", [1, 3, 2, 2]),
    "negative size": put("network", "sizes", [1, -3, 2, 1]),
    "scaling": put("network", "scaling", [["pow", ["1"]]]),
    "division by zero": put("network", "scaling", [["div", ["0"]]]),
    "witness": put("rows", 0, "witness", FAR),
    "empty strip": put("rows", 0, "high", ["-1000000"]),
    "a number with a point": put("rows", 0, "rhs", "0.5"),
    "a zero denominator": put("rows", 0, "rhs", "1/0"),
    "whole": put("rows", 0, "whole", [1]),
    "whole witness": put("rows", 0, "whole", [True]),
    "short proof": put("rows", 0, "proof", len(PROOF) - 1),
    "long proof": put("rows", 0, "proof", len(PROOF) + 1),
    "weights": put("rows", 0, "weights", [["1"]]),
    "large weights": put("rows", 0, "lo", FAR),
}


@pytest.mark.parametrize("name", EDITS)
def test_statements_that_break_a_rule_are_refused(folder, name):
    change(folder, EDITS[name])
    report = statuses(folder)
    assert report.status == "refused" and report.exit_code == 1 and report.reason


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"a": 1.5}', '{"a": NaN}', '{"a": 1, "a": 1}', "[" * 100_000, b"\xff\xfe"]
)
def test_no_json_is_unreadable(folder, text):
    (folder / "audit.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    report = check_deep.check_folder(folder)
    assert report.exit_code in (1, 2) and not report.rows
    assert not deep.check_folder(folder).rows


@pytest.mark.parametrize(
    "proof",
    [
        b"",
        b"\x05",
        b"\x02\x00\x00\x00\x00",  # one child is missing
        b"\x00\x00",  # more than a tree
        b"\x02\x02\x00\x00\x00\x00",  # a layer that is not there
        b"\x02\x00\x03\x00\x00\x00",  # a unit that is not there
        b"\x02\x00\x00\x02\x00\x00",  # a copy that is not there
        b"\x03\x01\x00\x00\x00\x00\x00",  # an input that is not there
        b"\x03\x00\x00\x00\x40\x00\x00",  # 2^64
        b"\x01\x29\x00\x00\x00",  # 41 digits
        b"\x01\x00\x06\x00\x00",  # an unknown code
        b"\x01\x00\x00\x00\x10",  # a code for a unit that is not there
        b"\x02" + b"\x80" * 20 + b"\x00\x00\x00\x00\x00",  # a number without end
        b"\x02\x00\x00\x00" * 600 + b"\x00" * 601,  # too deep
    ],
)
def test_malformed_proofs_are_refused(folder, proof):
    replaced(folder, proof)
    assert statuses(folder).status == "refused"


def replaced(folder, proof):
    """Another proof, with its digest and length."""
    (folder / "proofs.bin").write_bytes(proof)

    def edit(content):
        content["proofs_sha256"] = hashlib.sha256(proof).hexdigest()
        content["rows"][0]["proof"] = len(proof)

    change(folder, edit)


def test_altered_proofs_never_bound_less_than_what_is_reached(cases, tmp_path):
    """Bytes of good proofs changed at random, digests put right: refused, or a bound that holds."""
    rng, accepted = np.random.default_rng(3), 0
    for seed in range(40):
        net = cases.random_net(rng, cases.SIZES[seed % 3])
        row, x = cases.random_row(rng, net)
        folder = cases.write(tmp_path, net, [(row, x, cases.random_proof(rng, net))])
        reached, proof = cases.largest(net, row), (folder / "proofs.bin").read_bytes()
        for _ in range(8):
            changed = bytearray(proof)
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
            replaced(folder, bytes(changed))
            report = statuses(folder)
            if report.rows:
                accepted += 1
                assert min(report.rows[0].real, report.rows[0].computed) >= reached
    assert accepted > 25


def test_right_sides_are_judged_by_the_computed_bound(folder):
    (row,) = check_deep.check_folder(folder).rows
    for rhs, status, code in (
        (row.computed, "certified", 0),
        ((row.computed + max(row.found, row.real)) / 2, "unknown", 3),
        (row.found - 1, "violated", 1),
    ):
        change(folder, put("rows", 0, "rhs", str(rhs)))
        report = statuses(folder)
        assert (report.status, report.exit_code) == (status, code)


def work_of(folder, monkeypatch):
    """What either checker counted; it has to be the same."""
    seen = {}

    class Work(check_deep.Work):
        def add(self, count):
            super().add(count)
            seen["fast"] = self.done

    class Budget(deep.Budget):
        def spend(self, units):
            super().spend(units)
            seen["slow"] = self.spent

    with monkeypatch.context() as patch:
        patch.setattr(check_deep, "Work", Work)
        patch.setattr(deep, "Budget", Budget)
        assert statuses(folder).status in ("certified", "unknown", "violated")
    assert seen["fast"] == seen["slow"]
    return seen["fast"]


@pytest.mark.parametrize("key", ["witness", "weights"])
def test_long_numbers_count_as_more_work(cases, tmp_path, monkeypatch, key):
    """Denominators without a common factor multiply: a short file could keep a checker busy for hours."""
    rng = np.random.default_rng(11)
    net = cases.random_net(rng, (3, 4, 2, 3), scaled=False)
    row, x = cases.random_row(rng, net)
    folder = cases.write(tmp_path / "audit", net, [(row, x, PROOF)])

    def widen(content):
        (stored,) = content["rows"]
        stored["lo"], stored["hi"] = [["-9"] * 3] * 2, [["9"] * 3] * 2
        stored["low"], stored["high"], stored["whole"], stored["rhs"] = ["-9"] * 3, ["9"] * 3, [False] * 3, None
        stored["witness"], stored["weights"] = [["1/2"] * 3, ["1/4"] * 3], [["1"] * 3, ["-1"] * 3]

    change(folder, widen)
    short = work_of(folder, monkeypatch)
    long = [[f"1/{10**390 + 2 * copy + 10 * i + 1}" for i in range(3)] for copy in range(2)]
    change(folder, lambda content: content["rows"][0].update({key: long}))
    assert work_of(folder, monkeypatch) > short
    monkeypatch.setattr(check_deep, "WORK", short)
    monkeypatch.setattr(deep_work, "MOST_WORK", short)
    found = statuses(folder)
    assert found.status == "refused" and "too much work" in found.reason
