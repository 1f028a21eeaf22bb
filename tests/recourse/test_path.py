"""Paths move one way, and the first step that reaches is found."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smilenn.recourse.path import FINEST, Path, first, first_within, float_at, ordered

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(FLOATS, FLOATS)
def test_places_are_in_the_order_of_the_numbers(a, b):
    assert (ordered(a) <= ordered(b)) == (a <= b)
    assert float_at(ordered(a)) == a
    assert float_at(ordered(a) + 1) == math.nextafter(a, math.inf)


@settings(max_examples=60)
@given(FLOATS, FLOATS, st.integers(0, FINEST), st.integers(0, FINEST))
def test_several_coordinates_never_turn_back(start, end, j, k):
    path = Path(np.array([start, 3.0, 7.0]), (0, 2), (end, -2.0), (False, True))
    low, high = sorted((j, k))
    one, other, last = path.at([low, high, FINEST])
    way = 1 if end >= start else -1
    assert way * one[0] <= way * other[0] <= way * last[0] == way * end
    assert one[2] >= other[2] >= last[2] == -2.0 and one[2] == round(one[2])
    assert (path.at([0])[0] == path.x).all() and one[1] == 3.0


def test_one_number_goes_through_every_float_and_whole_ones_through_whole_numbers():
    path = Path(np.array([1.0, 5.0]), (0,), (-1.0,), (False,))
    assert path.at([1])[0, 0] == math.nextafter(1.0, 0) and path.at([path.steps])[0, 0] == -1.0
    whole = Path(np.array([1.0, 5.0]), (1,), (2.0,), (True,))
    assert whole.steps == 3 and whole.at([0, 1, 2, 3])[:, 1].tolist() == [5, 4, 3, 2]


@pytest.mark.parametrize("last", [1, 2, 63, 64, 65, 10**6, 2**62])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.999, 1.0])
def test_the_first_step_that_reaches(last, share):
    wanted, asked = round(share * last), []

    def reaches(steps):
        asked.append(len(steps))
        return np.array([step >= wanted for step in steps])

    assert first(reaches, last) == wanted
    assert len(asked) <= 13 and max(asked) <= 63


def test_nothing_reaches():
    assert first(lambda steps: np.zeros(len(steps), dtype=bool), 100) is None


def test_where_steps_reach_and_fall_back_the_answer_reaches_and_the_step_before_does_not():
    rng = np.random.default_rng(0)
    for _ in range(50):
        reach = rng.random(1000) < 0.5
        reach[0], reach[-1] = False, True
        found = first(lambda steps, reach=reach: reach[steps], 999)
        assert found is not None and reach[found] and not reach[found - 1]


SHAPES = {
    "line": lambda t: t,
    "curve": lambda t: t**3,
    "kinks": lambda t: max(0.1 * t, 3 * t - 1.2),
    "jump": lambda t: 0.1 * t + (t > 0.637),
    "flat": lambda t: float(t > 0.25),
    "jumps": lambda t: sum(0.1 * (t > 0.0917 * k) for k in range(12)) + 0.3 * t,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("goal", [0.02, 0.31, 0.6180339887, 0.99])
def test_led_by_what_is_missing_the_same_step_is_found(shape, goal):
    last, asked = 2**53, []
    function = SHAPES[shape]

    def missing(steps):
        asked.append(len(steps))
        lacks = np.array([goal - function(step / last) for step in steps])
        return np.where(lacks <= 0, np.minimum(lacks, 0), np.maximum(lacks, 1e-300))

    found = first_within(missing, last)
    assert found == first(lambda steps: np.array([goal - function(s / last) <= 0 for s in steps]), last)
    assert max(asked) <= 63 and len(asked) <= (8 if shape in ("line", "curve") else 14)


def test_a_lack_that_misleads_costs_rounds_and_no_more():
    rng = np.random.default_rng(0)
    for _ in range(30):
        last = int(rng.integers(2, 2**60))
        wanted = int(rng.integers(1, last + 1))

        def missing(steps, wanted=wanted):
            return np.array(
                [-abs(rng.normal()) if s >= wanted else rng.choice([1e-9, 5.0, 1e9, np.nan]) for s in steps]
            )

        assert first_within(missing, last) == wanted


@pytest.mark.parametrize("count", [1, 5, 40, 400])
def test_suggested_steps_are_asked_for_first_and_change_nothing(count):
    rng, last = np.random.default_rng(count), 2**40
    for _ in range(10):
        wanted, asked = int(rng.integers(1, last)), []

        def missing(steps, wanted=wanted, asked=asked):
            asked.append(steps)
            return np.array([-1.0 if step >= wanted else 1.0 for step in steps])

        suggested = sorted({wanted - 1, wanted, *rng.integers(0, 2 * last, count).tolist()})  # some lie beyond the end
        assert first_within(missing, last, suggested) == wanted
        assert len(asked) <= 3 and max(map(len, asked)) <= 26


@settings(max_examples=60)
@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1), st.booleans(), st.booleans())
def test_positions_rise_with_the_steps_and_lead_back_to_them(start, end, share, several, whole):
    start, end = (float(round(v)) for v in (start, end)) if whole else (start, end)
    path = Path(
        np.array([start, 1.0]), (0, 1) if several else (0,), (end, 5.0)[: 1 + several], (whole, False)[: 1 + several]
    )
    if start == end:
        return
    step = int(share * path.steps)
    before, at, after = path.positions([max(0, step - 1), step, min(path.steps, step + 1)])
    assert before <= at <= after and path.near(float(at)) == step
    value = path.at([step])[0, 0]
    if not whole:
        assert abs(path.position_of(0, np.array([value]))[0] - at) <= 1e-9 * max(
            1.0, abs(at), abs(start / (end - start))
        )
