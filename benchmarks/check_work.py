"""µs a checker takes for a unit of work (docs/certificate.md, section 6), on the worst file known of each kind.

    python -m benchmarks.check_work [KIND …]

Every file makes its kind of work as slow as a stranger could: long denominators, subnormal weights, numbers of
400 digits, many rows to a premise, trees without slopes. Whether it is certified does not matter; a refusal would.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from trust import forge2

from smilenn.certify import check

TINY = 2.0**-1022 * (1 + 2**-52)
Files = forge2.Files


def primes(count: int, digits: int) -> list[int]:
    """Odd numbers of so many digits that share no factor."""
    found: list[int] = []
    product, value = 1, 10**digits - 1
    while len(found) < count:
        if math.gcd(value, product) == 1:
            found.append(value)
            product *= value
        value -= 2
    return found


def leaf(length: int, start: int = 0, bits: int = 0, **more: Any) -> dict[str, Any]:
    """A row proved by a tree of so many bytes."""
    return {"rule": "leaf", "bits": bits, "units": [], "start": start, "length": length, **more}


def numbers(count: int, value: float = 1.0) -> list[float]:
    return [value] * count


def described(inputs: int, units: int, paper: bool, weight: float, embedding: int = 1) -> dict[str, Any]:
    """Net and tensors of a network with the same weight everywhere."""
    net = {
        "domain": {"features": [{"name": f"x{i}", "kind": "continuous", "lo": 0.0, "hi": 1.0} for i in range(inputs)]},
        "auxiliaries": "relu" if units else "affine",
        "hidden": units,
        "skip": True,
        "boxes": "paper" if paper else "gap",
        "embedding": embedding,
    }
    tensors: dict[str, Any] = {
        "lower.const": numbers(embedding, 0.0),
        "second.const": numbers(embedding, 0.0),
        "head_weight": [numbers(embedding)],
        "lower.slope": [numbers(inputs, weight)] * embedding,
    }
    if paper:
        tensors["second.slope"] = [numbers(inputs, weight)] * embedding
    elif not units:
        tensors |= {f"second.{part}": [numbers(inputs, 0.0)] * embedding for part in ("rise", "fall")}
    for part in ("lower.", "second.") if units else ():
        spread = [[weight * (-1.0) ** (i + j) * (1 + j / units) for i in range(inputs)] for j in range(units)]
        bias = [-weight * (j + 0.5) / units for j in range(units)]
        out = [numbers(units, weight if part == "lower." or paper else 0.0)] * embedding
        tensors |= {part + "weight": spread, part + "bias": bias, part + "out": out}
    return {"net": net, "tensors": tensors}


def several(claims: Sequence[Any], proofs: Sequence[Any], binary: bytes, network: Mapping[str, Any]) -> Files:
    """Claims and their proofs, about a network with exactly these tensors."""
    files = forge2.small_files(*claims, net=network["net"], proofs=proofs)
    files[forge2.WEIGHTS] = stored({"head_bias": [0.0], **network["tensors"]})
    return forge2.rehashed(forge2.as_version_2(files) | {forge2.BINARY: binary})


def folder(claim: Any, proof: Any, binary: bytes = b"", **network: Any) -> Files:
    """One claim and its proof."""
    return several([claim], [proof], binary, network)


def stored(tensors: Mapping[str, Any]) -> bytes:
    """A safetensors file."""
    header, data = {}, b""
    for name, values in sorted(tensors.items()):
        raw = np.asarray(values, dtype="<f8")
        ends = [len(data), len(data) + raw.nbytes]
        header[name] = {"dtype": "F64", "shape": list(raw.shape), "data_offsets": ends}
        data += raw.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def difference(rhs: Any = 1, coefficient: Any = 1) -> Any:
    """c·f(a) − c·f(b) ≤ rhs."""
    return [(coefficient, 0, "y"), (-coefficient, 1, "y")], "<=", rhs


def split_tree(levels: int, size: int, inputs: int, copy: int = 0) -> bytes:
    """Splits of inputs at 2⁻¹⁰⁰ times odd numbers, down to leaves of zeros of so many bytes."""
    if not levels:
        return bytes(size)
    below = split_tree(levels - 1, size, inputs, copy)
    place = levels % inputs
    return bytes([2, copy]) + place.to_bytes(2, "little") + bytes(7) + b"\x3f" + below + below


def premise(inputs: int, digits: int, copies: int = 2) -> list[Any]:
    """Bounds of every copy and strips whose denominators share no factor."""
    want = primes(inputs * 3 * copies, digits) if digits else []
    rows = iter(want)
    out = []
    for i in range(inputs if digits else 0):
        for c in range(copies):
            top, bottom = next(rows), next(rows)
            out += [([(top, c, f"x{i}")], "<=", top - 10), ([(-bottom, c, f"x{i}")], "<=", -10)]
        if copies == 2:
            wide = next(rows), next(rows)
            out += [([(wide[0], 0, f"x{i}"), (-wide[0], 1, f"x{i}")], "<=", wide[0] // 3)]
            out += [([(-wide[1], 0, f"x{i}"), (wide[1], 1, f"x{i}")], "<=", wide[1] // 3)]
    return out


def moving(inputs: int) -> list[str]:
    return [f"x{i}" for i in range(inputs)]


def trees(inputs: int, units: int, levels: int, digits: int, weight: float, bits: int, paper: bool = False) -> Files:
    """A leaf rule of one row."""
    size = 1 + 8 * paper
    claim = forge2.small_claim(difference(10**399 + 1 if bits else 1, 10**399 if bits else 1), copies=2)
    claim |= {"when": forge2.small_rows(premise(inputs, digits)), "free": moving(inputs)}
    binary = split_tree(levels, size, inputs)
    proof = {"witness": [numbers(inputs, 0.5)] * 2, "rows": [leaf(len(binary), bits=bits)]}
    return folder(claim, proof, binary, **described(inputs, units, paper, weight))


def many_rows(inputs: int, rows: int, rule: dict[str, Any], digits: int = 0, weight: float = 1.0) -> Files:
    """Rows of one claim whose premise is large, each with one leaf of a byte."""
    claim = forge2.small_claim(*[difference(at + 1) for at in range(rows)], copies=2, when=premise(inputs, digits))
    claim |= {"free": moving(inputs)}
    proofs = [leaf(1, at) if rule["rule"] == "leaf" else rule for at in range(rows)]
    binary = bytes(rows if rule["rule"] == "leaf" else 0)
    return folder(
        claim, {"witness": [numbers(inputs, 0.5)] * 2, "rows": proofs}, binary, **described(inputs, 0, False, weight)
    )


def extra_rows(inputs: int, rows: int, levels: int) -> Files:
    """Leaves that subtract many rows of the premise."""
    claim = forge2.small_claim(difference(), copies=2)
    terms = [(1, 0, f"x{i}") for i in range(inputs)]
    claim |= {"when": forge2.small_rows([(terms, "<=", inputs + at) for at in range(rows)]), "free": moving(inputs)}
    binary = split_tree(levels, 1 + 4 * rows, inputs)
    one = (1).to_bytes(4, "little") * rows
    binary = binary.replace(bytes(1 + 4 * rows), b"\0" + one)
    proof = {"witness": [numbers(inputs, 0.5)] * 2, "rows": [leaf(len(binary))]}
    return folder(claim, proof, binary, **described(inputs, 0, False, 1.0))


def groups(size: int, units: int, levels: int, copies: int = 1) -> Files:
    """One feature of many categories."""
    network = described(size, units, False, 1.0)
    names = [f"c{i}" for i in range(size)]
    network["net"]["domain"] = {
        "features": [{"name": "x", "kind": "category", "lo": 0.0, "hi": 1.0, "categories": names}]
    }
    terms = [(1, 0, "y")] if copies == 1 else difference()[0]
    claim = forge2.small_claim((terms, "<=", 10**6), copies=copies) | {"free": ["x"]}
    binary = b"\0"
    for _ in range(levels):  # a phase split, one child closed at once
        binary = bytes([1, 0, 0, 0]) + b"\0" + binary
    one = [1.0] + [0.0] * (size - 1)
    return folder(claim, {"witness": [one] * copies, "rows": [leaf(len(binary))]}, binary, **network)


def sweep(units: int, paper: bool, digits: int, weight: float, embedding: int = 1) -> Files:
    """Two copies of one input."""
    claim = forge2.small_claim(difference(10**6), copies=2, when=premise(1, digits)) | {"free": ["x0"]}
    proof = {"witness": [[0.5]] * 2, "rows": [forge2.SWEEP]}
    return folder(claim, proof, **described(1, units, paper, weight, embedding))


def signs(inputs: int, units: int, links: int, digits: int) -> Files:
    """Equations between inputs, in both copies; each makes the numbers of a form longer. The last input falls."""
    claim = forge2.small_claim(difference(0), copies=2)
    draw = random.Random(0)
    rows: list[Any] = []
    for at in range(links):
        own = [(draw.randrange(10 ** (digits - 1), 10**digits), f"x{i}") for i in range(at, inputs)]
        rows += [([(a, c, name) for a, name in own], "==", 0) for c in range(2)]
    falling = [inputs - 1] if links else range(inputs)
    rows += [([(1, 0, f"x{i}"), (-1, 1, f"x{i}")], "<=", 0) for i in falling]
    network = described(inputs, units, False, 1.0)
    line = numbers(inputs)
    network["tensors"] |= {"lower.slope": [line], "lower.weight": [line] * units, "second.weight": [line] * units}
    claim |= {"when": forge2.small_rows(rows), "free": moving(inputs)}
    return folder(claim, {"witness": [numbers(inputs, 0.0)] * 2, "rows": [{"rule": "signs"}]}, **network)


def cases(rows: int, levels: int, digits: int) -> Files:
    """Many cases, each of which reads a claim of many rows anew."""
    big = 10**digits
    when = [([(big + at, 0, "x0")], "<=", big + at + 1) for at in range(rows)]
    claim = forge2.small_claim(when=when, either=[[([(1, 0, "y")], "<=", 2), ([(1, 0, "y")], "<=", 3)]])
    count = itertools.count()

    def tree(depth: int) -> Any:
        if depth == 0:
            return {"weights": [["1", "0"]], "witness": [[0.5]], "rows": [leaf(1, next(count))]}
        below, above = tree(depth - 1), tree(depth - 1)
        return {"copy": 0, "coordinate": 0, "at": 0.5, "below": below, "above": above}

    return folder(claim, {"cases": tree(levels)}, bytes(1 << levels), **described(1, 0, False, 1.0))


def clauses(terms: int, levels: int, digits: int) -> Files:
    """Cases that mean two rows, one of many terms that cancel, with weights of as many digits."""
    draw = random.Random(0)

    def number() -> int:
        return draw.randrange(10 ** (digits - 1), 10**digits)

    under = number()
    pairs = [(f"{sign}{v}/{under}", 0, "y") for v in (number() for _ in range(terms // 2)) for sign in ("", "-")]
    claim = forge2.small_claim(either=[[([(1, 0, "y"), *pairs], "<=", 2), ([(1, 0, "y")], "<=", 3)]])
    count = itertools.count()

    def tree(depth: int) -> Any:
        if depth == 0:
            whole = number()
            part = draw.randrange(whole + 1)
            weights = [f"{part}/{whole}", f"{whole - part}/{whole}"]
            return {"weights": [weights], "witness": [[0.5]], "rows": [leaf(1, next(count))]}
        below, above = tree(depth - 1), tree(depth - 1)
        return {"copy": 0, "coordinate": 0, "at": 0.5, "below": below, "above": above}

    return folder(claim, {"cases": tree(levels)}, bytes(1 << levels), **described(1, 0, False, 1.0))


def order(inputs: int, units: int, rows: int) -> Files:
    """Monotone by signs; every row is looked at anew."""
    network = described(inputs, units, False, 1.0)
    network["tensors"]["lower.weight"] = [numbers(inputs)] * units
    network["net"]["profile"] = "fixed-order"
    when = [([(1, 0, f"x{i}"), (-1, 1, f"x{i}")], "<=", 0) for i in range(inputs)]
    claim = forge2.small_claim(*[difference(at) for at in range(rows)], copies=2, when=when)
    return folder(claim, {"witness": [numbers(inputs, 0.5)] * 2, "rows": [{"rule": "order"}] * rows}, **network)


def encoded(layers: list[Any], tensors: dict[str, Any], width: int, rows: int = 1, near: bool = False) -> Files:
    """f = 0 behind a branch of these layers that reads one input; two copies, `near` each other, `rows` claims."""
    strip = [([(sign, 0, "x0"), (-sign, 1, "x0")], "<=", "1/1000") for sign in (1, -1)] if near else []
    free = {} if near else {"free": ["x0"]}
    claims = [forge2.small_claim(difference(at + 1), copies=2, when=strip) | free for at in range(rows)]
    network = described(1, 0, False, 0.0)
    network["net"] |= {
        "auxiliaries": "constant",
        "skip": False,
        "encoder": [{"name": "b", "columns": [0], "layers": layers}],
    }
    own = {f"encoder.branches.0.layers.{name}": values for name, values in tensors.items()}
    plain = {"lower.const": [0.0], "second.const": [0.0], "head_weight": [[1.0]]}
    box = {"encoder.lo": numbers(width, -1.0), "encoder.hi": numbers(width)}
    network["tensors"] = plain | own | box
    proofs = [{"witness": [[0.5]] * 2, "rows": [leaf(1, at)]} for at in range(rows)]
    return several(claims, proofs, bytes(rows), network)


def linear(width: int, depth: int, weight: float, rows: int) -> Files:
    """One input spread over many units, and layers from those to as many."""
    sizes = [1] + [width] * depth
    pairs = list(itertools.pairwise(sizes))
    layers = [{"kind": "linear", "inputs": i, "outputs": o, "base": 0} for i, o in pairs]
    tensors = {f"{at}.weight": [numbers(i, weight)] * o for at, (i, o) in enumerate(pairs)}
    return encoded(layers, tensors | {f"{at}.bias": numbers(o, weight) for at, (_, o) in enumerate(pairs)}, width, rows)


def distance(width: int, depth: int, rows: int) -> Files:
    """Distances to points."""
    sizes = [1] + [width] * depth
    pairs = list(itertools.pairwise(sizes))
    layers = [{"kind": "distance", "inputs": i, "outputs": o} for i, o in pairs]
    tensors = {f"{at}.weight": [numbers(i, 0.1 * at)] * o for at, (i, o) in enumerate(pairs)}
    return encoded(layers, tensors | {f"{at}.bias": numbers(o, 0.5) for at, (_, o) in enumerate(pairs)}, width, rows)


def contract(inputs: int, units: int) -> Files:
    """A layer that moves no two inputs apart, of long numbers: its test looks at every pair of units."""
    draw = np.random.default_rng(0)
    weight = draw.integers(-(2**53), 2**53, (inputs, units)) * 2.0**-34
    balance = draw.integers(2**52, 2**53, units) * 2.0**-14
    weight[0, 0] = balance[0] = 2.0**-40
    tensors = {"1.bias": numbers(units, TINY), "1.gain": numbers(units, TINY), "1.balance": balance, "1.weight": weight}
    layers: list[Any] = [{"kind": "linear", "inputs": 1, "outputs": inputs, "base": 0}]
    layers.append({"kind": "contract", "inputs": inputs, "units": units})
    return encoded(layers, tensors | {"0.weight": [[0.5]] * inputs, "0.bias": numbers(inputs, 0.25)}, inputs)


def forest(trees: int, depth: int, rows: int) -> Files:
    """Trees that ask for one input over and over. Leaves rise but for one, and none far apart are reached."""
    split, number = [], []

    def grow(level: int, low: float, high: float) -> None:
        middle = (low + high) / 2
        split.append(0.0 if level else -1.0)
        number.append(middle if level or low else 2 * high)
        if level:
            grow(level - 1, low, middle)
            grow(level - 1, middle, high)

    for _ in range(trees):
        grow(depth, 0.0, 1.0)
    layers = [{"kind": "trees", "inputs": 1, "trees": [trees], "nodes": len(split), "sets": []}]
    return encoded(layers, {"0.split": split, "0.number": number, "0.bias": [0.0]}, 1, rows, near=True)


KINDS: dict[str, Callable[[], Files]] = {
    "leaf, hidden units": lambda: trees(4, 64, 8, 0, 1.0, 0),
    "leaf, one input": lambda: trees(1, 0, 12, 0, 1.0, 0),
    "leaf, inputs": lambda: trees(100, 0, 8, 0, 1.0, 0),
    "leaf, long bounds": lambda: trees(16, 0, 5, 390, 1.0, 0),
    "leaf, long bounds and slopes": lambda: trees(16, 0, 5, 390, TINY, 1000),
    "leaf, long slopes": lambda: trees(16, 4, 7, 0, TINY, 1000),
    "leaf, long bounds, slopes and units": lambda: trees(8, 8, 4, 390, TINY, 1000),
    "leaf, paper boxes": lambda: trees(8, 16, 6, 0, 1.0, 0, paper=True),
    "leaf, many rows": lambda: many_rows(300, 100, leaf(1)),
    "leaf, many rows, long bounds": lambda: many_rows(16, 100, leaf(1), 390),
    "leaf, extra rows": lambda: extra_rows(20, 50, 8),
    "leaf, 3,000 categories, one copy": lambda: groups(3000, 16, 4),
    "leaf, 300 categories, two copies": lambda: groups(300, 16, 4, 2),
    "sweep": lambda: sweep(200, False, 0, 1.0),
    "sweep, paper boxes": lambda: sweep(60, True, 0, 1.0, 8),
    "sweep, long numbers": lambda: sweep(60, False, 390, TINY),
    "signs": lambda: signs(50, 40, 0, 0),
    "signs, long links": lambda: signs(12, 1, 11, 390),
    "order": lambda: order(50, 50, 20),
    "ball": lambda: many_rows(300, 100, {"rule": "ball"}),
    "ball, long bounds": lambda: many_rows(16, 100, {"rule": "ball"}, 390),
    "linear layers": lambda: linear(40, 3, 0.01, 20),
    "linear layers, subnormal weights": lambda: linear(12, 6, TINY, 20),
    "distance layers": lambda: distance(40, 3, 20),
    "contraction of one input": lambda: contract(1, 1000),
    "contraction of many inputs": lambda: contract(2000, 50),
    "contraction of inputs and units": lambda: contract(600, 1000),
    "trees of 256 leaves": lambda: forest(4, 8, 20),
    "trees of 512 leaves": lambda: forest(4, 9, 20),
    "cases": lambda: cases(300, 6, 2),
    "cases, long numbers": lambda: cases(300, 6, 390),
    "cases, clauses of short numbers": lambda: clauses(6, 9, 2),
    "cases, clauses of 20 digits": lambda: clauses(400, 6, 20),
    "cases, clauses of 390 digits": lambda: clauses(400, 6, 390),
}


def measured(files: Files) -> tuple[int, float, str, int]:
    """Units of work, seconds, status or reason, bytes."""
    readers: list[Any] = []
    first = check.Reader.__init__

    def remember(self: Any, data: bytes) -> None:
        first(self, data)
        readers.append(self)

    check.Reader.__init__ = remember  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory() as place:
            path = forge2.put(Path(place) / "m", files)
            start = time.process_time()
            report = check.check_folder(path)
            seconds = time.process_time() - start
    finally:
        check.Reader.__init__ = first  # type: ignore[method-assign]
    work = check.WORK - readers[0].work if readers else 0
    return work, seconds, report.reason or report.status, sum(map(len, files.values()))


def main() -> None:
    """One line a kind."""
    parser = argparse.ArgumentParser(description="µs for a unit of work")
    parser.add_argument("kinds", nargs="*")
    chosen = parser.parse_args().kinds
    for name in [k for k in KINDS if not chosen or any(c in k for c in chosen)]:
        work, seconds, status, size = measured(KINDS[name]())
        each = 1e6 * seconds / max(work, 1)
        print(f"{name:40s} {size:>9,} B {work:>13,} units {seconds:8.3f} s {each:9.3f} µs  {status}", flush=True)


if __name__ == "__main__":
    main()
