"""Attack on robust classifiers in both norms: a million pairs within δ, through the saved model.

    python -m benchmarks.attack_robust [--pairs 1000000]

Three models are fitted, saved and loaded again: 8 × 8 digits in the maximum norm and in the Euclidean norm, and blobs
of six columns in the Euclidean norm. Pairs of four kinds, as many of each:

    random     a direction at random, δ long
    corners    every column by ±δ (Euclidean: along few axes), from rows, from corners of the box and between rows
    gradient   half of δ against and half along the gradient of a margin, that of the relaxed network with p = 8
    nextafter  pairs of another kind moved to the last floats within δ, and pairs of neighbouring floats

Both rows of a pair go through the model in batches of 1, 7, 64, 1,000 and 4,096 rows, at another place each. Margins
that change by more than the checked bound B are counted, in exact arithmetic where floats come near it, and pairs with
two different answers of `predict_or_reject`. The largest change is shown as a share of B: a bound that nothing comes
near would be idle.
"""

from __future__ import annotations

import argparse
import copy
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits

from smilenn import Network, Robust, SmileClassifier, load
from smilenn.estimators.radius import Norm
from smilenn.model.encoders import Distance
from smilenn.train.config import Config

SIZES = (1, 7, 64, 1000, 4096)
KINDS = ("random", "corners", "gradient", "nextafter")
NEAR = 1 - 1e-9  # of B: from here on in exact arithmetic


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels in [0, 1] and the digit."""
    x, y = load_digits(return_X_y=True)
    return np.asarray(x) / 16, np.asarray(y)


def blobs() -> tuple[np.ndarray, np.ndarray]:
    """Four classes in six columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=600)
    return np.clip(rng.uniform(0.2, 0.8, (4, 6))[y] + rng.normal(0, 0.1, (600, 6)), 0, 1), y


def models(folder: Path) -> list[tuple[str, SmileClassifier, Norm, float, np.ndarray]]:
    """Name, loaded model, norm, δ and rows of each."""
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
        again = load(folder / str(number))
        assert isinstance(again, SmileClassifier) and again.verdict_.status == "proved"
        out.append((name, again, norm, delta, x))
    return out


def _config(epochs: int, rate: float, margin: float) -> Config:
    return Config(patience=None, epochs=epochs, batch_size=64, train_learning_rate=rate, margin=margin)


def pairs(
    kind: str, model: SmileClassifier, norm: Norm, delta: float, x: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """n pairs of rows within δ."""
    a = _places(model, x, n, rng)
    if kind == "nextafter":
        kinds = rng.choice(["random", "corners"])
        a, b = pairs(str(kinds), model, norm, delta, x, n, rng)
        near = rng.random(n) < 0.25
        b[near] = np.nextafter(a[near], rng.choice([-1.0, 2.0], a[near].shape))
        return a, _inside(a, b, model, norm, delta, steps=2)
    if kind == "gradient":
        step = _gradient(model, a, norm, delta, rng)
        a, b = a - step / 2, a + step / 2
        return _inside(a, a, model, norm, delta, 2), _inside(np.clip(a, *_ends(model)), b, model, norm, delta, 2)
    if kind == "corners":
        step = rng.choice([-1.0, 1.0], a.shape)
        if norm == 2:
            step *= rng.random(a.shape) < 3 / a.shape[1]
    else:
        step = rng.normal(size=a.shape) if norm == 2 else rng.uniform(-1, 1, a.shape)
    return a, _inside(a, a + delta * _unit(step, norm), model, norm, delta, 2)


def _ends(model: SmileClassifier) -> tuple[np.ndarray, np.ndarray]:
    return model.domain_.lo, model.domain_.hi


def _places(model: SmileClassifier, x: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Rows, points between two rows, and corners of the box."""
    one, other = x[rng.integers(len(x), size=n)], x[rng.integers(len(x), size=n)]
    share = np.where(rng.random(n) < 0.5, 0.0, rng.random(n))[:, None]
    corners = np.where(rng.random(one.shape) < 0.5, *_ends(model))
    out = np.where(rng.random((n, 1)) < 0.1, corners, (1 - share) * one + share * other)
    return np.clip(out, *_ends(model))


def _unit(step: np.ndarray, norm: Norm) -> np.ndarray:
    length = np.abs(step).max(axis=1) if norm == "inf" else np.linalg.norm(step, axis=1)
    return step / np.maximum(length, 1e-300)[:, None]


def _inside(a: np.ndarray, b: np.ndarray, model: SmileClassifier, norm: Norm, delta: float, steps: int) -> np.ndarray:
    """b in the box, moved towards a by a few floats, or in the Euclidean norm by a share, so that it is within δ."""
    b = np.clip(b, *_ends(model))
    if norm == 2:
        far = np.linalg.norm(b - a, axis=1, keepdims=True)
        return a + (b - a) * np.minimum(1.0, (1 - 1e-13) * delta / np.maximum(far, 1e-300))
    b = np.clip(b, a - delta, a + delta)
    for _ in range(steps):
        b = np.where(np.abs(b - a) > 0.5 * delta, np.nextafter(b, a), b)
    return np.clip(b, *_ends(model))


def _gradient(model: SmileClassifier, a: np.ndarray, norm: Norm, delta: float, rng: np.random.Generator) -> np.ndarray:
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
        step = slope.numpy()
        out.append(delta * _unit(np.sign(step) if norm == "inf" else step + 1e-12, norm))
    return np.concatenate(out)


def outputs(model: SmileClassifier, x: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Logits [n, o] through batches of so many rows, in an order at random; one by one a share only."""
    order, found = rng.permutation(len(x)), np.empty((len(x), len(model.outputs_.names)))
    if not len(x):
        return found
    for at in range(0, len(x), size):
        rows = order[at : at + size]
        found[rows] = model.outputs(x[rows])
    return found


def attack(
    kind: str, model: SmileClassifier, norm: Norm, delta: float, x: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[int, int, float, int]:
    """Pairs, violations, the largest change as a share of B, and pairs with two different answers."""
    change, done, broken, split, most = model.largest_changes(), 0, 0, 0, 0.0
    for size in SIZES:
        count = n // len(SIZES) if size > 7 else min(n // len(SIZES), 500 * size)
        count = count if size < SIZES[-1] else n - done
        a, b = pairs(kind, model, norm, delta, x, count, rng)
        f, g = outputs(model, a, size, rng), outputs(model, b, SIZES[-1] if size == 1 else size, rng)
        moved = np.abs((f[:, :, None] - f[:, None]) - (g[:, :, None] - g[:, None]))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.nan_to_num(np.where(change > 0, moved / change, 0.0))
        most = max(most, float(share.max()))
        for row, i, j in np.argwhere(share > NEAR):
            before, after = (Fraction(float(v[row, i])) - Fraction(float(v[row, j])) for v in (f, g))
            broken += abs(after - before) > Fraction(float(change[i, j]))
        answers, kept = ([judge(v) for v in (f, g)] for judge in (model.decided, model.accepted))
        split += int(((answers[0] != answers[1]) & kept[0] & kept[1]).sum())
        done += count
    return done, broken, most, split


def main() -> int:
    """Print a line for each model and kind; the exit code says whether a promise was broken."""
    parser = argparse.ArgumentParser(description="Attack robust classifiers in both norms.")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    asked = parser.parse_args().pairs
    total = failed = 0
    shares = (0.5, 0.45, 0.05)  # contractions of digits take a millisecond a row
    with tempfile.TemporaryDirectory() as folder:
        for share, (name, model, norm, delta, x) in zip(shares, models(Path(folder)), strict=True):
            for kind in KINDS:
                rng = np.random.default_rng(len(kind))
                n, broken, most, split = attack(kind, model, norm, delta, x, int(asked * share / len(KINDS)), rng)
                total, failed = total + n, failed + broken + split
                print(
                    f"{name}, {kind}: {n} pairs, {broken} above the bound, {split} with two answers; "
                    f"the largest change is {most:.1%} of the bound",
                    flush=True,
                )
    print(f"{total} pairs, {failed} broken promises")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
