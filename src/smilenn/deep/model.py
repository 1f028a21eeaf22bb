"""`fit_deep`: a model inside a box whose ends have several hidden layers, and its folder.

    train centre and backbone ─▶ certify the box ─▶ train the backbone inside it ─▶ folder

The folder is that of an audit about the ends (`smile check` reads it) with two files more: deep.json says which rules
the certificate is for and how cells become inputs, backbone.safetensors holds the backbone, which no certificate reads.
audit.json names deep.json by its SHA-256, and deep.json the backbone: the digest of the certificate covers them all.
Whoever loads the folder has the checker read it again, and predicts with the weights that were checked.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import nn

from smilenn.auditing.folder import write_folder
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.certify.check_deep import sha256
from smilenn.deep.binding import AUDIT, BACKBONE, MODEL, refuse_other_model, source_of
from smilenn.deep.certificate import Box, certified_box, checked_ends, shrink
from smilenn.deep.ends import OUTPUTS, boxed_row, claimed_rows
from smilenn.deep.training import Boxed, Examples, Limit, train, train_backbone
from smilenn.domain import Domain
from smilenn.domain.box import OutOfBounds
from smilenn.errors import AlteredError, SmileError
from smilenn.estimators.outside import outside_mode
from smilenn.estimators.quality import warn_of_shortfall
from smilenn.model.backbones import MLP
from smilenn.model.folder import dump_json, parse_json, place_folder, read_file, refuse_existing
from smilenn.model.profile import assert_ieee
from smilenn.model.whole import stored_digest
from smilenn.properties.base import Property
from smilenn.properties.forms import Outputs
from smilenn.properties.spec import properties_from_json, properties_to_json
from smilenn.report.standing import Standing, measured, spaced

Task = Literal["regression", "binary"]
FORMAT, VERSION = "smilenn-deep", 2  # version 1 had no digest of deep.json
MOST_BACKBONE = 1 << 30  # bytes


@dataclass(frozen=True, eq=False)
class DeepModel:
    """A boxed model whose rules the checker has accepted.

    Attributes
    ----------
    ends : the network (lower, upper) that the certificate is about.
    backbone : a network from model units [B, m] to [B, 1]; its values are cut to the box.
    mean, scale : of the target; the backbone predicts (f − mean) / scale.
    box : how the box was certified; None for a model that was loaded.
    measured : how well it predicted the rows of `fit_deep`; None of older folders.
    """

    ends: DeepNet
    backbone: MLP
    domain: Domain
    properties: tuple[Property, ...]
    task: Task
    mean: float
    scale: float
    outside: OutOfBounds
    box: Box | None = None
    measured: Standing | None = None

    @property
    def quality(self) -> Standing | None:
        """How well it predicts, on the rows it was fitted to; None where that is not known of these weights."""
        found = self.measured
        return found if found is not None and found.weights == self._digest() else None

    def _digest(self) -> str:
        """All that a prediction is computed from, but the domain."""
        layers = zip(self.ends.weights, self.ends.biases, strict=True)
        ends = {f"ends.{i}.{j}": torch.tensor(part) for i, layer in enumerate(layers) for j, part in enumerate(layer)}
        said = {"sizes": self.backbone.description["sizes"], "mean": self.mean, "scale": self.scale}
        return stored_digest(said, {**ends, **self.backbone.state_dict()})

    def values(self, x: Any) -> np.ndarray:
        """f [n] at rows of a table or array; logits of a binary task."""
        return self._at(self.domain.encode(x, out_of_bounds=self.outside))

    def _at(self, cells: np.ndarray) -> np.ndarray:
        assert_ieee(len(cells))
        lower, upper = np.moveaxis(self.ends(cells), -1, 0)
        with torch.no_grad():
            raw = self.backbone(torch.tensor(self.domain.scale(cells)))[:, 0].numpy()
        inside = np.fmax(self.mean + self.scale * raw, lower)  # what is not a number becomes the lower end
        assert_ieee(len(cells))
        return np.minimum(inside, upper)

    def predict(self, x: Any) -> np.ndarray:
        """The values, or the labels 0 and 1 of a binary task."""
        found = self.values(x)
        return found if self.task == "regression" else (found > 0).astype(np.int64)

    def save(self, folder: str | Path) -> None:
        """Write a new folder, whole or not at all, which `load_deep` and `smile check` read."""
        if self.box is None:
            raise SmileError("This model was loaded from a folder; copy that folder.")
        path = Path(folder)
        refuse_existing(path)
        backbone = safetensors.torch.save(dict(self.backbone.state_dict()))
        described = {
            "format": FORMAT,
            "version": VERSION,
            "domain": self.domain.to_json(),
            "properties": properties_to_json(self.properties),
            "task": self.task,
            "mean": self.mean,
            "scale": self.scale,
            "sizes": self.backbone.description["sizes"],
            "backbone_sha256": sha256(backbone),
            "quality": None if self.quality is None else self.quality.to_json(),
        }
        model = dump_json(described)
        with TemporaryDirectory(prefix="smile-deep-") as made:
            write_folder(Path(made), replace(self.box.ends, source=source_of(model)), OUTPUTS, self.box.rows)
            audit = {file.name: file.read_bytes() for file in Path(made).iterdir()}
        place_folder(path, audit | {MODEL: model, BACKBONE: backbone})


def fit_deep(
    x: Any,
    y: Any,
    properties: Property | Sequence[Property],
    *,
    hidden: Sequence[int] = (16, 16),
    task: Task = "regression",
    domain: Domain | None = None,
    backbone: Sequence[int] = (32, 32),
    epochs: int = 40,
    share: float = 0.5,
    time_limit: float = 60.0,
    seed: int = 0,
) -> DeepModel:
    """Fit a backbone inside a box with deep ends, and certify the properties for all inputs of the domain.

    Parameters
    ----------
    x, y : a table or array of rows, and their target; 0 and 1 for a binary task.
    properties : rules about one output with a limit above 0, such as `Fair`, `Robust` or `Bounded`.
    hidden : units of the hidden layers of the ends.
    domain : the inputs; by default learned from the rows.
    backbone : units of its hidden layers.
    share : of the room that the rules leave, meant for the width of the box in training.
    time_limit : seconds for each search for bounds; the box is narrower where they are loose.
    """
    stated = (properties,) if isinstance(properties, Property) else tuple(properties)
    if not hidden or min(hidden) < 1 or not 0 < share < 1:
        raise SmileError("hidden lists units of one layer or more, and share lies between 0 and 1.")
    torch.manual_seed(seed)
    space = Domain.from_data(x) if domain is None else domain
    cells, target = space.encode(x), np.asarray(y, dtype=np.float64)
    data, mean, scale = _examples(cells, target, task)
    rows = claimed_rows(stated, space)
    net = Boxed(space.size, hidden, backbone)
    train(net, space, data, [_limit(row, mean, scale) for row in rows], share, epochs, seed)
    layers = shrink(net.layers(), 0.0, scale)
    layers[-1] = (layers[-1][0], layers[-1][1] + mean)
    box = certified_box(layers, mean, rows, space, time_limit)
    _set_centre(net, box, mean, scale)
    train_backbone(net, space, data, box.width / scale, max(epochs // 2, 1), seed)
    out = DeepModel(box.ends, net.backbone.eval(), space, stated, task, mean, scale, _outside(stated, space), box)
    quality = _measured(out, cells, target, epochs)
    warn_of_shortfall(quality)
    return replace(out, measured=quality)


def _measured(model: DeepModel, cells: np.ndarray, target: np.ndarray, epochs: int) -> Standing:
    """The quality on the rows of `fit_deep`, none of which is held out."""
    rows = spaced(len(cells))
    found = measured(model.task, ("",), target[rows, None], model._at(cells[rows])[:, None], target[:, None])
    return Standing(len(rows), False, epochs, found, weights=model._digest())


def _examples(x: np.ndarray, y: np.ndarray, task: Task) -> tuple[Examples, float, float]:
    """What is trained on, and the mean and size of the target."""
    if y.shape != (len(x),) or not len(x) or not np.isfinite(y).all():
        raise SmileError(f"The target has shape {y.shape}; give one finite number for each of the {len(x)} rows.")
    if task == "binary":
        if not np.isin(y, (0.0, 1.0)).all():
            raise SmileError("The target of a binary task is 0 or 1.")
        return Examples(x, y, nn.functional.binary_cross_entropy_with_logits), 0.0, 1.0
    mean, scale = float(y.mean()), float(y.std()) or 1.0
    return Examples(x, (y - mean) / scale, nn.functional.mse_loss), mean, scale


def _limit(row: Row, mean: float, scale: float) -> Limit:
    weights = tuple(float(copy[0]) for copy in row.weights)
    assert row.rhs is not None
    room = (float(row.rhs) - mean * sum(weights)) / scale
    if room <= 0:
        raise SmileError(f"{row.text!r} does not hold for the constant {mean:g}; give a wider limit.")
    return Limit(boxed_row(row), (weights[0], weights[1]), room)


def _set_centre(net: Boxed, box: Box, mean: float, scale: float) -> None:
    """The last layer of the centre as it was certified, in trained units."""
    last = [part for part in net.centre.modules() if isinstance(part, nn.Linear)][-1]
    with torch.no_grad():
        last.weight.copy_(torch.tensor(box.ends.weights[-1][:1] / scale))
        last.bias.copy_(torch.tensor((box.ends.biases[-1].mean(keepdims=True) - mean) / scale))


def load_deep(folder: str | Path) -> DeepModel:
    """A model from its folder, once the checker has accepted it and its rows are those of the rules it names."""
    path = Path(folder)
    if not os.path.lexists(path / MODEL):
        raise SmileError(f"{path} is not the folder of a deep model: it has no {MODEL}.")
    files = {name: read_file(path / name, MOST_BACKBONE) for name in (MODEL, BACKBONE, AUDIT, "network.bin")}
    described = parse_json(files[MODEL], MODEL)
    if not isinstance(described, dict) or described.get("format") != FORMAT or described.get("version") != VERSION:
        raise SmileError(f"{path} is not the folder of a deep model of version {VERSION}; fit it again.")
    refuse_other_model(path, files[AUDIT], files[MODEL])
    try:
        return _read(path, described, files)
    except SmileError:
        raise  # it says by itself what is wrong, and whether the folder was altered
    except (LookupError, TypeError, ValueError, RuntimeError, safetensors.SafetensorError) as error:
        raise SmileError(f"The files of {path} do not describe a deep model: {error}.") from None


def _read(path: Path, described: dict[str, Any], files: dict[str, bytes]) -> DeepModel:
    domain, properties = Domain.from_json(described["domain"]), properties_from_json(described["properties"])
    if described["backbone_sha256"] != sha256(files[BACKBONE]):
        raise AlteredError(f"{path / BACKBONE} is not the file that was saved; save the model again.")
    ends = checked_ends(path, files[AUDIT], files["network.bin"], properties, domain)
    backbone = MLP(domain.size, [int(n) for n in described["sizes"]], 1).double()
    backbone.load_state_dict(safetensors.torch.load(files[BACKBONE]))
    task, mean, scale = described["task"], float(described["mean"]), float(described["scale"])
    if task not in get_args(Task):
        raise ValueError(f"there is no task {task!r}")
    quality = described.get("quality")
    noted = None if quality is None else Standing.from_json(quality)
    outside = _outside(properties, domain)
    return DeepModel(ends, backbone.eval(), domain, properties, task, mean, scale, outside, measured=noted)


def _outside(properties: Sequence[Property], domain: Domain) -> OutOfBounds:
    claims = [claim for one in properties for claim in one.lower(domain, Outputs(("",)))]
    return outside_mode("auto", claims, domain)
