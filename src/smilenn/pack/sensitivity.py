"""How the output moves when one input moves: measured on rows, beside what is proved of it.

    Δ(row) = f(row with one feature changed, inside the domain) − f(row)

Numbers are moved by a share of their range and to both ends of it, categories to each of their values. Mean, 5 % and
95 % quantiles and the largest |Δ| are over the rows. Measured figures illustrate; what is proved stands beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from smilenn.domain import Domain, Feature
from smilenn.properties.forms import Outputs
from smilenn.properties.naming import joined, output_words
from smilenn.recourse.levers import WAYS, Lever
from smilenn.report.findings import Findings
from smilenn.report.standing import spaced
from smilenn.rounding import round_up

SHARES = (-0.1, -0.01, 0.01, 0.1)  # of a feature's range
MOST_ROWS, MOST_FEATURES = 300, 60


def sensitivity(found: Findings, known: Sequence[Lever]) -> dict[str, Any]:
    """Tables of every output, for `MOST_FEATURES` features at most (those in rules first), and the tightest pairs."""
    model, rows = found.model, found.rows
    assert rows is not None
    x, names = rows.x[spaced(len(rows), MOST_ROWS)], model.outputs_.names
    features = _chosen(found)
    before = model.net_.predict(x)
    lines = [
        _line(feature, label, model.net_.predict(moved) - before, names)
        for feature in features
        for label, moved in _moves(model.domain_, feature, x)
    ]
    return {
        "rows": len(x),
        "left_out": len(model.domain_.features) - len(features),
        "outputs": list(found.output_names),
        "changes": lines,
        "directions": [{"feature": f.name, "proved": _proved(known, f.name, model.outputs_)} for f in features],
        "rules": [_rule(found, i) for i in range(len(found.rules))],
    }


def _chosen(found: Findings) -> list[Feature]:
    named = {name for claim in found.model.claims_ for name in (*claim.named, *claim.free)}
    features = sorted(found.model.domain_.features, key=lambda f: not ({f.name, *f.coordinates} & named))
    return features[:MOST_FEATURES]


def _moves(domain: Domain, feature: Feature, x: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Changed rows [n, m], each with what was changed in words."""
    span = domain.slices[feature.name]
    if feature.kind == "category":
        for value, block in zip(feature.values, np.eye(len(feature.values)), strict=True):
            yield f"to {value!r}", _with(x, span, block)
        return
    if feature.kind == "binary":
        for place, value in enumerate(feature.categories or ("0", "1")):
            yield f"to {value!r}", _with(x, span, float(place))
        return
    wide = feature.hi - feature.lo
    for share in SHARES:
        moved = np.clip(x[:, span] + share * wide, feature.lo, feature.hi)
        yield f"{share:+.0%} of its range", _with(x, span, moved if feature.kind == "continuous" else np.rint(moved))
    yield "to the lower end", _with(x, span, feature.lo)
    yield "to the upper end", _with(x, span, feature.hi)


def _with(x: np.ndarray, span: slice, block: np.ndarray | float) -> np.ndarray:
    out = x.copy()
    out[:, span] = block
    return out


def _line(feature: Feature, label: str, moved: np.ndarray, names: Sequence[str]) -> dict[str, Any]:
    """Differences [n, o] in figures, one entry an output."""
    low, high = np.quantile(moved, [0.05, 0.95], axis=0)
    each = [
        {
            "mean": float(moved[:, k].mean()),
            "p5": float(low[k]),
            "p95": float(high[k]),
            "largest": float(np.abs(moved[:, k]).max()),
        }
        for k in range(len(names))
    ]
    return {"feature": feature.name, "change": label, "outputs": each}


def _proved(known: Sequence[Lever], feature: str, outputs: Outputs) -> str | None:
    """Which way of a feature is certified to raise a single output, in words; None where nothing is."""
    said = []
    for lever in known:
        if len(lever.form) != 1 or lever.form[0][0] < 0:
            continue
        output = output_words(outputs, lever.form[0][1])
        said += [
            f"moving it {WAYS[way]} never lowers {output}{_limits(lever)}"
            for name, way in sorted(lever.moves)
            if name == feature
        ]
    return "; ".join(dict.fromkeys(said)) or None


def _limits(lever: Lever) -> str:
    """By how much at most, and where, a move may lower an output."""
    most = f" by more than {round_up(lever.loss)!r}" if lever.loss else ""
    are = "is" if len(lever.where) == 1 else "are"
    return most + (f", where {joined([repr(name) for name in lever.where])} {are} known" if lever.where else "")


def _rule(found: Findings, number: int) -> dict[str, Any]:
    """A rule, the checked bound on its violation, and the largest left side minus right side that a search found."""
    rule, claim = found.rules[number], found.model.claims_[number]
    probes = [probe for probe in found.probes if probe.claim == claim]
    return {
        "rule": rule.sentence,
        "certified": rule.certified,
        "bound": rule.bound if np.isfinite(rule.bound) else None,
        "found": float(probes[0].value.max()) if probes else None,
        "rows": len(probes[0].value) if probes else 0,
    }
