"""Continuous integration may not lose the proof in silence: .ci/run and the Makefile with programs that stand in."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL = ("bash", "dirname", "echo", "env", "mkdir", "touch", "make", "sh")
COQ = {"coqc": "echo {place}/coq", "ocamlfind": "exit 0"}
MAKE = {"make": 'echo "make $* REQUIRE_PROOF=$REQUIRE_PROOF"'}
INSTALLED = "mkdir -p {place}/coq/user-contrib/Flocq"


@pytest.fixture
def machine(tmp_path):
    """A machine with nothing but these programs; the answer is the exit code and what was printed."""

    def run(command, stand_ins, **environment):
        place = tmp_path / "bin"
        place.mkdir()
        for name in REAL:
            (place / name).symlink_to(shutil.which(name))
        for name, text in {
            "id": "echo 0",
            "apt-cache": "exit 0",
            "chromium": "exit 0",
            "timeout": 'shift; exec "$@"',
            **stand_ins,
        }.items():
            (place / name).unlink(missing_ok=True)
            (place / name).write_text("#!/bin/sh\n" + text.format(place=tmp_path) + "\n", encoding="utf-8")
            (place / name).chmod(0o755)
        own = {key: value for key, value in os.environ.items() if key != "REQUIRE_PROOF" and not key.startswith("MAKE")}
        own |= {"PATH": str(place), **environment}
        done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def apt(update, install):
    """An apt-get whose two steps do this."""
    return {"apt-get": f'case "$1" in update) {update};; install) {install};; esac'}


class TestRun:
    """.ci/run: `make` stands in for the rest of the run and says what it was asked for."""

    def test_packages_are_there(self, machine, tmp_path):
        (tmp_path / "coq/user-contrib/Flocq").mkdir(parents=True)
        code, said = machine([".ci/run"], {**COQ, **MAKE, **apt("exit 1", "exit 1")})
        assert code == 0
        assert "proof verified test REQUIRE_PROOF=1" in said
        assert "NOT CHECKED" not in said

    @pytest.mark.parametrize("update", ["exit 0", "exit 100"])
    def test_packages_are_installed(self, machine, update):
        code, said = machine([".ci/run"], {**COQ, **MAKE, **apt(update, INSTALLED)})
        assert code == 0
        assert "REQUIRE_PROOF=1" in said

    def test_the_registry_answers_but_nothing_is_installed(self, machine):
        code, said = machine([".ci/run"], {**MAKE, **apt("exit 0", "exit 100")})
        assert code == 1
        assert "could not be installed" in said
        assert "make lint" not in said

    def test_coq_without_flocq_is_not_enough(self, machine):
        code, _ = machine([".ci/run"], {**COQ, **MAKE, **apt("exit 0", "exit 100")})
        assert code == 1

    @pytest.mark.parametrize("missing", ["registry", "list", "apt-get", "root"])
    def test_nothing_can_be_installed(self, machine, missing):
        """The run goes on, and says in capitals what it leaves out."""
        tools = {} if missing == "apt-get" else apt("exit 0" if missing == "list" else "exit 100", "exit 100")
        tools |= {"apt-cache": "exit 100"} if missing == "list" else {}
        tools |= {"id": "echo 1000"} if missing == "root" else {}
        code, said = machine([".ci/run"], {**MAKE, **tools})
        assert code == 0
        assert "THE PROOF IS NOT CHECKED IN THIS RUN" in said
        assert said.rstrip().endswith("proof verified test REQUIRE_PROOF=")


@pytest.mark.parametrize("target", ["proof", "verified"])
def test_targets_without_their_packages(machine, target):
    """A user is told what to install, and everything else goes on."""
    code, said = machine(["make", target], {})
    assert code == 0
    assert "install" in said


@pytest.mark.parametrize("target", ["proof", "verified"])
def test_targets_that_are_required(machine, target):
    code, said = machine(["make", target], {}, REQUIRE_PROOF="1")
    assert code != 0
    assert "install" in said
