"""What a unit of work of an audit's check takes, on files made to take long: docs/audit-certificate.md, section 6.

    python -m benchmarks.audit_work --units 1e9

Each file is about networks and proofs of another kind: narrow and deep, wide, with stored slopes, long numbers or many
rows. A checker runs until it has counted --units; the time that the limit would take follows.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from time import process_time

import numpy as np

from smilenn.auditing.emit import number, signed
from smilenn.auditing.folder import ProvedRow, write_folder
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.certify import check_deep
from smilenn.certify.reference import deep, deep_work

LEAF, STORED, PHASE, INPUT, LEMMAS, SINGLES = range(6)
MANY = 20_000  # nodes of a proof


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--units", type=float, default=1e9)
    parser.add_argument("--reference", action="store_true", help="time the reference checker instead")
    options = parser.parse_args()
    limit = check_deep.WORK
    for name, net, second, rows in files():
        with tempfile.TemporaryDirectory() as place:
            outputs = [f"y{i}" for i in range(net.sizes[-1])]
            write_folder(Path(place), net, outputs, rows, second)
            spent, seconds = timed(Path(place), int(options.units), options.reference)
        each = 1e9 * seconds / spent
        most = limit * each / 6e10
        print(f"{name}: {spent:.2e} units in {seconds:.1f} s, {each:.1f} ns each, limit {most:.0f} min", flush=True)


def timed(folder: Path, units: int, reference: bool) -> tuple[int, float]:
    """Units counted, and CPU seconds; the counter of a checker is watched from outside."""
    seen, module, name = [0], (deep_work if reference else check_deep), ("MOST_WORK" if reference else "WORK")
    kind, verb = (deep_work.Budget, "spend") if reference else (check_deep.Work, "add")
    original = getattr(kind, verb)

    def counted(self: object, more: int) -> None:
        seen[0] += more
        original(self, more)

    setattr(kind, verb, counted)
    setattr(module, name, units)
    start = process_time()
    report = (deep if reference else check_deep).check_folder(folder)
    seconds = process_time() - start
    setattr(kind, verb, original)
    assert report.rows or "work" in report.reason, report.reason
    return seen[0], seconds


def files() -> Iterator[tuple[str, DeepNet, DeepNet | None, list[ProvedRow]]]:
    """Names, networks and rows."""
    lemmas, leaves = split(bytes([LEMMAS, LEAF])), split(bytes([LEAF]))
    singles = split(bytes([SINGLES, LEAF]))
    narrow, wide = random_net((2, *[1] * 64, 1)), random_net((2, 4000, 1))
    yield "64 layers of one unit, lemmas", narrow, None, rows_of(narrow, lemmas)
    other = random_net(narrow.sizes, 1)
    yield "64 layers of one unit, two networks, lemmas of copies", narrow, other, rows_of(narrow, singles)
    yield "64 layers of one unit, leaves", narrow, None, rows_of(narrow, leaves)
    phases = bytes([PHASE]) + number(0) + number(0) + number(0)
    yield "64 layers of one unit, phases", narrow, None, rows_of(narrow, split(bytes([LEAF]), phases))
    yield "4,000 units, leaves", wide, None, rows_of(wide, leaves)
    slopes = bytes([STORED]) + number(40) + bytes([0x55] * 2000) + signed(1 << 96) * 8000
    yield "4,000 units, stored slopes", wide, None, rows_of(wide, split(slopes, many=400))
    medium = random_net((5, 50, 50, 50, 50, 50, 50, 5))
    yield "six layers of 50 units, lemmas", medium, None, rows_of(medium, lemmas)
    other = random_net(medium.sizes, 1)
    yield "six layers of 50 units, two networks, lemmas", medium, other, rows_of(medium, lemmas)
    yield "six layers of 50 units, two networks, lemmas of copies", medium, other, rows_of(medium, singles)
    square = random_net((5, 300, 300, 300, 1))
    yield "three layers of 300 units, lemmas", square, None, rows_of(square, lemmas)
    tiny = random_net((5, 50, 50, 50, 1), dtype="float64", smallest=2.0**-1060)
    yield "float64 weights of 1,060 digits, lemmas", tiny, None, rows_of(tiny, lemmas)
    constants = np.array([Fraction(1)] * 40)
    scaled = replace(random_net((40, 1, 1)), scaling=(("mul", constants), ("add", constants)) * 8)
    yield "40 inputs with 16 steps", scaled, None, rows_of(scaled, leaves)
    few = random_net((2, 1, 1))
    yield "many rows", few, None, rows_of(few, bytes([LEAF])) * MANY


def random_net(sizes: tuple[int, ...], seed: int = 0, dtype: str = "float32", smallest: float = 1.0) -> DeepNet:
    """Weights of both signs that keep values near 1; one of them as small as asked."""
    rng, kind = np.random.default_rng(seed), np.dtype(dtype)
    weights = [(rng.normal(size=(b, a)) / a**0.5).astype(kind) for a, b in pairwise(sizes)]
    biases = [(0.1 * rng.normal(size=b)).astype(kind) for b in sizes[1:]]
    if smallest < 1:
        weights[0][0, 0] = smallest
    return DeepNet(tuple(weights), tuple(biases), dtype)  # type: ignore[arg-type]


def rows_of(net: DeepNet, proof: bytes) -> list[ProvedRow]:
    """One row about a box around 0, with a strip."""
    m, outputs = net.sizes[0], net.sizes[-1]
    one, half, zero = (Fraction(1),) * m, (Fraction(1, 2),) * m, np.zeros((2, m))
    minus, back = tuple(-v for v in one), tuple(-v for v in half)
    ones = (Fraction(1),) * outputs
    weights = (ones, tuple(-v for v in ones))
    names = tuple(f"x{i}" for i in range(m))
    row = Row("", names, (minus, minus), (one, one), back, half, (False,) * m, weights)
    return [ProvedRow(row, zero, proof)]


def split(leaf: bytes, node: bytes = b"", many: int = MANY) -> bytes:
    """A tree of halves of the first input: the first child of a node is a leaf. Other inputs stay wide."""
    node = node or bytes([INPUT]) + number(0) + number(0) + signed(0) + number(0)
    return (node + leaf) * many + leaf


if __name__ == "__main__":
    main()
