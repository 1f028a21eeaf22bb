"""The search where the solver of linear programs has no answer now and then: cells are split all the same."""

from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import numpy as np
import pytest

from smilenn import Bracket, Domain, Fair
from smilenn.auditing.attack import Attack
from smilenn.auditing.lowering import rows_of
from smilenn.auditing.network import DeepNet
from smilenn.auditing.search import Search
from smilenn.provers.mip.solvers.base import SolverResult, Status
from smilenn.provers.mip.solvers.highs import Highs, HighsSession


@dataclass(frozen=True)
class Moody(Highs):
    """HiGHS, but two solves in three fail."""

    def session(self, model):
        return MoodySession(self, model)


class MoodySession(HighsSession):
    solved = 0

    def solve(self, basis=None):
        MoodySession.solved += 1
        return super().solve(None) if MoodySession.solved % 3 == 0 else SolverResult(Status.ERROR, detail="no answer")


@pytest.mark.parametrize("seed", range(4))
def test_a_solver_that_fails_often_keeps_no_bracket_open(seed):
    rng = np.random.default_rng(seed)
    sizes = (3, 6, 4, 1)
    weights = tuple(rng.normal(size=(b, a)).astype(np.float32) for a, b in pairwise(sizes))
    net = DeepNet(weights, tuple(rng.normal(size=len(w)).astype(np.float32) for w in weights))
    domain = Domain.box([0, 0, 0], [1, 1, 1])
    for row in rows_of([Bracket(Fair(["x0"], 0))], domain, net, [""], {"x0": (0, 1)}):
        brackets = []
        for solver in (Highs(), Moody()):
            attack = Attack(net, row, 0)
            attack.run()
            search = Search(net, row, attack, gap=1e-3, solver=solver)
            search.run(perf_counter() + 300)
            brackets.append((search.found, search.proved))
            assert search.found - 1e-9 <= search.proved <= search.found + 1e-3 * abs(search.found) + 1e-9
        assert brackets[0] == pytest.approx(brackets[1], rel=2e-3, abs=1e-6)
