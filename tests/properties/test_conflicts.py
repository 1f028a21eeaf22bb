"""Properties that contradict each other, or together imply more than each: found by a linear program, told in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from smilenn import (
    Bounded,
    Concave,
    Convex,
    Custom,
    Domain,
    Dominates,
    Fair,
    Feature,
    Lipschitz,
    Monotone,
    Ordered,
    Robust,
    Safe,
    SmileError,
    SmileRegressor,
    SumAtMost,
    Symmetric,
)
from smilenn.properties import ClaimSyntaxError, lower_all
from smilenn.properties.conflicts import refuse_conflicts

pytestmark = pytest.mark.usefixtures("quick_module")

DOMAIN = Domain(
    (
        Feature("x", lo=0, hi=4),
        Feature("y", lo=0, hi=4),
        Feature("n", "integer", 0, 5),
        Feature("g", "category", categories=("u", "v")),
    )
)


def found(*properties, outputs=("",)):
    return refuse_conflicts(lower_all(properties, DOMAIN, outputs), DOMAIN, outputs)


CONTRADICTIONS = [
    ((Bounded(0, 1), Safe(["x <= 1"], ["out >= 2"])), "The output lies between 0 and 1"),
    ((Safe(["x + y <= 3"], ["out <= 0"]), Safe(["x - y <= 1"], ["out >= 1 + x"])), 'a["x"] - a["y"] <= 1'),
    ((Monotone(["x"]), Custom(["a.out - b.out <= b.x - a.x"], ["a.x >= b.x"])), "Raising 'x'"),
    ((Lipschitz(["x"], 1), Safe(["x <= 0"], ["out <= 0"]), Safe(["x >= 4"], ["out >= 5"])), "at most 1 per unit"),
    ((Fair(["g"], 0.1), Safe(['g == "u"'], ["out <= 0"]), Safe(['g == "v"'], ["out >= 1"])), "Attribute-flip"),
    (
        (Convex(["x"]), Safe(["x == 2"], ["out >= 1"]), Safe(["x <= 0"], ["out <= 0"]), Safe(["x >= 4"], ["out <= 0"])),
        "Halfway",
    ),
    ((Safe((), ["out <= 1", "out >= 2"]),), "cannot hold"),
]


@pytest.mark.parametrize(("properties", "said"), CONTRADICTIONS, ids=lambda value: None)
def test_contradictions_are_refused_with_the_properties_that_make_them(properties, said):
    with pytest.raises(SmileError, match="No function satisfies these properties") as error:
        found(*properties, Bounded(-1000, 1000))
    assert said in str(error.value) and "-1000" not in str(error.value)  # what has no part in it is not named


def test_a_claim_that_compares_an_input_with_itself_is_refused():
    with pytest.raises(SmileError, match="claims nothing: no feature may differ"):
        found(Robust({"n": 0.5}, 1))
    with pytest.raises(SmileError, match="claims nothing"):
        found(Custom(["a.out <= b.out + 1"], ["a.x == b.x"]))
    assert found(Custom(["2 * a.out - b.out <= 1"], ["a.x == b.x"])) == ()  # of one input, but something


def test_an_empty_premise_underlines_the_row_that_leaves_nothing():
    with pytest.raises(ClaimSyntaxError, match="No inputs satisfy the premise") as error:
        Safe(["x <= 3", "x + y >= 9", "y <= 4"], ["out <= 1"]).lower(DOMAIN)
    assert error.value.text == "x + y >= 9" and str(error.value).endswith("\n    " + "^" * 10)


def test_a_contradiction_between_outputs():
    with pytest.raises(SmileError, match="Output 'low' is never above output 'high'"):
        found(Ordered(["low", "high"]), Safe((), ["out.low >= 3", "out.high <= 2"]), outputs=("low", "high"))
    with pytest.raises(SmileError, match=r"Output 'low' \+ output 'high' is at most 'x'"):
        found(SumAtMost(None, "x"), Bounded(lo=1), outputs=("low", "high"))


IMPLIED = [
    ((Monotone(["x"]), Monotone(decreasing=["x"])), ["no dependence on 'x'"]),
    ((Convex(["x"]), Concave(["x"])), ["no bend along 'x'"]),
    ((Dominates("x", "y"), Dominates("y", "x"), Symmetric(["x", "y"])), []),
    ((Monotone(["n"]), Custom(["a.out >= b.out"], ["a.n <= b.n"])), ["no dependence on 'n'"]),
    ((Monotone(["x"]), Fair(["g"], 0)), []),  # each alone says what it says
    ((Robust(0.5, 1), Lipschitz(["x"], 2), Bounded(0, 9)), []),
]


@pytest.mark.parametrize(("properties", "said"), IMPLIED, ids=lambda value: None)
def test_what_properties_imply_together(properties, said):
    sentences = found(*properties)
    assert len(sentences) == len(said)
    for sentence, part in zip(sentences, said, strict=True):
        assert part in sentence and sentence.startswith("Together these properties leave the prediction")


def test_random_claims_agree_with_a_function_that_satisfies_them():
    """Whatever claims a known function satisfies are not refused: right sides are taken from it."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        slope = rng.normal(size=2)
        line = f"{slope[0]:.6f} * x + {slope[1]:.6f} * y"
        rules = [
            Safe([f"{rng.normal():.3f} * x + {rng.normal():.3f} * y <= 4"], [f"out <= {line} + 0.001"]),
            Safe([f"{rng.normal():.3f} * x - y <= 3"], [f"out >= {line} - 0.001"]),
            Lipschitz(["x", "y"], round(float(np.abs(slope).max()) + 0.01, 3)),
            Monotone(["x"] if slope[0] > 0 else [], ["x"] if slope[0] <= 0 else []),
        ]
        assert found(*rules) == ()


def test_claims_that_every_small_function_keeps_need_no_search(monkeypatch):
    monkeypatch.setattr("smilenn.properties.conflicts._system", None)  # would be called
    assert found(Robust(0.1, 1), Robust(0.01, 1)) == ()
    with pytest.raises(TypeError):
        found(Robust(0.1, 1), Safe(["x <= 1"], ["out >= 2"]))


def test_fit_refuses_and_explains():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.uniform(0, 4, 60), "y": rng.uniform(0, 4, 60)})
    with pytest.raises(SmileError, match="No function satisfies these properties"):
        SmileRegressor(properties=[Bounded(0, 1), Safe(["x <= 1"], ["out >= 2"])]).fit(X, X["x"].to_numpy())
    model = SmileRegressor(properties=[Monotone(["x"]), Monotone(decreasing=["x"])], random_state=0)
    model.set_params(certify_limit=5, time_limit=10).fit(X, X["y"].to_numpy())
    assert "no dependence on 'x'" in model.explain()
