"""Bytes of a JSON value that digests are taken of: docs/certificate.md, section 6.

    n, t, f    i DIGITS ;    d 16 HEX DIGITS    s LENGTH : UTF-8    [ entries ]    { keys and values, by keys' UTF-8 }

Different values have different encodings: 0.0 and −0.0, and 1, 1.0 and true. For the reference checker only.
"""

from __future__ import annotations

from typing import Any

from smilenn.certify.reference.floats import Double
from smilenn.certify.reference.strict import Refused


def encoding(value: Any) -> bytes:
    """E of a value that `parse_json` has read; Refused if a text is not Unicode."""
    parts: list[bytes] = []
    _append(value, parts)
    return b"".join(parts)


def _append(value: Any, parts: list[bytes]) -> None:
    """As deep as JSON may be nested, 64 levels."""
    if value is None or isinstance(value, bool):
        parts.append({None: b"n", True: b"t", False: b"f"}[value])
    elif isinstance(value, int):
        parts.append(b"i%d;" % value)
    elif isinstance(value, Double):
        parts.append(b"d%016x" % value.bits)
    elif isinstance(value, str):
        data = _utf8(value)
        parts += [b"s%d:" % len(data), data]
    elif isinstance(value, list):
        parts.append(b"[")
        for item in value:
            _append(item, parts)
        parts.append(b"]")
    else:
        parts.append(b"{")
        for key in sorted(value, key=_utf8):
            _append(key, parts)
            _append(value[key], parts)
        parts.append(b"}")


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Refused("A text holds half a surrogate pair.") from None
