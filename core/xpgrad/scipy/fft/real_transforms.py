"""Discrete cosine and sine transforms of all four types, computed with complex Fourier transforms.

The transforms are linear, so that their derivatives are also transforms. Definitions and normalisations follow SciPy.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.errors import ShapeError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable
from xpgrad.scipy.operands import inexact, numbers_beside, one_axis, reference, required, resized, zeros_beside
from xpgrad.types import AnyArray, Array

Norm = str | None
Flag = bool | None
NORMS = (None, "backward", "ortho", "forward")
INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
OPPOSITE = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _turned(x: Variable, angles: Variable) -> Variable:
    """Return ``x * exp(1j * angles)``."""
    return x * xpa.cos(angles) + 1j * (x * xpa.sin(angles))


def _cosine_1(x: Variable) -> Variable:
    extended = xpa.concat([x, xpa.flip(x[..., 1:-1], axis=-1)], axis=-1)
    return xpa.real(xpa.fft.rfft(extended))


def _cosine_2(x: Variable) -> Variable:
    # J. Makhoul, "A fast cosine transform in one and two dimensions" (1980)
    n = x.shape[-1]
    v = xpa.concat([x[..., 0::2], xpa.flip(x[..., 1::2], axis=-1)], axis=-1)
    y = xpa.fft.rfft(v)
    angles = numbers_beside(x, 0, y.shape[-1]) * (-math.pi / (2 * n))
    c, s = xpa.cos(angles), xpa.sin(angles)
    first, last = xpa.real(y) * c - xpa.imag(y) * s, xpa.real(y) * s + xpa.imag(y) * c
    return 2.0 * xpa.concat([first, -xpa.flip(last[..., 1 : (n + 1) // 2], axis=-1)], axis=-1)


def _half_turns(x: Variable) -> Variable:
    """Return the sums of ``x[n] * exp(1j * pi * n * (2 * k + 1) / (2 * N))``."""
    n = x.shape[-1]
    z = _turned(x, numbers_beside(x, 0, n) * (math.pi / (2 * n)))
    return xpa.fft.ifft(resized(z, z.ndim - 1, 2 * n), norm="forward")[..., :n]


def _cosine_3(x: Variable) -> Variable:
    n = x.shape[-1]
    half = n // 2 + 1
    reverse = xpa.flip(x[..., n - half + 1 :], axis=-1)
    other = xpa.concat([zeros_beside(x, (*x.shape[:-1], 1)), reverse], axis=-1)
    z = _turned(x[..., :half] - 1j * other, numbers_beside(x, 0, half) * (math.pi / (2 * n)))
    v = n * xpa.fft.irfft(z, n=n)
    even, odd = v[..., : (n + 1) // 2], xpa.flip(v[..., (n + 1) // 2 :], axis=-1)
    pairs = xpa.stack([even, resized(odd, odd.ndim - 1, even.shape[-1])], axis=-1)
    return xpa.reshape(pairs, (*x.shape[:-1], 2 * even.shape[-1]))[..., :n]


def _cosine_4(x: Variable) -> Variable:
    n = x.shape[-1]
    angles, y = (numbers_beside(x, 0, n) * 2.0 + 1.0) * (math.pi / (4 * n)), _half_turns(x)
    return 2.0 * (xpa.real(y) * xpa.cos(angles) - xpa.imag(y) * xpa.sin(angles))


def _sine_1(x: Variable) -> Variable:
    zero = zeros_beside(x, (*x.shape[:-1], 1))
    extended = xpa.concat([zero, x, zero, -xpa.flip(x, axis=-1)], axis=-1)
    return -xpa.imag(xpa.fft.rfft(extended))[..., 1:-1]


def _alternating(x: Variable) -> Variable:
    """Return `x` with the signs of its odd elements changed."""
    return x * (1.0 - 2.0 * xpa.remainder(numbers_beside(x, 0, x.shape[-1]), 2.0))


def _sine_2(x: Variable) -> Variable:
    return xpa.flip(_cosine_2(_alternating(x)), axis=-1)


def _sine_3(x: Variable) -> Variable:
    return _alternating(_cosine_3(xpa.flip(x, axis=-1)))


def _sine_4(x: Variable) -> Variable:
    return _alternating(_cosine_4(xpa.flip(x, axis=-1)))


Transform = Callable[[Variable], Variable]
COSINES: dict[int, Transform] = {1: _cosine_1, 2: _cosine_2, 3: _cosine_3, 4: _cosine_4}
SINES: dict[int, Transform] = {1: _sine_1, 2: _sine_2, 3: _sine_3, 4: _sine_4}


def _scaled(x: Variable, at: tuple[bool, bool], factor: float) -> Variable:
    """Return `x` with its first or last element, or both, times `factor`."""
    n = x.shape[-1]
    first, last = at
    numbers = numbers_beside(x, 0, n)
    chosen = (numbers == 0) if first else (numbers < 0)
    if last:
        chosen = chosen | (numbers == n - 1)
    return x * xpa.where(chosen, factor, xpa.ones_like(numbers))


def _ends(is_sine: bool) -> dict[int, tuple[bool, bool]]:
    """Return, by type, whether the first and the last element count half."""
    half = (not is_sine, is_sine)
    return {1: (not is_sine, not is_sine), 2: half, 3: half, 4: (False, False)}


class HostTransform(FunctionNode):
    """A transform by SciPy; a class, because its gradient is another transform."""

    of_library = True

    def __init__(self, kind: int, is_sine: bool) -> None:
        self.kind, self.is_sine = kind, is_sine

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the transform along the last axis."""
        return (getattr(required("scipy.fft", "dct"), "dst" if self.is_sine else "dct")(inputs[0], self.kind),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        """Return the transposed transform."""
        ends, (gy,) = _ends(self.is_sine)[self.kind], grad_outputs
        gx = _core(_scaled(gy, ends, 2.0) if self.kind != 3 else gy, INVERSE[self.kind], self.is_sine)
        return (_scaled(gx, ends, 0.5) if self.kind in (1, 3) else gx,)


def _core(x: Variable, kind: int, is_sine: bool) -> Variable:
    """Return the transform along the last axis, without a norm."""
    if x.size and reference("scipy.fft", "dct", x._array) is not None:
        return HostTransform(kind, is_sine).apply((x,))[0]
    return (SINES if is_sine else COSINES)[kind](x)


@in_single_precision
def _transform(
    name: str, x: Any, kind: int, n: int | None, axis: int, norm: str | None, orthogonalize: bool | None, inverse: bool
) -> Variable:
    x = inexact(x, name)
    if kind not in INVERSE:
        raise ValueError(f"{name}: expected type 1, 2, 3 or 4, got {kind!r}")
    if norm not in NORMS:
        raise ValueError(f"{name}: expected norm None, 'backward', 'ortho' or 'forward', got {norm!r}")
    along, is_sine = one_axis(axis, x, name), "st" in name
    count = x.shape[along] if n is None else n
    if count < (2 if kind == 1 and not is_sine else 1):
        raise ShapeError(f"{name}: expected more elements along axis {axis} for type {kind}, got {count}")
    if x.node.spec.complex:
        options = (kind, n, axis, norm, orthogonalize, inverse)
        return _transform(name, xpa.real(x), *options) + 1j * _transform(name, xpa.imag(x), *options)
    if inverse:
        kind, norm = INVERSE[kind], OPPOSITE[norm]
    x = resized(xpa.moveaxis(x, along, -1), x.ndim - 1, count)
    orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    ends = _ends(is_sine)
    if orthogonal and kind in (1, 3):
        x = _scaled(x, ends[kind], math.sqrt(2.0))
    y = _core(x, kind, is_sine)
    if orthogonal and kind in (1, 2):
        y = _scaled(y, ends[kind], math.sqrt(0.5))
    period = 2 * (count + (0 if kind != 1 else 1 if is_sine else -1))
    if norm in ("ortho", "forward"):
        y = y * (1.0 / period if norm == "forward" else math.sqrt(1.0 / period))
    return xpa.moveaxis(y, -1, along)


def _many(
    function: Callable[..., Variable], name: str, x: Any, kind: int, s: Any, axes: Any, norm: Any, orthogonalize: Any
) -> Variable:
    """Return the transform along several axes."""
    y = inexact(x, name)
    lengths: Sequence[Any] = [s] if isinstance(s, int) else s
    if axes is None:
        axes = range(y.ndim) if s is None else range(y.ndim - len(lengths), y.ndim)
    along = checked_axes(axes, y.ndim, name)
    lengths = [None] * len(along) if s is None else lengths
    if len(lengths) != len(along):
        raise ShapeError(f"{name}: expected a length for each of {len(along)} axes, got {s!r}")
    for axis, count in zip(along, lengths, strict=True):
        y = function(y, kind, count, axis, norm, orthogonalize)
    return y


def dct(
    x: AnyArray, type: int = 2, n: int | None = None, axis: int = -1, norm: Norm = None, orthogonalize: Flag = None
) -> Variable:
    """Return the discrete cosine transform along an axis.

    Parameters
    ----------
    x : Variable or array, numeric
    type : {1, 2, 3, 4}
    n : int, optional
        Number of elements to transform: `x` is cut off, or followed by zeros.
    axis : int
    norm : {None, "backward", "ortho", "forward"}
    orthogonalize : bool, optional
        Scale the elements at the ends so that the matrix is orthogonal; by default with the norm "ortho".

    Returns
    -------
    Variable
        With `n` elements along `axis`.
    """
    return _transform("dct", x, type, n, axis, norm, orthogonalize, False)


def idct(
    x: AnyArray, type: int = 2, n: int | None = None, axis: int = -1, norm: Norm = None, orthogonalize: Flag = None
) -> Variable:
    """Return the inverse of `dct` with the same arguments."""
    return _transform("idct", x, type, n, axis, norm, orthogonalize, True)


def dst(
    x: AnyArray, type: int = 2, n: int | None = None, axis: int = -1, norm: Norm = None, orthogonalize: Flag = None
) -> Variable:
    """Return the discrete sine transform along an axis, with arguments as for `dct`."""
    return _transform("dst", x, type, n, axis, norm, orthogonalize, False)


def idst(
    x: AnyArray, type: int = 2, n: int | None = None, axis: int = -1, norm: Norm = None, orthogonalize: Flag = None
) -> Variable:
    """Return the inverse of `dst` with the same arguments."""
    return _transform("idst", x, type, n, axis, norm, orthogonalize, True)


def dctn(
    x: AnyArray, type: int = 2, s: Any = None, axes: Any = None, norm: Norm = None, orthogonalize: Flag = None
) -> Variable:
    """Return the discrete cosine transform, as in `dct`, along several axes, by default all, with lengths `s`."""
    return _many(dct, "dctn", x, type, s, axes, norm, orthogonalize)


def idctn(
    x: AnyArray, type: int = 2, s: Any = None, axes: Any = None, norm: Norm = None, orthogonalize: Flag = None
) -> Variable:
    """Return the inverse of `dctn` with the same arguments."""
    return _many(idct, "idctn", x, type, s, axes, norm, orthogonalize)


def dstn(
    x: AnyArray, type: int = 2, s: Any = None, axes: Any = None, norm: Norm = None, orthogonalize: Flag = None
) -> Variable:
    """Return the discrete sine transform, as in `dst`, along several axes, by default all, with lengths `s`."""
    return _many(dst, "dstn", x, type, s, axes, norm, orthogonalize)


def idstn(
    x: AnyArray, type: int = 2, s: Any = None, axes: Any = None, norm: Norm = None, orthogonalize: Flag = None
) -> Variable:
    """Return the inverse of `dstn` with the same arguments."""
    return _many(idst, "idstn", x, type, s, axes, norm, orthogonalize)
