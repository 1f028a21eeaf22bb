"""``--config FILE``: options of a command from a TOML file, by their long names. The command line wins.

    target = "score"
    increasing = ["income", "age"]
    time-limit = 60

Values become the command's defaults, so an option that is typed replaces the file's, a list as a whole.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from smilenn.cli.guard import INSTEAD, UsageError
from smilenn.errors import SmileError

NEVER = ("help", "help-all", "config")  # options that say nothing of the work


def read_config(path: Path, context: Any) -> dict[str, Any]:
    """The file's values by the names of the command's parameters; every value is one that the option accepts."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)
    except FileNotFoundError:
        raise SmileError(f"--config: there is no file {str(path)!r}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SmileError(f"--config: {str(path)!r} is not a TOML file ({error}).") from None
    options = _options(context.command)
    values: dict[str, Any] = {}
    for key, value in found.items():
        name = key.replace("_", "-")
        if name not in options:
            raise SmileError(f"{path}: there is no option {key!r}; {_near(name, list(options), context)}")
        option = options[name]
        values[option.name] = _value(option, value, f"{path}: {key}", context)
    return values


def _options(command: Any) -> Mapping[str, Any]:
    """The options that a file can set, by their long names."""
    names = {text[2:]: option for option in command.params for text in option.opts if text.startswith("--")}
    return {name: option for name, option in names.items() if name not in NEVER}


def _near(name: str, known: Sequence[str], context: Any) -> str:
    if f"--{name}" in INSTEAD:
        return f"{INSTEAD[f'--{name}']} does this."
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"smile {context.info_name} --help-all lists the options."


def _value(option: Any, value: Any, where: str, context: Any) -> Any:
    """The value as if it were typed: texts, of which an option that may be repeated takes several."""
    if option.is_flag != isinstance(value, bool):
        raise SmileError(f"{where} is {'true or false' if option.is_flag else 'not true or false'}, unlike {value!r}.")
    if option.is_flag:
        return value
    entries = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not option.multiple:
        raise SmileError(f"{where} takes one value, not a list.")
    if any(isinstance(entry, (Mapping, list, bool)) for entry in entries):
        raise SmileError(f"{where} takes a text or a number{', or a list of them' if option.multiple else ''}.")
    texts = [str(entry) for entry in entries]
    typed = texts if option.multiple else texts[0]
    try:
        option.process_value(context, typed)
    except UsageError as error:
        why = str(getattr(error, "message", error)).replace("Value error, ", "").rstrip(".")
        raise SmileError(f"{where} is {value!r}, which {option.opts[0]} does not take: {why}.") from None
    return typed


def _take(context: typer.Context, path: Path | None) -> Path | None:
    if path is not None:
        context.default_map = read_config(path, context)
    return path


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        callback=_take,
        is_eager=True,
        expose_value=False,
        show_default=False,
        help="A TOML file with options: seed = 1",
    ),
]
