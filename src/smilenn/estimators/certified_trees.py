"""Somebody's fitted boosted trees, certified as they are: nothing is trained and no tree is changed.

    f(x) = ((b + v_1(x)) + v_2(x)) + …        the library's raw score, as a `trees` layer over raw inputs

The network is that layer and nothing else: a box of no width, no scaling, so that no threshold moves. Every row of the
table that is given must reach the library's leaves (model/trees/convert.py). What a certificate then says, it says of
the converted trees, which are saved with it and predict from then on; the library is not asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from smilenn.domain import Domain
from smilenn.domain.absent import MISSING
from smilenn.domain.table import labels
from smilenn.errors import SmileError
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.checks import check_inputs, check_target
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.judgement import unjudged
from smilenn.estimators.options import Columns, domain_of
from smilenn.estimators.outside import outside_mode
from smilenn.estimators.quality import quality_of
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.rules import Names, Stated
from smilenn.estimators.targets import class_names, plain_labels
from smilenn.estimators.targets import numbers as numbers_of
from smilenn.model.trees.forest import MISSING as NO_CODE
from smilenn.model.trees.forest import Gaps
from smilenn.properties.forms import ROLES, Outputs
from smilenn.provers.model import prove
from smilenn.provers.tree.tree import Trees as Searched
from smilenn.reason import Reason, because
from smilenn.verdict import Unknown, Verdict, Violated

if TYPE_CHECKING:
    from smilenn.model.encoders.layers import Linear
    from smilenn.model.net import SmileNet
    from smilenn.model.trees import Column, Forest
    from smilenn.model.trees.meaning import Meaning

WHO = "certified_trees"


def certified_trees(
    model: Any,
    X: Any,
    properties: Stated = (),
    *,
    increasing: Names = (),
    decreasing: Names = (),
    y: Any = None,
    domain: Columns | Mapping[str, Any] | None = None,
    certify_limit: float = 60.0,
) -> SmileRegressor | SmileClassifier:
    """A fitted estimator around the trees of a fitted booster, with a verdict on its rules and, if they hold, a
    certificate.

    Parameters
    ----------
    model : a fitted model of scikit-learn's HistGradientBoosting, LightGBM, XGBoost or CatBoost.
    X : the table that it was fitted to. The domain is learned from it, and every row is compared with the library.
        Columns with missing cells may miss them later too: rules that name a number hold where it is known.
    properties, increasing, decreasing : the rules, as in `SmileRegressor`; the model should have been fitted under
        monotone constraints of the same columns. What it does not keep is violated or unknown, never certified.
    y : the target; names the output in sentences and is what ``quality_`` is measured on.
    domain : how the domain is learned: bounds, kinds.
    certify_limit : seconds for the search for a certificate, and at most as many for a counterexample.

    Of counts and amounts (Poisson, gamma, Tweedie, Cox) the output is the logarithm of the prediction, which rises and
    falls with it. ``save``, `load`, ``predict``, ``report`` and ``smile check`` work as for every estimator.
    """
    begun = perf_counter()
    frame = check_inputs(X, WHO)
    _refuse_rules(properties, increasing, decreasing)
    forest, inputs, meaning = _converted(model, X, frame, domain)
    values, name, _ = (None, "", ()) if y is None else check_target(frame, y, WHO)
    numbers = None if values is None else _target(values, meaning)
    estimator = _estimator(meaning, properties, increasing, decreasing, certify_limit)
    estimator.outputs_ = _outputs(meaning, name)
    estimator.target_name_ = estimator.outputs_.target
    if meaning.classes is not None:
        estimator.classes_ = meaning.classes
    estimator.domain_, estimator.columns_ = inputs, tuple(frame.columns)
    estimator.net_ = _network(forest, inputs, estimator.outputs_.names)
    x = inputs.read(frame)
    inside = _inside(inputs, x)
    _describe(estimator, frame, model, sum(forest.layer.trees), named=_named(X), compared=_compared(model, inside))
    estimator.claims_ = estimator.lower(estimator.all_properties())
    estimator.outside_ = outside_mode("auto", estimator.claims_, inputs)
    _judge(estimator, x[inside], certify_limit, begun)
    if numbers is not None:
        found = quality_of(estimator, inputs.clamp(inputs.read(frame)), numbers, np.zeros(len(frame), dtype=bool))
        estimator.quality_ = replace(found, steps=None)  # nothing was trained here
    return estimator


def _refuse_rules(properties: Stated, increasing: Names, decreasing: Names) -> None:
    none = not isinstance(properties, (list, tuple)) or len(properties)
    if not none and not increasing and not decreasing:
        raise SmileError("There is nothing to certify: give at least one rule, such as increasing=['income'].")


# ---- the trees ------------------------------------------------------------------------------------------------------


def _converted(
    model: Any, X: Any, frame: pd.DataFrame, domain: Columns | Mapping[str, Any] | None
) -> tuple[Forest, Domain, Meaning]:
    """The trees over the coordinates of a domain, equal to the model on every row of the table."""
    from smilenn.model.trees import assert_same, convert
    from smilenn.model.trees.meaning import meaning_of, places_of, refuse_other_columns

    refuse_other_columns(model, list(frame.columns))
    codes = places_of(model, frame)
    _refuse_cells(frame, codes)
    inputs = _domain(frame, codes, domain)
    forest = convert(model, _columns(frame, inputs, codes), inputs.size + 2 * len(inputs.absent))
    meaning = meaning_of(model, forest.layer.outputs)
    x = inputs.read(frame)
    inside = _inside(inputs, x)
    if not inside.any():
        raise SmileError("No row of the table lies within the bounds of the domain; widen them.")
    # scikit-learn warns of names that a model was fitted without
    nameless = type(model).__module__.startswith("sklearn") and not hasattr(model, "feature_names_in_")
    rows = frame.to_numpy() if nameless or not _named(X) else frame
    assert_same(forest, model, rows[inside], _read_by_trees(inputs, x[inside]))
    return forest, inputs, meaning


def _named(X: Any) -> bool:
    return isinstance(X, pd.DataFrame) or hasattr(X, "to_pandas")


def _inside(domain: Domain, x: np.ndarray) -> np.ndarray:
    """Which rows x [n, m] lie within the bounds, [n] bool."""
    return np.asarray(((x >= domain.lo) & (x <= domain.hi)).all(axis=1))


def _refuse_cells(frame: pd.DataFrame, codes: Mapping[int, Any]) -> None:
    """Texts that the model reads as no category, and a category that is called as missing cells are."""
    for i, name in enumerate(frame.columns):
        column = frame[name]
        if i in codes and column.isna().any() and MISSING in codes[i]:
            raise SmileError(f"Column {name!r} has missing cells and the category {MISSING!r}; rename the category.")
        if i not in codes and not pd.api.types.is_numeric_dtype(column):
            raise SmileError(
                f"Column {name!r} holds no numbers, and the model reads it as no category; give the table that the "
                "model was fitted to."
            )


def _domain(frame: pd.DataFrame, codes: Mapping[int, Any], options: Columns | Mapping[str, Any] | None) -> Domain:
    """The domain in raw units; a category has every value that the table's type or the model knows."""
    given = domain_of(options)
    if isinstance(given, Domain):
        raise SmileError(f"domain of {WHO} says how to learn it: give Columns(bounds=…, kinds=…).")
    kinds = {name: "category" for i, name in enumerate(frame.columns) if i in codes}
    found = given.changed(scaling="none", kinds={**(given.kinds or {}), **kinds}).learned(frame, missing=True)
    known = {name: _texts(frame[name], codes[i]) for i, name in enumerate(frame.columns) if i in codes}
    return Domain(tuple(replace(f, categories=known[f.name]) if f.name in known else f for f in found.features))


def _texts(column: pd.Series, codes: Mapping[str, int]) -> tuple[str, ...]:
    """The values of a category: those of the table, sorted, and those that only the model knows."""
    missing = [MISSING] if column.isna().any() else []
    return tuple(dict.fromkeys([*sorted(set(labels(column.dropna()))), *codes, *missing]))


def _columns(frame: pd.DataFrame, domain: Domain, codes: Mapping[int, Mapping[str, int]]) -> list[Column]:
    """Where each column of the model lies among the coordinates."""
    out: list[Column] = []
    gaps = _gaps(domain)
    for i, name in enumerate(frame.columns):
        if i not in codes:
            place = domain.coordinates.index(name)
            out.append(gaps.get(place, place))
            continue
        start, texts = domain.slices[name].start, domain.feature(name).categories
        new = count(max(codes[i].values(), default=-1) + 1)  # codes of values that the model never saw
        known = {**codes[i], **({} if MISSING in codes[i] else {MISSING: NO_CODE})}
        out.append({known[text] if text in known else next(new): start + k for k, text in enumerate(texts)})
    return out


def _gaps(domain: Domain) -> dict[int, Gaps]:
    """{coordinate: where the trees read it} of numbers that may be missing, behind the coordinates of the domain."""
    ends = ((i, float(domain.lo[i]), float(domain.hi[i])) for i, _, _ in domain.absent)
    return {i: Gaps(domain.size + 2 * k, domain.size + 2 * k + 1, lo, hi) for k, (i, lo, hi) in enumerate(ends)}


def _spread_out(domain: Domain) -> list[Linear]:
    """y = u, and for every number that may be missing  x + c·indicator  twice: below and above all of its values.

    Where the number is known, c·0 changes nothing; where it is missing x is the fill, and c takes it to that end.
    """
    from smilenn.model.encoders.layers import Linear

    gaps = _gaps(domain)
    if not gaps:
        return []
    layer = Linear(domain.size, domain.size + 2 * len(gaps))
    weight = np.vstack([np.eye(domain.size), np.zeros((2 * len(gaps), domain.size))])
    for i, indicator, fill in domain.absent:
        for place, end in zip((gaps[i].low, gaps[i].high), gaps[i].ends, strict=True):
            weight[place, i], weight[place, indicator] = 1.0, end - fill
    layer.weight.data.copy_(torch.as_tensor(weight))
    layer.requires_grad_(False)
    return [layer]


def _read_by_trees(domain: Domain, x: np.ndarray) -> np.ndarray:
    """Rows x [n, m] as the trees read them, by the network's own arithmetic."""
    y = torch.as_tensor(x)
    for layer in _spread_out(domain):
        y = layer.ordered(y)
    return y.detach().numpy()


def _network(forest: Forest, domain: Domain, outputs: tuple[str, ...]) -> SmileNet:
    """f = the sums, behind a box that none of them leaves."""
    from smilenn.model.encoders import Branch, Encoder
    from smilenn.train.averaged import averaged

    name = next(text for text in ("trees", "trees'", "sums of trees") if text not in domain.slices)
    encoder = Encoder(domain, [Branch(name, range(domain.size), [*_spread_out(domain), forest.layer])])
    for end, values in zip((encoder.lo, encoder.hi), forest.ends(), strict=True):
        end.copy_(torch.as_tensor(values))
    scale = 2.0 ** np.frexp(float((encoder.hi - encoder.lo).max()))[1]  # a power of two: nothing rounds
    slopes = np.eye(len(outputs)) / scale
    net = averaged(domain, encoder, scale, 0.0, outputs=outputs, slopes=slopes, sizes=(1,))
    return net.eval()


# ---- the estimator --------------------------------------------------------------------------------------------------


def _estimator(
    meaning: Meaning, properties: Stated, increasing: Names, decreasing: Names, certify_limit: float
) -> SmileRegressor | SmileClassifier:
    """Not fitted yet; cells of a kind that no row was compared on are errors."""
    kind = SmileRegressor if meaning.classes is None else SmileClassifier
    return kind(
        properties=properties,
        increasing=increasing,
        decreasing=decreasing,
        missing="indicator",
        unknown="refuse",
        certify_limit=certify_limit,
    )


def _outputs(meaning: Meaning, target: str) -> Outputs:
    """What the sums are, for sentences."""
    if meaning.classes is None:
        said = f"log({target or 'prediction'})" if meaning.link == "log" else target
        return Outputs(("",), target=said, role=ROLES["regression"])
    plain_labels(meaning.classes)
    names = class_names(meaning.classes)
    return Outputs(names if meaning.link == "scores" else ("",), names, target)


def _compared(model: Any, inside: np.ndarray) -> str:
    """What `assert_same` found; rows beyond the bounds are moved to them, and a bare Booster of XGBoost has no `apply`
    that would name leaves.
    """
    rows = "" if inside.all() else f" within the bounds ({inside.sum():,} of {len(inside):,})"
    bare = type(model).__module__.startswith("xgboost") and type(model).__name__ == "Booster"
    same = "gets the same sum in both, up to rounding" if bare else "reaches the same leaves in both"
    return f"every row of the table{rows} {same}"


def _describe(
    estimator: SmileEstimator, frame: pd.DataFrame, model: Any, trees: int, *, named: bool, compared: str
) -> None:
    """What `fit` sets beside network and claims."""
    estimator.history_, estimator.fill_, estimator.usual_ = [], {}, {}
    estimator.seed_, estimator.n_iter_, estimator.n_features_in_ = 0, trees, frame.shape[1]
    estimator.interrupted_, estimator.seconds_, estimator.cut_short_ = False, 0.0, ()
    estimator.reasons_ = f"The {trees} trees of a fitted {type(model).__name__}, converted; {compared}."
    if named:
        estimator.feature_names_in_ = np.array(frame.columns, dtype=object)


def _judge(estimator: SmileEstimator, x: np.ndarray, seconds: float, begun: float) -> None:
    """Choose the numeric profile, look for a counterexample, certify; x [n, m] are the rows of the table."""
    from smilenn.train.deploy import deploy

    net, claims = estimator.net_, estimator.claims_
    estimator.reasons_ += " " + deploy(net, claims)
    estimator._conclude_with(unjudged(None, because(Reason.NOT_CHECKED)))
    searched = Searched()
    found = prove(estimator, time_limit=seconds, trees=searched)
    if isinstance(found, Unknown):
        found = _violated(estimator, x, found, begun + seconds)
    estimator.seconds_ = perf_counter() - begun
    estimator._conclude(found, None, trees=searched)


def _violated(estimator: SmileEstimator, x: np.ndarray, found: Unknown, until: float) -> Verdict:
    """A counterexample at thresholds of the trees, if there is one among those tried."""
    from smilenn.provers.thresholds import threshold_example

    for claim in estimator.claims_:
        example = threshold_example(estimator.net_, claim, x, over=lambda: perf_counter() > until)
        if example is not None:
            about = {"weights": found.weights, "claims": found.claims}
            return Violated("search at thresholds", found.bound, found.seconds, counterexample=example, **about)
    return found


def _target(y: np.ndarray, meaning: Meaning) -> np.ndarray | None:
    """The target as numbers [n, o] to measure quality by; None for logarithms, which y is not."""
    if meaning.classes is None:
        return None if meaning.link == "log" else numbers_of(y, (), None).y
    places = {label: place for place, label in enumerate(meaning.classes.tolist())}
    found = np.array([places.get(label, -1) for label in y.tolist()])
    if (found < 0).any():
        row = int(np.flatnonzero(found < 0)[0])
        raise SmileError(f"Row {row} of the target is {y[row]!s}, which is none of the model's classes; correct it.")
    return found[:, None].astype(np.float64) if len(places) == 2 else np.eye(len(places))[found]
