"""Contracts for parts of your own, as test classes: subclass one in a test module, return your part, run pytest.

    PropertyContract   JSON, names, claims against a predicate in plain Python, fit → save → load → check
    LayerContract      ranges, order and bits of an encoder's layer
    EncoderContract    the same of a whole encoder, and the premises it carries
    ProverContract     bounds against sampling, replayed violations, time limits, no proof of a false claim
    SolverContract     linear and mixed-integer programs with known answers

The parts of this package run through the same contracts in its own tests. A contract finds mistakes; it proves nothing.
What a model is certified for, the checker decides, whatever the parts are that found the proof.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smilenn.testing.layers import EncoderContract, LayerContract
    from smilenn.testing.properties import PropertyContract
    from smilenn.testing.provers import ProverContract
    from smilenn.testing.solvers import SolverContract

__all__ = ["EncoderContract", "LayerContract", "PropertyContract", "ProverContract", "SolverContract"]

# loaded on first use: a solver's contract needs no torch
_HOME = {
    "EncoderContract": "layers",
    "LayerContract": "layers",
    "PropertyContract": "properties",
    "ProverContract": "provers",
    "SolverContract": "solvers",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(sorted(_HOME))}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
