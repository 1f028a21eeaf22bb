"""Which network for which properties: the default that a user gets without choosing, and the reasons in words.

monotone, fair (any ε)        an ensemble of monotone encoders that does not read protected columns; the box has
                              width 0 if a claim is tight on the diagonal, else ε: the backbone may use it
convex, concave, symmetric,   the same, not reading the features of which these speak (of `Dominates` it rises with the
dominates, also with others   strong one and ignores the weak one): no rule certifies more of them exactly
robust only, many columns     an l∞-distance net; ε is what it allows, 2δ in the units of its output
anything else                 the paper's architecture: auxiliaries of the inputs, searched and proved

What the encoder's size and training depend on:

    ramps per number    64 for one or two features, 128 / features for some, 8 up to 32 features, then 256 / features
    batch               all rows up to 512, then 256
    epochs              1,500 steps, at most 300 epochs and at least 30, or as many as show 600,000 rows, but 8; they
                        end a quarter of that after the best one

The numbers were chosen on held-out rows of training parts of the tables in docs/encoders.md, never on their test rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.model.encoders import Branch, Encoder, Pinned
from smilenn.model.encoders.monotone import Kind, monotone_encoder
from smilenn.model.net import SmileNet
from smilenn.properties import (
    Concave,
    Convex,
    Dominates,
    Fair,
    Lipschitz,
    Monotone,
    Robust,
    Safe,
    Symmetric,
)  # fmt: skip
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.properties.premise import ground
from smilenn.train.averaged import averaged
from smilenn.train.config import Config
from smilenn.train.robust import moves_all, robust_recipe

GROUPS = 4  # members of each kind; they differ in their first weights and in the rows kept from them
LEAST = 20  # rows below which none are kept from training
FEWEST, MOST, SHARED = 8, 64, 128  # ramps of a number
FULL, BATCH, STEPS, PASSES = 512, 256, 1500, 600_000
WIDTH_SHARE = 0.98  # of ε that the box takes: the rest is for rounding
HARD = (Convex, Concave, Symmetric, Dominates)  # tight, and without a proof by slopes
MANY = 64  # columns from which a robust claim is met by distances instead of bounded slopes

NOTHING = (
    "No encoder: the properties together let the output depend on no feature but by what a box of their ε leaves the "
    "backbone (encoder='none' searches for more)."
)
DISTANCES = (
    "Encoder: an l∞-distance net, whose layers change by at most what their inputs do, whatever the weights; the logit "
    "is scaled to ε and the backbone plays no part."
)


@dataclass(frozen=True)
class Recipe:
    """A network ready to train, the constants of its training, and why it looks as it does."""

    net: SmileNet
    config: Config
    reasons: str


def encoded(
    domain: Domain, x: np.ndarray, properties: Sequence[Property], *, output_scale: float, start: float, classify: bool,
    sizes: Sequence[int] = (64, 64), device: str = "cpu", image: bool = False,
) -> Recipe | None:  # fmt: skip
    """The encoded network for these properties, or None where there is none; x [N, m] raw training rows.

    Properties name features as the domain does (`Property.named`). `start` is the output to begin with (the mean of the
    target), in output units; `sizes` are those of the backbone, a multilayer perceptron. Distance nets are larger if
    the `device` is a GPU, and may average and augment the columns if these are the pixels of a square `image`.
    """
    kinds = {type(p) for p in properties}
    if kinds & set(HARD) or (kinds & {Monotone, Fair} and kinds <= {Monotone, Fair, Safe, Robust}):
        return _monotone(domain, x, properties, output_scale, start, sizes)
    if classify and kinds == {Robust} and (image or domain.size >= MANY) and moves_all(domain, properties):
        return Recipe(*robust_recipe(domain, properties, len(x), device, image=image), DISTANCES)
    return None


def why_plain(properties: Sequence[Property]) -> str:
    """Why these properties get the paper's architecture."""
    if not properties:
        return "No property was asked for, so no encoder has to keep one."
    kinds = sorted({type(p).__name__ for p in properties})
    return f"No encoder keeps {', '.join(kinds)} by construction as stated here, so training searches and proves."


def steps(rows: int, rate: float) -> Config:
    """Batch, epochs and patience for so many training rows."""
    batch = rows if rows <= FULL else BATCH
    least = min(30.0, max(8.0, PASSES / max(1, rows)))
    epochs = round(min(300, max(least, STEPS * batch / max(1, rows))))
    return Config(
        epochs=epochs, batch_size=max(1, batch), patience=max(10, epochs // 4), learning_rate=rate,
        train_learning_rate=rate,
    )  # fmt: skip


@dataclass(frozen=True)
class Roles:
    """What the properties ask of each feature: to rise or fall with it, not to read it, to pass it on unchanged; and
    the width that all of them leave the box, in output units.
    """

    rising: frozenset[str]
    falling: frozenset[str]
    without: frozenset[str]
    passed: frozenset[str]
    width: float


def roles(domain: Domain, properties: Sequence[Property]) -> Roles | None:
    """The roles of the features, or None where a property leaves this file without an answer."""
    rising, falling, without, passed = set[str](), set[str](), set[str](), set[str]()
    widths = []
    for p in properties:
        if isinstance(p, Monotone):
            rising |= {str(name) for name in p.increasing}
            falling |= {str(name) for name in p.decreasing}
            widths.append(0.0)
        elif isinstance(p, Dominates):
            rising.add(str(p.strong))
            without.add(str(p.weak))
            widths.append(0.0)
        elif isinstance(p, Fair) and not p.delta:
            without |= {str(name) for name in p.protected}
            widths.append(float(p.eps))
        elif isinstance(p, Symmetric):
            without |= {str(name) for pair in p.features for name in pair}
            widths.append(float(p.eps))
        elif isinstance(p, (Convex, Concave)):
            without |= {str(name) for name in p.features}
            widths.append(0.0)
        elif isinstance(p, (Lipschitz, Robust, Safe)):
            terms = [term for claim in p.lower(domain) for row in claim.then for term in row.terms]
            passed |= {term.name for term in terms if term.kind == "in"}
            widths.append(0.0)
        else:
            return None
    if min(widths) < 0 or not passed <= set(domain.slices):
        return None
    without |= passed | (rising & falling)
    rising, falling = rising - without, falling - without
    return Roles(
        frozenset(rising), frozenset(falling), frozenset(without), frozenset(passed), WIDTH_SHARE * min(widths)
    )  # fmt: skip


def _monotone(
    domain: Domain, x: np.ndarray, properties: Sequence[Property], output_scale: float, start: float,
    sizes: Sequence[int],
) -> Recipe | None:  # fmt: skip
    found = roles(domain, properties)
    if found is None:
        return None
    if found.without >= set(domain.slices):
        net = averaged(domain, None, output_scale, start, width=found.width, sizes=sizes)
        return Recipe(net, steps(len(x), 3e-3), NOTHING)
    read = sum(name not in found.without for name in domain.slices)
    ramps = min(MOST, max(2, SHARED // read, min(FEWEST, 2 * SHARED // read)))
    kinds = [Kind("deep", ramps, (32, 32)), Kind("shallow", ramps, (16,)), Kind("sharp", ramps, (16,), 10.0, 0.01)]
    encoder = monotone_encoder(
        domain, domain.scale(x), increasing=sorted(found.rising), decreasing=sorted(found.falling),
        without=sorted(found.without), kinds=kinds[1:2] if found.passed else kinds,
        members=1 if found.passed else GROUPS,
    )  # fmt: skip
    if found.passed:
        columns = [i for name in domain.slices if name in found.passed for i in domain.indices(name)]
        branches = [branch for branch in encoder.branches if isinstance(branch, Branch)]
        encoder = Encoder(domain, [*branches, Branch("", columns)])
    net = averaged(domain, encoder, output_scale, start, width=found.width, sizes=sizes)
    net.lower.slope.requires_grad_(False)
    words = [f"Encoder: the mean of several small networks over {ramps} quantile ramps a number"]
    if found.rising | found.falling:
        words.append("monotone by the signs of their weights, so nothing is searched")
    protected = {str(name) for p in properties if isinstance(p, Fair) for name in p.protected}
    if protected:
        words.append("which do not read the protected columns")
    if found.without - protected:
        words.append(
            f"nor {', '.join(sorted(found.without - protected))}, since no rule certifies more of the other properties "
            "exactly (encoder='none' searches for a network that does)"
        )
    words.append(
        f"the backbone moves the output within a box of width {found.width:.3g}, nearly ε"
        if found.width
        else "the backbone plays no part, since ε = 0 leaves its box no width"
    )
    return Recipe(net, steps(len(x), 3e-3), "; ".join(words) + ".")


def refuse_unpinned(encoder: Encoder, claims: Sequence[Claim]) -> None:
    """Raise if a pinned module reads a column that a claim lets differ: nothing would be known of what it returns."""
    for branch in encoder.branches:
        if not isinstance(branch, Branch) or not any(isinstance(layer, Pinned) for layer in branch.layers):
            continue
        for claim in claims:
            pinned = ground(claim, encoder.domain).pinned
            moving = [encoder.domain.coordinates[i] for i in branch.columns if not pinned[i]]
            if moving and claim.copies > 1:
                raise SmileError(
                    f"The encoder's branch {branch.name!r} holds a module that reads {listed(moving)}, which "
                    f"{claim.sentence or claim.formula()!r} does not keep equal; leave that column to another branch."
                )


def kept_rows(y: np.ndarray, net: SmileNet, share: float, classes: bool, rng: np.random.RandomState) -> np.ndarray:
    """[N, G] bool: what each of the G groups of members is judged by instead of learning from it; y [N].

    Each group of an ensemble has rows of its own, so that the mean has learned from all; a backbone that takes part, or
    an encoder that is no ensemble, has the same rows kept from everything. Of few rows none are kept.
    """
    groups = 1 if net.encoder is None else max(1, net.encoder.groups)
    held = np.zeros((len(y), groups), dtype=bool)
    if len(y) < LEAST:
        return held
    for value in np.unique(y) if classes else (None,):
        members = rng.permutation(np.arange(len(y)) if value is None else np.flatnonzero(y == value))
        size = share * len(members)
        for g in range(groups):
            first = g if net.collapsed else 0
            held[members[round(first * size) : round((first + 1) * size)], g] = True
    return held
