"""Folders that are made to deceive the reader of the proved checker, which is not proved: what it hands to the proof
must be what the files hold. Every folder gets the exit code that both other checkers give it, or 3 as not covered.
"""

import json
import random
import struct
from fractions import Fraction

import pytest

from smilenn.certify import check
from smilenn.certify.reference import check as reference

MODEL, WEIGHTS, CERTIFICATE, MANIFEST = "model.json", "weights.safetensors", "certificate.json", "manifest.json"
UNCOVERED = "not covered by the proof: "
HUGE = "9" * 401


@pytest.fixture
def answer(smilecheck, tmp_path):
    """The exit code of a folder, which all three checkers must give it."""

    def ask(folder):
        code, found, _ = smilecheck(folder)
        assert "failed" not in found["reason"], found["reason"]
        fast, slow = check.check_folder(folder), reference.check_folder(folder)
        assert fast.exit_code == slow.exit_code, (fast.reason, slow.reason)
        if found["reason"].startswith(UNCOVERED):
            assert code == 3 and fast.exit_code != 2, (found["reason"], fast.reason)
        else:
            assert code == fast.exit_code, (found["reason"], fast.reason, slow.reason)
        return code

    return ask


@pytest.fixture
def files(forge2):
    """Files of a folder that says f(x) <= 2 and f(a) - f(b) <= 1, or others of this kind; all digests fit."""

    def make(*claims, **details):
        own = claims or (
            forge2.small_claim(([(1, 0, "y")], "<=", 2)),
            forge2.small_claim(([(1, 0, "y"), (-1, 1, "y")], "<=", 2), copies=2, when=[([(1, 0, "x")], "<=", 1)]),
        )
        return forge2.as_version_2(forge2.small_files(*own, **details))

    return make


def with_text(forge2, files, name, old, new, code=0):
    """The files with a piece of text exchanged, digests put right unless the text cannot be read."""
    text = files[name]
    assert old in text
    changed = files | {name: text.replace(old, new, 1)}
    if code == 2:
        return changed
    try:
        return forge2.rehashed(changed)
    except (ValueError, LookupError, TypeError, AttributeError):
        return changed


def put(forge2, folder, files):
    """Written with its manifest, also where the certificate cannot be read."""
    try:
        return forge2.put(folder, files)
    except (ValueError, LookupError, TypeError):
        folder.mkdir()
        for name, data in {**files, MANIFEST: forge2.manifest(files)}.items():
            (folder / name).write_bytes(data)
        return folder


def test_the_plain_folder(answer, forge2, files, tmp_path):
    assert answer(put(forge2, tmp_path / "m", files())) == 0


def numerals(count):
    """Decimal numbers that are hard to round: at and beside the middle of two floats, near both ends of the range."""
    rng = random.Random(5)
    for _ in range(count):
        field = rng.choice([0, 0, 1, 2, 1023, 1024, 1075, 1076, 2045, 2046, rng.randrange(2047)])
        low = field << 52 | rng.choice([0, 1, (1 << 52) - 1, rng.getrandbits(52)])
        value = Fraction(*struct.unpack("<d", struct.pack("<Q", low))[0].as_integer_ratio())
        above = Fraction(*struct.unpack("<d", struct.pack("<Q", max(low - 1, 0)))[0].as_integer_ratio())
        middle = (value + above) / 2
        yield repr(float(value))
        yield from (written(middle, digits, rng) for digits in (17, 20, 60, 380))


def written(value, digits, rng):
    """A number with so many digits, cut off or one too large in the last one, in one of many ways of writing it."""
    if not value:
        return rng.choice(["0.0", "-0.0", "0e0", "-0E-5", "0.000e+99999", "0e-99999999999999999999"])
    power = len(str(value.numerator)) - len(str(value.denominator)) - digits
    scaled = value / Fraction(10) ** power
    mantissa = scaled.numerator // scaled.denominator + rng.choice([0, 0, 1])
    sign, e = rng.choice(["", "-"]), rng.choice(["e", "E"])
    text = str(mantissa)
    if rng.random() < 0.5:
        power += len(text) - 1
        text = f"{text[0]}.{text[1:] or '0'}"
    plus = rng.choice(["", "+"]) if power >= 0 else "-"
    return f"{sign}{text}{e}{plus}{rng.choice(['', '0', '000'])}{abs(power)}"


def test_floats_have_their_bits(answer, forge2, files, tmp_path):
    """The digest of a model is taken of the bits of all its floats, so a reader that rounds one otherwise refuses it."""
    texts = [text for text in numerals(4000) if len(text) <= 400 and abs(float(text)) < float("inf")]
    assert len(texts) > 15_000
    changed = with_text(forge2, files(), MODEL, b'{"net"', f'{{"table": {{"n": [{", ".join(texts)}]}}, "net"'.encode())
    assert answer(put(forge2, tmp_path / "m", changed)) == 0
    wrong = texts.index("5e-324") if "5e-324" in texts else 0
    texts[wrong] = "1.5"
    damaged = changed | {
        MODEL: files()[MODEL].replace(b'{"net"', f'{{"table": {{"n": [{", ".join(texts)}]}}, "net"'.encode(), 1)
    }
    assert answer(put(forge2, tmp_path / "other", damaged)) == 1


HIGH = b'"hi": 1.0'
MODEL_TEXTS = [
    # (what stands there, what is put there, the exit code)
    (HIGH, b'"hi": 1.0, "hi": 1.0', 2),
    (HIGH, b'"hi": 1.0, "\\u0068i": 5.0', 2),
    (HIGH, b'"hi": 1.0, "HI": 5.0', 1),
    (HIGH, b'"hi": 5.0', 3),
    (HIGH, b'"hi": 0.5e1', 3),
    (HIGH, b'"hi": 10E-1', 0),
    (HIGH, b'"hi": 1e-0', 0),
    (HIGH, b'"hi": 1e00', 0),
    (HIGH, b'"hi": 1', 1),
    (HIGH, b'"hi": 1.', 2),
    (HIGH, b'"hi": .5', 2),
    (HIGH, b'"hi": +1.0', 2),
    (HIGH, b'"hi": 01.0', 2),
    (HIGH, b'"hi": 1.0e', 2),
    (HIGH, b'"hi": 1_0.0', 2),
    (HIGH, b'"hi": 0x1', 2),
    (HIGH, b'"hi": NaN', 2),
    (HIGH, b'"hi": Infinity', 2),
    (HIGH, b'"hi": -Infinity', 2),
    (HIGH, b'"hi": 1e400', 2),
    (HIGH, b'"hi": 1e99999999999999999999', 2),
    (HIGH, b'"hi": 1.7976931348623159e308', 2),
    (HIGH, b'"hi": 1e-400', 1),
    (HIGH, b'"hi": "1.0"', 1),
    (HIGH, b'"hi": true', 1),
    (HIGH, b'"hi": [1.0]', 1),
    (HIGH, b'"hi": null', 1),
    (HIGH, b'"hi": 1.0' + b"0" * 400, 2),
    (HIGH, b'"hi": 1.0,', 2),
    (HIGH, b'"hi": 1.0 // "hi": 2.0\n', 2),
    (HIGH, b'"hi": 1.0, "mult": -1.0', 1),
    (HIGH, b'"hi": 1.0, "mult": 0.0', 1),
    (HIGH, b'"hi": 1.0, "mult": -0.0', 1),
    (HIGH, b'"hi": 1.0, "mult": 5e-324', 0),
    (HIGH, b'"hi": 1.0, "mult": 8.0', 3),
    (HIGH, b'"hi": 1.0, "mult": 1e308', 1),
    (HIGH, b'"hi": 1.0, "shift": 1e308', 1),
    (HIGH, b'"hi": 1.0, "shift": -7.0', 3),
    (HIGH, b'"hi": 1.0, "unit": 3', 1),
    (HIGH, b'"hi": 1.0, "categories": ["a"]', 1),
    (b'"lo": 0.0', b'"lo": -0.0', 0),
    (b'"lo": 0.0', b'"lo": 1.5', 1),
    (b'"kind": "continuous"', b'"kind": "Continuous"', 1),
    (b'"kind": "continuous"', b'"kind": "integer"', 1),  # the witness is not whole
    (b'"kind": "continuous"', b'"kind": "category", "categories": ["a"]', 1),
    (b'"kind": "continuous"', b'"kind": "category", "categories": ["a", "a"]', 1),
    (b'"name": "x"', b'"name": "\\u0078"', 0),
    (b'"name": "x"', b'"name": "x\\u0000"', 1),
    (b'"name": "x"', b'"name": "x\x00"', 2),
    (b'"name": "x"', b'"name": "\xff"', 2),
    (b'"name": "x"', b'"name": "\xc1\xb8"', 2),  # an overlong x
    (b'"name": "x"', b'"name": "\\ud800"', 1),
    (b'"name": "x"', '"name": "х"'.encode(), 1),  # noqa: RUF001, another letter that looks like it
    (b'"name": "x"', b'"name": ""', 1),
    (b'{"net"', b'\xef\xbb\xbf{"net"', 2),
    (b'{"net"', b'\x0c{"net"', 2),
    (b'{"net"', b'{"net": 3, "net"', 2),
    (b'{"net"', b'{"table": [], "net"', 1),
    (b'{"net"', b'{"table": null, "net"', 1),
    (b'{"net"', b'{"table": {"meaning": ["a", "b"]}, "net"', 1),
    (b'{"net"', b'{"table": {"meaning": ["a\\ud83d\\ude00"]}, "net"', 0),
    (b'{"net"', b'{"table": {"meaning": ["\\ud83d"]}, "net"', 1),
    (b'{"net"', b'{"table": {"d": ' + b"[" * 62 + b"]" * 62 + b'}, "net"', 0),
    (b'{"net"', b'{"table": {"d": ' + b"[" * 63 + b"]" * 63 + b'}, "net"', 2),
    (b'"embedding": 1', b'"embedding": 1.0', 1),
    (b'"embedding": 1', b'"embedding": true', 1),
    (b'"embedding": 1', b'"embedding": 2', 1),
    (b'"embedding": 1', b'"embedding": 1' + b"0" * 300, 1),
    (b'"embedding": 1', b'"embedding": 1' + b"0" * 309, 2),
    (b'"embedding": 1', b'"embedding": 1, "more": 1', 1),
    (b'"hidden": 0', b'"hidden": -0', 0),
    (b'"hidden": 0', b'"hidden": 0.0', 1),
    (b'"hidden": 0', b'"hidden": -1', 1),
    (b'"hidden": 0', b'"hidden": false', 1),
    (b'"grid": 0', b'"grid": 1', 1),
    (b'"grid": 0', b'"grid": -0', 0),
    (b'"skip": false', b'"skip": 0', 1),
    (b'"skip": false', b'"skip": true', 0),
    (b'"boxes": "gap"', b'"boxes": "paper"', 1),
    (b'"auxiliaries": "affine"', b'"auxiliaries": "constant"', 1),
    (b'"auxiliaries": "affine"', b'"auxiliaries": "relu"', 1),
    (b'"outputs": ["y"]', b'"outputs": []', 1),
    (b'"outputs": ["y"]', b'"outputs": ["x"]', 1),
    (b'"outputs": ["y"]', b'"outputs": ["y", "y"]', 1),
    (b'"output_scale": [1.0]', b'"output_scale": [1]', 1),
    (b'"output_scale": [1.0]', b'"output_scale": [3.0]', 1),
    (b'"output_scale": [1.0]', b'"output_scale": [-1.0]', 1),
    (b'"output_scale": [1.0]', b'"output_scale": [0.0]', 1),
    (b'"output_scale": [1.0]', b'"output_scale": [1.0, 1.0]', 1),
    (b'"output_scale": [1.0]', b'"output_scale": [2e0]', 0),
    (b'"output_scale": [1.0]', b'"output_scale": [5e-324]', 1),
    (b'"output_scale": [1.0]', b'"output_scale": [2.2250738585072014e-308]', 1),  # the head, divided, overflows
    (b'"output_scale": [1.0]', b'"output_scale": [8.98846567431158e307]', 3),  # eta * scale is all of the margin
    (b'"profile": "f64-aux"', b'"profile": "fixed-order"', 1),
    (b'"profile": "f64-aux"', b'"profile": "f64-aux\\u0000"', 1),
]


@pytest.mark.parametrize(("old", "new", "code"), MODEL_TEXTS, ids=range(len(MODEL_TEXTS)))
def test_texts_of_the_model(answer, forge2, files, tmp_path, old, new, code):
    assert answer(put(forge2, tmp_path / "m", with_text(forge2, files(), MODEL, old, new, code))) == code


def test_two_model_files_in_one(answer, forge2, files, tmp_path):
    own = files()
    assert answer(put(forge2, tmp_path / "m", own | {MODEL: own[MODEL] * 2})) == 2
    assert answer(put(forge2, tmp_path / "n", own | {MODEL: own[MODEL] + b"\0"})) == 2
    assert answer(put(forge2, tmp_path / "o", own | {MODEL: own[MODEL].decode().encode("utf-16")})) == 2


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
    (b'"2"', '"٢"'.encode(), 1),  # noqa: RUF001, a digit of another script
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
def test_texts_of_the_certificate(answer, forge2, files, tmp_path, old, new, code):
    assert answer(put(forge2, tmp_path / "m", with_text(forge2, files(), CERTIFICATE, old, new, code))) == code


def header_of(files):
    """The header of the weights, and what follows it."""
    data = files[WEIGHTS]
    size = int.from_bytes(data[:8], "little")
    return data[8 : 8 + size], data[8 + size :]


def with_header(forge2, files, header, data, size=None):
    """The files with this header and these numbers."""
    raw = (len(header) if size is None else size).to_bytes(8, "little") + header + data
    try:
        return forge2.rehashed(files | {WEIGHTS: raw})
    except (ValueError, LookupError, TypeError, AttributeError):
        return files | {WEIGHTS: raw}


CONST = b'"lower.const": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}'
HEADERS = [
    (CONST, CONST.replace(b"F64", b"F32"), 1),
    (CONST, CONST.replace(b"F64", b"f64"), 1),
    (CONST, CONST.replace(b"F64", b"I64"), 1),
    (CONST, CONST.replace(b"F64", b"F64\\u0000"), 1),
    (CONST, CONST.replace(b'"F64"', b"64"), 2),
    (CONST, CONST.replace(b"[1]", b"[]"), 1),
    (CONST, CONST.replace(b"[1]", b"[1, 1]"), 1),
    (CONST, CONST.replace(b"[1]", b"[1.0]"), 2),
    (CONST, CONST.replace(b"[1]", b"[true]"), 2),
    (CONST, CONST.replace(b"[1]", b"[-1]"), 2),
    (CONST, CONST.replace(b"[1]", b"[2]"), 1),
    (CONST, CONST.replace(b"[1]", b"[18446744073709551617]"), 1),
    (CONST, CONST.replace(b"[0, 8]", b"[8, 0]"), 2),
    (CONST, CONST.replace(b"[0, 8]", b"[0, 16]"), 2),
    (CONST, CONST.replace(b"[0, 8]", b"[8, 16]"), 2),  # the place of another tensor
    (CONST, CONST.replace(b"[0, 8]", b"[0, 8, 8]"), 2),
    (CONST, CONST.replace(b"[0, 8]", b"[0, 18446744073709551624]"), 2),
    (CONST, CONST + b", " + CONST, 2),
    (CONST, CONST + b", " + CONST.replace(b"lower.const", b"lower\\u002econst"), 2),
    (CONST, CONST + b", " + CONST.replace(b"lower.const", b"lower.bias"), 2),
    (CONST, CONST + b', "lower.bias": {"dtype": "F64", "shape": [0], "data_offsets": [8, 8]}', 1),
    (CONST, CONST + b', "backbone.x": {"dtype": "U8", "shape": [7], "data_offsets": [8, 8]}', 0),
    (CONST, CONST + b', "backbone": {"dtype": "U8", "shape": [0], "data_offsets": [8, 8]}', 1),
    (CONST, CONST + b', "\\ud800": {"dtype": "U8", "shape": [0], "data_offsets": [8, 8]}', 1),
    (CONST, CONST + b', "__metadata__": 3', 0),
    (CONST, CONST.replace(b'"shape"', b'"more": 1, "shape"'), 2),
    (CONST, CONST.replace(b"lower.const", b"Lower.const"), 1),
    (CONST, CONST.replace(b"lower.const", b"backbone.lower.const"), 1),
    (CONST, CONST.replace(b"lower.const", b"lower.const "), 1),
    (b'"second.const"', b'"second.fall" ', 2),
]


@pytest.mark.parametrize(("old", "new", "code"), HEADERS, ids=range(len(HEADERS)))
def test_headers_of_weights(answer, forge2, files, tmp_path, old, new, code):
    own = files()
    header, data = header_of(own)
    assert old in header
    assert answer(put(forge2, tmp_path / "m", with_header(forge2, own, header.replace(old, new, 1), data))) == code


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda header, data: (header + b"   ", data, None), 0),
        (lambda header, data: (b"  " + header, data, None), 0),
        (lambda header, data: (header + b"\0", data, None), 2),
        (lambda header, data: (header, data + b"\0", None), 2),
        (lambda header, data: (header, data[:-1], None), 2),
        (lambda header, data: (header, data, len(header) - 1), 2),
        (lambda header, data: (header, data, 2**63), 2),
        (lambda header, data: (header, data, 2**64 - 1), 2),
        (lambda header, data: (b"[]", data, None), 2),
    ],
    ids=range(9),
)
def test_framing_of_weights(answer, forge2, files, tmp_path, change, code):
    own = files()
    assert answer(put(forge2, tmp_path / "m", with_header(forge2, own, *change(*header_of(own))))) == code


@pytest.mark.parametrize(
    ("tensors", "code"),
    [
        ({"lower.const": [float("nan")]}, 1),
        ({"lower.const": [float("inf")]}, 1),
        ({"head_bias": [-float("inf")]}, 1),
        ({"second.const": [-0.0]}, 0),
        ({"second.const": [-5e-324]}, 1),
        ({"second.rise": [[-1.0]]}, 1),
        ({"lower.const": [5e-324]}, 0),
        ({"lower.const": [1.5]}, 3),
        ({"lower.slope": [[-1.0]]}, 0),
        ({"lower.slope": [[3.0]]}, 3),
        ({"lower.slope": [[2.0**1000]]}, 1),
        ({"lower.slope": [[2.0**999]], "head_weight": [[2.0**-999]]}, 3),
        ({"lower.const": [2.0**999], "head_weight": [[2.0**-999]]}, 3),
        ({"head_weight": [[2.0**1000]]}, 1),
        ({"head_weight": [[-0.0]]}, 0),
        ({"lower.slope": [[2.0**60]], "lower.const": [-(2.0**60)], "head_weight": [[2.0**-30]]}, 3),
    ],
    ids=range(16),
)
def test_numbers_of_weights(answer, forge2, files, tmp_path, tensors, code):
    assert answer(put(forge2, tmp_path / "m", files(tensors=tensors))) == code


def rising(forge2, profile, proof, slope=-1.0, when=None, then=None):
    """f(x) = slope·x, said to rise."""
    claim = forge2.small_claim(
        then or ([(1, 0, "y"), (-1, 1, "y")], "<=", 0), copies=2, when=when or [([(1, 0, "x"), (-1, 1, "x")], "<=", 0)]
    )
    net = {"profile": profile, "auxiliaries": "constant", "skip": True}
    tensors = {"lower.slope": [[slope]]}
    made = forge2.small_files(claim, net=net, tensors=tensors, proofs=[{"witness": [[0.5], [0.5]], "rows": proof}])
    header, data = header_of(made)
    kept = {name: entry for name, entry in json.loads(header).items() if name not in ("second.rise", "second.fall")}
    body, out = b"", {}
    for name, entry in kept.items():
        a, b = entry["data_offsets"]
        out[name] = entry | {"data_offsets": [len(body), len(body) + b - a]}
        body += data[a:b]
    text = json.dumps(out).encode()
    return forge2.as_version_2(made | {WEIGHTS: len(text).to_bytes(8, "little") + text + body})


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
def test_rules_where_they_do_not_apply(answer, forge2, tmp_path, profile, proof, slope, code):
    """A falling network is not shown to rise, nor a rising one by a rule for another order of sums."""
    assert answer(put(forge2, tmp_path / "m", rising(forge2, profile, [proof], slope))) == code


@pytest.mark.parametrize(
    ("when", "then"),
    [
        (([(1, 0, "x"), (-1, 1, "x")], "<=", "1/1000"), None),  # not ordered
        (([(-1, 0, "x"), (1, 1, "x")], "<=", 0), None),  # the other order
        (([(1, 0, "x"), (-2, 1, "x")], "<=", 0), None),  # no order at all
        (([(1, 0, "x"), (-1, 0, "x"), (1, 1, "x")], "<=", 1), None),  # like terms of one copy
        (None, ([(1, 0, "y"), (-1, 1, "y")], "<=", "-1/1000")),
        (None, ([(1, 1, "y"), (-1, 0, "y")], "<=", 0)),  # copies exchanged
        (None, ([(2, 0, "y"), (-1, 1, "y")], "<=", 0)),
        (None, ([(1, 0, "y"), (-1, 1, "y"), (1, 0, "x"), (-1, 1, "x")], "<=", 0)),
    ],
)
def test_rows_that_the_order_rule_may_not_show(answer, forge2, tmp_path, when, then):
    made = rising(forge2, "fixed-order", [ORDER], 1.0, [when] if when else None, then)
    assert answer(put(forge2, tmp_path / "m", made)) == 1


def test_an_equality_needs_both_rows(answer, forge2, tmp_path):
    """f(a) == f(b) for a <= b: the first half is shown, the second is not."""
    made = rising(forge2, "fixed-order", [ORDER, ORDER], 1.0, None, ([(1, 0, "y"), (-1, 1, "y")], "==", 0))
    assert answer(put(forge2, tmp_path / "m", made)) == 1
    mirror = rising(
        forge2, "fixed-order", [ORDER, {"rule": "mirror", "of": 0}], 1.0, None, ([(1, 0, "y"), (-1, 1, "y")], "==", 0)
    )
    assert answer(put(forge2, tmp_path / "n", mirror)) == 1


def test_one_claim_of_two_fails(answer, forge2, files, tmp_path):
    """All claims count, whatever their order."""
    good, bad = (forge2.small_claim(([(1, 0, "y")], "<=", rhs)) for rhs in ("2", "1/2"))
    for name, claims in (("m", (good, bad)), ("n", (bad, good)), ("o", (good, bad, good))):
        assert answer(put(forge2, tmp_path / name, files(*claims))) == 3
    rows = forge2.small_claim(([(1, 0, "y")], "<=", 2), ([(1, 0, "y")], "<=", "1/2"), ([(1, 0, "y")], "<=", 2))
    assert answer(put(forge2, tmp_path / "p", files(rows))) == 3
    assert answer(put(forge2, tmp_path / "q", files(good, good))) == 0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda own: own.pop("certificate.bin"), 2),
        (lambda own: own.update({"properties.json": b'{"claims": []}'}), 1),
        (lambda own: own.update({"properties.json": b"{"}), 2),
        (lambda own: own.update({"properties.json": b"[]"}), 1),
        (lambda own: own.update({"notes.txt": b"x"}), 0),
        (lambda own: own.update({"certificate.bin": b"\0"}), 1),
    ],
    ids=range(6),
)
def test_files_of_the_folder(answer, forge2, files, tmp_path, change, code):
    own = files()
    change(own)
    try:
        own = forge2.rehashed(own)
    except LookupError:
        pass
    assert answer(put(forge2, tmp_path / "m", own)) == code


MANIFESTS = [
    (b'"files": {', b'"files": {"../model.json": {"sha256": "", "bytes": 0}, ', 1),
    (b'"files": {', b'"files": {"model.json": {"sha256": "", "bytes": 0}, ', 2),
    (b'"files": {', b'"files": {"mod\\u0065l.json": {"sha256": "", "bytes": 0}, ', 2),
    (b'"version": 2', b'"version": 2.0', 1),
    (b'"version": 2', b'"version": 1, "version": 2', 2),
    (b'"library": "0"', b'"library": 0', 1),
    (b'"library": "0"', b'"library": "0", "more": 1', 1),
    (b'"format": "smilenn-model"', b'"format": "smilenn-certificate"', 1),
    (b'"digest": "', b'"digest": "0', 1),
]


@pytest.mark.parametrize(("old", "new", "code"), MANIFESTS, ids=range(len(MANIFESTS)))
def test_texts_of_the_manifest(answer, forge2, files, tmp_path, old, new, code):
    folder = put(forge2, tmp_path / "m", files())
    text = (folder / MANIFEST).read_bytes()
    assert old in text
    (folder / MANIFEST).write_bytes(text.replace(old, new, 1))
    assert answer(folder) == code
