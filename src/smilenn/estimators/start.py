"""Refitting from a model: what must agree between an estimator and the fitted one whose weights it starts from.

class and outputs     the same estimator, the same outputs or classes in the same order
columns and domain    the same columns; the domain is the model's, since its weights mean nothing on another
properties            the same claims: the network was built to keep them
network               the same parameters where they shape it; train/warm.py looks at the tensors themselves
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.estimators.options import Network, domain_of, network_of
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.properties.wording import say

if TYPE_CHECKING:
    from smilenn.estimators.base import SmileEstimator
    from smilenn.estimators.targets import Target

# options of the network that need not agree: code, whose tensors are compared instead, and how it is trained
FREE = ("backbone", "restarts", "device")
DOMAIN = ("bounds", "kinds", "groups", "order")  # options of a domain that is learned
FIT_ANEW = "; fit anew, without a start."


def fitted_start(estimator: SmileEstimator, start: SmileEstimator | Path | str) -> SmileEstimator:
    """The fitted estimator to start from, read from its folder where a path is given; its parameters agree."""
    if isinstance(start, (str, Path)):
        from smilenn.estimators.store import load

        start = load(start)
    if type(start) is not type(estimator):
        raise SmileError(
            f"start is a {type(start).__name__}; a {type(estimator).__name__} starts from a fitted one, or its folder."
        )
    if "net_" not in vars(start):
        raise SmileError("The model to start from is not fitted; fit it, or load a saved one.")
    if network_of(estimator.network).estimator or start.backbone_ is not None:
        raise SmileError(f"A model with an estimator as backbone has no training to go on with{FIT_ANEW}")
    _check_network(network_of(estimator.network), network_of(start.network))
    _check_domain(estimator.domain, start)
    return start


def _check_network(ours: Network, theirs: Network) -> None:
    for name, one in ours.get_params().items():
        other = getattr(theirs, name)
        given = name == "encoder" and not isinstance(one, str) and not isinstance(other, str)
        if name not in FREE and not given and one != other:  # the tensors of what is given decide
            raise SmileError(f"The model to start from was fitted with {name}={other!r}, not {one!r}{FIT_ANEW}")


def _check_domain(domain: Any, start: SmileEstimator) -> None:
    """A domain is the start's; options of one that is learned are those that the start learned its own with."""
    ours, theirs = domain_of(domain), domain_of(start.domain)
    if isinstance(ours, Domain):
        if ours != start.domain_:
            raise SmileError(f"The model to start from was fitted on another domain{FIT_ANEW}")
        return
    for name in DOMAIN:
        one = getattr(ours, name)
        if one and (isinstance(theirs, Domain) or one != getattr(theirs, name)):
            raise SmileError(f"The model to start from brings its own domain, with other {name}; leave {name} out.")


@dataclass(frozen=True, eq=False)
class Known:
    """What a model to start from was fitted on, whether it is loaded or only read from its folder.

    classes : None of a regression.
    """

    columns: tuple[str, ...]
    classes: np.ndarray | None
    outputs: Outputs
    domain: Domain
    claims: tuple[Claim, ...]

    @classmethod
    def of(cls, start: SmileEstimator) -> Known:
        """That of a fitted estimator."""
        classes = vars(start).get("classes_")
        return cls(tuple(start.columns_), classes, start.outputs_, start.domain_, tuple(start.claims_))


def check_columns(start: Known, columns: Sequence[str]) -> Domain:
    """The domain of the start, for data with the same columns in the same order."""
    if tuple(columns) != start.columns:
        raise SmileError(
            f"The model to start from was fitted on the columns {listed(start.columns, 20)}; the data has "
            f"{listed(columns, 20)}, in this order."
        )
    return start.domain


def check_task(start: Known, target: Target, claims: Sequence[Claim]) -> None:
    """The start has the outputs, classes and claims of this fit."""
    known = start.classes
    other = (known is None) != (target.classes is None)
    if other or (known is not None and not np.array_equal(known, np.asarray(target.classes))):
        here = "none" if target.classes is None else listed(target.classes, 20)
        there = "none" if known is None else listed(known, 20)
        raise SmileError(f"The model to start from knows the classes {there}; the data has {here}{FIT_ANEW}")
    if start.outputs != target.outputs:
        raise SmileError(
            f"The model to start from has the outputs {listed(start.outputs.names, 20)}; the data has "
            f"{listed(target.outputs.names, 20)}{FIT_ANEW}"
        )
    if start.claims != tuple(claims):  # whatever their sentences say
        said = " ".join(say(claim, start.outputs, start.domain) for claim in start.claims) or "no property"
        raise SmileError(f"The model to start from keeps other properties ({said}); state the same ones, or fit anew.")
