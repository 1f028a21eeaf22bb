"""Long numbers (section 6): the limit on common denominators and the factor of work are those of check.py.

Rows ``c_i·x_i ≤ ⌊c_i/2⌋`` with coprime odd c_i of 400 digits need the product of all c_i.
"""

import functools
import json
import math
import time

import pytest

from smilenn.certify import check

BOUNDS, LIMIT = 100, 1 << 17


def coprime(bits, others):
    """The largest odd number of so many bits that shares no factor with others."""
    product, found = math.prod(others), (1 << bits) - 1
    while math.gcd(found, product) != 1:
        found -= 2
    return found


@functools.cache
def first_ones():
    """All but the last, by which the number of bits is made to fit."""
    out = []
    for _ in range(BOUNDS - 1):
        out.append(coprime(1320, out))
    return out


def coefficients(bits):
    """Coprime odd numbers whose product has so many bits."""
    first = first_ones()
    out = [*first, coprime(bits - math.prod(first).bit_length(), first)]
    assert math.prod(out).bit_length() == bits
    return out


def tree(levels, index=0):
    """Splits of inputs down to leaves without multipliers, all of one depth."""
    if levels == 0:
        return bytes([0])
    below = tree(levels - 1, index + 1)
    return bytes([2, 0, index, 0]) + bytes(8) + below + below


def files(forge2, numbers, inputs=BOUNDS, proof=b"\0"):
    """The network 0 with such bounds, in version 2."""
    when = [([(c, 0, f"x{i}")], "<=", c // 2) for i, c in enumerate(numbers)]
    features = [{"name": f"x{i}", "kind": "continuous", "lo": 0.0, "hi": 1.0} for i in range(inputs)]
    none = [[0.0] * inputs]
    row = {"rule": "leaf", "bits": 0, "units": [], "start": 0, "length": len(proof)}
    small = forge2.small_files(
        forge2.small_claim(([(1, 0, "y")], "<=", 1), when=when),
        net={"domain": {"features": features}},
        tensors={"lower.slope": none, "second.rise": none, "second.fall": none},
        proofs=[{"witness": none, "rows": [row]}],
    )
    return forge2.rehashed(forge2.as_version_2(small) | {"certificate.bin": proof})


@pytest.mark.parametrize(("bits", "status"), [(LIMIT, "certified"), (LIMIT + 1, "refused")])
def test_the_limit_on_common_denominators(smilecheck, forge2, tmp_path, bits, status):
    folder = forge2.put(tmp_path / "m", files(forge2, coefficients(bits)))
    report, (code, found, text) = check.check_folder(folder), smilecheck(folder)
    assert (report.status, found["status"], code) == (status, status, report.exit_code)
    assert text == json.dumps(report.to_json())
    assert status == "certified" or report.reason == "the bounds of a claim have too large a common denominator"


def test_more_of_them_take_no_longer(smilecheck, forge2, tmp_path):
    """Ten times as many: the file is read, and the numbers are not multiplied."""
    numbers = [10**399 + 2 * i + 1 for i in range(10 * BOUNDS)]
    folder = forge2.put(tmp_path / "m", files(forge2, numbers, len(numbers)))
    start = time.perf_counter()
    code, found, _ = smilecheck(folder)
    assert (code, found["reason"]) == (1, "the bounds of a claim have too large a common denominator")
    assert time.perf_counter() - start < 10


def test_long_numbers_count_more(smilecheck, forge2, tmp_path):
    """ξ = 2¹⁷ makes the factor 65. With this tree 64 times the work would be allowed, 65 times are not."""
    levels = 13
    nodes, inputs = (1 << levels + 1) - 1, 2013
    work = nodes * (16 + inputs + 1) + inputs + 1 + 8 * (inputs + 8)
    assert 64 * work < check.WORK < 65 * work
    folder = forge2.put(tmp_path / "m", files(forge2, coefficients(LIMIT), inputs, tree(levels)))
    report, (code, found, _) = check.check_folder(folder), smilecheck(folder)
    assert report.reason == found["reason"] == "the proofs would take too long to check"
    assert (code, report.exit_code) == (1, 1)
