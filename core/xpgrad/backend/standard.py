"""The names of the Python Array API standard (2025.12), by chapter, and the names of its operators."""

import operator
from collections.abc import Callable
from typing import Any

_CHAPTERS = {
    "elementwise": """
        abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or
        bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide
        greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and
        logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real
        reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc""",
    "creation": """
        arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
        zeros_like""",
    "data types": "astype can_cast finfo iinfo isdtype result_type",
    "linear algebra": "matmul matrix_transpose tensordot vecdot",
    "manipulation": """
        broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll
        squeeze stack tile unstack""",
    "indexing": "take take_along_axis",
    "searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "sets": "isin unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort",
    "statistics": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "utilities": "all any diff",
    "linalg": """
        cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank
        matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm""",
    "fft": "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn",
}
CHAPTERS: dict[str, tuple[str, ...]] = {
    chapter: tuple(f"{chapter}.{name}" if chapter in ("linalg", "fft") else name for name in names.split())
    for chapter, names in _CHAPTERS.items()
}
FUNCTIONS = tuple(name for names in CHAPTERS.values() for name in names)
"""The standard's functions; those of an extension begin with its name: ``linalg.det``."""
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
"""The names of the standard's dtypes."""
BINARY_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
"""The standard's functions by the names of their operators: ``__truediv__`` is `divide`. Each has ``__rtruediv__``."""
COMPARISONS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}  # fmt: skip
UNARY_OPERATORS = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"}
OPERATORS = BINARY_OPERATORS | COMPARISONS | UNARY_OPERATORS


def python_operator(name: str) -> Callable[..., Any]:
    """Return the function of the module `operator` for the operator `name`; with a leading i it works in place."""
    function: Callable[..., Any] = getattr(operator, f"__{name}__")
    return function
