"""Self-test vectors: the ends of the box at a few inputs, stored with a model and computed again when it is loaded.

A certificate assumes float64 arithmetic of IEEE 754. A machine or a build that computes otherwise (an emulated
or shortened type, a compiler that reorders a fixed order) shows here, before it predicts. Under ``fixed-order`` and
``dyadic`` the numbers must agree bit for bit, in a batch and row by row; under ``f64-aux``, whose sums may be taken in
any order, within 1e-9 of the output scale or of what the head adds up, far above its rounding and far below any fault.
Of an estimator as backbone its answers are kept too, and compared within 1e-9 of their size.
An encoder must give a row the same bits in any batch, whatever the profile. `batch_dependent` looks for a row where it
does not, at random rows of the domain, at each of 64 places, in odd batches, with one thread and with two. It is asked
when training ends and wherever a model is loaded. It cannot prove that there is none: docs/encoders.md does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from smilenn.errors import AlteredError, SmileError

if TYPE_CHECKING:
    import torch
    from torch import nn

    from smilenn.model.encoders import Branch, Encoder
    from smilenn.model.net import SmileNet

NAME = "selftest.json"
ROWS = 16
TOLERANCE = 1e-9
PLACES, FEW = 64, 8  # of rows in a test: for known layers, and for modules that take one call a row
LARGE = 2**22  # numbers of an encoder that takes long for a row
MANY = 2048  # rows, where one of a batch is looked at among many others
OTHER_BITS = (
    "gives a row other bits in another batch, so no certificate of it holds; use modules that treat every row by itself"
)
OTHER_VALUES = (
    "looks at the other rows of a batch, which it will not see once it is used; use modules that treat every row by "
    "itself"
)

KEEPS_STATE = (
    "was changed by being evaluated, so no test of it lasts; use modules that keep nothing from one call to the next"
)


def vectors(net: SmileNet) -> dict[str, Any]:
    """Inputs x [16, m] (both ends of the domain among them) and g∘lower, g∘upper there, each [16, o]; JSON-ready."""
    domain = net.domain
    x = np.vstack([domain.lo, domain.hi, domain.sample(ROWS - 2, np.random.default_rng(0))])
    from smilenn.model.fitted_backbone import FittedBackbone

    lower, upper = _ends(net, x)
    weights = net.snapshot().digest
    answers = {"answers": net.backbone.answers(x).tolist()} if isinstance(net.backbone, FittedBackbone) else {}
    return {
        "profile": net.profile,
        "weights": weights,
        "inputs": x.tolist(),
        "lower": lower.tolist(),
        "upper": upper.tolist(),
    } | answers


def replay(net: SmileNet, stored: Any, where: str) -> None:
    """Raise unless `net` computes on this machine what it did where it was saved."""
    weights, x, wanted = _recorded(net, stored, where)
    if weights != net.snapshot().digest:
        raise AlteredError(f"{where} is about other weights than the model's; save the model again.")
    if reason := batch_dependent(net, x):
        raise SmileError(f"{where}: {reason}.")
    _compare_answers(net.backbone, x, stored.get("answers"), where)
    exact = net.profile != "f64-aux"
    room = 0.0 if exact else TOLERANCE * _sizes(net, x)
    batches = [_ends(net, x), np.concatenate([_ends(net, row[None]) for row in x], axis=1)]
    for found in batches if exact else batches[:1]:
        if not (np.abs(found - wanted) <= room).all():
            raise SmileError(
                f"This machine computes other outputs than {where} records (profile {net.profile}), so no certificate "
                "of this model holds here; run it on a machine or a build of PyTorch with IEEE float64."
            )


def _compare_answers(backbone: nn.Module, x: np.ndarray, wanted: Any, where: str) -> None:
    """Raise unless an estimator as backbone is the one that was in the model: another would predict otherwise, and
    what was measured would not be of it.
    """
    from smilenn.model.fitted_backbone import FittedBackbone

    if wanted is None and not isinstance(backbone, FittedBackbone):
        return
    found = backbone.answers(x) if isinstance(backbone, FittedBackbone) else np.zeros(0)
    try:
        known = np.asarray([] if wanted is None else wanted, dtype=np.float64)
    except (TypeError, ValueError):
        raise SmileError(f"{where} does not hold the self-test of this model; save the model again.") from None
    if found.shape != known.shape or not (np.abs(found - known) <= TOLERANCE * (1 + np.abs(known))).all():
        raise SmileError(
            f"The backbone answers other numbers than {where} records of the estimator that was in the model; give "
            "that estimator, fitted as it was."
        )


def _recorded(net: SmileNet, stored: Any, where: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """The digest of the weights, the inputs [B, m] and both ends there [2, B, o], as they were saved."""
    try:
        weights, x = stored["weights"], np.array(stored["inputs"], dtype=np.float64).reshape(-1, net.domain.size)
        wanted = np.stack([np.array(stored[end], dtype=np.float64) for end in ("lower", "upper")])
        if wanted.shape != (2, len(x), len(net.outputs)) or stored["profile"] != net.profile or len(x) == 0:
            raise ValueError("another shape or profile")
    except (LookupError, TypeError, ValueError, ArithmeticError):
        raise SmileError(f"{where} does not hold the self-test of this model; save the model again.") from None
    return weights, x, wanted


def batch_dependent(net: SmileNet, x: np.ndarray | None = None) -> str:
    """Why equal rows may get different bits from the encoder of `net`, as part of a sentence; empty if none was found.

    Rows are drawn afresh from the domain, so no folder can choose them; rows x [B, m] are looked at too. The encoder is
    asked for 64 rows in batches of several sizes, and a pinned branch of known layers for 64 rows at each place. Any
    other module is slow, one row a call: it is asked for 8, and so is an encoder of millions of numbers.
    """
    from smilenn.model.seal import seal

    if net.encoder is None:
        return ""
    before = seal(net)
    if reason := _batch_dependent(net, net.encoder, x):
        return reason
    after = seal(net)
    moved = before is not None and after is not None and not after.matches(before)
    return f"the encoder {KEEPS_STATE}" if moved else ""


def _batch_dependent(net: SmileNet, encoder: Encoder, x: np.ndarray | None) -> str:
    import torch

    training, threads = net.training, torch.get_num_threads()
    net.eval()
    try:
        with torch.no_grad():
            for branch in encoder.learned:
                if reason := _batch_dependent_branch(net, branch):
                    return f"the encoder's branch {branch.name!r} {reason}"
            large = sum(tensor.numel() for tensor in encoder.state_dict().values()) > LARGE
            drawn = net.domain.sample(PLACES if _quick(encoder) and not large else FEW, np.random.default_rng())
            if not all(_same_bits(net.encode, _scaled(net, rows)) for rows in (drawn, x) if rows is not None):
                return f"the encoder {OTHER_BITS}"
    finally:
        net.train(training)
        torch.set_num_threads(threads)
    return ""


def _quick(part: torch.nn.Module) -> bool:
    """Whether the part has no pinned module that takes a call for every row."""
    from smilenn.model.encoders.pinned import Pinned

    return all(layer.known for layer in part.modules() if isinstance(layer, Pinned))


def _batch_dependent_branch(net: SmileNet, branch: Branch) -> str:
    """What is wrong with a branch with pinned modules; empty for any other."""
    import torch

    from smilenn.model.encoders.pinned import Pinned

    pinned = [layer for layer in branch.layers if isinstance(layer, Pinned)]
    if not pinned:
        return ""
    count = PLACES if _quick(branch) else FEW
    u = _scaled(net, net.domain.sample(count, np.random.default_rng()))
    wanted = branch(u)
    everywhere, repeats = torch.arange(PLACES) % count, range(count)
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for shift in repeats:  # each row comes to stand at each place
            rows = (everywhere + shift) % count
            if not _same(branch(u[rows]), wanted[rows]):
                return OTHER_BITS
        if not _same_bits(branch, u):
            return OTHER_BITS
    first = branch.layers[0]
    alone = isinstance(first, Pinned) and first.differs(u[:, branch.columns])
    return OTHER_VALUES if alone else ""


def _same_bits(function: Callable[[torch.Tensor], torch.Tensor], u: torch.Tensor) -> bool:
    """Whether rows u [B, m] get the same bits together, in reverse, in odd batches, one by one and among many."""
    import torch

    together = function(u)
    often = max(1, MANY // max(1, len(u)))  # enough rows for what is computed another way of many
    if not _same(function(u.repeat(often, 1)), together.repeat(often, 1)):
        return False
    return _same(function(u.flip(0)).flip(0), together) and all(
        _same(torch.cat([function(part) for part in u.split(size)]), together) for size in (1, 2, 3, 7)
    )


def _same(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Equal numbers at every place, or none at both."""
    return bool(((one == two) | (one.isnan() & two.isnan())).all())


def _scaled(net: SmileNet, x: np.ndarray) -> torch.Tensor:
    import torch

    return net.scale(torch.as_tensor(x, device=net.shift.device))


def _ends(net: SmileNet, x: np.ndarray) -> np.ndarray:
    """g∘lower and g∘upper at x [B, m], [2, B, o]; a flipped box gives lower."""
    import torch

    from smilenn.model.threads import OneThread

    with torch.no_grad(), OneThread(len(x), subnormals=net.bitwise):
        lower, upper = _box(net, x)
        return torch.stack([net.head(lower), net.head(torch.where(upper > lower, upper, lower))]).cpu().numpy()


def _sizes(net: SmileNet, x: np.ndarray) -> np.ndarray:
    """output_scale + Σ_i |G_oi|·max(|lower_i|, |upper_i|) at x [B, m], [B, o]."""
    import torch

    with torch.no_grad():
        lower, upper = _box(net, x)
        head, _ = net.effective_head()
        return (net.output_scale + torch.maximum(lower.abs(), upper.abs()) @ head.abs().T).cpu().numpy()


def _box(net: SmileNet, x: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """lower and upper as deployed: an encoder in training mode computes faster and otherwise."""
    import torch

    training = net.training
    net.eval()
    try:
        return net.box(net.encode(net.scale(torch.as_tensor(x, device=net.shift.device))))
    finally:
        net.train(training)
