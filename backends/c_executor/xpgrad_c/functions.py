"""C expressions of the operations of statements: one table row for each elementwise function."""

import math
from dataclasses import dataclass

from xpgrad_fusion.statements import LEVELS, REDUCTIONS, Statement

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

# Bit masks instead of `c ? a : b`, which compilers turn into branches; a loop with branches is not vectorized.
SELECT = """\
#define SELECT(TYPE, BITS) \\
static inline __attribute__((always_inline, unused)) TYPE select_##TYPE(_Bool c, TYPE a, TYPE b) { \\
    BITS x, y; \\
    __builtin_memcpy(&x, &a, sizeof x); \\
    __builtin_memcpy(&y, &b, sizeof y); \\
    x = (x & -(BITS)c) | (y & ~-(BITS)c); \\
    __builtin_memcpy(&a, &x, sizeof x); \\
    return a; \\
}
SELECT(_Bool, _Bool)
SELECT(int8_t, int8_t)
SELECT(int16_t, int16_t)
SELECT(int32_t, int32_t)
SELECT(int64_t, int64_t)
SELECT(uint8_t, int8_t)
SELECT(uint16_t, int16_t)
SELECT(uint32_t, int32_t)
SELECT(uint64_t, int64_t)
SELECT(float, int32_t)
SELECT(double, int64_t)
"""
"""C functions ``select_TYPE(c, a, b)``."""

ITEMSIZES = {"bool": 1, "float32": 4, "float64": 8} | {
    f"{kind}{bits}": bits // 8 for kind in ("int", "uint") for bits in (8, 16, 32, 64)
}


@dataclass(frozen=True, slots=True)
class CFunction:
    """One elementwise function in C, for operands of each kind of dtype; None for unsupported kinds.

    In the text ``{0}`` and ``{1}`` are the operands, ``{t}`` is the C type of their dtype and ``{f}`` the suffix of C
    functions of that type.
    """

    real: str | None
    integer: str | None = None
    boolean: str | None = None
    dear: bool = False  # computed once, not again for each use
    vector: bool = False  # a function of libm, which a loop needs in a version for vectors
    wide: bool = False  # computed in float64: glibc's float32 vectors differ from NumPy by up to 7 ulp


def _libm(name: str, operands: int = 1) -> CFunction:
    return CFunction(f"{name}{{f}}({', '.join(f'{{{i}}}' for i in range(operands))})", dear=True, vector=True)


def _same(text: str) -> CFunction:
    return CFunction(text, text)


def _compared(sign: str) -> CFunction:
    return CFunction(f"{{0}} {sign} {{1}}", f"{{0}} {sign} {{1}}", f"{{0}} {sign} {{1}}")


def _logical(sign: str) -> CFunction:
    numbers = f"({{0}} != 0) {sign} ({{1}} != 0)"
    return CFunction(numbers, numbers, f"{{0}} {sign} {{1}}")


def _bitwise(sign: str) -> CFunction:
    return CFunction(None, f"{{0}} {sign} {{1}}", f"{{0}} {sign} {{1}}")


# Like NumPy, maximum and minimum return the second of two equal numbers (zeros of either sign).
ROWS: dict[str, CFunction] = {
    "negative": _same("-{0}"),
    "abs": CFunction("__builtin_fabs{f}({0})", "{0} < 0 ? -{0} : {0}"),
    "sqrt": CFunction("__builtin_sqrt{f}({0})", dear=True),
    "square": _same("{0} * {0}"),
    "reciprocal": CFunction("1 / {0}", dear=True),
    "sign": CFunction("select_{t}({0} != {0}, {0}, ({0} > 0) - ({0} < 0))", "({0} > 0) - ({0} < 0)"),
    "floor": CFunction("__builtin_floor{f}({0})", "{0}"),
    "ceil": CFunction("__builtin_ceil{f}({0})", "{0}"),
    "trunc": CFunction("__builtin_trunc{f}({0})", "{0}"),
    "round": CFunction("__builtin_rint{f}({0})", "{0}"),
    "log": CFunction("log({0})", dear=True, vector=True, wide=True),
    **{name: _libm(name) for name in ("exp", "exp2", "expm1", "log1p", "log2", "log10", "sin", "cos", "tan")},
    **{name: _libm(name) for name in ("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{name: _libm(name) for name in ("erf", "erfc")},
    "isnan": CFunction("{0} != {0}", "0", "0"),
    "isinf": CFunction("__builtin_fabs{f}({0}) == __builtin_inf{f}()", "0", "0"),
    "isfinite": CFunction("__builtin_fabs{f}({0}) < __builtin_inf{f}()", "1", "1"),
    "signbit": CFunction("__builtin_copysign{f}(1, {0}) < 0", None),
    "logical_not": CFunction("{0} == 0", "{0} == 0", "!{0}"),
    "bitwise_invert": CFunction(None, "~{0}", "!{0}"),
    "add": _same("{0} + {1}"),
    "subtract": _same("{0} - {1}"),
    "multiply": _same("{0} * {1}"),
    "divide": CFunction("{0} / {1}", dear=True),
    "pow": _libm("pow", 2),
    "maximum": CFunction("select_{t}(({0} > {1}) | ({0} != {0}), {0}, {1})", "{0} > {1} ? {0} : {1}", "{0} | {1}"),
    "minimum": CFunction("select_{t}(({0} < {1}) | ({0} != {0}), {0}, {1})", "{0} < {1} ? {0} : {1}", "{0} & {1}"),
    "atan2": _libm("atan2", 2),
    "hypot": _libm("hypot", 2),
    "copysign": CFunction("__builtin_copysign{f}({0}, {1})"),
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

BINARY_LIBM = frozenset(["pow", "atan2", "hypot"])
"""Functions of libm that take two numbers."""

_MOVED = frozenset(["load", "element", "copy"])


def kind(dtype: str) -> str:
    """Return the kind of a dtype: the name of the attribute of `CFunction` for it."""
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
        return f"select_{C_TYPES[dtype]}({', '.join(operands)})"
    if op == "cast":
        if given[0] == "bool" and kind(dtype) == "real":  # by an integer, without which gcc makes no loop on vectors
            return f"({C_TYPES[dtype]})(int32_t){operands[0]}"
        return f"{operands[0]} != 0" if dtype == "bool" else f"({C_TYPES[dtype]}){operands[0]}"
    text: str = getattr(ROWS[op], kind(given[0]))
    return text.format(*operands, f="f" if given[0] == "float32" else "", t=C_TYPES[given[0]])


def prototype(op: str, dtype: str) -> str:
    """Return the declaration of the function of libm that an operation calls, or an empty string."""
    if op not in ROWS or not ROWS[op].vector:
        return ""
    float32 = dtype == "float32" and not ROWS[op].wide
    name, number = f"{op}{'f' if float32 else ''}", "float" if float32 else "double"
    return f"{number} {name}({', '.join([number] * (2 if op in BINARY_LIBM else 1))});"


def literal(value: object, dtype: str) -> str | None:
    """Return a Python number as a C constant, or None if `dtype` cannot represent the number."""
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
