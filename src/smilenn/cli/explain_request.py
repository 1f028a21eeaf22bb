"""The options of ``smile explain``, judged by what model.json says before anything slow is imported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from smilenn.cli.noted import read_model
from smilenn.errors import SmileError, listed

BELOW = " < "  # between the names of an ordered column, in its unit (domain/cells.py)


@dataclass(frozen=True)
class Goal:
    """What is to be reached: the options as they were given."""

    to: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    output: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether no class and no value was named."""
        return self.to is None and self.at_least is None and self.at_most is None


def predicts_numbers(folder: Path) -> bool:
    """Whether a model is a regressor."""
    return read_model(folder).get("estimator") != "SmileClassifier"


def goal_of(folder: Path, goal: Goal, changes: dict[str, Any]) -> dict[str, Any]:
    """The goal as arguments of `recourse`, once the model knows the class or the output that it names.

    Where nothing may change, a number needs no value to reach: what features gain is told towards a higher one.
    """
    model = read_model(folder)
    if not predicts_numbers(folder):
        _check_classes(model, goal)
        return {"to": goal.to, "at_least": goal.at_least}
    if goal.is_open and not changes:
        goal = replace(goal, at_least=0.0)  # whichever: gains do not depend on it
    _check_numbers(model, goal)
    return {"at_least": goal.at_least, "at_most": goal.at_most, "output": goal.output}


def _check_classes(model: dict[str, Any], goal: Goal) -> None:
    if goal.at_most is not None or goal.output is not None:
        raise SmileError("--at-most and --output are for predicted numbers; choose a class with --to.")
    if goal.at_least is not None and not 0 < goal.at_least < 1:
        raise SmileError(f"--at-least is {goal.at_least:g}; a probability to reach lies between 0 and 1.")
    classes = [str(name) for name in model["table"].get("class_outputs") or _outputs(model)]
    if goal.to is None and len(classes) != 2:
        raise SmileError(f"Say what is wanted, --to: one of {listed(classes)}.")
    if goal.to is not None and goal.to not in classes:
        raise SmileError(f"There is no class {goal.to!r}; the classes are {listed(classes)}.")


def _check_numbers(model: dict[str, Any], goal: Goal) -> None:
    if goal.to is not None:
        raise SmileError("--to chooses a class, and this model predicts numbers; use --at-least or --at-most.")
    if (goal.at_least is None) == (goal.at_most is None):
        raise SmileError("Say what the change is to reach: --at-least or --at-most, one of the two.")
    names = _outputs(model)
    if goal.output is None and len(names) > 1:
        raise SmileError(f"There are several outputs; add --output, one of {listed(names)}.")
    if goal.output is not None and goal.output not in names:
        raise SmileError(f"There is no output {goal.output!r}; the outputs are {listed(names)}.")


def _outputs(model: dict[str, Any]) -> list[str]:
    return [str(name) for name in model["net"]["outputs"]]


def changes_of(folder: Path, texts: list[str]) -> dict[str, Any]:
    """``income:up`` and ``income:60`` as Python has them, of features that the model knows."""
    features = {feature["name"]: feature for feature in read_model(folder)["net"]["domain"]["features"]}
    out: dict[str, Any] = {}
    for text in texts:
        name, way = _parted(text)
        if name in out:
            raise SmileError(f"--change names {name!r} twice; keep one.")
        if name not in features:
            raise SmileError(f"--change: the model has no feature {name!r}; it has {listed(features, 20)}.")
        if features[name]["kind"] == "category":
            raise SmileError(f"--change: {name!r} is a category, which moves neither up nor down; leave it out.")
        ordered = features[name]["kind"] == "integer" and BELOW in features[name].get("unit", "")
        out[name] = way if ordered or way in ("up", "down") else _number(text, way)
    return out


def _parted(text: str) -> tuple[str, str]:
    """One option: the feature, and the way it may move."""
    name, colon, way = text.rpartition(":")
    if not colon or not name:
        raise SmileError(f"--change {text} names no direction; write COLUMN:up, COLUMN:down or COLUMN:VALUE.")
    return name, way


def _number(text: str, way: str) -> float:
    try:
        return float(way)
    except ValueError:
        raise SmileError(f"--change {text}: {way!r} is neither up nor down nor a number.") from None
