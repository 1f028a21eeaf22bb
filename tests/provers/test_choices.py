"""Categories of several copies: a product says what the list of its tuples says."""

import itertools

import numpy as np
import pandas as pd
import pytest

from smilenn import Fair, Monotone, SmileRegressor
from smilenn.certify.check import check_folder
from smilenn.certify.reference import check as reference
from smilenn.estimators.learned import ColumnWarning
from smilenn.problem.choices import Listed, Product
from smilenn.train.config import Config


@pytest.mark.parametrize("seed", range(20))
def test_a_product_is_the_list_of_its_tuples(seed):
    rng = np.random.default_rng(seed)
    copies, size = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    each = [sorted(rng.choice(size, rng.integers(1, size + 1), replace=False).tolist()) for _ in range(copies)]
    listed, product = Listed(np.array(list(itertools.product(*each)))), Product(each)
    gains = rng.integers(-9, 9, (5, copies, size)).astype(float)  # ties among them; sums are exact
    assert np.array_equal(product.largest(gains), listed.largest(gains))
    assert np.array_equal(product.best(gains), listed.best(gains))
    drawn = {tuple(one) for one in product.drawn(rng, 2000).tolist()}
    assert drawn <= {tuple(one) for one in listed.tuples.tolist()}
    assert len(drawn) == len(listed.tuples) or len(listed.tuples) > 60
    if copies == 2:
        weight = rng.integers(-9, 9, (4, size)).astype(float)
        for one, other in zip(product.differences(weight), listed.differences(weight), strict=True):
            assert np.array_equal(one, other)


def test_what_is_empty_is_empty():
    assert Product([[0], []]).empty and not Product([[0], [1]]).empty
    assert Listed(np.zeros((0, 2), dtype=int)).empty and not Listed(np.zeros((1, 2), dtype=int)).empty


def test_fairness_over_300_values_is_certified_by_both_checkers(tmp_path):
    """Their 90,000 pairs times 300 members would be too long a list."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=900), "z": [f"v{i % 300}" for i in range(900)]})
    y = x["a"] + np.where(np.arange(900) % 300 < 100, 2.0, 0.0)
    model = SmileRegressor(properties=[Fair("z", 1), Monotone("a")], config=Config(epochs=1), random_state=0)
    with pytest.warns(ColumnWarning, match="'z' has 300 categories"):
        model.fit(x, y)
    assert model.domain_.size > 300 and model.verdict_.status == "proved"
    model.save(tmp_path / "model")
    for checked in (check_folder(tmp_path / "model"), reference.check_folder(tmp_path / "model")):
        assert checked.status == "certified"
    one = pd.DataFrame({"a": np.zeros(300), "z": [f"v{i}" for i in range(300)]})
    assert np.ptp(model.predict(one)) <= 1
