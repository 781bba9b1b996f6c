"""The table of NumPy's functions for Variables, with NumPy's names as keys."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.checks import naming
from xpgrad.errors import BackendMismatch, DeviceMismatch
from xpgrad.graph.variable import Variable
from xpgrad.interop.numpy import (
    calls,
    chapters,
    edits,
    equations,
    lib,
    mathematics,
    matrices,
    polynomials,
    reductions,
    shapes,
)
from xpgrad.interop.numpy.arguments import TABLE, refuse_function
from xpgrad.interop.numpy.creation import creator

CHAPTERS = calls, chapters, edits, equations, lib, mathematics, matrices, polynomials, reductions, shapes
FUNCTIONS: dict[str, Callable[..., Any]] = TABLE
"""The functions that the chapters define: ``sum``, ``linalg.solve``, ``fft.fft``, ..."""

ADVICE = {
    "copyto": "use v.array = a, or v[...] = a",
    "fill_diagonal": "use v[i, i] = u with an array i",
    "put": "use v[indices] = values, or xpgrad.ops.scatter_add",
    "putmask": "use xpgrad.array_api.where",
    "save": "save v.array",
    "savez": "save v.array",
    "unique": "use xpgrad.array_api.unique_values",
}


def call(lead: Variable, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of NumPy's function `func` on Variables such as `lead`; TypeError if it is not defined."""
    name = title(func)
    function = FUNCTIONS.get(name) or creator(name, lead)
    if function is None:
        refuse_function(name, ADVICE.get(name))
    try:
        return function(*args, **kwargs)
    except (BackendMismatch, DeviceMismatch) as error:
        raise naming(error, f"numpy.{name}") from None


def title(func: Any) -> str:
    """Return the name of a function of NumPy within the package: ``linalg.solve``."""
    chapter = str(func.__module__).partition(".")[2]
    named = ("linalg", "fft", "lib.stride_tricks")
    return f"{chapter}.{func.__name__}" if chapter in named else str(func.__name__)
