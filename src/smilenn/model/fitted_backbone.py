"""A fitted estimator as the backbone h: whatever it answers is cut to the box, so a certificate assumes nothing of it.

    y(x)  what the estimator says of the row x as a table: numbers, log-odds, or the logarithms of class probabilities
    z(x)  the coordinates with g(z) = y(x), which `select` then cuts to [lower, upper]

    z = G⁻¹(y − g_0)                                     as many coordinates as outputs
    z = (v, lower_1 − v),  v = G_1⁻¹(y − g_0)            G = [G_1, −G_1], a coordinate as a difference of two
    y + s(x) for y, s = ½·(max_k + min_k)(m_k − y_k)     several classes, m = g((lower + upper)/2)

Of several classes the shift s changes no probability: it brings y as near to the middle of the box as it can be. The
estimator is asked about the raw row, clamped to the domain and decoded to the cells, names and types of the columns it
was fitted to. It is no part of a model folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from torch import nn

from smilenn.domain import Domain
from smilenn.domain.absent import MISSING
from smilenn.errors import SmileError, listed
from smilenn.model.answers import are_probabilities, in_order, log_shares, logit, numbers_of
from smilenn.model.fitted_columns import dtype_of, dtype_words, typed
from smilenn.properties.forms import class_name

KIND = "estimator"
ROWS = 5  # that show whether an estimator has learned something since
Answer = Literal["numbers", "logit", "logits", "log-shares"]
"""Numbers of a regressor, the logit of the second class, one of every label, or a logarithm for every class."""


@dataclass(frozen=True, eq=False)
class Seen:
    """How raw rows become what an estimator reads.

    dtypes : its columns in their order, and the type of each; None leaves the cells as the domain decodes them.
    gaps : columns whose cells ``missing`` are missing cells.
    named : whether it reads data frames; arrays otherwise.
    """

    domain: Domain
    dtypes: Mapping[str, Any]
    gaps: frozenset[str] = frozenset()
    named: bool = True

    def rows(self, x: np.ndarray) -> pd.DataFrame | np.ndarray:
        """Raw inputs x [n, m], moved into the domain, as the estimator reads them."""
        frame = self.frame(np.clip(x, self.domain.lo, self.domain.hi))
        return frame if self.named else frame.to_numpy()

    def frame(self, x: np.ndarray) -> pd.DataFrame:
        """The same as a data frame, x [n, m] being inside the domain."""
        cells = self.domain.decode(x)
        return pd.DataFrame({name: self._column(cells[name], dtype) for name, dtype in self.dtypes.items()})

    def _column(self, cells: pd.Series, dtype: Any) -> pd.Series:
        if cells.name in self.gaps:
            cells = cells.where(cells != MISSING, None)
        return cells if dtype is None else typed(cells, dtype)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready; the domain is kept elsewhere."""
        types = {name: None if dtype is None else dtype_words(dtype) for name, dtype in self.dtypes.items()}
        return {"columns": list(types), "dtypes": list(types.values()), "gaps": sorted(self.gaps), "named": self.named}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any], domain: Domain) -> Seen:
        """The inverse of `to_json`."""
        pairs = zip(kept["columns"], kept["dtypes"], strict=True)
        dtypes = {str(name): None if words is None else dtype_of(words) for name, words in pairs}
        return cls(domain, dtypes, frozenset(kept["gaps"]), bool(kept["named"]))


class FittedBackbone(nn.Module):
    """A fitted estimator inside the box.

    Parameters
    ----------
    model : it has `predict`, and `predict_proba` where classes are decided.
    seen : how rows become what it reads.
    answer : what its answers mean.
    outputs : how many there are.
    classes : names of the two classes, or of the classes of the outputs; none for numbers and labels.
    """

    def __init__(self, model: Any, seen: Seen, answer: Answer, outputs: int, classes: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.model, self.seen, self.outputs, self.classes = model, seen, outputs, classes
        self.answer: Answer = answer

    def __deepcopy__(self, memo: dict[int, Any]) -> FittedBackbone:
        """A backbone of its own around the same estimator, which may be large and is not changed by predicting."""
        return FittedBackbone(self.model, self.seen, self.answer, self.outputs, self.classes)

    # ---- what the estimator says ----------------------------------------------------------------------------------

    def answers(self, x: np.ndarray) -> np.ndarray:
        """y at raw inputs x [B, m], float64 [B, o]; an answer that is no finite number is an error."""
        if not len(x):
            return np.zeros((0, self.outputs))
        y = self._asked(self.seen.rows(x))
        if y.shape != (len(x), self.outputs):
            raise SmileError(
                f"The backbone {self.name} answered with shape {y.shape} for {len(x)} rows; it must give "
                f"{self.outputs} number{'s' if self.outputs > 1 else ''} a row."
            )
        odd = np.flatnonzero(~np.isfinite(y).all(axis=1))
        if len(odd):
            raise SmileError(
                f"The backbone {self.name} answered {y[odd[0]].tolist()} for row {int(odd[0])} of {len(x)}; give an "
                "estimator whose answers are finite numbers."
            )
        return y

    def _asked(self, rows: pd.DataFrame | np.ndarray) -> np.ndarray:
        """The answers [B, o] to rows as the estimator reads them."""
        ask = self.model.predict if self.answer == "numbers" else self._probabilities()
        try:
            found = ask(rows)
        except Exception as error:  # somebody else's code
            why = (str(error) or type(error).__name__).split("\n")[0]
            raise SmileError(f"The backbone {self.name} failed to predict: {why}") from error
        if self.answer == "numbers":
            y = numbers_of(found, "predictions")
            return y[:, None] if y.ndim == 1 else y
        if self.answer == "logits":
            return logit(_of_labels(found, self.model))
        return self._of_classes(found, len(rows))

    def _probabilities(self) -> Any:
        ask = getattr(self.model, "predict_proba", None)
        if not callable(ask):
            raise SmileError(
                f"The backbone {self.name} has no predict_proba; a classifier needs probabilities "
                "(CalibratedClassifierCV adds them)."
            )
        return ask

    def _of_classes(self, found: Any, rows: int) -> np.ndarray:
        own = own_classes(self.model)
        p = numbers_of(in_order(found, own), "probabilities")
        if not are_probabilities(p, rows, len(own)):
            raise SmileError(
                f"The backbone {self.name} has {len(own)} classes, and its probabilities of a row are not as many that "
                "add up to one; give a classifier of one label."
            )
        shares = log_shares(p, [class_name(one) for one in own], self.classes)
        return shares if self.answer == "log-shares" else logit(np.exp(shares[:, 1:]))

    @property
    def name(self) -> str:
        """The class of the estimator."""
        return type(self.model).__name__

    def sample(self) -> np.ndarray:
        """Its answers at the same few rows of the domain every time; one that has learned since gives others."""
        return self.answers(self.seen.domain.sample(ROWS, np.random.default_rng(0)))

    def still_says(self, before: np.ndarray) -> bool:
        """Whether its `sample` is as it was; threads of a forest add up in any order."""
        try:
            return bool(np.allclose(self.sample(), before, rtol=1e-9, atol=1e-12))
        except SmileError:
            return False

    # ---- as coordinates of the box --------------------------------------------------------------------------------

    @torch.no_grad()
    def within(
        self, x: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor, head: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        """z [B, n] at raw inputs x [B, m], for a box [B, n] and the head G [o, n], g_0 [o] in output units."""
        weight, bias = head
        y = torch.tensor(self.answers(x.detach().cpu().numpy().astype(np.float64)), device=x.device)
        if self.answer == "log-shares":
            off = (lower + upper) / 2 @ weight.T + bias - y
            y = y + (off.amax(dim=1, keepdim=True) + off.amin(dim=1, keepdim=True)) / 2
        o = len(bias)
        v = torch.linalg.solve(weight[:, :o], (y - bias).T).T
        return v if weight.shape[1] == o else torch.cat([v, lower[:, :o] - v], dim=1)

    # ---- in a folder ----------------------------------------------------------------------------------------------

    @property
    def description(self) -> dict[str, Any]:
        """What a folder says of it, JSON-ready."""
        kind = type(self.model)
        said = {"kind": KIND, "type": f"{kind.__module__}.{kind.__qualname__}", "answer": self.answer}
        return said | {"outputs": self.outputs, "classes": list(self.classes), **self.seen.to_json()}


def rebuild_fitted(description: Mapping[str, Any], domain: Domain, model: Any) -> FittedBackbone:
    """The backbone that was described so, around the estimator that was in it."""
    if description.get("kind") != KIND:
        raise SmileError(
            "This model was saved without an estimator as its backbone; leave backbone out, or give the torch module "
            "that it was saved with."
        )
    seen, classes = Seen.from_json(description, domain), tuple(map(str, description["classes"]))
    return FittedBackbone(model, seen, description["answer"], int(description["outputs"]), classes)


def own_classes(model: Any) -> np.ndarray:
    """The classes of a fitted classifier."""
    found = getattr(model, "classes_", None)
    if found is None:
        raise SmileError(f"The backbone {type(model).__name__} has no classes; give a fitted classifier.")
    return np.asarray(found)


def refuse_other_classes(model: Any, classes: tuple[str, ...]) -> None:
    """Raise where the model decides between classes that the target does not have."""
    own = [class_name(one) for one in own_classes(model)]
    if not set(own) <= set(classes) or len(own) < 2:
        raise SmileError(
            f"The backbone {type(model).__name__} decides between {listed(own)} and the target between "
            f"{listed(classes)}; give one that was fitted to the target's classes."
        )


def _of_labels(found: Any, model: Any) -> np.ndarray:
    """Probabilities [n, o] that each label is 1: of an array, or of a list with two columns for every label."""
    if not isinstance(found, list):
        return numbers_of(found, "probabilities")
    known = [np.asarray(one).tolist() for one in getattr(model, "classes_", [[0, 1]] * len(found))]
    each = [numbers_of(p, "probabilities") for p in found]
    return np.stack(
        [p[:, own.index(1)] if 1 in own else np.zeros(len(p)) for p, own in zip(each, known, strict=True)], axis=1
    )
