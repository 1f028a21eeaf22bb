"""`audit`: how large the left side of every row of a claim can be on a given network, as a checked bracket.

    found ≤ max Σ_c a_c·f(x_c) ≤ proved

`found` is reached by a pair of inputs, replayed in exact arithmetic and in the network's own. `proved` is what the
checker accepts, in a process of its own, from the files alone: the search may be wrong, the bound not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from smilenn.auditing.attack import Attack
from smilenn.auditing.checked import check_audit
from smilenn.auditing.emit import write_proof
from smilenn.auditing.folder import ProvedRow, described, entry, write_folder
from smilenn.auditing.importing import read_network
from smilenn.auditing.lowering import Bracket, rows_of
from smilenn.auditing.network import DeepNet
from smilenn.auditing.replay import replays
from smilenn.auditing.rows import Row
from smilenn.auditing.search import Search
from smilenn.certify import check_deep
from smilenn.certify.check_deep import RowReport
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim

GAP = 1e-3  # proved − found, relative to found, at which a bracket counts as closed


@dataclass(frozen=True, eq=False)
class AuditedRow:
    """One row's bracket.

    Attributes
    ----------
    row : the inequality in words.
    found : the left side at `pair`, exact.
    proved : the checked bound for the values that the network computes in its own arithmetic.
    real : the checked bound without any rounding; `proved` − `real` is what rounding may add.
    status : ``proved``, ``violated`` or ``unknown``; without a right side ``proved`` once the bracket is closed.
    seconds : of the search, without the check.
    pair : the inputs a and b, in the domain's columns, one row each.
    replayed : the left side at the pair, by what computed it.
    """

    row: str
    found: Fraction
    proved: Fraction
    real: Fraction
    rhs: Fraction | None
    status: str
    seconds: float
    pair: pd.DataFrame
    replayed: Mapping[str, float]
    leaves: int

    def to_json(self) -> dict[str, Any]:
        """For other programs; numbers as floats, `proved` rounded up and `found` down."""
        return {
            "row": self.row,
            "found": below(self.found),
            "proved": above(self.proved),
            "real": above(self.real),
            "rhs": None if self.rhs is None else float(self.rhs),
            "status": self.status,
            "seconds": self.seconds,
            "pair": self.pair.to_dict(orient="records"),
            "replayed": dict(self.replayed),
            "leaves": self.leaves,
        }


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found: a bracket for every row, and the folder that a checker accepts (None: not kept)."""

    rows: tuple[AuditedRow, ...]
    network: str
    certificate: Path | None
    check_seconds: float
    size: int

    @property
    def status(self) -> str:
        """The worst of its rows: ``violated``, ``unknown`` or ``proved``."""
        states = {row.status for row in self.rows}
        return next((state for state in ("violated", "unknown") if state in states), "proved")

    @property
    def exit_code(self) -> int:
        """0 proved, 1 violated, 3 unknown."""
        return {"proved": 0, "violated": 1, "unknown": 3}[self.status]

    def to_json(self) -> dict[str, Any]:
        """For other programs."""
        where = None if self.certificate is None else str(self.certificate)
        rows = [row.to_json() for row in self.rows]
        return {
            "status": self.status,
            "rows": rows,
            "certificate": where,
            "network": self.network,
            "check_seconds": self.check_seconds,
            "bytes": self.size,
        }

    def lines(self) -> list[str]:
        """The brackets as text."""
        out = []
        for row in self.rows:
            rounding = float(row.proved - row.real)
            out.append(f"{row.row}: {row.status}")
            out.append(
                f"  found {below(row.found):.6g}, proved {above(row.proved):.6g} ({rounding:.2g} of it rounding)"
            )
            out += [f"  {line}" for line in row.pair.to_string().splitlines()]
        return out


def audit(
    model: Any,
    claims: Property | Claim | Bracket | Sequence[Property | Claim | Bracket],
    domain: Domain,
    *,
    outputs: Sequence[str] | None = None,
    values: Mapping[str, Sequence[Any]] | None = None,
    time_limit: float = 60.0,
    decide: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
) -> Audit:
    """Bracket the left side of every row that the claims make about a network, and certify the bracket.

    Parameters
    ----------
    model : the path of an ONNX file, a `torch.nn.Sequential`, or a scikit-learn MLP or pipeline.
    claims : properties on the domain; `Bracket(property)` asks for the bracket alone.
    domain : the inputs, in the order in which the network reads them.
    outputs : names of the outputs; by default one output is called ``''``, several ``y0, y1, …``.
    values : the values of features that differ between the copies, such as ``{"age": (25, 60)}``; other values are
        then not compared.
    time_limit : seconds for the search over all rows. Whenever it ends, the brackets hold.
    decide : stop a row once its right side is decided, rather than at a closed bracket.
    out : a new folder for the certificate, which `smile check` reads.
    """
    if not 0 <= time_limit < float("inf"):
        raise SmileError(f"time_limit is {time_limit}; give a number of seconds.")
    net = read_network(model)
    if len(net.weights) < 2:
        raise SmileError("The network has no hidden layer; audits are about networks with at least one.")
    names = _outputs(net, outputs)
    stated = [claims] if isinstance(claims, (Property, Claim, Bracket)) else list(claims)
    rows = rows_of(stated, domain, net, names, values)
    folder = None if out is None else Path(out)
    if folder is not None:
        folder.mkdir(parents=True)
    end, done = perf_counter() + time_limit, []
    for number, row in enumerate(rows):
        start = perf_counter()
        until = start + (end - start) / (len(rows) - number)
        done.append((prove_row(net, row, names, until, decide=decide, seed=seed), perf_counter() - start))
    with TemporaryDirectory(prefix="smile-audit-") as temporary:
        place = Path(temporary) if folder is None else folder
        write_folder(place, net, names, [proved for proved, _ in done])
        size = sum(file.stat().st_size for file in place.iterdir() if file.name != "network.bin")
        start = perf_counter()
        report = check_audit(place)
        seconds = perf_counter() - start
    if not report.rows:
        raise SmileError(f"The checker does not accept the audit ({report.reason}); please report this.")
    found = [
        _audited(net, model, proved, checked, spent, domain)
        for (proved, spent), checked in zip(done, report.rows, strict=True)
    ]
    return Audit(tuple(found), net.digest(), folder, seconds, size)


def prove_row(
    net: DeepNet, row: Row, outputs: Sequence[str], until: float, *, decide: bool = False, seed: int = 0
) -> ProvedRow:
    """Search for pairs and bounds until that time (`perf_counter`); the proof as it then stands."""
    attack = Attack(net, row, seed)
    if attack.run() is None:
        raise SmileError(f"No pair of inputs in {net.dtype} was found that satisfies the premise of {row.text!r}.")
    search = Search(net, row, attack, gap=GAP, decide=decide)
    root = search.run(until)
    best = attack.best
    assert best is not None
    limit = Fraction(max(search.proved, search.found)) + abs(best.value) * Fraction(19, 100_000)
    described_row = entry(ProvedRow(row, best.x, b""))
    checker_net = check_deep.Net(described(net), net.data())
    checker_row = check_deep.Row(described_row, checker_net, [list(row.names), list(outputs)])
    proof = write_proof(check_deep.Proof(checker_net, checker_row, b"", False, check_deep.Work()), root, limit)
    return ProvedRow(row, best.x, proof)


def _audited(
    net: DeepNet, model: Any, proved: ProvedRow, checked: RowReport, seconds: float, domain: Domain
) -> AuditedRow:
    status = checked.status
    if status == "bracket":
        closed = checked.real - checked.found <= Fraction(GAP) * abs(checked.found)
        status = "proved" if closed else "unknown"
    pair = domain.decode(np.asarray(proved.witness)).set_axis(["a", "b"])
    return AuditedRow(
        proved.row.text,
        checked.found,
        checked.computed,
        checked.real,
        checked.rhs,
        status,
        seconds,
        pair,
        replays(net, model, proved.row, proved.witness),
        checked.leaves,
    )


def _outputs(net: DeepNet, given: Sequence[str] | None) -> list[str]:
    count = net.sizes[-1]
    if given is None:
        return [""] if count == 1 else [f"y{i}" for i in range(count)]
    if len(given) != count or len(set(given)) != count:
        raise SmileError(f"The network has {count} outputs, but {len(given)} names were given; name each once.")
    return [str(name) for name in given]


def above(value: Fraction) -> float:
    """The least float that is not below."""
    near = float(value)
    return near if Fraction(near) >= value else float(np.nextafter(near, np.inf))


def below(value: Fraction) -> float:
    """The largest float that is not above."""
    return -above(-value)
