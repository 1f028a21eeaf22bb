"""Features that trade places.

Symmetric   b = permutation of a               ⇒  −ε ≤ f(a) − f(b) ≤ ε
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self, final

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.properties.base import Name, Rename, bounded_change, quoted, read_names, read_number, set_fields
from smilenn.properties.claim import Claim, Inequality, row
from smilenn.properties.forms import Outputs
from smilenn.properties.output_property import OutputProperty
from smilenn.properties.rational import number
from smilenn.properties.reach import reference


@final
@dataclass(frozen=True, repr=False)
class Symmetric(OutputProperty):
    """Permuting `features` changes the output by at most `eps`.

    `features` is two names that are swapped, more names that move round (each takes the place of the next, the last
    of the first), or a dictionary feature → feature whose value it takes.
    """

    features: Any
    eps: Any = Fraction(0)
    kind: ClassVar[str] = "symmetric"

    def __post_init__(self) -> None:
        super().__post_init__()
        left, right = _read_permutation(self.features)
        if set(left) != set(right) or len(left) < 2:
            raise SmileError("Symmetric needs two or more features that trade places, such as ['left', 'right'].")
        features = tuple((a, b) for a, b in zip(left, right, strict=True) if a != b)
        if not features:
            raise SmileError("Symmetric: every feature takes its own value; nothing is permuted.")
        set_fields(self, features=features, eps=read_number(self.eps, "Symmetric", "eps"))

    def formula(self) -> str:
        parts = ", ".join(f"{reference(to, 1)} == {reference(source, 0)}" for to, source in self.features)
        return f"∀ a, b ∈ X: {parts}, other features equal ⇒ {self._change(number(self.eps))}"

    def renamed(self, rename: Rename) -> Self:
        return replace(self, features=tuple((rename(a), rename(b)) for a, b in self.features))

    def sentence_about(self, output: str) -> str:
        names = [name for name, _ in self.features]
        deed = "Swapping" if len(names) == 2 else "Permuting"
        change = f"changes {output} by at most {number(self.eps)}" if self.eps else f"leaves {output} unchanged"
        return f"{deed} the values of {quoted(names)}, everything else equal, {change}."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        when: list[Inequality] = []
        for to, source in self.features:
            one, other = domain.feature(str(to)), domain.feature(str(source))
            if (one.kind == "category") != (other.kind == "category") or one.categories != other.categories:
                raise SmileError(f"Symmetric: {to!r} and {source!r} have different values and cannot trade places.")
            members = zip(one.coordinates, other.coordinates, strict=True)
            when += [row([(1, 1, "in", m), (-1, 0, "in", n)], 0, "==") for m, n in members]
        return (Claim(2, tuple(when), bounded_change(self.forms(outputs), self.eps)),)


def _read_permutation(given: Any) -> tuple[tuple[Name, ...], tuple[Name, ...]]:
    """Features, and whose values they take: pairs, or a list in which every one takes that of the next."""
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    if not (isinstance(pairs, (list, tuple)) and pairs and all(isinstance(p, (list, tuple)) for p in pairs)):
        left = read_names(given, "Symmetric")
        return left, (*left[1:], left[0])
    if not all(len(p) == 2 for p in pairs):
        raise SmileError("Symmetric: a permutation is given as pairs feature → feature.")
    return read_names([p[0] for p in pairs], "Symmetric"), read_names([p[1] for p in pairs], "Symmetric")
