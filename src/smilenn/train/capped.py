"""Ordered outputs between constant bounds: an ensemble whose outputs are cut at their upper bounds behind its mean.

    f_k = min(g_k, h_k) = h_k − relu(h_k − g_k),      g_1 ≤ g_2 ≤ …      h_1 < h_2 < …

g is the mean of an ensemble in the coordinates of train/coordinates.py: the lowest output, cut to its lower bound, and
the steps from one output to the next, cut at zero. An upper bound on the highest output is no end of such a box, and no
linear head takes a box to all ordered outputs between two bounds. One relu for every output, w_k = h_k − g_k, does:

    f_k ≤ h_k                   relu(w_k) ≥ 0
    f_k ≥ lo                    relu(w_k) ≤ h_k − lo        as w_k ≤ h_k − lo and h_k > lo
    f_k ≤ f_l                   min is monotone in both g_k ≤ g_l and h_k ≤ h_l
    f_k monotone                g_k by its signs; w_k falls where g_k rises, and f_k has the weight −1 on relu(w_k)
    f_k moves by at most ε      g_k does, and relu is 1-Lipschitz

So the order rule and the leaf rule prove what they prove of g, an order of two outputs with one split. All functions
between the bounds are such a minimum, and none loses by it: a target below h_k is never nearer to g_k than to
min(g_k, h_k). The network learns g, and is cut once it has learned.
"""

from __future__ import annotations

import numpy as np
import torch

from smilenn.model.auxiliaries import FreeNet, GapNet
from smilenn.model.net import SmileNet


@torch.no_grad()
def cap_(net: SmileNet, heights: np.ndarray) -> None:
    """Cut every output of an ensemble at its height [o], in output units; its box must have no width."""
    assert net.encoder is not None and net.collapsed and not net.hidden
    before, o = net.lower, len(net.outputs)
    most = torch.as_tensor(heights).to(net.output_scale) / net.output_scale
    lower = FreeNet("relu", net.encoder.size, o, o)
    second = GapNet("relu", net.encoder.lo, net.encoder.hi, o, o)
    scale = net.output_scale  # powers of two; units in output units, so that a slope of a proof has no scale
    lower.weight.copy_(-scale[:, None] * (net.head_weight @ before.slope))
    lower.bias.copy_(scale * (most - net.head_weight @ before.const - net.head_bias))
    lower.out.copy_(-torch.diag(1 / scale))
    lower.const.copy_(most)
    for tensor in second.parameters():
        tensor.zero_()
    net.lower = lower.to(most.device).train(net.training)
    net.second = second.to(most.device).train(net.training)
    net.head_weight.copy_(torch.eye(o))
    net.head_bias.zero_()
    net.auxiliaries, net.hidden, net.skip = "relu", o, False
    for parameter in (*net.lower.parameters(), *net.second.parameters()):
        parameter.requires_grad_(False)
