"""Whatever the solver of linear programs says, a bound that the checkers accept holds."""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import pytest

from smilenn.auditing import search
from smilenn.auditing.audit import prove_row
from smilenn.certify import check_deep
from smilenn.certify.reference import deep
from smilenn.provers.mip.solvers.base import SolverResult, Status
from smilenn.provers.mip.solvers.highs import Highs, HighsSession

RNG = np.random.default_rng(0)
LIES = {
    "other signs": lambda values: -values,
    "nothing": np.zeros_like,
    "far too much": lambda values: 1e9 * values,
    "a little less": lambda values: 0.97 * values - 1e-3,
    "anything": lambda values: RNG.normal(size=values.shape) * 10.0 ** RNG.integers(-3, 4),
    "not numbers": lambda values: np.full_like(values, np.nan),
}


def liar(lie, asked):
    """HiGHS whose multipliers and points are not those it found; it calls them optimal, cells without points too."""

    class LyingSession(HighsSession):
        def solve(self, basis=None):
            asked.append(len(asked))
            said = super().solve(None)
            x = np.zeros(len(self.model.lo)) if said.x is None else said.x
            rows = len(self.model.row_lo) if said.multipliers is None else len(said.multipliers)
            multipliers = np.ones(rows) if said.multipliers is None else said.multipliers
            return replace(
                SolverResult(Status.OPTIMAL), x=lie(x), multipliers=lie(multipliers), dual_bound=-1e9, primal=-1e9
            )

    @dataclass(frozen=True)
    class Liar(Highs):
        def session(self, model):
            return LyingSession(self, model)

    return Liar


@pytest.mark.parametrize("name", LIES)
def test_no_lie_becomes_a_bound(cases, tmp_path, monkeypatch, name):
    asked = []
    monkeypatch.setattr(search, "Highs", liar(LIES[name], asked))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        net = cases.random_net(rng, cases.SIZES[seed % 3])
        row, _ = cases.random_row(rng, net)
        names = [f"y{i}" for i in range(net.sizes[-1])]
        proved = prove_row(net, row, names, perf_counter() + 0.5, seed=seed)
        folder = cases.write(tmp_path / str(seed), net, [(row, proved.witness, proved.proof)])
        reports = check_deep.check_folder(folder), deep.check_folder(folder)
        reached = cases.largest(net, row)
        for report in reports:
            (checked,) = report.rows
            assert checked.found <= reached <= min(checked.real, checked.computed)
    assert len(asked) >= 6  # otherwise nobody lied
