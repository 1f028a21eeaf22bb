"""The one place where errors become sentences, and errors and verdicts exit codes."""

from __future__ import annotations

import re
import signal
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup, TyperOption

from smilenn.cli.option_words import in_options
from smilenn.cli.screen import hide_rare, name_types
from smilenn.errors import AlteredError, SmileError

if TYPE_CHECKING:
    from smilenn.report.standing import Standing
    from smilenn.verdict import Verdict

ALTERED, BAD_INPUT, UNTRAINED, INTERRUPTED = 1, 2, 3, 130
# options of earlier versions and words of Python's or of other libraries, and what does the same here
INSTEAD = {
    "--certify-time-limit": "--certify-limit",
    "--monotonic-cst": "--increasing or --decreasing",
    "--monotone-constraints": "--increasing or --decreasing",
    "--properties": "--spec",
    "--protected": "--fair COLUMN:EPS",
    "--random-state": "--seed",
    "--test-size": "--test",
}
# words of typer's that are not ours, longest first
PLAIN = (
    ("Input should be a valid integer, unable to parse string as an integer", "it must be a whole number"),
    ("Input should be a valid number, unable to parse string as a number", "it must be a number"),
    ("Input should be", "it must be"),
)
UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer does not export it; some versions bring their own


def exit_code(verdict: Verdict, quality: Standing | None) -> int:
    """The verdict's exit code, but never 0 for a model that is known not to have completed one step of training."""
    untrained = quality is not None and quality.steps == 0
    return verdict.exit_code or (UNTRAINED if untrained else 0)


def _flags_without_values(options: list[Any]) -> list[Any]:
    """Options that take no value say nothing of one: help would call it a <bool>."""
    for option in options:
        if isinstance(option, TyperOption) and option.is_flag and option.metavar is None:
            option.metavar = ""
    return options


class Guarded(TyperGroup):
    """A command group that answers errors with one sentence; ``--debug``, anywhere, adds the traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take ``--debug`` out of the arguments, wherever it stands."""
        ctx.meta["smilenn.debug"] = "--debug" in args
        try:
            return super().parse_args(ctx, [argument for argument in args if argument != "--debug"])
        except UsageError as error:
            raise _misused(error) from None

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, as help shows them."""
        return _flags_without_values(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, its options as help shows them."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _flags_without_values(command.get_params(ctx))
            hide_rare(command)
            name_types(command)
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        debug = ctx.meta["smilenn.debug"]
        with warnings.catch_warnings(), _terminated_like_interrupted():
            warnings.filterwarnings("default", category=UserWarning, module=r"smilenn\.")
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except UsageError as error:
                raise _misused(error) from None
            except (SmileError, OSError, MemoryError, KeyboardInterrupt) as error:
                raise typer.Exit(failed(error, debug)) from None


def _misused(error: Any) -> Exception:
    """A misused command in one sentence that names its help; a command without any arguments prints the help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return error
    text = _plain(error.format_message())
    name = getattr(error, "option_name", None)
    if name in INSTEAD and text.startswith("No such option"):
        text = f"No such option: {name}; write {INSTEAD[name]}"
    context: Any = error.ctx
    command = "smile" if context is None or context.parent is None else f"smile {context.info_name}"
    typer.echo(f"smile: {text}; see {command} --help.", err=True)
    return typer.Exit(BAD_INPUT)


def _plain(message: str) -> str:
    """What typer says of wrong arguments, in our words and without a full stop.

    >>> _plain("No such command 'fti'. Did you mean 'fit'?")
    "No such command 'fti' (did you mean 'fit'?)"
    >>> _plain("No such option: --ot (Possible options: --out, --of)")
    'No such option: --ot (did you mean --out or --of?)'
    >>> _plain("Invalid value for '--port': Input should be a valid integer, unable to parse string as an integer")
    "Invalid value for '--port': it must be a whole number"
    >>> _plain("Invalid value for '--rows': Input should be greater than or equal to 1")
    "Invalid value for '--rows': it must be greater than or equal to 1"
    """
    text = " ".join(message.replace("Value error, ", "").split()).rstrip(".")
    for theirs, ours in PLAIN:
        text = text.replace(theirs, ours)
    guess = re.search(r"\.? Did you mean (.*)\?$", text) or re.search(r" \(Possible options: (.*)\)$", text)
    return text if guess is None else f"{text[: guess.start()]} (did you mean {guess[1].replace(', ', ' or ')}?)"


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """A request to terminate ends a command as Ctrl-C does: training keeps its best model, nothing is half-written."""
    if threading.current_thread() is not threading.main_thread():  # only there may signals be handled
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def failed(error: BaseException, debug: bool) -> int:
    """Say what went wrong on the standard error stream and give the exit code."""
    if debug:
        typer.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    match error:
        case AlteredError():
            sentence, code = in_options(str(error)), ALTERED
        case SmileError():
            sentence, code = in_options(str(error)), BAD_INPUT
        case KeyboardInterrupt():
            sentence, code = "interrupted; nothing was written.", INTERRUPTED
        case BrokenPipeError():
            return BAD_INPUT
        case OSError(filename=name, strerror=reason) if name is not None:
            sentence, code = f"{str(name)!r} cannot be used: {reason}.", BAD_INPUT
        case MemoryError():
            sentence, code = "not enough memory; give fewer rows or a smaller --chunk.", BAD_INPUT
        case _:
            text = " ".join(str(error).split()) or "no message"
            sentence = f"an error that should not happen ({type(error).__name__}: {text}); please report it"
            sentence, code = f"{sentence}, with the output of --debug.", BAD_INPUT
    typer.echo(f"smile: {sentence}", err=True)
    return code


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    typer.echo(f"smile: warning: {in_options(str(message))}", err=True)
