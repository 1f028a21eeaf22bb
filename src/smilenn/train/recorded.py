"""Steps of training on a GPU, recorded once and launched as one program (a CUDA graph) from then on.

A step of distance nets is a hundred kernels, and launching them one by one takes longer than they run. The kernels that
are launched together are those of the step itself, in its order: they compute the same numbers. A kind of step, named
by a key and the shapes of what it is given, is taken as it is the first time, which makes the optimiser's moments and
compiles kernels; it is recorded the second time and launched from then on. Other keys make their own record.

What a recorded step is given is copied into tensors that it reads; whatever else changes from step to step, such as the
learning rate, has to lie in a tensor (`set_rate`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import torch

from smilenn.train.adam import adam_step, forget_gradients

Given = tuple[torch.Tensor | None, ...]


@dataclass
class _Record:
    """Tensors that the recorded step reads, the loss it leaves behind, and how it is launched."""

    given: Given
    loss: torch.Tensor
    launch: Callable[[], None]

    def __call__(self, given: Given) -> torch.Tensor:
        """One step; its loss."""
        for place, value in zip(self.given, given, strict=True):
            if place is not None and value is not None:
                place.copy_(value)
        self.launch()
        return self.loss.clone()


class Recorded:
    """Steps of `optimizer` on `loss(*given)`, all parameters on one GPU."""

    def __init__(self, optimizer: torch.optim.Optimizer, loss: Callable[..., torch.Tensor]) -> None:
        self.optimizer, self.loss = optimizer, loss
        self.kind: Hashable = None
        self.records: dict[Hashable, _Record | None] = {}
        for group in optimizer.param_groups:
            device = group["params"][0].device
            group["lr"] = torch.tensor(float(group["lr"]), dtype=torch.float32, device=device)

    def __call__(self, kind: Hashable, given: Given) -> torch.Tensor:
        """One step; its loss, without waiting for it."""
        if kind != self.kind:
            self.kind = kind
            self.records.clear()  # what was recorded for another p does not come back
        shapes = tuple(None if one is None else one.shape for one in given)
        if shapes not in self.records:
            self.records[shapes] = None
            return self._step(given)
        record = self.records[shapes]
        if record is None:
            record = self.records[shapes] = self._record(given)
        return record(given)

    def _step(self, given: Given) -> torch.Tensor:
        forget_gradients(self.optimizer)
        loss = self.loss(*given)
        loss.backward()
        adam_step(self.optimizer)
        return loss.detach()

    def _record(self, given: Given) -> _Record:
        places = tuple(None if one is None else one.clone() for one in given)
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            loss = self._step(places)
        return _Record(places, loss, graph.replay)
