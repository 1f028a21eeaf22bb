"""Random small networks and claims, straight from numpy: no torch in these tests."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from smilenn.problem import build
from smilenn.testing import problems


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """The builders of smilenn.testing."""
    return SimpleNamespace(
        snapshot=problems.snapshot,
        box=problems.cube,
        mixed=problems.mixed,
        difference=problems.difference,
        monotone=problems.monotone,
        robust=problems.robust,
        band=problems.band,
        fair=problems.fair,
        safe=problems.safe,
        convex=problems.convex,
        sample=problems.members,
        problem=build,
    )
