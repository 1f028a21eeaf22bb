"""How far the output moves.

Robust      −δ ≤ a − b ≤ δ                     ⇒  −ε ≤ f(a) − f(b) ≤ ε
            Σ ((a_i − b_i)/δ_i)² ≤ 1           ⇒  the same, with norm=2
            with n steps also for δ/n and ε·(n + 1)/n²
Fair        rest equal (or within δ)           ⇒  −ε ≤ f(a) − f(b) ≤ ε
Lipschitz   a_i ≥ b_i, rest equal              ⇒  |f(a) − f(b)| ≤ K·(a_i − b_i)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, ClassVar, Self, final

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.ball import ball_axes, ball_formula, ball_words
from smilenn.properties.base import (
    Name,
    Rename,
    bounded_change,
    ordered,
    quoted,
    read_names,
    read_number,
    rename_all,
    set_fields,
)
from smilenn.properties.claim import Claim, in_quotes, row
from smilenn.properties.forms import Outputs, change
from smilenn.properties.output_property import OutputProperty
from smilenn.properties.rational import number
from smilenn.properties.reach import (
    IF_PIXELS,
    delta_divided,
    delta_formula,
    delta_json,
    delta_renamed,
    delta_words,
    only_zeros_and_ones,
    read_delta,
    reference,
    refuse_idle,
    strip_rows,
)

MOST_STEPS = 10_000


@final
@dataclass(frozen=True, repr=False)
class Robust(OutputProperty):
    """Changing inputs by at most `delta` changes the output by at most `eps`.

    Parameters
    ----------
    delta : in raw units: one number for every continuous and integer feature; a share of each range, ``"5%"``; or a
        dictionary feature → number, share or pair (δ_lo, δ_hi), the others staying equal.
    eps : in units of the output. Classifiers may leave it out: theirs is chosen in training (`with_eps`).
    features : which features move by a single `delta` (default: all continuous and integer ones).
    norm : "inf", each feature within its `delta`; or 2, all of them together within it in the Euclidean norm, each
        measured in units of its own delta. With 2 the features are continuous ones (default: all of them).
    steps : how finely certified radii count. With n > 1 the property also asks that changes by delta/n change the
        output by at most (n + 1)/n² of `eps`, a little more than its n-th part. None is 1, and 100 of classifiers of
        images: their networks keep the finer rule wherever they keep the other.
    """

    delta: Any
    eps: Any = None
    features: Sequence[Name] | None = None
    norm: Any = "inf"
    steps: Any = None
    kind: ClassVar[str] = "robust"
    moves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        norm, steps = _norm(self.norm), _steps(self.steps)
        delta = read_delta(self.delta, "Robust", positive=True, each=norm == 2)
        if isinstance(delta, tuple) and self.features is not None:
            raise SmileError("Robust: delta already names its features; leave 'features' out.")
        eps = None if self.eps is None else read_number(self.eps, "Robust", "eps")
        if isinstance(delta, tuple):
            refuse_idle(delta, "Robust", ball=norm == 2)
        set_fields(self, delta=delta, eps=eps, norm=norm, steps=steps)
        if self.features is not None:
            set_fields(self, features=read_names(self.features, "Robust"))

    def with_eps(self, eps: Any) -> Robust:
        """The same property with another ε."""
        return replace(self, eps=eps)

    def finer(self) -> Robust | None:
        """The rule on changes by delta/n, n the steps, with ε·(n + 1)/n²; None where there is one step."""
        if self.steps is None or self.steps == 1:
            return None
        eps = None if self.eps is None else self.eps * (self.steps + 1) / self.steps**2
        return replace(self, delta=delta_divided(self.delta, self.steps), eps=eps, steps=None)

    def formula(self) -> str:
        eps, finer = "eps" if self.eps is None else number(self.eps), self.finer()
        near = (ball_formula if self.norm == 2 else delta_formula)(self.delta, self.features or ())
        own = f"∀ a, b ∈ X: {near}, other features equal ⇒ {self._change(eps)}"
        return own if finer is None else f"{own}; {finer.formula()}"

    def to_json(self) -> dict[str, Any]:
        data = super().to_json() | {"delta": delta_json(self.delta)}
        usual = {"norm": "inf", "steps": None}
        return {key: value for key, value in data.items() if key not in usual or getattr(self, key) != usual[key]}

    def renamed(self, rename: Rename) -> Self:
        features = None if self.features is None else rename_all(self.features, rename)
        return replace(self, delta=delta_renamed(self.delta, rename), features=features)

    def sentence_about(self, output: str) -> str:
        most = "a fixed ε" if self.eps is None else number(self.eps)
        moves = (ball_words if self.norm == 2 else delta_words)(self.delta, self.features or ())
        own, finer = f"Changing {moves}, everything else equal, changes {output} by at most {most}.", self.finer()
        return own if finer is None else f"{own} {finer.sentence_about(output)}"

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        finer = self.finer()
        return (self._claim(domain, outputs), *(() if finer is None else finer.claims(domain, outputs)))

    def _claim(self, domain: Domain, outputs: Outputs) -> Claim:
        if self.eps is None:
            raise SmileError("Robust needs eps, the largest change of the output, as in Robust(0.1, eps=0.5).")
        features = self.features
        if self.norm == 2:
            ball = ball_axes(self.delta, domain, None if features is None else [str(n) for n in features])
            return Claim(2, (), bounded_change(self.forms(outputs), self.eps), ball=ball)
        if features is None:
            features = tuple(f.name for f in domain.features if f.kind in ("continuous", "integer"))
        when = strip_rows(self.delta, domain, [str(n) for n in features], "Robust")
        if not when:
            raise SmileError(f"Robust: no feature may change; {_what_stays(domain)}.")
        return Claim(2, when, bounded_change(self.forms(outputs), self.eps))


def _what_stays(domain: Domain) -> str:
    """Why no feature may change, and what to do where they may be pixels."""
    if not only_zeros_and_ones(domain):
        return "the domain has no continuous or integer one"
    return f"all hold 0 and 1; {IF_PIXELS}, else leave the property out"


def _norm(value: Any) -> str | int:
    """A norm as it is stored: "inf", or 2 as Python's own number, whatever kind of number was given."""
    if isinstance(value, str) and value == "inf":
        return "inf"
    if isinstance(value, Real) and not isinstance(value, bool) and value == 2:
        return 2
    raise SmileError(f'Robust: norm is {value!r}; choose "inf" or 2.')


def _steps(value: Any) -> int | None:
    """Steps as they are stored: None, or a whole number of Python's own."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= MOST_STEPS:
        raise SmileError(f"Robust: steps is {value!r}; give a whole number from 1 to {MOST_STEPS}.")
    return int(value)


@final
@dataclass(frozen=True, repr=False)
class Fair(OutputProperty):
    """Attribute-flip fairness: changing the protected features alone changes the output by at most `eps`.

    This is a statement about the function: it is not causal counterfactual fairness and says nothing of proxies.
    With `delta` (as in `Robust`) the other numeric features may differ by that much at the same time.
    """

    protected: Sequence[Name]
    eps: Any
    delta: Any = None
    kind: ClassVar[str] = "fair"
    moves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        protected = read_names(self.protected, "Fair", "protected")
        delta = None if self.delta is None else read_delta(self.delta, "Fair")
        if isinstance(delta, tuple):
            both = [name for name, _, _ in delta if name in protected]
            if both:
                raise SmileError(f"Fair: {listed(both)} is protected, so it is free; leave it out of delta.")
        set_fields(self, protected=protected, eps=read_number(self.eps, "Fair", "eps"), delta=delta)

    def formula(self) -> str:
        parts = [] if self.delta is None else [delta_formula(self.delta, ())]
        parts += [f"{in_quotes(n)} free" if isinstance(n, str) else f"column {n} free" for n in self.protected]
        return f"∀ a, b ∈ X: {', '.join(parts)}, other features equal ⇒ {self._change(number(self.eps))}"

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"delta": None if self.delta is None else delta_json(self.delta)}

    def renamed(self, rename: Rename) -> Self:
        delta = None if self.delta is None else delta_renamed(self.delta, rename)
        return replace(self, protected=rename_all(self.protected, rename), delta=delta)

    def sentence_about(self, output: str) -> str:
        moves = "" if self.delta is None else f", and {delta_words(self.delta, (), 'other ')}"
        rest = "alone" if self.delta is None else "everything else equal,"
        start = f"Attribute-flip fairness: changing {quoted(self.protected)}{moves}"
        return f"{start}{',' if moves else ''} {rest} changes {output} by at most {number(self.eps)}."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        free = tuple(str(n) for n in self.protected)
        others = [f.name for f in domain.features if f.kind in ("continuous", "integer") and f.name not in free]
        when = () if self.delta is None else strip_rows(self.delta, domain, others, "Fair")
        return (Claim(2, when, bounded_change(self.forms(outputs), self.eps), free=free),)


@final
@dataclass(frozen=True, repr=False)
class Lipschitz(OutputProperty):
    """Along each of `features` alone the output changes at most `bound` times as much as the feature.

    `bound` is one number or a dictionary feature → number, in output units per raw unit.
    """

    features: Sequence[Name]
    bound: Any
    kind: ClassVar[str] = "lipschitz"

    def __post_init__(self) -> None:
        super().__post_init__()
        features, bound = read_names(self.features, "Lipschitz"), self.bound
        if isinstance(bound, Mapping):
            bound = tuple(bound.items())
        if isinstance(bound, (list, tuple)):
            if not all(isinstance(entry, (list, tuple)) and len(entry) == 2 for entry in bound):
                raise SmileError(f"Lipschitz: bound is {bound!r}; give a number, or one number per feature.")
            names = read_names([name for name, _ in bound], "Lipschitz", "bound")
            if set(names) != set(features):
                raise SmileError(f"Lipschitz: bound names {listed(names)} but the features are {listed(features)}.")
            given = dict(zip(names, (value for _, value in bound), strict=True))
            bound = tuple((n, read_number(given[n], "Lipschitz", f"bound of {n!r}")) for n in features)
        else:
            bound = read_number(bound, "Lipschitz", "bound")
        set_fields(self, features=features, bound=bound)

    @property
    def bounds(self) -> tuple[tuple[Name, Fraction], ...]:
        """(feature, K) for every feature."""
        return self.bound if isinstance(self.bound, tuple) else tuple((n, self.bound) for n in self.features)

    def formula(self) -> str:
        return "; ".join(
            f"∀ a, b ∈ X: {reference(n, 0)} >= {reference(n, 1)}, other features equal "
            f"⇒ {self._change(number(k))} * ({reference(n, 0)} - {reference(n, 1)})"
            for n, k in self.bounds
        )

    def renamed(self, rename: Rename) -> Self:
        bound = tuple((rename(n), k) for n, k in self.bound) if isinstance(self.bound, tuple) else self.bound
        return replace(self, features=rename_all(self.features, rename), bound=bound)

    def sentence_about(self, output: str) -> str:
        moves = [f"{number(k)} per unit of {quoted([n])}" for n, k in self.bounds]
        text = moves[0] if len(moves) == 1 else f"{', '.join(moves[:-1])} and {moves[-1]}"
        return f"Everything else equal, {output} changes by at most {text}."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        claims = []
        for feature, k in self.bounds:
            name = ordered(domain, str(feature), "Lipschitz").name
            most = [(-k, 0, "in", name), (k, 1, "in", name)]
            then = tuple(row([*change(form, sign), *most]) for form in self.forms(outputs) for sign in (1, -1))
            claims.append(Claim(2, (row([(-1, 0, "in", name), (1, 1, "in", name)]),), then))
        return tuple(claims)
