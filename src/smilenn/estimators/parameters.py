"""Parameters of an estimator: stored by `__init__`, checked when `fit` begins, reached by scikit-learn's tools.

stored(__init__)   sets every argument as an attribute; nothing else may happen there
Parameters         `set_params` with the fields of `Network` and `Columns` as nested names
REMOVED            names of earlier versions, each with what to write instead
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from smilenn.errors import SmileError, listed
from smilenn.estimators.checks import check_device
from smilenn.estimators.options import NESTED, Columns, Nested, Network, domain_of, network_of

if TYPE_CHECKING:
    from smilenn.estimators.base import SmileEstimator

P = ParamSpec("P")
T = TypeVar("T", bound="Parameters")

# name → the parameter that took its place, and how to write it; {} stands for ``name=value``
REMOVED: dict[str, tuple[str, str]] = {
    **{name: ("network", "network=Network({})") for name in Network().get_params()},
    **{name: ("domain", "domain=Columns({})") for name in Columns().get_params()},
    "certify_time_limit": ("certify_limit", "certify_limit={value}"),
    "protected": ("properties", "properties={fair}"),
}
LONGEST = 40  # characters of a value that a sentence repeats


class UnknownParameter(SmileError, TypeError):
    """A name that an estimator does not have."""


def stored(init: Callable[Concatenate[T, P], None]) -> Callable[Concatenate[T, P], None]:
    """An `__init__` that stores its arguments under their names, as scikit-learn asks, and refuses other names."""
    known = signature(init)

    @wraps(init)
    def storing(self: T, *args: P.args, **given: P.kwargs) -> None:
        self.check_names(given)
        bound = known.bind(self, *args, **given)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    return storing


class Parameters(BaseEstimator):
    """Base of estimators whose parameters may hold `Nested`: ``network__hidden`` is a parameter of its own.

    Where ``network`` or ``domain`` is None, nested names can be set all the same; `get_params` lists them only where
    there are options, so that ``type(model)(**model.get_params())`` copies an estimator with default options.
    """

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``network__hidden=8`` replaces the network's options by a changed copy."""
        own = {name.partition("__")[0]: value for name, value in params.items()}
        self.check_names(own)
        nested: dict[str, dict[str, Any]] = {}
        plain: dict[str, Any] = {}
        for name, value in params.items():
            outer, _, inner = name.partition("__")
            if inner and outer in NESTED:
                nested.setdefault(outer, {})[inner] = value
            else:
                plain[name] = value
        super().set_params(**plain)
        for outer, changes in nested.items():
            setattr(self, outer, _options(outer, getattr(self, outer)).changed(**changes))
        return self

    @classmethod
    def check_names(cls, given: Mapping[str, Any]) -> None:
        """Refuse names that are not parameters; the sentence says what to write instead."""
        known: list[str] = cls._get_param_names()
        for name, value in given.items():
            if name not in known:
                raise UnknownParameter(f"{cls.__name__} has no parameter {name!r}; {instead(name, value, known)}")


def instead(name: str, value: Any, known: Sequence[str]) -> str:
    """What to write for a name that is none of the `known` parameters."""
    last = name.rpartition("__")[2]  # ``network__hidden`` is for `set_params`
    parameter, form = REMOVED.get(last, ("", ""))
    if parameter in known:
        shown = repr(value) if len(repr(value)) <= LONGEST else "…"
        return f"write {form.format(f'{last}={shown}', value=shown, fair=_fair(value))}."
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"it has {listed(known, 20)}."


def _fair(protected: Any) -> str:
    """The rules that ``protected={column: ε}`` stood for."""
    pairs = protected.items() if isinstance(protected, Mapping) and protected else [("race", 0.2)]
    rules = [f"Fair([{name!r}], {eps!r})" for name, eps in pairs]
    return rules[0] if len(rules) == 1 else f"[{', '.join(rules)}]"


def _options(name: str, value: Any) -> Nested:
    """The options that a parameter holds."""
    if name == "network":
        return network_of(value)
    found = domain_of(value)
    if not isinstance(found, Columns):
        raise SmileError(
            "domain is a Domain, whose columns are decided; set domain=Columns(…) to change how one is learned."
        )
    return found


def check_parameters(estimator: SmileEstimator) -> None:
    """Raise if a parameter has a value that no training can begin with."""
    check_device(network_of(estimator.network).device)
    domain_of(estimator.domain)
    if estimator.out_of_bounds not in ("auto", "clamp", "raise", "warn"):
        raise SmileError(f"out_of_bounds is 'auto', 'clamp', 'raise' or 'warn', not {estimator.out_of_bounds!r}.")
    if not 0.0 <= estimator.validation_fraction < 1.0:
        raise SmileError(f"validation_fraction must lie in [0, 1), not {estimator.validation_fraction}.")
    if estimator.missing not in ("indicator", "fill", "raise"):
        raise SmileError(f"missing is 'indicator', 'fill' or 'raise', not {estimator.missing!r}.")
    if estimator.unknown not in ("other", "refuse"):
        raise SmileError(f"unknown is 'other' or 'refuse', not {estimator.unknown!r}.")
    _check_limits(estimator)
    if isinstance(estimator.random_state, (int, np.integer)) and not 0 <= estimator.random_state < 2**32:
        raise SmileError(f"random_state must be a whole number from 0 to 2³² − 1, not {estimator.random_state}.")


def _check_limits(estimator: SmileEstimator) -> None:
    if estimator.time_limit is not None and not estimator.time_limit > 0:
        raise SmileError(f"time_limit must be more than 0 seconds, not {estimator.time_limit}.")
    if not estimator.certify_limit >= 0:
        raise SmileError(f"certify_limit must be 0 seconds or more, not {estimator.certify_limit}.")
