"""The differentiable functions, one file per chapter of the Array API standard.

Each takes Variables and arrays and returns Variables. Dtypes and creation functions are those of the default device's
backend; `Variable.__array_namespace__` returns the same functions with those of its own.
"""

from typing import Any

from xpgrad.array_api import operators as _operators
from xpgrad.array_api.arithmetic import (
    add, constant_power, divide, floor_divide, multiply, negative, positive, pow, remainder, square, subtract,
)  # fmt: skip
from xpgrad.array_api.broadcasting import broadcast_to, sum_to
from xpgrad.array_api.comparison import equal, greater, greater_equal, less, less_equal, not_equal
from xpgrad.array_api.copying import astype, conj, copy, imag, real
from xpgrad.array_api.creation import empty_like, full_like, ones_like, zeros_like
from xpgrad.array_api.namespace import namespace as _namespace
from xpgrad.array_api.scattering import scatter as _scatter
from xpgrad.graph.slot import slot as _slot

__all__ = [  # noqa: RUF022 - by chapter
    "add", "constant_power", "divide", "floor_divide", "multiply", "negative", "positive", "pow", "remainder", "square",
    "subtract",
    "broadcast_to", "sum_to",
    "equal", "greater", "greater_equal", "less", "less_equal", "not_equal",
    "astype", "conj", "copy", "imag", "real",
    "empty_like", "full_like", "ones_like", "zeros_like",
]  # fmt: skip


class _Functions:
    """What the graph gets to know of this package."""

    add = staticmethod(add)
    astype = staticmethod(astype)
    conj = staticmethod(conj)
    copy = staticmethod(copy)
    namespace = staticmethod(_namespace)
    real = staticmethod(real)
    scatter = staticmethod(_scatter)
    sum_to = staticmethod(sum_to)


_slot.functions = _Functions()
_operators.bind()


def __getattr__(name: str) -> Any:
    """Return a dtype or creation function of the default device's backend."""
    from xpgrad.backend.current import current_device

    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return getattr(_namespace(current_device().backend), name)
    except AttributeError:
        raise AttributeError(f"xpgrad.array_api has no {name!r}") from None
