"""One English sentence for a claim, from its rows and the outputs' names; what has no pattern is its formula.

    rows ─▶ meaning (recognise.py) ─▶ sentence        the stored text of a claim plays no part

Names stand in quotes, with everything that cannot be printed escaped, so that no name can pass for a part of the
sentence. Outputs are called what they are:

    regression     the predicted 'price', the prediction        two classes    the log-odds of 'default' = 'yes'
    quantiles      the predicted quantile 'q0.9' of 'price'     classes        the margin of 'a' over 'b'
    labels         the log-odds of 'cat'                        not known      the output, output 'y'
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from smilenn.domain import Domain
from smilenn.properties.claim import COPIES, Claim, Inequality, in_quotes, number
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import (
    Apart,
    Chain,
    Changes,
    Curved,
    Decided,
    Limited,
    Linear,
    Meaning,
    Permuted,
    Point,
    Rises,
    Slope,
    Strip,
    Total,
    Traded,
    Unnamed,
)
from smilenn.properties.recognise import meaning

MOST_VALUES = 8  # categories that a sentence lists
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
    if isinstance(found, Unnamed):
        return formula_sentence(claim)
    return _capital(_sentence(found, outputs, domain)) + "."


def formula_sentence(claim: Claim) -> str:
    """The whole claim in symbols: ``For all a, b in the domain: … ⇒ …``, nothing left out."""
    names = ", ".join(COPIES[: claim.copies])
    return f"For all {names} in the domain: {claim.formula(full=True).split(': ', 1)[1]}."


def comment(claim: Claim, outputs: Outputs | None = None, domain: Domain | None = None) -> str:
    """What a user or a file wrote beside the claim, marked as such; empty where it is the sentence of the rows."""
    if not claim.sentence or claim.sentence == say(claim, outputs, domain):
        return ""
    shown = "".join(c if c.isprintable() else in_quotes(c)[1:-1] for c in claim.sentence)
    return f"{COMMENT}: {shown}"


def beside(claim: Claim, outputs: Outputs | None = None, domain: Domain | None = None) -> str:
    """What follows for a probability, as a sentence; empty where nothing does.

    `predict_proba` is a rising function of the log-odds, bit for bit (estimators/sigmoid.py).
    """
    found = meaning(claim, outputs, domain)
    if outputs is None or not isinstance(found, (Rises, Traded)) or found.slack:
        return ""
    if outputs.classes and len(outputs.names) == 1:
        return f"The same holds for the probability of {_class(outputs, found.forms[0][0][0])}."
    if outputs.role == "label" and all(len(form) == 1 for form in found.forms):
        return "The same holds for the probability."
    return ""


def values_note(claim: Claim, domain: Domain) -> str:
    """The user's own values of the text columns that a claim changes or compares: ``'smoker': 0 is 'no', 1 is 'yes'``.

    Empty where there are none.
    """
    parts = []
    for feature in domain.features:
        if feature.categories and feature.name in claim.free:
            values = [repr(value) for value in feature.categories[:MOST_VALUES]]
            more = len(feature.categories) - len(values)
            parts.append(f"{feature.name!r}: {_joined([*values, f'{more} further ones'] if more else values, 'or')}")
        elif feature.kind == "binary" and feature.categories and feature.name in claim.named:
            parts.append(f"{feature.name!r}: 0 is {feature.categories[0]!r}, 1 is {feature.categories[1]!r}")
    return "; ".join(parts)


# ---- outputs --------------------------------------------------------------------------------------------------------


def output_words(outputs: Outputs | None, name: str) -> str:
    """What one output is called."""
    if outputs is None:
        return f"output {name!r}" if name else "the output"
    if outputs.classes:
        return (
            f"the log-odds of {_class(outputs, Fraction(1))}" if len(outputs.names) == 1 else f"the logit of {name!r}"
        )
    if outputs.role == "label":
        return f"the log-odds of {name!r}"
    if outputs.role == "quantile":
        return f"the predicted quantile {name!r}{_of_target(outputs)}"
    if outputs.role == "number":
        shown = name or outputs.target
        return f"the predicted {shown!r}" if shown else "the prediction"
    return f"output {name!r}" if name else "the output"


def _of_target(outputs: Outputs) -> str:
    return f" of {outputs.target!r}" if outputs.target else ""


def _class(outputs: Outputs, sign: Fraction) -> str:
    """The class of two whose log-odds are the logit (sign > 0) or its negation."""
    called = repr(outputs.classes[1 if sign > 0 else 0])
    return f"{outputs.target!r} = {called}" if outputs.target else called


def form_words(form: Linear, outputs: Outputs | None) -> str:
    """What a linear form of the outputs is called."""
    if len(form) == 1:
        (coef, name), *_ = form
        if outputs is not None and outputs.classes and len(outputs.names) == 1:
            return f"the log-odds of {_class(outputs, coef)}"
        return output_words(outputs, name) if coef > 0 else f"minus {output_words(outputs, name)}"
    coefs = [coef for coef, _ in form]
    if coefs in ([1, -1], [-1, 1]):
        first, second = sorted(form, key=lambda term: -term[0])
        if outputs is not None and outputs.classes:
            return f"the margin of {first[1]!r} over {second[1]!r}"
        return f"{output_words(outputs, first[1])} minus {output_words(outputs, second[1])}"
    return _linear([(coef, output_words(outputs, name)) for coef, name in form])


def forms_words(forms: Sequence[Linear], outputs: Outputs | None, every: str) -> str:
    """What several forms are called; `every` is the word for all of them: ``any`` or ``every``."""
    if len(forms) == 1:
        return form_words(forms[0], outputs)
    if outputs is not None:
        if len(outputs.classes) > 2:
            margins = _margin_words(forms, outputs, every)
            if margins:
                return margins
        elif tuple(form[0][1] for form in forms) == outputs.names and all(form == ((1, form[0][1]),) for form in forms):
            kind = {"label": "label's log-odds", "quantile": "predicted quantile", "number": "prediction"}
            target = _of_target(outputs) if outputs.role == "quantile" else ""
            return f"{every} {kind.get(outputs.role, 'output')}{target}"
    return _joined([form_words(form, outputs) for form in forms], "or" if every == "any" else "and")


def _margin_words(forms: Sequence[Linear], outputs: Outputs, every: str) -> str:
    """Margins of one class over each other, or all of them; empty for another set."""
    pairs = []
    for form in forms:
        terms = sorted(form, key=lambda term: -term[0])
        if [coef for coef, _ in terms] != [1, -1]:
            return ""
        pairs.append((terms[0][1], terms[1][1]))
    classes = outputs.classes
    if len({frozenset(pair) for pair in pairs}) == len(classes) * (len(classes) - 1) // 2 == len(pairs):
        return f"{every} margin between two classes"
    if len({one for one, _ in pairs}) == 1 and {other for _, other in pairs} == set(classes) - {pairs[0][0]}:
        return f"the margin of {pairs[0][0]!r} over {every} other class"
    return ""


# ---- sentences ------------------------------------------------------------------------------------------------------


def _sentence(found: Meaning, outputs: Outputs | None, domain: Domain | None) -> str:
    """The sentence without its capital letter and full stop."""
    match found:
        case Rises():
            return _rises(found, outputs)
        case Changes():
            return _changes(found, outputs, domain)
        case Slope(feature, bound, forms):
            changes = f"changes by at most {number(bound)} per unit of {feature!r}"
            return f"everything else equal, {forms_words(forms, outputs, 'every')} {changes}"
        case Curved():
            return _curved(found, outputs)
        case Permuted(cycles, forms, eps):
            return f"{_permutation(cycles)}, everything else equal, {_moves(forms, outputs, eps)}"
        case Traded(strong, weak, rate, forms, slack):
            loss = "as much" if rate == 1 else f"{number(rate)} times as much"
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
            return _whenever(conditions, f"{forms_words(forms, outputs, 'every')} {_range(lo, hi)}", domain)
        case Chain(names, conditions):
            steps = [
                f"{output_words(outputs, one)} {'is never ' if not i else ''}above {output_words(outputs, other)}"
                for i, (one, other) in enumerate(pairwise(names))
            ]
            return _whenever(conditions, ", nor ".join(steps), domain)
        case Apart(names, conditions):
            return _whenever(conditions, _apart(names, outputs), domain)
        case Total(form, inputs, constant, conditions):
            total = _linear([(coef, output_words(outputs, name)) for coef, name in form])
            limit = _linear([(coef, repr(name)) for coef, name in inputs], constant)
            return _whenever(conditions, f"{total} is at most {limit}", domain)
    raise AssertionError(found)  # pragma: no cover - `say` has asked for every other meaning


def _rises(found: Rises, outputs: Outputs | None) -> str:
    plain = outputs is None or not outputs.classes
    turned = plain and all(form[0][0] < 0 for form in found.forms)  # −f(a) ≤ −f(b) is f(b) ≤ f(a): b and a swapped
    up, down = (found.down, found.up) if turned else (found.up, found.down)
    forms = tuple(tuple((-c, name) for c, name in form) for form in found.forms) if turned else found.forms
    moves = [f"raising {_names(up, 'or')}"] if up else []
    moves += [f"lowering {_names(down, 'or')}"] if down else []
    together = ", alone or together" if len(up) + len(down) > 1 else ""
    never = f"never lowers {forms_words(forms, outputs, 'any')}{_by_more(found.slack)}"
    return f"{' or '.join(moves)}{together}, everything else equal, {never}"


def _by_more(slack: Fraction) -> str:
    return f" by more than {number(slack)}" if slack else ""


def _moves(forms: Sequence[Linear], outputs: Outputs | None, eps: Fraction) -> str:
    if not eps:
        return f"leaves {forms_words(forms, outputs, 'every')} unchanged"
    return f"changes {forms_words(forms, outputs, 'any')} by at most {number(eps)}"


def _changes(found: Changes, outputs: Outputs | None, domain: Domain | None) -> str:
    moves = _moves(found.forms, outputs, found.eps)
    start = "" if found.point is None else f"around {_point(found.point, domain)}, "
    if not found.within:
        fair = "" if start else "attribute-flip fairness: "
        return f"{fair}{start}changing {_names(found.free)} alone {moves}"
    ways = [f"{_names(found.free)} freely"] if found.free else []
    ways += _strips(found.within, domain)
    return f"{start}changing {_joined(ways)}, everything else equal, {moves}"


def _point(point: Point, domain: Domain | None) -> str:
    if len(point) > MOST_CONDITIONS:
        return "one point, which the formula gives,"
    return f"the point {_joined([_value(name, value, domain) for name, value in point])}"


def _value(name: str, value: Fraction, domain: Domain | None, verb: str = "=") -> str:
    """``'income' = 30``, ``'race' = 'black'``."""
    for feature in () if domain is None or (name in domain.slices and value not in (0, 1)) else domain.features:
        if feature.kind == "binary" and feature.name == name and feature.categories and value in (0, 1):
            return f"{name!r} {verb} {feature.categories[int(value)]!r}"
        if feature.kind == "category" and feature.name != name and name in feature.coordinates and value == 1:
            return f"{feature.name!r} {verb} {feature.categories[feature.coordinates.index(name)]!r}"
    return f"{name!r} {verb} {number(value)}"


def _strips(strips: Sequence[Strip], domain: Domain | None) -> list[str]:
    """How far features may move; one phrase for all numbers of the domain where they move by the same."""
    sizes = {(low, high) for _, low, high in strips}
    names = tuple(name for name, _, _ in strips)
    if len(sizes) == 1 and len(names) > 1:
        amount = _amount(*sizes.pop())
        if domain is not None:
            numeric = [f.name for f in domain.features if f.kind in ("continuous", "integer")]
            if sorted(names) == sorted(numeric):
                return [f"each numeric input by {amount}"]
        return [f"each of {_names(names)} by {amount}"]
    return [f"{name!r} by {_amount(low, high)}" for name, low, high in strips]


def _amount(low: Fraction, high: Fraction) -> str:
    return f"at most {number(high)}" if low == -high else f"{number(low)} to {number(high)}"


def _curved(found: Curved, outputs: Outputs | None) -> str:
    side = "at most" if found.sign > 0 else "at least"
    off = f", up to {number(found.slack / 2)}" if found.slack else ""
    return (
        f"halfway between two values of {_names(found.features)}, everything else equal, "
        f"{forms_words(found.forms, outputs, 'every')} is {side} the mean of its two values there{off}"
    )


def _permutation(cycles: Sequence[Sequence[str]]) -> str:
    parts = []
    for cycle in cycles:
        if len(cycle) == 2:
            parts.append(f"swapping the values of {cycle[0]!r} and {cycle[1]!r}")
        else:
            first, *steps = pairwise((*cycle, cycle[0]))
            rest = _joined([f"{to!r} that of {origin!r}" for to, origin in steps])
            parts.append(f"giving {first[0]!r} the value of {first[1]!r}, {rest}")
    return _joined(parts)


def _range(lo: Fraction | None, hi: Fraction | None) -> str:
    if lo is None and hi is not None:
        return f"is at most {number(hi)}"
    if hi is None and lo is not None:
        return f"is at least {number(lo)}"
    assert lo is not None and hi is not None
    return f"is {number(lo)}" if lo == hi else f"lies between {number(lo)} and {number(hi)}"


def _apart(names: Sequence[str], outputs: Outputs | None) -> str:
    if outputs is None or outputs.role != "label":
        every = "" if len(names) == 2 else "every two of "
        return f"{every}{_joined([output_words(outputs, name) for name in names])} add up to at most 0"
    if len(names) == 2:
        return f"{_names(names)} are never predicted together: their log-odds add up to at most 0"
    return f"no two of {_names(names)} are predicted together: every two log-odds add up to at most 0"


def _decision(classes: Sequence[str], lead: Fraction, outputs: Outputs | None) -> str:
    target = f"{outputs.target!r}" if outputs is not None and outputs.target else "class"
    if not lead:
        return f"no other class is ahead of {classes[0]!r}"
    if outputs is not None and len(outputs.names) == 1:
        return f"the predicted {target} is {classes[0]!r}, with log-odds of at least {number(lead)}"
    ahead = f"ahead of every other class by at least {number(lead)}"
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
    return f"whenever {_joined(said)}, {then}"


def _conditions(rows: Sequence[Inequality], domain: Domain | None) -> list[str]:
    """One phrase for each feature that is bounded or fixed, the others in symbols."""
    bounds: dict[str, list[Fraction | None]] = {}
    rest = []
    for row in rows:
        if len(row.terms) != 1:
            rest.append(row.text())
            continue
        (term,) = row.terms
        bound, known = row.rhs / term.coef, bounds.setdefault(term.name, [None, None])
        if row.op == "==" or term.coef < 0:
            known[0] = bound if known[0] is None else max(bound, known[0])
        if row.op == "==" or term.coef > 0:
            known[1] = bound if known[1] is None else min(bound, known[1])
    return [
        _value(name, low, domain, "is") if low == high and low is not None else f"{name!r} {_range(low, high)}"
        for name, (low, high) in bounds.items()
    ] + rest


# ---- small words ----------------------------------------------------------------------------------------------------


def _linear(terms: Sequence[tuple[Fraction, str]], constant: Fraction = Fraction(0)) -> str:
    """``0.9 × 'income' − 100``."""
    out = ""
    for coef, words in terms:
        size = words if abs(coef) == 1 else f"{number(abs(coef))} × {words}"
        out += (f" {'−' if coef < 0 else '+'} " if out else ("−" if coef < 0 else "")) + size
    if constant or not out:
        out += f" {'−' if constant < 0 else '+'} {number(abs(constant))}" if out else number(constant)
    return out


def _names(names: Sequence[str], last: str = "and") -> str:
    return _joined([repr(name) for name in names], last)


def _joined(items: Sequence[str], last: str = "and") -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
