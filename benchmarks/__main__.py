"""`python -m benchmarks` lists the benchmarks and runs them one after the other; names as arguments choose some.

A benchmark is a module of this folder whose name does not start with an underscore; it runs as a script.
"""

import runpy
import sys
from pathlib import Path


def main() -> int:
    known = sorted(file.stem for file in Path(__file__).parent.glob("*.py") if not file.stem.startswith("_"))
    chosen = sys.argv[1:] or known
    unknown = [name for name in chosen if name not in known]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}; there are: {', '.join(known) or 'none'}.", file=sys.stderr)
        return 2
    print(f"benchmarks: {', '.join(chosen) or 'none yet'}")
    for name in chosen:
        print(f"== {name}", flush=True)
        sys.argv[1:] = []
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
