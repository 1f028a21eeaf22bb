"""Processes that begin with everything imported: forked from one that holds torch, scikit-learn and smilenn.

A fresh Python imports for two seconds and more before it does what a test is about. Tests of what becomes of a process
that is killed, told to end or set up oddly take a forked one; tests of what is imported take a fresh one.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import IO, Any, Self

COMMAND = "from smilenn.cli import main; main()"  # `smile`
PRELOADED = ["smilenn.estimators.regressor", "smilenn.estimators.classifier", "smilenn.cli.fitting"]
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(PRELOADED)


def _run(code: str, arguments: list[str], environment: dict[str, str], out: Connection, err: Connection) -> None:
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["smile", *arguments]
    exec(compile(code, "forked", "exec"), {"__name__": "__main__"})


def _reader(end: Connection) -> IO[str]:
    with end:
        return os.fdopen(os.dup(end.fileno()), encoding="utf-8", buffering=1)


class Forked:
    """Code in a process of its own, with those methods of `Popen` that tests use; leaving the block kills it."""

    def __init__(self, code: str, *arguments: Any) -> None:
        (mine, out), (own, err) = _CONTEXT.Pipe(False), _CONTEXT.Pipe(False)
        given = (code, [str(argument) for argument in arguments], dict(os.environ), out, err)
        self.process = _CONTEXT.Process(target=_run, args=given)
        self.process.start()
        out.close()
        err.close()
        self.stdout, self.stderr = _reader(mine), _reader(own)
        self.send_signal = lambda number: os.kill(self.process.pid, number)
        self.kill = self.process.kill

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait(60)
        self.stdout.close()
        self.stderr.close()

    def poll(self) -> int | None:
        """The exit code, or None while it runs; that of a signal is negative."""
        return self.process.exitcode

    def wait(self, timeout: float) -> int:
        """The exit code; an error if it does not end in time."""
        self.process.join(timeout)
        code = self.poll()
        assert code is not None, "the process does not end"
        return code

    def communicate(self, timeout: float) -> tuple[str, str]:
        """What is left of both streams, once it has ended."""
        errors: list[str] = []
        reading = threading.Thread(target=lambda: errors.append(self.stderr.read()), daemon=True)
        reading.start()
        out = self.stdout.read()
        reading.join(timeout)
        self.wait(timeout)
        return out, errors[0]


def forked(code: str, *arguments: Any, timeout: float = 300) -> tuple[int, str, str]:
    """Exit code, output and errors of code in a process of its own."""
    with Forked(code, *arguments) as process:
        out, err = process.communicate(timeout)
        return process.wait(timeout), out, err


def stop() -> None:
    """End the process from which others are forked, so that its time counts among that of the tests."""
    server = forkserver._forkserver
    if getattr(server, "_forkserver_pid", None) is not None:
        server._stop()
