"""Names of the functions that a saved program may call: functions of the standard and declared kernels."""

import functools
import operator
from collections.abc import Callable
from typing import Any

from xpgrad import array_api
from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import table

OPERATORS = frozenset(
    [
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos", "abs", "getitem", "invert"),
        *("lt", "le", "eq", "ne", "gt", "ge", "and_", "or_", "xor", "lshift", "rshift"),
    ]
)
METHODS = frozenset(["ones", "asarray"])
"""Methods of a backend."""
CREATION = frozenset(["arange", "empty", "eye", "full", "linspace", "ones", "zeros"])
EXTENSIONS = "linalg", "fft"
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128"),
)


@functools.cache
def standard_names() -> frozenset[str]:
    """Return the names of the functions of the standard and of its extensions."""
    own = [name for name in array_api.__all__ if name not in EXTENSIONS]
    return CREATION.union(own) | {f"{part}.{name}" for part in EXTENSIONS for name in getattr(array_api, part).__all__}


def resolved(kind: str, name: str, backend: Backend) -> Callable[..., Any] | None:
    """Return the function of a kind and name, or None if a saved program may not call it."""
    if kind == "operator":
        return getattr(operator, name) if name in OPERATORS else None
    if kind == "backend":
        return getattr(backend, name) if name in METHODS else None
    if kind == "kernel":
        declaration = table.find(name)
        return None if declaration is None else backend.xp.kernel_of(declaration)
    if kind != "function" or name not in standard_names():
        return None
    extension, _, own = name.rpartition(".")
    space: Any = getattr(backend.namespace, extension, None) if extension else backend.xp
    found: Callable[..., Any] | None = getattr(space, own, None)
    return found


def name_of(function: Any, name: str, backend: Backend) -> tuple[str, str] | None:
    """Return the kind and name under which `resolved` finds a function that a program calls `name`, or None."""
    own = getattr(function, "__name__", "")
    for kind, each in (("kernel", name), ("function", name), ("operator", own), ("backend", own)):
        if resolved(kind, each, backend) == function:
            return kind, each
    return None


def dtypes(backend: Backend) -> dict[str, Any]:
    """Return the dtypes of a library by their names."""
    found = {name: getattr(backend.namespace, name, None) for name in DTYPES}
    return {name: backend.asarray(0, dtype).dtype for name, dtype in found.items() if dtype is not None}
