"""A network on disk: ``weights.safetensors`` and ``model.json`` in a model folder, with whatever JSON goes along.

    weights.safetensors   lower.*, second.*, head_weight, head_bias (float64) and backbone.* (its own types)
    model.json            {"net": SmileNet.describe(), …what the caller adds: task, estimator, classes}
    selftest.json         inputs and what the certified part computes there, replayed by `load_net`

The head is stored in the user's output units, head × output_scale: a reader needs no scale. The scale is a power of
two, so multiplying and dividing back are exact, and predictions survive the round trip bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.model import selftest
from smilenn.model.folder import dump_json, parse_json, read_folder, read_manifest, write_folder
from smilenn.model.profile import assert_ieee

if TYPE_CHECKING:
    import torch
    from torch import nn

    from smilenn.model.net import SmileNet

WEIGHTS = "weights.safetensors"
MODEL = "model.json"
LEAST_ROOM = 1 << 16  # coordinates that an encoder may have however few weights there are: pooled pixels have none


def save_net(
    folder: Path | str,
    net: SmileNet,
    *,
    model: Mapping[str, Any] | None = None,
    documents: Mapping[str, Any] | None = None,
    extra: Mapping[str, bytes] | None = None,
    overwrite: bool = False,
) -> None:
    """Save a network as a model folder.

    `model` is merged into model.json beside the architecture; `documents` are further JSON files by name, such as
    ``properties.json``; `extra` are files taken as they are, such as a certificate's.
    """
    files = {WEIGHTS: dump_weights(net), MODEL: dump_json({"net": net.describe(), **(model or {})})}
    files[selftest.NAME] = dump_json(selftest.vectors(net))
    files |= {name: dump_json(content) for name, content in (documents or {}).items()} | dict(extra or {})
    write_folder(folder, files, overwrite=overwrite)


KEYS = {  # of a network's description, besides its encoder
    "domain",
    "backbone",
    "embedding",
    "outputs",
    "auxiliaries",
    "hidden",
    "boxes",
    "skip",
    "output_scale",
    "profile",
    "grid",
}


def load_net(
    folder: Path | str,
    *,
    backbone: nn.Module | Callable[[int, int], nn.Module] | Any = None,
    modules: Mapping[str, nn.Module] | None = None,
) -> tuple[SmileNet, dict[str, Any]]:
    """The network of a model folder, ready to predict, and the content of its JSON files by name (``model.json`` too).

    `backbone` supplies the module of a network that was saved with one of the user's own, the function (inputs,
    embedding) → module that `fit` was given, or the fitted estimator that was in it; `modules` the pinned modules of
    its encoder by the names of their branches. Their weights are overwritten with the saved ones.
    """
    folder = Path(folder)
    assert_ieee(1, subnormals=False)  # first: under another rounding good files look as if they had been changed
    files = read_folder(folder)
    documents = _documents(folder, files)
    model = documents[MODEL]
    import torch

    backbone = _made(backbone, model["net"], str(folder / MODEL))
    where = str(folder / WEIGHTS)
    with torch.device("meta"):  # shapes first: a description may ask for more memory than there is
        most = max(LEAST_ROOM, len(files[WEIGHTS]) // 8)  # numbers that the weights can be
        shapes = rebuild_net(model["net"], backbone=backbone, modules=modules, where=str(folder / MODEL), most=most)
        if backbone is None:
            _refuse_unfit_backbone(shapes, str(folder / MODEL))
    tensors = read_weights(files[WEIGHTS], where)
    _refuse_other_shapes(shapes, tensors, where)
    net = rebuild_net(model["net"], backbone=backbone, modules=modules, where=str(folder / MODEL))
    load_weights(net, tensors, where=where)
    net.eval()
    # version 1 computed pinned modules otherwise, so its vectors are no longer ours; nothing of it is certified here
    first = read_manifest(folder)["version"] == 1 and has_pinned(net)
    if selftest.NAME in documents and not first:
        selftest.replay(net, documents[selftest.NAME], str(folder / selftest.NAME))
    elif not first and (reason := selftest.batch_dependent(net)):  # a folder may lose its vectors
        raise SmileError(f"{str(folder)!r}: {reason}.")
    return net, documents


def _documents(folder: Path, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The JSON files of a folder by name; weights and the description of a network are among its files."""
    for name in (WEIGHTS, MODEL):
        if name not in files:
            raise SmileError(f"The file {name!r} is missing in {str(folder)!r}; save the model again.")
    documents = {name: parse_json(data, str(folder / name)) for name, data in files.items() if name.endswith(".json")}
    model = documents[MODEL]
    if not isinstance(model, dict) or not isinstance(model.get("net"), dict):
        raise SmileError(f"{str(folder / MODEL)!r} does not describe a network; save the model again.")
    return documents


def _made(
    backbone: nn.Module | Callable[[int, int], nn.Module] | Any, description: Mapping[str, Any], where: str
) -> nn.Module | None:
    """The user's own backbone, built for the network that is described where it is a function or an estimator."""
    import torch

    from smilenn.model.answers import is_estimator
    from smilenn.model.fitted_backbone import KIND, rebuild_fitted

    if backbone is None or isinstance(backbone, torch.nn.Module):
        return backbone
    kept = description.get("backbone")
    if isinstance(kept, Mapping) and kept.get("kind") == KIND and not is_estimator(backbone):
        raise SmileError(f"{where} was saved with an estimator as its backbone; give the fitted estimator itself.")
    try:
        domain, embedding = Domain.from_json(description["domain"]), int(description["embedding"])
        if is_estimator(backbone):
            return rebuild_fitted(description["backbone"], domain, backbone)
    except SmileError:
        raise
    except (LookupError, TypeError, ValueError) as error:
        raise SmileError(f"{where} does not describe a network ({error}); save the model again.") from None
    inputs = domain.size
    if not callable(backbone):
        raise SmileError("backbone must be a torch module, or a function (inputs, embedding) that returns one.")
    with torch.random.fork_rng(devices=[]):
        made = backbone(inputs, embedding)
    if not isinstance(made, torch.nn.Module):
        raise SmileError("backbone must be a torch module, or a function (inputs, embedding) that returns one.")
    return made


def has_pinned(net: SmileNet) -> bool:
    """Whether the network has modules whose inside the checker does not read."""
    from smilenn.model.encoders.pinned import Pinned

    return net.encoder is not None and any(isinstance(part, Pinned) for part in net.encoder.modules())


def rebuild_net(
    description: Mapping[str, Any],
    *,
    backbone: nn.Module | None = None,
    modules: Mapping[str, nn.Module] | None = None,
    where: str = "",
    most: int | None = None,
) -> SmileNet:
    """A network with fresh weights from `SmileNet.describe`; the random state of torch is left as it was.

    `most` limits the coordinates of its encoder, whose sizes no weights may confirm.
    """
    import torch

    from smilenn.model.backbones import rebuild
    from smilenn.model.encoders import rebuild_encoder
    from smilenn.model.net import SmileNet

    _refuse_description(description, where)
    with torch.random.fork_rng(devices=[]):
        try:
            domain = Domain.from_json(description["domain"])
            encoder, modules = description.get("encoder"), modules or {}
            _refuse_missing_modules(encoder or (), modules, where)
            net = SmileNet(
                domain,
                rebuild(description["backbone"]) if backbone is None else backbone,
                int(description["embedding"]),
                outputs=[str(name) for name in description["outputs"]],
                auxiliaries=description["auxiliaries"],
                hidden=int(description["hidden"]),
                boxes=description["boxes"],
                output_scale=description["output_scale"],
                skip=bool(description["skip"]),
                encoder=None if encoder is None else rebuild_encoder(domain, encoder, modules, most),
            )
            net.set_profile(description["profile"], int(description["grid"]))
            return net
        except SmileError:
            raise
        except MemoryError:
            raise SmileError(f"{where} describes a network that is too large for the memory of this machine.") from None
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RuntimeError) as error:
            why = str(error).split("\n")[0]
            raise SmileError(f"{where} does not describe a network ({why}); save the model again.") from None


def _refuse_description(description: Mapping[str, Any], where: str) -> None:
    """Raise unless a network is described by the keys there are, its output scales by powers of two."""
    if set(description) - {"encoder"} != KEYS:
        raise SmileError(
            f"{where} describes a network by {listed(sorted(description), 20)}; expected {listed(sorted(KEYS), 20)}."
        )
    scales = description["output_scale"]
    if not isinstance(scales, list) or not all(
        isinstance(s, float) and s >= 2.0**-1022 and math.frexp(s)[0] == 0.5 for s in scales
    ):
        raise SmileError(f"{where}: output_scale {scales} is not made of powers of two.")


def _pinned_modules(encoder: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The descriptions of pinned modules by the names of their branches."""
    return {
        str(branch["name"]): layer["module"]
        for branch in encoder
        for layer in branch["layers"]
        if layer["kind"] == "pinned"
    }


def _refuse_missing_modules(encoder: Sequence[Mapping[str, Any]], modules: Mapping[str, nn.Module], where: str) -> None:
    """Every pinned module of the user's own is given, and nothing is given that no branch takes."""
    pinned = _pinned_modules(encoder)
    if unknown := sorted(set(modules) - set(pinned)):
        raise SmileError(f"{where} has no pinned branch {listed(unknown)}; it has {listed(sorted(pinned)) or 'none'}.")
    own = {name: module for name, module in pinned.items() if module["kind"] == "custom" and name not in modules}
    if own:
        what = ", ".join(f"{name!r} ({module.get('type')})" for name, module in sorted(own.items()))
        raise SmileError(
            f"This model was saved with pinned modules of its own in the branches {what}; build them and pass "
            f"modules={{{', '.join(f'{name!r}: …' for name in sorted(own))}}} when loading."
        )


def dump_weights(net: SmileNet) -> bytes:
    """All tensors of a network as safetensors bytes, the head in the user's output units; all must be finite."""
    from safetensors.torch import save

    return save(_stored(net, net.state_dict()))


def certified_tensors(net: SmileNet) -> dict[str, bytes]:
    """Raw data, as stored, of the tensors a certificate covers: all but the backbone's and pinned modules'."""
    import torch

    certified = {
        name: tensor
        for name, tensor in net.state_dict().items()
        if not name.startswith("backbone.") and not (name.startswith("encoder.") and ".module." in name)
    }
    stored = _stored(net, certified)
    return {name: t.reshape(-1).view(torch.uint8).numpy().tobytes() for name, t in stored.items()}


def _stored(net: SmileNet, state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Tensors as they are stored: finite, on the CPU, the head × output_scale."""
    import torch

    # a copy of each: safetensors refuses tensors that share memory, as tied weights do
    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in state.items()}
    refuse_non_finite(tensors, "the network")
    scale = net.output_scale.detach().cpu()
    for name, factor in (("head_weight", scale[:, None]), ("head_bias", scale)):
        effective = tensors[name] * factor
        if not torch.equal(effective / factor, tensors[name]):
            raise SmileError(f"The weights {name} are too large or too small for their scale; train again.")
        tensors[name] = effective
    return tensors


def read_weights(data: bytes, where: str = WEIGHTS) -> dict[str, torch.Tensor]:
    """The tensors of safetensors bytes, all finite."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        tensors = load(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise SmileError(f"{where} is not a readable safetensors file: {error}.") from None
    refuse_non_finite(tensors, where)
    return tensors


def load_weights(net: SmileNet, tensors: dict[str, torch.Tensor], *, where: str = WEIGHTS) -> None:
    """Set the weights of `net`; names, shapes and types are checked."""
    import torch

    _refuse_other_shapes(net, tensors, where)
    scale = net.output_scale.detach().cpu()
    tensors["head_weight"] = tensors["head_weight"] / scale[:, None]
    tensors["head_bias"] = tensors["head_bias"] / scale
    with torch.no_grad():
        net.load_state_dict(tensors, strict=True)
    if net.boxes == "gap" and not net.gap.is_non_negative():
        raise SmileError(f"{where}: the gap has negative weights, so its box could flip; save the model again.")


def _refuse_unfit_backbone(net: SmileNet, where: str) -> None:
    """One of the package's own backbones takes the domain's inputs; `net` has shapes only."""
    import torch

    from smilenn.model.backbones import takes

    # a pass over shapes imports torch's compiler, two seconds for every process: only where sizes do not settle it
    if takes(net.backbone) == (net.domain.size, net.embedding):
        return
    try:
        net.embed(torch.zeros(1, net.domain.size, dtype=torch.float64))
    except RuntimeError:
        raise SmileError(f"{where} describes a backbone for other inputs than its domain; save it again.") from None


def _refuse_other_shapes(net: SmileNet, tensors: Mapping[str, torch.Tensor], where: str) -> None:
    """The tensors are those of the network, by name, shape and type."""
    from smilenn.model.backbones import MLP, ConvNet

    if isinstance(net.backbone, (MLP, ConvNet)):  # rebuilt in torch's default type; the saved one counts
        types = {t.dtype for name, t in tensors.items() if name.startswith("backbone.")}
        if len(types) == 1 and next(iter(types)).is_floating_point:
            net.backbone.to(types.pop())
    wanted = net.state_dict()
    if set(tensors) != set(wanted):
        odd = sorted(set(tensors) ^ set(wanted))
        raise SmileError(
            f"{where} and the network differ in the tensors {listed(odd)}; pass the backbone it was saved with."
        )
    for name, tensor in tensors.items():
        if tensor.shape != wanted[name].shape or tensor.dtype != wanted[name].dtype:
            raise SmileError(
                f"{where}: {name!r} is {tensor.dtype} of shape {tuple(tensor.shape)}; the network has "
                f"{wanted[name].dtype} of shape {tuple(wanted[name].shape)}."
            )


def refuse_non_finite(tensors: Mapping[str, torch.Tensor], where: str) -> None:
    """Raise if a floating-point tensor holds NaN or an infinity."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise SmileError(
                f"The weights {name!r} of {where} hold a value that is not finite; train again with a smaller "
                "learning rate."
            )
