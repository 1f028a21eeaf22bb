"""The package serves its names lazily and loads a solver only to solve."""

import subprocess
import sys

import smilenn.provers


def test_names_are_served():
    for name in ("ClosedForm", "Sweep", "ReducedMip", "PaperMip", "prove_problem", "prove_all", "generate"):
        assert getattr(smilenn.provers, name).__name__ == name
        assert name in dir(smilenn.provers)


def test_no_solver_and_no_torch_at_import():
    code = (
        "import sys, smilenn.provers, smilenn.provers.portfolio, smilenn.provers.mip.paper; "
        "smilenn.provers.ReducedMip(); assert not {'highspy', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
