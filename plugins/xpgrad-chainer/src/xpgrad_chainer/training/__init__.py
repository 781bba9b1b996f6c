"""Training under Chainer's names, as far as xpgrad has others (`chainer.training`)."""

from xpgrad.training.triggers import IntervalTrigger
from xpgrad_chainer.training.trainer import EarlyStoppingTrigger, Trainer
from xpgrad_chainer.training.updaters import ParallelUpdater

__all__ = ["EarlyStoppingTrigger", "IntervalTrigger", "ParallelUpdater", "Trainer"]
