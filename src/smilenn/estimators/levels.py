"""Levels of quantiles, as options and parameters give them."""

from __future__ import annotations

from collections.abc import Sequence

from smilenn.errors import SmileError


def read_levels(levels: Sequence[float]) -> tuple[float, ...]:
    """Levels of quantiles, rising and between 0 and 1."""
    try:
        found = tuple(float(level) for level in levels)
    except (TypeError, ValueError):
        raise SmileError(f"quantiles is {levels!r}; give levels between 0 and 1, such as [0.1, 0.5, 0.9].") from None
    named = {f"{level:g}" for level in found}  # levels that differ by less than their names tell are the same
    if len(named) < max(2, len(found)) or not all(0.0 < q < 1.0 for q in found) or list(found) != sorted(found):
        raise SmileError(
            f"quantiles is {list(found)}; give two or more rising levels between 0 and 1, such as [0.1, 0.5, 0.9]."
        )
    return found
