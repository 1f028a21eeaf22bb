"""Questions of the kill suite about the Euclidean norm: small contractions, balls and the ball rule, where numbers tie.

Weights are small halves, gains lie on the limit of the test, just below it or just above it, so that a wrong relation
or sign changes a status or a bound. Contractions stand below and above ramps, kinks, linear and distance layers, beside
columns that pass, in one or two branches; some claims have strips, bounds or pins beside the ball, some other numbers
of copies. Folders exist in memory only, and both checkers are asked the same. `Balled.value` is the network, written
out in Python's floats: `test_balls.py` compares what the checkers say with its values at many pairs.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from fractions import Fraction as F
from types import SimpleNamespace
from typing import Any

from trust import drawn, forge2, kill_small

COUNT, PARTS = 600, 6
WEIGHTS = (-1.0, -0.5, -0.25, 0.0, 0.0, 0.25, 0.5, 0.5, 1.0)
BALANCES = (0.5, 1.0, 1.0, 1.0, 2.0, 3.0)
DELTAS = ("1/2", "1/3", "1", "3/10", "5/4")
Layer = dict[str, Any]


def gram(weight: list[list[float]]) -> list[list[F]]:
    """WᵀW of W [i][j]."""
    columns = [list(map(F, column)) for column in zip(*weight, strict=True)]
    return [[sum((a * b for a, b in zip(one, other, strict=True)), F(0)) for other in columns] for one in columns]


def largest_gain(weight: list[list[float]], balance: list[float]) -> list[F | None]:
    """2·q_j/Σ_l |(WᵀW)_jl|·q_l for every unit; None where every gain passes."""
    out: list[F | None] = []
    for j, line in enumerate(gram(weight)):
        total = sum((abs(v) * F(q) for v, q in zip(line, balance, strict=True)), F(0))
        out.append(2 * F(balance[j]) / total if total else None)
    return out


def below(value: F) -> float:
    """The largest float that is not above."""
    out = float(value)
    return out if F(out) <= value else math.nextafter(out, -math.inf)


class Balled:
    """One folder: `files` are those that a manifest lists."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(f"balls {seed}")
        self.features = self._features()
        self.m = sum(len(f.get("categories", [0])) for f in self.features)
        self.k = rng.choice((2,) * 12 + (1, 3))
        self.sound = True  # whether every contraction is one
        self.branches = [self._branch(at) for at in range(rng.choice((0, 1, 1, 1, 1, 2)))]
        self.passing = [] if self.branches and rng.random() < 0.7 else list(range(self.m))
        self.width = len(self.passing) + sum(branch["outputs"] for branch in self.branches)
        self.slope = [[rng.choice((1.0, -1.0, 0.5, 0.0, 0.3)) for _ in range(self.width)] for _ in range(2)]
        self.gap = [rng.choice((0.0, 0.0, 0.0, 0.25)) for _ in range(2)]
        self.hidden = rng.random() < 0.04
        self.boxes = "paper" if rng.random() < 0.03 else "gap"
        reach = rng.choice((100.0, 100.0, 1.0))
        self.box = [-reach] * self.width, [reach] * self.width
        self.profile = rng.choice(("f64-aux", "fixed-order"))
        self.claim = self._claim()
        proofs = self._proofs()
        net, tensors = self._net()
        binary = b"".join(b"\0" + bytes(4 * self.extra) for proof in proofs if proof["rule"] == "leaf")
        at = 0
        for proof in proofs:
            if proof["rule"] == "leaf":
                proof |= {"bits": 0, "units": [], "start": at, "length": 1 + 4 * self.extra}
                at += 1 + 4 * self.extra
        self.files = kill_small.assembled(net, tensors, self.claim, self._witness(), binary, proofs)

    def _features(self) -> list[dict[str, Any]]:
        rng, out = self.rng, []
        for name in "abc"[: rng.randint(1, 3)]:
            scaled = {"shift": 0.5, "mult": rng.choice((2.0, 0.7, 1.0))} if rng.random() < 0.4 else {}
            out.append({"name": name, "kind": "continuous", "lo": -2.0, "hi": 2.0} | scaled)
        if rng.random() < 0.2:
            out.append({"name": "n", "kind": "integer", "lo": -2.0, "hi": 2.0})
        if rng.random() < 0.2:
            out.append({"name": "g", "kind": "category", "lo": 0.0, "hi": 1.0, "categories": list("uvw")})
        return out

    # ---- layers ------------------------------------------------------------------------------------------------------

    def _branch(self, at: int) -> dict[str, Any]:
        rng = self.rng
        columns = rng.sample(range(self.m), rng.randint(1, self.m))
        layers: list[Layer] = []
        width = len(columns)
        for kind in rng.choice(
            (
                ("contract",),
                ("contract",),
                ("contract", "contract"),
                ("ramps", "contract"),
                ("contract", "kinks"),
                ("contract", "distance"),
                ("linear", "contract"),
                ("contract", "linear"),
                ("distance", "contract"),
                ("ramps",),
                ("kinks", "contract"),
                ("contract", "ramps", "contract"),
                ("ramps", "ramps"),
            )
        ):
            layers.append(getattr(self, "_" + kind)(width))
            width = layers[-1]["width"]
        return {"name": f"e{at}", "columns": columns, "layers": layers, "outputs": width}

    def _contract(self, width: int) -> Layer:
        rng = self.rng
        units = rng.randint(1, 3)
        weight = [[rng.choice(WEIGHTS) for _ in range(units)] for _ in range(width)]
        balance = [rng.choice(BALANCES) for _ in range(units)]
        gain = []
        for most in largest_gain(weight, balance):
            share = rng.choice((1, 1, 1, 1, F(1, 2), 0))
            value = 1.0 if most is None else below(most * share)
            if rng.random() < 0.04 and most is not None:
                value = math.nextafter(below(most), math.inf)  # one float too large
                self.sound = self.sound and F(value) <= most
            gain.append(value)
        bias = [rng.choice((0.0, 0.5, -0.5, 0.1)) for _ in range(units)]
        return {"kind": "contract", "weight": weight, "bias": bias, "gain": gain, "balance": balance, "width": width}

    def _linear(self, width: int) -> Layer:
        rng = self.rng
        rows = [[rng.choice(WEIGHTS) for _ in range(width)] for _ in range(rng.randint(1, 3))]
        return {"kind": "linear", "weight": rows, "bias": [rng.choice((0.0, 0.1)) for _ in rows], "width": len(rows)}

    def _distance(self, width: int) -> Layer:
        return self._linear(width) | {"kind": "distance"}

    def _kinks(self, width: int) -> Layer:
        return {"kind": "kinks", "convex": self.rng.randint(0, width), "width": width}

    def _ramps(self, width: int) -> Layer:
        rng = self.rng
        source = rng.sample(range(width), rng.randint(1, width))
        source += [source[0]] if rng.random() < 0.3 else []  # a place read twice
        rate = [rng.choice((0.25, 0.5, 1.0, 2.0)) for _ in source]
        return {"kind": "ramps", "source": source, "start": [-1.0] * len(source), "rate": rate, "width": len(source)}

    # ---- files -------------------------------------------------------------------------------------------------------

    def _net(self) -> tuple[dict[str, Any], kill_small.Tensors]:
        p, tensors, encoder = self.width, {}, []
        for b, branch in enumerate(self.branches):
            width, described = len(branch["columns"]), []
            for at, layer in enumerate(branch["layers"]):
                described.append(_described(layer, width))
                for name, (shape, values) in _tensors(layer).items():
                    tensors[f"encoder.branches.{b}.layers.{at}.{name}"] = shape, values
                width = layer["width"]
            encoder.append({"name": branch["name"], "columns": branch["columns"], "layers": described})
        if self.branches:
            encoder += [{"name": "", "columns": self.passing, "layers": []}] if self.passing else []
            tensors |= {"encoder.lo": ([p], self.box[0]), "encoder.hi": ([p], self.box[1])}
        tensors |= {
            "lower.const": ([2], [0.0, 0.5]),
            "lower.slope": ([2, p], [v for row in self.slope for v in row]),
            "second.const": ([2], self.gap),
            "head_weight": ([1, 2], [1.0, 0.5]),
            "head_bias": ([1], [0.25]),
        }
        if self.hidden:
            for part in ("lower", "second"):
                tensors |= {f"{part}.weight": ([1, p], [1.0] * p), f"{part}.bias": ([1], [0.0])}
                tensors[f"{part}.out"] = [2, 1], [1.0, 0.0]
        if self.boxes == "paper":
            tensors["second.slope"] = [2, p], [0.0] * (2 * p)
        elif not self.branches and not self.hidden:
            tensors |= {f"second.{end}": ([2, p], [0.0] * (2 * p)) for end in ("rise", "fall")}
        kind = {"boxes": self.boxes, "embedding": 2, "profile": self.profile}
        kind |= {"auxiliaries": "relu", "hidden": 1} if self.hidden else {}
        return drawn.network(self.features, encoder, **kind), tensors

    def _claim(self) -> dict[str, Any]:
        rng, when, self.extra = self.rng, [], 0
        numbers = [f["name"] for f in self.features if f["kind"] == "continuous"]
        inside = rng.sample(numbers, rng.randint(1, len(numbers)))
        self.ball = {name: rng.choice(DELTAS) for name in inside} if self.k == 2 else {}
        if len(self.ball) > 1 and rng.random() < 0.5:
            self.ball = dict.fromkeys(self.ball, "1/2")
        others, equal, free = rng.choice(("equal", "equal", "equal", "free")), [], []
        if self.k == 2 and rng.random() < 0.2:  # a strip beside the ball, or of one of its coordinates
            name = rng.choice(numbers)
            when.append({"terms": [["1", 0, "in", name], ["-1", 1, "in", name]], "op": "<=", "rhs": "1/4"})
        if rng.random() < 0.1:
            when.append({"terms": [["1", 0, "in", numbers[0]]], "op": "<=", "rhs": "1"})
        if self.k == 2 and rng.random() < 0.15:
            equal = [rng.choice(inside)]
        if rng.random() < 0.15:
            free = [rng.choice([f["name"] for f in self.features if f["name"] not in equal] or [])] if not equal else []
        pieces = {1: [["1", 0]], 2: [["1", 0], ["-1", 1]], 3: [["1", 0], ["1", 1], ["-2", 2]]}[self.k]
        if self.k == 2 and rng.random() < 0.04:
            pieces[1][0] = "-1/2"  # no difference
        terms = [[a, c, "out", "y"] for a, c in pieces]
        then = [{"terms": terms, "op": "<=", "rhs": rng.choice(("0", "1/2", "1", "2", "4"))}]
        if rng.random() < 0.5:
            negative = [[str(-F(a)), c, kind, y] for a, c, kind, y in terms]
            then.append({"terms": negative, "op": "<=", "rhs": then[0]["rhs"] if rng.random() < 0.7 else "3"})
        claim = {"copies": self.k, "when": when, "then": then, "others": others, "equal": equal, "free": free}
        ball = [[name, delta] for name, delta in self.ball.items()]
        return claim | {"sentence": ""} | ({"ball": ball} if ball else {})

    def _proofs(self) -> list[dict[str, Any]]:
        rng = self.rng
        plain = rng.random() < 0.15 or ((self.hidden or self.k != 2) and rng.random() > 0.3)
        proofs = [{"rule": "leaf" if plain else "ball"}]
        if len(self.claim["then"]) > 1:
            proofs.append({"rule": "mirror", "of": 0} if rng.random() < 0.5 else {"rule": "ball"})
        return proofs

    def _witness(self) -> list[list[float]]:
        out = drawn.corner(self.features, self.k)
        if self.ball and self.rng.random() < 0.3:  # on the edge of the ball, or one float beyond it
            name = next(iter(self.ball))
            at, step = [f["name"] for f in self.features].index(name), F(self.ball[name])
            moved = any(name in self.claim["equal"] or row["terms"][0][3] == name for row in self.claim["when"])
            if name not in self.claim["equal"] and not moved:
                edge = below(F(out[0][at]) + step)
                out[0][at] = edge if self.rng.random() < 0.8 else math.nextafter(edge, math.inf)
        return out

    # ---- the network itself ------------------------------------------------------------------------------------------

    def value(self, x: list[float]) -> float:
        """What the network returns at x, operation by operation, with its box at the lower end."""
        u = drawn.scaled(self.features, x)
        e = []
        for branch in self.branches:
            y = [u[column] for column in branch["columns"]]
            for layer in branch["layers"]:
                y = _apply(layer, y)
            e += y
        at = len(e)
        e = [min(max(v, lo), hi) for v, lo, hi in zip(e, self.box[0], self.box[1], strict=False)]
        e += [u[column] for column in self.passing]
        assert len(e) == self.width >= at
        z = [drawn.ordered_sum(const, row, e) for const, row in zip((0.0, 0.5), self.slope, strict=True)]
        return drawn.ordered_sum(0.25, [1.0, 0.5], z)


def _described(layer: Layer, width: int) -> dict[str, Any]:
    kind = layer["kind"]
    more = {
        "contract": {"inputs": width, "units": len(layer.get("bias", ()))},
        "linear": {"inputs": width, "outputs": layer["width"], "base": 0},
        "distance": {"inputs": width, "outputs": layer["width"]},
        "kinks": {"size": width, "convex": layer.get("convex", 0)},
        "ramps": {"source": layer.get("source", [])},
    }
    return {"kind": kind} | more[kind]


def _tensors(layer: Layer) -> kill_small.Tensors:
    out: kill_small.Tensors = {}
    for name in ("weight", "bias", "gain", "balance", "start", "rate"):
        if name in layer:
            values = layer[name]
            deep = isinstance(values[0], list)
            flat = [v for row in values for v in row] if deep else values
            out[name] = ([len(values), len(values[0])] if deep else [len(values)]), flat
    return out


def _apply(layer: Layer, y: list[float]) -> list[float]:
    kind = layer["kind"]
    if kind == "contract":
        columns = list(zip(*layer["weight"], strict=True))
        z = [drawn.ordered_sum(b, column, y) for b, column in zip(layer["bias"], columns, strict=True)]
        c = [max(v, 0.0) * g for v, g in zip(z, layer["gain"], strict=True)]
        return [drawn.ordered_sum(v, [-w for w in row], c) for v, row in zip(y, layer["weight"], strict=True)]
    if kind == "linear":
        return [drawn.ordered_sum(b, row, y) for b, row in zip(layer["bias"], layer["weight"], strict=True)]
    if kind == "distance":
        lines = zip(layer["bias"], layer["weight"], strict=True)
        return [max(abs(v - w) for v, w in zip(y, row, strict=True)) + b for b, row in lines]
    if kind == "kinks":
        return [max(v, 0.0) if at < layer["convex"] else min(v, 0.0) for at, v in enumerate(y)]
    ramps = zip(layer["source"], layer["start"], layer["rate"], strict=True)
    return [min(max((y[i] - start) * rate, 0.0), 1.0) for i, start, rate in ramps]


def violations(made: Balled, pairs: int, seed: int) -> F:
    """The largest left side − right side of a row of the claim, over the tuples of the premise that were drawn."""
    return drawn.violations(made, functools.partial(points, made), pairs, seed)


def points(made: Balled, rng: random.Random) -> list[list[float]] | None:
    """A tuple of inputs that satisfies the premise exactly, or None if what was drawn does not."""
    claim = made.claim
    named = {term[3] for row in claim["when"] for term in row["terms"]} | set(made.ball) | set(claim["free"])
    direction = {name: rng.gauss(0, 1) * rng.choice((0, 1, 1)) for name in made.ball}
    size = math.sqrt(sum(v * v for v in direction.values())) or 1.0
    far = rng.choice((1.0, 1.0, 1.0, rng.random()))
    x: list[list[float]] = [[] for _ in range(made.k)]
    for f in made.features:
        name, lo, hi = f["name"], f["lo"], f["hi"]
        moves = made.k > 1 and name not in claim["equal"] and (claim["others"] == "free" or name in named)
        if f["kind"] == "category":
            one = rng.randrange(3)
            for copy in x:
                one = rng.randrange(3) if moves else one
                copy += [float(one == c) for c in range(3)]
            continue
        first = float(rng.randint(-2, 2)) if f["kind"] == "integer" else rng.choice((lo, hi, 0.0, rng.uniform(lo, hi)))
        values = [first] * made.k
        for c in range(1, made.k if moves else 1):
            step = direction[name] / size * far * float(F(made.ball[name])) if name in made.ball else None
            other = rng.uniform(lo, hi) if step is None else first + step
            other = float(round(other)) if f["kind"] == "integer" else other
            values[c] = min(max(rng.choice((other, other, math.nextafter(other, 0.0))), lo), hi)
        for copy, v in zip(x, values, strict=True):
            copy.append(v)
    names = drawn.columns(made.features)
    shares = [(F(x[0][names.index(n)]) - F(x[1][names.index(n)])) / F(delta) for n, delta in made.ball.items()]
    if sum((s * s for s in shares), F(0)) > 1:
        return None
    return x if drawn.premise_holds(made, x) else None


# ---- folders by hand -------------------------------------------------------------------------------------------------

PLAIN = {
    "weight": ([2, 1], [0.5, -0.5]),
    "bias": ([1], [0.25]),
    "gain": ([1], [4.0]),
    "balance": ([1], [1.0]),
}


Changes = dict[str, Any] | None


def handmade(layer: Changes = None, claim: Changes = None, **tensors: Any) -> dict[str, bytes]:
    """One contraction of two columns, whose gain is the largest that passes, and a ball over both of them."""
    numbers = [{"name": name, "kind": "continuous", "lo": -1.0, "hi": 1.0} for name in "ab"]
    described = {"kind": "contract", "inputs": 2, "units": 1} | (layer or {})
    features = [*numbers, {"name": "n", "kind": "integer", "lo": 0.0, "hi": 2.0}]
    net = drawn.network(features, [{"name": "e", "columns": [0, 1], "layers": [described]}], profile="f64-aux")
    own = {f"encoder.branches.0.layers.0.{name}": value for name, value in (PLAIN | tensors).items() if value}
    own |= drawn.ends([3.0, 4.0], ([-9.0] * 2, [9.0] * 2))
    then = [{"terms": [["1", 0, "out", "y"], ["-1", 1, "out", "y"]], "op": "<=", "rhs": "3"}]
    stated = {"copies": 2, "when": [], "others": "equal", "equal": [], "free": [], "sentence": ""}
    stated |= {"then": then, "ball": [["a", "1/2"], ["b", "1/2"]]} | (claim or {})
    witness = [[0.0, 0.0, 1.0]] * stated["copies"]
    return kill_small.assembled(net, own, stated, witness, b"", [{"rule": "ball"}])


def malformed() -> list[dict[str, bytes]]:
    """Layers, balls and proofs that break a rule, one each, and next to each of them one that does not."""
    big, tiny = 2.0**20, 2.0**-40
    one: Callable[[float], Any] = lambda v: ([1], [v])  # noqa: E731
    out = [handmade(), handmade({"units": 0}), handmade({"units": 2}), handmade({"inputs": 3}), handmade({"more": 1})]
    out += [handmade({"units": value}) for value in (-1, 1.0, True, None)]
    for gain in (math.nextafter(4.0, 5.0), math.nextafter(4.0, 0.0), -0.0, 0.0, -1.0, 5e-324, math.inf):
        out.append(handmade(gain=one(gain)))
    for balance in (0.0, -1.0, tiny, tiny / 2, 2.0**40, 2.0**40 - 1, 5e-324):
        out.append(handmade(balance=one(balance)))
    for weight in (tiny, tiny / 2, big, -big, big - tiny * 2**13, 1 + tiny / 2):
        out.append(handmade(weight=([2, 1], [weight, 0.0]), gain=one(2.0**-60)))
    two = {"bias": ([2], [0.0] * 2), "layer": {"units": 2}, "weight": ([2, 2], [0.5, 0.5, 0.0, -0.5])}
    for gain, balance in two_units():
        out.append(handmade(**two, gain=([2], gain), balance=([2], balance)))
    out += [handmade(bias=one(1e300)), handmade(bias=one(2.0**1000)), handmade(bias=one(-(2.0**1001)))]
    out += [
        handmade(gain=None),
        handmade(more=one(0.0)),
        handmade(bias=([1, 1], [0.25])),
        handmade(bias=([2], [0.0, 0.0])),
    ]
    for ball in (
        [],
        [["a", "0"]],
        [["a", "-1/2"]],
        [["a", "1/2"], ["a", "1/2"]],
        [["n", "1"]],
        [["z", "1"]],
        ["a"],
        [["a"]],
        [["a", 1]],
        {"a": "1"},
        None,
        [["a", "1/2", "1"]],
        [["a", "1/0"]],
        [["a", "1e3"]],
        [["a", "1/" + "7" * 399]],
    ):
        out.append(handmade(claim={"ball": ball}))
    for k in (1, 3):
        out.append(handmade(claim={"copies": k, "then": [{"terms": [["1", 0, "out", "y"]], "op": "<=", "rhs": "9"}]}))
    out.append(forge2.rehashed(forge2.edited(handmade(), "certificate.json", _proof(rule="ball", of=0))))
    out.append(forge2.rehashed(forge2.edited(handmade(), "certificate.json", _proof(rule="balls"))))
    for x in (0.5, math.nextafter(0.5, 1.0)):
        away = {"witness": [[x, 0.0, 1.0], [0.0, 0.0, 1.0]]}
        out.append(
            forge2.rehashed(forge2.edited(handmade(), "certificate.json", lambda c, a=away: c["claims"][0].update(a)))
        )
    for rhs in ("5/2", "2499999999/1000000000", "5/2000000000000000"):
        then = [{"terms": [["1", 0, "out", "y"], ["-1", 1, "out", "y"]], "op": "<=", "rhs": rhs}]
        out.append(handmade(claim={"then": then}))
    return out


def two_units() -> list[tuple[list[float], list[float]]]:
    """Gains and balances of two units that lean on each other: |WᵀW| = [[1/4, 1/4], [1/4, 1/2]]."""
    out = []
    for balance in ([1.0, 1.0], [1.0, 2.0], [2.0, 1.0]):
        first, second = (
            2 * balance[0] / (balance[0] + balance[1]) * 4,
            2 * balance[1] / (balance[0] + 2 * balance[1]) * 4,
        )
        for a, b in ((1.0, 1.0), (1.0001, 0.9), (0.9, 1.0001), (0.99, 0.99)):
            out.append(([first * a, second * b], balance))
    return out


def _proof(**proof: Any) -> Callable[[Any], None]:
    return lambda content: content["claims"][0].update(rows=[proof])


@functools.lru_cache(maxsize=1)
def folders() -> list[dict[str, bytes]]:
    """All of them; made once."""
    return [Balled(seed).files for seed in range(COUNT)] + malformed()


def asked(loaded: SimpleNamespace, part: int, fast: bool) -> Any:
    """What a checker says of every sixth folder."""
    return kill_small.answers(loaded, folders()[part::PARTS], fast)


def limits(loaded: SimpleNamespace, fast: bool) -> Any:
    """The least work with which contractions are tested and balls are checked; of a contraction alone, too."""
    wide = {"layer": {"units": 8}, "bias": ([8], [0.0] * 8), "balance": ([8], [1.0] * 8), "gain": ([8], [0.25] * 8)}
    given = (handmade(), handmade(**wide, weight=([2, 8], [0.5] * 16)), Balled(0).files, Balled(7).files)
    out: list[Any] = [drawn.least_work(loaded, files, fast) for files in given]
    own, kind = (loaded.check, "WORK") if fast else (loaded.exact_contract, "MOST_WORK")
    most = getattr(own, kind)
    for limit in (0, 1):  # the test takes two units
        setattr(own, kind, limit)
        out.append(kill_small.answers(loaded, [handmade(**wide, weight=([2, 8], [0.5] * 16))], fast)[0][:2])
    setattr(own, kind, most)
    return out


def numbers(loaded: SimpleNamespace, fast: bool) -> Any:
    """Roots, numbers rounded up, and products of columns."""
    module = loaded.check if fast else loaded.exact_contract
    root, up = (module.root, module.up) if fast else (module.root, module.upward)
    step, out = F(1, 2**100), []
    for value in (
        F(0),
        F(1),
        F(2),
        F(1, 3),
        step,
        step**2,
        step**2 / 2,
        F(9, 4),
        F(10**40, 7),
        4 * step**2,
        5 * step**2,
    ):
        out += [root(value), up(value), up(value + step / 3)]
    rng = random.Random(1)
    for units in (1, 2, 127, 128, 129, 257):
        rows = [[rng.randint(-9, 9) for _ in range(units)] for _ in range(3)]
        factors = [rng.randint(1, 5) for _ in range(units)]
        if fast:
            out.append(module.gram(rows, factors))
            continue
        lines = module._products(rows)
        sums = [sum(abs(v) * f for v, f in zip(line, factors, strict=True)) for line in lines]
        out.append((sums, [line[j] for j, line in enumerate(lines)]))
    return out


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """The folders in parts, by name."""
    fast = target == "fast"
    parts = [(f"balls {part}", functools.partial(asked, part=part, fast=fast)) for part in range(PARTS)]
    more = [("limits of balls", functools.partial(limits, fast=fast)), ("roots", functools.partial(numbers, fast=fast))]
    return [*parts, *more]
