"""Brackets of `smilenn.audit` beside a mixed-integer program with difference rows, at equal time on one core.

    python -m benchmarks.audit_mip FOLDER [NAME …] --limit 20 --out brackets.jsonl

FOLDER and its networks are those of `benchmarks.audit`. The program has two copies of the network, a binary for every
unit and copy whose sign is open, and the differences of paired units as columns of their own:

    a ≥ s    a ≥ 0    a ≤ s − l·(1 − z)    a ≤ u·z            dl ≤ W·d ≤ du    d = a_1 − a_2 in its range

Its ranges l, u, dl, du come from the same lemmas as those of our search. HiGHS solves it with one thread. Both have
--limit seconds by the clock for each sign, ranges included; with --cpu ours are CPU seconds, and --mip-limit is chosen
such that HiGHS has at least as many. Our bounds are the checker's, those of HiGHS its own word.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from benchmarks._cpu_clock import use_cpu_seconds
from smilenn import Bracket, Domain, Fair
from smilenn.auditing import octagon
from smilenn.auditing.audit import audit
from smilenn.auditing.bounds import Cell, spread
from smilenn.auditing.importing import read_network
from smilenn.auditing.lowering import rows_of
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.provers.mip.linear_model import Builder, LinearModel
from smilenn.provers.mip.solvers.highs import Highs


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--mip-limit", type=float, help="another limit for HiGHS")
    parser.add_argument("--cpu", action="store_true", help="our limit is one of CPU seconds")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if options.cpu:
        use_cpu_seconds()
    domains = json.loads((options.folder / "domains.json").read_text())
    for name in options.names or domains:
        limits = options.limit, options.mip_limit or options.limit
        for line in measured(options.folder / f"{name}.onnx", name, domains[name], limits):
            with options.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(json.dumps(line), flush=True)


def measured(path: Path, name: str, entry: dict, limits: tuple[float, float]) -> list[dict]:
    """Both signs of one network."""
    domain, protected = Domain.box(entry["lo"], entry["hi"]), f"x{entry['protected']}"
    values = {protected: (entry["lo"][entry["protected"]], entry["hi"][entry["protected"]])}
    claim, net = Bracket(Fair([protected], 0)), read_network(path)
    start = process_time()
    with tempfile.TemporaryDirectory() as place:
        ours = audit(path, claim, domain, values=values, time_limit=2 * limits[0], out=Path(place) / "audit")
    spent, out = process_time() - start, []
    for row, bracket in zip(rows_of([claim], domain, net, [""], values), ours.rows, strict=True):
        start = process_time()
        theirs = solved(net, row, perf_counter() + limits[1])
        out.append(
            {
                "network": name,
                "sizes": list(net.sizes),
                "found": float(bracket.found),
                "real": float(bracket.real),
                "computed": float(bracket.proved),
                "leaves": bracket.leaves,
                "seconds": bracket.seconds,
                "both signs and check, CPU": spent,
                "check": ours.check_seconds,
                "bytes": ours.size,
                "mip": theirs,
                "mip CPU": process_time() - start,
            }
        )
    return out


def solved(net: DeepNet, row: Row, until: float) -> float:
    """The bound that HiGHS has at that time."""
    cell = spread(net, row.scaled_box(net), lemmas=len(net.weights) > 2)
    if cell is None:
        raise SystemExit("The premise has no inputs.")
    model = program(net, row, cell)
    return Highs().solve(model, time_limit=until - perf_counter(), gap=1e-3).dual_bound


def program(net: DeepNet, row: Row, cell: Cell) -> LinearModel:
    """max Σ_c a_c·f(x_c) over the cell, both copies and their differences in full."""
    out, weights = Builder(), row.coefficients()
    inputs = cell.inputs
    first, second = ([out.column(a, b) for a, b in zip(*inputs[2 * c : 2 * c + 2], strict=True)] for c in range(2))
    between = _differences(out, inputs, first, second)
    copies: list[list[int | None]] = [list(first), list(second)]
    moved: list[int | None] = list(between)
    for layer, r in enumerate(cell.layers):
        w, b = net.weights[layer], net.biases[layer]
        for j in range(len(b)):
            out.dense(*_reads(moved, w[j]), r[4, j], r[5, j])
        copies = [
            [_unit(out, copies[c], w[j], b[j], r[2 * c, j], r[2 * c + 1, j]) for j in range(len(b))] for c in (0, 1)
        ]
        moved = list(_differences(out, octagon.after_relu(r), *copies))
    for c in range(2):
        gain = weights[c] @ net.weights[-1]
        for column, value in zip(copies[c], gain, strict=True):
            if column is not None:
                out.gain[column] = float(value)
    out.offset = float((weights @ net.biases[-1]).sum())
    return out.model()


def _reads(columns: list[int | None], w: np.ndarray) -> tuple[list[int], list[float]]:
    """Columns and coefficients of w·a; a unit without a column is 0."""
    kept = [(column, float(v)) for column, v in zip(columns, w, strict=True) if column is not None]
    return [column for column, _ in kept], [v for _, v in kept]


def _unit(out: Builder, below: list[int | None], w: np.ndarray, b: float, low: float, high: float) -> int | None:
    """The column of relu(w·a + b), None where it is 0."""
    if high <= 0:
        return None
    column = out.column(max(low, 0.0), high)
    index, value = _reads(below, -w)
    if low >= 0:
        out.dense([column, *index], [1.0, *value], b, b)
        return column
    on = out.column(0, 1, whole=True)
    out.dense([column, *index], [1.0, *value], b, np.inf)
    out.dense([column, on, *index], [1.0, -low, *value], -np.inf, b - low)
    out.dense([column, on], [1.0, -high], -np.inf, 0.0)
    return column


def _differences(out: Builder, r: np.ndarray, first: list, second: list) -> list[int | None]:
    """Columns a_1 − a_2 within their ranges r[4], r[5]."""
    columns: list[int | None] = []
    for j, (a, b) in enumerate(zip(first, second, strict=True)):
        if a is None and b is None:
            columns.append(None)
            continue
        one = out.column(r[4, j], r[5, j])
        parts = [(one, 1.0), (a, -1.0), (b, 1.0)]
        out.dense([c for c, _ in parts if c is not None], [v for c, v in parts if c is not None], 0.0, 0.0)
        columns.append(one)
    return columns


if __name__ == "__main__":
    main()
