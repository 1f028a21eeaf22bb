"""Tight tuples: members of the premise, with values that a known function confirms."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from smilenn import Convex, Custom, Fair, Monotone, Robust, Safe
from smilenn.domain import Domain, Feature
from smilenn.properties.premise import ground, holds_exactly
from smilenn.report.figures import variation_plot
from smilenn.report.probe import LEAST_MOVE, Probe, probe

DOMAIN = Domain(
    (
        Feature("x", "continuous", 0.0, 10.0, shift=0.0, mult=0.1),
        Feature("n", "integer", 0, 5, shift=0.0, mult=0.2),
        Feature("g", "category", categories=("u", "v", "w")),
    )
)


@dataclass
class Known:
    """A function of raw inputs."""

    function: Any
    domain: Domain = DOMAIN
    outputs: tuple[str, ...] = ("",)

    def predict(self, x):
        return self.function(x)[:, None]


def sampled(n=60, seed=0):
    return DOMAIN.sample(n, np.random.default_rng(seed))


def found(rule, function, n=60):
    (claim,) = rule.lower(DOMAIN)
    net = Known(function)
    result = probe(net, claim, sampled(n))
    assert len(result.value)
    assert ground(claim, DOMAIN).holds(result.tuples, tolerance=1e-9).all()
    assert np.allclose(result.outputs[..., 0], [function(t) for t in result.tuples])
    return result


def test_fair_flip_is_found_exactly():
    weights = np.array([0.0, 1.0, 4.0])
    result = found(Fair(["g"], eps=5), lambda x: x[:, 2:] @ weights)
    assert result.limit == 5.0
    assert np.isin(np.round(result.value + 5, 9), [3.0, 4.0]).all()  # from the middle 3 at most, from the ends 4
    assert result.value.max() == pytest.approx(-1.0)


def test_robust_corner_is_found():
    result = found(Robust(0.5, eps=2, features=["x"]), lambda x: 3 * x[:, 0])
    assert result.value.max() == pytest.approx(1.5 - 2)
    order = result.tightest(5)
    assert len(set(result.rows[order].tolist())) == 5 and (np.diff(result.value[order]) <= 0).all()


def test_a_broken_rule_shows_a_positive_value():
    result = found(Monotone(increasing=["x"]), lambda x: -x[:, 0])
    assert result.value.min() > 0 and result.value.max() <= 10.0


def test_copies_that_are_nearly_equal_do_not_count():
    result = found(Monotone(increasing=["x"]), lambda x: x[:, 0])
    moved = np.abs(result.tuples[:, 0, 0] - result.tuples[:, 1, 0])
    assert (moved >= LEAST_MOVE * 10 - 1e-9).all()


def test_three_copies_stay_on_a_line():
    result = found(Convex(["x"]), lambda x: x[:, 0] ** 2)
    a, b, c = result.tuples[:, 0, 0], result.tuples[:, 1, 0], result.tuples[:, 2, 0]
    assert np.allclose(2 * b, a + c)
    assert (result.value <= 1e-9).all()


def test_one_copy_is_the_row_itself():
    result = found(Safe(when=["a.x >= 5"], then=["a.out <= 7"]), lambda x: x[:, 0])
    assert (result.tuples[:, 0, 0] >= 5).all()
    assert result.value.max() > 0 and result.limit == 7.0


def test_rules_with_several_right_sides_have_no_common_limit():
    rule = Custom(when=["a.x >= b.x"], then=["a.out - b.out <= 1", "b.out - a.out <= 2"])
    (claim,) = rule.lower(DOMAIN)
    assert probe(Known(lambda x: x[:, 0] * 0), claim, sampled(5)).limit is None


def test_gradient_steps_find_more_than_sampling(classifier):
    """Many inputs at once: corners drawn at random are far from the worst one."""
    model, x, _ = classifier
    (claim,) = model.claims_

    @dataclass
    class Sampled:
        domain: Domain
        outputs: tuple[str, ...]

        def predict(self, x):
            return model.net_.predict(x)

    drawn = probe(Sampled(model.domain_, model.net_.outputs), claim, x[:40])
    climbed = probe(model.net_, claim, x[:40])
    assert climbed.value.mean() >= drawn.value.mean()
    assert ground(claim, model.domain_).holds(climbed.tuples, tolerance=1e-9).all()
    assert climbed.value.max() <= (0.0 if model.verdict_.status == "proved" else np.inf)


def test_equal_outputs_differ_by_nothing():
    """Whatever the limit and the size of the outputs; a certified zero is never shown as 7e-15."""
    result = found(Fair(["g"], eps="0.1"), lambda x: 1000 / 3 + x[:, 0])
    assert (result.value == -0.1).all()


def test_what_breaks_the_rule_lies_in_its_premise_exactly():
    """x and x ± 0.3 in float64 may lie further apart than 0.3 by a last bit, which is not a counterexample."""
    (claim,) = Robust("0.3", eps="0.9", features=["x"]).lower(DOMAIN)
    result = probe(Known(lambda x: 3 * x[:, 0]), claim, sampled(200))
    for value, one in zip(result.value, result.tuples, strict=True):
        assert value <= 0 or holds_exactly(claim, DOMAIN, one)
    assert result.value.max() == pytest.approx(0.0, abs=1e-9) and len(result.rows) == 200
    broken = probe(Known(lambda x: 4 * x[:, 0]), claim, sampled(200))
    assert broken.value.max() == pytest.approx(0.3) and len(broken.rows) == 200


@pytest.mark.parametrize("spread", [0.0, 1e-3, 1.0])
def test_every_histogram_has_bars_that_can_be_seen(spread):
    """All rows at the same value, or nearly, are one bar, not one too thin to see."""
    (claim,) = Fair(["g"], eps=2).lower(DOMAIN)
    values = np.linspace(-2.0, -2.0 + spread, 50)
    drawn = variation_plot(Probe(claim, np.arange(50), values, np.zeros((50, 2, 5)), np.zeros((50, 2, 1))), 0.0, "left")
    widths = [float(w) for w in re.findall(r'<rect class="bar"[^>]* width="([0-9.]+)"', drawn)]
    assert widths and min(widths) >= 3
