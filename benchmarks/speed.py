"""How long default models of real tables take to fit and to predict, as multiples of what they are made of.

    python -m benchmarks.speed FOLDER [--only concrete law]

fit        smilenn at its defaults, certificate and check included  /  (LightGBM at its defaults, up to 1,000 trees with
           early stopping, + a plain 64-64 network for as many epochs)
predict    the fitted model  /  (as many trees of scikit-learn's HistGradientBoosting + that network)

Processor time of one thread, child processes included, so that other programs on the machine count less. The tables and
rules are those of `smile reproduce tables`, FOLDER is its data folder; a fifth of the rows is predicted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.trees import best
from smilenn import Monotone, SmileClassifier, SmileRegressor
from smilenn.datasets.split import split
from smilenn.experiments.practice import PRACTICE, practice
from smilenn.model.encoders import Trees
from smilenn.train.config import Config

BATCH, RATE, RUNS = 256, 1e-3, 5
SEED = 100  # of the split: none of those that are scored


def seconds(ask: Callable[[], object]) -> float:
    """Processor time of this process and of those it starts and waits for."""
    before = os.times()
    ask()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def codes(rows: pd.DataFrame, known: pd.DataFrame) -> tuple[pd.DataFrame, list[bool]]:
    """Categories as numbers, and which columns they are."""
    texts = [not pd.api.types.is_numeric_dtype(known[name]) for name in known]
    out = rows.copy()
    for name, text in zip(known, texts, strict=True):
        if text:
            out[name] = pd.Categorical(rows[name], categories=sorted(known[name].dropna().unique())).codes
    return out, texts


def one_hot(rows: pd.DataFrame, known: pd.DataFrame) -> torch.Tensor:
    """Rows for a plain network: numbers standardised, categories one-hot."""
    wide, whole = (pd.get_dummies(one, dtype=float) for one in (rows, known))
    wide = wide.reindex(columns=whole.columns, fill_value=0.0)
    scaled = (wide - whole.mean()) / whole.std().clip(lower=1e-9)  # what is missing is filled with the mean
    return torch.tensor(scaled.fillna(0.0).to_numpy(), dtype=torch.float32)


def plain_network(x: torch.Tensor, y: np.ndarray, epochs: int, classify: bool) -> torch.nn.Module:
    """A network of 64-64 units trained by Adam."""
    net = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 1),
    )
    loss = torch.nn.BCEWithLogitsLoss() if classify else torch.nn.MSELoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    target = torch.tensor(y, dtype=torch.float32)[:, None]
    for _ in range(epochs):
        for index in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            loss(net(x[index]), target[index]).backward()
            optimizer.step()
    return net


def lightgbm_fit(x: pd.DataFrame, y: np.ndarray, signs: Mapping[str, int], classify: bool) -> None:
    """LightGBM under the same signs, stopped by a tenth of the rows."""
    import lightgbm

    names, (coded, texts) = list(x.columns), codes(x, x)
    parts: Any = train_test_split(coded, y, test_size=0.1, random_state=0)
    model = (lightgbm.LGBMClassifier if classify else lightgbm.LGBMRegressor)(
        n_estimators=1000,
        monotone_constraints=[signs.get(name, 0) for name in names],
        n_jobs=1,
        verbose=-1,
    )
    model.fit(
        parts[0],
        parts[2],
        eval_set=[(parts[1], parts[3])],
        categorical_feature=[i for i, text in enumerate(texts) if text],
        callbacks=[lightgbm.early_stopping(20, verbose=False)],
    )


def boosters(trees: Sequence[int], x: pd.DataFrame, y: np.ndarray, classify: bool) -> list[Any]:
    """HistGradientBoosting with so many trees each, leaves as in the model."""
    coded, texts = codes(x, x)
    kind: Any = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
    return [
        kind(
            max_iter=many,
            max_leaf_nodes=31 if i % 2 == 0 else 63,
            min_samples_leaf=5,
            early_stopping=False,
            categorical_features=texts,
        ).fit(coded, y)
        for i, many in enumerate(trees)
    ]


def measured(name: str, folder: Path) -> dict[str, Any]:
    """The line of one table."""
    rule = practice(name)
    train, test = split(rule.table(folder), seed=SEED)
    own, rows, classify = train.frame, test.frame, train.task == "binary"
    model = (SmileClassifier if classify else SmileRegressor)(properties=rule.properties(), random_state=0)
    fit = seconds(lambda: model.fit(own, train.target))
    epochs = sum(record["phase"] == "train" for record in model.history_)
    y = train.target.to_numpy(dtype=np.float64)
    target = y > 0.5 if classify else (y - y.mean()) / y.std()
    seen, asked = (part.drop(columns=list(rule.protected)) for part in (own, rows))
    wide, wide_rows, coded = one_hot(seen, seen), one_hot(asked, seen), codes(asked, seen)[0]
    nets: list[torch.nn.Module] = []
    network = seconds(lambda: nets.append(plain_network(wide, target, epochs, classify)))
    signs = dict.fromkeys(rule.increasing, 1) | dict.fromkeys(rule.decreasing, -1)
    light = seconds(lambda: lightgbm_fit(seen, target, signs, classify))
    layers = [layer for layer in model.net_.modules() if isinstance(layer, Trees)]
    peers = boosters([sum(layer.trees) for layer in layers], seen, target, classify)

    def peers_predict() -> None:
        for peer in peers:
            peer.predict(coded)
        with torch.no_grad():
            nets[0](wide_rows)

    predict, theirs = best(lambda: model.predict(rows), RUNS), best(peers_predict, RUNS)
    return {
        "table": name,
        "epochs": epochs,
        "fit": round(fit, 2),
        "lightgbm": round(light, 2),
        "network": round(network, 2),
        "fit_ratio": round(fit / (light + network), 1),
        "predict": round(predict, 3),
        "trees_and_network": round(theirs, 3),
        "predict_ratio": round(predict / theirs, 2),
        "rows": len(rows),
        "status": model.verdict_.status,
    }


def warm_up() -> None:
    """Import what every first fit imports, ours and theirs."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=60)})
    plain_network(torch.zeros(60, 1), np.zeros(60), 1, False)
    lightgbm_fit(x, x["a"].to_numpy(), {}, False)
    SmileRegressor(properties=[Monotone("a")], config=Config(epochs=1), random_state=0).fit(x, 2 * x["a"].to_numpy())


def main(arguments: Sequence[str]) -> None:
    """Print a line of JSON for every table."""
    parser = argparse.ArgumentParser(description="times of default models against what they are made of")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=sorted(PRACTICE), nargs="+", default=list(PRACTICE))
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with threadpool_limits(1):
        warm_up()
        for name in chosen.only:
            print(json.dumps(measured(name, chosen.folder)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
