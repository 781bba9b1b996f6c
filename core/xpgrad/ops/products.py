"""Kronecker products, convolution of vectors, and values of polynomials."""

from collections.abc import Sequence
from typing import Any

from xpgrad.array_api.creation import zeros_like
from xpgrad.array_api.elementwise.magnitude import conj
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.manipulation import flip, reshape
from xpgrad.array_api.statistical import sum
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.function_node import FunctionNode
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


class Convolve(FunctionNode):
    """Full convolution; a class, because its gradients are convolutions, which no namespace provides."""

    of_library = True

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the convolution."""
        a, v = inputs
        self.retain_inputs((0, 1))
        return (plugins.backend_of(a).xp.convolve_full(a, v),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        """Return the correlations of the cotangent with the other input."""
        (gy,), (a, v) = grad_outputs, self.get_retained_inputs()
        gxs = []
        for i in target_input_indexes:
            own, other = (a, v) if i == 0 else (v, a)
            start = other.size - 1
            other = conj(other) if other.node.spec.complex else other
            gxs.append(full(gy, flip(other))[start : start + own.size])
        return tuple(gxs)


def full(a: AnyArray, v: AnyArray) -> Variable:
    """Return the full convolution of two vectors."""
    return Convolve().apply((a, v))[0]


@in_single_precision
def convolve(a: AnyArray, v: AnyArray, /, mode: str = "full") -> Variable:
    """Discrete convolution of two vectors.

    Parameters
    ----------
    a : Variable or array, shape (N,), floating-point
    v : Variable or array, shape (M,), floating-point
    mode : str
        "full" has every overlap, N + M - 1 elements; "same" the middle max(N, M) elements; "valid" those where one
        vector lies within the other, max(N, M) - min(N, M) + 1.
    """
    a, v = as_variables("convolve", a, v)
    if a.ndim != 1 or v.ndim != 1 or not a.size or not v.size:
        raise ShapeError(f"convolve: expected two vectors with elements, got shapes {a.shape} and {v.shape}")
    longer, shorter = max(a.size, v.size), min(a.size, v.size)
    y = full(a, v)
    if mode == "full":
        return y
    if mode == "same":
        start = (shorter - 1) // 2
        return y[start : start + longer]
    if mode == "valid":
        return y[shorter - 1 : longer]
    raise ValueError(f"convolve: expected the mode full, same or valid, got {mode!r}")
