"""The counterfactual clamp around a given network, as a `SmileNet` that a folder can hold whole.

    c(x) = ½·(max_v f(x with protected values v) + min_v f(…))      from the unprotected columns alone
    g(x) = f(x) cut to [c(x) − w/2, c(x) + w/2]                     w = ε − η

c is a pinned encoder, so two inputs that differ in the protected columns alone have the same box, and g changes by at
most w + rounding ≤ ε between them. Where f itself changes by at most w over the values v, g = f. Elsewhere the
largest of the moves |g − f| over v is (range − w)/2, and no function that changes by at most w moves f less: two of its
values lie `range` apart in f and at most w apart afterwards.

η = 2⁻⁴⁰·(B + ε), B a power of two above every |f| on the domain, is what rounding in the box may take.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import torch

from smilenn.auditing.network import DeepNet
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.encoders import Branch, Encoder, Pinned
from smilenn.model.given import Given, Middle
from smilenn.model.net import SmileNet

CENTRE = "centre"  # the branch that holds c
MOST_VALUES = 256  # combinations of protected values; every prediction asks the network for all of them
ROUNDING = 2.0**-40  # of B + ε: several hundred times the rounding errors of the box


def guarded_net(
    network: DeepNet,
    domain: Domain,
    protected: Sequence[str],
    eps: Fraction,
    values: Mapping[str, tuple[Fraction, ...]],
    outputs: Sequence[str],
) -> SmileNet:
    """The network cut to a box of width ε around its middle; `values` says what protected numbers are asked for."""
    plain = Domain(tuple(replace(feature, shift=0.0, mult=1.0) for feature in domain.features))
    columns = [i for name in protected for i in plain.indices(name)]
    if len(columns) == plain.size:
        raise SmileError("Every input is protected, so nothing is left to predict from; protect fewer.")
    combinations = _combinations(plain, protected, values)
    middle = Middle(_given(network), columns, len(combinations))
    middle.values.copy_(torch.tensor(combinations))
    most = 2.0 ** math.ceil(math.log2(middle.network.reach(plain.lo, plain.hi)))
    width = float(eps) - ROUNDING * (most + float(eps))
    if width <= 0:
        raise SmileError(f"The outputs reach {most:g} on this domain, too much for a box of {float(eps):g}; raise ε.")
    encoder = Encoder(plain, [Branch(CENTRE, middle.kept, [Pinned(middle, len(outputs))])])
    net = SmileNet(plain, _given(network), len(outputs), auxiliaries="affine", encoder=encoder, outputs=outputs)
    with torch.no_grad():
        net.lower.slope.copy_(torch.eye(len(outputs)))
        net.lower.const.fill_(-width / 2)
        net.gap.const.fill_(width)
        net.head_weight.copy_(torch.eye(len(outputs)))
        encoder.lo.fill_(-most)
        encoder.hi.fill_(most)
    return net.eval()


def _given(network: DeepNet) -> Given:
    steps = [step for step, _ in network.scaling]
    out = Given(network.sizes, network.dtype, steps)
    return out.set_(network.weights, network.biases, [constants for _, constants in network.scaling])


def _combinations(
    domain: Domain, protected: Sequence[str], values: Mapping[str, tuple[Fraction, ...]]
) -> list[tuple[float, ...]]:
    """All combinations of protected values as coordinates."""
    each = [_values(domain.feature(name), values.get(name)) for name in protected]
    if math.prod(len(part) for part in each) > MOST_VALUES:
        raise SmileError(f"The protected columns have more than {MOST_VALUES} combinations of values; give fewer.")
    return [sum(combination, ()) for combination in itertools.product(*each)]


def _values(feature: Feature, given: tuple[Fraction, ...] | None) -> list[tuple[float, ...]]:
    """The values of a protected feature, as coordinates."""
    if given is not None:
        return [(float(value),) for value in given]
    if feature.kind == "category":
        return [tuple(row) for row in np.eye(len(feature.categories)).tolist()]
    if feature.kind == "continuous":
        raise SmileError(
            f"{feature.name!r} takes any number, so not all its values can be asked for; make it an integer in the "
            "domain, or give the values between which the network is to stay as it is."
        )
    if feature.hi - feature.lo >= MOST_VALUES:
        raise SmileError(f"{feature.name!r} has more than {MOST_VALUES} values; give those that matter.")
    return [(float(value),) for value in range(round(feature.lo), round(feature.hi) + 1)]
