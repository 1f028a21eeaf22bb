"""Estimators on disk: a model folder, see `smilenn.model.bundle`, with five documents beside the weights.

    model.json        the network, how a table becomes its inputs, the estimator's parameters
    properties.json   the properties as the user stated them, and the exact claims they became
    verdict.json      a note of the verdict when it was saved; nobody believes it
    history.json      the course of the training
    certificate.*     the proof in exact numbers, where there is one

A loaded model is proved as far as the checker accepts its certificate at that moment, and unknown otherwise.

Everything but a `backbone` is restored; a network with a backbone of the user's own, a function or an estimator, gets
it from `load`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smilenn.certify.certificate import BINARY_NAME, JSON_NAME
from smilenn.errors import AlteredError, SmileError, listed, printable
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.kept import from_json, to_json
from smilenn.estimators.options import network_of
from smilenn.estimators.recall import recall
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.tabled import take_table
from smilenn.model.answers import is_estimator
from smilenn.model.bundle import MODEL, load_net, save_net
from smilenn.model.folder import dump_json, parse_json, read_folder, without_infinities, write_folder
from smilenn.problem import digest
from smilenn.properties.claim import Claim
from smilenn.properties.spec import as_property
from smilenn.properties.unregistered import (
    UnregisteredWarning,
    properties_document,
    unregistered_note,
)
from smilenn.provers.record import verdict_from_json, verdict_to_json
from smilenn.report.standing import Standing
from smilenn.verdict import Proved, Violated

if TYPE_CHECKING:
    from torch import nn

PROPERTIES, VERDICT, HISTORY = "properties.json", "verdict.json", "history.json"
CERTIFICATE = (JSON_NAME, BINARY_NAME)
CLASSES: dict[str, type[SmileEstimator]] = {"SmileRegressor": SmileRegressor, "SmileClassifier": SmileClassifier}


def save(
    estimator: SmileEstimator, folder: Path | str, *, overwrite: bool = False, also: Mapping[str, Any] | None = None
) -> None:
    """Save a fitted estimator; an existing folder is refused unless `overwrite`.

    `also` are further JSON documents by file name, which the manifest binds and `load` does not read.
    """
    estimator._check_fitted()
    learned: dict[str, Any] = {
        "seed": estimator.seed_,
        "seconds": estimator.seconds_,
        "interrupted": estimator.interrupted_,
        "n_iter": estimator.n_iter_,
        "reasons": estimator.reasons_,
        "quality": None if estimator.quality_ is None else estimator.quality_.to_json(),
        **({"image": True} if vars(estimator).get("image_") else {}),
        **({"left_out": dict(gone)} if (gone := vars(estimator).get("left_out_")) else {}),
    }
    model = {"estimator": type(estimator).__name__, "params": to_json(estimator), "table": estimator.table()}
    documents = {
        PROPERTIES: _document(estimator),
        VERDICT: verdict_document(estimator),
        HISTORY: without_infinities(estimator.history_),
        **(also or {}),
    }
    save_net(
        folder,
        estimator.net_,
        model={**model, "learned": learned},
        documents=documents,
        extra=_certificate(estimator),
        overwrite=overwrite,
    )


def _document(estimator: SmileEstimator) -> dict[str, Any]:
    """The content of properties.json: the properties, and the claims they became when the model was fitted."""
    properties = [as_property(item) for item in estimator.complete(estimator.all_properties())]
    lowered = [estimator.lower([item]) for item in properties]
    if tuple(claim for claims in lowered for claim in claims) != estimator.claims_:
        raise SmileError("The properties were changed after fit, so they are not the fitted model's; fit it again.")
    ends = [sum(map(len, lowered[:i])) for i in range(len(lowered) + 1)]  # claims_ has the comments of the fit
    return properties_document(properties, [estimator.claims_[start:end] for start, end in pairwise(ends)])


def _certificate(estimator: SmileEstimator) -> dict[str, bytes]:
    """The certificate's files, accepted or not: what the verdict says can be checked from them.

    The word "certified" is never saved without the files it stands for.
    """
    if estimator.certificate_ is not None and estimator.certificate_.report.version == 1:
        raise SmileError("The model carries a certificate of format version 1; call certify() and save it then.")
    verdict, certificate = estimator.verdict_, estimator.certificate_
    carried = "" if certificate is None else certificate.sha256
    if isinstance(verdict, Proved) and verdict.certificate not in ("", carried):
        raise SmileError("The verdict refers to a certificate that the estimator does not have; call certify() again.")
    return {} if certificate is None else dict(certificate.files)


def load(
    folder: Path | str,
    *,
    backbone: nn.Module | Callable[[int, int], nn.Module] | Any = None,
    modules: Mapping[str, nn.Module] | None = None,
) -> SmileRegressor | SmileClassifier:
    """The estimator that was saved as `folder`; every file is checked against its hash.

    `backbone` is that of an estimator that was fitted with one of the user's own, as `fit` took it, a function (inputs,
    embedding) → module, or the module itself, or the fitted estimator that was its `backbone_`, which must answer what
    it answered when the model was saved; `modules` are the user's own pinned modules of its encoder by the names
    of their branches. Their weights are overwritten.
    A certificate is checked again: "certified" is what the checker says now, and a model without one is unknown
    whatever was noted when it was saved. A missing or unreadable file raises `SmileError`; a changed one, or a
    certificate of another model or other claims, raises `AlteredError`.

    A property whose class is not registered in this program (`register_property`) is loaded as the claims that it
    became, with an `UnregisteredWarning`: what is certified stays certified, of the claims as they are written.
    """
    folder = Path(folder)
    net, documents = load_net(folder, backbone=backbone, modules=modules)
    if "estimator" not in documents[MODEL]:
        raise SmileError(f"{str(folder)!r} holds a network without an estimator; open it with smilenn.open_net.")
    for name in (PROPERTIES, VERDICT, HISTORY):
        if name not in documents:
            raise SmileError(f"The file {name!r} is missing in {str(folder)!r}; save the model again.")
    model = documents[MODEL]
    try:
        if model["estimator"] not in CLASSES:
            raise SmileError(f"{str(folder)!r} holds a {model['estimator']}; this version knows {listed(CLASSES)}.")
        params = from_json(model["params"], documents[PROPERTIES], net.encoder)
        if is_estimator(backbone):
            params["network"] = network_of(params["network"]).changed(backbone=backbone)
        estimator = CLASSES[model["estimator"]](**params)
        learned = model["learned"]
        estimator.net_, estimator.domain_ = net, net.domain
        estimator.claims_ = tuple(Claim.from_json(claim) for claim in documents[PROPERTIES]["claims"])
        noted = verdict_from_json(documents[VERDICT], str(folder / VERDICT))
        estimator.history_ = documents[HISTORY]
        estimator.seed_, estimator.seconds_ = learned["seed"], learned["seconds"]
        estimator.interrupted_ = learned["interrupted"]
        estimator.n_iter_ = learned.get("n_iter", len(documents[HISTORY]))
        estimator.reasons_ = printable(str(learned.get("reasons", "")))
        estimator.image_ = bool(learned.get("image", False))
        gone = dict(learned.get("left_out", {}))
        estimator.left_out_ = {printable(str(name)): printable(str(why)) for name, why in gone.items()}
        quality = learned.get("quality")
        estimator.quality_ = found = None if quality is None else Standing.from_json(quality)
        estimator.cut_short_ = () if found is None else found.cut
        first = {"task": model.get("task", ""), **learned}  # as version 1 had it
        take_table(estimator, model.get("table", first), net.outputs)
        stated = estimator.lower(estimator.all_properties())
        if stated != estimator.claims_:  # whatever their sentences say
            raise AlteredError(
                f"{str(folder / PROPERTIES)!r} states properties that are not its claims; save the model again."
            )
        estimator._conclude_with(recall(folder, estimator, noted, JSON_NAME in documents))
        if note := unregistered_note(documents[PROPERTIES]):
            warnings.warn(f"{str(folder)!r}: {note}", UnregisteredWarning, stacklevel=2)
    except SmileError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        why = str(error).split("\n")[0]
        raise SmileError(
            f"{str(folder)!r} does not describe an estimator ({why}); save it again, or open the bare network with "
            "smilenn.open_net."
        ) from None
    return estimator  # type: ignore[return-value]


def verdict_document(estimator: SmileEstimator) -> dict[str, Any]:
    """The content of verdict.json: the verdict and the digests of the weights and claims it is about.

    A verdict on other weights than the network has now, or on other claims, is an error.
    """
    verdict = estimator._judgement.verdict
    weights = estimator.net_.snapshot().digest
    claims = tuple(digest(claim, estimator.domain_) for claim in estimator.claims_)
    final = isinstance(verdict, (Proved, Violated))
    if verdict.weights != weights and (final or verdict.weights):
        raise SmileError("The network was changed after its verdict; call certify() and save it then.")
    if final and verdict.claims != claims:
        raise SmileError("The verdict is about other claims than the estimator's; call certify() before you save it.")
    return verdict_to_json(verdict) | {"weights": weights, "claims": list(claims)}


def replace_verdict(folder: Path | str, estimator: SmileEstimator) -> None:
    """Write the estimator's verdict and certificate and the manifest into its model folder as one step.

    An older certificate does not stay beside a new verdict.
    """
    files = {name: data for name, data in read_folder(folder).items() if name not in CERTIFICATE}
    model = parse_json(files[MODEL], MODEL) | {"table": estimator.table()}  # folders of version 1 have none
    files |= {MODEL: dump_json(model), VERDICT: dump_json(verdict_document(estimator)), **_certificate(estimator)}
    write_folder(folder, files, overwrite=True)
