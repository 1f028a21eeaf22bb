"""``smile fit --from MODEL``: the model whose weights are begun with, and the rows that no training has seen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smilenn.cli.fit_request import Request
from smilenn.cli.noted import read_training, unseen
from smilenn.cli.source import Source
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.options import network_of
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.store import load
from smilenn.properties.base import Property


@dataclass(frozen=True, eq=False)
class Start:
    """The model of ``--from``, and what `smile fit` noted of its data (empty where it was saved otherwise)."""

    model: SmileRegressor | SmileClassifier
    training: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Start:
        """From its folder; `noted.check_same_rows` has seen that it was not trained on the rows to test on."""
        return cls(load(folder), read_training(folder))

    def parameters(self, restarts: int) -> dict[str, Any]:
        """The options of the network, trained so often, and the levels of quantiles."""
        out: dict[str, Any] = {"network": network_of(self.model.network).changed(restarts=restarts)}
        if isinstance(self.model, SmileRegressor):
            out["quantiles"] = self.model.quantiles
        else:
            out["positive"] = self.model.positive
        return out

    def sentence(self, request: Request, source: Source) -> str:
        """What is begun with, and whether the rows to measure on are new to it."""
        begun = f"Starting from the weights of {str(request.start)!r}"
        if unseen({"sha256": source.digest(), "start": self.training}):
            return f"{begun}, which has not seen the held-out rows either."
        return f"{begun}, which was fitted on another file: held-out rows that are in there too are not new to it."

    def properties(self) -> list[Property]:
        """What was stated of the model, the short forms spelled out; that quantiles are ordered is added by itself."""
        return list(self.model.stated_properties())
