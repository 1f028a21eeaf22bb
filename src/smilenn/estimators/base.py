"""What `SmileRegressor` and `SmileClassifier` share: from a data frame and properties to a network with a verdict.

    X ─▶ Domain ─▶ x [n, m]        properties ─▶ claims        y ─▶ output scale and head bias
                        SmileNet ─▶ train.fit ─▶ certificate, checked ─▶ verdict_

`__init__` only stores (parameters.py); train/recipes/ chooses the network and train/restarts.py trains it.

With fewer than `LEAST_ROWS` (200) rows equal ones are merged and the rest is put in order: what is learned then depends
neither on the order of the rows nor on whether a row is repeated or weighted. One batch holds them all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.utils import estimator_html_repr

from smilenn.domain import Domain, OutOfBounds
from smilenn.estimators.checks import check_inputs, merged, scaled_note
from smilenn.estimators.hidden import refuse_hidden
from smilenn.estimators.missing import Fill, Missing, Unknown, filled
from smilenn.estimators.options import Columns, Network, network_of
from smilenn.estimators.outside import Outside, clamps_of_two, outside_mode
from smilenn.estimators.parameters import Parameters, check_parameters
from smilenn.estimators.quality import quality_of, warn_of_shortfall
from smilenn.estimators.reading import read_table
from smilenn.estimators.rules import IMAGE_STEPS, Directions, Names, Stated, all_stated, completed
from smilenn.estimators.spacing import warn_of_small_deltas
from smilenn.estimators.start import Known, check_columns, check_task, fitted_start
from smilenn.estimators.tabled import table_of
from smilenn.estimators.targets import Target, TaskName
from smilenn.estimators.trend import warn_of_rows
from smilenn.estimators.usual import Usual, as_usual
from smilenn.estimators.verdict_mixin import VerdictMixin
from smilenn.progress import Progress, display
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.properties.conflicts import refuse_conflicts
from smilenn.properties.forms import Outputs
from smilenn.properties.spec import lower_all
from smilenn.train.config import Config
from smilenn.train.settings import LEAST_ROWS, Settings

if TYPE_CHECKING:
    import pandas as pd

    from smilenn.model.net import SmileNet
    from smilenn.train.cut import Cut
    from smilenn.train.recipes import Design
    from smilenn.train.restarts import Trained


class SmileEstimator(VerdictMixin, Parameters):
    """Base of the two estimators.

    Parameters
    ----------
    properties : a property (`Monotone`, `Fair`, …) or claim that must hold, or a list of them.
    increasing, decreasing : columns in which the prediction must rise (fall); short for `Monotone`.
    monotonic_cst : the same in scikit-learn's form: a dictionary column → 1 (rising), -1 (falling) or 0, or a list with
        one such number for each column.
    domain : the input space. None learns it from X; `Columns` says how to learn it, as does a dictionary of its
        options; a `Domain` is taken as it is.
    network : how the network is built, and where and how often it is trained, a `Network`; None lets the properties
        decide.
    config : constants of the training, a `Config`.
    missing : ``indicator``: missing cells of a number are an input of their own, those of a category a category; rules
        that name a number hold where it is known. ``raise`` refuses them. ``fill`` puts in the lower median or
        the most frequent text of the training rows: a filled row is the one it was filled to.
    unknown : ``other``: rare categories share one place, which new ones find too, in columns that no rule names; where
        none is rare, `predict` reads a new one as the most frequent and warns. ``refuse``: a new category is an error.
    out_of_bounds : what `predict` does with rows outside the domain: ``clamp``, ``raise``, ``warn`` (and clamp), or
        ``auto``: clamp if that carries every property to the whole input space, else raise.
    time_limit : seconds for everything, all restarts together: training, repair, proof and certificate. When training's
        share is over, no further epoch begins and no further restart: a limit that is too short trains nothing, and the
        verdict says so. Proof and certificate have a second each in any case; 3 s later the check is given up.
    certify_limit : seconds for the search for a certificate, within `time_limit` where there is one; checking it takes
        a fraction of that. When they are over, the best bound reached is checked instead. 0: no certificate.
    validation_fraction : share of the rows that choose the best state. Without encoder none below 200 rows, which are
        also trained on as one batch unless `config` asks for smaller ones; with an ensemble each part of it has its own
        share, so that every row is learned from (none below 20 rows).
    random_state : seed or generator.
    verbose : 0 silent, 1 shows progress on the standard error stream.
    """

    properties: Stated
    increasing: Names
    decreasing: Names
    monotonic_cst: Directions
    domain: Domain | Columns | Mapping[str, Any] | None
    network: Network | None
    config: Config | None
    missing: Missing
    unknown: Unknown
    out_of_bounds: Outside
    time_limit: float | None
    certify_limit: float
    validation_fraction: float
    random_state: int | np.random.RandomState | None
    verbose: int

    # ---- properties ---------------------------------------------------------------------------------------------

    def all_properties(self) -> tuple[Property, ...]:
        """`properties` and what the short forms stand for."""
        return self.stated_properties()

    def stated_properties(self) -> tuple[Property, ...]:
        """Those that the parameters state, without what the task brings by itself."""
        return all_stated(self.properties, self.increasing, self.decreasing, self.monotonic_cst, self._usual_output())

    def table(self) -> dict[str, Any]:
        """How columns become inputs and what the outputs mean, JSON-ready; a certificate's digest covers it."""
        return table_of(self)

    def _usual_output(self) -> str | None:
        """The output of rules with a direction that name none; None for the only one, or all."""
        return None

    def lower(self, properties: Sequence[Property | Claim]) -> tuple[Claim, ...]:
        """Properties as claims on the fitted domain and outputs; those that its encoder hides are refused."""
        self._check_fitted()
        claims = self.lower_on(properties, self.domain_, self.columns_, self.outputs_)
        refuse_hidden(claims, self.net_)
        return claims

    def lower_on(
        self,
        properties: Sequence[Property | Claim],
        domain: Domain,
        columns: Sequence[str],
        outputs: Outputs | None = None,
        *,
        image: bool | None = None,
    ) -> tuple[Claim, ...]:
        """Properties as claims on a domain and outputs (None: one), before `fit`; `columns` as in the data."""
        return lower_all(self.complete(properties, image=image), domain, outputs or Outputs(), columns=columns)

    @property
    def images(self) -> bool:
        """Whether the columns are pixels, as `network` says or as `fit` has seen."""
        return network_of(self.network).image or vars(self).get("image_", False)

    def complete(self, properties: Sequence[Property | Claim], *, image: bool | None = None) -> list[Property | Claim]:
        """The properties, a `Robust` without ε or steps with the estimator's own; `image` instead of `images`."""
        # a backbone's box does not narrow with δ, so a network with one keeps no finer rule
        fine = (self.images if image is None else image) and not network_of(self.network).backbone_share
        return completed(properties, self._default_eps(), IMAGE_STEPS if fine else None)

    @abstractmethod
    def _default_eps(self) -> float | None:
        """ε of a `Robust` that does not say; None where it has to."""

    # ---- fitting ------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def task(self) -> TaskName:
        """What is predicted; a classifier's is known once it is fitted."""

    @abstractmethod
    def read_target(self, y: np.ndarray, names: Sequence[str]) -> Target:
        """The target y [n] or [n, o] (columns called `names`) as numbers."""

    @abstractmethod
    def _start(self, target: Target, weight: np.ndarray) -> tuple[Target, np.ndarray]:
        """The target with what training starts from, and the weights [n] of its rows."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        callback: Callable[[Progress], None] | None = None,
        checkpoint: Path | str | None = None,
        start: SmileEstimator | Path | str | None = None,
    ) -> Self:
        """Train on a data frame or array X [n, columns] and a target y [n] or [n, o]; prove and certify the properties.

        `callback` is told of every epoch; `checkpoint` names a file to continue from and to write to while training.
        `start` is a fitted estimator, or the folder of one, to begin with instead of random weights: same columns,
        outputs, properties and network. Its domain is kept, and so it is itself where rows held out prefer it.
        After Ctrl-C the best state so far is kept and `interrupted_` is True: in training the proof and a short
        certification follow, in the certification itself only the check of what was found.
        """
        begun = perf_counter()
        check_parameters(self)
        before = None if start is None else fitted_start(self, start)
        read = read_table(self, X, y, sample_weight, before)
        frame, columns = read.frame, read.columns
        known = None if before is None else Known.of(before)
        domain = read.domain(self) if known is None else check_columns(known, columns)
        target = self.read_target(read.values, read.names).called(read.target_name)
        claims = read.claims(self, domain, target.outputs)
        implied = refuse_conflicts(claims, domain, target.outputs.names)
        if known is not None:
            check_task(known, target, claims)
        outside = outside_mode(self.out_of_bounds, claims, domain)
        x, weight = domain.encode(frame, out_of_bounds=outside), read.weight
        warn_of_small_deltas(self.all_properties(), domain, x)
        warn_of_rows(claims, domain, x, target)
        design = read.design(self, self._design(), domain, target)
        rows, few = (x, target.y), len(x) < LEAST_ROWS
        x, numbers, weight = merged(x, target.y, weight) if few else (*rows, weight)
        target, weight = self._start(replace(target, y=numbers), weight)
        with display() if self.verbose and callback is None else nullcontext(callback) as show:
            net = None if before is None else before.net_
            trained = self._train(design, domain, x, target, claims, weight, show, checkpoint, net, begun)
            chosen = trained.fit
            self.domain_, self.claims_, self.outside_, self.columns_ = domain, claims, outside, columns
            self.net_, self.history_, self.outputs_ = chosen.net, chosen.history, target.outputs
            self.seed_, self.seconds_, self.interrupted_ = trained.seed, chosen.seconds, chosen.interrupted
            self.cut_short_ = chosen.cut
            seen = [] if read.likeness is None else [read.likeness.sentence()]
            self.image_, self.reasons_ = read.image, " ".join([*implied, *seen, trained.reasons]) + scaled_note(frame)
            self.target_name_, self.target_units_, self.fill_ = read.target_name, target.units, read.fill
            self.usual_, self.left_out_ = read.usual(self, domain, rows[0]), read.left_out(domain)
            self.n_features_in_, self.n_iter_ = frame.shape[1], len(chosen.history)
            if target.classes is not None:
                self.classes_ = target.classes
            if read.named:
                self.feature_names_in_ = np.array(frame.columns, dtype=object)
            self.quality_ = quality = quality_of(self, *rows, trained.held, design.foreign)
            left = None if self.time_limit is None else begun + self.time_limit - perf_counter()
            self._conclude(chosen.verdict, show, left, chosen.trees)
        warn_of_shortfall(quality)
        return self

    def _train(
        self,
        design: Design,
        domain: Domain,
        x: np.ndarray,
        target: Target,
        claims: tuple[Claim, ...],
        weight: np.ndarray,
        callback: Callable[[Progress], None] | None,
        checkpoint: Path | str | None,
        start: SmileNet | None,
        begun: float,
    ) -> Trained:
        """The best of the restarts, as `best_run` has it; x [n, m] raw training rows. Time counts from `begun`."""
        from smilenn.train.recipes import Task
        from smilenn.train.restarts import Labelled, best_run

        assert target.scale is not None and target.start is not None
        task = Task.of(
            domain,
            x,
            claims,
            size=target.scale,
            start=target.start,
            classify=target.classes is not None,
            outputs=target.outputs,
            y=target.y,
            design=design,
            unruled=not self.stated_properties(),
        )
        limit = None if self.time_limit is None else max(0.0, begun + self.time_limit - perf_counter())
        restarts = network_of(self.network).restarts
        settings = Settings(restarts, self.random_state, self.validation_fraction, limit, self.config)
        labelled = Labelled(target.y, target.strata, weight, target.loss)
        return best_run(task, labelled, settings, callback=callback, checkpoint=checkpoint, start=start)

    def _design(self) -> Design:
        """What the parameters say of the network."""
        return network_of(self.network).design()

    # ---- predicting ---------------------------------------------------------------------------------------------

    def encoded(self, X: Any, *, first_row: int = 0) -> np.ndarray:
        """The rows of X as the network sees them, raw units [n, m]; `first_row` numbers the first row in messages."""
        self._check_fitted()
        frame = as_usual(
            self._complete(X, first_row),
            self.domain_,
            self.usual_,
            missing=self.missing == "indicator",
            unknown=self.unknown == "other",
            near=lambda: self.unknown == "other" and clamps_of_two(self.outside_, self.claims_, self.domain_),
            first_row=first_row,
        )
        x = self.domain_.read(frame, first_row=first_row)
        return self.domain_.clamp(x, out_of_bounds=self.outside_, first_row=first_row)

    def read_rows(self, X: Any, *, first_row: int = 0) -> np.ndarray:
        """The rows of X with their missing cells filled, raw units [n, m]; those outside the domain stay outside, and
        cells that training has no place for are errors.
        """
        self._check_fitted()
        return self.domain_.read(self._complete(X, first_row), first_row=first_row)

    def _complete(self, X: Any, first_row: int = 0) -> pd.DataFrame:
        # an array's columns are those of the training data, in that order: the domain keeps one-hot columns together
        return filled(check_inputs(X, type(self).__name__, self.columns_, first_row=first_row), self.fill_)

    def outputs(self, X: Any, *, first_row: int = 0) -> np.ndarray:
        """The network's outputs for the rows of X, float64 [n], or [n, o] of several; `first_row` as in `encoded`."""
        return self.outputs_at(self.encoded(X, first_row=first_row))

    def outputs_at(self, x: np.ndarray) -> np.ndarray:
        """The same for x [n, m] as `encoded` gives it."""
        found = self.net_.predict(x)
        return found[:, 0] if found.shape[1] == 1 else found

    def stable_rows(self, outputs: np.ndarray) -> np.ndarray | None:
        """Which decisions behind outputs [n, o] no change that `Robust` and `Fair` cover can flip, [n]; None where
        nothing is decided, or no such rule was stated.
        """
        return None

    def accepted(self, outputs: np.ndarray) -> np.ndarray | None:
        """Which rows behind outputs [n, o] are answered when those near a decision are rejected, [n]; None as above."""
        return None

    def radius(
        self, outputs: np.ndarray, norm: Literal["inf", 2], *, unit: Literal["raw", "delta"] = "raw"
    ) -> np.ndarray | None:
        """How far each row behind outputs [n, o] may move before its decision can change, [n]; None as above."""
        return None

    def explain(self) -> str:
        """What was chosen and why (encoder, auxiliaries, numbers, provers), what repair has cost, verdict and quality;
        one a line.
        """
        from smilenn.estimators.explain import explain

        self._check_fitted()
        return explain(self)

    def _html_repr(self) -> str:
        """scikit-learn's diagram, with the verdict below it once there is one."""
        from smilenn.estimators.notebook import verdict_html

        diagram = estimator_html_repr(self)
        return diagram + verdict_html(self) if "net_" in vars(self) else diagram

    def __sklearn_tags__(self) -> Any:
        """Missing cells are accepted unless `missing` refuses them."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def save(self, folder: Path | str, *, overwrite: bool = False) -> None:
        """Save as a model folder (weights, properties, verdict, certificate, history); see `smilenn.load`."""
        from smilenn.estimators.store import save

        save(self, folder, overwrite=overwrite)

    def report(
        self,
        path: Path | str | None,
        X: Any = None,
        y: Any = None,
        *,
        card: Path | str | None = None,
        name: str = "model",
        held_out: bool | None = None,
        train: tuple[Any, Any] | None = None,
        seconds: float = 60.0,
        image: tuple[int, int] | None = None,
    ) -> None:
        """Write one self-contained HTML file (and a Markdown card) on what the model obeys and how well it predicts.

        X [n, columns] and y [n] or [n, o] are rows to measure on, best held-out ones (`held_out` is said in the
        report); `train` (X, y) trains references within `seconds`; `image` (rows, columns) shows inputs as pictures.
        """
        from smilenn.report.write import write_report

        self._check_fitted()
        write_report(
            self, path, X, y, card_path=card, name=name, held_out=held_out, train=train, seconds=seconds, image=image
        )

    # ---- what fit sets -----------------------------------------------------------------------------------------

    domain_: Domain
    outputs_: Outputs
    columns_: tuple[str, ...]
    history_: list[dict[str, Any]]
    outside_: OutOfBounds
    seed_: int
    cut_short_: Cut
    target_name_: str
    n_features_in_: int
    n_iter_: int
    reasons_: str
    image_: bool
    fill_: Fill
    usual_: Usual
    left_out_: dict[str, str]
    classes_: np.ndarray
