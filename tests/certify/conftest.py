"""Modules beside the tests as fixtures: test files cannot import one another."""

import importlib.util
import itertools
import sys
from pathlib import Path

import pytest

collect_ignore_glob = ["kill_*.py", "mutation.py", "fuzzing.py"]  # they find their parts beside themselves


def _sibling(name, folder=Path(__file__).parent):
    full = f"smilenn_tests_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, folder / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        spec.loader.exec_module(module)
    return sys.modules[full]


def _with_parts(name):
    """A module that imports others beside it."""
    here = str(Path(__file__).parent)
    sys.path.insert(0, here)
    try:
        return _sibling(name)
    finally:
        sys.path.remove(here)


@pytest.fixture(scope="session")
def folders():
    """The module random_folder.py."""
    return _sibling("random_folder")


@pytest.fixture(scope="session")
def encoders():
    """The module encoded_folder.py."""
    return _sibling("encoded_folder")


@pytest.fixture(scope="session")
def forge2():
    """The module forge2.py: a writer of both versions."""
    return _sibling("forge2")


@pytest.fixture
def put2(forge2, tmp_path):
    """Write files as a folder of its own, with changes of its manifest; its path."""
    count = itertools.count()
    return lambda files, changes=None: forge2.put(tmp_path / f"put-{next(count)}", files, changes)


@pytest.fixture(scope="session")
def small():
    """The module kill_small.py, which imports forge2.py beside it."""
    return _with_parts("kill_small")


@pytest.fixture(scope="session")
def signed():
    """The module kill_signs.py, which imports kill_small.py beside it."""
    return _with_parts("kill_signs")


@pytest.fixture(scope="session")
def cased():
    """The module kill_cases.py, which imports kill_small.py beside it."""
    return _with_parts("kill_cases")


@pytest.fixture(scope="session")
def lemmas():
    """The module kill_lemmas.py, which imports kill_small.py beside it."""
    return _with_parts("kill_lemmas")


@pytest.fixture(scope="session")
def grown():
    """The module kill_trees.py, which imports kill_small.py beside it."""
    return _with_parts("kill_trees")


@pytest.fixture(scope="session")
def balled():
    """The module kill_balls.py, which imports kill_small.py beside it."""
    return _with_parts("kill_balls")


@pytest.fixture(scope="session")
def killing():
    """The module kill_suite.py, which imports its parts beside it."""
    return _with_parts("kill_suite")


@pytest.fixture(scope="session")
def fuzzing():
    """The module fuzzing.py, which imports kill_cases.py beside it."""
    return _with_parts("fuzzing")


@pytest.fixture(scope="session")
def attack():
    """The attack of benchmarks/attack_models.py."""
    return _sibling("attack_models", Path(__file__).resolve().parents[2] / "benchmarks").attack


@pytest.fixture(scope="session")
def corpus():
    """The module make_corpus.py: networks by hand, forgeries, the files of a folder."""
    return _sibling("make_corpus")
