"""The kernels of chx arrays: kernels of the buffers' library, run through `xpgrad_chx.evaluation`."""

from typing import Any

import numpy as np

from xpgrad.plugin import CHAPTERS, Backend
from xpgrad.types import Kernel
from xpgrad_chx.evaluation import anything, binary, parameterised, unary

_MORE_OF_ONE = "duplicate matrix_transpose relu special.expit"
_MORE_OF_TWO = "matmul tanh_slope affine.x affine.W"
_OF_ONE_AND_PARAMETERS = """broadcast_to cumulative_sum expand_dims flip log_softmax max mean min moveaxis
permute_dims prod reshape softmax squeeze std sum sum_to var"""

# `clip` is not a kernel: it is a composition of minimum and maximum.
_TAKES = {name: getattr(getattr(np, name), "nin", 1) for name in CHAPTERS["elementwise"] if name != "clip"}
UNARY = frozenset((*(name for name, arrays in _TAKES.items() if arrays == 1), *_MORE_OF_ONE.split()))
BINARY = frozenset((*(name for name, arrays in _TAKES.items() if arrays == 2), *_MORE_OF_TWO.split()))
PARAMETERISED = frozenset(_OF_ONE_AND_PARAMETERS.split())
"""Kernels of one array without arrays among their parameters."""


def kernel(name: str, buffers: Backend, kind: type[Any]) -> Kernel | None:
    """Return the kernel `name`, None if there is only a rule, which then runs on chx arrays.

    Parameters
    ----------
    name : str
    buffers : Backend
        The library of host buffers. On CUDA devices the kernel uses CuPy.
    kind : type
        The class of results if no argument is an array.
    """
    try:
        found = buffers.xp.kernel(name)
    except RuntimeError:  # a PluginError: the vjp of an input, for which the library has no kernel
        return None
    if name in UNARY:
        return unary(found, name)
    if name in BINARY:
        return binary(found, name)
    if name in PARAMETERISED:
        return parameterised(found, name)
    return anything(found, name, kind)
