"""The proof as text: no gap is left in it, and it rests on known axioms. Coq itself is asked by `make proof`."""

import re
from pathlib import Path

import pytest

PROOF = Path(__file__).resolve().parents[2] / "proof"
THEORIES = sorted((PROOF / "theories").glob("*.v"))
AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "Classical_Prop.classic",
    "FunctionalExtensionality.functional_extensionality_dep",
}


@pytest.mark.parametrize("file", THEORIES, ids=lambda file: file.stem)
def test_no_gaps(file):
    """Nothing is admitted; axioms stand in the interface of numbers alone, where modules are checked against them."""
    text = re.sub(r"\(\*.*?\*\)", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    words = "Admitted|admit|Abort" if file.name == "Num.v" else "Admitted|admit|Abort|Axioms?|Parameters?|Conjecture"
    assert not re.search(rf"\b({words})\b", text)


def test_every_theory_is_compiled():
    """_CoqProject lists all but the two that print and extract."""
    listed = set((PROOF / "_CoqProject").read_text(encoding="utf-8").split())
    assert {f"theories/{file.name}" for file in THEORIES if file.stem not in ("Extract", "Assumptions")} <= listed


def test_assumptions():
    """Every theorem rests on these axioms at most, and there is a list for each."""
    text = (PROOF / "assumptions.txt").read_text(encoding="utf-8")
    asked = (PROOF / "theories" / "Assumptions.v").read_text(encoding="utf-8").count("Print Assumptions")
    assert text.count("Axioms:") + text.count("Closed under the global context") == asked
    assert set(re.findall(r"^(\w[\w.]*\.\w+)", text, flags=re.MULTILINE)) == AXIOMS


def test_the_theorem_in_the_readme():
    """The theorem is shown as it stands in its theory."""
    readme = (PROOF / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```coq\n(.*?)^```", readme, flags=re.MULTILINE | re.DOTALL)
    assert f"{shown}Proof." in (PROOF / "theories" / "AnyDeployed.v").read_text(encoding="utf-8")
