"""Special functions, Fourier transforms and Einstein sums under Chainer's names."""

from collections.abc import Callable
from typing import Any

from xpgrad import array_api, ops, special
from xpgrad.functions.checks import inexact, integral, invalid, real_floating
from xpgrad.graph.variable import Variable
from xpgrad.ops import einsum
from xpgrad.types import WHOLE, AnyArray, Operand, RealOperand

__all__ = [
    "digamma", "einsum", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "fft", "fmod", "ifft", "lgamma", "log_ndtr",
    "ndtr", "ndtri", "polygamma", "zeta",
]  # fmt: skip

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
