"""What outputs, linear forms of them and numbers are called in a sentence.

    regression     the predicted 'price', the prediction        two classes    the log-odds of 'default' = 'yes'
    quantiles      the predicted quantile 'q0.9' of 'price'     classes        the margin of 'a' over 'b'
    labels         the log-odds of 'cat'                        not known      the output, output 'y'

Names stand in quotes, with everything that cannot be printed escaped, so that no name can pass for a part of the
sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction

from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import Linear
from smilenn.properties.rational import LARGEST, exact, number
from smilenn.properties.thresholds import cell

ROLE_WORDS = {
    "label": "label's log-odds",
    "quantile": "predicted quantile",
    "number": "prediction",
}
LEAST = Fraction(1, 10**290)  # smaller floats are written exactly: `exact` reads no exponent beyond 300


def output_words(outputs: Outputs | None, name: str) -> str:
    """What one output is called."""
    if outputs is None:
        return f"output {name!r}" if name else "the output"
    if _is_logit(outputs):
        return f"the log-odds of {class_words(outputs, Fraction(1))}"
    if outputs.classes:
        return f"the logit of {name!r}"
    if outputs.role == "label":
        return f"the log-odds of {name!r}"
    if outputs.role == "quantile":
        return f"the predicted quantile {name!r}{_of_target(outputs)}"
    return _number_words(outputs, name)


def _is_logit(outputs: Outputs | None) -> bool:
    """Whether one output decides between two classes."""
    return outputs is not None and bool(outputs.classes) and len(outputs.names) == 1


def _number_words(outputs: Outputs, name: str) -> str:
    """What an output that is a number is called; of several, one without a name is not "the" output."""
    only = len(outputs.names) == 1
    if outputs.role != "number":
        return f"output {name!r}" if name or not only else "the output"
    shown = name or (outputs.target if only else "")
    return f"the predicted {shown!r}" if shown or not only else "the prediction"


def _of_target(outputs: Outputs) -> str:
    return f" of {outputs.target!r}" if outputs.target else ""


def class_words(outputs: Outputs, sign: Fraction) -> str:
    """The class of two whose log-odds are the logit (sign > 0) or its negation."""
    called = repr(outputs.classes[1 if sign > 0 else 0])
    return f"{outputs.target!r} = {called}" if outputs.target else called


def form_words(form: Linear, outputs: Outputs | None) -> str:
    """What a linear form of the outputs is called."""
    if len(form) == 1:
        return _single_words(*form[0], outputs)
    if sorted(coef for coef, _ in form) == [-1, 1]:
        (_, second), (_, first) = sorted(form)
        if outputs is not None and outputs.classes:
            return f"the margin of {first!r} over {second!r}"
        return f"{output_words(outputs, first)} minus {output_words(outputs, second)}"
    return linear_words([(coef, output_words(outputs, name)) for coef, name in form])


def _single_words(coef: Fraction, name: str, outputs: Outputs | None) -> str:
    """What a multiple of one output is called."""
    if outputs is not None and _is_logit(outputs):
        return f"the log-odds of {class_words(outputs, coef)}"
    return output_words(outputs, name) if coef > 0 else f"minus {output_words(outputs, name)}"


def either_way(forms: Sequence[Linear], outputs: Outputs | None) -> Sequence[Linear]:
    """Forms whose size alone matters: of two classes the log-odds of the positive one, which move as far."""
    if outputs is None or not _is_logit(outputs) or outputs.positive != outputs.classes[0]:
        return forms
    return [tuple((-abs(coef), name) for coef, name in form) for form in forms]


def forms_words(forms: Sequence[Linear], outputs: Outputs | None, every: str) -> str:
    """What several forms are called; `every` is the word for all of them: ``any`` or ``every``."""
    if len(forms) == 1:
        return form_words(forms[0], outputs)
    together = "" if outputs is None else _together_words(forms, outputs, every)
    return together or joined([form_words(form, outputs) for form in forms], "or" if every == "any" else "and")


def _together_words(forms: Sequence[Linear], outputs: Outputs, every: str) -> str:
    """What several forms are called by one name: all outputs, or margins of classes; empty where they have none."""
    if len(outputs.classes) > 2:
        return _margin_words(forms, outputs, every)
    if list(forms) != [((1, name),) for name in outputs.names]:
        return ""
    target = _of_target(outputs) if outputs.role == "quantile" else ""
    return f"{every} {ROLE_WORDS.get(outputs.role, 'output')}{target}"


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


def linear_words(terms: Sequence[tuple[Fraction, str]], constant: Fraction = Fraction(0)) -> str:
    """``0.9 × 'income' − 100``."""
    out = ""
    for coef, words in terms:
        size = words if abs(coef) == 1 else f"{amount(abs(coef))} × {words}"
        out += (f" {'−' if coef < 0 else '+'} " if out else ("−" if coef < 0 else "")) + size
    if constant or not out:
        out += f" {'−' if constant < 0 else '+'} {amount(abs(constant))}" if out else amount(constant)
    return out


def joined(items: Sequence[str], last: str = "and") -> str:
    """``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


def amount(value: Fraction) -> str:
    """A number, exactly; a tiny one with its exponent.

    >>> amount(Fraction(1, 5)), amount(Fraction(-74, 10**13)), amount(Fraction(7, 10**40))
    ('0.2', '-7.4e-12', '7e-40')
    """
    if not 0 < abs(value) < Fraction(1, 10**6):
        return number(value)
    context = Context(prec=30, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
    exactly = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    if context.flags[Inexact]:
        return number(value)
    digits = "".join(map(str, exactly.as_tuple().digits))
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{'-' if value < 0 else ''}{digits[0]}{rest}e{exactly.adjusted():03d}"


def cell_words(value: Fraction) -> str:
    """A number of the table as its cell shows it: a float by its shortest decimal, another one exactly.

    >>> cell_words(Fraction(0.3)), cell_words(Fraction(3, 10)), cell_words(Fraction(1, 3))
    ('0.3', '0.3', '1/3')
    """
    short = LEAST < abs(value) <= LARGEST and cell(value) == value
    return amount(exact(float(value)) if short else value)
