"""Extensions of trainers: evaluation, logs, plots, snapshots, and schedules of hyperparameters."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.training.extensions.evaluator import Evaluator
from xpgrad.training.extensions.logs import LogReport, MicroAverage, PrintReport, observe_lr, observe_value
from xpgrad.training.extensions.pictures import DumpGraph, PlotReport, ProgressBar
from xpgrad.training.extensions.schedules import (
    ExponentialShift,
    InverseShift,
    LinearShift,
    MultistepShift,
    PolynomialShift,
    StepShift,
    WarmupShift,
)
from xpgrad.training.extensions.snapshots import FailOnNonNumber, snapshot, snapshot_object, unchain_variables

__all__ = [
    "DumpGraph", "Evaluator", "ExponentialShift", "FailOnNonNumber", "InverseShift", "LinearShift", "LogReport",
    "MicroAverage", "MultistepShift", "PlotReport", "PolynomialShift", "PrintReport", "ProgressBar", "StepShift",
    "WarmupShift", "observe_lr", "observe_value", "snapshot", "snapshot_object", "unchain_variables",
]  # fmt: skip
if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
