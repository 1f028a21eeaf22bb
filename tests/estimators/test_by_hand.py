"""Every named property, written by hand in the claim language, gets its name's network, quality and certificate."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

import smilenn
from smilenn import (
    Bounded,
    Columns,
    Concave,
    Config,
    Convex,
    Custom,
    Dominates,
    Exclusive,
    Fair,
    Lipschitz,
    LocalRobust,
    Monotone,
    Network,
    OneOf,
    Ordered,
    Robust,
    Safe,
    SmileClassifier,
    SmileRegressor,
    SumAtMost,
    Symmetric,
)
from smilenn.properties import Property
from smilenn.properties.unregistered import Unregistered
from smilenn.train.recipes import boxed, contractions, distances, premised

pytestmark = pytest.mark.usefixtures("quick_module")

ROWS = 60
RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "x": RNG.uniform(0, 4, ROWS),
        "y": RNG.uniform(0, 4, ROWS),
        "n": RNG.integers(0, 6, ROWS),
        "g": RNG.choice(["u", "v", "w"], ROWS),
    }
)
Y = (np.sin(X["x"]) + 0.2 * X["y"] + 0.5 * (X["n"] >= 3) + 0.4 * (X["g"] == "u")).to_numpy()
PIXELS = pd.DataFrame(RNG.uniform(0, 1, (40, 64)), columns=[f"p{i}" for i in range(64)])
POINT = {"x": 1.0, "y": 2.0, "n": 2, "g": "u"}
TARGETS: dict[str, Any] = {
    "number": Y,
    "two numbers": pd.DataFrame({"p": Y, "q": 0.5 + np.cos(X["x"])}),
    "two labels": pd.DataFrame({"p": Y > 0.8, "q": X["x"] > 2}).astype(int),
    "yes or no": np.where(Y > 0.8, "yes", "no"),
    "three classes": np.array(["a", "b", "c"])[np.digitize(Y, [0.5, 1.0])],
    "image": (PIXELS.mean(axis=1) > 0.5).astype(int).to_numpy(),
}
QUICK = Config(epochs=3, pretrain_epochs=6, batch_size=64, posttrain_rounds=2)


@dataclass(frozen=True)
class Case:
    """A property and the same claims by hand, of a target; the family of networks that it gets."""

    family: str
    named: list[Property]
    by_hand: list[Custom]
    target: str = "number"


def change(eps: float, out: str = "out", **premise: Any) -> Custom:
    """A bound on the change of an output, as a person writes it."""
    return Custom(then=[f"-{eps} <= a.{out} - b.{out} <= {eps}"], **premise)


RISES = Custom(when=["a.x <= b.x", "a.y >= b.y"], then=["a.out <= b.out"])
HALFWAY = ["2*b.x == a.x + c.x"]
CASES = {
    "Monotone": Case("ensemble", [Monotone(["x"], ["y"])], [RISES]),
    "Monotone, the copies swapped, the row doubled": Case(
        "ensemble",
        [Monotone(["x"], ["y"])],
        [Custom(when=["a.x >= b.x", "b.y >= a.y"], then=["2 * a.out >= 2 * b.out"])],
    ),
    "Monotone, of a class": Case(
        "ensemble",
        [Monotone(["x"], output="c")],
        [Custom(when=["a.x <= b.x"], then=[f"a.out.c - a.out.{o} <= b.out.c - b.out.{o}" for o in "ab"])],
        "three classes",
    ),
    "Monotone, of the first class": Case(
        "ensemble", [Monotone(["x"], output="no")], [Custom(when=["a.x <= b.x"], then=["a.out >= b.out"])], "yes or no"
    ),
    "Fair": Case("ensemble", [Fair(["g"], 0.2)], [change(0.2, free=["g"])]),
    "Fair, of classes": Case(
        "ensemble",
        [Fair(["g"], 0.5)],
        [
            Custom(
                free=["g"],
                then=[f"-0.5 <= a.out.{p} - a.out.{q} - b.out.{p} + b.out.{q} <= 0.5" for p, q in ("ab", "ac", "bc")],
            )
        ],
        "three classes",
    ),
    "Fair, other features within δ": Case(
        "plain", [Fair(["g"], 0.5, delta={"x": 0.1})], [change(0.5, when=["-0.1 <= a.x - b.x <= 0.1"], free=["g"])]
    ),
    "Robust": Case(
        "curved",
        [Robust({"x": 0.2, "y": 0.1}, 0.3)],
        [change(0.3, when=["-0.2 <= a.x - b.x <= 0.2", "-0.1 <= a.y - b.y <= 0.1"])],
    ),
    "Robust, of a classifier": Case(
        "curved", [Robust({"x": 0.2})], [change(1, when=["-0.2 <= a.x - b.x <= 0.2"])], "yes or no"
    ),
    "Robust, of an image": Case(
        "distances", [Robust(0.02, 1)], [change(1, when=[f"-0.02 <= a.{p} - b.{p} <= 0.02" for p in PIXELS])], "image"
    ),
    "Robust, in the Euclidean norm": Case(
        "curved",
        [Robust({"x": 0.2, "y": 0.1}, 0.3, norm=2)],
        [
            Custom(
                when=["norm2((a.x - b.x)/0.2, (b.y - a.y)/0.1) <= 1"],
                then=["a.out - b.out <= 0.3", "b.out - a.out <= 0.3"],  # one row is proved and mirrored: the first
            )
        ],
    ),
    "Robust, in the Euclidean norm, of an image": Case(
        "contractions", [Robust(0.3, 1, norm=2)], [change(1, when=["norm2(a - b) <= 0.3"])], "image"
    ),
    "Lipschitz": Case(
        "curved",
        [Lipschitz(["x"], 0.5)],
        [Custom(when=["a.x >= b.x"], then=["-0.5*(a.x - b.x) <= a.out - b.out <= 0.5*(a.x - b.x)"])],
    ),
    "Lipschitz, of two features": Case(
        "curved",
        [Lipschitz(["x", "y"], {"x": 0.5, "y": 1})],
        [
            Custom(when=[f"a.{f} >= b.{f}"], then=[f"-{k}*(a.{f} - b.{f}) <= a.out - b.out <= {k}*(a.{f} - b.{f})"])
            for f, k in (("x", 0.5), ("y", 1))
        ],
    ),
    "Convex": Case("curved", [Convex(["x"])], [Custom(copies=3, when=HALFWAY, then=["2*b.out <= a.out + c.out"])]),
    "Concave beside Monotone": Case(
        "curved",
        [Concave(["x"]), Monotone(["x"], ["y"])],
        [Custom(copies=3, when=HALFWAY, then=["2*b.out >= a.out + c.out"]), RISES],
    ),
    "Symmetric": Case(
        "curved", [Symmetric(["x", "y"])], [Custom(when=["b.x == a.y", "b.y == a.x"], then=["a.out == b.out"])]
    ),
    "Symmetric, up to ε": Case("ensemble", [Symmetric(["x", "y"], 2)], [change(2, when=["b.x == a.y", "b.y == a.x"])]),
    "Dominates": Case(
        "curved",
        [Dominates("x", "y", 2)],
        [Custom(when=["a.x <= b.x", "a.y - b.y == 2*(b.x - a.x)"], then=["a.out <= b.out"])],
    ),
    "Dominates, the copies swapped": Case(
        "curved",
        [Dominates("x", "y", 2)],
        [Custom(when=["a.x >= b.x", "b.y - a.y == 2*(a.x - b.x)"], then=["a.out >= b.out"])],
    ),
    "LocalRobust": Case(
        "plain",
        [LocalRobust([POINT], {"x": 0.3}, 0.4)],
        [
            change(
                0.4,
                when=["-0.3 <= a.x - b.x <= 0.3", "b.x == 1", "b.y == 2", "b.n == 2", 'b.g == "u"'],
                equal=["y", "n", "g"],
            )
        ],
    ),
    "LocalRobust, of a decision": Case(
        "premised",
        [LocalRobust([POINT], {"x": 0.3}, labels=["yes"])],
        [Custom(copies=1, when=["0.7 <= x <= 1.3", "y == 2", "n == 2", 'g == "u"'], then=["out >= 0"])],
        "yes or no",
    ),
    "Safe": Case(
        "premised",
        [Safe(["x + y <= 3"], ["0 <= out <= 0.5"])],
        [Custom(copies=1, when=["x + y <= 3"], then=["0 <= out <= 0.5"])],
    ),
    "Safe beside Monotone": Case(
        "ensemble",
        [Safe(["x <= 1"], ["out <= 2"]), Monotone(["x"], ["y"])],
        [Custom(copies=1, when=["x <= 1"], then=["out <= 2"]), RISES],
    ),
    "Bounded": Case("boxed", [Bounded(0, 1)], [Custom(copies=1, then=["0 <= out <= 1"])]),
    "Bounded beside Fair": Case(
        "ensemble",
        [Bounded(0, 2), Fair(["g"], 0.2)],
        [Custom(copies=1, then=["0 <= out <= 2"]), change(0.2, free=["g"])],
    ),
    "Ordered": Case("boxed", [Ordered(["p", "q"])], [Custom(copies=1, then=["out.p <= out.q"])], "two numbers"),
    "Ordered beside Monotone": Case(
        "ensemble",
        [Ordered(["p", "q"]), Monotone(["x"], output="p")],
        [Custom(copies=1, then=["out.p <= out.q"]), Custom(when=["a.x <= b.x"], then=["a.out.p <= b.out.p"])],
        "two numbers",
    ),
    "SumAtMost": Case(
        "boxed",
        [SumAtMost(["p", "q"], "0.5 * y + 1")],
        [Custom(copies=1, then=["out.p + out.q <= 0.5 * y + 1"])],
        "two numbers",
    ),
    "Exclusive": Case("boxed", [Exclusive("p", "q")], [Custom(copies=1, then=["out.p + out.q <= 0"])], "two labels"),
    "OneOf": Case(
        "premised",
        [OneOf(["a", "b"], ["x <= 2"], lead=0.1)],
        [Custom(copies=1, when=["x <= 2"], then=["out.c <= out.a - 0.1 or out.c <= out.b - 0.1"])],
        "three classes",
    ),
    "OneOf, a single class": Case(
        "premised",
        [OneOf(["b"], ["x <= 2"], lead=0.1)],
        [Custom(copies=1, when=["x <= 2"], then=["out.a <= out.b - 0.1", "out.c <= out.b - 0.1"])],
        "three classes",
    ),
}
SWAPPED = "Monotone, the copies swapped, the row doubled"  # its sentence is about −f, which falls
FAMILIES = {
    "plain": "No encoder keeps",
    "boxed": boxed.REASONS,
    "premised": premised.REASONS,
    "distances": distances.REASONS,
    "contractions": contractions.REASONS,
    "curved": "read by piecewise linear units",
    "ensemble": "An ensemble of small networks",
}


def fitted(case: Case, properties: list[Any]) -> Any:
    number = case.target.endswith(("number", "numbers"))
    make = SmileRegressor if number else SmileClassifier
    frame, bounds = (PIXELS, dict.fromkeys(PIXELS, (0.0, 1.0))) if case.target == "image" else (X, None)
    model = make(
        properties=properties, random_state=0, config=QUICK, network=Network(members=1), domain=Columns(bounds=bounds)
    )
    return model.fit(frame, TARGETS[case.target])


def weights(model: Any) -> str:
    hasher = hashlib.sha256()
    for name, tensor in sorted(model.net_.state_dict().items()):
        hasher.update(name.encode() + tensor.contiguous().numpy().tobytes())
    return hasher.hexdigest()


def proofs(model: Any) -> tuple[int, list[str]]:
    """The size of the certificate's proofs, and the rule of every row, in whatever order rows are written."""
    certificate = model.certificate_
    assert certificate is not None
    claims = json.loads(certificate.files["certificate.json"])["claims"]
    return len(certificate.files["certificate.bin"]), sorted(rules(claims))


def rules(part: Any) -> Iterator[str]:
    """The rules that a part of a certificate names."""
    if isinstance(part, dict):
        if "rule" in part:
            yield str(part["rule"])
        part = [value for key, value in part.items() if key != "claim"]
    for inner in part if isinstance(part, list) else ():
        yield from rules(inner)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::smilenn.estimators.trend.TrendWarning")
def test_a_claim_by_hand_gets_what_its_name_gets(name):
    case = CASES[name]
    named, own = fitted(case, case.named), fitted(case, case.by_hand)
    assert own.reasons_ == named.reasons_ and FAMILIES[case.family] in own.reasons_
    assert (case.family == "curved") == (FAMILIES["curved"] in own.reasons_)
    assert weights(own) == weights(named)
    assert own.quality_ == named.quality_
    assert own.verdict_.status == named.verdict_.status
    assert own.violation_bound_ == named.violation_bound_
    assert own.net_.profile == named.net_.profile
    (size, used), (size_of_named, used_of_named) = proofs(own), proofs(named)
    assert used == used_of_named and used
    # rows in another order may lead a linear program to another of its optimal vertices, with a unit more or less
    assert size == size_of_named or (case.family == "plain" and abs(size - size_of_named) <= 16)
    if name.startswith(("Fair", "Robust")) and isinstance(named, SmileClassifier):
        frame = PIXELS if case.target == "image" else X
        assert (own.predict_certified(frame)[1] == named.predict_certified(frame)[1]).all()
    if name != SWAPPED:
        assert [claim.sentence for claim in own.claims_] == [claim.sentence for claim in named.claims_]


def test_every_named_property_has_a_case():
    kinds = [value for value in vars(smilenn.properties).values() if isinstance(value, type)]
    known = {kind for kind in kinds if issubclass(kind, Property)} - {Property, Custom, Unregistered}
    assert known - {type(rule) for case in CASES.values() for rule in case.named} == set()
