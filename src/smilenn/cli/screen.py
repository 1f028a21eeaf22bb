"""Help that fits on a screen: ``--help`` shows what most people need, ``--help-all`` every option.

Options that are shown by ``--help-all`` alone work like all others, on the command line and in a ``--config`` file.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

# options that --help leaves out, by command
RARE: dict[str, tuple[str, ...]] = {
    "fit": (
        "--output",
        "--positive",
        "--quantile",
        "--class-weight",
        "--category",
        "--norm",
        "--unknown",
        "--na",
        "--keep-na",
        "--boxes",
        "--encoder",
        "--epochs",
        "--restarts",
        "--threads",
        "--checkpoint",
        "--from",
        "--cluster",
    ),
}


def hide_rare(command: Any) -> None:
    """Take the rare options of a command out of its help."""
    rare = RARE.get(command.name, ())
    for option in command.params:
        if any(name in rare for name in option.opts):
            option.hidden = True


def name_types(command: Any) -> None:
    """An argument that takes several paths says so in English; Typer would print the type of a Python list."""
    for argument in command.params:
        if argument.param_type_name == "argument" and argument.nargs != 1:
            argument.bare_type = lambda: "paths"


def _show_all(context: typer.Context, asked: bool) -> None:
    if asked:
        command: Any = context.command
        for option in command.params:
            option.hidden = False
        typer.echo(context.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all", callback=_show_all, is_eager=True, expose_value=False, help="Show the rare options too."
    ),
]
