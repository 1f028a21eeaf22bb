"""What ``smile fit`` says before it trains: rows, domain, the rules in words, and where the data contradicts them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from smilenn.certify.statement import claim_lines
from smilenn.cli.agreement import rows_outside
from smilenn.cli.fit_request import Request, named_columns
from smilenn.cli.option_words import in_options
from smilenn.cli.preparing import Prepared
from smilenn.cli.starting import Start
from smilenn.cli.words import domain_text, logit_words
from smilenn.domain import Domain
from smilenn.errors import listed
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.trend import Contradiction, TrendWarning, contradictions
from smilenn.properties.base import Property
from smilenn.properties.forms import Outputs
from smilenn.properties.recognise import bounded_change


def announce(
    request: Request,
    prepared: Prepared,
    start: Start | None,
    estimator: SmileRegressor | SmileClassifier,
    say: Callable[[str], Any],
) -> None:
    """What will be learned, on which domain, and under which rules; warnings where the data contradicts them."""
    domain, frame, source, target = prepared.domain, prepared.frame, prepared.source, prepared.target
    for name in source.index_columns(named_columns(request)):
        say(f"Left out: {name!r}, an unnamed column of row numbers.")
    for name in source.trimmed():
        say(f"The column {name!r} is read as {name.strip()!r}, without the surrounding blanks.")
    features = len(domain.features) - len(domain.indicators)
    say(f"{len(frame)} rows, {features} features; predicting {listed(request.target, 12)} ({target.task}).")
    if start is not None:
        say(start.sentence(request, source))
    if prepared.likeness is not None:
        say(in_options(prepared.likeness.sentence()))
    say(f"The domain: {domain_text(domain)}.")
    for sentence in rows_outside(prepared.complete, request.bounds):
        warnings.warn(sentence, stacklevel=1)
    say("Rules, for every input in the domain:")
    for sentence in stated(estimator, domain, tuple(frame.columns), target.outputs):
        say(f"  - {sentence}")
    for found in trends(estimator, prepared) if start is None else ():
        warnings.warn(found.sentence(options=True), TrendWarning, stacklevel=1)


def trends(estimator: SmileRegressor | SmileClassifier, prepared: Prepared) -> list[Contradiction]:
    """Where the data's own trend contradicts a rule."""
    domain, target = prepared.domain, prepared.target
    claims = estimator.lower_on(estimator.all_properties(), domain, tuple(prepared.frame.columns), target.outputs)
    return contradictions(claims, domain, domain.encode(prepared.complete, out_of_bounds="clamp"), target)


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
