"""Competitors and references, written here from their ideas; each file has its formula on top."""

from typing import Any

from smilenn.baselines.agnostic import fit_agnostic, mlp
from smilenn.baselines.boosting import fit_boosting
from smilenn.baselines.certifair import fit_certifair
from smilenn.baselines.constant import fit_constant
from smilenn.baselines.crown_ibp import Ramp, fit_crown_ibp, verify
from smilenn.baselines.descent import Descent
from smilenn.baselines.isotonic import fit_isotonic
from smilenn.baselines.lipschitz_residual import fit_lipschitz_residual
from smilenn.baselines.monotone_weights import fit_monotone_weights
from smilenn.baselines.network import Predictor, ScaledModule
from smilenn.baselines.pgd import pgd_margin
from smilenn.baselines.unaware import fit_unaware

__all__ = [
    "Descent",
    "Predictor",
    "Ramp",
    "ScaledModule",
    "fit_agnostic",
    "fit_boosting",
    "fit_certifair",
    "fit_constant",
    "fit_crown_ibp",
    "fit_isotonic",
    "fit_lipschitz_residual",
    "fit_monotone_weights",
    "fit_unaware",
    "mlp",
    "pgd_margin",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "Network":  # `from … import Network` would replace the words of an AttributeError
        raise ImportError(
            "smilenn.baselines.Network is called ScaledModule now; smilenn.Network holds an estimator's options"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
