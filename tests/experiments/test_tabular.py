"""The tabular study: its peers, its report, and one small default cell; random fits."""

import math

import numpy as np
import pytest

from smilenn.errors import SmileError
from smilenn.experiments import random_fits, tabular
from smilenn.experiments.random_fits import fit_one, properties, table
from smilenn.experiments.study import Options, paired


def rows(gap, spread=0.01):
    out = []
    for seed in range(4):
        for model, quality in (("default", 0.5 + gap + spread * (seed % 2)), ("boosting", 0.5), ("linear", 0.4)):
            out.append(
                {
                    "model": model,
                    "data": "diabetes",
                    "seed": seed,
                    "quality": quality,
                    "r2": quality,
                    "status": "none",
                    "certified": False,
                    "seconds": 1.0,
                }
            )
    return out


def test_differences_are_paired_by_split():
    gap, error, count = paired(rows(0.02), "default", "boosting")
    assert gap == pytest.approx(0.025) and count == 4
    assert error == pytest.approx(np.std([0, 0.01, 0, 0.01], ddof=1) / 2)
    gap, error, count = paired(rows(0.0)[:1], "default", "boosting")
    assert math.isnan(gap) and count == 0


@pytest.mark.parametrize(("gap", "met"), [(0.0, "yes"), (-0.05, "no")])
def test_the_report_says_whether_the_aim_is_met(gap, met):
    text = tabular.report(rows(gap), Options())
    line = next(line for line in text.splitlines() if "| boosting | " in line and line.count("|") == 7)
    assert line.endswith(f"| {met} |")


def test_peers_are_tuned_and_beat_the_constant():
    quality = {
        model: tabular.compute(model, "diabetes", 0, True, options=Options())[0]["quality"]
        for model in ("linear", "constant")
    }
    assert quality["constant"] <= 0 < 0.3 < quality["linear"]
    with pytest.raises(SmileError, match="no model 'oracle'"):
        tabular.compute("oracle", "diabetes", 0, True, options=Options())
    with pytest.raises(SmileError, match="no table 'iris'"):
        tabular.compute("linear", "iris", 0, True, options=Options())


@pytest.mark.slow
def test_the_default_is_certified_and_near_boosting():
    default, boosting = (
        tabular.compute(model, "diabetes", 0, False, options=Options())[0] for model in ("default", "boosting")
    )
    assert default["certified"] and default["quality"] > boosting["quality"] - 0.05


def test_random_tables_and_properties_are_drawn_from_the_seed():
    one, two = (table(np.random.default_rng(3)) for _ in range(2))
    assert one[0].equals(two[0]) and (one[2] == two[2]).all()
    kinds = {
        type(item).__name__
        for seed in range(200)
        for item in properties(np.random.default_rng(seed), one[0].assign(n7=1.0, n8=2.0, group="a"), 1.0)
    }
    assert len(kinds) == 9


@pytest.mark.slow
def test_random_fits_end_certified():
    found = [fit_one(seed) for seed in range(6)]
    assert sum(row["certified"] for row in found) >= 5
    assert "| all | 6 |" in random_fits.report(found, Options())


def fits(count, certified=True, quality=0.5):
    return [
        {
            "model": "default",
            "seed": seed,
            "properties": "Monotone(increasing=['n0']); Fair(protected=['g'], eps=0.1)",
            "status": "proved" if certified else "unknown",
            "certified": certified,
            "quality": quality,
            "constant": 0.0,
            "repair": 0.0,
            "seconds": 2.0,
        }
        for seed in range(count)
    ]


def test_the_report_of_random_fits_counts_by_property_and_names_the_others():
    found = [*fits(9), *[row | {"seed": 9} for row in fits(1, certified=False, quality=-1.0)]]
    text = random_fits.report(found, Options())
    for line in ("| Fair | 10 | 9 | 9 | 10 | 2 |", "| Monotone | 10 |", "| all | 10 | 9 | 9 | 10 | 2 |"):
        assert line in text
    assert text.count("\n| 9 | Monotone(") == 1 and "| unknown | -1.000 | 0.000 | 0.000 |" in text
    assert "not all three" not in random_fits.report(found[:9], Options())
    assert [aim.met for aim in random_fits.aims(found)] == [False, True, True]
    assert [aim.met for aim in random_fits.aims([*fits(99), *fits(1, certified=False, quality=-1.0)])] == [True] * 3
