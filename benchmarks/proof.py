"""Provers against each other: the same as ``smile bench proof``, the paper's shapes with one network each."""

from __future__ import annotations

import sys

from smilenn.cli.benching import Request, run

SHAPES = ("fair-20x4", "fair-100x4", "fair-20x4-flips", "robust-32x4", "monotone-1x32", "robust-affine-784")


def main() -> int:
    """Print the table."""
    return run(Request("proof", case=SHAPES, seeds=1, limit=10.0), json=False)


if __name__ == "__main__":
    sys.exit(main())
