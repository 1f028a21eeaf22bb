"""Retrained networks against their originals: ACAS-Xu with noise of 1e-3 on every weight, equal to 0.05?

    python -m benchmarks.twins FOLDER --pairs 0-49 --seconds 200 --keep proofs --out twins.jsonl --jobs 2

FOLDER holds the networks as ACASXU_*_batch_2000.onnx.gz. Pair k is network k mod 45 in the order of names, and the same
with normal noise from NumPy's generator with seed k, W and b of every layer in their order, rounded to float32. The box
is that of VNN-COMP's isomorphic query. --seconds are CPU seconds of the search, in one process with one thread. What it
showed lies under --keep as certificates, which the integer checker reads, in CPU seconds of its own. --jobs pairs are
treated at a time. A pair has a line for its search and one for its check. What has a line in the file is left out, and
certificates without one are checked first, so a run can go on where it ended.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from time import process_time

import numpy as np

from smilenn.auditing.folder import ProvedRow, write_folder
from smilenn.auditing.halving import Box, halve, halved_proof
from smilenn.auditing.importing import read_network
from smilenn.auditing.network import DeepNet
from smilenn.auditing.paired_audit import farthest, side_by_side
from smilenn.auditing.rows import Row
from smilenn.certify import check_deep

LO, HI = (0.6, -0.5, -0.5, 0.45, -0.5), (0.679857769, 0.5, 0.5, 0.5, -0.45)
EPS, SIGMA = Fraction(1, 20), 1e-3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", default="0-49")
    parser.add_argument("--seconds", type=float, default=200.0)
    parser.add_argument("--sigma", type=float, default=SIGMA)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    text = options.out.read_text() if options.out.exists() else ""
    done = {(line["pair"], "check" in line) for line in map(json.loads, text.splitlines())}
    pairs = pairs_of(options.pairs)
    kept = [k for k in pairs if (k, True) not in done and (options.keep / str(k) / "audit.json").exists()]
    tasks = [(k, False, True) for k in kept]
    tasks += [(k, True, k not in kept and (k, True) not in done) for k in pairs if (k, False) not in done]
    with ProcessPoolExecutor(options.jobs) as pool:
        for waiting in [pool.submit(treated, *task, options) for task in tasks]:
            waiting.result()


def treated(k: int, search: bool, check: bool, options: argparse.Namespace) -> None:
    """Search a pair, check its certificate if there is one."""
    if search:
        told(searched(k, options), options.out)
    if check and (options.keep / str(k) / "audit.json").exists():
        told(checked(k, options), options.out)


def told(line: dict, out: Path) -> None:
    """One more line."""
    with out.open("a") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(line), flush=True)


def pairs_of(text: str) -> list[int]:
    """``3,5-7`` is 3, 5, 6, 7."""
    parts = [part.split("-") for part in text.split(",")]
    return [k for part in parts for k in range(int(part[0]), int(part[-1]) + 1)]


def twins(folder: Path, k: int, sigma: float) -> tuple[DeepNet, DeepNet]:
    """Pair k."""
    files = sorted(folder.glob("ACASXU_*_batch_2000.onnx.gz"))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "net.onnx"
        path.write_bytes(gzip.decompress(files[k % len(files)].read_bytes()))
        net = read_network(path)
    rng, weights, biases = np.random.default_rng(k), [], []
    for w, b in zip(net.weights, net.biases, strict=True):
        weights.append((w + rng.normal(0, sigma, w.shape)).astype(np.float32))
        biases.append((b + rng.normal(0, sigma, b.shape)).astype(np.float32))
    return net, DeepNet(tuple(weights), tuple(biases), net.dtype, net.scaling, f"{net.source}, noise {sigma}, seed {k}")


def rows_about(net: DeepNet, pair: bool) -> list[Row]:
    """±(f_i − g_i) ≤ ε, of h = (f, g) at one input or of f and g at equal ones."""
    lo, hi = (tuple(Fraction(float(np.float32(v))) for v in end) for end in (LO, HI))
    none, names, out = (Fraction(0),) * 5, tuple(f"x{i}" for i in range(5)), []
    for i in range(5):
        for sign in (1, -1):
            one = tuple(Fraction(sign * (i == j)) for j in range(5))
            other = tuple(-v for v in one)
            weights = (one, other) if pair else (one + other, (Fraction(0),) * 10)
            text = f"{'+' if sign > 0 else '-'}(f{i} - g{i})"
            out.append(Row(text, names, (lo, lo), (hi, hi), none, none, (False,) * 5, weights, EPS))
    return out


def searched(k: int, options: argparse.Namespace) -> dict:
    """Search, and keep what was shown as a certificate."""
    first, second = twins(options.folder, k, options.sigma)
    start, both = process_time(), side_by_side(first, second)
    found = farthest(both, rows_about(both, False), 0)
    out = {"pair": k, "found": max(float(one.value) for one in found)}
    if out["found"] > EPS:
        return out | {"status": "violated", "search": process_time() - start}
    rows = rows_about(first, True)
    weights = np.array([[float(v) for v in row.weights[0]] for row in rows])
    lo, hi = (np.array([float(v) for v in end[0]]) for end in (rows[0].lo, rows[0].hi))
    until = start + options.seconds
    tree = halve(first, second, weights, np.full(len(rows), float(EPS)), Box(lo, hi), until, process_time)
    out |= {"status": "shown" if tree.done else "unknown", "search": process_time() - start, "boxes": tree.boxes}
    if tree.done:
        entries = [ProvedRow(row, one.x, b"") for row, one in zip(rows, found, strict=True)]
        entries[0] = ProvedRow(rows[0], entries[0].witness, halved_proof(tree.root))
        place = options.keep / str(k)
        place.mkdir(parents=True, exist_ok=True)
        write_folder(place, first, [f"y{i}" for i in range(5)], entries, second)
        out["bytes"] = len(entries[0].proof)
    return out


def checked(k: int, options: argparse.Namespace) -> dict:
    """What the integer checker says of a kept certificate."""
    start = process_time()
    report = check_deep.check_folder(options.keep / str(k))
    most = max((float(row.computed) for row in report.rows), default=None)
    answer = {"pair": k, "status": report.status, "computed": most, "check": process_time() - start}
    return answer | ({"reason": report.reason} if report.reason else {})


if __name__ == "__main__":
    main()
