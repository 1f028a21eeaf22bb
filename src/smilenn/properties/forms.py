"""What a property is about: linear forms of a network's outputs.

    numbers        every output by itself, or the one that is named
    two classes    one output, the logit of the second class; the first class has the same with the other sign
    classes        every margin f_i − f_j; of a named class its margins over each of the others

The class with the largest output wins, so that only margins mean something: adding one function to all outputs changes
neither a decision nor a probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from numbers import Integral, Real
from typing import Any, Literal

from smilenn.errors import SmileError, listed

Form = tuple[tuple[int, str], ...]  # (coefficient, output) each
Role = Literal["output", "number", "quantile", "label"]  # what a single output is, where there are no classes
ROLES: dict[str, Role] = {"regression": "number", "quantiles": "quantile", "multilabel": "label"}  # by task


@dataclass(frozen=True)
class Outputs:
    """The outputs of a network by name, and the classes they decide between, if any.

    One output called '' is that of a scalar network. Two classes have one output, more have one each, of their names.
    `target` is the column that is predicted ('' where it has no name) and `role` what an output is where there are no
    classes: a predicted number, a quantile, the log-odds of a label, or nothing that is known. `positive` is the class
    of two that a sentence names where either would do ('' for the second). All three are for words only.
    """

    names: tuple[str, ...] = ("",)
    classes: tuple[str, ...] = ()
    target: str = field(default="", compare=False)
    role: Role = field(default="output", compare=False)
    positive: str = field(default="", compare=False)

    @classmethod
    def of(cls, outputs: Outputs | Sequence[str]) -> Outputs:
        """Outputs as they are, or numbers of these names."""
        return outputs if isinstance(outputs, Outputs) else cls(tuple(outputs))

    @property
    def misnamed(self) -> bool:
        """Whether the classes cannot be those that the outputs decide between: one output for two, or one for each."""
        if self.positive and not (len(self.names) == 1 and self.positive in self.classes):
            return True
        return bool(self.classes) and (len(self.classes) != 2 if len(self.names) == 1 else self.classes != self.names)

    def forms(self, output: str | None, who: str, *, directed: bool) -> tuple[Form, ...]:
        """What `who` is about: the `output` that it names, or all of them.

        `directed` properties say which way a form may move; of several classes they must name one.
        """
        self._refuse_unknown(output, who)
        if len(self.names) == len(self.classes):  # one output a class
            return self._margins(output, who, directed=directed)
        if self.classes and output is not None:
            return (((1 if output == self.classes[1] else -1, self.names[0]),),)
        return tuple(((1, name),) for name in (self.names if output is None else (output,)))

    def _refuse_unknown(self, output: str | None, who: str) -> None:
        known = self.classes or self.names
        if output is None or output in known:
            return
        if known == ("",):
            raise SmileError(f"{who} names the output {output!r}, but there is one only; leave 'output' out.")
        raise SmileError(f"{who} names the output {output!r}; there are {listed(known, 20)}.")

    def _margins(self, output: str | None, who: str, *, directed: bool) -> tuple[Form, ...]:
        """Of one class over every other, or of all pairs."""
        known = self.classes
        if output is not None:
            return tuple(((1, output), (-1, other)) for other in known if other != output)
        if directed:
            raise SmileError(
                f"{who} must say which of the {len(known)} classes it is about: its margin over each other class "
                f"is what may move one way only; add output={known[-1]!r}, or another of {listed(known, 20)}."
            )
        return tuple(((1, one), (-1, other)) for one, other in combinations(known, 2))


def class_name(value: Any) -> str:
    """A class as the name of an output: a whole number without a point.

    >>> class_name(1.0), class_name("yes")
    ('1', 'yes')
    """
    whole = isinstance(value, Real) and not isinstance(value, Integral) and float(value).is_integer()
    return str(int(float(value))) if whole else str(value)


def read_output(value: Any, who: str) -> str | None:
    """The name of an output as users give it: a text, or a class that is a whole number."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    raise SmileError(f"{who}: output is {value!r}; give the name of an output or a class.")


def change(form: Form, sign: int = 1) -> list[tuple[int, int, str, str]]:
    """Terms of ``sign·(form(a) − form(b))``."""
    return [(sign * c, 0, "out", name) for c, name in form] + [(-sign * c, 1, "out", name) for c, name in form]
