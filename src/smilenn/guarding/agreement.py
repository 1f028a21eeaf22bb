"""How much of a given network is left inside its guard: measured on rows, not proved.

A network of one output decides by its sign, one of several by the largest. `fair` rows are those at which the network
itself changes by at most ε over the protected values: there the guard answers as it did.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from smilenn.errors import SmileError
from smilenn.model.encoders import Pinned
from smilenn.model.given import Middle
from smilenn.model.net import SmileNet
from smilenn.rounding import six_digits


@dataclass(frozen=True)
class Agreement:
    """What a guard changes on so many `rows`.

    Attributes
    ----------
    same_label : share of the rows that get the same decision.
    fair : share of the rows at which the network itself changes by at most ε with the protected columns.
    unmoved : share of the rows whose outputs stay within `TINY` of the network's.
    farthest : the largest move of an output.
    compared : which values of the protected columns `fair` is about, in words; empty where it is all of them.
    drawn : whether the rows were drawn from the domain, where none were given.
    decides : whether outputs are decisions; of another network of one output the sign is compared.
    """

    rows: int
    same_label: float
    fair: float
    unmoved: float
    farthest: float
    compared: str = ""
    drawn: bool = False
    decides: bool = True

    def sentence(self) -> str:
        """For people."""
        same, unmoved, fair = (percent(share, self.rows) for share in (self.same_label, self.unmoved, self.fair))
        where = f"{self.rows} rows drawn from the domain" if self.drawn else f"{self.rows} rows"
        return (
            f"On {where}: {same} keep their {'label' if self.decides else 'sign'}, {unmoved} their output; no "
            "output moves by more than "
            f"{six_digits(self.farthest)}. The network itself is fair at {fair} of them{self.compared}."
        )

    def to_json(self) -> dict[str, Any]:
        """For other programs."""
        return asdict(self)


def percent(share: float, rows: int) -> str:
    """A share of so many rows with two digits, rounded down: 100.00% is all of them.

    >>> percent(0.99996, 100_000), percent(0.57, 100), percent(1.0, 7)
    ('99.99%', '57.00%', '100.00%')
    """
    whole, part = divmod(10**4 * round(share * rows) // rows, 100)
    return f"{whole}.{part:02d}%"


TINY = 1e-5  # of an output's size: float32 networks and their guards, computed in float64, differ by rounding


def measure(
    net: SmileNet,
    original: Callable[[np.ndarray], np.ndarray],
    eps: float,
    x: np.ndarray,
    inside: np.ndarray,
    compared: str = "",
) -> Agreement:
    """Compare a guard with the network at rows x [n, m]; `original` computes its outputs [n, o] as it is used.

    `inside` [n, m] are the same rows moved into the domain, which is where the guard answers them; the network reads
    them as they are.
    """
    if not len(x):
        raise SmileError("There are no rows to compare guard and network on; give some, or leave them out.")
    before, after = original(x), net.predict(inside)
    moved = np.abs(after - before).max(axis=1)
    room = TINY * np.maximum(1.0, np.abs(before).max(axis=1))
    return Agreement(
        len(x),
        float((decided(before) == decided(after)).mean()),
        float((changes(net, x) <= eps).mean()),
        float((moved <= room).mean()),
        float(moved.max()),
        compared,
    )


def decided(outputs: np.ndarray) -> np.ndarray:
    """The decisions behind outputs [n, o]: of one output whether it is positive, else which is largest."""
    return outputs[:, 0] > 0 if outputs.shape[1] == 1 else outputs.argmax(axis=1)


@torch.no_grad()
def changes(net: SmileNet, x: np.ndarray) -> np.ndarray:
    """How far the given network changes over the protected values at rows x [n, m]: the most of any output, [n]."""
    assert net.encoder is not None
    (branch,) = net.encoder.learned
    (pinned,) = branch.layers
    assert isinstance(pinned, Pinned) and isinstance(pinned.module, Middle)
    found = torch.stack(list(pinned.module.answers(torch.tensor(x[:, branch.columns]))))
    return (found.amax(dim=0) - found.amin(dim=0)).amax(dim=1).numpy()
