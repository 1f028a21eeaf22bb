"""What the experiment on robustness (robustness.py) is to show on MNIST, beside the paper's figures."""

from __future__ import annotations

import math
from collections.abc import Mapping

from smilenn.experiments import paper, ten_classes
from smilenn.experiments.cells import Row
from smilenn.experiments.measures import chosen, mean
from smilenn.experiments.study import Aim, all_certified

DELTAS = paper.DELTAS
SMILE = ("faithful", "default")
# per cent of the first 1,000 images: what the default is asked to verify, to get right, and to verify of each class
WANTED, CLEAN, BALANCED = (99.5, 99.5, 99.5, 99.4, 99.3), 99.6, 98.5
NEAR, SAME = 0.1, 0.5  # per cent: the default to the paper's CROWN-IBP at δ = .025, ours to the paper's CROWN-IBP
ROUNDING = 1e-9  # of per cents that were computed as shares


def aims(rows: list[Row]) -> list[Aim]:
    """Faithful against the paper, the default against the paper's CROWN-IBP and its own figures; ten classes."""
    several, rows = ten_classes.aims(rows), chosen(rows, data="mnist-zero")
    out = all_certified(rows, SMILE)

    def compare(
        what: str, wanted: str, model: str, metric: str, least: Mapping[float, float], room: float = 0.0
    ) -> None:
        """Share of images by δ in per cent, at least so much everywhere; room 0.5 also asks for no more than that."""
        found = {d: 100 * mean(chosen(rows, model=model, delta=d), metric) for d in least}
        gaps = {d: found[d] - least[d] for d in least if math.isfinite(found[d])}
        if gaps:
            worst = min(gaps, key=lambda d: -abs(gaps[d]) if room else gaps[d])
            got = ", ".join(f"{found[d]:.2f}" for d in gaps)
            met = abs(gaps[worst]) <= room if room else gaps[worst] >= -ROUNDING
            out.append(Aim(what, f"{wanted}{', '.join(f'{least[d]:.2f}' for d in gaps)}", got, met))

    said = paper.ROBUSTNESS
    every = f"at δ = {', '.join(f'{d:g}' for d in DELTAS)}"
    for k, metric in ((0, "clean"), (2, "verified")):
        compare(
            f"faithful: {metric} {every}, the paper's",
            "≥ ",
            "faithful",
            metric,
            {d: said["smile"][d][k] for d in DELTAS},
        )
    compare(f"default: verified {every}", "≥ ", "default", "verified", dict(zip(DELTAS, WANTED, strict=True)))
    compare("default: clean", "≥ ", "default", "clean", {DELTAS[-1]: CLEAN})
    compare("default: balanced verified at δ = .1", "≥ ", "default", "balanced_verified", {DELTAS[-1]: BALANCED})
    local = {d: said["crown-ibp"][d][2] - (NEAR if d == 0.025 else 0.0) for d in DELTAS if d >= 0.025}
    what = (
        f"default, for all images: verified at δ = {', '.join(f'{d:g}' for d in local)}, the paper's CROWN-IBP (local)"
    )
    compare(f"{what}, less {NEAR} at .025", "≥ ", "default", "verified", local)
    what = f"our CROWN-IBP: verified {every}, within {SAME} of the paper's"
    compare(what, "", "crown-ibp", "verified", {d: said["crown-ibp"][d][2] for d in DELTAS}, SAME)
    broken = [row for row in rows if row["model"] in SMILE and row["pgd"] < row["verified"]]
    if chosen(rows, model="default"):
        out.append(Aim("what is verified, PGD never breaks", "no model", f"{len(broken)} models", not broken))
    return out + several
