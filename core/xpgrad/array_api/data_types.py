"""Data type functions: casts, and questions about dtypes, which each backend answers for its library's."""

import functools
from collections.abc import Callable
from typing import Any

from xpgrad.array_api.shared.copying import copy as copied
from xpgrad.array_api.shared.copying import duplicate
from xpgrad.backend.backend import Backend
from xpgrad.backend.caller import called
from xpgrad.backend.checks import check_cast
from xpgrad.backend.limits import FloatLimits
from xpgrad.errors import DtypeError
from xpgrad.graph.definition import identity
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import AnyArray, Array, Dtype, Namespace

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip


def check_dtype(backend: Backend, operation: str, dtype: Any) -> None:
    """Raise DtypeError if `dtype` is not one of the library's; called after another call has failed."""
    try:
        backend.namespace.isdtype(dtype, ("bool", "numeric"))
    except Exception:  # libraries raise various errors for unknown objects
        raise DtypeError(
            f"{called(operation)}: expected a dtype of {backend.name}, got {dtype!r}; take one from xpgrad.array_api "
            f"while a device of {backend.name} is the current one, or from v.__array_namespace__() of its arrays"
        ) from None


@primitive(linear=("x",), x=identity)
def _cast(xp: Namespace, x: AnyArray, /, dtype: Dtype) -> Array:
    """Cast to another dtype; the sweep casts the cotangent back."""
    return xp.astype(x, dtype)


def astype(x: AnyArray, dtype: Dtype, /, *, copy: bool = True, device: Any = None) -> Variable:
    """Return `x` in another dtype.

    Parameters
    ----------
    x : Variable or array
    dtype : dtype of the array's library
    copy : bool
        False returns `x` itself if it has the dtype already.
    device : as `get_device` takes it, or None

    Raises
    ------
    DtypeError
        `x` is complex and `dtype` real; `real` takes the real part.
    """
    x = as_variable(x)
    if device is not None:
        x = copied(x, device)
    check_cast(x, dtype, "astype")
    if x.dtype == dtype:
        return duplicate(x) if copy else x
    try:
        return _cast(x, dtype=dtype)
    except DtypeError:
        check_dtype(x._node.spec.backend, "astype", dtype)
        raise


def to_floating(x: AnyArray, /) -> Variable:
    """Return `x`, cast to the default dtype of its library if it is not floating-point."""
    x = as_variable(x)
    spec = x._node.spec
    return x if spec.differentiable else _cast(x, dtype=spec.backend.default_dtype("float"))


def _with_plain_errors(backend: Backend, expected: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with errors that say what was expected and what was passed."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (AttributeError, TypeError, ValueError) as error:
            kind = ValueError if isinstance(error, ValueError) else DtypeError
            given = ", ".join(repr(arg) for arg in (*args, *kwargs.values()))
        raise kind(f"{function.__name__}: expected {expected} of {backend.name}, got {given}")

    return wrapped


def dtype_functions(backend: Backend) -> dict[str, Callable[..., Any]]:
    """Return the functions of dtypes for the namespace of `backend`, by name."""
    library = backend.namespace

    def can_cast(from_: Any, to: Dtype, /) -> bool:
        """Return whether the dtype `from_`, or that of the array `from_`, can be cast to `to` by promotion."""
        return bool(library.can_cast(as_array(from_), to))

    def finfo(type: Any, /) -> Any:
        """Return the limits of a floating-point dtype, or of that of an array: bits, eps, max, min, smallest_normal."""
        return FloatLimits(backend.finfo(as_array(type)))

    def iinfo(type: Any, /) -> Any:
        """Return the limits of an integer dtype, or of that of an array: bits, max, min."""
        return library.iinfo(as_array(type))

    def isdtype(dtype: Dtype, kind: Any) -> bool:
        """Return whether `dtype` is of a kind: a dtype, a name such as "real floating", or a tuple of these."""
        if isinstance(kind, str) or (isinstance(kind, tuple) and all(isinstance(each, str) for each in kind)):
            return backend.is_kind(dtype, kind)
        return bool(library.isdtype(dtype, kind))

    def result_type(*arrays_and_dtypes: Any) -> Dtype:
        """Return the dtype to which arrays, Variables, dtypes and Python scalars promote; scalars are weak."""
        return library.result_type(*map(as_array, arrays_and_dtypes))

    made: dict[Callable[..., Any], str] = {
        can_cast: "a dtype or an array, and a dtype,",
        finfo: "a floating-point dtype, or an array of one,",
        iinfo: "an integer dtype, or an array of one,",
        isdtype: "a dtype, and a kind such as 'real floating' or a dtype,",
        result_type: "dtypes, arrays and scalars",
    }
    for function in made:
        function.__qualname__ = function.__name__
    return {function.__name__: _with_plain_errors(backend, expected, function) for function, expected in made.items()}
