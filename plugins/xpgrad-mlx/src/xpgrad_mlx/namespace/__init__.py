"""MLX's functions under the names and with the arguments of the Array API standard, 2025.12."""

import types
from typing import Any

import mlx.core as mx

from xpgrad_mlx.memory import DTYPES
from xpgrad_mlx.namespace import (
    creation,
    dtypes,
    elementwise,
    fft,
    linalg,
    manipulation,
    products,
    searching,
    statistics,
)
from xpgrad_mlx.namespace.operands import taking_large_numbers

__all__ = ["fft", "linalg"]

THEIRS = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_invert", "ceil", "conj", "cosh"),
    *("divide", "floor", "isdtype", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_and"),
    *("logical_not", "logical_or", "logical_xor", "negative", "permute_dims", "positive", "real", "reciprocal"),
    *("sinh", "sqrt", "square", "tan", "tanh", "trunc", "e", "inf", "nan", "newaxis", "pi"),
)
"""What MLX has as the standard says."""
OF_INTEGERS = (
    *("add", "bitwise_and", "bitwise_or", "bitwise_xor", "equal", "greater", "greater_equal", "less", "less_equal"),
    *("maximum", "minimum", "multiply", "not_equal", "pow", "remainder", "subtract"),
)
"""What it has but for numbers that it refuses beside uint64."""


def _public(module: types.ModuleType) -> dict[str, Any]:
    """Return the functions that a module of this package defines."""
    own = {name: item for name, item in vars(module).items() if isinstance(item, types.FunctionType)}
    return {name: item for name, item in own.items() if item.__module__ == module.__name__ and name[0] != "_"}


globals().update(DTYPES)
globals().update({name: getattr(mx, name) for name in THEIRS})
globals().update({name: taking_large_numbers(getattr(mx, name)) for name in OF_INTEGERS})
for _module in (creation, dtypes, elementwise, manipulation, products, searching, statistics):
    globals().update(_public(_module))
__array_namespace_info__ = dtypes.Info
__version__ = mx.__version__
__array_api_version__ = "2025.12"
