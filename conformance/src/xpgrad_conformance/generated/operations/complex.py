"""Functions of complex arrays: parts that overflow when squared, branch cuts, parts that are NaN or infinite.

Results that the standard leaves undefined are not tested: most functions of infinities and NaN.
"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad import as_variable
from xpgrad_conformance.generated.accuracy import repeated
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import COMPLEX, Operation, operation
from xpgrad_conformance.generated.operations.elementwise_binary import SYMBOLS, with_number, with_symbol
from xpgrad_conformance.generated.points import FORMS, PAIRS, shaped
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.values import REAL

CHOSEN = 1, 7, 33, 257
NUMBERS = 2, 0.5, -1.5, 1j, 2 - 0.5j
MIXED = {"complex64": ("float32", "float64", "complex128"), "complex128": ("float64", "float32", "complex64")}
NARROW = ("complex64",)
BASIC = "abs", "conj", "sqrt", "exp", "log", "add", "multiply", "divide", "equal"
"""The functions that the quick profile tries in both dtypes."""


def scales(dtype: str) -> list[float]:
    """Return sizes of numbers: their squares overflow or underflow at the ends."""
    large = float(np.finfo(dtype).max) ** 0.5
    return [1.0, large / 1e3, large * 1e3, 1e-3 / large, 1e3 / large]


def _lengths(draw: Draw) -> list[int]:
    """Return fewer lengths than of real arrays: references in a wider dtype take longer."""
    return [n for n in draw.lengths(most=65_537) if n < 5000 or n == 65_537]


def circle(draw: Draw, shape: tuple[int, ...], size: float = 1.0) -> Any:
    """Return numbers of about one size, in all directions, also along the axes; their parts are not subnormal."""
    angle = np.where(
        draw.rng.random(shape) < 0.3, draw.rng.integers(0, 8, shape) * np.pi / 4, draw.rng.uniform(-3.1, 3.1, shape)
    )
    host: Any = (np.exp(1j * angle) * draw.rng.uniform(0.5, 2.0, shape) * size).astype(draw.dtype)
    for part in host.real, host.imag:
        part[np.abs(part) < np.finfo(draw.dtype).smallest_normal] = 0.0
    return host


def _parts(real: Any, imag: Any, dtype: str) -> Any:
    """Return complex numbers from real and imaginary parts; zeros keep their signs."""
    real, imag = np.broadcast_arrays(np.asarray(real), np.asarray(imag))
    made = np.empty(real.shape, dtype)
    made.real, made.imag = real, imag
    return made


def _with_poles(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the magnitudes for a tangent: near a pole it changes by as much as its square."""

    def scale(x: Any) -> Any:
        y = np.abs(repeated(function)(x))
        return y * np.maximum(y, 1.0)

    return scale


def _conditioned(function: Callable[..., Any], derivative: Callable[..., Any]) -> Callable[..., Any]:
    """Return the magnitudes for a function with zeros: near them, the effect of rounding its argument."""
    return lambda x: np.maximum(np.abs(function(x)), np.abs(x * derivative(x)) / 4)


def special_parts(dtype: str) -> Any:
    """Return all pairs of special parts."""
    few = np.asarray([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan])
    real, imag = np.meshgrid(few, few)
    return _parts(real.reshape(-1), imag.reshape(-1), dtype)


def unary(
    name: str,
    reference: Callable[..., Any],
    *,
    units: float = 8.0,
    dtype: str = "",
    sizes: bool = False,
    specials: bool = False,
    cut: bool = False,
    infinite: str = "",
    far: tuple[int, ...] = (),
    low: float = -2.0,
    high: float = 2.0,
    scale: Callable[..., Any] | None = None,
) -> Operation:
    """Return the operation of an elementwise function of one complex array.

    Parameters
    ----------
    dtype : str
        Dtype of the result: "real" for the dtype of the parts.
    sizes : bool
        Whether numbers with overflowing squares have finite results.
    specials : bool
        Whether all special parts have results.
    cut : bool
        Whether its branch cut is the negative real axis, on which the sign of zero decides.
    infinite : str
        The part, "real" or "imag", for which the standard defines results if only this part is infinite.
    """

    def sample(
        draw: Draw, host: Any, axes: tuple[str, ...] = ("n",), layout: str = "contiguous", smooth: bool = True,
        far: bool = False,
    ) -> Sample:  # fmt: skip
        return Sample(
            (Argument(host, axes, layout),), repeated(reference), units=units, scale=scale, far=far,
            dtype=REAL[draw.dtype] if dtype == "real" else dtype, smooth=smooth and dtype != "bool",
        )  # fmt: skip

    def samples(draw: Draw) -> Iterator[Sample]:
        for n in _lengths(draw):
            x = draw.array((n,), low=low, high=high, axes=("n",))
            yield sample(draw, x.host)
        yield sample(draw, draw.array((), low=low, high=high).host, ())
        if sizes:
            for size in scales(draw.dtype):
                smooth = name != "reciprocal"  # its derivative is a square
                yield sample(draw, circle(draw, (33,), size), smooth=smooth, far=size != 1)
                mixed = _parts(circle(draw, (33,), size).real, circle(draw, (33,)).imag, draw.dtype)
                yield sample(draw, mixed, smooth=smooth, far=size != 1)
        if specials:
            yield sample(draw, special_parts(draw.dtype), smooth=False)
        if infinite:
            ends, others = [np.inf, -np.inf] * 4, [0.0, 0.0, -0.0, -0.0, 1.5, 1.5, -1.5, -1.5]
            host = _parts(*((ends, others) if infinite == "real" else (others, ends)), draw.dtype)
            yield replace(sample(draw, host, smooth=False), scale=None)
        if cut:
            negative = -np.asarray([1.0, 0.25, 4.0, 1e-3, 1e6, 2.0])
            for zero in (0.0, -0.0):
                yield sample(draw, _parts(negative, zero, draw.dtype))
            small = float(np.finfo(REAL[draw.dtype]).eps)
            yield sample(draw, _parts(negative, [small, -small] * 3, draw.dtype))
        for sign in far:
            edge = float(np.log(np.finfo(REAL[draw.dtype]).max))
            real = sign * edge * np.asarray([0.4, 0.6, 1.1, 2.5, 10.0])
            yield sample(draw, _parts(real, [0.5, -0.25, 0.75, 0.125, -0.5], draw.dtype))
        for row in draw.combinations(axes=FORMS, n=CHOSEN, layout=draw.layouts()):
            axes, layout = row["axes"], row["layout"]
            x = draw.array(shaped(axes, row["n"]), low=low, high=high, axes=axes, layout=layout)
            yield sample(draw, x.host, axes, layout)

    return Operation(name, samples, COMPLEX, COMPLEX if name in BASIC else NARROW)


def binary(
    name: str, reference: Callable[..., Any], symbol: str, *, units: float = 4.0, dtype: str = "", scale: Any = None
) -> Operation:
    """Return the operation of an elementwise function of two complex arrays."""
    what: dict[str, Any] = {"units": units, "dtype": dtype, "scale": scale}

    def samples(draw: Draw) -> Iterator[Sample]:
        for n in _lengths(draw):
            x1, x2 = draw.array((n,), axes=("n",)), draw.array((n,), low=0.3, high=2.0, axes=("n",))
            yield Sample((x1, x2), repeated(reference), smooth=not dtype, **what)
        x1, x2 = (Argument(circle(draw, (65,)), ("n",)) for _ in range(2))
        yield with_symbol(symbol, x1, x2, reference=reference, **what)
        if name == "divide":
            for size in scales(draw.dtype):
                x1, x2 = (Argument(circle(draw, (65,), size), ("n",)) for _ in range(2))
                yield Sample((x1, x2), reference, **what)
        if name == "pow":  # zero to a positive power
            x1, x2 = draw.array((9,), axes=("n",)), draw.array((9,), "integers", axes=("n",))
            x1.host[::2], x2.host[:] = 0.0, np.abs(x2.host.real) + 0.5
            yield Sample((x1, x2), reference, **what)
        if dtype == "bool":
            grid = np.meshgrid(special_parts(draw.dtype), special_parts(draw.dtype))
            yield Sample(tuple(Argument(each.reshape(-1), ("n",)) for each in grid), reference, **what)
        for row in draw.combinations(axes=PAIRS, n=CHOSEN, layout1=draw.layouts(), layout2=draw.layouts()):
            given = zip(row["axes"], (row["layout1"], row["layout2"]), strict=True)
            arrays = (
                draw.array(shaped(axes, row["n"]), low=0.2, high=2.0, axes=axes, layout=layout)
                for axes, layout in given
            )
            yield Sample(tuple(arrays), reference, smooth=not dtype, **what)
        for number in NUMBERS:
            for left in (False, True):
                x = draw.array((33,), low=0.2, high=2.0, axes=("n",))
                yield with_number(name, symbol, x, number, left, reference=reference, **what)
        for other in MIXED[draw.dtype]:
            common = str(np.promote_types(draw.dtype, other))
            if draw.has(other, common):
                x1 = draw.array((33,), low=0.2, high=2.0, axes=("n",))
                x2 = draw.array((33,), low=0.2, high=2.0, axes=("n",), dtype=other)
                yield Sample((x1, x2), reference, **{**what, "dtype": dtype or common})

    return Operation(name, samples, COMPLEX, COMPLEX if name in BASIC else NARROW)


@operation("complex_numbers", needs=("complex64", "complex128"))
def _real_number(draw: Draw) -> Iterator[Sample]:
    """Yield products and similar operations of real arrays and complex numbers, which keep the width."""
    both = {"float32": "complex64", "float64": "complex128"}[draw.dtype]
    for number in (1j, 2 - 0.5j):
        for symbol in ("+", "-", "*", "/"):
            call = SYMBOLS[symbol]
            x = draw.array((33,), low=0.3, high=2.0, axes=("n",))
            for left in (False, True):

                def applied(x: Any, number: Any = number, call: Any = call, left: bool = left) -> Any:
                    return call(number, x) if left else call(x, number)

                yield Sample(
                    (x,), lambda host, applied=applied: applied(host.astype(np.clongdouble)), units=4,
                    dtype=both, call=lambda xp, a, applied=applied: applied(as_variable(a)), name="multiply",
                    text=f"{number} {symbol} x0" if left else f"x0 {symbol} {number}",
                )  # fmt: skip


def _sum_size(x1: Any, x2: Any) -> Any:
    return np.abs(x1) + np.abs(x2)


# Errors are relative to the absolute value: parts cancel, in all libraries.
FUNCTIONS = (
    unary("abs", np.abs, dtype="real", units=4, sizes=True, specials=True),
    unary("real", np.real, dtype="real", units=0, sizes=True, specials=True),
    unary("imag", np.imag, dtype="real", units=0, sizes=True, specials=True),
    unary("conj", np.conj, units=0, sizes=True),
    unary("negative", np.negative, units=0, sizes=True),
    unary("positive", np.positive, units=0, sizes=True),
    unary("isnan", np.isnan, dtype="bool", sizes=True, specials=True),
    unary("isinf", np.isinf, dtype="bool", sizes=True, specials=True),
    unary("isfinite", np.isfinite, dtype="bool", sizes=True, specials=True),
    unary("square", np.square),
    unary("sqrt", np.sqrt, sizes=True, cut=True, infinite="imag"),
    unary("exp", np.exp, infinite="real"),
    unary("expm1", np.expm1, units=16, low=0.3, high=2.0),
    unary("log", np.log, sizes=True, cut=True, units=16, low=1.1, high=4.0, infinite="real"),
    unary("log2", np.log2, sizes=True, units=16, low=1.1, high=4.0, infinite="real"),
    unary("log10", np.log10, sizes=True, units=16, low=1.1, high=4.0, infinite="real"),
    unary("log1p", np.log1p, units=16, low=0.3, high=2.0),
    unary("sin", np.sin, units=16, scale=_conditioned(np.sin, np.cos), infinite="imag"),
    unary("cos", np.cos, units=16, scale=_conditioned(np.cos, np.sin), infinite="imag"),
    unary("tan", np.tan, units=32, scale=_with_poles(np.tan), infinite="imag"),
    unary("sinh", np.sinh, units=16, scale=_conditioned(np.sinh, np.cosh), infinite="real"),
    unary("cosh", np.cosh, units=16, scale=_conditioned(np.cosh, np.sinh), infinite="real"),
    unary("tanh", np.tanh, units=32, far=(1, -1), scale=_with_poles(np.tanh), infinite="real"),
    unary("asin", np.arcsin, units=64),
    unary("acos", np.arccos, units=64),
    unary("atan", np.arctan, units=64, low=0.2, high=0.7),
    unary("asinh", np.arcsinh, units=64, infinite="real"),
    unary("acosh", np.arccosh, units=64),
    unary("atanh", np.arctanh, units=64, low=0.2, high=0.7),
    unary("sign", lambda x: np.where(x == 0, 0, x / np.abs(x)), units=8, low=0.2, high=2.0, sizes=True),
    unary("reciprocal", lambda x: 1 / x, units=8, low=0.2, high=2.0, sizes=True),
    binary("add", np.add, "+", units=1, scale=_sum_size),
    binary("subtract", np.subtract, "-", units=1, scale=_sum_size),
    binary("multiply", np.multiply, "*", scale=lambda x1, x2: np.abs(x1) * np.abs(x2)),
    binary("divide", np.divide, "/", units=8),
    binary("pow", np.power, "**", units=128),
    binary("equal", operator.eq, "==", dtype="bool"),
    binary("not_equal", operator.ne, "!=", dtype="bool"),
)
