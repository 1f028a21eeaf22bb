"""How good a model is, in one line beside its verdict: measured once at the end of training, and kept with the model.

    regression    R²                                      no better than a constant:  R² ≤ 0
    quantiles     pinball loss                                                        loss ≥ a constant's
    classes       accuracy, AUC of two, log loss          log loss and accuracy no better than a constant's, AUC ≤ 0.55

The constant is the best one on the rows that were learned from. A rule is easily certified of a model that has learned
nothing, so what is no better than a constant, or was never trained, is said in the same breath as "certified"; and so
is what a time limit has cut short.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from smilenn.errors import printable
from smilenn.progress import duration
from smilenn.report.quality import idle, measures
from smilenn.train.cut import Cut, cut_from_json, cut_sentence, cut_to_json

NOTHING_LEARNED = 0.05  # R² below which a model is called hardly better than a constant
GUESSING = 0.55  # AUC up to which two classes are hardly told apart
MOST_ROWS = 20_000  # rows that are measured; more are thinned evenly
ROWS = {True: "held-out rows", False: "training rows", None: "rows"}


@dataclass(frozen=True)
class Standing:
    """Measures on `rows` rows, held out or trained on, and how many epochs or rounds of training were completed.

    `held_out` and `steps` are None of a model that somebody else has trained: on which rows is not known. `numbers` has
    the model's measures and, as ``constant_…``, those of the best constant. `limit` is the time limit of training in
    seconds, where it had one, and `cut` what that has cut short. `weights` is the digest of the network that was
    measured (`smilenn.model.whole`); an empty one is of a folder that has none.
    """

    rows: int
    held_out: bool | None
    steps: int | None
    numbers: Mapping[str, float]
    limit: float | None = None
    weights: str = ""
    cut: Cut = ()

    @property
    def shortfall(self) -> str:
        """Why the model is worth no more than a constant, or what the time limit cut short, as part of a sentence."""
        if self.steps == 0:
            return f"no training step was completed ({self.short})"
        constant = "predicting the mean" if "r2" in self.numbers else "a constant"
        worse = [f"the model is no better than {constant}: {self.short}"] if self._no_better() else []
        return ", and ".join([*worse, *filter(None, [cut_sentence(self.cut)])])

    @property
    def short(self) -> str:
        """The first measure: ``R² = 0.83``."""
        found = self.numbers
        if "r2" in found:
            return f"R² = {found['r2']:.2f}"
        name, key = ("pinball loss", "pinball_loss") if "pinball_loss" in found else ("accuracy", "accuracy")
        more = f", AUC = {found['auc']:.2f}" if "auc" in found else ""
        return f"{name} = {found[key]:.3g}, a constant's {found[f'constant_{key}']:.3g}{more}"

    def sentence(self) -> str:
        """One line with all measures; a second one where a constant would do almost as well."""
        text = f"On {self.rows} {ROWS[self.held_out]}: {_measured(self.numbers)}."
        return f"{text}\n{self.hint}" if self.hint else text

    @property
    def hint(self) -> str:
        """What to do about a model that a constant would almost replace, or beat; empty for a better one."""
        if not self._hardly_better():
            return ""
        how = "worse than" if self._worse() else "hardly better than"
        remedy = "loosen a rule (a larger ε, fewer bounds), or train for more epochs"
        if self.steps is None:
            remedy = "loosen the rule (a larger ε), or give a better model"
        if self.cut:
            remedy = "give training more time, or loosen a rule (a larger ε)"
        elif self.limit is not None:
            remedy = (
                f"training had at most {duration(self.limit)} (its time limit); "
                "give it more if it took so long, or loosen a rule (a larger ε)"
            )
        return f"That is {how} a constant: {remedy}."

    def _no_better(self) -> bool:
        found = self.numbers
        if "r2" in found:
            return found["r2"] <= 0
        if "pinball_loss" in found:
            return found["pinball_loss"] >= found["constant_pinball_loss"]
        worse = found["log_loss"] >= found["constant_log_loss"] and found["accuracy"] <= found["constant_accuracy"]
        return worse and found.get("auc", 0.0) <= GUESSING

    def _hardly_better(self) -> bool:
        found = self.numbers
        if "pinball_loss" in found:
            return found["pinball_loss"] > (1 - NOTHING_LEARNED) * found["constant_pinball_loss"]
        if "r2" in found:
            return found["r2"] < NOTHING_LEARNED
        near = found["accuracy"] < found["constant_accuracy"] + NOTHING_LEARNED / 2
        return near and found.get("balanced_accuracy", 0.0) < 0.5 + NOTHING_LEARNED / 2

    def _worse(self) -> bool:
        found = self.numbers
        if "r2" in found:
            return found["r2"] < 0
        if "pinball_loss" in found:
            return found["pinball_loss"] > found["constant_pinball_loss"]
        return found["log_loss"] > found["constant_log_loss"] and found["accuracy"] < found["constant_accuracy"]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dictionary."""
        limit = {} if self.limit is None else {"limit": self.limit}
        weights = {"weights": self.weights} if self.weights else {}
        found = {"rows": self.rows, "held_out": self.held_out, "steps": self.steps, "numbers": dict(self.numbers)}
        cut = {"cut_short": cut_to_json(self.cut)} if self.cut else {}
        return found | limit | cut | weights

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Standing:
        """Inverse of `to_json`; measures that make no sentence are a `LookupError`."""
        numbers = {printable(str(name)): float(value) for name, value in data["numbers"].items()}
        limit, held_out, steps = data.get("limit"), data["held_out"], data["steps"]
        found = cls(
            int(data["rows"]),
            None if held_out is None else bool(held_out),
            None if steps is None else int(steps),
            numbers,
            None if limit is None else float(limit),
            str(data.get("weights", "")),
            cut_from_json(data.get("cut_short", ())),
        )
        found.sentence()  # a measure that is missing is found here, not when a report is written
        return found


def steps_of(history: Sequence[Mapping[str, Any]]) -> int:
    """Epochs and rounds of training in a history, and groups of boosted trees; repair is none."""
    return sum(record.get("phase") in ("trees", "pretrain", "train", "posttrain") for record in history)


def spaced(n: int, most: int = MOST_ROWS) -> np.ndarray:
    """Up to `most` of n positions, evenly spaced."""
    return np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).astype(int))


def _measured(found: Mapping[str, float]) -> str:
    if "pinball_loss" in found:
        shares = [
            f"{value:.1%} below {name.removeprefix('share_below_')}"
            for name, value in found.items()
            if name.startswith("share_below_")
        ]
        constant = f"a constant: {found['constant_pinball_loss']:.4g}"
        return f"pinball loss {found['pinball_loss']:.4g} ({constant}); {', '.join(shares)}"
    if "r2" in found:
        constant = f"a constant: {found['constant_mean_absolute_error']:.4g}"
        return f"R² {found['r2']:.3f}, mean absolute error {found['mean_absolute_error']:.4g} ({constant})"
    share = f"{found['accuracy']:.3f} (a constant: {found['constant_accuracy']:.3f})"
    loss = f"log loss {found['log_loss']:.3f} (a constant: {found['constant_log_loss']:.3f})"
    if "balanced_accuracy" not in found:
        return f"all labels right {share}, {loss}"
    area = f", AUC {found['auc']:.3f}" if "auc" in found else ""
    return f"accuracy {share}, balanced {found['balanced_accuracy']:.3f}{area}, {loss}"


def measured(task: str, names: Sequence[str], y: np.ndarray, output: np.ndarray, seen: np.ndarray) -> dict[str, float]:
    """How well outputs [n, o] predict y [n, o], beside the constant that the `seen` targets [n', o] suggest.

    Classes are 0 and 1, or one-hot, and outputs their logits. Names of several outputs end the keys of their measures.
    """
    rows, constant = np.arange(len(y)), np.tile(idle(task, seen, names), (len(y), 1))
    found = {name: one(rows) for name, one in measures(task, y, output, names).items()}
    least = {name: one(rows) for name, one in measures(task, y, constant, names).items()}
    out = {_key(name): value if math.isfinite(value) else 0.0 for name, value in found.items()}
    if task == "regression":
        out.pop("root_mean_squared_error", None)
        if len(names) > 1:
            out["mean_absolute_error"] = float(np.abs(y - output).mean())
        return out | {"constant_mean_absolute_error": float(np.abs(y - constant).mean())}
    if task == "binary" and 0 < y.mean() < 1:
        out["auc"] = auc(y[:, 0], output[:, 0])
    kept = ("pinball loss",) if task == "quantiles" else ("accuracy", "log loss")
    return out | {f"constant_{_key(name)}": least[name] for name in kept}


def auc(y: np.ndarray, score: np.ndarray) -> float:
    """The share of pairs of a 1 and a 0 in y [n] that the score [n] puts in order, ties counting half.

    >>> auc(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.9]))
    0.875
    """
    ones = y > 0.5
    count = int(ones.sum())
    return float((rankdata(score)[ones].sum() - count * (count + 1) / 2) / (count * (len(y) - count)))


def _key(name: str) -> str:
    """``R² of price`` as ``r2_price``."""
    return name.replace("R²", "r2").replace(" of ", "_").replace("share below ", "share_below_").replace(" ", "_")
