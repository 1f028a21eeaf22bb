"""Random folders for the proved checker: every row by the order rule, networks with encoders and without.

Claims are those of random_folder.py, or say that some inputs are ordered and the others equal. Weights
are often non-negative, so that the rule shows some claims and is refused for others.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smilenn.certify import certificate as c
from smilenn.model.bundle import MODEL, WEIGHTS, certified_tensors, dump_weights
from smilenn.model.folder import dump_json
from smilenn.model.net import SmileNet
from smilenn.properties.claim import Claim, row
from trust import encoded_folder as encoders
from trust import random_folder as folders


def order_folder(folder: Path, seed: int) -> None:
    """Write a folder with one claim over two copies."""
    rng = np.random.default_rng([seed, 20])
    torch.manual_seed(seed)
    net = order_net(rng)
    claim, witness = ordered_claim(rng, net) if rng.random() < 0.6 else folders.random_claim(rng, net, copies=2)
    proofs: list[c.RowProof] = [c.OrderProof()] * len(claim.rows)
    if len(claim.rows) > 1 and rng.random() < 0.7:
        proofs[1] = c.MirrorProof(0)
    model = {WEIGHTS: dump_weights(net), MODEL: dump_json({"net": net.describe()})}
    digest = c.model_digest(net.describe(), certified_tensors(net))
    entry = c.ClaimProof(claim.to_json(), witness.tolist(), proofs)
    folders.put(folder, model | c.dump(digest, [entry], net.profile))


def order_net(rng: np.random.Generator) -> SmileNet:
    """A network whose box has no width, evaluated in fixed order."""
    domain = folders.random_domain(rng)
    kind = str(rng.choice(["constant", "relu", "relu"]))
    if rng.random() < 0.7:
        net = encoders.encoded_net(rng, domain, boxes="gap", auxiliaries=str(rng.choice([kind, "affine"])))
    else:
        net = folders.random_net(rng, domain, boxes="gap", auxiliaries=kind, zero_gap=True)
    net.set_profile("fixed-order")
    positive = rng.random() < 0.8
    with torch.no_grad():
        for parameter in net.gap._signed():
            parameter.zero_()
        parts: list[Any] = [*net.lower.parameters(), net.head_weight]
        if net.encoder is not None:
            parts += [
                p for name, p in net.encoder.named_parameters() if name.endswith("weight") and ".module." not in name
            ]
            scale = float(rng.choice([1.0, 1.0, 1.0, 2.0**495, 2.0**999, 2.0**-540]))  # now and then near overflow
            for name, p in net.encoder.named_parameters():
                if ".module." not in name and rng.random() < 0.3:
                    p.mul_(scale)
        for tensor in parts if positive else ():
            tensor.abs_()
    return net.eval()


def ordered_claim(rng: np.random.Generator, net: SmileNet) -> tuple[Claim, np.ndarray]:
    """Some inputs are not smaller in the first copy, or lie apart by something, the others are equal: f(b) ≤ f(a)."""
    domain = net.domain
    plain = [i for i in range(domain.size) if all(i not in group for group in domain.groups)]
    moving = [i for i in plain if rng.random() < 0.7] if rng.random() < 0.8 else []
    point = domain.sample(1, rng)[0]
    witness = np.stack([point, point])
    when = []
    for i in moving:
        name, apart = domain.coordinates[i], Fraction(0)
        if rng.random() < 0.2 and domain.hi[i] > domain.lo[i]:
            witness[0, i], witness[1, i] = domain.hi[i], domain.lo[i]
            apart = Fraction(float(domain.hi[i])) - Fraction(float(domain.lo[i]))
        when.append(row([(1, 1, "in", name), (-1, 0, "in", name)], -apart))
    sign = 1 if rng.random() < 0.85 else -1
    out = str(rng.choice(net.outputs))
    op = "==" if rng.random() < 0.1 else "<="
    then = [row([(sign, 1, "out", out), (-sign, 0, "out", out)], 0, op)]
    if rng.random() < 0.3 and op == "<=":
        then.append(row([(-sign, 1, "out", out), (sign, 0, "out", out)], 0 if rng.random() < 0.9 else 1))
    return Claim(2, tuple(when), tuple(then), "equal", (), (), "Ordered."), witness
