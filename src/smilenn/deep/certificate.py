"""From a trained centre to a certified box: bound every row, shrink the centre where it needs that, widen the box.

    bound_r ≥ max Σ_c a_c·centre(x_c)      s = min(1, MOST·room_r / bound_r)      w = min_r (room_r − bound_r) / reach_r

Shrinking the centre about the target's mean by s shrinks the bounds by s. Widening the box moves every bound by w·reach
and leaves the proofs as they are. What counts is what the checker says of the files afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from smilenn.auditing.attack import Attack
from smilenn.auditing.audit import prove_row
from smilenn.auditing.checked import check_audit
from smilenn.auditing.folder import ProvedRow, described, entry, write_folder
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.certify.check_deep import OWN, Report, sha256
from smilenn.deep.ends import OUTPUTS, boxed_row, claimed_rows, ends_from, ends_of, order_row
from smilenn.domain import Domain
from smilenn.errors import AlteredError, SmileError
from smilenn.model.folder import parse_json
from smilenn.properties.base import Property

MOST = 0.8  # of a row's room that the centre may take
TRIES = 4
Layers = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Box:
    """A box that the checker has accepted: the ends, their proofs, and what was done to the centre for it."""

    ends: DeepNet
    rows: tuple[ProvedRow, ...]
    report: Report
    width: float
    shrunk: float
    seconds: float
    check_seconds: float


def certified_box(layers: Layers, mean: float, rows: Sequence[Row], domain: Domain, time_limit: float) -> Box:
    """The widest box around a centre, given in the user's units, for which the checker accepts every row."""
    start, shrunk = perf_counter(), 1.0
    boxed = [boxed_row(row) for row in rows]
    rooms = [float(row.rhs) - mean * float(sum(a for copy in row.weights for a in copy)) for row in boxed]  # type: ignore[arg-type]
    reaches = [float(sum(abs(a) for copy in row.weights for a in copy)) / 2 for row in boxed]
    for _ in range(TRIES):
        proved, bounds = _bounded(ends_of(layers, 0.0, domain), boxed, domain, time_limit)
        offsets = [float(row.rhs) - room for row, room in zip(boxed, rooms, strict=True)]  # type: ignore[arg-type]
        taken = [bound - offset for bound, offset in zip(bounds, offsets, strict=True)]
        factor = min([1.0, *(MOST * room / take for room, take in zip(rooms, taken, strict=True) if take > 0)])
        if factor > 0.99:
            width = min((room - take) / reach for room, take, reach in zip(rooms, taken, reaches, strict=True))
            return _checked(layers, width, proved, domain, shrunk, perf_counter() - start)
        layers, shrunk = shrink(layers, mean, factor * 0.999), shrunk * factor * 0.999
    raise SmileError("The centre of the box could not be bounded closely enough; train again with another seed.")


def shrink(layers: Layers, mean: float, factor: float) -> Layers:
    """The centre moved towards a constant."""
    *hidden, (weight, bias) = layers
    return [*hidden, (weight * factor, mean + (bias - mean) * factor)]


def _bounded(
    net: DeepNet, rows: Sequence[Row], domain: Domain, time_limit: float
) -> tuple[list[ProvedRow], list[float]]:
    """Proofs of rows that ask for a bracket, and the bounds that the checker finds in them."""
    out = []
    for row in rows:
        until = perf_counter() + time_limit / len(rows)
        out.append(prove_row(net, replace(row, rhs=None), OUTPUTS, until))
    with TemporaryDirectory(prefix="smile-deep-") as place:
        write_folder(Path(place), net, OUTPUTS, out)
        report = check_audit(place)
    if not report.rows:
        raise SmileError(f"The checker does not accept the bounds of the box ({report.reason}); please report this.")
    proved = [replace(one, row=row) for one, row in zip(out, rows, strict=True)]
    return proved, [float(row.computed) for row in report.rows]


def _checked(
    layers: Layers, width: float, proved: Sequence[ProvedRow], domain: Domain, shrunk: float, seconds: float
) -> Box:
    """The box of this width, or a little less, as the checker accepts it."""
    order = order_row(domain)
    for taken_back in (2.0**-30, 2.0**-20, 2.0**-10):
        ends = ends_of(layers, width * (1 - taken_back), domain)
        first = Attack(ends, order).run(Fraction(-(10**9)))
        assert first is not None
        rows = (*proved, ProvedRow(order, first.x, bytes([OWN])))
        with TemporaryDirectory(prefix="smile-deep-") as place:
            start = perf_counter()
            write_folder(Path(place), ends, OUTPUTS, rows)
            report = check_audit(place)
        if report.status == "certified":
            return Box(ends, rows, report, width, shrunk, seconds, perf_counter() - start)
    raise SmileError(f"The checker does not accept the box ({report.status}: {report.reason}); please report this.")


def checked_ends(
    folder: Path, statement: bytes, weights: bytes, properties: Sequence[Property], domain: Domain
) -> DeepNet:
    """The ends that a folder's certificate is about; refused if the checker does not accept it for these rules."""
    report = check_audit(folder)
    if report.status != "certified":
        raise AlteredError(f"The checker does not accept the certificate of {folder}: {report.status} {report.reason}.")
    if (report.certificate, report.network) != (sha256(statement), sha256(weights)):
        raise AlteredError(f"{folder} was changed while it was read; load it again.")
    content = parse_json(statement, "audit.json")
    wanted = [*(boxed_row(row) for row in claimed_rows(properties, domain)), order_row(domain)]
    names = {"inputs": list(domain.coordinates), "outputs": list(OUTPUTS)}
    about = [_claimed(entry(ProvedRow(row, np.zeros((2, 0)), b""))) for row in wanted]
    if [_claimed(row) for row in content["rows"]] != about or any(content[key] != names[key] for key in names):
        raise AlteredError(f"The certificate of {folder} is about other rules than the folder's model names.")
    ends = ends_from(content["network"]["sizes"], np.frombuffer(weights, dtype="<f8"), domain)
    if described(ends) != content["network"]:
        raise AlteredError(f"The certificate of {folder} is about inputs that are scaled otherwise.")
    return ends


def _claimed(row: dict[str, Any]) -> dict[str, Any]:
    """What a stored row claims, without what the search found for it."""
    return {key: value for key, value in row.items() if key not in ("witness", "proof")}
