"""``smile explain``: why rows fall short, and the smallest certified change that helps."""

from __future__ import annotations

import json as json_module
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smilenn.cli import paths
from smilenn.cli.explain_request import Goal, changes_of, goal_of, predicts_numbers
from smilenn.cli.options import NA, Json, KeepNA, Model
from smilenn.cli.source import Source
from smilenn.errors import SmileError

if TYPE_CHECKING:
    import pandas as pd

    from smilenn.estimators.classifier import SmileClassifier
    from smilenn.estimators.regressor import SmileRegressor

MOST = 20  # rows, unless --rows says another
HIGHER = "Gains are towards a higher prediction, since no goal was given; --at-most NUMBER asks for a lower one."


def explain(
    model: Model,
    data: Annotated[Path, typer.Argument(metavar="TABLE", help="The rows to explain.", show_default=False)],
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN:DIRECTION",
            help="What may change: income:up, debt:down, or income:60 to go no further than 60; repeat.",
        ),
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="The probability, or the prediction, to reach; without --change it may be left out."
        ),
    ] = None,
    at_most: Annotated[float | None, typer.Option(metavar="NUMBER", help="The prediction to come down to.")] = None,
    to: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The class that is wanted.", show_default="the positive one")
    ] = None,
    output: Annotated[str | None, typer.Option(metavar="NAME", help="One of several predicted numbers.")] = None,
    rows: Annotated[int, typer.Option(metavar="COUNT", min=1, help="How many rows to explain.")] = MOST,
    na: NA = None,
    keep_na: KeepNA = None,
    json: Json = False,
) -> None:
    """Say how much each feature could improve a row, and the smallest change that is certified to be enough."""
    from smilenn.cli.predict_request import Request, checked

    paths.check_model(model)
    source = checked(Request(Path(model), data, Path("explained"), na=tuple(na or ()), keep_na=tuple(keep_na or ())))
    changes = changes_of(model, change or [])
    asked = Goal(to, at_least, at_most, output)
    goal = goal_of(model, asked, changes)
    higher = asked.is_open and predicts_numbers(model)
    frame = _read(model, source, rows)  # without torch
    from smilenn.estimators.store import load

    estimator = load(model)
    if higher and not json:
        typer.echo(HIGHER)
    for place in range(len(frame)):
        name = source.row_number(place)
        with _named_row(source, place):
            found = _explained(estimator, frame.iloc[[place]], goal, changes)
        found = {"row": name} | ({"towards": "higher"} if higher else {}) | found
        typer.echo(json_module.dumps(found, ensure_ascii=False) if json else _text(name, found))


def _read(model: Path, source: Source, rows: int) -> pd.DataFrame:
    """The first rows; each must be one that can be explained."""
    from smilenn.cli.expecting import Expected
    from smilenn.cli.rows import category_names, plain_numbers
    from smilenn.cli.table import read_chunks
    from smilenn.recourse.inputs import inputs_of

    expected = Expected.read(model)
    domain = expected.domain_
    names, numbers = category_names(domain), plain_numbers(domain)
    _, frame = next(read_chunks(source, rows, names, only=set(domain.columns), numbers=numbers))
    for place in range(len(frame)):
        with _named_row(source, place):
            inputs_of(expected, frame.iloc[[place]])
    return frame


@contextmanager
def _named_row(source: Source, place: int) -> Iterator[None]:
    """Errors in a row are said of the file's row, with the option for a text that means "missing"."""
    from smilenn.cli.table import with_na

    try:
        yield
    except SmileError as error:
        said = re.sub(r"^Row 0, ", "", with_na(str(error)))
        raise SmileError(f"{source.name}, row {source.row_number(place)}: {said}") from None


def _explained(
    estimator: SmileRegressor | SmileClassifier, row: pd.DataFrame, goal: dict[str, Any], changes: dict[str, Any]
) -> dict[str, Any]:
    """Gains, and a change where one is asked for, JSON-ready."""
    gains = estimator.reasons(row, **goal)
    found = json_module.loads(gains.to_json(orient="records", double_precision=15))
    out: dict[str, Any] = {"gain": gains.attrs["gain"], "reasons": found}
    if changes:
        found = estimator.recourse(row, change=changes, **goal)
        moved = {name: {"from": a, "to": b} for name, (a, b) in found.change.items()}
        out |= {"reached": found.reached, "change": moved, "sentence": found.sentence}
    return out


def _text(name: int, found: dict[str, Any]) -> str:
    """The same for people."""
    lines = [f"Row {name}: what each feature alone could {found['gain']}"]
    for one in found["reasons"]:
        said = "proved" if one["proved"] else "measured, not proved"
        best = f"{one['best']:.6g}" if isinstance(one["best"], float) else one["best"]
        change = f"{one['value']} → {best}" if one["gain"] > 0 else f"nothing found better than {one['value']}"
        lines.append(f"  {one['gain']:>10.4g}  {one['feature']!r}: {change} ({said})")
    return "\n".join([*lines, *([f"  {found['sentence']}"] if "sentence" in found else [])])
