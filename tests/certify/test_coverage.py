"""Every branch of both checkers is taken by the frozen corpora and the kill suite, and each with a known answer."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

# coverage has to be there before the checkers are imported, hence a process of its own
MEASURE = """
import importlib, pathlib, sys, types
import coverage
sys.path.insert(0, sys.argv[1])
from trust import kill_suite, mutation
names = [name for target in mutation.TARGETS.values() for name in target]
places = {name: f"smilenn.certify.{mutation.place_of(name)}" for name in names}
watch = coverage.Coverage(branch=True, data_file=None, source_pkgs=list(places.values()))
watch.exclude('if __name__ == "__main__":')
watch.start()
loaded = types.SimpleNamespace(**{name: importlib.import_module(place) for name, place in places.items()})
for target in mutation.TARGETS:
    for _, check in kill_suite.checks(target, pathlib.Path(sys.argv[2])):
        check(loaded)
watch.stop()
share = watch.report(show_missing=True, skip_covered=True)
sys.exit(share < 100)
"""


@pytest.mark.slow
def test_every_branch_of_both_checkers_is_taken(tmp_path):
    pytest.importorskip("coverage")
    for corpus in ("corpus", "corpus2", "corpus_trees", "corpus_balls"):
        with tarfile.open(HERE / corpus / "folders.tar.xz") as archive:
            archive.extractall(tmp_path, filter="data")
    said = subprocess.run(
        [sys.executable, "-c", MEASURE, HERE.parents[1], tmp_path], capture_output=True, text=True, timeout=900
    )
    assert said.returncode == 0, said.stdout + said.stderr
