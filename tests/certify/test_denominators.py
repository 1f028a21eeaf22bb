"""Common denominators of bounds at the limit of docs/certificate.md, section 6: 2^17 bits are read, one more is not.

The hundred rows ``c_i·x_i ≤ ⌊c_i/2⌋`` have coprime odd c_i, so the bounds ⌊c_i/2⌋/c_i need the product of all c_i.
"""

import math
from fractions import Fraction

import pytest
import torch

from smilenn.certify.certify import certify
from smilenn.certify.check import check_folder
from smilenn.certify.reference.check import check_folder as check_reference
from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.bundle import save_net
from smilenn.model.net import SmileNet
from smilenn.properties.claim import Claim, row

INPUTS, LIMIT = 100, 1 << 17
SIZE = 1 << 400  # of coefficients and right sides alike: the library takes numbers up to 1e300


def coprime(bits: int, others: list[int]) -> int:
    """The largest odd number of so many bits that shares no factor with others."""
    found = (1 << bits) - 1
    while any(math.gcd(found, other) != 1 for other in others):
        found -= 2
    return found


def coefficients(bits: int) -> list[int]:
    """Coprime odd numbers whose product has so many bits."""
    out: list[int] = []
    for _ in range(INPUTS - 1):
        out.append(coprime(1320, out))
    out.append(coprime(bits - math.prod(out).bit_length(), out))
    assert math.prod(out).bit_length() == bits
    return out


@pytest.mark.parametrize(("bits", "status"), [(LIMIT - 1, "certified"), (LIMIT, "certified"), (LIMIT + 1, "refused")])
def test_both_checkers_refuse_more_than_the_limit_and_no_less(tmp_path, bits, status):
    domain = Domain.box([0.0] * INPUTS, [1.0] * INPUTS)
    net = SmileNet(domain, MLP(INPUTS, (1,), 1), 1, auxiliaries="affine")
    net.gap.scale_(0.0)
    with torch.no_grad():
        for part in (net.lower.slope, net.lower.const):
            part.zero_()
        net.head_weight.fill_(1.0)
    when = [
        row([(Fraction(c, SIZE), 0, "in", f"x{i}")], Fraction(c // 2, SIZE)) for i, c in enumerate(coefficients(bits))
    ]
    certificate = certify(net, [Claim(1, tuple(when), (row([(1, 0, "out", "")], 1),))])
    save_net(tmp_path / "m", net, extra=certificate.files)
    fast, slow = check_folder(tmp_path / "m"), check_reference(tmp_path / "m")
    assert (certificate.report.status, fast.status, slow.status) == (status,) * 3
    if status == "refused":
        assert "common denominator" in fast.reason and "common denominator" in slow.reason
