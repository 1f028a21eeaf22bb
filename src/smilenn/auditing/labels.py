"""`audit_labels`: can the protected input change the decision of a network with one output, and where can it not?

    changed    a pair of inputs, equal but for the protected one, with f > 0 at one and f ≤ 0 at the other (flip.py)
    settled    how many points of a whole-valued domain keep their label whatever the protected input is (share.py)

Both are in a folder that the checkers read; `settled` is what they count.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from smilenn.auditing.cells import domain_as_read
from smilenn.auditing.checked import check_labels
from smilenn.auditing.flip import Flip, FlipSearch
from smilenn.auditing.folder import described
from smilenn.auditing.importing import check_names, read_network
from smilenn.auditing.lowering import Bracket, chosen_values, compared_words, rows_of
from smilenn.auditing.network import DeepNet
from smilenn.auditing.share import ShareSearch
from smilenn.certify.check_deep import SHARE, WHOLE, ShareReport
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError, printable
from smilenn.properties.change import Fair

APART = 4  # values of a protected input that are bounded one by one; more are bounded as one range
FLIP_SHARE = 0.25  # of the time limit for the changed label, at least `FLIP_SECONDS`
FLIP_SECONDS = 2.0
ARITHMETIC = {"exact": "exact arithmetic"}  # where an output was computed, in words
RANGES = 12  # of an input, in the picture of where labels can change


@dataclass(frozen=True, eq=False)
class LabelAudit:
    """What is known of a network's decisions.

    Attributes
    ----------
    changed : a pair of inputs whose decisions differ, a row each in the domain's columns, with the outputs; or None.
    outputs : of the pair, by what computed them: exact arithmetic, the network's type, onnxruntime.
    points, settled : how many points there are, and how many of them the checker has found settled; 0 of inputs that
        are not whole numbers.
    flip_seconds, share_seconds : of the two searches, without the check.
    where : by input, edges of some ranges and which share of the points in each the search has settled.
    compared : which values of the protected input were compared, in words; empty where all were.
    """

    changed: pd.DataFrame | None
    outputs: Mapping[str, tuple[float, float]]
    points: int
    settled: int
    flip_seconds: float
    share_seconds: float
    certificate: Path | None = None
    check_seconds: float = 0.0
    where: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    compared: str = ""

    @property
    def share(self) -> float | None:
        """settled / points, rounded down; None where points cannot be counted."""
        return 10**9 * self.settled // self.points / 10**9 if self.points else None

    @property
    def status(self) -> str:
        """``violated`` by a pair, ``proved`` where every point is settled, else ``unknown``."""
        if self.changed is not None:
            return "violated"
        return "proved" if self.points and self.settled == self.points else "unknown"

    @property
    def exit_code(self) -> int:
        """0 proved, 1 violated, 3 unknown."""
        return {"proved": 0, "violated": 1, "unknown": 3}[self.status]

    def to_json(self) -> dict[str, Any]:
        """For other programs."""
        return {
            "status": self.status,
            "changed": None if self.changed is None else self.changed.to_dict(orient="records"),
            "outputs": {name: list(pair) for name, pair in self.outputs.items()},
            "points": self.points,
            "settled": self.settled,
            "share": self.share,
            "compared": self.compared,
            "seconds": {"changed": self.flip_seconds, "share": self.share_seconds, "check": self.check_seconds},
            "certificate": None if self.certificate is None else str(self.certificate),
        }

    def lines(self) -> list[str]:
        """The same as text."""
        if self.changed is None:
            out = [f"no changed label was found{self.compared}"]
        else:
            out = ["a changed label was found:", *(f"  {line}" for line in self.changed.to_string().split("\n"))]
            found = [(ARITHMETIC.get(name, name), *pair) for name, pair in self.outputs.items()]
            out += [f"  output in {where}: {a:.6g} and {b:.6g}" for where, a, b in found]
        return [printable(line) for line in (*out, self._share_line())]

    def _share_line(self) -> str:
        if not self.points:
            return "the share of settled inputs is counted where all inputs are whole numbers"
        whole, part = divmod(10**6 * self.settled // self.points, 10**4)
        count = f"{self.settled} of {self.points} points"
        return f"certified: {whole}.{part:04d} % of the domain keeps its label{self.compared} ({count})"


def audit_labels(
    model: Any,
    protected: str,
    domain: Domain,
    *,
    values: Mapping[str, Sequence[Any]] | None = None,
    time_limit: float = 10.0,
    out: str | Path | None = None,
    seed: int = 0,
) -> LabelAudit:
    """Look for a pair of inputs whose decision the protected input changes; certify where it changes none.

    Parameters
    ----------
    model : the path of an ONNX file, a `torch.nn.Sequential`, or a scikit-learn MLP or pipeline, with one output. It
        decides by its sign.
    protected : the feature that may change.
    domain : the inputs, in the order in which the network reads them. Points are counted if all are whole numbers.
    values : as in `audit`: the values of the protected feature; by default all.
    time_limit : seconds for the search.
    out : a new folder for the certificate, which `smile check` reads.
    """
    if not 0 <= time_limit < math.inf:
        raise SmileError(f"time_limit is {time_limit}; give a number of seconds.")
    net = read_network(model)
    if len(net.weights) < 2 or net.sizes[-1] != 1:
        raise SmileError(f"Labels are audited of networks with a hidden layer and one output, not {net.sizes}.")
    check_names(model, domain)
    feature, domain = domain.feature(protected), domain_as_read(domain, net.dtype)
    chosen = chosen_values(domain, values or {}, net.dtype)
    whole, compared = _whole(domain), compared_words([protected], chosen)
    if out is not None and not whole:
        raise SmileError("A certificate counts points of whole numbers; declare the inputs as integer or binary.")
    start = perf_counter()
    flip = _changed(net, model, domain, protected, values, max(FLIP_SECONDS, FLIP_SHARE * time_limit), seed)
    found = perf_counter()
    pair = None if flip is None else domain.decode(flip.x).set_axis(["a", "b"])
    outputs = {} if flip is None else flip.outputs
    if not whole:
        return LabelAudit(pair, outputs, 0, 0, found - start, 0.0, compared=compared)
    place = domain.slices[protected].start
    parts = [(int(v), int(v)) for v in chosen[protected]] if protected in chosen else _parts(feature)
    search = ShareSearch(net, domain.lo, domain.hi, place, parts)
    search.run(max(start + time_limit, found))
    spent = perf_counter() - found
    report, seconds = _checked(_statement(net, domain, place, parts, flip), net, search.proof(), out)
    if report.status not in ("certified", "violated", "unknown"):
        raise SmileError(f"The checker does not accept the share ({report.reason}); please report this.")
    folder = None if out is None else Path(out)
    names = [name for i, name in enumerate(domain.coordinates) if i != place]
    where = {name: search.along(domain.coordinates.index(name), RANGES) for name in names}
    counted = (report.points, report.settled)
    return LabelAudit(pair, outputs, *counted, found - start, spent, folder, seconds, where, compared)


def _whole(domain: Domain) -> bool:
    kinds = {feature.kind for feature in domain.features}
    return kinds <= {"integer", "binary"} and bool((np.abs([domain.lo, domain.hi]) <= WHOLE).all())


def _parts(feature: Feature) -> list[tuple[int, int]]:
    """The values of the protected feature, one by one if they are few."""
    least, most = int(feature.lo), int(feature.hi)
    return [(v, v) for v in range(least, most + 1)] if most - least < APART else [(least, most)]


def _changed(
    net: DeepNet, model: Any, domain: Domain, protected: str, values: Any, seconds: float, seed: int
) -> Flip | None:
    """A pair whose labels differ; premises of the rule in turn."""
    rows = rows_of([Bracket(Fair((protected,), 0))], domain, net, [""], values)
    end = perf_counter() + seconds
    for at, row in enumerate(rows):
        now = perf_counter()
        found = FlipSearch(net, model, row, seed).run(now + (end - now) / (len(rows) - at))
        if found is not None:
            return found
    return None


def _statement(
    net: DeepNet, domain: Domain, place: int, parts: Sequence[tuple[int, int]], flip: Flip | None
) -> dict[str, Any]:
    return {
        "format": "smilenn-share",
        "version": 1,
        "source": net.source,
        "network": described(net),
        "inputs": list(domain.coordinates),
        "lo": [int(v) for v in domain.lo],
        "hi": [int(v) for v in domain.hi],
        "protected": place,
        "parts": [list(part) for part in parts],
        "pair": None if flip is None else [[int(v) for v in x] for x in flip.x],
    }


def _checked(content: dict[str, Any], net: DeepNet, proof: bytes, out: str | Path | None) -> tuple[ShareReport, float]:
    """Write the folder, kept or not, and have it checked; seconds of the check."""
    content = content | {"proofs_sha256": hashlib.sha256(proof).hexdigest()}
    with TemporaryDirectory(prefix="smile-labels-") as temporary:
        folder = Path(temporary) if out is None else Path(out)
        if out is not None:
            folder.mkdir(parents=True)
        (folder / "network.bin").write_bytes(net.data())
        (folder / "proofs.bin").write_bytes(proof)
        (folder / SHARE).write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
        start = perf_counter()
        return check_labels(folder), perf_counter() - start
