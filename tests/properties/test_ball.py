"""norm2: the claim language, Robust(norm=2), premises with a ball, and what bad input gets."""

import json
from fractions import Fraction as F

import numpy as np
import pytest

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.estimators.outside import clamping_carries
from smilenn.model.encoders import Branch, Encoder, Ramps
from smilenn.problem.transfer import transfer
from smilenn.properties import Custom, Robust, ground, holds_exactly
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import Near, Unnamed
from smilenn.properties.recognise import meaning
from smilenn.properties.spec import as_property
from smilenn.properties.tokens import ClaimSyntaxError
from smilenn.properties.wording import say

DOMAIN = Domain(
    (
        Feature("x", "continuous", 0.0, 2.0),
        Feature("y", "continuous", -1.0, 1.0),
        Feature("z", "continuous", 3.0, 3.0),
        Feature("n", "integer", 0.0, 9.0),
        Feature("g", "category", categories=("p", "q")),
    )
)
OUT = Outputs(("",))


ORDERED = Domain((Feature("x", "continuous", 0.0, 2.0), Feature("o", "integer", 0, 1, unit="low < high")))


def custom(row, **more):
    return Custom(when=[row], then=["a.out - b.out <= 1", "b.out - a.out <= 1"], **more).lower(DOMAIN)[0]


def test_robust_with_norm_two_is_a_ball_over_continuous_columns_that_move():
    (claim,) = Robust(0.3, 1, norm=2).lower(DOMAIN)
    assert claim.ball == (("x", F(3, 10)), ("y", F(3, 10))) and not claim.when  # z has one value
    assert Claim.from_json(claim.to_json()) == claim and "ball" not in Robust(0.3, 1).lower(DOMAIN)[0].to_json()
    assert Robust("10%", 1, norm=2).lower(DOMAIN)[0].ball == (("x", F(1, 5)), ("y", F(1, 5)))
    assert Robust({"x": 1, "y": "5%"}, 1, norm=2).lower(DOMAIN)[0].ball == (("x", F(1)), ("y", F(1, 10)))
    again = as_property(Robust(0.3, 1, norm=2).to_json())
    assert again == Robust(0.3, 1, norm=2) and "norm" not in Robust(0.3, 1).to_json()


@pytest.mark.parametrize(
    ("norm", "steps"), [(np.int64(2), np.int64(4)), (2.0, np.uint8(4)), (np.float32(2), 4), (F(2), np.int32(4))]
)
def test_numbers_of_other_kinds_are_stored_as_plain_ones(norm, steps):
    rule = Robust(0.3, 1, norm=norm, steps=steps)
    assert (type(rule.norm), type(rule.steps)) == (int, int) and rule == Robust(0.3, 1, norm=2, steps=4)
    assert json.dumps(rule.to_json()) == json.dumps(Robust(0.3, 1, norm=2, steps=4).to_json())
    assert as_property(json.loads(json.dumps(rule.to_json()))) == rule
    assert json.dumps(Robust(0.3, 1, norm=np.str_("inf")).to_json()) == json.dumps(Robust(0.3, 1).to_json())


@pytest.mark.parametrize(
    ("row", "ball"),
    [
        ("norm2(a - b) <= 0.3", (("x", F(3, 10)), ("y", F(3, 10)))),
        ("norm2(a.x - b.x, 2*(b.y - a.y)) <= 1/2", (("x", F(1, 2)), ("y", F(1, 4)))),
        ("norm2((a.x - b.x)/4) <= 1", (("x", F(4)),)),
        ("norm2((a.x - b.x)/(1/3), (a.y - b.y)/(1/7)) <= 1", (("x", F(1, 3)), ("y", F(1, 7)))),
        ("norm2((a.x - b.x)/2, 3*(a.y - b.y)) <= 0.1", (("x", F(1, 5)), ("y", F(1, 30)))),
    ],
)
def test_the_language_has_norms(row, ball):
    claim = custom(row)
    assert claim.ball == ball
    again = Custom.from_claim(claim).lower(DOMAIN)[0]
    assert again == claim


@pytest.mark.parametrize(
    "row",
    [
        "norm2(a.x - b.y) <= 1",
        "norm2(a.x) <= 1",
        "norm2(a.x - b.x) >= 1",
        "norm2(a.x - b.x) <= 0",
        "norm2(a - b <= 1",
        "norm2(a.x - b.x) <= a.y",
        "norm2(a.n - b.n) <= 1",
        "norm2(a.g - b.g) <= 1",
        "norm2(a.w - b.w) <= 1",
        "norm2(a.x - b.x + 1) <= 1",
        "norm2() <= 1",
        "norm2(a.x - b.x) <= 1 or a.x <= 0",
        "norm2(a.x + b.x) <= 1",
        "norm2(a) <= 1",
        "norm2(a - c) <= 1",
        "a.x <= norm2(a - b)",
    ],
)
def test_what_is_no_norm_is_refused_and_underlined(row):
    with pytest.raises(ClaimSyntaxError):
        custom(row)


@pytest.mark.parametrize(
    ("row", "advice"), [("norm2(a.n - b.n) <= 1", "a row of its own"), ("norm2(a.g - b.g) <= 1", "leave")]
)
def test_columns_that_a_norm_does_not_take_get_advice(row, advice):
    with pytest.raises(ClaimSyntaxError, match=advice):
        custom(row)


@pytest.mark.parametrize(
    ("row", "at"),
    [
        ("1 >= norm2(a - b)", "norm2"),
        ("0.3 <= 2 * norm2(a - b)", "norm2"),
        ("norm2(b - a) <= 1", "b"),
        ("norm2(a) <= 1", "a"),
        ("norm2(a - b) >= 1", ">="),
    ],
)
def test_a_norm_written_another_way_is_told_how(row, at):
    with pytest.raises(ClaimSyntaxError) as caught:
        custom(row)
    assert "norm2(a - b) <= 0.3" in caught.value.sentence and row[slice(*caught.value.span)] == at


@pytest.mark.parametrize(
    ("when", "then", "copies"), [((), "a.out <= norm2(a - b)", 2), (("1 >= norm2(x)",), "out <= 1", 1)]
)
def test_a_norm_further_on_stands_in_premises_of_two_copies(when, then, copies):
    with pytest.raises(ClaimSyntaxError, match="it stands in 'when' of a claim on two"):
        Custom(when=when, then=[then], copies=copies)


@pytest.mark.parametrize("weight", [0, -0.1, "0%", "-5%"])
def test_weights_of_the_norm_are_more_than_zero(weight):
    with pytest.raises(SmileError, match="delta of 'x' is .*; it must be more than 0"):
        Robust({"x": weight, "y": 1}, 1, norm=2)


def test_norms_stand_in_premises_of_two_copies():
    with pytest.raises(ClaimSyntaxError, match="two"):
        Custom(when=["norm2(a.x - b.x) <= 1"], then=["a.out <= 1"], copies=3)
    with pytest.raises(ClaimSyntaxError):
        Custom(then=["norm2(a.x - b.x) <= 1"])
    for row in ("norm2(", "norm2(ab", "norm2(a", "norm2(b - a) <= 1"):
        with pytest.raises(ClaimSyntaxError):
            Custom(when=[row], then=["a.out <= 1"])
    with pytest.raises(SmileError, match="one row with norm2"):
        Custom(when=["norm2(a - b) <= 1", "norm2(a.x - b.x) <= 1"], then=["a.out <= b.out + 1"]).lower(DOMAIN)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Robust(0, 1, norm=2).lower(DOMAIN),
        lambda: Robust(-1, 1, norm=2),
        lambda: Robust(0.1, 1, norm=3),
        lambda: Robust(0.1, 1, norm=True),
        lambda: Robust(0.1, 1, norm=np.bool_(True)),
        lambda: Robust(0.1, 1, norm=np.array([2, 2])),
        lambda: Robust(0.1, 1, norm=float("nan")),
        lambda: Robust(0.1, 1, steps=2.0),
        lambda: Robust({"n": 1}, 1, norm=2).lower(DOMAIN),
        lambda: Robust({"g": 1}, 1, norm=2).lower(DOMAIN),
        lambda: Robust({"x": (-1, 2)}, 1, norm=2).lower(DOMAIN),
        lambda: Robust({"z": 1}, 1, norm=2).lower(DOMAIN),
        lambda: Claim(2, (), custom("a.x <= b.x").then, ball=(("x", F(0)),)),
        lambda: Claim(3, (), custom("a.x <= b.x").then, ball=(("x", F(1)),)),
        lambda: Claim(2, (), custom("a.x <= b.x").then, ball=(("x", F(1)), ("x", F(1)))),
        lambda: ground(Claim(2, (), custom("a.x <= b.x").then, ball=(("n", F(1)),)), DOMAIN),
    ],
)
def test_bad_input_gets_one_sentence(make):
    with pytest.raises(SmileError) as caught:
        make()
    assert str(caught.value).count("\n") == 0 and str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Robust(-1), "delta is -1; it must be more than 0."),
        (lambda: Robust(0), "delta is 0; it must be more than 0."),
        (lambda: Robust("-5%"), "delta is -5%; it must be more than 0."),
        (lambda: Robust({"x": "-5%"}), "delta of 'x' is -5%; it must be 0 or more."),
        (lambda: Robust(1, 1, norm=2).lower(Domain((Feature("n", "integer", 0, 9),))), "Columns(kinds={'n'"),
        (lambda: Robust({"n": 1}, 1, norm=2).lower(DOMAIN), "Columns(kinds={'n'"),
        (
            lambda: Robust({"g": 1}, 1, norm=2).lower(DOMAIN),
            "a Fair property, or say their order, as in domain=Columns(",
        ),
        (lambda: Robust({"b": 1}, 1, norm=2).lower(Domain((Feature("b", "binary"),))), "by a Fair property."),
        (lambda: Robust({"o": 1}, 1, norm=2).lower(ORDERED), "; state how it may change in a Robust without norm=2."),
        (lambda: Robust(1, 1, norm=2).lower(Domain((Feature("c", lo=2.0, hi=2.0),))), "'c' holds one value only"),
        (lambda: Robust(1, 1, norm=2).lower(Domain((Feature("b", "binary"),))), "so leave norm=2 out."),
    ],
)
def test_bad_input_is_told_what_to_do(make, said):
    with pytest.raises(SmileError) as caught:
        make()
    assert said in str(caught.value)


def test_a_premise_has_the_strips_of_its_ball_and_membership_is_exact():
    (claim,) = Robust({"x": "1/2", "y": "1/4"}, 1, norm=2).lower(DOMAIN)
    premise = ground(claim, DOMAIN)
    assert premise.delta_hi[:2].tolist() == [0.5, 0.25] and premise.pinned[2:].all() and premise.symmetric
    base = np.array([1.0, 0.0, 3.0, 4.0, 1.0, 0.0])
    for dx, dy, inside in ((0.5, 0.0, True), (0.3, 0.2, True), (0.3, 0.2 + 2**-50, False), (0.375, 0.1875, False)):
        other = base + np.array([dx, dy, 0, 0, 0, 0])
        exact = (F(other[0]) - 1) ** 2 * 4 + F(other[1]) ** 2 * 16 <= 1
        pair = np.stack([base, other])
        assert holds_exactly(claim, DOMAIN, pair) == exact
        assert premise.holds(pair[None], 1e-9)[0] == (inside or abs(dx - 0.3) < 1e-9)
    assert clamping_carries(claim, DOMAIN)


def test_what_is_said_is_no_more_than_the_ball():
    (claim,) = Robust(0.3, 1, norm=2).lower(DOMAIN)
    assert isinstance(meaning(claim, OUT, DOMAIN), Near)
    assert "together by at most 0.3 in the Euclidean norm" in say(claim, OUT, DOMAIN)
    mixed = Custom(when=["norm2(a - b) <= 1", "a.x >= b.x"], then=["a.out >= b.out"]).lower(DOMAIN)[0]
    assert isinstance(meaning(mixed, OUT, DOMAIN), Unnamed) and "norm2" in say(mixed, OUT, DOMAIN)
    scales = Robust({"x": 1, "y": 2}, 1, norm=2).lower(DOMAIN)[0]
    assert "each divided by its own scale ('x' by 1, 'y' by 2)" in say(scales, OUT, DOMAIN)


def test_behind_an_encoder_a_ball_leaves_the_strips_of_columns_that_pass():
    (claim,) = Robust({"x": "1/2", "y": "1/4"}, 1, norm=2).lower(DOMAIN)
    rest = range(1, DOMAIN.size)
    encoder = Encoder(DOMAIN, [Branch("ramps", [0], [Ramps([0], [0.0], [0.5])]), Branch("", rest)])
    carried = transfer(claim, ground(claim, DOMAIN), encoder.freeze(), encoder.space)
    premise = ground(carried, encoder.space)
    assert not carried.ball and premise.axes is None
    assert (premise.delta_lo[1], premise.delta_hi[1]) == (-0.25, 0.25) and premise.pinned[2:].all()
