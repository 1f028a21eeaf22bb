"""Attack on robust classifiers in both norms: a million pairs within δ, through the saved model.

    python -m benchmarks.attack_robust [--pairs 1000000]
    python -m benchmarks.attack_robust --model FOLDER [--data FOLDER] [--pairs 100000] [--seconds 600]

The first command fits, saves and loads three models: 8 × 8 digits in the maximum norm and in the Euclidean norm, and
blobs of six columns in the Euclidean norm. The second attacks a saved model of 8 × 8 or 28 × 28 digits in ten classes,
such as those that `benchmarks.two_cores --models` keeps, within every δ of its certificate: half of the pairs in the
largest. `--data` is where MNIST's files are. Pairs of five kinds, as many of each:

    random     a direction at random, δ long
    corners    every column by ±δ (Euclidean: along few axes), from rows, from corners of the box and between rows
    gradient   half of δ against and half along the gradient of a margin, that of the relaxed network with p = 8
    decision   the same around points of a line between two rows where the label changes
    nextafter  pairs of another kind moved to the last floats within δ, and pairs of neighbouring floats

Both rows of a pair go through the model in batches of 1, 7, 64, 1,000 and 4,096 rows, at another place each. What is
counted of them:

    above          pairs with a margin that changes by more than its checked bound B; in exact arithmetic near B
    accepted       pairs of which `predict_or_reject` answers both rows
    labels differ  pairs whose labels by `predict` differ
    two answers    pairs with two different answers of `predict_or_reject`; must be 0, as *above* must

The largest change is shown as a share of B, over all margins and of the one that moved least: a bound that nothing
comes near would be idle.
"""

from __future__ import annotations

import argparse
import copy
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from sklearn.datasets import load_digits

from smilenn import Network, Robust, SmileClassifier, load
from smilenn.datasets.mnist import fetch_mnist
from smilenn.estimators.radius import Norm, sizes_of
from smilenn.estimators.stability import largest_changes
from smilenn.model.encoders import Distance
from smilenn.rounding import round_down
from smilenn.train.config import Config

SIZES = (1, 7, 64, 1000, 4096)
KINDS = ("random", "corners", "gradient", "decision", "nextafter")
NEAR = 1 - 1e-9  # of B: from here on in exact arithmetic
HALVINGS = 6  # on the way to a place where the label changes
SHORT = 1e-12  # of δ, left for the rounding of Euclidean lengths
ROUND, CALLS = 20_000, 5  # of a saved model: pairs between two looks at the other kinds, and their smallest batches


@dataclass(frozen=True, eq=False)
class Promise:
    """Of two inputs within δ in this norm no margin changes by more than its `bound` [o, o]; `delta` is not above δ."""

    norm: Norm
    delta: float
    bound: np.ndarray


@dataclass(frozen=True, eq=False)
class Counts:
    """What became of pairs; `most` [o, o] is the largest change of each margin as a share of its bound."""

    pairs: int
    above: int
    accepted: int
    differ: int
    split: int
    most: np.ndarray

    def __add__(self, other: Counts) -> Counts:
        """All pairs of both."""
        return Counts(
            self.pairs + other.pairs,
            self.above + other.above,
            self.accepted + other.accepted,
            self.differ + other.differ,
            self.split + other.split,
            np.maximum(self.most, other.most),
        )

    def sentence(self) -> str:
        """In words."""
        each = self.most[~np.eye(len(self.most), dtype=bool)]
        return (
            f"{self.pairs} pairs, {self.above} above the bound, {self.accepted} with both rows accepted, "
            f"{self.differ} whose labels differ, {self.split} with two answers; the largest change is "
            f"{each.max():.1%} of the bound, of the least moved margin {each.min():.1%}"
        )


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels in [0, 1] and the digit."""
    x, y = load_digits(return_X_y=True)
    return np.asarray(x) / 16, np.asarray(y)


def blobs() -> tuple[np.ndarray, np.ndarray]:
    """Four classes in six columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=600)
    return np.clip(rng.uniform(0.2, 0.8, (4, 6))[y] + rng.normal(0, 0.1, (600, 6)), 0, 1), y


def models(folder: Path) -> list[tuple[str, SmileClassifier, Promise, np.ndarray]]:
    """Name, loaded model, its promise and rows of each."""
    made: list[tuple[str, Norm, float, tuple[np.ndarray, np.ndarray], bool, Config | None]] = [
        ("digits, maximum norm", "inf", 0.1, digits(), True, _config(20, 0.02, 0.6)),
        ("blobs, Euclidean norm", 2, 0.2, blobs(), False, None),
        ("digits, Euclidean norm", 2, 0.3, digits(), True, _config(8, 3e-3, 0.8)),
    ]
    out = []
    for number, (name, norm, delta, (x, y), image, config) in enumerate(made):
        network = Network(encoder="image") if image else None
        rule = Robust(str(delta), norm=norm)
        model = SmileClassifier(properties=[rule], network=network, config=config, random_state=0).fit(x, y)
        model.save(folder / str(number))
        again = opened(folder / str(number))
        out.append((name, again, promises(again)[0], x))
    return out


def opened(folder: Path) -> SmileClassifier:
    """A saved model, which the checker has accepted just now."""
    model = load(folder)
    if not isinstance(model, SmileClassifier) or model.task != "multiclass" or model.verdict_.status != "proved":
        raise SystemExit(f"{folder} holds no proved classifier of several classes; there is nothing to attack.")
    return model


def promises(model: SmileClassifier) -> list[Promise]:
    """What the certificate says of changes by one δ of all columns, the largest first."""
    out = []
    for claim in model.changing_claims():
        for norm in cast(tuple[Norm, Norm], ("inf", 2)):
            sizes = set(sizes_of(claim, model.outputs_, model.domain_, norm).values())
            if len(sizes) == 1:
                bound = largest_changes(model.certificate_, [claim], model.outputs_, model.domain_, model.outside_)
                out.append(Promise(norm, round_down(sizes.pop()), bound))
    return sorted(out, key=lambda one: -one.delta)


def _config(epochs: int, rate: float, margin: float) -> Config:
    return Config(patience=None, epochs=epochs, batch_size=64, train_learning_rate=rate, margin=margin)


def pairs(
    kind: str, model: SmileClassifier, promise: Promise, x: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """n pairs of rows within δ."""
    norm, delta = promise.norm, promise.delta
    if kind == "nextafter":
        a, b = pairs(str(rng.choice(["random", "corners"])), model, promise, x, n, rng)
        near = rng.random(n) < 0.25
        b[near] = np.nextafter(a[near], rng.choice([-1.0, 2.0], a[near].shape))
        return a, _inside(a, b, model, promise)
    if kind in ("gradient", "decision"):
        a = _places(model, x, n, rng) if kind == "gradient" else _decisions(model, x, n, rng)
        step = _gradient(model, a, promise, rng)
        a, b = np.clip(a - step / 2, *_ends(model)), a + step / 2
        return a, _inside(a, b, model, promise)
    a = _places(model, x, n, rng)
    if kind == "corners":
        step = rng.choice([-1.0, 1.0], a.shape)
        if norm == 2:
            step *= rng.random(a.shape) < 3 / a.shape[1]
    else:
        step = rng.normal(size=a.shape) if norm == 2 else rng.uniform(-1, 1, a.shape)
    return a, _inside(a, a + delta * _unit(step, norm), model, promise)


def _ends(model: SmileClassifier) -> tuple[np.ndarray, np.ndarray]:
    return model.domain_.lo, model.domain_.hi


def _places(model: SmileClassifier, x: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Rows, points between two rows, and corners of the box."""
    one, other = x[rng.integers(len(x), size=n)], x[rng.integers(len(x), size=n)]
    share = np.where(rng.random(n) < 0.5, 0.0, rng.random(n))[:, None]
    corners = np.where(rng.random(one.shape) < 0.5, *_ends(model))
    out = np.where(rng.random((n, 1)) < 0.1, corners, (1 - share) * one + share * other)
    return np.clip(out, *_ends(model))


def _decisions(model: SmileClassifier, x: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Points on lines between two rows where the label changes, by halving; of two rows of one label any point."""
    one, other = x[rng.integers(len(x), size=n)], x[rng.integers(len(x), size=n)]
    if not n:
        return one
    first = model.predict(one)
    for _ in range(HALVINGS):
        middle = (one + other) / 2
        same = (model.predict(middle) == first)[:, None]
        one, other = np.where(same, middle, one), np.where(same, other, middle)
    return np.clip((one + other) / 2, *_ends(model))


def _unit(step: np.ndarray, norm: Norm) -> np.ndarray:
    length = np.abs(step).max(axis=1) if norm == "inf" else np.linalg.norm(step, axis=1)
    return step / np.maximum(length, 1e-300)[:, None]


def _inside(a: np.ndarray, b: np.ndarray, model: SmileClassifier, promise: Promise, steps: int = 2) -> np.ndarray:
    """b in the box, moved towards a by a few floats, or in the Euclidean norm by a share, so that it is within δ."""
    delta, b = promise.delta, np.clip(b, *_ends(model))
    if promise.norm == 2:
        far = np.linalg.norm(b - a, axis=1, keepdims=True)
        return a + (b - a) * np.minimum(1.0, (1 - SHORT) * delta / np.maximum(far, 1e-300))
    b = np.clip(b, a - delta, a + delta)
    for _ in range(steps):
        b = np.where(np.abs(b - a) > 0.5 * delta, np.nextafter(b, a), b)
    return np.clip(b, *_ends(model))


def _gradient(model: SmileClassifier, a: np.ndarray, promise: Promise, rng: np.random.Generator) -> np.ndarray:
    """A step of length δ along the gradient of the margin between two classes, of a relaxed copy of the network."""
    net = copy.deepcopy(model.net_).train()
    for layer in net.modules():
        if isinstance(layer, Distance):
            layer.p, layer.centred = 8.0, False
    out = []
    for part in np.array_split(a, max(1, len(a) // 1000)):
        x = torch.as_tensor(part).requires_grad_()
        f = net.head(net.lower(net.encode(net.scale(x))))
        order = f.argsort(dim=1, descending=True)
        first, second = order[:, 0], order[:, 1]
        pick = torch.as_tensor(rng.random(len(part)) < 0.5)
        second = torch.where(pick, second, torch.as_tensor(rng.integers(f.shape[1], size=len(part))))
        margin = f.gather(1, first[:, None]) - f.gather(1, second[:, None])
        (slope,) = torch.autograd.grad(margin.sum(), x)
        step = np.sign(slope.numpy()) if promise.norm == "inf" else slope.numpy() + 1e-12
        out.append(promise.delta * _unit(step, promise.norm))
    return np.concatenate(out)


def through(ask: Callable[[np.ndarray], Any], x: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """What a model says of rows [n, m], asked in batches of so many rows, in an order at random."""
    order = rng.permutation(len(x))
    parts = [np.asarray(ask(x[order[at : at + size]])) for at in range(0, len(x), size)]
    return np.concatenate(parts)[np.argsort(order)]


def tried(model: SmileClassifier, promise: Promise, a: np.ndarray, b: np.ndarray, size: int, rng: Any) -> Counts:
    """Rows a and b [n, m] through the model, in batches of so many rows; those of b never one by one."""
    sizes = size, SIZES[-1] if size == 1 else size
    f, g = (through(model.outputs, x, n, rng) for x, n in zip((a, b), sizes, strict=True))
    first, second = (through(model.predict_or_reject, x, n, rng) for x, n in zip((a, b), sizes, strict=True))
    both = (first != -1) & (second != -1)
    moved = np.abs((f[:, :, None] - f[:, None]) - (g[:, :, None] - g[:, None]))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.nan_to_num(np.where(promise.bound > 0, moved / promise.bound, 0.0))
    return Counts(
        pairs=len(a),
        above=_above(promise, f, g, share),
        accepted=int(both.sum()),
        differ=int((model.decided(f) != model.decided(g)).sum()),
        split=int((both & (first != second)).sum()),
        most=share.max(axis=0),
    )


def _above(promise: Promise, f: np.ndarray, g: np.ndarray, share: np.ndarray) -> int:
    """Pairs with a margin that changes by more than its bound, in exact arithmetic."""
    found = set()
    for row, i, j in np.argwhere(share > NEAR):
        before, after = (Fraction(float(v[row, i])) - Fraction(float(v[row, j])) for v in (f, g))
        if abs(after - before) > Fraction(float(promise.bound[i, j])):
            found.add(int(row))
    return len(found)


def attack(
    kind: str,
    model: SmileClassifier,
    promise: Promise,
    x: np.ndarray,
    n: int,
    rng: np.random.Generator,
    until: float = math.inf,
    calls: int = 500,
) -> Counts:
    """n pairs of a kind around rows x, fewer where the clock (`time.monotonic`) comes to `until`.

    At most so many `calls` have batches of 1 and of 7 rows, which take longest a row.
    """
    found = Counts(0, 0, 0, 0, 0, np.zeros_like(promise.bound))
    left = n
    for size in SIZES:
        count = n // len(SIZES) if size > 7 else min(n // len(SIZES), calls * size)
        count = count if size < SIZES[-1] else left
        left -= count
        if count and time.monotonic() < until:
            found += tried(model, promise, *pairs(kind, model, promise, x, count, rng), size, rng)
    return found


def fitted(asked: int) -> Counts:
    """The three models; prints a line for each of them and each kind."""
    out, shares = [], (0.5, 0.45, 0.05)  # contractions of digits take a millisecond a row
    with tempfile.TemporaryDirectory() as folder:
        for share, (name, model, promise, x) in zip(shares, models(Path(folder)), strict=True):
            for kind in KINDS:
                n, rng = int(asked * share / len(KINDS)), np.random.default_rng(len(kind))
                out.append(attack(kind, model, promise, x, n, rng))
                print(f"{name}, {kind}: {out[-1].sentence()}", flush=True)
    return _summed(out)


def saved(folder: Path, data: Path | None, asked: int, seconds: float) -> Counts:
    """The model of a folder within every δ of its certificate; prints a line for each δ and kind."""
    model, until, rng = opened(folder), time.monotonic() + seconds, np.random.default_rng(0)
    known, x = promises(model), images(model, data)
    if not known:
        raise SystemExit(f"The certificate of {folder} has no delta that is the same for all columns.")
    wanted = {
        (place, kind): int(asked * share / len(KINDS))
        for place, share in enumerate(_shares(len(known)))
        for kind in KINDS
    }
    found = dict.fromkeys(wanted, Counts(0, 0, 0, 0, 0, np.zeros_like(known[0].bound)))
    turn = min(ROUND, max(500, max(wanted.values()) // 4))
    while time.monotonic() < until and (left := [key for key in wanted if found[key].pairs < wanted[key]]):
        for place, kind in left:
            n = min(turn, wanted[place, kind] - found[place, kind].pairs)
            found[place, kind] += attack(kind, model, known[place], x, n, rng, until, CALLS)
    for (place, kind), counts in found.items():
        if not counts.pairs:
            continue
        norm = "Euclidean norm" if known[place].norm == 2 else "maximum norm"
        print(f"{norm}, delta {known[place].delta:g}, {kind}: {counts.sentence()}", flush=True)
    return _summed(list(found.values()))


def _shares(promised: int) -> list[float]:
    """Half for the first, the rest in equal parts."""
    return [1.0] if promised == 1 else [0.5, *[0.5 / (promised - 1)] * (promised - 1)]


def _summed(counts: list[Counts]) -> Counts:
    """All of them; shares of bounds only where the models have as many classes."""
    alike = [one for one in counts if one.most.shape == counts[0].most.shape]
    total = alike[0]
    for one in counts[1:]:
        same = one.most.shape == total.most.shape
        total += one if same else Counts(one.pairs, one.above, one.accepted, one.differ, one.split, total.most)
    return total


def images(model: SmileClassifier, data: Path | None) -> np.ndarray:
    """Test images of MNIST, or all 8 × 8 digits, in the model's range of pixels."""
    if model.domain_.size not in (64, 784):
        raise SystemExit(f"The model reads {model.domain_.size} columns; this attack has images of 8 × 8 and 28 × 28.")
    x = digits()[0] if model.domain_.size == 64 else fetch_mnist("test", data).floats(np.float64)
    return np.clip(x * float(model.domain_.hi.max()), *_ends(model))


def main() -> int:
    """Print what was found; the exit code says whether a promise was broken."""
    parser = argparse.ArgumentParser(description="Attack robust classifiers in both norms.")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--model", type=Path, help="the folder of a saved model")
    parser.add_argument("--data", type=Path, help="where MNIST's files are")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no further batch after that")
    asked = parser.parse_args()
    begun = time.monotonic()
    given = asked.model, asked.data, asked.pairs, asked.seconds
    total = fitted(asked.pairs) if asked.model is None else saved(*given)
    print(f"In all, {time.monotonic() - begun:.0f} seconds: {total.sentence()}")
    return 1 if total.above or total.split else 0


if __name__ == "__main__":
    raise SystemExit(main())
