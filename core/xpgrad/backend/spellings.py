"""Dtypes by every spelling: the standard's and NumPy's names, Python's types, and the dtypes of any library."""

import re
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.naming import called
from xpgrad.backend.plugins import plugins
from xpgrad.backend.standard import DTYPES
from xpgrad.boundary import described
from xpgrad.config import config
from xpgrad.errors import DtypeError
from xpgrad.types import DeviceHandle, Dtype

NAMES = (*DTYPES, "float16", "bfloat16")
OF_PYTHON = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
OF_FEW_LIBRARIES = r"float[468]_e\d\w*|u?int[24]"
"""Names of dtypes of fewer than 16 bits, which ml_dtypes defines and some libraries have."""
MAX_REMEMBERED = 1024
PARAMETERS_OF_MIXED16 = "float32"


def dtype_of(dtype: Any, backend: Backend, operation: str = "get_dtype") -> Dtype:
    """Return the dtype of the library of `backend` that corresponds to `dtype`.

    Parameters
    ----------
    dtype : dtype of any library, str, type or None
        A name is from the standard or from NumPy: ``"float32"``, ``"f4"``. None means ``config.dtype``; `mixed16` is
        mapped to float32, as for parameters.
    backend : Backend
    operation : str
        The function that error messages name.

    Raises
    ------
    DtypeError
        The dtype does not exist, or the library lacks it or has to be configured for it.
    """
    dtype = config.dtype if dtype is None else dtype
    try:
        return backend.dtypes[type(dtype), dtype]
    except KeyError:
        found = resolve(dtype, backend, operation)
        if len(backend.dtypes) >= MAX_REMEMBERED:  # some libraries make a new object each time
            backend.dtypes.clear()
        backend.dtypes[type(dtype), dtype] = found
    except TypeError:  # it is not hashable
        found = resolve(dtype, backend, operation)
    return found


def resolve(dtype: Any, backend: Backend, operation: str) -> Dtype:
    """Return the dtype as `dtype_of` does, but query the library each time, whose configuration may have changed."""
    name, xp = _direct_name(dtype), backend.root.namespace
    own = getattr(xp, name, dtype) if is_name(name) else dtype
    try:
        found: Dtype = xp.empty(0, dtype=own).dtype
        return found
    except Exception as error:  # libraries raise various errors for unknown objects
        if isinstance(error, DtypeError):  # the message names the remedy
            raise DtypeError(f"{called(operation)}: {str(error).partition(': ')[2]}") from None
    name = name_of(dtype)
    if is_name(name) and name != dtype:  # the library may know the name: NumPy that of a dtype added by ml_dtypes
        return resolve(name, backend, operation)
    raise _missing(dtype, name, backend.root, called(operation))


def missing_on(operation: str, dtype: Dtype, backend: Backend, handle: DeviceHandle) -> DtypeError | None:
    """Return the error for a dtype of the library that a device lacks; None if it has it, as far as is known.

    It is called after the library has raised an error.
    """
    try:
        known = backend.root.namespace.__array_namespace_info__().dtypes(device=handle)
    except Exception:  # not provided by every library
        return None
    name = backend.dtype_name(dtype)
    if not known or name in known or name not in DTYPES:
        return None
    return DtypeError(
        f"{called(operation)}: {backend.device_for(handle)} has no dtype {name}; it has {', '.join(known)}"
    )


def name_of(dtype: Any) -> str:
    """Return the standard's name of a dtype in any spelling, if the standard has this dtype."""
    name = _direct_name(dtype)
    if is_name(name):
        return name
    host = plugins.host
    try:  # a short name, as in Chainer programs, or a dtype that another package has added
        return host.dtype_name(host.namespace.empty(0, dtype=dtype).dtype)
    except (AttributeError, TypeError, ValueError, RecursionError):  # RecursionError: nested lists
        return name


def _direct_name(dtype: Any) -> str:
    """Return the name of a dtype, if its library or Python provides a name."""
    if isinstance(dtype, type) and dtype in OF_PYTHON:
        return OF_PYTHON[dtype]
    try:
        name = getattr(dtype, "__name__", None) or str(dtype).rpartition(".")[2]
    except RecursionError:  # of nested lists
        name = type(dtype).__name__
    return PARAMETERS_OF_MIXED16 if name == "mixed16" else name


def is_name(name: str) -> bool:
    """Return whether `name` is a dtype's by the standard's rule: the kind, and the number of bits."""
    return re.fullmatch(r"bool|(u?int|b?float|complex)\d+(_\w+)?", name) is not None


def _missing(dtype: Any, name: str, backend: Backend, operation: str) -> DtypeError:
    """Return the error for a dtype that does not exist, or that the library lacks."""
    import difflib  # only for a message

    known = [each for each in NAMES if hasattr(backend.namespace, each)]
    if name in NAMES or re.fullmatch(OF_FEW_LIBRARIES, name):
        return DtypeError(f"{operation}: {backend.name} has no dtype {name}; it has {', '.join(known)}")
    close = difflib.get_close_matches(name, known, n=1)
    advice = f"did you mean {close[0]!r}?" if close else f"{backend.name} has {', '.join(known)}"
    return DtypeError(f"{operation}: unknown dtype {described(dtype)}; {advice}")
