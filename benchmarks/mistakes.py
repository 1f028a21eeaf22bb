"""How soon a mistake on the command line is answered: processor time as a share of that of ``smile --help``.

    python -m benchmarks mistakes

Every command runs in a process of its own, in turn with ``smile --help``; the smallest of the rounds counts, since
other work on the machine only adds. Seconds are those of the processor, the process and its children together.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 7
DATA = "x,y\n" + "".join(f"{i},{i / 2}\n" for i in range(50))


def commands(place: Path) -> dict[str, list[str]]:
    """Mistakes in options, paths and columns, and one in the data."""
    rows, broken, full, new = place / "rows.csv", place / "broken.csv", place / "full", place / "new"
    rows.write_text(DATA)
    broken.write_text(DATA + "50,\n")
    full.mkdir()
    fit = ["fit", str(rows), "--target", "y", "--increasing", "x", "--out"]
    return {
        "fit: output folder exists": [*fit, str(full)],
        "fit: bad seed": [*fit, str(new), "--seed", "-1"],
        "fit: unknown option": [*fit, str(new), "--nonsense"],
        "fit: unknown column": [*fit, str(new), "--decreasing", "z"],
        "predict: no model folder": ["predict", str(new), str(rows), "--out", str(place / "p.csv")],
        "check: no model folder": ["check", str(new)],
        "check: folder without a model": ["check", str(full)],
        "prove: no model folder": ["prove", str(new)],
        "report: nothing to write": ["report", str(full)],
        "audit: nothing is claimed": ["audit", str(rows), "--data", str(rows)],
        "demo: folder exists": ["demo", "--out", str(full)],
        "reproduce: unknown experiment": ["reproduce", "nothing", "--out", str(new)],
        "fit: target missing in a row (reads the data)": ["fit", str(broken), *fit[2:], str(new)],
    }


def seconds(arguments: list[str], code: int) -> float:
    """Processor time of one command, which has to end with this code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "smilenn", *arguments], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == code, (arguments, done.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        asked = commands(Path(folder))
        best = dict.fromkeys(asked, float("inf"))
        whole = float("inf")
        for _ in range(ROUNDS):
            whole = min(whole, seconds(["--help"], 0))
            for name, arguments in asked.items():
                best[name] = min(best[name], seconds(arguments, 2))
    print(f"{'smile --help':48s} {whole:6.2f} s")
    for name, least in best.items():
        print(f"{name:48s} {least:6.2f} s  {least / whole:5.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
