"""Claims whose premise has rows over several coordinates: multipliers of those rows reach the certificate."""

import pytest
import torch

from smilenn.certify.certify import certify
from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet
from smilenn.properties import Concave, Convex, Dominates, Symmetric
from smilenn.properties.spec import lower_all

DOMAIN = Domain.box([0.0, -3.0, 0.0], [1.0, 5.0, 20.0], ["a", "b", "c"])


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    ("rule", "slope", "holds"),
    [
        (Dominates("a", "b"), (2.0, 1.0, 0.5), True),
        (Dominates("a", "b"), (1.0, 2.0, 0.5), False),
        (Dominates("a", "b", rate=3), (4.0, 1.0, 0.5), True),
        (Convex(["a"]), (2.0, 1.0, 0.5), True),
        (Concave(["a", "c"]), (2.0, 1.0, 0.5), True),
        (Symmetric(["a", "c"]), (2.0, 1.0, 2.0), True),
        (Symmetric(["a", "c"]), (2.0, 1.0, 2.5), False),
    ],
)
def test_affine_networks_are_certified_where_the_rule_holds(rule, slope, holds, size):
    net = SmileNet(DOMAIN, MLP(3, (4,), 1), 1, auxiliaries="affine", output_scale=size)
    net.gap.scale_(0.0)
    with torch.no_grad():
        net.head_weight.fill_(1.0)
        # slopes per raw unit
        net.lower.slope.copy_(torch.tensor([slope], dtype=torch.float64) / net.mult)
    found = certify(net.eval(), lower_all([rule], DOMAIN), time_limit=20)
    assert found.report.status != "refused" and found.holds == (holds,)
    assert found.accepted == holds
