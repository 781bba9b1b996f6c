"""Hooks of optimizers (``xpgrad.optimizer_hooks``)."""

from xpgrad.listing import listed as _listed
from xpgrad.optimizers.hooks import (
    GradientClipping,
    GradientHardClipping,
    GradientHook,
    GradientLARS,
    GradientNoise,
    Lasso,
    WeightDecay,
)

__all__ = [
    "GradientClipping", "GradientHardClipping", "GradientHook", "GradientLARS", "GradientNoise", "Lasso", "WeightDecay",
]  # fmt: skip

__getattr__, __dir__ = _listed(__name__, __all__)
