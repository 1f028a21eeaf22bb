"""Random model folders with random certificates: small networks, claims that are true of a witness, arbitrary trees.

Any slopes are sound, so a random certificate is valid; it only proves a poor bound. A claim is built round its witness:
the tuple comes first, then rows that hold there.

    made = random_folder(path, seed)           a folder with one or two claims
    made = random_folder(path, seed, boxes="paper", copies=2, …)
    write(path, net, proofs)                   a folder from parts
    put(path, files_of(net, proofs) | {…})     a folder from bytes, with a manifest that fits them
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.optimize import linprog

from smilenn.certify import certificate as c
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.bundle import MODEL, WEIGHTS, dump_weights
from smilenn.model.folder import MANIFEST, dump_json, make_manifest
from smilenn.model.net import SmileNet
from smilenn.problem import build
from smilenn.properties.claim import Claim, Inequality, Term, row
from smilenn.properties.premise import _sorted_rows, ground, holds_exactly, pins
from smilenn.provers.proof import ALL_COPIES
from smilenn.provers.rules.order import ordered


@dataclass(frozen=True)
class Made:
    """A written folder and what it was made of."""

    folder: Path
    net: SmileNet
    claims: tuple[Claim, ...]
    proofs: tuple[c.ClaimProof, ...]


def random_folder(folder: Path, seed: int, *, claims: int | None = None, **choices: Any) -> Made:
    """Write a random folder; `choices` fixes domain, boxes, auxiliaries, copies, rule, rhs, outputs or profile.

    The profile is f64-aux unless given; "any" picks one.
    """
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    domain = choices.get("domain") or random_domain(rng, size=choices.get("size"))
    keys = ("boxes", "auxiliaries", "outputs", "hidden", "embedding", "zero_gap")
    profile = choices.get("profile", "f64-aux")
    profile = str(rng.choice(["f64-aux", "fixed-order", "dyadic"])) if profile == "any" else profile
    if profile != "f64-aux":  # their rules are for boxes of no width
        choices = {"boxes": "gap", "zero_gap": profile == "dyadic" or bool(rng.random() < 0.8)} | choices
    net = random_net(rng, domain, **{key: choices[key] for key in keys if key in choices})
    if profile == "fixed-order":
        net.set_profile(profile)
        if rng.random() < 0.7:
            give_signs(rng, net)
    elif profile == "dyadic":
        shorten(net, bits=int(rng.choice([2, 4, 6])))
        net.set_profile(profile, int(rng.integers(2, 12)))
    proofs = []
    made = []
    for _ in range(int(rng.integers(1, 3)) if claims is None else claims):
        claim, witness = random_claim(rng, net, copies=choices.get("copies"), rhs=choices.get("rhs"))
        made.append(claim)
        proofs.append(random_proof(rng, net, claim, witness, rule=choices.get("rule")))
    own = np.random.default_rng([seed, 2])  # so that the networks and claims do not depend on what follows
    proofs = [replace(proof, room=random_room(own, net, Claim.from_json(proof.claim))) for proof in proofs]
    put(folder, files_of(net, proofs) | random_words(own, net, proofs))
    return Made(Path(folder), net, tuple(made), tuple(proofs))


# ---- parts ----------------------------------------------------------------------------------------------------------


def random_domain(rng: np.random.Generator, size: int | None = None) -> Domain:
    """One to three features of all kinds, scaled or not; size=1 gives one number."""
    kinds = ["continuous", "scaled", "integer", "scaled integer"]
    kinds += [] if size == 1 else ["binary", "category", "columns"]
    features = []
    for i in range(size or int(rng.integers(1, 4))):
        name, kind = f"x{i}", str(rng.choice(kinds))
        lo = float(rng.integers(-8, 8)) / 8 if "integer" not in kind else float(rng.integers(-3, 3))
        hi = lo + (float(rng.integers(1, 16)) / 8 if "integer" not in kind else float(rng.integers(1, 5)))
        if rng.random() < 0.1:
            lo, hi = (lo / 10, hi / 10) if "integer" not in kind else (lo, lo)
        scaler = {"shift": float(rng.normal()), "mult": float(rng.lognormal())} if "scaled" in kind else {}
        values = tuple("abcd"[: int(rng.integers(1, 5))])
        if kind in ("category", "columns"):
            columns = tuple(f"{name}_{v}" for v in values) if kind == "columns" else ()
            features.append(Feature(name, "category", categories=values, columns=columns))
        elif kind == "binary":
            features.append(Feature(name, "binary", categories=("no", "yes") if rng.random() < 0.5 else ()))
        else:
            features.append(Feature(name, "integer" if "integer" in kind else "continuous", lo, hi, **scaler))
    return Domain(tuple(features))


def random_net(
    rng: np.random.Generator,
    domain: Domain,
    *,
    boxes: str | None = None,
    auxiliaries: str | None = None,
    outputs: int | None = None,
    hidden: int | None = None,
    embedding: int | None = None,
    zero_gap: bool | None = None,
) -> SmileNet:
    """A network with random weights; kinks lie inside the box."""
    boxes = boxes or str(rng.choice(["gap", "gap", "paper"]))
    auxiliaries = auxiliaries or str(rng.choice(["constant", "affine", "relu", "relu", "relu"]))
    o, n = outputs or int(rng.integers(1, 3)), embedding or int(rng.integers(1, 4))
    names = ("",) if o == 1 and rng.random() < 0.7 else tuple(f"y{i}" for i in range(o))
    net = SmileNet(
        domain,
        MLP(domain.size, (2,), n),
        n,
        outputs=names,
        auxiliaries=auxiliaries,  # type: ignore[arg-type]
        hidden=hidden or int(rng.integers(1, 4)),
        boxes=boxes,
        skip=bool(rng.random() < 0.4),  # type: ignore[arg-type]
        output_scale=float(rng.choice([1.0, 1.0, 2.0**-5, 2.0**9])),
    )
    zero_gap = bool(rng.random() < 0.3) if zero_gap is None else zero_gap
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if not name.startswith("backbone."):
                parameter.copy_(torch.as_tensor(rng.normal(size=tuple(parameter.shape))))
        points = torch.as_tensor(domain.sample(16, rng))
        net.centre_(points)
        for aux in (net.lower, net.second):
            if aux.hidden:
                aux.bias.add_(torch.as_tensor(0.2 * rng.normal(size=aux.hidden)))
        if boxes == "gap":
            for parameter in net.gap._signed():
                parameter.copy_(parameter.abs() * (0.0 if zero_gap else 0.2))
        else:
            net.second.const.add_(0.5)
    return net


def give_signs(rng: np.random.Generator, net: SmileNet) -> None:
    """Make every output rise or fall in every input, by the signs of the weights."""
    m, h, n, o = net.domain.size, net.lower.hidden, net.embedding, len(net.outputs)
    inputs, units, rows, outputs = (np.where(rng.random(size) < 0.8, 1.0, -1.0) for size in (m, h, n, o))
    signs = {
        "lower.weight": np.outer(units, inputs),
        "lower.out": np.outer(rows, units),
        "lower.slope": np.outer(rows, inputs),
        "head_weight": np.outer(outputs, rows),
    }
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if name in signs:
                parameter.copy_(parameter.abs() * torch.as_tensor(signs[name]))


def shorten(net: SmileNet, bits: int) -> None:
    """Round the weights to multiples of 2^-bits: with a coarse grid no sum of a small network rounds then."""
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if not name.startswith("backbone."):
                parameter.mul_(2.0**bits).round_().div_(2.0**bits)


def random_claim(
    rng: np.random.Generator, net: SmileNet, *, copies: int | None = None, rhs: Any = None
) -> tuple[Claim, np.ndarray]:
    """A claim and a witness of its premise, [k, m]."""
    domain = net.domain
    k = copies or int(rng.choice([1, 2, 2, 2, 3]))
    others = str(rng.choice(["equal", "equal", "free"]))
    names = [f.name for f in domain.features]
    pick = [n for n in names if rng.random() < 0.35]
    equal = tuple(n for n in pick if rng.random() < 0.4)
    free = tuple(n for n in pick if n not in equal)
    if k == 2 and rng.random() < 0.2 and domain.groups:  # one member of a group pinned, the others not
        member = domain.coordinates[domain.groups[0][0]]
        equal = (*equal, member) if member not in (*equal, *free) else equal
    mentioned = [n for n in domain.coordinates if rng.random() < 0.6]
    style = str(rng.choice(["strips", "ordered", "mixed", "mixed"])) if k == 2 else "mixed"
    if style == "ordered":
        free, others = (), "equal"
    # the witness: pinned coordinates agree with the first copy
    frame = Claim(k, tuple(row([(0, 0, "in", n)]) for n in ()), (row([(1, 0, "out", net.outputs[0])]),))
    named = tuple(Inequality(row([(1, 0, "in", n)]).terms, Fraction(10**6)) for n in mentioned)
    frame = replace(frame, when=named, others=others, equal=equal, free=free)
    pinned = pins(frame, domain)
    x = domain.sample(k, rng)
    x = np.where(domain.integral, x, np.clip(np.round(x * 256) / 256, domain.lo, domain.hi))
    x[:, pinned] = x[0, pinned]
    for group in domain.groups:  # a group with a pinned member has to agree as a whole
        if pinned[list(group)].any():
            x[:, list(group)] = x[0, list(group)]
    value = [[Fraction(float(v)) for v in copy] for copy in x]
    where = {n: i for i, n in enumerate(domain.coordinates)}

    def slack() -> Fraction:
        return Fraction(int(rng.integers(0, 40)), int(rng.choice([8, 10, 30])))

    def holding(terms: list[tuple[Any, int, str]], op: str = "<=") -> Inequality:
        total = sum((Fraction(a) * value[copy][where[n]] for a, copy, n in terms), Fraction(0))
        return row([(a, copy, "in", n) for a, copy, n in terms], total + (slack() if op == "<=" else 0), op)  # type: ignore[arg-type]

    when = []
    for n in mentioned:
        i = where[n]
        if style == "strips":
            delta = abs(value[0][i] - value[1][i]) + slack() / 4
            when += [row([(s, 0, "in", n), (-s, 1, "in", n)], delta) for s in (1, -1)]
            continue
        if style == "ordered":
            sign = 1 if value[0][i] <= value[1][i] else -1
            when.append(row([(sign, 0, "in", n), (-sign, 1, "in", n)], 0))
            continue
        shape = str(rng.choice(["bound", "strip", "both", "same", "extra", "equality", "idle", "zero"]))
        a = Fraction(int(rng.choice([-3, -1, 1, 2])), int(rng.choice([1, 1, 3])))
        first, second = int(rng.integers(k)), int(rng.integers(k))
        if shape == "bound" or (k == 1 and shape in ("strip", "both", "same")):
            when.append(holding([(a, first, n)]))
        elif shape == "strip":
            when.append(holding([(a, 0, n), (-a, 1, n)]))
        elif shape == "both":
            when += [holding([(a, 0, n), (-a, 1, n)]), holding([(-a, 0, n), (a, 1, n)])]
        elif shape == "same":
            when.append(holding([(a, 0, n), (-a, k - 1, n)], "=="))
        elif shape == "equality" and k == 1:
            when.append(holding([(a, 0, n)], "=="))
        elif shape == "zero":  # names the input and says nothing of it
            other = row([(1, 0, "in", str(rng.choice(domain.coordinates)))]).terms
            when.append(Inequality((Term(Fraction(0), first, "in", n), *other), Fraction(1000)))
        elif shape in ("extra", "equality"):
            m = str(rng.choice(domain.coordinates))
            op = "==" if shape == "equality" and not domain.integral.any() else "<="
            when.append(holding([(a, first, n), (Fraction(1, 2), second, m), (-1, 0, n)], op))
        else:
            when.append(Inequality((*row([(1, 0, "in", n)]).terms, *row([(-1, 0, "in", n)]).terms), Fraction(0), "<="))

    then = []
    for _ in range(int(rng.integers(1, 3))):
        out = str(rng.choice(net.outputs))
        if k == 2 and (style in ("ordered", "strips") or rng.random() < 0.5):
            terms: list[tuple[Any, int, str, str]] = [(1, 0, "out", out), (-1, 1, "out", out)]
        else:
            terms = [
                (Fraction(int(rng.integers(-2, 3)), int(rng.choice([1, 3]))), copy, "out", str(name))
                for copy in range(k)
                for name in net.outputs
            ]
        if rng.random() < 0.3:
            a = Fraction(int(rng.integers(-9, 9)), 10)
            n = str(rng.choice(domain.coordinates))
            terms += [(a, 0, "in", n), *([(-a, 1, "in", n)] if k == 2 else [])]
        limit = Fraction(str(rhs)) if rhs is not None else Fraction(int(rng.integers(0, 4000)), 10)
        if style == "ordered":
            limit = max(limit, Fraction(0))
        op = "==" if rng.random() < 0.15 and style != "ordered" else "<="
        then.append(row(terms, limit, op))  # type: ignore[arg-type]
        if style == "strips" and rng.random() < 0.5:
            then.append(row([(t[0], 1 - t[1], t[2], t[3]) for t in terms], limit))
    if not any(t.kind == "out" for r in then for t in r.terms):
        then[0] = row([(1, 0, "out", net.outputs[0])], then[0].rhs)
    claim = Claim(k, tuple(when), tuple(then), others, equal, free, "A random claim.")  # type: ignore[arg-type]
    if not holds_exactly(claim, domain, x):  # terms that cancel name nothing, so that more is pinned than was planned
        return random_claim(rng, net, copies=copies, rhs=rhs)
    return claim, x


# ---- proofs ---------------------------------------------------------------------------------------------------------


def pinned_by_claim(claim: Claim, domain: Domain) -> np.ndarray:
    """[m] bool, pinned as the specification (section 3) has it: by name, or by strip rows that leave only zero."""
    pinned = pins(claim, domain)
    for i, (low, high) in _sorted_rows(claim, domain)[2].items():
        if low is not None and high is not None:
            if domain.integral[i]:
                low, high = Fraction(-(-low // 1)), Fraction(high // 1)
            pinned[i] |= low == high == 0
    return pinned if claim.copies > 1 else np.zeros(domain.size, dtype=bool)


def random_proof(
    rng: np.random.Generator, net: SmileNet, claim: Claim, witness: np.ndarray, *, rule: str | None = None
) -> c.ClaimProof:
    """A proof of every row: any rule that applies, picked at random (or `rule` where it applies)."""
    premise = ground(claim, net.domain)
    exact_rows: list[c.RowProof] = []
    rows = claim.rows
    for r, inequality in enumerate(rows):
        options: list[c.RowProof] = []
        if rule in (None, "mirror") and premise.symmetric:
            swapped = {(t.coef, 1 - t.copy, t.kind, t.name) for t in inequality.terms}
            options += [
                c.MirrorProof(q)
                for q in range(r)
                if {(t.coef, t.copy, t.kind, t.name) for t in rows[q].terms} == swapped
                and rows[q].rhs == inequality.rhs
                and not isinstance(exact_rows[q], c.MirrorProof)
            ]
        if rule in (None, "sweep") and _sweepable(net, claim):
            options.append(c.SweepProof())
        names = any(t.kind == "out" for t in inequality.terms)
        if rule in (None, "order") and net.profile == "fixed-order" and names:
            problem = build(replace(claim, then=(inequality,)), net.snapshot())
            options += [c.OrderProof()] if ordered(problem, problem.rows[0]) or rng.random() < 0.05 else []
        if rule in (None, "slope"):
            found = slope_proof(net, claim, inequality)
            options += [found] if found else []
        if rule == "leaf" or not options or rng.random() < 0.3:
            options = [random_leaves(rng, net, claim)]
        exact_rows.append(options[int(rng.integers(len(options)))])
    return c.ClaimProof(claim.to_json(), witness.tolist(), tuple(exact_rows))


def _sweepable(net: SmileNet, claim: Claim) -> bool:
    return net.domain.size == 1 and claim.copies <= 2 and not _sorted_rows(claim, net.domain)[3]


def random_leaves(
    rng: np.random.Generator, net: SmileNet, claim: Claim, splits: int | None = None, size: float = 1.0
) -> c.LeafProof:
    """A random tree with random slopes."""
    domain, k = net.domain, claim.copies
    pinned = pinned_by_claim(claim, domain)
    extra = _sorted_rows(claim, domain)[3]
    h = net.lower.hidden + net.second.hidden
    grouped = {i for group in domain.groups for i in group}
    plain = [i for i in range(domain.size) if i not in grouped]
    units = tuple(j for j in range(h) if rng.random() < 0.8)
    bits = int(rng.choice([0, 8, 20]))

    def numbers(count: int) -> tuple[int, ...]:
        return tuple(int(v) for v in np.rint(size * rng.normal(size=count) * 2.0**bits))

    def leaf() -> c.Leaf:
        rows = [
            v if inequality.op == "==" else abs(v)
            for v, (inequality, _) in zip(numbers(len(extra)), extra, strict=True)
        ]
        flips = numbers(k * net.embedding) if net.boxes == "paper" else ()
        return c.Leaf(flips, numbers(k * len(units)), tuple(rows))

    kinds = [
        *(["phase"] if h else []),
        *(["flip"] if net.boxes == "paper" else []),
        *(["input"] if plain else []),
        *(["group"] if domain.groups else []),
    ]
    left = int(rng.integers(0, 7)) if splits is None else splits
    nodes: list[c.Node] = []
    open_ = 1
    while open_:
        open_ -= 1
        if left <= 0 or rng.random() < 0.2:
            nodes.append(leaf())
            continue
        left -= 1
        copy = int(rng.integers(k))
        match str(rng.choice(kinds)):
            case "phase":
                nodes.append(c.Phase(copy, int(rng.integers(h))))
                open_ += 2
            case "flip":
                nodes.append(c.Flip(copy, int(rng.integers(net.embedding))))
                open_ += 2
            case "input":
                i = int(rng.choice(plain))
                theta = float(
                    rng.choice([rng.uniform(domain.lo[i], domain.hi[i]), domain.lo[i], np.rint(domain.hi[i])])
                )
                nodes.append(c.Input(ALL_COPIES if pinned[i] else copy, i, theta))
                open_ += 2
            case _:
                g = int(rng.integers(len(domain.groups)))
                whole = bool(pinned[list(domain.groups[g])].all())
                nodes.append(c.Group(ALL_COPIES if whole else copy, g))
                open_ += len(domain.groups[g])
    return c.LeafProof(bits, units, tuple(nodes))


def slope_proof(net: SmileNet, claim: Claim, inequality: Inequality) -> c.SlopeProof | None:
    """A proof by the slope rule, splitting every unit in order; None where the rule does not apply or the row fails."""
    domain = net.domain
    if claim.copies != 2 or not net.collapsed or inequality.rhs < 0 or _sorted_rows(claim, domain)[3]:
        return None
    pinned, premise, s = pinned_by_claim(claim, domain), ground(claim, domain), net.snapshot()
    moving = np.flatnonzero(~pinned)
    if any(i in group for group in domain.groups for i in moving):
        return None
    sign = np.where(premise.delta_hi <= 0, -1, np.where(premise.delta_lo >= 0, 1, 0))
    if (sign[moving] == 0).any():
        return None
    a, b = np.zeros((2, len(net.outputs))), np.zeros((2, domain.size))
    for t in inequality.terms:
        if t.kind == "out":
            a[t.copy, net.outputs.index(t.name)] += float(t.coef)
        else:
            b[t.copy, domain.indices(t.name)[0]] += float(t.coef)
    if (a[0] != -a[1]).any() or (b[0] != -b[1]).any():
        return None
    v = a[0] @ s.head_weight
    q, kappa, weight = v @ s.lower_slope * domain.mult + b[0], v @ s.lower_out, s.hidden_weight * domain.mult
    shift = s.hidden_bias - weight @ domain.shift
    lo, hi = premise.lo.min(axis=0), premise.hi.max(axis=0)
    nodes: list[c.Node] = []
    stack: list[list[tuple[int, int]]] = [[]]
    while stack:
        path = stack.pop()
        phase = dict(path)
        low = np.minimum(weight * lo, weight * hi).sum(axis=1) + shift
        top = np.maximum(weight * lo, weight * hi).sum(axis=1) + shift
        gain = (kappa * weight.T).T * sign  # [H, m]
        worst = q * sign
        for j in range(len(kappa)):
            if phase.get(j) == -1 or top[j] <= -1e-9:
                continue
            worst = worst + (gain[j] if phase.get(j) == 1 or low[j] >= 1e-9 else np.maximum(gain[j], 0.0))
        if (worst[moving] <= -1e-9 * (worst[moving] != 0)).all():
            nodes.append(c.Leaf())
            continue
        multipliers = _emptiness(path, weight, shift, lo, hi, domain)
        if multipliers is not None:
            nodes.append(c.Empty(multipliers))
            continue
        undecided = [j for j in range(len(kappa)) if j not in phase and low[j] < 1e-9 and top[j] > -1e-9 and kappa[j]]
        if not undecided:
            return None
        nodes.append(c.Phase(ALL_COPIES, undecided[0]))
        stack += [[*path, (undecided[0], 1)], [*path, (undecided[0], -1)]]
    return c.SlopeProof(20, tuple(nodes))


def _emptiness(
    path: Sequence[tuple[int, int]],
    weight: np.ndarray,
    shift: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    domain: Domain,
) -> tuple[int, ...] | None:
    """Multipliers λ with Σ λ_e·(±s_j) < 0 on the box, as integers times 2^-20, or None."""
    if not path:
        return None
    rows = np.array([side * weight[j] for j, side in path])
    # max t with ±s ≥ t on box and simplices; the dual of its rows is λ
    a_ub = np.hstack([-rows, np.ones((len(path), 1))])
    b_ub = np.array([side * shift[j] for j, side in path])
    a_eq = [[1.0 if i in group else 0.0 for i in range(len(lo))] + [0.0] for group in domain.groups] or None
    answer = linprog(
        [*np.zeros(len(lo)), -1.0],
        A_ub=a_ub,
        b_ub=b_ub,
        A_eq=a_eq,
        b_eq=[1.0] * len(domain.groups) or None,
        bounds=[*zip(lo, hi, strict=True), (None, None)],
    )
    if answer.status != 0 or -answer.fun > -1e-6:
        return None
    return tuple(round(max(0.0, -v) * 2**20) for v in answer.ineqlin.marginals)


# ---- files ----------------------------------------------------------------------------------------------------------


def weights_of(net: SmileNet, table: Mapping[str, Any] | None = None) -> str:
    """The digest of the certified part, from the bytes that are stored."""
    data = dump_weights(net)
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    tensors = {
        name: data[8 + size + entry["data_offsets"][0] : 8 + size + entry["data_offsets"][1]]
        for name, entry in header.items()
        if name != "__metadata__" and not name.startswith("backbone.")
    }
    return c.model_digest(net.describe(), tensors, table)


def random_room(rng: np.random.Generator, net: SmileNet, claim: Claim) -> list[Fraction]:
    """Nothing, a part or all of what rows may take for rounding."""
    share = Fraction(int(rng.choice([0, 0, 1, 2])), 2 * 10**9)
    scales = dict(zip(net.outputs, map(Fraction, net.output_scale.tolist()), strict=True))
    scales |= {"": max(scales.values())} if len(scales) == 1 else {}
    rooms = []
    for r in claim.then:
        sums: dict[tuple[int, str], Fraction] = {}
        for t in r.terms:
            if t.kind == "out":
                sums[t.copy, t.name] = sums.get((t.copy, t.name), Fraction(0)) + t.coef
        most = abs(r.rhs) or max((scales[name] for (_, name), a in sums.items() if a), default=Fraction(0))
        rooms += [share * most] * (2 if r.op == "==" else 1)
    return rooms


def random_words(rng: np.random.Generator, net: SmileNet, proofs: Sequence[c.ClaimProof]) -> dict[str, bytes]:
    """A table that says what the outputs mean, and the claims for people; or neither."""
    out = {}
    if rng.random() < 0.3:
        out["properties.json"] = dump_json({"claims": [dict(p.claim) | {"sentence": "Other words."} for p in proofs]})
    if rng.random() < 0.3:
        table = {"meaning": [f"output {name!r}" for name in net.outputs], "columns": [[0.5, None, "\u20ac"]]}
        out[MODEL] = dump_json({"net": net.describe(), "table": table})
        content = json.loads(c.dump(weights_of(net, table), proofs, net.profile)[c.JSON_NAME])
        out[c.JSON_NAME] = dump_json(content)
    return out


def files_of(net: SmileNet, proofs: Sequence[c.ClaimProof]) -> dict[str, bytes]:
    """All files of a model folder but its manifest."""
    model = {WEIGHTS: dump_weights(net), MODEL: dump_json({"net": net.describe()})}
    return model | c.dump(weights_of(net), proofs, net.profile)


def write(folder: Path | str, net: SmileNet, proofs: Sequence[c.ClaimProof]) -> None:
    """Write a model folder with a certificate."""
    put(folder, files_of(net, proofs))


def put(folder: Path | str, files: Mapping[str, bytes]) -> None:
    """What `write_folder` leaves behind, without its care for the disk: tests write thousands of folders."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in {**files, MANIFEST: dump_json(make_manifest(files))}.items():
        (folder / name).write_bytes(data)
