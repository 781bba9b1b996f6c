"""Extensions under Chainer's names (`training.extensions`)."""

import shutil
from typing import Any

from xpgrad.training import extensions
from xpgrad_chainer.training.snapshots import snapshot, snapshot_object
from xpgrad_chainer.training.statistics import ParameterStatistics, Reservoir, Statistician, VariableStatisticsPlot
from xpgrad_chainer.training.trainer import LogReport, PrintReport

__all__ = [
    "LogReport", "ParameterStatistics", "PrintReport", "PrintReportNotebook", "ProgressBarNotebook", "Reservoir",
    "Statistician", "VariableStatisticsPlot", "dump_graph", "is_graphviz_available", "is_return_code_zero", "snapshot",
    "snapshot_object",
]  # fmt: skip

PrintReportNotebook = PrintReport
ProgressBarNotebook = extensions.ProgressBar


def is_return_code_zero(args: Any) -> bool:
    """Return whether the program of a command line is installed."""
    return shutil.which(args[0]) is not None


def is_graphviz_available() -> bool:
    """Return whether the program dot is installed."""
    return is_return_code_zero(["dot", "-V"])


def dump_graph(root_name: str, filename: str | None = None, *args: Any, **kwargs: Any) -> Any:
    """Return the extension `DumpGraph`. Deprecated: use the class."""
    return extensions.DumpGraph(root_name, filename or "cg.dot", *args, **kwargs)
