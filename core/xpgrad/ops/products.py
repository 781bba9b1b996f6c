"""Kronecker products, and values of polynomials."""

from collections.abc import Sequence
from typing import Any

from xpgrad.array_api.creation import zeros_like
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.manipulation import reshape
from xpgrad.array_api.statistical import sum
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Operand


def kron(a: AnyArray, b: AnyArray, /) -> Variable:
    """Kronecker product: each element of `a` times the array `b`.

    Parameters
    ----------
    a, b : Variable or array, numeric
        The one with fewer axes gets leading axes of length 1.
    """
    a, b = as_variables("kron", a, b)
    ndim = max(a.ndim, b.ndim)
    left, right = ((1,) * (ndim - x.ndim) + x.shape for x in (a, b))
    spread = reshape(a, shape=tuple(n for length in left for n in (length, 1)))
    spread = spread * reshape(b, shape=tuple(n for length in right for n in (1, length)))
    return reshape(spread, shape=tuple(m * n for m, n in zip(left, right, strict=True)))


@in_single_precision
def polyval(p: AnyArray | Sequence[Operand], x: Operand, /) -> Variable:
    """Value at `x` of the polynomial with the coefficients `p`, the highest power first, by Horner's rule.

    Parameters
    ----------
    p : Variable or array, shape (N,), or sequence of scalars and Variables
    x : Variable, array or scalar
    """
    scalar = not isinstance(x, Variable) and (plugins.is_scalar(x) or not hasattr(x, "shape"))
    coefficients = list(p) if isinstance(p, Sequence) and not scalar else _coefficients(p)
    if scalar:
        y: Any = 0.0 * coefficients[0]
    else:
        at: Array = x
        x = as_variable(at)
        y = zeros_like(x)
    for i, coefficient in enumerate(coefficients):
        y = y * x + coefficient if i else y + coefficient
    summed: Variable = y
    return summed


def _coefficients(p: Any) -> list[Any]:
    """Return the coefficients along the first axis; their sum, 0, for an empty array."""
    p = as_variable(p)
    if not p.ndim:
        raise ShapeError("polyval: expected a vector of coefficients, got shape ()")
    return list(p) if p.shape[0] else [sum(p, axis=0)]
