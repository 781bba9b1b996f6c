"""The differentiable functions, one file per chapter of the Array API standard.

Each takes Variables and arrays and returns Variables. Dtypes and creation functions are those of the default device's
backend; `Variable.__array_namespace__` returns the same functions with those of its own.
"""

import importlib as _importlib
from typing import TYPE_CHECKING, Any

from xpgrad.array_api import fft as fft
from xpgrad.array_api import linalg as linalg
from xpgrad.array_api import operators as _operators
from xpgrad.array_api.arithmetic import (
    add,
    constant_power,
    divide,
    floor_divide,
    multiply,
    negative,
    positive,
    pow,
    remainder,
    square,
    subtract,
)  # fmt: skip
from xpgrad.array_api.bitwise import (
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
)  # fmt: skip
from xpgrad.array_api.broadcasting import broadcast_to, sum_to
from xpgrad.array_api.comparison import equal, greater, greater_equal, less, less_equal, not_equal
from xpgrad.array_api.copying import astype, conj, copy, imag, real
from xpgrad.array_api.creation import empty_like, full_like, ones_like, zeros_like
from xpgrad.array_api.exponential import exp, expm1, log, log1p, log2, log10, logaddexp
from xpgrad.array_api.hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
from xpgrad.array_api.indexing import getitem, setitem, take, take_along_axis
from xpgrad.array_api.linear import matmul, matrix_transpose, outer, tensordot, transposed_matmul, vecdot
from xpgrad.array_api.logical import isfinite, isinf, isnan, logical_and, logical_not, logical_or, logical_xor
from xpgrad.array_api.magnitude import abs, copysign, hypot, reciprocal, sign, signbit, sqrt
from xpgrad.array_api.manipulation import (
    broadcast_arrays,
    broadcast_shapes,
    concat,
    expand_dims,
    flip,
    meshgrid,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    tril,
    triu,
    unstack,
)  # fmt: skip
from xpgrad.array_api.namespace import SUBMODULES as _SUBMODULES
from xpgrad.array_api.namespace import namespace as _namespace
from xpgrad.array_api.products import cumulative_prod, prod
from xpgrad.array_api.rounding import ceil, floor, nextafter, round, trunc
from xpgrad.array_api.scattering import scatter as _scatter
from xpgrad.array_api.searching import argmax, argmin, count_nonzero, nonzero, searchsorted
from xpgrad.array_api.selection import clip, gate, maximum, minimum, where
from xpgrad.array_api.sets import isin, unique_all, unique_counts, unique_inverse, unique_values
from xpgrad.array_api.sorting import argsort, sort
from xpgrad.array_api.statistical import average, cumulative_sum, max, mean, min, std, sum, var
from xpgrad.array_api.trigonometric import acos, asin, atan, atan2, cos, sin, tan
from xpgrad.array_api.utility import all, any, diff
from xpgrad.graph.methods.convertible import API_VERSIONS as _API_VERSIONS
from xpgrad.graph.slot import slot as _slot
from xpgrad.listing import missing_name as _missing_name

__all__ = [  # noqa: RUF022 - by chapter
    "add", "constant_power", "divide", "floor_divide", "multiply", "negative", "positive", "pow", "remainder", "square",
    "subtract",
    "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "broadcast_to", "sum_to",
    "equal", "greater", "greater_equal", "less", "less_equal", "not_equal",
    "astype", "conj", "copy", "imag", "real",
    "empty_like", "full_like", "ones_like", "zeros_like",
    "exp", "expm1", "log", "log1p", "log2", "log10", "logaddexp",
    "acosh", "asinh", "atanh", "cosh", "sinh", "tanh",
    "isfinite", "isinf", "isnan", "logical_and", "logical_not", "logical_or", "logical_xor",
    "abs", "copysign", "hypot", "reciprocal", "sign", "signbit", "sqrt",
    "ceil", "floor", "nextafter", "round", "trunc",
    "clip", "gate", "maximum", "minimum", "where",
    "acos", "asin", "atan", "atan2", "cos", "sin", "tan",
    "getitem", "setitem", "take", "take_along_axis",
    "matmul", "matrix_transpose", "outer", "tensordot", "transposed_matmul", "vecdot",
    "broadcast_arrays", "broadcast_shapes", "concat", "expand_dims", "flip", "meshgrid", "moveaxis", "permute_dims",
    "repeat", "reshape", "roll", "squeeze", "stack", "tile", "tril", "triu", "unstack",
    "average", "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var",
    "argmax", "argmin", "count_nonzero", "nonzero", "searchsorted",
    "isin", "unique_all", "unique_counts", "unique_inverse", "unique_values",
    "argsort", "sort",
    "all", "any", "diff",
]  # fmt: skip


class _Functions:
    """What the graph gets to know of this package."""

    add = staticmethod(add)
    astype = staticmethod(astype)
    conj = staticmethod(conj)
    copy = staticmethod(copy)
    namespace = staticmethod(_namespace)
    real = staticmethod(real)
    scatter = staticmethod(_scatter)
    sum_to = staticmethod(sum_to)


_slot.functions = _Functions()
_operators.bind()


__array_api_version__ = _API_VERSIONS[-1]


if TYPE_CHECKING:
    from xpgrad import special as special
    from xpgrad.array_api.declared import __array_namespace_info__ as __array_namespace_info__
    from xpgrad.array_api.declared import arange as arange
    from xpgrad.array_api.declared import asarray as asarray
    from xpgrad.array_api.declared import can_cast as can_cast
    from xpgrad.array_api.declared import complex64 as complex64
    from xpgrad.array_api.declared import complex128 as complex128
    from xpgrad.array_api.declared import e as e
    from xpgrad.array_api.declared import empty as empty
    from xpgrad.array_api.declared import eye as eye
    from xpgrad.array_api.declared import finfo as finfo
    from xpgrad.array_api.declared import float16 as float16
    from xpgrad.array_api.declared import float32 as float32
    from xpgrad.array_api.declared import float64 as float64
    from xpgrad.array_api.declared import from_dlpack as from_dlpack
    from xpgrad.array_api.declared import full as full
    from xpgrad.array_api.declared import iinfo as iinfo
    from xpgrad.array_api.declared import inf as inf
    from xpgrad.array_api.declared import int8 as int8
    from xpgrad.array_api.declared import int16 as int16
    from xpgrad.array_api.declared import int32 as int32
    from xpgrad.array_api.declared import int64 as int64
    from xpgrad.array_api.declared import isdtype as isdtype
    from xpgrad.array_api.declared import linspace as linspace
    from xpgrad.array_api.declared import nan as nan
    from xpgrad.array_api.declared import newaxis as newaxis
    from xpgrad.array_api.declared import ones as ones
    from xpgrad.array_api.declared import pi as pi
    from xpgrad.array_api.declared import result_type as result_type
    from xpgrad.array_api.declared import uint8 as uint8
    from xpgrad.array_api.declared import uint16 as uint16
    from xpgrad.array_api.declared import uint32 as uint32
    from xpgrad.array_api.declared import uint64 as uint64
    from xpgrad.array_api.declared import zeros as zeros
    from xpgrad.types import Dtype as _Dtype

    bool: _Dtype
else:

    def __getattr__(name: str) -> Any:
        """Return what each backend's namespace has for itself, a dtype or a creation function: the default device's."""
        from xpgrad.backend.current import current_device

        if name.startswith("__") and name != "__array_namespace_info__":
            raise AttributeError(name)
        if name in _SUBMODULES:
            return _importlib.import_module(f"xpgrad.{name}")
        try:
            return getattr(_namespace(current_device().backend), name)
        except AttributeError:
            raise _missing_name(__name__, name, __dir__) from None


def __dir__() -> list[str]:
    from xpgrad.backend.current import current_device

    return dir(_namespace(current_device().backend))
