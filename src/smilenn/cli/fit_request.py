"""The options of ``smile fit``, judged before anything slow is imported.

    checked(request)   paths ─▶ texts and numbers ─▶ header of the table ─▶ Source

What takes the rows, the model of ``--from`` or a file of rules is judged where these are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from smilenn.cli import paths
from smilenn.cli.noted import table_columns
from smilenn.cli.source import Source, header_hint, missing_texts
from smilenn.errors import SmileError, listed
from smilenn.estimators.levels import read_levels


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    data: Path
    target: tuple[str, ...]
    out: Path
    task: str = "auto"
    quantiles: tuple[float, ...] = ()
    output: str | None = None
    positive: str | None = None
    increasing: tuple[str, ...] = ()
    decreasing: tuple[str, ...] = ()
    fair: tuple[str, ...] = ()
    robust: tuple[str, ...] = ()
    norm: str = "inf"
    spec: tuple[Path, ...] = ()
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    boxes: str = "gap"
    encoder: str = "auto"
    test: float = 0.2
    seed: int = 0
    epochs: int | None = None
    restarts: int = 1
    threads: int = 1
    time_limit: float | None = None
    certify_limit: float = 60.0
    checkpoint: Path | None = None
    missing: str = "indicator"
    unknown: str = "other"
    order: tuple[str, ...] = ()
    start: Path | None = None
    ids: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    keep_na: tuple[str, ...] = ()
    class_weight: tuple[str, ...] = ()


def checked(request: Request) -> Source:
    """The table, once its header and all options fit together."""
    check_paths(request)
    check_options(request)
    source = Source.find(request.data, na=request.na, keep_na=request.keep_na)
    if request.start is not None:
        source = source.keeping(table_columns(request.start))
    check_columns(request, source)
    return source


def check_paths(request: Request) -> None:
    """What is read is there, what is written can be."""
    paths.check_new_folder(request.out)
    paths.check_table(request.data)
    for file in request.spec:
        paths.check_rules(file)
    if request.start is not None:
        paths.check_model(request.start)
    if request.checkpoint is not None:
        paths.check_new_file(request.checkpoint, "--checkpoint", read=(request.data, *request.spec))


def check_options(request: Request) -> None:
    """Numbers and texts of the options, and options that exclude each other."""
    _check_numbers(request)
    missing_texts(request.na, request.keep_na)
    if request.start is not None and (request.bounds or request.category or request.order):
        raise SmileError("--from brings the domain of its model; leave --bounds, --category and --order out.")
    if request.quantiles:
        read_levels(request.quantiles)
    if request.quantiles and request.task == "classification":
        raise SmileError("--quantile is for numbers, not for --task classification.")
    read_bounds(request.bounds)
    read_order(request.order)
    _check_rules(request)


def _check_numbers(request: Request) -> None:
    if not 0 <= request.seed < 2**32:
        raise SmileError(f"--seed {request.seed} is not a seed; write a whole number from 0 to 2³² − 1.")
    if not 0.0 <= request.test < 1.0:
        raise SmileError(f"--test {request.test} is not a share; write one such as 0.2, or 0 for none.")
    if request.time_limit is not None and not request.time_limit > 0:
        raise SmileError(f"--time-limit must be more than 0 seconds, not {request.time_limit}.")
    if not request.certify_limit >= 0:
        raise SmileError(f"--certify-limit must be 0 seconds or more, not {request.certify_limit}.")
    if request.epochs is not None and request.epochs < 0:
        raise SmileError(f"--epochs must be at least 0, not {request.epochs}.")


def _check_rules(request: Request) -> None:
    """At least one rule is asked for, each with its numbers, and the class that is meant is named once."""
    directed = request.increasing or request.decreasing
    both = [name for name in request.increasing if name in request.decreasing]
    if both:
        raise SmileError(f"{listed(both)} is both increasing and decreasing; keep one of the two.")
    if request.output is not None:
        _check_output(request)
    for text in request.fair:
        fair_parts(text)
    for text in request.robust:
        robust_parts(text)
    if request.norm != "inf" and not request.robust:
        raise SmileError("--norm says how --robust measures a change; add --robust.")
    stated = directed or request.fair or request.robust or request.spec or request.quantiles
    if not stated and request.start is None:
        raise SmileError("No property was asked for; add --increasing, --decreasing, --fair, --robust or --spec.")


def _check_output(request: Request) -> None:
    if not (request.increasing or request.decreasing):
        raise SmileError("--output says what --increasing and --decreasing apply to; add one of them.")
    if request.positive is not None:
        raise SmileError("--output and --positive both say which class is meant; give one of them.")


def fair_parts(text: str) -> tuple[str, str]:
    """``COLUMN:EPS`` of ``--fair``; the number as it was written, which is read exactly later on."""
    name, colon, eps = text.rpartition(":")
    if not colon or not name:
        raise SmileError(f"--fair {text} lacks its ε; write COLUMN:EPS, such as --fair race:0.2.")
    return name, not_negative(eps, f"--fair {text}")


def robust_parts(text: str) -> tuple[str, str | None]:
    """``DELTA[:EPS]`` of ``--robust``; DELTA may be a share, ``5%``."""
    delta, colon, eps = text.partition(":")
    if float(number(delta.removesuffix("%"), f"--robust {text}")) <= 0:
        raise SmileError(f"--robust {text}: the change is {delta.strip()}; it must be more than 0.")
    return delta if delta.endswith("%") else delta.strip(), not_negative(eps, f"--robust {text}") if colon else None


def read_bounds(texts: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """``COLUMN:LO:HI`` options."""
    out = {}
    for text in texts:
        parts = text.rsplit(":", 2)
        if len(parts) != 3 or not parts[0]:
            raise SmileError(f"--bounds {text} is not COLUMN:LO:HI; write, for example, --bounds age:18:90.")
        low, high = (float(number(part, f"--bounds {text}")) for part in parts[1:])
        if low > high:
            raise SmileError(
                f"--bounds {text}: the lowest value, {low:g}, is above the highest, {high:g}; swap the two."
            )
        out[parts[0]] = (low, high)
    return out


def read_order(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """``COLUMN=A,B,C`` options: the names of ordered columns, lowest first."""
    out = {}
    for text in texts:
        column, sign, names = text.partition("=")
        values = tuple(name.strip() for name in names.split(","))
        if not sign or not column or len(values) < 2 or not all(values) or len(set(values)) < len(values):
            raise SmileError(f"--order {text} is not COLUMN=A,B,C; write, for example, --order rating=low,middle,high.")
        out[column] = values
    return out


def number(text: str, where: str) -> str:
    """A number as the user wrote it (it is read exactly later on)."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SmileError(f"{where}: {text!r} is not a number; write one such as 0.2.")
    return text.strip()


def not_negative(text: str, where: str) -> str:
    """The same of a number that is 0 or more."""
    found = number(text, where)
    if float(found) < 0:
        raise SmileError(f"{where}: {found} is negative; it must be 0 or more.")
    return found


# ---- columns --------------------------------------------------------------------------------------------------------


def rule_columns(request: Request) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The features that rules and bounds name, by option."""
    return (
        ("--increasing", request.increasing),
        ("--decreasing", request.decreasing),
        ("--fair", tuple(text.rpartition(":")[0] for text in request.fair)),
        ("--bounds", tuple(text.rsplit(":", 2)[0] for text in request.bounds)),
        ("--order", tuple(text.partition("=")[0] for text in request.order)),
    )


def named_columns(request: Request) -> set[str]:
    """All columns that an option names; such a one is read whatever it is called."""
    rules = (name for _, names in rule_columns(request) for name in names)
    return {*request.target, *request.category, *rules}


def kept_columns(request: Request, source: Source) -> list[str]:
    """The columns to read, targets too: all but those left out, and those that number the rows."""
    left_out = {*request.drop, *request.ids, *source.index_columns(named_columns(request))}
    return [name for name in source.header if name not in left_out]


def check_columns(request: Request, source: Source) -> None:
    """The columns that options name are there, and no option takes a target for something else."""
    read = (("--target", request.target), ("--category", request.category))
    left_out = (("--drop", request.drop), ("--id", request.ids))
    for option, names in (*read, *left_out):
        check_there(option, names, source, source.header)
    _check_targets(request.target, (*rule_columns(request), *left_out))
    features = [name for name in kept_columns(request, source) if name not in request.target]
    if not features:
        raise SmileError(f"{source.name} has no feature left beside the target {listed(request.target)}.")
    if request.start is None:  # the features of a model may be groups of columns
        for option, names in rule_columns(request):
            check_there(option, names, source, features)


def _check_targets(targets: tuple[str, ...], taken: Iterable[tuple[str, tuple[str, ...]]]) -> None:
    """No target is named twice, nor by another option."""
    for option, names in taken:
        both = [name for name in targets if name in names]
        if both:
            raise SmileError(f"The target {both[0]!r} is among the features: {option} names it; remove it there.")
    twice = [name for name in targets if targets.count(name) > 1]
    if twice:
        raise SmileError(f"--target {twice[0]} was given twice; name each column once.")


def check_there(option: str, names: tuple[str, ...], source: Source, known: object) -> None:
    """The columns that an option names are in the header; `known` are those to suggest."""
    unknown = [name for name in names if name not in source.header]
    if unknown:
        hint = header_hint(source.header)
        raise SmileError(f"{option}: {source.name} has no column {listed(unknown)}; it has {listed(known, 20)}{hint}.")
