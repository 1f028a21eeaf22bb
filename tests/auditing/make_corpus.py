"""Write the frozen folders of a corpus and what checkers say of them.

    python tests/auditing/make_corpus.py audits | labels | twins

The folders are frozen: run this only for a new version of a format.
"""

import importlib.util
import json
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from smilenn.auditing.audit import prove_row
from smilenn.certify.reference import deep, share

HERE = Path(__file__).parent


def module(name):
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def main():
    kind, cases = sys.argv[1], module("cases")
    place = HERE / {"audits": "corpus", "labels": "corpus_labels", "twins": "corpus_twins"}[kind]
    said = {"audits": audits, "labels": labels, "twins": twins}[kind](cases, place)
    (place / "said.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


def labels(cases, place):
    """Random boxes and claims; folders that settle nothing are left out."""
    tests, said, seed = module("test_labels"), {}, 900
    while len(said) < 8:
        folder = place / str(len(said))
        folder.mkdir(parents=True, exist_ok=True)
        settled, _ = tests.one_case(cases, folder, seed)
        seed += 1
        if settled:
            report = share.check_share(folder)
            said[folder.name] = [report.status, report.points, report.settled, report.leaves]
    return said


def twins(cases, place):
    """Two networks, rows that share a proof."""
    said = {}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        net, second = cases.random_twins(rng, cases.SIZES[seed % len(cases.SIZES)])
        folder = cases.write(place / str(seed), net, cases.shared_rows(rng, net, 1 + seed % 3), second)
        report = deep.check_folder(folder)
        said[str(seed)] = [report.status, [list(map(str, (r.found, r.real, r.computed))) for r in report.rows]]
    return said


def audits(cases, place):
    """Random proofs and those of searches."""
    said = {}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        net = cases.random_net(rng, cases.SIZES[seed % len(cases.SIZES)])
        row, x = cases.random_row(rng, net, whole=seed == 5)
        entry = (row, x, cases.random_proof(rng, net, 4))
        if seed % 2:
            names = [f"y{i}" for i in range(net.sizes[-1])]
            proved = prove_row(net, row, names, perf_counter() + 1e6)
            entry = (row, proved.witness, proved.proof)
        folder = cases.write(place / str(seed), net, [entry])
        report = deep.check_folder(folder)
        said[str(seed)] = [report.status, [list(map(str, (r.found, r.real, r.computed))) for r in report.rows]]
    return said


if __name__ == "__main__":
    main()
