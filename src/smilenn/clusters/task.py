"""One task, wherever it runs: alone in its process, with one thread, under the versions of the process that asked.

    perform(function, shared, task, versions)  ─▶  Done(value) or Done(error=…)

One thread a task, because the sums of a product are added in an order that depends on the number of threads. One task a
process at a time, because training draws from the random state of its process. Another version of a library may
compute other bits, so a worker that has one refuses.

Bad input comes back as a value: Dask would log a raised error on the terminals of workers and ask nobody.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from smilenn._version import __version__
from smilenn.errors import SmileError

LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn")


class ClusterError(SmileError):
    """The workers or their scheduler fail, and the input is not to blame: what was finished stays as it is."""


@dataclass(frozen=True, eq=False)
class Done:
    """What became of a task: its value, or the sentence about its bad input."""

    value: Any = None
    error: SmileError | None = None

    def get(self) -> Any:
        """The value; bad input is raised here, in the process that asked."""
        if self.error is not None:
            raise self.error
        return self.value


def versions() -> dict[str, str]:
    """What may change the bits of a result, by name."""
    found = {"smilenn": __version__, "Python": ".".join(platform.python_version_tuple()[:2])}
    return found | {name: _version(name) for name in LIBRARIES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # frozen programs have no metadata
        return "unknown"


def perform(function: Callable[[Any, Any], Any], shared: Any, task: Any, wanted: dict[str, str]) -> Done:
    """``function(shared, task)``, alone and with one thread."""
    own = versions()
    other = next((name for name in wanted if own.get(name) != wanted[name]), None)
    if other is not None:
        return Done(
            error=ClusterError(
                f"The worker {platform.node()!r} has {other} {own.get(other)} and this process {wanted[other]}; "
                "install the same versions on both."
            )
        )
    try:
        return Done(_alone(function, shared, task))
    except SmileError as error:
        return Done(error=error)


def _alone(function: Callable[[Any, Any], Any], shared: Any, task: Any) -> Any:
    """Other tasks of this process wait meanwhile."""
    import torch

    from smilenn.model.threads import OneLibraryThread

    with OneLibraryThread():
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return function(shared, task)
        finally:
            torch.set_num_threads(before)
