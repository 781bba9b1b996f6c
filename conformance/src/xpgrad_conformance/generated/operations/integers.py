"""Elementwise functions of integers: exact at both ends of every dtype, all pairs of dtypes that promote, shifts."""

import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import INTEGERS, Operation
from xpgrad_conformance.generated.operations.elementwise_binary import CHOSEN, ORDERED, with_number, with_symbol
from xpgrad_conformance.generated.points import FORMS, PAIRS, shaped
from xpgrad_conformance.generated.sample import Argument, Sample, laid

QUICK = "int8", "int32", "int64", "uint8"
UNSIGNED = "maximum", "minimum", "floor_divide", "remainder", "bitwise_right_shift"
"""Functions, in addition to comparisons, for which numbers above 2^63 must not be treated as negative."""
EXPONENTS = tuple(range(70))
"""Exponents, all of which a power of 3 in 64 bits can have: float64 has only some of these powers."""
ENDS = 7, 8, 15, 16, 24, 31, 32, 53, 62, 63, 64
Pairs = tuple[Any, Any]


class Limits(NamedTuple):
    """The smallest and the largest integer of a dtype, and its width."""

    min: int
    max: int
    bits: int


EXACT: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "pow": operator.pow,
    "bitwise_left_shift": operator.lshift,
}
"""The functions whose results may not fit."""

LARGE = {"int64": (2**53 + 1, 2**62 - 1), "uint64": (2**53 + 1, 2**62 - 1, 2**63, 2**64 - 6)}
"""Python integers that float64 cannot represent, and integers above the range of int64, by dtype."""
FITTING = {"add", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor", *ORDERED}
"""The functions whose results with them fit."""


def end_numbers(dtype: str) -> list[int]:
    """Return small integers, both ends of a dtype, and those near powers of 2 where floats and narrow dtypes end."""
    info = np.iinfo(dtype)
    found = {0, 1, -1, 2, -2, 3, -3, 7, -7, 10, 100, -100, info.max, info.max - 1, info.min, info.min + 1}
    found |= {sign * (2**power + step) for power in ENDS for step in (-1, 0, 1) for sign in (1, -1)}
    return sorted(n for n in found if info.min <= n <= info.max)


def fitting(name: str, x1: int, x2: int, info: Limits) -> bool:
    """Return whether a function of two integers is specified and its result fits a dtype, given by its limits."""
    exact = EXACT.get(name)
    if name.endswith("shift") and not (0 <= x2 < info.bits and (x1 >= 0 or "right" in name)):
        return False
    if name in ("floor_divide", "remainder") and (x2 == 0 or (x1, x2) == (info.min, -1)):
        return False
    if name == "pow" and x2 not in EXPONENTS:
        return False
    return exact is None or bool(info.min <= exact(x1, x2) <= info.max)


@functools.cache
def _grid(name: str, dtype: str, second: Sequence[int] = ()) -> Pairs:
    """Return all pairs of such numbers whose result fits."""
    numbers, info = end_numbers(dtype), Limits(*(int(getattr(np.iinfo(dtype), key)) for key in Limits._fields))
    pairs = [(a, b) for a in numbers for b in second or numbers if fitting(name, a, b, info)]
    x1, x2 = zip(*pairs, strict=True)
    return np.asarray(x1, dtype), np.asarray(x2, dtype)


def _lengths(draw: Draw) -> list[int]:
    """Return lengths, which in the quick profile go beyond a few blocks in one dtype only."""
    return draw.lengths(most=70_000 if draw.dtype == "int32" else 1100) if draw.quick else draw.lengths()


def _small(draw: Draw, name: str, shape: tuple[int, ...], which: int, dtype: str = "") -> Any:
    """Return small integers for an argument of a function, whose result fits every dtype."""
    low = 0 if (dtype or draw.dtype).startswith("u") or name == "bitwise_left_shift" else -7
    ranges = {
        "subtract": (low + 8 * (low == 0 and which == 0), 8 + 8 * (low == 0 and which == 0)),
        "pow": (low // 2, 4) if which == 0 else (0, 4),
        "bitwise_left_shift": (0, 4),
        "bitwise_right_shift": (low, 8) if which == 0 else (0, 4),
        "floor_divide": (low, 8) if which == 0 else (1, 8),
        "remainder": (low, 8) if which == 0 else (1, 8),
    }
    host = draw.rng.integers(*ranges.get(name, (low, 8)), shape)
    if name in ("floor_divide", "remainder") and which == 1 and low < 0:
        host = host * draw.rng.choice([1, -1], shape)
    return host.astype(dtype or draw.dtype)


def _around(draw: Draw, number: int) -> Any:
    """Return integers, half of which differ by at most 2 from a number."""
    near = [n for n in range(number - 2, number + 3) if n <= np.iinfo(draw.dtype).max]
    host = draw.array((33,), "integers").host
    return np.where(draw.rng.random(33) < 0.5, draw.rng.choice(np.asarray(near, draw.dtype), 33), host)


def of_two(name: str, reference: Callable[..., Any], symbol: str = "", dtype: str = "") -> Operation:
    """Return the operation of an elementwise function of two arrays of integers; its results are exact."""

    def argument(draw: Draw, axes: tuple[str, ...], n: int, which: int, layout: str = "contiguous") -> Argument:
        return laid(_small(draw, name, shaped(axes, n), which), axes, layout)

    def promoted(draw: Draw, other: str) -> Iterator[Sample]:
        both = str(np.promote_types(draw.dtype, other))
        if not (both.removeprefix("u").startswith("int") and draw.has(other, both)):
            return  # the standard leaves uint64 with signed integers open
        for shapes in (((9,), (9,)), ((9,), ()), ((), (9,)), ((3, 1), (3,))):
            x1, x2 = _small(draw, name, shapes[0], 0), _small(draw, name, shapes[1], 1, other)
            yield Sample(
                (Argument(x1), Argument(x2)),
                lambda a, b: reference(a.astype(both), b.astype(both)),
                dtype=dtype or both,
            )

    def samples(draw: Draw) -> Iterator[Sample]:
        for n in _lengths(draw):
            yield Sample(
                (argument(draw, ("n",), n, 0), argument(draw, ("n",), n, 1)), reference, dtype=dtype or draw.dtype
            )
        bits = tuple(range(np.iinfo(draw.dtype).bits))
        x1, x2 = _grid(name, draw.dtype, bits if name.endswith("shift") else EXPONENTS if name == "pow" else ())
        x1, x2 = Argument(x1, ("n",)), Argument(x2, ("n",))
        yield Sample((x1, x2), reference, dtype=dtype or draw.dtype)
        if symbol:
            yield with_symbol(symbol, x1, x2, reference=reference, dtype=dtype or draw.dtype)
        for axes1, axes2 in PAIRS[4:]:
            first, second = argument(draw, axes1, 4097, 0), argument(draw, axes2, 4097, 1)
            yield Sample((first, second), reference, dtype=dtype or draw.dtype)
        for row in draw.combinations(axes=PAIRS, n=CHOSEN, layout1=draw.layouts(), layout2=draw.layouts()):
            first = argument(draw, row["axes"][0], row["n"], 0, row["layout1"])
            second = argument(draw, row["axes"][1], row["n"], 1, row["layout2"])
            yield Sample((first, second), reference, dtype=dtype or draw.dtype)
        for number in (1, 2, 3):
            for left in (False, True):
                x = argument(draw, ("n",), 33, 1 if left else 0)
                if not (name == "subtract" and left and draw.dtype.startswith("u")):
                    yield from (
                        with_number(name, each, x, number, left, reference=reference, dtype=dtype or draw.dtype)
                        for each in dict.fromkeys(("", symbol))
                    )
        for number in LARGE.get(draw.dtype, ()) if name in FITTING else ():
            for left, each in itertools.product((False, True), dict.fromkeys(("", symbol))):
                x = draw.array((33,), "integers", axes=("n",))
                if name != "add":  # float64 cannot represent these numbers
                    x = replace(x, host=_around(draw, number))
                yield with_number(name, each, x, number, left, reference=reference, dtype=dtype or draw.dtype)
        for other in INTEGERS:
            if other != draw.dtype:
                yield from promoted(draw, other)

    return Operation(name, samples, INTEGERS, (*QUICK, "uint64") if dtype or name in UNSIGNED else QUICK)


def of_one(
    name: str, reference: Callable[..., Any], dtype: str = "", *, least: bool = True, signed: bool = False
) -> Operation:
    """Return the operation of an elementwise function of one array of integers.

    Parameters
    ----------
    least : bool
        Whether the smallest number of a signed dtype has a result.
    signed : bool
        Whether only signed dtypes support the function.
    """
    dtypes = tuple(d for d in INTEGERS if not (signed and d.startswith("u")))

    def sample(host: Any, axes: tuple[str, ...], layout: str = "contiguous") -> Sample:
        return Sample((laid(host, axes, layout),), reference, dtype=dtype)

    def samples(draw: Draw) -> Iterator[Sample]:
        info = np.iinfo(draw.dtype)
        lowest = info.min + (not least and info.min < 0)
        if name == "square":
            numbers = np.asarray([n for n in end_numbers(draw.dtype) if n * n <= info.max], draw.dtype)
        else:
            numbers = np.asarray([n for n in end_numbers(draw.dtype) if n >= lowest], draw.dtype)
        for n in _lengths(draw):
            yield sample(draw.rng.choice(numbers, (n,)), ("n",))
        yield sample(numbers, ("n",))
        yield sample(numbers[0], ())
        for row in draw.combinations(axes=FORMS, n=CHOSEN, layout=draw.layouts()):
            yield sample(draw.rng.choice(numbers, shaped(row["axes"], row["n"])), row["axes"], row["layout"])

    return Operation(name, samples, dtypes, tuple(d for d in QUICK if d in dtypes))


INTEGER = (
    of_two("add", np.add, "+"),
    of_two("subtract", np.subtract, "-"),
    of_two("multiply", np.multiply, "*"),
    of_two("floor_divide", np.floor_divide, "//"),
    of_two("remainder", np.remainder, "%"),
    of_two("pow", np.power, "**"),
    of_two("bitwise_and", np.bitwise_and, "&"),
    of_two("bitwise_or", np.bitwise_or, "|"),
    of_two("bitwise_xor", np.bitwise_xor, "^"),
    of_two("bitwise_left_shift", np.left_shift, "<<"),
    of_two("bitwise_right_shift", np.right_shift, ">>"),
    of_two("maximum", np.maximum),
    of_two("minimum", np.minimum),
    of_two("equal", np.equal, "==", "bool"),
    of_two("not_equal", np.not_equal, "!=", "bool"),
    of_two("less", np.less, "<", "bool"),
    of_two("less_equal", np.less_equal, "<=", "bool"),
    of_two("greater", np.greater, ">", "bool"),
    of_two("greater_equal", np.greater_equal, ">=", "bool"),
    of_one("abs", np.abs, least=False),
    of_one("negative", np.negative, least=False, signed=True),
    of_one("positive", np.positive),
    of_one("sign", np.sign),
    of_one("square", np.square),
    of_one("bitwise_invert", np.invert),
    of_one("ceil", lambda x: x),
    of_one("floor", lambda x: x),
    of_one("round", lambda x: x),
    of_one("trunc", lambda x: x),
    of_one("isfinite", lambda x: np.ones(x.shape, bool), "bool"),
    of_one("isinf", lambda x: np.zeros(x.shape, bool), "bool"),
    of_one("isnan", lambda x: np.zeros(x.shape, bool), "bool"),
)
