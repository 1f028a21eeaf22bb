"""The options that commands share, and those of ``smile fit``, in the panels of its help."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from smilenn.errors import SmileError

T = TypeVar("T")


class TaskChoice(StrEnum):
    """What the target is."""

    auto = "auto"
    regression = "regression"
    classification = "classification"


class Boxes(StrEnum):
    """The network's boxes: flip-free, or the paper's free pair."""

    gap = "gap"
    paper = "paper"


class Encoder(StrEnum):
    """What the network knows of the columns: nothing, or that they are pixels."""

    auto = "auto"
    image = "image"


class Missing(StrEnum):
    """What to do with missing cells."""

    indicator = "indicator"
    fill = "fill"
    error = "raise"


class Unknown(StrEnum):
    """What to do with rare and new categories."""

    other = "other"
    refuse = "refuse"


class Outside(StrEnum):
    """What to do with rows outside the domain."""

    auto = "auto"
    clamp = "clamp"
    warn = "warn"
    error = "raise"


# choices by name: help and errors list them in this order, in these words
PROVERS = ("auto", "order", "signs", "ball", "closed-form", "sweep", "slopes", "mip", "branch", "paper-mip")
SUBJECTS = ("all", "train", "predict", "proof")
JOBS = ("opt", "prove", "find", "match")
DEVICES = ("auto", "cpu", "cuda")
EXPERIMENTS = ("monotonicity", "robustness", "fairness", "tabular", "tables", "random", "trace", "all")


def several(values: Sequence[T] | None) -> tuple[T, ...]:
    """What an option that may be repeated was given; nothing where it was left out."""
    return tuple(values or ())


def choices(names: Sequence[str]) -> str:
    """Names to choose from.

    >>> choices(("opt", "prove", "find"))
    'opt, prove or find'
    """
    return f"{', '.join(names[:-1])} or {names[-1]}"


def check_choice(name: str, names: Sequence[str], what: str) -> None:
    """A name that is none of the choices is an error that lists them."""
    if name not in names:
        raise SmileError(f"There is no {what} {name!r}; there are: {choices(names)}.")


RULES, DATA, TRAINING, OUTPUT = "Rules", "Data", "Training", "Output"  # the panels of ``smile fit --help``
TABLE = "CSV (also .gz), Parquet, or - for the standard input."
NA = Annotated[
    list[str] | None,
    typer.Option("--na", metavar="TEXT", help="Another text that marks a missing cell; repeat.", rich_help_panel=DATA),
]
KeepNA = Annotated[
    list[str] | None,
    typer.Option(
        "--keep-na",
        metavar="TEXT",
        help="A text, such as None, to keep as a value; repeat.",
        rich_help_panel=DATA,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no explanations.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model folder.", show_default=False)]

# ---- smile fit ----

Rows = Annotated[
    Path, typer.Argument(metavar="TABLE", help="CSV (.gz), Parquet or - (standard input).", show_default=False)
]
Target = Annotated[
    list[str],
    typer.Option(metavar="COLUMN", help="The column to predict; repeat.", show_default=False, rich_help_panel=DATA),
]
NewFolder = Annotated[
    Path,
    typer.Option(metavar="FOLDER", help="The model folder to write.", show_default=False, rich_help_panel=OUTPUT),
]
FitQuiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no explanations.", rich_help_panel=OUTPUT)
]
FitJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.", rich_help_panel=OUTPUT)]
Increasing = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Predictions rise in this column; repeat.", rich_help_panel=RULES),
]
Decreasing = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Predictions fall in this column; repeat.", rich_help_panel=RULES),
]
Fair = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN:EPS",
        help="This column alone changes predictions (or log-odds) by at most EPS; repeat.",
        rich_help_panel=RULES,
    ),
]
Robust = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DELTA[:EPS]",
        help="Changing all numbers by DELTA (or 5% of their range) changes predictions by at most EPS (log-odds: 1).",
        rich_help_panel=RULES,
    ),
]


class Norm(StrEnum):
    """How --robust measures a change."""

    inf = "inf"
    two = "2"


NormOption = Annotated[
    Norm,
    typer.Option(
        "--norm",
        help="How --robust measures a change: inf, each number by itself; 2, all together in the Euclidean norm.",
        rich_help_panel=RULES,
    ),
]
Spec = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="A TOML file with more rules; repeat.", rich_help_panel=RULES),
]
Output = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The class, label or target that --increasing and --decreasing apply to.",
        show_default="all",
        rich_help_panel=RULES,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS",
        help="Of two classes, the one whose log-odds rules with a direction are about if they name none.",
        show_default="the last in sorted order",
        rich_help_panel=RULES,
    ),
]
TaskOption = Annotated[
    TaskChoice,
    typer.Option(metavar="TASK", help=f"{choices(tuple(TaskChoice))}.", rich_help_panel=DATA),
]
Quantile = Annotated[
    list[float] | None,
    typer.Option(metavar="LEVEL", help="Predict this quantile of the target; repeat.", rich_help_panel=DATA),
]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(
        metavar="balanced|CLASS:WEIGHT",
        help="Weight of the rows of a class; repeat. balanced: equal totals.",
        rich_help_panel=DATA,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Leave this column out; repeat.", rich_help_panel=DATA),
]
LeftOut = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="An identifier, left out; repeat.", rich_help_panel=DATA),
]
Category = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A numeric column to read as categories; repeat.", rich_help_panel=DATA),
]
Bounds = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN:LO:HI",
        help="Its range (else the data's + 5 %); repeat.",
        rich_help_panel=DATA,
    ),
]
MissingOption = Annotated[
    Missing,
    typer.Option(metavar="HOW", help=f"Missing cells: {choices(tuple(Missing))}.", rich_help_panel=DATA),
]
UnknownOption = Annotated[
    Unknown,
    typer.Option(metavar="HOW", help=f"Rare and new categories: {choices(tuple(Unknown))}.", rich_help_panel=DATA),
]
Order = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=A,B,C",
        help="Names in order, lowest first; repeat.",
        rich_help_panel=DATA,
    ),
]
Test = Annotated[
    float,
    typer.Option(metavar="SHARE", help="Share of rows held out to measure quality.", rich_help_panel=DATA),
]
BoxesOption = Annotated[
    Boxes,
    typer.Option(metavar="NAME", help=f"Boxes of the network: {choices(tuple(Boxes))}.", rich_help_panel=TRAINING),
]
EncoderOption = Annotated[
    Encoder,
    typer.Option(
        metavar="NAME",
        help=f"What the columns are, image for pixels: {choices(tuple(Encoder))}.",
        rich_help_panel=TRAINING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(metavar="SEED", help="Same seed, same model.", rich_help_panel=TRAINING),
]
Epochs = Annotated[
    int | None,
    typer.Option(
        metavar="COUNT",
        help="Epochs of pretraining, and as many of training.",
        show_default="the recipe's",
        rich_help_panel=TRAINING,
    ),
]
Restarts = Annotated[
    int,
    typer.Option(
        metavar="COUNT", min=1, help="Train this many networks and keep the best proved one.", rich_help_panel=TRAINING
    ),
]
Threads = Annotated[
    int,
    typer.Option(
        metavar="COUNT", min=1, help="Threads for training; they affect the result.", rich_help_panel=TRAINING
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Time for all: training, proof, certificate.",
        show_default=False,
        rich_help_panel=TRAINING,
    ),
]
CertifyLimit = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        help="Of that, for the certificate; 0 skips it.",
        rich_help_panel=TRAINING,
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Checkpoint file: written while training, continued from if there.",
        show_default="none",
        rich_help_panel=TRAINING,
    ),
]
From = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="MODEL",
        help="Start from the weights and domain of this model folder, and its properties unless you state some.",
        show_default="none",
        rich_help_panel=TRAINING,
    ),
]
TrainingCluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Restarts, boosted trees and long proofs on a Dask cluster: its scheduler, or local[:WORKERS].",
        show_default="this process",
        rich_help_panel=TRAINING,
    ),
]

# ---- other commands ----

NewTables = Annotated[
    list[Path],
    typer.Argument(metavar="TABLE", help=f"Rows to predict: {TABLE}", show_default=False),
]
Predictions = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="The CSV file to write; a folder of Parquet for several tables or with --cluster.",
        show_default=False,
    ),
]
Copied = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Copy this column into the output, first; repeat.")
]
Chunk = Annotated[int, typer.Option(metavar="COUNT", min=1, help="Rows in memory at a time.")]
References = Annotated[
    bool,
    typer.Option("--references", help="Also train references: the same model without rules, unaware, other ε. Slow."),
]
ReferenceSeconds = Annotated[
    float, typer.Option(metavar="SECONDS", min=1.0, help="Time limit for all references together.")
]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="The title.", show_default="the folder's name")]
Jobs = Annotated[int, typer.Option(metavar="COUNT", min=1, help="Cells that run at the same time, one thread each.")]
Device = Annotated[str, typer.Option(metavar="NAME", help="auto, cpu or cuda; auto takes a GPU where there is one.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A Dask scheduler, or local[:WORKERS].", show_default="this machine"),
]
