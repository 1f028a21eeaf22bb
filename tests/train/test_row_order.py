"""Rows of a claim are paired by what they say: as quickly as they are read, and as the slow search by pairs has it."""

import random
from types import SimpleNamespace

from smilenn.certify.emit import mirrored
from smilenn.properties.claim import Claim, row
from smilenn.train.row_order import _positive, _terms, in_order


def claims(count):
    rng = random.Random(0)
    for _ in range(count):
        rows = []
        for _ in range(rng.randint(1, 9)):
            one, other, sign = *rng.sample("uvw", 2), rng.choice([1, -1])
            further = [(sign, 1, "out", other)] if rng.random() < 0.3 else []
            rows.append(row([(sign, 0, "out", one), (-sign, 1, "out", one), *further], rng.choice([0, 1])))
        yield Claim(2, (), tuple(rows))


def by_pairs(claim):
    rows = list(claim.then)
    for i, one in enumerate(rows):
        partner = next((j for j in range(i + 1, len(rows)) if _terms(rows[j]) == _terms(one, -1)), None)
        if partner is not None and not _positive(one):
            rows[i], rows[partner] = rows[partner], one
    return tuple(rows)


def exchanged(one, other):
    swapped = {(1 - t.copy, t.kind, t.name): t.coef for t in one.terms}
    return one.rhs == other.rhs and swapped == {(t.copy, t.kind, t.name): t.coef for t in other.terms}


def test_rows_are_put_in_the_same_order_as_by_pairs():
    assert all(in_order(claim).then == by_pairs(claim) for claim in claims(500))


def test_rows_mirror_the_same_rows_as_by_pairs():
    for claim in claims(500):
        found = []
        for r, one in enumerate(claim.rows):
            twins = (q for q in range(r) if found[q] is None and exchanged(one, claim.rows[q]))
            found.append(next(twins, None))
        symmetric, other = (SimpleNamespace(claim=claim, premise=SimpleNamespace(symmetric=s)) for s in (True, False))
        assert mirrored(symmetric) == found and mirrored(other) == [None] * len(found)
