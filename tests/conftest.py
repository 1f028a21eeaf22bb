"""Shared set-up of the tests: one thread per worker, data sets where they exist, hypothesis profiles."""

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

# A time limit per example would make tests depend on how busy the machine is; a fixed seed makes failures repeatable.
settings.register_profile("smilenn", deadline=None, derandomize=True)
settings.load_profile("smilenn")


@contextmanager
def short_selftests():
    """Models repeat their self-test on a few rows instead of many; `tests/model/test_profile.py` has the many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("smilenn.model.selftest.PLACES", 8)
        patch.setattr("smilenn.model.selftest.MANY", 64)
        yield


@contextmanager
def small_ensembles(*, apart: bool = False):
    """Default ensembles of one member, trained for eight epochs, with few boosted trees; reports that look less far for
    tight pairs.

    For tests of what stands around a fit. Such models are certified like others, by construction; how well they predict
    is left to the slow tests, and the search for tight pairs to `tests/report/test_probe.py`. The checker runs in this
    process, since starting a new one takes longer than the check; with `apart` it has one of its own, as users have it.
    """
    from smilenn.certify.check import check_folder
    from smilenn.estimators.base import SmileEstimator

    designed = SmileEstimator._design
    with short_selftests(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(SmileEstimator, "_design", lambda self: replace(designed(self), members=1))
        patch.setattr("smilenn.train.recipes.task.STEPS", 0)
        patch.setattr("smilenn.train.recipes.task.PASSES", 0)
        patch.setattr("smilenn.train.boosted.PATIENCE", 3)
        patch.setattr("smilenn.train.within.PATIENCE", 3)
        patch.setattr("smilenn.train.within.TREES", 10)
        patch.setattr("smilenn.report.probe.PARTNERS", 12)
        patch.setattr("smilenn.report.probe.STEPS", 2)
        patch.setattr("smilenn.report.quality.RESAMPLES", 100)
        if not apart:
            patch.setattr("smilenn.certify.certify.check_apart", check_folder)
            patch.setattr("smilenn.certify.verdicts.check_apart", check_folder)
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


@pytest.fixture(scope="module")
def quick_loads():
    """Short self-tests for a module, everything else as users have it."""
    with short_selftests():
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
