"""One English sentence for a claim, from its rows and the outputs' names; what has no pattern is its formula.

    rows ─▶ meaning (recognise.py) ─▶ sentence        the stored text of a claim plays no part

Outputs are called what they are (naming.py). A rule that holds only up to some room for rounding is said with it: the
sentence is then that of `Claim.with_room`, whose words are true of what was checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

from smilenn.domain import Domain
from smilenn.properties.alike import names_of, told_apart
from smilenn.properties.claim import COPIES, Claim, Ends, Inequality, in_quotes, narrow
from smilenn.properties.dissect import minus
from smilenn.properties.forms import Outputs
from smilenn.properties.known import unsaid
from smilenn.properties.meaning import (
    Apart,
    Chain,
    Changes,
    Curved,
    Decided,
    Limited,
    Linear,
    Meaning,
    Near,
    Permuted,
    Point,
    Rises,
    Slope,
    Strip,
    Total,
    Traded,
    Unnamed,
)
from smilenn.properties.naming import (
    amount,
    class_words,
    either_way,
    forms_words,
    joined,
    linear_words,
    output_words,
)
from smilenn.properties.recognise import meaning
from smilenn.properties.values import MOST_VALUES, reach_words, value_words

MOST_CONDITIONS = 12  # beyond, a premise on one input is left to the formula
COMMENT = "comment (not checked)"


def say(claim: Claim, outputs: Outputs | None = None, domain: Domain | None = None) -> str:
    """The claim as one sentence, or as its formula; `outputs` and `domain` where they are known.

    >>> from smilenn.properties.claim import row
    >>> rises = row([(1, 0, "in", "income"), (-1, 1, "in", "income")])
    >>> say(Claim(2, (rises,), (row([(1, 0, "out", ""), (-1, 1, "out", "")]),)), Outputs(target="price", role="number"))
    "Raising 'income', everything else equal, never lowers the predicted 'price'."
    """
    found = meaning(claim, outputs, domain)
    named = isinstance(found, Unnamed)
    said = (
        formula_sentence(claim) if named else f"{_capital(_sentence(found, outputs, domain))}{_where(claim, domain)}."
    )
    return told_apart(said, names_of(claim, outputs, domain))


def formula_sentence(claim: Claim) -> str:
    """The whole claim in symbols: ``For all a, b in the domain: … ⇒ …``, nothing left out."""
    names = ", ".join(COPIES[: claim.copies])
    return f"For all {names} in the domain: {claim.formula(full=True).split(': ', 1)[1]}."


def comment(claim: Claim, outputs: Outputs | None = None, domain: Domain | None = None) -> str:
    """What a user or a file wrote beside the claim, marked as such; empty where it is the sentence of the rows.

    It stands in quotes that it cannot end: a text that ends with "[certified]" has no mark.
    """
    if not claim.sentence or claim.sentence == say(claim, outputs, domain):
        return ""
    return f"{COMMENT}: {in_quotes(claim.sentence)}"


def beside(claim: Claim, outputs: Outputs | None = None, domain: Domain | None = None) -> str:
    """What follows for a probability or a decision, as a sentence; empty where nothing does.

    `predict_proba` is a rising function of the log-odds, bit for bit (sigmoid.py). Of decisions: if a were
    decided for i and b for j, both by more than ε/2, the margin of i over j would change by more than ε between them.
    """
    found = meaning(claim, outputs, domain)
    if outputs is not None and isinstance(found, (Changes, Near)):
        return _same_class(found, outputs)
    if outputs is None or not isinstance(found, (Rises, Traded)) or found.slack:
        return ""
    if outputs.classes and len(outputs.names) == 1:
        said = f"The same holds for the probability of {class_words(outputs, found.forms[0][0][0])}."
        return told_apart(said, names_of(claim, outputs, domain))
    if outputs.role == "label" and all(len(form) == 1 for form in found.forms):
        return "The same holds for the probability."
    return ""


def _same_class(found: Changes | Near, outputs: Outputs) -> str:
    """That two related inputs which are decided clearly have the same class; empty unless every margin is bounded."""
    if not outputs.classes or not found.eps or (isinstance(found, Changes) and found.point is not None):
        return ""
    half = amount(found.eps / 2)
    if len(outputs.names) == 1:
        return f"Two such inputs whose log-odds are both more than {half} away from 0 have the same class."
    margins = {frozenset(name for _, name in form) for form in found.forms if {c for c, _ in form} == {-1, 1}}
    if margins != {frozenset(pair) for pair in combinations(outputs.names, 2)}:
        return ""
    return f"Two such inputs whose classes both lead every other class by more than {half} have the same class."


def _where(claim: Claim, domain: Domain | None) -> str:
    """``, where 'income' is known``: of numbers that may be missing a claim may say nothing."""
    _, known = unsaid(claim, domain)
    return f", where {_names(known)} {'is' if len(known) == 1 else 'are'} known" if known else ""


# ---- sentences ------------------------------------------------------------------------------------------------------


def _sentence(found: Meaning, outputs: Outputs | None, domain: Domain | None) -> str:
    """The sentence without its capital letter and full stop."""
    match found:
        case Rises():
            return _rises(found, outputs)
        case Changes():
            return _changes(found, outputs, domain)
        case Near():
            return f"{_nearby(found)}, everything else equal, {_moves(found.forms, outputs, found.eps)}"
        case Slope(feature, bound, forms, slack):
            who = forms_words(either_way(forms, outputs), outputs, "every")
            most = f"by at most {amount(bound)} per unit of {feature!r}{_plus(slack)}"
            return f"everything else equal, {who} {_verb(who, 'changes', 'change')} {most}"
        case Curved():
            return _curved(found, outputs)
        case Permuted(cycles, forms, eps):
            return f"{_permutation(cycles)}, everything else equal, {_moves(forms, outputs, eps)}"
        case Traded(strong, weak, rate, forms, slack):
            loss = "as much" if rate == 1 else f"{amount(rate)} times as much"
            start = f"raising {strong!r} and lowering {weak!r} by {loss}, everything else equal,"
            return f"{start} never lowers {forms_words(forms, outputs, 'any')}{_by_more(slack)}"
        case Decided(classes, lead, conditions):
            return _whenever(conditions, _decision(classes, lead, outputs), domain)
        case _:
            return _on_one(found, outputs, domain)


def _on_one(found: Meaning, outputs: Outputs | None, domain: Domain | None) -> str:
    """Statements on the outputs of one input."""
    match found:
        case Limited(forms, lo, hi, conditions):
            who = forms_words(forms, outputs, "every")
            return _whenever(conditions, f"{who} {_range(lo, hi, who)}", domain)
        case Chain(names, conditions, slack):
            return _whenever(conditions, _chain(names, slack, outputs), domain)
        case Apart(names, conditions, slack):
            return _whenever(conditions, _apart(names, slack, outputs), domain)
        case Total(form, inputs, constant, conditions):
            total = linear_words([(coef, output_words(outputs, name)) for coef, name in form])
            limit = linear_words([(coef, repr(name)) for coef, name in inputs], constant)
            return _whenever(conditions, f"{total} is at most {limit}", domain)
    raise AssertionError(found)  # pragma: no cover - `say` has asked for every other meaning


def _chain(names: Sequence[str], slack: Fraction, outputs: Outputs | None) -> str:
    """``f is never above g, nor g above h``."""
    said = [output_words(outputs, name) for name in names]
    never = f"{_verb(said[0], 'is', 'are')} never "
    steps = [f"{one} {never if not i else ''}above {other}" for i, (one, other) in enumerate(pairwise(said))]
    return ", nor ".join(steps) + (f"{',' if len(steps) > 1 else ''}{_by_more(slack)}" if slack else "")


def _rises(found: Rises, outputs: Outputs | None) -> str:
    plain = outputs is None or not outputs.classes
    turned = plain and all(form[0][0] < 0 for form in found.forms)  # −f(a) ≤ −f(b) is f(b) ≤ f(a): b and a swapped
    up, down = (found.down, found.up) if turned else (found.up, found.down)
    forms = tuple(map(minus, found.forms)) if turned else found.forms
    moves = [f"raising {_names(up, 'or')}"] if up else []
    moves += [f"lowering {_names(down, 'or')}"] if down else []
    together = ", alone or together" if len(up) + len(down) > 1 else ""
    never = f"never lowers {forms_words(forms, outputs, 'any')}{_by_more(found.slack)}"
    return f"{' or '.join(moves)}{together}, everything else equal, {never}"


def _by_more(slack: Fraction) -> str:
    return f" by more than {amount(slack)}" if slack else ""


def _plus(slack: Fraction) -> str:
    return f", plus {amount(slack)}" if slack else ""


def _moves(forms: Sequence[Linear], outputs: Outputs | None, eps: Fraction) -> str:
    forms = either_way(forms, outputs)
    if not eps:
        return f"leaves {forms_words(forms, outputs, 'every')} unchanged"
    return f"changes {forms_words(forms, outputs, 'any')} by at most {amount(eps)}"


def _nearby(found: Near) -> str:
    """``changing 784 features together by at most 0.3 in the Euclidean norm``."""
    names = [name for name, _ in found.axes]
    which = joined(list(map(repr, names)), "and") if len(names) <= MOST_VALUES else f"{len(names)} features"
    together = " together" if len(names) > 1 else ""
    sizes = {delta for _, delta in found.axes}
    if len(sizes) == 1:
        return f"changing {which}{together} by at most {amount(sizes.pop())} in the Euclidean norm"
    scales = ", ".join(f"{name!r} by {amount(delta)}" for name, delta in found.axes)
    return f"changing {which}{together} by at most 1 in the Euclidean norm, each divided by its own scale ({scales})"


def _changes(found: Changes, outputs: Outputs | None, domain: Domain | None) -> str:
    moves = _moves(found.forms, outputs, found.eps)
    start = "" if found.point is None else f"around {_point(found.point, domain)}, "
    if not found.within:
        fair = "" if start else "attribute-flip fairness: "
        return f"{fair}{start}changing {_names(found.free)} alone {moves}"
    ways = [f"{_names(found.free)} freely"] if found.free else []
    ways += _strips(found.within, domain)
    return f"{start}changing {joined(ways)}, everything else equal, {moves}"


def _point(point: Point, domain: Domain | None) -> str:
    if len(point) > MOST_CONDITIONS:
        return "one point, which the formula gives,"
    return f"the point {joined([value_words(name, value, domain) for name, value in point])}"


def _strips(strips: Sequence[Strip], domain: Domain | None) -> list[str]:
    """How far features may move; one phrase for all numbers of the domain where they move by the same."""
    sizes = {(low, high) for _, low, high in strips}
    names = tuple(name for name, _, _ in strips)
    if len(sizes) == 1 and len(names) > 1:
        every = "numeric input" if _are_all_numbers(names, domain) else f"of {_names(names)}"
        return [f"each {every} by {_amount(*sizes.pop())}"]
    return [f"{name!r} by {_amount(low, high)}" for name, low, high in strips]


def _are_all_numbers(names: Sequence[str], domain: Domain | None) -> bool:
    """Whether these are the numbers of the domain, all of them."""
    if domain is None:
        return False
    return sorted(names) == sorted(f.name for f in domain.features if f.kind in ("continuous", "integer"))


def _amount(low: Fraction, high: Fraction) -> str:
    return f"at most {amount(high)}" if low == -high else f"{amount(low)} to {amount(high)}"


def _curved(found: Curved, outputs: Outputs | None) -> str:
    side = "at most" if found.sign > 0 else "at least"
    off = f", up to {amount(found.slack / 2)}" if found.slack else ""
    who = forms_words(found.forms, outputs, "every")
    mean = f"{_verb(who, 'is', 'are')} {side} the mean of {_verb(who, 'its', 'their')} two values there{off}"
    return f"halfway between two values of {_names(found.features)}, everything else equal, {who} {mean}"


def _permutation(cycles: Sequence[Sequence[str]]) -> str:
    parts = []
    for cycle in cycles:
        if len(cycle) == 2:
            parts.append(f"swapping the values of {cycle[0]!r} and {cycle[1]!r}")
        else:
            first, *steps = pairwise((*cycle, cycle[0]))
            rest = joined([f"{to!r} that of {origin!r}" for to, origin in steps])
            parts.append(f"giving {first[0]!r} the value of {first[1]!r}, {rest}")
    return joined(parts)


def _range(lo: Fraction | None, hi: Fraction | None, who: str) -> str:
    be = _verb(who, "is", "are")
    if lo is None and hi is not None:
        return f"{be} at most {amount(hi)}"
    if hi is None and lo is not None:
        return f"{be} at least {amount(lo)}"
    assert lo is not None and hi is not None
    lie = _verb(who, "lies", "lie")
    return f"{be} {amount(lo)}" if lo == hi else f"{lie} between {amount(lo)} and {amount(hi)}"


def _apart(names: Sequence[str], slack: Fraction, outputs: Outputs | None) -> str:
    """Labels are predicted where their log-odds are above 0: two that add up to at most 0 never are together."""
    if outputs is None or outputs.role != "label" or slack:
        every = "" if len(names) == 2 else "every two of "
        return f"{every}{joined([output_words(outputs, name) for name in names])} add up to at most {amount(slack)}"
    if len(names) == 2:
        return f"{_names(names)} are never predicted together: their log-odds add up to at most 0"
    return f"no two of {_names(names)} are predicted together: every two log-odds add up to at most 0"


def _decision(classes: Sequence[str], lead: Fraction, outputs: Outputs | None) -> str:
    target = f"{outputs.target!r}" if outputs is not None and outputs.target else "class"
    if lead <= 0:
        return f"no other class is ahead of {classes[0]!r}{_by_more(-lead)}"
    if outputs is not None and len(outputs.names) == 1:
        return f"the predicted {target} is {classes[0]!r}, with log-odds of at least {amount(lead)}"
    ahead = f"ahead of every other class by at least {amount(lead)}"
    if len(classes) == 1:
        return f"the predicted {target} is {classes[0]!r}, {ahead}"
    return f"the predicted {target} is {_names(classes, 'or')}; one of them is {ahead}"


def _whenever(conditions: Sequence[Inequality], then: str, domain: Domain | None) -> str:
    """``whenever 'speed' is at least 10 and 'race' is 'black', …``; too many are left to the formula."""
    if not conditions:
        return then
    said = _conditions(conditions, domain)
    if len(said) > MOST_CONDITIONS:
        return f"for the inputs that the {len(conditions)} conditions of the formula admit, {then}"
    return f"whenever {joined(said)}, {then}"


def _conditions(rows: Sequence[Inequality], domain: Domain | None) -> list[str]:
    """One phrase for each feature that is bounded or fixed, the others in symbols."""
    bounds: dict[str, Ends] = {}
    rest = []
    for row in rows:
        if len(row.terms) == 1:
            narrow(bounds.setdefault(row.terms[0].name, [None, None]), row.terms[0].coef, row)
        else:
            rest.append(row.text())
    return [reach_words(name, low, high, domain) for name, (low, high) in bounds.items()] + rest


# ---- small words ----------------------------------------------------------------------------------------------------


def _verb(who: str, one: str, many: str) -> str:
    """Log-odds are many; everything else that a sentence is about is one."""
    return many if who.startswith("the log-odds of ") or who.endswith(" log-odds") else one


def _names(names: Sequence[str], last: str = "and") -> str:
    return joined([repr(name) for name in names], last)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
