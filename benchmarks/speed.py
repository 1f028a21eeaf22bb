"""How long default models of real tables take to fit and to predict, as multiples of what they are made of.

    python -m benchmarks.speed FOLDER [--only concrete]

fit        smilenn at its defaults, certificate and check included  /  (LightGBM at its defaults, up to 1,000 trees with
           early stopping, + a plain 64-64 network for as many epochs)
predict    the fitted model  /  (as many trees of scikit-learn's HistGradientBoosting + that network)

Processor time of one thread, child processes included, so that other programs on the machine count less. FOLDER is that
of benchmarks/tables.py; a fifth of the rows is predicted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.tables import TABLES, Table, score
from benchmarks.trees import best
from smilenn import Monotone, SmileClassifier, SmileRegressor
from smilenn.model.encoders import Trees
from smilenn.train.config import Config

BATCH, RATE, RUNS = 256, 1e-3, 5


def seconds(ask: Callable[[], object]) -> float:
    """Processor time of this process and of those it starts and waits for."""
    before = os.times()
    ask()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def is_class(y: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(y)


def codes(rows: pd.DataFrame, known: pd.DataFrame) -> tuple[pd.DataFrame, list[bool]]:
    """Categories as numbers, and which columns they are."""
    texts = [not pd.api.types.is_numeric_dtype(known[name]) for name in known]
    out = rows.copy()
    for name, text in zip(known, texts, strict=True):
        if text:
            out[name] = pd.Categorical(rows[name], categories=sorted(known[name].unique())).codes
    return out, texts


def one_hot(rows: pd.DataFrame, known: pd.DataFrame) -> torch.Tensor:
    """Rows for a plain network: numbers standardised, categories one-hot."""
    wide, whole = (pd.get_dummies(one, dtype=float) for one in (rows, known))
    wide = wide.reindex(columns=whole.columns, fill_value=0.0)
    return torch.tensor(((wide - whole.mean()) / whole.std().clip(lower=1e-9)).to_numpy(), dtype=torch.float32)


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


def lightgbm_fit(x: pd.DataFrame, y: np.ndarray, table: Table, classify: bool) -> None:
    """LightGBM under the same signs, stopped by a tenth of the rows."""
    import lightgbm

    names, (coded, texts) = list(x.columns), codes(x, x)
    parts: Any = train_test_split(coded, y, test_size=0.1, random_state=0)
    model = (lightgbm.LGBMClassifier if classify else lightgbm.LGBMRegressor)(
        n_estimators=1000,
        monotone_constraints=[table.signs.get(name, 0) for name in names],
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
    table = TABLES[name]
    x, y = table.read(folder)
    parts: Any = train_test_split(x, y, test_size=0.2, random_state=100)
    own, rows, y_own, y_rows = parts
    classify = is_class(y)
    model = (SmileClassifier if classify else SmileRegressor)(properties=table.properties(), random_state=0)
    fit = seconds(lambda: model.fit(own, y_own))
    epochs = sum(record["phase"] == "train" for record in model.history_)
    target = (
        (y_own == y_own.iloc[0]).to_numpy()
        if classify
        else ((y_own - y_own.mean()) / y_own.std()).to_numpy(dtype=float)
    )
    seen = own.drop(columns=list(table.protected))
    wide, asked = one_hot(seen, seen), rows.drop(columns=list(table.protected))
    wide_rows, coded = one_hot(asked, seen), codes(asked, seen)[0]
    nets: list[torch.nn.Module] = []
    network = seconds(lambda: nets.append(plain_network(wide, target, epochs, classify)))
    light = seconds(lambda: lightgbm_fit(seen, target, table, classify))
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
        "score": score(y_rows, np.asarray(model.predict(rows))),
        "status": model.verdict_.status,
    }


def warm_up() -> None:
    """Import what every first fit imports."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=60)})
    SmileRegressor(properties=[Monotone("a")], config=Config(epochs=1), random_state=0).fit(x, 2 * x["a"].to_numpy())


def main(arguments: Sequence[str]) -> None:
    """Print a line of JSON for every table."""
    parser = argparse.ArgumentParser(description="times of default models against what they are made of")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=sorted(TABLES), action="append")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with threadpool_limits(1):
        warm_up()
        for name in chosen.only or TABLES:
            print(json.dumps(measured(name, chosen.folder)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
