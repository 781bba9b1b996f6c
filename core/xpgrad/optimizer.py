"""Components of optimizers (``xpgrad.optimizer``): base classes, update rules, hyperparameters, and hooks."""

from xpgrad.listing import listed as _listed
from xpgrad.optimizer_hooks import (
    GradientClipping,
    GradientHardClipping,
    GradientLARS,
    GradientNoise,
    Lasso,
    WeightDecay,
)
from xpgrad.optimizers.formula import Formula
from xpgrad.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from xpgrad.optimizers.optimizer import GradientMethod, Optimizer
from xpgrad.optimizers.update_rule import UpdateRule

__all__ = [
    "Formula", "GradientClipping", "GradientHardClipping", "GradientLARS", "GradientMethod", "GradientNoise",
    "Hyperparameter", "HyperparameterProxy", "Lasso", "Optimizer", "UpdateRule", "WeightDecay",
]  # fmt: skip

__getattr__, __dir__ = _listed(__name__, __all__)
