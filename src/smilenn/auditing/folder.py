"""An audit's folder: audit.json (the statement), network.bin (the weights), proofs.bin. docs/audit-certificate.md."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row


@dataclass(frozen=True, eq=False)
class ProvedRow:
    """A row, a pair x [2, m] that satisfies its premise, the bytes of its proof; how the search's bracket moved."""

    row: Row
    witness: np.ndarray
    proof: bytes
    course: tuple[tuple[float, float, float], ...] = ()


def write_folder(
    folder: Path, net: DeepNet, outputs: Sequence[str], rows: Sequence[ProvedRow], second: DeepNet | None = None
) -> None:
    """Write the three files; the folder must exist. audit.json, which names the others by digest, comes last.

    `second` evaluates the second copy; then a row without a proof shares that of the row before it.
    """
    proofs = b"".join(row.proof for row in rows)
    weights = net.data() + (b"" if second is None else second.data())
    content = {
        "format": "smilenn-audit",
        "version": 1 if second is None else 2,
        "source": net.source if second is None else f"{net.source} and {second.source}",
        "network": described(net) | {"sha256": hashlib.sha256(weights).hexdigest()},
        "inputs": list(rows[0].row.names),
        "outputs": list(outputs),
        "proofs_sha256": hashlib.sha256(proofs).hexdigest(),
        "rows": [entry(row) for row in rows],
    }
    (folder / "network.bin").write_bytes(weights)
    (folder / "proofs.bin").write_bytes(proofs)
    (folder / "audit.json").write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def described(net: DeepNet) -> dict[str, Any]:
    """The network's entry."""
    scaling = [[step, [_text(Fraction(float(k))) for k in constants]] for step, constants in net.scaling]
    return {"dtype": net.dtype, "sizes": list(net.sizes), "scaling": scaling, "sha256": net.digest()}


def entry(proved: ProvedRow) -> dict[str, Any]:
    """The entry of a row."""
    row = proved.row
    out: dict[str, Any] = {"text": row.text}
    for key in ("lo", "hi", "weights"):
        out[key] = [list(map(_text, copy)) for copy in getattr(row, key)]
    out |= {"low": list(map(_text, row.low)), "high": list(map(_text, row.high)), "whole": list(row.whole)}
    out["rhs"] = None if row.rhs is None else _text(row.rhs)
    out["witness"] = [[_text(Fraction(float(v))) for v in copy] for copy in proved.witness]
    return out | {"proof": len(proved.proof)}


def _text(value: Fraction) -> str:
    return str(value)
