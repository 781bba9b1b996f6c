"""Mathematics, special functions, Fourier transforms and Einstein sums, with Chainer's names and defaults."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from xpgrad import array_api, ops, special
from xpgrad.array_api import maximum as _maximum
from xpgrad.array_api import statistical
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.primitives import sum_to as _sum_to
from xpgrad.functions.arguments import named
from xpgrad.functions.checks import inexact, integral, invalid, known_spec, real_floating
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.ops import einsum
from xpgrad.special import exponentials
from xpgrad.types import WHOLE, AnyArray, Array, Operand, RealOperand, Shape, integers

__all__ = [
    "absolute", "add", "arccos", "arcsin", "arctan", "arctan2", "arctanh", "argmax", "argmin", "average",
    "batch_matmul", "ceil", "clip", "cos", "cosh", "cumprod", "cumsum", "digamma", "einsum", "erf", "erfc", "erfcinv",
    "erfcx", "erfinv", "exp", "expm1", "fft", "fix", "floor", "fmod", "identity", "ifft", "lgamma", "log", "log1p",
    "log2", "log10", "log_ndtr", "logsumexp", "matmul", "max", "maximum", "mean", "min", "minimum", "ndtr", "ndtri",
    "polygamma", "prod", "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "sum", "sum_to", "tan", "tensordot", "zeta",
]  # fmt: skip

Axis = int | tuple[int, ...] | None

absolute = array_api.abs
arccos = inexact(array_api.acos, "arccos")
arcsin = inexact(array_api.asin, "arcsin")
arctan = inexact(array_api.atan, "arctan")
arctan2 = named(array_api.atan2, "arctan2", "x1", "x2")
arctanh = inexact(array_api.atanh, "arctanh")
ceil = inexact(array_api.ceil, "ceil")
cos = inexact(array_api.cos, "cos")
cosh = inexact(array_api.cosh, "cosh")
exp = inexact(array_api.exp, "exp")
expm1 = inexact(array_api.expm1, "expm1")
fix = inexact(array_api.trunc, "fix")
floor = inexact(array_api.floor, "floor")
log = inexact(array_api.log, "log")
log10 = inexact(array_api.log10, "log10")
log1p = inexact(array_api.log1p, "log1p")
log2 = inexact(array_api.log2, "log2")
minimum = named(array_api.minimum, "minimum", "x1", "x2")
sign = named(array_api.sign, "sign", "x")
sin = inexact(array_api.sin, "sin")
sinh = inexact(array_api.sinh, "sinh")
sqrt = inexact(array_api.sqrt, "sqrt")
square = named(array_api.square, "square", "x")
tan = inexact(array_api.tan, "tan")


@in_single_precision
def add(*xs: Operand) -> Variable:
    """Return the sum of any number of arrays, elementwise, added from the left."""
    if not xs:
        raise TypeError("add: expected at least one array")
    first: Array = xs[0]
    return reduce(array_api.add, xs[1:], as_variable(first))


def maximum(x1: Operand, x2: Operand, *xs: Operand) -> Variable:
    """Return the largest of two or more arrays, elementwise. A tie of two shares the gradient equally."""
    return reduce(_maximum, xs, _maximum(x1, x2))


def argmax(x: AnyArray, axis: int | None = None) -> Variable:
    """Return the position of the first maximum along `axis`, by default in the flattened array."""
    return array_api.argmax(x, axis=axis)


def argmin(x: AnyArray, axis: int | None = None) -> Variable:
    """Return the position of the first minimum along `axis`, by default in the flattened array."""
    return array_api.argmin(x, axis=axis)


def average(x: AnyArray, axis: Axis = None, weights: AnyArray | None = None, keepdims: bool = False) -> Variable:
    """Return the mean over `axis`, weighted by `weights` of the shape of `x` or of those axes."""
    spec = known_spec(x, "average")
    if not spec.differentiable:
        raise invalid("average", "x of a floating-point dtype", f"x is {spec!r}")
    return statistical.average(x, axis, weights, keepdims)


mean = average


def clip(x: AnyArray, x_min: Operand | None = None, x_max: Operand | None = None) -> Variable:
    """Return `x` limited to the range from `x_min` to `x_max`; None leaves a side open.

    The derivative at a bound is 1/2.
    """
    return array_api.clip(x, x_min, x_max)


def cumsum(x: AnyArray, axis: int | None = None) -> Variable:
    """Return the cumulative sums along `axis` or in the flattened array."""
    return array_api.cumulative_sum(_line(x, axis), axis=axis or 0)


def cumprod(x: AnyArray, axis: int | None = None) -> Variable:
    """Return the cumulative products along `axis` or in the flattened array."""
    return array_api.cumulative_prod(_line(x, axis), axis=axis or 0)


def identity(*inputs: AnyArray) -> Any:
    """Return one of `inputs` as a Variable; several as a tuple."""
    outputs = tuple(map(as_variable, inputs))
    return outputs[0] if len(outputs) == 1 else outputs


def logsumexp(x: AnyArray, axis: Axis = None) -> Variable:
    """Return the logarithm of the sum of exponentials over `axis`, without overflow.

    Parameters
    ----------
    x : Variable or array, real floating-point
    axis : int, tuple of int or None
    """
    real_floating(x, "logsumexp")
    return exponentials.logsumexp(x, axis=axis)


def matmul(a: AnyArray, b: AnyArray, transa: bool = False, transb: bool = False) -> Variable:
    """Return the product of two matrices, of two stacks of matrices, or of a matrix and a vector.

    Parameters
    ----------
    a, b : Variable or array
    transa, transb : bool
        Swap the last two axes of `a`, of `b` first.
    """
    return array_api.matmul(_swapped(a, transa), _swapped(b, transb))


def batch_matmul(a: AnyArray, b: AnyArray, transa: bool = False, transb: bool = False) -> Variable:
    """Return products of two stacks of matrices, transposed with `transa` and `transb`; vectors are columns."""
    a, b = (array_api.expand_dims(x, axis=2) if len(x.shape) == 2 else x for x in (a, b))
    return matmul(a, b, transa, transb)


def max(x: AnyArray, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Return the maximum over `axis`, as in `xpgrad.array_api.max`; elements that tie share the gradient equally."""
    return array_api.max(x, axis=axis, keepdims=keepdims)


def min(x: AnyArray, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Return the minimum over `axis`, as in `xpgrad.array_api.min`; elements that tie share the gradient equally."""
    return array_api.min(x, axis=axis, keepdims=keepdims)


def prod(x: AnyArray, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Return the product over `axis`, which stays with length 1 with `keepdims`."""
    return array_api.prod(x, axis=axis, keepdims=keepdims)


def rsqrt(x: AnyArray) -> Variable:
    """Return the reciprocal of the square root, elementwise."""
    return 1.0 / sqrt(x)


def sum(x: AnyArray, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Return the sum over `axis`, which stays with length 1 with `keepdims`."""
    return array_api.sum(x, axis=axis, keepdims=keepdims)


def sum_to(x: AnyArray, shape: Shape) -> Variable:
    """Return `x` summed to `shape`, over the axes that broadcasting from `shape` would add or expand."""
    lengths, spec = integers(shape, "sum_to"), known_spec(x, "sum_to")
    pairs = zip(reversed(lengths), reversed(spec.shape), strict=False)
    if len(lengths) > spec.ndim or any(length not in (1, whole) for length, whole in pairs):
        raise invalid("sum_to", f"x of a shape that {lengths} broadcasts to", f"x is {spec!r}")
    return _sum_to(x, shape=lengths)


def tensordot(a: AnyArray, b: AnyArray, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Variable:
    """Return the sum of the products of elements over axes of both arrays.

    Parameters
    ----------
    a, b : Variable or array
    axes : int, or pair of sequences of int
        Number of the last axes of `a` and first ones of `b`, or which axes of `a` and of `b`.
    """
    return array_api.tensordot(a, b, axes=axes)


def _swapped(x: Any, swap: bool) -> Any:
    return array_api.matrix_transpose(x) if swap and len(x.shape) > 1 else x


def _line(x: Any, axis: int | None) -> Any:
    return array_api.reshape(x, shape=(-1,)) if axis is None else x


digamma = inexact(special.psi, "digamma")
erf = inexact(special.erf, "erf")
erfc = inexact(special.erfc, "erfc")
erfcinv = inexact(special.erfcinv, "erfcinv")
erfcx = inexact(special.erfcx, "erfcx")
erfinv = inexact(special.erfinv, "erfinv")
lgamma = inexact(special.gammaln, "lgamma")
log_ndtr = inexact(special.log_ndtr, "log_ndtr")
ndtr = inexact(special.ndtr, "ndtr")
ndtri = inexact(special.ndtri, "ndtri")

Pair = tuple[Any, Any]


def polygamma(n: int | AnyArray, x: AnyArray) -> Variable:
    """Return the derivative of `digamma` of order `n`, elementwise.

    Parameters
    ----------
    n : Variable or array, non-negative integers
        It has no gradient, and broadcasts with `x`.
    x : Variable or array, real floating-point, positive
    """
    real_floating(x, "polygamma")
    if not isinstance(n, WHOLE):
        integral(n, "polygamma", "n")
    return special.polygamma(n, x)


def zeta(x: RealOperand, q: AnyArray) -> Variable:
    """Return the Hurwitz zeta function, the sum of ``(q + k)**-x`` over k from 0 on, elementwise.

    Parameters
    ----------
    x, q : Variable or array, real floating-point
        Above 1, and positive.
    """
    real_floating(q, "zeta", "q")
    return special.zeta(x, q)


def fmod(x: AnyArray, divisor: Operand) -> Variable:
    """Return the remainder of the division, with the sign of `x`, elementwise.

    Parameters
    ----------
    x, divisor : Variable or array, real floating-point
        The gradient of `divisor` is minus the quotient, truncated.
    """
    real_floating(x, "fmod")
    return ops.fmod(x, divisor)


def _transformed(transform: Callable[..., Variable], x: Pair, name: str) -> tuple[Variable, Variable]:
    """Return real and imaginary part of a transform, which is computed in single precision or better."""
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise invalid(name, "x as a pair of real and imaginary part", f"x is {type(x).__name__}")
    specs = [real_floating(part, name, f"x[{i}]") for i, part in enumerate(x)]
    if specs[0].shape != specs[1].shape or specs[0].dtype != specs[1].dtype:
        expect = "real and imaginary part of one shape and dtype"
        raise invalid(name, expect, f"x is {specs[0]!r} and {specs[1]!r}")
    real, imag = (array_api.astype(part, specs[0].wide, copy=False) for part in x)
    y = transform(real + 1j * imag)
    dtype = specs[0].dtype
    return array_api.astype(array_api.real(y), dtype, copy=False), array_api.astype(
        array_api.imag(y), dtype, copy=False
    )


def fft(x: Pair) -> tuple[Variable, Variable]:
    """Return real and imaginary part of the Fourier transform along the last axis.

    Parameters
    ----------
    x : pair of Variables or arrays, shape (*S, N), real floating-point
        Real and imaginary part, of the same shape and dtype. Half precision is computed in single precision.

    Raises
    ------
    InvalidType
        `x` is not such a pair.
    """
    return _transformed(array_api.fft.fft, x, "fft")


def ifft(x: Pair) -> tuple[Variable, Variable]:
    """Return real and imaginary part of the inverse Fourier transform along the last axis; `x` is as for `fft`."""
    return _transformed(array_api.fft.ifft, x, "ifft")
