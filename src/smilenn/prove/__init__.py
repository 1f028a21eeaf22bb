"""Provers, and the function ``smilenn.prove``.

The package and the function share their name, so this module can be called: ``smilenn.prove(model)`` proves, while
``smilenn.prove.portfolio`` is a module as always.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smilenn.prove.verdict import Verdict


class _Callable(ModuleType):
    """A module that is also the function `smilenn.prove.model.prove`."""

    def __call__(
        self,
        model: Any,
        properties: Sequence[Any] | None = None,
        prover: str = "auto",
        time_limit: float | None = 60.0,
    ) -> Verdict:
        from smilenn.prove.model import prove

        return prove(model, properties, prover=prover, time_limit=time_limit)


sys.modules[__name__].__class__ = _Callable
