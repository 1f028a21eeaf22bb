"""Both checkers read the same texts as JSON: what one cannot read, the other cannot, and numbers are equal."""

from fractions import Fraction

import pytest

from smilenn.certify import check
from smilenn.certify.reference import floats as exact_floats
from smilenn.certify.reference import strict


@pytest.fixture(scope="module")
def texts(killing):
    """JSON at the limits of what is readable, and floats at those of their digits and sizes."""
    return [*killing.TEXTS, *(text.encode() for text in killing.kill_version2.TEXTS)]


def read(parse, error, text):
    try:
        return parse(text, "it")
    except error as raised:
        return type(raised).__name__.replace("Error", "")


def plain(value):
    """A value of either reader as one that can be compared."""
    match value:
        case exact_floats.Double():
            return value.bits, value.value
        case check.Real():
            return value.bits, Fraction(value)
        case list():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case _:
            return value


def test_both_checkers_read_the_same_texts(texts):
    seen = 0
    for text in texts:
        fast, slow = read(check.parse, check.CheckError, text), read(strict.parse_json, strict.CheckError, text)
        assert plain(fast) == plain(slow), text[:80]
        seen += fast == "Unreadable"
    assert 20 < seen < len(texts) - 30
