"""Random tiny networks, rows and proofs, and what their left sides really reach: exact, by vertices or points."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from smilenn.auditing.emit import number, signed
from smilenn.auditing.folder import ProvedRow, write_folder
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row

SIZES = ((1, 3, 1), (1, 2, 2, 1), (1, 3, 2, 2), (2, 3, 1), (2, 2, 2, 1), (2, 3, 2, 2, 1), (3, 4, 2))


def random_net(rng, sizes, *, scaled=None, spread=1.0):
    """Weights of float32 or float64, some of them zero; sometimes a scaling."""
    dtype = str(rng.choice(["float32", "float64"]))
    kind = np.dtype(dtype)

    def draw(*shape):
        values = rng.normal(size=shape) * spread
        return np.where(rng.random(shape) < 0.15, 0.0, values).astype(kind)

    weights = tuple(draw(b, a) for a, b in pairwise(sizes))
    biases = tuple(draw(b) for b in sizes[1:])
    scaling = ()
    if rng.random() < 0.4 if scaled is None else scaled:
        m = sizes[0]
        factor = (rng.choice([-1, 1], m) * rng.uniform(0.3, 3.0, m)).astype(kind)
        scaling = (("sub", draw(m)), (str(rng.choice(["mul", "div"])), factor))
    return DeepNet(weights, biases, dtype, scaling, "random")


def random_row(rng, net, *, whole=False, rhs=None):
    """A premise around a pair of inputs: pinned, fixed, in a strip or free; the pair is given back too."""
    m = net.sizes[0]
    x = rng.uniform(-3, 3, (2, m))
    x = np.rint(x) if whole else np.rint(x * 4096) / 4096  # differences are exact
    lo, hi, low, high = np.empty((2, m)), np.empty((2, m)), np.empty(m), np.empty(m)
    for i in range(m):
        way = rng.integers(4)
        if way == 0:
            x[1, i] = x[0, i]
        wide = np.ceil(rng.uniform(0, 3, 4)) if whole else np.round(rng.uniform(0, 3, 4) * 64) / 64
        wide = wide * (way != 1)
        low_, high_ = x[:, i].min() - wide[0], x[:, i].max() + wide[1]
        if way == 1:
            lo[:, i] = hi[:, i] = x[:, i]
        else:
            lo[:, i], hi[:, i] = low_, high_
        gap = x[0, i] - x[1, i]
        low[i], high[i] = {0: (0.0, 0.0), 1: (gap, gap), 2: (gap - wide[2], gap + wide[3])}.get(int(way), (-99.0, 99.0))
    weights = rng.integers(-2, 3, (2, net.sizes[-1]))
    weights = weights if weights.any() else weights + 1

    def exact(values):
        return tuple(Fraction(float(v)) for v in values)

    pairs = [tuple(map(exact, part)) for part in (lo, hi, weights)]
    names = tuple(f"x{i}" for i in range(m))
    row = Row("random", names, pairs[0], pairs[1], exact(low), exact(high), (whole,) * m, pairs[2], rhs)
    return row, x


def random_proof(rng, net, depth=3, kinds=(4,)):
    """The bytes of a proof with random splits and slopes: sound whatever they are; `kinds` of lemmas."""
    kind = rng.choice(["own", "stored", "phase", "input", "lemmas"]) if depth else rng.choice(["own", "stored"])
    if kind == "own":
        return bytes([0])
    if kind == "stored":
        return bytes([1]) + random_slopes(rng, net)
    if kind == "lemmas":
        return bytes([int(rng.choice(kinds))]) + random_proof(rng, net, depth - 1, kinds)
    children = random_proof(rng, net, depth - 1, kinds) + random_proof(rng, net, depth - 1, kinds)
    if kind == "phase":
        layer = int(rng.integers(len(net.sizes) - 2))
        unit = int(rng.integers(net.sizes[layer + 1]))
        return bytes([2]) + number(layer) + number(unit) + number(int(rng.integers(2))) + children
    place = number(int(rng.integers(net.sizes[0]))) + number(int(rng.integers(2)))
    return bytes([3]) + place + signed(int(rng.integers(-200, 200))) + number(6) + children


def random_slopes(rng, net):
    digits = int(rng.integers(0, 12))
    out = bytearray(number(digits))
    for n in net.sizes[-2:0:-1]:
        codes = rng.integers(0, 6, n).tolist()
        padded = codes + [0] * (n % 2)
        out += bytes(a | b << 4 for a, b in zip(padded[::2], padded[1::2], strict=True))
        for code in codes:
            for _ in range({0: 0, 1: 0, 5: 2}.get(code, 1)):
                out += signed(round(float(rng.normal()) * 2**digits))
    return bytes(out)


def random_twins(rng, sizes, *, spread=1.0, noise=None):
    """Two networks of the same sizes, type and scaling, close to each other or not."""
    first = random_net(rng, sizes, spread=spread)
    noise = float(rng.choice([0.01, 0.3, 2.0])) if noise is None else noise
    kind = np.dtype(first.dtype)

    def moved(arrays):
        return tuple((a + noise * spread * rng.normal(size=a.shape)).astype(kind) for a in arrays)

    second = DeepNet(moved(first.weights), moved(first.biases), first.dtype, first.scaling, "random twin")
    return first, second


def shared_rows(rng, net, count):
    """Rows (row, witness, proof) of one premise, all but the first without a proof of their own."""
    row, x = random_row(rng, net, whole=bool(rng.random() < 0.2))
    out = [(row, x, random_proof(rng, net, kinds=(4, 5)))]
    for _ in range(count - 1):
        weights = tuple(tuple(Fraction(int(v)) for v in copy) for copy in rng.integers(-2, 3, (2, net.sizes[-1])))
        out.append((replace(row, weights=weights), x, b""))
    return out


def write(folder, net, rows, second=None):
    """A folder with these (row, witness, proof); `second` reads the second copy."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"y{i}" for i in range(net.sizes[-1])]
    write_folder(folder, net, names, [ProvedRow(*entry) for entry in rows], second)
    return folder


# ---- what is really reached ----


def kinks(net, lo, hi):
    """Where a network of one input bends between lo and hi, and both ends; exact."""
    xs = [lo, hi] if lo < hi else [lo]
    for depth in range(1, len(net.weights)):
        for a, b in pairwise(sorted(xs)):
            first, second = pre_activations(net, a, depth), pre_activations(net, b, depth)
            for s, t in zip(first, second, strict=True):
                if s * t < 0:
                    xs.append(a + (b - a) * s / (s - t))
    return sorted(set(xs))


def pre_activations(net, x, depth):
    cut = DeepNet(net.weights[:depth], net.biases[:depth], net.dtype, net.scaling)
    return cut.exactly([x])


def largest(net, row, second=None):
    """The largest left side of a row over one input: exact, at the vertices of the arrangement of kinks."""
    nets = (net, net if second is None else second)
    (a,), (b,) = row.low, row.high
    if row.whole[0]:
        ranges = (range(int(row.lo[c][0]), int(row.hi[c][0]) + 1) for c in range(2))
        points = [(Fraction(p), Fraction(q)) for p, q in product(*ranges)]
    else:
        bends = [kinks(nets[c], row.lo[c][0], row.hi[c][0]) for c in range(2)]
        points = list(product(*bends))
        points += [(p, p - d) for p in bends[0] for d in (a, b)] + [(q + d, q) for q in bends[1] for d in (a, b)]
    values = [value(net, row, ((p,), (q,)), second) for p, q in points if row.holds_at(((p,), (q,)))]
    return max(values)


def value(net, row, x, second=None):
    return row.left([net.exactly(x[0]), (net if second is None else second).exactly(x[1])])


def some_points(rng, row, around, count=40):
    """Pairs of the premise in exact numbers: the given one, corners of boxes, points in between."""
    out = [tuple(tuple(Fraction(float(v)) for v in copy) for copy in around)]
    for _ in range(count):
        first, second = [], []
        for i in range(len(row.low)):
            p = between(rng, row.lo[0][i], row.hi[0][i])
            low, high = max(row.lo[1][i], p - row.high[i]), min(row.hi[1][i], p - row.low[i])
            first.append(p)
            second.append(between(rng, low, high) if low <= high else p)
        if row.holds_at((first, second)):
            out.append((tuple(first), tuple(second)))
    return out


def between(rng, lo, hi):
    share = Fraction(int(rng.choice([0, 0, 64, 64, rng.integers(65)])), 64)
    return lo + (hi - lo) * share


def computed(net, x, order):
    """The outputs in the network's type, sums in the order of `order` (a generator of permutations), bias anywhere."""
    kind = np.dtype(net.dtype).type
    a = np.array([kind(v) for v in x])
    for step, k in net.scaling:
        a = {"sub": np.subtract, "mul": np.multiply, "div": np.divide}[step](a, k.astype(kind))
    for layer, (w, b) in enumerate(zip(net.weights, net.biases, strict=True)):
        s = []
        for row, shift in zip(w.astype(kind), b.astype(kind), strict=True):
            terms = [*(row * a), shift]
            total = kind(0)
            for place in order(len(terms)):
                total = kind(total + terms[place])
            s.append(total)
        a = np.array(s) if layer == len(net.weights) - 1 else np.maximum(np.array(s), kind(0))
    return [Fraction(float(v)) for v in a]
