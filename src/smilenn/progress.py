"""Progress of long work, and three ways to show it: live on a terminal, plain lines elsewhere, not at all.

Long functions take ``callback: Callable[[Progress], None]`` and call it at every step; they know nothing of displays.
A display is a context manager that gives such a callback:

    with display("auto") as show:
        fit(..., callback=show)
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, TextIO

Kind = Literal["auto", "live", "plain", "off"]
PLAIN_EVERY = 2.0  # seconds between two plain lines of one phase


@dataclass(frozen=True)
class Progress:
    """Where a long computation stands.

    Attributes
    ----------
    phase : what is being done, one word or two ("pretrain", "train", "prove").
    step, steps : steps done in this phase and in all; steps = 0 where nobody knows.
    loss : training loss, if there is one.
    violation : largest violation found so far by search (a lower bound on the truth).
    bound : best proved upper bound on the violation.
    seconds : time since the work began, all phases together.
    message : one line worth showing.
    """

    phase: str
    step: int = 0
    steps: int = 0
    loss: float | None = None
    violation: float | None = None
    bound: float | None = None
    seconds: float = 0.0
    message: str = ""

    @property
    def numbers(self) -> str:
        """``loss 0.123 · violation 0.01 · bound 0.02``, what is known of it."""
        pairs = (("loss", self.loss), ("violation", self.violation), ("bound", self.bound))
        return " · ".join(f"{name} {value:.4g}" for name, value in pairs if value is not None and math.isfinite(value))


@dataclass
class Pace:
    """Seconds per step of the running phase, measured from the phase's first report."""

    phase: str = ""
    step: int = 0
    seconds: float = 0.0

    def left(self, progress: Progress) -> float | None:
        """Estimated seconds until the phase's last step; None at that step, and before there is anything to go by.

        Phases may end before their last step, so this is an upper estimate.

        >>> pace = Pace()
        >>> pace.left(Progress("train", 0, 100, seconds=5.0))
        >>> pace.left(Progress("train", 25, 100, seconds=10.0))
        15.0
        """
        if progress.phase != self.phase:
            self.phase, self.step, self.seconds = progress.phase, progress.step, progress.seconds
            return None
        done, spent = progress.step - self.step, progress.seconds - self.seconds
        if done <= 0 or spent <= 0 or progress.steps <= 0:
            return None
        return max(0.0, (progress.steps - progress.step) * spent / done) or None


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(0.42), duration(7.3), duration(95), duration(7300)
    ('0.4 s', '7 s', '1 min 35 s', '2 h 1 min')
    """
    if seconds < 3:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@dataclass
class PlainLines:
    """Writes one line per phase and one every few seconds within it; for logs and pipes."""

    stream: TextIO
    every: float = PLAIN_EVERY
    pace: Pace = field(default_factory=Pace)
    last: float = -math.inf
    phase: str = ""

    def __call__(self, progress: Progress) -> None:
        """Show one report, if it is time to."""
        left = self.pace.left(progress)
        if progress.phase == self.phase and progress.seconds - self.last < self.every and not progress.message:
            return
        self.phase, self.last = progress.phase, progress.seconds
        count = f" {progress.step}/{progress.steps}" if progress.steps else ""
        parts = [f"{progress.phase}{count}", progress.numbers, progress.message, duration(progress.seconds)]
        if left is not None:
            parts.append(f"up to {duration(left)} left")
        # a reader that has gone away (`smile fit … 2>&1 | head`) is no reason to lose the work
        with suppress(BrokenPipeError):
            self.stream.write(" · ".join(part for part in parts if part) + "\n")
            self.stream.flush()


def display(kind: Kind = "auto", stream: TextIO | None = None) -> AbstractContextManager[Callable[[Progress], None]]:
    """A context manager that gives a callback for reports.

    ``auto`` is live on a terminal and plain elsewhere; `stream` defaults to the standard error stream, so that results
    on the standard output stay clean.
    """
    stream = sys.stderr if stream is None else stream
    if stream is None:  # a program without streams
        return _off()
    if kind == "auto":
        kind = "live" if stream.isatty() else "plain"
    match kind:
        case "live":
            return _live(stream)
        case "plain":
            return _plain(stream)
        case _:
            return _off()


@contextmanager
def _off() -> Iterator[Callable[[Progress], None]]:
    yield lambda progress: None


@contextmanager
def _plain(stream: TextIO) -> Iterator[Callable[[Progress], None]]:
    yield PlainLines(stream)


@contextmanager
def _live(stream: TextIO) -> Iterator[Callable[[Progress], None]]:
    """One bar, redrawn in place; removed at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("[bold]{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[text]}"))
    pace = Pace()
    with Bars(*columns, console=Console(file=stream), transient=True) as bars:
        task = bars.add_task("starting", total=None, text="")

        def show(progress: Progress) -> None:
            left = pace.left(progress)
            count = f"{progress.step}/{progress.steps}" if progress.steps else ""
            rest = f"up to {duration(left)} left" if left is not None else duration(progress.seconds)
            parts = (count, progress.numbers, progress.message, rest)
            bars.update(
                task,
                description=progress.phase,
                total=progress.steps or None,
                completed=progress.step,
                text=" · ".join(part for part in parts if part),
            )

        yield show
