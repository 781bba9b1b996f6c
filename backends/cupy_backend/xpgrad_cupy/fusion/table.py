"""The C++ expression of each operation of a statement, by the kind of its operands' dtype.

In an expression, ``{0}``, ``{1}``, ``{2}`` are the operands, which are names of variables; ``{t}`` is their type,
``{u}`` the unsigned type in which its integers wrap around, and ``{f}`` the suffix of CUDA's functions for
the type, ``f`` or empty. CUDA's accurate functions are used, never its fast mathematics.
"""

from dataclasses import dataclass

from xpgrad_fusion.statements import Statement

TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
"""The type in C++ of each dtype that kernels are made for."""
UNSIGNED = {"int64": "unsigned long long", "uint64": "unsigned long long"}
"""Where integers wrap around, if not in ``unsigned int``: the product of two shorts may be too large for an ``int``."""

COMPARISONS = {
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
}
LOGICAL = {
    "logical_not": "{0} == 0",
    "logical_and": "{0} != 0 && {1} != 0",
    "logical_or": "{0} != 0 || {1} != 0",
    "logical_xor": "({0} != 0) != ({1} != 0)",
}
ALL = {**COMPARISONS, **LOGICAL, "copy": "{0}", "where": "{0} ? {1} : {2}"}

OF_ONE = [
    *("sqrt", "floor", "ceil", "trunc", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan"),
    *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"),
]
OF_TWO = ["pow", "atan2", "hypot", "copysign"]
ROWS: dict[str, dict[str, str]] = {
    "real": {
        **ALL,
        **{name: f"{name}{{f}}({{0}})" for name in OF_ONE},
        **{name: f"{name}{{f}}({{0}}, {{1}})" for name in OF_TWO},
        "negative": "-{0}",
        "abs": "fabs{f}({0})",
        "square": "{0} * {0}",
        "reciprocal": "1 / {0}",
        "sign": "{0} != {0} ? {0} : ({t})(({0} > 0) - ({0} < 0))",
        "round": "rint{f}({0})",
        "isnan": "{0} != {0}",
        "isinf": "{0} == {0} && {0} - {0} != 0",
        "isfinite": "{0} - {0} == 0",
        "signbit": "copysign{f}(({t})1, {0}) < 0",
        "add": "{0} + {1}",
        "subtract": "{0} - {1}",
        "multiply": "{0} * {1}",
        "divide": "{0} / {1}",
        "maximum": "{0} > {1} || {0} != {0} ? {0} : {1}",
        "minimum": "{0} < {1} || {0} != {0} ? {0} : {1}",
        "sum": "{0} + {1}",
        "prod": "{0} * {1}",
    },
    "integral": {
        **ALL,
        **dict.fromkeys(["floor", "ceil", "trunc", "round"], "{0}"),
        **dict.fromkeys(["isnan", "isinf"], "false"),
        "isfinite": "true",
        "negative": "0 - ({u}){0}",
        "abs": "{0} < 0 ? 0 - ({u}){0} : ({u}){0}",
        "square": "({u}){0} * ({u}){0}",
        "sign": "({0} > 0) - ({0} < 0)",
        "bitwise_invert": "~{0}",
        "bitwise_and": "{0} & {1}",
        "bitwise_or": "{0} | {1}",
        "bitwise_xor": "{0} ^ {1}",
        "add": "({u}){0} + ({u}){1}",
        "subtract": "({u}){0} - ({u}){1}",
        "multiply": "({u}){0} * ({u}){1}",
        "maximum": "{0} > {1} ? {0} : {1}",
        "minimum": "{0} < {1} ? {0} : {1}",
        "sum": "({u}){0} + ({u}){1}",
        "prod": "({u}){0} * ({u}){1}",
    },
    "bool": {
        **ALL,
        "bitwise_invert": "!{0}",
        "bitwise_and": "{0} && {1}",
        "bitwise_or": "{0} || {1}",
        "bitwise_xor": "{0} != {1}",
        "maximum": "{0} || {1}",
        "minimum": "{0} && {1}",
    },
}
"""Elementwise functions, and how reductions combine two results."""
for rows in ROWS.values():
    rows |= {"max": rows["maximum"], "min": rows["minimum"]}


class Unsupported(Exception):
    """A group has something for which there is no text: its calls run instead."""


def kind_of(dtype: str) -> str:
    """Return the key of a dtype in `ROWS`."""
    return "real" if dtype in ("float32", "float64") else "bool" if dtype == "bool" else "integral"


def has_row(statement: Statement) -> bool:
    """Return whether a statement has a C++ expression."""
    if statement.dtype not in TYPES or any(item.dtype not in TYPES for item in statement.operands):
        return False
    if statement.op in ("load", "element", "constant", "cast"):
        return True
    dtype = statement.operands[-1].dtype if statement.operands else statement.dtype
    if statement.op in ("sum", "prod", "max", "min"):
        dtype = statement.dtype
    return statement.op in ROWS[kind_of(dtype)]


def expression(op: str, dtype: str, operands: list[str]) -> str:
    """Return the text of an operation on variables of `dtype`."""
    try:
        row = ROWS[kind_of(dtype)][op]
    except KeyError:
        raise Unsupported(f"{op} of {dtype}") from None
    return row.format(*operands, t=TYPES[dtype], u=UNSIGNED.get(dtype, "unsigned int"), f="f" * (dtype == "float32"))


@dataclass(frozen=True, slots=True)
class Reduction:
    """How a reduction is computed.

    Attributes
    ----------
    dtype : str
        That in which results are combined: sums and products of single precision are in double, so that they are at
        least as accurate as pairwise sums.
    identity : str
        The text of its identity.
    combined : str
        The text of the combination of ``a`` and ``b``.
    """

    dtype: str
    identity: str
    combined: str


def reduction(op: str, dtype: str) -> Reduction:
    """Return how the reduction `op` with results of `dtype` is computed."""
    inner = "float64" if op in ("sum", "prod") and dtype == "float32" else dtype
    combined = f"({TYPES[inner]})({expression(op, inner, ['a', 'b'])})"
    identity = {"sum": "0", "prod": "1"}.get(op) or extreme(inner, -1 if op == "max" else 1)
    return Reduction(inner, identity, combined)


def extreme(dtype: str, sign: int) -> str:
    """Return the text of the least (`sign` -1) or greatest value of a dtype."""
    if kind_of(dtype) == "real":
        return literal(sign * float("inf"), dtype)
    if dtype == "bool":
        return "false" if sign < 0 else "true"
    bits = int(dtype.lstrip("uint"))
    low, high = (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return literal(low if sign < 0 else high, dtype)


def literal(value: object, dtype: str) -> str:
    """Return the text of a Python number as a constant of `dtype`."""
    kind = kind_of(dtype)
    if kind == "bool":
        return "true" if value else "false"
    if not isinstance(value, (bool, int, float)):
        raise Unsupported(f"the constant {value!r}")
    if kind == "integral":
        number = int(value)
        if number != value or not -(2**63) <= number < 2**64:
            raise Unsupported(f"the constant {value!r} of {dtype}")
        text = f"{number}LL" if -(2**63) < number < 2**63 else f"{number}ULL" if number > 0 else f"({number + 1}LL - 1)"
        return f"({TYPES[dtype]})({text})"
    try:
        text = repr(float(value))
    except OverflowError:
        raise Unsupported(f"the constant {value!r} of {dtype}") from None
    special = {"inf": "7ff0000000000000", "-inf": "fff0000000000000", "nan": "7ff8000000000000"}.get(text)
    return f"({TYPES[dtype]})({text if special is None else f'__longlong_as_double(0x{special}LL)'})"
