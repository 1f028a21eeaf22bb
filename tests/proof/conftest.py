"""The proved checker, where it is built, and folders for it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from smilenn.certify import verified

HERE = Path(__file__).parent
CERTIFY = HERE.parent / "certify"


@pytest.fixture(scope="session")
def smilecheck():
    """Run the program on a folder: its exit code and its report."""
    found = verified.program()
    if found is None:
        pytest.skip("the proved checker is not built: run `make verified`")

    def run(folder):
        done = subprocess.run([found, "--json", str(folder)], capture_output=True, check=False)
        assert done.stderr == b""
        return done.returncode, json.loads(done.stdout), done.stdout.decode()

    return run


def _module(name, folder):
    full = f"smilenn_tests_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, folder / f"{name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[full])
    return sys.modules[full]


@pytest.fixture(scope="session")
def order():
    """The module order_folder.py."""
    return _module("order_folder", HERE)


@pytest.fixture(scope="session")
def forge2():
    """The module forge2.py of the certificate's tests: a writer that keeps all digests right."""
    return _module("forge2", CERTIFY)
