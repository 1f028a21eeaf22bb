"""What outputs have to reach: forms g of them, each at least τ.

    two classes     g = ±f, the log-odds of the class that is wanted;  τ the least log-odds of that probability, or 0
    classes         g = f_c − f_j for every other class j;             τ = 0, without equality
    numbers         g = ±f_i;                                          τ the value that is wanted

The probability rises with the log-odds bit for bit, so the least log-odds that give a probability are found by halving
over all float64. A difference of two floats has the sign of the exact one, and exceeds a float only if that does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from smilenn.errors import SmileError, listed
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import Linear
from smilenn.properties.naming import class_words, form_words, output_words
from smilenn.recourse.path import first, float_at, ordered
from smilenn.rounding import round_up

LARGEST_LOGIT = 1000.0  # probabilities are 0 and 1 long before


@dataclass(frozen=True)
class Goal:
    """Every form at least `least` (more than it if `strict`), in words."""

    forms: tuple[Linear, ...]
    least: float
    strict: bool
    words: str  # the probability of 'loan' = 'yes' is at least 0.7

    def missing(self, outputs: np.ndarray, names: Sequence[str], losses: Sequence[Fraction]) -> np.ndarray:
        """How much outputs [n, o] lack, [n]: 0 or less where they reach it, else about what the worst form lacks."""
        lacks = [
            float(Fraction(self.least) + loss) - _value(form, outputs, names)
            for form, loss in zip(self.forms, losses, strict=True)
        ]
        most = np.max(lacks, axis=0)
        sure = self.reached(outputs, names, losses)  # exactly; the lack is a guide alone
        return np.where(sure, np.minimum(most, 0.0), np.maximum(most, np.finfo(float).tiny))

    def reached(self, outputs: np.ndarray, names: Sequence[str], losses: Sequence[Fraction]) -> np.ndarray:
        """Whether outputs [n, o] reach it with so much to spare for each form, [n]."""
        out = np.ones(len(outputs), dtype=bool)
        for form, loss in zip(self.forms, losses, strict=True):
            value = _value(form, outputs, names)
            needed = round_up(Fraction(self.least) + loss)
            out &= value > needed if self.strict else value >= needed
        return out

    def is_out_of_reach(self, outputs: np.ndarray, names: Sequence[str], losses: Sequence[Fraction]) -> bool:
        """Whether outputs [o] miss it even if each form were larger by so much; exactly."""
        for form, loss in zip(self.forms, losses, strict=True):
            most = loss + sum(coef * Fraction(float(outputs[names.index(name)])) for coef, name in form)
            if most < self.least or (self.strict and most == self.least):
                return True
        return False


def gain_words(goal: Goal, outputs: Outputs) -> str:
    """What a gain does, in words: ``add to the log-odds of 'loan' = 'yes'``, ``take off the predicted 'price'``."""
    first: Linear = next(iter(goal.forms))
    if len(goal.forms) > 1:
        wanted = next(name for coef, name in first if coef > 0)
        return f"add to the smallest margin of {wanted!r} over another class"
    ((coef, name),) = first
    if outputs.classes or coef > 0:
        return f"add to {form_words(first, outputs)}"
    return f"take off {output_words(outputs, name)}"


def _value(form: Linear, outputs: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """The form at outputs [n, o], by at most one rounding: [n]."""
    terms = [int(coef) * outputs[:, names.index(name)] for coef, name in form]
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def class_goal(outputs: Outputs, wanted: str, at_least: Any, probabilities: Callable[[np.ndarray], np.ndarray]) -> Goal:
    """That a class is predicted, or that it has a probability; `probabilities` turns logits [n] into [n, classes]."""
    classes = outputs.classes
    if wanted not in classes:
        raise SmileError(f"There is no class {wanted!r}; the classes are {listed(classes)}.")
    place = classes.index(wanted)
    if len(classes) > 2:
        if at_least is not None:
            raise SmileError("at_least is a probability of one of two classes; of several ask for the class alone.")
        others = [name for name in outputs.names if name != wanted]
        forms = tuple(((Fraction(-1), other), (Fraction(1), wanted)) for other in others)
        return Goal(tuple(tuple(sorted(form)) for form in forms), 0.0, True, f"{wanted!r} is predicted")
    sign = 1 if place == 1 else -1
    form: Linear = ((Fraction(sign), outputs.names[0]),)
    called = class_words(outputs, Fraction(sign))
    if at_least is None:  # the second class wants f > 0, the first −f ≥ 0
        return Goal((form,), 0.0, sign > 0, f"{called} is predicted")
    share = _share(at_least)
    least = _least_logit(share, lambda logits: probabilities(sign * logits)[:, place])
    return Goal((form,), least, False, f"the probability of {called} is at least {share!r}")


def label_goal(outputs: Outputs, wanted: str, at_least: Any, probabilities: Callable[[np.ndarray], np.ndarray]) -> Goal:
    """The same of one label of several."""
    if wanted not in outputs.names:
        raise SmileError(f"There is no label {wanted!r}; the labels are {listed(outputs.names)}.")
    form: Linear = ((Fraction(1), wanted),)
    if at_least is None:
        return Goal((form,), 0.0, True, f"the label {wanted!r} is predicted")
    share = _share(at_least)
    return Goal(
        (form,), _least_logit(share, probabilities), False, f"the probability of {wanted!r} is at least {share!r}"
    )


def _least_logit(share: float, probability: Callable[[np.ndarray], np.ndarray]) -> float:
    """The least float64 whose probability is at least the share."""
    low, high = ordered(-LARGEST_LOGIT), ordered(LARGEST_LOGIT)
    step = first(lambda steps: probability(np.array([float_at(low + k) for k in steps])) >= share, high - low)
    if step is None:
        raise SmileError(f"at_least is {share!r}, and no log-odds give that probability; ask for less.")
    return float_at(low + step)


def _share(at_least: Any) -> float:
    share = _number(at_least, "at_least")
    if not 0 < share < 1:
        raise SmileError(f"at_least is {share:g}; a probability to reach lies between 0 and 1.")
    return share


def number_goal(outputs: Outputs, output: str | None, at_least: Any, at_most: Any) -> Goal:
    """That a predicted number is at least, or at most, a value."""
    if (at_least is None) == (at_most is None):
        raise SmileError("Say what to reach: at_least=… or at_most=…, one of the two.")
    if output is None and len(outputs.names) > 1:
        raise SmileError(f"There are several outputs; add output=…, one of {listed(outputs.names)}.")
    name = next(iter(outputs.names)) if output is None else output
    if name not in outputs.names:
        raise SmileError(f"There is no output {name!r}; the outputs are {listed(outputs.names)}.")
    up = at_least is not None
    value = _number(at_least if up else at_most, "at_least" if up else "at_most")
    words = f"{output_words(outputs, name)} is at {'least' if up else 'most'} {value!r}"
    return Goal((((Fraction(1 if up else -1), name),),), value if up else -value, False, words)


def _number(value: Any, what: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise SmileError(f"{what} is {value!r}; give a finite number.")
    return float(value)
