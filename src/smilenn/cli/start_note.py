"""What the folder of ``smile fit --from`` says of its model, read without torch: enough to judge options and rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smilenn.cli.fit_request import Request
from smilenn.cli.noted import MODEL, table_columns
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.estimators.start import Known
from smilenn.estimators.tabled import classes_of, outputs_of
from smilenn.model.folder import parse_json, read_folder
from smilenn.properties.claim import Claim

KINDS = {"SmileRegressor": "regression", "SmileClassifier": "classification"}
PROPERTIES = "properties.json"


@dataclass(frozen=True, eq=False)
class StartNote:
    """What the model knows, its task, and the levels or the class that it was fitted with.

    task : ``regression`` or ``classification``.
    quantiles, positive : parameters of the estimator; None where there are none.
    """

    folder: Path
    task: str
    known: Known
    quantiles: tuple[float, ...] | None
    positive: Any

    @classmethod
    def read(cls, folder: Path) -> StartNote:
        """From the folder of a model; one that cannot be read gets the sentence that loading it raises."""
        try:
            files = read_folder(folder)
            model = parse_json(files[MODEL], MODEL)
            params, net = model["params"], model["net"]
            table = model.get("table") or {"task": model.get("task", ""), **model["learned"]}  # as version 1 had it
            claims = tuple(Claim.from_json(claim) for claim in parse_json(files[PROPERTIES], PROPERTIES)["claims"])
            outputs = outputs_of(table, tuple(net["outputs"]))
            domain = Domain.from_json(net["domain"])
            known = Known(table_columns(folder), classes_of(table), outputs, domain, claims)
            levels = params.get("quantiles")
            quantiles = None if levels is None else tuple(levels)
            return cls(folder, KINDS[model["estimator"]], known, quantiles, params.get("positive"))
        except (LookupError, TypeError, ValueError, AttributeError):
            from smilenn.estimators.store import load

            load(folder)
            raise SmileError(f"{str(folder)!r} does not describe a model to start from; save it again.") from None

    def is_classification(self, request: Request, judged: bool) -> bool:
        """Whether the fit is a classification, as the model is; refused where options or target ask for the other.

        Numbers count as a regression by themselves, but they may be the classes of the model.
        """
        known = self.task == "classification"
        if known != judged and not (request.task == "auto" and not judged):
            asked = "classification" if judged else "regression"
            raise SmileError(
                f"{str(self.folder)!r} is a {self.task}, but the options or the target ask for a {asked}; fit anew, "
                "without --from."
            )
        return known
