"""Attacks on the reference checker: processes that flush, names that imitate syntax, numbers that take long."""

import ast
import json
import math
import time
from fractions import Fraction
from pathlib import Path

import pytest
from tests.forked import forked

from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import work as exact_work
from smilenn.certify.reference.check import check_folder

F = Fraction
SOURCE = Path(check_reference.__file__).parents[2]


@pytest.fixture
def checked(put2):
    """Write files as a folder, with changes of its manifest, and check it."""
    return lambda files, changes=None: check_folder(put2(files, changes))


def small(forge2, **more):
    """A certified folder of version 2."""
    return forge2.as_version_2(forge2.small_files(), **more)


# ---- subnormal numbers ----------------------------------------------------------------------------------------------

FLUSHED = """
import ctypes, pathlib, sys
sys.path.insert(0, SOURCE)
import torch
assert torch.set_flush_denormal(FLUSH)
assert (5e-324 * 1.0 == 0.0) == FLUSH
from smilenn.certify.reference.check import check_folder, _lines
for folder in sorted(pathlib.Path(PLACE).iterdir()):
    report = check_folder(folder)
    rows = [(r.rule, str(r.bound), str(r.margin), str(r.rhs), str(r.room)) for c in report.claims for r in c.rows]
    print(ascii((folder.name, report.status, report.reason, report.version, rows, _lines(report))))
"""


def flushed(place, flush):
    code = FLUSHED.replace("SOURCE", repr(str(SOURCE))).replace("PLACE", repr(str(place))).replace("FLUSH", str(flush))
    done, said, errors = forked(code)
    assert done == 0, errors
    return said.splitlines()


def falling(forge2, exponent, end, version=2):
    """f(x) = −2^exponent·2⁹⁹⁰·x, claimed to rise; the order rule believes it if the weight is read as zero."""
    claim = forge2.small_claim(
        ([(1, 0, "y"), (-1, 1, "y")], "<=", 0), copies=2, when=[([(1, 0, "x"), (-1, 1, "x")], "<=", 0)]
    )
    files = forge2.small_files(
        claim,
        feature={"hi": end},
        net={"profile": "fixed-order"},
        tensors={"lower.slope": [[-(2.0**exponent)]], "head_weight": [[2.0**990]]},
        proofs=[{"witness": [[0.0], [0.0]], "rows": [{"rule": "order"}]}],
    )
    return forge2.as_version_2(files) if version == 2 else forge2.as_version_1(forge2.as_version_2(files))


def test_a_process_that_flushes_reports_the_same(forge2, folders, tmp_path):
    """Subnormal weights, bounds, scales and thresholds; a network that falls is not certified to rise."""
    place = tmp_path / "all"
    for version in (1, 2):
        forge2.put(place / f"falling-{version}", falling(forge2, -1030, 2.0**30, version))
        forge2.put(place / f"far-{version}", falling(forge2, -1023, 2.0**130, version))
        tiny = forge2.small_files(
            feature={"lo": 0.0, "hi": 5e-324, "mult": 1.0, "shift": -3e-310},
            tensors={"head_bias": [1e-310]},
            witness=5e-324,
        )
        made = forge2.as_version_2(tiny, table={"meaning": ["y"], "small": [5e-324, -1e-310]})
        forge2.put(place / f"tiny-{version}", made if version == 2 else forge2.as_version_1(made))
    for seed in range(6):
        folders.random_folder(tmp_path / "made", seed)
        forge2.put(place / f"random-{seed}", forge2.as_version_2(forge2.read(tmp_path / "made")))
    plain, other = flushed(place, False), flushed(place, True)
    assert plain == other
    for line in plain:
        name, status, *_ = ast.literal_eval(line)
        if name.startswith(("falling", "far")):
            assert status == "refused" and "signs" in line
        elif name.startswith("tiny"):
            assert status == "certified" and "5e-324" in line


# ---- names ----------------------------------------------------------------------------------------------------------


def test_no_name_passes_for_syntax(forge2, checked):
    """Features, categories, outputs and units called like parts of a formula stay between quotes."""
    name, unit = 'x"] <= 1, other features free ⇒ 0 <= 0, a["x', 'm\n"z": 0 to 1'
    claim = forge2.small_claim(
        ([(1, 0, "y = 0 or y"), (-1, 1, "y = 0 or y")], "<=", 5),
        copies=2,
        when=[([(1, 0, "x")], "<=", 1)],
    )
    claim |= {"equal": [name], "free": [name]}
    claim["when"][0]["terms"][0][3] = name
    files = forge2.small_files(claim, feature={"name": name, "unit": unit}, net={"outputs": ["y = 0 or y"]})
    report = checked(forge2.as_version_2(files))
    assert report.status == "certified", report.reason
    quoted = '"x\\"] <= 1, other features free ⇒ 0 <= 0, a[\\"x"'
    assert report.domain == (f'{quoted}: 0 to 1 "m\\u000a\\"z\\": 0 to 1"',)
    assert report.claims[0].formula == (
        f"∀ a, b ∈ X: a[{quoted}] <= 1, {quoted} equal, {quoted} free, other features equal"
        ' ⇒ a.out["y = 0 or y"] - b.out["y = 0 or y"] <= 5'
    )
    for outputs, said_ in ((["out"], 'a.out["out"]'), (["\U000e0001"], 'a.out["\\U000e0001"]')):
        files = forge2.small_files(forge2.small_claim(([(1, 0, outputs[0])], "<=", 2)), net={"outputs": outputs})
        assert checked(forge2.as_version_2(files)).claims[0].rows[0].formula == f"{said_} <= 2"
    short = forge2.small_files(forge2.small_claim(([(1, 0, "")], "<=", 2)))
    assert checked(forge2.as_version_2(short)).claims[0].formula == "∀ a ∈ X: a.out <= 2"


def test_a_sentence_is_a_comment(forge2, checked):
    sentence = 'Fine."\nCERTIFIED: all\u202e of it'
    files = forge2.edited(
        small(forge2), "certificate.json", lambda c: c["claims"][0]["claim"].update(sentence=sentence)
    )
    lines = check_reference._lines(checked(files))
    assert '  comment, as stored, not checked: "Fine.\\"\\u000aCERTIFIED: all\\u202e of it"' in lines


# ---- work -----------------------------------------------------------------------------------------------------------


def long_numbers(count):
    """Bounds p·x ≤ q on every coordinate, p prime to all others and of 399 digits: β grows by 1,325 for each."""
    features = [{"name": f"x{i}", "kind": "continuous", "lo": 0.0, "hi": 1.0} for i in range(count)]
    when = [
        {"terms": [[str(10**398 + 2 * 3**i + 1), 0, "in", f"x{i}"]], "op": "<=", "rhs": str(10**397)}
        for i in range(count)
    ]
    return features, when


def with_bounds(forge2, count):
    features, when = long_numbers(count)
    claim = forge2.small_claim(([(1, 0, "y")], "<=", 9)) | {"when": when}
    rows = [{"rule": "leaf", "bits": 0, "units": [], "start": 0, "length": 1}]
    tensors = {"lower.slope": [[1.0] * count], "second.rise": [[0.0] * count], "second.fall": [[0.0] * count]}
    files = forge2.small_files(
        claim,
        net={"domain": {"features": features}},
        tensors=tensors,
        proofs=[{"witness": [[0.0] * count], "rows": rows}],
    )
    return forge2.as_version_2(files | {"certificate.bin": b"\0"})


def test_work_grows_with_the_size_of_numbers(forge2, tmp_path, monkeypatch):
    """The least budget that a row of one leaf passes with, times 1 + ⌊ξ/2048⌋; its slopes are short."""
    seen = set()
    for count in (1, 2, 3, 4, 7):
        files = with_bounds(forge2, count)
        folder = forge2.put(tmp_path / str(count), files)
        claim = json.loads(files["certificate.json"])["claims"][0]["claim"]
        product = 1
        for row in claim["when"]:
            product = math.lcm(product, F(int(row["rhs"]), int(row["terms"][0][0])).denominator)
        factor = 1 + product.bit_length() // 2048
        seen.add(factor)
        work = factor * ((1 + count + 0) + 8 * (count + 8) + 16 + (1 * 1) * (count + 1))
        for most, good in ((work, True), (work - 1, False)):
            monkeypatch.setattr(check_reference, "MOST_WORK", most)
            report = check_folder(folder)
            assert (report.status == "certified") == good, (count, report.reason)
            assert good or "work" in report.reason
    assert seen >= {1, 2, 3}


def test_a_common_denominator_has_a_limit(forge2, tmp_path):
    start = time.perf_counter()
    report = check_folder(forge2.put(tmp_path / "m", with_bounds(forge2, 110)))
    assert report.status == "refused" and "common denominator" in report.reason
    assert time.perf_counter() - start < 20


def test_every_part_of_the_size_counts(forge2, tmp_path, monkeypatch):
    """β of tensors (twice), mult, shift, û, and the claim's own denominators, as section 6 adds them up."""
    found = []
    real = exact_work.factor

    def watched(shared, premise, claim):
        found.append((shared.coordinates.bit_length(), shared.weights, claim.bit_length()))
        return real(shared, premise, claim)

    monkeypatch.setattr(check_reference, "factor", watched)

    def sizes(name, **more):
        rhs = more.pop("rhs", "9")
        check_folder(
            forge2.put(
                tmp_path / name,
                forge2.as_version_2(forge2.small_files(forge2.small_claim(([(1, 0, "y")], "<=", rhs)), **more)),
            )
        )
        return found.pop()

    assert sizes("plain") == (1, 0, 1)
    assert sizes("weights", tensors={"head_bias": [2.0**-7]}) == (1, 14, 1)
    assert sizes("mult", feature={"mult": 2.0**-5, "hi": 32.0}, witness=1.0) == (1, 5, 1)
    assert sizes("shift", feature={"shift": 0.25}) == (3, 0, 1)
    assert sizes("ends", feature={"mult": 2.0**-5}) == (6, 5, 1)
    assert sizes("claim", rhs="9/7") == (1, 0, 3)


def test_the_claims_denominators_are_those_of_a_case_too(forge2, tmp_path, monkeypatch):
    found = []
    real = exact_work.factor
    monkeypatch.setattr(check_reference, "factor", lambda *a: found.append(a[2]) or real(*a))
    clause = [([("1/3", 0, "y")], "<=", 2), ([(-1, 0, "y")], "<=", 2)]
    case = {"weights": [["1/5", "4/5"]], "witness": [[0.5]], "rows": [forge2.SWEEP]}
    files = forge2.small_files(forge2.small_claim(either=[clause]), proofs=[{"cases": case}])
    assert check_folder(forge2.put(tmp_path / "m", forge2.as_version_2(files))).status == "certified"
    assert found == [15]
