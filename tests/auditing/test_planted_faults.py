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
    ("// (gamma.denominator << e)) + 1", "// (gamma.denominator << e)) * 0"),
    ("(0, 2 * eps) if k == 2", "(0, eps) if k == 2"),
    ("largest = [max(-a[0], a[1], -a[2], a[3])", "largest = [max(-a[0], a[1])"),
    ("-most(minus, none, other) - e,", "-most(minus, none, other),"),
    ("most(plus, minus, 0) + 2 * e,", "most(plus, minus, 0) + e,"),
    ("-most(minus, plus, 0) - 2 * e,", "-most(plus, minus, 0) - 2 * e,"),
    ("const += left\n", "const += min(left, 0)\n"),
    ("const += sum((abs(x) + abs(y)) * e", "const += sum((x + y) * e"),
    ("const += sum((abs(x) + abs(y)) * e", "const += sum(abs(x) * e"),
    ("net.E if layer > 1 else 0", "net.E"),
    ("max(a * p + b * q for p, q, _, _ in corners)", "min(a * p + b * q for p, q, _, _ in corners)"),
    ("self.const + noise", "self.const"),
    ("box[end][i] = (max if sign > 0 else min)(box[end][i], at)", "box[end][i] = at"),
    ("at.numerator // at.denominator + (sign > 0)", "at.numerator // at.denominator + 2 * (sign > 0)"),
    ("max(r[end], 0) if sign > 0 else min(r[end], 0)", "0"),
    ("for sign in (1, -1)]  # ≤ 0 comes first", "for sign in (1, 1)]"),
    ("worst = value if worst is None else max(worst, value)", "worst = value"),
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
