"""The extension `fft`: discrete Fourier transforms, differentiable to any order, along one axis or several.

A transform is linear and its matrix symmetric, so the gradient of a complex one is the same transform of the cotangent.
The transforms between real and Hermitian data form pairs: each is the other's transpose up to the weights of the
frequencies that the half spectrum represents twice. Where `n` or `s` pad, the gradient is cropped, and vice versa.

`fftfreq` and `rfftfreq` are creation functions, so they are defined separately in each backend's namespace.
"""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.array_api.creation import created
from xpgrad.array_api.shared.copying import place_of
from xpgrad.backend.backend import Backend
from xpgrad.backend.current import current_device
from xpgrad.backend.indexing import at_axis
from xpgrad.backend.spec import Spec
from xpgrad.backend.spellings import dtype_of
from xpgrad.boundary import bounded
from xpgrad.errors import DtypeError
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable
from xpgrad.listing import missing_name
from xpgrad.types import AnyArray, Array, Dtype, Namespace, integers

__all__ = [  # noqa: RUF022 - in the standard's order
    "fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft", "fftshift", "ifftshift",
]  # fmt: skip


CREATORS = ("fftfreq", "rfftfreq")
Axes = Sequence[int] | None


def _transformed(axes: Axes, s: Axes, spec: Spec) -> tuple[int, ...]:
    """Return the axes of a transform, none negative: `axes`, else the last ``len(s)`` axes, else all."""
    if axes is None:
        axes = range(spec.ndim if s is None else len(s))
        return tuple(a + spec.ndim - len(axes) for a in axes)
    return tuple(a % spec.ndim for a in axes)


def _resized(xp: Namespace, g: Array, spec: Spec, axes: Sequence[int]) -> Array:
    """Return `g` cropped, or padded with zeros, to the lengths of `spec` along `axes`."""
    for axis in axes:
        have, wanted = g.shape[axis], spec.shape[axis]
        if have > wanted:
            g = g[at_axis(axis, slice(0, wanted))]
        elif have < wanted:
            shape = (*g.shape[:axis], wanted - have, *g.shape[axis + 1 :])
            g = xp.concat([g, xp.zeros(shape, dtype=g.dtype, device=spec.device)], axis=axis)
    return g


def _not_empty(xp: Namespace, x: Array, *axes: int) -> Array:
    """Return `x` with a zero appended along each empty axis in `axes`: NumPy returns uninitialised memory there."""
    for axis in axes:
        x = x if x.shape[axis] else xp.sum(x, axis=axis, keepdims=True)
    return x


def _weighted(xp: Namespace, g: Array, n: int, axis: int, inner: float, dtype: Dtype, spec: Spec) -> Array:
    """Return the half spectrum `g` of `n` elements; frequencies that represent two are multiplied by `inner`."""
    half, ends = g.shape[axis], 1 + (n % 2 == 0)
    parts = [xp.ones((1,), dtype=dtype, device=spec.device)]
    if half > ends:
        parts.append(xp.full((half - ends,), inner, dtype=dtype, device=spec.device))
    if ends == 2:
        parts.append(parts[0])
    weights = xp.concat(parts, axis=0) if len(parts) > 1 else parts[0]
    return g * xp.reshape(weights, shape=(half,) + (1,) * (g.ndim - axis - 1))


# Complex to complex


def _one_axis_rule(transform: str) -> Callable[..., Any]:
    def rule(xp: Namespace, gy: Array, x_spec: Spec, axis: int, norm: str) -> Array:
        return _resized(xp, getattr(xp.fft, transform)(gy, axis=axis, norm=norm), x_spec, (axis % x_spec.ndim,))

    return rule


def _many_axes_rule(transform: str) -> Callable[..., Any]:
    def rule(xp: Namespace, gy: Array, x_spec: Spec, s: Axes, axes: Axes, norm: str) -> Array:
        along = _transformed(axes, s, x_spec)
        return _resized(xp, getattr(xp.fft, transform)(gy, axes=along, norm=norm), x_spec, along)

    return rule


@primitive(linear=("x",), extension="fft", x=_one_axis_rule("fft"))
def fft(xp: Namespace, x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Discrete Fourier transform along one axis: ``y[k] = sum(x[j] * exp(-2πi j k / n))``.

    Parameters
    ----------
    x : Variable or array, complex floating-point
    n : int or None
        Length of the transform; `x` is cropped, or padded with zeros, at the end. By default the length of the axis.
    axis : int
    norm : {"backward", "ortho", "forward"}
        Divide by n in the inverse transform, by the square root of n in both, or by n in the forward transform.
    """
    return xp.fft.fft(x, n=n, axis=axis, norm=norm)


@primitive(linear=("x",), extension="fft", x=_one_axis_rule("ifft"))
def ifft(xp: Namespace, x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Inverse of `fft` along one axis, with the same parameters as `fft`."""
    return xp.fft.ifft(x, n=n, axis=axis, norm=norm)


@primitive(linear=("x",), extension="fft", x=_many_axes_rule("fftn"))
def fftn(xp: Namespace, x: AnyArray, /, *, s: Axes = None, axes: Axes = None, norm: str = "backward") -> Array:
    """Discrete Fourier transform along several axes.

    Parameters
    ----------
    x : Variable or array, complex floating-point
    s : sequence of int or None
        Lengths of the transform, one for each of `axes`; -1 is the length of the axis.
    axes : sequence of int or None
        By default all axes, or the last ``len(s)`` with `s`.
    norm : {"backward", "ortho", "forward"}
        As for `fft`, where n is the product of all lengths.
    """
    s, axes = _lengths(x, s, axes)
    return xp.fft.fftn(x, s=s, axes=axes, norm=norm)


@primitive(linear=("x",), extension="fft", x=_many_axes_rule("ifftn"))
def ifftn(xp: Namespace, x: AnyArray, /, *, s: Axes = None, axes: Axes = None, norm: str = "backward") -> Array:
    """Inverse of `fftn` along several axes, with the same parameters as `fftn`."""
    s, axes = _lengths(x, s, axes)
    return xp.fft.ifftn(x, s=s, axes=axes, norm=norm)


def _lengths(x: Array, s: Axes, axes: Axes) -> tuple[Axes, Axes]:
    """Return `s` and `axes` in a form that all libraries accept: axes are given if `s` is, and `s` has no -1."""
    if s is None:
        return None, axes
    axes = tuple(range(x.ndim - len(s), x.ndim)) if axes is None else integers(axes)
    if len(axes) == len(s):  # else the library raises
        s = tuple(x.shape[a] if n == -1 else n for n, a in zip(s, axes, strict=True))
    return s, axes


# Real to Hermitian and back


def _halving_rule(transform: str) -> Callable[..., Any]:
    def rule(xp: Namespace, gy: Array, x_spec: Spec, n: int | None, axis: int, norm: str) -> Array:
        axis = axis % x_spec.ndim
        n = x_spec.shape[axis] if n is None else n
        half = _weighted(xp, gy, n, axis, 0.5, x_spec.dtype, x_spec)
        return _resized(xp, getattr(xp.fft, transform)(half, n=n, axis=axis, norm=norm), x_spec, (axis,))

    return rule


def _doubling_rule(transform: str) -> Callable[..., Any]:
    def rule(xp: Namespace, gy: Array, x_spec: Spec, axis: int, norm: str) -> Array:
        axis = axis % x_spec.ndim
        half = getattr(xp.fft, transform)(gy, axis=axis, norm=norm)
        return _resized(xp, _weighted(xp, half, gy.shape[axis], axis, 2.0, gy.dtype, x_spec), x_spec, (axis,))

    return rule


@primitive(linear=("x",), extension="fft", x=_halving_rule("hfft"))
def rfft(xp: Namespace, x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """First half, frequencies 0 to ``n // 2``, of the discrete Fourier transform of real data along one axis.

    Parameters
    ----------
    x : Variable or array, real floating-point
    n : int or None
        Length of the transform, by default the length of the axis.
    axis, norm
        As for `fft`.
    """
    return xp.fft.rfft(x, n=n, axis=axis, norm=norm)


@primitive(linear=("x",), extension="fft", x=_doubling_rule("ihfft"))
def irfft(xp: Namespace, x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Inverse of `rfft` along one axis: real data from the first half of their transform.

    Parameters
    ----------
    x : Variable or array, complex floating-point
        The imaginary parts of frequency 0 and, for an even `n`, of the last frequency have no effect and no gradient.
    n : int or None
        Length of the result, by default ``2 * (m - 1)``, where m is the length of the axis.
    axis, norm
        As for `fft`.
    """
    return xp.fft.irfft(x if n is None else _not_empty(xp, x, axis), n=n, axis=axis, norm=norm)


@primitive(linear=("x",), extension="fft", x=_doubling_rule("rfft"))
def hfft(xp: Namespace, x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Discrete Fourier transform, a real spectrum, of data with Hermitian symmetry whose first half is `x`.

    Parameters
    ----------
    x : Variable or array, complex floating-point
        The imaginary parts of element 0 and, for an even `n`, of the last element have no effect and no gradient.
    n : int or None
        Length of the result, by default ``2 * (m - 1)``, where m is the length of the axis.
    axis, norm
        As for `fft`.
    """
    return xp.fft.hfft(x if n is None else _not_empty(xp, x, axis), n=n, axis=axis, norm=norm)


@primitive(linear=("x",), extension="fft", x=_halving_rule("irfft"))
def ihfft(xp: Namespace, x: AnyArray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Inverse of `hfft` along one axis: the first half of data with a real spectrum `x`; parameters as for `rfft`."""
    return xp.fft.ihfft(x, n=n, axis=axis, norm=norm)


def _rfftn_rule(xp: Namespace, gy: Array, x_spec: Spec, s: Axes, axes: Axes, norm: str) -> Array:
    *others, last = _transformed(axes, s, x_spec)
    n = x_spec.shape[last] if s is None or s[-1] == -1 else s[-1]
    if others:
        gy = _resized(xp, xp.fft.fftn(gy, axes=others, norm=norm), x_spec, others)
    half = _weighted(xp, gy, n, last, 0.5, x_spec.dtype, x_spec)
    return _resized(xp, xp.fft.hfft(half, n=n, axis=last, norm=norm), x_spec, (last,))


@primitive(linear=("x",), extension="fft", x=_rfftn_rule)
def rfftn(xp: Namespace, x: AnyArray, /, *, s: Axes = None, axes: Axes = None, norm: str = "backward") -> Array:
    """Discrete Fourier transform of real data along several axes: the first half along the last axis.

    Parameters
    ----------
    x : Variable or array, real floating-point
    s, axes, norm
        As for `fftn`.
    """
    s, axes = _lengths(x, s, axes)
    return xp.fft.rfftn(x, s=s, axes=axes, norm=norm)


def _irfftn_rule(xp: Namespace, gy: Array, x_spec: Spec, s: Axes, axes: Axes, norm: str) -> Array:
    *others, last = _transformed(axes, s, x_spec)
    half = _weighted(xp, xp.fft.ihfft(gy, axis=last, norm=norm), gy.shape[last], last, 2.0, gy.dtype, x_spec)
    if others:
        half = xp.fft.ifftn(half, axes=others, norm=norm)
    return _resized(xp, half, x_spec, (*others, last))


@primitive(linear=("x",), extension="fft", x=_irfftn_rule)
def irfftn(xp: Namespace, x: AnyArray, /, *, s: Axes = None, axes: Axes = None, norm: str = "backward") -> Array:
    """Inverse of `rfftn` along several axes.

    Parameters
    ----------
    x : Variable or array, complex floating-point
    s : sequence of int or None
        Lengths of the result. By default the lengths of `x`, but ``2 * (m - 1)`` along the last of `axes`.
    axes, norm
        As for `fftn`.
    """
    s = None if s is None else integers(s, "fft.irfftn")
    if s and s[-1] == -1:
        s = (*s[:-1], 2 * (x.shape[-1 if axes is None else axes[-1]] - 1))
    s, axes = _lengths(x, s, axes)
    return xp.fft.irfftn(x if s is None or axes is None else _not_empty(xp, x, *axes), s=s, axes=axes, norm=norm)


# Helpers


@primitive(linear=("x",), extension="fft", x=lambda xp, gy, axes: xp.fft.ifftshift(gy, axes=axes))
def fftshift(xp: Namespace, x: AnyArray, /, *, axes: int | Axes = None) -> Array:
    """The elements shifted such that frequency 0 is in the middle along `axes`, by default along all axes."""
    return xp.fft.fftshift(x, axes=axes)


@primitive(linear=("x",), extension="fft", x=lambda xp, gy, axes: xp.fft.fftshift(gy, axes=axes))
def ifftshift(xp: Namespace, x: AnyArray, /, *, axes: int | Axes = None) -> Array:
    """Inverse of `fftshift`, by default along all axes."""
    return xp.fft.ifftshift(x, axes=axes)


@functools.cache
def creators(backend: Backend) -> dict[str, Callable[..., Variable]]:
    """Return the creation functions of the extension for the namespace of `backend`, by name."""

    def creator(name: str) -> Callable[..., Variable]:
        def create(n: int, /, *, d: float = 1.0, dtype: Dtype | None = None, device: Any = None) -> Variable:
            owner, handle = place_of(backend, device)
            if dtype is None:
                return created(owner, name, getattr(owner.namespace.fft, name), n, d=d, device=handle)
            own = dtype_of(dtype, owner, name)
            if not owner.is_kind(own, "real floating"):
                raise DtypeError(f"{name}: expected a real floating-point dtype, got {owner.dtype_name(own)}")
            return created(owner, name, getattr(owner.namespace.fft, name), n, d=d, dtype=own, device=handle)

        create.__name__ = create.__qualname__ = name
        create.__doc__ = f"""Return the frequencies of {name.removesuffix("freq")}, in cycles per unit of `d`.

        Parameters
        ----------
        n : int
            Length of the transform.
        d : float
            Distance of the samples.
        dtype : real floating-point dtype or None
        device : as `get_device` takes it, or None
        """
        return bounded(create, name)

    return {name: creator(name) for name in CREATORS}


if TYPE_CHECKING:  # defined by the default device's backend

    def fftfreq(n: int, /, *, d: float = 1.0, dtype: Dtype | None = None, device: Any = None) -> Variable: ...

    def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Dtype | None = None, device: Any = None) -> Variable: ...

else:

    def __getattr__(name: str) -> Any:
        """Return a creation function of the default device's backend."""
        if name not in CREATORS:
            raise missing_name(__name__, name, __dir__)
        return creators(current_device().backend)[name]


def __dir__() -> list[str]:
    return sorted([*__all__, *CREATORS])
