"""Which network for which properties: the default that a user gets without choosing, and the reasons in words.

monotone, fair (any ε)        an ensemble of monotone encoders that does not read protected columns; the box has
                              width 0 if a claim is tight on the diagonal, else ε: the backbone may use it
convex, concave, lipschitz,   such an ensemble over the other features; those of which these speak are passed on to
symmetric, dominates,         units that keep them by their signs and directions (curved.py), from the best spline on
also with others              (spline.py)
robust only, many columns     an l∞-distance net; ε is what it allows, 2δ in the units of its output
bounds, order, sums, pairs    a free backbone in a fixed box of coordinates (coordinates.py): claims about every single
of outputs, no others         input hold by construction
rows on premises, or more     the same, the ends fitted by a linear program and opening outside the premises
rows than outputs             (premised.py)
anything else                 the paper's architecture: auxiliaries of the inputs, searched and proved

What the encoder's size and training depend on:

    ramps per number    64 for one or two features, 128 / features for some, 8 up to 32 features, then 256 / features
    batch               all rows up to 512, then 256
    epochs              1,500 steps, at most 300 epochs and at least 30, or as many as show 600,000 rows, but 8; they
                        end a quarter of that after the best one

The numbers were chosen on held-out rows of training parts of the tables in docs/encoders.md, never on their test rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

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
from smilenn.properties.forms import Outputs
from smilenn.properties.library import Spoken
from smilenn.properties.outputs import Bounded, Exclusive, Ordered, SumAtMost
from smilenn.properties.premise import ground
from smilenn.properties.spec import lower_all
from smilenn.train.asked import CURVES, Asked, asked
from smilenn.train.averaged import Numbers, averaged, boxed
from smilenn.train.cases import planned, without_clauses
from smilenn.train.config import Config
from smilenn.train.coordinates import Coordinates, coordinates, unconditional
from smilenn.train.curved import units
from smilenn.train.premised import Premised, premised
from smilenn.train.robust import moves_all, robust_recipe

GROUPS = 4  # members of each kind; they differ in their first weights and in the rows kept from them
LEAST = 20  # rows below which none are kept from training
FEWEST, MOST, SHARED = 8, 64, 128  # ramps of a number
FULL, BATCH, STEPS, PASSES = 512, 256, 1500, 600_000
RIDGE = 1e-3  # of a mean square of the inputs, in model units
WIDTH_SHARE = 0.98  # of ε that the box takes: the rest is for rounding
HARD = (Convex, Concave, Symmetric, Dominates)  # tight, and without a proof by slopes
ROOMY = (Robust, Safe, Bounded, Ordered, Exclusive, SumAtMost)  # proved by trees, which few units keep small
CONTEXT = 2  # further coordinates that the encoder of each network gives to curved units
WIDE = 0.75  # of the output's size: an ε from which a box serves `Symmetric` better than units that read sums
JOINED = {Monotone, Fair, Safe, Robust, Lipschitz, Bounded, Ordered, Exclusive, SumAtMost}  # kept beside the others
MANY = 64  # columns from which a robust claim is met by distances instead of bounded slopes

NOTHING = (
    "No encoder: the properties together let the output depend on no feature but by what a box of their ε leaves the "
    "backbone (encoder='none' searches for more)."
)
BOXED = (
    "No encoder: in coordinates such as the steps from one output to the next, or their sum, the properties are the "
    "ends of a fixed box, and the backbone is free inside it."
)
PREMISED = (
    "No encoder: a linear program found a box of coordinates of the outputs that implies the properties wherever their "
    "premises hold, and opens outside; the backbone is free inside it."
)
DISTANCES = (
    "Encoder: an l∞-distance net, whose layers change by at most what their inputs do, whatever the weights; the logit "
    "is scaled to ε and the backbone "
)


@dataclass(frozen=True)
class Recipe:
    """A network ready to train, the constants of its training, and why it looks as it does."""

    net: SmileNet
    config: Config
    reasons: str


def encoded(
    domain: Domain, x: np.ndarray, properties: Sequence[Property], *, output_scale: Numbers, start: Numbers,
    classify: bool, sizes: Sequence[int] = (64, 64), device: str = "cpu", image: bool = False,
    outputs: Outputs | None = None, y: np.ndarray | None = None,
    backbone: Callable[[int, int], nn.Module] | None = None, share: float = 0.0, members: int = GROUPS,
) -> Recipe | None:  # fmt: skip
    """The network that keeps these properties by construction, or None where there is none; x [N, m] raw training rows.

    Properties name features as the domain does (`Property.named`). `start` are the o outputs to begin with (the means
    of the target) and `output_scale` their sizes, in output units; y [N, o] the targets, where the outputs themselves
    are bounded. `sizes` are those of the backbone, a multilayer perceptron, unless `backbone`
    makes one, (m, o) → module, for which only networks in a fixed box have a use. Distance nets are larger if the
    `device` is a GPU, and may average and augment the columns if these are the pixels of a square `image`; they leave
    `share` of ε to a backbone. Ensembles have so many `members` of each kind.
    """
    spoken = Outputs() if outputs is None else outputs
    o, kinds = len(spoken.names), {type(p) for p in properties}
    scale = 2.0 ** np.round(np.log2(np.broadcast_to(np.asarray(output_scale, dtype=np.float64), (o,))))
    begin = np.broadcast_to(np.asarray(start, dtype=np.float64), (o,))
    net = _Net(domain, x, spoken, scale, begin, tuple(sizes), _aim(y, scale, classify), classify, members)
    claims = lower_all(properties, domain, spoken)
    if any(claim.either for claim in claims):  # as `fit` plans them
        aims = np.tile(begin, (len(x), 1)) if y is None else 2.0 * y - 1.0 if classify else y
        claims = without_clauses(claims, planned(claims, domain, spoken.names, x, aims), domain)
    fixed = [claim for claim in claims if unconditional(claim)]
    known = begin[None] if y is None else y.reshape(len(y), -1)
    box = coordinates(fixed, domain, spoken.names, scale, begin, x[: len(known)], known) if fixed else None
    inside: Coordinates | Premised | None = box if len(fixed) == len(claims) else None
    if inside is None and claims:
        aim = np.zeros((len(x), o)) if net.aim is None else net.aim - begin / scale
        inside = premised(claims, domain, spoken.names, scale, begin, x, aim)
    if inside is not None:
        own = None if backbone is None else backbone(domain.size, o if isinstance(inside, Coordinates) else 2 * o)
        fresh = boxed(domain, inside, scale, begin, outputs=spoken.names, sizes=sizes, backbone=own)
        return Recipe(fresh, steps(len(x), 3e-3), BOXED if inside is box else PREMISED)
    if backbone is not None:
        return None
    many = image or o > 1 or domain.size >= MANY
    if classify and kinds == {Robust} and many and moves_all(domain, properties, spoken):
        robust = robust_recipe(
            domain, properties, len(x), device, image=image, outputs=spoken, share=share, sizes=sizes
        )
        part = f"moves it in a box of {100 * share:g} % of the smallest ε." if share else "plays no part."
        return Recipe(*robust, DISTANCES + part)
    alone = {Monotone, Fair, Lipschitz, Robust} if domain.size < MANY else {Monotone, Fair, Lipschitz}
    if kinds & set(HARD) or (kinds & alone and kinds <= JOINED):
        leans = box is not None and o == 1 and bool(box.high_slope.any())  # a slope that others might not want
        return _monotone(net, properties, box if box is not None and box.parallel and not leans else None)
    return None


@dataclass(frozen=True, eq=False)
class _Net:
    """What every network of a task has: domain, training rows x [N, m], outputs, their scale [o] and start [o]; what
    the outputs are to be for these rows, divided by their scale, [N, o], where that is known; members of each kind.
    """

    domain: Domain
    x: np.ndarray
    outputs: Outputs
    scale: np.ndarray
    start: np.ndarray
    sizes: tuple[int, ...]
    aim: np.ndarray | None
    classify: bool
    members: int


def _aim(y: np.ndarray | None, scale: np.ndarray, classify: bool) -> np.ndarray | None:
    """Targets as outputs: a class is a logit of ±2, where the slope of a probability meets that of its line."""
    if y is None or y.size != len(y) * len(scale):
        return None
    return (4.0 * y.reshape(len(y), -1) - 2.0 if classify else y.reshape(len(y), -1)) / scale


def _line(u: np.ndarray, aim: np.ndarray) -> np.ndarray:
    """Slopes [o, c] of the least-squares line of aim [N, o] over u [N, c], from which training starts."""
    centred = u - u.mean(axis=0)
    gram = centred.T @ centred + RIDGE * len(u) * np.eye(u.shape[1])
    return np.linalg.solve(gram, centred.T @ aim).T


def _signed(
    line: np.ndarray, columns: Sequence[int], domain: Domain, properties: Sequence[Property]
) -> np.ndarray:  # fmt: skip
    """The slopes [o, c] over these columns, zero where a `Monotone` asks for the other sign."""
    line = line.copy()
    for p in properties:
        for names, sign in ((p.increasing, 1), (p.decreasing, -1)) if isinstance(p, Monotone) else ():
            own = {i for name in names for i in domain.indices(str(name))}
            wrong = np.array([i in own for i in columns]) & (sign * line < 0)
            line[wrong] = 0.0
    return line


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
class Way:
    """What the properties ask of one coordinate: to rise or fall with features, not to read others."""

    rising: frozenset[str]
    falling: frozenset[str]
    without: frozenset[str]


@dataclass(frozen=True, eq=False)
class Roles:
    """The ways of all coordinates; features that are passed on unchanged, those of them in which the outputs are linear
    and those that curved units read; what is asked of these units; the widths [o] that all properties leave the box, in
    outputs divided by their scale.
    """

    ways: tuple[Way, ...]
    passed: frozenset[str]
    linear: frozenset[str]
    curved: tuple[str, ...]
    asked: tuple[Asked, ...]
    width: np.ndarray


def roles(
    domain: Domain, properties: Sequence[Property], outputs: Outputs | None = None, head: np.ndarray | None = None,
    slopes: np.ndarray | None = None, classify: bool = False,
) -> Roles | None:  # fmt: skip
    """The roles of the features, or None where a property leaves this file without an answer.

    `head` [o, o] are the outputs, in their units, of the network's coordinates (None: they are the outputs). A property
    of a form v·f of the outputs, such as a margin, is one of Σ_t (v·G)_t·z_t: it holds if each of these terms keeps it.
    With `slopes` [o, m], those of a box of coordinates, claims about single inputs hold by that box; features that the
    box leans on are passed on and may be read, unless a slope has the wrong sign.
    """
    spoken = Outputs() if outputs is None else outputs
    head = np.eye(len(spoken.names)) if head is None else head
    n = head.shape[1]
    rising, falling, without = ([set[str]() for _ in range(n)] for _ in range(3))
    passed, curved, width = set[str](), set[str](), np.full(n, np.inf)
    wide = _wide(properties, spoken, head)
    for p in properties:
        if slopes is not None and all(unconditional(claim) for claim in p.lower(domain, spoken)):
            continue
        forms: list[np.ndarray] = []
        if isinstance(p, Spoken):
            forms = [
                sum(c * head[spoken.names.index(name)] for c, name in form)  # type: ignore[misc]
                for form in p.forms(spoken)
            ]
        for v in forms:
            used = np.flatnonzero(np.abs(v) > 1e-12 * np.abs(v).max())
            for t in used:
                if isinstance(p, Monotone):
                    for names, sign in ((p.increasing, 1), (p.decreasing, -1)):
                        (rising if sign * v[t] > 0 else falling)[t].update(str(name) for name in names)
                elif isinstance(p, Dominates):
                    curved |= {str(p.strong), str(p.weak)}
                elif isinstance(p, Fair) and not p.delta:
                    without[t].update(str(name) for name in p.protected)
                elif isinstance(p, Symmetric):
                    (without[t] if wide else curved).update(str(name) for pair in p.features for name in pair)
                elif isinstance(p, (Convex, Concave)):
                    curved.update(str(name) for name in p.features)
                elif isinstance(p, Robust) and domain.size < MANY:  # too many units otherwise
                    curved |= {name for claim in p.lower(domain, spoken) for name in _moving(claim, domain)}
                room = isinstance(p, (Fair, Symmetric)) and not getattr(p, "delta", None)
                if not isinstance(p, Bounded):
                    width[t] = min(width[t], float(p.eps) / float(np.abs(v).sum()) if room else 0.0)  # type: ignore[attr-defined]
        if isinstance(p, (Lipschitz, Robust, Safe, SumAtMost)):
            terms = [term for claim in p.lower(domain, spoken) for row in claim.then for term in row.terms]
            passed |= {term.name for term in terms if term.kind == "in"}
            if not isinstance(p, Spoken):
                width[:] = 0.0
        elif not isinstance(p, (Spoken, Ordered, Exclusive)) or (isinstance(p, Fair) and p.delta):
            return None
    if not passed <= set(domain.slices):
        return None
    curved |= passed
    hidden = curved & set[str]().union(*without)  # protected, of one output at least
    for never in without:
        never |= hidden
    curved -= hidden
    passed |= curved
    wanted = asked(domain, properties, spoken, head, budgets=not classify)
    # what is linear is convex and concave, and may not be read otherwise
    linear = {
        name for name in curved for one in wanted for i in domain.indices(name)
        if i in one.convex & one.concave and not any(i in pair for pair in one.equal)
        and not any(i in (s, w) for s, w, *_ in one.trades)
    }  # fmt: skip
    curved -= linear
    leans = set[str]()
    for name, span in domain.slices.items() if slopes is not None else ():
        own = np.zeros((n, 1)) if slopes is None else slopes[:, span]
        leans |= {name} if own.any() else set()
        for t in range(n):
            if (name in rising[t] and (own[t] < 0).any()) or (name in falling[t] and (own[t] > 0).any()):
                return None
            if own[t].any() and (name in without[t] or name in passed):
                return None
    # a tight claim needs a box of no width in its own coordinates, and the rule of signs one of none at all
    width = WIDTH_SHARE * width if np.isfinite(width).all() and width.all() else np.zeros(n)
    out = []
    for up, down, never in zip(rising, falling, without, strict=True):
        never = never | passed | (up & down)
        out.append(Way(frozenset(up - never), frozenset(down - never), frozenset(never)))
    order = tuple(name for name in domain.slices if name in curved)
    width = np.zeros(n) if curved else width  # the rule of signs is for points
    return Roles(tuple(out), frozenset(passed | leans), frozenset(linear), order, tuple(wanted), width)


def _moving(claim: Claim, domain: Domain) -> list[str]:
    """Features that two copies may not share."""
    pinned = ground(claim, domain).pinned
    return [name for name in domain.slices if not all(pinned[i] for i in domain.indices(name))]


def _wide(properties: Sequence[Property], outputs: Outputs, head: np.ndarray) -> bool:
    """Whether a box of width ε is what `Symmetric` is best kept by: ε is large and no other claim is tight."""
    for p in properties:
        if not isinstance(p, (Fair, Symmetric)) or getattr(p, "delta", None):
            return False
        sizes = [
            float(np.abs(sum(c * head[outputs.names.index(name)] for c, name in form)).sum())
            for form in p.forms(outputs)
        ]  # fmt: skip
        if float(p.eps) <= (WIDE * max(sizes) if isinstance(p, Symmetric) else 0.0):
            return False
    return True


def _monotone(net: _Net, properties: Sequence[Property], box: Coordinates | None) -> Recipe | None:
    """An ensemble over the coordinates of `box`, or over the outputs themselves."""
    domain, o = net.domain, len(net.outputs.names)
    head = np.eye(o) if box is None else box.head
    found = roles(
        domain, properties, net.outputs, net.scale[:, None] * head, None if box is None else box.high_slope,
        net.classify,
    )  # fmt: skip
    if found is None:
        return None if box is None or box.constant else _monotone(net, properties, None)
    width = found.width if box is None else np.minimum(found.width, (box.high - box.low) / 2)
    every = set(domain.slices)
    ways = list(dict.fromkeys(way for way in found.ways if not way.without >= every))
    if not ways and not found.linear and not found.curved:
        fresh = averaged(domain, None, net.scale, net.start, outputs=net.outputs.names, width=width, head=head,
                         sizes=net.sizes)  # fmt: skip
        return Recipe(fresh, steps(len(net.x), 3e-3), NOTHING)
    read = sum(any(name not in way.without for way in ways) for name in domain.slices)
    ramps = min(MOST, max(2, SHARED // max(1, read), min(FEWEST, 2 * SHARED // max(1, read))))
    kinds = [Kind("deep", ramps, (32, 32)), Kind("shallow", ramps, (16,)), Kind("sharp", ramps, (16,), 10.0, 0.01)]
    few = any(isinstance(p, ROOMY) for p in properties)
    members = net.members if found.curved or not found.passed else 1
    if found.curved:  # what is smooth is begun with
        ramps = min(ramps, max(FEWEST, math.isqrt(len(net.x)) // 3))
        kinds = [Kind("shallow", ramps, (16,))]
    elif found.passed:  # alone, the sharp kind learns most in time
        kinds = kinds[2:]
    more = CONTEXT if found.curved and not few else 0  # coordinates of e that only units read
    places, context = list[int](), np.zeros((o, len(ways) * more + o), dtype=bool)
    for way in ways:  # coordinates as branches return them
        own = [t for t, other in enumerate(found.ways) if other == way]
        context[own, len(places) + len(own) : len(places) + len(own) + more] = True
        places += [*own, *[-1] * more]
    parts = [
        monotone_encoder(
            domain, domain.scale(net.x), increasing=sorted(way.rising), decreasing=sorted(way.falling),
            without=sorted(way.without), kinds=kinds, members=members, outputs=found.ways.count(way) + more,
            suffix="" if len(ways) == 1 else "abcdefghijklmnopqrstuvwxyz"[w % 26] + "_" * (w // 26),
        )
        for w, way in enumerate(ways)
    ]  # fmt: skip
    branches = [b for one in zip(*(part.branches for part in parts), strict=True) for b in one if isinstance(b, Branch)]
    slopes = np.array([[float(t == place) for place in places] for t in range(o)])
    each = len(branches) // max(1, len(parts))  # networks side by side
    slopes = np.tile(slopes, each) / max(1, each)
    start, mask, columns = net.start, np.zeros(0), list[int]()
    if found.passed:
        columns = [i for name in domain.slices if name in found.passed for i in domain.indices(name)]
        passed = np.zeros((o, len(columns))) if box is None else box.high_slope[:, columns].copy()
        own = {i for name in found.linear for i in domain.indices(name)}
        linear = [k for k, i in enumerate(columns) if i in own]
        learned = np.tile(np.isin(columns, list(own)), (o, 1))
        if found.linear and net.aim is not None:
            u = domain.scale(net.x)[:, columns][:, linear]
            line = _signed(_line(u, net.aim), [columns[k] for k in linear], domain, properties)
            passed[:, linear] += np.linalg.solve(head, line)
            learned[:, linear] = (line != 0) | (o > 1)
            start = start - net.scale * (line @ u.mean(axis=0))
        mask = np.hstack([np.zeros(slopes.shape), learned])
        branches, slopes = [*branches, Branch("", columns)], np.hstack([slopes, passed])
    curved = units(
        domain, found.asked, found.curved, members=members, places=places, context=context[:, : len(places)],
        ordered=[bool(way.rising | way.falling) for way in found.ways], passed=columns,
        rng=np.random.default_rng(int(torch.randint(2**31, ()))), few=few,
    ) if found.curved else None  # fmt: skip
    groups = members if curved is not None or not found.passed else 0
    encoder = Encoder(domain, branches, groups=groups, parts=max(1, len(parts)))
    fresh = averaged(domain, encoder, net.scale, start, outputs=net.outputs.names, width=width, slopes=slopes,
                     head=head, sizes=net.sizes, hidden=0 if curved is None else curved.size * members)  # fmt: skip
    fresh.lower.slope.requires_grad_(False)
    if curved is not None:
        curved.begin_(fresh.lower)
        fresh.lower.keep = curved
    if found.linear:  # cut back by repair where a bound on slopes asks for less
        fresh.lower.slope.requires_grad_(True).register_hook(lambda slope: slope * torch.as_tensor(mask).to(slope))
    if box is not None and places:  # every member inside the box: their mean is, and its box around it
        ends = np.full((2, encoder.size), np.inf) * [[-1.0], [1.0]]
        own = np.stack([box.low + width / 2, box.high - width / 2])[:, places]
        own[:, np.array(places) < 0] = [[-np.inf], [np.inf]]
        ends[:, encoder.encoded] = np.tile(own, int(encoder.encoded.sum()) // len(places))
        encoder.limit_(ends[0], ends[1])
    read = frozenset() if curved is None else curved.features
    return Recipe(
        fresh, steps(len(net.x), 3e-3), _words(properties, found, ramps, float((width * net.scale).max()), read, every)
    )  # fmt: skip


def _words(
    properties: Sequence[Property], found: Roles, ramps: int, width: float, curved: frozenset[str], every: set[str]
) -> str:
    """Why the network looks as it does; `curved` features of `every` are read by units."""
    words = ["Encoder: none"]
    if any(set(way.without) < every for way in found.ways):
        words = [f"Encoder: the mean of several small networks over {ramps} quantile ramps a number"]
    if any(way.rising | way.falling for way in found.ways):
        words.append("monotone by the signs of their weights, so nothing is searched")
    protected = {str(name) for p in properties if isinstance(p, Fair) for name in p.protected}
    if protected:
        words.append("which do not read the protected columns")
    if found.linear:
        words.append(f"linear in {', '.join(sorted(found.linear))}, which is convex and concave and of one slope")
    if curved:
        kinds = sorted({type(p).__name__ for p in properties if isinstance(p, (*CURVES, Robust))})
        keeps = f", each of which keeps {' and '.join(kinds)} by its sign, direction or slope" if kinds else ""
        words.append(
            f"{listed(sorted(curved), 40)} read by piecewise linear units{keeps}; they start as the best spline"
        )
    unread = {name for way in found.ways for name in way.without} - protected - found.linear - curved
    if unread:
        words.append(
            f"nor {', '.join(sorted(unread))}, since no rule certifies more of the other properties exactly "
            "(encoder='none' searches for a network that does)"
        )
    words.append(
        f"the backbone moves the output within a box of width {width:.3g}, nearly ε"
        if width
        else "the backbone plays no part, since units are certified one by one in a box of no width"
        if curved
        else "the backbone plays no part, since ε = 0 leaves its box no width"
    )
    return "; ".join(words) + "."


def refuse_unpinned(encoder: Encoder, claims: Sequence[Claim]) -> None:
    """Raise if a pinned module reads a column that a claim lets differ, or if one returns other numbers for the same
    inputs: nothing would be known of what it returns.
    """
    u = torch.as_tensor(encoder.domain.scale(encoder.domain.sample(8, np.random.default_rng(0))))
    training = encoder.training
    encoder.eval()
    with torch.no_grad():
        for branch in encoder.branches:
            one, two = branch(u), branch(u)
            if not torch.equal(torch.nan_to_num(one), torch.nan_to_num(two)):
                raise SmileError(
                    f"The encoder's branch {branch.name!r} gives other numbers when it is asked again: it depends on "
                    "chance, so nothing can be certified of it; leave random layers out."
                )
    encoder.train(training)
    for branch in encoder.branches:
        if not isinstance(branch, Branch) or not any(isinstance(layer, Pinned) for layer in branch.layers):
            continue
        for claim in claims:
            pinned = ground(claim, encoder.domain).pinned
            moving = [encoder.domain.coordinates[i] for i in branch.columns if not pinned[i]]
            if moving and claim.copies > 1:
                raise SmileError(
                    f"The encoder's branch {branch.name!r} holds a module that reads {listed(moving)}, which "
                    f"{claim.formula()!r} does not keep equal; leave that column to another branch."
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
