"""The differentiable functions, with a module for each chapter of the Array API standard.

Each takes Variables and arrays of any library and returns Variables. Dtype arguments may be names, dtypes of NumPy or
dtypes of any library, and `device=` may be a device of any library. The dtypes of this namespace belong to the library
of the current device, on which arrays are created without `device=`; `Variable.__array_namespace__()` returns the same
functions with the dtypes and the default device of the Variable's library.

In addition to the chapters, `namespace` creates the namespace of each backend, `declared` declares their names for type
checkers, and `shared` contains code used by several chapters.
"""

import typing as _typing

from xpgrad.array_api.array_object import bind as _bind_operators
from xpgrad.array_api.constants import CONSTANTS as _CONSTANTS
from xpgrad.array_api.namespace import namespace as _namespace
from xpgrad.array_api.namespace import slot as _names
from xpgrad.array_api.shared.copying import copy as _copy
from xpgrad.array_api.shared.primitives import sum_to as _sum_to
from xpgrad.boundary import bound as _bound
from xpgrad.graph.methods.convertible import API_VERSIONS as _API_VERSIONS
from xpgrad.graph.slot import slot as _slot
from xpgrad.listing import missing_name as _missing_name

# The chapters in the standard's order. Type checkers take `X as X` as a re-export.
# fmt: off
# isort: off
from xpgrad.array_api import fft as fft, linalg as linalg
from xpgrad.array_api.constants import e as e, inf as inf, nan as nan, newaxis as newaxis, pi as pi
from xpgrad.array_api.creation import (
    empty_like as empty_like, full_like as full_like, meshgrid as meshgrid, ones_like as ones_like, tril as tril,
    triu as triu, zeros_like as zeros_like,
)
from xpgrad.array_api.data_types import astype as astype
from xpgrad.array_api.elementwise.arithmetic import (
    add as add, divide as divide, floor_divide as floor_divide, multiply as multiply, negative as negative,
    positive as positive, pow as pow, reciprocal as reciprocal, remainder as remainder, sqrt as sqrt, square as square,
    subtract as subtract,
)
from xpgrad.array_api.elementwise.logical import (
    bitwise_and as bitwise_and, bitwise_invert as bitwise_invert, bitwise_left_shift as bitwise_left_shift,
    bitwise_or as bitwise_or, bitwise_right_shift as bitwise_right_shift, bitwise_xor as bitwise_xor,
)
from xpgrad.array_api.elementwise.logical import (
    equal as equal, greater as greater, greater_equal as greater_equal, less as less, less_equal as less_equal,
    not_equal as not_equal,
)
from xpgrad.array_api.elementwise.magnitude import conj as conj, imag as imag, real as real
from xpgrad.array_api.elementwise.exponential import (
    exp as exp, expm1 as expm1, log as log, log1p as log1p, log2 as log2, log10 as log10, logaddexp as logaddexp,
)
from xpgrad.array_api.elementwise.extrema import clip as clip, maximum as maximum, minimum as minimum
from xpgrad.array_api.elementwise.hyperbolic import (
    acosh as acosh, asinh as asinh, atanh as atanh, cosh as cosh, sinh as sinh, tanh as tanh,
)
from xpgrad.array_api.elementwise.logical import (
    isfinite as isfinite, isinf as isinf, isnan as isnan, logical_and as logical_and, logical_not as logical_not,
    logical_or as logical_or, logical_xor as logical_xor,
)
from xpgrad.array_api.elementwise.magnitude import (
    abs as abs, copysign as copysign, hypot as hypot, sign as sign, signbit as signbit,
)
from xpgrad.array_api.elementwise.rounding import (
    ceil as ceil, floor as floor, nextafter as nextafter, round as round, trunc as trunc,
)
from xpgrad.array_api.elementwise.trigonometric import (
    acos as acos, asin as asin, atan as atan, atan2 as atan2, cos as cos, sin as sin, tan as tan,
)
from xpgrad.array_api.indexing import take as take, take_along_axis as take_along_axis
from xpgrad.array_api.linear_algebra import (
    matmul as matmul, matrix_transpose as matrix_transpose, tensordot as tensordot, vecdot as vecdot,
)
from xpgrad.array_api.manipulation import (
    broadcast_arrays as broadcast_arrays, broadcast_shapes as broadcast_shapes, broadcast_to as broadcast_to,
    concat as concat, expand_dims as expand_dims, flip as flip, moveaxis as moveaxis, permute_dims as permute_dims,
    repeat as repeat, reshape as reshape, roll as roll, squeeze as squeeze, stack as stack, tile as tile,
    unstack as unstack,
)
from xpgrad.array_api.searching import (
    argmax as argmax, argmin as argmin, count_nonzero as count_nonzero, nonzero as nonzero,
    searchsorted as searchsorted, where as where,
)
from xpgrad.array_api.sets import (
    isin as isin, unique_all as unique_all, unique_counts as unique_counts, unique_inverse as unique_inverse,
    unique_values as unique_values,
)
from xpgrad.array_api.sorting import argsort as argsort, sort as sort
from xpgrad.array_api.statistical import (
    cumulative_prod as cumulative_prod, cumulative_sum as cumulative_sum, max as max, mean as mean, min as min,
    prod as prod, std as std, sum as sum, var as var,
)
from xpgrad.array_api.utility import all as all, any as any, diff as diff
# isort: on
# fmt: on

_functions = {name: value for name, value in vars().items() if callable(value) and not name.startswith("_")}


class _Functions:
    """The functions of this package that the graph calls."""

    add = staticmethod(add)
    astype = staticmethod(astype)
    conj = staticmethod(conj)
    copy = staticmethod(_copy)
    namespace = staticmethod(_namespace)
    real = staticmethod(real)
    sum_to = staticmethod(_sum_to)


_slot.functions = _Functions()
_bind_operators()
_bound(__name__, _functions)
_names.functions = {name: globals()[name] for name in _functions} | _CONSTANTS


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
        """Call the NumPy function of the same name."""

    apply_along_axis = choose = i0 = piecewise = poly = polyfit = put_along_axis = roots = vectorize = _numpy
    amax = amin = append = argwhere = around = array_equal = array_split = atleast_1d = atleast_2d = _numpy
    atleast_3d = average = block = column_stack = compress = concatenate = copy = correlate = cross = _numpy
    cumprod = cumsum = delete = diagflat = diagonal = digitize = dot = dsplit = dstack = ediff1d = _numpy
    extract = fix = flatnonzero = fliplr = flipud = gradient = hsplit = hstack = inner = insert = _numpy
    iscomplexobj = isrealobj = nanargmax = nanargmin = nanstd = ndim = outer = ptp = ravel = rollaxis = _numpy
    resize = rot90 = select = shape = _numpy
    size = split = swapaxes = trace = transpose = unwrap = vander = vdot = vsplit = vstack = _numpy
    lib: _typing.Any
else:
    __all__ = list(_functions)

    def __getattr__(name: str) -> _typing.Any:
        """Return a dtype or a creation function, which differ between backends, of the default device's library."""
        from xpgrad.backend.current import current_device

        if name.startswith("__") and name != "__array_namespace_info__":
            raise AttributeError(name)
        try:
            return getattr(_namespace(current_device().backend.root), name)
        except AttributeError:
            raise _missing_name(__name__, name, __dir__) from None


def __dir__() -> list[str]:
    from xpgrad.backend.current import current_device

    return dir(_namespace(current_device().backend.root))
