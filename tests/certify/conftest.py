"""The makers of folders in trust/ as fixtures: each module is imported by the first test that asks for it."""

import itertools
from importlib import import_module

import pytest


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
