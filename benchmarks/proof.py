"""Provers against each other: the same as ``smile bench proof``, the paper's shapes with one network each."""

from __future__ import annotations

import sys

from smilenn.cli.benching import run

SHAPES = ("fair-20x4", "fair-100x4", "fair-20x4-flips", "robust-32x4", "monotone-1x32", "robust-affine-784")


def main() -> int:
    """Print the table."""
    return run("proof", case=SHAPES, job=(), peer=(), seeds=1, limit=10.0, plot=None, data_dir=None, json=False)


if __name__ == "__main__":
    sys.exit(main())
