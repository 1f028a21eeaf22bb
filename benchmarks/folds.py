"""Adult in five folds, its rows as they come: accuracy, certificates, seconds.

    python -m benchmarks.folds FOLDER [--rows 5000]

FOLDER is that of benchmarks/tables.py. Nothing is filled in, pooled, scaled or dropped: "?" stands where nothing is
known, and a fold may hold a category that no other has. The rule is that of benchmarks/tables.py: rises in education
and hours, fair in sex and race at ε = 0.5. Seconds are those of the processor, one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold, cross_validate
from threadpoolctl import threadpool_limits

from benchmarks.tables import TABLES
from smilenn import SmileClassifier


def main(arguments: Sequence[str]) -> None:
    """Print a line of JSON."""
    parser = argparse.ArgumentParser(description="Adult in five folds, without preparation")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, help="only the first so many rows")
    chosen = parser.parse_args(arguments)
    table = TABLES["adult"]
    x, y = (part[: chosen.rows] for part in table.read(chosen.folder))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    new = [_unseen(x.iloc[own], x.iloc[rows]) for own, rows in folds.split(x, y)]
    torch.set_num_threads(1)
    begun = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = SmileClassifier(properties=table.properties(), random_state=0)
        found: Any = cross_validate(
            model,
            x,
            y,
            cv=folds,
            scoring=("accuracy", "roc_auc"),
            return_estimator=True,
            error_score="raise",  # pyright: ignore[reportArgumentType]
        )
    print(
        json.dumps(
            {
                "rows": len(x),
                "accuracy": [round(float(v), 4) for v in found["test_accuracy"]],
                "mean": round(float(np.mean(found["test_accuracy"])), 4),
                "auc": round(float(np.mean(found["test_roc_auc"])), 4),
                "certified": sum(bool(one.verdict_.certificate) for one in found["estimator"]),
                "unseen_categories": new,
                "warnings": sorted({str(one.message) for one in told if one.category is UserWarning})[:5],
                "processor": round(time.process_time() - begun),
            },
            ensure_ascii=False,
        )
    )


def _unseen(own: Any, rows: Any) -> list[str]:
    """Categories of `rows` that `own` does not have."""
    texts = rows.select_dtypes(exclude="number").columns
    return [f"{name}={value}" for name in texts for value in sorted(set(rows[name]) - set(own[name]))]


if __name__ == "__main__":
    main(sys.argv[1:])
