"""The contract of provers: bounds hold, points exist, violations are real, and nothing false is proved.

    class TestMyProver(ProverContract):
        def prover(self):
            return MyProver()

Problems are small and random (problems.py), so that sampling and a search by gradients come close to the true maximum.
What `smilenn.prove` calls proved rests on a prover's `upper`, up to its tolerance and `error`: one sampled point above
it fails the test. A certificate does not rest on provers at all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cache
from time import perf_counter

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.provers.portfolio import prove_problem
from smilenn.provers.prover import Prover
from smilenn.provers.realise import replay
from smilenn.search.gradient import search
from smilenn.testing.problems import large_problem, members, small_problems, with_right_side
from smilenn.verdict import Maximum, Proved, Violated

SEEDS = 4
LIMIT = 60.0


class ProverContract(ABC):
    """Subclass it in a test module and return a prover.

    `problems` may be replaced by others that the prover is made for; `least` of their rows must not be refused.
    """

    least = 5
    patience = 30.0  # seconds after a time limit by which an answer must be there

    @abstractmethod
    def prover(self) -> Prover:
        """The prover, as a user would name it."""

    def problems(self) -> Iterable[Problem]:
        """What it is tried on."""
        return _drawn()

    def _tried(self) -> Iterator[tuple[Prover, Problem, Row, float]]:
        """Rows that it does not refuse, each with the largest violation that anybody finds."""
        one, seen = self.prover(), 0
        for problem in self.problems():
            for place, row in enumerate(problem.rows):
                if one.refuses(problem, row) is None:
                    seen += 1
                    yield one, problem, row, _largest(problem, place)
        assert seen >= self.least, f"{one.name} refused all but {seen} rows; override `problems` with some of its own"

    def test_it_says_who_it_is_and_what_it_refuses(self) -> None:
        """A name, a title, a tolerance; a sentence for what it does not take."""
        one = self.prover()
        assert one.name and one.title and "\n" not in one.title and 0 <= one.tolerance <= 1e-3
        for problem in self.problems():
            for row in problem.rows:
                why = one.refuses(problem, row)
                assert why is None or (not why[0].islower() and why.endswith(".")), why

    def test_bounds_hold_and_points_exist(self) -> None:
        """lower ≤ the largest violation ≤ upper, whatever was asked for."""
        for one, problem, row, best in self._tried():
            room = one.tolerance * row.scale
            for goal in ("optimum", "prove", "find"):
                found = one.maximise(problem, row, time_limit=LIMIT, goal=goal, target=room)
                _assert_true(problem, row, found, best, room)

    def test_nothing_false_is_proved_and_violations_replay(self) -> None:
        """Asked to prove what is false, it says so or nothing; inputs of `Violated` break the claim in the model."""
        for one, problem, row, best in self._tried():
            false = with_right_side(problem, row.text, row.rhs + best - _margin(row))
            if any(one.refuses(false, broken) is not None for broken in false.rows):
                continue
            room = one.tolerance * false.rows[0].scale
            found = one.maximise(false, false.rows[0], time_limit=LIMIT, goal="prove", target=room)
            assert found.upper + found.error + room >= 0.5 * _margin(row), f"{found.upper} is below {_margin(row)}"
            forward = _at_upper(false)
            verdict = prove_problem(false, prover=one, time_limit=LIMIT, forward=forward)
            assert not isinstance(verdict, Proved), f"{false.claim.formula()} is false by {_margin(row)}"
            if isinstance(verdict, Violated):
                assert verdict.counterexample is not None
                again = replay(verdict.counterexample, (false.claim,), false.domain, false.snapshot.outputs, forward)
                assert again is not None and again.violation == verdict.counterexample.violation > 0

    def test_something_true_is_proved(self) -> None:
        """With room to spare, of `least` rows at least."""
        proved = 0
        for one, problem, row, best in self._tried():
            true = with_right_side(problem, row.text, row.rhs + max(0.0, best) + 0.5 * row.scale)
            if all(one.refuses(true, other) is None for other in true.rows):
                proved += isinstance(prove_problem(true, prover=one, time_limit=LIMIT), Proved)
        assert proved >= self.least, f"proved {proved} of the rows that hold"

    def test_the_time_limit_ends_a_search(self) -> None:
        """Without time there is no wrong answer, and soon one."""
        one, large = self.prover(), large_problem(0)
        tried = [(problem, row, best) for _, problem, row, best in self._tried()][: self.least]
        if one.refuses(large, large.rows[0]) is None:
            tried.append((large, large.rows[0], _largest(large, 0)))
        for problem, row, best in tried:
            for limit in (0.0, 0.2):
                begun = perf_counter()
                found = one.maximise(problem, row, time_limit=limit)
                assert perf_counter() - begun <= limit + self.patience
                _assert_true(problem, row, found, best, one.tolerance * row.scale)


@cache
def _drawn() -> tuple[Problem, ...]:
    return tuple(problem for seed in range(SEEDS) for problem in small_problems(seed))


@cache
def _largest(problem: Problem, place: int) -> float:
    """The largest violation of the box in a row that sampling and a search find."""
    row, rng = problem.rows[place], np.random.default_rng(0)
    sampled = float(problem.value(members(problem, rng), row).max(initial=-np.inf))
    climbed = search(problem, row, rng=rng)
    return max(sampled, float(climbed.value.max(initial=-np.inf)))


def _margin(row: Row) -> float:
    """By how much a right side is put below a violation that exists: far above every tolerance."""
    return 1e-2 * row.scale


def _assert_true(problem: Problem, row: Row, found: Maximum, best: float, room: float) -> None:
    near = 1e-9 * (1 + abs(best))
    assert best <= found.upper + found.error + room + near, f"{row.text!r}: {found.upper} is below {best}, which exists"
    assert found.lower <= found.upper + near
    if found.point is None:
        assert found.lower == -np.inf
        return
    assert problem.region.contains(found.point).all()
    assert abs(found.lower - float(problem.value(found.point[None], row)[0])) <= near


def _at_upper(problem: Problem):
    """The model whose backbone exceeds every box: it sits at the upper corner."""
    s = problem.snapshot
    return lambda x: s.box(problem.domain.scale(x))[1] @ s.head_weight.T + s.head_bias
