"""Chainer's names for training, where xpgrad's names differ (`chainer.training`)."""

from xpgrad.training.triggers import IntervalTrigger
from xpgrad_chainer.training.trainer import EarlyStoppingTrigger, Trainer, make_extension
from xpgrad_chainer.training.updaters import ParallelUpdater, StandardUpdater

__all__ = ["EarlyStoppingTrigger", "IntervalTrigger", "ParallelUpdater", "StandardUpdater", "Trainer", "make_extension"]
