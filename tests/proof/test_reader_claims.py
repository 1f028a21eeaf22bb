"""Certificates that are made to deceive the reader of the proved checker: claims, rows, rooms, witnesses and rules.

As in test_reader.py every folder gets the exit code that both other checkers give it, or 3 as not covered.
"""

import pytest

CERTIFICATE = "certificate.json"
HUGE = "9" * 401

CLAIM_TEXTS = [
    (b'"2"', b'"1/2"', 3),
    (b'"2"', b'"4/2"', 0),
    (b'"2"', b'"0002"', 0),
    (b'"2"', b'"-2"', 3),
    (b'"2"', b'"--2"', 1),
    (b'"2"', b'"+2"', 1),
    (b'"2"', b'" 2"', 1),
    (b'"2"', b'"2 "', 1),
    (b'"2"', b'"2\\n"', 1),
    (b'"2"', b'"2.0"', 1),
    (b'"2"', b'"2e3"', 1),
    (b'"2"', b'"2/0"', 1),
    (b'"2"', b'"2/-1"', 1),
    (b'"2"', b'"2//1"', 1),
    (b'"2"', b'"2/1/1"', 1),
    (b'"2"', b'"/1"', 1),
    (b'"2"', b'"2/"', 1),
    (b'"2"', b'""', 1),
    (b'"2"', b'"-"', 1),
    (b'"2"', b"2", 1),
    (b'"2"', b'"0x2"', 1),
    (b'"2"', b'"0b11"', 1),
    (b'"2"', b'"0o7"', 1),
    (b'"2"', b'"1_0"', 1),
    (b'"2"', '"٢"'.encode(), 1),
    (b'"2"', f'"{HUGE}"'.encode(), 1),
    (b'"2"', f'"{HUGE[1:]}"'.encode(), 0),
    (b'"op": "<="', b'"op": "=="', 1),  # two rows then, and one proof
    (b'"op": "<="', b'"op": "<"', 1),
    (b'"op": "<="', b'"op": ">="', 1),
    (b'"op": "<="', b'"op": "<=", "op": "<="', 2),
    (b'["1", 0, "out", "y"]', b'["1", 1, "out", "y"]', 1),
    (b'["1", 0, "out", "y"]', b'["1", -1, "out", "y"]', 1),
    (b'["1", 0, "out", "y"]', b'["1", -0, "out", "y"]', 0),
    (b'["1", 0, "out", "y"]', b'["1", 0.0, "out", "y"]', 1),
    (b'["1", 0, "out", "y"]', b'["1", false, "out", "y"]', 1),
    (b'["1", 0, "out", "y"]', b'["1", 18446744073709551616, "out", "y"]', 1),
    (b'["1", 0, "out", "y"]', b'["1", 0, "in", "y"]', 1),
    (b'["1", 0, "out", "y"]', b'["1", 0, "OUT", "y"]', 1),
    (b'["1", 0, "out", "y"]', b'["1", 0, "out", "Y"]', 1),
    (b'["1", 0, "out", "y"]', b'["1", 0, "out", ""]', 0),
    (b'["1", 0, "out", "y"]', b'["1", 0, "out", "y", 0]', 1),
    (b'["1", 0, "out", "y"]', b'["3", 0, "out", "y"]', 3),
    (b'["1", 0, "out", "y"]', b'["3", 0, "out", "y"], ["-2", 0, "out", ""]', 0),
    (b'["1", 0, "out", "y"]', b'["-1", 0, "out", "y"], ["3", 0, "in", "x"], ["0", 0, "in", "x"]', 3),
    (b'["1", 0, "out", "y"]', b'["0", 0, "out", "y"]', 0),
    (b'["1", 0, "out", "y"]', b"", 0),
    (b'["1", 0, "out", "y"]], "op": "<=", "rhs": "2"', b'], "op": "<=", "rhs": "-1"', 3),  # 0 <= -1
    (b'"when": []', b'"when": [{"terms": [], "op": "<=", "rhs": "-1"}]', 1),
    (b'"when": []', b'"when": [{"terms": [], "op": "==", "rhs": "1/1000"}]', 1),
    (b'"when": []', b'"when": [{"terms": [], "op": "==", "rhs": "0"}]', 0),
    (b'"when": []', b'"when": [{"terms": [["1", 0, "in", "x"]], "op": "<=", "rhs": "1/4"}]', 1),
    (b'"when": []', b'"when": [{"terms": [["1", 0, "out", "y"]], "op": "<=", "rhs": "1"}]', 1),
    (b'"when": []', b'"when": [{"terms": [["1", 0, "in", "x"], ["-1", 0, "in", "x"]], "op": "<=", "rhs": "-1"}]', 1),
    (b'"others": "equal"', b'"others": "free"', 0),
    (b'"others": "equal"', b'"others": "Equal"', 1),
    (b'"equal": []', b'"equal": ["x"]', 0),
    (b'"equal": []', b'"equal": ["y"]', 1),
    (b'"equal": []', b'"equal": "x"', 1),
    (b'"free": []', b'"free": ["x", "x"]', 0),
    (b'"copies": 1', b'"copies": 0', 1),
    (b'"copies": 1', b'"copies": 1.0', 1),
    (b'"copies": 1', b'"copies": true', 1),
    (b'"copies": 1', b'"copies": 5', 1),
    (b'"copies": 1', b'"copies": 2', 1),
    (b'"sentence": "All is well."', b'"sentence": 3', 1),
    (b'"sentence": "All is well."', b'"sentence": "\\ud800"', 0),
    (b'"sentence": "All is well."', b'"either": [], "sentence": ""', 1),
    (b'"room": ["0"]', b'"room": ["1"]', 1),
    (b'"room": ["0"]', b'"room": ["-1"]', 1),
    (b'"room": ["0"]', b'"room": ["1/500000000"]', 0),
    (b'"room": ["0"]', b'"room": ["1/499999999"]', 1),
    (b'"room": ["0"]', b'"room": []', 1),
    (b'"room": ["0"]', b'"room": ["0", "0"]', 1),
    (b'"room": ["0"]', b'"room": [0]', 1),
    (b'"witness": [[0.5]]', b'"witness": [[1.5]]', 1),
    (b'"witness": [[0.5]]', b'"witness": [[1]]', 1),
    (b'"witness": [[0.5]]', b'"witness": [[0.5], [0.5]]', 1),
    (b'"witness": [[0.5]]', b'"witness": [[0.5, 0.5]]', 1),
    (b'"witness": [[0.5]]', b'"witness": []', 1),
    (b'"witness": [[0.5]]', b'"witness": [[-5e-324]]', 1),
    (b'"witness": [[0.5]]', b'"witness": [[-0.0]]', 0),
    (b'"witness": [[0.5]]', b'"witness": [[NaN]]', 2),
    (b'"rows": [{"rule": "sweep"}]', b'"rows": []', 1),
    (b'"rows": [{"rule": "sweep"}]', b'"rows": [{"rule": "sweep"}, {"rule": "sweep"}]', 1),
    (b'"rows": [{"rule": "sweep"}]', b'"rows": [{"rule": "order"}]', 1),
    (b'"rows": [{"rule": "sweep"}]', b'"rows": [{"rule": "signs"}]', 1),
    (b'"rows": [{"rule": "sweep"}]', b'"rows": [{"rule": "mirror", "of": 0}]', 1),
    (b'"rows": [{"rule": "sweep"}]', b'"rows": [{"rule": "mirror", "of": -1}]', 1),
    (b'"rows": [{"rule": "sweep"}]', b'"rows": [{"rule": "Sweep"}]', 1),
    (b'"rows": [{"rule": "sweep"}]', b'"rows": [{"rule": "sweep", "bound": 0}]', 1),
    (b'"rows": [{"rule": "sweep"}]', b'"rows": [{"rule": "slope", "bits": 0, "start": 0, "length": 0}]', 1),
    (
        b'"rows": [{"rule": "sweep"}]',
        b'"rows": [{"rule": "leaf", "bits": 0, "units": [], "start": 0, "length": 9223372036854775807}]',
        1,
    ),
    (
        b'"rows": [{"rule": "sweep"}]',
        b'"rows": [{"rule": "leaf", "bits": 0, "units": [], "start": -1, "length": 1}]',
        1,
    ),
    (
        b'"rows": [{"rule": "sweep"}]',
        b'"rows": [{"rule": "leaf", "bits": 0, "units": [0], "start": 0, "length": 0}]',
        1,
    ),
    (b'"version": 2', b'"version": 2.0', 1),
    (b'"version": 2', b'"version": 3', 1),
    (b'"version": 2', b'"version": true', 1),
    (b'"profile": "f64-aux"', b'"profile": "fixed-order"', 1),
    (b'"proofs": "certificate.bin"', b'"proofs": "model.json"', 1),
    (b'"format": "smilenn-certificate"', b'"format": "smilenn-model"', 1),
    (b'"format"', b'"format": "smilenn-certificate", "\\u0066ormat"', 2),
]


@pytest.mark.parametrize(("old", "new", "code"), CLAIM_TEXTS, ids=range(len(CLAIM_TEXTS)))
def test_texts_of_the_certificate(answer, misread, tmp_path, old, new, code):
    assert answer(misread.put(tmp_path / "m", misread.retold(misread.small(), CERTIFICATE, old, new, code))) == code


ORDER, SIGNS, SLOPE = {"rule": "order"}, {"rule": "signs"}, {"rule": "slope", "bits": 0, "start": 0, "length": 0}


@pytest.mark.parametrize(
    ("profile", "proof", "slope", "code"),
    [
        ("fixed-order", ORDER, 1.0, 0),
        ("fixed-order", ORDER, -1.0, 1),
        ("fixed-order", ORDER, -5e-324, 1),
        ("fixed-order", ORDER, -0.0, 0),
        ("f64-aux", ORDER, 1.0, 1),
        ("f64-aux", ORDER, -0.0, 1),
        ("f64-aux", SIGNS, 1.0, 3),
        ("f64-aux", SIGNS, -1.0, 1),
        ("fixed-order", SIGNS, -5e-324, 1),
        ("f64-aux", {"rule": "sweep"}, -1.0, 3),
        ("f64-aux", {"rule": "mirror", "of": 0}, 1.0, 1),
    ],
)
def test_rules_where_they_do_not_apply(answer, misread, tmp_path, profile, proof, slope, code):
    """A falling network is not shown to rise, nor a rising one by a rule for another order of sums."""
    assert answer(misread.put(tmp_path / "m", misread.rising(profile, [proof], slope))) == code


@pytest.mark.parametrize(
    "rows",
    [
        {"when": ([(1, 0, "x"), (-1, 1, "x")], "<=", "1/1000")},  # not ordered
        {"when": ([(-1, 0, "x"), (1, 1, "x")], "<=", 0)},  # the other order
        {"when": ([(1, 0, "x"), (-2, 1, "x")], "<=", 0)},  # no order at all
        {"when": ([(1, 0, "x"), (-1, 0, "x"), (1, 1, "x")], "<=", 1)},  # like terms of one copy
        {"then": ([(1, 0, "y"), (-1, 1, "y")], "<=", "-1/1000")},
        {"then": ([(1, 1, "y"), (-1, 0, "y")], "<=", 0)},  # copies exchanged
        {"then": ([(2, 0, "y"), (-1, 1, "y")], "<=", 0)},
        {"then": ([(1, 0, "y"), (-1, 1, "y"), (1, 0, "x"), (-1, 1, "x")], "<=", 0)},
    ],
)
def test_rows_that_the_order_rule_may_not_show(answer, misread, tmp_path, rows):
    made = misread.rising("fixed-order", [ORDER], 1.0, **rows)
    assert answer(misread.put(tmp_path / "m", made)) == 1


def test_an_equality_needs_both_rows(answer, misread, tmp_path):
    """f(a) == f(b) for a <= b: the first half is shown, the second is not."""
    same = ([(1, 0, "y"), (-1, 1, "y")], "==", 0)
    made = misread.rising("fixed-order", [ORDER, ORDER], 1.0, then=same)
    assert answer(misread.put(tmp_path / "m", made)) == 1
    mirror = misread.rising("fixed-order", [ORDER, {"rule": "mirror", "of": 0}], 1.0, then=same)
    assert answer(misread.put(tmp_path / "n", mirror)) == 1


def test_one_claim_of_two_fails(answer, forge2, misread, tmp_path):
    """All claims count, whatever their order."""
    good, bad = (forge2.small_claim(([(1, 0, "y")], "<=", rhs)) for rhs in ("2", "1/2"))
    for name, claims in (("m", (good, bad)), ("n", (bad, good)), ("o", (good, bad, good))):
        assert answer(misread.put(tmp_path / name, misread.small(*claims))) == 3
    rows = forge2.small_claim(([(1, 0, "y")], "<=", 2), ([(1, 0, "y")], "<=", "1/2"), ([(1, 0, "y")], "<=", 2))
    assert answer(misread.put(tmp_path / "p", misread.small(rows))) == 3
    assert answer(misread.put(tmp_path / "q", misread.small(good, good))) == 0
