"""Analytic signals, and spectra of the parts of a signal."""

import math
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.operands import is_operand
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.scipy.operands import (
    from_host,
    inexact,
    integers_beside,
    numbers_beside,
    one_axis,
    padded,
    real_part_of,
    required,
    resized,
    zeros_beside,
)
from xpgrad.scipy.signal.smoothing import continued
from xpgrad.scipy.signal.smoothing import detrend as without_trend
from xpgrad.types import AnyArray

BOUNDARIES = ("zeros", "even", "odd", "constant", None)
Spectra = tuple[Variable, Variable, Variable]


@in_single_precision
def hilbert(x: AnyArray, N: int | None = None, axis: int = -1) -> Variable:
    """Return the analytic signal, whose imaginary part is the Hilbert transform.

    Parameters
    ----------
    x : Variable or array, real floating-point
    N : int, optional
        Number of elements: `x` is cut off, or followed by zeros.
    axis : int
    """
    x = inexact(x, "hilbert")
    if x.node.spec.complex:
        raise DtypeError(f"hilbert: expected real numbers, got {x.node.spec!r}")
    along = one_axis(axis, x, "hilbert")
    x = xpa.moveaxis(x, along, -1)
    n = x.shape[-1] if N is None else N
    if n < 1:
        raise ShapeError(f"hilbert: expected at least one element along axis {axis}, got {n}")
    numbers = numbers_beside(x, 0, n)
    ones = xpa.ones_like(numbers)
    positive = xpa.where(numbers < (n + 1) // 2, 2.0 * ones, xpa.zeros_like(ones))
    middle = (numbers == 0) | ((numbers == n // 2) if n % 2 == 0 else (numbers == 0))
    spectrum = xpa.fft.fft(resized(x, x.ndim - 1, n) + 0j) * xpa.where(middle, ones, positive)
    return xpa.moveaxis(xpa.fft.ifft(spectrum), -1, along)


def _window(
    x: Variable, window: Any, nperseg: int | None, noverlap: int | None, length: int | None, share: int, name: str
) -> tuple[Variable, int]:
    """Return the window of the parts of a signal of `length`, and the distance of neighbouring parts."""
    if isinstance(window, (str, tuple, float)):
        n = 256 if nperseg is None else nperseg
        if n < 1:
            raise ValueError(f"{name}: expected nperseg of at least 1, got {n}")
        w = from_host(real_part_of(x), required("scipy.signal", name).get_window(window, min(n, length or n)))
    else:
        w = as_variable(window) if is_operand(window) else from_host(real_part_of(x), window)
        if w.ndim != 1 or w.shape[0] != (nperseg or w.shape[0]) or w.shape[0] > (length or w.shape[0]):
            most = "" if length is None else f" for a signal of {length}"
            raise ShapeError(f"{name}: expected a window of shape ({nperseg or 'n'},){most}, got {w.shape}")
    noverlap = w.shape[0] // share if noverlap is None else noverlap
    if noverlap >= w.shape[0]:
        raise ValueError(f"{name}: expected noverlap below nperseg={w.shape[0]}, got {noverlap}")
    return w, w.shape[0] - noverlap


def _scale(w: Variable, fs: float, scaling: str, name: str) -> Variable:
    if scaling == "spectrum":
        return 1.0 / xpa.sum(w) ** 2
    if scaling in ("psd", "density"):
        return 1.0 / (fs * xpa.sum(w * w))
    raise ValueError(f"{name}: unknown scaling {scaling!r}")


def _frames(x: Variable, nperseg: int, step: int) -> Variable:
    """Return the parts of a signal, in the last two axes (part, element)."""
    count = (x.shape[-1] - nperseg) // step + 1
    place = integers_beside(x, 0, count)[:, None] * step + integers_beside(x, 0, nperseg)
    flat = xpa.take(x, xpa.reshape(place, (-1,)), axis=-1)
    return xpa.reshape(flat, (*x.shape[:-1], count, nperseg))


def _spectra(
    x: Variable, w: Variable, fs: float, step: int, nfft: int | None, detrend: Any, onesided: bool, axis: int,
    name: str,
) -> tuple[Variable, Variable]:  # fmt: skip
    """Return frequencies, and the Fourier transforms of the parts, in the last two axes (part, frequency)."""
    nperseg = w.shape[0]
    size = nperseg if nfft is None else nfft
    if size < nperseg:
        raise ValueError(f"{name}: expected nfft of at least nperseg={nperseg}, got {nfft}")
    parts = _frames(x, nperseg, step)
    if callable(detrend):
        changed: Any = detrend(xpa.moveaxis(parts, -1, axis))
        parts = xpa.moveaxis(changed, axis, -1)
    elif detrend:
        parts = without_trend(parts, -1, detrend)
    parts = resized(parts * w, parts.ndim - 1, size)
    if onesided and not x.node.spec.complex:
        return numbers_beside(x, 0, size // 2 + 1) * (fs / size), xpa.fft.rfft(parts)
    frequencies = numbers_beside(x, 0, size)
    frequencies = xpa.where(frequencies < (size + 1) // 2, frequencies, frequencies - size) * (fs / size)
    return frequencies, xpa.fft.fft(parts if x.node.spec.complex else parts + 0j)


@in_single_precision
def stft(
    x: AnyArray, fs: float = 1.0, window: Any = "hann", nperseg: int | None = 256, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = False, return_onesided: bool = True, boundary: str | None = "zeros",
    padded: bool = True, axis: int = -1, scaling: str = "spectrum",
) -> Spectra:  # fmt: skip
    """Return frequencies, times and the Fourier transforms of overlapping parts of a signal.

    Parameters
    ----------
    x : Variable or array, floating-point
    fs : float
        The sampling frequency.
    window : str, tuple, float, or Variable or array, shape (nperseg,)
        As for ``scipy.signal.get_window``; an array is differentiable.
    nperseg, noverlap, nfft : int, optional
        Lengths of the segments, of their overlaps (by default half a segment), and of the transforms.
    detrend : {"linear", "constant"}, callable or False
        A callable takes the parts, with their elements along `axis`.
    return_onesided : bool
        For real signals, only the frequencies that are not negative.
    boundary : {"zeros", "even", "odd", "constant", None}
        How the signal is continued at its ends.
    padded : bool
        Continue the signal by zeros to a whole number of parts.
    axis : int
    scaling : {"spectrum", "psd"}

    Returns
    -------
    frequencies, times : Variable, one axis
    spectra : Variable, complex
        Frequencies along `axis`, times along the last axis.
    """
    x = inexact(x, "stft")
    along = one_axis(axis, x, "stft")
    if boundary not in BOUNDARIES:
        raise ValueError(f"stft: expected boundary 'zeros', 'even', 'odd', 'constant' or None, got {boundary!r}")
    x = xpa.moveaxis(x, along, -1)
    w, step = _window(x, window, nperseg, noverlap, x.shape[-1], 2, "stft")
    nperseg = w.shape[0]
    x = continued(x, nperseg // 2, boundary)
    if padded:
        x = resized(x, x.ndim - 1, x.shape[-1] + -(x.shape[-1] - nperseg) % step)
    frequencies, y = _spectra(x, w, fs, step, nfft, detrend, return_onesided, axis, "stft")
    y = y * xpa.sqrt(_scale(w, fs, scaling, "stft"))
    start = 0 if boundary is not None else nperseg / 2
    times = (numbers_beside(x, 0, y.shape[-2]) * step + start) / fs
    return frequencies, times, xpa.moveaxis(xpa.matrix_transpose(y), -2, along)


@in_single_precision
def istft(
    Zxx: AnyArray, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, input_onesided: bool = True, boundary: bool = True, time_axis: int = -1,
    freq_axis: int = -2, scaling: str = "spectrum",
) -> tuple[Variable, Variable]:  # fmt: skip
    """Return times and the signal with given spectra of its parts: the inverse of `stft`.

    Parameters
    ----------
    Zxx : Variable or array, complex
    fs, window, noverlap, nfft, scaling
        As for `stft`.
    nperseg : int, optional
        By default the length of a transform without zero padding.
    input_onesided : bool
        The spectra have no negative frequencies.
    boundary : bool
        The signal was continued at its ends.
    time_axis, freq_axis : int

    Returns
    -------
    times : Variable, one axis
    signal : Variable
        Along the axis of the times.
    """
    z = inexact(Zxx, "istft")
    if z.ndim < 2:
        raise ShapeError(f"istft: expected at least two axes, got shape {z.shape}")
    z = z if z.node.spec.complex else z + 0j
    time, frequency = one_axis(time_axis, z, "istft"), one_axis(freq_axis, z, "istft")
    if time == frequency:
        raise ValueError(f"istft: expected two axes, got {time_axis} for both")
    order = [i for i in range(z.ndim) if i not in (time, frequency)]
    z = xpa.permute_dims(z, (*order, time, frequency))
    bins = z.shape[-1]
    default = 2 * (bins - 1) if input_onesided else bins
    nperseg = default if nperseg is None else nperseg
    if nfft is None:
        nfft = nperseg if input_onesided and nperseg == default + 1 else default
    w, step = _window(z, window, nperseg, noverlap, None, 2, "istft")
    parts = (xpa.fft.irfft(z, n=nfft) if input_onesided else xpa.fft.ifft(z, n=nfft))[..., :nperseg]
    parts = parts * (w / xpa.sqrt(_scale(w, fs, scaling, "istft")))
    count = parts.shape[-2]
    total = _overlapped(parts, step)
    norm = _overlapped(xpa.broadcast_to(w * w, (count, nperseg)), step)
    if boundary:
        half, n = nperseg // 2, total.shape[-1]
        total, norm = total[..., half : n - half], norm[half : n - half]
    y = total / xpa.where(norm > 1e-10, norm, 1.0)
    times = numbers_beside(y, 0, y.shape[-1]) / fs
    return times, xpa.moveaxis(y, -1, time - (frequency < time))


def _overlapped(parts: Variable, step: int) -> Variable:
    """Return the sum of parts that begin `step` elements after each other."""
    count, size = parts.shape[-2:]
    total = zeros_beside(parts, (*parts.shape[:-2], size + (count - 1) * step))
    chunks = -(-size // step)
    for i in range(chunks):  # the i-th chunks of all parts do not overlap
        chunk = parts[..., i * step : min((i + 1) * step, size)]
        flat = xpa.reshape(resized(chunk, chunk.ndim - 1, step), (*parts.shape[:-2], count * step))
        total = total + resized(padded(flat, flat.ndim - 1, i * step, 0), flat.ndim - 1, total.shape[-1])
    return total


@in_single_precision
def spectrogram(
    x: AnyArray, fs: float = 1.0, window: Any = ("tukey", 0.25), nperseg: int | None = None,
    noverlap: int | None = None, nfft: int | None = None, detrend: Any = "constant", return_onesided: bool = True,
    scaling: str = "density", axis: int = -1, mode: str = "psd",
) -> Spectra:  # fmt: skip
    """Return frequencies, times and the powers of overlapping parts of a signal.

    Parameters
    ----------
    x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, axis
        As for `stft`; by default parts have 256 elements and overlap by an eighth.
    scaling : {"density", "spectrum"}
    mode : {"psd", "complex", "magnitude", "angle", "phase"}
        "phase" is the angle without jumps along the frequencies.

    Returns
    -------
    frequencies, times : Variable, one axis
    powers : Variable
        Frequencies along `axis`, times along the last axis.
    """
    if mode not in ("psd", "complex", "magnitude", "angle", "phase"):
        raise ValueError(
            f"spectrogram: expected the mode 'psd', 'complex', 'magnitude', 'angle' or 'phase', got {mode!r}"
        )
    x = inexact(x, "spectrogram")
    along = one_axis(axis, x, "spectrogram")
    x = xpa.moveaxis(x, along, -1)
    w, step = _window(x, window, nperseg, noverlap, x.shape[-1], 8, "spectrogram")
    nperseg = w.shape[0]
    frequencies, y = _spectra(x, w, fs, step, nfft, detrend, return_onesided, axis, "spectrogram")
    scale = _scale(w, fs, scaling, "spectrogram")
    if mode == "psd":
        y = (xpa.real(y) ** 2 + xpa.imag(y) ** 2) * scale
        if return_onesided and not x.node.spec.complex:
            size = nperseg if nfft is None else nfft
            numbers = numbers_beside(x, 0, y.shape[-1])
            once = (numbers == 0) | ((numbers == size // 2) if size % 2 == 0 else (numbers == 0))
            y = y * xpa.where(once, 1.0, 2.0 * xpa.ones_like(numbers))
    else:
        y = y * xpa.sqrt(scale)
        y = xpa.abs(y) if mode == "magnitude" else y
    if mode in ("angle", "phase"):
        y = xpa.atan2(xpa.imag(y), xpa.real(y))
    if mode == "phase":
        turns = xpa.round((y[..., 1:] - y[..., :-1]) * (0.5 / math.pi))
        y = y - 2.0 * math.pi * xpa.cumulative_sum(turns, axis=-1, include_initial=True)
    times = (numbers_beside(x, 0, y.shape[-2]) * step + nperseg / 2) / fs
    return frequencies, times, xpa.moveaxis(xpa.matrix_transpose(y), -2, along)
