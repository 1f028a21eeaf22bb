"""The properties people ask for by name; each lowers to claims ``∀ copies ∈ X : Q ⇒ R``.

    Monotone    a_P ≤ b_P, rest equal              ⇒  f(a) ≤ f(b)
    Robust      −δ ≤ a − b ≤ δ                     ⇒  −ε ≤ f(a) − f(b) ≤ ε
    Fair        rest equal (or within δ)           ⇒  −ε ≤ f(a) − f(b) ≤ ε
    Lipschitz   a_i ≥ b_i, rest equal              ⇒  |f(a) − f(b)| ≤ K·(a_i − b_i)
    Convex      2·b_P = a_P + c_P, rest equal      ⇒  2·f(b) ≤ f(a) + f(c)
    Symmetric   b = permutation of a               ⇒  −ε ≤ f(a) − f(b) ≤ ε
    Dominates   b trades weak for strong           ⇒  f(a) ≤ f(b)

f is the output; of several outputs each by itself or the one that `output` names, of several classes every margin
between two or the margins of the one named over each other (forms.py). Claims in words, `Safe` and `Custom`, are in
custom.py, those about how outputs stand to each other in outputs.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self, final

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.base import (
    Name,
    Property,
    Rename,
    bounded_change,
    ordered,
    quoted,
    read_names,
    read_number,
    rename_all,
    set_fields,
)
from smilenn.properties.claim import Claim, Inequality, Term, in_quotes, number, row
from smilenn.properties.forms import Form, Outputs, change, read_output
from smilenn.properties.reach import (
    delta_formula,
    delta_json,
    delta_words,
    read_delta,
    reference,
    renamed,
    strip_rows,
)


@dataclass(frozen=True, repr=False)
class Spoken(Property):
    """Base of properties that say the same of every output, margin or of the one `output`.

    `directed` ones say which way it may move; of several classes they must name one.
    """

    output: Any = field(default=None, kw_only=True)
    directed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        set_fields(self, output=read_output(self.output, type(self).__name__))

    @property
    def speaks_of(self) -> str | None:
        """The output that it names; None for all of them."""
        return self.output

    def forms(self, outputs: Outputs) -> tuple[Form, ...]:
        """The linear forms of a network's outputs that it speaks of."""
        return outputs.forms(self.output, type(self).__name__, directed=self.directed)

    def _out(self, copy: int) -> str:
        """The output of a copy in a formula."""
        return Term(Fraction(1), copy, "out", self.output or "").reference()

    def _change(self, most: str) -> str:
        return f"|{self._out(0)} - {self._out(1)}| <= {most}"


@final
@dataclass(frozen=True, repr=False)
class Monotone(Spoken):
    """Raising `increasing` and lowering `decreasing`, the rest equal, never lowers the output.

    >>> Monotone(increasing="income").sentence()
    "Raising 'income', everything else equal, never lowers the output."
    """

    increasing: Sequence[Name] = ()
    decreasing: Sequence[Name] = ()
    kind: ClassVar[str] = "monotone"
    directed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        up, down = (
            read_names(value, "Monotone", what, optional=True)
            for value, what in ((self.increasing, "increasing"), (self.decreasing, "decreasing"))
        )
        both = [name for name in up if name in down]
        if both:
            raise SmileError(f"Monotone: {listed(both)} is both increasing and decreasing; keep one of the two.")
        if not up and not down:
            raise SmileError("Monotone needs a feature, as in Monotone(increasing=['income']).")
        set_fields(self, increasing=up, decreasing=down)

    def formula(self) -> str:  # noqa: D102
        parts = [f"{reference(n, 0)} <= {reference(n, 1)}" for n in self.increasing]
        parts += [f"{reference(n, 0)} >= {reference(n, 1)}" for n in self.decreasing]
        return f"∀ a, b ∈ X: {', '.join(parts)}, other features equal ⇒ {self._out(0)} <= {self._out(1)}"

    def _renamed(self, rename: Rename) -> Self:
        return replace(
            self, increasing=rename_all(self.increasing, rename), decreasing=rename_all(self.decreasing, rename)
        )

    def _sentence(self, output: str) -> str:
        moves = [f"raising {quoted(self.increasing, 'or')}"] if self.increasing else []
        moves += [f"lowering {quoted(self.decreasing, 'or')}"] if self.decreasing else []
        together = ", alone or together" if len(self.increasing) + len(self.decreasing) > 1 else ""
        text = " or ".join(moves) + together
        return f"{text[0].upper()}{text[1:]}, everything else equal, never lowers {output}."

    def _claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        signed = [(str(n), 1) for n in self.increasing] + [(str(n), -1) for n in self.decreasing]
        for name, _ in signed:
            ordered(domain, name, "Monotone")
        when = tuple(row([(sign, 0, "in", name), (-sign, 1, "in", name)]) for name, sign in signed)
        then = tuple(row(change(form)) for form in self.forms(outputs))
        return (Claim(2, when, then),)


@final
@dataclass(frozen=True, repr=False)
class Robust(Spoken):
    """Changing inputs by at most `delta` changes the output by at most `eps`.

    Parameters
    ----------
    delta : in raw units: one number for every continuous and integer feature; a share of each range, ``"5%"``; or a
        dictionary feature → number, share or pair (δ_lo, δ_hi), the others staying equal.
    eps : in units of the output. Classifiers may leave it out: theirs is chosen in training (`with_eps`).
    features : which features move by a single `delta` (default: all continuous and integer ones).
    """

    delta: Any
    eps: Any = None
    features: Sequence[Name] | None = None
    kind: ClassVar[str] = "robust"

    def __post_init__(self) -> None:
        super().__post_init__()
        delta = read_delta(self.delta, "Robust")
        if isinstance(delta, tuple) and self.features is not None:
            raise SmileError("Robust: delta already names its features; leave 'features' out.")
        eps = None if self.eps is None else read_number(self.eps, "Robust", "eps")
        set_fields(self, delta=delta, eps=eps)
        if self.features is not None:
            set_fields(self, features=read_names(self.features, "Robust"))

    def with_eps(self, eps: Any) -> Robust:
        """The same property with another ε."""
        return replace(self, eps=eps)

    def formula(self) -> str:  # noqa: D102
        eps = "eps" if self.eps is None else number(self.eps)
        return (
            f"∀ a, b ∈ X: {delta_formula(self.delta, self.features or ())}, other features equal ⇒ {self._change(eps)}"
        )

    def to_json(self) -> dict[str, Any]:  # noqa: D102
        return super().to_json() | {"delta": delta_json(self.delta)}

    def _renamed(self, rename: Rename) -> Self:
        features = None if self.features is None else rename_all(self.features, rename)
        return replace(self, delta=renamed(self.delta, rename), features=features)

    def _sentence(self, output: str) -> str:
        most = "a fixed ε" if self.eps is None else number(self.eps)
        moves = delta_words(self.delta, self.features or ())
        return f"Changing {moves}, everything else equal, changes {output} by at most {most}."

    def _claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        if self.eps is None:
            raise SmileError("Robust needs eps, the largest change of the output, as in Robust(0.1, eps=0.5).")
        features = self.features
        if features is None:
            features = tuple(f.name for f in domain.features if f.kind in ("continuous", "integer"))
        when = strip_rows(self.delta, domain, [str(n) for n in features], "Robust")
        if not when:
            raise SmileError("Robust: no feature may change; the domain has no continuous or integer one.")
        return (Claim(2, when, bounded_change(self.forms(outputs), self.eps)),)


@final
@dataclass(frozen=True, repr=False)
class Fair(Spoken):
    """Attribute-flip fairness: changing the protected features alone changes the output by at most `eps`.

    This is a statement about the function: it is not causal counterfactual fairness and says nothing of proxies.
    With `delta` (as in `Robust`) the other numeric features may differ by that much at the same time.
    """

    protected: Sequence[Name]
    eps: Any
    delta: Any = None
    kind: ClassVar[str] = "fair"

    def __post_init__(self) -> None:
        super().__post_init__()
        protected = read_names(self.protected, "Fair", "protected")
        delta = None if self.delta is None else read_delta(self.delta, "Fair")
        if isinstance(delta, tuple):
            both = [name for name, _, _ in delta if name in protected]
            if both:
                raise SmileError(f"Fair: {listed(both)} is protected, so it is free; leave it out of delta.")
        set_fields(self, protected=protected, eps=read_number(self.eps, "Fair", "eps"), delta=delta)

    def formula(self) -> str:  # noqa: D102
        parts = [] if self.delta is None else [delta_formula(self.delta, ())]
        parts += [f"{in_quotes(n)} free" if isinstance(n, str) else f"column {n} free" for n in self.protected]
        return f"∀ a, b ∈ X: {', '.join(parts)}, other features equal ⇒ {self._change(number(self.eps))}"

    def to_json(self) -> dict[str, Any]:  # noqa: D102
        return super().to_json() | {"delta": None if self.delta is None else delta_json(self.delta)}

    def _renamed(self, rename: Rename) -> Self:
        delta = None if self.delta is None else renamed(self.delta, rename)
        return replace(self, protected=rename_all(self.protected, rename), delta=delta)

    def _sentence(self, output: str) -> str:
        moves = "" if self.delta is None else f", and {delta_words(self.delta, (), 'other ')}"
        rest = "alone" if self.delta is None else "everything else equal,"
        start = f"Attribute-flip fairness: changing {quoted(self.protected)}{moves}"
        return f"{start}{',' if moves else ''} {rest} changes {output} by at most {number(self.eps)}."

    def _claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        free = tuple(str(n) for n in self.protected)
        others = [f.name for f in domain.features if f.kind in ("continuous", "integer") and f.name not in free]
        when = () if self.delta is None else strip_rows(self.delta, domain, others, "Fair")
        return (Claim(2, when, bounded_change(self.forms(outputs), self.eps), free=free),)


@final
@dataclass(frozen=True, repr=False)
class Lipschitz(Spoken):
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

    def formula(self) -> str:  # noqa: D102
        return "; ".join(
            f"∀ a, b ∈ X: {reference(n, 0)} >= {reference(n, 1)}, other features equal "
            f"⇒ {self._change(number(k))} * ({reference(n, 0)} - {reference(n, 1)})"
            for n, k in self.bounds
        )

    def _renamed(self, rename: Rename) -> Self:
        bound = tuple((rename(n), k) for n, k in self.bound) if isinstance(self.bound, tuple) else self.bound
        return replace(self, features=rename_all(self.features, rename), bound=bound)

    def _sentence(self, output: str) -> str:
        moves = [f"{number(k)} per unit of {quoted([n])}" for n, k in self.bounds]
        text = moves[0] if len(moves) == 1 else f"{', '.join(moves[:-1])} and {moves[-1]}"
        return f"Everything else equal, {output} changes by at most {text}."

    def _claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        claims = []
        for feature, k in self.bounds:
            name = ordered(domain, str(feature), "Lipschitz").name
            most = [(-k, 0, "in", name), (k, 1, "in", name)]
            then = tuple(row([*change(form, sign), *most]) for form in self.forms(outputs) for sign in (1, -1))
            claims.append(Claim(2, (row([(-1, 0, "in", name), (1, 1, "in", name)]),), then))
        return tuple(claims)


@dataclass(frozen=True, repr=False)
class _Curved(Spoken):
    """Copy b lies halfway between a and c: ``sign·(2·f(b) − f(a) − f(c)) ≤ 0``."""

    features: Sequence[Name]
    sign: ClassVar[int]
    directed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, features=read_names(self.features, type(self).__name__))

    def formula(self) -> str:
        halfway = ", ".join(f"2 * {reference(n, 1)} == {reference(n, 0)} + {reference(n, 2)}" for n in self.features)
        op = "<=" if self.sign > 0 else ">="
        return (
            f"∀ a, b, c ∈ X: {halfway}, other features equal ⇒ 2 * {self._out(1)} {op} {self._out(0)} + {self._out(2)}"
        )

    def _renamed(self, rename: Rename) -> Self:
        return replace(self, features=rename_all(self.features, rename))

    def _sentence(self, output: str) -> str:
        side = "at most" if self.sign > 0 else "at least"
        return (
            f"Halfway between two values of {quoted(self.features)}, everything else equal, "
            f"{output} is {side} the mean of its two values there."
        )

    def _claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        sign, names = self.sign, [ordered(domain, str(name), type(self).__name__).name for name in self.features]
        when = tuple(row([(2, 1, "in", name), (-1, 0, "in", name), (-1, 2, "in", name)], 0, "==") for name in names)
        then = tuple(
            row([(c * part, copy, "out", o) for c, o in form for copy, part in ((1, 2 * sign), (0, -sign), (2, -sign))])
            for form in self.forms(outputs)
        )
        return (Claim(3, when, then),)


@final
@dataclass(frozen=True, repr=False)
class Convex(_Curved):
    """The output is convex in `features` jointly, the rest equal: at midpoints, hence everywhere (it is continuous)."""

    kind: ClassVar[str] = "convex"
    sign: ClassVar[int] = 1


@final
@dataclass(frozen=True, repr=False)
class Concave(_Curved):
    """The output is concave in `features` jointly, the rest equal."""

    kind: ClassVar[str] = "concave"
    sign: ClassVar[int] = -1


@final
@dataclass(frozen=True, repr=False)
class Symmetric(Spoken):
    """Permuting `features` changes the output by at most `eps`.

    `features` is two names that are swapped, more names that move round (each takes the place of the next, the last
    of the first), or a dictionary feature → feature whose value it takes.
    """

    features: Any
    eps: Any = Fraction(0)
    kind: ClassVar[str] = "symmetric"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.features
        pairs = list(given.items()) if isinstance(given, Mapping) else given
        if isinstance(pairs, (list, tuple)) and pairs and all(isinstance(p, (list, tuple)) for p in pairs):
            if not all(len(p) == 2 for p in pairs):
                raise SmileError("Symmetric: a permutation is given as pairs feature → feature.")
            left = read_names([p[0] for p in pairs], "Symmetric")
            right = read_names([p[1] for p in pairs], "Symmetric")
        else:
            left = read_names(given, "Symmetric")
            right = (*left[1:], left[0])
        if set(left) != set(right) or len(left) < 2:
            raise SmileError("Symmetric needs two or more features that trade places, such as ['left', 'right'].")
        features = tuple((a, b) for a, b in zip(left, right, strict=True) if a != b)
        if not features:
            raise SmileError("Symmetric: every feature takes its own value; nothing is permuted.")
        set_fields(self, features=features, eps=read_number(self.eps, "Symmetric", "eps"))

    def formula(self) -> str:  # noqa: D102
        parts = ", ".join(f"{reference(to, 1)} == {reference(source, 0)}" for to, source in self.features)
        return f"∀ a, b ∈ X: {parts}, other features equal ⇒ {self._change(number(self.eps))}"

    def _renamed(self, rename: Rename) -> Self:
        return replace(self, features=tuple((rename(a), rename(b)) for a, b in self.features))

    def _sentence(self, output: str) -> str:
        names = [name for name, _ in self.features]
        deed = "Swapping" if len(names) == 2 else "Permuting"
        change = f"changes {output} by at most {number(self.eps)}" if self.eps else f"leaves {output} unchanged"
        return f"{deed} the values of {quoted(names)}, everything else equal, {change}."

    def _claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        when: list[Inequality] = []
        for to, source in self.features:
            one, other = domain.feature(str(to)), domain.feature(str(source))
            if (one.kind == "category") != (other.kind == "category") or one.categories != other.categories:
                raise SmileError(f"Symmetric: {to!r} and {source!r} have different values and cannot trade places.")
            members = zip(one.coordinates, other.coordinates, strict=True)
            when += [row([(1, 1, "in", m), (-1, 0, "in", n)], 0, "==") for m, n in members]
        return (Claim(2, tuple(when), bounded_change(self.forms(outputs), self.eps)),)


@final
@dataclass(frozen=True, repr=False)
class Dominates(Spoken):
    """Raising `strong` by t and lowering `weak` by `rate`·t never lowers the output."""

    strong: Name
    weak: Name
    rate: Any = Fraction(1)
    kind: ClassVar[str] = "dominates"
    directed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("strong", "weak"):
            names = read_names(getattr(self, what), "Dominates", what)
            if len(names) != 1:
                raise SmileError(f"Dominates: {what} is one feature, not {len(names)}.")
            set_fields(self, **{what: names[0]})
        if self.strong == self.weak:
            raise SmileError(f"Dominates: {self.strong!r} cannot dominate itself; name two features.")
        set_fields(self, rate=read_number(self.rate, "Dominates", "rate", sign="positive"))

    def formula(self) -> str:  # noqa: D102
        (a_strong, b_strong), (a_weak, b_weak) = ([reference(n, c) for c in (0, 1)] for n in (self.strong, self.weak))
        factor = "" if self.rate == 1 else f"{number(self.rate)} * "
        trade = f"({b_strong} - {a_strong})" if factor else f"{b_strong} - {a_strong}"
        return (
            f"∀ a, b ∈ X: {a_strong} <= {b_strong}, {a_weak} - {b_weak} == {factor}{trade}, other features equal "
            f"⇒ {self._out(0)} <= {self._out(1)}"
        )

    def _renamed(self, rename: Rename) -> Self:
        return replace(self, strong=rename(self.strong), weak=rename(self.weak))

    def _sentence(self, output: str) -> str:
        loss = "as much" if self.rate == 1 else f"{number(self.rate)} times as much"
        strong, weak = quoted([self.strong]), quoted([self.weak])
        return f"Raising {strong} and lowering {weak} by {loss}, everything else equal, never lowers {output}."

    def _claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        strong, weak = (ordered(domain, str(n), "Dominates").name for n in (self.strong, self.weak))
        rise = row([(1, 0, "in", strong), (-1, 1, "in", strong)])
        trade = [(1, 0, "in", weak), (-1, 1, "in", weak), (self.rate, 0, "in", strong), (-self.rate, 1, "in", strong)]
        then = tuple(row(change(form)) for form in self.forms(outputs))
        return (Claim(2, (rise, row(trade, 0, "==")), then),)
