"""What an experiment is: its cells, how one is computed, and what is made of the rows."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from smilenn.errors import SmileError, listed
from smilenn.experiments.cells import Cell, Row
from smilenn.verdict import Proved, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Options:
    """What a run is asked for.

    Attributes
    ----------
    quick : smaller data and fewer epochs, for a look at everything in minutes.
    seeds : seeds of the run; empty for the study's own.
    data_dir : folder of the data files, see `smilenn.datasets`.
    device : torch device of training, ``auto`` for a GPU where there is one.
    models : folder to save the certified models in; None to keep none.
    reuse : take models that are in that folder already, and certify those that are not yet, instead of training.
    """

    quick: bool = False
    seeds: tuple[int, ...] = ()
    data_dir: Path | None = None
    device: str = "cpu"
    models: Path | None = None
    reuse: bool = False

    def resolved(self) -> Options:
        """The same with ``auto`` decided, on the machine that computes; a device that is not there is an error."""
        import torch

        there = torch.cuda.is_available()
        if self.device == "auto":
            return replace(self, device="cuda" if there else "cpu")
        if not re.fullmatch(r"cpu|cuda(:\d+)?", self.device):
            raise SmileError(f"The device is 'auto', 'cpu' or 'cuda', not {self.device!r}.")
        if self.device != "cpu" and not there:
            raise SmileError("torch sees no CUDA device on this machine; use --device cpu or auto.")
        return self


@dataclass(frozen=True)
class Aim:
    """What an experiment is asked to show: a sentence, what is wanted and what came out, and whether that is enough."""

    what: str
    wanted: str
    got: str
    met: bool


@dataclass(frozen=True)
class Study:
    """One experiment.

    Attributes
    ----------
    name : its name on the command line and of its files.
    cells : all cells of a run.
    compute : one cell's parameters and ``options`` → its rows, each with model, swept parameter, metrics, status
        (proved, violated, unknown, or none where nothing was asked), seconds and seed.
    report : rows → Markdown.
    figures : rows → figures by name; a figure whose rows are missing is left out.
    aims : rows → what the experiment is asked to show; an aim whose rows are missing is left out.
    selection : how everything that is not fixed was chosen, one sentence for the page.
    """

    name: str
    cells: Callable[[Options], list[Cell]]
    compute: Callable[..., list[Row]]
    report: Callable[[list[Row], Options], str]
    figures: Callable[[list[Row]], dict[str, Figure]]
    aims: Callable[[list[Row]], list[Aim]]
    selection: str


def select(cells: Sequence[Cell], only: Sequence[str]) -> list[Cell]:
    """The cells that meet every ``key=value``; several values of one key are alternatives.

    A cell without the key (a baseline that does not depend on ε, say) belongs to all its values.

    >>> select([{"model": "a", "seed": 0}, {"model": "b", "seed": 0}], ["model=b"])
    [{'model': 'b', 'seed': 0}]
    """
    wanted: dict[str, set[str]] = {}
    for text in only:
        name, value = _asked(text, cells)
        wanted.setdefault(name, set()).add(value)
    chosen = [
        cell for cell in cells if all(name not in cell or str(cell[name]) in values for name, values in wanted.items())
    ]
    if not chosen:
        raise SmileError(f"No cell meets {listed(only)} together; leave one of them out.")
    return chosen


def _asked(text: str, cells: Sequence[Cell]) -> tuple[str, str]:
    """Key and value of ``key=value``, both among those of the cells."""
    name, equals, value = text.partition("=")
    if not equals:
        raise SmileError(f"--only takes KEY=VALUE, such as model=default, not {text!r}.")
    known = sorted({str(cell[name]) for cell in cells if name in cell})
    if not known:
        keys = dict.fromkeys(key for cell in cells for key in cell)
        raise SmileError(f"No cell has a key {name!r}; keys are {listed(keys)}.")
    if value not in known:
        raise SmileError(f"There is no cell with {name} = {value!r}; {name} is one of {listed(known, 20)}.")
    return name, value


def all_certified(rows: Sequence[Row], models: Iterable[str]) -> list[Aim]:
    """The aim that a checker accepts a certificate of every cell of these models."""
    out = []
    for model in models:
        asked = [row for row in rows if row["model"] == model]
        count = sum(bool(row.get("certified")) for row in asked)
        if asked:
            out.append(Aim(f"{model}: certified", "all", f"{count} of {len(asked)}", count == len(asked)))
    return out


def paired(rows: Sequence[Row], one: str, other: str, name: str = "quality") -> tuple[float, float, int]:
    """Mean difference of a metric between two models over the seeds both have, its standard error, and how many."""
    a, b = ({row["seed"]: row[name] for row in rows if row["model"] == model} for model in (one, other))
    differences = [a[seed] - b[seed] for seed in sorted(a.keys() & b.keys())]
    count = len(differences)
    if count < 2:
        return (differences[0] if differences else math.nan), math.nan, count
    return statistics.fmean(differences), statistics.stdev(differences) / math.sqrt(count), count


def outcome(verdict: Verdict) -> Row:
    """Status and sentence of a verdict, and whether a checker accepted a certificate of it."""
    certified = isinstance(verdict, Proved) and bool(verdict.certificate)
    return {"status": verdict.status, "verdict": verdict.sentence(), "certified": certified}


def proved_up_to(verdict: Verdict, eps: float) -> float:
    """The change that is proved possible at most: ε and the proof's tolerance, or infinity without a proof."""
    return eps + verdict.tolerance if isinstance(verdict, Proved) else math.inf
