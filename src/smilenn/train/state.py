"""The state of a training run: what a checkpoint holds and what resuming needs.

A unit of work is one epoch (or one posttraining round). All randomness of a unit is drawn from generators seeded with
(seed, phase, unit), so a run resumed at a unit boundary continues bit for bit as if it had never stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from smilenn.errors import SmileError
from smilenn.model.net import SmileNet
from smilenn.search.pool import Pool
from smilenn.train.backward_members import MembersBackward
from smilenn.train.ensemble import Ensemble
from smilenn.train.recorded import Recorded


class CheckpointError(SmileError):
    """A checkpoint that cannot be read, or that belongs to another run."""


PHASES = ("pretrain", "train", "posttrain", "done")
FORMAT = 1
PART = ".part"  # a checkpoint being written


@dataclass
class State:
    """Everything that changes during training, apart from the network's own weights.

    Attributes
    ----------
    phase, unit : the next unit of work.
    lam, square : λ_prop, and the running mean square of L_prop that scales its steps.
    best : best proved weights so far and their validation loss, or None.
    scores : encoders: the least loss on kept rows of every part that has its own best state.
    parts : encoders: the names of the tensors of every such part.
    stall : pretraining: epochs since the best loss so far.
    stalls : encoders: the same of every part; `stall` is the least of them.
    pools : counterexamples, one pool per claim.
    ensemble : the members of an encoder while they are trained together, or None.
    written : the gradient of the last epoch, where it was written out, or None.
    recorded : steps recorded on a GPU, or None.
    """

    net: SmileNet
    optimizer: torch.optim.Adam
    fingerprint: str
    phase: str = "pretrain"
    unit: int = 0
    lam: float = 0.0
    square: float = 0.0
    best: dict[str, torch.Tensor] | None = None
    best_loss: float = float("inf")
    scores: list[float] = field(default_factory=list)
    parts: list[list[str]] = field(default_factory=list)
    stalls: list[int] = field(default_factory=list)
    stall_loss: float = float("inf")
    stall: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    pools: list[Pool] = field(default_factory=list)
    seconds: float = 0.0
    ensemble: Ensemble | None = None
    written: MembersBackward | None = None
    recorded: Recorded | None = None

    def enter(self, phase: str) -> None:
        """Start a phase at its first unit."""
        self.phase, self.unit = phase, 0

    def dual_step(self, violation: float, rate: float) -> None:
        """DualStep as Adam takes it: ascend by about `rate` for as long as anything is violated, however little.

        A step proportional to the violation would stall where the violation is tiny but not zero.
        """
        self.square = 0.99 * self.square + 0.01 * violation**2
        if violation > 0:
            self.lam += rate * min(1.0, violation / (self.square**0.5 + 1e-12))

    def weights(self) -> dict[str, torch.Tensor]:
        """A copy of the network's weights."""
        return {name: tensor.detach().clone() for name, tensor in self.net.state_dict().items()}


def rngs(seed: int, phase: str, unit: int) -> np.random.Generator:
    """Seed torch's generator and return NumPy's for one unit of work."""
    sequence = np.random.SeedSequence([seed, PHASES.index(phase), unit])
    number = int(sequence.generate_state(1, dtype=np.uint64)[0] >> 1)
    if torch.cuda.is_available():
        torch.manual_seed(number)
    else:  # the same for the one generator there is; torch.manual_seed formats a traceback for every absent device
        torch.default_generator.manual_seed(number)
    return np.random.default_rng(sequence)


def save_state(path: Path, state: State) -> None:
    """Write a checkpoint atomically: the file is either the old state or the new one, never half of either."""
    tensors = {f"net.{k}": v for k, v in state.weights().items()}
    if state.best is not None:
        tensors |= {f"best.{k}": v for k, v in state.best.items()}
    for i, slot in state.optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{i}.{k}": torch.as_tensor(v).clone() for k, v in slot.items()}
    meta = {
        "format": FORMAT,
        "fingerprint": state.fingerprint,
        "phase": state.phase,
        "unit": state.unit,
        "lam": state.lam,
        "square": state.square,
        "stall": state.stall,
        "stalls": state.stalls,
        "best_loss": _json(state.best_loss),
        "scores": [_json(score) for score in state.scores],
        "stall_loss": _json(state.stall_loss),
        "history": state.history,
        "seconds": state.seconds,
        "rates": [float(group["lr"]) for group in state.optimizer.param_groups],
        "pools": [pool.to_json() for pool in state.pools],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    contiguous = {k: v.detach().cpu().contiguous() for k, v in tensors.items()}
    text = json.dumps(meta)
    # The bytes are written here, under a name the next run knows: after a kill nothing unknown stays behind.
    part = path.with_name(path.name + PART)
    try:
        part.write_bytes(save(contiguous, metadata={"state": text, "sha256": _digest(text, contiguous)}))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _digest(text: str, tensors: dict[str, torch.Tensor]) -> str:
    hasher = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        hasher.update(name.encode() + tensors[name].reshape(-1).view(torch.uint8).numpy().tobytes())
    return hasher.hexdigest()


def _json(value: float) -> float | None:
    return value if np.isfinite(value) else None


def load_state(path: Path, state: State) -> bool:
    """Restore a checkpoint into `state` (same network, data and constants); False where there is none."""
    if not path.exists():
        return False
    tensors, meta = _read(path)
    if meta["fingerprint"] != state.fingerprint:
        raise CheckpointError(
            f"The checkpoint {path} belongs to another network, data set, property or set of constants; "
            "delete it or choose another file."
        )
    device = state.net.shift.device
    state.net.load_state_dict(_under(tensors, "net."))
    state.best = {k: v.to(device) for k, v in _under(tensors, "best.").items()} or None
    _restore_moments(state.optimizer, _under(tensors, "adam."), meta["rates"])
    state.pools = [Pool.from_json(pool) for pool in meta["pools"]]
    state.phase, state.unit, state.lam, state.square = meta["phase"], meta["unit"], meta["lam"], meta["square"]
    state.best_loss, state.stall_loss = _number(meta["best_loss"]), _number(meta["stall_loss"])
    state.scores = [_number(score) for score in meta.get("scores", ())]
    state.stalls = list(meta.get("stalls", [meta["stall"]] * len(state.scores)))
    state.stall, state.history, state.seconds = meta["stall"], meta["history"], meta["seconds"]
    return True


def _read(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and the rest of a checkpoint, as long as its digest fits."""
    from safetensors import safe_open

    try:
        tensors = load_file(path)
        with safe_open(path, framework="pt") as file:
            written = file.metadata()
        meta = json.loads(written["state"])
        if meta["format"] != FORMAT or written["sha256"] != _digest(written["state"], tensors):
            raise ValueError
    except (SafetensorError, KeyError, TypeError, ValueError, OSError):
        raise CheckpointError(f"The checkpoint {path} cannot be read; delete it to start from the beginning.") from None
    return tensors, meta


def _under(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _restore_moments(optimizer: torch.optim.Optimizer, tensors: dict[str, torch.Tensor], rates: list[float]) -> None:
    """The optimiser's moments (``place.name``) and learning rates; none before its first step."""
    slots: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in tensors.items():
        i, name = key.split(".", 1)
        slots.setdefault(int(i), {})[name] = value
    if slots:
        layout = optimizer.state_dict()
        for group, rate in zip(layout["param_groups"], rates, strict=True):
            group["lr"] = rate
        optimizer.load_state_dict({"state": slots, "param_groups": layout["param_groups"]})


def _number(value: float | None) -> float:
    """JSON has no infinities."""
    return float("inf") if value is None else value
