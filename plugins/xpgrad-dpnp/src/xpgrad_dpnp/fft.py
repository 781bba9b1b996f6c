"""The standard's Fourier transforms, by dpnp's functions on nonempty arrays without strides of zero."""

from collections.abc import Sequence
from typing import Any

import dpnp

from xpgrad.types import Array, Dtype, Kernel
from xpgrad_dpnp.devices import is_processor
from xpgrad_dpnp.layouts import on_plain, plain

LONG = 8192
"""Beyond this, oneMKL gives wrong results of one real transform of even length in single precision on CPUs."""
SINGLE = frozenset(map(dpnp.dtype, ("complex64", "float32")))
FROM_HALF = frozenset(("irfft", "hfft", "irfftn"))
"""Transforms of the first half of a spectrum, with real results."""
TO_HALF = frozenset(("rfft", "ihfft", "rfftn"))


def along_one_axis(name: str) -> Kernel:
    """Return a transform of dpnp along one axis."""

    def transform(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str | None = "backward") -> Array:
        lengths = _lengths(name, x, None if n is None else [n], [axis])
        if not x.size and all(lengths.values()):
            return _nothing(name, x, lengths)
        return _result(name, x, getattr(dpnp.fft, name)(_input(name, x, lengths), n=n, axis=axis, norm=norm))

    return transform


def along_axes(name: str) -> Kernel:
    """Return a transform of dpnp along several axes."""

    def transform(
        x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = "backward"
    ) -> Array:
        lengths = _lengths(name, x, s, axes)
        if not x.size and all(lengths.values()):
            return _nothing(name, x, lengths)
        return _result(name, x, getattr(dpnp.fft, name)(_input(name, x, lengths), s=s, axes=axes, norm=norm))

    return transform


fft, ifft, rfft, irfft, hfft, ihfft = map(along_one_axis, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(along_axes, ("fftn", "ifftn", "rfftn", "irfftn"))


def _lengths(name: str, x: Array, s: Sequence[int] | None, axes: Sequence[int] | None) -> dict[int, int]:
    """Return the number of points along each transformed axis, in the order of `axes`."""
    if axes is None:
        axes = range(x.ndim)[-len(s) :] if s else range(x.ndim)
    if s is not None:
        return dict(zip(axes, s, strict=False))
    found = {axis: x.shape[axis] for axis in axes}
    if name in FROM_HALF and found:
        found[axes[-1]] = 2 * (x.shape[axes[-1]] - 1) if x.shape[axes[-1]] else 0
    return found


def _nothing(name: str, x: Array, lengths: dict[int, int]) -> Array:
    """Return the transform of an array without elements, for which dpnp gives wrong results or raises an error."""
    shape = list(x.shape)
    for axis, length in lengths.items():
        shape[axis] = length
    if name in TO_HALF:
        last = [*lengths][-1]
        shape[last] = lengths[last] // 2 + 1
    return dpnp.zeros(shape, dtype=_dtype(name, x), device=x.device)


def _input(name: str, x: Array, lengths: dict[int, int]) -> Array:
    """Return the input of dpnp's transform: for real results a copy, because dpnp overwrites its input.

    The copy is in double precision where oneMKL's single precision may be wrong.
    """
    if name not in FROM_HALF:
        return plain(x)
    length = [*lengths.values()][-1] if lengths else 0
    if x.dtype in SINGLE and length > LONG and length % 2 == 0 and is_processor(x.device):
        return dpnp.astype(x, "complex128", order="C")
    return dpnp.copy(x, order="C")


def _result(name: str, x: Array, y: Array) -> Array:
    return dpnp.astype(y, _dtype(name, x), copy=False)


def _dtype(name: str, x: Array) -> Dtype:
    if name in FROM_HALF:
        return dpnp.float32 if x.dtype in SINGLE else dpnp.float64
    return dpnp.complex64 if x.dtype in SINGLE else dpnp.complex128


def __getattr__(name: str) -> Any:
    found = getattr(dpnp.fft, name)
    return on_plain(found) if callable(found) and not isinstance(found, type) else found
