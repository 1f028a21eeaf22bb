"""Which lemmas a search has, and when it looks for more.

    at the root      rounds: solve the LP, add the lemmas that cut off its point (`BoxLP.tightest`), until a round
                     brings less than GAIN of what is left to the target; those that no LP has used go
    further down     in a tree of LARGE many nodes one round at each of the next DEEP cells that are taken up as the
                     worst: there the LP's point is another one, and a copy whose phase is decided needs no lemma

Lemmas hold on the whole premise, wherever they were found. They halve the nodes of a small problem and take as long to
find as its whole tree; of a large one they leave a hundredth (docs/notes/search.md). So a search begins without them
where few units are open (AT_ONCE), and starts over with them when it has grown beyond LATER nodes. Rows with flip
units go without: what their relaxation gives away are the flip units, and the trees took longer (measured: 1,165 nodes
became 524, and 0.75 s became 1.0 s). So does a search for a point, which has its points sooner than lemmas.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smilenn.problem import Problem
from smilenn.provers.tree.hull import Hull
from smilenn.provers.tree.leaf import Rounding
from smilenn.provers.tree.lemma import Lemmas, joined, no_lemmas
from smilenn.provers.tree.relaxation import BoxLP, Relaxation

ROUNDS, GAIN = 12, 0.02
LARGE, DEEP, ENOUGH, MOST = 256, 120, 300, 768  # nodes; cells with a round of their own; lemmas then, and at the root
SLOPES = 1 << 22  # numbers h that a certificate may have in a row
AT_ONCE, LATER = 14, 256  # open units with a positive coefficient; nodes


class Lessons:
    """The lemmas of one search; `given` ones are those of another, and no more are looked for."""

    def __init__(self, problem: Problem, rounding: Rounding, bits: int | None, given: Lemmas | None = None) -> None:
        self.problem, self.rounding, self.bits = problem, rounding, bits
        self.lemmas, self.deep = no_lemmas(problem.copies, problem.region.size), 0
        self.most = min(MOST, SLOPES // max(1, problem.copies * problem.region.size))
        self.looked = given is not None  # at the root
        if given is not None:
            self.add(given)

    def add(self, lemmas: Lemmas) -> None:
        """More of them, proved on the premise."""
        self.lemmas = joined([self.lemmas, lemmas])
        self.rounding.use(self.lemmas)

    def at_root(self, lp: BoxLP, phase: np.ndarray, threshold: float, left: Callable[[], float]) -> None:
        """Look for lemmas with the LP of the whole premise, as long as there are seconds `left`.

        That LP has rows for those that were tried; the ones that are kept need another.
        """
        self.looked, self.deep, self.hull, before = True, DEEP, Hull.of(lp.base.region), np.inf
        used = np.zeros(0, dtype=bool)
        for _ in range(ROUNDS if left() > 0 else 0):
            relaxed = lp.solve(phase)
            if relaxed is None or relaxed.x is None:
                break
            now = lp.slopes(relaxed).lemmas > 0
            now[: len(used)] |= used
            used = now
            slack = lp.slack(relaxed)
            if before - relaxed.value < GAIN * (relaxed.value - max(threshold, slack.reached)):
                break
            before = relaxed.value
            if left() <= 0 or relaxed.value <= threshold or not self._round(lp, relaxed, phase):
                break
        kept, self.lemmas = self.lemmas[np.flatnonzero(used)], no_lemmas(self.problem.copies, self.problem.region.size)
        self.add(kept)

    def at(self, lp: BoxLP, relaxed: Relaxation, phase: np.ndarray, nodes: int) -> bool:
        """One round at a cell of the LP's box, in a tree of so many nodes; True if there are more lemmas now."""
        if nodes < LARGE or self.deep <= 0 or len(self.lemmas) >= min(ENOUGH, self.most):
            return False
        self.deep -= 1
        return self._round(lp, relaxed, phase)

    def _round(self, lp: BoxLP, relaxed: Relaxation, phase: np.ndarray) -> bool:
        made = lp.tightest(self.hull, relaxed, phase, self.bits)[: self.most - len(self.lemmas)]
        if len(made):
            self.add(made)
            lp.add(made)
        return len(made) > 0
