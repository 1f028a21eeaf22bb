"""Whether the rules, the rows and the domain of ``smile fit`` agree, and the rules in words; all before training."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smilenn.certify.statement import claim_lines
from smilenn.cli.fit_request import read_bounds
from smilenn.cli.source import Source
from smilenn.cli.stating import Stated
from smilenn.cli.table import FIRST_ROW
from smilenn.cli.words import logit_words
from smilenn.domain import Domain, OutOfBounds
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.outside import all_carried
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.targets import Target
from smilenn.estimators.trend import Contradiction, contradictions
from smilenn.properties.base import Property
from smilenn.properties.forms import Outputs
from smilenn.properties.premise import ground
from smilenn.properties.recognise import bounded_change


def trends(estimator: SmileRegressor | SmileClassifier, frame: pd.DataFrame, target: Target) -> list[Contradiction]:
    """Where the data's own trend contradicts a rule."""
    domain = estimator.domain
    assert isinstance(domain, Domain)
    claims = estimator.lower_on(estimator.all_properties(), domain, tuple(frame.columns), target.outputs)
    return contradictions(claims, domain, domain.encode(frame, out_of_bounds="clamp"), target)


def check_properties(
    estimator: SmileRegressor | SmileClassifier,
    stated_at: Stated,
    frame: pd.DataFrame,
    outputs: Outputs,
) -> None:
    """Each property on the domain of the data, before any training: an error says where the property was stated."""
    assert isinstance(estimator.domain, Domain)
    for where, item in stated_at:
        try:
            for claim in estimator.lower_on([item], estimator.domain, tuple(frame.columns), outputs):
                ground(claim, estimator.domain)
        except SmileError as error:
            raise SmileError(f"{where}: {error}") from None


def check_rows(
    estimator: SmileRegressor | SmileClassifier, frame: pd.DataFrame, outputs: Outputs, source: Source
) -> None:
    """Every row on the domain, before any training: an error names the row of the file, not one of the chosen rows."""
    domain = estimator.domain
    assert isinstance(domain, Domain)
    claims = estimator.lower_on(estimator.all_properties(), domain, tuple(frame.columns), outputs)
    outside: OutOfBounds = "clamp" if all_carried(claims, domain) else "raise"
    try:
        domain.encode(frame, out_of_bounds=outside, first_row=FIRST_ROW)
    except SmileError as error:
        raise SmileError(f"{source.name}: {source.as_shown(str(error))}") from None


def rows_outside(frame: pd.DataFrame, texts: tuple[str, ...]) -> list[str]:
    """One sentence for every ``--bounds`` that leaves rows of the data outside."""
    out = []
    for name, (lo, hi) in read_bounds(texts).items():
        column = frame[name].to_numpy(dtype=np.float64)
        count = int(((column < lo) | (column > hi)).sum())
        if count:
            rows = "1 row lies" if count == 1 else f"{count} rows lie"
            out.append(
                f"{rows} outside --bounds {name}:{lo:g}:{hi:g} and will be moved to the edge; or widen the bounds."
            )
    return out


def stated(
    estimator: SmileRegressor | SmileClassifier, domain: Domain, columns: tuple[str, ...], outputs: Outputs
) -> list[str]:
    """Every property as a sentence about these outputs; for two classes ε on the logit is explained."""
    out = []
    for item in estimator.complete(estimator.all_properties()):
        assert isinstance(item, Property)
        claims = item.named(domain, columns).lower(domain, outputs)
        sentence = " ".join(line for claim in claims for line in claim_lines(claim, outputs, domain))
        found = [bounded_change(claim, outputs, domain) for claim in claims]
        if len(outputs.names) == 1 and outputs.classes and found[0] is not None:
            sentence = f"{sentence} (On the log-odds: {logit_words(float(found[0].eps))}.)"
        out.append(sentence)
    return out
