"""What the commands say: verdicts, counterexamples in the user's columns and units, quality."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from smilenn.certify.about import in_short
from smilenn.certify.statement import claim_lines, claim_sentence
from smilenn.certify.verdicts import Certificate, claim_words
from smilenn.cli.option_words import in_options
from smilenn.domain import Domain
from smilenn.errors import printable
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.model.folder import without_infinities
from smilenn.progress import duration
from smilenn.properties.alike import names_of, told_apart
from smilenn.properties.claim import COPIES
from smilenn.properties.naming import output_words
from smilenn.properties.wording import comment
from smilenn.provers.record import verdict_to_json
from smilenn.report.findings import UNITS
from smilenn.rounding import shown_bound
from smilenn.verdict import Counterexample, Proved, Unknown, Violated

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
    """A cell: numbers with up to six digits, everything else as it is, on one line."""
    if value is None or value != value:
        return "missing"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return printable(str(value))


def inputs_table(x: np.ndarray, domain: Domain, outputs: Mapping[str, np.ndarray]) -> str:
    """Input tuples x [k, m] side by side in the user's columns, with output rows [k] below; differing ones first."""
    frame = domain.decode(x)
    units = {feature.name: f" ({feature.unit_words})" if feature.unit else "" for feature in domain.features}
    differing = [name for name in frame.columns if frame[name].nunique(dropna=False) > 1]
    equal = [name for name in frame.columns if name not in differing]
    hidden = len(equal) if len(frame.columns) > MOST_FEATURES else 0
    called = {name: f"{printable(str(name))}{units.get(str(name), '')}" for name in frame.columns}
    lines = [[f"{called[name]} *", *map(shown, frame[name])] for name in differing]
    lines += [[called[name], *map(shown, frame[name])] for name in (() if hidden else equal)]
    lines += [[name, *(shown(float(value)) for value in values)] for name, values in outputs.items()]
    table = text_table(["", *COPIES[: len(frame)]], lines)
    return table + (f"\n({hidden} more columns are equal)" if hidden else "")


def judgement_text(estimator: SmileRegressor | SmileClassifier) -> str:
    """The verdict as a person reads it: a headline, every claim with its checked bound, a counterexample as a table.

    The quality stands beside it, in the headline where the model is no better than a constant.
    """
    verdict, lines = estimator.verdict_, headline(estimator)
    if isinstance(verdict, Unknown) and verdict.reason:
        lines.append(f"Why: {in_options(verdict.reason).rstrip('.')}.")
    if estimator.certificate_ is not None:
        lines += certificate_lines(estimator, estimator.certificate_)
    if estimator.quality_ is not None:
        lines.append(estimator.quality_.sentence())
    return "\n".join(lines)


def headline(estimator: SmileRegressor | SmileClassifier) -> list[str]:
    """The verdict in one line, and a counterexample as a table below it."""
    verdict, but, unit = estimator.verdict_, but_words(estimator), unit_words(estimator)
    more = [f"{_capital(but.removeprefix(', but '))}."] if but else []  # "but" is for verdicts that are good
    match verdict:
        case Proved(certificate=name) if name:
            held = "his holds for every input in the domain, whatever the backbone does."
            return [f"Certified{but}. T{held}" if but else f"Certified: t{held}"]
        case Proved():
            note = in_options(estimator.certificate_note_)
            return [f"{_capital(verdict.sentence())}{but}. Not certified: {note}"]
        case Violated(counterexample=Counterexample() as example):
            names = [output_words(estimator.outputs_, name) for name in estimator.net_.outputs]
            named = {name: example.outputs[:, i] for i, name in enumerate(names)}
            failed = f"Violated: {example.row} fails by {example.violation:.6g}{unit} (* differs):"
            return [failed, inputs_table(example.x, estimator.domain_, named), *more]
        case Unknown() if math.isfinite(verdict.bound):
            return [f"Not certified: a rule may be violated by at most {shown_bound(verdict.bound)}{unit}.", *more]
    return ["Not certified, and no bound was checked.", *more]


def certificate_lines(estimator: SmileRegressor | SmileClassifier, certificate: Certificate) -> list[str]:
    """Every claim with its checked bound, and what the check assumes."""
    lines = []
    for i, claim in enumerate(certificate.claims):
        said, *more = claim_lines(claim, estimator.outputs_, estimator.domain_, certificate.rooms[i])
        word = claim_words(certificate.bounds[i], certificate.holds[i], unit_words(estimator))
        lines += [f"  - {said} [{word}]", *(f"    {line}" for line in more)]
    took = f"; proof and check took {duration(certificate.seconds)}" if certificate.seconds else ""
    name = f"{certificate.sha256[:12]}…{certificate.version_words}"
    lines.append(f"Checked in exact arithmetic (certificate {name}){took}.")
    lines.append(in_short(certificate.about.assumed))
    return lines


def but_words(estimator: SmileRegressor | SmileClassifier) -> str:
    """``, but the model is no better than predicting the mean: R² = -0.01``; empty where it is better."""
    quality = estimator.quality_
    return f", but {quality.shortfall}" if quality is not None and quality.shortfall else ""


def judgement_record(estimator: SmileRegressor | SmileClassifier) -> dict[str, Any]:
    """The same for programs: the verdict, its checked bound (None without one), the claims one by one."""
    certificate, quality = estimator.certificate_, estimator.quality_
    accepted = certificate if certificate is not None and certificate.accepted else None
    record = verdict_to_json(estimator.verdict_) | {
        "bound": estimator.violation_bound_,
        "certified": accepted is not None,
        "certificate": None if accepted is None else accepted.sha256,
        "note": in_options(estimator.certificate_note_),
        "shortfall": "" if quality is None else quality.shortfall,
        "claims": claim_records(estimator),
        "assumed": [] if certificate is None else [item.line for item in certificate.about.assumed],
    }
    for name in ("sentence", "reason"):
        if isinstance(record.get(name), str):
            record[name] = in_options(record[name])
    return without_infinities(record)


def claim_records(estimator: SmileRegressor | SmileClassifier) -> list[dict[str, Any]]:
    """Each claim in words, with what the certificate says of it where there is one."""
    certificate, outputs, domain = estimator.certificate_, estimator.outputs_, estimator.domain_
    claims: list[dict[str, Any]] = [
        {
            "sentence": claim_sentence(claim, outputs, domain),
            "comment": comment(claim, outputs, domain),
            "certified": False,
            "bound": None,
        }
        for claim in estimator.claims_
    ]
    if certificate is not None:
        for i, claim in enumerate(certificate.claims):
            claims[i]["sentence"] = claim_sentence(claim, outputs, domain, certificate.rooms[i])
            claims[i] |= {"certified": certificate.holds[i], "bound": certificate.bounds[i]}
    return claims


def unit_words(estimator: SmileRegressor | SmileClassifier) -> str:
    """What a bound is counted in: `` in 'score'``, `` on the logit``, or nothing where the target has no name."""
    if isinstance(estimator, SmileClassifier):
        return UNITS[estimator.task]
    return f" in {estimator.target_name_!r}" if estimator.target_name_ else ""


def _capital(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}"


def logit_words(eps: float) -> str:
    """ε on a logit in words a person understands."""
    points = math.ceil(math.tanh(eps / 4) * 1000 * (1 + 1e-12)) / 10
    return f"odds change by a factor of at most {shown_bound(math.exp(eps))}, a probability by at most {points:.1f}%"


def cell_list(frame: pd.DataFrame) -> str:
    """A small frame as text."""
    numeric = pd.api.types.is_numeric_dtype(frame.iloc[:, 0])
    cells = [[shown(value) for value in row] for row in frame.itertuples(index=False)]
    return text_table([printable(str(c)) for c in frame.columns], cells, left=not numeric)


def domain_text(domain: Domain) -> str:
    """The domain in one line: ``'income' 0 to 211; 'region': 'east', 'north'``."""
    parts = []
    for feature in domain.features:
        unit = f" {feature.unit_words}" if feature.unit else ""
        if feature.categories:
            parts.append(f"{feature.name!r}: {', '.join(map(repr, feature.values))}")
        else:
            parts.append(f"{feature.name!r} {feature.range_words}{unit}")
    more = f" and {len(parts) - 12} further features" if len(parts) > 12 else ""
    return told_apart("; ".join(parts[:12]), names_of(None, None, domain)) + more
