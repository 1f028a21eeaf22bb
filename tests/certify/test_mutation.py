"""Planted faults in both checkers: at least 95 % are noticed, and every one that is not is listed with its reason.

`trust/survivors.json` holds, by module, function and statement, the faults that nothing notices and why. The slow test
plants all others, some 11,000, and fails if one survives.
"""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LISTED = ROOT / "trust" / "survivors.json"


@pytest.mark.parametrize("target", ["fast", "reference"])
def test_listed_survivors_are_faults_of_the_checkers_and_few(mutation, target):
    """Every listed fault can still be planted, and if all others are noticed that is enough."""
    planted = {m.key for m in mutation.Program.read(target).mutants()}
    listed = {key for key in mutation.survivors(LISTED) if key.split(":")[0] in mutation.TARGETS[target]}
    assert listed <= planted, sorted(listed - planted)
    assert len(listed) <= (1 - mutation.LEAST) * len(planted), (len(listed), len(planted))


def test_every_survivor_has_a_reason():
    for functions in json.loads(LISTED.read_text(encoding="utf-8")).values():
        for statements in functions.values():
            for entries in statements.values():
                assert entries
                for *faults, reason in entries:
                    assert faults and len(reason.split()) > 3


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="faults are planted in forked processes")
@pytest.mark.parametrize("target", ["fast", "reference"])
def test_every_other_planted_fault_is_noticed(target, tmp_path):
    for corpus in ("corpus", "corpus2", "corpus_trees", "corpus_balls"):
        with tarfile.open(HERE / corpus / "folders.tar.xz") as archive:
            archive.extractall(tmp_path, filter="data")
    command = [
        sys.executable,
        "-m",
        "trust.mutation",
        target,
        tmp_path,
        "--known",
        LISTED,
        "--jobs",
        str(os.cpu_count() or 2),
    ]
    said = subprocess.run(command, capture_output=True, text=True, timeout=7200, cwd=ROOT)
    assert said.returncode == 0, said.stdout + said.stderr
