"""Questions of the kill suite about layers of trees: small ensembles whose thresholds, values and ends often tie.

Trees of all shapes over numbers, a whole number and a category, also below and above other layers; monotone by
construction, monotone but for one leaf, or at random; thresholds on the domain's ends, at ±0 and next to 0. Folders
exist in memory only; both checkers are asked the same, and `test_trees.py` compares what they say with the network's
own values at many points. `Grown.value` is that network, written out in Python's floats.
"""

from __future__ import annotations

import functools
import json
import math
import random
from collections.abc import Callable
from fractions import Fraction as F
from types import SimpleNamespace
from typing import Any

from trust import drawn, forge2, kill_small

COUNT, PARTS = 900, 9
THRESHOLDS = (-2.0, -1.0, -0.5, 0.0, -0.0, 0.5, 0.5, 1.0, 2.0, 5e-324, -5e-324, 1 - 2.0**-53, 1e300, -1e300)
VALUES = (-2.0, -1.0, -0.5, 0.0, -0.0, 0.5, 1.0, 2.0, 0.1, -0.3, 1 / 3, 5e-324)
ROLES = ("rises", "rises", "falls", "same", "same", "strip", "free", "least")
Tree = tuple[list[int], list[float]]
Rows = list[dict[str, Any]]


class Grown:
    """One folder: `files` are those that a manifest lists."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(f"trees {seed}")
        coarse = rng.random() < 0.3  # whole numbers alone, so that strips end between them
        self.thresholds = tuple(v for v in THRESHOLDS if v.is_integer() and abs(v) < 9) if coarse else THRESHOLDS
        self.values = tuple(v for v in VALUES if v.is_integer()) if coarse else VALUES
        self.features = self._features()
        self.m = sum(len(f.get("categories", [0])) for f in self.features)
        self.k = rng.choice((2, 2, 2, 2, 2, 1, 3))
        self.roles = {f["name"]: rng.choice(ROLES) for f in self.features}
        self.columns = rng.sample(range(self.m), rng.randint(1, self.m))
        self.before = self._before()
        width = len(self.before[0]) if self.before else len(self.columns)
        self.sets = [sorted(rng.sample(range(width), rng.randint(1, width))) for _ in range(rng.choice((0, 0, 1, 2)))]
        self.sets += self._categories() if not self.before else []
        self.trees = [rng.choice((1, 1, 2, 3, 6)) for _ in range(rng.choice((1, 1, 1, 2)))]
        self.forest = [self._tree(width) for _ in range(sum(self.trees))]
        self.bias = [rng.choice((0.0, 0.0, 1.0, 0.1, -1.0, -0.3)) for _ in self.trees]
        self.after = [[rng.choice((1.0, 0.5, -1.0, 0.1, 0.0)) for _ in self.trees]] if rng.random() < 0.2 else []
        self.outputs = 1 if self.after else len(self.trees)
        self.slope = [1.0, *(rng.choice((1.0, -1.0, 0.5)) for _ in range(self.outputs - 1))]
        reach = rng.choice((100.0, 100.0, 1.0))
        self.box = [-reach] * self.outputs, [reach] * self.outputs
        claim, self.binary, proofs = self._claim()
        net, tensors = self._net()
        self.claim = claim
        self.files = kill_small.assembled(net, tensors, claim, self._witness(), self.binary, proofs)

    def _features(self) -> list[dict[str, Any]]:
        rng, out = self.rng, []
        for name in "ab"[: rng.randint(1, 2)]:
            scaled = {"shift": 0.5, "mult": rng.choice((2.0, 0.7))} if rng.random() < 0.2 else {}
            out.append({"name": name, "kind": "continuous", "lo": -2.0, "hi": 2.0} | scaled)
        if rng.random() < 0.3:
            out.append({"name": "n", "kind": "integer", "lo": -2.0, "hi": 2.0})
        if rng.random() < 0.5:
            out.append({"name": "g", "kind": "category", "lo": 0.0, "hi": 1.0, "categories": list("uvw")})
        return out

    def _categories(self) -> list[list[int]]:
        """A set of categories, by their places in y."""
        if self.features[-1]["name"] != "g":
            return []
        places = [at for at, column in enumerate(self.columns) if column >= self.m - 3]
        return [sorted(self.rng.sample(places, self.rng.randint(1, len(places))))] if places else []

    def _before(self) -> list[list[list[float]]]:
        """Weights of a linear layer, [outputs][inputs], and a bias for each, or none."""
        rng = self.rng
        if rng.random() > 0.15:
            return []
        rows = [[rng.choice((1.0, 0.5, -1.0, 0.0, 0.1)) for _ in self.columns] for _ in range(rng.randint(1, 3))]
        return [rows, [[rng.choice((0.0, 0.5))] for _ in rows]]

    # ---- trees -------------------------------------------------------------------------------------------------------

    def _role(self, question: int, width: int) -> str:
        """What a question does from copy 2 to copy 1, where no layer comes first."""
        if self.before:
            return self.rng.choice(("rises", "free"))
        places = [question] if question < width else self.sets[question - width]
        own = {self.roles[self._feature(self.columns[place])] for place in places}
        return own.pop() if len(own) == 1 else "free"

    def _feature(self, column: int) -> str:
        return drawn.columns(self.features)[column]

    def _tree(self, width: int) -> Tree:
        rng, questions, coarse = self.rng, width + len(self.sets), self.values is not VALUES
        if rng.random() < 0.5:  # the same questions on every path
            levels = [(rng.randrange(questions), rng.choice(self.thresholds[:10])) for _ in range(rng.randint(0, 3))]
            steps = []
            for question, _ in levels:
                role, by = self._role(question, width), rng.choice((1.0,) if coarse else (0.5, 1.0, 0.1))
                steps.append({"rises": by, "least": by, "falls": -by, "same": rng.choice((by, -4 * by))}.get(role, 0.0))
            start = rng.choice(self.values)
            split, number = self._level(levels, steps, start)
        else:
            split, number = self._free(questions, rng.randint(0, 3))
        if rng.random() < 0.3:
            leaf = rng.choice([at for at, asked in enumerate(split) if asked < 0])
            number[leaf] = rng.choice(self.values)
        return split, number

    def _level(self, levels: list[tuple[int, float]], steps: list[float], value: float) -> Tree:
        if not levels:
            return [-1], [value]
        (question, theta), left = levels[0], self._level(levels[1:], steps[1:], value)
        right = self._level(levels[1:], steps[1:], value + steps[0])
        return [question, *left[0], *right[0]], [theta, *left[1], *right[1]]

    def _free(self, questions: int, depth: int) -> Tree:
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return [-1], [rng.choice(self.values)]
        left, right = self._free(questions, depth - 1), self._free(questions, depth - 1)
        return [rng.randrange(questions), *left[0], *right[0]], [rng.choice(self.thresholds), *left[1], *right[1]]

    # ---- files -------------------------------------------------------------------------------------------------------

    def _net(self) -> tuple[dict[str, Any], kill_small.Tensors]:
        layers: list[dict[str, Any]] = []
        tensors: kill_small.Tensors = {}
        place = "encoder.branches.0.layers."
        if self.before:
            rows, bias = self.before
            layers.append({"kind": "linear", "inputs": len(self.columns), "outputs": len(rows), "base": 0})
            flat = [v for row in rows for v in row]
            tensors[f"{place}0.weight"] = [len(rows), len(self.columns)], flat
            tensors[f"{place}0.bias"] = [len(rows)], [b for (b,) in bias]
        at, nodes = len(layers), sum(len(split) for split, _ in self.forest)
        width = len(self.before[0]) if self.before else len(self.columns)
        layers.append({"kind": "trees", "inputs": width, "trees": self.trees, "nodes": nodes, "sets": self.sets})
        tensors[f"{place}{at}.split"] = [nodes], [float(v) for split, _ in self.forest for v in split]
        tensors[f"{place}{at}.number"] = [nodes], [v for _, number in self.forest for v in number]
        tensors[f"{place}{at}.bias"] = [len(self.trees)], self.bias
        if self.after:
            layers.append({"kind": "linear", "inputs": len(self.trees), "outputs": 1, "base": 0})
            tensors[f"{place}{at + 1}.weight"] = [1, len(self.trees)], self.after[0]
            tensors[f"{place}{at + 1}.bias"] = [1], [0.0]
        net = drawn.network(self.features, [{"name": "e", "columns": self.columns, "layers": layers}])
        return net, tensors | drawn.ends(self.slope, self.box)

    def _claim(self) -> tuple[dict[str, Any], bytes, list[dict[str, Any]]]:
        rng, when, equal, free = self.rng, [], [], []
        for name, role in self.roles.items():
            if self.k != 2 or name == "g":
                (free if role in ("free", "rises") else equal).append(name)
                continue
            strip = rng.choice((("1/2", "1/2"), ("1/3", "2/3")))
            ends = {"rises": (0, None), "falls": (None, 0), "strip": strip, "least": ("-1/4", None), "same": (0, 0)}
            ends = ends.get(role, (None, None))
            for sign, end in zip((-1, 1), ends, strict=True):
                if end is not None:
                    terms = [[str(sign), 0, "in", name], [str(-sign), 1, "in", name]]
                    when.append({"terms": terms, "op": "<=", "rhs": str(end)})
            free += [name] if role == "free" else []
        if rng.random() < 0.25:  # a bound, where thresholds lie
            name, at = self.features[0]["name"], rng.choice(("1/2", "0", "1", "-1/2"))
            for c in range(self.k):
                when.append({"terms": [["1", c, "in", name]], "op": "<=", "rhs": at})
        pieces = {1: [["1", 0]], 2: [["-1", 0], ["1", 1]], 3: [["1", 0], ["1", 1], ["-2", 2]]}[self.k]
        terms = [[a, c, "out", "y"] for a, c in pieces]
        then = [{"terms": terms, "op": "<=", "rhs": rng.choice(("0", "0", "1", "3"))}]
        if rng.random() < 0.6:
            then.append({"terms": [[str(-int(a)), c, kind, y] for a, c, kind, y in terms], "op": "<=", "rhs": "1"})
        order = self.k == 2 and rng.random() < 0.5
        proofs = [
            {"rule": "order"} if order else {"rule": "leaf", "bits": 0, "units": [], "start": at, "length": 1}
            for at in range(len(then))
        ]
        claim = drawn.pair(when, then, copies=self.k, equal=equal, free=free)
        return claim, b"" if order else bytes(len(then)), proofs

    def _witness(self) -> list[list[float]]:
        out = drawn.corner(self.features, self.k)
        for at, f in enumerate(self.features):
            if self.k == 2 and self.roles[f["name"]] == "least" and f["name"] != "g":  # x_1 − x_2 ≥ 1/4
                out[1][at] = -2.0
        return out

    # ---- the network itself ------------------------------------------------------------------------------------------

    def value(self, x: list[float]) -> float:
        """What the network returns at x, operation by operation."""
        y = []
        scales = [(f.get("shift", 0.0), f.get("mult", 1.0)) for f in self.features for _ in f.get("categories", [0])]
        for column in self.columns:
            shift, mult = scales[column]
            y.append((x[column] - shift) * mult)
        if self.before:
            y = [drawn.ordered_sum(b, row, y) for row, (b,) in zip(*self.before, strict=True)]
        trees, sums = iter(self.forest), []
        for count, total in zip(self.trees, self.bias, strict=True):
            for _ in range(count):
                total += self._leaf(next(trees), y)
            sums.append(total)
        e = [drawn.ordered_sum(0.0, row, sums) for row in self.after] if self.after else sums
        e = [min(max(v, lo), hi) for v, lo, hi in zip(e, *self.box, strict=True)]
        return drawn.ordered_sum(0.0, self.slope, e)

    def _leaf(self, tree: Tree, y: list[float]) -> float:
        (split, number), at = tree, 0
        while split[at] >= 0:
            places = [split[at]] if split[at] < len(y) else self.sets[split[at] - len(y)]
            at += 1
            if any(y[place] > number[at - 1] for place in places):  # past the left subtree
                ahead = 1
                while ahead:
                    ahead += 1 if split[at] >= 0 else -1
                    at += 1
        return number[at]


def chain(leaves: int) -> Tree:
    """A tree of so many leaves, each a step to the left of its sibling, that rises in coordinate 0 but for its last."""
    split, number = [], []
    for at in range(leaves - 1):  # right children are leaves, so they follow in reverse
        split.append(0)
        number.append(1.0 - at / 256)
    values = [1.0, *(float(at % 3) for at in range(leaves - 1))]
    return split + [-1] * leaves, number + values


def crossed(leaves: int) -> Tree:
    """Rises with y_0 for either sign of y_1, leaf by leaf only; the last of so many leaves differ in y_1 alone."""
    split, number = [0, 1, -1, -1, 1, -1], [0.0, 0.0, 1.0, 8.0, 0.0, 2.0]
    more = leaves - 4
    return split + [1] * more + [-1] * (more + 1), number + [2.0 - at / 256 for at in range(more)] + [9.0] * (more + 1)


def handmade(forest: list[Tree], numbers: int = 1, way: int = 1, **changes: Any) -> dict[str, bytes]:
    """Files of trees over a number that rises, and maybe one that is equal in both copies, with a claim that the output
    rises, or falls (`way` −1); `changes` of the layer's description, or of tensors by name.
    """
    nodes = sum(len(split) for split, _ in forest)
    layer = {"kind": "trees", "inputs": numbers, "trees": [len(forest)], "nodes": nodes, "sets": []}
    layer |= {key: value for key, value in changes.items() if key in layer or key == "more"}
    tensors: dict[str, Any] = {
        "split": [v for split, _ in forest for v in split],
        "number": [v for _, number in forest for v in number],
        "bias": [0.0],
    } | {key: value for key, value in changes.items() if key in ("split", "number", "bias")}
    place = "encoder.branches.0.layers.0."
    features = [{"name": name, "kind": "continuous", "lo": -2.0, "hi": 2.0} for name in "abcdfghij"[:numbers]]
    net = drawn.network(features, [{"name": "e", "columns": list(range(numbers)), "layers": [layer]}])
    own: kill_small.Tensors = {
        place + name: ([len(values)], [float(v) for v in values]) for name, values in tensors.items()
    }
    p = max(1, len(tensors["bias"]))
    own |= drawn.ends([1.0] * p, ([-99.0] * p, [99.0] * p))
    when = [{"terms": [["-1", 0, "in", "a"], ["1", 1, "in", "a"]], "op": "<=", "rhs": "0"}]
    then = [{"terms": [[str(-way), 0, "out", "y"], [str(way), 1, "out", "y"]], "op": "<=", "rhs": "0"}]
    proof = {"rule": "leaf", "bits": 0, "units": [], "start": 0, "length": 1}
    return kill_small.assembled(net, own, drawn.pair(when, then), [[0.0] * numbers] * 2, b"\0", [proof])


STEP: Tree = ([0, -1, -1], [0.5, 0.0, 1.0])


def malformed() -> list[dict[str, bytes]]:
    """Descriptions and nodes that break a rule, each beside one that just does not."""
    out = [handmade([STEP]), handmade([STEP, ([-1], [2.0])]), handmade([STEP] * 2, trees=[1, 1], bias=[0.0, 0.5])]
    for changes in (
        {"trees": []},
        {"trees": [0]},
        {"trees": [2]},
        {"trees": [1, 0], "bias": [0.0, 0.0]},
        {"trees": 1},
        {"trees": [1.0]},
        {"trees": [True]},
        {"trees": [-1]},
        {"trees": None},
        {"trees": ["1"]},
        {"trees": [1, 1], "bias": [0.0, 0.0]},
        {"nodes": 2},
        {"nodes": 4},
        {"nodes": -3},
        {"nodes": 3.0},
        {"nodes": 0, "split": [], "number": []},
        {"inputs": 2},
        {"inputs": 0},
        {"more": 1},
        {"bias": []},
        {"bias": [0.0, 0.0]},
        {"bias": [math.inf]},
        {"sets": None},
        {"sets": [0]},
        {"sets": [[]]},
        {"sets": [[0, 0]]},
        {"sets": [[1]]},
        {"sets": [[-1]]},
        {"sets": [[0.0]]},
        {"sets": [[True]]},
        {"sets": {"0": [0]}},
        {"sets": [["0"]]},
        {"sets": [[0], [0]]},
        {"split": [1.0, -1, -1]},
        {"split": [1.0, -1, -1], "sets": [[0]]},
        {"split": [2.0, -1, -1], "sets": [[0]]},
        {"split": [-2.0, -1, -1]},
        {"split": [0.5, -1, -1]},
        {"split": [-1, -1, -1]},
        {"split": [0, 0, -1]},
        {"split": [0, -1, 0]},
        {"split": [1e300, -1, -1]},
        {"split": [-1, 0, -1]},
        {"split": [math.nan, -1, -1]},
        {"split": [-0.0, -1, -1]},
        {"number": [math.inf, 0, 1]},
        {"number": [-math.inf, 0, 1]},
        {"number": [math.nan, 0, 1]},
        {"number": [0.5, 0, math.inf]},
        {"number": [0.5, 2.0**999, 1]},
        {"number": [0.5, -(2.0**1000), 1]},
        {"number": [0.5, 0, 2.0**1000]},
        {"bias": [2.0**1000]},
        {"number": [1e308, 0, 1]},
    ):
        out.append(handmade([STEP], **changes))
    out += [handmade([([-0.5], [1.0])]), handmade([([-1], [1.0])])]  # type: ignore[list-item]
    several = next(g for g in map(Grown, range(99)) if len(g.columns) > 1 and not g.before and not g.sets)
    nine = handmade([STEP], 9)  # where a set's own order is not that of its numbers
    out += [_with_sets(nine, sets) for sets in ([[1, 8]], [[8, 1]], [[0, 8], [1]])]
    for sets in ([[0, 1]], [[1, 0]], [[0, 99]], [[1], [0, 1]], [[0], 1], [[0, 0]]):
        out.append(_with_sets(several.files, sets))
    out += [handmade([chain(leaves)]) for leaves in (3, 256, 257, 700)]
    out += [handmade([crossed(leaves)], 2, way) for leaves in (4, 256, 257) for way in (1, -1)]
    for values in ((0.0, 1.0, 2.0, 3.0), (3.0, 2.0, 1.0, 0.0), (0.0, 1.0, 1.0, 2.0), (0.0, 2.0, 1.0, 3.0)):
        tree = [0, 1, -1, -1, 1, -1, -1], [0.0, 0.0, *values[:2], 0.0, *values[2:]]
        out += [handmade([tree], 2, way) for way in (1, -1)]  # by nodes alone, where that shows an order
    large = 2.0**999
    for values in ((large, -large), (large, 2.0**946 - large), (large, 2.0**900 - large / 2)):
        out.append(handmade([([-1], [value]) for value in values]))
        out.append(handmade([([-1], [values[1]])], bias=values[:1]))
        out.append(handmade([([-1], [values[0]])], bias=values[1:]))
    files = handmade([STEP])
    for name in ("split", "number", "bias"):
        out.append(_without(files, name))
    model = json.loads(files["model.json"])
    for key in ("trees", "nodes", "sets", "inputs"):
        less = json.loads(json.dumps(model))
        del less["net"]["encoder"][0]["layers"][0][key]
        out.append(forge2.rehashed(files | {"model.json": json.dumps(less).encode()}))
    return out


def _with_sets(files: dict[str, bytes], sets: list[Any]) -> dict[str, bytes]:
    """The same with other sets, for which no node asks."""
    model = json.loads(files["model.json"])
    model["net"]["encoder"][0]["layers"][0]["sets"] = sets
    return forge2.rehashed(files | {"model.json": json.dumps(model).encode()})


def _without(files: dict[str, bytes], name: str) -> dict[str, bytes]:
    """The same without a tensor of the layer."""
    data = files["weights.safetensors"]
    size = int.from_bytes(data[:8], "little")
    header, body, out, raw = json.loads(data[8 : 8 + size]), data[8 + size :], {}, b""
    for tensor, entry in header.items():
        if not tensor.endswith(f"layers.0.{name}"):
            part = body[slice(*entry["data_offsets"])]
            out[tensor] = entry | {"data_offsets": [len(raw), len(raw) + len(part)]}
            raw += part
    text = json.dumps(out).encode()
    return forge2.rehashed(files | {"weights.safetensors": len(text).to_bytes(8, "little") + text + raw})


@functools.lru_cache(maxsize=1)
def folders() -> list[dict[str, bytes]]:
    """All of them; made once."""
    return [Grown(seed).files for seed in range(COUNT)] + malformed()


def asked(loaded: SimpleNamespace, part: int, fast: bool) -> Any:
    """What a checker says of every ninth folder."""
    return kill_small.answers(loaded, folders()[part::PARTS], fast)


def limits(loaded: SimpleNamespace, fast: bool) -> Any:
    """The least work with which trees are checked: with sets, several trees, and one too large for pairs."""
    given = [Grown(seed) for seed in range(60)]
    chosen = [g.files for g in given if len(g.sets) > 1][:2] + [g.files for g in given if len(g.forest) > 3][:2]
    chosen += [handmade([STEP]), handmade([chain(256)]), handmade([chain(257)])]
    return [drawn.least_work(loaded, files, fast, high=1 << 24) for files in chosen]


def checks(target: str) -> list[tuple[str, Callable[[SimpleNamespace], Any]]]:
    """The folders in parts, by name."""
    fast = target == "fast"
    parts = [(f"trees {part}", functools.partial(asked, part=part, fast=fast)) for part in range(PARTS)]
    return [*parts, ("limits of trees", functools.partial(limits, fast=fast))]


def violations(grown: Grown, pairs: int, seed: int) -> F:
    """The largest left side − right side of a row of the claim, over the tuples of the premise that were drawn."""
    return drawn.violations(grown, functools.partial(points, grown), pairs, seed)


def points(grown: Grown, rng: random.Random) -> list[list[float]] | None:
    """A tuple of inputs that satisfies the premise exactly, or None if what was drawn does not."""
    x: list[list[float]] = [[] for _ in range(grown.k)]
    for f in grown.features:
        if f["kind"] == "category":
            free = f["name"] in grown.claim["free"]
            one = rng.randrange(3)
            for copy in x:
                one = rng.randrange(3) if free else one
                copy += [float(one == c) for c in range(3)]
            continue
        first = _number(f, rng)
        same = f["name"] in grown.claim["equal"] or grown.roles[f["name"]] == "same"
        for copy in x:
            near = math.nextafter(first, rng.choice((-9.0, 9.0)))
            step = rng.choice((first, _number(f, rng), first if f["kind"] == "integer" else near))
            copy.append(first if same else min(max(step, f["lo"]), f["hi"]))
    return x if drawn.premise_holds(grown, x) else None


def _number(feature: dict[str, Any], rng: random.Random) -> float:
    """A threshold in raw units or a float beside it, within the bounds."""
    if feature["kind"] == "integer":
        return float(rng.randint(-2, 2))
    at = rng.choice(THRESHOLDS[:12]) / feature.get("mult", 1.0) + feature.get("shift", 0.0)
    at = rng.choice((at, at, math.nextafter(at, 9.0), math.nextafter(at, -9.0), rng.uniform(-2.0, 2.0), 0.0, -0.0))
    return min(max(at, feature["lo"]), feature["hi"])
