"""``smile sign``: a signature beside the manifest of a model folder, or a new key for one."""

from __future__ import annotations

from pathlib import Path

import typer

from smilenn.certify.signing import new_key, sign
from smilenn.errors import SmileError


def run(model: Path | None, *, key: Path | None, create: Path | None) -> int:
    """Sign `model` with `key`, or create a key; exactly one of the two."""
    if create is not None:
        if model is not None or key is not None:
            raise SmileError("--new-key makes a key and signs nothing; sign in a second step with --key.")
        typer.echo(f"Wrote the private key {create}; keep it to yourself.")
        typer.echo(f"The public key, for smile check --key: {new_key(create)}")
        return 0
    if model is None or key is None:
        raise SmileError("Give a model folder and --key, the private key to sign it with; --new-key makes one.")
    typer.echo(f"Signed {model} by {sign(model, key)}.")
    return 0
