"""What a bug report needs: versions of Python, the system and the libraries."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from smilenn._version import __version__

LIBRARIES = ("torch", "numpy", "pandas", "scipy", "scikit-learn", "highspy", "safetensors", "typer", "rich")
EXTRAS = (
    "pyscipopt",
    "gurobipy",
    "lightgbm",
    "xgboost",
    "catboost",
    "cryptography",
    "matplotlib",
    "dask",
    "polars",
)


def versions() -> dict[str, str]:
    """Version by name; libraries that are not installed read ``not installed``."""
    out = {"smilenn": __version__, "python": platform.python_version(), "system": platform.platform()}
    for name in (*LIBRARIES, *EXTRAS):
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            out[name] = "not installed"
    return out


def show_versions() -> None:
    """Write the versions to the standard output, one a line."""
    sys.stdout.write("".join(f"{name:>14}: {value}\n" for name, value in versions().items()))
