"""Discrete convolution of two vectors."""

from typing import Any

from xpgrad.array_api.elementwise.complex_parts import conj
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.manipulation import flip
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Array


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
