"""Of two rows that exchanging the copies maps onto each other, one is kept: the same as comparing every pair finds."""

from dataclasses import replace

import numpy as np

from smilenn.problem.problem import Row, _swapped, _unswapped


def random_rows(seed, count=40):
    """Rows with few values, so that many are others with their copies exchanged; zeros have both signs."""
    rng = np.random.default_rng(seed)

    def drawn(*shape):
        return rng.choice([-0.0, 0.0, 1.0], shape)

    rows = []
    for _ in range(count):
        const = float(rng.choice([0.5, 0.5 + 1e-15, 2.0]))
        row = Row(drawn(2, 1), drawn(2, 1), drawn(2, 1), const, 0.0, drawn(2, 2), drawn(2, 1), 0.0, 1.0, "")
        rows.append(row)
        if rng.random() < 0.5:
            back = {name: getattr(row, name)[::-1] for name in ("slope", "unit", "flip", "outputs", "inputs")}
            rows.append(replace(row, rhs=float(rng.integers(2)), **back))
    return rows


def test_the_same_rows_are_kept_as_by_comparing_all():
    dropped = 0
    for seed in range(20):
        rows = random_rows(seed)
        wanted = [i for i, row in enumerate(rows) if not any(_swapped(row, other) for other in rows[:i])]
        assert _unswapped(rows) == wanted
        dropped += len(rows) - len(wanted)
    assert dropped > 100
