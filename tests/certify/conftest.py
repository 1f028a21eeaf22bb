"""The builder of random folders as a fixture: test files cannot import one another."""

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def folders():
    """The module random_folder.py."""
    name = "smilenn_tests_random_folder"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("random_folder.py"))
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
