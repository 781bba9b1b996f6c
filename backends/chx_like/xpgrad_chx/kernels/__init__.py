"""The kernels of chx arrays: those of the library of the buffers, run through `xpgrad_chx.evaluation`."""

from xpgrad.plugin import Backend
from xpgrad.types import Kernel
from xpgrad_chx.evaluation import anything, binary, parameterised, unary

_ONE = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf
isnan log log10 log1p log2 logical_not negative positive real reciprocal round sign signbit sin sinh sqrt square tan
tanh trunc duplicate matrix_transpose relu special.expit"""
_TWO = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal
floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum
multiply nextafter not_equal pow remainder subtract matmul tanh.x affine.x affine.W"""
_ONE_AND_MORE = """broadcast_to cumulative_sum expand_dims flip log_softmax max mean min moveaxis permute_dims prod
reshape softmax squeeze std sum sum_to var"""

UNARY, BINARY = frozenset(_ONE.split()), frozenset(_TWO.split())
PARAMETERISED = frozenset(_ONE_AND_MORE.split())
"""Kernels of one array whose parameters are no arrays."""


def kernel(name: str, buffers: Backend) -> Kernel | None:
    """Return the kernel `name`, None if there is only a rule, which then runs on chx arrays.

    Parameters
    ----------
    name : str
    buffers : Backend
        The library of host buffers. On CUDA devices the kernel asks that of theirs.
    """
    try:
        found = buffers.xp.kernel(name)
    except RuntimeError:  # a PluginError: the vjp of an input, for which the library has nothing faster
        return None
    if name in UNARY:
        return unary(found, name)
    if name in BINARY:
        return binary(found, name)
    return (parameterised if name in PARAMETERISED else anything)(found, name)
