"""What several tests start from: a small model that is certified, and the makers of folders in trust/ as fixtures.

Each of those modules is imported by the first test that asks for it.
"""

import itertools
from collections import Counter
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from smilenn import Config, Network, SmileRegressor
from smilenn.train.fitted import Fitted

QUICK = {
    "config": Config(epochs=3, batch_size=64),
    "random_state": 0,
    "network": Network(members=1),
    "certify_limit": 10.0,
}


def incomes(rows: int = 150, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Incomes and debts, and a price that rises with one and falls with the other."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"income": rng.uniform(1, 9, rows), "debt": rng.uniform(0, 5, rows)})
    return X, (X["income"] - 0.7 * X["debt"]).rename("price")


@pytest.fixture(scope="session")
def rising():
    """A model of these incomes, certified to rise with income. Tests that change it take a copy.

    The price is linear, so linear members would be all of it; they are left out, and networks have to learn it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("smilenn.train.run.linear_members", lambda *given: Fitted("linear"))
        found = SmileRegressor(increasing=["income"], **QUICK).fit(*incomes())
    assert found.verdict_.status == "proved"
    return found


@pytest.fixture(scope="session")
def priced(rising, tmp_path_factory):
    """Its folder. Tests that change it take a copy."""
    place = tmp_path_factory.mktemp("attacked") / "priced"
    rising.save(place)
    return place


@pytest.fixture(scope="session")
def folders():
    """trust/random_folder.py: random folders with random certificates."""
    return import_module("trust.random_folder")


@pytest.fixture(scope="session")
def encoders():
    """trust/encoded_folder.py: the same with encoders."""
    return import_module("trust.encoded_folder")


@pytest.fixture(scope="session")
def forge2():
    """trust/forge2.py: a writer of both versions."""
    return import_module("trust.forge2")


@pytest.fixture
def put2(forge2, tmp_path):
    """Write files as a folder of its own, with changes of its manifest; its path."""
    count = itertools.count()
    return lambda files, changes=None: forge2.put(tmp_path / f"put-{next(count)}", files, changes)


@pytest.fixture(scope="session")
def small():
    """trust/kill_small.py: folders of small whole numbers."""
    return import_module("trust.kill_small")


@pytest.fixture(scope="session")
def signed():
    """trust/kill_signs.py: the same for the signs rule."""
    return import_module("trust.kill_signs")


@pytest.fixture(scope="session")
def cased():
    """trust/kill_cases.py: the same for cases."""
    return import_module("trust.kill_cases")


@pytest.fixture(scope="session")
def lemmas():
    """trust/kill_lemmas.py: the same with lemmas."""
    return import_module("trust.kill_lemmas")


@pytest.fixture(scope="session")
def grown():
    """trust/kill_trees.py: the same with layers of trees."""
    return import_module("trust.kill_trees")


@pytest.fixture(scope="session")
def balled():
    """trust/kill_balls.py: the same with contractions and balls."""
    return import_module("trust.kill_balls")


@pytest.fixture(scope="session")
def drawn():
    """trust/drawn.py: what those share."""
    return import_module("trust.drawn")


@pytest.fixture(scope="session")
def no_pair_contradicts(drawn, small):
    """Drawn networks before both checkers, and tuples of their premises; gives how often each status was given."""

    def contradicts(loaded, networks, points, tries=40):
        seen = Counter()
        for at, made in enumerate(networks):
            (fast,), (slow,) = (small.answers(loaded, [made.files], which) for which in (True, False))
            assert (fast[0], fast[2]) == (slow[0], slow[2]), (at, fast, slow)
            assert getattr(made, "sound", True) or fast[0] == "refused", at
            worst = drawn.violations(made, lambda rng, made=made: points(made, rng), tries, at)
            seen[fast[0], worst > 0] += 1
            if fast[2]:
                assert worst <= max(bound + margin - rhs for _, bound, margin, rhs, _, _ in fast[2]), (at, fast)
        return seen

    return contradicts


@pytest.fixture(scope="session")
def killing():
    """trust/kill_suite.py: the kill suite."""
    return import_module("trust.kill_suite")


@pytest.fixture(scope="session")
def fuzzing():
    """trust/fuzzing.py: changed files for whatever reads a folder."""
    return import_module("trust.fuzzing")


@pytest.fixture(scope="session")
def mutation():
    """trust/mutation.py: planted faults."""
    return import_module("trust.mutation")


@pytest.fixture(scope="session")
def corpus():
    """trust/make_corpus.py: networks by hand, forgeries, the files of a folder."""
    return import_module("trust.make_corpus")


@pytest.fixture(scope="session")
def attack():
    """The attack of benchmarks/attack_models.py."""
    return import_module("benchmarks.attack_models").attack
