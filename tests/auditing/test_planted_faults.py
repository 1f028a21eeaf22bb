"""Faults planted in the fast checker are noticed: by another answer than the reference's, or by a crash."""

import sys
import types
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.certify import check_deep
from smilenn.certify.reference import deep

SOURCE = Path(check_deep.__file__).read_text(encoding="utf-8")
FAULTS = [
    ("dl, du = max(dl, l1 - u2), min(du, u1 - l2)", "dl, du = max(dl, l1 - l2), min(du, u1 - l2)"),
    ("l1, u1 = max(l1, l2 + dl), min(u1, u2 + du)", "l1, u1 = max(l1, l2 + du), min(u1, u2 + du)"),
    ("l2, u2 = max(l2, l1 - du), min(u2, u1 - dl)", "l2, u2 = max(l2, l1 - dl), min(u2, u1 - dl)"),
    ("{l1, u1, 0} if axes and l1 < 0 < u1", "{l1, u1} if axes and l1 < 0 < u1"),
    ("{(p, a), (p, b), (p, 0)}", "{(p, a), (p, b)}"),
    ("out |= {(a, q), (b, q)}", "out |= {(a, q)}"),
    ("on1, on2 = r[0] >= 0, r[2] >= 0", "on1, on2 = r[0] >= 0, r[0] >= 0"),
    ("return -(-value >> bits)", "return value >> bits"),
    ("max(map(abs, ends)) * self.net.u + Fraction(1, 1 << 80)", "Fraction(1, 1 << 80)"),
    ("strip if tied else", "strip if True else"),
    ("ends = [*sorted(ends[:2]), *sorted(ends[2:])]", "pass"),
    ("// (gamma.denominator << net.E)) + 1\n\n    def apart", "// (gamma.denominator << net.E)) * 0\n\n    def apart"),
    ("low - 2 * eps, high + 2 * eps", "low - 2 * eps, high + eps"),
    ("max(self.error(net, layer, j, largest) for net in nets)", "self.error(nets[0], layer, j, largest)"),
    ("zip(nets, sums, strict=False)", "zip(nets[:1] * 2, sums, strict=False)"),
    ("sum(map(mul, plus, middle)) + sum(map(mul, minus, both[0]))", "sum(map(mul, plus, middle))"),
    ("+ sum(map(mul, map(abs, minus), both[1]))", ""),
    ("net.second.b[layer - 1][j]) << (G + 2)", "net.second.b[layer - 1][j]) << (G + 1)"),
    ("list(map(int.__add__, w, v)), list(map(int.__sub__, w, v))", "[2 * k for k in w], list(map(int.__sub__, w, v))"),
    ("sum(map(mul, t2, other.b[layer - 1]))", "sum(map(mul, t2, net.b[layer - 1]))"),
    ("times(t2, other.columns[layer - 1], shift)", "times(t2, net.columns[layer - 1], shift)"),
    ("zip(row.weights, (self.net, self.net.second), strict=True)", "zip(row.weights, (self.net,) * 2, strict=True)"),
    ("for net, x in zip(nets, self.witness, strict=True)]", "for net, x in zip(nets[:1] * 2, self.witness)]"),
    ("list(map(max, worst, values))", "list(map(min, worst, values))"),
    ('need(mine == other, "a row shares', 'need(True, "a row shares'),
    ("self.second._layers(whole[count:])", "self.second._layers(whole[:count])"),
    ("return isinstance(state(r), list) if self.two", "return False if self.two"),
    ("(kind == SINGLES and self.two)", "kind == SINGLES"),
    ("r if lemmas == SINGLES else None", "None"),
    ("left = max(-t * low, (k - t) * high, 0) if low < 0 < high else 0\n    return (t", "left = 0\n    return (t"),
    ("(t, 0, left) if a else (0, t, left)", "(t, 0, left) if a else (t, 0, left)"),
    ("if any(t) else [0] * len(columns)", "if all(t) else [0] * len(columns)"),
    ("largest = [max(-a[0], a[1], -a[2], a[3])", "largest = [max(-a[0], a[1])"),
    ("-most(minus[0], none, -b1) - e,", "-most(minus[0], none, -b1),"),
    ("most(plus[0], minus[1], b1 - b2) + 2 * e,", "most(plus[0], minus[1], b1 - b2) + e,"),
    ("-most(minus[0], plus[1], b2 - b1) - 2 * e,", "-most(plus[0], minus[1], b2 - b1) - 2 * e,"),
    ("-most(minus[0], plus[1], b2 - b1) - 2 * e,", "-most(minus[0], plus[1], 0) - 2 * e,"),
    ("most(none, plus[1], b2) + e,", "most(none, plus[0], b2) + e,"),
    ("const += left\n", "const += min(left, 0)\n"),
    ("const += sum((abs(x) + abs(y)) * e", "const += sum((x + y) * e"),
    ("const += sum((abs(x) + abs(y)) * e", "const += sum(abs(x) * e"),
    ("net.E if layer > 1 else 0", "net.E"),
    ("max(a * p + b * q for p, q, _, _ in corners)", "min(a * p + b * q for p, q, _, _ in corners)"),
    ("const + noise, self.hidden", "const, self.hidden"),
    ("box[end][i] = (max if sign > 0 else min)(box[end][i], at)", "box[end][i] = at"),
    ("at.numerator // at.denominator + (sign > 0)", "at.numerator // at.denominator + 2 * (sign > 0)"),
    ("max(r[end], 0) if sign > 0 else min(r[end], 0)", "0"),
    ("for sign in (1, -1)]  # ≤ 0 comes first", "for sign in (1, 1)]"),
    ("worst = values if worst is None else list(map(max, worst, values))", "worst = values"),
    ("r = meet(r, out.ranges[layer][j])", "r = out.ranges[layer][j]"),
    ("return a * s[0], b * s[1], 0", "return a, b, 0"),
    ("4: (first, -first)", "4: (first, first)"),
    ("first = self.signed() << shift", "first = self.signed()"),
    ("return -(n + 1 >> 1) if n & 1 else n >> 1", "return n >> 1"),
    ("return (max(r[0], 0), max(r[1], 0), max(r[2], 0)", "return (r[0], max(r[1], 0), max(r[2], 0)"),
    ("a <= v - w <= b for a, v, w, b", "a <= v - w + 1 for a, v, w, b"),
    ("boxed = all(", "boxed = any("),
]


@pytest.fixture(scope="module")
def folders(cases, tmp_path_factory):
    """Folders with the reference's answers; a few have a witness that is not in the premise."""
    root, out = tmp_path_factory.mktemp("planted"), []
    for seed in range(90):
        rng = np.random.default_rng(1000 + seed)
        net = cases.random_net(rng, cases.SIZES[seed % len(cases.SIZES)])
        row, x = cases.random_row(rng, net, whole=seed % 5 == 0)
        if seed % 15 == 1:
            x = x + (np.array([[7.0], [0.0]]) if seed % 2 else 70.0)
        folder = cases.write(root / str(seed), net, [(row, x, cases.random_proof(rng, net))])
        out.append((folder, answer(deep, folder)))
    for seed in range(60):
        rng = np.random.default_rng(5000 + seed)
        net, second = cases.random_twins(rng, cases.SIZES[seed % len(cases.SIZES)])
        entries = cases.shared_rows(rng, net, 1 + seed % 3)
        if seed % 20 == 19:  # a row with another premise cannot share the proof
            row, x, _ = entries[-1]
            entries.append((replace(row, high=tuple(v + 1 for v in row.high)), x, b""))
        folder = cases.write(root / f"twins {seed}", net, entries, second)
        out.append((folder, answer(deep, folder)))
    row, x = cases.random_row(rng, net)  # a node of version 2 in a folder of version 1
    folder = cases.write(root / "singles", net, [(row, x, b"\5\0")])
    out.append((folder, answer(deep, folder)))
    for name, (net, row, x, proof) in directed().items():
        folder = cases.write(root / name, net, [(row, np.array(x), proof)])
        out.append((folder, answer(deep, folder)))
    return out


def directed():
    """Cases that chance seldom makes: a maximum in the origin, witnesses that miss one bound alone."""
    one, two = DeepNet(([[1.0]], [[1.0]]), ([0.0], [0.0])), DeepNet(([[1.0, 1.0]], [[1.0]]), ([0.0], [0.0]))
    unit, minus = Fraction(1), (Fraction(-1),)
    single = Row("", ("x",), ((-unit,),) * 2, ((unit,),) * 2, (-2 * unit,), (2 * unit,), (False,), (minus, minus))
    tight = replace(single, low=(-unit,), high=(unit / 2,))
    names, low = ("x", "y"), (-9 * unit,) * 2
    plane = Row("", names, ((-unit,) * 2,) * 2, ((unit,) * 2,) * 2, low, (9 * unit,) * 2, (False,) * 2, (minus, minus))
    halves = bytes([1, 1, 5, 1, 1])  # slopes −1/2 for both copies
    return {
        "origin": (one, single, [[0.0], [0.0]], halves),
        "beyond the box": (two, plane, [[2.0, 0.0], [0.0, 0.0]], b"\0"),
        "beyond the strip": (one, tight, [[1.0], [0.0]], b"\0"),
        "below the strip": (one, tight, [[-1.0], [0.5]], b"\0"),
    }


def answer(checker, folder):
    report = checker.check_folder(folder)
    return report.status, [(row.found, row.real, row.computed, row.leaves) for row in report.rows]


def test_the_checker_without_faults_agrees(folders):
    assert all(answer(check_deep, folder) == said for folder, said in folders)


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_a_planted_fault_is_noticed(folders, number):
    good, bad = FAULTS[number]
    assert SOURCE.count(good) >= 1, good
    module = types.ModuleType(f"faulty_{number}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(SOURCE.replace(good, bad), "faulty", "exec"), module.__dict__)
        for folder, said in folders:
            try:
                if answer(module, folder) != said:
                    return
            except Exception:
                return
    finally:
        del sys.modules[module.__name__]
    pytest.fail(f"nobody noticed {bad!r} in place of {good!r}")
