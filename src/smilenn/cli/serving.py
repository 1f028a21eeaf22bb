"""``smile serve``: a model behind an address."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Annotated

import typer

from smilenn.cli import paths
from smilenn.cli.options import Model, Quiet
from smilenn.errors import SmileError

TOKEN = "SMILENN_TOKEN"
NEEDED = ("fastapi", "uvicorn", "prometheus_client")


def serve(
    model: Model,
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="0 picks a free port.")] = 8000,
    host: Annotated[str, typer.Option(metavar="HOST", help="0.0.0.0 answers to other machines too.")] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help=f"What callers must send as a bearer token. Lists of processes show it; better set {TOKEN}.",
            show_default=TOKEN,
        ),
    ] = None,
    most_rows: Annotated[int, typer.Option(metavar="ROWS", min=1, help="Maximum rows per request.")] = 10_000,
    most_bytes: Annotated[int, typer.Option(metavar="BYTES", min=1024, help="Maximum bytes per request.")] = 2**22,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="Maximum time per request.")] = 30.0,
    quiet: Quiet = False,
) -> None:
    """Serve a model over HTTP: POST /predict, a page to play with at /, its interface at /docs."""
    paths.check_model(model)
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise SmileError(f"smile serve needs {' and '.join(missing)}; install them with pip install 'smilenn[serve]'.")
    from smilenn.service.app import Limits
    from smilenn.service.run import serve as run

    def say(text: str) -> None:
        if not quiet:
            typer.echo(text)

    limits = Limits(body=most_bytes, rows=most_rows, seconds=time_limit)
    run(Path(model), host, port, token or os.environ.get(TOKEN) or None, limits, say)
