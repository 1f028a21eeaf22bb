"""Whether a network is still the one that was judged: its certified part as a value, compared bit for bit.

    seal(net) = (path, class, attributes, tensors' types and shapes) of every module but the backbone's,
                and the bits of those tensors

A certificate covers auxiliaries, head, scaler and encoder. Whoever asks for the verdict must get none if one bit of
these has changed since, whichever way: an optimiser, ``.data``, a NumPy array that shares the memory, a parameter or
module exchanged, a hook, a method replaced, a layer switched to training mode. Counters of in-place changes miss
several of these, so the numbers themselves are compared with a copy. The certified part is small (some thousand
weights), so that takes tens of microseconds.

The backbone is left out: every value of it lies in the box, so what is certified holds for any backbone. Pinned modules
are not: that equal rows get equal bits was tested on the module as it was.

`is_as_described` goes further and is asked once, when a judgement is made: the network in memory must equal the one
that is rebuilt from its own description and tensors, which is what the checker has read.

What no comparison of objects can notice is a program that replaces this package's or torch's own functions and classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules import module as hooks

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.auxiliaries import FreeNet, GapNet
from smilenn.model.bundle import rebuild_net
from smilenn.model.encoders import Branch, Encoder, Pinned, Trees
from smilenn.model.encoders.trees import Plan

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet

OF_MODULES = frozenset(vars(nn.Module()))  # every module's own: tensors, parts and hooks are looked at by themselves
# Training reads these and no evaluation does: paces, groups of an ensemble, ends for the box, what restores signs
FOR_TRAINING = frozenset({"pace", "decay", "groups", "parts", "members", "limits", "keep", "p", "centred"})
COMPILED = "_compiled_call_impl"  # what a call of a module runs instead of its forward pass, if an instance has it
PLAIN = (bool, int, float, str, tuple, type(None))
PLAIN_KINDS = frozenset(PLAIN)
# what a domain computes once and keeps, and its one field
CACHED = frozenset({"features", "coordinates", "columns", "lo", "hi", "shift", "mult", "integral", "slices", "groups"})
CACHED |= {"absent", "indicators"}


class _Unknown:
    """An attribute of a type that no certified module has: equal to nothing."""

    def __init__(self, value: Any) -> None:
        pass


class _Same:
    """An attribute of a user's own module: equal to itself alone, whatever its class calls equal."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Seal:
    """The certified part of a network: `parts` as nested tuples, the `bits` of its tensors by type."""

    parts: tuple[Any, ...]
    bits: dict[torch.dtype, torch.Tensor]

    def matches(self, other: Seal) -> bool:
        """Whether both are of the same network, bit for bit."""
        return self.parts == other.parts and all(torch.equal(bits, other.bits[k]) for k, bits in self.bits.items())


@torch.no_grad()
def seal(net: SmileNet) -> Seal | None:
    """The seal of `net` as it is; None if code hangs on it that no certificate covers."""
    if _watched():
        return None
    parts: list[Any] = []
    numbers: dict[torch.dtype, list[torch.Tensor]] = {}
    for path, module, foreign in _modules(net):
        # a network in training mode predicts by a copy that is not; a part of it may not differ from the rest
        if altered(module) or (module.training and not net.training):
            return None
        tensors = _tensors(module)
        for _, tensor in tensors:
            numbers.setdefault(tensor.dtype, []).append(tensor)
        kinds = [(name, type(tensor), tensor.dtype, tensor.shape) for name, tensor in tensors]
        parts.append((path, type(module), _state(module) if foreign else _attributes(module), kinds))
    return Seal(tuple(parts), {kind: _bits(tensors) for kind, tensors in numbers.items()})


def _watched() -> bool:
    """Whether torch calls somebody else's code around every module."""
    return bool(hooks._global_forward_hooks or hooks._global_forward_pre_hooks)


def altered(module: nn.Module) -> bool:
    """Whether calling the module does something beside its class's own forward pass."""
    if module._forward_hooks or module._forward_pre_hooks:
        return True
    if isinstance(module, torch.jit.ScriptModule):  # its instances have their code by nature, which `_state` compares
        return False
    return reworked(module) or _unplanned(module)


def _unplanned(module: nn.Module) -> bool:
    """Whether a layer of trees holds nodes that make up none; else its plan is there, as at its first use."""
    try:
        return isinstance(module, Trees) and module.plan() is None
    except SmileError:
        return True


def reworked(thing: object) -> bool:
    """Whether an instance has code of its own in place of its class's: a method or a property of that name."""
    return not _code_of(type(thing)).isdisjoint(vars(thing))


@lru_cache(maxsize=256)
def _code_of(kind: type) -> frozenset[str]:
    """The names of a class's methods and properties; looked up once, for a verdict is read often."""
    own = (name for name in dir(kind) if callable(found := getattr(kind, name, None)) or isinstance(found, property))
    return frozenset((*own, COMPILED))


def _tensors(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """The parameters and buffers of a module itself, by name."""
    named = (*module._parameters.items(), *module._buffers.items())
    return [(name, tensor) for name, tensor in named if tensor is not None and not _idle(module, name)]


def _modules(net: SmileNet) -> Iterator[tuple[str, nn.Module, bool]]:
    """Path, module and whether it lies inside a pinned one, for all but the backbone's."""
    waiting: list[tuple[str, nn.Module, bool]] = [("", net, False)]
    while waiting:
        path, module, foreign = waiting.pop()
        yield path, module, foreign
        inside = foreign or isinstance(module, Pinned)
        for name, part in module._modules.items():
            if part is not None and not (module is net and name == "backbone"):
                waiting.append((f"{path}.{name}", part, inside))


def _idle(module: nn.Module, name: str) -> bool:
    """Whether a buffer plays no part in evaluation: signs asked for in training, ends that an affine gap would need."""
    return name == "signs" or (name in ("u_lo", "u_hi") and isinstance(module, GapNet) and module.kind != "affine")


def _attributes(module: nn.Module) -> dict[str, Any]:
    """The attributes of a module as plain values, less those of every module."""
    return {
        name: value if type(value) in PLAIN else _plain(value)
        for name, value in vars(module).items()
        if name not in OF_MODULES and name not in FOR_TRAINING
    }


def _state(module: nn.Module) -> dict[str, Any]:
    """The attributes of a part of a pinned module: those that can be compared by value, the others by what they are.

    Equal rows got equal bits from the module as it was tested. One that counts its calls is another one since.
    """
    return {name: _plain(value, _Same) for name, value in vars(module).items() if name not in OF_MODULES}


def _plain(value: Any, other: Callable[[Any], Any] = _Unknown) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list:
        return value[:] if PLAIN_KINDS.issuperset(map(type, value)) else [_plain(entry, other) for entry in value]
    if kind is dict:
        return {name: _plain(entry, other) for name, entry in value.items()}
    if kind is np.ndarray and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if kind is torch.Tensor:
        return _plain(value.detach().cpu().numpy(), other)
    if kind is Plan:
        return {name: _plain(entry, other) for name, entry in vars(value).items()}
    return frame(value) if kind is Domain else other(value)


def frame(domain: Domain) -> tuple[Any, ...]:
    """A domain as plain values, its features and whatever it keeps: arrays and dictionaries can be written to, however
    frozen their owner is.
    """
    features = tuple((type(feature), tuple(vars(feature).items())) for feature in domain.features)
    kept = (domain.lo, domain.hi, domain.shift, domain.mult, domain.integral)
    names = (domain.coordinates, domain.columns, tuple(domain.slices.items()))
    names += (domain.absent, tuple(domain.indicators.items()))
    added = tuple(name for name in vars(domain) if name not in CACHED)
    return type(domain), features, tuple(array.tobytes() for array in kept), names, added


def _bits(tensors: list[torch.Tensor]) -> torch.Tensor:
    """All numbers of tensors of one type in a row, as bytes or words: 0 and −0 differ, and NaN equals itself."""
    row = torch.cat([tensor.detach().cpu().reshape(-1) for tensor in tensors])
    return row.view(torch.int64 if row.element_size() == 8 else torch.uint8)


def foreign_part(net: SmileNet) -> str:
    """What code of the user's own stands where a certificate covers this package's; empty if there is none.

    A subclass has the description of its base and may compute something else. (Layers are described by their own names,
    which checkers refuse; the backbone and pinned modules may be anything.)
    """
    from smilenn.model.net import SmileNet

    encoder = net.encoder
    parts: list[tuple[str, object, type]] = [
        ("the network", net, SmileNet),
        ("lower", net.lower, FreeNet),
        ("upper", net.second, GapNet if net.boxes == "gap" else FreeNet),
    ]
    if encoder is not None:
        parts += [("the encoder", encoder, Encoder), ("the encoder's list", encoder.branches, nn.ModuleList)]
        for at, branch in enumerate(encoder.branches):
            lists: Any = branch
            parts += [(f"branch {at}", branch, Branch), (f"the list of branch {at}", lists.layers, nn.ModuleList)]
    for words, part, known in parts:
        kind = type(part)
        if kind is not known:
            own = f"{kind.__module__}.{kind.__qualname__}"
            return f"{words} is a {own}, which no certificate covers; use {known.__name__} itself"
    hanging = "the network carries code that no certificate covers: a hook, or a replaced method"
    return hanging if _watched() or any(altered(module) for _, module, _ in _modules(net)) else ""


@torch.no_grad()
def is_as_described(net: SmileNet) -> bool:
    """Whether `net` is, bit for bit, the network that its description and certified tensors rebuild."""
    branches = () if net.encoder is None else net.encoder.learned
    pinned = {b.name: layer.module for b in branches for layer in b.layers if isinstance(layer, Pinned)}
    try:
        twin = rebuild_net(net.describe(), backbone=nn.Identity(), modules=pinned)
        certified = {name: tensor for name, tensor in net.state_dict().items() if _is_certified(name)}
        lacking = twin.load_state_dict(certified, strict=False).missing_keys
    except (SmileError, RuntimeError):  # a layer of the user's own, or tensors of other shapes than are described
        return False
    if any(map(_is_certified, lacking)):
        return False
    twin.train(net.training)
    own, rebuilt = seal(net), seal(twin)
    return own is not None and rebuilt is not None and own.matches(rebuilt)


def _is_certified(name: str) -> bool:
    """Whether a tensor is neither the backbone's nor a pinned module's."""
    return not name.startswith("backbone.") and ".module." not in name
