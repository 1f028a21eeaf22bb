"""Every property of the package keeps the contract of properties, against a predicate in plain Python."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import ClassVar

import pytest

from smilenn import (
    Bounded,
    Claim,
    Concave,
    Convex,
    Custom,
    Domain,
    Dominates,
    Exclusive,
    Fair,
    Feature,
    Lipschitz,
    LocalRobust,
    Monotone,
    OneOf,
    Ordered,
    Property,
    Robust,
    Safe,
    SumAtMost,
    Symmetric,
    register_property,
)
from smilenn.properties import Outputs, row
from smilenn.properties.registry import OWN
from smilenn.testing import PropertyContract

pytestmark = pytest.mark.usefixtures("quick_module")

FEATURES = (
    Feature("x", "continuous", 0.0, 4.0),
    Feature("y", "continuous", 0.0, 4.0),
    Feature("n", "integer", 0, 6),
    Feature("g", "category", categories=("u", "v", "w")),
)
TABLE = Domain(FEATURES)
TWO = ("low", "high")


def same(a, b, *but):
    return all(a[name] == b[name] for name in a if name not in but)


class Contract(PropertyContract):
    domain = TABLE


class TestMonotone(Contract):
    def property(self):
        return Monotone(increasing=["x"], decreasing=["n"])

    def holds(self, inputs, outputs):
        (a, b), (f, g) = inputs, outputs
        return not (same(a, b, "x", "n") and a["x"] <= b["x"] and a["n"] >= b["n"]) or f[""] <= g[""]


class TestRobust(Contract):
    def property(self):
        return Robust({"x": 0.5, "y": "25%"}, eps=2)

    def holds(self, inputs, outputs):
        (a, b), (f, g) = inputs, outputs
        near = abs(a["x"] - b["x"]) <= 0.5 and abs(a["y"] - b["y"]) <= 1
        return not (same(a, b, "x", "y") and near) or abs(f[""] - g[""]) <= 2


class TestFair(Contract):
    outputs = TWO

    def property(self):
        return Fair(["g"], eps=0.5, output="high")

    def holds(self, inputs, outputs):
        return not same(*inputs, "g") or abs(outputs[0]["high"] - outputs[1]["high"]) <= 0.5


class TestLipschitz(Contract):
    def property(self):
        return Lipschitz(["x", "n"], bound={"x": 2, "n": 0.5})

    def holds(self, inputs, outputs):
        (a, b), (f, g) = inputs, outputs
        change = abs(f[""] - g[""])
        along_x = not same(a, b, "x") or change <= 2 * abs(a["x"] - b["x"])
        return along_x and (not same(a, b, "n") or change <= 0.5 * abs(a["n"] - b["n"]))


class TestConvex(Contract):
    def property(self):
        return Convex(["x"])

    def holds(self, inputs, outputs):
        a, b, c = inputs
        f, g, h = (one[""] for one in outputs)
        return not (same(a, b, "x") and same(b, c, "x") and 2 * b["x"] == a["x"] + c["x"]) or 2 * g <= f + h


class TestConcave(Contract):
    def property(self):
        return Concave(["x", "y"])

    def holds(self, inputs, outputs):
        a, b, c = inputs
        f, g, h = (one[""] for one in outputs)
        middle = all(2 * b[name] == a[name] + c[name] for name in ("x", "y"))
        return not (same(a, b, "x", "y") and same(b, c, "x", "y") and middle) or 2 * g >= f + h


class TestSymmetric(Contract):
    def property(self):
        return Symmetric(["x", "y"], eps=0.25)

    def holds(self, inputs, outputs):
        (a, b), (f, g) = inputs, outputs
        swapped = a["x"] == b["y"] and a["y"] == b["x"] and same(a, b, "x", "y")
        return not swapped or abs(f[""] - g[""]) <= 0.25


class TestDominates(Contract):
    def property(self):
        return Dominates("x", "y")

    def holds(self, inputs, outputs):
        (a, b), (f, g) = inputs, outputs
        traded = a["x"] <= b["x"] and b["x"] - a["x"] == a["y"] - b["y"] and same(a, b, "x", "y")
        return not traded or f[""] <= g[""]


class TestBounded(Contract):
    def property(self):
        return Bounded(-1, 4)

    def holds(self, inputs, outputs):
        return -1 <= outputs[0][""] <= 4


class TestOrdered(Contract):
    outputs = TWO

    def property(self):
        return Ordered(["low", "high"])

    def holds(self, inputs, outputs):
        return outputs[0]["low"] <= outputs[0]["high"]


class TestExclusive(Contract):
    outputs = TWO

    def property(self):
        return Exclusive("low", "high")

    def holds(self, inputs, outputs):
        return outputs[0]["low"] + outputs[0]["high"] <= 0


class TestSumAtMost(Contract):
    outputs = TWO

    def property(self):
        return SumAtMost(["low", "high"], "2 * x + 1")

    def holds(self, inputs, outputs):
        return outputs[0]["low"] + outputs[0]["high"] <= 2 * inputs[0]["x"] + 1


class TestOneOf(Contract):
    outputs = Outputs(("a", "b", "c"), ("a", "b", "c"))

    def property(self):
        return OneOf(["a", "b"], when=["x >= 2"], lead=0.25)

    def holds(self, inputs, outputs):
        (f,) = outputs
        return inputs[0]["x"] < 2 or f["c"] <= max(f["a"], f["b"]) - 0.25


class TestLocalRobust(Contract):
    def property(self):
        return LocalRobust([{"x": 1, "y": 2, "n": 3, "g": "u"}], {"x": 1, "y": 4}, eps=0.5)

    def tuples(self, copies):
        for x, y in super().tuples(copies):
            x[1] = [1, 2, 3, 1, 0, 0]
            x[0, 2:] = x[1, 2:] if x[0, 2] < 4 else x[0, 2:]
            yield x, y

    def holds(self, inputs, outputs):
        (a, b), (f, g) = inputs, outputs
        near = b == {"x": 1, "y": 2, "n": 3, "g": "u"} and same(a, b, "x", "y") and abs(a["x"] - 1) <= 1
        return not near or abs(f[""] - g[""]) <= 0.5


class TestSafe(Contract):
    def property(self):
        return Safe(when=["x >= 2", 'g == "u"'], then=["out <= 2 * y + 1"])

    def holds(self, inputs, outputs):
        (a,) = inputs
        return a["x"] < 2 or a["g"] != "u" or outputs[0][""] <= 2 * a["y"] + 1


class TestCustom(Contract):
    certified = False  # f depends on x + y alone: the paper's network finds it within a tolerance at best

    def property(self):
        return Custom(when=["a.x + a.y >= b.x + b.y"], then=["a.out <= b.out + 1"])

    def holds(self, inputs, outputs):
        (a, b), (f, g) = inputs, outputs
        return not (a["x"] + a["y"] >= b["x"] + b["y"] and same(a, b, "x", "y")) or f[""] <= g[""] + 1


@register_property
@dataclass(frozen=True)
class Capped(Property):
    """A third party's: the output is at most `rate` times a feature, and one more."""

    feature: str
    rate: float = 1.0
    kind = "tests.capped"

    def renamed(self, rename):
        return replace(self, feature=rename(self.feature))

    def claims(self, domain, outputs):
        rows = [row([(1, 0, "out", name), (-self.rate, 0, "in", self.feature)], 1) for name in outputs.names]
        return [Claim(1, (), tuple(rows))]

    def sentence_about(self, output):
        return f"{output} is at most {self.rate} times {self.feature!r} and 1."


class TestCapped(Contract):
    def property(self):
        return Capped("x", 0.5)

    def holds(self, inputs, outputs):
        return outputs[0][""] <= 0.5 * inputs[0]["x"] + 1


def test_every_property_has_its_contract():
    tested = {name.removeprefix("Test") for name in globals() if name.startswith("Test")}
    assert {cls.__name__ for cls in OWN} <= tested


# ---- broken ones ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deaf(Capped):
    """Does not rename its feature."""

    kind = "tests.deaf"

    def renamed(self, rename):
        return self


@dataclass(frozen=True)
class Forgetful(Capped):
    """Loses its rate on the way through JSON."""

    rate: float = 0.5
    kind = "tests.forgetful"

    def to_json(self):
        return {"kind": self.kind, "feature": self.feature}


@dataclass(frozen=True)
class Fickle(Capped):
    """Claims something else each time."""

    kind = "tests.fickle"
    calls: ClassVar[Iterator[int]] = count(1)

    def claims(self, domain, outputs):
        return replace(Capped(self.feature), rate=next(self.calls)).claims(domain, outputs)


@dataclass(frozen=True)
class Doubled(Capped):
    """Claims half of what it says."""

    kind = "tests.doubled"

    def claims(self, domain, outputs):
        return Capped(self.feature, 2 * self.rate).claims(domain, outputs)


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Deaf, "test_features_are_renamed"),
        (Forgetful, "test_it_survives_json"),
        (Fickle, "test_lowering_is_deterministic"),
        (Doubled, "test_claims_say_what_the_predicate_says"),
    ],
)
def test_a_broken_property_is_caught(broken, check):
    register_property(broken)

    class Broken(TestCapped):
        def property(self):
            return broken("x", 0.5) if broken is not Forgetful else broken("x", 0.25)

    with pytest.raises(AssertionError):
        getattr(Broken(), check)()


def test_a_predicate_that_no_tuple_reaches_shows_nothing():
    class Nowhere(TestSafe):
        def tuples(self, copies):
            return ((x * 0 + [0, 0, 0, 1, 0, 0], y) for x, y in super().tuples(copies))

    with pytest.raises(AssertionError, match="too few tuples"):
        Nowhere().test_claims_say_what_the_predicate_says()
