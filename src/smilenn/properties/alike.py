"""Names that look alike: ``'café'`` written with one letter or two, ``'income'`` with or without an invisible one.

    alike(p, q)   NFKC of both is the same, once what cannot be seen is left out

A sentence quotes names as they are. Where two names of a model look alike, their letters beyond ASCII are written as
codes, so that a reader sees which one is meant. Letters of other alphabets that resemble Latin ones are no business of
Unicode's normal forms; they stay as they are.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable

from smilenn.domain import Domain
from smilenn.domain.cells import order_of
from smilenn.properties.claim import Claim, in_codes, in_quotes
from smilenn.properties.forms import Outputs

BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and marks that show nothing
MARKS = range(0xFE00, 0xFE10)  # variants of the letter before, mostly the same to the eye


def looks(name: str) -> str:
    r"""What a reader sees of a name: two names with the same looks cannot be told apart.

    >>> looks("cafe\u0301") == looks("caf\u00e9"), looks("income\u3164") == looks("income")
    (True, True)
    """
    seen = (c for c in name if c not in BLANK and ord(c) not in MARKS and unicodedata.category(c) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", "".join(seen)).split())


def told_apart(text: str, names: Iterable[str]) -> str:
    r"""The text with every quoted name that looks like another one of `names` written in ASCII.

    >>> print(told_apart("Raising 'caf\u00e9' …", ["caf\u00e9", "cafe\u0301", "tea"]))
    Raising 'caf\xe9' …
    """
    for name in alike(names):
        text = text.replace(repr(name), ascii(name)).replace(in_quotes(name), in_codes(name))
    return text


def alike(names: Iterable[str]) -> list[str]:
    """Those that look like another one."""
    given = set(names)
    if all(map(str.isascii, given)):  # nearly always, and images have hundreds of names
        return []
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(given):
        groups[looks(name)].append(name)
    return [name for group in groups.values() if len(group) > 1 for name in group]


def names_of(claim: Claim | None, outputs: Outputs | None, domain: Domain | None) -> list[str]:
    """What a sentence on a claim may quote: names of features, values, columns, outputs, classes and the target."""
    out = [] if outputs is None else [*outputs.names, *outputs.classes, outputs.target]
    if claim is not None:
        out += [*claim.named, *claim.equal, *claim.free]
    for feature in () if domain is None else domain.features:
        out += [feature.name, *feature.coordinates, *feature.categories, *order_of(feature)]
    return out
