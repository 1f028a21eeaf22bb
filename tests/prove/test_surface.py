"""The package serves its names lazily and loads a solver only to solve."""

import subprocess
import sys

import smilenn.prove


def test_names_are_served():
    for name in ("ClosedForm", "Sweep", "ReducedMip", "PaperMip", "prove_problem", "prove_all", "generate"):
        assert getattr(smilenn.prove, name).__name__ == name
        assert name in dir(smilenn.prove)


def test_no_solver_and_no_torch_at_import():
    code = (
        "import sys, smilenn.prove, smilenn.prove.portfolio, smilenn.prove.mip.paper; "
        "smilenn.prove.ReducedMip(); assert not {'highspy', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
