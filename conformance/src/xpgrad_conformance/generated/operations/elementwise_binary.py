"""Elementwise functions of two real arrays, and their operators: lengths, broadcasting, numbers, all pairs of values."""

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xpgrad import as_variable
from xpgrad_conformance.generated.accuracy import repeated
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.points import PAIRS, Points, every_number, fixed, shaped
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.values import near

CHOSEN = 1, 7, 33, 257
"""Lengths of the long axis that are combined with forms, kinds of values and layouts."""
KINDS = "specials", "rare", "extremes", "spread", "ties"
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


def with_symbol(name: str, symbol: str, x1: Argument, x2: Argument, **more: Any) -> Sample:
    """Return a sample that calls an operator of Variables."""

    def call(xp: Any, a: Any, b: Any) -> Any:
        return SYMBOLS[symbol](as_variable(a), as_variable(b))

    return Sample(name, (x1, x2), call=call, text=f"x0 {symbol} x1", **more)


def with_number(name: str, symbol: str, x: Argument, number: Any, left: bool, **more: Any) -> Sample:
    """Return a sample of a function, and of its operator if it has one, of an array and a Python number.

    Parameters
    ----------
    symbol : str
        Empty for the function itself.
    left : bool
        Whether the number is the first operand.
    more : object
        Of `Sample`; the reference takes two arrays.
    """
    reference = more.pop("reference")
    dtype = x.host.dtype

    def expected(host: Any) -> Any:
        other = np.asarray(number, dtype).astype(host.dtype)
        return reference(other, host) if left else reference(host, other)

    def call(xp: Any, a: Any) -> Any:
        own = as_variable(a)
        first, second = (number, own) if left else (own, number)
        return SYMBOLS[symbol](first, second) if symbol else getattr(xp, name)(first, second)

    given = [repr(number).replace("inf", 'float("inf")').replace("nan", 'float("nan")'), "x0"]
    given = given if left else given[::-1]
    text = f" {symbol} ".join(given) if symbol else f"xp.{name}({', '.join(given)})"
    return Sample(name, (x,), expected, call=call, text=text, **more)


def binary(
    name: str,
    reference: Callable[..., Any],
    low: float = -2.0,
    high: float = 2.0,
    *,
    second: tuple[float, float] = (),  # type: ignore[assignment]
    units: float = 4.0,
    points: Points | None = None,
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
    numbers : sequence
        Python numbers that are operands.
    units, signs, smooth, dtype, scale
        As for functions of one array.
    """


