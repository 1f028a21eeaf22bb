"""Folders that are made to deceive the reader of the proved checker, which is not proved: what it hands to the proof
must be what the files hold. Every folder gets the exit code that both other checkers give it, or 3 as not covered.
"""

import math
import random
import struct
from fractions import Fraction

import pytest

MODEL, MANIFEST = "model.json", "manifest.json"


def test_the_plain_folder(answer, misread, tmp_path):
    assert answer(misread.put(tmp_path / "m", misread.small())) == 0


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


def test_floats_have_their_bits(answer, misread, tmp_path):
    """The digest of a model is taken of the bits of its floats: a reader that rounds one otherwise refuses it."""
    texts = [text for text in numerals(4000) if len(text) <= 400 and abs(float(text)) < float("inf")]
    assert len(texts) > 15_000

    def table():
        return f'{{"table": {{"n": [{", ".join(texts)}]}}, "net"'.encode()

    good = misread.retold(misread.small(), MODEL, b'{"net"', table())
    assert answer(misread.put(tmp_path / "m", good)) == 0
    texts[7] = repr(math.nextafter(float(texts[7]), math.inf))
    other = misread.retold(misread.small(), MODEL, b'{"net"', table(), code=2)
    assert answer(misread.put(tmp_path / "n", good | {MODEL: other[MODEL]})) == 1


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
    (b'"name": "x"', '"name": "х"'.encode(), 1),
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
def test_texts_of_the_model(answer, misread, tmp_path, old, new, code):
    assert answer(misread.put(tmp_path / "m", misread.retold(misread.small(), MODEL, old, new, code))) == code


def test_two_model_files_in_one(answer, misread, tmp_path):
    own = misread.small()
    assert answer(misread.put(tmp_path / "m", own | {MODEL: own[MODEL] * 2})) == 2
    assert answer(misread.put(tmp_path / "n", own | {MODEL: own[MODEL] + b"\0"})) == 2
    assert answer(misread.put(tmp_path / "o", own | {MODEL: own[MODEL].decode().encode("utf-16")})) == 2


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
def test_headers_of_weights(answer, misread, tmp_path, old, new, code):
    own = misread.small()
    header, data = misread.header(own)
    assert old in header
    assert answer(misread.put(tmp_path / "m", misread.with_header(own, header.replace(old, new, 1), data))) == code


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
def test_framing_of_weights(answer, misread, tmp_path, change, code):
    own = misread.small()
    assert answer(misread.put(tmp_path / "m", misread.with_header(own, *change(*misread.header(own))))) == code


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
def test_numbers_of_weights(answer, misread, tmp_path, tensors, code):
    assert answer(misread.put(tmp_path / "m", misread.small(tensors=tensors))) == code


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
def test_files_of_the_folder(answer, misread, tmp_path, change, code):
    own = misread.small()
    change(own)
    assert answer(misread.put(tmp_path / "m", misread.fitting(own))) == code


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
def test_texts_of_the_manifest(answer, misread, tmp_path, old, new, code):
    folder = misread.put(tmp_path / "m", misread.small())
    text = (folder / MANIFEST).read_bytes()
    assert old in text
    (folder / MANIFEST).write_bytes(text.replace(old, new, 1))
    assert answer(folder) == code
