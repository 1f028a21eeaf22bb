"""Encoders: e = E(u), a small vector whose differences between two inputs are known from the layers alone.

    E = [branch 1, branch 2, …],  a branch = some columns of u → layer → layer → …

A branch without layers passes its columns on: those coordinates keep the names, kinds and units of their features. All
others are cut to a stored box [lo, hi], which keeps equality, order and the maximum norm, and are called
``branch.0``, ``branch.1``, …. The auxiliaries, and so every proof, live in the space of e.
"""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.backbones import rebuild
from smilenn.model.encoders.beside import beside
from smilenn.model.encoders.contract import Contract
from smilenn.model.encoders.distance import Distance
from smilenn.model.encoders.layers import Kinks, Layer, Linear, Pool, Ramps, columns_of
from smilenn.model.encoders.pinned import Pinned
from smilenn.model.encoders.together import deployed
from smilenn.model.encoders.trees import Trees
from smilenn.model.spread import Encoding, Spread

LAYERS = 64  # of a branch, as checkers have it


class Branch(nn.Module):
    """Columns (coordinates of the domain, in order) through layers; `name` begins the names of what comes out.

    `pace` and `decay` multiply the learning rate and the weight decay of its training; they play no part afterwards.
    """

    def __init__(
        self, name: str, columns: Sequence[int], layers: Sequence[Layer] = (), *, pace: float = 1.0, decay: float = 1.0
    ) -> None:
        super().__init__()
        self.pace, self.decay = pace, decay
        self.name, self.columns = name, [int(c) for c in columns]
        self.layers = nn.ModuleList(layers)
        if layers and not name:
            raise SmileError("A branch with layers needs a name; its coordinates are called after it.")

    @property
    def outputs(self) -> int:
        """How many coordinates the branch returns."""
        last = self.layers[-1] if len(self.layers) else None
        return last.outputs if isinstance(last, Layer) else len(self.columns)

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        """u [B, m] → [B, outputs]: fast in training, bit by bit in one order otherwise."""
        y = columns_of(u, self.columns)
        base = None
        for layer in self.layers:
            assert isinstance(layer, Layer)
            if isinstance(layer, Linear) and layer.base:
                assert base is not None
                y = torch.cat([y, base], dim=1)
            y = layer(y) if self.training else layer.ordered(y)
            base = y if base is None else base
        return y

    def propagate(self, spread: Spread) -> Spread:
        """What is known of the outputs from what is known of u."""
        y = spread.at(self.columns)
        base = None
        for layer in self.layers:
            assert isinstance(layer, Layer)
            y = layer.propagate(y.joined(base) if isinstance(layer, Linear) and layer.base and base else y)
            base = y if base is None else base
        return y


class Encoder(nn.Module):
    """Branches side by side, cut to the box [lo, hi] (p coordinates in all; branches without layers are not cut).

    `groups` > 0 says that the branches are members of an ensemble, one kind of network after the other with so many
    members each: training then lets each learn by itself (train/encoded.py). A member may consist of `parts` branches,
    one after the other; a branch without layers comes last and belongs to all of them. `limits` are ends [p] that
    `fit_box_` does not pass. None of these plays a part afterwards. `encoded` [p] bool says which coordinates come out
    of layers, `members` how many networks an ensemble has.
    """

    lo: torch.Tensor
    hi: torch.Tensor

    def __init__(self, domain: Domain, branches: Sequence[Branch], *, groups: int = 0, parts: int = 1) -> None:
        super().__init__()
        self.domain, self.branches, self.groups, self.parts = domain, nn.ModuleList(branches), groups, parts
        self.limits: tuple[np.ndarray, np.ndarray] | None = None
        self._refuse_branches(branches)
        own = [branch for branch in branches if len(branch.layers)]
        if groups and not _grouped(branches, own, groups, parts):
            raise SmileError(f"An ensemble of {len(branches)} branches has no {groups} equal groups.")
        self.size = sum(branch.outputs for branch in branches)
        # asked for in every step of training, and branches stay what they are
        self.encoded = np.concatenate([np.full(branch.outputs, bool(len(branch.layers))) for branch in branches])
        self.members = len(own) // parts or groups
        self.register_buffer("lo", torch.full((self.size,), -(2.0**20), dtype=torch.float64))
        self.register_buffer("hi", torch.full((self.size,), 2.0**20, dtype=torch.float64))

    def _refuse_branches(self, branches: Sequence[Branch]) -> None:
        if not branches:
            raise SmileError("An encoder needs at least one branch.")
        names = [branch.name for branch in branches if len(branch.layers)]
        if len(set(names)) < len(names) or any(name in self.domain.slices for name in names):
            raise SmileError(f"Branches need names of their own, other than the features'; got {names}.")
        for branch in branches:
            if any(not 0 <= column < self.domain.size for column in branch.columns):
                raise SmileError(f"Branch {branch.name!r} reads a column that the domain does not have.")
            if not len(branch.layers):
                self._features(branch.columns)

    def _features(self, columns: Sequence[int]) -> list[Feature]:
        """The whole features behind the columns of a branch without layers."""
        found, left = [], list(columns)
        for name, span in self.domain.slices.items():
            own = list(range(span.start, span.stop))
            if left[: len(own)] == own:
                found.append(self.domain.feature(name))
                left = left[len(own) :]
        if left:
            raise SmileError("A branch without layers passes whole features on, in the order of the domain.")
        return found

    def _all(self) -> list[Branch]:
        return [branch for branch in self.branches if isinstance(branch, Branch)]

    @property
    def learned(self) -> list[Branch]:
        """The branches with layers."""
        return [branch for branch in self._all() if len(branch.layers)]

    @property
    def space(self) -> Domain:
        """The domain of e: features that pass unchanged, and a box for the rest."""
        lo, hi = self.lo.cpu().numpy(), self.hi.cpu().numpy()
        features, at = [], 0
        for branch in self._all():
            if len(branch.layers):
                features += [
                    Feature(f"{branch.name}.{k}", "continuous", float(lo[at + k]), float(hi[at + k]))
                    for k in range(branch.outputs)
                ]
            else:
                features += self._features(branch.columns)
            at += branch.outputs
        return Domain(tuple(features))

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        """u [B, m] (model units) → e [B, p]."""
        return self.cut(self.uncut(u))

    def uncut(self, u: torch.Tensor) -> torch.Tensor:
        """What the branches return, [B, p], before it is cut to the box."""
        return torch.cat(beside(self._all(), u) if self.training else deployed(self._all(), u), dim=1)

    def cut(self, e: torch.Tensor) -> torch.Tensor:
        """e [B, p] cut to the box, but for coordinates that are passed on."""
        mask = torch.as_tensor(self.encoded, device=e.device)
        cut = torch.where(e > self.lo, torch.where(e < self.hi, e, self.hi), self.lo)
        return torch.where(mask, cut, e)

    def propagate(self, spread: Spread) -> Spread:
        """What is known of e from what is known of u; cutting keeps differences, order and equality."""
        parts = [branch.propagate(spread) for branch in self._all()]
        out = parts[0]
        for part in parts[1:]:
            out = out.joined(part)
        mask, lo, hi = self.encoded, self.lo.cpu().numpy(), self.hi.cpu().numpy()
        lo, hi = (np.where(mask, np.clip(v, lo, hi), v) for v in (out.lo, out.hi))
        return Spread(lo, hi, out.low, out.high, out.rises, out.falls, out.axes).settled()

    @torch.no_grad()
    def limit_(self, least: np.ndarray, most: np.ndarray) -> None:
        """Cut e to these ends [p] from now on, also where `fit_box_` would choose wider ones; they may be infinite."""
        self.limits = least, most
        self.lo.copy_(torch.as_tensor(np.maximum(least, -(2.0**20))))
        self.hi.copy_(torch.as_tensor(np.minimum(most, 2.0**20)))

    @torch.no_grad()
    def fit_box_(self, u: torch.Tensor, room: float = 1.0) -> None:
        """Set the box to the range of e on data u [B, m], widened by `room` of its width on each side."""
        training = self.training
        # any box is sound: where training mode is no other function, its matrix products take less long
        layers = [layer for branch in self.learned for layer in branch.layers]
        alike = all(isinstance(layer, (Ramps, Linear, Kinks, Trees)) for layer in layers)
        self.train(alike or any(isinstance(layer, Contract) for layer in layers))
        self.lo.fill_(-(2.0**20))
        self.hi.fill_(2.0**20)
        parts = [self(part) for part in u.split(4096)]
        self.train(training)
        low = torch.stack([part.amin(dim=0) for part in parts]).amin(dim=0)
        high = torch.stack([part.amax(dim=0) for part in parts]).amax(dim=0)
        width = (high - low).clamp(min=2.0**-10)
        # few bits: bounds are read by people and by exact arithmetic
        self.lo.copy_(_short(low - room * width, -1))
        self.hi.copy_(_short(high + room * width, 1))
        if self.limits is not None:
            inside = torch.as_tensor(self.encoded, device=u.device)
            least, most = (torch.as_tensor(end, device=u.device)[inside] for end in self.limits)
            least, most = _short(least, 1), _short(most, -1)
            self.lo[inside] = torch.minimum(torch.maximum(self.lo[inside], least), most)
            self.hi[inside] = torch.maximum(torch.minimum(self.hi[inside], most), least)

    def freeze(self) -> Encoding:
        """A copy as provers see it, untouched by further training."""
        frozen = copy.deepcopy(self).eval()
        hasher = hashlib.sha256(repr((self.domain.to_json(), self.describe())).encode())
        for name, tensor in sorted(frozen.state_dict().items()):
            bits = tensor.cpu().contiguous().reshape(-1).view(torch.uint8)  # NumPy has no bfloat16
            hasher.update(name.encode() + bits.numpy().tobytes())
        ends = np.cumsum([0, *(branch.outputs for branch in self._all())]).tolist()
        places = zip(self._all(), ends, ends[1:], strict=False)
        parts = tuple(slice(start, stop) for branch, start, stop in places if len(branch.layers))
        return Encoding(self.domain, frozen.propagate, self.encoded, hasher.hexdigest(), parts)

    def project_(self) -> None:
        """Restore the sign constraints of all layers."""
        for branch in self._all():
            for layer in branch.layers:
                assert isinstance(layer, Layer)
                layer.project_()

    def describe(self) -> list[dict[str, Any]]:
        """JSON-ready, enough to rebuild the encoder with fresh weights."""
        return [
            {
                "name": branch.name,
                "columns": branch.columns,
                "layers": [_described(layer) for layer in branch.layers if isinstance(layer, Layer)],
            }
            for branch in self._all()
        ]


def _described(layer: Layer) -> dict[str, Any]:
    """A layer's description; one of another class, or with another forward pass, is not called by a known kind.

    Checkers know what the layers of this package compute. A subclass may compute something else, and so they refuse it.
    """
    known = type(layer) in (Ramps, Linear, Kinks, Pool, Distance, Contract, Trees, Pinned) and "forward" not in vars(
        layer
    )
    own = f"{type(layer).__module__}.{type(layer).__qualname__}"
    return layer.describe() if known else layer.describe() | {"kind": own}


def _short(values: torch.Tensor, direction: int) -> torch.Tensor:
    """Rounded outward to a multiple of 2^-10 of the next power of two."""
    out = []
    for value in values.tolist():
        unit = 2.0 ** (math.frexp(value)[1] - 10)
        out.append((math.ceil if direction > 0 else math.floor)(value / unit) * unit)
    return torch.tensor(out, dtype=torch.float64, device=values.device)


def rebuild_encoder(
    domain: Domain,
    description: Sequence[Mapping[str, Any]],
    modules: Mapping[str, nn.Module] | None = None,
    most: int | None = None,
) -> Encoder:
    """An encoder with fresh weights from `Encoder.describe`; `modules` supplies pinned modules of the user's own.

    A description asks for any size it likes. One that asks for more than `most` coordinates is refused.
    """
    branches, sizes = [], []
    for entry in description:
        if len(entry["layers"]) > LAYERS:
            raise SmileError(f"Branch {entry['name']!r} has {len(entry['layers'])} layers; {LAYERS} is the most.")
        layers = [_layer(d, (modules or {}).get(entry["name"])) for d in entry["layers"]]
        branches.append(Branch(str(entry["name"]), entry["columns"], layers))
        sizes += [layer.outputs for layer in layers]
    if most is not None and max([sum(branch.outputs for branch in branches), *sizes]) > most:
        raise SmileError(f"The encoder has more coordinates than its weights leave room for, which is {most}.")
    return Encoder(domain, branches)


def _grouped(branches: Sequence[Branch], own: Sequence[Branch], groups: int, parts: int) -> bool:
    """Whether the branches with layers are `groups` of equal members, and one without comes last if at all."""
    members = {tuple(branch.outputs for branch in own[i : i + parts]) for i in range(0, len(own), parts)}
    last = list(branches[: len(own)]) == list(own) and len(branches) <= len(own) + 1
    return len(own) % (groups * parts) == 0 and len(members) <= 1 and last


def _layer(d: Mapping[str, Any], module: nn.Module | None) -> Layer:
    """A layer with fresh weights from its description; `module` serves where it is pinned."""
    match d["kind"]:
        case "ramps":
            return Ramps([int(i) for i in d["source"]])
        case "linear":
            return Linear(int(d["inputs"]), int(d["outputs"]), base=int(d["base"]))
        case "kinks":
            return Kinks(int(d["size"]), int(d["convex"]))
        case "pool":
            return Pool(int(d["side"]), int(d["block"]))
        case "distance":
            return Distance(int(d["inputs"]), int(d["outputs"]))
        case "contract":
            return Contract(int(d["inputs"]), int(d["units"]))
        case "trees":
            return Trees(int(d["inputs"]), d["trees"], int(d["nodes"]), d["sets"])
        case "pinned":
            return Pinned(rebuild(d["module"]) if module is None else module, int(d["outputs"]))
        case kind:
            raise SmileError(f"There is no encoder layer of kind {kind!r}; a newer version may know it.")
