"""A Transformer over texts of any length, monotone and fair in the columns beside them, certified.

    f(x) = ½·(t(tokens) + m(income, age))        t: a Transformer, free;   m: monotone by the signs of its weights

A claim about income or group pins the tokens: both inputs have the same, so t returns the same bits for both, whatever
it is. What is proved lives in two numbers, t and m, and takes as long for 8 tokens as for 64.

    python examples/sequence.py
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import torch
from torch import nn

from smilenn import Config, Domain, Fair, Feature, Network, SmileRegressor
from smilenn.model.encoders import Branch, Encoder, Pinned
from smilenn.model.encoders.monotone import monotone_encoder

WORDS = 20  # tokens 1 … 20; 0 fills a text up


class Transformer(nn.Module):
    """One attention layer over tokens [B, L] (0: none), averaged over the text; no dropout, no batch statistics."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(WORDS + 1, width)
        self.attend = nn.MultiheadAttention(width, 2, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """[B, L] → [B, 1]."""
        words = tokens.round().long()
        empty = words == 0
        empty[:, 0] = False  # attention needs at least one place to look at
        h = self.embed(words)
        h = self.norm(h + self.attend(h, h, h, key_padding_mask=empty, need_weights=False)[0])
        there = (~empty).to(h.dtype)[:, :, None]
        return self.out((h * there).sum(dim=1) / there.sum(dim=1))


def reviews(rows: int, length: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Texts of 3 to `length` words beside income, age and group; words above ten are good ones."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(1, WORDS + 1, size=(rows, length))
    tokens[np.arange(length) >= rng.integers(3, length + 1, size=rows)[:, None]] = 0
    frame = pd.DataFrame(tokens, columns=[f"t{i}" for i in range(length)])
    frame["income"], frame["age"] = rng.uniform(0, 9, rows), rng.uniform(18, 80, rows)
    frame["group"] = rng.choice(["u", "v"], rows)
    mood = ((tokens > 10).sum(axis=1) - ((tokens > 0) & (tokens <= 10)).sum(axis=1)) / (tokens > 0).sum(axis=1)
    y = 2 * mood + np.sqrt(frame["income"]) + 0.3 * (frame["group"] == "u") + rng.normal(0, 0.1, rows)
    return frame, y.to_numpy()


def model(length: int, config: Config) -> SmileRegressor:
    """An estimator for texts of up to `length` tokens."""
    words = [Feature(f"t{i}", "integer", 0.0, float(WORDS)) for i in range(length)]
    beside = [
        Feature("income", "continuous", 0.0, 9.0, shift=4.5, mult=0.25),
        Feature("age", "continuous", 18.0, 80.0, shift=49.0, mult=1 / 32),
        Feature("group", "category", categories=("u", "v")),
    ]
    domain = Domain((*words, *beside))

    def encoder(domain: Domain, u: np.ndarray) -> Encoder:
        read = [f"t{i}" for i in range(length)] + ["group"]
        core = monotone_encoder(domain, u, increasing=["income"], without=read, ramps=8, units=(16,))
        text = Branch("text", range(length), [Pinned(Transformer().double(), 1)])
        return Encoder(domain, [text, *(branch for branch in core.branches if isinstance(branch, Branch))])

    return SmileRegressor(
        domain=domain,
        network=Network(encoder=encoder),
        increasing=["income"],
        properties=Fair(["group"], 0),
        config=config,
        random_state=0,
    )


def main(lengths: tuple[int, ...] = (8, 64), rows: int = 1500, epochs: int = 30) -> list[dict[str, float]]:
    """Fit, certify and time the proof for texts of several lengths."""
    found = []
    for length in lengths:
        frame, y = reviews(rows, length)
        test = np.arange(rows) < rows // 5
        config = Config(epochs=epochs, batch_size=128, learning_rate=3e-3, train_learning_rate=3e-3, weight_decay=0.1)
        estimator = model(length, config).fit(frame[~test], y[~test])
        start = time.perf_counter()
        verdict = estimator.certify()
        seconds = time.perf_counter() - start
        score = estimator.score(frame[test], y[test])
        print(f"up to {length:3d} tokens: R² {score:.3f}, {verdict.sentence()}, proof and certificate {seconds:.2f} s")
        found.append(
            {
                "length": length,
                "r2": score,
                "seconds": seconds,
                "certified": verdict.status == "proved",
                "encoded": estimator.net_.space.size,
            }
        )
    return found


if __name__ == "__main__":
    main()
