"""Wrong rules planted in the proved checker: the proof fails for each, at the inequality that is no longer true."""

import os
import shutil
import subprocess
from importlib import import_module

import pytest

WHERE = {
    "leaf rule: a flipped sign": ("LeafBase.v", "hidden_sound"),
    "leaf rule: a forgotten unit": ("LeafBase.v", "hidden_sound"),
    "margin: halved": ("LeafDeployed.v", "own_bound"),
}


@pytest.fixture(scope="module")
def wrong():
    """trust/wrong_rules.py: the faults, and what Coq says of them."""
    return import_module("trust.wrong_rules")


def test_every_fault_changes_one_place(wrong):
    """What a fault replaces stands once in its file, as the file is now."""
    assert {fault.name for fault in wrong.FAULTS} == set(WHERE)
    for fault in wrong.FAULTS:
        text = (wrong.PROOF / "theories" / fault.file).read_text(encoding="utf-8")
        assert (text.count(fault.right), text.count(fault.wrong)) == (1, 0), fault.name


@pytest.fixture
def compiled(wrong):
    """The proof, which must be compiled."""
    if shutil.which("coqc") is None or not (wrong.PROOF / "theories" / "Cases.vo").exists():
        reason = "the proof is not compiled: run `make proof`, which needs Coq and Flocq"
        pytest.fail(reason) if os.environ.get("REQUIRE_PROOF") else pytest.skip(reason)
    return wrong.PROOF


@pytest.mark.slow
def test_a_planted_axiom_is_found(compiled, tmp_path):
    """A hypothesis outside of a section is an axiom; no word that is searched for gives it away, the assumptions do."""
    place = shutil.copytree(compiled, tmp_path / "proof")
    theory = place / "theories" / "Cases.v"
    text = theory.read_text(encoding="utf-8")
    statement = text.rindex("Theorem cases_sound_any")
    proof = text.index("Proof.", statement)
    planted = f"Hypothesis given : False.\n{text[statement:proof]}Proof. destruct given. Qed.\n"
    theory.write_text(text[:statement] + planted, encoding="utf-8")
    done = subprocess.run(["make", "-C", str(place)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "+Cases.given : False" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", WHERE)
def test_the_proof_fails(compiled, wrong, name):
    (fault,) = (fault for fault in wrong.FAULTS if fault.name == name)
    found = wrong.failure(fault)
    assert found is not None, "Coq accepts it"
    assert (found.file, found.statement) == WHERE[name]
    assert "Cannot find witness" in found.words
