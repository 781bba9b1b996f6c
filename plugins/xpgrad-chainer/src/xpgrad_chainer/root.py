"""Names of `chainer` itself, and of modules that hold one or two."""

import sys
from io import StringIO
from typing import TYPE_CHECKING, Any, TextIO

import xpgrad
from xpgrad import Variable, config
from xpgrad.backends.cuda import should_use_cudnn
from xpgrad.models import Link
from xpgrad_chainer.cuda import should_use_cudnn_tensor_core
from xpgrad_chainer.function_node import FunctionNode
from xpgrad_chainer.residents import DeviceResidentsVisitor
from xpgrad_chainer.sequential import Sequential

__all__ = [
    "TYPE_CHECKING", "AbstractInitializer", "DeviceResident", "DeviceResidentsVisitor", "Fallback", "FunctionNode",
    "PerformanceWarning", "Sequential", "__version__", "get_compute_mode", "get_dtype", "grad", "print_runtime_info",
    "should_use_cudnn", "should_use_cudnn_tensor_core", "static_code", "static_graph", "variable_repr",
    "variable_str",
]  # fmt: skip

__version__ = "7.8.1"
Fallback = NotImplemented
AbstractInitializer = Any
disable_experimental_feature_warning = False
DeviceResident = Link


class PerformanceWarning(RuntimeWarning):
    """Warning that a program is slower than necessary."""


def get_compute_mode() -> Any:
    """Return ``config.compute_mode``."""
    return getattr(config, "compute_mode", None)


def get_dtype(dtype: Any = None, map_mixed16: Any = None) -> Any:
    """Return a dtype, or that of ``config.dtype``; `mixed16` is float16 unless `map_mixed16` names another."""
    return xpgrad.get_dtype(dtype, "float16" if map_mixed16 is None else map_mixed16)


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, grad_inputs: Any = None, *args: Any, **kwargs: Any
) -> Any:
    """Return gradients, None where an output or an input requires none; see `xpgrad.grad`."""
    both = outputs, inputs
    fit = all(gs is None or len(gs) == len(xs) for gs, xs in ((grad_outputs, outputs), (grad_inputs, inputs)))
    if not (fit and all(isinstance(xs, (list, tuple)) and all(isinstance(x, Variable) for x in xs) for xs in both)):
        return xpgrad.grad(outputs, inputs, grad_outputs, grad_inputs, *args, **kwargs)
    starts, ends = ([i for i, x in enumerate(xs) if x.requires_grad] for xs in both)
    found: list[Any] = [None] * len(inputs)
    if starts and ends:
        taken: list[Any] = [
            None if xs is None else [xs[i] for i in places]
            for xs, places in ((outputs, starts), (inputs, ends), (grad_outputs, starts), (grad_inputs, ends))
        ]
        for i, gx in zip(ends, xpgrad.grad(*taken, *args, **kwargs), strict=True):
            found[i] = gx
    return found


def print_runtime_info(out: TextIO | None = None) -> None:
    """Print versions, one a line, to the standard output or to `out`: of the platform, Chainer, and xpgrad."""
    text = StringIO()
    xpgrad.print_runtime_info(text)
    head, _, rest = text.getvalue().partition("\n")
    (out or sys.stdout).write(f"{head}\nChainer: {__version__} (names of xpgrad_chainer)\n{rest}")


def static_graph(*args: Any, **kwargs: Any) -> Any:
    """Return a function unchanged: `xpgrad.compile` replaces Chainer's static graphs."""
    if args and callable(args[0]):
        return args[0]
    return lambda function: function


static_code = static_graph


def variable_repr(var: Any) -> str:
    """Return the text of a Variable."""
    return repr(var)


def variable_str(var: Any) -> str:
    """Return the text of a Variable, without commas."""
    return str(var)
