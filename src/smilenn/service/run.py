"""The server: uvicorn around the application, on this machine's address unless another is asked for.

SIGTERM and Ctrl-C end it when the requests under way are answered. SIGHUP loads the folder anew: its hashes and its
certificate are checked once more, and a folder that is refused leaves the old model in place.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from smilenn.errors import SmileError
from smilenn.service.app import Limits, Service, application
from smilenn.service.served import Served

BACKLOG = 2048
GRACE = 30  # seconds for requests under way when the service ends


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
    if hasattr(signal, "SIGHUP"):
        signal.signal(
            signal.SIGHUP, lambda *_: threading.Thread(target=_reload, args=(service, say), daemon=True).start()
        )
    shown = listening.getsockname()
    say(f"{service.served.findings.headline}: serving {folder.name!r} at http://{host}:{shown[1]}/ (Ctrl-C ends it).")
    with suppress(KeyboardInterrupt):  # uvicorn raises the signal again that it has ended by
        server.run(sockets=[listening])


_TURN = threading.Lock()


def _reload(service: Service, say: Callable[[str], None]) -> None:
    """Load the folder again; what is refused changes nothing."""
    with _TURN:  # whoever is told last reads last
        try:
            served = Served.load(service.served.folder)
        except SmileError as error:
            say(f"The model was not exchanged: {error}")
            return
        service.replace(served)
    say(f"{served.findings.headline}: now serving the model with the digest {served.digest[:12]}…")
