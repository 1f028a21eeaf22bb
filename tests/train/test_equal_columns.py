"""Distance nets of tables with columns that a robust claim keeps equal: categories, 0/1 columns, missing cells."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

from smilenn import Robust, SmileClassifier, load
from smilenn.certify.check import check_folder as fast
from smilenn.certify.reference.check import check_folder as reference
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.encoders.robust import EQUAL, rates, robust_encoder
from smilenn.properties import holds_exactly
from smilenn.properties.forms import Outputs
from smilenn.properties.spec import lower_all
from smilenn.train.config import Config
from smilenn.train.recipes import Design, Task, recipe_for
from smilenn.train.recipes.distances import sized_distance_net

LOGIT, CLASSES = Outputs(("",), ("n", "p")), Outputs(tuple("pqr"), tuple("pqr"))
FLAG, KIND = Feature("flag", "binary"), Feature("kind", "category", categories=("u", "v", "w", "x"))


def numbers(m, width=1.0):
    return [Feature(f"c{i}", "continuous", 0.0, width, mult=1 / width) for i in range(m)]


def family(features, rules, outputs=CLASSES, **design):
    domain, rng = Domain(tuple(features)), default_rng(0)
    x = domain.sample(40, rng)
    y = rng.integers(0, 2, (40, len(outputs.names))).astype(float)
    claims = lower_all(rules, domain, outputs)
    return recipe_for(Task.of(domain, x, claims, classify=True, outputs=outputs, y=y, design=Design(**design)))


@pytest.mark.parametrize(
    ("features", "rule", "outputs", "wanted"),
    [
        ([*numbers(70), FLAG], Robust(0.1, 1), LOGIT, "distances"),
        ([*numbers(70), FLAG], Robust(0.1, 1), CLASSES, "distances"),
        ([*numbers(70), KIND], Robust(0.1, 1), LOGIT, "distances"),
        ([*numbers(4), FLAG, KIND], Robust(0.1, 1), CLASSES, "distances"),
        ([*numbers(4), FLAG, KIND], Robust(0.1, 1), LOGIT, "curved"),
        ([*numbers(60), FLAG, KIND], Robust(0.1, 1), LOGIT, "curved"),  # few columns that move
        ([*numbers(70), FLAG], Robust({"c0": 0.1, "c1": 0.2}, 1), LOGIT, "curved"),
        ([*numbers(70), FLAG], Robust({"c0": 0.1, "c1": 0.2}, 1), CLASSES, "curved"),  # most columns stay equal
        ([*numbers(4)], Robust({"c0": 0.1, "c1": 0.2}, 1), CLASSES, "distances"),  # half of them
        ([*numbers(64), *(Feature(f"b{i}", "binary") for i in range(70))], Robust(0.1, 1), LOGIT, "distances"),
    ],
)
def test_which_network_a_table_gets(features, rule, outputs, wanted):
    found = family(features, [rule], outputs)
    assert found.family == wanted
    assert ("Columns that stay equal are read too." in found.reasons) == (wanted == "distances")


WHOLE = [Feature(f"n{i}", "integer", 0, 9, mult=1 / 9) for i in range(40)]
STILL = [Feature(f"k{i}", "continuous", 3.0, 3.0) for i in range(30)]


@pytest.mark.parametrize("features", [numbers(70), [*numbers(40), *WHOLE], [*numbers(40), *STILL]])
@pytest.mark.parametrize("outputs", [LOGIT, CLASSES])
def test_where_all_columns_move_nothing_is_said_of_others(features, outputs):
    """Whole numbers count as stated, though no two of them differ by a tenth, and so do columns of one value."""
    found = family(features, [Robust(0.1, 1)], outputs)
    assert found.family == "distances" and "stay equal" not in found.reasons


def test_every_pixel_of_an_image_has_to_move():
    some = Robust(0.1, 1, features=[f"c{i}" for i in range(60)])
    assert family(numbers(64), [some]).family == "distances"
    with pytest.raises(SmileError, match="move every pixel"):
        family(numbers(64), [some], encoder="image")


def test_columns_that_stay_equal_change_no_rate_of_the_others():
    some = [*numbers(3), *(Feature(f"w{i}", "continuous", -2.0, 8.0) for i in range(2))]
    plain, mixed = Domain(tuple(some)), Domain((*some, FLAG, KIND, Feature("still", "continuous", 3.0, 3.0)))
    reach = np.array([0.1, 0.1, 0.1, 0.5, 0.2])
    found = rates(mixed, np.concatenate([reach, np.zeros(5), [0.5]]))
    assert (found[:5] == rates(plain, reach)).all()
    assert (found[5:10] == EQUAL).all() and np.isfinite(found[10])
    narrow = rates(Domain((*some, Feature("far", "continuous", 0.0, 10.0))), np.append(reach, 0.0))
    assert narrow[5] == EQUAL / 10


def test_a_category_is_read_where_all_numbers_have_one_scale():
    domain = Domain((*numbers(3), FLAG))
    encoder = robust_encoder(domain, np.array([0.1, 0.1, 0.1, 0.0]), units=(4,))
    assert encoder.branches[0].layers[0].describe()["kind"] == "ramps"


def test_an_encoder_needs_a_column_that_moves():
    domain = Domain((*numbers(2), FLAG))
    with pytest.raises(SmileError, match="a column that moves"):
        robust_encoder(domain, np.zeros(3))
    for wrong in (np.array([0.1, -0.1, 0.1]), np.array([0.1, np.nan, 0.1]), np.full(2, 0.1)):
        with pytest.raises(SmileError, match="each a finite number from 0 on"):
            robust_encoder(domain, wrong)


def test_training_aims_at_delta_as_if_equal_columns_were_not_there():
    """A δ of half of every range is not aimed at beside a smaller one, whatever stays equal."""

    def theta(features, *rules):
        domain = Domain(tuple(features))
        return sized_distance_net(domain, lower_all(rules, domain, CLASSES), 100, CLASSES)[1].margin

    for rules in ([Robust(0.05, 1)], [Robust(0.05, 1), Robust(0.6, 1)]):
        assert theta([*numbers(8), FLAG, KIND], *rules) == theta(numbers(8), Robust(0.05, 1)) == pytest.approx(0.3)


def table(seed=0, n=160):
    """Six numbers, one with missing cells, a category and a 0/1 column."""
    rng = default_rng(seed)
    y = rng.integers(3, size=n)
    x = pd.DataFrame(np.clip(default_rng(7).uniform(0.2, 0.8, (3, 6))[y] + rng.normal(0, 0.15, (n, 6)), 0, 1))
    x.columns = [f"c{i}" for i in range(6)]
    x["c5"] *= 40
    x.loc[rng.random(n) < 0.1, "c1"] = np.nan
    x["kind"] = np.array(list("uvw"))[np.where(rng.random(n) < 0.6, y, rng.integers(3, size=n))]
    x["flag"] = rng.integers(2, size=n)
    return x, y


RULES = {
    "one": [Robust(0.03)],
    "by column": [Robust({f"c{i}": 0.03 if i < 5 else 1.5 for i in range(6)}), Robust("1%", steps=4)],
    "some stay": [Robust({"c0": 0.05, "c2": 0.02, "c3": 0.02, "c4": 0.02, "c5": 1})],
}


@pytest.mark.parametrize("name", RULES)
def test_no_pair_moves_a_margin_by_more_than_was_checked(name, tmp_path):
    x, y = table()
    few = Config(patience=None, epochs=15, batch_size=32, train_learning_rate=0.02)
    model = SmileClassifier(properties=RULES[name], config=few, random_state=0).fit(x, y)
    assert model.verdict_.status == "proved" and "l∞-distance" in model.explain()
    model.save(tmp_path / "m")
    reports = fast(tmp_path / "m"), reference(tmp_path / "m")
    assert [one.status for one in reports] == ["certified", "certified"]
    bounds = [[row.bound for claim in one.claims for row in claim.rows] for one in reports]
    assert bounds[0] == bounds[1]
    loaded, rng = load(tmp_path / "m"), default_rng(1)
    domain, names, shares = loaded.domain_, list(loaded.outputs_.names), []
    for claim, checked in zip(loaded.certificate_.claims, reports[1].claims, strict=True):
        pairs = pairs_of(claim, domain, rng)
        assert len(pairs) > 250
        f = loaded.net_.predict(pairs.reshape(-1, domain.size)).reshape(len(pairs), 2, -1)
        for row, found in zip(claim.rows, checked.rows, strict=True):
            left = sum(float(t.coef) * f[:, t.copy, names.index(t.name)] for t in row.terms)
            assert left.max() <= float(found.bound + found.margin) * (1 + 1e-13) <= float(row.rhs) * (1 + 1e-9)
            shares.append(left.max() / float(row.rhs))
    assert max(shares) > 0.5  # the bounds are not idle


def pairs_of(claim, domain, rng):
    """Pairs within δ, at random and at corners, whose other columns are equal; as the premise has it, exactly."""
    moves = {}
    for row in claim.when:
        (name,) = {term.name for term in row.terms}
        moves[domain.slices[name].start] = float(row.rhs)
    a = domain.sample(600, rng)  # a number beside the mark that it is missing is no row of a table: those are left out
    step = np.zeros_like(a)
    at, most = np.array(list(moves)), np.array(list(moves.values()))
    step[:, at] = rng.uniform(-1, 1, (len(a), len(at))) * most
    step[::2, at] = np.where(rng.random((300, len(at))) < 0.5, -most, most)
    b = np.clip(a + step * (1 - 1e-9), domain.lo, domain.hi)
    return np.array([pair for pair in np.stack([a, b], axis=1) if holds_exactly(claim, domain, pair)])


def test_what_stays_equal_decides_too():
    """A class that only the category tells is learned, and certified within δ of every number."""
    rng = default_rng(0)
    x = pd.DataFrame(rng.uniform(0, 1, (240, 4)), columns=list("abcd"))
    y = rng.integers(3, size=240)
    x["kind"] = np.array(list("uvw"))[y]
    few = Config(patience=None, epochs=60, batch_size=32, train_learning_rate=0.02)
    model = SmileClassifier(properties=Robust(0.02), config=few, random_state=0).fit(x[:180], y[:180])
    labels, certified = model.predict_certified(x[180:])
    assert (labels == y[180:]).mean() > 0.9 and certified.mean() > 0.9
