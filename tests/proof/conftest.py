"""The proved checker, where it is built, and folders for it."""

import json
import os
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from smilenn.certify import check, verified
from smilenn.certify.reference import check as reference


def built():
    """Where the program is. Without it, or if it is older than its sources, it skips; with REQUIRE_PROOF it fails."""
    found, reason = verified.program(), "the proved checker is not built: run `make verified`"
    if found is not None:
        changed = newer_source(found)
        reason = f"the proved checker is older than {changed}: run `make verified`" if changed else ""
    if reason:
        pytest.fail(reason) if os.environ.get("REQUIRE_PROOF") else pytest.skip(reason)
    return str(found)


def newer_source(program):
    """A source of the program in this checkout that was changed after it was built; empty if there is none."""
    if Path(program) != verified.BUILT:
        return ""
    built_at = verified.BUILT.stat().st_mtime
    sources = sorted(verified.BUILT.parent.glob("*.ml*"))
    return next((source.name for source in sources if source.stat().st_mtime > built_at), "")


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


@pytest.fixture(scope="session")
def misread():
    """trust/misread.py: folders that are made to be misread."""
    return import_module("trust.misread")


@pytest.fixture
def answer(smilecheck):
    """The exit code of a folder, which all three checkers give it; the proved one may say that it is not covered."""

    def ask(folder):
        code, found, _ = smilecheck(folder)
        assert "failed" not in found["reason"], found["reason"]
        fast, slow = check.check_folder(folder), reference.check_folder(folder)
        assert fast.exit_code == slow.exit_code, (fast.reason, slow.reason)
        if found["reason"].startswith("not covered by the proof: "):
            assert code == 3
            assert fast.exit_code != 2, fast.reason
        else:
            assert code == fast.exit_code, (found["reason"], fast.reason, slow.reason)
        return code

    return ask
