"""The server: uvicorn around the application, on this machine's address unless another is asked for.

SIGTERM and Ctrl-C end it when the requests under way are answered. SIGHUP loads the folder anew: its hashes and its
certificate are checked once more, and a folder that is refused leaves the old model in place.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from smilenn.errors import SmileError
from smilenn.service.app import Limits, Service, application
from smilenn.service.served import Served

BACKLOG = 2048
GRACE = 30  # seconds for requests under way, and for a model that is being loaded, when the service ends
NOT = "The model was not exchanged: "


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at the address; one that is in use, or cannot be had, is an error."""
    found = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(BACKLOG)  # from now on callers wait instead of being refused
    except OSError as error:
        if found is not None:
            found.close()
        reason = error.strerror or str(error)
        raise SmileError(
            f"The address {host}:{port} cannot be had ({reason}); choose another --port or --host."
        ) from None
    return found


def serve(folder: Path, host: str, port: int, token: str | None, limits: Limits, say: Callable[[str], None]) -> None:
    """Serve a model until the process is told to end."""
    import uvicorn

    listening = bound(host, port)
    service = Service(Served.load(folder), limits)
    server = uvicorn.Server(
        uvicorn.Config(
            application(service, token), log_level="warning", timeout_graceful_shutdown=GRACE, server_header=False
        )
    )
    reloads = Reloads(service, say)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: reloads.ask())
    shown = listening.getsockname()
    say(f"{service.served.findings.headline}: serving {folder.name!r} at http://{host}:{shown[1]}/ (Ctrl-C ends it).")
    try:
        with suppress(KeyboardInterrupt):  # uvicorn raises the signal again that it has ended by
            server.run(sockets=[listening])
    finally:
        reloads.close()


class Reloads:
    """Loads the folder again when asked, one after the other; every request ends in one line, served or refused."""

    def __init__(self, service: Service, say: Callable[[str], None]) -> None:
        self.service, self.say = service, say
        self._turn, self._threads, self._ended = threading.Lock(), list[threading.Thread](), False

    def ask(self) -> None:
        """Begin to load, beside the answers."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(target=self._reload)
        self._threads.append(thread)
        thread.start()

    def _reload(self) -> None:
        with self._turn:  # whoever is told last reads last
            self.say(NOT + "the service is ending." if self._ended else self._exchange())

    def _exchange(self) -> str:
        """Load the folder again, and say what came of it; what is refused changes nothing."""
        try:
            served = Served.load(self.service.served.folder)
        except Exception as error:  # of whatever kind: the old model goes on, and somebody waits for the line
            return f"{NOT}{error}" if isinstance(error, SmileError) else f"{NOT}{type(error).__name__}: {error}"
        self.service.replace(served)
        return f"{served.findings.headline}: now serving the model with the digest {served.digest[:12]}…"

    def close(self) -> None:
        """Wait for what is being loaded: a thread that the end of the process cuts off aborts it."""
        self._ended = True
        while self._threads:
            thread = self._threads.pop()
            thread.join(GRACE)
            if thread.is_alive():
                self.say(NOT + f"the service ended, and loading took more than {GRACE} seconds more.")
                sys.stdout.flush()
                os._exit(0)
