"""smilenn: neural networks that provably obey a rule everywhere.

The public surface, loaded on first use (PEP 562): importing smilenn imports neither torch nor anything else slow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from smilenn._version import __version__

if TYPE_CHECKING:
    from smilenn.auditing.audit import Audit, audit, audit_vnnlib
    from smilenn.auditing.labels import LabelAudit, audit_labels
    from smilenn.auditing.lowering import Bracket
    from smilenn.auditing.two_networks import compare
    from smilenn.calibration import Calibration, calibrate
    from smilenn.certify.network import SavedNet, certify_net, open_net
    from smilenn.certify.signing import sign
    from smilenn.certify.verdicts import Certificate, check
    from smilenn.clusters.context import cluster
    from smilenn.deep.model import DeepModel, fit_deep, load_deep
    from smilenn.domain import Domain, Feature
    from smilenn.errors import AlteredError, SmileError
    from smilenn.estimators.certified_trees import certified_trees
    from smilenn.estimators.clamped import ClampedClassifier, ClampedRegressor
    from smilenn.estimators.classifier import SmileClassifier
    from smilenn.estimators.options import Columns, Network
    from smilenn.estimators.regressor import SmileRegressor
    from smilenn.estimators.store import load
    from smilenn.guarding.guard import Guard, guard
    from smilenn.model.net import SmileNet
    from smilenn.progress import Progress
    from smilenn.properties import (
        Bounded,
        Claim,
        Concave,
        Convex,
        Custom,
        Dominates,
        Exclusive,
        Fair,
        Lipschitz,
        LocalRobust,
        Monotone,
        OneOf,
        Ordered,
        Property,
        Robust,
        Safe,
        SumAtMost,
        Symmetric,
        UnregisteredWarning,
        register_property,
    )
    from smilenn.provers.model import prove
    from smilenn.provers.prover import Prover
    from smilenn.reason import Reason
    from smilenn.train.config import Config
    from smilenn.train.fit import Fit, fit
    from smilenn.verdict import Counterexample, Proved, Rejected, Unknown, Verdict, Violated
    from smilenn.versions import show_versions

_HOME = {
    "smilenn.auditing.audit": ("Audit", "audit", "audit_vnnlib"),
    "smilenn.auditing.labels": ("LabelAudit", "audit_labels"),
    "smilenn.auditing.lowering": ("Bracket",),
    "smilenn.auditing.two_networks": ("compare",),
    "smilenn.calibration": ("Calibration", "calibrate"),
    "smilenn.certify.network": ("SavedNet", "certify_net", "open_net"),
    "smilenn.certify.signing": ("sign",),
    "smilenn.certify.verdicts": ("Certificate", "check"),
    "smilenn.clusters.context": ("cluster",),
    "smilenn.deep.model": ("DeepModel", "fit_deep", "load_deep"),
    "smilenn.domain": ("Domain", "Feature"),
    "smilenn.errors": ("AlteredError", "SmileError"),
    "smilenn.estimators.certified_trees": ("certified_trees",),
    "smilenn.estimators.clamped": ("ClampedClassifier", "ClampedRegressor"),
    "smilenn.estimators.classifier": ("SmileClassifier",),
    "smilenn.estimators.options": ("Columns", "Network"),
    "smilenn.estimators.regressor": ("SmileRegressor",),
    "smilenn.estimators.store": ("load",),
    "smilenn.guarding.guard": ("Guard", "guard"),
    "smilenn.model.net": ("SmileNet",),
    "smilenn.progress": ("Progress",),
    "smilenn.properties": (
        "Bounded",
        "Claim",
        "Concave",
        "Convex",
        "Custom",
        "Dominates",
        "Exclusive",
        "Fair",
        "Lipschitz",
        "LocalRobust",
        "Monotone",
        "OneOf",
        "Ordered",
        "Property",
        "Robust",
        "Safe",
        "SumAtMost",
        "Symmetric",
        "UnregisteredWarning",
        "register_property",
    ),
    "smilenn.provers.model": ("prove",),
    "smilenn.provers.prover": ("Prover",),
    "smilenn.reason": ("Reason",),
    "smilenn.verdict": ("Counterexample", "Proved", "Rejected", "Unknown", "Verdict", "Violated"),
    "smilenn.train.config": ("Config",),
    "smilenn.train.fit": ("Fit", "fit"),
    "smilenn.versions": ("show_versions",),
}
# what people look for under another name, and what to use instead
_INSTEAD = {
    "certify": "call certify() of a fitted estimator, or smilenn.certify_net for a network of your own",
    "load_net": "smilenn.open_net reads a network and checks its certificate",
    "save": "fitted estimators have save(); smilenn.certify_net writes a network of your own",
    "save_net": "smilenn.certify_net writes a network with its certificate",
    "register": "smilenn.register_property registers a property of your own",
    "Solver": "import it from smilenn.provers.mip.solvers",
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "AlteredError",
    "Audit",
    "Bounded",
    "Bracket",
    "Calibration",
    "Certificate",
    "Claim",
    "ClampedClassifier",
    "ClampedRegressor",
    "Columns",
    "Concave",
    "Config",
    "Convex",
    "Counterexample",
    "Custom",
    "DeepModel",
    "Domain",
    "Dominates",
    "Exclusive",
    "Fair",
    "Feature",
    "Fit",
    "Guard",
    "LabelAudit",
    "Lipschitz",
    "LocalRobust",
    "Monotone",
    "Network",
    "OneOf",
    "Ordered",
    "Progress",
    "Property",
    "Proved",
    "Prover",
    "Reason",
    "Rejected",
    "Robust",
    "Safe",
    "SavedNet",
    "SmileClassifier",
    "SmileError",
    "SmileNet",
    "SmileRegressor",
    "SumAtMost",
    "Symmetric",
    "Unknown",
    "UnregisteredWarning",
    "Verdict",
    "Violated",
    "__version__",
    "audit",
    "audit_labels",
    "audit_vnnlib",
    "calibrate",
    "certified_trees",
    "certify_net",
    "check",
    "cluster",
    "compare",
    "fit",
    "fit_deep",
    "guard",
    "load",
    "load_deep",
    "open_net",
    "prove",
    "register_property",
    "show_versions",
    "sign",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        hint = f"; {_INSTEAD[name]}" if name in _INSTEAD else ""
        raise AttributeError(f"module 'smilenn' has no attribute {name!r}{hint}")
    value = getattr(import_module(_MODULE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(__all__) | set(globals()))
