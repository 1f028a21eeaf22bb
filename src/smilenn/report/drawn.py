"""How many rows of its file a model was trained on, where `smile fit` read a part of a large one."""

from __future__ import annotations

from pathlib import Path

from smilenn.model.folder import parse_json, read_folder

TRAINING = "training.json"


def drawn(folder: Path | str) -> str:
    """The sentence of a model folder's training.json; empty where the whole file was read, or nobody noted it."""
    files = read_folder(folder)
    noted = parse_json(files[TRAINING], TRAINING) if TRAINING in files else {}
    draw, of_rows = noted.get("draw"), noted.get("of_rows")
    if not isinstance(draw, dict) or type(of_rows) is not int:
        return ""
    return (
        f"The model was made from {noted['rows']} of the {of_rows} rows of {noted['data']!r}: {draw['rows']} drawn "
        f"evenly with the seed {draw['seed']}, and the rows that hold the ends of a column or one of its strings. "
        "Quality is measured on rows of that part."
    )
