"""Shared set-up of the tests: one thread per worker, data sets where they exist, hypothesis profiles."""

import gc
import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings

# Set while nothing has imported torch or NumPy yet: two workers on two cores, one thread each.
for _variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"
# No test opens a window.
os.environ.setdefault("MPLBACKEND", "Agg")

from tests.forked import stop  # noqa: E402

from smilenn.certify import process  # noqa: E402 - after the thread count is fixed
from smilenn.model import selftest  # noqa: E402

FEWER = {"ROWS": 4, "PLACES": 8, "FEW": 4, "MANY": 16}  # rows of a self-test
STARTED, USUAL = process.interpreter, {name: getattr(selftest, name) for name in FEWER}  # what users have

# A time limit per example would make tests depend on how busy the machine is; a fixed seed makes failures repeatable.
settings.register_profile("smilenn", deadline=None, derandomize=True)
settings.load_profile("smilenn")


def pytest_collection_finish():
    """What is imported by now stays: the garbage collector need not look through it again, nor look so often."""
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def pytest_sessionfinish():
    """The process that forks others ends with the tests."""
    stop()


@contextmanager
def patched(*changes):
    """Attributes of modules, changed for a while: (module, name, value)."""
    with pytest.MonkeyPatch.context() as patch:
        for change in changes:
            patch.setattr(*change)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_checks():
    """Checkers run in this process, as where no other can be started: a start takes longer than most checks. Models
    repeat their self-test on a few rows instead of many: what is loaded hundreds of times here is a few models.

    `fresh_checker` and `long_selftests` give tests what users have; commands that tests start have it anyway.
    """
    with patched((process, "interpreter", str), *((selftest, name, few) for name, few in FEWER.items())):
        yield


@contextmanager
def checker_apart():
    """The checkers in a process of their own, as users have them."""
    with patched((process, "interpreter", STARTED)):
        yield


@contextmanager
def selftests_in_full():
    """Self-tests on as many rows as users have."""
    with patched(*((selftest, name, many) for name, many in USUAL.items())):
        yield


@pytest.fixture
def fresh_checker():
    """The checkers in a process of their own, for one test."""
    with checker_apart():
        yield


@pytest.fixture(scope="module")
def long_selftests():
    """Self-tests on as many rows as users have, for a module."""
    with selftests_in_full():
        yield


@contextmanager
def small_ensembles():
    """Default ensembles of one member, trained for eight epochs, with few boosted trees; reports that look less far for
    tight pairs.

    For tests of what stands around a fit. Such models are certified like others, by construction; how well they predict
    is left to the slow tests, and the search for tight pairs to `tests/report/test_probe.py`.
    """
    from smilenn.estimators.base import SmileEstimator

    designed = SmileEstimator._design
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SmileEstimator, "_design", lambda self: replace(designed(self), members=1))
        patch.setattr("smilenn.train.recipes.task.STEPS", 0)
        patch.setattr("smilenn.train.recipes.task.PASSES", 0)
        patch.setattr("smilenn.train.boosted.PATIENCE", 3)
        patch.setattr("smilenn.train.within.PATIENCE", 3)
        patch.setattr("smilenn.train.within.TREES", 10)
        patch.setattr("smilenn.report.probe.PARTNERS", 12)
        patch.setattr("smilenn.report.probe.STEPS", 2)
        patch.setattr("smilenn.report.quality.RESAMPLES", 100)
        yield


@pytest.fixture
def quick_fits():
    """Small ensembles for one test."""
    with small_ensembles():
        yield


@pytest.fixture(scope="module")
def quick_module():
    """Small ensembles for a module: its tests and the fixtures that they share."""
    with small_ensembles():
        yield


@pytest.fixture
def need_data():
    """Call with a path such as ``compas/compas_deidentified.csv.gz``: gives the data folder, or skips the test."""

    def folder_with(path: str) -> Path:
        named = os.environ.get("SMILENN_DATA")
        if not named:
            pytest.skip(f"SMILENN_DATA is not set: this test needs a data folder with {path}.")
        if not (Path(named) / path).is_file():
            pytest.skip(f"The data folder {named} has no {path}, which this test needs.")
        return Path(named)

    return folder_with


@pytest.fixture
def two_threads():
    """torch has two threads while the test runs."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)
