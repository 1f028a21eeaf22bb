"""Claims on margins and on several outputs at once: checked bounds against brute force on random networks."""

import numpy as np
import pytest
import torch

from smilenn import Bounded, Convex, Domain, Fair, Feature, Lipschitz, Monotone, Robust, SmileNet, SumAtMost
from smilenn.certify.certify import certify
from smilenn.model.backbones import MLP
from smilenn.problem.region import Region
from smilenn.properties import Outputs, lower_all
from smilenn.properties.premise import ground

DOMAIN = Domain((Feature("x", lo=0, hi=1), Feature("y", lo=-1, hi=1), Feature("g", "category", categories=("u", "v"))))
CLASSES = Outputs(("p", "q", "r"), ("p", "q", "r"))
RULES = {
    "robust": (Robust(0.2, 0.5), CLASSES),
    "fair": (Fair(["g"], 0.5), CLASSES),
    "fair class": (Fair(["g"], 0.5, output="q"), CLASSES),
    "monotone class": (Monotone(["x"], output="r"), CLASSES),
    "slopes": (Lipschitz(["y"], 1.0), CLASSES),
    "convex class": (Convex(["x"], output="p"), CLASSES),
    "monotone number": (Monotone(["x"], decreasing=["y"], output="p"), Outputs(CLASSES.names)),
    "sum": (SumAtMost(None, "x + 1"), Outputs(CLASSES.names)),
    "bounds": (Bounded(-1, 1, output="q"), Outputs(CLASSES.names)),
}


def random_net(seed):
    torch.manual_seed(seed)
    net = SmileNet(DOMAIN, MLP(DOMAIN.size, (6,), 4).double(), 4, outputs=CLASSES.names, hidden=3)
    net.centre_(torch.as_tensor(DOMAIN.sample(50, np.random.default_rng(seed))))
    return net.eval()


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", RULES)
def test_no_pair_beats_the_checked_bound(name, seed):
    """The network's own outputs, at tuples of the premise, stay below every row's checked bound, proved or not."""
    rule, outputs = RULES[name]
    net, claims = random_net(seed), lower_all([rule], DOMAIN, outputs)
    report = certify(net, claims, time_limit=2).report
    rng = np.random.default_rng(seed)
    for claim, found in zip(claims, report.claims, strict=True):
        region = Region.of(ground(claim, DOMAIN))
        u = region.snap(DOMAIN.scale(DOMAIN.sample(600 * claim.copies, rng)).reshape(600, claim.copies, -1))
        near = region.snap(np.repeat(u[:, :1], claim.copies, axis=1) + rng.uniform(-0.3, 0.3, u.shape))
        u = np.concatenate([u, near])
        u = u[region.contains(u, 1e-9)]
        x = DOMAIN.unscale(u.reshape(-1, DOMAIN.size))
        f, x = net.predict(x).reshape(*u.shape[:2], -1), x.reshape(u.shape)
        assert len(u) > 100
        for inequality, checked in zip(claim.rows, found.rows, strict=True):
            left = sum(
                float(t.coef)
                * (
                    f[:, t.copy, net.outputs.index(t.name)]
                    if t.kind == "out"
                    else x[:, t.copy, DOMAIN.indices(t.name)[0]]
                )
                for t in inequality.terms
            )
            assert float(np.max(left)) <= float(checked.bound + checked.margin) + 1e-9
