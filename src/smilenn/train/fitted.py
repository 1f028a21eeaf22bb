"""Members of an ensemble that are fitted by themselves, apart from the networks: boosted trees, linear functions.

    e_tg  =  the member of output t in group g, fitted on the rows that group g may learn from

All of one name count as one kind where shares are chosen (mixing.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from smilenn.model.encoders import Branch


@dataclass(frozen=True, eq=False)
class Fitted:
    """Branches of one kind, a list for every group, each with all outputs of the network in order; none: no member.

    Of boosted trees `planned` is how many groups there were to be, and `partly` in how many of those that there are a
    time limit ended the growth; both are zero of other members, and where no trees fit the outputs.
    """

    name: str
    groups: tuple[tuple[Branch, ...], ...] = ()
    planned: int = 0
    partly: int = 0

    def outputs(self, group: int, u: torch.Tensor) -> torch.Tensor:
        """e [B, o] of a group at u [B, m]."""
        return torch.cat([branch(u) for branch in self.groups[group]], dim=1)
