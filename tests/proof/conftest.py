"""The proved checker, where it is built, and folders for it."""

import json
import os
import subprocess
from importlib import import_module

import pytest

from smilenn.certify import verified


def built():
    """Where the program is. Without it a test skips; where continuous integration has installed OCaml it fails."""
    found = verified.program()
    if found is None and os.environ.get("REQUIRE_PROOF"):
        pytest.fail("REQUIRE_PROOF is set, and the proved checker is not built: run `make verified`")
    return found or pytest.skip("the proved checker is not built: run `make verified`")


@pytest.fixture(scope="session")
def smilecheck():
    """Run the program on a folder: its exit code and its report."""
    found = built()

    def run(folder):
        done = subprocess.run([found, "--json", str(folder)], capture_output=True, check=False)
        assert done.stderr == b""
        return done.returncode, json.loads(done.stdout), done.stdout.decode()

    return run


@pytest.fixture(scope="session")
def proved():
    """trust/proved.py: folders of all kinds, and the comparison with the program."""
    built()
    return import_module("trust.proved")


@pytest.fixture(scope="session")
def order():
    """trust/order_folder.py: random folders whose rows are shown by the order rule."""
    return import_module("trust.order_folder")


@pytest.fixture(scope="session")
def forge2():
    """trust/forge2.py: a writer that keeps all digests right."""
    return import_module("trust.forge2")


@pytest.fixture(scope="session")
def trees():
    """trust/kill_trees.py: ensembles of trees in all shapes."""
    return import_module("trust.kill_trees")
