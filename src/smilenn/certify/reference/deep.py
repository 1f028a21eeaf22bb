"""The reference checker of audits: exact rationals, standard library only, clarity before speed.

    python -m smilenn.certify.reference.deep audit/      0 certified, 1 refused or violated, 2 unreadable, 3 unknown

Follows docs/audit-certificate.md: deep_files.py has its sections 1 to 3, deep_point.py networks at a pair,
deep_octagon.py octagons, deep_layers.py the layers (4), deep_slopes.py and deep_back.py the rule (5), deep_walk.py the
walk through a proof (6) and deep_work.py its work. `check_deep.py` is the fast checker; the two share no code and find
the same bounds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from smilenn.certify.reference.deep_files import read_audit
from smilenn.certify.reference.deep_point import groups, in_premise, left_at
from smilenn.certify.reference.deep_walk import Walk
from smilenn.certify.reference.deep_work import Budget
from smilenn.certify.reference.strict import CheckError, Unreadable, need
from smilenn.certify.reference.words import at_most, clean, rounded

EXIT = {"certified": 0, "violated": 1, "refused": 1, "unreadable": 2, "unknown": 3}


@dataclass(frozen=True)
class DeepRow:
    """found ≤ max left ≤ real, and ≤ computed in the network's own arithmetic."""

    text: str
    found: Fraction
    real: Fraction
    computed: Fraction
    rhs: Fraction | None
    leaves: int

    @property
    def status(self) -> str:
        """Against the right side; ``bracket`` without one."""
        if self.rhs is None:
            return "bracket"
        if self.computed <= self.rhs:
            return "proved"
        return "violated" if self.found > self.rhs else "unknown"


@dataclass(frozen=True)
class DeepReport:
    """What the reference checker found."""

    status: str
    reason: str = ""
    rows: tuple[DeepRow, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 certified, 1 refused or violated, 2 unreadable, 3 unknown."""
        return EXIT[self.status]


def check_folder(folder: str | os.PathLike[str]) -> DeepReport:
    """Check an audit's folder; every failure is in the report."""
    try:
        nets, stored = read_audit(Path(folder))
        budget, rows = Budget(), []
        for row in stored:
            need(in_premise(row), "The witness does not satisfy the premise of its row.")
        for group in groups(stored):
            found = [left_at(nets, row, budget) for row in group]
            computed, leaves = Walk(nets, group, True, budget).bounds()
            real = Walk(nets, group, False, budget).bounds()[0] if nets[0] is nets[1] else computed
            numbers = zip(group, found, real, computed, strict=True)
            rows += [DeepRow(row.text, least, most, said, row.rhs, leaves) for row, least, most, said in numbers]
    except Unreadable as error:
        return DeepReport("unreadable", str(error))
    except CheckError as error:
        return DeepReport("refused", str(error))
    states = [row.status for row in rows]
    status = "violated" if "violated" in states else "unknown" if "unknown" in states else "certified"
    return DeepReport(status, "", tuple(rows))


def main(arguments: Sequence[str]) -> int:
    """Print what was found; the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m smilenn.certify.reference.deep FOLDER\n")
        return 2
    report = check_folder(arguments[0])
    lines = [f"{report.status}: {clean(report.reason)}" if report.reason else report.status]
    lines += [f"{clean(r.text)}: {rounded(r.found)} to {at_most(r.computed)}, {r.status}" for r in report.rows]
    sys.stdout.write("\n".join(lines) + "\n")
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
