"""Everything a report says, as values: gathered once, printed as a page and as a card."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from smilenn.certify.about import Assumption
from smilenn.certify.statement import claim_lines
from smilenn.domain import Domain
from smilenn.domain.idle import left_out_words
from smilenn.errors import SmileError
from smilenn.progress import Progress
from smilenn.properties.naming import forms_words, output_words
from smilenn.properties.recognise import bounded_change
from smilenn.report.importance import Importance, importances
from smilenn.report.model import Reported, Rows, rows_of
from smilenn.report.probe import Probe, probe
from smilenn.report.quality import Quality, measure
from smilenn.report.slices import Slice, slices
from smilenn.report.standing import Standing, measured, spaced, steps_of
from smilenn.report.svg import number
from smilenn.report.tradeoff import Tradeoff, own_points, with_references
from smilenn.verdict import Counterexample, Proved, Violated

MOST_ROWS = 20_000  # rows that quality is measured on; more are thinned evenly
PROBED = 400  # rows around which tight pairs are looked for
SAMPLED = 200  # rows drawn from the domain where no data are given
LEAST_PIXELS = 25
UNITS = {"binary": " in log-odds", "multiclass": " on a margin between classes", "multilabel": " in log-odds"}
BRIGHTEST = 1.1  # pixels from 0 to 1, and the domain's margin


@dataclass(frozen=True)
class Rule:
    """One claim: sentence, formula, whether the checker certified it, and the checked bound on its violation.

    Sentence and formula of a certified claim have the room in them that it takes for rounding.
    `more` are what follows for probabilities and a comment that nobody checked, where there are such.
    """

    sentence: str
    formula: str
    certified: bool
    bound: float
    more: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Findings:
    """The whole report.

    `given` counts the rows that were handed in, `rows` those that were measured; `held_out` says what they are to the
    model; `image` is (rows, columns) where the inputs are pixels; `folder` is the model's, for
    commands that are printed, '' where it is not known; `drawn` says which part of a large file was read.
    """

    name: str
    model: Reported
    headline: str
    sentence: str
    rules: tuple[Rule, ...]
    certificate: str
    assumed: tuple[Assumption, ...]
    limits: tuple[str, ...]
    given: int
    held_out: bool | None
    quality: Quality | None
    standing: Standing | None
    rows: Rows | None
    output: np.ndarray | None
    tradeoff: Tradeoff | None
    slices: tuple[Slice, ...]
    probes: tuple[Probe, ...]
    example: Counterexample | None
    image: tuple[int, int] | None
    importances: tuple[Importance, ...]
    folder: str
    drawn: str

    @property
    def output_names(self) -> tuple[str, ...]:
        """What the model returns, in words, one an output."""
        target, names = self.model.target_name_, self.model.outputs_.names
        if self.model.task == "binary":
            return (f"log-odds of {target!r} = {self.positive!r}" if target else f"log-odds of {self.positive!r}",)
        if len(names) == 1:
            return (target or names[0] or "output",)
        kind = {"multiclass": "logit of ", "multilabel": "log-odds of "}.get(self.model.task, "")
        return tuple(f"{kind}{name!r}" if kind else name for name in names)

    @property
    def output_name(self) -> str:
        """What a rule bounds the change of, in words: the output, a margin between classes, or one of several."""
        if self.model.task == "multiclass":
            return "a margin"
        return (
            output_words(self.model.outputs_, self.model.outputs_.names[0])
            if len(self.output_names) == 1
            else "an output"
        )

    @property
    def but(self) -> str:
        """``, but the model is no better than predicting the mean: R² = -0.01``; empty where it is better."""
        return f", but {self.standing.shortfall}" if self.standing is not None and self.standing.shortfall else ""

    def command(self, words: str) -> str:
        """A command with the model's folder in place of ``MODEL``, as a shell reads it."""
        return words.replace("MODEL", shlex.quote(self.folder) if self.folder else "MODEL")

    @property
    def positive(self) -> str:
        """The class that a positive logit stands for."""
        return str(self.model.classes_[1])  # type: ignore[attr-defined] # classifiers only

    @property
    def turned(self) -> bool:
        """Whether the class that was called the positive one has the logit with the other sign."""
        outputs = self.model.outputs_
        return bool(outputs.positive) and outputs.positive == outputs.classes[0]

    @property
    def positive_class(self) -> str:
        """The class of two that was called the positive one, else the second."""
        return self.model.outputs_.positive or self.positive

    @property
    def unit(self) -> str:
        """What a bound is counted in: `` in log-odds``, `` on a margin between classes`` or nothing."""
        return UNITS.get(self.model.task, "")

    def said(self, outputs: np.ndarray) -> str:
        """Outputs [o] of one input in words."""
        if self.model.task == "multiclass":
            first, second = np.argsort(-outputs, kind="stable")[:2]
            names = self.model.outputs_.names
            return f"{names[first]}, ahead of {names[second]} by {number(float(outputs[first] - outputs[second]))}"
        return ", ".join(
            f"{name}: {number(float(value))}" for name, value in zip(self.output_names, outputs, strict=True)
        )


def gather(
    model: Reported,
    X: Any = None,
    y: Any = None,
    *,
    name: str = "model",
    held_out: bool | None = None,
    train: tuple[Any, Any] | None = None,
    seconds: float = 60.0,
    image: tuple[int, int] | None = None,
    folder: Path | str = "",
    drawn: str = "",
    callback: Callable[[Progress], None] | None = None,
) -> Findings:
    """Measure everything; see `smilenn.report.write.write_report` for the parameters."""
    begun, domain = perf_counter(), model.domain_

    def tell(progress: Progress) -> None:
        if callback is not None:
            callback(replace(progress, seconds=perf_counter() - begun))

    pixels = _image(domain, image)  # a wrong size is said before any work
    _refuse_parts(X, y, train)
    given = None if X is None else rows_of(model, X, y)
    rows = None if given is None else _thinned(given)
    around = rows.x if rows is not None else domain.sample(SAMPLED, np.random.default_rng(0))
    output = None if rows is None else model.net_.predict(rows.x)
    quality, tradeoff = _measured(model, rows, output, train, seconds, tell)
    tell(Progress("report", 1, 3, message="looking for tight pairs"))
    few = around[spaced(len(around), PROBED)]
    probes = tuple(found for claim in model.claims_ if len((found := probe(model.net_, claim, few)).value))
    tell(Progress("report", 2, 3, message="slices"))
    verdict, certificate = model.verdict_, model.certificate_
    return Findings(
        name=name,
        model=model,
        headline=_headline(model),
        sentence=verdict.sentence(),
        rules=_rules(model),
        certificate=certificate.sha256 if certificate is not None and certificate.accepted else "",
        assumed=() if certificate is None else certificate.about.assumed,
        limits=(*_limits(model, held_out, rows is not None), *filter(None, [drawn, _left_out(model)])),
        given=0 if given is None else len(given),
        held_out=held_out,
        quality=quality,
        standing=_standing(model, rows, output, held_out),
        rows=rows,
        output=output,
        tradeoff=tradeoff,
        slices=slices(model.net_, model.claims_, around, data=rows is not None) if pixels is None else (),
        probes=probes,
        example=verdict.counterexample if isinstance(verdict, Violated) else None,
        image=pixels,
        importances=importances(model.net_.predict, around, domain) if pixels is None else (),
        folder=str(folder),
        drawn=drawn,
    )


def _refuse_parts(X: Any, y: Any, train: tuple[Any, Any] | None) -> None:
    if y is not None and X is None:
        raise SmileError("A report got a target without its rows; give X as well.")
    if train is not None and (X is None or y is None):
        raise SmileError("References are compared on rows with a known target; give X and y as well.")


def _measured(
    model: Reported,
    rows: Rows | None,
    output: np.ndarray | None,
    train: tuple[Any, Any] | None,
    seconds: float,
    tell: Callable[[Progress], None],
) -> tuple[Quality | None, Tradeoff | None]:
    """Quality and what it is compared with; nothing without a target."""
    if rows is None or rows.y is None or output is None:
        return None, None
    tell(Progress("report", 0, 3, message="measuring quality"))
    names, stable_rows = model.outputs_.names, model.stable_rows(output)
    quality = measure(rows.y, output, model.domain_, rows.x, task=model.task, names=names, stable_rows=stable_rows)
    if train is None:
        return quality, own_points(model, rows)
    return quality, with_references(model, rows, train, seconds=seconds, callback=tell)


def _rules(model: Reported) -> tuple[Rule, ...]:
    certificate, out = model.certificate_, []
    for i, claim in enumerate(model.claims_):
        holds, bound, room = False, math.inf, Fraction(0)
        if certificate is not None and i < len(certificate.holds):
            holds, bound, room = certificate.holds[i], certificate.bounds[i], certificate.rooms[i]
        said, *more = claim_lines(claim, model.outputs_, model.domain_, room)
        out.append(Rule(said, claim.with_room(room).formula(), holds, bound, tuple(more)))
    return tuple(out)


def _headline(model: Reported) -> str:
    verdict = model.verdict_
    if isinstance(verdict, Proved) and verdict.certificate:
        return "Certified"
    if isinstance(verdict, Violated):
        return "Violated"
    if not model.claims_:
        return "No rules"
    return "Proved by a solver, not certified" if isinstance(verdict, Proved) else "Not certified"


def _limits(model: Reported, held_out: bool | None, data: bool) -> tuple[str, ...]:
    """What is not guaranteed, for this model."""
    open_rules = sum(1 for rule in _rules(model) if not rule.certified)
    note = model.certificate_note_ or "see above."
    found = [bounded_change(claim, model.outputs_, model.domain_) for claim in model.claims_]
    fair = any(change is not None and change.free for change in found)
    logits = "margins between the classes' logits" if model.task == "multiclass" else "log-odds"
    said = {
        f"{open_rules} of {len(model.claims_)} rules are not certified: {note}": model.claims_ and open_rules,
        "Accuracy is not guaranteed. It is measured on the rows given; other rows may give other figures.": True,
        _OUTSIDE[model.outside_ == "raise"]: True,
        f"Fairness here means: changing the protected columns alone moves {_subject(model)} by no more than ε. "
        "It says nothing about other columns that act as proxies, or about how the data were collected.": fair,
        "Missing cells are filled before prediction; the rules cover the filled rows.": model.fill_,
        f"The rules are about {logits}. Calibration rescales them, and every ε by the same factor.": model.task
        in UNITS,
        "The certificate covers the float64 values this model folder returns, not exported or edited copies.": True,
        "This report does not know whether the model was trained on the rows measured here.": data and held_out is None,
        "The model was trained on the rows measured here: expect lower quality on new rows.": data
        and held_out is False,
    }
    return tuple(sentence for sentence, applies in said.items() if applies)


def _left_out(model: Reported) -> str:
    """What the fit did not read of its table; models of other makers note nothing."""
    return left_out_words(vars(model).get("left_out_", {}))


_OUTSIDE = {
    True: "Rows outside the domain are refused: the rules do not cover them.",
    False: "Rows outside the domain are moved to its edge and predicted there; the rules hold for the moved rows.",
}


def _subject(model: Reported) -> str:
    """What a rule that names no output is about, in words."""
    forms = model.outputs_.forms(None, "", directed=False)
    return forms_words([tuple((Fraction(c), name) for c, name in form) for form in forms], model.outputs_, "any")


def _standing(model: Reported, rows: Rows | None, output: np.ndarray | None, held_out: bool | None) -> Standing | None:
    """The quality on the given rows where nobody trained on them, else what was measured at the end of training."""
    if rows is None or rows.y is None or output is None or not held_out:
        return model.quality_
    numbers = measured(model.task, model.outputs_.names, rows.y, output, rows.y)
    limit, cut = (None, ()) if (kept := model.quality_) is None else (kept.limit, kept.cut)
    return Standing(len(rows), True, steps_of(model.history_), numbers, limit, cut=cut)


def _thinned(rows: Rows) -> Rows:
    if len(rows) <= MOST_ROWS:
        return rows
    kept = spaced(len(rows), MOST_ROWS)
    return Rows(rows.x[kept], None if rows.y is None else rows.y[kept])


def _image(domain: Domain, asked: tuple[int, int] | None) -> tuple[int, int] | None:
    """(rows, columns) of the pixels: as asked, or a square where no column has a name and all lie between 0 and 1."""
    if asked is not None:
        if asked[0] * asked[1] != domain.size:
            raise SmileError(f"An image of {asked[0]}x{asked[1]} has {asked[0] * asked[1]} pixels, not {domain.size}.")
        return asked
    side = math.isqrt(domain.size)
    plain = all(feature.name == f"x{i}" and feature.kind != "category" for i, feature in enumerate(domain.features))
    shades = float(domain.lo.min()) >= 0.0 and float(domain.hi.max()) <= BRIGHTEST
    return (side, side) if plain and shades and side * side == domain.size >= LEAST_PIXELS else None
