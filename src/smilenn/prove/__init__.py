"""Provers, and the function ``smilenn.prove``.

The package and the function share their name, so this module can be called: ``smilenn.prove(model)`` proves, while
``smilenn.prove.portfolio`` is a module as always.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smilenn.prove.prover import Prover
    from smilenn.verdict import Verdict

# Names served on first use, so that importing the package loads neither a solver nor SciPy.
_WHERE = {
    "ClosedForm": "rules.closed_form", "Sweep": "rules.sweep", "local_maxima": "rules.sweep",
    "ReducedMip": "mip.reduced", "PaperMip": "mip.paper", "two_sided": "mip.paper", "Prover": "prover",
    "choose": "rules.table", "generate": "portfolio", "prove_problem": "portfolio", "prove_all": "portfolio",
    "combine": "portfolio",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})


class _Callable(ModuleType):
    """A module that is also the function `smilenn.prove.model.prove`."""

    def __call__(
        self,
        model: Any,
        properties: Sequence[Any] | None = None,
        prover: str | Prover = "auto",
        time_limit: float | None = 60.0,
    ) -> Verdict:
        from smilenn.prove.model import prove

        return prove(model, properties, prover=prover, time_limit=time_limit)


sys.modules[__name__].__class__ = _Callable
