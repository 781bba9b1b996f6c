"""Cases of Fourier transforms; the references are sums with the matrix of the transform."""

from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input

TURN = 0.8 - 0.6j
"""Factor that makes complex numbers of real ones, so that complex transforms run in all dtypes."""
PAIR = (Input((3, 4)),)
CUBE = (Input((2, 3, 4)),)
SCALES: dict[str, Callable[[int], float]] = {"none": lambda n: 1.0, "ortho": lambda n: n**-0.5, "all": lambda n: 1 / n}


def _along(x: Any, axis: int, n: int | None, sign: int, scale: str = "none") -> Any:
    """Return the transform of length `n` along one axis, as a matrix product; `sign` is the sign of the exponent."""
    x = np.moveaxis(x, axis, -1)
    length: int = x.shape[-1] if n is None else n
    kept: Any = np.zeros((*x.shape[:-1], length), x.dtype)
    kept[..., : x.shape[-1]] = x[..., :length]
    j = np.arange(length)
    matrix = np.exp(sign * 2j * np.pi * np.outer(j, j) / length)
    return np.moveaxis(kept @ matrix * SCALES[scale](length), -1, axis)


def _half(y: Any, axis: int = -1) -> Any:
    return np.take(y, np.arange(y.shape[axis] // 2 + 1), axis)


def _whole(x: Any, n: int, axis: int = -1) -> Any:
    """Return all `n` elements of Hermitian data from the first half, with which the rest is made to agree."""
    x = np.moveaxis(x, axis, -1)
    half: Any = np.zeros((*x.shape[:-1], n // 2 + 1), complex)
    half[..., : x.shape[-1]] = x[..., : n // 2 + 1]
    half[..., 0] = half[..., 0].real
    if n % 2 == 0:
        half[..., -1] = half[..., -1].real
    return np.moveaxis(np.concatenate([half, np.conj(half[..., 1 : (n + 1) // 2][..., ::-1])], -1), -1, axis)


def _case(name: str, call: Any, reference: Any, inputs: Any = PAIR, dtype: str = "complex", order: int = 3) -> Case:
    """Return a case of a transform of complex numbers."""
    return Case(
        name,
        lambda xp, x: call(xp.fft, xp.multiply(x, TURN)),
        lambda x: reference(x * TURN),
        inputs,
        complex=True,
        needs=("complex",),
        dtype=dtype,
        order=order,
    )


COMPLEX = (
    _case("fft", lambda fft, x: fft.fft(x), lambda x: _along(x, -1, None, -1)),
    _case("fft-longer", lambda fft, x: fft.fft(x, n=5, axis=0, norm="ortho"), lambda x: _along(x, 0, 5, -1, "ortho")),
    _case("fft-shorter", lambda fft, x: fft.fft(x, n=2, norm="forward"), lambda x: _along(x, -1, 2, -1, "all")),
    _case("ifft", lambda fft, x: fft.ifft(x, axis=0), lambda x: _along(x, 0, None, 1, "all")),
    _case("ifft-longer", lambda fft, x: fft.ifft(x, n=6), lambda x: _along(x, -1, 6, 1, "all")),
    _case("ifft-shorter", lambda fft, x: fft.ifft(x, n=3, norm="forward"), lambda x: _along(x, -1, 3, 1)),
    _case(
        "fftn",
        lambda fft, x: fft.fftn(x),
        lambda x: _along(_along(_along(x, 0, None, -1), 1, None, -1), 2, None, -1),
        CUBE,
    ),
    _case(
        "fftn-lengths",
        lambda fft, x: fft.fftn(x, s=(2, 5), axes=(-2, 0), norm="ortho"),
        lambda x: _along(_along(x, 1, 2, -1, "ortho"), 0, 5, -1, "ortho"),
        CUBE,
    ),
    _case(
        "ifftn",
        lambda fft, x: fft.ifftn(x, s=(3, 2), axes=(0, 1)),
        lambda x: _along(_along(x, 0, 3, 1, "all"), 1, 2, 1, "all"),
    ),
)

REAL = (
    Case("rfft", lambda xp, x: xp.fft.rfft(x), lambda x: _half(_along(x, -1, None, -1)), keeps=(), dtype="complex"),
    Case(
        "rfft-odd",
        lambda xp, x: xp.fft.rfft(x, axis=0, norm="ortho"),
        lambda x: _half(_along(x, 0, None, -1, "ortho"), 0),
        keeps=(),
        dtype="complex",
    ),
    Case(
        "rfft-longer",
        lambda xp, x: xp.fft.rfft(x, n=7, norm="forward"),
        lambda x: _half(_along(x, -1, 7, -1, "all")),
        dtype="complex",
    ),
    Case("rfft-shorter", lambda xp, x: xp.fft.rfft(x, n=2), lambda x: _half(_along(x, -1, 2, -1)), dtype="complex"),
    Case("rfft-one", lambda xp, x: xp.fft.rfft(x, n=1), lambda x: x[:, :1].sum(1, keepdims=True) + 0j, dtype="complex"),
    Case(
        "ihfft",
        lambda xp, x: xp.fft.ihfft(x),
        lambda x: _half(_along(x, -1, None, 1, "all")),
        keeps=(),
        dtype="complex",
    ),
    Case(
        "ihfft-longer",
        lambda xp, x: xp.fft.ihfft(x, n=5, axis=0, norm="ortho"),
        lambda x: _half(_along(x, 0, 5, 1, "ortho"), 0),
        dtype="complex",
    ),
    Case(
        "rfftn",
        lambda xp, x: xp.fft.rfftn(x),
        lambda x: _half(_along(_along(_along(x, 0, None, -1), 1, None, -1), 2, None, -1)),
        CUBE,
        (),
        dtype="complex",
    ),
    Case(
        "rfftn-lengths",
        lambda xp, x: xp.fft.rfftn(x, s=(4, 2, 5), axes=(2, 0, 1), norm="ortho"),
        lambda x: _half(_along(_along(_along(x, 2, 4, -1, "ortho"), 0, 2, -1, "ortho"), 1, 5, -1, "ortho"), 1),
        CUBE,
        dtype="complex",
    ),
)

HERMITIAN = (
    _case("irfft", lambda fft, x: fft.irfft(x), lambda x: _along(_whole(x, 6), -1, None, 1, "all").real, dtype="real"),
    _case(
        "irfft-odd",
        lambda fft, x: fft.irfft(x, n=7, norm="ortho"),
        lambda x: _along(_whole(x, 7), -1, None, 1, "ortho").real,
        dtype="real",
    ),
    _case(
        "irfft-shorter",
        lambda fft, x: fft.irfft(x, n=2, axis=0),
        lambda x: _along(_whole(x, 2, 0), 0, None, 1, "all").real,
        dtype="real",
    ),
    _case(
        "irfft-longer",
        lambda fft, x: fft.irfft(x, n=9, norm="forward"),
        lambda x: _along(_whole(x, 9), -1, None, 1).real,
        dtype="real",
    ),
    _case("hfft", lambda fft, x: fft.hfft(x), lambda x: _along(_whole(x, 6), -1, None, -1).real, dtype="real"),
    _case(
        "hfft-odd",
        lambda fft, x: fft.hfft(x, n=5, axis=0, norm="ortho"),
        lambda x: _along(_whole(x, 5, 0), 0, None, -1, "ortho").real,
        dtype="real",
    ),
    _case(
        "irfftn",
        lambda fft, x: fft.irfftn(x),
        lambda x: _along(_whole(_along(x, 0, None, 1, "all"), 6), 1, None, 1, "all").real,
        dtype="real",
    ),
    _case(
        "irfftn-lengths",
        lambda fft, x: fft.irfftn(x, s=(5, 3), axes=(1, 0)),
        lambda x: _along(_whole(_along(x, 1, 5, 1, "all"), 3, 0), 0, None, 1, "all").real,
        dtype="real",
    ),
)

SHIFTS = (
    Case("fftshift", lambda xp, x: xp.fft.fftshift(x), lambda x: x[[2, 0, 1]][:, [2, 3, 0, 1]], keeps=(), complex=True),
    Case("fftshift-axis", lambda xp, x: xp.fft.fftshift(x, axes=0), lambda x: x[[2, 0, 1]], keeps=(), complex=True),
    Case(
        "ifftshift",
        lambda xp, x: xp.fft.ifftshift(x, axes=(0, 1)),
        lambda x: x[[1, 2, 0]][:, [2, 3, 0, 1]],
        keeps=(),
        complex=True,
    ),
)

CASES = COMPLEX + REAL + HERMITIAN + SHIFTS
