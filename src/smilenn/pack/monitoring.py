"""What to watch in operation, with thresholds that follow from the domain and the measured rows.

For a window of n new rows and the N rows measured here, with a false alarm in one window of a hundred:

    rows outside     alarm above the 99 % quantile of Binomial(n, p⁺) / n,    p⁺ the upper end of Wilson's interval
    drift            alarm above  χ²(0.99; B − 1) · (1/n + 1/N),   for   PSI = Σ_b (q_b − p_b) ln(q_b / p_b)
    quality          alarm beyond the end of its interval on the worse side

p and q are the shares of B bins, half a row added to each bin: deciles of the measured rows, or categories. If nothing
has changed PSI has about that χ² distribution; 0.1 and 0.25 are rules of thumb that fit no particular n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import binom, chi2

from smilenn.domain import Domain, Feature
from smilenn.pack.quality import worst_end
from smilenn.report.findings import Findings
from smilenn.report.quality import wilson

WINDOW = 1000
FALSE_ALARMS = 0.01
MOST_BINS, LEAST_IN_BIN = 10, 20


def monitoring(found: Findings, x: np.ndarray, digest: str) -> dict[str, Any]:
    """The plan for rows like x [n, m], read and not yet moved into the domain."""
    model, output = found.model, found.output
    assert output is not None
    domain = model.domain_
    drift = [_drift(feature, x[:, domain.slices[feature.name]]) for feature in domain.features]
    drift += [
        {"column": name, "of": "prediction", **_binned(output[:, k])} for k, name in enumerate(found.output_names)
    ]
    return {
        "window": WINDOW,
        "false_alarms": FALSE_ALARMS,
        "rows": len(x),
        "folder": {"digest": digest, "command": "smile check MODEL", "when": "after every deployment, and on a timer"},
        "outside": _outside(domain, x),
        "then": _then(model.outside_),
        "drift": drift,
        "quality": _quality(found),
    }


def _then(outside: str) -> str:
    """What an alarm about rows outside means for the rules."""
    if outside == "raise":
        return "Rows outside the domain are refused. Collect such rows, widen the domain and fit and certify again."
    return (
        "Rows outside the domain are predicted at its edge, where the rules hold; no quality was measured there. "
        "Collect such rows, widen the domain and fit and certify again."
    )


def _outside(domain: Domain, x: np.ndarray) -> list[dict[str, Any]]:
    """Shares outside: of any column first, then column by column."""
    out = (x < domain.lo) | (x > domain.hi)
    numeric = [feature for feature in domain.features if feature.kind in ("continuous", "integer")]
    columns = [(feature.name, out[:, domain.slices[feature.name]].any(axis=1)) for feature in numeric]
    return [{"column": name, **_limit(mask)} for name, mask in [("any column", out.any(axis=1)), *columns]]


def _limit(mask: Any) -> dict[str, float]:
    seen = wilson(int(mask.sum()), len(mask))
    assert seen.high is not None
    return {"share": seen.value, "alarm": float(binom.ppf(1 - FALSE_ALARMS, WINDOW, seen.high)) / WINDOW}


def _drift(feature: Feature, block: np.ndarray) -> dict[str, Any]:
    own: dict[str, Any] = {"column": feature.name, "of": "input"}
    if feature.kind == "category":
        return own | _shared(feature.values, np.bincount(block.argmax(axis=1), minlength=len(feature.values)))
    if feature.kind == "binary":
        names = feature.categories or ("0", "1")
        return own | _shared(names, np.bincount((block[:, 0] > 0.5).astype(int), minlength=2))
    return own | _binned(block[:, 0])


def _binned(values: np.ndarray) -> dict[str, Any]:
    """Bins between deciles of values [n], fewer where there are few rows or few different values."""
    bins = int(np.clip(len(values) // LEAST_IN_BIN, 2, MOST_BINS))
    edges = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    found = _shared((), np.bincount(np.searchsorted(edges, values, side="left"), minlength=len(edges) + 1))
    return {"edges": edges.tolist()} | found


def _shared(names: Sequence[str], counts: np.ndarray) -> dict[str, Any]:
    """Shares of bins with these counts [b], and the PSI at which to raise an alarm; one bin cannot drift."""
    n = int(counts.sum())
    spread = (1 / WINDOW + 1 / n) * float(chi2.ppf(1 - FALSE_ALARMS, len(counts) - 1)) if len(counts) > 1 else None
    named = {"values": list(names)} if names else {}
    return named | {"shares": shares(counts).tolist(), "alarm": spread}


def shares(counts: np.ndarray) -> np.ndarray:
    """Shares [b] of counts [b], half a row added to each."""
    return (counts + 0.5) / (counts.sum() + 0.5 * len(counts))


def psi(p: np.ndarray, q: np.ndarray) -> float:
    """The population stability index of shares q [b] against p [b].

    >>> psi(np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    0.0
    """
    return float(((q - p) * np.log(q / p)).sum())


def _quality(found: Findings) -> list[dict[str, Any]]:
    assert found.quality is not None
    return [
        {
            "measure": metric.name,
            "measured": metric.model.value,
            "alarm": worst_end(metric.model, metric.higher_is_better),
            "worse": "lower" if metric.higher_is_better else "higher",
        }
        for metric in found.quality.metrics
    ]
