"""A fitted estimator as the backbone: a network is trained first, then a box is opened around it for the estimator.

    f(x) = g( select( y(x), c(x) − w/2, c(x) + w/2 ) )        c the trained network, y the estimator's answers

c never looks at the estimator, and keeps every claim with ε′ = ε − w·Σ|v| in place of ε. The box adds at most w·Σ|v| to
the change of a form v of the outputs, so f keeps the claim with ε, whatever the estimator answers. The claims are
proved again of the network with its box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import has_fit_parameter

from smilenn.errors import SmileError
from smilenn.model.fitted_backbone import Answer, FittedBackbone, Seen, refuse_other_classes
from smilenn.model.net import SmileNet
from smilenn.model.unfitted import unfitted_copy
from smilenn.properties.claim import Claim
from smilenn.properties.forms import class_name
from smilenn.provers.model import prove
from smilenn.train.fit import Fit

LOOKED_AT = 2000  # rows that show how often the box moves an answer
MOST_REPEATED = 100_000  # rows, where an estimator without weights gets each row as often as it counts


@dataclass(frozen=True, eq=False)
class Foreign:
    """Somebody else's estimator, and what smilenn knows of it.

    estimator : as the user gave it.
    given : whether it is fitted already; else a copy of it is fitted to the rows of training.
    seen : how rows become what it reads.
    answer : what its answers mean; `outputs` how many there are, `classes` the target's, None for numbers.
    """

    estimator: Any
    given: bool
    seen: Seen
    answer: Answer
    outputs: int
    classes: np.ndarray | None = None

    @property
    def name(self) -> str:
        """The class of the estimator."""
        return type(self.estimator).__name__

    def backbone(self, x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> FittedBackbone:
        """It as a backbone; one that is not fitted is fitted to x [n, m], y [n, o] as training has it, weight [n]."""
        model = self.estimator if self.given else self._fitted(x, y, weight)
        deciding = self.answer in ("logit", "log-shares")
        names = tuple(map(class_name, self.classes)) if deciding and self.classes is not None else ()
        if deciding:
            refuse_other_classes(model, names)
        found = FittedBackbone(model, self.seen, self.answer, self.outputs, names)
        found.answers(x[:LOOKED_AT])  # what is odd about it is said before anything is trained
        return found

    def _fitted(self, x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Any:
        fresh = unfitted_copy(self.estimator, "give the backbone fitted")
        target, extra = self._target(y), {}
        if (weight != weight[0]).any():
            if has_fit_parameter(fresh, "sample_weight"):
                extra = {"sample_weight": weight}
            else:
                often = self._often(weight)
                x, target = np.repeat(x, often, axis=0), np.repeat(target, often, axis=0)
        try:
            return fresh.fit(self.seen.rows(x), target, **extra)
        except Exception as error:  # somebody else's code
            why = (str(error) or type(error).__name__).split("\n")[0]
            raise SmileError(f"The backbone {self.name} could not be fitted: {why}") from error

    def _often(self, weight: np.ndarray) -> np.ndarray:
        """How often each row is given to an estimator that takes no weights; weights that are no numbers of rows are
        refused.
        """
        often = np.rint(weight / weight.min()).astype(int)
        if not np.allclose(often, weight / weight.min(), rtol=1e-9) or often.sum() > max(MOST_REPEATED, 2 * len(often)):
            raise SmileError(
                f"The rows have weights, and the backbone {self.name} takes none when it is fitted; fit it yourself, "
                "or leave the weights out."
            )
        return often

    def _target(self, y: np.ndarray) -> np.ndarray:
        if self.answer == "numbers":
            return y[:, 0] if self.outputs == 1 or (y == y[:, :1]).all() else y  # quantiles repeat one target
        if self.answer == "logits" or self.classes is None:
            return y.astype(int)
        return self.classes[y.argmax(axis=1) if self.answer == "log-shares" else y[:, 0].astype(int)]


@torch.no_grad()
def close_(net: SmileNet) -> np.ndarray:
    """Take the constant width away from the box, to its middle; that width, [n]."""
    width = net.gap.const.detach().clone()
    net.lower.const.add_(width / 2)
    net.gap.const.zero_()
    return width.cpu().numpy()


@torch.no_grad()
def open_(net: SmileNet, width: np.ndarray) -> None:
    """Give the box this width [n] more, around its middle."""
    own = torch.as_tensor(width).to(net.gap.const)
    net.lower.const.sub_(own / 2)
    net.gap.const.add_(own)


def surrounded(
    found: Fit, backbone: FittedBackbone, width: np.ndarray | None, claims: tuple[Claim, ...], limit: float
) -> Fit:
    """The trained network with its box opened by `width` [n] and the estimator inside; its claims proved within
    `limit` seconds a row.
    """
    net = found.net
    net.backbone = backbone
    if width is None:
        return found  # the box that was proved holds for any backbone
    open_(net, width)
    return replace(found, verdict=prove(net, claims, time_limit=limit, trees=found.trees))


def cut_words(net: SmileNet, x: np.ndarray) -> str:
    """How often, and by how much, the box moves the estimator's answers on rows x [n, m]; a sentence."""
    backbone = net.backbone
    assert isinstance(backbone, FittedBackbone)
    x = x[np.linspace(0, len(x) - 1, min(len(x), LOOKED_AT)).round().astype(int)]
    y, f = backbone.answers(x), net.predict(x)
    off = np.abs(_free(y, backbone) - _free(f, backbone)).max(axis=1)
    moved = off > 1e-9 * (1 + np.abs(y).max(axis=1))
    if not moved.any():
        return f"On {len(x)} rows of fit every answer of it lies in the box."
    share, mean = 100 * moved.mean(), off.mean()
    return f"On {len(x)} rows of fit the box moves {share:.0f} % of its answers; the mean over all is {mean:.3g}."


def _free(y: np.ndarray, backbone: FittedBackbone) -> np.ndarray:
    """Answers [n, o], those of several classes as logarithms of probabilities that add up to one."""
    if backbone.answer != "log-shares":
        return y
    top = y.max(axis=1, keepdims=True)
    return y - top - np.log(np.exp(y - top).sum(axis=1, keepdims=True))
