"""Digests of whole runs: weights, histories and proofs of some twenty small fits, to compare before and after a change.

    python -m benchmarks.digests                     prints them
    python -m benchmarks.digests --save FILE         writes them
    python -m benchmarks.digests --compare FILE      exits with 1 where one differs, and says which

A change that only rearranges code moves none of them, on one machine with one version of torch. The runs take the ways
that `fit` can take: every recipe, both kinds of boxes, all numeric profiles, every rule that `fit` emits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from smilenn import (
    Bounded,
    Columns,
    Concave,
    Config,
    Convex,
    Custom,
    Dominates,
    Exclusive,
    Fair,
    Lipschitz,
    LocalRobust,
    Monotone,
    Network,
    OneOf,
    Ordered,
    Robust,
    Safe,
    SmileClassifier,
    SmileRegressor,
    SumAtMost,
    Symmetric,
)

ROWS = 300
SECONDS = ("seconds", "elapsed", "time")  # what a history records of the clock


def _table() -> pd.DataFrame:
    """Two numbers, a whole number and a category."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "x": rng.uniform(0, 4, ROWS),
            "y": rng.uniform(0, 4, ROWS),
            "n": rng.integers(0, 6, ROWS),
            "g": rng.choice(["u", "v", "w"], ROWS),
        }
    )


X = _table()
Y = (
    np.sin(2 * X["x"]) + 0.5 * np.cos(3 * X["y"]) + 0.8 * (X["n"] >= 3) + 0.7 * (X["g"] == "u")
).to_numpy() + 0.1 * np.random.default_rng(1).normal(size=ROWS)
TWO = pd.DataFrame({"p": Y, "q": Y[::-1] * 0.2 + 0.8 * np.cos(2 * X["x"])})
LABELS = (TWO > 0.3).astype(int)
CLASSES = np.array(["a", "b", "c"])[np.digitize(Y, [0.0, 0.8])]
YES = np.where(Y > 0.4, "yes", "no")
SHORT = Config(epochs=6, pretrain_epochs=20, batch_size=64, posttrain_rounds=4)
PIXELS = np.random.default_rng(2).uniform(0, 1, (200, 64))

Run = Callable[[], Any]


def _regressor(*rules: Any, target: Any = None, **options: Any) -> Any:
    return SmileRegressor(properties=list(rules), random_state=0, **options).fit(X, Y if target is None else target)


def _classifier(target: Any, *rules: Any, frame: Any = X, **options: Any) -> Any:
    return SmileClassifier(properties=list(rules), random_state=0, **options).fit(frame, target)


def _warm() -> Any:
    first = _regressor(Monotone(["x"]), config=SHORT)
    return SmileRegressor(properties=[Monotone(["x"])], random_state=1, config=SHORT).fit(X, Y, start=first)


RUNS: dict[str, Run] = {
    "monotone ensemble": lambda: _regressor(Monotone(["x"], ["y"]), config=SHORT),
    "monotone, default training": lambda: _regressor(Monotone(["x"]), network=Network(members=1)),
    "monotone and fair": lambda: _regressor(Monotone(["x"]), Fair(["g"], 0.2), config=SHORT),
    "fair classifier": lambda: _classifier(YES, Fair(["g"], 0.2), Monotone(["x"]), config=SHORT),
    "no encoder, gap boxes": lambda: _regressor(Fair(["g"], 0.4), network=Network(encoder="none"), config=SHORT),
    "no encoder, paper boxes": lambda: _regressor(
        Fair(["g"], 0.6), network=Network(boxes="paper", hidden=4), config=SHORT
    ),
    "no encoder, monotone": lambda: _regressor(
        Monotone(["x"]), network=Network(encoder="none", hidden=6), config=SHORT
    ),
    "one input, sweep": lambda: SmileRegressor(
        properties=[Lipschitz(["x"], 1.0)], random_state=0, network=Network(encoder="none"), config=SHORT
    ).fit(X[["x"]], Y),
    "affine, closed form": lambda: _regressor(Fair(["g"], 0.4), network=Network(auxiliaries="affine"), config=SHORT),
    "convex, curved units": lambda: _regressor(Convex(["x"]), Concave(["y"]), config=SHORT),
    "symmetric and dominates": lambda: _regressor(Symmetric(["x", "y"], 0.0), Dominates("x", "y"), config=SHORT),
    "lipschitz beside monotone": lambda: _regressor(Lipschitz(["x"], 0.5), Monotone(["y"]), config=SHORT),
    "robust regression": lambda: _regressor(Robust({"x": 0.2, "y": 0.1}, 0.3), config=SHORT),
    "local robustness": lambda: _regressor(LocalRobust(X.head(2), {"x": 0.3}, 0.2), config=SHORT),
    "bounded outputs": lambda: _regressor(Bounded(0, 1), config=SHORT),
    "safe on a polytope": lambda: _regressor(Safe(["x + y <= 3"], ["0 <= out <= 0.5"]), config=SHORT),
    "steps by hand": lambda: _regressor(Custom(["a.out - b.out <= 0.1"], ["a.n - b.n == 1"]), config=SHORT),
    "ordered outputs": lambda: _regressor(Ordered(["p", "q"]), target=TWO, config=SHORT),
    "sum of outputs": lambda: _regressor(SumAtMost(["p", "q"], "0.5 * y"), target=TWO, config=SHORT),
    "quantiles": lambda: SmileRegressor(quantiles=[0.1, 0.5, 0.9], random_state=0, config=SHORT).fit(X, Y),
    "labels": lambda: _classifier(LABELS, Exclusive("p", "q"), config=SHORT),
    "alternatives": lambda: _classifier(CLASSES, OneOf(["a", "b"], when=["x <= 2"]), config=SHORT),
    "several classes": lambda: _classifier(CLASSES, Monotone(["x"], output="c"), config=SHORT),
    "distances": lambda: _classifier(
        (PIXELS.mean(axis=1) > 0.5).astype(int),
        Robust(0.02),
        frame=PIXELS,
        config=SHORT,
        domain=Columns(bounds={f"x{i}": (0.0, 1.0) for i in range(64)}),
    ),
    "warm start": _warm,
}


def _timeless(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _timeless(v) for k, v in value.items() if not any(word in str(k) for word in SECONDS)}
    if isinstance(value, (list, tuple)):
        return [_timeless(v) for v in value]
    return value


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def digests(model: Any) -> dict[str, str]:
    """Digests of the weights, the history and the proofs of a fitted estimator, and its verdict in a word."""
    hasher = hashlib.sha256()
    for name, tensor in sorted(model.net_.state_dict().items()):
        hasher.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
    history = json.dumps(_timeless(model.history_), sort_keys=True, default=str)
    certificate = model.certificate_
    proofs = "" if certificate is None else _sha(certificate.files["certificate.bin"])
    rules = ""
    if certificate is not None:
        content = json.loads(certificate.files["certificate.json"])
        rules = _sha(json.dumps([_rules(entry) for entry in content["claims"]]).encode())
    return {
        "weights": hasher.hexdigest()[:16],
        "history": _sha(history.encode()),
        "proofs": proofs,
        "rules": rules,
        "profile": model.net_.profile,
        "verdict": model.verdict_.status,
    }


def _rules(entry: Mapping[str, Any]) -> Any:
    """What a claim's entry says of its proofs: rules and witnesses, not the claim itself."""
    return {key: value for key, value in entry.items() if key not in ("claim", "claim_sha256", "room")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    before = json.loads(asked.compare.read_text()) if asked.compare else {}
    found, differ = {}, []
    for name in asked.names or RUNS:
        begun = time.perf_counter()
        found[name] = digests(RUNS[name]())
        print(f"{name:32} {' '.join(found[name].values())} {time.perf_counter() - begun:.1f} s", flush=True)
        if name in before and before[name] != found[name]:
            differ.append(name)
            print(f"    was: {' '.join(before[name].values())}", flush=True)
    if asked.save:
        asked.save.write_text(json.dumps(found, indent=1) + "\n")
    if differ:
        print(f"{len(differ)} of {len(found)} runs differ: {', '.join(differ)}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
