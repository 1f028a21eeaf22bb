"""A network as a flat list of the layers that bound propagation knows: affine maps, ReLU, and reshaping."""

from __future__ import annotations

from torch import nn

from smilenn.errors import SmileError
from smilenn.model.backbones import ConvNet

AFFINE = (nn.Linear, nn.Conv2d)
SHAPES = (nn.ZeroPad2d, nn.Flatten, nn.Unflatten)


def layers_of(module: nn.Module) -> list[nn.Module]:
    """The layers in order; a layer without a bound rule is an error."""
    if isinstance(module, ConvNet):
        module = module.layers
    if isinstance(module, nn.Sequential):
        return [layer for part in module for layer in layers_of(part)]
    if isinstance(module, (*AFFINE, *SHAPES, nn.ReLU)):
        return [module]
    raise SmileError(
        f"There are no bounds for a layer {type(module).__name__}; use linear, convolution and ReLU layers in sequence."
    )
