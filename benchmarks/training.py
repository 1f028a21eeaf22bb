"""End to end on Compas: training, proof, certificate and check against training without any property.

The same as ``smile bench training`` (smilenn/experiments/overhead.py says what is compared):

    python -m benchmarks.training [seeds] [data folder]
"""

import sys
from pathlib import Path

from smilenn.cli.benching import training


def main() -> int:
    """Print the table."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    return training(seeds, Path(sys.argv[2]) if len(sys.argv) > 2 else None, json=False)


if __name__ == "__main__":
    sys.exit(main())
