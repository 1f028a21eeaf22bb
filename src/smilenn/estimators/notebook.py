"""What a notebook shows below an estimator: verdict, quality, rules, assumptions, a counterexample."""

from __future__ import annotations

import html
from fractions import Fraction
from typing import TYPE_CHECKING

from smilenn.certify.about import HEADING
from smilenn.certify.statement import claim_lines
from smilenn.certify.verdicts import claim_words
from smilenn.estimators.example import example_html

if TYPE_CHECKING:
    from smilenn.estimators.base import SmileEstimator
    from smilenn.estimators.clamped import Clamped

COLOURS = {"proved": "#1a7f37", "violated": "#cf222e"}
OPEN = "#9a6700"


def verdict_html(estimator: SmileEstimator | Clamped) -> str:
    """One block beside a bar in the verdict's colour; every text is escaped."""
    verdict, certificate, example = estimator.verdict_, estimator.certificate_, estimator.counterexample()
    lines = [verdict.sentence()]
    if estimator.quality_ is not None:
        but = estimator.quality_.shortfall
        lines = [f"{lines[0]}, but {but}" if but else lines[0], estimator.quality_.sentence()]
    if estimator.claims_ and certificate is None and verdict.status != "proved":
        lines.append("Rules that are not proved:")
    for i, claim in enumerate(estimator.claims_):
        room = Fraction(0) if certificate is None else certificate.rooms[i]
        said, *more = claim_lines(claim, estimator.outputs_, estimator.domain_, room)
        if certificate is not None and not certificate.accepted:
            said = f"{said} [{claim_words(certificate.bounds[i], certificate.holds[i])}]"
        lines += [said, *more]
    text = "<br>".join(html.escape(line) for line in lines)
    if certificate is not None:
        assumed = "".join(f"<li>{html.escape(item.line)}</li>" for item in certificate.about.assumed)
        text += f"<details><summary>{HEADING}</summary><ul>{assumed}</ul></details>"
    if example is not None:
        text += example_html(example, len(estimator.domain_.columns))
    colour = COLOURS.get(verdict.status, OPEN)
    return f'<div style="border-left: 4px solid {colour}; padding-left: 0.6em">{text}</div>'
