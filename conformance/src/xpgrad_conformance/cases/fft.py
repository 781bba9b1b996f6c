"""Cases of Fourier transforms; the references are sums with the matrix of the transform."""

from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case

TURN = 0.8 - 0.6j
"""Factor that makes complex numbers of real ones, so that complex transforms run in all dtypes."""
PAIR = ((3, 4),)
CUBE = ((2, 3, 4),)
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


def _call(name: str, options: dict[str, Any]) -> Callable[[Any, Any], Any]:
    """Return the call of the function of a case with these parameters."""
    function = name.partition("-")[0]
    return lambda xp, x: getattr(xp.fft, function)(x, **options)


def _case(name: str, options: dict[str, Any], reference: Any, inputs: Any = PAIR, dtype: str = "complex") -> Case:
    """Return a case of a transform of complex numbers."""
    call = _call(name, options)
    return Case(
        name,
        lambda xp, x: call(xp, xp.multiply(x, TURN)),
        lambda x: reference(x * TURN),
        inputs,
        complex=True,
        needs=("complex",),
        dtype=dtype,
    )


def _to_real(name: str, options: dict[str, Any], reference: Any) -> Case:
    """Return a case of a transform of complex numbers to real ones."""
    return _case(name, options, lambda x: reference(x).real, dtype="real")


def _of_real(name: str, options: dict[str, Any], reference: Any, inputs: Any = PAIR, keeps: Any = None) -> Case:
    """Return a case of a transform of real numbers to complex ones."""
    return Case(name, _call(name, options), reference, inputs, keeps, dtype="complex")


def _shift(name: str, options: dict[str, Any], reference: Any) -> Case:
    return Case(name, _call(name, options), reference, keeps=(), complex=True)


COMPLEX = (
    _case("fft", {}, lambda x: _along(x, -1, None, -1)),
    _case("fft-longer", {"n": 5, "axis": 0, "norm": "ortho"}, lambda x: _along(x, 0, 5, -1, "ortho")),
    _case("fft-shorter", {"n": 2, "norm": "forward"}, lambda x: _along(x, -1, 2, -1, "all")),
    _case("ifft", {"axis": 0}, lambda x: _along(x, 0, None, 1, "all")),
    _case("ifft-longer", {"n": 6}, lambda x: _along(x, -1, 6, 1, "all")),
    _case("ifft-shorter", {"n": 3, "norm": "forward"}, lambda x: _along(x, -1, 3, 1)),
    _case("fftn", {}, lambda x: _along(_along(_along(x, 0, None, -1), 1, None, -1), 2, None, -1), CUBE),
    _case("fftn-lengths", {"s": (2, 5), "axes": (-2, 0), "norm": "ortho"},
          lambda x: _along(_along(x, 1, 2, -1, "ortho"), 0, 5, -1, "ortho"), CUBE),
    _case("ifftn", {"s": (3, 2), "axes": (0, 1)}, lambda x: _along(_along(x, 0, 3, 1, "all"), 1, 2, 1, "all")),
)  # fmt: skip

REAL = (
    _of_real("rfft", {}, lambda x: _half(_along(x, -1, None, -1)), keeps=()),
    _of_real("rfft-odd", {"axis": 0, "norm": "ortho"}, lambda x: _half(_along(x, 0, None, -1, "ortho"), 0), keeps=()),
    _of_real("rfft-longer", {"n": 7, "norm": "forward"}, lambda x: _half(_along(x, -1, 7, -1, "all"))),
    _of_real("rfft-shorter", {"n": 2}, lambda x: _half(_along(x, -1, 2, -1))),
    _of_real("rfft-one", {"n": 1}, lambda x: x[:, :1].sum(1, keepdims=True) + 0j),
    _of_real("ihfft", {}, lambda x: _half(_along(x, -1, None, 1, "all")), keeps=()),
    _of_real("ihfft-longer", {"n": 5, "axis": 0, "norm": "ortho"}, lambda x: _half(_along(x, 0, 5, 1, "ortho"), 0)),
    _of_real("rfftn", {}, lambda x: _half(_along(_along(_along(x, 0, None, -1), 1, None, -1), 2, None, -1)), CUBE, ()),
    _of_real(
        "rfftn-lengths",
        {"s": (4, 2, 5), "axes": (2, 0, 1), "norm": "ortho"},
        lambda x: _half(_along(_along(_along(x, 2, 4, -1, "ortho"), 0, 2, -1, "ortho"), 1, 5, -1, "ortho"), 1),
        CUBE,
    ),
)

HERMITIAN = (
    _to_real("irfft", {}, lambda x: _along(_whole(x, 6), -1, None, 1, "all")),
    _to_real("irfft-odd", {"n": 7, "norm": "ortho"}, lambda x: _along(_whole(x, 7), -1, None, 1, "ortho")),
    _to_real("irfft-shorter", {"n": 2, "axis": 0}, lambda x: _along(_whole(x, 2, 0), 0, None, 1, "all")),
    _to_real("irfft-longer", {"n": 9, "norm": "forward"}, lambda x: _along(_whole(x, 9), -1, None, 1)),
    _to_real("hfft", {}, lambda x: _along(_whole(x, 6), -1, None, -1)),
    _to_real("hfft-odd", {"n": 5, "axis": 0, "norm": "ortho"}, lambda x: _along(_whole(x, 5, 0), 0, None, -1, "ortho")),
    _to_real("irfftn", {}, lambda x: _along(_whole(_along(x, 0, None, 1, "all"), 6), 1, None, 1, "all")),
    _to_real(
        "irfftn-lengths",
        {"s": (5, 3), "axes": (1, 0)},
        lambda x: _along(_whole(_along(x, 1, 5, 1, "all"), 3, 0), 0, None, 1, "all"),
    ),
)

SHIFTS = (
    _shift("fftshift", {}, lambda x: x[[2, 0, 1]][:, [2, 3, 0, 1]]),
    _shift("fftshift-axis", {"axes": 0}, lambda x: x[[2, 0, 1]]),
    _shift("ifftshift", {"axes": (0, 1)}, lambda x: x[[1, 2, 0]][:, [2, 3, 0, 1]]),
)

CASES = COMPLEX + REAL + HERMITIAN + SHIFTS
