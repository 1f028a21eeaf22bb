"""Random model folders whose networks have encoders: branches of all layers, claims on x, trees over e.

encoded_folder(path, seed)        a folder with one claim; what a tree may split is asked of the reference checker
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.certify import certificate as c
from smilenn.certify.reference import encoder as exact_encoder
from smilenn.certify.reference import premise as exact_premise
from smilenn.certify.reference import reader, strict
from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.bundle import MODEL, WEIGHTS, certified_tensors, dump_weights
from smilenn.model.encoders import Branch, Distance, Encoder, Kinks, Linear, Pinned, Pool, Ramps, Trees
from smilenn.model.folder import dump_json
from smilenn.model.net import SmileNet
from smilenn.properties.claim import Claim, row
from smilenn.provers.proof import ALL_COPIES
from trust import forge2
from trust import random_folder as folders


def encoded_folder(folder: Path, seed: int, **choices: Any) -> SmileNet:
    """Write a random folder; `choices` fixes copies, boxes, auxiliaries or whether to try the order and slope rules."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    domain = folders.random_domain(rng)
    net = encoded_net(rng, domain, **{k: choices[k] for k in ("boxes", "auxiliaries") if k in choices})
    claim, witness = folders.random_claim(rng, net, copies=choices.get("copies"))
    through = {domain.coordinates[i] for b in net.encoder.branches if not len(b.layers) for i in b.columns}
    keep = rng.random() < 0.1  # an input that does not pass, to be refused
    then = tuple(
        row(
            [(t.coef, t.copy, t.kind, t.name) for t in r.terms if keep or t.kind == "out" or t.name in through],
            r.rhs,
            r.op,
        )
        for r in claim.then
    )
    if not any(t.kind == "out" for r in then for t in r.terms):
        then = (row([(1, 0, "out", net.outputs[0])], 9),)
    claim = Claim(claim.copies, claim.when, then, claim.others, claim.equal, claim.free, "")
    _write(folder, net, claim, witness, [c.SweepProof()] * len(claim.rows))
    try:
        with tempfile.TemporaryDirectory() as place:  # of version 2, which pinned modules need
            read = reader.read_folder(forge2.put(Path(place) / "m", forge2.as_version_2(forge2.read(folder))))
        premise = exact_encoder.encoded(read.net, exact_premise.ground(read.entries[0].claim, read.net.domain))
    except strict.CheckError:
        return net
    proofs: list[c.RowProof] = []
    for inequality in claim.rows:
        options: list[c.RowProof] = [_tree(rng, net, premise)]
        if len(premise.pinned) == 1 and claim.copies <= 2:
            options.append(c.SweepProof())
        if claim.copies == 2 and rng.random() < choices.get("rules", 0.3) and inequality.rhs >= 0:
            options = [c.OrderProof(), c.SlopeProof(0, (c.Leaf(),))]
        proofs.append(options[int(rng.integers(len(options)))])
    _write(folder, net, claim, witness, proofs)
    return net


def _write(folder: Path, net: SmileNet, claim: Claim, witness: np.ndarray, proofs: list[c.RowProof]) -> None:
    model = {WEIGHTS: dump_weights(net), MODEL: dump_json({"net": net.describe()})}
    weights = c.model_digest(net.describe(), certified_tensors(net))
    entry = c.ClaimProof(claim.to_json(), witness.tolist(), proofs)
    folders.put(folder, model | c.dump(weights, [entry], net.profile))


def encoded_net(
    rng: np.random.Generator, domain: Domain, *, boxes: str | None = None, auxiliaries: str | None = None
) -> SmileNet:
    """A network with random weights over a random encoder."""
    encoder = random_encoder(rng, domain)
    boxes = boxes or str(rng.choice(["gap", "gap", "paper"]))
    auxiliaries = auxiliaries or str(rng.choice(["constant", "affine", "relu", "relu"]))
    n = int(rng.integers(1, 3))
    net = SmileNet(
        domain,
        MLP(domain.size, (2,), n),
        n,
        auxiliaries=auxiliaries,
        hidden=int(rng.integers(1, 4)),
        boxes=boxes,  # type: ignore[arg-type]
        encoder=encoder,
        skip=bool(rng.random() < 0.5),
        output_scale=float(rng.choice([1.0, 8.0])),
    )
    fixed = bool(rng.random() < 0.5)
    net.set_profile("fixed-order" if fixed else "f64-aux")
    with torch.no_grad():
        for tensor in (*net.lower.parameters(), *net.second.parameters(), net.head_bias):
            tensor += torch.as_tensor(0.5 * rng.normal(size=tuple(tensor.shape)))
        if boxes == "gap":
            for parameter in net.gap._signed():
                parameter.copy_(parameter.abs() * float(rng.choice([0.0, 0.0, 0.3])))
        if fixed and rng.random() < 0.7:
            for tensor in (*net.lower.parameters(), net.head_weight):
                tensor.copy_(tensor.abs())
    return net.eval()


def random_encoder(rng: np.random.Generator, domain: Domain) -> Encoder:
    """Some features pass, some columns go through layers; the box cuts a part of what comes out."""
    branches = [Branch("", range(s.start, s.stop)) for s in domain.slices.values() if rng.random() < 0.5]
    for b in range(int(rng.integers(0 if branches else 1, 3))):
        columns = rng.permutation(domain.size)[: int(rng.integers(1, domain.size + 1))]
        branches.append(Branch(f"e{b}", columns, _layers(rng, len(columns))))
    encoder = Encoder(domain, [branches[i] for i in rng.permutation(len(branches))]).eval()
    with torch.no_grad():
        values = encoder(torch.as_tensor(domain.scale(domain.sample(16, rng))))
        least, most = values.amin(dim=0), values.amax(dim=0)
        room = (most - least) * torch.as_tensor(rng.uniform(-0.4, 0.6, size=encoder.size)) + 2.0**-6
        encoder.lo.copy_(torch.minimum(least - room, most).clamp(-1e5, 1e5))
        encoder.hi.copy_(torch.maximum(most + room, encoder.lo).clamp(-1e5, 1e5))
    return encoder


def _layers(rng: np.random.Generator, width: int) -> list[Any]:
    out: list[Any] = []
    first = 0
    for _ in range(int(rng.integers(1, 4))):
        kinds = ["linear", "linear", "kinks", "ramps", "distance"]
        kinds += ["pool"] if math.isqrt(width) ** 2 == width else []
        size = int(rng.integers(1, 5))
        match str(rng.choice(kinds)):
            case "linear":
                base = first if out and rng.random() < 0.5 else 0
                layer: Any = Linear(width, size, base=base)
                with torch.no_grad():
                    weight = rng.normal(size=(size, width + base))
                    layer.weight.copy_(torch.as_tensor(np.abs(weight) if rng.random() < 0.6 else weight))
                    layer.bias.copy_(torch.as_tensor(rng.normal(size=size)))
            case "kinks":
                layer = Kinks(width, int(rng.integers(0, width + 1)))
            case "ramps":
                source = [int(i) for i in rng.integers(0, width, size=size)]
                layer = Ramps(source, rng.normal(size=size), rng.lognormal(size=size))
            case "distance":
                layer = Distance(width, size)
                with torch.no_grad():
                    layer.weight.copy_(torch.as_tensor(rng.normal(size=(size, width))))
                    layer.bias.copy_(torch.as_tensor(rng.normal(size=size)))
            case _:
                side = math.isqrt(width)
                layer = Pool(side, int(rng.choice([b for b in range(1, side + 1) if side % b == 0])))
        out.append(layer)
        width = layer.outputs
        first = first or width
    own = rng.spawn(1)[0]  # so that everything else stays as it was drawn before there were trees
    if own.random() < 0.25:
        out.append(_trees(own, width))
    return [*out, Pinned(nn.Linear(width, 2).double(), 2)] if rng.random() < 0.2 else out


def _trees(rng: np.random.Generator, width: int) -> Trees:
    """As many sums of trees as it has inputs."""
    sets = [sorted(rng.permutation(width)[: int(rng.integers(1, width + 1))].tolist())]

    def grown(depth: int) -> tuple[list[int], list[float]]:
        if depth == 0 or rng.random() < 0.2:
            return [-1], [float(rng.normal())]
        left, right = grown(depth - 1), grown(depth - 1)
        return [int(rng.integers(width + 1)), *left[0], *right[0]], [float(rng.normal()), *left[1], *right[1]]

    return Trees.of(width, [[grown(2) for _ in range(int(rng.integers(1, 4)))] for _ in range(width)], sets=sets)


def _tree(rng: np.random.Generator, net: SmileNet, premise: Any) -> c.LeafProof:
    """A random tree with random slopes over the premise on e."""
    k, n, h = premise.copies, net.embedding, net.lower.hidden + net.second.hidden
    paper, groups, pinned = net.boxes == "paper", premise.domain.groups, premise.pinned
    grouped = {i for group in groups for i in group}
    plain = [i for i in range(len(pinned)) if i not in grouped]
    units = tuple(j for j in range(h) if rng.random() < 0.8)

    def numbers(count: int) -> tuple[int, ...]:
        return tuple(int(v) for v in np.rint(256 * rng.normal(size=count)))

    def leaf() -> c.Leaf:
        rows = [v if e.equality else abs(v) for v, e in zip(numbers(len(premise.extra)), premise.extra, strict=True)]
        return c.Leaf(numbers(k * n) if paper else (), numbers(k * len(units)), tuple(rows))

    kinds = [*["phase"] * bool(h), *["flip"] * paper, *["input"] * bool(plain), *["group"] * bool(groups)]
    nodes: list[c.Node] = []
    left, open_ = int(rng.integers(0, 5)), 1
    while open_:
        open_ -= 1
        if left <= 0:
            nodes.append(leaf())
            continue
        left, copy = left - 1, int(rng.integers(k))
        match str(rng.choice(kinds)):
            case "phase":
                nodes.append(c.Phase(copy, int(rng.integers(h))))
            case "flip":
                nodes.append(c.Flip(copy, int(rng.integers(n))))
            case "input":
                i = int(rng.choice(plain))
                low, high = float(premise.lo[0][i]), float(premise.hi[0][i])
                theta = float(rng.uniform(min(low, high), max(low, high)))
                nodes.append(c.Input(ALL_COPIES if pinned[i] else copy, i, theta))
            case _:
                g = int(rng.integers(len(groups)))
                together = all(pinned[i] for i in groups[g])
                nodes.append(c.Group(ALL_COPIES if together else copy, g))
                open_ += len(groups[g]) - 2
        open_ += 2
    return c.LeafProof(8, units, tuple(nodes))
