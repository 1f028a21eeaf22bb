"""What binds the files of a deep model to its certificate: digests, one inside the other.

    audit.json  names  deep.json  names  backbone.safetensors        each by its SHA-256

deep.json says how cells become inputs, which rules the rows are for and what is predicted. The checker reads rows about
the inputs and outputs of a network; with other names of cells the same rows would be about other people.
"""

from __future__ import annotations

from pathlib import Path

from smilenn.certify.check_deep import sha256
from smilenn.errors import AlteredError
from smilenn.model.folder import parse_json

MODEL, BACKBONE, AUDIT = "deep.json", "backbone.safetensors", "audit.json"


def source_of(model: bytes) -> str:
    """What audit.json says the ends come from: the deep.json that lies beside it."""
    return f"the ends of the box of {MODEL} {sha256(model)}"


def refuse_other_model(folder: Path, statement: bytes, model: bytes) -> None:
    """Raise where the certificate, audit.json, was saved with another deep.json."""
    content = parse_json(statement, AUDIT)
    if not isinstance(content, dict) or content.get("source") != source_of(model):
        raise AlteredError(f"The certificate of {folder} was not saved with the {MODEL} that lies there; fit it again.")
