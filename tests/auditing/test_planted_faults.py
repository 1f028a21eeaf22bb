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
    ("[int(r[2] >= 0) for r in ranges]", "[int(r[0] >= 0) for r in ranges]"),
    ("not (r[0] < 0 < r[1] or r[2] < 0 < r[3])", "not r[0] < 0 < r[1]"),
    ("return -(-value >> bits)", "return value >> bits"),
    ("max(map(abs, ends)) * self.net.u + Fraction(1, 1 << 80)", "Fraction(1, 1 << 80)"),
    ("strip if tied else", "strip if True else"),
    ("ends = [*sorted(ends[:2]), *sorted(ends[2:])]", "pass"),
    ("[-(-total * over // under) + 1 for", "[-(-total * over // under) * 0 for"),
    ("low - 2 * e, high + 2 * e)", "low - 2 * e, high + e)"),
    ("totals = list(map(max, totals, self.net.second.into[layer - 1].sizes(largest)))", "pass"),
    ("[net.into[layer - 1].ends(*sums[c]) for", "[nets[0].into[layer - 1].ends(*sums[c]) for"),
    ("long, wide = sum(p) + self.shift, sum(q)", "long, wide = p[0] + self.shift, sum(q)"),
    ("long, wide = sum(p) + self.shift, sum(q)", "long, wide = sum(p) + self.shift, q[0]"),
    ("first.shift - second.shift if", "first.shift if"),
    ("(v + w >> 1, v - w >> 1)", "(v, v - w >> 1)"),
    ("sum(map(mul, t2, other.b[layer - 1]))", "sum(map(mul, t2, net.b[layer - 1]))"),
    ("down_to(layer, t2, other)", "down_to(layer, t2, net)"),
    ("self.half + self.almost if upwards else self.half", "self.half"),
    ("fits = self.rows and (most * self.reach < limit", "fits = self.rows and (True"),
    ("and (self.small or not shifted)", ""),
    ("self.shift if shifted else 0", "self.shift"),
    ("v + b * shifted for v, b", "v + b for v, b"),
    ("if self.small and None not in", "if None not in"),
    ("return [p - q >> drop for p, q in pairs]", "return [p + q >> drop for p, q in pairs]"),
    ("self.rounded(total, True) if total is not None", "self.rounded(total, False) if total is not None"),
    ("const += (k - x) * high\n", "const += 0\n"),
    ("elif high > -low:\n                    t[j] = k", "else:\n                    t[j] = k"),
    ("(min(at), max(at)) for some", "(max(at), max(at)) for some"),
    ("enumerate(ranges) if r[2] < 0 < r[3]]", "enumerate(ranges) if r[0] < 0 < r[1]]"),
    ("self.net.second)[copy]", "self.net)[copy]"),
    ("sum(map(mul, map(abs, t), thin.noise))", "sum(map(mul, t, thin.noise))"),
    ("old.noise, old.gates, corners, sides, True)", "old.noise, old.gates, corners, sides)"),
    ("ranges: Any = [inputs, *old.ranges[1:]]", "ranges: Any = [old.ranges[0] or inputs, *old.ranges[1:]]"),
    ("if on or j in mixed]", "if on]"),
    ("if on or j in mixed]", "if j in mixed]"),
    ("kappa = [kappa[j] for j in thin.kept]", "pass"),
    ("(at[j], low, high) for j", "(j, low, high) for j"),
    ("_kept(copy, cell.gates[layer - 1]) if", "_kept(1 - copy, cell.gates[layer - 1]) if"),
    ("self.rows and not self.cells", "False"),
    ('b"".join([row[i] for i in columns]), "little") - raised', 'b"".join([row[i] for i in columns]), "little")'),
    ("[[self.matrix[j][i] for i in columns] for j in rows]", "self.matrix"),
    ("thin = cell.gates[layer].thin.get(copy)", "thin = cell.gates[layer].thin.get(0)"),
    ("zip(row.weights, (self.net, self.net.second), strict=True)", "zip(row.weights, (self.net,) * 2, strict=True)"),
    ("for net, x in zip(nets, self.witness, strict=True)]", "for net, x in zip(nets[:1] * 2, self.witness)]"),
    ("list(map(max, worst, values))", "list(map(min, worst, values))"),
    ('need(mine == other, "a row shares', 'need(True, "a row shares'),
    ("self.second._layers(whole[count:])", "self.second._layers(whole[:count])"),
    ("return not settled(r) if self.two", "return False if self.two"),
    ("(kind == SINGLES and self.two)", "kind == SINGLES"),
    ("r if lemmas == SINGLES else None", "None"),
    ("left = max(-t * low, (k - t) * high, 0) if low < 0 < high else 0\n    return (t", "left = 0\n    return (t"),
    ("(t, 0, left) if a else (0, t, left)", "(t, 0, left) if a else (t, 0, left)"),
    ("if not any(t):", "if not all(t):"),
    ("largest = [max(-a[0], a[1], -a[2], a[3])", "largest = [max(-a[0], a[1])"),
    ("-most(minus[0], none, -b1) - e,", "-most(minus[0], none, -b1),"),
    ("most(plus[0], minus[1], b1 - b2) + 2 * e,", "most(plus[0], minus[1], b1 - b2) + e,"),
    ("-most(minus[0], plus[1], b2 - b1) - 2 * e,", "-most(plus[0], minus[1], b2 - b1) - 2 * e,"),
    ("-most(minus[0], plus[1], b2 - b1) - 2 * e,", "-most(minus[0], plus[1], 0) - 2 * e,"),
    ("most(none, plus[1], b2) + e,", "most(none, plus[0], b2) + e,"),
    ("const += left\n", "const += min(left, 0)\n"),
    ("const += sum([(abs(x) + abs(y)) * e", "const += sum([(x + y) * e"),
    ("const += sum([(abs(x) + abs(y)) * e", "const += sum([abs(x) * e"),
    ("net.back[layer - 1].times(t) if layer > 1 else net.back[0].exactly(t)", "net.back[layer - 1].times(t)"),
    ("max(a * p + b * q for p, q, _, _ in corners)", "min(a * p + b * q for p, q, _, _ in corners)"),
    ("const + noise, self.hidden", "const, self.hidden"),
    ("box[end][i] = (max if sign > 0 else min)(box[end][i], at)", "box[end][i] = at"),
    ("at.numerator // at.denominator + (sign > 0)", "at.numerator // at.denominator + 2 * (sign > 0)"),
    ("max(r[end], 0) if sign > 0 else min(r[end], 0)", "0"),
    ("for sign in (1, -1)]  # ≤ 0 comes first", "for sign in (1, 1)]"),
    ("worst = values if worst is None else list(map(max, worst, values))", "worst = values"),
    ("r = meet(r, out.ranges[layer][j])", "r = out.ranges[layer][j]"),
    ("list(map(mul, first, gates.on[0])), list(map(mul, second, gates.on[1]))", "list(first), list(second)"),
    ("4: (first, -first)", "4: (first, first)"),
    ("first = self.signed() << shift", "first = self.signed()"),
    ("return -(n + 1 >> 1) if n & 1 else n >> 1", "return n >> 1"),
    ("return (max(l1, 0), max(u1, 0), max(l2, 0)", "return (l1, max(u1, 0), max(l2, 0)"),
    ("(l1, u1, 0, 0, l1, u1)", "(l1, u1, 0, 0, u1, u1)"),
    ("(0, 0, l2, u2, -u2, -l2)", "(0, 0, l2, u2, -l2, -l2)"),
    ("a <= v - w <= b for a, v, w, b", "a <= v - w + 1 for a, v, w, b"),
    ("boxed = all(", "boxed = any("),
]


@pytest.fixture(scope="module")
def folders(cases, tmp_path_factory):
    """Folders with the reference's answers; a few have a witness that is not in the premise."""
    root, out = tmp_path_factory.mktemp("planted"), []
    for seed in range(90):
        rng = np.random.default_rng(1000 + seed)
        spread = 1.0 if seed < 70 else 2.0 ** rng.integers(4, 36)
        net = cases.random_net(rng, cases.SIZES[seed % len(cases.SIZES)], spread=float(spread))
        row, x = cases.random_row(rng, net, whole=seed % 5 == 0)
        if seed % 15 == 1:
            x = x + (np.array([[7.0], [0.0]]) if seed % 2 else 70.0)
        folder = cases.write(root / str(seed), net, [(row, x, cases.random_proof(rng, net))])
        out.append((folder, answer(deep, folder)))
    for seed in range(80):
        rng = np.random.default_rng(5000 + seed)
        spread = 1.0 if seed < 60 else 2.0 ** rng.integers(4, 36)  # large: what does not fit into slots
        net, second = cases.random_twins(rng, cases.SIZES[seed % len(cases.SIZES)], spread=float(spread))
        if seed % 20 == 18:  # biases alone do not fit
            net, second = (replace(one, biases=tuple(b * 2.0**30 for b in one.biases)) for one in (net, second))
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
    shifted = DeepNet(([[1.0]], [[1.0]]), ([2.0**30], [-(2.0**30)]))
    return {
        "a bias that does not fit": (shifted, single, [[0.0], [0.0]], b"\0"),
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
