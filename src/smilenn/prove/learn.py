"""Which lemmas a search has, and when it looks for more.

    at the root      rounds: solve the LP, add the lemmas that cut off its point (`BoxLP.tightest`), until a round
                     brings less than GAIN of what is left to the target; those that no LP has used go
    further down     in a tree of LARGE many nodes one round at each of the next DEEP cells that are taken up as the
                     worst: there the LP's point is another one, and a copy whose phase is decided needs no lemma.
                     The time of an LP grows with its rows, so those that have not been of use for a while go

Lemmas hold on the whole premise, wherever they were found. They halve the nodes of a small problem and take as long to
find as its whole tree; of a large one they leave a hundredth (docs/performance.md). So a search begins without them
where few units are open (AT_ONCE), and starts over with them when it has grown beyond LATER nodes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smilenn.problem import Problem
from smilenn.prove.hull import Hull
from smilenn.prove.leaf import Rounding, Shape
from smilenn.prove.lemma import Lemmas, joined, no_lemmas
from smilenn.prove.relaxation import BoxLP, Relaxation

ROUNDS, GAIN = 12, 0.02
LARGE, DEEP, MOST = 256, 240, 1536  # nodes; cells with a round of their own; lemmas in all
ROWS, WHILE = 256, 128  # an LP with more lemmas than that keeps those that were new or of use in the last so many nodes
AT_ONCE, LATER = 14, 128  # open units with a positive coefficient; nodes


class Lessons:
    """The lemmas of one search; `given` ones are those of another, and no more are looked for."""

    def __init__(self, problem: Problem, rounding: Rounding, bits: int | None, given: Lemmas | None = None) -> None:
        self.problem, self.rounding, self.bits = problem, rounding, bits
        self.lemmas, self.deep = no_lemmas(problem.copies, problem.region.size), 0
        self.looked = given is not None  # at the root
        self.last = np.zeros(0, dtype=int)  # [L], when they were new or of use
        if given is not None:
            self.add(given)

    def add(self, lemmas: Lemmas, now: int = 0) -> None:
        """More of them, proved on the premise; `now` counts nodes."""
        self.lemmas, self.last = joined([self.lemmas, lemmas]), np.append(self.last, np.full(len(lemmas), now))
        self.rounding.use(self.lemmas)

    def used(self, relaxed: Relaxation, now: int) -> None:
        """An LP's answer: which lemmas were of use in it."""
        self.last[np.flatnonzero(relaxed.used)] = now

    def recent(self, lp: BoxLP, now: int) -> np.ndarray | None:
        """The lemmas [L] that an LP keeps which has too many; None where it has not."""
        return self.last >= now - WHILE if len(lp.which) > ROWS else None

    def at_root(
        self, lp: BoxLP, phase: np.ndarray, shape: Shape | None, threshold: float, left: Callable[[], float]
    ) -> bool:
        """Look for lemmas with the LP of the whole premise, as long as there are seconds `left`.

        True where there are some: another LP is to be built then.
        """
        self.looked, self.deep, self.hull, before = True, DEEP, Hull.of(lp.base.region), np.inf
        used = np.zeros(0, dtype=bool)
        for _ in range(ROUNDS if left() > 0 else 0):
            relaxed = lp.solve(phase, shape)
            if relaxed is None or relaxed.x is None:
                break
            now = lp.slopes(relaxed).lemmas > 0
            now[: len(used)] |= used
            used = now
            slack = lp.slack(relaxed)
            if before - relaxed.value < GAIN * (relaxed.value - max(threshold, slack.reached)):
                break
            before = relaxed.value
            if (
                left() <= 0
                or relaxed.value <= threshold
                or len(self.lemmas) >= MOST
                or not self._round(lp, relaxed, phase)
            ):
                break
        kept, self.lemmas = self.lemmas[np.flatnonzero(used)], no_lemmas(self.problem.copies, self.problem.region.size)
        self.last = self.last[:0]
        self.add(kept)
        return len(kept) > 0

    def at(self, lp: BoxLP, relaxed: Relaxation, phase: np.ndarray, now: int) -> bool:
        """One round at a cell of the LP's box, after `now` nodes; True if there are more lemmas now."""
        if now < LARGE or self.deep <= 0 or len(self.lemmas) >= MOST:
            return False
        self.deep -= 1
        return self._round(lp, relaxed, phase, now)

    def _round(self, lp: BoxLP, relaxed: Relaxation, phase: np.ndarray, now: int = 0) -> bool:
        made = lp.tightest(self.hull, relaxed, phase, self.bits)
        if len(made):
            self.add(made, now)
            lp.add(made)
        return len(made) > 0
