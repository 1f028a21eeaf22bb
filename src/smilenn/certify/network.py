"""A network of your own, with a certificate, as a model folder: from any training loop to `smile check` and back.

    certify_net(net, properties, folder)   emit proofs ─▶ check ─▶ write ─▶ check what was written
    open_net(folder)                       read ─▶ check

The verdict is what the checker says of the files, in a process of its own, and of nothing else: no prover's word, no
note in the folder. It is withdrawn where the network was changed since.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smilenn.certify.about import About, assumptions
from smilenn.certify.certificate import JSON_NAME, model_digest
from smilenn.certify.certify import certify
from smilenn.certify.stated import PROPERTIES, first_digest
from smilenn.certify.verdicts import Certificate, examine
from smilenn.certify.verdicts import verdict as checked_verdict
from smilenn.errors import AlteredError, SmileError
from smilenn.model.bundle import MODEL, certified_tensors, has_pinned, load_net, save_net
from smilenn.model.folder import read_manifest, refuse_existing
from smilenn.problem import digest
from smilenn.progress import Progress
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.properties.spec import as_property
from smilenn.properties.unregistered import (
    UnregisteredWarning,
    properties_document,
    stated_properties,
    unregistered_note,
)
from smilenn.reason import Reason, Whys, because
from smilenn.verdict import Rejected, Unknown, Verdict

if TYPE_CHECKING:
    from torch import nn

    from smilenn.model.net import SmileNet
    from smilenn.model.seal import Seal


@dataclass(frozen=True, eq=False)
class SavedNet:
    """A network and what the checker says of its folder.

    Attributes
    ----------
    net : the network, ready to predict: ``net.predict(x)`` of raw inputs x [B, m].
    properties : what the folder states.
    claims : the exact claims that these became.
    certificate : with its files, the checker's report and `statement`; None where nothing was checked.
    why : the reasons why there is no certificate.
    """

    net: SmileNet
    properties: tuple[Property, ...]
    claims: tuple[Claim, ...]
    certificate: Certificate | None
    why: Whys = ()
    _table: Mapping[str, Any] | None = field(default=None, repr=False)
    _sealed: Seal | None = field(default=None, repr=False)
    _checked: tuple[Claim, ...] = field(default=(), repr=False)  # the claims as the checker read them

    @property
    def verdict(self) -> Verdict:
        """`Proved` (certified), or `Unknown` with the bound that was checked; of a changed network nothing is known."""
        if self.certificate is None:
            return Unknown(why=self.why)
        from smilenn.model.seal import seal

        taken = seal(self.net)
        if taken is None or self._sealed is None or not taken.matches(self._sealed):
            return Unknown(why=because(Reason.CHANGED_NET))
        if not self._checked == self.certificate.claims == self.claims:
            return Unknown(why=because(Reason.OTHER_CLAIMS))
        weights = self.net.snapshot().digest
        claims = tuple(digest(claim, self.net.domain) for claim in self.claims)
        return replace(checked_verdict(self.certificate), weights=weights, claims=claims)


def certify_net(
    net: SmileNet,
    properties: Sequence[Any],
    folder: Path | str,
    *,
    time_limit: float = 60.0,
    overwrite: bool = False,
    callback: Callable[[Progress], None] | None = None,
) -> SavedNet:
    """Prove properties of a network as it is, write it with its certificate as a model folder, and check that folder.

    Parameters
    ----------
    net : a `SmileNet`, however it was trained; its weights are not changed.
    properties : properties or claims.
    folder : where to write; an existing model folder is refused unless `overwrite`.
    time_limit : seconds for the search for proofs.
    callback : told before every claim.

    The folder is written whatever was found: a network whose properties are not proved is `Unknown`, with the bound
    that was checked. ``smilenn.prove(net, properties)`` looks for counterexamples.
    """
    from smilenn.model.net import SmileNet

    if not isinstance(net, SmileNet):
        raise SmileError(f"certify_net takes a SmileNet, not {type(net).__name__}; estimators have certify and save.")
    stated = [as_property(item) for item in properties]
    if not stated:
        raise SmileError("There is nothing to certify: give at least one property.")
    if not overwrite:
        refuse_existing(Path(folder))
    _refuse_unfit(net)
    lowered = [item.lower(net.domain, net.outputs) for item in stated]
    claims = tuple(claim for part in lowered for claim in part)
    certificate = certify(net, claims, time_limit=time_limit, callback=callback)
    checked = bool(certificate.report.claims)
    save_net(
        folder,
        net,
        documents={PROPERTIES: properties_document(stated, lowered)},
        extra=certificate.files if checked else {},
        overwrite=overwrite,
    )
    if not checked:
        return SavedNet(net, tuple(stated), claims, None, certificate.why)
    found = found_certificate(Path(folder), net)
    if not isinstance(found, Certificate):
        return SavedNet(net, tuple(stated), claims, None, found)
    if found.claims != claims:
        raise AlteredError(f"{str(folder)!r} was changed while it was written; certify the network again.")
    found = replace(found, notes=certificate.notes, seconds=certificate.seconds, interrupted=certificate.interrupted)
    explained, sealed = _explained(found, net, claims), _sealed(net, found, None)
    return SavedNet(net, tuple(stated), claims, explained, _sealed=sealed, _checked=found.claims)


def open_net(
    folder: Path | str,
    *,
    backbone: nn.Module | Callable[[int, int], nn.Module] | None = None,
    modules: Mapping[str, nn.Module] | None = None,
) -> SavedNet:
    """The network of a model folder, of `certify_net` or of an estimator, and what the checker says of it now.

    `backbone` and `modules` are the user's own, as in `load`; their weights are overwritten with the saved ones.
    A missing or unreadable file raises `SmileError`; a changed one, or a certificate that does not check, raises
    `AlteredError`. A property whose class is not registered here is kept as its claims, with an `UnregisteredWarning`.
    """
    folder = Path(folder)
    net, documents = load_net(folder, backbone=backbone, modules=modules)
    document = documents.get(PROPERTIES)
    if document is None:
        raise SmileError(f"The file {PROPERTIES!r} is missing in {str(folder)!r}; save it with certify_net.")
    try:
        properties = stated_properties(document)
        claims = tuple(Claim.from_json(claim) for claim in document["claims"])
        note = unregistered_note(document)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        why = str(error).split("\n")[0].rstrip(".")
        raise SmileError(f"{str(folder / PROPERTIES)!r} states no properties that can be read ({why}).") from None
    if note:
        warnings.warn(f"{str(folder)!r}: {note}", UnregisteredWarning, stacklevel=2)
    found = found_certificate(folder, net) if JSON_NAME in documents else because(Reason.NOT_CHECKED)
    if not isinstance(found, Certificate):
        return SavedNet(net, properties, claims, None, found)
    table = documents[MODEL].get("table")
    if found.report.version == 1:
        same, found = _first(found, net, table)
    else:
        same = found.model == _digest(net, table)
    if not same or found.claims != claims:
        raise AlteredError(f"{str(folder)!r} was changed while it was read; open it again.")
    sealed = _sealed(net, found, table)
    explained, checked = _explained(found, net, claims), found.claims
    return SavedNet(net, properties, claims, explained, _table=table, _sealed=sealed, _checked=checked)


def found_certificate(folder: Path, net: SmileNet) -> Certificate | Whys:
    """The certificate of a folder as the checker finds it now, or why there is none that counts."""
    if has_pinned(net) and read_manifest(folder)["version"] == 1:
        return because(Reason.FIRST_PINNED)
    found = examine(folder)
    if isinstance(found, Rejected):
        raise AlteredError(f"The certificate in {str(folder)!r} does not check: {found.reason}; fit the model again.")
    return found.why if isinstance(found, Unknown) else found


def _refuse_unfit(net: SmileNet) -> None:
    """Raise where proofs would be about another function than the network computes."""
    from smilenn.model.seal import foreign_part
    from smilenn.model.selftest import batch_dependent

    if reason := foreign_part(net):
        raise SmileError(f"The network cannot be certified: {reason}.")
    net.assert_float64()
    if reason := batch_dependent(net):
        raise SmileError(f"The network cannot be certified: {reason}.")


def _first(found: Certificate, net: SmileNet, table: Mapping[str, Any] | None) -> tuple[bool, Certificate]:
    """A certificate of version 1, checked under the digest of its time and named by the present one."""
    same = found.model == first_digest(net.describe(), certified_tensors(net))
    return same, replace(found, model=_digest(net, table))


def _sealed(net: SmileNet, certificate: Certificate, table: Mapping[str, Any] | None) -> Seal | None:
    """A seal on the network that the certificate names and that is as it is described; None if it is another."""
    from smilenn.model.seal import is_as_described, seal

    taken = seal(net)
    return taken if certificate.model == _digest(net, table) and is_as_described(net) else None


def _explained(certificate: Certificate, net: SmileNet, claims: tuple[Claim, ...]) -> Certificate:
    """The certificate with the domain and the comments of the claims, for its statement."""
    about = About(None, net.domain, assumptions(pinned=has_pinned(net)))
    return replace(certificate, claims=claims, about=about)


def _digest(net: SmileNet, table: Mapping[str, Any] | None) -> str:
    return model_digest(net.describe(), certified_tensors(net), table)
