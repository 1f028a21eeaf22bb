"""Faults planted in the reference checker are noticed: by another answer than the fast one's, or by a crash."""

import importlib
import shutil
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.certify import check_deep
from smilenn.certify.reference import deep

HOME = Path(deep.__file__).parent
PACKAGE = "smilenn.certify.reference"
FAULTS = [
    (
        "deep_sums",
        "sum(map(mul, self.tops, other.tops)), self.under * other.under",
        "sum(map(mul, self.tops, other.tops)), self.under",
    ),
    ("deep_sums", "return Over(tuple(map(abs, self.tops)), self.under)", "return self"),
    ("deep_sums", "low = sum(k * (a if k > 0 else b)", "low = sum(k * (b if k > 0 else a)"),
    ("deep_sums", "high = sum(k * (b if k > 0 else a)", "high = sum(k * b"),
    ("deep_sums", "v.numerator * (under // v.denominator) for v in some", "v.numerator for v in some"),
    (
        "deep_octagon",
        "low, high = max(low, lo1 - hi2), min(high, hi1 - lo2)",
        "low, high = max(low, lo1 - lo2), min(high, hi1 - lo2)",
    ),
    (
        "deep_octagon",
        "lo2, hi2 = max(lo2, lo1 - high), min(hi2, hi1 - low)",
        "lo2, hi2 = max(lo2, lo1 - low), min(hi2, hi1 - low)",
    ),
    ("deep_octagon", "zero = [(1, 0, 0), (0, 1, 0)] if axes else []", "zero = []"),
    ("deep_octagon", "zero = [(1, 0, 0), (0, 1, 0)] if axes else []", "zero = [(1, 0, 0)] if axes else []"),
    ("deep_octagon", "and low <= p - q <= high:", "and low <= p - q:"),
    ("deep_octagon", "max(a * p1 + b * p2 for", "min(a * p1 + b * p2 for"),
    ("deep_octagon", "return max(k1 * a + k2 * b - t1 * p - t2 * q for", "return max(k1 * a + k2 * b - t1 * p for"),
    (
        "deep_octagon",
        "Fraction(min(moved), unit), Fraction(max(moved), unit)",
        "Fraction(min(moved), unit), Fraction(min(moved), unit)",
    ),
    ("deep_octagon", "Fraction(math.ceil(x * grid), grid)", "Fraction(math.floor(x * grid), grid)"),
    ("deep_octagon", "Fraction(math.floor(x * grid), grid)", "Fraction(math.ceil(x * grid), grid)"),
    ("deep_layers", "else [after_relu(r) for r in below]", "else list(below)"),
    ("deep_layers", "[(r.lo1 + r.lo2, r.hi1 + r.hi2) for r in a]", "[(r.lo1 + r.lo2, r.hi1 + r.lo2) for r in a]"),
    ("deep_layers", "[(p + q) / 2 for p, q in", "[p for p, q in"),
    ("deep_layers", "[(p - q) / 2 for p, q in", "[(p - q) for p, q in"),
    (
        "deep_layers",
        "outward(differences.ends(apart), b1 - b2, 2 * eps)",
        "outward(differences.ends(apart), b1 - b2, eps)",
    ),
    (
        "deep_layers",
        "outward(copies[1].ends(self.rows[1][j]), b2, eps)",
        "outward(copies[1].ends(self.rows[0][j]), b2, eps)",
    ),
    ("deep_layers", "down(ends[0] + shift) - eps", "down(ends[0] + shift)"),
    ("deep_layers", "if self.one else (0, 1))", "if True else (0, 1))"),
    ("deep_layers", "(self.inputs + 5) * self.roundoff", "self.inputs * self.roundoff"),
    ("deep_layers", "+ Fraction(1, GRID)", ""),
    ("deep_slopes", "k * hi // (hi - lo)", "k * hi // -lo"),
    ("deep_slopes", "return k if hi > -lo else 0", "return k"),
    ("deep_slopes", "alone(k1 + k2, lo1, hi1) - e, e", "alone(k1 + k2, lo1, hi1), e"),
    ("deep_slopes", "(f, alone(k1 + k2, lo2, hi2) - f)", "(f, alone(k1 + k2, lo1, hi1) - f)"),
    ("deep_slopes", "moved(on, k2, -high, -low)", "moved(on, k2, low, high)"),
    ("deep_slopes", "4 * over + t[0] * m1 + t[1] * m2, over", "over + t[0] * m1 + t[1] * m2, over"),
    ("deep_slopes", "k * (hi if rising else -lo) // (hi - lo)", "k * hi // (hi - lo)"),
    (
        "deep_slopes",
        "((slope, ZERO) if first else (ZERO, slope)), over",
        "((slope, ZERO) if first else (ZERO, slope)), ZERO",
    ),
    ("deep_back", "const += left + (abs(t[0]) + abs(t[1])) * eps if eps else left", "const += left"),
    ("deep_back", "(abs(t[0]) + abs(t[1])) * eps", "(t[0] + t[1]) * eps"),
    ("deep_back", "return given, rest(r, k, given)", "return given, ZERO"),
    ("deep_back", "if layer == 1 else (tuple(map(up, below[0]))", "if layer == 0 else (tuple(map(up, below[0]))"),
    ("deep_back", "zip(slopes, parts.shifts, strict=True)", "zip(slopes, parts.shifts[:1] * 2, strict=True)"),
    ("deep_back", "zip(slopes, parts.columns, strict=True)", "zip(slopes, parts.columns[:1] * 2, strict=True)"),
    ("deep_walk", "r = r.within(before)", "r = before"),
    ("deep_walk", "max(end, ZERO) if sign > 0 else min(end, ZERO)", "ZERO"),
    ("deep_walk", "math.floor(at) + (1 if sign > 0 else 0)", "math.floor(at)"),
    ("deep_walk", "wide = eps * sum(map(abs, signs))", "wide = eps"),
    ("deep_walk", "strip if equal else", "strip if True else"),
    ("deep_walk", "[max(column) for column in", "[min(column) for column in"),
    ("deep_walk", "up(const, FINE) + noise", "up(const, FINE)"),
    ("deep_point", "[max(v, ZERO) for v in s]", "list(s)"),
    ("deep_point", "not row.low[i] <= a[i] - b[i] <= row.high[i]", "not row.low[i] <= a[i] - b[i]"),
]


@pytest.fixture(scope="module")
def folders(cases, tmp_path_factory):
    """Random folders, a few with witnesses outside the premise, and what the fast checker says of them."""
    root, out = tmp_path_factory.mktemp("planted"), []
    for seed in range(90):
        rng = np.random.default_rng(1000 + seed)
        net = cases.random_net(rng, cases.SIZES[seed % len(cases.SIZES)])
        row, x = cases.random_row(rng, net, whole=seed % 5 == 0)
        if seed % 15 == 1:
            x = x + np.array([[7.0], [0.0]])
        folder = cases.write(root / str(seed), net, [(row, x, cases.random_proof(rng, net))])
        out.append((folder, answer(check_deep, folder)))
    for seed in range(80):
        rng = np.random.default_rng(5000 + seed)
        net, second = cases.random_twins(rng, cases.SIZES[seed % len(cases.SIZES)])
        folder = cases.write(root / f"twins {seed}", net, cases.shared_rows(rng, net, 1 + seed % 2), second)
        out.append((folder, answer(check_deep, folder)))
    one, wide, minus = DeepNet(([[1.0]], [[1.0]]), ([0.0], [0.0])), (Fraction(1),), (Fraction(-1),)
    strip = Row("", ("x",), (minus, minus), (wide, wide), minus, (Fraction(1, 2),), (False,), (wide, minus))
    folder = cases.write(root / "beyond the strip", one, [(strip, np.array([[1.0], [0.0]]), b"\0")])
    return [*out, (folder, answer(check_deep, folder))]


def answer(checker, folder):
    report = checker.check_folder(folder)
    return report.status, [(row.found, row.real, row.computed, row.leaves) for row in report.rows]


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """The reference checker as a package of another name, one of its files altered."""

    def build(name, good, bad):
        home, package = tmp_path / "faulty", "faulty"
        shutil.copytree(HOME, home, ignore=shutil.ignore_patterns("__pycache__"))
        for file in home.glob("*.py"):
            text = file.read_text(encoding="utf-8")
            if file.stem == name:
                assert good in text, good
                text = text.replace(good, bad)
            file.write_text(text.replace(PACKAGE, package), encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        importlib.invalidate_caches()
        for module in [m for m in sys.modules if m.split(".")[0] == package]:
            del sys.modules[module]
        return importlib.import_module(f"{package}.deep")

    yield build
    for module in [m for m in sys.modules if m.split(".")[0] == "faulty"]:
        del sys.modules[module]


def test_the_copy_without_faults_agrees(folders, planted):
    checker = planted("deep", "standard library only", "standard library only")
    assert checker is not deep and all(answer(checker, folder) == said for folder, said in folders)


def random_units(count):
    """Closed octagons that are not settled, with coefficients, in multiples of 2^-40."""
    rng, out = np.random.default_rng(0), []
    while len(out) < count:
        l1, l2, dl = (int(v) << 30 for v in rng.integers(-2000, 500, 3))
        u1, u2, du = (low + (int(v) << 30) for low, v in zip((l1, l2, dl), rng.integers(0, 3000, 3), strict=True))
        r = check_deep.closed((l1, u1, l2, u2, dl, du))
        if r is not None and not check_deep.settled(r) and (points := check_deep.points(r, True)):
            a, b = (int(v) << 28 for v in rng.integers(-3000, 3000, 2))
            out.append((r, a, b, points))
    return out


def own_slopes(package, r, a, b):
    """The reference's own slopes of a unit and what they leave, as the fast checker writes them."""
    grid = 1 << 40
    octagon = package["deep_octagon"].Octagon(*(Fraction(v, grid) for v in r))
    (t1, t2), left = package["deep_slopes"].own(octagon, (Fraction(a, grid), Fraction(b, grid)))
    return t1 * grid, t2 * grid, left * grid * grid


def slopes_agree(name):
    package = {part: importlib.import_module(f"{name}.{part}") for part in ("deep_octagon", "deep_slopes")}
    return all(own_slopes(package, r, a, b) == check_deep.own(a, b, s, r) for r, a, b, s in random_units(300))


def test_own_slopes_are_those_of_the_fast_checker():
    assert slopes_agree(PACKAGE)


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_a_planted_fault_is_noticed(folders, planted, number):
    checker = planted(*FAULTS[number])
    if FAULTS[number][0] == "deep_slopes" and not slopes_agree("faulty"):
        return
    for folder, said in folders:
        try:
            if answer(checker, folder) != said:
                return
        except Exception:
            return
    pytest.fail(f"nobody noticed {FAULTS[number][2]!r} in {FAULTS[number][0]}")
