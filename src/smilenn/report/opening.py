"""The first sentences of a report: what the model predicts, how well, and which rules are certified."""

from __future__ import annotations

from smilenn.errors import listed
from smilenn.properties.base import quoted
from smilenn.report.findings import Findings

MOST_RULES = 3  # sentences of rules that are repeated at the top


def opening(found: Findings) -> str:
    """Plain text, for the page and the card alike."""
    return f"{_predicts(found)}{_how_well(found)} {_rules(found)}"


def _predicts(found: Findings) -> str:
    model = found.model
    count = len(model.domain_.columns)  # as the user counts: a number that may be missing is one column
    inputs = "1 input" if count == 1 else f"{count} inputs"
    target = repr(model.target_name_) if model.target_name_ else "the target"
    if model.outputs_.classes:
        known = quoted([str(name) for name in model.outputs_.classes], "or") if len(model.outputs_.classes) <= 4 else ""
        return f"This model predicts {target} ({known or f'{len(model.outputs_.classes)} classes'}) from {inputs}"
    if len(model.outputs_.names) > 1 and model.task != "quantiles":
        return f"This model predicts {listed(model.outputs_.names, 4)} from {inputs}"
    what = f"quantiles of {target}" if model.task == "quantiles" else target
    return f"This model predicts {what} from {inputs}"


def _how_well(found: Findings) -> str:
    if found.standing is None:
        return "; how well has not been measured."
    kind = "held-out" if found.standing.held_out else "training"
    return f"; on {found.standing.rows} {kind} rows, {found.standing.short}."


def _rules(found: Findings) -> str:
    certified = [rule.sentence for rule in found.rules if rule.certified]
    if not found.rules:
        return "No rules were stated."
    if not certified:
        return "None of its rules is certified." if len(found.rules) > 1 else "Its rule is not certified."
    rest = len(found.rules) - len(certified)
    more = len(certified) - MOST_RULES
    words = " ".join(certified[:MOST_RULES]) + (f" And {more} more, below." if more > 0 else "")
    others = f" {rest} of its {len(found.rules)} rules {'is' if rest == 1 else 'are'} not certified." if rest else ""
    return f"Certified for every input in the domain: {words}{others}"
