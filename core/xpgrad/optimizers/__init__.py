"""Optimizers: gradient descent and its variants, L-BFGS, and schedules of hyperparameters."""

from xpgrad.listing import listed as _listed
from xpgrad.optimizers import schedules
from xpgrad.optimizers.adam import AdaBound, Adam, AdamW, AMSBound, AMSGrad
from xpgrad.optimizers.adaptive import MSVAG, SMORMS3, AdaDelta, AdaGrad, RMSprop, RMSpropGraves
from xpgrad.optimizers.lbfgs import LBFGS
from xpgrad.optimizers.momentum import SGD, CorrectedMomentumSGD, Lion, MomentumSGD, NesterovAG
from xpgrad.optimizers.rule import Rule

__all__ = [
    "LBFGS", "MSVAG", "SGD", "SMORMS3", "AMSBound", "AMSGrad", "AdaBound", "AdaDelta", "AdaGrad", "Adam", "AdamW",
    "CorrectedMomentumSGD", "Lion", "MomentumSGD", "NesterovAG", "RMSprop", "RMSpropGraves", "Rule",
    "schedules",
]  # fmt: skip

__getattr__, __dir__ = _listed(__name__, __all__)
