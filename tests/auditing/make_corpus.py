"""Write the frozen folders of corpus/ and what checkers say of them: python tests/auditing/make_corpus.py.

The folders are frozen: run this only for a new version of the format.
"""

import importlib.util
import json
from pathlib import Path
from time import perf_counter

import numpy as np

from smilenn.auditing.audit import prove_row
from smilenn.certify.reference import deep

HERE = Path(__file__).parent


def main():
    spec = importlib.util.spec_from_file_location("cases", HERE / "cases.py")
    cases = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cases)
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
        folder = cases.write(HERE / "corpus" / str(seed), net, [entry])
        report = deep.check_folder(folder)
        said[str(seed)] = [report.status, [list(map(str, (r.found, r.real, r.computed))) for r in report.rows]]
    (HERE / "corpus" / "said.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
