"""The contract of properties: what it says in Python is what its claims say, wherever it is saved and read again.

    class TestCheaperWhenOld(PropertyContract):
        domain = Domain.box([0, 0], [16, 8], names=["age", "weight"])

        def property(self):
            return CheaperWhenOld("age")

        def holds(self, inputs, outputs):
            a, b = inputs
            if a["age"] >= b["age"] and a["weight"] == b["weight"]:
                return outputs[0][""] <= outputs[1][""]
            return True

`holds` is the property once more, of one tuple of inputs and outputs and without a network: True where the tuple is
allowed. Tuples are drawn at random, near each other and far, and all orders of their inputs are asked together: a claim
that compares b with a says the same as one that compares a with b. Numbers are multiples of 2^-10, so that sums, halves
and differences of them are exact; use bounds that are such numbers too.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from smilenn.certify.verdicts import check
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.store import load
from smilenn.properties.base import Name, Property
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.forms import Outputs
from smilenn.properties.premise import holds_exactly
from smilenn.properties.spec import property_from_json
from smilenn.train.config import Config

TUPLES, ROWS = 800, 64
GRID = 2.0**-10
Values = Mapping[str, Any]  # a row as the user has it: numbers and texts by column, or outputs by name


class PropertyContract(ABC):
    """Subclass it in a test module, name a domain, return the property and write it once more as a predicate.

    Attributes
    ----------
    domain : features with bounds that are multiples of 2^-10.
    outputs : those of the network; ``Outputs(names, classes)`` for a classifier.
    certified : whether a small model that is fitted to random data is expected to be certified.
    """

    domain: Domain
    outputs: Outputs | Sequence[str] = ("",)
    certified = True

    @abstractmethod
    def property(self) -> Property:
        """The property."""

    @abstractmethod
    def holds(self, inputs: Sequence[Values], outputs: Sequence[Values]) -> bool:
        """Whether a tuple is allowed: as many inputs as a claim has copies, each with its outputs by name."""

    def estimator(self) -> SmileEstimator:
        """What is fitted: small, quick, with this property."""
        kind = SmileClassifier if Outputs.of(self.outputs).classes else SmileRegressor
        config = Config(epochs=2, batch_size=64)
        return kind(properties=[self.property()], domain=self.domain, config=config, random_state=0)

    def data(self) -> tuple[pd.DataFrame, Any]:
        """A table of the domain and a target [n] or [n, o] for `estimator`."""
        rng, known = np.random.default_rng(0), Outputs.of(self.outputs)
        x = self.domain.sample(ROWS, rng)
        frame, unit = self.domain.decode(x), (x - self.domain.lo) / (self.domain.hi - self.domain.lo)
        signal = unit @ rng.normal(size=(x.shape[1], max(1, len(known.names)))) + 0.1 * rng.normal(size=(ROWS, 1))
        if len(known.classes) > 2:
            return frame, np.array(known.classes)[signal.argmax(axis=1)]
        if known.classes:
            return frame, np.array(known.classes)[(signal[:, 0] > np.median(signal[:, 0])).astype(int)]
        if known.names == ("",):
            return frame, signal[:, 0]
        return frame, pd.DataFrame(signal, columns=list(known.names))

    # ---- the tests --------------------------------------------------------------------------------------------------

    def test_it_survives_json(self) -> None:
        """What is read back is equal, prints the same and makes the same claims."""
        made = self.property()
        again = property_from_json(json.loads(json.dumps(made.to_json())))
        assert type(again) is type(made) and again == made and repr(again) == repr(made)
        assert again.lower(self.domain, self.outputs) == made.lower(self.domain, self.outputs)

    def test_lowering_is_deterministic(self) -> None:
        """The same claims each time, in the same order, and each of them is readable JSON."""
        first, second = (self.property().lower(self.domain, self.outputs) for _ in range(2))
        assert first == second and [c.to_json() for c in first] == [c.to_json() for c in second]
        assert tuple(Claim.from_json(json.loads(json.dumps(claim.to_json()))) for claim in first) == first

    def test_it_has_a_sentence(self) -> None:
        """The property's own, its formula, and one made from the rows of every claim."""
        made = self.property()
        said = made.sentence()
        assert said[-1] == "." and len(said.splitlines()) == 1 and made.formula()
        for claim in made.lower(self.domain, self.outputs):
            assert claim.sentence, claim.formula()

    def test_features_are_renamed(self) -> None:
        """By position, under other names, and not at all: the same claims; an unknown feature is an error."""
        made, asked = self.property(), list[Name]()
        same = made.renamed(lambda name: asked.append(name) or str(name))
        known = [feature.name for feature in self.domain.features]
        if not asked:
            held = sorted(_texts(tuple(getattr(made, f.name) for f in fields(made))) & set(known))  # type: ignore[arg-type]
            assert not held, f"`renamed` never asks for the new names of {held}"
            assert same == made
            return
        plain = made.named(self.domain)
        assert plain.lower(self.domain, self.outputs) == made.lower(self.domain, self.outputs)
        columns = list(self.domain.columns)
        placed = plain.renamed(_any(lambda name: columns.index(name) if name in columns else name))
        assert placed.lower(self.domain, self.outputs) == made.lower(self.domain, self.outputs), "by position"
        other = Domain(tuple(replace(f, name=f"{f.name} other") for f in self.domain.features))
        moved = plain.renamed(lambda name: f"{name} other").lower(other, self.outputs)
        names = dict(zip(self.domain.coordinates, other.coordinates, strict=True))
        names |= dict(zip(known, (f.name for f in other.features), strict=True))
        assert moved == tuple(_called(claim, names) for claim in made.lower(self.domain, self.outputs)), "other names"
        try:
            made.lower(other, self.outputs)
        except SmileError:
            return
        raise AssertionError("a domain without its features is not refused")

    def test_claims_say_what_the_predicate_says(self) -> None:
        """On tuples that satisfy a premise, nearly do or do not; allowed ones and others."""
        claims = self.property().lower(self.domain, self.outputs)
        seen = {"allowed": 0, "forbidden": 0}
        for copies in sorted({claim.copies for claim in claims}):
            drawn = list(self.tuples(copies))
            rows = self.domain.decode(np.concatenate([x for x, _ in drawn])).to_dict("records")
            alike = [claim for claim in claims if claim.copies == copies]
            for i, (x, y) in enumerate(drawn):
                inputs: list[Any] = rows[i * copies : (i + 1) * copies]
                wanted, met = self._compared(alike, inputs, x, y)
                seen["allowed" if wanted else "forbidden"] += met
        assert min(seen.values()) >= 5, f"too few tuples of each sort satisfy a premise ({seen}); override `tuples`"

    def _compared(self, claims: Sequence[Claim], inputs: list[Any], x: np.ndarray, y: np.ndarray) -> tuple[bool, bool]:
        """What the predicate says of a tuple, and whether it satisfies a premise; the claims must say the same."""
        names = Outputs.of(self.outputs).names
        outputs = [dict(zip(names, map(float, one), strict=True)) for one in y]
        orders = [list(order) for order in permutations(range(len(x)))]
        wanted = all(self.holds([inputs[i] for i in p], [outputs[i] for i in p]) for p in orders)
        met = [(claim, p) for claim in claims for p in orders if holds_exactly(claim, self.domain, x[p])]
        found = all(_concludes(claim, self.domain, names, x[p], y[p]) for claim, p in met)
        verb = "allow" if found else "forbid"
        assert found == wanted, f"the claims {verb} {inputs} with {outputs}; the predicate says {wanted}"
        return wanted, bool(met)

    def test_fit_save_load_check(self) -> None:
        """A fitted model keeps its property and its verdict on disk."""
        with tempfile.TemporaryDirectory(prefix="smilenn-") as place, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the data are random: they may contradict the rule
            model = self.estimator().fit(*self.data())
            folder = Path(place) / "model"
            model.save(folder)
            warnings.simplefilter("error")
            again, verdict = load(folder), check(folder)
        assert again.properties == (self.property(),) and again.claims_ == model.claims_
        assert again.verdict_.status == model.verdict_.status, again.verdict_.sentence()
        assert verdict.status == ("proved" if model.verdict_.status == "proved" else "unknown"), verdict.sentence()
        if self.certified:
            assert verdict.status == "proved", model.verdict_.sentence()

    # ---- tuples -----------------------------------------------------------------------------------------------------

    def tuples(self, copies: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Inputs x [k, m], raw units, and outputs y [k, o]; override it where random ones miss the premise.

        Inputs start equal; a few features of some are then changed, by a lot or a little, or two features of one input
        trade values. Outputs are equal, close or far apart, of sizes from a thousandth to a thousand.
        """
        rng, known = np.random.default_rng(0), Outputs.of(self.outputs)
        for _ in range(TUPLES):
            x = np.repeat(_rounded(self.domain, self.domain.sample(1, rng)), copies, axis=0)
            for _ in range(int(rng.integers(0, 4))):
                _change(self.domain, x, rng)
            if copies == 3 and rng.random() < 0.5:
                _halve(self.domain, x, rng)
            size = 2.0 ** float(rng.integers(-10, 11))
            y = size * rng.integers(-4, 5, size=(copies, len(known.names))) / 4
            yield x, y + float(rng.integers(-2, 3)) * size


def _any(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A renaming to positions, which the type of a renaming does not foresee."""
    return function


def _change(domain: Domain, x: np.ndarray, rng: np.random.Generator) -> None:
    """One more difference between the inputs x [k, m], in place."""
    c, feature = int(rng.integers(len(x))), domain.features[int(rng.integers(len(domain.features)))]
    part = domain.slices[feature.name]
    way = rng.random()
    if way < 0.2 and len(domain.features) > 1:
        _trade(domain, x[c], part, rng)
    elif way < 0.6 and feature.kind == "continuous":  # a small step
        step = (feature.hi - feature.lo) * 2.0 ** -float(rng.integers(1, 9))
        x[c, part] += step * float(rng.choice([-1.0, 1.0]))
    elif way < 0.75 and len(x) > 1 and feature.kind != "category":
        _shift(domain, x[c], feature, rng)
    else:
        x[c, part] = domain.sample(1, rng)[0, part]
    x[:] = _rounded(domain, x)


def _trade(domain: Domain, x: np.ndarray, part: slice, rng: np.random.Generator) -> None:
    """A feature of one input x [m] and another one of the same size trade values, in place."""
    other = domain.slices[domain.features[int(rng.integers(len(domain.features)))].name]
    if other.stop - other.start == part.stop - part.start:
        x[part], x[other] = x[other].copy(), x[part].copy()


def _shift(domain: Domain, x: np.ndarray, feature: Feature, rng: np.random.Generator) -> None:
    """What one feature of an input x [m] gains, another of its kind loses, in place."""
    step = float(rng.integers(1, 4)) * (1.0 if feature.kind != "continuous" else (feature.hi - feature.lo) / 8)
    others = [f for f in domain.features if f.kind == feature.kind]
    x[domain.slices[feature.name]] += step
    x[domain.slices[others[int(rng.integers(len(others)))].name]] -= step


def _halve(domain: Domain, x: np.ndarray, rng: np.random.Generator) -> None:
    """The second of three inputs halfway between the others, in place."""
    numbers = ~domain.integral
    x[1, numbers] = (x[0, numbers] + x[2, numbers]) / 2


def _rounded(domain: Domain, x: np.ndarray) -> np.ndarray:
    """Inputs on the grid and inside the domain; continuous ones on even places, so that their halves are on it too."""
    continuous = np.rint(x / (2 * GRID)) * (2 * GRID)
    return np.clip(np.where(domain.integral, np.rint(x), continuous), domain.lo, domain.hi)


# ---- claims on a tuple ----------------------------------------------------------------------------------------------


def _concludes(claim: Claim, domain: Domain, names: Sequence[str], x: np.ndarray, y: np.ndarray) -> bool:
    """Whether the conclusion holds of a tuple, exactly."""

    def holds(row: Inequality) -> bool:
        total = Fraction(0)
        for term in row.terms:
            place = names.index(term.name) if term.kind == "out" else domain.indices(term.name)[0]
            total += term.coef * Fraction(float((y if term.kind == "out" else x)[term.copy, place]))
        return total == row.rhs if row.op == "==" else total <= row.rhs

    return all(map(holds, claim.then)) and all(any(map(holds, clause)) for clause in claim.either)


def _called(claim: Claim, names: Mapping[str, str]) -> Claim:
    """The claim with its features called otherwise."""

    def renamed(row: Inequality) -> Inequality:
        terms = (replace(term, name=names[term.name]) if term.kind == "in" else term for term in row.terms)
        return replace(row, terms=tuple(terms))

    return replace(
        claim,
        when=tuple(map(renamed, claim.when)),
        then=tuple(map(renamed, claim.then)),
        equal=tuple(names[name] for name in claim.equal),
        free=tuple(names[name] for name in claim.free),
        either=tuple(tuple(map(renamed, clause)) for clause in claim.either),
        ball=tuple((names[name], delta) for name, delta in claim.ball),
    )


def _texts(value: Any) -> set[str]:
    """All texts in a value."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        return _texts(tuple(value.items()))
    return set().union(*map(_texts, value)) if isinstance(value, (list, tuple)) else set()
