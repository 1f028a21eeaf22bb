"""Labels: bounds behind the scaling hold what float32 computes; without room for its rounding they would not."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from smilenn.certify.check_deep import G, Labels
from smilenn.certify.reference.share import Counting

STEPS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def bounds(which, scaling, roundoff, value):
    """The two ends for a whole number, as fractions."""
    if which == "fast":
        checker = Labels.__new__(Labels)
        checker.net = SimpleNamespace(scaling=scaling, u=roundoff)
        low, high = checker.scaled(0, value, value)
        return Fraction(low, 1 << G), Fraction(high, 1 << G)
    checker = Counting.__new__(Counting)
    checker.net = SimpleNamespace(scaling=scaling, roundoff=roundoff)
    return checker.scaled(0, value, value)


@pytest.mark.parametrize("which", ["fast", "reference"])
def test_the_scaling_of_labels_covers_float32(which):
    rng, outside = np.random.default_rng(0), 0
    for _ in range(200):
        kinds = rng.choice(list(STEPS), 2)
        constants = rng.uniform(0.1, 100, 2).astype(np.float32)
        value = int(rng.integers(-1000, 1000))
        computed = np.float32(value)
        for kind, constant in zip(kinds, constants, strict=True):
            computed = STEPS[kind](computed, constant)
        scaling = [(str(k), [Fraction(float(c))]) for k, c in zip(kinds, constants, strict=True)]
        low, high = bounds(which, scaling, Fraction(1, 1 << 24), Fraction(value))
        assert low <= Fraction(float(computed)) <= high
        low, high = bounds(which, scaling, Fraction(0), Fraction(value))
        outside += not low <= Fraction(float(computed)) <= high
    assert outside > 50
