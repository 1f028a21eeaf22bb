"""The references of a report: the model's own settings with fewer rules or other ones, fitted within seconds.

    without rules   no rule, on the same domain
    unaware         the same, on the domain without the protected columns
    ε·½, ε·2        the model's rules, every ε times a factor; further factors where time is left

What a guarantee costs is the distance to the first, so that one must be as good as the recipe can make it: sizes that
the model itself has no use for are left out, and so is an encoder that would keep the rules by itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import clone

from smilenn.domain import Domain
from smilenn.domain.absent import indicators
from smilenn.model.backbones import MLP, ConvNet
from smilenn.model.fitted_backbone import FittedBackbone
from smilenn.properties.claim import Claim
from smilenn.properties.meaning import Changes
from smilenn.properties.recognise import bounded_change
from smilenn.report.model import Reported
from smilenn.report.probe import Function

FACTORS = (0.5, 2.0)  # times ε
MORE = (0.25, 1.5, 0.75)  # the same, where the time of the slowest reference so far is left
LEAST = 1.0  # seconds that a fit has in any case
NO_RULE = "no rule"
SAME = "the same model without the rules: its own recipe and settings, fitted with no rule"
IMAGE = "an ordinary network without rules, since nets for images have no recipe without one"
BROUGHT_ENCODER = "a default model without rules, since the encoder that you brought would keep them by itself"
BROUGHT_NETWORK = "a default model without rules, since this model's network was brought and cannot be fitted again"
SIZES = ("hidden", "embedding", "backbone_sizes", "backbone_share")  # of networks that a model with rules may not have


@dataclass(frozen=True)
class Rule:
    """A claim with an ε."""

    claim: Claim
    change: Changes


def epsilon_rules(model: Reported) -> list[Rule]:
    """The claims that bound a change by an ε, as `Fair` and `Robust` do."""
    found = [(claim, bounded_change(claim, model.outputs_, model.domain_)) for claim in model.claims_]
    return [Rule(claim, change) for claim, change in found if change is not None]


@dataclass(frozen=True, eq=False)
class Reference:
    """An estimator to fit, on all coordinates of the model's domain or on those `seen` [k]; `eps` is what it promises.

    `what` says in words what it is, as the end of a sentence; empty where its name says all.
    """

    name: str
    kind: str
    estimator: Any
    eps: float | None = None
    seen: np.ndarray | None = None
    what: str = ""

    def fit(self, model: Reported, train: tuple[Any, Any], seconds: float) -> Fitted:
        """Fit to the rows of `train` within `seconds`: all of them for training where nothing is to be certified."""
        share = max(LEAST, seconds)
        limits = {"time_limit": share, "certify_limit": 0.0 if self.eps is None else max(LEAST, 0.3 * share)}
        other, X = self.estimator.set_params(**limits), train[0]
        if self.seen is not None:
            X = other.domain.decode(model.encoded(X)[:, self.seen])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns and rows: the model's own fit has said these
            other.fit(X, train[1])
        if other.interrupted_:  # Ctrl-C ends the report: half a reference would flatter the model
            raise KeyboardInterrupt
        net = other.net_ if self.seen is None else Blind(model.domain_, other.net_, self.seen)
        return Fitted(net, self._status(other))

    def _status(self, other: Any) -> str:
        """What is known of the rules it was fitted with, and whether it would have gone on."""
        certified = other.certificate_ is not None and other.certificate_.accepted
        known = NO_RULE if self.eps is None else "certified" if certified else other.verdict_.status
        return f"{known}, stopped by its time limit" if other.cut_short_ else known


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted reference as a function of the model's inputs, and its status."""

    net: Function
    status: str


@dataclass(frozen=True, eq=False)
class Blind:
    """A network that reads some of the coordinates, `seen` [k], as a function of all."""

    domain: Domain
    net: Function
    seen: np.ndarray

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the o outputs."""
        return self.net.outputs

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Raw inputs [n, m] → outputs [n, o]."""
        return self.net.predict(x[:, self.seen])


def references(model: Reported) -> list[Reference]:
    """The references of a model; none where nobody has stated a rule, for it is its own reference then."""
    if not model.stated_properties():
        return []
    other, what = without_rules(model)
    what += "; its quantiles still do not cross" if model.task == "quantiles" else ""
    found = [Reference("without rules", "free", other, what=what), *_unaware(model)]
    return [*found, *(_scaled(model, factor) for factor in FACTORS if _first_eps(model))]


def further(model: Reported) -> list[Reference]:
    """More points of the curve over ε, the most useful first."""
    stated = model.stated_properties() and _first_eps(model)
    return [_scaled(model, factor) for factor in MORE] if stated else []


def without_rules(model: Reported) -> tuple[Any, str]:
    """An unfitted estimator with the model's settings and domain and no rule, and in words what it is."""
    other = _fresh(model, ())
    network = other.network
    if _brought(model):
        return other.set_params(network=None), BROUGHT_NETWORK
    if network is None:
        return other, SAME
    usual = type(network)()
    if network.image:
        return other.set_params(network=network.changed(encoder="none", backbone_share=0.0)), IMAGE
    if not isinstance(network.encoder, str):
        return other.set_params(network=network.changed(encoder="auto", **_sizes(usual))), BROUGHT_ENCODER
    chosen = network.encoder == "none" or network.backbone is not None
    if chosen or (network.boxes, network.auxiliaries) != (usual.boxes, usual.auxiliaries):
        return other, SAME
    return other.set_params(network=network.changed(**_sizes(usual))), SAME


def _sizes(usual: Any) -> dict[str, Any]:
    return {name: getattr(usual, name) for name in SIZES}


def _brought(model: Reported) -> bool:
    """Whether network or backbone came from elsewhere and cannot be fitted by the settings without a rule."""
    own: Any = model
    if isinstance(model.net_.backbone, FittedBackbone):  # an estimator needs a rule, whose box it is in
        return True
    foreign = not isinstance(model.net_.backbone, (MLP, ConvNet)) and getattr(own.network, "backbone", None) is None
    untrained = model.n_iter_ == 0 and (model.quality_ is None or model.quality_.steps is None)
    return foreign or untrained


def _unaware(model: Reported) -> list[Reference]:
    """The model without rules on the columns that no ε-rule frees, where there are such and others."""
    domain = model.domain_
    protected = {name for rule in epsilon_rules(model) for name in rule.change.free}
    flags = {flag for name, (flag, _) in indicators(domain.features).items() if name in protected}
    left = tuple(feature for feature in domain.features if feature.name not in protected | flags)
    if not left or len(left) == len(domain.features):
        return []
    seen = np.concatenate([np.asarray(domain.indices(feature.name)) for feature in left])
    other = without_rules(model)[0].set_params(domain=Domain(left))
    return [Reference("unaware", "unaware", other, seen=seen)]


def _first_eps(model: Reported) -> Fraction:
    rules = epsilon_rules(model)
    return Fraction(rules[0].change.eps) if rules else Fraction(0)


def _scaled(model: Reported, factor: float) -> Reference:
    """The model with every ε times a factor."""
    changed, eps = [rule.claim for rule in epsilon_rules(model)], float(_first_eps(model)) * factor
    rules = [
        replace(claim, then=tuple(replace(row, rhs=row.rhs * Fraction(factor)) for row in claim.then), sentence="")
        if claim in changed
        else claim
        for claim in model.claims_
    ]
    return Reference(f"ε = {eps:g}", "other", _fresh(model, rules), eps)


def _fresh(model: Reported, rules: Sequence[Claim]) -> Any:
    """An unfitted estimator with the model's settings and domain and other rules."""
    other: Any = clone(model)  # type: ignore[type-var] # every reported model is an estimator
    stated = {"properties": tuple(rules), "increasing": (), "decreasing": (), "monotonic_cst": None}
    return other.set_params(**stated, domain=model.domain_, random_state=0, verbose=0)
