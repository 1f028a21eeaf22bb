"""Trees grown within a time that nobody knows beforehand how far it goes.

    pieces    FIRST trees, then up to TIMES as many as there are, as long as the time that is left suffices for a piece
              at the pace of the last one

A piece begins with binning and predicting all rows anew, so few large ones are quicker than many small ones. The start
is part of the pace, which is therefore slower than that of the trees alone: a larger piece ends before its time unless
the machine is slowed down. One of less than half the size of the last is not begun: the start would be most of it.
"""

from __future__ import annotations

from collections.abc import Callable

FIRST, TIMES = 4, 3


def grow_within(grow: Callable[[int], int], most: int, seconds: float | None, now: Callable[[], float]) -> bool:
    """Have `grow` bring the trees to a number, again and again; it returns how many there are, fewer if it has stopped.

    `now` is the clock. Whatever `seconds` are, the first piece is grown: a booster without a tree is nothing; without a
    limit (None) all is one piece. Returns whether the clock ended the growth.
    """
    if seconds is None:
        grow(most)
        return False
    until, trees, piece = now() + seconds, 0, min(FIRST, most)
    while piece:
        begun = now()
        trees += piece
        if grow(trees) < trees:
            return False
        affordable = int((until - now()) * piece / max(now() - begun, 1e-9))
        piece = 0 if 2 * affordable < piece else min(affordable, TIMES * trees, most - trees)
    return trees < most
