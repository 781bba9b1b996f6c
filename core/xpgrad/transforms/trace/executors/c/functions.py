"""What each operation of a statement is in C: one table row for each elementwise function."""

import math
from dataclasses import dataclass

from xpgrad.transforms.trace.fusion.statements import LEVELS, REDUCTIONS, Statement

C_TYPES = {
    "bool": "_Bool",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
}
"""The type of one number of each dtype; a bool is one byte in memory, as in arrays."""

ITEMSIZES = {"bool": 1, "float32": 4, "float64": 8} | {
    f"{kind}{bits}": bits // 8 for kind in ("int", "uint") for bits in (8, 16, 32, 64)
}


@dataclass(frozen=True, slots=True)
class Row:
    """One elementwise function in C, for operands of each kind of dtype; None where there is none.

    In the text ``{0}``, ``{1}`` are the operands, ``{f}`` is the suffix of C's functions of this dtype, ``{t}`` its type.
    """

    real: str | None
    integer: str | None = None
    boolean: str | None = None
    dear: bool = False  # computed once, not again for each use
    vector: bool = False  # a function of libm, which a loop needs in a version for vectors


def _libm(name: str, operands: int = 1) -> Row:
    return Row(f"{name}{{f}}({', '.join(f'{{{i}}}' for i in range(operands))})", dear=True, vector=True)


def _same(text: str) -> Row:
    return Row(text, text)


def _compared(sign: str) -> Row:
    return Row(f"{{0}} {sign} {{1}}", f"{{0}} {sign} {{1}}", f"{{0}} {sign} {{1}}")


def _logical(sign: str) -> Row:
    numbers = f"({{0}} != 0) {sign} ({{1}} != 0)"
    return Row(numbers, numbers, f"{{0}} {sign} {{1}}")


def _bitwise(sign: str) -> Row:
    return Row(None, f"{{0}} {sign} {{1}}", f"{{0}} {sign} {{1}}")


# Of two equal numbers (zeros of either sign), maximum and minimum return the second, as NumPy's loops do.
ROWS: dict[str, Row] = {
    "negative": _same("-{0}"),
    "abs": Row("__builtin_fabs{f}({0})", "{0} < 0 ? -{0} : {0}"),
    "sqrt": Row("__builtin_sqrt{f}({0})", dear=True),
    "square": _same("{0} * {0}"),
    "reciprocal": Row("1 / {0}", dear=True),
    "sign": Row("{0} > 0 ? 1 : {0} < 0 ? -1 : {0} == 0 ? 0 : {0}", "({0} > 0) - ({0} < 0)"),
    "floor": Row("__builtin_floor{f}({0})", "{0}"),
    "ceil": Row("__builtin_ceil{f}({0})", "{0}"),
    "trunc": Row("__builtin_trunc{f}({0})", "{0}"),
    "round": Row("__builtin_rint{f}({0})", "{0}"),
    **{name: _libm(name) for name in ("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan")},
    **{name: _libm(name) for name in ("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{name: _libm(name) for name in ("erf", "erfc")},
    "isnan": Row("{0} != {0}", "0", "0"),
    "isinf": Row("__builtin_fabs{f}({0}) == __builtin_inf{f}()", "0", "0"),
    "isfinite": Row("__builtin_fabs{f}({0}) < __builtin_inf{f}()", "1", "1"),
    "signbit": Row("__builtin_copysign{f}(1, {0}) < 0", None),
    "logical_not": Row("{0} == 0", "{0} == 0", "!{0}"),
    "bitwise_invert": Row(None, "~{0}", "!{0}"),
    "add": _same("{0} + {1}"),
    "subtract": _same("{0} - {1}"),
    "multiply": _same("{0} * {1}"),
    "divide": Row("{0} / {1}", dear=True),
    "pow": _libm("pow", 2),
    "maximum": Row("({0} > {1}) | ({0} != {0}) ? {0} : {1}", "{0} > {1} ? {0} : {1}", "{0} | {1}"),
    "minimum": Row("({0} < {1}) | ({0} != {0}) ? {0} : {1}", "{0} < {1} ? {0} : {1}", "{0} & {1}"),
    "atan2": _libm("atan2", 2),
    "hypot": _libm("hypot", 2),
    "copysign": Row("__builtin_copysign{f}({0}, {1})"),
    "equal": _compared("=="),
    "not_equal": _compared("!="),
    "less": _compared("<"),
    "less_equal": _compared("<="),
    "greater": _compared(">"),
    "greater_equal": _compared(">="),
    "logical_and": _logical("&"),
    "logical_or": _logical("|"),
    "logical_xor": _logical("^"),
    "bitwise_and": _bitwise("&"),
    "bitwise_or": _bitwise("|"),
    "bitwise_xor": _bitwise("^"),
}

LIBM = {name: 2 if name in ("pow", "atan2", "hypot") else 1 for name, row in ROWS.items() if row.vector}
"""The functions of libm, with their numbers of operands."""

_MOVED = frozenset(["load", "element", "copy"])


def kind(dtype: str) -> str:
    """Return which of the kinds of a `Row` a dtype is."""
    return "boolean" if dtype == "bool" else "real" if dtype.startswith("float") else "integer"


def has_row(statement: Statement, *, vector_math: bool = True) -> bool:
    """Whether a statement has a row here, so that a group with it can be generated."""
    op, dtype, given = statement.op, statement.dtype, [item.dtype for item in statement.operands]
    if dtype not in C_TYPES or any(item not in C_TYPES for item in given):
        return False
    if op in ROWS:
        row = ROWS[op]
        return getattr(row, kind(given[0])) is not None and (vector_math or not row.vector)
    if op == "constant":
        return literal(statement.value, dtype) is not None
    if op == "cast":
        return kind(given[0]) != "real" or kind(dtype) != "integer"
    if op in REDUCTIONS:
        return statement.level in LEVELS and not (dtype == "bool" and op in ("sum", "prod"))
    return op in _MOVED or op == "where" or (op == "scatter" and dtype != "bool")


def expression(op: str, dtype: str, given: list[str], operands: list[str]) -> str:
    """Return an operation in C.

    Parameters
    ----------
    op, dtype : str
        Of the statement.
    given, operands : list of str
        The dtypes of its operands, and their names in C.
    """
    if op == "copy":
        return operands[0]
    if op == "where":
        return "{} ? {} : {}".format(*operands)
    if op == "cast":
        return f"{operands[0]} != 0" if dtype == "bool" else f"({C_TYPES[dtype]}){operands[0]}"
    text: str = getattr(ROWS[op], kind(given[0]))
    return text.format(*operands, f="f" if given[0] == "float32" else "", t=C_TYPES[given[0]])


def literal(value: object, dtype: str) -> str | None:
    """Return a Python number as a constant of C, or None where it is none of `dtype`."""
    if not isinstance(value, (bool, int, float)):
        return None
    if dtype == "bool":
        return str(int(bool(value)))
    if kind(dtype) == "integer":
        bits, unsigned = 8 * ITEMSIZES[dtype], dtype.startswith("u")
        low, high = (0, 2**bits) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        if value != int(value) or not low <= value < high:
            return None
        number = int(value)
        if number == -(2**63):
            return "INT64_MIN"
        return f"(({C_TYPES[dtype]}){number}{'u' if unsigned else ''}{'l' if bits == 64 else ''})"
    try:
        number_ = float(value)
    except OverflowError:
        return None
    if math.isnan(number_):
        return f'(({C_TYPES[dtype]})__builtin_nan(""))'
    if math.isinf(number_):
        return f"(({C_TYPES[dtype]}){'-' if number_ < 0 else ''}__builtin_inf())"
    return f"(({C_TYPES[dtype]}){number_.hex()})"
