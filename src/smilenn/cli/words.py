"""What the commands say: verdicts, counterexamples in the user's columns and units, quality."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain import Domain
from smilenn.properties.claim import COPIES
from smilenn.prove.verdict import Proved, Unknown, Verdict, Violated

MOST_FEATURES = 24  # longer counterexamples show only what differs between the copies


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: bool = True) -> str:
    """Columns aligned with spaces: the first to the left (unless told), the others to the right.

    >>> text_table(["feature", "a"], [["age", "30"]]).splitlines()
    ['feature   a', 'age      30']
    """
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]

    def aligned(line: list[str]) -> str:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        return "  ".join((line[0].ljust(widths[0]) if left else cells[0], *cells[1:])).rstrip()

    return "\n".join(aligned(line) for line in lines)


def shown(value: Any) -> str:
    """A cell: numbers with up to six digits, everything else as it is."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return str(value)


def inputs_table(x: np.ndarray, domain: Domain, outputs: Mapping[str, np.ndarray]) -> str:
    """Input tuples x [k, m] side by side in the user's columns, with output rows [k] below; differing ones first."""
    frame = domain.decode(x)
    units = {feature.name: f" ({feature.unit})" if feature.unit else "" for feature in domain.features}
    rows = [
        (f"{name}{units.get(str(name), '')}", [shown(value) for value in frame[name]], bool(frame[name].nunique() > 1))
        for name in frame.columns
    ]
    rows.sort(key=lambda row: not row[2])
    kept = rows if len(rows) <= MOST_FEATURES else [row for row in rows if row[2]]
    header = ["", *COPIES[: len(frame)]]
    lines = [[f"{name}{' *' if differs and len(frame) > 1 else ''}", *cells] for name, cells, differs in kept]
    lines += [[name, *(shown(float(value)) for value in values)] for name, values in outputs.items()]
    table = text_table(header, lines)
    hidden = len(rows) - len(kept)
    return table + (f"\n({hidden} further columns are equal)" if hidden else "")


def verdict_text(verdict: Verdict, domain: Domain, outputs: Sequence[str], logit: bool) -> str:
    """The verdict as a person reads it; a counterexample as a table."""
    match verdict:
        case Proved():
            sentence = verdict.sentence()
            return f"{sentence[0].upper()}{sentence[1:]}, for every input of the domain, in {verdict.seconds:.2g} s."
        case Violated(counterexample=example) if example is not None:
            named = {name or ("logit" if logit else "output"): example.outputs[:, i] for i, name in enumerate(outputs)}
            return (
                f"Violated: {example.row} fails by {example.violation:.6g} (* differs):\n"
                f"{inputs_table(example.x, domain, named)}"
            )
        case Unknown(reason=reason):
            known = f"at most {verdict.violation_bound:.6g}" if np.isfinite(verdict.bound) else "not bounded"
            return f"Unknown: not proved and not refuted; the violation is {known} ({reason or 'no reason given'})."
        case _:
            return verdict.sentence()


def logit_words(eps: float) -> str:
    """ε on a logit in words a person understands."""
    return f"odds change by a factor of at most {math.exp(eps):.3g}, a probability by at most {math.tanh(eps / 4):.1%}"


def quality(y: np.ndarray, output: np.ndarray, *, logit: bool, constant: float) -> dict[str, float]:
    """How well outputs [n] predict y [n], beside the best constant; y is 0/1 and outputs are logits if `logit`."""
    if logit:
        right = (output > 0) == (y > 0.5)
        parts = [right[y == value].mean() for value in (0.0, 1.0) if (y == value).any()]
        return {
            "accuracy": float(right.mean()),
            "balanced_accuracy": float(np.mean(parts)),
            "log_loss": float(np.mean(np.logaddexp(0.0, output) - y * output)),
            "constant_accuracy": float(np.mean((y > 0.5) == (constant > 0))),
        }
    spread = float(np.mean((y - y.mean()) ** 2))
    return {
        "r2": 1.0 - float(np.mean((y - output) ** 2)) / spread if spread > 0 else 0.0,
        "mean_absolute_error": float(np.mean(np.abs(y - output))),
        "constant_mean_absolute_error": float(np.mean(np.abs(y - constant))),
    }


def quality_text(numbers: Mapping[str, float], rows: int) -> str:
    """One line on the held-out rows."""
    if "r2" in numbers:
        return (
            f"On {rows} held-out rows: R² {numbers['r2']:.3f}, mean absolute error "
            f"{numbers['mean_absolute_error']:.4g} (a constant: {numbers['constant_mean_absolute_error']:.4g})."
        )
    return (
        f"On {rows} held-out rows: accuracy {numbers['accuracy']:.3f} (a constant: "
        f"{numbers['constant_accuracy']:.3f}), balanced {numbers['balanced_accuracy']:.3f}, "
        f"log loss {numbers['log_loss']:.3f}."
    )


def cell_list(frame: pd.DataFrame) -> str:
    """A small frame as text."""
    numeric = pd.api.types.is_numeric_dtype(frame.iloc[:, 0])
    cells = [[shown(value) for value in row] for row in frame.itertuples(index=False)]
    return text_table([str(c) for c in frame.columns], cells, left=not numeric)


def domain_text(domain: Domain) -> str:
    """The domain in one line: ``income 0 to 211, region: east, north``."""
    parts = []
    for feature in domain.features:
        unit = f" {feature.unit}" if feature.unit else ""
        if feature.categories:
            parts.append(f"{feature.name}: {'/'.join(feature.categories)}")
        else:
            parts.append(f"{feature.name} {feature.lo:g} to {feature.hi:g}{unit}")
    more = f" and {len(parts) - 12} further features" if len(parts) > 12 else ""
    return ", ".join(parts[:12]) + more
