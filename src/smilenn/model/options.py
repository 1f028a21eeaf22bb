"""Options of PyTorch under which a module that we do not know gives other bits: they stay as they were at its test.

Known layers are computed by correctly rounded operations, which no option changes. Any other module is called as it is,
and a library may compute its products and convolutions in another way once an option is switched: with
``torch.backends.mkldnn`` off, 52 of 120 pairs of a certified model with GELU fell by a last digit. So the options of
the process are noted when such a module is called for the first time, which `fit` and `load` do to test it, and a call
under other options is refused. They are compared after every row, so that another thread which switches one and back is
noticed unless it does both within one call.
"""

from __future__ import annotations

from functools import cache, reduce
from types import TracebackType
from typing import Any, Self

import torch

from smilenn.errors import SmileError

NAMES = (
    "get_default_dtype",
    "get_float32_matmul_precision",
    "are_deterministic_algorithms_enabled",
    "backends.fp32_precision",
    "backends.mkldnn.enabled",
    "backends.mkldnn.deterministic",
    "backends.mkldnn.fp32_precision",
    "backends.mkldnn.matmul.fp32_precision",
    "backends.mkldnn.conv.fp32_precision",
    "backends.mkldnn.rnn.fp32_precision",
    "backends.mha.get_fastpath_enabled",
    "backends.cuda.flash_sdp_enabled",  # of processors too
    "backends.cuda.math_sdp_enabled",
    "backends.cuda.mem_efficient_sdp_enabled",
    "backends.cuda.matmul.allow_tf32",
    "backends.cudnn.enabled",
    "backends.cudnn.allow_tf32",
    "backends.cudnn.benchmark",
    "backends.cudnn.deterministic",
)
_noted: dict[str, Any] = {}


class SameOptions:
    """A block that is computed under the options that the first such block of the process had."""

    def __enter__(self) -> Self:
        if not _noted:
            _noted.update(options())
        refuse_switched()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            refuse_switched()


def options() -> dict[str, Any]:
    """The options by name; None for those that this version of PyTorch does not have."""
    return {name: _value(name) for name in NAMES}


def refuse_switched() -> None:
    """Raise where an option is not what it was."""
    found = options()
    switched = [name for name, value in found.items() if value != _noted.get(name, value)]
    if switched:
        name = switched[0]
        raise SmileError(
            f"torch.{name} was {_noted[name]} when a module of this program was tested and is {found[name]} now, under "
            "which it may give equal rows other bits; switch it back, or predict in a new process."
        )


def _value(name: str) -> Any:
    try:
        owner, last = _place(name)
        found = getattr(owner, last)
        value = found() if callable(found) else found
        return "ieee" if value == "none" else value  # nothing asked for is full precision
    except (AttributeError, RuntimeError):  # an older PyTorch, or old and new names of one option mixed
        return None


@cache
def _place(name: str) -> tuple[Any, str]:
    """The module or object that has an option, and what it is called there."""
    *owners, last = name.split(".")
    return reduce(getattr, owners, torch), last
