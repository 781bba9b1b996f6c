"""Conversions between all dtypes, and transfers from the host and back: every number that a dtype can hold."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import COMPLEX, FLOATS, INTEGERS, operation
from xpgrad_conformance.generated.points import FORMS, shaped
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.values import KINDS, extreme_numbers, near, special_numbers

ALL = "bool", *INTEGERS, *FLOATS, *COMPLEX
POWERS = 0, 1, 4, 7, 8, 15, 16, 23, 24, 25, 31, 32, 52, 53, 54, 62, 63


def _sources(dtype: str) -> list[Any]:
    """Return numbers of a dtype: ends, those near powers of 2 at which other dtypes end, ties in narrower floats."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return [False, True]
    around = [sign * (2**p + step) for p in POWERS for step in (-1, 0, 1) for sign in (1, -1)]
    if kind in "iu":
        info = np.iinfo(dtype)
        around += [
            2**24 + 3,
            2**25 + 2,
            2**54 + 2,
            2**54 + 6,
            2**62 + 2**38,
            2**63 + 2**39,
            2**63 + 2**10,
            info.max,
            info.min,
        ]
        return sorted({n for n in around if info.min <= n <= info.max})
    real = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    found = [float(each) for each in around] + [0.5, -0.5, 0.999, -0.999, 1.5, -1.5, 2.5, -2.75, 100.9, 1e30, 1e-30]
    return [*found, *special_numbers(real), *near(extreme_numbers(real), real)]


def convertible(host: Any, target: str) -> Any:
    """Return the elements whose conversion the standard defines: to integers, those that fit after truncation."""
    wanted = np.dtype(target)
    if wanted.kind == "b" or host.dtype.kind == "b":
        return host
    if wanted.kind in "iu":
        info = np.iinfo(target)
        kept = [each for each in host.tolist() if np.isfinite(each) and info.min <= int(each) <= info.max]
        return np.asarray(kept, host.dtype)
    if host.dtype.kind in "fc" and wanted.itemsize < host.dtype.itemsize:  # rounding at the largest number is open
        return host[_rounds(host.real, target) & _rounds(host.imag, target)]
    return host


def _rounds(host: Any, target: str) -> Any:
    """Return where real numbers have one nearest number or infinity in a narrower dtype."""
    largest = float(np.finfo(target).max)
    return ~np.isfinite(host) | (np.abs(host) <= largest) | (np.abs(host) > 2 * largest)


@operation("astype", ALL, ("bool", "int8", "int64", "uint64", "float32", "float64", "complex64"))
def _astype(draw: Draw) -> Iterator[Sample]:
    host: Any = np.asarray(_sources(draw.dtype)).astype(draw.dtype)
    if draw.dtype in COMPLEX:
        host = (host.real + 1j * host.real[::-1]).astype(draw.dtype)
    if not draw.has("subnormal_numbers") and host.dtype.kind in "fc":
        host = host[np.abs(host) > 1e-30]
    # the standard does not define the conversion of complex numbers to real dtypes
    targets = [each for each in ALL if draw.has(each) and (each in COMPLEX or draw.dtype not in COMPLEX)]
    targets += ["bool"] if draw.dtype in COMPLEX and _converts_to_bool(draw) else []
    for target in targets:
        yield _converted(draw, draw.array((7,), low=0.0, high=5.0, axes=("n",)), target)
    for target in targets:
        yield _converted(draw, Argument(convertible(host, target), ("n",)), target)
        if draw.spare:
            continue
        for n in (0, 1, 9, 33, 257, 4097) if draw.has("empty_arrays") else (1, 9, 33, 257, 4097):
            yield _converted(draw, draw.array((n,), low=0.0, high=5.0, axes=("n",)), target)
        for layout in draw.layouts():
            x = draw.array((17, 3), low=0.0, high=100.0, axes=("n", "m"), layout=layout)
            yield _converted(draw, x, target)
        yield _converted(draw, draw.array((), low=0.0, high=5.0), target)
        if not draw.quick:
            yield _converted(draw, draw.array((65_537,), low=0.0, high=100.0, axes=("n",)), target)


def _converts_to_bool(draw: Draw) -> bool:
    """Return whether the library converts complex numbers to bool, which some libraries reject."""
    try:
        draw.s.xp.astype(draw.s.array(np.ones(2), draw.dtype), draw.s.dtype_of("bool"))
    except Exception:
        return False
    return True


def _converted(draw: Draw, x: Argument, target: str) -> Sample:
    wanted = draw.s.dtype_of(target)
    narrow = np.dtype(draw.dtype)

    def reference(host: Any) -> Any:
        return host.astype(narrow).astype(target)

    return Sample(
        (x,),
        reference,
        dtype=target,
        signs=np.dtype(target).kind in "fc",
        call=lambda xp, a: xp.astype(a, wanted),
        text=f"xp.astype(x0, xp.{target})",
    )


@operation("transfer", ALL, ("bool", "int8", "int64", "uint64", "float32", "float64"), needs=())
def _transfer(draw: Draw) -> Iterator[Sample]:
    def sample(x: Argument) -> Sample:
        return Sample((x,), lambda host: host, signs=True, call=lambda xp, a: a, text="x0")

    for n in draw.lengths():
        yield sample(draw.array((n,), axes=("n",)))
    host: Any = np.asarray(_sources(draw.dtype)).astype(draw.dtype)
    if draw.has("subnormal_numbers") or host.dtype.kind not in "fc":
        yield sample(Argument(host, ("n",)))
    for row in draw.combinations(axes=FORMS, n=(1, 7, 33, 257, 4097), kind=KINDS, layout=draw.layouts()):
        x = draw.array(shaped(row["axes"], row["n"]), row["kind"], axes=row["axes"], layout=row["layout"])
        yield sample(x)
