"""Provers: what they have in common, the table of rules, the search tree, the mixed-integer programs.

`smilenn.prove` is the function of `smilenn.provers.model`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Names served on first use, so that importing the package loads neither a solver nor SciPy.
_WHERE = {
    "ClosedForm": "rules.closed_form",
    "PaperMip": "mip.paper",
    "Prover": "prover",
    "ReducedMip": "mip.reduced",
    "Sweep": "rules.sweep",
    "choose": "rules.table",
    "combine": "portfolio",
    "generate": "portfolio",
    "local_maxima": "rules.sweep",
    "prove_all": "portfolio",
    "prove_problem": "portfolio",
    "two_sided": "mip.paper",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
