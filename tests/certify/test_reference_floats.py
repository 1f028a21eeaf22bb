"""Floats in integers (floats.py) against the processor's, in a process that has subnormal numbers."""

import json
import random
import struct
import time
from fractions import Fraction

import pytest

from smilenn.certify.reference import strict
from smilenn.certify.reference import version1 as exact_version1
from smilenn.certify.reference.floats import Double, decoded, double, fl, floor_log2, parsed, shortest

F = Fraction


@pytest.fixture(params=[25_000, pytest.param(100_000, marks=pytest.mark.slow)])
def numbers(request):
    """How many random numbers are tried."""
    return request.param


def bits_of(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def float_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def random_bits(rng):
    """All sizes alike, with many subnormal ones and short mantissas."""
    bits = rng.getrandbits(64)
    match rng.randrange(4):
        case 0:
            bits &= ~(0x7FF << 52)  # subnormal
        case 1:
            bits &= ~((1 << rng.randrange(53)) - 1)
        case _:
            pass
    return bits


def test_decoding_and_encoding(numbers):
    rng, infinite = random.Random(1), 0
    for _ in range(numbers):
        bits = random_bits(rng)
        value, real = decoded(bits), float_of(bits)
        if value is None:
            assert real != real or abs(real) == float("inf")
            infinite += 1
            continue
        assert value == F(real) and double(abs(value), bool(bits >> 63)).bits == bits
    assert infinite > numbers // 10_000
    assert Double(1 << 63).value == 0 and double(F(0), True).bits == 1 << 63 and double(F(0), False).bits == 0


def test_rounding(numbers):
    """fl of sums, products and quotients of floats, of points half-way between two of them, and right beside these."""
    rng = random.Random(2)
    for _ in range(numbers // 5):
        x, y = float_of(random_bits(rng)), float_of(random_bits(rng))
        if not all(abs(v) < 2.0**500 for v in (x, y)):
            continue
        assert fl(F(x) + F(y)) == F(x + y) and fl(F(x) - F(y)) == F(x - y) and fl(F(x) * F(y)) == F(x * y)
        up = float_of(bits_of(abs(x)) + 1)
        half, even = (F(abs(x)) + F(up)) / 2, abs(x) if bits_of(abs(x)) % 2 == 0 else up
        assert fl(half) == F(even) and fl(-half) == -F(even)
        tiny = F(1, 10**400)
        assert fl(half - tiny) == F(abs(x)) and fl(half + tiny) == F(up)
    assert fl(F(2) ** 1024) == 2**1024  # no largest one
    for e in range(-1080, 1030):
        assert floor_log2(F(2) ** e) == e and floor_log2(F(2) ** e * F(99, 100)) == e - 1


def decimal(rng):
    """A JSON number of any form and size."""
    digits = "".join(rng.choices("0123456789", k=rng.choice([1, 2, 16, 17, 18, 40, 300])))
    point = rng.randrange(1, len(digits) + 1)
    whole, rest = digits[:point].lstrip("0") or "0", digits[point:]
    exponent = rng.choice(["", f"e{rng.randint(-360, 330)}", f"E+{rng.randint(0, 330)}", f"e-{rng.randint(300, 345)}"])
    return rng.choice(["", "-"]) + whole + (f".{rest}" if rest else "") + (exponent or ("" if rest else ".0"))


def agree(text):
    """Whether a number reads as Python reads it, in a process that does not flush."""
    wanted = float(text)
    if abs(wanted) == float("inf"):
        with pytest.raises(ValueError, match="beyond"):
            parsed(text)
        return False
    assert parsed(text).bits == bits_of(wanted), text
    return True


def test_reading_decimals(numbers):
    rng = random.Random(3)
    assert sum(agree(decimal(rng)) for _ in range(numbers)) > numbers // 2


def test_reading_halfway_points():
    """Exact decimals of points between two floats, subnormal ones too, and one digit more."""
    rng = random.Random(4)
    for _ in range(3000):
        bits = random_bits(rng) & ~(1 << 63)
        if bits >> 52 == 0x7FF or bits >> 52 > 0x3FF + 200 or 0 < bits >> 52 < 600:
            continue
        half = (F(float_of(bits)) + F(float_of(bits + 1))) / 2
        places = half.denominator.bit_length() - 1
        whole = half * 10**places
        assert whole.denominator == 1
        for text in (
            f"{whole.numerator}e-{places}",
            f"{whole.numerator}1e-{places + 1}",
            f"{whole.numerator - 1}e-{places}",
        ):
            agree(text)


@pytest.mark.parametrize(
    "text",
    [
        "1e-400",
        "1e400",
        "-1e400",
        "0.1e-5000",
        "0e999999999",
        "-0.0",
        "-0e-7",
        "1e-324",
        "2e-324",
        "3e-324",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "179769313486231580793728971405301e276",
        "9007199254740993.0",
        "9007199254740992.999",
        "1.0",
        "1E5",
        "1e+5",
        "0." + "0" * 380 + "1",
        "1" + "0" * 380 + ".0",
        "1" + "0" * 300 + "e-300",
        "0.000001e310",
        "0." + "0" * 300 + "1e600",
    ],
)
def test_odd_decimals(text):
    agree(text)


def test_huge_exponents_take_no_time():
    start = time.perf_counter()
    for _ in range(1000):
        for exponent in ("999999999", "9" * 390):
            assert parsed(f"1e-{exponent}").bits == 0 and parsed(f"-0.0e{exponent}").bits == 1 << 63
            with pytest.raises(ValueError, match="beyond"):
                parsed(f"1e{exponent}")
    assert time.perf_counter() - start < 5
    with pytest.raises(strict.Unreadable, match="range of floats"):
        strict.parse_json(b"[1e999999999]", "it")
    with pytest.raises(strict.Unreadable, match="400 characters"):
        strict.parse_json(b"[1e" + b"9" * 399 + b"]", "it")


@pytest.mark.parametrize("text", ["", "x", "1e", "+1.0", "0x10", "1_0.0", " 1.0", "١.0", "nan", "inf"])
def test_what_is_no_number(text):
    with pytest.raises(ValueError, match="malformed"):
        parsed(text)


def test_shortest_decimals():
    """As Python prints them: powers of two, where the float below is nearer, ties, and random ones."""
    rng = random.Random(5)
    values = [2.0**e for e in range(-1074, 1024, 3)] + [(2**50 + rng.getrandbits(52)) / 4 for _ in range(1000)]
    values += [float_of(bits) for bits in (random_bits(rng) for _ in range(4000)) if bits >> 52 & 0x7FF != 0x7FF]
    values += [10.0**e for e in range(-30, 30)] + [0.0, -0.0, 5e-324, 1.7976931348623157e308, 123456.0, -1e16, 0.0001]
    for value in values:
        assert shortest(Double(bits_of(value))) == repr(value)


def test_version_1_prints_what_python_prints():
    value = {
        "b": [1.5, -0.0, 1e-7, 5e-324, 10**300],
        "a": {"é\n": None, "": True},
        "c": ["\ud800", "\U0001f600", {}, []],
    }
    read = strict.parse_json(json.dumps(value).encode(), "it")
    assert exact_version1.canonical(read) == json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    plain = exact_version1.python_json(read, ", ", ": ", escaped=False)
    assert plain == json.dumps(value, sort_keys=True, ensure_ascii=False)
