"""`guard`: a given network inside a box that makes it fair, as an ordinary model with a certificate.

    network ─▶ clamp (net.py) ─▶ fitted estimator ─▶ certificate, checked ─▶ model folder

The estimator predicts what the network predicts wherever that is fair; its certificate covers every input of the
domain and does not read the network: whatever it computes is cut to the box.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier

from smilenn.auditing.importing import check_names, read_network
from smilenn.auditing.lowering import chosen_values, compared_words
from smilenn.auditing.network import DeepNet
from smilenn.auditing.onnx_file import run_onnx
from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.outside import outside_mode
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.targets import class_names
from smilenn.guarding.agreement import Agreement, measure
from smilenn.guarding.net import guarded_net
from smilenn.model.folder import refuse_existing
from smilenn.properties.base import Property
from smilenn.properties.change import Fair
from smilenn.properties.forms import ROLES, Outputs, Role
from smilenn.provers.model import prove
from smilenn.verdict import Verdict

ROWS = 2000  # drawn from the domain where no rows are given


@dataclass(frozen=True, eq=False)
class Guard:
    """A guard and how much of the network it left.

    Attributes
    ----------
    model : a fitted `SmileRegressor`, or `SmileClassifier` of a network with two classes; save, predict, report.
    agreement : how far it agrees with the network on the rows given, or on rows drawn from the domain.
    folder : where it was saved; None if it was not.
    """

    model: SmileRegressor | SmileClassifier
    agreement: Agreement
    folder: Path | None = None

    @property
    def verdict(self) -> Verdict:
        """`Proved` once the checker has accepted the certificate."""
        return self.model.verdict_

    def to_json(self) -> dict[str, Any]:
        """For other programs."""
        folder = None if self.folder is None else str(self.folder)
        return {"status": self.verdict.status, "agreement": self.agreement.to_json(), "model": folder}


def guard(
    model: Any,
    claims: Property | Sequence[Property],
    domain: Domain,
    *,
    classes: Sequence[Any] | None = None,
    values: Mapping[str, Sequence[Any]] | None = None,
    rows: Any = None,
    out: str | Path | None = None,
    seed: int = 0,
) -> Guard:
    """Make a given network fair on the whole domain, certified, and move it as little as that takes.

    Parameters
    ----------
    model : the path of an ONNX file, a `torch.nn.Sequential`, or a scikit-learn MLP or pipeline.
    claims : one `Fair` with a positive ε; other rules are refused.
    domain : the inputs, in the order in which the network reads them.
    classes : the two classes that a network of one output decides between, the one of positive outputs last. The guard
        is then a classifier; scikit-learn's classifiers bring theirs.
    values : the values of protected numbers at which the network is to stay as it is if it is fair there; by default
        all whole ones. The certificate covers all other values as well.
    rows : a table to compare guard and network on; by default rows drawn from the domain with `seed`.
    out : a new folder to save the guard in.
    """
    fair = _the_rule(claims)
    network = read_network(model)
    check_names(model, domain)
    if domain.size != network.sizes[0]:
        have = f"the domain has {domain.size} ({listed(domain.coordinates, 4)})"
        raise SmileError(f"The network reads {network.sizes[0]} inputs, but {have}; give them in the network's order.")
    if out is not None:
        refuse_existing(Path(out))
    labels = _classes(model, network, classes)
    chosen = chosen_values(domain, values or {}, network.dtype)
    protected = [domain.feature(str(name)).name for name in fair.protected]
    outputs = _outputs(model, network, labels)
    estimator = _estimator(network, fair, domain, protected, chosen, labels, outputs)
    x, inside = _rows(estimator, rows, seed)
    words = compared_words(protected, chosen)
    agreement = measure(estimator.net_, _original(model, network), float(fair.eps), x, inside, words)
    agreement = replace(agreement, drawn=rows is None, decides=labels is not None or network.sizes[-1] > 1)
    if out is not None:
        estimator.save(out)
    return Guard(estimator, agreement, None if out is None else Path(out))


def _the_rule(claims: Property | Sequence[Property]) -> Fair:
    stated = [claims] if isinstance(claims, Property) else list(claims)
    if not stated:
        raise SmileError("Nothing is claimed: give one Fair property.")
    other = [item for item in stated if not isinstance(item, Fair)]
    if other:
        raise SmileError(f"A guard keeps Fair alone, not {type(other[0]).__name__}; fit a model for other rules.")
    if len(stated) > 1:
        raise SmileError("A guard keeps one Fair property; name all protected columns in it.")
    (fair,) = stated
    assert isinstance(fair, Fair)
    if fair.delta is not None or fair.output is not None:
        raise SmileError("A guard keeps Fair for all outputs and without delta; leave both out.")
    if not fair.eps > 0:
        raise SmileError("A guard needs an ε above 0; to ignore the protected columns, train without them.")
    return fair


def _classes(model: Any, network: DeepNet, given: Sequence[Any] | None) -> np.ndarray | None:
    """The two classes of a network of one output; None where it is not known to decide between two."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    own = getattr(last, "classes_", None)
    found = own if given is None else np.array(list(given))
    if given is not None and own is not None and class_names(own) != class_names(np.array(list(given))):
        raise SmileError(f"The model's own classes are {listed(own)}, in this order; leave out `classes`.")
    if found is None or (given is None and network.sizes[-1] > 1):
        return None
    if network.sizes[-1] != 1 or len(found) != 2 or len(set(class_names(found))) != 2:
        raise SmileError(f"classes are the two of a network with one output; this one has {network.sizes[-1]}.")
    return np.asarray(found)


def _outputs(model: Any, network: DeepNet, classes: np.ndarray | None) -> Outputs:
    """What the outputs are, for sentences: numbers, log-odds, or what scikit-learn's classifiers of several compute."""
    if network.sizes[-1] == 1:
        return Outputs(("",), () if classes is None else class_names(classes), role=_role(classes))
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not isinstance(last, MLPClassifier):
        return Outputs(tuple(f"y{i}" for i in range(network.sizes[-1])), role=ROLES["regression"])
    if last.out_activation_ == "logistic":
        return Outputs(tuple(f"label {i}" for i in range(network.sizes[-1])), role=ROLES["multilabel"])
    return Outputs(tuple(f"logit of {name}" for name in class_names(np.asarray(last.classes_))), role="output")


def _role(classes: np.ndarray | None) -> Role:
    return ROLES["regression"] if classes is None else "output"


def _estimator(
    network: DeepNet,
    fair: Fair,
    domain: Domain,
    protected: Sequence[str],
    values: Mapping[str, tuple[Fraction, ...]],
    classes: np.ndarray | None,
    outputs: Outputs,
) -> SmileRegressor | SmileClassifier:
    """The guard as a fitted estimator with its verdict."""
    start = perf_counter()
    estimator = (SmileRegressor if classes is None else SmileClassifier)(properties=[fair], missing="raise")
    net = guarded_net(network, domain, protected, fair.eps, values, outputs.names)
    estimator.net_, estimator.domain_ = net, net.domain
    estimator.columns_ = net.domain.columns
    estimator.feature_names_in_ = np.array(net.domain.columns, dtype=object)
    estimator.n_features_in_, estimator.n_iter_ = len(net.domain.columns), 0
    estimator.outputs_ = outputs
    if classes is not None:
        estimator.classes_ = classes
    estimator.fill_, estimator.usual_, estimator.target_name_ = {}, {}, ""
    estimator.history_, estimator.quality_, estimator.interrupted_, estimator.cut_short_ = [], None, False, ()
    estimator.reasons_ = "A given network, cut to a box around the middle of its own answers over the protected values."
    estimator.seed_, estimator.seconds_ = 0, perf_counter() - start
    estimator.claims_ = estimator.lower(estimator.all_properties())
    estimator.outside_ = outside_mode("auto", estimator.claims_, net.domain)
    estimator._conclude(prove(estimator), None)
    return estimator


def _rows(estimator: SmileEstimator, rows: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows as they are, and moved into the domain."""
    if rows is None:
        x = estimator.domain_.sample(ROWS, np.random.default_rng(seed))
        return x, x
    return estimator.read_rows(rows), estimator.encoded(rows)


def _original(model: Any, network: DeepNet) -> Callable[[np.ndarray], np.ndarray]:
    """The network as it is used: in onnxruntime where that is there, else by its own formula in float64."""

    def outputs(x: np.ndarray) -> np.ndarray:
        found = run_onnx(model, x) if isinstance(model, (str, Path)) else None
        return network(x.astype(network.dtype)) if found is None else np.asarray(found, dtype=np.float64)

    return outputs
