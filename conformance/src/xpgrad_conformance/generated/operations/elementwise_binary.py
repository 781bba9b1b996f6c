"""Elementwise functions of two real arrays, and their operators: lengths, broadcasting, numbers, pairs of values."""

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad import as_variable
from xpgrad_conformance.generated.accuracy import repeated
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.operations.elementwise import AXES
from xpgrad_conformance.generated.points import (
    PAIRS,
    SPECIAL,
    Points,
    broadcasting,
    every_number,
    fixed,
    ranges,
    shaped,
)
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.values import near

CHOSEN = 1, 7, 33, 257
"""Lengths of the long axis that are combined with forms, kinds of values and layouts."""
KINDS = "specials", "rare", "extremes", "spread", "near"
OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "pow": "**", "equal": "==", "not_equal": "!=",
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip
SYMBOLS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "//": operator.floordiv, "%": operator.mod, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
NUMBERS = 0.0, -0.0, 1, -1, 2, 3, 0.5, -2.5, 0.1, 1e-3, 1e6, np.inf, -np.inf, np.nan
"""Python numbers that are operands, on either side."""
MIXED = {"float32": "float64", "float64": "float32"}


def with_symbol(symbol: str, x1: Argument, x2: Argument, **more: Any) -> Sample:
    """Return a sample that calls an operator of Variables."""

    def call(xp: Any, a: Any, b: Any) -> Any:
        return SYMBOLS[symbol](as_variable(a), as_variable(b))

    return Sample((x1, x2), call=call, text=f"x0 {symbol} x1", **more)


def with_number(name: str, symbol: str, x: Argument, number: Any, left: bool, **more: Any) -> Sample:
    """Return a sample of a function, and of its operator if it has an operator, for an array and a Python number.

    Parameters
    ----------
    symbol : str
        Empty for the function itself.
    left : bool
        Whether the number is the first operand.
    more : object
        Of `Sample`; the reference takes two arrays.
    """
    dtype = x.host.dtype

    def placed(function: Callable[..., Any]) -> Callable[[Any], Any]:
        """Return a function of one array that calls a function of two arguments with a fixed number."""

        def of_one(host: Any) -> Any:
            other = np.asarray(number, dtype).astype(host.dtype)
            return function(other, host) if left else function(host, other)

        return of_one

    for key in ("reference", "scale"):
        if more.get(key) is not None:
            more[key] = placed(more[key])

    def call(xp: Any, a: Any) -> Any:
        own = as_variable(a)
        first, second = (number, own) if left else (own, number)
        return SYMBOLS[symbol](first, second) if symbol else getattr(xp, name)(first, second)

    given = [repr(number).replace("inf", 'float("inf")').replace("nan", 'float("nan")'), "x0"]
    given = given if left else given[::-1]
    text = f" {symbol} ".join(given) if symbol else f"xp.{name}({', '.join(given)})"
    return Sample((x,), call=call, text=text, **more)


def binary(
    name: str,
    reference: Callable[..., Any],
    low: float = -2.0,
    high: float = 2.0,
    *,
    second: tuple[float, float] | None = None,
    units: float = 4.0,
    points: Points | None = None,
    far: str = "",
    numbers: Sequence[Any] = NUMBERS,
    signs: bool = False,
    smooth: bool = True,
    dtype: str = "",
    scale: Callable[..., Any] | None = None,
) -> Operation:
    """Return the operation of an elementwise function of two arrays.

    Parameters
    ----------
    low, high, second
        The ranges of ordinary values of the first array, and of the second one if that is another.
    points : callable
        Numbers that are tried in all pairs.
    far : str
        Pairs of names of ranges far from 1 (see `ranges`), where derivatives are numbers too.
    numbers : sequence
        Python numbers that are operands.
    units, signs, smooth, dtype, scale
        As for functions of one array.
    """
    symbol = OPERATORS.get(name, "")
    range1: dict[str, Any] = {"low": low, "high": high}
    range2: dict[str, Any] = range1 if second is None else {"low": second[0], "high": second[1]}
    what: dict[str, Any] = {"units": units, "signs": signs, "dtype": dtype, "scale": scale}

    def samples(draw: Draw) -> Iterator[Sample]:
        flushing = name == "divide" and not draw.has("subnormal_numbers")

        def sample(x1: Argument, x2: Argument, smooth: bool = False, far: bool = False) -> Sample:
            given = (x1, _invertible(x2) if flushing else _without_roots(x1, x2) if name == "pow" else x2)
            return Sample(given, repeated(reference), smooth=smooth, far=far, **what)

        for shape1, shape2 in broadcasting(draw, 2):
            yield sample(draw.array(shape1, **range1), draw.array(shape2, **range2), smooth)
        for n in draw.lengths():
            first = draw.array((n,), **range1, axes=("n",))
            yield sample(first, draw.array((n,), **range2, axes=("n",)), smooth)
        more = [] if points is None else near(points(draw.dtype), draw.dtype)
        yield from _all_pairs(draw, more, sample)
        some = (draw.rng.permutation(np.asarray(SPECIAL, draw.dtype)) for _ in range(2))
        grid = [Argument(each.reshape(-1), ("n",)) for each in np.meshgrid(*some)]
        yield sample(grid[0], grid[1], smooth, far=smooth)
        for names in far.split():
            arrays = [draw.array((19,), low=a, high=b, axes=("n",)) for a, b in ranges(draw.dtype, *names.split(","))]
            yield sample(arrays[0], arrays[1], smooth, far=smooth)
        for axes1, axes2 in PAIRS:
            a = draw.array(shaped(axes1, 5), **range1, axes=axes1)
            yield sample(a, draw.array(shaped(axes2, 5), **range2, axes=axes2), smooth)
        for axes1, axes2 in PAIRS[3:]:  # broadcasting beyond a block that fits in cache, in both directions
            a, b = draw.array(shaped(axes1, 4097), **range1, axes=axes1), shaped(axes2, 4097)
            yield sample(a, draw.array(b, **range2, axes=axes2), smooth)
            a, b = draw.array(shaped(axes2, 4097), **range1, axes=axes2), shaped(axes1, 4097)
            yield sample(a, draw.array(b, **range2, axes=axes1), smooth)
        layouts = draw.layouts()
        chosen = layouts if not draw.quick else {"transposed", draw.pick(layouts)}
        for layout in [each for each in layouts if each in chosen]:
            a = draw.array(AXES, **range1, layout=layout)
            for shape in AXES, (3, 1, 2, 1, 3), (2, 1, 1, 2, 2, 1):
                yield sample(a, draw.array(shape, **range2, layout=draw.pick(layouts)), smooth)
        for row in draw.combinations(axes=PAIRS, n=CHOSEN, kind1=KINDS, kind2=KINDS, layout1=layouts, layout2=layouts):
            first, other = _pair(draw, row, range1, range2, more)
            yield sample(first, other, smooth and row["kind1"] == row["kind2"] == "ordinary")
        for n in (4097,) if draw.quick else (1000, 4097, 65537):
            first = draw.array((n,), "rare", **range1, axes=("n",), points=more)
            yield sample(first, draw.array((n,), "rare", **range2, axes=("n",), points=more))
        yield from _other_operands(draw, more)

    def _other_operands(draw: Draw, more: Sequence[float]) -> Iterator[Sample]:
        for number in numbers:
            x = draw.array((2, 33), draw.pick(("specials", "rare")), **range2, axes=("m", "n"), points=more)
            if name == "pow" and number == 0.5:  # often sqrt, which differs for numbers outside its domain
                x = draw.array((2, 33), low=0.0, high=4.0, axes=("m", "n"))
            for left, each in itertools.product((False, True), dict.fromkeys(("", symbol))):
                if name == "divide" and left:  # often the product with the reciprocal, which may overflow
                    x = draw.array((2, 33), **range2, axes=("m", "n"), points=(np.inf, -np.inf, np.nan, 0.0, -0.0))
                yield with_number(name, each, x, number, left, reference=reference, **what)
        if symbol:
            x1, x2 = draw.array((65,), **range1, axes=("n",)), draw.array((65,), **range2, axes=("n",))
            yield with_symbol(symbol, x1, x2, reference=reference, smooth=smooth, **what)
            yield with_symbol(symbol, x1, draw.array((), **range2), reference=reference, smooth=smooth, **what)
        other = MIXED[draw.dtype]
        for axes1, axes2 in PAIRS[:6] if draw.has(other) else ():
            x1 = draw.array(shaped(axes1, 33), **range1, axes=axes1)
            x2 = draw.array(shaped(axes2, 33), **range2, axes=axes2, dtype=other)
            yield Sample((x1, x2), reference, smooth=smooth, **{**what, "dtype": dtype or "float64"})

    return Operation(name, samples)


def _without_roots(x: Argument, exponents: Argument) -> Argument:
    """Return exponents without repeated 0.5: NumPy often computes sqrt for this exponent."""
    if exponents.host.shape == x.host.shape and exponents.host.size > 1 and exponents.layout != "broadcast":
        return exponents
    quarter = exponents.host.dtype.type(0.25)
    return replace(exponents, host=np.where(exponents.host == 0.5, quarter, exponents.host))


def _invertible(x: Argument) -> Argument:
    """Return divisors with normal reciprocals, because compilers multiply by reciprocals."""
    info = np.finfo(x.host.dtype)
    large = np.isfinite(x.host) & (np.abs(x.host) > 0.25 / float(info.smallest_normal))
    return replace(x, host=np.where(large, x.host.dtype.type(3), x.host))


def _pair(draw: Draw, row: Any, range1: Any, range2: Any, more: Sequence[float]) -> Iterator[Argument]:
    for i, given in enumerate((range1, range2)):
        axes = row["axes"][i]
        kind, layout = row[f"kind{i + 1}"], row[f"layout{i + 1}"]
        yield draw.array(shaped(axes, row["n"]), kind, **given, axes=axes, layout=layout, points=more)


def _all_pairs(
    draw: Draw, more: Sequence[float], sample: Callable[[Argument, Argument], Sample], most: int = 50
) -> Iterator[Sample]:
    """Yield all pairs of special, extreme and other numbers: once as vectors, once of a column and a row."""
    host = every_number(draw, more).host
    always = ~np.isfinite(host) | (np.abs(host) <= 1e-30)
    chosen = (draw.rng.permutation(np.count_nonzero(~always))[:most] for _ in range(2))
    some = [draw.rng.permutation(np.concatenate([host[always], host[~always][each]])) for each in chosen]
    grid = np.meshgrid(*some, indexing="ij")
    yield sample(Argument(grid[0].reshape(-1), ("n",)), Argument(grid[1].reshape(-1), ("n",)))
    yield sample(Argument(some[0][:, None], ("n", "")), Argument(some[1], ("m",)))


def _exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reference that computes in the arrays' dtype, for arrays given in a wider dtype."""

    def reference(*hosts: Any) -> Any:
        return function(*(host.astype(np.float64 if host.dtype.char == "g" else np.float32) for host in hosts))

    return reference


def _largest(x1: Any, x2: Any) -> Any:
    """Return the magnitudes for logaddexp, whose result may cancel."""
    return np.maximum(np.maximum(np.abs(x1), np.abs(x2)), 1.0)


SOME = fixed(1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, 1.5, -3.0, 10.0)
POWERS = fixed(1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, 0.5, -0.5, 1.5, 1 / 3, 0.25, 10.0, 31.0, 100.0, 2.0**24, 2.0**53)
FAR = fixed(1.0, -1.0, 0.1, 20.0, 40.0, -40.0, 88.0, -88.0, 709.0, -745.0, 1000.0, 1e6, -np.log(2))
ORDERED: dict[str, Callable[..., Any]] = {
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal,
}  # fmt: skip

# Errors: IEEE 754 rounds sums, products, quotients correctly (accelerators' quotients are within 2 units);
# CUDA's table of single precision has 3 units for atan2 and hypot, 8 for pow.
BINARY = (
    binary("add", np.add, units=0.6, signs=True, points=SOME, far="larger,larger smaller,-smaller larger,small"),
    binary("atan2", np.arctan2, units=8, signs=True, points=SOME, far="large,large small,-small large,small"),
    binary("copysign", np.copysign, units=0, signs=True),
    binary(
        "divide", np.divide, 0.2, 2.0, units=2, signs=True, points=SOME, far="larger,larger large,small small,large"
    ),
    binary("hypot", np.hypot, units=4, points=SOME, far="larger,larger smaller,smaller large,small"),
    binary(
        "logaddexp", np.logaddexp, units=8, points=FAR, scale=_largest, far="beyond,beyond under,under -above,above"
    ),
    binary("maximum", np.maximum, units=0, points=SOME, far="larger,larger -smaller,smaller"),
    binary("minimum", np.minimum, units=0, points=SOME, far="larger,larger -smaller,smaller"),
    binary("multiply", np.multiply, units=0.6, signs=True, points=SOME, far="large,large small,large larger,smaller"),
    binary("nextafter", _exactly(np.nextafter), units=0),
    binary("pow", np.power, 0.1, 3.0, second=(-3.0, 3.0), units=16, signs=True, points=POWERS),
    binary(
        "subtract", np.subtract, units=0.6, signs=True, points=SOME, far="larger,larger smaller,-smaller larger,small"
    ),
    *(binary(name, each, units=0, dtype="bool", points=SOME, smooth=False) for name, each in ORDERED.items()),
)
