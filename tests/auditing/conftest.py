"""Fixtures of the audits' tests."""

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cases():
    """The module cases.py beside this file."""
    spec = importlib.util.spec_from_file_location("audit_cases", Path(__file__).with_name("cases.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
