"""``smile fit --from MODEL``: the model whose weights are begun with, and the rows that no training has seen.

training.json, which `smile fit` writes beside a model, says which rows of which file were held out, and under
``start`` the same of the model that was begun with.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smilenn.cli.source import Source
from smilenn.errors import SmileError
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.start import SHAPE
from smilenn.estimators.store import load
from smilenn.model.folder import parse_json, read_folder
from smilenn.properties.base import Property

if TYPE_CHECKING:
    from smilenn.cli.fitting import Request

TRAINING = "training.json"
KINDS: dict[type, str] = {SmileRegressor: "regression", SmileClassifier: "classification"}


@dataclass(frozen=True, eq=False)
class Start:
    """The model of ``--from``, and what `smile fit` noted of its data (empty where it was saved otherwise)."""

    model: SmileRegressor | SmileClassifier
    training: dict[str, Any]

    @classmethod
    def read(cls, request: Request, folder: Path, source: Source) -> Start:
        """From its folder; options that contradict it, and rows to test on that it has seen, are refused."""
        if request.bounds or request.category:
            raise SmileError("--from brings the domain of its model; leave --bounds and --category out.")
        model, training = load(folder), read_training(folder)
        if training.get("sha256") == source.digest():
            before, now = ((d["seed"], d["test"]) for d in (training, {"seed": request.seed, "test": request.test}))
            if before != now:
                raise SmileError(
                    f"{str(folder)!r} held out other rows of this file; with --seed {before[0]} --test {before[1]} the "
                    "rows to measure on stay unseen."
                )
        return cls(model, training)

    def kind(self, judged: type, request: Request) -> Any:
        """The estimator's class, which is the model's; another that the options or the target ask for is refused."""
        if request.task == "auto" and judged is SmileRegressor:
            return type(self.model)
        if judged is not type(self.model):
            raise SmileError(
                f"{str(request.start)!r} is a {KINDS[type(self.model)]}, but the options or the target ask for a "
                f"{KINDS[judged]}; fit anew, without --from."
            )
        return judged

    def parameters(self) -> dict[str, Any]:
        """Those that shape the network, and the levels of quantiles."""
        out = {name: getattr(self.model, name) for name in SHAPE}
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
        return list(SmileEstimator.all_properties(self.model))


def read_training(model: Path) -> dict[str, Any]:
    """What `smile fit` noted of its data; empty for models that were saved otherwise."""
    files = read_folder(model)
    return parse_json(files[TRAINING], TRAINING) if TRAINING in files else {}


def find_source(data: Path, training: dict[str, Any], na: tuple[str, ...], keep_na: tuple[str, ...]) -> Source:
    """A table to be read as `smile fit` read its own: the texts for missing cells that it was told are taken over."""
    noted = [[text for text in training.get(name, ()) if isinstance(text, str)] for name in ("na", "keep_na")]
    return Source.find(data, na=(*noted[0], *na), keep_na=(*noted[1], *keep_na))


def unseen(fitted_on: dict[str, Any]) -> bool | None:
    """Whether no training has seen the rows that the last one held out; None where a start read another file."""
    start = fitted_on.get("start")
    if start is None:
        return True
    return unseen(start) if start.get("sha256") == fitted_on["sha256"] else None
