"""Fourier transforms: prime and composite lengths, cut and padded ones, every axis, norm and layout."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.moved import around, combined, given, moving, swept
from xpgrad_conformance.generated.operation import COMPLEX, FLOATS, Operation, operations
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.sizes import largest_factor

NORMS = "backward", "ortho", "forward"
PRIMES = 11, 13, 97, 127, 257, 4099
HALF = "irfft", "hfft", "irfftn"
"""Transforms of one half of a symmetric array, some elements of which must be real."""
OF_REAL = "rfft", "ihfft", "rfftn"
RESULTS = {"float32": "complex64", "float64": "complex128", "complex64": "float32", "complex128": "float64"}


def _result(name: str, dtype: str) -> str:
    return RESULTS[dtype] if name in (*OF_REAL, *HALF) else dtype


def _largest(reference: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that gives the largest absolute values of the results along the axes of the transform."""

    def scale(x: Any, **parameters: Any) -> Any:
        axes = parameters.get("axes", parameters.get("axis"))
        return np.max(abs(reference(x, **parameters)), axis=axes, keepdims=True)

    return scale


def _units(lengths: Sequence[int]) -> float:
    """Return how many units of the largest result a transform may be wrong by: more where factors are large primes.

    MKL adds as many products as such a factor is large, with less accurate roots of unity than other libraries.
    """
    factors = [largest_factor(n) for n in lengths]
    stages = sum(2 * math.log2(max(2, n)) for n in lengths)
    return 8 + stages + sum(20 * math.sqrt(p) for p in factors if p > 13)


def _one(draw: Draw, name: str, x: Argument, axis: int, n: int | None, norm: str) -> Sample:
    """Return a transform along one axis."""
    length = x.host.shape[axis]
    count = n or (2 * (length - 1) if name in HALF else length)
    if name in HALF:
        _symmetric(np.moveaxis(x.host, axis, -1), count)
    return _transform(draw, name, x, [count], {"n": n, "axis": axis, "norm": norm})


def _transform(draw: Draw, name: str, x: Argument, lengths: Sequence[int], parameters: dict[str, Any]) -> Sample:
    """Return a transform to these lengths."""
    reference = getattr(np.fft, name)
    return Sample(
        (x,), reference, parameters, units=_units(lengths), scale=_largest(reference),
        dtype=_result(name, draw.dtype), smooth=True,
    )  # fmt: skip


def _symmetric(x: Any, count: int) -> None:
    """Make those numbers real that are so in the first half of a symmetric array of `count` numbers."""
    x[..., 0] = x[..., 0].real
    if count % 2 == 0 and count // 2 < x.shape[-1]:
        x[..., count // 2] = x[..., count // 2].real


def _along_one(name: str) -> Operation:
    def samples(draw: Draw) -> Iterator[Sample]:
        most, single = 65_537, draw.dtype in ("float32", "complex64")
        least = 2 if name in HALF else 1
        lengths = swept(draw, most, least)
        lengths += [p for p in PRIMES if p not in lengths] + ([100_003] if single and not draw.quick else [])
        for length in lengths:
            x = given(draw, (length,), "ordinary", ("n",))
            yield _one(draw, name, x, -1, None, draw.pick(NORMS))
            if length < 5000:
                n = draw.pick((1, length // 2, length - 1, length + 1, 2 * length, 2 * length - 1))
                yield _one(draw, name, given(draw, (length,), "ordinary"), -1, max(n, least), draw.pick(NORMS))
        for shape, axis in (((6, 18), 0), ((7, 33), -2), ((18, 5), 1)):
            yield _one(draw, name, given(draw, shape, "ordinary"), axis, None, "backward")
        for row in combined(
            draw, n=(2, 3, 5, 8, 13, 32, 33, 97), place=(0, 1, 2), norm=NORMS, layout=draw.layouts(), other=(None, 4, 7)
        ):
            if row["layout"] == "broadcast" and name in HALF:
                continue
            x = given(draw, around(row["n"], row["place"]), "ordinary", layout=row["layout"])
            yield _one(draw, name, x, row["place"] - draw.pick((0, 3)), row["other"], row["norm"])

    return Operation(f"fft.{name}", samples, *_dtypes(name))


def _dtypes(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (FLOATS, FLOATS) if name in OF_REAL else (COMPLEX, COMPLEX)


SHAPES: tuple[Shape, ...] = (4, 6), (5, 7), (1, 8), (3, 1), (2, 3, 5), (4, 1, 6), (16, 17), (33, 31), (2, 3, 4, 5)


LONG: tuple[Shape, ...] = (65, 3), (3, 100), (9, 129), (70, 67), (2, 3, 67), (2, 129, 2), (2, 3, 2, 2, 3)
"""Shapes with one or several axes longer than a library transforms in one step."""


def _along_many(name: str) -> Operation:
    def samples(draw: Draw) -> Iterator[Sample]:
        for shape in LONG if not draw.quick else LONG[int(draw.rng.integers(2)) :: 2]:
            real = draw.rng.standard_normal(shape)
            host = real.astype(draw.dtype) if name in OF_REAL else given(draw, shape, "ordinary").host
            lengths: list[int] = list(shape)
            if name == "irfftn":
                lengths[-1] = 2 * (shape[-1] - 1)
                host = np.fft.rfftn(draw.rng.standard_normal(lengths)).astype(draw.dtype)
            yield _transform(draw, name, Argument(host), lengths, {})
        for row in combined(draw, shape=SHAPES, norm=NORMS, layout=draw.layouts(), s=(None, "cut", "padded", "turned")):
            shape = row["shape"]
            rank = len(shape)
            axes: tuple[int, ...] | None = draw.pick(
                (None, tuple(draw.rng.permutation(rank)[:2].tolist()), (-1,), (-2, -1))
            )
            over = tuple(range(rank)) if axes is None else axes
            real = draw.rng.standard_normal(shape)
            parameters: dict[str, Any] = {"s": None, "axes": axes, "norm": row["norm"]}
            host = real.astype(draw.dtype) if name in OF_REAL else given(draw, shape, "ordinary").host
            wanted = [shape[axis] for axis in over]
            if name == "irfftn":
                host = np.fft.rfftn(real, axes=over).astype(draw.dtype)
                parameters |= {"s": tuple(wanted), "axes": over}
            elif row["s"] is not None:
                lengths = [max(1, n - 1) if row["s"] == "cut" else n + 2 for n in wanted]
                wanted = wanted[::-1] if row["s"] == "turned" else lengths
                parameters |= {"s": tuple(wanted), "axes": over}
            layout = "contiguous" if row["layout"] == "broadcast" else row["layout"]
            yield _transform(draw, name, Argument(host, (), layout), wanted, parameters)

    return Operation(f"fft.{name}", samples, *_dtypes(name))


@operations((*FLOATS, *COMPLEX), ("float32", "complex64"), area="fft.")
def _shifted(draw: Draw, name: str) -> Iterator[Sample]:
    reference = getattr(np.fft, name)
    for n in swept(draw):
        x = given(draw, (n,), "mixed", ("n",))
        yield Sample((x,), reference, precise=False, smooth=True)
    for row in combined(draw, n=(1, 2, 5, 16, 33), axes=(None, 0, -1, (0, 2), (1,), (-1, 0)), layout=draw.layouts()):
        x = given(draw, around(row["n"], draw.pick((0, 1, 2))), "mixed", layout=row["layout"])
        yield moving((x,), reference, {"axes": row["axes"]}, smooth=True)


@operations(FLOATS, ("float32",), area="fft.")
def _frequencies(draw: Draw, name: str) -> Iterator[Sample]:
    reference = getattr(np.fft, name)
    options: dict[str, Any] = {"dtype": draw.s.dtype_of(draw.dtype), "device": draw.s.device}
    for n in draw.lengths(4097, 1):
        d = draw.pick((1.0, 0.1, 2.5, 1e-3))
        yield Sample(
            (), lambda n, d: reference(n, np.longdouble(d)), {"n": n, "d": d}, units=4,
            dtype=draw.dtype, call=lambda xp, n, d: getattr(xp.fft, name)(n, d=d, **options),
            text=f"xp.fft.{name}({n}, d={d}, dtype=xp.{draw.dtype})",
        )  # fmt: skip


TRANSFORMS = (
    *map(_along_one, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")),
    *map(_along_many, ("fftn", "ifftn", "rfftn", "irfftn")),
    *map(_shifted, ("fftshift", "ifftshift")),
    *map(_frequencies, ("fftfreq", "rfftfreq")),
)
