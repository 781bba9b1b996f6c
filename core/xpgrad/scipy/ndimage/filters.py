"""Filters: weighted sums and extrema over the neighbourhood of each element."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.backend.indexing import at_axis
from xpgrad.errors import ShapeError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.operands import as_variables, is_operand
from xpgrad.graph.variable import Variable
from xpgrad.ops.padding import pad
from xpgrad.scipy.operands import beside, inexact, one_axis, reference, required
from xpgrad.scipy.signal.convolution import MAX_TERMS, fftconvolve
from xpgrad.types import AnyArray, Array, as_list

MODES = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "constant": "constant", "grid-constant": "constant",
    "nearest": "edge", "mirror": "reflect", "wrap": "wrap", "grid-wrap": "wrap",
}  # fmt: skip
"""Modes of `pad` by SciPy's names."""


def per_axis(given: Any, count: int, name: str, function: str) -> list[Any]:
    """Return an option for each axis: a number or a string applies to all axes."""
    found = [given] * count if isinstance(given, str) or not isinstance(given, Sequence) else list(given)
    if len(found) != count:
        raise ShapeError(f"{function}: expected {name} for each of {count} axes, got {given!r}")
    return found


def extended(x: Variable, axis: int, before: int, after: int, mode: str, cval: float, function: str) -> Variable:
    """Return an image continued beyond both ends of an axis."""
    if mode not in MODES:
        raise ValueError(f"{function}: expected the mode {', '.join(MODES)}, got {mode!r}")
    if not (before or after) or not x.shape[axis]:
        return x
    if isinstance(cval, Variable) and MODES[mode] == "constant":  # a constant of `pad` would have no gradient
        return extended(x - cval, axis, before, after, mode, 0.0, function) + cval
    options: dict[str, Any] = {"constant_values": cval} if MODES[mode] == "constant" else {}
    widths = [(before, after) if i == axis else (0, 0) for i in range(x.ndim)]
    return pad(x, widths, MODES[mode], **options)


def reach(size: int, origin: int, function: str) -> tuple[int, int]:
    """Return how far a window of `size` elements reaches before and after its place."""
    before = size // 2 + origin
    if not 0 <= before < size:
        raise ValueError(f"{function}: expected an origin within the window of {size} elements, got {origin}")
    return before, size - 1 - before


def weighted(terms: Sequence[Variable], weights: Sequence[Any]) -> Variable:
    """Return a weighted sum; weights of 0 that are Python numbers are left out."""
    pairs = zip(terms, weights, strict=True)
    return total([term * weight for term, weight in pairs if not isinstance(weight, float) or weight], terms[0])


def total(parts: Sequence[Variable], x: Variable) -> Variable:
    """Return the sum of parts, or zeros with the shape of `x` if there are none."""
    return sum(parts[1:], start=parts[0]) if parts else xpa.zeros_like(x)


def summed(
    x: Variable, weights: Sequence[Any], axis: int, mode: str, cval: float, function: str, origin: int = 0
) -> Variable:
    """Return the correlation along an axis with weights, which are numbers or Variables."""
    if not weights:
        raise ShapeError(f"{function}: expected at least one weight, got none")
    before, after = reach(len(weights), origin, function)
    numbers = all(isinstance(w, float) for w in weights) and not isinstance(cval, Variable)
    on_host = numbers and x.size and reference("scipy.ndimage", "correlate1d", x._array)
    if on_host and HostCorrelation.covers(weights, mode, origin):
        return HostCorrelation(weights, axis, mode, cval, origin).apply((x,))[0]
    n = x.shape[axis]
    x = extended(x, axis, before, after, mode, cval, function)
    if on_host:
        y = HostCorrelation(weights, axis, "constant", 0.0, origin).apply((x,))[0]
        return y[at_axis(axis, slice(before, before + n))]
    return weighted([x[at_axis(axis, slice(k, k + n))] for k in range(len(weights))], weights)


class HostCorrelation(FunctionNode):
    """Weighted sums along an axis by SciPy; a class, because its gradient is another one."""

    of_library = True

    def __init__(self, weights: Sequence[Any], axis: int, mode: str, cval: float, origin: int) -> None:
        self.weights, self.axis, self.mode, self.cval, self.origin = list(weights), axis, mode, cval, origin

    @staticmethod
    def covers(weights: Sequence[Any], mode: str, origin: int) -> bool:
        """Return whether the adjoint is a correlation in the same mode."""
        even = mode in ("reflect", "grid-mirror") and not origin and len(weights) % 2 == 1 and weights == weights[::-1]
        return even or mode in ("constant", "grid-constant", "wrap", "grid-wrap")

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the sums."""
        correlate = required("scipy.ndimage", "correlate1d").correlate1d
        return (correlate(inputs[0], self.weights, self.axis, None, self.mode, self.cval, self.origin),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        """Return the sums of the cotangent with the weights in reverse."""
        origin = -self.origin - (len(self.weights) % 2 == 0)
        return (summed(grad_outputs[0], self.weights[::-1], self.axis, self.mode, 0.0, "correlate1d", origin),)


def _weights(weights: Any, x: Variable, conjugate: bool, name: str) -> tuple[Variable, list[Any]]:
    """Return an image and a vector of weights as a list."""
    if not is_operand(weights):
        return x, [float(w) for w in as_list(weights, "weights")]
    x, w = as_variables(name, x, weights)
    if w.ndim != 1:
        raise ShapeError(f"{name}: expected a vector of weights, got shape {w.shape}")
    w = xpa.conj(w) if conjugate and w.node.spec.complex else w
    return x, [w[i] for i in range(w.shape[0])]


@in_single_precision
def correlate1d(
    input: AnyArray, weights: Any, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Variable:
    """Return the correlation of an image with a vector along an axis.

    Parameters
    ----------
    input : Variable or array, floating-point
    weights : Variable, array or sequence of float, shape (K,)
        Complex weights are conjugated, as in SciPy.
    axis : int
    mode : {"reflect", "constant", "nearest", "mirror", "wrap"}
        Continuation of the image: ``d c b a | a b c d | d c b a``, `cval`, the last element,
        ``d c b | a b c d | c b a``, or the opposite end.
    cval : float
    origin : int
        Shift of the window; 0 centres it, positive values shift it to the left.
    """
    x, w = _weights(weights, inexact(input, "correlate1d"), True, "correlate1d")
    return summed(x, w, one_axis(axis, x, "correlate1d"), mode, cval, "correlate1d", origin)


@in_single_precision
def convolve1d(
    input: AnyArray, weights: Any, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Variable:
    """Return the convolution of an image with a vector along an axis; arguments as for `correlate1d`."""
    x, w = _weights(weights, inexact(input, "convolve1d"), False, "convolve1d")
    shifted = -origin - (len(w) % 2 == 0)
    return summed(x, w[::-1], one_axis(axis, x, "convolve1d"), mode, cval, "convolve1d", shifted)


def _neighbourhoods(input: Any, weights: Any, axes: Any, name: str) -> tuple[Variable, Variable, tuple[int, ...]]:
    x = inexact(input, name)
    w = beside(x, weights, name)
    along = tuple(range(x.ndim)) if axes is None else checked_axes(axes, x.ndim, name)
    if w.ndim != len(along):
        raise ShapeError(f"{name}: expected weights with {len(along)} axes, got shape {w.shape}")
    return x, w, along


def _correlated(
    x: Variable, w: Variable, along: tuple[int, ...], mode: Any, cval: float, origins: list[int], name: str
) -> Variable:
    shape = x.shape
    for axis, size, each, origin in zip(along, w.shape, per_axis(mode, len(along), "mode", name), origins, strict=True):
        x = extended(x, axis, *reach(size, origin, name), each, cval, name)
    if math.prod(w.shape) > MAX_TERMS and not (x.node.spec.complex or w.node.spec.complex):
        wide = [1] * x.ndim
        for axis, size in zip(along, w.shape, strict=True):
            wide[axis] = size
        order = sorted(range(len(along)), key=lambda i: along[i])
        w = xpa.flip(w)
        w = xpa.permute_dims(w, tuple(order)) if order != list(range(len(along))) else w
        return fftconvolve(x, xpa.reshape(w, tuple(wide)), "valid", along)
    terms = []
    for index in itertools.product(*map(range, w.shape)):
        place = [slice(None)] * x.ndim
        for axis, i in zip(along, index, strict=True):
            place[axis] = slice(i, i + shape[axis])
        terms.append(w[index] * x[tuple(place)])
    return total(terms, x)


@in_single_precision
def correlate(
    input: AnyArray, weights: Any, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0, axes: Any = None
) -> Variable:
    """Return the correlation of an image with an array of weights.

    Parameters
    ----------
    input : Variable or array, floating-point
    weights : Variable or array, with an axis for each of `axes`, in their order
    mode, cval, origin
        As for `correlate1d`; modes and origins may be given for each axis.
    axes : int or sequence of int, optional
        By default all.
    """
    x, w, along = _neighbourhoods(input, weights, axes, "correlate")
    w = xpa.conj(w) if w.node.spec.complex else w
    return _correlated(x, w, along, mode, cval, per_axis(origin, len(along), "origin", "correlate"), "correlate")


@in_single_precision
def convolve(
    input: AnyArray, weights: Any, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0, axes: Any = None
) -> Variable:
    """Return the convolution of an image with an array of weights; arguments as for `correlate`."""
    x, w, along = _neighbourhoods(input, weights, axes, "convolve")
    given = per_axis(origin, len(along), "origin", "convolve")
    origins = [-each - (size % 2 == 0) for each, size in zip(given, w.shape, strict=True)]
    return _correlated(x, xpa.flip(w), along, mode, cval, origins, "convolve")


@in_single_precision
def uniform_filter1d(
    input: AnyArray, size: int, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Variable:
    """Return the means of windows of `size` elements along an axis; other arguments as for `correlate1d`."""
    x = inexact(input, "uniform_filter1d")
    if size < 1:
        raise ValueError(f"uniform_filter1d: expected a size of at least 1, got {size}")
    along, name = one_axis(axis, x, "uniform_filter1d"), "uniform_filter1d"
    if size <= MAX_TERMS:
        return summed(x, [1.0 / size] * size, along, mode, cval, name, origin)
    n = x.shape[along]  # each sum is the difference of two sums from the beginning
    x = extended(x, along, *reach(size, origin, name), mode, cval, name)
    sums = xpa.cumulative_sum(x, axis=along, include_initial=True)
    return (sums[at_axis(along, slice(size, size + n))] - sums[at_axis(along, slice(0, n))]) / size


def uniform_filter(
    input: AnyArray, size: Any = 3, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0, axes: Any = None
) -> Variable:
    """Return the means of neighbourhoods of `size` elements along each axis; arguments as for `correlate`."""
    x = inexact(input, "uniform_filter")
    along = tuple(range(x.ndim)) if axes is None else checked_axes(axes, x.ndim, "uniform_filter")
    options = (per_axis(o, len(along), "an option", "uniform_filter") for o in (size, mode, origin))
    for axis, count, each, place in zip(along, *options, strict=True):
        if count > 1:
            x = uniform_filter1d(x, count, axis, each, cval, place)
    return x


def _edges(input: Any, axis: int, mode: Any, cval: float, smooth: list[float], name: str) -> Variable:
    x = inexact(input, name)
    along = one_axis(axis, x, name)
    modes = per_axis(mode, x.ndim, "mode", name)
    x = summed(x, [-1.0, 0.0, 1.0], along, modes[along], cval, name)
    for other in range(x.ndim):
        if other != along:
            x = summed(x, smooth, other, modes[other], cval, name)
    return x


@in_single_precision
def sobel(input: AnyArray, axis: int = -1, mode: Any = "reflect", cval: float = 0.0) -> Variable:
    """Return differences along an axis, smoothed along the other axes by 1, 2, 1; arguments as for `correlate1d`."""
    return _edges(input, axis, mode, cval, [1.0, 2.0, 1.0], "sobel")


@in_single_precision
def prewitt(input: AnyArray, axis: int = -1, mode: Any = "reflect", cval: float = 0.0) -> Variable:
    """Return differences along an axis, smoothed along the other axes by 1, 1, 1; arguments as for `correlate1d`."""
    return _edges(input, axis, mode, cval, [1.0, 1.0, 1.0], "prewitt")
