"""`audit`: how large the left side of every row of a claim can be on a given network, as a checked bracket.

    found ≤ max Σ_c a_c·f(x_c) ≤ proved

`found` is reached by a pair of inputs, replayed in exact arithmetic and in the network's own. `proved` is what the
checker accepts, in a process of its own, from the files alone: the search may be wrong, the bound not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from smilenn.auditing.attack import Attack
from smilenn.auditing.cells import domain_as_read
from smilenn.auditing.checked import check_audit
from smilenn.auditing.emit import write_proof
from smilenn.auditing.enumeration import Ends, enumerated, few_pairs, try_all
from smilenn.auditing.folder import ProvedRow, described, entry, write_folder
from smilenn.auditing.importing import check_names, read_network
from smilenn.auditing.lowering import Bracket, rows_of
from smilenn.auditing.network import DeepNet
from smilenn.auditing.replay import replays
from smilenn.auditing.rows import Row
from smilenn.auditing.search import Search
from smilenn.auditing.vnnlib import read_vnnlib
from smilenn.certify import check_deep
from smilenn.certify.check_deep import RowReport, decimal
from smilenn.domain import Domain
from smilenn.errors import SmileError, printable
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim

BRACKETS = {"proved": "bracket closed", "unknown": "bracket open"}  # a bracket has no limit that could be proved
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
    course : (seconds, found, proved) whenever the bracket moved in the search, without rounding and unchecked.
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
    course: tuple[tuple[float, float, float], ...] = ()

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
            out.append(f"{row.row}: {row.status if row.rhs is not None else BRACKETS[row.status]}")
            least, most = decimal(row.found, ROUND_FLOOR), decimal(row.proved, ROUND_CEILING)
            out.append(f"  found {least}, proved at most {most} ({rounding:.2g} of it rounding)")
            out += [f"  {line}" for line in row.pair.to_string().split("\n")]
        return [printable(line) for line in out]


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
    net = read_network(model)
    check_names(model, domain)
    domain = domain_as_read(domain, net.dtype)
    names = output_names(net, outputs)
    stated = [claims] if isinstance(claims, (Property, Claim, Bracket)) else list(claims)
    rows = rows_of(stated, domain, net, names, values)
    return audit_rows(model, net, rows, domain, names, time_limit, decide=decide, out=out, seed=seed)


def audit_vnnlib(
    model: Any,
    query: str | Path,
    *,
    time_limit: float = 60.0,
    decide: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
) -> Audit:
    """Decide a VNN-LIB 2.0 query about a network or two copies of it: it is unsatisfiable if all rows are proved.

    `query` is the path of a file; the other parameters are those of `audit`.
    """
    net = read_network(model)
    read = read_vnnlib(query, net)
    return audit_rows(model, net, read.rows, read.domain, read.outputs, time_limit, decide=decide, out=out, seed=seed)


def audit_rows(
    model: Any,
    net: DeepNet,
    rows: Sequence[Row],
    domain: Domain,
    names: Sequence[str],
    time_limit: float,
    *,
    decide: bool,
    out: str | Path | None,
    seed: int,
) -> Audit:
    """Brackets for rows over the coordinates of `domain`."""
    folder = place_of(net, time_limit, out)
    left, done = time_limit, []
    for number, row in enumerate(rows):
        start, share = perf_counter(), left / (len(rows) - number)
        proved = prove_row(net, row, names, start + share, decide=decide, seed=seed)
        spent = perf_counter() - start
        left -= min(spent, share)  # writing a proof comes after the search: it takes no time from the rows behind it
        done.append((proved, spent))
    checked, seconds, size = checked_rows(net, names, [proved for proved, _ in done], folder)
    found = [
        audited_row(net, model, proved, report, spent, domain)
        for (proved, spent), report in zip(done, checked, strict=True)
    ]
    return Audit(tuple(found), net.digest(), folder, seconds, size)


def place_of(net: DeepNet, time_limit: float, out: str | Path | None) -> Path | None:
    """The new folder for a certificate; what cannot be audited is an error."""
    if not 0 <= time_limit < float("inf"):
        raise SmileError(f"time_limit is {time_limit}; give a number of seconds.")
    if len(net.weights) < 2:
        raise SmileError("The network has no hidden layer; audits are about networks with at least one.")
    if out is None:
        return None
    Path(out).mkdir(parents=True)
    return Path(out)


def checked_rows(
    net: DeepNet,
    outputs: Sequence[str],
    proved: Sequence[ProvedRow],
    folder: Path | None,
    second: DeepNet | None = None,
) -> tuple[Sequence[RowReport], float, int]:
    """What the checker finds in the certificate, in how many seconds, and its bytes without the network's."""
    with TemporaryDirectory(prefix="smile-audit-") as temporary:
        place = Path(temporary) if folder is None else folder
        write_folder(place, net, outputs, proved, second)
        size = sum(file.stat().st_size for file in place.iterdir() if file.name != "network.bin")
        start = perf_counter()
        report = check_audit(place)
        seconds = perf_counter() - start
    if not report.rows:
        raise SmileError(f"The checker does not accept the audit ({report.reason}); please report this.")
    return report.rows, seconds, size


def prove_row(
    net: DeepNet, row: Row, outputs: Sequence[str], until: float, *, decide: bool = False, seed: int = 0
) -> ProvedRow:
    """Search for pairs and bounds until that time (`perf_counter`); the proof as it then stands."""
    attack, ends = Attack(net, row, seed), few_pairs(row)
    if ends is not None and not row.groups:
        return _tried(net, row, attack, ends)
    first = attack.run(row.rhs if decide else None)
    if first is None:
        raise SmileError(f"No pair of inputs in {net.dtype} was found that satisfies the premise of {row.text!r}.")
    if decide and row.rhs is not None and first.value > row.rhs:  # decided: any bound will do
        return ProvedRow(row, first.x, bytes([check_deep.OWN]))
    search = Search(net, row, attack, gap=GAP, decide=decide)
    root = search.run(until)
    best = attack.best
    assert best is not None
    limit = Fraction(max(search.proved, search.found)) + abs(best.value) * Fraction(19, 100_000)
    described_row = entry(ProvedRow(row, best.x, b""))
    checker_net = check_deep.Net(described(net), net.data())
    checker_row = check_deep.Row(described_row, checker_net, [list(row.names), list(outputs)])
    proof = write_proof(check_deep.Proof(checker_net, [checker_row], b"", False, check_deep.Work()), root, limit)
    return ProvedRow(row, best.x, proof, tuple(search.course))


def _tried(net: DeepNet, row: Row, attack: Attack, ends: Ends) -> ProvedRow:
    """The row with every pair tried, and a proof of their maximum."""
    try_all(attack, row, ends)
    best = attack.best
    if best is None:
        raise SmileError(f"No pair of inputs in {net.dtype} was found that satisfies the premise of {row.text!r}.")
    enough = float(best.value) + GAP / 2 * abs(float(best.value))
    return ProvedRow(row, best.x, enumerated(net, row, ends, enough))


def audited_row(
    net: DeepNet, model: Any, proved: ProvedRow, checked: RowReport, seconds: float, domain: Domain
) -> AuditedRow:
    """What the checker said of a row, with the pair in the domain's columns, replayed."""
    status = checked.status
    if status == "bracket":
        closed = checked.real - checked.found <= Fraction(GAP) * abs(checked.found)
        status = "proved" if closed else "unknown"
    pair = domain.decode(np.asarray(proved.witness)).set_axis(["a", "b"])
    replayed = replays(net, model, proved.row, proved.witness)
    over = [what for what, value in replayed.items() if value > above(checked.computed)]
    if over:  # then the network was read as another one than it is: nothing that was proved is about it
        raise SmileError(f"{over[0]} computes more than was proved to be the most; please report this.")
    return AuditedRow(
        proved.row.text,
        checked.found,
        checked.computed,
        checked.real,
        checked.rhs,
        status,
        seconds,
        pair,
        replayed,
        checked.leaves,
        proved.course,
    )


def output_names(net: DeepNet, given: Sequence[str] | None) -> list[str]:
    """The names of the outputs, by default one called '' or y0, y1, …."""
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
