"""CertiFair: a global fairness term from symbolic bounds in the loss.

    box(x)  = numeric features over their whole domain, categories as in the row x
    loss    = (1 − λ)·task  +  λ·mean_x | UB(box(x), race = 1) − LB(box(x), race = 0) |

UB and LB are the upper and lower symbolic bounds of the output. The term pulls the whole output range together, not the
two counterfactual outputs alone: no bound on the counterfactual change is proved at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from smilenn.baselines.agnostic import build, mlp
from smilenn.baselines.descent import Descent, task_loss
from smilenn.baselines.layers import layers_of
from smilenn.baselines.network import ScaledModule
from smilenn.baselines.symbolic import symbolic
from smilenn.datasets.base import TaskName
from smilenn.datasets.prepare import Prepared
from smilenn.errors import SmileError


def fit_certifair(
    data: Prepared,
    protected: str,
    weight: float,
    sizes: Sequence[int],
    embedding: int,
    *,
    task: TaskName,
    descent: Descent | None = None,
) -> ScaledModule:
    """Train with λ = `weight`; `protected` is a yes/no feature. The epoch with the smallest held-out loss is kept."""
    if not 0.0 <= weight <= 1.0:
        raise SmileError(f"CertiFair's weight lies between 0 and 1, not {weight}.")
    if data.domain.feature(protected).kind != "binary":
        raise SmileError(f"CertiFair compares two groups; {protected!r} is not a yes/no feature.")
    descent = Descent() if descent is None else descent
    descent.start()
    net = build(data, mlp(sizes), embedding, task)
    plain = task_loss(net, task)

    def loss(u: torch.Tensor, y: torch.Tensor, share: float) -> torch.Tensor:
        value = (1 - weight) * plain(u, y, share)
        return value if weight == 0 else value + weight * spread(net, protected, u)

    return descent.run(net, data, loss, loss)


def spread(net: ScaledModule, protected: str, u: torch.Tensor) -> torch.Tensor:
    """mean | UB(race = 1) − LB(race = 0) | over the boxes of rows u [B, m], in the module's units."""
    domain = net.domain
    (race,) = domain.indices(protected)
    numeric = torch.tensor(
        [f.kind in ("continuous", "integer") for f in domain.features for _ in f.coordinates], device=u.device
    )
    fixed = torch.where(numeric, net.u_lo, u)
    fixed[:, race] = 0.0
    # rows with the same categories have the same box: bound each box once and weigh it
    lower, count = torch.unique(fixed, dim=0, return_counts=True)
    upper = torch.where(numeric, net.u_hi, lower)
    boxes = len(lower)
    # both groups in one batch: the first half has race = 1, the second race = 0
    low, high = lower.repeat(2, 1), upper.repeat(2, 1)
    low[:boxes, race] = high[:boxes, race] = 1.0
    least, most = symbolic(layers_of(net.module), low, high)
    return ((most[:boxes, 0] - least[boxes:, 0]).abs() * count).sum() / len(u)
