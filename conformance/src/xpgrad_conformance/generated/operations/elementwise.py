"""Elementwise functions of one real array: every length, special values, and where formulas change."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.generated.accuracy import repeated
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.points import (
    FORMS,
    SMALL,
    SPECIAL,
    Points,
    both,
    ends,
    every_number,
    fixed,
    ranges,
    shaped,
    signed,
)
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.values import near

CHOSEN = 1, 7, 17, 33, 257, 1025
"""Lengths of the long axis that are combined with kinds of values and layouts."""
KINDS = "specials", "rare", "extremes", "spread"
AXES = 2, 3, 1, 2, 2, 3
"""The shape of an array with many axes."""


def unary(
    name: str,
    reference: Callable[..., Any],
    low: float = -2.0,
    high: float = 2.0,
    *,
    units: float = 4.0,
    points: Points | None = None,
    far: str = "",
    farther: str = "",
    signs: bool = False,
    smooth: bool = True,
    dtype: str = "",
    scale: Callable[..., Any] | None = None,
) -> Operation:
    """Return the operation of an elementwise function of one array.

    Parameters
    ----------
    reference : callable
        NumPy's function.
    low, high : float
        The range of ordinary values.
    units : float
        The allowed error in units in the last place.
    points : callable
        Numbers that are tried in all kinds of values, with those just below and above each.
    far, farther : str
        Names of ranges far from 1 (see `ranges`): ranges with finite derivatives, and the remaining ranges.
    signs : bool
        Whether the standard defines the sign of a zero.
    smooth : bool
        Whether it has derivatives at ordinary values.
    dtype : str
        Dtype of the result; by default the dtype of the array.
    """

    def sample(x: Argument, smooth: bool = False, far: bool = False) -> Sample:
        what: dict[str, Any] = {"units": units, "signs": signs, "dtype": dtype, "scale": scale}
        return Sample((x,), repeated(reference), smooth=smooth, far=far, **what)

    def samples(draw: Draw) -> Iterator[Sample]:
        for n in draw.lengths():
            yield sample(draw.array((n,), low=low, high=high, axes=("n",)), smooth)
        more = [] if points is None else near(points(draw.dtype), draw.dtype)
        yield sample(every_number(draw, more))
        special = draw.rng.permutation(np.asarray(SPECIAL, draw.dtype))
        yield sample(Argument(special, ("n",)), smooth, far=smooth)
        for names, also in (far, smooth), (farther, False):
            for least, most in ranges(draw.dtype, *names.split()):
                yield sample(draw.array((19,), low=least, high=most, axes=("n",)), also, far=also)
        if draw.has("empty_arrays"):
            yield sample(draw.array((0, 3)), smooth)
        yield sample(draw.array((), low=low, high=high), smooth)
        for row in draw.combinations(axes=FORMS, n=CHOSEN, kind=KINDS, layout=draw.layouts()):
            axes, shape = row["axes"], shaped(row["axes"], row["n"])
            kind, layout = row["kind"], row["layout"]
            x = draw.array(shape, kind, low=low, high=high, axes=axes, layout=layout, points=more)
            yield sample(x, smooth and kind == "ordinary")
        for layout in draw.layouts() if not draw.quick else (draw.pick(draw.layouts()),):
            yield sample(draw.array(AXES, low=low, high=high, layout=layout), smooth)
        for n in (4097,) if draw.quick else (1000, 4097, 65537):
            yield sample(draw.array((n,), "rare", low=low, high=high, axes=("n",), points=more))

    return Operation(name, samples)


def turns(dtype: str) -> list[float]:
    """Return numbers near multiples of a quarter of π and near powers of 2, up to a million."""
    return [*(k * np.pi / 4 for k in (1, 2, 3, 4, 5, 6, 8, 16, 100, 1001, 1e5)), 0.5, 1.0, 30.0, 1e4, 123456.7, 1e6]


def _halves(dtype: str) -> list[float]:
    """Return ties, adjacent numbers, and numbers beyond which all floating-point numbers are integers."""
    last = 2.0 ** np.finfo(dtype).nmant
    found = [0.5, 1.0, 1.5, 2.5, 3.5, 4.5, 1e3 + 0.5]
    found += [last / 2, last / 2 - 0.5, last / 4 + 0.5, last - 0.5, last, 2 * last]
    return [*found, *(-each for each in found), 2.0**31, 2.0**32, 2.0**63, -(2.0**31), -(2.0**63)]


def _rounding(name: str, reference: Callable[..., Any]) -> Operation:
    """Return the operation of a function that rounds to integers; numbers rounded to zero keep their sign."""
    far = "larger -larger small -small"
    return unary(name, reference, -4.0, 4.0, units=0, points=_halves, signs=True, smooth=False, farther=far)


def _positive(name: str, reference: Callable[..., Any], **options: Any) -> Operation:
    """Return the operation of a function of positive numbers of any size."""
    return unary(name, reference, 0.1, 4.0, signs=True, far="large small", farther="larger smaller", **options)


def _hyperbolic(dtype: str) -> list[float]:
    """Return numbers where sinh and cosh change their formulas, and where exp or these functions nearly overflow."""
    largest = float(np.log(float(np.finfo(dtype).max)))
    return [*SMALL, 1.0, 9.0, 19.0, 22.0, largest - 0.1, largest + 0.1, largest + 0.8]


def _until_overflow(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the magnitudes for sinh and cosh: the values, but infinity where exp overflows and its half does not.

    There accurate libraries also return infinity too early, because they use exp.
    """

    def magnitudes(x: Any) -> Any:
        narrow = np.float32 if x.dtype == np.float64 else np.float64
        largest = np.log(np.finfo(narrow).max)
        size = np.abs(function(x)) * np.maximum(np.abs(x) / 8, 1)  # exp takes an argument with a rounding error
        return np.where(np.abs(x) > 0.9999 * largest, size / np.finfo(narrow).eps, size)

    return magnitudes


def _bounded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the magnitudes for a function between -1 and 1: the values, but 1 for arguments beyond a million."""
    return lambda x: np.where(np.abs(x) <= 1e6, np.abs(function(x)), 1.0)


EXPONENTIAL = signed(ends("log", *SMALL, 0.5 * np.log(2), np.log(2), 1.0, 1.5 * np.log(2), 10.0, 20.0, 64.0))
NEAR_ONE = both(*SMALL, 1.0, 1 - 1e-3, 0.7071, 0.99, 0.999999, 1 + 1e-6, 1.5)
POSITIVE = fixed(*SMALL, 1.0, 0.7071, 1.4142, 0.99, 1.01, 2.0, math.e, 10.0, 100.0, 1000.0, 2.0**20, -1.0, -1e-30)
ASINH = signed(ends("sqrt", *SMALL, 1.0, 2.0, 1e4, 1e8, 1e15))
ATAN = both(*SMALL, 0.4375, 0.6875, 1.0, 1.1875, 2.4375, 1e4, 1e8)
LARGE = fixed(1.0, 1.0001, 1.01, 1.5, 2.0, 1e4, 1e8, 1e15, 0.5, -1.0)
LOG1P = both(*SMALL, 0.2928, 0.4142, 0.99, 1.0, 1e4, 1e15)
TANH = both(*SMALL, 0.625, 1.0, 4.0, 8.0, 9.0, 9.01, 19.0, 22.0, 44.0, 89.0)
SINH = signed(_hyperbolic)

# Errors: Functions of NumPy, PyTorch and XLA are within 4 units, and most single-precision functions of CUDA within 4;
# compositions (hyperbolic functions by exponentials, tan by a quotient, inverse functions by logarithms) need more.
UNARY = (
    unary("abs", np.abs, units=0, signs=True, far="larger smaller -larger"),
    unary("acos", np.arccos, -1.0, 1.0, units=8, points=NEAR_ONE, far="small"),
    unary("acosh", np.arccosh, 1.0, 8.0, units=16, points=LARGE, far="large", farther="larger"),
    unary("asin", np.arcsin, -1.0, 1.0, units=8, points=NEAR_ONE, signs=True, far="small -small"),
    unary("asinh", np.arcsinh, units=16, points=ASINH, signs=True, far="large -large small", farther="larger -larger"),
    unary("atan", np.arctan, units=8, points=ATAN, signs=True, far="large -small", farther="larger -larger"),
    unary("atanh", np.arctanh, -1.0, 1.0, units=16, points=NEAR_ONE, signs=True, far="small"),
    _rounding("ceil", np.ceil),
    unary("cos", np.cos, -4.0, 4.0, units=8, points=signed(turns), scale=_bounded(np.cos), far="small"),
    unary("cosh", np.cosh, units=16, points=SINH, scale=_until_overflow(np.cosh), far="above -above"),
    unary("exp", np.exp, -5.0, 5.0, units=8, points=EXPONENTIAL, far="above below", farther="beyond under"),
    unary("expm1", np.expm1, units=8, points=EXPONENTIAL, signs=True, far="above below", farther="beyond under"),
    _rounding("floor", np.floor),
    unary("isfinite", np.isfinite, dtype="bool", smooth=False, farther="larger -larger smaller -smaller"),
    unary("isinf", np.isinf, dtype="bool", smooth=False, farther="larger -larger smaller -smaller"),
    unary("isnan", np.isnan, dtype="bool", smooth=False, farther="larger -larger smaller -smaller"),
    _positive("log", np.log, units=8, points=POSITIVE),
    _positive("log10", np.log10, units=8, points=POSITIVE),
    unary("log1p", np.log1p, -0.9, 2.0, units=8, points=LOG1P, signs=True, far="large small -small", farther="larger"),
    _positive("log2", np.log2, units=8, points=POSITIVE),
    unary("negative", np.negative, units=0, signs=True, far="larger -smaller"),
    unary("positive", np.positive, units=0, signs=True, far="larger -smaller"),
    unary(
        "reciprocal", np.reciprocal, 0.2, 4.0, units=2, signs=True, far="large small -large", farther="larger smaller"
    ),
    _rounding("round", np.round),
    unary("sign", np.sign, units=0, smooth=False, farther="larger -larger smaller -smaller"),
    unary("signbit", np.signbit, dtype="bool", smooth=False, farther="larger -larger smaller -smaller"),
    unary(
        "sin", np.sin, -4.0, 4.0, units=8, points=signed(turns), signs=True, scale=_bounded(np.sin), far="small -small"
    ),
    unary("sinh", np.sinh, units=16, points=SINH, signs=True, scale=_until_overflow(np.sinh), far="above -above"),
    _positive("sqrt", np.sqrt, units=2, points=fixed(1.0, 2.0, 4.0, -1.0)),
    unary("square", np.square, units=1, points=ends("sqrt"), signs=True, far="large small -large"),
    unary("tan", np.tan, -1.4, 1.4, units=32, points=signed(turns), signs=True, far="small -small"),
    unary("tanh", np.tanh, units=8, points=TANH, signs=True, farther="large -large above below", far="small"),
    _rounding("trunc", np.trunc),
)
