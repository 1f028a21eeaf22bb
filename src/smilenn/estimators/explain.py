"""What was chosen for a fitted estimator and why, in words: network, numbers, provers, repair, verdict, quality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smilenn.domain.idle import left_out_words
from smilenn.errors import printable
from smilenn.problem import build_all
from smilenn.provers.rules.table import choose

if TYPE_CHECKING:
    from smilenn.estimators.base import SmileEstimator

PROFILES = {
    "f64-aux": "Numbers: float64 sums in any order; the certificate accounts for their rounding.",
    "fixed-order": "Numbers: float64 sums in a fixed order, so that ε = 0 holds bit for bit (profile fixed-order).",
    "dyadic": "Numbers: weights and inputs on a grid, so that nothing is rounded and ε = 0 is exact (profile dyadic).",
}
NO_CLAIMS = "Numbers: float64 sums in any order; there is no certificate, since no property was asked for."


def explain(estimator: SmileEstimator) -> str:
    """Sentences, one a line."""
    net = estimator.net_
    # of a loaded model these are texts of its folder, which nobody checks
    noted = [f"Network, as training recorded it: {printable(estimator.reasons_)}"] if estimator.reasons_ else []
    gone = left_out_words(vars(estimator).get("left_out_", {}))
    noted += [gone] if gone else []
    lines = [*noted, _auxiliaries(estimator), PROFILES[net.profile] if estimator.claims_ else NO_CLAIMS]
    found: dict[str, int] = {}
    for problem in build_all([claim for claim in estimator.claims_ if not claim.either], net.snapshot()):
        for row in problem.rows:
            why = choose(problem, row).reason
            found[why] = found.get(why, 0) + 1
    for claim in estimator.claims_:
        if claim.either:
            why = "cases, each with one of the alternatives or a mean of them; the certificate carries the cases"
            found[why] = found.get(why, 0) + len(claim.heads)
    lines += [
        f"Prover: {why} ({count} {'inequality' if count == 1 else 'inequalities'})." for why, count in found.items()
    ]
    for record in estimator.history_:
        if record["phase"] == "repair":
            what = {"regression": "R²", "quantiles": "the pinball loss, as a share"}.get(estimator.task, "accuracy")
            lines.append(
                f"Repair: {printable(str(record['repair']))}, which cost {record.get('cost', 0.0):.3f} of {what}."
            )
    quality = estimator.quality_
    but = f", but {quality.shortfall}" if quality is not None and quality.shortfall else ""
    lines.append(f"Verdict: {estimator.verdict_.sentence()}{but}.")
    if quality is not None:
        lines.append(f"Quality: {quality.sentence()}")
    return "\n".join(lines)


def _auxiliaries(estimator: SmileEstimator) -> str:
    net = estimator.net_
    if net.encoder is not None:
        return f"Auxiliaries: {net.auxiliaries}, on {net.encoder.size} encoded coordinates."
    units = f" with {net.hidden} hidden units" if net.auxiliaries == "relu" else ""
    box = "a box that cannot flip" if net.boxes == "gap" else "the paper's box of two free nets"
    return f"Auxiliaries: {net.auxiliaries}{units} on the inputs, {box}."
