"""`Statement`: one step of a fused group, for each point of its space.

The space of a group has rows and columns. A statement has one number at each point, or one per row, one per column, or
a single number:

======== ===================== =======================================================
level    elements              in an array of
======== ===================== =======================================================
point    ``rows * columns``    all of the space, in C order
row      ``rows``              the leading axes, with trailing axes of length 1 or none
column   ``columns``           the trailing axes, with leading axes of length 1 or none
one      1                     one element
======== ===================== =======================================================
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

LEVELS = "one", "column", "row", "point"
"""All levels; of two operands at one of "row" and "column" each, the result is at "point"."""

UNARY = frozenset(
    [
        *("negative", "abs", "sqrt", "square", "reciprocal", "sign", "floor", "ceil", "trunc", "round"),
        *("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"),
        *("isnan", "isinf", "isfinite", "signbit", "logical_not", "bitwise_invert"),
    ]
)
COMPARISONS = frozenset(["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
BINARY = COMPARISONS | frozenset(
    [
        *("add", "subtract", "multiply", "divide", "pow", "maximum", "minimum", "atan2", "hypot", "copysign"),
        *("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"),
    ]
)
REDUCTIONS = frozenset(["sum", "prod", "max", "min"])
"""Over the columns of each row ("row"), over the rows ("column") or over all ("one")."""


@dataclass(eq=False, slots=True)
class Statement:
    """One step of a fused group.

    Attributes
    ----------
    op : str
        A name of `UNARY` or `BINARY`, as in the standard; ``where`` (condition, x1, x2); ``cast``; ``copy``; a name of
        `REDUCTIONS`; or one of the following, which have no operands:

        - ``load``: the element of input `value`, a number, at the point;
        - ``element``: one element of an input: `value` is the input's number, and the element's in C order;
        - ``constant``: `value` is a Python number.

        ``scatter`` creates a whole array of `value[0]` zeros, and adds operand ``i`` to element `value[1][i]`, in
        order.
    operands : tuple of Statement
        All operands have the same dtype, except operands of ``where`` and ``cast``. Their levels are not above the
        level of the result, except for reductions.
    dtype, level, value : str, str, object
        Dtype of the result, by its name in the standard; one of `LEVELS`; see `op`. Comparisons compute in the dtype of
        their operands.

    Notes
    -----
    Integers wrap around. ``maximum``, ``minimum``, ``max`` and ``min`` return NaN if an operand is NaN. ``sign`` of NaN
    is NaN, of a zero 0.0. ``round`` goes to even numbers. ``cast`` is between bool, integers and real numbers, and
    never from a real number to an integer. A reduction over the rows, or over all of a space that has more than one
    row, ends the group: only statements at "column" and "one" use its result.
    """

    op: str
    operands: tuple["Statement", ...]
    dtype: str
    level: str
    value: Any = None


def level_of(operands: Iterable[Statement]) -> str:
    """Return the level at which a function of operands, element by element, has its results."""
    levels = {item.level for item in operands}
    if "point" in levels or {"row", "column"} <= levels:
        return "point"
    return "row" if "row" in levels else "column" if "column" in levels else "one"
