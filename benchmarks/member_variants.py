"""Networks that learn otherwise, for `benchmarks.kept_fits`: what RealMLP and TabM do, as far as signs stay.

Only training differs. What is learned is written back as the weights of ordinary layers, so certificates and checkers
see nothing new.

    scaled    W r  →  W (t ∘ r),  t > 0                 a factor for every ramp, with its own pace (RealMLP)
    shared    W_g  =  diag(s_g)·W·diag(r_g)             one W for the members of a fold, adapters of their own (TabM)
    dropped   h  →  m ∘ h / (1 − p),  m = 0 or 1        units that are left out by chance (RealMLP)

A column of W that has a sign keeps it if s > 0 everywhere and r > 0 there; where a column is free, r may have any sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from smilenn.model.encoders import Branch
from smilenn.train import adam, fit, restarts
from smilenn.train.backward_members import StackRun
from smilenn.train.config import Config
from smilenn.train.ensemble import LEARNED, Stack
from smilenn.train.mixing import Mixture, mixture
from smilenn.train.phases import Training
from smilenn.train.recipes.ensemble import SMALL
from smilenn.train.recipes.task import steps

LEAST = 1e-3  # of a factor that must stay positive
FASTER = 6.0  # times the pace of weights, for factors of ramps
FOLDS = 4  # groups of rows in a default fit
SPREAD = 0.5  # of the logarithm of a positive adapter, at the start


# ---- stacks whose weights are made of others -----------------------------------------------------------------------


class Made(Stack):
    """A stack whose weights are a function of what the optimiser moves: `moved`, made anew after every step."""

    moved: list[torch.Tensor]

    @property
    def parameters(self) -> list[torch.Tensor]:
        """What the optimiser moves."""
        return self.moved

    def make_(self) -> None:
        """The weights from what was moved."""
        raise NotImplementedError


def _learned(values: torch.Tensor) -> torch.Tensor:
    return values.detach().clone().to(LEARNED).contiguous().requires_grad_()


class Scaled(Made):
    """Weights V·diag(t) on the ramps, t = 1 + 6·p > 0: p moves as fast as a weight, t six times as fast."""

    def __init__(self, branches: list[Branch]) -> None:
        super().__init__(branches)
        self.raw = [_learned(weight) for weight in self.weights]
        self.size = self.weights[0].shape[2]
        self.factor = _learned(torch.zeros(len(branches), self.size))
        self.moved = [*self.raw, *self.biases, self.factor]
        self.weights = [weight.detach().clone() for weight in self.weights]

    def _times(self) -> torch.Tensor:
        return (1 + FASTER * self.factor.detach())[:, None]  # [G, 1, R]

    def slopes(self, found: list[torch.Tensor]) -> list[torch.Tensor]:
        """V gets t times the slopes on ramps, p six times the sum of V ∘ slopes over units and layers."""
        layers, times = len(self.raw), self._times()
        of_raw, of_factor = [slope.clone() for slope in found[:layers]], torch.zeros_like(self.factor)
        for slope, raw in zip(of_raw, self.raw, strict=True):
            base = slope[:, :, -self.size :]
            of_factor += FASTER * (base * raw.detach()[:, :, -self.size :]).sum(dim=1)
            base.mul_(times)
        return [*of_raw, *found[layers:], of_factor]

    @torch.no_grad()
    def settle_(self, left: float) -> None:
        """Signs and decay of V; t stays positive."""
        for raw, ends in zip(self.raw, self.allowed, strict=True):
            if ends is not None:
                torch.clamp(raw, *ends, out=raw)
            raw.mul_(left)
        self.factor.clamp_(min=(LEAST - 1) / FASTER)
        self.make_()

    def make_(self) -> None:
        """V·diag(t) on the ramps, V elsewhere."""
        for weight, raw in zip(self.weights, self.raw, strict=True):
            weight.copy_(raw.detach())
            weight[:, :, -self.size :].mul_(self._times())


class Shared(Made):
    """Members g = a·F + f of fold f share W_f in every layer but the last; biases and the last layer are their own.

    As in TabM the first adapters are what members begin to differ by: signs by chance where a column is free, numbers
    around one where it has a sign. All others begin at one.
    """

    def __init__(self, branches: list[Branch], folds: int = FOLDS) -> None:
        super().__init__(branches)
        self.folds = min(folds, len(branches))
        self.common = [_learned(weight[: self.folds]) for weight in self.weights[:-1]]
        self.last = _learned(self.weights[-1])
        self.signed = [(own[0].signs[0] != 0).to(self.last.device) for own in self.own]
        self.inward = [_learned(torch.ones(len(branches), w.shape[2])) for w in self.common]
        self.outward = [_learned(torch.ones(len(branches), w.shape[1])) for w in self.common]
        self.moved = [*self.common, self.last, *self.biases, *self.inward, *self.outward]
        self.weights = [weight.detach().clone() for weight in self.weights]
        self._begin_()
        self.make_()

    @torch.no_grad()
    def _begin_(self) -> None:
        first = self.inward[0]
        near = torch.exp(SPREAD * torch.randn_like(first))
        chance = torch.where(torch.rand_like(first) < 0.5, -1.0, 1.0)
        first.copy_(torch.where(self.signed[0], near, chance))

    def _parts(self, k: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """s [A, F, j, 1], W [F, j, i] and r [A, F, 1, i] of layer k."""
        s, w, r = self.outward[k].detach(), self.common[k].detach(), self.inward[k].detach()
        return s.reshape(-1, self.folds, s.shape[1], 1), w, r.reshape(-1, self.folds, 1, r.shape[1])

    def slopes(self, found: list[torch.Tensor]) -> list[torch.Tensor]:
        """Of W: Σ_a s·r·slope; of r: Σ_j s·W·slope; of s: Σ_i W·r·slope."""
        layers = len(self.weights)
        of_common, of_inward, of_outward = list[torch.Tensor](), list[torch.Tensor](), list[torch.Tensor]()
        for k in range(layers - 1):
            s, w, r = self._parts(k)
            slope = found[k].reshape(-1, *w.shape)  # [A, F, j, i]
            through, weighed = slope * r, slope * w
            of_common.append((through * s).sum(dim=0))
            of_outward.append((weighed * r).sum(dim=3).reshape(self.outward[k].shape))
            of_inward.append((weighed * s).sum(dim=2).reshape(self.inward[k].shape))
        return [*of_common, *found[layers - 1 :], *of_inward, *of_outward]

    @torch.no_grad()
    def settle_(self, left: float) -> None:
        """Signs and decay of W and of the last layer; adapters of columns with a sign stay positive."""
        for weight, ends in zip([*self.common, self.last], self.allowed, strict=True):
            if ends is not None:
                torch.clamp(weight, *(end[: len(weight)] for end in ends), out=weight)
            weight.mul_(left)
        for inward, outward, signed in zip(self.inward, self.outward, self.signed[:-1], strict=True):
            outward.clamp_(min=LEAST)
            inward.copy_(torch.where(signed, inward.clamp(min=LEAST), inward))
        self.make_()

    def make_(self) -> None:
        """diag(s)·W·diag(r) of every member; the last layer as it is."""
        for k, weight in enumerate(self.weights[:-1]):
            s, w, r = self._parts(k)
            weight.copy_((s * w * r).reshape(weight.shape))
        self.weights[-1].copy_(self.last.detach())


def stacked(made: Callable[[list[Branch]], Made]) -> Callable[..., Stack]:
    """`Stack`, but of this kind where it learns."""
    return lambda branches, learns=True: made(branches) if learns else Stack(branches, learns)


def begun(beta2: float = 0.999) -> Callable[..., adam.Adam]:
    """`Adam` with this β₂, its moments made at once: then no step is one that torch records."""

    def made(groups: list[dict[str, Any]], **more: Any) -> adam.Adam:
        optimizer = adam.Adam(groups, betas=(0.9, beta2), **more)
        adam._begin_(optimizer, [group["params"] for group in optimizer.param_groups])
        return optimizer

    return made


# ---- units that are left out by chance -----------------------------------------------------------------------------


class Dropped(StackRun):
    """Layers whose hidden units are left out with probability `SHARE`, every row and member its own."""

    SHARE = 0.15

    def __init__(self, stack: Stack, rows: int) -> None:
        self.stack = stack

    def __call__(self, ramps: torch.Tensor) -> torch.Tensor:
        """Ramps [B, R] → outputs [G, B, j]."""
        stack, self.ramps = self.stack, ramps
        self.inputs, self.before, self.after, self.masks = list[torch.Tensor](), [], [], []
        y, size = ramps, ramps.shape[1]
        for weight, bias, ends in zip(stack.weights, stack.biases, stack.ends, strict=True):
            self.inputs.append(y)
            inner, base = weight.split([weight.shape[2] - size, size], dim=2)
            z = bias[:, None] + ramps @ base.transpose(1, 2)
            z = torch.baddbmm(z, y, inner.transpose(1, 2)) if inner.shape[2] else z
            h = z if ends is None else z.clamp(*ends)
            self.masks.append((torch.rand_like(h) >= self.SHARE) / (1 - self.SHARE))
            y = h if ends is None else h * self.masks[-1]
            self.before.append(z)
            self.after.append(h)
        return y

    def backward(self, slope: torch.Tensor) -> list[torch.Tensor]:
        """As without, and a unit that was left out passes nothing on."""
        stack, ramps = self.stack, self.ramps
        of_weights, of_biases = list[torch.Tensor](), list[torch.Tensor]()
        for k in range(len(stack.weights) - 1, -1, -1):
            if stack.ends[k] is not None:
                slope = slope * self.masks[k] * (self.after[k] == self.before[k])
            base = slope.transpose(1, 2) @ ramps
            of_biases.insert(0, slope.sum(dim=1))
            width = stack.weights[k].shape[2] - ramps.shape[1]
            if not width:
                of_weights.insert(0, base)
                continue
            of_weights.insert(0, torch.cat([slope.transpose(1, 2).bmm(self.inputs[k]), base], dim=2))
            slope = slope.bmm(stack.weights[k][:, :, :width])
        return stack.slopes(of_weights + of_biases)


# ---- schedules, targets, shares ------------------------------------------------------------------------------------


def coslog4(optimizer: torch.optim.Optimizer, config: Config, done: float) -> None:
    """RealMLP's rate: four waves, each twice as long as the one before, from the last rate up and down again."""
    wave = 0.5 * (1 - math.cos(2 * math.pi * math.log2(1 + 15 * min(1.0, done))))
    rate = config.rate * (config.final_rate + (1 - config.final_rate) * wave)
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("pace", 1.0)


def longer(times: int = 1, patience: float = 0.25) -> Callable[[int, float], Config]:
    """`steps` with so many times the epochs, and this share of them as patience."""

    def chosen(rows: int, rate: float) -> Config:
        config = steps(rows, rate)
        epochs = times * config.epochs
        return config.replace(epochs=epochs, patience=max(10, round(patience * epochs)))

    return chosen


def smoothed(share: float) -> Callable[..., Any]:
    """`Training.rows` with targets of classes drawn towards one half: y ↦ (1 − share)·y + share/2."""
    given = Training.rows

    def rows(self: Training, index: torch.Tensor) -> Any:
        x, y, weight = given(self, index)
        return x, (1 - share) * y + share / 2 if self.decides else y, weight

    return rows


def best_alone(*given: Any) -> Mixture:
    """`mixture` that leaves the kind with the least loss alone."""
    found = mixture(*given)
    best = int(np.nanargmin(found.alone))
    return Mixture(np.eye(len(found.alone))[best], float(found.alone[best]), found.alone)


# ---- several members a fold ----------------------------------------------------------------------------------------


def each_fold(times: int) -> dict[str, Any]:
    """Patches for `times` networks of a kind in each of four folds (half of them where rows are many).

    All that share weights must be kept from the same rows: one that learned from them would tell the others.
    """

    def networks(members: int, rows: int) -> int:
        return members * (times if rows <= SMALL else max(1, times // 2))

    def kept_rows(y: Any, net: Any, *more: Any) -> np.ndarray:
        return kept(y, SimpleNamespace(encoder=None, collapsed=net.collapsed), *more)  # type: ignore[arg-type]

    def folded(held: np.ndarray, groups: int) -> np.ndarray:
        return np.tile(held, (1, groups // held.shape[1])) if groups > held.shape[1] else fold(held, groups)

    kept, fold = restarts.kept_rows, fit.folded
    return {"recipes.ensemble.networks": networks, "restarts.kept_rows": kept_rows, "fit.folded": folded}
