"""The differentiable functions, one file per chapter of the Array API standard.

Each takes Variables and arrays and returns Variables. Dtypes and creation functions are those of the default device's
backend; `Variable.__array_namespace__` returns the same functions with those of its own.
"""

import typing as _typing

from xpgrad.array_api import fft as fft
from xpgrad.array_api import linalg as linalg
from xpgrad.array_api.array_object import bind as _bind_operators
from xpgrad.array_api.constants import CONSTANTS as _CONSTANTS
from xpgrad.array_api.constants import e as e
from xpgrad.array_api.constants import inf as inf
from xpgrad.array_api.constants import nan as nan
from xpgrad.array_api.constants import newaxis as newaxis
from xpgrad.array_api.constants import pi as pi
from xpgrad.array_api.creation import empty_like as empty_like
from xpgrad.array_api.creation import full_like as full_like
from xpgrad.array_api.creation import meshgrid as meshgrid
from xpgrad.array_api.creation import ones_like as ones_like
from xpgrad.array_api.creation import tril as tril
from xpgrad.array_api.creation import triu as triu
from xpgrad.array_api.creation import zeros_like as zeros_like
from xpgrad.array_api.data_types import astype as astype
from xpgrad.array_api.elementwise.arithmetic import add as add
from xpgrad.array_api.elementwise.arithmetic import divide as divide
from xpgrad.array_api.elementwise.arithmetic import floor_divide as floor_divide
from xpgrad.array_api.elementwise.arithmetic import multiply as multiply
from xpgrad.array_api.elementwise.arithmetic import negative as negative
from xpgrad.array_api.elementwise.arithmetic import positive as positive
from xpgrad.array_api.elementwise.arithmetic import pow as pow
from xpgrad.array_api.elementwise.arithmetic import reciprocal as reciprocal
from xpgrad.array_api.elementwise.arithmetic import remainder as remainder
from xpgrad.array_api.elementwise.arithmetic import sqrt as sqrt
from xpgrad.array_api.elementwise.arithmetic import square as square
from xpgrad.array_api.elementwise.arithmetic import subtract as subtract
from xpgrad.array_api.elementwise.bitwise import bitwise_and as bitwise_and
from xpgrad.array_api.elementwise.bitwise import bitwise_invert as bitwise_invert
from xpgrad.array_api.elementwise.bitwise import bitwise_left_shift as bitwise_left_shift
from xpgrad.array_api.elementwise.bitwise import bitwise_or as bitwise_or
from xpgrad.array_api.elementwise.bitwise import bitwise_right_shift as bitwise_right_shift
from xpgrad.array_api.elementwise.bitwise import bitwise_xor as bitwise_xor
from xpgrad.array_api.elementwise.comparison import equal as equal
from xpgrad.array_api.elementwise.comparison import greater as greater
from xpgrad.array_api.elementwise.comparison import greater_equal as greater_equal
from xpgrad.array_api.elementwise.comparison import less as less
from xpgrad.array_api.elementwise.comparison import less_equal as less_equal
from xpgrad.array_api.elementwise.comparison import not_equal as not_equal
from xpgrad.array_api.elementwise.complex_parts import conj as conj
from xpgrad.array_api.elementwise.complex_parts import imag as imag
from xpgrad.array_api.elementwise.complex_parts import real as real
from xpgrad.array_api.elementwise.exponential import exp as exp
from xpgrad.array_api.elementwise.exponential import expm1 as expm1
from xpgrad.array_api.elementwise.exponential import log as log
from xpgrad.array_api.elementwise.exponential import log1p as log1p
from xpgrad.array_api.elementwise.exponential import log2 as log2
from xpgrad.array_api.elementwise.exponential import log10 as log10
from xpgrad.array_api.elementwise.exponential import logaddexp as logaddexp
from xpgrad.array_api.elementwise.extrema import clip as clip
from xpgrad.array_api.elementwise.extrema import maximum as maximum
from xpgrad.array_api.elementwise.extrema import minimum as minimum
from xpgrad.array_api.elementwise.hyperbolic import acosh as acosh
from xpgrad.array_api.elementwise.hyperbolic import asinh as asinh
from xpgrad.array_api.elementwise.hyperbolic import atanh as atanh
from xpgrad.array_api.elementwise.hyperbolic import cosh as cosh
from xpgrad.array_api.elementwise.hyperbolic import sinh as sinh
from xpgrad.array_api.elementwise.hyperbolic import tanh as tanh
from xpgrad.array_api.elementwise.logical import isfinite as isfinite
from xpgrad.array_api.elementwise.logical import isinf as isinf
from xpgrad.array_api.elementwise.logical import isnan as isnan
from xpgrad.array_api.elementwise.logical import logical_and as logical_and
from xpgrad.array_api.elementwise.logical import logical_not as logical_not
from xpgrad.array_api.elementwise.logical import logical_or as logical_or
from xpgrad.array_api.elementwise.logical import logical_xor as logical_xor
from xpgrad.array_api.elementwise.magnitude import abs as abs
from xpgrad.array_api.elementwise.magnitude import copysign as copysign
from xpgrad.array_api.elementwise.magnitude import hypot as hypot
from xpgrad.array_api.elementwise.magnitude import sign as sign
from xpgrad.array_api.elementwise.magnitude import signbit as signbit
from xpgrad.array_api.elementwise.rounding import ceil as ceil
from xpgrad.array_api.elementwise.rounding import floor as floor
from xpgrad.array_api.elementwise.rounding import nextafter as nextafter
from xpgrad.array_api.elementwise.rounding import round as round
from xpgrad.array_api.elementwise.rounding import trunc as trunc
from xpgrad.array_api.elementwise.trigonometric import acos as acos
from xpgrad.array_api.elementwise.trigonometric import asin as asin
from xpgrad.array_api.elementwise.trigonometric import atan as atan
from xpgrad.array_api.elementwise.trigonometric import atan2 as atan2
from xpgrad.array_api.elementwise.trigonometric import cos as cos
from xpgrad.array_api.elementwise.trigonometric import sin as sin
from xpgrad.array_api.elementwise.trigonometric import tan as tan
from xpgrad.array_api.indexing import take as take
from xpgrad.array_api.indexing import take_along_axis as take_along_axis
from xpgrad.array_api.linear_algebra import matmul as matmul
from xpgrad.array_api.linear_algebra import matrix_transpose as matrix_transpose
from xpgrad.array_api.linear_algebra import tensordot as tensordot
from xpgrad.array_api.linear_algebra import vecdot as vecdot
from xpgrad.array_api.manipulation import broadcast_arrays as broadcast_arrays
from xpgrad.array_api.manipulation import broadcast_shapes as broadcast_shapes
from xpgrad.array_api.manipulation import broadcast_to as broadcast_to
from xpgrad.array_api.manipulation import concat as concat
from xpgrad.array_api.manipulation import expand_dims as expand_dims
from xpgrad.array_api.manipulation import flip as flip
from xpgrad.array_api.manipulation import moveaxis as moveaxis
from xpgrad.array_api.manipulation import permute_dims as permute_dims
from xpgrad.array_api.manipulation import repeat as repeat
from xpgrad.array_api.manipulation import reshape as reshape
from xpgrad.array_api.manipulation import roll as roll
from xpgrad.array_api.manipulation import squeeze as squeeze
from xpgrad.array_api.manipulation import stack as stack
from xpgrad.array_api.manipulation import tile as tile
from xpgrad.array_api.manipulation import unstack as unstack
from xpgrad.array_api.namespace import namespace as _namespace
from xpgrad.array_api.namespace import slot as _names
from xpgrad.array_api.searching import argmax as argmax
from xpgrad.array_api.searching import argmin as argmin
from xpgrad.array_api.searching import count_nonzero as count_nonzero
from xpgrad.array_api.searching import nonzero as nonzero
from xpgrad.array_api.searching import searchsorted as searchsorted
from xpgrad.array_api.searching import where as where
from xpgrad.array_api.sets import isin as isin
from xpgrad.array_api.sets import unique_all as unique_all
from xpgrad.array_api.sets import unique_counts as unique_counts
from xpgrad.array_api.sets import unique_inverse as unique_inverse
from xpgrad.array_api.sets import unique_values as unique_values
from xpgrad.array_api.shared.copying import copy as _copy
from xpgrad.array_api.shared.primitives import sum_to as _sum_to
from xpgrad.array_api.sorting import argsort as argsort
from xpgrad.array_api.sorting import sort as sort
from xpgrad.array_api.statistical import cumulative_prod as cumulative_prod
from xpgrad.array_api.statistical import cumulative_sum as cumulative_sum
from xpgrad.array_api.statistical import max as max
from xpgrad.array_api.statistical import mean as mean
from xpgrad.array_api.statistical import min as min
from xpgrad.array_api.statistical import prod as prod
from xpgrad.array_api.statistical import std as std
from xpgrad.array_api.statistical import sum as sum
from xpgrad.array_api.statistical import var as var
from xpgrad.array_api.utility import all as all
from xpgrad.array_api.utility import any as any
from xpgrad.array_api.utility import diff as diff
from xpgrad.graph.methods.convertible import API_VERSIONS as _API_VERSIONS
from xpgrad.graph.slot import slot as _slot
from xpgrad.listing import missing_name as _missing_name

_functions = {name: value for name, value in vars().items() if callable(value) and not name.startswith("_")}
_names.functions = _functions | _CONSTANTS


class _Functions:
    """What the graph gets to know of this package."""

    add = staticmethod(add)
    astype = staticmethod(astype)
    conj = staticmethod(conj)
    copy = staticmethod(_copy)
    namespace = staticmethod(_namespace)
    real = staticmethod(real)
    sum_to = staticmethod(_sum_to)


_slot.functions = _Functions()
_bind_operators()


__array_api_version__ = _API_VERSIONS[-1]


if _typing.TYPE_CHECKING:
    __all__: list[str]

    from xpgrad import special as special
    from xpgrad.array_api.declared import *  # noqa: F403
    from xpgrad.array_api.declared import __array_namespace_info__ as __array_namespace_info__
    from xpgrad.ops import *  # noqa: F403
    from xpgrad.types import Dtype as _Dtype

    bool: _Dtype

    def _numpy(*args: _typing.Any, **kwargs: _typing.Any) -> _typing.Any:
        """Return what NumPy's function of the name does."""

    amax = amin = append = argwhere = around = array_equal = array_split = atleast_1d = atleast_2d = _numpy
    atleast_3d = average = block = column_stack = compress = concatenate = copy = correlate = cross = _numpy
    cumprod = cumsum = delete = diagflat = diagonal = digitize = dot = dsplit = dstack = ediff1d = _numpy
    extract = fix = flatnonzero = fliplr = flipud = gradient = hsplit = hstack = inner = insert = _numpy
    iscomplexobj = isrealobj = nanstd = ndim = outer = ptp = ravel = rollaxis = rot90 = select = shape = _numpy
    size = split = swapaxes = trace = transpose = unwrap = vander = vdot = vsplit = vstack = _numpy
else:
    __all__ = list(_functions)

    def __getattr__(name: str) -> _typing.Any:
        """Return what each backend's namespace has for itself, a dtype or a creation function: the default device's."""
        from xpgrad.backend.current import current_device

        if name.startswith("__") and name != "__array_namespace_info__":
            raise AttributeError(name)
        try:
            return getattr(_namespace(current_device().backend), name)
        except AttributeError:
            raise _missing_name(__name__, name, __dir__) from None


def __dir__() -> list[str]:
    from xpgrad.backend.current import current_device

    return dir(_namespace(current_device().backend))
