"""Exported models of ten kinds against `predict`, in onnxruntime.

    python -m benchmarks.onnx [--rows 100000]

The models are those of tests/export/test_onnx.py: trees, ensembles, distance nets, boxes around backbones, several
outputs, categories, missing cells. A third of the rows lies at thresholds and one float beside them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.export.test_onnx import MODELS

from smilenn.export.margin import is_exact
from smilenn.export.onnx_file import export_onnx


def main() -> None:
    """Fit, export and compare each; print a line of Markdown a model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    print(
        "| model | promise of equal bits | margin | outputs differ by | probabilities by | decisions turned | seconds |"
    )
    print("|---|---|---|---|---|---|---|")
    for make in MODELS:
        model, _ = make()
        begun = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            written = export_onnx(model, Path(folder) / "m.onnx", rows=options.rows)
        found, margin = written.agreement, written.margin.split(":")[0]
        shown = (margin, f"{found.outputs:.2g}", f"{found.probability:.2g}", found.decisions)
        name = make.__name__.replace("_", " ")
        exact = "yes" if is_exact(model.net_) else "no"
        print("|", name, "|", exact, "|", *(f"{v} |" for v in shown), end=" ", flush=True)
        print(f"{time.perf_counter() - begun:.0f} |", flush=True)


if __name__ == "__main__":
    main()
