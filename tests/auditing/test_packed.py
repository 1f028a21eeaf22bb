"""Products of the fast checker by long numbers with slots: those of plain sums, whatever fits and whatever does not."""

import random

import pytest

from smilenn.certify.check_deep import LONGEST, Apart, G, Interval, Packed, ceil_shift, packed


def drawn(rng, bits):
    return rng.choice([0, 1, -1, rng.getrandbits(bits), -rng.getrandbits(bits), (1 << bits) - 1])


def matrix(rng, n, m, bits):
    return [[drawn(rng, bits) for _ in range(m)] for _ in range(n)]


def plain(t, m):
    return [sum(a * b for a, b in zip(t, column, strict=True)) for column in zip(*m, strict=True)]


@pytest.mark.parametrize("drop", [40, 72, 152, LONGEST + 8])
def test_products_are_those_of_plain_sums(drop):
    rng, slots = random.Random(drop), 0
    for _ in range(300):
        n, m = rng.randint(1, 5), rng.randint(1, 5)
        rows = matrix(rng, n, m, drop + rng.choice([1, 20, 40]))
        t = [drawn(rng, rng.choice([3, 40, 70])) for _ in range(n)]
        one, exact = Packed(rows, drop), plain(t, rows)
        slots += one.total(t) is not None
        assert one.times(t) == [ceil_shift(v, drop) for v in exact]
        assert one.exactly(t) == exact
    assert slots == 0 if drop > LONGEST else 50 < slots < 300


@pytest.mark.parametrize("drop", [40, 72, LONGEST + 8])
def test_parts_are_products_of_some_rows_and_columns(drop):
    rng = random.Random(drop)
    for _ in range(300):
        n, m = rng.randint(1, 6), rng.randint(1, 6)
        rows = matrix(rng, n, m, drop + rng.choice([1, 20, 40]))
        whole = Packed(rows, drop)
        for _ in range(3):
            some, columns = ([k for k in range(size) if rng.random() < 0.6] for size in (n, m))
            one, t = whole.part(some, columns), [drawn(rng, rng.choice([3, 40, 70])) for _ in some]
            exact = [sum(v * rows[j][i] for v, j in zip(t, some, strict=True)) for i in columns]
            assert one.times(t) == [ceil_shift(v, drop) for v in exact]
            assert one.exactly(t) == exact
        t = [drawn(rng, 40) for _ in range(n)]
        assert whole.exactly(t) == plain(t, rows)  # a part changes nothing of the whole


def test_a_total_at_its_limit_does_not_run_over():
    for drop in (40, 48):
        for size in ((1 << (drop + 60)) - 1, 1 << (drop + 60)):
            for sign in (1, -1):
                rows, t = [[size, -size, size]], [sign]
                one = Packed(rows, drop)
                assert (one.total(t) is None) == (size == 1 << (drop + 60))
                assert one.times(t) == [ceil_shift(v, drop) for v in plain(t, rows)]


def test_intervals_are_rounded_outward():
    rng = random.Random(0)
    for _ in range(300):
        n, m, bits = rng.randint(1, 4), rng.randint(1, 4), 40
        large = rng.choice([10, 45, 79])
        nets = [(matrix(rng, n, m, large), [drawn(rng, rng.choice([20, large])) for _ in range(n)]) for _ in range(2)]
        first, second = (Interval(w, b, bits) for w, b in nets)
        (w, b), (v, c) = nets
        low = [drawn(rng, rng.choice([30, 60])) for _ in range(m)]
        width = [abs(drawn(rng, 50)) for _ in range(m)]
        middle = [2 * a + d for a, d in zip(low, width, strict=True)]
        for shifted in (True, False):
            ends = [
                sum(min(k * x, k * (x + d)) for k, x, d in zip(row, low, width, strict=True)) + (shift << G) * shifted
                for row, shift in zip(w, b, strict=True)
            ]
            assert first.ends(middle, width, shifted)[0] == [end >> bits for end in ends]
        tops = [
            sum(max(k * x, k * (x + d)) for k, x, d in zip(row, low, width, strict=True)) + (shift << G)
            for row, shift in zip(w, b, strict=True)
        ]
        assert first.ends(middle, width)[1] == [ceil_shift(top, bits) for top in tops]
        other = [abs(drawn(rng, 40)) for _ in range(m)]  # widths of a_1 + a_2 around the same middles
        p = [
            sum((k + q) * x + (k - q) * x for k, q, x in zip(r, s, middle, strict=True)) + (d - e << (G + 2))
            for r, s, d, e in zip(w, v, b, c, strict=True)
        ]
        q = [
            sum(abs(k + q) * d + abs(k - q) * e for k, q, d, e in zip(r, s, width, other, strict=True))
            for r, s in zip(w, v, strict=True)
        ]
        found = Apart(first, second).ends((middle, middle), (width, other))
        assert found[0] == [a - h >> (bits + 2) for a, h in zip(p, q, strict=True)]
        assert found[1] == [ceil_shift(a + h, bits + 2) for a, h in zip(p, q, strict=True)]


def test_packing_keeps_signs():
    assert packed([1, -1, 0, -(1 << 15)], 2) == 1 - (1 << 16) - (1 << 63)
