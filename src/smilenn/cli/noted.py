"""What model folders note for the commands, read without loading a network.

training.json, which `smile fit` writes beside a model, says which rows of which file were held out, and under
``start`` the same of the model that was begun with. model.json names the columns that a table must have.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from smilenn.cli.source import Source, header_hint
from smilenn.errors import SmileError, listed
from smilenn.model.folder import parse_json, read_folder

TRAINING, MODEL = "training.json", "model.json"


def read_training(model: Path) -> dict[str, Any]:
    """What `smile fit` noted of its data; empty for models that were saved otherwise."""
    files = read_folder(model)
    return parse_json(files[TRAINING], TRAINING) if TRAINING in files else {}


def find_source(data: Path, training: dict[str, Any], na: tuple[str, ...], keep_na: tuple[str, ...]) -> Source:
    """A table to be read as `smile fit` read its own: the texts for missing cells that it was told are taken over."""
    noted = [[text for text in training.get(name, ()) if isinstance(text, str)] for name in ("na", "keep_na")]
    return Source.find(data, na=(*noted[0], *na), keep_na=(*noted[1], *keep_na))


def unseen(fitted_on: dict[str, Any]) -> bool | None:
    """Whether no training has seen the rows that the last one held out; None where a start read another file."""
    start = fitted_on.get("start")
    if start is None:
        return True
    return unseen(start) if start.get("sha256") == fitted_on["sha256"] else None


def check_same_rows(folder: Path, source: Source, *, seed: int, test: float) -> None:
    """Refuse to refit a model with other rows held out of the same file: it would be measured on what it has seen."""
    training = read_training(folder)
    if training.get("sha256") == source.digest() and (training["seed"], training["test"]) != (seed, test):
        raise SmileError(
            f"{str(folder)!r} held out other rows of this file; with --seed {training['seed']} --test "
            f"{training['test']} the rows to measure on stay unseen."
        )


def read_model(folder: Path) -> dict[str, Any]:
    """model.json of a model that an estimator saved."""
    files = read_folder(folder)
    model = parse_json(files[MODEL], MODEL) if MODEL in files else None
    parts = ("net", "learned", "estimator")
    if not isinstance(model, dict) or not all(part in model for part in parts):
        raise SmileError(f"{str(folder)!r} does not describe an estimator; save it again.")
    return {"table": model["learned"]} | model  # version 1 had no table of its own


def table_columns(folder: Path) -> tuple[str, ...]:
    """The columns that a table for this model has; none where model.json does not say."""
    files = read_folder(folder)
    model = parse_json(files[MODEL], MODEL) if MODEL in files else None
    table = model.get("table", model.get("learned")) if isinstance(model, dict) else None
    columns = table.get("columns") if isinstance(table, dict) else None
    return tuple(map(str, columns)) if isinstance(columns, list) else ()


def read_columns(folder: Path) -> tuple[str, ...]:
    """The columns that a model reads, without those that its fit has left out; where model.json does not say, all."""
    files = read_folder(folder)
    model = parse_json(files[MODEL], MODEL) if MODEL in files else {}
    try:
        features = model["net"]["domain"]["features"]
        names = {str(feature["name"]) for feature in features}
        read = [feature for feature in features if not _is_indicator(feature, names)]
        return tuple(str(name) for feature in read for name in feature.get("columns") or [feature["name"]])
    except (LookupError, TypeError, AttributeError):
        return table_columns(folder)


def _is_indicator(feature: dict[str, Any], names: set[str]) -> bool:
    """Whether a feature says that a number is missing (domain/absent.py), which no column of a table does."""
    name, texts = str(feature["name"]), feature.get("categories") or ["", ""]
    said = feature.get("kind") == "binary" and texts[0] == "no" and str(texts[1]).startswith("yes, read as ")
    return said and name.endswith(" is missing") and name.removesuffix(" is missing") in names


def check_header(source: Source, columns: tuple[str, ...], ids: tuple[str, ...] = ()) -> None:
    """A table has the columns that a model reads, and those of ``--id``, which are named once each."""
    for option, names in (("the model needs", columns), ("--id names", ids)):
        absent = [name for name in names if name not in source.header]
        if absent:
            noun = "column" if len(absent) == 1 else "columns"
            raise SmileError(
                f"{source.name} lacks the {noun} {listed(absent)}, which {option}; it has {listed(source.header, 20)}"
                f"{header_hint(source.header)}."
            )
    twice = [name for name in ids if ids.count(name) > 1]
    if twice:
        raise SmileError(f"--id {twice[0]} was given twice; name each column once.")
