"""The rows that a model is measured on, column by column, beside the domain that its rules cover.

Shares are of all rows. A cell outside the domain is one below its lower or above its upper end; text outside the listed
categories never gets this far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain import Domain, Feature

QUANTILES = {"p5": 0.05, "median": 0.5, "p95": 0.95}


def profile(domain: Domain, frame: pd.DataFrame, x: np.ndarray, target: np.ndarray) -> dict[str, Any]:
    """Columns of x [n, m], read and not yet moved into the domain, and the target [n] or [n, o]."""
    outside = ((x < domain.lo) | (x > domain.hi)).any(axis=1)
    return {
        "rows": len(x),
        "outside": _share(outside),
        "columns": [_column(feature, frame, x[:, domain.slices[feature.name]]) for feature in domain.features],
        "target": _target(target),
    }


def _column(feature: Feature, frame: pd.DataFrame, block: np.ndarray) -> dict[str, Any]:
    cells = frame[[name for name in feature.raw_columns if name in frame.columns]]
    out: dict[str, Any] = {
        "name": feature.name,
        "kind": feature.kind,
        "unit": feature.unit,
        "missing": _share(cells.isna().any(axis=1).to_numpy()) if len(cells.columns) else 1.0,
    }
    if feature.kind == "category":
        return out | {"values": _counted(feature.values, block.argmax(axis=1))}
    if feature.kind == "binary":
        return out | {"values": _counted(feature.categories or ("0", "1"), (block[:, 0] > 0.5).astype(int))}
    values = block[:, 0]
    return out | {
        "domain": {"low": feature.lo, "high": feature.hi},
        "outside": _share((values < feature.lo) | (values > feature.hi)),
        "found": numbers(values),
    }


def numbers(values: np.ndarray) -> dict[str, float]:
    """Minimum, quantiles, maximum, mean and standard deviation of values [n]."""
    ends = {"min": float(values.min()), "max": float(values.max())}
    middle = {name: float(np.quantile(values, level)) for name, level in QUANTILES.items()}
    return ends | middle | {"mean": float(values.mean()), "sd": float(values.std())}


def _counted(names: tuple[str, ...], codes: np.ndarray) -> list[dict[str, Any]]:
    counts = np.bincount(codes, minlength=len(names))
    return [
        {"value": name, "rows": int(count), "share": int(count) / len(codes)}
        for name, count in zip(names, counts, strict=True)
    ]


def _target(values: np.ndarray) -> list[dict[str, Any]]:
    """Numbers with their spread, classes with their shares; one record a target."""
    columns = values.reshape(len(values), -1)
    out: list[dict[str, Any]] = []
    for k in range(columns.shape[1]):
        column = columns[:, k]
        if column.dtype.kind in "fiu" and len(np.unique(column)) > 2:
            out.append({"found": numbers(column.astype(float))})
        else:
            names, counts = np.unique(column.astype(str), return_counts=True)
            shares = zip(names.tolist(), counts.tolist(), strict=True)
            out.append({"values": [{"value": n, "rows": c, "share": c / len(column)} for n, c in shares]})
    return out


def _share(mask: Any) -> float:
    return float(mask.mean())
